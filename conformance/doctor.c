/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * doctor.c - vs-conform doctor: what this host and its devices allow, before a run, each with what to do.
 *
 *   ok    it is as it should be
 *   note  good to know; something can't be shown that way
 *   BAD   a run would fail or mean nothing
 *
 * Devices are looked at through sysfs, so that a driver that hangs does not hang this. VS_CONFORM_ROOT names another
 * root for what is read, for tests.
 */
#include <dirent.h>
#include <errno.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "conform.h"

#define CAP_NET_RAW_BIT 13
#define ROCE_HEADERS 74 /* Ethernet apart: IPv4, UDP, BTH, RETH, ICRC */
#define WANTED_RMEM (4 << 20)
#define MAX_GIDS 32
#define WANTED_QLEN 512
#define ETHERNET "1" /* ARPHRD_ETHER */

struct doctor {
	const char *root;
	unsigned bad;
	unsigned devices;
};

enum finding { OK, NOTE, BAD };

__attribute__((format(printf, 3, 4))) static void say(struct doctor *d, enum finding f, const char *format, ...)
{
	static const char *const words[] = {"ok  ", "note", "BAD "};
	char text[512];
	va_list ap;

	va_start(ap, format);
	(void)vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	printf("%s  ", words[f]);
	vs_cli_put_lines(stdout, text);
	putchar('\n');
	d->bad += f == BAD;
}

/* First line of a file below the root, without its newline. */
static bool line_of(const struct doctor *d, const char *path, char *buf, size_t cap)
{
	char full[1024];
	FILE *f;
	bool good;

	(void)snprintf(full, sizeof(full), "%s%s", d->root, path);
	f = fopen(full, "r");
	buf[0] = '\0';
	good = f != NULL && fgets(buf, (int)cap, f) != NULL;
	if (f != NULL)
		fclose(f);
	buf[strcspn(buf, "\n")] = '\0';
	return good;
}

static bool there(const struct doctor *d, const char *path)
{
	char full[1024];

	(void)snprintf(full, sizeof(full), "%s%s", d->root, path);
	return access(full, F_OK) == 0;
}

/* ---- the host ---- */

static void memlock(struct doctor *d)
{
	struct rlimit r;

	if (getrlimit(RLIMIT_MEMLOCK, &r) != 0)
		return;
	if (r.rlim_cur == RLIM_INFINITY || r.rlim_cur >= 64u << 20)
		say(d, OK, "memlock is enough for regions of real devices");
	else
		say(d, NOTE,
		    "memlock is %llu KiB: a real device may refuse regions; 'ulimit -l unlimited', or LimitMEMLOCK=",
		    (unsigned long long)r.rlim_cur / 1024);
}

static void receive_buffer(struct doctor *d)
{
	char text[64];
	long most;

	if (!line_of(d, "/proc/sys/net/core/rmem_max", text, sizeof(text)))
		return;
	most = atol(text);
	if (most >= WANTED_RMEM)
		say(d, OK, "sockets may have receive buffers of %ld KiB", most / 1024);
	else
		say(d, NOTE,
		    "net.core.rmem_max is %ld: bursts of a fast device may be lost at the peer's socket; 'sysctl "
		    "net.core.rmem_max=%d'",
		    most, WANTED_RMEM);
}

static bool may_capture(const struct doctor *d)
{
	char full[1024], text[256];
	bool may = false;
	FILE *f;

	(void)snprintf(full, sizeof(full), "%s/proc/self/status", d->root);
	f = fopen(full, "r");
	while (f != NULL && fgets(text, sizeof(text), f) != NULL)
		if (strncmp(text, "CapEff:", 7) == 0)
			may = strtoull(text + 7, NULL, 16) >> CAP_NET_RAW_BIT & 1;
	if (f != NULL)
		fclose(f);
	return may;
}

static void rights(struct doctor *d)
{
	if (may_capture(d))
		say(d, OK, "this process may capture and inject (CAP_NET_RAW)");
	else
		say(d, NOTE,
		    "this process may not capture and inject: cases that need other headers than a socket sends are "
		    "skipped");
	if (there(d, "/proc/self/schedstat"))
		say(d, OK, "the kernel tells how long threads wait for a processor");
	else
		say(d, NOTE,
		    "the kernel does not tell how long threads wait (CONFIG_SCHED_INFO): on a busy host a FAIL may be "
		    "the host's");
}

static void firewall(struct doctor *d)
{
	char text[64];

	if (line_of(d, "/proc/net/ip_tables_names", text, sizeof(text)) && text[0] != '\0')
		say(d, NOTE,
		    "the host has iptables rules: UDP port 4791 has to pass between device and peer ('iptables -L "
		    "-n')");
	else
		say(d, OK, "no iptables rules are seen (nftables: 'nft list ruleset')");
}

static void soft_roce(struct doctor *d)
{
	if (there(d, "/sys/module/rdma_rxe"))
		say(d, NOTE,
		    "rdma_rxe is loaded: it owns UDP port 4791 on every address, so that ref0 and peers on sockets "
		    "can't be used ('modprobe -r rdma_rxe', or 'vs-run --netns')");
	else
		say(d, OK, "rdma_rxe is not loaded: UDP port 4791 is free for ref0 and for peers");
}

/* ---- peers ---- */

/* Of an interface whose peer could be raw:. */
static void interface(struct doctor *d, const char *name)
{
	char path[512], text[64];
	long mtu;

	(void)snprintf(path, sizeof(path), "/sys/class/net/%.64s/type", name);
	if (!line_of(d, path, text, sizeof(text)) || strcmp(text, ETHERNET) != 0)
		return;
	(void)snprintf(path, sizeof(path), "/sys/class/net/%.64s/flags", name);
	if (!line_of(d, path, text, sizeof(text)) || !(strtoul(text, NULL, 16) & IFF_UP)) {
		say(d, NOTE, "%s is down: for --peer raw:%s 'ip link set %s up'", name, name, name);
		return;
	}
	(void)snprintf(path, sizeof(path), "/sys/class/net/%.64s/mtu", name);
	(void)line_of(d, path, text, sizeof(text));
	mtu = atol(text);
	if (mtu >= 4096 + ROCE_HEADERS)
		say(d, OK, "--peer raw:%s,ip=ADDRESS: an address in the network of the device, that no host has", name);
	else
		say(d, NOTE,
		    "--peer raw:%s,ip=ADDRESS: its MTU of %ld takes no path MTU of 4096; 'ip link set %s mtu 4200'",
		    name, mtu, name);
}

static void peers(struct doctor *d)
{
	char full[1024], text[64];
	const struct dirent *e;
	DIR *dir;

	(void)snprintf(full, sizeof(full), "%s/sys/class/net", d->root);
	dir = may_capture(d) ? opendir(full) : NULL; /* else it is said already */
	while (dir != NULL && (e = readdir(dir)) != NULL)
		if (e->d_name[0] != '.')
			interface(d, e->d_name);
	if (dir != NULL)
		closedir(dir);
	if (!line_of(d, "/proc/sys/net/unix/max_dgram_qlen", text, sizeof(text)))
		return;
	if (atol(text) >= WANTED_QLEN)
		say(d, OK, "--peer unix:PATH needs no privilege; %s frames can wait in a socket", text);
	else
		say(d, NOTE,
		    "--peer unix:PATH needs no privilege, but only %s frames can wait in a socket, and a virtual "
		    "machine "
		    "waits for the peer; 'sysctl net.unix.max_dgram_qlen=%d'",
		    text, WANTED_QLEN);
}

/* ---- devices ---- */

static void mtu_of(struct doctor *d, const char *dev, const char *netdev)
{
	char path[512], text[64];
	long mtu;

	(void)snprintf(path, sizeof(path), "/sys/class/net/%s/mtu", netdev);
	if (!line_of(d, path, text, sizeof(text)))
		return;
	mtu = atol(text);
	if (mtu >= 4096 + ROCE_HEADERS)
		say(d, OK, "%s: the MTU of %s (%ld) takes packets of every path MTU", dev, netdev, mtu);
	else
		say(d, NOTE,
		    "%s: the MTU of %s is %ld: vectors with a path MTU that does not fit are refused; 'ip link set %s "
		    "mtu "
		    "4200'",
		    dev, netdev, mtu, netdev);
}

static void gids(struct doctor *d, const char *dev)
{
	char path[512], gid[64], type[64], netdev[64] = "";
	unsigned all = 0, v4 = 0;

	for (unsigned i = 0; i < MAX_GIDS; i++) {
		(void)snprintf(path, sizeof(path), "/sys/class/infiniband/%s/ports/1/gids/%u", dev, i);
		if (!line_of(d, path, gid, sizeof(gid)) || strcmp(gid, "0000:0000:0000:0000:0000:0000:0000:0000") == 0)
			continue;
		all++;
		(void)snprintf(path, sizeof(path), "/sys/class/infiniband/%s/ports/1/gid_attrs/types/%u", dev, i);
		(void)line_of(d, path, type, sizeof(type));
		if (strncmp(gid, "0000:0000:0000:0000:0000:ffff:", 30) != 0 || strstr(type, "v2") == NULL)
			continue;
		v4++;
		(void)snprintf(path, sizeof(path), "/sys/class/infiniband/%s/ports/1/gid_attrs/ndevs/%u", dev, i);
		(void)line_of(d, path, netdev, sizeof(netdev));
	}
	if (v4 > 0)
		say(d, OK, "%s: %u GIDs, %u of them RoCEv2 over IPv4", dev, all, v4);
	else
		say(d, BAD,
		    "%s: none of its %u GIDs is RoCEv2 over IPv4: give its interface an IPv4 address ('ip address "
		    "add')",
		    dev, all);
	if (netdev[0] != '\0')
		mtu_of(d, dev, netdev);
}

static void congestion(struct doctor *d, const char *dev)
{
	char path[512], text[64];

	(void)snprintf(path, sizeof(path), "/sys/class/infiniband/%s/tc/1/traffic_class", dev);
	if (line_of(d, path, text, sizeof(text)))
		say(d, NOTE, "%s: traffic class %s is put into every packet: cases that look at it differ", dev, text);
	(void)snprintf(path, sizeof(path), "/sys/class/infiniband/%s/ports/1/hw_counters/np_cnp_sent", dev);
	if (line_of(d, path, text, sizeof(text)))
		say(d, OK, "%s: it counts CNPs (%s sent so far): it reacts to ECN marks", dev, text);
}

static void device(struct doctor *d, const char *dev)
{
	char path[512], text[64];

	d->devices++;
	(void)snprintf(path, sizeof(path), "/sys/class/infiniband/%s/ports/1/state", dev);
	(void)line_of(d, path, text, sizeof(text));
	if (strstr(text, "ACTIVE") == NULL) {
		say(d, BAD, "%s: port 1 is not active (%s): bring its interface up", dev,
		    text[0] != '\0' ? text : "no such port");
		return;
	}
	(void)snprintf(path, sizeof(path), "/sys/class/infiniband/%s/ports/1/link_layer", dev);
	(void)line_of(d, path, text, sizeof(text));
	say(d, OK, "%s: port 1 is active, link layer %s", dev, text);
	if (strcmp(text, "Ethernet") == 0)
		gids(d, dev);
	else
		say(d, NOTE, "%s: on InfiniBand only cases with two ends on the device run (--peer loop)", dev);
	congestion(d, dev);
}

static void devices(struct doctor *d)
{
	char full[1024];
	DIR *dir;
	const struct dirent *e;

	(void)snprintf(full, sizeof(full), "%s/sys/class/infiniband", d->root);
	dir = opendir(full);
	while (dir != NULL && (e = readdir(dir)) != NULL)
		if (e->d_name[0] != '.')
			device(d, e->d_name);
	if (dir != NULL)
		closedir(dir);
	if (d->devices == 0)
		say(d, NOTE, "the kernel has no RDMA device: sim and ref0 need none");
}

/* ---- what can be run ---- */

static void suite(struct doctor *d, const char *dir)
{
	struct vc_suite s;

	if (dir == NULL) {
		say(d, BAD, "there are no cases: --cases names the folder with inventory.tsv and cases/");
		return;
	}
	if (vc_suite_read(&s, dir, NULL, 0) == VC_OK)
		say(d, s.n > 0 ? OK : BAD, "%s has %zu case files, for %zu rows", dir, s.n, s.inv.n);
	else
		say(d, BAD, "%s can't be read", dir);
	vc_suite_free(&s);
}

static void can_open(struct doctor *d, const char *name)
{
	struct vc_options o = {.name = name, .verbs = name};
	char why[256];

	if (vc_verbs_try(&o, why, sizeof(why)))
		say(d, OK, "%s can be opened", name);
	else
		say(d, BAD, "%s: %s", name, why);
}

int vc_doctor(int argc, char **argv)
{
	const char *root = getenv("VS_CONFORM_ROOT");
	struct doctor d = {.root = root != NULL ? root : ""};

	for (int i = 0; i < argc; i++) {
		if (argv[i][0] != '-')
			continue;
		vc_complain("doctor takes names of devices, no options: vs-conform doctor [DEVICE...]");
		return VC_USAGE;
	}
	suite(&d, vc_suite_default());
	memlock(&d);
	receive_buffer(&d);
	rights(&d);
	firewall(&d);
	soft_roce(&d);
	peers(&d);
	devices(&d);
	if (argc == 0 && !there(&d, "/sys/module/rdma_rxe"))
		can_open(&d, "ref0");
	for (int i = 0; i < argc; i++)
		if (strcmp(argv[i], "sim") != 0)
			can_open(&d, argv[i]);
	if (vc_flush() != VC_OK)
		return VC_USAGE;
	return d.bad > 0 ? VC_FAILED : VC_OK;
}
