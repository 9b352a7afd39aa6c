#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# solve.sh - what an engineer looks for, as a script: reads capture-*.pcap here, writes findings. tshark runs once,
# over all captures one behind the other; what is decided is decided from the packets alone.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
mergecap -a -w "$tmp/all.pcap" capture-?.pcap
sizes=$(capinfos -Tmrc capture-?.pcap | awk -F, '{ print $2 }' | tr '\n' ' ')

fields=(frame.number ip.src ip.dst rdma.bth.opcode rdma.bth.psn rdma.payload.len rdma.icrc.status ip.dsfield.ecn
	rdma.reth.rkey rdma.aeth.type rdma.aeth.nak_code rdma.atomicack.origdata rdma.cm.psn rdma.cm.mtu)
for f in "${fields[@]}"; do set -- "$@" -e "$f"; done
vs-tshark -r "$tmp/all.pcap" -T fields -E separator=';' -E occurrence=f "$@" | awk -F';' -v sizes="$sizes" '
	function say(fault, side, frame, filter) {
		printf "capture %d\n  fault: %s\n  side: %s\n  frame: %d\n  filter: %s\n\n", n, fault, side, frame, filter
	}
	# What is seen first decides: a broken packet explains all the rest, an acknowledgement explains nothing.
	function decide() {
		if (icrc) say("bad_icrc", "network", icrc, "rdma.icrc.status == \"Bad\"")
		else if (ce && !cnp) say("marked_no_cnp", ce_to, ce, "ip.dsfield.ecn == 3")
		else if (rnr) say("rnr_storm", rnr_from, rnr, "rdma.aeth.type == 1")
		else if (other) say("duplicate_atomic", other_from, other,
			"rdma.bth.opcode == 0x12 && rdma.bth.psn == " other_psn " && rdma.atomicack.origdata != " other_was)
		else if (long) say("mtu_mismatch", long_from, long, "rdma.payload.len > " mtu)
		else if (nak == "2") say("wrong_rkey", from[nak_psn], at[nak_psn], "rdma.reth.rkey == " key[nak_psn])
		else if (nak == "0") say("psn_mismatch", ask_from, ask, "rdma.bth.opcode < 0x18 && rdma.bth.opcode != 0x11 && rdma.bth.psn != " nak_psn)
		else say("silent_peer", to[acked + 1], at[acked + 1], "rdma.bth.opcode < 0x0c && rdma.bth.psn > " acked)
	}
	function begin() {
		n++
		split("", at); split("", from); split("", to); split("", key); split("", was)
		icrc = ce = cnp = rnr = other = long = ask = 0
		nak = acked = ""
		mtu = 4096
	}
	BEGIN { count = split(sizes, size, " "); begin(); left = size[1] }
	left == 0 { decide(); begin(); left = size[n]; before = $1 - 1 }
	{
		left--
		frame = $1 - before
		op = $4 + 0
		if ($7 == "Bad" || $7 == "0") { if (!icrc) icrc = frame; next } # tshark 4.0 prints the number
		if ($8 == "3" && !ce) { ce = frame; ce_to = $3 }
		if (op == 129) cnp = 1
		if ($14 != "") mtu = 128 * 2 ^ $14
		if (op < 12 || op == 12 || op == 19 || op == 20) { # a request, the first time that it comes
			if (!ask) { ask = frame; ask_from = $2 }
			if (!($5 in at)) { at[$5] = frame; from[$5] = $2; to[$5] = $3; key[$5] = $9 }
			if ($6 + 0 > mtu && !long) { long = frame; long_from = $2 }
		}
		if ($10 == "1" && !rnr) { rnr = frame; rnr_from = $2 }
		if ($10 == "3" && nak == "") { nak = $11; nak_psn = $5 }
		if ($10 == "0" && op == 17) acked = $5
		if (op == 18) {
			if (!($5 in was)) was[$5] = $12
			else if (was[$5] != $12 && !other) { other = frame; other_from = $2; other_psn = $5; other_was = was[$5] }
		}
	}
	END { decide() }'
