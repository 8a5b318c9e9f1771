/* SPDX-License-Identifier: Apache-2.0
 * The facts of a problem, each found in one pass over the nodes; and what a loop of given nodes must keep. See problem.h. */
#include "planner/problem.h"

#include <string.h>

static bool can_loop(const clf_graph *g, int32_t n) {
    const clf_gnode *x = &g->node[n];
    if (x->op == CLF_OP_MATMUL) return clf_product_loop(g, n) != CLF_PRODUCT_NONE;
    return clf_node_is_cellwise(x) || x->op == CLF_OP_FOLD || clf_node_is_row_cum(x) || clf_node_is_row_cat(g, n);
}

/* A product whose zeros mean more than the library knows, or that shall have the same bits in all plans, stays in a loop. */
static bool can_alone(const clf_problem *p, int32_t n) {
    const clf_gnode *x = &p->g->node[n];
    if (!can_loop(p->g, n)) return true;
    if (x->op != CLF_OP_MATMUL) return x->op == CLF_OP_CBIND || x->op == CLF_OP_CUM;
    bool own = p->lim->own_products && clf_product_loop(p->g, n) != CLF_PRODUCT_WIDE;
    return !own && (!clf_product_annihilates(p->g, n) || clf_product_of_entries(p->g, n));
}

static void find_abilities(clf_problem *p) {
    for (int32_t r = 0; r < p->g->nroot; r++) p->is[p->g->root[r]] |= CLF_IS_ROOT | CLF_IS_NEEDED;
    for (int32_t n = p->g->n; n-- > 0;) {
        if (clf_node_is_slot(&p->g->node[n])) {
            p->is[n] |= CLF_IS_SLOT;
            continue;
        }
        p->is[n] |= (uint8_t)((can_loop(p->g, n) ? CLF_CAN_LOOP : 0) | (can_alone(p, n) ? CLF_CAN_ALONE : 0));
        for (int k = 0; k < p->g->node[n].nin && (p->is[n] & CLF_IS_NEEDED); k++) p->is[clf_node_operand(p->g, n, k)] |= CLF_IS_NEEDED;
    }
}

int clf_problem_sources(const clf_problem *p, int32_t n, int32_t out[]) {
    int32_t wait[CLF_MOST_SOURCES];
    int found = 0, depth = 0;
    wait[depth++] = n;
    while (depth) {
        const clf_gnode *x = &p->g->node[wait[--depth]];
        for (int k = 0; k < x->nin; k++) {
            bool more = p->is[x->in[k]] & CLF_IS_COPIED;
            if (more && depth < CLF_MOST_SOURCES) wait[depth++] = x->in[k];
            if (!more && found < CLF_MOST_SOURCES) out[found++] = x->in[k];
        }
    }
    return found;
}

static void find_edges(clf_problem *p) {
    const clf_graph *g = p->g;
    for (int32_t n = 0; n < g->n; n++)
        for (int k = 0; k < g->node[n].nin; k++)
            if ((p->is[clf_node_operand(g, n, k)] & CLF_IS_COPIED) && clf_node_copies(g, n, k)) p->copies[n] |= (uint8_t)(1u << k);
    for (int32_t n = 0; n < g->n; n++)
        for (int k = 0; k < g->node[n].nin && (p->is[n] & CLF_CAN_LOOP); k++) {
            int32_t q = clf_node_operand(g, n, k);
            bool joins = clf_same_space(g, n, q) || clf_template_row.fuse(g, n, k);
            bool meets = (p->is[q] & CLF_CAN_LOOP) && joins && clf_memo_fusable(p->m, n, k);
            if (meets) p->ties[n] |= (uint8_t)(1u << k);
            if (meets && !(p->is[q] & CLF_IS_COPIED)) p->inside[n] |= (uint8_t)(1u << k);
            if (!clf_gnode_single(&g->node[q]) && !clf_product_whole(g, n, k) && !(p->copies[n] >> k & 1))
                p->by_rows[n] |= (uint8_t)(1u << k);
        }
    for (int32_t n = 0; n < g->n; n++) p->ties[n] |= p->by_rows[n];
}

/* Loops of several rows are of one class if they have equally many; others if their cells are as many, too. Numbered in order of
 * appearance; found by hash. */
static clf_status find_classes(clf_problem *p, clf_arena *arena, clf_err *err) {
    const clf_graph *g = p->g;
    size_t nb = 64;
    while (nb < (size_t)g->n) nb *= 2;
    int32_t *bucket = clf_arena_new(arena, nb, sizeof *bucket), *chain = clf_arena_new(arena, (size_t)g->n, sizeof *chain);
    int64_t(*key)[2] = clf_arena_new(arena, (size_t)g->n, sizeof *key);
    if (!bucket || !chain || !key) return clf_fail(err, CLF_E_NOMEM, "planning: out of memory");
    for (int32_t n = 0; n < g->n; n++) {
        p->class_[n] = -1;
        if (!(p->is[n] & CLF_CAN_LOOP)) continue;
        int64_t k[2];
        clf_node_space(g, n, k);
        k[0] = clf_node_loop_rows(g, n);
        if (k[0] > 1) k[1] = -1;
        size_t h = clf_hash64(k, sizeof k, 0) & (nb - 1);
        int32_t c = bucket[h];
        while (c && memcmp(key[c - 1], k, sizeof k) != 0) c = chain[c - 1];
        if (!c) {
            c = ++p->nclass;
            memcpy(key[c - 1], k, sizeof k);
            chain[c - 1] = bucket[h];
            bucket[h] = c;
        }
        p->class_[n] = c - 1;
    }
    return CLF_OK;
}

static void find_devices(clf_problem *p) {
    for (int d = 0; d < p->dev.n; d++) {
        p->wait[d] = d ? clf_cost_wait(p->dev.profile[d]) : 0;
        p->host_beside = p->host_beside || (p->dev.n > 1 && p->dev.profile[d]->kind == CLF_DEV_HOST);
    }
}

_Static_assert(CLF_MOST_DEVICES <= 8, "alone_on has a bit for each");

static void find_alone(clf_problem *p) {
    for (int32_t n = 0; n < p->g->n; n++)
        for (int d = 0; d < p->dev.n; d++)
            if (!d || !p->dev.loops_only[d] || clf_cost_gemm_takes(p->dev.profile[d], p->g, n)) p->alone_on[n] |= (uint8_t)(1u << d);
}

int clf_problem_alone_count(const clf_problem *p, int32_t n) {
    int count = 0;
    for (unsigned m = p->alone_on[n]; m; m &= m - 1) count++;
    return count;
}

int clf_problem_alone_at(const clf_problem *p, int32_t n, int k) {
    int d = 0;
    while (!clf_problem_alone_on(p, n, d) || k-- > 0) d++;
    return d;
}

clf_ps clf_problem_bring(const clf_problem *p, int32_t q, double bytes, int from, int to) {
    clf_ps there = to ? clf_cost_transfer(p->dev.profile[to], bytes) : 0;
    if (to && p->dev.resident[to] && (p->is[q] & CLF_IS_SLOT)) {
        int64_t credit = p->dev.resident[to][p->g->node[q].attr[0]];
        there = there > credit ? there - credit : 0;
    }
    return from ? clf_ps_add(clf_cost_transfer(p->dev.profile[from], bytes), there) : there;
}

clf_status clf_problem_new(const clf_memo *m, const clf_limits *lim, clf_arena *arena, clf_problem *out, clf_err *err) {
    size_t n = (size_t)m->g->n;
    memset(out, 0, sizeof *out);
    out->g = m->g;
    out->m = m;
    out->lim = lim;
    out->dev = lim->dev;
    out->is = clf_arena_new(arena, n, 1);
    out->alone_on = clf_arena_new(arena, n, 1);
    out->inside = clf_arena_new(arena, n, 1);
    out->copies = clf_arena_new(arena, n, 1);
    out->ties = clf_arena_new(arena, n, 1);
    out->by_rows = clf_arena_new(arena, n, 1);
    out->copied = clf_arena_new(arena, n, 1);
    out->cone = clf_arena_new(arena, n, 1);
    out->need = clf_arena_new(arena, n, 1);
    out->class_ = clf_arena_new(arena, n, sizeof *out->class_);
    for (int32_t i = 0; i < m->g->n; i++) out->nsparse += m->g->node[i].format == CLF_CSR;
    out->sparse = clf_arena_new(arena, (size_t)out->nsparse, sizeof *out->sparse);
    if (!out->sparse || !out->is || !out->copied || !out->inside || !out->copies || !out->ties || !out->by_rows || !out->cone ||
        !out->need || !out->class_ || !out->alone_on)
        return clf_fail(err, CLF_E_NOMEM, "planning: out of memory");
    out->nsparse = 0;
    for (int32_t i = 0; i < m->g->n; i++)
        if (m->g->node[i].format == CLF_CSR) out->sparse[out->nsparse++] = i;
    find_devices(out);
    find_alone(out);
    find_abilities(out);
    clf_find_copies(out->g, out->copied, out->cone, out->need);
    for (int32_t n = 0; n < out->g->n; n++) out->is[n] |= out->copied[n] ? CLF_IS_COPIED : 0;
    find_edges(out);
    return find_classes(out, arena, err);
}

/* ---- what a loop keeps ---- */

enum { MEMBER = 1, OPERAND = 2, COPY = 4 }; /* an operand may be read for one node and copied for another */

typedef struct load {
    int ops, operands, axes, nwidth;
    int64_t width[CLF_MAX_AXES]; /* different numbers of columns: an axis each */
} load;

static void add_width(load *l, int64_t w) {
    if (w == 1) return;
    for (int i = 0; i < l->nwidth; i++)
        if (l->width[i] == w) return;
    if (l->nwidth < CLF_MAX_AXES) l->width[l->nwidth++] = w;
    l->axes++;
}

static void add_node(const clf_problem *p, load *l, int32_t n, uint8_t *mark) {
    const clf_gnode *x = &p->g->node[n];
    l->ops++;
    l->operands += clf_node_immediates(x);
    l->axes += x->op == CLF_OP_MATMUL;
    add_width(l, clf_cols(x));
    for (int k = 0; k < x->nin; k++) {
        int32_t q = clf_node_operand(p->g, n, k);
        add_width(l, clf_cols(&p->g->node[q]));
        bool copied = p->copies[n] >> k & 1;
        uint8_t as = copied ? COPY : OPERAND;
        if (mark[q] & (MEMBER | as)) continue;
        mark[q] |= as;
        l->ops += copied ? p->cone[q] : 0;
        l->operands += copied ? p->need[q] : 1;
    }
}

clf_reason clf_problem_limit(const clf_problem *p, const int32_t *node, int32_t n, int32_t stored, uint8_t *mark) {
    load l = {.operands = stored};
    if (n == 1) return CLF_NREASONS; /* an operator alone, with what it copies, is a kernel in any case */
    for (int32_t i = 0; i < n; i++) mark[node[i]] = MEMBER;
    for (int32_t i = 0; i < n; i++) add_node(p, &l, node[i], mark);
    for (int32_t i = 0; i < n; i++) {
        mark[node[i]] = 0;
        for (int k = 0; k < p->g->node[node[i]].nin; k++) mark[clf_node_operand(p->g, node[i], k)] = 0;
    }
    if (l.ops > p->lim->kernel_ops) return CLF_CUT_KERNEL_OPS;
    if (l.axes > CLF_MAX_AXES - 2) return CLF_CUT_KERNEL_AXES;
    return l.operands > p->lim->kernel_inputs ? CLF_CUT_KERNEL_ARGS : CLF_NREASONS;
}

static int32_t root_of(int32_t *up, int32_t i) {
    while (up[i] != i) i = up[i] = up[up[i]];
    return i;
}

/* owner[q]: 1 + the first node that computes q or reads it by rows. */
bool clf_problem_connected(const clf_problem *p, const int32_t *node, int32_t n, int32_t *up, int32_t *owner) {
    int32_t apart = n;
    for (int32_t i = 0; i < n; i++) {
        up[i] = i;
        owner[node[i]] = i + 1;
    }
    for (int32_t i = 0; i < n; i++)
        for (int k = 0; k < p->g->node[node[i]].nin; k++) {
            int32_t q = clf_node_operand(p->g, node[i], k);
            if (!(p->ties[node[i]] >> k & 1)) continue;
            bool read = p->by_rows[node[i]] >> k & 1, computed = owner[q] && node[owner[q] - 1] == q;
            if (!read && !computed) continue;
            if (!owner[q]) owner[q] = i + 1;
            int32_t a = root_of(up, i), b = root_of(up, owner[q] - 1);
            if (a == b) continue;
            up[a > b ? a : b] = a > b ? b : a;
            apart--;
        }
    for (int32_t i = 0; i < n; i++) {
        owner[node[i]] = 0;
        for (int k = 0; k < p->g->node[node[i]].nin; k++) owner[clf_node_operand(p->g, node[i], k)] = 0;
    }
    return apart == 1;
}
