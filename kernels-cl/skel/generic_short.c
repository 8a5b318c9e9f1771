/* SPDX-License-Identifier: Apache-2.0
 * Rows of at most one leaf in entry.generic, whole in the tiles: a fold goes through all of them that a strip completes before the next fold
 * does, so that short rows do not each pay for finding out what is folded. Longer ones go leaf by leaf (generic_folds.c). */
#include <stdio.h>
#include <string.h>

#include "kernels-cl/skel/cell_folds.h"
#include "kernels-cl/skel/generic_entries.h"
#include "kernels-cl/skel/generic_text.h"

/* Row r_ begins at cell a_ of the tiles. */
static void row_open(clf_ctext *x, int s) {
    CLF_PUT(x, "for (long r_ = row, x0_ = xp[row], x1_; r_ < r1_; r_++, x0_ = x1_) { x1_ = xp[r_ + 1];\n"
               "const int need = (int)(x1_ - x0_);\n"
               "const __global CLF_GEN_S *const v = fold_tile + f_ * CLF_GEN_FOLD_TILE + (x0_ - xp[row]);\n");
    clf_fold_lanes(x, s, 0);
}

static void row_close(clf_ctext *x, int s) {
    char buf[CLF_EMIT_NAME];
    clf_fold_vars f;
    clf_dtype out = (clf_dtype)x->c->out[x->c->sink[s].out[0]].dtype;
    memset(&f, 0, sizeof f);
    clf_fold_wide_decl(x, s, 0);
    clf_fold_wide(x, s, 0);
    clf_fold_wide_names(x, s, 0, f.s);
    clf_fold_result(x, s, 1, &f, "z_");
    CLF_PUT(x, "((__global %s *)to_)[off_ + r_] = z_; }\n} break;\n", clf_emit_type(buf, out, 1));
}

static void fold_rows(clf_ctext *x, int s) {
    CLF_PUT(x, "case %d: {\n", x->c->sink[s].fold);
    row_open(x, s);
    CLF_PUT(x, "int u = 0; for (; u + CLF_GEN_L <= need; u += CLF_GEN_L) { const CLF_GEN_V y = CLF_GEN_AT(v, u);\n");
    clf_fold_step_vector(x, s, 0, "u", false);
    CLF_PUT(x, "}\nif (u < need) { const int r = need - u; const CLF_GEN_V y = CLF_GEN_AT(v, u);\n");
    clf_fold_step_vector(x, s, 0, "u", true);
    CLF_PUT(x, "}\n");
    row_close(x, s);
}

static void dot_rows(clf_ctext *x, int skip) {
    CLF_PUT(x, "case %d: {\n", CLF_GEN_DOT_FOLD + skip);
    row_open(x, CLF_FOLD_SUM);
    CLF_PUT(x, "const __global CLF_GEN_S *const w = v + (other_ - f_) * CLF_GEN_FOLD_TILE;\n");
    clf_gen_dot_steps(x, skip);
    row_close(x, CLF_FOLD_SUM);
}

void clf_gen_short_rows(clf_ctext *x) {
    CLF_PUT(x, "if (col == 0) { long r1_ = row; long x1_ = xp[row];\n"
               "while (r1_ < row_end_) { const long next_ = xp[r1_ + 1];\n"
               "if (next_ - x1_ > 512 || next_ - xp[row] > filled) break;\n"
               "x1_ = next_; r1_++; }\n"
               "for (int f_ = 0; f_ < nfold; f_++) { const int o_ = (int)(folds >> (16 * f_ + 8) & 15) & 3, other_ = (int)(folds >> (16 * "
               "f_ + 12) & 3);\n"
               "__global CLF_GEN_S *const to_ = memory[o_]; const long off_ = offset[o_];\n"
               "switch ((int)(folds >> 16 * f_ & 255)) {\n");
    for (int s = 0; s < x->c->nsink; s++)
        if (!clf_gen_of_positions(x, s)) fold_rows(x, s);
    for (int skip = 0; skip < 4; skip++) dot_rows(x, skip);
    CLF_PUT(x, "default: break; } }\nused = (int)(x1_ - xp[row]); row = r1_;\n");
    clf_gen_next_row(x);
    CLF_PUT(x, "}\n");
}
