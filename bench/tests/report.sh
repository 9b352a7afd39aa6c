#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# report.sh [--update] B - check-bench: how figures are handed over (figures.sh), what bench-report makes of records, whole and
# broken ones, and what run.sh makes of benchmarks that fail, hang or can't run. No benchmark is run: a stand-in for make
# plays all of them.
set -euo pipefail
cd "$(dirname "$0")/../.."
update=''
if [ "$1" = --update ]; then
	update=yes
	shift
fi
report=$(cd "$1" && pwd)/bin/bench-report here=bench/tests
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
passed=0 failed=0

ok() { passed=$((passed + 1)); }
bad() { # claim, files to show
	failed=$((failed + 1))
	echo "FAILED  $1"
	for f in "${@:2}"; do head -n 20 "$f" | sed 's/^/    /'; done
}

# ---- bench-report on golden files ----

for name in full numbers; do
	"$report" $here/in/$name.records "$tmp/$name" || [ $? = 1 ]
	for form in json html; do
		[ -z "$update" ] || cp "$tmp/$name.$form" $here/golden/
		if diff -u $here/golden/$name.$form "$tmp/$name.$form" >"$tmp/diff"; then ok; else bad "$name.$form is as the golden file" "$tmp/diff"; fi
	done
	sed -n '/^<svg/,/^<\/svg>/p' "$tmp/$name.html" | sed '1i <all>
$a </all>' >"$tmp/svg"
	if xmllint --noout "$tmp/svg" 2>"$tmp/err"; then ok; else bad "the plots of $name are XML" "$tmp/err"; fi
done
if ! grep -oE '(src|href)="[^#"]+|url\(|@import|https?://[^"]*' "$tmp/full.html" | grep -vxF http://www.w3.org/2000/svg >"$tmp/out"; then ok; else bad "the page asks for nothing else" "$tmp/out"; fi
if ! sed -n '/id="trace"/,/<h2/p' "$tmp/full.html" | grep -E '<svg|<td' >"$tmp/out"; then ok; else bad "a benchmark that failed has no figure" "$tmp/out"; fi

# ---- records that are broken ----

run='{"record": "run", "version": "1", "commit": "c", "date": "d", "command": "make", "cpu": "p", "cores": 1, "memory_mb": 1, "kernel": "k", "system": "s", "compiler": "g", "load": 0}'
begin='{"record": "benchmark", "name": "x", "about": "a", "command": "c"}'
figure='{"record": "figure", "name": "f", "unit": "u", "value": 1, "rounds": 1, "spread": [1, 1]}'
end='{"record": "end", "verdict": "ok", "reason": "", "seconds": 1, "load": 0}'

refused() { # claim, pattern, records...
	local rc=0
	printf '%s\n' "${@:3}" >"$tmp/records"
	rm -f "$tmp"/r.*
	"$report" "$tmp/records" "$tmp/r" >"$tmp/out" 2>&1 || rc=$?
	if [ $rc = 2 ] && [ "$(wc -l <"$tmp/out")" = 1 ] && grep -qE -- "$2" "$tmp/out" && ! ls "$tmp"/r.* >/dev/null 2>&1; then
		ok
	else
		bad "$1 (exit code $rc)" "$tmp/out"
	fi
}
refused "nothing but an empty line" 'has no record of a run' ''
refused "no JSON at all" 'records:1: no JSON object' 'hello'
refused "no run" 'the first record must be of a run' "$begin"
refused "a run without its processor" "records:1: the run has no 'cpu'" "${run/cpu/gpu}"
refused "a run whose load is a text" "records:1: the run has no 'load'" "${run/\"load\": 0/\"load\": \"0\"}"
refused "a figure that belongs to nobody" 'records:2: a record that belongs to no benchmark' "$run" "$figure"
refused "a figure behind the end" 'records:5: a record that belongs to no benchmark' "$run" "$begin" "$figure" "$end" "$figure"
refused "a line without end" 'records:2: the line is too long' "$run" "$(printf '%070000d' 0)"
refused "broken JSON that belongs to no benchmark" 'records:2: no JSON object' "$run" '{"record": '

fails() { # claim, verdict and reason in JSON, exit code, records...
	local rc=0
	printf '%s\n' "${@:4}" >"$tmp/records"
	"$report" "$tmp/records" "$tmp/r" >"$tmp/out" 2>&1 || rc=$?
	if [ $rc = "$3" ] && grep -A1 '"verdict"' "$tmp/r.json" | tr -d '\n' | grep -qE -- "$2"; then ok; else bad "$1 (exit code $rc)" "$tmp/out" "$tmp/r.json"; fi
	if [ "$3" = 1 ] && [[ $2 != *missed* ]] && grep -qE '"value"' "$tmp/r.json"; then bad "$1: without figures" "$tmp/r.json"; else ok; fi
}
fails "a sound benchmark" '"ok"' 0 "$run" "$begin" "$figure" "$end"
fails "broken JSON" '"failed".*line 4: no JSON object' 1 "$run" "$begin" "$figure" '{"record": "figure", "na' "$end"
fails "a key twice" '"failed".*line 3: no JSON object' 1 "$run" "$begin" "${figure/\"unit\": \"u\"/\"name\": \"g\"}" "$end"
fails "an array" '"failed".*no JSON object' 1 "$run" "$begin" "$figure" '[]' "$end"
fails "a record of no kind" '"failed".*no record' 1 "$run" "$begin" "$figure" '{}' "$end"
fails "a figure without a name" '"failed".*name or unit' 1 "$run" "$begin" "${figure/\"f\"/\"\"}" "$end"
fails "a figure that is a text" '"failed".*without value' 1 "$run" "$begin" "${figure/\"value\": 1/\"value\": \"1\"}" "$end"
fails "a figure without rounds" '"failed".*without rounds' 1 "$run" "$begin" "${figure/\"rounds\": 1, /}" "$end"
fails "a spread elsewhere" '"failed".*spread' 1 "$run" "$begin" "${figure/\[1, 1\]/[2, 3]}" "$end"
fails "half a spread" '"failed".*spread' 1 "$run" "$begin" "${figure/\[1, 1\]/[1]}" "$end"
fails "a ratio that is a text" '"failed".*text for a number' 1 "$run" "$begin" "${figure/\"unit\"/\"ratio\": \"x\", \"unit\"}" "$end"
fails "neither more nor less" '"failed".*neither more nor less' 1 "$run" "$begin" "${figure/\"unit\"/\"better\": \"red\", \"unit\"}" "$end"
fails "no end" '"failed".*did not end' 1 "$run" "$begin" "$figure"
fails "no figure" '"failed".*no figure' 1 "$run" "$begin" "$end"
fails "an exit code" '"failed".*signal' 1 "$run" "$begin" "$figure" "${end/\"ok\", \"reason\": \"\"/\"failed\", \"reason\": \"signal\"}"
fails "an aim that was missed" '"missed".*too slow' 1 "$run" "$begin" "$figure" '{"record": "missed", "reason": "too slow"}' "${end/ok/failed}"

# ---- files ----

says() { # claim, exit code, pattern, command...
	local rc=0
	"${@:4}" >"$tmp/out" 2>&1 || rc=$?
	if [ $rc = "$2" ] && grep -qE -- "$3" "$tmp/out"; then ok; else bad "$1 (exit code $rc)" "$tmp/out"; fi
}
full_disk() {
	trap '' XFSZ
	ulimit -f 2
	exec "$report" $here/in/full.records "$tmp/disk"
}
says "no records" 2 "nowhere: can't be read \(No such file" "$report" "$tmp/nowhere" "$tmp/x"
says "an empty file" 2 'it is empty' "$report" /dev/null "$tmp/x"
says "no folder to write to" 2 "can't be written" "$report" $here/in/full.records "$tmp/nowhere/x"
says "a full disk" 2 "disk.json: " bash -c "$(declare -f full_disk); report='$report' here=$here tmp=$tmp; full_disk"
if ls "$tmp"/disk* >/dev/null 2>&1; then bad "half a file is left" /dev/null; else ok; fi
says "no operands" 2 'usage: bench-report' "$report"

# ---- figures.sh ----

# shellcheck source=bench/figures.sh
. bench/figures.sh
hands_over() { # claim, pattern, command...
	rm -f "$tmp/figures"
	VS_BENCH_FIGURES=$tmp/figures "${@:3}"
	if grep -qE -- "$2" "$tmp/figures"; then ok; else bad "$1" "$tmp/figures"; fi
}
of() { tr ' ' '\n' <<<"$1" | figure "${@:2}"; } # values, arguments of figure
hands_over "an odd median" '"value": 3, .*"rounds": 3, "failed_rounds": 0, "spread": \[1, 10\]' of '10 1 3' n u median
hands_over "an even median" '"value": 2.5, .*"rounds": 4' of '1 2 3 10' n u median
hands_over "the most" '"value": 10,' of '9 10 1' n u most
hands_over "the least, as numbers" '"value": 9,' of '9 10 11' n u least
hands_over "a round that failed" '"value": 3, .*"rounds": 3, "failed_rounds": 2' of '- 3 nan' n u median
hands_over "all of them" '"value": null, .*"failed_rounds": 2' of '- inf' n u median
hands_over "no values" '"value": null, .*"rounds": 0' figure n u median </dev/null
hands_over "a ratio" '"peer": "p", "peer_value": 4, "ratio": 0.5, "aim_ratio": 0.25' of 2 n u median peer=p peer_value=4 aim_ratio=0.25
printf '%s\n' 1 4 2 >"$tmp/peer"
hands_over "a peer with rounds" '"peer_spread": \[1, 4\], "peer_value": 2, "ratio": 3' of 6 n u median peer=p peer_values="$tmp/peer"
hands_over "a peer that failed" '"peer": "p"}' of 6 n u median peer=p peer_values="$tmp/nowhere"
hands_over "texts" '"name": "a \\"b\\" \\\\ c d", "unit": "%s"' of 1 'a "b" \ c	d' %s median
hands_over "what was missed" '^\{"record": "missed", "reason": "slow"\}$' missed slow
says "by hand nothing is written" 0 '^$' bash -c '. bench/figures.sh; echo 1 | figure n u median; missed x; echo'
says "a full disk" 2 'No space left' env VS_BENCH_FIGURES=/dev/full bash -c '. bench/figures.sh; echo 1 | figure n u median'

# ---- run.sh, on a make that plays the benchmarks ----

mkdir -p "$tmp/b/bin"
ln -s "$report" "$tmp/b/bin/bench-report"
cat >"$tmp/make" <<'END'
#!/bin/bash
. bench/figures.sh
case $3 in
bench-core) figure_once "packets $4" 1/s 5 better=more; echo measured ;;
bench-drill) echo "skip bench-drill: there is no drill" ;;
bench-check) figure_once speed 1/s 5; missed "too slow"; exit 2 ;;
bench-dissector) figure_once speed 1/s 5; echo "tshark: it is broken" >&2; exit 2 ;;
bench-replay) printf '{"record": "fig' >>"$VS_BENCH_FIGURES" ;;
bench-ref0) exec sleep 60 ;;
bench-trace) echo "forgot its figures" ;;
bench-dissector-memory) kill -9 $$ ;;
esac
END
chmod +x "$tmp/make"
bench() { MAKE=$tmp/make BENCH_TIMEOUT=${LIMIT:-20} bench/run.sh "$tmp/b" "$@"; }
verdict() { # name, verdict, reason
	if [[ $(<"$tmp/b/bench.json") =~ \"name\":\ \"$1\",[^{]*\"verdict\":\ \"$2\",[^\"]*\"reason\":\ \"$3 ]]; then ok; else bad "run.sh: $1 is $2" "$tmp/b/bench.json"; fi
}
ROUNDS=7 says "run.sh: one that works" 0 'bench.html has it all' bench core
if grep -q '"name": "packets ROUNDS=7"' "$tmp/b/bench.json" && grep -q '"command": "make bench ROUNDS=7 BENCH=\\"core\\""' "$tmp/b/bench.json"; then ok; else bad "run.sh hands ROUNDS on" "$tmp/b/bench.json"; fi
says "run.sh: some that don't" 1 'bench.html has it all' bench core drill check dissector memory replay trace
verdict core ok ''
verdict drill skipped 'there is no drill'
verdict check missed 'too slow'
verdict dissector failed 'tshark: it is broken'
verdict memory failed 'exit code 137, without a word'
verdict replay failed 'what it wrote can.t be used: line [0-9]*: no JSON'
verdict trace failed 'it wrote no figure'
LIMIT=1 says "run.sh: one that hangs" 1 'bench.html has it all' bench ref0
verdict ref0 failed 'it took more than 1 s'
says "run.sh: a benchmark that there is not" 2 "no benchmark 'speed'; there are: core " bench speed
ROUNDS=0 says "run.sh: no rounds" 2 'ROUNDS=0 is no number' bench core
rm -rf "$tmp/b/bench/records" && ln -s /dev/full "$tmp/b/bench/records"
says "run.sh: a full disk" 2 "records can't be written" bench core
echo "$passed passed, $failed failed"
[ $failed = 0 ]
