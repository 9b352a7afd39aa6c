#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# lint-tidy.sh COMPILE_COMMANDS JOBS [NODES] - clang-tidy (.clang-tidy) over every C file.
#
# NODES bounds how far the static analyzer follows one function. Its own 225000 takes several times as long as
# our 5000: for a night, `make lint TIDY_NODES=225000`. 0 leaves the analyzer out: `make lint-quick`.
set -euo pipefail
db=$1 jobs=$2 nodes=${3:-5000}
cd "$(dirname "$0")/.."

mapfile -t compiled < <(sed -n 's/.*"file": "\([^"]*\)".*/\1/p' "$db")
# All but the programs of the labs, which vs-lab alone compiles.
sources=$(scripts/sources.sh c | grep -v '^labs/[0-9][0-9]-' | grep -c '\.c$')
if [ ${#compiled[@]} != "$sources" ]; then
	echo "lint-tidy: $db has ${#compiled[@]} files, the repository $sources" >&2
	exit 1
fi
analyze=() together=1 # the analyzer of 14 takes a va_list of another file for that of this one
[ "$nodes" != 0 ] || analyze=('--checks=-clang-analyzer-*') together=8

# What each says comes whole: pieces of two lines that mix look like a finding.
export db nodes
some() { # options and files
	local said rc=0
	said=$(clang-tidy --quiet -p "$(dirname "$db")" --extra-arg=-Xclang --extra-arg=-analyzer-config --extra-arg=-Xclang \
		--extra-arg=max-nodes="$nodes" "$@" 2>&1) || rc=$?
	[ -z "$said" ] || printf '%s\n' "$said"
	return $rc
}
export -f some
printf '%s\0' "${compiled[@]}" | xargs -0 -n "$together" -P "$jobs" bash -c 'some "$@"' _ "${analyze[@]}" |
	awk '/warnings? generated|^Suppressed |^Use -header-filter/ { next } { print; bad = 1 } END { exit bad }'
