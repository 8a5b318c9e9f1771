/* SPDX-License-Identifier: Apache-2.0
 * Random sparse matrices without their cells: the numbers of clf_rand, a block of rows at a time, only those that are not 0 kept.
 * cost: O(cells) time, O(non-zeros + rows) memory. */
#include <string.h>

#include "core/str.h"
#include "host/graph/sparse_buf.h"
#include "host/run/run.h"

enum { BLOCK = 1 << 17 };

/* Numbers kept so far; they move into arrays of their exact size in the end. */
typedef struct kept {
    clf_ctx *c;
    clf_str idx, val;
    int64_t n;
} kept;

static void keep(kept *k, const clf_gnode *g, int64_t first, int64_t count, const void *cells, int64_t *end_of_row) {
    size_t each = clf_dtype_bytes((clf_dtype)g->dtype);
    for (int64_t i = 0; i < count; i++) {
        const char *at = (const char *)cells + (size_t)i * each;
        int32_t col = (int32_t)((first + i) % clf_cols(g));
        double x = clf_scalar_as_f64(clf_scalar_load(at, 0, (clf_dtype)g->dtype));
        if (x != 0) {
            clf_str_putn(&k->idx, (const char *)&col, sizeof col);
            clf_str_putn(&k->val, at, each);
            k->n++;
        }
        if (col == clf_cols(g) - 1) end_of_row[(first + i) / clf_cols(g)] = k->n;
    }
}

static bool generate(kept *k, const clf_gnode *g, int64_t *ptr) {
    void *cells = clf_mem_new(&k->c->mem, BLOCK, 8);
    int64_t all = clf_rows(g) * clf_cols(g);
    for (int64_t first = 0; cells && first < all; first += BLOCK) {
        int64_t count = all - first < BLOCK ? all - first : BLOCK;
        clf_rand_cells(g, first, count, k->c->run->pool, cells);
        keep(k, g, first, count, cells, ptr + 1);
    }
    clf_mem_free(&k->c->mem, cells, BLOCK, 8);
    return cells && !k->idx.failed && !k->val.failed;
}

static clf_buf *pack(kept *k, const clf_gnode *g, const int64_t *ptr) {
    clf_csr m = {.ptr = ptr,
                 .idx = (const int32_t *)(const void *)k->idx.at,
                 .val = k->val.at,
                 .rows = clf_rows(g),
                 .cols = clf_cols(g),
                 .nnz = k->n,
                 .dtype = g->dtype};
    return clf_csr_buf_copy(k->c, &m);
}

clf_status clf_rand_sparse(clf_ctx *c, const clf_gnode *g, clf_buf **out, clf_err *err) {
    kept k = {.c = c};
    clf_status st = clf_sparse_args("rand", (clf_dtype)g->dtype, clf_rows(g), clf_cols(g), 0, err);
    if (st != CLF_OK) return st;
    size_t n = (size_t)clf_rows(g) + 1;
    int64_t *ptr = clf_mem_new(&c->mem, n, sizeof *ptr);
    clf_str_init(&k.idx, &c->mem);
    clf_str_init(&k.val, &c->mem);
    *out = ptr && generate(&k, g, ptr) ? pack(&k, g, ptr) : NULL;
    clf_str_release(&k.idx);
    clf_str_release(&k.val);
    clf_mem_free(&c->mem, ptr, n, sizeof *ptr);
    return *out ? CLF_OK : clf_fail(err, CLF_E_NOMEM, "rand: out of memory for a sparse matrix");
}
