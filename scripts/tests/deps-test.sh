#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# shellcheck disable=SC2016,SC2034 # claims are expanded by check(), which reads rc
#
# deps-test.sh - who is asked, who installs, who gets exit 2: scripts/deps.sh on a Debian made of
# stand-ins. dpkg-query reads a file of installed packages, apt-get appends to it and to a log,
# sudo and id play the user. script(1) gives a terminal where one is needed.
set -euo pipefail
deps=$(cd "$(dirname "$0")/.." && pwd)/deps.sh
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
mkdir "$tmp/bin" "$tmp/sudo" "$tmp/tools"
# The tools of this machine, but for its sudo: it may have one.
ln -s -t "$tmp/tools" /usr/bin/* 2>/dev/null || true
ln -s -t "$tmp/tools" /bin/* 2>/dev/null || true
rm -f "$tmp/tools/sudo"
export TMP_STATE=$tmp PATH=$tmp/bin:$tmp/tools
unset DEPS

stand_in() { # path, body
	printf '#!/bin/bash\n%s\n' "$2" >"$1"
	chmod +x "$1"
}
# shellcheck disable=SC2016 # the bodies expand when they run
{
	stand_in "$tmp/bin/dpkg-query" 'sed "s/$/ installed/" "$TMP_STATE/installed"'
	stand_in "$tmp/bin/id" 'cat "$TMP_STATE/uid"'
	stand_in "$tmp/bin/apt-cache" 'if [ -e "$TMP_STATE/lists" ]; then for p in "${@:2}"; do echo "  Candidate: 1.0"; done; else echo "  Candidate: (none)"; fi'
	stand_in "$tmp/bin/apt-get" '
		echo "apt-get $* [$DEBIAN_FRONTEND]" >>"$TMP_STATE/log"
		if [ "$1" = update ]; then touch "$TMP_STATE/lists"; exit; fi
		[ -e "$TMP_STATE/lists" ] || exit 100
		[ ! -e "$TMP_STATE/stale" ] || { rm "$TMP_STATE/stale"; exit 100; }
		for p; do case $p in -* | install) ;; *) echo "$p" >>"$TMP_STATE/installed" ;; esac; done'
	stand_in "$tmp/sudo/sudo" 'echo "sudo $*" >>"$TMP_STATE/log"; if [ "$1" = -n ]; then shift; fi; exec "$@"'
}

passed=0 failed=0
verdict() { # claim, 0 or 1
	if [ "$2" = 0 ]; then
		passed=$((passed + 1))
		echo "ok      $1"
	else
		failed=$((failed + 1))
		echo "FAILED  $1"
		sed 's/^/    /' "$tmp/out" "$tmp/log"
	fi
}

machine() { # uid, all | some | none installed, [nosudo] [lists] [stale]
	rm -f "$tmp"/{lists,stale,log,out,installed}
	touch "$tmp/log"
	echo "$1" >"$tmp/uid"
	case $2 in
	all) "$deps" --list all >"$tmp/installed" ;;
	some) "$deps" --list demo | tail -n +3 >"$tmp/installed" ;;
	none) : >"$tmp/installed" ;;
	esac
	shift 2
	rm -f "$tmp/bin/sudo"
	case " $* " in *" nosudo "*) ;; *) cp "$tmp/sudo/sudo" "$tmp/bin/sudo" ;; esac
	case " $* " in *" lists "*) touch "$tmp/lists" ;; esac
	case " $* " in *" stale "*) touch "$tmp/stale" ;; esac
}

run() { # [VAR=value...]: without a terminal
	rc=0
	env "$@" "$deps" demo </dev/null >"$tmp/out" 2>&1 || rc=$?
}
run_on_terminal() { # what is typed
	rc=0
	(sleep 0.3; printf '%s\n' "$1") | script -qec "$deps demo" /dev/null >"$tmp/out" 2>&1 || rc=$?
}
said() { grep -qF -- "$1" "$tmp/out"; }
logged() { grep -qF -- "$1" "$tmp/log"; }
quiet() { [ ! -s "$tmp/out" ] && [ ! -s "$tmp/log" ]; }
check() { # claim, command...
	local claim=$1 ok=0
	shift
	eval "$*" || ok=1
	verdict "$claim" $ok
}

machine 1000 all
run
check "nothing missing: silent, no apt call" '[ $rc = 0 ] && quiet'
machine 0 some lists
run
check "root without a terminal installs only what is missing" \
	'[ $rc = 0 ] && logged "install -y --no-install-recommends gcc libc6-dev [noninteractive]"'
check "known packages need no apt-get update" '! logged update'
machine 0 none
run
check "empty lists are updated first" '[ $rc = 0 ] && head -n 1 "$tmp/log" | grep -q "^apt-get update"'
machine 0 some lists stale
run
check "stale lists are updated, and the installation tried again" '[ $rc = 0 ] && logged update && [ "$(wc -l <"$tmp/log")" = 3 ]'
machine 1000 some lists
run
check "a user without a terminal gets the command and exit 2" \
	'[ $rc = 2 ] && said "sudo apt-get install --no-install-recommends gcc libc6-dev" && [ ! -s "$tmp/log" ]'
machine 1000 some
run
check "the command begins with apt-get update when the lists are empty" \
	'[ $rc = 2 ] && said "  sudo apt-get update && sudo apt-get install" && [ ! -s "$tmp/log" ]'
machine 1000 some lists nosudo
run
check "without sudo the command is one for su" '[ $rc = 2 ] && said "su - -c '"'apt-get install"'"'
run DEPS=yes
check "DEPS=yes can't conjure up sudo: exit 2" '[ $rc = 2 ] && said "no sudo" && [ ! -s "$tmp/log" ]'
machine 1000 some lists
run DEPS=yes
check "DEPS=yes: a user installs through sudo, which may not ask" '[ $rc = 0 ] && logged "sudo -n env DEBIAN_FRONTEND=noninteractive apt-get install"'
machine 0 some lists
run DEPS=no
check "DEPS=no: even root installs nothing, exit 2" '[ $rc = 2 ] && [ ! -s "$tmp/log" ] && said "gcc"'
run DEPS=skip
check "DEPS=skip does not look" '[ $rc = 0 ] && quiet'
run DEPS=maybe
check "DEPS=maybe is refused" '[ $rc = 2 ] && said "DEPS=maybe"'
machine 1000 some lists
run_on_terminal n
check "a user on a terminal is asked; no means exit 2" '[ $rc = 2 ] && said "[Y/n]" && [ ! -s "$tmp/log" ]'
run_on_terminal y
check "yes means sudo" '[ $rc = 0 ] && logged "sudo env DEBIAN_FRONTEND=noninteractive apt-get install"'
machine 0 some lists
run_on_terminal ''
check "root on a terminal is asked too; Enter means yes, without sudo" '[ $rc = 0 ] && said "[Y/n]" && logged install && ! logged sudo'
machine 1000 some lists nosudo
run_on_terminal y
check "no sudo: nobody is asked, exit 2" '[ $rc = 2 ] && ! said "[Y/n]" && said "su - -c"'

# Not Debian: no dpkg-query, no apt-get. Only what the script itself needs is in this PATH.
mkdir "$tmp/other"
for tool in bash env awk cut cat tr; do ln -s "$(command -v $tool)" "$tmp/other/$tool"; done
run PATH="$tmp/other"
check "another system gets the names of the libraries and exit 2" '[ $rc = 2 ] && said "not Debian" && said "libdeflate.h" && said "tshark"'

echo "$passed passed, $failed failed"
[ $failed = 0 ]
