#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# check-fresh.sh - does README tell the truth on a machine that has nothing? A minimal Debian 12 is made by debootstrap in
# build/fresh-base, copied to build/fresh for each way to begin, and entered (root.sh). What is done there with a
# clone of the last commit says check-fresh-inside.sh:
#
#   root   root installs by make demo; then an ordinary user who may not install anything
#   sudo   an ordinary user with sudo; then without network, and without a package that is needed
#
#   check-fresh.sh [--whole] [root|sudo...]   both; --whole: make check, not make check-unit alone
#   check-fresh.sh --deb FOLDER               the packages of FOLDER, with check-deb.sh
#
# FRESH_DEMO_SECONDS: what make demo may take there (300).
#
# Needs root. Packages are kept in build/fresh-cache for the next time. All mounts live in mount namespaces of their own and
# are gone when it ends, however it ends.
set -euo pipefail
cd "$(dirname "$0")/.."
repo=$PWD root=$PWD/build/fresh base=$PWD/build/fresh-base cache=$PWD/build/fresh-cache
suite=bookworm self=scripts/check-fresh.sh
# shellcheck source=scripts/root.sh
. scripts/root.sh

say() { printf '== fresh: %s\n' "$*"; }

make_base() {
	local start
	say "debootstrap $suite"
	start=$(date +%s)
	mkdir -p "$cache/debootstrap" "$cache/apt/partial"
	root_make $suite "$base" "$cache/debootstrap.log" --cache-dir="$cache/debootstrap"
	say "debootstrap took $(($(date +%s) - start)) s"
}

enter() { # script, arguments, inside a copy of the base
	rm -rf --one-file-system "$root"
	cp -a --reflink=auto "$base" "$root"
	root_mount "$root"
	mkdir -p "$root"/{src,var/cache/apt/archives}
	mount --bind "$cache/apt" "$root/var/cache/apt/archives"
	mount --bind "$repo" "$root/src"
	if [ -n "${FRESH_DEBS:-}" ]; then
		mkdir "$root/debs"
		cp "$FRESH_DEBS"/*.deb "$root/debs"
	fi
	cp "scripts/$1" "$root/inside.sh"
	root_enter "$root" ${FRESH_DEMO_SECONDS:+FRESH_DEMO_SECONDS="$FRESH_DEMO_SECONDS"} bash /inside.sh "${@:2}"
}

case ${1:-} in
--make-base) make_base && exit ;;
--enter) enter "${@:2}" ;;
esac

export MAKE_TARGET=check-fresh
whole='' runs=()
case ${1:-} in
--deb)
	MAKE_TARGET=check-deb
	FRESH_DEBS=$(cd "$2" && pwd)
	export FRESH_DEBS
	;;
*)
	if [ "${1:-}" = --whole ]; then
		whole=--whole MAKE_TARGET=check-fresh-whole
		shift
	fi
	runs=("$@")
	[ $# -gt 0 ] || runs=(root sudo)
	;;
esac
if [ -n "$(git status --porcelain 2>/dev/null)" ]; then
	say "note: the working tree has changes; only what is committed is tested"
fi
mkdir -p build
trap 'rm -rf --one-file-system "$root" "$base"' EXIT
root_namespaces "$self" --make-base
rc=0
if [ ${#runs[@]} = 0 ]; then
	root_namespaces "$self" --enter check-deb.sh || rc=1
fi
for run in "${runs[@]}"; do
	root_namespaces "$self" --enter check-fresh-inside.sh "$run" $whole || rc=1
done
exit $rc
