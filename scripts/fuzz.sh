#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# fuzz.sh B BUILT SECONDS JOBS NAME[@SECONDS][:SEEDS[:SEEDS...]]... - runs libFuzzer targets BUILT/bin/NAME,
# JOBS at a time, SECONDS each unless they have their own. SEEDS are folders with first inputs.
#
# Kept between runs: B/corpus/NAME (inputs that reached something new) and B/crashes/NAME-* (inputs
# that crashed, leaked, hung or ate the memory); old crashes are tried first.
# Exit 0: nothing was found; 1: something was, and how to see it again is printed.
set -euo pipefail
build=$1 built=$2 seconds=$3 jobs=$4
shift 4
case $seconds in
'' | *[!0-9]* | 0)
	echo "fuzz: SECONDS='$seconds' is not a number of seconds" >&2
	exit 2
	;;
esac
[ $# -gt 0 ] || { echo "fuzz: FUZZERS is empty: nothing to run" >&2; exit 2; }

logs=$built/logs
mkdir -p "$logs" "$build/crashes"
export ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1

run_one() { # NAME:SEEDS...
	local -a part seeds old=()
	local name time rc=0
	IFS=: read -r -a part <<<"$1"
	name=${part[0]%@*} time=$seconds
	case ${part[0]} in *@*) time=${part[0]#*@} ;; esac
	seeds=("${part[@]:1}")
	mkdir -p "$build/corpus/$name"
	mapfile -t old < <(find "$build/crashes" -name "$name-*" -type f | LC_ALL=C sort)
	{
		if [ ${#old[@]} -gt 0 ]; then "$built/bin/$name" "${old[@]}" || rc=1; fi
		"$built/bin/$name" -max_total_time="$time" -timeout=10 -rss_limit_mb=2048 -max_len=16384 \
			-artifact_prefix="$build/crashes/$name-" -print_final_stats=1 \
			"$build/corpus/$name" "${seeds[@]}" || rc=1
	} >"$logs/$name.log" 2>&1
	return $rc
}

report() { # name, rc
	local runs
	runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$logs/$1.log" | tail -n 1)
	if [ "$2" = 0 ] && [ "${runs:-0}" -gt 0 ]; then
		printf '  ok    %-24s %12s inputs, corpus of %s\n' "$1" "$runs" "$(find "$build/corpus/$1" -type f | wc -l)"
		return
	fi
	printf '  FOUND %-24s log: %s\n' "$1" "$logs/$1.log"
	tail -n 40 "$logs/$1.log" | sed 's/^/    /'
	find "$build/crashes" -name "$1-*" | sed "s|.*|    again: $built/bin/$1 &|"
	return 1
}

failed=0 passed=0
declare -A running=()
collect_one() {
	local pid rc=0
	wait -n -p pid "${!running[@]}" || rc=$?
	if report "${running[$pid]}" $rc; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
	unset "running[$pid]"
}
trap 'kill $(jobs -p) 2>/dev/null || true' EXIT

echo "fuzz: $# targets, $seconds s, $jobs at a time"
# Those with a time of their own first: they take longest.
declare -a targets=()
for target; do [[ ${target%%:*} != *@* ]] || targets+=("$target"); done
for target; do [[ ${target%%:*} == *@* ]] || targets+=("$target"); done
for target in "${targets[@]}"; do
	[ ${#running[@]} -lt "$jobs" ] || collect_one
	run_one "$target" &
	name=${target%%:*}
	running[$!]=${name%@*}
done
while [ ${#running[@]} -gt 0 ]; do collect_one; done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
