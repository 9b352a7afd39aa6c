/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* list.c - circular intrusive lists; an unlinked node points to itself. */
#include "core.h"

void vs_list_init(struct vs_node *head)
{
	head->next = head;
	head->prev = head;
}

bool vs_list_empty(const struct vs_node *head)
{
	return head->next == head;
}

bool vs_list_linked(const struct vs_node *n)
{
	return n->next != n;
}

void vs_list_add_tail(struct vs_node *head, struct vs_node *n)
{
	assert(n->next == n);
	n->prev = head->prev;
	n->next = head;
	head->prev->next = n;
	head->prev = n;
}

void vs_list_del(struct vs_node *n)
{
	n->prev->next = n->next;
	n->next->prev = n->prev;
	vs_list_init(n);
}
