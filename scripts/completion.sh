# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# shellcheck shell=bash
#
# completion.sh - completion of every program of Verbscope in bash. Nothing is listed here: commands, options and what
# an option takes are read from the program's own --help when TAB is pressed, so that they can't be out of date.
# scripts/tests/completion-test.sh compares what is offered with --help and with the man pages.

# _verbscope_help PROGRAM [COMMAND]: the text to read. The launchers pass options on to what they start.
_verbscope_help() {
	case ${1##*/} in
	vs-tshark) { "$1" --help && "$1" -h; } 2>/dev/null ;;
	vs-wireshark) { "$1" --help && env -u DISPLAY -u WAYLAND_DISPLAY QT_QPA_PLATFORM=offscreen "$1" -h; } 2>/dev/null ;;
	*) "$@" --help 2>/dev/null ;;
	esac
}

# Options: whatever begins with - in usage lines, in the first column of a list, and in lists of options alone.
_verbscope_options() {
	awk '
		/^$/ { listing = 1 }
		/^[Uu]sage:/ || (!listing && /^ +vs-/) || /^ +-/ {
			line = $0
			gsub(/\047[^\047]*\047/, "", line)
			while (match(line, /(^|[ ,|[(])--?[A-Za-z][A-Za-z0-9-]*/)) {
				word = substr(line, RSTART, RLENGTH)
				sub(/^[^-]*/, "", word)
				if (!had[word]++) print word
				line = substr(line, RSTART + RLENGTH)
			}
		}'
}

# Commands: the first words of a list that is indented by two. None where the usage has no COMMAND, and no other usage.
_verbscope_commands() {
	awk '
		/^[Uu]sage:.* COMMAND/ { wanted = 1 }
		/^(usage:|      ) vs-[a-z]+ [a-z]+( |$)/ { sub(/^.* vs-[a-z]+ /, ""); print $1 }
		wanted && /^  [a-z]+ / { print $1 }'
}

# What option $1 takes, as its help names it: FILE, en|ko, ADDR ...; empty when it takes nothing.
_verbscope_takes() {
	awk -v option="$1" '
		{
			line = $0
			while ((at = index(line, option)) > 0) {
				after = substr(line, at + length(option))
				before = at > 1 ? substr(line, at - 1, 1) : " "
				if (before ~ /[ ,|[(]/ && after ~ /^[ =]<?[A-Za-z]+([^a-z]|$)/ && (after ~ /^[ =]<?[A-Z]/ || after ~ /^[ =]<?[a-z]+\|/ || after ~ /^ </)) {
					sub(/^[ =]/, "", after)
					sub(/[] ,;].*$/, "", after)
					print after
					exit
				}
				line = after
			}
		}'
}

# Words that option $2 of program $1 can be given, where they are names that the program knows.
_verbscope_values() {
	local help=$4
	case $3:$2 in
	*\|*:*) tr -d '<>[]' <<<"$3" | tr '|' '\n' ;;
	*:--encap) grep -oE '\<(rocev2-ipv[46]|rocev1|ib-grh|ib)\>' <<<"$help" | sort -u ;;
	*:--deviation) "$1" --deviation '?' -- true 2>&1 | sed -n 's/.*; they are //p' | tr ' ' '\n' ;;
	IFACE:*) ls /sys/class/net ;;
	esac
}

_verbscope() {
	local program=$1 cur=$2 prev=$3 command='' help takes words
	local -a known
	COMPREPLY=()
	help=$(_verbscope_help "$program")
	mapfile -t known < <(_verbscope_commands <<<"$help")
	for ((i = 1; i < COMP_CWORD; i++)); do
		if [ ${#known[@]} -gt 0 ] && [[ " ${known[*]} " == *" ${COMP_WORDS[i]} "* ]]; then
			command=${COMP_WORDS[i]}
			break
		fi
		case ${program##*/}:${COMP_WORDS[i]} in # behind these, words are those of the program that is run
		vs-run:--) return ;;
		esac
	done
	case ${program##*/}:$command in
	vs-pcap:?* | vs-trace:?*) help=$(_verbscope_help "$program" "$command") ;;
	esac

	if [[ $prev == -* && $cur != -* ]]; then
		takes=$(_verbscope_takes "$prev" <<<"$help")
		words=$(_verbscope_values "$program" "$prev" "$takes" "$help")
		if [ -n "$words" ]; then
			mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
			return
		fi
		# A name of a file, or something that nobody can guess: the shell offers files.
		[ -z "$takes" ] || return
	fi
	if [[ $cur == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$(_verbscope_options <<<"$help")" -- "$cur")
		return
	fi
	case ${program##*/}:$command in
	vs-lab:) words="${known[*]}" ;;
	vs-lab:start | vs-lab:check | vs-lab:hint | vs-lab:show | vs-lab:reset)
		words=$("$program" list 2>/dev/null | awk '/^  [0-9][0-9] / { print $1 }')
		;;
	vs-conform:) words="${known[*]} $("$program" --list 2>/dev/null | awk '{ print $1; sub(/\[.*/, "", $1); print $1; sub(/-.*/, "", $1); print $1 }' | sort -u)" ;;
	vs-run: | vs-trace:run)
		mapfile -t COMPREPLY < <(compgen -c -- "$cur")
		return
		;;
	*) if [ -z "$command" ]; then words="${known[*]}"; else words=''; fi ;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
}

complete -o default -F _verbscope vs-agent vs-conform vs-lab vs-pcap vs-run vs-trace vs-tshark vs-wireshark
