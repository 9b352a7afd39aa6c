# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# Verbscope: one non-recursive build. Every folder with code has a module.mk that adds its sources
# to the lists below; scripts/*.mk hold the targets that are about the repository, not about code.
#
#   make            build everything into $(B)
#   make demo       install what is missing, build, show a decoded capture
#   make check      install what the tests need, run them all
#   make help       the other targets

B       ?= build
CC      ?= gcc
AR      ?= ar
SAN     ?=
OPT     ?= -O2 -g

WARN    := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wvla -Werror
CSTD    := -std=c11 -D_DEFAULT_SOURCE
comma   := ,
SANFLAGS := $(if $(SAN),-fsanitize=address$(comma)undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
BASE    := $(OPT) -fPIC -fvisibility=hidden -MMD -MP -Itransport/include -Itransport $(SANFLAGS)
VERSION := $(shell cat VERSION)
DEFS    := -DVS_VERSION='"$(VERSION)"'

# Lists that module.mk files add to.
WIRE_SRCS      :=   # libvs-wire.a: wire, psn, opcodes, reasons
JUDGE_SRCS     :=   # libvs-judge.a: event, monitor, ladder
VERBSCOPE_SRCS :=   # libverbscope.a: the rest of transport/
TESTS          :=   # one Check program per entry: transport/tests/test_x -> $(B)/tests/test_x
ALL            :=   # what `make` builds
CLEAN          :=

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules

include scripts/repo.mk
include transport/module.mk
include dissector/module.mk
include pcaps/module.mk

LIBWIRE   := $(B)/libvs-wire.a
LIBJUDGE  := $(B)/libvs-judge.a
LIBVS     := $(B)/libverbscope.a
LIBS_WIRE := -ldeflate
LIBS_VS   := -lpcap -lz $(LIBS_WIRE)

obj = $(patsubst %.c,$(B)/obj/%.o,$(1))

$(B)/obj/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CSTD) $(WARN) $(BASE) $(DEFS) $(CFLAGS) $(CPPFLAGS) -c -o $@ $<

$(LIBWIRE): $(call obj,$(WIRE_SRCS))
$(LIBVS): $(call obj,$(VERBSCOPE_SRCS))
$(B)/%.a:
	@mkdir -p $(@D)
	@rm -f $@
	$(AR) rcsD $@ $^

# A Check program: its own file, the shared runner, the libraries.
$(B)/tests/%: $(B)/obj/transport/tests/%.o $(B)/obj/transport/tests/runner.o $(LIBVS) $(LIBWIRE)
	@mkdir -p $(@D)
	$(CC) $(OPT) $(SANFLAGS) $(LDFLAGS) -o $@ $^ $(shell pkg-config --libs check) $(LIBS_VS)

all: $(LIBWIRE) $(LIBVS) $(ALL)

clean:
	rm -rf build $(CLEAN)

-include $(shell [ -d $(B)/obj ] && find $(B)/obj -name '*.d')

.PHONY: all clean
.SECONDARY:
