#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# lint-size.sh - a file can be read in one sitting, and a function does one thing: no source or script of more than
# 800 lines, no C function of more than 80.
#
#   scripts/lint-size.sh              0: none; 1: prints file:line of each
#   scripts/lint-size.sh --self-test  feeds it files that must and must not be found
#
# What has a reason to be longer says so in a comment in front of it, or in the head of the file: lint: size-ok <why>
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

check() { # FILE...
	awk '
		function file_ends() {
			if (lines > 800 && !file_ok) {
				printf "%s: %d lines: split it by question, 800 are enough for one\n", name, lines
				bad = 1
			}
		}
		FNR == 1 {
			file_ends()
			name = FILENAME
			file_ok = ok = open = begins = 0
		}
		{ lines = FNR }
		/lint: size-ok [a-z]/ {
			ok = 1
			if (FNR < 30)
				file_ok = 1
		}
		name !~ /\.[ch]$/ { next }
		# A function begins in column 1, has its braces in column 1, and nothing else of C as we write it does.
		/^[A-Za-z_]/ { begins = FNR }
		/^{/ { open = begins }
		/^}/ {
			if (open && FNR - open + 1 > 80 && !ok) {
				printf "%s:%d: a function of %d lines: it does more than one thing\n", name, open, FNR - open + 1
				bad = 1
			}
			open = ok = 0
		}
		END {
			file_ends()
			exit bad
		}' "$@"
}

lines() { # how many, text
	awk -v n="$1" -v text="$2" 'BEGIN { while (n-- > 0) print text }'
}

function_of() { # how many lines between its braces
	printf 'static int f(int a,\n\t     int b)\n{\n'
	lines "$1" $'\ta += b;'
	printf '}\n'
}

expect() { # claim, 0 or 1: a file of standard input
	local rc=0
	cat >"$tmp/x.c"
	check "$tmp/x.c" >"$tmp/said" || rc=$?
	if [ $rc != "$2" ] || { [ $rc = 1 ] && [ "$(wc -l <"$tmp/said")" != 1 ]; }; then
		echo "lint-size: self-test: $1" >&2
		exit 1
	fi
}

self_test() {
	tmp=$(mktemp -d)
	trap 'rm -rf "$tmp"' EXIT
	lines 801 '/* */' | expect "a long file is not found" 1
	lines 800 '/* */' | expect "a file of 800 lines is found" 0
	{ echo '/* lint: size-ok a table */' && lines 801 '/* */'; } | expect "a file with a reason is found" 0
	function_of 77 | expect "a long function is not found" 1
	{ function_of 76 && function_of 76; } | expect "functions of 80 lines are found" 0
	{ function_of 3 && function_of 77; } | expect "a long function behind a short one is not found" 1
	{ lines 30 '' && echo '/* lint: size-ok one switch */' && function_of 90; } | expect "a function with a reason is found" 0
	{ lines 30 '' && echo '/* lint: size-ok one switch */' && function_of 90 && function_of 90; } |
		expect "the reason of another function counts" 1
	{ printf 'static const int table[] = {\n' && lines 90 $'\t1,' && printf '};\n'; } | expect "a table is found" 0
}

case ${1:-} in
--self-test) self_test ;;
*)
	cd "$here/.."
	mapfile -t files < <(scripts/sources.sh c && scripts/sources.sh shell && scripts/sources.sh all | grep '\.awk$')
	check "${files[@]}"
	;;
esac
