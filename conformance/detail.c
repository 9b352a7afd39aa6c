/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * detail.c - the evidence of one vector in its result: the ladder of the exchange; for the HTML report also the script,
 * packets, completions and a capture.
 */
#include "conform.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "vs/ladder.h"
#include "vs/opcode.h"
#include "vs/pktio.h"
#include "vs/verbs.h"

#define LADDER_LINES 400u
#define LIST_MAX 2000u
#define CAPTURE_MAX (1u << 20) /* bytes of frames */

void vc_set_text(json_t *o, const char *key, const char *text)
{
	json_t *s = json_string(text);

	/* What is no UTF-8 (text of a script) becomes ASCII. */
	if (s == NULL) {
		char *copy = strdup(text);

		for (char *c = copy; c != NULL && *c != '\0'; c++)
			if ((unsigned char)*c >= 0x80)
				*c = '?';
		s = json_string(copy != NULL ? copy : "");
		free(copy);
	}
	(void)json_object_set_new(o, key, s);
}

static void set_ladder(json_t *o, const struct vc_record *r)
{
	const struct vs_ladder_options opt = {.max_lines = LADDER_LINES, .other = "peer"};
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	if (f == NULL)
		return;
	vs_ladder_text(r->log.ev, r->log.n, &opt, f);
	if (fclose(f) == 0)
		vc_set_text(o, "ladder", text);
	free(text);
}

void vc_packet_text(const struct vc_frame *f, char *buf, size_t cap)
{
	struct vs_pkt p;
	int n;

	if (vs_pkt_parse(&p, f->link, 0, f->data, f->len, f->len, 0) != VS_OK) {
		(void)snprintf(buf, cap, "%s: %u bytes", f->node, f->len);
		return;
	}
	n = snprintf(buf, cap, "%s: %s psn=%06x qp=%06x", f->node, vs_opcode_token(p.bth.opcode), p.bth.psn,
		     p.bth.destqp);
	if (p.hdrs & VS_HDR_AETH && n > 0)
		n += snprintf(buf + n, cap - (size_t)n, " syndrome=0x%02x msn=%u", p.ext.aeth.syndrome, p.ext.aeth.msn);
	if (p.payload_len > 0 && n > 0)
		n += snprintf(buf + n, cap - (size_t)n, " %u bytes", p.payload_len);
	if (p.bth.ackreq && n > 0)
		n += snprintf(buf + n, cap - (size_t)n, " ackreq");
	if (f->lost && n > 0)
		(void)snprintf(buf + n, cap - (size_t)n, " (lost)");
}

static void set_packets(json_t *o, const struct vc_record *r)
{
	json_t *list = json_array();
	char text[200];

	for (size_t i = 0; i < r->n && i < LIST_MAX; i++) {
		vc_packet_text(&r->frame[i], text, sizeof(text));
		(void)json_array_append_new(list,
					    json_pack("{s:I, s:s}", "t", (json_int_t)r->frame[i].t_ns, "text", text));
	}
	(void)json_object_set_new(o, "packets", list);
}

static void set_completions(json_t *o, const struct vc_record *r)
{
	json_t *list = json_array();
	char text[160];

	for (size_t i = 0; i < r->log.n && json_array_size(list) < LIST_MAX; i++) {
		const struct vs_event *e = &r->log.ev[i];

		if (e->type == VS_EV_CQE)
			(void)snprintf(text, sizeof(text), "%s: wr=%llu %s", e->node, (unsigned long long)e->wr_id,
				       vs_wc_status_name((enum vs_wc_status)e->a[0]));
		else if (e->type == VS_EV_ASYNC)
			(void)snprintf(text, sizeof(text), "%s: event %s", e->node,
				       vs_async_name((enum vs_async_type)e->a[0]));
		else
			continue;
		(void)json_array_append_new(list, json_pack("{s:I, s:s}", "t", (json_int_t)e->t_ns, "text", text));
	}
	(void)json_object_set_new(o, "completions", list);
}

static char *base64(const uint8_t *p, size_t n)
{
	static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	char *out = malloc((n + 2) / 3 * 4 + 1), *at = out;

	for (size_t i = 0; out != NULL && i < n; i += 3) {
		uint32_t v =
			(uint32_t)p[i] << 16 | (i + 1 < n ? (uint32_t)p[i + 1] << 8 : 0) | (i + 2 < n ? p[i + 2] : 0u);

		*at++ = digit[v >> 18];
		*at++ = digit[v >> 12 & 63];
		*at++ = i + 1 < n ? digit[v >> 6 & 63] : '=';
		*at++ = i + 2 < n ? digit[v & 63] : '=';
	}
	if (at != NULL)
		*at = '\0';
	return out;
}

static bool write_capture(const struct vc_record *r, const char *path)
{
	bool native = r->frame[0].link == VS_LINK_IB;
	enum vs_writer_kind kind = native                           ? VS_WRITER_ERF_IB
				   : r->frame[0].link == VS_LINK_IP ? VS_WRITER_RAW_IP
								    : VS_WRITER_ETHERNET;
	struct vs_io_error err;
	struct vs_writer *w = vs_writer_open(path, kind, &err);
	size_t bytes = 0;

	for (size_t i = 0; w != NULL && i < r->n && bytes < CAPTURE_MAX; i++) {
		const struct vc_frame *f = &r->frame[i];

		if (f->link == r->frame[0].link)
			(void)vs_writer_put(w, (int64_t)f->t_ns, f->data, f->len, f->len, &err);
		bytes += f->len;
	}
	return w != NULL && vs_writer_close(w, &err) == VS_OK;
}

static void set_capture(json_t *o, const struct vc_record *r)
{
	const char *dir = getenv("TMPDIR");
	char path[256], *text = NULL;
	size_t len = 0;

	(void)snprintf(path, sizeof(path), "%s/vs-conform-%ld.pcap", dir != NULL ? dir : "/tmp", (long)getpid());
	if (r->n == 0 || !write_capture(r, path))
		return;
	text = vc_read_file(path, 4 * CAPTURE_MAX, &len);
	(void)unlink(path);
	if (text != NULL) {
		char *coded = base64((const uint8_t *)text, len);

		if (coded != NULL)
			vc_set_text(o, "capture", coded);
		free(coded);
		free(text);
	}
}

void vc_set_details(json_t *o, const struct vc_case *c, const struct vc_record *r, bool all)
{
	if (r->log.n > 0)
		set_ladder(o, r);
	if (!all)
		return;
	vc_set_text(o, "script", c->text);
	set_packets(o, r);
	set_completions(o, r);
	set_capture(o, r);
}
