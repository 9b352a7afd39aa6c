# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# labs/: vs-lab, and the labs (docs/labs.md says how one is made).
LAB_SRCS      := $(sort $(wildcard labs/*.c))
LAB_BIN       := $(B)/bin/vs-lab
LAB_ANSWERS   := $(B)/tests/lab_answers
ALL           += $(LAB_BIN)
INSTALL_BINS  += $(LAB_BIN)
INSTALL_MANS  += docs/man/vs-lab.1
INSTALL_FILES += $(foreach f,$(shell find labs/[0-9][0-9]-* labs/include -type f -not -path '*/mutants*'),$(f):share/verbscope/$(f))
CHECK_TARGETS += check-labs
CHECK_PROGRAMS += $(LAB_ANSWERS)
LONG_TARGETS  += check-labs-long

$(call obj,labs/streams.c): CPPFLAGS += -Ilabs
$(LAB_BIN): $(call obj,$(LAB_SRCS)) $(LIBVS) $(LIBJUDGE) $(LIBWIRE)
	@mkdir -p $(@D)
	$(CC) $(OPT) $(SANFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS_VS) -lm -lcrypt

$(LAB_ANSWERS): $(call obj,labs/tests/answers.c $(filter-out labs/main.c,$(LAB_SRCS))) $(LIBVS) $(LIBJUDGE) $(LIBWIRE)
	@mkdir -p $(@D)
	$(CC) $(OPT) $(SANFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS_VS) -lm -lcrypt

# The network of labs about congestion, which their programs are linked with: the reference and its simulator, behind net.h.
NET_SRCS      := $(sort $(wildcard labs/net/*.c))
NET_LIB       := $(B)/lib/verbscope/libvs-net.so
ALL           += $(NET_LIB)
INSTALL_FILES += $(NET_LIB):lib/verbscope/libvs-net.so

$(NET_LIB): labs/net/symbols.map $(call obj,$(NET_SRCS)) $(LIBVS) $(LIBJUDGE) $(LIBWIRE)
	@mkdir -p $(@D)
	$(CC) $(OPT) $(SANFLAGS) $(LDFLAGS) -fPIC -shared -Wl,-soname,libvs-net.so -Wl,-z,defs \
		-Wl,--version-script,labs/net/symbols.map -o $@ $(call obj,$(NET_SRCS)) $(LIBVS) $(LIBJUDGE) $(LIBWIRE) $(LIBS_VS) -lm

check-labs: all $(LAB_ANSWERS) ## every lab: starters fail, solutions pass, mutants are caught, both languages are alike (SEEDS=20: the long form; LAB=NN: one)
	@SEEDS=$(or $(SEEDS),2) labs/tests/check-labs.sh $(B) $(LAB)

check-labs-long: all $(LAB_ANSWERS) # 20 seeds, and AddressSanitizer
	@SEEDS=20 JOBS=$(JOBS) labs/tests/check-labs.sh $(B)

.PHONY: check-labs check-labs-long
