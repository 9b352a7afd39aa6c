#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# peers.sh - ref0 and a peer that is a host of its own, on an Ethernet in a network namespace: through the other end of a
# veth pair (raw:), in a VLAN, and behind AF_UNIX datagrams (unix:) to a tap interface. Verdicts are those of the peer on
# a UDP socket, but for what that skips; and whatever can be wrong with an interface is said.
#
#   peers.sh BUILD
#
# Needs a network namespace: root has one, others where user namespaces are allowed; it is skipped where there is none.
set -euo pipefail
cd "$(dirname "$0")/../.."
if [ "${VS_PEERS_INSIDE:-}" != 1 ]; then
	way=(unshare --net)
	[ "$(id -u)" = 0 ] && "${way[@]}" true 2>/dev/null || way=(unshare --map-root-user --net)
	if ! why=$("${way[@]}" true 2>&1); then
		echo "skip check-peers: no network namespace for this user ($why)"
		exit 0
	fi
	VS_PEERS_INSIDE=1 exec "${way[@]}" "$0" "$@"
fi
build=$PWD/${1:-build}
[ -d "$build" ] || build=${1:-build}
bin=$build/bin/vs-conform
tmp=$(mktemp -d)
passed=0 failed=0
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$tmp"' EXIT

ok() { passed=$((passed + 1)); }
no() {
	failed=$((failed + 1))
	printf 'check-peers: %s\n' "$1" >&2
	if [ -s "$tmp/out" ]; then head -n 30 "$tmp/out" | sed 's/^/    /' >&2; fi
}
expect() { # CODE CLAIM TEXT COMMAND...
	local want=$1 claim=$2 text=$3 rc=0
	shift 3
	"$@" >"$tmp/out" 2>&1 || rc=$?
	if [ "$rc" != "$want" ]; then
		no "$claim: exit code $rc, not $want"
	elif ! grep -qF -- "$text" "$tmp/out"; then
		no "$claim: does not say: $text"
	else
		ok
	fi
}
# What a socket can do, and what it can't: IP headers, MAC addresses, IPv6, groups, bursts, times.
cases=(ROC 'UD-00*' 'UD-02*' 'RSP-01*' RSE-036 'RSE-05*' RSE-060 RSE-061 'RTO-001[code=14]' RTO-056-src)
run() { # REPORT PEER OPTIONS...
	"$bin" --device ref0 --peer "$2" --deviations conformance/profiles/ref0.deviations --json "$tmp/$1.json" -q "${@:3}"
}
# What held over UDP holds, and what is known to fail is all that does. A device that is set up otherwise for a case has an
# address on the loopback, where only a socket can be its peer.
# Packets of an interface leave one by one, so that a device may have served one READ before the next came (RSE-036); on a
# busy machine the answer is not seen at once, and the script takes it for one that came too late.
same() { # CLAIM REPORT
	"$bin" diff "$tmp/udp.json" "$tmp/$2.json" >"$tmp/out" || true
	if sed -n '/^worse:/,/^[a-z]*:$/p' "$tmp/out" | grep '^  ' | grep -vE ' SKIP -> XFAIL |PASS -> SKIP  (the script sets up the device|the MTU of the port)|PASS -> (VARIANT|WARN) .*(one_by_one|warn_recycled)'; then no "$1"; else ok; fi
}
on_wire() { # interface, address, MTU
	ip address add "10.9.$2.1/24" dev "$1"
	if [ -e "/proc/sys/net/ipv6/conf/$1" ]; then ip address add "fd09:$2::1/64" dev "$1" nodad; fi
	ip link set "$1" mtu 4300 txqueuelen 10000 up
}
peer() { # N: the addresses of the peer there
	echo -n "ip=10.9.$1.2"
	if [ -e /proc/sys/net/ipv6 ]; then echo -n ",ip6=fd09:$1::2"; fi
}

ip link set lo up
if ! ip link add v0 mtu 4300 type veth peer name v1 mtu 4300 2>"$tmp/out"; then
	echo "skip check-peers: there are no veth interfaces here ($(cat "$tmp/out"))"
	exit 0
fi
ip link set v1 up
on_wire v0 0
"$bin" --device ref0 --json "$tmp/udp.json" -q "${cases[@]}" >"$tmp/out" 2>&1 || no "over UDP"

# ---- through an interface ----

raw=raw:v1,$(peer 0)
expect 0 "raw: the cases hold" " PASS" run raw "$raw" "${cases[@]}"
same "raw: nothing is worse than over UDP" raw
if grep -q '"PASS"' <(grep -A9 '"id": "ROC-008"' "$tmp/raw.json"); then ok; else no "raw: an IP header with options can be sent"; fi

# ---- behind AF_UNIX datagrams, and in a VLAN ----

guest() { # N INTERFACE [VLAN]: what a virtual machine would be
	"$build/tests/forward" "$2" "$tmp/guest$1" "$tmp/peer$1" "${@:3}" >"$tmp/ready$1" 2>"$tmp/out" &
	for _ in {1..100}; do
		if [ -s "$tmp/ready$1" ] || ! kill -0 $! 2>/dev/null; then break; fi
		sleep 0.05
	done
	[ -s "$tmp/ready$1" ] && on_wire "$2" "$1"
}
unix() { # N
	echo -n "unix:$tmp/peer$1,remote=$tmp/guest$1,$(peer "$1")"
}

if guest 7 t0; then
	expect 0 "unix: the cases hold" " PASS" run unix "$(unix 7)" "${cases[@]}"
	same "unix: nothing is worse than over UDP" unix
	if [ ! -e "$tmp/peer7" ]; then ok; else no "unix: the peer takes its socket away"; fi
	expect 2 "unix: a socket that somebody has" "something is there already" \
		"$bin" --device ref0 --peer "unix:$tmp/guest7,remote=$tmp/peer7,$(peer 7)" RSP-017
	expect 2 "unix: nobody is there" "nobody answers for the device's address 10.9.0.1 where the peer is" \
		"$bin" --device ref0 --peer "unix:$tmp/peer7,remote=$tmp/none,ip=10.9.0.2" RSP-017
	guest 5 t1 5
	expect 0 "in a VLAN: the cases hold" " PASS" run vlan "$(unix 5),vlan=5" ROC-001 'ROC-004*' ROC-023 'ROC-027*' 'RSP-01*' 'UD-00*'
	same "in a VLAN: nothing is worse than over UDP" vlan
	expect 0 "in a VLAN: frames are tagged both ways" "1 PASS" \
		"$bin" --device ref0 --peer "$(unix 5),vlan=5" 'ROC-025[sl=0]'
	expect 127 "in a VLAN: a script about another" "the script is about another VLAN than that of the peer" \
		"$bin" -v --device ref0 --peer "$(unix 7)" ROC-025
else
	echo "skip check-peers behind AF_UNIX datagrams: no tap interface ($(cat "$tmp/out"))"
fi

# ---- a bridge between two devices, each behind an agent in a network of its own ----

host=()
for i in 0 1; do
	unshare --net sleep 1000 &
	host[i]=$!
done
inside() { # N COMMAND...
	nsenter --net="/proc/${host[$1]}/ns/net" "${@:2}"
}
for i in 0 1; do
	for _ in {1..100}; do # until it is in its network
		if [ "$(readlink "/proc/${host[i]}/ns/net")" != "$(readlink /proc/self/ns/net)" ]; then break; fi
		sleep 0.02
	done
	ip link add "w$i" mtu 4300 txqueuelen 10000 type veth peer name v0 mtu 4300 netns "${host[i]}"
	ip link set "w$i" up
	inside $i ip link set lo up
	inside $i ip address add "10.9.8.$((i + 1))/24" dev v0
	inside $i ip link set v0 mtu 4300 txqueuelen 10000 up
done
agent() { # N
	echo -n "VS_IP=10.9.8.$(($1 + 1)) VS_NO_GSO=1 nsenter --net=/proc/${host[$1]}/ns/net $build/bin/vs-agent"
}
bridged() { # CODE CLAIM TEXT PEER OPTIONS...
	expect "$1" "$2" "$3" "$bin" -v --device ref0 --agent "$(agent 0)" --agent "$(agent 1)" --peer "$4" "${@:5}"
}
bridged 0 "bridge: two devices, and faults between them" " 9 PASS" bridge:w0,w1 ROB-002 ROB-003 ROB-008
bridged 127 "bridge: a script with a peer" "there is no peer that a script could play" bridge:w0,w1 RSP-017
cat >"$tmp/lost.drill" <<-'END'
	case RSP-017 "Nothing from B arrives"
	class N
	node A B
	qp A.q <-> B.q rc timeout=15 retry_cnt=1
	mr A.src len=64
	mr B.dst len=64 fill=0 access=local_write,remote_write
	fault drop all from B
	A post write wr=1 src to=B.dst
	A cqe wr=1 RETRY_EXC_ERR
	expect B.dst == A.src
END
bridged 0 "bridge: faults have a direction" "1 PASS" bridge:w0,w1 --file "$tmp/lost.drill"
sed -i 's/from B/from A/' "$tmp/lost.drill"
bridged 1 "bridge: and the other one" "expected: expect B.dst == A.src" bridge:w0,w1 --file "$tmp/lost.drill"
sed -i 's/drop all from A/drop 99th data from A/; s/RETRY_EXC_ERR/WRITE SUCCESS/' "$tmp/lost.drill"
bridged 1 "bridge: a fault that found nothing" "99th" bridge:w0,w1 --file "$tmp/lost.drill"
expect 2 "bridge: one device" "a bridge is between two devices" "$bin" --device ref0 --peer bridge:w0,w1
bridged 2 "bridge: three devices" "there are two already" bridge:w0,w1 --agent x
expect 2 "a second agent without a bridge" "two devices take --peer bridge:END,END between them, or --peer loop" "$bin" --agent x --agent y
bridged 2 "bridge: no such interface" "nonesuch: there is no such interface" bridge:w0,nonesuch ROB-008
ends=bridge
sep=:
for i in 0 1; do
	inside $i ip link del v0
	inside $i "$build/tests/forward" v0 "$tmp/g$i" "$tmp/b$i" >"$tmp/ready$i" 2>"$tmp/out" &
	for _ in {1..100}; do
		if [ -s "$tmp/ready$i" ] || ! kill -0 $! 2>/dev/null; then break; fi
		sleep 0.05
	done
	if [ -s "$tmp/ready$i" ]; then
		inside $i ip address add "10.9.8.$((i + 1))/24" dev v0
		inside $i ip link set v0 mtu 4300 txqueuelen 10000 up
	fi
	ends+=${sep}unix:$tmp/b$i,remote=$tmp/g$i
	sep=,
done
if [ -s "$tmp/ready1" ]; then
	bridged 0 "bridge: behind AF_UNIX datagrams" " 7 PASS" "$ends" ROB-008
else
	echo "skip check-peers of a bridge behind AF_UNIX datagrams: no tap interface ($(cat "$tmp/out"))"
fi

# ---- what can be wrong with an interface ----

raw() { # CODE CLAIM TEXT SPEC OPTIONS...
	expect "$1" "$2" "$3" "$bin" --device ref0 --peer "raw:$4,ip=10.9.0.2" "${@:5}"
}
raw 2 "no such interface" "there is no such interface" nonesuch RSP-017
expect 2 "another network" "this host has no address in the network of the peer's" \
	"$bin" --device ref0 --peer raw:v1,ip=10.77.0.2 RSP-017
if command -v setpriv >/dev/null; then
	expect 2 "no privilege" "frames can't be sent without CAP_NET_RAW" \
		setpriv --bounding-set=-net_raw "$bin" --device ref0 --peer "$raw" RSP-017
fi
ip link set v1 down
raw 2 "an interface that is down" "the interface is down: 'ip link set v1 up' first" v1 RSP-017
ip link set v1 up

# While it runs: cases that are over keep their results, the others say what happened.
vanish() { # CLAIM COMMAND...
	stdbuf -oL "$bin" --device ref0 --peer "$raw" --json "$tmp/r.json" -v RSP RSE RTO >"$tmp/out" 2>&1 &
	local pid=$! rc=0
	while kill -0 $pid 2>/dev/null && [ "$(grep -c ^PASS "$tmp/out")" -le 3 ]; do sleep 0.02; done
	"${@:2}"
	wait $pid || rc=$?
	if [ $rc = 1 ] && grep -q ^PASS "$tmp/out" && grep -q '^ERROR' "$tmp/out" && ! grep -qE '^(FAIL|INCON)' "$tmp/out" &&
		grep -q 'v1: the interface went away or down' "$tmp/r.json"; then ok; else no "$1: exit code $rc"; fi
}
vanish "an interface that goes down" ip link set v1 down
ip link set v1 up
vanish "an interface that is taken away" ip link delete v1

printf '%d passed, %d failed\n' $passed $failed
[ $failed = 0 ]
