/* SPDX-License-Identifier: Apache-2.0
 * The exam of rows put together and cumulated, in tests/golden/cplan as the Row template makes them: each is read, checked, printed back
 * unchanged, and run by the reference executor against plain loops, at its own sizes and at others. Cells are small integers, so that
 * sums are the same in every order. */
#include "tests/unit/exam_testing.h"

static double *whole(int64_t n, uint64_t seed) {
    double *x = malloc((size_t)(n ? n : 1) * sizeof *x);
    for (int64_t i = 0; x && i < n; i++) {
        seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        x[i] = (double)(seed >> 60) - 7;
    }
    CU_ASSERT_PTR_NOT_NULL_FATAL(x);
    return x;
}

/* ---- t(C) %*% (w * (C %*% v)), C = cbind(X, one) --------------------------------------------------------------------------- */

static void chain_at(plan *p, int64_t n, int64_t m, double one, const sizes *z) {
    double *x = whole(n * m, 5), *v = whole(m + 1, 6), *w = whole(n, 7), *y = whole(m + 1, 8), *want = calloc((size_t)m + 1, sizeof *want);
    const clf_scalar param = clf_scalar_f64(one);
    CU_ASSERT_PTR_NOT_NULL_FATAL(want);
    for (int64_t i = 0; i < n; i++) {
        double s = one * v[m];
        for (int64_t j = 0; j < m; j++) s += x[i * m + j] * v[j];
        for (int64_t j = 0; j <= m; j++) want[j] += w[i] * s * (j < m ? x[i * m + j] : one);
    }
    run_ok(p, (void *[]){x, v, w}, &param, (void *[]){y}, z);
    for (int64_t j = 0; j <= m; j++) CU_ASSERT_EQUAL(y[j], want[j]);
    free(x), free(v), free(w), free(y), free(want);
}

static void test_chain(void) {
    static const int64_t size[][2] = {{33, 1}, {2, 700}, {0, 4}, {9, 0}};
    plan p;
    open_golden(&p, "cbind_chain");
    chain_at(&p, 70, 11, 1, NULL);
    for (size_t q = 0; q < sizeof size / sizeof *size; q++) {
        sizes z = declared(&p.c);
        z.axis[0] = size[q][0], z.axis[1] = size[q][1] + 1, z.axis[2] = size[q][1];
        dims2(z.in, 0, size[q][0], size[q][1]);
        dims2(z.in, 1, size[q][1] + 1, 1);
        dims2(z.in, 2, size[q][0], 1);
        z.out[0] = size[q][1] + 1;
        chain_at(&p, size[q][0], size[q][1], -3, &z);
    }
    plan_close(&p);
}

/* An axis that is not as long as its parts is an error before anything is read. */
static void test_length(void) {
    plan p;
    double x[12], y[12];
    const clf_scalar one = clf_scalar_f64(1);
    open_golden(&p, "cbind_chain");
    for (int64_t wrong = 2; wrong <= 4; wrong += 2) {
        sizes z = declared(&p.c);
        z.axis[0] = 1, z.axis[1] = wrong, z.axis[2] = 2;
        dims2(z.in, 0, 1, 2);
        dims2(z.in, 1, wrong, 1);
        dims2(z.in, 2, 1, 1);
        z.out[0] = wrong;
        memset(x, 0, sizeof x);
        clf_bind b = {.in = (void *[]){x, x, x}, .param = &one, .out = (void *[]){y}, .axis_n = z.axis, .in_dim = z.in, .out_dim = z.out};
        CU_ASSERT_EQUAL(plan_run(&p, &b), CLF_E_SHAPE);
        CU_ASSERT_PTR_NOT_NULL(strstr(p.err.text, "its parts have 2 and 1"));
    }
    plan_close(&p);
}

/* ---- rowSums(C * Y), C = t(cumsum(t(cbind(X[, 3:m], Z)))) ------------------------------------------------------------------- */

static void cumsum_at(plan *p, int64_t n, int64_t m, int64_t k, const sizes *z) {
    int64_t cols = m - 2 - 1 + k; /* one more column of X stands behind the range */
    double *x = whole(n * m, 15), *s = whole(n * k, 16), *y = whole(n * cols, 17), *sums = whole(n, 18), *c = whole(n * cols, 19);
    run_ok(p, (void *[]){x, s, y}, NULL, (void *[]){sums, c}, z);
    for (int64_t i = 0; i < n; i++) {
        double run = 0, want = 0;
        for (int64_t j = 0; j < cols; j++) {
            run += j < m - 3 ? x[i * m + j + 2] : s[i * k + j - (m - 3)];
            CU_ASSERT_EQUAL(c[i * cols + j], run);
            want += run * y[i * cols + j];
        }
        CU_ASSERT_EQUAL(sums[i], want);
    }
    free(x), free(s), free(y), free(sums), free(c);
}

static void test_cumsum(void) {
    static const int64_t size[][3] = {{7, 4, 1}, {3, 200, 90}, {0, 5, 2}, {4, 3, 3}};
    plan p;
    open_golden(&p, "row_cumsum");
    cumsum_at(&p, 20, 8, 4, NULL);
    for (size_t q = 0; q < sizeof size / sizeof *size; q++) {
        int64_t n = size[q][0], m = size[q][1], k = size[q][2];
        sizes z = declared(&p.c);
        z.axis[0] = n, z.axis[1] = m - 3 + k, z.axis[2] = m - 3, z.axis[3] = k;
        dims2(z.in, 0, n, m);
        dims2(z.in, 1, n, k);
        dims2(z.in, 2, n, m - 3 + k);
        z.out[0] = n;
        dims2(z.out, 1, n, m - 3 + k);
        cumsum_at(&p, n, m, k, &z);
    }
    plan_close(&p);
}

/* ---- what the checker refuses ---------------------------------------------------------------------------------------------- */

#define HEAD \
    "(cplan (axis i range free 4) (axis j range free 3) (axis k range free 2) (axis c range free 5) (in X f64 dense 4 3) (in Z f64 dense " \
    "4 2)" \
    " (in F f32 dense 4 2) (in C f64 dense 4 5) (access a X stream (i 1 0) (j 1 0)) (access b Z stream (i 1 0) (k 1 0))" \
    " (access d F stream (i 1 0) (k 1 0)) (access e C stream (i 1 0) (c 1 0)) (let x f64 load a) (let z f64 load b) (let f f32 load d)" \
    " (let w f64 load e) (out Y f64 4 5) "
#define SINK " (store Y q keep i c))"

static void test_refused(void) {
    static const struct {
        const char *text, *message;
    } list[] = {
        {HEAD "(let q f64 cat c x j x j)" SINK, "its parts have 3 and 3 positions, its axis 5"},
        {HEAD "(let q f64 cat c x j z -)" SINK, "its parts have 3 and 1 positions"},
        {HEAD "(let q f64 cat c x j f k)" SINK, "part 1 is f32"},
        {HEAD "(let q f64 cat c w j z k)" SINK, "part 0 varies with axis 3"},
        {HEAD "(let q f64 cat c x c z k)" SINK, "part 0 runs along axis 3"},
        {HEAD "(let q f64 cat c q j z k)" SINK, "not an earlier value"},
        {HEAD "(let m f64 fold SUM i x) (let q f64 cat c m j z k)" SINK, "a fold over the outermost axis"},
        {HEAD "(let q f64 cat - x j z k)" SINK, "'-'"},
        {HEAD "(let q f64 cat c x j z)" SINK, "')'"},
        {HEAD "(let q f64 cat c x j z k)" SINK, NULL},
        {HEAD "(let q f64 cat c z k x j)" SINK, NULL},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        plan p;
        plan_parse(&p, list[i].text, strlen(list[i].text));
        bool good = list[i].message ? p.st == CLF_E_SYNTAX && strstr(p.err.text, list[i].message) : p.st == CLF_OK;
        if (!good) printf("\n    %s\n      gives: %s\n", list[i].text, p.err.text);
        CU_ASSERT(good);
        plan_close(&p);
    }
}

/* A part's axis is a loop of nobody else: a fold without `over` runs over the axis put together. */
static void test_loop(void) {
    static const char text[] = HEAD "(out S f64) (let q f64 cat c x j z k) (store Y q keep i c) (fold S SUM q keep))";
    plan p;
    plan_parse(&p, text, sizeof text - 1);
    CU_ASSERT_EQUAL_FATAL(p.st, CLF_OK);
    CU_ASSERT_EQUAL(p.c.value[4].axes, 1u | 1u << 3);
    CU_ASSERT_EQUAL(clf_sink_loop(&p.c, &p.c.sink[1]), 1u | 1u << 3);
    plan_close(&p);
}

int main(void) {
    CU_pSuite s;
    if (CU_initialize_registry() != CUE_SUCCESS) return CU_get_error();
    s = CU_add_suite("exam_cats", NULL, NULL);
    CU_add_test(s, "cbind in a chain", test_chain);
    CU_add_test(s, "an axis of another length", test_length);
    CU_add_test(s, "cumulated along rows", test_cumsum);
    CU_add_test(s, "refused", test_refused);
    CU_add_test(s, "loops", test_loop);
    CU_basic_set_mode(CU_BRM_VERBOSE);
    CU_basic_run_tests();
    unsigned failed = CU_get_number_of_failures();
    CU_cleanup_registry();
    return failed ? 1 : 0;
}
