# SPDX-License-Identifier: GPL-2.0-or-later
#
# verdict.awk - one line for each frame, of what was said about its packets: "frame word word ...", words sorted. Two
# inputs give the same lines when they say the same:
#
#   -v from=check    vs-pcap check --packets
#   -v from=plugin   tshark -T fields -E occurrence=a -E aggregator=, with frame.number and the fields of `names`
#
# A frame of which nothing is said has no line.
function add(frame, word)
{
	if (word != "")
		words[frame, ++count[frame]] = word
}

function all(frame, label, list,    v, n, i)
{
	n = split(list, v, ",")
	for (i = 1; i <= n; i++)
		add(frame, label v[i])
}

# Microseconds of a time in seconds, as vs-pcap prints them.
function times(frame, label, list,    v, n, i)
{
	n = split(list, v, ",")
	for (i = 1; i <= n; i++)
		add(frame, label sprintf("%.1f", v[i] * 1e6))
}

function flags(frame, label, list,    v, n, i)
{
	n = split(list, v, ",")
	for (i = 1; i <= n; i++)
		add(frame, label)
}

function number_after(text, before)
{
	return match(text, before "[0-9]+") ? substr(text, RSTART + length(before), RLENGTH - length(before)) : ""
}

function frame_after(f, label, text, before,    v)
{
	v = number_after(text, before)
	add(f, v == "" ? "" : label v)
}

function check_class(f, bracket)
{
	if (bracket ~ /^[0-9]+ missing/)
		return add(f, "missing=" (bracket + 0))
	if (bracket ~ /^retransmission/)
		add(f, "again")
	else if (bracket ~ /^copy/)
		add(f, "copy")
	else if (bracket ~ /^late/)
		add(f, "late")
	else if (bracket ~ /^answer again/)
		add(f, "again-ack")
	else if (bracket ~ /^ghost/)
		add(f, "ghost")
	frame_after(f, "of=", bracket, "of frame ")
	frame_after(f, "to=", bracket, "to frame ")
	if (bracket ~ /NAK PSN sequence error/)
		add(f, "cause=NAK PSN sequence")
	else if (bracket ~ /RNR NAK/)
		add(f, "cause=RNR NAK")
	else if (bracket ~ /answer to a later/)
		add(f, "cause=implied NAK")
	else if (bracket ~ /ACK timer/)
		add(f, "cause=timeout")
	frame_after(f, "by=", bracket, ", frame ")
	if (number_after(bracket, "after ") != "")
		add(f, "wait=" sprintf("%.1f", number_after(bracket, "after ")))
}

function check_line(    f, rest, bracket)
{
	f = $1
	if ($3 != "0")
		add(f, "stream=" $3)
	rest = $0
	while (match(rest, /  \[[^]]*\]/)) {
		bracket = substr(rest, RSTART + 3, RLENGTH - 4)
		rest = substr(rest, RSTART + RLENGTH)
		check_class(f, bracket)
	}
	add(f, match(rest, /RTT [0-9.]+ us/) ? "rtt=" sprintf("%.1f", substr(rest, RSTART + 4)) : "")
	add(f, match(rest, /[0-9]+ outstanding/) ? "outstanding=" (substr(rest, RSTART) + 0) : "")
	rest = $0
	while (match(rest, /<[a-z0-9_]+>/)) {
		add(f, "rule=" substr(rest, RSTART + 1, RLENGTH - 2))
		rest = substr(rest, RSTART + RLENGTH)
	}
}

function plugin_line(    f)
{
	f = $1
	all(f, "stream=", $2)
	all(f, "missing=", $3)
	flags(f, "again", $4)
	flags(f, "copy", $5)
	flags(f, "late", $6)
	flags(f, "again-ack", $7)
	flags(f, "ghost", $8)
	all(f, "of=", $9)
	all(f, "to=", $10)
	all(f, "to=", $11)
	all(f, "cause=", $12)
	all(f, "by=", $13)
	times(f, "wait=", $14)
	times(f, "rtt=", $15)
	all(f, "outstanding=", $16)
	all(f, "rule=", $17)
}

from == "check" && /^ *[0-9]+  stream [0-9]+  QP / { check_line() }
from == "plugin" { plugin_line() }

{
	if (!($1 in seen)) {
		seen[$1] = 1
		order[++frames] = $1
	}
}

END {
	for (i = 1; i <= frames; i++) {
		f = order[i]
		n = count[f]
		if (n == 0)
			continue
		for (k = 1; k <= n; k++)
			list[k] = words[f, k]
		for (k = 2; k <= n; k++) {
			w = list[k]
			for (j = k - 1; j >= 1 && list[j] > w; j--)
				list[j + 1] = list[j]
			list[j + 1] = w
		}
		line = f
		for (k = 1; k <= n; k++)
			line = line " " list[k]
		print line
	}
}
