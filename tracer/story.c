/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* story.c - vs-trace story: one operation, from its post to its completion; or the list of all. */
#include "story.h"

#include <getopt.h>
#include <stdlib.h>

#define CMD "story"

struct choice {
	struct vt_options o;
	uint64_t message; /* 0: the list */
	bool json;
};

static int help(void)
{
	fputs("usage: vs-trace story [options] TRACE\n\n"
	      "Tells one operation as the eight steps of an RDMA WRITE: post, doorbell, WQE fetch and key check, "
	      "gather,\n"
	      "packets, the responder's checks, memory, acknowledgement and completion. Other operations likewise.\n"
	      "What the trace can't show is said.\n\n"
	      "  --message N  that one; without it, the operations are listed with their numbers\n"
	      "  --json       one JSON object\n" VT_OPTIONS_HELP,
	      stdout);
	return vt_flush(CMD);
}

/* ---- the list ---- */

static size_t begin_of(const struct vt_op *o)
{
	return o->post != VT_NONE ? o->post : o->first_tx != VT_NONE ? o->first_tx : o->fetch;
}

static const char *end_text(const struct vt_model *m, size_t op)
{
	enum vs_wc_status status;

	if (vt_op_status(m, op, &status))
		return vs_wc_status_name(status);
	if (m->op[op].answer != VT_NONE)
		return "acknowledged";
	if (m->op[op].nak != VT_NONE)
		return "refused";
	return m->op[op].flags & VT_OP_RECV ? "open" : "no answer";
}

static bool wanted(const struct vt_model *m, const struct vt_options *o, size_t op)
{
	size_t at = begin_of(&m->op[op]);

	return at == VT_NONE ? !o->has_qp : vt_selected(m, o, at);
}

static json_t *list_json(const struct vt_model *m, const struct vt_options *o)
{
	json_t *list = json_array();
	char text[128], t[24];

	for (size_t i = 0; i < m->n_ops; i++) {
		json_t *j;

		if (!wanted(m, o, i))
			continue;
		j = json_object();
		(void)snprintf(t, sizeof(t), "%llu", (unsigned long long)vt_time(m, begin_of(&m->op[i])));
		(void)json_object_set_new(j, "message", json_integer((json_int_t)i + 1));
		(void)json_object_set_new(j, "t", json_string(t));
		(void)json_object_set_new(j, "by", json_string(vt_qp_text(m, m->op[i].qp, text, sizeof(text))));
		(void)json_object_set_new(j, "operation", json_string(vt_op_text(m, i, text, sizeof(text))));
		(void)json_object_set_new(j, "end", json_string(end_text(m, i)));
		(void)json_array_append_new(list, j);
	}
	return list;
}

static void list_text(const json_t *list, FILE *f)
{
	const json_t *j;
	size_t i;

	fprintf(f, "%8s  %12s  %-24s  %-40s  %s\n", "message", "t(us)", "by", "operation", "end");
	json_array_foreach (list, i, j) {
		fprintf(f, "%8lld  %12.2f  ", (long long)json_integer_value(json_object_get(j, "message")),
			strtod(json_string_value(json_object_get(j, "t")), NULL) / 1000);
		vt_put_padded(f, json_string_value(json_object_get(j, "by")), 26);
		vt_put_padded(f, json_string_value(json_object_get(j, "operation")), 42);
		fprintf(f, "%s\n", json_string_value(json_object_get(j, "end")));
	}
}

/* ---- the story ---- */

static void put_line(FILE *f, const char *text)
{
	fputs("     ", f);
	vs_cli_put_safe(f, text);
	fputc('\n', f);
}

static void story_text(const struct vt_model *m, const json_t *j, FILE *f)
{
	const char *missing[8], *peer = json_string_value(json_object_get(j, "peer"));
	size_t n = vt_missing(m, missing, 8), i, k;
	const json_t *step, *line;

	fprintf(f, "Message %lld: ", (long long)json_integer_value(json_object_get(j, "message")));
	vs_cli_put_safe(f, json_string_value(json_object_get(j, "operation")));
	fputs("\n  by ", f);
	vs_cli_put_safe(f, json_string_value(json_object_get(j, "by")));
	if (peer != NULL) {
		fputs(", to ", f);
		vs_cli_put_safe(f, peer);
	}
	fprintf(f, "\n  end: %s\n", json_string_value(json_object_get(j, "outcome")));
	for (i = 0; i < n; i++)
		fprintf(f, "  (%s)\n", missing[i]);
	json_array_foreach (json_object_get(j, "steps"), i, step) {
		fprintf(f, "\n%2lld. %s%s\n", (long long)json_integer_value(json_object_get(step, "step")),
			json_string_value(json_object_get(step, "title")),
			json_is_true(json_object_get(step, "known")) ? "" : " (not in this trace)");
		json_array_foreach (json_object_get(step, "text"), k, line)
			put_line(f, json_string_value(line));
	}
}

static int show(const struct vt_model *m, const struct choice *c)
{
	struct vs_cli_file out;
	json_t *j;

	if (c->message > m->n_ops)
		return vt_fail(CMD, "%s: there is no message %llu, there are %zu: leave --message out to list them",
			       m->path, (unsigned long long)c->message, m->n_ops);
	j = c->message != 0 ? vt_story_of(m, (size_t)c->message - 1) : list_json(m, &c->o);
	if (j == NULL)
		return vt_fail(CMD, "no memory");
	if (c->message == 0 && json_array_size(j) == 0) {
		json_decref(j);
		vt_complain(CMD, "%s: no operations in it, or none in that span", m->path);
		return VT_NOTHING;
	}
	if (!vt_file_open(&out, CMD, c->o.out)) {
		json_decref(j);
		return VT_USAGE;
	}
	if (c->json) {
		(void)json_dumpf(j, out.f, JSON_INDENT(1));
		fputc('\n', out.f);
	} else if (c->message != 0) {
		story_text(m, j, out.f);
	} else {
		list_text(j, out.f);
	}
	json_decref(j);
	return vs_cli_file_close(&out);
}

int vt_story(int argc, char **argv)
{
	static const struct option options[] = {VT_OPTIONS_LONG,
						{"message", required_argument, NULL, 'm'},
						{"json", no_argument, NULL, 'j'},
						{"help", no_argument, NULL, 'h'},
						{0}};
	struct choice c = {0};
	struct vt_model *m;
	int opt, taken, rc;

	opterr = 0;
	while ((opt = getopt_long(argc, argv, ":ho:", options, NULL)) != -1) {
		if (opt == 'h')
			return help();
		if (opt == 'm' && (!vs_cli_number(optarg, 0, UINT32_MAX, &c.message) || c.message == 0))
			return vt_fail(CMD, "--message %s: a number from 1", optarg);
		c.json |= opt == 'j';
		taken = opt == 'm' || opt == 'j' ? 1 : vt_option(CMD, opt, optarg, &c.o);
		if (taken <= 0)
			return taken < 0 ? VT_USAGE : vt_bad_option(CMD, argv, opt);
	}
	m = vt_open(CMD, argc, argv, optind, &c.o);
	if (m == NULL)
		return vt_not_open();
	rc = show(m, &c);
	vt_model_free(m);
	return rc;
}
