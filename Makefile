# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# Verbscope: one non-recursive build. Every folder with code has a module.mk that adds its sources
# to the lists below; scripts/repo.mk holds the targets that are about the repository, not about code.
#
#   make            build everything into $(B)
#   make demo       install what is missing, build, show a decoded capture
#   make check      install what the tests need, run them all
#   make help       the other targets

B       ?= build
ifeq ($(origin CC),default)
CC      := gcc
endif
AR      ?= ar
SAN     ?=
OPT     ?= -O2 -g
PREFIX  ?= /usr/local
DESTDIR ?=

WARN    := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wvla -Werror
CSTD    := -std=c11 -D_DEFAULT_SOURCE
ifneq ($(SAN),)
SANFLAGS := -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
endif
VISIBILITY ?= -fvisibility=hidden
BASE    := $(OPT) -fPIC $(VISIBILITY) -MMD -MP -Itransport/include -Itransport $(SANFLAGS)
VERSION := $(shell cat VERSION)
DEFS    := -DVS_VERSION='"$(VERSION)"'

# Lists that module.mk files add to.
WIRE_SRCS      :=   # libvs-wire.a: wire, psn, opcodes, reasons
JUDGE_SRCS     :=   # libvs-judge.a: event, monitor, ladder
VERBSCOPE_SRCS :=   # libverbscope.a: the rest of transport/
FUZZERS        :=   # libFuzzer targets, as sources without .c: transport/tests/fuzz_x
ALL            :=   # what `make` builds
CLEAN          :=
CHECK_TARGETS  :=   # steps of `make check`, besides those of scripts/repo.mk
CHECK_PROGRAMS :=   # test programs that they run, which `make all` does not build
CHECK_DEPS     := test  # sets of scripts/deps.sh that they need
LONG_TARGETS   :=   # steps of `make check-long`, and the sets of packages that they need
LONG_DEPS      :=
ASAN_TARGETS   := check-unit  # what `make check-asan` makes with SAN=1 in $(B)/asan
FUZZ_NEEDS     :=   # what must be there before the fuzzers run: first inputs
INSTALL_BINS   :=   # built programs -> PREFIX/bin
INSTALL_MANS   :=   # man pages -> PREFIX/share/man/manN
INSTALL_FILES  :=   # anything else: file:path-below-PREFIX

LIBWIRE   := $(B)/libvs-wire.a
LIBJUDGE  := $(B)/libvs-judge.a
LIBVS     := $(B)/libverbscope.a
LIBS_WIRE := -ldeflate
LIBS_VS   := -lpcap -lz -ljansson $(LIBS_WIRE)

obj = $(patsubst %.c,$(B)/obj/%.o,$(1))

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules --no-print-directory

include transport/module.mk
include dissector/module.mk
include pcaps/module.mk
include conformance/module.mk
include labs/module.mk
include tracer/module.mk
include tracer/recorder/module.mk
include bench/module.mk

$(B)/obj/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CSTD) $(WARN) $(BASE) $(DEFS) $(CFLAGS) $(CPPFLAGS) -c -o $@ $<

$(LIBWIRE): $(call obj,$(WIRE_SRCS))
$(LIBJUDGE): $(call obj,$(JUDGE_SRCS))
$(LIBVS): $(call obj,$(VERBSCOPE_SRCS))
$(B)/%.a:
	@mkdir -p $(@D)
	@rm -f $@
	$(AR) rcsD $@ $^

# A Check program: its own file, the shared runner, the libraries.
$(B)/tests/%: $(B)/obj/transport/tests/%.o $(B)/obj/transport/tests/runner.o $(B)/obj/transport/tests/rig.o $(LIBVS) $(LIBJUDGE) $(LIBWIRE)
	@mkdir -p $(@D)
	$(CC) $(OPT) $(SANFLAGS) $(LDFLAGS) -o $@ $^ $(shell pkg-config --libs check) $(LIBS_VS)

include scripts/repo.mk

all: $(LIBWIRE) $(LIBJUDGE) $(LIBVS) $(ALL) ## build everything into $(B) (default: build)

clean: ## remove build/
	rm -rf build $(CLEAN)

-include $(shell [ -d $(B)/obj ] && find $(B)/obj -name '*.d')

.PHONY: all clean
.SECONDARY:
