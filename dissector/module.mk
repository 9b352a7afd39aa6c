# SPDX-License-Identifier: GPL-2.0-or-later
# dissector/: the Wireshark plugin, for the release whose headers are installed. Built for another
# one by WS_SERIES (major.minor), WS_CFLAGS and WS_LIBS, or left out by PLUGIN=no.
PLUGIN    ?= yes
WS_SERIES ?= $(shell pkg-config --modversion wireshark 2>/dev/null | awk -F. '{ print $$1 "." $$2 }')
WS_CFLAGS ?= $(shell pkg-config --cflags wireshark 2>/dev/null)
WS_LIBS   ?= $(shell pkg-config --libs-only-L --libs-only-l wireshark 2>/dev/null)

PLUGIN_SRCS := $(sort $(wildcard dissector/*.c))
PLUGIN_OBJS := $(patsubst %.c,$(B)/obj/%.o,$(PLUGIN_SRCS))
PLUGIN_DIR  := $(B)/plugins
PLUGIN_SO   := $(PLUGIN_DIR)/$(WS_SERIES)/epan/verbscope.so

ifeq ($(PLUGIN),yes)
ifneq ($(WS_SERIES),)
ALL += $(PLUGIN_SO)
else
ALL += no-wireshark-headers
endif
endif

no-wireshark-headers:
	@echo "dissector: the headers of Wireshark are missing (no 'wireshark' in pkg-config), so the plugin can't be built." >&2
	@echo "dissector: install wireshark-dev ('make deps' does), or leave the plugin out with 'make PLUGIN=no'." >&2
	@exit 2

# Wireshark's headers are gnu11 and not clean under our warnings: -isystem keeps them out of it.
$(PLUGIN_OBJS): $(B)/obj/%.o: %.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -D_DEFAULT_SOURCE $(WARN) $(BASE) $(DEFS) $(patsubst -I%,-isystem %,$(WS_CFLAGS)) $(CFLAGS) $(CPPFLAGS) -c -o $@ $<

# The wire library and the monitor alone, and none of their symbols shown to the host. Nothing may stay undefined, where
# the libraries to look in are there (a sanitizer's runtime comes from the host).
PLUGIN_LDFLAGS := -Wl,--exclude-libs,ALL
ifeq ($(SAN),)
ifneq ($(WS_LIBS),)
PLUGIN_LDFLAGS += -Wl,-z,defs
endif
endif

$(PLUGIN_SO): $(PLUGIN_OBJS) $(LIBJUDGE) $(LIBWIRE)
	@mkdir -p $(@D)
	$(CC) $(OPT) $(SANFLAGS) -shared $(LDFLAGS) $(PLUGIN_LDFLAGS) -o $@ $(PLUGIN_OBJS) $(LIBJUDGE) $(LIBWIRE) $(WS_LIBS) -ldeflate

plugin: $(PLUGIN_SO) # alone: for a machine that has no more than Wireshark's headers

include $(wildcard dissector/*/module.mk)

.PHONY: no-wireshark-headers plugin
