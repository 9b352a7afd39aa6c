#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# agent.sh - vs-conform --agent and vs-agent: what goes wrong on the way costs one case and is said in a line; and the suite on
# ref0 behind an agent gives the verdicts that it gives without one.
#
#   agent.sh BUILD [REPORT [CASE...]]   REPORT: a JSON report of the suite on ref0, which is compared with; without it
#                                       the suite is left out. CASE: these alone
set -euo pipefail
cd "$(dirname "$0")/../.."
build=$(cd "${1:-build}" && pwd)
conform=$build/bin/vs-conform
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
# Under names of this test's own, so that those of another are not taken for them.
mkdir "$tmp/of"
agent=$tmp/of/vs-agent shim=$tmp/of/agent_shim
ln -s "$build/bin/vs-agent" "$agent"
ln -s "$build/tests/agent_shim" "$shim"
passed=0 failed=0

ok() { passed=$((passed + 1)); }
no() {
	failed=$((failed + 1))
	printf 'agent.sh: %s\n' "$1" >&2
	if [ -s "$tmp/out" ]; then head -n 20 "$tmp/out" | sed 's/^/    /' >&2; fi
}
says() { if grep -qF -- "$2" "$tmp/out"; then ok; else no "$1: does not say: $2"; fi; }

# expect CODE CLAIM TEXT ARGS...
expect() {
	local want=$1 claim=$2 text=$3 rc=0
	shift 3
	timeout 60 "$conform" "$@" >"$tmp/out" 2>&1 || rc=$?
	if [ "$rc" != "$want" ]; then no "$claim: exit code $rc, not $want"; else says "$claim" "$text"; fi
}

# ---- who never was there ----

expect 2 "a command that is not there" "ended with code 127 during the greeting: sh: 1: nonesuch: not found" --agent nonesuch RSP-017
expect 2 "what the command says is shown" "code 255 during the greeting: ssh: no route to host" \
	--agent 'echo "ssh: no route to host" >&2; exit 255' RSP-017
expect 2 "an end at once" "ended with code 0 during the greeting" --agent true RSP-017
expect 2 "somebody else answers" "no agent answered there; what came was: Welcome?[31m" --budget 1 \
	--agent "printf 'Welcome\\033[31m\\n'; exec sleep 30" RSP-017
expect 2 "nobody answers" "no agent answered there" --budget 1 --agent 'exec sleep 30' RSP-017
# shellcheck disable=SC2016 # expanded by the agent's shell
expect 2 "another version" "speaks version 3 of the protocol, and this vs-conform 2" \
	--agent 'read -r a; read -r a b c d; echo "verbscope 3 agent $d 9.9"; exec sleep 30' RSP-017
# shellcheck disable=SC2016
expect 2 "an agent that answers nonsense" "the agent's answer to device makes no sense" \
	--agent 'read -r a; read -r a b c d; echo "verbscope 2 agent $d 9.9"; read -r a; echo "= 1 5 6 ok what"; exec sleep 30' RSP-017
expect 2 "a device that the agent has not" "there is no device nonesuch" --agent "$agent" --device nonesuch RSP-017
expect 2 "settings of the simulator" "--agent goes with --device NAME" --agent "$agent" --device sim:x RSP-017
expect 0 "a greeting of the login" "1 PASS" --agent "echo Welcome; echo; exec $agent" --device ref0 QPS-001
expect 0 "an agent under vs-run" "1 PASS" --agent "$build/bin/vs-run -- $agent" QPS-001
expect 0 "an agent at a terminal" "5 PASS" -j1 --agent "$shim pty 0 0 $agent" RSP-017

expect 0 "two agents, and nobody between them" " 3 PASS, 6 SKIP" --agent "$agent" --agent "$agent" --device ref0 --peer loop \
	REQ-041 ROB-008

# ---- what costs one case ----

# The first start tries whether there is an agent, the second is that of the worker.
one_case() { # MODE TEXT
	echo 0 >"$tmp/count"
	SHIM_COUNT=$tmp/count expect 1 "$1 costs one case" "2 PASS, 1 ERROR" -j1 --budget 4 \
		--agent "$shim $1 40 1 $agent" --device ref0 QPS-001 'RSP-017[mtu=256]' 'RSP-017[mtu=1024]'
	says "$1 is said" "$2"
}
one_case kill "the agent is gone: its command ended with code 7 during"
one_case hang "the agent did not answer within 2.0 s"
one_case garbage "the agent talks garbage: you have new mail"
one_case long "the agent talks garbage: a line of more than 16384 bytes"
one_case half "the agent is gone: its command ended with code 0 during"
one_case binary "the agent "
if [ "$(tr -d '\n\t -~' <"$tmp/out" | wc -c)" -gt 0 ]; then no "bytes of the agent reach the terminal"; else ok; fi
echo '* now "it takes its host with it"' >"$tmp/known"
echo 0 >"$tmp/count"
SHIM_COUNT=$tmp/count expect 0 "a device that is known to take its agent with it" "1 XFAIL" -j1 --budget 4 --deviations "$tmp/known" \
	--agent "$shim kill 40 1 $agent" --device ref0 QPS-001 'RSP-017[mtu=256]' 'RSP-017[mtu=1024]'
echo 0 >"$tmp/count"
expect 1 "an agent that can't be had again" "3 ERROR" -j1 --agent "n=\$(cat $tmp/count); echo \$((n + 1)) >$tmp/count; \
[ \$n = 0 ] || { echo 'ssh: gone' >&2; exit 255; }; exec $agent" --device ref0 QPS-001 QPS-002 QPS-034
says "why it can't be had" "ended with code 255 during the greeting: ssh: gone"

# ---- time ----

mkdir -p "$tmp/c/cases/RSP"
cp conformance/inventory.tsv "$tmp/c/"
cat >"$tmp/c/cases/RSP/RSP-017.drill" <<'END'
case RSP-017 "A claim of the tests"
class N
qp   dut.q <-> peer rc
mr   dut.buf len=64
dut  post send wr=1 buf
peer< SEND_ONLY psn=+0 as first
peer> ACK psn=+0 msn=1
dut  cqe wr=1 SEND SUCCESS not before first + 1s
END
expect 1 "a completion that is too early" "1 FAIL" -j1 --cases "$tmp/c" --agent "$agent" --device ref0 RSP-017
echo 0 >"$tmp/count"
SHIM_COUNT=$tmp/count expect 1 "behind a slow way nothing is claimed" "1 INCONCLUSIVE" -j1 --cases "$tmp/c" \
	--agent "$shim slow 2 1 $agent" --device ref0 RSP-017

# ---- the agent, on its own ----

# tell CLAIM INPUT TEXT: exit code 0, and the text in what it says
tell() {
	if printf '%b' "$2" | timeout 10 "$agent" --device ref0 >"$tmp/out" 2>&1; then says "$1" "$3"; else no "$1: exit code $?"; fi
}
hello='verbscope 2 hello x\n'
tell "nothing is answered before the greeting" "1 ping\n$hello" "verbscope 2 agent x"
if grep -q '^=' "$tmp/out"; then no "something was answered before the greeting"; else ok; fi
tell "another version is answered with ours" "verbscope 7 hello x\n" "verbscope 2 agent x"
tell "half a line" "${hello}1 ping\n2 pin" "= 1 "
if grep -q '^= 2' "$tmp/out"; then no "half a line was taken for one"; else ok; fi
tell "a request that is none" "${hello}1 fly\n" "! 0 over this request makes no sense: fly"
tell "nothing is answered behind that" "${hello}1 fly\n2 ping\n" "! 0 over"
if grep -q '^= 2' "$tmp/out"; then no "a session went on that was over"; else ok; fi
tell "a new greeting begins anew" "${hello}1 fly\n${hello}2 ping\n" "= 2 "
tell "a line that is too long" "$hello$(head -c 20000 /dev/zero | tr '\0' a)\n" "! 0 over a line is too long"
tell "an object that is not there" "${hello}1 device ref0\n2 run 1 dut 1\n3 state 7\n" "! 0 over this request makes no sense: state"
tell "an object of another kind" "${hello}1 device ref0\n2 run 1 dut 1\n3 pd 0\n4 state 1\n" "! 0 over"
tell "memory outside of a region" "${hello}1 device ref0\n2 run 1 dut 1\n3 mr 0 0 1 10\n0 put 1 f aabb\n" "! 0 over"
tell "a connection that is not there" "${hello}1 device ref0\n2 run 1 dut 1\n3 cm 0 00000000000000000000ffff7f485601\n4 cm_establish 1\n" \
	"! 0 over this request makes no sense: cm_establish"
tell "connections twice" "${hello}1 device ref0\n2 run 1 dut 1\n3 cm 0 00000000000000000000ffff7f485601\n4 cm 0 00000000000000000000ffff7f485601\n" \
	"! 0 over this request makes no sense: cm"
tell "a call without a run" "${hello}1 device ref0\n2 pd 0\n" "! 0 over"
tell "a run without a device" "${hello}1 run 1 dut 1\n" "failed no device is open"
tell "lines of a terminal" "verbscope 2 hello x\r\n1 ping\r\n" "= 1 "
refuses() { # CLAIM TEXT ARGS...
	local rc=0
	timeout 10 "$agent" "${@:3}" </dev/null >"$tmp/out" 2>&1 || rc=$?
	if [ "$rc" = 2 ]; then says "$1" "$2"; else no "$1: exit code $rc"; fi
}
refuses "an option that is none" "is not known" --nonsense
refuses "an option without its value" "--device needs a value" --device
refuses "an argument" "there are no arguments" x
refuses "a device of the stream that is not there" "/nonexistent: can't be opened" --serial /nonexistent
"$agent" --help >"$tmp/out"
"$agent" --version >>"$tmp/out"
if grep -q '^usage: vs-agent' "$tmp/out" && grep -q '^vs-agent (Verbscope)' "$tmp/out"; then ok; else no "help"; fi
if ldd "$agent" | grep -vE 'linux-vdso|libc\.so|ld-linux|lib[aub]+san|libstdc\+\+|libm\.so|libgcc_s|not a dynamic' >"$tmp/out"; then
	no "vs-agent needs more than libc"
else
	ok
fi

# ---- an interrupt ----

ln -s "$agent" "$tmp/agent"
"$conform" -q --agent "$tmp/agent" --device ref0 --json "$tmp/part.json" >"$tmp/out" 2>&1 &
pid=$!
for _ in {1..100}; do # until workers have agents: one alone is that of the try
	[ "$(pgrep -cf "^$tmp/agent" || true)" -lt 2 ] || break
	sleep 0.1
done
kill -INT $pid || true
rc=0
wait $pid || rc=$?
if [ $rc = 1 ] && grep -q '"partial": true' "$tmp/part.json"; then ok; else no "an interrupt leaves a report of what came (exit code $rc)"; fi
if grep -q '"verdict": "ERROR"' "$tmp/part.json"; then no "an interrupt is no fault of the agent"; else ok; fi
for _ in 1 2 3 4 5 6 7 8 9 10; do
	pgrep -f "^$tmp/agent" >/dev/null || break
	sleep 0.2
done
if pgrep -f "^$tmp/agent" >/dev/null; then no "an agent was left behind"; else ok; fi

# Nor of the others, whoever had to be ended.
for _ in {1..50}; do
	pgrep -f "^($shim|$agent)" >"$tmp/out" || break
	sleep 0.1
done
if [ -s "$tmp/out" ]; then no "a command was left behind"; else ok; fi

# ---- the same verdicts ----

# But for what ref0 becomes in a process of the runner's own: it is set up, gets other addresses, loses packets on request.
alone='the script sets up the device|the MTU of the port is another|nobody takes this port down|nobody is on the wire who could'
alone+='|an agent does not tell this limit|writes the IP header itself|no GID of RoCEv2 over IPv6|whether congestion control is on'
alone+='|nobody changes the addresses of this device|there is no librdmacm'

if [ $# -gt 1 ]; then
	"$conform" -q --agent "$agent" --device ref0 --json "$tmp/agent.json" "${@:3}" >"$tmp/out" 2>&1 || no "the suite behind an agent"
	"$conform" diff "$2" "$tmp/agent.json" >"$tmp/diff" 2>&1 || true
	# Those that were left out are gone from the report.
	grep -e '->' "$tmp/diff" | grep -v -- '-> -' | grep -vE -- "-> SKIP  .*($alone)" >"$tmp/out" || true
	if [ -s "$tmp/out" ] || ! [ -s "$tmp/diff" ]; then no "other verdicts behind an agent"; else ok; fi
fi

printf '%d passed, %d failed\n' $passed $failed
[ $failed = 0 ]
