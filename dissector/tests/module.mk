# SPDX-License-Identifier: GPL-2.0-or-later
#
# Tests and benchmark of the Wireshark plugin. Included by dissector/module.mk.
#
#   check-dissector          captures against their .txt, the built-in, golden files (run.sh)
#   check-dissector-mutated  damaged captures through a plugin under ASan and UBSan (mutated.sh)
#   bench-dissector          packets per second beside the built-in (bench/bench.sh)
#   check-trixie             the same source with Wireshark 4.4 in a Debian trixie root (trixie.sh)
#   update-golden            rewrites tests/golden/ and pcaps/generated/ from what the code does now

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

CHECK_TARGETS += check-dissector

check-dissector: all $(MKCAPTURES) ## the plugin on recorded, generated and (VS_SHARED) public captures
	@B='$(B)' VS_SHARED='$(VS_SHARED)' $(DT)/run.sh

update-golden: all $(MKCAPTURES)
	@mkdir -p pcaps/generated
	$(MKCAPTURES) pcaps/generated
	@B='$(B)' VS_SHARED='$(VS_SHARED)' $(DT)/run.sh --update

MUTATED_FRAMES ?= 52000
check-dissector-mutated: $(MUTATE) ## damaged captures through the plugin under ASan and UBSan
	@$(MAKE) --no-print-directory B=$(B)/asan SAN=1 asan-plugin
	@B='$(B)' $(DT)/mutated.sh $(MUTATED_FRAMES)

bench-dissector: all $(MKBENCH) ## packets per second: our plugin, the built-in, plain data
	@B='$(B)' dissector/bench/bench.sh

check-trixie: ## build and test the plugin in a Debian trixie root (Wireshark 4.4)
	@B='$(B)' VS_SHARED='$(VS_SHARED)' $(DT)/trixie.sh

.PHONY: check-dissector update-golden check-dissector-mutated bench-dissector check-trixie

include $(wildcard dissector/tests/*/module.mk)
