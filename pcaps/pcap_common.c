/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* pcap_common.c - errors, options, numbers, CRCs of changed packets. */
#include "pcap_common.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "vs/icrc.h"

void vp_complain(const char *cmd, const char *fmt, ...)
{
	char text[VS_IO_ERRLEN + 256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	for (char *p = text; *p; p++) /* arguments may hold anything */
		if ((unsigned char)*p < 0x20 || *p == 0x7f)
			*p = '?';
	fflush(stdout);
	fprintf(stderr, "vs-pcap %s: %s\n", cmd, text);
}

void vp_complain_option(const char *cmd, char **argv, int opt)
{
	const char *word = optind > 0 ? argv[optind - 1] : "";

	if (opt == ':')
		vp_complain(cmd, "%s needs a value: 'vs-pcap %s --help' says which", word, cmd);
	else
		vp_complain(cmd, "option %s is not known or takes no value: see 'vs-pcap %s --help'", word, cmd);
}

int vp_flush(const char *cmd)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return VP_OK;
	return vp_fail(cmd, "standard output can't be written (%s)", strerror(errno ? errno : EIO));
}

bool vp_number(const char *text, uint64_t max, uint64_t *value)
{
	unsigned long long v;
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	v = strtoull(text, &end, text[0] == '0' && (text[1] == 'x' || text[1] == 'X') ? 16 : 10);
	if (errno != 0 || *end != '\0' || v > max)
		return false;
	*value = v;
	return true;
}

bool vp_time(const char *text, uint64_t *ns)
{
	static const struct {
		const char *unit;
		double ns;
	} units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
	char *end;
	double v;

	if (*text < '0' || *text > '9' || text[1] == 'x')
		return false;
	v = strtod(text, &end);
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(end, units[i].unit) != 0)
			continue;
		v *= units[i].ns;
		if (!(v >= 0 && v < 9e18))
			return false;
		*ns = (uint64_t)(v + 0.5);
		return true;
	}
	return false;
}

static size_t distance(const char *a, const char *b)
{
	size_t row[33], n = strlen(b);

	if (n > 32 || strlen(a) > 32)
		return 99;
	for (size_t j = 0; j <= n; j++)
		row[j] = j;
	for (size_t i = 0; a[i]; i++) {
		size_t diag = row[0]++;

		for (size_t j = 0; j < n; j++) {
			size_t best = diag + (a[i] != b[j]);

			diag = row[j + 1];
			if (row[j] + 1 < best)
				best = row[j] + 1;
			if (diag + 1 < best)
				best = diag + 1;
			row[j + 1] = best;
		}
	}
	return row[n];
}

const char *vp_nearest(const char *text, const char *const *words)
{
	const char *best = NULL;
	size_t least = 3;

	for (; *words; words++) {
		size_t d = distance(text, *words);

		if (d < least) {
			least = d;
			best = *words;
		}
	}
	return best;
}

uint32_t vp_icrc_error(const struct vs_pkt *p, const uint8_t *buf)
{
	uint32_t right;

	return vs_icrc_check(p, buf, &right) == VS_CRC_BAD ? p->icrc ^ right : 0;
}

uint32_t vp_super_of(const struct vs_pkt *p, const struct vs_frame *f, struct vs_offload *o)
{
	if (!vs_offload_of(p, f->data, f->caplen, f->wirelen, o) || vs_icrc_check(p, f->data, NULL) == VS_CRC_GOOD)
		return 0;
	return vs_offload_first(o);
}

uint32_t vp_super_icrc_error(const struct vs_offload *o, const struct vs_pkt *seg, uint32_t k, uint32_t off)
{
	uint32_t right;

	if (!(seg->flags & VS_PKT_HAS_ICRC) ||
	    vs_offload_icrc(o, k, off, seg->end_off, seg->icrc, &right) != VS_CRC_BAD)
		return 0;
	return seg->icrc ^ right;
}

int vp_reseal(struct vs_pkt *p, uint32_t icrc_error)
{
	static uint8_t scratch[VP_FRAME_MAX];
	uint32_t snapped = p->flags & VS_PKT_SNAPPED;
	unsigned what = VS_SEAL_CSUM;
	int ret;

	if (!snapped && (p->flags & VS_PKT_HAS_ICRC) && !(p->flags & VS_PKT_FRAGMENT))
		what |= VS_SEAL_ICRC;
	p->flags &= ~(uint32_t)VS_PKT_SNAPPED;
	ret = vs_pkt_seal(p, what, scratch, sizeof(scratch));
	p->flags |= snapped;
	if (ret != 0 || !(what & VS_SEAL_ICRC))
		return ret;
	p->icrc ^= icrc_error;
	return p->flags & VS_PKT_HAS_VCRC ? vs_pkt_seal(p, VS_SEAL_VCRC, scratch, sizeof(scratch)) : 0;
}
