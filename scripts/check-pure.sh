#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# check-pure.sh - the codec and the engine call no clock, socket, rand, stdio, getenv or allocator.
#
#   scripts/check-pure.sh OBJECT...     objects of a plain build (no sanitizers); 0 when every symbol
#                                       they leave undefined is on the list below or defined in one
#                                       of them; otherwise prints object and symbol, exit 1
#   scripts/check-pure.sh --self-test   compiles objects that must and must not pass (CC, default gcc)
set -euo pipefail

allowed='^(mem(cpy|move|set|cmp|chr)|str(cmp|len)|__assert_fail|libdeflate_crc32|_GLOBAL_OFFSET_TABLE_)$'

check() {
	[ $# -gt 0 ] || { echo "check-pure: no objects to look at" >&2; return 2; }
	# "FILE: SYMBOL TYPE ..." for every symbol; own vs_* symbols count only when they are defined here.
	nm -A -P -g "$@" | awk -v allowed="$allowed" '
		{ sub(/:$/, "", $1) }
		$3 != "U" && $3 != "w" { defined[$2] = 1; next }
		{ used[++n] = $1; symbol[n] = $2 }
		END {
			for (i = 1; i <= n; i++)
				if (symbol[i] !~ allowed && !(symbol[i] ~ /^vs_/ && symbol[i] in defined)) {
					print used[i] ": calls " symbol[i] ", which is not on the list of pure functions"
					bad = 1
				}
			exit bad
		}'
}

compile() { # name, source
	echo "$2" | ${CC:-gcc} -std=c11 -O1 -Wno-unused-result -x c -c -o "$tmp/$1.o" -
}

self_test() {
	tmp=$(mktemp -d)
	trap 'rm -rf "$tmp"' EXIT
	compile pure '#include <string.h>
		int vs_other(void);
		int vs_pure(void *a, const void *b, unsigned n) { memcpy(a, b, n); return vs_other(); }'
	compile other 'int vs_other(void) { return 1; }'
	compile clock '#include <time.h>
		long vs_clock(void) { return (long)time(NULL); }'
	compile heap '#include <stdlib.h>
		void *vs_heap(unsigned long n) { return malloc(n); }'
	check "$tmp/pure.o" "$tmp/other.o" || { echo "check-pure: self-test: pure objects were refused" >&2; return 1; }
	expect_found "$tmp/pure.o" vs_other
	expect_found "$tmp/clock.o" time
	expect_found "$tmp/heap.o" malloc
}

expect_found() { # object, symbol
	local out
	if out=$(check "$1") || ! grep -q "calls $2," <<<"$out"; then
		echo "check-pure: self-test: $2 in ${1##*/} was not noticed" >&2
		exit 1
	fi
}

case ${1:-} in
--self-test) self_test ;;
*) check "$@" ;;
esac
