#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# check-rows.sh INVENTORY DOC TEST.c... - every row of the inventory that an engine can show has a test that is named
# by it (rsp_011_013_...), or stands with a reason in the table of DOC; and no test names a row that does not exist.
#
# First it plants both faults, to see that they are found.
set -euo pipefail
export LC_ALL=C
inventory=$1 doc=$2
shift 2
groups='QPS|REQ|RTO|RSP|RSE|UC|UD|SRQ|MR|MW|CQ|AE|CM|CC|ROC|ENH'

# Rows that the names of tests on stdin speak of. "UD-001".
named() {
	sed -n 's/^START_TEST(\([a-z0-9_]*\))$/\1/p' | awk -v groups="^($groups)$" '{
		n = split(toupper($0), p, "_")
		group = ""
		for (i = 1; i <= n; i++)
			if (p[i] ~ /^[0-9][0-9][0-9]$/ && group != "")
				print group "-" p[i]
			else
				group = p[i] ~ groups ? p[i] : ""
	}' | sort -u
}

rows=$(awk -F'\t' -v groups="^($groups)-" '$2 ~ groups { print $2 }' "$inventory" | sort -u)
excused=$(sed -n 's/^| \([A-Z0-9, -]*\) .*|$/\1/p' "$doc" | grep -oE "\b($groups)-[0-9]{3}\b" | sort -u)

judge() { # names of rows that tests show, on stdin
	local shown rc=0
	shown=$(sort -u)
	comm -23 <(echo "$rows") <(sort -u <<<"$shown"$'\n'"$excused") | sed 's/^/no test is named by row /' | grep . && rc=1
	comm -13 <(echo "$rows") <(echo "$shown") | sed 's/^/a test is named by a row that does not exist: /' | grep . && rc=1
	return $rc
}

shown=$(cat "$@" | named)
if grep -v '^UC-001$' <<<"$shown" | judge >/dev/null || judge >/dev/null <<<"${shown/UC-001/UC-099}"; then
	echo 'check-rows: a planted fault was not found'
	exit 1
fi
judge <<<"$shown" || exit 1
echo "$(wc -l <<<"$rows") passed, 0 failed ($(wc -l <<<"$excused") rows have a reason instead of a test)"
