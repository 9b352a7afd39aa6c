#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# mutated.sh - check-dissector-mutated: damaged captures through the plugin under ASan and UBSan.
#
#   mutated.sh [FRAMES [SEED [SECONDS]]]
#
# FRAMES (default 52000) damaged frames, at least so many of which must reach the plugin: most made by
# mutate.c, which keeps IP and UDP in order, some by editcap -E, which does not. One half is shown with
# -V, the other with -2 -V, side by side. No crash, hang, sanitizer report, leak, nor a dissector bug or
# exception in our own dissector may happen (Wireshark's RPC-over-RDMA has a bug of its own). With SECONDS, round after round with new seeds.
# Before that, planted crimes prove that the sanitizers would have told (strict.c).
set -u
# shellcheck source=dissector/tests/lib.sh
. "$(dirname "$0")/lib.sh"

frames=${1:-52000} seed=${2:-1} seconds=${3:-0}
need "$TSHARK" editcap mergecap timeout gcc
cd "$ROOT" || exit 2
STRICT=$B/asan/strict
version=$("$TSHARK" --version 2>/dev/null | sed -n '1s/^[^0-9]*\([0-9]*\.[0-9]*\).*/\1/p')
[ -e "$STRICT/$version/epan/verbscope.so" ] || die "no sanitizer build in $STRICT: run make check-dissector-mutated"
work check-mutated

sanitized() {
	"${as_user[@]}" "${WS_ENV[@]}" WIRESHARK_PLUGIN_DIR="$STRICT" WIRESHARK_DEBUG_WMEM_OVERRIDE=simple \
		LD_PRELOAD="$(gcc -print-file-name=libasan.so) $(gcc -print-file-name=libubsan.so)" \
		ASAN_OPTIONS="detect_leaks=1:abort_on_error=0:exitcode=99:strict_string_checks=1:detect_stack_use_after_return=1" \
		UBSAN_OPTIONS="print_stacktrace=1:halt_on_error=1:exitcode=99" LSAN_OPTIONS="exitcode=99" \
		VS_PLANT="$PLANT" timeout 600 "$TSHARK" -n "$@"
}
PLANT=

# planted CRIME PATTERN: the crime is noticed, named, and ends tshark with an error.
planted() {
	local rc
	PLANT=$1 sanitized -r pcaps/generated/rawip.pcap >"$W/planted" 2>&1
	rc=$?
	[ "$rc" != 0 ] && grep -q "$2" "$W/planted" && return
	echo "exit code $rc, and no '$2' in:"
	head -20 "$W/planted"
	return 1
}

innocent() {
	sanitized -r pcaps/generated/opcodes-roce.pcap -V >"$W/innocent" 2>"$W/innocent.err" && [ ! -s "$W/innocent.err" ] &&
		grep -q 'Invariant CRC Status: Good' "$W/innocent" && return
	head -20 "$W/innocent.err"
	return 1
}

captures=()
for file in pcaps/generated/*.pcap pcaps/recorded/*.pcap; do
	# those two are six packets cut at every byte: in the pool they would be half of it
	[[ $file == *snap.pcap ]] || captures+=("$file")
done
if [ -x "$B/tests/mkulp" ]; then # NFS, NVMe, iSER... on RDMA
	mkdir -p "$W/ulp" && "$B/tests/mkulp" "$W/ulp" && captures+=("$W"/ulp/*.pcap)
fi
mergecap -a -F pcapng -w "$W/pool.pcapng" "${captures[@]}" || die "mergecap failed"

# damage HALF SEED: $W/damaged.HALF.pcapng, FRAMES / 2 frames and some more.
damage() {
	local half=$1 with=$2 pool n parts=() i
	pool=$(count_frames "$W/pool.pcapng")
	n=$((frames / 2))
	"$B/tests/mutate" "$W/eth.$half" "$W/erf.$half" $((n * 3 / 4)) "$with" "${captures[@]}" || return
	for ((i = 0; i * pool < n / 4; i++)); do
		editcap -E 0.02 --seed $((with * 100 + i)) "$W/pool.pcapng" "$W/edited.$half.$i" 2>/dev/null || return
		parts+=("$W/edited.$half.$i")
	done
	mergecap -a -F pcapng -w "$W/damaged.$half.pcapng" "$W/eth.$half" "$W/erf.$half" "${parts[@]}" || return
	rm -f "${parts[@]}" "$W/eth.$half" "$W/erf.$half"
}

# How many of the frames our dissector saw.
reached() {
	ours -r "$W/damaged.$1.pcapng" -Y rdma -T fields -e frame.number | wc -l
}

# run_half HALF OPTIONS: what must not be in the output, and that it came to its end.
run_half() {
	local half=$1 rc
	shift
	sanitized -r "$W/damaged.$half.pcapng" -V "$@" 2>"$W/report.$half" |
		awk '/(Malformed Packet:|Dissector bug, protocol) (RDMA|InfiniBand|RoCE|RRoCE)/ { print FILENAME FNR ": " $0 }
			/^Frame [0-9]+:/ { n++ } END { print n > "/dev/stderr" }' >"$W/exceptions.$half" 2>"$W/shown.$half"
	rc=${PIPESTATUS[0]}
	sed -i '/Dissector bug, protocol RPCoRDMA/d; /^$/d' "$W/report.$half"
	if [ "$rc" != 0 ] || [ -s "$W/report.$half" ] || [ -s "$W/exceptions.$half" ] ||
		[ "$(cat "$W/shown.$half")" != "$(count_frames "$W/damaged.$half.pcapng")" ]; then
		echo "exit code $rc, $(cat "$W/shown.$half") frames shown; the capture is kept: $W/failed.$half.pcapng"
		cp "$W/damaged.$half.pcapng" "$W/failed.$half.pcapng"
		head -60 "$W/report.$half"
		head -10 "$W/exceptions.$half"
		return 1
	fi
}

one_round() {
	local with=$1 one two bad=0
	damage a $((with * 2)) && damage b $((with * 2 + 1)) || return
	one=$(reached a) two=$(reached b)
	run_half a >"$W/half.a" &
	run_half b -2 >"$W/half.b" || bad=1
	wait $! || bad=1
	cat "$W/half.a" "$W/half.b"
	echo "seed $with: $(($(cat "$W/shown.a") + $(cat "$W/shown.b"))) frames, $((one + two)) reached the plugin"
	[ $((one + two)) -ge $((frames * 24 / 25)) ] || { echo "that is too few" && bad=1; }
	return $bad
}

check asan_sees_a_planted_overflow planted overflow heap-buffer-overflow
check ubsan_sees_planted_undefined_behaviour planted undefined 'signed integer overflow'
check lsan_sees_a_planted_leak planted leak 'LeakSanitizer: detected memory leaks'
check sanitizers_say_nothing_about_good_packets innocent
check records_of_the_analysis_survive_the_sanitizers "$B/asan/tests/test_store" "$seed"
end=$((SECONDS + seconds))
while :; do
	check "damaged_frames_do_no_harm_$seed" one_round "$seed"
	tail -n 1 "$W/log.damaged_frames_do_no_harm_$seed" | sed 's/^/        /'
	if [ "$failed" != 0 ] || [ $SECONDS -ge "$end" ]; then
		break
	fi
	seed=$((seed + 1))
done
summary
