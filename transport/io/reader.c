/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * reader.c - capture files in: libpcap reads the records of a pcap, blocks.c those of a pcapng (libpcap stops where
 * interfaces differ in link type or snap length); we take the link headers off, count, and say clearly where a file
 * is broken.
 *
 * Rules: frames before a fault are delivered; an error names the first record that could not be
 * read; after an error or the end of file the same answer is given again.
 */
#include <assert.h>
#include <errno.h>
#include <pcap/pcap.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "io/blocks.h"

#define READ_HERE "Ethernet, Linux SLL and SLL2, raw IP, ERF and InfiniBand are read"

struct vs_capture {
	char *name;
	FILE *in;
	struct vs_stream *stream;
	pcap_t *pcap;            /* NULL: a pcapng */
	struct vs_blocks blocks; /* of a pcapng */
	struct vs_ng_packet first;
	bool waits; /* `first` was read by opening and is to be handed out */
	int dlt;    /* of the newest frame */
	int ended;  /* 1 while records may follow; then what vs_capture_next answers */
	struct vs_io_error error;
	struct vs_capture_stats stats;
};

/* ---- opening ---- */

/* Something of which a program that makes it is known, and how to undo it; NULL otherwise. */
static const char *foreign_kind(const uint8_t *head, size_t len)
{
	static const struct {
		uint8_t magic[4];
		const char *text;
	} kinds[] = {
		{{0x28, 0xb5, 0x2f, 0xfd}, "compressed with zstd: decompress it first (zstd -d)"},
		{{0x04, 0x22, 0x4d, 0x18}, "compressed with lz4: decompress it first (lz4 -d)"},
		{{0xfd, '7', 'z', 'X'}, "compressed with xz: decompress it first (xz -d)"},
		{{'B', 'Z', 'h', '9'}, "compressed with bzip2: decompress it first (bzip2 -d)"},
		{{'P', 'K', 3, 4}, "a zip archive: unpack it first (unzip)"},
		{{0x1f, 0x8b, 8, 0}, "gzipped twice: decompress it once (gzip -d)"},
		{{0x1f, 0x8b, 8, 8}, "gzipped twice: decompress it once (gzip -d)"},
	};

	for (size_t i = 0; len >= 4 && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (memcmp(head, kinds[i].magic, 4) == 0)
			return kinds[i].text;
	return NULL;
}

int vs_io_check_head(const struct vs_stream *s, const char *name, struct vs_io_error *err)
{
	static const uint8_t pcapng[4] = {0x0a, 0x0d, 0x0d, 0x0a};
	const char *fault = vs_stream_fault(s), *foreign;
	size_t len;
	const uint8_t *head = vs_stream_head(s, &len);

	if (len < VS_STREAM_HEAD && fault)
		return vs_io_fail(err, VS_ERR_IO, 0, name, "can't be read: %s", fault);
	if (len == 0)
		return vs_io_fail(err, VS_ERR_IO, 0, name, "is empty%s: nothing was captured, or the copy failed",
				  vs_stream_gzipped(s) ? " once decompressed" : " (0 bytes)");
	foreign = foreign_kind(head, len);
	if (foreign)
		return vs_io_fail(err, VS_ERR_UNSUPPORTED, 0, name, "is %s", foreign);
	if (len >= 4 && !vs_stream_is_pcap(head, len) && memcmp(head, pcapng, 4) != 0)
		return vs_io_fail(err, VS_ERR_UNSUPPORTED, 0, name,
				  "is neither pcap nor pcapng (it begins with %02x %02x %02x %02x): if Wireshark opens "
				  "it, save it there as pcapng",
				  head[0], head[1], head[2], head[3]);
	if (len < VS_STREAM_HEAD)
		return vs_io_fail(err, VS_ERR_IO, 0, name,
				  "ends inside the file header (%zu bytes are there): copy it again", len);
	return 0;
}

static int no_link_type(const struct vs_capture *c, struct vs_io_error *err)
{
	const char *name = pcap_datalink_val_to_name(c->dlt);

	return vs_io_fail(err, VS_ERR_UNSUPPORTED, 0, c->name, "link type %d (%s) is not read: %s", c->dlt,
			  name ? name : "unknown to libpcap", READ_HERE);
}

static int open_pcap(struct vs_capture *c, struct vs_io_error *err)
{
	char text[PCAP_ERRBUF_SIZE] = "";
	FILE *f = vs_stream_file(c->stream);

	if (!f)
		return vs_io_fail(err, VS_ERR_IO, 0, c->name, "can't be read: no memory");
	c->pcap = pcap_fopen_offline_with_tstamp_precision(f, PCAP_TSTAMP_PRECISION_NANO, text);
	if (!c->pcap) {
		const char *fault = vs_stream_fault(c->stream);

		fclose(f);
		return vs_io_fail(err, VS_ERR_IO, 0, c->name, "the file header can't be read: %s: %s",
				  fault ? fault : text, "the file is damaged, copy it again");
	}
	c->dlt = pcap_datalink(c->pcap);
	return vs_link_name(c->dlt) ? 0 : no_link_type(c, err);
}

static bool is_packet(const struct vs_ng_packet *p)
{
	return p->kind == VS_NG_IS_PACKET || p->kind == VS_NG_IS_BARE_PACKET;
}

/* The first interface whose link type is read, or else the first one. False: there is none. */
static bool choose_link_type(struct vs_capture *c)
{
	const struct vs_ng_section *s = &c->blocks.section;

	for (uint32_t i = 0; i < s->n; i++)
		if (i == 0 || (!vs_link_name(c->dlt) && vs_link_name(s->interface[i].linktype)))
			c->dlt = s->interface[i].linktype;
	return s->n > 0;
}

/* Reads as far as the first packet: until there it is known whether there is anything for us. */
static int open_pcapng(struct vs_capture *c, struct vs_io_error *err)
{
	int ret;

	if (!vs_blocks_begin(&c->blocks, c->stream, c->name))
		return vs_io_fail(err, VS_ERR_IO, 0, c->name, "can't be read: no memory");
	do
		ret = vs_blocks_next(&c->blocks, &c->first);
	while (ret == 1 && !is_packet(&c->first));
	c->waits = ret == 1;
	if (!choose_link_type(c))
		return vs_io_fail(err, VS_ERR_IO, 0, c->name, "the file header can't be read: %s",
				  ret < 0 ? c->blocks.why : "no interface is described, so nothing was captured");
	if (!vs_link_name(c->dlt))
		return no_link_type(c, err);
	if (ret <= 0)
		c->ended = ret;
	c->error = c->blocks.error;
	return 0;
}

struct vs_capture *vs_capture_open_stream(FILE *in, const char *name, struct vs_io_error *err)
{
	struct vs_capture *c = calloc(1, sizeof(*c));
	const uint8_t *head;
	size_t len;

	vs_io_ok(err);
	if (c) {
		c->in = in;
		c->ended = 1;
		c->name = strdup(name);
		c->stream = vs_stream_new(in);
	}
	if (!c || !c->name || !c->stream) {
		vs_io_fail(err, VS_ERR_IO, 0, name, "can't be read: no memory");
		if (!c && in != stdin)
			fclose(in);
		vs_capture_close(c);
		return NULL;
	}
	head = vs_stream_head(c->stream, &len);
	if (vs_io_check_head(c->stream, c->name, err) != 0 ||
	    (vs_stream_is_pcap(head, len) ? open_pcap(c, err) : open_pcapng(c, err)) != 0) {
		vs_capture_close(c);
		return NULL;
	}
	return c;
}

FILE *vs_io_open(const char *path, const char **name, struct vs_io_error *err)
{
	struct stat st;
	FILE *in;

	*name = strcmp(path, "-") == 0 ? "standard input" : path;
	if (strcmp(path, "-") == 0)
		return stdin;
	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
		vs_io_fail(err, VS_ERR_IO, 0, path, "is a directory: name a capture file in it");
		return NULL;
	}
	in = fopen(path, "rb");
	if (!in)
		vs_io_fail(err, VS_ERR_IO, 0, path, "can't be opened (%s): %s", strerror(errno),
			   vs_io_advice(errno, false));
	return in;
}

struct vs_capture *vs_capture_open(const char *path, struct vs_io_error *err)
{
	const char *name;
	FILE *in = vs_io_open(path, &name, err);

	return in ? vs_capture_open_stream(in, name, err) : NULL;
}

/* ---- records ---- */

/* Why libpcap can't read the next record, in our words where its own would leave the user alone. */
static int record_error(struct vs_capture *c, struct vs_io_error *err)
{
	const char *fault = vs_stream_fault(c->stream), *text = pcap_geterr(c->pcap), *advice = VS_DAMAGED_HERE;
	unsigned long long n = c->stats.frames + 1;

	if (fault)
		return vs_io_fail(err, VS_ERR_IO, n, c->name, "frame %llu can't be read: %s", n, fault);
	if (strncmp(text, "truncated", 9) == 0)
		advice = "the file ends inside it: copy it again, or keep the frames before it with editcap";
	return vs_io_fail(err, VS_ERR_IO, n, c->name, "frame %llu can't be read (%s): %s", n, text, advice);
}

static int64_t record_time_ns(const struct pcap_pkthdr *h)
{
	/* 32 bits in the file; libpcap takes times after 2038 for negative ones */
	const int64_t sec = (int64_t)(uint32_t)h->ts.tv_sec;

	return sec * 1000000000 + h->ts.tv_usec; /* nanoseconds: that is the precision we asked for */
}

static int next_of_pcap(struct vs_capture *c, struct vs_frame *f)
{
	struct pcap_pkthdr *h;
	const u_char *data;
	const int ret = pcap_next_ex(c->pcap, &h, &data);

	if (ret != 1)
		return ret == PCAP_ERROR_BREAK ? 0 : record_error(c, &c->error);
	f->number = c->stats.frames + 1;
	f->time_ns = record_time_ns(h);
	f->caplen = h->caplen;
	f->wirelen = h->len > h->caplen ? h->len : h->caplen;
	f->data = data;
	vs_link_peel(c->dlt, f);
	return 1;
}

static int next_of_pcapng(struct vs_capture *c, struct vs_frame *f)
{
	struct vs_ng_packet p = c->first;
	int ret = 1;

	if (!c->waits)
		do
			ret = vs_blocks_next(&c->blocks, &p);
		while (ret == 1 && !is_packet(&p));
	c->waits = false;
	if (ret != 1) {
		c->error = c->blocks.error;
		return ret;
	}
	c->dlt = p.linktype;
	vs_blocks_frame(&c->blocks, &p, f);
	return 1;
}

int vs_capture_next(struct vs_capture *c, struct vs_frame *f, struct vs_io_error *err)
{
	if (c->ended == 1) {
		const int ret = c->pcap ? next_of_pcap(c, f) : next_of_pcapng(c, f);

		if (ret == 1) {
			vs_io_ok(err);
			c->stats.frames = f->number;
			return 1;
		}
		c->ended = ret;
	}
	if (err)
		*err = c->error;
	return c->ended;
}

int vs_capture_next_pkt(struct vs_capture *c, struct vs_frame *f, struct vs_pkt *p, unsigned opt,
			struct vs_io_error *err)
{
	for (;;) {
		int ret = vs_capture_next(c, f, err);

		if (ret != 1)
			return ret;
		ret = vs_pkt_parse(p, f->link, f->ethertype, f->data, f->caplen, f->wirelen, opt);
		if (ret == VS_ERR_NOT_RDMA) {
			c->stats.other++;
			continue;
		}
		assert(ret == 0 || ret == VS_ERR_SHORT);
		if (p->flags & VS_PKT_SNAPPED)
			c->stats.snapped++;
		if (ret == 0) {
			c->stats.rdma++;
			return 1;
		}
		c->stats.broken++;
	}
}

struct vs_capture_stats vs_capture_stats(const struct vs_capture *c)
{
	return c->stats;
}

const char *vs_capture_format(const struct vs_capture *c)
{
	return c->pcap ? "pcap" : "pcapng";
}

const char *vs_capture_linktype(const struct vs_capture *c)
{
	const char *name = vs_link_name(c->dlt);

	return name ? name : "unknown";
}

void vs_capture_close(struct vs_capture *c)
{
	if (!c)
		return;
	if (c->pcap)
		pcap_close(c->pcap);
	vs_blocks_end(&c->blocks);
	vs_stream_free(c->stream);
	if (c->in != stdin)
		fclose(c->in);
	free(c->name);
	free(c);
}
