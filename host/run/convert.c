/* SPDX-License-Identifier: Apache-2.0
 * Conversions between formats. CSR to cells is ours to run in parallel, row by row: rows are cleared and filled by whoever takes them,
 * so the result does not depend on the threads. What was made from a buffer once stays with it while its version lasts (the twin always,
 * other forms when somebody asked for them): a loop over one matrix converts it once. */
#include "host/run/convert.h"

#include <string.h>

#include "host/graph/sparse_buf.h"

enum { PART_CELLS = 1 << 16 };

/* ---- CSR to cells ---------------------------------------------------------------------------------------------------------------- */

typedef struct spread {
    const clf_csr *m;
    char *out;
    int64_t part_rows;
} spread;

/* Entries of row i into the cleared cells of that row, by element size. */
static void put_entries(const clf_csr *m, int64_t i, void *row) {
    int64_t from = m->ptr[i], to = m->ptr[i + 1];
    switch (clf_dtype_bytes((clf_dtype)m->dtype)) {
    case 1:
        for (int64_t e = from; e < to; e++) ((uint8_t *)row)[m->idx[e]] = ((const uint8_t *)m->val)[e];
        break;
    case 4:
        for (int64_t e = from; e < to; e++) ((uint32_t *)row)[m->idx[e]] = ((const uint32_t *)m->val)[e];
        break;
    default:
        for (int64_t e = from; e < to; e++) ((uint64_t *)row)[m->idx[e]] = ((const uint64_t *)m->val)[e];
    }
}

static void spread_part(void *user, int64_t part, int worker) {
    (void)worker;
    const spread *s = user;
    size_t row = (size_t)s->m->cols * clf_dtype_bytes((clf_dtype)s->m->dtype);
    int64_t from = part * s->part_rows, to = s->m->rows - from < s->part_rows ? s->m->rows : from + s->part_rows;
    memset(s->out + (size_t)from * row, 0, (size_t)(to - from) * row);
    for (int64_t i = from; i < to; i++) put_entries(s->m, i, s->out + (size_t)i * row);
}

void clf_convert_cells(const clf_csr *m, clf_pool *pool, void *out) {
    if (m->rows <= 0 || m->cols <= 0) return;
    spread s = {m, out, PART_CELLS / m->cols + 1};
    int64_t parts = (m->rows - 1) / s.part_rows + 1;
    if (pool && parts > 1)
        clf_pool_run(pool, parts, spread_part, &s);
    else
        for (int64_t p = 0; p < parts; p++) spread_part(&s, p, 0);
}

/* ---- conversions that make a buffer ---------------------------------------------------------------------------------------------- */

clf_buf *clf_convert_known(const clf_conversion *v) {
    clf_buf *d = v->buf ? clf_buf_derived(v->buf, v->how == CLF_CONVERT_TWIN ? CLF_DERIVED_TWIN : CLF_DERIVED_OTHER) : NULL;
    return d ? clf_buf_ref(d) : NULL;
}

static clf_status make_twin(const clf_conversion *v, clf_buf **out, clf_err *err) {
    const clf_csr *twin;
    CLF_TRY(clf_buf_twin(v->c, v->buf, &twin, err));
    *out = clf_buf_ref(clf_buf_derived(v->buf, CLF_DERIVED_TWIN));
    return CLF_OK;
}

static clf_status make_csr(const clf_conversion *v, clf_buf **out, clf_err *err) {
    clf_sparse s;
    memset(&s, 0, sizeof s);
    CLF_TRY(clf_csr_from_dense(v->in, v->from->rows, v->from->cols, (clf_dtype)v->from->dtype, &v->c->mem, &s, err));
    *out = clf_csr_buf_adopt(v->c, &s);
    if (*out) return CLF_OK;
    clf_sparse_release(&s, &v->c->mem);
    return clf_fail(err, CLF_E_NOMEM, "out of memory: a sparse matrix of %lld entries", (long long)s.m.nnz);
}

clf_status clf_convert_make(const clf_conversion *v, clf_buf **out, clf_err *err) {
    return v->how == CLF_CONVERT_TWIN ? make_twin(v, out, err) : make_csr(v, out, err);
}
