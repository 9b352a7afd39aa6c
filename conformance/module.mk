# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# conformance/: vs-conform, and the cases that it runs.
CONFORM_SRCS  := $(sort $(wildcard conformance/*.c)) conformance/agent/line.c conformance/agent/msg.c
CONFORM_BIN   := $(B)/bin/vs-conform
ALL           += $(CONFORM_BIN)
INSTALL_BINS  += $(CONFORM_BIN)
INSTALL_MANS  += docs/man/vs-conform.1
INSTALL_FILES += conformance/inventory.tsv:share/verbscope/conformance/inventory.tsv \
		 $(foreach f,$(wildcard conformance/cases/*/*.drill conformance/profiles/*.deviations),$(f):share/verbscope/$(f))
CHECK_TARGETS += check-conform

# vs-agent: the verbs half of the target alone, so that a guest or a small host can run it: it needs libc and nothing else.
AGENT_SRCS    := $(sort $(wildcard conformance/agent/*.c)) \
		 $(patsubst %,conformance/%.c,lag peer_addr ccase_say ccase_cqex ccase_limits ccase_wait verbs_cm verbs_lib verbs_group verbs_object verbs_qp verbs_rig verbs_work)
AGENT_BIN     := $(B)/bin/vs-agent
ALL           += $(AGENT_BIN)
INSTALL_BINS  += $(AGENT_BIN)
INSTALL_MANS  += docs/man/vs-agent.1

$(AGENT_BIN): $(call obj,$(AGENT_SRCS)) $(LIBVS) $(LIBJUDGE) $(LIBWIRE)
	@mkdir -p $(@D)
	$(CC) $(OPT) $(SANFLAGS) $(LDFLAGS) -o $@ $^

# report.html as C strings, which are longer than C promises to take in one.
$(B)/obj/conformance/page.o: conformance/report.html conformance/page.awk
	@mkdir -p $(@D)
	@awk -v name=vc_html_line -f conformance/page.awk $< >$(@:.o=.c)
	$(CC) $(CSTD) $(WARN) $(BASE) $(CFLAGS) -c -o $@ $(@:.o=.c)

$(CONFORM_BIN): $(B)/obj/conformance/page.o $(call obj,$(CONFORM_SRCS)) $(LIBVS) $(LIBJUDGE) $(LIBWIRE)
	@mkdir -p $(@D)
	$(CC) $(OPT) $(SANFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS_VS) -lnet

# Behind an agent: the groups with most to go wrong on the way. AGENT_CASES=: all of them.
AGENT_CASES ?= AE CQ MW RSP SRQ UD "RTO-00*" "CM-00*"

check-conform: all $(B)/tests/misbehave $(B)/tests/agent_shim $(B)/tests/test_agent ## the conformance suite on the simulator and on ref0, its files, and vs-conform itself
	@$(CONFORM_BIN) --check
	@$(CONFORM_BIN) --quiet --jobs $(JOBS)
	@for e in rocev2-ipv4 rocev2-ipv6 rocev1 ib ib-grh; do $(CONFORM_BIN) --quiet --jobs $(JOBS) --encap $$e || exit 1; done
	@$(CONFORM_BIN) --quiet --device ref0 --json $(B)/ref0.json
	@$(B)/tests/test_agent
	@conformance/tests/agent.sh $(B) $(B)/ref0.json $(AGENT_CASES)
	@conformance/tests/run.sh $(B)
	@conformance/tests/program.sh $(B)
	@$(B)/tests/misbehave $(MISBEHAVE_SEEDS)

# What vs-conform and vs-agent share, and what may happen between them.
CHECK_PROGRAMS += $(B)/tests/agent_shim $(B)/tests/test_agent

$(B)/tests/test_agent: $(call obj,conformance/tests/test_agent.c $(patsubst %,conformance/%.c,remote_clock agent/line agent/msg)) $(B)/obj/transport/tests/runner.o $(LIBJUDGE) $(LIBWIRE)
	@mkdir -p $(@D)
	$(CC) $(OPT) $(SANFLAGS) $(LDFLAGS) -o $@ $^ $(shell pkg-config --libs check)

$(B)/tests/agent_shim: $(call obj,conformance/tests/agent_shim.c)
	@mkdir -p $(@D)
	$(CC) $(OPT) $(SANFLAGS) $(LDFLAGS) -o $@ $^

# What both sides read of each other.
FUZZERS += conformance/tests/fuzz_agent
FUZZ_SEEDS_fuzz_agent := conformance/tests/fuzz_agent
FUZZ_AGENT_SRCS := $(filter-out conformance/agent/main.c conformance/agent/stream.c conformance/lag.c,$(AGENT_SRCS)) \
		   $(patsubst %,conformance/remote_%.c,clock cm command link news target) \
		   conformance/tests/fuzz_device.c conformance/tests/fuzz_agent.c

$(B)/bin/fuzz_agent: $(call obj,$(FUZZ_AGENT_SRCS)) $(LIBJUDGE) $(LIBWIRE)
	@mkdir -p $(@D)
	$(CC) $(OPT) $(SANFLAGS) -fsanitize=fuzzer $(LDFLAGS) -o $@ $^

# A device that misbehaves at random. MISBEHAVE_SEEDS=20000: the long form.
MISBEHAVE := $(B)/tests/misbehave
MISBEHAVE_SEEDS ?= 200
CHECK_PROGRAMS += $(MISBEHAVE)

$(MISBEHAVE): $(call obj,conformance/tests/misbehave.c $(filter-out conformance/main.c,$(CONFORM_SRCS))) $(B)/obj/conformance/page.o $(LIBVS) $(LIBJUDGE) $(LIBWIRE)
	@mkdir -p $(@D)
	$(CC) $(OPT) $(SANFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS_VS) -lnet

coverage-table: $(CONFORM_BIN) ## writes conformance/coverage.md: row, file, result
	@$(CONFORM_BIN) --quiet --device ref0 --json $(B)/coverage-ref0.json
	@$(CONFORM_BIN) --quiet --coverage conformance/coverage.md --beside $(B)/coverage-ref0.json

# SOAK_LOAD=n: beside n busy loops.
SOAK_SIM  ?= 20
SOAK_REF0 ?= 5
SOAK_LOAD ?= 0
soak-conform: $(CONFORM_BIN) ## the suite SOAK_SIM times on the simulator, SOAK_REF0 times on ref0: the same verdicts (SOAK_LOAD=2: beside busy loops)
	@conformance/tests/soak.sh $(B) $(SOAK_SIM) $(SOAK_REF0) $(SOAK_LOAD)

.PHONY: check-conform coverage-table soak-conform
# Peers with frames of their own, in a network namespace; what stands for a virtual machine there.
FORWARD := $(B)/tests/forward
CHECK_PROGRAMS += $(FORWARD)
CHECK_TARGETS  += check-peers

check-peers: all $(B)/tests/forward ## ref0 against peers on an Ethernet: through an interface, in a VLAN, behind AF_UNIX datagrams
	@conformance/tests/peers.sh $(B)

$(FORWARD): $(call obj,conformance/tests/forward.c) $(LIBVS) $(LIBWIRE)
	@mkdir -p $(@D)
	$(CC) $(OPT) $(SANFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS_VS) -lnet

.PHONY: check-peers

include conformance/rxe-guest/module.mk
