/* SPDX-License-Identifier: Apache-2.0
 * Random programs as text: a statement of the language for each node. What the language cannot say becomes an input whose cells are
 * the interpreter's (when it knows them), with the C call in a comment. */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "core/op.h"
#include "tests/support/random_make.h"

/* ---- operators ---- */

static bool word(const char *name) { return isalpha((unsigned char)name[0]); }

static bool say_cell(FILE *f, const rp_program *p, const rp_node *n) {
    const char *name = clf_ops[n->op].name;
    (void)p;
    if (n->op == CLF_REPLACE)
        fprintf(f, "replace(target=n%d, pattern=n%d, replacement=n%d)", n->in[0], n->in[1], n->in[2]);
    else if (!word(name) && n->nin == 2)
        fprintf(f, "n%d %s n%d", n->in[0], name, n->in[1]);
    else if (!word(name))
        fprintf(f, "%sn%d", name, n->in[0]);
    else {
        fprintf(f, "%s(n%d", name, n->in[0]);
        for (int k = 1; k < n->nin; k++) fprintf(f, ", n%d", n->in[k]);
        fprintf(f, ")");
    }
    return true;
}

static bool say_outer(FILE *f, const rp_program *p, const rp_node *n) {
    (void)p;
    fprintf(f, "outer(n%d, n%d, \"%s\")", n->in[0], n->in[1], clf_ops[n->op].name);
    return true;
}

static bool say_form(FILE *f, const rp_program *p, const rp_node *n) {
    (void)p;
    fprintf(f, "%s(n%d)", n->m.scalar ? "as.scalar" : "as.matrix", n->in[0]);
    return true;
}

/* %d is the operand. ANY and ALL of nothing have no spelling: the extremes of nothing are others. */
static const char *const fold_text[CLF_FOLD_CODES][3] = {
    [CLF_FOLD_CODE_SUM] = {"sum(n%d)", "rowSums(n%d)", "colSums(n%d)"},
    [CLF_FOLD_CODE_MIN] = {"min(n%d)", "rowMins(n%d)", "colMins(n%d)"},
    [CLF_FOLD_CODE_MAX] = {"max(n%d)", "rowMaxs(n%d)", "colMaxs(n%d)"},
    [CLF_FOLD_CODE_PROD] = {"prod(n%d)", "rowProds(n%d)", "colProds(n%d)"},
    [CLF_FOLD_CODE_MEAN] = {"mean(n%d)", "rowMeans(n%d)", "colMeans(n%d)"},
    [CLF_FOLD_CODE_VAR] = {"var(n%d)", "rowVars(n%d)", "colVars(n%d)"},
    [CLF_FOLD_CODE_ARGMIN] = {NULL, "rowIndexMin(n%d)", NULL},
    [CLF_FOLD_CODE_ARGMAX] = {NULL, "rowIndexMax(n%d)", NULL},
    [CLF_FOLD_CODE_ANY] = {"max(n%d != 0)", "rowMaxs(n%d != 0)", "colMaxs(n%d != 0)"},
    [CLF_FOLD_CODE_ALL] = {"min(n%d != 0)", "rowMins(n%d != 0)", "colMins(n%d != 0)"},
    [CLF_FOLD_CODE_NNZ] = {"sum(n%d != 0)", "rowSums(n%d != 0)", "colSums(n%d != 0)"},
};

/* Format texts come from the table above only. */
static void say_with(FILE *f, const char *text, int operand) {
    const char *at = strstr(text, "%d");
    fprintf(f, "%.*s%d%s", (int)(at - text), text, operand, at + 2);
}

static bool say_fold(FILE *f, const rp_program *p, const rp_node *n) {
    const rp_matrix *x = &p->node[n->in[0]].m;
    const char *text = fold_text[n->op][n->attr[0]];
    bool empty = x->rows == 0 || x->cols == 0, squares = n->op == CLF_FOLD_CODE_SUMSQ && rp_real(x->t);
    if (squares) {
        static const char *const way[] = {"sum", "rowSums", "colSums"};
        fprintf(f, "%s(n%d * n%d)", way[n->attr[0]], n->in[0], n->in[0]);
        return true;
    }
    if (!text || (empty && (n->op == CLF_FOLD_CODE_ANY || n->op == CLF_FOLD_CODE_ALL))) return false;
    say_with(f, text, n->in[0]);
    return true;
}

static bool say_cum(FILE *f, const rp_program *p, const rp_node *n) {
    static const char *const name[CLF_FOLD_CODES] = {
        [CLF_FOLD_CODE_SUM] = "cumsum", [CLF_FOLD_CODE_PROD] = "cumprod", [CLF_FOLD_CODE_MIN] = "cummin", [CLF_FOLD_CODE_MAX] = "cummax"};
    (void)p;
    fprintf(f, "%s(n%d)", name[n->op], n->in[0]);
    return true;
}

static bool say_index(FILE *f, const rp_program *p, const rp_node *n) {
    (void)p;
    fprintf(f, "n%d[%" PRId64 ":%" PRId64 ", %" PRId64 ":%" PRId64 "]", n->in[0], n->attr[0], n->attr[1], n->attr[2], n->attr[3]);
    return n->attr[1] >= n->attr[0] && n->attr[3] >= n->attr[2];
}

static bool say_product(FILE *f, const rp_program *p, const rp_node *n) {
    (void)p;
    fprintf(f, "n%d %%*%% n%d", n->in[0], n->in[1]);
    return true;
}

static bool say_call(FILE *f, const rp_program *p, const rp_node *n) {
    (void)p;
    fprintf(f, "%s(n%d", rp_kind_name(n->kind), n->in[0]);
    if (n->nin > 1) fprintf(f, ", n%d", n->in[1]);
    fprintf(f, ")");
    return true;
}

static bool say_reshape(FILE *f, const rp_program *p, const rp_node *n) {
    fprintf(f, "matrix(n%d, rows=%" PRId64 ", cols=%" PRId64 ")", n->in[0], n->m.rows, n->m.cols);
    return !p->node[n->in[0]].m.scalar; /* of a scalar, matrix() makes cells anew: f64 */
}

static bool say_order(FILE *f, const rp_program *p, const rp_node *n) {
    (void)p;
    fprintf(f, "order(target=n%d, by=%" PRId64 ", decreasing=%s, index.return=%s)", n->in[0], n->attr[0], n->attr[1] ? "TRUE" : "FALSE",
            n->attr[2] ? "TRUE" : "FALSE");
    return true;
}

/* ---- sources: what the language makes is f64 ---- */

static bool say_fill(FILE *f, const rp_program *p, const rp_node *n) {
    (void)p;
    fprintf(f, "matrix(%.17g, rows=%" PRId64 ", cols=%" PRId64 ")", n->num[0], n->m.rows, n->m.cols);
    return n->m.t == CLF_F64;
}

static bool say_seq(FILE *f, const rp_program *p, const rp_node *n) {
    (void)p;
    fprintf(f, "seq(%.17g, %.17g, %.17g)", n->num[0], n->num[0] + (double)(n->m.rows - 1) * n->num[1], n->num[1]);
    return true;
}

static bool say_rand(FILE *f, const rp_program *p, const rp_node *n) {
    (void)p;
    fprintf(f, "rand(rows=%" PRId64 ", cols=%" PRId64 ", min=%.17g, max=%.17g, sparsity=%.17g, seed=%" PRId64 ")", n->m.rows, n->m.cols,
            n->num[0], n->num[1], (double)n->attr[0] / 100, n->attr[1]);
    return n->m.t == CLF_F64;
}

static bool (*const say[RP_KINDS])(FILE *f, const rp_program *p, const rp_node *n) = {
    [RP_FILL] = say_fill,       [RP_SEQ] = say_seq,     [RP_RAND] = say_rand,       [RP_CELL] = say_cell,   [RP_OUTER] = say_outer,
    [RP_FORM] = say_form,       [RP_FOLD] = say_fold,   [RP_CUM] = say_cum,         [RP_INDEX] = say_index, [RP_TRANSPOSE] = say_call,
    [RP_CBIND] = say_call,      [RP_RBIND] = say_call,  [RP_PRODUCT] = say_product, [RP_DIAG] = say_call,   [RP_REV] = say_call,
    [RP_RESHAPE] = say_reshape, [RP_ORDER] = say_order,
};

/* ---- programs ---- */

static const char *const dtype_id[] = {"CLF_F32", "CLF_F64", "CLF_I32", "CLF_I64", "CLF_U8"};

/* What recorded a node that is an input here. */
static void say_c(FILE *f, const rp_node *n) {
    static const char *const dir[] = {"CLF_ALL", "CLF_ROWS", "CLF_COLS"};
    if (n->kind == RP_CAST)
        fprintf(f, ": clf_cast(n%d, %s)", n->in[0], dtype_id[n->m.t]);
    else if (n->kind == RP_FOLD)
        fprintf(f, ": clf_fold((clf_fold_code)%d, %s, n%d)", n->op, dir[n->attr[0]], n->in[0]);
    else if (n->kind == RP_INDEX)
        fprintf(f, ": clf_index(n%d, %" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64 ")", n->in[0], n->attr[0], n->attr[1], n->attr[2],
                n->attr[3]);
    else if (n->kind == RP_RESHAPE)
        fprintf(f, ": clf_reshape(n%d, %" PRId64 ", %" PRId64 ")", n->in[0], n->m.rows, n->m.cols);
    else
        fprintf(f, ": %s", rp_kind_name(n->kind));
    if (rp_sparse_leaf(n)) {
        const rp_door *d = &rp_doors[n->attr[0]];
        fprintf(f, " (%s, %" PRId64 " entries)", d->name, rp_stored_count(&n->m, d->zeros));
    }
}

static void say_type(FILE *f, const rp_matrix *m) {
    fprintf(f, "%s%s", clf_dtype_name(m->t), m->scalar ? " scalar" : "");
    if (!m->scalar) fprintf(f, " %" PRId64 "x%" PRId64, m->rows, m->cols);
}

/* The node's expression in text, if the language has one. */
static bool expression(const rp_program *p, const rp_node *n, char *text, size_t bytes) {
    if (!say[n->kind]) return false;
    FILE *f = fmemopen(text, bytes, "w");
    bool good = f && say[n->kind](f, p, n);
    if (f) fclose(f);
    return good;
}

bool rp_expression(const rp_program *p, FILE *out, bool variable[RP_NODES]) {
    bool all = true;
    for (int i = 0; i < p->n; i++) {
        const rp_node *n = &p->node[i];
        char text[256];
        variable[i] = !expression(p, n, text, sizeof text);
        all = all && (!variable[i] || n->m.v);
        if (variable[i])
            fprintf(out, "# n%d", i);
        else
            fprintf(out, "n%d = %s  #", i, text);
        if (variable[i]) say_c(out, n);
        fprintf(out, " ");
        say_type(out, &n->m);
        fprintf(out, "\n");
    }
    for (int r = 0; r < p->nroot; r++) fprintf(out, "%sn%d", r ? "; " : "", p->root[r]);
    fprintf(out, "\n");
    return all;
}

void rp_print(const rp_program *p) {
    bool variable[RP_NODES];
    printf("# seed %" PRIu64 "\n", p->seed);
    rp_expression(p, stdout, variable);
}
