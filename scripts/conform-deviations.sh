#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# conform-deviations.sh - does the conformance suite bite? Every deviation of deviations.def, switched on in the
# simulator, has to turn the rows red that `must` names, and none that neither `must` nor `may` names.
#
#   conform-deviations.sh BUILD [NAME...]     all deviations, or those named
#   conform-deviations.sh --table BUILD FILE  the same, and writes what came as a table
#
# Red is FAIL, ERROR or WARN where it was none of them without the deviation. A row is red when a vector of it is.
set -euo pipefail
cd "$(dirname "$0")/.."

table=
if [ "${1-}" = --table ]; then
	table=$3
	set -- "$2"
fi
bin=$1/bin/vs-conform
shift
def=transport/deviations.def
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# NAME<TAB>number in KNOWN-BUGS<TAB>text<TAB>must ids<TAB>may ids (without their reasons)
rows() {
	awk -F'"' '/^VS_DEVIATION\(/ {
		out = ""
		n = split($8, part, /; */)
		for (i = 1; i <= n; i++) { split(part[i], kv, ":"); if (kv[1] != "") out = out (out == "" ? "" : " ") kv[1] }
		bug = $3
		gsub(/[^0-9]/, "", bug)
		print $2 "\t" bug "\t" $4 "\t" $6 "\t" out
	}' "$def"
}

# Rows that are red in report $1 and were not in the one without deviations, sorted.
red() {
	{ "$bin" diff "$tmp/base.json" "$1" || true; } | awk '
		/^  / && / -> (FAIL|ERROR|WARN)/ && !/ (FAIL|ERROR) -> / {
			sub(/\[.*/, "", $1)
			n = split($1, p, "-")
			if (n >= 2) print p[1] "-" p[2]
		}' | LC_ALL=C sort -u
}

list() { # words of $1, one a line, sorted
	tr ' ' '\n' <<<"$1" | sed '/^$/d' | LC_ALL=C sort -u
}

[ -n "$(rows)" ] || { echo "conform-deviations: no rows in $def" >&2; exit 2; }
if ! "$bin" --quiet --json "$tmp/base.json" >"$tmp/out"; then
	echo "conform-deviations: the suite does not pass without any deviation:" >&2
	tail -n 1 "$tmp/out" >&2
	exit 1
fi
if [ -n "$table" ]; then
	cat >"$tmp/table" <<'EOF'
# Deviations

Made by `make deviations-table`; not edited by hand. Known defects of real devices (`transport/deviations.def`) are
switched on in the simulator one by one, and the suite is run. Rows of `must` have to be red; the others that are red are
in `may`, with a reason.

| deviation | what the device does wrong | must | red besides |
|---|---|---|---|
EOF
fi

good=0 bad=0
while IFS=$'\t' read -r name bug text must may; do
	if [ $# -gt 0 ] && [[ " $* " != *" $name "* ]]; then
		continue
	fi
	"$bin" --quiet --device "sim:deviation=$name" --json "$tmp/$name.json" >/dev/null || true
	got=$(red "$tmp/$name.json")
	missing=$(LC_ALL=C comm -23 <(list "$must") <(list "$got") | tr '\n' ' ')
	extra=$(LC_ALL=C comm -13 <(list "$must $may") <(list "$got") | tr '\n' ' ')
	if [ -n "$missing" ] || [ -n "$extra" ]; then
		echo "not ok $name${missing:+, must fail and does not: $missing}${extra:+, fails and is not listed: $extra}"
		bad=$((bad + 1))
	else
		good=$((good + 1))
	fi
	if [ -n "$table" ]; then
		others=$(LC_ALL=C comm -13 <(list "$must") <(list "$got") | tr '\n' ' ')
		bug=$([ "$bug" = 0 ] || echo " (KNOWN-BUGS $bug)")
		echo "| \`$name\` | $text$bug | $must | ${others% } |" >>"$tmp/table"
	fi
done < <(rows)
if [ -n "$table" ]; then
	mv "$tmp/table" "$table"
fi
echo "$good passed, $bad failed"
[ $bad = 0 ]
