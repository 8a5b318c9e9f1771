/* SPDX-License-Identifier: Apache-2.0
 * What the suites of facts about zeros share: sparse and dense leaves by name, and expressions of them. */
#ifndef CLF_TESTS_ZEROS_TESTING_H
#define CLF_TESTS_ZEROS_TESTING_H
#include "host/graph/facts.h"
#include "host/run/run.h"
#include "tests/unit/api_testing.h"

enum { ROWS = 8, COLS = 6, ENTRIES = 12 };

/* ENTRIES cells of a ROWS x COLS matrix, spread by `step`. */
static inline clf_mat *sparse(clf_ctx *c, clf_dtype t, int step) {
    int32_t row[ENTRIES], col[ENTRIES];
    char val[ENTRIES * 8];
    for (int i = 0; i < ENTRIES; i++) {
        int cell = i * step % (ROWS * COLS);
        row[i] = cell / COLS;
        col[i] = cell % COLS;
        clf_scalar_store(val, (size_t)i, clf_scalar_to(clf_scalar_i64(i + 1), t));
    }
    return clf_sparse_coo(c, t, ROWS, COLS, ENTRIES, row, col, val, NULL);
}

/* Names of the expressions: S T sparse, D dense, u an unknown number, s a sparse column, I J like S and D of integers. */
static inline size_t bindings(clf_ctx *c, clf_binding *b) {
    static double cells[ROWS * COLS];
    static int32_t whole[ROWS * COLS];
    size_t n = 0;
    b[n++] = (clf_binding){"S", sparse(c, CLF_F64, 4 * 7 + 1)};
    b[n++] = (clf_binding){"T", sparse(c, CLF_F64, 11)};
    b[n++] = (clf_binding){"D", clf_matrix(c, CLF_F64, ROWS, COLS, cells)};
    b[n++] = (clf_binding){"u", clf_param(c, CLF_F64, 1, 1, true)};
    b[n++] = (clf_binding){"s", clf_sparse_coo(c, CLF_F64, ROWS, 1, 1, (int32_t[]){3}, (int32_t[]){0}, (double[]){2}, NULL)};
    b[n++] = (clf_binding){"I", sparse(c, CLF_I32, 5)};
    b[n++] = (clf_binding){"J", clf_matrix(c, CLF_I32, ROWS, COLS, whole)};
    b[n++] = (clf_binding){"F", sparse(c, CLF_F32, 13)};
    return n;
}

static inline clf_mat *expression(clf_ctx *c, const char *text) {
    clf_binding b[8];
    size_t n = bindings(c, b);
    clf_mat *m = clf_expr(c, text, b, n);
    const char *why = "";
    if (clf_status_of(m, &why) != CLF_OK) printf("\n    %s: %s\n", text, why);
    CU_ASSERT_EQUAL_FATAL(clf_status_of(m, NULL), CLF_OK);
    return m;
}
#endif
