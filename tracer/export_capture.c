/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* export_capture.c - the frames of a trace's capture, all or those of a span and a queue pair. Nothing is made up. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "export.h"
#include "vs/pktio.h"

#define CMD "export"

/* Which frames are wanted: a bit for each; NULL: no memory. */
static uint8_t *wanted_frames(const struct vt_model *m, const struct vt_options *o, uint32_t *last)
{
	uint8_t *want;

	*last = 0;
	for (size_t i = 0; i < m->n_pkts; i++)
		*last = m->pkt[i].frame > *last ? m->pkt[i].frame : *last;
	want = calloc((size_t)*last + 1, 1);
	for (size_t i = 0; want != NULL && i < m->n_pkts; i++)
		if (m->pkt[i].tx != VT_NONE && vt_selected(m, o, m->pkt[i].tx))
			want[m->pkt[i].frame] = 1;
	return want;
}

static int kind_of(const char *linktype)
{
	if (strcmp(linktype, "EN10MB") == 0)
		return VS_WRITER_ETHERNET;
	if (strcmp(linktype, "ERF") == 0 || strcmp(linktype, "INFINIBAND") == 0)
		return VS_WRITER_ERF_IB;
	return strcmp(linktype, "RAW") == 0 || strcmp(linktype, "IPV4") == 0 || strcmp(linktype, "IPV6") == 0
		       ? VS_WRITER_RAW_IP
		       : -1;
}

static int copy(struct vs_capture *in, int kind, struct vs_writer *w, const uint8_t *want, uint32_t last)
{
	struct vs_io_error err = {0};
	struct vs_frame f;
	int rc = 1;

	while (rc == 1 && (rc = vs_capture_next(in, &f, &err)) == 1) {
		if (f.number > last || want[f.number] == 0)
			continue;
		if (kind_of(vs_capture_linktype(in)) != kind) {
			vs_writer_abort(w);
			return vt_fail(CMD,
				       "frame %" PRIu64 " has link type %s, unlike those before, and a pcap has one: "
				       "convert the capture with 'vs-pcap convert' first",
				       f.number, vs_capture_linktype(in));
		}
		if (vs_writer_put(w, f.time_ns, f.data, f.caplen, f.wirelen, &err) != VS_OK)
			rc = VS_ERR_IO;
	}
	if (rc < 0 && err.frame == 0) {
		vs_writer_abort(w);
		return vt_fail(CMD, "%s", err.text);
	}
	return vs_writer_close(w, &err) == VS_OK ? VT_OK : vt_fail(CMD, "%s", err.text);
}

static int export_from(const char *path, const struct vt_model *m, const struct vt_options *o)
{
	struct vs_io_error err = {0};
	struct vs_capture *in = vs_capture_open(path, &err);
	struct vs_writer *w = NULL;
	uint32_t last;
	uint8_t *want;
	int kind, rc;

	if (in == NULL)
		return vt_fail(CMD, "%s", err.text);
	kind = kind_of(vs_capture_linktype(in));
	want = wanted_frames(m, o, &last);
	if (kind < 0)
		rc = vt_fail(CMD, "%s: link type %s can be read but not written", path, vs_capture_linktype(in));
	else if (want == NULL)
		rc = vt_fail(CMD, "no memory");
	else if ((w = vs_writer_open(o->out != NULL ? o->out : "-", (enum vs_writer_kind)kind, &err)) == NULL)
		rc = vt_fail(CMD, "%s", err.text);
	else
		rc = copy(in, kind, w, want, last);
	free(want);
	vs_capture_close(in);
	return rc;
}

int vt_export_capture(const struct vt_model *m, const struct vt_options *o)
{
	char path[4096], err[512];
	struct vt_model *wire;
	int rc;

	for (size_t i = 0; i < m->n_sources; i++)
		if (m->source[i].kind == VT_SOURCE_CAPTURE)
			return export_from(m->source[i].path, m, o);
	/* A folder whose devices told of the packets themselves has its capture beside them. */
	if (snprintf(path, sizeof(path), "%s/wire.pcap", m->path) >= (int)sizeof(path))
		return vt_fail(CMD, "%s: the path is too long", m->path);
	wire = vt_model_load(path, err, sizeof(err));
	if (wire == NULL) {
		vt_complain(CMD, "%s: no capture belongs to it, and packets are not made up", m->path);
		return VT_NOTHING;
	}
	rc = export_from(path, wire, o);
	vt_model_free(wire);
	return rc;
}
