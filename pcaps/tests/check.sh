#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# check.sh - vs-pcap check: what it finds in generated and recorded captures, against facts that others wrote down.
#
#   pcaps/tests/check.sh BUILD_FOLDER [FOLDER_WITH_MORE_CAPTURES]
set -euo pipefail
export LC_ALL=C TZ=UTC
cd "$(dirname "$0")/../.."
# shellcheck source=pcaps/tests/lib.sh
. pcaps/tests/lib.sh "${1:?which build folder?}"
shared=${2:-../shared}/captures

keys=(packets roce_packets icrc_bad flows retransmissions gaps network_duplicates psn_sequence invalid_request
	remote_access remote_operational other rnr_naks cnps)

field() { # KEY FILE: the number
	sed -n "s/^ *\"$1\": \([0-9]*\),*\$/\1/p" "$2" | head -n 1
}

# The numbers of `keys` in JSON, as KEY=N on one line.
numbers() { # FILE
	awk -v keys="${keys[*]}" -F '[":, ]+' '
		$2 != "" && $3 ~ /^[0-9]+$/ && !($2 in n) { n[$2] = $3 }
		END {
			k = split(keys, key, " ")
			for (i = 1; i <= k; i++)
				line = line (i > 1 ? " " : "") key[i] "=" n[key[i]]
			print line
		}' "$1"
}

# What is said of each generated capture that has facts, once: $tmp/json/NAME.
mkdir "$tmp/json"
for facts in pcaps/generated/*.expect.json; do
	name=$(basename "$facts" .expect.json)
	"$vp" check --json "pcaps/generated/$name.pcap" >"$tmp/json/$name" 2>"$tmp/err" || [ $? = 1 ] || [ $? = 127 ] ||
		{ cat "$tmp/err" && exit 1; }
done

# ---- counts ----

# The contract: both count repeats, gaps and refusals by the same words of the manual, in code of their own.
counts_agree_with_the_facts_of_every_generated_capture() {
	local facts n=0 bad=0
	for facts in pcaps/generated/*.expect.json; do
		diff <(numbers "$facts") <(numbers "$tmp/json/$(basename "$facts" .expect.json)") || { echo "$facts" && bad=1; }
		n=$((n + 1))
	done
	[ "$n" -gt 100 ] && [ $bad = 0 ]
}

# recount keeps every packet and compares it with all before it. Not of frames that are super-packets (gso, mirror).
counted_by_check() { # FILE: a line as recount writes
	run "$vp" check --json "$1"
	case $rc in 0 | 1 | 127) ;; *) cat "$tmp/err"; return 1 ;; esac
	echo "$(basename "$1") $(numbers "$tmp/out")"
}

counts_agree_with_a_recount_of_every_capture() {
	local file n=0 bad=0
	for file in pcaps/generated/*.pcap "$rec"/*.pcap "$shared"/*/*.pcap; do
		case $file in *\** | */gso.pcap | */mirror.pcap) continue ;; esac
		"$build/tests/recount" "$file" >>"$tmp/want"
		counted_by_check "$file" >>"$tmp/got"
		n=$((n + 1))
	done
	diff "$tmp/want" "$tmp/got" || bad=1
	echo "$n captures"
	[ "$n" -gt 100 ] && [ $bad = 0 ]
}

# Repeats of long ago, copies, jumps over the wrap, several connections, damage.
counts_agree_with_a_recount_of_captures_at_random() {
	local seed
	for seed in 1 2 3 4 "$RANDOM"; do
		"$build/tests/recount" -r "$seed" "$tmp/random.pcap"
		"$build/tests/recount" "$tmp/random.pcap" >"$tmp/want"
		counted_by_check "$tmp/random.pcap" | diff "$tmp/want" - || { echo "seed $seed" && return 1; }
	done
	for key in "${keys[@]}"; do
		! grep -q " $key=0\b" "$tmp/want" || { echo "no $key in them" && return 1; }
	done
}

# The simulator knows what its responder had executed. The wire can't show it where a responder is a script (more),
# where the answer was lost before anybody saw it, or nothing answers (fewer).
duplicates_agree_with_the_simulator_where_the_wire_shows_them() {
	local facts name bad=0 want got
	local except=' duplicate-by-the-network duplicate-send-middle implied-nak incast-drop loss-last psn-mismatch '
	for facts in pcaps/generated/*.expect.json; do
		name=$(basename "$facts" .expect.json)
		want=$(field duplicates "$facts") got=$(field duplicates "$tmp/json/$name")
		case $except in
		*" $name "*) [ "$want" != "$got" ] || { echo "$name agrees: take it from the list" && bad=1; } ;;
		*) [ "$want" = "$got" ] || { echo "$name: $got, expected $want" && bad=1; } ;;
		esac
	done
	return $bad
}

# FRAME RULE of everything that is expected: what one packet breaks, of which vs_pkt_validate wrote down the reasons, and
# what the scenario says by hand ("findings"). Of frames with a bad ICRC nothing else counts; some reasons are no rules.
expected_findings() { # FACTS
	awk '
		FNR == NR { rule[$1]; next }
		/^  "(broken_rules|notes|findings)": \[$/ { inside = 1; next }
		/^  \]/ { inside = 0 }
		inside { gsub(/[",:]/, ""); if ($2 in rule) print $1, $2; if ($2 == "icrc_bad") bad[$1] }
		END { for (f in bad) print f, "-" }' "$tmp/rules" "$1" |
		awk '$2 == "-" { bad[$1]; next } { line[++n] = $0 }
			END { for (i = 1; i <= n; i++) { split(line[i], w, " "); if (!(w[1] in bad) || w[2] == "icrc_bad") print line[i] } }' |
		sort -u
}

findings() { # JSON
	awk -F '"' '/^      "rule": / { rule = $4 } /^      "frame": / { gsub(/[^0-9]/, "", $3); print $3, rule }' "$1" | sort -u
}

every_generated_capture_shows_the_findings_that_are_expected_and_no_others() {
	local facts bad=0 n=0
	"$vp" check --list >"$tmp/rules"
	for facts in pcaps/generated/*.expect.json; do
		expected_findings "$facts" >"$tmp/want"
		findings "$tmp/json/$(basename "$facts" .expect.json)" | diff "$tmp/want" - || { echo "$facts" && bad=1; }
		n=$((n + $(wc -l <"$tmp/want")))
	done
	echo "$n findings"
	[ "$n" -gt 100 ] && [ $bad = 0 ]
}

# ---- captures of rxe, by the text beside them ----

found_by_check() { # FILE: a line as in FINDINGS, without lost=
	local j=$tmp/j
	"$vp" check --json "$1" >"$j" || true
	echo "packets=$(field packets "$j")" \
		"repeats=$(($(field retransmissions "$j") + $(field network_duplicates "$j")))" \
		"naks=$(field psn_sequence "$j")/$(field invalid_request "$j")/$(field remote_access "$j")/$(field \
			remote_operational "$j")" \
		"rnr=$(field rnr_naks "$j") duplicates=$(field duplicates "$j")"
}

# lost=F:G:CAUSE in the listing of packets
repaired() { # F G CAUSE
	local line
	line=$(grep "^ *$2  stream" "$tmp/listing")
	case $line in *'[retransmission of frame '*) ;; *) echo "frame $2: no retransmission: $line" && return 1 ;; esac
	case $3:$line in
	nak:*"of frame $1 (NAK PSN sequence error"*) ;;
	other:*'(NAK'*) echo "frame $2: no NAK asked for it: $line" && return 1 ;;
	other:*) ;;
	*) echo "frame $2: $line" && return 1 ;;
	esac
}

captures_of_rxe_show_what_the_text_beside_them_proves() {
	local name file want got item n=0 bad=0 f g cause
	while read -r name want; do
		file=$rec/$name.pcap
		[ -e "$file" ] || file=$shared/rxe/$name.pcap
		[ -e "$file" ] || file=$shared/rxe-6.12/$name.pcap
		[ -e "$file" ] || continue
		got=$(found_by_check "$file")
		case $want in *duplicates=-*) got=${got%=*}=- ;; esac
		# the last packet was lost: nothing had told that those before it were there
		[ "$name" != loss_send_req_last ] || got=${got/duplicates=0/duplicates=3}
		[ "${want%% lost=*}" = "$got" ] || { echo "$name: $got, expected $want" && bad=1; }
		"$vp" check --packets "$file" >"$tmp/listing" || true
		for item in $want; do
			case $item in lost=*) ;; *) continue ;; esac
			IFS=: read -r f g cause <<<"${item#lost=}"
			repaired "$f" "$g" "$cause" || { echo "$name" && bad=1; }
		done
		n=$((n + 1))
	done < <(grep -v '^#' "$rec/FINDINGS")
	echo "$n captures"
	[ "$n" -ge 10 ] && [ $bad = 0 ]
}

# Only where the captures are: the golden file is what the script makes of the text.
the_golden_findings_are_what_the_text_says() {
	[ -d "$shared/rxe" ] || return 0
	awk -f pcaps/tests/txt-findings.awk "$shared"/rxe/*.txt "$shared"/rxe-6.12/*.txt >"$tmp/made"
	grep -v '^#' "$rec/FINDINGS" | diff - "$tmp/made"
}

# Every must-rule that real devices break is known, by capture, in docs/rxe-behaviour.md.
must_rules_that_rxe_breaks_are_the_documented_ones() {
	local file name rules bad=0
	for file in "$rec"/*.pcap "$shared"/rxe/*.pcap "$shared"/rxe-6.12/*.pcap "$shared"/public/*.pcap; do
		name=$(basename "$file" .pcap)
		case $name in host_peer_* | \*) continue ;; esac # these hold malformed packets on purpose
		"$vp" check --summary "$file" >"$tmp/out" || true
		rules=$(sed -n 's/^must  \([a-z0-9_]*\).*/\1/p' "$tmp/out")
		for rule in $rules; do
			grep -q "^| \`$rule\` .*[ ,(]${name}[ ,)]" docs/rxe-behaviour.md && continue
			echo "$file: $rule is not documented"
			bad=1
		done
	done
	return $bad
}

# ---- the command ----

json_has_the_keys_of_the_contract_and_no_others() {
	"$vp" check --json pcaps/generated/nak-psn-sequence.pcap >"$tmp/out" || true
	sed -n 's/^  "\([a-z_]*\)": .*/\1/p' "$tmp/out" >"$tmp/got"
	diff "$tmp/got" - <<-'KEYS'
		packets
		roce_packets
		icrc_bad
		flows
		retransmissions
		duplicates
		gaps
		network_duplicates
		naks
		rnr_naks
		cnps
		violations
	KEYS
	"$vp" check --json pcaps/generated/malformed-bth.pcap >"$tmp/out" || true
	[ "$(grep -o '^      "[a-z]*"' "$tmp/out" | sort -u | tr -d ' "\n')" = frameleverltextruleve ] ||
		[ "$(grep -o '^      "[a-z]*"' "$tmp/out" | sort -u | tr -d ' \n')" = '"frame""level""rule""text"' ]
}

the_causes_of_requests_add_up_to_those_sent_again() { # here one was lost before the capture point: no retransmission
	"$vp" check pcaps/generated/loss-seen-at-the-receiver.pcap >"$tmp/out"
	grep -q '^  retransmissions  *3$' "$tmp/out"
	grep -q '^  requests sent again  *4$' "$tmp/out"
	[ "$(awk '/^$/ { exit } /^    / { sum += $NF } END { print sum }' "$tmp/out")" = 4 ]
}

the_exit_code_says_whether_a_must_rule_is_broken() {
	run "$vp" check pcaps/generated/loss-middle.pcap
	expect_rc 0
	run "$vp" check pcaps/generated/malformed-bth.pcap
	expect_rc 1
	run "$vp" check "$rec/siw_rping.pcap"
	expect_rc 127
	run "$vp" check "$tmp/absent.pcap"
	expect_rc 2
	expect_err "can't be opened"
}

text_is_worst_first_with_frames_and_clauses() {
	run "$vp" check pcaps/generated/malformed-payload.pcap
	expect_rc 1
	expect_out 'must  payload_empty (C9-92): '
	expect_out '    frame '
	[ "$(grep -oE '^(must|should|note) ' "$tmp/out" | uniq | tr -d '\n')" = "$(grep -oE '^(must|should|note) ' "$tmp/out" |
		sort -u | sed 's/must/1&/; s/should/2&/; s/note/3&/' | sort | sed 's/^.//' | tr -d '\n')" ]
}

# The NAK says "remote access error"; a program that saw another status, or none, contradicts it.
events_of_a_program_are_held_against_the_packets() {
	local file=pcaps/generated/nak-remote-access-bounds.pcap qpn
	qpn=$("$vp" check --packets "$file" | sed -n 's/.*QP 0x0*\([0-9a-f]*\) .*remote access error.*/0x\1/p' | head -n 1)
	trace() { # STATUS
		echo '{"vst":"0.1","clock":"monotonic","unit":"ns","vantage":{"name":"A","type":"requester"},"build":"x"}'
		echo '{"seq":1,"t":"5","node":"A","ev":"verb:post_send","qpn":"'"$qpn"'","wr":1,"op":"RDMA_WRITE","len":8,"va":"0x0","rkey":"0x0","flags":"0x2","ret":0}'
		echo '{"seq":2,"t":"9","node":"A","ev":"cqe","qpn":"'"$qpn"'","wr":1,"status":"'"$1"'","op":"RDMA_WRITE","len":0,"imm":"0x0","cq":1}'
	}
	trace REM_ACCESS_ERR >"$tmp/right.vst"
	trace REM_OP_ERR >"$tmp/wrong.vst"
	run "$vp" check --events "$tmp/right.vst" "$file"
	expect_rc 0
	expect_out 'verbs events             2'
	run "$vp" check --events "$tmp/wrong.vst" "$file"
	expect_rc 1
	expect_out 'must  completion_status'
	run "$vp" check --events - "$file" <"$tmp/wrong.vst"
	expect_rc 1
	echo 'no event' >>"$tmp/right.vst"
	echo >>"$tmp/right.vst"
	run "$vp" check --events "$tmp/right.vst" "$file"
	expect_rc 2
	expect_err 'right.vst: line 4: '
	run "$vp" check --events "$tmp/absent" "$file"
	expect_rc 2
	run "$vp" check --events README.md "$file"
	expect_rc 2
}

standard_input_is_a_capture_too() {
	[ "$("$vp" check - <"$rec/loss_send_req_mid.pcap" | tail -n +2)" = "$("$vp" check "$rec/loss_send_req_mid.pcap" |
		tail -n +2)" ]
}

a_damaged_file_is_judged_up_to_the_damage() {
	head -c 5000 "$rec/loss_send_req_mid.pcap" >"$tmp/cut.pcap"
	run "$vp" check "$tmp/cut.pcap"
	expect_rc 1
	expect_out 'RDMA packets'
	expect_err 'cut.pcap'
}

the_list_names_sixty_rules_and_more() {
	run "$vp" check --list
	expect_rc 0
	[ "$(wc -l <"$tmp/out")" -ge 60 ]
	[ -z "$(awk '{ print $1 }' "$tmp/out" | sort | uniq -d)" ]
	! grep -q udp_csum "$tmp/out"
}

usage_errors_are_one_line() {
	local args
	for args in '' '--json --summary x' '--bogus x' 'x y z' '-i' '--json=1 x'; do
		# shellcheck disable=SC2086 # several words
		run "$vp" check $args
		expect_rc 2
		[ "$(wc -l <"$tmp/err")" = 1 ]
	done
	run "$vp" check -i no-such-interface
	expect_rc 2
	expect_err 'no-such-interface'
}

help_names_every_option() {
	local option
	run "$vp" check --help
	expect_rc 0
	for option in --json --summary --packets --list --events -i; do
		expect_out "$option"
	done
}

while read -r claim <&3; do
	check "$claim"
done 3< <(sed -n 's/^\([a-z][a-z0-9_]*_[a-z0-9_]*\)() {$/\1/p' "$0" | grep -v '^[a-z]*_by_check$')
finish
