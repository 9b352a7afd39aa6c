/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * spool_events.c - a record of the recorder as events. Where ref0 has left a trace of its own, what that tells is not
 * told again: its events have causes. Calls that failed are told in any case, since some never get to the device.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "spool_int.h"
#include "vs/reason.h"
#include "vs/verbs.h"

/* Flags of ibv_modify_qp (enum ibv_qp_attr_mask). */
enum {
	MASK_ACCESS = 1 << 3,
	MASK_PKEY = 1 << 4,
	MASK_QKEY = 1 << 6,
	MASK_AV = 1 << 7,
	MASK_MTU = 1 << 8,
	MASK_TIMEOUT = 1 << 9,
	MASK_RETRY = 1 << 10,
	MASK_RNR_RETRY = 1 << 11,
	MASK_RQ_PSN = 1 << 12,
	MASK_RD = 1 << 13,
	MASK_MIN_RNR = 1 << 15,
	MASK_SQ_PSN = 1 << 16,
	MASK_DEST_RD = 1 << 17,
	MASK_DEST_QPN = 1 << 20,
};

static struct vs_event start(struct spool *s, const struct rec *r, enum vs_event_type type)
{
	struct vs_event ev = {.t_ns = r->t_ns, .type = (uint16_t)type, .qpn = r->qpn & 0xffffff};

	snprintf(ev.node, sizeof(ev.node), "%s", spool_node(s, r->ctx));
	return ev;
}

static bool has_wr(const struct rec *r)
{
	switch (r->type) {
	case REC_POST_SEND:
	case REC_POST_RECV:
	case REC_POST_SRQ_RECV:
	case REC_SGE:
	case REC_POST_UD:
	case REC_CQE:
		return true;
	default:
		return false;
	}
}

static void put(struct spool *s, const struct rec *r, enum vs_event_type type, unsigned n, const uint64_t *a)
{
	struct vs_event ev = start(s, r, type);

	ev.has_wr = has_wr(r);
	ev.wr_id = ev.has_wr ? r->wr : 0;
	memcpy(ev.a, a, n * sizeof(a[0]));
	spool_put(s, &ev);
}
#define PUT(s, r, type, ...) \
	put(s, r, type, sizeof((uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t), (uint64_t[]){__VA_ARGS__})

static uint64_t text_arg(const char *text)
{
	return (uint64_t)(uintptr_t)text;
}

static const char *gid_text(const void *gid, char buf[INET6_ADDRSTRLEN])
{
	return inet_ntop(AF_INET6, gid, buf, INET6_ADDRSTRLEN);
}

/* The device tells of it itself. */
static bool told_by_device(const struct spool *s, const struct rec *r)
{
	return (s->head.flags & REC_DEVICE_TRACE) != 0 && r->a[2] == 0;
}

/* ---- data path ---- */

static void put_sge(struct spool *s, const struct rec *r, uint64_t index, uint64_t len)
{
	if (len > 0)
		PUT(s, r, VS_EV_VERB_SGE, index, r->a[1], len, r->w[3]);
}

/* Of several SGEs the first one's length is what the others leave of the sum. */
static void post(struct spool *s, const struct rec *r)
{
	uint64_t first = r->w[1] >= s->sges ? r->w[1] - s->sges : 0;

	put_sge(s, r, 0, first);
	s->sges = 0;
	if (told_by_device(s, r))
		return;
	if (r->type == REC_POST_SEND)
		PUT(s, r, VS_EV_VERB_POST_SEND, r->w[0] & 0xff, r->w[1], r->a[0], r->w[2], r->w[0] >> 8, r->a[2]);
	else
		PUT(s, r, r->type == REC_POST_RECV ? VS_EV_VERB_POST_RECV : VS_EV_VERB_POST_SRQ_RECV, r->w[1], r->a[2]);
}

static void payload(struct spool *s, const struct rec *r)
{
	const uint8_t *from = (const uint8_t *)r + offsetof(struct rec, w);
	char hex[2 * 40 + 1] = "";

	for (unsigned i = 0; i < r->n && i < 40; i++)
		snprintf(hex + 2 * (size_t)i, 3, "%02x", from[i]);
	PUT(s, r, VS_EV_VERB_PAYLOAD, r->wr, text_arg(hex));
}

static void completion(struct spool *s, const struct rec *r)
{
	uint64_t status = r->w[0] & 0xff, op = r->w[0] >> 8 & 0xffff, reason = 0;

	s->out->errors += status != 0;
	if ((s->head.flags & REC_DEVICE_TRACE) != 0)
		return;
	if (strncmp(s->device[r->ctx % SPOOL_CONTEXTS], "ref", 3) == 0 && r->a[0] < VS_REASON_COUNT)
		reason = r->a[0]; /* what our device has there */
	PUT(s, r, VS_EV_CQE, status, op, r->w[1], reason, r->w[2], r->w[3]);
	PUT(s, r, VS_EV_VERB_POLL_CQ, status, op);
	if (status != 0 && reason == 0 && r->a[0] != 0)
		PUT(s, r, VS_EV_VERB_VENDOR_ERR, r->a[0]);
}

/* ---- queue pairs ---- */

static void path(struct spool *s, const struct rec *r)
{
	const uint64_t t = r->a[0], mask = r->wr;
	char buf[INET6_ADDRSTRLEN];
	struct rec plain = *r;

	plain.wr = 0;
	if ((mask & (MASK_ACCESS | MASK_PKEY | MASK_QKEY)) != 0)
		PUT(s, &plain, VS_EV_VERB_QP_INIT, r->a[2] & 0xffff, (mask & MASK_ACCESS) != 0 ? s->access : 0,
		    (mask & MASK_QKEY) != 0 ? r->w[3] : 0);
	if ((mask & (MASK_DEST_QPN | MASK_RQ_PSN | MASK_AV | MASK_MTU)) != 0)
		PUT(s, &plain, VS_EV_VERB_QP_RTR, vs_mtu_bytes((enum vs_mtu)r->n), r->w[0], r->w[1],
		    r->a[1] >> 8 & 0xff, t >> 24 & 0xff, (mask & MASK_AV) != 0 ? text_arg(gid_text(r[1].a, buf)) : 0,
		    r->a[2] >> 16 & 0xff, r->a[1] >> 16 & 0xff);
	if ((mask & (MASK_SQ_PSN | MASK_TIMEOUT | MASK_RETRY | MASK_RNR_RETRY | MASK_RD)) != 0)
		PUT(s, &plain, VS_EV_VERB_QP_RTS, r->w[2], t & 0xff, t >> 8 & 0xff, t >> 16 & 0xff, r->a[1] & 0xff);
}

static void queue_pair(struct spool *s, const struct rec *r)
{
	switch (r->type) {
	case REC_CREATE_QP:
		s->create = *r;
		if (!told_by_device(s, r))
			PUT(s, r, VS_EV_VERB_CREATE_QP, r->w[0], r->a[2]);
		break;
	case REC_QP_CAPS:
		PUT(s, r, VS_EV_VERB_QP_CAPS, s->create.a[0] & 0xffffffff, s->create.a[0] >> 32, r->w[0], r->w[1],
		    r->w[2] & 0xffff, r->w[3], s->create.w[1], s->create.w[2]);
		break;
	case REC_MODIFY_QP:
		s->access = r->w[3];
		if (!told_by_device(s, r))
			PUT(s, r, VS_EV_VERB_MODIFY_QP, r->w[0], r->w[1], r->w[2], r->a[2]);
		break;
	case REC_QP_PATH:
		path(s, r);
		break;
	default:
		if (!told_by_device(s, r))
			PUT(s, r, VS_EV_VERB_DESTROY_QP, r->a[2]);
		break;
	}
}

/* ---- other objects ---- */

static void memory(struct spool *s, const struct rec *r)
{
	if (told_by_device(s, r))
		return;
	if (r->type == REC_REG_MR)
		PUT(s, r, VS_EV_VERB_REG_MR, r->a[0], r->a[1], r->w[1], r->w[2], r->w[0], r->a[2]);
	else
		PUT(s, r, VS_EV_VERB_DEREG_MR, r->w[1], r->a[2]);
}

static void object(struct spool *s, const struct rec *r)
{
	char buf[INET6_ADDRSTRLEN];

	switch (r->type) {
	case REC_CREATE_CQ:
		PUT(s, r, VS_EV_VERB_CREATE_CQ, r->w[3], r->w[0], r->w[1], r->w[2], r->a[2]);
		break;
	case REC_DESTROY_CQ:
		if (r->a[0] > 0)
			PUT(s, r, VS_EV_VERB_EMPTY_POLLS, r->w[3], r->a[0]);
		PUT(s, r, VS_EV_VERB_DESTROY_CQ, r->w[3], r->a[2]);
		break;
	case REC_RESIZE_CQ:
		PUT(s, r, VS_EV_VERB_RESIZE_CQ, r->w[3], r->w[0], r->w[1], r->a[2]);
		break;
	case REC_NOTIFY:
		PUT(s, r, VS_EV_VERB_NOTIFY_CQ, r->w[3], r->w[0], r->a[2]);
		break;
	case REC_CQ_EVENT:
		PUT(s, r, VS_EV_VERB_CQ_EVENT, r->w[3]);
		break;
	case REC_CREATE_SRQ:
		PUT(s, r, VS_EV_VERB_CREATE_SRQ, r->w[0], r->w[1], r->a[2]);
		break;
	case REC_CREATE_AH:
		PUT(s, r, VS_EV_VERB_CREATE_AH, text_arg(gid_text(r->a, buf)), r->a[2]);
		break;
	case REC_QUERY_GID:
		PUT(s, r, VS_EV_VERB_QUERY_GID, r->w[0], text_arg(gid_text(r->a, buf)), r->a[2]);
		break;
	default:
		break;
	}
}

static const char *cm_call(unsigned n)
{
	static const char *const name[] = {"resolve_addr", "resolve_route", "listen",    "connect",
					   "accept",       "reject",        "disconnect"};

	return n < sizeof(name) / sizeof(name[0]) ? name[n] : "?";
}

/* enum rdma_cm_event_type */
static const char *cm_event(unsigned n)
{
	static const char *const name[] = {"ADDR_RESOLVED",   "ADDR_ERROR",       "ROUTE_RESOLVED", "ROUTE_ERROR",
					   "CONNECT_REQUEST", "CONNECT_RESPONSE", "CONNECT_ERROR",  "UNREACHABLE",
					   "REJECTED",        "ESTABLISHED",      "DISCONNECTED",   "DEVICE_REMOVAL",
					   "MULTICAST_JOIN",  "MULTICAST_ERROR",  "ADDR_CHANGE",    "TIMEWAIT_EXIT"};

	return n < sizeof(name) / sizeof(name[0]) ? name[n] : "?";
}

/* Text of records that are one text: all but the last say that there is more. */
static bool text(struct spool *s, const struct rec *r)
{
	size_t len = strlen(s->text), n = r->n == 0xff ? REC_TEXT : r->n < REC_TEXT ? r->n : REC_TEXT;

	if (len + n < sizeof(s->text)) {
		memcpy(s->text + len, r->a, n);
		s->text[len + n] = '\0';
	}
	return r->n != 0xff;
}

static void own(struct spool *s, const struct rec *r)
{
	switch (r->type) {
	case REC_CM_CALL:
		PUT(s, r, VS_EV_VERB_CM, text_arg(cm_call(r->n)), r->a[0], r->a[2]);
		break;
	case REC_CM_EVENT:
		PUT(s, r, VS_EV_CM_EVENT, r->a[0], text_arg(cm_event(r->w[0])), (uint64_t)(int64_t)(int32_t)r->w[1]);
		break;
	case REC_INJECT:
		if (text(s, r)) {
			PUT(s, r, VS_EV_FAULT_INJECT, text_arg(s->text));
			s->text[0] = '\0';
		}
		break;
	case REC_CLOCK:
		PUT(s, r, VS_EV_REC_CLOCK, r->a[0]);
		break;
	case REC_LOST:
		if (r->a[0] > r->a[1])
			PUT(s, r, VS_EV_REC_LOST, r->a[0] - r->a[1],
			    text_arg("the ring was full: the program called faster than could be written"));
		if (r->a[1] > 0)
			PUT(s, r, VS_EV_REC_LOST, r->a[1],
			    text_arg("threads began that no ring was ready for: more at once than are kept ready"));
		break;
	default:
		break;
	}
}

static void opened(struct spool *s, const struct rec *r)
{
	char *name = s->device[r->ctx % SPOOL_CONTEXTS];

	if (!text(s, r))
		return;
	snprintf(name, sizeof(s->device[0]), "%.*s", (int)sizeof(s->device[0]) - 1, s->text);
	if (s->out->device[0] == '\0')
		snprintf(s->out->device, sizeof(s->out->device), "%.*s", (int)sizeof(s->out->device) - 1, s->text);
	PUT(s, r, VS_EV_VERB_OPEN_DEVICE, text_arg(name), 0);
	s->text[0] = '\0';
}

void spool_record(struct spool *s, const struct rec *r)
{
	s->out->calls++;
	switch (r->type) {
	case REC_OPEN:
		opened(s, r);
		break;
	case REC_CLOSE:
		PUT(s, r, VS_EV_VERB_CLOSE_DEVICE, r->a[2]);
		break;
	case REC_POST_SEND:
	case REC_POST_RECV:
	case REC_POST_SRQ_RECV:
		s->out->errors += r->a[2] != 0;
		post(s, r);
		break;
	case REC_SGE:
		s->sges = r->n > 1 ? s->sges + r->w[1] : r->w[1];
		put_sge(s, r, r->n, r->w[1]);
		break;
	case REC_POST_UD:
		PUT(s, r, VS_EV_VERB_UD_TO, r->w[0], r->w[1]);
		break;
	case REC_PAYLOAD:
		payload(s, r);
		break;
	case REC_CQE:
		completion(s, r);
		break;
	case REC_POLL_EMPTY:
		PUT(s, r, VS_EV_VERB_EMPTY_POLLS, r->w[3], r->a[0]);
		break;
	case REC_POLL_FAIL:
		PUT(s, r, VS_EV_VERB_POLL_FAILED, r->w[3], r->a[0]);
		break;
	case REC_REG_MR:
	case REC_DEREG_MR:
		memory(s, r);
		break;
	case REC_CREATE_QP:
	case REC_QP_CAPS:
	case REC_MODIFY_QP:
	case REC_QP_PATH:
	case REC_DESTROY_QP:
		queue_pair(s, r);
		break;
	case REC_ASYNC:
		if ((s->head.flags & REC_DEVICE_TRACE) == 0)
			PUT(s, r, VS_EV_ASYNC, r->w[0]);
		break;
	default:
		object(s, r);
		own(s, r);
		break;
	}
}
