#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# install.sh install|uninstall FILE:PATH... - copies FILE to $DESTDIR$PREFIX/PATH (executables stay
# executable), or removes it from there. Writes verbscope.pc as well.
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
		if [ -x "$from" ]; then perm=755; else perm=644; fi
		install -D -m $perm "$from" "$to"
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
	rmdir "$root/include/vs" 2>/dev/null || true
	;;
esac
