# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# mutants.awk - sums up what mutants.sh found: reads the list of sites, -v results=FILE and -v equivalents=FILE.
#
# A line of `equivalents`: file, function, operator, original text, faulty text, reason, between tabs; # comments.

BEGIN {
	while ((getline line <equivalents) > 0) {
		n = split(line, part, "\t")
		if (line ~ /^(#|$)/)
			continue
		if (n != 6 || part[6] == "") {
			print equivalents ": needs 6 columns, the last one a reason: " line
			bad = 1
		}
		key = part[1] "\t" part[2] "\t" part[3] "\t" part[4] "\t" part[5]
		equivalent[key] = 1
	}
	while ((getline line <results) > 0) {
		split(line, part, " ")
		by[part[1]] = part[2]
	}
}

{
	split($2, place, ":")
	key = place[1] "\t" $3 "\t" $4 "\t" $5 "\t" $6
	exists[key] = 1
}

!($1 in by) { next }

key in equivalent {
	listed++
	if (by[$1] != "-") {
		printf "%d %s: listed as equivalent, but %s notices it: %s -> %s\n", $1, $2, by[$1], $5, $6
		bad = 1
	}
	next
}

{
	tried[$4]++
	all++
	if (by[$1] == "-") {
		survivor[++survivors] = sprintf("%5d  %-14s %-22s %-7s  %s%s", $1, $2, $3, $4, $5, $6 != "" ? "  ->  " $6 : "")
	} else {
		noticed[$4]++
		all_noticed++
		soak_only += by[$1] == "sim_soak"
	}
}

END {
	for (key in equivalent)
		if (!(key in exists)) {
			print equivalents ": no such fault any more: " key
			bad = 1
		}
	for (i = 1; i <= survivors; i++)
		print (i == 1 ? "\nnot noticed:\n" : "") survivor[i]
	print "\noperator      tried  noticed"
	n = split("compare drop number swap", op, " ")
	for (i = 1; i <= n; i++)
		printf "%-10s %8d %8d  %6.2f %%\n", op[i], tried[op[i]], noticed[op[i]], tried[op[i]] ? 100 * noticed[op[i]] / tried[op[i]] : 100
	printf "%-10s %8d %8d  %6.2f %%  (%d of them by the soak alone; besides %d equivalent)\n", "all", all, all_noticed, all ? 100 * all_noticed / all : 100, soak_only, listed
	if (all_noticed < 0.9 * all) {
		print "mutants: at least 90 % have to be noticed"
		bad = 1
	}
	exit bad
}
