/* SPDX-License-Identifier: Apache-2.0
 * One component being searched. Private to planner/search*.c.
 *
 * Locals: the component's nodes in the order they are decided (0 .. n-1, consumers first), then what they read from outside it (n ..
 * nlocal-1). Parts are numbered as they open. All that a decision changes is written through the trail, so it can be taken back. */
#ifndef CLF_PLANNER_SEARCHING_H
#define CLF_PLANNER_SEARCHING_H
#include "planner/search.h"

enum {
    CLF_BITS_WORDS = 4,
    CLF_MOST_LOCALS = 64 * CLF_BITS_WORDS,
    CLF_MOST_SEARCHED = CLF_MOST_LOCALS / 2, /* nodes; larger components take the best opening cover */
    CLF_MOST_CANDIDATES = 10              /* parts that may compute a node, too, of which all subsets are tried */
};
typedef struct clf_bits { uint64_t w[CLF_BITS_WORDS]; } clf_bits;
static inline bool clf_bits_has(const clf_bits *s, int i) { return s->w[i >> 6] >> (i & 63) & 1; }
static inline void clf_bits_add(clf_bits *s, int i) { s->w[i >> 6] |= 1ull << (i & 63); }
static inline bool clf_bits_meet(const clf_bits *a, const clf_bits *b) {
    uint64_t any = 0;
    for (int i = 0; i < CLF_BITS_WORDS; i++) any |= a->w[i] & b->w[i];
    return any != 0;
}

/* An operand of a node: in memory always, or perhaps inside. again: what it costs beyond one stream, per device. */
typedef struct clf_use {
    int32_t local;
    bool inside;           /* perhaps */
    bool by_rows;          /* taken row by row */
    bool in_loop, alone;   /* wanted when its reader is in a loop, or stands alone */
    bool part_of_it;       /* a range: what it costs is not counted before the cover is complete */
    clf_ps again[CLF_MOST_DEVICES];
} clf_use;

typedef struct clf_node_facts {
    int32_t id, class_;        /* graph node; class of loops, local */
    uint8_t is;                /* CLF_CAN_LOOP ... */
    bool demanded;             /* a result, or read from outside the component */
    bool root;
    bool optional;             /* copied, and in memory only if somebody reads it there */
    int32_t nuse, npair;
    clf_use *use;
    int32_t *pair;             /* clf_pair that it is a reader of; nodes that only stand alone have none */
    clf_ps compute[CLF_MOST_DEVICES], alone[CLF_MOST_DEVICES];
    clf_ps write[2][CLF_MOST_DEVICES]; /* stored by a step alone; by a loop, where copies of it may meet */
    clf_ps least_compute, least_write, least_alone; /* least_alone: of a whole step, what it reads from outside included */
    int immediates;
    clf_bits consumers;         /* nodes that may take it from inside */
    clf_bits copied_by;         /* nodes that compute it again, though it is stored for others */
    clf_bits beyond;            /* nodes that depend on it through what lies outside the component */
    clf_bits ties;              /* itself, and what connects it to others of a loop: operands inside, or read row by row */
    int32_t group;             /* nodes of its class that a chain of ties leads to */
} clf_node_facts;

typedef struct clf_operand_facts { int32_t id; clf_ps read[CLF_MOST_DEVICES], least; clf_ps transfer[CLF_MOST_DEVICES]; } clf_operand_facts;

/* An operand from outside as a class of loops reads it: once at least, while one of its readers is undecided. */
typedef struct clf_pair { int32_t operand; int32_t class_; int64_t undecided, readers; } clf_pair;

/* Numbers are words, for the trail. */
typedef struct clf_opened {
    int64_t moved, computed, ops, operands;
    int64_t loop, device, class_, group;
    clf_bits has, reads, paid, again; /* nodes computed; locals read; paid for; streamed again */
    clf_bits needs;                   /* parts it reads from */
} clf_opened;

typedef struct clf_cell { uint64_t *at, was; } clf_cell;

/* One way to decide a node: which candidates compute it, and who stores it; and the bound that follows. */
typedef struct clf_option { clf_ps bound; uint32_t mask; int32_t maker; } clf_option;
/* A node's ways, the least bound first, on the stack of options. */
typedef struct clf_frame { int32_t top, first, n, next; } clf_frame;

typedef struct clf_component {
    const clf_problem *p;
    const clf_search_options *opt;
    clf_arena *arena;
    int32_t n, nlocal, room, npair, nclass; /* room: most locals */
    clf_node_facts *node;
    clf_operand_facts *operand; /* of all locals */
    clf_pair *pair;
    /* state */
    clf_opened *part;
    int64_t npart;
    int64_t *maker;             /* node -> part */
    struct clf_row { int64_t both, moved, computed, rest_moved, rest_computed, parts, waiting; } *row; /* per class; the last: steps alone */
    int64_t launches, transfers;
    int64_t *undecided;         /* nodes of each group */
    clf_bits copied;             /* nodes that loops compute again */
    clf_ps least_launch;
    clf_bits *present;           /* per device: locals that were brought there */
    clf_cell *trail;
    int32_t top, cap;
    clf_frame *frame;
    clf_option *option;
    int32_t noption, cap_option;
    /* results */
    clf_ps best, floor;         /* floor: the bound before anything is decided */
    int64_t plans;
    bool failed, found, narrowed; /* narrowed: not all options were looked at */
    clf_opened *best_part;
    int64_t best_npart, *best_maker;
    /* complete covers */
    clf_cover leaf;
    clf_pricer *pricer;
    int32_t *ids, *up, *owner, *order;
    uint8_t *mark;
} clf_component;

/* search_state.c */
void clf_put(clf_component *c, uint64_t *at, uint64_t value);
static inline void clf_put_num(clf_component *c, int64_t *at, int64_t v) { clf_put(c, (uint64_t *)at, (uint64_t)v); }
void clf_undo(clf_component *c, int32_t top);
/** Try option (mask, maker) of node q: false, with nothing changed but the trail, if it is not legal. */
bool clf_decide(clf_component *c, int32_t q, uint32_t mask, int32_t maker);
/** Candidates of q: parts that compute a consumer of it and may compute q, too. *readers: parts that must read it. */
int clf_candidates(const clf_component *c, int32_t q, int32_t out[CLF_MOST_CANDIDATES], bool *read);
/** Ways to store q under a mask; 0 if the mask is none. */
int32_t clf_makers(const clf_component *c, int32_t q, uint32_t mask);
clf_ps clf_bound(const clf_component *c);

/* search_local.c */
/** Facts and state of the component of these nodes (ascending). local: a zero per graph node, zero again afterwards. demanded: nodes that
 *  others want in memory. *fits: false if it is too large. */
clf_status clf_component_new(clf_component *c, const clf_problem *p, const int32_t *node, int32_t n, int32_t *local, const uint8_t *demanded,
                             clf_arena *arena, bool *fits, clf_err *err);

/* search_cover.c */
/** Price what is decided, all nodes being so; keep it if it is legal and the cheapest. */
clf_status clf_leaf(clf_component *c, clf_err *err);
/** The cheapest that was found, as the parts of the cover lent to the component. */
void clf_leaf_of_best(clf_component *c, clf_cover *to);
#endif
