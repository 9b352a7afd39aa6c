#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# veth.sh - what vs-pcap sends arrives: over a veth pair whose ends are in two network namespaces, and over UDP on the
# loopback interface, captured by dumpcap (libpcap). Run by run.sh in a fresh network namespace.
set -euo pipefail
export LC_ALL=C TZ=UTC
cd "$(dirname "$0")/../.."
# shellcheck source=pcaps/tests/lib.sh
. pcaps/tests/lib.sh "${1:?which build folder?}"

# ---- the other end, in a namespace of a process that sleeps ----

setup() {
	ip link set lo up
	ip link add va mtu 9000 type veth peer name vb mtu 9000 || return
	ip link set va addrgenmode none || true # nothing but our frames, where there is IPv6
	unshare --net sleep 300 &
	other=$!
	for _ in $(seq 200); do
		[ "$(readlink "/proc/$other/ns/net")" = "$(readlink /proc/self/ns/net)" ] || break
		sleep 0.02
	done
	ip link set vb netns "$other" || return
	nsenter --net="/proc/$other/ns/net" ip link set vb addrgenmode none || true
	nsenter --net="/proc/$other/ns/net" ip link set vb up && ip link set va up
}

cleanup() {
	[ -z "${other:-}" ] || kill "$other" 2>/dev/null || true
	rm -rf "$tmp"
}
trap cleanup EXIT

if ! setup >"$tmp/setup" 2>&1; then
	echo "skip    replay over a veth pair: it can't be made here: $(tail -n 1 "$tmp/setup")"
	exit 0
fi

# capture NAME COUNT [dumpcap option...]: begins on vb; returns when it listens
capture() {
	local name=$1
	rm -f "$tmp/$name.pcap" "$tmp/$name.log" # a log of before would say that this one listens
	nsenter --net="/proc/$other/ns/net" dumpcap -q -i vb -P -B 16 -w "$tmp/$name.pcap" -c "$2" -a duration:60 \
		"${@:3}" 2>"$tmp/$name.log" &
	listening "$tmp/$name.log"
}

# capturelo NAME COUNT: the same on lo
capturelo() {
	rm -f "$tmp/$1.pcap" "$tmp/$1.log"
	dumpcap -q -i lo -P -w "$tmp/$1.pcap" -c "$2" -a duration:60 -f 'udp dst port 4791' 2>"$tmp/$1.log" &
	listening "$tmp/$1.log"
}

listening() {
	dump=$!
	for _ in $(seq 500); do
		! grep -q '^File:' "$1" 2>/dev/null || return 0
		kill -0 "$dump" 2>/dev/null || break
		sleep 0.02
	done
	cat "$1"
	return 1
}

captured() {
	wait "$dump"
}

# ---- claims ----

replayed_frames_arrive_byte_identical_and_in_order() {
	capture got 27
	"$vp" replay "$rec/loss_mixed_req_every7.pcap" --to va >"$tmp/out"
	captured
	"$cmp" frames "$rec/loss_mixed_req_every7.pcap" "$tmp/got.pcap"
	expect_out "27 packets, "
	expect_out "latest packet: "
}

tagged_and_foreign_frames_arrive_too() {
	local f
	for f in vlan rocev1 icmp; do
		"$vp" info "pcaps/generated/$f.pcap" | sed -n 's/^  frames: \([0-9]*\),.*/\1/p' >"$tmp/n"
		capture got "$(cat "$tmp/n")"
		"$vp" replay "pcaps/generated/$f.pcap" --to va --speed max >"$tmp/out"
		captured
		"$cmp" frames "pcaps/generated/$f.pcap" "$tmp/got.pcap"
	done
}

loops_at_full_speed_arrive_in_order() {
	local f=$rec/host_peer_dgram.pcap
	capture got 1200
	"$vp" replay "$f" --to va --speed max --loop 3 >"$tmp/out"
	captured
	# three times the same file, which is one capture header and then its records
	{ cat "$f" && tail -c +25 "$f" && tail -c +25 "$f"; } >"$tmp/thrice.pcap"
	"$cmp" frames "$tmp/thrice.pcap" "$tmp/got.pcap"
	expect_out "1200 packets, "
}

rewritten_packets_carry_a_valid_icrc() {
	local -a set=(--set "ip:10.77.0.1=10.1.1.1" --set "qp+=7" --set "psn+=0xfffff0" --set "rkey=5" --set "mac.dst=02:00:00:00:00:09")
	capture got 27
	"$vp" replay "$rec/loss_mixed_req_every7.pcap" --to va --speed max "${set[@]}" >"$tmp/out"
	captured
	"$cmp" good "$tmp/got.pcap"
	"$vp" edit "$rec/loss_mixed_req_every7.pcap" -o "$tmp/want.pcap" "${set[@]}" >/dev/null
	"$cmp" frames "$tmp/want.pcap" "$tmp/got.pcap"
	"$vt" -r "$tmp/got.pcap" -T fields -e rdma.icrc.status 2>/dev/null | sort | uniq -c |
		awk '$1 != 27 || $2 != 1 || NR > 1 { exit 1 } END { exit NR == 0 }'
}

# 4.7 ms of capture, at a tenth of the speed
replay_takes_the_time_that_the_capture_took() {
	local start end
	start=$(date +%s%N)
	"$vp" replay "$rec/loss_send_req_mid.pcap" --to va --speed 0.02 >"$tmp/out"
	end=$(date +%s%N)
	[ $((end - start)) -ge 236000000 ]
}

an_injected_packet_arrives() {
	capture got 1
	"$vp" inject --to va 'READ_REQUEST qp=0x11 psn=5 rkey=1 va=0x1000 dmalen=64' >"$tmp/out"
	captured
	"$cmp" good "$tmp/got.pcap"
	"$cmp" list "$tmp/got.pcap" | grep >/dev/null ' READ_REQUEST 0x000011 0x000005 good'
}

a_packet_longer_than_the_mtu_is_counted_and_exits_1() {
	ip link set va mtu 500
	run "$vp" replay "$rec/loss_send_req_mid.pcap" --to va --speed max
	ip link set va mtu 9000
	expect_rc 1
	expect_out "18 could not be sent, first frame 1: "
	expect_out "5 packets, "
}

frames_that_a_snap_length_cut_are_left_out() {
	run "$vp" replay "$rec/perf_write_bw_64k_snap96.pcap" --to va --speed max
	expect_rc 0
	expect_out "50 packets, "
	expect_out "800 left out: cut by a snap length"
}

udp_replay_has_the_icrc_of_what_the_kernel_sent() {
	local n
	for n in rc_write_v4:14:127.0.0.1 rc_read_v6:14:::1 rc_read_v6:14:127.0.0.5; do
		[[ $n != *::1 ]] || [ -s /proc/net/if_inet6 ] || continue # no IPv6 here
		local f=${n%%:*} to=${n#*:}
		capturelo got "${to%%:*}"
		"$vp" replay "$rec/$f.pcap" --to "udp:${to#*:}" --speed max >"$tmp/out"
		captured
		"$cmp" good "$tmp/got.pcap"
		"$cmp" bytes "$rec/$f.pcap" "$tmp/got.pcap"
	done
}

a_wrong_icrc_stays_wrong_over_udp() {
	capturelo got 400
	"$vp" replay "$rec/host_peer_dgram.pcap" --to udp:127.0.0.1 --speed max >"$tmp/out"
	captured
	"$vp" info "$tmp/got.pcap" | grep >/dev/null 'ICRC: 395 good, 5 bad'
}

an_injected_datagram_arrives() {
	capturelo got 1
	"$vp" inject --to udp:127.0.0.3 'SEND_ONLY qp=2 psn=3 data=7' >"$tmp/out"
	captured
	"$cmp" good "$tmp/got.pcap"
	"$vp" info "$tmp/got.pcap" | grep >/dev/null ' -> 127.0.0.3 QP 0x000002: 1 packet'
}

a_signal_ends_the_replay_with_counts() {
	"$vp" replay "$rec/loss_send_req_mid.pcap" --to va --speed 0.0001 >"$tmp/out" &
	local pid=$!
	sleep 1
	kill -TERM "$pid"
	rc=0
	wait "$pid" || rc=$?
	expect_rc 1
	expect_out "stopped by signal 15"
}

progress_is_for_terminals() {
	"$vp" replay "$rec/loss_send_req_mid.pcap" --to va --speed 0.005 >"$tmp/out" 2>"$tmp/err"
	[ ! -s "$tmp/err" ]
	command -v script >/dev/null || return 0
	script -qec "'$vp' replay '$rec/loss_send_req_mid.pcap' --to va --speed 0.005" /dev/null </dev/null >"$tmp/tty" 2>&1
	grep -q 'loop 1 of 1: ' "$tmp/tty"
}

an_interface_that_is_down_is_said() {
	ip link set va down
	run "$vp" replay "$rec/loss_send_req_mid.pcap" --to va
	ip link set va up
	expect_rc 2
	expect_err "va: the interface is down"
}

no_permission_is_said() {
	run setpriv --bounding-set=-net_raw --inh-caps=-net_raw "$vp" replay "$rec/loss_send_req_mid.pcap" --to va
	expect_rc 2
	expect_err "without CAP_NET_RAW"
	run setpriv --bounding-set=-net_raw --inh-caps=-net_raw "$vp" inject --to va 'SEND_ONLY'
	expect_rc 2
	expect_err "without CAP_NET_RAW"
}

check_judges_a_live_interface_until_a_signal() {
	local pid rc=0
	"$vp" check --json -i lo >"$tmp/live.json" 2>"$tmp/live.err" &
	pid=$!
	for _ in $(seq 500); do # the child captures from its first moment
		[ -z "$(cat "/proc/$pid/task/$pid/children")" ] || break
		sleep 0.02
	done
	"$vp" replay "$rec/loss_send_req_mid.pcap" --to lo --speed max >/dev/null
	sleep 1
	kill -INT "$pid"
	wait "$pid" || rc=$?
	[ "$rc" = 0 ]
	grep -q '"psn_sequence": 1,' "$tmp/live.json"
	grep -q '"retransmissions": 2,' "$tmp/live.json"
}

native_infiniband_is_not_sent_through_ethernet() {
	"$vp" convert "$rec/loss_send_req_mid.pcap" -o "$tmp/ib.pcap" --encap ib >/dev/null
	run "$vp" replay "$tmp/ib.pcap" --to va
	expect_rc 2
	expect_err "is no Ethernet frame: 'vs-pcap convert' makes one of it"
}

while read -r claim <&3; do
	check "$claim"
done 3< <(sed -n 's/^\([a-z][a-z0-9_]*_[a-z0-9_]*\)() {$/\1/p' "$0")
finish
