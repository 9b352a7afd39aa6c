#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# test_profile.sh BUILD - install-plugin, the profile, vs-wireshark with and without it, the man pages.
# shellcheck source=dissector/tests/launch_lib.sh
. "$(dirname "$0")/launch_lib.sh"

# ---- install-plugin ----

installer() {
	"${as_user[@]}" HOME="$home" XDG_CONFIG_HOME="$home/.config" dissector/launch/install-plugin.sh "$@"
}

# A home of its own, like that of somebody who has used Wireshark.
home=$tmp/pub/home
"${as_user[@]}" mkdir -p "$home/.config/wireshark" 2>/dev/null || mkdir -p "$home/.config/wireshark"
profile=$home/.config/wireshark/profiles/Verbscope
installed=$home/.local/lib/wireshark/plugins/$version/epan/verbscope.so

install_puts_plugin_and_profile() {
	run installer install "$build"
	expect_rc 0 && cmp "$plugin" "$installed" && [ -s "$profile/colorfilters" ] && [ -s "$profile/preferences" ] &&
		run "${as_user[@]}" HOME="$home" "$tshark" -C Verbscope -r "$capture" -T fields -e rdma.bth.psn &&
		expect_rc 0 && expect_quiet && grep -q '^[0-9]' "$out"
}

an_installed_copy_does_not_disturb() {
	lists_plugin 0 "${as_user[@]}" HOME="$home" "$vt" && expect_quiet
}

another_installed_copy_does_not_crash_and_ours_wins() {
	chmod u+w "$installed" && printf '\0' >>"$installed"
	lists_plugin 0 "${as_user[@]}" HOME="$home" "$vt" && expect_out "$plugin" || return
	run "${as_user[@]}" HOME="$home" "$vt" -r "$capture"
	expect_rc 0
}

install_again_is_quiet_about_an_untouched_profile() {
	run installer install "$build"
	expect_rc 0 && ! grep -q kept "$out" && cmp "$plugin" "$installed"
}

install_keeps_a_changed_profile_and_says_so() {
	echo '# mine' >>"$profile/colorfilters"
	run installer install "$build"
	expect_rc 0 && expect_out "You have changed the profile Verbscope (colorfilters)" &&
		cmp dissector/profile/Verbscope/colorfilters "$profile/colorfilters" &&
		grep -q '^# mine' "$home/.config/wireshark/profiles/Verbscope kept "*/colorfilters
}

install_leaves_recent_alone() {
	echo '# mine' >"$profile/recent"
	run installer install "$build"
	expect_rc 0 && [ "$(cat "$profile/recent")" = '# mine' ]
}

uninstall_removes_both() {
	run installer uninstall "$build"
	expect_rc 0 && [ ! -e "$installed" ] && [ ! -e "$profile" ]
}

install_honours_the_old_configuration_folder() {
	"${as_user[@]}" mkdir -p "$tmp/pub/oldhome/.wireshark"
	run "${as_user[@]}" HOME="$tmp/pub/oldhome" dissector/launch/install-plugin.sh install "$build"
	expect_rc 0 && [ -s "$tmp/pub/oldhome/.wireshark/profiles/Verbscope/colorfilters" ]
}

install_as_root_explains_itself() {
	run "${as_root[@]}" dissector/launch/install-plugin.sh install "$build"
	expect_rc 2 && expect_err "root's Wireshark loads no plugins"
}

# ---- the profile ----

# (That its filters compile and its fields exist is a check of check-dissector, with every Wireshark.)

# The guide may name fields, rules and preferences.
every_name_in_the_guide_exists() {
	{ "$vt" -G fields 2>/dev/null | awk -F '\t' '{ print $3 }' && "$vt" -G defaultprefs 2>/dev/null | sed -n "s/^#\\(rdma[a-z0-9_.]*\\):.*/\\1/p"; } | sort -u >"$tmp/names"
	grep -oE "\brdma\.[a-z0-9_.]*[a-z0-9_]" docs/wireshark.md | grep -vE "^rdma\.(reason|rule)$" | sort -u >"$tmp/used"
	[ -s "$tmp/used" ] && [ -z "$(comm -13 "$tmp/names" "$tmp/used" | tee "$out")" ]
}

# Text and background of every rule differ enough: 4.5 to 1, as the web's accessibility rules ask.
every_colour_is_readable() {
	sed -n 's/^@.*@\[\([0-9]*\),\([0-9]*\),\([0-9]*\)\]\[\([0-9]*\),\([0-9]*\),\([0-9]*\)\]$/\1 \2 \3 \4 \5 \6/p' \
		dissector/profile/Verbscope/colorfilters | awk '
		function linear(c) { c /= 65535; return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ^ 2.4 }
		function light(r, g, b) { return 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b) }
		{
			a = light($1, $2, $3) + 0.05; b = light($4, $5, $6) + 0.05
			ratio = a > b ? a / b : b / a
			if (ratio < 4.5) { print "rule " NR ": " ratio; bad = 1 }
		}
		END { exit bad || NR < 12 }'
}

# With the profile, tshark's own columns are the profile's: QP and PSN are in them.
profile_needs_no_installation() {
	run "$vt" -C Verbscope -r "$capture" -c 1
	expect_rc 0 && expect_quiet && grep -Eq '0x[0-9a-f]+ .* (Good|Bad) ' "$out"
}

# colours_of CAPTURE: which colouring rules, in which order of names
colours_of() {
	run "$vt" -C Verbscope --color -r "$1" -T fields -e frame.coloring_rule.name
	expect_rc 0 && expect_quiet && sort -u "$out" | paste -sd,
}

# RoCEv2 over IPv6 has UDP checksums of 0, which to Wireshark's own settings are an error in every packet.
good_traffic_over_ipv6_is_not_coloured_as_broken() {
	[ "$(colours_of pcaps/recorded/rc_read_v6.pcap)" = 'RDMA: READ' ]
}

# Whatever they quote: the packet inside is no traffic.
icmp_errors_are_coloured_as_such() {
	[ "$(colours_of pcaps/generated/icmp.pcap)" = 'ICMP errors' ]
}

# ---- vs-wireshark, with a stand-in that shows what it is given ----

gui() {
	PATH=$fake_wireshark:$PATH run "${as_user[@]}" HOME="$home" "$vw" "$@"
}
own=$home/.config/verbscope/wireshark

wireshark_gets_our_profile_and_a_folder_of_its_own() {
	gui -r "$capture"
	expect_rc 0 && expect_out "[-C][Verbscope][-r][$capture]" && expect_out "config=$own " &&
		[ -s "$own/profiles/Verbscope/colorfilters" ] && [ ! -e "$profile" ]
}

wireshark_with_a_profile_uses_the_users_folder() {
	gui -C Default -r "$capture"
	expect_rc 0 && expect_out "[-C][Default][-r]" && expect_out "config=none"
}

a_profile_changed_by_the_user_is_kept() {
	echo '# mine' >>"$own/profiles/Verbscope/colorfilters"
	echo '# older' >"$own/shipped/profile/colorfilters"
	gui -r "$capture"
	tail -n 1 "$own/profiles/Verbscope/colorfilters" | grep -q '^# mine'
}

an_old_profile_is_replaced() {
	echo '# older' >"$own/profiles/Verbscope/preferences"
	echo '# older' >"$own/shipped/profile/preferences"
	gui -r "$capture"
	cmp dissector/profile/Verbscope/preferences "$own/profiles/Verbscope/preferences"
}

wireshark_without_a_home_says_where_it_keeps_settings() {
	home=/nonexistent gui -r "$capture"
	expect_rc 0 && expect_own_lines 1 && expect_err "settings are kept in $tmp/pub/verbscope-"
}

root_without_a_file_may_want_to_capture() {
	PATH=$fake_wireshark:$PATH run "${as_root[@]}" "$vw"
	expect_rc 0 && expect_own_lines 1 && expect_err "a live capture needs them" || return
	PATH=$fake_wireshark:$PATH run "${as_root[@]}" "$vw" "$capture"
	expect_rc 0 && expect_own_lines 0
}

# ---- the real one, on a display without a screen ----

display_problem='' xvfb_options=()
for program in Xvfb wireshark xdotool; do
	command -v $program >/dev/null || display_problem="$program is missing"
done

with_display() {
	local rc=0 x
	rm -f "$tmp/display"
	Xvfb -displayfd 5 -screen 0 1200x800x24 -nolisten tcp -noreset "${xvfb_options[@]}" 5>"$tmp/display" >/dev/null 2>&1 &
	x=$!
	for _ in {1..600}; do
		[ ! -s "$tmp/display" ] || break
		sleep 0.1
	done
	[ -s "$tmp/display" ] || { echo "Xvfb did not start" && kill $x && return 1; }
	DISPLAY=:$(cat "$tmp/display") "$@" || rc=$?
	kill $x
	wait $x 2>/dev/null || true
	return $rc
}

# opens_window COMMAND...: a window with the capture's name appears
opens_window() {
	local pid rc=1
	"$@" "$vw" -r "$capture" >"$out" 2>"$err" &
	pid=$!
	for _ in {1..450}; do
		if xdotool search --name "${capture##*/}" >/dev/null 2>&1; then rc=0 && break; fi
		kill -0 $pid 2>/dev/null || break
		sleep 0.2
	done
	kill $pid 2>/dev/null || true
	wait $pid 2>/dev/null || true
	grep -q 'Could not compile' "$err" && rc=1
	return $rc
}

# sudo leaves XAUTHORITY at a file that root opens by privilege alone: in the namespace it is out of reach.
another_users_cookie_goes_along() {
	{
		printf '\377\377\0\0\0\0\0\022MIT-MAGIC-COOKIE-1\0\020' # any address, any display
		head -c 16 /dev/urandom
	} >"$tmp/cookie"
	chown 65534 "$tmp/cookie" && chmod 600 "$tmp/cookie"
	xvfb_options=(-auth "$tmp/cookie")
	XAUTHORITY=$tmp/cookie with_display opens_window env && expect_own_lines 0
}

# ---- all of it ----

for claim in install_puts_plugin_and_profile an_installed_copy_does_not_disturb \
	another_installed_copy_does_not_crash_and_ours_wins install_again_is_quiet_about_an_untouched_profile \
	install_keeps_a_changed_profile_and_says_so install_leaves_recent_alone uninstall_removes_both \
	install_honours_the_old_configuration_folder wireshark_gets_our_profile_and_a_folder_of_its_own \
	wireshark_with_a_profile_uses_the_users_folder a_profile_changed_by_the_user_is_kept an_old_profile_is_replaced \
	wireshark_without_a_home_says_where_it_keeps_settings; do
	user_check $claim
done
for claim in install_as_root_explains_itself root_without_a_file_may_want_to_capture; do
	root_check $claim
done
for claim in every_name_in_the_guide_exists every_colour_is_readable profile_needs_no_installation \
	good_traffic_over_ipv6_is_not_coloured_as_broken icmp_errors_are_coloured_as_such; do
	check $claim
done
if [ -n "$display_problem" ]; then
	skip wireshark_opens_a_window "$display_problem"
else
	user_check user_opens_a_window with_display opens_window "${as_user[@]}"
	root_check root_opens_a_window with_display opens_window "${as_root[@]}"
	if [ "$(id -u)" = 0 ]; then
		root_check another_users_cookie_goes_along
	else
		skip another_users_cookie_goes_along "needs root of the machine"
	fi
fi
for page in vs-tshark vs-wireshark; do
	if command -v mandoc >/dev/null; then
		check "man page $page is clean" mandoc -T lint -W warning "docs/man/$page.1"
	else
		skip "man page $page is clean" "mandoc is missing"
	fi
done
finish
