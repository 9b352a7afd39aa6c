/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * verbs_group.c - multicast groups, in the IP layer as well.
 *
 * RoCEv2 datagrams to a group are IP multicast. A device that takes its packets from the host's stack, as the Linux
 * soft-RoCE driver does, hears those alone that the host has joined, and ibv_attach_mcast joins nothing there:
 * rdma_join_multicast does, or the application. So the application of a script joins the group on the interface of the
 * device's GID. What has no interface (ref0) does it by itself.
 */
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "verbs.h"

/* 0: none. */
static unsigned interface_of(struct vc_verbs *v)
{
	static const int encaps[] = {EN_ROCEV2_IPV4, EN_ROCEV2_IPV6};

	for (unsigned i = 0; i < sizeof(encaps) / sizeof(encaps[0]) && v->gid_ex != NULL && !v->reference; i++) {
		struct ibv_gid_entry e = {.ndev_ifindex = 0};

		if (v->gids.has[encaps[i]] && v->gid_ex(v->ctx, 1, v->gids.index[encaps[i]], &e, 0, sizeof(e)) == 0 &&
		    e.ndev_ifindex != 0)
			return e.ndev_ifindex;
	}
	return 0;
}

int vc_ip_join(struct vc_verbs *v, const uint8_t mgid[16])
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
	bool ipv4 = memcmp(mgid, mapped, sizeof(mapped)) == 0;
	unsigned interface = interface_of(v);
	struct ipv6_mreq six = {.ipv6mr_interface = interface};
	struct ip_mreqn four = {.imr_ifindex = (int)interface};
	int fd, rc;

	if (interface == 0)
		return -1;
	fd = socket(ipv4 ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	memcpy(&four.imr_multiaddr, mgid + 12, 4);
	memcpy(&six.ipv6mr_multiaddr, mgid, 16);
	rc = ipv4 ? setsockopt(fd, IPPROTO_IP, IP_ADD_MEMBERSHIP, &four, sizeof(four))
		  : setsockopt(fd, IPPROTO_IPV6, IPV6_JOIN_GROUP, &six, sizeof(six));
	if (rc != 0) {
		close(fd);
		return -1;
	}
	return fd;
}
