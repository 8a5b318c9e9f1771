/* SPDX-License-Identifier: Apache-2.0
 * Reading results, however they are stored. Every function evaluates first; what it makes of a value to show it in another format stays
 * with the value's buffer, so an address given out lives as long as the handle. */
#include <inttypes.h>
#include <string.h>

#include "host/graph/sparse_buf.h"
#include "host/run/meter.h"
#include "host/run/run.h"

/* What a reader does with an evaluated handle. */
typedef clf_status reader(clf_ctx *c, clf_mat *m, void *arg, clf_err *err);

static clf_status read_with(clf_mat *m, reader *f, void *arg) {
    if (!m || !m->ctx) return CLF_E_ARG;
    clf_ctx *c = m->ctx;
    clf_err err = {CLF_OK, ""};
    clf_ctx_lock(c);
    clf_status st = clf_eval_locked(1, &m);
    if (st == CLF_OK) {
        st = clf_buf_broken(m->node->value) ? clf_leaves_check(c, 1, &m->node, &err) : clf_run_fetch(c, m->node->value, &err);
        if (st == CLF_OK) st = f(c, m, arg, &err);
        if (st != CLF_OK) clf_ctx_fail(c, &err);
    }
    clf_ctx_unlock(c);
    return st;
}

static clf_status missing(clf_mat *m, const char *what) {
    if (!m || !m->ctx) return CLF_E_ARG;
    clf_err err = {CLF_OK, ""};
    clf_fail(&err, CLF_E_ARG, "%s is NULL", what);
    clf_ctx_lock(m->ctx);
    clf_status st = clf_ctx_fail(m->ctx, &err);
    clf_ctx_unlock(m->ctx);
    return st;
}

typedef struct destination {
    void *out;
    size_t bytes;
} destination;

static clf_status copy_out(clf_ctx *c, clf_mat *m, void *arg, clf_err *err) {
    const destination *d = arg;
    const clf_gnode *g = &m->node->g;
    const clf_buf *b = m->node->value;
    size_t want = (size_t)clf_rows(g) * (size_t)clf_cols(g) * clf_dtype_bytes((clf_dtype)g->dtype);
    (void)c;
    if (d->bytes != want) return clf_fail(err, CLF_E_ARG, "clf_read: %zu bytes given, the value has %zu", d->bytes, want);
    if (!d->out && want) return clf_fail(err, CLF_E_ARG, "clf_read: out is NULL");
    if (want && clf_buf_is_csr(b))
        clf_csr_to_dense(clf_buf_csr(b), d->out);
    else if (want)
        memcpy(d->out, b->host, want);
    return CLF_OK;
}

clf_status clf_read(clf_mat *m, void *out, size_t bytes) { return read_with(m, copy_out, &(destination){out, bytes}); }

static clf_status number_out(clf_ctx *c, clf_mat *m, void *arg, clf_err *err) {
    const clf_gnode *g = &m->node->g;
    const clf_buf *b = m->node->value;
    uint64_t cell = 0;
    (void)c;
    if (!clf_gnode_single(g)) return clf_fail(err, CLF_E_SHAPE, "clf_read_f64: the value is not a scalar or 1x1");
    if (clf_buf_is_csr(b)) clf_csr_to_dense(clf_buf_csr(b), &cell);
    *(double *)arg = clf_scalar_as_f64(clf_scalar_load(clf_buf_is_csr(b) ? &cell : b->host, 0, (clf_dtype)g->dtype));
    return CLF_OK;
}

clf_status clf_read_f64(clf_mat *m, double *out) { return out ? read_with(m, number_out, out) : missing(m, "clf_read_f64: out"); }

static clf_status cells_address(clf_ctx *c, clf_mat *m, void *arg, clf_err *err) {
    clf_buf *cells;
    CLF_TRY(clf_buf_cells(c, m->node->value, &cells, err));
    *(const void **)arg = cells->host;
    return CLF_OK;
}

clf_status clf_data(clf_mat *m, const void **out) { return out ? read_with(m, cells_address, out) : missing(m, "clf_data: out"); }

/* The evaluated value's entries, found if it is dense. */
static clf_status entries_of(clf_ctx *c, clf_mat *m, const clf_csr **out, clf_err *err) {
    const clf_gnode *g = &m->node->g;
    clf_buf *b;
    CLF_TRY(clf_buf_entries(c, m->node->value, clf_rows(g), clf_cols(g), (clf_dtype)g->dtype, &b, err));
    *out = clf_buf_csr(b);
    return CLF_OK;
}

static clf_status entries_address(clf_ctx *c, clf_mat *m, void *arg, clf_err *err) { return entries_of(c, m, arg, err); }

clf_status clf_data_csr(clf_mat *m, int64_t *nnz, const int64_t **offsets, const int32_t **indices, const void **values) {
    const clf_csr *x;
    CLF_TRY(read_with(m, entries_address, &x));
    if (nnz) *nnz = x->nnz;
    if (offsets) *offsets = x->ptr;
    if (indices) *indices = x->idx;
    if (values) *values = x->val;
    return CLF_OK;
}

#define COUNT(T) \
    for (size_t i = 0; i < n; i++) { \
        found += ((const T *)values)[i] != 0; \
    } \
    return found

/* How many of n numbers are not 0; NaN is not. */
static int64_t count_values(const void *values, size_t n, clf_dtype t) {
    int64_t found = 0;
    switch (t) {
    case CLF_F32: COUNT(float);
    case CLF_F64: COUNT(double);
    case CLF_I32: COUNT(int32_t);
    case CLF_I64: COUNT(int64_t);
    default: COUNT(uint8_t);
    }
}

static clf_status count_out(clf_ctx *c, clf_mat *m, void *arg, clf_err *err) {
    const clf_gnode *g = &m->node->g;
    const clf_buf *b = m->node->value;
    bool sparse = clf_buf_is_csr(b);
    (void)c, (void)err;
    size_t n = sparse ? (size_t)clf_buf_csr(b)->nnz : (size_t)clf_rows(g) * (size_t)clf_cols(g);
    *(int64_t *)arg = count_values(sparse ? clf_buf_csr(b)->val : b->host, n, (clf_dtype)g->dtype);
    return CLF_OK;
}

clf_status clf_nnz(clf_mat *m, int64_t *out) { return out ? read_with(m, count_out, out) : missing(m, "clf_nnz: out"); }

typedef struct file {
    const char *path, *type;
} file;

static clf_status write_value(const clf_ctx *c, const clf_mat *m, const file *f, clf_err *err) {
    const clf_gnode *g = &m->node->g;
    const clf_buf *b = m->node->value;
    if (clf_buf_is_csr(b)) return clf_write(f->path, f->type, &(clf_writing){.csr = clf_buf_csr(b), .ask = &c->ask}, err);
    clf_dense d = {(clf_dtype)g->dtype, g->scalar != 0, clf_rows(g), clf_cols(g), b->host, b->bytes};
    return clf_write(f->path, f->type, &(clf_writing){.dense = &d, .ask = &c->ask}, err);
}

static clf_status write_out(clf_ctx *c, clf_mat *m, void *arg, clf_err *err) {
    clf_meter_enter(c->meter, CLF_PART_FILES);
    clf_status st = write_value(c, m, arg, err);
    clf_meter_leave(c->meter);
    return st;
}

clf_status clf_save(clf_mat *m, const char *path, const char *type) {
    return path ? read_with(m, write_out, &(file){path, type}) : missing(m, "clf_save: path");
}
