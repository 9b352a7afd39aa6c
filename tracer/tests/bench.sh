#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# bench.sh BUILD [ROUNDS] [CALLS] - what recording costs: a call in nanoseconds, and programs of perftest, plain, with the
# recorder alone (vs-trace run --light) and with the device's events and a capture as well (vs-trace run --pair). Each round
# runs the three, one behind the other, and compares two of the same round: what the machine does otherwise is then the same
# for both; and each of the two programs has a processor of its own, where there are two: else it is chance which threads come to
# share one, and figures of one kind of run lie 20 % apart. Told are medians of those ratios, with quartiles, of the bandwidth (or
# latency) that perftest reports and of the processor time that both processes took for a message (bench_cpu.c). Beside it the
# memory that a run of CALLS calls takes.
set -euo pipefail
export LC_ALL=C
build=$(cd "${1:?which build folder?}" && pwd) rounds=${2:-9} calls=${3:-10000000}
# shellcheck source=bench/figures.sh
. "$(dirname "$0")/../../bench/figures.sh"
run=$build/bin/vs-run trace=$build/bin/vs-trace recorder=$build/lib/verbscope/libvs-record.so
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
export VS_BENCH_CPU=$tmp/cpu

# The server on processor 0, the client on 1.
cat >"$tmp/pinned" <<'SH'
#!/bin/sh
[ "$(nproc)" -gt 1 ] && exec taskset -c "$([ "$VS_NODE" = server ] && echo 0 || echo 1)" "$@"
exec "$@"
SH
chmod +x "$tmp/pinned"

note() { [ -z "$2" ] || echo "$2" >>"$tmp/$1"; } # name, value

recorded() { # program with options, under the recorder alone
	rm -rf "$tmp/r" && mkdir "$tmp/r"
	VS_RECORD=$tmp/r LD_PRELOAD=$recorder timeout 120 "$@"
}

perf() { # field, program with options -> "VALUE CPU": perftest's, and ns of processor time of both processes together
	local field=$1 value
	shift
	: >"$tmp/cpu"
	value=$(LD_PRELOAD=$build/tests/bench_cpu.so timeout 120 "$@" 2>/dev/null | awk -v f="$field" '/^ [0-9]+ +[0-9]+ / && !n++ { print $f }') || true
	awk -v v="$value" '{ sum += $1 } END { if (NR == 2 && v > 0) print v, sum }' "$tmp/cpu"
}

three() { # name, field, program with options: the ratios of one round
	local name=$1 field=$2 plain light full
	shift 2
	plain=$(perf "$field" "$run" --quiet --pair --netns -- "$tmp/pinned" "$@")
	light=$(perf "$field" "$trace" run --light --pair --netns -o "$tmp/t" -- "$tmp/pinned" "$@")
	full=$(perf "$field" "$trace" run --pair --netns -o "$tmp/t" -- "$tmp/pinned" "$@")
	[ -n "$plain" ] && [ -n "$light" ] && [ -n "$full" ] || return 0
	echo "$plain $light $full" >>"$tmp/$name"
}

number() { sed -n "s/.*$1 \([0-9.]*\).*/\1/p"; }

quartile() { sort -n "$tmp/$1" 2>/dev/null | awk -v q="$2" '{ v[NR] = $1 } END { if (NR) print v[int((NR - 1) * q / 4 + 0.5) + 1] }'; }

for ((r = 1; r <= rounds; r++)); do
	for how in plain light; do
		if [ $how = plain ]; then out=$("$run" --quiet -- "$build/tests/bench_record" 300000); else out=$(recorded "$run" --quiet -- "$build/tests/bench_record" 300000); fi
		note "post.$how" "$(number post <<<"$out")"
		note "poll.$how" "$(number poll <<<"$out")"
	done
	command -v ib_write_lat >/dev/null || continue
	three lat 5 ib_write_lat -n 2000
	three bw8 4 ib_send_bw -s 8 -n 100000
	three bw64k 4 ib_send_bw -s 65536 -n 1500
done

printf '%-24s %10s %10s %12s\n' "median of $rounds" plain recorded difference
for name in post poll; do
	awk -v n="$name" -v p="$(quartile $name.plain 2)" -v r="$(quartile $name.light 2)" \
		'BEGIN { printf "%-24s %7.1f ns %7.1f ns %9.1f ns\n", n == "post" ? "ibv_post_recv" : "ibv_poll_cq", p, r, r - p }'
done

share() { # name, column, column of plain: median and quartiles of the ratios, in per cent more or less
	awk -v a="$2" -v b="$3" '{ print 100 * ($a / $b - 1) }' "$tmp/$1" >"$tmp/ratio"
	printf '%+.1f (%+.1f to %+.1f)' "$(quartile ratio 2)" "$(quartile ratio 1)" "$(quartile ratio 3)"
}
row() { # name, what, messages
	[ -s "$tmp/$1" ] || return 0
	awk '{ print $1 }' "$tmp/$1" >"$tmp/value" && awk -v n="$3" '{ print $2 / n }' "$tmp/$1" >"$tmp/each"
	printf '%-24s %10.2f %26s %26s\n' "$2" "$(quartile value 2)" "$(share "$1" 3 1)" "$(share "$1" 5 1)"
	printf '%-24s %7.0f ns %26s %26s\n' "  processor time each" "$(quartile each 2)" "$(share "$1" 4 2)" "$(share "$1" 6 2)"
}
printf '\n%-24s %10s %26s %26s\n' "of $rounds rounds" plain 'calls (--light), %' 'calls and packets, %'
row lat 'ib_write_lat, us' 2000
row bw8 'ib_send_bw 8 B, MB/s' 100000
row bw64k 'ib_send_bw 64 KiB, MB/s' 1500
[ "$calls" -gt 0 ] || exit 0
small=$(recorded "$run" --quiet -- "$build/tests/bench_record" 100000 | number kB)
large=$(recorded "$run" --quiet -- "$build/tests/bench_record" "$calls" | number kB)
printf 'memory of a process after %s calls: %s kB, after 100000: %s kB\n' "$calls" "$large" "$small"

# ---- for the report ----

compared() { # name of the values, how they were made, what, unit, better
	[ ! -s "$tmp/$1.plain" ] || figure "$3" "$4" median better="$5" peer="not recorded" peer_values="$tmp/$1.plain" <"$tmp/$1.$2"
}
touch "$tmp"/{lat,bw8,bw64k}
for name in lat bw8 bw64k; do
	awk '{ print $1 }' "$tmp/$name" >"$tmp/$name.plain"
	awk '{ print $3 }' "$tmp/$name" >"$tmp/$name.light"
	awk '{ print $5 }' "$tmp/$name" >"$tmp/$name.full"
done
compared post light 'ibv_post_recv, processor time' ns less
compared poll light 'ibv_poll_cq, processor time' ns less
for how in light full; do
	what='calls'
	[ $how = light ] || what='calls and packets'
	compared lat $how "ib_write_lat, $what" µs less
	compared bw8 $how "ib_send_bw 8 bytes, $what" MB/s more
	compared bw64k $how "ib_send_bw 64 KiB, $what" MB/s more
done
figure_once "memory after $calls calls" MB "$(awk -v kb="$large" 'BEGIN { print kb / 1024 }')" better=less peer="after 100000" \
	peer_value="$(awk -v kb="$small" 'BEGIN { print kb / 1024 }')"
