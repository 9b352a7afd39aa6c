# SPDX-License-Identifier: GPL-2.0-or-later
#
# checks-analysis.sh - what the analysis says: the same as vs-pcap check, the same in any order, nothing when it is off.
# Sourced by run.sh.
# shellcheck shell=bash disable=SC2154

# The fields that verdict.awk reads, in its order.
VERDICT=(frame.number rdma.analysis.stream rdma.analysis.lost_before rdma.analysis.retransmission
	rdma.analysis.network_duplicate rdma.analysis.out_of_order rdma.analysis.duplicate_ack rdma.analysis.ghost_ack
	rdma.analysis.retransmission_of rdma.analysis.request_in rdma.analysis.acks rdma.analysis.cause
	rdma.analysis.cause_in rdma.analysis.rnr_wait rdma.analysis.rtt rdma.analysis.outstanding rdma.analysis.rule)

# Captures that both read alike. vs-pcap does not look into tunnels, nor at what Wireshark's preferences leave to others;
# Wireshark's own IP keeps broken headers from us, and fragments are not analysed.
both_read() {
	local file
	for file in "${recorded[@]}" ${shared[@]+"${shared[@]}"} pcaps/generated/*.pcap; do
		case ${file##*/} in
		foreign.pcap | fragments.pcap | geneve.pcap | gre.pcap | ib-snap.pcap | mirror.pcap | mpls.pcap | rocev1.pcap | \
			rules-roce.pcap | tunnel-fragments.pcap | tunnels.pcap | vxlan.pcap | malformed-ip*.pcap) ;;
		*) printf '%s\n' "$file" ;;
		esac
	done
}

# equal_verdicts LINK: all captures of this link type as one file, packet by packet.
equal_verdicts() {
	local link=$1 files args
	mapfile -t files < <(both_read | xargs capinfos -TMmrE | awk -F, -v link="$link" '$2 == link { print $1 }')
	[ "${#files[@]}" -gt 0 ] && mergecap -a -F nsecpcap -w "$W/verdict.$link" "${files[@]}" || return
	mapfile -t args < <(fields "${VERDICT[@]}")
	ours -r "$W/verdict.$link" -T fields -E occurrence=a -E aggregator=, "${args[@]}" |
		awk -F'\t' -v from=plugin -f "$HERE/verdict.awk" >"$W/verdict.ours" || return
	"$B/bin/vs-pcap" check --packets "$W/verdict.$link" >"$W/verdict.packets"
	[ $? -le 1 ] || return
	awk -v from=check -f "$HERE/verdict.awk" "$W/verdict.packets" >"$W/verdict.check"
	echo "$link: ${#files[@]} captures, $(wc -l <"$W/verdict.check") frames with a verdict"
	[ -s "$W/verdict.check" ] && same "$W/verdict.check" "$W/verdict.ours"
}

verdicts() {
	equal_verdicts ether && equal_verdicts erf
}

# ask_sharkd FRAME-NUMBERS: what Wireshark's engine behind a window would show, sorted.
ask_sharkd() {
	{
		printf '{"jsonrpc":"2.0","id":1000000,"method":"load","params":{"file":"%s"}}\n' "$W/order.pcapng"
		awk '{ printf "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"frame\",\"params\":{\"frame\":%d,\"proto\":true,\"columns\":true}}\n", $1, $1 }' "$1"
	} | "${as_user[@]}" "${WS_ENV[@]}" WIRESHARK_PLUGIN_DIR="$PLUGINS" sharkd - 2>>"$W/sharkd.stderr" |
		grep -v '"id":1000000,' | sed 's/,{"protocol":"UDP","filter":null[^}]*}//' | sort -u # 4.4 gives that any number
}

# Frames dissected again in whatever order, as a user clicks: what is shown of each stays the same.
any_order() {
	local n
	mergecap -a -F pcapng -w "$W/order.pcapng" pcaps/recorded/loss_*.pcap pcaps/recorded/rnr_ok.pcap pcaps/generated/gso.pcap \
		pcaps/generated/tunnels.pcap pcaps/generated/psn-wrap-*.pcap pcaps/generated/rules-roce.pcap || return
	n=$(count_frames "$W/order.pcapng")
	seq "$n" >"$W/order.up"
	awk -v n="$n" 'BEGIN { srand(6); for (i = 0; i < 3 * n; i++) print 1 + int(rand() * n) }' >"$W/order.random"
	{ seq "$n" -1 1; cat "$W/order.random"; } >"$W/order.other"
	ask_sharkd "$W/order.up" >"$W/sharkd.up"
	ask_sharkd "$W/order.other" >"$W/sharkd.other"
	echo "$n frames"
	[ "$(wc -l <"$W/sharkd.up")" = "$n" ] && grep -q 'Retransmission of frame' "$W/sharkd.up" && cmp "$W/sharkd.up" "$W/sharkd.other"
}

# A read filter throws frames away while the rest is read: those that stay are judged by what was there.
read_filter() {
	local file=pcaps/recorded/loss_mixed_req_every7.pcap
	ours -r $file -Y rdma.analysis.retransmission -T fields -e rdma.bth.psn -e rdma.analysis.cause >"$W/filter.y" &&
		ours -r $file -2 -R rdma.analysis.retransmission -T fields -e rdma.bth.psn -e rdma.analysis.cause >"$W/filter.r" || return
	[ "$(wc -l <"$W/filter.y")" = 4 ] && same "$W/filter.y" "$W/filter.r"
}

# Off means: no field, no tag, no expert item.
analysis_off() {
	ours -o rdma.analysis:FALSE -r "$W/all.pcapng" -Y 'rdma.analysis || rdma.expert.retransmission' >"$W/off" || return
	[ ! -s "$W/off" ] || { head "$W/off" && return 1; }
	ours -o rdma.analysis:FALSE -r pcaps/recorded/loss_mixed_req_every7.pcap -T fields -e _ws.col.Info -e _ws.expert >"$W/off" || return
	[ -s "$W/off" ] && ! grep -iE 'retransmission|sent again' "$W/off"
}
