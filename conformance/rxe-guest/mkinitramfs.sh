#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# mkinitramfs.sh KERNEL_FOLDER OUT [FILE...] - everything that a guest has: busybox, a shell, ip and rdma, rdma-core's provider
# for rxe, the modules in the order in which they are loaded (/lib/modules/order), init, and the FILEs: programs and
# libraries of this host with the libraries that they need. A FILE may say where it goes: FILE:/path.
#
# Not compressed: under emulation unpacking takes longer than reading.
set -euo pipefail
export LC_ALL=C
kernel=$(cd "${1:?which kernel folder?}" && pwd) out=${2:?which file to write?}
shift 2
here=$(cd "$(dirname "$0")" && pwd)
release=$(cat "$kernel/release")
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
libs=usr/lib/x86_64-linux-gnu

# What may be built in is no module there.
modules="virtio_pci virtio_net virtio_console veth crc32c_generic crc32c_intel crc32_generic crc32_pclmul ib_core ib_uverbs rdma_cm
 rdma_ucm rdma_rxe"

fail() {
	echo "mkinitramfs: $*" >&2
	exit 2
}

program() { # name: its path
	local path
	path=$(command -v "$1") || path=$(PATH=/usr/sbin:/sbin:$PATH command -v "$1") || fail "$1 is not installed (scripts/deps.sh rxe)"
	readlink -f "$path"
}

needed_by() { # file: the libraries that the loader would open
	ldd "$1" 2>/dev/null | awk '/=> \// { print $3 } $1 ~ /^\/lib64/ { print $1 }'
}

add() { # file, where
	mkdir -p "$root/$(dirname "$2")"
	cp -L "$1" "$root/$2"
	local l
	for l in $(needed_by "$1"); do
		case $l in
		/lib64/*) cp -L "$l" "$root$l" ;;
		*) [ -e "$root/$libs/${l##*/}" ] || cp -L "$l" "$root/$libs/" ;;
		esac
	done
}

skeleton() {
	local a
	mkdir -p "$root"/{bin,etc/libibverbs.d,proc,sys,dev,run,tmp,root,lib/modules,lib64,usr/bin,$libs/libibverbs}
	ln -s ../usr/lib/x86_64-linux-gnu "$root/lib/x86_64-linux-gnu"
	cp "$(program busybox)" "$root/bin/busybox"
	# Its shell would take its own ip for the real one: dash is the shell.
	for a in cat cut dmesg echo env grep head insmod kill ls mkdir mount poweroff readlink rm sed sleep sync tail test timeout touch true uname; do
		ln -s busybox "$root/bin/$a"
	done
	add "$(program dash)" bin/sh
	add "$(program ip)" usr/bin/ip
	add "$(program rdma)" usr/bin/rdma
	echo 'root:x:0:0:root:/root:/bin/sh' >"$root/etc/passwd"
	echo '127.0.0.1 localhost' >"$root/etc/hosts"
	# Opened by name when they are needed.
	add "$(ls /usr/lib/x86_64-linux-gnu/libibverbs/librxe-rdmav*.so)" "$libs/libibverbs/"
	cp /etc/libibverbs.d/rxe.driver "$root/etc/libibverbs.d/"
	for a in libibverbs.so.1 libgcc_s.so.1; do cp -L "/usr/lib/x86_64-linux-gnu/$a" "$root/$libs/"; done
	install -m 755 "$here/init" "$root/init"
}

# Debian 13 compresses modules; without their debugging symbols they are a tenth.
load_order() {
	local m path name
	for m in $modules; do
		modprobe -d "$kernel" -S "$release" --show-depends "$m" >"$root/depends" || fail "$release has no module $m"
		awk '$1 == "insmod" { print $2 }' "$root/depends"
	done | awk '!seen[$0]++' | while read -r path; do
		name=$(basename "${path%.xz}")
		case $path in
		*.xz) xz -dc "$path" >"$root/lib/modules/$name" ;;
		*) cp "$path" "$root/lib/modules/$name" ;;
		esac
		strip --strip-debug "$root/lib/modules/$name"
		echo "$name"
	done >"$root/order"
	mv "$root/order" "$root/lib/modules/order"
	rm -f "$root/depends"
}

skeleton
load_order
for f; do
	case $f in
	*:/*) add "${f%%:/*}" "${f#*:/}" ;;
	*) add "$f" "usr/bin/${f##*/}" ;;
	esac
done
(cd "$root" && find . | cpio -o -H newc --quiet) >"$out.new"
mv "$out.new" "$out"
