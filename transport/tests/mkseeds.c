/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * mkseeds.c - first inputs for fuzz_parse: a packet of every opcode in every encapsulation, with and
 * without tags, and the RDMA frames of captures. `mkseeds FOLDER [CAPTURE...]`: FOLDER must exist.
 */
#include <stdio.h>

#include "pktgen.h"
#include "vs/pktio.h"

/* Not larger than that: the fuzzer likes small inputs, and recorded payload says nothing. */
#define FRAME_MAX 400
#define FRAMES_PER_CAPTURE 12

static const char *folder;
static unsigned written;

static int put(const uint8_t *buf, size_t n)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%05u", folder, written++);
	f = fopen(path, "wb");
	if (f == NULL || fwrite(buf, 1, n, f) != n || fclose(f) != 0) {
		fprintf(stderr, "mkseeds: can't write %s\n", path);
		return -1;
	}
	return 0;
}

static int put_built(struct vs_gen *g)
{
	static uint8_t buf[VS_GEN_MAX];

	if (g->p.payload_len > 256)
		g->p.payload_len = 256;
	if (vs_pkt_seal(&g->p, VS_SEAL_ALL, buf, sizeof(buf)) != VS_OK)
		return -1;
	return put(buf, (size_t)vs_pkt_build(&g->p, buf, sizeof(buf)));
}

static int put_all_opcodes(void)
{
	static struct vs_gen g;
	uint64_t seed = 0x5eed;

	for (unsigned e = 0; e < VS_GEN_ENCAPS; e++) {
		for (unsigned op = 0; op < 256; op++) {
			if (vs_opcodes[op].name == NULL || (e == VS_ENCAP_IB_RAW && op > 0))
				continue;
			vs_gen_legal(&g, &seed, (enum vs_encap)e, (uint8_t)op, op % 4 != 0);
			if (g.p.flags & VS_PKT_HAS_ETH)
				vs_gen_vlan(&g.p, &seed);
			if (put_built(&g) != 0)
				return -1;
		}
	}
	return 0;
}

static int put_capture(const char *path)
{
	struct vs_io_error err;
	struct vs_capture *c = vs_capture_open(path, &err);
	struct vs_frame f;
	struct vs_pkt p;
	int rc = 0;

	if (c == NULL) {
		fprintf(stderr, "mkseeds: %s\n", err.text);
		return -1;
	}
	for (unsigned i = 0; i < FRAMES_PER_CAPTURE && rc == 0 && vs_capture_next_pkt(c, &f, &p, 0, &err) == 1; i++)
		if (f.caplen <= FRAME_MAX)
			rc = put(f.data, f.caplen);
	vs_capture_close(c);
	return rc;
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		fprintf(stderr, "usage: mkseeds FOLDER [CAPTURE...]\n");
		return 2;
	}
	folder = argv[1];
	if (put_all_opcodes() != 0)
		return 1;
	for (int i = 2; i < argc; i++)
		if (put_capture(argv[i]) != 0)
			return 1;
	return 0;
}
