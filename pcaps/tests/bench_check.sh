#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# bench_check.sh - bench-check: vs-pcap check, with every ICRC, against tshark's built-in dissector (io,stat: no tree) on
# the same file, by turns, the least processor time of each. Exit 1 below VS_BENCH_MIN (default 10) times as fast.
# Then ten times as many packets, through a pipe: how much memory both needed.
#
#   bench_check.sh BUILD_FOLDER [PACKETS [ROUNDS]]
set -euo pipefail
export LC_ALL=C
# shellcheck source=bench/figures.sh
. "$(dirname "$0")/../../bench/figures.sh"
build=${1:?which build folder?} packets=${2:-200000} rounds=${3:-5} minimum=${VS_BENCH_MIN:-10}
capture=$build/bench-$packets.pcap
command -v tshark >/dev/null || { echo "skip bench-check: tshark is missing" && exit 0; }
[ -e "$capture" ] || "$build/tests/mkbench" "$capture" "$packets"

cpu() { # COMMAND...: seconds of processor time
	local TIMEFORMAT='%U %S' took
	took=$({ time "$@" >/dev/null 2>&1; } 2>&1) || true
	awk '{ print $1 + $2 }' <<<"$took"
}

least() {
	sort -n | head -n 1
}

"$build/bin/vs-pcap" check --json "$capture" | grep -q '"icrc_bad": 0,' || { echo "bench-check: ICRCs differ" >&2 && exit 1; }
ours=() theirs=()
for _ in $(seq "$rounds"); do
	ours+=("$(cpu "$build/bin/vs-pcap" check --summary "$capture")")
	theirs+=("$(cpu tshark -r "$capture" -q -z io,stat,0)")
done
a=$(printf '%s\n' "${ours[@]}" | least) b=$(printf '%s\n' "${theirs[@]}" | least)
awk -v a="$a" -v b="$b" -v n="$packets" -v min="$minimum" 'BEGIN {
	printf "%d packets: vs-pcap check %.2f s, tshark built-in %.2f s of processor time: %.1f times as fast\n", n, a, b, b / a
	exit b / a < min
}' || slow=yes
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
rates() { awk -v n="$packets" '$1 > 0 { print n / $1 }'; }
printf '%s\n' "${theirs[@]}" | rates >"$tmp/theirs"
printf '%s\n' "${ours[@]}" | rates | figure "vs-pcap check, every ICRC" "packets per second of processor time" most better=more \
	peer="tshark's built-in" peer_values="$tmp/theirs" aim_ratio="$minimum"
if [ -n "${slow:-}" ]; then
	missed "less than $minimum times as fast as tshark"
	exit 1
fi

# ---- memory ----

peak() { # PACKETS: the most memory, in KB, while they are checked
	local pid now most=0 fifo=$build/bench.fifo
	rm -f "$fifo"
	mkfifo "$fifo"
	"$build/tests/mkbench" "$fifo" "$1" &
	"$build/bin/vs-pcap" check --summary - <"$fifo" >/dev/null &
	pid=$!
	while now=$(sed -n 's/^VmHWM:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$pid/status" 2>/dev/null); do
		[ -n "$now" ] || break
		most=$now
		sleep 0.05
	done
	wait
	rm -f "$fifo"
	echo "$most"
}

few=$(peak "$packets") many=$(peak $((10 * packets)))
awk -v few="$few" -v many="$many" -v n="$packets" 'BEGIN {
	printf "memory: %.1f MB for %d packets, %.1f MB for %d\n", few / 1024, n, many / 1024, 10 * n
	exit many > 3 * few
}' || more=yes
for n in "$packets:$few" "$((10 * packets)):$many"; do
	figure_once "memory for ${n%:*} packets" MB "$(awk -v kb="${n#*:}" 'BEGIN { print kb / 1024 }')" better=less
done
if [ -n "${more:-}" ]; then
	missed "ten times as many packets take more than three times the memory"
	exit 1
fi
