# SPDX-License-Identifier: GPL-2.0-or-later
#
# compare.awk - our fields against the built-in's, frame by frame.
#
#   awk -f num.awk -f compare.awk builtin.map index.tsv ours.tsv builtin.tsv
#
# index.tsv: file TAB first frame TAB frames. The tables begin with frame number and frame.protocols,
# then the map's fields in order. A value that the built-in shows and we do not, or differently, is
# a difference, unless excused() knows why the built-in is wrong. With -v expect_excuses=1 every excuse
# must be needed at least once, so that the list can't outlive its reasons.
BEGIN {
	FS = "\t"
}

FNR == 1 {
	part++
}

# ---- builtin.map ----
part == 1 && !/^#/ && NF {
	split($0, col, /[ \t]*\|[ \t]*/)
	n++
	name[n] = col[1]
	ours_fields[n] = split(col[2], x, " ")
	builtin_fields[n] = split(col[3], x, " ")
	prefix[n] = col[4] == "bytes" ? "0x" : ""
	padded[n] = col[4] == "padded"
	next
}

part == 2 {
	for (i = 0; i < $3; i++)
		file_of[$2 + i] = $1
	first_of[$1] = $2
	next
}

# The first value that is there among `count` columns from `at` on.
function first(at, count,    i) {
	for (i = at; i < at + count; i++)
		if ($i != "")
			return $i
	return ""
}

part == 3 {
	protocols[$1] = $2
	at = 3
	for (c = 1; c <= n; c++) {
		ours[$1, c] = first(at, ours_fields[c])
		at += ours_fields[c]
	}
	next
}

# Values compare as numbers written in hex, so that bases don't matter; byte strings likewise.
function canonical(v) {
	if (v ~ /^[0-9a-f]*:[0-9a-f:]*:/ && v !~ /^([0-9a-f][0-9a-f]:)+[0-9a-f][0-9a-f]$/)
		return v # an IPv6 address
	if (v ~ /^(True|TRUE)$/)
		return "1"
	if (v ~ /^(False|FALSE)$/)
		return "0"
	v = hexdigits(v)
	sub(/^0+/, "", v)
	return v == "" ? "0" : v
}

# Is `theirs` our bytes and at most three more? (Two hex digits each.)
function is_padded(mine, theirs) {
	return substr(theirs, 1, length(mine)) == mine && length(theirs) - length(mine) <= 6
}

# Why the built-in need not be followed in this column of this frame; "" when it must be.
function excused(frame, column, mine, theirs,    opcode, file) {
	opcode = num(ours[frame, 1])
	file = file_of[frame]
	# it knows Mellanox DC alone in the opcodes of RD, and takes 8 bytes more for the BTH
	if (opcode >= 64 && opcode < 96 && column !~ /^(lrh|grh)\.|^(se|migreq|padcnt|tver|pkey|destqp|ackreq|psn|icrc)$/)
		return "RD-shown-as-DC"
	# it takes the last four bytes of the frame, whatever they are
	if (column == "icrc" && file == "gso")
		return "super-packet"
	if (column == "icrc" && file == "rocev1")
		return "bytes-after-RoCEv1"
	if (column == "icrc" && file == "mirror" && mine == "")
		return "cut-before-capture"
	# it reads 3 bytes as 4, and the rate from the wrong byte
	if (column ~ /^cm\.[pa](flow|rate)$/)
		return "CM-flow-label-and-rate"
	# it takes VCRC and ICRC off twice
	if (column == "payload" && protocols[frame] ~ /^erf:.*:(arp|ip|ipv6)/)
		return "IPoIB-cut-short"
	# it shows the ethertype of IPoIB in the field of the raw header
	if (column == "rwh.etype" && mine == "" && protocols[frame] ~ /:(arp|ip|ipv6)/)
		return "IPoIB-has-no-RWH"
	return ""
}

part == 4 {
	at = 3
	for (c = 1; c <= n; c++) {
		theirs = first(at, builtin_fields[c])
		at += builtin_fields[c]
		if (theirs == "")
			continue
		compared++
		mine = ours[$1, c]
		if (padded[c] ? is_padded(mine, theirs) : mine != "" && canonical(mine) == canonical(prefix[c] theirs))
			continue
		why = excused($1, name[c], mine, theirs)
		if (why != "") {
			needed[why]++
			continue
		}
		f = file_of[$1]
		printf "%s frame %d: %s is %s, the built-in says %s\n", f, $1 - first_of[f] + 1, name[c], substr(mine, 1, 80),
			substr(theirs, 1, 80)
		bad++
	}
}

END {
	if (expect_excuses) {
		split("RD-shown-as-DC super-packet bytes-after-RoCEv1 cut-before-capture CM-flow-label-and-rate IPoIB-cut-short IPoIB-has-no-RWH", list, " ")
		for (i in list)
			if (!(list[i] in needed)) {
				print "nobody needs this excuse any more: " list[i]
				bad++
			}
	}
	printf "%d values compared, %d differences, excused:", compared, bad
	for (why in needed)
		printf " %s %d", why, needed[why]
	print ""
	exit bad > 0 || compared == 0
}
