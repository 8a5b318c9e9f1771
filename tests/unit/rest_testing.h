/* SPDX-License-Identifier: Apache-2.0
 * What the suites of folds with a rest share: a CSR matrix with empty and full rows and its cells, and golden cplans at several shapes. */
#ifndef CLF_TESTS_REST_TESTING_H
#define CLF_TESTS_REST_TESTING_H
#include "tests/unit/exam_testing.h"

enum { MOST_ROWS = 90, MOST_CELLS = 90000 };
static int64_t ptr[MOST_ROWS + 1];
static int32_t idx[MOST_CELLS];
static double val[MOST_CELLS], cell[MOST_CELLS], w[MOST_ROWS], u[1000];

/* Rows 2 and the last are empty, row 1 is full; some stored zeros. */
static inline clf_csr fill(int64_t n, int64_t m, int64_t every) {
    double *noise = noise_f64((size_t)(n * m), 71), *column = noise_f64((size_t)n, 72);
    int64_t e = 0;
    memset(cell, 0, sizeof cell);
    for (int64_t i = 0; i < n; i++, ptr[i] = e) {
        w[i] = column[i];
        for (int64_t j = 0; j < m; j++) {
            if (i != 1 && ((i * 31 + j * 17) % every || i == 2 || i == n - 1)) continue;
            cell[i * m + j] = val[e] = e % 7 == 3 ? 0 : noise[e] - 3;
            idx[e++] = (int32_t)j;
        }
    }
    free(noise), free(column);
    return (clf_csr){.ptr = ptr, .idx = idx, .val = val, .rows = n, .cols = m, .nnz = e, .dtype = CLF_F64};
}

static inline int64_t entry_of(int64_t i, int64_t j) {
    for (int64_t e = ptr[i]; e < ptr[i + 1]; e++)
        if (idx[e] == j) return e;
    return -1;
}

typedef void at_shape(plan *p, int64_t n, int64_t m, int64_t every);

/* Rows and columns, and every how manyth cell is stored: all of them, hardly any; one row, no row. */
static inline void golden_at_shapes(const char *name, at_shape *check) {
    plan p;
    open_golden(&p, name);
    check(&p, 60, 11, 3);
    check(&p, 90, 1000, 7);
    check(&p, 3, 4, 1);
    check(&p, 4, 700, 1000003);
    check(&p, 1, 5, 2);
    check(&p, 0, 5, 2);
    plan_close(&p);
}

/* What the checker says to a text; say NULL: legal, up to outputs that nothing writes. */
typedef struct rest_check { const char *text, *say; } rest_check;

static inline void expect_checked(const rest_check *checked, size_t n) {
    for (size_t i = 0; i < n; i++) {
        plan p;
        plan_parse(&p, checked[i].text, strlen(checked[i].text));
        bool ok = checked[i].say ? p.st == CLF_E_SYNTAX && strstr(p.err.text, checked[i].say) : p.st == CLF_OK;
        if (!ok) printf("\n%s\n-> %d %s, wanted %s\n", checked[i].text, p.st, p.err.text, checked[i].say ? checked[i].say : "legal");
        CU_ASSERT(ok);
        plan_close(&p);
    }
}
#endif
