# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# index.awk - the index page of the capture library from the facts of all captures.
#
#   awk -f pcaps/index.awk FOLDER/*.expect.json

BEGIN {
	MOST = 12
	while ((getline line < "pcaps/index.head") > 0)
		print line
	print ""
	print "| capture | frames | what it shows | key frames |"
	print "|---|---|---|---|"
}

# The text of a JSON string on a line of its own; marks and titles hold no escapes but of quotes.
function text(s) {
	sub(/^[^"]*"/, "", s)
	sub(/",?$/, "", s)
	gsub(/\\"/, "\"", s)
	gsub(/\|/, "\\|", s)
	return s
}

function row() {
	if (name == "")
		return
	printf "| [%s](generated/%s.pcap) | %s | %s%s | %s |\n", name, name, packets, title, at == "" ? "" : " (captured at " at ")", keys
}

FNR == 1 {
	row()
	name = title = packets = keys = at = ""
	in_keys = listed = 0
}

/^  "scenario": / {
	sub(/^[^:]*: /, "")
	name = text($0)
}

/^  "title": / {
	sub(/^[^:]*: /, "")
	title = text($0)
}

/^  "at": / {
	sub(/^[^:]*: /, "")
	at = text($0)
}

/^  "packets": / {
	packets = $2 + 0
}

/^  \],?$/ {
	in_keys = 0
}

# The sentence of a rule follows where a script says which one it breaks.
in_keys && !/: breaks / && ++listed <= MOST {
	keys = keys (keys == "" ? "" : "; ") text($0)
}
in_keys && listed == MOST + 1 {
	keys = keys " ..."
	listed++
}

/^  "key_frames": \[$/ {
	in_keys = 1
}

END {
	row()
}
