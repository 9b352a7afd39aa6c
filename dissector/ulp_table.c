/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ulp_table.c - the user's own table: "the QPs of this connection speak that protocol". For captures
 * that begin after the connection was set up, or whose set-up CM doesn't carry.
 *
 * A row names the server's QP, the client's QP, or both (both let the dissector match requests with
 * answers), the server's address when QP numbers alone aren't clear, and a protocol: one of
 * ulp_rules.c, or any dissector that Wireshark knows by name.
 */
#include "ulp.h"

#include <errno.h>
#include <stdlib.h>

#include <epan/uat.h>
#include <wsutil/inet_addr.h>

static struct ulp_row *rows;
static unsigned row_count;

/* ---- parsing what was typed ---- */

/* "", "17", "0x11". False when it is no number of up to `bits` bits. */
static bool parse_number(const char *text, unsigned bits, uint32_t *out)
{
	char *end;
	unsigned long v;

	*out = 0;
	if (text == NULL || *text == '\0')
		return true;
	if (!g_ascii_isdigit(*text))
		return false;
	errno = 0;
	v = strtoul(text, &end, 0);
	if (*end != '\0' || errno != 0 || v >> bits != 0)
		return false;
	*out = (uint32_t)v;
	return true;
}

/* IPv4, IPv6 or GID, or a LID as a number; "" is any. */
static bool parse_address(const char *text, struct ulp_addr *out)
{
	ws_in4_addr v4;
	ws_in6_addr v6;
	uint32_t lid;
	uint16_t lid16;

	memset(out, 0, sizeof(*out));
	if (text == NULL || *text == '\0')
		return true;
	if (ws_inet_pton4(text, &v4)) {
		out->len = 4;
		memcpy(out->b, &v4, 4);
		return true;
	}
	if (ws_inet_pton6(text, &v6)) {
		out->len = 16;
		memcpy(out->b, &v6, 16);
		return true;
	}
	if (!parse_number(text, 16, &lid) || lid == 0)
		return false;
	lid16 = (uint16_t)lid; /* host order: as AT_IB holds it */
	out->len = sizeof(lid16);
	memcpy(out->b, &lid16, sizeof(lid16));
	return true;
}

static bool parse_protocol(struct ulp_row *row)
{
	const char *name = row->protocol != NULL ? row->protocol : "";

	row->rule = ulp_rule_by_name(name, strlen(name));
	row->handle = row->rule == NULL ? find_dissector(name) : NULL;
	return row->rule != NULL || row->handle != NULL;
}

/* ---- the table ---- */

UAT_CSTRING_CB_DEF(rdma_qp, address, struct ulp_row)
UAT_CSTRING_CB_DEF(rdma_qp, server_qp, struct ulp_row)
UAT_CSTRING_CB_DEF(rdma_qp, client_qp, struct ulp_row)
UAT_CSTRING_CB_DEF(rdma_qp, protocol, struct ulp_row)

static void *row_copy(void *to, const void *from, size_t len _U_)
{
	struct ulp_row *d = to;
	const struct ulp_row *s = from;

	*d = *s;
	d->address = g_strdup(s->address);
	d->server_qp = g_strdup(s->server_qp);
	d->client_qp = g_strdup(s->client_qp);
	d->protocol = g_strdup(s->protocol);
	return d;
}

static void row_free(void *record)
{
	struct ulp_row *r = record;

	g_free(r->address);
	g_free(r->server_qp);
	g_free(r->client_qp);
	g_free(r->protocol);
}

/* The return type of this callback is gboolean before 4.4, bool since. */
#if RDMA_WS_AT_LEAST(4, 4)
static bool row_update(void *record, char **error)
#else
static gboolean row_update(void *record, char **error)
#endif
{
	struct ulp_row *r = record;

	if (!parse_address(r->address, &r->addr))
		*error = g_strdup_printf("\"%s\" is no IPv4 or IPv6 address, GID or LID", r->address);
	else if (!parse_number(r->server_qp, 24, &r->server))
		*error = g_strdup_printf("\"%s\" is no QP number (24 bits, decimal or 0x...)", r->server_qp);
	else if (!parse_number(r->client_qp, 24, &r->client))
		*error = g_strdup_printf("\"%s\" is no QP number (24 bits, decimal or 0x...)", r->client_qp);
	else if (r->server == 0 && r->client == 0)
		*error = g_strdup("Give the QP of the server, of the client, or both");
	else if (!parse_protocol(r))
		*error = g_strdup_printf("\"%s\" is no protocol that Wireshark knows", r->protocol);
	else
		return TRUE;
	return FALSE;
}

static uat_field_t row_fields[] = {
	UAT_FLD_CSTRING(rdma_qp, address, "Server address", "IPv4, IPv6, GID or LID of the server; empty: any"),
	UAT_FLD_CSTRING(rdma_qp, server_qp, "Server QP", "QP number of the server (decimal or 0x...); empty: unknown"),
	UAT_FLD_CSTRING(rdma_qp, client_qp, "Client QP", "QP number of the client (decimal or 0x...); empty: unknown"),
	UAT_FLD_CSTRING(rdma_qp, protocol, "Protocol",
			"rpcordma, nvme-rdma, iser, smb_direct, lnet, smc, infiniband_sdp, ethertype, "
			"infiniband.eoib, fcoib, drbd, or the name of any dissector"),
	UAT_END_FIELDS,
};

void ulp_table_register(module_t *module)
{
	uat_t *uat = uat_new("RDMA upper-layer protocols", sizeof(struct ulp_row), "rdma_qp_protocols", TRUE, &rows,
			     &row_count, UAT_AFFECTS_DISSECTION, NULL, row_copy, row_update, row_free, NULL, NULL,
			     row_fields);

	prefs_register_uat_preference(module, "qp_table", "Protocols by QP",
				      "Which protocol the QPs of a connection speak, where CM doesn't say it", uat);
}

/* ---- questions ---- */

static bool address_is(const struct ulp_row *r, const address *a)
{
	struct ulp_addr x = ulp_addr(a);

	return r->addr.len == 0 || memcmp(&r->addr, &x, sizeof(x)) == 0;
}

const struct ulp_row *ulp_table_find(const packet_info *pinfo, uint32_t qp, enum ulp_role *to)
{
	for (unsigned i = 0; i < row_count; i++) {
		const struct ulp_row *r = &rows[i];

		if (r->rule == NULL && r->handle == NULL)
			continue;
		if (r->server == qp && qp != 0 && address_is(r, &pinfo->dst)) {
			*to = ULP_SERVER;
			return r;
		}
		if (r->client == qp && qp != 0 && address_is(r, &pinfo->src)) {
			*to = ULP_CLIENT;
			return r;
		}
	}
	return NULL;
}
