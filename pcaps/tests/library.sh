#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# library.sh - check-pcaps: the capture library is what its scenarios make, and Wireshark sees in it what the generator
# says. All captures are read as one big file: a start of tshark costs more than they do.
#
#   B=BUILD_FOLDER pcaps/tests/library.sh
set -u
# shellcheck source=dissector/tests/lib.sh
. "$(dirname "$0")/../../dissector/tests/lib.sh"
TESTS=$ROOT/pcaps/tests DISSECTOR=$ROOT/dissector/tests
cd "$ROOT" || exit 2
need "$TSHARK" mergecap capinfos awk
VP=$B/bin/vs-pcap
work check-pcaps
FACTS=$W/facts.tsv TABLE=$W/table.tsv LIBRARY=pcaps/generated

# What one tshark with the plugin says of every frame; facts.awk knows the columns.
FIELDS=(frame.number frame.protocols rdma.bth.opcode rdma.bth.psn rdma.bth.destqp rdma.aeth.syndrome rdma.reth.dmalen
	rdma.icrc.status rdma.vcrc.status rdma.lrh.slid rdma.lrh.dlid rdma.grh.sgid rdma.grh.dgid ip.src ip.dst ipv6.src
	ipv6.dst ip.id ip.dsfield.ecn ipv6.tclass.ecn rdma.mad.mgmtclass rdma.mad.attributeid vlan.id frame.md5_hash
	_ws.malformed rdma.cm.rej.reason)
# Reassembly would keep a fragment from UDP.
OPTIONS=(-o ip.defragment:FALSE -o frame.generate_md5_hash:TRUE)

reason_ids() { # those of vs_pkt_validate
	sed '/up to here: vs_pkt_validate/q' transport/reasons.def |
		sed -n 's/^VS_REASON([A-Z0-9_]*, "\([a-z0-9_]*\)".*/\1/p'
}

captures=()
for facts in pcaps/generated/*.expect.json; do
	captures+=("${facts%.expect.json}.pcap")
done
[ -e "${captures[0]}" ] || die "there are no captures in pcaps/generated: run make pcaps"

# One file of everything, and where each capture begins in it: name, first frame, frames.
read_everything() {
	local first=1 file count names
	mergecap -a -F pcapng -w "$W/all.pcapng" "${captures[@]}" || return
	capinfos -TMmrc "${captures[@]}" >"$W/counts" || return
	while IFS=, read -r file count; do
		printf '%s\t%d\t%d\n' "$(basename "$file" .pcap)" "$first" "$count"
		first=$((first + count))
	done <"$W/counts" >"$W/index.tsv"
	mapfile -t names < <(reason_ids)
	# shellcheck disable=SC2034 # lib.sh reads it
	ours_options=("${OPTIONS[@]}")
	table "$W/all.pcapng" ours "${FIELDS[@]}" "${names[@]/#/rdma.reason.}" >"$TABLE" || return
	# shellcheck disable=SC2034
	ours_options=()
	awk -f "$TESTS/flat.awk" pcaps/generated/*.expect.json >"$FACTS"
	echo "${#captures[@]} captures, $((first - 1)) frames"
}
read_everything || die "the captures can't be read: see $W"

# "capture TAB frame TAB text" -> big-file frame numbers are not for people
per_capture() {
	awk -F'\t' 'NR == FNR { name[NR] = $1; first[NR] = $2; count[NR] = $3; n = NR; next }
		{ for (i = 1; i <= n; i++) if ($1 >= first[i] && $1 < first[i] + count[i]) break
		  f = $1 - first[i] + 1; $1 = ""; print name[i] "\t" f "\t" substr($0, 2) }' OFS='\t' "$W/index.tsv" -
}

# ---- the files ----

the_library_is_what_its_scenarios_make() {
	local file bad=0
	pcaps/make.sh "$VP" "$W/new" || return
	for file in "$W"/new/*.pcap "$W"/new/*.json; do
		cmp "$LIBRARY/${file##*/}" "$file" || bad=1
	done
	for file in "${captures[@]}"; do
		[ -e "$W/new/${file##*/}" ] || { echo "$file: no scenario makes it any more" && bad=1; }
	done
	same pcaps/README.md "$W/new/INDEX.md" || bad=1
	[ "$bad" = 0 ] || echo "make pcaps makes the library anew: read the difference"
	return $bad
}

every_scenario_says_what_is_to_be_learnt() {
	local file bad=0
	for file in pcaps/scenarios/*.drill; do
		awk -v file="$file" 'NR == 2 && (!/^# / || length($0) < 30) { print file ": begins with no comment"; exit 1 }
			/^case / { n = FILENAME; sub(/.*\//, "", n); sub(/\.drill$/, "", n)
				if ($2 != n) { print file ": the case is called " $2; exit 1 } }' "$file" || bad=1
	done
	return $bad
}

# Claims that hold by luck hold no more with other numbers.
scenarios_hold_with_other_seeds_too() {
	local seed
	for seed in 1 77; do
		"$VP" gen pcaps/scenarios/*.drill -o "$W/seed/" --seed "$seed" || return
	done
}

# What an encapsulation has not is skipped, and nothing fails in one.
scenarios_hold_in_every_encapsulation_that_has_what_they_need() {
	local e
	for e in ib ib-grh rocev1 rocev2-ipv4 rocev2-ipv6; do
		"$VP" gen pcaps/scenarios/*.drill -o "$W/encap/" --encap "$e" >/dev/null 2>"$W/err" || { cat "$W/err" && return 1; }
	done
}

INDEX=pcaps/README.md
every_capture_has_key_frames_on_the_index_page() {
	local row bare
	row=$(grep -c '^| \[' "$INDEX")
	bare=$(grep '^| \[.*|  |$' "$INDEX" || true)
	echo "$bare"
	[ "$row" = ${#captures[@]} ] && [ -z "$bare" ]
}

the_library_is_small() {
	local bytes
	bytes=$(cat pcaps/generated/*.expect.json "${captures[@]}" | wc -c)
	echo "$bytes bytes"
	[ "$bytes" -lt 1500000 ] && [ "${#captures[@]}" -ge 60 ]
}

# ---- the facts ----

# Everything that frames show, counted by Wireshark and awk. `duplicates` and `run` are known to the simulator alone.
# Wireshark's own dissector stops at an IPv4 header of version 5.
facts_counted_from_the_captures_equal_those_of_the_generator() {
	awk -f "$TESTS/facts.awk" transport/opcodes.def "$W/index.tsv" "$TABLE" >"$W/counted" || return
	grep -v '^malformed-ip-version	' "$W/counted" | sort >"$W/counted.sorted"
	awk -F'\t' '$2 ~ /^(packets|roce_packets|icrc_bad|vcrc_bad|flows|retransmissions|gaps|network_duplicates|rnr_naks|cnps|ce_marked|psn_wraps|naks\..*|opcodes\..*|encapsulations\..*|vlans\..*|cm_messages\..*|exchange#.*)$/' "$FACTS" |
		grep -v '^malformed-ip-version	' | sort >"$W/expected.sorted"
	echo "$(wc -l <"$W/expected.sorted") facts"
	[ "$(wc -l <"$W/expected.sorted")" -gt 2500 ] && same "$W/expected.sorted" "$W/counted.sorted"
}

# Names, seeds, addresses and the like apart.
facts_are_pairwise_different() {
	awk -F'\t' '$2 !~ /^(scenario|case|title|seed|at|key_frames.*)$/ { facts[$1] = facts[$1] "\n" $2 " " $3 }
		END { for (n in facts) { if (facts[n] in seen) { print n " has the facts of " seen[facts[n]]; bad = 1 } seen[facts[n]] = n }
		      exit bad }' "$FACTS"
}

# ---- rules ----

# What Wireshark says of broken rules: capture, frame, reason.
broken() {
	local ids
	mapfile -t ids < <(reason_ids)
	cut -f"1,$((${#FIELDS[@]} + 1))-" "$TABLE" |
		awk -F'\t' -v ids="${ids[*]}" 'BEGIN { split(ids, id, " ") }
			{ for (i = 2; i <= NF; i++) if ($i != "" && id[i - 1] != "ip_ecn_ce") print $1 "\t" id[i - 1] }' | per_capture | sort
}

wireshark_finds_the_broken_rules_of_the_facts_and_no_other() {
	broken >"$W/broken.got"
	awk -F'\t' '$2 ~ /^(broken_rules|notes)#/ { split($3, v, ": "); print $1 "\t" v[1] "\t" v[2] }' "$FACTS" |
		grep -v '^malformed-ip-version	' | sort >"$W/broken.expected"
	same "$W/broken.expected" "$W/broken.got"
}

# mark "breaks RULE RULE" before a packet says which ones it is to break.
malformed_packets_break_what_their_scenario_says() {
	awk -F'\t' '$1 ~ /^malformed-/ && $2 ~ /^key_frames#/ && $3 ~ /: breaks / {
		split($3, v, ": breaks "); n = split(v[2], r, " "); for (i = 1; i <= n; i++) print $1 "\t" v[1] "\t" r[i] }' "$FACTS" | sort >"$W/said"
	awk -F'\t' '$1 ~ /^malformed-/ && $2 ~ /^(broken_rules|notes)#/ { split($3, v, ": "); print $1 "\t" v[1] "\t" v[2] }' "$FACTS" | sort >"$W/is"
	echo "$(wc -l <"$W/said") rules"
	[ -s "$W/said" ] && same "$W/said" "$W/is"
}

# Another UDP port is no RoCE at all.
every_rule_of_a_packet_is_broken_somewhere() {
	{
		awk -F'\t' '$2 ~ /^(broken_rules|notes)#/ { split($3, v, ": "); print v[2] } $2 == "ce_marked" && $3 > 0 { print "ip_ecn_ce" }' "$FACTS"
		echo udp_dport
	} | sort -u >"$W/rules.got"
	reason_ids | sort >"$W/rules.expected"
	same "$W/rules.expected" "$W/rules.got"
}

every_opcode_and_every_nak_is_somewhere() {
	sed -n 's/^VS_OPCODE(0x[0-9a-f]*, [A-Z_]*, "\([^"]*\)".*/\1/p' transport/opcodes.def | sort >"$W/opcodes.expected"
	awk -F'\t' '$2 ~ /^opcodes\./ { print substr($2, 9) }' "$FACTS" | grep -v '^opcode 0x' | sort -u >"$W/opcodes.got"
	same "$W/opcodes.expected" "$W/opcodes.got" || return
	awk -F'\t' '$2 ~ /^naks\./ || $2 == "rnr_naks" || $2 == "cnps" || $2 == "gaps" { n[$2] += $3 }
		END { for (k in n) if (n[k] == 0) { print k " is nowhere"; bad = 1 } exit bad }' "$FACTS"
}

# ---- Wireshark ----

# The two whose IP or UDP header promises more than there is are called malformed by Wireshark: rightly.
no_frame_is_malformed_that_is_not_meant_to_be() {
	awk -F'\t' '$25 != "" { print $1 "\t" $2 }' "$TABLE" | per_capture | grep -v '^malformed-' >"$W/malformed"
	cat "$W/malformed"
	[ ! -s "$W/malformed" ]
}

every_crc_is_good_where_no_rule_says_otherwise() {
	awk -F'\t' '$2 ~ /rdma/ && ($8 != 1 || ($9 != "" && $9 != 1)) { print $1 "\tICRC " $8 " VCRC " $9 }' "$TABLE" | per_capture |
		awk -F'\t' 'NR == FNR { broken[$1, $2] = 1; next } !(($1, $2) in broken)' "$W/broken.expected" - >"$W/crcs"
	cat "$W/crcs"
	[ ! -s "$W/crcs" ]
}

the_builtin_dissector_reads_the_same_fields() {
	local mine theirs
	mapfile -t mine < <(awk -F'[ \t]*[|][ \t]*' '!/^#/ && NF { n = split($2, f, " "); for (i = 1; i <= n; i++) print f[i] }' "$DISSECTOR/builtin.map")
	mapfile -t theirs < <(awk -F'[ \t]*[|][ \t]*' '!/^#/ && NF { n = split($3, f, " "); for (i = 1; i <= n; i++) print f[i] }' "$DISSECTOR/builtin.map")
	table "$W/all.pcapng" ours frame.number frame.protocols "${mine[@]}" >"$W/fields.ours" || return
	table "$W/all.pcapng" builtin_ws frame.number frame.protocols "${theirs[@]}" >"$W/fields.builtin" || return
	awk -f "$DISSECTOR/num.awk" -f "$DISSECTOR/compare.awk" "$DISSECTOR/builtin.map" "$W/index.tsv" "$W/fields.ours" "$W/fields.builtin"
}

stderr_stays_empty() {
	sort "$W/stderr" | uniq -c
	[ ! -s "$W/stderr" ]
}

# ---- scenarios of newcomers ----

# Written by people who had the manual alone; each must hold as it is, in every encapsulation that it says nothing of.
scenarios_of_newcomers_hold() {
	local file encap bad=0
	for file in pcaps/tests/newcomer/*.drill; do
		[ -e "$file" ] || continue
		"$VP" gen "$file" -o "$W/newcomer.pcap" || bad=1
		for encap in rocev2-ipv6 rocev1 ib-grh; do
			"$VP" gen "$file" -o "$W/newcomer.pcap" --encap "$encap" || [ $? = 127 ] || bad=1
		done
	done
	return $bad
}

# ---- do these checks bite? ----

# bites CHECK: it fails with what $FACTS and $TABLE name now.
bites() {
	"$@" >/dev/null 2>&1 || return 0
	echo "$* noticed nothing"
	return 1
}

planted_violations_are_found() (
	local bad=0 facts=$FACTS table=$TABLE
	FACTS=$W/planted.facts TABLE=$W/planted.table
	cp "$table" "$TABLE"
	LIBRARY=$W/planted.library
	cp -r pcaps/generated "$LIBRARY"
	printf x | dd of="$LIBRARY/fence.pcap" bs=1 seek=100 conv=notrunc 2>/dev/null
	bites the_library_is_what_its_scenarios_make || bad=1
	sed 's/^\(loss-middle\tretransmissions\t\)4$/\15/' "$facts" >"$FACTS"
	bites facts_counted_from_the_captures_equal_those_of_the_generator || bad=1
	awk -F'\t' '{ print } $1 == "fence" { print "again" substr($0, 6) }' "$facts" >"$FACTS"
	bites facts_are_pairwise_different || bad=1
	sed 's/^\(malformed-cnp\tbroken_rules#1\t1: \).*/\1icrc_bad/' "$facts" >"$FACTS"
	bites wireshark_finds_the_broken_rules_of_the_facts_and_no_other || bad=1
	bites malformed_packets_break_what_their_scenario_says || bad=1
	sed '/RC FLUSH/d' "$facts" >"$FACTS"
	bites every_opcode_and_every_nak_is_somewhere || bad=1
	sed '/: feth_sel/d' "$facts" >"$FACTS"
	bites every_rule_of_a_packet_is_broken_somewhere || bad=1
	INDEX=$W/planted.index
	sed '/^| \[fence\]/s/[^|]*|$/  |/' pcaps/README.md >"$INDEX"
	bites every_capture_has_key_frames_on_the_index_page || bad=1
	cp "$facts" "$FACTS"
	awk -F'\t' -v OFS='\t' '$1 == 1 { $8 = 0; $25 = "Malformed" } { print }' "$table" >"$TABLE"
	bites every_crc_is_good_where_no_rule_says_otherwise || bad=1
	bites no_frame_is_malformed_that_is_not_meant_to_be || bad=1
	bites facts_counted_from_the_captures_equal_those_of_the_generator || bad=1
	exit $bad
)

while read -r claim <&3; do
	check "$claim" "$claim"
done 3< <(sed -n 's/^\([a-z][a-z0-9]*_[a-z0-9_]*_[a-z0-9_]*\)() [{(]$/\1/p' "$0")
summary
