#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# check-deviations.sh - every deviation turns the cases red that deviations.def says, and no others.
#
#   check-deviations.sh TESTDIR [NAME...]      the Check programs in TESTDIR, for all deviations or those named
#   check-deviations.sh --list TESTDIR NAME    only print the cases that fail with NAME
#
# Tests are named by the rows they show (rsp_010_..., rto_022_023_024_...). With VS_RIG_DEVIATION=NAME every
# rig commits the defect; the rows of the tests that fail are compared with `must` and `may`.
set -euo pipefail

list=no
if [ "${1-}" = --list ]; then
	list=yes
	shift
fi
tests=$1
shift
def=transport/deviations.def

# NAME<TAB>must ids<TAB>may ids (without their reasons)
table() {
	awk -F'"' '/^VS_DEVIATION\(/ {
		may = $8; out = ""
		n = split(may, part, /; */)
		for (i = 1; i <= n; i++) { split(part[i], kv, ":"); if (kv[1] != "") out = out (out == "" ? "" : " ") kv[1] }
		print $2 "\t" $6 "\t" out
	}' "$def"
}

# Rows of the tests that fail with deviation $1, sorted. An endless test is one that takes 5 s of the processor: on a
# busy host each takes longer by the clock.
red() {
	local t
	for t in "$tests"/test_{qps,verbs,req,rto,rsp,rse,ud,srq,mr,mw,cq,ae,conn,cc_roc,enh}*; do
		if [ ! -f "$t" ] || [ ! -x "$t" ]; then continue; fi
		case ${t##*/} in test_udpio | test_qps_random) continue ;; esac # none of their tests is about a row
		(ulimit -t 5 && VS_RIG_DEVIATION=$1 CK_VERBOSITY=normal CK_DEFAULT_TIMEOUT=120 exec "$t" 2>/dev/null) || true
	done | awk -F: '/^[^:]+\.[ch]:[0-9]+:[FE]:/ {
		name = toupper($5)
		if (match(name, /^[A-Z]+(_[0-9][0-9][0-9])+/) == 0) next
		n = split(substr(name, RSTART, RLENGTH), p, "_")
		for (i = 2; i <= n; i++) print p[1] "-" p[i]
	}' | sort -u
}

if [ $list = yes ]; then
	red "$1" | tr '\n' ' '
	echo
	exit 0
fi

[ -n "$(table)" ] || { echo "check-deviations: no rows in $def" >&2; exit 2; }
[ -z "$(red '')" ] || { echo "check-deviations: cases fail without any deviation: $(red '' | tr '\n' ' ')" >&2; exit 1; }

out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

judge() { # NAME, must, may: one line
	local got missing extra
	got=$(red "$1")
	missing=$(comm -23 <(tr ' ' '\n' <<<"$2" | sort -u) <(echo "$got") | tr '\n' ' ')
	extra=$(comm -13 <(tr ' ' '\n' <<<"$2 $3" | sort -u) <(echo "$got") | tr '\n' ' ')
	if [ -n "${missing// /}" ] || [ -n "${extra// /}" ]; then
		echo "not ok $1${missing:+, must fail and does not: $missing}${extra:+, fails and is not listed: $extra}"
	else
		echo "ok $1: $(wc -w <<<"$got") red"
	fi
}

jobs=$(nproc)
while IFS=$'\t' read -r name must may; do
	if [ $# -gt 0 ] && [[ " $* " != *" $name "* ]]; then
		continue
	fi
	while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n || true; done
	judge "$name" "$must" "$may" >"$out/$name" &
done < <(table)
wait
cat "$out"/*
good=$(cat "$out"/* | grep -c '^ok ' || true) bad=$(cat "$out"/* | grep -vc '^ok ' || true)
echo "$good passed, $bad failed"
[ "$bad" = 0 ] && [ "$good" -gt 0 ]
