# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# figure.awk - one line of JSON of the values on standard input: see figures.sh.
#
#   figure.awk NAME UNIT HOW [KEY=VALUE...]    figure.awk --missed TEXT    figure.awk --record KIND [KEY=VALUE...]

function text(s,    i, c, out) {
	out = ""
	for (i = 1; i <= length(s); i++) {
		c = substr(s, i, 1)
		out = out (c == "\\" || c == "\"" ? "\\" c : c < " " ? " " : c)
	}
	return "\"" out "\""
}

function is_number(s) { return s ~ /^-?[0-9]+(\.[0-9]*)?([eE][-+]?[0-9]+)?$/ }

# Numbers of v[1..n], sorted, and what stands for them.
function sorted(v, n,    i, k, t) {
	for (i = 2; i <= n; i++) {
		t = v[i]
		for (k = i - 1; k >= 1 && v[k] > t; k--) v[k + 1] = v[k]
		v[k + 1] = t
	}
}
function chosen(v, n, how) {
	sorted(v, n)
	return how == "most" ? v[n] : how == "least" ? v[1] : n % 2 ? v[(n + 1) / 2] : (v[n / 2] + v[n / 2 + 1]) / 2
}

function number(x) { return sprintf("%.9g", x) }

function key(name, json) { line = line ", " text(name) ": " json }

BEGIN {
	how = ARGV[3]
	first = 4
	if (ARGV[1] == "--missed") {
		print "{\"record\": \"missed\", \"reason\": " text(ARGV[2]) "}"
		done = 1
		exit
	}
	if (ARGV[1] == "--record") {
		line = "{\"record\": " text(ARGV[2])
		for (i = 3; i < ARGC; i++) {
			at = index(ARGV[i], "=")
			name = substr(ARGV[i], 1, at - 1)
			value = substr(ARGV[i], at + 1)
			key(name, name ~ /^(cores|memory_mb|load_before|load_after|seconds|load)$/ && is_number(value) ? value : text(value))
		}
		print line "}"
		done = 1
		exit
	}
	for (i = first; i < ARGC; i++) {
		at = index(ARGV[i], "=")
		option[substr(ARGV[i], 1, at - 1)] = substr(ARGV[i], at + 1)
	}
	name = ARGV[1]
	unit = ARGV[2]
	ARGC = 1
}

is_number($1) { taken[++n] = $1 + 0 }
{ rounds++ }

END {
	if (done) exit
	line = "{\"record\": \"figure\", \"name\": " text(name)
	key("unit", text(unit))
	value = n ? chosen(taken, n, how) : ""
	key("value", n ? number(value) : "null")
	key("how", text(how))
	key("rounds", rounds + 0)
	key("failed_rounds", rounds - n)
	if (n) key("spread", "[" number(taken[1]) ", " number(taken[n]) "]")
	if ("better" in option) key("better", text(option["better"]))
	if ("peer" in option) {
		key("peer", text(option["peer"]))
		if ("peer_values" in option) {
			while ((getline x < option["peer_values"]) > 0) if (is_number(x)) p[++m] = x + 0
			if (m) {
				option["peer_value"] = chosen(p, m, how)
				key("peer_spread", "[" number(p[1]) ", " number(p[m]) "]")
			}
		}
		if (is_number(option["peer_value"])) {
			key("peer_value", number(option["peer_value"]))
			if (n && option["peer_value"] + 0 != 0) key("ratio", number(value / option["peer_value"]))
		}
	}
	if (is_number(option["aim"])) key("aim", number(option["aim"]))
	if (is_number(option["aim_ratio"])) key("aim_ratio", number(option["aim_ratio"]))
	print line "}"
}
