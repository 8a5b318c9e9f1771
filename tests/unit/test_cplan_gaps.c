/* SPDX-License-Identifier: Apache-2.0
 * Folds over stored entries whose cells without entry differ along what is folded: the golden cplan, and what the tree of gaps must be
 * (core/fold.h), written recursively; run by the reference executor and by the host's row executor, to the bit, at several shapes; and
 * what the checker allows. */
#include <math.h>

#include "host/run/rows.h"
#include "tests/unit/rest_testing.h"

static double gap[1000];

static double gaps_of(int64_t n) { return n ? tree_of_leaves(gap, n) : 0; }

/* The tree over the row's entries, then that over its gaps. */
static double row_by_hand(const clf_csr *m, int64_t i) {
    static double x[1000];
    int64_t n = ptr[i + 1] - ptr[i];
    for (int64_t e = 0; e < n; e++) x[e] = val[ptr[i] + e] + u[idx[ptr[i] + e]];
    for (int64_t j = 0; j < m->cols; j++) gap[j] = entry_of(i, j) < 0 ? u[j] : 0;
    return tree_sum(x, n) + (n < m->cols ? gaps_of(m->cols) : 0);
}

/* Blocks of rows, one lane each, then the tree over the gaps. */
static double column_by_hand(const clf_csr *m, int64_t j) {
    double leaf[64] = {0};
    int64_t block = clf_scatter_block(m->rows, m->cols), n = 0;
    for (int64_t i = 0; i < m->rows; i++) {
        int64_t e = entry_of(i, j);
        gap[i] = e < 0 ? w[i] : 0;
        if (e >= 0) leaf[i / block] += val[e] + w[i], n++;
    }
    double all = m->rows ? tree_of_leaves(leaf, (m->rows - 1) / block + 1) : 0;
    return all + (n < m->rows ? gaps_of(m->rows) : 0);
}

typedef struct results {
    double row[MOST_ROWS], least, column[1000];
    int64_t at[MOST_ROWS], column_at[1000];
} results;

static void compare_rows(const clf_csr *m, double p, const results *g) {
    double most = -INFINITY;
    for (int64_t i = 0; i < m->rows; i++) {
        const double *x = cell + i * m->cols;
        int64_t best = 0;
        double least = INFINITY;
        for (int64_t j = 0; j < m->cols; j++) {
            least = fmin(least, x[j] * p + u[j]);
            if (x[j] + u[j] > x[best] + u[best]) best = j;
        }
        most = fmax(most, least);
        CU_ASSERT_EQUAL(g->row[i], row_by_hand(m, i));
        CU_ASSERT_EQUAL(g->at[i], best + 1);
    }
    CU_ASSERT_EQUAL(g->least, most);
}

static void compare_columns(const clf_csr *m, const results *g) {
    for (int64_t j = 0; j < m->cols; j++) {
        int64_t best = 0;
        for (int64_t i = 0; i < m->rows; i++)
            if (cell[i * m->cols + j] + w[i] > cell[best * m->cols + j] + w[best]) best = i;
        CU_ASSERT_EQUAL(g->column[j], column_by_hand(m, j));
        CU_ASSERT_EQUAL(g->column_at[j], m->rows ? best + 1 : 0);
    }
}

static void gaps_at(plan *p, int64_t n, int64_t m, int64_t every) {
    static results got;
    clf_csr x = fill(n, m, every);
    sizes z = declared(&p->c);
    const clf_scalar param[] = {clf_scalar_f64(0.37)};
    void *in[] = {&x, u, w}, *out[] = {got.row, got.at, &got.least, got.column, got.column_at};
    struct clf_rows *rows = NULL;
    for (int64_t j = 0; j < m; j++) u[j] = (double)(j * 37 % 11) / 7 - 1;
    z.axis[0] = n, z.axis[1] = x.nnz, z.axis[2] = m;
    dims2(z.in, 0, n, m);
    dims2(z.in, 1, 1, m);
    dims2(z.in, 2, n, 1);
    for (int o = 0; o < 5; o++) z.out[o * CLF_MAX_RANK] = o < 2 ? n : m;
    z.out[2 * CLF_MAX_RANK] = 0;
    run_ok(p, in, param, out, &z);
    compare_rows(&x, 0.37, &got);
    compare_columns(&x, &got);
    memset(&got, 0x5a, sizeof got);
    const clf_bind b = {.in = in, .param = param, .out = out, .axis_n = z.axis, .in_dim = z.in, .out_dim = z.out};
    CU_ASSERT_EQUAL_FATAL(clf_rows_new(&rows, &p->c, CLF_ISA_BASELINE, &p->mem, &p->err), CLF_OK);
    CU_ASSERT_EQUAL(clf_rows_run(rows, &b, NULL, &p->err), CLF_OK);
    compare_rows(&x, 0.37, &got);
    compare_columns(&x, &got);
    z.axis[2] = m + 1;
    CU_ASSERT_EQUAL(clf_rows_run(rows, &b, NULL, &p->err), CLF_E_SHAPE);
    CU_ASSERT_PTR_NOT_NULL(strstr(p->err.text, "columns of a sparse matrix"));
    CU_ASSERT_EQUAL(plan_run(p, &b), CLF_E_SHAPE);
    CU_ASSERT_PTR_NOT_NULL(strstr(p->err.text, "columns of a CSR matrix"));
    clf_rows_free(rows);
}

static void test_golden(void) { golden_at_shapes("sparse_gaps", gaps_at); }

/* ---- what the checker says ---- */

#define HEAD \
    "(cplan (axis i range free 4) (axis j entry free 9 owner a parent i) (axis l range free 5) (axis m range free 5)" \
    " (in X f64 csr 4 5) (in V f64 dense 1 5) (in W f64 dense 4 1) (in Y f64 dense 4 5) (out S f64) (out T f64 4) (out U f64 5)" \
    " (out M i64 5) (access a X entries (i 1 0) (j 1 0)) (access d V stream (- 0) (l 1 0)) (access e V stream (- 0) (m 1 0))" \
    " (access b Y stream (i 1 0) (l 1 0)) (access c W stream (i 1 0) (- 0)) (let x f64 load a) (let u f64 load d) (let t f64 load e)" \
    " (let y f64 load b) (let w f64 load c) (let s f64 ADD u t) (let z f64 ADD x u)"

static const rest_check checked[] = {
    {HEAD " (let r f64 fold SUM j x rest y) (store T r keep i))", "rest varies with axes"}, /* by row and by column */
    {HEAD " (let r f64 fold SUM j x rest s) (store T r keep i))", "rest varies with axes"}, /* two sets of columns */
    {HEAD " (let r f64 fold SUM j z rest u) (store T r keep i))", "rest varies with axes"}, /* the folded value has the axis too */
    {HEAD " (fold U SUM x rest y keep j over i))", "rest varies with axes"},
    {HEAD " (fold M ARGMIN x rest y keep j over i))", "rest varies with axes"},
    {HEAD " (let r f64 fold SUM j x rest u) (let q f64 fold MIN j x rest t) (let n f64 fold MAX j x rest w) (store T r keep i)"
          " (fold S SUM q keep over i) (fold U SUM x rest n keep j over i) (fold M ARGMAX x rest w keep j over i))",
     NULL},
};

static void test_checked(void) { expect_checked(checked, sizeof checked / sizeof *checked); }

/* The axis of a rest is folded away: no value has it, and no sink runs along it unasked. */
static void test_axes(void) {
    static const char text[] = HEAD " (let r f64 fold SUM j x rest u) (store T r keep i) (fold S SUM r keep) (fold U SUM x rest w keep j"
                                    " over i) (fold M ARGMAX x rest w keep j over i))";
    plan p;
    plan_parse(&p, text, strlen(text));
    CU_ASSERT_EQUAL_FATAL(p.st, CLF_OK);
    const clf_value *fold = &p.c.value[p.c.sink[0].value[0]];
    CU_ASSERT_EQUAL(fold->axes, 1);
    CU_ASSERT_EQUAL(clf_rest_axis(&p.c, fold), 2);
    CU_ASSERT_EQUAL(clf_sink_loop(&p.c, &p.c.sink[1]), 1u | 1u << 3); /* rows, and the axis that nobody folds */
    plan_close(&p);
}

int main(void) {
    if (CU_initialize_registry() != CUE_SUCCESS) return 1;
    CU_pSuite s = CU_add_suite("folds of cells without entry by ranges", NULL, NULL);
    CU_add_test(s, "golden", test_golden);
    CU_add_test(s, "checker", test_checked);
    CU_add_test(s, "axes", test_axes);
    CU_basic_run_tests();
    unsigned failures = CU_get_number_of_failures();
    CU_cleanup_registry();
    return failures > 0;
}
