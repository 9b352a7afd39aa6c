# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# pcaps/: the library of captures, and vs-pcap, which makes, changes and sends captures.
PCAP_SRCS     := $(sort $(wildcard pcaps/*.c))
PCAP_BIN      := $(B)/bin/vs-pcap
ALL           += $(PCAP_BIN)
INSTALL_BINS  += $(PCAP_BIN)
INSTALL_MANS  += docs/man/vs-pcap.1
CHECK_TARGETS += check-pcap check-pcap-gen check-pcap-check check-pcap-annotate check-pcap-two check-pcaps
CHECK_PROGRAMS += $(B)/tests/capcmp $(B)/tests/recount

$(PCAP_BIN): $(call obj,$(PCAP_SRCS)) $(LIBVS) $(LIBJUDGE) $(LIBWIRE)
	@mkdir -p $(@D)
	$(CC) $(OPT) $(SANFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS_VS) -lnet

# Compares captures; the libraries read what vs-pcap wrote, libpcap alone the frames.
PCAP_CMP := $(B)/tests/capcmp
$(PCAP_CMP): $(B)/obj/pcaps/tests/capcmp.o $(LIBVS) $(LIBJUDGE) $(LIBWIRE)
	@mkdir -p $(@D)
	$(CC) $(OPT) $(SANFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS_VS)

# Counts again what vs-pcap check counts, without the monitor.
$(B)/tests/recount: $(B)/obj/pcaps/tests/recount.o $(LIBVS) $(LIBWIRE)
	@mkdir -p $(@D)
	$(CC) $(OPT) $(SANFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS_VS)

check-pcap: all $(PCAP_CMP) ## vs-pcap on recorded captures, and over a veth pair
	@pcaps/tests/run.sh $(B)

check-pcap-gen: all ## vs-pcap gen: what it writes, and what it says of wrong scripts
	@pcaps/tests/gen.sh $(B)

check-pcap-check: all $(B)/tests/recount ## vs-pcap check: what it finds in generated and recorded captures
	@pcaps/tests/check.sh $(B) $(VS_SHARED)

check-pcap-annotate: all $(PCAP_CMP) ## vs-pcap annotate: comments that stock Wireshark shows, and nothing else changed
	@pcaps/tests/annotate.sh $(B)

check-pcap-two: all ## vs-pcap check A B: what became of packets between two captures
	@pcaps/tests/two.sh $(B)

check-pcaps: all ## the capture library: made anew, compared, counted by Wireshark
	@B='$(B)' pcaps/tests/library.sh

# What is there of scenarios that are gone goes too.
pcaps: $(PCAP_BIN) ## makes the capture library anew from pcaps/scenarios
	@rm -rf $(B)/pcaps
	@pcaps/make.sh $(PCAP_BIN) $(B)/pcaps
	@for f in pcaps/generated/*.expect.json; do rm -f "$$f" "$${f%.expect.json}.pcap"; done
	@cp $(B)/pcaps/*.pcap $(B)/pcaps/*.json pcaps/generated/
	@cp $(B)/pcaps/INDEX.md pcaps/README.md

bench-check: all $(B)/tests/mkbench ## processor time of vs-pcap check against tshark's built-in dissector
	@scripts/deps.sh bench
	@pcaps/tests/bench_check.sh $(B) 200000 $(or $(ROUNDS),5)

bench-replay: all $(PCAP_CMP) ## rate of vs-pcap replay against tcpreplay -t, in one run (needs root)
	@scripts/deps.sh bench
	@pcaps/tests/bench_replay.sh $(B) $(or $(ROUNDS),5)

.PHONY: check-pcap check-pcap-gen check-pcap-check check-pcap-annotate check-pcap-two check-pcaps pcaps bench-check bench-replay
