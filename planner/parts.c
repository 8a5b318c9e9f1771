/* SPDX-License-Identifier: Apache-2.0
 * The last pass of selection: loops in executable order, cut where a limit of the kernel demands it. A cut sends every value that
 * later nodes still take through memory, so cuts count those as operands, too. */
#include "planner/pass.h"

/* Nodes in executable order: by level, then by the first node of their loop, then by id. */
typedef struct place {
    int32_t level, loop, node;
} place;

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
typedef struct fill {
    int32_t part, ops, operands, pending;
    int axes; /* an upper bound of the loop's */
    int nwidth;
    int64_t width[CLF_MAX_AXES]; /* different numbers of columns: an axis each */
    int32_t *seen;
} fill;

/* Axes that n adds: one for columns not seen before, and for a product one to run along. */
static int axes_of(const clf_pass *p, const fill *f, int32_t n, int64_t width[3]) {
    int new = 0, product = p->g->node[n].op == CLF_OP_MATMUL;
    for (int k = -1; k < p->g->node[n].nin; k++) {
        int64_t w = clf_cols(&p->g->node[k < 0 ? n : clf_node_operand(p->g, n, k)]);
        bool known = w == 1;
        for (int i = 0; i < f->nwidth; i++) known = known || f->width[i] == w;
        for (int i = 0; i < new; i++) known = known || width[i] == w;
        if (!known && new < 3) width[new ++] = w;
    }
    return new + product;
}

static int operands_of(const clf_pass *p, const fill *f, int32_t n) {
    int more = p->stored[n] + clf_node_immediates(&p->g->node[n]);
    for (int k = 0; k < p->g->node[n].nin; k++) {
        int32_t q = clf_node_operand(p->g, n, k);
        if (p->part_of[q] == f->part || f->seen[q] == f->part + 1) continue;
        more += p->out->copied[q] ? p->need[q] : 1;
    }
    return more;
}

/* n and the copied expressions that it brings. */
static int ops_of(const clf_pass *p, const fill *f, int32_t n) {
    int more = 1;
    for (int k = 0; k < p->g->node[n].nin; k++) {
        int32_t q = clf_node_operand(p->g, n, k);
        bool first = true;
        for (int i = 0; i < k; i++) first = first && clf_node_operand(p->g, n, i) != q;
        if (first && f->seen[q] != f->part + 1 && p->part_of[q] != f->part && p->out->copied[q]) more += p->cone[q];
    }
    return more;
}

/* Which limit forbids n in this part, CLF_NREASONS if none. */
static clf_reason over_limit(const clf_pass *p, const fill *f, int32_t n) {
    int64_t width[3];
    if (f->ops + ops_of(p, f, n) > p->lim->kernel_ops) return CLF_CUT_KERNEL_OPS;
    if (f->axes + axes_of(p, f, n, width) > CLF_MAX_AXES - 2) return CLF_CUT_KERNEL_AXES;
    int pending = f->pending + (p->readers[n] > 0);
    for (int k = 0; k < p->g->node[n].nin; k++) {
        int32_t q = clf_node_operand(p->g, n, k);
        pending -= p->part_of[q] == f->part && p->readers[q] == 1 && clf_pass_inside(p, n, k); /* n is the last to take q */
    }
    return f->operands + operands_of(p, f, n) + pending > p->lim->kernel_inputs ? CLF_CUT_KERNEL_ARGS : CLF_NREASONS;
}

static void count_readers(clf_pass *p) {
    for (int32_t n = 0; n < p->g->n; n++)
        for (int k = 0; k < p->g->node[n].nin; k++)
            if ((p->live[n] & 1) && clf_pass_inside(p, n, k)) p->readers[clf_node_operand(p->g, n, k)]++;
}

static void add_node(clf_pass *p, fill *f, int32_t n, int more) {
    int64_t width[3];
    int added = axes_of(p, f, n, width), product = p->g->node[n].op == CLF_OP_MATMUL;
    for (int i = 0; i < added - product && f->nwidth < CLF_MAX_AXES; i++) f->width[f->nwidth++] = width[i];
    f->axes += added;
    f->ops += ops_of(p, f, n);
    for (int k = 0; k < p->g->node[n].nin; k++) {
        int32_t q = clf_node_operand(p->g, n, k);
        f->seen[q] = f->part + 1;
        if (clf_pass_inside(p, n, k) && --p->readers[q] == 0 && p->part_of[q] == f->part) f->pending--;
    }
    f->operands += more;
    f->pending += p->readers[n] > 0;
    p->part_of[n] = f->part;
}

static clf_part *open_part(clf_cover *c, fill *f, int32_t *at, bool loop, clf_reason why) {
    f->part = c->npart++;
    f->ops = f->operands = f->pending = 0;
    f->axes = f->nwidth = 0;
    c->part[f->part] = (clf_part){.node = at, .loop = loop, .why = (uint8_t)why, .driver = -1, .sparse = ""};
    return &c->part[f->part];
}

/* Sorted places into parts, a new one where the loop changes or a limit is reached. */
static clf_status fill_parts(clf_pass *p, const place *v, int32_t nv, clf_err *err) {
    clf_cover *c = p->out;
    c->part = clf_arena_new(p->arena, (size_t)nv + 1, sizeof *c->part);
    int32_t *node = clf_arena_new(p->arena, (size_t)nv + 1, sizeof *node);
    fill f = {.part = -1, .seen = clf_arena_new(p->arena, (size_t)p->g->n, sizeof(int32_t))};
    if (!c->part || !node || !f.seen) return clf_fail(err, CLF_E_NOMEM, "planning: out of memory");
    clf_part *part = NULL;
    for (int32_t i = 0; i < nv; i++) {
        int32_t n = v[i].node;
        bool loop = p->loops[n];
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
static void store_crossings(clf_pass *p) {
    clf_cover *c = p->out;
    for (int32_t i = 0; i < c->npart; i++)
        for (int32_t j = 0; j < c->part[i].n; j++) {
            int32_t n = c->part[i].node[j];
            for (int k = 0; k < p->g->node[n].nin; k++) {
                int32_t q = clf_node_operand(p->g, n, k);
                if (!clf_pass_inside(p, n, k) || c->copied[q] || p->part_of[q] == i) continue;
                p->stored[q] = 1;
                clf_pass_cut(p, q, n, (clf_reason)(c->part[i].why < CLF_NREASONS ? c->part[i].why : CLF_CUT_KERNEL_OPS));
            }
        }
}

clf_status clf_pass_parts(clf_pass *p, clf_err *err) {
    place *v = clf_arena_new(p->arena, (size_t)p->g->n, sizeof *v);
    if (!v) return clf_fail(err, CLF_E_NOMEM, "planning: out of memory");
    int32_t nv = 0;
    for (int32_t n = 0; n < p->g->n; n++)
        if ((p->live[n] & 1) && !clf_node_is_slot(&p->g->node[n])) v[nv++] = (place){p->level[n], p->loops[n] ? clf_pass_loop(p, n) : n, n};
    count_readers(p);
    sort_places(v, (size_t)nv);
    CLF_TRY(fill_parts(p, v, nv, err));
    store_crossings(p);
    for (int32_t n = 0; n < p->g->n; n++)
        if (p->stored[n]) p->out->maker[n] = p->part_of[n];
    return CLF_OK;
}
