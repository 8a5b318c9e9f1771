/* SPDX-License-Identifier: Apache-2.0
 * Parts of adjoints. A contribution goes into the part of its own shape, in the node's type if it is a matrix; sums of parts broadcast.
 * Where an operand was repeated to meet the others, the derivative by it is the sum over the repetitions. */
#include <string.h>

#include "host/graph/grad.h"

clf_gnode clf_grad_look(const clf_mat *m) {
    clf_gnode g;
    clf_ctx_lock(m->ctx);
    memcpy(&g, &m->node->g, sizeof g);
    clf_ctx_unlock(m->ctx);
    return g;
}

static int part_of(const clf_gnode *m, const clf_gnode *g) {
    int bits = (clf_rows(m) == clf_rows(g)) | (clf_cols(m) == clf_cols(g)) << 1;
    return bits == CLF_PART_CELLS && m->zeros == CLF_ZEROS_STRUCTURAL ? CLF_PART_SPARSE : bits;
}

int clf_grad_part(const clf_mat *m, const clf_gnode *g) {
    clf_gnode have = clf_grad_look(m);
    return part_of(&have, g);
}

clf_mat *clf_grad_again(clf_mat *m) {
    clf_ctx_lock(m->ctx);
    clf_mat *r = clf_handle_new(m->ctx, clf_node_ref(m->node));
    clf_ctx_unlock(m->ctx);
    return r;
}

/* The status of m, whose message becomes the call's. */
static clf_status good(clf_sweep *w, const clf_mat *m) {
    const char *why = "out of memory";
    clf_status st = clf_status_of(m, &why);
    return st == CLF_OK ? CLF_OK : clf_fail(w->err, st, "grad: %s", why);
}

clf_status clf_grad_add(clf_sweep *w, int32_t i, clf_mat *m) {
    clf_grad_node *n = &w->node[i];
    CLF_TRY(good(w, m));
    clf_gnode have = clf_grad_look(m);
    if (n->g.scalar && !have.scalar)
        m = clf_grad_temp(w, clf_as_scalar(m));
    else if (!have.scalar && have.dtype != n->g.dtype)
        m = clf_grad_temp(w, clf_cast(m, (clf_dtype)n->g.dtype));
    clf_mat **part = &n->part[part_of(&have, &n->g)], *sum = *part ? clf_add(*part, m) : clf_grad_again(m);
    clf_free(*part);
    *part = sum;
    return good(w, sum);
}

static clf_mat *plus(clf_sweep *w, clf_mat *a, clf_mat *b) { return !a ? b : !b ? a : clf_grad_temp(w, clf_add(a, b)); }

clf_mat *clf_grad_sum(clf_sweep *w, const clf_grad_node *n, unsigned set) {
    clf_mat *part[CLF_PARTS];
    for (int p = 0; p < CLF_PARTS; p++) part[p] = set >> p & 1 ? n->part[p] : NULL;
    clf_mat *cells = plus(w, part[CLF_PART_SPARSE], part[CLF_PART_CELLS]), *column = part[CLF_PART_COLUMN], *row = part[CLF_PART_ROW];
    if (!cells && column && row)
        cells = clf_grad_temp(w, clf_outer(CLF_ADD, column, row));
    else
        cells = plus(w, plus(w, cells, column), row);
    return plus(w, cells, part[CLF_PART_NUMBER]);
}

/* m's number, where it is known without running anything. */
static bool number_of(const clf_mat *m, double *x) {
    clf_ctx_lock(m->ctx);
    const clf_node *n = m->node;
    bool known = n->g.op == CLF_OP_CONST || n->known;
    if (known) *x = clf_scalar_as_f64(n->num);
    clf_ctx_unlock(m->ctx);
    return known;
}

clf_mat *clf_grad_spread(clf_sweep *w, clf_mat *m, clf_dtype t, int64_t rows, int64_t cols) {
    clf_gnode have = clf_grad_look(m);
    double x;
    if (clf_rows(&have) == rows && clf_cols(&have) == cols && !have.scalar) return m;
    if (number_of(m, &x)) return clf_grad_temp(w, clf_fill(w->c, t, rows, cols, x));
    return clf_grad_temp(w, clf_mul(clf_grad_temp(w, clf_fill(w->c, t, rows, cols, 1)), m));
}

static clf_mat *times(clf_sweep *w, clf_mat *m, int64_t n) {
    return clf_grad_temp(w, clf_mul(m, clf_grad_temp(w, clf_num(w->c, (double)n))));
}

clf_mat *clf_grad_reduce(clf_sweep *w, clf_mat *m, const clf_gnode *from, const clf_gnode *to) {
    bool rows = clf_rows(to) != clf_rows(from), cols = clf_cols(to) != clf_cols(from);
    clf_gnode have = clf_grad_look(m);
    bool sum_rows = rows && clf_rows(&have) == clf_rows(from), sum_cols = cols && clf_cols(&have) == clf_cols(from);
    if (sum_rows || sum_cols) m = clf_grad_temp(w, sum_rows && sum_cols ? clf_sum(m) : sum_rows ? clf_col_sums(m) : clf_row_sums(m));
    if (rows && !sum_rows) m = times(w, m, clf_rows(from));
    if (cols && !sum_cols) m = times(w, m, clf_cols(from));
    return m;
}

clf_mat *clf_grad_turn(clf_sweep *w, clf_mat *m) {
    clf_ctx_lock(m->ctx);
    clf_node *n = m->node;
    clf_mat *r = n->g.op == CLF_OP_TRANSPOSE ? clf_handle_new(m->ctx, clf_node_ref(n->in[0])) : NULL;
    clf_ctx_unlock(m->ctx);
    return clf_grad_temp(w, r ? r : clf_t(m));
}
