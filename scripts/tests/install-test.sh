#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# install-test.sh MAKE B - `make install` puts a usable library below DESTDIR: a program that knows
# only pkg-config and <vs/...> compiles, links, builds a packet that it can parse again, and makes a device whose
# events it reads; programs find what belongs to them; what an older version had is gone; `make uninstall` leaves
# nothing, and takes nothing of others away. `make dist` packs every file, and the same bytes each time.
set -euo pipefail
make=$1 build=$2
dest=$(mkdir -p "$build" && cd "$build" && pwd)/install-test
rm -rf "$dest"
trap 'rm -rf "$dest"' EXIT

passed=0
holds() { # claim, command...
	if ! "${@:2}" >/dev/null; then
		echo "install-test: does not hold: $1" >&2
		exit 1
	fi
	passed=$((passed + 1))
}
nothing_in() { [ -z "$(find "$@" 2>/dev/null | tee /dev/stderr)" ]; }
target() { "$make" --no-print-directory B="$build" DESTDIR="$dest" PREFIX=/opt/vs "$1" >/dev/null; }

mkdir -p "$dest/opt/vs/share/man/man1" "$dest/opt/vs/share/verbscope"
touch "$dest/opt/vs/share/man/man1/other.1" "$dest/opt/vs/share/verbscope/old"
echo share/verbscope/old >"$dest/opt/vs/share/verbscope/installed"
target install
holds "a file of an older version goes" test ! -e "$dest/opt/vs/share/verbscope/old"
cat >"$dest/try.c" <<'EOF'
#include <string.h>
#include <vs/icrc.h>
#include <vs/pktio.h>
#include <vs/sim.h>
#include <vs/vst.h>
#include <vs/wire.h>

static int device(void)
{
	struct vs_event_log log;
	struct vs_sim_attr a = {.seed = 1};
	struct vs_dev_attr d = {0};
	struct vs_vst_reader *r;
	struct vs_event ev;
	struct vs_sim *sim;
	FILE *f = tmpfile();
	int err;

	vs_event_log_init(&log, 0);
	a.sink = vs_event_log_sink(&log, VS_LEVEL_CORE);
	sim = vs_sim_create(&a, &err);
	if (f == NULL || sim == NULL || vs_sim_add_host(sim, &d) != 0)
		return 5;
	vs_dev_set_link(vs_sim_dev(sim, 0), false);
	vs_sim_destroy(sim);
	if (vs_event_log_write(&log, &(struct vs_vst_header){.clock = "sim"}, f) != VS_OK)
		return 6;
	vs_event_log_free(&log);
	rewind(f);
	r = vs_vst_open(f, NULL);
	if (r == NULL || vs_vst_next(r, &ev, NULL) != 1 || ev.type != VS_EV_ASYNC || vs_vst_next(r, &ev, NULL) != 0)
		return 7;
	vs_vst_close(r);
	fclose(f);
	return 0;
}

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
	if (vs_capture_open("/nowhere", &(struct vs_io_error){0}) != NULL)
		return 4;
	return device();
}
EOF
export PKG_CONFIG_PATH=$dest/opt/vs/lib/pkgconfig
# shellcheck disable=SC2046 # several words are meant
${CC:-gcc} -std=c11 -Wall -Werror -o "$dest/try" "$dest/try.c" \
	$(pkg-config --define-variable=prefix="$dest/opt/vs" --cflags --libs verbscope)
"$dest/try"
rm "$dest/try" "$dest/try.c"
passed=$((passed + 1))

# Away from the sources, and without the build.
bin=$dest/opt/vs/bin
cd /
holds "vs-conform finds its cases" grep '^RSP-017' <("$bin/vs-conform" --list RSP)
holds "vs-run finds ref0" env HOME="$dest" "$bin/vs-run" --quiet -- true
holds "vs-lab finds its labs" grep '^  00 ' <(VS_LAB_DIR=$dest/labs "$bin/vs-lab" list)
for p in "$bin"/*; do
	holds "${p##*/} has a man page" test -f "$dest/opt/vs/share/man/man1/${p##*/}.1"
	holds "${p##*/} has a completion" test -f "$dest/opt/vs/share/bash-completion/completions/${p##*/}"
done
cd - >/dev/null

target uninstall
holds "uninstall takes nothing of others away" test -e "$dest/opt/vs/share/man/man1/other.1"
rm "$dest/opt/vs/share/man/man1/other.1"
holds "uninstall leaves no file" nothing_in "$dest" ! -type d
holds "nor a folder that it made" nothing_in "$dest/opt/vs" -mindepth 1 ! -path '*/share' ! -path '*/share/man' \
	! -path '*/man1' ! -path '*/share/verbscope'
rm -rf "$dest/opt"
some() { VERSION=1 DESTDIR=$dest PREFIX=/opt/vs scripts/install.sh "$1" VERSION:bin/a VERSION:share/verbscope/b/c >/dev/null; }
some install
some uninstall
holds "nor where nothing was before" nothing_in "$dest/opt" -mindepth 1

# The archive: what git knows, nothing else.
scripts/dist.sh "$build" "$(cat VERSION)" >/dev/null
tar=$build/verbscope-$(cat VERSION).tar.gz
sum=$(sha256sum <"$tar")
if [ -d .git ] && [ -z "$(git status --porcelain)" ]; then
	holds "make dist packs every file" cmp <(git ls-files | LC_ALL=C sort) \
		<(tar tzf "$tar" | grep -v '/$' | sed 's|^[^/]*/||' | LC_ALL=C sort)
fi
scripts/dist.sh "$build" "$(cat VERSION)" >/dev/null
holds "make dist makes the same bytes each time" test "$sum" = "$(sha256sum <"$tar")"
echo "$passed passed, 0 failed"
