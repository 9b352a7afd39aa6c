#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# bench.sh BUILD [ROUNDS] [CALLS] - what recording costs: a call, as a difference, and programs of perftest, as a share, with
# and without the recorder in turns, the best of the rounds each. Beside it the memory that a run of CALLS calls takes.
set -euo pipefail
export LC_ALL=C
build=$(cd "${1:?which build folder?}" && pwd) rounds=${2:-5} calls=${3:-10000000}
run=$build/bin/vs-run recorder=$build/lib/verbscope/libvs-record.so
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
declare -A best

better() { # more|less, name, value
	[ -n "$3" ] || return 0
	if [[ ! -v best[$2] ]] || awk -v a="$3" -v b="${best[$2]}" -v how="$1" 'BEGIN { exit !(how == "more" ? a > b : a < b) }'; then
		best[$2]=$3
	fi
}

recorded() { # program with options, under the recorder alone
	rm -rf "$tmp/r" && mkdir "$tmp/r"
	VS_RECORD=$tmp/r LD_PRELOAD=$recorder timeout 120 "$@"
}

perf() { # field, program with options: that of perftest's line of results
	local field=$1
	shift
	"$@" 2>/dev/null | awk -v f="$field" '/^ [0-9]+ +[0-9]+ / && !n++ { print $f }' || true
}

pair() { "$run" --quiet --pair --netns -- "$@"; }

both() { # more|less, name, field, program with options
	better "$1" "$2, plain" "$(perf "$3" pair "${@:4}")"
	better "$1" "$2, recorded" "$(perf "$3" recorded "$run" --quiet --pair --netns -- "${@:4}")"
}

number() { sed -n "s/.*$1 \([0-9.]*\).*/\1/p"; }

for ((r = 1; r <= rounds; r++)); do
	out=$("$run" --quiet -- "$build/tests/bench_record" 1000000)
	better less "post, plain" "$(number post <<<"$out")"
	better less "poll, plain" "$(number poll <<<"$out")"
	out=$(recorded "$run" --quiet -- "$build/tests/bench_record" 1000000)
	better less "post, recorded" "$(number post <<<"$out")"
	better less "poll, recorded" "$(number poll <<<"$out")"
	if command -v ib_write_lat >/dev/null; then
		both less "ib_write_lat, us" 5 ib_write_lat -n 5000
		both more "ib_send_bw 8 B, MB/s" 4 ib_send_bw -s 8 -n 100000
		both more "ib_send_bw 64 KiB, MB/s" 4 ib_send_bw -s 65536 -n 3000
	fi
done

small=$(recorded "$run" --quiet -- "$build/tests/bench_record" 100000 | number kB)
large=$(recorded "$run" --quiet -- "$build/tests/bench_record" "$calls" | number kB)

printf '%-28s %12s %12s %12s\n' "best of $rounds" plain recorded difference
for name in post poll; do
	awk -v n="ibv_${name}_${name/post/recv}" -v p="${best[$name, plain]}" -v r="${best[$name, recorded]}" \
		'BEGIN { sub(/poll_poll/, "poll_cq", n); printf "%-28s %9.1f ns %9.1f ns %9.1f ns\n", n, p, r, r - p }'
done
for name in "ib_write_lat, us" "ib_send_bw 8 B, MB/s" "ib_send_bw 64 KiB, MB/s"; do
	[[ -v best["$name, plain"] ]] || continue
	awk -v n="$name" -v p="${best[$name, plain]}" -v r="${best[$name, recorded]}" \
		'BEGIN { printf "%-28s %12.2f %12.2f %11.1f%%\n", n, p, r, 100 * (r - p) / p }'
done
printf 'memory of a process after %s calls: %s kB, after 100000: %s kB\n' "$calls" "$large" "$small"
