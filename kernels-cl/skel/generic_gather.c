/* SPDX-License-Identifier: Apache-2.0
 * The holes of entry.generic in cell.generic.cl: which entries a work-item takes, rows of any length, and what stands at the rows and columns
 * of a block's entries (see generic_entries.h). Dots of two rows go four entries at once; their trees are those of entry.chunk. */
#include <string.h>

#include "core/print.h"
#include "kernels-cl/skel/cell_folds.h"
#include "kernels-cl/skel/generic_entries.h"
#include "kernels-cl/skel/generic_text.h"

enum { ENTRIES = 4 /* at once */, SUM = CLF_FOLD_SUM /* the sink of that row of folds.def */ };

/* ---- entries of a work-item ---- */

void clf_gen_span(clf_ctext *x) {
    CLF_PUT(x, "const long rows_ = rows0, nnz_ = xp[rows_];\n"
               "long row_ = 0, row_end_ = 0;\n"
               "if (rowwise) {\n"
               "CLF_ROW_AT(row, xp, rows_, (nnz_ + rows_) * me / chunks)\n"
               "CLF_ROW_AT(row_end_, xp, rows_, (nnz_ + rows_) * (me + 1) / chunks)\n"
               "row_ = row; cell0 = xp[row]; cell1 = xp[row_end_]; i0 = 0;\n"
               "i1 = row < row_end_ ? max((cell1 - cell0 + 511) / 512, 1L) : 0;\n"
               "cols = row < row_end_ ? xp[row + 1] - xp[row] : 0;\n"
               "} else {\n"
               "const long leaves_ = (nnz_ + 511) / 512; long run_ = 1;\n"
               "while (run_ * chunks < leaves_) run_ *= 2;\n"
               "i0 = min(me * run_, leaves_); i1 = min(i0 + run_, leaves_);\n"
               "cell0 = i0 * 512; cell1 = min(i1 * 512, nnz_);\n"
               "if (i0 < i1) CLF_ROW_OF(row_, xp, rows_, cell0)\n"
               "}\n");
}

void clf_gen_rows_left(clf_ctext *x) { CLF_PUT(x, "row < row_end_ &&"); }
void clf_gen_next_row(clf_ctext *x) { CLF_PUT(x, "cols = row < row_end_ ? xp[row + 1] - xp[row] : 0;"); }

/* ---- operands of a block ---- */

void clf_gen_gather_setup(clf_ctext *x) {
    CLF_PUT(x, "const long across_[8] = {e0, e1, e2, e3, e4, e5, e6, e7}, second_[2] = {d0, d1};\n"
               "__global CLF_GEN_S *const gather_tile = (__global CLF_GEN_S *)(scratch + tiles0 + me * area0);\n"
               "long row_of[CLF_GEN_BLOCK];\n");
}

/* The rows of the block's entries. */
static void rows_of(clf_ctext *x) {
    CLF_PUT(x,
            "const int entries_ = once ? 0 : min(rest, CLF_GEN_BLOCK);\n"
            "const long entry_ = at + u;\n"
            "for (int r = 0; r < entries_ && links0 & %d;) {\n"
            "while (xp[row_ + 1] <= entry_ + r) row_++;\n"
            "const int e_ = (int)min((long)entries_, xp[row_ + 1] - entry_);\n"
            "for (; r < e_; r++) row_of[r] = row_;\n}\n",
            CLF_GEN_ASKS_ROWS);
}

/* Cells where `at` says, with # for the number of an entry in the block: vectors first, for what reads a tile reads vectors. */
static void put_at(clf_ctext *x, const char *at, const char *entry) {
    CLF_PUT(x, "x_[");
    for (const char *p = at; *p; p++) {
        if (*p == '#')
            CLF_PUT(x, "%s", entry);
        else
            CLF_PUT(x, "%c", *p);
    }
    CLF_PUT(x, "]");
}

static void gather(clf_ctext *x, const char *at) {
    char entry[24];
    CLF_PUT(x, "{ int r = 0; for (; r + CLF_GEN_L <= entries_; r += CLF_GEN_L) { const CLF_GEN_V v_ = (CLF_GEN_V)(");
    for (int l = 0; l < clf_gen_lanes(x); l++) {
        clf_print(entry, sizeof entry, "r + %d", l);
        CLF_PUT(x, l ? ", " : "");
        put_at(x, at, entry);
    }
    CLF_PUT(x, "); CLF_GEN_SAVE(v_, to_ + r); }\nfor (; r < entries_; r++) to_[r] = ");
    put_at(x, at, "r");
    CLF_PUT(x, ";\n}\n");
}

static void cells(clf_ctext *x) {
    CLF_PUT(x,
            "for (int k = 0; k < %d && gathers0 >> 4 * k && !once; k++) { const int how_ = (int)(gathers0 >> 4 * k & 15);\n"
            "if (!how_) continue;\n"
            "__global CLF_GEN_S *const to_ = gather_tile + k * CLF_GEN_BLOCK;\n"
            "const __global CLF_GEN_S *const x_ = source[k];\n"
            "const __global int *const c_ = xc + entry_;\n"
            "const long down_ = step[k], over_ = across_[k];\n"
            "place[CLF_GEN_ACCESS0 + k] = to_;\n",
            CLF_GEN_ACCESSES);
    CLF_PUT(x, "if (how_ == %d && over_ == 1)\n", CLF_GEN_BY_COLUMN);
    gather(x, "c_[#]");
    CLF_PUT(x, "else if (how_ == %d)\n", CLF_GEN_BY_COLUMN);
    gather(x, "c_[#] * over_");
    CLF_PUT(x, "else if (how_ == %d)\n", CLF_GEN_BY_ROW);
    gather(x, "row_of[#] * down_");
    CLF_PUT(x, "else if (how_ == %d)\n", CLF_GEN_BY_ROW | CLF_GEN_BY_COLUMN);
    gather(x, "row_of[#] * down_ + c_[#] * over_");
    CLF_PUT(x, "for (int r = entries_; r < CLF_GEN_BLOCK; r++) to_[r] = 0; }\n");
}

/* ---- dots ---- */

static void pair_steps(clf_ctext *x, bool tail) {
    char run[CLF_EMIT_NAME], s[CLF_EMIT_NAME];
    clf_emit_run(&x->e, run, clf_gen_type(x), clf_gen_lanes(x));
    for (int q = 0; q < ENTRIES; q++) {
        clf_print(s, sizeof s, "f%dl0_%d", SUM, q);
        if (tail)
            CLF_PUT(x, "{ const CLF_GEN_V v_ = %s_LOADT(x%d_ + j, n_), k_ = %s_LOADT(h%d_ + j, n_), o_ = %s; ", run, q, run, q, s);
        else
            CLF_PUT(x, "{ const CLF_GEN_V v_ = CLF_GEN_AT(x%d_, j), k_ = CLF_GEN_AT(h%d_, j); ", q, q);
        clf_gen_put_fma(x, s, "v_", "k_", s);
        if (tail) CLF_PUT(x, "%s = %s_UPTO(n_, %s, o_); ", s, run, s);
        CLF_PUT(x, "}\n");
    }
}

static void pair_entries(clf_ctext *x) {
    char wide[3][CLF_FOLD_NAME];
    for (int q = 0; q < ENTRIES; q++) {
        CLF_PUT(x,
                "const int r%d_ = min(r + %d, entries_ - 1); const __global CLF_GEN_S *const x%d_ = source[a_] + row_of[r%d_] * step[a_], "
                "*const h%d_ = y_ + xc[entry_ + r%d_] * across_[a_]; ",
                q, q, q, q, q, q);
        clf_fold_wide_decl(x, SUM, q);
        clf_fold_lanes(x, SUM, q);
    }
    CLF_PUT(x, "int j = 0; for (; j + CLF_GEN_L <= rank_; j += CLF_GEN_L) {\n");
    pair_steps(x, false);
    CLF_PUT(x, "}\nif (j < rank_) { const int n_ = rank_ - j;\n");
    pair_steps(x, true);
    CLF_PUT(x, "}\n");
    for (int q = 0; q < ENTRIES; q++) {
        clf_fold_wide(x, SUM, q);
        clf_fold_wide_names(x, SUM, q, wide);
        CLF_PUT(x, "to_[r + %d] = ", q);
        clf_emit_cast(&x->e, CLF_F64, clf_gen_type(x), 1);
        CLF_PUT(x, "%s);\n", wide[0]);
    }
}

static void pairs(clf_ctext *x) {
    CLF_PUT(x,
            "for (int k = 0; k < %d && !once; k++) { const long link_ = links0 >> 32 * k; const int a_ = (int)(link_ >> 3 & 7);\n"
            "if (!(link_ & %d)) break;\n"
            "const int rank_ = (int)(link_ >> 16 & 0xffff);\n"
            "__global CLF_GEN_S *const to_ = gather_tile + a_ * CLF_GEN_BLOCK;\n"
            "const __global CLF_GEN_S *const y_ = input[link_ & 7] + second_[k];\n"
            "for (int r = 0; r < entries_; r += %d) {\n",
            CLF_GEN_PAIRS, CLF_GEN_THERE, ENTRIES);
    pair_entries(x);
    CLF_PUT(x, "}\nfor (int r = (entries_ + %d) / %d * %d; r < CLF_GEN_BLOCK; r++) to_[r] = 0; }\n", ENTRIES - 1, ENTRIES, ENTRIES);
}

void clf_gen_gather(clf_ctext *x) {
    rows_of(x);
    cells(x);
    pairs(x);
}
