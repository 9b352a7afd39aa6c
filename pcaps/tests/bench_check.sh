#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# bench_check.sh - bench-check: vs-pcap check, with every ICRC, against tshark's built-in dissector (io,stat: no tree) on
# the same file, by turns, medians of processor time. Exit 1 below VS_BENCH_MIN (default 5) times as fast.
#
#   bench_check.sh BUILD_FOLDER [PACKETS [ROUNDS]]
set -euo pipefail
export LC_ALL=C
build=${1:?which build folder?} packets=${2:-200000} rounds=${3:-5} minimum=${VS_BENCH_MIN:-5}
capture=$build/bench-$packets.pcap
command -v tshark >/dev/null || { echo "skip bench-check: tshark is missing" && exit 0; }
[ -e "$capture" ] || "$build/tests/mkbench" "$capture" "$packets"

cpu() { # COMMAND...: seconds of processor time
	local TIMEFORMAT='%U %S' took
	took=$({ time "$@" >/dev/null 2>&1; } 2>&1) || true
	awk '{ print $1 + $2 }' <<<"$took"
}

median() {
	sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}

"$build/bin/vs-pcap" check --json "$capture" | grep -q '"icrc_bad": 0,' || { echo "bench-check: ICRCs differ" >&2 && exit 1; }
ours=() theirs=()
for _ in $(seq "$rounds"); do
	ours+=("$(cpu "$build/bin/vs-pcap" check --summary "$capture")")
	theirs+=("$(cpu tshark -r "$capture" -q -z io,stat,0)")
done
a=$(printf '%s\n' "${ours[@]}" | median) b=$(printf '%s\n' "${theirs[@]}" | median)
awk -v a="$a" -v b="$b" -v n="$packets" -v min="$minimum" 'BEGIN {
	printf "%d packets: vs-pcap check %.2f s, tshark built-in %.2f s of processor time: %.1f times as fast\n", n, a, b, b / a
	exit b / a < min
}'
