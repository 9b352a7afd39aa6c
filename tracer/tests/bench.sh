#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# bench.sh BUILD [ROUNDS] [CALLS] - what recording costs: a call in nanoseconds, and programs of perftest as a share, plain,
# with the recorder (vs-trace run --light) and with the device's events and a capture as well (vs-trace run --pair), in turns.
# Medians of the rounds; beside a share stands how far the plain runs lie apart (quartiles), since what is smaller than that
# is noise. Beside it the memory that a run of CALLS calls takes.
set -euo pipefail
export LC_ALL=C
build=$(cd "${1:?which build folder?}" && pwd) rounds=${2:-5} calls=${3:-10000000}
# shellcheck source=bench/figures.sh
. "$(dirname "$0")/../../bench/figures.sh"
run=$build/bin/vs-run trace=$build/bin/vs-trace recorder=$build/lib/verbscope/libvs-record.so
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

note() { [ -z "$2" ] || echo "$2" >>"$tmp/$1"; } # name, value

recorded() { # program with options, under the recorder alone
	rm -rf "$tmp/r" && mkdir "$tmp/r"
	VS_RECORD=$tmp/r LD_PRELOAD=$recorder timeout 120 "$@"
}

perf() { # field, program with options: that of perftest's line of results
	local field=$1
	shift
	timeout 120 "$@" 2>/dev/null | awk -v f="$field" '/^ [0-9]+ +[0-9]+ / && !n++ { print $f }' || true
}

three() { # name, field, program with options
	local name=$1 field=$2
	shift 2
	note "$name.plain" "$(perf "$field" "$run" --quiet --pair --netns -- "$@")"
	note "$name.light" "$(perf "$field" "$trace" run --light --pair --netns -o "$tmp/t" -- "$@")"
	note "$name.full" "$(perf "$field" "$trace" run --pair --netns -o "$tmp/t" -- "$@")"
}

number() { sed -n "s/.*$1 \([0-9.]*\).*/\1/p"; }

quartile() { sort -n "$tmp/$1" 2>/dev/null | awk -v q="$2" '{ v[NR] = $1 } END { if (NR) print v[int((NR - 1) * q / 4 + 0.5) + 1] }'; }

for ((r = 1; r <= rounds; r++)); do
	for how in plain light; do
		if [ $how = plain ]; then out=$("$run" --quiet -- "$build/tests/bench_record" 1000000); else out=$(recorded "$run" --quiet -- "$build/tests/bench_record" 1000000); fi
		note "post.$how" "$(number post <<<"$out")"
		note "poll.$how" "$(number poll <<<"$out")"
	done
	command -v ib_write_lat >/dev/null || continue
	three lat 5 ib_write_lat -n 5000
	three bw8 4 ib_send_bw -s 8 -n 100000
	three bw64k 4 ib_send_bw -s 65536 -n 3000
done

small=$(recorded "$run" --quiet -- "$build/tests/bench_record" 100000 | number kB)
large=$(recorded "$run" --quiet -- "$build/tests/bench_record" "$calls" | number kB)

printf '%-24s %10s %10s %12s\n' "median of $rounds" plain recorded difference
for name in post poll; do
	awk -v n="$name" -v p="$(quartile $name.plain 2)" -v r="$(quartile $name.light 2)" \
		'BEGIN { printf "%-24s %7.1f ns %7.1f ns %9.1f ns\n", n == "post" ? "ibv_post_recv" : "ibv_poll_cq", p, r, r - p }'
done
printf '\n%-24s %10s %18s %18s %14s\n' "median of $rounds" plain 'calls (--light)' 'calls and packets' 'plain, apart'
row() { # name, what
	[ -s "$tmp/$1.plain" ] || return 0
	awk -v n="$2" -v p="$(quartile "$1.plain" 2)" -v a="$(quartile "$1.plain" 1)" -v b="$(quartile "$1.plain" 3)" \
		-v l="$(quartile "$1.light" 2)" -v f="$(quartile "$1.full" 2)" 'BEGIN {
		printf "%-24s %10.2f %10.2f %+6.1f%% %10.2f %+6.1f%% %13.1f%%\n", n, p, l, 100 * (l - p) / p, f, 100 * (f - p) / p,
			100 * (b - a) / p }'
}
row lat 'ib_write_lat, us'
row bw8 'ib_send_bw 8 B, MB/s'
row bw64k 'ib_send_bw 64 KiB, MB/s'
printf 'memory of a process after %s calls: %s kB, after 100000: %s kB\n' "$calls" "$large" "$small"

# ---- for the report ----

compared() { # name of the values, how they were made, what, unit, better
	[ ! -s "$tmp/$1.plain" ] || figure "$3" "$4" median better="$5" peer="not recorded" peer_values="$tmp/$1.plain" <"$tmp/$1.$2"
}
touch "$tmp"/{lat,bw8,bw64k}.{light,full}
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
