/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* program_record.c - what a program did, as vs-run has left it: a .vst file and a capture. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vs/program.h"
#include "vs/vst.h"

#define MAX_EVENTS 2000000u
#define MAX_FRAMES 1000000u

struct frame {
	struct vs_frame f;
	uint8_t *bytes;
};
struct vs_record {
	struct vs_event_log log;
	struct frame *frame;
	size_t frames, room;
};

static bool read_events(struct vs_record *r, FILE *f, char *why, size_t cap)
{
	struct vs_event_sink sink = vs_event_log_sink(&r->log, VS_LEVEL_EXTRA);
	struct vs_vst_error err = {.line = 0};
	struct vs_vst_reader *in = vs_vst_open(f, &err);
	struct vs_event ev;
	int rc = in != NULL ? 1 : VS_ERR_INVAL;

	while (rc == 1 && (rc = vs_vst_next(in, &ev, &err)) == 1)
		(void)sink.emit(sink.ctx, &ev);
	if (rc != 0)
		(void)snprintf(why, cap, "the trace can't be read: line %llu: %s", (unsigned long long)err.line,
			       err.text);
	else if (r->log.lost > 0)
		(void)snprintf(why, cap, "the trace has more than %u events", MAX_EVENTS);
	vs_vst_close(in);
	return rc == 0 && r->log.lost == 0;
}

static bool keep_frame(struct vs_record *r, const struct vs_frame *f)
{
	struct frame *k;

	if (r->frames == r->room) {
		size_t room = r->room == 0 ? 256 : r->room * 2;
		void *p = r->frames < MAX_FRAMES ? realloc(r->frame, room * sizeof(r->frame[0])) : NULL;

		if (p == NULL)
			return false;
		r->frame = p;
		r->room = room;
	}
	k = &r->frame[r->frames];
	k->f = *f;
	k->bytes = malloc(f->caplen + 1u);
	if (k->bytes == NULL)
		return false;
	memcpy(k->bytes, f->data, f->caplen);
	k->f.data = k->bytes;
	r->frames++;
	return true;
}

static bool read_frames(struct vs_record *r, const char *path, char *why, size_t cap)
{
	struct vs_io_error err = {.text = "too many frames"};
	struct vs_capture *c = vs_capture_open(path, &err);
	struct vs_frame f;
	int rc = c != NULL ? 1 : VS_ERR_IO;

	while (rc == 1 && (rc = vs_capture_next(c, &f, &err)) == 1)
		if (!keep_frame(r, &f))
			rc = VS_ERR_NOSPACE;
	vs_capture_close(c);
	if (rc != 0)
		(void)snprintf(why, cap, "%s", err.text);
	return rc == 0;
}

struct vs_record *vs_record_read(const char *trace, const char *capture, char *why, size_t cap)
{
	struct vs_record *r = calloc(1, sizeof(*r));
	FILE *f = fopen(trace, "r");
	bool good = false;

	if (r == NULL) {
		(void)snprintf(why, cap, "no memory");
	} else if (f == NULL) {
		(void)snprintf(why, cap, "%s can't be read: did the program open a device?", trace);
	} else {
		vs_event_log_init(&r->log, MAX_EVENTS);
		good = read_events(r, f, why, cap) && read_frames(r, capture, why, cap);
	}
	if (f != NULL)
		(void)fclose(f);
	if (!good) {
		vs_record_free(r);
		r = NULL;
	}
	return r;
}

void vs_record_free(struct vs_record *r)
{
	if (r == NULL)
		return;
	vs_event_log_free(&r->log);
	for (size_t i = 0; i < r->frames; i++)
		free(r->frame[i].bytes);
	free(r->frame);
	free(r);
}

const struct vs_event *vs_record_events(const struct vs_record *r, size_t *n)
{
	*n = r->log.n;
	return r->log.ev;
}

bool vs_record_frame(const struct vs_record *r, size_t k, struct vs_frame *f)
{
	if (k >= r->frames)
		return false;
	*f = r->frame[k].f;
	return true;
}

void vs_program_clear(struct vs_program *p)
{
	vs_record_free(p->record);
	p->record = NULL;
}
