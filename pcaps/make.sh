#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# make.sh - the capture library: every scenario becomes a capture with its facts, and all of them an index page.
#
#   pcaps/make.sh VS_PCAP FOLDER   writes FOLDER/NAME.pcap, FOLDER/NAME.expect.json and FOLDER/INDEX.md
#
# A line "# gen: OPTIONS" in a scenario has options of vs-pcap gen for it; "# finds: FRAME RULE, ..." what vs-pcap check
# must find in its capture beside the rules of single packets, which the facts have: written by hand, so that the tool is
# not compared with itself. `make pcaps` puts the results in place.
set -euo pipefail
export LC_ALL=C

vp=${1:?where is vs-pcap?}
out=${2:?which folder?}
cd "$(dirname "$0")/.."

mkdir -p "$out"
plain=()
for scenario in pcaps/scenarios/*.drill; do
	options=$(sed -n 's/^# gen: *//p' "$scenario")
	if [ -z "$options" ]; then
		plain+=("$scenario")
		continue
	fi
	read -ra words <<<"$options"
	"$vp" gen "$scenario" -o "$out/" --facts "${words[@]}" >/dev/null
done
"$vp" gen "${plain[@]}" -o "$out/" --facts >/dev/null

# "findings": what the scenario says.
for facts in "$out"/*.expect.json; do
	name=$(basename "$facts" .expect.json)
	awk '
		FNR == NR {
			if (sub(/^# finds: */, "")) {
				n = split($0, item, /, */)
				for (i = 1; i <= n; i++) {
					sub(/ /, ": ", item[i])
					list = list (list == "" ? "\n" : ",\n") "    \"" item[i] "\""
				}
			}
			next
		}
		/^  "exchange": / { print "  \"findings\": [" (list == "" ? "" : list "\n  ") "]," }
		{ print }' "pcaps/scenarios/$name.drill" "$facts" >"$out/facts.new"
	mv "$out/facts.new" "$facts"
done
awk -f pcaps/index.awk "$out"/*.expect.json >"$out/INDEX.md"
