#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# sources.sh - prints the repository's own files, one a line, for the checks that look at all of them.
#
#   scripts/sources.sh all     every file
#   scripts/sources.sh c       *.c and *.h
#   scripts/sources.sh shell   bash scripts
#   scripts/sources.sh spdx    everything that must carry an SPDX line
#
# Files that git ignores don't count; files that are not committed yet do. Works in an unpacked
# archive without git too. SOURCES_ROOT names another tree (self-tests).
set -euo pipefail
cd "${SOURCES_ROOT:-$(dirname "$0")/..}"

files() {
	if [ -e .git ] && command -v git >/dev/null && git rev-parse --git-dir >/dev/null 2>&1; then
		git ls-files --cached --others --exclude-standard
	else
		find . -path ./build -prune -o -path ./.git -prune -o -type f -print | sed 's|^\./||'
	fi | while read -r f; do if [ -f "$f" ]; then echo "$f"; fi; done | LC_ALL=C sort -u
}

# Files without an extension that begin with #!
scripts_among() {
	while read -r f; do
		if [ "$(head -c 2 "$f" | tr -d '\0')" = '#!' ]; then echo "$f"; fi
	done
}

case ${1:-} in
all) files ;;
c) files | awk '/\.[ch]$/' ;;
shell)
	files | awk '/\.sh$/'
	files | awk '!/\.[A-Za-z0-9]+$/ || /^\.ci\//' | scripts_among | while read -r f; do
		if head -n 1 "$f" | grep -q 'sh$'; then echo "$f"; fi
	done
	;;
spdx)
	files | awk '/\.(c|h|def|mk|sh|awk|drill|map|in|[1-8])$/ ||
		/(^|\/)(Makefile|\.clang-format|\.clang-tidy|\.editorconfig|\.gitignore)$/'
	files | awk '!/\.[A-Za-z0-9]+$/' | scripts_among
	;;
*)
	echo "sources.sh: say all, c, shell or spdx" >&2
	exit 2
	;;
esac
