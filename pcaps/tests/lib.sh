# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# shellcheck shell=bash
#
# lib.sh - what run.sh and veth.sh share. Sourced in the root of the repository, with the build folder.
#
# shellcheck disable=SC2034 # what is set here is used by those who source this

build=$(realpath "$1")
vp=$build/bin/vs-pcap vt=$build/bin/vs-tshark cmp=$build/tests/capcmp
rec=pcaps/recorded golden=pcaps/tests/golden
passed=0 failed=0 rc=0
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
export HOME=$tmp

# check CLAIM: runs the function; its output is shown when it fails.
check() {
	local status=0
	# set -e does not work under ||, so a subshell of its own
	set +e
	(set -e && "$1") >"$tmp/log" 2>&1
	status=$?
	set -e
	if [ $status = 0 ]; then
		echo "ok      $1"
		passed=$((passed + 1))
	else
		echo "not ok  $1"
		sed 's/^/        /' "$tmp/log"
		failed=$((failed + 1))
	fi
}

# run COMMAND...: sets rc, fills $tmp/out and $tmp/err.
run() {
	rc=0
	"$@" >"$tmp/out" 2>"$tmp/err" || rc=$?
}

expect_rc() {
	[ "$rc" = "$1" ] || { echo "exit code $rc, expected $1" && cat "$tmp/err" && return 1; }
}

expect_out() {
	grep -qF -- "$1" "$tmp/out" || { echo "output lacks: $1" && head -n 20 "$tmp/out" && return 1; }
}

expect_err() {
	grep -q -- "$1" "$tmp/err" || { echo "stderr lacks: $1" && cat "$tmp/err" && return 1; }
}

# veth.sh, in a network namespace of its own; its counts are added.
veth() {
	local how problem='' status=0
	if ! command -v ip >/dev/null || ! command -v dumpcap >/dev/null; then
		problem="ip (iproute2) or dumpcap (wireshark-common) is missing"
	elif unshare --net true 2>/dev/null; then
		how=(unshare --net)
	elif unshare --user --map-root-user --net true 2>/dev/null; then
		how=(unshare --user --map-root-user --net)
	else
		problem="network namespaces are refused here"
	fi
	if [ -n "$problem" ]; then
		echo "skip    replay over a veth pair: $problem"
		return
	fi
	"${how[@]}" pcaps/tests/veth.sh "$build" >"$tmp/veth" 2>&1 || status=$?
	grep -v ' passed, .* failed$' "$tmp/veth" || true
	passed=$((passed + $(grep -c '^ok ' "$tmp/veth" || true)))
	failed=$((failed + $(grep -c '^not ok ' "$tmp/veth" || true)))
	if [ $status != 0 ] && ! grep -q '^not ok ' "$tmp/veth"; then
		echo "not ok  veth.sh ended with exit code $status"
		failed=$((failed + 1))
	fi
}

finish() {
	echo "$passed passed, $failed failed"
	[ "$failed" = 0 ]
}
