/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * follow.c - the data of a connection and of its messages, for people to read.
 *
 *   -z follow,rdma,MODE,STREAM    Wireshark's own way to follow: what either end sent, in the order of its PSNs. From
 *                                 4.4 on the Follow menu has it too; before, that menu is a fixed list.
 *   -z rdma,message[,STREAM[,FRAME]]
 *                                 message by message: of one stream, or that which began in FRAME
 *   Tools > RDMA > Follow Message of the Selected Packet
 *                                 that message in a window, in every release
 */
#include "message.h"

#include <stdlib.h>

#include <epan/follow.h>
#include <epan/funnel.h>
#include <epan/plugin_if.h>
#include <epan/stat_tap_ui.h>

#include "vs/opcode.h"
#include "vs/psn.h"

/* ---- Wireshark's own ---- */

static gchar *follow_conversation(epan_dissect_t *edt _U_, packet_info *pinfo, guint *stream, guint *sub_stream _U_)
{
	*stream = rdma_analysis_stream(pinfo->num);
	return *stream != 0 ? ws_strdup_printf("rdma.analysis.stream == %u", *stream) : NULL;
}

static gchar *follow_index(guint stream, guint sub_stream _U_)
{
	return ws_strdup_printf("rdma.analysis.stream == %u", stream);
}

/* "Ports" are QPs. */
static gchar *follow_addresses(address *src, address *dst, int src_qp _U_, int dst_qp)
{
	const char *version = src->type == AT_IPv6 ? "ipv6" : "ip";
	char *from, *to;
	gchar *filter;

	if (src->type != AT_IPv4 && src->type != AT_IPv6)
		return ws_strdup_printf("rdma.bth.destqp == %d", dst_qp);
	from = address_to_str(NULL, src);
	to = address_to_str(NULL, dst);
	filter = ws_strdup_printf("%s.addr == %s && %s.addr == %s && rdma.bth.destqp == %d", version, from, version, to,
				  dst_qp);
	wmem_free(NULL, from);
	wmem_free(NULL, to);
	return filter;
}

static gchar *follow_qp_name(wmem_allocator_t *pool, guint qp)
{
	return qp != 0 ? wmem_strdup_printf(pool, "QP 0x%06x", qp) : wmem_strdup(pool, "QP ?");
}

/* Whoever speaks first is the client. */
static bool from_server(follow_info_t *f, const struct rdma_tap *t)
{
	bool server;

	if (f->client_ip.type == AT_NONE) {
		copy_address(&f->client_ip, &t->src);
		copy_address(&f->server_ip, &t->dst);
		f->client_port = t->src_qp_known ? t->src_qp : 0;
		f->server_port = t->dest_qp;
	}
	server = !addresses_equal(&f->client_ip, &t->src) || f->server_port != t->dest_qp;
	if (server && f->client_port == 0)
		f->client_port = t->dest_qp;
	return server;
}

#define RESPONSE (1u << 24) /* in follow_record_t.seq: responses have the PSNs of the other side */

/* The newest record comes first: where this one belongs by its PSN among those of its side. */
static GList *place_of(GList *newest, const follow_record_t *r)
{
	GList *at = newest;

	for (GList *i = newest; i != NULL; i = i->next) {
		const follow_record_t *there = i->data;

		if (there->is_server != r->is_server || (there->seq & RESPONSE) != (r->seq & RESPONSE))
			continue;
		if (vs_psn_lt(there->seq & ~RESPONSE, r->seq & ~RESPONSE))
			break;
		at = i->next;
	}
	return at;
}

static tap_packet_status follow_packet(void *tapdata, packet_info *pinfo, epan_dissect_t *edt _U_, const void *data,
				       tap_flags_t flags _U_)
{
	const struct rdma_tap *t = data;
	follow_info_t *f = tapdata;
	follow_record_t *r;
	bool server;

	if (t->analysis == NULL || t->analysis->r.stream == 0)
		return TAP_PACKET_DONT_REDRAW;
	server = from_server(f, t);
	if (!rdma_messages_has_data(t) || t->payload_cap == 0)
		return TAP_PACKET_DONT_REDRAW;
	r = g_new0(follow_record_t, 1);
	r->is_server = server;
	r->packet_num = pinfo->num;
	r->seq = t->psn | (vs_opcodes[t->opcode].flags & VS_OPF_R ? RESPONSE : 0);
	r->abs_ts = pinfo->abs_ts;
	r->data = g_byte_array_append(g_byte_array_new(), t->payload, t->payload_cap);
	f->bytes_written[server] += r->data->len;
	f->payload = g_list_insert_before(f->payload, place_of(f->payload, r), r);
	return TAP_PACKET_DONT_REDRAW;
}

#if RDMA_WS_AT_LEAST(4, 4)
static uint32_t stream_count(void)
{
	return rdma_analysis_streams() + 1; /* they count from 1 */
}
#endif

/* ---- message by message ---- */

struct listener {
	struct rdma_messages *messages;
	uint32_t stream, began; /* 0: all */
};

static tap_packet_status message_packet(void *tapdata, packet_info *pinfo, epan_dissect_t *edt _U_, const void *data,
					tap_flags_t flags _U_)
{
	const struct rdma_tap *t = data;
	struct listener *l = tapdata;

	if (t->analysis == NULL || (l->stream != 0 && t->analysis->r.stream != l->stream) ||
	    (l->began != 0 && t->analysis->r.message != l->began))
		return TAP_PACKET_DONT_REDRAW;
	rdma_messages_add(l->messages, pinfo->num, t);
	return TAP_PACKET_REDRAW;
}

static void message_reset(void *tapdata)
{
	rdma_messages_clear(((struct listener *)tapdata)->messages);
}

static void message_free(void *tapdata)
{
	rdma_messages_free(((struct listener *)tapdata)->messages);
	g_free(tapdata);
}

static struct listener *message_listener(uint32_t stream, uint32_t began)
{
	struct listener *l = g_new0(struct listener, 1);

	l->messages = rdma_messages_new();
	l->stream = stream;
	l->began = began;
	return l;
}

static void message_print(void *tapdata)
{
	char *text = rdma_messages_text(((struct listener *)tapdata)->messages, 0);

	fputs(text, stdout);
	g_free(text);
}

/* ",1,20": false when it is anything else. */
static bool arguments(const char *opt, uint32_t *stream, uint32_t *began)
{
	uint32_t *const out[] = {stream, began};
	char *end;

	for (unsigned i = 0; i < G_N_ELEMENTS(out) && *opt == ','; i++) {
		const unsigned long n = strtoul(opt + 1, &end, 10);

		if (end == opt + 1 || opt[1] == '-' || n == 0 || n > UINT32_MAX)
			return false;
		*out[i] = (uint32_t)n;
		opt = end;
	}
	return *opt == '\0';
}

static rdma_stat_begun message_begin(const char *opt, void *data _U_)
{
	uint32_t stream = 0, began = 0;
	struct listener *l;
	GString *error;

	if (!arguments(opt + strlen("rdma,message"), &stream, &began)) {
		fprintf(stderr, "tshark: -z %s: it is -z rdma,message[,STREAM[,FRAME]], with numbers from 1 on\n", opt);
		exit(1);
	}
	l = message_listener(stream, began);
	error = register_tap_listener("rdma", l, NULL, TL_REQUIRES_NOTHING, message_reset, message_packet,
				      message_print, message_free);
	if (error != NULL) {
		fprintf(stderr, "tshark: -z %s: %s\n", opt, error->str);
		exit(1);
	}
	RDMA_STAT_BEGUN(true);
}

/* ---- the menu ---- */

static void *frame_number(frame_data *fd, void *number)
{
	*(uint32_t *)number = fd != NULL ? fd->num : 0;
	return number;
}

static void show_window(const funnel_ops_t *ops, const char *title, const char *text)
{
	funnel_text_window_t *window = ops->new_text_window(ops->ops_id, title);

	if (window != NULL)
		ops->set_text(window, text);
}

static void follow_selected(void *data _U_)
{
	const funnel_ops_t *ops = funnel_get_funnel_ops();
	uint32_t frame = 0, stream, began;
	struct listener *l;
	char title[80], *text;
	GString *error;

	if (ops == NULL || ops->new_text_window == NULL || ops->retap_packets == NULL)
		return;
	(void)plugin_if_get_frame_data(frame_number, &frame);
	stream = rdma_analysis_stream(frame);
	if (frame == 0 || stream == 0) {
		show_window(ops, "RDMA message", "Select a packet of an RDMA connection first.\n");
		return;
	}
	began = rdma_analysis_message(frame);
	l = message_listener(stream, began);
	error = register_tap_listener("rdma", l, NULL, TL_REQUIRES_NOTHING, message_reset, message_packet, NULL, NULL);
	if (error != NULL) {
		show_window(ops, "RDMA message", error->str);
		(void)g_string_free(error, TRUE);
	} else {
		ops->retap_packets(ops->ops_id);
		remove_tap_listener(l);
		text = rdma_messages_text(l->messages, 0);
		snprintf(title, sizeof(title), "RDMA stream %u, message of frame %u", stream,
			 began != 0 ? began : frame);
		show_window(ops, title, text);
		g_free(text);
	}
	message_free(l);
}

void rdma_follow_register(void)
{
	static stat_tap_ui message_ui = {
		.group = REGISTER_STAT_GROUP_GENERIC, .cli_string = "rdma,message", .tap_init_cb = message_begin};

	register_follow_stream(proto_rdma, "rdma", follow_conversation, follow_index, follow_addresses, follow_qp_name,
			       follow_packet
#if RDMA_WS_AT_LEAST(4, 4)
			       ,
			       stream_count, NULL
#endif
	);
	register_stat_tap_ui(&message_ui, NULL);
	funnel_register_menu("RDMA/Follow Message of the Selected Packet", REGISTER_TOOLS_GROUP_UNSORTED,
			     follow_selected, NULL, NULL, FALSE);
}
