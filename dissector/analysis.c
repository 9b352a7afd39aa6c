/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * analysis.c - the monitor (vs/monitor.h) inside Wireshark: fed with every packet once, in the order of the capture.
 *
 * When a frame is dissected for the first time its packets go through the monitor, and what it says is kept
 * (store.h). Every later time, in whatever order, the same is read back. Nothing that is kept changes, but for the
 * links to later frames, which the first pass of two can't show because they are not known yet.
 *
 * What an ICMP error quotes was no traffic here; of a fragment nobody knows the rest; without an IP header nobody
 * knows whose a packet is. Those are left out. A packet with a bad ICRC is shown to the monitor, which counts it as
 * nothing else.
 */
#include "analysis.h"

#define WINDOW 2048u /* packets that a flow remembers: memory is some 128 bytes times this, for a busy flow */
#define TEXT 240

static rdma_pref_bool enabled = TRUE;

static struct vs_monitor *monitor;
static struct rdma_store *store;
static bool failed;      /* no memory: not tried again for this file */
static uint32_t streams; /* highest number of one */

static int proto_ip, proto_ipv6;

/* What the monitor finds of the packet that it has now. */
static struct {
	unsigned count;
	uint32_t other[VS_MON_RULES];
	char text[VS_MON_RULES][TEXT];
} found;

/* ---- for the length of a file ---- */

static void cleanup(void)
{
	vs_monitor_free(monitor);
	rdma_store_free(store);
	monitor = NULL;
	store = NULL;
	failed = false;
	streams = 0;
}

static void on_finding(void *ctx _U_, const struct vs_mon_finding *f)
{
	if (found.count == VS_MON_RULES)
		return;
	found.other[found.count] = f->other;
	(void)g_strlcpy(found.text[found.count], f->text, TEXT);
	found.count++;
}

static void on_link(void *ctx _U_, uint32_t frame, enum vs_mon_link kind, uint32_t later)
{
	rdma_store_link(store, frame, kind, later);
}

static bool begin(void)
{
	const struct vs_monitor_attr attr = {.window = WINDOW, .finding = on_finding, .link = on_link};

	if (monitor != NULL)
		return true;
	if (failed)
		return false;
	monitor = vs_monitor_new(&attr);
	store = rdma_store_new();
	if (monitor != NULL && store != NULL)
		return true;
	cleanup();
	failed = true;
	return false;
}

/* ---- one packet ---- */

static uint32_t place_of(const struct rdma_ctx *c)
{
	return (uint32_t)(c->layer - 1) << 16 | (c->segment & 0xffff);
}

/* IP headers of tunnels in front of it: what was captured inside one is another place of the network. */
static uint8_t tunnels(const struct rdma_ctx *c)
{
	int n = c->start == RDMA_START_BTH ? -1 : 0;

	for (wmem_list_frame_t *l = wmem_list_head(c->pinfo->layers); l != NULL; l = wmem_list_frame_next(l)) {
		const int proto = GPOINTER_TO_INT(wmem_list_frame_data(l));

		n += proto == proto_ip || proto == proto_ipv6;
	}
	return (uint8_t)CLAMP(n, 0, UINT8_MAX);
}

static int64_t time_of(const packet_info *pinfo)
{
	return (int64_t)pinfo->abs_ts.secs * 1000000000 + pinfo->abs_ts.nsecs;
}

static bool is_traffic(const struct rdma_ctx *c, const struct vs_pkt *p)
{
	return c->cut != RDMA_CUT_QUOTED && c->cut != RDMA_CUT_FRAGMENT && p->encap != VS_ENCAP_BARE;
}

static void judge(struct rdma_ctx *c, const struct vs_pkt *p, bool offloaded)
{
	const struct vs_mon_packet in = {
		.frame = c->pinfo->num,
		.time_ns = time_of(c->pinfo),
		.pkt = p,
		.icrc = c->icrc.status,
		.vcrc = c->vcrc.status,
		.vantage = tunnels(c),
		.offloaded = offloaded,
		.reasons = p == &c->pkt ? c->reasons : NULL, /* of a segment those of its bytes alone are known */
		.reason_count = MIN(c->reason_count, G_N_ELEMENTS(c->reasons)),
	};
	struct rdma_analysis *a = &c->analysis;

	found.count = 0;
	vs_monitor_packet(monitor, &in, &a->r);
	if (a->r.stream == 0 && a->r.rules == 0)
		return;
	streams = MAX(streams, a->r.stream);
	for (unsigned i = 0; i < found.count; i++) {
		a->other[i] = found.other[i];
		a->text[i] = found.text[i];
	}
	c->analysed = rdma_store_put(store, in.frame, place_of(c), a);
	if (c->analysed && found.count > 0) /* the texts as they are kept */
		(void)rdma_store_get(store, in.frame, place_of(c), a);
}

void rdma_analysis_packet(struct rdma_ctx *c, const struct vs_pkt *p, bool offloaded)
{
	if (!enabled || !is_traffic(c, p))
		return;
	if (c->pinfo->fd->visited)
		c->analysed = store != NULL && rdma_store_get(store, c->pinfo->num, place_of(c), &c->analysis);
	else if (begin())
		judge(c, p, offloaded);
}

/* ---- the connection of a frame ---- */

uint32_t rdma_analysis_stream(uint32_t frame)
{
	struct rdma_analysis a;

	return store != NULL && rdma_store_first(store, frame, &a) ? a.r.stream : 0;
}

uint32_t rdma_analysis_message(uint32_t frame)
{
	struct rdma_analysis a;

	return store != NULL && rdma_store_first(store, frame, &a) ? a.r.message : 0;
}

uint32_t rdma_analysis_streams(void)
{
	return streams;
}

static rdma_filter_bool has_stream(packet_info *pinfo RDMA_FILTER_DATA)
{
	return rdma_analysis_stream(pinfo->num) != 0;
}

static char *stream_filter(packet_info *pinfo RDMA_FILTER_DATA)
{
	return ws_strdup_printf("rdma.analysis.stream == %u", rdma_analysis_stream(pinfo->num));
}

void rdma_analysis_register(module_t *module)
{
	register_init_routine(cleanup);
	register_cleanup_routine(cleanup);
	prefs_register_bool_preference(
		module, "analysis", "Analyze connections",
		"Follow the PSNs of every connection: requests and their answers, retransmissions, gaps, broken rules",
		&enabled);
	rdma_register_conversation_filter("rdma", "RDMA", has_stream, stream_filter);
}

void rdma_analysis_handoff(void)
{
	proto_ip = proto_get_id_by_filter_name("ip");
	proto_ipv6 = proto_get_id_by_filter_name("ipv6");
}
