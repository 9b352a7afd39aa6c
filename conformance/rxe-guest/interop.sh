#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# interop.sh BUILD_FOLDER KERNEL short|all [WORD] - ref0 on this host against rxe in a guest, joined by a tap in a network namespace of their
# own: unmodified programs, each side as server and as client, over IPv4 and IPv6, with and without loss. A check is named
# by its claim; WORD: only those whose name contains it. The namespace and all in it end with this script.
#
# Exit codes: 0 all passed, 1 not all, 127 no network namespace with a tap is to be had here (a user namespace does, where
# those are allowed). VS_INTEROP_KEEP=1 shows the output of what passes, too; VS_INTEROP_CAPTURE=FILE has what
# crossed the wire.
set -euo pipefail
export LC_ALL=C
build=$(cd "${1:?which build folder?}" && pwd) kernel=${2:?which kernel?} form=${3:-all} word=${4:-}
here=$(cd "$(dirname "$0")" && pwd)

if [ -z "${VS_INTEROP_INSIDE:-}" ]; then
	enter=(unshare --net)
	[ "$(id -u)" = 0 ] || enter=(unshare --map-root-user --net)
	"${enter[@]}" ip tuntap add dev vs-tap mode tap 2>/dev/null || {
		echo "skip ref0 against rxe: no network namespace with a tap is to be had here (it needs root, or user namespaces)"
		exit 127
	}
	VS_INTEROP_INSIDE=1 exec "${enter[@]}" "$0" "$@"
fi

# shellcheck source=guest.sh
. "$here/guest.sh"
tmp=$(mktemp -d) passed=0 failed=0 limit=30
trap 'trap "" INT TERM HUP; guest_kill; rm -rf "$tmp"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# shellcheck disable=SC2016 # for the guest's shell
waits='n=0; until [ $n = 100 ] || CONDITION; do sleep 0.1; n=$((n + 1)); done'

# What a program is told about its own device: -d and -g for the pingpongs, -d and -x for perftest.
declare -A host_gid=([4]=0 [6]=1) guest_gid=([4]=1 [6]=2) host_ip=([4]=10.77.0.2 [6]=fd77::2) guest_ip=([4]=10.77.0.1 [6]=fd77::1)

wire() {
	local f
	ip link set lo up
	ip tuntap add dev vs-tap mode tap
	for f in accept_dad router_solicitations accept_ra; do echo 0 >"/proc/sys/net/ipv6/conf/vs-tap/$f"; done
	ip link set vs-tap address 52:54:00:00:00:02 mtu 4300 up
	ip addr add 10.77.0.2/24 dev vs-tap
	ip -6 addr add fd77::2/64 dev vs-tap nodad
	local -a dump=()
	[ -z "${VS_INTEROP_CAPTURE:-}" ] || dump=(-object "filter-dump,id=dump,netdev=n0,file=$VS_INTEROP_CAPTURE")
	guest_start -l "$build/rxe/$kernel/console.log" "$build/rxe/$kernel" "$build/rxe/$kernel/guest.cpio" \
		-netdev tap,id=n0,ifname=vs-tap,script=no,downscript=no,vnet_hdr=off \
		-device virtio-net-pci,netdev=n0,host_mtu=4300,mac=52:54:00:00:00:01 "${dump[@]}"
	# shellcheck disable=SC2016 # for the guest's shell
	guest_run 'for a in 10.77.0.2 fd77::2; do ip neigh add $a lladdr 52:54:00:00:00:02 dev eth0 nud permanent; done'
	ip neigh add 10.77.0.1 lladdr 52:54:00:00:00:01 dev vs-tap nud permanent
	ip -6 neigh add fd77::1 lladdr 52:54:00:00:00:01 dev vs-tap nud permanent
}

# ---- a program on either side ----

host() { # fault, program...
	local -a fault=()
	[ -z "$1" ] || fault=(--seed 4791 --fault "$1")
	shift
	timeout "$limit" "$build/bin/vs-run" --quiet --ip 10.77.0.2 --ip fd77::2 --allow-remote "${fault[@]}" -- "$@" </dev/null
}

# The server in the guest, in the background; what it said is in /tmp/server.out, how it ended in /tmp/server.rc. One that is left over
# would take the next client.
guest_server() { # command
	guest_run "[ -e /tmp/server.rc ] || kill -9 \$(cat /tmp/server.pid) 2>/dev/null; rm -f /tmp/server.*; (timeout $limit $1 >/tmp/server.out 2>&1 & echo \$! >/tmp/server.pid; wait \$!; echo \$? >/tmp/server.rc) >/dev/null 2>&1 &"
}

# A server listens when its TCP port does (18515 of the pingpongs and perftest), or after a second.
guest_listens() {
	guest_run "${waits/CONDITION/[ \$n = 20 ] || grep -q :4853.*:0000.0A /proc/net/tcp /proc/net/tcp6}"
}

host_listens() {
	local n
	for ((n = 0; n < 20; n++)); do
		! grep -q ':4853.*:0000.0A' /proc/net/tcp /proc/net/tcp6 || return 0
		sleep 0.1
	done
}

guest_is_server() { # fault, host's program, guest's program
	local rc=0 server
	guest_server "$3"
	guest_listens
	# shellcheck disable=SC2086 # words
	host "$1" $2 || rc=$?
	echo "-- ref0's side, the client: $rc"
	server=$(guest_run "${waits/CONDITION/[ -e /tmp/server.rc ]}; cat /tmp/server.out; tail -n 1 /tmp/server.rc") || true
	printf '%s\n' "$server" "-- rxe's side, the server"
	[ $rc = 0 ] && [ "${server##*$'\n'}" = 0 ]
}

host_is_server() { # fault, host's program, guest's program
	local rc=0 client=0 server
	# shellcheck disable=SC2086 # words
	host "$1" $2 &
	server=$!
	host_listens
	guest_run "timeout $limit $3" || client=$?
	echo "-- rxe's side, the client: $client"
	wait $server || rc=$?
	echo "-- ref0's side, the server: $rc"
	[ $rc = 0 ] && [ $client = 0 ]
}

# ---- checks ----

# The pingpongs and rping give a connection 67 ms and seven tries: on a busy machine an emulated processor needs longer, and longer
# until rping listens (REJECTED, error 8). What fails by that alone is tried again.
too_slow() { grep -qE 'RDMA_CM_EVENT_REJECTED, error:? 8|transport retry counter exceeded|Failed status 12|^Terminated|: 124$' "$tmp/out"; }

check() { # name, who is the server, fault, host's program, guest's program
	local name=$1 start=$SECONDS rc try
	[[ $name == *"$word"* ]] || return 0
	for try in 1 2 3; do
		rc=0
		"${2}_is_server" "$3" "$4" "$5" >"$tmp/out" 2>&1 || rc=$?
		if [ $rc = 0 ] || ! too_slow; then break; fi
	done
	if [ $rc = 0 ]; then
		echo "ok   $name ($((SECONDS - start)) s$([ $try = 1 ] || echo ", try $try"))"
		passed=$((passed + 1))
		[ -z "${VS_INTEROP_KEEP:-}" ] || sed 's/^/     | /' "$tmp/out"
	else
		echo "FAIL $name"
		tail -n "${VS_INTEROP_LINES:-40}" "$tmp/out" | sed 's/^/     | /'
		failed=$((failed + 1))
	fi
}

# Both directions. These programs meet over TCP and IPv4, whatever RDMA then goes over.
both() { # name, family, fault, kind of arguments (pingpong, perf), program with options
	local name="$1, IPv$2${3:+, $3}" v=$2 h g program=$5
	case $4 in
	pingpong) h="-g ${host_gid[$v]}" g="-d rxe0 -g ${guest_gid[$v]}" ;;
	perf) h="-x ${host_gid[$v]} -F -u 18" g="-d rxe0 -x ${guest_gid[$v]} -F -u 18" ;; # 1 s for an ACK
	esac
	check "ref0 -> rxe: $name" guest "$3" "$program $h ${guest_ip[4]}" "$program $g"
	check "rxe -> ref0: $name" host "$3" "$program $h" "$program $g ${host_ip[4]}"
}

rping_both() { # family, fault
	check "ref0 -> rxe: rping, IPv$1${2:+, $2}" guest "$2" "rping -c -C 5 -v -a ${guest_ip[$1]}" "rping -s -C 5 -v -a ${guest_ip[$1]}"
	check "rxe -> ref0: rping, IPv$1${2:+, $2}" host "$2" "rping -s -C 5 -v -a ${host_ip[$1]}" "rping -c -C 5 -v -a ${host_ip[$1]}"
}

# Connections by rdma_cm, of reliable queue pairs and of datagrams.
cm_both() { # family
	local p
	for p in "ucmatose -c 2 -C 5" "udaddy -c 2 -C 5"; do
		check "ref0 -> rxe: ${p%% *}, IPv$1" guest '' "$p -s ${guest_ip[$1]}" "$p -b ${guest_ip[$1]}"
		check "rxe -> ref0: ${p%% *}, IPv$1" host '' "$p -b ${host_ip[$1]}" "$p -s ${host_ip[$1]}"
	done
}

# The recorder of vs-trace in a program on rxe, whose peer is ref0: its records are fetched, and vs-trace on this host says of them
# what it must.
recorded() { # name, rule of --inject, command of vs-trace, pattern
	local server limit=${limit}
	[[ $1 == *"$word"* ]] || return 0
	[ -z "$2" ] || limit=6 # nobody comes to its end
	host '' ibv_rc_pingpong -n 20 -g 0 >"$tmp/out" 2>&1 &
	server=$!
	host_listens
	guest_run "rm -rf /tmp/r; mkdir /tmp/r; VS_INJECT='$2' VS_RECORD=/tmp/r LD_PRELOAD=/usr/lib/verbscope/libvs-record.so ibv_rc_pingpong -n 20 -d rxe0 -g 1 ${host_ip[4]}" >>"$tmp/out" 2>&1 || true
	wait $server || true
	rm -rf "$tmp/trace" && mkdir "$tmp/trace"
	guest_run 'busybox tar -c -C /tmp/r . | busybox base64' | base64 -d | tar -x -C "$tmp/trace"
	"$build/bin/vs-trace" recover "$tmp/trace" >>"$tmp/out" 2>&1 || true
	"$build/bin/vs-trace" "$3" "$tmp/trace" >"$tmp/said" 2>>"$tmp/out" || true
	if grep -qE -- "$4" "$tmp/said"; then
		echo "ok   $1"
		passed=$((passed + 1))
	else
		echo "FAIL $1: vs-trace $3 does not say '$4'"
		tail -n 40 "$tmp/out" "$tmp/said" | sed 's/^/     | /'
		failed=$((failed + 1))
	fi
}

recorder() {
	recorded "vs-trace records a program on rxe" '' ladder 'wr=[0-9]+ SEND completes: SUCCESS'
	recorded "vs-trace says why a program on rxe failed" 'post_send:lkey^=0x100' why '\[lkey_unknown, '
}

# Neither has XRC; should rxe learn it, this says so.
xsrq() {
	local said
	[[ ibv_xsrq_pingpong == *"$word"* ]] || return 0
	said=$(guest_run 'timeout 20 ibv_xsrq_pingpong -d rxe0 -g 1 2>&1') || true
	case $said in
	*XRC*) echo "skip ibv_xsrq_pingpong: neither ref0 nor rxe has XRC (rxe: $(grep -m 1 XRC <<<"$said"))" ;;
	*)
		echo "FAIL ibv_xsrq_pingpong: rxe does not refuse XRC as it did"
		printf '%s\n' "     | ${said//$'\n'/$'\n'     | }"
		failed=$((failed + 1))
		;;
	esac
}

# The last acknowledge of programs that do not agree on an end may be lost for ever: there, requests are lost alone.
short_list() { # family
	both ibv_rc_pingpong "$1" '' pingpong "ibv_rc_pingpong -n 100 -c"
	both ibv_ud_pingpong "$1" '' pingpong "ibv_ud_pingpong -n 100"
	both "ib_write_bw, 64 KiB" "$1" 'drop 2% any' perf "ib_write_bw -s 65536 -n 50"
	both "ib_read_bw, 64 KiB" "$1" '' perf "ib_read_bw -s 65536 -n 50 -o 16"
	rping_both "$1" ''
}

long_list() { # family
	local p
	for p in rc uc ud srq; do both "ibv_${p}_pingpong" "$1" '' pingpong "ibv_${p}_pingpong -n 100"; done
	both "ibv_rc_pingpong with checked payload" "$1" '' pingpong "ibv_rc_pingpong -n 100 -c"
	both "ib_write_bw, 64 KiB" "$1" '' perf "ib_write_bw -s 65536 -n 100"
	both "ib_read_bw, 64 KiB" "$1" '' perf "ib_read_bw -s 65536 -n 100 -o 16"
	both "ib_send_bw, 64 KiB" "$1" '' perf "ib_send_bw -s 65536 -n 100"
	both ib_atomic_bw "$1" '' perf "ib_atomic_bw -n 200 -o 16"
	both "ib_atomic_bw, compare and swap" "$1" '' perf "ib_atomic_bw -A CMP_AND_SWAP -n 200 -o 16"
	both ib_atomic_lat "$1" '' perf "ib_atomic_lat -n 100 -o 16"
	both ib_write_lat "$1" '' perf "ib_write_lat -n 100"
	both "ib_write_lat on UC" "$1" '' perf "ib_write_lat -c UC -n 100"
	both "ib_send_lat on UD" "$1" '' perf "ib_send_lat -c UD -n 100"
	both ib_read_lat "$1" '' perf "ib_read_lat -n 100 -o 16"
	both ib_send_lat "$1" '' perf "ib_send_lat -n 100"
	rping_both "$1" ''
	cm_both "$1"
	both ibv_rc_pingpong "$1" 'drop 2% send' pingpong "ibv_rc_pingpong -n 200 -c"
	both "ib_write_bw, 64 KiB" "$1" 'drop 2% any' perf "ib_write_bw -s 65536 -n 50"
	both "ib_read_bw, 64 KiB" "$1" 'drop 2% any' perf "ib_read_bw -s 65536 -n 50 -o 16"
	rping_both "$1" 'drop 2% send'
}

wire
recorder
[ "$form" = short ] || xsrq
for v in 4 6; do
	case $form in
	short) short_list $v ;;
	*) long_list $v ;;
	esac
done
guest_stop
echo "ref0 against rxe of $(cat "$build/rxe/$kernel/release"): $passed passed, $failed failed"
[ $failed = 0 ]
