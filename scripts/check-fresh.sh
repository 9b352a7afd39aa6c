#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# check-fresh.sh - does README tell the truth on a machine that has nothing? A minimal Debian 12 is
# made by debootstrap in build/fresh, entered by pivot_root (so that user namespaces work inside, as
# they do on a real machine), and gets make, git and a clone of this repository. Then:
#
#   make demo         as root: installs what it needs by itself
#   make demo         again, as an ordinary user: nothing to install
#   make check-unit   as root, then as that user
#
#   scripts/check-fresh.sh [MAKE TARGET...]   instead of the default list
#   FRESH_INSIDE=SCRIPT scripts/check-fresh.sh   SCRIPT inside instead, with FRESH_DEBS (a folder) as /debs
#
# Needs root. What is tested is the last commit. Mirror, proxy and certificates are those of this
# machine's apt. Packages are kept in build/fresh-cache for the next time. All mounts live in a mount
# namespace of their own and are gone when it ends, however it ends.
set -euo pipefail
cd "$(dirname "$0")/.."
repo=$PWD root=$PWD/build/fresh cache=$PWD/build/fresh-cache suite=bookworm
self=scripts/check-fresh.sh

say() { printf '== fresh: %s\n' "$*"; }

# Acquire:: settings that this machine's apt needs (proxies, certificates, old snapshots): only
# those that are not lists, and nothing about where packages are kept.
apt_settings() {
	apt-config dump | grep -E '^Acquire::(http|https|Check-|Retries|ForceIPv)[A-Za-z0-9:._-]* "[^"]*";$' | grep -v ' "";$' || true
}

# "deb URI RELEASE main" for every Debian source of this machine that is of our suite.
apt_sources() {
	# shellcheck disable=SC2016 # apt's own variables
	apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' 2>/dev/null |
		awk -v suite=$suite '$2 ~ "^" suite "(-(security|updates))?(/.*)?$" && $3 == "main" { print "deb " $1 " " $2 " main" }' |
		sort -u
}

bootstrap() {
	local sources mirror
	sources=$(apt_sources)
	mirror=$(awk -v suite=$suite '$3 == suite { print $2; exit }' <<<"$sources")
	mirror=${mirror:-http://deb.debian.org/debian}
	rm -rf --one-file-system "$root"
	mkdir -p "$root" "$cache/debootstrap" "$cache/apt/partial"
	debootstrap --variant=minbase --cache-dir="$cache/debootstrap" $suite "$root" "$mirror" >"$cache/debootstrap.log" || {
		tail -n 20 "$cache/debootstrap.log"
		return 1
	}
	if [ -n "$sources" ]; then printf '%s\n' "$sources" >"$root/etc/apt/sources.list"; fi
	apt_settings >"$root/etc/apt/apt.conf.d/90host"
	cp /etc/resolv.conf "$root/etc/resolv.conf"
	if [ -d /etc/ssl/certs ]; then
		mkdir -p "$root/etc/ssl"
		cp -rL /etc/ssl/certs "$root/etc/ssl/" 2>/dev/null || true
	fi
	rm -rf "${root:?}"/var/lib/apt/lists/* # a fresh machine's are empty or old
}

# Inside the new mount and pid namespaces: make $root the root of everything.
enter() {
	mount --make-rprivate /
	mount --bind "$root" "$root"
	mkdir -p "$root"/{proc,sys,dev,old,src,var/cache/apt/archives}
	mount -t proc proc "$root/proc"
	mount --rbind /sys "$root/sys"
	mount --rbind /dev "$root/dev"
	mount -t tmpfs tmpfs "$root/tmp"
	mount --bind "$cache/apt" "$root/var/cache/apt/archives"
	mount --bind "$repo" "$root/src"
	cp "$repo/${FRESH_INSIDE:-$self}" "$root/check-fresh.sh"
	if [ -n "${FRESH_DEBS:-}" ]; then
		mkdir -p "$root/debs"
		cp "$repo/$FRESH_DEBS"/*.deb "$root/debs"
	fi
	cd "$root"
	pivot_root . old
	cd /
	# Only what a fresh login would have, and the names under which a proxy may be found.
	exec env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=dumb LANG=C.UTF-8 \
		${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} \
		/bin/bash /check-fresh.sh --inside "$@"
}

timed() { # what, command...
	local what=$1 start rc=0
	shift
	say "$what"
	start=$(date +%s)
	"$@" </dev/null || rc=$?
	times+=("$(printf '%-34s %4d s  %s' "$what" $(($(date +%s) - start)) "$([ $rc = 0 ] && echo ok || echo "FAILED ($rc)")")")
	[ $rc = 0 ] || failed=$((failed + 1))
	passed=$((passed + (rc == 0)))
	return $rc
}

as_user() { setpriv --reuid=user --regid=user --init-groups env HOME=/home/user USER=user "$@"; }

# git sees nothing that a step left behind. Arguments: a prefix for git (as_user).
clean_tree() {
	local left
	left=$("$@" git status --porcelain)
	[ -z "$left" ] || { say "files left behind in $PWD:"; printf '%s\n' "$left"; return 1; }
}

prepare() {
	export DEBIAN_FRONTEND=noninteractive
	apt-get -qq update
	apt-get -qq install -y --no-install-recommends make git ca-certificates >/dev/null
	# What README says a person has; lists must be found old or empty by make deps, too.
	rm -rf /var/lib/apt/lists/*
	git -c safe.directory='*' clone --quiet /src /root/verbscope
	useradd --create-home user
	git -c safe.directory='*' clone --quiet /src /home/user/verbscope
	chown -R user: /home/user/verbscope
	umount -l /src
}

# Before anything is installed, a user who can't install gets the command and exit 2.
user_is_told() {
	local rc=0 out
	out=$(cd /home/user/verbscope && as_user make demo 2>&1) || rc=$?
	printf '%s\n' "$out"
	[ $rc = 2 ] && grep -q "su - -c .apt-get update && apt-get install .*libdeflate-dev" <<<"$out"
}

inside() {
	local step failed=0 passed=0
	local -a times=()
	umount -l /old
	rmdir /old
	if timed "apt-get install make git; git clone" bash /check-fresh.sh --prepare; then
		cd /root/verbscope
		say "commit $(git log -1 --format='%h %s')"
		timed "user: make demo says what is missing" user_is_told || true
		for step in "$@"; do
			timed "root: make $step" make "$step" || true
			clean_tree || failed=$((failed + 1))
		done
		cd /home/user/verbscope
		for step in "$@"; do
			timed "user: make $step" as_user make "$step" || true
		done
		clean_tree as_user || failed=$((failed + 1))
	fi
	say "times"
	printf '   %s\n' "${times[@]}"
	echo "$passed passed, $failed failed"
	[ $failed = 0 ]
}

case ${1:-} in
--namespace)
	shift
	say "debootstrap $suite"
	start=$(date +%s)
	bootstrap
	say "debootstrap took $(($(date +%s) - start)) s"
	enter "$@"
	;;
--prepare) prepare ;;
--inside)
	shift
	inside "$@"
	;;
*)
	if [ "$(id -u)" != 0 ]; then
		echo "check-fresh: needs root (debootstrap, mount, pivot_root): sudo make check-fresh" >&2
		exit 2
	fi
	[ $# -gt 0 ] || set -- demo check-unit
	if [ -n "$(git status --porcelain 2>/dev/null)" ]; then
		say "note: the working tree has changes; only what is committed is tested"
	fi
	mkdir -p build
	rc=0
	unshare --mount --pid --fork --kill-child --propagation private "$self" --namespace "$@" || rc=$?
	rm -rf --one-file-system "$root"
	exit $rc
	;;
esac
