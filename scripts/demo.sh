#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# demo.sh B - the end of `make demo`: decodes a recorded transfer that lost a packet, says what is to
# be seen, and where to go on. Everything is already built in B.
set -euo pipefail
build=$1
cd "$(dirname "$0")/.."
capture=pcaps/recorded/loss_send_req_mid.pcap

bold='' plain=''
if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then bold=$'\e[1m' plain=$'\e[0m'; fi

decode() {
	"$build/bin/vs-tshark" -r $capture \
		-o 'gui.column.format:"No.","%m","Time","%t","Source","%s","Destination","%d","Info","%i"'
}

printf '\n%s$ %s/bin/vs-tshark -r %s%s\n\n' "$bold" "$build" $capture "$plain"
out=$(decode)
printf '%s\n' "$out"

# The story below is about these frames; a decode that does not show them is an error, not a demo.
has() { grep -qE "^ *$1 .*$2" <<<"$out"; }
if ! { has 7 'SEND Middle.*PSN=261' && has 9 'PSN=261.*NAK.*sequence' && has 10 'SEND Middle.*PSN=261' && has 23 'PSN=271'; }; then
	echo "demo: the decode is not as expected: frames 7, 9, 10 and 23 should tell of a loss at PSN 261" >&2
	exit 1
fi

cat <<EOF

${bold}What you see.${plain} 10.77.0.1 sends four messages of four packets each to Linux's soft-RoCE driver. The packet
in frame 7 (PSN 261) was dropped on the way in, so when PSN 262 arrives the receiver answers with a NAK, "PSN
sequence error": I am still waiting for 261 (frame 9). The sender goes back to that PSN and sends everything
from there again (frames 10 to 12), although 262 had already arrived once: RDMA's go-back-N.

${bold}The conformance suite on the reference transport${plain}, in the simulator:

${bold}\$ $build/bin/vs-conform --quiet${plain}

EOF
"$build/bin/vs-conform" --quiet
printf '\n%sWhere to look next.%s\n' "$bold" "$plain"
next() { printf '  %-82s %s\n' "$1" "$2"; }
next "$build/bin/vs-tshark -r $capture -V -Y frame.number==9" 'that NAK, every field'
next "$build/bin/vs-wireshark $capture" 'the same in Wireshark (apt install wireshark)'
next "$build/bin/vs-tshark -r YOUR.pcapng -Y rdma" 'your own capture'
next "$build/bin/vs-pcap check $capture" 'what went wrong in it, without Wireshark'
next "$build/bin/vs-run --pair -- ib_write_bw" 'an RDMA program without hardware (perftest)'
next "$build/bin/vs-trace run --pair -- ibv_rc_pingpong -g 0" 'what such a program calls and sends (ibverbs-utils)'
next "$build/bin/vs-conform --device ref0" 'the suite through libibverbs'
next "$build/bin/vs-lab list" 'guided labs, in English and Korean'
next 'ls pcaps/recorded' 'more recorded transfers'
next 'make check' 'all the tests'
