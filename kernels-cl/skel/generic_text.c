/* SPDX-License-Identifier: Apache-2.0
 * The holes of cell.generic.cl; see generic_text.h. Folds are in generic_folds.c. */
#include "kernels-cl/skel/generic_text.h"

#include <stdio.h>
#include <string.h>

#include "kernels-cl/skel/cell_folds.h"
#include "planner/builder.h"

clf_status clf_gen_text_begin(clf_gen_text *g, clf_dtype t, clf_arena *arena, clf_err *err) {
    const int64_t n = (int64_t)2 * CLF_LEAF;
    clf_builder b;
    memset(g, 0, sizeof *g);
    clf_build_begin(&b, arena);
    int axis = clf_build_axis(&b, CLF_AXIS_RANGE, n), v;
    v = clf_build_load(&b, clf_build_access(&b, clf_build_in(&b, t, 1, &n), &axis));
    for (int f = 0; f < CLF_NFOLDS; f++)
        clf_build_fold(&b, clf_build_out(&b, clf_fold_result_type((clf_fold_id)f, t), 0, NULL), (clf_fold_id)f, v, 0);
    CLF_TRY(clf_build_end(&b, &g->c, err));
    if (!clf_cell_plan(&g->p, &g->c, 1)) return clf_fail(err, CLF_E_INTERNAL, "cell.generic: the folds do not fit cell.chunk");
    g->x = (clf_ctext){.p = &g->p, .c = &g->c, .groups = true};
    return CLF_OK;
}

/* ---- names of what the arguments are ---- */

static void put_list(clf_ctext *x, const char *what, int n, const char *each) {
    CLF_PUT(x, "%s[%d] = {", what, n);
    for (int k = 0; k < n; k++) {
        CLF_PUT(x, k ? ", " : "");
        for (const char *s = each; *s; s++)
            if (*s == '#')
                CLF_PUT(x, "%d", k);
            else
                CLF_PUT(x, "%c", *s);
    }
    CLF_PUT(x, "};\n");
}

static void names(clf_ctext *x) {
    put_list(x, "const long code", CLF_GEN_CODE, "c#");
    put_list(x, "const long base", CLF_GEN_ACCESSES, "y#");
    put_list(x, "const long step", CLF_GEN_ACCESSES, "z#");
    put_list(x, "const CLF_GEN_S param", CLF_GEN_PARAMS, "p#");
    put_list(x, "const __global CLF_GEN_S *const input", CLF_GEN_INPUTS, "x# + xb#");
    put_list(x, "__global CLF_GEN_S *const memory", CLF_GEN_OUTPUTS, "o#");
    put_list(x, "const long offset", CLF_GEN_OUTPUTS, "ob#");
    CLF_PUT(x, "__global CLF_GEN_S *place[64], *source[%d], *result[%d];\n", CLF_GEN_ACCESSES, CLF_GEN_OUTPUTS);
    CLF_PUT(x, "for (int k = 0; k < 64; k++) place[k] = mine;\n");
    CLF_PUT(x, "for (int k = 0; k < %d; k++) source[k] = (__global CLF_GEN_S *)input[reads >> 8 * k & 7] + base[k];\n", CLF_GEN_ACCESSES);
    CLF_PUT(x, "for (int k = 0; k < %d; k++) result[k] = memory[k] + offset[k];\n", CLF_GEN_OUTPUTS);
}

/* ---- operators ---- */

/* Vector q of operator `op`: its operands, of which those of the bits `taken` are the accumulator, its text. */
static void op_vector(clf_ctext *x, int op, unsigned taken, const char *to) {
    static const char *const operand[] = {"a", "b", "c"}, *const name[] = {"a_", "b_", "c_"};
    clf_emit_name bound[4] = {{NULL, NULL}};
    int n = clf_ops[op].arity;
    for (int k = 0; k < n; k++) {
        bound[k] = (clf_emit_name){operand[k], name[k]};
        if (taken >> k & 1)
            CLF_PUT(x, "const CLF_GEN_V %s = acc[q]; ", name[k]);
        else
            CLF_PUT(x, "const CLF_GEN_V %s = CLF_GEN_AT(%s, q * CLF_GEN_L); ", name[k], operand[k]);
    }
    CLF_PUT(x, "%s[q] = ", to);
    clf_emit_text(&x->e, clf_ops[op].text, clf_gen_type(x), clf_gen_lanes(x), bound);
    CLF_PUT(x, "; }\n");
}

/* Functions whose text is a chain of arithmetic, long by itself: several vectors at once fill the gaps of each other. */
static int vectors_at_once(int op) {
    if (strstr(clf_ops[op].text, "E_EXP(")) return 4;
    return strstr(clf_ops[op].text, "E_LOG(") ? 2 : 1;
}

static void long_case(clf_ctext *x, int op) {
    int step = vectors_at_once(op);
    CLF_PUT(x, "case %d: { CLF_GEN_V part[CLF_GEN_VECTORS];\nCLF_COLD for (int h = 0; h < CLF_GEN_VECTORS; h += %d)\n", 4 * op, step);
    CLF_PUT(x, "CLF_WHOLE for (int q = h; q < h + %d; q++) { ", step);
    op_vector(x, op, 0, "part");
    CLF_PUT(x, "CLF_WHOLE for (int q = 0; q < CLF_GEN_VECTORS; q++) acc[q] = part[q]; } break;\n");
}

static void op_case(clf_ctext *x, int op) {
    if (clf_generic_long(op)) {
        long_case(x, op);
        return;
    }
    for (int from = 0; from <= clf_ops[op].arity; from++) {
        CLF_PUT(x, "case %d: CLF_WHOLE for (int q = 0; q < CLF_GEN_VECTORS; q++) { ", 4 * op + from);
        op_vector(x, op, from ? 1u << (from - 1) : 0, "acc");
        CLF_PUT(x, "break;\n");
    }
    if (!clf_generic_divides(op)) return;
    CLF_PUT(x, "case %d: { CLF_GEN_V part[CLF_GEN_VECTORS / 2];\n", 4 * op + 3);
    CLF_PUT(x,
            "const long from = (op >> 48) * (CLF_GEN_BLOCK / 2);\nconst __global CLF_GEN_S *const a0 = a + from, *const b0 = b + from;\n");
    CLF_PUT(x, "CLF_WHOLE for (int q = 0; q < CLF_GEN_VECTORS / 2; q++) { const __global CLF_GEN_S *const a = a0, *const b = b0; ");
    op_vector(x, op, 0, "part");
    CLF_PUT(x, "CLF_WHOLE for (int q = 0; q < CLF_GEN_VECTORS / 2; q++)\n");
    CLF_PUT(x, "CLF_GEN_SAVE(part[q], place[op >> 40 & 63] + from + q * CLF_GEN_L); } break;\n");
}

/* Vector q of the accumulator and what `inner` gives. */
static void pair_case(clf_ctext *x, int k, int i) {
    const clf_generic_outer *outer = &clf_generic_outers[k];
    static const char *const operand[] = {"a", "b", "c"};
    clf_emit_name in[] = {{"a", "a_"}, {"b", "b_"}, {NULL, NULL}}, out[] = {{"a", "s_"}, {"b", "s_"}, {NULL, NULL}};
    out[outer->acc].to = "acc[q]";
    CLF_PUT(x, "case %d: CLF_WHOLE for (int q = 0; q < CLF_GEN_VECTORS; q++) { ", CLF_GEN_PAIR0 + k * CLF_GEN_INNER + i);
    for (int m = 0; m < clf_ops[clf_generic_inners[i]].arity; m++)
        CLF_PUT(x, "const CLF_GEN_V %s_ = CLF_GEN_AT(%s, q * CLF_GEN_L); ", operand[m], operand[m]);
    CLF_PUT(x, "const CLF_GEN_V s_ = ");
    clf_emit_text(&x->e, clf_ops[clf_generic_inners[i]].text, clf_gen_type(x), clf_gen_lanes(x), in);
    CLF_PUT(x, "; acc[q] = ");
    clf_emit_text(&x->e, clf_ops[outer->op].text, clf_gen_type(x), clf_gen_lanes(x), out);
    CLF_PUT(x, "; }\nbreak;\n");
}

static void fill_case(clf_ctext *x, int op, const char *from) {
    CLF_PUT(x, "case %d: CLF_WHOLE for (int q = 0; q < CLF_GEN_VECTORS; q++) acc[q] = (CLF_GEN_V)(%s); break;\n", op, from);
}

/* ---- instructions ---- */

static void cases(clf_ctext *x) {
    for (int op = 0; op < CLF_NOPS; op++) op_case(x, op);
    fill_case(x, CLF_GEN_LOAD, "source[op >> 24 & 63][0]");
    fill_case(x, CLF_GEN_PARAM, "param[op >> 24 & 63]");
    fill_case(x, CLF_GEN_COPY, "CLF_GEN_AT(a, q * CLF_GEN_L)");
    for (int s = 0; s < x->c->nsink; s++) clf_gen_fold_case(x, s);
    for (int k = 0; k < CLF_GEN_OUTER * CLF_GEN_INNER; k++) pair_case(x, k / CLF_GEN_INNER, k % CLF_GEN_INNER);
}

/* ---- constants ---- */

static void type_name(clf_ctext *x) {
    char buf[CLF_EMIT_NAME];
    CLF_PUT(x, "%s", clf_emit_type(buf, clf_gen_type(x), 1));
}
static void lanes(clf_ctext *x) { CLF_PUT(x, "%d", clf_gen_lanes(x)); }
static void save(clf_ctext *x) {
    char buf[CLF_EMIT_NAME];
    CLF_PUT(x, "CLF_VSTORE(__global, %s, %d, v, p)", clf_emit_type(buf, clf_gen_type(x), 1), clf_gen_lanes(x));
}
static void at(clf_ctext *x) {
    char buf[CLF_EMIT_NAME];
    CLF_PUT(x, "CLF_VLOAD(__global, %s, %d, (p) + (u))", clf_emit_type(buf, clf_gen_type(x), 1), clf_gen_lanes(x));
}
static void vector_name(clf_ctext *x) {
    char buf[CLF_EMIT_NAME];
    CLF_PUT(x, "%s", clf_emit_type(buf, clf_gen_type(x), clf_gen_lanes(x)));
}
static void vectors(clf_ctext *x) { CLF_PUT(x, "8"); }
static void access0(clf_ctext *x) { CLF_PUT(x, "%d", CLF_GEN_ACCESS0); }
static void ahead0(clf_ctext *x) { CLF_PUT(x, "%d", CLF_GEN_AHEAD0); }
static void output0(clf_ctext *x) { CLF_PUT(x, "%d", CLF_GEN_OUTPUT0); }
static void fold_tile0(clf_ctext *x) { CLF_PUT(x, "%d", CLF_GEN_FOLD_TILE0); }
static void fold_tile_cells(clf_ctext *x) { CLF_PUT(x, "%d", CLF_GEN_FOLD_TILE); }
static void tile_cells(clf_ctext *x) { CLF_PUT(x, "%d", CLF_GEN_TILE); }
static void regs(clf_ctext *x) { CLF_PUT(x, "%d", CLF_GEN_REGS); }
static void scalars(clf_ctext *x) { CLF_PUT(x, "%d", CLF_GEN_SCALARS); }
static void accesses(clf_ctext *x) { CLF_PUT(x, "%d", CLF_GEN_ACCESSES); }
static void outputs(clf_ctext *x) { CLF_PUT(x, "%d", CLF_GEN_OUTPUTS); }

static void nothing(clf_ctext *x) { (void)x; }

#define CLF_GEN_HOLES_OF_ALL \
    {"CLF_GEN_S", type_name}, {"CLF_GEN_V", vector_name}, {"CLF_GEN_L", lanes}, {"CLF_GEN_VECTORS", vectors}, {"CLF_GEN_REGS", regs}, \
        {"CLF_GEN_SCALARS", scalars}, {"CLF_GEN_ACCESSES", accesses}, {"CLF_GEN_ACCESS0", access0}, {"CLF_GEN_AHEAD0", ahead0}, \
        {"CLF_GEN_OUTPUT0", output0}, {"CLF_GEN_OUTPUTS", outputs}, {"CLF_GEN_TILE", tile_cells}, {"CLF_GEN_FOLD_TILE0", fold_tile0}, \
        {"CLF_GEN_FOLD_TILE", fold_tile_cells}, {"CLF_GEN_AT(p, u)", at}, {"CLF_GEN_SAVE(v, p)", save}, {"CLF_GEN_NAMES", names}, \
        {"CLF_GEN_CASES", cases}, {"CLF_GEN_LEAF_BEGIN", clf_gen_leaves_begin}, {"CLF_GEN_LEAF_END", clf_gen_leaves_end}, \
        {"CLF_GEN_RESULTS", clf_gen_results}, {"CLF_FULL_MERGE(slot)", clf_gen_full_merge}, {"CLF_FULL_PUT(slot)", clf_gen_full_put}, \
        {"CLF_FULL_GET(slot)", clf_gen_full_get}, { \
        "CLF_FULL_INIT", clf_gen_full_init \
    }

/* Rows of one length, and cells as sizes say. */
#define CLF_GEN_EVEN_ROWS \
    {"CLF_GEN_ROW_LEAF", clf_gen_row_leaves}, {"CLF_GEN_ROW_END", clf_gen_row_ends}, {"CLF_GEN_SPAN", nothing}, \
        {"CLF_GEN_SHORT_ROWS", nothing}, {"CLF_GEN_ROWS_LEFT", nothing}, { \
        "CLF_GEN_NEXT_ROW", nothing \
    }

const clf_hole clf_gen_holes[] = {CLF_GEN_HOLES_OF_ALL,
                                  CLF_GEN_EVEN_ROWS,
                                  {"CLF_GEN_ROWS_SETUP", clf_gen_cols_setup},
                                  {"CLF_GEN_DOTS", nothing},
                                  {"CLF_GEN_COLS", clf_gen_cols_take},
                                  {"CLF_GEN_COLS_CLOSE", clf_gen_cols_end},
                                  {"CLF_GEN_COLS_RESULT", clf_gen_cols_put},
                                  {NULL, NULL}};
const clf_hole clf_gen_row_holes[] = {CLF_GEN_HOLES_OF_ALL,
                                      CLF_GEN_EVEN_ROWS,
                                      {"CLF_GEN_ROWS_SETUP", clf_gen_rows_setup},
                                      {"CLF_GEN_DOTS", clf_gen_dots},
                                      {"CLF_GEN_COLS", clf_gen_cols},
                                      {"CLF_GEN_COLS_CLOSE", clf_gen_cols_close},
                                      {"CLF_GEN_COLS_RESULT", clf_gen_cols_result},
                                      {NULL, NULL}};
const clf_hole clf_gen_entry_holes[] = {CLF_GEN_HOLES_OF_ALL,
                                        {"CLF_GEN_SPAN", clf_gen_span},
                                        {"CLF_GEN_ROW_LEAF", clf_gen_entry_leaves},
                                        {"CLF_GEN_ROW_END", clf_gen_entry_ends},
                                        {"CLF_GEN_SHORT_ROWS", clf_gen_short_rows},
                                        {"CLF_GEN_ROWS_LEFT", clf_gen_rows_left},
                                        {"CLF_GEN_NEXT_ROW", clf_gen_next_row},
                                        {"CLF_GEN_ROWS_SETUP", clf_gen_gather_setup},
                                        {"CLF_GEN_DOTS", clf_gen_gather},
                                        {"CLF_GEN_COLS", nothing},
                                        {"CLF_GEN_COLS_CLOSE", nothing},
                                        {"CLF_GEN_COLS_RESULT", nothing},
                                        {NULL, NULL}};
