#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# soak-self-test.sh SIM_SOAK - the soak finds what it is there for: defects that the engine commits on request
# (deviations.def) and that random work under random faults must meet end as a violation with a replay command,
# and the replay finds it again.
set -euo pipefail
soak=$1
# A run that ends in a violation does not tidy up.
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
out=$(mktemp)
trap 'rm -f "$out"' EXIT
fail=0

for d in atomic_replay_lost read_replay_lost local_ops_replayed local_inv_wrong_key stale_wqe flush_wrong_cq \
	rq_not_flushed unsignaled_err_silent no_last_wqe no_access_event err_post_not_flushed srq_limit_as_err; do
	if "$soak" --seeds 400 --deviation $d >/dev/null 2>"$out"; then
		echo "soak-self-test: $d was not found in 400 seeds" >&2
		fail=1
		continue
	fi
	seed=$(sed -n 's/^  replay: sim_soak --seed \([0-9]*\) .*/\1/p' "$out")
	if [ -z "$seed" ]; then
		echo "soak-self-test: $d: no command to replay it" >&2
		fail=1
	elif "$soak" --seed "$seed" --deviation $d >/dev/null 2>"$out.again"; then
		echo "soak-self-test: $d: seed $seed does not find it again" >&2
		fail=1
	elif ! cmp -s "$out" "$out.again"; then
		echo "soak-self-test: $d: seed $seed ends in another way" >&2
		fail=1
	fi
	rm -f "$out.again"
done
exit $fail
