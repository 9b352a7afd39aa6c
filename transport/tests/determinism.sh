#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# determinism.sh SIM_SOAK... - the same seed gives the same bytes: capture and trace of each seed, written by the
# first program twice and by the others once, are all the same. The programs are one, built in different ways.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
seeds='1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24'
bytes=0

one() { # program, seed, name
	if ! "$1" --seed "$2" --capture "$tmp/$3.pcap" --trace "$tmp/$3.vst" >/dev/null; then
		echo "determinism: $1 --seed $2 fails" >&2
		exit 1
	fi
}

same() { # seed, what, file, file
	if ! cmp "$3" "$4" >&2; then
		echo "determinism: seed $1, $2" >&2
		exit 1
	fi
}

for seed in $seeds; do
	one "$1" "$seed" first
	for program; do
		one "$program" "$seed" again
		same "$seed" "$program: another capture" "$tmp/first.pcap" "$tmp/again.pcap"
		same "$seed" "$program: another trace" "$tmp/first.vst" "$tmp/again.vst"
	done
	bytes=$((bytes + $(cat "$tmp/first.pcap" "$tmp/first.vst" | wc -c)))
	if [ -f "$tmp/other.vst" ] && cmp -s "$tmp/first.vst" "$tmp/other.vst"; then
		echo "determinism: seed $seed gives the trace of the seed before" >&2
		exit 1
	fi
	cp "$tmp/first.vst" "$tmp/other.vst"
done
echo "determinism: $(echo "$seeds" | wc -w) seeds, $bytes bytes of captures and traces, the same from $# programs"
