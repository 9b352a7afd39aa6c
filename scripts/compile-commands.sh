#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# compile-commands.sh MAKE B - prints compile_commands.json for clang-tidy and editors: the compile
# lines that MAKE would run for every C file, read off a dry run.
set -euo pipefail
make=$1 build=$2
cd "$(dirname "$0")/.."

# -B: as if nothing were built; --dry-run prints the recipes.
$make --no-print-directory -B --dry-run B="$build" objects 2>/dev/null |
	awk -v dir="$PWD" '
		function json(s) { gsub(/\\/, "\\\\", s); gsub(/"/, "\\\"", s); return "\"" s "\"" }
		/ -c -o / && $NF ~ /\.c$/ && !seen[$NF]++ {
			sub(/^[ \t]+/, "")
			printf "%s\n  {\"directory\": %s, \"file\": %s, \"command\": %s}", (n++ ? "," : "["), json(dir), json($NF), json($0)
		}
		END { print (n ? "\n]" : "[]") }'
