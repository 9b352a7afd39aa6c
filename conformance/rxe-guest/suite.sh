#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# suite.sh BUILD_FOLDER KERNEL OUT [vs-conform ARGUMENTS] - the conformance suite on rxe of that kernel in a guest: vs-agent in it makes
# the verbs calls, the peer is on the other side of its wire. Cases wait most of the time, so there are VS_GUESTS (4) guests, each with a peer of its own. Known deviations are those of
# conformance/profiles/rxe-KERNEL.deviations. Cases that have killed kernels run, too: a guest that dies costs the
# case, and another one is started. Reports: OUT.txt, OUT.json, OUT.html, OUT.tap; consoles of guests with something to say: OUT.console.*
#
# Exit code: that of vs-conform.
set -euo pipefail
build=$(cd "${1:?which build folder?}" && pwd) kernel=${2:?which kernel?} out=${3:?which report?}
shift 3
here=$(cd "$(dirname "$0")" && pwd)
guests=${VS_GUESTS:-4} # several boot at the same time
export VS_GUEST_BOOT=${VS_GUEST_BOOT:-120}
tmp=$(mktemp -d) conform='' rc=0
# shellcheck disable=SC2317,SC2015 # called by the trap
finish() {
	trap '' INT TERM HUP # one signal may come twice, from the terminal and from who called this
	# The agent's command is told by the death of vs-conform, and its guest by that.
	[ -z "$conform" ] || { kill "$conform" 2>/dev/null && wait "$conform" || true; }
	local c
	for c in "$tmp"/console.*; do [ ! -e "$c" ] || mv "$c" "$out.${c##*/}"; done
	rm -rf "$tmp"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# A socket of AF_UNIX holds ten datagrams, and QEMU spins while its peer's is full. Root can have a namespace with another limit.
# shellcheck disable=SC2016 # for the inner shell
roomy=(unshare --net sh -c 'echo 512 >/proc/sys/net/unix/max_dgram_qlen && exec "$@"' sh)
"${roomy[@]}" true 2>/dev/null || roomy=()

known=$here/../profiles/rxe-$kernel.deviations
rm -f "$out".*
"${roomy[@]}" "$build/bin/vs-conform" --agent "exec '$here/agent.sh' '$build' '$kernel' '$tmp'" --device rxe0 --jobs "$guests" --budget 240 --hazardous \
	--peer "unix:$tmp/peer.%,remote=$tmp/guest.%,count=$guests,ip=10.77.0.2,ip6=fd77::2" --deviations "$known" \
	--json "$out.json" --html "$out.html" --tap "$out.tap" "$@" >"$out.txt" 2>&1 &
conform=$!
wait $conform || rc=$?
conform=''
exit $rc
