#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# check-docs.sh [--long] B - is what README and docs print true? Of every Markdown file of the repository:
#
#   links      inside the repository lead to a file that is there, and to a heading of it
#   targets    `make NAME`: there is such a target
#   options    `vs-NAME --option`, in blocks and between backquotes: the program's --help has it
#   commands   blocks ```sh and ```console run as printed, in a folder that looks like a clone, built; of ```console the
#              output is what stands there ("..." is any number of lines; how long something took may differ). An exit code other than 0 is said behind the
#              command: "# exit code 1". Commands that begin with make, git, cd, sudo, apt are not run here.
#
# A comment on the line before a block says otherwise: <!-- not run: REASON -->, or <!-- long --> (make check-docs-long).
# Blocks of other languages are not commands; a block without a language is an error.
set -euo pipefail
cd "$(dirname "$0")/.."
repo=$PWD long=no
if [ "${1:-}" = --long ]; then
	long=yes
	shift
fi
build=$(cd "$1" && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
passed=0 failed=0 not_run=0
export LC_ALL=C.UTF-8 NO_COLOR=1
mapfile -t files < <("${DOCS_FILES:-scripts/sources.sh}" all | awk '/\.md$/ && !/\/tests\/|^labs\/[0-9]/')

bad() {
	failed=$((failed + 1))
	echo "FAILED  $*"
}

# GitHub's name for each heading of the files.
anchors() {
	awk '
		FNR == 1 { fence = 0; delete had }
		/^ *```/ { fence = !fence }
		!fence && /^#+ / {
			s = tolower($0)
			sub(/^#+ +/, "", s); gsub(/\]\([^)]*\)/, "", s); gsub(/[`*\[\]:;,.!?()"\047\/&+=<>{}|@$%^~\\]/, "", s); gsub(/ /, "-", s)
			print FILENAME "#" s (had[s]++ ? "-" had[s] - 1 : "")
		}' "$@"
}

links() {
	local from to path
	anchors "${files[@]}" >"$tmp/anchors"
	awk '
		FNR == 1 { fence = 0 }
		/^ *```/ { fence = !fence }
		!fence {
			line = $0
			gsub(/`[^`]*`/, "", line)
			while (match(line, /\]\([^) ]+\)/)) {
				print FILENAME "\t" substr(line, RSTART + 2, RLENGTH - 3)
				line = substr(line, RSTART + RLENGTH)
			}
		}' "${files[@]}" | sort -u >"$tmp/links"
	while IFS=$'\t' read -r from to; do
		case $to in
		http://* | https://* | mailto:*) continue ;;
		'#'*) path=$from ;;
		*)
			path=${to%%#*}
			case $from in */*) path=${from%/*}/$path ;; esac
			;;
		esac
		while [[ $path =~ (^|/)[^/.][^/]*/\.\./ ]]; do path=${path/"${BASH_REMATCH[0]}"/"${BASH_REMATCH[1]}"}; done
		if [ ! -e "$path" ]; then
			bad "$from: there is no $to"
		elif [[ $to == *'#'* && $path == *.md ]] && ! grep -qxF "$path#${to#*#}" "$tmp/anchors"; then
			bad "$from: $path has no heading #${to#*#}"
		else
			passed=$((passed + 1))
		fi
	done <"$tmp/links"
}

# Text that is meant as typed: file, tab, words.
typed() {
	awk '
		FNR == 1 { fence = 0 }
		/^ *```/ { fence = !fence; next }
		fence || /^    / { sub(/^ *(\$ )?/, ""); print FILENAME "\t" $0; next }
		{
			line = $0
			while (match(line, /`[^`]+`/)) {
				print FILENAME "\t" substr(line, RSTART + 1, RLENGTH - 2)
				line = substr(line, RSTART + RLENGTH)
			}
		}' "${files[@]}"
}

targets() {
	local file name
	awk '/^[a-z%][a-zA-Z0-9_% .\/-]*:([^=]|$)/ { sub(/:.*/, ""); for (i = 1; i <= NF; i++) print $i }' \
		Makefile scripts/repo.mk ./*/module.mk ./*/*/*.mk | sort -u >"$tmp/targets"
	while IFS=$'\t' read -r file name; do
		if grep -qxF "$name" "$tmp/targets" || [[ $name == build/* ]] || [[ $name =~ ^(asan|deps)- ]]; then
			passed=$((passed + 1))
		else
			bad "$file: there is no target '$name'"
		fi
	done < <(typed | awk -F'\t' '
		$2 ~ /^make( |$)/ {
			sub(/#.*/, "", $2)
			sub(/&&.*/, "", $2)
			n = split($2, w, " ")
			for (i = 2; i <= n; i++) if (w[i] ~ /^[a-z][a-z0-9-]*$/ || w[i] ~ /^build\//) print $1 "\t" w[i]
		}' | sort -u)
}

options() {
	local file program option
	for program in "$build"/bin/vs-*; do
		{
			"$program" --help
			case $program in
			*/vs-pcap | */vs-trace) for c in $("$program" --help | awk '/^  [a-z]+ / { print $1 }'); do "$program" "$c" --help; done ;;
			esac
		} >"$tmp/${program##*/}.help"
	done
	while IFS=$'\t' read -r file program option; do
		if grep -qE -- "(^|[^-a-z])$option([^-a-z]|$)" "$tmp/$program.help"; then
			passed=$((passed + 1))
		else
			bad "$file: $program has no option $option"
		fi
	done < <(typed | awk -F'\t' '
		{
			gsub(/\047[^\047]*\047/, "", $2)
			sub(/ # .*/, "", $2)
			sub(/ :: .*/, "", $2)
			n = split($2, w, " ")
			program = ""
			for (i = 1; i <= n; i++) {
				sub(/^build\/bin\//, "", w[i])
				if (program == "" && w[i] ~ /^vs-(agent|conform|lab|pcap|run|trace)$/) program = w[i]
				else if (w[i] == "--" || w[i] ~ /[|;&]/) program = ""
				else if (program != "" && w[i] ~ /^--[a-z]/) { sub(/[=,.)].*/, "", w[i]); print $1 "\t" program "\t" w[i] }
			}
		}' | sort -u)
}

# A folder that looks like a clone with a build in it, for each document one.
clone() { # document
	folder=$tmp/clone/${1//\//+}
	[ ! -d "$folder" ] || return 0
	mkdir -p "$folder/home"
	for f in "$repo"/* "$repo"/.ci; do
		if [ "$f" != "$repo/build" ]; then ln -s "$f" "$folder/"; fi
	done
	ln -s "$build" "$folder/build"
	# What stands for a reader's own, and for what another command of a page has made.
	ln -s "$repo/pcaps/recorded/loss_send_req_mid.pcap" "$folder/trace.pcapng"
	ln -s "$repo/tracer/tests/in/loss-middle.vst" "$folder/"
}

# The block is turned into a script that says which output belongs to which command.
run_block() { # block, place, console or sh
	local command='' want="$tmp/want" line
	: >"$want"
	while IFS= read -r line || [ -n "$line" ]; do
		if [ "$3" = console ] && [[ $line != '$ '* ]]; then
			printf '%s\n' "$line" >>"$want"
			continue
		fi
		[ -z "$command" ] || run_command "$command" "$2" "$3"
		command=${line#'$ '}
		: >"$want"
	done <"$1"
	[ -z "$command" ] || run_command "$command" "$2" "$3"
}

run_command() { # command, place, console or sh
	local rc=0 want_rc=0 first
	case $1 in '' | '#'*) return ;; esac
	first=${1%% *}
	case $first in
	make | git | cd | sudo | apt | apt-get) # targets are looked up, not run
		return
		;;
	esac
	if [[ $1 =~ '# exit code '([0-9]+) ]]; then want_rc=${BASH_REMATCH[1]}; fi
	(
		cd "$folder"
		env HOME="$folder/home" XDG_CONFIG_HOME="$folder/home/.config" VS_LAB_DIR="$folder/home/verbscope-labs" PATH="$build/bin:$build/tests:$PATH" \
			timeout "${DOCS_TIMEOUT:-120}" bash -c "$1" </dev/null
	) >"$tmp/got" 2>&1 || rc=$?
	if [ "$rc" != "$want_rc" ]; then
		bad "$2: exit code $rc of: $1"
		tail -n 5 "$tmp/got" | sed 's/^/    /'
	elif [ "$3" = console ] && ! matches "$tmp/want" "$tmp/got"; then
		bad "$2: prints something else: $1"
		diff "$tmp/want" "$tmp/got" | head -n 20 | sed 's/^/    /' || true
	else
		passed=$((passed + 1))
	fi
}

# Whether the lines of $2 are those of $1, where "..." stands for any number of lines. Blanks at the end don't count, nor how
# long something took ("0.5 s on ref0").
matches() {
	awk '
		BEGIN { n = m = 0 }
		{
			sub(/[ \t]+$/, "")
			sub(/in [0-9]+\.[0-9] s on/, "in T s on")
		}
		FILENAME == ARGV[1] { want[++n] = $0; next }
		{ got[++m] = $0 }
		END {
			while (n > 0 && want[n] == "") n--
			while (m > 0 && got[m] == "") m--
			# ok[j]: the first i lines of want fit the first j of got
			ok[0] = 1
			for (i = 1; i <= n; i++) {
				if (want[i] ~ /^ *\.\.\.$/) {
					for (j = 1; j <= m; j++) if (ok[j - 1]) ok[j] = 1
				} else {
					for (j = m; j >= 1; j--) ok[j] = ok[j - 1] && want[i] == got[j]
					ok[0] = 0
				}
			}
			exit !ok[m]
		}' "$1" "$2"
}

commands() {
	local block place lang mark
	mkdir "$tmp/blocks"
	awk -v dir="$tmp/blocks" -f scripts/doc-blocks.awk "${files[@]}"
	for block in "$tmp/blocks"/*[0-9]; do
		[ -e "$block" ] || continue
		place=$(cut -f1 "$block.head") lang=$(cut -f2 "$block.head") mark=$(cut -f3 "$block.head")
		case $lang in
		'') bad "$place: a block without a language (sh, console, text, c ...)" ;;
		sh | console)
			case $mark in
			'not run: '?*) not_run=$((not_run + 1)) ;;
			long) if [ $long = yes ]; then clone "${place%%:*}" && run_block "$block" "$place" "$lang"; else not_run=$((not_run + 1)); fi ;;
			'') clone "${place%%:*}" && run_block "$block" "$place" "$lang" ;;
			*) bad "$place: mark '$mark' is not 'long' or 'not run: REASON'" ;;
			esac
			;;
		esac
	done
}

links
targets
options
commands
echo "$not_run blocks not run: for want of hardware, or in check-docs-long; each says why"
echo "$passed passed, $failed failed"
[ $failed = 0 ]
