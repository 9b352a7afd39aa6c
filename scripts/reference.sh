#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# reference.sh B DIR - writes the reference pages into DIR: `make reference` those of docs/reference, `make check-reference`
# others to compare them with. Their sources are the .def files, the inventory of the suite, the word tables of the drill
# language, and the fields that tshark says the plugin has (left as they are where there is no plugin in B).
# shellcheck disable=SC2016 # backquotes are Markdown
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1 out=$2
export LC_ALL=C
mkdir -p "$out"

rows() { awk -v macros="$2" -f scripts/def.awk "$1"; }
page() { # name, title, source; the rest of the page from standard input
	{
		printf '# %s\n\nMade by `make reference` from %s; not edited by hand.\n\n' "$2" "$3"
		cat
	} >"$out/$1.md"
}
# Text that Markdown would take for markup.
cells='function cell(s) { gsub(/[|]/, "\\\\|", s); gsub(/</, "\\&lt;", s); gsub(/[*]/, "\\\\*", s); return s } BEGIN { FS = "\t" }'

page reasons "Reasons" '`transport/reasons.def`' < <(
	cat <<'END'
Why a packet, a request or an attribute is not as it should be: `rdma.reason.ID` in Wireshark, `vendor_err` of a failed
completion on ref0, `why` in traces. A clause stands where one is publicly quoted. The first table is of single packets
(`vs_pkt_validate`), the second of the engine, which knows the queue pair too.

END
	for m in VS_REASON VS_ENGINE_REASON; do
		[ $m = VS_REASON ] || printf '\n'
		printf '| id | severity | clause | %s |\n|---|---|---|---|\n' "$([ $m = VS_REASON ] && echo 'a packet' || echo 'the engine')"
		rows transport/reasons.def $m | awk "$cells"'{ printf "| `%s` | %s | %s | %s |\n", $3, tolower($4), $5, cell($6) }'
	done
)

page rules "Rules" '`transport/rules.def`' < <(
	cat <<'END'
What the monitor holds traffic against: `vs-pcap check`, `rdma.rule.ID` in Wireshark, `vs-trace report`, and every run of the
suite. *must*: no conforming device does that, and the frames that are there prove it. *should*: advice, habit, or what a
frame that is missing from the capture could explain. *note*: legal, worth knowing. [What the monitor can know](../monitor.md)
says why.

| id | level | clause | |
|---|---|---|---|
END
	{
		rows transport/reasons.def "VS_REASON VS_ENGINE_REASON"
		rows transport/rules.def "VS_RULE VS_RULE_OF_REASON"
	} | awk "$cells"'
		$1 ~ /REASON$/ && $1 != "VS_RULE_OF_REASON" { id[$2] = $3; clause[$2] = $5; text[$2] = $6; next }
		$1 == "VS_RULE_OF_REASON" { printf "| `%s` | %s | %s | %s |\n", id[$2], tolower($3), clause[$2], cell(text[$2]) }
		$1 == "VS_RULE" { printf "| `%s` | %s | %s | %s |\n", $3, tolower($4), $5, cell($6) }'
)

page causes "Causes" '`tracer/causes.def`' < <(
	cat <<'END'
What `vs-trace why` can answer ([Record a program, and learn why it failed](../tracer-why.md)).

| id | what happened | rule | what to try |
|---|---|---|---|
END
	rows tracer/causes.def VT_CAUSE | awk "$cells"'{ printf "| `%s` | %s | %s | %s |\n", $3, cell($4), cell($5), cell($6) }'
)

page events "Events" '`transport/events.def`' < <(
	cat <<'END'
What stands in a trace (`.vst`): one JSON object a line, `vs-run --trace`, `vs-trace run`. *core* events are always there, *base* and
*extra* ones when the sink asks for them (all do). Kinds of arguments: D decimal, X hex, T nanoseconds, B boolean, OPC BTH
opcode, SYN AETH syndrome, WR work request opcode, WCS completion status, WCO completion opcode, QPS state, ASY async event,
RSN [reason](reasons.md), STR text.

| event | level | arguments |
|---|---|---|
END
	rows transport/events.def VS_EVENT | awk "$cells"'{
		args = $6
		gsub(/[{}]/, "", args)
		n = split(args, a, /, */)
		text = ""
		for (i = 1; i < n; i += 2) text = text (i > 1 ? ", " : "") "`" a[i] "` " a[i + 1]
		printf "| `%s` | %s | %s |\n", $3, tolower($4), text
	}'
)

page counters "Counters" '`transport/counters.def`' < <(
	printf 'What ref0 counts (`vs-run --counters`); names of the Linux soft-RoCE driver first.\n\n| counter | |\n|---|---|\n'
	rows transport/counters.def VS_COUNTER | awk "$cells"'{ printf "| `%s` | %s |\n", $3, cell($4) }'
)

page opcodes "Opcodes" '`transport/opcodes.def`' < <(
	cat <<'END'
Every assigned BTH opcode. Payload: none, full (exactly the path MTU), last (1 to the path MTU), only (0 to the path MTU), eight
bytes, or that of a CNP. The name in the last column is what scripts and faults call it.

| code | opcode | headers behind the BTH | payload | answered with | in scripts |
|---|---|---|---|---|---|
END
	rows transport/opcodes.def VS_OPCODE | awk "$cells"'{
		h = $6
		sub(/^RD_Q/, "RDETH DETH", h); sub(/^RD_R/, "RDETH", h)
		gsub(/VS_HDR_/, "", h); gsub(/ *[|] */, " ", h)
		if (h == "0") h = ""
		printf "| `%s` | %s | %s | %s | %s | `%s` |\n", $2, cell($4), h, tolower($7), tolower($8), $3
	}'
)

page cases "Cases" '`conformance/inventory.tsv`' < <(
	cat <<'END'
The rules of the conformance suite, one or more scripts each (`conformance/cases/GROUP/ID.drill`;
`vs-conform --explain ID` shows one). Class: N normative, S advice, A what the interface promises, I implementation-defined,
R robustness. [How cases are written](../conformance-cases.md); [what is covered on which target](../../conformance/coverage.md).

END
	awk "$cells"'
		NR == 1 { for (i = 1; i <= NF; i++) col[$i] = i; next }
		{
			group = $(col["id"]); sub(/-.*/, "", group)
			if (group != last) printf "%s## %s\n\n| id | rule | class | source |\n|---|---|---|---|\n", (NR > 2 ? "\n" : ""), group
			last = group
			printf "| `%s` | %s | %s | %s |\n", $(col["id"]), cell($(col["case"])), $(col["class"]), cell($(col["source"]))
		}' conformance/inventory.tsv
)

page drill "Words of the drill language" 'the tables of `transport/drill/`' < <(
	cat <<'END'
The [grammar](../drill-language.md#grammar) and what each statement means are in [the drill language](../drill-language.md);
names of packets are in [opcodes](opcodes.md). Here are the words that can stand for a value, and the keys that can stand
behind a statement.

| where | words |
|---|---|
END
	# "static const struct word|key NAME[] = { {"word", ...}, ... };"
	awk '
		/const struct (word|key) [a-z_]+\[\] = / {
			match($0, /(word|key) [a-z_]+/)
			split(substr($0, RSTART, RLENGTH), d, " ")
			kind = d[1]; name = d[2]; text = ""; inside = 1
		}
		inside {
			line = $0
			while (match(line, /\{"[^"]+"|W\([A-Z_]+\)/)) { # W(X) is {"X", ..._X}
				text = text (text == "" ? "" : " ") "`" substr(line, RSTART + 2, RLENGTH - 3) "`"
				line = substr(line, RSTART + RLENGTH)
			}
			if ($0 ~ /\};/) {
				inside = 0
				if (name == "words") next # of one statement alone: the grammar has them
				sub(/^dr_/, "", name); sub(/_(words|keys)$/, "", name); gsub(/_/, " ", name)
				if (text != "") print (kind == "key" ? "keys of " : "") name "\t" text
			}
		}' transport/drill/*.c | sort -u | awk "$cells"'{ printf "| %s | %s |\n", $1, $2 }'
)

if compgen -G "$build/plugins/*/epan/verbscope.so" >/dev/null && [ -x "$build/bin/vs-tshark" ]; then
	"$build/bin/vs-tshark" -G fields >"$out/.fields" 2>/dev/null || true
	grep -q '	rdma\.bth\.psn	' "$out/.fields" || { rm "$out/.fields"; echo "reference: vs-tshark in $build has no plugin" >&2; exit 1; }
	page fields "Fields of the Wireshark plugin" 'what `vs-tshark -G fields` says' < <(
		cat <<'END'
Display filters, columns and `-e` of tshark. Names are a contract; what they mean, with examples: [Verbscope in
Wireshark](../wireshark.md). `rdma.reason.ID` and `rdma.rule.ID` exist for every [reason](reasons.md) and [rule](rules.md), too.

| field | type | | |
|---|---|---|---|
END
		awk "$cells"'
			$1 == "F" && $3 ~ /^rdma\./ && $3 !~ /^rdma\.(reason|rule)\./ {
				type = tolower(substr($4, 4))
				printf "| `%s` | %s | %s | %s |\n", $3, type, cell($2), cell($8)
			}' "$out/.fields" | sort -u
	)
	rm "$out/.fields"
fi
