/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * soak_mem.c - the memory of a simulated host, and the model of what it must hold.
 *
 * `image` is what the device reads and writes, `model` what must be there. A byte is `open` while a request in
 * flight may change it; every other byte must equal the model at any time. Ranges are given out with a guard
 * block behind them, at odd addresses; everything is filled with noise first, so that no stray byte looks right.
 */
#include <stdlib.h>
#include <string.h>

#include "soak.h"

static uint64_t mix(uint64_t z)
{
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

uint64_t roll(struct dice *d)
{
	return mix(d->state += 0x9e3779b97f4a7c15ull);
}

/* Bytes [from, from + len) of the payload `tag`: any part of it can be made alone. */
void content(uint64_t tag, uint32_t from, uint8_t *dst, uint32_t len)
{
	for (uint32_t i = 0; i < len;) {
		uint32_t at = from + i, skip = at % 8, n = 8 - skip < len - i ? 8 - skip : len - i;
		uint64_t v = mix(tag + (uint64_t)(at / 8) * 0x9e3779b97f4a7c15ull);

		if (n == 8)
			memcpy(dst + i, &v, 8);
		else
			memcpy(dst + i, (const uint8_t *)&v + skip, n);
		i += n;
	}
}

/* The device sees the arena at an address that is no pointer. */
uint64_t mem_address(const struct soak *s, const struct host *h)
{
	return 0x7000000000ull + (uint64_t)(host_index(s, h) + 1) * 0x10000000ull;
}

void mem_make(struct soak *s, struct host *h)
{
	h->image = malloc(ARENA);
	h->model = malloc(ARENA);
	h->open = calloc(1, ARENA);
	if (h->image == NULL || h->model == NULL || h->open == NULL)
		abort();
	content(roll(&s->dice), 0, h->image, ARENA);
	memcpy(h->model, h->image, ARENA);
}

void mem_free(struct host *h)
{
	free(h->image);
	free(h->model);
	free(h->open);
	h->image = h->model = h->open = NULL;
}

/* ---- what the device is given ---- */

struct port {
	struct soak *s;
	struct host *h;
};
static struct port ports[MAX_HOSTS];

static uint8_t *place(void *ctx, uint64_t addr, uint64_t len)
{
	struct port *p = ctx;
	uint64_t off = addr - mem_address(p->s, p->h);

	REQUIRE(p->s, off <= ARENA && len <= ARENA - off, "host %u: the device touches %llx+%llu, outside its memory",
		host_index(p->s, p->h), (unsigned long long)addr, (unsigned long long)len);
	return p->h->image + off;
}

static void dma_read(void *ctx, uint64_t addr, void *dst, uint32_t len)
{
	memcpy(dst, place(ctx, addr, len), len);
}

static void dma_write(void *ctx, uint64_t addr, const void *src, uint32_t len)
{
	memcpy(place(ctx, addr, len), src, len);
}

static uint64_t dma_fetch_add(void *ctx, uint64_t addr, uint64_t add)
{
	uint8_t *p = place(ctx, addr, 8);
	uint64_t before, after;

	memcpy(&before, p, 8);
	after = before + add;
	memcpy(p, &after, 8);
	return before;
}

static uint64_t dma_cmp_swap(void *ctx, uint64_t addr, uint64_t compare, uint64_t swap)
{
	uint8_t *p = place(ctx, addr, 8);
	uint64_t before;

	memcpy(&before, p, 8);
	if (before == compare)
		memcpy(p, &swap, 8);
	return before;
}

static void dma_write8(void *ctx, uint64_t addr, uint64_t value)
{
	memcpy(place(ctx, addr, 8), &value, 8);
}

static void dma_flush(void *ctx, uint64_t addr, uint64_t len, uint8_t plt)
{
	struct port *p = ctx;

	(void)place(ctx, addr, len);
	REQUIRE(p->s, plt >= 1 && plt <= 3, "FLUSH with placement type %u", plt);
	p->s->flushes[host_index(p->s, p->h)]++;
}

struct vs_dma_ops mem_dma(struct soak *s, struct host *h)
{
	struct port *p = &ports[host_index(s, h)];

	*p = (struct port){s, h};
	return (struct vs_dma_ops){dma_read, dma_write, dma_fetch_add, dma_cmp_swap, dma_write8, dma_flush, p};
}

/* ---- giving out ---- */

bool mem_take(struct soak *s, struct host *h, enum part part, uint32_t len, uint32_t align, struct range *r)
{
	uint32_t shift = align >= BLOCK ? 0 : below(&s->dice, BLOCK) / align * align;
	uint32_t need = (shift + len + BLOCK - 1) / BLOCK + 1, run = 0;
	uint32_t first = part == FOR_RECEIVES ? 0 : RECEIVE_BLOCKS;
	uint32_t n = part == FOR_RECEIVES ? RECEIVE_BLOCKS : BLOCKS - RECEIVE_BLOCKS;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t at = (h->hint[part] + i) % n;

		run = at == 0 || h->taken[first + at] ? 0 : run + 1;
		if (run < need)
			continue;
		at -= need - 1;
		memset(h->taken + first + at, 1, need);
		h->hint[part] = (at + need) % n;
		*r = (struct range){(first + at) * BLOCK + shift, len};
		return true;
	}
	return false;
}

void mem_give(struct host *h, struct range r)
{
	uint32_t first = r.off / BLOCK, need = (r.off % BLOCK + r.len + BLOCK - 1) / BLOCK + 1;

	memset(h->taken + first, 0, need);
}

bool mem_take_sgl(struct soak *s, struct host *h, enum part part, uint32_t len, uint32_t max_sge, struct sgl *l)
{
	uint32_t left = len;

	*l = (struct sgl){.n = max_sge == 0 ? 0 : between(&s->dice, 1, max_sge), .len = len};
	if (len == 0 && percent(&s->dice, 50))
		l->n = 0;
	for (uint32_t i = 0; i < l->n; i++) {
		uint32_t piece = i + 1 == l->n ? left : below(&s->dice, left + 1);

		l->region[i] = (uint8_t)below(&s->dice, MAX_REGIONS + (part == FOR_SENDS && passing_open(h) ? 1u : 0u));
		if (!mem_take(s, h, part, piece, 1, &l->r[i])) {
			l->n = i;
			mem_give_sgl(h, l);
			return false;
		}
		left -= piece;
	}
	return l->n > 0 || len == 0;
}

void mem_give_sgl(struct host *h, const struct sgl *l)
{
	for (uint32_t i = 0; i < l->n; i++)
		mem_give(h, l->r[i]);
}

/* ---- the model ---- */

void mem_put(struct host *h, struct range r, uint64_t tag, uint32_t from)
{
	content(tag, from, h->image + r.off, r.len);
	memcpy(h->model + r.off, h->image + r.off, r.len);
}

void mem_put_sgl(struct host *h, const struct sgl *l, uint64_t tag)
{
	uint32_t from = 0;

	for (uint32_t i = 0; i < l->n; i++) {
		mem_put(h, l->r[i], tag, from);
		from += l->r[i].len;
	}
}

void mem_open(struct host *h, struct range r)
{
	memset(h->open + r.off, 1, r.len);
}

void mem_open_sgl(struct host *h, const struct sgl *l)
{
	for (uint32_t i = 0; i < l->n; i++)
		mem_open(h, l->r[i]);
}

static void close_range(struct soak *s, struct host *h, struct range r, const char *what)
{
	memset(h->open + r.off, 0, r.len);
	if (memcmp(h->image + r.off, h->model + r.off, r.len) == 0)
		return;
	for (uint32_t i = r.off; i < r.off + r.len; i++)
		REQUIRE(s, h->image[i] == h->model[i], "host %u: %s: byte %#x (+%u of %#x, %u bytes) is %02x, not %02x",
			host_index(s, h), what, i, i - r.off, r.off, r.len, h->image[i], h->model[i]);
}

void mem_settle(struct soak *s, struct host *h, struct range r, uint64_t tag, uint32_t len, const char *what)
{
	content(tag, 0, h->model + r.off, len);
	close_range(s, h, r, what);
}

/*
 * Bytes [skip, skip + len) of the list are the payload. Those before it must be settled already (UD: the GRH
 * area), those behind it are as before, or anything with `rest_unknown`.
 */
void mem_settle_sgl(struct soak *s, struct host *h, const struct sgl *l, uint64_t tag, uint32_t skip, uint32_t len,
		    bool rest_unknown, const char *what)
{
	uint32_t end = skip + len, pos = 0;

	for (uint32_t i = 0; i < l->n; i++) {
		uint32_t off = l->r[i].off, n = l->r[i].len;
		uint32_t from = pos < skip ? skip - pos : 0, to = end <= pos ? 0 : end - pos < n ? end - pos : n;

		if (from < to)
			content(tag, pos + from - skip, h->model + off + from, to - from);
		else
			to = from < n ? from : n;
		if (rest_unknown)
			memcpy(h->model + off + to, h->image + off + to, n - to);
		close_range(s, h, l->r[i], what);
		pos += n;
	}
}

void mem_settle_pieces(struct soak *s, struct host *h, struct range r, uint64_t tag, uint32_t mtu, bool all)
{
	uint8_t piece[4096];

	for (uint32_t at = 0; at < r.len; at += mtu) {
		struct range part = {r.off + at, r.len - at < mtu ? r.len - at : mtu};

		content(tag, at, piece, part.len);
		if (all || memcmp(h->image + part.off, piece, part.len) == 0)
			memcpy(h->model + part.off, piece, part.len);
		close_range(s, h, part, "a packet of a WRITE that was not acknowledged");
	}
}

void mem_read_sgl(const struct host *h, const struct sgl *l, uint32_t from, uint8_t *dst, uint32_t len)
{
	for (uint32_t i = 0; i < l->n && len > 0; i++) {
		uint32_t n = l->r[i].len > from ? l->r[i].len - from : 0;

		if (n == 0) {
			from -= l->r[i].len;
			continue;
		}
		n = n < len ? n : len;
		memcpy(dst, h->image + l->r[i].off + from, n);
		dst += n;
		len -= n;
		from = 0;
	}
}

bool mem_is_content(const struct host *h, const struct sgl *l, uint32_t skip, uint64_t tag, uint32_t len)
{
	static uint8_t want[MESSAGE_MAX], got[MESSAGE_MAX];

	if (len > MESSAGE_MAX || len + skip > l->len)
		return false;
	content(tag, 0, want, len);
	mem_read_sgl(h, l, skip, got, len);
	return memcmp(want, got, len) == 0;
}

void mem_accept(struct host *h, const struct sgl *l)
{
	for (uint32_t i = 0; i < l->n; i++) {
		memcpy(h->model + l->r[i].off, h->image + l->r[i].off, l->r[i].len);
		memset(h->open + l->r[i].off, 0, l->r[i].len);
	}
}

void mem_check(struct soak *s, struct host *h, const char *when)
{
	for (uint32_t block = 0; block < ARENA; block += BLOCK) {
		if (memcmp(h->image + block, h->model + block, BLOCK) == 0)
			continue;
		for (uint32_t i = block; i < block + BLOCK; i++)
			REQUIRE(s, h->open[i] || h->image[i] == h->model[i],
				"host %u, %s: byte %#x is %02x, not %02x: nothing in flight may touch it (%s)",
				host_index(s, h), when, i, h->image[i], h->model[i],
				h->taken[i / BLOCK] ? "a range in use" : "a guard");
	}
}
