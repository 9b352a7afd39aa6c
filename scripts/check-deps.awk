# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# check-deps.awk - the work of check-deps.sh. Reads, from standard input, lines
#   edge ROOM: ROOM...       what a room may include
#   public ROOM: HEADER...   where a public header or a table belongs
#   file PATH                every file of the repository
# then opens the C files among them and prints each #include that no edge allows.

$1 == "edge" {
	sub(/:$/, "", $2)
	known[$2] = 1
	for (i = 3; i <= NF; i++)
		may[$2, $i] = 1
}

$1 == "public" {
	sub(/:$/, "", $2)
	for (i = 3; i <= NF; i++)
		home[($i ~ /^vs\// ? "transport/include/" : "transport/") $i] = $2
}

$1 == "file" { exists[substr($0, 6)] = 1 }

END {
	close_edges()
	for (f in exists)
		if (f ~ /\.([ch]|def)$/ && f !~ /^labs\/([0-9][0-9]-|include\/)/) # programs of learners are no room
			check_file(f)
	exit bad
}

# a may include b, and b may include c: then a may include c.
function close_edges(   a, b, c) {
	for (b in known)
		for (a in known)
			for (c in known)
				if ((a, b) in may && (b, c) in may)
					may[a, c] = 1
}

# "" when it belongs to no room
function room(path,   part, n) {
	if (path in home)
		return home[path]
	n = split(path, part, "/")
	if (part[1] == "transport")
		return (n > 2 && part[2] in known) ? part[2] : ""
	if (n > 2 && part[2] ~ /^(tests|bench)$/)
		part[1] = part[1] "-tests"
	return part[1] in known ? part[1] : ""
}

function finding(where, text) {
	print where ": " text
	bad = 1
}

# a/b/../c -> a/c
function clean(path,   part, n, i, out, depth) {
	n = split(path, part, "/")
	depth = 0
	for (i = 1; i <= n; i++) {
		if (part[i] == "." || part[i] == "")
			continue
		if (part[i] == ".." && depth > 0)
			depth--
		else
			out[++depth] = part[i]
	}
	path = out[1]
	for (i = 2; i <= depth; i++)
		path = path "/" out[i]
	return path
}

# The repository's file that `name`, included by `from`, means; "" when there is none.
function resolve(from, name,   dir, try) {
	dir = from
	sub(/[^\/]*$/, "", dir)
	try = clean(dir name)
	if (try in exists)
		return try
	try = clean("transport/include/" name)
	if (try in exists)
		return try
	try = clean("transport/" name)
	if (try in exists)
		return try
	try = clean(name) # from the root
	return try in exists ? try : ""
}

function check_file(f,   line, nr, from) {
	from = room(f)
	if (from == "") {
		finding(f ":1", "belongs to no room: add it to the tables in scripts/check-deps.sh")
		return
	}
	nr = 0
	while ((getline line < f) > 0) {
		nr++
		if (line ~ /^[ \t]*#[ \t]*include[ \t]*["<]/)
			check_include(f ":" nr, f, from, line)
	}
	close(f)
}

function check_include(where, f, from, line,   name, system_header, target, to) {
	system_header = line ~ /^[^"]*</
	name = line
	sub(/^[^"<]*["<]/, "", name)
	sub(/[">].*$/, "", name)
	if (system_header && name !~ /^vs\//) {
		if (from !~ /^dissector/ && name ~ /^(epan|wsutil|wiretap|wireshark|ui)\//)
			finding(where, "<" name ">: Wireshark's headers are for dissector/ alone (GPL)")
		return
	}
	target = resolve(f, name)
	if (target == "") {
		finding(where, "\"" name "\" was not found in the repository (system headers go in <>)")
		return
	}
	to = room(target)
	if (to == "" && target != f) {
		finding(where, "\"" name "\" belongs to no room")
		return
	}
	if (to != from && !((from, to) in may))
		finding(where, from " may not include " to " (\"" name "\")")
}
