/* SPDX-License-Identifier: Apache-2.0
 * Functions about extents: those that ask for them, and those that make matrices of given ones. What decides a shape must be known
 * when the program is read. */
#include "host/lang/lang.h"

enum { EXTENT_ROWS = 1, EXTENT_COLS = 2 };

clf_status clf_lang_extent(const clf_lang_call *k, clf_term *out) {
    int64_t rows, cols, n;
    CLF_TRY(clf_info(k->list[0].mat, &rows, &cols, NULL, NULL));
    if (k->fn->code == EXTENT_ROWS)
        n = rows;
    else if (k->fn->code == EXTENT_COLS)
        n = cols;
    else if (__builtin_mul_overflow(rows, cols, &n))
        return clf_call_fail(k, CLF_E_LIMIT, "too many cells to count");
    out->mat = clf_int(k->l->c, n);
    out->known = true;
    out->num = (double)n;
    return CLF_OK;
}

clf_status clf_lang_seq(const clf_lang_call *k, clf_term *out) {
    double from, to, by;
    CLF_TRY(clf_call_number(k, 0, 0, &from));
    CLF_TRY(clf_call_number(k, 1, 0, &to));
    CLF_TRY(clf_call_number(k, 2, 0, &by));
    if (k->arg[2] && by == 0) return clf_call_fail(k, CLF_E_ARG, "a step of 0 leads nowhere");
    out->mat = clf_seq(k->l->c, from, to, by);
    return CLF_OK;
}

/* A scalar that is computed: its product with ones, which keeps every bit of it. */
static clf_mat *spread(clf_ctx *c, clf_mat *x, int64_t rows, int64_t cols) {
    clf_dtype t = CLF_F64;
    clf_info(x, NULL, NULL, &t, NULL);
    clf_mat *ones = clf_fill(c, t, rows, cols, 1), *r = clf_mul(ones, x);
    clf_free(ones);
    return r;
}

/* The extent that is not given is what the cells of a matrix leave, or 1. */
static clf_status extents(const clf_lang_call *k, int64_t cells, int64_t *rows, int64_t *cols) {
    CLF_TRY(clf_call_whole(k, 1, 0, 1, rows));
    CLF_TRY(clf_call_whole(k, 2, 0, 1, cols));
    if (!k->arg[1] && *cols > 0) *rows = cells / *cols;
    if (!k->arg[2] && *rows > 0) *cols = cells / *rows;
    return CLF_OK;
}

clf_status clf_lang_matrix(const clf_lang_call *k, clf_term *out) {
    const clf_term *v = k->arg[0];
    int64_t rows = 1, cols = 1, cells;
    bool scalar = true;
    CLF_TRY(clf_info(v->mat, &rows, &cols, NULL, &scalar));
    if (__builtin_mul_overflow(rows, cols, &cells)) return clf_call_fail(k, CLF_E_LIMIT, "too many cells to count");
    if (scalar) {
        CLF_TRY(clf_call_whole(k, 1, 0, 1, &rows));
        CLF_TRY(clf_call_whole(k, 2, 0, 1, &cols));
    } else {
        CLF_TRY(extents(k, cells, &rows, &cols));
    }
    if (v->known)
        out->mat = clf_fill(k->l->c, CLF_F64, rows, cols, v->num);
    else
        out->mat = scalar ? spread(k->l->c, v->mat, rows, cols) : clf_reshape(v->mat, rows, cols);
    return CLF_OK;
}

/* Without a seed the n-th rand of a program has seed n: different numbers in one program, the same in every run. */
clf_status clf_lang_rand(const clf_lang_call *k, clf_term *out) {
    int64_t rows, cols, seed;
    double min, max, sparsity;
    CLF_TRY(clf_call_whole(k, 0, 0, 0, &rows));
    CLF_TRY(clf_call_whole(k, 1, 0, 0, &cols));
    CLF_TRY(clf_call_number(k, 2, 0, &min));
    CLF_TRY(clf_call_number(k, 3, 1, &max));
    CLF_TRY(clf_call_number(k, 4, 1, &sparsity));
    CLF_TRY(clf_call_whole(k, 5, 0, (int64_t)++k->l->rands, &seed));
    out->mat = clf_rand(k->l->c, CLF_F64, rows, cols, min, max, sparsity, (uint64_t)seed);
    return CLF_OK;
}

clf_status clf_lang_order(const clf_lang_call *k, clf_term *out) {
    int64_t by;
    double decreasing, index;
    CLF_TRY(clf_call_whole(k, 1, 1, 1, &by));
    CLF_TRY(clf_call_number(k, 2, 0, &decreasing));
    CLF_TRY(clf_call_number(k, 3, 0, &index));
    out->mat = clf_order(k->arg[0]->mat, by, decreasing != 0, index != 0);
    return CLF_OK;
}
