# SPDX-License-Identifier: GPL-2.0-or-later
#
# vs-tshark and vs-wireshark, the shim they preload for root, the Wireshark profile, and the links
# to the system's own plugins beside ours. Included by dissector/module.mk.
#
#   $(B)/bin/vs-tshark, $(B)/bin/vs-wireshark
#   $(B)/lib/verbscope/vs-hide-root.so
#   $(B)/share/verbscope/wireshark/profiles/Verbscope/
#   $(B)/plugins/M.m/{epan,wiretap,codecs}/*.so     links; verbscope.so itself is not ours to make
#
# The launchers find the rest from where they are: ../plugins (or ../lib/verbscope/plugins),
# ../lib/verbscope and ../share/verbscope.

LAUNCH_DIR     := dissector/launch
LAUNCH_SRCS    := $(addprefix $(LAUNCH_DIR)/,launch.c args.c locate.c elf_needed.c root.c config.c)
LAUNCH_SHIM    := $(B)/lib/verbscope/vs-hide-root.so
PROFILE_FROM   := dissector/profile/Verbscope
PROFILE_TO     := $(B)/share/verbscope/wireshark/profiles/Verbscope
PROFILE_FILES  := $(patsubst $(PROFILE_FROM)/%,$(PROFILE_TO)/%,$(wildcard $(PROFILE_FROM)/*))

# .../wireshark/plugins and 4.0; both empty while wireshark-dev is missing.
LAUNCH_WS_DIR  := $(shell pkg-config --variable=plugindir wireshark 2>/dev/null)
LAUNCH_WS_VER  := $(notdir $(LAUNCH_WS_DIR))
LAUNCH_WS_ALL  := $(patsubst %/,%,$(dir $(LAUNCH_WS_DIR)))
LAUNCH_LINKS   := $(if $(LAUNCH_WS_DIR),$(B)/plugins/$(LAUNCH_WS_VER)/.linked)

ALL += $(B)/bin/vs-tshark $(B)/bin/vs-wireshark $(LAUNCH_SHIM) $(PROFILE_FILES) $(LAUNCH_LINKS)

$(B)/obj/$(LAUNCH_DIR)/locate.o $(B)/obj/$(LAUNCH_DIR)/gui/locate.o: \
	private CPPFLAGS += -DVS_WIRESHARK_PLUGINS='"$(LAUNCH_WS_ALL)"'

$(B)/obj/$(LAUNCH_DIR)/gui/%.o: $(LAUNCH_DIR)/%.c
	@mkdir -p $(@D)
	$(CC) $(CSTD) $(WARN) $(BASE) $(DEFS) -DVS_LAUNCH_GUI $(CFLAGS) $(CPPFLAGS) -c -o $@ $<

$(B)/bin/vs-tshark: $(patsubst %.c,$(B)/obj/%.o,$(LAUNCH_SRCS))
$(B)/bin/vs-wireshark: $(patsubst $(LAUNCH_DIR)/%.c,$(B)/obj/$(LAUNCH_DIR)/gui/%.o,$(LAUNCH_SRCS))
$(B)/bin/vs-tshark $(B)/bin/vs-wireshark:
	@mkdir -p $(@D)
	$(CC) $(OPT) $(SANFLAGS) $(LDFLAGS) -o $@ $^

# Never with a sanitizer: it goes into programs that were built without one.
$(LAUNCH_SHIM): $(LAUNCH_DIR)/hide_root.c $(LAUNCH_DIR)/launch.h
	@mkdir -p $(@D)
	$(CC) $(CSTD) $(WARN) $(OPT) -fPIC -fvisibility=hidden -shared $(CFLAGS) $(CPPFLAGS) -o $@ $< -ldl

$(PROFILE_TO)/%: $(PROFILE_FROM)/%
	@mkdir -p $(@D)
	cp $< $@

# Folders as prerequisites: their times change when a plugin comes or goes.
$(LAUNCH_LINKS): $(LAUNCH_DIR)/link_plugins.sh $(LAUNCH_WS_ALL) $(wildcard $(LAUNCH_WS_DIR) $(LAUNCH_WS_DIR)/*/.)
	$< $(LAUNCH_WS_ALL) $(B)/plugins $(LAUNCH_WS_VER)
	@touch $@
