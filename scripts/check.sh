#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# check.sh STEP... [--together STEP...] - what `make check` runs: each STEP is a make target. All of them
# run, whatever fails; at the end a table with times, the logs of what failed, and one line "N passed, N
# failed". The steps after --together must have nothing left to build: JOBS + 1 of them run at a time, and
# the log of each is shown when it ends.
#
# What counts: a step that runs Check programs or prints lines "N passed, N failed" counts as many
# tests as they say; any other step is one. A step that fails without a failed test counts as one.
# Environment: MAKE, B (build folder), JOBS, STEP_TIMEOUT (seconds for one step, default 900), RESULTS (folder for
# logs, times, the summary and, when something failed, failures: what its log says of it; default B/check).
set -euo pipefail
cd "$(dirname "$0")/.."

make=${MAKE:-make} build=${B:-build} jobs=${JOBS:-1}
logs=${RESULTS:-$build/check}
mkdir -p "$logs"
rm -f "$logs"/*.log "$logs"/*.result "$logs/summary" "$logs/failures"

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

# Processor seconds of all children of shell $1 so far.
cpu() { awk -v hz="$(getconf CLK_TCK)" '{ sub(/.*\) /, ""); print int(($14 + $15) / hz) }' "/proc/$1/stat"; }

# One step: its output goes to our stdout and its log; times and counts to $logs/STEP.result.
run_step() { # step, jobs
	local start start_cpu rc=0 p f me=$BASHPID
	start=$(date +%s) start_cpu=$(cpu "$me")
	timeout --foreground "${STEP_TIMEOUT:-900}" "$make" --no-print-directory -j"$2" B="$build" "$1" \
		</dev/null 2>&1 | tee "$logs/$1.log" || rc=${PIPESTATUS[0]}
	[ "$rc" != 124 ] || echo "check: $1 took more than ${STEP_TIMEOUT:-900} s and was stopped" | tee -a "$logs/$1.log"
	read -r p f < <(count "$logs/$1.log" "$rc")
	# Failed tests in a step that claims success: believe the tests.
	if [ "$rc" = 0 ] && [ "$f" -gt 0 ]; then rc=1; fi
	echo "$rc $(($(date +%s) - start)) $(($(cpu "$me") - start_cpu)) $p $f" >"$logs/$1.result"
}

# What the log of a failed step says of the failure: the lines that name it with those around them, and the last.
excerpt() { # step
	echo "== $1"
	grep -vE '^(gcc|clang|ar) ' "$logs/$1.log" |
		grep -nE -B 3 -A 12 '^(FAIL|FAILED|not ok|bad|BAD)\b|:[FE]:|[Ee]rror:|assert|runtime error|ERROR: ' |
		cut -c -300 | tail -n 80 || true
	echo "-- the end of it"
	grep -vE '^(gcc|clang|ar) ' "$logs/$1.log" | cut -c -300 | tail -n 20 || true
}

# MAKEFLAGS of the make that called us would make the steps share its -j; each gets its own.
unset MAKEFLAGS MFLAGS
all_start=$(date +%s)
declare -a steps=()
declare -A running=()
show_one() { # waits for one of the steps that run together
	local pid
	wait -n -p pid "${!running[@]}" || true
	echo "== ${running[$pid]}"
	cat "$logs/${running[$pid]}.log"
	unset "running[$pid]"
}
together=
for step; do
	if [ "$step" = --together ]; then
		together=1
		continue
	fi
	steps+=("$step")
	if [ -z "$together" ]; then
		echo "== $step"
		run_step "$step" "$jobs"
	else
		[ ${#running[@]} -le "$jobs" ] || show_one # one more than processors: some wait most of the time
		run_step "$step" 1 >/dev/null &
		running[$!]=$step
	fi
done
while [ ${#running[@]} -gt 0 ]; do show_one; done

passed=0 failed=0
declare -a table=() bad=()
for step in "${steps[@]}"; do
	read -r rc time cpu_time p f <"$logs/$step.result"
	passed=$((passed + p)) failed=$((failed + f))
	if [ "$rc" = 0 ]; then verdict=ok; else verdict=FAILED bad+=("$step"); fi
	table+=("$(printf '%-7s %-24s %5d s %5d s %7d passed %4d failed' $verdict "$step" "$time" "$cpu_time" "$p" "$f")")
done

echo
echo "== summary"
printf '%-7s %-24s %7s %7s\n' '' '' time cpu
printf '%s\n' "${table[@]}"
printf '%-7s %-24s %5d s %5d s\n' '' total $(($(date +%s) - all_start)) "$(cpu $$)"
for step in "${bad[@]}"; do
	echo "failed: $step (log: $logs/$step.log; again: make $step)"
	excerpt "$step" >>"$logs/failures"
done
# Tests say "skip NAME: reason" when this machine can't run them.
skipped=$(cat "$logs"/*.log | grep -c '^skip ' || true)
if [ "$skipped" -gt 0 ]; then
	echo "skipped: $skipped tests, because"
	sed -n 's/^skip [^:]*: /  /p' "$logs"/*.log | sort | uniq -c
fi
echo "$passed passed, $failed failed" | tee "$logs/summary"
[ ${#bad[@]} = 0 ]
