#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# captures-self-test.sh PROGRAM - captures_check must notice what it is there to notice: a copy of
# the recorded captures is spoilt in one way at a time, and the check has to fail and say why.
set -euo pipefail
program=$1
here=$(dirname "$0")/../../pcaps/recorded
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

fresh() {
	rm -rf "$tmp/recorded"
	mkdir "$tmp/recorded"
	cp "$here"/rnr_ok.* "$here"/ud_send_v4.* "$here"/flush_range.* "$tmp/recorded"
	grep -E 'recorded/(rnr_ok|ud_send_v4|flush_range)\.' "$here/EXPECTED" >"$tmp/EXPECTED"
}

check() { # what it must say
	local rc=0
	"$program" --expected "$tmp/EXPECTED" "$tmp/recorded" >"$tmp/out" 2>&1 || rc=$?
	if [ "$1" = good ] && [ $rc = 0 ]; then return; fi
	if [ "$1" != good ] && [ $rc = 1 ] && grep -qF -- "$1" "$tmp/out"; then return; fi
	echo "captures-self-test: expected '$1', got exit $rc and:"
	cat "$tmp/out"
	exit 1
}

spoil() { # file, offset, byte
	printf '%b' "$3" | dd of="$tmp/recorded/$1" bs=1 seek="$2" conv=notrunc status=none
}

fresh
check good
spoil rnr_ok.pcap 89 '\x01' # DestQP of frame 1: file header 24, record 16, Ethernet 14, IP and UDP 28, BTH from 5 to 7
check 'frame 1 differs'
fresh
spoil ud_send_v4.pcap 150 '\xff' # payload of frame 1
check 'recorded/ud_send_v4.pcap: not as expected'
fresh
sed -i '0,/psn=000101/s//psn=000102/' "$tmp/recorded/rnr_ok.txt"
check 'frame 3 differs'
fresh
sed -i '/psn=000102/d' "$tmp/recorded/ud_send_v4.txt"
check 'no line for frame 3'
fresh
echo '    9.000 ms A>B  RC_ACK psn=000000 qp=000045 plen=0' >>"$tmp/recorded/rnr_ok.txt"
check 'this line has no packet'
fresh
sed -i 's/A>B/B>A/' "$tmp/recorded/rnr_ok.txt"
check 'goes the other way'
fresh
rm "$tmp/recorded/flush_range.pcap"
check 'recorded/flush_range.pcap: listed, and not there'
fresh
sed -i '/flush_range/d' "$tmp/EXPECTED"
check 'recorded/flush_range.pcap: not listed, and not all good'
fresh
truncate -s -3 "$tmp/recorded/ud_send_v4.pcap"
check "ud_send_v4.pcap: frame 3 can't be read"
echo 'captures-self-test: every kind of damage is noticed'
