#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# mutants.sh MAKE B COUNT SEED JOBS [NUMBER...] - do the tests of the engine notice small faults in it?
#
# All faults are built into one library (transport/tests/mutate.c), a number in VS_MUTANT chooses one. COUNT of
# them, drawn by SEED over all of transport/core (or the NUMBERs that are given), are tried one after the other:
# every test program that comes by the place runs, fastest first, until one fails. A crash, a failed assertion of
# the engine and endless work (CPU_LIMIT seconds) count as noticed.
#
# Faults that change nothing anyone could see stand in transport/tests/mutants.equivalent with the reason; they
# are tried too and must not be noticed, but do not count. Exit 1 below 90 %, or when that list is wrong.
set -euo pipefail
equivalents=transport/tests/mutants.equivalent

# One fault: "NUMBER PROGRAM:SECONDS..." -> a line "NUMBER PROGRAM" (noticed by), or "NUMBER -" (by none).
if [ "$1" = --one ]; then
	exec 2>/dev/null # the shell says of every program which signal it died of
	out=$2 number=$3
	shift 3
	export VS_MUTANT=$number CK_FORK=no
	ulimit -c 0 -v 4000000
	for program; do
		if ! (ulimit -t "${program#*:}" && exec timeout 300 "$out/tests/${program%:*}" --seeds 3) >/dev/null 2>&1; then
			echo "$number ${program%:*}" >>"$out/results"
			exit 0
		fi
	done
	echo "$number -" >>"$out/results"
	exit 0
fi

make=$1 out=$2/mutants count=$3 seed=$4 jobs=$5
shift 5
mkdir -p "$out/seen"
"$make" --no-print-directory MUTANTS=1 B="$out" SAN= OPT=-O2 LDFLAGS=-Wl,--wrap=_ck_assert_failed strength-tests

# Which faults each program comes by, and the CPU time it takes; without a fault all of them have to pass.
: >"$out/programs"
TIMEFORMAT='%U %S'
for t in "$out"/tests/test_* "$out/tests/sim_soak"; do
	name=${t##*/}
	[ -x "$t" ] || continue
	if ! { time VS_MUTANT_SEEN=$out/seen/$name CK_FORK=no "$t" --seeds 3 >"$out/log" 2>&1; } 2>"$out/time"; then
		echo "mutants: fails without a fault: $name" >&2
		tail -n 20 "$out/log" >&2
		exit 1
	fi
	# The soak last: what it alone notices has no test by claim. A second and four times the usual time is endless.
	awk -v name="$name" '{ printf "%d %.3f %s %d\n", name == "sim_soak", $1 + $2, name, 1.99 + 4 * ($1 + $2) }' "$out/time" >>"$out/programs"
done
sort -n -k 1,1 -k 2,2 "$out/programs" | while read -r _ _ name limit; do
	od -An -v -tu1 -w1 "$out/seen/$name" | awk -v name="$name:$limit" '$1 { print NR - 1, name }'
done >"$out/reached"

if [ $# -gt 0 ]; then
	printf '%s\n' "$@"
else # Park and Miller's generator: the same numbers from every awk
	awk -v count="$count" -v x="$seed" '
		{ site[NR] = $1 }
		END {
			for (i = NR; i > NR - count && i > 0; i--) {
				x = (x * 16807) % 2147483647
				j = 1 + x % i
				print site[j]
				site[j] = site[i]
			}
		}' "$out/core/sites"
fi | sort -n >"$out/chosen"
awk 'NR == FNR { by[$1] = by[$1] " " $2; next } { print $1 by[$1] }' "$out/reached" "$out/chosen" >"$out/plan"

echo "mutants: $(wc -l <"$out/chosen") of $(wc -l <"$out/core/sites") faults, seed $seed"
: >"$out/results"
xargs -P "$jobs" -L 1 "$0" --one "$out" <"$out/plan"
LC_ALL=C awk -F'\t' -v equivalents="$equivalents" -v results="$out/results" -f scripts/mutants.awk "$out/core/sites"
