#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# doctor.sh B - what on this machine is in the way of building and running Verbscope: a line for each thing that was looked
# at, "ok", "note" (something will not work, the rest does) or "BAD" (nothing will), and what to do. It changes nothing.
#
# Exit code: 0, or 1 when something is BAD. Environment: CC, MAKE_VERSION and WS_SERIES as make has them; DEPS is not asked.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1 cc=${CC:-gcc} bad=0
tmp=$(mktemp -d 2>/dev/null) || {
	echo "BAD   no folder can be made in ${TMPDIR:-/tmp}: free some space there, or set TMPDIR"
	exit 1
}
trap 'rm -rf "$tmp"' EXIT

ok() { printf 'ok    %s\n' "$*"; }
note() { printf 'note  %s\n' "$*"; }
bad() {
	printf 'BAD   %s\n' "$*"
	bad=$((bad + 1))
}

compiler() {
	local words
	read -ra words <<<"$cc"
	if ! command -v "${words[0]}" >/dev/null; then
		bad "there is no compiler '${words[0]}': apt-get install gcc, or make CC=clang"
		return
	fi
	printf '#include <stdio.h>\n_Static_assert(__STDC_VERSION__ >= 201112L, "C11");\nint main(void) { return puts("") < 0; }\n' >"$tmp/c11.c"
	if "${words[@]}" -std=c11 -o "$tmp/c11" "$tmp/c11.c" 2>"$tmp/err" && "$tmp/c11" >/dev/null 2>>"$tmp/err"; then
		ok "$cc compiles C11, and what it makes runs"
	elif [ -x "$tmp/c11" ]; then
		bad "what $cc makes does not run from ${TMPDIR:-/tmp}: is that mounted noexec? set TMPDIR"
	else
		bad "$cc can't compile a small program: $(head -n 1 "$tmp/err") (apt-get install libc6-dev?)"
	fi
}

# From 4.3 on rules may have several targets (&:).
make_version() {
	local v=${MAKE_VERSION:-0}
	if [ "$(printf '%s\n4.3\n' "$v" | sort -V | head -n 1)" = 4.3 ]; then ok "GNU make $v"; else bad "make must be GNU make 4.3 or newer, this is ${MAKE_VERSION:-unknown}"; fi
}

# Packages are asked for by name on Debian, by what they bring elsewhere.
packages() { # set, bad or note, what it is for
	local missing
	missing=$(scripts/deps.sh --missing "$1" 2>/dev/null | tr '\n' ' ') || true
	if [ -z "${missing// /}" ]; then
		ok "packages that $3 needs"
	else
		"$2" "$3 needs packages that are missing: ${missing% }; 'make deps-$1' installs them"
	fi
}

# A plugin is loaded by the minor version of Wireshark that it was built for, and by no other.
wireshark() {
	local program headers=${WS_SERIES:-} plugin
	program=$(tshark -v 2>/dev/null | sed -n '1s/^[^0-9]*\([0-9]*\.[0-9]*\).*/\1/p') || true
	if [ -z "$program" ]; then
		note "there is no tshark: vs-tshark has nothing to start (apt-get install tshark)"
	elif [ -n "$headers" ] && [ "$program" != "$headers" ]; then
		bad "tshark is $program, but the headers are of $headers: install libwireshark-dev of $program, then make clean and make, or make PLUGIN=no"
	else
		ok "tshark $program and the headers fit"
	fi
	for plugin in "$build"/plugins/*/epan/verbscope.so; do
		if [ ! -e "$plugin" ] || [ -z "$program" ]; then continue; fi
		case $plugin in
		*/plugins/"$program"/*) ok "the plugin is built for $program" ;;
		*) note "there is a plugin for another version, $plugin: make clean, then make" ;;
		esac
	done
}

namespaces() {
	if unshare --user --map-root-user true 2>/dev/null; then
		ok "user namespaces"
	elif [ "$(id -u)" = 0 ]; then
		note "no user namespaces: Wireshark loads no plugins as root, so the launchers preload a library instead, and say so"
	else
		note "no user namespaces: 'vs-run --netns', 'vs-run --view' and some tests won't work (sysctl kernel.unprivileged_userns_clone=1, kernel.apparmor_restrict_unprivileged_userns=0, user.max_user_namespaces)"
	fi
}

memlock() {
	local limit
	limit=$(ulimit -l)
	if [ "$limit" = unlimited ] || [ "$limit" -ge 65536 ]; then
		ok "memlock ($limit)"
	else
		note "memlock is $limit KiB: ref0 needs none, but a real device may refuse memory regions; 'ulimit -l unlimited', or LimitMEMLOCK="
	fi
}

# In MB: a build takes 250, the builds of make check 1,500 with their tests.
space() { # folder, MB without which nothing works, MB that are enough, what for
	local folder=$1 free inodes
	while [ ! -d "$folder" ]; do folder=$(dirname "$folder"); done
	free=$(df -Pk "$folder" | awk 'NR == 2 { print int($4 / 1024) }')
	inodes=$(df -Pi "$folder" 2>/dev/null | awk 'NR == 2 { print $4 }')
	if [ ! -w "$folder" ]; then
		bad "$folder can't be written to, for $4: make B=FOLDER, or TMPDIR"
	elif [ "$free" -lt "$2" ]; then
		bad "$folder has $free MB left; $4 takes $2"
	elif [[ $inodes =~ ^[0-9]+$ ]] && [ "$inodes" -lt 5000 ] && [ "$(df -Pi "$folder" | awk 'NR == 2 { print $2 }')" -gt 0 ]; then
		bad "$folder can take only $inodes files more; $4 takes thousands"
	elif [ "$free" -lt "$3" ]; then
		note "$folder has $free MB left; $4 may take $3"
	else
		ok "space in $folder ($free MB)"
	fi
}

# make compares times: what comes from the future is built for ever.
clock() {
	local late
	late=$(find Makefile scripts transport -newermt '1 hour' -print -quit 2>/dev/null) || true
	if [ -z "$late" ]; then ok "no file is of the future"; else bad "$late is of the future: set the clock, or: find . -newermt now -exec touch {} +"; fi
}

# What was built can tell more.
programs() {
	local p
	if [ ! -x "$build/bin/vs-run" ]; then
		note "nothing is built in $build yet: 'make', or 'make demo', which installs what is missing first"
		return
	fi
	for p in vs-run vs-pcap vs-conform vs-trace vs-lab vs-agent; do
		if [ -x "$build/bin/$p" ] && ! "$build/bin/$p" --version >/dev/null 2>"$tmp/err"; then
			bad "$p does not start: $(head -n 1 "$tmp/err") ('make clean', then 'make')"
		fi
	done
	if timeout 60 "$build/bin/vs-run" --quiet -- true 2>"$tmp/err"; then
		ok "vs-run starts a program on ref0"
	else
		bad "vs-run can't start a program on ref0: $(head -n 1 "$tmp/err")"
	fi
	echo "ask also: $build/bin/vs-conform doctor (devices and peers), $build/bin/vs-lab doctor (labs)"
}

compiler
make_version
packages build bad building
packages demo note "make demo"
packages test note "make check"
wireshark
namespaces
memlock
space "$build" 300 2000 "what is built"
space "${TMPDIR:-/tmp}" 20 200 "what tests write"
clock
programs
[ $bad = 0 ]
