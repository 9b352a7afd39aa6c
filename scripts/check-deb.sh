#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# check-deb.sh - inside the fresh root that check-fresh.sh --deb makes: the packages of /debs are installed by apt, every program, tshark,
# Wireshark and the libraries are used as an ordinary user, then all is removed again: nothing of it may be left.
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive
passed=0 failed=0
capture=/tmp/loss.pcap

holds() { # claim, command...
	if "${@:2}" >/tmp/out 2>&1; then
		passed=$((passed + 1))
		echo "ok      $1"
	else
		failed=$((failed + 1))
		echo "FAILED  $1"
		sed 's/^/    /' /tmp/out | tail -n 20
	fi
}
as_user() { setpriv --reuid=user --regid=user --init-groups env HOME=/home/user USER=user "$@"; }
prints() { # pattern, command...
	"${@:2}" >/tmp/printed 2>&1 || true
	cat /tmp/printed
	grep -qE -- "$1" /tmp/printed
}

apt-get -qq update
cp /src/pcaps/recorded/loss_send_req_mid.pcap $capture
cp /src/transport/verbs/examples/two_devices.c /tmp/two_devices.c
umount -l /src
useradd --create-home user
holds "apt installs the packages" apt-get install -y --no-install-recommends /debs/*.deb
# What a person may have beside them.
holds "tools to use them with" apt-get install -y --no-install-recommends tshark wireshark gcc libc6-dev libibverbs-dev ibverbs-utils pkg-config bash-completion
mapfile -t packages < <(dpkg-deb -f /debs/verbscope_*.deb Package; for f in /debs/*.deb; do dpkg-deb -f "$f" Package; done | sort -u)
mapfile -t packages < <(printf '%s\n' "${packages[@]}" | grep -v dbgsym | sort -u)

cd /home/user
for p in vs-agent vs-conform vs-lab vs-pcap vs-run vs-trace vs-tshark vs-wireshark; do
	holds "$p --version" prints '[0-9]+\.[0-9]+' as_user $p --version
	holds "$p has a man page" test -e /usr/share/man/man1/$p.1.gz
	holds "$p has a completion" as_user bash -c ". /usr/share/bash-completion/bash_completion; _completion_loader $p; complete -p $p"
done
holds "vs-pcap finds the loss" prints 'psn_gap|lost|NAK' as_user vs-pcap check $capture
holds "vs-run runs ibv_devinfo on ref0" prints 'hca_id:.*ref0' as_user vs-run --quiet -- ibv_devinfo
holds "vs-conform on the simulator" as_user vs-conform --quiet RSP
holds "vs-conform on ref0, through libibverbs" as_user vs-conform --quiet --device ref0 RSP-001 RSP-017
holds "vs-conform through an agent" as_user vs-conform --quiet --agent vs-agent --device ref0 RSP-001
holds "vs-lab has what it needs" as_user vs-lab doctor
as_user gcc -o /home/user/two /tmp/two_devices.c -libverbs
holds "vs-trace records a program" as_user vs-trace run --sim -o /home/user/trace -- ./two
holds "vs-trace shows it" prints 'post_send|WRITE|SEND' as_user vs-trace ladder --ascii /home/user/trace
holds "tshark has the plugin" prints 'verbscope.so' as_user tshark -G plugins
holds "tshark decodes" prints 'NAK PSN sequence' as_user tshark -r $capture -Y 'rdma.aeth.type == 3'
holds "vs-tshark decodes" prints 'NAK PSN sequence' as_user vs-tshark -r $capture -Y 'rdma.aeth.type == 3'
holds "vs-tshark decodes for root" prints 'NAK PSN sequence' vs-tshark -r $capture -Y 'rdma.aeth.type == 3'
# Wireshark itself: a window on a display without a screen, and the plugin in its memory.
cat >/tmp/window <<'END'
#!/bin/bash
export QT_QPA_PLATFORM=offscreen XDG_RUNTIME_DIR=/tmp/run-user
mkdir -p -m 700 $XDG_RUNTIME_DIR
"$@" &
for i in $(seq 60); do
	if grep -qs verbscope.so /proc/$!/maps; then kill $!; exit 0; fi
	sleep 1
done
kill $!
exit 1
END
chmod +x /tmp/window
holds "Wireshark loads the plugin" as_user /tmp/window wireshark $capture
rm -rf /tmp/run-user
holds "vs-wireshark too" as_user /tmp/window vs-wireshark $capture

cat >/tmp/try.c <<'END'
#include <vs/wire.h>
int main(void)
{
	struct vs_pkt p;
	uint8_t b[256], s[256];

	vs_pkt_init(&p, VS_ENCAP_ROCEV2_IPV4, VS_OP_RC_ACKNOWLEDGE, true);
	return vs_pkt_seal(&p, VS_SEAL_ALL, s, sizeof(s)) != 0 || vs_pkt_build(&p, b, sizeof(b)) <= 0;
}
END
# shellcheck disable=SC2046 # several words are meant
holds "a program with the shared library" gcc -o /tmp/try /tmp/try.c $(pkg-config --cflags --libs verbscope)
holds "which it needs" prints 'libverbscope.so' readelf -d /tmp/try
holds "and which runs" as_user /tmp/try
# shellcheck disable=SC2046
holds "a program with the static ones" gcc -static -o /tmp/try /tmp/try.c $(pkg-config --cflags verbscope) -l:libverbscope.a \
	-l:libvs-judge.a -l:libvs-wire.a -ldeflate
holds "which runs" as_user /tmp/try

holds "the plugin fits one minor version" prints 'wireshark-common \(<< [0-9]+\.[0-9]+~\)' dpkg -s verbscope-wireshark
holds "ref0 fits the installed interface" prints 'libibverbs1 \(<< [0-9]+~\)' dpkg -s verbscope-ref0
for p in "${packages[@]}"; do dpkg -L "$p"; done | sort -u >/tmp/theirs
holds "apt removes them" apt-get purge -y "${packages[@]}"
while read -r f; do
	# Folders of others stay, and what is a link to one.
	if { [ -e "$f" ] || [ -L "$f" ]; } && ! dpkg -S "$f" >/dev/null 2>&1 && [ "$(readlink -f "$f")" != / ]; then echo "$f"; fi
done </tmp/theirs >/tmp/left
find / -xdev \( -path /debs -o -path /proc -o -path /sys -o -path /tmp -o -path /home -o -path /var/cache -o -path /var/log \) -prune -o \
	\( -iname '*verbscope*' -o -name 'vs-*' \) -print >>/tmp/left
holds "nothing is left" bash -c '! grep . /tmp/left'
holds "in the user's folder only what the user's programs write" bash -c '! find /home/user -path "*/.config/*" -name "*.so" | grep .'
echo "$passed passed, $failed failed"
[ $failed = 0 ]
