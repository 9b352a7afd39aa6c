#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# agent.sh BUILD_FOLDER KERNEL FOLDER [HOST CAPTURE] - what vs-conform --agent starts: a guest with vs-agent on standard input and output. Its wire is
# the sockets FOLDER/guest.N (its own) and FOLDER/peer.N (vs-conform --peer unix:FOLDER/peer.%,remote=FOLDER/guest.%,...), where N
# is the process of vs-conform that it belongs to; its console is FOLDER/console.PID, and stays when it did not end in
# order. With HOST, N is that, the guest is 10.77.0.HOST, and CAPTURE has what its wire carried. A guest whose kernel dies ends this command with its last words, and vs-conform starts another one.
set -euo pipefail
build=${1:?which build folder?} kernel=${2:?which kernel?} folder=${3:?which folder?}
console=$folder/console.$$ n=${4:-${VS_WORKER:-0}} host=${4:-1} rc=0
# Who the peer is, the guest knows: nobody answers while a call of the verbs waits for an address.
peer=''
[ -n "${4:-}" ] || peer=vs.peer=$((n + 2))
dump=()
[ -z "${5:-}" ] || dump=(-object "filter-dump,id=dump,netdev=n0,file=$5")
# Nobody is there any more: a console with words of the kernel is kept.
trap 'case $(tail -n 1 "$console") in GUEST*) rm -f "$console" ;; esac; exit 143' TERM HUP INT
# Not exec: when this one is killed, boot.sh is told.
setpriv --pdeathsig TERM "$(dirname "$0")/boot.sh" -l "$console" -w "vs.serve=agent vs.ip4=10.77.0.$host/24 vs.ip6=fd77::$host/64 $peer" \
	"$build/rxe/$kernel" "$build/rxe/$kernel/guest.cpio" \
	-netdev "dgram,id=n0,local.type=unix,local.path=$folder/guest.$n,remote.type=unix,remote.path=$folder/peer.$n" \
	-device "virtio-net-pci,netdev=n0,host_mtu=4300,mac=52:54:00:00:00:0$host" "${dump[@]}" <&0 &
wait $! || rc=$?
[ $rc != 0 ] || rm -f "$console"
exit $rc
