# SPDX-License-Identifier: GPL-2.0-or-later
#
# checks-config.sh - names that others rely on, and what preferences and Decode As do. Sourced by run.sh.
# shellcheck shell=bash disable=SC2154

# fields.txt, and a field for everything in a CM message. (Those of broken rules: each_broken_rule_fires...)
contract_fields() {
	grep -v '^#' "$HERE/fields.txt"
	sed -n 's/^VS_CM_[UB](.*"\([a-z][a-z0-9.]*\)", *"[^"]*")$/rdma.cm.\1/p' transport/cm.def | grep -v '\.reserved$' | sort -u
}

registered() {
	[ ! -s "$W/registered" ] || return 0
	ours_first -G fields >"$W/fields.all" && awk -F'\t' '$3 ~ /^rdma($|\.)/' "$W/fields.all" >"$W/registered"
}

contract_fields_registered() {
	local bad=0 n=0 field
	registered || return
	while read -r field; do
		n=$((n + 1))
		cut -f3 "$W/registered" | grep -qxF "$field" || { echo "not registered: $field" && bad=1; }
	done < <(contract_fields)
	echo "$n fields"
	[ "$n" -gt 100 ] && return $bad
}

# A field's name stands in the tree; its description in the status bar and in -G. Neither may repeat the filter name.
field_descriptions() {
	awk -F'\t' '
		$2 == "" || $2 == $3 { print "no name: " $3; bad = 1 }
		$1 == "F" && $8 == $2 { print "the description repeats the name: " $3; bad = 1 }
		$1 == "F" { types[$3] = types[$3] " " $4; n++ }
		END {
			for (f in types) {
				split(types[f], t, " ")
				for (i in t) if (t[i] != t[1]) { print "two types under one name: " f types[f]; bad = 1 }
			}
			print n " fields"
			exit bad
		}' "$W/registered"
}

# Columns, colouring rules and filter buttons name fields that exist, and every filter compiles.
profile_fields() {
	local profile=dissector/profile/Verbscope bad=0 filter all='' n=0
	registered || return
	cat "$profile"/* | grep -oE '\b(rdma|ip|ipv6|icmp|_ws)\.[a-z0-9_.]*[a-z0-9_]' |
		grep -vE '^rdma\.(takeover|check_|dc$|ulp|qp_table|udp\.ports)' | sort -u >"$W/profile.fields"
	[ -s "$W/profile.fields" ] && ! cut -f3 "$W/fields.all" | sort -u | comm -13 - "$W/profile.fields" | grep . || bad=1
	while read -r filter; do
		all="${all:+$all || }($filter)" n=$((n + 1))
	done < <(profile_filters "$profile")
	[ "$n" -ge 30 ] || { echo "only $n filters found in $profile" && return 1; }
	ours -r pcaps/generated/rawip.pcap -Y "$all" >/dev/null && return $bad
	while read -r filter; do
		ours -r pcaps/generated/rawip.pcap -Y "$filter" >/dev/null || echo "does not compile: $filter"
	done < <(profile_filters "$profile")
	return 1
}

profile_filters() {
	[ ! -e "$1/colorfilters" ] || sed -n 's/^!\{0,1\}@[^@]*@\(.*\)@\[.*\]\[.*\]$/\1/p' "$1/colorfilters"
	[ ! -e "$1/dfilters" ] || sed -n 's/^"[^"]*" //p' "$1/dfilters"
	[ ! -e "$1/dfilter_buttons" ] || sed -n 's/^"[A-Z]*","\([^"]*\)","\(.*\)","[^"]*"$/\2/p' "$1/dfilter_buttons" |
		sed 's/\\x22/"/g'
}

# ---- preferences ----

# With rdma.takeover off, tshark says what it says without the plugin, to the letter.
takeover_off() {
	local files=(pcaps/generated/{opcodes-roce,rocev1,ib,ib-mad,cm,vxlan,ports}.pcap)
	mergecap -a -F pcapng -w "$W/off.pcapng" "${files[@]}" || return
	ours -o rdma.takeover:FALSE -r "$W/off.pcapng" -V >"$W/off" && builtin_ws -r "$W/off.pcapng" -V >"$W/without" || return
	[ -s "$W/off" ] && same "$W/without" "$W/off"
}

icrc_off() {
	ours -o rdma.check_icrc:FALSE -o rdma.check_vcrc:FALSE -r "$W/all.pcapng" -Y 'rdma.icrc.status || rdma.vcrc.status' \
		-T fields -e rdma.icrc.status -e rdma.vcrc.status | sed 's/[,\t]/\n/g' | grep -v '^$' | sort | uniq -c >"$W/status" || return
	cat "$W/status"
	awk '$2 != "2" && $2 != "Unverified" { bad = 1 } END { exit bad || NR == 0 }' "$W/status" || return
	ours -o rdma.check_icrc:FALSE -r pcaps/generated/crc.pcap -Y 'rdma.reason.icrc_bad' >"$W/bad"
	[ ! -s "$W/bad" ]
}

# With rdma.dc every opcode in the range of RD is Mellanox DC: the BTH as the built-in reads it, no header
# of RD. The headers behind are not public, and the built-in reads those of RD there: no witness.
dc_preference() {
	local n
	printf 'dc\t1\t%d\n' "$(count_frames pcaps/generated/dc.pcap)" >"$W/dc.index"
	ours_options=(-o rdma.dc:TRUE)
	builtin_tables pcaps/generated/dc.pcap "$W/dc"
	# shellcheck disable=SC2034 # lib.sh reads it
	ours_options=()
	n=$(ours -o rdma.dc:TRUE -r pcaps/generated/dc.pcap -Y '!rdma.dcext || rdma.rdeth || rdma.icrc.status != 1' | wc -l)
	[ "$n" = 0 ] || { echo "$n frames are not DC, or their ICRC is not good" && return 1; }
	awk -f "$HERE/num.awk" -f "$HERE/compare.awk" "$HERE/builtin.map" "$W/dc.index" "$W/dc.ours" "$W/dc.builtin" || return
	n=$(ours -r pcaps/generated/dc.pcap -Y 'rdma.dcext || !rdma.rdeth' | wc -l)
	[ "$n" = 0 ] || { echo "without the preference $n frames are not RD" && return 1; }
}

# Every frame, and the right one of two dissectors: nobody of the lower port.
low_ports() {
	ours -r pcaps/generated/ports.pcap -T fields -e udp.srcport -e frame.protocols >"$W/ports" || return
	awk '$2 !~ /^eth:ethertype:ipv?6?:udp:rdma$/ { print; bad = 1 } END { exit bad || NR < 50 }' "$W/ports"
}

# A client's ephemeral port may be 4791: what it asks of DNS, and what it is answered, is DNS.
foreign_traffic() {
	ours -r pcaps/generated/foreign.pcap -Y 'dns && !rdma' >"$W/foreign" || return
	[ "$(wc -l <"$W/foreign")" = 2 ] || { ours -r pcaps/generated/foreign.pcap && return 1; }
}

# Decode As by the user, to another protocol or to the built-in, beats us.
decode_as() {
	local entry capture want rest
	while IFS='|' read -r entry capture want; do
		ours -d "$entry" -r "pcaps/generated/$capture.pcap" -Y "rdma || !($want)" >"$W/decode-as" || return
		[ ! -s "$W/decode-as" ] || { echo "-d $entry:" && head -3 "$W/decode-as" && return 1; }
	done <<-'END'
		udp.port==4791,rpc|rawip|udp
		udp.port==4791,infiniband|rawip|infiniband
		ethertype==0x8915,ip|rocev1|eth
	END
	# and back: with the protocol disabled the built-in decodes
	ours --disable-protocol rdma -r pcaps/generated/opcodes-roce.pcap -Y '!infiniband' >"$W/decode-as" || return
	rest=$(wc -l <"$W/decode-as")
	[ "$rest" = 0 ] || { echo "--disable-protocol rdma: $rest frames without the built-in" && return 1; }
}

# The built-in's preference callback takes every port away and adds itself again.
builtin_preferences() {
	local n
	for n in infiniband.rroce.port:4792 infiniband.rroce.port:0 infiniband.try_heuristic_first:FALSE; do
		ours -o "$n" -r pcaps/generated/opcodes-roce.pcap -Y '!rdma' >"$W/pref" || { echo "$n is no preference" && return 1; }
		[ ! -s "$W/pref" ] || { echo "$n:" && head -3 "$W/pref" && return 1; }
	done
}

other_ports() {
	local capture=pcaps/generated/other-port.pcap n
	n=$(ours -r $capture -Y rdma | wc -l)
	[ "$n" = 0 ] || { echo "port 14791 is taken without being asked for: $n frames" && return 1; }
	n=$(ours -o rdma.udp.ports:4791,14791 -r $capture -Y 'rdma.icrc.status == 1' | wc -l)
	[ "$n" = 2 ] || { echo "rdma.udp.ports: $n frames" && return 1; }
	n=$(ours -d udp.port==14791,rdma -r $capture -Y 'rdma.icrc.status == 1' | wc -l)
	[ "$n" = 2 ] || { echo "Decode As rdma: $n frames" && return 1; }
	n=$(ours -o rdma.udp.ports:14791 -r pcaps/generated/rawip.pcap -Y rdma | wc -l)
	[ "$n" = 0 ] || { echo "port 4791 is kept although the preference moved away: $n frames" && return 1; }
}

# Whole sets are put together by Wireshark; a lone first fragment reaches us only without that.
fragments() {
	local n
	n=$(ours -r pcaps/generated/fragments.pcap -Y 'rdma.icrc.status == 2' | wc -l)
	[ "$n" = 2 ] || { echo "reassembled: $n unverified, not 2" && return 1; }
	n=$(ours -o ip.defragment:FALSE -o ipv6.defragment:FALSE -r pcaps/generated/fragments.pcap \
		-Y 'rdma.icrc.status == 1 || rdma.icrc.status == 0 || _ws.malformed' | wc -l)
	[ "$n" = 0 ] || { echo "fragments: $n verified or malformed" && return 1; }
	n=$(ours -o ip.defragment:FALSE -o ipv6.defragment:FALSE -r pcaps/generated/fragments.pcap -Y 'rdma.bth' | wc -l)
	[ "$n" = 4 ] || { echo "first fragments: $n decoded, not 4" && return 1; }
	# of what a fragment doesn't hold there is nothing to complain about
	n=$(ours -o ip.defragment:FALSE -o ipv6.defragment:FALSE -r pcaps/generated/fragments.pcap -Y 'rdma.bth' |
		grep -c 'len=600 AckReq \[IP fragment\]')
	[ "$n" = 4 ] || { echo "first fragments: $n named, not 4" && return 1; }
	n=$(ours -o ip.defragment:FALSE -o ipv6.defragment:FALSE -r pcaps/generated/fragments.pcap -T fields -e _ws.expert.message \
		-Y 'ipv6 && rdma.bth' | grep -vc '^Illegal checksum value (0)$')
	[ "$n" = 0 ] || { echo "first fragments: $n accused" && return 1; }
}

# The same of a tunnel's IP packet, in front of which the fragment's header stands: none is judged by its lengths.
tunnel_fragments() {
	local capture=pcaps/generated/tunnel-fragments.pcap
	ours -r $capture -Y rdma -T fields -e rdma.icrc.status | sort | uniq -c >"$W/tunnels" || return
	[ "$(tr -s ' ' <"$W/tunnels")" = " 6 1" ] || { echo "put together:" && cat "$W/tunnels" && return 1; }
	ours_options=(-o ip.defragment:FALSE -o ipv6.defragment:FALSE)
	ours -r $capture -Y rdma.bth -T fields -e rdma.icrc.status -e rdma.icrc.unverified_reason -e _ws.col.Info >"$W/tunnels"
	reasons_of $capture | grep ' ' >"$W/reasons"
	# shellcheck disable=SC2034 # lib.sh reads it
	ours_options=()
	cat "$W/reasons" "$W/tunnels"
	[ ! -s "$W/reasons" ] && [ "$(grep -c $'^2\tIP fragment: .*\t.*\\[IP fragment\\]$' "$W/tunnels")" = 12 ]
}

# What ICMP quotes is no traffic: not in our tables, not in what their filters find, nothing to complain about.
quoted() {
	local capture=pcaps/generated/icmp.pcap n
	n=$(ours -r $capture -Y 'rdma.quoted && rdma.bth && rdma.icrc.status != 0' | wc -l)
	[ "$n" = 6 ] || { echo "$n frames quote RoCE, not 6" && return 1; }
	ours -r $capture -Y 'rdma.truncated || rdma.endpoint || rdma.endpoint.src || rdma.endpoint.dst' | grep . && return 1
	ours -q -r $capture -z rdma,opcodes -z conv,rdma -z endpoints,rdma | grep -E ' QP 0x|^0x' && return 1
	ours -r $capture -T fields -e _ws.col.Protocol -e _ws.col.Info | grep -v $'^ICMP[v6]*\tDestination [uU]nreachable (Port unreachable)$' && return 1
	return 0
}

# tshark had nothing to say in all these runs: no warning of ours, none about us.
stderr_empty() {
	sort "$W/stderr" | uniq -c | head -20
	[ ! -s "$W/stderr" ]
}
