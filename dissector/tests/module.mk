# SPDX-License-Identifier: GPL-2.0-or-later
#
# Tests and benchmark of the Wireshark plugin. Included by dissector/module.mk.
#
#   check-dissector          captures against their .txt, the built-in, golden files (run.sh)
#   check-dissector-mutated  damaged captures through a plugin under ASan and UBSan (mutated.sh)
#   fuzz-dissector           the same for SECONDS=n
#   bench-dissector          packets per second beside the built-in (bench/bench.sh)
#   bench-dissector-memory   bytes that the analysis takes for each packet (bench/memory.sh)
#   check-trixie             the same source with Wireshark 4.4 in a Debian trixie root (trixie.sh)
#   check-forky              and with 4.6 in a forky root
#   update-golden            rewrites tests/golden/ and pcaps/generated/ from what the code does now

include $(wildcard dissector/tests/*/module.mk)

DT          := dissector/tests
MK_SRCS     := $(sort $(wildcard $(DT)/mk*.c))
MKCAPTURES  := $(B)/tests/mkcaptures
MUTATE      := $(B)/tests/mutate
MKBENCH     := $(B)/tests/mkbench
VS_SHARED   ?= ../shared

$(MKCAPTURES): $(call obj,$(MK_SRCS))
$(MUTATE): $(call obj,$(DT)/mutate.c)
$(MKBENCH): $(call obj,dissector/bench/mkbench.c)
$(MKCAPTURES) $(MUTATE) $(MKBENCH): $(LIBVS) $(LIBWIRE)
	@mkdir -p $(@D)
	$(CC) $(OPT) $(SANFLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(LIBS_VS)

TEST_STORE := $(B)/tests/test_store
$(TEST_STORE): $(call obj,$(DT)/test_store.c dissector/store.c) $(LIBJUDGE) $(LIBWIRE)
	@mkdir -p $(@D)
	$(CC) $(OPT) $(SANFLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(LIBS_WIRE)

CHECK_TARGETS += check-dissector
LONG_TARGETS  += check-dissector-mutated
CHECK_PROGRAMS += $(MKCAPTURES) $(MUTATE) $(TEST_STORE)

check-dissector: all $(MKCAPTURES) $(TEST_STORE) ## the plugin on recorded, generated and (VS_SHARED) public captures
	@B='$(B)' VS_SHARED='$(VS_SHARED)' $(DT)/run.sh

update-golden: all $(MKCAPTURES)
	@mkdir -p pcaps/generated
	$(MKCAPTURES) pcaps/generated
	@B='$(B)' VS_SHARED='$(VS_SHARED)' $(DT)/run.sh --update

# The plugin under ASan and UBSan, with exact packet pointers (strict.c); SAN=1 in a build folder of its own.
STRICT_O  := $(B)/obj/$(DT)/strict.o
STRICT_SO := $(B)/strict/$(WS_SERIES)/epan/verbscope.so
$(STRICT_O): $(DT)/strict.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -D_DEFAULT_SOURCE $(WARN) $(BASE) -I. $(patsubst -I%,-isystem %,$(WS_CFLAGS)) $(CFLAGS) $(CPPFLAGS) -c -o $@ $<
$(STRICT_SO): $(STRICT_O) $(PLUGIN_OBJS) $(LIBJUDGE) $(LIBWIRE)
	@mkdir -p $(@D)
	$(CC) $(OPT) $(SANFLAGS) -shared $(LDFLAGS) -Wl,--exclude-libs,ALL -Wl,--wrap=tvb_get_ptr -o $@ $^ $(WS_LIBS) -ldeflate

MUTATED_FRAMES ?= 52000
check-dissector-mutated: all $(MUTATE) $(MKULP) ## damaged captures through the plugin under ASan and UBSan
	@$(MAKE) --no-print-directory B=$(B)/asan SAN=1 $(patsubst $(B)/%,$(B)/asan/%,$(STRICT_SO) $(TEST_STORE))
	@B='$(B)' $(DT)/mutated.sh $(MUTATED_FRAMES)

# The same for as long as you like: every round has a seed of its own.
fuzz-dissector: all $(MUTATE) $(MKULP) ## more of it: SECONDS=n (default 600), from SEED=n on
	@$(MAKE) --no-print-directory B=$(B)/asan SAN=1 $(patsubst $(B)/%,$(B)/asan/%,$(STRICT_SO) $(TEST_STORE))
	@B='$(B)' $(DT)/mutated.sh 50000 $(or $(SEED),1000) $(or $(SECONDS),600)

bench-dissector: all $(MKBENCH) ## packets per second: our plugin, the built-in, plain data
	@B='$(B)' dissector/bench/bench.sh 200000 $(or $(ROUNDS),5)

PEAK := $(B)/tests/peak
$(PEAK): $(call obj,dissector/bench/peak.c)
	@mkdir -p $(@D)
	$(CC) $(OPT) $(SANFLAGS) $(LDFLAGS) -o $@ $<

bench-dissector-memory: all $(MKBENCH) $(PEAK) ## memory of the analysis for each packet of a large capture
	@B='$(B)' dissector/bench/memory.sh

check-trixie: ## build and test the plugin in a Debian trixie root (Wireshark 4.4)
	@VS_SHARED='$(VS_SHARED)' $(DT)/trixie.sh trixie

check-forky: ## the same in a Debian forky root (Wireshark 4.6)
	@VS_SHARED='$(VS_SHARED)' $(DT)/trixie.sh forky

.PHONY: check-forky check-dissector update-golden check-dissector-mutated fuzz-dissector bench-dissector bench-dissector-memory check-trixie
