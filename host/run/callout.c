/* SPDX-License-Identifier: Apache-2.0
 * CALLOUT steps: structural operators that no template covers run here, on the host, one function each, reached by a table.
 * Data movement is by element size, so one text serves every type. */
#include <string.h>

#include "host/run/callout.h"

#include <Random123/philox.h>

static clf_status co_diag(const clf_host_call *h, clf_err *err) {
    (void)err;
    size_t each = clf_dtype_bytes((clf_dtype)h->node->dtype), n = (size_t)clf_rows(h->node);
    bool to_matrix = h->node->attr[0] != 0;
    if (to_matrix && n) memset(h->out, 0, n * n * each);
    for (size_t i = 0; i < n; i++) {
        size_t at = i * (n + 1) * each;
        if (to_matrix)
            memcpy((char *)h->out + at, (const char *)h->in[0] + i * each, each);
        else
            memcpy((char *)h->out + i * each, (const char *)h->in[0] + at, each);
    }
    return CLF_OK;
}

/* Philox4x32-10 (Salmon et al., SC'11): key = seed, counter = row-major position; word 0-1 the value, word 2-3 whether it is non-zero. */
static double uniform(uint32_t hi, uint32_t lo) { return (double)(((uint64_t)hi << 32 | lo) >> 11) * 0x1p-53; }

static void rand_cells(const clf_gnode *g, int64_t first, int64_t count, void *out) {
    const int64_t *a = g->attr;
    double min = clf_attr_f64(a[0]), span = clf_attr_f64(a[1]) - min, keep = clf_attr_f64(a[2]);
    philox4x32_key_t key = {{(uint32_t)a[3], (uint32_t)((uint64_t)a[3] >> 32)}};
    for (int64_t i = 0; i < count; i++) {
        uint64_t p = (uint64_t)(first + i);
        philox4x32_ctr_t ctr = {{(uint32_t)p, (uint32_t)(p >> 32), 0, 0}};
        philox4x32_ctr_t w = philox4x32(ctr, key);
        double x = uniform(w.v[2], w.v[3]) < keep ? min + uniform(w.v[0], w.v[1]) * span : 0;
        if (g->dtype == CLF_F32)
            ((float *)out)[i] = (float)x;
        else
            ((double *)out)[i] = x;
    }
}

/* A cell's number follows from its position alone, so parts may be made in any order, by anybody. */
enum { RAND_PART = 1 << 14 };
typedef struct rand_job {
    const clf_gnode *g;
    int64_t first, count;
    char *out;
} rand_job;

static void rand_part(void *user, int64_t part, int worker) {
    const rand_job *j = user;
    int64_t at = part * RAND_PART, n = j->count - at < RAND_PART ? j->count - at : RAND_PART;
    (void)worker;
    rand_cells(j->g, j->first + at, n, j->out + (size_t)at * clf_dtype_bytes((clf_dtype)j->g->dtype));
}

void clf_rand_cells(const clf_gnode *g, int64_t first, int64_t count, clf_pool *pool, void *out) {
    rand_job j = {g, first, count, out};
    if (pool && count > RAND_PART)
        clf_pool_run(pool, (count - 1) / RAND_PART + 1, rand_part, &j);
    else
        rand_cells(g, first, count, out);
}

static clf_status co_rand(const clf_host_call *h, clf_err *err) {
    (void)err;
    clf_rand_cells(h->node, 0, clf_rows(h->node) * clf_cols(h->node), h->pool, h->out);
    return CLF_OK;
}

static clf_callout *const table[CLF_NALLOPS] = {
    [CLF_OP_TRANSPOSE] = clf_callout_transpose,
    [CLF_OP_CBIND] = clf_callout_cbind,
    [CLF_OP_RBIND] = clf_callout_rbind,
    [CLF_OP_DIAG] = co_diag,
    [CLF_OP_RESHAPE] = clf_callout_reshape,
    [CLF_OP_REV] = clf_callout_rev,
    [CLF_OP_ORDER] = clf_callout_order,
    [CLF_OP_CUM] = clf_callout_cum,
    [CLF_OP_RAND] = co_rand,
};

clf_status clf_callout_run(const clf_host_call *h, clf_err *err) {
    clf_callout *f = table[h->node->op];
    return f ? f(h, err) : clf_fail(err, CLF_E_INTERNAL, "%s has no host step", clf_ops[h->node->op].name);
}
