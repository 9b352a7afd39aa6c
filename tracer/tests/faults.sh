#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# faults.sh BUILD [WORD] - for each row of faults.tsv: the program runs under vs-trace run with that fault, and `vs-trace
# why` must name the cause first. WORD: only rows that hold it. Then the other way round: what is good must be called so.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
word=${2:-}
jobs=${JOBS:-2}
export ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0 # programs that leave without cleaning up
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
PATH=$build/bin:$PATH

trim() { sed 's/^ *//; s/ *$//' <<<"$1"; }

# The first cause, or what was said instead.
first() { # folder, options of why
	local rc=0
	vs-trace why "${@:2}" "$1" >"$1.why" 2>&1 || rc=$?
	sed -n 's/^  1\. .*\[\([a-z_]*\), .*/\1/p' "$1.why" | head -1
	[ $rc -le 127 ] || echo "exit $rc"
}

one() { # number, cause, options, program, why
	local dir=$tmp/$1 cause=$2 options program why got
	eval "options=($3)"
	eval "program=($4)"
	eval "why=($5)"
	case ${program[0]} in ibv_* | ib_* | rping) ;; *) program=("$build/tests/victim" "${program[@]}") ;; esac
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
		if ! [[ $program =~ ^(ibv|ib|rping) ]] || command -v "${program%% *}" >/dev/null; then
			n=$((n + 1))
			while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n || true; done
			one $n "$cause" "$(trim "$options")" "$program" "$(trim "$why")" &
		else
			echo "skip $cause: ${program%% *} is not installed (scripts/deps.sh apps does that)"
		fi
	done <"$here/faults.tsv"
	wait
}

rows
bad=0
for i in $(seq 1 $n); do
	cat "$tmp/$i.result"
	! grep -q '^FAIL' "$tmp/$i.result" || bad=$((bad + 1))
done
echo "$((n - bad)) of $n faults are named first"
[ $bad = 0 ]
