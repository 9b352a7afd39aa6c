#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# fetch-kernel.sh KERNEL FOLDER - Debian's kernel 6.1 (Debian 12) or 6.12 (Debian 13), unpacked into FOLDER and not installed:
#
#   release   its full name, 6.1.0-57-amd64
#   vmlinux   the kernel, uncompressed: QEMU enters it directly (PVH), which saves three seconds of unpacking itself
#   lib/      the modules that a guest can need, with their dependencies (depmod)
#
# Packages come through an apt of its own (lists, cache and sources in FOLDER; mirror, keys and proxies are those of this
# machine), so that nothing of the host's apt changes, and no privilege is needed. A FOLDER that is complete is left alone.
set -euo pipefail
export LC_ALL=C
kernel=${1:?which kernel: 6.1 or 6.12?} folder=${2:?into which folder?}
case $kernel in
6.1) suite=bookworm ;;
6.12) suite=trixie ;;
*)
	echo "fetch-kernel: $kernel is neither 6.1 nor 6.12" >&2
	exit 2
	;;
esac
[ ! -e "$folder/complete" ] || exit 0
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
apt=$folder/apt

fail() {
	echo "fetch-kernel: $*" >&2
	exit 2
}

# "deb URI SUITE main" for the release and its security updates, from the mirrors that this machine uses for its own.
sources() {
	local archive security
	# shellcheck disable=SC2016 # apt's own variables
	read -r archive security < <(apt-get indextargets --format '$(REPO_URI) $(RELEASE)' 'Created-By: Packages' 2>/dev/null |
		awk '$1 ~ /debian\/?$/ && $2 !~ /-/ { a = $1 } $2 ~ /-security/ { s = $1 } END { print (a ? a : "-"), (s ? s : "-") }') || true
	[ "${archive:--}" != - ] || archive=http://deb.debian.org/debian
	[ "${security:--}" != - ] || security=http://deb.debian.org/debian-security
	echo "deb $archive $suite main"
	echo "deb $security $suite-security main"
}

# apt-get or apt-cache, with everything that it writes below $apt.
private() {
	local program=$1
	shift
	"$program" -q -o Dir::State="$apt/state" -o Dir::State::status="$apt/status" -o Dir::Cache="$apt/cache" \
		-o Dir::Etc::SourceList="$apt/sources.list" -o Dir::Etc::SourceParts=/dev/null \
		-o Dir::Etc::Preferences=/dev/null -o Dir::Etc::PreferencesParts=/dev/null \
		-o APT::Architecture=amd64 -o APT::Architectures=amd64 -o APT::Sandbox::User="$(id -un)" \
		-o Acquire::Languages=none -o Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false "$@"
}

download() { # the package's name goes to standard output
	local package
	mkdir -p "$apt"/{state/lists/partial,cache/archives/partial}
	: >"$apt/status"
	sources >"$apt/sources.list"
	private apt-get update >"$apt/log" 2>&1 || fail "apt-get update of $suite failed: $(tail -n 1 "$apt/log")"
	package=$(private apt-cache depends linux-image-amd64 | awk '$1 == "Depends:" { print $2; exit }')
	[ -n "$package" ] || fail "$suite has no linux-image-amd64"
	(cd "$apt" && private apt-get download "$package" >>log 2>&1) || fail "$package can't be downloaded: $(tail -n 1 "$apt/log")"
	echo "$package"
}

# Of 400 MB what guests can need. In Debian 12 modules lie in /lib, later in /usr/lib.
unpack() { # .deb, release
	local k=./lib/modules/$2
	rm -rf "${folder:?}/boot" "${folder:?}/lib"
	dpkg-deb --fsys-tarfile "$1" |
		tar -x -C "$folder" --transform 's|^\./usr/lib/|./lib/|' --wildcards "./boot/vmlinuz-*" "*/modules.builtin*" "*/modules.order" \
			"*/kernel/drivers/virtio/*" "*/kernel/drivers/net/"{veth,virtio_net,net_failover,tun,dummy}".ko*" \
			"*/kernel/drivers/char/*" "*/kernel/drivers/infiniband/"{core,sw}"/*" \
			"*/kernel/net/"{core,ipv4,ipv6}"/*" "*/kernel/lib/*" "*/kernel/crypto/*" "*/kernel/arch/x86/crypto/*" "*/kernel/fs/configfs/*"
	[ -d "$folder/$k/kernel" ] || fail "$1 has no modules in $k"
	depmod -b "$folder" "$2" 2>"$folder/depmod.log"
}

package=$(download)
release=${package#linux-image-}
echo "fetch-kernel: $package"
unpack "$apt/$package"_*.deb "$release"
"$here/vmlinux.sh" "$folder/boot/vmlinuz-$release" "$folder/vmlinux"
echo "$release" >"$folder/release"
rm -rf "$apt" "${folder:?}/boot"
: >"$folder/complete"
