/* SPDX-License-Identifier: Apache-2.0
 * Values and sinks of row.chunk onto sweeps (see row_plan.h). Invariant: a value is read only in sweeps from its `ready` on, and every
 * sweep that is added comes last, so what was placed before stays right. */
#include "kernels-cl/skel/row_plan.h"

#include <string.h>

enum { MAX_SLOTS = 1 << 28 };

/* ---- sweeps ---- */

static int new_sweep(clf_row *p, clf_row_kind kind, int axis, int what) {
    if (p->nsweep == CLF_ROW_SWEEPS) return -1;
    p->sweep[p->nsweep] = (clf_row_sweep){(uint8_t)kind, (int8_t)axis, (int16_t)what};
    return p->nsweep++;
}

/* The first sweep over cells along the axis, from number `from` on; -1: there is no room for one. */
static int cells_sweep(clf_row *p, int axis, int from) {
    for (int t = from; t < p->nsweep; t++)
        if (p->sweep[t].kind == CLF_ROW_CELLS && p->sweep[t].axis == axis) return t;
    return new_sweep(p, CLF_ROW_CELLS, axis, -1);
}

static bool is_memory(const clf_value *w) { return w->op == CLF_V_LOAD || w->op == CLF_V_INDEX; }

/* From some sweep on v stands in a row buffer: that sweep's number, -1 without room. */
static int keep(clf_row *p, int v) {
    clf_row_value *q = &p->value[v];
    if (q->kept) return q->at;
    int t = cells_sweep(p, clf_row_inner(q->axes), q->ready);
    if (t < 0) return -1;
    q->kept = 1;
    q->at = (int16_t)t;
    return t;
}

static int ready_of(const clf_row *p, const clf_value *w) {
    int ready = 0;
    for (int k = 0; k < 3; k++)
        if (w->in[k] >= 0 && p->value[w->in[k]].ready > ready) ready = p->value[w->in[k]].ready;
    return ready;
}

static int product_sweep(clf_row *p, int v) {
    const clf_value *w = clf_row_val(p, v);
    if (clf_row_val(p, w->in[0])->op != CLF_V_LOAD && clf_row_inner(p->value[w->in[0]].axes) >= 0 && keep(p, w->in[0]) < 0) return -1;
    return new_sweep(p, CLF_ROW_PRODUCT, w->axis, v);
}

/* A SCAN or CAT: its inputs are read cell by cell. */
static int row_sweep(clf_row *p, int v) {
    const clf_value *w = clf_row_val(p, v);
    for (int q = 0; q < 2 && w->in[q] >= 0; q++) {
        int in = w->in[q];
        if (clf_row_val(p, in)->op != CLF_V_LOAD && clf_row_inner(p->value[in].axes) >= 0 && keep(p, in) < 0) return -1;
    }
    return new_sweep(p, w->op == CLF_V_CAT ? CLF_ROW_CAT : CLF_ROW_SCAN, w->axis, v);
}

static bool place_value(clf_row *p, int v) {
    const clf_value *w = clf_row_val(p, v);
    clf_row_value *q = &p->value[v];
    clf_row_factor f;
    bool rows = w->op == CLF_V_SCAN || w->op == CLF_V_CAT, folds = rows || w->op == CLF_V_FOLD || w->op == CLF_V_DOT, once = folds;
    for (int k = 0; k < 3; k++) once = once || (w->in[k] >= 0 && !(clf_row_val(p, w->in[k])->axes & 1u) && (p->value[w->in[k]].axes & 1u));
    q->axes = w->axes | (once ? 1u : 0);
    q->ready = (int16_t)ready_of(p, w);
    q->at = -1;
    if (!folds) return true;
    int t = rows ? row_sweep(p, v) : clf_row_factor_of(p, v, &f) ? product_sweep(p, v) : cells_sweep(p, w->axis, q->ready);
    if (t < 0) return false;
    q->kept = clf_row_inner(q->axes) >= 0;
    q->at = (int16_t)t;
    q->ready = (int16_t)(t + 1);
    return true;
}

/* ---- sinks ---- */

static int later(int a, int b) { return a > b ? a : b; }

static bool place_store(clf_row *p, int s) {
    const clf_sink *k = &p->c->sink[s];
    const clf_row_value *q = &p->value[k->value[0]];
    int j = clf_row_inner(k->keep);
    if (!clf_row_one_inner(k->keep) || (!(k->keep & 1u) && (k->keep || q->axes))) return false;
    p->sink[s].at = (int16_t)(j < 0 ? -1 : cells_sweep(p, j, q->ready));
    return j < 0 || p->sink[s].at >= 0;
}

static bool place_full(clf_row *p, int s, uint32_t loop) {
    int axis = clf_row_inner(loop), k = 0;
    if (!clf_row_one_inner(loop)) return false;
    while (k < p->nstack && p->stack_axis[k] != axis) k++;
    if (k == CLF_ROW_STACKS) return false;
    if (k == p->nstack) p->stack_axis[p->nstack++] = (int8_t)axis;
    p->sink[s].stack = (uint8_t)k;
    p->nfull++;
    return p->value[p->c->sink[s].value[0]].ready <= CLF_ROW_SWEEPS;
}

static bool in_stack(const clf_row *p, int s, int k) {
    return p->c->sink[s].kind == CLF_SINK_FOLD && !p->c->sink[s].keep && p->sink[s].stack == k;
}

/* Full folds that share a stack meet in one sweep. */
static bool place_stack(clf_row *p, int k) {
    int ready = 0;
    for (int s = 0; s < p->c->nsink; s++)
        if (in_stack(p, s, k)) ready = later(ready, p->value[p->c->sink[s].value[0]].ready);
    int t = p->stack_axis[k] < 0 ? -1 : cells_sweep(p, p->stack_axis[k], ready);
    for (int s = 0; s < p->c->nsink; s++)
        if (in_stack(p, s, k)) p->sink[s].at = (int16_t)t;
    return p->stack_axis[k] < 0 || t >= 0;
}

static bool place_all_full(clf_row *p) {
    for (int k = 0; k < p->nstack; k++)
        if (!place_stack(p, k)) return false;
    return true;
}

static bool columns(clf_row *p, int s, clf_row_layout layout, int lanes, int64_t cells, int64_t slots) {
    clf_row_sink *q = &p->sink[s];
    q->layout = (uint8_t)layout;
    q->lanes = lanes;
    q->slots = slots;
    q->block = clf_col_block(p->rows, cells);
    p->ncol++;
    return slots <= MAX_SLOTS;
}

static bool place_fold(clf_row *p, int s) {
    const clf_sink *k = &p->c->sink[s];
    const clf_row_value *q = &p->value[k->value[0]];
    uint32_t loop = clf_sink_loop(p->c, k);
    int j = clf_row_inner(loop);
    if (k->keep == 0) return place_full(p, s, loop);
    if (!clf_row_one_inner(loop) || !(loop & 1u) || j < 0 || (clf_row_inner(q->axes) >= 0 && clf_row_inner(q->axes) != j)) return false;
    p->sink[s].at = (int16_t)cells_sweep(p, j, q->ready);
    if (p->sink[s].at < 0) return false;
    if (k->keep == 1u) return true;
    int64_t cols = clf_row_extent(p, j);
    p->sink[s].j = (int8_t)j;
    return k->keep == 1u << j &&
           columns(p, s, CLF_ROW_LANES, clf_col_lanes(cols, clf_row_type(p, k->value[0])), cols, clf_row_round(cols, CLF_ROW_PAD));
}

/* The value that runs along axis j first, the other second. */
static void order_outer(const clf_row *p, const clf_sink *k, int j, int *first, int *second) {
    bool swap = clf_row_inner(p->value[k->value[1]].axes) == j;
    *first = k->value[swap];
    *second = k->value[!swap];
}

/* Are the sums of J by K kept in columns, not in rows padded to whole vectors? */
static bool by_columns(int64_t J, int64_t K) { return K <= CLF_ROW_TRANSPOSED || (K <= CLF_ROW_COLUMNS && J > CLF_ROW_NARROW / 2); }

/* Few cells of the first axis by many of the second are taken the other way round: the short side is in registers or a row buffer, and
 * the long one is read once where it stands, instead of once per cell of the short one. */
static bool turned(int64_t J, int64_t K) {
    return (J <= CLF_ROW_COLUMNS && K > CLF_ROW_NARROW / 2) || (J <= CLF_ROW_NARROW && K > CLF_ROW_NARROW);
}

static void outer_axes(clf_row *p, int s) {
    const clf_sink *k = &p->c->sink[s];
    clf_row_sink *q = &p->sink[s];
    int j = clf_row_inner(k->keep), other = clf_row_inner(k->keep & ~(1u << j));
    bool turn = turned(clf_row_extent(p, j), clf_row_extent(p, other));
    q->j = (int8_t)(turn ? other : j);
    q->k = (int8_t)(turn ? j : other);
}

static bool place_outer(clf_row *p, int s) {
    const clf_sink *k = &p->c->sink[s];
    clf_row_sink *q = &p->sink[s];
    int first, second;
    int64_t cells;
    outer_axes(p, s);
    int64_t J = clf_row_extent(p, q->j), K = clf_row_extent(p, q->k);
    if (__builtin_mul_overflow(J, K, &cells) || J > MAX_SLOTS || K > MAX_SLOTS ||
        clf_row_round(J, CLF_ROW_PAD) * clf_row_round(K, CLF_ROW_PAD) > MAX_SLOTS)
        return false;
    order_outer(p, k, q->j, &first, &second);
    if (clf_row_inner(p->value[first].axes) != q->j || clf_row_inner(p->value[second].axes) != q->k) return false;
    q->tiled = clf_row_tiles(p, s, q->j, q->k);
    q->symmetric = q->tiled && clf_row_alike(p, first, second, q->j, q->k);
    if ((q->tiled || clf_row_val(p, first)->op != CLF_V_LOAD) && keep(p, first) < 0) return false;
    if (!q->symmetric && keep(p, second) < 0) return false;
    if (q->tiled) p->value[first].deep = 1;
    if (q->tiled && !q->symmetric) p->value[second].deep = 1;
    q->at = (int16_t)new_sweep(p, CLF_ROW_OUTER, q->j, s);
    if (q->at < 0) return false;
    if (by_columns(J, K)) return columns(p, s, CLF_ROW_BY_COLS, 1, cells, clf_row_round(J, CLF_ROW_PAD) * K);
    int64_t rows = q->tiled ? clf_row_round(J, CLF_ROW_PAD) : J; /* the last tile has some more */
    return columns(p, s, CLF_ROW_BY_ROWS, 1, cells, rows * clf_row_round(K, clf_lanes(clf_row_type(p, first))));
}

static bool place_dot(clf_row *p, int s) {
    const clf_sink *k = &p->c->sink[s];
    const clf_row_value *a = &p->value[k->value[0]], *b = &p->value[k->value[1]];
    int j = clf_row_inner(k->keep);
    if ((k->keep & 1u) || clf_sink_loop(p->c, k) != (k->keep | 1u)) return false;
    if (!clf_row_one_inner(k->keep)) return (k->keep & (k->keep - 1) & ((k->keep & (k->keep - 1)) - 1)) == 0 && place_outer(p, s);
    p->sink[s].j = (int8_t)j;
    if (j < 0) return columns(p, s, CLF_ROW_ONE, 1, 1, 8);
    p->sink[s].at = (int16_t)cells_sweep(p, j, later(a->ready, b->ready));
    return p->sink[s].at >= 0 && columns(p, s, CLF_ROW_LANES, 1, clf_row_extent(p, j), clf_row_round(clf_row_extent(p, j), CLF_ROW_PAD));
}

static bool place_sink(clf_row *p, int s) {
    const clf_sink *k = &p->c->sink[s];
    p->sink[s] = (clf_row_sink){.at = -1, .j = -1, .k = -1, .lanes = 1};
    for (int q = 0; q < 2; q++)
        if (k->value[q] >= 0 && (k->kind == CLF_SINK_DOT || q == 0) && !clf_row_one_inner(p->value[k->value[q]].axes)) return false;
    if (k->guard >= 0) return false;
    if (k->kind == CLF_SINK_STORE) return place_store(p, s);
    if (k->kind == CLF_SINK_FOLD) return place_fold(p, s);
    return k->kind == CLF_SINK_DOT && place_dot(p, s);
}

/* ---- who needs what ---- */

static void root(uint8_t *need, int v) {
    if (v >= 0) need[v] = 1;
}

static void root_sink(const clf_row *p, int s, uint8_t *need) {
    const clf_sink *k = &p->c->sink[s];
    int first = k->value[0], second = k->kind == CLF_SINK_DOT ? k->value[1] : -1;
    if (p->sink[s].symmetric) order_outer(p, k, p->sink[s].j, &first, &second);
    root(need, first);
    if (!p->sink[s].symmetric) root(need, second);
}

static void roots(const clf_row *p, int t, uint8_t *need) {
    for (int s = 0; s < p->c->nsink; s++)
        if (p->sink[s].at == t) root_sink(p, s, need);
    for (int v = 0; v < p->c->nvalue; v++) {
        if (p->value[v].at != t) continue;
        if (clf_op_is_cell(clf_row_val(p, v)->op) || is_memory(clf_row_val(p, v)) || clf_row_val(p, v)->op == CLF_V_CAST) {
            root(need, v);
            continue;
        }
        for (int k = 0; k < 3; k++) root(need, clf_row_val(p, v)->in[k]);
    }
}

void clf_row_needs(const clf_row *p, int t, uint8_t *need) {
    memset(need, 0, (size_t)p->c->nvalue);
    roots(p, t, need);
    for (int v = p->c->nvalue - 1; v >= 0; v--) {
        const clf_row_value *q = &p->value[v];
        if (!need[v]) continue;
        if (clf_row_inner(q->axes) < 0 || !clf_row_one_inner(q->axes)) {
            need[v] = 0; /* a scalar of the row, or a factor */
        } else if (q->kept && (q->at < t || !(clf_op_is_cell(clf_row_val(p, v)->op) || is_memory(clf_row_val(p, v)) ||
                                              clf_row_val(p, v)->op == CLF_V_CAST))) {
            need[v] = 2;
        } else {
            for (int k = 0; k < 3; k++) root(need, clf_row_val(p, v)->in[k]);
        }
    }
}

/* Elementary functions that a second sweep reads are kept by the first. */
static void keep_elementary(clf_row *p) {
    uint8_t need[CLF_ROW_VALUES];
    int16_t first[CLF_ROW_VALUES];
    memset(first, -1, sizeof first);
    for (int t = 0; t < p->nsweep; t++) {
        clf_row_needs(p, t, need);
        for (int v = 0; v < p->c->nvalue; v++) {
            const clf_value *w = clf_row_val(p, v);
            if (need[v] != 1 || !clf_op_is_cell(w->op) || !(clf_ops[w->op].flags & F_ELEM) || p->value[v].kept) continue;
            if (first[v] < 0) {
                first[v] = (int16_t)t;
            } else {
                p->value[v].kept = 1;
                p->value[v].at = first[v];
            }
        }
    }
}

bool clf_row_place(clf_row *p) {
    for (int v = 0; v < p->c->nvalue; v++)
        if (!place_value(p, v)) return false;
    for (int s = 0; s < p->c->nsink; s++)
        if (!place_sink(p, s)) return false;
    if (!place_all_full(p)) return false;
    keep_elementary(p);
    return true;
}
