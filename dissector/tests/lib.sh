# SPDX-License-Identifier: GPL-2.0-or-later
#
# lib.sh - what the plugin's test scripts share: running tshark with and without the plugin as an
# ordinary user, and counting checks. Sourced by bash scripts; B is the build folder.
# shellcheck shell=bash

HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
ROOT=$(cd "$HERE/../.." && pwd)
B=${B:-build}
[[ $B == /* ]] || B=$ROOT/$B
PLUGINS=${VS_PLUGINS:-$B/plugins} # holds 4.0/epan/verbscope.so
TSHARK=${TSHARK:-tshark}

passed=0 failed=0

die() {
	printf '%s: %s\n' "${0##*/}" "$*" >&2
	exit 2
}

need() {
	local tool
	for tool; do
		command -v "$tool" >/dev/null || die "$tool is missing: run make deps"
	done
}

# Wireshark loads no plugins for root. As root the tests run as user 1000 of a user namespace, where
# all files stay readable; where namespaces are refused, as nobody.
as_user=()
if [ "$(id -u)" = 0 ]; then
	if unshare --user --map-user=1000 --map-group=1000 true 2>/dev/null; then
		as_user=(unshare --user --map-user=1000 --map-group=1000)
	else
		as_user=(setpriv --reuid=65534 --regid=65534 --clear-groups)
	fi
fi

# work NAME: an empty folder for this run, $W, with a home that has no preferences in it.
work() {
	W=$B/$1
	rm -rf "$W"
	mkdir -p "$W/home"
	[ "${as_user[0]-}" != setpriv ] || chmod -R a+rwX "$W"
	WS_ENV=(env -u XDG_CONFIG_HOME -u WIRESHARK_CONFIG_DIR -u WIRESHARK_PLUGIN_DIR HOME="$W/home" LC_ALL=C.UTF-8 TZ=UTC)
}

# ours [tshark options]: with the plugin. What it says on stderr is kept, and must be nothing.
ours_options=() # more of them, for a while
ours() {
	"${as_user[@]}" "${WS_ENV[@]}" WIRESHARK_PLUGIN_DIR="$PLUGINS" "$TSHARK" -n ${ours_options[@]+"${ours_options[@]}"} \
		"$@" 2>>"$W/stderr"
}

# -G must come first.
ours_first() {
	"${as_user[@]}" "${WS_ENV[@]}" WIRESHARK_PLUGIN_DIR="$PLUGINS" "$TSHARK" "$@" 2>>"$W/stderr"
}

# builtin_ws [tshark options]: Wireshark as it is installed.
builtin_ws() {
	"${as_user[@]}" "${WS_ENV[@]}" "$TSHARK" -n "$@" 2>>"$W/stderr.builtin"
}

# merge NAME CAPTURE...: one file of all of them, $W/NAME, and in $W/index.tsv where each begins in it: name, first
# frame, frames.
merge() {
	local to=$W/$1 first=1 file count
	shift
	mergecap -a -F pcapng -w "$to" "$@" || die "mergecap failed"
	capinfos -TMmrc "$@" >"$W/counts" || die "capinfos failed"
	while IFS=, read -r file count; do
		printf '%s\t%d\t%d\n' "$(basename "$file" .pcap)" "$first" "$count"
		first=$((first + count))
	done <"$W/counts" >"$W/index.tsv"
	# shellcheck disable=SC2034 # for those who source this
	frames=$((first - 1))
}

# check NAME COMMAND...: runs it; it passes when it exits 0. Its output is shown when it fails.
check() {
	local name=$1 log said
	shift
	log=$W/log.$name
	said=$(wc -l 2>/dev/null <"$W/stderr" || echo 0)
	if "$@" >"$log" 2>&1; then
		passed=$((passed + 1))
		printf 'ok      %s\n' "$name"
	else
		failed=$((failed + 1))
		printf 'not ok  %s\n' "$name"
		tail -n "+$((said + 1))" "$W/stderr" 2>/dev/null | sort | uniq -c >>"$log"
		sed 's/^/        /' "$log" | head -n "${VS_LINES:-40}"
		if [ "$(wc -l <"$log")" -gt "${VS_LINES:-40}" ]; then
			printf '        ... all of it: %s\n' "$log"
		fi
	fi
}

summary() {
	printf '%d passed, %d failed\n' "$passed" "$failed"
	[ "$failed" = 0 ]
}

# fields NAME...: the -e options for these fields.
fields() {
	local f
	for f; do
		printf -- '-e\n%s\n' "$f"
	done
}

# table CAPTURE ours|builtin_ws FIELD...: tab separated values, first occurrence, one line a frame.
table() {
	local capture=$1 who=$2 args
	shift 2
	mapfile -t args < <(fields "$@")
	"$who" -r "$capture" -T fields -E occurrence=f -E 'separator=/t' "${args[@]}"
}

# same EXPECTED GOT: a diff that reads well.
same() {
	diff -u --label expected --label got "$1" "$2"
}

count_frames() {
	capinfos -Mc "$1" | awk '/^Number of packets/ { print $NF }'
}
