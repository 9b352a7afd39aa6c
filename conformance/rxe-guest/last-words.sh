#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# last-words.sh CONSOLE - of a kernel that died: what it says was wrong, where, and why it stopped, in one line.
set -euo pipefail
tr -d '\r' <"${1:?which console?}" | sed 's/^\[ *[0-9.]*\] *//' | awk '
	!bug && /^(BUG:|general protection fault|Oops|kernel BUG at|int3:|divide error|WARNING:|watchdog: BUG|refcount_t:|invalid opcode)/ { bug = $0 }
	!rip && /^RIP: 0010:/ { sub(/^RIP: 0010:/, ""); rip = $0 }
	/^Kernel panic/ { panic = $0 }
	END { printf "%s%s%s\n", (bug ? bug "; " : ""), (rip ? "in " rip "; " : ""), panic }'
