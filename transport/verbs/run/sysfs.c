/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * sysfs.c - the files that a kernel would have of ref0 below /sys/class and /dev/infiniband, for programs that look
 * there (--view). Each says what the verbs say; what the kernel alone could tell (PCI, live counters) has no file. The
 * device nodes are the null device: programs look whether they are there and opened by no one, since the library is.
 */
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "verbs/identity.h"
#include "verbs/run/run.h"

#define DEVICE "ref0"
#define NODE "uverbs0"

/* A folder with its parents; -1 with errno. */
static int make_folder(int at, const char *path)
{
	char part[160];

	for (size_t i = 1; path[i - 1] != '\0' && i < sizeof(part); i++) {
		if (path[i] != '/' && path[i] != '\0')
			continue;
		snprintf(part, sizeof(part), "%.*s", (int)i, path);
		(void)mkdirat(at, part, 0755); /* it may be there */
	}
	return faccessat(at, path, F_OK, 0);
}

/* A file with one line. */
__attribute__((format(printf, 3, 4))) static bool put(int at, const char *path, const char *fmt, ...)
{
	char line[128];
	va_list ap;
	int fd = openat(at, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444), n;
	bool ok;

	if (fd < 0)
		return false;
	va_start(ap, fmt);
	n = vsnprintf(line, sizeof(line) - 1, fmt, ap);
	va_end(ap);
	line[n++] = '\n';
	ok = write(fd, line, (size_t)n) == n;
	return close(fd) == 0 && ok;
}

static void guid_text(const uint8_t gid[16], char text[20])
{
	uint64_t g = ref_guid_of(gid);

	snprintf(text, 20, "%04x:%04x:%04x:%04x", (unsigned)(g >> 48), (unsigned)(g >> 32 & 0xffff),
		 (unsigned)(g >> 16 & 0xffff), (unsigned)(g & 0xffff));
}

static void gid_text(const uint8_t gid[16], char text[40])
{
	for (int i = 0; i < 8; i++)
		snprintf(text + 5 * (size_t)i, 6, "%02x%02x%s", gid[2 * i], gid[2 * i + 1], i < 7 ? ":" : "");
}

static bool put_port(int at, const uint8_t gid[][16], unsigned n)
{
	bool ok = put(at, "state", "4: ACTIVE") && put(at, "phys_state", "5: LinkUp") && put(at, "lid", "0x0") &&
		  put(at, "sm_lid", "0x0") && put(at, "sm_sl", "0") && put(at, "lid_mask_count", "0") &&
		  put(at, "rate", "40 Gb/sec (4X QDR)") && put(at, "cap_mask", "0x04010000") &&
		  put(at, "link_layer", "Ethernet") && make_folder(at, "pkeys") == 0 && put(at, "pkeys/0", "0xffff") &&
		  make_folder(at, "gids") == 0 && make_folder(at, "gid_attrs/types") == 0 &&
		  make_folder(at, "gid_attrs/ndevs") == 0;

	for (unsigned i = 0; ok && i < n; i++) {
		char path[40], text[40], name[IF_NAMESIZE];

		gid_text(gid[i], text);
		ref_interface_of(gid[i], name);
		snprintf(path, sizeof(path), "gids/%u", i);
		ok = put(at, path, "%s", text);
		snprintf(path, sizeof(path), "gid_attrs/types/%u", i);
		ok = ok && put(at, path, "RoCE v2");
		snprintf(path, sizeof(path), "gid_attrs/ndevs/%u", i);
		ok = ok && put(at, path, "%s", name);
	}
	return ok;
}

bool run_sysfs_device(int at, const uint8_t gid[][16], unsigned n)
{
	char guid[20], name[IF_NAMESIZE], link[64], target[64];
	int port;
	bool ok;

	guid_text(gid[0], guid);
	ref_interface_of(gid[0], name);
	if (make_folder(at, DEVICE "/ports/1") != 0 || make_folder(at, DEVICE "/device/net") != 0 ||
	    make_folder(at, DEVICE "/device/infiniband_verbs/" NODE) != 0)
		return false;
	snprintf(link, sizeof(link), DEVICE "/device/net/%s", name);
	snprintf(target, sizeof(target), "/sys/class/net/%s", name);
	port = openat(at, DEVICE "/ports/1", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ok = port >= 0 && put(at, DEVICE "/node_type", "1: CA") && put(at, DEVICE "/node_guid", "%s", guid) &&
	     put(at, DEVICE "/sys_image_guid", "%s", guid) && put(at, DEVICE "/node_desc", DEVICE) &&
	     put(at, DEVICE "/fw_ver", "%s", VS_VERSION) && symlinkat(target, at, link) == 0 && put_port(port, gid, n);
	if (port >= 0)
		close(port);
	return ok;
}

bool run_sysfs_verbs(int at)
{
	return put(at, "abi_version", "6") && make_folder(at, NODE) == 0 && put(at, NODE "/ibdev", DEVICE) &&
	       put(at, NODE "/abi_version", "1") &&
	       symlinkat("/sys/class/infiniband/" DEVICE "/device", at, NODE "/device") == 0;
}
