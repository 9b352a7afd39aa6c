/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * table.c - look-up of QPNs and memory keys.
 *
 * QPNs: open addressing with linear probing in a power-of-two table at least twice as large as
 * the number of QPs; deletion moves the entries behind back, so there are no tombstones.
 * Keys: the 24 index bits of a key select a slot by their low bits; the bits above are random, so that
 * a stale or invented key is very likely refused. The low 8 bits are the key byte of windows.
 */
#include "core.h"

static uint32_t spread(uint32_t qpn)
{
	return (qpn * 0x9e3779b1u) >> 8;
}

struct vs_qp *vs_qp_find(const struct vs_dev *dev, uint32_t qpn)
{
	uint32_t i = spread(qpn) & dev->qp_table_mask;

	while (dev->qp_table[i] != NULL) {
		if (dev->qp_table[i]->qpn == qpn)
			return dev->qp_table[i];
		i = (i + 1) & dev->qp_table_mask;
	}
	return NULL;
}

void vs_qp_table_add(struct vs_dev *dev, struct vs_qp *qp)
{
	uint32_t i = spread(qp->qpn) & dev->qp_table_mask;

	while (dev->qp_table[i] != NULL)
		i = (i + 1) & dev->qp_table_mask;
	dev->qp_table[i] = qp;
}

void vs_qp_table_del(struct vs_dev *dev, struct vs_qp *qp)
{
	uint32_t mask = dev->qp_table_mask, hole = spread(qp->qpn) & mask, i;

	while (dev->qp_table[hole] != qp)
		hole = (hole + 1) & mask;
	dev->qp_table[hole] = NULL;
	for (i = (hole + 1) & mask; dev->qp_table[i] != NULL; i = (i + 1) & mask) {
		uint32_t home = spread(dev->qp_table[i]->qpn) & mask;

		/* The entry may move into the hole when its home does not lie between hole and i. */
		if (((i - home) & mask) >= ((i - hole) & mask)) {
			dev->qp_table[hole] = dev->qp_table[i];
			dev->qp_table[i] = NULL;
			hole = i;
		}
	}
}

uint32_t vs_qpn_choose(struct vs_dev *dev)
{
	uint32_t qpn;

	do
		qpn = (uint32_t)vs_random(dev) & 0xffffff;
	while (qpn < 0x10 || qpn == VS_QPN_MULTICAST || vs_qp_find(dev, qpn) != NULL);
	return qpn;
}

struct vs_key_slot *vs_key_find(const struct vs_dev *dev, uint32_t key)
{
	struct vs_key_slot *s = &dev->keys[(key >> 8) & dev->keys_mask];

	return s->kind != VS_KEY_FREE && s->key == key ? s : NULL;
}

struct vs_key_slot *vs_key_slot_of(const struct vs_dev *dev, uint32_t key)
{
	return &dev->keys[(key >> 8) & dev->keys_mask];
}

/* A free slot with a fresh random key that selects it; 0: the table is full. */
uint32_t vs_key_new(struct vs_dev *dev, enum vs_key_kind kind, void *object)
{
	uint32_t size = dev->keys_mask + 1, start = (uint32_t)vs_random(dev) & dev->keys_mask, n;

	for (n = 0; n < size; n++) {
		uint32_t i = (start + n) & dev->keys_mask;
		struct vs_key_slot *s = &dev->keys[i];
		uint32_t key;

		if (s->kind != VS_KEY_FREE)
			continue;
		do {
			uint32_t r = (uint32_t)vs_random(dev);

			key = ((r << 8) & ~(dev->keys_mask << 8)) | i << 8 | r >> 24;
		} while (key == 0 || key == s->key); /* the key that died last in this slot stays dead */
		s->key = key;
		s->kind = (uint8_t)kind;
		s->object = object;
		return s->key;
	}
	return 0;
}

void vs_key_free(struct vs_dev *dev, uint32_t key)
{
	struct vs_key_slot *s = vs_key_slot_of(dev, key);

	s->kind = VS_KEY_FREE;
	s->object = NULL;
}
