/* SPDX-License-Identifier: Apache-2.0
 * What the passes of one selection share: arrays indexed by node. select.c finds loops and what must be stored, products.c says which
 * products are none, parts.c cuts the loops into kernels. Private to them. */
#ifndef CLF_PLANNER_PASS_H
#define CLF_PLANNER_PASS_H
#include "planner/select.h"

typedef struct clf_pass {
    const clf_graph *g;
    const clf_memo *m;
    const clf_selector *sel;
    const clf_limits *lim;
    clf_arena *arena;
    clf_cover *out;
    int32_t *level, *parent; /* parent: union-find over loop nodes */
    uint8_t *cone, *need;    /* operators and operands of a copied expression; cone saturates */
    int32_t *readers;        /* values a loop hands on inside: how many nodes take them */
    uint8_t *live;
    uint8_t *stored;         /* node's value goes to memory */
    int32_t *part_of;        /* node -> part that computes it, -1: none yet, or nobody needs it there */
    uint8_t *library;        /* products that the library computes, CBINDs and CUMs that the host does */
    uint8_t *loops;          /* node -> is it computed in a loop, rather than by an operator of its own? */
    uint8_t *fused, *chained; /* node -> bit k: input k is fused; and comes from the same loop (select.c) */
    int32_t ncut_cap;
} clf_pass;

/** Does the value of input k come to n inside one loop, without memory: copied, or from the same loop? */
static inline bool clf_pass_inside(const clf_pass *p, int32_t n, int k) {
    bool copied = p->loops[n] && (p->out->copies[n] >> k & 1);
    return copied || ((p->chained[n] >> k & 1) && p->level[clf_node_operand(p->g, n, k)] == p->level[n]);
}
/** Note anew which nodes loop, and which edges are fused: p->library has changed. */
void clf_pass_edges(clf_pass *p);
/** The loop of node n, named by its first node. */
int32_t clf_pass_loop(clf_pass *p, int32_t n);
/** Note why the edge goes through memory. */
void clf_pass_cut(clf_pass *p, int32_t from, int32_t to, clf_reason why);

/* products.c */
/** Fill p->library, before anything is known of loops. */
clf_status clf_pass_products(clf_pass *p, clf_err *err);
/** The same for CBINDs and CUMs along rows that the host makes (callouts.c). */
clf_status clf_pass_callouts(clf_pass *p, clf_err *err);
/** Add what has a loop to itself to p->library. */
clf_status clf_pass_lonely(clf_pass *p, clf_err *err);

/* parts.c */
/** Fill the cover's parts. */
clf_status clf_pass_parts(clf_pass *p, clf_err *err);
#endif
