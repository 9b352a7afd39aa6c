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
	SOURCES_ROOT=$1 "$here/sources.sh" spdx | awk -v root="$1" '
		{
			want = "SPDX-License-Identifier: " ($0 ~ /^dissector\// ? "" : "BSD-2-Clause OR ") "GPL-2.0-or-later"
			file = root "/" $0
			line = ""
			if ((getline line <file) > 0 && line ~ /^#!/ && (getline line <file) <= 0) line = ""
			close(file)
			# What is left without the comment characters is the tag and nothing else.
			sub(/^(\/\*|#|\.\\"|\/\/) */, "", line)
			sub(/ *\*\/ *$/, "", line)
			if (line != want) {
				print $0 ":1: the SPDX line is missing or wrong (want: " want ")"
				bad = 1
			}
		}
		END { exit bad }'
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
