#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# check-fresh-inside.sh root|sudo [--whole] - what check-fresh.sh does inside a fresh Debian root, as a person would who
# follows README. In short: git clone, make demo and make check-unit (--whole: make check) work at once, say what is
# missing to those who may not install it, and leave nothing behind in the clone. The last line is "N passed, N failed".
set -euo pipefail
way=$1 whole=${2:-}
demo_s=${FRESH_DEMO_SECONDS:-300}
tests=check-unit
[ -z "$whole" ] || tests=check
log=/var/tmp/step.log
passed=0 failed=0
times=()

say() { printf '== fresh: %s\n' "$*"; }

timed() { # what, command...: its output is shown, and kept in $log
	local what=$1 start rc=0
	shift
	say "$way: $what"
	start=$(date +%s)
	"$@" </dev/null 2>&1 | tee $log || rc=${PIPESTATUS[0]}
	took=$(($(date +%s) - start))
	times+=("$(printf '%-64s %5d s  %s' "$what" "$took" "$([ "$rc" = 0 ] && echo ok || echo "FAILED ($rc)")")")
	if [ "$rc" = 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
	return "$rc"
}

holds() { # claim, command...
	if "${@:2}"; then
		passed=$((passed + 1))
		times+=("$(printf '%-64s %7s  ok' "$1" '')")
	else
		failed=$((failed + 1))
		times+=("$(printf '%-64s %7s  FAILED' "$1" '')")
	fi
}

# In the user's clone.
as_user() { (cd /home/user/verbscope && exec setpriv --reuid=user --regid=user --init-groups env HOME=/home/user USER=user "$@"); }
as_root() { (cd /root/verbscope && exec "$@"); }

# A machine without any network but its own: there may be no ip(8) here, but there is a perl.
without_network() {
	# shellcheck disable=SC2016 # perl's own variables
	unshare --net bash -c 'perl -e '\''use Socket; $up = pack("a16s", "lo", 0x41); socket(S, AF_INET, SOCK_DGRAM, 0) && ioctl(S, 0x8914, $up) or die $!'\'' &&
		exec "$@"' bash "$@"
}
export -f as_user

# Exit code 2, and a line of it.
refuses() { # pattern, command...
	local pattern=$1 rc=0
	shift
	"$@" >$log.refused 2>&1 || rc=$?
	cat $log.refused
	[ $rc = 2 ] && grep -qE -- "$pattern" $log.refused
}

# make demo in time, with its last words.
demo() { # who, command...
	local took=0
	timed "$1: make demo" "${@:2}" || return 0
	holds "  in $demo_s s at most" test "$took" -le "$demo_s"
	holds "  says what to do next" grep -q 'Where to look next' $log
}

# git sees nothing that a step left behind.
clean_tree() { # as_root or as_user
	local left
	left=$("$1" git status --porcelain)
	[ -z "$left" ] || { say "files left behind:"; printf '%s\n' "$left"; return 1; }
}

prepare() { # packages...
	apt-get -qq update
	apt-get -qq install -y --no-install-recommends make git ca-certificates "$@" >/dev/null
	# What README says a person has; lists must be found old or empty by make deps, too.
	rm -rf /var/lib/apt/lists/*
	git -c safe.directory='*' clone --quiet /src /root/verbscope
	useradd --create-home --shell /bin/bash user
	git -c safe.directory='*' clone --quiet /src /home/user/verbscope
	chown -R user: /home/user/verbscope
	umount -l /src
}
export -f prepare

way_root() {
	timed "apt-get install make git; git clone" bash -ec prepare || return
	say "commit $(as_root git log -1 --format='%h %s')"
	timed "a user: make demo says what root has to install" refuses "su - -c .apt-get update && apt-get install .*libdeflate-dev" as_user make demo || true
	demo root as_root make demo
	timed "root: make $tests" as_root make $tests || true
	holds "  leaves the clone as it was" clean_tree as_root
	demo 'a user' as_user make demo
	timed "a user: make check-unit" as_user make check-unit || true
	holds "  leaves the clone as it was" clean_tree as_user
}

# On a terminal, where the question is asked, and answered.
on_a_terminal() { # answer, command: as user
	# shellcheck disable=SC2016 # expands in there
	printf '%s\n' "$1" | as_user script -qec "$2" /dev/null
}

way_sudo() {
	timed "apt-get install make git sudo; git clone" bash -ec 'prepare sudo' || return
	echo 'user ALL=(ALL) NOPASSWD: ALL' >/etc/sudoers.d/user
	timed "DEPS=no: make demo names what is missing" refuses "sudo apt-get update && sudo apt-get install .*libdeflate-dev" as_user make DEPS=no demo || true
	timed "no terminal: so it does" refuses "sudo apt-get update && sudo apt-get install .*libdeflate-dev" as_user make demo || true
	demo 'a user with sudo, who is asked' on_a_terminal y 'make demo'
	if [ -n "$whole" ]; then timed "a user with sudo: make deps" as_user make DEPS=yes deps || true; fi
	[ -n "$whole" ] || timed "a user with sudo: make deps-unit" as_user make DEPS=yes deps-unit || true
	demo "without network" without_network bash -c 'as_user make demo'
	timed "without network: make $tests" without_network bash -c "as_user make $tests" || true
	holds "  leaves the clone as it was" clean_tree as_user
	dpkg --purge --force-depends check libjansson-dev >/dev/null 2>&1
	timed "a package is gone: DEPS=no make check-unit names it" refuses "sudo apt-get install .*libjansson-dev check" as_user make DEPS=no check-unit || true
	umount -l /var/cache/apt/archives && mkdir -p /var/cache/apt/archives/partial # what is kept there would do
	timed "and without network make says that it failed" refuses "^deps: the installation failed" without_network bash -c 'as_user timeout 600 make DEPS=yes check-unit' || true
}

export DEBIAN_FRONTEND=noninteractive
"way_$way" || failed=$((failed + 1))
say "$way: times"
printf '   %s\n' "${times[@]}"
echo "$passed passed, $failed failed"
[ $failed = 0 ]
