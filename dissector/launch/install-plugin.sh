#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# install-plugin.sh install|uninstall BUILD - puts the plugin and the profile where the current
# user's Wireshark looks for them, or takes them away again. `make install-plugin` calls it.
#
# Where that is, tshark says itself (-G folders): it knows XDG_CONFIG_HOME and the old ~/.wireshark.
# A profile that the user has changed is never lost: it is kept under another name, which Wireshark
# offers as a profile of its own. What counts as changed: a file that is neither what we would
# install now nor what we installed last time (.shipped holds those checksums). "recent", which
# Wireshark rewrites at every exit, is installed once and then left alone.
set -euo pipefail
mode=$1 build=$2
name=Verbscope
from=$build/share/verbscope/wireshark/profiles/$name

fail() {
	echo "install-plugin: $*" >&2
	exit 2
}

explain_root() {
	cat >&2 <<EOF2
install-plugin: root's Wireshark loads no plugins from root's own folders, so there is nothing to
install-plugin: gain here. Either run this as the user who runs Wireshark, or start
install-plugin: $build/bin/vs-wireshark and $build/bin/vs-tshark, which work for root too.
EOF2
	exit 2
}

# folder "Personal Plugins"
folder() {
	tshark -G folders 2>/dev/null | awk -F '\t' -v key="$1:" 'index($1, key) == 1 { print $2; exit }'
}

# "checksum size" of a file
sum_of() {
	cksum <"$1"
}

# The files of $profile that the user has changed, one a line.
changed_files() {
	local file f
	for file in "$from"/*; do
		f=${file##*/}
		if [ "$f" = recent ] || [ ! -e "$profile/$f" ] || cmp -s "$file" "$profile/$f"; then continue; fi
		if ! grep -qxF "$(sum_of "$profile/$f") $f" "$profile/.shipped" 2>/dev/null; then echo "$f"; fi
	done
}

# Sets a changed profile aside; a copy if `mode` is install, else by moving it.
keep_changed() {
	local changed kept
	[ -d "$profile" ] || return 0
	changed=$(changed_files | paste -sd ' ')
	[ -n "$changed" ] || return 0
	kept="$name kept $(date '+%Y-%m-%d %H.%M.%S')"
	cp -R "$profile" "${profile%/*}/$kept"
	rm -f "${profile%/*}/$kept/.shipped"
	echo "You have changed the profile $name ($changed)."
	echo "Your version is kept as the profile \"$kept\"."
}

install_all() {
	local plugin=$build/plugins/$version/epan/verbscope.so file f
	[ -r "$plugin" ] || fail "$plugin is missing: run make (tshark here is version $version)"
	mkdir -p "$plugins/epan" "$profile"
	install -m 644 "$plugin" "$plugins/epan/verbscope.so.new"
	mv -f "$plugins/epan/verbscope.so.new" "$plugins/epan/verbscope.so"
	echo "plugin   $plugins/epan/verbscope.so"
	keep_changed
	for file in "$from"/*; do
		f=${file##*/}
		if [ "$f" != recent ] || [ ! -e "$profile/$f" ]; then install -m 644 "$file" "$profile/$f"; fi
	done
	for file in "$from"/*; do echo "$(sum_of "$file") ${file##*/}"; done >"$profile/.shipped"
	echo "profile  $profile"
	echo "Now: wireshark -C $name FILE"
}

uninstall_all() {
	rm -f "$plugins/epan/verbscope.so"
	rmdir "$plugins/epan" "$plugins" 2>/dev/null || true
	echo "removed  $plugins/epan/verbscope.so"
	keep_changed
	rm -rf "$profile"
	echo "removed  $profile"
}

command -v tshark >/dev/null || fail "tshark is not in PATH; on Debian: apt-get install tshark"
[ "$(id -u)" != 0 ] || explain_root
plugins=$(folder 'Personal Plugins')
config=$(folder 'Personal configuration')
if [ -z "$plugins" ] || [ -z "$config" ]; then fail "tshark -G folders names no personal folders"; fi
version=${plugins##*/}
profile=$config/profiles/$name

case $mode in
install) install_all ;;
uninstall) uninstall_all ;;
*) fail "say install or uninstall" ;;
esac
