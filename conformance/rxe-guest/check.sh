#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# check.sh BUILD_FOLDER KERNEL... - make check-rxe: the conformance suite on rxe of each kernel, and programs between it and ref0
# (INTEROP=all: more of them). The suite passes when vs-conform says so (what is known of rxe is in conformance/profiles)
# and at least ROWS rows of the inventory were executed. Reports are in BUILD_FOLDER/check-rxe. Nothing is left
# running, however this ends.
set -euo pipefail
export LC_ALL=C
build=$(cd "${1:?which build folder?}" && pwd)
shift
here=$(cd "$(dirname "$0")" && pwd)
out=$build/check-rxe passed=0 failed=0
ROWS=380 AGAIN=12
running=''
mkdir -p "$out"
rm -f "$out/summary" "$out/failures"
trap 'trap "" INT TERM HUP; [ -z "$running" ] || { kill "$running" 2>/dev/null || true; wait; }' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

result() { # name, what is wrong; "": nothing
	if [ -z "$2" ]; then
		echo "ok   $1"
		passed=$((passed + 1))
	else
		echo "FAIL $1: $2" | tee -a "$out/failures"
		failed=$((failed + 1))
	fi
}

# Rows of the inventory of which a vector was executed. A TAP line: "ok 12 - RSP-017-verbs[mtu=256] ... # SKIP why".
rows() {
	awk '/^(not )?ok / && !/# SKIP/ && match($0, /[A-Z]+-[0-9]+/) && !seen[substr($0, RSTART, RLENGTH)]++ { n++ } END { print n + 0 }' "$1"
}

# Vectors whose verdict is not the known one: "not ok" and no TODO, or "ok" and a TODO.
unexpected() { # report
	[ ! -e "$1.tap" ] || awk '(/^not ok / && !/ # TODO /) || (/^ok / && / # TODO /) { sub(/^.*ok [0-9]+ - /, ""); print $1 }' "$1.tap"
}

# A host that did something else for a while makes a guest late. A few vectors are tried a second time, alone; what holds then, held. That it
# was so is said.
again() { # kernel, exit code: sets rc
	local -a ids
	mapfile -t ids < <(unexpected "$out/rxe-$1")
	rc=$2
	[ ${#ids[@]} -gt 0 ] && [ "$rc" -le 1 ] || return 0
	rc=1
	[ ${#ids[@]} -le $AGAIN ] || return 0
	echo "${#ids[@]} vectors are tried again, alone: ${ids[*]}"
	VS_GUESTS=1 run "$here/suite.sh" "$build" "$1" "$out/rxe-$1-again" "${ids[@]}"
	tail -n 1 "$out/rxe-$1-again.txt"
	[ $rc != 0 ] || [ -n "$(unexpected "$out/rxe-$1-again")" ] || return 0
	rc=1
}

suite_has_ended() { # kernel, exit code
	local report=$out/rxe-$1 wrong='' n=0 c
	[ ! -e "$report.tap" ] || n=$(rows "$report.tap")
	if [ "$2" != 0 ]; then
		wrong="vectors differ from what is known in conformance/profiles/rxe-$1.deviations (vs-conform ended with $2)"
	elif [ "$n" -lt $ROWS ]; then
		wrong="fewer than $ROWS rows were executed"
	fi
	[ -z "$wrong" ] || tail -n 200 "$report.txt"
	for c in "$report".console.*; do [ ! -e "$c" ] || echo "a guest had something to say: $c"; done
	tail -n 1 "$report.txt"
	result "the suite on rxe of $(cat "$build/rxe/$1/release"): $n rows" "$wrong"
}

# In the background, so that a signal is heard at once.
run() { # command...: sets rc
	rc=0
	"$@" &
	running=$!
	wait $running || rc=$?
	running=''
}

for kernel; do
	start=$SECONDS
	run "$here/suite.sh" "$build" "$kernel" "$out/rxe-$kernel"
	again "$kernel" "$rc"
	suite_has_ended "$kernel" "$rc"
	echo "$((SECONDS - start)) s for the suite"
	run "$here/interop.sh" "$build" "$kernel" "${INTEROP:-short}" >"$out/programs-$kernel.txt" 2>&1
	cat "$out/programs-$kernel.txt"
	[ $rc = 127 ] || result "programs between ref0 and rxe of $kernel" "$([ $rc = 0 ] || echo "exit code $rc")"
	echo "$((SECONDS - start)) s for rxe of $kernel"
done
echo "$passed passed, $failed failed" | tee "$out/summary"
[ $failed = 0 ]
