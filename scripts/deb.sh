#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# deb.sh MAKE B VERSION JOBS - Debian packages of the last commit, in B/deb: `make dist` unpacked, packaging/debian put into it,
# dpkg-buildpackage and lintian. Errors of lintian fail it; what it warns of is shown. B/deb/log has everything.
#
# Who makes a package for others is its maintainer: DEBFULLNAME and DEBEMAIL, as for Debian's own tools. Without them the
# package is for this host: it names an address that leads nowhere else, and lintian is told so.
set -euo pipefail
cd "$(dirname "$0")/.."
make=$1 version=$3 jobs=$4
maintainer="${DEBFULLNAME:-The Verbscope authors} <${DEBEMAIL:-verbscope@localhost}>"
contact='^[^<>@,|&\]+ <[^<>@ |&\]+@[^<>@ |&\]+>$'
if [[ ! $maintainer =~ $contact ]]; then
	echo "deb: DEBFULLNAME and DEBEMAIL do not make a name and an address: $maintainer" >&2
	exit 2
fi
# The link of the shared library is in verbscope-dev; nobody uploads these, so they close no bug.
suppressed=initial-upload-closes-no-bugs,lacks-unversioned-link-to-shared-library
[ -n "${DEBEMAIL:-}" ] || suppressed+=,bogus-mail-host-in-debian-changelog,bogus-mail-host
mkdir -p "$2/deb"
out=$(cd "$2/deb" && pwd) abi=$(cut -d. -f1-2 VERSION)
src=$out/verbscope-$version
rm -rf "$src" "$out"/*.deb "$out"/*.changes "$out"/*.buildinfo

scripts/dist.sh "$2" "$version" >/dev/null
tar xzf "$2/verbscope-$version.tar.gz" -C "$out"
cp -r packaging/debian "$src/debian"
sed -i "s/@SHLIB@/libverbscope$abi/g; s|@MAINTAINER@|$maintainer|" "$src/debian/control"
mv "$src/debian/shlib.install" "$src/debian/libverbscope$abi.install"
echo "ABI=$abi" >"$src/VERSION.deb"
cat >"$src/debian/changelog" <<END
verbscope ($version) unstable; urgency=medium

  * Built from the sources; CHANGELOG.md says what is new.

 -- $maintainer  $(LC_ALL=C date -Ru -d "@${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || stat -c %Y VERSION)}")
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
rc=0
lintian --suppress-tags "$suppressed" \
	--fail-on error "$out"/*.changes >"$out/lintian" 2>&1 || rc=$?
sed '/^N:/d; /root privileges/d' "$out/lintian"
if [ $rc != 0 ]; then
	echo "deb: lintian found errors" >&2
	exit 1
fi
