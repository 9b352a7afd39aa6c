# SPDX-License-Identifier: GPL-2.0-or-later
#
# checks-follow.sh - what is put together of many packets: the data of messages, the tables of streams and round trips,
# the tree of the analysis. Sourced by run.sh.
# shellcheck shell=bash disable=SC2154

FOLLOWED='loss_mixed_req_every7 loss_send_req_mid rc_read_v6 rc_write_v4 srq_send rnr_ok psnwrap_send uc_send_imm ud_send_v6'

# payloads CAPTURE: source, destination, QP, request or response, PSN, bytes: the first packet of each.
payloads() {
	ours -r "$1" -Y 'rdma.payload && rdma.icrc.status != 0' -T fields -E separator=/t -E occurrence=f -e ip.src -e ipv6.src \
		-e ip.dst -e ipv6.dst -e rdma.bth.destqp -e rdma.bth.opcode -e rdma.bth.psn -e rdma.payload |
		awk -F'\t' '{
			op = $6 ~ /^0x/ ? $6 : sprintf("0x%02x", $6)
			kind = op ~ /^0x(0d|0e|0f|10)$/ ? "response" : "request"
			if (!seen[$1 $2, $3 $4, $5, kind, $7]++) print $1 $2, $3 $4, $5, kind, $7, $8
		}'
}

# Every message that is shown has the payloads of its PSNs, one after another, as a program of its own puts them together.
messages() {
	local name file total=0
	for name in $FOLLOWED; do
		file=pcaps/recorded/$name.pcap
		[ -e "$file" ] || continue
		payloads "$file" >"$W/payloads" || return
		ours -q -r "$file" -z rdma,message >"$W/messages" || return
		awk '
			NR == FNR { data[$1, $2, $3, $4, $5] = $6; next }
			function judge(  want, i) {
				if (!open) return
				for (i = 0; i < packets; i++) want = want data[src, dst, qp, kind, (psn + i) % 16777216]
				if (want != got || (want == "") != (title ~ / 0 bytes in/)) { print title ": want " length(want) " digits, got " length(got); bad = 1 }
				n++
				open = 0
			}
			/^Stream / {
				judge()
				open = 1; got = ""; title = $0
			}
			/^[A-Z]+ .*[0-9]+ bytes? in [0-9]+ packet/ {
				title = title ": " $0
				kind = /RDMA READ/ ? "response" : "request"
				match($0, /in [0-9]+ packet/); packets = substr($0, RSTART + 3, RLENGTH - 10)
			}
			/ -> .*PSN [0-9]+$/ { src = $1; psn = $NF; sub(/.* -> /, ""); dst = $1; qp = $3; sub(/,$/, "", qp) }
			/^[0-9a-f]+ [0-9a-f][0-9a-f] / { sub(/^[^ ]+ /, ""); line = substr($0, 1, 47); gsub(/ /, "", line); got = got line }
			END { judge(); print n + 0 " messages"; exit bad || n == 0 }' "$W/payloads" "$W/messages" >"$W/judged" || {
			echo "$name:" && cat "$W/judged"
			return 1
		}
		total=$((total + $(awk 'END { print $1 }' "$W/judged")))
	done
	echo "$total messages"
	[ "$total" -gt 30 ]
}

# Of one message, of one stream; what is missing is said.
one_message() {
	local file=pcaps/recorded/loss_mixed_req_every7.pcap
	ours -q -r "$file" -z rdma,message,1,12 >"$W/one" || return
	if [ "$(grep -c '^Stream' "$W/one")" != 1 ] ||
		! grep -q '^RC RDMA READ, 4096 bytes in 4 packets, frames 13 to 16$' "$W/one"; then
		head -5 "$W/one"
		return 1
	fi
	editcap "$file" "$W/holes.pcap" 2 4 7 14 || return # a packet of the WRITE, both of its last, one of the READ's answer
	ours -q -r "$W/holes.pcap" -z rdma,message >"$W/holes" || return
	grep -q '^\[1 packet is missing here\]$' "$W/holes" && grep -q '^\[the end is missing\]$' "$W/holes" || return
	editcap "$file" "$W/late.pcap" 1 || return
	ours -q -r "$W/late.pcap" -z rdma,message,1 >"$W/late" || return
	grep -q '^\[the beginning is missing\]$' "$W/late" || return
	editcap -s 200 "$file" "$W/short.pcap" || return
	ours -q -r "$W/short.pcap" -z rdma,message >"$W/short" || return
	grep -q '^\[[0-9]* bytes of frame 1 are not in the capture\]$' "$W/short"
}

# Wireshark's own follow: each side's bytes in the order of their PSNs, whichever copy came.
follow_stream() {
	local file=pcaps/recorded/loss_mixed_req_every7.pcap
	payloads "$file" | sort -k4,4 -k5,5n | awk '{ out[$4] = out[$4] $6 } END { print out["request"]; print out["response"] }' \
		>"$W/follow.expected"
	ours -q -r "$file" -z follow,rdma,raw,1 >"$W/follow" || return
	awk '/^[0-9a-f]+$/ { client = client $1 } /^\t[0-9a-f]+$/ { server = server $1 } END { print client; print server }' \
		"$W/follow" >"$W/follow.got"
	[ "$(wc -c <"$W/follow.got")" -gt 20000 ] && same "$W/follow.expected" "$W/follow.got"
}

# Wrong arguments are named.
message_arguments() {
	local arg
	for arg in rdma,message,0 rdma,message,x rdma,message,1,-2 rdma,message,1,2,3 rdma,messages; do
		if "${as_user[@]}" "${WS_ENV[@]}" WIRESHARK_PLUGIN_DIR="$PLUGINS" "$TSHARK" -n -q -r pcaps/recorded/rnr_ok.pcap \
			-z "$arg" >"$W/arg" 2>&1 || ! grep -q "it is -z rdma,message\[,STREAM\[,FRAME\]\]" "$W/arg"; then
			echo "$arg:" && head -3 "$W/arg"
			return 1
		fi
	done
}

# Releases set the tables in other columns: names and numbers will do, of the tree the counts.
write_analysis() {
	ours -q -r "$1" -z rdma,streams -z rdma,rtt -z rdma,analysis |
		sed 's/[|]/ /g; s/  */ /g; s/ $//; s/^ //' |
		awk 'match($0, / -?[0-9.]+ [0-9.]+% [^ ]+ [^ ]+$/) { $0 = substr($0, 1, RSTART - 1) }
			/^(=|-|$|Filter|Topic|Stream Between|Stream, what)/ { next } { print }'
}

analysis_statistics() {
	mergecap -a -F pcapng -w "$W/analysis.pcapng" pcaps/recorded/loss_mixed_req_every7.pcap pcaps/recorded/rc_read_v6.pcap \
		pcaps/recorded/rnr_ok.pcap pcaps/recorded/loss_send_req_mid.pcap pcaps/recorded/err_bad_rkey_write.pcap || return
	write_analysis "$W/analysis.pcapng"
}

golden_analysis() {
	analysis_statistics >"$W/analysis.txt" && same "$GOLDEN/analysis.txt" "$W/analysis.txt"
}
