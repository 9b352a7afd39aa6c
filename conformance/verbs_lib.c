/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * verbs_lib.c - libibverbs, opened when it is needed, so that this program starts where there is none; ref0's by its
 * path, the system's by its name. One of the two in a process.
 *
 * ref0 gets an address of its own on the loopback, 127.x.y.z, and so does the peer (verbs_peer.c): as many processes as
 * there are addresses can run at the same time.
 */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "verbs.h"

#define TRIES 16u
#define MAX_GIDS 64

static const char *library_of_ref0(void)
{
	static const char *const beside[] = {"../lib/verbscope/libibverbs.so.1", "../../lib/verbscope/libibverbs.so.1"};
	static char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 64);
	char *slash;

	path[n > 0 ? n : 0] = '\0';
	slash = strrchr(path, '/');
	for (size_t i = 0; slash != NULL && i < sizeof(beside) / sizeof(beside[0]); i++) {
		strcpy(slash + 1, beside[i]);
		if (access(path, R_OK) == 0)
			return path;
	}
	return NULL;
}

static bool resolve(void *lib, const char *name, void *where, char *why, size_t cap)
{
	char symbol[64];
	void *p;

	(void)snprintf(symbol, sizeof(symbol), "ibv_%s", name);
	p = dlsym(lib, symbol);
	if (p == NULL)
		(void)snprintf(why, cap, "libibverbs has no %s: it is too old", symbol);
	else
		memcpy(where, &p, sizeof(p)); /* a function, says POSIX */
	return p != NULL;
}

static bool load(struct vc_verbs *v, const char *path, char *why, size_t cap)
{
	void *lib = dlopen(path, RTLD_NOW | RTLD_LOCAL), *p;

	if (lib == NULL) {
		(void)snprintf(why, cap, "there is no libibverbs (%s): install it, or use --device ref0", dlerror());
		return false;
	}
#define X(ret, name, args)                                         \
	if (!resolve(lib, #name, (void *)&v->call.name, why, cap)) \
		return false;
	VC_IBV_CALLS(X)
#undef X
	if ((p = dlsym(lib, "_ibv_query_gid_ex")) != NULL) /* since version 36 */
		memcpy((void *)&v->gid_ex, &p, sizeof(p));
	if ((p = dlsym(lib, VS_RIG_SYMBOL)) != NULL) {
		const struct vs_rig *(*rig)(void);

		memcpy((void *)&rig, &p, sizeof(p));
		v->rig = rig()->version == VS_RIG_VERSION ? rig() : NULL;
	}
	return true;
}

/* ---- addresses ---- */

/* ::ffff:127.x.y.z, different for every process and every try. */
void vc_loopback(uint8_t gid[16], unsigned number)
{
	uint32_t n = ((uint32_t)getpid() * 64u + number) & 0x3fffffu;

	memset(gid, 0, 16);
	gid[10] = gid[11] = 0xff;
	gid[12] = 127;
	gid[13] = (uint8_t)(64 + (n >> 16));
	gid[14] = (uint8_t)(n >> 8);
	gid[15] = (uint8_t)(n % 256 == 255 ? 254 : n % 256);
}

const char *vc_another_address;

/* ref0 reads its settings when it is opened; most that are there already are the user's. */
static void settings_of_ref0(unsigned number, bool keep_address)
{
	const char *more = vc_another_address;
	char text[INET_ADDRSTRLEN + 48];
	uint8_t gid[16];

	vc_loopback(gid, 2 * number);
	if (inet_ntop(AF_INET, gid + 12, text, INET_ADDRSTRLEN) != NULL) {
		size_t n = strlen(text);

		(void)snprintf(text + n, sizeof(text) - n, "%s%s", more != NULL ? "\n" : "", more != NULL ? more : "");
		(void)setenv("VS_IP", text, !keep_address);
	}
	(void)setenv("VS_QUIET", "1", 0);
	(void)setenv("VS_NO_GSO", "1", 1);
	(void)setenv("VS_NO_AWAIT", "1", 1); /* the peer is no process that will listen soon */
}

/* ---- the device ---- */

static struct ibv_device *find(struct vc_verbs *v, struct ibv_device **list, const char *name, char *why, size_t cap)
{
	size_t at;

	(void)snprintf(why, cap, "there is no device %s; there are:", name);
	for (unsigned i = 0; list != NULL && list[i] != NULL; i++) {
		if (strcmp(v->call.get_device_name(list[i]), name) == 0)
			return list[i];
		at = strlen(why);
		(void)snprintf(why + at, cap - at, " %s", v->call.get_device_name(list[i]));
	}
	at = strlen(why);
	(void)snprintf(why + at, cap - at, " sim, ref0");
	return NULL;
}

void vc_gid_found(struct vc_gids *g, const struct vc_peer *peer, unsigned index, const uint8_t gid[16], bool v1)
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff}, none[16];
	bool v4 = memcmp(gid, mapped, 12) == 0;
	int encap = v1 ? EN_ROCEV1 : v4 ? EN_ROCEV2_IPV4 : EN_ROCEV2_IPV6;

	if (memcmp(gid, none, 16) == 0)
		return;
	/* An address of one link alone, where there is another: whoever answers has to guess the link. */
	if (g->has[encap] && gid[0] == 0xfe && (gid[1] & 0xc0) == 0x80)
		return;
	if (g->has[encap] && !vc_peer_is_nearer(peer, encap, gid, g->gid[encap]))
		return;
	g->has[encap] = true;
	g->index[encap] = (uint8_t)index;
	memcpy(g->gid[encap], gid, 16);
}

/* Of what kind a GID is, libibverbs says since version 36; before, those of RoCEv2 come behind those of RoCEv1. */
static bool is_v1(struct vc_verbs *v, int index)
{
	struct ibv_gid_entry e = {.gid_type = IBV_GID_TYPE_ROCE_V2};

	return v->gid_ex != NULL && v->gid_ex(v->ctx, 1, (uint32_t)index, &e, 0, sizeof(e)) == 0 &&
	       e.gid_type == IBV_GID_TYPE_ROCE_V1;
}

static bool find_gids(struct vc_verbs *v, char *why, size_t cap)
{
	for (int i = 0; i < MAX_GIDS; i++) {
		union ibv_gid g;

		if (v->call.query_gid(v->ctx, 1, i, &g) == 0)
			vc_gid_found(&v->gids, v->peer, (unsigned)i, g.raw, is_v1(v, i));
	}
	if (v->gids.has[EN_ROCEV2_IPV4])
		return true;
	(void)snprintf(why, cap, "port 1 of the device has no GID of an IPv4 address: give its interface an address");
	return false;
}

/* The request that ibv_wr_post(3) alone has; its bit among the capabilities, for which libibverbs 44 has no name. */
#define CAP_ATOMIC_WRITE (UINT64_C(1) << 40)

static bool has_atomic_write(struct ibv_context *ctx)
{
	struct verbs_context *x = verbs_get_ctx(ctx); /* as big as the library that made it knows: both calls are old */
	struct ibv_device_attr_ex a = {.comp_mask = 0};

	return x != NULL && x->query_device_ex != NULL && x->create_qp_ex != NULL &&
	       x->query_device_ex(ctx, NULL, &a, sizeof(a)) == 0 && (a.device_cap_flags_ex & CAP_ATOMIC_WRITE) != 0;
}

static bool open_device(struct vc_verbs *v, const char *name, char *why, size_t cap)
{
	struct ibv_device **list = v->call.get_device_list(NULL), *d;

	d = find(v, list, name, why, cap);
	if (d == NULL) {
		if (list != NULL)
			v->call.free_device_list(list);
		return false;
	}
	errno = 0;
	v->ctx = v->call.open_device(d);
	v->call.free_device_list(list);
	if (v->ctx == NULL) {
		(void)snprintf(why, cap, "%s can't be opened: %s", name, strerror(errno != 0 ? errno : EIO));
		return false;
	}
	(void)fcntl(v->ctx->async_fd, F_SETFL, fcntl(v->ctx->async_fd, F_GETFL) | O_NONBLOCK);
	if (v->call.query_device(v->ctx, &v->attr) != 0) {
		(void)snprintf(why, cap, "%s does not say what it can do", name);
		return false;
	}
	v->atomic_write = has_atomic_write(v->ctx);
	return find_gids(v, why, cap);
}

bool vc_library_open(struct vc_verbs *v, char *why, size_t cap)
{
	return load(v, "libibverbs.so.1", why, cap);
}

bool vc_device_open(struct vc_verbs *v, const char *name, bool keep_address, char *why, size_t cap)
{
	const char *path;

	v->reference = strcmp(name, "ref0") == 0;
	if (!v->reference)
		return vc_library_open(v, why, cap) && open_device(v, name, why, cap);
	path = library_of_ref0();
	if (path == NULL) {
		(void)snprintf(
			why, cap,
			"the library of ref0 is not there: ../lib/verbscope/libibverbs.so.1 beside this program");
		return false;
	}
	if (!load(v, path, why, cap))
		return false;
	/* An address that another process has is noticed when the device is opened. */
	for (unsigned i = 0; v->ctx == NULL && i < (keep_address ? 1 : TRIES); i++) {
		settings_of_ref0(i, keep_address);
		(void)open_device(v, name, why, cap);
	}
	return v->ctx != NULL;
}
