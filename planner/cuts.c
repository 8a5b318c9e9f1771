/* SPDX-License-Identifier: Apache-2.0
 * Why edges go through memory in a cover that was searched, said after the fact: what no loop may do first (templates, aggregates,
 * different loops), then devices, then the limits of a kernel; what is left was a matter of cost.
 * Invariant: an edge, and a result, is named once, however many parts compute its consumer. */
#include <string.h>

#include "planner/problem.h"

typedef struct cutting {
    const clf_problem *p;
    clf_cover *c;
    uint8_t *said;          /* node -> bit k: the edge to operand k is in the list */
    uint8_t *mark, *wanted; /* a zero per node, between uses */
    int32_t *node;          /* room for one loop made of two */
    int32_t *cone;          /* and for a node with what is copied into its loop */
    uint8_t *taken;         /* a zero per node, between uses: it is in cone */
} cutting;

static int32_t stored_by(const clf_cover *c, int32_t part) {
    int32_t stored = 0;
    for (int32_t j = 0; j < c->part[part].n; j++) stored += clf_cover_stores(c, part, c->part[part].node[j]);
    return stored;
}

/* Behind the n nodes of the reader's loop, which is entered: what of part m must be computed again for q when only what is stored can be
 * read (again), or all of it. How many nodes that makes. */
static int32_t join_nodes(const cutting *w, int32_t m, int32_t q, int32_t reader, bool again) {
    const clf_part *from = &w->c->part[m], *to = &w->c->part[reader];
    int32_t n = to->n;
    memcpy(w->node, to->node, (size_t)n * sizeof *w->node);
    w->wanted[q] = 1;
    for (int32_t j = from->n; j-- > 0;) {
        int32_t x = from->node[j];
        bool take = !clf_cover_has(w->c, reader, x) && (!again || (w->wanted[x] && (x == q || !clf_cover_stores(w->c, m, x))));
        if (take) w->node[n++] = x;
        for (int k = 0; take && k < w->p->g->node[x].nin; k++) w->wanted[clf_node_operand(w->p->g, x, k)] = 1;
    }
    w->wanted[q] = 0;
    for (int32_t j = 0; j < from->n; j++)
        for (int k = 0; k < w->p->g->node[from->node[j]].nin; k++) w->wanted[clf_node_operand(w->p->g, from->node[j], k)] = 0;
    return n;
}

/* The limit that keeps q out of the reader's loop, both ways: computed again there, or both loops being one. */
static clf_reason over_limit(const cutting *w, int32_t q, int32_t reader) {
    int32_t m = w->c->maker[q], stored = stored_by(w->c, reader);
    clf_reason again = clf_problem_limit(w->p, w->node, join_nodes(w, m, q, reader, true), stored, w->mark);
    if (again == CLF_NREASONS) return again;
    clf_reason one = clf_problem_limit(w->p, w->node, join_nodes(w, m, q, reader, false), stored + stored_by(w->c, m), w->mark);
    return one == CLF_NREASONS ? one : again;
}

static clf_reason why(const cutting *w, int32_t reader, int32_t n, int k, int32_t q) {
    const clf_problem *p = w->p;
    const clf_part *from = &w->c->part[w->c->maker[q]], *to = &w->c->part[reader];
    if (!(p->is[n] & CLF_CAN_LOOP) || !(p->is[q] & CLF_CAN_LOOP)) return CLF_CUT_TEMPLATE;
    if (clf_template_row.close(p->g, q) == CLF_CLOSED_VALID) return CLF_CUT_BARRIER;
    if (!(p->inside[n] >> k & 1)) return CLF_CUT_LOOPS;
    if (from->device != to->device) return CLF_CUT_DEVICE;
    if (!from->loop || !to->loop) return CLF_CUT_ALONE;
    clf_reason limit = over_limit(w, q, reader);
    return limit == CLF_NREASONS ? CLF_CUT_COST : limit;
}

static void cut(clf_cover *c, int32_t from, int32_t to, clf_reason reason) { c->cut[c->ncut++] = (clf_cut){from, to, (uint8_t)reason}; }

/* Operand k of n, which the part that is entered computes, if it comes from another part's memory. An operand taken twice is one edge. */
static void cut_operand(const cutting *w, int32_t part, int32_t n, int k) {
    const clf_graph *g = w->p->g;
    int32_t q = clf_node_operand(g, n, k);
    bool twice = w->said[n] >> k & 1;
    for (int i = 0; i < k; i++) twice = twice || (clf_node_operand(g, n, i) == q && (w->said[n] >> i & 1));
    if (twice || w->c->maker[q] < 0 || clf_cover_has(w->c, part, q)) return;
    w->said[n] |= (uint8_t)(1u << k);
    cut(w->c, q, n, why(w, part, n, k, q));
}

/* Operands of n, a node of the part that is entered, and of what is copied into its loop. */
static void cut_operands(const cutting *w, int32_t part, int32_t n) {
    int32_t todo = 0;
    bool loop = w->c->part[part].loop;
    w->cone[todo++] = n;
    for (int32_t at = 0; at < todo; at++)
        for (int32_t x = w->cone[at], k = 0; k < w->p->g->node[x].nin; k++) {
            int32_t q = clf_node_operand(w->p->g, x, k);
            if (!loop || !(w->c->copies[x] >> k & 1)) {
                cut_operand(w, part, x, k);
            } else if (!w->taken[q]) {
                w->taken[q] = 1;
                w->cone[todo++] = q;
            }
        }
    for (int32_t i = 1; i < todo; i++) w->taken[w->cone[i]] = 0;
}

static void cut_results(const cutting *w) {
    const clf_graph *g = w->p->g;
    for (int32_t r = 0; r < g->nroot; r++) {
        if ((w->p->is[g->root[r]] & CLF_IS_SLOT) || w->mark[g->root[r]]) continue;
        w->mark[g->root[r]] = 1;
        cut(w->c, g->root[r], -1, CLF_CUT_RESULT);
    }
    for (int32_t r = 0; r < g->nroot; r++) w->mark[g->root[r]] = 0;
}

clf_status clf_cuts_find(const clf_problem *p, clf_cover *c, clf_arena *scratch, clf_err *err) {
    size_t n = (size_t)p->g->n;
    cutting w = {.p = p, .c = c, .said = clf_arena_new(scratch, n, 1), .mark = clf_arena_new(scratch, n, 1)};
    w.wanted = clf_arena_new(scratch, n, 1);
    w.node = clf_arena_new(scratch, n, sizeof *w.node);
    w.cone = clf_arena_new(scratch, n, sizeof *w.cone);
    w.taken = clf_arena_new(scratch, n, 1);
    if (!w.said || !w.mark || !w.wanted || !w.node || !w.cone || !w.taken)
        return clf_fail(err, CLF_E_NOMEM, "planning: out of memory for the reasons of cuts");
    c->ncut = 0;
    cut_results(&w);
    for (int32_t i = 0; i < c->npart; i++) {
        clf_cover_enter(c, i);
        for (int32_t j = 0; j < c->part[i].n; j++) cut_operands(&w, i, c->part[i].node[j]);
    }
    return CLF_OK;
}
