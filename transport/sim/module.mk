# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# transport/sim/: virtual clock, links, switch; the soak that runs the engine on them.
VERBSCOPE_SRCS += $(sort $(wildcard transport/sim/*.c))

# Random work under random faults. SEEDS=n runs so many; without it, as many as fit SOAK_SECONDS.
SOAK         := $(B)/tests/sim_soak
SOAK_SECONDS ?= $(if $(SAN),8,15)
CHECK_TARGETS += check-sim check-determinism
CHECK_PROGRAMS += $(SOAK)
ASAN_TARGETS  += check-sim

check-sim: $(SOAK) ## random work on a simulated network under random faults (SEEDS=n)
	@transport/tests/soak-self-test.sh $(SOAK)
	@$(SOAK) $(if $(SEEDS),--seeds $(SEEDS),--seconds $(SOAK_SECONDS))

# The same program from the other compiler, without optimization.
CHECK_PROGRAMS += soak-otherwise
soak-otherwise:
	@$(MAKE) B=$(B)/clang CC=$(CLANG) OPT=$(CLANG_OPT) $(B)/clang/tests/sim_soak

check-determinism: $(SOAK) soak-otherwise ## the same seed gives the same capture and trace, whoever compiled it
	@transport/tests/determinism.sh $(SOAK) $(B)/clang/tests/sim_soak

$(SOAK): $(call obj,transport/tests/sim_soak.c $(sort $(wildcard transport/tests/soak_*.c))) $(LIBVS) $(LIBJUDGE) $(LIBWIRE)
	@mkdir -p $(@D)
	$(CC) $(OPT) $(SANFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS_VS)

.PHONY: check-sim check-determinism soak-otherwise

# Figures: docs/performance.md. NDEBUG stays off: the asserts are part of the engine.
bench-core: $(B)/tests/bench_core ## packets per second of both engines on one core, memory of a QP, cost of an idle one
	@$<

$(B)/tests/bench_core: $(call obj,transport/tests/bench_core.c) $(LIBVS) $(LIBJUDGE) $(LIBWIRE)
	@mkdir -p $(@D)
	$(CC) $(OPT) $(SANFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS_VS)

.PHONY: bench-core
