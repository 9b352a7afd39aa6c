#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# lint-tidy.sh COMPILE_COMMANDS JOBS - clang-tidy (.clang-tidy) over every file that is compiled;
# a file that no target compiles is an error too, since nothing would check it.
set -euo pipefail
db=$1 jobs=$2
cd "$(dirname "$0")/.."

mapfile -t compiled < <(sed -n 's/.*"file": "\([^"]*\)".*/\1/p' "$db")
orphans=$(comm -23 <(scripts/sources.sh c | grep '\.c$' | LC_ALL=C sort) <(printf '%s\n' "${compiled[@]}" | LC_ALL=C sort))
if [ -n "$orphans" ]; then
	echo "lint-tidy: no target compiles these:" >&2
	printf '%s\n' "$orphans" >&2
	exit 1
fi
printf '%s\0' "${compiled[@]}" | xargs -0 -n 1 -P "$jobs" clang-tidy --quiet -p "$(dirname "$db")" 2>&1 |
	awk '/warnings? generated|^Suppressed |^Use -header-filter/ { next } { print; bad = 1 } END { exit bad }'
