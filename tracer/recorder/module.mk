# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# tracer/recorder/: the library that vs-trace preloads into programs.
RECORD_SRCS := $(sort $(wildcard tracer/recorder/*.c))
RECORD_LIB  := $(VERBS_DIR)/libvs-record.so
ALL           += $(RECORD_LIB)
INSTALL_FILES += $(RECORD_LIB):lib/verbscope/libvs-record.so

# It stands in front of libibverbs and librdmacm, whichever a program has: it is linked with neither.
$(RECORD_LIB): $(call obj,$(RECORD_SRCS))
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(OPT) $(SANFLAGS) $(LDFLAGS) -fPIC -shared -Wl,-soname,libvs-record.so -o $@ $^ -ldl -lpthread
