# SPDX-License-Identifier: GPL-2.0-or-later
#
# txtline.awk - tshark's fields as the one-line-per-packet decode that stands beside the rxe captures:
#
#   RC_WRITE_FIRST         psn=000100 qp=000028 va=7f0afebdf000 rkey=30f9 dmalen=4096 plen=1024
#
# That decode was made when the captures were, by a program that shares nothing with this project.
# Input: tab separated, in the order of TXT_FIELDS in lib.sh. Needs num.awk.
BEGIN {
	FS = "\t"
	split("SEND_FIRST SEND_MIDDLE SEND_LAST SEND_LAST_IMM SEND_ONLY SEND_ONLY_IMM WRITE_FIRST WRITE_MIDDLE " \
	      "WRITE_LAST WRITE_LAST_IMM WRITE_ONLY WRITE_ONLY_IMM READ_REQ RD_RESP_FIRST RD_RESP_MIDDLE " \
	      "RD_RESP_LAST RD_RESP_ONLY ACK ATOMIC_ACK CMP_SWAP FETCH_ADD - SEND_LAST_INV SEND_ONLY_INV - - - - " \
	      "FLUSH ATOMIC_WRITE - -", op, " ")
	split("RC UC RD UD", transport, " ")
	split("PSN_SEQ INV_REQ REM_ACCESS REM_OP INV_RD", nak, " ")
	split("655.36 0.01 0.02 0.03 0.04 0.06 0.08 0.12 0.16 0.24 0.32 0.48 0.64 0.96 1.28 1.92 2.56 3.84 5.12 " \
	      "7.68 10.24 15.36 20.48 30.72 40.96 61.44 81.92 122.88 163.84 245.76 327.68 491.52", rnr, " ")
	split("REQ MRA REJ REP RTU DREQ DREP SIDR_REQ SIDR_REP LAP APR", cm, " ")
}

# A hexadecimal number of any length without leading zeros.
function bare(s) {
	s = hexdigits(s)
	sub(/^0+/, "", s)
	return s == "" ? "0" : s
}

{
	code = num($1)
	line = sprintf("%-22s psn=%06x qp=%06x", transport[int(code / 32) + 1] "_" op[code % 32 + 1], num($2), num($3))
	if (truth($4))
		line = line " A"
	if (truth($5))
		line = line " SE"
	if (num($6) > 0)
		line = line " pad=" num($6)
	if ($7 != "")
		line = line sprintf(" deth qkey=%08x sqpn=%x", num($7), num($8))
	if ($9 != "") # FETH
		line = line " plt=" num($9) " sel=" num($10)
	if ($11 != "") # RETH
		line = line " va=" bare($11) " rkey=" bare($12) " dmalen=" num($13)
	if ($14 != "") { # AETH
		type = int(num($14) / 32)
		low = num($14) % 32
		if (type == 0)
			line = line " ACK credits=" low
		else if (type == 1)
			line = line " RNR_NAK timer=" low "(" rnr[low + 1] "ms)"
		else
			line = line " NAK_" nak[low + 1]
		line = line " msn=" num($15)
	}
	if ($16 != "") # AtomicETH
		line = line " va=" bare($16) " rkey=" bare($17) " swap_add=" bare($18) " cmp=" bare($19)
	if ($20 != "")
		line = line " orig=" bare($20)
	if ($21 != "")
		line = line sprintf(" imm=%08x", num($21))
	if ($22 != "")
		line = line sprintf(" ieth=%08x", num($22))
	if (num($23) == 7)
		line = line " MAD CM " cm[num($24) - 15]
	line = line " plen=" num($25)
	if ($26 == "0" || $26 == "Bad")
		line = line "  ICRC-BAD"
	print line
}
