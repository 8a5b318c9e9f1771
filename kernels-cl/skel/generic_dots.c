/* SPDX-License-Identifier: Apache-2.0
 * The holes of row.generic in cell.generic.cl: dots of a block's rows, four rows at once, and sums over rows of what a block's values multiply.
 * Both are merged where the trees of row.chunk have it, by the texts of the sum. In links0: 8 bits for each dot, from bit 32 on for each sum. */
#include <string.h>

#include "core/print.h"
#include "kernels-cl/skel/cell_folds.h"
#include "kernels-cl/skel/generic_rows.h"
#include "kernels-cl/skel/generic_text.h"

enum { ROWS = 4 /* at once */, VECTORS = 4 /* of a row */, SUM = CLF_FOLD_SUM /* the sink of that row of folds.def */ };

void clf_gen_put_fma(clf_ctext *x, const char *to, const char *a, const char *b, const char *c) {
    const clf_emit_name names[] = {{"a", a}, {"b", b}, {"c", c}, {NULL, NULL}};
    CLF_PUT(x, "%s = ", to);
    clf_emit_text(&x->e, "E_FMA(a, b, c)", clf_gen_type(x), clf_gen_lanes(x), names);
    CLF_PUT(x, "; ");
}

/* The wide state `t` merges with the earlier one `s` and becomes it. */
static void put_merge(clf_ctext *x, int width, const char *s, const char *t) {
    clf_fold_vars f;
    memset(&f, 0, sizeof f);
    CLF_NAME(f.s[0], "%s", s);
    CLF_NAME(f.t[0], "%s", t);
    clf_fold_apply(x, SUM, clf_fold_row_of(x, SUM)->merge, true, width, &f);
    CLF_PUT(x, "%s = %s; ", t, s);
}

void clf_gen_rows_setup(clf_ctext *x) {
    CLF_PUT(
        x,
        "const long vector_[4] = {d0, d1, d2, d3}, cbase_[2] = {e0, e1}, cstep_[2] = {g0, g1};\n"
        "__global double *const mine_ = scratch + tiles0 + me * area0;\n"
        "__global CLF_GEN_S *const row_tile = (__global CLF_GEN_S *)mine_;\n"
        "__global double *const col_sum = mine_ + %d, *const col_stack = col_sum + ((links0 >> 39 & 1) + (links0 >> 47 & 1)) * padded0;\n"
        "double dot_stack[%d];\nint col_depth = 0;\n",
        (CLF_GEN_DOTS + CLF_GEN_COLS) * CLF_GEN_BLOCK_WORDS, ROWS * CLF_GEN_LEVELS);
}

/* ---- dots ---- */

static const char *lane(char *buf, int q) {
    clf_print(buf, CLF_EMIT_NAME, "f%dl0_%d", SUM, q);
    return buf;
}

static void dot_steps(clf_ctext *x, bool tail) {
    char run[CLF_EMIT_NAME], s[CLF_EMIT_NAME];
    clf_emit_run(&x->e, run, clf_gen_type(x), clf_gen_lanes(x));
    if (tail)
        CLF_PUT(x, "const CLF_GEN_V k_ = %s_LOADT(h_ + j, n_);\n", run);
    else
        CLF_PUT(x, "const CLF_GEN_V k_ = CLF_GEN_AT(h_, j);\n");
    for (int q = 0; q < ROWS; q++) {
        lane(s, q);
        if (tail)
            CLF_PUT(x, "{ const CLF_GEN_V v_ = %s_LOADT(x%d_ + j, n_), o_ = %s; ", run, q, s);
        else
            CLF_PUT(x, "{ const CLF_GEN_V v_ = CLF_GEN_AT(x%d_, j); ", q);
        clf_gen_put_fma(x, s, "v_", "k_", s);
        if (tail) CLF_PUT(x, "%s = %s_UPTO(n_, %s, o_); ", s, run, s);
        CLF_PUT(x, "}\n");
    }
}

/* Row q's leaf onto its stack. */
static void dot_push(clf_ctext *x, int q) {
    char wide[3][CLF_FOLD_NAME];
    clf_fold_wide_names(x, SUM, q, wide);
    clf_fold_wide(x, SUM, q);
    CLF_PUT(x, "{ int d_ = deep;\nCLF_COLD for (long k_ = j0 / 512; k_ & 1; k_ >>= 1) { d_--; double s_ = dot_stack[%d + d_]; ",
            q * CLF_GEN_LEVELS);
    put_merge(x, 1, "s_", wide[0]);
    CLF_PUT(x, "}\ndot_stack[%d + d_] = %s; }\n", q * CLF_GEN_LEVELS, wide[0]);
}

static void dot_result(clf_ctext *x, int q) {
    CLF_PUT(
        x, "{ int d_ = deep - 1; double t_ = deep ? dot_stack[%d + d_] : 0;\nCLF_COLD while (--d_ >= 0) { double s_ = dot_stack[%d + d_]; ",
        q * CLF_GEN_LEVELS, q * CLF_GEN_LEVELS);
    put_merge(x, 1, "s_", "t_");
    CLF_PUT(x, "}\nto_[r + %d] = ", q);
    clf_emit_cast(&x->e, CLF_F64, clf_gen_type(x), 1);
    CLF_PUT(x, "t_); }\n");
}

static void dot_rows(clf_ctext *x) {
    for (int q = 0; q < ROWS; q++) {
        CLF_PUT(x, "const __global CLF_GEN_S *const x%d_ = x_ + min(r + %d, rows_ - 1) * step[a_]; ", q, q);
        clf_fold_wide_decl(x, SUM, q);
    }
    CLF_PUT(x, "int deep = 0;\nfor (long j0 = 0; j0 < inner0; j0 += 512) { const long e_ = min(j0 + 512, inner0); long j = j0;\n");
    for (int q = 0; q < ROWS; q++) clf_fold_lanes(x, SUM, q);
    CLF_PUT(x, "for (; j + CLF_GEN_L <= e_; j += CLF_GEN_L) {\n");
    dot_steps(x, false);
    CLF_PUT(x, "}\nif (j < e_) { const int n_ = (int)(e_ - j);\n");
    dot_steps(x, true);
    CLF_PUT(x, "}\n");
    for (int q = 0; q < ROWS; q++) dot_push(x, q);
    CLF_PUT(x, "CLF_COLD for (long k_ = j0 / 512; k_ & 1; k_ >>= 1) deep--;\ndeep++; }\n");
    for (int q = 0; q < ROWS; q++) dot_result(x, q);
}

void clf_gen_dots(clf_ctext *x) {
    CLF_PUT(x,
            "const int rows_ = once ? 0 : min(rest, CLF_GEN_BLOCK);\n"
            "for (int k = 0; k < 2 && !once; k++) { const int link = (int)(links0 >> (32 + 8 * k) & 255);\n"
            "if (link & 128) place[CLF_GEN_OUTPUT0 + (link >> 3 & 3)] = row_tile + (%d + k) * CLF_GEN_BLOCK; }\n"
            "for (int k = 0; k < 4 && !once; k++) { const int link = (int)(links0 >> 8 * k & 255), a_ = link >> 3 & 7;\n"
            "if (!(link & 128)) break;\n"
            "__global CLF_GEN_S *const to_ = row_tile + k * CLF_GEN_BLOCK;\n"
            "const __global CLF_GEN_S *const x_ = source[a_] + (at + u) * step[a_], *const h_ = input[link & 7] + vector_[k];\n"
            "place[CLF_GEN_ACCESS0 + a_] = to_;\n"
            "for (int r = 0; r < rows_; r += %d) {\n",
            CLF_GEN_DOTS, ROWS);
    dot_rows(x);
    CLF_PUT(x, "}\nfor (int r = (rows_ + %d) / %d * %d; r < CLF_GEN_BLOCK; r++) to_[r] = 0; }\n", ROWS - 1, ROWS, ROWS);
}

/* ---- sums over rows ---- */

/* Rows r0 to r1 - 1 into the sums of `vectors` vectors of columns from j on; tail: of n_ columns. */
static void col_steps(clf_ctext *x, int vectors, bool tail) {
    char run[CLF_EMIT_NAME], s[CLF_EMIT_NAME];
    clf_emit_run(&x->e, run, clf_gen_type(x), clf_gen_lanes(x));
    for (int q = 0; q < vectors; q++) CLF_PUT(x, "CLF_GEN_V s%d_ = CLF_GEN_AT(sum_, j + %d * CLF_GEN_L); ", q, q);
    CLF_PUT(x, "\nfor (int r = r0; r < r1; r++) { const CLF_GEN_V k_ = (CLF_GEN_V)(z_[r]);\n"
               "const __global CLF_GEN_S *const p_ = x_ + (r - r0) * cstep_[k] + j;\n");
    for (int q = 0; q < vectors; q++) {
        clf_print(s, sizeof s, "s%d_", q);
        if (tail)
            CLF_PUT(x, "{ const CLF_GEN_V v_ = %s_LOADT(p_, n_); ", run);
        else
            CLF_PUT(x, "{ const CLF_GEN_V v_ = CLF_GEN_AT(p_, %d * CLF_GEN_L); ", q);
        clf_gen_put_fma(x, s, "v_", "k_", s);
        CLF_PUT(x, "}\n");
    }
    CLF_PUT(x, "}\n");
    for (int q = 0; q < vectors; q++) CLF_PUT(x, "CLF_GEN_SAVE(s%d_, sum_ + j + %d * CLF_GEN_L); ", q, q);
}

/* The end of a block: its sums, widened, onto the stack. */
static void col_push(clf_ctext *x) {
    char one[CLF_EMIT_NAME];
    CLF_PUT(x, "if (whole_) { __global double *const stack_ = col_stack + k * levels0 * padded0;\n"
               "CLF_COLD for (long j = 0; j < padded0; j += 8) { int d_ = col_depth; double8 t_ = ");
    clf_emit_cast(&x->e, clf_gen_type(x), CLF_F64, CLF_MERGE_WIDTH);
    CLF_PUT(x, "CLF_VLOAD(__global, %s, 8, sum_ + j));\n", clf_emit_type(one, clf_gen_type(x), 1));
    CLF_PUT(x, "CLF_COLD for (long k_ = block_; k_ & 1; k_ >>= 1) { d_--; double8 s_ = vload8(0, stack_ + d_ * padded0 + j); ");
    put_merge(x, CLF_MERGE_WIDTH, "s_", "t_");
    CLF_PUT(x, "}\nvstore8(t_, 0, stack_ + d_ * padded0 + j); } }\n");
}

void clf_gen_cols(clf_ctext *x) {
    CLF_PUT(x,
            "for (int r0 = 0, r1; r0 < rows_ && links0 >> 32; r0 = r1) {\n"
            "const long row_ = at + u + r0, block_ = (row_ - cell0) / block0;\n"
            "r1 = (int)min((long)rows_, r0 + block0 - (row_ & (block0 - 1)));\n"
            "const bool whole_ = ((row_ + r1 - r0) & (block0 - 1)) == 0 || row_ + r1 - r0 == cell1;\n"
            "for (int k = 0; k < 2; k++) { const int link = (int)(links0 >> (32 + 8 * k) & 255);\n"
            "if (!(link & 128)) break;\n"
            "const __global CLF_GEN_S *const x_ = input[link & 7] + cbase_[k] + row_ * cstep_[k];\n"
            "const __global CLF_GEN_S *const z_ = row_tile + (%d + k) * CLF_GEN_BLOCK;\n"
            "__global CLF_GEN_S *const sum_ = (__global CLF_GEN_S *)(col_sum + k * padded0);\n"
            "for (long j = 0; j < padded0 && !(row_ & (block0 - 1)); j += CLF_GEN_L) CLF_GEN_SAVE((CLF_GEN_V)(0), sum_ + j);\n"
            "long j = 0;\nfor (; j + %d * CLF_GEN_L <= inner0; j += %d * CLF_GEN_L) {\n",
            CLF_GEN_DOTS, VECTORS, VECTORS);
    col_steps(x, VECTORS, false);
    CLF_PUT(x, "}\nfor (; j < inner0; j += CLF_GEN_L) { const int n_ = (int)min((long)CLF_GEN_L, inner0 - j);\n");
    col_steps(x, 1, true);
    CLF_PUT(x, "}\n");
    col_push(x);
    CLF_PUT(x, "}\nCLF_COLD for (long k_ = block_; whole_ && k_ & 1; k_ >>= 1) col_depth--;\ncol_depth += whole_; }\n");
}

/* Sums at `to` take those of later rows at `from`. */
static void cols_meet(clf_ctext *x, const char *to, const char *from) {
    CLF_PUT(x, "CLF_COLD for (long j = 0; j < padded0; j += 8) { double8 s_ = vload8(0, %s + j), t_ = vload8(0, %s + j); ", to, from);
    put_merge(x, CLF_MERGE_WIDTH, "s_", "t_");
    CLF_PUT(x, "vstore8(t_, 0, %s + j); }\n", to);
}

static void each_sum(clf_ctext *x) {
    CLF_PUT(
        x,
        "for (int k = 0; k < 2 && links0 >> (39 + 8 * k) & 1; k++) { __global double *const stack_ = col_stack + k * levels0 * padded0;\n");
}

void clf_gen_cols_close(clf_ctext *x) {
    each_sum(x);
    CLF_PUT(x, "for (long j = 0; j < padded0 && !col_depth; j++) stack_[j] = 0;\nCLF_COLD for (int d = col_depth - 1; d > 0; d--)\n");
    cols_meet(x, "stack_ + (d - 1) * padded0", "stack_ + d * padded0");
    CLF_PUT(x, "}\n");
}

void clf_gen_cols_result(clf_ctext *x) {
    char buf[CLF_EMIT_NAME];
    each_sum(x);
    CLF_PUT(x, "const int o_ = (int)(links0 >> (35 + 8 * k) & 3); __global double *const first_ = stack_ - me * area0;\n"
               "CLF_COLD for (long w_ = 1; w_ < chunks; w_ *= 2)\nCLF_COLD for (long c_ = 0; c_ + w_ < chunks; c_ += 2 * w_)\n");
    cols_meet(x, "first_ + c_ * area0", "first_ + (c_ + w_) * area0");
    CLF_PUT(x, "CLF_COLD for (long j = 0; j < inner0; j += 8) { const int n_ = (int)min(8L, inner0 - j); %s_STORET(",
            clf_emit_run(&x->e, buf, clf_gen_type(x), CLF_MERGE_WIDTH));
    clf_emit_cast(&x->e, CLF_F64, clf_gen_type(x), CLF_MERGE_WIDTH);
    CLF_PUT(x, "vload8(0, first_ + j)), result[o_] + j, n_); }\n}\n");
}
