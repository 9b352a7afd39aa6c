#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# trixie.sh - check-trixie: the plugin, from the same source, with a newer Wireshark than this machine's.
#
#   trixie.sh [SUITE]    trixie (Wireshark 4.4, the default) or another suite of Debian: forky, sid
#
# A minimal root of that suite is made by debootstrap in build/SUITE, with compiler, headers and tshark;
# it is kept for the next time (remove build/SUITE to have it made anew). Inside, entered by pivot_root
# in a mount namespace of its own, the working tree is built (read-only, its output in build/SUITE-out)
# and run.sh runs on what it has built. Needs root and the network. All mounts are gone when it ends.
set -euo pipefail
cd "$(dirname "$0")/../.."
repo=$PWD self=dissector/tests/trixie.sh
suite=${VS_SUITE:-${1:-trixie}}
case $suite in --*) suite=${VS_SUITE:?} ;; esac
root=$repo/build/$suite out=$repo/build/$suite-out
shared=${VS_SHARED:-../shared}
packages=(gcc libc6-dev make pkg-config libdeflate-dev libjansson-dev libnet1-dev libpcap-dev zlib1g-dev libwireshark-dev libglib2.0-dev tshark
	wireshark-common)

# shellcheck source=scripts/root.sh
. scripts/root.sh

say() { printf '== %s: %s\n' "$suite" "$*"; }

bootstrap() {
	say "debootstrap, some 300 MB"
	root_make "$suite" "$root" "$repo/build/$suite.log"
}

enter() {
	[ -e "$root/ready" ] || bootstrap
	root_mount "$root"
	mkdir -p "$out" "$root"/{src,out,shared}
	mount --bind "$repo" "$root/src"
	mount -o remount,bind,ro "$root/src"
	mount --bind "$out" "$root/out"
	if [ -d "$shared" ]; then
		mount --bind "$shared" "$root/shared"
	fi
	root_enter "$root" VS_SUITE="$suite" bash "/src/$self" --inside
}

prepare() {
	export DEBIAN_FRONTEND=noninteractive
	say "apt-get install ${packages[*]}"
	apt-get -qq update
	apt-get -qq install -y --no-install-recommends "${packages[@]}" >/dev/null
	touch /ready
}

inside() {
	[ -e /ready ] || prepare
	cd /src
	say "$(tshark --version 2>/dev/null | head -1), $(gcc --version | head -1)"
	make --no-print-directory B=/out plugin /out/bin/vs-pcap /out/tests/mkcaptures /out/tests/test_store >/out/make.log 2>&1 || {
		tail -n 30 /out/make.log
		return 1
	}
	say "built"
	B=/out VS_SHARED=/shared dissector/tests/run.sh
}

case ${1:-} in
--enter) enter ;;
--inside) inside ;;
*)
	mkdir -p build
	export VS_SUITE=$suite VS_SHARED=$shared
	MAKE_TARGET=check-$suite root_namespaces "$self" --enter
	;;
esac
