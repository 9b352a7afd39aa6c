#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# run.sh - check-ulp: payloads reach the upper-layer dissectors that something speaks for, and no other.
#
#   run.sh           the checks; exit 0 when all passed
#   run.sh --update  rewrites expected.txt from what the plugin does now (review the diff!)
#
# The captures are made by mkulp.c. Environment as for ../run.sh, and MKULP.
set -u
# shellcheck source=dissector/tests/lib.sh
. "$(dirname "$0")/../lib.sh"
need "$TSHARK" mergecap capinfos
cd "$ROOT" || exit 2
EXPECTED=$HERE/ulp/expected.txt
MKULP=${MKULP:-$B/tests/mkulp}
version=$("$TSHARK" --version 2>/dev/null | sed -n '1s/^[^0-9]*\([0-9]*\.[0-9]*\).*/\1/p')
[ -e "$PLUGINS/$version/epan/verbscope.so" ] || die "no plugin for tshark $version in $PLUGINS: run make"
[ -x "$MKULP" ] || die "$MKULP is missing: run make check-ulp"
work check-ulp
mkdir -p "$W/captures"
"$MKULP" "$W/captures" || die "mkulp failed"
mapfile -t names < <("$MKULP" --list | cut -f1)
# All of them as one file, $W/captures/all.pcap, in which each has hosts of its own: a start of tshark costs 0.2 s.
files=("${names[@]/#/$W/captures/}")
merge captures/all.pcap "${files[@]/%/.pcap}"

# claims CAPTURE [tshark options]: frame, the layers on top of ours, and who said so.
claims() {
	local capture=$1
	shift
	ours -r "$W/captures/$capture.pcap" "$@" -T fields -E 'separator=/t' -E occurrence=f \
		-e frame.number -e frame.protocols -e rdma.ulp -e rdma.ulp.by -e rdma.ulp.frame |
		awk -F'\t' '{ sub(/.*:rdma/, "", $2); sub(/^:/, "", $2)
			if ($2 != "" || $3 != "") printf "%s\t%s\t%s\t%s\t%s\n", $1, $2 == "" ? "-" : $2, $3, $4, $5 }'
}

# Claims of all captures, from standard input: capture by capture, with its own frame numbers.
by_capture() {
	awk -F'\t' -v OFS='\t' '
		NR == FNR { name[NR] = $1; first[NR] = $2; end[NR] = $2 + $3; n = NR; next }
		{
			while (i == 0 || $1 >= end[i])
				print "# " name[++i]
			$1 -= first[i] - 1
			if ($5 != "")
				$5 -= first[i] - 1
			print
		}
		END { while (i < n) print "# " name[++i] }' "$W/index.tsv" -
}

claims all >"$W/claims.all" || die "tshark failed"
by_capture <"$W/claims.all" >"$W/claims"
if [ "${1-}" = --update ]; then
	cp "$W/claims" "$EXPECTED"
	exit
fi
table "$W/captures/all.pcap" builtin_ws frame.number frame.protocols _ws.malformed >"$W/builtin" || die "tshark failed"

# The whole table: capture by capture, frame by frame.
expected_claims() {
	same "$EXPECTED" "$W/claims"
}

# What RPC-over-RDMA does not show again in a second pass, it doesn't show for the built-in either.
two_passes() {
	sed 's/rpcordma:data/rpcordma/' "$W/claims.all" >"$W/claims1"
	claims all -2 | sed 's/rpcordma:data/rpcordma/' >"$W/claims2" || return
	[ "$(wc -l <"$W/claims1")" -gt 50 ] && same "$W/claims1" "$W/claims2"
}

# What the built-in finds in these, apart from what it then calls malformed, must be there.
GENUINE='nfs nfs-ib nfs-v6 nvme nvme-ib iser iser-ib smb smb-ib lnet ipoib-cm header header-ib'
builtin_claims() {
	local name first count bad=0
	table "$W/captures/all.pcap" ours frame.number frame.protocols >"$W/ours" || return
	while read -r name first count; do
		[[ " $GENUINE " == *" $name "* ]] || continue
		awk -F'\t' -v name="$name" -v first="$first" -v count="$count" '
			$1 < first || $1 >= first + count { next }
			NR == FNR { ours[$1] = ":" $2 ":"; next }
			$3 == "" {
				n = split($2, p, ":")
				for (i = 1; i <= n; i++)
					if (p[i] !~ /^(infiniband|data)$/) {
						if (ours[$1] !~ ":" p[i] ":") {
							print name " frame " $1 - first + 1 ": " p[i] " is lost"
							bad = 1
						}
						found += p[i] !~ /^(eth|ethertype|ip|ipv6|udp|erf)$/
					}
			}
			END { print name ": " found + 0 " layers of the built-in are there"; exit bad || found < 2 }' \
			"$W/ours" "$W/builtin" || bad=1
	done <"$W/index.tsv"
	return $bad
}

# None of hundreds of look-alikes is claimed; that they are look-alikes, the built-in shows.
false_claims() {
	awk '/^#/ { name = $2; next } name ~ /^false(-|$)/ { print name ": " $0; bad = 1 } END { exit bad }' "$W/claims" || return
	awk -F'\t' '
		NR == FNR { if ($1 ~ /^false(-|$)/) for (i = 0; i < $3; i++) here[$2 + i] = 1; next }
		$1 in here && ":" $2 ":" !~ /:data:/ && $2 !~ /infiniband$/ { fooled++ }
		END { print "the built-in is fooled by " fooled; exit !(fooled > 50) }' "$W/index.tsv" "$W/builtin"
}

# Four bytes that fit are no evidence. DRBD's heuristic is off by default; every other frame is an ACK.
magic_numbers() {
	claims drbd --enable-heuristic drbd_rdma | cut -f1,3,4 >"$W/lines" && lines '7\tdrbd\tits header' '9\tdrbd\tits header'
}

# What an upper-layer dissector fails on is shown as its failure; our own tree goes on to the ICRC.
inside() {
	ours -r "$W/captures/inside.pcap" -Y '_ws.malformed' -T fields -e frame.number -e rdma.icrc.status \
		-e rdma.ulp -e frame.protocols >"$W/inside" || return
	printf '4\t1\trpcordma\teth:ethertype:ip:udp:rdma:rpcordma:rpc:nfs\n' >"$W/inside.expected"
	sed -i 's/\tGood\t/\t1\t/' "$W/inside"
	same "$W/inside.expected" "$W/inside"
}

# The QP of the sender, in both directions, from the REP on and until the connection is closed.
source_qps() {
	ours -r "$W/captures/nvme-ib.pcap" -Y 'rdma.bth.destqp > 1' -T fields -e rdma.bth.destqp -e rdma.src_qp |
		sort | uniq -c | awk '{ print $2, $3 }' >"$W/src_qp" || return
	printf '%s\n' '0x770005 0x880005' '0x880005 0x770005' >"$W/src_qp.expected"
	same "$W/src_qp.expected" "$W/src_qp" || return
	ours -r "$W/captures/reuse.pcap" -Y '!rdma.src_qp && rdma.bth.opcode == 4' -T fields -e frame.number >"$W/src_qp" || return
	printf '%s\n' 1 12 >"$W/src_qp.expected" # before the first connection, after it
	same "$W/src_qp.expected" "$W/src_qp"
}

# What our tree says of a message that took several packets: its bytes, the other frames.
whole_messages() {
	ours -r "$W/captures/whole.pcap" -Y rdma.ulp.message -T fields -e frame.number -e rdma.ulp.message -e rdma.ulp.message.frame -e smb2.cmd >"$W/whole" || return
	printf "8\t2626\t4,7\t0\n" >"$W/whole.expected"
	same "$W/whole.expected" "$W/whole" || return
	ours -r "$W/captures/whole-ib.pcap" -Y rdma.ulp.message -T fields -e frame.number -e rdma.ulp.message -e rdma.ulp.message.frame >"$W/whole" || return
	printf "%s\t%s\t%s\n" 5 1376 4 12 2112 10,11 21 3032 19,20 >"$W/whole.expected"
	same "$W/whole.expected" "$W/whole"
}

lines() {
	printf '%b\n' "$@" >"$W/lines.expected"
	same "$W/lines.expected" "$W/lines"
}

TABLE_BY='nvme-rdma\tthe table of protocols by QP\t'
qp_table() {
	local both="1\tnvme-rdma\t$TABLE_BY" answer="3\tnvme-rdma\t$TABLE_BY"
	claims table >"$W/lines" && [ ! -s "$W/lines" ] || return
	claims table -o 'uat:rdma_qp_protocols:"10.99.20.2","0x880014","7798804","nvme-rdma"' >"$W/lines" && lines "$both" "$answer" || return
	claims table -2 -o 'uat:rdma_qp_protocols:"10.99.20.2","0x880014","7798804","nvme-rdma"' >"$W/lines" && lines "$both" "$answer" || return
	claims table -o 'uat:rdma_qp_protocols:"","0x880014","","nvme-rdma"' >"$W/lines" && lines "$both" || return
	claims table -o 'uat:rdma_qp_protocols:"10.99.20.1","0x880014","","nvme-rdma"' >"$W/lines" && [ ! -s "$W/lines" ] || return
	claims hello -o 'uat:rdma_qp_protocols:"","0x880015","","data-text-lines"' >"$W/lines" &&
		lines '1\tdata-text-lines\tdata-text-lines\tthe table of protocols by QP\t'
}

# Both QPs given: the answer finds its command.
qp_table_matches_answers() {
	ours -r "$W/captures/table.pcap" -o 'uat:rdma_qp_protocols:"10.99.20.2","0x880014","0x770014","nvme-rdma"' \
		-Y 'frame.number == 3' -V | grep -F '[Cmd in: 1]'
}

refused_row() {
	"${as_user[@]}" "${WS_ENV[@]}" WIRESHARK_PLUGIN_DIR="$PLUGINS" "$TSHARK" -n -r "$W/captures/table.pcap" \
		-o "uat:rdma_qp_protocols:$1" 2>&1 | grep -F "$2" || { echo "no such message: $2" && return 1; }
}

qp_table_errors() {
	refused_row '"10.0.0","0x11","","iser"' '"10.0.0" is no IPv4 or IPv6 address, GID or LID' &&
		refused_row '"","0x1000000","","iser"' '"0x1000000" is no QP number' &&
		refused_row '"","","-1","iser"' '"-1" is no QP number' &&
		refused_row '"","","","iser"' 'Give the QP of the server, of the client, or both' &&
		refused_row '"","0x11","","no-such"' '"no-such" is no protocol that Wireshark knows'
}

decode_as() {
	claims hello -d infiniband,smc >"$W/lines" && lines '1\tsmc\tsmc\tDecode As\t' || return
	claims nvme -d infiniband,data | awk -F'\t' '$1 > 3 && $2 != "data"' >"$W/lines" && [ ! -s "$W/lines" ] || return
	# what the user's choice refuses is still free for the evidence
	claims smb -d infiniband,iser >"$W/refused" && claims smb >"$W/lines" && same "$W/lines" "$W/refused"
}

preferences() {
	claims all -o rdma.ulp:FALSE | grep . && return 1
	claims hello -o rdma.ulp_guess:TRUE >"$W/lines" && grep rpcordma "$W/lines"
}

# A heuristic dissector that is not Wireshark's own was put there on purpose.
users_heuristics() {
	claims hello -X lua_script:"$HERE/ulp/heuristic.lua" >"$W/lines" && lines "1\tgreeting\t\t\t" || return
	claims smb -X lua_script:"$HERE/ulp/heuristic.lua" >"$W/with" && claims smb >"$W/without" && same "$W/without" "$W/with"
}

# A port that the user gave the protocol's own dissector.
custom_ports() {
	claims nvme -o nvme-rdma.subsystem_ports:4421 >"$W/lines" || return
	awk -F'\t' '$4 ~ /service ID/' "$W/lines" | grep . && return 1
	claims nvme -o nvme-rdma.subsystem_ports:4400-4500 >"$W/refused" && claims nvme >"$W/lines" && same "$W/lines" "$W/refused"
}

# The context menus of the conversation table filter by these.
endpoint_filters() {
	local n
	n=$(ours -r "$W/captures/nvme-ib.pcap" -Y 'rdma.endpoint.src == "LID: 266 QP 0x770005" && rdma.endpoint.dst == "LID: 267 QP 0x880005"' | wc -l)
	[ "$n" -gt 5 ] || { echo "$n frames by source and destination" && return 1; }
	n=$(ours -r "$W/captures/nvme-ib.pcap" -Y 'rdma.endpoint == "LID: 266 QP 0x770005"' | wc -l)
	[ "$n" -gt 15 ] || { echo "$n frames by endpoint" && return 1; }
	ours -q -r "$W/captures/nvme-ib.pcap" -z conv,rdma | grep -c 'QP 0x770005 .*<-> .* QP 0x880005' | grep -x 1
}

stderr_empty() {
	[ ! -s "$W/stderr" ] || { cat "$W/stderr" && return 1; }
}

check every_payload_goes_where_the_evidence_says expected_claims
check a_second_pass_says_the_same two_passes
check nothing_of_the_builtin_is_lost builtin_claims
check lookalikes_stay_data false_claims
check a_magic_number_alone_is_no_evidence magic_numbers
check a_failing_upper_layer_leaves_our_tree_whole inside
check messages_of_several_packets_come_whole whole_messages
check the_senders_qp_is_known_from_cm source_qps
check the_users_qp_table_names_the_protocol qp_table
check both_qps_in_the_table_match_answers_with_commands qp_table_matches_answers
check a_wrong_row_of_the_table_is_refused_with_the_reason qp_table_errors
check decode_as_by_the_user_wins decode_as
check preferences_turn_it_off_and_guessing_on preferences
check heuristics_that_the_user_added_are_asked_too users_heuristics
check the_dissectors_own_port_preferences_count custom_ports
check conversation_tables_filter_by_endpoint endpoint_filters
check stderr_stays_empty stderr_empty
summary
