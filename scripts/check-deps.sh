#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# check-deps.sh - which part of the house may include which (docs/architecture.md, "Rooms").
#
#   scripts/check-deps.sh              0: every #include is allowed; 1: prints those that are not
#   scripts/check-deps.sh --self-test  plants violations in a small tree and expects them to be found
#
# The point of the rules: transport/ depends on nothing else here; the monitor never sees the engine
# that it judges; Wireshark's GPL headers stay in dissector/.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

# room: rooms it may include. What those may include is allowed too, and so is the room itself. Folders
# tests/ and bench/ below a room are the room NAME-tests, save transport/tests.
edges() {
	cat <<'EOF'
wire:
event: wire
core: wire event
monitor: wire event
ladder: event
cli: event
fault: wire
sim: core fault
io: wire
drill: sim io monitor fault
verbs: core io fault sim cli
dissector: wire monitor
tracer: wire event monitor ladder fault io cli
conformance: drill ladder cli
labs: drill ladder cli
pcaps: drill ladder cli
tests: wire event core monitor ladder fault sim io drill verbs cli
labs-tests: labs
conformance-tests: conformance tests
dissector-tests: dissector wire event monitor io
pcaps-tests: wire io
tracer-tests: tracer drill tests
bench: cli
EOF
}

# Which room a public header or a table belongs to: transport/include/vs/NAME.h, transport/NAME.def.
public() {
	cat <<'EOF'
wire: vs/err.h vs/psn.h vs/opcode.h vs/reason.h vs/wire.h vs/icrc.h vs/offload.h vs/mad.h vs/cm.h
wire: opcodes.def reasons.def mad.def cm.def
event: vs/event.h vs/vst.h vs/verbs.h events.def
fault: vs/fault.h vs/impair.h
core: vs/rig.h vs/dev.h vs/mr.h vs/cq.h vs/qp.h vs/conn.h deviations.def counters.def
monitor: vs/monitor.h rules.def
ladder: vs/ladder.h
sim: vs/sim.h
io: vs/netns.h vs/pktio.h vs/inject.h vs/udpio.h vs/frameio.h vs/neigh.h vs/grow.h
drill: vs/drill.h vs/program.h
EOF
}

check() { # folder
	(
		cd "$1"
		{
			edges | sed 's/^/edge /'
			public | sed 's/^/public /'
			SOURCES_ROOT=. "$here/sources.sh" all | sed 's/^/file /'
		} | awk -f "$here/check-deps.awk"
	)
}

expect() { # what, "found" or "clean", text that must be printed
	local out rc=0
	out=$(check "$tmp") || rc=$?
	case $2 in
	clean) [ $rc = 0 ] && [ -z "$out" ] && return ;;
	found) [ $rc = 1 ] && [ "$(wc -l <<<"$out")" = 1 ] && grep -qF -- "$3" <<<"$out" && return ;;
	esac
	printf 'check-deps: self-test: %s: exit %s, printed:\n%s\n' "$1" $rc "$out" >&2
	exit 1
}

plant() { # file, line, what, text: one violation, found, taken away again
	mkdir -p "$tmp/$(dirname "$1")"
	echo "$2" >"$tmp/$1"
	expect "$3" found "$4"
	rm "$tmp/$1"
}

self_test() {
	tmp=$(mktemp -d)
	trap 'rm -rf "$tmp"' EXIT
	mkdir -p "$tmp"/transport/{include/vs,wire,io,core,monitor,tests} "$tmp/dissector"
	echo '#include "opcodes.def"' >"$tmp/transport/include/vs/opcode.h"
	echo '#include "vs/opcode.h"' >"$tmp/transport/include/vs/wire.h"
	echo '#include <vs/wire.h>' >"$tmp/transport/include/vs/pktio.h"
	touch "$tmp/transport/opcodes.def" "$tmp/transport/core/qp.h" "$tmp/transport/include/vs/dev.h"
	printf '%s\n' '#include <string.h>' '#include "vs/wire.h"' '#include "local.h"' >"$tmp/transport/wire/a.c"
	touch "$tmp/transport/wire/local.h"
	echo '#include "vs/pktio.h"' >"$tmp/transport/tests/test_a.c"
	printf '%s\n' '#include <epan/packet.h>' '#include "vs/wire.h"' >"$tmp/dissector/p.c"
	expect "a clean tree" clean
	plant transport/monitor/m.c '#include "core/qp.h"' "the monitor includes the engine" "monitor may not include core"
	plant transport/monitor/m.c '  #  include "../core/qp.h"' "the same by a relative path" "monitor may not include core"
	plant transport/monitor/m.c '#include <vs/dev.h>' "the same by its public header" "monitor may not include core"
	plant transport/wire/b.c '#include "vs/pktio.h"' "wire includes io" "wire may not include io"
	plant dissector/q.c '#include "vs/pktio.h"' "the plugin includes io" "dissector may not include io"
	plant transport/io/x.c '#include <epan/packet.h>' "Wireshark's headers outside dissector/" "Wireshark"
	plant transport/io/x.c '#include "../../dissector/p.c"' "transport includes the plugin" "io may not include dissector"
	plant transport/io/x.c '#include "nowhere.h"' "an include that is not there" "not found"
	plant transport/include/vs/newroom.h '' "a public header without a room" "belongs to no room"
	plant transport/odd/x.c '' "a folder without a room" "belongs to no room"
}

case ${1:-} in
--self-test) self_test ;;
*) check "$here/.." ;;
esac
