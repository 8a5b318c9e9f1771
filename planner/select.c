/* SPDX-License-Identifier: Apache-2.0
 * From memo and selector to a cover, in passes over arrays indexed by node. See select.h for the idea. */
#include "planner/select.h"

#include <string.h>

enum { COPY_OPS = 16 }; /* largest expression of scalars that is computed again in every loop that wants it */

typedef struct pass {
    const clf_graph *g;
    const clf_memo *m;
    const clf_selector *sel;
    const clf_limits *lim;
    clf_arena *arena;
    clf_cover *out;
    int32_t *level, *parent;  /* parent: union-find over loop nodes */
    uint8_t *cone, *need;     /* operators and operands of a copied expression; cone saturates */
    int32_t *readers;         /* values a loop hands on inside: how many nodes take them */
    uint8_t *live;
    int32_t ncut_cap;
} pass;

int32_t clf_product_operand(const clf_graph *g, int32_t n, int k, bool *transposed) {
    int32_t p = g->node[n].in[k];
    *transposed = g->node[p].op == CLF_OP_TRANSPOSE;
    return *transposed ? g->node[p].in[0] : p;
}

static bool is_loop(const clf_graph *g, int32_t n) { return clf_node_is_cellwise(&g->node[n]) || g->node[n].op == CLF_OP_FOLD; }

static bool same_space(const clf_graph *g, int32_t a, int32_t b) {
    int64_t x[2], y[2];
    clf_node_space(g, a, x);
    clf_node_space(g, b, y);
    return x[0] == y[0] && x[1] == y[1];
}

static bool fused(const pass *p, int32_t n, int k) {
    return is_loop(p->g, n) && clf_memo_fusable(p->m, n, k) && p->sel->fuse(p->m, n, k);
}

/* The node whose memory an unfused input needs. */
static int32_t source(const clf_graph *g, int32_t n, int k) {
    bool t;
    return g->node[n].op == CLF_OP_MATMUL ? clf_product_operand(g, n, k, &t) : g->node[n].in[k];
}

/* Scalar arguments that lowering adds for the operator itself. */
static int immediates(const clf_gnode *x) {
    if (x->op == CLF_OP_SEQ) return 3;
    return clf_op_is_cell(x->op) && clf_ops[x->op].type == CLF_TYPE_SELECT;
}

/* Expressions of single values only (scalars, fills, sequences): cheap enough to repeat. What they read is in memory anyway: a slot
 * or the result of an aggregate, never the inside of another loop. */
static void find_copies(pass *p) {
    for (int32_t n = 0; n < p->g->n; n++) {
        const clf_gnode *x = &p->g->node[n];
        if (!clf_node_is_cellwise(x) || x->op == CLF_OP_INDEX) continue;
        int ops = 1, need = immediates(x);
        bool cheap = true;
        for (int k = 0; k < x->nin; k++) {
            const clf_gnode *q = &p->g->node[x->in[k]];
            bool copied = p->out->copied[x->in[k]] && fused(p, n, k);
            ops += copied ? p->cone[x->in[k]] : 0;
            need += copied ? p->need[x->in[k]] : 1;
            cheap = cheap && (copied || (clf_gnode_single(q) && !clf_node_is_cellwise(q)));
        }
        cheap = cheap && ops <= COPY_OPS;
        p->out->copied[n] = cheap && p->sel->join;
        p->cone[n] = (uint8_t)(ops <= COPY_OPS ? ops : COPY_OPS + 1);
        p->need[n] = (uint8_t)(cheap ? need : 0); /* at most 3 for each of COPY_OPS operators */
    }
}

static void find_levels(pass *p) {
    for (int32_t n = 0; n < p->g->n; n++) {
        int32_t lv = 0;
        for (int k = 0; k < p->g->node[n].nin; k++) {
            int32_t q = source(p->g, n, k);
            bool slot = clf_node_is_slot(&p->g->node[q]);
            bool open = fused(p, n, k) && (p->out->copied[q] || same_space(p->g, n, q));
            int32_t need = p->level[q] + (slot || open ? 0 : 1);
            if (need > lv) lv = need;
        }
        p->level[n] = lv;
    }
}

/* Cells that nobody needs in memory run as late as their first reader: what would be stored for it, and read again, is computed in
 * its pass instead. Backwards, so that chains move as a whole. Levels only grow, so what a node reads stays below it. */
static clf_status move_late(pass *p, clf_err *err) {
    const clf_graph *g = p->g;
    enum { PINNED = -1 };
    int32_t *first = clf_arena_new(p->arena, (size_t)g->n, sizeof *first); /* level of the first reader + 1; 0: none so far */
    if (!first) return clf_fail(err, CLF_E_NOMEM, "planning: out of memory");
    for (int32_t r = 0; r < g->nroot; r++) first[g->root[r]] = PINNED;
    for (int32_t n = g->n; n-- > 0;) {
        if (!first[n]) continue; /* unreachable */
        bool cells = clf_node_is_cellwise(&g->node[n]) && !p->out->copied[n];
        if (cells && first[n] != PINNED && first[n] - 1 > p->level[n]) p->level[n] = first[n] - 1;
        for (int k = 0; k < g->node[n].nin; k++) {
            int32_t q = source(g, n, k), at = p->level[n] + 1;
            bool open = fused(p, n, k) && same_space(g, n, q);
            if (!open) first[q] = PINNED;
            else if (first[q] != PINNED && (!first[q] || at < first[q])) first[q] = at;
        }
    }
    return CLF_OK;
}

static int32_t find(pass *p, int32_t a) {
    while (p->parent[a] != a) a = p->parent[a] = p->parent[p->parent[a]];
    return a;
}

static void join(pass *p, int32_t a, int32_t b) {
    a = find(p, a);
    b = find(p, b);
    if (a < b) p->parent[b] = a;
    else p->parent[a] = b;
}

/* Does the value of q come to n inside one loop, without memory? */
static bool inside(const pass *p, int32_t n, int k) {
    int32_t q = p->g->node[n].in[k];
    return fused(p, n, k) && (p->out->copied[q] || (same_space(p->g, n, q) && p->level[q] == p->level[n]));
}

typedef struct reader { int32_t source, level; int64_t space[2]; int32_t node, next; } reader;

/* Loops of one level and space that read the same matrix become one. Chained hashing over (matrix, level, space). */
static clf_status join_readers(pass *p, clf_err *err) {
    const clf_graph *g = p->g;
    size_t nb = 64;
    while (nb < (size_t)g->n) nb *= 2;
    int32_t *bucket = clf_arena_new(p->arena, nb, sizeof *bucket);
    reader *r = clf_arena_new(p->arena, (size_t)g->n * 3, sizeof *r);
    if (!bucket || !r) return clf_fail(err, CLF_E_NOMEM, "planning: out of memory");
    int32_t nr = 0;
    for (int32_t n = 0; n < g->n; n++) {
        if (!is_loop(g, n)) continue;
        for (int k = 0; k < g->node[n].nin; k++) {
            int32_t q = g->node[n].in[k];
            if (inside(p, n, k) || clf_gnode_single(&g->node[q])) continue;
            reader key = {q, p->level[n], {0, 0}, n, 0};
            clf_node_space(g, n, key.space);
            int64_t what[4] = {q, key.level, key.space[0], key.space[1]};
            uint64_t h = clf_hash64(what, sizeof what, 0) & (nb - 1);
            int32_t e = bucket[h];
            while (e && !(r[e - 1].source == q && r[e - 1].level == key.level && !memcmp(r[e - 1].space, key.space, sizeof key.space))) e = r[e - 1].next;
            if (e) join(p, r[e - 1].node, n);
            else {
                key.next = bucket[h];
                r[nr++] = key;
                bucket[h] = nr;
            }
        }
    }
    return CLF_OK;
}

static void cut(pass *p, int32_t from, int32_t to, clf_reason why) {
    if (p->out->ncut < p->ncut_cap) p->out->cut[p->out->ncut++] = (clf_cut){from, to, (uint8_t)why};
}

static clf_reason why_cut(const pass *p, int32_t n, int k, int32_t q) {
    if (!is_loop(p->g, n) || !is_loop(p->g, q)) return CLF_CUT_TEMPLATE;
    if (p->g->node[q].op == CLF_OP_FOLD) return CLF_CUT_BARRIER;
    if (!clf_memo_fusable(p->m, n, k)) return CLF_CUT_LOOPS;
    return fused(p, n, k) ? CLF_CUT_SHARED : CLF_CUT_SELECTOR;
}

/* What must reach memory, and who is computed at all in its own part: backwards from roots and memory edges. */
static void find_demand(pass *p) {
    const clf_graph *g = p->g;
    for (int32_t r = 0; r < g->nroot; r++)
        if (!clf_node_is_slot(&g->node[g->root[r]])) {
            p->out->stored[g->root[r]] = 1;
            cut(p, g->root[r], -1, CLF_CUT_RESULT);
        }
    for (int32_t n = g->n; n-- > 0;) {
        if (p->out->stored[n] && !clf_node_is_slot(&g->node[n])) p->live[n] |= 1;
        if (!p->live[n]) continue;
        for (int k = 0; k < g->node[n].nin; k++) {
            int32_t q = source(g, n, k);
            if (inside(p, n, k)) {
                bool own = !p->out->copied[q] || (same_space(g, n, q) && p->level[q] == p->level[n] && find(p, q) == find(p, n) && (p->live[n] & 1));
                p->live[q] |= own ? 1 : 2; /* 2: only copies of it are needed */
                continue;
            }
            if (clf_node_is_slot(&g->node[q])) continue;
            p->out->stored[q] = 1;
            cut(p, q, n, why_cut(p, n, k, q));
        }
    }
}

/* Nodes in executable order: by level, then by the first node of their loop, then by id. */
typedef struct place { int32_t level, loop, node; } place;

static int place_order(const void *a, const void *b) {
    const place *x = a, *y = b;
    if (x->level != y->level) return x->level < y->level ? -1 : 1;
    if (x->loop != y->loop) return x->loop < y->loop ? -1 : 1;
    return x->node < y->node ? -1 : x->node > y->node;
}

/* Heap sort: qsort may allocate behind the ledger. Chains arrive sorted and are left alone. */
static void sift(place *v, size_t i, size_t n) {
    for (size_t c; (c = 2 * i + 1) < n; i = c) {
        if (c + 1 < n && place_order(&v[c], &v[c + 1]) < 0) c++;
        if (place_order(&v[i], &v[c]) >= 0) return;
        place t = v[i];
        v[i] = v[c];
        v[c] = t;
    }
}

static void sort_places(place *v, size_t n) {
    bool sorted = true;
    for (size_t i = 1; i < n && sorted; i++) sorted = place_order(&v[i - 1], &v[i]) < 0;
    if (sorted) return;
    for (size_t i = n / 2; i-- > 0;) sift(v, i, n);
    for (size_t e = n; e-- > 1;) {
        place t = v[0];
        v[0] = v[e];
        v[e] = t;
        sift(v, 0, e);
    }
}

/* Operands of one part, counted as its nodes are added. seen[q] == part + 1: q is already an operand. pending: values that nodes
 * not added yet will take; a split here would make each of them an operand. */
typedef struct fill { int32_t part, ops, operands, pending; int32_t *seen; } fill;

static int operands_of(const pass *p, const fill *f, int32_t n) {
    int more = p->out->stored[n] + immediates(&p->g->node[n]);
    for (int k = 0; k < p->g->node[n].nin; k++) {
        int32_t q = p->g->node[n].in[k];
        if (p->out->part_of[q] == f->part || f->seen[q] == f->part + 1) continue;
        more += p->out->copied[q] ? p->need[q] : 1;
    }
    return more;
}

/* Which limit forbids n in this part, CLF_NREASONS if none. */
static clf_reason over_limit(const pass *p, const fill *f, int32_t n) {
    if (f->ops >= p->lim->kernel_ops) return CLF_CUT_KERNEL_OPS;
    int pending = f->pending + (p->readers[n] > 0);
    for (int k = 0; k < p->g->node[n].nin; k++) {
        int32_t q = p->g->node[n].in[k];
        pending -= p->out->part_of[q] == f->part && p->readers[q] == 1 && inside(p, n, k); /* n is the last to take q */
    }
    return f->operands + operands_of(p, f, n) + pending > p->lim->kernel_inputs ? CLF_CUT_KERNEL_ARGS : CLF_NREASONS;
}

static void count_readers(pass *p) {
    for (int32_t n = 0; n < p->g->n; n++)
        for (int k = 0; k < p->g->node[n].nin; k++)
            if ((p->live[n] & 1) && inside(p, n, k)) p->readers[p->g->node[n].in[k]]++;
}

static void add_node(pass *p, fill *f, int32_t n, int more) {
    f->ops++;
    for (int k = 0; k < p->g->node[n].nin; k++) {
        int32_t q = p->g->node[n].in[k];
        if (f->seen[q] != f->part + 1 && p->out->part_of[q] != f->part && p->out->copied[q]) f->ops += p->cone[q];
        f->seen[q] = f->part + 1;
        if (inside(p, n, k) && --p->readers[q] == 0 && p->out->part_of[q] == f->part) f->pending--;
    }
    f->operands += more;
    f->pending += p->readers[n] > 0;
    p->out->part_of[n] = f->part;
}

static clf_part *open_part(clf_cover *c, fill *f, int32_t *at, bool loop, clf_reason why) {
    f->part = c->npart++;
    f->ops = f->operands = f->pending = 0;
    c->part[f->part] = (clf_part){0, at, loop, (uint8_t)why};
    return &c->part[f->part];
}

/* Sorted places into parts, a new one where the loop changes or a limit is reached. */
static clf_status fill_parts(pass *p, const place *v, int32_t nv, clf_err *err) {
    clf_cover *c = p->out;
    c->part = clf_arena_new(p->arena, (size_t)nv + 1, sizeof *c->part);
    int32_t *node = clf_arena_new(p->arena, (size_t)nv + 1, sizeof *node);
    fill f = {-1, 0, 0, 0, clf_arena_new(p->arena, (size_t)p->g->n, sizeof(int32_t))};
    if (!c->part || !node || !f.seen) return clf_fail(err, CLF_E_NOMEM, "planning: out of memory");
    clf_part *part = NULL;
    for (int32_t i = 0; i < nv; i++) {
        int32_t n = v[i].node;
        bool loop = is_loop(p->g, n);
        bool fresh = !part || !loop || !part->loop || v[i].loop != v[i - 1].loop || v[i].level != v[i - 1].level;
        clf_reason why = fresh ? CLF_NREASONS : over_limit(p, &f, n);
        if (fresh || why != CLF_NREASONS) part = open_part(c, &f, node + i, loop, why);
        node[i] = n;
        part->n++;
        add_node(p, &f, n, operands_of(p, &f, n));
    }
    return CLF_OK;
}

/* Values that a split sends from one part of a loop to a later one go through memory. */
static void store_crossings(pass *p) {
    clf_cover *c = p->out;
    for (int32_t i = 0; i < c->npart; i++)
        for (int32_t j = 0; j < c->part[i].n; j++) {
            int32_t n = c->part[i].node[j];
            for (int k = 0; k < p->g->node[n].nin; k++) {
                int32_t q = p->g->node[n].in[k];
                if (!inside(p, n, k) || c->copied[q] || c->part_of[q] == i) continue;
                c->stored[q] = 1;
                cut(p, q, n, (clf_reason)(c->part[i].why == CLF_CUT_KERNEL_ARGS ? CLF_CUT_KERNEL_ARGS : CLF_CUT_KERNEL_OPS));
            }
        }
}

static clf_status begin(pass *p, clf_err *err) {
    size_t n = (size_t)p->g->n;
    p->level = clf_arena_new(p->arena, n, sizeof *p->level);
    p->parent = clf_arena_new(p->arena, n, sizeof *p->parent);
    p->cone = clf_arena_new(p->arena, n, 1);
    p->need = clf_arena_new(p->arena, n, 1);
    p->readers = clf_arena_new(p->arena, n, sizeof *p->readers);
    p->live = clf_arena_new(p->arena, n, 1);
    p->out->copied = clf_arena_new(p->arena, n, 1);
    p->out->stored = clf_arena_new(p->arena, n, 1);
    p->out->part_of = clf_arena_new(p->arena, n, sizeof *p->out->part_of);
    p->ncut_cap = (int32_t)(3 * n) + p->g->nroot;
    p->out->cut = clf_arena_new(p->arena, (size_t)p->ncut_cap, sizeof *p->out->cut);
    if (!p->level || !p->parent || !p->cone || !p->need || !p->readers || !p->live || !p->out->copied || !p->out->stored || !p->out->part_of || !p->out->cut)
        return clf_fail(err, CLF_E_NOMEM, "planning: out of memory");
    for (int32_t i = 0; i < p->g->n; i++) {
        p->parent[i] = i;
        p->out->part_of[i] = -1;
    }
    return CLF_OK;
}

clf_status clf_select(const clf_memo *m, const clf_selector *sel, const clf_limits *lim, clf_arena *arena, clf_cover *out, clf_err *err) {
    memset(out, 0, sizeof *out);
    pass p = {.g = m->g, .m = m, .sel = sel, .lim = lim, .arena = arena, .out = out};
    CLF_TRY(begin(&p, err));
    find_copies(&p);
    find_levels(&p);
    if (sel->join) CLF_TRY(move_late(&p, err));
    for (int32_t n = 0; n < p.g->n; n++)
        for (int k = 0; k < p.g->node[n].nin; k++)
            if (inside(&p, n, k) && same_space(p.g, n, p.g->node[n].in[k]) && p.level[p.g->node[n].in[k]] == p.level[n]) join(&p, n, p.g->node[n].in[k]);
    if (sel->join) CLF_TRY(join_readers(&p, err));
    find_demand(&p);
    count_readers(&p);
    place *v = clf_arena_new(arena, (size_t)p.g->n, sizeof *v);
    if (!v) return clf_fail(err, CLF_E_NOMEM, "planning: out of memory");
    int32_t nv = 0;
    for (int32_t n = 0; n < p.g->n; n++)
        if ((p.live[n] & 1) && !clf_node_is_slot(&p.g->node[n])) v[nv++] = (place){p.level[n], is_loop(p.g, n) ? find(&p, n) : n, n};
    sort_places(v, (size_t)nv);
    CLF_TRY(fill_parts(&p, v, nv, err));
    store_crossings(&p);
    return CLF_OK;
}
