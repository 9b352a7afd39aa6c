# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# doc-blocks.awk - the fenced blocks of Markdown files, for check-docs.sh: each becomes a file DIR/NNN, with its place, its
# language and its mark (what stands in a comment <!-- --> on the line before) in DIR/NNN.head, separated by tabs.
#
#   awk -v dir=DIR -f doc-blocks.awk FILE...
FNR == 1 { mark = ""; inside = 0 }
/^ *```/ && !inside {
	n++
	out = sprintf("%s/%04d", dir, n)
	indent = $0
	sub(/```.*/, "", indent)
	lang = $0
	sub(/^ *```/, "", lang)
	printf "%s:%d\t%s\t%s\n", FILENAME, FNR, lang, mark >(out ".head")
	close(out ".head")
	printf "" >out
	inside = 1
	next
}
/^ *```/ && inside { inside = 0; close(out); mark = ""; next }
inside { line = $0; if (indent != "" && index(line, indent) == 1) line = substr(line, length(indent) + 1); print line >out; next }
/^ *<!-- .* -->$/ { mark = $0; sub(/^ *<!-- */, "", mark); sub(/ *-->$/, "", mark); next }
NF { mark = "" }
