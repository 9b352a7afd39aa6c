# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# page.awk - a text file as C strings, one a line: awk -f page.awk report.html > page.c
BEGIN {
	print "/* Made of report.html. */"
	print "#include <stddef.h>"
	print "extern const char *const vc_html_line[];"
	print "const char *const vc_html_line[] = {"
}
{
	gsub(/\\/, "&&")
	gsub(/"/, "\\\"")
	print "\"" $0 "\\n\","
}
END { print "NULL};" }
