# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# lint-psn.awk - the work of lint-psn.sh: tokenises C and looks at the operands of
#   <  >  <=  >=  +  -  +=  -=  ++  --
# An operand is PSN-named when the last identifier of its chain (a->b.psn, psn[i]) has psn, msn, ssn
# or epsn among its words, is not a constant (ALL_CAPS), not a call, and does not name something
# about a PSN (psn_off, hf_bth_psn, psn_text ...). == and != are fine; so are shifts and masks.
# A comparison with an ALL_CAPS constant is a range check of a field, and fine too.

function psn_named(id,   part, n, i) {
	if (id !~ /[a-z]/ || id ~ /^(hf|ei|ett|test|vs)_/)
		return 0
	n = split(id, part, "_")
	if (n > 1 && part[n] ~ /^(off|offset|len|size|count|n|num|text|name|str|bits|mask|seen|valid|known|test|gap|diff|delta|dist|rng)$/)
		return 0
	for (i = 1; i <= n; i++)
		if (part[i] ~ /^e?(psn|msn|ssn)[0-9]*$/)
			return 1
	return 0
}

# Strips strings, characters and comments; keeps columns out of it.
function code_of(line,   out, c, two, i, n) {
	out = ""
	n = length(line)
	for (i = 1; i <= n; i++) {
		c = substr(line, i, 1)
		two = substr(line, i, 2)
		if (in_comment) {
			if (two == "*/") {
				in_comment = 0
				i++
			}
		} else if (two == "/*") {
			in_comment = 1
			i++
			out = out " "
		} else if (two == "//") {
			break
		} else if (c == "\"" || c == "'") {
			i = skip_literal(line, i, c)
			out = out "0"
		} else {
			out = out c
		}
	}
	return out
}

function skip_literal(line, i, quote,   c) {
	for (i++; i <= length(line); i++) {
		c = substr(line, i, 1)
		if (c == "\\")
			i++
		else if (c == quote)
			break
	}
	return i
}

function tokenise(s, nr,   m) {
	while (s != "") {
		if (match(s, /^[ \t]+/)) {
			s = substr(s, RLENGTH + 1)
			continue
		}
		if (!match(s, /^[A-Za-z_][A-Za-z_0-9]*/) && !match(s, /^[0-9][0-9A-Za-z_.]*/) && !match(s, /^(<<=|>>=|\.\.\.)/) &&
		    !match(s, /^(->|<<|>>|<=|>=|==|!=|\+\+|--|\+=|-=|\*=|\/=|%=|&=|\|=|\^=|&&|\|\|)/))
			RLENGTH = 1
		m = substr(s, 1, RLENGTH)
		tok[++ntok] = m
		at[ntok] = nr
		s = substr(s, RLENGTH + 1)
	}
}

# The identifier that the operand ending at token i is about; "" for anything else.
function left_operand(i,   depth) {
	while (tok[i] == "]") {
		depth = 1
		for (i--; i > 0 && depth > 0; i--)
			depth += tok[i] == "]" ? 1 : tok[i] == "[" ? -1 : 0
	}
	return tok[i] ~ /^[A-Za-z_]/ ? tok[i] : ""
}

# The same for the operand that begins at token i: casts and signs are skipped, a call has no name.
function right_operand(i,   id) {
	while (tok[i] == "*" || tok[i] == "&" || tok[i] == "-" || tok[i] == "+" || (tok[i] == "(" && is_cast(i)))
		i = tok[i] == "(" ? close_of(i) + 1 : i + 1
	id = tok[i]
	while (tok[i] ~ /^[A-Za-z_]/) {
		id = tok[i]
		i++
		while (tok[i] == "[")
			i = close_bracket(i) + 1
		if (tok[i] == "." || tok[i] == "->")
			i++
		else
			break
	}
	return (tok[i] == "(" || id !~ /^[A-Za-z_]/) ? "" : id
}

function is_cast(i,   j, last) {
	last = close_of(i)
	for (j = i + 1; j < last; j++)
		if (tok[j] !~ /^([a-z_]+_t|unsigned|signed|int|long|short|char|const|struct|\*)$/)
			return 0
	return last > i + 1
}

function close_of(i,   depth) {
	for (depth = 0; i <= ntok; i++) {
		depth += tok[i] == "(" ? 1 : tok[i] == ")" ? -1 : 0
		if (depth == 0)
			return i
	}
	return ntok
}

function close_bracket(i,   depth) {
	for (depth = 0; i <= ntok; i++) {
		depth += tok[i] == "[" ? 1 : tok[i] == "]" ? -1 : 0
		if (depth == 0)
			return i
	}
	return ntok
}

function is_constant(id) {
	return id ~ /^[A-Z][A-Z_0-9]*$/
}

function check_operator(i,   op, l, r) {
	op = tok[i]
	l = left_operand(i - 1)
	r = right_operand(i + 1)
	if (op == "++" || op == "--") {
		if (psn_named(l) || (l == "" && psn_named(r)))
			finding(i, op)
		return
	}
	if ((op == "+" || op == "-") && l == "" && tok[i - 1] != ")" && tok[i - 1] !~ /^[0-9]/)
		return # a sign
	if (!psn_named(l) && !psn_named(r))
		return
	if (op ~ /^[<>]=?$/ && (is_constant(l) || is_constant(r)))
		return
	finding(i, op)
}

function finding(i, op) {
	if (waived[at[i]])
		return
	print FILENAME_NOW ":" at[i] ": raw " op " on a PSN, MSN or SSN: they live on a circle, use psn.h"
	bad = 1
}

function check_file(   i) {
	for (i = 2; i <= ntok; i++)
		if (tok[i] ~ /^(<|>|<=|>=|\+|-|\+=|-=|\+\+|--)$/)
			check_operator(i)
	ntok = 0
	split("", tok)
	split("", waived)
	in_comment = 0
}

FNR == 1 {
	if (NR > 1)
		check_file()
	FILENAME_NOW = FILENAME
	tok[++ntok] = ";"
}

{
	if ($0 ~ /lint: psn-ok [a-z]/)
		waived[FNR] = 1
	if ($0 ~ /^[ \t]*#[ \t]*(include|if|error|pragma)/)
		next
	tokenise(code_of($0), FNR)
}

END {
	check_file()
	exit bad
}
