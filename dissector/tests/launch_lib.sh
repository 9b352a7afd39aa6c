# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# launch_lib.sh - what test_launch.sh and test_profile.sh share: checks, an ordinary user and root,
# stand-ins for tshark and wireshark. Sourced, with the build folder as the first argument.
#
# A check is named by its claim, which is the function that makes it, and prints "ok" or "not ok";
# what this machine cannot show is skipped with the reason.
#
# shellcheck disable=SC2034 # what is set here is used by those who source this
#
# Run by root, an ordinary user is user 65534; run by an ordinary user, root is a user namespace
# in which we are root, which is what Wireshark looks at too. Where namespaces are refused, root is
# left with the shim, which has a check of its own.
set -euo pipefail
export LC_ALL=C.UTF-8 TZ=UTC
unset WIRESHARK_PLUGIN_DIR WIRESHARK_CONFIG_DIR XDG_CONFIG_HOME XDG_RUNTIME_DIR LD_PRELOAD

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
here=$PWD
build=$(realpath "${1:?which build folder?}")
vt=$build/bin/vs-tshark vw=$build/bin/vs-wireshark
shim=$build/lib/verbscope/vs-hide-root.so
capture=$here/pcaps/recorded/loss_send_req_mid.pcap
tshark=$(command -v tshark)
version=$(tshark -v 2>/dev/null | sed -n '1s/^[^0-9]*\([0-9]*\.[0-9]*\).*/\1/p')
plugin=$build/plugins/$version/epan/verbscope.so
if [ ! -r "$plugin" ]; then
	echo "launch_lib: $plugin is missing: run make" >&2
	exit 2
fi

tmp=$(mktemp -d)
chmod 755 "$tmp"
trap 'rm -rf "$tmp"' EXIT
mkdir -m 777 "$tmp/home" "$tmp/pub"
export HOME=$tmp/home TMPDIR=$tmp/pub

passed=0 failed=0
out=$tmp/out err=$tmp/err

# check CLAIM [COMMAND...]: runs the command, or else the function CLAIM; its output is shown when it fails.
check() {
	local claim=$1
	[ $# = 1 ] || shift
	if "$@" >"$tmp/log" 2>&1; then
		echo "ok      $claim"
		passed=$((passed + 1))
	else
		echo "not ok  $claim"
		sed 's/^/        /' "$tmp/log"
		for f in "$out" "$err"; do
			[ ! -s "$f" ] || { echo "        ${f##*/}:" && head -n 8 "$f" | sed 's/^/        | /'; }
		done
		failed=$((failed + 1))
	fi
}

skip() {
	echo "skip    $1: $2"
}

# run COMMAND...: sets rc, fills $out and $err.
run() {
	rc=0
	"$@" >"$out" 2>"$err" || rc=$?
}

expect_rc() {
	[ "$rc" = "$1" ] || { echo "exit code $rc, expected $1" && return 1; }
}

expect_out() {
	grep -qF -- "$1" "$out" || { echo "output lacks: $1" && return 1; }
}

expect_err() {
	grep -qF -- "$1" "$err" || { echo "stderr lacks: $1" && return 1; }
}

# stderr has exactly so many lines of the launcher's own
expect_own_lines() {
	[ "$(grep -c '^vs-[a-z]*: ' "$err")" = "$1" ] || { echo "stderr has not $1 line(s) of ours" && return 1; }
}

# The warning of a root without namespaces is no noise.
expect_quiet() {
	! grep -qv "warning: .* user namespaces are refused" "$err" || { echo "stderr is not empty" && return 1; }
}

# ---- who runs it ----

as_user=() as_root=() user_problem='' root_problem=''
if [ "$(id -u)" = 0 ]; then
	as_root=(env)
	unshare --user true 2>/dev/null || root_problem="user namespaces are refused here"
	as_user=(setpriv --reuid=65534 --regid=65534 --clear-groups env)
	if ! "${as_user[@]}" test -r "$plugin" -a -x "$vt" -a -r "$here/Makefile"; then
		user_problem="user 65534 cannot reach $build"
	fi
else
	as_user=(env)
	as_root=(unshare --user --map-root-user env)
	"${as_root[@]}" true 2>/dev/null || root_problem="user namespaces are refused here"
fi

# user_check and root_check: the same, where there is such a user
user_check() {
	if [ -n "$user_problem" ]; then skip "$1" "$user_problem"; else check "$@"; fi
}
root_check() {
	if [ -n "$root_problem" ]; then skip "$1" "$root_problem"; else check "$@"; fi
}

# ---- stand-ins for tshark and wireshark, found first in PATH ----

# fake NAME VERSION: answers -v, otherwise prints its arguments, and what the launcher set
fake() {
	mkdir -p "$tmp/fake-$1-$2"
	cat >"$tmp/fake-$1-$2/$1" <<EOF2
#!/bin/bash
if [ "\$*" = -v ]; then echo "Fake (Wireshark) $2.7 (packaged)"; exit 0; fi
printf '[%s]' "\$@"; echo
echo "config=\${WIRESHARK_CONFIG_DIR-none} plugins=\${WIRESHARK_PLUGIN_DIR-none} preload=\${LD_PRELOAD-none}"
EOF2
	chmod 755 "$tmp/fake-$1-$2/$1"
}
fake tshark "$version"
fake tshark 9.8
fake wireshark "$version"
fake_tshark=$tmp/fake-tshark-$version
fake_wireshark=$tmp/fake-wireshark-$version

# lists_plugin LINES COMMAND...: the plugin is loaded, once, and the launcher says so many lines
lists_plugin() {
	local lines=$1
	shift
	run "$@" -G plugins
	expect_rc 0 && expect_own_lines "$lines" &&
		{ [ "$(grep -c '^verbscope\.so' "$out")" = 1 ] || { echo "verbscope.so is not listed once" && return 1; }; }
}

# The last line, and the exit code.
finish() {
	echo "$passed passed, $failed failed"
	[ "$failed" = 0 ]
}
