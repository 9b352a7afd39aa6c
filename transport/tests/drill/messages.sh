#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# messages.sh SOURCE... - every error that transport/drill can say is said by a script of the tables beside this file, or
# is listed in messages.unreached with the reason why no script can make it.
#
# Exit 1: an error that nobody has seen, or a listed one that is seen after all.
set -euo pipefail
cd "$(dirname "$0")"
# What is said of a program is said by conformance/tests/program.sh.
if [ $# = 0 ]; then
	for f in ../../drill/*.c; do
		[[ $f == */program* ]] || set -- "$@" "$f"
	done
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

awk -f messages.awk "$@" | LC_ALL=C sort -u >"$work/texts"
grep -h '^=> ' wrong.table broken.table >"$work/said"
cut -f 5 takeaways.table >>"$work/said"
grep -o '"[^"]*"' ../test_drill.c >>"$work/said" # the limits, and what an environment can have wrong

check() { # texts, list
	awk -F '\t' '
		function pattern(t) {
			gsub(/%[-+0-9.*lz]*[a-zA-Z]/, "\001", t)
			gsub(/[][(){}.*+?|^$\\\/]/, "\\\\&", t)
			gsub(/%%/, "%", t)
			gsub("\001", ".*", t)
			return t
		}
		FILENAME == ARGV[1] { said[++n] = $0; next }
		FILENAME == ARGV[2] { if ($0 !~ /^#/) why[$1] = $2; next }
		{
			seen = 0
			for (i = 1; i <= n && !seen; i++)
				seen = said[i] ~ pattern($2)
			if (seen)
				reached++
			if (!seen && !($2 in why)) {
				printf "%s: no script is told: %s\n", $1, $2
				bad++
			}
			if (seen && $2 in why) {
				printf "messages.unreached: this is told after all: %s\n", $2
				bad++
			}
			texts[$2] = 1
			unreached += !seen
		}
		END {
			for (t in why)
				if (!(t in texts)) {
					printf "messages.unreached: nobody says this any more: %s\n", t
					bad++
				}
			printf "check-drill: %d errors are told to some script, %d can be told to none\n", reached, unreached
			exit bad > 0
		}' "$work/said" "$2" "$1"
}

# A check that can't fail proves nothing.
printf 'x.c\tnobody ever says this %%s\n' >"$work/planted"
: >"$work/none"
if check "$work/planted" "$work/none" >/dev/null; then
	echo "check-drill: a planted error was not missed" >&2
	exit 1
fi
check "$work/texts" messages.unreached
