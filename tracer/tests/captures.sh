#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# captures.sh BUILD [FOLDER...] - what `vs-trace why` says of recorded captures (captures.tsv), from their packets alone.
# Nine of ten faults must be named, and none may be named wrong with confidence. FOLDER: more captures than those in
# pcaps/recorded.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
trace=$(cd "$1" && pwd)/bin/vs-trace
shift
folders=("$here/../../pcaps/recorded" "$@")

find_capture() {
	local d
	for d in "${folders[@]}"; do [ ! -f "$d/$1.pcap" ] || { echo "$d/$1.pcap"; return; }; done
}

named=0 total=0 wrong=0
while IFS='|' read -r name want; do
	case $name in '#'* | '') continue ;; esac
	name=${name// /} want=${want// /}
	file=$(find_capture "$name")
	[ -n "$file" ] || continue
	total=$((total + 1))
	text=$("$trace" why "$file" 2>&1) || [ $? -le 1 ] || { echo "FAIL $name: $text"; wrong=$((wrong + 1)); continue; }
	got=$(sed -n 's/^  1\. .*\[\([a-z_]*\), \(certain\|likely\)\]/\1/p' <<<"$text")
	if [ "${got:--}" = "$want" ]; then
		named=$((named + 1))
		echo "ok   $name: ${got:-nothing went wrong}"
	elif [ "$want" = '?' ] && [ -z "$got" ]; then
		echo "none $name: no packet shows it, and nothing is claimed"
	else
		echo "FAIL $name: $want it is, ${got:-nothing} is named"
		wrong=$((wrong + 1))
	fi
done <"$here/captures.tsv"
echo "$named of $total named right, $wrong wrong"

# The whole answer, as text and as JSON, and what dma says. VS_UPDATE=1 writes the golden files anew: read the difference.
golden() { # name, command with options
	local file=$here/answers/$1 rc=0
	shift
	(cd "$here/../.." && "$trace" "$@") >"$tmp" 2>&1 || rc=$?
	echo "exit $rc" >>"$tmp"
	[ -z "${VS_UPDATE:-}" ] || cp "$tmp" "$file"
	if cmp -s "$tmp" "$file"; then
		echo "ok   vs-trace $*"
	else
		echo "FAIL vs-trace $*: differs from ${file##*/}"
		diff "$file" "$tmp" | head -10 || true
		wrong=$((wrong + 1))
	fi
}

tmp=$(mktemp)
trap 'rm -f "$tmp"' EXIT
for name in err_bad_rkey_write rnr_ok loss_send_req_mid; do
	golden "why-$name.txt" why --all "pcaps/recorded/$name.pcap"
	golden "why-$name.json" why --json "pcaps/recorded/$name.pcap"
done
golden why-nothing.txt why pcaps/recorded/rc_write_v4.pcap
for file in "$here"/in/*.vst; do
	name=$(basename "$file" .vst)
	golden "dma-$name.txt" dma --each "tracer/tests/in/$name.vst"
done
golden dma-capture.txt dma pcaps/recorded/rnr_ok.pcap
golden dma.json dma --json tracer/tests/in/loss-middle.vst
[ $total -ge 20 ] && [ $wrong = 0 ] && [ $((named * 10)) -ge $((total * 9)) ]
