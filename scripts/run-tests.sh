#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# run-tests.sh JOBS PROGRAM... [--no-fork PROGRAM...] - runs Check programs, JOBS at a time. What each prints
# comes in one piece, when it has ended. Exit 1 when one of them failed.
#
# Check forks for every test. The programs after --no-fork do without: their tests share one process, which
# under a sanitizer saves most of the time.
set -euo pipefail
jobs=$1
shift
export CK_VERBOSITY=normal
fork=yes
# shellcheck disable=SC2016 # the inner shell expands them
for program; do
	if [ "$program" = --no-fork ]; then fork=no; else printf '%s\0%s\0' "$program" $fork; fi
done | xargs -0 -n 2 -P "$jobs" bash -c '
	rc=0
	out=$(CK_FORK=$1 "$0" 2>&1) || rc=$?
	[ $rc -le 1 ] || out+=$(printf "\n%s: ended with %s" "$0" $rc)
	printf "%s\n" "$out"
	exit $((rc != 0))' || exit 1
