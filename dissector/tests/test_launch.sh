#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# test_launch.sh BUILD - vs-tshark: exit codes, arguments, plugins, root and user, live capture.
# shellcheck source=dissector/tests/launch_lib.sh
. "$(dirname "$0")/launch_lib.sh"

# ---- own options, exit codes ----

help_and_version_are_ours() {
	run "$vt" --help && expect_rc 0 && expect_out "Usage: vs-tshark" && expect_quiet &&
		run "$vw" --help && expect_rc 0 && expect_out "Usage: vs-wireshark" &&
		run "$vt" --version && expect_rc 0 && expect_out "vs-tshark $(cat VERSION)" && expect_out "$plugin"
}

tsharks_own_help_and_version_are_reachable() {
	run "$vt" -v && expect_rc 0 && expect_out "TShark (Wireshark) $version" &&
		run "$vt" -h && expect_rc 0 && expect_out "Usage: tshark"
}

exit_code_is_tsharks() {
	local arguments direct
	for arguments in "-r $tmp/none" "-r $capture -Y no(such" "-r $capture" "--no-such-option"; do
		# shellcheck disable=SC2086 # a list of words
		direct=$("$tshark" $arguments >/dev/null 2>&1; echo $?)
		# shellcheck disable=SC2086
		run "$vt" $arguments
		expect_rc "$direct" || { echo "for: $arguments" && return 1; }
	done
}

missing_tshark_is_127_and_one_line() {
	mkdir -p "$tmp/empty"
	PATH=$tmp/empty run "$vt" -r "$capture"
	expect_rc 127 && expect_err "tshark is not in PATH" && expect_own_lines 1 && [ "$(wc -l <"$err")" = 1 ]
}

tshark_that_cannot_be_run_is_126() {
	mkdir -p "$tmp/noexec"
	echo 'not a program' >"$tmp/noexec/tshark"
	PATH=$tmp/noexec run "$vt" -r "$capture"
	expect_rc 126 && expect_own_lines 1 && [ "$(wc -l <"$err")" = 1 ]
}

# copy_tree DIR: what the launchers need, without plugins
copy_tree() {
	mkdir -p "$1/bin" "$1/lib/verbscope"
	cp "$vt" "$vw" "$1/bin/"
	cp "$shim" "$1/lib/verbscope/"
	cp -R "$build/share" "$1/"
}

missing_plugin_is_125_and_says_make() {
	copy_tree "$tmp/bare"
	run "$tmp/bare/bin/vs-tshark" -r "$capture"
	expect_rc 125 && expect_err "make" && [ "$(wc -l <"$err")" = 1 ]
}

plugin_in_another_versions_folder_is_125() {
	copy_tree "$tmp/old"
	mkdir -p "$tmp/old/plugins/3.6/epan"
	sed 's/libwireshark\.so\.[0-9]*/libwireshark.so.99/' "$plugin" >"$tmp/old/plugins/3.6/epan/verbscope.so"
	run "$tmp/old/bin/vs-tshark" -r "$capture"
	expect_rc 125 && expect_err "for Wireshark 3.6" && expect_err "version $version" && [ "$(wc -l <"$err")" = 1 ]
}

plugin_built_for_another_library_is_125() {
	copy_tree "$tmp/wrong"
	mkdir -p "$tmp/wrong/plugins/$version/epan"
	sed 's/libwireshark\.so\.[0-9]*/libwireshark.so.99/' "$plugin" >"$tmp/wrong/plugins/$version/epan/verbscope.so"
	run "$tmp/wrong/bin/vs-tshark" -r "$capture"
	expect_rc 125 && expect_own_lines 1
}

garbage_for_a_plugin_is_125() {
	local size
	copy_tree "$tmp/garbage"
	mkdir -p "$tmp/garbage/plugins/$version/epan"
	for size in 0 3 64 200 4096; do
		head -c "$size" "$plugin" >"$tmp/garbage/plugins/$version/epan/verbscope.so"
		run "$tmp/garbage/bin/vs-tshark" -r "$capture"
		expect_rc 125 || { echo "first $size bytes" && return 1; }
	done
}

tshark_of_another_version_is_125_and_named() {
	PATH=$tmp/fake-tshark-9.8:$PATH run "$vt" -r "$capture"
	expect_rc 125 && expect_err "is version 9.8" && [ "$(wc -l <"$err")" = 1 ]
}

tshark_that_is_a_script_is_asked_for_its_version() {
	PATH=$fake_tshark:$PATH run "$vt" -r "$capture"
	expect_rc 0 && expect_out "[-r][$capture]"
}

launcher_named_tshark_does_not_run_itself() {
	mkdir -p "$tmp/alias"
	ln -sf "$vt" "$tmp/alias/tshark"
	PATH=$tmp/alias:$PATH run timeout 20 "$tmp/alias/tshark" -v
	expect_rc 0 && expect_out "TShark (Wireshark)"
}

# ---- arguments ----

arguments_arrive_as_they_were() {
	PATH=$fake_tshark:$PATH run "$vt" -r "a b" -Y 'it'\''s "q"' '' '*' "\$HOME" $'new\nline' --inter=x -- -i --help
	expect_rc 0 || return
	[ "$(sed '$d' "$out")" = "[-r][a b][-Y][it's \"q\"][][*][\$HOME][new
line][--inter=x][--][-i][--help]" ]
}

# ---- root and user ----

# Everything that plain tshark lists, ours lists too.
systems_plugins_are_kept() {
	"$tshark" -G plugins 2>/dev/null | awk '{ print $1 }' | sort >"$tmp/plain"
	"$vt" -G plugins 2>/dev/null | awk '{ print $1 }' | sort >"$tmp/ours"
	[ -s "$tmp/plain" ] && [ -z "$(comm -23 "$tmp/plain" "$tmp/ours" | tee "$out")" ]
}

a_system_plugin_that_came_later_is_missed_aloud() {
	local link
	copy_tree "$tmp/stale"
	cp -a "$build/plugins" "$tmp/stale/"
	link=$(find "$tmp/stale/plugins/$version/epan" -type l | head -n 1)
	[ -n "$link" ] || { echo "no links" && return 1; }
	rm "$link"
	run "$tmp/stale/bin/vs-tshark" -r "$capture" -c 1
	expect_rc 0 && expect_err "1 of the system's Wireshark plugins"
}

links_are_made_again_by_make() {
	mkdir -p "$tmp/from/$version/epan" "$tmp/from/lua"
	touch "$tmp/from/$version/epan/"{a,b,verbscope}.so "$tmp/from/x.lua"
	mkdir -p "$tmp/to/$version/epan"
	echo ours >"$tmp/to/$version/epan/b.so"
	dissector/launch/link-plugins.sh "$tmp/from" "$tmp/to" "$version" &&
		[ -L "$tmp/to/$version/epan/a.so" ] && [ ! -L "$tmp/to/$version/epan/b.so" ] &&
		[ ! -e "$tmp/to/$version/epan/verbscope.so" ] && [ -L "$tmp/to/x.lua" ] && [ -L "$tmp/to/lua" ] &&
		rm "$tmp/from/$version/epan/a.so" && dissector/launch/link-plugins.sh "$tmp/from" "$tmp/to" "$version" &&
		[ ! -L "$tmp/to/$version/epan/a.so" ]
}

# reads_and_writes PREFIX...: two passes, a file name with blanks, and the written file is the same packets
reads_and_writes() {
	local n file="$tmp/pub/w r'i\"t.pcapng"
	rm -f "$file"
	n=$("$tshark" -r "$capture" 2>/dev/null | wc -l)
	run "$@" "$vt" -2 -r "$capture" -w "$file"
	expect_rc 0 && expect_quiet || return
	run "$@" "$vt" -r "$file"
	expect_rc 0 && expect_quiet && [ "$(wc -l <"$out")" = "$n" ]
}

one_pass_equals_two() {
	"$vt" -r "$capture" >"$tmp/one" && "$vt" -2 -r "$capture" >"$tmp/two" && cmp "$tmp/one" "$tmp/two"
}

decodes_as_rdma() {
	run "$@" "$vt" -r "$capture" -T fields -e rdma.bth.psn
	expect_rc 0 && expect_quiet && grep -q '^[0-9]' "$out"
}

home_need_not_be_writable() {
	HOME=/nonexistent run "$@" "$vt" -r "$capture" -c 1
	expect_rc 0 && expect_quiet && [ "$(wc -l <"$out")" = 1 ]
}

standard_input_and_pipes_are_files_too() {
	run "${as_root[@]}" "$vt" -r - -c 1 <"$capture"
	expect_rc 0 && expect_quiet && [ -s "$out" ] || return
	run "${as_root[@]}" bash -c "\"\$1\" -r <(cat \"\$2\") -c 1" - "$vt" "$capture"
	expect_rc 0 && expect_quiet && [ -s "$out" ]
}

# As root where the kernel grants no namespace: a limit of 0 in one that we are root in.
without_namespaces() {
	if [ "$(id -u)" = 0 ] && [ -n "$root_problem" ]; then
		"$@"
		return
	fi
	unshare --user --map-root-user bash -c 'echo 0 >/proc/sys/user/max_user_namespaces && exec "$@"' - "$@"
}

# tshark complains about these and reads nothing: no rights are needed for it.
a_missing_argument_is_for_tshark_to_complain_about() {
	local option direct
	for option in -r -Y -nr -w --read-file --display-filter; do
		direct=$("$tshark" $option >/dev/null 2>&1; echo $?)
		run "${as_root[@]}" "$vt" $option
		if ! expect_rc "$direct" || ! expect_own_lines 0; then
			echo "for: $option" && return 1
		fi
	done
}

namespaces_refused_means_the_shim() {
	lists_plugin 1 without_namespaces "$vt" && expect_err "user namespaces are refused"
}

group_root_counts_as_root() {
	lists_plugin 0 setpriv --reuid=65534 --regid=0 --clear-groups "$vt"
}

a_file_only_root_can_read_is_read() {
	install -m 600 -o 65534 "$capture" "$tmp/private.pcap"
	run "$vt" -r "$tmp/private.pcap" -c 1
	expect_rc 0 && expect_own_lines 1 && expect_err "$tmp/private.pcap needs them" && [ "$(wc -l <"$out")" = 1 ]
}

a_folder_only_root_can_write_is_written() {
	install -d -m 755 -o 65534 "$tmp/private"
	run "$vt" -r "$capture" -w "$tmp/private/x.pcap"
	expect_rc 0 && expect_own_lines 1 && [ -s "$tmp/private/x.pcap" ]
}

shim_hides_nothing_from_others() {
	[ "$("${as_root[@]}" LD_PRELOAD="$shim" id -u)" = 0 ]
}

shim_gives_children_the_environment_of_before() {
	! LD_PRELOAD=$shim VS_LAUNCH_PRELOAD="" bash -c env | grep -q -e LD_PRELOAD -e VS_LAUNCH &&
		[ "$(LD_PRELOAD=$shim:libc.so.6 VS_LAUNCH_PRELOAD=libc.so.6 bash -c env | grep LD_PRELOAD)" = LD_PRELOAD=libc.so.6 ]
}

works_from_a_folder_with_blanks_and_colons() {
	local dir="$tmp/a b: 'c"
	copy_tree "$dir" && cp -a "$build/plugins" "$dir/"
	lists_plugin 0 "${as_root[@]}" "$dir/bin/vs-tshark" && lists_plugin 1 without_namespaces "$dir/bin/vs-tshark"
}

works_where_it_is_installed() {
	copy_tree "$tmp/prefix" && cp -a "$build/plugins" "$tmp/prefix/lib/verbscope/"
	lists_plugin 0 "${as_root[@]}" "$tmp/prefix/bin/vs-tshark" && expect_out "$tmp/prefix/lib/verbscope/plugins/$version/epan/verbscope.so"
}

# ---- live ----

# Root of the machine, or of a network namespace of our own.
live_prefix=() live_problem=''
if [ "$(id -u)" != 0 ]; then
	live_problem=$root_problem
	# shellcheck disable=SC2016 # for the inner shell
	live_prefix=(unshare --user --map-root-user --net bash -c 'ip link set lo up && exec "$@"' -)
	command -v ip >/dev/null || live_problem="ip (iproute2) is missing, so no network of our own"
fi
if [ -z "$live_problem" ] && ! "${live_prefix[@]}" tshark -i lo -a duration:0 >/dev/null 2>&1; then
	live_problem="the kernel lets nobody capture on lo here"
fi

# captures_live OPTION...: sends to port 4791 until tshark has its packet
captures_live() {
	# shellcheck disable=SC2016
	run timeout 30 "${live_prefix[@]}" bash -c '
		(for i in {1..100}; do echo -n "0123456789abcdef" >/dev/udp/127.0.0.1/4791; sleep 0.1; done) 2>/dev/null &
		"$@"; rc=$?; kill $! 2>/dev/null; exit $rc' - "$vt" "$@" -c 1 -f 'udp port 4791' -T fields -e udp.dstport -e frame.protocols
	expect_rc 0 && expect_err "a live capture needs them" && expect_own_lines 1 && grep -q '^4791.*rdma' "$out"
}

interfaces_are_listed() {
	run "${live_prefix[@]}" "$vt" -D
	expect_rc 0 && expect_out lo && expect_own_lines 1
}

# ---- all of it ----

for claim in help_and_version_are_ours tsharks_own_help_and_version_are_reachable exit_code_is_tsharks \
	missing_tshark_is_127_and_one_line tshark_that_cannot_be_run_is_126 missing_plugin_is_125_and_says_make \
	plugin_in_another_versions_folder_is_125 plugin_built_for_another_library_is_125 garbage_for_a_plugin_is_125 \
	tshark_of_another_version_is_125_and_named tshark_that_is_a_script_is_asked_for_its_version \
	launcher_named_tshark_does_not_run_itself arguments_arrive_as_they_were one_pass_equals_two \
	systems_plugins_are_kept a_system_plugin_that_came_later_is_missed_aloud \
	shim_gives_children_the_environment_of_before links_are_made_again_by_make; do
	check $claim
done

user_check user_loads_the_plugin lists_plugin 0 "${as_user[@]}" "$vt"
root_check root_loads_the_plugin lists_plugin 0 "${as_root[@]}" "$vt"
user_check user_decodes decodes_as_rdma "${as_user[@]}"
root_check root_decodes decodes_as_rdma "${as_root[@]}"
user_check user_reads_in_two_passes_and_writes reads_and_writes "${as_user[@]}"
root_check root_reads_in_two_passes_and_writes reads_and_writes "${as_root[@]}"
user_check user_needs_no_writable_home home_need_not_be_writable "${as_user[@]}"
root_check root_needs_no_writable_home home_need_not_be_writable "${as_root[@]}"

for claim in standard_input_and_pipes_are_files_too a_missing_argument_is_for_tshark_to_complain_about shim_hides_nothing_from_others \
	works_from_a_folder_with_blanks_and_colons works_where_it_is_installed; do
	root_check $claim
done
if [ "$(id -u)" = 0 ]; then
	check namespaces_refused_means_the_shim
else
	root_check namespaces_refused_means_the_shim
fi
for claim in a_file_only_root_can_read_is_read a_folder_only_root_can_write_is_written group_root_counts_as_root; do
	if [ "$(id -u)" != 0 ]; then
		skip $claim "needs root of the machine"
	elif [ $claim = group_root_counts_as_root ] && [ -n "$user_problem" ]; then
		skip $claim "$user_problem"
	else
		root_check $claim
	fi
done
for claim in "captures_live -i lo" "captures_live -ni lo" "captures_live --interface=lo" interfaces_are_listed; do
	if [ -n "$live_problem" ]; then
		skip "$claim" "$live_problem"
	else
		# shellcheck disable=SC2086 # a list of words
		check "$claim" $claim
	fi
done
finish
