# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# def.awk - rows of .def files, for documents: each call of MACRO(...) becomes a line of its arguments, separated by tabs, with
# the name of the macro first. Strings lose their quotes, adjacent ones are joined; comments and definitions are left out.
#
#   awk -v macros="VS_RULE VS_RULE_OF_REASON" -f def.awk rules.def
BEGIN {
	n = split(macros, names, " ")
	for (i = 1; i <= n; i++) wanted[names[i]] = 1
}

function row(name, text,    i, c, depth, quoted, out, bare) {
	out = name "\t"
	for (i = 1; i <= length(text); i++) {
		c = substr(text, i, 1)
		if (quoted) {
			if (c == "\\") { out = out substr(text, ++i, 1); continue }
			if (c == "\"") { quoted = 0; continue }
		} else {
			if (c == "\"") { quoted = 1; continue }
			if (c ~ /[{(]/) depth++
			if (c ~ /[})]/) depth--
			if (c == "," && depth == 0) { out = out "\t"; bare = 0; continue }
			# Blanks count within an argument only, and not between two strings.
			if (c ~ /[ \t]/ && depth == 0 && (!bare || substr(text, i + 1) ~ /^[ \t]*(,|")/)) continue
			bare = 1
		}
		out = out c
	}
	print out
}

/^[ \t]*#/ { next }
{
	line = $0
	gsub(/\/\*[^*]*\*\//, "", line)
	if (text == "") {
		if (!match(line, /^[A-Z_0-9]+\(/)) next
		name = substr(line, 1, RLENGTH - 1)
		if (!(name in wanted)) next
		line = substr(line, RLENGTH + 1)
	}
	sub(/^[ \t]+/, text == "" ? "" : " ", line)
	text = text line
	if (text ~ /\)[ \t]*$/) {
		sub(/\)[ \t]*$/, "", text)
		row(name, text)
		text = ""
	}
}
