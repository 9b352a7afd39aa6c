#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# bench.sh BUILD_FOLDER [ROUNDS] - speed of ref0 against one TCP stream of iperf3 over loopback, in one run: each round
# measures everything once, the best of the rounds counts. perftest and iperf3 say megabytes per second and Gbit/s; here all is
# in MB/s (10^6 bytes).
set -euo pipefail
export LC_ALL=C
build=$(cd "${1:?which build folder?}" && pwd) rounds=${2:-3}
run=$build/bin/vs-run
# shellcheck source=bench/figures.sh
. "$(dirname "$0")/../../../bench/figures.sh"
for tool in iperf3 ib_write_bw; do
	command -v $tool >/dev/null || { echo "skip bench-ref0: $tool is missing" && exit 0; }
done
declare -A best
names=()
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

better() { # more|less, name, value
	printf '%s\n' "${3:--}" >>"$tmp/$2" # of all rounds, for the report
	[ -n "$3" ] || return 0
	[[ -v best[$2] ]] || names+=("$2")
	if [[ ! -v best[$2] ]] || awk -v a="$3" -v b="${best[$2]}" -v how="$1" 'BEGIN { exit !(how == "more" ? a > b : a < b) }'; then
		best[$2]=$3
	fi
}

tcp() {
	local server
	iperf3 -s -1 -p 5777 >/dev/null 2>&1 &
	server=$!
	sleep 0.3
	iperf3 -c 127.0.0.1 -p 5777 -t 2 -f m 2>/dev/null | awk '/sender/ { print $7 / 8 }' || true
	kill $server 2>/dev/null || true
}

# Field N of perftest's line of results; MiB/s become MB/s.
perf() { # field, factor, program with options
	local field=$1 factor=$2
	shift 2
	timeout 60 "$run" --quiet --pair -- "$@" 2>/dev/null |
		awk -v f="$field" -v k="$factor" '/^ [0-9]+ +[0-9]+ / && !n++ { print $f * k }' || true
}

for ((r = 1; r <= rounds; r++)); do
	better more "TCP stream" "$(tcp)"
	for op in write read send; do
		for size in 4096 65536 1048576; do
			n=$((200000000 / size))
			better more "ib_${op}_bw, $size bytes" "$(perf 4 1.048576 "ib_${op}_bw" -s $size -n $((n < 5000 ? n : 5000)))"
		done
	done
	better more "8-byte WRITEs per second" "$(perf 5 1000000 ib_write_bw -s 8 -n 200000)"
	better less "ib_send_lat, typical, us" "$(perf 5 1 ib_send_lat -n 5000)"
	better less "ib_write_lat, typical, us" "$(perf 5 1 ib_write_lat -n 5000)"
done

printf '%-28s %12s %8s\n' "best of $rounds" '' 'of TCP'
for name in "${names[@]}"; do
	case $name in
	*_bw,* | TCP*) awk -v n="$name" -v v="${best[$name]}" -v t="${best[TCP stream]:-0}" \
		'BEGIN { printf "%-28s %7.0f MB/s %8s\n", n, v, (t > 0 ? sprintf("%.2f", v / t) : "?") }' ;;
	*) awk -v n="$name" -v v="${best[$name]}" 'BEGIN { printf "%-28s %12.10g\n", n, v }' ;;
	esac
done

# ---- for the report ----

for size in 4096 65536 1048576; do
	for op in write read send; do
		aim=()
		[ "$op$size" != write65536 ] || aim=(aim_ratio=0.8)
		figure "ib_${op}_bw, $size bytes" MB/s most better=more peer="one TCP stream" peer_values="$tmp/TCP stream" "${aim[@]}" \
			<"$tmp/ib_${op}_bw, $size bytes"
	done
done
figure "8-byte WRITEs" 1/s most better=more aim=400000 <"$tmp/8-byte WRITEs per second"
figure "ib_send_lat, typical" µs least better=less aim=12 <"$tmp/ib_send_lat, typical, us"
figure "ib_write_lat, typical" µs least better=less <"$tmp/ib_write_lat, typical, us"
