#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# bench.sh BUILD_FOLDER KERNEL [ROUNDS] - ref0 and rxe side by side: one guest of two processors, the same programs in the same run,
# both over a veth pair with MTU 4300 and a path MTU of 4096, and one TCP stream as the yardstick. Each round measures
# everything once; the best of the rounds counts. Figures of an emulated processor compare with one another alone.
#
# rxe's two devices are in the guest's first namespace, the only one in which it sends; ref0's two processes, and TCP, are
# in two others, since rxe holds UDP port 4791 in the first.
set -euo pipefail
export LC_ALL=C
build=$(cd "${1:?which build folder?}" && pwd) kernel=${2:?which kernel?} rounds=${3:-3}
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=guest.sh
. "$here/guest.sh"
trap guest_kill EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
declare -A best
names=()

in_guest() { guest_run "$1" || { echo "bench: failed in the guest: $1" >&2; exit 1; }; }

# Two ends of one host talk over the wire between them: the local table comes last, and each address is reached from the other.
veth_of_rxe() {
	local f i
	in_guest 'ip link add v0 mtu 4300 address 02:00:00:00:00:0a type veth peer name v1 mtu 4300 address 02:00:00:00:00:0b'
	in_guest 'ip rule add pref 1000 lookup local; ip rule del pref 0'
	for i in all default v0 v1; do
		for f in rp_filter=0 accept_local=1; do in_guest "echo ${f#*=} >/proc/sys/net/ipv4/conf/$i/${f%=*}"; done
	done
	in_guest 'ip addr add 10.78.0.1/32 dev v0; ip addr add 10.78.0.2/32 dev v1; ip link set v0 up; ip link set v1 up'
	in_guest 'ip route add 10.78.0.2 dev v0 src 10.78.0.1 table 101; ip route add 10.78.0.1 dev v1 src 10.78.0.2 table 102'
	in_guest 'ip rule add pref 100 iif lo from 10.78.0.1 to 10.78.0.2 lookup 101'
	in_guest 'ip rule add pref 100 iif lo from 10.78.0.2 to 10.78.0.1 lookup 102'
	in_guest 'ip neigh add 10.78.0.2 lladdr 02:00:00:00:00:0b dev v0 nud permanent'
	in_guest 'ip neigh add 10.78.0.1 lladdr 02:00:00:00:00:0a dev v1 nud permanent'
	in_guest 'rdma link add rxe_a type rxe netdev v0; rdma link add rxe_b type rxe netdev v1'
}

veth_of_ref0() {
	local n
	in_guest 'ip netns add a; ip netns add b; ip link add w0 mtu 4300 netns a type veth peer name w1 mtu 4300 netns b'
	for n in a/w0/10.79.0.1 b/w1/10.79.0.2; do
		in_guest "ip -n ${n%%/*} link set lo up; ip -n ${n%%/*} addr add ${n##*/}/24 dev $(cut -d/ -f2 <<<"$n")"
		in_guest "ip -n ${n%%/*} link set $(cut -d/ -f2 <<<"$n") up"
	done
}

# Server in the background (busybox, whose timeout this is, would take its own ip), client a moment later; what the client says.
pair() { # server, client
	guest_run "timeout 100 $1 >/tmp/server 2>&1 & sleep 1; timeout 90 $2 2>&1; kill %1 2>/dev/null; wait" || true
}
result() { awk -v f="$1" -v k="$2" '/^ [0-9]+ +[0-9]+ / && !n++ { print $f * k }'; } # field, factor: MiB/s become MB/s

on_rxe() { # field, factor, program with options
	local f=$1 k=$2
	shift 2
	pair "$* -d rxe_a -x 1 -F" "$* -d rxe_b -x 1 -F 127.0.0.1" | result "$f" "$k"
}

on_ref0() {
	local f=$1 k=$2
	shift 2
	pair "/usr/bin/ip netns exec a vs-run --quiet --ip 10.79.0.1 --allow-remote -- $* -x 0 -F" \
		"/usr/bin/ip netns exec b vs-run --quiet --ip 10.79.0.2 --allow-remote -- $* -x 0 -F 10.79.0.1" | result "$f" "$k"
}

tcp() { pair "/usr/bin/ip netns exec a iperf3 -s -1" "/usr/bin/ip netns exec b iperf3 -c 10.79.0.1 -t 4 -f m" | awk '/receiver/ { print $7 / 8 }'; }

keep() { # more|less, name, value
	[[ -v best[$2] ]] || names+=("$2")
	if [ -z "${best[$2]:-}" ] || { [ -n "$3" ] && awk -v a="$3" -v b="${best[$2]}" -v how="$1" 'BEGIN { exit !(how == "more" ? a > b : a < b) }'; }; then
		best[$2]=$3
	fi
}

both() { # more|less, unit, field, factor, program with options
	local how=$1 unit=$2 f=$3 k=$4
	shift 4
	keep "$how" "$*|$unit|rxe" "$(on_rxe "$f" "$k" "$@")"
	keep "$how" "$*|$unit|ref0" "$(on_ref0 "$f" "$k" "$@")"
}

guest_start -c 2 -m 1024 -l "$build/rxe/$kernel/console.log" -w vs.rxe=no "$build/rxe/$kernel" "$build/rxe/$kernel/guest.cpio"
veth_of_rxe
veth_of_ref0
for ((r = 1; r <= rounds; r++)); do
	keep more 'TCP, one stream|MB/s|tcp' "$(tcp)"
	both more MB/s 4 1.048576 ib_write_bw -s 65536 -n 400
	both more MB/s 4 1.048576 ib_read_bw -s 65536 -n 400
	both more MB/s 4 1.048576 ib_send_bw -s 65536 -n 400
	both more 1000/s 5 1000 ib_write_bw -s 8 -n 5000
	both less us 5 1 ib_send_lat -n 300
	both less us 5 1 ib_write_lat -n 300
done
guest_stop

echo "rxe of $(cat "$build/rxe/$kernel/release"), best of $rounds; TCP, one stream: ${best[TCP, one stream|MB/s|tcp]:-?} MB/s"
printf '%-30s %10s %10s %8s %8s\n' '' ref0 rxe of-rxe of-TCP
for name in "${names[@]}"; do
	case $name in
	*'|ref0') awk -v n="${name%|ref0}" -v a="${best[$name]}" -v b="${best[${name%ref0}rxe]}" -v t="${best[TCP, one stream|MB/s|tcp]}" 'BEGIN {
		split(n, w, "|")
		printf "%-30s %10.2f %10.2f %8s %8s %s\n", w[1], a, b, (a && b ? sprintf("%.2f", a / b) : "?"), (w[2] == "MB/s" && t ? sprintf("%.2f", a / t) : ""), w[2]
	}' ;;
	esac
done
