/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * pcap_common.h - what the subcommands of vs-pcap share: addresses, rewriting (cli/cli.h is what all programs share).
 *
 *   vs-pcap.c       the table of subcommands
 *   pcap_common.c   CRCs
 *   pcap_addr.c     addresses as text, who a packet is from and for, the way there by UDP
 *   pcap_field.c    fields of a packet by name: --set and inject
 *   pcap_out.c      captures out, one or many
 *   pcap_*.c        one subcommand each
 */
#ifndef PCAP_COMMON_H
#define PCAP_COMMON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/cli.h"
#include "vs/offload.h"
#include "vs/pktio.h"
#include "vs/wire.h"

/* Exit codes (docs/man/vs-pcap.1). */
enum { VP_OK = VS_CLI_OK, VP_FAILED = VS_CLI_FINDING, VP_USAGE = VS_CLI_USAGE, VP_NOTHING = VS_CLI_NOTHING };

int vp_gen(int argc, char **argv);
int vp_info(int argc, char **argv);
int vp_check(int argc, char **argv);
int vp_annotate(int argc, char **argv);
int vp_convert(int argc, char **argv);
int vp_edit(int argc, char **argv);
int vp_inject(int argc, char **argv);
int vp_replay(int argc, char **argv);

/* "vs-pcap CMD: text" on stderr; the same as an exit code; what getopt_long complained about; the end of stdout. */
#define VP_PROGRAM "vs-pcap"
#define vp_complain(cmd, ...) vs_cli_complain(VP_PROGRAM, (cmd), __VA_ARGS__)
#define vp_fail(cmd, ...) vs_cli_fail(VP_PROGRAM, (cmd), __VA_ARGS__)
#define vp_bad_option(cmd, argv, opt) vs_cli_bad_option(VP_PROGRAM, (cmd), (argv), (opt))
#define vp_flush(cmd) vs_cli_flush(VP_PROGRAM, (cmd))

/* ---- pcap_common.c ---- */

/* Error against the right value that the ICRC of `p`, parsed from `buf`, has: 0 when it is good or not known. */
uint32_t vp_icrc_error(const struct vs_pkt *p, const uint8_t *buf);
/*
 * Bytes of the first packet when frame `f`, parsed as `p`, is a super-packet of segmentation offload, and `o` for
 * vs/offload.h; 0 when it is a single packet.
 */
uint32_t vp_super_of(const struct vs_pkt *p, const struct vs_frame *f, struct vs_offload *o);
/* As vp_icrc_error, for packet `k` at `off` of a super-packet, taken apart as `seg`. */
uint32_t vp_super_icrc_error(const struct vs_offload *o, const struct vs_pkt *seg, uint32_t k, uint32_t off);
/*
 * Checksum and CRCs of a packet whose fields changed, the ICRC XORed with `icrc_error`; lengths stay. A snapped
 * packet gets its IPv4 checksum alone. 0 or vs_err.
 */
int vp_reseal(struct vs_pkt *p, uint32_t icrc_error);

#define VP_FRAME_MAX 262144 /* longest frame in a capture */

/* ---- pcap_addr.c ---- */

enum vp_addr_kind { VP_ADDR_NONE, VP_ADDR_IPV4, VP_ADDR_IPV6, VP_ADDR_GID, VP_ADDR_LID };
struct vp_addr {
	enum vp_addr_kind kind;
	uint8_t b[16]; /* IPv4: the first 4; LID: the first 2, big-endian */
};
#define VP_ADDR_TEXT 48

void vp_addr_of(const struct vs_pkt *p, struct vp_addr *src, struct vp_addr *dst);
/*
 * The way to `addr` by UDP, the caller's to close; leaves this host only with `remote`. NULL: the complaint is made,
 * the exit code is VP_USAGE.
 */
struct vs_injector;
struct vs_injector *vp_udp_open(const char *cmd, const char *addr, bool remote);
bool vp_addr_equal(const struct vp_addr *a, const struct vp_addr *b);
/* "10.0.0.1", "fd00::1", "LID:0x0012"; "-" for none. */
const char *vp_addr_text(const struct vp_addr *a, char text[VP_ADDR_TEXT]);
const char *vp_encap_name(enum vs_encap e); /* "rocev2-ipv4" */
/* The encapsulation that may be asked for by this name; VS_ENCAP_BARE: none. */
enum vs_encap vp_encap_by_name(const char *name);

/* ---- pcap_field.c ---- */

#define VP_SET_MAX 64

struct vp_field;
struct vp_value {
	uint64_t n;
	uint8_t b[16];
};
/* One rewriting: FIELD=VALUE, FIELD+=N, FIELD-=N, FIELD:OLD=VALUE. */
struct vp_set {
	const struct vp_field *field;
	enum { VP_ASSIGN, VP_ADD, VP_MAP } kind;
	struct vp_value value, old;
};
struct vp_sets {
	size_t n;
	struct vp_set set[VP_SET_MAX];
	uint64_t packets; /* that were changed */
	uint64_t supers;  /* super-packets, which vp_set_frame left alone */
};

/* Adds one; VP_OK, or VP_USAGE with a message. */
int vp_set_parse(struct vp_sets *s, const char *cmd, const char *text);
/* Rewrites what the packet has of the fields; true when something changed. The CRCs are the caller's. */
bool vp_set_apply(struct vp_sets *s, struct vs_pkt *p);
/* Assigns a field of a packet that is being made; VP_OK, or VP_USAGE with a message (the packet has no such field). */
int vp_set_assign(const char *cmd, const char *text, struct vs_pkt *p);
/*
 * Rewriting a whole frame: parses `f`, applies, reseals, builds into `buf`. True: buf[0..f->caplen) is the new frame.
 * Super-packets of segmentation offload stay as they are.
 */
bool vp_set_frame(struct vp_sets *s, const struct vs_frame *f, uint8_t *buf);
void vp_set_help(FILE *out);

/* ---- pcap_out.c ---- */

/* The kind of capture that holds frames of this link type ("EN10MB"); -1 when none does. */
int vp_writer_kind(const char *linktype);

/* One capture or, with keys, several: NAME.pcap, NAME-KEY.pcap. All appear at the end, or none. */
struct vp_out;
struct vp_out *vp_out_new(const char *cmd, const char *path, enum vs_writer_kind kind);
/* `key` "": the one file. VP_OK, or VP_USAGE with a message. */
int vp_out_put(struct vp_out *o, const char *key, int64_t time_ns, const uint8_t *data, uint32_t caplen,
	       uint32_t wirelen);
/* Creates the file of `key` before there is anything to put into it. */
int vp_out_open(struct vp_out *o, const char *key);
size_t vp_out_files(const struct vp_out *o);
int vp_out_close(struct vp_out *o);  /* VP_OK, or VP_USAGE with a message; `o` is gone */
void vp_out_abort(struct vp_out *o); /* NULL is fine */

#endif
