# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# flat.awk - NAME.expect.json as lines "NAME TAB key TAB value": a.b for members, key#1 key#2 for lists.
#
#   awk -f flat.awk FILE...      (JSON as vs-pcap gen writes it: one value a line, indented by 2)

FNR == 1 {
	name = FILENAME
	sub(/.*\//, "", name)
	sub(/\.expect\.json$/, "", name)
	depth = 0
}

{
	line = $0
	sub(/^ +/, "", line)
	sub(/,$/, "", line)
}

line == "}" || line == "]" {
	depth--
	next
}

line == "{" {
	depth = 0
	next
}

{
	key = ""
	if (match(line, /^"[^"]*": /)) {
		key = substr(line, 2, RLENGTH - 4)
		line = substr(line, RLENGTH + 1)
	} else {
		key = "#" ++items[depth]
	}
	path = depth > 0 ? prefix[depth] (key ~ /^#/ ? "" : ".") key : key
	if (line == "{" || line == "[") {
		prefix[++depth] = path
		items[depth] = 0
		next
	}
	if (line == "{}" || line == "[]")
		next
	sub(/^"/, "", line)
	sub(/"$/, "", line)
	print name "\t" path "\t" line
}
