# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# coverage.awk - reads `gcov --branch-probabilities --branch-counts --stdout`, sums lines and branches per
# source below `dir`, prints a table, and writes what was never reached to the file `uncovered`.
#
# Branches of assert() are not counted: the way into __assert_fail is a bug of ours, no test can take it.
# Lines of the assertion are counted as any other.
#
# -v dir=transport/core/ -v uncovered=FILE -v min_lines=95 -v min_branches=85 -v files="a.c b.c ..."
# Exit 1 below one of the minima, or when a file of `files` is missing in the input.

function percent(part, all) { return all == 0 ? 100 : 100 * part / all }

function row(name, l, lh, b, bh) {
	printf "%-18s %6d %6d %7.2f %%   %6d %6d %7.2f %%\n", name, l, lh, percent(lh, l), b, bh, percent(bh, b)
}

{ text = $0 }

text ~ /^ *-: *0:Source:/ {
	sub(/^ *-: *0:Source:/, "", text)
	wanted = index(text, dir) == 1
	file = substr(text, length(dir) + 1)
	in_assert = 0
	next
}
!wanted { next }

# "    count:  line:source"; count is "-" (no code), "#####" or "=====" (never), or a number, perhaps with "*".
match(text, /^ *[^ :]+: *[0-9]+:/) {
	split(text, part, ":")
	count = part[1]
	line = part[2] + 0
	source = substr(text, RLENGTH + 1)
	gsub(/[ *]/, "", count)
	if (line == 0)
		next
	if (!in_assert || asserted_before)
		in_assert = source ~ /(^|[^_a-zA-Z0-9])assert\(/
	asserted_before = in_assert && source ~ /;[ \t]*$/
	if (count != "-") {
		lines[file]++
		if (count ~ /^[#=%$]/)
			printf "%s%s:%d: line never reached: %s\n", dir, file, line, source > uncovered
		else
			lines_hit[file]++
	}
	seen[file] = 1
	next
}

text ~ /^branch / && !in_assert {
	branches[file]++
	if (text ~ /taken [1-9]/)
		branches_hit[file]++
	else if (text !~ /never executed/ || count !~ /^[#=]/)
		printf "%s%s:%d: %s %s never taken: %s\n", dir, file, line, $1, $2, source > uncovered
}

END {
	n = split(files, name, " ")
	print "file                lines    hit            branches    hit"
	for (i = 1; i <= n; i++) {
		f = name[i]
		if (!(f in seen)) {
			print "coverage: " dir f ": not in the output of gcov"
			bad = 1
		}
		row(f, lines[f], lines_hit[f], branches[f], branches_hit[f])
		l += lines[f]; lh += lines_hit[f]; b += branches[f]; bh += branches_hit[f]
	}
	row("all", l, lh, b, bh)
	if (percent(lh, l) < min_lines || percent(bh, b) < min_branches) {
		printf "coverage: at least %d %% of lines and %d %% of branches have to be reached\n", min_lines, min_branches
		bad = 1
	}
	exit bad
}
