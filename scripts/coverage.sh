#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# coverage.sh MAKE B - how much of transport/core the tests of the engine reach: lines and branches per file.
#
# Builds with gcc --coverage in B/coverage, runs the unit tests and a short soak in the simulator, lets gcov
# count. Branches of assert() stay out (coverage.awk says why); what else was never reached is listed in
# B/coverage/uncovered. Exit 1 below 95 % of lines or 85 % of branches, or when a test fails.
set -euo pipefail
make=$1 out=$2/coverage
dir=transport/core/
mkdir -p "$out"

"$make" --no-print-directory B="$out" CC=gcc SAN= OPT='-O0 -g' CFLAGS=--coverage LDFLAGS=--coverage strength-tests
find "$out" -name '*.gcda' -delete

# In one process per suite: the counters are written once, not once per test.
run() {
	if ! "$@" >"$out/log" 2>&1; then
		echo "coverage: failed: $*" >&2
		tail -n 20 "$out/log" >&2
		exit 1
	fi
}
for t in "$out"/tests/test_*; do
	[ -x "$t" ] || continue
	CK_FORK=no CK_VERBOSITY=minimal run "$t"
done
run "$out/tests/sim_soak" --seeds 25

files=$(cd "$dir" && echo *.c)
: >"$out/uncovered"
gcov --branch-probabilities --branch-counts --stdout "$out/obj/$dir"*.gcno 2>"$out/gcov.log" |
	LC_ALL=C awk -v dir="$dir" -v uncovered="$out/uncovered" -v min_lines=95 -v min_branches=85 -v files="$files" \
		-f scripts/coverage.awk
echo "never reached: $out/uncovered"
