# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# txt-findings.awk - what the text beside a capture of rxe proves, one line for each file: pcaps/recorded/FINDINGS is
# made of it. It knows the kernel's counters, the rule that dropped packets and the decoded packets, and nothing of the
# monitor that is compared with it.
#
#   awk -f txt-findings.awk captures/rxe/*.txt captures/rxe-6.12/*.txt
#
# lost=F:G:C   frame F was dropped behind the capture point; the same PSN was sent again in frame G; C: what for (nak:
#              a NAK PSN sequence error with that PSN stands between them, else other). Of requests alone.
# duplicates   requests that the kernel counted as duplicate; - : packets were lost before the capture point, or copied.

function finish(   i, j, k, key, out, cause) {
	if (name == "" || n == 0)
		return
	out = ""
	for (i = 1; i <= n; i++) {
		if (!(dir[i] == rule_dir && (seen[dir[i]]++ % mod) in drop) || dir[i] != "A>B" || psn[i] == "")
			continue
		cause = "other"
		for (j = i + 1; j <= n; j++) {
			if (dir[j] == "B>A" && psn[j] == psn[i] && what[j] ~ /NAK_PSN_SEQ/)
				cause = "nak"
			if (dir[j] == dir[i] && op[j] == op[i] && psn[j] == psn[i])
				break
		}
		if (j <= n)
			out = out " lost=" i ":" j ":" cause
	}
	printf "%s packets=%d repeats=%d naks=%d/%d/%d/%d rnr=%d duplicates=%s%s\n", name, n, repeats, nak["PSN_SEQ"], \
		nak["INV_REQ"], nak["REM_ACCESS"], nak["REM_OP"], rnr, netem ? "-" : duplicates, out
}

function begin() {
	finish()
	name = FILENAME
	sub(/.*\//, "", name)
	sub(/\.txt$/, "", name)
	n = repeats = rnr = duplicates = netem = 0
	rule_dir = ""
	split("", nak); split("", key_seen); split("", seen); split("", drop); split("", psn); split("", dir); split("", op)
}

FNR == 1 { begin() }
/^# .*netem/ { netem = 1 }
/^# nft input drop rule/ {
	rule_dir = /iifname v1/ ? "A>B" : "B>A"
	mod = 1
	drop[0] = 1
	if (match($0, /mod [0-9]+ (==|<) [0-9]+/)) {
		split(substr($0, RSTART, RLENGTH), part, " ")
		mod = part[2]
		delete drop[0]
		for (k = part[3] == "<" ? 0 : part[4]; k < part[4] || (part[3] == "==" && k == part[4]); k++)
			drop[k] = 1
	}
}
/^# hw_counters delta/ && match($0, /duplicate_request=\+[0-9]+/) {
	duplicates += substr($0, RSTART + 19, RLENGTH - 19)
}
/^ *[0-9.]+ ms [AB]>[AB] / {
	n++
	dir[n] = $3; op[n] = $4; psn[n] = $5; what[n] = $0
	if ($4 !~ /_ACK$/ || $4 ~ /ATOMIC/)
		repeats += key_seen[$3, $4, $5, $6]++ > 0
	if (match($0, /NAK_[A-Z_]+/) && substr($0, RSTART - 1, 1) == " ")
		nak[substr($0, RSTART + 4, RLENGTH - 4)]++
	rnr += / RNR_NAK| RNR/
}
END { finish() }
