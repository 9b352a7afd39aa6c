#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# view.sh - what vs-trace shows: every form of a trace against its golden file, what strange input gets, a browser.
#
#   tracer/tests/view.sh BUILD
#   tracer/tests/view.sh --update BUILD   writes the golden files instead: read what changed
set -euo pipefail
export LC_ALL=C TZ=UTC
cd "$(dirname "$0")/../.."
update=no
if [ "$1" = --update ]; then
	update=yes
	shift
fi
# shellcheck source=pcaps/tests/lib.sh
. pcaps/tests/lib.sh "${1:?which build folder?}"
vs=$build/bin/vs-trace in=tracer/tests/in golden=tracer/tests/golden/view

# Form: suffix of the golden file | arguments of vs-trace
forms() {
	cat <<'LIST'
80.txt|ladder --columns 80
120.txt|ladder --columns 120
utf8.txt|ladder --columns 120 --utf8
svg|ladder --svg
story.txt|story --message MESSAGE
story.json|story --json --message MESSAGE
list.txt|story
report.txt|report
report.json|report --json
psn.svg|psn
psn.json|psn --json
trace.json|export --format chrome
mmd|export --format mermaid
LIST
}

# Input: name | file | its most telling message | suffixes of the forms that are kept ("all")
inputs() {
	cat <<'LIST'
loss-middle|tracer/tests/in/loss-middle.vst|1|all
loss-send|pcaps/recorded/loss_send_req_mid.pcap|2|all
hostile|tracer/tests/in/hostile.vst|1|80.txt svg mmd trace.json report.txt list.txt
atomics|tracer/tests/in/atomics.vst|1|120.txt story.txt
read-segmented|tracer/tests/in/read-segmented.vst|1|120.txt story.txt
rnr-wait|tracer/tests/in/rnr-wait.vst|1|120.txt report.txt story.txt
wrong-rkey|tracer/tests/in/wrong-rkey.vst|2|80.txt story.txt
ud-send|tracer/tests/in/ud-send.vst|1|80.txt report.txt list.txt
cm-connect|tracer/tests/in/cm-connect.vst|1|80.txt
rnr-capture|pcaps/recorded/rnr_ok.pcap|1|120.txt story.txt report.txt
bad-rkey|pcaps/recorded/err_bad_rkey_write.pcap|1|80.txt story.txt
rping|pcaps/recorded/rping_rxe_v4.pcap|1|120.txt report.txt
LIST
}

# make_all FOLDER: every golden file, made now.
make_all() {
	local name file message keep suffix args
	while IFS='|' read -r name file message keep; do
		while IFS='|' read -r suffix args; do
			[ "$keep" = all ] || [[ " $keep " == *" $suffix "* ]] || continue
			# shellcheck disable=SC2086 # words
			"$vs" ${args/MESSAGE/$message} "$file" >"$1/$name.$suffix" 2>/dev/null
		done < <(forms)
	done < <(inputs)
	# Of the page what is in it of the trace; the rest is page.html.
	"$vs" export --format html "$in/loss-middle.vst" |
		sed -n '/<script type="application.json"/,/<.script>/p' >"$1/loss-middle.page.json"
}

if [ $update = yes ]; then
	rm -rf "$golden"
	mkdir -p "$golden"
	make_all "$golden"
	exit
fi

mkdir "$tmp/made"
make_all "$tmp/made"

every_form_is_as_in_its_golden_file() {
	diff -r "$golden" "$tmp/made" && [ "$(find "$golden" -type f | wc -l)" -gt 40 ]
}

# What the first lines say is no ladder. A character of several bytes takes one column.
columns() { # FILE MOST
	grep -v '^(' "$1" | sed 's/[\xc0-\xff][\x80-\xbf]*/x/g' |
		awk -v most="$2" 'length($0) > most { print; bad = 1 } END { exit bad }'
}

no_ladder_is_wider_than_its_columns() {
	local f
	for f in "$tmp"/made/*.80.txt; do
		columns "$f" 80
	done
	for f in "$tmp"/made/*.120.txt "$tmp"/made/*.utf8.txt; do
		columns "$f" 120
	done
}

without_a_terminal_there_is_neither_colour_nor_anything_but_ascii() {
	! grep -lP '[^\x09\x0a\x20-\x7e]' "$tmp"/made/*.80.txt "$tmp"/made/*.120.txt "$tmp"/made/*.report.txt \
		"$tmp"/made/*.list.txt
}

on_a_terminal_there_is_colour_unless_no_color_is_set() {
	command -v script >/dev/null || { echo "script (bsdutils) is missing" && return 1; }
	script -qec "$vs ladder $in/loss-middle.vst" /dev/null </dev/null >"$tmp/tty"
	grep -q $'\033\[' "$tmp/tty"
	NO_COLOR=1 script -qec "$vs ladder $in/loss-middle.vst" /dev/null </dev/null >"$tmp/tty"
	! grep -q $'\033\[' "$tmp/tty"
}

trace_events_keep_the_rules_of_their_format() {
	local f
	for f in "$in"/*.vst pcaps/recorded/*.pcap; do
		case $f in */siw_rping.pcap) continue ;; esac # not RDMA at all
		"$vs" export --format chrome "$f" >"$tmp/chrome.json" 2>/dev/null
		"$build/tests/chromecheck" "$tmp/chrome.json" || { echo "$f" && return 1; }
	done
}

# The checker itself: each planted violation is found.
the_checker_of_trace_events_finds_what_is_wrong() {
	local good=$tmp/made/loss-middle.trace.json what
	while IFS='|' read -r what edit; do
		sed "$edit" "$good" >"$tmp/planted.json"
		cmp -s "$good" "$tmp/planted.json" && echo "$what: nothing was planted" && return 1
		! "$build/tests/chromecheck" "$tmp/planted.json" >"$tmp/said" || { echo "$what is not found" && return 1; }
		grep -q "$what" "$tmp/said" || { echo "instead of '$what':" && cat "$tmp/said" && return 1; }
	done <<'LIST'
no time|0,/"ph":"X"/s/"ts":[0-9.]*,//
b and e do not come in pairs|0,/"ph":"e"/s/"ph":"e"/"ph":"i"/
s and f do not come in pairs|0,/"ph":"f"/s/"id":"[0-9]*"/"id":"999"/
slices of a thread overlap|0,/"dur":[0-9.]*/s/"dur":[0-9.]*/"dur":2.1/
a counter that is no number|0,/"requests":[0-9]*/s/"requests":[0-9]*/"requests":"x"/
no name|0,/"name":"pkt/s/"name":"[^"]*"/"name":""/;0,/"ph":"i".*"name":"[^"]*"/s/"name":"verb[^"]*"/"name":""/
no traceEvents|s/traceEvents/trace/
LIST
}

svg_is_well_formed_and_mermaid_is_a_sequence_diagram() {
	local f
	command -v xmllint >/dev/null || { echo "xmllint (libxml2-utils) is missing" && return 1; }
	for f in "$tmp"/made/*.svg; do
		xmllint --noout "$f" && ! grep -qi '<script\|javascript:\|http[s]*://[^w]' "$f"
	done
	for f in "$tmp"/made/*.mmd; do
		[ "$(head -n 1 "$f")" = sequenceDiagram ]
		tail -n +2 "$f" | grep -vE '^    (participant N[0-9]+ as |Note (left of|right of|over) N[0-9,N]*: |N[0-9]+-{1,2}(>>|x)N[0-9]+: )[^<>;"]*(#[0-9]+;[^<>;"]*)*$' && return 1
	done
	true
}

text_from_a_trace_is_harmless_in_every_form() {
	local c
	for c in ladder 'ladder --columns 80 --utf8' 'ladder --svg' story 'story --message 1' report psn \
		'export --format chrome' 'export --format html' 'export --format svg' 'export --format mermaid'; do
		# shellcheck disable=SC2086 # words
		run "$vs" $c "$in/hostile.vst"
		expect_rc 0
		! grep -qP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\xaa-\xae]' "$tmp/out" "$tmp/err" ||
			{ echo "$c: a control character" && return 1; }
	done
	run "$vs" export --format html "$in/hostile.vst"
	[ "$(grep -c '<script>alert\|<img src' "$tmp/out")" = 0 ]
}

written_files_are_whole_and_for_their_owner_alone() {
	local form
	for form in json html svg mmd; do
		"$vs" export -o "$tmp/x.$form" "$in/loss-middle.vst"
		[ "$(stat -c %a "$tmp/x.$form")" = 600 ]
	done
	"$vs" export -o "$tmp/x.pcap" pcaps/recorded/rnr_ok.pcap
	[ "$(stat -c %a "$tmp/x.pcap")" = 600 ]
	cp "$tmp/x.json" "$tmp/before"
	run "$vs" export -o "$tmp/x.json" "$tmp/nowhere.vst"
	expect_rc 2
	cmp "$tmp/x.json" "$tmp/before"
	[ "$(find "$tmp" -maxdepth 1 -name 'x.*' | wc -l)" = 5 ]
}

an_exported_capture_has_the_frames_that_were_asked_for() {
	"$vs" export -o "$tmp/all.pcap" pcaps/recorded/loss_send_req_mid.pcap
	run "$vp" info "$tmp/all.pcap"
	cp "$tmp/out" "$tmp/all"
	run "$vp" info pcaps/recorded/loss_send_req_mid.pcap
	diff <(grep -i packets "$tmp/all") <(grep -i packets "$tmp/out")
	"$vs" export --from 2400us --to 2700us -o "$tmp/part.pcap" pcaps/recorded/loss_send_req_mid.pcap
	run "$vs" report "$tmp/part.pcap"
	expect_out 'packets     3 sent'
	run "$vs" export --format capture "$in/loss-middle.vst"
	expect_rc 127
	expect_err 'no capture belongs to it'
}

a_span_and_a_queue_pair_can_be_chosen() {
	run "$vs" ladder --from 2400us --to 2700us pcaps/recorded/loss_send_req_mid.pcap
	expect_rc 0
	[ "$(grep -c SEND_ "$tmp/out")" = 3 ]
	run "$vs" ladder --qp 0x999 pcaps/recorded/loss_send_req_mid.pcap
	expect_rc 2
	expect_err 'there is no QP 0x999'
	run "$vs" ladder --from 1s pcaps/recorded/loss_send_req_mid.pcap
	expect_rc 127
	run "$vs" ladder --from 2ms --to 1ms pcaps/recorded/loss_send_req_mid.pcap
	expect_rc 2
}

strange_input_gets_an_error_that_says_what() {
	: >"$tmp/empty"
	echo '{"vst":"0.1","clock":"sim","unit":"ns"}' >"$tmp/header.vst"
	head -c 700 "$in/loss-middle.vst" >"$tmp/cut.vst"
	head -c 3000 pcaps/recorded/rnr_ok.pcap >"$tmp/cut.pcap"
	for c in ladder report story psn 'export --format chrome' 'export --format html'; do
		# shellcheck disable=SC2086 # words
		{
			run "$vs" $c "$tmp/empty" && expect_rc 2 && expect_err 'empty'
			run "$vs" $c "$tmp/header.vst" && expect_rc 127 && expect_err 'no events in it'
			run "$vs" $c README.md && expect_rc 2 && expect_err 'README.md'
			run "$vs" $c "$tmp/none" && expect_rc 2 && expect_err "can't be opened"
			run "$vs" $c pcaps/recorded/siw_rping.pcap && expect_rc 127 && expect_err 'no RDMA'
		}
	done
	run "$vs" ladder "$tmp/cut.vst"
	expect_rc 0
	expect_err 'ends in the middle of a line'
	run "$vs" ladder "$tmp/cut.pcap"
	expect_rc 0
	expect_err 'cut.pcap'
	run "$vs" ladder
	expect_rc 2
	run "$vs" ladder --colums 80 x
	expect_rc 2
	run "$vs" lader x
	expect_rc 2
	expect_err 'did you mean ladder'
	run "$vs" export "$in/loss-middle.vst"
	expect_rc 2
	expect_err 'which form'
	run "$vs" story --message 99 "$in/loss-middle.vst"
	expect_rc 2
	expect_err 'there is no message 99'
}

diff_finds_the_first_event_in_which_two_runs_part() {
	grep -v 'fault:' "$in/loss-middle.vst" >"$tmp/quiet.vst"
	run "$vs" diff "$in/loss-middle.vst" "$in/loss-middle.vst"
	expect_rc 0
	expect_out 'the same'
	run "$vs" diff "$in/loss-middle.vst" "$tmp/quiet.vst"
	expect_rc 1
	expect_out 'the first difference: wire, after 0 events'
	expect_out 'fault:drop'
	run "$vs" diff --json "$tmp/quiet.vst" "$in/loss-middle.vst"
	expect_rc 1
	expect_out '"same":false'
	# Other numbers for the same thing are no difference.
	sed 's/"0x\([0-9a-f]*\)fa"/"0x\1fb"/g' "$in/ud-send.vst" >"$tmp/shifted.vst"
	run "$vs" diff pcaps/recorded/loss_send_req_mid.pcap pcaps/recorded/loss_send_req_mid.pcap
	expect_rc 0
}

every_recorded_capture_can_be_shown_in_every_form() {
	local f c
	for f in pcaps/recorded/*.pcap; do
		case $f in */siw_rping.pcap) continue ;; esac
		for c in ladder report story 'export --format html'; do
			# shellcheck disable=SC2086 # words
			"$vs" $c "$f" >"$tmp/out" 2>"$tmp/err" || { echo "$c $f: $?" && cat "$tmp/err" && return 1; }
		done
	done
}

# A browser, offline: the page says itself what it found (browser.js).
a_browser_shows_the_page_and_follows_hover_and_click() {
	tracer/tests/browser.sh "$build" "$tmp"
}

check every_form_is_as_in_its_golden_file
check no_ladder_is_wider_than_its_columns
check without_a_terminal_there_is_neither_colour_nor_anything_but_ascii
check on_a_terminal_there_is_colour_unless_no_color_is_set
check trace_events_keep_the_rules_of_their_format
check the_checker_of_trace_events_finds_what_is_wrong
check svg_is_well_formed_and_mermaid_is_a_sequence_diagram
check text_from_a_trace_is_harmless_in_every_form
check written_files_are_whole_and_for_their_owner_alone
check an_exported_capture_has_the_frames_that_were_asked_for
check a_span_and_a_queue_pair_can_be_chosen
check strange_input_gets_an_error_that_says_what
check diff_finds_the_first_event_in_which_two_runs_part
check every_recorded_capture_can_be_shown_in_every_form
if command -v chromium >/dev/null; then
	check a_browser_shows_the_page_and_follows_hover_and_click
else
	echo "skip    a_browser_shows_the_page_and_follows_hover_and_click: chromium is missing"
fi
finish
