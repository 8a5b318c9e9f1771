/* SPDX-License-Identifier: Apache-2.0
 * Column folds of cell.chunk. A block of rows folds into accumulators, one row of lanes each; at its end the lanes fold and the
 * block's states go onto the work-item's carry stack; at the end of the work-item that closes to one state per column, and the last
 * work-item merges those of all chunks level by level, in place: the same binary tree over their index. */
#include <string.h>

#include "kernels-cl/skel/cell_folds.h"

#include "core/print.h"

static int col_lanes(const clf_ctext *x, int s) {
    return x->p->kind == CLF_CELL_ROWS ? 1 : clf_col_lanes(x->p->cols, clf_ctext_type(x, s));
}

/* Accumulators of narrow matrices are private, so that the compiler may keep them in registers. */
static void col_setup(clf_ctext *x, int s) {
    char buf[CLF_EMIT_NAME];
    for (int m = 0; m < clf_fold_states(x, s); m++) {
        const char *t = clf_emit_type(buf, clf_fold_lane_type(x, s, m), 1);
        if (x->p->kind == CLF_CELL_ROWS)
            CLF_PUT(x, "__global %s *const f%da%d = (__global %s *)col_at; col_at += aw;\n", t, s, m, t);
        else
            CLF_PUT(x, "%s f%da%d[%lld];\n", t, s, m, (long long)x->p->aw);
    }
    for (int m = 0; m < clf_fold_states(x, s); m++) {
        const char *t = clf_emit_type(buf, clf_fold_wide_type(x, s, m), 1);
        CLF_PUT(x, "__global %s *const f%dk%d = (__global %s *)col_at; col_at += levels * cp;\n", t, s, m, t);
    }
}

/* Accumulators ('a') or stacks ('k', wide), width lanes from an offset: declared and loaded; then stored. */
static const char *col_space(const clf_ctext *x, char which) {
    return which == 'a' && x->p->kind != CLF_CELL_ROWS ? "__private" : "__global";
}
static void col_load(clf_ctext *x, int s, const char *offset, const clf_fold_vars *f, int width, char which) {
    char vec[CLF_EMIT_NAME], one[CLF_EMIT_NAME];
    for (int m = 0; m < clf_fold_states(x, s); m++) {
        clf_dtype t = which == 'k' ? clf_fold_wide_type(x, s, m) : clf_fold_lane_type(x, s, m);
        CLF_PUT(x, "%s %s = CLF_VLOAD(%s, %s, %d, f%d%c%d + %s); ", clf_emit_type(vec, t, width), f->s[m], col_space(x, which),
                clf_emit_type(one, t, 1), width, s, which, m, offset);
    }
}
static void col_store(clf_ctext *x, int s, const char *offset, const clf_fold_vars *f, int width, char which) {
    char one[CLF_EMIT_NAME];
    for (int m = 0; m < clf_fold_states(x, s); m++) {
        clf_dtype t = which == 'k' ? clf_fold_wide_type(x, s, m) : clf_fold_lane_type(x, s, m);
        CLF_PUT(x, "CLF_VSTORE(%s, %s, %d, %s, f%d%c%d + %s); ", col_space(x, which), clf_emit_type(one, t, 1), width, f->s[m], s, which, m,
                offset);
    }
}

void clf_fold_col_step(clf_ctext *x, int s) {
    clf_fold_vars f;
    char at[96], k[48];
    int w = x->p->width, lanes = x->p->kind == CLF_CELL_GROUP ? 1 : col_lanes(x, s);
    memset(&f, 0, sizeof f);
    for (int m = 0; m < clf_fold_states(x, s); m++) CLF_NAME(f.s[m], "s%d_", m);
    CLF_PUT(x, "{ ");
    for (int r = 0; r < x->ru; r++) {
        if (lanes > 1) {
            clf_print(at, sizeof at, "((i + %d) & %d) * cp + u", r, lanes - 1);
            CLF_PUT(x, "{ ");
        } else {
            clf_print(at, sizeof at, "u");
        }
        if (lanes > 1 || r == 0) col_load(x, s, at, &f, w, 'a');
        clf_print(k, sizeof k, "((long%d)(i + %d))", w, r);
        f.v = "y";
        f.k = k;
        clf_fold_bind(x, s, r);
        clf_fold_masked_step(x, s, w, &f, x->tail ? "r" : NULL);
        CLF_PUT(x, "}\n");
        if (lanes > 1 || r == x->ru - 1) col_store(x, s, at, &f, w, 'a');
        if (lanes > 1) CLF_PUT(x, "}\n");
    }
    CLF_PUT(x, "}\n");
}

static void col_init(clf_ctext *x, int s) {
    clf_fold_vars f;
    memset(&f, 0, sizeof f);
    for (int m = 0; m < clf_fold_states(x, s); m++) CLF_NAME(f.s[m], "s%d_", m);
    CLF_PUT(x, "{ ");
    clf_fold_declare(x, s, false, CLF_MERGE_WIDTH, &f, false);
    clf_fold_apply(x, s, clf_fold_row_of(x, s)->init, false, CLF_MERGE_WIDTH, &f);
    if (x->p->kind == CLF_CELL_ROWS)
        CLF_PUT(x, "CLF_COLD for (long u = 0; u < aw; u += 8) { ");
    else
        CLF_PUT(x, "CLF_COLD for (long u = 0; u < %lld; u += 8) { ", (long long)x->p->aw);
    col_store(x, s, "u", &f, CLF_MERGE_WIDTH, 'a');
    CLF_PUT(x, "} }\n");
}
void clf_fold_hole_col_init(clf_ctext *x) { clf_fold_each(x, CLF_CELL_COLFOLD, col_init); }

/* The lanes of column vector u, folded: declares b<l>_M, result in b0_M. */
static void col_lane_fold(clf_ctext *x, int s) {
    char buf[CLF_EMIT_NAME], from[96];
    int lanes = col_lanes(x, s), n = clf_fold_states(x, s);
    for (int l = 0; l < lanes; l++)
        for (int m = 0; m < n; m++) {
            if (x->p->kind == CLF_CELL_GROUP)
                clf_print(from, sizeof from, "vload8(0, f%da%d + %d + u)", s, m, l * (int)x->p->cols);
            else
                clf_print(from, sizeof from, "vload8(0, f%da%d + %d * cp + u)", s, m, l);
            CLF_PUT(x, "%s b%d_%d = ", clf_emit_type(buf, clf_fold_wide_type(x, s, m), CLF_MERGE_WIDTH), l, m);
            clf_fold_widen(x, s, m, CLF_MERGE_WIDTH, from);
            CLF_PUT(x, ";\n");
        }
    clf_fold_halve(x, s, lanes, CLF_MERGE_WIDTH);
}

static void slot_names(const clf_ctext *x, int s, clf_fold_vars *f, const char *t) {
    memset(f, 0, sizeof *f);
    for (int m = 0; m < clf_fold_states(x, s); m++) {
        CLF_NAME(f->s[m], "s%d_", m);
        CLF_NAME(f->t[m], t, m);
    }
}

static void col_push(clf_ctext *x, int s) {
    clf_fold_vars f;
    slot_names(x, s, &f, "b0_%d");
    CLF_PUT(x, "CLF_COLD for (long u = 0; u < cp - 16; u += 8) {\n");
    col_lane_fold(x, s);
    CLF_PUT(x, "int d = col_depth;\nCLF_COLD for (long k_ = bl; k_ & 1; k_ >>= 1) { d--; ");
    col_load(x, s, "d * cp + u", &f, CLF_MERGE_WIDTH, 'k');
    clf_fold_apply(x, s, clf_fold_row_of(x, s)->merge, true, CLF_MERGE_WIDTH, &f);
    for (int m = 0; m < clf_fold_states(x, s); m++) CLF_PUT(x, "%s = %s; ", f.t[m], f.s[m]);
    CLF_PUT(x, "}\n");
    memcpy(f.s, f.t, sizeof f.s);
    col_store(x, s, "d * cp + u", &f, CLF_MERGE_WIDTH, 'k');
    CLF_PUT(x, "}\n");
}
void clf_fold_hole_col_push(clf_ctext *x) {
    if (!x->p->ncol) return;
    CLF_PUT(x, "{ const long bl = (b0 - i0) / block;\n");
    clf_fold_each(x, CLF_CELL_COLFOLD, col_push);
    CLF_PUT(x, "CLF_COLD for (long k_ = bl; k_ & 1; k_ >>= 1) col_depth--;\ncol_depth++; }\n");
}

/* Column states at offset `to` take those at `from`, the later rows; every column. */
static void col_merge(clf_ctext *x, int s, const char *to, const char *from) {
    clf_fold_vars f;
    char at[96], buf[CLF_EMIT_NAME];
    slot_names(x, s, &f, "t%d_");
    CLF_PUT(x, "CLF_COLD for (long u = 0; u < cp - 16; u += 8) { ");
    clf_print(at, sizeof at, "%s + u", to);
    col_load(x, s, at, &f, CLF_MERGE_WIDTH, 'k');
    for (int m = 0; m < clf_fold_states(x, s); m++)
        CLF_PUT(x, "%s %s = vload8(0, f%dk%d + %s + u); ", clf_emit_type(buf, clf_fold_wide_type(x, s, m), CLF_MERGE_WIDTH), f.t[m], s, m,
                from);
    clf_fold_apply(x, s, clf_fold_row_of(x, s)->merge, true, CLF_MERGE_WIDTH, &f);
    col_store(x, s, at, &f, CLF_MERGE_WIDTH, 'k');
    CLF_PUT(x, "}\n");
}

static void col_close(clf_ctext *x, int s) {
    clf_fold_vars f;
    slot_names(x, s, &f, "t%d_");
    CLF_PUT(x, "if (col_depth == 0) { ");
    clf_fold_declare(x, s, true, CLF_MERGE_WIDTH, &f, false);
    clf_fold_empty(x, s, CLF_MERGE_WIDTH, &f);
    CLF_PUT(x, "CLF_COLD for (long u = 0; u < cp; u += 8) { ");
    col_store(x, s, "u", &f, CLF_MERGE_WIDTH, 'k');
    CLF_PUT(x, "} }\nCLF_COLD for (int d = col_depth - 1; d > 0; d--)\n");
    col_merge(x, s, "(d - 1) * cp", "d * cp");
}

/* Chunks merge level by level, in place: the same binary tree over their index. */
static void col_result(clf_ctext *x, int s) {
    clf_fold_vars f;
    char buf[CLF_EMIT_NAME];
    int o = x->c->sink[s].out[0];
    CLF_PUT(x, "CLF_COLD for (long w_ = 1; w_ < chunks; w_ *= 2)\nCLF_COLD for (long c_ = 0; c_ + w_ < chunks; c_ += 2 * w_)\n");
    col_merge(x, s, "(c_ - me) * cstride", "(c_ + w_ - me) * cstride");
    slot_names(x, s, &f, "t%d_");
    CLF_PUT(x, "CLF_COLD for (long u = 0; u < %lld%s; u += 8) {\n", x->p->kind == CLF_CELL_ROWS ? 0LL : (long long)x->p->cols,
            x->p->kind == CLF_CELL_ROWS ? " + width" : "");
    col_load(x, s, "u - me * cstride", &f, CLF_MERGE_WIDTH, 'k');
    clf_fold_result(x, s, CLF_MERGE_WIDTH, &f, "z_");
    CLF_PUT(x, "const int r = (int)min(8L, %lld%s - u);\n", x->p->kind == CLF_CELL_ROWS ? 0LL : (long long)x->p->cols,
            x->p->kind == CLF_CELL_ROWS ? " + width" : "");
    CLF_PUT(x, "%s_STORET(z_, o%d + ob%d + u, r); }\n", clf_emit_run(&x->e, buf, (clf_dtype)x->c->out[o].dtype, CLF_MERGE_WIDTH), o, o);
}

void clf_cols_setup(clf_ctext *x) {
    if (x->p->ncol) CLF_PUT(x, "__global double *col_at = scratch + cbase + me * cstride;\n");
    clf_fold_each(x, CLF_CELL_COLFOLD, col_setup);
}
void clf_cols_finish(clf_ctext *x) { clf_fold_each(x, CLF_CELL_COLFOLD, col_close); }
void clf_cols_final(clf_ctext *x) { clf_fold_each(x, CLF_CELL_COLFOLD, col_result); }
