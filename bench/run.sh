#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# run.sh B [NAME...] - make bench: runs the benchmarks, all or those that are named, one after the other, and writes B/bench.json
# and B/bench.html (bench-report). A benchmark is a make target, whose script hands over its figures (figures.sh); what it
# printed is in B/bench/NAME.log. One that fails, or can't run here, is reported as that.
#
# Environment: MAKE, CC, ROUNDS (of each that has rounds), BENCH_TIMEOUT (seconds for one, default 1200).
# Exit code: 0 all were measured or left out for a reason, 1 one failed or missed its aim, 2 there is no report.
set -euo pipefail
cd "$(dirname "$0")/.."
make=${MAKE:-make} shown=$1
shift
mkdir -p "$shown/bench"
build=$(cd "$shown" && pwd)
out=$build/bench records=$build/bench/records
rounds=${ROUNDS:+ROUNDS=$ROUNDS}

names=() # in this order
declare -A about target
benchmark() { names+=("$1") && about[$1]=$2 && target[$1]=$3; }
benchmark core "the engine on a simulated wire, one core" bench-core
benchmark drill "scenario scripts, parsed and run in the simulator" bench-drill
benchmark check "vs-pcap check beside tshark's built-in dissector" bench-check
benchmark dissector "the Wireshark plugin beside the built-in dissector" bench-dissector
benchmark memory "memory that the plugin's analysis takes" bench-dissector-memory
benchmark replay "vs-pcap replay beside tcpreplay, over a veth pair" bench-replay
benchmark ref0 "ref0 between two processes beside one TCP stream, over loopback" bench-ref0
benchmark trace "what recording costs a program" bench-trace
benchmark rxe "ref0 and the Linux soft-RoCE driver in one guest" bench-rxe

die() {
	echo "bench: $*" >&2
	exit 2
}
record() { LC_ALL=C awk -f bench/figure.awk -- --record "$@" >>"$records" || die "$records can't be written"; }
load() {
	local now
	read -r now _ </proc/loadavg
	echo "$now"
}

put_run() { # command
	local cpu commit=archive
	cpu=$(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | head -n 1)
	if git rev-parse --git-dir >/dev/null 2>&1; then commit=$(git describe --always --dirty --abbrev=10 2>/dev/null || echo '?'); fi
	record run version="$(cat VERSION)" commit="$commit" date="$(date -u +%Y-%m-%dT%H:%M:%SZ)" command="$1" cpu="${cpu:-$(uname -m)}" \
		cores="$(nproc)" memory_mb="$(awk '/^MemTotal/ { print int($2 / 1024) }' /proc/meminfo)" kernel="$(uname -r)" \
		system="$(sed -n 's/^PRETTY_NAME="\(.*\)"/\1/p' /etc/os-release 2>/dev/null || uname -s)" \
		compiler="$("${CC:-gcc}" --version | head -n 1)" load="$(load)"
}

# Why a benchmark is left out; nothing: it is not.
reason_against() { # name
	if [ "$1" = rxe ] && [ -z "$asked" ] && ! compgen -G "$build/rxe/*/guest.cpio" >/dev/null; then
		echo "it needs a guest, which is made first, of a kernel that is downloaded, and takes minutes; make bench BENCH=rxe does that"
	fi
}

# Prints "VERDICT REASON" of what a benchmark has left.
verdict_of() { # name, exit code
	local skip line
	skip=$(sed -n 's/^skip [^:]*: //p' "$out/$1.log" | head -n 1)
	if [ "$2" = 124 ]; then
		echo "failed it took more than ${BENCH_TIMEOUT:-1200} s"
	elif [ "$2" != 0 ]; then
		line=$(sed '/^make/d' "$out/$1.log" | tail -n 1 | cut -c 1-200)
		echo "failed ${line:-exit code $2, without a word}"
	elif [ -n "$skip" ]; then
		echo "skipped $skip"
	else
		echo ok
	fi
}

run_one() { # name
	local name=$1 start rc=0 reason verdict before
	record benchmark name="$name" about="${about[$name]}" command="make ${target[$name]}${rounds:+ $rounds}"
	reason=$(reason_against "$name")
	if [ -n "$reason" ]; then
		echo "== $name: left out: $reason"
		record end verdict=skipped reason="$reason"
		return
	fi
	echo "== $name"
	start=$(date +%s) before=$(load)
	: >"$out/$name.figures" || die "$out/$name.figures can't be written"
	# shellcheck disable=SC2086 # no word when there is none
	VS_BENCH_FIGURES=$out/$name.figures timeout "${BENCH_TIMEOUT:-1200}" \
		"$make" --no-print-directory B="$shown" "${target[$name]}" $rounds </dev/null >"$out/$name.log" 2>&1 || rc=$?
	cat "$out/$name.log"
	awk 1 "$out/$name.figures" >>"$records" || die "$records can't be written"
	read -r verdict reason < <(verdict_of "$name" "$rc") || true
	record end verdict="$verdict" reason="$reason" seconds=$(($(date +%s) - start)) load="$before"
}

asked=${1:-}
for name; do
	[[ -v about[$name] ]] || die "there is no benchmark '$name'; there are: ${names[*]}"
done
[[ -z ${ROUNDS:-} || $ROUNDS =~ ^[1-9][0-9]?$ ]] || die "ROUNDS=$ROUNDS is no number of rounds (1 to 99)"
: >"$records" || die "$records can't be written"
unset MAKEFLAGS MFLAGS MAKELEVEL
put_run "make bench${rounds:+ $rounds}${1:+ BENCH=\"$*\"}"
[ $# -gt 0 ] || set -- "${names[@]}"
for name; do run_one "$name"; done
rc=0
"$build/bin/bench-report" "$records" "$build/bench" || rc=$?
[ $rc = 2 ] || echo "bench: $shown/bench.html has it all, for a browser; $shown/bench.json for programs"
exit $rc
