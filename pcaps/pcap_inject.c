/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* pcap_inject.c - vs-pcap inject: one packet, described in words, sent or written. */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "pcap_common.h"
#include "vs/inject.h"

#define CMD "inject"
#define WORD_MAX 9000 /* hex= of an MTU */
#define PKT_MAX (VS_MTU_MAX + 256)

struct inject {
	const char *to, *out, *text;
	enum vs_encap encap;
	bool remote, has_icrc, has_dmalen;
	uint64_t icrc;
	struct vs_pkt p;
	uint8_t data[VS_MTU_MAX], frame[PKT_MAX], scratch[PKT_MAX];
};

/* ---- words ---- */

static int set_data(struct inject *j, const char *text)
{
	uint64_t n;

	if (!vp_number(text, VS_MTU_MAX, &n))
		return vp_fail(CMD, "data=%s: is no number from 0 to %u", text, VS_MTU_MAX);
	for (size_t i = 0; i < n; i++)
		j->data[i] = (uint8_t)i;
	j->p.payload = j->data;
	j->p.payload_len = (uint32_t)n;
	return VP_OK;
}

static int set_hex(struct inject *j, const char *text)
{
	size_t len = strlen(text);

	if (len % 2 != 0 || len / 2 > VS_MTU_MAX || strspn(text, "0123456789abcdefABCDEF") != len)
		return vp_fail(CMD, "hex=%.40s: write pairs of hex digits, at most %u", text, VS_MTU_MAX);
	for (size_t i = 0; i < len / 2; i++) {
		char pair[3] = {text[2 * i], text[2 * i + 1], '\0'};

		j->data[i] = (uint8_t)strtoul(pair, NULL, 16);
	}
	j->p.payload = j->data;
	j->p.payload_len = (uint32_t)(len / 2);
	return VP_OK;
}

static int set_vlan(struct inject *j, const char *text)
{
	uint64_t id;

	if (!vp_number(text, 4095, &id))
		return vp_fail(CMD, "vlan=%s: is no number from 0 to 4095", text);
	if (!(j->p.flags & VS_PKT_HAS_ETH))
		return vp_fail(CMD, "vlan=%s: native InfiniBand has no VLAN tags", text);
	j->p.eth.vlan_count = 1;
	j->p.eth.vlan[0].tpid = 0x8100;
	j->p.eth.vlan[0].tci = (uint16_t)id;
	return VP_OK;
}

/* A word that stands alone sets a flag: "ackreq". */
static int set_word(struct inject *j, const char *word)
{
	char flag[32];

	if (strncmp(word, "data=", 5) == 0)
		return set_data(j, word + 5);
	if (strncmp(word, "hex=", 4) == 0)
		return set_hex(j, word + 4);
	if (strncmp(word, "vlan=", 5) == 0)
		return set_vlan(j, word + 5);
	if (strncmp(word, "icrc=", 5) == 0) {
		j->has_icrc = true;
		return vp_number(word + 5, UINT32_MAX, &j->icrc) ? VP_OK
								 : vp_fail(CMD, "%s: is no 32-bit number", word);
	}
	j->has_dmalen |= strncmp(word, "dmalen=", 7) == 0;
	if (!strchr(word, '=') && strlen(word) < 16) {
		snprintf(flag, sizeof(flag), "%s=1", word);
		return vp_set_assign(CMD, flag, &j->p);
	}
	return vp_set_assign(CMD, word, &j->p);
}

static void set_addresses(struct vs_pkt *p)
{
	static const uint8_t src[6] = {0x02, 0x56, 0x53, 0, 0, 1}, dst[6] = {0x02, 0x56, 0x53, 0, 0, 2};

	memcpy(p->eth.src, src, 6);
	memcpy(p->eth.dst, dst, 6);
	memcpy(p->ipv4.src, (const uint8_t[]){127, 0, 0, 1}, 4);
	memcpy(p->ipv4.dst, (const uint8_t[]){127, 0, 0, 1}, 4);
	p->grh.sgid[15] = p->grh.dgid[15] = 1; /* ::1 */
	p->lrh.slid = 1;
	p->lrh.dlid = 2;
}

static int no_opcode(const char *word)
{
	const char *names[257], *near;
	size_t n = 0;

	for (unsigned op = 0; op < 256; op++)
		if (vs_opcode_token((uint8_t)op))
			names[n++] = vs_opcode_token((uint8_t)op);
	names[n] = NULL;
	near = vp_nearest(word, names);
	if (near)
		return vp_fail(CMD, "no such opcode: %s (did you mean %s?)", word, near);
	return vp_fail(CMD, "no such opcode: %s: SEND_ONLY, WRITE_FIRST, ACK, UD_SEND_ONLY ...", word);
}

/* j->p := the packet, sealed; j->frame holds its bytes. *len of them. */
static int make_packet(struct inject *j, size_t *len)
{
	char words[WORD_MAX], *save, *word;
	int op, n;

	if (strlen(j->text) >= sizeof(words))
		return vp_fail(CMD, "the description is too long");
	snprintf(words, sizeof(words), "%s", j->text);
	word = strtok_r(words, " \t", &save);
	op = word ? vs_opcode_by_token(word, strlen(word)) : -1;
	if (op < 0)
		return word ? no_opcode(word) : vp_fail(CMD, "the description is empty: OPCODE field=value ...");
	vs_pkt_init(&j->p, j->encap, (uint8_t)op, true);
	set_addresses(&j->p);
	if (vs_opcodes[op].payload == VS_PAYLOAD_EIGHT)
		set_data(j, "8");
	while ((word = strtok_r(NULL, " \t", &save)))
		if (set_word(j, word) != VP_OK)
			return VP_USAGE;
	if ((j->p.hdrs & VS_HDR_RETH) && !j->has_dmalen)
		j->p.ext.reth.dmalen = j->p.payload_len;
	n = vs_pkt_seal(&j->p, VS_SEAL_ALL, j->scratch, sizeof(j->scratch));
	if (n == 0 && j->has_icrc) {
		j->p.icrc = (uint32_t)j->icrc;
		n = vs_pkt_seal(&j->p, VS_SEAL_VCRC, j->scratch, sizeof(j->scratch));
	}
	if (n == 0)
		n = vs_pkt_build(&j->p, j->frame, sizeof(j->frame));
	if (n < 0)
		return vp_fail(CMD, "the packet can't be built: a length does not fit");
	*len = (size_t)n;
	return VP_OK;
}

/* ---- where to ---- */

static int write_file(const struct inject *j, size_t len)
{
	bool native = j->encap == VS_ENCAP_IB || j->encap == VS_ENCAP_IB_GRH;
	struct vs_io_error err;
	struct vs_writer *w = vs_writer_open(j->out, native ? VS_WRITER_ERF_IB : VS_WRITER_ETHERNET, &err);
	int ret;

	if (!w)
		return vp_fail(CMD, "%s", err.text);
	/* time 0: the same words give the same bytes */
	ret = vs_writer_put(w, 0, j->frame, (uint32_t)len, (uint32_t)len, &err);
	if (ret != 0)
		vs_writer_abort(w);
	else
		ret = vs_writer_close(w, &err);
	return ret == 0 ? VP_OK : vp_fail(CMD, "%s", err.text);
}

static int send_udp(const struct inject *j)
{
	struct vs_io_error err;
	int code;
	struct vs_injector *inj = vs_inject_udp_open(j->to + 4, &code, &err);

	if (!inj)
		return vp_fail(CMD, "%s", err.text);
	if (!j->remote && !vs_inject_udp_is_loopback(inj)) {
		vs_inject_close(inj);
		return vp_fail(CMD, "%s is not a loopback address, and RDMA has no authentication: add --allow-remote",
			       j->to + 4);
	}
	code = vs_inject_pkt(inj, &j->p, 0, &err);
	vs_inject_close(inj);
	return code == 0 ? VP_OK : vp_fail(CMD, "%s", err.text);
}

static int send_link(const struct inject *j, size_t len)
{
	struct vs_io_error err;
	int code;
	struct vs_injector *inj;

	if (!(j->p.flags & VS_PKT_HAS_ETH))
		return vp_fail(CMD, "%s takes Ethernet frames, no native InfiniBand: choose another --encap", j->to);
	inj = vs_inject_link_open(j->to, &code, &err);
	if (!inj)
		return vp_fail(CMD, "%s", err.text);
	code = vs_inject_frame(inj, j->frame, len, &err);
	vs_inject_close(inj);
	return code == 0 ? VP_OK : vp_fail(CMD, "%s", err.text);
}

static int help(void)
{
	fputs("usage: vs-pcap inject --to IFACE|udp:ADDR[:PORT] [options] 'OPCODE [FIELD=VALUE]...'\n"
	      "       vs-pcap inject -o FILE [options] 'OPCODE [FIELD=VALUE]...'\n\n"
	      "Makes one packet with right lengths, pad and CRCs, and sends it or writes it.\n"
	      "  vs-pcap inject -o ack.pcap 'ACK qp=0x11 psn=0x100 syndrome=0x1f msn=1'\n\n"
	      "  OPCODE          SEND_ONLY, WRITE_FIRST, READ_REQUEST, ACK, UD_SEND_ONLY, CNP ...\n"
	      "  data=N          N bytes of payload: 00 01 02 ...;  hex=00ff: these bytes\n"
	      "  ackreq, se      a flag alone means =1\n"
	      "  vlan=ID         an 802.1Q tag;  icrc=N: this ICRC, right or wrong (not for udp:)\n"
	      "  --encap NAME    ib, ib-grh, rocev1, rocev2-ipv4 (default), rocev2-ipv6\n"
	      "  --to udp:ADDR   the kernel makes the IP header; addresses, ports and TTL are its own\n"
	      "  --allow-remote  lets udp: leave the loopback addresses\n"
	      "Addresses default to 127.0.0.1, ::1, LID 1 and 2, MAC 02:56:53:00:00:01 and :02.\n\nFields:\n",
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

static int inject(struct inject *j)
{
	bool udp = j->to && strncmp(j->to, "udp:", 4) == 0;
	size_t len = 0;
	int ret = make_packet(j, &len);

	if (ret != VP_OK)
		return ret;
	if (udp && j->has_icrc)
		return vp_fail(CMD,
			       "icrc= does not go with udp:, whose ICRC depends on the port that the kernel chooses");
	ret = j->out ? write_file(j, len) : udp ? send_udp(j) : send_link(j, len);
	if (ret == VP_OK && !(j->out && strcmp(j->out, "-") == 0))
		printf("%s, %zu bytes, to %s\n", vs_opcodes[j->p.bth.opcode].name, len, j->out ? j->out : j->to);
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
