#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# link-plugins.sh FROM TO VERSION - links the system's Wireshark plugins beside ours.
#
# WIRESHARK_PLUGIN_DIR replaces the system's plugin folder as a whole. Without these links vs-tshark
# would lose what lives there: mate, transum, profinet, opcua, wimax, the audio codecs, a file type,
# and whatever the administrator added. FROM is the system's folder (.../wireshark/plugins), TO ours.
set -euo pipefail

from=$1 to=$2 version=$3

# link_all FOLDER OURS: a link in OURS for everything in FOLDER, but for what is a file of our own. Never
# for a verbscope.so of the system: the build would write its own through that link.
link_all() {
	local file name
	mkdir -p "$2"
	find "$2" -maxdepth 1 -xtype l -delete
	for file in "$1"/*; do
		name=${file##*/}
		if [ "$name" != verbscope.so ] && [ -e "$file" ] && { [ -L "$2/$name" ] || [ ! -e "$2/$name" ]; }; then
			ln -sfn "$file" "$2/$name"
		fi
	done
}

# Lua scripts and folders of them lie directly in FROM, beside one folder for each version.
for file in "$from"/*; do
	name=${file##*/}
	if [ -e "$file" ] && ! [[ $name =~ ^[0-9]+\.[0-9]+$ ]] && { [ -L "$to/$name" ] || [ ! -e "$to/$name" ]; }; then
		mkdir -p "$to"
		ln -sfn "$file" "$to/$name"
	fi
done
for kind in epan wiretap codecs; do
	link_all "$from/$version/$kind" "$to/$version/$kind"
done
