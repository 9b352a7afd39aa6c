#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# bench.sh BUILD [ROUNDS] [CALLS] - what recording costs: a call in nanoseconds, and programs of perftest, plain, with the
# recorder alone (as vs-trace run --light has it) and with the device's events and a capture as well (vs-trace run --pair). Each
# round compares two runs, one behind the other: what the machine does otherwise is then the same for both; and each of the
# two programs has a processor of its own, where there are two: else it is chance which threads come to share one, and figures of
# one kind of run lie 20 % apart. Told are medians of those ratios, with quartiles, of the bandwidth (or latency) that perftest
# reports and of the processor time that both processes took for a message (bench_cpu.c). Beside it the memory that a run of
# CALLS calls takes.
set -euo pipefail
export LC_ALL=C
build=$(cd "${1:?which build folder?}" && pwd) rounds=${2:-9} calls=${3:-10000000}
# shellcheck source=bench/figures.sh
. "$(dirname "$0")/../../bench/figures.sh"
run=$build/bin/vs-run trace=$build/bin/vs-trace recorder=$build/lib/verbscope/libvs-record.so
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
export VS_BENCH_CPU=$tmp/cpu

# The client on processor 1, the server and what is alone on 0.
cat >"$tmp/pinned" <<'SH'
#!/bin/sh
[ "$(nproc)" -gt 1 ] && exec taskset -c "$([ "${VS_NODE-}" = client ] && echo 1 || echo 0)" "$@"
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
	value=$(LD_PRELOAD=${BENCH_PRELOAD-}$build/tests/bench_cpu.so timeout 120 "$@" 2>/dev/null | awk -v f="$field" '/^ [0-9]+ +[0-9]+ / && !n++ { print $f }') || true
	awk -v v="$value" '{ sum += $1 } END { if (NR == 2 && v > 0) print v, sum }' "$tmp/cpu"
}

# The recorder alone leaves a spool here, of which vs-trace run would make a trace at the end, and the next run would begin
# while the disk still writes that.
light() { # field, program with options
	local field=$1
	shift
	rm -rf "$tmp/r" && mkdir "$tmp/r"
	VS_RECORD=$tmp/r BENCH_PRELOAD=$recorder: perf "$field" "$run" --quiet --pair --netns -- "$tmp/pinned" "$@"
}

ratio() { # name, plain, other: figures of one round, if both are there
	[ -z "$2" ] || [ -z "$3" ] || echo "$2 $3" >>"$tmp/$1"
}

two() { # name, field, program with options: without and with the recorder
	local name=$1 plain
	plain=$(perf "$2" "$run" --quiet --pair --netns -- "$tmp/pinned" "${@:3}")
	ratio "$name.light" "$plain" "$(light "${@:2}")"
}

all() { # name, field, program with options: without and with everything
	local name=$1 plain
	plain=$(perf "$2" "$run" --quiet --pair --netns -- "$tmp/pinned" "${@:3}")
	ratio "$name.full" "$plain" "$(perf "$2" "$trace" run --pair --netns -o "$tmp/t" -- "$tmp/pinned" "${@:3}")"
}

number() { sed -n "s/.*$1 \([0-9.]*\).*/\1/p"; }

quartile() { sort -n "$tmp/$1" 2>/dev/null | awk -v q="$2" '{ v[NR] = $1 } END { if (NR) print v[int((NR - 1) * q / 4 + 0.5) + 1] }'; }

for ((r = 1; r <= rounds; r++)); do
	for how in plain light; do
		if [ $how = plain ]; then out=$("$run" --quiet -- "$tmp/pinned" "$build/tests/bench_record" 1000000); else out=$(recorded "$run" --quiet -- "$tmp/pinned" "$build/tests/bench_record" 1000000); fi
		note "post.$how" "$(number post <<<"$out")"
		note "poll.$how" "$(number poll <<<"$out")"
	done
	command -v ib_write_lat >/dev/null || continue
	two lat 5 ib_write_lat -n 2000
	all lat 5 ib_write_lat -n 2000
	two bw8 4 ib_send_bw -s 8 -n 1000000
	all bw8 4 ib_send_bw -s 8 -n 50000
	two bw64k 4 ib_send_bw -s 65536 -n 10000
	all bw64k 4 ib_send_bw -s 65536 -n 1500
done

printf '%-24s %10s %10s %12s\n' "median of $rounds" plain recorded difference
for name in post poll; do
	awk -v n="$name" -v p="$(quartile $name.plain 2)" -v r="$(quartile $name.light 2)" \
		'BEGIN { printf "%-24s %7.1f ns %7.1f ns %9.1f ns\n", n == "post" ? "ibv_post_recv" : "ibv_poll_cq", p, r, r - p }'
done

# Of a file with lines of "VALUE CPU OTHER-VALUE OTHER-CPU":
share() { # file, column: median and quartiles of the ratios, in per cent more or less
	awk -v a="$2" '{ print 100 * ($(a + 2) / $a - 1) }' "$tmp/$1" >"$tmp/ratio"
	printf '%+.1f (%+.1f to %+.1f)' "$(quartile ratio 2)" "$(quartile ratio 1)" "$(quartile ratio 3)"
}
row() { # name, what, messages
	[ -s "$tmp/$1.light" ] && [ -s "$tmp/$1.full" ] || return 0
	awk '{ print $1 }' "$tmp/$1.light" >"$tmp/value" && awk -v n="$3" '{ print $2 / n }' "$tmp/$1.light" >"$tmp/each"
	printf '%-24s %10.2f %26s %26s\n' "$2" "$(quartile value 2)" "$(share "$1.light" 1)" "$(share "$1.full" 1)"
	printf '%-24s %7.0f ns %26s %26s\n' "  processor time each" "$(quartile each 2)" "$(share "$1.light" 2)" "$(share "$1.full" 2)"
}
printf '\n%-24s %10s %26s %26s\n' "of $rounds rounds" plain 'the recorder alone, %' 'calls and packets, %'
row lat 'ib_write_lat, us' 2000
row bw8 'ib_send_bw 8 B, MB/s' 1000000
row bw64k 'ib_send_bw 64 KiB, MB/s' 10000
[ "$calls" -gt 0 ] || exit 0
small=$(recorded "$run" --quiet -- "$build/tests/bench_record" 100000 | number kB)
large=$(recorded "$run" --quiet -- "$build/tests/bench_record" "$calls" | number kB)
printf 'memory of a process after %s calls: %s kB, after 100000: %s kB\n' "$calls" "$large" "$small"

# ---- for the report ----

compared() { # file with the values, file of those not recorded, what, unit, better [aim]
	[ ! -s "$tmp/$1" ] || figure "$3" "$4" median better="$5" peer="not recorded" peer_values="$tmp/$2" "${@:6}" <"$tmp/$1"
}
compared post.light post.plain 'ibv_post_recv, processor time' ns less
compared poll.light poll.plain 'ibv_poll_cq, processor time' ns less
for how in light full; do
	what='the recorder alone' aim=aim_ratio=0.95
	if [ $how = full ]; then what='calls and packets' aim=''; fi
	for name in lat bw8 bw64k; do
		[ -s "$tmp/$name.$how" ] || continue
		awk '{ print $1 }' "$tmp/$name.$how" >"$tmp/$name.$how.without"
		awk '{ print $3 }' "$tmp/$name.$how" >"$tmp/$name.$how.with"
	done
	compared lat.$how.with lat.$how.without "ib_write_lat, $what" µs less
	# shellcheck disable=SC2086 # an aim, or no word
	compared bw8.$how.with bw8.$how.without "ib_send_bw 8 bytes, $what" MB/s more $aim
	# shellcheck disable=SC2086
	compared bw64k.$how.with bw64k.$how.without "ib_send_bw 64 KiB, $what" MB/s more $aim
done
figure_once "memory after $calls calls" MB "$(awk -v kb="$large" 'BEGIN { print kb / 1024 }')" better=less peer="after 100000" \
	peer_value="$(awk -v kb="$small" 'BEGIN { print kb / 1024 }')"
