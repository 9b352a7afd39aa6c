/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * explain.c - the answer to a bare EINVAL: why a verb was refused or a completion failed, in words, on stderr, when
 * VS_EXPLAIN asks for it. And the error numbers that libibverbs uses.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "verbs/ref.h"
#include "vs/reason.h"

void ref_say(const char *fmt, ...)
{
	char line[600];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	if (n > 0)
		fprintf(stderr, "vs-run: %s\n", line); /* one write: lines of several processes stay whole */
}

void ref_say_errno(const char *what, int error)
{
	const char *advice = error == EMFILE || error == ENFILE ? "; raise 'ulimit -n'"
			     : error == EAGAIN                  ? "; raise 'ulimit -u'"
			     : error == ENOSYS                  ? "; this kernel is too old for that"
								: "";

	ref_say("%s: %s%s", what, strerror(error), advice);
}

static int to_errno(int err)
{
	switch (err) {
	case VS_OK:
		return 0;
	case VS_ERR_NOSPACE:
		return ENOMEM;
	case VS_ERR_BUSY:
		return EBUSY;
	case VS_ERR_PERM:
		return EPERM;
	case VS_ERR_UNSUPPORTED:
		return EOPNOTSUPP;
	default:
		return EINVAL;
	}
}

/* Which of two devices it is. */
static const char *on(const struct vs_dev *dev)
{
	return ref.n_devs < 2 ? "" : dev == ref.dev[0] ? "ref0: " : "ref1: ";
}

int ref_error(const struct vs_dev *dev, const char *verb, int err)
{
	if (err != VS_OK && ref.config.explain) {
		const struct vs_reason_info *r = vs_reason_info(vs_dev_refusal(dev));

		ref_say("%s%s: %s: %s", on(dev), verb, r->id, r->sentence);
	}
	return to_errno(err);
}

void *ref_refuse(const struct vs_dev *dev, const char *verb, int err)
{
	errno = ref_error(dev, verb, err);
	return NULL;
}

int ref_mixed(const char *verb)
{
	if (ref.config.explain)
		ref_say("%s: an object of ref0 and one of ref1 do not go together", verb);
	return EINVAL;
}

void ref_explain_wc(const struct vs_dev *dev, const struct vs_wc *wc)
{
	const struct vs_reason_info *r;

	if (!ref.config.explain || wc->status == VS_WC_SUCCESS || wc->status == VS_WC_WR_FLUSH_ERR)
		return;
	r = vs_reason_info((enum vs_reason)wc->vendor_err);
	ref_say("%scompletion of wr_id %#llx on QP %u: %s: %s: %s", on(dev), (unsigned long long)wc->wr_id, wc->qp_num,
		vs_wc_status_name(wc->status), r->id, r->sentence);
}
