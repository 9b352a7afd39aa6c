#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# recorder.sh BUILD - what `vs-trace run` records of programs of every kind, and what is left of those that do not end well.
set -euo pipefail
build=$(cd "$1" && pwd)
tests=$build/tests
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
PATH=$build/bin:$PATH
bad=0 n=0
export ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0 # programs that are killed, or leave without cleaning up

run() { # options -- program
	rm -rf "$tmp/t"
	timeout 60 vs-trace run -o "$tmp/t" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
}

count() { cat "$tmp"/t/calls-*.vst | grep -c "$1" || true; }

is() { # what, want, got
	n=$((n + 1))
	if [ "$2" = "$3" ]; then
		echo "ok   $1"
	else
		echo "FAIL $1: $2 are wanted, $3 are there"
		sed 's/^/     | /' "$tmp/err" | tail -5
		bad=$((bad + 1))
	fi
}

has() { is "$1" yes "$(grep -q "$2" "$3" && echo yes || echo no)"; }

posts='"ev":"verb:post_send"' recvs='"ev":"verb:post_recv"' cqes='"ev":"cqe"'

programs() {
	run --sim --seed 1 --light -- "$tests/victim" write n=5
	is "each post is recorded" 5 "$(count "$posts")"
	is "each completion" 5 "$(count "$cqes")"
	is "both contexts of a process, by their devices" 2 "$(count '"ev":"verb:open_device"')"
	run --sim --seed 1 -- "$tests/victim" write n=5
	is "with the devices' own trace nothing is told twice" 5 "$(count "$posts")"
	is "and what it does not tell, is" 2 "$(count '"ev":"verb:qp_rtr"')"
	is "causes lead from packets to posts" 5 "$(python3 - "$tmp"/t/calls-*.vst <<'PY'
import json, sys
events = [json.loads(line) for line in open(sys.argv[1])][1:]
by = {e["seq"]: e for e in events}
def root(e):
    while e and e["ev"] != "verb:post_send":
        e = by.get(e.get("cause"))
    return e
print(len({root(e)["wr"] for e in events if e["ev"] == "pkt:tx" and e.get("opc") == "WRITE_ONLY" and root(e)}))
PY
)"
	for sort in "write n=14" "send n=14" "send n=14 dereg"; do
		# shellcheck disable=SC2086 # words
		run --sim --seed 1 --light -- "$tests/victim" $sort flood batch
		is "completions that come many at once, $sort" "$(sed -n 's/^[ab] wr=\([0-9]*\).*/\1/p' "$tmp/out" | xargs)" \
			"$(python3 - "$tmp"/t/calls-*.vst <<'PY'
import json, sys
events = [json.loads(line) for line in open(sys.argv[1])][1:]
print(*(e["wr"] for e in events if e["ev"] == "cqe"))
PY
)"
	done
	run --sim --seed 1 --light -- "$tests/victim" write n=5 ex
	is "ibv_wr_* builders" 5 "$(count "$posts")"
	is "extended completion queues" 5 "$(count "$cqes")"
	run --sim --seed 1 --light -- "$tests/victim" write n=5 ex busy
	is "an extended queue that could not be destroyed" 5 "$(count "$cqes")"
	for how in "" ex; do
		# shellcheck disable=SC2086 # a word or none
		run --sim --seed 1 --light -- "$tests/victim" write n=2 len=100 halves $how
		is "the SGEs of a request stand before it${how:+, built by ibv_wr_*}" "1:50 0:50 post 1:50 0:50 post" \
			"$(python3 - "$tmp"/t/calls-*.vst <<'PY'
import json, sys
events = [json.loads(line) for line in open(sys.argv[1])][1:]
sends = {e["wr"] for e in events if e["ev"] == "verb:post_send"}
print(*("post" if e["ev"] == "verb:post_send" else f'{e["index"]}:{e["len"]}' for e in events
        if e["ev"] in ("verb:post_send", "verb:sge") and e["wr"] in sends))
PY
)"
	done
	run --sim --seed 1 --light -- "$tests/victim" send n=3 fork
	is "a child that opens the device for itself" 3 "$(count "$posts")"
	strip -o "$tmp/stripped" "$tests/victim"
	run --sim --seed 1 --light -- "$tmp/stripped" send n=3
	is "a stripped program" 3 "$(count "$posts")"
	run --ref0 --netns --ip 127.0.0.1 --light -- "$tests/opened"
	is "a program that opens the library for itself: its posts" 2 "$(count "$recvs")"
	is "its regions" 2 "$(count '"ev":"verb:reg_mr"')"
	run --sim --seed 1 --light --payload 8 -- "$tests/victim" send len=100
	is "payload when it is asked for" 1 "$(count '"ev":"verb:payload"')"
}

installed() {
	if command -v ibv_rc_pingpong >/dev/null; then
		run --pair --netns --light -- ibv_rc_pingpong -g 0 -n 20
		is "two processes, each in a file of its own" 2 "$(find "$tmp/t" -name 'calls-*.vst' | wc -l)"
		is "ibv_rc_pingpong's sends" 40 "$(count "$posts")"
		run --pair --netns --light -- ibv_rc_pingpong -g 0 -n 20 -N -t
		is "ibv_rc_pingpong -N -t: builders, an extended queue" 40 "$(count "$posts")"
	else
		echo "skip ibv_rc_pingpong: it is not installed (scripts/deps.sh apps does that)"
	fi
	if /usr/bin/python3 -c 'import pyverbs.device' 2>/dev/null; then
		run --ref0 --netns --ip 127.0.0.1 --light -- /usr/bin/python3 -c '
from pyverbs.device import Context
from pyverbs.pd import PD
from pyverbs.mr import MR
from pyverbs.cq import CQ
import pyverbs.enums as e
c = Context(name="ref0")
pd, cq = PD(c), CQ(c, 10)
mr = MR(pd, 4096, e.IBV_ACCESS_LOCAL_WRITE)
cq.poll()'
		is "pyverbs: a region" 1 "$(count '"ev":"verb:reg_mr"')"
		is "pyverbs: a poll in vain" 1 "$(count '"ev":"verb:empty_polls"')"
	else
		echo "skip pyverbs: it is not installed (scripts/deps.sh apps does that)"
	fi
}

bad_ends() {
	run --sim --seed 1 --light --inject destroy_qp:kill -- "$tests/victim" write n=5 || true
	is "a killed program: what it did is there" 5 "$(count "$posts")"
	has "and how it ended is said" 'the program was killed' "$tmp/err"
	is "nothing but the trace is left" 0 "$(find "$tmp/t" -name 'rec-*' | wc -l)"
	run --ref0 --netns --ip 127.0.0.1 --light --inject poll_cq:kill -- "$tests/victim" write || true
	is "a killed program on sockets" 1 "$(count "$posts")"
	run --sim --seed 1 --light -- "$tests/victim" write n=3 exit
	is "a program that leaves by _exit" 3 "$(count "$posts")"
	is "calls that --inject lets fail are recorded with what they returned" 1 "$(run --sim --light --inject post_send:errno=ENOMEM:when=3 -- "$tests/victim" write n=5; count '"ret":12')"
	is "and told of" 1 "$(count 'fault:inject')"
}


# vs-trace is killed, or told to end: its programs are not.
killed_itself() {
	local pid i program
	for i in "--ref0 --netns --ip 127.0.0.1" "--pair --netns"; do
		rm -rf "$tmp/t"
		if [[ $i = --pair* ]] && ! command -v ibv_rc_pingpong >/dev/null; then
			echo "skip vs-trace run $i, ended: ibv_rc_pingpong is not installed (scripts/deps.sh apps does that)"
			continue
		fi
		if [[ $i = --ref0* ]]; then program="$tests/victim send noarm wait=60000"; else program="ibv_rc_pingpong -g 0 -n 100000000"; fi
		# shellcheck disable=SC2086 # words
		vs-trace run -o "$tmp/t" $i -- $program >"$tmp/out" 2>"$tmp/err" </dev/null &
		pid=$!
		wait_for_spools "$([[ $i = --ref0* ]] && echo 1 || echo 2)"
		kill -TERM $pid
		wait $pid 2>/dev/null || true
		is "vs-trace run $i that is told to end tells its programs, and makes a trace" 0 "$(find "$tmp/t" -name 'rec-*' | wc -l)"
	done
	rm -rf "$tmp/t"
	vs-trace run -o "$tmp/t" --ref0 --netns --ip 127.0.0.1 -- "$tests/victim" send noarm wait=60000 >"$tmp/out" 2>"$tmp/err" </dev/null &
	pid=$!
	wait_for_spools 1
	program=$(basename "$tmp"/t/rec-*.spool .spool)
	kill -KILL $pid
	wait $pid 2>/dev/null || true
	vs-trace ladder "$tmp/t" >"$tmp/out" 2>"$tmp/err" || true
	has "a run that was killed is no trace yet" "vs-trace recover $tmp/t" "$tmp/err"
	vs-trace recover "$tmp/t" >"$tmp/out" 2>"$tmp/err" || true
	has "and none is made of it while its program lives" "still records there" "$tmp/err"
	kill -KILL "${program#rec-}"
	while kill -0 "${program#rec-}" 2>/dev/null; do sleep 0.05; done
	vs-trace recover "$tmp/t" >"$tmp/out" 2>"$tmp/err" || true
	is "then it is, and nothing is left over" 0 "$(find "$tmp/t" -name 'rec-*' -o -name '*.part*' | wc -l)"
}

wait_for_spools() { # how many
	for _ in $(seq 600); do
		if [ "$(find "$tmp/t" -name 'rec-*.spool' -size +0 2>/dev/null | wc -l)" -ge "$1" ]; then
			sleep 0.3 # the calls that are under way
			return
		fi
		sleep 0.1
	done
}

full_disk() {
	local limit=$((14 * 1024))
	if ! unshare -rm true 2>/dev/null; then
		echo "skip a full disk: no user namespaces here"
		return
	fi
	mkdir -p "$tmp/small"
	# shellcheck disable=SC2016 # expanded there
	timeout 120 unshare -rm bash -c 'mount -t tmpfs -o size='$limit'k tmpfs "$1" && cd "$1" &&
		{ vs-trace run -o t --sim --seed 1 --light -- "$2" write n=100000 2>err >/dev/null || true; cat err; ls -l t; tail -c 300 t/calls-*.vst; vs-trace report t | head -5; }' \
		sh "$tmp/small" "$tests/victim" >"$tmp/full" 2>&1 || true
	cp "$tmp/full" "$tmp/err"
	has "a full disk: the trace says what is missing" 'the disk took no more' "$tmp/full"
	has "its last line is whole" '"ev":"rec:end".*}$' "$tmp/full"
}

# A record whose clock is five seconds ahead, one that noted an arrival before it can have been, and one of calls alone
# beside a capture.
merging() {
	command -v ibv_rc_pingpong >/dev/null || return 0
	run --pair --netns -- ibv_rc_pingpong -g 0 -n 10
	is "packets of two processes are one" yes "$(vs-trace dma "$tmp/t" >"$tmp/err"; grep -q 'for no request' "$tmp/err" && echo no || echo yes)"
	mkdir -p "$tmp/m" "$tmp/c" "$tmp/early"
	/usr/bin/python3 - "$tmp" <<'PY'
import glob, json, sys
tmp = sys.argv[1]
for name in glob.glob(tmp + "/t/*-server-*.vst"):
    with open(name) as f, open(tmp + "/m/" + name.split("/")[-1], "w") as out:
        for line in f:
            e = json.loads(line)
            if "t" in e:
                e["t"] = str(int(e["t"]) + 5000000000)
            out.write(json.dumps(e) + "\n")
    lines = [json.loads(line) for line in open(name)]
    arrivals = [e for e in lines[1:] if e["ev"] == "pkt:rx"]
    if arrivals:
        e = arrivals[len(arrivals) // 2]
        e["t"] = str(int(e["t"]) - 5000000)
    with open(tmp + "/early/" + name.split("/")[-1], "w") as out:
        for e in lines[:1] + sorted(lines[1:], key=lambda e: int(e["t"])):
            out.write(json.dumps(e) + "\n")
header, events = None, []
for name in glob.glob(tmp + "/t/*-client-*.vst"):
    lines = [json.loads(line) for line in open(name)]
    header = lines[0]
    events += [e for e in lines[1:] if e["ev"].startswith("verb:") or e["ev"] == "cqe"]
with open(tmp + "/c/calls.vst", "w") as out:
    out.write(json.dumps(header) + "\n")
    for e in sorted(events, key=lambda e: int(e["t"])):
        e.pop("cause", None)
        out.write(json.dumps(e) + "\n")
PY
	vs-trace merge "$tmp"/t/*-client-*.vst "$tmp"/m/*.vst -o "$tmp/m" >"$tmp/err"
	has "a clock that is five seconds ahead is put back" '^server: -5 s, at most [0-9.]* [um]*s wrong' "$tmp/err"
	has "and its packets are found at both ends" ', 1[0-9][0-9] packets found at both ends' "$tmp/err"
	vs-trace merge "$tmp"/t/*-client-*.vst "$tmp"/early/*.vst -o "$tmp/early" >"$tmp/err"
	has "one arrival that was noted too early moves no clock" '^server: +0 ns, at most' "$tmp/err"
	has "and loses that packet alone" ', \(99\|1[0-9][0-9]\) packets found at both ends' "$tmp/err"
	vs-trace merge "$tmp/c/calls.vst" "$tmp/t/wire.pcap" -o "$tmp/c" >"$tmp/err"
	has "calls alone and a capture have one clock by what must come first" 'wire.pcap: -.*at most [0-9.]* [um]*s wrong' "$tmp/err"
	vs-trace ladder "$tmp/c" >"$tmp/err"
	has "and are one trace" 'SEND_FIRST' "$tmp/err"
	has "whose nodes have the names of the programs" 't(us)  client ' "$tmp/err"
}

programs
installed
bad_ends
killed_itself
merging
full_disk
echo "$((n - bad)) of $n"
[ $bad = 0 ]
