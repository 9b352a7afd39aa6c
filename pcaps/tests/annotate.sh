#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# annotate.sh - vs-pcap annotate: what is found stands in the comments, and nothing else changes. Wireshark's own tools
# (without the plugin) read the copies.
#
#   pcaps/tests/annotate.sh BUILD_FOLDER
set -euo pipefail
export LC_ALL=C TZ=UTC
cd "$(dirname "$0")/../.."
# shellcheck source=pcaps/tests/lib.sh
. pcaps/tests/lib.sh "${1:?which build folder?}"
if ! command -v tshark >/dev/null || ! command -v editcap >/dev/null; then
	echo "skip check-pcap-annotate: tshark or editcap is missing"
	exit 0
fi
some=("$rec"/{rnr_ok,perf_write_bw_64k_snap96}.pcap
	pcaps/generated/{encap-ib-global,ib-snap,rawip,gso,malformed-payload}.pcap)

annotate() { # IN OUT [EXIT CODE]
	run "$vp" annotate "$1" -o "$2"
	expect_rc "${3:-0}"
}

fields() { # FILE FIELD...: one line for each frame
	local file=$1 args=()
	shift
	for f in "$@"; do args+=(-e "$f"); done
	tshark -r "$file" -T fields -E separator=/s -E occurrence=a "${args[@]}" 2>/dev/null
}

what() { # FILE: everything of its frames that a comment must not change
	fields "$1" frame.number frame.time_epoch frame.len frame.cap_len frame.encap_type
}

# ---- what is in it ----

frames_in_are_frames_out_with_the_same_bytes_and_times() {
	local file
	for file in "${some[@]}"; do
		annotate "$file" "$tmp/out.pcapng"
		"$cmp" frames "$file" "$tmp/out.pcapng"
		diff <(what "$file") <(what "$tmp/out.pcapng") || { echo "$file" && return 1; }
	done
}

# A pcap has no comments: of both, editcap makes the same, save its idea of a snap length.
as_a_pcap_the_copy_is_what_the_file_is() {
	local file
	for file in "${some[@]}"; do
		annotate "$file" "$tmp/out.pcapng"
		editcap -F nsecpcap "$file" "$tmp/want.pcap" 2>/dev/null
		editcap -F nsecpcap "$tmp/out.pcapng" "$tmp/got.pcap" 2>/dev/null
		cmp --ignore-initial=20 "$tmp/want.pcap" "$tmp/got.pcap" || { echo "$file" && return 1; }
	done
}

every_finding_of_check_is_a_comment() {
	local file n=0
	for file in pcaps/generated/{malformed-payload,malformed-bth,loss-middle,rnr-storm,rules-roce}.pcap "$rec"/rnr_ok.pcap; do
		"$vp" check --json "$file" >"$tmp/json" || true
		annotate "$file" "$tmp/out.pcapng"
		fields "$tmp/out.pcapng" frame.number frame.comment >"$tmp/comments"
		paste -d ' ' <(sed -n 's/^      "frame": \([0-9]*\),$/\1/p' "$tmp/json") \
			<(sed -n 's/^      "rule": "\(.*\)",$/\1/p' "$tmp/json") >"$tmp/want"
		while read -r frame rule; do
			grep "^$frame " "$tmp/comments" | grep -qF "] $rule" || { echo "$file: frame $frame: $rule" && return 1; }
			n=$((n + 1))
		done <"$tmp/want"
	done
	[ "$n" -gt 20 ]
}

retransmissions_say_of_what_and_why() {
	annotate "$rec/loss_send_req_mid.pcap" "$tmp/out.pcapng"
	fields "$tmp/out.pcapng" frame.number frame.comment >"$tmp/out"
	expect_out '10 Verbscope: retransmission of frame 7: the NAK PSN sequence error in frame 9 asked for it'
	[ "$(grep -c Verbscope "$tmp/out")" = 3 ]
}

# ---- what was there before ----

comments_interfaces_names_and_resolutions_stay() {
	annotate "$rec/loss_send_req_mid.pcap" "$tmp/1.pcapng"
	editcap -a '9:of my own' -a '11:of mine too' --capture-comment 'of the file' \
		"$rec/loss_send_req_mid.pcap" "$tmp/mine.pcapng" 2>/dev/null
	tshark -r pcaps/generated/rawip.pcap -w "$tmp/ip.pcapng" 2>/dev/null
	mergecap -w "$tmp/in.pcapng" "$tmp/mine.pcapng" "$tmp/ip.pcapng" 2>/dev/null
	annotate "$tmp/in.pcapng" "$tmp/out.pcapng"
	diff <(what "$tmp/in.pcapng") <(what "$tmp/out.pcapng")
	diff <(fields "$tmp/in.pcapng" frame.interface_id) <(fields "$tmp/out.pcapng" frame.interface_id)
	fields "$tmp/in.pcapng" frame.number frame.comment | grep 'of m' >"$tmp/want"
	[ "$(wc -l <"$tmp/want")" = 2 ]
	while read -r line; do
		fields "$tmp/out.pcapng" frame.number frame.comment | grep -qF "$line" || { echo "$line" && return 1; }
	done <"$tmp/want"
	# capinfos tells what is in the headers; sizes and hashes of the file differ
	diff <(about "$tmp/in.pcapng") <(about "$tmp/out.pcapng")
}

about() {
	capinfos "$1" | grep -vE '^(File name|File size|SHA|RIPEMD|MD5)'
}

a_second_run_changes_nothing() {
	local file
	for file in "${some[@]}"; do
		annotate "$file" "$tmp/1.pcapng"
		annotate "$tmp/1.pcapng" "$tmp/2.pcapng"
		cmp "$tmp/1.pcapng" "$tmp/2.pcapng"
		annotate "$tmp/2.pcapng" "$tmp/2.pcapng"
		cmp "$tmp/1.pcapng" "$tmp/2.pcapng"
	done
}

# ---- where from, where to ----

gzipped_files_pipes_and_standard_streams_do_as_well() {
	annotate "$rec/rnr_ok.pcap" "$tmp/want.pcapng"
	gzip -c "$rec/rnr_ok.pcap" >"$tmp/in.gz"
	annotate "$tmp/in.gz" "$tmp/out.pcapng"
	cmp "$tmp/want.pcapng" "$tmp/out.pcapng"
	"$vp" annotate - -o - <"$rec/rnr_ok.pcap" >"$tmp/out.pcapng"
	cmp "$tmp/want.pcapng" "$tmp/out.pcapng"
	"$vp" annotate "$tmp/in.gz" -o - | cat >"$tmp/out.pcapng"
	cmp "$tmp/want.pcapng" "$tmp/out.pcapng"
}

what_is_whole_of_a_damaged_file_is_copied() {
	head -c 5000 "$rec/loss_send_req_mid.pcap" >"$tmp/cut.pcap"
	annotate "$tmp/cut.pcap" "$tmp/out.pcapng" 1
	expect_err 'cut.pcap: frame [0-9]* can'
	[ "$(what "$tmp/out.pcapng" | wc -l)" -gt 3 ]
	annotate "$rec/loss_send_req_mid.pcap" "$tmp/whole.pcapng"
	head -c 9000 "$tmp/whole.pcapng" >"$tmp/cut.pcapng"
	annotate "$tmp/cut.pcapng" "$tmp/out.pcapng" 1
	[ "$(what "$tmp/out.pcapng" | wc -l)" -gt 5 ]
}

nothing_is_left_of_what_cant_be_written() {
	local n
	mkdir "$tmp/dir"
	run "$vp" annotate "$rec/rnr_ok.pcap" -o /dev/full
	expect_rc 2
	expect_err 'No space left'
	[ "$(wc -l <"$tmp/err")" = 1 ]
	echo old >"$tmp/dir/out.pcapng"
	run "$vp" annotate "$tmp/absent" -o "$tmp/dir/out.pcapng"
	expect_rc 2
	[ "$(cat "$tmp/dir/out.pcapng")" = old ]
	run "$vp" annotate README.md -o "$tmp/dir/out.pcapng"
	expect_rc 2
	n=$(find "$tmp/dir" -type f | wc -l)
	[ "$n" = 1 ]
	run "$vp" annotate "$rec/rnr_ok.pcap" -o "$tmp/dir"
	expect_rc 2
}

a_file_without_rdma_is_copied_and_said_to_be_one() {
	annotate "$rec/siw_rping.pcap" "$tmp/out.pcapng" 127
	"$cmp" frames "$rec/siw_rping.pcap" "$tmp/out.pcapng"
}

usage_errors_are_one_line() {
	local args
	for args in '' 'x' '-o y' 'x y -o z' '--bogus' 'x -o'; do
		# shellcheck disable=SC2086 # several words
		run "$vp" annotate $args
		expect_rc 2
		[ "$(wc -l <"$tmp/err")" = 1 ]
	done
	run "$vp" annotate --help
	expect_rc 0
	expect_out '-o OUT'
}

while read -r claim <&3; do
	check "$claim"
done 3< <(sed -n 's/^\([a-z][a-z0-9_]*_[a-z0-9_]*\)() {$/\1/p' "$0")
finish
