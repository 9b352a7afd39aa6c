# SPDX-License-Identifier: GPL-2.0-or-later
#
# vs-tshark and vs-wireshark, the shim they preload for root, the Wireshark profile, and the links
# to the system's own plugins beside ours. Included by dissector/module.mk.
#
#   $(B)/bin/vs-tshark, $(B)/bin/vs-wireshark
#   $(B)/lib/verbscope/vs-hide-root.so
#   $(B)/share/verbscope/wireshark/{recent_common,profiles/Verbscope/*}
#   $(B)/plugins/M.m/{epan,wiretap,codecs}/*.so     links; verbscope.so itself is made elsewhere
#
# The launchers find the rest from where they are: ../plugins (or ../lib/verbscope/plugins),
# ../lib/verbscope and ../share/verbscope.

LAUNCH_DIR     := dissector/launch
LAUNCH_OBJS    := launch.o args.o locate.o elf_needed.o root.o config.o
LAUNCH_BINS    := $(B)/bin/vs-tshark $(B)/bin/vs-wireshark
LAUNCH_SHIM    := $(B)/lib/verbscope/vs-hide-root.so
LAUNCH_CONFIG  := share/verbscope/wireshark
LAUNCH_PROFILE := $(notdir $(wildcard dissector/profile/Verbscope/*))
LAUNCH_CONFIGS := $(addprefix $(LAUNCH_CONFIG)/,recent_common $(addprefix profiles/Verbscope/,$(LAUNCH_PROFILE)))

# /usr/lib/.../wireshark/plugins/4.0, the folder above it, and 4.0; empty without wireshark-dev.
LAUNCH_WS_DIR  := $(shell pkg-config --variable=plugindir wireshark 2>/dev/null)
LAUNCH_WS_ALL  := $(patsubst %/,%,$(dir $(LAUNCH_WS_DIR)))
LAUNCH_WS_VER  := $(notdir $(LAUNCH_WS_DIR))
LAUNCH_LINKED  := $(if $(LAUNCH_WS_DIR),$(B)/plugins/$(LAUNCH_WS_VER)/.linked)
LAUNCH_PLUGINS := $(if $(LAUNCH_WS_DIR),$(patsubst $(LAUNCH_WS_DIR)/%,%,$(wildcard $(LAUNCH_WS_DIR)/*/*)))

ALL            += $(LAUNCH_BINS) $(LAUNCH_SHIM) $(addprefix $(B)/,$(LAUNCH_CONFIGS)) $(LAUNCH_LINKED)
ifeq ($(PLUGIN),yes)
CHECK_TARGETS  += check-launch
CHECK_DEPS     += gui
endif
INSTALL_BINS   += $(LAUNCH_BINS)
INSTALL_MANS   += docs/man/vs-tshark.1 docs/man/vs-wireshark.1
INSTALL_FILES  += $(LAUNCH_SHIM):lib/verbscope/$(notdir $(LAUNCH_SHIM)) \
		  $(foreach f,$(LAUNCH_CONFIGS),$(B)/$(f):$(f)) \
		  $(foreach f,$(filter-out epan/verbscope.so,$(LAUNCH_PLUGINS)),$(B)/plugins/$(LAUNCH_WS_VER)/$(f):lib/verbscope/plugins/$(LAUNCH_WS_VER)/$(f)) \
		  $(if $(filter yes,$(PLUGIN)),$(PLUGIN_SO):lib/verbscope/plugins/$(WS_SERIES)/epan/verbscope.so)

# ---- the launchers: the same sources twice ----

$(B)/obj/$(LAUNCH_DIR)/locate.o $(B)/obj/$(LAUNCH_DIR)/gui/locate.o: \
	private CPPFLAGS += -DVS_WIRESHARK_PLUGINS='"$(LAUNCH_WS_ALL)"'

$(B)/obj/$(LAUNCH_DIR)/gui/%.o: $(LAUNCH_DIR)/%.c
	@mkdir -p $(@D)
	$(CC) $(CSTD) $(WARN) $(BASE) $(DEFS) -DVS_LAUNCH_GUI $(CFLAGS) $(CPPFLAGS) -c -o $@ $<

$(B)/bin/vs-tshark: $(addprefix $(B)/obj/$(LAUNCH_DIR)/,$(LAUNCH_OBJS))
$(B)/bin/vs-wireshark: $(addprefix $(B)/obj/$(LAUNCH_DIR)/gui/,$(LAUNCH_OBJS))
$(LAUNCH_BINS):
	@mkdir -p $(@D)
	$(CC) $(OPT) $(SANFLAGS) $(LDFLAGS) -o $@ $^

# ---- the shim; never with a sanitizer: it goes into programs that were built without one ----

$(B)/obj/$(LAUNCH_DIR)/hide_root.o: $(LAUNCH_DIR)/hide_root.c
	@mkdir -p $(@D)
	$(CC) $(CSTD) $(WARN) $(filter-out $(SANFLAGS),$(BASE)) $(DEFS) $(CPPFLAGS) -c -o $@ $<

$(LAUNCH_SHIM): $(B)/obj/$(LAUNCH_DIR)/hide_root.o
	@mkdir -p $(@D)
	$(CC) $(OPT) -shared -o $@ $< -ldl

# ---- the profile, and the system's plugins ----

$(B)/$(LAUNCH_CONFIG)/recent_common: dissector/profile/recent_common
	@mkdir -p $(@D)
	cp $< $@

$(B)/$(LAUNCH_CONFIG)/profiles/Verbscope/%: dissector/profile/Verbscope/%
	@mkdir -p $(@D)
	cp $< $@

# Folders as prerequisites: their times change when a plugin comes or goes.
$(LAUNCH_LINKED): $(LAUNCH_DIR)/link-plugins.sh $(LAUNCH_WS_ALL) $(patsubst %/.,%,$(wildcard $(LAUNCH_WS_DIR)/*/.))
	$< $(LAUNCH_WS_ALL) $(B)/plugins $(LAUNCH_WS_VER)
	@touch $@

# ---- targets ----

install-plugin: ## give your own Wireshark the plugin and the profile Verbscope
	@scripts/deps.sh demo
	@$(MAKE) all
	@$(LAUNCH_DIR)/install-plugin.sh install $(B)

uninstall-plugin: ## take them away again
	@$(LAUNCH_DIR)/install-plugin.sh uninstall $(B)

check-launch: all ## vs-tshark, vs-wireshark, the profile, install-plugin
	@dissector/tests/test_launch.sh $(B)
	@dissector/tests/test_profile.sh $(B)

screenshot: ## take the pictures of docs/images again
	@scripts/deps.sh demo gui
	@$(MAKE) all
	@scripts/screenshot.sh $(B)

.PHONY: install-plugin uninstall-plugin check-launch screenshot
