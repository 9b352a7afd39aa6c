#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# soak.sh BUILD_FOLDER MESSAGES - a hub and four peers over 64 queue pairs, every process under vs-run with lost, doubled
# and reordered packets. Peers are killed (kill -9) and started again, or stopped for a while, all the time: nothing is
# lost, nothing is stuck, no memory and no descriptor leaks (transport/tests/ref0_soak.c checks). While a peer is stopped,
# the traffic with the others goes on. Environment: SOAK_SEED, SOAK_FAULTS ('none': none),
# SOAK_DEVIATION (every process commits it, and that must be found).
set -euo pipefail
export LC_ALL=C
build=$(cd "${1:?which build folder?}" && pwd) messages=${2:-60000}
run=$build/bin/vs-run soak=$build/tests/ref0_soak
peers=4 qps=16
tmp=$(mktemp -d)
RANDOM=${SOAK_SEED:-$$}
port=$((30000 + $$ % 10000)) net=127.$((100 + $$ % 100)).$(($$ / 100 % 250)) # addresses that nobody else has
options=(--fault 'drop 1% any' --fault 'dup 0.5% any' --fault 'reorder 1% any')
[ "${SOAK_FAULTS:-}" != none ] || options=()
[ -z "${SOAK_DEVIATION:-}" ] || options+=(--deviation "$SOAK_DEVIATION")
pid=()
hub=

finish() {
	kill -9 ${hub:+"$hub"} "${pid[@]}" 2>/dev/null || true
	rm -rf "$tmp"
}
trap finish EXIT

# With a deviation, what is wrong has to be found.
found() {
	local what
	what=$(cat "$tmp"/*.log | grep -m 1 WRONG) || return 1
	echo "soak: $SOAK_DEVIATION: found: ${what#soak: WRONG: }"
	echo "1 passed, 0 failed"
	exit 0
}

fail() {
	[ -z "${SOAK_DEVIATION:-}" ] || found || true
	echo "soak: $1" >&2
	tail -n 20 "$tmp"/*.log >&2
	echo "0 passed, 1 failed"
	exit 1
}

start() { # number of a peer
	"$run" --quiet --ip "$net.$((10 + $1))" --seed "$RANDOM$RANDOM" "${options[@]}" -- \
		"$soak" peer "$port" "$1" "$qps" >>"$tmp/peer$1.log" 2>&1 &
	pid[$1]=$!
}

# A peer that ends by itself before the hub does has seen something wrong.
look_at_peers() {
	local i rc
	for ((i = 0; i < peers; i++)); do
		kill -0 "${pid[$i]}" 2>/dev/null && continue
		[ ! -e "$tmp/ending" ] || continue
		rc=0
		wait "${pid[$i]}" || rc=$?
		fail "peer $i has ended with $rc"
	done
}

counts() { # messages with each peer so far
	local n
	n=$(wc -l <"$tmp/counts")
	kill -USR1 "$hub" 2>/dev/null || return 1
	for ((t = 0; t < 100; t++)); do
		[ "$(wc -l <"$tmp/counts")" -le "$n" ] || break
		sleep 0.01
	done
	tail -n 1 "$tmp/counts"
}

# Stops a peer for 0.6 s, less than its retries last (2.1 s). Meanwhile the others are served: the lowest figure of all stops is told.
least=
stop_one() {
	local i=$1 before after n=0 j
	kill -STOP "${pid[$i]}"
	(sleep 0.6 && kill -CONT "${pid[$i]}" 2>/dev/null) & # however long the rest takes
	local cont=$!
	sleep 0.1
	if before=$(counts); then
		sleep 0.3
		after=$(counts) || true
	fi
	wait $cont || true
	read -ra before <<<"${before:-}"
	read -ra after <<<"${after:-}"
	[ ${#after[@]} = $peers ] && [ ! -e "$tmp/ending" ] || return 0
	for ((j = 0; j < peers; j++)); do [ "$j" = "$i" ] || n=$((n + after[j] - before[j])); done
	if [ -z "$least" ] || [ "$n" -lt "$least" ]; then least=$n; fi
}

touch "$tmp/counts"
"$run" --quiet --ip "$net.1" --seed "$RANDOM" "${options[@]}" -- \
	"$soak" hub "$port" $peers $qps "$messages" "$tmp/ending" >"$tmp/counts" 2>"$tmp/hub.log" &
hub=$!
for ((t = 0; t < 100; t++)); do
	ss -Hltn "sport = :$port" | grep -q . && break
	sleep 0.1
done
for ((i = 0; i < peers; i++)); do start $i; done

kills=0 stops=0
while kill -0 "$hub" 2>/dev/null && [ ! -e "$tmp/ending" ]; do
	if [ $kills = 0 ]; then sleep 0.5; else sleep "$((RANDOM % 2)).$((RANDOM % 10))"; fi
	look_at_peers
	[ ! -e "$tmp/ending" ] || break
	victim=$((RANDOM % peers))
	if [ $kills -gt 0 ] && [ $((RANDOM % 3)) = 0 ]; then
		stop_one $victim
		stops=$((stops + 1))
	else
		kill -9 "${pid[$victim]}" 2>/dev/null || true
		wait "${pid[$victim]}" 2>/dev/null || true
		kills=$((kills + 1))
		[ -e "$tmp/ending" ] || start $victim
	fi
done
rc=0
wait "$hub" || rc=$?
hub=
[ $rc = 0 ] || fail "the hub has ended with $rc"
for ((i = 0; i < peers; i++)); do
	rc=0
	wait "${pid[$i]}" 2>/dev/null || rc=$?
	case $rc in
	0 | 3 | 137) ;; # 3: it came too late
	*) fail "peer $i has ended with $rc" ;;
	esac
done
pid=()
[ -z "${SOAK_DEVIATION:-}" ] || fail "$SOAK_DEVIATION was not found"
grep -h '^hub:' "$tmp/counts" | sed 's/^hub/soak/'
echo "soak: $kills peers killed, $stops stopped${least:+; at least $least messages with the others in 0.3 s meanwhile}"
echo "1 passed, 0 failed"
