#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# install.sh install|uninstall FILE:PATH... - copies FILE to $DESTDIR$PREFIX/PATH (executables and links stay
# what they are), or removes it from there. Writes verbscope.pc as well.
#
# What was installed is listed in share/verbscope/installed (MANIFEST=no: it is not), folders that were made for it
# with a slash behind: so that nothing is left by uninstall, also of an older version with other files, nor by installing a
# newer one over it. Folders that were there before, or have got other files, stay.
set -euo pipefail
mode=$1
shift
root=${DESTDIR:-}${PREFIX:?}
pc=lib/pkgconfig/verbscope.pc
manifest=$root/share/verbscope/installed
declare -A listed=()

if [ -f "$manifest" ]; then
	while read -r path; do
		case $path in
		/* | *..* | '') ;; # ours are all below PREFIX
		*) listed[$path]=old ;;
		esac
	done <"$manifest"
fi

# Makes a folder, and notes which were not there yet.
make_folder() { # path below PREFIX
	local folder=$1
	[ ! -d "$root/$folder" ] || return 0
	while [ "$folder" != . ] && [ ! -d "$root/$folder" ]; do
		listed[$folder/]=new
		folder=$(dirname "$folder")
	done
	mkdir -p "$root/$1"
}

put() { # file, path below PREFIX
	make_folder "${2%/*}"
	if [ -L "$1" ]; then # the system's plugins beside ours
		cp -fP "$1" "$root/$2"
	elif [ -x "$1" ]; then
		install -m 755 "$1" "$root/$2"
	else
		install -m 644 "$1" "$root/$2"
	fi
	listed[$2]=new
	echo "$root/$2"
}

write_pc() {
	make_folder "$(dirname $pc)"
	cat >"$root/$pc" <<END
prefix=$PREFIX
libdir=\${prefix}/lib
includedir=\${prefix}/include

Name: verbscope
Description: InfiniBand and RoCE packets: parse, build, validate, CRCs, capture files
Version: ${VERSION:?}
Cflags: -I\${includedir}
Libs: -L\${libdir} -lverbscope -lvs-judge -lvs-wire -ldeflate -lpcap -lz -ljansson -lnet
END
	listed[$pc]=new
	echo "$root/$pc"
}

# Files first, then folders from the innermost out, if nothing else is in them.
remove() { # path...
	local path
	for path; do
		case $path in
		*/) ;;
		*) rm -f "$root/$path" ;;
		esac
	done
	printf '%s\n' "$@" | sed -n '/\/$/p' | LC_ALL=C sort -r | while read -r path; do
		path=$root/$path
		rmdir "${path%/./}" 2>/dev/null || true
	done
}

case $mode in
install)
	[ -d "$root" ] || listed[./]=new
	mkdir -p "$root"
	for pair; do put "${pair%%:*}" "${pair#*:}"; done
	write_pc
	gone=()
	for path in "${!listed[@]}"; do
		case ${listed[$path]}:$path in
		old:*/) ;; # a folder of ours still
		old:*) gone+=("$path") ;;
		esac
	done
	for path in "${gone[@]}"; do
		unset "listed[$path]"
		rm -f "$root/$path"
	done
	if [ "${MANIFEST:-yes}" = yes ]; then
		make_folder share/verbscope
		listed[share/verbscope/installed]=new
		printf '%s\n' "${!listed[@]}" | LC_ALL=C sort >"$manifest.tmp"
		mv "$manifest.tmp" "$manifest"
	fi
	;;
uninstall)
	for pair; do listed[${pair#*:}]=old; done
	listed[$pc]=old listed[share/verbscope/installed]=old
	remove "${!listed[@]}"
	;;
esac
