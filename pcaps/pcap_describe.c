/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * pcap_describe.c - one packet from words, in the notation of drill scripts (docs/drill-language.md).
 *
 * So that there is one notation and one builder, the words become the `peer>` line of a script, which is run in the
 * simulator; what the peer sends is the packet. What is written otherwise on a command line is translated before
 * (qp=, hex=), or assigned to the packet afterwards (ip.src=, lid.dst=: the names that edit --set has).
 */
#include "pcap_describe.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "vs/drill.h"

#define SCRIPT_CAP 32768
#define LINE_CAP 480
#define ASSIGN_MAX 32
#define HEX_BYTES 160 /* of hex= on one line of the script */

struct words {
	const char *cmd;
	struct vp_described *out;
	char line[LINE_CAP]; /* behind "peer>" */
	size_t n_line, n_words;
	bool psn_said, psn_taken; /* taken: this kind of line has none, or needs none */
	char assign[ASSIGN_MAX][160];
	size_t n_assign;
	char hex[2 * VS_MTU_MAX + 1];
	size_t frames;
};

/* ---- words in ---- */

static bool is_key(const char *word, size_t len, const char *name)
{
	return len == strlen(name) && memcmp(word, name, len) == 0;
}

static int add(struct words *w, const char *text, size_t len)
{
	if (w->n_line + len + 2 > sizeof(w->line))
		return vp_fail(w->cmd, "the description is too long: at most %d bytes, hex= apart", LINE_CAP - 1);
	if (w->n_line > 0)
		w->line[w->n_line++] = ' ';
	memcpy(w->line + w->n_line, text, len);
	w->n_line += len;
	w->line[w->n_line] = '\0';
	return VP_OK;
}

static int take_hex(struct words *w, const char *digits, size_t len)
{
	if (len == 0 || len % 2 != 0 || len >= sizeof(w->hex) || strspn(digits, "0123456789abcdefABCDEF") < len)
		return vp_fail(w->cmd, "hex=%.*s: write pairs of hex digits, at most %u", (int)(len < 40 ? len : 40),
			       digits, VS_MTU_MAX);
	memcpy(w->hex, digits, len);
	w->hex[len] = '\0';
	return add(w, "data=peer.bytes", 15);
}

static int assign_later(struct words *w, const char *word, size_t len)
{
	if (w->n_assign == ASSIGN_MAX || len >= sizeof(w->assign[0]))
		return vp_fail(w->cmd, "%.*s: is too long, or one word too many", (int)(len < 40 ? len : 40), word);
	snprintf(w->assign[w->n_assign++], sizeof(w->assign[0]), "%.*s", (int)len, word);
	return VP_OK;
}

/* Names of edit --set that mean something else, or nothing, in a script. */
static bool is_assigned(const char *word, size_t key)
{
	return memchr(word, '.', key) || is_key(word, key, "swapadd") || is_key(word, key, "xrcsrq") ||
	       is_key(word, key, "eecontext") || is_key(word, key, "flowlabel");
}

/* "psn" is +0 when nothing is said; CM messages, raw bytes and repeats have none. */
static int say_psn(struct words *w)
{
	if (w->psn_said || w->psn_taken)
		return VP_OK;
	w->psn_said = true;
	return add(w, "psn=+0", 6);
}

static int take_word(struct words *w, const char *word, size_t len)
{
	const char *eq = memchr(word, '=', len);
	size_t key = eq ? (size_t)(eq - word) : len;

	if (w->n_words++ == 0)
		w->psn_taken = is_key(word, len, "CM") || is_key(word, len, "raw") || is_key(word, len, "bth") ||
			       is_key(word, len, "again");
	if (is_key(word, key, "psn") && eq)
		w->psn_said = true;
	if (is_key(word, key, "icrc") || is_key(word, key, "flip"))
		w->out->icrc_wanted = true;
	if (!eq)
		return is_key(word, len, "then") && say_psn(w) != VP_OK ? VP_USAGE : add(w, word, len);
	if (is_key(word, key, "hex"))
		return take_hex(w, eq + 1, len - key - 1);
	if (is_assigned(word, key))
		return assign_later(w, word, len);
	if (is_key(word, key, "qp")) {
		char number[LINE_CAP];

		snprintf(number, sizeof(number), "destqp=%.*s", (int)(len - key - 1), eq + 1);
		return add(w, number, strlen(number));
	}
	return add(w, word, len);
}

/* Words end at blanks that are not between quotes. */
static int take_words(struct words *w, const char *text)
{
	for (const char *c = text; *c;) {
		bool quoted = false;
		const char *from;

		if (isspace((unsigned char)*c)) {
			c++;
			continue;
		}
		for (from = c; *c && (quoted || !isspace((unsigned char)*c)); c++) {
			quoted ^= *c == '"';
			if (iscntrl((unsigned char)*c) || (*c == '#' && !quoted))
				return vp_fail(w->cmd, "byte 0x%02x has no place in a description", (unsigned char)*c);
		}
		if (take_word(w, from, (size_t)(c - from)) != VP_OK)
			return VP_USAGE;
	}
	if (w->n_words == 0)
		return vp_fail(w->cmd, "the description is empty: OPCODE field=value ...");
	return say_psn(w);
}

/* ---- the script ---- */

static void append(char *script, size_t *n, const char *fmt, ...)
{
	va_list ap;
	int more;

	va_start(ap, fmt);
	more = vsnprintf(script + *n, SCRIPT_CAP - *n, fmt, ap);
	va_end(ap);
	*n += more > 0 && (size_t)more < SCRIPT_CAP - *n ? (size_t)more : 0;
}

static size_t write_script(const struct words *w, char *script)
{
	size_t n = 0, bytes = strlen(w->hex) / 2;

	append(script, &n, "case inject \"one packet\"\nqp dut.q <-> peer rc mtu=4096 psn=0\n");
	if (bytes > 0)
		append(script, &n, "mr peer.bytes len=%zu\n", bytes);
	for (size_t at = 0; at < bytes; at += HEX_BYTES) {
		size_t len = bytes - at < HEX_BYTES ? bytes - at : HEX_BYTES;

		append(script, &n, "set peer.bytes[%zu:%zu] = hex\"%.*s\"\n", at, at + len, (int)(2 * len),
		       w->hex + 2 * at);
	}
	append(script, &n, "peer> %s\n", w->line);
	return n;
}

static void keep(void *ctx, const struct vs_drill_frame *f)
{
	struct words *w = ctx;

	if (f->where != VS_TAP_SENT || strcmp(f->node, "peer") != 0)
		return;
	if (w->frames++ > 0 || f->len > sizeof(w->out->frame))
		return;
	memcpy(w->out->frame, f->data, f->len);
	w->out->len = f->len;
	w->out->parsed = vs_pkt_parse(&w->out->p, f->link, 0, w->out->frame, f->len, (uint32_t)f->len, 0) == VS_OK &&
			 w->out->p.flags & VS_PKT_HAS_BTH;
}

/* In one line: what is wrong, and where the words that are wrong begin. */
static int complain(const struct words *w, const struct vs_drill_error *e)
{
	size_t at = e->column > 0 ? e->column - 1 : 0;

	if (e->line == 0 || at >= strlen(e->source))
		return vp_fail(w->cmd, "%s: at the end of '%s'", e->text, w->line);
	return vp_fail(w->cmd, "%s: at '%.60s'", e->text, e->source + at);
}

static int run_script(struct words *w, enum vs_encap encap, const char *script, size_t len)
{
	struct vs_drill_env env = {.encap = vp_encap_name(encap), .tap = keep, .tap_ctx = w};
	struct vs_drill_result result;
	struct vs_drill_error err;
	struct vs_drill *d = vs_drill_parse(script, len, &err);

	if (!d)
		return complain(w, &err);
	vs_drill_run_sim(d, 0, &env, &result);
	vs_drill_free(d);
	if (result.verdict == VS_VERDICT_ERROR)
		return complain(w, &result.at);
	if (w->frames != 1)
		return vp_fail(w->cmd, "'%s' makes %zu packets: describe one", w->line, w->frames);
	return VP_OK;
}

/* ---- what comes after ---- */

static int assign(struct words *w)
{
	struct vp_described *out = w->out;
	uint8_t built[VP_DESCRIBED_MAX];
	uint32_t error, said;
	int n;

	if (w->n_assign == 0)
		return VP_OK;
	if (!out->parsed)
		return vp_fail(w->cmd, "%s: these bytes are no RDMA packet, and have no such field", w->assign[0]);
	error = vp_icrc_error(&out->p, out->frame);
	said = out->p.icrc;
	for (size_t i = 0; i < w->n_assign; i++)
		if (vp_set_assign(w->cmd, w->assign[i], &out->p) != VP_OK)
			return VP_USAGE;
	n = vp_reseal(&out->p, error);
	if (n == 0 && out->icrc_wanted) {
		out->p.icrc = said;
		n = vs_pkt_seal(&out->p, VS_SEAL_VCRC, built, sizeof(built));
	}
	if (n == 0)
		n = vs_pkt_build(&out->p, built, sizeof(built));
	if (n < 0)
		return vp_fail(w->cmd, "the packet can't be built: a length does not fit");
	memcpy(out->frame, built, (size_t)n);
	out->len = (size_t)n;
	return VP_OK;
}

int vp_describe(const char *cmd, const char *text, enum vs_encap encap, struct vp_described *out)
{
	struct words *w = calloc(1, sizeof(*w));
	char *script = malloc(SCRIPT_CAP);
	int ret;

	out->len = 0;
	out->parsed = out->icrc_wanted = false;
	if (w && script) {
		w->cmd = cmd;
		w->out = out;
		ret = take_words(w, text);
		if (ret == VP_OK)
			ret = run_script(w, encap, script, write_script(w, script));
		if (ret == VP_OK)
			ret = assign(w);
	} else {
		ret = vp_fail(cmd, "no memory");
	}
	free(w);
	free(script);
	return ret;
}
