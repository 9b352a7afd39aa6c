#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# dist.sh B VERSION - packs the sources into B/verbscope-VERSION.tar.gz: of a clone the last commit, of an unpacked
# archive its files. The same files give the same bytes.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1 name=verbscope-$2
out=$build/$name.tar.gz
mkdir -p "$build"
trap 'rm -f "$out.tmp"' EXIT
if [ -e .git ] && git rev-parse --git-dir >/dev/null 2>&1; then
	[ -z "$(git status --porcelain)" ] || echo "dist: the working tree has changes; only what is committed is packed" >&2
	git archive --format=tar --prefix="$name/" HEAD | gzip -9n >"$out.tmp"
else
	scripts/sources.sh all | tar --create --no-recursion --files-from=- --transform="flags=r;s|^|$name/|" \
		--sort=name --mtime="@${SOURCE_DATE_EPOCH:-0}" --owner=0 --group=0 --numeric-owner --format=ustar |
		gzip -9n >"$out.tmp"
fi
mv "$out.tmp" "$out"
echo "$out"
