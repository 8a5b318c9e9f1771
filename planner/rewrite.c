/* SPDX-License-Identifier: Apache-2.0
 * The rewrite pass: copy, let rules look, drop what is left over; see rewrite.h for what a rule may do.
 *
 * stands[] says which node stands for one of the new graph once the rules have looked at it, so equal nodes are looked at once. What a
 * rule builds is looked at like what was copied, its operands first, by a stack of our own: in the end every node that is kept has been
 * shown to the rules as it is, so rewriting a rewritten graph changes nothing. What nobody used in the old graph is kept like a result: a
 * rewritten graph keeps all of its nodes when it is rewritten again, whatever results are asked of it. */
#include "planner/rewrite.h"

#include <string.h>

#include "formats/fmt.h"
#include "planner/rewriter.h"
#include "planner/template.h"

typedef struct frame {
    int32_t node; /* to be settled */
    int32_t then; /* what was found to be looked at in its place, -1: nothing yet */
} frame;

typedef struct pass {
    clf_rewriter w;
    const clf_graph *old;
    uint64_t used[CLF_AT_KINDS]; /* by kind of operator: the rules that are shown it, a bit each */
    int32_t *map;                /* old node -> what stands for it */
    int32_t *stands;             /* new node -> what stands for it, + 1; 0: not looked at; BUSY: on the stack */
    int32_t nstands;
    frame *stack;
    int32_t depth, cap_stack;
    int32_t *fired;
} pass;

enum { BUSY = -1 };

static bool stands_room(pass *p) {
    if (p->w.g.n <= p->nstands) return true;
    int32_t *v = clf_arena_new(p->w.scratch, (size_t)p->w.cap, sizeof *v);
    if (!v) return !(p->w.failed = true);
    if (p->nstands) memcpy(v, p->stands, (size_t)p->nstands * sizeof *v);
    p->stands = v;
    p->nstands = p->w.cap;
    return true;
}

static bool push(pass *p, int32_t n) {
    if (p->depth == p->cap_stack) {
        int32_t cap = p->cap_stack ? 2 * p->cap_stack : 64;
        frame *v = clf_arena_new(p->w.scratch, (size_t)cap, sizeof *v);
        if (!v) return !(p->w.failed = true);
        if (p->depth) memcpy(v, p->stack, (size_t)p->depth * sizeof *v);
        p->stack = v;
        p->cap_stack = cap;
    }
    p->stack[p->depth++] = (frame){n, -1};
    p->stands[n] = BUSY;
    return true;
}

static bool may_stand(const clf_graph *g, int32_t n, int32_t m) {
    return clf_same_form(&g->node[n], &g->node[m]) && g->node[n].zeros == g->node[m].zeros;
}

static void find_used(pass *p, const clf_gate *gate) {
    for (int r = 0; clf_rules[r].id; r++) {
        bool used = clf_rules[r].kind <= (clf_rule_kind)gate->math && !(gate->off >> r & 1);
        if (gate->gpu && (clf_rules[r].at & CLF_AT_CPUS)) continue;
        for (unsigned at = used ? clf_rules[r].at & ~(unsigned)CLF_AT_CPUS : 0; at; at &= at - 1)
            p->used[__builtin_ctz(at)] |= UINT64_C(1) << r;
    }
}

/* The first rule that has something else for n; -1: none has. */
static int32_t apply_rules(pass *p, int32_t n) {
    int kind = clf_rule_at(p->w.g.node[n].op);
    for (uint64_t left = kind < 0 ? 0 : p->used[kind]; left && !p->w.failed; left &= left - 1) {
        int r = __builtin_ctzll(left);
        p->w.rule = r;
        int32_t m = clf_rules[r].apply(&p->w, n);
        if (m < 0 || m == n || !may_stand(&p->w.g, n, m)) continue;
        if (!stands_room(p)) return -1;
        if (p->stands[m] == BUSY) continue; /* a way back: not smaller after all */
        if (p->fired) p->fired[r]++;
        return m;
    }
    return -1;
}

/* An operand of n that has to be settled first; -1: none. */
static int32_t unsettled(const pass *p, int32_t n) {
    const clf_gnode *x = &p->w.g.node[n];
    for (int k = 0; k < x->nin; k++)
        if (!p->stands[x->in[k]]) return x->in[k];
    return -1;
}

/* n with what stands for its operands. */
static int32_t with_settled(pass *p, int32_t n) {
    clf_gnode x;
    memcpy(&x, &p->w.g.node[n], sizeof x);
    bool same = true;
    for (int k = 0; k < x.nin; k++) {
        int32_t to = p->stands[x.in[k]] > 0 ? p->stands[x.in[k]] - 1 : x.in[k];
        same = same && to == x.in[k];
        x.in[k] = to;
    }
    return same ? n : clf_rewriter_put(&p->w, &x);
}

/* What is to be looked at in place of n, whose operands are settled: n with other operands, or what a rule has; -1: n is final. */
static int32_t next_of(pass *p, int32_t n) {
    int32_t m = with_settled(p, n);
    if (m < 0 || !stands_room(p)) return -1;
    return m != n && p->stands[m] != BUSY ? m : apply_rules(p, n);
}

/* One step of the node on top of the stack. */
static void step(pass *p) {
    frame *f = &p->stack[p->depth - 1];
    int32_t n = f->node, below = f->then < 0 ? unsettled(p, n) : -1;
    if (below >= 0) {
        push(p, below);
        return;
    }
    if (f->then < 0) f->then = next_of(p, n);
    int32_t then = f->then;
    if (!stands_room(p)) return;
    if (then >= 0 && !p->stands[then]) {
        push(p, then);
        return;
    }
    p->stands[n] = then >= 0 && p->stands[then] > 0 ? p->stands[then] : n + 1;
    p->depth--;
}

/* What stands for new node n. */
static int32_t settle(pass *p, int32_t n) {
    if (!stands_room(p)) return n;
    if (!p->stands[n]) push(p, n);
    while (p->depth && !p->w.failed) step(p);
    return p->w.failed || p->stands[n] <= 0 ? n : p->stands[n] - 1;
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

/* What a run goes through at least, as it is stored. */
static double bytes_of(const clf_graph *g) {
    double sum = 0;
    for (int32_t n = 0; n < g->n; n++) {
        const clf_gnode *x = &g->node[n];
        bool stored = clf_node_is_slot(x) && x->format == CLF_CSR;
        if (clf_node_is_slot(x)) sum += stored ? clf_csr_bytes(clf_rows(x), x->nnz, (clf_dtype)x->dtype) : clf_gnode_bytes(x);
    }
    for (int32_t r = 0; r < g->nroot; r++) sum += clf_gnode_bytes(&g->node[g->root[r]]);
    return sum;
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
    out->bytes = bytes_of(out);
    return CLF_OK;
}

clf_status clf_rewrite(const clf_graph *g, const clf_gate *gate, clf_arena *arena, clf_arena *scratch, clf_graph *out, int32_t *fired,
                       clf_err *err) {
    pass p = {.w = {.arena = arena, .scratch = scratch}, .old = g, .fired = fired};
    find_used(&p, gate ? gate : &(clf_gate){0});
    p.map = clf_arena_new(scratch, (size_t)g->n, sizeof *p.map);
    if (!p.map || !clf_rewriter_begin(&p.w, g->n)) return clf_fail(err, CLF_E_NOMEM, "planning: out of memory for %d nodes", g->n);
    for (int32_t n = 0; n < g->n && !p.w.failed; n++) copy_node(&p, n);
    if (p.w.failed) return clf_fail(err, CLF_E_NOMEM, "planning: out of memory for rewriting %d nodes", g->n);
    return finish(&p, out, err);
}
