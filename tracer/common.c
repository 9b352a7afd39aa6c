/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* common.c - the options that several subcommands have, and the one trace on a command line. */
#include <errno.h>
#include <getopt.h>

#include "trace.h"

const char *vt_duration_text(uint64_t ns, char buf[32])
{
	if (ns >= 1000000000)
		(void)snprintf(buf, 32, ns >= 1000000000000 ? "%.0f s" : "%.3g s", (double)ns / 1e9);
	else if (ns >= 1000000)
		(void)snprintf(buf, 32, "%.3g ms", (double)ns / 1e6);
	else if (ns >= 1000)
		(void)snprintf(buf, 32, "%.3g us", (double)ns / 1e3);
	else
		(void)snprintf(buf, 32, "%u ns", (unsigned)ns);
	return buf;
}

/* ---- options and the trace ---- */

int vt_option(const char *cmd, int opt, const char *value, struct vt_options *o)
{
	uint64_t n;

	switch (opt) {
	case VT_OPT_FROM:
	case VT_OPT_TO:
		if (!vs_cli_duration(value, opt == VT_OPT_FROM ? &o->from_ns : &o->to_ns)) {
			vt_complain(cmd, "%s is no time: a number with ns, us, ms or s, from the first event on",
				    value);
			return -1;
		}
		return 1;
	case VT_OPT_QP:
		if (!vs_cli_number(value, 0, 0xffffff, &n)) {
			vt_complain(cmd, "--qp %s: a queue pair number has 24 bits: 17, 0x11", value);
			return -1;
		}
		o->has_qp = true;
		o->qpn = (uint32_t)n;
		return 1;
	case 'o':
		o->out = value;
		return 1;
	default:
		return 0;
	}
}

static bool knows_qp(const struct vt_model *m, uint32_t qpn)
{
	for (size_t i = 0; i < m->n_qps; i++)
		if (m->qp[i].qpn == qpn)
			return true;
	return false;
}

static int not_open = VT_USAGE;

int vt_not_open(void)
{
	return not_open;
}

struct vt_model *vt_open(const char *cmd, int argc, char **argv, int first, const struct vt_options *o)
{
	struct vt_model *m;
	char err[512];

	if (argc - first != 1) {
		vt_complain(cmd, "%s: 'vs-trace %s --help' shows how it is called",
			    argc == first ? "which trace? a .vst file, a capture or a folder" : "one trace at a time",
			    cmd);
		return NULL;
	}
	if (o != NULL && o->to_ns != 0 && o->to_ns < o->from_ns) {
		vt_complain(cmd, "--to lies before --from");
		return NULL;
	}
	errno = 0;
	m = vt_model_load(argv[first], err, sizeof(err));
	if (m == NULL) {
		not_open = errno == ENODATA ? VT_NOTHING : VT_USAGE;
		vt_complain(cmd, "%s", err);
		return NULL;
	}
	if (o != NULL && o->has_qp && !knows_qp(m, o->qpn)) {
		vt_complain(cmd, "%s: there is no QP 0x%x: 'vs-trace report' lists them", argv[first], o->qpn);
		vt_model_free(m);
		return NULL;
	}
	for (size_t i = 0; i < m->n_sources; i++)
		if (m->source[i].note[0] != '\0')
			vt_complain(cmd, "%s: %s", m->source[i].path, m->source[i].note);
	return m;
}

bool vt_selected(const struct vt_model *m, const struct vt_options *o, size_t event)
{
	uint64_t t = vt_time(m, event);
	uint32_t qp;

	if (t < o->from_ns || (o->to_ns != 0 && t > o->to_ns))
		return false;
	if (!o->has_qp)
		return true;
	qp = m->qp_of[event];
	if (qp == UINT32_MAX && m->pkt_of[event] != VT_NONE)
		qp = m->qp_of[m->pkt[m->pkt_of[event]].tx];
	if (qp == UINT32_MAX)
		return false;
	return m->qp[qp].qpn == o->qpn || (m->qp[qp].peer != VT_NONE && m->qp[m->qp[qp].peer].qpn == o->qpn);
}

int vt_command(const char *cmd, int argc, char **argv, int (*help)(void),
	       int (*show)(struct vt_model *m, const struct vt_options *o, bool json))
{
	static const struct option options[] = {
		VT_OPTIONS_LONG, {"json", no_argument, NULL, 'j'}, {"help", no_argument, NULL, 'h'}, {0}};
	struct vt_options o = {0};
	struct vt_model *m;
	bool json = false;
	int opt, taken, rc;

	opterr = 0;
	while ((opt = getopt_long(argc, argv, ":ho:", options, NULL)) != -1) {
		if (opt == 'h')
			return help();
		json |= opt == 'j';
		taken = opt == 'j' ? 1 : vt_option(cmd, opt, optarg, &o);
		if (taken <= 0)
			return taken < 0 ? VT_USAGE : vt_bad_option(cmd, argv, opt);
	}
	m = vt_open(cmd, argc, argv, optind, &o);
	if (m == NULL)
		return vt_not_open();
	rc = show(m, &o, json);
	vt_model_free(m);
	return rc;
}
