#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# soak.sh - verdicts that don't flake: the suite again and again on the simulator and on ref0, and every run has to give
# the same verdict and the same variants for every vector, as `vs-conform diff` compares them.
#
#   soak.sh BUILD [SIM-RUNS [REF0-RUNS [LOAD]]]     20, 5; LOAD: so many busy loops beside each run
set -euo pipefail
cd "$(dirname "$0")/../.."
bin=$1/bin/vs-conform
sim=${2:-20} ref0=${3:-5} load=${4:-0}
tmp=$(mktemp -d)
busy=()
end() {
	if [ ${#busy[@]} -gt 0 ]; then kill "${busy[@]}" 2>/dev/null || true; fi
	rm -rf "$tmp"
}
trap end EXIT
for ((i = 0; i < load; i++)); do
	while :; do :; done &
	busy+=($!)
done

failed=0
soak() { # DEVICE RUNS
	local first=$tmp/$1-1.json report run rc
	for ((run = 1; run <= $2; run++)); do
		report=$tmp/$1-$run.json rc=0
		"$bin" --quiet --device "$1" --json "$report" >"$tmp/out" 2>&1 || rc=$?
		printf '%s, run %d of %d: %s\n' "$1" "$run" "$2" "$(tail -n 1 "$tmp/out")"
		if [ $rc != 0 ]; then
			cat "$tmp/out"
			failed=$((failed + 1))
		fi
		"$bin" diff "$first" "$report" >"$tmp/out" || true
		if ! grep -qx 'no difference' "$tmp/out"; then
			printf 'soak-conform: run %d on %s differs from the first:\n' "$run" "$1" >&2
			cat "$tmp/out" >&2
			failed=$((failed + 1))
		fi
	done
}
soak sim "$sim"
soak ref0 "$ref0"
[ $failed = 0 ] && echo "$((sim + ref0)) runs, the same verdicts in each"
