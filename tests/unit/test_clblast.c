/* SPDX-License-Identifier: Apache-2.0
 * Products by the CLBlast that is installed, on PoCL: within the bound of a sum in any order, whatever is transposed, of buffers over the
 * host's memory and of copies; steps before and behind them; with the host, and two devices, in one plan. Where there is no CLBlast, or no
 * PoCL, nothing is checked: what does not depend on the library is in test_clblast_states.c. */
#include <time.h>

#include "tests/support/pinned_pair.h"
#include "tests/unit/clblast_testing.h"

static const char *const pointers[] = {"on", "off"};

static bool there(clf_ctx *c) {
    clf_device d = {.struct_size = sizeof d};
    return clf_device_at(c, 1, &d) && !strcmp(d.library, "clblast");
}

static clf_ctx *open_installed(const char *host_pointers) {
    clf_ctx *c = open_clblast("", host_pointers, "wait");
    if (c && there(c)) return c;
    if (c) clf_close(c);
    return NULL;
}

/* Small ones, such as make a library round up, wide and tall ones, and some beyond its kernel for small products. */
static void test_products(void) {
    static const size_t shape[][3] = {{2, 2, 1},   {2, 3, 2},    {5, 4, 300},    {33, 17, 29},   {2, 400, 9},
                                      {500, 2, 3}, {64, 64, 64}, {130, 257, 65}, {300, 280, 310}};
    for (int h = 0; h < 2; h++) {
        clf_ctx *c = open_installed(pointers[h]);
        if (!c) return;
        uint64_t done = 0;
        for (size_t i = 0; i < sizeof shape / sizeof *shape; i++)
            for (int v = 0; v < 8; v++, done++) {
                product_case p = {v & 1, v & 2, shape[i][0], shape[i][1], shape[i][2]};
                CU_ASSERT(product_right(c, v & 4 ? CLF_F32 : CLF_F64, &p));
            }
        CU_ASSERT_EQUAL(stats_of(c).launches_clblast, done);
        CU_ASSERT_EQUAL(stats_of(c).launches_library, done);
        clf_close(c);
    }
}

/* A vector, and nothing to add up: not for it. */
static void test_others(void) {
    static const product_case not [] = {
        {false, false, 1, 40, 30}, {false, false, 40, 1, 30}, {true, false, 1, 1, 30}, {true, true, 40, 1, 2}};
    clf_ctx *c = open_installed("off");
    if (!c) return;
    for (size_t i = 0; i < sizeof not / sizeof *not ; i++) CU_ASSERT(product_right(c, i % 2 ? CLF_F32 : CLF_F64, &not [i]));
    CU_ASSERT_EQUAL(read_f64(clf_sum(clf_matmul(clf_fill(c, CLF_F64, 3, 0, 1), clf_fill(c, CLF_F64, 0, 4, 1)))), 0);
    CU_ASSERT_EQUAL(stats_of(c).launches_clblast, 0);
    clf_close(c);
}

enum { N = 40 };

/* Whole numbers, so that every sum is exact. */
static clf_mat *whole(clf_ctx *c, clf_dtype t, int rows, int cols) {
    static double x[N * N];
    for (int i = 0; i < rows * cols; i++) x[i] = i % 5 - 1;
    return clf_cast(clf_matrix(c, CLF_F64, rows, cols, x), t);
}

static double computed(clf_ctx *c, clf_dtype t) {
    clf_mat *a = whole(c, t, N, N), *b = clf_add(clf_matmul(a, a), a);
    clf_mat *d = clf_matmul(clf_t(b), clf_mul(b, clf_num(c, 2)));
    return read_f64(clf_sum(clf_add(d, clf_matmul(b, clf_t(b)))));
}

/* A sparse matrix in cells, for a product of cells. */
static clf_mat *thinned(clf_ctx *c) {
    clf_mat *s = clf_rand(c, CLF_F64, N, N, 1, 1, 0.2, 7);
    return clf_sum(clf_matmul(clf_add(s, clf_num(c, 1)), clf_matmul(s, whole(c, CLF_F64, N, N))));
}

/* Its operands come from kernels and its results go to them, in one queue: of one matrix twice, too. */
static void test_between(void) {
    clf_ctx *host = open_host();
    for (int h = 0; h < 2; h++) {
        clf_ctx *c = open_installed(pointers[h]);
        if (!c) continue;
        CU_ASSERT_EQUAL(computed(c, CLF_F64), computed(host, CLF_F64));
        CU_ASSERT_EQUAL(computed(c, CLF_F32), computed(host, CLF_F32));
        clf_stats s = stats_of(c);
        CU_ASSERT(s.launches_clblast == 6 && s.launches_library == 6 && s.fallbacks == 0);
        if (h) CU_ASSERT(s.bytes_from_device < 100);
        CU_ASSERT_EQUAL(read_f64(thinned(c)), read_f64(thinned(host)));
        clf_close(c);
    }
    clf_close(host);
}

/* On devices that declare themselves fast at it, in one plan with the host: who makes the operands hands them over. */
static void test_planned(void) {
    clf_profile host, device[2];
    pinned_pair pair = {0};
    pinned_pair_contrast_two(&host, &device[0], &device[1]);
    for (int i = 0; i < 2; i++) {
        device[i].gemm_flops_per_s[0] = i ? 1e13 : 1e3; /* floats on the second */
        device[i].gemm_flops_per_s[1] = i ? 1e3 : 1e13;
        device[i].gemm_ns = 1;
    }
    host.library_flops_per_s[0] = host.library_flops_per_s[1] = 1e3;
    if (!pinned_pair_make(&pair, &host, &device[0]) || !pinned_pair_add(&pair, &device[1])) return;
    for (int h = 0; h < 2; h++) {
        static text_sink t;
        clf_ctx *c = pinned_pair_open(&pair), *alone = open_host();
        if (c) {
            CU_ASSERT_EQUAL(clf_set(c, "clblast", "on"), CLF_OK);
            CU_ASSERT_EQUAL(clf_set(c, "host_pointers", pointers[h]), CLF_OK);
            clf_mat *r = clf_sum(clf_matmul(whole(c, CLF_F64, N, N), clf_matmul(whole(c, CLF_F64, N, 9), whole(c, CLF_F64, 9, N))));
            if (there(c)) CU_ASSERT_EQUAL(clf_explain(1, &r, CLF_TEXT, 0, collect, empty_sink(&t)), CLF_OK);
            if (there(c) && !strstr(t.at, "clblast on 1: ")) printf("\n%s\n", t.at);
            if (there(c)) CU_ASSERT_PTR_NOT_NULL(strstr(t.at, "clblast on 1: "));
            for (int i = 0; i < 3; i++) {
                CU_ASSERT_EQUAL(computed(c, CLF_F64), computed(alone, CLF_F64));
                CU_ASSERT_EQUAL(computed(c, CLF_F32), computed(alone, CLF_F32));
            }
            if (there(c)) CU_ASSERT_EQUAL(stats_of(c).launches_clblast, 18);
            clf_close(c);
        }
        clf_close(alone);
    }
    pinned_pair_remove(&pair);
}

/* It compiles beside the kernels of others, and takes over. */
static void test_background(void) {
    clf_ctx *c = open_clblast("", "off", "background");
    for (int i = 1; c && there(c) && !stats_of(c).launches_clblast && i < 2000; i++) {
        product_case p = {i & 1, i & 2, 20 + (size_t)i % 50, 30, 25};
        CU_ASSERT(product_right(c, CLF_F32, &p));
        CU_ASSERT_EQUAL(read_f64(clf_sum(clf_add(whole(c, CLF_F64, N, N), clf_num(c, i)))), 1600.0 * (1 + i));
        nanosleep(&(struct timespec){0, 30000000}, NULL);
    }
    CU_ASSERT(!c || !there(c) || stats_of(c).launches_clblast == 1);
    if (c) clf_close(c);
}

/* Contexts come and go, and two are open at once: the tables that are the process's stay whole. */
static void test_contexts(void) {
    const product_case p = {true, false, 20, 30, 40};
    clf_ctx *first = open_installed("off");
    if (!first) return;
    CU_ASSERT(product_right(first, CLF_F32, &p));
    for (int i = 0; i < 2; i++) {
        clf_ctx *c = open_installed(pointers[i]);
        if (c) CU_ASSERT(product_right(c, CLF_F32, &p));
        if (c) clf_close(c);
        CU_ASSERT(product_right(first, CLF_F32, &p));
    }
    CU_ASSERT_EQUAL(stats_of(first).launches_clblast, 3);
    clf_close(first);
}

int main(void) {
    pinned_pair_two_devices();
    static const test_case tests[] = {{"products", test_products},
                                      {"what is not for it", test_others},
                                      {"between kernels", test_between},
                                      {"in one plan with others", test_planned},
                                      {"in the background", test_background},
                                      {"contexts", test_contexts}};
    return run_suite("clblast", tests, sizeof tests / sizeof *tests);
}
