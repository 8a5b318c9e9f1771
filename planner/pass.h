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
    int32_t ncut_cap;
} clf_pass;

/** Is n computed in a loop, rather than by an operator of its own? */
bool clf_pass_loops(const clf_pass *p, int32_t n);
/** Does the value of input k come to n inside one loop, without memory? */
bool clf_pass_inside(const clf_pass *p, int32_t n, int k);
/** The loop of node n, named by its first node. */
int32_t clf_pass_loop(clf_pass *p, int32_t n);
/** Note why the edge goes through memory. */
void clf_pass_cut(clf_pass *p, int32_t from, int32_t to, clf_reason why);
/** Do a and b run over the same cells? */
bool clf_pass_same_space(const clf_graph *g, int32_t a, int32_t b);

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
