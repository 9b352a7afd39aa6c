#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# bench_replay.sh - the rate of `vs-pcap replay --speed max` as a share of that of `tcpreplay -t`: the same file, over
# the same veth pair, one after the other, five times; the medians are compared. Exit 1 below 0.6.
#
#   bench_replay.sh BUILD_FOLDER      needs root, or user namespaces
set -euo pipefail
export LC_ALL=C
cd "$(dirname "$0")/../.."
build=$(realpath "${1:?which build folder?}")

if [ "${2:-}" != inside ]; then
	how=(unshare --net)
	"${how[@]}" true 2>/dev/null || how=(unshare --user --map-root-user --net)
	exec "${how[@]}" "$0" "$build" inside
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
	sort -n | sed -n 3p
}

for spec in host_peer_dgram:250 loss_mixed_req_every7:3000; do
	file=pcaps/recorded/${spec%:*}.pcap loops=${spec#*:}
	rm -f "$tmp/ours" "$tmp/theirs"
	for _ in 1 2 3 4 5; do
		ours "$file" "$loops" >>"$tmp/ours"
		theirs "$file" "$loops" >>"$tmp/theirs"
	done
	awk -v file="$file" -v loops="$loops" -v ours="$(median <"$tmp/ours")" -v theirs="$(median <"$tmp/theirs")" '
		BEGIN {
			printf "%s x %d: vs-pcap %d packets/s, tcpreplay -t %d packets/s, ratio %.2f (at least 0.60)\n",
				file, loops, ours, theirs, ours / theirs
			exit ours / theirs < 0.6
		}' || slow=yes
done
[ -z "${slow:-}" ]
