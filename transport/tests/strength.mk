# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# strength.mk - how strong the tests of the engine are. Neither target is part of `make check`.
#
#   make coverage   lines and branches of transport/core that the tests reach
#   make mutants    small faults put into transport/core, one at a time: how many the tests notice

# What judges the engine: built by both, in folders of their own.
strength-tests: $(UNIT_TESTS) $(SOAK)

coverage: ## lines and branches of transport/core that the tests reach
	@scripts/coverage.sh '$(MAKE)' $(B)

.PHONY: strength-tests coverage mutants

# The same sources with every fault in them: mutate.c writes them, and these rules take the place of the usual ones.
MUTANT_CORE := $(wildcard transport/core/*.c)
ifdef MUTANTS
$(B)/bin/mutate: transport/tests/mutate.c
	@mkdir -p $(@D)
	$(CC) $(CSTD) $(WARN) -O1 -g -o $@ $<

$(B)/core/sites: $(B)/bin/mutate $(MUTANT_CORE) $(wildcard transport/core/*.h transport/include/vs/*.h transport/*.def)
	@mkdir -p $(@D)
	$(CC) $(CSTD) -E -P -Itransport/include -Itransport -include core/conn.h -x c -o $(@D)/enums /dev/null
	$< $(@D)/enums $(@D) $@.new $(MUTANT_CORE)
	@mv $@.new $@

$(MUTANT_CORE:transport/core/%.c=$(B)/core/%.c): $(B)/core/sites ;

$(B)/obj/transport/core/%.o: $(B)/core/%.c
	@mkdir -p $(@D)
	$(CC) $(CSTD) -w $(BASE) -O1 -Itransport/core -Itransport/tests $(DEFS) $(CFLAGS) -c -o $@ $<

VERBSCOPE_SRCS += transport/tests/mutant.c
endif

MUTANTS_COUNT ?= 600
MUTANTS_SEED  ?= 1
mutants: ## faults put into transport/core one at a time: how many the tests notice (MUTANTS_COUNT=n MUTANTS_SEED=n)
	@scripts/mutants.sh '$(MAKE)' $(B) $(MUTANTS_COUNT) $(MUTANTS_SEED) $(MUTANTS_JOBS)
MUTANTS_JOBS  ?= 1

