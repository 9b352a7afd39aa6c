#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# two.sh - vs-pcap check A B: what became of packets between two captures of the same traffic, against what the simulator
# knows, which captures at both ends.
#
#   pcaps/tests/two.sh BUILD_FOLDER
set -euo pipefail
export LC_ALL=C TZ=UTC
cd "$(dirname "$0")/../.."
# shellcheck source=pcaps/tests/lib.sh
. pcaps/tests/lib.sh "${1:?which build folder?}"

# at_both NAME: $tmp/A.pcap and $tmp/B.pcap, what both ends of a scenario sent and got.
at_both() {
	local node
	for node in A B; do
		"$vp" gen "pcaps/scenarios/$1.drill" -o "$tmp/$node.pcap" --at "$node" >/dev/null || return
	done
}

compare() { # A B: JSON in $tmp/out
	run "$vp" check --json "$1" "$2"
	case $rc in 0 | 1) ;; *) cat "$tmp/err" && return 1 ;; esac
}

value() { # WAY KEY: a number of what is between them
	sed -n "/^    \"$1\": {/,/^    }/s/^      \"$2\": \([0-9]*\),*\$/\1/p" "$tmp/out"
}

lost_frames() { # how many frames stand in the lists
	grep -c '^          "frame": ' "$tmp/out" || true
}

# ---- what became of them ----

# cm-lost-req: a REQ is sent again with another PSN, so before the other capture begins nothing says that it was lost.
# delayed-ack: the run ends before what was delayed arrives.
losses_agree_with_the_simulator() {
	local scenario name want n=0 bad=0
	for scenario in pcaps/scenarios/*.drill; do
		name=$(basename "$scenario" .drill)
		grep -qE '^node +A B *$' "$scenario" || continue
		case $name in cm-lost-req | delayed-ack) continue ;; esac
		at_both "$name" 2>/dev/null || continue # nothing passes one of them
		compare "$tmp/A.pcap" "$tmp/B.pcap"
		want=$(sed -n 's/^    "lost": \([0-9]*\),*$/\1/p' "pcaps/generated/$name.expect.json")
		[ "$(lost_frames)" = "$want" ] || { echo "$name: $(lost_frames), expected $want" && bad=1; }
		n=$((n + 1))
	done
	echo "$n scenarios"
	[ "$n" -gt 60 ] && [ $bad = 0 ]
}

the_way_and_the_repetition_of_a_loss_are_named() {
	at_both loss-random
	run "$vp" check "$tmp/A.pcap" "$tmp/B.pcap"
	expect_rc 0
	expect_out 'B to A: 9 packets arrived, 1 were lost'
	expect_out 'frame 12 of B: RC RDMA READ Response Middle'
	at_both loss-middle
	run "$vp" check "$tmp/A.pcap" "$tmp/B.pcap"
	expect_out 'frame 3 of A: RC RDMA WRITE Middle to QP'
	expect_out 'lost on the way to B; sent again in frame 8'
}

copies_damage_and_overtaking_are_counted() {
	at_both duplicate-by-the-network
	compare "$tmp/A.pcap" "$tmp/B.pcap"
	[ "$(value a_to_b copied)" = 6 ] && [ "$(value a_to_b arrived)" = 6 ]
	at_both bad-icrc
	compare "$tmp/A.pcap" "$tmp/B.pcap"
	[ "$(value a_to_b damaged)" = 1 ] && [ "$(lost_frames)" = 0 ]
	at_both reorder-data
	compare "$tmp/A.pcap" "$tmp/B.pcap"
	[ "$(value a_to_b overtaken)" = 1 ] && [ "$(lost_frames)" = 0 ]
}

the_order_of_the_two_files_changes_the_names_alone() {
	at_both loss-random
	compare "$tmp/A.pcap" "$tmp/B.pcap"
	sed -n '/"a_to_b"/,/^    }/p' "$tmp/out" | tail -n +2 >"$tmp/there"
	compare "$tmp/B.pcap" "$tmp/A.pcap"
	sed -n '/"b_to_a"/,/^    }/p' "$tmp/out" | tail -n +2 | diff <(sed 's/},$/}/' "$tmp/there") -
}

# What was taken out of the copy of a recorded capture is what is not in it.
frames_that_one_capture_lacks_are_told_one_by_one() {
	"$vp" edit "$rec/loss_send_req_mid.pcap" -o "$tmp/B.pcap" 'drop 4th data' 'drop 2nd ack' >/dev/null
	run "$vp" check "$rec/loss_send_req_mid.pcap" "$tmp/B.pcap"
	expect_rc 0
	expect_out 'frame 4 of A: RC SEND Last to QP 0x000055, PSN 0x000103, lost on the way to B'
	expect_out 'frame 13 of A: RC Acknowledge'
	[ "$(grep -c 'lost on the way' "$tmp/out")" = 2 ]
}

# ---- clocks ----

the_difference_of_the_clocks_is_found_within_its_error() {
	local shift want
	command -v editcap >/dev/null || { echo "editcap is missing" && return 1; }
	at_both loss-random
	for shift in 0 0.5 -0.25 86400; do
		editcap -F nsecpcap -t "$shift" "$tmp/B.pcap" "$tmp/B2.pcap" 2>/dev/null
		compare "$tmp/A.pcap" "$tmp/B2.pcap"
		want=$(awk -v s="$shift" 'BEGIN { printf "%.0f", s * 1e9 }')
		awk -v want="$want" -F '[:,]' '
			/"offset_ns"/ { got = $2 } /"offset_error_ns"/ { error = $2 }
			END { d = got - want; exit (d < 0 ? -d : d) > error || error > 5000 }' "$tmp/out" ||
			{ echo "shifted by $shift" && return 1; }
		[ "$(lost_frames)" = 1 ]
	done
}

packets_one_way_alone_leave_the_clocks_unknown() {
	"$vp" edit "$rec/ud_send_v4.pcap" -o "$tmp/B.pcap" 'drop 2nd any' >/dev/null
	run "$vp" check "$rec/ud_send_v4.pcap" "$tmp/B.pcap"
	expect_rc 0
	expect_out 'packets went one way alone'
	expect_out 'A to B: 2 packets arrived, 1 were lost'
}

# ---- the command ----

a_capture_and_itself_differ_in_nothing() {
	local file
	for file in "$rec/loss_send_req_mid.pcap" "$rec/rc_read_v6.pcap" pcaps/generated/encap-ib-local.pcap; do
		compare "$file" "$file"
		[ "$(lost_frames)" = 0 ] && grep -q '"offset_ns": 0,' "$tmp/out"
	done
}

captures_of_other_traffic_are_said_to_be_so() {
	run "$vp" check "$rec/rnr_ok.pcap" "$rec/rc_read_v6.pcap"
	expect_rc 0
	expect_out 'nothing is in both'
}

each_file_is_judged_as_it_is_alone() {
	"$vp" check pcaps/generated/malformed-payload.pcap >"$tmp/alone" || true
	run "$vp" check pcaps/generated/malformed-payload.pcap "$rec/rnr_ok.pcap"
	expect_rc 1
	diff "$tmp/alone" <(sed 's/^A: //' "$tmp/out" | head -n "$(wc -l <"$tmp/alone")")
}

wrong_uses_are_one_line() {
	run "$vp" check --packets "$rec/rnr_ok.pcap" "$rec/rnr_ok.pcap"
	expect_rc 2
	[ "$(wc -l <"$tmp/err")" = 1 ]
	run "$vp" check "$rec/rnr_ok.pcap" "$tmp/absent"
	expect_rc 2
	expect_err "can't be opened"
	[ ! -s "$tmp/out" ]
}

while read -r claim <&3; do
	check "$claim"
done 3< <(sed -n 's/^\([a-z][a-z0-9_]*_[a-z0-9_]*\)() {$/\1/p' "$0" | grep -v -e '^at_both$' -e '^lost_frames$')
finish
