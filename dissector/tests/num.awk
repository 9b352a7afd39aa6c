# SPDX-License-Identifier: GPL-2.0-or-later
#
# num.awk - numbers as tshark prints them ("0x0000a1", "17", "True"), in any awk.

# The hexadecimal digits of a number that is printed in hex or as bytes ("aa:bb"); decimal is converted.
function hexdigits(s) {
	if (s ~ /^0[xX]/)
		return tolower(substr(s, 3))
	if (s ~ /:/) {
		gsub(/:/, "", s)
		return s
	}
	return decimal_to_hex(s)
}

# Decimal strings of up to 20 digits, digit by digit: awk's own numbers are exact to 2^53 only.
function decimal_to_hex(s,    hex, rest, digit, i, out) {
	hex = ""
	while (s != "" && s != "0") {
		rest = 0
		out = ""
		for (i = 1; i <= length(s); i++) {
			rest = rest * 10 + substr(s, i, 1)
			digit = int(rest / 16)
			rest -= digit * 16
			if (out != "" || digit > 0)
				out = out digit
		}
		hex = substr("0123456789abcdef", rest + 1, 1) hex
		s = out
	}
	return hex == "" ? "0" : hex
}

function num(s,    i, n) {
	if (s !~ /^0[xX]/)
		return s + 0
	s = tolower(s)
	n = 0
	for (i = 3; i <= length(s); i++)
		n = n * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1
	return n
}

# Booleans: 4.0 prints 1 and 0, newer releases True and False.
function truth(s) {
	return s == "1" || s == "True" || s == "TRUE"
}
