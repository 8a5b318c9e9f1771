/* SPDX-License-Identifier: Apache-2.0
 * Folds over stored entries that take the cells without entry in by their number: what the checker allows, and the golden cplan run by the
 * reference executor and by the host's row executor against plain loops, to the bit, at several shapes. */
#include <math.h>

#include "host/run/rows.h"
#include "tests/unit/rest_testing.h"

/* ---- the golden cplan ---- */

/* The tree over the stored entries, then all other cells at once. */
static double sum_by_hand(const clf_csr *m, double p) {
    double stack[64], lane[8];
    int top = 0;
    for (int64_t leaf = 0; leaf * 512 < m->nnz; leaf++) {
        memset(lane, 0, sizeof lane);
        for (int64_t e = leaf * 512; e < m->nnz && e < leaf * 512 + 512; e++) lane[e % 8] += val[e] + p;
        for (int h = 4; h; h /= 2)
            for (int l = 0; l < h; l++) lane[l] += lane[l + h];
        stack[top++] = lane[0];
        for (int64_t k = leaf + 1; k % 2 == 0; k /= 2, top--) stack[top - 2] += stack[top - 1];
    }
    for (; top > 1; top--) stack[top - 2] += stack[top - 1];
    int64_t missing = m->rows * m->cols - m->nnz;
    return (top ? stack[0] : 0) + (missing ? p * (double)missing : 0);
}

static void compare(const clf_csr *m, double p, double sum, const double *low, const int64_t *at) {
    CU_ASSERT_EQUAL(sum, sum_by_hand(m, p));
    for (int64_t i = 0; i < m->rows; i++) {
        int64_t best = 0;
        double least = INFINITY;
        for (int64_t j = 0; j < m->cols; j++) {
            least = fmin(least, cell[i * m->cols + j] + w[i]);
            if (cell[i * m->cols + j] > cell[i * m->cols + best]) best = j;
        }
        CU_ASSERT_EQUAL(low[i], least);
        CU_ASSERT_EQUAL(at[i], m->cols ? best + 1 : 0);
    }
}

static void whole_at(plan *p, int64_t n, int64_t m, int64_t every) {
    clf_csr x = fill(n, m, every);
    sizes z = declared(&p->c);
    double sum = 0, low[MOST_ROWS];
    int64_t at[MOST_ROWS];
    const clf_scalar param[] = {clf_scalar_f64(0.37)};
    void *in[] = {&x, w}, *out[] = {&sum, low, at};
    struct clf_rows *rows = NULL;
    z.axis[0] = n, z.axis[1] = x.nnz;
    dims2(z.in, 0, n, m);
    dims2(z.in, 1, n, 1);
    z.out[CLF_MAX_RANK] = z.out[2 * CLF_MAX_RANK] = n;
    run_ok(p, in, param, out, &z);
    compare(&x, 0.37, sum, low, at);
    sum = -1;
    memset(low, 0, sizeof low), memset(at, 0, sizeof at);
    const clf_bind b = {.in = in, .param = param, .out = out, .axis_n = z.axis, .in_dim = z.in, .out_dim = z.out};
    CU_ASSERT_EQUAL_FATAL(clf_rows_new(&rows, &p->c, CLF_ISA_BASELINE, &p->mem, &p->err), CLF_OK);
    CU_ASSERT_EQUAL(clf_rows_run(rows, &b, NULL, &p->err), CLF_OK);
    clf_rows_free(rows);
    compare(&x, 0.37, sum, low, at);
}

static void test_golden(void) { golden_at_shapes("sparse_rest", whole_at); }

/* ---- the golden cplan that keeps columns ---- */

typedef struct stack {
    double at[64];
    int top;
} stack;

/* One more subtree, the k-th from 0; and all of them. */
static void push(stack *s, int64_t k, double x) {
    s->at[s->top++] = x;
    for (k++; k % 2 == 0; k /= 2, s->top--) s->at[s->top - 2] += s->at[s->top - 1];
}

static double close(stack *s) {
    for (; s->top > 1; s->top--) s->at[s->top - 2] += s->at[s->top - 1];
    return s->top ? s->at[0] : 0;
}

/* Blocks of rows, one lane each, then the cells without entry: their number, how they are. */
static double column_by_hand(const clf_csr *m, int64_t j, int64_t *missing) {
    stack s = {{0}, 0};
    int64_t block = clf_scatter_block(m->rows, m->cols);
    *missing = 0;
    for (int64_t b = 0; b * block < m->rows; b++) {
        double sum = 0;
        for (int64_t i = b * block; i < m->rows && i < (b + 1) * block; i++) {
            int64_t e = entry_of(i, j);
            if (e < 0) ++*missing;
            if (e >= 0) sum += val[e] + u[j];
        }
        push(&s, b, sum);
    }
    return close(&s) + (*missing ? u[j] * (double)*missing : 0);
}

/* The tree over the stored entries, then that over the columns' cells without entry. */
static double squares_by_hand(const clf_csr *m) {
    stack s = {{0}, 0}, t = {{0}, 0};
    for (int64_t leaf = 0; leaf * 512 < m->nnz; leaf++) {
        double lane[8] = {0};
        for (int64_t e = leaf * 512; e < m->nnz && e < leaf * 512 + 512; e++) lane[e % 8] += (val[e] + u[idx[e]]) * (val[e] + u[idx[e]]);
        for (int h = 4; h; h /= 2)
            for (int l = 0; l < h; l++) lane[l] += lane[l + h];
        push(&s, leaf, lane[0]);
    }
    for (int64_t j = 0; j < m->cols; j++) {
        int64_t missing;
        (void)column_by_hand(m, j, &missing);
        push(&t, j, missing ? u[j] * u[j] * (double)missing : 0);
    }
    double all = close(&t);
    return m->nnz < m->rows * m->cols ? close(&s) + all : close(&s);
}

typedef struct columns {
    double sum[1000], most[1000], least, squares;
    int64_t at[1000];
} columns;

static void compare_columns(const clf_csr *m, double p, const columns *g) {
    double least = INFINITY;
    CU_ASSERT_EQUAL(g->squares, squares_by_hand(m));
    for (int64_t j = 0; j < m->cols; j++) {
        int64_t best = 0, missing;
        double most = -INFINITY;
        for (int64_t i = 0; i < m->rows; i++) {
            double x = cell[i * m->cols + j];
            most = fmax(most, x * p);
            least = fmin(least, x + w[i]);
            if (x < cell[best * m->cols + j]) best = i;
        }
        CU_ASSERT_EQUAL(g->sum[j], column_by_hand(m, j, &missing));
        CU_ASSERT_EQUAL(g->most[j], most);
        CU_ASSERT_EQUAL(g->at[j], m->rows ? best + 1 : 0);
    }
    CU_ASSERT_EQUAL(g->least, least);
}

static void columns_at(plan *p, int64_t n, int64_t m, int64_t every) {
    static columns got;
    clf_csr x = fill(n, m, every);
    sizes z = declared(&p->c);
    const clf_scalar param[] = {clf_scalar_f64(0.37)};
    void *in[] = {&x, u, w}, *out[] = {got.sum, got.most, got.at, &got.least, &got.squares};
    struct clf_rows *rows = NULL;
    for (int64_t j = 0; j < m; j++) u[j] = (double)(j * 37 % 11) / 7 - 1;
    z.axis[0] = n, z.axis[1] = x.nnz, z.axis[2] = m;
    dims2(z.in, 0, n, m);
    dims2(z.in, 1, 1, m);
    dims2(z.in, 2, n, 1);
    for (int o = 0; o < 3; o++) z.out[o * CLF_MAX_RANK] = m;
    run_ok(p, in, param, out, &z);
    compare_columns(&x, 0.37, &got);
    memset(&got, 0x5a, sizeof got);
    const clf_bind b = {.in = in, .param = param, .out = out, .axis_n = z.axis, .in_dim = z.in, .out_dim = z.out};
    CU_ASSERT_EQUAL_FATAL(clf_rows_new(&rows, &p->c, CLF_ISA_BASELINE, &p->mem, &p->err), CLF_OK);
    CU_ASSERT_EQUAL(clf_rows_run(rows, &b, NULL, &p->err), CLF_OK);
    compare_columns(&x, 0.37, &got);
    z.axis[2] = m + 1;
    CU_ASSERT_EQUAL(clf_rows_run(rows, &b, NULL, &p->err), CLF_E_SHAPE);
    CU_ASSERT_PTR_NOT_NULL(strstr(p->err.text, "columns of a sparse matrix"));
    CU_ASSERT_EQUAL(plan_run(p, &b), CLF_E_SHAPE);
    clf_rows_free(rows);
}

static void test_columns(void) { golden_at_shapes("sparse_columns", columns_at); }

/* More cells than a count holds; rows is so large that nothing may be read. */
static void test_too_many_cells(void) {
    plan p;
    static const int64_t ends[2] = {0, 0};
    open_golden(&p, "sparse_rest");
    clf_csr x = {.ptr = ends, .idx = idx, .val = val, .rows = INT64_MAX / 8, .cols = 11, .nnz = 0, .dtype = CLF_F64};
    sizes z = declared(&p.c);
    double sum = 0, low[1];
    int64_t at[1];
    struct clf_rows *rows = NULL;
    const clf_scalar param[] = {clf_scalar_f64(1)};
    z.axis[0] = x.rows;
    dims2(z.in, 0, x.rows, 11);
    dims2(z.in, 1, x.rows, 1);
    z.out[CLF_MAX_RANK] = z.out[2 * CLF_MAX_RANK] = x.rows;
    const clf_bind b = {
        .in = (void *[]){&x, w}, .param = param, .out = (void *[]){&sum, low, at}, .axis_n = z.axis, .in_dim = z.in, .out_dim = z.out};
    CU_ASSERT_EQUAL_FATAL(clf_rows_new(&rows, &p.c, CLF_ISA_BASELINE, &p.mem, &p.err), CLF_OK);
    CU_ASSERT_EQUAL(clf_rows_run(rows, &b, NULL, &p.err), CLF_E_LIMIT);
    clf_rows_free(rows);
    plan_close(&p);
}

/* ---- what the checker says ---- */

#define HEAD \
    "(cplan (axis i range free 4) (axis j entry free 9 owner a parent i) (axis k range free 3) (axis l range free 5)" \
    " (in X f64 csr 4 5) (in Y f64 dense 4 3) (in Z f64 dense 4 1) (in V f64 dense 1 5) (in W f64 dense 1 3) (param p f64) (param q f32)" \
    " (out S f64) (out T f64 4) (out U f64 5) (out N i64) (out M i64 5) (access a X entries (i 1 0) (j 1 0))" \
    " (access b Y stream (i 1 0) (k 1 0)) (access c Z stream (i 1 0) (- 0)) (access d V stream (- 0) (l 1 0))" \
    " (access e W stream (- 0) (k 1 0)) (access f V stream (- 0) (j 1 0)) (let x f64 load a) (let y f64 load b) (let w f64 load c)" \
    " (let u f64 load d) (let z f64 load e) (let v f64 load f) (let o f64 param p) (let h f32 param q) (let g f64 ADD x o)"

static const rest_check checked[] = {
    {HEAD " (let r f64 fold SUM j x rest x) (store T r keep i))", "rest varies with axes"},
    {HEAD " (let r f64 fold SUM j x rest h) (store T r keep i))", "rest is f32"},
    {HEAD " (let r f64 fold SUM k y rest o) (store T r keep i))", "only a fold over stored entries"},
    {HEAD " (let r f64 fold SUM j x rest y) (store T r keep i))", "rest varies with axes"},
    {HEAD " (let r f64 fold SUM j x rest r) (store T r keep i))", "not an earlier value"},
    {HEAD " (let r f64 scan SUM j x rest o) (store T r keep i))", "expected ')'"},
    {HEAD " (let r f64 fold SUM j x rest) (store T r keep i))", "is no value"},
    {HEAD " (fold S SUM x rest y keep over i j))", "rest varies with axes"},
    {HEAD " (fold S SUM x rest x keep over i j))", "rest varies with axes"},
    {HEAD " (fold S SUM x rest z keep over i j))", "rest varies with axes"},
    {HEAD " (fold U MAX x rest y keep j over i))", "rest varies with axes"},
    {HEAD " (fold U MAX x rest x keep j over i))", "rest varies with axes"},
    {HEAD " (fold U MAX x rest h keep j over i))", "rest is f32"},
    {HEAD " (fold U MAX x rest o keep j over i guard g))", "no guard"},
    {HEAD " (fold T MAX x rest u keep j over i))", "output has"},
    {HEAD " (fold U MAX x rest z keep j over i))", "rest varies with axes"},
    {HEAD " (fold U MAX v rest v keep j over i))", "rest varies with axes"},
    {HEAD " (fold N ARGMAX x rest w keep over i j))", "ARGMAX has no rest here"},
    {HEAD " (fold S SUM x rest h keep over i j))", "rest is f32"},
    {HEAD " (fold T SUM x rest o keep i over j))", "to be folded whole"},
    {HEAD " (fold S SUM y rest o keep over i k))", "to be folded whole"},
    {HEAD " (fold S SUM g rest o keep over i j k))", "to be folded whole"},
    {HEAD " (fold N ARGMAX x rest o keep over i j))", "ARGMAX has no rest here"},
    {HEAD " (fold S SUM x rest o keep over i j guard g))", "no guard"},
    {HEAD " (store S o rest o keep))", "expected 'keep'"},
    {HEAD " (let r f64 fold SUM j g rest w) (store T r keep i) (fold S SUM g rest o keep over i j) (fold N NNZ x rest o keep over i j)"
          " (fold U MIN v rest u keep j over i) (fold M ARGMIN g rest o keep j over i))",
     NULL},
    {HEAD " (store T w keep i) (fold S VAR g rest u keep over i j) (fold N NNZ x rest w keep over i j) (fold U VAR x rest o keep j over i)"
          " (fold M ARGMAX v rest u keep j over i))",
     NULL},
};

static void test_checked(void) { expect_checked(checked, sizeof checked / sizeof *checked); }

int main(void) {
    if (CU_initialize_registry() != CUE_SUCCESS) return 1;
    CU_pSuite s = CU_add_suite("folds of cells without entry", NULL, NULL);
    CU_add_test(s, "golden", test_golden);
    CU_add_test(s, "golden, columns", test_columns);
    CU_add_test(s, "too many cells", test_too_many_cells);
    CU_add_test(s, "checker", test_checked);
    CU_basic_run_tests();
    unsigned failures = CU_get_number_of_failures();
    CU_cleanup_registry();
    return failures > 0;
}
