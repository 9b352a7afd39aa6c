#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# check.sh STEP... - what `make check` runs: each STEP is a make target. All of them run, whatever
# fails; at the end a table with times, the logs of what failed, and one line "N passed, N failed".
#
# What counts: a step that runs Check programs or prints lines "N passed, N failed" counts as many
# tests as they say; any other step is one. A step that fails without a failed test counts as one.
# Environment: MAKE, B (build folder), JOBS, STEP_TIMEOUT (seconds for one step, default 900).
set -euo pipefail
cd "$(dirname "$0")/.."

make=${MAKE:-make} build=${B:-build} jobs=${JOBS:-1}
logs=$build/check
mkdir -p "$logs"
rm -f "$logs"/*.log "$logs/summary"

# "passed failed" as the log of a step says it.
count() { # log, exit code of the step
	awk -v rc="$2" '
		match($0, /[0-9]+%: Checks: [0-9]+, Failures: [0-9]+, Errors: [0-9]+/) {
			split(substr($0, RSTART, RLENGTH), n, /[^0-9]+/) # percent, checks, failures, errors
			passed += n[2] - n[3] - n[4]
			failed += n[2] == 0 ? 1 : n[3] + n[4] # a program without a test proves nothing
		}
		/^[0-9]+ passed, [0-9]+ failed/ { passed += $1; failed += $3 }
		END {
			if (rc != 0 && failed == 0) failed = 1
			if (rc == 0 && passed + failed == 0) passed = 1
			print passed + 0, failed + 0
		}' "$1"
}

# Processor seconds of all children so far.
cpu() { awk -v hz="$(getconf CLK_TCK)" '{ sub(/.*\) /, ""); print int(($14 + $15) / hz) }' /proc/$$/stat; }

# MAKEFLAGS of the make that called us would make the steps share its -j; each gets its own.
unset MAKEFLAGS MFLAGS
passed=0 failed=0
declare -a table=() bad=()
all_start=$(date +%s)
for step; do
	echo "== $step"
	start=$(date +%s) start_cpu=$(cpu)
	rc=0
	timeout --foreground "${STEP_TIMEOUT:-900}" "$make" --no-print-directory -j"$jobs" B="$build" "$step" \
		</dev/null 2>&1 | tee "$logs/$step.log" || rc=${PIPESTATUS[0]}
	[ "$rc" != 124 ] || echo "check: $step took more than ${STEP_TIMEOUT:-900} s and was stopped" | tee -a "$logs/$step.log"
	read -r p f < <(count "$logs/$step.log" "$rc")
	# Failed tests in a step that claims success: believe the tests.
	if [ "$rc" = 0 ] && [ "$f" -gt 0 ]; then rc=1; fi
	passed=$((passed + p)) failed=$((failed + f))
	if [ "$rc" = 0 ]; then verdict=ok; else verdict=FAILED bad+=("$step"); fi
	table+=("$(printf '%-7s %-24s %5d s %5d s %7d passed %4d failed' $verdict "$step" \
		$(($(date +%s) - start)) $(($(cpu) - start_cpu)) "$p" "$f")")
done

echo
echo "== summary"
printf '%-7s %-24s %7s %7s\n' '' '' time cpu
printf '%s\n' "${table[@]}"
printf '%-7s %-24s %5d s %5d s\n' '' total $(($(date +%s) - all_start)) "$(cpu)"
for step in "${bad[@]}"; do
	echo "failed: $step (log: $logs/$step.log; again: make $step)"
done
# Tests say "skip NAME: reason" when this machine can't run them.
skipped=$(cat "$logs"/*.log | grep -c '^skip ' || true)
if [ "$skipped" -gt 0 ]; then
	echo "skipped: $skipped tests, because"
	sed -n 's/^skip [^:]*: /  /p' "$logs"/*.log | sort | uniq -c
fi
echo "$passed passed, $failed failed" | tee "$logs/summary"
[ ${#bad[@]} = 0 ]
