/* SPDX-License-Identifier: Apache-2.0
 * Cell operators over a plane of rows and columns, put together for a kernel job. */
#ifndef CLF_TESTS_CELL_TESTING_H
#define CLF_TESTS_CELL_TESTING_H
#include "tests/support/kernel_job.h"

typedef struct plane {
    int ax[2];
    int64_t n[2];
} plane;

static inline plane axes(kernel_job *j, int64_t rows, int64_t cols) {
    plane p = {.n = {rows, cols}};
    p.ax[0] = clf_build_axis(&j->b, CLF_AXIS_RANGE, rows);
    p.ax[1] = clf_build_axis(&j->b, CLF_AXIS_RANGE, cols);
    return p;
}
/* An input that varies with the axes in `keep`, 1 rows, 2 columns; 0: a scalar in memory. */
static inline int input(kernel_job *j, const plane *p, clf_dtype t, unsigned keep) {
    int64_t dim[2] = {keep & 1 ? p->n[0] : 1, keep & 2 ? p->n[1] : 1};
    int ax[2] = {keep & 1 ? p->ax[0] : -1, keep & 2 ? p->ax[1] : -1};
    return clf_build_load(&j->b, clf_build_access(&j->b, clf_build_in(&j->b, t, keep ? 2 : 0, dim), ax));
}
static inline int param(kernel_job *j, clf_dtype t) {
    return clf_build_value(
        &j->b, (clf_value){.op = CLF_V_PARAM, .dtype = (uint8_t)t, .axis = -1, .in = {-1, -1, -1}, .arg = clf_build_param(&j->b, t)});
}
static inline int position(kernel_job *j, int axis) {
    return clf_build_value(&j->b, (clf_value){.op = CLF_V_INDEX, .dtype = CLF_I64, .axis = -1, .in = {-1, -1, -1}, .arg = axis});
}
static inline int output(kernel_job *j, const plane *p, clf_dtype t, unsigned keep) {
    int64_t dim[2] = {keep & 1 ? p->n[0] : 1, keep & 2 ? p->n[1] : 1};
    return clf_build_out(&j->b, t, keep ? 2 : 0, dim);
}
static inline void store(kernel_job *j, const plane *p, int v, unsigned keep) {
    clf_build_store(&j->b, output(j, p, (clf_dtype)j->b.c.value[v].dtype, keep), v, keep);
}
static inline void fold(kernel_job *j, const plane *p, clf_fold_id f, int v, unsigned keep) {
    clf_dtype t = clf_fold_value_type(f, (clf_dtype)j->b.c.value[v].dtype);
    v = clf_build_cast(&j->b, v, t);
    clf_build_fold(&j->b, output(j, p, clf_fold_result_type(f, t), keep), f, v, keep);
}
static inline int op(kernel_job *j, clf_op o, clf_dtype t, int a, int b, int c) {
    int arity = clf_ops[o].arity;
    return clf_build_op(&j->b, o, t, a, arity > 1 ? b : -1, arity > 2 ? c : -1);
}

/* Every kind of sink and operand at once. */
static inline void put_many_sinks(kernel_job *j, clf_dtype e, int64_t rows, int64_t cols) {
    plane p = axes(j, rows, cols);
    int x = input(j, &p, e, 3), row = input(j, &p, e, 2), col = input(j, &p, e, 1), scalar = input(j, &p, e, 0);
    int at = clf_build_cast(&j->b, op(j, CLF_OP_ADD, CLF_I64, position(j, 0), position(j, 1), -1), e);
    int y = op(j, CLF_OP_ADD, e, op(j, CLF_OP_MUL, e, op(j, CLF_OP_SUB, e, x, row, -1), col, -1), scalar, -1);
    store(j, &p, op(j, CLF_OP_MUL, e, y, at, -1), 3);
    store(j, &p, op(j, CLF_OP_ABS, e, row, -1, -1), 2);
    store(j, &p, op(j, CLF_OP_NEG, e, col, -1, -1), 1);
    store(j, &p, op(j, CLF_OP_MUL, e, scalar, param(j, e), -1), 0);
    store(j, &p, col, 3);
    fold(j, &p, CLF_FOLD_SUM, y, 0);
    fold(j, &p, CLF_FOLD_ARGMAX, at, 0);
    fold(j, &p, CLF_FOLD_VAR, y, 1);
    fold(j, &p, CLF_FOLD_SUM, y, 2);
    fold(j, &p, CLF_FOLD_ARGMIN, x, 2);
    fold(j, &p, CLF_FOLD_SUM, row, 0);
}
#endif
