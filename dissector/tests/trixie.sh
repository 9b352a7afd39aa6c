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

say() { printf '== %s: %s\n' "$suite" "$*"; }

apt_settings() {
	apt-config dump | grep -E '^Acquire::(http|https|Check-|Retries|ForceIPv)[A-Za-z0-9:._-]* "[^"]*";$' | grep -v ' "";$' || true
}

# The mirror that this machine uses for its own suite has the others too.
mirror() {
	local uri
	# shellcheck disable=SC2016 # apt's own variables
	uri=$(apt-get indextargets --format '$(REPO_URI) $(CODENAME)' 'Created-By: Packages' 2>/dev/null |
		awk '$1 ~ /\/debian\/?$/ { print $1; exit }')
	printf '%s\n' "${uri:-http://deb.debian.org/debian}"
}

bootstrap() {
	local script=/usr/share/debootstrap/scripts/$suite
	[ -e "$script" ] || script=/usr/share/debootstrap/scripts/sid
	say "debootstrap, some 300 MB"
	rm -rf --one-file-system "$root"
	mkdir -p "$root"
	if ! debootstrap --variant=minbase "$suite" "$root" "$(mirror)" "$script" >"$repo/build/$suite.log" 2>&1; then
		tail -n 20 "$repo/build/$suite.log"
		return 1
	fi
	apt_settings >"$root/etc/apt/apt.conf.d/90host"
	cp /etc/resolv.conf "$root/etc/resolv.conf"
	if [ -d /etc/ssl/certs ]; then
		mkdir -p "$root/etc/ssl"
		cp -rL /etc/ssl/certs "$root/etc/ssl/" 2>/dev/null || true
	fi
}

enter() {
	mount --make-rprivate /
	[ -e "$root/ready" ] || bootstrap
	mkdir -p "$out" "$root"/{proc,sys,dev,old,src,out,shared}
	mount --bind "$root" "$root"
	mount -t proc proc "$root/proc"
	mount --rbind /dev "$root/dev"
	mount -t tmpfs tmpfs "$root/tmp"
	mount --bind "$repo" "$root/src"
	mount -o remount,bind,ro "$root/src"
	mount --bind "$out" "$root/out"
	if [ -d "$shared" ]; then
		mount --bind "$shared" "$root/shared"
	fi
	cd "$root"
	pivot_root . old
	cd /
	exec env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=dumb LANG=C.UTF-8 \
		${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} VS_SUITE="$suite" \
		/bin/bash "/src/$self" --inside
}

prepare() {
	export DEBIAN_FRONTEND=noninteractive
	say "apt-get install ${packages[*]}"
	apt-get -qq update
	apt-get -qq install -y --no-install-recommends "${packages[@]}" >/dev/null
	touch /ready
}

inside() {
	umount -l /old
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
	if [ "$(id -u)" != 0 ]; then
		echo "trixie.sh: needs root (debootstrap, mount, pivot_root): sudo make check-trixie" >&2
		exit 2
	fi
	mkdir -p build
	export VS_SUITE=$suite VS_SHARED=$shared
	exec unshare --mount --pid --fork --kill-child --propagation private "$self" --enter
	;;
esac
