#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# install.sh install|uninstall FILE:PATH... - copies FILE to $DESTDIR$PREFIX/PATH (executables and links stay
# what they are), or removes it from there. Writes verbscope.pc as well.
set -euo pipefail
mode=$1
shift
root=${DESTDIR:-}${PREFIX:?}
pc=$root/lib/pkgconfig/verbscope.pc

write_pc() {
	mkdir -p "$(dirname "$pc")"
	cat >"$pc" <<EOF
prefix=$PREFIX
libdir=\${prefix}/lib
includedir=\${prefix}/include

Name: verbscope
Description: InfiniBand and RoCE packets: parse, build, validate, CRCs, capture files
Version: ${VERSION:?}
Cflags: -I\${includedir}
Libs: -L\${libdir} -lverbscope -lvs-judge -lvs-wire -ldeflate -lpcap -lz -ljansson -lnet
EOF
}

for pair; do
	from=${pair%%:*} to=$root/${pair#*:}
	case $mode in
	install)
		if [ -L "$from" ]; then # the system's plugins beside ours
			mkdir -p "${to%/*}"
			cp -fP "$from" "$to"
		elif [ -x "$from" ]; then
			install -D -m 755 "$from" "$to"
		else
			install -D -m 644 "$from" "$to"
		fi
		echo "$to"
		;;
	uninstall) rm -f "$to" ;;
	esac
done
case $mode in
install)
	write_pc
	echo "$pc"
	;;
uninstall)
	rm -f "$pc"
	# Only folders that are ours and empty now.
	find "$root/include/vs" "$root/lib/verbscope" "$root/share/verbscope" -depth -type d -empty -delete 2>/dev/null || true
	;;
esac
