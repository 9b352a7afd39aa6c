# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# transport/sim/: virtual clock, links, switch.
VERBSCOPE_SRCS += $(sort $(wildcard transport/sim/*.c))

# Random work under random faults. SEEDS=n runs so many; without it, as many as SOAK_SECONDS allow.
SOAK         := $(B)/tests/sim_soak
SOAK_SECONDS ?= 90
CHECK_TARGETS += check-sim

check-sim: $(SOAK) ## random work on a simulated network under random faults (SEEDS=n)
	@$(SOAK) $(if $(SEEDS),--seeds $(SEEDS),--seconds $(SOAK_SECONDS))

$(SOAK): $(call obj,transport/tests/sim_soak.c $(sort $(wildcard transport/tests/soak_*.c))) $(LIBVS) $(LIBJUDGE) $(LIBWIRE)
	@mkdir -p $(@D)
	$(CC) $(OPT) $(SANFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS_VS)

.PHONY: check-sim
