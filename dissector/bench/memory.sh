#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# memory.sh - bench-dissector-memory: how much memory the analysis of a large capture takes.
#
#   memory.sh [PACKETS]    1000000 by default
#
# Peak memory of tshark with the analysis and without it, on the same capture: the difference is all that the analysis
# keeps, the monitor's flows included. Exit 1 when it is more than VS_BYTES_MAX (64) bytes for each packet.
set -u
# shellcheck source=dissector/tests/lib.sh
. "$(dirname "$0")/../tests/lib.sh"
# shellcheck source=bench/figures.sh
. "$(dirname "$0")/../../bench/figures.sh"

packets=${1:-1000000} most=${VS_BYTES_MAX:-64}
need "$TSHARK" awk
for program in mkbench peak; do
	[ -x "$B/tests/$program" ] || die "$B/tests/$program is missing: run make bench-dissector-memory"
done
work bench-memory
capture=$B/bench-$packets.pcap
[ -e "$capture" ] || "$B/tests/mkbench" "$capture" "$packets" || exit 1
[ "${as_user[0]-}" != setpriv ] || chmod a+r "$capture"

# peak TRUE|FALSE: KiB at most.
peak() {
	"$B/tests/peak" "${as_user[@]}" "${WS_ENV[@]}" WIRESHARK_PLUGIN_DIR="$PLUGINS" "$TSHARK" -n -o "rdma.analysis:$1" \
		-q -z io,stat,0 -r "$capture" 2>&1 >"$W/out" | awk 'END { print $1 }'
}

with=$(peak TRUE) without=$(peak FALSE)
awk -v with="$with" -v without="$without" -v packets="$packets" -v most="$most" 'BEGIN {
	if (with !~ /^[0-9]+$/ || without !~ /^[0-9]+$/) {
		print "tshark failed"
		exit 2
	}
	bytes = (with - without) * 1024 / packets
	printf "%d packets: %.1f MiB with the analysis, %.1f MiB without: %.1f bytes for each packet (at most %d)\n",
		packets, with / 1024, without / 1024, bytes, most
	exit bytes > most
}'
rc=$?
[ $rc != 2 ] || exit 2
bytes=$(awk -v with="$with" -v without="$without" -v packets="$packets" 'BEGIN { print (with - without) * 1024 / packets }')
figure_once "memory of the analysis for each packet" bytes "$bytes" better=less aim="$most"
figure_once "tshark reads $packets packets" MiB "$(awk -v kb="$with" 'BEGIN { print kb / 1024 }')" better=less \
	peer="without the analysis" peer_value="$(awk -v kb="$without" 'BEGIN { print kb / 1024 }')"
[ $rc = 0 ] || missed "more than $most bytes for each packet"
exit $rc
