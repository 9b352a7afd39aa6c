# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# transport/drill/: scenario scripts (docs/drill-language.md).
VERBSCOPE_SRCS += $(sort $(wildcard transport/drill/*.c))

FUZZERS += transport/tests/fuzz_drill
FUZZ_SEEDS_fuzz_drill := transport/tests/drill pcaps/scenarios

# The suites of scripts run in check-unit (test_drill).
CHECK_TARGETS += check-drill
check-drill: ## every error that the drill language can say is said to a script of the tests
	@transport/tests/drill/messages.sh

bench-drill: $(B)/tests/bench_drill ## time of a thousand scripts, parsed and run in the simulator on one core
	@$< $(sort $(wildcard transport/tests/drill/*.drill pcaps/scenarios/*.drill))

$(B)/tests/bench_drill: $(call obj,transport/tests/bench_drill.c) $(LIBVS) $(LIBJUDGE) $(LIBWIRE)
	@mkdir -p $(@D)
	$(CC) $(OPT) $(SANFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS_VS)

.PHONY: check-drill bench-drill
