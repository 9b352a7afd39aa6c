# SPDX-License-Identifier: GPL-2.0-or-later
#
# checks-output.sh - what people read: summary lines, trees, statistics, against golden files; and
# that two passes say the same as one. Sourced by run.sh.
# shellcheck shell=bash disable=SC2154

# What names a later frame is there in the second pass alone, as everywhere in Wireshark.
FORWARD='^ *\[(Response|Acknowledged|Sent again) in frame: [0-9]*\]$'
FORWARD_FIELDS=(rdma.analysis.response_in rdma.analysis.ack_in rdma.analysis.repeated_in)

# in_passes NAME TSHARK-OPTIONS...: the same in one pass and in two, but for lines FORWARD. Frames that are ours: what TCP
# and ICMP say of a request depends on having seen the answer (there is ping over IPoIB among the captures).
in_passes() {
	local name=$1
	shift
	ours -r "$W/all.pcapng" -Y 'rdma && !icmp && !icmpv6' "$@" >"$W/$name.1" &&
		ours -r "$W/all.pcapng" -2 -Y 'rdma && !icmp && !icmpv6' "$@" >"$W/$name.2" || return
	grep -vE "$FORWARD" "$W/$name.2" >"$W/$name.2.backward"
	[ -s "$W/$name.1" ] && same "$W/$name.1" "$W/$name.2.backward"
}

# Every field of the analysis but those that name a later frame.
backward_fields() {
	ours_first -G fields | awk -F'\t' '$3 ~ /^rdma\.(analysis|expert|rule)($|\.)/ { print $3 }' | sort -u |
		grep -vxF "$(printf '%s\n' "${FORWARD_FIELDS[@]}")"
}

two_passes() {
	local args names
	mapfile -t names < <(backward_fields)
	mapfile -t args < <(fields frame.number _ws.col.Info rdma.icrc.status ip.src ip.dst rdma.bth.psn _ws.expert.message "${names[@]}")
	[ "${#names[@]}" -gt 60 ] || { echo "${#names[@]} fields only" && return 1; }
	in_passes trees -V && in_passes fields -T fields "${args[@]}" && in_passes expert -q -z expert,'rdma && !icmp && !icmpv6' || return
	grep -cE "$FORWARD" "$W/trees.2" && ! grep -E "$FORWARD" "$W/trees.1"
}

COLUMNS='gui.column.format:"No.","%m","Source","%s","Destination","%d","Protocol","%p","Length","%L","Info","%i"'

# summarize FOLDER CAPTURE...: each on its own: what one teaches (CM, conversations) must not leak into the next.
summarize() {
	local to=$1 file
	shift
	for file; do
		# of TCP each release says something else
		ours -o "$COLUMNS" -o tcp.analyze_sequence_numbers:FALSE -c 300 -r "$file" >"$to/$(basename "$file" .pcap).txt" || return
		sed -i 's|GTP <RRoCE>|GTP/RRoCE|' "$to/$(basename "$file" .pcap).txt" # 4.0; 4.4
	done
}

write_summaries() {
	local all=("${generated[@]}" "${recorded[@]}") half other
	mkdir -p "$1"
	half=$((${#all[@]} / 2))
	summarize "$1" "${all[@]:0:half}" &
	other=$!
	summarize "$1" "${all[@]:half}" && wait "$other"
}

# The same lines, but for the width of columns, from Wireshark's engine behind a window, which starts once and opens one
# capture after another. So what one taught is seen to be forgotten when the next is opened.
sharkd_summaries() {
	local to=$1 file name n=0
	shift
	printf '%s\n' "$@" | sed 's|.*/||; s|\.pcap$||' >"$W/summary.names"
	{
		for name in tcp.analyze_sequence_numbers nameres.mac_name nameres.transport_name nameres.network_name; do
			printf '{"jsonrpc":"2.0","id":1000000,"method":"setconf","params":{"name":"%s","value":"FALSE"}}\n' $name
		done
		for file; do
			n=$((n + 1))
			printf '{"jsonrpc":"2.0","id":1000000,"method":"load","params":{"file":"%s"}}\n' "$ROOT/$file"
			printf '{"jsonrpc":"2.0","id":%d,"method":"frames","params":{"limit":300}}\n' $n
		done
	} | "${as_user[@]}" "${WS_ENV[@]}" WIRESHARK_PLUGIN_DIR="$PLUGINS" sharkd - 2>>"$W/sharkd.stderr" |
		awk -v to="$to" '
			NR == FNR { name[NR] = $0; next }
			!/"id":1000000,/ && match($0, /"id":[0-9]+/) {
				out = to "/" name[substr($0, RSTART + 5, RLENGTH - 5)] ".txt"
				printf "" >out
				while (i = index($0, "{\"c\":[")) {
					$0 = substr($0, i + 6)
					for (n = 0; match($0, /^"([^"\\]|\\.)*"/); $0 = substr($0, RLENGTH + 2)) {
						c[n] = substr($0, 2, RLENGTH - 2)
						gsub(/\\\//, "/", c[n])
						gsub(/\\"/, "\"", c[n])
						sub(/^GTP <RRoCE>$/, "GTP/RRoCE", c[n])
						sub(/ \[Reassembled in #[0-9]+\]$/, "", c[n++]) # it has seen the file when it is asked
					}
					printf " %s %s → %s %s %s %s\n", c[0], c[2], c[3], c[4], c[5], c[6] >out
				}
				close(out)
			}' "$W/summary.names" -
	# what Wireshark says of iWARP is another thing each time
	summarize "$to" pcaps/recorded/siw_rping.pcap
}

golden_summaries() {
	mkdir -p "$W/summary"
	if command -v sharkd >/dev/null; then
		sharkd_summaries "$W/summary" "${generated[@]}" "${recorded[@]}"
	else
		write_summaries "$W/summary"
	fi || return
	diff -rub "$GOLDEN/summary" "$W/summary"
}

# Trees: of each kind of packet one, labels and all.
TREES='opcodes-roce|rdma.bth.opcode in {0x00,0x05,0x0b,0x0c,0x0f,0x11,0x12,0x13,0x17,0x1c,0x1d,0x44,0x51,0x65,0x81,0xab,0xb7} && (ip || frame.number > 172)
opcodes-ib|rdma.bth.opcode in {0x05,0x11}
cm|frame.number < 13
ib|frame.number in {1,7,8,14,15,16,17}
ib-mad|frame.number < 15
aeth|frame.number in {1,32,33,64,65,97,98,99,100,101,102,103}
crc|frame.number < 6
ib-crc|rdma
ecn|frame.number < 9
gso|frame.number in {1,5,9,11,12,13,14,16}
mirror|frame.number in {1,2,3,4,6,7,15,16,17,21}
rocev1|frame.number == 21
snap|frame.number in {50,60,70,80,90,100,109}
fragments|rdma
rules-roce|rdma
rules-ib|rdma
dc|rdma
icmp|rdma'

write_trees() {
	local name filter option
	mkdir -p "$1"
	while IFS='|' read -r name filter; do
		option=rdma.dc:FALSE
		[ "$name" != dc ] || option=rdma.dc:TRUE
		ours -o "$option" -r "pcaps/generated/$name.pcap" -Y "$filter" -O rdma,icmp,icmpv6 >"$W/details" || return
		own_tree <"$W/details" >"$1/$name.txt"
	done <<<"$TREES"
}

# Frame numbers and our own subtrees: what Wireshark says about the rest changes with its version, and so
# does how much it shows of bytes, and how deep it puts what ICMP quotes (in 4.4 inside its own tree).
own_tree() {
	awk '{ sub(/ \[…\]:/, ":") }
		/GUID:/ { sub(/ \(.*/, "") }
		match($0, /[0-9.]+ (nano|micro|milli)seconds\]/) { # 4.6
			n = substr($0, RSTART)
			n *= n ~ /nano/ ? 1e-9 : n ~ /micro/ ? 1e-6 : 1e-3
			$0 = sprintf("%s%.9f seconds]", substr($0, 1, RSTART - 1), n)
		}
		match($0, /: [0-9a-f]+/) && RLENGTH > 50 { $0 = substr($0, 1, RSTART + 49) "..." }
		/^Frame [0-9]+:/ { printf "%s%s\n", sep, $1 " " $2; sep = "\n"; mine = 0; next }
		!NF { next }
		{
			match($0, /^ */)
			if (/^ *(InfiniBand|RoCE|RRoCE), /) {
				mine = 1
				indent = RLENGTH
			} else if (RLENGTH <= indent) {
				mine = 0
			}
		}
		mine { print substr($0, indent + 1) }'
}

golden_trees() {
	write_trees "$W/tree" || return
	diff -ru "$GOLDEN/tree" "$W/tree"
}

# Releases set the tables in other columns, and 4.6 rounds the bytes of endpoints: their packets will do.
write_statistics() {
	ours -q -r "$W/statistics.pcapng" -z rdma,opcodes -z conv,rdma -z endpoints,rdma -z expert |
		sed 's/  */ /g; s/ $//; s/^ //' |
		awk '!/<->/ && match($0, /QP (0x[0-9a-f]+|[?]) [0-9]+/) { $0 = substr($0, 1, RSTART + RLENGTH - 1) }
			!/^[|].*[|]$/'
}

statistics() {
	mergecap -a -F pcapng -w "$W/statistics.pcapng" pcaps/recorded/loss_mixed_req_every7.pcap pcaps/recorded/rc_read_v6.pcap \
		pcaps/recorded/cm_udaddy_sidr.pcap pcaps/generated/opcodes-ib.pcap pcaps/generated/ecn.pcap \
		pcaps/generated/rules-roce.pcap || return
	write_statistics
}

golden_statistics() {
	statistics >"$W/statistics" && same "$GOLDEN/statistics.txt" "$W/statistics"
}

update_golden() {
	mkdir -p "$GOLDEN"
	"$MKCAPTURES" --readme >pcaps/generated/README.md
	rm -rf "$GOLDEN/summary" "$GOLDEN/tree"
	if ! write_summaries "$GOLDEN/summary" || ! write_trees "$GOLDEN/tree" || ! statistics >"$GOLDEN/statistics.txt" ||
		! analysis_statistics >"$GOLDEN/analysis.txt"; then
		die "tshark failed: $W/stderr"
	fi
	{
		echo "# capture, its ICRCs: good bad unverified none, and with LRH its VCRCs likewise"
		crc_table | sort -u
	} >"$GOLDEN/crc.txt"
	{
		echo "# capture, rule that its packets break, how often"
		reason_counts
	} >"$GOLDEN/reasons.txt"
	git status --short "$GOLDEN" pcaps/generated || true
}
