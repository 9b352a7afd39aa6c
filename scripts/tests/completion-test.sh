#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# completion-test.sh B PROGRAM... - what scripts/completion.sh offers for every program and command, against its --help
# and its man page: every option of --help is offered, none besides, and each has an entry in the man page, which has no
# other. The programs are those that are installed: one that the completion does not know is a failure.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=$1
shift
passed=0 failed=0
# shellcheck source=scripts/completion.sh
. scripts/completion.sh

claim() { # what, text that should be empty
	if [ -z "$2" ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		printf 'FAILED  %s\n' "$1"
		printf '    %s\n' "${2//$'\n'/$'\n'    }"
	fi
}

# What TAB offers at the end of the words: sorted, one a line.
offers() { # program, word...
	COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
	_verbscope "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}" </dev/null
	[ ${#COMPREPLY[@]} = 0 ] || printf '%s\n' "${COMPREPLY[@]}" | LC_ALL=C sort -u
}

# Options that a --help names anywhere but in quotes and in examples.
named() {
	awk '/^$/ { listing = 1 } !(listing && /^ +vs-/) { gsub(/\047[^\047]*\047/, ""); print }' |
		grep -oE -- '(^|[^-A-Za-z0-9])(--[a-z][a-z0-9-]*|-[A-Za-z]\>)' | grep -oE -- '--?[A-Za-z][a-z0-9-]*' | LC_ALL=C sort -u
}

# Options of a man page (.Fl): all that it names, or those of its entries.
of_man() { # page, [entries]
	awk -v entries="${2:-}" '(entries == "" || /^\.It /) && /^\.([A-Z][a-z] )?.*Fl / {
		for (i = 1; i < NF; i++) if ($i == "Fl" || $i == ".Fl" || $(i + 1) ~ /^-[a-z]/) { w = $(i + 1); gsub(/\\&|[],|]/, "", w); print "-" w }
	}' "$1" | sed 's/\\-/-/g' | grep -E '^--?[A-Za-z]' | LC_ALL=C sort -u
}

less() { LC_ALL=C comm -23 <(printf '%s\n' "$1") <(printf '%s\n' "$2") | grep . || true; }

for path; do
	name=${path##*/} program=$build/bin/${path##*/}
	claim "$name has a completion" "$(complete -p "$name" 2>&1 >/dev/null)"
	case $name in
	vs-tshark) # its options are those of tshark
		have=$(offers "$program" -)
		for option in -r -i -Y -V --help; do claim "$name offers $option" "$(less "$option" "$have")"; done
		continue
		;;
	vs-wireshark) continue ;; # the same, and needs Wireshark itself
	esac
	mapfile -t commands < <("$program" --help | _verbscope_commands)
	if [ ${#commands[@]} -gt 0 ]; then
		claim "$name: commands are offered" "$(less "$(printf '%s\n' "${commands[@]}" | LC_ALL=C sort -u)" "$(offers "$program" "")")"
	fi
	all=$("$program" --help | named)
	claim "$name: options of --help are offered" "$(less "$all" "$(offers "$program" -)")"
	claim "$name: nothing else is offered" "$(less "$(offers "$program" -)" "$all")"
	case $name in
	vs-pcap | vs-trace)
		for command in "${commands[@]}"; do
			help=$("$program" "$command" --help | named)
			have=$(offers "$program" "$command" -)
			claim "$name $command: options of --help are offered" "$(less "$help" "$have")"
			claim "$name $command: nothing else is offered" "$(less "$have" "$(printf '%s\n' "$help" | LC_ALL=C sort -u)")"
			all+=$'\n'$help
		done
		;;
	esac
	all=$(LC_ALL=C sort -u <<<"$all")
	claim "$name: every option has an entry in docs/man/$name.1" "$(less "$all" "$(of_man "docs/man/$name.1")" | grep -vxE -- '-h|--help|--version' || true)"
	claim "$name: docs/man/$name.1 has no other" "$(less "$(of_man "docs/man/$name.1" entries)" "$all" | grep -vxE -- '--help|--version' || true)"
done

claim "values: --encap" "$(less "rocev2-ipv6" "$(offers "$build/bin/vs-pcap" gen --encap "")")"
claim "values: --lang" "$(less $'en\nko' "$(offers "$build/bin/vs-lab" --lang "")")"
claim "values: --deviation" "$(less "fence_ignored" "$(offers "$build/bin/vs-run" --deviation fence)")"
claim "labs" "$(less "00" "$(offers "$build/bin/vs-lab" start "")")"
claim "cases and groups" "$(less $'RSP\nRSP-017' "$(offers "$build/bin/vs-conform" RSP)")"
claim "files where a file is meant" "$(offers "$build/bin/vs-pcap" check "")"
claim "what stands behind -- is not ours" "$(offers "$build/bin/vs-run" -- ib_write_bw -)"

# A test that can't fail proves nothing: an option that --help does not have, and one that is not offered.
_verbscope_options() { echo --planted; }
claim "self-test: what is not in --help is seen" \
	"$([ "$(less "$(offers "$build/bin/vs-run" -)" "$("$build/bin/vs-run" --help | named)")" = --planted ] || echo "it was not")"
echo "$passed passed, $failed failed"
[ $failed = 0 ]
