/* SPDX-License-Identifier: Apache-2.0
 * Derivatives written in the language: those of cell operators are the grad column of core/ops.def, those of folds and cumulative folds
 * the tables here. Texts name the inputs a, b, c, the result o and the adjoint g; those of folds also n, how many cells are folded, and
 * up to two more aggregates of the same direction, m and p.
 *
 * Extremes share the derivative evenly among the cells that attain them. Products are those of the other cells, so zeros are right: m
 * counts the zeros, p is the product of what is not 0. Of cumprod, the cell of the first zero in a column gets what lies between it and
 * the second. */
#include <stdio.h>
#include <string.h>

#include "host/graph/grad.h"

/* An aggregate that a derivative needs: fold of text. */
typedef struct aggregate {
    clf_fold_code fold;
    const char *text;
} aggregate;

static const struct {
    const char *text;
    aggregate m, p;
} folds[CLF_NFOLDS] = {
    [CLF_FOLD_SUM] = {.text = "g"},
    [CLF_FOLD_SUMSQ] = {.text = "2*g*a"},
    [CLF_FOLD_MEAN] = {.text = "g/n"},
    [CLF_FOLD_VAR] = {.text = "g*(2/(n - 1))*(a - m)", .m = {CLF_FOLD_CODE_MEAN, "a"}},
    [CLF_FOLD_MIN] = {.text = "g*(a == o)/m", .m = {CLF_FOLD_CODE_SUM, "a == o"}},
    [CLF_FOLD_MAX] = {.text = "g*(a == o)/m", .m = {CLF_FOLD_CODE_SUM, "a == o"}},
    [CLF_FOLD_PROD] = {.text = "g*(m == (a == 0))*p/ifelse(a == 0, 1, a)",
                       .m = {CLF_FOLD_CODE_SUM, "a == 0"},
                       .p = {CLF_FOLD_CODE_PROD, "ifelse(a == 0, 1, a)"}},
};

static const char cumprod_text[] = "z = cumsum(a == 0); x = ifelse(a == 0, 1, a)\n"
                                   "ifelse(a == 0, (z == 1)*rev(cumsum(rev(g*cumprod(x)*(z == 1)))), rev(cumsum(rev(g*o)))/x)";
static const char *const cums[CLF_NFOLDS] = {[CLF_FOLD_SUM] = "rev(cumsum(rev(g)))", [CLF_FOLD_PROD] = cumprod_text};

const char *clf_grad_fold_text(int fold) { return folds[fold].text; }
const char *clf_grad_cum_text(int fold) { return cums[fold]; }

clf_grad_piece clf_grad_cell_text(int op, int k) {
    const char *s = clf_ops[op].grad;
    for (; k > 0; k--) s = strchr(s, ';') + 1;
    while (*s == ' ') s++;
    return (clf_grad_piece){s, (int)strcspn(s, ";")};
}

enum { MOST_NAMES = 8 };
typedef struct names {
    clf_binding at[MOST_NAMES];
    size_t n;
} names;

static void name(names *v, const char *text, clf_mat *m) { v->at[v->n++] = (clf_binding){text, m}; }

static clf_mat *read(clf_sweep *w, const char *text, const names *v) { return clf_grad_temp(w, clf_expr(w->c, text, v->at, v->n)); }

/* ---- cell operators ---- */

static bool is_column(const clf_gnode *g, const clf_gnode *of) { return clf_rows(g) == clf_rows(of) && clf_cols(g) != clf_cols(of); }
static bool is_row(const clf_gnode *g, const clf_gnode *of) { return clf_rows(g) != clf_rows(of) && clf_cols(g) == clf_cols(of); }

/* In a text any two operands may meet, and a column meets no row: then columns, the adjoint's too, are spread out. */
static bool is_crossed(const clf_sweep *w, const clf_grad_node *n, const clf_gnode *adjoint) {
    bool column = is_column(adjoint, &n->g), row = is_row(adjoint, &n->g);
    for (int k = 0; k < n->g.nin; k++) {
        column = column || is_column(&w->node[n->in[k]].g, &n->g);
        row = row || is_row(&w->node[n->in[k]].g, &n->g);
    }
    return column && row;
}

/* Functions of integers are of reals: their text must not multiply integers with each other, which wrap. */
static clf_mat *operand(clf_sweep *w, const clf_grad_node *n, clf_mat *m, bool crossed) {
    clf_gnode g = clf_grad_look(m);
    bool whole = clf_ops[n->g.op].type == CLF_TYPE_FLOAT && !clf_dtype_float((clf_dtype)g.dtype);
    if (whole) m = clf_grad_temp(w, clf_cast(m, (clf_dtype)n->g.dtype));
    if (!crossed || !is_column(&g, &n->g)) return m;
    return clf_grad_spread(w, m, (clf_dtype)(whole ? n->g.dtype : g.dtype), clf_rows(&n->g), clf_cols(&n->g));
}

static clf_status cell_input(clf_sweep *w, int32_t i, int k, const names *v) {
    enum { LONGEST = 128 };
    char text[LONGEST];
    clf_grad_piece piece = clf_grad_cell_text(w->node[i].g.op, k);
    int32_t in = w->node[i].in[k];
    snprintf(text, sizeof text, "%.*s", piece.len, piece.text);
    return clf_grad_add(w, in, clf_grad_reduce(w, read(w, text, v), &w->node[i].g, &w->node[in].g));
}

clf_status clf_grad_cell(clf_sweep *w, int32_t i, clf_mat *g) {
    static const char *const inputs[] = {"a", "b", "c"};
    const clf_grad_node *n = &w->node[i];
    clf_gnode have = clf_grad_look(g);
    bool crossed = is_crossed(w, n, &have);
    names v = {.n = 0};
    name(&v, "g", operand(w, n, g, crossed));
    name(&v, "o", clf_grad_mat(w, i));
    for (int k = 0; k < n->g.nin; k++) name(&v, inputs[k], operand(w, n, clf_grad_mat(w, n->in[k]), crossed));
    for (int k = 0; k < n->g.nin; k++)
        if (w->node[n->in[k]].live && clf_grad_passes(n, k)) CLF_TRY(cell_input(w, i, k, &v));
    return CLF_OK;
}

/* ---- folds ---- */

static int64_t folded(const clf_gnode *out, const clf_gnode *in) {
    int64_t rows = out->attr[1] == CLF_WAY_ROWS ? 1 : clf_rows(in), cols = out->attr[1] == CLF_WAY_COLS ? 1 : clf_cols(in);
    return rows * cols;
}

static void name_aggregate(clf_sweep *w, names *v, const char *text, aggregate a, clf_dir dir) {
    if (a.text) name(v, text, clf_grad_temp(w, clf_fold(a.fold, dir, read(w, a.text, v))));
}

clf_status clf_grad_fold(clf_sweep *w, int32_t i, clf_mat *g) {
    const clf_grad_node *n = &w->node[i];
    clf_dir dir = (clf_dir)n->g.attr[1];
    names v = {.n = 0};
    name(&v, "g", g);
    name(&v, "o", clf_grad_mat(w, i));
    name(&v, "a", clf_grad_mat(w, n->in[0]));
    name(&v, "n", clf_grad_temp(w, clf_num(w->c, (double)folded(&n->g, &w->node[n->in[0]].g))));
    name_aggregate(w, &v, "m", folds[n->g.attr[0]].m, dir);
    name_aggregate(w, &v, "p", folds[n->g.attr[0]].p, dir);
    return clf_grad_add(w, n->in[0], read(w, folds[n->g.attr[0]].text, &v));
}

clf_status clf_grad_cum(clf_sweep *w, int32_t i, clf_mat *g) {
    const clf_grad_node *n = &w->node[i];
    const char *text = cums[n->g.attr[0]];
    if (!text)
        return clf_fail(w->err, CLF_E_UNSUPPORTED, "grad: the cumulative %s has no derivative in this version",
                        clf_folds[n->g.attr[0]].name);
    names v = {.n = 0};
    name(&v, "g", clf_grad_spread(w, g, (clf_dtype)n->g.dtype, clf_rows(&n->g), clf_cols(&n->g)));
    name(&v, "o", clf_grad_mat(w, i));
    name(&v, "a", clf_grad_mat(w, n->in[0]));
    return clf_grad_add(w, n->in[0], read(w, text, &v));
}
