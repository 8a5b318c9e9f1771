/* SPDX-License-Identifier: Apache-2.0
 * The ten-cplan exam: operators that no template of today produces, written by hand in tests/golden/cplan. Each is read, checked, printed
 * back unchanged, and run by the reference executor against a plain loop here, at its own sizes and at others bound for one run.
 * Where the loop fixes every rounding the results agree to the bit. */
#include <math.h>

#include "tests/unit/exam_testing.h"

/* ---- stencil ------------------------------------------------------------------------------------------------------------- */

static void stencil_at(plan *p, int64_t n, int64_t m, const sizes *z) {
    double *a = noise_f64((size_t)(n * m), 1), *b = noise_f64((size_t)(n * m), 2), *want = noise_f64((size_t)(n * m), 3);
    clf_scalar fifth = clf_scalar_f64(0.2);
    for (int64_t i = 1; i + 1 < n; i++)
        for (int64_t j = 1; j + 1 < m; j++)
            want[(i - 1) * (m - 2) + j - 1] =
                (a[i * m + j] + a[(i - 1) * m + j] + a[(i + 1) * m + j] + a[i * m + j - 1] + a[i * m + j + 1]) * 0.2;
    run_ok(p, (void *[]){a}, &fifth, (void *[]){b}, z);
    CU_ASSERT(same_bits(b, want, (n - 2) * (m - 2)));
    free(a), free(b), free(want);
}

static void test_stencil(void) {
    plan p;
    open_golden(&p, "stencil");
    stencil_at(&p, 7, 9, NULL);
    sizes z = declared(&p.c);
    z.axis[0] = 21, z.axis[1] = 2;
    dims2(z.in, 0, 23, 4);
    dims2(z.out, 0, 21, 2);
    stencil_at(&p, 23, 4, &z);
    z.in[1] = 3; /* the matrix is narrower than the axes say: an index leaves it */
    double x[23 * 4] = {0}, y[42];
    clf_scalar s = clf_scalar_f64(1);
    clf_bind b = {.in = (void *[]){x}, .param = &s, .out = (void *[]){y}, .axis_n = z.axis, .in_dim = z.in, .out_dim = z.out};
    CU_ASSERT_EQUAL(plan_run(&p, &b), CLF_E_SHAPE);
    plan_close(&p);
}

/* ---- filter, group-by ---------------------------------------------------------------------------------------------------- */

static void filter_at(plan *p, int64_t n, const sizes *z) {
    double *x = noise_f64((size_t)n, 4), *val = noise_f64((size_t)n, 5);
    int64_t *pos = calloc((size_t)n, sizeof *pos), count = -1, k = 0;
    clf_scalar limit = clf_scalar_f64(0.25);
    run_ok(p, (void *[]){x}, &limit, (void *[]){pos, val, &count}, z);
    for (int64_t i = 0; i < n; i++) {
        if (!(x[i] > 0.25)) continue;
        CU_ASSERT(k < count && pos[k] == i && val[k] == x[i]);
        k++;
    }
    CU_ASSERT(k == count && k > 0 && k < n);
    free(x), free(val), free(pos);
}

static void test_filter(void) {
    plan p;
    open_golden(&p, "filter");
    filter_at(&p, 100, NULL);
    sizes z = declared(&p.c);
    z.axis[0] = z.in[0] = z.out[0] = z.out[CLF_MAX_RANK] = 1234;
    filter_at(&p, 1234, &z);
    z.out[CLF_MAX_RANK] = 3; /* room for three records only */
    double *x = noise_f64(1234, 4), val[3];
    int64_t pos[1234], count;
    clf_scalar limit = clf_scalar_f64(0.25);
    clf_bind b = {
        .in = (void *[]){x}, .param = &limit, .out = (void *[]){pos, val, &count}, .axis_n = z.axis, .in_dim = z.in, .out_dim = z.out};
    CU_ASSERT_EQUAL(plan_run(&p, &b), CLF_E_SHAPE);
    CU_ASSERT_PTR_NOT_NULL(strstr(p.err.text, "more than the 3 records"));
    free(x);
    plan_close(&p);
}

static void group_at(plan *p, int64_t n, const sizes *z) {
    enum { KEYS = 41 };
    double *x = noise_f64((size_t)n, 6), sum[KEYS] = {0}, got[50];
    int32_t *key = malloc((size_t)n * sizeof *key);
    int64_t keys[50], count = -1, g = 0, seen[KEYS] = {0};
    for (int64_t i = 0; i < n; i++) {
        key[i] = (int32_t)(i * i * 7 % KEYS) - 20;
        sum[key[i] + 20] += x[i];
        seen[key[i] + 20]++;
    }
    run_ok(p, (void *[]){key, x}, NULL, (void *[]){got, keys, &count}, z);
    for (int k = 0; k < KEYS; k++) {
        if (!seen[k]) continue;
        CU_ASSERT(g < count && keys[g] == k - 20 && same_bits(&got[g], &sum[k], 1));
        g++;
    }
    CU_ASSERT(g == count && g > 1);
    free(x), free(key);
}

static void test_group(void) {
    plan p;
    open_golden(&p, "group_by");
    group_at(&p, 200, NULL);
    sizes z = declared(&p.c);
    z.axis[0] = z.in[0] = z.in[CLF_MAX_RANK] = 3000;
    group_at(&p, 3000, &z);
    plan_close(&p);
}

/* ---- products ------------------------------------------------------------------------------------------------------------ */

static void matmul_at(plan *p, int64_t m, int64_t n, int64_t k, const sizes *z) {
    double *a = noise_f64((size_t)(m * k), 7), *b = noise_f64((size_t)(k * n), 8), *r = noise_f64((size_t)n, 9),
           *c = noise_f64((size_t)(m * n), 10);
    double *want = noise_f64((size_t)(m * n), 11), *term = noise_f64((size_t)k, 12), total = -1;
    clf_scalar param[2] = {clf_scalar_f64(1.7), clf_scalar_f64(0)};
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            for (int64_t q = 0; q < k; q++) term[q] = fabs(a[i * k + q]) * (b[q * n + j] * 1.7);
            double x = tree_sum(term, k) + r[j];
            want[i * n + j] = x > 0 ? x : 0;
        }
    run_ok(p, (void *[]){a, b, r}, param, (void *[]){c, &total}, z);
    CU_ASSERT(same_bits(c, want, m * n));
    double sum = tree_sum(want, m * n);
    CU_ASSERT(same_bits(&total, &sum, 1) && total > 0);
    free(a), free(b), free(r), free(c), free(want), free(term);
}

static void test_matmul(void) {
    plan p;
    open_golden(&p, "matmul");
    matmul_at(&p, 6, 5, 600, NULL);
    sizes z = declared(&p.c);
    z.axis[0] = 3, z.axis[1] = 17, z.axis[2] = 1030;
    dims2(z.in, 0, 3, 1030);
    dims2(z.in, 1, 1030, 17);
    dims2(z.in, 2, 1, 17);
    dims2(z.out, 0, 3, 17);
    matmul_at(&p, 3, 17, 1030, &z);
    plan_close(&p);
}

static void mmchain_at(plan *p, int64_t b, int64_t n, int64_t m, int lanes, const sizes *z) {
    double *x = noise_f64((size_t)(n * m), 13), *v = noise_f64((size_t)(b * m), 14), *w = noise_f64((size_t)(b * n), 15),
           *y = noise_f64((size_t)(b * m), 16);
    double *scaled = noise_f64((size_t)(n * m), 17), *term = noise_f64((size_t)m, 18);
    run_ok(p, (void *[]){x, v, w}, NULL, (void *[]){y}, z);
    for (int64_t f = 0; f < b; f++) {
        for (int64_t i = 0; i < n; i++) {
            for (int64_t j = 0; j < m; j++) term[j] = x[i * m + j] * v[f * m + j];
            double row = w[f * n + i] * tree_sum(term, m);
            for (int64_t j = 0; j < m; j++) scaled[i * m + j] = row * x[i * m + j];
        }
        for (int64_t j = 0; j < m; j++) {
            double want = tree_sum_of(scaled + j, n, m, lanes, 16); /* each model as if it ran alone: columns of n x m */
            CU_ASSERT(same_bits(&y[f * m + j], &want, 1));
        }
    }
    free(x), free(v), free(w), free(y), free(scaled), free(term);
}

static void test_mmchain(void) {
    plan p;
    open_golden(&p, "mmchain");
    mmchain_at(&p, 3, 70, 11, 8, NULL); /* 8 / gcd(11, 8) lanes */
    sizes z = declared(&p.c);
    z.axis[0] = 2, z.axis[1] = 133, z.axis[2] = 4;
    dims2(z.in, 0, 133, 4);
    dims2(z.in, 1, 2, 4);
    dims2(z.in, 2, 2, 133);
    dims2(z.out, 0, 2, 4);
    mmchain_at(&p, 2, 133, 4, 2, &z);
    plan_close(&p);
}

/* ---- dictionary, entries, segments --------------------------------------------------------------------------------------- */

static void dictionary_at(plan *p, int64_t n, int64_t entries, int64_t m, const sizes *z) {
    double *dict = noise_f64((size_t)(entries * m), 19), *v = noise_f64((size_t)m, 20), *y = noise_f64((size_t)n, 21),
           *dot = noise_f64((size_t)n, 22), total = 0;
    double *term = noise_f64((size_t)m, 23);
    uint8_t *code = malloc((size_t)n);
    for (int64_t i = 0; i < n; i++) code[i] = (uint8_t)(i * 5 / 3 % entries);
    clf_dictionary x = {.code = code, .code_dtype = CLF_U8, .value = dict, .rows = n, .entries = entries, .cols = m};
    run_ok(p, (void *[]){&x, v}, NULL, (void *[]){y, &total}, z);
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < m; j++) term[j] = dict[code[i] * m + j] * v[j];
        dot[i] = tree_sum(term, m);
        double want = exp(-dot[i]);
        CU_ASSERT(fabs(y[i] - want) <= 4e-16 * want);
    }
    double sum = tree_sum(dot, n);
    CU_ASSERT(same_bits(&total, &sum, 1));
    code[n - 1] = (uint8_t)entries; /* a code the dictionary does not have */
    clf_bind b = {.in = (void *[]){&x, v}, .out = (void *[]){y, &total}};
    if (z) b.axis_n = z->axis, b.in_dim = z->in, b.out_dim = z->out;
    CU_ASSERT_EQUAL(plan_run(p, &b), CLF_E_SHAPE);
    free(dict), free(v), free(y), free(dot), free(term), free(code);
}

static void test_dictionary(void) {
    plan p;
    open_golden(&p, "dictionary");
    dictionary_at(&p, 40, 3, 4, NULL);
    sizes z = declared(&p.c);
    z.axis[0] = 700, z.axis[1] = 9, z.axis[2] = 6;
    dims2(z.in, 0, 700, 6);
    z.in[CLF_MAX_RANK] = 6;
    z.out[0] = 700;
    dictionary_at(&p, 700, 9, 6, &z);
    plan_close(&p);
}

static void outer_at(plan *p, int64_t n, int64_t m, int64_t rank, int64_t every, const sizes *z) {
    double *u = noise_f64((size_t)(n * rank), 24), *v = noise_f64((size_t)(m * rank), 25), *r = noise_f64((size_t)n, 26),
           *o = noise_f64((size_t)(n * rank), 27);
    double *val = noise_f64((size_t)(n * m), 28), *term = noise_f64((size_t)(m + rank), 29);
    int64_t *ptr = calloc((size_t)n + 1, sizeof *ptr), nnz = 0;
    int32_t *idx = malloc((size_t)(n * m) * sizeof *idx);
    for (int64_t i = 0; i < n; i++, ptr[i] = nnz)
        for (int64_t j = 0; j < m && i != 2; j++)
            if ((i * 31 + j * 17) % every == 0) idx[nnz++] = (int32_t)j; /* row 2 is empty */
    clf_csr s = {.ptr = ptr, .idx = idx, .val = val, .rows = n, .cols = m, .nnz = nnz};
    run_ok(p, (void *[]){&s, u, v, r}, NULL, (void *[]){o}, z);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < rank; j++) {
            for (int64_t e = ptr[i]; e < ptr[i + 1]; e++) {
                for (int64_t l = 0; l < rank; l++) term[m + l] = u[i * rank + l] * v[idx[e] * rank + l];
                term[e - ptr[i]] = val[e] * tree_sum(term + m, rank) * v[idx[e] * rank + j];
            }
            double want = tree_sum(term, ptr[i + 1] - ptr[i]) * r[i];
            CU_ASSERT(same_bits(&o[i * rank + j], &want, 1));
        }
    CU_ASSERT(nnz > n);
    free(u), free(v), free(r), free(o), free(val), free(term), free(ptr), free(idx);
}

static void test_outer(void) {
    plan p;
    open_golden(&p, "outer_right");
    outer_at(&p, 8, 20, 3, 5, NULL);
    sizes z = declared(&p.c);
    z.axis[0] = 5, z.axis[1] = 2, z.axis[3] = 2;
    dims2(z.in, 0, 5, 900);
    dims2(z.in, 1, 5, 2);
    dims2(z.in, 2, 900, 2);
    dims2(z.in, 3, 5, 1);
    dims2(z.out, 0, 5, 2);
    outer_at(&p, 5, 900, 2, 2, &z);
    plan_close(&p);
}

static void segments_at(plan *p, const int64_t *offset, int64_t segments, const sizes *z) {
    int64_t n = offset[segments];
    double *x = noise_f64((size_t)n, 30), *y = noise_f64((size_t)n, 31), *mean = noise_f64((size_t)segments, 32);
    run_ok(p, (void *[]){(void *)offset, x}, NULL, (void *[]){y, mean}, z);
    for (int64_t s = 0; s < segments; s++) {
        int64_t len = offset[s + 1] - offset[s];
        double want = tree_sum(x + offset[s], len) / (double)len;
        CU_ASSERT(len ? same_bits(&mean[s], &want, 1) : isnan(mean[s]));
        for (int64_t i = offset[s]; i < offset[s + 1]; i++) CU_ASSERT_EQUAL(y[i], x[i] / want);
    }
    free(x), free(y), free(mean);
}

static void test_segments(void) {
    plan p;
    open_golden(&p, "segments");
    segments_at(&p, (const int64_t[]){0, 9, 10, 10, 25}, 4, NULL);
    sizes z = declared(&p.c);
    z.axis[0] = z.out[CLF_MAX_RANK] = 2;
    z.in[0] = 3;
    z.in[CLF_MAX_RANK] = z.out[0] = 1400;
    segments_at(&p, (const int64_t[]){0, 1300, 1400}, 2, &z);
    int64_t backwards[] = {0, 1300, 1299};
    double x[1400] = {0}, y[1400], mean[2];
    clf_bind b = {.in = (void *[]){backwards, x}, .out = (void *[]){y, mean}, .axis_n = z.axis, .in_dim = z.in, .out_dim = z.out};
    CU_ASSERT_EQUAL(plan_run(&p, &b), CLF_E_SHAPE);
    plan_close(&p);
}

/* ---- rows ---------------------------------------------------------------------------------------------------------------- */

static void softmax_at(plan *p, int64_t n, int64_t m, const sizes *z) {
    double *x = noise_f64((size_t)(n * m), 33), *y = noise_f64((size_t)(n * m), 34);
    run_ok(p, (void *[]){x}, NULL, (void *[]){y}, z);
    for (int64_t i = 0; i < n; i++) {
        double top = x[i * m], sum = 0;
        for (int64_t j = 0; j < m; j++) top = x[i * m + j] > top ? x[i * m + j] : top;
        for (int64_t j = 0; j < m; j++) sum += exp(x[i * m + j] - top);
        for (int64_t j = 0; j < m; j++) {
            double want = exp(x[i * m + j] - top) / sum;
            CU_ASSERT(fabs(y[i * m + j] - want) <= 2e-16 * (double)(m + 4) * want); /* sums of m terms of one sign, exp within an ulp */
        }
    }
    free(x), free(y);
}

static void test_softmax(void) {
    plan p;
    open_golden(&p, "softmax");
    softmax_at(&p, 5, 530, NULL);
    sizes z = declared(&p.c);
    z.axis[0] = 40, z.axis[1] = 3;
    dims2(z.in, 0, 40, 3);
    dims2(z.out, 0, 40, 3);
    softmax_at(&p, 40, 3, &z);
    plan_close(&p);
}

static void argmax_at(plan *p, int64_t n, int64_t m, const sizes *z) {
    uint64_t seed = 35;
    float *x = malloc((size_t)(n * m) * sizeof *x);
    int64_t *at = malloc((size_t)n * sizeof *at);
    for (int64_t i = 0; i < n * m; i++) x[i] = (float)(int)(noise(&seed) * 20); /* many ties */
    x[m + m / 2] = NAN;                                                         /* row 1: the NaN wins */
    run_ok(p, (void *[]){x}, NULL, (void *[]){at}, z);
    for (int64_t i = 0; i < n; i++) {
        int64_t best = 0;
        for (int64_t j = 1; j < m; j++) best = x[i * m + j] > x[i * m + best] ? j : best;
        CU_ASSERT_EQUAL(at[i], i == 1 ? m / 2 + 1 : best + 1);
    }
    free(x), free(at);
}

static void test_argmax(void) {
    plan p;
    open_golden(&p, "argmax");
    argmax_at(&p, 7, 1100, NULL);
    sizes z = declared(&p.c);
    z.axis[0] = z.out[0] = 3, z.axis[1] = 50;
    dims2(z.in, 0, 3, 50);
    argmax_at(&p, 3, 50, &z);
    plan_close(&p);
}

int main(void) {
    CU_initialize_registry();
    CU_pSuite s = CU_add_suite("the ten-cplan exam", NULL, NULL);
    CU_add_test(s, "5-point stencil over views", test_stencil);
    CU_add_test(s, "filter", test_filter);
    CU_add_test(s, "group-by sum", test_group);
    CU_add_test(s, "matrix product with prologue and epilogue", test_matmul);
    CU_add_test(s, "dictionary Row chain", test_dictionary);
    CU_add_test(s, "stacked mmchain", test_mmchain);
    CU_add_test(s, "Outer-right with row epilogue", test_outer);
    CU_add_test(s, "softmax", test_softmax);
    CU_add_test(s, "segment loop", test_segments);
    CU_add_test(s, "argmax", test_argmax);
    CU_basic_run_tests();
    int bad = CU_get_number_of_failures() > 0;
    CU_cleanup_registry();
    return bad;
}
