#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# shellcheck disable=SC2016 # bodies of stand-ins expand when they run
#
# doctor-test.sh - scripts/doctor.sh on machines that are broken in one way each, by stand-ins for the programs that it
# asks: every fault is named, and only those that stop everything make it fail.
set -euo pipefail
doctor=$(cd "$(dirname "$0")/.." && pwd)/doctor.sh
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
passed=0 failed=0

# A sound machine; each case breaks one thing of it.
machine() {
	rm -rf "${tmp:?}/bin" "$tmp/build"
	mkdir -p "$tmp/bin" "$tmp/build/bin" "$tmp/build/plugins/4.0/epan"
	touch "$tmp/build/plugins/4.0/epan/verbscope.so"
	stand_in gcc 'while [ "$1" != -o ]; do shift; done; printf "#!/bin/sh\n" >"$2"; chmod +x "$2"'
	stand_in dpkg-query 'for p in "${@:4}"; do echo "$p installed"; done'
	stand_in apt-get 'true'
	stand_in tshark 'echo "TShark (Wireshark) 4.0.17"'
	stand_in unshare 'true'
	stand_in df 'case $1 in -Pi) echo; echo "x 9000000 1 8999999 1% /";; *) echo; echo "x 9000000 1 8999999 1% /";; esac'
	stand_in ../build/bin/vs-run 'true'
}
stand_in() {
	printf '#!/bin/bash\n%s\n' "$2" >"$tmp/bin/$1"
	chmod +x "$tmp/bin/$1"
}

says() { # claim, exit code, expected line (pattern), [make version]
	local rc=0
	(
		ulimit -S -l "${MEMLOCK:-$(ulimit -l)}" 2>/dev/null || true
		PATH=$tmp/bin:/usr/bin:/bin CC=${4:-gcc} MAKE_VERSION=${5:-4.3} WS_SERIES=4.0 "$doctor" "$tmp/build"
	) >"$tmp/out" 2>&1 || rc=$?
	if [ $rc = "$2" ] && grep -qE -- "$3" "$tmp/out"; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAILED  $1 (exit code $rc)"
		sed 's/^/    /' "$tmp/out"
	fi
}

machine
says "a sound machine is" 0 '^ok    vs-run starts a program on ref0'
says "no compiler" 1 "^BAD   there is no compiler 'no-such-cc'" no-such-cc
says "an old make" 1 '^BAD   make must be GNU make 4.3' gcc 4.2.1
stand_in gcc 'echo "cc1: fatal error: stdio.h: No such file" >&2; exit 1'
says "no headers of the C library" 1 "^BAD   gcc can't compile.*stdio.h"
machine
stand_in dpkg-query 'for p in "${@:4}"; do [ $p = libpcap-dev ] || echo "$p installed"; done'
says "headers of a library are missing" 1 '^BAD   building needs packages that are missing: libpcap-dev;'
machine
stand_in dpkg-query 'for p in "${@:4}"; do [ $p = cppcheck ] || echo "$p installed"; done'
says "a package for tests is missing" 0 '^note  make check needs packages that are missing: cppcheck;'
machine
stand_in tshark 'echo "TShark (Wireshark) 4.4.2"'
says "another Wireshark than its headers" 1 '^BAD   tshark is 4.4, but the headers are of 4.0'
says "a plugin for another Wireshark" 1 '^note  there is a plugin for another version'
machine
stand_in tshark 'exit 127'
says "no tshark" 0 '^note  there is no tshark'
machine
stand_in unshare 'exit 1'
says "no user namespaces" 0 '^note  no user namespaces'
machine
MEMLOCK=64 says "little memory may be locked" 0 '^note  memlock is 64 KiB'
stand_in df 'echo; echo "x 9000000 8999000 1000 99% /"'
says "a full disk" 1 '^BAD   .*has 0 MB left'
stand_in df 'case $1 in -Pi) echo; echo "x 100000 99990 10 99% /";; *) echo; echo "x 9000000 1 8999999 1% /";; esac'
says "no inodes" 1 '^BAD   .*can take only 10 files more'
machine
stand_in ../build/bin/vs-run '[ "$1" = --version ] || { echo "vs-run: no address" >&2; exit 125; }'
says "ref0 does not start" 1 "^BAD   vs-run can't start a program on ref0: vs-run: no address"
stand_in ../build/bin/vs-run 'echo "vs-run: error while loading libjansson.so.4" >&2; exit 127'
says "a library is gone" 1 '^BAD   vs-run does not start: .*libjansson'
machine
rm "$tmp/build/bin/vs-run"
says "nothing is built" 0 '^note  nothing is built'
TMPDIR=/nowhere says "no folder for temporary files" 1 '^BAD   no folder can be made in /nowhere'
echo "$passed passed, $failed failed"
[ $failed = 0 ]
