#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# run.sh - vs-conform itself: verdicts by class and evidence, selection, reports, workers that die or hang.
#
#   run.sh BUILD
set -euo pipefail
cd "$(dirname "$0")/../.."
bin=$PWD/${1:-build}/bin/vs-conform
[ -x "$bin" ] || bin=${1:-build}/bin/vs-conform
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
passed=0 failed=0

ok() { passed=$((passed + 1)); }
no() {
	failed=$((failed + 1))
	printf 'check-conform: %s\n' "$1" >&2
	if [ -s "$tmp/out" ]; then head -n 20 "$tmp/out" | sed 's/^/    /' >&2; fi
}

# expect CODE CLAIM TEXT ARGS...: exit code, and a text in what it says ("" for none)
expect() {
	local want=$1 claim=$2 text=$3 rc=0
	shift 3
	"$bin" "$@" >"$tmp/out" 2>&1 || rc=$?
	if [ "$rc" != "$want" ]; then
		no "$claim: exit code $rc, not $want"
	elif ! grep -qF -- "$text" "$tmp/out"; then
		no "$claim: does not say: $text"
	else
		ok
	fi
}

# script NAME CLASS BODY: conformance folder of the tests, group QPS and RSP
script() {
	mkdir -p "$tmp/c/cases/${1%%-*}"
	printf 'case %s "A claim of the tests"\nclass %s\n%s\n' "$1" "$2" "$3" >"$tmp/c/cases/${1%%-*}/$1.drill"
}
t() { # the folder of the tests
	local want=$1 claim=$2 text=$3
	shift 3
	expect "$want" "$claim" "$text" --cases "$tmp/c" "$@"
}

wrote() { # text in the file $tmp/w, claim, ARGS...
	rm -f "$tmp/w"
	"$bin" --cases "$tmp/c" "${@:3}" >"$tmp/out" 2>&1 || true
	if grep -qF -- "$1" "$tmp/w"; then ok; else no "$2"; fi
}

mkdir -p "$tmp/c"
cp conformance/inventory.tsv "$tmp/c/"
qp='qp dut.q <-> peer rc state=RESET'
wrong=$'qp dut.q <-> peer rc state=RESET\ndut state RTS'
one_of() { printf '%s\ndut one of\n  %s: state RESET\n  other: state ERR\n' "$qp" "$1"; }

script RSP-017 N "$wrong"                    # quoted1
script QPS-032 N "$wrong"                    # impl
script RSE-016 N "$wrong"                    # quoted2
script QPS-002 A "$wrong"                    # API
script QPS-058 S "$wrong"                    # advice
script QPS-016 I "$wrong"                    # a set
script ROB-002 R "$wrong"                    # reported
t 1 "a quoted rule is violated" "violates C9-105" RSP-017
t 1 "a rule without a public clause" "differs from expected behaviour (no public clause)" QPS-032
t 1 "a restated rule" "differs from the rule as restated by" RSE-016
t 1 "an API contract" "breaks the API contract" QPS-002
t 0 "advice is a warning" "1 WARN" QPS-058
t 1 "advice counts with --strict" "1 FAIL" --strict QPS-058
t 1 "outside of the allowed set" "is none of the allowed behaviours" QPS-016
t 0 "class R never fails" "1 WARN" --strict ROB-002
t 1 "expected and seen are said" "expected: dut state RTS" RSP-017
t 1 "the command to run it again" "again: vs-conform --cases '$tmp/c' RSP-017" RSP-017

script QPS-016 I "$(one_of this)"
t 0 "a variant is recorded" "1 VARIANT" QPS-016
wrote '"this"' "the profile has the variant" --profile-out "$tmp/w" QPS-016
script QPS-016 I "$(one_of expected)"
t 0 "the expected alternative passes" "1 PASS" QPS-016
script QPS-016 I "$(one_of warn_x)"
t 0 "an alternative that warns" "1 WARN" QPS-016
t 1 "and fails with --strict" "1 FAIL" --strict QPS-016
script QPS-016 I "$(one_of deviation_x)"
t 0 "a deviation within class I" "1 WARN" QPS-016
script QPS-032 N "$(one_of deviation_x)"
t 1 "a deviation within class N" "1 FAIL" QPS-032

script SRQ-015 R 'skip "nobody can"'
t 127 "only skipped" "1 SKIP" SRQ-015
t 0 "the reason of a skip" "nobody can" -v SRQ-015 QPS-058
printf 'RSP-017 2024-10 "it is known"\n' >"$tmp/known"
t 0 "known to fail" "1 XFAIL" --deviations "$tmp/known" RSP-017
printf 'RSP-017 2024-10 "it is known"\n# nothing\n\nSRQ-* x y z\n' >"$tmp/known"
script RSP-017 N "$qp"$'\ndut state RESET'
t 0 "known to fail, and holds" "1 XPASS" --deviations "$tmp/known" RSP-017
script RSP-017 N $'qp dut.q <-> peer rc timeout=10\nmr dut.buf len=64\ndut post send wr=1 buf[0:8]\npeer< SEND_ONLY psn=+0\npeer< SEND_ONLY psn=+0 within 1us'
t 1 "what comes late is waited for, and told" "too late: not within 1 us" RSP-017
t 0 "and not where that is known" "nothing came within 1 us" -v --deviations "$tmp/known" RSP-017
script RSP-017 N "$qp"$'\ndut state RESET'
printf 'RSP-017 ~2024-10 "at times"\n' >"$tmp/known"
t 0 "known to fail at times, and holds" "1 PASS" --deviations "$tmp/known" RSP-017
script RSP-017 N "$wrong"
t 0 "known to fail at times, and does" "1 XFAIL" --deviations "$tmp/known" RSP-017
script RSP-017 N "$qp"$'\ndut state RESET'
printf 'RSP-017\n' >"$tmp/known"
t 2 "a deviation file that is wrong" "known:1: a line says CASE SINCE REASON" --deviations "$tmp/known" RSP-017

odd=(--device sim:deviation=ackreq_unreliable UD-012)
expect 1 "a rule of the wire that is broken" "breaks a rule of the wire, ackreq_unreliable" "${odd[@]}"
printf 'rule:ackreq_unreliable 2024-10 "it is known"\n' >"$tmp/known"
expect 0 "a rule that is known to be broken" "1 XFAIL" --deviations "$tmp/known" "${odd[@]}"
expect 1 "and nothing else is known by that" " FAIL" --deviations "$tmp/known" --device sim:deviation=rnr_early RTO-031
printf 'rule:icrc_bad 2024-10 "it is known"\n' >"$tmp/known"
expect 1 "another rule is known to be broken" "1 FAIL" --deviations "$tmp/known" "${odd[@]}"
printf 'rule:nonesuch x y\n' >"$tmp/known"
t 2 "a rule that is none" "known:1: there is no rule nonesuch" --deviations "$tmp/known" RSP-017

script QPS-001 N 'dut statte RESET'
t 1 "a wrong script is an ERROR" "1 ERROR" QPS-001
t 1 "a wrong script costs itself alone" "1 PASS, 1 ERROR" QPS-001 RSP-017
script QPS-001 I "$qp"$'\ndut state RESET'
t 1 "--check compares the class" "its class is not that of the row" --check
script QPS-003 A "$qp"$'\ndut state RESET'
t 1 "--check counts vectors" "1 vectors, and the row has 3" --check
t 1 "--check wants the clause of an API" "it names no clause: a row of class A" --check
script QPS-032 N "clause C9-1"$'\n'"$qp"$'\ndut state RESET'
t 1 "--check knows where there is no clause" "the inventory knows of none in public: C9-1" --check
script QPS-999 A "$qp"$'\ndut state RESET'
t 1 "--check knows the rows" "the inventory has no row for QPS-999" --check
cp "$tmp/c/cases/RSP/RSP-017.drill" "$tmp/c/cases/QPS/RSP-017.drill"
t 1 "--check knows the folders" "by its id it belongs at cases/RSP/RSP-017.drill" --check
rm "$tmp/c/cases/QPS/RSP-017.drill" "$tmp/c/cases/QPS/QPS-999.drill"

t 2 "a misspelt name" "did you mean RSP-017?" RSP-O17
t 2 "a name that is nothing" "there is no such case: --list names all" nonsense
t 2 "a vector that is none" "has no such vector" 'RSP-017[x=1]'
t 0 "patterns" "RSP-017" --list 'R?P*'
expect 2 "an option that is none" "is not known" --nonsense
expect 2 "a number that is none" "--jobs x: it takes a number" --jobs x
expect 2 "a device that is none" "there is no" --device nonesuch
expect 2 "a peer that is none" "it is udp:ADDRESS" --peer x
expect 2 "a peer without an address" "it needs ip=ADDRESS" --peer raw:eth0
expect 2 "a peer without an interface" "raw: takes the name of an interface" --peer raw:,ip=10.0.0.1
expect 2 "an address that is none" "ip=10.0.0: this is no IPv4 address" --peer raw:eth0,ip=10.0.0
expect 2 "an address of a group" "ip=239.1.1.1: this is no address of a host" --peer raw:eth0,ip=239.1.1.1
expect 2 "an IPv6 address that is none" "ip6=x: this is no IPv6 address" --peer raw:eth0,ip6=x
expect 2 "a MAC that is none" "mac=1: a MAC address is written as" --peer raw:eth0,mac=1
expect 2 "a MAC of a group" "the MAC address of a group" --peer raw:eth0,mac=01:00:5e:00:00:01
expect 2 "a VLAN that is none" "vlan=4095: it is a number from 1 to 4094" --peer raw:eth0,vlan=4095
expect 2 "a key of a peer that is none" "colour=red: it is one of ip=, ip6=" --peer raw:eth0,colour=red
expect 2 "a socket without its other end" "it needs remote=PATH" --peer unix:x,ip=10.0.0.1
expect 2 "several peers at one socket" "a % in both paths becomes the number of each" --peer unix:x,remote=y,ip=10.0.0.1,count=2
expect 2 "a path too long" "unix: takes a path of 1 to 107 bytes" --peer "unix:$(printf '%0110d' 0),ip=10.0.0.1"
expect 2 "more processes than peers" "--jobs 2: --peer raw:eth0,ip=10.0.0.1 is for 1 process" --device ref0 -j 2 --peer raw:eth0,ip=10.0.0.1
expect 2 "an encapsulation that is none" "--encap x: it is one of" --encap x
expect 2 "no cases" "can't be opened" --cases "$tmp/none"
expect 0 "help" "usage: vs-conform" --help
expect 1 "a setting that the simulator has not" "the simulator has no setting" --device sim:x RSP-017
t 2 "a report that can't be written" "/nonexistent/x: can't be written" --json /nonexistent/x RSP-017
t 2 "a report where a folder is" "/c: can't be written (Is a directory)" --junit "$tmp/c" RSP-017
if grep -q vectors "$tmp/out"; then no "what can't be written is said before the run"; else ok; fi
if [ -w /dev/full ]; then
	mkdir "$tmp/kept"
	TMPDIR=$tmp/kept t 2 "a full disk" "the results are kept in $tmp/kept/vs-conform-" --json /dev/full RSP-017
	if grep -q '"id": "RSP-017"' "$tmp"/kept/*; then ok; else no "results outlive a full disk"; fi
fi
# No disk but a small one, no libibverbs but an empty file: where a namespace of one's own is allowed.
bare() { unshare --user --map-root-user --mount bash -c "$1" 2>&1; }
if bare 'mount -t tmpfs -o size=4k tmpfs /mnt' >/dev/null; then
	mkdir "$tmp/small"
	bare "mount -t tmpfs -o size=4k tmpfs '$tmp/small' && TMPDIR='$tmp/kept' '$bin' --cases '$tmp/c' --html '$tmp/small/r' RSP-017; ls '$tmp/small'" >"$tmp/out" || true
	if grep -q 'small/r: can.t be written (No space left on device)' "$tmp/out" && ! grep -q '^r' "$tmp/out"; then ok; else no "a full disk has no half report"; fi
	bare "mount -t tmpfs -o ro tmpfs '$tmp/small' && '$bin' --cases '$tmp/c' --json '$tmp/small/r' RSP-017" >"$tmp/out" || true
	if grep -q 'small/r: can.t be written (Read-only file system)' "$tmp/out"; then ok; else no "a disk that can't be written"; fi
	lib=$(ldconfig -p | awk '$1 == "libibverbs.so.1" && !n++ { print $NF }')
	if [ -n "$lib" ]; then
		bare "mount --bind /dev/null '$lib' && '$bin' --cases '$tmp/c' --device mlx5_0 RSP-017" >"$tmp/out" || true
		if grep -q 'device mlx5_0: there is no libibverbs' "$tmp/out"; then ok; else no "no libibverbs"; fi
		bare "mount --bind /dev/null '$lib' && '$bin' --cases '$tmp/c' QPS-058" >"$tmp/out" || true
		if grep -q '1 vectors in' "$tmp/out"; then ok; else no "the simulator needs no libibverbs"; fi
	fi
fi
wrote '"verdict": "PASS"' "results as JSON" --json "$tmp/w" RSP-017
wrote '| RSP-017 | Duplicate SEND | N | quoted1 |' "the coverage table" --coverage "$tmp/w" RSP-017
"$bin" --cases "$tmp/c" --device ref0 --json "$tmp/beside.json" RSP-017 >"$tmp/out" 2>&1 || true
wrote '| 1/1 | PASS | PASS |' "another target's column" --coverage "$tmp/w" --beside "$tmp/beside.json" RSP-017
t 2 "a column of what is no report" "is no report of vs-conform" --coverage "$tmp/w" --beside <(echo '{}') RSP-017

# ---- reports ----

ladder=$'qp dut.q <-> peer rc\nmr dut.buf len=64\ndut post send wr=1 buf\npeer< SEND_ONLY psn=+0\n'
script RSP-017 N "$ladder"$'peer> NAK psn_sequence psn=+0 msn=0\npeer< nothing for 1ms'
t 1 "a failing case prints its exchange" "|------- SEND_ONLY fffffa ackreq 64 bytes" RSP-017
wrote '<failure message="violates C9-105' "JUnit says why" --junit "$tmp/w" RSP-017 QPS-001 QPS-058 SRQ-015 ROB-002
if command -v xmllint >/dev/null; then
	if xmllint --noout --schema conformance/tests/junit.xsd "$tmp/w" 2>"$tmp/out"; then ok; else no "JUnit is what consumers know"; fi
fi
wrote 'not ok 1 - RSP-017 A claim of the tests' "TAP says which" --tap "$tmp/w" RSP-017 SRQ-015
if command -v prove >/dev/null; then # which knows TAP up to version 13
	sed 1d "$tmp/w" >"$tmp/w.tap"
	prove -e cat "$tmp/w.tap" >"$tmp/out" 2>&1 || true
	if grep -q 'Tests: 2 Failed: 1' "$tmp/out" && ! grep -q 'Parse errors' "$tmp/out"; then ok; else no "prove reads TAP"; fi
fi
if [ "$("$bin" --cases "$tmp/c" --tap - RSP-017 | head -n 1)" = 'TAP version 14' ]; then ok; else no "TAP alone on standard output"; fi
script RSP-017 N "$(printf '%s' "$ladder"; printf '# </script><img src=x onerror=alert(1)> "\\\n')"
wrote '\u003c/script>' "the page holds texts of scripts as texts" --html "$tmp/w" RSP-017
if grep -q '</script><img' "$tmp/w" || grep -qE '(src|href)="?https?:' "$tmp/w"; then no "the page is closed in itself"; else ok; fi
script RSP-017 N "$ladder"$'peer> NAK psn_sequence psn=+0 msn=0\npeer< nothing for 1ms'
wrote '"capture":' "the page has captures" --html "$tmp/w" RSP-017 QPS-058
if command -v chromium >/dev/null; then
	cat "$tmp/w" conformance/tests/page.html >"$tmp/page.html"
	timeout 60 chromium --headless --no-sandbox --disable-gpu --user-data-dir="$tmp/chromium" --virtual-time-budget=2000 \
		--dump-dom "file://$tmp/page.html" 2>/dev/null | grep '<title>' >"$tmp/out" || true
	if grep -q 'page: all holds' "$tmp/out"; then ok; else no "the page in a browser"; fi
fi

report() { "$bin" --cases "$tmp/c" --json "$tmp/$1.json" RSP-017 QPS-058 >/dev/null || true; }
script RSP-017 N "$qp"$'\ndut state RESET'
report a
script RSP-017 N "$wrong"
report b
if python3 -c 'import jsonschema' 2>/dev/null; then
	if python3 -W ignore -c 'import json, jsonschema, sys
schema, *reports = (json.load(open(path)) for path in sys.argv[1:])
for r in reports: jsonschema.Draft7Validator(schema).validate(r)' \
		docs/conformance-report.schema.json "$tmp/a.json" "$tmp/b.json" "$tmp/beside.json" >"$tmp/out" 2>&1; then ok; else no "JSON follows its schema"; fi
fi
expect 0 "no difference" "no difference" diff "$tmp/a.json" "$tmp/a.json"
expect 1 "a regression" "RSP-017  PASS -> FAIL" diff "$tmp/a.json" "$tmp/b.json"
expect 0 "the other way it is better" "better:" diff "$tmp/b.json" "$tmp/a.json"
expect 2 "diff of what is no report" "is no report of vs-conform" diff "$tmp/a.json" <(echo '{}')
expect 2 "diff of nothing" "diff takes two reports" diff "$tmp/a.json"

# ---- ref0, through libibverbs ----

script RSP-017 N "$ladder"$'peer> ACK psn=+0 msn=1\ndut cqe wr=1 SEND SUCCESS'
t 0 "a script on ref0" "1 vectors in" --device ref0 RSP-017
t 0 "and it passes" "1 PASS" --device ref0 RSP-017
script RSP-017 N "$ladder"$'peer> ACK psn=+0 msn=1\ndut cqe wr=1 RECV SUCCESS'
t 1 "and fails" "|<------ ACK fffffa msn=1" --device ref0 RSP-017
script RSP-017 N "$ladder"$'peer> ACK psn=+0 msn=1 ip_id=3\ndut cqe wr=1 SEND SUCCESS'
t 127 "what a socket can't send is a SKIP" "a UDP socket writes the IP header itself" -v --device ref0 RSP-017
script RSP-017 N $'target sim "it is about virtual time"\n'"$qp"$'\ndut state RESET'
t 127 "target sim is for the simulator alone" "it is about virtual time" -v --device ref0 RSP-017
script RSP-017 N $'node A B\nqp A.q <-> B.q rc\nmr A.src len=64\nmr B.dst len=64 access=local_write,remote_write\nA post write wr=1 src to=B.dst\nA cqe wr=1 WRITE SUCCESS\nexpect B.dst == A.src'
t 0 "two ends on one device need no peer" "1 PASS" --device ref0 --peer loop RSP-017
VS_DEVIATION=atomic_replay_lost t 0 "settings of ref0 are the user's" "1 PASS" --device ref0 RSP-017
VS_DEVIATION=nonsense t 2 "and when they are wrong it is said" "--device ref0: " --device ref0 RSP-017

# Connections, through librdmacm: a service that is no port has no header in front of its private data, one that is has.
cm=$'needs peer, cm\nwaive leftover_cm "nobody answers"\nwaive leftover_packet "nobody answers"\n'
script RSP-017 N "$cm"$'dut cm connect q service=7 private=hex"aa bb"\npeer< CM REQ service=7 private=hex"aabb00"'
t 0 "the private data of a REQ" "1 PASS" --device ref0 RSP-017
script RSP-017 N "$cm"$'dut cm connect q service=0x1061b58 private=hex"aa bb"\npeer< CM REQ service=0x1061b58 private=hex"0040"'
t 0 "a service that is a port shows the addresses" "1 PASS" --device ref0 RSP-017
script RSP-017 N "$cm"$'dut cm listen q service=7 manual\npeer> CM REQ service=7 qpn=peer.q psn=0 private=hex"0a0b"\ndut cm event REQUEST service=7 private=hex"0a0c"'
t 1 "other private data are a failure" "its private data are others" --device ref0 RSP-017
script RSP-017 N "$cm"$'dut cm connect q service=7 psn=0x123\npeer< CM REQ service=7'
t 127 "what librdmacm decides is a SKIP" "rdma_cm draws the first PSN itself" -v --device ref0 RSP-017

# What is beside the verbs: settings, faults, counters, addresses.
script RSP-017 N $'device dut mtu=1024 msn=0x41\nqp dut.q <-> peer rc\nmr dut.b len=64 access=local_write,remote_write\nexpect dut.max_mtu == 1024\npeer> WRITE_ONLY psn=+0 va=b data=8 ackreq\npeer< ACK psn=+0 msn=0x42'
t 0 "a device with settings of its own" "1 PASS" --device ref0 RSP-017
script RSP-017 N $'node A B\ndevice A mtu=1024\nqp A.q <-> B.q rc state=INIT'
t 127 "one device is not two" "can't be set up in two ways" -v --device ref0 RSP-017
script RSP-017 N $'qp dut.q <-> peer rc timeout=14\nmr dut.b len=64\nfault drop 1st data from dut\ndut post send wr=1 b\npeer< SEND_ONLY psn=+0\npeer> ACK psn=+0 msn=1\ndut cqe wr=1 SEND SUCCESS\ndut counter local_ack_timeout_err == 1'
t 0 "a fault on the wire of ref0, and a counter" "1 PASS" --device ref0 RSP-017
script RSP-017 N $'qp dut.q <-> peer rc\nfault drop 1st data from dut\nwait 1ms'
t 1 "a fault that found nothing" "drop 1st data from me" --device ref0 RSP-017
if unshare -n true 2>/dev/null || unshare -rn true 2>/dev/null; then
	script RSP-017 N $'encap rocev2-ipv6\nqp dut.q <-> peer rc flow_label=0x12345 hop_limit=9\nmr dut.b len=64\ndut post send wr=1 b\npeer< SEND_ONLY psn=+0 flow_label=0x12345 hop_limit=9\npeer> ACK psn=+0 msn=1\ndut cqe wr=1 SEND SUCCESS'
	t 0 "ref0 and its peer over IPv6" "1 PASS" --device ref0 RSP-017
fi

# ---- doctor ----

plant() { # path below the root of the tests, text
	mkdir -p "$tmp/root/$(dirname "$1")"
	echo "$2" >"$tmp/root/$1"
}
sick() { # code, claim, text: what doctor says of the planted root
	VS_CONFORM_ROOT=$tmp/root expect "$1" "$2" "$3" doctor sim
}
dev=sys/class/infiniband/mlx5_9/ports/1
plant proc/sys/net/core/rmem_max 212992
plant proc/self/status $'CapEff:\t0000000000000000'
plant proc/sys/net/unix/max_dgram_qlen 10
plant sys/class/net/eth7/type 1
plant sys/class/net/eth7/flags 0x1003
plant sys/class/net/eth7/mtu 9000
sick 0 "no device" "the kernel has no RDMA device"
sick 0 "small buffers" "net.core.rmem_max is 212992"
sick 0 "no rights" "this process may not capture"
sick 0 "a queue that is short" "only 10 frames can wait in a socket"
plant proc/self/status $'CapEff:\t0000000000002000'
sick 0 "an interface for frames" "--peer raw:eth7,ip=ADDRESS: an address in the network of the device"
plant sys/class/net/eth7/mtu 1500
sick 0 "one with small frames" "its MTU of 1500 takes no path MTU of 4096"
plant sys/class/net/eth7/flags 0x1002
sick 0 "one that is down" "eth7 is down"
plant $dev/state "1: DOWN"
sick 1 "a port that is down" "mlx5_9: port 1 is not active (1: DOWN)"
plant $dev/state "4: ACTIVE"
plant $dev/link_layer Ethernet
plant $dev/gids/0 fe80:0000:0000:0000:0000:0000:0000:0001
plant $dev/gid_attrs/types/0 "IB/RoCE v1"
sick 1 "no GID of IPv4" "mlx5_9: none of its 1 GIDs is RoCEv2 over IPv4"
plant $dev/gids/1 0000:0000:0000:0000:0000:ffff:0a00:0001
plant $dev/gid_attrs/types/1 "RoCE v2"
plant $dev/gid_attrs/ndevs/1 eth9
plant sys/class/net/eth9/mtu 1500
sick 0 "a GID of IPv4" "mlx5_9: 2 GIDs, 1 of them RoCEv2 over IPv4"
sick 0 "a small MTU" "the MTU of eth9 is 1500"
plant sys/module/rdma_rxe/x x
sick 0 "rxe has the port" "rdma_rxe is loaded"
expect 0 "doctor opens ref0" "ref0 can be opened" doctor ref0
expect 1 "doctor does not open what is not there" "nonesuch" doctor nonesuch
expect 2 "doctor takes no options" "doctor takes names of devices" doctor --x

# ---- workers that hang, die, are interrupted ----

child=
worker_of() { # the first worker of a runner that has just begun
	child=
	for _ in {1..500}; do
		read -r child _ <"/proc/$1/task/$1/children" || true
		if [ -n "$child" ]; then return; fi
		sleep 0.02
	done
}

slow=$'node A B\nqp A.q <-> B.q rc mtu=256\nmr A.src len=1000000\nmr B.dst len=1000000 access=local_write,remote_write\n'
slow+=$'repeat 60000\n  A post write wr=1 src to=B.dst\n  A cqe wr=1 WRITE SUCCESS'
script QPS-001 N "$slow"
script QPS-007 A "$qp"$'\ndut state RESET'
long=(); for _ in {1..60}; do long+=(--file "$tmp/c/cases/QPS/QPS-001.drill"); done
"$bin" --cases "$tmp/c" --jobs 1 --json "$tmp/r.json" "${long[@]}" >"$tmp/out" 2>&1 &
pid=$!
sleep 0.5
kill -INT $pid
rc=0
wait $pid || rc=$?
if [ $rc = 1 ] && grep -q '"partial": true' "$tmp/r.json" && grep -q interrupted "$tmp/out"; then ok; else no "an interrupt leaves a partial report: exit $rc"; fi

"$bin" --cases "$tmp/c" --jobs 1 --json "$tmp/r.json" "${long[@]}" >"$tmp/out" 2>&1 &
pid=$!
sleep 0.5
kill -HUP $pid
wait $pid || true
if grep -q '"partial": true' "$tmp/r.json"; then ok; else no "a terminal that went leaves a partial report"; fi

t 1 "who hangs is stopped, the others go on" "1 PASS, 1 ERROR" --budget 1 QPS-001 QPS-007
"$bin" --cases "$tmp/c" --jobs 1 QPS-001 QPS-007 >"$tmp/out" 2>&1 &
pid=$!
worker_of $pid
sleep 0.2
kill -SEGV "$child"
wait $pid || true
if grep -q 'the process died of signal 11' "$tmp/out" && grep -q '1 PASS, 1 ERROR' "$tmp/out"; then ok; else no "who dies costs itself alone"; fi

"$bin" --cases "$tmp/c" --jobs 1 "${long[@]}" >"$tmp/out" 2>&1 &
pid=$!
worker_of $pid
kill -KILL "$pid"
{ wait $pid || true; } 2>/dev/null
for _ in {1..50}; do
	[ -d "/proc/$child" ] || break
	sleep 0.1
done
if [ -n "$child" ] && [ ! -d "/proc/$child" ]; then ok; else no "workers end with the runner, however it ends"; fi

# ---- a device that goes away: its library does ----

mkdir -p "$tmp/away/bin" "$tmp/away/lib"
cp "$bin" "$tmp/away/bin/"
cp -r "$(dirname "$bin")/../lib/verbscope" "$tmp/away/lib/"
script QPS-001 N $'qp dut.q <-> peer rc\nmr dut.buf len=64 access=local_write,remote_write\npeer> WRITE_ONLY psn=+0 va=buf data=8\nwait 4s'
t 1 "who hangs is named with the last packet" "the last packet was peer: WRITE_ONLY psn=fffffa" --device ref0 --budget 1 QPS-001
"$tmp/away/bin/vs-conform" --cases "$tmp/c" --jobs 1 --device ref0 --json "$tmp/r.json" --tap "$tmp/r.tap" QPS-001 QPS-007 RSP-017 >"$tmp/out" 2>&1 &
pid=$!
sleep 1.5 # the first one only looks whether the device can be opened
worker_of $pid
rm -r "$tmp/away/lib"
kill -SEGV "$child" || true
rc=0
wait $pid || rc=$?
if [ $rc = 1 ] && grep -q 'the device is gone, the rest was not run' "$tmp/out"; then ok; else no "a device that went is noticed"; fi
if grep -q '"device_gone": "the library of ref0 is not there.*after QPS-001, where the last packet was peer: WRITE_ONLY' "$tmp/r.json" &&
	grep -q '"verdict": "ERROR"' "$tmp/r.json"; then ok; else no "and the report says after which packet"; fi
if grep -q '^Bail out! the library of ref0' "$tmp/r.tap"; then ok; else no "and TAP bails out"; fi

printf '%d passed, %d failed\n' $passed $failed
[ $failed = 0 ]
