#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# deb-test.sh - scripts/deb.sh takes nobody for a maintainer whom a package could not name, and builds nothing then.
set -euo pipefail
deb=$(cd "$(dirname "$0")/.." && pwd)/deb.sh
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
passed=0 failed=0

refuses() { # DEBFULLNAME, DEBEMAIL
	local rc=0
	DEBFULLNAME=$1 DEBEMAIL=$2 "$deb" false "$tmp/b" 1.0 1 >"$tmp/out" 2>&1 || rc=$?
	if [ $rc = 2 ] && grep -q '^deb: DEBFULLNAME and DEBEMAIL' "$tmp/out" && [ ! -e "$tmp/b" ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAILED  '$1' '$2' (exit code $rc)"
		sed 's/^/    /' "$tmp/out"
	fi
}
refuses "A Maintainer" "nowhere"
refuses "A Maintainer" "a b@c.org"
refuses "Maintainer, A" "a@c.org"
refuses "A & B" "a@c.org"
refuses $'A\nB <b@c.org>' "a@c.org"
echo "$passed passed, $failed failed"
[ $failed = 0 ]
