#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# deb.sh MAKE B VERSION JOBS - Debian packages of the last commit, in B/deb: `make dist` unpacked, packaging/debian put into it,
# dpkg-buildpackage and lintian. Errors of lintian fail it; what it warns of is shown. B/deb/log has everything.
set -euo pipefail
cd "$(dirname "$0")/.."
make=$1 version=$3 jobs=$4
mkdir -p "$2/deb"
out=$(cd "$2/deb" && pwd) abi=$(cut -d. -f1-2 VERSION)
src=$out/verbscope-$version
rm -rf "$src" "$out"/*.deb "$out"/*.changes "$out"/*.buildinfo

scripts/dist.sh "$2" "$version" >/dev/null
tar xzf "$2/verbscope-$version.tar.gz" -C "$out"
cp -r packaging/debian "$src/debian"
sed -i "s/@SHLIB@/libverbscope$abi/g" "$src/debian/control"
mv "$src/debian/shlib.install" "$src/debian/libverbscope$abi.install"
echo "ABI=$abi" >"$src/VERSION.deb"
cat >"$src/debian/changelog" <<END
verbscope ($version) unstable; urgency=medium

  * Built from the sources; CHANGELOG.md says what is new.

 -- The Verbscope authors <verbscope@localhost>  $(LC_ALL=C date -Ru -d "@${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || stat -c %Y VERSION)}")
END
echo "deb: building; the log is $out/log"
unset MAKEFLAGS MFLAGS MAKELEVEL
if ! (cd "$src" && DEB_BUILD_OPTIONS="parallel=$jobs nocheck" MAKE="$make" dpkg-buildpackage --build=binary --no-sign) >"$out/log" 2>&1; then
	tail -n 30 "$out/log" >&2
	echo "deb: dpkg-buildpackage failed" >&2
	exit 1
fi
rm -rf "$src"
(cd "$out" && ls -1 ./*.deb)
# Nobody uploads these, so they name no address and close no bug; the link of the shared library is in verbscope-dev.
rc=0
lintian --suppress-tags bogus-mail-host-in-debian-changelog,bogus-mail-host,initial-upload-closes-no-bugs,lacks-unversioned-link-to-shared-library \
	--fail-on error "$out"/*.changes >"$out/lintian" 2>&1 || rc=$?
sed '/^N:/d' "$out/lintian"
if [ $rc != 0 ]; then
	echo "deb: lintian found errors" >&2
	exit 1
fi
