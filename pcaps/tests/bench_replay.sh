#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# bench_replay.sh - the rate of `vs-pcap replay --speed max` as a share of that of `tcpreplay -t`: the same file, over
# the same veth pair, one after the other, ROUNDS times (5); the medians are compared. Exit 1 below 0.6.
#
#   bench_replay.sh BUILD_FOLDER [ROUNDS]      needs root, or user namespaces
set -euo pipefail
export LC_ALL=C
cd "$(dirname "$0")/../.."
# shellcheck source=bench/figures.sh
. bench/figures.sh
build=$(realpath "${1:?which build folder?}") rounds=${2:-5}
for tool in tcpreplay ip; do
	command -v $tool >/dev/null || { echo "skip bench-replay: $tool is missing" && exit 0; }
done

if [ "${3:-}" != inside ]; then
	how=(unshare --net)
	"${how[@]}" true 2>/dev/null || how=(unshare --user --map-root-user --net)
	exec "${how[@]}" "$0" "$build" "$rounds" inside
fi

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
ip link add va mtu 9000 type veth peer name vb mtu 9000
ip link set va up
ip link set vb up

# packets per second, from what each program says of itself
ours() {
	"$build/bin/vs-pcap" replay "$1" --to va --speed max --loop "$2" |
		sed -n 's/^.* s: \([0-9]*\) packets\/s.*/\1/p'
}
theirs() {
	tcpreplay -t -i va --loop="$2" "$1" 2>/dev/null | sed -n 's/.* Mbps, \([0-9.]*\) pps$/\1/p'
}
median() {
	sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}

for spec in host_peer_dgram:250 loss_mixed_req_every7:3000; do
	file=pcaps/recorded/${spec%:*}.pcap loops=${spec#*:}
	rm -f "$tmp/ours" "$tmp/theirs"
	for _ in $(seq "$rounds"); do
		ours "$file" "$loops" >>"$tmp/ours"
		theirs "$file" "$loops" >>"$tmp/theirs"
	done
	awk -v file="$file" -v loops="$loops" -v ours="$(median <"$tmp/ours")" -v theirs="$(median <"$tmp/theirs")" '
		BEGIN {
			printf "%s x %d: vs-pcap %d packets/s, tcpreplay -t %d packets/s, ratio %.2f (at least 0.60)\n",
				file, loops, ours, theirs, ours / theirs
			exit ours / theirs < 0.6
		}' || slow=yes
	figure "$(basename "$file")" packets/s median better=more peer="tcpreplay -t" peer_values="$tmp/theirs" aim_ratio=0.6 <"$tmp/ours"
done
if [ -n "${slow:-}" ]; then
	missed "less than 0.6 of tcpreplay"
	exit 1
fi
