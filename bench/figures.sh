# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# shellcheck shell=bash
#
# figures.sh - how a benchmark hands over what it has measured: one line of JSON for each figure, behind the others in the
# file that VS_BENCH_FIGURES names (bench/run.sh). Without that, nothing: then the benchmark was called by hand.
# bench/README.md has the form. Sourced by the scripts of the benchmarks; transport/tests/figure.h is the same in C.

# figure NAME UNIT HOW [KEY=VALUE...] <VALUES
#   the values of all rounds, one a line; what is no number is a round that failed. HOW: median, most or least of them.
#   better=more|less   peer=NAME and peer_values=FILE or peer_value=N   aim=N   aim_ratio=N
figure() {
	if [ -z "${VS_BENCH_FIGURES:-}" ]; then
		cat >/dev/null
		return 0
	fi
	LC_ALL=C awk -f "$(dirname "${BASH_SOURCE[0]}")/figure.awk" -- "$@" >>"$VS_BENCH_FIGURES"
}

# A figure that is measured once.
figure_once() { # NAME UNIT VALUE [KEY=VALUE...]
	printf '%s\n' "$3" | figure "$1" "$2" median "${@:4}"
}

# What the benchmark fails for although it has measured everything.
missed() { # text
	[ -z "${VS_BENCH_FIGURES:-}" ] || LC_ALL=C awk -f "$(dirname "${BASH_SOURCE[0]}")/figure.awk" -- --missed "$1" >>"$VS_BENCH_FIGURES"
}
