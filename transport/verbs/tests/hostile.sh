#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# hostile.sh BUILD_FOLDER SECONDS - two programs talk and check what they get while a third sends them packets with random
# headers and right ICRCs, to their queue pairs too: nobody crashes, no connection is harmed, no byte is wrong.
set -euo pipefail
export LC_ALL=C
build=$(cd "${1:?which build folder?}" && pwd) seconds=${2:-5}
run=$build/bin/vs-run
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
port=$((20000 + $$ % 10000)) net=127.$((100 + $$ % 100)).$(($$ / 100 % 250)) # addresses that nobody else has
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=0}

fail() {
	echo "hostile: $1" >&2
	cat "$tmp"/* >&2
	echo "0 passed, 1 failed"
	exit 1
}

pingpong() { # address, more arguments
	local ip=$1
	shift
	timeout $((seconds + 60)) "$run" --quiet --counters --ip "$ip" -- \
		stdbuf -oL ibv_rc_pingpong -g 0 -c -p "$port" -n $((seconds * 3000)) "$@"
}

pingpong "$net.1" >"$tmp/server" 2>&1 &
server=$!
sleep 0.5
pingpong "$net.2" 127.0.0.1 >"$tmp/client" 2>&1 &
client=$!
for ((i = 0; i < 50; i++)); do
	grep -qs "remote address" "$tmp/client" && break
	sleep 0.1
done
mapfile -t qpns < <(sed -n 's/.*QPN \(0x[0-9a-f]*\),.*/\1/p' "$tmp/client")
[ ${#qpns[@]} = 2 ] || fail "the programs did not connect"
"$build/tests/verbs_hostile" "$net.3" "$net.1" "$seconds" "${qpns[@]}" >"$tmp/hostile" 2>&1 &
"$build/tests/verbs_hostile" "$net.4" "$net.2" "$seconds" "${qpns[@]}" >>"$tmp/hostile" 2>&1 || fail "could not send"
wait $client || fail "the client ended with $?"
wait $server || fail "the server ended with $?"
wait
grep -q 'iters in' "$tmp/client" || fail "the client did not finish"
grep -q 'counter rx_malformed' "$tmp/server" || fail "the server got nothing hostile"
grep -q 'counter rx_icrc_encapsulated' "$tmp/server" || fail "the server got no wrong ICRC"
if grep -q 'retry_err\|ack_timeout' "$tmp/server" "$tmp/client"; then echo "hostile: note: some packets had to be repeated"; fi
sed 's/^/hostile: /' "$tmp/hostile"
echo "1 passed, 0 failed"
