/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mkcaptures.c - writes the small captures of pcaps/generated/.
 *
 *   mkcaptures DIR       writes all of them to DIR
 *   mkcaptures --readme  prints pcaps/generated/README.md: the tables of captures and of broken rules
 *   mkcaptures --rules   prints "capture frame reason..." for the captures with one packet per broken rule
 *
 * The same bytes every time: run.sh regenerates them and compares with those in the repository.
 */
#include <stdio.h>
#include <string.h>

#include "mk.h"

static const struct {
	const char *name;
	enum mk_link link;
	void (*make)(struct mk_out *o);
	const char *what;
} captures[] = {
	{"opcodes-roce", MK_ETHERNET, mk_opcodes_roce, "every assigned opcode in RoCEv2/IPv4, RoCEv2/IPv6 and RoCEv1"},
	{"opcodes-ib", MK_ERF, mk_opcodes_ib, "every assigned opcode in native InfiniBand without and with GRH"},
	{"rocev1", MK_ETHERNET, mk_rocev1,
	 "RoCEv1, tagged and not, with bytes behind the packet; a GRH with no BTH behind it"},
	{"uc", MK_ETHERNET, mk_uc, "every opcode of UC, PSNs in a row"},
	{"xrc", MK_ETHERNET, mk_xrc, "every opcode of XRC"},
	{"rd", MK_ETHERNET, mk_rd, "every opcode of RD"},
	{"dc", MK_ETHERNET, mk_dc, "what looks like Mellanox DC in the opcodes of RD (preference rdma.dc)"},
	{"ecn", MK_ETHERNET, mk_ecn, "ECN marks, CNPs, FECN and BECN"},
	{"ports", MK_ETHERNET, mk_ports, "UDP source ports that other protocols own"},
	{"other-port", MK_ETHERNET, mk_other_port, "RoCEv2 on UDP port 14791"},
	{"foreign", MK_ETHERNET, mk_foreign, "DNS of a client whose port is 4791: no RDMA at all"},
	{"pads", MK_ETHERNET, mk_pads, "payloads of 0 to 9 bytes: pad, and Ethernet padding behind short frames"},
	{"aeth", MK_ETHERNET, mk_aeth, "every AETH syndrome: credits, RNR timers, NAK codes, reserved ones"},
	{"crc", MK_ETHERNET, mk_crc, "good and bad ICRCs"},
	{"snap", MK_ETHERNET, mk_snap, "six packets, each cut by a snap length at every byte"},
	{"fragments", MK_ETHERNET, mk_fragments, "RoCEv2 in IP fragments, whole sets and lone first ones"},
	{"gso", MK_ETHERNET, mk_gso,
	 "segmentation-offload super-packets, with bad ICRCs inside, an IP length of 0, a snap length"},
	{"ip-options", MK_ETHERNET, mk_ip_options, "an IPv4 header with options in front of RoCEv2"},
	{"ipv6-extension", MK_ETHERNET, mk_ipv6_extension, "an IPv6 extension header in front of RoCEv2"},
	{"icmp", MK_ETHERNET, mk_icmp,
	 "ICMP errors that quote 0, 20 and all bytes of a RoCEv2 packet, and a changed one"},
	{"cooked", MK_SLL, mk_cooked, "Linux cooked capture (SLL)"},
	{"cooked2", MK_SLL2, mk_cooked2, "Linux cooked capture, version 2 (SLL2)"},
	{"rawip", MK_RAW_IP, mk_rawip, "raw IP"},
	{"short-sends", MK_ETHERNET, mk_short_sends, "SENDs that no upper-layer protocol has a right to"},
	{"vlan", MK_ETHERNET, mk_vlan, "VLAN, QinQ and two plain tags"},
	{"vxlan", MK_ETHERNET, mk_vxlan, "VXLAN over IPv4 and IPv6"},
	{"geneve", MK_ETHERNET, mk_geneve, "GENEVE over IPv4 and IPv6, with and without an option"},
	{"gre", MK_ETHERNET, mk_gre, "GRE over IPv4 and IPv6: IP inside, Ethernet inside, with and without a key"},
	{"mpls", MK_ETHERNET, mk_mpls, "MPLS with one and two labels"},
	{"tunnels", MK_ETHERNET, mk_tunnels, "PPPoE, VXLAN-GPE, IP in IP, GTP"},
	{"tunnel-fragments", MK_ETHERNET, mk_tunnel_fragments, "VXLAN and GRE whose outer IP packet is in fragments"},
	{"mirror", MK_ETHERNET, mk_mirror, "mirrored in ERSPAN, whole and cut; cut without a trace of the real length"},
	{"ib", MK_ERF, mk_ib, "native InfiniBand: local, global, IPoIB, raw ethertype, raw IPv6"},
	{"ib-crc", MK_ERF, mk_ib_crc, "good and bad ICRCs and VCRCs of native InfiniBand"},
	{"ib-snap", MK_ERF, mk_ib_snap,
	 "two packets of native InfiniBand, and two raw ones with RoCEv2 inside, cut at every byte"},
	{"ib-mad", MK_ERF, mk_ib_mad, "MADs of every class, and a CM conversation, in native InfiniBand"},
	{"cm", MK_ETHERNET, mk_cm, "every CM message in RoCE, and every reason of a REJ"},
	{"rules-roce", MK_ETHERNET, mk_rules_roce, "one packet for each rule that RoCE can break"},
	{"rules-ib", MK_ERF, mk_rules_ib, "one packet for each rule that native InfiniBand can break"},
};
#define CAPTURES (sizeof(captures) / sizeof(captures[0]))

static void write_all(const char *dir)
{
	for (unsigned i = 0; i < CAPTURES; i++) {
		char path[4096];
		struct mk_out *o;

		if (snprintf(path, sizeof(path), "%s/%s.pcap", dir, captures[i].name) >= (int)sizeof(path))
			mk_die("%s: the name is too long", dir);
		o = mk_open(path, captures[i].link);
		captures[i].make(o);
		mk_close(o);
	}
}

static void print_readme(void)
{
	puts("<!-- SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later -->\n"
	     "# Captures that the generator writes\n\n"
	     "`dissector/tests/mkcaptures.c` makes them, byte for byte the same every time; `make check-dissector`\n"
	     "makes them anew and compares. Addresses are those of RFC 5737 and RFC 3849. ICRCs and VCRCs are right\n"
	     "unless the table says otherwise. After a change of the generator `make update-golden` rewrites them,\n"
	     "and this page with them. Captures with a NAME.expect.json beside them are made of scenarios instead:\n"
	     "[the capture library](../README.md) lists those.\n\n"
	     "| capture | what it shows |\n|---|---|");
	for (unsigned i = 0; i < CAPTURES; i++)
		printf("| %s | %s |\n", captures[i].name, captures[i].what);
	puts("\n## Broken rules\n\n"
	     "Each frame of `rules-roce` and `rules-ib` breaks what the table says and nothing else.\n\n"
	     "| capture | frame | rule | sentence |\n|---|---|---|---|");
	mk_rules_list(true);
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fputs("usage: mkcaptures DIR | --readme | --rules\n", stderr);
		return 2;
	}
	if (strcmp(argv[1], "--readme") == 0)
		print_readme();
	else if (strcmp(argv[1], "--rules") == 0)
		mk_rules_list(false);
	else
		write_all(argv[1]);
	return 0;
}
