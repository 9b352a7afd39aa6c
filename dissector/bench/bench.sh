#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# bench.sh - bench-dissector: how fast is tshark with our plugin, beside the built-in dissector and
# beside no dissector at all? One run, the candidates by turns, medians of ROUNDS, each the best of three, from page
# cache.
#
#   bench.sh [PACKETS [ROUNDS]]
#
# Two workloads: `-q -z io,stat,0` (dissection without a tree), and `-T fields` with PSN, destination
# QP and opcode (a tree for every packet). Everything is as users have it: CRCs validated, connections analysed,
# upper-layer hand-off on, columns at their defaults. The floor decodes port 4791 as data; "alone" is ours without
# the analysis of connections, which the built-in has not.
# Exit 1 when ours takes more CPU time than the built-in in either workload (VS_BENCH_MIN, default 1.0): others on this
# machine don't count.
set -u
# shellcheck source=dissector/tests/lib.sh
. "$(dirname "$0")/../tests/lib.sh"
# shellcheck source=bench/figures.sh
. "$(dirname "$0")/../../bench/figures.sh"

packets=${1:-200000} rounds=${2:-5} minimum=${VS_BENCH_MIN:-1.0}
need "$TSHARK" awk
[ -x "$B/tests/mkbench" ] || die "$B/tests/mkbench is missing: run make bench-dissector"
work bench-dissector
capture=$B/bench-$packets.pcap
if [ ! -e "$capture" ]; then
	"$B/tests/mkbench" "$capture" "$packets" || exit 1
fi
[ "${as_user[0]-}" != setpriv ] || chmod a+r "$capture"

fields_of() {
	printf -- '-T fields -e frame.number -e %s -e %s -e %s' "$@"
}

# name | who | tshark options
candidates=(
	"stat ours    |ours       |-q -z io,stat,0"
	"stat built-in|builtin_ws |-q -z io,stat,0"
	"stat floor   |builtin_ws |-q -z io,stat,0 -d udp.port==4791,data"
	"tree ours    |ours       |$(fields_of rdma.bth.psn rdma.bth.destqp rdma.bth.opcode)"
	"tree built-in|builtin_ws |$(fields_of infiniband.bth.psn infiniband.bth.destqp infiniband.bth.opcode)"
	"tree floor   |builtin_ws |-T fields -e frame.number -e udp.srcport -e udp.dstport -e udp.length -d udp.port==4791,data"
	"stat alone   |ours       |-q -z io,stat,0 -o rdma.analysis:FALSE"
	"tree alone   |ours       |$(fields_of rdma.bth.psn rdma.bth.destqp rdma.bth.opcode) -o rdma.analysis:FALSE"
)
# Runs of each in a round.
tries=(3 3 1 3 3 1 1 1)

# run_one CANDIDATE: prints "seconds cpu-seconds".
run_one() {
	local name who options took
	IFS='|' read -r name who options <<<"${candidates[$1]}"
	TIMEFORMAT='%R %U %S'
	# shellcheck disable=SC2086 # the options are words
	took=$({ time ${who// /} $options -r "$capture" >"$W/out.$1"; } 2>&1) || die "$name failed: $W/stderr"
	awk '{ print $1, $2 + $3 }' <<<"$took"
}

# A round: every candidate by turns, those that are compared three times; the run with the least CPU time counts. What else
# goes on in the machine only ever adds to a run, and on a shared one it adds more than the candidates differ.
one_round() {
	local n try
	for ((try = 0; try < 3; try++)); do
		for ((n = 0; n < ${#candidates[@]}; n++)); do
			[ "$try" -ge "${tries[n]}" ] || run_one "$n" >>"$W/tries.$n"
		done
	done
	for ((n = 0; n < ${#candidates[@]}; n++)); do
		sort -k2,2n "$W/tries.$n" | head -n 1 >>"$W/times.$n"
		rm "$W/tries.$n"
	done
}

median() {
	sort -n | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'
}

# What is compared must have been done: every packet ours, every ICRC good, the fields all there.
prove() {
	local seen
	seen=$(ours -r "$capture" -c 5000 -Y 'rdma.icrc.status == 1' | wc -l)
	[ "$seen" = 5000 ] || die "$seen of the first 5000 packets verify, not all: nothing to compare"
	for n in 3 4; do
		awk -F'\t' 'NF != 4 || $2 == "" || $3 == "" || $4 == "" { bad++ } END { exit bad > 0 || NR == 0 }' "$W/out.$n" ||
			die "fields are missing in the output of: ${candidates[$n]}"
	done
}

cat "$capture" >/dev/null # into the page cache
for ((round = 1; round <= rounds; round++)); do
	[ ! -t 2 ] || printf '\rround %d of %d ' "$round" "$rounds" >&2
	one_round
done
[ ! -t 2 ] || printf '\r%20s\r' '' >&2
prove

printf '%s packets, medians of %s, each the best of 3, %s\n\n' "$packets" "$rounds" "$("$TSHARK" --version 2>/dev/null | head -1)"
printf '%-14s %9s %12s %10s\n' candidate seconds packets/s 'CPU s'
for ((n = 0; n < ${#candidates[@]}; n++)); do
	wall[n]=$(awk '{ print $1 }' "$W/times.$n" | median)
	cpu[n]=$(awk '{ print $2 }' "$W/times.$n" | median)
	awk -v name="${candidates[n]%%|*}" -v w="${wall[n]}" -v c="${cpu[n]}" -v p="$packets" \
		'BEGIN { printf "%-14s %9.2f %12.0f %10.2f\n", name, w, p / w, c }'
done
echo

# Packets per second of processor time, and of time.
rates() { awk -v p="$packets" -v c="$2" '$c > 0 { print p / $c }' "$W/times.$1" >"$W/rates.$1.$2"; }
compared() { # name, unit, column of the times, candidate, the built-in's, aim
	rates "$4" "$3"
	rates "$5" "$3"
	figure "$1" "$2" median better=more peer="the built-in" peer_values="$W/rates.$5.$3" ${6:+aim_ratio="$6"} <"$W/rates.$4.$3"
}
cpu_s='packets per second of processor time' clock_s='packets per second'
compared "io,stat (no tree)" "$cpu_s" 2 0 1 "$minimum"
compared "io,stat, without the analysis" "$cpu_s" 2 6 1
compared "-T fields, without the analysis" "$cpu_s" 2 7 4
compared "-T fields (a tree for each packet)" "$cpu_s" 2 3 4 "$minimum"
compared "io,stat (no tree)" "$clock_s" 1 0 1
compared "-T fields (a tree for each packet)" "$clock_s" 1 3 4

awk -v so="${wall[0]}" -v sb="${wall[1]}" -v sf="${wall[2]}" -v to="${wall[3]}" -v tb="${wall[4]}" -v tf="${wall[5]}" \
	-v cso="${cpu[0]}" -v csb="${cpu[1]}" -v cto="${cpu[3]}" -v ctb="${cpu[4]}" -v cna="${cpu[6]}" -v cnt="${cpu[7]}" -v minimum="$minimum" 'BEGIN {
	printf "io,stat:   ours %.2f x the built-in (CPU %.2f x), %.2f x the floor\n", sb / so, csb / cso, sf / so
	printf "           without the analysis CPU %.2f x the built-in\n", csb / cna
	printf "-T fields: ours %.2f x the built-in (CPU %.2f x), %.2f x the floor\n", tb / to, ctb / cto, tf / to
	printf "           without the analysis CPU %.2f x the built-in\n", ctb / cnt
	if (csb / cso < minimum || ctb / cto < minimum) {
		printf "slower than %.2f x the built-in\n", minimum
		exit 1
	}
}' || { missed "slower than $minimum x the built-in" && exit 1; }
