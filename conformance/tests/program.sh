#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# program.sh - the target `program`: a script is held against what a program did, and each claim of it can fail.
#
#   program.sh BUILD
set -euo pipefail
cd "$(dirname "$0")/../.."
b=${1:-build}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
passed=0 failed=0
script=conformance/tests/two_devices.drill
"${CC:-gcc}" -o "$tmp/two" transport/verbs/examples/two_devices.c -libverbs

no() {
	failed=$((failed + 1))
	printf 'check-conform: program: %s\n' "$1" >&2
	head -n 12 "$tmp/out" | sed 's/^/    /' >&2
}

# judge CODE CLAIM TEXT [ARGS...]: $tmp/s.drill against the program
judge() {
	local want=$1 claim=$2 text=$3 rc=0
	shift 3
	"$b/bin/vs-conform" --program "${program:-$tmp/two}" --file "$tmp/s.drill" -v "$@" >"$tmp/out" 2>&1 || rc=$?
	if [ "$rc" != "$want" ]; then
		no "$claim: exit code $rc, not $want"
	elif ! grep -qF -- "$text" "$tmp/out"; then
		no "$claim: does not say: $text"
	else
		passed=$((passed + 1))
	fi
}

# edit CLAIM SED TEXT: the script with one claim changed fails, and says so
edit() {
	sed "$2" "$script" >"$tmp/s.drill"
	if cmp -s "$script" "$tmp/s.drill"; then no "$1: nothing was changed"; fi
	judge 1 "$1" "$3"
}

cp "$script" "$tmp/s.drill"
judge 0 "the program does what the script says" "1 PASS"
judge 0 "whatever the keys are" "1 PASS" --seed 7
edit "the MTU" 's/mtu=1024/mtu=512/' "mtu of q is 1024, not 512"
edit "the first PSN" 's/psn=0x123456/psn=0x123457/' "psn of q is 0x123456, not 0x123457"
edit "attributes" 's/retry_cnt=7/retry_cnt=6/' "retry_cnt of q is 7, not 6"
edit "access of a region" '0,/local_write,remote_write/s//local_write/' "access local_write,remote_write, not local_write"
edit "bytes of a region" '0,/len=4096/s//len=4095/' "4096 bytes were registered, not 4095"
edit "wr_id of a receive" 's/recv wr=1/recv wr=2/' "a receive with wr_id=1 was posted instead of wr_id=2"
edit "room of a receive" 's/recv wr=1 buf/recv wr=1 buf[0:9]/' "has room for 4096 bytes, not 9"
edit "bytes of a request" 's/buf\[0:6\]$/buf[0:7]/' "the request has 6 bytes, not 7"
edit "wr_id of a request" 's/post send wr=2 buf.0:6/post send wr=3 buf[0:6/' "wr_id=2 was posted instead of wr_id=3"
edit "the operation" 's/post write/post read/' "the request is RDMA_WRITE, not RDMA_READ"
edit "where to" 's/to=B.buf$/to=B.buf[1:24]/' "the request is for address"
edit "flags" 's/post write wr=2/post write wr=2 fence/' "the flags of the request are"
edit "a packet" 's/SEND_ONLY psn=+0 ackreq/SEND_ONLY psn=+1 ackreq/' "its PSN is"
edit "a packet too few" '/repeat 8/s/8/7/' "came here, and nothing in the script takes it"
edit "memory" 's/777269747465/777269747466/' "buf[5] is 0x65, not 0x66"
edit "memory of a region that stays" 's/^mr   B.buf.*/&\nmr   B.more len=1/; s/expect B.buf.0:6.*/expect B.more == 0/' "made no further ibv_reg_mr"
edit "a status" 's/cqe wr=2 SEND SUCCESS/cqe wr=2 SEND RNR_RETRY_EXC_ERR/' "cqe wr=2 SEND SUCCESS came"
edit "a state" 's/state ERR/state RTS/' "q is in state ERR"
edit "a counter" 's/rcvd_pkts >= 2/rcvd_pkts >= 99/' "rcvd_pkts is"
edit "a call that was accepted" 's/destroy q/modify state=RTS refused/' "ibv_modify_qp"
edit "one call more" 's/^B    destroy q/B    destroy q\nA    post send wr=9 buf[0:1]/' "instead of wr_id=9"
edit "one object more" 's/^B    post recv/mr   B.more len=8\nB    post recv/' "the program made no further ibv_reg_mr on B"
edit "a request that no line claims" '/^A    post send wr=2 buf.0:18/,/^A    state/d; s/^B    destroy q/waive leftover_packet "not what this is about"\nwaive leftover_completion "the same"/' \
	"the program also posted the request wr_id=2"
edit "a fault that finds nothing" 's/^B    post recv/fault drop 1st atomic from A\nB    post recv/' "never acted"

sed 's/^node A B/node A B C/' "$script" >"$tmp/s.drill"
judge 127 "more nodes than devices" "a program has two devices"
printf 'case X-1 "t"\nqp dut.q <-> peer rc\n' >"$tmp/s.drill"
judge 127 "a script that plays the peer" "the script plays the peer"
printf 'case X-1 "t"\nnode A B\nlink latency=5us\nwait 1us\n' >"$tmp/s.drill"
judge 1 "the wire is given" "no link, device, fault none"
printf 'case X-1 "t"\nnode A B\nqp A.q <-> B.q rc\nfault drop psn=+1 from A\nwait 1us\n' >"$tmp/s.drill"
judge 1 "a fault that only a script knows" "psn=+ and qp= are not known yet"
printf 'case X-1 "t"\nmatrix text = this that\nnode A B\nwait 1us\n' >"$tmp/s.drill"
program="grep -q \$text /etc/hostname" judge 1 "a program without devices" "did the program open a device?"
TMPDIR=$tmp/none judge 1 "no room for traces" "TMPDIR says where"
program="$tmp/none" judge 1 "no such program" "did the program open a device?"

printf 'check-conform: program: %d claims hold, %d do not\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
