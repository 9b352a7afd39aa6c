#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# deps.sh - installs the Debian packages that a purpose needs, and says so first.
#
#   scripts/deps.sh SET...          SET: build demo unit test apps gui bench rxe browser deb fresh all
#   scripts/deps.sh --list SET...     print the packages, one a line, and stop
#   scripts/deps.sh --missing SET...  print those that are missing, one a line, and stop
#
# Nothing missing: silent, one dpkg-query, exit 0. Otherwise it prints what is missing and the apt
# command, then
#   on a terminal              asks, and installs (through sudo unless root)
#   root without a terminal    installs
#   a user without a terminal  exit 2: the command is there to be copied
# DEPS=yes answers the question, DEPS=no declines (exit 2), DEPS=skip does not look at all (for
# machines where the libraries come from elsewhere).
#
# On other systems than Debian it looks for the tools and libraries themselves and names what it
# does not find.
set -euo pipefail

# The one list: set | package | how other systems are probed | what for
# Probe: cmd:NAME in PATH, pc:NAME known to pkg-config, h:FILE includable, - nothing.
list() {
	cat <<'EOF'
build | gcc            | cmd:gcc        | the compiler
build | libc6-dev      | h:stdio.h      | the C library's headers
build | libcrypt-dev   | h:crypt.h      | hashes of the labs' answers
build | pkg-config     | cmd:pkg-config | finds the libraries
build | libdeflate-dev | h:libdeflate.h | CRC-32
build | libpcap-dev    | pc:libpcap     | reads capture files
build | zlib1g-dev     | pc:zlib        | reads gzipped captures
build | libjansson-dev | pc:jansson     | reads traces
build | libnet1-dev    | h:libnet.h     | sends frames
build | libwireshark-dev | pc:wireshark  | headers for the Wireshark plugin
build | libglib2.0-dev | pc:glib-2.0    | the plugin API stands on GLib
build | libibverbs-dev | h:infiniband/verbs.h | the verbs that ref0 stands in for
build | librdmacm-dev  | h:rdma/rdma_cma.h | the connections that ref0 stands in for
build | binutils       | cmd:nm         | reads the symbol versions of both
demo  | tshark         | cmd:tshark     | runs the plugin in a terminal
demo  | util-linux     | cmd:unshare    | lets root run tshark with plugins
unit  | check          | pc:check       | unit tests
test  | clang          | cmd:clang      | the second compiler; libFuzzer
test  | libclang-rt-dev | -             | sanitizers and libFuzzer for clang
test  | llvm           | cmd:llvm-symbolizer | readable sanitizer reports
test  | binutils       | cmd:nm         | make check-pure
test  | wireshark-common | cmd:editcap  | edits and mutates captures
test  | clang-format   | cmd:clang-format | make format-check
test  | clang-tidy     | cmd:clang-tidy | make lint
test  | cppcheck       | cmd:cppcheck   | make lint
test  | shellcheck     | cmd:shellcheck | make lint
test  | mandoc         | cmd:mandoc     | checks the man pages
test  | iproute2       | cmd:ip         | a veth pair to replay over
test  | libxml2-utils  | cmd:xmllint    | reads JUnit reports, pictures
test  | python3-jsonschema | -          | checks JSON reports
apps  | ibverbs-utils  | cmd:ibv_devinfo | programs to run on ref0
apps  | perftest       | cmd:ib_write_bw | programs to run on ref0
apps  | rdmacm-utils   | cmd:rping      | programs to run on ref0
apps  | libfabric-bin  | cmd:fi_pingpong | programs to run on ref0
apps  | qperf          | cmd:qperf      | programs to run on ref0
apps  | ucx-utils      | cmd:ucx_perftest | programs to run on ref0
apps  | strace         | cmd:strace     | system calls that fail
apps  | iproute2       | cmd:ip         | an interface for libfabric
apps  | tshark         | cmd:tshark     | looks at a capture of connections
apps  | python3-pyverbs | -             | rdma-core's own tests
apps  | util-linux     | cmd:unshare    | an ordinary user for them
gui   | wireshark      | cmd:wireshark  | Wireshark itself
gui   | xvfb           | cmd:Xvfb       | a display without a screen
gui   | xdotool        | cmd:xdotool    | drives the window
gui   | imagemagick    | cmd:import     | takes the screenshot
gui   | chromium       | cmd:chromium   | uses the page of the conformance report
bench | iperf3         | cmd:iperf3     | make bench-ref0
bench | tcpreplay      | cmd:tcpreplay  | make bench-replay
rxe   | qemu-system-x86 | cmd:qemu-system-x86_64 | the guest's machine
rxe   | busybox-static | cmd:busybox   | most of a guest's programs
rxe   | dash           | cmd:dash      | its shell
rxe   | cpio           | cmd:cpio      | packs its files
rxe   | kmod           | cmd:depmod    | the order of its modules
rxe   | xz-utils       | cmd:xz        | unpacks kernels and modules
rxe   | zstd           | cmd:zstd      | unpacks kernels
rxe   | binutils       | cmd:strip     | makes modules small
rxe   | iproute2       | cmd:rdma      | makes the device rxe0
rxe   | ibverbs-providers | -          | the driver's part in rdma-core
rxe   | ibverbs-utils  | cmd:ibv_devinfo | programs between rxe and ref0
rxe   | perftest       | cmd:ib_write_bw | programs between rxe and ref0
rxe   | rdmacm-utils   | cmd:rping      | programs between rxe and ref0
rxe   | iperf3         | cmd:iperf3     | TCP, to compare with
rxe   | util-linux     | cmd:setpriv    | ends a guest with its script
browser | chromium     | cmd:chromium   | looks at the pages of vs-trace
deb   | debhelper      | cmd:dh         | make deb
deb   | dpkg-dev       | cmd:dpkg-buildpackage | make deb
deb   | lintian        | cmd:lintian    | looks at the packages
fresh | debootstrap    | cmd:debootstrap | make check-fresh
fresh | util-linux     | cmd:pivot_root | make check-fresh
fresh | git            | cmd:git        | make check-fresh
EOF
}

# Which sets a set contains.
expand() {
	local set
	for set; do
		case $set in
		build | apps | gui | bench | rxe | browser | deb | fresh) echo "$set" ;;
		demo) echo build demo ;;
		unit) echo build unit ;;
		test) echo build demo unit test ;;
		all) echo build demo unit test apps gui bench rxe browser deb fresh ;;
		*)
			echo "deps: no such set: $set (build demo unit test apps gui bench rxe browser deb fresh all)" >&2
			return 2
			;;
		esac
	done
}

# rows of the list that belong to the sets in $sets: "package|probe|what for"
rows() {
	list | awk -F'|' -v sets=" $sets " '
		{ for (i = 1; i <= NF; i++) gsub(/^ +| +$/, "", $i) }
		index(sets, " " $1 " ") && !seen[$2]++ { print $2 "|" $3 "|" $4 }'
}

missing_debian() {
	local -a all
	mapfile -t all < <(rows | cut -d'|' -f1)
	# dpkg-query complains about packages it never heard of: that is an answer, not an error.
	{ dpkg-query -W -f '${Package} ${db:Status-Status}\n' "${all[@]}" 2>/dev/null || true; } |
		awk -v all="${all[*]}" '
			$2 == "installed" { have[$1] = 1 }
			END { n = split(all, a, " "); for (i = 1; i <= n; i++) if (!have[a[i]]) print a[i] }'
}

is_debian() { command -v dpkg-query >/dev/null && command -v apt-get >/dev/null; }

probe() {
	case $1 in
	cmd:*) command -v "${1#cmd:}" >/dev/null ;;
	pc:*) pkg-config --exists "${1#pc:}" 2>/dev/null ;;
	h:*) echo "#include <${1#h:}>" | ${CC:-cc} -E -x c - >/dev/null 2>&1 ;;
	*) true ;;
	esac
}

missing_elsewhere() {
	local package how
	while IFS='|' read -r package how _; do
		probe "$how" || echo "$package"
	done < <(rows)
}

# Not Debian: nothing can be installed from here, so say what a person has to look for.
other_system() {
	local package how purpose
	local -a lines=()
	while IFS='|' read -r package how purpose; do
		probe "$how" || lines+=("$(printf '  %-17s %-22s %s' "$package" "(${how#*:})" "$purpose")")
	done < <(rows)
	[ ${#lines[@]} -gt 0 ] || return 0
	{
		echo "deps: this is not Debian, so install these with your own package manager (Debian's name,"
		echo "deps: what is looked for, what it is for), then run make again. DEPS=skip goes on without."
		printf '%s\n' "${lines[@]}"
	} >&2
	return 2
}

as_root() {
	if [ "$(id -u)" = 0 ]; then
		env DEBIAN_FRONTEND=noninteractive "$@"
	else
		sudo ${sudo_opt:+"$sudo_opt"} env DEBIAN_FRONTEND=noninteractive "$@"
	fi
}

# True when apt's lists know every package in "$@": on a fresh machine they are empty.
lists_know_all() {
	[ "$(apt-cache policy "$@" 2>/dev/null | grep -c '^  Candidate: [^(]')" = $# ]
}

# The command for a person to copy.
command_for() {
	local command="apt-get install --no-install-recommends $*" update='' sudo=''
	lists_know_all "$@" || update='apt-get update && '
	if [ "$(id -u)" = 0 ]; then
		echo "$update$command"
	elif [ "$have_sudo" = yes ]; then
		[ -z "$update" ] || sudo="sudo $update"
		echo "${sudo}sudo $command"
	else
		echo "su - -c '$update$command'"
	fi
}

install_debian() {
	local updated=no
	if ! lists_know_all "$@"; then
		as_root apt-get update || return
		updated=yes
	fi
	as_root apt-get install -y --no-install-recommends "$@" && return
	[ $updated = no ] || return 1
	# Old lists name files that the mirror no longer has.
	as_root apt-get update && as_root apt-get install -y --no-install-recommends "$@"
}

# 0: go on and install; 1: no.
may_install() {
	local answer
	case ${DEPS:-} in
	yes) return 0 ;;
	no) return 1 ;;
	esac
	if [ -t 0 ] && [ -t 2 ]; then
		[ "$(id -u)" = 0 ] || [ "$have_sudo" = yes ] || return 1
		read -r -p "deps: run this now? [Y/n] " answer || answer=n
		case $answer in
		'' | [yY] | [yY][eE][sS]) return 0 ;;
		*) return 1 ;;
		esac
	fi
	[ "$(id -u)" = 0 ]
}

main() {
	local mode=install sets have_sudo=no sudo_opt=''
	local -a missing
	case ${DEPS:-} in
	'' | yes | no | skip) ;;
	*)
		echo "deps: DEPS=$DEPS is not one of yes, no, skip" >&2
		return 2
		;;
	esac
	case ${1:-} in
	--list | --missing)
		mode=${1#--}
		shift
		;;
	esac
	[ $# -gt 0 ] || set -- test
	sets=$(expand "$@" | tr '\n' ' ') || return 2
	if [ "$mode" = list ]; then
		rows | cut -d'|' -f1
		return
	fi
	if [ "$mode" = missing ]; then
		if is_debian; then missing_debian; else missing_elsewhere; fi
		return
	fi
	[ "${DEPS:-}" != skip ] || return 0
	if ! is_debian; then
		other_system
		return
	fi
	mapfile -t missing < <(missing_debian)
	[ ${#missing[@]} -gt 0 ] || return 0

	command -v sudo >/dev/null && have_sudo=yes
	[ -t 0 ] || sudo_opt=-n # nobody is there to type a password
	{
		echo "deps: missing Debian packages:"
		rows | awk -F'|' -v m=" ${missing[*]} " 'index(m, " " $1 " ") { printf "  %-17s %s\n", $1, $3 }'
		echo "deps: the command that installs them:"
		echo "  $(command_for "${missing[@]}")"
	} >&2
	if ! may_install; then
		echo "deps: nothing was installed; run the command above, then make again." >&2
		return 2
	fi
	if [ "$(id -u)" != 0 ] && [ $have_sudo = no ]; then
		echo "deps: there is no sudo here: run the command above as root, then make again." >&2
		return 2
	fi
	if ! install_debian "${missing[@]}" </dev/null; then
		echo "deps: the installation failed; the lines above say why." >&2
		return 2
	fi
	mapfile -t missing < <(missing_debian)
	if [ ${#missing[@]} -gt 0 ]; then
		echo "deps: still missing after the installation: ${missing[*]}" >&2
		return 2
	fi
}

main "$@"
