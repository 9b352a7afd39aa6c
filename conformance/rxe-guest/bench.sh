#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# bench.sh BUILD_FOLDER KERNEL [ROUNDS] - ref0 and rxe side by side: one guest of two processors, the same programs in the same run,
# both over a veth pair with MTU 4300 and a path MTU of 4096, and one TCP stream as the yardstick. Each round measures
# everything once; the median of the rounds counts. Figures of an emulated processor compare with one another alone, and
# only when its host has two processors for it: both programs of a measurement poll.
#
# VS_BENCH_PROFILE=1: no figures, but where the guest's time goes, for ref0 and for rxe (needs perf, of linux-perf).
#
# The guest's clock is its processor's counter: an emulated machine would choose the HPET, and a look at that stops both processors. It has
# no PCLMULQDQ: QEMU 7 emulates that bit by bit, so that a CRC by tables is faster, for either
# (the last -cpu counts, and that of boot.sh comes first).
#
# rxe's two devices are in the guest's first namespace, the only one in which it sends; ref0's two processes, and TCP, are
# in two others, since rxe holds UDP port 4791 in the first.
set -euo pipefail
export LC_ALL=C
build=$(cd "${1:?which build folder?}" && pwd) kernel=${2:?which kernel?} rounds=${3:-3}
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=guest.sh
. "$here/guest.sh"
# shellcheck source=bench/figures.sh
. "$here/../../bench/figures.sh"
tmp=$(mktemp -d)
trap 'trap "" INT TERM HUP; guest_kill; rm -rf "$tmp"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
declare -A values
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
	guest_run "timeout 40 $1 >/tmp/server 2>&1 & sleep 1; timeout 30 $2 2>&1; kill %1 2>/dev/null; wait" || true
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

# A program that failed has no figure.
keep() { # name, value
	printf '%s\n' "${2:--}" >>"$tmp/$(tr / _ <<<"$1")" # of all rounds, for the report
	[[ -v values[$1] ]] || { names+=("$1") && values[$1]=''; }
	[[ $2 =~ [1-9] ]] || return 0
	values[$1]+=" $2"
}
median() { # name
	# shellcheck disable=SC2086 # words
	printf '%s\n' ${values[$1]} | sort -g | awk '{ v[NR] = $1 } END { if (NR) print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'
}

both() { # unit, field, factor, program with options
	local unit=$1 f=$2 k=$3
	shift 3
	keep "$*|$unit|rxe" "$(on_rxe "$f" "$k" "$@")"
	keep "$*|$unit|ref0" "$(on_ref0 "$f" "$k" "$@")"
}

# ---- where the time goes ----

# A second archive behind the first: perf, and the libraries that it needs.
with_perf() { # initramfs, out
	local perf
	perf=$(command -v perf) || { echo "bench: a profile needs perf (linux-perf)" >&2; exit 2; }
	(cd / && { echo "$perf"; ldd "$perf" | awk '/=> \// { print $3 }'; } | sed 's|^/lib/|/usr/lib/|; s|^/||' | cpio -o -L -H newc --quiet) >"$tmp/perf.cpio"
	cat "$1" "$tmp/perf.cpio" >"$2"
}

profile() { # who, program with options
	local who=$1
	shift
	# From when both ends are at it until before they end.
	guest_run '(sleep 4; perf record -q -a -F 997 -e cpu-clock -o /tmp/perf.data -- sleep 3) >/dev/null 2>&1 &' || true
	echo "--- $who: $*: $("on_$who" 4 1.048576 "$@" -D 6) MB/s"
	guest_run "until ! busybox pidof perf >/dev/null; do sleep 0.2; done; for by in comm,dso dso,symbol; do perf report -i /tmp/perf.data --no-children -n --percent-limit 1 --sort \$by 2>/dev/null; done" |
		sed 's/ *- *- *$//; /^#/d; /^ *$/d' || true
}

image=$build/rxe/$kernel/guest.cpio
if [ -n "${VS_BENCH_PROFILE:-}" ]; then
	with_perf "$image" "$tmp/guest.cpio"
	image=$tmp/guest.cpio
fi
guest_start -c 2 -m 1024 -l "$build/rxe/$kernel/console.log" -w 'vs.rxe=no tsc=reliable clocksource=tsc' "$build/rxe/$kernel" "$image" -cpu max,-erms,-fsrm,-pclmulqdq
veth_of_rxe
veth_of_ref0
if [ -n "${VS_BENCH_PROFILE:-}" ]; then
	for who in ref0 rxe; do
		profile $who ib_write_bw -s 65536
		profile $who ib_write_bw -s 8
	done
	guest_stop
	exit 0
fi
for ((r = 1; r <= rounds; r++)); do
	keep 'TCP, one stream|MB/s|tcp' "$(tcp)"
	both MB/s 4 1.048576 ib_write_bw -s 65536 -n 400
	both MB/s 4 1.048576 ib_read_bw -s 65536 -n 400
	both MB/s 4 1.048576 ib_send_bw -s 65536 -n 400
	both 1000/s 5 1000 ib_write_bw -s 8 -n 5000
	both us 5 1 ib_send_lat -n 300
	both us 5 1 ib_write_lat -n 300
done
guest_stop

tcp=$(median 'TCP, one stream|MB/s|tcp')
echo "rxe of $(cat "$build/rxe/$kernel/release"), median of $rounds; TCP, one stream: ${tcp:-?} MB/s"
printf '%-30s %10s %10s %8s %8s\n' '' ref0 rxe of-rxe of-TCP
for name in "${names[@]}"; do
	case $name in
	*'|ref0') awk -v n="${name%|ref0}" -v a="$(median "$name")" -v b="$(median "${name%ref0}rxe")" -v t="$tcp" 'BEGIN {
		split(n, w, "|")
		printf "%-30s %10s %10s %8s %8s %s\n", w[1], (a ? sprintf("%.2f", a) : "?"), (b ? sprintf("%.2f", b) : "?"),
		       (a && b ? sprintf("%.2f", a / b) : "?"), (w[2] == "MB/s" && a && t ? sprintf("%.2f", a / t) : ""), w[2]
	}' ;;
	esac
done

# ---- for the report ----

for name in "${names[@]}"; do
	case $name in
	*'|ref0')
		IFS='|' read -r what unit _ <<<"$name"
		better="more"
		[ "$unit" != us ] || better="less"
		file=$tmp/$(tr / _ <<<"$name")
		figure "$what ($kernel)" "$unit" median better=$better peer="rxe" peer_values="${file%ref0}rxe" <"$file"
		;;
	esac
done
