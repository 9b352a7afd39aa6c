/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * writer.c - capture files out: pcap with nanoseconds, always little-endian, so that the same
 * frames give the same bytes on every machine.
 *
 * Rule: a regular file is written without a name (O_TMPFILE), or where the file system can't do that under another
 * name in the same directory, and gets its own name when it is whole and on the disk; after any failure nothing is left
 * behind, and without a name nothing after a signal either, unless that is asked for. What is no regular file (standard
 * output, a FIFO, /dev/null) is written straight.
 */
#define _GNU_SOURCE /* O_TMPFILE */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/internal.h"
#include "vs/grow.h"

#define MAGIC_NS 0xa1b23c4du
#define SNAPLEN 262144u /* the most that libpcap and Wireshark accept */
#define ERF_LEN 16u
#define ERF_TYPE_INFINIBAND 21
#define ERF_FLAG_VARLEN 0x04 /* records have different lengths */
#define ERF_FLAG_TRUNC 0x08
#define NS_PER_S 1000000000

struct vs_writer {
	enum vs_writer_kind kind;
	bool kept; /* if we are killed */
	FILE *f;
	struct vs_grow *grow; /* frames go through it, not through f; NULL: kept is not asked for, or it can't be */
	char *name;           /* for messages: what the user wrote */
	char *path;           /* where to; NULL when written straight */
	char *tmp;            /* where it is until then; NULL while it has no name */
	struct vs_io_error failed; /* the first failure; "" while there was none */
};

static void put16be(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

static void put32(uint8_t *p, uint32_t v)
{
	for (int i = 0; i < 4; i++)
		p[i] = (uint8_t)(v >> (8 * i));
}

/* ---- opening and closing ---- */

static void writer_free(struct vs_writer *w)
{
	vs_grow_forget(w->grow);
	if (w->f && w->f != stdout)
		fclose(w->f);
	if (w->tmp)
		unlink(w->tmp);
	free(w->tmp);
	free(w->path);
	free(w->name);
	free(w);
}

/* Remembers the first failure of the file system, and tells it. */
static int file_failed(struct vs_writer *w, const char *what, int e, struct vs_io_error *err)
{
	if (w->failed.text[0] == '\0')
		vs_io_fail(&w->failed, VS_ERR_IO, 0, w->name, "%s (%s): %s", what, strerror(e), vs_io_advice(e, true));
	if (err)
		*err = w->failed;
	return VS_ERR_IO;
}

/* Space for the names that a file can have beside w->path. */
static bool room_for_name(struct vs_writer *w)
{
	w->tmp = malloc(strlen(w->path) + 48);
	return w->tmp != NULL;
}

static void nth_name(struct vs_writer *w, unsigned n)
{
	snprintf(w->tmp, strlen(w->path) + 48, "%s.%ld-%u.part", w->path, (long)getpid(), n);
}

static void no_name(struct vs_writer *w)
{
	free(w->tmp);
	w->tmp = NULL;
}

/* How a descriptor is named in /proc, which is what linkat needs. */
static void proc_name(int fd, char name[32])
{
	snprintf(name, 32, "/proc/self/fd/%d", fd);
}

/* A file in the directory of w->path that has no name; -1: the file system has none, or nobody could name it later. */
static int create_nameless(const struct vs_writer *w)
{
	const char *slash = strrchr(w->path, '/');
	char *dir = slash ? strndup(w->path, (size_t)(slash - w->path) + 1) : strdup(".");
	int fd = dir ? open(dir, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666) : -1;
	char name[32];

	free(dir);
	if (fd < 0)
		return -1;
	proc_name(fd, name);
	if (access(name, F_OK) == 0)
		return fd;
	close(fd);
	return -1;
}

/* Creates a file that did not exist beside w->path. The descriptor, or -1 with errno. */
static int create_beside(struct vs_writer *w)
{
	int fd = -1;

	if (!room_for_name(w))
		return -1;
	for (unsigned i = 0; fd < 0 && i < 100; i++) {
		nth_name(w, i);
		fd = open(w->tmp, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (fd < 0 && errno != EEXIST)
			break;
	}
	if (fd < 0)
		no_name(w);
	return fd;
}

/* Names what has none, beside w->path, so that it can be renamed over what is there. */
static int give_name(struct vs_writer *w)
{
	char name[32];
	int ret = -1;

	proc_name(fileno(w->f), name);
	if (!room_for_name(w))
		return -1;
	for (unsigned i = 0; ret != 0 && i < 100; i++) {
		nth_name(w, i);
		ret = linkat(AT_FDCWD, name, AT_FDCWD, w->tmp, AT_SYMLINK_FOLLOW);
		if (ret != 0 && errno != EEXIST)
			break;
	}
	if (ret != 0)
		no_name(w);
	return ret;
}

/*
 * The new file, with the permissions that any new file gets (mkstemp would make it readable for its owner alone), or
 * those of the file that it will replace. The descriptor, or -1 with errno.
 */
static int create(struct vs_writer *w, const struct stat *old)
{
	int fd = w->kept ? -1 : create_nameless(w);

	if (fd < 0)
		fd = create_beside(w);
	if (fd >= 0 && old) /* a private capture stays private; if that is refused, umask rules */
		(void)!fchmod(fd, old->st_mode & 0777);
	return fd;
}

/* Decides between straight and rename, and opens. The descriptor, or -1 with errno. */
static int open_target(struct vs_writer *w, const char *path)
{
	struct stat st;
	bool exists = stat(path, &st) == 0;

	if (path[0] == '\0')
		return -1; /* ENOENT, by stat */
	if (exists) {
		if (S_ISDIR(st.st_mode)) {
			errno = EISDIR;
			return -1;
		}
		if (!S_ISREG(st.st_mode))
			return open(path, O_WRONLY | O_CLOEXEC);
		w->path = realpath(path, NULL); /* a symbolic link stays one */
	} else {
		w->path = strdup(path);
	}
	return w->path ? create(w, exists ? &st : NULL) : -1;
}

static int put_file_header(struct vs_writer *w)
{
	static const uint32_t linktype[] = {
		[VS_WRITER_ETHERNET] = 1,
		[VS_WRITER_RAW_IP] = 101,
		[VS_WRITER_ERF_IB] = 197,
	};
	uint8_t h[24] = {0};

	if (w->kind == VS_WRITER_PCAPNG)
		return 0;
	put32(h, MAGIC_NS);
	h[4] = 2; /* version 2.4 */
	h[6] = 4;
	put32(h + 16, SNAPLEN);
	put32(h + 20, linktype[w->kind]);
	return fwrite(h, sizeof(h), 1, w->f) == 1 && (!w->kept || fflush(w->f) == 0) ? 0 : -1;
}

static struct vs_writer *open_writer(const char *path, enum vs_writer_kind kind, bool kept, struct vs_io_error *err)
{
	struct vs_writer *w = calloc(1, sizeof(*w));
	bool out = strcmp(path, "-") == 0;
	int fd = -1;

	vs_io_ok(err);
	if (w)
		w->name = strdup(out ? "standard output" : path);
	if (!w || !w->name) {
		vs_io_fail(err, VS_ERR_IO, 0, path, "can't be written: no memory");
		free(w);
		return NULL;
	}
	w->kind = kind;
	w->kept = kept;
	if (!out) {
		fd = open_target(w, path);
		w->f = fd >= 0 ? fdopen(fd, "wb") : NULL;
	} else {
		w->f = stdout;
	}
	if (!w->f || put_file_header(w) != 0) {
		int e = errno;

		if (e == EISDIR)
			vs_io_fail(err, VS_ERR_IO, 0, path, "is a directory: name a file in it");
		else
			file_failed(w, "can't be written", e, err);
		if (!w->f && fd >= 0)
			close(fd);
		writer_free(w);
		return NULL;
	}
	if (kept && w->path)
		w->grow = vs_grow_open(fd);
	return w;
}

struct vs_writer *vs_writer_open(const char *path, enum vs_writer_kind kind, struct vs_io_error *err)
{
	return open_writer(path, kind, false, err);
}

struct vs_writer *vs_writer_open_kept(const char *path, enum vs_writer_kind kind, struct vs_io_error *err)
{
	return open_writer(path, kind, true, err);
}

/* To the disk, not only to its cache; a file system that can't (EINVAL) has done what it can. */
static bool synced(const struct vs_writer *w)
{
	return !w->path || fsync(fileno(w->f)) == 0 || errno == EINVAL;
}

/* What was mapped is cut to its length. */
static int close_grow(struct vs_writer *w)
{
	int e = w->grow ? vs_grow_close(w->grow) : 0;

	w->grow = NULL;
	return e;
}

int vs_writer_close(struct vs_writer *w, struct vs_io_error *err)
{
	int e = close_grow(w), ret = 0;

	vs_io_ok(err);
	if (e != 0)
		(void)file_failed(w, "can't be written to the end", e, NULL);
	if (w->failed.text[0] != '\0')
		ret = file_failed(w, "", 0, err);
	else if (fflush(w->f) != 0 || !synced(w))
		ret = file_failed(w, "can't be written to the end", errno, err);
	else if (w->path && !w->tmp && give_name(w) != 0)
		ret = file_failed(w, "can't be put in place", errno, err);
	if (w->f != stdout) {
		if (fclose(w->f) != 0 && ret == 0)
			ret = file_failed(w, "can't be written to the end", errno, err);
		w->f = NULL;
	}
	if (ret == 0 && w->tmp) {
		if (rename(w->tmp, w->path) != 0) {
			ret = file_failed(w, "can't be put in place", errno, err);
		} else {
			free(w->tmp);
			w->tmp = NULL;
		}
	}
	writer_free(w);
	return ret;
}

void vs_writer_abort(struct vs_writer *w)
{
	if (w)
		writer_free(w);
}

void vs_writer_forget(struct vs_writer *w)
{
	int null;

	if (!w)
		return;
	null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (null >= 0) {
		(void)dup2(null, fileno(w->f));
		close(null);
	}
	free(w->tmp);
	w->tmp = NULL;
	writer_free(w);
}

/* ---- records ---- */

/*
 * An ERF header. Its fraction of a second counts in 2^-32 s, finer than a nanosecond: rounding up
 * means that readers get the nanosecond back whether they cut the fraction or round it.
 */
static void put_erf_header(uint8_t *h, uint32_t sec, uint32_t ns, uint32_t caplen, uint32_t wirelen)
{
	uint64_t frac = (((uint64_t)ns << 32) + NS_PER_S - 1) / NS_PER_S;

	put32(h, (uint32_t)frac);
	put32(h + 4, sec);
	h[8] = ERF_TYPE_INFINIBAND;
	h[9] = (uint8_t)(ERF_FLAG_VARLEN | (caplen < wirelen ? ERF_FLAG_TRUNC : 0));
	put16be(h + 10, ERF_LEN + caplen);
	put16be(h + 12, 0); /* no frame lost before this one */
	put16be(h + 14, wirelen);
}

static int check_args(const struct vs_writer *w, int64_t time_ns, uint32_t caplen, uint32_t wirelen,
		      struct vs_io_error *err)
{
	uint32_t most = w->kind == VS_WRITER_ERF_IB ? UINT16_MAX - ERF_LEN : SNAPLEN;

	if (w->kind == VS_WRITER_PCAPNG)
		return vs_io_fail(err, VS_ERR_INVAL, 0, w->name, "a pcapng is made of blocks");
	if (caplen > wirelen)
		return vs_io_fail(err, VS_ERR_INVAL, 0, w->name, "a frame of %u bytes can't have %u captured", wirelen,
				  caplen);
	if (caplen > most)
		return vs_io_fail(err, VS_ERR_INVAL, 0, w->name, "a frame of %u captured bytes is too long: %u at most",
				  caplen, most);
	if (w->kind == VS_WRITER_ERF_IB && wirelen > UINT16_MAX)
		return vs_io_fail(err, VS_ERR_INVAL, 0, w->name,
				  "a frame of %u bytes is too long for ERF: 65535 at most", wirelen);
	if (time_ns < 0 || time_ns / NS_PER_S > UINT32_MAX)
		return vs_io_fail(err, VS_ERR_INVAL, 0, w->name,
				  "a time of %lld ns does not fit: pcap holds 1970 to 2106", (long long)time_ns);
	return 0;
}

int vs_writer_put(struct vs_writer *w, int64_t time_ns, const uint8_t *data, uint32_t caplen, uint32_t wirelen,
		  struct vs_io_error *err)
{
	uint8_t h[16 + ERF_LEN];
	uint32_t extra = w->kind == VS_WRITER_ERF_IB ? ERF_LEN : 0;
	int ret = check_args(w, time_ns, caplen, wirelen, err), e = 0;

	if (ret != 0)
		return ret;
	if (w->failed.text[0] != '\0')
		return file_failed(w, "", 0, err);
	put32(h, (uint32_t)(time_ns / NS_PER_S));
	put32(h + 4, (uint32_t)(time_ns % NS_PER_S));
	put32(h + 8, extra + caplen);
	put32(h + 12, extra + wirelen);
	if (extra)
		put_erf_header(h + 16, (uint32_t)(time_ns / NS_PER_S), (uint32_t)(time_ns % NS_PER_S), caplen, wirelen);
	if (w->grow)
		e = vs_grow_put(w->grow, h, 16 + extra, data, caplen);
	else if (fwrite(h, 16 + extra, 1, w->f) != 1 || (caplen && fwrite(data, caplen, 1, w->f) != 1) ||
		 (w->kept && fflush(w->f) != 0))
		e = errno;
	if (e != 0)
		return file_failed(w, "can't be written", e, err);
	vs_io_ok(err);
	return 0;
}

int vs_writer_block(struct vs_writer *w, const uint8_t *data, size_t len, struct vs_io_error *err)
{
	if (w->failed.text[0] != '\0')
		return file_failed(w, "", 0, err);
	if (len > 0 && fwrite(data, len, 1, w->f) != 1)
		return file_failed(w, "can't be written", errno, err);
	return 0;
}
