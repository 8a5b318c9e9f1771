/* SPDX-License-Identifier: Apache-2.0
 * Passes of row.chunk whose rows are lanes, for rows of a few cells: as many rows as a vector has lanes are read, turned, and every cell
 * of a row is a vector over the rows. What runs along a row (products with a small matrix, folds) then has neither lanes without a cell
 * nor shuffles, and its steps, each of which waits for the one before, are those of eight rows (sixteen of f32) at once instead of four.
 * Sinks take rows as they do otherwise: what they read is turned back.
 *
 * A fold inside a row keeps its tree: cell p is taken by lane p mod 8 (16), a vector of its own here, and the lanes merge in halves.
 * Measured, 10 columns, against rows side by side: KMeans of 5 centres 1.7 times as fast, the nearest of them alone 2.8 times, softmax
 * regression of 4 classes 1.4 times.
 *
 * Names beside those of row_text.h: tN_C cell C of value N, vN_l what a row has one of, mcN the matrix of product N, cell (l, k) at
 * l * columns + k; uN_C and rN_R what is turned, a block at a time. */
#include <string.h>

#include "kernels-cl/skel/row_text.h"

#include "core/print.h"

enum {
    CELLS = 16, /* of a row, at most */
    ALONE = 3,  /* so few columns are put together cell by cell */
    FEW = 3,    /* cells of a fold that is worth it alone */
    MANY = 7
};

/* ---- which cplans ---- */

static bool has_rows(const clf_row *p, int v) { return (p->value[v].axes & 1u) != 0; }
static bool has_cells(const clf_row *p, int v) { return clf_row_inner(p->value[v].axes) >= 0; }
static bool is_factor(const clf_row *p, int v) { return !clf_row_one_inner(clf_row_val(p, v)->axes); }

/* Sinks take rows, or one cell of each. */
static bool sink_turns(const clf_row *p, int s) {
    const clf_sink *k = &p->c->sink[s];
    if (k->kind == CLF_SINK_FOLD && !(k->keep & ~1u)) return true;
    if (k->kind == CLF_SINK_STORE && !(k->keep & ~1u)) return true;
    for (int q = 0; q < (k->kind == CLF_SINK_DOT ? 2 : 1); q++)
        if (!has_rows(p, k->value[q]) && has_cells(p, k->value[q])) return false;
    return k->kind == CLF_SINK_DOT || (has_rows(p, k->value[0]) && has_cells(p, k->value[0]));
}

typedef struct folds {
    int computed, gaps; /* folds inside the row of what is computed; folds inside it that leave lanes of a vector without a cell */
    int64_t longest;    /* cells of the longest of the latter */
} folds;

static void count_fold(const clf_row *p, int in, folds *of) {
    if (!has_cells(p, in) || !has_rows(p, in)) return;
    int64_t n = clf_row_extent(p, clf_row_inner(p->value[in].axes));
    of->computed += clf_row_val(p, in)->op != CLF_V_LOAD;
    of->gaps += n % p->width != 0;
    if (n % p->width && n > of->longest) of->longest = n;
}

/* What turning saves, by what was measured (10 and 16 columns): lanes without a cell, where there are two folds with some or one of FEW to
 * MANY cells; shuffles in products with the rows of a matrix. Where vectors are full it costs up to a fifth, and rows that are only read
 * are as fast as memory without it. */
static bool worth_turning(const clf_row *p) {
    clf_row_factor f;
    folds of = {0};
    bool shuffles = false;
    for (int v = 0; v < p->c->nvalue; v++) {
        const clf_value *w = clf_row_val(p, v);
        if (clf_row_factor_of(p, v, &f) && f.lanes != 1 && clf_row_extent(p, f.k) > CLF_ROW_TRANSPOSED) shuffles = true;
        if (w->op == CLF_V_FOLD) count_fold(p, w->in[0], &of);
    }
    for (int s = 0; s < p->c->nsink; s++)
        if (p->c->sink[s].kind == CLF_SINK_FOLD && p->c->sink[s].keep == 1u) count_fold(p, p->c->sink[s].value[0], &of);
    return of.computed && (shuffles || of.gaps > 1 || (of.longest >= FEW && of.longest <= MANY));
}

bool clf_row_turns(const clf_row *p) {
    if (p->rows < p->width || clf_row_folds_cells(p)) return false;
    for (int a = 1; a < p->c->naxes; a++)
        if (clf_row_extent(p, a) < 1 || clf_row_extent(p, a) > CELLS) return false;
    for (int v = 0; v < p->c->nvalue; v++)
        if (clf_row_val(p, v)->op == CLF_V_SCAN || clf_row_val(p, v)->op == CLF_V_CAT) return false;
    for (int s = 0; s < p->c->nsink; s++)
        if (!sink_turns(p, s)) return false;
    return worth_turning(p);
}

/* ---- operands ---- */

/* Rows of a pass: lanes of a vector, and cells of a block that is turned. */
static int width_of(const clf_rtext *w) { return w->p->width; }

static int cells_of(const clf_rtext *w, int v) {
    int j = clf_row_inner(w->c.value[v].axes);
    return j < 0 ? 1 : (int)clf_row_extent(w->p, j);
}

/* Cell c of value v, a lane for each row; constants of all rows are spread. */
static const char *cell_name(const clf_rtext *w, int v, int c, char out[CLF_FOLD_NAME]) {
    const clf_value *q = &w->c.value[v];
    char buf[CLF_EMIT_NAME];
    const char *t = clf_emit_type(buf, (clf_dtype)q->dtype, width_of(w));
    bool cells = clf_row_inner(q->axes) >= 0;
    if (cells && q->op == CLF_V_LOAD && !(q->axes & 1u))
        clf_print(out, CLF_FOLD_NAME, "((%s)(q%d[%d]))", t, q->arg, c);
    else if (cells)
        clf_print(out, CLF_FOLD_NAME, "t%d_%d", v, c);
    else if (q->axes & 1u)
        clf_print(out, CLF_FOLD_NAME, "v%d_l", v);
    else
        clf_print(out, CLF_FOLD_NAME, "((%s)(v%d))", t, v);
    return out;
}

static void declare(clf_rtext *w, int v, int c) {
    char buf[CLF_EMIT_NAME], name[CLF_FOLD_NAME];
    CLF_PUT(&w->x, "%s %s", clf_emit_type(buf, (clf_dtype)w->c.value[v].dtype, width_of(w)), cell_name(w, v, c, name));
}

/* ---- what is read ---- */

/* Rows' cells from `from` on, as many as a vector has: loaded row by row, turned. */
static void load_block(clf_rtext *w, int v, int from, int n) {
    clf_ctext *x = &w->x;
    const clf_value *q = &w->c.value[v];
    char vec[CLF_EMIT_NAME], one[CLF_EMIT_NAME], run[CLF_EMIT_NAME];
    clf_emit_type(vec, (clf_dtype)q->dtype, width_of(w));
    const char *t = clf_emit_type(one, (clf_dtype)q->dtype, 1);
    for (int r = 0; r < width_of(w); r++) {
        CLF_PUT(x, "const %s r%d_%d_%d = ", vec, v, from, r);
        if (n == width_of(w))
            CLF_PUT(x, "CLF_VLOAD(__global, %s, %d, q%d_%d + %d);\n", t, width_of(w), q->arg, r, from);
        else
            CLF_PUT(x, "%s_LOADT(q%d_%d + %d, %d);\n", clf_emit_run(&x->e, run, (clf_dtype)q->dtype, width_of(w)), q->arg, r, from, n);
    }
    CLF_PUT(x, "CLF_TURN_%d(%s, r%d_%d_, u%d_%d_)\n", width_of(w), vec, v, from, v, from);
    for (int c = 0; c < n; c++) CLF_PUT(x, "const %s t%d_%d = u%d_%d_%d;\n", vec, v, from + c, v, from, c);
}

static void load_cells(clf_rtext *w, int v) {
    const clf_value *q = &w->c.value[v];
    char buf[CLF_EMIT_NAME];
    int n = cells_of(w, v);
    for (int from = 0; from < n; from += width_of(w)) {
        int block = n - from < width_of(w) ? n - from : width_of(w);
        if (block > ALONE) {
            load_block(w, v, from, block);
            continue;
        }
        for (int c = from; c < n; c++) {
            declare(w, v, c);
            CLF_PUT(&w->x, " = (%s)(", clf_emit_type(buf, (clf_dtype)q->dtype, width_of(w)));
            for (int r = 0; r < width_of(w); r++) CLF_PUT(&w->x, "%sq%d_%d[%d]", r ? ", " : "", q->arg, r, c);
            CLF_PUT(&w->x, ");\n");
        }
    }
}

/* ---- what is computed ---- */

static void operator_cell(clf_rtext *w, int v, int c) {
    clf_ctext *x = &w->x;
    const clf_value *q = &w->c.value[v];
    clf_dtype t = (clf_dtype)w->c.value[q->in[0]].dtype;
    char name[3][CLF_FOLD_NAME];
    for (int k = 0; k < 3; k++)
        if (q->in[k] >= 0) cell_name(w, q->in[k], c, name[k]);
    const clf_emit_name names[] = {{"a", name[0]}, {"b", name[1]}, {"c", name[2]}, {NULL, NULL}};
    declare(w, v, c);
    CLF_PUT(x, " = ");
    clf_emit_cast(&x->e, t, (clf_dtype)q->dtype, width_of(w));
    if (q->op == CLF_V_CAST)
        CLF_PUT(x, "%s", name[0]);
    else
        clf_emit_text(&x->e, clf_ops[q->op].text, t, width_of(w), names);
    CLF_PUT(x, ");\n");
}

static void position(clf_rtext *w, int v, int c) {
    declare(w, v, c);
    if (w->c.value[v].arg == 0)
        CLF_PUT(&w->x, " = (long%d)(i) + (long%d)(CLF_IOTA_%d);\n", width_of(w), width_of(w), width_of(w));
    else
        CLF_PUT(&w->x, " = (long%d)(%d);\n", width_of(w), c);
}

/* n cells of in[0], for dots each with one of in[1], or of a column of the matrix of `product`; -1: there is none. */
typedef struct operands {
    int in[2], n, product, column;
} operands;

/* Lane by lane, merged: z_ is the result of fold s, in a block that is left open. */
static void fold_cells(clf_rtext *w, int s, const operands *o) {
    clf_ctext *x = &w->x;
    int n = clf_fold_states(x, s), lanes = clf_lanes(clf_ctext_type(x, s));
    char first[CLF_FOLD_NAME], second[CLF_FOLD_NAME], from[CLF_FOLD_NAME], buf[CLF_EMIT_NAME];
    clf_fold_vars f;
    CLF_PUT(x, "{ ");
    for (int l = 0; l < lanes; l++) {
        memset(&f, 0, sizeof f);
        for (int m = 0; m < n; m++) CLF_NAME(f.s[m], "l%d_%d", l, m);
        clf_fold_declare(x, s, false, width_of(w), &f, false);
        clf_fold_apply(x, s, clf_fold_row_of(x, s)->init, false, width_of(w), &f);
    }
    for (int c = 0; c < o->n; c++) {
        memset(&f, 0, sizeof f);
        for (int m = 0; m < n; m++) CLF_NAME(f.s[m], "l%d_%d", c % lanes, m);
        f.v = cell_name(w, o->in[0], c, first);
        if (o->product >= 0)
            clf_print(second, sizeof second, "((%s)(mc%d[%d]))", clf_emit_type(buf, clf_ctext_type(x, s), width_of(w)), o->product,
                      o->column + c * cells_of(w, o->product));
        else if (o->in[1] >= 0)
            cell_name(w, o->in[1], c, second);
        else
            clf_print(second, sizeof second, "((long%d)(%d))", width_of(w), c);
        f.k = second;
        clf_fold_masked_step(x, s, width_of(w), &f, NULL);
    }
    for (int l = 0; l < lanes; l++)
        for (int m = 0; m < n; m++) {
            clf_print(from, sizeof from, "l%d_%d", l, m);
            CLF_PUT(x, "%s b%d_%d = ", clf_emit_type(buf, clf_fold_wide_type(x, s, m), width_of(w)), l, m);
            clf_fold_widen(x, s, m, width_of(w), from);
            CLF_PUT(x, ";\n");
        }
    clf_fold_halve(x, s, lanes, x->p->width);
    memset(&f, 0, sizeof f);
    for (int m = 0; m < n; m++) CLF_NAME(f.s[m], "b0_%d", m);
    clf_fold_result(x, s, width_of(w), &f, "z_");
}

/* Cell `column` of a product taken in whole rows of its matrix: one lane. */
static void one_lane(clf_rtext *w, int v, int column) {
    clf_ctext *x = &w->x;
    const clf_value *q = &w->c.value[v];
    clf_dtype t = (clf_dtype)q->dtype;
    char buf[CLF_EMIT_NAME], a[CLF_FOLD_NAME], b[CLF_FOLD_NAME];
    CLF_PUT(x, "{ %s z_ = (%s)(0);\n", clf_emit_type(buf, t, width_of(w)), buf);
    for (int c = 0; c < (int)clf_row_extent(w->p, (int)q->axis); c++) {
        clf_print(b, sizeof b, "((%s)(mc%d[%d]))", buf, v, column + c * cells_of(w, v));
        clf_rtext_fma(w, q->arg, t, width_of(w), cell_name(w, q->in[0], c, a), b, "z_");
    }
}

static void made(clf_rtext *w, int v) {
    const clf_value *q = &w->c.value[v];
    char name[CLF_FOLD_NAME];
    clf_row_factor f;
    bool product = clf_row_factor_of(w->p, v, &f);
    for (int c = 0; c < cells_of(w, v); c++) {
        declare(w, v, c);
        CLF_PUT(&w->x, ";\n");
        const operands o = {{q->in[0], q->in[1]}, (int)clf_row_extent(w->p, (int)q->axis), product ? v : -1, c};
        if (product && f.lanes == 1)
            one_lane(w, v, c);
        else
            fold_cells(w, clf_rtext_fold_of(w, v), &o);
        CLF_PUT(&w->x, "%s = z_; }\n", cell_name(w, v, c, name));
    }
}

static void value(clf_rtext *w, int v) {
    const clf_value *q = &w->c.value[v];
    bool cells = clf_row_inner(q->axes) >= 0;
    if (!(q->axes & 1u) && (q->op == CLF_V_LOAD || !cells)) return; /* read where it is, or set up */
    w->laned[v] = !cells;
    if (clf_rtext_is_made(q)) {
        made(w, v);
    } else if (q->op == CLF_V_LOAD && cells) {
        load_cells(w, v);
    } else if (q->op == CLF_V_LOAD) {
        w->laned[v] = 0;
        clf_rtext_gather(w, v);
    } else {
        for (int c = 0; c < cells_of(w, v); c++)
            if (q->op == CLF_V_INDEX)
                position(w, v, c);
            else
                operator_cell(w, v, c);
    }
}

/* A fold inside the row that is a result. */
static void row_results(clf_rtext *w) {
    clf_ctext *x = &w->x;
    char buf[CLF_EMIT_NAME];
    for (int s = 0; s < w->nsink; s++) {
        const clf_sink *k = &w->c.sink[s];
        if (k->kind != CLF_SINK_FOLD || k->keep != 1u) continue;
        int o = k->out[0], axis = clf_row_inner(clf_sink_loop(w->p->c, &w->p->c->sink[s]));
        const operands all = {{k->value[0], -1}, (int)clf_row_extent(w->p, axis), -1, 0};
        const char *t = clf_emit_type(buf, (clf_dtype)w->c.out[o].dtype, 1);
        fold_cells(w, s, &all);
        CLF_PUT(x, "CLF_VSTORE(__global, %s, %d, z_, o%d + ob%d + i); }\n", t, width_of(w), o, o);
    }
}

/* ---- a pass ---- */

bool clf_rtext_turned(const clf_rtext *w) { return w->p->turned && w->x.ru > 1; }

/* The matrix of a product, packed: its cells are constants of all rows. */
void clf_rtext_turn_setup(clf_rtext *w, int v, const clf_row_factor *f) {
    char buf[CLF_EMIT_NAME];
    int a = w->c.value[w->c.value[v].in[1]].arg, l = (int)clf_row_extent(w->p, f->l), k = (int)clf_row_extent(w->p, f->k);
    CLF_PUT(&w->x, "%s mc%d[%d] CLF_LINES;\n", clf_emit_type(buf, (clf_dtype)w->c.value[v].dtype, 1), v, l * k);
    CLF_PUT(&w->x, "CLF_COLD for (long l_ = 0; l_ < %d; l_++) CLF_COLD for (long k_ = 0; k_ < %d; k_++) ", l, k);
    CLF_PUT(&w->x, "mc%d[l_ * %d + k_] = x%d[xb%d + l_ * %s%d + k_ * %s%d];\n", v, k, a, a, f->l < f->k ? "xs" : "xk", a,
            f->l < f->k ? "xk" : "xs", a);
}

void clf_rtext_turn(clf_rtext *w) {
    w->x.held = NULL;
    for (int v = 0; v < w->c.nvalue; v++)
        if (!is_factor(w->p, v)) value(w, v);
    row_results(w);
    clf_rtext_turn_back(w);
    w->x.held = w->held;
}
