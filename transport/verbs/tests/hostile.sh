#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# hostile.sh BUILD_FOLDER SECONDS - a process with live connections is attacked by another one, which knows its queue
# pairs, keys and addresses and sends from the addresses of its peers, too (transport/tests/verbs_hostile.c). Nobody
# crashes; no memory that was not granted is touched (transport/tests/ref0_victim.c: pages without access around what is
# granted, patterns where others may not write); on the live queue pairs every message arrives, and none of them fails. At
# the same time connections are made and ended with rping, whose QP 1 is attacked. Environment: HOSTILE_DEVIATION (the
# victim commits it, and that must be found).
set -euo pipefail
export LC_ALL=C
build=$(cd "${1:?which build folder?}" && pwd) seconds=${2:-4}
run=$build/bin/vs-run soak=$build/tests/ref0_soak hostile=$build/tests/verbs_hostile
tmp=$(mktemp -d)
port=$((20000 + $$ % 10000)) net=127.$((100 + $$ % 100)).$(($$ / 100 % 250)) # addresses that nobody else has
peers=2 qps=8
started=()

finish() {
	kill -9 "${started[@]}" 2>/dev/null || true
	wait 2>/dev/null || true
	rm -rf "$tmp"
}
trap finish EXIT

fail() {
	local what
	if [ -n "${HOSTILE_DEVIATION:-}" ] && what=$(grep -m 1 WRONG "$tmp/hub.log"); then
		echo "hostile: $HOSTILE_DEVIATION: found: ${what#soak: WRONG: }"
		echo "1 passed, 0 failed"
		exit 0
	fi
	echo "hostile: $1" >&2
	tail -n 20 "$tmp"/*.log >&2
	echo "0 passed, 1 failed"
	exit 1
}

"$run" --quiet --counters --ip "$net.1" ${HOSTILE_DEVIATION:+--deviation "$HOSTILE_DEVIATION"} -- \
	"$soak" hub $port $peers $qps 1000 "$tmp/ending" "$tmp/targets" >"$tmp/hub.log" 2>&1 &
hub=$!
started+=("$hub")
for ((i = 0; i < 100; i++)); do
	[ ! -e "$tmp/targets" ] || break
	sleep 0.1
done
[ -e "$tmp/targets" ] || fail "the victim did not start"
for ((i = 0; i < peers; i++)); do
	"$run" --quiet --ip "$net.$((10 + i))" -- "$soak" peer $port $i $qps >"$tmp/peer$i.log" 2>&1 &
	peer[i]=$!
	started+=($!)
done

# Connections beside it. rping checks what it gets.
export ASAN_OPTIONS=${ASAN_OPTIONS:-} # of rping, which is not ours, leaks are no matter
ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0 "$run" --quiet --ip "$net.21" -- \
	rping -s -P -a "$net.21" >"$tmp/rping-server.log" 2>&1 &
started+=($!)
sleep 0.5

"$hostile" "$net.1" "$net.10" "$net.31" "$seconds" "$tmp/targets" >"$tmp/hostile.log" 2>&1 &
attack=$!
started+=("$attack")
"$hostile" "$net.21" "$net.22" "$net.41" "$seconds" >"$tmp/hostile-cm.log" 2>&1 &
attack_cm=$!
started+=("$attack_cm")

connections=0
while kill -0 $attack_cm 2>/dev/null; do
	ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0 timeout 60 "$run" --quiet --ip "$net.22" -- \
		rping -c -v -V -C 50 -a "$net.21" >"$tmp/rping.log" 2>&1 || fail "rping ended with $?"
	grep -q 'ping data: rdma-ping-49' "$tmp/rping.log" || fail "rping did not come to its end"
	connections=$((connections + 1))
	kill -0 $hub 2>/dev/null || break
done
wait $attack || fail "the attack ended with $?"
wait $attack_cm || fail "the attack on QP 1 ended with $?"
rm "$tmp/targets"
wait $hub || fail "the victim ended with $?"
for ((i = 0; i < peers; i++)); do wait "${peer[i]}" || fail "peer $i ended with $?"; done
[ -z "${HOSTILE_DEVIATION:-}" ] || fail "$HOSTILE_DEVIATION was not found"
for counter in rx_malformed rx_icrc_encapsulated out_of_seq_request; do
	grep -q "counter $counter" "$tmp/hub.log" || fail "the victim has seen nothing for its counter $counter"
done
grep -hE '^(hub|victim):' "$tmp/hub.log" | grep -v descriptors | sed 's/^/hostile: /'
echo "hostile: $(cat "$tmp/hostile.log"), and $(cat "$tmp/hostile-cm.log") beside $connections connections of rping"
echo "1 passed, 0 failed"
