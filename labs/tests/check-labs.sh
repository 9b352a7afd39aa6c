#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# check-labs.sh - every lab keeps its promises:
#
#   the starter compiles and fails, and says what the file `lab` says of it ("fails TEXT");
#   the solution passes with SEEDS seeds (20; the answers, too, with 3 of them), and once under AddressSanitizer;
#   every mutant of the solution (file `mutants`: NAME, sed or @deviation=NAME, TEXT) fails and is told why;
#   README, card, hints and predictions are there in both languages, built alike;
#   every command in a README works as it is printed.
#
#   check-labs.sh BUILD [NN...]
#
# JOBS labs are tried at a time (1).
#
# TIMES=1 tells how long a check of the solution takes, with the compiler and without (docs/labs.md).
#
# Nearly all of the time is the compiler's. With fewer than 20 seeds programs are compiled without optimization, what
# lab.h includes is read once, and AddressSanitizer is left to the long form.
set -euo pipefail
cd "$(dirname "$0")/../.."
b=${1:-build}
shift || true
b=$(cd "$b" && pwd)

# Each by a process of its own.
together() {
	local said rc=0
	said=$(find labs -maxdepth 1 -name '[0-9][0-9]-*' -printf '%f\n' | cut -c 1-2 | sort -r |
		env JOBS=1 xargs -P "$1" -n 1 labs/tests/check-labs.sh "$b") || rc=1
	awk '/claims hold/ { held += $2; broken += $5 } END { printf "check-labs: %d claims hold, %d do not\n", held, broken }' <<<"$said"
	return $rc
}
if [ $# = 0 ] && [ "${JOBS:-1}" -gt 1 ]; then
	together "$JOBS"
	exit
fi
export PATH=$b/bin:$PATH LC_ALL=C.UTF-8
unset VS_LAB_DEVICE VS_LAB_CFLAGS || true
seeds=${SEEDS:-20} answered=3
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
export VS_LAB_DIR=$tmp/home
passed=0 failed=0
flags='' # of the compiler, besides those of vs-lab

ok() { passed=$((passed + 1)); }
no() {
	failed=$((failed + 1))
	printf 'check-labs: %s\n' "$1" >&2
	if [ -s "$tmp/out" ]; then sed 's/^/    /' "$tmp/out" | tail -n 14 >&2; fi
}

# key of the lab's file
value() { awk -v k="$1" '$1 == k { sub(/^[^ ]+ +/, ""); print; exit }' "$lab/lab"; }

begin() { # seed
	rm -rf "$VS_LAB_DIR"
	vs-lab --seed "$1" start "$id" >"$tmp/out" 2>&1 || return 1
	work=$VS_LAB_DIR/$(basename "$lab")
	begun=$1
	if [ -f "$tmp/lab.h.gch" ]; then ln -sf "$tmp/lab.h.gch" "$work/"; fi
}
guess() { sed -i -E 's/^( *(answer|답):).*/\1 ?/' "$work/predict.txt"; }

# checks CODE CLAIM TEXT
checks() {
	local rc=0
	vs-lab check "$id" >"$tmp/out" 2>&1 || rc=$?
	if grep -q "does not compile" "$tmp/out"; then
		no "$id: $2: does not compile"
		return 1
	elif [ "$rc" != "$1" ]; then
		no "$id: $2: exit code $rc, not $1"
		return 1
	elif ! grep -qF -- "$3" "$tmp/out"; then
		no "$id: $2: does not say: $3"
		return 1
	fi
	ok
}

starter() {
	begin 1 || {
		no "$id: can't be started"
		return
	}
	[ "$kind" = warmup ] || guess
	checks 1 "the starter" "$(value fails)" || true
}

# Findings from the captures alone; they stay for the mutants.
solve_captures() {
	(cd "$work" && "$OLDPWD/$lab/solution/solve.sh") >"$work/findings.txt" 2>"$tmp/out" || return 1
	cp "$work/findings.txt" "$tmp/solution"
}

# The solution in the folder of the work, with answers that are right where they have to be.
solve() { # seed
	[ "$begun" = "$1" ] || begin "$1" || return 1
	rm -f "$work/lab.bin"
	guess
	if [ "$kind" = forensics ]; then
		solve_captures
		return
	fi
	cp "$lab/solution/solution.c" "$work/lab.c"
	if grep -q must "$lab/truth"; then
		vs-lab check "$id" >"$tmp/out" 2>&1 || true # leaves a run that the answers are computed from
		"$b/tests/lab_answers" labs "$id" "$1" "$work" >"$tmp/out" 2>&1 || return 1
	fi
}

# As a learner sees it: with the compiler's usual flags, after a change and without one.
time_checks() (
	TIMEFORMAT="check-labs: $id: %R s, processor %U + %S s"
	unset VS_LAB_CFLAGS VS_LAB_CLEAN
	rm -f "$work/lab.h.gch" "$work/lab.bin"
	vs-lab check "$id" >"$tmp/out" 2>&1 # also compiles what is compiled once
	rm -f "$work/lab.bin"
	time vs-lab check "$id" >"$tmp/out" 2>&1
	time vs-lab check "$id" >"$tmp/out" 2>&1
	rm -f "$work/lab.bin"
)

solution() {
	local seed
	for seed in $(seq 1 "$seeds"); do
		if [ "$seed" = 1 ] || [ "$kind" = forensics ] || { [ "$seed" -le "$answered" ] && grep -q must "$lab/truth"; }; then
			solve "$seed" || {
				no "$id: the solution with seed $seed can't be set up"
				return
			}
		else
			sed -i "s/^seed .*/seed $seed/; /^answer /d" "$VS_LAB_DIR/.progress" # the answers of another seed
		fi
		checks 0 "the solution with seed $seed" "done" || return
		if [ "$seed" = 1 ] && [ -n "${TIMES:-}" ]; then time_checks || true; fi
	done
	if [ "$kind" = forensics ]; then # no program; but are the filters the same with a tshark for each?
		[ "$seeds" -lt 20 ] || VS_LAB_EACH=1 checks 0 "the solution, capture by capture" "done" || true
		return
	fi
	if [ "$seeds" -lt 20 ]; then return; fi
	rm -f "$work/lab.bin"
	export VS_LAB_CFLAGS="-fsanitize=address,undefined -fno-sanitize-recover=all"
	export ASAN_OPTIONS=verify_asan_link_order=0
	checks 0 "the solution under AddressSanitizer" "done" || true
	unset ASAN_OPTIONS
	export VS_LAB_CFLAGS=$flags
	rm -f "$work/lab.bin"
}

# How programs of this kind are compiled; functions that are called millions of times want an optimizer.
compiler() {
	rm -f "$tmp/lab.h.gch"
	flags=''
	if [ "$seeds" -lt 20 ] && [ "$(value kind)" = unit ]; then
		flags=-g0
	elif [ "$seeds" -lt 20 ]; then
		flags='-O0 -g0'
		"${CC:-cc}" -std=c11 -D_DEFAULT_SOURCE -Wall -Wextra -g -O1 -O0 -g0 -o "$tmp/lab.h.gch" labs/include/lab.h 2>/dev/null || true
	fi
	export VS_LAB_CFLAGS=$flags
}

# With the solution of the newest seed in the work.
mutants() {
	local name edit text from=$lab/solution/solution.c to=$work/lab.c
	if [ "$kind" = forensics ]; then from=$tmp/solution to=$work/findings.txt; fi
	[ -f "$lab/mutants" ] || {
		no "$id: no mutants: a check that nothing can fail is none"
		return
	}
	while IFS=$'\t' read -r name edit text; do
		rm -f "$work/lab.bin"
		case $edit in
		@*) export VS_LAB_DEVICE=${edit#@} ;;
		*) sed "$edit" "$from" >"$to" || : >"$to" ;; # which does not compile
		esac
		if [ "${edit#@}" = "$edit" ] && cmp -s "$from" "$to"; then
			no "$id: mutant $name changes nothing"
		else
			checks 1 "mutant $name" "$text" || true
		fi
		unset VS_LAB_DEVICE
		cp "$from" "$to"
	done <"$lab/mutants"
	rm -f "$work/lab.bin"
}

# Headings, list items, code fences and the commands in them.
shape() {
	awk '/^```/ { fence = !fence; print; next }
		fence { if (lang) print; next }
		/^#+ / { print $1 }
		/^[0-9]+\. / { print $1 }
		/^- / { print "-" }' "$1"
	awk '/^```sh/ { on = 1; next } /^```/ { on = 0 } on' "$1"
}

languages() {
	local stem en ko
	for stem in README card hints/1 hints/2 hints/3 hints/4; do
		en=$lab/$stem.md ko=$lab/$stem.ko.md
		: >"$tmp/out"
		if [ ! -s "$en" ] || [ ! -s "$ko" ]; then
			no "$id: $stem.md or $stem.ko.md is missing"
		elif ! diff <(shape "$en") <(shape "$ko") >"$tmp/out"; then
			no "$id: $stem is not built alike in both languages"
		elif ! grep -qP '\p{Hangul}' "$ko"; then
			no "$id: $stem.ko.md is not Korean"
		else
			ok
		fi
	done
	if diff <(grep -oE '^[0-9]+\.|\{[a-z]+\}' "$lab/predict.txt" | sort) \
		<(grep -oE '^[0-9]+\.|\{[a-z]+\}' "$lab/predict.ko.txt" | sort) >"$tmp/out"; then
		ok
	else
		no "$id: predict.txt asks not the same in both languages"
	fi
	if diff <(grep -oE '^[0-9]+\.' "$lab/predict.txt" | tr -d .) \
		<(grep -v '^#' "$lab/truth" | awk '{ print $1 }') >"$tmp/out"; then
		ok
	else
		no "$id: questions and truths are not the same"
	fi
}

# Every block of commands, as printed, in the folder of the work, with the solution in it.
commands() {
	local n
	awk -v dir="$tmp" '/^```sh/ { n++; on = 1; next } /^```/ { on = 0 } on { print >(dir "/block" n) }' "$work/README.md"
	for n in 1 2 3 4 5 6 7 8 9; do
		[ -f "$tmp/block$n" ] || break
		if (cd "$work" && bash -e "$tmp/block$n") >"$tmp/out" 2>&1; then
			ok
		else
			no "$id: these commands of the README fail: $(cat "$tmp/block$n")"
		fi
		rm -f "$tmp/block$n"
	done
}

for lab in labs/[0-9][0-9]-*; do
	id=$(basename "$lab")
	id=${id%%-*}
	if [ $# -gt 0 ] && [[ " $* " != *" $id "* ]]; then continue; fi
	begun=''
	kind=$(value kind)
	unset VS_LAB_CLEAN || true
	if [ "$kind" = scoreboard ] && [ "$seeds" -lt 20 ]; then export VS_LAB_CLEAN=5; fi
	compiler
	languages
	starter || true # what does not hold is counted
	solution || continue
	mutants || true
	commands || true
done
printf 'check-labs: %d claims hold, %d do not\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
