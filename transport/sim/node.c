/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * node.c - hosts, raw hosts and switches, the addresses that they get, and the links between them.
 */
#include "internal.h"

void vs_node_free(struct vs_sim *sim, struct vs_sim_node *n)
{
	vs_dev_destroy(n->dev);
	vs_sim_free(sim, n->port, n->n_ports * sizeof(struct vs_pipe *));
	vs_sim_free(sim, n->stopped, (size_t)n->n_ports * n->n_ports);
	vs_sim_free(sim, n, sizeof(*n));
}

const struct vs_gid_entry *vs_node_gids(const struct vs_sim_node *n)
{
	return n->dev != NULL ? vs_dev_attr(n->dev)->gids : n->gids;
}

static bool neighbour(void *ctx, const uint8_t gid[16], uint8_t mac[6])
{
	const struct vs_sim *sim = ctx;

	for (int i = 0; i < sim->n_nodes; i++) {
		const struct vs_gid_entry *g = vs_node_gids(sim->node[i]);

		for (unsigned k = 0; k < VS_GID_TABLE_LEN && sim->node[i]->kind != VS_NODE_SWITCH; k++) {
			if (g[k].type == VS_GID_NONE || memcmp(g[k].gid, gid, 16) != 0)
				continue;
			memcpy(mac, sim->node[i]->mac, 6);
			return true;
		}
	}
	return false;
}

/* Appends a node; its index, or VS_ERR_NOSPACE. */
static int add_node(struct vs_sim *sim, enum vs_node_kind kind, const char *name)
{
	struct vs_sim_node *node = NULL;

	if (vs_sim_grow(sim, &sim->node, &sim->node_cap, (uint32_t)sim->n_nodes, sizeof(struct vs_sim_node *)))
		node = vs_sim_alloc(sim, sizeof(*node));
	if (node == NULL)
		return VS_ERR_NOSPACE;
	node->kind = kind;
	for (size_t i = 0; name != NULL && name[i] != '\0' && i + 1 < sizeof(node->name); i++)
		node->name[i] = name[i];
	sim->node[sim->n_nodes] = node;
	return sim->n_nodes++;
}

/* 10.0.x.y and fd00::xy; native InfiniBand has the latter alone. */
static void default_gids(struct vs_gid_entry *g, int host, bool ethernet)
{
	const uint8_t v4[16] = {
		[10] = 0xff, [11] = 0xff, [12] = 10, [14] = (uint8_t)((host + 1) >> 8), [15] = (uint8_t)(host + 1)};
	const uint8_t v6[16] = {[0] = 0xfd, [14] = (uint8_t)((host + 1) >> 8), [15] = (uint8_t)(host + 1)};

	memcpy(g[0].gid, ethernet ? v4 : v6, 16);
	g[0].type = ethernet ? VS_GID_ROCEV2 : VS_GID_IB;
	if (!ethernet)
		return;
	memcpy(g[1].gid, v6, 16);
	g[1].type = VS_GID_ROCEV2;
	memcpy(g[2].gid, v6, 16);
	g[2].type = VS_GID_ROCEV1;
}

static void default_mac(uint8_t mac[6], int host)
{
	memcpy(mac, (const uint8_t[]){2, 0, 0, 0, (uint8_t)((host + 1) >> 8), (uint8_t)(host + 1)}, 6);
}

static bool all_zero(const void *p, size_t n)
{
	const uint8_t *b = p;

	while (n > 0 && b[n - 1] == 0)
		n--;
	return n == 0;
}

static bool has_gids(const struct vs_gid_entry *g)
{
	for (unsigned i = 0; i < VS_GID_TABLE_LEN; i++)
		if (g[i].type != VS_GID_NONE)
			return true;
	return false;
}

static void fill_in(struct vs_sim *sim, struct vs_dev_attr *a, const struct vs_sim_node *node)
{
	int host = node->number;

	a->name = node->name;
	if (a->allocator.alloc == NULL)
		a->allocator = sim->attr.allocator;
	if (a->dma.read == NULL)
		a->dma = vs_dma_host;
	if (a->sink.emit == NULL)
		a->sink = sim->attr.sink;
	if (a->pkt_counter == NULL)
		a->pkt_counter = &sim->pkt_counter;
	if (a->seed == 0)
		a->seed = sim->attr.seed * 0x9e3779b97f4a7c15ull + (unsigned)host + 1u;
	if (all_zero(a->mac, 6))
		default_mac(a->mac, host);
	if (a->lid == 0)
		a->lid = (uint16_t)(host + 1);
	if (a->node_guid == 0)
		a->node_guid = 0x0200000000000000ull + (unsigned)host + 1u;
	if (!has_gids(a->gids))
		default_gids(a->gids, host, a->link_layer == VS_LL_ETHERNET);
	if (all_zero(a->pkeys, sizeof(a->pkeys)))
		a->pkeys[0] = 0xffff;
	if (a->neighbour == NULL) {
		a->neighbour = neighbour;
		a->neighbour_ctx = sim;
	}
}

int vs_sim_add_host(struct vs_sim *sim, const struct vs_dev_attr *attr)
{
	struct vs_dev_attr a = *attr;
	enum vs_link link = a.link_layer == VS_LL_ETHERNET ? VS_LINK_ETHERNET : VS_LINK_IB;
	char letter[2] = {(char)('A' + sim->n_hosts % 26), '\0'};
	struct vs_sim_node *node;
	int i, err;

	if (sim->has_link && sim->link != link)
		return VS_ERR_INVAL;
	i = add_node(sim, VS_NODE_HOST, a.name != NULL ? a.name : letter);
	if (i < 0)
		return i;
	node = sim->node[i];
	node->number = sim->n_hosts;
	fill_in(sim, &a, node);
	memcpy(node->mac, a.mac, 6);
	node->lid = a.lid;
	node->dev = vs_dev_create(&a, &err);
	if (node->dev == NULL) {
		vs_node_free(sim, node);
		sim->n_nodes--;
		return err;
	}
	sim->link = link;
	sim->has_link = true;
	sim->n_hosts++;
	vs_dev_set_now(node->dev, sim->now);
	return i;
}

int vs_sim_add_raw(struct vs_sim *sim, const char *name, vs_sim_raw_fn *fn, void *ctx)
{
	int i = add_node(sim, VS_NODE_RAW, name);
	struct vs_sim_node *node;

	if (i < 0)
		return i;
	node = sim->node[i];
	node->raw = fn;
	node->raw_ctx = ctx;
	node->number = sim->n_hosts++;
	node->lid = (uint16_t)(node->number + 1);
	default_mac(node->mac, node->number);
	default_gids(node->gids, node->number, sim->link == VS_LINK_ETHERNET);
	return i;
}

int vs_sim_add_switch(struct vs_sim *sim, const char *name)
{
	return add_node(sim, VS_NODE_SWITCH, name);
}

static bool is_node(const struct vs_sim *sim, int i)
{
	return i >= 0 && i < sim->n_nodes;
}

bool vs_node_is_host(const struct vs_sim *sim, int i)
{
	return is_node(sim, i) && sim->node[i]->kind != VS_NODE_SWITCH;
}

struct vs_dev *vs_sim_dev(struct vs_sim *sim, int host)
{
	return is_node(sim, host) ? sim->node[host]->dev : NULL;
}

int vs_sim_av(const struct vs_sim *sim, int to, unsigned gid_index, struct vs_av *av)
{
	const struct vs_gid_entry *g;

	if (!vs_node_is_host(sim, to) || gid_index >= VS_GID_TABLE_LEN)
		return VS_ERR_INVAL;
	g = &vs_node_gids(sim->node[to])[gid_index];
	if (g->type == VS_GID_NONE)
		return VS_ERR_INVAL;
	*av = (struct vs_av){.is_global = true,
			     .sgid_index = (uint8_t)gid_index,
			     .port = 1,
			     .dlid = sim->link == VS_LINK_IB ? sim->node[to]->lid : 0};
	memcpy(av->dgid, g->gid, 16);
	if (sim->link == VS_LINK_ETHERNET)
		memcpy(av->dmac, sim->node[to]->mac, 6);
	return VS_OK;
}

/* ---- links ---- */

static bool joined(const struct vs_sim *sim, int from, int to, int not_via)
{
	const struct vs_sim_node *n = sim->node[from];

	if (from == to)
		return true;
	for (uint32_t i = 0; i < n->n_ports; i++)
		if (n->port[i]->to != not_via && joined(sim, n->port[i]->to, to, from))
			return true;
	return false;
}

static bool add_port(struct vs_sim *sim, struct vs_sim_node *node, struct vs_pipe *p)
{
	uint32_t n = node->n_ports;
	struct vs_pipe **grown = vs_sim_alloc(sim, (n + 1) * sizeof(struct vs_pipe *));
	bool *stopped = NULL;

	if (node->kind == VS_NODE_SWITCH)
		stopped = vs_sim_alloc(sim, (size_t)(n + 1) * (n + 1));
	if (grown == NULL || (node->kind == VS_NODE_SWITCH && stopped == NULL)) {
		vs_sim_free(sim, grown, (n + 1) * sizeof(struct vs_pipe *));
		vs_sim_free(sim, stopped, (size_t)(n + 1) * (n + 1));
		return false;
	}
	for (uint32_t i = 0; i < n; i++) {
		grown[i] = node->port[i];
		if (stopped != NULL)
			memcpy(stopped + (size_t)i * (n + 1), node->stopped + (size_t)i * n, n);
	}
	grown[n] = p;
	p->port = n;
	vs_sim_free(sim, node->port, n * sizeof(struct vs_pipe *));
	vs_sim_free(sim, node->stopped, (size_t)n * n);
	node->port = grown;
	node->stopped = stopped;
	node->n_ports = n + 1;
	return true;
}

int vs_sim_connect(struct vs_sim *sim, int a, int b, const struct vs_sim_link *link)
{
	struct vs_pipe *ab, *loop = NULL;
	int rc;

	if (!is_node(sim, a) || !is_node(sim, b) || joined(sim, a, b, -1))
		return VS_ERR_INVAL;
	if ((vs_node_is_host(sim, a) && sim->node[a]->n_ports > 0) ||
	    (vs_node_is_host(sim, b) && sim->node[b]->n_ports > 0))
		return VS_ERR_BUSY;
	rc = vs_pipe_pair(sim, a, b, link, &ab);
	if (rc != VS_OK)
		return rc;
	if (!add_port(sim, sim->node[a], ab) || !add_port(sim, sim->node[b], ab->back))
		return VS_ERR_NOSPACE;
	for (int i = 0; i < 2; i++) {
		struct vs_sim_node *n = sim->node[i == 0 ? a : b];

		if (n->kind == VS_NODE_SWITCH)
			continue;
		rc = vs_pipe_pair(sim, i == 0 ? a : b, i == 0 ? a : b, link, &loop);
		if (rc != VS_OK)
			return rc;
		n->loop = loop;
	}
	return VS_OK;
}
