#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# sim.sh BUILD_FOLDER [WORD] - programs on two simulated devices: vs-run --sim. WORD: only the checks whose name contains
# it. A check is named by its claim.
set -euo pipefail
export LC_ALL=C
build=$(cd "${1:?which build folder?}" && pwd) word=${2:-}
cd "$(dirname "$0")/../../.."
run=$build/bin/vs-run
example=$build/tests/two_devices
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
limit=120 passed=0 failed=0
# A child that ends by _exit or a signal leaves what the library holds for its life.
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=0}

check() { # name, command...: ends with 0
	local name=$1 rc=0
	shift
	[[ $name == *"$word"* ]] || return 0
	"$@" >"$tmp/out" 2>&1 || rc=$?
	if [ $rc = 0 ]; then
		passed=$((passed + 1))
		echo "ok   $name"
	else
		failed=$((failed + 1))
		echo "FAIL $name ($rc)"
		tail -n 30 "$tmp/out" | sed 's/^/     | /'
	fi
}

sim() { timeout $limit "$run" --sim --quiet "$@"; }

says() { # exit code, text, command...
	local want=$1 text=$2 rc=0
	shift 2
	"$@" >"$tmp/said" 2>&1 || rc=$?
	cat "$tmp/said"
	[ $rc = "$want" ] && grep -qF -- "$text" "$tmp/said"
}

# Runs something that has no end, until the condition holds, and kills it then. 1: it ended, or the condition never held.
endless() { # condition as a shell command, command...
	local condition=$1 rc=1 i
	shift
	setsid "$@" >"$tmp/endless" 2>&1 & # a group of its own: vs-run may wait for the program
	for ((i = 0; i < limit * 20; i++)); do
		if eval "$condition"; then rc=0; fi
		if [ $rc = 0 ] || ! kill -0 $! 2>/dev/null; then break; fi
		sleep 0.05
	done
	kill -KILL -- -$! 2>/dev/null || rc=1
	wait $! 2>/dev/null || true
	cat "$tmp/endless"
	return $rc
}

refused() { # text, options of vs-run
	local text=$1
	shift
	check "refused: vs-run $*" says 125 "$text" "$run" "$@"
}

same() { # files that must be alike
	local first=$1 f
	[ -s "$first" ] || return
	for f in "${@:2}"; do cmp "$first" "$f" || return; done
}

# Another environment, other names, files that are there already: the seed alone decides.
repeats() {
	local s
	for s in 1 2; do
		sim --seed $s --capture "$tmp/$s.a" --trace "$tmp/$s.at" -- "$example" >"$tmp/$s.ao" || return
		ANOTHER="$(printf '%123s' '')" sim --seed $s --capture "$tmp/$s.a-longer-name" --trace "$tmp/$s.bt" \
			--explain -- "$example" >"$tmp/$s.bo" || return
		cp "$tmp/$s.a" "$tmp/$s.first" && cp "$tmp/$s.at" "$tmp/$s.firstt"
		sim --seed $s --capture "$tmp/$s.a" --trace "$tmp/$s.at" --counters -- "$example" >"$tmp/$s.co" || return
		same "$tmp/$s.first" "$tmp/$s.a" "$tmp/$s.a-longer-name" || return
		same "$tmp/$s.firstt" "$tmp/$s.at" "$tmp/$s.bt" || return
		same "$tmp/$s.ao" "$tmp/$s.bo" "$tmp/$s.co" || return
	done
	for s in h heap-of-another-name; do # buffers that lie in the heap
		CK_FORK=no CK_RUN_CASE='devices and clock' sim --seed 3 --capture "$tmp/$s" -- "$build/tests/sim_wire" || return
	done
	same "$tmp/h" "$tmp/heap-of-another-name" || return
	if same "$tmp/1.a" "$tmp/2.a" || same "$tmp/1.at" "$tmp/2.at"; then return 1; fi
}

# As often as one would, under faults that the seed draws.
repeats_under_faults() {
	local i
	for i in 1 2 3; do
		sim --seed 7 --fault 'drop 30% any' --fault 'dup 10% any' --fault 'reorder 10% any' --capture "$tmp/f$i" \
			--trace "$tmp/f$i.vst" -- "$example" >"$tmp/f$i.out" || return
	done
	same "$tmp/f1" "$tmp/f2" "$tmp/f3" && same "$tmp/f1.vst" "$tmp/f2.vst" "$tmp/f3.vst" &&
		same "$tmp/f1.out" "$tmp/f2.out" "$tmp/f3.out" && grep -q '"ev":"fault:drop"' "$tmp/f1.vst"
}

# The clock of the example is virtual: 8 times 67 ms and not a bit more, where nobody answers.
lost_peer() {
	sim --seed 1 --explain -- "$example" >"$tmp/lost.out" 2>"$tmp/lost.err" &&
		grep -qx 'ref0 to nobody: transport retry counter exceeded, after 0.537 s' "$tmp/lost.out" &&
		grep -q 'vs-run: ref0: completion of wr_id 0x2 on QP .*RETRY_EXC_ERR: retry_exceeded: ' "$tmp/lost.err"
}

# The first SEND is lost: it comes again when the ACK timer of 67 ms has fired.
one_lost() {
	sim --seed 1 --fault 'drop 1st send from ref0' --trace "$tmp/one.vst" --counters -- "$example" >"$tmp/one" 2>&1 &&
		cat "$tmp/one" && grep -q 'ref1 received "hello": success' "$tmp/one" &&
		grep -Eq 'counter ref0 local_ack_timeout_err +9$' "$tmp/one" &&
		grep -Eq 'counter wire frames_lost +1$' "$tmp/one" &&
		[ "$(grep -c '"ev":"fault:drop"' "$tmp/one.vst")" = 1 ]
}

# A defect of one device alone: ref0 never gives up, ref1 would not. An honest one has sent 12 packets by then.
one_deviates() {
	local who
	sim --seed 1 --deviation ref1:retry7_infinite -- "$example" >"$tmp/dev" || return
	same "$tmp/lost.out" "$tmp/dev" || return
	for who in ref0:retry7_infinite retry7_infinite; do
		endless "[ \$(cat '$tmp'/d.vst.*.part 2>/dev/null | grep -c '\"ev\":\"pkt:tx\"') -gt 100 ]" \
			"$run" --sim --quiet --seed 1 --deviation $who --trace "$tmp/d.vst" -- "$example" || return
		rm -f "$tmp"/d.vst*
	done
}

# The receiver waits in vain: by then the sender has given up, and what it has sent must not be lost with the program.
# shellcheck disable=SC2016 # for another shell
killed() {
	says 137 '' timeout $limit "$run" --sim --quiet --seed 1 --fault 'drop all send' --capture "$tmp/k.pcap" \
		--trace "$tmp/k.vst" -- sh -c '"$0" & until grep -q RETRY_EXC_ERR "$1".*.part; do :; done; kill -9 $!; wait $!' \
		"$example" "$tmp/k.vst" || return
	grep -q '"ev":"cqe".*RETRY_EXC_ERR' "$tmp/k.vst" && [ "$(tail -c 1 "$tmp/k.vst" | wc -l)" = 1 ] || return
	[ -z "$(find "$tmp" -name 'k.*.part')" ] && [ "$(wc -c <"$tmp/k.pcap")" = $((24 + 8 * (16 + 66))) ] # eight SENDs
}

# What a run that was killed altogether left is older than what this one has written, and does not take its place.
left_behind() {
	sim --seed 1 --capture "$tmp/l.pcap" --trace "$tmp/l.vst" -- "$example" >/dev/null || return
	head -c 100 "$tmp/l.pcap" >"$tmp/l.pcap.999999999-0.part"
	head -n 1 "$tmp/l.vst" >"$tmp/l.vst.999999999-0.part"
	touch -d '1 hour ago' "$tmp"/l.*.part
	cp "$tmp/l.pcap" "$tmp/want.pcap" && cp "$tmp/l.vst" "$tmp/want.vst" || return
	says 0 'an earlier run that was killed left it' timeout $limit "$run" --sim --quiet --seed 1 --capture "$tmp/l.pcap" \
		--trace "$tmp/l.vst" -- "$example" || return
	cmp "$tmp/want.pcap" "$tmp/l.pcap" && cmp "$tmp/want.vst" "$tmp/l.vst" && [ "$(wc -c <"$tmp/l.pcap.999999999-0.part")" = 100 ]
}

check "two devices, the clock, waits, threads, connections; a clock that nobody moves is told" \
	says 0 'the virtual clock follows the real one' timeout $limit "$run" --sim --seed 5 -- "$build/tests/sim_wire"
check "the same with another seed" sim --seed 99 -- "$build/tests/sim_wire"
check "verbs on one of the devices" sim --seed 5 -- "$build/tests/verbs_abi"
check "librdmacm on one of the devices" sim --seed 5 -- "$build/tests/rdmacm_abi"
check "the same seed gives the same capture, trace and output; another one does not" repeats
check "so it does under faults" repeats_under_faults
check "a lost peer costs virtual time, and is explained" lost_peer
check "a lost packet comes again" one_lost
check "what an earlier run left does not take the place of what this one wrote" left_behind
check "a deviation of one device is not the other's" one_deviates
check "ibv_devices lists both" says 0 'ref1' "$run" --sim -- ibv_devices
check "the seed is told" says 0 'ref0 (10.0.0.1) and ref1 (10.0.0.2) on a simulated wire, seed 42' \
	"$run" --sim --seed 42 -- "$example"
check "whoever waits for ever hears of it" endless "grep -q 'this wait has no end' '$tmp/endless'" \
	"$run" --sim --fault 'drop all send' -- "$example"
refused 'the simulated wire is inside one process' --sim --pair -- true
refused 'ref0 has 10.0.0.1 and fd00::1' --sim --ip 127.0.0.1 -- true
refused 'touches no network' --sim --netns -- true
refused 'touches no network' --sim --allow-remote -- true
refused 'not two of a process' --sim --view -- true
refused 'nothing is offloaded' --sim --no-gso -- true
refused 'nodes are called ref0 and ref1' --sim --fault 'drop all any from me' -- true
refused 'nodes are called me and peer' --fault 'drop all any from ref0' -- true
refused 'put %p, its number, into the name' --trace "$tmp/none" -- true
refused 'there is one device without --sim' --deviation ref1:length_unchecked -- true
refused 'there is none of that name' --sim --deviation ref2:length_unchecked -- true
check "a trace that can't be written is said" says 1 'nosuch/t.vst: can' "$run" --sim --trace "$tmp/nosuch/t.vst" -- "$example"
check "a capture that can't be written is said" says 1 'nosuch/t.pcap: can' "$run" --sim --capture "$tmp/nosuch/t.pcap" -- "$example"
check "what a killed program has sent is kept" killed
echo "$passed passed, $failed failed"
[ $failed = 0 ]
