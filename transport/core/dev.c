/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * dev.c - the device: its life, the four calls, events, counters, async events.
 *
 * Output goes round the QPs that are ready: each turn sends one packet, then the QP goes to the back
 * of the list. MADs of the connection manager go first. A QP that has nothing to send is not on the list,
 * so that ten thousand idle QPs cost nothing.
 */
#include "core.h"

const char *vs_counter_name(enum vs_counter c)
{
#define VS_COUNTER(ID, name, help) [VS_CNT_##ID] = name,
	static const char *const names[VS_CNT_COUNT] = {
#include "counters.def"
	};

	return (unsigned)c < VS_CNT_COUNT ? names[c] : "?";
}

/* ---- services ---- */

void *vs_alloc(struct vs_dev *dev, size_t size)
{
	return dev->attr.allocator.alloc(dev->attr.allocator.ctx, size);
}

void vs_free(struct vs_dev *dev, void *p, size_t size)
{
	if (p != NULL)
		dev->attr.allocator.free(dev->attr.allocator.ctx, p, size);
}

uint64_t vs_random(struct vs_dev *dev)
{
	uint64_t z = dev->rng += 0x9e3779b97f4a7c15ull; /* splitmix64 */

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

uint64_t vs_ev_make(struct vs_dev *dev, enum vs_event_type type, const struct vs_qp *qp, const uint64_t *wr_id,
		    uint64_t cause, unsigned n, const uint64_t *a)
{
	struct vs_event ev;

	assert(n == vs_event_info(type)->nargs && n <= VS_EVENT_MAX_ARGS);
	if (!VS_EV_ON(dev, vs_event_info(type)->level))
		return 0;
	memset(&ev, 0, sizeof(ev));
	ev.t_ns = dev->now_ns;
	ev.cause = cause;
	ev.type = (uint16_t)type;
	ev.qpn = qp != NULL ? qp->qpn : 0;
	ev.has_wr = wr_id != NULL;
	ev.wr_id = wr_id != NULL ? *wr_id : 0;
	ev.pkt_id = dev->ev_pkt_id;
	memcpy(ev.node, dev->name, sizeof(ev.node));
	if (n > 0)
		memcpy(ev.a, a, n * sizeof(a[0]));
	return dev->attr.sink.emit(dev->attr.sink.ctx, &ev);
}

int vs_refuse(struct vs_dev *dev, int err, enum vs_reason r)
{
	const uint64_t a[] = {(uint64_t)r, (uint64_t)(int64_t)err};

	dev->refusal = r;
	vs_ev(dev, VS_EV_VERB_REFUSED, NULL, 0, 2, a);
	return err;
}

enum vs_reason vs_dev_refusal(const struct vs_dev *dev)
{
	return dev->refusal;
}

void vs_async_push(struct vs_dev *dev, enum vs_async_type type, void *object, uint64_t cookie)
{
	const struct vs_qp *qp = NULL;
	const uint64_t a[] = {(uint64_t)type};

	switch (type) {
	case VS_EVENT_QP_FATAL:
	case VS_EVENT_QP_REQ_ERR:
	case VS_EVENT_QP_ACCESS_ERR:
	case VS_EVENT_COMM_EST:
	case VS_EVENT_SQ_DRAINED:
	case VS_EVENT_QP_LAST_WQE_REACHED:
		qp = object;
		break;
	default:
		break;
	}
	vs_ev(dev, VS_EV_ASYNC, qp, dev->cause, 1, a);
	/* A full ring loses the newest: the event is already in the trace. */
	if (dev->async_tail - dev->async_head == dev->async_size)
		return;
	dev->async[dev->async_tail++ % dev->async_size] =
		(struct vs_async){.type = type, .object = object, .cookie = cookie};
}

/* Events of an object that is destroyed go with it. */
void vs_async_forget(struct vs_dev *dev, const void *object)
{
	uint32_t i, keep = dev->async_head;

	for (i = dev->async_head; i != dev->async_tail; i++) {
		struct vs_async a = dev->async[i % dev->async_size];

		if (a.object != object)
			dev->async[keep++ % dev->async_size] = a;
	}
	dev->async_tail = keep;
}

int vs_dev_poll_async(struct vs_dev *dev, struct vs_async *a)
{
	if (dev->async_head == dev->async_tail)
		return 0;
	*a = dev->async[dev->async_head++ % dev->async_size];
	return 1;
}

uint64_t vs_dev_counter(const struct vs_dev *dev, enum vs_counter c)
{
	return (unsigned)c < VS_CNT_COUNT ? dev->counter[c] : 0;
}

/* ---- life ---- */

static void fill_defaults(struct vs_dev_attr *a)
{
#define DEFAULT(field, value) \
	if (a->field == 0)    \
	a->field = (value)
	DEFAULT(max_qp, 1024);
	DEFAULT(max_cq, 1024);
	DEFAULT(max_mr, 4096);
	DEFAULT(max_mw, 4096);
	DEFAULT(max_srq, 256);
	DEFAULT(max_ah, 4096);
	DEFAULT(max_pd, 256);
	DEFAULT(max_qp_wr, 16384);
	DEFAULT(max_srq_wr, 16384);
	DEFAULT(max_cqe, 65536);
	DEFAULT(max_sge, 16);
	DEFAULT(max_inline, 512);
	DEFAULT(max_rd_atomic, 16);
	DEFAULT(max_mcast_grp, 64);
	DEFAULT(max_mcast_qp_attach, 32);
	DEFAULT(ack_every, 16);
	DEFAULT(rc_window, 1024);
	DEFAULT(cm_backlog, 64);
	DEFAULT(active_mtu, VS_MTU_4096);
#undef DEFAULT
}

static bool attr_ok(const struct vs_dev_attr *a)
{
	return a->allocator.alloc != NULL && a->allocator.free != NULL && a->dma.read != NULL && a->dma.write != NULL &&
	       a->dma.fetch_add != NULL && a->dma.cmp_swap != NULL && a->dma.write8 != NULL && a->max_qp <= 1u << 20 &&
	       a->max_cq <= 1u << 20 && a->max_mr <= 1u << 20 && a->max_mw <= 1u << 20 && a->max_qp_wr <= 1u << 20 &&
	       a->max_srq_wr <= 1u << 20 && a->max_cqe <= 1u << 24 && a->max_sge <= 256 && a->max_inline <= 4096 &&
	       a->max_rd_atomic <= 128 && a->max_mcast_grp <= 4096 && a->max_mcast_qp_attach <= 4096 &&
	       a->cm_backlog <= 4096 && a->rc_window < VS_PSN_HALF && a->ack_every <= a->rc_window &&
	       vs_mtu_bytes(a->active_mtu) != 0 && a->cc.ecn <= 2 && VS_DEVIATION_COUNT <= 64;
}

static uint32_t power_of_two(uint32_t n)
{
	uint32_t p = 16;

	while (p < n)
		p <<= 1;
	return p;
}

static int alloc_tables(struct vs_dev *dev)
{
	const struct vs_dev_attr *a = &dev->attr;
	uint32_t i;

	dev->qp_table_mask = power_of_two(2 * (a->max_qp + 1)) - 1;
	dev->qp_table = vs_alloc(dev, (dev->qp_table_mask + 1) * sizeof(struct vs_qp *));
	dev->keys_mask = power_of_two(2 * a->max_mr + a->max_mw) - 1;
	dev->keys = vs_alloc(dev, (dev->keys_mask + 1) * sizeof(dev->keys[0]));
	dev->async_size = 1024;
	dev->async = vs_alloc(dev, dev->async_size * sizeof(dev->async[0]));
	dev->mcast = vs_alloc(dev, a->max_mcast_grp * sizeof(dev->mcast[0]));
	if (dev->qp_table == NULL || dev->keys == NULL || dev->async == NULL || dev->mcast == NULL)
		return VS_ERR_NOSPACE;
	for (i = 0; i < a->max_mcast_grp; i++) {
		dev->mcast[i].qp = vs_alloc(dev, a->max_mcast_qp_attach * sizeof(struct vs_qp *));
		if (dev->mcast[i].qp == NULL)
			return VS_ERR_NOSPACE;
	}
	return VS_OK;
}

struct vs_dev *vs_dev_create(const struct vs_dev_attr *attr, int *err)
{
	struct vs_dev_attr a = *attr;
	struct vs_dev *dev;
	int rc;

	fill_defaults(&a);
	if (!attr_ok(&a)) {
		*err = VS_ERR_INVAL;
		return NULL;
	}
	dev = a.allocator.alloc(a.allocator.ctx, sizeof(*dev));
	if (dev == NULL) {
		*err = VS_ERR_NOSPACE;
		return NULL;
	}
	dev->attr = a;
	for (size_t i = 0; a.name != NULL && a.name[i] != '\0' && i + 1 < sizeof(dev->name); i++)
		dev->name[i] = a.name[i];
	dev->attr.name = dev->name;
	dev->rng = a.seed;
	dev->pkt_counter = a.pkt_counter != NULL ? a.pkt_counter : &dev->own_pkt_counter;
	dev->link_up = true;
	vs_list_init(&dev->qps);
	vs_list_init(&dev->cqs);
	vs_list_init(&dev->srqs);
	vs_list_init(&dev->mrs);
	vs_list_init(&dev->mws);
	vs_list_init(&dev->pds);
	vs_list_init(&dev->ahs);
	vs_list_init(&dev->ready);
	vs_list_init(&dev->roomless);
	vs_list_init(&dev->comp_events);
	rc = alloc_tables(dev);
	if (rc == VS_OK && !a.cm_disabled)
		rc = vs_conn_init(dev);
	if (rc != VS_OK) {
		vs_dev_destroy(dev);
		*err = rc;
		return NULL;
	}
	*err = VS_OK;
	return dev;
}

#define EACH(head, type, var) while (!vs_list_empty(head) && ((var) = VS_CONTAINER((head)->next, type, link), true))

void vs_dev_destroy(struct vs_dev *dev)
{
	struct vs_allocator al;
	struct vs_qp *qp;
	struct vs_srq *srq;
	struct vs_cq *cq;
	struct vs_mw *mw;
	struct vs_mr *mr;
	struct vs_ah *ah;
	struct vs_pd *pd;
	uint32_t i;

	if (dev == NULL)
		return;
	vs_conn_fini(dev);
	EACH(&dev->qps, struct vs_qp, qp) vs_qp_free(qp);
	EACH(&dev->srqs, struct vs_srq, srq) vs_srq_free(srq);
	EACH(&dev->cqs, struct vs_cq, cq) vs_cq_free(cq);
	EACH(&dev->mws, struct vs_mw, mw) vs_mw_free(mw);
	EACH(&dev->mrs, struct vs_mr, mr) vs_mr_free(mr);
	EACH(&dev->ahs, struct vs_ah, ah) vs_ah_free(ah);
	EACH(&dev->pds, struct vs_pd, pd) vs_pd_free(pd);
	for (i = 0; dev->mcast != NULL && i < dev->attr.max_mcast_grp; i++)
		vs_free(dev, dev->mcast[i].qp, dev->attr.max_mcast_qp_attach * sizeof(struct vs_qp *));
	vs_free(dev, dev->mcast, dev->attr.max_mcast_grp * sizeof(dev->mcast[0]));
	vs_free(dev, dev->async, dev->async_size * sizeof(dev->async[0]));
	vs_free(dev, dev->keys, (dev->keys_mask + 1) * sizeof(dev->keys[0]));
	vs_free(dev, dev->qp_table, (dev->qp_table_mask + 1) * sizeof(struct vs_qp *));
	vs_free(dev, dev->heap, dev->heap_cap * sizeof(struct vs_timer *));
	al = dev->attr.allocator;
	al.free(al.ctx, dev, sizeof(*dev));
}

const struct vs_dev_attr *vs_dev_attr(const struct vs_dev *dev)
{
	return &dev->attr;
}

int vs_dev_set_gid(struct vs_dev *dev, unsigned index, const struct vs_gid_entry *gid)
{
	if (index >= VS_GID_TABLE_LEN)
		return vs_refuse(dev, VS_ERR_INVAL, VS_REASON_GID_INDEX);
	dev->attr.gids[index] = *gid;
	vs_async_push(dev, VS_EVENT_GID_CHANGE, NULL, 0);
	return VS_OK;
}

void vs_dev_set_link(struct vs_dev *dev, bool up)
{
	if (dev->link_up == up)
		return;
	dev->link_up = up;
	if (!up)
		dev->counter[VS_CNT_LINK_DOWNED]++;
	vs_async_push(dev, up ? VS_EVENT_PORT_ACTIVE : VS_EVENT_PORT_ERR, NULL, 0);
}

/* ---- the four calls ---- */

void vs_dev_set_now(struct vs_dev *dev, uint64_t now_ns)
{
	if (now_ns > dev->now_ns)
		dev->now_ns = now_ns;
}

void vs_dev_input(struct vs_dev *dev, enum vs_link link, const uint8_t *buf, size_t len, const struct vs_pkt_meta *meta,
		  uint64_t now_ns)
{
	static const struct vs_pkt_meta unknown;

	vs_dev_set_now(dev, now_ns);
	if (!dev->link_up)
		return;
	vs_rx_packet(dev, link, buf, len, meta != NULL ? meta : &unknown);
	dev->cause = 0;
	dev->ev_pkt_id = 0;
}

void vs_qp_kick(struct vs_qp *qp)
{
	if (!vs_list_linked(&qp->ready))
		vs_list_add_tail(&qp->dev->ready, &qp->ready);
}

static bool qp_has_output(const struct vs_qp *qp)
{
	if (qp->type == VS_QPT_UD || qp->type == VS_QPT_GSI)
		return vs_ud_has_output(qp);
	return vs_resp_has_output(qp) || vs_req_has_output(qp);
}

/* Where its next packet goes. */
static const uint8_t *destination(const struct vs_qp *qp)
{
	bool datagrams = qp->type == VS_QPT_UD || qp->type == VS_QPT_GSI;

	return datagrams ? vs_sq_at(qp, qp->sq.head)->av.dgid : qp->attr.av.dgid;
}

static bool waits_for_room(struct vs_dev *dev, struct vs_qp *qp)
{
	if (dev->attr.has_room == NULL || !qp_has_output(qp) ||
	    dev->attr.has_room(dev->attr.has_room_ctx, destination(qp)))
		return false;
	vs_list_add_tail(&dev->roomless, &qp->ready);
	return true;
}

bool vs_dev_waits_for_room(const struct vs_dev *dev)
{
	return !vs_list_empty(&dev->roomless);
}

void vs_dev_resume(struct vs_dev *dev)
{
	while (!vs_list_empty(&dev->roomless)) {
		struct vs_qp *qp = VS_CONTAINER(dev->roomless.next, struct vs_qp, ready);

		vs_list_del(&qp->ready);
		vs_qp_kick(qp);
	}
}

size_t vs_dev_output(struct vs_dev *dev, uint8_t *buf, size_t cap, struct vs_pkt_meta *meta, uint64_t now_ns)
{
	size_t n = 0;

	assert(cap >= VS_FRAME_MAX);
	vs_dev_set_now(dev, now_ns);
	memset(meta, 0, sizeof(*meta));
	while (n == 0 && vs_conn_has_output(dev))
		n = vs_conn_output(dev, buf, cap, meta);
	while (n == 0 && !vs_list_empty(&dev->ready)) {
		struct vs_qp *qp = VS_CONTAINER(dev->ready.next, struct vs_qp, ready);

		vs_list_del(&qp->ready);
		if (waits_for_room(dev, qp))
			continue;
		n = vs_qp_output(qp, buf, cap, meta);
		if (n > 0 || (!dev->link_up && qp_has_output(qp))) /* a port that is down takes them all at once */
			vs_qp_kick(qp);
	}
	dev->cause = 0;
	dev->ev_pkt_id = 0;
	return n;
}

size_t vs_qp_output(struct vs_qp *qp, uint8_t *buf, size_t cap, struct vs_pkt_meta *meta)
{
	size_t n = 0;

	if (qp->type == VS_QPT_UD || qp->type == VS_QPT_GSI)
		return vs_ud_output(qp, buf, cap, meta);
	if (vs_resp_has_output(qp))
		n = vs_resp_output(qp, buf, cap, meta);
	if (n == 0)
		n = vs_req_output(qp, buf, cap, meta);
	return n;
}

bool vs_dev_has_output(const struct vs_dev *dev)
{
	const struct vs_node *n;

	if (vs_conn_has_output(dev))
		return true;
	for (n = dev->ready.next; n != &dev->ready; n = n->next)
		if (qp_has_output(VS_CONTAINER(n, struct vs_qp, ready)))
			return true;
	return false;
}

uint64_t vs_dev_deadline(const struct vs_dev *dev)
{
	return dev->heap_len > 0 ? dev->heap[0]->when : VS_NEVER;
}

void vs_dev_expire(struct vs_dev *dev, uint64_t now_ns)
{
	struct vs_timer *t;

	vs_dev_set_now(dev, now_ns);
	while ((t = vs_timer_due(dev, dev->now_ns)) != NULL) {
		switch ((enum vs_timer_kind)t->kind) {
		case VS_TIMER_ACK:
		case VS_TIMER_RNR:
		case VS_TIMER_PACE:
			vs_req_timer(t->owner, (enum vs_timer_kind)t->kind);
			break;
		case VS_TIMER_RATE:
		case VS_TIMER_ALPHA:
			vs_cc_timer(t->owner, (enum vs_timer_kind)t->kind);
			break;
		case VS_TIMER_CONN:
			vs_conn_timer(t->owner);
			break;
		}
		dev->cause = 0;
	}
}
