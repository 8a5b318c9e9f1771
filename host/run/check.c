/* SPDX-License-Identifier: Apache-2.0
 * Comparing a fused plan with the unfused one, and finding who is to blame; see check.h.
 *
 * Blame narrows down in two runs of both plans with more results: first the values that the fused plan stores between its steps (the
 * earliest wrong one names the step), then everything inside that step (the earliest wrong one names the operator). More results may
 * move what is fused, so a fault can hide from either run; the message then says as much as is known. */
#include "host/run/check.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "host/graph/sparse_buf.h"
#include "planner/rewrite.h"
#include "planner/select.h"

typedef struct check {
    clf_ctx *c;
    const clf_graph *g; /* rewritten, which rewriting again does not change: its node numbers are those of every plan */
    const clf_exe *x;   /* the fused plan */
    const clf_selector *fused, *unfused;
    clf_slot *slots;
} check;

/* A plan of its own, run once. */
typedef struct trial {
    clf_exe *x;
    clf_buf **buf;
    size_t nbuf;
} trial;

typedef struct cell {
    int32_t root;
    int64_t at;
} cell;

/* ---- running ---- */

static void trial_release(const check *k, trial *t) {
    for (size_t i = 0; t->buf && i < t->nbuf; i++) clf_buf_unref(t->buf[i]);
    clf_mem_free(&k->c->mem, t->buf, t->nbuf, sizeof *t->buf);
    clf_exe_free(k->c, t->x);
    memset(t, 0, sizeof *t);
}

static clf_status trial_run(const check *k, const clf_graph *g, const clf_selector *sel, trial *t, clf_err *err) {
    memset(t, 0, sizeof *t);
    t->nbuf = (size_t)g->nroot;
    t->buf = clf_mem_new(&k->c->mem, t->nbuf, sizeof *t->buf);
    clf_status st = t->buf ? CLF_OK : clf_fail(err, CLF_E_NOMEM, "check: out of memory for %d results", g->nroot);
    clf_exe_ways ways = k->x->ways; /* in parts as small as the plan that is checked */
    ways.like = k->x;
    if (st == CLF_OK) st = clf_exe_new(&t->x, k->c, g, sel, &ways, err);
    if (st == CLF_OK) st = clf_exe_run(k->c, t->x, k->slots, false, t->buf, err);
    if (st != CLF_OK) trial_release(k, t);
    return st;
}

/* ---- comparing ---- */

static bool is_nan(clf_scalar s) { return clf_dtype_float(s.dtype) && s.u.f != s.u.f; }

static bool is_zero(clf_scalar s) { return clf_dtype_float(s.dtype) ? s.u.f == 0 : s.u.i == 0; }

/* What a buffer stores of one row, in ascending columns: every cell, or entries. */
typedef struct row_walk {
    const clf_buf *b;
    const clf_csr *m; /* NULL: dense */
    int64_t at, end, col;
} row_walk;

static row_walk row_of(const clf_gnode *n, const clf_buf *b, int64_t row) {
    const clf_csr *m = clf_buf_is_csr(b) ? clf_buf_csr(b) : NULL;
    row_walk w = {b, m, m ? m->ptr[row] : row * clf_cols(n), m ? m->ptr[row + 1] : (row + 1) * clf_cols(n), 0};
    return w;
}

/* The column it stands at, behind all of them at the end. */
static int64_t column(const row_walk *w) { return w->at >= w->end ? INT64_MAX : w->m ? w->m->idx[w->at] : w->col; }

/* The cell in this column; past it. */
static clf_scalar cell_at(row_walk *w, int64_t col, clf_dtype t) {
    if (column(w) != col) return clf_scalar_to(clf_scalar_i64(0), t);
    w->col++;
    return clf_scalar_load(w->m ? w->m->val : w->b->host, (size_t)w->at++, t);
}

/* The first differing cell, -1 if none. What is not stored is 0; the sign of a zero counts only between dense results. */
static int64_t differs(const clf_gnode *n, const clf_buf *a, const clf_buf *b) {
    clf_dtype t = (clf_dtype)n->dtype;
    bool dense = !clf_buf_is_csr(a) && !clf_buf_is_csr(b);
    size_t bytes = dense ? (size_t)clf_rows(n) * (size_t)clf_cols(n) * clf_dtype_bytes(t) : 0;
    if (dense && (!bytes || !memcmp(a->host, b->host, bytes))) return -1;
    for (int64_t i = 0; i < clf_rows(n); i++) {
        row_walk p = row_of(n, a, i), q = row_of(n, b, i);
        for (int64_t c; (c = column(&p) < column(&q) ? column(&p) : column(&q)) < INT64_MAX;) {
            clf_scalar x = cell_at(&p, c, t), y = cell_at(&q, c, t);
            bool same = clf_scalar_same(x, y) || (is_nan(x) && is_nan(y)) || (!dense && is_zero(x) && is_zero(y));
            if (!same) return i * clf_cols(n) + c;
        }
    }
    return -1;
}

static clf_scalar cell_of(const clf_gnode *n, const clf_buf *b, int64_t at) {
    row_walk w = row_of(n, b, at / clf_cols(n));
    while (column(&w) < at % clf_cols(n)) cell_at(&w, column(&w), (clf_dtype)n->dtype);
    return cell_at(&w, at % clf_cols(n), (clf_dtype)n->dtype);
}

/* How a plan computes a node whose bits depend on the order of its sums. */
typedef enum order { ORDER_NONE, ORDER_LIBRARY, ORDER_CELLS, ORDER_ENTRIES } order;

static bool has_order(const clf_gnode *x) {
    if (x->op == CLF_OP_MATMUL) return true;
    if (x->op != CLF_OP_FOLD || !clf_dtype_float((clf_dtype)x->dtype)) return false;
    int64_t f = x->attr[0];
    return f == CLF_FOLD_SUM || f == CLF_FOLD_SUMSQ || f == CLF_FOLD_PROD || f == CLF_FOLD_MEAN || f == CLF_FOLD_VAR;
}

static void find_orders(const clf_exe *x, int32_t nodes, uint8_t *order) {
    for (int32_t s = 0; s < x->plan->nstep; s++) {
        const clf_step *t = &x->plan->step[s];
        bool fused = t->kind == CLF_STEP_FUSED;
        if (t->kind == CLF_STEP_LIBRARY && t->node < nodes) order[t->node] = ORDER_LIBRARY;
        for (int32_t i = 0; fused && i < t->ncover; i++)
            if (t->cover[i] < nodes) order[t->cover[i]] = x->step[s].sparse ? ORDER_ENTRIES : ORDER_CELLS;
    }
}

/* Did all fused steps of both plans run on one executor? */
static bool one_executor(const clf_exe *a, const clf_exe *b) {
    int executor = -1;
    for (int i = 0; i < 2; i++) {
        const clf_exe *x = i ? b : a;
        for (int32_t s = 0; s < x->plan->nstep; s++) {
            if (x->plan->step[s].kind != CLF_STEP_FUSED) continue;
            if (executor >= 0 && x->step[s].executor != executor) return false;
            executor = x->step[s].executor;
        }
    }
    return true;
}

/* Nodes whose bits may differ although both plans are right: elementary functions on different executors, and sums that a library, a loop
 * over cells or one over stored entries takes in its own order. */
static clf_status find_loose(const check *k, const clf_exe *a, const clf_exe *b, clf_arena *arena, uint8_t **out, clf_err *err) {
    size_t nodes = (size_t)k->g->n;
    uint8_t *loose = clf_arena_new(arena, nodes, 1), *p = clf_arena_new(arena, nodes, 1), *q = clf_arena_new(arena, nodes, 1);
    if (!loose || !p || !q) return clf_fail(err, CLF_E_NOMEM, "check: out of memory");
    bool strict = one_executor(a, b);
    find_orders(a, k->g->n, p);
    find_orders(b, k->g->n, q);
    for (int32_t n = 0; n < k->g->n; n++) {
        const clf_gnode *x = &k->g->node[n];
        loose[n] = !strict && clf_op_is_cell(x->op) && (clf_ops[x->op].flags & F_ELEM);
        loose[n] |= has_order(x) && p[n] != q[n];
        for (int i = 0; i < x->nin; i++) loose[n] |= loose[x->in[i]];
    }
    *out = loose;
    return CLF_OK;
}

/* The first result of g, in the order of its nodes, that differs, and where; false if none. */
static clf_status compare(const check *k, const clf_graph *g, const clf_exe *a, clf_buf *const *abuf, const trial *b, cell *out,
                          bool *found, clf_err *err) {
    clf_arena arena;
    uint8_t *loose = NULL;
    clf_arena_init(&arena, &k->c->mem);
    clf_status st = find_loose(k, a, b->x, &arena, &loose, err);
    *found = false;
    for (int32_t r = 0; r < g->nroot && st == CLF_OK; r++) {
        int32_t n = g->root[r];
        st = clf_run_fetch(k->c, abuf[r], err);
        if (st == CLF_OK) st = clf_run_fetch(k->c, b->buf[r], err);
        int64_t at = loose[n] || st != CLF_OK ? -1 : differs(&g->node[n], abuf[r], b->buf[r]);
        if (at < 0 || (*found && n >= g->root[out->root])) continue;
        *out = (cell){r, at};
        *found = true;
    }
    clf_arena_release(&arena);
    return st;
}

/* ---- blame ---- */

/* With these nodes as results, which is the first to differ? -1: none, or there was no way to tell. */
static int32_t first_wrong(const check *k, int32_t *node, int32_t n) {
    clf_graph g = *k->g;
    clf_err ignored = {CLF_OK, ""};
    trial a, b;
    cell at = {0, 0};
    bool found = false;
    g.root = node;
    g.nroot = n;
    if (!n || trial_run(k, &g, k->fused, &a, &ignored) != CLF_OK) return -1;
    if (trial_run(k, &g, k->unfused, &b, &ignored) == CLF_OK) {
        if (compare(k, &g, a.x, a.buf, &b, &at, &found, &ignored) != CLF_OK) found = false;
        trial_release(k, &b);
    }
    trial_release(k, &a);
    return found ? node[at.root] : -1;
}

/* What the fused plan has in memory between its steps: the first of it that is wrong, else the result that was. */
static int32_t wrong_value(const check *k, int32_t result, int32_t *room) {
    const clf_plan *p = k->x->plan;
    int32_t n = 0;
    for (int32_t v = 0; v < p->nvalue; v++)
        if (p->value[v].slot < 0 && p->value[v].made >= 0 && p->step[p->value[v].made].kind != CLF_STEP_CONVERT)
            room[n++] = p->value[v].node;
    int32_t w = first_wrong(k, room, n);
    return w >= 0 ? w : p->g.root[result];
}

static const clf_step *maker(const clf_plan *p, int32_t node) {
    int32_t v = p->value_of[node];
    return v >= 0 && p->value[v].made >= 0 ? &p->step[p->value[v].made] : NULL;
}

static void put_operator(const clf_gnode *x, clf_str *out) {
    static const char *const way[] = {"", "row ", "column "};
    if (x->op == CLF_OP_FOLD)
        clf_str_fmt(out, "%s%s", way[x->attr[1]], clf_folds[x->attr[0]].name);
    else
        clf_str_put(out, clf_ops[x->op].name);
}

/* '+' (%5 = %2 %4, f64 30x40) */
static void put_node(const clf_graph *g, int32_t n, clf_str *out) {
    const clf_gnode *x = &g->node[n];
    clf_str_put(out, "'");
    put_operator(x, out);
    clf_str_fmt(out, "' (%%%d =", n);
    for (int i = 0; i < x->nin; i++) clf_str_fmt(out, " %%%d", x->in[i]);
    clf_str_fmt(out, ", %s %" PRId64 "x%" PRId64 ")", clf_dtype_name((clf_dtype)x->dtype), clf_rows(x), clf_cols(x));
}

/* The operator to blame, or the whole step when its inside does not tell. */
static void put_blame(const check *k, int32_t result, clf_str *out) {
    enum { MOST = 8 };
    const clf_plan *p = k->x->plan;
    size_t most = (size_t)(k->g->n > p->nvalue ? k->g->n : p->nvalue);
    int32_t *room = clf_mem_new(&k->c->mem, most, sizeof *room);
    int32_t value = room ? wrong_value(k, result, room) : p->g.root[result], inside = -1;
    const clf_step *s = maker(p, value);
    if (room && s) {
        memcpy(room, s->cover, (size_t)s->ncover * sizeof *room);
        inside = first_wrong(k, room, s->ncover);
    }
    clf_mem_free(&k->c->mem, room, most, sizeof *room);
    clf_str_put(out, inside >= 0 ? "the first wrong operator is " : "the wrong value is ");
    put_node(k->g, inside >= 0 ? inside : value, out);
    if (!s || s->kind != CLF_STEP_FUSED) return;
    clf_str_put(out, " in the fused operator");
    for (int32_t i = 0; i < s->ncover && i < MOST; i++) {
        clf_str_put(out, " ");
        put_operator(&k->g->node[s->cover[i]], out);
    }
    if (s->ncover > MOST) clf_str_fmt(out, " ... (%d in all)", s->ncover);
}

static void put_number(clf_scalar s, clf_str *out) {
    if (clf_dtype_float(s.dtype))
        clf_str_fmt(out, "%.17g", s.u.f);
    else
        clf_str_fmt(out, "%" PRId64, s.u.i);
}

static clf_status complain(const check *k, cell at, const clf_buf *fused, const clf_buf *unfused, clf_err *err) {
    const clf_gnode *x = &k->g->node[k->g->root[at.root]];
    clf_str t;
    clf_str_init(&t, &k->c->mem);
    clf_str_fmt(&t, "check: result %d, row %" PRId64 ", column %" PRId64 " is ", at.root + 1, at.at / clf_cols(x) + 1,
                at.at % clf_cols(x) + 1);
    put_number(cell_of(x, fused, at.at), &t);
    clf_str_put(&t, " fused and ");
    put_number(cell_of(x, unfused, at.at), &t);
    clf_str_put(&t, " unfused; ");
    put_blame(k, at.root, &t);
    clf_status st = clf_fail(err, CLF_E_INTERNAL, "%s", t.failed ? "check: a fused result differs from the unfused one" : clf_str_c(&t));
    clf_str_release(&t);
    return st;
}

static clf_status check_all(const check *k, clf_buf **results, clf_err *err) {
    trial u;
    cell at = {0, 0};
    bool found = false;
    CLF_TRY(trial_run(k, k->g, k->unfused, &u, err));
    clf_status st = compare(k, k->g, k->x, results, &u, &at, &found, err);
    if (st == CLF_OK && found) st = complain(k, at, results[at.root], u.buf[at.root], err);
    trial_release(k, &u);
    return st;
}

static clf_status check_rewritten(check *k, clf_buf **results, clf_err *err) {
    CLF_TRY(clf_run_selector(k->c, &k->fused, err));
    return check_all(k, results, err);
}

clf_status clf_check_results(clf_ctx *c, const clf_graph *g, const clf_exe *x, clf_slot *slots, clf_buf **results, clf_err *err) {
    clf_graph own;
    clf_arena arena;
    check k = {.c = c, .g = &own, .x = x, .unfused = clf_selector_find("none"), .slots = slots};
    clf_stats counters = c->stats;
    clf_arena_init(&arena, &c->mem);
    const clf_gate gate = clf_run_gate(c);
    clf_status st = clf_rewrite(g, &gate, &arena, &arena, &own, NULL, err);
    if (st == CLF_OK) st = check_rewritten(&k, results, err);
    clf_arena_release(&arena);
    c->stats = counters;
    for (int32_t r = 0; r < g->nroot && st != CLF_OK; r++) {
        clf_buf_unref(results[r]);
        results[r] = NULL;
    }
    return st;
}
