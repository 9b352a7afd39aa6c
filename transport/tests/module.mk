# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# transport/tests/: Check suites (test_*.c, one program each) and fuzz targets (fuzz_*.c).
UNIT_TESTS := $(patsubst transport/tests/%.c,$(B)/tests/%,$(sort $(wildcard transport/tests/test_*.c)))
$(B)/tests/test_inject $(B)/tests/test_frameio: LIBS_VS += -lnet
$(B)/tests/test_monitor $(B)/tests/test_monitor_packet $(B)/tests/test_monitor_rules $(B)/tests/test_monitor_deviations: $(B)/obj/transport/tests/monrig.o
DEVIATION_OBJS := $(patsubst %.c,$(B)/obj/%.o,$(sort $(wildcard transport/tests/deviation*.c)))
$(B)/tests/test_deviations: $(DEVIATION_OBJS)

# Tests of these enter a network namespace of their own, and so need a process of their own.
FORKING_TESTS := $(B)/tests/test_inject $(B)/tests/test_udpio $(B)/tests/test_frameio

# What only drives the engine need not be optimized: that takes three quarters of the time to build.
$(patsubst $(B)/tests/%,$(B)/obj/transport/tests/%.o,$(UNIT_TESTS)) $(call obj,$(addprefix transport/tests/,rig.c monrig.c runner.c)) $(DEVIATION_OBJS): CPPFLAGS += -O0

# In the build that everybody uses each test has a process; the other builds run the tests in one.
unit-programs: $(UNIT_TESTS)

run-unit: $(UNIT_TESTS) # make check-unit, once Check is there
	@scripts/run-tests.sh $(JOBS) $(FORKING_TESTS) $(if $(SAN)$(findstring clang,$(CC)),--no-fork) $(filter-out $(FORKING_TESTS),$^)

# Recorded traffic through the codec: the captures in the repository, and more of them where
# VS_SHARED (a folder beside this one) has them.
VS_SHARED ?= ../shared
CHECK_TARGETS += check-captures
CHECK_PROGRAMS += $(B)/tests/captures_check
ASAN_TARGETS  += check-captures

check-captures: $(B)/tests/captures_check ## real captures: round trip, CRCs, rules, the decode beside them
	@transport/tests/captures-self-test.sh $<
	@[ -d $(VS_SHARED)/captures ] || echo 'check-captures: no $(VS_SHARED)/captures: the recorded ones alone'
	@$< --expected pcaps/recorded/EXPECTED pcaps/recorded $(wildcard $(VS_SHARED)/captures/*)

$(B)/tests/captures_check: $(call obj,transport/tests/captures_check.c transport/tests/captures_txt.c) $(LIBVS) $(LIBWIRE)
	@mkdir -p $(@D)
	$(CC) $(OPT) $(SANFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS_VS)

# The rows of the conformance inventory and the tests that show them.
CHECK_TARGETS += check-rows

check-rows: ## every row of the inventory that an engine can show has a test that is named by it
	@transport/tests/check-rows.sh conformance/inventory.tsv docs/architecture.md transport/tests/test_*.c

# The monitor on captures that show less than they could, and on random runs in which everybody keeps the rules.
MONITOR_CHECK := $(B)/tests/monitor_check
MONITOR_SEEDS ?= $(if $(SAN),20,200)
CHECK_TARGETS += check-monitor
CHECK_PROGRAMS += $(MONITOR_CHECK)

check-monitor: $(MONITOR_CHECK) $(SOAK) ## no false claim of the monitor: captures halved, thinned, one-sided; random runs (MONITOR_SEEDS=n)
	@$(MONITOR_CHECK) pcaps/recorded/*.pcap pcaps/generated/*.pcap $(wildcard $(VS_SHARED)/captures/*/*.pcap)
	@$(SOAK) --monitor --seeds $(MONITOR_SEEDS)

$(MONITOR_CHECK): $(call obj,transport/tests/monitor_check.c) $(LIBVS) $(LIBJUDGE) $(LIBWIRE)
	@mkdir -p $(@D)
	$(CC) $(OPT) $(SANFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS_VS)

FUZZERS += transport/tests/fuzz_capture
FUZZ_SEEDS_fuzz_capture := pcaps/recorded
FUZZERS += transport/tests/fuzz_copy
FUZZ_SEEDS_fuzz_copy := pcaps/recorded
FUZZERS += transport/tests/fuzz_cm
FUZZERS += transport/tests/fuzz_parse
FUZZ_SEEDS_fuzz_parse := $(B)/seeds/fuzz_parse

# First inputs of fuzz_parse: every opcode in every encapsulation, and frames of the recorded captures.
FUZZ_NEEDS += $(B)/seeds/fuzz_parse

$(B)/seeds/fuzz_parse: $(B)/tests/mkseeds $(sort $(wildcard pcaps/recorded/*.pcap))
	@rm -rf $@ && mkdir -p $@
	@$< $@ $(filter %.pcap,$^) || { rm -rf $@; false; }

$(B)/tests/mkseeds: $(call obj,transport/tests/mkseeds.c) $(LIBVS) $(LIBWIRE)
	@mkdir -p $(@D)
	$(CC) $(OPT) $(SANFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS_VS)

include transport/tests/strength.mk

.PHONY: unit-programs run-unit check-captures check-rows check-monitor
