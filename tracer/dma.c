/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * dma.c - `vs-trace dma`: every access of a device to the programs' memory, by operation: which range, in which region,
 * how often. Zero-copy is a claim, and this is its audit: each byte of a request is read once where it was posted and
 * written once where it belongs. What was touched outside of the request's own buffers, or more often without a
 * retransmission to explain it, is a finding.
 */
#include <getopt.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "trace.h"

#define CMD "dma"
#define RANGES 64 /* of one operation that are shown */

static const char usage[] =
	"usage: vs-trace dma [options] TRACE\n"
	"\n"
	"Lists what the devices read and wrote of the programs' memory, operation by operation, with the region of "
	"each\n"
	"access, and says what lay outside of the request's buffers or was touched more than once. The trace must be "
	"of\n"
	"ref0: other devices do not tell.\n"
	"\n" VT_OPTIONS_HELP "  --each            every access, not only their sums\n"
	"  --json            for programs\n"
	"  --help\n"
	"Exit codes: 0 as it should be, 1 there is a finding, 2 usage or environment, 127 no access is in the trace.\n";

enum kind { READ, WRITE, ATOMIC };

/* The accesses of one kind that one node made for one operation. */
struct group {
	size_t op, node, first; /* `first`: event */
	enum kind kind;
	uint64_t accesses, bytes, lo, hi; /* hi: behind the last byte */
	uint64_t expected;                /* bytes of the request; UINT64_MAX: not known */
	bool outside, more;
	size_t outside_at;
	uint64_t key;
};

struct audit {
	const struct vt_model *m;
	struct group *g;
	size_t n, cap;
	uint64_t findings;
	bool each, json;
};

/* ---- what an access is for ---- */

static bool is_dma(const struct vs_event *e, enum kind *kind)
{
	*kind = e->type == VS_EV_DMA_READ ? READ : e->type == VS_EV_DMA_WRITE ? WRITE : ATOMIC;
	return e->type == VS_EV_DMA_READ || e->type == VS_EV_DMA_WRITE || e->type == VS_EV_DMA_ATOMIC;
}

static void range_of(const struct vs_event *e, uint64_t *addr, uint64_t *len, uint64_t *key)
{
	*addr = e->a[0];
	*len = e->type == VS_EV_DMA_ATOMIC ? 8 : e->a[1];
	*key = e->type == VS_EV_DMA_ATOMIC ? e->a[3] : e->a[2];
}

/* Back along the causes to an event whose operation is known. */
static size_t op_of(const struct vt_model *m, size_t i)
{
	for (unsigned steps = 0; i != VT_NONE && steps < 8; i = m->cause[i], steps++) {
		size_t pkt = m->pkt_of[i];

		if (m->op_of[i] != VT_NONE)
			return m->op_of[i];
		if (pkt != VT_NONE && m->pkt[pkt].op != VT_NONE)
			return m->pkt[pkt].op;
	}
	return VT_NONE;
}

static bool here(const struct vt_model *m, size_t event, size_t qp)
{
	return m->qp_of[event] == qp;
}

static bool inside(uint64_t addr, uint64_t len, uint64_t from, uint64_t n)
{
	return addr >= from && addr - from <= n && len <= n - (addr - from);
}

/* In one of the SGEs that this request was posted with. Without any in the trace, nobody can tell: it is. */
static bool in_sges(const struct vt_model *m, const struct vt_op *o, uint64_t addr, uint64_t len)
{
	bool any = false;

	for (size_t i = 0; i < m->n_events; i++) {
		const struct vs_event *e = &m->ev[i];

		if (e->type != VS_EV_VERB_SGE || m->qp_of[i] != o->qp || !e->has_wr || e->wr_id != o->wr_id)
			continue;
		any = true;
		if (inside(addr, len, e->a[1], e->a[2]))
			return true;
	}
	return !any;
}

static bool sends(enum vs_wr_opcode op)
{
	return op == VS_WR_SEND || op == VS_WR_SEND_WITH_IMM || op == VS_WR_SEND_WITH_INV;
}

/* Is this access where the request's data are? */
static bool belongs(const struct vt_model *m, size_t event, size_t op, uint64_t addr, uint64_t len)
{
	const struct vt_op *o = &m->op[op];

	if (here(m, event, o->qp))
		return in_sges(m, o, addr, len);
	if (sends(o->opcode))
		return o->recv == VT_NONE || in_sges(m, &m->op[o->recv], addr, len);
	return !(o->flags & VT_OP_HAS_RETH) || inside(addr, len, o->va, o->len > 8 ? o->len : 8);
}

/* ---- adding up ---- */

static struct group *group(struct audit *a, size_t op, size_t node, enum kind kind, size_t event)
{
	struct group *grown;

	for (size_t i = a->n; i > 0 && i + 32 > a->n; i--)
		if (a->g[i - 1].op == op && a->g[i - 1].node == node && a->g[i - 1].kind == kind)
			return &a->g[i - 1];
	if (a->n == a->cap) {
		a->cap = a->cap == 0 ? 64 : 2 * a->cap;
		grown = realloc(a->g, a->cap * sizeof(*grown));
		if (grown == NULL)
			return NULL;
		a->g = grown;
	}
	a->g[a->n] = (struct group){.op = op, .node = node, .first = event, .kind = kind, .lo = UINT64_MAX};
	return &a->g[a->n++];
}

static bool add(struct audit *a, size_t i)
{
	const struct vs_event *e = &a->m->ev[i];
	uint64_t addr, len, key;
	enum kind kind;
	struct group *g;

	if (!is_dma(e, &kind))
		return true;
	g = group(a, op_of(a->m, i), vt_find_node(a->m, e->node), kind, i);
	if (g == NULL)
		return false;
	range_of(e, &addr, &len, &key);
	g->accesses++;
	g->bytes += len;
	g->lo = addr < g->lo ? addr : g->lo;
	g->hi = addr + len > g->hi ? addr + len : g->hi;
	g->key = key;
	if (g->op != VT_NONE && !g->outside && !belongs(a->m, i, g->op, addr, len)) {
		g->outside = true;
		g->outside_at = i;
	}
	return true;
}

/* More bytes than the request has, though nothing of it was sent again. */
static void conclude(struct audit *a)
{
	for (size_t i = 0; i < a->n; i++) {
		struct group *g = &a->g[i];
		const struct vt_op *o = g->op != VT_NONE ? &a->m->op[g->op] : NULL;

		g->expected = o != NULL && o->flags & VT_OP_HAS_LEN ? o->len : UINT64_MAX;
		if (o != NULL && g->kind != ATOMIC && o->retransmissions == 0 && g->expected != UINT64_MAX &&
		    g->bytes > g->expected && o->opcode != VS_WR_ATOMIC_CMP_AND_SWP &&
		    o->opcode != VS_WR_ATOMIC_FETCH_AND_ADD)
			g->more = true;
		a->findings += g->outside || g->more;
	}
}

/* The region of an access; NULL: none that was registered in this trace. */
static const struct vs_event *region(const struct audit *a, const struct group *g)
{
	const char *node = a->m->node[g->node].name;

	for (size_t i = 0; i < a->m->n_events; i++) {
		const struct vs_event *e = &a->m->ev[i];

		if (e->type == VS_EV_VERB_REG_MR && e->a[5] == 0 && (e->a[2] == g->key || e->a[3] == g->key) &&
		    strcmp(e->node, node) == 0)
			return e;
	}
	return NULL;
}

/* ---- output ---- */

static const char *const word[] = {[READ] = "read", [WRITE] = "wrote", [ATOMIC] = "changed"};

static void print_group(const struct audit *a, const struct group *g)
{
	const struct vs_event *mr = region(a, g);

	fputs("  ", stdout);
	vs_cli_put_safe(stdout, a->m->node[g->node].title);
	printf("%*s %-7s 0x%llx .. 0x%llx  %llu bytes in %llu access%s",
	       strlen(a->m->node[g->node].title) < 9 ? 9 - (int)strlen(a->m->node[g->node].title) : 0, "",
	       word[g->kind], (unsigned long long)g->lo, (unsigned long long)g->hi, (unsigned long long)g->bytes,
	       (unsigned long long)g->accesses, g->accesses == 1 ? "" : "es");
	if (mr != NULL)
		printf(", region 0x%llx + %llu (key 0x%llx)\n", (unsigned long long)mr->a[0],
		       (unsigned long long)mr->a[1], (unsigned long long)g->key);
	else
		printf(", key 0x%llx\n", (unsigned long long)g->key);
	if (g->outside)
		printf("            FINDING: 0x%llx is outside of the request's buffers (event %llu)\n",
		       (unsigned long long)a->m->ev[g->outside_at].a[0],
		       (unsigned long long)a->m->ev[g->outside_at].seq);
	if (g->more)
		printf("            FINDING: the request has %llu bytes, and nothing of it was sent again: %llu were "
		       "touched once more\n",
		       (unsigned long long)g->expected, (unsigned long long)(g->bytes - g->expected));
}

static void print_each(const struct audit *a, const struct group *g)
{
	unsigned shown = 0;

	for (size_t i = g->first; i < a->m->n_events && shown < g->accesses && shown < RANGES; i++) {
		uint64_t addr, len, key;
		enum kind kind;

		if (!is_dma(&a->m->ev[i], &kind) || kind != g->kind || op_of(a->m, i) != g->op ||
		    vt_find_node(a->m, a->m->ev[i].node) != g->node)
			continue;
		range_of(&a->m->ev[i], &addr, &len, &key);
		printf("            %10.3f us  0x%llx + %llu\n", (double)vt_time(a->m, i) / 1e3,
		       (unsigned long long)addr, (unsigned long long)len);
		shown++;
	}
}

static bool shown_before(const struct audit *a, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (a->g[i].op == a->g[n].op)
			return true;
	return false;
}

static void print_what(const struct audit *a, size_t op)
{
	char text[128], qp[96];

	vs_cli_put_safe(stdout, vt_op_text(a->m, op, text, sizeof(text)));
	fputs(" on ", stdout);
	vs_cli_put_safe(stdout, vt_qp_text(a->m, a->m->op[op].qp, qp, sizeof(qp)));
	putchar('\n');
}

static void print_text(const struct audit *a)
{
	for (size_t i = 0; i < a->n; i++) {
		if (shown_before(a, i))
			continue;
		if (a->g[i].op != VT_NONE)
			print_what(a, a->g[i].op);
		else
			puts("for no request of this trace");
		for (size_t j = i; j < a->n; j++) {
			if (a->g[j].op != a->g[i].op)
				continue;
			print_group(a, &a->g[j]);
			if (a->each)
				print_each(a, &a->g[j]);
		}
	}
	printf("%llu finding%s\n", (unsigned long long)a->findings, a->findings == 1 ? "" : "s");
}

static void print_json(const struct audit *a)
{
	json_t *list = json_array(), *o;
	char lo[32], hi[32], key[32];

	for (size_t i = 0; i < a->n; i++) {
		const struct group *g = &a->g[i];

		(void)snprintf(lo, sizeof(lo), "0x%llx", (unsigned long long)g->lo);
		(void)snprintf(hi, sizeof(hi), "0x%llx", (unsigned long long)g->hi);
		(void)snprintf(key, sizeof(key), "0x%llx", (unsigned long long)g->key);
		o = json_pack("{s:s, s:s, s:s, s:s, s:s, s:I, s:I, s:b, s:b}", "node", a->m->node[g->node].name,
			      "access", word[g->kind], "from", lo, "to", hi, "key", key, "bytes", (json_int_t)g->bytes,
			      "accesses", (json_int_t)g->accesses, "outside", g->outside, "more", g->more);
		if (o != NULL && g->op != VT_NONE)
			(void)json_object_set_new(o, "message", json_integer((json_int_t)g->op + 1));
		(void)json_array_append_new(list, o);
	}
	o = json_pack("{s:o, s:I}", "accesses", list, "findings", (json_int_t)a->findings);
	(void)json_dumpf(o, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(o);
}

/* ---- the command ---- */

enum { OPT_EACH = VT_OPT_LAST, OPT_JSON };

static int parse(int argc, char **argv, struct audit *a, struct vt_options *o)
{
	static const struct option options[] = {VT_OPTIONS_LONG,
						{"each", no_argument, NULL, OPT_EACH},
						{"json", no_argument, NULL, OPT_JSON},
						{"help", no_argument, NULL, 'h'},
						{NULL, 0, NULL, 0}};
	int opt, rc;

	optind = 1;
	opterr = 0;
	while ((opt = getopt_long(argc, argv, ":ho:", options, NULL)) != -1) {
		if (opt == 'h') {
			fputs(usage, stdout);
			return vt_flush(CMD);
		}
		if (opt == '?' || opt == ':')
			return vt_bad_option(CMD, argv, opt);
		a->each = a->each || opt == OPT_EACH;
		a->json = a->json || opt == OPT_JSON;
		rc = vt_option(CMD, opt, optarg, o);
		if (rc < 0)
			return VT_USAGE;
	}
	return -1;
}

int vt_dma(int argc, char **argv)
{
	struct vt_options o = {0};
	struct audit a = {0};
	struct vt_model *m;
	bool ok = true;
	int rc = parse(argc, argv, &a, &o);

	if (rc >= 0)
		return rc;
	m = vt_open(CMD, argc, argv, optind, &o);
	if (m == NULL)
		return vt_not_open();
	a.m = m;
	for (size_t i = 0; ok && i < m->n_events; i++)
		if (vt_selected(m, &o, i))
			ok = add(&a, i);
	conclude(&a);
	if (!ok)
		vt_complain(CMD, "no memory");
	else if (a.n == 0)
		vt_complain(
			CMD,
			"no access to memory is in this trace: only ref0 tells of them (vs-trace run without --light)");
	else if (a.json)
		print_json(&a);
	else
		print_text(&a);
	rc = !ok                      ? VT_USAGE
	     : vt_flush(CMD) != VT_OK ? VT_USAGE
	     : a.n == 0               ? VT_NOTHING
	     : a.findings > 0         ? VT_FINDING
				      : VT_OK;
	free(a.g);
	vt_model_free(m);
	return rc;
}
