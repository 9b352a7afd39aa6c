# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# repo.mk - targets about the repository: packages, checks, fuzzing, installation. Included last, so
# that the lists which module.mk files add to are complete. `make help` prints the ## comments.

JOBS       ?= $(shell nproc 2>/dev/null || echo 1)
CLANG      ?= clang
CLANG_OPT  ?= -O0
C_FILES     = $(shell scripts/sources.sh c)
SHELL_FILES = $(shell scripts/sources.sh shell)

##@ Start here

demo: ## install what is missing, build, decode a recorded lossy transfer and explain it
	@scripts/deps.sh demo
	@$(MAKE) -j$(JOBS) all
	@scripts/demo.sh $(B)

check: ## install what the tests need and run all of them, with times and a summary
	@scripts/deps.sh $(CHECK_DEPS)
	@MAKE='$(MAKE)' B='$(B)' JOBS='$(JOBS)' scripts/check.sh $(CHECK_STEPS)

check-long: ## what takes too long for make check, which comes first in CI
	@scripts/deps.sh $(CHECK_DEPS) $(LONG_DEPS)
	@MAKE='$(MAKE)' B='$(B)' JOBS='$(JOBS)' RESULTS='$(B)/check-long' scripts/check.sh $(LONG_STEPS)

doctor: ## what on this machine is in the way of building and running, and what to do
	@CC='$(CC)' MAKE_VERSION='$(MAKE_VERSION)' WS_SERIES='$(WS_SERIES)' scripts/doctor.sh $(B)

##@ Packages

deps: ## install every package that demo and check need (DEPS=yes|no|skip answers the question)
	@scripts/deps.sh $(CHECK_DEPS)

deps-%:
	@scripts/deps.sh $*

##@ Checks (CONTRIBUTING.md says which of them make check runs)

# What `make check` does, in this order; a step that fails does not stop the others. The steps of the
# parts run at the same time, $(JOBS) of them, once check-programs has built what they need.
# LATER names steps to leave out: .ci/run's, of which check-long does more.
CHECK_STEPS = $(filter-out $(LATER),$(CHECK_ALL))
CHECK_ALL   = format-check check-deps check-spdx lint-quick all check-install check-pure check-unit clang-programs \
	      check-programs --together $(filter $(CHECK_FIRST),$(TOGETHER)) $(filter-out $(CHECK_FIRST),$(TOGETHER))
TOGETHER    = $(CHECK_TARGETS) check-scripts
# Those that take longest begin first, so that none of them is left alone at the end.
CHECK_FIRST = check-dissector check-labs check-scripts check-launch check-fuzz check-ulp

# And `make check-long`: more of the same, under sanitizers or for longer.
LONG_STEPS = lint check-clang $(addprefix asan-,$(ASAN_TARGETS)) fuzz-minute $(LONG_TARGETS)

check-programs: all $(CHECK_PROGRAMS) # nothing is left to build for CHECK_TARGETS

check-unit: ## unit and property tests
	@scripts/deps.sh unit
	@$(MAKE) run-unit

check-deps: ## which room includes which (docs/architecture.md)
	@scripts/check-deps.sh --self-test
	@scripts/check-deps.sh

check-spdx: ## every source file names its licence
	@scripts/check-spdx.sh --self-test
	@scripts/check-spdx.sh

check-scripts: ## tests of the scripts themselves
	@scripts/tests/deps-test.sh
	@scripts/tests/check-test.sh
	@scripts/tests/doctor-test.sh
	@scripts/tests/deb-test.sh

CHECK_TARGETS += check-completion
check-completion: all ## what bash completes, against --help and the man page of every program
	@scripts/tests/completion-test.sh $(B) $(notdir $(INSTALL_BINS))

CHECK_TARGETS += check-docs check-reference
LONG_TARGETS  += check-docs-long
check-docs: all $(VICTIM) ## links, targets, options and commands of README and docs are as they say
	@scripts/tests/docs-test.sh $(B)
	@scripts/check-docs.sh $(B)

check-docs-long: all $(VICTIM) ## and the commands that take longer
	@scripts/deps.sh apps
	@scripts/check-docs.sh --long $(B)

check-reference: all ## docs/reference is what its sources say
	@scripts/reference.sh $(B) $(B)/reference
	@diff -r $(B)/reference docs/reference || { echo "run 'make reference'" >&2; exit 1; }

reference: all ## writes docs/reference anew: fields, rules, reasons, causes, cases, events ...
	@scripts/reference.sh $(B) docs/reference

check-install: all ## what make install installs can be used, and make uninstall removes it
	@CC='$(CC)' scripts/tests/install-test.sh '$(MAKE)' $(B)

# The objects of this build, or those of a plain one where sanitizers and the like have added calls.
PURE_B    = $(if $(strip $(SANFLAGS) $(CFLAGS) $(CPPFLAGS)),$(B)/pure,$(B))
PURE_OBJS = $(patsubst %.c,$(PURE_B)/obj/%.o,$(sort $(WIRE_SRCS) $(wildcard transport/core/*.c) transport/event/event.c transport/event/names.c))
check-pure: ## codec and engine call no clock, socket, rand, stdio, getenv, malloc
	@scripts/check-pure.sh --self-test
	@$(MAKE) B=$(PURE_B) SAN= SANFLAGS= CFLAGS= CPPFLAGS= $(PURE_OBJS)
	@scripts/check-pure.sh $(PURE_OBJS)

check-clang: clang-programs ## build everything with clang too, and run the unit tests, optimized
	@$(MAKE) B=$(B)/clang-O1 CC=$(CLANG) OPT=-O1 check-unit
clang-programs: # what clang has to say of it all does not depend on optimization
	@$(MAKE) B=$(B)/clang CC=$(CLANG) OPT=$(CLANG_OPT) all unit-programs

# One after the other: each has a make of its own below it, and they build the same objects.
check-asan: ## unit tests and more under AddressSanitizer and UBSan
	@set -e; for t in $(ASAN_TARGETS); do $(MAKE) asan-$$t; done
asan-%: ; @$(MAKE) B=$(B)/asan SAN=1 OPT='-O1 -g1' $*

# Some seconds for each byte reader, of a minute the rest in check-long. clang takes five times as long to optimize
# what it sanitizes, and more than these seconds win back; but the codec, the parser's own, is worth it.
FUZZ_QUICK = FUZZ_B=$(B)/fuzz-quick FUZZ_OPT='-O0 -g1'
CHECK_TARGETS  += check-fuzz
CHECK_PROGRAMS += fuzzers-quick
fuzzers-quick: ; @$(MAKE) $(FUZZ_QUICK) fuzz-programs
check-fuzz: ## some seconds of libFuzzer on every byte reader
	@$(MAKE) $(FUZZ_QUICK) JOBS=1 SECONDS=4 FUZZ_SECONDS_fuzz_parse=10 fuzz
fuzz-minute: ## a minute for the parser, 15 seconds for the others
	@$(MAKE) $(FUZZ_QUICK) SECONDS=15 FUZZ_SECONDS_fuzz_parse=60 fuzz

check-deviations: $(UNIT_TESTS) all ## every deviation turns the rows red that deviations.def names, and no others: tests and suite
	@scripts/check-deviations.sh $(B)/tests
	@scripts/conform-deviations.sh $(B)

deviations-table: all ## writes conformance/deviations.md: which rows each deviation turns red
	@scripts/conform-deviations.sh --table $(B) conformance/deviations.md

check-fresh: ## clone, make demo, make check-unit in fresh Debian roots: as root, with sudo, without network (needs root)
	@scripts/deps.sh fresh
	@scripts/check-fresh.sh

check-fresh-whole: ## the same with make check, which takes half an hour more
	@scripts/deps.sh fresh
	@scripts/check-fresh.sh --whole

##@ Style

# clang-format and clang-tidy change their mind with every version; ours is that of Debian 12.
only_14 = v=$$($(1) --version | sed -n 's/.*version \([0-9]*\)\..*/\1/p'); \
	if [ "$$v" != 14 ]; then echo "$@: not checked, since this is $(1) $$v and not 14"; exit 0; fi;

format: ## apply .clang-format
	clang-format -i $(C_FILES)

format-check: ## .clang-format is respected
	@$(call only_14,clang-format) clang-format --dry-run --Werror $(C_FILES)

lint: lint-psn lint-size lint-shell lint-man lint-cppcheck lint-tidy ## cppcheck, clang-tidy, shellcheck, mandoc, the rules of PSNs and of sizes (TIDY_NODES=225000: deeper)

lint-quick: lint-psn lint-size lint-shell lint-man # and clang-tidy without its analyzer
	@$(MAKE) TIDY_NODES=0 lint-tidy

lint-psn:
	@scripts/lint-psn.sh --self-test
	@scripts/lint-psn.sh

lint-size:
	@scripts/lint-size.sh --self-test
	@scripts/lint-size.sh

lint-shell:
	@shellcheck --external-sources --source-path=SCRIPTDIR $(SHELL_FILES)

lint-man:
	@$(if $(INSTALL_MANS),mandoc -T lint -W warning $(INSTALL_MANS))

# cppcheck reads no system headers; cppcheck.cfg has the macros that it stumbles over. With one job it would also look
# across files, where it takes ck_assert() for a function that returns.
lint-cppcheck:
	@cppcheck --quiet --std=c11 --enable=warning,performance,portability --inline-suppr --error-exitcode=1 \
		--suppress=missingIncludeSystem --library=scripts/cppcheck.cfg -j$(if $(filter 1,$(JOBS)),2,$(JOBS)) -Itransport/include -Itransport $(filter %.c,$(C_FILES))

# Every C file, whatever links it; the programs of the labs are compiled by vs-lab alone.
objects: $(call obj,$(filter-out labs/0% labs/1%,$(filter %.c,$(C_FILES))))

lint-tidy: $(B)/compile_commands.json
	@$(call only_14,clang-tidy) scripts/lint-tidy.sh $< $(JOBS) $(TIDY_NODES)

# For clang-tidy and editors: the compile lines that make itself would run.
# Always anew: no file tells that another one is gone.
$(B)/compile_commands.json: FORCE
	@mkdir -p $(@D)
	@scripts/compile-commands.sh '$(MAKE)' $(B) >$@

##@ Fuzzing

# FUZZERS are built by clang in $(FUZZ_B); corpora stay in $(B)/corpus, inputs that crash in
# $(B)/crashes. FUZZ_SEEDS_<name> may name folders of first inputs, FUZZ_SECONDS_<name> a time of its own.
FUZZ_B      = $(B)/fuzz
FUZZ_OPT    = -O1 -g
FUZZ_BUILD  = $(MAKE) B=$(FUZZ_B) CC=$(CLANG) SAN=1 OPT='$(FUZZ_OPT)' WIRE_OPT=-O1 CFLAGS=-fsanitize=fuzzer-no-link
$(call obj,$(WIRE_SRCS)): CPPFLAGS += $(WIRE_OPT)
FUZZ_NAMES := $(notdir $(FUZZERS))
empty      :=
fuzz_job    = $(1)$(addprefix @,$(FUZZ_SECONDS_$(1)))$(subst $(empty) $(empty),,$(addprefix :,$(FUZZ_SEEDS_$(1))))
fuzz: SECONDS := 60
fuzz: fuzz-programs ## run every fuzzer for SECONDS=n (default 60)
	@scripts/fuzz.sh $(B) $(FUZZ_B) $(SECONDS) $(JOBS) $(foreach f,$(FUZZ_NAMES),$(call fuzz_job,$(f)))

fuzz-programs: $(FUZZ_NEEDS) # the fuzzers and their first inputs
	@$(FUZZ_BUILD) -j$(JOBS) fuzzers

fuzzers: $(FUZZ_NAMES:%=$(B)/bin/%)

$(B)/bin/fuzz_%: $(B)/obj/transport/tests/fuzz_%.o $(LIBVS) $(LIBJUDGE) $(LIBWIRE)
	@mkdir -p $(@D)
	$(CC) $(OPT) $(SANFLAGS) -fsanitize=fuzzer $(LDFLAGS) -o $@ $^ $(LIBS_VS)

##@ Installation

INSTALL = VERSION='$(VERSION)' DESTDIR='$(DESTDIR)' PREFIX='$(PREFIX)' scripts/install.sh
INSTALL_ALL = $(foreach f,$(INSTALL_BINS),$(f):bin/$(notdir $(f))) \
	      $(foreach f,$(INSTALL_MANS),$(f):share/man/man$(patsubst .%,%,$(suffix $(f)))/$(notdir $(f))) \
	      $(foreach f,$(INSTALL_BINS),scripts/completion.sh:share/bash-completion/completions/$(notdir $(f))) \
	      $(foreach f,$(wildcard transport/include/vs/*.h),$(f):include/vs/$(notdir $(f))) \
	      $(foreach f,$(wildcard transport/*.def),$(f):include/vs/$(notdir $(f))) \
	      $(foreach f,$(LIBWIRE) $(LIBJUDGE) $(LIBVS),$(f):lib/$(notdir $(f))) $(INSTALL_FILES)

install: all ## install programs, man pages and the library below $(DESTDIR)$(PREFIX)
	@$(INSTALL) install $(INSTALL_ALL)

uninstall: ## remove them again, and folders that were made for them
	@$(INSTALL) uninstall $(INSTALL_ALL)

# libverbscope.so, for packages: of objects of their own, since those of the archives are hidden. What it shows is what the
# public headers name. Before 1.0.0 every minor version is a library of another name.
ABI       := $(shell cut -d. -f1-2 VERSION)
SHARED_SO  = $(B)/shared/libverbscope.so.$(ABI)
shared: ## build libverbscope.so.$(ABI) in $(B)/shared
	@$(MAKE) B=$(B)/shared VISIBILITY= SHARED_SO='$(SHARED_SO)' '$(SHARED_SO)'
$(SHARED_SO): $(LIBVS) $(LIBJUDGE) $(LIBWIRE)
	{ echo '{ global:'; grep -ohE '\bvs_[a-z0-9_]+\b' transport/include/vs/*.h | sort -u | sed 's/$$/;/'; echo 'local: *; };'; } >$(B)/exported.map
	$(CC) $(OPT) -shared $(LDFLAGS) -Wl,-soname,$(@F) -Wl,--version-script,$(B)/exported.map -Wl,-z,defs -o $@ \
		-Wl,--whole-archive $^ -Wl,--no-whole-archive $(LIBS_VS) -lnet
	ln -sf $(@F) $(@D)/libverbscope.so

deb: ## build Debian packages in $(B)/deb, of the last commit
	@scripts/deps.sh build deb
	@scripts/deb.sh '$(MAKE)' $(B) $(VERSION) $(JOBS)

check-deb: ## build them, install and use them in a fresh Debian root as an ordinary user, remove them (needs root)
	@scripts/deps.sh build deb fresh
	@scripts/deb.sh '$(MAKE)' $(B) $(VERSION) $(JOBS)
	@scripts/check-fresh.sh --deb $(B)/deb

dist: ## pack the sources: $(B)/verbscope-$(VERSION).tar.gz
	@scripts/dist.sh $(B) $(VERSION)

help: ## this list
	@awk -F ':.*## ' ' \
		/^##@ / { printf "\n%s\n", substr($$0, 5) } \
		FNR == 1 && FILENAME == "Makefile" { printf "\nThe build and its parts\n" } \
		/^[a-z][a-z0-9_-]*:.*## / { printf "  %-24s %s\n", $$1, $$2 }' \
		scripts/repo.mk Makefile $(filter-out %.d scripts/repo.mk Makefile,$(MAKEFILE_LIST))
	@printf '\nVariables: B=%s CC=%s SAN=%s PREFIX=%s DEPS=%s\n' '$(B)' '$(CC)' '$(SAN)' '$(PREFIX)' '$(DEPS)'

FORCE:

.PHONY: FORCE demo check check-long fuzz-minute deps check-programs check-unit check-deps check-spdx check-scripts check-install check-pure check-clang clang-programs check-asan check-fuzz fuzzers-quick \
	check-deviations deviations-table check-fresh check-fresh-whole format format-check lint lint-quick lint-psn lint-size lint-shell lint-man lint-cppcheck lint-tidy objects fuzz fuzz-programs fuzzers install \
	uninstall shared deb check-deb dist check-docs check-docs-long check-reference reference check-completion doctor help
