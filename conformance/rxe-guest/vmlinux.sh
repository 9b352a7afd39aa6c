#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# vmlinux.sh VMLINUZ OUT - takes the ELF file out of a compressed x86 kernel. Where it lies is in the header of the boot protocol
# (Documentation/arch/x86/boot.rst: setup_sects, payload_offset, payload_length).
set -euo pipefail
in=${1:?which vmlinuz?} out=${2:?which file to write?}

number() { # offset, bytes: little-endian
	od -A n -t u"$2" -j "$1" -N "$2" --endian=little "$in" | tr -d ' '
}

sectors=$(number 0x1f1 1)
[ "$sectors" != 0 ] || sectors=4
start=$(((sectors + 1) * 512 + $(number 0x248 4)))
length=$(number 0x24c 4)
payload() { tail -c +$((start + 1)) "$in" | head -c "$1" || true; }

# Behind the stream the kernel's build has put four bytes: the length of what comes out.
case $(payload 4 | od -A n -t x1 | tr -d ' ') in
fd377a58) payload $((length - 4)) | xz -dc >"$out.new" ;;
28b52ffd) payload $((length - 4)) | zstd -dcq >"$out.new" ;;
1f8b*) payload $((length - 4)) | gzip -dc >"$out.new" ;;
*)
	echo "vmlinux: $in is compressed in a way that is not known here" >&2
	exit 2
	;;
esac
[ "$(head -c 4 "$out.new" | od -A n -t x1 | tr -d ' ')" = 7f454c46 ] || {
	echo "vmlinux: what $in holds is no ELF file" >&2
	exit 2
}
mv "$out.new" "$out"
