# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# shellcheck shell=bash
#
# guest.sh (sourced) - one guest with a shell, for scripts that run programs in it:
#
#   guest_start OPTIONS OF boot.sh...   returns when it takes commands; 1: it does not, and why is on standard error
#   guest_run 'COMMAND'                 one line for its shell; prints the output, returns the exit code (255: no guest any more)
#   guest_stop                          switches it off; 1: it did not go in order
#   guest_kill                          ends it at once, if there is one: for the EXIT trap
#
# The script's own shell has it as a coprocess.
guest_pid=''

guest_start() {
	coproc GUEST { exec "$(dirname "${BASH_SOURCE[0]}")/boot.sh" "$@"; }
	# shellcheck disable=SC2153 # of coproc
	guest_pid=$GUEST_PID
	exec {guest_out}<&"${GUEST[0]}" {guest_in}>&"${GUEST[1]}"
	eval "exec ${GUEST[0]}<&- ${GUEST[1]}>&-"
	guest_run true >/dev/null
}

guest_run() { # command
	local line
	{ echo "$1" >&"$guest_in"; } 2>/dev/null || return 255
	while IFS= read -r line <&"$guest_out"; do
		case $line in
		'[['*']]')
			line=${line#\[\[}
			return "${line%\]\]}"
			;;
		esac
		printf '%s\n' "$line"
	done
	return 255
}

guest_stop() {
	local rc=0
	exec {guest_in}>&- {guest_out}<&-
	wait "$guest_pid" || rc=$?
	guest_pid=''
	return $rc
}

guest_kill() {
	[ -n "$guest_pid" ] || return 0
	kill "$guest_pid" 2>/dev/null || true
	wait "$guest_pid" 2>/dev/null || true
	guest_pid=''
}
