/* SPDX-License-Identifier: Apache-2.0
 * The folds of cell.generic.cl: what is done to a state by its row of folds.def, a case for each of them. States of a leaf that is under way
 * are lanes in private memory, finished ones three words each. */
#include <string.h>

#include "core/print.h"
#include "kernels-cl/skel/cell_folds.h"
#include "kernels-cl/skel/generic_entries.h"
#include "kernels-cl/skel/generic_text.h"

static void state_names(int n, char (*out)[CLF_FOLD_NAME], const char *prefix) {
    for (int m = 0; m < n; m++) clf_print(out[m], CLF_FOLD_NAME, "%s%d_", prefix, m);
}

/* Component m of a state, from a word of memory and back. */
static void from_word(clf_ctext *x, int s, int m, const char *name, const char *words) {
    CLF_PUT(x, clf_fold_is_count(x, s, m) ? "%s = as_long(%s[%d]); " : "%s = %s[%d]; ", name, words, m);
}
static void to_word(clf_ctext *x, int s, int m, const char *name) {
    CLF_PUT(x, clf_fold_is_count(x, s, m) ? "held[%d] = as_double(%s); " : "held[%d] = %s; ", m, name);
}

/* Lanes of fold f_ between the blocks of a leaf: 16 words a component. */
static void lanes_load(clf_ctext *x, int s) {
    char buf[CLF_EMIT_NAME], at[CLF_EMIT_NAME];
    for (int m = 0; m < clf_fold_states(x, s); m++) {
        clf_dtype t = clf_fold_lane_type(x, s, m);
        const char *one = clf_emit_type(at, t, 1), *all = clf_emit_type(buf, t, clf_gen_lanes(x));
        CLF_PUT(x, "%s f%dl%d_0 = CLF_VLOAD(__private, %s, %d, (__private %s *)(lanes + (f_ * 3 + %d) * 16)); ", all, s, m, one,
                clf_gen_lanes(x), one, m);
    }
}
static void lanes_store(clf_ctext *x, int s) {
    char buf[CLF_EMIT_NAME];
    for (int m = 0; m < clf_fold_states(x, s); m++) {
        const char *one = clf_emit_type(buf, clf_fold_lane_type(x, s, m), 1);
        CLF_PUT(x, "CLF_VSTORE(__private, %s, %d, f%dl%d_0, (__private %s *)(lanes + (f_ * 3 + %d) * 16)); ", one, clf_gen_lanes(x), s, m,
                one, m);
    }
}

/* One vector a round. */
static void fold_slowly(clf_ctext *x, int s) {
    CLF_PUT(x, "CLF_GEN_V part[CLF_GEN_VECTORS]; CLF_WHOLE for (int q = 0; q < CLF_GEN_VECTORS; q++) part[q] = acc[q];\n"
               "CLF_COLD for (int q = 0; q < CLF_GEN_VECTORS && q * CLF_GEN_L < rest; q++) {\n"
               "const CLF_GEN_V y = part[q]; const int r = rest - q * CLF_GEN_L;\n");
    clf_fold_step_vector(x, s, 0, "at + u + q * CLF_GEN_L", true);
    CLF_PUT(x, "}\n");
}

void clf_gen_fold_case(clf_ctext *x, int s) {
    CLF_PUT(x, "case %d: { const int f_ = (int)(op >> 24 & 3); ", CLF_GEN_FOLD0 + x->c->sink[s].fold);
    lanes_load(x, s);
    if (clf_fold_states(x, s) == 1 && !clf_fold_is_count(x, s, 0)) {
        CLF_PUT(x, "if (rest >= CLF_GEN_BLOCK) { CLF_WHOLE for (int q = 0; q < CLF_GEN_VECTORS; q++) { const CLF_GEN_V y = acc[q];\n");
        clf_fold_step_vector(x, s, 0, "0", false);
        CLF_PUT(x, "} } else ");
    }
    CLF_PUT(x, "{ ");
    fold_slowly(x, s);
    CLF_PUT(x, "}\n");
    lanes_store(x, s);
    CLF_PUT(x, "} break;\n");
}

/* What is done to the state `held` of each fold, by its case. */
static void folds_open(clf_ctext *x) {
    CLF_PUT(x, "for (int f_ = 0; f_ < nfold; f_++) { __private double *const held = state + f_ * 3;\n"
               "switch ((int)(folds >> 16 * f_ & 255)) {\n");
}
static void folds_close(clf_ctext *x) { CLF_PUT(x, "default: break; } }\n"); }

static void fold_case(clf_ctext *x, int s, void (*each)(clf_ctext *, int)) {
    CLF_PUT(x, "case %d: {\n", x->c->sink[s].fold);
    each(x, s);
    CLF_PUT(x, "} break;\n");
}

void clf_gen_every_fold(clf_ctext *x, void (*each)(clf_ctext *, int)) {
    folds_open(x);
    for (int s = 0; s < x->c->nsink; s++) fold_case(x, s, each);
    folds_close(x);
}

/* The state `held` merges with the earlier one whose words are at `from`. */
static void merge_words(clf_ctext *x, int s, const char *from) {
    clf_fold_vars f;
    memset(&f, 0, sizeof f);
    state_names(clf_fold_states(x, s), f.s, "zs");
    state_names(clf_fold_states(x, s), f.t, "zt");
    clf_fold_declare(x, s, true, 1, &f, false);
    clf_fold_declare(x, s, true, 1, &f, true);
    CLF_PUT(x, "%s; ", from);
    for (int m = 0; m < clf_fold_states(x, s); m++) from_word(x, s, m, f.s[m], "z_");
    for (int m = 0; m < clf_fold_states(x, s); m++) from_word(x, s, m, f.t[m], "held");
    clf_fold_apply(x, s, clf_fold_row_of(x, s)->merge, true, 1, &f);
    for (int m = 0; m < clf_fold_states(x, s); m++) to_word(x, s, m, f.s[m]);
}

static void merge_state(clf_ctext *x, int s) {
    merge_words(x, s, "const __global double *const z_ = full_state + (slot_ * nfold + f_) * 3");
}

static void empty_state(clf_ctext *x, int s) {
    clf_fold_vars f;
    memset(&f, 0, sizeof f);
    state_names(clf_fold_states(x, s), f.s, "zs");
    clf_fold_declare(x, s, true, 1, &f, false);
    clf_fold_empty(x, s, 1, &f);
    for (int m = 0; m < clf_fold_states(x, s); m++) to_word(x, s, m, f.s[m]);
}

static void leaf_begin(clf_ctext *x, int s) {
    clf_fold_lanes(x, s, 0);
    lanes_store(x, s);
}

static void leaf_end(clf_ctext *x, int s) {
    char wide[3][CLF_FOLD_NAME];
    lanes_load(x, s);
    clf_fold_wide_decl(x, s, 0);
    clf_fold_wide(x, s, 0);
    clf_fold_wide_names(x, s, 0, wide);
    for (int m = 0; m < clf_fold_states(x, s); m++) to_word(x, s, m, wide[m]);
}

static void result_state(clf_ctext *x, int s) {
    clf_fold_vars f;
    char buf[CLF_EMIT_NAME];
    clf_dtype out = (clf_dtype)x->c->out[x->c->sink[s].out[0]].dtype;
    memset(&f, 0, sizeof f);
    state_names(clf_fold_states(x, s), f.s, "zs");
    clf_fold_declare(x, s, true, 1, &f, false);
    for (int m = 0; m < clf_fold_states(x, s); m++) from_word(x, s, m, f.s[m], "held");
    clf_fold_result(x, s, 1, &f, "z_");
    CLF_PUT(x, "const int o_ = (int)(folds >> (16 * f_ + 8) & 15); ((__global %s *)memory[o_])[offset[o_] + row] = z_;\n",
            clf_emit_type(buf, out, 1));
}

/* ---- folds of rows ---- */

static const char row_slot[] = "__private double *const z_ = stack + (d * CLF_GEN_FOLDS + f_) * 3";

static void leaf_open(clf_ctext *x, int s) {
    CLF_PUT(x, "{ const __global CLF_GEN_S *const v = fold_tile + f_ * CLF_GEN_FOLD_TILE + used;\n");
    clf_fold_lanes(x, s, 0);
}

/* Onto the row's stack, where it has more. */
static void leaf_close(clf_ctext *x, int s) {
    char wide[3][CLF_FOLD_NAME];
    clf_fold_wide_decl(x, s, 0);
    clf_fold_wide(x, s, 0);
    clf_fold_wide_names(x, s, 0, wide);
    for (int m = 0; m < clf_fold_states(x, s); m++) to_word(x, s, m, wide[m]);
    CLF_PUT(x, "if (cols > 512) { int d = depth;\nCLF_COLD for (long k_ = col / 512; k_ & 1; k_ >>= 1) { d--; ");
    merge_words(x, s, row_slot);
    CLF_PUT(x, "}\nfor (int w_ = 0; w_ < 3; w_++) stack[(d * CLF_GEN_FOLDS + f_) * 3 + w_] = held[w_]; } }\n");
}

/* A leaf of a row, `need` cells of the tile from `used` on. */
static void row_leaf(clf_ctext *x, int s) {
    leaf_open(x, s);
    CLF_PUT(x, "int u = 0; for (; u + CLF_GEN_L <= need; u += CLF_GEN_L) { const CLF_GEN_V y = CLF_GEN_AT(v, u);\n");
    clf_fold_step_vector(x, s, 0, "col + u", false);
    CLF_PUT(x, "}\nif (u < need) { const int r = need - u; const CLF_GEN_V y = CLF_GEN_AT(v, u);\n");
    clf_fold_step_vector(x, s, 0, "col + u", true);
    CLF_PUT(x, "}\n");
    leaf_close(x, s);
}

static void row_end(clf_ctext *x, int s) {
    CLF_PUT(x, "if (cols > 512) { int d = depth - 1; for (int w_ = 0; w_ < 3; w_++) held[w_] = stack[(d * CLF_GEN_FOLDS + f_) * 3 + w_];\n"
               "CLF_COLD while (--d >= 0) { ");
    merge_words(x, s, row_slot);
    CLF_PUT(x, "} }\n");
    result_state(x, s);
}

void clf_gen_row_leaves(clf_ctext *x) { clf_gen_every_fold(x, row_leaf); }
void clf_gen_row_ends(clf_ctext *x) { clf_gen_every_fold(x, row_end); }

/* ---- folds of rows of stored entries, sums of products among them (see generic_entries.h) ---- */

/* `lane` takes the products of y and z, where no zero annihilates them (skip: of y 1, of z 2). */
static void dot_step(clf_ctext *x, const char *lane, int skip) {
    static const char *const text[] = {"E_FMA(a, b, c)", "E_SEL(a, E_FMA(a, b, c), c)", "E_SEL(b, E_FMA(a, b, c), c)",
                                       "E_SEL(E_AND(a, b), E_FMA(a, b, c), c)"};
    const clf_emit_name names[] = {{"a", "y"}, {"b", "z"}, {"c", lane}, {NULL, NULL}};
    CLF_PUT(x, "%s = ", lane);
    clf_emit_text(&x->e, text[skip], clf_gen_type(x), clf_gen_lanes(x), names);
    CLF_PUT(x, ";\n");
}

void clf_gen_dot_steps(clf_ctext *x, int skip) {
    char run[CLF_EMIT_NAME], lane[CLF_EMIT_NAME];
    clf_print(lane, sizeof lane, "f%dl0_0", CLF_FOLD_SUM);
    CLF_PUT(x, "int u = 0; for (; u + CLF_GEN_L <= need; u += CLF_GEN_L) { const CLF_GEN_V y = CLF_GEN_AT(v, u), z = CLF_GEN_AT(w, u);\n");
    dot_step(x, lane, skip);
    CLF_PUT(x, "}\nif (u < need) { const CLF_GEN_V y = CLF_GEN_AT(v, u), z = CLF_GEN_AT(w, u), o_ = %s;\n", lane);
    dot_step(x, lane, skip);
    CLF_PUT(x, "%s = %s_UPTO(need - u, %s, o_); }\n", lane, clf_emit_run(&x->e, run, clf_gen_type(x), clf_gen_lanes(x)), lane);
}

static void dot_leaf(clf_ctext *x, int skip) {
    leaf_open(x, CLF_FOLD_SUM);
    CLF_PUT(x, "const __global CLF_GEN_S *const w = fold_tile + (folds >> (16 * f_ + 12) & 3) * CLF_GEN_FOLD_TILE + used;\n");
    clf_gen_dot_steps(x, skip);
    leaf_close(x, CLF_FOLD_SUM);
}

bool clf_gen_of_positions(const clf_ctext *x, int s) { return strchr(clf_fold_row_of(x, s)->step, 'k'); }

void clf_gen_entry_leaves(clf_ctext *x) {
    folds_open(x);
    for (int s = 0; s < x->c->nsink; s++)
        if (!clf_gen_of_positions(x, s)) fold_case(x, s, row_leaf);
    for (int skip = 0; skip < 4; skip++) {
        CLF_PUT(x, "case %d: {\n", CLF_GEN_DOT_FOLD + skip);
        dot_leaf(x, skip);
        CLF_PUT(x, "} break;\n");
    }
    folds_close(x);
}

void clf_gen_entry_ends(clf_ctext *x) {
    folds_open(x);
    for (int s = 0; s < x->c->nsink; s++) {
        for (int skip = 0; skip < 4 && s == CLF_FOLD_SUM; skip++) CLF_PUT(x, "case %d:\n", CLF_GEN_DOT_FOLD + skip);
        if (!clf_gen_of_positions(x, s)) fold_case(x, s, row_end);
    }
    folds_close(x);
}

/* ---- folds over all cells ---- */

void clf_gen_full_merge(clf_ctext *x) {
    CLF_PUT(x, "{ const long slot_ = (slot);\n");
    clf_gen_every_fold(x, merge_state);
    CLF_PUT(x, "}\n");
}
void clf_gen_full_put(clf_ctext *x) {
    CLF_PUT(x, "for (int w_ = 0; w_ < nfold * 3; w_++) full_state[(slot) * nfold * 3 + w_] = state[w_];\n");
}
void clf_gen_full_get(clf_ctext *x) {
    CLF_PUT(x, "for (int w_ = 0; w_ < nfold * 3; w_++) state[w_] = full_state[(slot) * nfold * 3 + w_];\n");
}
void clf_gen_full_init(clf_ctext *x) { clf_gen_every_fold(x, empty_state); }
void clf_gen_results(clf_ctext *x) { clf_gen_every_fold(x, result_state); }
void clf_gen_leaves_begin(clf_ctext *x) { clf_gen_every_fold(x, leaf_begin); }
void clf_gen_leaves_end(clf_ctext *x) { clf_gen_every_fold(x, leaf_end); }
