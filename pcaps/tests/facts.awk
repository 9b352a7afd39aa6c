# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# facts.awk - counts the facts of captures from what Wireshark shows of them, as flat.awk prints those of the generator.
#
#   awk -f facts.awk transport/opcodes.def index.tsv table.tsv
#
# index.tsv: capture TAB first frame TAB frames. table.tsv: FIELDS of library.sh, one line a frame of all captures
# together. This shares no code with vs-pcap; the counting is that of the contract in docs/man/vs-pcap.1.
BEGIN {
	FS = "\t"
	EXCHANGE_MAX = 48
	split("psn_sequence invalid_request remote_access remote_operational", nak_name, " ")
}

FNR == 1 {
	part++
}

function hex(s,    n, i) {
	if (s !~ /^0x/)
		return s + 0
	s = tolower(substr(s, 3))
	for (i = 1; i <= length(s); i++)
		n = n * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1
	return n + 0
}

# ---- opcodes.def: names and flags ----
part == 1 && /^VS_OPCODE\(0x/ {
	code = hex(substr($0, 11, 4))
	split($0, q, "\"")
	name[code] = q[2]
	flags = $0
	sub(/.*, /, "", flags)
	sub(/\)$/, "", flags)
	flags = " " flags " "
	is_request[code] = flags ~ / Q /
	is_response[code] = flags ~ / R /
	is_read[code] = flags ~ / D /
	begins[code] = flags ~ / B /
}
part == 1 {
	next
}

part == 2 {
	captures++
	capture[captures] = $1
	first[captures] = $2
	frames[captures] = $3
	next
}

# ---- PSNs on their circle ----
function ahead(a, b,    d) { # how far a is ahead of b, negative when behind
	d = (a - b) % 16777216
	if (d < 0)
		d += 16777216
	return d >= 8388608 ? d - 16777216 : d
}

function plus(a, n) {
	return (a + n) % 16777216
}

# ---- one capture ----
function say(key, value) {
	print capture[c] "\t" key "\t" value
}

function line_ends() {
	if (times > 0)
		say("exchange#" ++lines, line (times > 1 ? " x " times : ""))
	times = 0
}

function report(    k, i) {
	line_ends()
	say("packets", frames[c])
	say("roce_packets", rdma + 0)
	say("icrc_bad", icrc_bad + 0)
	say("vcrc_bad", vcrc_bad + 0)
	say("flows", flows + 0)
	say("retransmissions", retransmissions + 0)
	say("gaps", gaps + 0)
	say("network_duplicates", network_duplicates + 0)
	for (i = 1; i <= 4; i++)
		say("naks." nak_name[i], naks[i - 1] + 0)
	say("naks.other", naks["other"] + 0)
	say("rnr_naks", rnr + 0)
	say("cnps", cnps + 0)
	say("ce_marked", ce + 0)
	say("psn_wraps", psn_wraps + 0)
	for (k in opcodes)
		say("opcodes." k, opcodes[k])
	for (k in encaps)
		say("encapsulations." k, encaps[k])
	for (k in vlans)
		say("vlans." k, vlans[k])
	for (k in cm)
		say("cm_messages." k, cm[k])
}

function forget() {
	rdma = icrc_bad = vcrc_bad = flows = retransmissions = gaps = network_duplicates = rnr = cnps = ce = psn_wraps = 0
	times = lines = 0
	split("", naks)
	split("", opcodes)
	split("", encaps)
	split("", vlans)
	split("", cm)
	split("", seen)
	split("", known)
	split("", next_psn)
	split("", last_psn)
	split("", read_psn)
	split("", newest)
	split("", ip_id)
	split("", ids_vary)
}

function lid(s) {
	return sprintf("LID:0x%04x", hex(s))
}

function transport(op) {
	return int(op / 32)
}

function connected(op) {
	return transport(op) == 0 || transport(op) == 1 || transport(op) == 5
}

# Is a request beyond the next one, or a READ response that does not follow the one before?
function is_gap(flow, op, psn, dmalen,    gap, most) {
	if (!connected(op))
		return 0
	if (is_request[op]) {
		gap = (flow in next_psn) && ahead(psn, last_psn[flow]) > 0
		if ((flow in next_psn) && ahead(psn, next_psn[flow]) < 0)
			return 0
		most = 1
		if (is_read[op])
			most = dmalen == 0 ? 1 : int(((dmalen >= 2147483648 ? dmalen - 2147483648 : dmalen) + 255) / 256)
		if (most > 4194304)
			most = 4194304
		next_psn[flow] = plus(psn, 1)
		last_psn[flow] = plus(psn, most)
		return gap
	}
	if (is_response[op] && is_read[op]) {
		gap = (flow in read_psn) && !begins[op] && ahead(psn, plus(read_psn[flow], 1)) > 0
		read_psn[flow] = psn
		return gap
	}
	return 0
}

function wrapped(flow, op, psn,    key, wrap) {
	if (!connected(op))
		return 0
	key = flow SUBSEP (is_response[op] ? 1 : 0)
	if (!(key in newest) || ahead(psn, newest[key]) > 0) {
		wrap = (key in newest) && newest[key] > psn
		newest[key] = psn
	}
	return wrap
}

function count_answer(syndrome,    type, code) {
	type = int(syndrome / 32) % 4
	code = syndrome % 32
	if (type == 1)
		rnr++
	else if (type == 3)
		naks[code < 4 ? code : "other"]++
}

function count_cm(attribute, reason) {
	split("REQ MRA REJ REP RTU DREQ DREP SIDR_REQ SIDR_REP LAP APR SAP SPR", cm_name, " ")
	cm[cm_name[attribute - 15] (attribute == 18 ? ", reason " reason : "")]++
}

part == 3 {
	while (c == 0 || $1 >= first[c] + frames[c]) {
		if (c > 0)
			report()
		forget()
		c++
	}
	if ($2 !~ /(^|:)(rdma|infiniband)(:|$)/)
		next
	rdma++
	if ($19 == 3 || $20 == 3)
		ce++
	encap = $10 != "" ? ($12 != "" ? "ib-grh" : $3 != "" ? "ib" : "ib-raw") : $12 != "" ? "rocev1" : $14 != "" ? "rocev2-ipv4" : "rocev2-ipv6"
	encaps[encap]++
	if ($23 != "")
		vlans[hex($23)]++
	if ($9 == 0 && $9 != "")
		vcrc_bad++
	if ($8 == 0 && $8 != "") {
		icrc_bad++
		next
	}
	if ($3 == "")
		next
	op = hex($3)
	psn = hex($4)
	if (encap == "ib") {
		src = lid($10)
		dst = lid($11)
	} else {
		src = $12 != "" ? $12 : $14 != "" ? $14 : $16
		dst = $13 != "" ? $13 : $15 != "" ? $15 : $17
	}
	flow = src " " dst " " hex($5)
	if (!(flow in known)) {
		known[flow] = 1
		flows++
	}
	if ($14 != "") {
		if (flow in ip_id && ip_id[flow] != hex($18))
			ids_vary[flow] = 1
		ip_id[flow] = hex($18)
	}
	what = op in name ? name[op] : sprintf("opcode 0x%02x", op)
	opcodes[what]++
	psn_wraps += wrapped(flow, op, psn)
	said = src ": " what
	if (times > 0 && said == line)
		times++
	else {
		line_ends()
		if (lines < EXCHANGE_MAX) {
			line = said
			times = 1
		}
	}
	key = flow " " op " " psn
	if (op != 128 && op != 129 && op != 17 && op != 81 && op != 177 && key in seen) {
		if (flow in ids_vary && seen[key] == $24)
			network_duplicates++
		else
			retransmissions++
	} else if (is_gap(flow, op, psn, hex($7)))
		gaps++
	seen[key] = $24
	if ($6 != "")
		count_answer(hex($6))
	if (op == 129)
		cnps++
	if (op == 100 && hex($5) == 1 && hex($21) == 7)
		count_cm(hex($22), hex($26))
}

END {
	report()
}
