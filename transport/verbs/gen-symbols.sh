#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# gen-symbols.sh LIBRARY MAP STUBS OBJECT... - the symbol versions of an installed library for our stand-in.
#
#   LIBRARY   the installed one (libibverbs.so.1, librdmacm.so.1)
#   MAP       version script to write: every symbol of LIBRARY with its default version, under its version node
#   STUBS     C source to write: what LIBRARY has and no OBJECT defines. Verbs fail with EOPNOTSUPP; what only the
#             library's own providers call (IBVERBS_PRIVATE_*) too: their contexts are never made here
#   OBJECT    our objects
#
# Environment: STUB_RETURNS (EOPNOTSUPP) what a stub returns beside errno; STUB_ERRNO (EOPNOTSUPP); PRIVATE, symbols of
# our own to export under the version node VERBSCOPE_PRIVATE.
#
# Programs are linked against the versions of the library that was installed when they were built, private ones
# included, and refuse to start when a node is missing: so the list is made here, not written down.
set -euo pipefail

library=$1 map=$2 stubs=$3
shift 3

# "name version type": default versions alone; those of 2006 (a single @) have no users left.
symbols() {
	nm -D --defined-only --with-symbol-versions "$library" |
		awk '$2 != "A" && split($3, s, "@@") == 2 { print s[1], s[2], $2 }' | sort
}

nodes() { nm -D --defined-only "$library" | awk '$2 == "A" { sub(/@.*/, "", $3); print $3 }' | sort -V; }

ours() { nm --defined-only -g "$@" | awk 'NF == 3 && $2 != "U" { print $3 }' | sort -u; }

all=$(symbols)
[ -n "$all" ] || { echo "gen-symbols: $library exports no versioned symbols: is it a library of rdma-core?" >&2; exit 2; }

{
	echo "/* made by gen-symbols.sh from ${library##*/} */"
	previous=
	while read -r node; do
		echo "$node {"
		awk -v node="$node" '$2 == node { if (!n++) print "\tglobal:"; print "\t\t" $1 ";" }' <<<"$all"
		[ -n "$previous" ] || printf '\tlocal:\n\t\t*;\n'
		echo "}${previous:+ $previous};"
		case $node in *PRIVATE*) ;; *) previous=$node ;; esac
	done < <(nodes)
	# shellcheck disable=SC2086 # a list
	[ -z "${PRIVATE:-}" ] || printf 'VERBSCOPE_PRIVATE {\n\tglobal:\n%s};\n' "$(printf '\t\t%s;\n' $PRIVATE)"
} >"$map.tmp"

{
	echo "/* made by gen-symbols.sh: what ${library##*/} has and we do not implement */"
	echo "#include <errno.h>"
	echo "#include <stdint.h>"
	echo "#define STUB(name) __attribute__((visibility(\"default\"))) intptr_t name(void); \\"
	echo "	intptr_t name(void) { errno = ${STUB_ERRNO:-EOPNOTSUPP}; return ${STUB_RETURNS:-EOPNOTSUPP}; }"
	echo "#define STUB_POINTER(name) __attribute__((visibility(\"default\"))) void *name(void); \\"
	echo "	void *name(void) { errno = EOPNOTSUPP; return (void *)0; }"
	awk 'NR == FNR { have[$1] = 1; next }
		$1 in have { next }
		$3 ~ /[BDR]/ { print "__attribute__((visibility(\"default\"))) char " $1 "[8];"; next }
		$1 ~ /(alloc_and_init|init_and_alloc|open_device|import|create|alloc|reg_)/ && $2 !~ /PRIVATE/ { print "STUB_POINTER(" $1 ")"; next }
		$1 ~ /init_and_alloc|verbs_open_device/ { print "STUB_POINTER(" $1 ")"; next }
		{ print "STUB(" $1 ")" }' <(ours "$@") - <<<"$all"
} >"$stubs.tmp"

mv "$map.tmp" "$map"
mv "$stubs.tmp" "$stubs"
