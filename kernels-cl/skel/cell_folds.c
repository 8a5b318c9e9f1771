/* SPDX-License-Identifier: Apache-2.0
 * Folds of cell.chunk: the texts of folds.def placed on lanes, stacks and column accumulators so that every merge happens where
 * the tree of fold.h has it. Invariant: a state component V has the value type in lanes and accumulators and the wide type from the
 * lane fold on; N is i64 everywhere. */
#include <stdio.h>
#include <string.h>

#include "kernels-cl/skel/cell_text.h"

enum { MERGE_WIDTH = 8, ROW_LEVELS = 48 };

/* Texts bound to one application of a fold's step, merge or finish. */
typedef struct fold_vars { char s[3][40], t[3][40]; const char *v, *k, *r; } fold_vars;

static const clf_fold_row *row_of(const clf_ctext *x, int s) { return &clf_folds[x->c->sink[s].fold]; }
static int states(const clf_ctext *x, int s) { return clf_cell_states(&x->c->sink[s]); }
static bool is_count(const clf_ctext *x, int s, int m) { return row_of(x, s)->state[m] == 'N'; }
static clf_dtype lane_type(const clf_ctext *x, int s, int m) { return is_count(x, s, m) ? CLF_I64 : clf_ctext_type(x, s); }
static clf_dtype wide_type(const clf_ctext *x, int s, int m) { return is_count(x, s, m) ? CLF_I64 : clf_wide(clf_ctext_type(x, s)); }

static void temp(clf_ctext *x, const char *text, const char *assign, clf_dtype t, int width) {
    char buf[CLF_EMIT_NAME];
    if (strstr(text, assign)) CLF_PUT(x, "%s %c; ", clf_emit_type(buf, t, width), assign[0]);
}

/* `text` as statements in a block of its own; temps of step are of the value type, of merge of the wide type. */
static void apply(clf_ctext *x, int s, const char *text, bool wide, int width, const fold_vars *f) {
    clf_dtype t = clf_ctext_type(x, s), tt = wide ? clf_wide(t) : t;
    const clf_emit_name names[] = {{"s0", f->s[0]}, {"s1", f->s[1]}, {"s2", f->s[2]}, {"t0", f->t[0]}, {"t1", f->t[1]}, {"t2", f->t[2]},
                                   {"v", f->v ? f->v : "v"}, {"k", f->k ? f->k : "k"}, {"r", f->r ? f->r : "r"}, {NULL, NULL}};
    CLF_PUT(x, "{ ");
    temp(x, text, "c = ", tt, width);
    temp(x, text, "d = ", tt, width);
    temp(x, text, "q = ", tt, width);
    temp(x, text, "n = ", CLF_I64, width);
    clf_emit_text(&x->e, text, t, width, names);
    CLF_PUT(x, "; }\n");
}

#define NAME(dst, ...) snprintf(dst, sizeof(dst), __VA_ARGS__)

static void declare(clf_ctext *x, int s, bool wide, int width, const fold_vars *f, bool side_t) {
    char buf[CLF_EMIT_NAME];
    for (int m = 0; m < states(x, s); m++)
        CLF_PUT(x, "%s %s; ", clf_emit_type(buf, wide ? wide_type(x, s, m) : lane_type(x, s, m), width), side_t ? f->t[m] : f->s[m]);
    CLF_PUT(x, "\n");
}

static void lane_names(const clf_ctext *x, int s, int r, fold_vars *f) {
    memset(f, 0, sizeof *f);
    for (int m = 0; m < states(x, s); m++) NAME(f->s[m], "f%dl%d_%d", s, m, r);
}
static void wide_names(const clf_ctext *x, int s, int r, char (*out)[40]) {
    for (int m = 0; m < states(x, s); m++) snprintf(out[m], 40, "f%dw%d_%d", s, m, r);
}

void clf_fold_lanes(clf_ctext *x, int s, int r) {
    fold_vars f;
    int lanes = clf_lanes(clf_ctext_type(x, s));
    lane_names(x, s, r, &f);
    declare(x, s, false, lanes, &f, false);
    apply(x, s, row_of(x, s)->init, false, lanes, &f);
}

/* State f takes value y at positions k; with `rest` only lanes below it do. */
static void masked_step(clf_ctext *x, int s, int width, const fold_vars *f, const char *rest) {
    char buf[CLF_EMIT_NAME];
    if (rest)
        for (int m = 0; m < states(x, s); m++)
            CLF_PUT(x, "const %s old%d = %s; ", clf_emit_type(buf, lane_type(x, s, m), width), m, f->s[m]);
    apply(x, s, row_of(x, s)->step, false, width, f);
    if (rest)
        for (int m = 0; m < states(x, s); m++)
            CLF_PUT(x, "%s = %s_UPTO(%s, %s, old%d);\n", f->s[m], clf_emit_run(&x->e, buf, lane_type(x, s, m), width), rest, f->s[m], m);
}

/* Lanes of fold s take the vector y, whose first cell is at position `pos`. */
static void step_vector(clf_ctext *x, int s, int r, const char *pos, bool tail) {
    fold_vars f;
    char k[160], rest[16];
    int w = x->p->width, lanes = clf_lanes(clf_ctext_type(x, s));
    lane_names(x, s, r, &f);
    for (int at = 0; at < w; at += lanes) {
        snprintf(k, sizeof k, "((long%d)(%s + %d) + (long%d)(CLF_IOTA_%d))", lanes, pos, at, lanes, lanes);
        snprintf(rest, sizeof rest, "r - %d", at);
        f.v = lanes == w ? "y" : at ? "y.hi" : "y.lo";
        f.k = k;
        CLF_PUT(x, "{ ");
        masked_step(x, s, lanes, &f, tail ? rest : NULL);
        CLF_PUT(x, "}\n");
    }
}

static void bind_value(clf_ctext *x, int s, int r) {
    char buf[CLF_EMIT_NAME];
    CLF_PUT(x, "{ const %s y = ", clf_emit_type(buf, clf_ctext_type(x, s), x->p->width));
    clf_ctext_operand(x, x->c->sink[s].value[0], x->p->width, r);
    CLF_PUT(x, ";\n");
}

void clf_fold_step(clf_ctext *x, int s, int r) {
    bind_value(x, s, r);
    step_vector(x, s, r, x->p->kind == CLF_CELL_FLAT ? "i * 512 + u" : "u", x->tail);
    CLF_PUT(x, "}\n");
}

/* ---- lanes to one state ---- */

static void widen(clf_ctext *x, int s, int m, int width, const char *from) {
    clf_emit_cast(&x->e, lane_type(x, s, m), wide_type(x, s, m), width);
    CLF_PUT(x, "%s)", from);
}

/* In a block: a_M lanes wide, then halves merge: low half the earlier part. */
void clf_fold_wide(clf_ctext *x, int s, int r) {
    fold_vars f;
    char buf[CLF_EMIT_NAME], to[3][40];
    int lanes = clf_lanes(clf_ctext_type(x, s)), n = states(x, s);
    lane_names(x, s, r, &f);
    wide_names(x, s, r, to);
    CLF_PUT(x, "{ ");
    for (int m = 0; m < n; m++) {
        CLF_PUT(x, "const %s a%d_%d = ", clf_emit_type(buf, wide_type(x, s, m), lanes), m, lanes);
        widen(x, s, m, lanes, f.s[m]);
        CLF_PUT(x, "; ");
    }
    for (int half = lanes / 2; half >= 1; half /= 2) {
        for (int m = 0; m < n; m++) {
            NAME(f.s[m], "a%d_%d", m, half);
            NAME(f.t[m], "a%d_%d.hi", m, half * 2);
            CLF_PUT(x, "%s %s = a%d_%d.lo; ", clf_emit_type(buf, wide_type(x, s, m), half), f.s[m], m, half * 2);
        }
        apply(x, s, row_of(x, s)->merge, true, half, &f);
    }
    for (int m = 0; m < n; m++) CLF_PUT(x, "%s = a%d_1; ", to[m], m);
    CLF_PUT(x, "}\n");
}

void clf_fold_wide_decl(clf_ctext *x, int s, int r) {
    fold_vars f;
    memset(&f, 0, sizeof f);
    wide_names(x, s, r, f.s);
    declare(x, s, true, 1, &f, false);
}

/* Wide states named f->s, finished, as `name` of the output's type. */
static void result(clf_ctext *x, int s, int width, fold_vars *f, const char *name) {
    char buf[CLF_EMIT_NAME];
    clf_dtype wide = strchr("VW", row_of(x, s)->result) ? clf_wide(clf_ctext_type(x, s)) : CLF_I64;
    clf_dtype out = (clf_dtype)x->c->out[x->c->sink[s].out[0]].dtype;
    CLF_PUT(x, "%s y_; ", clf_emit_type(buf, wide, width));
    f->r = "y_";
    apply(x, s, row_of(x, s)->finish, true, width, f);
    CLF_PUT(x, "const %s %s = ", clf_emit_type(buf, out, width), name);
    clf_emit_cast(&x->e, wide, out, width);
    CLF_PUT(x, "y_);\n");
}

/* The empty state, wide, into f->s (declared). */
static void empty_wide(clf_ctext *x, int s, int width, const fold_vars *f) {
    fold_vars e;
    memset(&e, 0, sizeof e);
    CLF_PUT(x, "{ ");
    for (int m = 0; m < states(x, s); m++) NAME(e.s[m], "e%d", m);
    declare(x, s, false, width, &e, false);
    apply(x, s, row_of(x, s)->init, false, width, &e);
    for (int m = 0; m < states(x, s); m++) {
        CLF_PUT(x, "%s = ", f->s[m]);
        widen(x, s, m, width, e.s[m]);
        CLF_PUT(x, "; ");
    }
    CLF_PUT(x, "}\n");
}

/* ---- row folds ---- */

void clf_fold_row_open(clf_ctext *x, int s, int r) {
    char buf[CLF_EMIT_NAME];
    clf_fold_wide_decl(x, s, r);
    if (x->p->kind == CLF_CELL_ROWS) {
        for (int m = 0; m < states(x, s); m++)
            CLF_PUT(x, "%s f%dy%d_%d[%d]; ", clf_emit_type(buf, wide_type(x, s, m), 1), s, m, r, ROW_LEVELS);
        CLF_PUT(x, "int f%dd_%d = 0;\n", s, r);
    }
}

/* One leaf of a row is done: lanes to a state; long rows keep a carry stack of them. */
void clf_fold_row_leaf(clf_ctext *x, int s, int r) {
    fold_vars f;
    memset(&f, 0, sizeof f);
    clf_fold_wide(x, s, r);
    if (x->p->kind != CLF_CELL_ROWS) return;
    wide_names(x, s, r, f.t);
    CLF_PUT(x, "for (long k_ = j0 / 512; k_ & 1; k_ >>= 1) { f%dd_%d--; ", s, r);
    for (int m = 0; m < states(x, s); m++) NAME(f.s[m], "f%dy%d_%d[f%dd_%d]", s, m, r, s, r);
    apply(x, s, row_of(x, s)->merge, true, 1, &f);
    for (int m = 0; m < states(x, s); m++) CLF_PUT(x, "%s = %s; ", f.t[m], f.s[m]);
    CLF_PUT(x, "}\n");
    for (int m = 0; m < states(x, s); m++) CLF_PUT(x, "%s = %s; ", f.s[m], f.t[m]);
    CLF_PUT(x, "f%dd_%d++;\n", s, r);
}

void clf_fold_row_close(clf_ctext *x, int s, int r) {
    fold_vars f;
    int o = x->c->sink[s].out[0];
    memset(&f, 0, sizeof f);
    wide_names(x, s, r, f.t);
    if (x->p->kind == CLF_CELL_ROWS) {
        CLF_PUT(x, "while (--f%dd_%d > 0) { ", s, r);
        for (int m = 0; m < states(x, s); m++) NAME(f.s[m], "f%dy%d_%d[f%dd_%d - 1]", s, m, r, s, r);
        apply(x, s, row_of(x, s)->merge, true, 1, &f);
        for (int m = 0; m < states(x, s); m++) CLF_PUT(x, "%s = %s; ", f.t[m], f.s[m]);
        CLF_PUT(x, "}\n");
    }
    memcpy(f.s, f.t, sizeof f.s);
    CLF_PUT(x, "{ ");
    result(x, s, 1, &f, "z_");
    CLF_PUT(x, "o%d[ob%d + i + %d] = z_; }\n", o, o, r);
}

/* ---- full folds ---- */

static void each(clf_ctext *x, clf_cell_fold kind, void (*f)(clf_ctext *, int)) {
    for (int s = 0; s < x->c->nsink; s++)
        if (clf_cell_fold_of(x->p, &x->c->sink[s]) == kind) f(x, s);
}

static void full_leaf(clf_ctext *x, int s) { clf_fold_wide(x, s, 0); }
void clf_fold_full_leaf(clf_ctext *x) {
    each(x, CLF_CELL_FULLFOLD, full_leaf);
    CLF_PUT(x, "CLF_FULL_PUSH(i, 0, i0, me * ent, full_depth)\n");
}

void clf_fold_tile_step(clf_ctext *x, int s) {
    bind_value(x, s, 0);
    CLF_PUT(x, "vstore%d(y, 0, f%dtile + fill + (u - j0)); }\n", x->p->width, s);
}

/* Lanes of fold s over `cells` cells of its tile, all of them or (ragged) the last ones of the operator. */
static void tile_leaf(clf_ctext *x, int s, bool short_leaf) {
    char buf[CLF_EMIT_NAME];
    int w = x->p->width;
    CLF_PUT(x, "{ ");
    clf_fold_lanes(x, s, 0);
    for (int tail = 0; tail <= short_leaf; tail++) {
        if (!tail) CLF_PUT(x, "int u = 0; for (; u + %d <= cells_; u += %d) {\n", w, w);
        else CLF_PUT(x, "if (u < cells_) { const int r = cells_ - u;\n");
        CLF_PUT(x, "const %s y = vload%d(0, f%dtile + u);\n", clf_emit_type(buf, clf_ctext_type(x, s), w), w, s);
        step_vector(x, s, 0, "leaf * 512 + u", tail);
        CLF_PUT(x, "}\n");
    }
    clf_fold_wide(x, s, 0);
    CLF_PUT(x, "}\n");
}
static void tile_whole(clf_ctext *x, int s) { tile_leaf(x, s, false); }
static void tile_short(clf_ctext *x, int s) { tile_leaf(x, s, true); }
static void tile_shift(clf_ctext *x, int s) {
    CLF_PUT(x, "for (int k = 0; k < fill - 512; k += %d) vstore%d(vload%d(0, f%dtile + 512 + k), 0, f%dtile + k);\n", x->p->width, x->p->width,
            x->p->width, s, s);
}

void clf_fold_tile_flush(clf_ctext *x) {
    CLF_PUT(x, "fill += (int)(e1 - j0);\nif (fill >= 512) { const int cells_ = 512;\n");
    each(x, CLF_CELL_FULLFOLD, tile_whole);
    CLF_PUT(x, "CLF_FULL_PUSH(leaf, 0, leaf0, me * ent, full_depth)\nleaf++;\n");
    each(x, CLF_CELL_FULLFOLD, tile_shift);
    CLF_PUT(x, "fill -= 512; }\n");
}

static void full_setup(clf_ctext *x, int s) {
    char buf[CLF_EMIT_NAME];
    for (int m = 0; m < states(x, s); m++) {
        const char *t = clf_emit_type(buf, wide_type(x, s, m), 1);
        CLF_PUT(x, "__global %s *const f%dz%d = (__global %s *)(scratch + full_at); full_at += (chunks + 1) * ent;\n", t, s, m, t);
    }
    clf_fold_wide_decl(x, s, 0);
    if (x->p->kind != CLF_CELL_FLAT) CLF_PUT(x, "%s f%dtile[1024 + 32];\n", clf_emit_type(buf, clf_ctext_type(x, s), 1), s);
}

static void full_slot(clf_ctext *x, int s, int which) {
    fold_vars f;
    memset(&f, 0, sizeof f);
    wide_names(x, s, 0, f.t);
    for (int m = 0; m < states(x, s); m++) NAME(f.s[m], "f%dz%d[slot]", s, m);
    if (which == 0) apply(x, s, row_of(x, s)->merge, true, 1, &f);
    if (which == 3) {
        memcpy(f.s, f.t, sizeof f.s);
        empty_wide(x, s, 1, &f);
        return;
    }
    for (int m = 0; m < states(x, s); m++)
        if (which == 1) CLF_PUT(x, "%s = %s; ", f.s[m], f.t[m]);
        else CLF_PUT(x, "%s = %s; ", f.t[m], f.s[m]);
    CLF_PUT(x, "\n");
}

void clf_fold_hole_full(clf_ctext *x, int which) {
    for (int s = 0; s < x->c->nsink; s++)
        if (clf_cell_fold_of(x->p, &x->c->sink[s]) == CLF_CELL_FULLFOLD) full_slot(x, s, which);
}

/* ---- column folds ---- */

static int col_lanes(const clf_ctext *x, int s) { return x->p->kind == CLF_CELL_ROWS ? 1 : clf_col_lanes(x->p->cols, clf_ctext_type(x, s)); }

/* Accumulators of narrow matrices are private, so that the compiler may keep them in registers. */
static void col_setup(clf_ctext *x, int s) {
    char buf[CLF_EMIT_NAME];
    for (int m = 0; m < states(x, s); m++) {
        const char *t = clf_emit_type(buf, lane_type(x, s, m), 1);
        if (x->p->kind == CLF_CELL_ROWS) CLF_PUT(x, "__global %s *const f%da%d = (__global %s *)col_at; col_at += aw;\n", t, s, m, t);
        else CLF_PUT(x, "%s f%da%d[%lld];\n", t, s, m, (long long)x->p->aw);
    }
    for (int m = 0; m < states(x, s); m++) {
        const char *t = clf_emit_type(buf, wide_type(x, s, m), 1);
        CLF_PUT(x, "__global %s *const f%dk%d = (__global %s *)col_at; col_at += levels * cp;\n", t, s, m, t);
    }
}

void clf_fold_setup(clf_ctext *x) {
    if (x->p->nfull) CLF_PUT(x, "long full_at = (chunks + 1) * (ent + 1);\n");
    if (x->p->nfull && x->p->kind != CLF_CELL_FLAT) CLF_PUT(x, "int fill = 0; const long leaf0 = i0 * %s / 512; long leaf = leaf0;\n", x->strip);
    each(x, CLF_CELL_FULLFOLD, full_setup);
    if (x->p->ncol) CLF_PUT(x, "__global double *col_at = scratch + cbase + me * cstride;\n");
    each(x, CLF_CELL_COLFOLD, col_setup);
}

/* Accumulators, width lanes wide, in a block: declared and loaded; then stored. */
static void col_load(clf_ctext *x, int s, const char *offset, const fold_vars *f, int width, bool wide, char which) {
    char buf[CLF_EMIT_NAME];
    for (int m = 0; m < states(x, s); m++)
        CLF_PUT(x, "%s %s = vload%d(0, f%d%c%d + %s); ", clf_emit_type(buf, wide ? wide_type(x, s, m) : lane_type(x, s, m), width), f->s[m], width, s,
                which, m, offset);
}
static void col_store(clf_ctext *x, int s, const char *offset, const fold_vars *f, int width, char which) {
    for (int m = 0; m < states(x, s); m++) CLF_PUT(x, "vstore%d(%s, 0, f%d%c%d + %s); ", width, f->s[m], s, which, m, offset);
}

void clf_fold_col_step(clf_ctext *x, int s) {
    fold_vars f;
    char at[96], k[48];
    int w = x->p->width, lanes = x->p->kind == CLF_CELL_GROUP ? 1 : col_lanes(x, s);
    memset(&f, 0, sizeof f);
    for (int m = 0; m < states(x, s); m++) NAME(f.s[m], "s%d_", m);
    CLF_PUT(x, "{ ");
    for (int r = 0; r < x->ru; r++) {
        if (lanes > 1) {
            snprintf(at, sizeof at, "((i + %d) & %d) * cp + u", r, lanes - 1);
            CLF_PUT(x, "{ ");
        } else {
            snprintf(at, sizeof at, "u");
        }
        if (lanes > 1 || r == 0) col_load(x, s, at, &f, w, false, 'a');
        snprintf(k, sizeof k, "((long%d)(i + %d))", w, r);
        f.v = "y";
        f.k = k;
        bind_value(x, s, r);
        masked_step(x, s, w, &f, x->tail ? "r" : NULL);
        CLF_PUT(x, "}\n");
        if (lanes > 1 || r == x->ru - 1) col_store(x, s, at, &f, w, 'a');
        if (lanes > 1) CLF_PUT(x, "}\n");
    }
    CLF_PUT(x, "}\n");
}

static void col_init(clf_ctext *x, int s) {
    fold_vars f;
    memset(&f, 0, sizeof f);
    for (int m = 0; m < states(x, s); m++) NAME(f.s[m], "s%d_", m);
    CLF_PUT(x, "{ ");
    declare(x, s, false, MERGE_WIDTH, &f, false);
    apply(x, s, row_of(x, s)->init, false, MERGE_WIDTH, &f);
    if (x->p->kind == CLF_CELL_ROWS) CLF_PUT(x, "for (long u = 0; u < aw; u += 8) { ");
    else CLF_PUT(x, "for (long u = 0; u < %lld; u += 8) { ", (long long)x->p->aw);
    col_store(x, s, "u", &f, MERGE_WIDTH, 'a');
    CLF_PUT(x, "} }\n");
}
void clf_fold_hole_col_init(clf_ctext *x) { each(x, CLF_CELL_COLFOLD, col_init); }

/* The lanes of column vector u, folded: declares b<l>_M, result in b0_M. */
static void col_lane_fold(clf_ctext *x, int s) {
    fold_vars f;
    char buf[CLF_EMIT_NAME], from[96];
    int lanes = col_lanes(x, s), n = states(x, s);
    memset(&f, 0, sizeof f);
    for (int l = 0; l < lanes; l++)
        for (int m = 0; m < n; m++) {
            if (x->p->kind == CLF_CELL_GROUP) snprintf(from, sizeof from, "vload8(0, f%da%d + %d + u)", s, m, l * (int)x->p->cols);
            else snprintf(from, sizeof from, "vload8(0, f%da%d + %d * cp + u)", s, m, l);
            CLF_PUT(x, "%s b%d_%d = ", clf_emit_type(buf, wide_type(x, s, m), MERGE_WIDTH), l, m);
            widen(x, s, m, MERGE_WIDTH, from);
            CLF_PUT(x, ";\n");
        }
    for (int half = lanes / 2; half >= 1; half /= 2)
        for (int l = 0; l < half; l++) {
            for (int m = 0; m < n; m++) {
                NAME(f.s[m], "b%d_%d", l, m);
                NAME(f.t[m], "b%d_%d", l + half, m);
            }
            apply(x, s, row_of(x, s)->merge, true, MERGE_WIDTH, &f);
        }
}

static void slot_names(const clf_ctext *x, int s, fold_vars *f, const char *t) {
    memset(f, 0, sizeof *f);
    for (int m = 0; m < states(x, s); m++) {
        NAME(f->s[m], "s%d_", m);
        NAME(f->t[m], t, m);
    }
}

static void col_push(clf_ctext *x, int s) {
    fold_vars f;
    slot_names(x, s, &f, "b0_%d");
    CLF_PUT(x, "for (long u = 0; u < cp - 16; u += 8) {\n");
    col_lane_fold(x, s);
    CLF_PUT(x, "int d = col_depth;\nfor (long k_ = bl; k_ & 1; k_ >>= 1) { d--; ");
    col_load(x, s, "d * cp + u", &f, MERGE_WIDTH, true, 'k');
    apply(x, s, row_of(x, s)->merge, true, MERGE_WIDTH, &f);
    for (int m = 0; m < states(x, s); m++) CLF_PUT(x, "%s = %s; ", f.t[m], f.s[m]);
    CLF_PUT(x, "}\n");
    memcpy(f.s, f.t, sizeof f.s);
    col_store(x, s, "d * cp + u", &f, MERGE_WIDTH, 'k');
    CLF_PUT(x, "}\n");
}
void clf_fold_hole_col_push(clf_ctext *x) {
    if (!x->p->ncol) return;
    CLF_PUT(x, "{ const long bl = (b0 - i0) / block;\n");
    each(x, CLF_CELL_COLFOLD, col_push);
    CLF_PUT(x, "for (long k_ = bl; k_ & 1; k_ >>= 1) col_depth--;\ncol_depth++; }\n");
}

/* Column states at offset `to` take those at `from`, the later rows; every column. */
static void col_merge(clf_ctext *x, int s, const char *to, const char *from) {
    fold_vars f;
    char at[96], buf[CLF_EMIT_NAME];
    slot_names(x, s, &f, "t%d_");
    CLF_PUT(x, "for (long u = 0; u < cp - 16; u += 8) { ");
    snprintf(at, sizeof at, "%s + u", to);
    col_load(x, s, at, &f, MERGE_WIDTH, true, 'k');
    for (int m = 0; m < states(x, s); m++)
        CLF_PUT(x, "%s %s = vload8(0, f%dk%d + %s + u); ", clf_emit_type(buf, wide_type(x, s, m), MERGE_WIDTH), f.t[m], s, m, from);
    apply(x, s, row_of(x, s)->merge, true, MERGE_WIDTH, &f);
    col_store(x, s, at, &f, MERGE_WIDTH, 'k');
    CLF_PUT(x, "}\n");
}

static void col_close(clf_ctext *x, int s) {
    fold_vars f;
    slot_names(x, s, &f, "t%d_");
    CLF_PUT(x, "if (col_depth == 0) { ");
    declare(x, s, true, MERGE_WIDTH, &f, false);
    empty_wide(x, s, MERGE_WIDTH, &f);
    CLF_PUT(x, "for (long u = 0; u < cp; u += 8) { ");
    col_store(x, s, "u", &f, MERGE_WIDTH, 'k');
    CLF_PUT(x, "} }\nfor (int d = col_depth - 1; d > 0; d--)\n");
    col_merge(x, s, "(d - 1) * cp", "d * cp");
}

void clf_fold_hole_finish(clf_ctext *x) {
    if (x->p->nfull && x->p->kind != CLF_CELL_FLAT) {
        CLF_PUT(x, "if (fill > 0) { const int cells_ = fill;\n");
        each(x, CLF_CELL_FULLFOLD, tile_short);
        CLF_PUT(x, "CLF_FULL_PUSH(leaf, 0, leaf0, me * ent, full_depth) }\n");
    }
    if (x->p->nfull) CLF_PUT(x, "full_count[me] = full_depth;\n");
    each(x, CLF_CELL_COLFOLD, col_close);
}

static void full_result(clf_ctext *x, int s) {
    fold_vars f;
    int o = x->c->sink[s].out[0];
    memset(&f, 0, sizeof f);
    wide_names(x, s, 0, f.s);
    CLF_PUT(x, "{ ");
    result(x, s, 1, &f, "z_");
    CLF_PUT(x, "o%d[ob%d] = z_; }\n", o, o);
}

/* Chunks merge level by level, in place: the same binary tree over their index. */
static void col_result(clf_ctext *x, int s) {
    fold_vars f;
    char buf[CLF_EMIT_NAME];
    int o = x->c->sink[s].out[0];
    CLF_PUT(x, "for (long w_ = 1; w_ < chunks; w_ *= 2)\nfor (long c_ = 0; c_ + w_ < chunks; c_ += 2 * w_)\n");
    col_merge(x, s, "(c_ - me) * cstride", "(c_ + w_ - me) * cstride");
    slot_names(x, s, &f, "t%d_");
    CLF_PUT(x, "for (long u = 0; u < %lld%s; u += 8) {\n", x->p->kind == CLF_CELL_ROWS ? 0LL : (long long)x->p->cols,
            x->p->kind == CLF_CELL_ROWS ? " + width" : "");
    col_load(x, s, "u - me * cstride", &f, MERGE_WIDTH, true, 'k');
    result(x, s, MERGE_WIDTH, &f, "z_");
    CLF_PUT(x, "const int r = (int)min(8L, %lld%s - u);\n", x->p->kind == CLF_CELL_ROWS ? 0LL : (long long)x->p->cols,
            x->p->kind == CLF_CELL_ROWS ? " + width" : "");
    CLF_PUT(x, "%s_STORET(z_, o%d + ob%d + u, r); }\n", clf_emit_run(&x->e, buf, (clf_dtype)x->c->out[o].dtype, MERGE_WIDTH), o, o);
}

void clf_fold_hole_final(clf_ctext *x) {
    if (x->p->nfull) CLF_PUT(x, "CLF_FULL_CLOSE()\n");
    each(x, CLF_CELL_FULLFOLD, full_result);
    each(x, CLF_CELL_COLFOLD, col_result);
}
