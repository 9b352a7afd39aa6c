/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* pcap_inject.c - vs-pcap inject: one packet, described in words, sent or written. */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "pcap_describe.h"
#include "vs/inject.h"

#define CMD "inject"

struct inject {
	const char *to, *out, *text;
	enum vs_encap encap;
	bool remote;
	struct vp_described d;
};

/* ---- where to ---- */

static int write_file(const struct inject *j)
{
	bool native = j->encap == VS_ENCAP_IB || j->encap == VS_ENCAP_IB_GRH;
	struct vs_io_error err;
	struct vs_writer *w = vs_writer_open(j->out, native ? VS_WRITER_ERF_IB : VS_WRITER_ETHERNET, &err);
	int ret;

	if (!w)
		return vp_fail(CMD, "%s", err.text);
	/* time 0: the same words give the same bytes */
	ret = vs_writer_put(w, 0, j->d.frame, (uint32_t)j->d.len, (uint32_t)j->d.len, &err);
	if (ret != 0)
		vs_writer_abort(w);
	else
		ret = vs_writer_close(w, &err);
	return ret == 0 ? VP_OK : vp_fail(CMD, "%s", err.text);
}

static int send_udp(const struct inject *j)
{
	struct vs_injector *inj;
	struct vs_io_error err;
	int code;

	inj = vp_udp_open(CMD, j->to + 4, j->remote);
	if (!inj)
		return VP_USAGE;
	code = vs_inject_pkt(inj, &j->d.p, 0, &err);
	vs_inject_close(inj);
	return code == 0 ? VP_OK : vp_fail(CMD, "%s", err.text);
}

static int send_link(const struct inject *j)
{
	struct vs_io_error err;
	int code;
	struct vs_injector *inj;

	if (j->encap == VS_ENCAP_IB || j->encap == VS_ENCAP_IB_GRH)
		return vp_fail(CMD, "%s takes Ethernet frames, no native InfiniBand: choose another --encap", j->to);
	inj = vs_inject_link_open(j->to, &code, &err);
	if (!inj)
		return vp_fail(CMD, "%s", err.text);
	code = vs_inject_frame(inj, j->d.frame, j->d.len, &err);
	vs_inject_close(inj);
	return code == 0 ? VP_OK : vp_fail(CMD, "%s", err.text);
}

static int help(void)
{
	fputs("usage: vs-pcap inject --to IFACE|udp:ADDR[:PORT] [options] 'OPCODE [FIELD=VALUE]...'\n"
	      "       vs-pcap inject -o FILE [options] 'OPCODE [FIELD=VALUE]...'\n\n"
	      "Makes one packet with right lengths, pad and CRCs, and sends it or writes it.\n"
	      "  vs-pcap inject -o ack.pcap 'ACK qp=0x11 psn=0x100 syndrome=0x1f msn=1'\n\n"
	      "The description is what a drill script has behind 'peer>' (docs/drill-language.md):\n"
	      "  OPCODE          SEND_ONLY, WRITE_FIRST, READ_REQUEST, ACK, NAK rnr, UD SEND_ONLY, CM REQ, CNP ...\n"
	      "  psn= (+0), destqp= or qp=, ackreq, se, msn=, va=, rkey=, dmalen=, qkey=, timer=, src=, vlan= ...\n"
	      "  data=N          N bytes of payload;  hex=00ff or data=hex\"00 ff\": these bytes\n"
	      "  icrc=bad|N, flip=BIT, cut=N, tver=N, ip_len=N ...: wrong ones (icrc= and flip= not for udp:)\n"
	      "  raw \"...\"       a frame of these bytes;  bth \"...\": the bytes from the BTH on\n\n"
	      "  --encap NAME    ib, ib-grh, rocev1, rocev2-ipv4 (default), rocev2-ipv6\n"
	      "  --to udp:ADDR   the kernel makes the IP header; addresses, ports and TTL are its own\n"
	      "  --allow-remote  lets udp: leave the loopback addresses\n"
	      "Addresses default to those of a script's peer: from 10.0.0.2 to 10.0.0.1, LID 2 to 1.\n\n"
	      "Fields of 'vs-pcap edit' too:\n",
	      stdout);
	vp_set_help(stdout);
	return vp_flush(CMD);
}

/* VP_OK: go on; -1: help was printed; otherwise the exit code. */
static int parse_options(struct inject *j, int argc, char **argv)
{
	static const struct option options[] = {
		{"help", no_argument, NULL, 'h'},         {"to", required_argument, NULL, 't'},
		{"encap", required_argument, NULL, 'e'},  {"allow-remote", no_argument, NULL, 'r'},
		{"output", required_argument, NULL, 'o'}, {0}};
	int opt;

	opterr = 0;
	while ((opt = getopt_long(argc, argv, ":ho:", options, NULL)) != -1) {
		if (opt == 'h')
			return help() == VP_OK ? -1 : VP_USAGE;
		if (opt == 't')
			j->to = optarg;
		else if (opt == 'o')
			j->out = optarg;
		else if (opt == 'r')
			j->remote = true;
		else if (opt == 'e')
			j->encap = vp_encap_by_name(optarg);
		else
			return vp_bad_option(CMD, argv, opt);
		if (j->encap == VS_ENCAP_BARE)
			return vp_fail(CMD, "--encap %s: is none of ib, ib-grh, rocev1, rocev2-ipv4, rocev2-ipv6",
				       optarg);
	}
	if (optind + 1 != argc)
		return vp_fail(CMD, "one description in quotes: 'OPCODE field=value ...'; see 'vs-pcap inject --help'");
	j->text = argv[optind];
	if (!j->to == !j->out)
		return vp_fail(CMD, "where to? --to IFACE, --to udp:ADDR, or -o FILE");
	return VP_OK;
}

static const char *name_of(const struct vp_described *d)
{
	const char *name = d->parsed ? vs_opcodes[d->p.bth.opcode].name : NULL;

	return name ? name : d->parsed ? "reserved opcode" : "raw bytes";
}

static int inject(struct inject *j)
{
	bool udp = j->to && strncmp(j->to, "udp:", 4) == 0;
	int ret = vp_describe(CMD, j->text, j->encap, &j->d);

	if (ret != VP_OK)
		return ret;
	if (udp && !j->d.parsed)
		return vp_fail(CMD, "udp: takes RDMA packets alone: these bytes are none");
	if (udp && j->d.icrc_wanted)
		return vp_fail(
			CMD,
			"icrc= and flip= do not go with udp:, whose ICRC depends on the port that the kernel chooses");
	ret = j->out ? write_file(j) : udp ? send_udp(j) : send_link(j);
	if (ret == VP_OK && !(j->out && strcmp(j->out, "-") == 0))
		printf("%s, %zu bytes, to %s\n", name_of(&j->d), j->d.len, j->out ? j->out : j->to);
	return ret == VP_OK ? vp_flush(CMD) : ret;
}

int vp_inject(int argc, char **argv)
{
	struct inject *j = calloc(1, sizeof(*j));
	int ret;

	if (!j)
		return vp_fail(CMD, "no memory");
	j->encap = VS_ENCAP_ROCEV2_IPV4;
	ret = parse_options(j, argc, argv);
	if (ret == VP_OK)
		ret = inject(j);
	free(j);
	return ret < 0 ? VP_OK : ret;
}
