/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * drill_int.h - inside the drill language.
 *
 *   lex.c        lines -> tokens             words.c     tables of words, suggestions for misspelt ones
 *   parse.c      a script, its matrix        decl.c      declarations
 *   obj_decl.c   declarations of objects     options.c   keys and values
 *   stmt.c       statements of nodes         block.c     lines below: one of, repeat, when
 *   pkt_parse.c  the peer's packets          cm_parse.c  connection management
 *   value.c      expressions and symbols     fault.c     faults, read and done
 *   run.c        the runner, verdict         setup.c     the target of a run
 *   hear.c       what happens                observe.c   the same, against what was expected
 *   verbs.c      queue pairs                 objects.c   the other objects
 *   post.c       work requests               conn.c      connections
 *   eval.c       values in a run             payload.c   bytes that somebody gave the device
 *   field.c net.c packet.c cm_packet.c match.c           packets (packet.h)
 *   sim.c sim_verbs.c                                    the simulator as target (target.h)
 *
 * A script is parsed anew for each vector: $name stands for a token. What depends on the run (keys,
 * addresses, fields of packets that came) stays an expression until its statement is executed.
 */
#ifndef VS_DRILL_INT_H
#define VS_DRILL_INT_H

#include <string.h>

#include "vs/drill.h"

#define MAX_TOKENS 96u /* in a line */
#define MAX_LINE 480u  /* bytes */
#define MAX_NAME 24u
#define MAX_NODES 8u
#define MAX_PKEYS 16u
#define MAX_OBJECTS 128u
#define MAX_DEPTH 16u /* of an expression */
#define MAX_ARENA (64u << 20)
#define MAX_WR 4096u          /* work requests or packets that one statement stands for */
#define MAX_REGION (1u << 20) /* bytes of a memory region */

struct arena {
	struct chunk *head;
	size_t left, total;
};
void *dr_alloc(struct arena *a, size_t size); /* zeroed; NULL: too much */
void dr_arena_free(struct arena *a);

/* ---- tokens ---- */
enum tok_kind { T_END, T_WORD, T_NUMBER, T_STRING, T_PUNCT };
struct token {
	enum tok_kind kind;
	const char *text; /* in the script; of a string: what is between the quotes */
	unsigned len, column;
	bool glued; /* no space before it */
	bool unit;  /* T_NUMBER with a time unit: `number` is nanoseconds */
	uint64_t number;
};

struct variable {
	char name[MAX_NAME];
	struct token *value; /* count of them */
	unsigned count, current;
	bool tied; /* goes with the one before */
};

struct line {
	unsigned number, indent, len;
	const char *text;
	struct token tok[MAX_TOKENS + 2]; /* the last one is T_END; two may be looked at behind it */
	unsigned count;
};

/* ---- errors: the first one wins ---- */
struct src {
	const char *text; /* the script */
	size_t len;
	struct vs_drill_error *err;
	bool failed;
};
void dr_error_at(struct vs_drill_error *e, unsigned line, unsigned column, const char *text, size_t len);
__attribute__((format(printf, 4, 5))) void dr_fail(struct src *s, const struct line *l, unsigned column,
						   const char *format, ...);
/* Splits line `l` (text, len and number are set) into tokens; $names are replaced by `vars`. False: failed. */
bool dr_lex(struct src *s, struct line *l, const struct variable *vars, unsigned n_vars);

/* ---- words ---- */
struct word {
	const char *name;
	int value;
};
bool dr_same(const struct token *t, const char *word);
bool dr_find(const struct word *w, const struct token *t, int *value);
/* ", did you mean X?" or "" : the nearest of `words`. */
void dr_suggest(char *buf, size_t cap, const char *text, size_t len, const struct word *words);

extern const struct word dr_verb_words[], dr_access_words[], dr_state_words[], dr_wc_status_words[],
	dr_wc_opcode_words[], dr_async_words[], dr_nak_words[], dr_class_words[], dr_qp_type_words[], dr_encap_words[],
	dr_cm_event_words[], dr_need_words[], dr_waive_words[], dr_attr_words[], dr_limit_words[];

/* ---- objects ---- */
enum obj_kind { O_QP = 1, O_MR, O_MW, O_CQ, O_SRQ, O_PACKET, O_PD, O_AH, O_CHANNEL, O_NUMBER };
struct obj {
	enum obj_kind kind;
	char name[MAX_NAME];
	int node;         /* index of the node; -1: O_PACKET */
	unsigned index;   /* among all objects */
	struct obj *peer; /* O_QP: the other end */
	int type;         /* O_QP: enum vs_qp_type; O_MW: type */
	bool connected;
	bool destroyed; /* a line says so: the name may be taken again */
};

struct node {
	char name[MAX_NAME];
	bool engine; /* false: the script plays it */
};

/* ---- expressions ---- */
enum expr_kind { E_NUMBER, E_ADD, E_SUB, E_MUL, E_NOT, E_NEG, E_RNR_TIME, E_ACK_TIME, E_OBJECT, E_LIMIT };
enum attr { A_ADDR, A_LEN, A_RKEY, A_LKEY, A_QPN, A_PSN, A_CQE, A_MAX_WR, A_TIME, A_FIELD };
struct expr {
	enum expr_kind kind;
	bool time;
	unsigned column;
	uint64_t number;
	struct expr *l, *r;
	struct obj *obj;
	enum attr attr;
	int field; /* A_FIELD: key of a packet, or index into the fields of its CM message */
	char name[MAX_NAME];
};

enum value_kind { V_NUMBER, V_FLAG, V_WORD, V_OBJECT, V_SLICE, V_BYTES, V_DATA, V_NODE };
struct value {
	enum value_kind kind;
	struct expr *e, *e2;  /* V_NUMBER: first, last of a range (or NULL); V_SLICE: begin, end */
	bool relative;        /* +N or -N */
	int word;             /* V_WORD */
	struct obj *obj;      /* V_OBJECT, V_SLICE, V_DATA (a packet; NULL: the newest one) */
	const uint8_t *bytes; /* V_BYTES */
	uint32_t len;
};

enum key_kind {
	KK_NUM,
	KK_RANGE,
	KK_FLAG,
	KK_TIME,
	KK_WORD,
	KK_SET,
	KK_OBJ,    /* words: the kind */
	KK_SLICE,  /* region[a:b] */
	KK_DATA,   /* a count, a region, hex"..." , data */
	KK_REMOTE, /* region or QP of another node */
	KK_GID,
	KK_ICRC,
	KK_ENCAP,
	KK_MAC,
	KK_SUM /* a number, or valid */
};
struct key {
	const char *name;
	int id; /* enum key_id */
	enum key_kind kind;
	const struct word *words;
	int obj;
};

/* Rows of a table of keys: what an address vector consists of. */
#define PATH_KEYS                                                                                           \
	{"sl", K_SL, KK_NUM, NULL, 0}, {"tclass", K_TCLASS, KK_NUM, NULL, 0},                               \
		{"hop_limit", K_HOP_LIMIT, KK_NUM, NULL, 0}, {"dgid", K_DGID, KK_GID, NULL, 0},             \
		{"flow_label", K_FLOW_LABEL, KK_NUM, NULL, 0}, {"gid_index", K_GID_INDEX, KK_NUM, NULL, 0}, \
	{                                                                                                   \
		"encap", K_ENCAP, KK_ENCAP, NULL, 0                                                         \
	}
enum key_id {
	K_NONE,
	/* packets */
	K_PSN,
	K_MSN,
	K_VA,
	K_RKEY,
	K_DMALEN,
	K_DATA,
	K_ACKREQ,
	K_SE,
	K_IMM,
	K_INV,
	K_QKEY,
	K_SRCQP,
	K_DESTQP,
	K_SYNDROME,
	K_CREDITS,
	K_TIMER,
	K_ORIG,
	K_ADD,
	K_SWAP,
	K_COMPARE,
	K_PKEY,
	K_MIGREQ,
	K_FECN,
	K_BECN,
	K_TVER,
	K_PADCNT,
	K_PLT,
	K_SEL,
	K_ECN,
	K_ICRC,
	K_FLIP,
	K_LEN,
	K_TO,
	K_OPCODE,
	K_RESV6,
	K_RESV7,
	K_PAD,
	K_EXT_RSV,
	K_VCRC,
	/* in front of the BTH: net.c */
	K_ETH_SRC,
	K_ETH_DST,
	K_ETHERTYPE,
	K_VLAN,
	K_PCP,
	K_SRC,
	K_DST,
	K_TTL,
	K_TOS,
	K_DSCP,
	K_FLOW,
	K_IP_VERSION,
	K_IHL,
	K_IP_ID,
	K_DF,
	K_MF,
	K_FRAG_OFFSET,
	K_PROTOCOL,
	K_IP_LEN,
	K_IP_SUM,
	K_SPORT,
	K_DPORT,
	K_UDP_LEN,
	K_UDP_SUM,
	K_SLID,
	K_DLID,
	K_LSL,
	K_VL,
	K_LVER,
	K_LNH,
	K_LRH_RSV,
	K_LRH_LEN,
	K_CUT,
	K_MAD,
	/* objects */
	K_MTU,
	K_PEER_PSN,
	K_TIMEOUT,
	K_RETRY_CNT,
	K_RNR_RETRY,
	K_MIN_RNR_TIMER,
	K_RD_ATOMIC,
	K_DEST_RD_ATOMIC,
	K_ACCESS,
	K_SRQ,
	K_CQ,
	K_SEND_CQ,
	K_RECV_CQ,
	K_SIG_ALL,
	K_MAX_SEND_WR,
	K_MAX_RECV_WR,
	K_MAX_SGE,
	K_MAX_INLINE,
	K_STATE,
	K_FROM,
	K_FILL,
	K_CQE,
	K_LAZY,
	K_MAX_WR,
	K_LIMIT,
	K_TYPE,
	K_SL,
	K_TCLASS,
	/* verbs */
	K_WR,
	K_EACH,
	K_FENCE,
	K_SOLICITED,
	K_UNSIGNALED,
	K_INLINE,
	K_KEY,
	K_MR,
	K_MW,
	K_REFUSED,
	K_GRH,
	K_COUNT,
	K_CUR_STATE,
	K_SQD_NOTIFY,
	K_SQ_DRAINING,
	K_PKEY_INDEX,
	K_PORT,
	K_DEST_QPN,
	K_WITHOUT,
	K_ALSO,
	K_SERVICE,
	K_QP,
	K_REASON,
	K_PRIVATE,
	K_MANUAL,
	K_MGID,
	K_PD,
	K_AH,
	K_CHANNEL,
	K_ENCAP,
	K_HOP_LIMIT,
	K_FLOW_LABEL,
	K_GID_INDEX,
	K_DGID,
	K_STATUS,
	K_QPN,
	K_CM_RETRIES,
	/* the wire */
	K_LATENCY,
	K_RATE,
	K_QUEUE,
	K_PAUSE,
	K_ACK_EVERY,
	K_WINDOW,
	K_E2E,
	K_PRIVILEGED,
	K_CC
};
/* How what was seen compares with what a line says. */
enum dr_compare { C_EQ, C_NE, C_GE, C_LE, C_GT, C_LT };
struct option {
	struct option *next;
	const struct key *key;
	enum dr_compare how; /* of what must be seen */
	bool late;           /* behind `then`: changed after the CRCs were made */
	unsigned column;
	struct value v;
};

/* ---- statements ---- */
enum stmt_kind {
	S_QP,
	S_UD,
	S_MR,
	S_MW,
	S_CQ,
	S_SRQ,
	S_PD,
	S_AH,
	S_CHANNEL,
	S_REREG,
	S_RESIZE,
	S_CALL,
	S_QUERY,
	S_GID,
	S_PORT,
	S_SET,
	S_REPEAT,
	S_AGAIN,
	S_COMPARE,
	S_LINK,
	S_DEVICE,
	S_FAULT,
	S_FAULT_NONE,
	S_WAIT,
	S_WAIT_IDLE,
	S_EXPECT,
	S_MARK,
	S_SEND,
	S_RAW,
	S_RECEIVE,
	S_NOTHING,
	S_POST,
	S_POST_RECV,
	S_CQE,
	S_NO_CQE,
	S_ASYNC,
	S_NO_ASYNC,
	S_STATE,
	S_MODIFY,
	S_COUNTER,
	S_DESTROY,
	S_ARM,
	S_COMP_EVENT,
	S_NO_COMP_EVENT,
	S_ATTACH,
	S_DETACH,
	S_CM,
	S_CM_EVENT,
	S_NO_CM_EVENT,
	S_ONE_OF
};
enum cm_verb { CM_LISTEN, CM_CONNECT, CM_ACCEPT, CM_REJECT, CM_DISCONNECT, CM_ESTABLISH, CM_MRA, CM_RESOLVE, CM_REPLY };
/* Messages that are as many packets as their data needs. */
enum { OP_SEND = 0x100, OP_WRITE, OP_READ_RESPONSE, OP_NAK, OP_CM };

struct alternative {
	struct alternative *next;
	char name[MAX_NAME];
	struct stmt *first;
};
struct stmt {
	struct stmt *next;
	enum stmt_kind kind;
	unsigned line, column;
	int node;        /* whose line it is; -1: nobody's */
	struct obj *obj; /* QP, SRQ, MR ... it is about; NULL: none */
	int word;        /* opcode or OP_*, work request opcode, state, status, async type, counter ... */
	int word2;       /* NAK code, CM attribute, completion opcode, comparison */
	unsigned word_column;
	struct option *opt;
	struct value left, right; /* S_EXPECT, S_COUNTER: right */
	struct expr *within, *quiet, *not_before;
	struct obj *as;
	bool coalesce;
	bool perhaps; /* (refusal allowed) */
	bool named;   /* S_RECEIVE, S_NOTHING: of this queue pair alone */
	bool watched; /* S_RECEIVE, S_NOTHING: what an engine sends; `obj` is the other end, NULL: nobody in particular
		       */
	const char *text; /* fault, mark */
	unsigned text_len;
	const uint8_t *bytes; /* S_RAW */
	uint32_t len;
	struct alternative *alt;
};

/* One vector of a script. */
struct program {
	struct arena arena;
	struct node node[MAX_NODES];
	unsigned n_nodes;
	struct obj *obj[MAX_OBJECTS];
	unsigned n_objs;
	struct stmt *first;
	int encap;        /* enum dr_encap, -1: not said */
	int vlan;         /* -1: none */
	uint32_t waived;  /* 1 << enum dr_waive */
	const char *skip; /* why it is tried nowhere; NULL: it is */
	uint16_t pkeys[MAX_NODES][MAX_PKEYS];
	bool raw_peer;
	uint32_t watched; /* 1 << node: every packet that this engine sends is claimed */
};
enum dr_encap { EN_ROCEV2_IPV4, EN_ROCEV2_IPV6, EN_ROCEV1, EN_IB, EN_IB_GRH };
/* What a script may need of the encapsulation; the other needs are whatever a target says. */
enum dr_need { ND_ECN = 8, ND_GRH = 10, ND_ETHERNET, ND_UDP, ND_IPV4, ND_IPV6, ND_LRH = 21, ND_LOCAL };
enum dr_waive {
	WV_PACKET,
	WV_COMPLETION,
	WV_ASYNC,
	WV_CM,
	WV_ORDER,
	WV_MALFORMED,
	WV_FAULT,
	WV_MONITOR,
	WV_PAYLOAD,
	WV_CALL
};

struct vs_drill {
	char *text;
	size_t len;
	char id[32], title[160], clause[64], class;
	uint32_t needs, waived; /* waived: by any vector */
	char sim_only[128];     /* why it runs in the simulator alone; "": it does not */
	struct arena arena;     /* the values of the matrix */
	struct variable var[VS_DRILL_MAX_MATRIX];
	unsigned n_vars, vectors, lines;
};

/* Reads vector `vector` into `p`, which is zero; the header goes into `d` when `header` is set. */
bool dr_parse_vector(struct vs_drill *d, unsigned vector, struct program *p, struct vs_drill_error *err);

/* ---- the parser ---- */
struct parser {
	struct src src;
	struct vs_drill *d;
	struct program *p;
	struct variable var[VS_DRILL_MAX_MATRIX];
	struct line *l;
	const struct token *t;
	bool late;      /* `then` was read on this line */
	unsigned block; /* blocks around this line */
	size_t pos;     /* of the next line in the script */
	unsigned next_number;
	int node; /* whose names come first; -1: nobody's */
	unsigned depth;
	bool has_case, has_nodes;
	struct stmt **tail;
};
#define PF(ps, column, ...) dr_fail(&(ps)->src, (ps)->l, column, __VA_ARGS__)
bool dr_next_line(struct parser *ps); /* the next one with tokens on it; false: none, or failed */
bool dr_punct(struct parser *ps, const char *p);
bool dr_word(struct parser *ps, const char *w);
/* The same, with suggestions from names: of `kind` (0: any) and `node` (-1: any). */
void dr_expected_object(struct parser *ps, const char *what, int node, int kind);
/* A node that is no peer, and on to the next token; -1: failed. */
int dr_engine(struct parser *ps);
/* Fails with what the nodes are. */
void dr_no_such_node(struct parser *ps, const char *name, size_t len, unsigned column);
bool dr_expect_punct(struct parser *ps, const char *p, const char *what);
/* Fails with "expected WHAT, got X", and a suggestion from `words` (may be NULL). */
void dr_expected(struct parser *ps, const char *what, const struct word *words);
/* What stands up to the next blank, as one text. */
bool dr_run_of(struct parser *ps, char *buf, size_t cap, const char *what);
void *dr_new(struct parser *ps, size_t size);
struct stmt *dr_stmt(struct parser *ps, enum stmt_kind kind);
struct obj *dr_object(struct parser *ps, int node, enum obj_kind kind, const struct token *name);
struct obj *dr_lookup(struct parser *ps, int node, const struct token *name);
int dr_node(const struct parser *ps, const struct token *name);
int dr_peer_node(const struct program *p);
/* value.c */
struct expr *dr_expr(struct parser *ps);
struct expr *dr_time(struct parser *ps);
bool dr_number_value(struct parser *ps, struct value *v, bool range);
bool dr_slice(struct parser *ps, struct value *v);
bool dr_data(struct parser *ps, struct value *v);
bool dr_hex(struct parser *ps, const uint8_t **bytes, uint32_t *len);
bool dr_gid(struct parser *ps, struct value *v);
bool dr_encap(struct parser *ps, int *encap);
/* options.c */
struct option *dr_add_option(struct parser *ps, struct stmt *st, const struct key *k);
const struct key *dr_find_key(const struct key *keys, const struct token *t);
bool dr_some_options(struct parser *ps, struct stmt *st, const struct key *keys); /* as long as there are some */
/* The one whose word stands here, in either table. */
bool dr_one_option(struct parser *ps, struct stmt *st, const struct key *keys, const struct key *more);
bool dr_comparison(struct parser *ps, enum dr_compare *how); /* == != >= <= > < */
const char *dr_compare_text(enum dr_compare how);            /* "" "at least " ... */
bool dr_compare(enum dr_compare how, uint64_t a, uint64_t b);
bool dr_is_timing(const struct token *t);
void dr_no_such_key(struct parser *ps, const struct key *keys, const struct word *more, const char *what);
bool dr_options(struct parser *ps, struct stmt *st, const struct key *keys);
bool dr_refusal_allowed(struct parser *ps, struct stmt *st); /* the token is the ( */
bool dr_reason(struct parser *ps, struct option *o);         /* refused[=REASON]: what is behind the word */
bool dr_timing(struct parser *ps, struct stmt *st);          /* within, not before, as, (coalescing allowed) */
/* stmt.c */
bool dr_statement(struct parser *ps, int subject); /* subject: a node said before, or -1 */
bool dr_node_statement(struct parser *ps, int node, struct obj *obj);
/* obj_decl.c */
enum dr_decl {
	D_CASE,
	D_CLAUSE,
	D_CLASS,
	D_NEEDS,
	D_MATRIX,
	D_TARGET,
	D_ENCAP,
	D_VLAN,
	D_NODE,
	D_LINK,
	D_DEVICE,
	D_QP,
	D_UD,
	D_MR,
	D_MW,
	D_CQ,
	D_SRQ,
	D_PD,
	D_AH,
	D_CHANNEL,
	D_FAULT,
	D_WAIT,
	D_WAIVE,
	D_MARK,
	D_GID,
	D_PKEYS,
	D_PORT,
	D_REPEAT,
	D_SET,
	D_WHEN,
	D_SKIP
};
void dr_object_decl(struct parser *ps, enum dr_decl what);
/* fault.c */
void dr_fault_decl(struct parser *ps);
/* block.c: the lines below that are indented more */
bool dr_one_of(struct parser *ps, struct stmt *st, int subject);
bool dr_repeat(struct parser *ps);
bool dr_when(struct parser *ps);
/* decl.c: false when the word begins no declaration; otherwise it was read, or failed */
bool dr_declaration(struct parser *ps);
extern const struct word dr_decl_words[];
/* The queue pair that is meant when none is named: the only one of the node. */
bool dr_sole_qp(struct parser *ps, struct stmt *st);
/* cm_parse.c: what a node does, and the messages of the peer */
bool dr_cm_verb(struct parser *ps, struct stmt *st);
bool dr_cm_message(struct parser *ps, struct stmt *st);
/* The fields of a MAD's header, beside those of the message. */
enum dr_mad { MAD_BASE_VERSION = 1, MAD_CLASS, MAD_CLASS_VERSION, MAD_METHOD, MAD_STATUS, MAD_TID };
extern const struct word dr_mad_words[];
/* pkt_parse.c */
bool dr_packet_statement(struct parser *ps, int node, struct obj *obj);
extern const struct key dr_packet_keys[], dr_modify_keys[], dr_query_keys[];

static inline const struct option *dr_opt(const struct stmt *st, int id)
{
	const struct option *o = st->opt;

	while (o != NULL && (o->key->id != id || o->late))
		o = o->next;
	return o;
}

#endif
