#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# browser.sh BUILD FOLDER - the pages of `vs-trace export` in a headless Chromium, without a network: hover, click, keys,
# search (browser.js), with a small trace, a hostile one and one of 10,000 events.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
vs=$1/bin/vs-trace tmp=$2

# 10,000 events: WRITEs of three packets, every 50th of which is sent again.
long() {
	awk 'BEGIN {
		print "{\"vst\":\"0.1\",\"clock\":\"sim\",\"unit\":\"ns\"}"
		while (seq < 9990) {
			t += 5000; w++; first = seq + 1
			ev("A", "\"ev\":\"verb:post_send\",\"qpn\":\"0x11\",\"wr\":" w ",\"op\":\"RDMA_WRITE\",\"len\":3072,\"flags\":\"0x2\",\"ret\":0,\"cause\":0")
			for (k = 0; k < 3; k++) send("A", "0x11", "0x22", k == 0 ? "WRITE_FIRST" : k == 1 ? "WRITE_MIDDLE" : "WRITE_LAST", psn++, 0, first)
			if (w % 50 == 0) send("A", "0x11", "0x22", "WRITE_LAST", psn - 1, 1, first)
			send("B", "0x22", "0x11", "ACK", psn - 1, 0, seq)
			ev("A", "\"ev\":\"cqe\",\"qpn\":\"0x11\",\"wr\":" w ",\"pkt\":" pkt ",\"status\":\"SUCCESS\",\"op\":\"RDMA_WRITE\",\"cause\":" seq)
		}
	}
	function ev(node, rest) { printf "{\"seq\":%d,\"t\":\"%d\",\"node\":\"%s\",%s}\n", ++seq, t, node, rest }
	function send(node, qpn, dqpn, opc, p, again, cause,   more, tx) {
		more = sprintf("\"opc\":\"%s\",\"psn\":\"0x%x\",\"dqpn\":\"%s\",\"len\":%d,\"msn\":1,\"ackreq\":false%s", opc, p, dqpn, opc == "ACK" ? 0 : 1024, opc == "ACK" ? ",\"syn\":\"ACK\"" : "")
		ev(node, sprintf("\"ev\":\"pkt:tx\",\"qpn\":\"%s\",\"pkt\":%d,%s,\"retx\":%d,\"cause\":%d", qpn, ++pkt, more, again, cause))
		tx = seq; t += 900
		ev(node == "A" ? "B" : "A", sprintf("\"ev\":\"pkt:rx\",\"qpn\":\"%s\",\"pkt\":%d,%s,\"cause\":%d", dqpn, pkt, more, tx))
		t -= 800
	}'
}

look() { # NAME TRACE
	"$vs" export --format html "$2" >"$tmp/$1.html" 2>/dev/null
	{
		# The page forbids what it does not have itself; the test's script is one more of its own.
		cat "$tmp/$1.html"
		echo '<script>'
		cat "$here/browser.js"
		echo '</script>'
	} >"$tmp/$1-test.html"
	timeout 120 chromium --headless --no-sandbox --disable-gpu --user-data-dir="$tmp/chromium" --no-first-run \
		--disable-dev-shm-usage --host-resolver-rules='MAP * ~NOTFOUND' --window-size=1400,900 \
		--virtual-time-budget=20000 --dump-dom "file://$tmp/$1-test.html" >"$tmp/$1.dom" 2>"$tmp/$1.err" || {
		echo "chromium ended with $?" && tail -n 3 "$tmp/$1.err" && return 1
	}
	sed -n '/<pre id="result">/,/^end/p' "$tmp/$1.dom" | sed "s/<pre id=\"result\">//; s/^/$1: /"
	grep -q '^end' "$tmp/$1.dom" || { echo "$1: the script did not come to its end" && return 1; }
	! sed -n '/<pre id="result">/,/^end/p' "$tmp/$1.dom" | grep -q 'not ok'
}

long >"$tmp/long.vst"
look small "$here/in/loss-middle.vst"
look hostile "$here/in/hostile.vst"
look long "$tmp/long.vst"
