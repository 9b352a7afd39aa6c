#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# check-test.sh - scripts/check.sh and scripts/fuzz.sh believe nothing: steps and fuzzers that fail in
# every way they can are counted and reported. The steps are played by a stand-in for make.
set -euo pipefail
scripts=$(cd "$(dirname "$0")/.." && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

cat >"$tmp/make" <<'EOF'
#!/bin/bash
for step; do :; done
case $step in
good) echo "100%: Checks: 7, Failures: 0, Errors: 0" ;;
script) printf "skip    live: no network here\n5 passed, 0 failed\n" ;;
silent) ;;
red) printf 'Running suite(s): x\n60%%: Checks: 5, Failures: 1, Errors: 1\n'; exit 1 ;;
liar) echo "4 passed, 1 failed" ;;
empty) echo "Running suite(s):100%: Checks: 0, Failures: 0, Errors: 0" ;;
crash) exit 139 ;;
hang) sleep 20 ;;
esac
EOF
mkdir -p "$tmp/b/fuzz/bin"
cat >"$tmp/b/fuzz/bin/fuzz_good" <<'EOF'
#!/bin/bash
echo "stat::number_of_executed_units: 12"
EOF
cat >"$tmp/b/fuzz/bin/fuzz_crash" <<'EOF'
#!/bin/bash
for a; do case $a in -artifact_prefix=*) touch "${a#*=}crash-1" ;; esac; done
exit 77
EOF
cat >"$tmp/b/fuzz/bin/fuzz_idle" <<'EOF'
#!/bin/bash
exit 0
EOF
printf '#!/bin/bash\necho good\n' >"$tmp/good-test"
printf '#!/bin/bash\nsleep 0.3\necho bad\nexit 1\n' >"$tmp/bad-test"
printf '#!/bin/bash\nsleep 0.3\nkill -9 $$\n' >"$tmp/dead-test"
chmod +x "$tmp"/*-test "$tmp/make" "$tmp"/b/fuzz/bin/*

passed=0 failed=0
expect() { # claim, exit code, last line, command...
	local claim=$1 want=$2 last=$3 out rc=0
	shift 3
	out=$("$@" 2>&1) || rc=$?
	if [ $rc = "$want" ] && [ "$(tail -n 1 <<<"$out")" = "$last" ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		printf 'FAILED  %s: exit %s, printed:\n%s\n' "$claim" $rc "$out"
	fi
}
unset RESULTS # of the check that runs this one
steps() { env MAKE="$tmp/make" B="$tmp/b" STEP_TIMEOUT=1 "$scripts/check.sh" "$@"; }
fuzz() { "$scripts/fuzz.sh" "$tmp/b" "$tmp/b/fuzz" 1 2 "$@"; }

expect "what passes is counted" 0 "13 passed, 0 failed" steps good script silent
expect "a failed test fails the whole, and the other steps still run" 1 "10 passed, 2 failed" steps red good
expect "a step that claims success with failed tests is not believed" 1 "4 passed, 1 failed" steps liar
expect "a test program without tests is a failure" 1 "0 passed, 1 failed" steps empty
expect "a crash is a failure" 1 "1 passed, 1 failed" steps crash silent
expect "a step that hangs is stopped, and is a failure" 1 "1 passed, 1 failed" steps hang silent
expect "steps that run together are counted like others" 1 "12 passed, 2 failed" \
	env JOBS=2 MAKE="$tmp/make" B="$tmp/b" STEP_TIMEOUT=1 "$scripts/check.sh" good --together hang script crash
expect "of test programs that run together, one that fails fails the whole" 1 "bad" "$scripts/run-tests.sh" 2 "$tmp/good-test" "$tmp/bad-test"
expect "and one that dies" 1 "$tmp/dead-test: ended with 137" "$scripts/run-tests.sh" 2 "$tmp/good-test" "$tmp/dead-test"
cat >"$tmp/fork-test" <<'EOF'
#!/bin/sh
echo "${0##*/} CK_FORK=$CK_FORK"
EOF
cp "$tmp/fork-test" "$tmp/nofork-test"
chmod +x "$tmp/fork-test" "$tmp/nofork-test"
expect "tests have a process each" 0 "fork-test CK_FORK=yes" "$scripts/run-tests.sh" 1 "$tmp/fork-test"
expect "those after --no-fork share one" 0 "nofork-test CK_FORK=no" "$scripts/run-tests.sh" 1 "$tmp/fork-test" --no-fork "$tmp/nofork-test"
expect "when none fails, it passes" 0 "good" "$scripts/run-tests.sh" 2 "$tmp/good-test"
expect "fuzzers that find nothing pass" 0 "1 passed, 0 failed" fuzz fuzz_good
expect "a crash that a fuzzer finds fails" 1 "1 passed, 1 failed" fuzz fuzz_good fuzz_crash
expect "a fuzzer that ran nothing fails" 1 "0 passed, 1 failed" fuzz fuzz_idle
expect "no fuzzers, no success" 2 "fuzz: FUZZERS is empty: nothing to run" fuzz
echo "$passed passed, $failed failed"
[ $failed = 0 ]
