/* SPDX-License-Identifier: Apache-2.0
 * The holes of cell.generic.cl; see generic_text.h. */
#include "kernels-cl/skel/generic_text.h"

#include <stdio.h>
#include <string.h>

#include "kernels-cl/skel/cell_folds.h"
#include "planner/builder.h"

static clf_dtype type_of(const clf_ctext *x) { return (clf_dtype)x->c->in[0].dtype; }
static int lanes_of(const clf_ctext *x) { return clf_lanes(type_of(x)); }

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
    put_list(x, "const CLF_GEN_S param", CLF_GEN_PARAMS, "p#");
    put_list(x, "const __global CLF_GEN_S *const input", CLF_GEN_INPUTS, "x# + xb#");
    put_list(x, "__global CLF_GEN_S *const memory", CLF_GEN_OUTPUTS, "o#");
    put_list(x, "const long offset", CLF_GEN_OUTPUTS, "ob#");
    CLF_PUT(x, "__global CLF_GEN_S *place[64], *source[%d], *result[%d];\n", CLF_GEN_ACCESSES, CLF_GEN_OUTPUTS);
    CLF_PUT(x, "for (int k = 0; k < 64; k++) place[k] = mine;\n");
    CLF_PUT(x, "for (int k = 0; k < %d; k++) source[k] = (__global CLF_GEN_S *)input[reads >> 4 * k & 7] + base[k];\n", CLF_GEN_ACCESSES);
    CLF_PUT(x, "for (int k = 0; k < %d; k++) result[k] = memory[k] + offset[k];\n", CLF_GEN_OUTPUTS);
}

/* ---- operators ---- */

/* One vector of the loop of operator `op`: its operands at u + `at`, its text, where it goes. */
static void op_vector(clf_ctext *x, int op, int at) {
    static const char *const operand[] = {"a", "b", "c"};
    char name[3][16], buf[CLF_EMIT_NAME];
    clf_emit_name bound[4] = {{NULL, NULL}};
    clf_dtype t = type_of(x);
    int n = clf_ops[op].arity;
    for (int k = 0; k < n; k++) {
        CLF_NAME(name[k], "%s%d", operand[k], at);
        bound[k] = (clf_emit_name){operand[k], name[k]};
        bound[k + 1] = (clf_emit_name){NULL, NULL};
        CLF_PUT(x, "const %s %s = CLF_GEN_AT(%s, u + %d); ", clf_emit_type(buf, t, lanes_of(x)), name[k], operand[k], at);
    }
    CLF_PUT(x, "const %s r%d = ", clf_emit_type(buf, t, lanes_of(x)), at);
    clf_emit_text(&x->e, clf_ops[op].text, t, lanes_of(x), bound);
    CLF_PUT(x, ";\n");
}

/* Two vectors a round; one of what is long by itself. */
static void op_case(clf_ctext *x, int op) {
    int lanes = lanes_of(x), step = clf_ops[op].class_ == CLF_CLASS_ADD || clf_ops[op].class_ == CLF_CLASS_CMP ? 2 * lanes : lanes;
    CLF_PUT(x, "case %d: for (int u = 0; u < len; u += %d) {\n", op, step);
    for (int at = 0; at < step; at += lanes) op_vector(x, op, at);
    for (int at = 0; at < step; at += lanes) CLF_PUT(x, "CLF_GEN_TO(r%d, u + %d) ", at, at);
    CLF_PUT(x, "}\nbreak;\n");
}

static void fill_case(clf_ctext *x, int op, const char *from) {
    char buf[CLF_EMIT_NAME];
    CLF_PUT(x, "case %d: for (int u = 0; u < len; u += %d) CLF_GEN_TO((%s)(%s), u) break;\n", op, lanes_of(x),
            clf_emit_type(buf, type_of(x), lanes_of(x)), from);
}

/* ---- folds ---- */

static void state_names(int n, char (*out)[CLF_FOLD_NAME], const char *prefix) {
    for (int m = 0; m < n; m++) snprintf(out[m], CLF_FOLD_NAME, "%s%d_", prefix, m);
}

/* Component m of a state, from a word of memory and back. */
static void from_word(clf_ctext *x, int s, int m, const char *name, const char *words) {
    CLF_PUT(x, clf_fold_is_count(x, s, m) ? "%s = as_long(%s[%d]); " : "%s = %s[%d]; ", name, words, m);
}
static void to_word(clf_ctext *x, int s, int m, const char *name) {
    CLF_PUT(x, clf_fold_is_count(x, s, m) ? "held[%d] = as_double(%s); " : "held[%d] = %s; ", m, name);
}

static void fold_case(clf_ctext *x, int s) {
    char buf[CLF_EMIT_NAME], wide[3][CLF_FOLD_NAME];
    const char *type = clf_emit_type(buf, type_of(x), lanes_of(x));
    int lanes = lanes_of(x);
    CLF_PUT(x, "case %d: {\n", CLF_GEN_FOLD0 + x->c->sink[s].fold);
    clf_fold_lanes(x, s, 0);
    CLF_PUT(x, "int u = 0; for (; u + %d <= m; u += %d) { const %s y = CLF_GEN_AT(a, u);\n", lanes, lanes, type);
    clf_fold_step_vector(x, s, 0, "at + u", false);
    CLF_PUT(x, "}\nif (u < m) { const int r = m - u; const %s y = CLF_GEN_AT(a, u);\n", type);
    clf_fold_step_vector(x, s, 0, "at + u", true);
    CLF_PUT(x, "}\n");
    clf_fold_wide_decl(x, s, 0);
    clf_fold_wide(x, s, 0);
    clf_fold_wide_names(x, s, 0, wide);
    for (int k = 0; k < clf_fold_states(x, s); k++) to_word(x, s, k, wide[k]);
    CLF_PUT(x, "} break;\n");
}

static void cases(clf_ctext *x) {
    for (int op = 0; op < CLF_NOPS; op++) op_case(x, op);
    fill_case(x, CLF_GEN_LOAD, "source[ia - CLF_GEN_REGS - CLF_GEN_SCALARS][0]");
    fill_case(x, CLF_GEN_PARAM, "param[ia]");
    fill_case(x, CLF_GEN_COPY, "CLF_GEN_AT(a, u)");
    for (int s = 0; s < x->c->nsink; s++) fold_case(x, s);
}

/* `each` writes what is done to the state `held` of a fold of sink s's row. */
static void every_fold(clf_ctext *x, void (*each)(clf_ctext *, int)) {
    CLF_PUT(x, "for (int f_ = 0; f_ < nfold; f_++) { __private double *const held = state + f_ * 3;\n"
               "switch ((int)(folds >> 16 * f_ & 255)) {\n");
    for (int s = 0; s < x->c->nsink; s++) {
        CLF_PUT(x, "case %d: {\n", x->c->sink[s].fold);
        each(x, s);
        CLF_PUT(x, "} break;\n");
    }
    CLF_PUT(x, "default: break; } }\n");
}

static void merge_state(clf_ctext *x, int s) {
    clf_fold_vars f;
    memset(&f, 0, sizeof f);
    state_names(clf_fold_states(x, s), f.s, "zs");
    state_names(clf_fold_states(x, s), f.t, "zt");
    clf_fold_declare(x, s, true, 1, &f, false);
    clf_fold_declare(x, s, true, 1, &f, true);
    CLF_PUT(x, "const __global double *const z_ = full_state + (slot_ * nfold + f_) * 3; ");
    for (int m = 0; m < clf_fold_states(x, s); m++) from_word(x, s, m, f.s[m], "z_");
    for (int m = 0; m < clf_fold_states(x, s); m++) from_word(x, s, m, f.t[m], "held");
    clf_fold_apply(x, s, clf_fold_row_of(x, s)->merge, true, 1, &f);
    for (int m = 0; m < clf_fold_states(x, s); m++) to_word(x, s, m, f.s[m]);
}

static void empty_state(clf_ctext *x, int s) {
    clf_fold_vars f;
    memset(&f, 0, sizeof f);
    state_names(clf_fold_states(x, s), f.s, "zs");
    clf_fold_declare(x, s, true, 1, &f, false);
    clf_fold_empty(x, s, 1, &f);
    for (int m = 0; m < clf_fold_states(x, s); m++) to_word(x, s, m, f.s[m]);
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
    CLF_PUT(x, "const int o_ = (int)(folds >> (16 * f_ + 8) & 255); ((__global %s *)memory[o_])[offset[o_]] = z_;\n",
            clf_emit_type(buf, out, 1));
}

static void full_merge(clf_ctext *x) {
    CLF_PUT(x, "{ const long slot_ = (slot);\n");
    every_fold(x, merge_state);
    CLF_PUT(x, "}\n");
}
static void full_put(clf_ctext *x) {
    CLF_PUT(x, "for (int w_ = 0; w_ < nfold * 3; w_++) full_state[(slot) * nfold * 3 + w_] = state[w_];\n");
}
static void full_get(clf_ctext *x) {
    CLF_PUT(x, "for (int w_ = 0; w_ < nfold * 3; w_++) state[w_] = full_state[(slot) * nfold * 3 + w_];\n");
}
static void full_init(clf_ctext *x) { every_fold(x, empty_state); }
static void results(clf_ctext *x) { every_fold(x, result_state); }

/* ---- constants ---- */

static void type_name(clf_ctext *x) {
    char buf[CLF_EMIT_NAME];
    CLF_PUT(x, "%s", clf_emit_type(buf, type_of(x), 1));
}
static void lanes(clf_ctext *x) { CLF_PUT(x, "%d", lanes_of(x)); }
static void save(clf_ctext *x) {
    char buf[CLF_EMIT_NAME];
    CLF_PUT(x, "CLF_VSTORE(__global, %s, %d, v, p)", clf_emit_type(buf, type_of(x), 1), lanes_of(x));
}
static void at(clf_ctext *x) {
    char buf[CLF_EMIT_NAME];
    CLF_PUT(x, "CLF_VLOAD(__global, %s, %d, p + ((u) & p##_along))", clf_emit_type(buf, type_of(x), 1), lanes_of(x));
}
static void along(clf_ctext *x) { CLF_PUT(x, "((i) >= %d && (i) < %d ? 0 : -1)", CLF_GEN_SCALAR0, CLF_GEN_ACCESS0); }
static void regs(clf_ctext *x) { CLF_PUT(x, "%d", CLF_GEN_REGS); }
static void scalars(clf_ctext *x) { CLF_PUT(x, "%d", CLF_GEN_SCALARS); }
static void accesses(clf_ctext *x) { CLF_PUT(x, "%d", CLF_GEN_ACCESSES); }
static void outputs(clf_ctext *x) { CLF_PUT(x, "%d", CLF_GEN_OUTPUTS); }

const clf_hole clf_gen_holes[] = {
    {"CLF_GEN_S", type_name},
    {"CLF_GEN_L", lanes},
    {"CLF_GEN_REGS", regs},
    {"CLF_GEN_SCALARS", scalars},
    {"CLF_GEN_ACCESSES", accesses},
    {"CLF_GEN_OUTPUTS", outputs},
    {"CLF_GEN_AT(p, u)", at},
    {"CLF_GEN_SAVE(v, p)", save},
    {"CLF_GEN_ALONG(i)", along},
    {"CLF_GEN_NAMES", names},
    {"CLF_GEN_CASES", cases},
    {"CLF_GEN_RESULTS", results},
    {"CLF_FULL_MERGE(slot)", full_merge},
    {"CLF_FULL_PUT(slot)", full_put},
    {"CLF_FULL_GET(slot)", full_get},
    {"CLF_FULL_INIT", full_init},
    {NULL, NULL},
};
