/* SPDX-License-Identifier: Apache-2.0
 * From memo and selector to a cover, in passes over arrays indexed by node. See select.h for the idea. */
#include <string.h>

#include "planner/pass.h"

static bool loops(const clf_pass *p, int32_t n) {
    const clf_gnode *x = &p->g->node[n];
    if (x->op == CLF_OP_MATMUL || x->op == CLF_OP_CBIND || clf_node_is_row_cum(x)) return !p->library[n];
    return clf_node_is_cellwise(x) || x->op == CLF_OP_FOLD;
}

/* A fused input comes from the same loop if that goes over the same cells, or the same rows; else it is a copy of its own. */
void clf_pass_edges(clf_pass *p) {
    const clf_graph *g = p->g;
    for (int32_t n = 0; n < g->n; n++) {
        p->loops[n] = loops(p, n);
        p->fused[n] = p->chained[n] = 0;
        for (int k = 0; k < g->node[n].nin && p->loops[n]; k++) {
            int32_t q = clf_node_operand(g, n, k);
            if (!p->loops[q] || !clf_memo_fusable(p->m, n, k) || !p->sel->fuse(p->sel, p->m, n, k)) continue;
            p->fused[n] |= (uint8_t)(1u << k);
            if (clf_same_space(g, n, q) || clf_template_row.fuse(g, n, k)) p->chained[n] |= (uint8_t)(1u << k);
        }
    }
}

static bool fused(const clf_pass *p, int32_t n, int k) { return p->fused[n] >> k & 1; }
static bool chained(const clf_pass *p, int32_t n, int k) { return p->chained[n] >> k & 1; }
static bool copies(const clf_pass *p, int32_t n, int k) { return p->loops[n] && (p->out->copies[n] >> k & 1); }

static void find_levels(clf_pass *p) {
    for (int32_t n = 0; n < p->g->n; n++) {
        int32_t lv = 0;
        for (int k = 0; k < p->g->node[n].nin; k++) {
            int32_t q = clf_node_operand(p->g, n, k);
            bool slot = clf_node_is_slot(&p->g->node[q]);
            bool open = copies(p, n, k) || chained(p, n, k);
            int32_t need = p->level[q] + (slot || open ? 0 : 1);
            if (need > lv) lv = need;
        }
        p->level[n] = lv;
    }
}

/* Cells that nobody needs in memory run as late as their first reader: what would be stored for it, and read again, is computed in
 * its pass instead. Backwards, so that chains move as a whole. Levels only grow, so what a node reads stays below it. */
static clf_status move_late(clf_pass *p, clf_err *err) {
    const clf_graph *g = p->g;
    enum { PINNED = -1 };
    int32_t *first = clf_arena_new(p->arena, (size_t)g->n, sizeof *first); /* level of the first reader + 1; 0: none so far */
    if (!first) return clf_fail(err, CLF_E_NOMEM, "planning: out of memory");
    for (int32_t r = 0; r < g->nroot; r++) first[g->root[r]] = PINNED;
    for (int32_t n = g->n; n-- > 0;) {
        if (!first[n]) continue; /* unreachable */
        bool late = p->loops[n] && clf_template_row.close(g, n) != CLF_CLOSED_VALID && !p->out->copied[n];
        if (late && first[n] != PINNED && first[n] - 1 > p->level[n]) p->level[n] = first[n] - 1;
        for (int k = 0; k < g->node[n].nin; k++) {
            int32_t q = clf_node_operand(g, n, k), at = p->level[n] + 1;
            if (!chained(p, n, k))
                first[q] = PINNED;
            else if (first[q] != PINNED && (!first[q] || at < first[q]))
                first[q] = at;
        }
    }
    return CLF_OK;
}

int32_t clf_pass_loop(clf_pass *p, int32_t a) {
    while (p->parent[a] != a) a = p->parent[a] = p->parent[p->parent[a]];
    return a;
}

static void join(clf_pass *p, int32_t a, int32_t b) {
    a = clf_pass_loop(p, a);
    b = clf_pass_loop(p, b);
    if (a < b)
        p->parent[b] = a;
    else
        p->parent[a] = b;
}

typedef struct reader {
    int32_t source, level;
    int64_t space[2];
    int32_t node, next;
} reader;

/* Loops of one level over the same rows that read the same matrix become one; those that only share a vector must be over the same
 * cells. Chained hashing over (matrix, level, space). */
static clf_status join_readers(clf_pass *p, clf_err *err) {
    const clf_graph *g = p->g;
    size_t nb = 64;
    while (nb < (size_t)g->n) nb *= 2;
    int32_t *bucket = clf_arena_new(p->arena, nb, sizeof *bucket);
    reader *r = clf_arena_new(p->arena, (size_t)g->n * 3, sizeof *r);
    if (!bucket || !r) return clf_fail(err, CLF_E_NOMEM, "planning: out of memory");
    int32_t nr = 0;
    for (int32_t n = 0; n < g->n; n++) {
        if (!p->loops[n]) continue;
        for (int k = 0; k < g->node[n].nin; k++) {
            int32_t q = clf_node_operand(g, n, k);
            if (clf_pass_inside(p, n, k) || clf_gnode_single(&g->node[q]) || clf_product_whole(g, n, k)) continue;
            reader key = {q, p->level[n], {0, 0}, n, 0};
            clf_node_space(g, n, key.space);
            key.space[0] = clf_node_loop_rows(g, n);
            if (clf_cols(&g->node[q]) > 1 && clf_rows(&g->node[q]) > 1) key.space[1] = -1;
            int64_t what[4] = {q, key.level, key.space[0], key.space[1]};
            uint64_t h = clf_hash64(what, sizeof what, 0) & (nb - 1);
            int32_t e = bucket[h];
            while (e && !(r[e - 1].source == q && r[e - 1].level == key.level && !memcmp(r[e - 1].space, key.space, sizeof key.space)))
                e = r[e - 1].next;
            if (e)
                join(p, r[e - 1].node, n);
            else {
                key.next = bucket[h];
                r[nr++] = key;
                bucket[h] = nr;
            }
        }
    }
    return CLF_OK;
}

void clf_pass_cut(clf_pass *p, int32_t from, int32_t to, clf_reason why) {
    if (p->out->ncut < p->ncut_cap) p->out->cut[p->out->ncut++] = (clf_cut){from, to, (uint8_t)why};
}

static clf_reason why_cut(const clf_pass *p, int32_t n, int k, int32_t q) {
    if (!p->loops[n] || !p->loops[q]) return CLF_CUT_TEMPLATE;
    if (clf_template_row.close(p->g, q) == CLF_CLOSED_VALID) return CLF_CUT_BARRIER;
    if (!clf_memo_fusable(p->m, n, k)) return CLF_CUT_LOOPS;
    return fused(p, n, k) ? CLF_CUT_SHARED : CLF_CUT_SELECTOR;
}

/* What must reach memory, and who is computed at all in its own part: backwards from roots and memory edges. */
static void find_demand(clf_pass *p) {
    const clf_graph *g = p->g;
    for (int32_t r = 0; r < g->nroot; r++)
        if (!clf_node_is_slot(&g->node[g->root[r]])) {
            p->stored[g->root[r]] = 1;
            clf_pass_cut(p, g->root[r], -1, CLF_CUT_RESULT);
        }
    for (int32_t n = g->n; n-- > 0;) {
        if (p->stored[n] && !clf_node_is_slot(&g->node[n])) p->live[n] |= 1;
        if (!p->live[n]) continue;
        for (int k = 0; k < g->node[n].nin; k++) {
            int32_t q = clf_node_operand(g, n, k);
            if (clf_pass_inside(p, n, k)) {
                bool own = !p->out->copied[q] || (chained(p, n, k) && p->level[q] == p->level[n] &&
                                                  clf_pass_loop(p, q) == clf_pass_loop(p, n) && (p->live[n] & 1));
                p->live[q] |= own ? 1 : 2; /* 2: only copies of it are needed */
                continue;
            }
            if (clf_node_is_slot(&g->node[q])) continue;
            p->stored[q] = 1;
            clf_pass_cut(p, q, n, why_cut(p, n, k, q));
        }
    }
}

static clf_status begin(clf_pass *p, clf_err *err) {
    size_t n = (size_t)p->g->n;
    p->level = clf_arena_new(p->arena, n, sizeof *p->level);
    p->parent = clf_arena_new(p->arena, n, sizeof *p->parent);
    p->cone = clf_arena_new(p->arena, n, 1);
    p->need = clf_arena_new(p->arena, n, 1);
    p->readers = clf_arena_new(p->arena, n, sizeof *p->readers);
    p->live = clf_arena_new(p->arena, n, 1);
    p->library = clf_arena_new(p->arena, n, 1);
    p->loops = clf_arena_new(p->arena, n, 1);
    p->fused = clf_arena_new(p->arena, n, 1);
    p->chained = clf_arena_new(p->arena, n, 1);
    p->stored = clf_arena_new(p->arena, n, 1);
    p->part_of = clf_arena_new(p->arena, n, sizeof *p->part_of);
    p->ncut_cap = (int32_t)(3 * n) + p->g->nroot;
    if (!p->level || !p->parent || !p->cone || !p->need || !p->readers || !p->live || !p->library || !p->stored || !p->part_of ||
        !p->loops || !p->fused || !p->chained)
        return clf_fail(err, CLF_E_NOMEM, "planning: out of memory");
    for (int32_t i = 0; i < p->g->n; i++) {
        p->parent[i] = i;
        p->part_of[i] = -1;
    }
    return clf_cover_begin(p->out, p->g, p->ncut_cap, p->arena, err);
}

clf_status clf_select(const clf_memo *m, const clf_selector *sel, const clf_limits *lim, clf_arena *arena, clf_cover *out, clf_err *err) {
    clf_pass p = {.g = m->g, .m = m, .sel = sel, .lim = lim, .arena = arena, .out = out};
    CLF_TRY(begin(&p, err));
    CLF_TRY(clf_pass_products(&p, err));
    CLF_TRY(clf_pass_callouts(&p, err));
    clf_pass_edges(&p);
    if (sel->join) clf_find_copies(m->g, out->copied, p.cone, p.need);
    clf_cover_copies(out, m->g);
    find_levels(&p);
    if (sel->join) CLF_TRY(move_late(&p, err));
    for (int32_t n = 0; n < p.g->n; n++)
        for (int k = 0; k < p.g->node[n].nin; k++)
            if (chained(&p, n, k) && p.level[clf_node_operand(p.g, n, k)] == p.level[n]) join(&p, n, clf_node_operand(p.g, n, k));
    if (sel->join) CLF_TRY(join_readers(&p, err));
    find_demand(&p);
    CLF_TRY(clf_pass_lonely(&p, err));
    return clf_pass_parts(&p, err);
}
