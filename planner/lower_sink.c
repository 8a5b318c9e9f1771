/* SPDX-License-Identifier: Apache-2.0
 * What leaves a loop: cells and rows that are stored, the pattern of a driver, aggregates, products that meet over rows. */
#include "planner/lowering.h"

static uint32_t bit(int axis) { return axis < 0 ? 0u : 1u << axis; }

static int out(clf_lowering *L, int32_t n, int rank, const int64_t *dim) {
    int32_t v = clf_plan_value_for(L->plan, n);
    if (!clf_lower_push(&L->plan->arena, &L->step->out, &L->step->nout, &L->cap_out, v)) L->b.failed = true;
    return clf_build_out(&L->b, (clf_dtype)L->g->node[n].dtype, rank, dim);
}

/* Dimensions of a result that keeps these axes: rows and columns, the one that is missing left out. */
static int out_kept(clf_lowering *L, int32_t n, bool rows, bool cols) {
    const clf_gnode *x = &L->g->node[n];
    int64_t dim[2] = {rows ? clf_rows(x) : clf_cols(x), clf_cols(x)};
    return out(L, n, rows + cols, dim);
}

static void store(clf_lowering *L, int32_t n) {
    const clf_gnode *x = &L->g->node[n];
    int axis = clf_lower_axis(L, clf_cols(x)), v = clf_lower_node(L, n, axis);
    if (L->driver >= 0 && axis == L->entry) {
        clf_plan_value *to = &L->plan->value[clf_plan_value_for(L->plan, n)];
        const clf_plan_value *d = &L->plan->value[clf_plan_value_for(L->plan, L->driver)];
        to->format = CLF_CSR;
        to->pattern = clf_plan_value_for(L->plan, L->driver);
        to->nnz = d->nnz;
        to->bytes = (size_t)d->nnz * clf_dtype_bytes((clf_dtype)x->dtype);
        const clf_sink s = {.kind = CLF_SINK_PATTERN,
                            .keep = bit(0) | bit(axis),
                            .value = {v, -1, -1, -1},
                            .key = {-1, -1},
                            .guard = -1,
                            .order = -1,
                            .out = {out(L, n, 1, &d->nnz), -1, -1, -1}};
        clf_build_sink(&L->b, &s);
        return;
    }
    bool rows = !L->single && clf_rows(x) == L->space[0] && !(L->rowwise && clf_rows(x) == 1 && L->space[0] != 1);
    uint32_t keep = L->single ? 0 : bit(0) | bit(axis);
    clf_build_store(&L->b, out_kept(L, n, rows, axis >= 0), v, keep);
}

/* In a loop over rows a fold runs over these and its own columns, however many other axes there are. */
static void put_fold(clf_lowering *L, int o, clf_fold_id f, int v, int rest, uint32_t keep, int axis) {
    const clf_sink s = {.kind = CLF_SINK_FOLD,
                        .fold = (uint8_t)f,
                        .keep = keep,
                        .over = L->rowwise ? (bit(0) | bit(axis)) & ~keep : 0,
                        .value = {v, rest, -1, -1},
                        .key = {-1, -1},
                        .guard = -1,
                        .order = -1,
                        .out = {o, -1, -1, -1}};
    clf_build_sink(&L->b, &s);
}

static void fold(clf_lowering *L, int32_t n) {
    const clf_gnode *x = &L->g->node[n];
    int64_t way = x->attr[1];
    if (L->rowwise && way == CLF_WAY_ROWS) {
        store(L, n);
        return;
    }
    clf_fold_id f = (clf_fold_id)x->attr[0];
    const clf_gnode *q = &L->g->node[x->in[0]];
    int axis = clf_lower_axis(L, clf_cols(q));
    int v = clf_lower_operand(L, x->in[0], axis, clf_fold_value_type(f, (clf_dtype)q->dtype));
    int rest = way == CLF_WAY_ROWS ? -1 : clf_lower_rest(L, n);
    uint32_t keep = L->single || clf_folds_all(x) ? 0 : way == CLF_WAY_ROWS ? bit(0) : bit(axis);
    int o = keep ? out_kept(L, n, way == CLF_WAY_ROWS, way == CLF_WAY_COLS) : out(L, n, 0, NULL);
    put_fold(L, o, f, v, rest, keep, axis);
}

/* t(A) %*% B. */
static void product(clf_lowering *L, int32_t n) {
    const clf_gnode *x = &L->g->node[n];
    bool t;
    clf_dtype type = (clf_dtype)x->dtype;
    int32_t a = clf_product_operand(L->g, n, 0, &t), b = clf_product_operand(L->g, n, 1, &t);
    int64_t m = clf_cols(&L->g->node[a]), k = clf_cols(&L->g->node[b]);
    int left = m == 1 ? -1 : clf_lower_axis(L, m), right = k == 1 ? -1 : clf_lower_axis(L, k);
    if (left >= 0 && right >= 0 && right <= left) right = clf_lower_axis_but(L, k, left, left);
    int va = clf_lower_operand(L, a, left, type), vb = clf_lower_operand(L, b, right, type);
    int skip = (L->g->node[a].zeros == CLF_ZEROS_STRUCTURAL) | (L->g->node[b].zeros == CLF_ZEROS_STRUCTURAL) << 1;
    const clf_sink s = {.kind = CLF_SINK_DOT,
                        .fold = (uint8_t)skip,
                        .keep = bit(left) | bit(right),
                        .value = {va, vb, -1, -1},
                        .key = {-1, -1},
                        .guard = -1,
                        .order = -1,
                        .out = {out_kept(L, n, left >= 0, right >= 0), -1, -1, -1}};
    clf_build_sink(&L->b, &s);
}

/* t(x) %*% y of two columns. */
static void inner(clf_lowering *L, int32_t n) {
    const clf_gnode *x = &L->g->node[n];
    int32_t a = clf_node_operand(L->g, n, 0), b = clf_node_operand(L->g, n, 1);
    clf_dtype type = clf_fold_value_type(CLF_FOLD_SUM, (clf_dtype)x->dtype);
    int axis = clf_lower_axis(L, 1);
    int va = clf_lower_operand(L, a, axis, type), vb = clf_lower_operand(L, b, axis, type);
    int v = clf_build_op(&L->b, CLF_OP_MUL, type, va, vb, -1);
    if (L->g->node[a].zeros == CLF_ZEROS_STRUCTURAL && va != vb) v = clf_build_op(&L->b, CLF_OP_IFELSE, type, va, v, va);
    if (L->g->node[b].zeros == CLF_ZEROS_STRUCTURAL && va != vb) v = clf_build_op(&L->b, CLF_OP_IFELSE, type, vb, v, vb);
    put_fold(L, out(L, n, 0, NULL), CLF_FOLD_SUM, v, -1, 0, axis);
}

void clf_lower_sink(clf_lowering *L, int32_t n) {
    switch (clf_product_loop(L->g, n)) {
    case CLF_PRODUCT_COLS: product(L, n); return;
    case CLF_PRODUCT_INNER: inner(L, n); return;
    default: break;
    }
    if (L->g->node[n].op == CLF_OP_FOLD)
        fold(L, n);
    else
        store(L, n);
}
