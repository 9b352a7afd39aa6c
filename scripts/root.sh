# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# shellcheck shell=bash
#
# root.sh - a minimal Debian root, for checks that need a machine that has nothing. Sourced by check-fresh.sh and
# dissector/tests/trixie.sh. Which mirror, proxies and certificates it uses, this machine's apt says; without it,
# debootstrap does.

# Acquire:: settings that this machine's apt needs (proxies, certificates, old snapshots): only
# those that are not lists, and nothing about where packages are kept.
root_apt_settings() {
	apt-config dump | grep -E '^Acquire::(http|https|Check-|Retries|ForceIPv)[A-Za-z0-9:._-]* "[^"]*";$' | grep -v ' "";$' || true
}

# "deb URI RELEASE main" for every Debian source of this machine that is of this suite.
root_apt_sources() { # suite
	# shellcheck disable=SC2016 # apt's own variables
	apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' 2>/dev/null |
		awk -v suite="$1" '$2 ~ "^" suite "(-(security|updates))?(/.*)?$" && $3 == "main" { print "deb " $1 " " $2 " main" }' |
		sort -u
}

# The mirror of this suite, or one of another suite that has this, too. Nothing: debootstrap's own.
root_mirror() { # suite
	# shellcheck disable=SC2016 # apt's own variables
	apt-get indextargets --format '$(REPO_URI) $(RELEASE)' 'Created-By: Packages' 2>/dev/null |
		awk -v suite="$1" '$2 == suite { exact = $1; exit } $1 ~ /\/debian\/?$/ { other = other ? other : $1 } END { print exact ? exact : other }'
}

# What is known of another release is that of sid.
root_make() { # suite, folder, log, options of debootstrap
	local suite=$1 root=$2 log=$3 script=/usr/share/debootstrap/scripts/$1 sources
	shift 3
	[ -e "$script" ] || script=/usr/share/debootstrap/scripts/sid
	rm -rf --one-file-system "$root"
	mkdir -p "$root"
	if ! debootstrap --variant=minbase "$@" "$suite" "$root" "$(root_mirror "$suite")" "$script" >"$log" 2>&1; then
		tail -n 20 "$log"
		return 1
	fi
	sources=$(root_apt_sources "$suite")
	if [ -n "$sources" ]; then printf '%s\n' "$sources" >"$root/etc/apt/sources.list"; fi
	root_apt_settings >"$root/etc/apt/apt.conf.d/90host"
	cp /etc/resolv.conf "$root/etc/resolv.conf"
	printf '127.0.0.1 localhost\n' >"$root/etc/hosts" # the installer's, not debootstrap's: each machine has it
	if [ -d /etc/ssl/certs ]; then
		mkdir -p "$root/etc/ssl"
		cp -rL /etc/ssl/certs "$root/etc/ssl/" 2>/dev/null || true
	fi
	rm -rf "${root:?}"/var/lib/apt/lists/* # a fresh machine's are empty or old
}

# In mount and pid namespaces of their own: $root gets what a running machine has.
root_mount() { # folder
	mount --make-rprivate /
	mount --bind "$1" "$1"
	mkdir -p "$1"/{proc,sys,dev,old}
	mount -t proc proc "$1/proc"
	mount --rbind /sys "$1/sys"
	mount --rbind /dev "$1/dev"
	mount -t tmpfs tmpfs "$1/tmp"
}

# Makes it the root of everything, and runs a command there with what a fresh login would have, the names under which a
# proxy may be found, and VARIABLE=VALUE before the command. pivot_root, so that user namespaces work inside, as they do
# on a real machine.
root_enter() { # folder, [VARIABLE=VALUE...] command...
	cd "$1" || return
	shift
	pivot_root . old
	cd /
	exec env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=dumb LANG=C.UTF-8 \
		${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} \
		/bin/bash -c 'umount -l /old && rmdir /old && exec "$@"' root env "$@"
}

# How others are told: scripts that need it begin themselves anew.
root_namespaces() { # command...
	if [ "$(id -u)" != 0 ]; then
		echo "${0##*/}: needs root (debootstrap, mount, pivot_root): sudo make ${MAKE_TARGET:-check-fresh}" >&2
		return 2
	fi
	unshare --mount --pid --fork --kill-child --propagation private "$@"
}
