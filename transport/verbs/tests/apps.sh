#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# apps.sh BUILD_FOLDER short|all [WORD] - unmodified programs from Debian on the reference device, as an ordinary user:
# with and without lost packets, and every one in a network namespace of its own. WORD: only the checks whose name
# contains it. A check is named by its claim. Environment: JOBS at a time; VS_APPS_KEEP=1 shows the output of those that
# pass, too; VS_APPS_LIMIT seconds for one check.
set -euo pipefail
export LC_ALL=C
build=$(cd "${1:?which build folder?}" && pwd) form=${2:-short} word=${3:-}
cd "$(dirname "$0")/../../.."
run=$build/bin/vs-run
tmp=$(mktemp -d)
chmod 755 "$tmp"
trap 'rm -rf "$tmp"' EXIT
limit=${VS_APPS_LIMIT:-60} jobs=${JOBS:-2} n=0
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=0} # these programs are not ours

# Root becomes an ordinary user that still may read the build folder; without user namespaces, nobody.
user=()
if [ "$(id -u)" = 0 ]; then
	user=(unshare --user --map-user=1000 --map-group=1000)
	"${user[@]}" true 2>/dev/null || user=(setpriv --reuid=65534 --regid=65534 --clear-groups)
fi
as_user() { "${user[@]}" "$@"; }

# Without namespaces the programs would meet at one TCP port: one at a time.
netns=--netns
as_user "$run" --netns true 2>/dev/null || netns='' jobs=1

# How check number $1 ended: its name, "ok" or what is wrong.
verdict() { # number
	local name rc
	name=$(cat "$tmp/$1.name") rc=$(cat "$tmp/$1.rc" 2>/dev/null || echo "no exit code")
	if [ "$rc" = 0 ]; then
		echo "ok   $name"
		[ -z "${VS_APPS_KEEP:-}" ] || sed 's/^/     | /' "$tmp/$1.out"
	else
		echo "FAIL $name ($rc)"
		tail -n 40 "$tmp/$1.out" | sed 's/^/     | /'
	fi
}

# The exit code that is wanted, and an extended regular expression in the output.
one() { # number, code, expression, options and program
	local out=$tmp/$1.out wanted=$2 text=$3 rc=0 start=$SECONDS try
	shift 3
	for try in 1 2 3; do
		rc=0
		# shellcheck disable=SC2086
		as_user timeout "$limit" "$run" $netns "$@" >"$out" 2>&1 || rc=$?
		# perftest measures the processor's clock, and gives up on a machine that is too busy for that.
		if [ "$try" = 3 ] || ! grep -q 'Correlation coefficient r^2' "$out"; then break; fi
	done
	if [ $rc != 0 ] && [ $rc = "$wanted" ]; then rc=0; elif [ "$wanted" != 0 ]; then rc="exit code $rc, not $wanted"; fi
	if [ "$rc" = 0 ] && ! grep -qE -- "$text" "$out"; then rc="\"$text\" was not printed"; fi
	if [ "$rc" = 124 ]; then rc="stopped after $limit s"; fi
	echo "$rc" >"${out%.out}.rc"
	echo "$((SECONDS - start)) s" >>"$out"
}

check() { # name, expression, options -- program: it ends with 0 and prints that
	local name=$1
	shift
	queue "$name" 0 "$@"
}

refused() { # exit code, expression, options -- program
	queue "refused with $1: vs-run ${*:3}" "$@"
}

queue() {
	local name=$1
	[[ $name == *"$word"* ]] || return 0
	shift
	n=$((n + 1))
	echo "$name" >"$tmp/$n.name"
	while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n || true; done
	one $n "$@" &
}

have() {
	command -v "$1" >/dev/null && return
	echo "skip $1: it is not installed (scripts/deps.sh apps does that)"
	return 1
}

pingpong() { # name, program with options
	local name=$1
	shift
	check "$name" 'iters in' --pair -- "$@" -g 0
}

perf() { # name, program with options: the table of results has a line
	local name=$1
	shift
	check "$name" '^ [0-9]+ +[0-9]+ ' --pair -- "$@"
}

# The last acknowledge of programs that do not agree on an end may be lost for ever: there, requests are lost alone.
lossy() { # name, what is lost, expression, program with options
	local name=$1 what=$2 text=$3
	shift 3
	check "$name with 1 % loss" "$text" --pair --seed 4791 --fault "drop 1% $what" -- "$@"
}

tools() {
	check "ibv_devices lists the device" 'ref0' -- ibv_devices
	check "ibv_devinfo -v describes it" 'GID\[ *0\]:.*::ffff:127\.0\.0\.[0-9]+, RoCE v2' -- ibv_devinfo -v
	check "two addresses, two GIDs" 'GID\[ *1\]:.*::1, RoCE v2' --ip 127.0.0.1 --ip ::1 -- ibv_devinfo -v
}

pingpongs() {
	local p
	for p in rc uc ud srq; do
		pingpong "ibv_${p}_pingpong" "ibv_${p}_pingpong"
		pingpong "ibv_${p}_pingpong -e: completion events" "ibv_${p}_pingpong" -e
	done
	pingpong "ibv_rc_pingpong -t: extended CQ with time stamps" ibv_rc_pingpong -t
	pingpong "ibv_rc_pingpong -N: ibv_wr_*" ibv_rc_pingpong -N
	check "ibv_rc_pingpong -c without segmentation offload at MTU 256" 'iters in' --pair --mtu 256 --no-gso -- \
		ibv_rc_pingpong -g 0 -c -m 256
	[ -z "$netns" ] || check "ibv_rc_pingpong -c over IPv6" 'GID fd00::1' --pair --ip fd00::1 --ip fd00::2 -- \
		ibv_rc_pingpong -g 0 -c :: ibv_rc_pingpong -g 0 -c 127.0.0.1
	lossy "ibv_rc_pingpong -c" send 'iters in' ibv_rc_pingpong -g 0 -c -n 200
	if [ "$form" = all ]; then
		lossy "ibv_rc_pingpong -e" send 'iters in' ibv_rc_pingpong -g 0 -c -e -n 200
		lossy "ibv_rc_pingpong -t" send 'iters in' ibv_rc_pingpong -g 0 -c -t -n 200
		lossy "ibv_rc_pingpong -N" send 'iters in' ibv_rc_pingpong -g 0 -c -N -n 200
		lossy "ibv_srq_pingpong -e" send 'iters in' ibv_srq_pingpong -g 0 -c -e -n 200
	fi
	lossy "ibv_srq_pingpong -c" send 'iters in' ibv_srq_pingpong -g 0 -n 200
	check "damaged, doubled and reordered packets" 'iters in' --pair --seed 1 --fault 'corrupt 1% send' \
		--fault 'dup 2% any' --fault 'reorder 2% send' -- ibv_rc_pingpong -g 0 -c -n 200
}

# What can be wrong is said in a line that tells what to do, with the exit code of env(1).
# shellcheck disable=SC2016 # for another shell
messages() {
	refused 127 'nosuch: there is no such program' -- nosuch
	refused 126 '/etc/passwd: can.t be run' -- /etc/passwd
	refused 125 'no program to run: vs-run' --quiet
	refused 125 'option --wrong is not known' --wrong -- true
	refused 125 'is no address: write one like' --ip localhost -- true
	refused 125 'given twice' --ip ::1 --ip 0:0::1 -- true
	refused 125 'one of 256 512 1024 2048 4096' --mtu 1500 -- true
	refused 125 'write a number' --seed one -- true
	refused 125 'column 1: .drp. is no action' --fault 'drp 3rd' -- true
	refused 125 'nodes are called me and peer' --fault 'drop 1% any from A' -- true
	refused 125 'there is none of that name; they are length_unchecked' --deviation nonsense -- true
	refused 125 'give two addresses' --pair --ip 127.0.0.1 -- true
	refused 125 'there is no client behind' --pair -- true ::
	refused 125 'the server ended before a client could come' --pair -- true
	refused 7 'x' -- sh -c 'echo x; exit 7'
	refused 137 'x' --capture "$tmp/killed.pcap" -- sh -c 'echo x; kill -9 $$'
	[ "$form" = short ] || refused 3 'the server has failed' --pair -- \
		sh -c 'ibv_rc_pingpong -g 0 & sleep 1; kill $!; exit 3' :: sleep 50
	refused 9 '4791 is taken: another process.*choose another --ip' --ip 127.0.0.9 -- \
		sh -c 'ibv_rc_pingpong -g 0 & sleep 0.5; ibv_devinfo || rc=9; kill $!; exit $rc'
	refused 1 'ibv_modify_qp: av_not_global: ' --pair --explain -- ibv_rc_pingpong -g 5
	refused 1 'RETRY_EXC_ERR: retry_exceeded: ' --pair --explain --fault 'drop all ack from me' -- ibv_rc_pingpong -g 0 -n 5
	netns='' refused 125 'other hosts can reach this address' --ip 192.0.2.1 -- true
	netns='' refused 125 'is no address of this host' --allow-remote --ip 192.0.2.1 -- true
}

# What a system forbids or lacks is said, or done without: system calls that fail.
broken() {
	local fails=(strace -qq -f -o /dev/null -e) what
	without() { # exit code, expression, call and error, options of vs-run and program
		queue "refused with $1 where $3: vs-run ${*:4}" "$1" "$2" --quiet -- "${fails[@]}" "inject=$3" "$run" "${@:4}"
	}
	without 1 'security policy forbids it; allow this program UDP sockets' bind:error=EACCES ibv_devinfo
	without 125 'user.max_user_namespaces' unshare:error=ENOSPC --netns true
	without 125 'unprivileged_userns_clone=1' unshare:error=EPERM --view true
	without 125 'security policy forbids mounts' mount:error=EACCES --view true
	without 1 'Too many open files; raise .ulimit -n' eventfd2:error=EMFILE ibv_devinfo
	without 1 'this kernel is too old' memfd_create:error=ENOSYS ibv_devinfo
	for what in setsockopt:error=ENOPROTOOPT:when=2+ sendmmsg:error=EINVAL:when=2 socket:error=EPROTONOSUPPORT:when=2; do
		[ "$form" = all ] || [[ $what == setsockopt* ]] || continue
		check "a kernel with $what" 'iters in' --pair -- "${fails[@]}" "inject=$what" ibv_rc_pingpong -g 0 -c -n 50
	done
}

results='^ [0-9]+ +[0-9]+ ' # a line of perftest's table

# perftest measures the processor's clock for a second or so before each line: a few lines only in the short form.
perftest_short() {
	perf "ib_send_bw -q 16" ib_send_bw -q 16 -n 100
	perf "ib_write_bw -b: both directions" ib_write_bw -b -n 300
	perf "ib_read_bw" ib_read_bw -n 1000
	perf "ib_atomic_bw" ib_atomic_bw -n 1000
	perf "ib_send_lat -e: completion events" ib_send_lat -e -n 200
	perf "ib_write_lat" ib_write_lat -n 500
	perf "ib_send_bw -c UC" ib_send_bw -c UC -n 500
	perf "ib_send_bw -c UD" ib_send_bw -c UD -n 500
	perf "ib_send_bw --use-srq -q 4" ib_send_bw --use-srq -q 4 -n 200
	lossy "ib_write_bw" any "$results" ib_write_bw -n 200
	lossy "ib_read_bw" any "$results" ib_read_bw -n 200
	lossy "ib_atomic_bw" any "$results" ib_atomic_bw -n 200
}

perftest_all() {
	local op
	perftest_short
	for op in send write read atomic; do
		perf "ib_${op}_bw, as it is" "ib_${op}_bw"
		perf "ib_${op}_lat, as it is" "ib_${op}_lat"
		perf "ib_${op}_bw -q 16 -b" "ib_${op}_bw" -q 16 -b -n 100
		lossy "ib_${op}_lat" any "$results" "ib_${op}_lat" -n 200
		lossy "ib_${op}_bw -q 16" any "$results" "ib_${op}_bw" -q 16 -n 50
	done
	limit=$((3 * limit)) # a second or more for each size
	for op in send write read; do
		perf "ib_${op}_bw -a: all sizes to 8 MiB" "ib_${op}_bw" -a -n 20
		perf "ib_${op}_lat -a: all sizes to 8 MiB" "ib_${op}_lat" -a -n 20
	done
	limit=$((limit / 3))
	lossy "ib_send_bw --use-srq -q 4" any "$results" ib_send_bw --use-srq -q 4 -n 50
	lossy "ib_write_bw -b" any "$results" ib_write_bw -b -n 100
	lossy "ib_send_lat -e" any "$results" ib_send_lat -e -n 100
	perf "ib_send_bw -e" ib_send_bw -e -n 500
	perf "ib_send_lat -c UD" ib_send_lat -c UD
	perf "ib_send_bw -c UD -b" ib_send_bw -c UD -b
	perf "ib_write_bw -c UC" ib_write_bw -c UC
	perf "ib_write_lat -c UC" ib_write_lat -c UC
	perf "ib_send_bw --use-srq -q 16 -b" ib_send_bw --use-srq -q 16 -b -n 100
}

# What the kernel does for its processes, and nobody for ours but they themselves: who listens, who is gone.
# shellcheck disable=SC2016 # for another shell
lonely() {
	refused 255 'RDMA_CM_EVENT_REJECTED, error 8' -- rping -c -C 3 -a 127.0.0.7
	refused 1 'RDMA_CM_EVENT_UNREACHABLE, error: 1' -- udaddy -s 127.0.0.7
	# A listener has a name there; what is printed first says that the connection is there. An rping may wait for ever
	# for a request that it began before the event: then it is stopped.
	local listens='until grep -q verbscope-listens /proc/net/unix; do sleep 0.05; done'
	check "localhost leads to the process that listens" 'rdma-ping-2' -- sh -ec '
		ibv_rc_pingpong -g 0 >/dev/null & p=$!; sleep 0.3; rping -s & '"$listens"'
		rping -c -v -C 3 -a 127.0.0.1; kill $p'
	check "a server that is killed is noticed" 'client DISCONNECT EVENT' -- sh -ec 'rping -s -C 1000000 & s=$!
		'"$listens"'; timeout 20 rping -c -v -C 1000000 -a 127.0.0.1 | { read _; kill -9 $s; cat >/dev/null; }'
	check "a client that is killed is noticed" 'server DISCONNECT EVENT' -- sh -ec '
		{ '"$listens"'; exec rping -c -C 1000000 -a 127.0.0.1; } & c=$!
		timeout 20 rping -s -v -C 1000000 | { read _; kill -9 $c; cat >/dev/null; }'
}

connections_all() {
	check "mckey: multicast" 'data transfers complete' --pair -- mckey -m 239.1.1.1 -C 3 :: mckey -m 239.1.1.1 -s -C 3
	check "cmtime -c 100; its server never ends" 'disconnect   :' --pair -- cmtime :: cmtime -c 100 -s @server
	check "ucmatose -c 1000" 'return status 0' --pair -- ucmatose -c 1000 :: ucmatose -c 1000 -s @server
	check "udaddy -c 50" 'return status 0' --pair -- udaddy -c 50 :: udaddy -c 50 -s @server
	lossy "udaddy" cm 'return status 0' udaddy :: udaddy -s @server
	lossy "ucmatose -c 10" any 'return status 0' ucmatose -c 10 :: ucmatose -c 10 -s @server
	lossy "rdma_client" any 'rdma_client: end 0' rdma_server :: rdma_client -s @server
	check "rping -P: a server that goes on" 'rdma-ping-99' --pair -- rping -s -P :: rping -c -v -C 100 -a @server
	check "rping -C 1000" 'rdma-ping-999' --pair -- rping -s -C 1000 :: rping -c -v -C 1000 -a @server
	perf "ib_atomic_bw -R" ib_atomic_bw -R -n 500
	lossy "ib_write_bw -R" any "$results" ib_write_bw -R -n 200 :: ib_write_bw -R -n 200 @server
}

# Programs that connect through librdmacm.
connections() {
	check "rping -v: both sides" 'ping data: rdma-ping-99' --pair -- rping -s -C 100 :: rping -c -v -C 100 -a @server
	# shellcheck disable=SC2016
	check "rping: many clients of one server" 'ping data: rdma-ping-4' --pair -- rping -s -P :: \
		sh -c 'for i in 1 2 3 4; do rping -c -v -C 5 -a "$0" || exit; done' @server
	check "rping -q: a queue pair of the program's own" 'rdma-ping-9' --pair -- rping -s -q -C 10 :: rping -c -q -v -C 10 -a @server
	[ -z "$netns" ] || check "rping over IPv6" 'rdma-ping-9' --pair --ip fd00::1 --ip fd00::2 -- \
		rping -s -a ::0 -C 10 :: rping -c -v -C 10 -a @server
	check "rdma_client, rdma_server: endpoints without channels" 'rdma_client: end 0' --pair -- rdma_server :: \
		rdma_client -s @server
	check "ucmatose -c 10: ten connections" 'return status 0' --pair -- ucmatose -c 10 :: ucmatose -c 10 -s @server
	check "ucmatose -m: connections move to another channel" 'return status 0' --pair -- ucmatose -m :: \
		ucmatose -m -s @server
	check "ucmatose -c 200: as many requests at once" 'return status 0' --pair -- ucmatose -c 200 :: \
		ucmatose -c 200 -s @server
	check "udaddy: datagrams" 'return status 0' --pair -- udaddy :: udaddy -s @server
	refused 8 'REJECTED, error: 8' --pair -- rping -s -P :: ucmatose -s @server
	[ -z "$netns" ] || lonely
	lossy rping any 'rdma-ping-49' rping -s -C 50 :: rping -c -v -C 50 -a @server
	check "rping whose DREQ is lost" 'rdma-ping-4' --pair --fault 'drop 4th cm' -- rping -s -C 5 :: \
		rping -c -v -C 5 -a @server
	[ "$form" = short ] || connections_all
	have ib_send_bw || return 0
	perf "ib_send_bw -R" ib_send_bw -R -n 500
	perf "ib_write_lat -R" ib_write_lat -R -n 500
	perf "ib_read_bw -R -q 8" ib_read_bw -R -q 8 -n 50
	perf "ib_send_bw -R -c UD" ib_send_bw -R -c UD -n 500
}

# libfabric looks at no address of the interface lo: here there is another.
libfabric() { # number
	# shellcheck disable=SC2016
	timeout "$limit" unshare --user --map-root-user --net sh -ec '
		ip link set lo up
		ip link add vs0 type veth peer name vs1
		ip address add 10.9.0.1/24 dev vs0
		ip address add 10.9.0.2/24 dev vs0
		ip link set vs1 up
		ip link set vs0 up
		exec unshare --user --map-user=1000 --map-group=1000 "$1" --allow-remote --pair --ip 10.9.0.1 --ip 10.9.0.2 -- \
			fi_pingpong -p verbs -e msg -I 100 :: fi_pingpong -p verbs -e msg -I 100 @server' sh "$run" &&
		grep -q '^1m .*=100' "$tmp/$1.out"
}

# What the connection of an rping looks like: each message once, every checksum right, the addresses of RDMA-CM.
capture_of_a_connection() { # number
	local f=$tmp/cm.pcap got want="ConnectRequest ConnectReply ReadyToUse DisconnectRequest DisconnectReply"
	# shellcheck disable=SC2086
	as_user timeout "$limit" "$run" $netns --quiet --pair --capture "$f" -- rping -s -C 3 :: rping -c -C 3 -a @server || return
	got=$("$build/bin/vs-tshark" -r "$f" -Y 'rdma.cm && rdma.icrc.status == 1' -T fields -e _ws.col.Info |
		sed 's/^CM \([A-Za-z]*\).*/\1/' | awk '!seen[$1]++' | paste -sd' ')
	echo "messages: $got"
	[ "$got" = "$want" ] || return
	"$build/bin/vs-tshark" -r "$f" -Y 'rdma.cm.service.portspace == 6 && rdma.cm.service.port == 7174 &&
		rdma.cm.ip.src == ip.src && rdma.cm.ip.dst == ip.dst' | grep ConnectRequest || return
	[ "$("$build/bin/vs-tshark" -r "$f" -Y 'rdma && rdma.icrc.status != 1' | wc -l)" = 0 ]
}

# A check that is a function of ours.
own() { # name, function
	[[ $1 == *"$word"* ]] || return 0
	n=$((n + 1))
	echo "$1" >"$tmp/$n.name"
	if "$2" $n >"$tmp/$n.out" 2>&1; then echo 0; else echo "not as wanted"; fi >"$tmp/$n.rc"
}

# What a kernel would show of the device, to this program alone.
# shellcheck disable=SC2016 # for another shell
view() {
	local wanted='0000:0000:0000:0000:0000:ffff:7f00:000[0-9]+ RoCE v2 lo Ethernet ref0'
	[ -n "$netns" ] || { echo "skip --view: no namespaces for ordinary users here" && return; }
	check "--view: the device stands below /sys and /dev" "$wanted" --view -- sh -ec '
		test -c /dev/infiniband/uverbs0 && test -c /dev/infiniband/rdma_cm && test -e /sys/class/net/lo/mtu
		ls /sys/class/infiniband/ref0/device/net/lo/mtu >/dev/null && echo >/dev/null && test -r /dev/urandom
		cd /sys/class/infiniband/ref0/ports/1
		echo $(cat gids/0 gid_attrs/types/0 gid_attrs/ndevs/0 link_layer /sys/class/infiniband_verbs/uverbs0/ibdev)'
	check "--view: what the files say is what the verbs say" '^same 02ff' --view -- sh -ec '
		a=$(cat /sys/class/infiniband/ref0/node_guid)
		b=$(ibv_devinfo | sed -n "s/.*node_guid:[[:space:]]*//p")
		[ "$a" = "$b" ] && echo same $a'
	check "--view with --pair: each side has its own" 'ffff:7f00:0002' --view --pair --ip 127.0.0.1 --ip 127.0.0.2 -- \
		ibv_rc_pingpong -g 0 -n 10 :: \
		sh -ec 'cat /sys/class/infiniband/ref0/ports/1/gids/0; ibv_rc_pingpong -g 0 -n 10 "$0"' @server
	if command -v ibstat >/dev/null; then check "ibstat" 'State: Active' --view -- ibstat; fi
}

# UCX finds its devices below /sys. The transports alone, and messages on top of them.
ucx() {
	local t name
	uct() { # transport, test, options of vs-run
		name="ucx_perftest -x $1 -t $2 ${*:3}"
		check "${name% }" '^Final: +1000 ' --view --pair "${@:3}" -- \
			ucx_perftest -x "$1" -t "$2" -d ref0:1 -n 1000
	}
	ucp() { # test, size, options of vs-run
		name="ucx_perftest -t $1 over rc_verbs ${*:3}"
		check "${name% }" '^Final: +1000 ' --view --pair "${@:3}" -- \
			env UCX_TLS=rc_verbs,ud_verbs ucx_perftest -t "$1" -s "$2" -n 1000 :: \
			env UCX_TLS=rc_verbs,ud_verbs ucx_perftest -t "$1" -s "$2" -n 1000 @server
	}
	uct rc_verbs am_lat
	ucp tag_bw 65536
	[ "$form" = all ] || return 0
	for t in am_bw put_lat put_bw add_lat fadd cswap; do uct rc_verbs $t; done
	for t in am_lat am_bw; do uct ud_verbs $t; done
	uct rc_verbs put_bw --seed 4791 --fault 'drop 1% any'
	for t in tag_lat stream_bw ucp_put_bw ucp_get; do ucp $t 4096; done
	for t in ucp_add ucp_fadd ucp_cswap; do ucp $t 8; done
	ucp tag_bw 4096 --seed 4791 --fault 'drop 1% any'
	check "ucx_perftest over IPv6" '^Final: +1000 ' --view --pair --ip fd00::1 --ip fd00::2 -- \
		ucx_perftest -x ud_verbs -t am_lat -d ref0:1 -n 1000 :: \
		ucx_perftest -x ud_verbs -t am_lat -d ref0:1 -n 1000 127.0.0.1
}

# rdma-core's own tests, which its package of Python bindings brings along.
pyverbs() {
	local tests=/usr/share/doc/rdma-core/tests f
	if [ ! -e "$tests/run_tests.py" ] || ! have /usr/bin/python3; then
		echo "skip pyverbs: $tests is not there (python3-pyverbs, with documentation)"
		return 0
	fi
	mkdir -p "$tmp/rdma-core"
	cp -r "$tests" "$tmp/rdma-core/"
	for f in "$tmp"/rdma-core/tests/*.gz; do gunzip -f "$f"; done
	check "rdma-core's own tests" '^OK ' -- /usr/bin/python3 "$tmp/rdma-core/tests/run_tests.py" --dev ref0 --gid 0
	[ -z "$netns" ] || check "rdma-core's own tests of librdmacm, none skipped" '^OK$' --view --ip 127.0.0.1 -- \
		/usr/bin/python3 "$tmp/rdma-core/tests/run_tests.py" --dev ref0 --gid 0 -k test_rdmacm.CMTestCase
	check "rdma-core's own tests over IPv6" '^OK ' --ip 127.0.0.1 --ip ::1 -- \
		/usr/bin/python3 "$tmp/rdma-core/tests/run_tests.py" --dev ref0 --gid 1
	netns='' check "rdma-core's own tests on a simulated device" '^OK ' --sim -- \
		/usr/bin/python3 "$tmp/rdma-core/tests/run_tests.py" --dev ref1 --gid 0
}

have ibv_devinfo && tools && messages
[ -n "${SAN:-}" ] || { have strace && broken; } # the sanitizers use such calls themselves
have ibv_rc_pingpong && pingpongs
have ib_write_bw && "perftest_$form"
have rping && connections
if [ -n "${SAN:-}" ] || [ ! -x "$build/bin/vs-tshark" ]; then
	echo "skip a capture of a connection: the plugin is not built, or with a sanitizer, which tshark is without"
elif have rping && have tshark; then
	own "a capture shows REQ REP RTU DREQ DREP as on a fabric" capture_of_a_connection
fi
[ -z "$netns" ] || { have fi_pingpong && have ip && own "fi_pingpong -e msg: libfabric" libfabric; }
qperf_all() {
	local t
	for t in rc_bi_bw rc_compare_swap_mr rc_fetch_add_mr rc_rdma_read_bw rc_rdma_write_bw rc_rdma_write_poll_lat; do
		check "qperf $t" '(bw|latency|msg_rate) +=' --pair -- qperf :: qperf -t 1 -cm 1 @server $t
	done
	lossy "qperf rc_lat" any 'latency +=' qperf :: qperf -t 1 -cm 1 @server rc_lat
}

[ "$form" = short ] || { have qperf && qperf_all; }
have qperf && check "qperf -cm 1" 'latency +=' --pair -- qperf :: qperf -t 1 -cm 1 @server rc_bw rc_lat
view
[ -z "$netns" ] || { have ucx_perftest && ucx; }
pyverbs
while [ "$(jobs -rp | wc -l)" -gt 0 ]; do wait -n || true; done
for ((i = 1; i <= n; i++)); do verdict $i; done | tee "$tmp/verdicts"
passed=$(grep -c '^ok ' "$tmp/verdicts" || true) failed=$(grep -c '^FAIL ' "$tmp/verdicts" || true)
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
