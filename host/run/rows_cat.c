/* SPDX-License-Identifier: Apache-2.0
 * A CAT of a row program: rows of two values beside each other, copied into a register of their own. A value that does not vary with
 * rows has been repeated for every row of a batch, so a part stands as densely as its axis says, or as one cell a row. */
#include <string.h>

#include "host/run/rows_run.h"

/* Cells of part q in a row. */
static int64_t part_cells(const clf_rows_job *j, const clf_value *cat, int q) {
    int along = clf_cat_axis(cat, q);
    return along < 0 ? 1 : j->n[along];
}

clf_status clf_rows_cat_check(const clf_rows_job *j, clf_err *err) {
    const clf_cplan *c = &j->r->c;
    for (int v = 0; v < c->nvalue; v++) {
        const clf_value *x = &c->value[v];
        int64_t n;
        if (x->op != CLF_V_CAT) continue;
        if (__builtin_add_overflow(part_cells(j, x, 0), part_cells(j, x, 1), &n) || n != j->n[x->axis])
            return clf_fail(err, CLF_E_SHAPE, "axis %d is bound to extent %lld, its parts have %lld and %lld", x->axis,
                            (long long)j->n[x->axis], (long long)part_cells(j, x, 0), (long long)part_cells(j, x, 1));
    }
    return CLF_OK;
}

/* n cells of each of `rows` rows go to every ld-th place. */
#define PUT(T) \
    static void put_##T(int64_t rows, int64_t n, int64_t ld, const void *from, void *to) { \
        const T *x = from; \
        T *o = to; \
        if (n == 1) \
            for (int64_t r = 0; r < rows; r++) o[r * ld] = x[r]; \
        else \
            for (int64_t r = 0; r < rows && n > 0; r++) memcpy(o + r * ld, x + r * n, (size_t)n * sizeof *o); \
    }
PUT(uint8_t)
PUT(uint32_t)
PUT(uint64_t)

void clf_rows_exec_cat(clf_rows_frame *f, const clf_row_instr *in) {
    static void (*const put[4])(int64_t, int64_t, int64_t, const void *, void *) = {put_uint8_t, NULL, put_uint32_t, put_uint64_t};
    const clf_rows_job *j = f->job;
    const clf_value *x = &j->r->c.value[in->value];
    int log2 = j->r->slot[in->dst].log2;
    int64_t rows = in->shape == CLF_RS_VEC ? 1 : f->rows, first = part_cells(j, x, 0), n = j->n[in->axis];
    char *to = f->slot[in->dst];
    put[log2](rows, first, n, f->slot[in->in[0]], to);
    put[log2](rows, n - first, n, f->slot[in->in[1]], to + ((size_t)first << log2));
    memset(to + ((size_t)(rows * n) << log2), 0, (size_t)CLF_TILE_PAD << log2);
}
