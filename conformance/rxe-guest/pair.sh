#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# pair.sh BUILD_FOLDER KERNEL OUT [vs-conform ARGUMENTS] - rxe against rxe: two guests, back to back, and vs-conform as the wire between them, which
# does to their packets what the faults of scripts say. Without arguments: the scripts of faults/, one fault each, and all work of a
# connection (ROB-008). Each fault is recovered from, or reported, as its script says, or vs-conform fails.
#
# OUT.txt and OUT.json say what came of it. OUT.a.pcap and OUT.b.pcap are what crossed the wire at either guest, and
# OUT.between.txt what vs-pcap check finds was lost, doubled and changed from the one to the other.
#
# Exit code: that of vs-conform.
set -euo pipefail
export LC_ALL=C
build=$(cd "${1:?which build folder?}" && pwd) kernel=${2:?which kernel?} out=$(realpath -m "${3:?which report?}")
shift 3
here=$(cd "$(dirname "$0")" && pwd)
tmp=$(mktemp -d) conform='' rc=0
# shellcheck disable=SC2317,SC2015 # called by the trap
finish() {
	trap '' INT TERM HUP # one signal may come twice, from the terminal and from who called this
	[ -z "$conform" ] || { kill "$conform" 2>/dev/null && wait "$conform" || true; }
	rm -rf "$tmp"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

guest() { # host, capture
	echo -n "exec '$here/agent.sh' '$build' '$kernel' '$tmp' $1 '$2'"
}
end() { echo -n "unix:$tmp/peer.$1,remote=$tmp/guest.$1"; }

mkdir -p "$(dirname "$out")"
rm -f "$out".{txt,json,a.pcap,b.pcap,between.txt}
if [ $# = 0 ]; then
	for f in "$here"/faults/*.drill "$here"/../cases/ROB/ROB-008.drill; do set -- "$@" --file "$f"; done
fi
"$build/bin/vs-conform" --device rxe0 --agent "$(guest 1 "$out.a.pcap")" --agent "$(guest 2 "$out.b.pcap")" --peer "bridge:$(end 1),$(end 2)" \
	--budget 120 -v --json "$out.json" "$@" >"$out.txt" 2>&1 &
conform=$!
wait $conform || rc=$?
conform=''
cat "$out.txt"
"$build/bin/vs-pcap" check "$out.a.pcap" "$out.b.pcap" >"$out.between.txt" 2>&1 || true
exit $rc
