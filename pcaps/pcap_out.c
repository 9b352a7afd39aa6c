/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * pcap_out.c - captures out: one, or several that differ by a key in their names. All are written under
 * temporary names (vs_writer) and put in place at the end; after a failure before that, none appears.
 */
#include <stdlib.h>
#include <string.h>

#include "pcap_common.h"

#define FILES_MAX 256 /* open at a time */
#define KEY_MAX 80

struct vp_out {
	const char *cmd, *path;
	enum vs_writer_kind kind;
	size_t n, last;
	struct {
		char key[KEY_MAX];
		struct vs_writer *w;
	} file[FILES_MAX];
};

int vp_writer_kind(const char *linktype)
{
	if (strcmp(linktype, "EN10MB") == 0)
		return VS_WRITER_ETHERNET;
	if (strcmp(linktype, "ERF") == 0 || strcmp(linktype, "INFINIBAND") == 0)
		return VS_WRITER_ERF_IB;
	if (strcmp(linktype, "RAW") == 0 || strcmp(linktype, "IPV4") == 0 || strcmp(linktype, "IPV6") == 0)
		return VS_WRITER_RAW_IP;
	return -1;
}

struct vp_out *vp_out_new(const char *cmd, const char *path, enum vs_writer_kind kind)
{
	struct vp_out *o = calloc(1, sizeof(*o));

	if (!o) {
		vp_fail(cmd, "no memory");
		return NULL;
	}
	o->cmd = cmd;
	o->path = path;
	o->kind = kind;
	return o;
}

/* PATH with "-KEY" before its extension. */
static char *file_name(const struct vp_out *o, const char *key)
{
	const char *slash = strrchr(o->path, '/'), *dot = strrchr(o->path, '.');
	size_t cap = strlen(o->path) + KEY_MAX + 2, stem = strlen(o->path);
	char *name = malloc(cap);

	if (!name)
		return NULL;
	if (dot && dot != o->path && (!slash || dot > slash + 1))
		stem = (size_t)(dot - o->path);
	snprintf(name, cap, "%.*s%s%s%s", (int)stem, o->path, *key ? "-" : "", key, o->path + stem);
	return name;
}

int vp_out_open(struct vp_out *o, const char *key)
{
	struct vs_io_error err;
	char *name;

	if (o->n == FILES_MAX)
		return vp_fail(o->cmd, "%s: more than %d files: choose a coarser split", o->path, FILES_MAX);
	name = file_name(o, key);
	if (!name)
		return vp_fail(o->cmd, "no memory");
	o->file[o->n].w = vs_writer_open(name, o->kind, &err);
	free(name);
	if (!o->file[o->n].w)
		return vp_fail(o->cmd, "%s", err.text);
	snprintf(o->file[o->n].key, KEY_MAX, "%s", key);
	o->n++;
	return VP_OK;
}

int vp_out_put(struct vp_out *o, const char *key, int64_t time_ns, const uint8_t *data, uint32_t caplen,
	       uint32_t wirelen)
{
	struct vs_io_error err;
	size_t i = o->last;

	if (i >= o->n || strcmp(o->file[i].key, key) != 0)
		for (i = 0; i < o->n && strcmp(o->file[i].key, key) != 0; i++)
			;
	if (i == o->n && vp_out_open(o, key) != VP_OK)
		return VP_USAGE;
	o->last = i;
	if (vs_writer_put(o->file[i].w, time_ns, data, caplen, wirelen, &err) != 0)
		return vp_fail(o->cmd, "%s", err.text);
	return VP_OK;
}

size_t vp_out_files(const struct vp_out *o)
{
	return o->n;
}

int vp_out_close(struct vp_out *o)
{
	int ret = VP_OK;

	for (size_t i = 0; i < o->n; i++) {
		struct vs_io_error err;

		if (ret == VP_OK) {
			if (vs_writer_close(o->file[i].w, &err) != 0)
				ret = vp_fail(o->cmd, "%s", err.text);
		} else {
			vs_writer_abort(o->file[i].w);
		}
	}
	free(o);
	return ret;
}

void vp_out_abort(struct vp_out *o)
{
	if (!o)
		return;
	for (size_t i = 0; i < o->n; i++)
		vs_writer_abort(o->file[i].w);
	free(o);
}
