# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# messages.awk - the texts of the errors in C sources: one line per text, "FILE<tab>TEXT" with % directives as they are.
#
# A text is a string in a call of one of the functions that make errors; strings that stand side by side are one.
# dr_expected makes "expected TEXT, ...".

function flush_call(call,    name, text, rest, lit) {
	name = call
	sub(/\(.*/, "", name)
	rest = substr(call, length(name) + 1)
	gsub(/"[ \t]*"/, "", rest) # side by side
	while (match(rest, /"([^"\\]|\\.)*"/)) {
		lit = substr(rest, RSTART + 1, RLENGTH - 2)
		rest = substr(rest, RSTART + RLENGTH)
		gsub(/\\"/, "\"", lit)
		if (length(lit) < 3 || lit ~ /^%s$/)
			continue
		text = lit
		if (name == "dr_expected" || name == "dr_expect_punct")
			text = "expected " lit
		print FILENAME "\t" text
	}
}

{
	line = $0
	sub(/\/\*.*\*\/$/, "", line)
	gsub(/^[ \t]+/, "", line)
	if (open == "") {
		if (match(line, /(PF|dr_fail|dr_broken|dr_verdict|dr_expected|dr_expect_punct|snprintf\(why)[(,]/) &&
		    line !~ /^(static|bool|void|int|#|__attribute__)/)
			open = substr(line, RSTART)
		else
			next
	} else {
		open = open " " line
	}
	# whole when the parentheses outside of strings close
	bare = open
	gsub(/"([^"\\]|\\.)*"/, "", bare)
	gsub(/'.'/, "", bare)
	n = gsub(/\(/, "(", bare)
	m = gsub(/\)/, ")", bare)
	if (m >= n || line ~ /;$/) {
		flush_call(open)
		open = ""
	}
}
