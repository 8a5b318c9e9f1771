/* SPDX-License-Identifier: Apache-2.0
 * The rewrite pass: copy, let rules look, drop what is left over; see rewrite.h for what a rule may do.
 *
 * stands[] says which node stands for one of the new graph once the rules have looked at it, so equal nodes are looked at once. What
 * nobody used in the old graph is kept like a result: a rewritten graph keeps all of its nodes when it is rewritten again, whatever
 * results are asked of it. */
#include "planner/rewrite.h"

#include <string.h>

#include "planner/rewriter.h"

enum { MOST_APPLICATIONS = 64 }; /* on the way from one node to what stands for it: no rule needs more */

typedef struct pass {
    clf_rewriter w;
    const clf_graph *old;
    int32_t *map;    /* old node -> what stands for it */
    int32_t *stands; /* new node -> what stands for it, + 1; 0: not looked at */
    int32_t nstands;
    int32_t *fired;
} pass;

static bool stands_room(pass *p) {
    if (p->w.g.n <= p->nstands) return true;
    int32_t *v = clf_arena_new(p->w.scratch, (size_t)p->w.cap, sizeof *v);
    if (!v) return !(p->w.failed = true);
    if (p->nstands) memcpy(v, p->stands, (size_t)p->nstands * sizeof *v);
    p->stands = v;
    p->nstands = p->w.cap;
    return true;
}

/* The first rule that has something else for n; -1: none has. */
static int32_t apply_rules(pass *p, int32_t n) {
    for (int r = 0; clf_rules[r].name && !p->w.failed; r++) {
        if (clf_rules[r].kind != CLF_RULE_EXACT) continue;
        p->w.rule = r;
        int32_t m = clf_rules[r].apply(&p->w, n);
        if (m < 0 || m == n) continue;
        if (p->fired) p->fired[r]++;
        return m;
    }
    return -1;
}

/* What stands for new node n. */
static int32_t settle(pass *p, int32_t n) {
    int32_t at = n;
    for (int i = 0; i < MOST_APPLICATIONS && stands_room(p) && !p->stands[at]; i++) {
        int32_t m = apply_rules(p, at);
        if (m < 0) break;
        at = m;
    }
    if (!stands_room(p)) return n;
    if (p->stands[at]) at = p->stands[at] - 1;
    p->stands[n] = p->stands[at] = at + 1;
    return at;
}

static void copy_node(pass *p, int32_t n) {
    clf_gnode x;
    memcpy(&x, &p->old->node[n], sizeof x); /* padding too */
    for (int k = 0; k < x.nin; k++) x.in[k] = p->map[x.in[k]];
    int32_t m = clf_rewriter_put(&p->w, &x);
    if (m >= 0) p->map[n] = settle(p, m);
}

/* New nodes that results, or what nobody used before, are made of. */
static void find_live(const pass *p, uint8_t *used, uint8_t *live) {
    const clf_graph *g = p->old;
    for (int32_t n = 0; n < g->n; n++)
        for (int k = 0; k < g->node[n].nin; k++) used[g->node[n].in[k]] = 1;
    for (int32_t n = 0; n < g->n; n++)
        if (!used[n]) live[p->map[n]] = 1;
    for (int32_t r = 0; r < g->nroot; r++) live[p->map[g->root[r]]] = 1;
    for (int32_t n = p->w.g.n; n-- > 0;)
        for (int k = 0; k < p->w.g.node[n].nin && live[n]; k++) live[p->w.g.node[n].in[k]] = 1;
}

/* Live nodes move to the front, in place; number[] becomes their new ids. */
static void drop_dead(clf_graph *g, const uint8_t *live, int32_t *number) {
    int32_t kept = 0;
    for (int32_t n = 0; n < g->n; n++) {
        if (!live[n]) continue;
        if (kept != n) memcpy(&g->node[kept], &g->node[n], sizeof *g->node);
        for (int k = 0; k < g->node[kept].nin; k++) g->node[kept].in[k] = number[g->node[kept].in[k]];
        number[n] = kept++;
    }
    g->n = kept;
}

static clf_status finish(pass *p, clf_graph *out, clf_err *err) {
    const clf_graph *g = p->old;
    int32_t *root = clf_arena_new(p->w.arena, (size_t)g->nroot, sizeof *root);
    uint8_t *used = clf_arena_new(p->w.scratch, (size_t)g->n, 1), *live = clf_arena_new(p->w.scratch, (size_t)p->w.g.n, 1);
    int32_t *number = clf_arena_new(p->w.scratch, (size_t)p->w.g.n, sizeof *number);
    if (!root || !used || !live || !number) return clf_fail(err, CLF_E_NOMEM, "planning: out of memory for %d nodes", p->w.g.n);
    find_live(p, used, live);
    drop_dead(&p->w.g, live, number);
    for (int32_t r = 0; r < g->nroot; r++) root[r] = number[p->map[g->root[r]]];
    *out = p->w.g;
    out->root = root;
    out->nroot = g->nroot;
    out->nslot = g->nslot;
    return CLF_OK;
}

clf_status clf_rewrite(const clf_graph *g, clf_arena *arena, clf_arena *scratch, clf_graph *out, int32_t *fired, clf_err *err) {
    pass p = {.w = {.arena = arena, .scratch = scratch}, .old = g, .fired = fired};
    p.map = clf_arena_new(scratch, (size_t)g->n, sizeof *p.map);
    if (!p.map || !clf_rewriter_begin(&p.w, g->n)) return clf_fail(err, CLF_E_NOMEM, "planning: out of memory for %d nodes", g->n);
    for (int32_t n = 0; n < g->n && !p.w.failed; n++) copy_node(&p, n);
    if (p.w.failed) return clf_fail(err, CLF_E_NOMEM, "planning: out of memory for rewriting %d nodes", g->n);
    return finish(&p, out, err);
}
