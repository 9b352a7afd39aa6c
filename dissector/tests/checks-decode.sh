# SPDX-License-Identifier: GPL-2.0-or-later
#
# checks-decode.sh - is every field right? Against the .txt beside the recorded captures, against the
# built-in dissector, against the table of broken rules. Sourced by run.sh.
# shellcheck shell=bash disable=SC2154 # $W, $recorded and the like come from run.sh

generated_captures() {
	mkdir -p "$W/generated" && "$MKCAPTURES" "$W/generated" || return
	local file bad=0
	for file in "${generated[@]}"; do
		cmp "$file" "$W/generated/${file##*/}" || bad=1
	done
	for file in "$W/generated"/*; do
		[ -e "pcaps/generated/${file##*/}" ] || { echo "not in the repository: ${file##*/}" && bad=1; }
	done
	"$MKCAPTURES" --readme >"$W/README.md" && same pcaps/generated/README.md "$W/README.md" || bad=1
	[ "$bad" = 0 ] || echo "make update-golden rewrites pcaps/generated"
	return $bad
}

# Frame numbers of the big file as "capture frame n".
name_frames() {
	awk -F'\t' 'NR == FNR { name[NR] = $1; first[NR] = $2; count[NR] = $3; n = NR; next }
		{ for (i = 1; i <= n; i++) if ($1 >= first[i] && $1 < first[i] + count[i]) break
		  f = $1; $1 = ""; printf "%s frame %d:%s\n", name[i], f - first[i] + 1, $0 }' "$W/index.tsv" -
}

# -V builds the whole tree of every frame; the filter catches the expert item of a dissector exception.
# Two of the packets that break a rule on purpose are called malformed by Wireshark's IP and UDP: rightly.
no_malformed() {
	local found
	ours -r "$W/all.pcapng" -Y '_ws.malformed && !udp.length.bad && !ipv6.bogus_ipv6_version' -T fields -e frame.number -e _ws.col.Info >"$W/malformed" || return
	found=$(wc -l <"$W/malformed")
	name_frames <"$W/malformed"
	ours -r "$W/all.pcapng" -V >"$W/one-pass" || return
	grep -n 'Malformed Packet' "$W/one-pass" | head -20
	[ "$found" = 0 ] && ! grep -q 'Malformed Packet' "$W/one-pass"
}

TXT_FIELDS=(rdma.bth.opcode rdma.bth.psn rdma.bth.destqp rdma.bth.ackreq rdma.bth.se rdma.bth.padcnt
	rdma.deth.qkey rdma.deth.srcqp rdma.feth.plt rdma.feth.sel rdma.reth.va rdma.reth.rkey rdma.reth.dmalen
	rdma.aeth.syndrome rdma.aeth.msn rdma.atomiceth.va rdma.atomiceth.rkey rdma.atomiceth.swapadd
	rdma.atomiceth.compare rdma.atomicack.origdata rdma.immdt rdma.ieth.rkey rdma.mad.mgmtclass
	rdma.mad.attributeid rdma.payload.len rdma.icrc.status)

# Our decode of all captures that have a .txt, as its lines, next to the lines themselves.
txt_lines() {
	local pcap txt with=() lines=0
	: >"$W/txt.expected"
	for pcap in "${recorded[@]}" ${shared[@]+"${shared[@]}"}; do
		txt=${pcap%.pcap}.txt
		[ -e "$txt" ] || continue
		with+=("$pcap")
		sed -n "s|^ *[0-9.]* ms [AB]>[AB]  |${pcap##*/} |p" "$txt" >>"$W/txt.expected"
	done
	mergecap -a -w "$W/txt.pcap" "${with[@]}" || return
	table "$W/txt.pcap" ours "${TXT_FIELDS[@]}" | awk -f "$HERE/num.awk" -f "$HERE/txtline.awk" >"$W/txt.lines" || return
	cut -d' ' -f1 "$W/txt.expected" | paste -d' ' - "$W/txt.lines" >"$W/txt.got"
	lines=$(wc -l <"$W/txt.expected")
	echo "${#with[@]} captures, $lines packets"
	[ "$lines" -gt 400 ] && same "$W/txt.expected" "$W/txt.got"
}

# The columns of builtin.map: 2 ours, 3 the built-in's.
map_fields() {
	awk -F'[ \t]*[|][ \t]*' -v c="$1" '!/^#/ && NF { n = split($c, f, " "); for (i = 1; i <= n; i++) print f[i] }' \
		"$HERE/builtin.map"
}

builtin_tables() {
	local mine theirs
	mapfile -t mine < <(map_fields 2)
	mapfile -t theirs < <(map_fields 3)
	table "$1" ours frame.number frame.protocols "${mine[@]}" >"$2.ours" || return
	table "$1" builtin_ws frame.number frame.protocols "${theirs[@]}" >"$2.builtin"
}

builtin_fields() {
	builtin_tables "$W/all.pcapng" "$W/fields" || return
	awk -f "$HERE/num.awk" -f "$HERE/compare.awk" -v expect_excuses=1 \
		"$HERE/builtin.map" "$W/index.tsv" "$W/fields.ours" "$W/fields.builtin"
}

# MADs of classes that we leave to the built-in: every field that it shows of them is there, with its value.
# Not counted are the headers (builtin.map has them) and CM messages, which are ours.
builtin_mads() {
	local files=(pcaps/generated/ib-mad.pcap pcaps/generated/ib.pcap) names n=0
	[ ! -e "$SHARED/public/native-ib-erf.pcap" ] || files+=("$SHARED/public/native-ib-erf.pcap")
	mergecap -a -F pcapng -w "$W/mads.pcapng" "${files[@]}" || return
	mapfile -t names < <(builtin_ws -r "$W/mads.pcapng" -T pdml | grep -o 'field name="infiniband\.[^"]*"' | cut -d'"' -f2 | sort -u |
		grep -vE '^infiniband\.(lrh|grh|bth|deth|reth|aeth|rwh|cm|mad|immdt|ieth|payload|invariant|variant|reserved|rawdata)(\.|$)')
	n=${#names[@]}
	echo "$n fields"
	table "$W/mads.pcapng" builtin_ws frame.number infiniband.mad.mgmtclass infiniband.mad.attributeid "${names[@]}" |
		awk -F'\t' '$2 != "" && !($2 == "0x07" && $3 ~ /^0x001/)' | cut -f1,4- >"$W/mads.builtin"
	table "$W/mads.pcapng" ours frame.number "${names[@]}" |
		awk -F'\t' 'NR == FNR { other[$1] = 1; next } $1 in other' "$W/mads.builtin" - >"$W/mads.ours"
	echo "$(wc -l <"$W/mads.builtin") MADs"
	[ "$n" -gt 20 ] && [ -s "$W/mads.builtin" ] && same "$W/mads.builtin" "$W/mads.ours"
}

# Every protocol that the built-in finds in native InfiniBand is found with us too. In RoCE it finds some
# as well, but only by heuristics that anything can satisfy, and none of these captures holds them.
builtin_protocols() {
	awk -F'\t' '
		NR == FNR { ours[$1] = ":" $2 ":"; next }
		$2 ~ /infiniband/ && $2 ~ /^erf:/ {
			n = split($2, p, ":")
			for (i = 1; i <= n; i++)
				if (p[i] !~ /^(infiniband|data|_ws\..*|ethertype)$/ && ours[$1] !~ ":" p[i] ":")
					print $1 "\t" p[i] " is lost; built-in " $2 "; ours " ours[$1]
		}' "$W/fields.ours" "$W/fields.builtin" >"$W/lost"
	name_frames <"$W/lost"
	[ ! -s "$W/lost" ]
}

# No capture here holds NFS/RDMA, SMB Direct, NVMe, iSER, SMC-R, ...: nobody may be found.
no_false_claims() {
	ours -r "$W/all.pcapng" -Y 'rdma && (rpcordma || smb_direct || nvme-rdma || iser || lnet || smc || sdp || drbd || fcoib || infiniband.eoib)' \
		-T fields -e frame.number -e frame.protocols >"$W/claims" || return
	name_frames <"$W/claims"
	[ ! -s "$W/claims" ]
}

# name TAB icrc good bad unverified none TAB vcrc good bad unverified none, frames with a BTH or LRH alone.
crc_table() {
	table "$W/all.pcapng" ours frame.number rdma.lrh rdma.bth rdma.icrc.status rdma.vcrc.status |
		awk -F'\t' 'NR == FNR { name[NR] = $1; first[NR] = $2; count[NR] = $3; n = NR; next }
		function column(s) { return s == "1" || s == "Good" ? 1 : s == "0" || s == "Bad" ? 2 : s == "2" || s == "Unverified" ? 3 : 4 }
		FNR == 1 { i = 1 }
		{
			while ($1 >= first[i] + count[i])
				i++
			if ($3 != "")
				icrc[i, column($4)]++
			if ($2 != "")
				vcrc[i, column($5)]++
		}
		END { for (i = 1; i <= n; i++) {
			printf "%-28s icrc", name[i]
			for (k = 1; k <= 4; k++) printf " %4d", icrc[i, k]
			if (vcrc[i, 1] + vcrc[i, 2] + vcrc[i, 3] + vcrc[i, 4]) {
				printf "   vcrc"
				for (k = 1; k <= 4; k++) printf " %4d", vcrc[i, k]
			}
			print ""
		} }' "$W/index.tsv" -
}

# Lines of a golden file about captures that are here; each once.
present() {
	awk -F'\t' 'NR == FNR { here[$1] = 1; next } { split($0, f, " "); if (f[1] in here || /^#/) print }' "$W/index.tsv" "$1"
}

crc_counts() {
	crc_table | sort -u >"$W/crc.got" || return
	present "$GOLDEN/crc.txt" | grep -v '^#' >"$W/crc.expected"
	same "$W/crc.expected" "$W/crc.got"
}

# Where the snap length cut our packet no CRC that it took away is judged, and the Info column says what
# happened. Of native InfiniBand cut in the VCRC the ICRC is still whole.
snapped() {
	mergecap -a -F pcapng -w "$W/snap.pcapng" pcaps/generated/snap.pcap pcaps/generated/ib-snap.pcap || return
	table "$W/snap.pcapng" ours frame.cap_len frame.len rdma.icrc.status rdma.vcrc.status rdma.lrh frame.protocols \
		_ws.col.Info >"$W/snapped" || return
	awk -F'\t' '
		$1 < $2 && $6 ~ /rdma/ {
			n++
			icrc_whole = $5 != "" && $1 >= $2 - 2
			if ($3 == "0" || ($3 == "1" && !icrc_whole) || $4 == "0" || $4 == "1" || $6 ~ /malformed/ || $7 !~ /runcated|limited during/) {
				print NR ": " $0
				bad = 1
			}
		}
		END { print n " cut frames"; exit bad || n < 500 }' "$W/snapped"
}

reason_ids() {
	sed -n 's/^VS_REASON([A-Z0-9_]*, "\([a-z0-9_]*\)".*/\1/p' transport/reasons.def
}

# "capture frame reason..." of every frame of a capture that breaks a rule.
reasons_of() {
	local ids names
	mapfile -t ids < <(reason_ids)
	names=("${ids[@]/#/rdma.reason.}")
	table "$1" ours frame.number "${names[@]}" |
		awk -F'\t' -v ids="${ids[*]}" 'BEGIN { split(ids, id, " ") }
			{ line = $1; for (i = 2; i <= NF; i++) if ($i != "") line = line " " id[i - 1]; print line }'
}

broken_rules() {
	local name bad=0
	"$MKCAPTURES" --rules >"$W/rules" || return
	# reassembly would keep a fragment from UDP; 14791 is the port of the case udp_dport
	ours_options=(-o ip.defragment:FALSE -o "rdma.udp.ports:4791,14791")
	for name in rules-roce rules-ib; do
		reasons_of "pcaps/generated/$name.pcap" | sed "s/^/$name /" >>"$W/rules.got"
	done
	# shellcheck disable=SC2034 # lib.sh reads it
	ours_options=()
	grep -vxF -f "$HERE/rules-unseen.txt" "$W/rules" | sort >"$W/rules.expected"
	awk 'NR == FNR { unseen[$1, $2] = 1; next } !(($1, $2) in unseen)' "$HERE/rules-unseen.txt" "$W/rules.got" |
		sort >"$W/rules.sorted"
	same "$W/rules.expected" "$W/rules.sorted" || bad=1
	return $bad
}

# capture reason count, over everything.
reason_counts() {
	reasons_of "$W/all.pcapng" | awk -F'[ \t]' 'NR == FNR { name[NR] = $1; first[NR] = $2; count[NR] = $3; i = 1; next }
		{
			while ($1 >= first[i] + count[i])
				i++
			for (k = 2; k <= NF; k++)
				c[name[i] " " $k]++
		}
		END { for (k in c) print k, c[k] }' "$W/index.tsv" - | LC_ALL=C sort
}

reasons_by_capture() {
	reason_counts >"$W/reasons.got" || return
	present "$GOLDEN/reasons.txt" | grep -v '^#' >"$W/reasons.expected"
	same "$W/reasons.expected" "$W/reasons.got"
}

# The contract: a field that no capture shows is a field that nobody has tested.
contract_fields_shown() {
	local bad=0 field
	ours -r "$W/all.pcapng" -2 -T pdml | grep -o 'field name="rdma[^"]*"\|proto name="rdma"' | sort -u >"$W/shown" || return
	while read -r field; do
		grep -q "name=\"$field\"" "$W/shown" || { echo "never shown: $field" && bad=1; }
	done < <(contract_fields)
	return $bad
}
