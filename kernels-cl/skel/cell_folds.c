/* SPDX-License-Identifier: Apache-2.0
 * Folds of cell.chunk: the texts of folds.def placed on lanes and rows so that every merge happens where the tree of fold.h has it.
 * Full folds are in cell_full.c, column folds in cell_cols.c. */
#include <string.h>

#include "kernels-cl/skel/cell_folds.h"

#include "core/print.h"

enum { ROW_LEVELS = 48 };

static void temp(clf_ctext *x, const char *text, const char *assign, clf_dtype t, int width) {
    char buf[CLF_EMIT_NAME];
    if (strstr(text, assign)) CLF_PUT(x, "%s %c; ", clf_emit_type(buf, t, width), assign[0]);
}

/* `text` as statements in a block of its own; temps of step are of the value type, of merge of the wide type. */
void clf_fold_apply(clf_ctext *x, int s, const char *text, bool wide, int width, const clf_fold_vars *f) {
    clf_dtype t = clf_ctext_type(x, s), tt = wide ? clf_wide(t) : t;
    const clf_emit_name names[] = {{"s0", f->s[0]},          {"s1", f->s[1]}, {"s2", f->s[2]},          {"t0", f->t[0]},
                                   {"t1", f->t[1]},          {"t2", f->t[2]}, {"v", f->v ? f->v : "v"}, {"k", f->k ? f->k : "k"},
                                   {"r", f->r ? f->r : "r"}, {NULL, NULL}};
    CLF_PUT(x, "{ ");
    temp(x, text, "c = ", tt, width);
    temp(x, text, "d = ", tt, width);
    temp(x, text, "q = ", tt, width);
    temp(x, text, "n = ", CLF_I64, width);
    clf_emit_text(&x->e, text, t, width, names);
    CLF_PUT(x, "; }\n");
}

void clf_fold_halve(clf_ctext *x, int s, int lanes, int width) {
    clf_fold_vars f;
    memset(&f, 0, sizeof f);
    for (int half = lanes / 2; half >= 1; half /= 2)
        for (int l = 0; l < half; l++) {
            for (int m = 0; m < clf_fold_states(x, s); m++) {
                CLF_NAME(f.s[m], "b%d_%d", l, m);
                CLF_NAME(f.t[m], "b%d_%d", l + half, m);
            }
            clf_fold_apply(x, s, clf_fold_row_of(x, s)->merge, true, width, &f);
        }
}

void clf_fold_declare(clf_ctext *x, int s, bool wide, int width, const clf_fold_vars *f, bool side_t) {
    char buf[CLF_EMIT_NAME];
    for (int m = 0; m < clf_fold_states(x, s); m++)
        CLF_PUT(x, "%s %s; ", clf_emit_type(buf, wide ? clf_fold_wide_type(x, s, m) : clf_fold_lane_type(x, s, m), width),
                side_t ? f->t[m] : f->s[m]);
    CLF_PUT(x, "\n");
}

static void lane_names(const clf_ctext *x, int s, int r, clf_fold_vars *f) {
    memset(f, 0, sizeof *f);
    for (int m = 0; m < clf_fold_states(x, s); m++) CLF_NAME(f->s[m], "f%dl%d_%d", s, m, r);
}
void clf_fold_wide_names(const clf_ctext *x, int s, int r, char (*out)[CLF_FOLD_NAME]) {
    for (int m = 0; m < clf_fold_states(x, s); m++) clf_print(out[m], 40, "f%dw%d_%d", s, m, r);
}

void clf_fold_lanes(clf_ctext *x, int s, int r) {
    clf_fold_vars f;
    int lanes = clf_lanes(clf_ctext_type(x, s));
    lane_names(x, s, r, &f);
    clf_fold_declare(x, s, false, lanes, &f, false);
    clf_fold_apply(x, s, clf_fold_row_of(x, s)->init, false, lanes, &f);
}

/* A dot's step takes its second factor where others have the position; key[0] says which zeros annihilate. */
static const char *step_text(const clf_ctext *x, int s) {
    static const char *const dot[] = {"s0 = E_FMA(v, k, s0)", "s0 = E_SEL(v, E_FMA(v, k, s0), s0)", "s0 = E_SEL(k, E_FMA(v, k, s0), s0)",
                                      "s0 = E_SEL(E_AND(v, k), E_FMA(v, k, s0), s0)"};
    const clf_sink *k = &x->c->sink[s];
    return k->kind == CLF_SINK_DOT ? dot[k->key[0] & 3] : clf_fold_row_of(x, s)->step;
}

/* State f takes value y at positions k; with `rest` only lanes below it do. */
void clf_fold_masked_step(clf_ctext *x, int s, int width, const clf_fold_vars *f, const char *rest) {
    char buf[CLF_EMIT_NAME];
    if (rest)
        for (int m = 0; m < clf_fold_states(x, s); m++)
            CLF_PUT(x, "const %s old%d = %s; ", clf_emit_type(buf, clf_fold_lane_type(x, s, m), width), m, f->s[m]);
    clf_fold_apply(x, s, step_text(x, s), false, width, f);
    if (rest)
        for (int m = 0; m < clf_fold_states(x, s); m++)
            CLF_PUT(x, "%s = %s_UPTO(%s, %s, old%d);\n", f->s[m], clf_emit_run(&x->e, buf, clf_fold_lane_type(x, s, m), width), rest,
                    f->s[m], m);
}

/* Lanes of fold s take the vector y, whose first cell is at position `pos`. */
void clf_fold_step_vector(clf_ctext *x, int s, int r, const char *pos, bool tail) {
    clf_fold_vars f;
    char k[160], rest[16], upper[64], buf[CLF_EMIT_NAME];
    int w = x->p->width, lanes = clf_lanes(clf_ctext_type(x, s));
    lane_names(x, s, r, &f);
    for (int at = 0; at < w; at += lanes) {
        clf_print(k, sizeof k, "((long%d)(%s + %d) + (long%d)(CLF_IOTA_%d))", lanes, pos, at, lanes, lanes);
        clf_print(rest, sizeof rest, "r - %d", at);
        clf_print(upper, sizeof upper, "CLF_UPPER(%s, %d, y)", clf_emit_type(buf, clf_ctext_type(x, s), 1), lanes);
        f.v = lanes == w ? "y" : at ? upper : "y.lo";
        f.k = k;
        CLF_PUT(x, "{ ");
        clf_fold_masked_step(x, s, lanes, &f, tail ? rest : NULL);
        CLF_PUT(x, "}\n");
    }
}

void clf_fold_bind(clf_ctext *x, int s, int r) {
    char buf[CLF_EMIT_NAME];
    CLF_PUT(x, "{ const %s y = ", clf_emit_type(buf, clf_ctext_type(x, s), x->p->width));
    clf_ctext_operand(x, x->c->sink[s].value[0], x->p->width, r);
    CLF_PUT(x, ";\n");
}

void clf_fold_step(clf_ctext *x, int s, int r) {
    clf_fold_bind(x, s, r);
    clf_fold_step_vector(x, s, r, x->p->kind == CLF_CELL_FLAT ? "i * 512 + u" : "u", x->tail);
    CLF_PUT(x, "}\n");
}

/* ---- lanes to one state ---- */

void clf_fold_widen(clf_ctext *x, int s, int m, int width, const char *from) {
    clf_emit_cast(&x->e, clf_fold_lane_type(x, s, m), clf_fold_wide_type(x, s, m), width);
    CLF_PUT(x, "%s)", from);
}

/* In a block: a_M lanes wide, then halves merge: low half the earlier part. */
void clf_fold_wide(clf_ctext *x, int s, int r) {
    clf_fold_vars f;
    char buf[CLF_EMIT_NAME], to[3][CLF_FOLD_NAME];
    int lanes = clf_lanes(clf_ctext_type(x, s)), n = clf_fold_states(x, s);
    lane_names(x, s, r, &f);
    clf_fold_wide_names(x, s, r, to);
    CLF_PUT(x, "{ ");
    for (int m = 0; m < n; m++) {
        CLF_PUT(x, "const %s a%d_%d = ", clf_emit_type(buf, clf_fold_wide_type(x, s, m), lanes), m, lanes);
        clf_fold_widen(x, s, m, lanes, f.s[m]);
        CLF_PUT(x, "; ");
    }
    for (int half = lanes / 2; half >= 1; half /= 2) {
        for (int m = 0; m < n; m++) {
            CLF_NAME(f.s[m], "a%d_%d", m, half);
            clf_dtype t = clf_fold_wide_type(x, s, m);
            CLF_NAME(f.t[m], "CLF_UPPER(%s, %d, a%d_%d)", clf_emit_type(buf, t, 1), half, m, half * 2);
            CLF_PUT(x, "%s %s = a%d_%d.lo; ", clf_emit_type(buf, t, half), f.s[m], m, half * 2);
        }
        clf_fold_apply(x, s, clf_fold_row_of(x, s)->merge, true, half, &f);
    }
    for (int m = 0; m < n; m++) CLF_PUT(x, "%s = a%d_1; ", to[m], m);
    CLF_PUT(x, "}\n");
}

void clf_fold_wide_decl(clf_ctext *x, int s, int r) {
    clf_fold_vars f;
    memset(&f, 0, sizeof f);
    clf_fold_wide_names(x, s, r, f.s);
    clf_fold_declare(x, s, true, 1, &f, false);
}

/* Wide states named f->s, finished, as `name` of the output's type. */
void clf_fold_result(clf_ctext *x, int s, int width, clf_fold_vars *f, const char *name) {
    char buf[CLF_EMIT_NAME];
    clf_dtype wide = strchr("VW", clf_fold_row_of(x, s)->result) ? clf_wide(clf_ctext_type(x, s)) : CLF_I64;
    clf_dtype out = (clf_dtype)x->c->out[x->c->sink[s].out[0]].dtype;
    CLF_PUT(x, "%s y_; ", clf_emit_type(buf, wide, width));
    f->r = "y_";
    clf_fold_apply(x, s, clf_fold_row_of(x, s)->finish, true, width, f);
    CLF_PUT(x, "const %s %s = ", clf_emit_type(buf, out, width), name);
    clf_emit_cast(&x->e, wide, out, width);
    CLF_PUT(x, "y_);\n");
}

/* The empty state, wide, into f->s (declared). */
void clf_fold_empty(clf_ctext *x, int s, int width, const clf_fold_vars *f) {
    clf_fold_vars e;
    memset(&e, 0, sizeof e);
    CLF_PUT(x, "{ ");
    for (int m = 0; m < clf_fold_states(x, s); m++) CLF_NAME(e.s[m], "e%d", m);
    clf_fold_declare(x, s, false, width, &e, false);
    clf_fold_apply(x, s, clf_fold_row_of(x, s)->init, false, width, &e);
    for (int m = 0; m < clf_fold_states(x, s); m++) {
        CLF_PUT(x, "%s = ", f->s[m]);
        clf_fold_widen(x, s, m, width, e.s[m]);
        CLF_PUT(x, "; ");
    }
    CLF_PUT(x, "}\n");
}

/* ---- row folds ---- */

void clf_fold_row_open(clf_ctext *x, int s, int r) {
    char buf[CLF_EMIT_NAME];
    clf_fold_wide_decl(x, s, r);
    if (x->p->kind == CLF_CELL_ROWS) {
        for (int m = 0; m < clf_fold_states(x, s); m++)
            CLF_PUT(x, "%s f%dy%d_%d[%d]; ", clf_emit_type(buf, clf_fold_wide_type(x, s, m), 1), s, m, r, ROW_LEVELS);
        CLF_PUT(x, "int f%dd_%d = 0;\n", s, r);
    }
}

/* Long rows keep a carry stack of their leaves' states. */
void clf_fold_row_push(clf_ctext *x, int s, int r) {
    clf_fold_vars f;
    memset(&f, 0, sizeof f);
    if (x->p->kind != CLF_CELL_ROWS) return;
    clf_fold_wide_names(x, s, r, f.t);
    CLF_PUT(x, "CLF_COLD for (long k_ = j0 / 512; k_ & 1; k_ >>= 1) { f%dd_%d--; ", s, r);
    for (int m = 0; m < clf_fold_states(x, s); m++) CLF_NAME(f.s[m], "f%dy%d_%d[f%dd_%d]", s, m, r, s, r);
    clf_fold_apply(x, s, clf_fold_row_of(x, s)->merge, true, 1, &f);
    for (int m = 0; m < clf_fold_states(x, s); m++) CLF_PUT(x, "%s = %s; ", f.t[m], f.s[m]);
    CLF_PUT(x, "}\n");
    for (int m = 0; m < clf_fold_states(x, s); m++) CLF_PUT(x, "%s = %s; ", f.s[m], f.t[m]);
    CLF_PUT(x, "f%dd_%d++;\n", s, r);
}

void clf_fold_row_leaf(clf_ctext *x, int s, int r) {
    clf_fold_wide(x, s, r);
    clf_fold_row_push(x, s, r);
}

void clf_fold_row_leaves(clf_ctext *x, int s, int n, int run) {
    clf_fold_wides(x, s, n, run);
    for (int q = 0; q < n; q++) clf_fold_row_push(x, s, q);
}

void clf_fold_row_merge(clf_ctext *x, int s, int r) {
    clf_fold_vars f;
    memset(&f, 0, sizeof f);
    clf_fold_wide_names(x, s, r, f.t);
    if (x->p->kind != CLF_CELL_ROWS) return;
    CLF_PUT(x, "CLF_COLD while (--f%dd_%d > 0) { ", s, r);
    for (int m = 0; m < clf_fold_states(x, s); m++) CLF_NAME(f.s[m], "f%dy%d_%d[f%dd_%d - 1]", s, m, r, s, r);
    clf_fold_apply(x, s, clf_fold_row_of(x, s)->merge, true, 1, &f);
    for (int m = 0; m < clf_fold_states(x, s); m++) CLF_PUT(x, "%s = %s; ", f.t[m], f.s[m]);
    CLF_PUT(x, "}\n");
}

void clf_fold_row_close(clf_ctext *x, int s, int r) {
    clf_fold_vars f;
    int o = x->c->sink[s].out[0];
    memset(&f, 0, sizeof f);
    clf_fold_row_merge(x, s, r);
    clf_fold_wide_names(x, s, r, f.s);
    CLF_PUT(x, "{ ");
    clf_fold_result(x, s, 1, &f, "z_");
    CLF_PUT(x, "o%d[ob%d + i + %d] = z_; }\n", o, o, r);
}

static bool elsewhere(const clf_ctext *x, int s, clf_cell_fold kind) {
    return kind == CLF_CELL_FULLFOLD && x->stacks && x->stacks[s] != x->stack;
}

void clf_fold_each(clf_ctext *x, clf_cell_fold kind, void (*f)(clf_ctext *, int)) {
    for (int s = 0; s < x->c->nsink; s++)
        if (clf_cell_fold_of(x->p, &x->c->sink[s]) == kind && !elsewhere(x, s, kind)) f(x, s);
}

/* ---- holes that several kinds of folds fill ---- */

void clf_fold_setup(clf_ctext *x) {
    clf_full_setup(x);
    clf_cols_setup(x);
}
void clf_fold_hole_finish(clf_ctext *x) {
    clf_full_finish(x);
    clf_cols_finish(x);
}
void clf_fold_hole_final(clf_ctext *x) {
    clf_full_final(x);
    clf_cols_final(x);
}
