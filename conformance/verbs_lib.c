/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * verbs_lib.c - libibverbs, opened when it is needed, so that this program starts where there is none; ref0's by its
 * path, the system's by its name. One of the two in a process.
 *
 * ref0 gets an address of its own on the loopback, 127.x.y.z, and so does the peer: as many processes as there are
 * addresses can run at the same time.
 */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "verbs.h"

#define TRIES 16u

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
	void *lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	if (lib == NULL) {
		(void)snprintf(why, cap, "there is no libibverbs (%s): install it, or use --device ref0", dlerror());
		return false;
	}
#define X(ret, name, args)                                         \
	if (!resolve(lib, #name, (void *)&v->call.name, why, cap)) \
		return false;
	VC_IBV_CALLS(X)
#undef X
	return true;
}

/* ---- addresses ---- */

/* ::ffff:127.x.y.z, different for every process and every try. */
static void loopback(uint8_t gid[16], unsigned number)
{
	uint32_t n = ((uint32_t)getpid() * 64u + number) & 0x3fffffu;

	memset(gid, 0, 16);
	gid[10] = gid[11] = 0xff;
	gid[12] = 127;
	gid[13] = (uint8_t)(64 + (n >> 16));
	gid[14] = (uint8_t)(n >> 8);
	gid[15] = (uint8_t)(n % 256 == 255 ? 254 : n % 256);
}

static bool open_peer(struct vc_verbs *v, const char *address, char *why, size_t cap)
{
	struct vs_udpio_attr a = {.n_addrs = 1, .no_gso = true, .stamps = true};
	struct vs_io_error err;
	int code = VS_ERR_BUSY;

	for (unsigned i = 0; v->wire == NULL && code == VS_ERR_BUSY && i < TRIES; i++) {
		if (address == NULL) {
			loopback(v->peer_gid, 2 * i + 1);
		} else if (inet_pton(AF_INET, address, v->peer_gid + 12) != 1) {
			(void)snprintf(why, cap, "--peer udp:%s: this is no IPv4 address", address);
			return false;
		}
		v->peer_gid[10] = v->peer_gid[11] = 0xff;
		memcpy(a.addr[0], v->peer_gid, 16);
		v->wire = vs_udpio_open(&a, &code, &err);
		if (address != NULL)
			break;
	}
	if (v->wire == NULL)
		(void)snprintf(why, cap, "the peer's socket can't be opened: %.200s", err.text);
	return v->wire != NULL;
}

/* ref0 reads its settings when it is opened; those that are there already are the user's. */
static void settings_of_ref0(unsigned number)
{
	char text[INET_ADDRSTRLEN];
	uint8_t gid[16];

	loopback(gid, 2 * number);
	if (inet_ntop(AF_INET, gid + 12, text, sizeof(text)) != NULL)
		(void)setenv("VS_IP", text, 1);
	(void)setenv("VS_QUIET", "1", 0);
	(void)setenv("VS_NO_GSO", "1", 1);
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

/* The first GID that is an IPv4 address; those of RoCEv2 come behind those of RoCEv1 in most tables. */
static bool find_gid(struct vc_verbs *v, char *why, size_t cap)
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
	bool found = false;

	for (int i = 0; i < 16; i++) {
		union ibv_gid g;

		if (v->call.query_gid(v->ctx, 1, i, &g) != 0 || memcmp(g.raw, mapped, 12) != 0)
			continue;
		memcpy(v->gid, g.raw, 16);
		v->gid_index = (uint8_t)i;
		found = true;
	}
	if (!found)
		(void)snprintf(why, cap,
			       "port 1 of the device has no GID of an IPv4 address: give its interface an address");
	return found;
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
	return find_gid(v, why, cap);
}

static bool open_all(struct vc_verbs *v, const struct vc_options *o, char *why, size_t cap)
{
	const char *path = "libibverbs.so.1";
	const char *address = o->peer != NULL && strncmp(o->peer, "udp:", 4) == 0 ? o->peer + 4 : NULL;

	v->reference = strcmp(o->verbs, "ref0") == 0;
	if (v->reference) {
		path = library_of_ref0();
		if (path == NULL) {
			(void)snprintf(why, cap,
				       "the library of ref0 is not there: ../lib/verbscope/libibverbs.so.1 beside this "
				       "program");
			return false;
		}
	}
	if (!load(v, path, why, cap))
		return false;
	if (v->reference) {
		/* An address that another process has is noticed when the device is opened. */
		for (unsigned i = 0; v->ctx == NULL && i < TRIES; i++) {
			settings_of_ref0(i);
			(void)open_device(v, o->verbs, why, cap);
		}
		return v->ctx != NULL && open_peer(v, address, why, cap);
	}
	return open_device(v, o->verbs, why, cap) && (address == NULL || open_peer(v, address, why, cap));
}

struct vc_verbs *vc_verbs_open(const struct vc_options *o, char *why, size_t cap)
{
	static struct vc_verbs v;
	static bool tried, good;
	static char reason[256];

	if (!tried)
		good = open_all(&v, o, reason, sizeof(reason));
	tried = true;
	(void)snprintf(why, cap, "%s", reason);
	return good ? &v : NULL;
}

/* Opening changes what is loaded into a process: the parent of the workers keeps away from that. */
bool vc_verbs_try(const struct vc_options *o, char *why, size_t cap)
{
	int fd[2], status = 0;
	ssize_t n;
	pid_t pid;

	if (pipe(fd) < 0)
		return false;
	pid = fork();
	if (pid == 0) {
		char text[256] = "";
		bool good = vc_verbs_open(o, text, sizeof(text)) != NULL;

		(void)!write(fd[1], text, good ? 0 : strlen(text));
		_exit(good ? 0 : 1);
	}
	close(fd[1]);
	n = pid > 0 ? read(fd[0], why, cap - 1) : -1;
	why[n > 0 ? n : 0] = '\0';
	close(fd[0]);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (n <= 0 && status != 0)
		(void)snprintf(why, cap, "its library ends the process that opens it");
	return pid > 0 && status == 0;
}
