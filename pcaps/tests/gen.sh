#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# gen.sh - vs-pcap gen: what it writes, where, and what it says of scripts that are wrong or do not hold. The captures
# themselves are the business of library.sh. A check is named by its claim.
#
#   pcaps/tests/gen.sh BUILD_FOLDER
set -euo pipefail
export LC_ALL=C TZ=UTC
unset WIRESHARK_PLUGIN_DIR WIRESHARK_CONFIG_DIR

cd "$(dirname "$0")/../.."
# shellcheck source=pcaps/tests/lib.sh
. pcaps/tests/lib.sh "${1:?which build folder?}"

mkdir "$tmp/s"
loss=pcaps/scenarios/loss-middle.drill

# script NAME: standard input becomes a scenario.
script() {
	cat >"$tmp/s/$1.drill"
}

script fails <<'E2'
case   FAILS "A claim that does not hold"
qp     dut.q <-> peer rc
mr     dut.src len=8
dut    post send wr=1 src
peer<  SEND_ONLY psn=+1
E2
script wrong <<'E2'
case   WRONG "A word that is none"
qp     dut.q <-> peer rc
dut    cqe wr=1 SEND SUCESS
E2
script matrix <<'E2'
case   MATRIX "Sizes and MTUs"
matrix mtu = 256 1024
matrix len = 5 300
node   A B
qp     A.q <-> B.q rc mtu=$mtu
mr     A.m len=$len
mr     B.m len=$len access=local_write,remote_write
A      post write wr=1 m to=B.m
A      cqe wr=1 WRITE SUCCESS
E2

# frames FILE -> their number
frames() {
	"$vp" info "$1" | sed -n 's/^  frames: \([0-9]*\),.*/\1/p'
}

nothing_was_written() {
	[ -z "$(find "$tmp" -name 'never*')" ] || { find "$tmp" -name 'never*' && return 1; }
}

# ---- what it writes ----

the_same_seed_gives_the_same_bytes_and_another_one_others() {
	"$vp" gen "$loss" -o "$tmp/a.pcap" --seed 7
	"$vp" gen "$loss" -o "$tmp/b.pcap" --seed 7
	"$vp" gen "$loss" -o "$tmp/c.pcap" --seed 8
	cmp "$tmp/a.pcap" "$tmp/b.pcap"
	run cmp -s "$tmp/a.pcap" "$tmp/c.pcap"
	expect_rc 1
	[ "$(frames "$tmp/a.pcap")" = "$(frames "$tmp/c.pcap")" ]
}

every_encapsulation_can_be_asked_for_and_verifies() {
	local e
	for e in ib ib-grh rocev1 rocev2-ipv4 rocev2-ipv6; do
		"$vp" gen "$loss" -o "$tmp/e.pcap" --encap "$e"
		run "$vp" info "$tmp/e.pcap"
		expect_out ", $e"
		expect_out "ICRC: 12 good, 0 bad, 0 unverified"
	done
}

# The group of a script, as the engine and as the peer send to it: MAC and address.
a_group_has_an_address_in_every_encapsulation() {
	local e f want
	script g <<'EOF'
case GROUP "the peer sends to a group"
ud     dut.q qkey=0x11
ud     peer.q qkey=0x22
mr     dut.buf len=208 access=local_write
dut    attach mgid="ff0e::1234"
dut    post recv wr=1 buf
peer>  UD SEND_ONLY mgid="ff0e::1234" qkey=0x11 data=32
dut    cqe wr=1 RECV SUCCESS len=72
EOF
	for e in ib-grh rocev1 rocev2-ipv4 rocev2-ipv6; do
		case $e in
		ib-grh) want='-,-,ff0e::1234' ;;
		rocev1) want='33:33:00:00:12:34,-,ff0e::1234' ;;
		rocev2-ipv4) want='01:00:5e:00:12:34,239.0.18.52,-' ;;
		*) want='33:33:00:00:12:34,ff0e::1234,-' ;;
		esac
		for f in pcaps/scenarios/ud-multicast.drill "$tmp/s/g.drill"; do
			"$vp" gen "$f" -o "$tmp/e.pcap" --encap "$e" >/dev/null
			"$vt" -r "$tmp/e.pcap" -Y 'rdma.bth.destqp == 0xffffff && rdma.icrc.status == 1' -T fields -E separator=, \
				-e eth.dst -e ip.dst -e ipv6.dst -e rdma.grh.dgid 2>/dev/null |
				awk -F, '{ print ($1 ? $1 : "-") "," ($2 $3 ? $2 $3 : "-") "," ($4 ? $4 : "-") }' >"$tmp/fields"
			echo "$want" | diff - "$tmp/fields"
		done
	done
	"$vp" convert "$tmp/e.pcap" -o "$tmp/c.pcap" --encap rocev2-ipv4 >/dev/null
	"$vt" -r "$tmp/c.pcap" -Y 'eth.dst == 01:00:5e:00:12:34 && ip.dst == 239.0.18.52' 2>/dev/null | grep >/dev/null UD
	"$vp" convert "$tmp/c.pcap" -o "$tmp/d.pcap" --encap rocev1 >/dev/null
	"$vt" -r "$tmp/d.pcap" -Y 'eth.dst == 33:33:ef:00:12:34' 2>/dev/null | grep >/dev/null UD
}

a_vlan_tags_every_frame() {
	"$vp" gen "$loss" -o "$tmp/v.pcap" --vlan 42 --encap rocev2-ipv6
	[ "$("$vt" -r "$tmp/v.pcap" -Y 'vlan.id == 42 && rdma.icrc.status == 1' | wc -l)" = 12 ]
}

a_capture_at_the_receiver_lacks_what_was_lost() {
	"$vp" gen "$loss" -o "$tmp/all.pcap"
	"$vp" gen "$loss" -o "$tmp/at.pcap" --at B
	[ "$(frames "$tmp/all.pcap")" = 12 ] && [ "$(frames "$tmp/at.pcap")" = 11 ]
}

a_folder_gets_one_capture_for_each_run() {
	"$vp" gen "$tmp/s/matrix.drill" "$loss" -o "$tmp/many/"
	[ "$(cd "$tmp/many" && echo *)" = "loss-middle.pcap matrix-mtu=1024,len=300.pcap matrix-mtu=1024,len=5.pcap matrix-mtu=256,len=300.pcap matrix-mtu=256,len=5.pcap" ]
	[ "$(frames "$tmp/many/matrix-mtu=256,len=300.pcap")" = 3 ]
	"$vp" gen "$tmp/s/matrix.drill" -o "$tmp/many" --vector len=300 >"$tmp/out"
	expect_out ": 2 captures, 5 frames of 2 runs"
}

one_file_gets_all_runs_one_after_another_with_queue_pairs_of_their_own() {
	run "$vp" gen "$tmp/s/matrix.drill" -o "$tmp/one.pcap"
	expect_rc 0
	expect_out "one.pcap: 9 frames of 4 runs"
	run "$vp" info "$tmp/one.pcap"
	expect_out "flows: 8"
	expect_out "from 2026-01-01 00:00:06.00000"
}

a_script_and_a_capture_may_be_standard_input_and_output() {
	"$vp" gen "$loss" -o "$tmp/file.pcap"
	"$vp" gen - -o - <"$loss" >"$tmp/piped.pcap" 2>"$tmp/err"
	cmp "$tmp/file.pcap" "$tmp/piped.pcap"
	expect_err "12 frames of 1 run"
}

list_prints_the_vectors_and_runs_nothing() {
	run "$vp" gen --list "$tmp/s/matrix.drill" "$tmp/s/fails.drill"
	expect_rc 0
	expect_out "matrix.drill --vector mtu=256,len=300  MATRIX: Sizes and MTUs"
	expect_out "fails.drill  FAILS: A claim that does not hold"
	[ "$(wc -l <"$tmp/out")" = 5 ]
}

facts_stand_beside_the_capture() {
	"$vp" gen "$loss" -o "$tmp/f.pcap" --facts
	grep -q '"retransmissions": 4' "$tmp/f.expect.json"
	grep -q '"3: lost on the way: RC RDMA WRITE Middle, PSN 0x001002"' "$tmp/f.expect.json"
	[ -z "$(find "$tmp" -name '*.part')" ]
}

# No capture appears without its facts; a device has nothing beside it.
no_capture_stays_alone_when_its_facts_can_not_be_written() {
	mkdir -p "$tmp/alone/f.expect.json.part"
	run "$vp" gen "$loss" -o "$tmp/alone/f.pcap" --facts
	expect_rc 2
	expect_err "f.expect.json"
	[ "$(ls -A "$tmp/alone")" = f.expect.json.part ]
	refuses "stands beside a file" "$loss" -o /dev/null --facts
	[ ! -e /dev/null.expect.json ]
	rm -r "$tmp/alone"
}

# ---- what does not hold, what is wrong ----

a_claim_that_does_not_hold_is_shown_and_nothing_is_written() {
	run "$vp" gen "$tmp/s/fails.drill" "$loss" -o "$tmp/never.pcap"
	expect_rc 1
	expect_err "fails.drill:5:18: SEND_ONLY psn=+0 len=8 came: its PSN is"
	expect_err "^  peer<  SEND_ONLY psn=+1$"
	expect_err "^                   ^$"
	expect_err "fails.drill: FAILS does not hold: A claim"
	run "$vp" gen "$tmp/s/fails.drill" "$loss" -o "$tmp/never/"
	expect_rc 1
	nothing_was_written
}

what_failed_can_be_kept() {
	run "$vp" gen "$tmp/s/fails.drill" -o "$tmp/kept.pcap" --keep-failed
	expect_rc 1
	[ "$(frames "$tmp/kept.pcap")" = 1 ]
}

a_wrong_script_is_shown_with_a_caret_and_nothing_is_written() {
	run "$vp" gen "$loss" "$tmp/s/wrong.drill" -o "$tmp/never.pcap"
	expect_rc 2
	expect_err "wrong.drill:3:22: expected an operation, a status or a key, not 'SUCESS', did you mean SUCCESS?"
	expect_err "^                       ^$"
	nothing_was_written
}

what_an_encapsulation_cannot_give_is_skipped() {
	run "$vp" gen pcaps/scenarios/ud-wrong-qkey.drill -o "$tmp/never.pcap" --encap ib
	expect_rc 127
	expect_err "skipped: there is no GRH"
	nothing_was_written
	run "$vp" gen pcaps/scenarios/ud-wrong-qkey.drill "$loss" -o "$tmp/skip.pcap" --encap ib
	expect_rc 0
	expect_out "12 frames of 1 run"
}

refuses() {
	local text=$1
	shift
	run "$vp" gen "$@"
	expect_rc 2
	expect_err "$text"
	[ "$(wc -l <"$tmp/err")" = 1 ] || { cat "$tmp/err" && return 1; }
}

wrong_usage_is_one_line_and_code_2() {
	local o=$tmp/never.pcap
	refuses "which SCENARIO" -o "$o"
	refuses "where to" "$loss"
	refuses "is none of ib, ib-grh" "$loss" -o "$o" --encap token-ring
	refuses "no number from 1 to 4094" "$loss" -o "$o" --vlan 4095
	refuses "has no VLAN tags" "$loss" -o "$o" --vlan 4 --encap ib
	refuses "is no number" "$loss" -o "$o" --seed x
	refuses "no vector is mtu=7" "$tmp/s/matrix.drill" -o "$o" --vector mtu=7
	refuses "nothing passes a node C" "$loss" -o "$o" --at C
	refuses "can't be opened" "$tmp/absent.drill" -o "$o"
	refuses "can't be opened\|can't be read" "$tmp/s" -o "$o"
	refuses "can't hold Ethernet and native InfiniBand" "$loss" pcaps/scenarios/ib-loss.drill -o "$o"
	refuses "two scenarios would become this file" "$loss" "$loss" -o "$tmp/never/"
	refuses "is for one run a file" "$tmp/s/matrix.drill" -o "$o" --facts
	refuses "stands beside a file" "$loss" -o - --facts
	refuses "can't be made" "$loss" -o "$tmp/no/such/"
	refuses "No such file" "$loss" -o "$tmp/no/such.pcap"
	refuses "No such file" "$loss" pcaps/scenarios/ib-loss.drill -o "$tmp/no/such.pcap"
	refuses "No space left" "$loss" -o /dev/full
	refuses "takes no value" "$loss" -o "$o" --list=1
	nothing_was_written
}

help_names_every_option() {
	local option
	run "$vp" gen --help
	expect_rc 0
	for option in encap vlan seed vector at facts keep-failed list; do
		expect_out "--$option"
	done
}

while read -r claim <&3; do
	check "$claim"
done 3< <(sed -n 's/^\([a-z][a-z0-9_]*_[a-z0-9_]*\)() {$/\1/p' "$0" | grep -v '^nothing_was_written$')
finish
