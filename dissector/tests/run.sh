#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# run.sh - check-dissector: the plugin in tshark, on every capture there is.
#
#   run.sh           the checks; exit 0 when all passed
#   run.sh --update  rewrites golden/ from what the plugin does now (review the diff!)
#
# Captures: pcaps/recorded and pcaps/generated always; $VS_SHARED/captures/{rxe,rxe-6.12,public} when
# they are there. Most checks read all of them as one big file: a start of tshark costs 0.2 s.
# Environment: B (build folder), VS_SHARED, VS_PLUGINS and TSHARK (another plugin folder, another tshark).
set -u
# shellcheck source=dissector/tests/lib.sh
. "$(dirname "$0")/lib.sh"
for part in decode output analysis follow config; do
	# shellcheck source=/dev/null
	. "$HERE/checks-$part.sh"
done

need "$TSHARK" capinfos mergecap editcap
cd "$ROOT" || exit 2
UPDATE=
[ "${1-}" != --update ] || UPDATE=yes
# shellcheck disable=SC2034 # the checks read it
GOLDEN=$HERE/golden
SHARED=${VS_SHARED:-../shared}/captures
# shellcheck disable=SC2034
MKCAPTURES=${VS_MKCAPTURES:-$B/tests/mkcaptures}
version=$("$TSHARK" --version 2>/dev/null | sed -n '1s/^[^0-9]*\([0-9]*\.[0-9]*\).*/\1/p')
[ -e "$PLUGINS/$version/epan/verbscope.so" ] || die "no plugin for tshark $version in $PLUGINS: run make"

work check-dissector
generated=()
for file in pcaps/generated/*.pcap; do
	# those of scenarios have a check of their own (pcaps/tests/library.sh)
	[ -e "${file%.pcap}.expect.json" ] || generated+=("$file")
done
recorded=(pcaps/recorded/*.pcap)
shared=()
for folder in rxe rxe-6.12 public; do
	for file in "$SHARED/$folder"/*.pcap; do
		# those that the repository carries are here already
		[ ! -e "$file" ] || cmp -s "$file" "pcaps/recorded/${file##*/}" || shared+=("$file")
	done
done
merge all.pcapng "${generated[@]}" "${recorded[@]}" ${shared[@]+"${shared[@]}"}
printf 'tshark %s, %d captures (%d from %s), %d frames\n' "$version" \
	$((${#generated[@]} + ${#recorded[@]} + ${#shared[@]})) ${#shared[@]} "$SHARED" "$frames"

if [ -n "$UPDATE" ]; then
	update_golden
	exit
fi

check generated_captures_are_reproducible generated_captures
check every_frame_decodes_without_malformed no_malformed
check decode_equals_the_txt_beside_the_capture txt_lines
check decode_equals_the_builtin_where_it_is_right builtin_fields
check mads_of_other_classes_are_shown_by_the_builtin builtin_mads
check protocols_of_the_builtin_are_all_still_there builtin_protocols
check payloads_are_claimed_on_evidence_alone no_false_claims
check icrc_and_vcrc_have_the_expected_status crc_counts
check snapped_frames_are_truncated_not_malformed snapped
check each_broken_rule_fires_and_no_other broken_rules
check legal_captures_break_no_rule reasons_by_capture
check every_contract_field_is_shown_somewhere contract_fields_shown

check one_pass_equals_two_passes two_passes
check summaries_equal_their_golden_files golden_summaries
check trees_equal_their_golden_files golden_trees
check statistics_equal_their_golden_file golden_statistics
check tables_of_the_analysis_equal_their_golden_file golden_analysis

check messages_are_put_together_by_psn messages
check what_is_missing_of_a_message_is_said one_message
check a_stream_is_followed_in_the_order_of_its_psns follow_stream
check wrong_arguments_of_message_are_named message_arguments

check records_of_the_analysis_come_back_as_they_were "$B/tests/test_store"
check analysis_says_what_vs_pcap_check_says verdicts
if command -v sharkd >/dev/null; then
	check analysis_is_the_same_in_any_order any_order
else
	echo "skip analysis_is_the_same_in_any_order: sharkd is missing"
fi
check analysis_survives_a_read_filter read_filter
check analysis_off_says_nothing analysis_off

check contract_fields_are_registered contract_fields_registered
check registered_fields_have_names_that_say_something field_descriptions
check profile_names_fields_that_exist profile_fields
check takeover_off_gives_the_builtin_back takeover_off
check icrc_preference_turns_validation_off icrc_off
check dc_preference_reads_what_the_builtin_reads dc_preference
check low_source_ports_stay_rdma low_ports
check traffic_of_an_ephemeral_port_4791_is_left_alone foreign_traffic
check decode_as_by_the_user_wins decode_as
check changed_builtin_preferences_do_not_take_ports_back builtin_preferences
check other_ports_by_preference_and_by_decode_as other_ports
check ip_fragments_are_named_as_such fragments
check fragments_of_a_tunnel_are_named_as_such tunnel_fragments
check what_icmp_quotes_is_no_traffic quoted
check stderr_stays_empty stderr_empty
summary
