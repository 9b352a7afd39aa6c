#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# run.sh - vs-pcap on the recorded captures: what it prints, converts, edits, makes; bad input. Then veth.sh: what it
# sends. A check is named by its claim.
#
#   pcaps/tests/run.sh BUILD_FOLDER
set -euo pipefail
export LC_ALL=C TZ=UTC
unset WIRESHARK_PLUGIN_DIR WIRESHARK_CONFIG_DIR

cd "$(dirname "$0")/../.."
# shellcheck source=pcaps/tests/lib.sh
. pcaps/tests/lib.sh "${1:?which build folder?}"

encaps=(ib ib-grh rocev1 rocev2-ipv4 rocev2-ipv6)
one=$rec/loss_send_req_mid.pcap # PSN 0x100..0x10f, lost and repeated

# ---- info ----

info_prints_the_golden_text() {
	local f
	for f in loss_send_req_mid ud_send_v6 siw_rping perf_write_bw_64k_snap96; do
		"$vp" info "$rec/$f.pcap" >"$tmp/got"
		diff "$golden/info-$f.txt" "$tmp/got"
	done
	"$vp" info pcaps/generated/ib.pcap pcaps/generated/rocev1.pcap >"$tmp/got"
	diff "$golden/info-ib-rocev1.txt" "$tmp/got"
}

info_prints_the_golden_json() {
	"$vp" info --json "$rec/rc_atomic_v4.pcap" >"$tmp/got"
	diff "$golden/info-rc_atomic_v4.json" "$tmp/got"
}

# EXPECTED was made by other programs.
# As many as the plugin has in rdma.icrc.status.
info_takes_super_packets_apart() {
	"$vp" info pcaps/generated/gso.pcap >"$tmp/got"
	grep -q '^  ICRC: 72 good, 5 bad, 1 unverified$' "$tmp/got"
	grep -q '^  offload: 15 super-packets that hold 78 packets$' "$tmp/got"
}

info_agrees_with_the_counts_of_every_recorded_capture() {
	local name rdma other good bad unverified _rest
	while read -r name rdma other good bad unverified _rest; do
		run "$vp" info "pcaps/$name"
		expect_rc 0
		expect_out "RDMA $rdma, other $other,"
		expect_out "ICRC: $good good, $bad bad, $unverified unverified"
	done < <(grep '^recorded/' "$rec/EXPECTED")
}

info_reads_gzip_and_standard_input() {
	gzip -c "$one" >"$tmp/one.gz"
	[ "$("$vp" info "$tmp/one.gz" | tail -n +2)" = "$("$vp" info - <"$one" | tail -n +2)" ]
	[ "$("$vp" info - <"$one" | wc -l)" -gt 5 ]
}

info_counts_what_comes_before_the_damage() {
	head -c 3000 "$one" >"$tmp/cut.pcap"
	run "$vp" info "$tmp/cut.pcap"
	expect_rc 1
	expect_out "frames: 2, RDMA 2"
	expect_err "frame 3 can't be read"
	run "$vp" info --json "$tmp/cut.pcap"
	expect_rc 1
	expect_out '"frames": 2,'
}

# A pcapng holds what several interfaces saw, of different kinds; a pcap has one.
link_types_are_mixed_in_a_pcapng_and_converted_into_one() {
	"$vp" convert "$one" -o "$tmp/ib.pcap" --encap ib >/dev/null
	mergecap -a -w "$tmp/mixed.pcapng" "$one" "$tmp/ib.pcap"
	run "$vp" info "$tmp/mixed.pcapng"
	expect_rc 0
	expect_out ': pcapng, EN10MB, ERF'
	expect_out "ICRC: $((2 * $(wc -l <"$tmp/one.list"))) good, 0 bad, 0 unverified"
	run "$vp" edit "$tmp/mixed.pcapng" -o "$tmp/never.pcap"
	expect_rc 2
	expect_err "has link type ERF, unlike those before"
	[ ! -e "$tmp/never.pcap" ]
	"$vp" convert "$tmp/mixed.pcapng" -o "$tmp/all.pcap" --encap rocev2-ipv4 >/dev/null
	[ "$("$cmp" list "$tmp/all.pcap" | wc -l)" = $((2 * $(wc -l <"$tmp/one.list"))) ]
}

# ---- convert ----

super_packets_are_taken_apart_or_left_alone() {
	local gso=pcaps/generated/gso.pcap
	run "$vp" convert $gso -o "$tmp/super.pcap" --encap rocev2-ipv6
	expect_out "15 super-packets of segmentation offload, taken apart"
	"$vp" info "$tmp/super.pcap" >"$tmp/got"
	grep -q ' good, 0 bad, ' "$tmp/got"
	if grep -q offload "$tmp/got"; then return 1; fi
	run "$vp" edit $gso -o "$tmp/super.pcap" --fix-icrc --set pkey=0x8001
	expect_out "neither rewritten nor repaired, because they are super-packets of segmentation offload: 15"
	[ "$("$vp" info "$tmp/super.pcap" | grep offload)" = "$("$vp" info $gso | grep offload)" ]
}

# convert NAME ENCAP IN [OPTION...] -> $tmp/NAME.pcap
convert() {
	"$vp" convert "$3" -o "$tmp/$1.pcap" --encap "$2" "${@:4}"
}

every_converted_packet_verifies_and_keeps_its_transport_bytes() {
	local f e
	for f in "$rec"/*.pcap; do
		case $f in */siw_rping.pcap | *snap96.pcap) continue ;; esac
		for e in "${encaps[@]}"; do
			convert c "$e" "$f" >/dev/null
			"$cmp" good "$tmp/c.pcap"
			"$cmp" transport "$f" "$tmp/c.pcap"
		done
	done
}

convert_there_and_back_gives_equal_transport_bytes_and_addresses() {
	local e f=$rec/loss_mixed_req_every7.pcap
	for e in "${encaps[@]}"; do
		convert there "$e" "$f" >/dev/null
		convert back rocev2-ipv4 "$tmp/there.pcap" >/dev/null
		"$cmp" transport "$f" "$tmp/back.pcap"
		[ "$e" = ib ] || "$vp" info "$tmp/back.pcap" | grep >/dev/null '^  10.77.0.1 -> 10.77.0.2 '
	done
	convert again rocev2-ipv4 "$f" >/dev/null
	"$cmp" frames "$f" "$tmp/again.pcap"
}

# Encapsulations that the generated captures have and the recorded ones have not.
convert_reads_every_encapsulation() {
	local f
	for f in ib rocev1 vlan cooked2 rawip; do
		convert c rocev2-ipv6 "pcaps/generated/$f.pcap" >/dev/null
		"$cmp" good "$tmp/c.pcap"
		convert c ib-grh "pcaps/generated/$f.pcap" >/dev/null
		"$cmp" good "$tmp/c.pcap"
	done
}

convert_maps_addresses_by_the_documented_rules() {
	local f=$rec/rc_write_v4.pcap
	convert c ib "$f" >/dev/null
	"$vp" info "$tmp/c.pcap" | grep >/dev/null '^  LID:0x0001 -> LID:0x0002 '
	convert d rocev2-ipv4 "$tmp/c.pcap" >/dev/null
	"$vp" info "$tmp/d.pcap" | grep >/dev/null '^  10.86.0.1 -> 10.86.0.2 '
	convert c rocev2-ipv6 "$f" >/dev/null
	"$vp" info "$tmp/c.pcap" | grep >/dev/null '^  64:ff9b::a4d:1 -> 64:ff9b::a4d:2 '
	convert c rocev1 "$f" >/dev/null
	"$vp" info "$tmp/c.pcap" | grep >/dev/null '^  ::ffff:10.77.0.1 -> ::ffff:10.77.0.2 '
}

convert_says_what_it_left_out() {
	run "$vp" convert "$rec/siw_rping.pcap" -o "$tmp/c.pcap" --encap ib
	expect_rc 0
	expect_out "0 packets in ib, 47 left out"
	expect_out "47 left out: other traffic"
	run "$vp" convert "$rec/host_peer_dgram.pcap" -o "$tmp/c.pcap" --encap rocev1
	expect_out "5 had a wrong ICRC"
}

convert_tells_the_lengths_of_packets_that_a_snap_length_cut() {
	local f=$rec/perf_write_bw_64k_snap96.pcap
	convert c rocev2-ipv4 "$f" >/dev/null
	"$cmp" frames "$f" "$tmp/c.pcap"
	convert c ib "$f" >/dev/null
	run "$vp" info "$tmp/c.pcap"
	expect_out "RDMA 850, other 0, snapped 800, broken 0"
	convert c rocev2-ipv4 "$tmp/c.pcap" >/dev/null # 20 + 8 bytes of headers are back
	run "$vp" info "$tmp/c.pcap"
	expect_out "800 packets, 3324000 bytes"
}

# Good everywhere, nothing malformed, as many packets as there were.
vs_tshark_decodes_what_convert_wrote() {
	local e f=$rec/loss_mixed_req_every7.pcap
	local -a vlan
	for e in "${encaps[@]}"; do
		vlan=()
		case $e in roce*) vlan=(--vlan 5) ;; esac
		convert c "$e" "$f" "${vlan[@]}" >/dev/null
		"$vt" -r "$tmp/c.pcap" -T fields -e rdma.bth.psn -e rdma.icrc.status -e rdma.vcrc.status -e vlan.id \
			-e _ws.malformed >"$tmp/fields" 2>"$tmp/log2"
		awk -F'\t' -v native="$([[ $e == ib* ]] && echo 1 || echo 0)" '
			$1 == "" || $2 != 1 || $5 != "" { exit bad = 1 }
			native ? ($3 != 1 || $4 != "") : $4 != 5 { exit bad = 1 }
			END { exit bad || NR != 27 }' "$tmp/fields" || { head -n 3 "$tmp/fields" "$tmp/log2" && return 1; }
	done
}

# ---- edit ----

# edit ARGUMENT...: $one -> $tmp/e.pcap, listed in $tmp/list; "time opcode qp psn icrc ecn"
edit() {
	"$vp" edit "$one" -o "$tmp/e.pcap" "$@" >"$tmp/out"
	"$cmp" list "$tmp/e.pcap" >"$tmp/list"
}

edit_without_operation_copies() {
	edit
	cmp "$tmp/list" "$tmp/one.list"
	"$cmp" frames "$one" "$tmp/e.pcap"
}

edit_drops_the_nth_matching_packet() {
	edit 'lost: drop 3rd data'
	awk '$2 ~ /SEND/ && ++n == 3 { next } 1' "$tmp/one.list" | diff - "$tmp/list"
	grep -qF 'lost: acted on 1 of 18 matching packets' "$tmp/out"
}

edit_copies_the_nth_matching_packet() {
	edit 'dup x2 2nd ack'
	awk '{ print } $2 == "ACK" && $5 == "good" && ++n == 3 { print; print }' "$tmp/one.list" | diff - "$tmp/list"
}

edit_lets_packets_overtake_on_the_same_path() {
	edit 'reorder 2 1st data'
	awk '
		NR == 1 { held = $0; next }
		{ print $2, $3, $4 }
		$2 ~ /SEND/ && ++n == 2 { split(held, h); print h[2], h[3], h[4] }' \
		"$tmp/one.list" | diff - <(cut -d' ' -f2-4 "$tmp/list")
	sort -s -c -n -k1,1 "$tmp/list"
}

edit_delays_by_the_time_that_is_asked_for() {
	edit 'delay 1st data by 1.5ms'
	awk 'NR == 1 { $1 = sprintf("%.0f", 0); sub(/^0 /, ""); print }' "$tmp/one.list" >"$tmp/want"
	local was now
	was=$(awk 'NR == 1 { print $1 }' "$tmp/one.list")
	now=$(awk '$4 == "0x000100" { print $1; exit }' "$tmp/list")
	[ $((now - was)) = 1500000 ]
	sort -s -c -n -k1,1 "$tmp/list"
	[ "$(wc -l <"$tmp/list")" = 23 ]
}

edit_holds_everything_behind_on_the_same_path() {
	edit 'hold 1st data by 2ms'
	cut -d' ' -f2-4 "$tmp/list" | grep SEND >"$tmp/a"
	cut -d' ' -f2-4 "$tmp/one.list" | grep SEND >"$tmp/b"
	cmp "$tmp/a" "$tmp/b"
	local was
	was=$(awk 'NR == 1 { print $1 }' "$tmp/one.list")
	[ "$(awk -v t=$((was + 2000000)) '$2 ~ /SEND/ && $1 + 0 < t + 0' "$tmp/list" | wc -l)" = 0 ]
}

edit_damages_one_packet() {
	edit 'corrupt 2nd data icrc'
	[ "$(grep -c ' bad ' "$tmp/list")" = 1 ]
	sed -n 2p "$tmp/list" | grep >/dev/null ' bad '
	edit 'corrupt 2nd data bit=95' # the last bit of byte 11: 0x80 of the PSN's low byte
	sed -n 2p "$tmp/list" | grep >/dev/null ' 0x000181 bad '
}

edit_marks_congestion_and_keeps_the_icrc_good() {
	edit 'mark first 2 data'
	[ "$(awk '$6 == 3 && $5 == "good"' "$tmp/list" | wc -l)" = 2 ]
	"$cmp" good "$tmp/e.pcap"
}

edit_knows_nodes_by_address_and_by_name() {
	edit 'drop all from 10.77.0.2'
	[ "$(wc -l <"$tmp/list")" = 18 ]
	edit --node B=10.77.0.2 'drop all from B'
	[ "$(wc -l <"$tmp/list")" = 18 ]
	edit --node Bob=10.77.0.2 'drop all to Bob'
	[ "$(wc -l <"$tmp/list")" = 5 ]
}

edit_rewrites_fields_and_computes_the_icrc() {
	edit --set qp=0x22 --set psn+=0xffff00 --set ip:10.77.0.1=10.9.9.9 --set mac.dst=02:00:00:00:00:07 --set pkey=0x7fff
	"$cmp" good "$tmp/e.pcap"
	awk '$3 != "0x000022" { exit 1 } NR == 1 && $4 != "0x000000" { exit 1 }' "$tmp/list"
	"$vp" info "$tmp/e.pcap" | grep >/dev/null '^  10.77.0.2 -> 10.9.9.9 QP 0x000022: 5 packets'
	# and back again: nothing else has changed
	"$vp" edit "$tmp/e.pcap" -o "$tmp/f.pcap" --set qp=0x55 --set psn-=0xffff00 --set ip:10.9.9.9=10.77.0.1 \
		--set pkey:0x7fff=0xffff >/dev/null
	"$cmp" transport "$one" "$tmp/f.pcap"
}

edit_rewrites_keys_in_every_header_that_has_them() {
	"$vp" edit "$rec/loss_mixed_req_every7.pcap" -o "$tmp/e.pcap" --set rkey=0x1234 --set va+=0x1000 >"$tmp/out"
	"$cmp" good "$tmp/e.pcap"
	"$vt" -r "$tmp/e.pcap" -T fields -e rdma.reth.rkey -e rdma.atomiceth.rkey 2>/dev/null | tr '\t' '\n' | sort -u |
		grep -v '^$' | diff - <(echo 0x00001234)
}

a_wrong_icrc_stays_wrong_until_it_is_repaired() {
	"$vp" edit "$rec/host_peer_dgram.pcap" -o "$tmp/e.pcap" --set ttl=9 >/dev/null
	"$vp" info "$tmp/e.pcap" | grep >/dev/null 'ICRC: 395 good, 5 bad'
	"$vp" edit "$tmp/e.pcap" -o "$tmp/f.pcap" --fix-icrc >"$tmp/out"
	grep -q 'ICRC repaired: 5' "$tmp/out"
	"$cmp" good "$tmp/f.pcap"
}

edit_splits_by_qp() {
	mkdir "$tmp/split"
	"$vp" edit "$rec/srq_send.pcap" -o "$tmp/split/s.pcap" --split-by qp >"$tmp/out"
	local f n=0
	for f in "$tmp"/split/s-10.77.0.*-qp0x??????.pcap; do
		[ "$("$cmp" list "$f" | cut -d' ' -f3 | sort -u)" = "$(basename "${f##*-qp}" .pcap)" ]
		n=$((n + $("$cmp" list "$f" | wc -l)))
	done
	[ $n = 19 ]
	[ ! -e "$tmp/split/s.pcap" ]
}

edit_splits_by_time() {
	mkdir "$tmp/times"
	"$vp" edit "$one" -o "$tmp/times/t" --split-by time:1ms >"$tmp/out"
	cat "$tmp"/times/t-0000? >/dev/null
	local f i=0
	for f in "$tmp"/times/t-*; do
		"$cmp" list "$f" | awk -v k="${f##*-}" -v t0="$(awk 'NR == 1 { print $1 }' "$tmp/one.list")" '
			int(($1 - t0) / 1000000) != k + 0 { exit 1 }'
		i=$((i + $("$cmp" list "$f" | wc -l)))
	done
	[ $i = 23 ]
}

edit_works_on_native_infiniband() {
	convert ib ib-grh "$one" >/dev/null
	"$vp" edit "$tmp/ib.pcap" -o "$tmp/e.pcap" --set qp+=1 --set lid.src:1=0x77 'mark all data' >/dev/null
	"$cmp" good "$tmp/e.pcap"
	"$vp" info "$tmp/e.pcap" | grep >/dev/null 'QP 0x000056'
}

# ---- inject into a file ----

inject_makes_the_packet_that_is_described() {
	local e
	for e in "${encaps[@]}"; do
		"$vp" inject -o "$tmp/i.pcap" --encap "$e" 'WRITE_ONLY qp=0x11 psn=0xfffffe ackreq rkey=0xabcd va=0x1000 data=5' \
			>/dev/null
		"$cmp" good "$tmp/i.pcap"
		"$vt" -r "$tmp/i.pcap" -T fields -e rdma.bth.destqp -e rdma.bth.psn -e rdma.reth.rkey -e rdma.reth.dmalen \
			-e rdma.bth.padcnt -e _ws.malformed >"$tmp/fields" 2>/dev/null
		printf '0x000011\t16777214\t0x0000abcd\t5\t3\t\n' | diff - "$tmp/fields"
	done
}

inject_makes_wrong_packets_when_asked() {
	"$vp" inject -o "$tmp/i.pcap" 'ACK qp=0x11 psn=1 syndrome=0x60 msn=1 icrc=0x12345678' >/dev/null
	"$cmp" list "$tmp/i.pcap" | grep >/dev/null 'ACK 0x000011 0x000001 bad'
}

# The packet that a description makes, as Wireshark has it: opcode, PSN, syndrome, destination, tag.
described() {
	"$vp" inject -o "$tmp/i.pcap" "$1" >/dev/null
	"$vt" -r "$tmp/i.pcap" -T fields -E separator=' ' -e rdma.bth.opcode -e rdma.bth.psn -e rdma.aeth.syndrome \
		-e rdma.deth.qkey -e ip.dst -e vlan.id >"$tmp/fields" 2>/dev/null
	printf '%s\n' "$2" | diff - "$tmp/fields"
}

inject_has_the_notation_of_scripts() {
	described 'SEND_ONLY psn=+2 ackreq data=64' '0x04 2   10.0.0.1 '
	described 'NAK rnr timer=5 psn=7' '0x11 7 0x25  10.0.0.1 '
	described 'UD SEND_ONLY data=8 psn=1 qkey=0x22 dst="10.0.0.9" vlan=5' '0x64 1  0x00000022 10.0.0.9 5'
	described 'ACK icrc=bad psn=3 syndrome=0x1f' '0x11 3 0x1f  10.0.0.1 '
	"$vp" info "$tmp/i.pcap" | grep >/dev/null '1 bad'
	"$vp" inject -o "$tmp/i.pcap" 'CM REQ service=5 qpn=3 psn=9' >/dev/null
	"$vt" -r "$tmp/i.pcap" -Y 'rdma.cm.serviceid == 5' 2>/dev/null | grep >/dev/null 'CM ConnectRequest'
	"$vp" inject -o "$tmp/i.pcap" 'COMPARE_SWAP va=8 compare=1 swap=2 rkey=3' >/dev/null
	"$vt" -r "$tmp/i.pcap" -Y 'rdma.atomiceth.swapadd == 2' 2>/dev/null | grep >/dev/null 'swap=0x2'
}

inject_makes_every_opcode() {
	local op n=0
	while read -r op; do
		"$vp" inject -o "$tmp/i.pcap" "$op psn=0x22 qp=0x11" >/dev/null 2>"$tmp/err" ||
			"$vp" inject -o "$tmp/i.pcap" "$op psn=0x22 qp=0x11 va=8 rkey=1" >/dev/null 2>&1 ||
			"$vp" inject -o "$tmp/i.pcap" "$op psn=0x22 qp=0x11 va=8 rkey=1 dmalen=8" >/dev/null
		"$cmp" good "$tmp/i.pcap"
		"$cmp" list "$tmp/i.pcap" | grep >/dev/null "$op 0x000011 0x000022 good"
		n=$((n + 1))
	done < <(sed -n 's/^VS_OPCODE([^,]*, *\([A-Z_]*\),.*/\1/p' transport/opcodes.def |
		sed 's/^RC_//; s/ATOMIC_ACKNOWLEDGE/ATOMIC_ACK/; s/ACKNOWLEDGE/ACK/')
	[ $n -ge 80 ]
}

inject_writes_the_same_bytes_each_time() {
	"$vp" inject -o - 'SEND_ONLY hex=00ff' >"$tmp/a"
	"$vp" inject -o - 'SEND_ONLY hex=00ff' >"$tmp/b"
	cmp "$tmp/a" "$tmp/b"
}

# ---- help, usage, environment ----

help_and_version_answer_on_standard_output() {
	local c
	run "$vp" --version
	expect_rc 0
	expect_out "vs-pcap (Verbscope) $(cat VERSION)"
	run "$vp" --help
	expect_rc 0
	for c in info convert edit inject replay; do
		expect_out "  $c"
		run "$vp" "$c" --help
		expect_rc 0
		expect_out "usage: vs-pcap $c"
		[ ! -s "$tmp/err" ]
		run "$vp" --help
	done
}

# refuses TEXT ARGUMENT...: exit 2, one line on stderr with this text, nothing on stdout
refuses() {
	local text=$1
	shift
	run "$vp" "$@"
	expect_rc 2
	expect_err "$text"
	[ "$(wc -l <"$tmp/err")" = 1 ] || { cat "$tmp/err" && return 1; }
	[ ! -s "$tmp/out" ] || { echo "stdout is not empty" && return 1; }
}

wrong_usage_is_named_and_exits_2() {
	local o=$tmp/never.pcap
	refuses "did you mean info" inof
	refuses "which FILE" info
	refuses "option --jsn" info --jsn "$one"
	refuses "there is no\|can't be opened" info "$tmp/absent.pcap"
	refuses "is a directory" info "$tmp"
	refuses "is neither pcap" info Makefile
	refuses "-o OUT is missing" convert "$one" --encap ib
	refuses "--encap is missing" convert "$one" -o "$o"
	refuses "is none of ib, ib-grh" convert "$one" -o "$o" --encap token-ring
	refuses "no number from 0 to 4094" convert "$one" -o "$o" --encap rocev1 --vlan 4095
	refuses "has no VLAN tags" convert "$one" -o "$o" --encap ib --vlan 5
	refuses "needs a value" convert "$one" -o
	refuses "column 1" edit "$one" -o "$o" 'dorp 1st'
	refuses "did you mean psn" edit "$one" -o "$o" --set psm=1
	refuses "no number from 0 to 0xffffff" edit "$one" -o "$o" --set qp=0x1000000
	refuses "is no address" edit "$one" -o "$o" --set ip.src=10.0.0.256
	refuses "is no MAC address" edit "$one" -o "$o" --set mac.src=02:00
	refuses "Z is no address, and no --node gives it one" edit "$one" -o "$o" 'drop all from Z'
	refuses "which end" edit "$one" -o "$o" --set ip=10.0.0.1
	refuses "only numbers can be added to" edit "$one" -o "$o" --set mac.src+=1
	refuses "write FIELD=VALUE" edit "$one" -o "$o" --set qp
	refuses "write qp, or time:T" edit "$one" -o "$o" --split-by size
	refuses "write qp, or time:T" edit "$one" -o "$o" --split-by time:0s
	refuses "link type LINUX_SLL2 can't be written" edit "$rec/siw_rping.pcap" -o "$o"
	refuses "did you mean SEND_ONLY" inject -o "$o" 'SEND_ONYL data=3'
	refuses "such a packet has no rkey" inject -o "$o" 'SEND_ONLY rkey=3'
	refuses "has no such field" inject -o "$o" 'SEND_ONLY lid.src=3'
	refuses "makes 3 packets" inject -o "$o" 'SEND data=9000'
	refuses "pairs of hex digits" inject -o "$o" 'SEND_ONLY hex=0'
	refuses "has no place" inject -o "$o" 'SEND_ONLY # data=8'
	refuses "at most 4096 bytes" inject -o "$o" 'SEND_ONLY data=5000'
	refuses "where to" inject 'SEND_ONLY'
	refuses "neither max nor a number" replay "$one" --to lo --speed fast
	refuses "is no number from 1" replay "$one" --to lo --loop 0
	refuses "there is no such interface" replay "$one" --to no-such-if
	refuses "is no address" replay "$one" --to udp:localhost
	refuses "add --allow-remote" replay "$one" --to udp:192.0.2.1
	refuses "add --allow-remote" inject --to udp:192.0.2.1 'SEND_ONLY'
	[ ! -e "$o" ]
}

a_damaged_capture_leaves_no_output() {
	local o=$tmp/never.pcap
	head -c 3000 "$one" >"$tmp/cut.pcap"
	run "$vp" convert "$tmp/cut.pcap" -o "$o" --encap ib
	expect_rc 1
	expect_err "frame 3 can't be read"
	run "$vp" edit "$tmp/cut.pcap" -o "$o"
	expect_rc 1
	run "$vp" edit "$tmp/cut.pcap" -o "$o" --split-by qp
	expect_rc 1
	[ -z "$(find "$tmp" -name 'never*')" ]
}

# Half of a capture comes through a FIFO, then a signal. What was there stays, and nothing is beside it.
a_signal_leaves_what_was_there_and_nothing_else() {
	local s pid
	mkdir "$tmp/k"
	mkfifo "$tmp/half"
	cp "$one" "$tmp/k/out.pcap"
	for s in TERM HUP KILL; do
		"$vp" edit "$tmp/half" -o "$tmp/k/out.pcap" --fix-icrc >/dev/null &
		pid=$!
		exec 4>"$tmp/half"
		head -c 3000 "$one" >&4
		sleep 0.3
		kill "-$s" "$pid"
		wait "$pid" || true
		exec 4>&-
		[ "$(ls -A "$tmp/k")" = out.pcap ] || { ls -A "$tmp/k" && return 1; }
		cmp "$one" "$tmp/k/out.pcap"
	done
}

a_full_disk_is_said() {
	refuses "No space left" convert "$one" -o /dev/full --encap ib
	refuses "No space left" edit "$one" -o /dev/full
	refuses "No space left" inject -o /dev/full 'SEND_ONLY'
	rc=0
	"$vp" info "$one" >/dev/full 2>"$tmp/err" || rc=$?
	expect_rc 2
	expect_err "standard output can't be written"
}

control_characters_of_arguments_do_not_reach_the_terminal() {
	run "$vp" info $'a\033[31mb'
	expect_rc 2
	[ "$(LC_ALL=C grep -c $'\033' "$tmp/err")" = 0 ]
}

"$cmp" list "$one" >"$tmp/one.list"
while read -r claim <&3; do
	check "$claim"
done 3< <(sed -n 's/^\([a-z][a-z0-9_]*_[a-z0-9_]*\)() {$/\1/p' "$0")
veth
finish
