#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# docs-test.sh B - scripts/check-docs.sh finds what is planted: a document that is right passes, and each fault that it
# looks for fails it with its line.
# shellcheck disable=SC2016 # backquotes are Markdown
set -euo pipefail
cd "$(dirname "$0")/../.."
build=$1
tmp=$(mktemp -d)
page=$build/planted.md
trap 'rm -rf "$tmp" "$page"' EXIT
printf '#!/bin/sh\necho %s\n' "$page" >"$tmp/files"
chmod +x "$tmp/files"
passed=0 failed=0

finds() { # claim, what it must say ("": nothing); the document from standard input
	local rc=0
	cat >"$page"
	DOCS_FILES=$tmp/files scripts/check-docs.sh "$build" >"$tmp/out" 2>&1 || rc=$?
	if { [ -z "$2" ] && [ $rc = 0 ]; } || { [ -n "$2" ] && [ $rc = 1 ] && grep -qF -- "$2" "$tmp/out"; }; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAILED  $1 (exit code $rc)"
		sed 's/^/    /' "$tmp/out"
	fi
}

finds "nothing in a page that is right" "" <<'END'
# A page
[here](#a-page), [there](planted.md), `make check`, `vs-run --quiet`
```console
$ printf 'a\nb\nc\n'
a
...
c
$ false # exit code 1
```
<!-- not run: wants a device -->
```sh
vs-conform --device mlx5_0
```
END
finds "a link to nowhere" "there is no nowhere.md" <<<'[x](nowhere.md)'
finds "a link to no heading" "has no heading #nothing" <<<'[x](planted.md#nothing)'
finds "a target that is not there" "there is no target 'chekc'" <<<'Run `make chekc`.'
finds "an option that is not there" "vs-run has no option --sims" <<<'Run `vs-run --sims -- program`.'
finds "a block without a language" "a block without a language" <<<$'```\nx\n```'
finds "a command that fails" "exit code 3 of: exit 3" <<<$'```sh\nexit 3\n```'
finds "another output" "prints something else: echo a" <<<$'```console\n$ echo a\nb\n```'
finds "output that is missing" "prints something else: printf" <<<$'```console\n$ printf "a\\nb\\n"\na\n```'
finds "a mark without a reason" "mark 'not run' is not" <<<$'<!-- not run -->\n```sh\ntrue\n```'
echo "$passed passed, $failed failed"
[ $failed = 0 ]
