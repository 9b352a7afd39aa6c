#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# boot.sh [-c CPUS] [-m MB] [-l LOG] [-w WORDS] KERNEL_FOLDER INITRAMFS [QEMU OPTIONS] - a guest under QEMU, by emulation (TCG), with no
# privilege and no network but what the options give it. Standard input and output are the guest's port
# "verbscope" (see init); when standard input ends, so does the guest.
#
#   -l LOG    where the serial console goes (default: /dev/null)
#   -w WORDS  for the kernel's command line
#
# What makes an emulated processor slow is left out: strings that are moved byte by byte (erms, fsrm), pages that are cleared when
# they are taken, too, and what guards a real processor against its own guesses.
#
# Exit codes: 0 the guest switched itself off; 3 its kernel died, with its last words on standard error; 4 it was not ready in
# time (VS_GUEST_BOOT, 60 s) or QEMU failed. QEMU dies with this script, however that ends.
set -euo pipefail
cpus=1 mb=512 log=/dev/null words=''
while getopts c:m:l:w: o; do
	case $o in
	c) cpus=$OPTARG ;;
	m) mb=$OPTARG ;;
	l) log=$OPTARG ;;
	w) words=$OPTARG ;;
	*) exit 2 ;;
	esac
done
shift $((OPTIND - 1))
kernel=${1:?which kernel folder?} initramfs=${2:?which initramfs?}
shift 2
limit=${VS_GUEST_BOOT:-60}

# The console is read while the guest runs, so it is always a file.
tmp=$(mktemp -d) qemu='' feeder=''
console=$log
[ "$log" != /dev/null ] || console=$tmp/console
: >"$console"
# shellcheck disable=SC2317 # called by the trap
cleanup() {
	trap '' INT TERM HUP # one signal may come twice, from the terminal and from who called this
	[ -z "$qemu" ] || { kill -KILL "$qemu" && wait "$qemu"; } 2>/dev/null || true
	[ -z "$feeder" ] || kill "$feeder" 2>/dev/null || true
	rm -rf "$tmp"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# A guest that writes into a port whose other side has hung up waits for ever. So what QEMU reads has no end while the guest
# starts, and when the caller's input has ended, the guest has 10 s.
# Who boots has no hurry, other guests have; when it is there, it is as they are. (Only root may take a priority up again.)
usual=$(nice) modest=()
[ "$(id -u)" != 0 ] || modest=(nice -n 4)
mkfifo "$tmp/in"
exec 4<>"$tmp/in"
setpriv --pdeathsig KILL "${modest[@]}" qemu-system-x86_64 -accel tcg,thread=multi -cpu max,-erms,-fsrm -machine q35 -nodefaults -no-user-config -no-reboot \
	-m "$mb" -smp "$cpus" -display none -monitor none -serial "file:$console" \
	-kernel "$kernel/vmlinux" -initrd "$initramfs" \
	-append "console=ttyS0 quiet loglevel=3 init_on_alloc=0 mitigations=off oops=panic panic=-1 no_timer_check rdinit=/init $words" \
	-chardev stdio,id=port,signal=off -device virtio-serial-pci -device virtserialport,chardev=port,name=verbscope \
	"$@" <"$tmp/in" 2>"$tmp/errors" 4>&- &
qemu=$!

until grep -q '^GUEST READY' "$console"; do
	if ! kill -0 $qemu 2>/dev/null; then break; fi
	if [ "$SECONDS" -ge "$limit" ]; then
		echo "boot: the guest was not ready within $limit s" >&2
		exit 4
	fi
	sleep 0.1
done
for t in /proc/"$qemu"/task/*; do renice -n "$usual" -p "${t##*/}" >/dev/null 2>&1 || true; done
setpriv --pdeathsig TERM cat <&0 >"$tmp/in" 4>&- &
feeder=$!
exec 4>&-
rc=0 ended=''
wait -n -p ended $qemu $feeder || rc=$?
if [ "$ended" = $feeder ]; then
	rc=0 feeder=''
	timeout 10 tail --pid=$qemu -f /dev/null || exit 0
	wait $qemu || rc=$?
fi
qemu=''
if grep -q '^\[.*Kernel panic' "$console"; then
	echo "boot: the guest's kernel died: $("$(dirname "$0")/last-words.sh" "$console")" >&2
	exit 3
fi
if [ $rc != 0 ]; then
	echo "boot: QEMU ended with $rc: $(tail -n 1 "$tmp/errors")" >&2
	exit 4
fi
grep -q '^GUEST READY' "$console" || {
	echo "boot: the guest ended before it was ready: $(tail -n 1 "$console" | tr -d '\r')" >&2
	exit 4
}
