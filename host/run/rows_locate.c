/* SPDX-License-Identifier: Apache-2.0
 * Cells of another sparse matrix at the stored entries of the one that drives a row program, without writing either out: row by row, the
 * cheapest of four ways.
 *   the same pattern   its values where they stand (rows_exec.c)
 *   search             each entry's column by bisection: the other row is much longer
 *   dense row          the other row's values go to their columns in a row of zeros, are gathered from there, and are wiped out again:
 *                      the row fits the core's cache and is filled enough
 *   merge              both rows ascend: two positions advance without a branch
 * Measured on sum(X * Y * Z) with rows of 10,000 columns, of zeros that fit the second-level cache: at 1 % of all cells the dense row still
 * takes about half the time of a merge with each operand.
 * Invariant: only copies, so the ways cannot differ in a bit; the row of zeros is zero between uses. */
#include <string.h>

#include "host/run/rows_run.h"

enum {
    SEARCH = 32,          /* times as long: not walked from end to end for a few entries */
    FILLED = 128,         /* one cell of so many is stored: where the dense row starts to win */
    DENSE_BYTES = 1 << 19 /* a row of zeros */
};

/* One row of the driver and the same row of the other matrix. */
typedef struct located {
    const int32_t *idx, *other; /* columns */
    int64_t n, nother;
    const char *val; /* of the other */
    char *out;
    char *zeros;
    void (*gather)(int64_t n, void *o, const void *a, const int32_t *idx, int64_t stride);
} located;

/* Bits of one element; that of no entry is 0 in every type. */
#define WAYS(T) \
    static void search_##T(const located *l) { \
        T *o = (T *)(void *)l->out; \
        const T *y = (const T *)(const void *)l->val; \
        int64_t p = 0; \
        for (int64_t k = 0; k < l->n; k++) { \
            p += clf_csr_first(l->other + p, l->nother - p, l->idx[k]); \
            o[k] = p < l->nother && l->other[p] == l->idx[k] ? y[p] : 0; \
        } \
    } \
    static void merge_##T(const located *l) { \
        T *o = (T *)(void *)l->out; \
        const T *y = (const T *)(const void *)l->val; \
        int64_t k = 0, p = 0; \
        while (k < l->n && p < l->nother) { \
            int32_t cx = l->idx[k], cy = l->other[p]; \
            o[k] = (T)(y[p] & (T) - (cx == cy)); \
            k += cx <= cy; \
            p += cy <= cx; \
        } \
        memset(o + k, 0, (size_t)(l->n - k) * sizeof(T)); \
    } \
    static void dense_##T(const located *l) { \
        T *zeros = (T *)(void *)l->zeros; \
        const T *y = (const T *)(const void *)l->val; \
        for (int64_t p = 0; p < l->nother; p++) zeros[l->other[p]] = y[p]; \
        l->gather(l->n, l->out, zeros, l->idx, 1); \
        for (int64_t p = 0; p < l->nother; p++) zeros[l->other[p]] = 0; \
    }
WAYS(uint8_t)
WAYS(uint32_t)
WAYS(uint64_t)

typedef void way(const located *l);
static way *const search[4] = {search_uint8_t, NULL, search_uint32_t, search_uint64_t};
static way *const merge[4] = {merge_uint8_t, NULL, merge_uint32_t, merge_uint64_t};
static way *const dense[4] = {dense_uint8_t, NULL, dense_uint32_t, dense_uint64_t};

static void locate_row(const located *l, int log2, int64_t cols) {
    if (l->nother > SEARCH * l->n)
        search[log2](l);
    else if (l->zeros && l->nother >= cols / FILLED)
        dense[log2](l);
    else
        merge[log2](l);
}

/* Of the other row only what lies between the columns of the batch, which may hold a part of a row. */
static void narrow(located *l) {
    int64_t skip = clf_csr_first(l->other, l->nother, l->idx[0]);
    l->other += skip;
    l->nother -= skip;
    if (l->nother > 0 && l->other[l->nother - 1] > l->idx[l->n - 1]) l->nother = clf_csr_first(l->other, l->nother, l->idx[l->n - 1] + 1);
}

void clf_rows_locate(const clf_rows_frame *f, const clf_csr *m, int dtype, int log2, char *out) {
    const clf_rows_job *j = f->job;
    const int32_t *idx = j->m->idx + f->e0;
    located l = {.zeros = j->zeros_bytes ? f->mem + j->zeros_at : NULL, .gather = j->r->isa.row->type[dtype]->gather};
    for (int64_t i = 0; i < f->rows; i++) {
        int64_t from = m->ptr[f->row + i];
        l.n = f->off[i + 1] - f->off[i];
        if (l.n == 0) continue;
        l.idx = idx + f->off[i];
        l.out = out + ((size_t)f->off[i] << log2);
        l.nother = m->ptr[f->row + i + 1] - from;
        l.other = m->idx + from;
        if (j->r->split && (i == 0 || i == f->rows - 1)) narrow(&l);
        l.val = (const char *)m->val + ((size_t)(l.other - m->idx) << log2);
        locate_row(&l, log2, j->m->cols);
    }
}

size_t clf_rows_zeros(const clf_rows_job *j) {
    const clf_cplan *c = &j->r->c;
    for (int a = 0; a < c->naccess && j->m; a++) {
        if (c->access[a].protocol != CLF_LOCATE) continue;
        const clf_csr *m = j->bind->in[c->access[a].input];
        bool filled = (double)m->nnz * FILLED >= (double)m->rows * (double)m->cols;
        if (filled && m->cols <= DENSE_BYTES / 8) return (size_t)m->cols * 8;
    }
    return 0;
}
