#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# check.sh BUILD_FOLDER KERNEL... - make check-rxe: for each kernel, programs on rxe alone (does the guest work at all?). What went
# wrong is shown with the guest's console. Nothing is left running, however this ends.
set -euo pipefail
export LC_ALL=C
build=$(cd "${1:?which build folder?}" && pwd)
shift
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=guest.sh
. "$here/guest.sh"
tmp=$(mktemp -d)
trap 'guest_kill; rm -rf "$tmp"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
passed=0 failed=0
mkdir -p "$build/check-rxe"

result() { # name, exit code, file of output
	if [ "$2" = 0 ]; then
		echo "ok   $1"
		passed=$((passed + 1))
		return
	fi
	echo "FAIL $1 ($2)"
	tail -n 20 "$3" | sed 's/^/     | /'
	failed=$((failed + 1))
}

# A device and a program of rdma-core: two processes of one guest.
alone() { # kernel
	local rc=0 out=$tmp/$1.out log=$build/rxe/$1/console.log
	{
		guest_start -l "$log" "$build/rxe/$1" "$build/rxe/$1/guest.cpio" \
			-netdev "dgram,id=n0,local.type=unix,local.path=$tmp/guest,remote.type=unix,remote.path=$tmp/peer" \
			-device virtio-net-pci,netdev=n0,host_mtu=4300,mac=52:54:00:00:00:01 &&
			guest_run 'ibv_rc_pingpong -d rxe0 -g 1 -c -n 100 & sleep 1; ibv_rc_pingpong -d rxe0 -g 1 -c -n 100 10.77.0.1' &&
			guest_stop
	} >"$out" 2>&1 || rc=$?
	guest_kill
	[ $rc = 0 ] || tr -d '\r' <"$log" | tail -n 20 >>"$out"
	result "rxe of $(cat "$build/rxe/$1/release") runs ibv_rc_pingpong" $rc "$out"
}

for kernel; do alone "$kernel"; done
echo "$passed passed, $failed failed" | tee "$build/check-rxe/summary"
[ $failed = 0 ]
