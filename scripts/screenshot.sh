#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# screenshot.sh BUILD [FOLDER] - takes the pictures of docs/images (or FOLDER): Wireshark with the
# plugin and the profile, on a display without a screen. Look at them before you commit them.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:?which build folder?} images=${2:-docs/images}
width=1600 height=1000
mkdir -p "$images"

tmp=$(mktemp -d)
chmod 755 "$tmp"
started=()
stop() {
	local pid
	for pid in "${started[@]}"; do
		kill "$pid" 2>/dev/null || true
		wait "$pid" 2>/dev/null || true
	done
	started=()
}
trap 'stop; rm -rf "$tmp"' EXIT

fail() {
	echo "screenshot: $*" >&2
	sed 's/^/  | /' "$tmp/wireshark.log" >&2 2>/dev/null || true
	exit 1
}

# wait_for COMMAND...: up to 30 s
wait_for() {
	for _ in {1..150}; do
		if "$@" >/dev/null 2>&1; then return 0; fi
		sleep 0.2
	done
	return 1
}

start_display() {
	rm -f "$tmp/display"
	Xvfb -displayfd 5 -screen 0 ${width}x${height}x24 -nolisten tcp -noreset 5>"$tmp/display" >/dev/null 2>&1 &
	started+=($!)
	wait_for test -s "$tmp/display" || fail "Xvfb does not start"
	DISPLAY=:$(cat "$tmp/display")
	export DISPLAY
}

# Fresh settings every time, and a window as large as the display, which nobody manages here; the panes to fit.
fresh_home() {
	rm -rf "${tmp:?}/home"
	mkdir -p "$tmp/home/.config/verbscope/wireshark" "$tmp/run"
	chmod 700 "$tmp/run"
	export HOME=$tmp/home XDG_CONFIG_HOME=$tmp/home/.config XDG_RUNTIME_DIR=$tmp/run LC_ALL=C.UTF-8 TZ=UTC
	cat >"$XDG_CONFIG_HOME/verbscope/wireshark/recent_common" <<EOF2
gui.geometry_main_x: 0
gui.geometry_main_y: 0
gui.geometry_main_width: $width
gui.geometry_main_height: $height
gui.geometry_main_maximized: FALSE
EOF2
	mkdir -p "$XDG_CONFIG_HOME/verbscope/wireshark/profiles/Verbscope"
	sed "s/^gui.geometry_main_upper_pane.*/gui.geometry_main_upper_pane: 470/
		s/^gui.geometry_main_lower_pane.*/gui.geometry_main_lower_pane: 980/" dissector/profile/Verbscope/recent \
		>"$XDG_CONFIG_HOME/verbscope/wireshark/profiles/Verbscope/recent"
}

# The first frame that a filter lets through.
frame_of() {
	"$build/bin/vs-tshark" -r "$1" -Y "$2" -T fields -e frame.number | awk 'NR == 1'
}

# open_at CAPTURE FILTER: a display, and Wireshark in it with the first packet of the filter selected.
open_at() {
	local capture=$1 window
	frame=$(frame_of "$capture" "$2")
	[ -n "$frame" ] || fail "$capture: no packet for $2"
	start_display
	fresh_home
	"$build/bin/vs-wireshark" -r "$capture" -g "$frame" >"$tmp/wireshark.log" 2>&1 &
	started+=($!)
	wait_for xdotool search --onlyvisible --name "^${capture##*/}" || fail "no window"
	window=$(xdotool search --onlyvisible --name "^${capture##*/}" | head -n 1)
	xdotool windowfocus --sync "$window"
	sleep 2
}

# take NAME CAPTURE: the picture, and the display's end.
take() {
	xdotool mousemove $((width - 2)) $((height - 2))
	sleep 1.5
	import -window root -depth 8 "$tmp/raw.png"
	convert "$tmp/raw.png" +dither -colors 128 -define png:compression-level=9 "PNG8:$images/$1.png"
	stop
	echo "$images/$1.png: frame $frame of $2, $(wc -c <"$images/$1.png") bytes"
}

# The expert information, by the button at the left end of the status bar; its window to where the details are.
open_expert() {
	local expert
	xdotool mousemove 14 $((height - 12)) click 1
	wait_for xdotool search --onlyvisible --name 'Expert Information' || fail "no expert information"
	expert=$(xdotool search --onlyvisible --name 'Expert Information' | head -n 1)
	xdotool windowsize --sync "$expert" 1200 430 windowmove --sync "$expert" 200 520 windowfocus "$expert"
	# What happened before what is forbidden, and room for the sentences.
	xdotool mousemove 240 541 click 1 sleep 0.3 mousemove 741 541 mousedown 1 mousemove 1000 541 mousemove 1120 541 mouseup 1
}

# picture NAME CAPTURE FILTER KEYS...: presses the keys in the packet details, whose last protocol is selected.
picture() {
	local name=$1 capture=$2
	open_at "$capture" "$3"
	shift 3
	# A click into the lower left, the details, then keys.
	xdotool mousemove $((width / 4)) $((height * 9 / 10)) click 1 key --delay 200 Home End "$@"
	[ "$name" != wireshark-expert ] || open_expert
	take "$name" "$capture"
}

# window NAME CAPTURE FILTER KEYS...: presses the keys in the main window: menus, and what they open.
window() {
	local name=$1 capture=$2
	open_at "$capture" "$3"
	shift 3
	xdotool key --delay 400 "$@"
	sleep 2
	take "$name" "$capture"
}

recorded=pcaps/recorded
# The second refusal: the first shows its colour in the list.
picture wireshark "$recorded/loss_mixed_req_every7.pcap" 'rdma.aeth.type == 3 && frame.number > 6' shift+Right End Up Up Up
picture wireshark-packet "$recorded/loss_mixed_req_every7.pcap" rdma.analysis.retransmission shift+Right End
picture wireshark-expert "$recorded/host_peer_dgram.pcap" rdma.analysis.retransmission End
picture wireshark-icrc "$recorded/host_peer_dgram.pcap" 'rdma.icrc.status == "Bad"' shift+Right Down Left Down Down Down
picture wireshark-cm "$recorded/rping_rxe_v4.pcap" 'rdma.mad.attributeid == 0x10' shift+Right Down Left Down Left Down Down Down Down Down Left Down
window wireshark-follow "$recorded/loss_mixed_req_every7.pcap" 'frame.number == 9' alt+t Up Right Return
window wireshark-analysis "$recorded/loss_mixed_req_every7.pcap" 'frame.number == 9' alt+s Up Right Return
