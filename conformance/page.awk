# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# page.awk - a text file as C strings, one a line: awk -v name=vc_html_line -f page.awk report.html > page.c
BEGIN {
	print "/* Made of a page by page.awk. */"
	print "#include <stddef.h>"
	print "extern const char *const " name "[];"
	print "const char *const " name "[] = {"
}
{
	gsub(/\\/, "&&")
	gsub(/"/, "\\\"")
	print "\"" $0 "\\n\","
}
END { print "NULL};" }
