/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * message.h - the data of messages, put together from the payloads of their packets.
 *
 * Fed with tap records in the order of the capture. Of SEND and RDMA WRITE the requests carry the data, of RDMA READ
 * the responses. Each PSN counts once, whichever copy of a packet came first; what was lost at first and sent again
 * goes where its PSN belongs. Which message a packet belongs to, the analysis says (struct rdma_tap): without it a
 * packet is left out.
 */
#ifndef RDMA_MESSAGE_H
#define RDMA_MESSAGE_H

#include "rdma.h"

struct rdma_messages;

struct rdma_messages *rdma_messages_new(void);
void rdma_messages_free(struct rdma_messages *m); /* NULL is fine */
void rdma_messages_clear(struct rdma_messages *m);

/* Whether this packet carries data of a message that no packet before it did. */
bool rdma_messages_has_data(const struct rdma_tap *t);
/* Takes the data of a packet in `frame`, if it has any. After 256 MiB only counts what is left out. */
void rdma_messages_add(struct rdma_messages *m, uint32_t frame, const struct rdma_tap *t);

/*
 * All messages, or only those that began in frame `began` (0: all): for each a line of what it is, how many bytes and
 * whether they are all there, then the bytes as a hex dump. Never NULL; to be freed by g_free.
 */
char *rdma_messages_text(const struct rdma_messages *m, uint32_t began);

#endif
