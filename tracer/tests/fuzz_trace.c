/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * fuzz_trace.c - libFuzzer on what vs-trace makes of a .vst: whatever was written into one, the model holds together,
 * and every form of it can be made.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../export.h"
#include "../report.h"
#include "../story.h"
#include "vs/ladder.h"

#define LONGEST 4096u /* what a byte of an input costs is the same for each: short ones teach more in the same time */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool ok)
{
	if (!ok)
		abort();
}

static bool place(size_t i, size_t n)
{
	return i == VT_NONE || i < n;
}

/* Every reference leads somewhere, and causes stand before what they caused. */
static void consistent(const struct vt_model *m)
{
	for (size_t i = 0; i < m->n_events; i++) {
		require(m->cause[i] == VT_NONE || m->cause[i] < i);
		require(place(m->op_of[i], m->n_ops) && place(m->pkt_of[i], m->n_pkts));
		require(m->qp_of[i] == UINT32_MAX || m->qp_of[i] < m->n_qps);
		require(vt_find_seq(m, m->ev[i].seq) == i);
	}
	for (size_t i = 0; i < m->n_ops; i++) {
		const struct vt_op *o = &m->op[i];

		require(o->qp < m->n_qps && place(o->post, m->n_events) && place(o->cqe, m->n_events));
		require(place(o->recv, m->n_ops) && place(o->by, m->n_ops));
	}
	for (size_t i = 0; i < m->n_qps; i++)
		require(place(m->qp[i].peer, m->n_qps) && m->qp[i].node < m->n_nodes);
	for (size_t i = 0; i < m->n_pkts; i++)
		require(place(m->pkt[i].tx, m->n_events) && place(m->pkt[i].op, m->n_ops));
}

/* What is JSON must be JSON. */
static void chrome(const struct vt_model *m, const struct vt_options *o)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);
	json_t *j;

	require(f != NULL);
	vt_export_chrome(m, o, f);
	fclose(f);
	j = json_loads(text, 0, NULL);
	require(j != NULL);
	json_decref(j);
	free(text);
}

static void forms(const struct vt_model *m, FILE *null)
{
	const struct vs_ladder_options wide = {.columns = 80, .utf8 = true};
	const struct vt_options all = {0};

	vs_ladder_text(m->ev, m->n_events, &wide, null);
	vs_ladder_svg(m->ev, m->n_events, NULL, null);
	vs_ladder_mermaid(m->ev, m->n_events, NULL, null);
	require(vt_export_html(m, &all, null));
	json_decref(vt_report_of(m, &all));
	for (size_t i = 0; i < m->n_ops && i < 4; i++)
		json_decref(vt_story_of(m, i));
	chrome(m, &all);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static FILE *null;
	struct vt_model *m;
	char err[512];
	FILE *f;

	if (null == NULL)
		null = fopen("/dev/null", "w");
	if (size == 0 || null == NULL)
		return 0;
	size = size < LONGEST ? size : LONGEST;
	f = fmemopen((void *)(uintptr_t)data, size, "r");
	if (f == NULL)
		return 0;
	m = vt_model_load_vst(f, "fuzz", err, sizeof(err));
	fclose(f);
	require(m != NULL || err[0] != '\0');
	if (m != NULL) {
		consistent(m);
		if (data[size - 1] % 4 == 0 || size < 1024) /* what is shown costs ten times as much */
			forms(m, null);
	}
	vt_model_free(m);
	return 0;
}
