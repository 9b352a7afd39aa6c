#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# install-test.sh MAKE B - `make install` puts a usable library below DESTDIR: a program that knows
# only pkg-config and <vs/wire.h> compiles, links and builds a packet that it can parse again;
# `make uninstall` leaves no file.
set -euo pipefail
make=$1 build=$2
dest=$(mkdir -p "$build" && cd "$build" && pwd)/install-test
rm -rf "$dest"
trap 'rm -rf "$dest"' EXIT

"$make" --no-print-directory B="$build" DESTDIR="$dest" PREFIX=/opt/vs install >/dev/null
cat >"$dest/try.c" <<'EOF'
#include <string.h>
#include <vs/icrc.h>
#include <vs/pktio.h>
#include <vs/wire.h>

int main(void)
{
	struct vs_pkt p, q;
	uint8_t buf[256], scratch[256];
	int n;

	vs_pkt_init(&p, VS_ENCAP_ROCEV2_IPV4, VS_OP_RC_ACKNOWLEDGE, true);
	p.bth.psn = 0xabcdef;
	if (vs_pkt_seal(&p, VS_SEAL_ALL, scratch, sizeof(scratch)) != 0)
		return 1;
	n = vs_pkt_build(&p, buf, sizeof(buf));
	if (n <= 0 || vs_pkt_parse(&q, VS_LINK_ETHERNET, 0, buf, (size_t)n, (size_t)n, 0) != 0)
		return 2;
	if (!vs_pkt_equal(&p, &q) || vs_icrc_check(&q, buf, NULL) != VS_CRC_GOOD)
		return 3;
	return vs_capture_open("/nowhere", &(struct vs_io_error){0}) == NULL ? 0 : 4;
}
EOF
export PKG_CONFIG_PATH=$dest/opt/vs/lib/pkgconfig
# shellcheck disable=SC2046 # several words are meant
${CC:-gcc} -std=c11 -Wall -Werror -o "$dest/try" "$dest/try.c" \
	$(pkg-config --define-variable=prefix="$dest/opt/vs" --cflags --libs verbscope)
"$dest/try"
rm "$dest/try" "$dest/try.c"
"$make" --no-print-directory B="$build" DESTDIR="$dest" PREFIX=/opt/vs uninstall >/dev/null
left=$(find "$dest" -type f)
if [ -n "$left" ]; then
	printf 'install-test: left after uninstall:\n%s\n' "$left" >&2
	exit 1
fi
echo "2 passed, 0 failed"
