/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* err.c - names of the error codes of err.h. */
#include "vs/err.h"

const char *vs_err_name(int err)
{
	switch (err) {
	case VS_OK:
		return "VS_OK";
	case VS_ERR_INVAL:
		return "VS_ERR_INVAL";
	case VS_ERR_NOSPACE:
		return "VS_ERR_NOSPACE";
	case VS_ERR_SHORT:
		return "VS_ERR_SHORT";
	case VS_ERR_NOT_RDMA:
		return "VS_ERR_NOT_RDMA";
	case VS_ERR_UNSUPPORTED:
		return "VS_ERR_UNSUPPORTED";
	case VS_ERR_IO:
		return "VS_ERR_IO";
	default:
		return "VS_ERR_?";
	}
}
