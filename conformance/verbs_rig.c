/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * verbs_rig.c - what scripts ask for that is beside the verbs. ref0 has a door for it (vs/rig.h); of other devices /sys
 * tells the counters, and nobody here changes their GIDs, their link or their wire.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "verbs.h"

/* ---- counters: of this run ---- */

static const char *const counter_name[] = {
#define VS_COUNTER(ID, name, help) name,
#include "counters.def"
};

static bool read_counter(const struct vc_verbs *v, enum vs_counter c, uint64_t *n)
{
	static const char *const folders[] = {"hw_counters", "counters"};
	char path[256];

	if (v->rig != NULL) {
		*n = v->rig->counter(c);
		return true;
	}
	for (unsigned i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		FILE *f;
		bool got;

		(void)snprintf(path, sizeof(path), "/sys/class/infiniband/%.64s/ports/1/%s/%s",
			       v->call.get_device_name(v->ctx->device), folders[i], counter_name[c]);
		f = fopen(path, "r");
		got = f != NULL && fscanf(f, "%" SCNu64, n) == 1;
		if (f != NULL)
			fclose(f);
		if (got)
			return true;
	}
	return false;
}

void vc_counters_begin(struct vc_target *t)
{
	for (int c = 0; c < VS_CNT_COUNT; c++)
		t->has_counter[c] = read_counter(t->v, (enum vs_counter)c, &t->counter[c]);
}

static uint64_t t_counter(struct dr_target *dt, int node, enum vs_counter c)
{
	struct vc_target *t = vc_self(dt);
	char why[96];
	uint64_t n;

	(void)node;
	if (t->has_counter[c] && read_counter(t->v, c, &n))
		return n - t->counter[c];
	(void)snprintf(why, sizeof(why), "/sys has no counter %s of this device", counter_name[c]);
	(void)vc_lacks(t, why);
	return 0;
}

/* ---- faults ---- */

static int node_of(const struct vc_target *t, const char *name, size_t len)
{
	for (unsigned n = 0; n < t->setup.p->n_nodes; n++)
		if (strlen(t->setup.p->node[n].name) == len && memcmp(t->setup.p->node[n].name, name, len) == 0)
			return (int)n;
	return -1;
}

/* The only queue pair of a node that is not (`is` false) or is `node`; NULL: there are none or several. */
static const struct vh *only_qp(const struct vc_target *t, int node, bool is)
{
	const struct vh *found = NULL;

	for (const struct vh *h = t->handles; h != NULL; h = h->next) {
		if (h->kind != O_QP || h->qp == NULL || (h->node == node) != is)
			continue;
		if (found != NULL)
			return NULL;
		found = h;
	}
	return found;
}

/*
 * What a rule says of nodes, in the words of this device. Where the script has one engine it is "me"; two of them live
 * on the same device, and a packet tells by the queue pair it is for which of them sent it.
 */
static bool put_node(const struct vc_target *t, char *to, size_t cap, const char *name, size_t len, bool from)
{
	int node = node_of(t, name, len);
	const struct vh *qp;

	if (node < 0)
		return false;
	if (t->setup.p->raw_peer) {
		(void)snprintf(to, cap, "%s %s", from ? "from" : "to", t->setup.p->node[node].engine ? "me" : "peer");
		return true;
	}
	qp = only_qp(t, node, !from);
	if (qp == NULL)
		return false;
	(void)snprintf(to, cap, "qp=0x%x", qp->qp->qp_num);
	return true;
}

static bool put_rule(const struct vc_target *t, char *out, size_t cap, const char *rule)
{
	bool from = false, to = false, has_qp = strstr(rule, " qp=") != NULL;
	size_t n = 0;

	out[0] = '\0';
	while (*rule != '\0') {
		size_t len = strcspn(rule, " ");
		char word[64];

		if (n + len + sizeof(word) + 2 > cap)
			return false;
		if (n > 0)
			out[n++] = ' ';
		if (!from && !to) {
			memcpy(out + n, rule, len);
			n += len;
			out[n] = '\0';
		} else if (!put_node(t, word, sizeof(word), rule, len, from)) {
			return false;
		} else if (!has_qp || word[0] != 'q') {
			n += (size_t)snprintf(out + n, cap - n, "%s", word);
			has_qp |= word[0] == 'q';
		}
		from = len == 4 && memcmp(rule, "from", 4) == 0;
		to = len == 2 && memcmp(rule, "to", 2) == 0;
		if (from || to)
			out[n -= len] = '\0';
		rule += len + strspn(rule + len, " ");
	}
	return true;
}

static int t_fault(struct dr_target *dt, const char *rule)
{
	struct vc_target *t = vc_self(dt);
	char text[1200], why[224];

	if (t->v->rig == NULL)
		return rule == NULL ? VS_OK : vc_lacks(t, "nobody is on the wire who could act a fault");
	if (rule == NULL)
		return t->v->rig->fault(NULL, why, sizeof(why)) == 0 ? VS_OK : VS_ERR_INVAL;
	if (!put_rule(t, text, sizeof(text), rule))
		return vc_lacks(t, "on one device it can't be told which node sent a packet");
	t->faults = true;
	return t->v->rig->fault(text, why, sizeof(why)) == 0 ? VS_OK : VS_ERR_NOSPACE;
}

static const char *t_idle_fault(struct dr_target *dt)
{
	struct vc_target *t = vc_self(dt);

	return t->faults ? t->v->rig->idle_fault() : NULL;
}

/* ---- the port ---- */

static int t_set_gid(struct dr_target *dt, int node, unsigned index, const uint8_t gid[16], int encap)
{
	struct vc_target *t = vc_self(dt);
	struct vs_gid_entry e = {.type = encap == EN_ROCEV1 ? VS_GID_ROCEV1 : VS_GID_ROCEV2};

	for (unsigned n = 0; n < t->setup.p->n_nodes; n++)
		if ((int)n != node && t->setup.p->node[n].engine)
			return vc_lacks(t, "both nodes are the one device, which has one table of GIDs");
	if (t->v->rig == NULL)
		return vc_lacks(t,
				"the GID table follows the addresses of the network interface, which stay as they are");
	memcpy(e.gid, gid, 16);
	return vc_error(t->v->rig->set_gid(index, &e));
}

static int t_set_port(struct dr_target *dt, int node, bool up)
{
	struct vc_target *t = vc_self(dt);

	(void)node;
	if (t->v->rig == NULL)
		return vc_lacks(t, "nobody takes this port down");
	return vc_error(t->v->rig->set_link(up));
}

/* ---- limits ---- */

/* libibverbs does not tell it: what queue pairs are given, and not. */
static uint32_t max_inline(struct vc_target *t)
{
	struct ibv_cq *cq = t->v->call.create_cq(t->v->ctx, 1, NULL, NULL, 0);
	uint32_t least = 0, most = 65536;

	while (cq != NULL && most - least > 1) {
		struct ibv_qp_init_attr a = {.send_cq = cq,
					     .recv_cq = cq,
					     .cap = {1, 1, 1, 1, least + (most - least) / 2},
					     .qp_type = IBV_QPT_RC};
		uint32_t asked = a.cap.max_inline_data;
		struct ibv_qp *qp = t->v->call.create_qp(t->pd->pd, &a);

		if (qp == NULL)
			most = asked;
		else
			least = a.cap.max_inline_data > asked && a.cap.max_inline_data < most ? a.cap.max_inline_data
											      : asked;
		if (qp != NULL)
			(void)t->v->call.destroy_qp(qp);
	}
	if (cq != NULL)
		(void)t->v->call.destroy_cq(cq);
	return least;
}

uint32_t vc_active_mtu(const struct vc_verbs *v)
{
	struct ibv_port_attr p = {.active_mtu = IBV_MTU_256};

	return v->call.query_port(v->ctx, 1, (struct _compat_ibv_port_attr *)(void *)&p) == 0
		       ? vs_mtu_bytes((enum vs_mtu)p.active_mtu)
		       : 0;
}

static uint32_t t_limit(struct dr_target *dt, int node, enum dr_limit what)
{
	struct vc_target *t = vc_self(dt);
	const struct ibv_device_attr *a = &t->v->attr;
	const int limits[] = {
		[DR_MAX_QP] = a->max_qp,
		[DR_MAX_CQ] = a->max_cq,
		[DR_MAX_MR] = a->max_mr,
		[DR_MAX_MW] = a->max_mw,
		[DR_MAX_SRQ] = a->max_srq,
		[DR_MAX_AH] = a->max_ah,
		[DR_MAX_PD] = a->max_pd,
		[DR_MAX_QP_WR] = a->max_qp_wr,
		[DR_MAX_SRQ_WR] = a->max_srq_wr,
		[DR_MAX_CQE] = a->max_cqe,
		[DR_MAX_SGE] = a->max_sge,
		[DR_MAX_INLINE] = t->v->link != NULL      ? -1
				  : what == DR_MAX_INLINE ? (int)max_inline(t)
							  : 0,
		[DR_MAX_RD_ATOMIC] = a->max_qp_rd_atom,
		[DR_MAX_MTU] = t->v->link != NULL   ? -1
			       : what == DR_MAX_MTU ? (int)vc_active_mtu(t->v)
						    : 0,
	};

	(void)node;
	if (limits[what] < 0)
		(void)vc_lacks(t, "an agent does not tell this limit");
	return limits[what] > 0 ? (uint32_t)limits[what] : 0;
}

void vc_rig_ops(struct dr_target_ops *ops)
{
	ops->counter = t_counter;
	ops->fault = t_fault;
	ops->idle_fault = t_idle_fault;
	ops->set_gid = t_set_gid;
	ops->set_port = t_set_port;
	ops->limit = t_limit;
}
