#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# check-spdx.sh - every source file says its licence in its first line (second, after #!):
# dissector/ is GPL-2.0-or-later as Wireshark is, all else BSD-2-Clause OR GPL-2.0-or-later.
#
#   scripts/check-spdx.sh              0: all do; 1: prints those that don't
#   scripts/check-spdx.sh --self-test  proves that it notices
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

check() { # folder
	local f line want bad=0
	while read -r f; do
		case $f in
		dissector/*) want='GPL-2.0-or-later' ;;
		*) want='BSD-2-Clause OR GPL-2.0-or-later' ;;
		esac
		line=$(head -n 2 "$1/$f" | awk 'NR == 1 && /^#!/ { next } { print; exit }')
		# What is left without the comment characters is the tag and nothing else.
		line=$(sed -E 's/^(\/\*|#|\.\\"|\/\/) *//; s/ *\*\/ *$//' <<<"$line")
		if [ "$line" != "SPDX-License-Identifier: $want" ]; then
			echo "$f:1: the SPDX line is missing or wrong (want: SPDX-License-Identifier: $want)"
			bad=1
		fi
	done < <(SOURCES_ROOT=$1 "$here/sources.sh" spdx)
	return $bad
}

self_test() {
	local out
	tmp=$(mktemp -d)
	trap 'rm -rf "$tmp"' EXIT
	mkdir -p "$tmp/transport/wire" "$tmp/dissector"
	echo '/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */' >"$tmp/transport/wire/ok.c"
	echo '/* SPDX-License-Identifier: GPL-2.0-or-later */' >"$tmp/dissector/ok.c"
	check "$tmp" >/dev/null || { echo "check-spdx: self-test: a clean tree was refused" >&2; return 1; }
	printf '#!/bin/sh\n# nothing\n' >"$tmp/dissector/none"
	echo '/* SPDX-License-Identifier: GPL-2.0-or-later */' >"$tmp/transport/wire/other.c"
	if out=$(check "$tmp"); then
		echo "check-spdx: self-test: missing lines were not noticed" >&2
		return 1
	fi
	[ "$(wc -l <<<"$out")" = 2 ] || { printf 'check-spdx: self-test: not two findings:\n%s\n' "$out" >&2; return 1; }
}

case ${1:-} in
--self-test) self_test ;;
*) check "$here/.." ;;
esac
