/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * err.h - what a library call answers when it can't do what it was asked.
 *
 * Three outcomes are kept apart everywhere: an assert is our own bug; a negative vs_err is the
 * caller's mistake, a full pool or input that can't be read; everything that the protocol itself
 * says (NAK, drop, completion status, broken rule) is a result with a reason (reason.h).
 */
#ifndef VS_ERR_H
#define VS_ERR_H

enum vs_err {
	VS_OK = 0,
	VS_ERR_INVAL = -1,       /* an argument is outside its documented range */
	VS_ERR_NOSPACE = -2,     /* the caller's buffer, or a pool, is too small; nothing was written */
	VS_ERR_SHORT = -3,       /* too few bytes to hold even the first header; nothing was decoded */
	VS_ERR_NOT_RDMA = -4,    /* well-formed other traffic: pass it over */
	VS_ERR_UNSUPPORTED = -5, /* a file, link or message type that this library does not read */
	VS_ERR_IO = -6,          /* a file cannot be opened, read or written, or it is damaged: a text says why */
	VS_ERR_BUSY = -7,        /* the object is in use by another, or the name is taken */
	VS_ERR_PERM = -8         /* needs a privilege */
};

/* The name of `err` ("VS_ERR_SHORT"), static; "VS_ERR_?" for a value outside the enum. */
const char *vs_err_name(int err);

#endif
