/* SPDX-License-Identifier: Apache-2.0
 * Folds of columns in cell.generic.cl. Values of a block of cells stand in tiles; in row-major order, the cells of as many rows as columns
 * have lanes are one run of accumulators, so a tile folds into it vector by vector whatever rows it holds. At the end of a block of rows
 * lanes fold and the states go onto the work-item's carry stack, as in cell_cols.c; the last work-item merges those of all.
 *
 * Of each fold: `awide` accumulators a component, then `levels0` rows of `swide` wide states a component, all in words of 8 bytes. */
#include <stdio.h>
#include <string.h>

#include "kernels-cl/skel/cell_folds.h"
#include "kernels-cl/skel/generic_text.h"

enum { LANES = 16 /* the most of a column */ };

static const char on_stack[] = "col_stack + ((f_ * 3 + %d) * levels0 + d_) * swide + j_";

static void names_of(const clf_ctext *x, int s, clf_fold_vars *f) {
    memset(f, 0, sizeof *f);
    for (int m = 0; m < clf_fold_states(x, s); m++) {
        CLF_NAME(f->s[m], "zs%d_", m);
        CLF_NAME(f->t[m], "zt%d_", m);
    }
}

/* ---- wide states of eight columns ---- */

static void wide_declare(clf_ctext *x, int s, const clf_fold_vars *f) {
    clf_fold_declare(x, s, true, CLF_MERGE_WIDTH, f, false);
    clf_fold_declare(x, s, true, CLF_MERGE_WIDTH, f, true);
}

/* From and to words at `at`, where %d is the component. */
static void wide_get(clf_ctext *x, int s, char (*name)[CLF_FOLD_NAME], const char *at) {
    for (int m = 0; m < clf_fold_states(x, s); m++) {
        CLF_PUT(x, clf_fold_is_count(x, s, m) ? "%s = as_long8(vload8(0, " : "%s = (vload8(0, ", name[m]);
        CLF_PUT(x, at, m);
        CLF_PUT(x, ")); ");
    }
}
static void wide_put(clf_ctext *x, int s, char (*name)[CLF_FOLD_NAME], const char *at) {
    for (int m = 0; m < clf_fold_states(x, s); m++) {
        CLF_PUT(x, clf_fold_is_count(x, s, m) ? "vstore8(as_double8(%s), 0, " : "vstore8(%s, 0, ", name[m]);
        CLF_PUT(x, at, m);
        CLF_PUT(x, "); ");
    }
}

/* The later states zt merge with the earlier ones at `at` and become the merged ones. */
static void wide_meet(clf_ctext *x, int s, clf_fold_vars *f, const char *at) {
    wide_get(x, s, f->s, at);
    clf_fold_apply(x, s, clf_fold_row_of(x, s)->merge, true, CLF_MERGE_WIDTH, f);
    for (int m = 0; m < clf_fold_states(x, s); m++) CLF_PUT(x, "%s = %s; ", f->t[m], f->s[m]);
}

static void each_column(clf_ctext *x) { CLF_PUT(x, "CLF_COLD for (long j_ = 0; j_ < cols; j_ += 8) { "); }

/* ---- accumulators ---- */

/* Component m of fold f_'s accumulators, at `offset`. */
static void lane_at(clf_ctext *x, int s, int m, const char *offset) {
    char one[CLF_EMIT_NAME];
    CLF_PUT(x, "(__global %s *)(col_acc + (f_ * 3 + %d) * awide) + %s", clf_emit_type(one, clf_fold_lane_type(x, s, m), 1), m, offset);
}
static void lane_load(clf_ctext *x, int s, int m, int width, const char *offset) {
    char one[CLF_EMIT_NAME];
    CLF_PUT(x, "CLF_VLOAD(__global, %s, %d, ", clf_emit_type(one, clf_fold_lane_type(x, s, m), 1), width);
    lane_at(x, s, m, offset);
    CLF_PUT(x, ")");
}
static void lanes_put(clf_ctext *x, int s, int width, const clf_fold_vars *f, const char *offset) {
    char one[CLF_EMIT_NAME];
    for (int m = 0; m < clf_fold_states(x, s); m++) {
        CLF_PUT(x, "CLF_VSTORE(__global, %s, %d, %s, ", clf_emit_type(one, clf_fold_lane_type(x, s, m), 1), width, f->s[m]);
        lane_at(x, s, m, offset);
        CLF_PUT(x, "); ");
    }
}

static void begin(clf_ctext *x, int s) {
    clf_fold_vars f;
    names_of(x, s, &f);
    clf_fold_declare(x, s, false, CLF_MERGE_WIDTH, &f, false);
    clf_fold_apply(x, s, clf_fold_row_of(x, s)->init, false, CLF_MERGE_WIDTH, &f);
    CLF_PUT(x, "CLF_COLD for (long a_ = 0; a_ < span_; a_ += 8) { ");
    lanes_put(x, s, CLF_MERGE_WIDTH, &f, "a_");
    CLF_PUT(x, "}\n");
}

void clf_gen_cols_setup(clf_ctext *x) {
    CLF_PUT(x, "const long span_ = lanes0 * cols, awide = span_ + %d, swide = cols + %d;\n", CLF_GEN_COL_ROOM, CLF_GEN_COL_ROOM);
    CLF_PUT(x, "__global double *const col_acc = (__global double *)fold_tile - nfold * 3 * (awide + levels0 * swide);\n"
               "__global double *const col_stack = col_acc + nfold * 3 * awide;\n");
    CLF_PUT(x, "double8 col_part[%d];\nlong col_blocks = 0; int col_depth = 0;\nif (rowwise == %d) {\n", 3 * LANES, CLF_GEN_OF_COLUMNS);
    clf_gen_every_fold(x, begin);
    CLF_PUT(x, "}\n");
}

/* Positions of a vector's cells are their rows. */
static void positions(clf_ctext *x) {
    int n = clf_gen_lanes(x);
    CLF_PUT(x, "const long%d k_ = (long%d)(row) + ((long%d)(col + w_) + (long%d)(CLF_IOTA_%d)) / (long%d)(cols);\n", n, n, n, n, n, n);
}

/* Accumulators take vector w_ of the values at v; tail: of r cells. */
static void step(clf_ctext *x, int s, bool tail) {
    clf_fold_vars f;
    char type[CLF_EMIT_NAME];
    names_of(x, s, &f);
    f.v = "y";
    f.k = "k_";
    CLF_PUT(x, "const CLF_GEN_V y = CLF_GEN_AT(v, w_);\n");
    if (strchr(clf_fold_row_of(x, s)->step, 'k')) positions(x);
    for (int m = 0; m < clf_fold_states(x, s); m++) {
        CLF_PUT(x, "%s %s = ", clf_emit_type(type, clf_fold_lane_type(x, s, m), clf_gen_lanes(x)), f.s[m]);
        lane_load(x, s, m, clf_gen_lanes(x), "col + w_");
        CLF_PUT(x, "; ");
    }
    clf_fold_masked_step(x, s, clf_gen_lanes(x), &f, tail ? "r" : NULL);
    lanes_put(x, s, clf_gen_lanes(x), &f, "col + w_");
}

static void run_of_cells(clf_ctext *x, int s) {
    CLF_PUT(x, "const __global CLF_GEN_S *const v = fold_tile + f_ * CLF_GEN_FOLD_TILE + u + t_;\n"
               "int w_ = 0; for (; w_ + CLF_GEN_L <= e_; w_ += CLF_GEN_L) { ");
    step(x, s, false);
    CLF_PUT(x, "}\nif (w_ < e_) { const int r = e_ - w_; ");
    step(x, s, true);
    CLF_PUT(x, "}\n");
}

/* ---- blocks of rows ---- */

static void lane_fold(clf_ctext *x, int s, const clf_fold_vars *f) {
    CLF_PUT(x, "CLF_COLD for (int l_ = 0; l_ < lanes0; l_++) { ");
    for (int m = 0; m < clf_fold_states(x, s); m++) {
        CLF_PUT(x, clf_fold_is_count(x, s, m) ? "col_part[%d + l_] = as_double8(" : "col_part[%d + l_] = (", m * LANES);
        clf_emit_cast(&x->e, clf_fold_lane_type(x, s, m), clf_fold_wide_type(x, s, m), CLF_MERGE_WIDTH);
        lane_load(x, s, m, CLF_MERGE_WIDTH, "l_ * cols + j_");
        CLF_PUT(x, ")); ");
    }
    CLF_PUT(x, "}\nCLF_COLD for (int h_ = (int)lanes0 / 2; h_ >= 1; h_ /= 2) CLF_COLD for (int l_ = 0; l_ < h_; l_++) {\n");
    for (int m = 0; m < clf_fold_states(x, s); m++) {
        const char *as = clf_fold_is_count(x, s, m) ? "as_long8" : "";
        CLF_PUT(x, "%s = %s(col_part[%d + l_]); %s = %s(col_part[%d + l_ + h_]); ", f->s[m], as, m * LANES, f->t[m], as, m * LANES);
    }
    clf_fold_apply(x, s, clf_fold_row_of(x, s)->merge, true, CLF_MERGE_WIDTH, f);
    for (int m = 0; m < clf_fold_states(x, s); m++)
        CLF_PUT(x, "col_part[%d + l_] = %s(%s); ", m * LANES, clf_fold_is_count(x, s, m) ? "as_double8" : "", f->s[m]);
    CLF_PUT(x, "}\n");
    for (int m = 0; m < clf_fold_states(x, s); m++)
        CLF_PUT(x, "%s = %s(col_part[%d]); ", f->t[m], clf_fold_is_count(x, s, m) ? "as_long8" : "", m * LANES);
}

/* The end of a block: its states onto the stack, and empty lanes again. */
static void push(clf_ctext *x, int s) {
    clf_fold_vars f;
    names_of(x, s, &f);
    each_column(x);
    wide_declare(x, s, &f);
    lane_fold(x, s, &f);
    CLF_PUT(x, "\nint d_ = col_depth;\nCLF_COLD for (long n_ = col_blocks; n_ & 1; n_ >>= 1) { d_--; ");
    wide_meet(x, s, &f, on_stack);
    CLF_PUT(x, "}\n");
    wide_put(x, s, f.t, on_stack);
    CLF_PUT(x, "}\n{ ");
    begin(x, s);
    CLF_PUT(x, "}\n");
}

static void close_block(clf_ctext *x) {
    clf_gen_every_fold(x, push);
    CLF_PUT(x, "CLF_COLD for (long n_ = col_blocks; n_ & 1; n_ >>= 1) col_depth--;\ncol_depth++;\ncol_blocks++;\n");
}

/* A block of cells: runs of them up to where accumulators begin again. */
void clf_gen_cols_take(clf_ctext *x) {
    CLF_PUT(x, "if (rowwise == %d && !once) {\n", CLF_GEN_OF_COLUMNS);
    CLF_PUT(x, "for (int t_ = 0, e_; t_ < min(rest, CLF_GEN_BLOCK); t_ += e_) {\n"
               "e_ = (int)min((long)(min(rest, CLF_GEN_BLOCK) - t_), span_ - col);\n");
    clf_gen_every_fold(x, run_of_cells);
    CLF_PUT(x, "col += e_;\nif (col < span_) continue;\ncol = 0;\nrow += lanes0;\nif (row & (block0 - 1)) continue;\n");
    close_block(x);
    CLF_PUT(x, "} }\n");
}

/* ---- the end ---- */

static void close_stack(clf_ctext *x, int s) {
    clf_fold_vars f;
    names_of(x, s, &f);
    each_column(x);
    wide_declare(x, s, &f);
    CLF_PUT(x, "int d_ = col_depth - 1;\nif (d_ < 0) { d_ = 0; ");
    clf_fold_empty(x, s, CLF_MERGE_WIDTH, &f);
    wide_put(x, s, f.s, on_stack);
    CLF_PUT(x, "}\n");
    wide_get(x, s, f.t, on_stack);
    CLF_PUT(x, "CLF_COLD while (--d_ >= 0) { ");
    wide_meet(x, s, &f, on_stack);
    CLF_PUT(x, "}\nd_ = 0; ");
    wide_put(x, s, f.t, on_stack);
    CLF_PUT(x, "}\n");
}

void clf_gen_cols_end(clf_ctext *x) {
    CLF_PUT(x, "if (rowwise == %d) {\nif (col || (row & (block0 - 1))) {\n", CLF_GEN_OF_COLUMNS);
    close_block(x);
    CLF_PUT(x, "}\n");
    clf_gen_every_fold(x, close_stack);
    CLF_PUT(x, "}\n");
}

/* Work-items' states in the order of their rows: the same binary tree. */
static void result(clf_ctext *x, int s) {
    static const char from[] = "col_stack + (c_ - me) * area + (f_ * 3 + %d) * levels0 * swide + j_";
    static const char later[] = "col_stack + (c_ + n_ - me) * area + (f_ * 3 + %d) * levels0 * swide + j_";
    clf_fold_vars f;
    char buf[CLF_EMIT_NAME], one[CLF_EMIT_NAME];
    clf_dtype out = (clf_dtype)x->c->out[x->c->sink[s].out[0]].dtype;
    names_of(x, s, &f);
    each_column(x);
    wide_declare(x, s, &f);
    CLF_PUT(x, "CLF_COLD for (long n_ = 1; n_ < chunks; n_ *= 2)\nCLF_COLD for (long c_ = 0; c_ + n_ < chunks; c_ += 2 * n_) { ");
    wide_get(x, s, f.t, later);
    wide_meet(x, s, &f, from);
    wide_put(x, s, f.t, from);
    CLF_PUT(x, "}\nconst long c_ = 0; ");
    wide_get(x, s, f.s, from);
    clf_fold_result(x, s, CLF_MERGE_WIDTH, &f, "z_");
    CLF_PUT(x, "const int o_ = (int)(folds >> (16 * f_ + 8) & 255);\n%s_STORET(z_, (__global %s *)memory[o_] + offset[o_] + j_, ",
            clf_emit_run(&x->e, buf, out, CLF_MERGE_WIDTH), clf_emit_type(one, out, 1));
    CLF_PUT(x, "(int)min(8L, cols - j_)); }\n");
}

void clf_gen_cols_put(clf_ctext *x) {
    CLF_PUT(x, "if (rowwise == %d) {\n", CLF_GEN_OF_COLUMNS);
    clf_gen_every_fold(x, result);
    CLF_PUT(x, "}\n");
}
