#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# faults.sh BUILD [WORD] [TABLE] - for each row of faults.tsv: the program runs under vs-trace run with that fault, and
# `vs-trace why` must name the cause first. WORD: only rows that hold it. Without WORD every cause of causes.def must have
# a row.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
word=${2:-} table=${3:-$here/faults.tsv}
jobs=${JOBS:-2}
export ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0 # programs that leave without cleaning up
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
PATH=$build/bin:$PATH

trim() { sed 's/^ *//; s/ *$//' <<<"$1"; }

# The first cause, or what was said instead. @NAME among the options: of that file alone.
first() { # folder, options of why
	local rc=0 of=$1 options=() o
	for o in "${@:2}"; do
		case $o in
		@*) of=$(find "$1" -name "${o#@}" | head -1) ;;
		*) options+=("$o") ;;
		esac
	done
	vs-trace why "${options[@]}" "$of" >"$1.why" 2>&1 || rc=$?
	sed -n 's/^  1\. .*\[\([a-z_]*\), .*/\1/p' "$1.why" | head -1
	[ $rc -le 127 ] || echo "exit $rc"
}

one() { # number, cause, options, program, why
	local dir=$tmp/$1 cause=$2 options program why got
	eval "options=($3)"
	eval "program=($4)"
	eval "why=($5)"
	case ${program[0]} in ibv_* | ib_* | rping | ucmatose | python3 | timeout) ;; *) program=("$build/tests/victim" "${program[@]}") ;; esac
	case "$3" in *--pair* | *--ref0*) ;; *) options=(--sim --seed 1 "${options[@]}") ;; esac
	timeout 60 vs-trace run -o "$dir" "${options[@]}" -- "${program[@]}" >"$dir.out" 2>&1 </dev/null || true
	got=$(first "$dir" "${why[@]}")
	if [ "$got" = "$cause" ]; then
		echo "ok   $cause: $3 $4" >"$dir.result"
	else
		{
			echo "FAIL $cause: ${got:-nothing} is named first: vs-trace run $3 -- $4"
			sed 's/^/     | /' "$dir.why" | head -30
			sed 's/^/     : /' "$dir.out" | head -20
		} >"$dir.result"
	fi
	rm -rf "$dir"
}

n=0
rows() {
	while IFS='|' read -r cause options program why; do
		case $cause in '#'* | '') continue ;; esac
		if [ -n "$word" ] && [[ "$cause $options $program" != *"$word"* ]]; then continue; fi
		cause=$(trim "$cause")
		program=$(trim "$program")
		if ! [[ $program =~ ^(ibv_|ib_|rping|ucmatose|python3|timeout) ]] || command -v "${program%% *}" >/dev/null; then
			n=$((n + 1))
			while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n || true; done
			one $n "$cause" "$(trim "$options")" "$program" "$(trim "$why")" &
		else
			echo "skip $cause: ${program%% *} is not installed (scripts/deps.sh apps does that)"
		fi
	done <"$table"
	wait
}

rows
bad=0
for i in $(seq 1 $n); do
	cat "$tmp/$i.result"
	! grep -q '^FAIL' "$tmp/$i.result" || bad=$((bad + 1))
done
echo "$((n - bad)) of $n faults are named first"
if [ $# = 1 ]; then
	while read -r cause; do
		grep -q "^$cause " "$table" || { echo "FAIL $cause has no row in faults.tsv" && bad=$((bad + 1)); }
	done < <(sed -n 's/^VT_CAUSE([A-Z_]*, "\([a-z_]*\)".*/\1/p' "$here/../causes.def")
fi
[ $bad = 0 ]
