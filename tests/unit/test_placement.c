/* SPDX-License-Identifier: Apache-2.0
 * Where steps run: decided by the figures of a profile, by allocation limits that cut operands in parts or keep a step on the host, by
 * settings that leave kernels to some steps only. The numbers are the same wherever they come from. */
#include <unistd.h>

#include "tests/unit/api_testing.h"

/* Operands go through buffers that are too small: cut in parts, or, when every part needs all of one, the step stays on the host. */
static void test_allocations(void) {
    static const char *const limit[][2] = {{"64K", "0"}, {"0", "300K"}, {"4M", "0"}, {"16K", "0"}, {"64K", "1G"}};
    clf_ctx *c = open_kernels();
    if (!c) return;
    enum { ROWS = 50, COLS = 1000 };
    double *data = malloc(sizeof *data * ROWS * COLS), sum = 0;
    for (int i = 0; i < ROWS * COLS; i++) data[i] = i % 97;
    CU_ASSERT_EQUAL(clf_set(c, "host_pointers", "off"), CLF_OK);
    for (int i = 0; i < ROWS * COLS; i++) sum += data[i] * data[i] + data[i % COLS];
    for (size_t i = 0; i < sizeof limit / sizeof *limit; i++) {
        CU_ASSERT_EQUAL(clf_set(c, "max_alloc", limit[i][0]), CLF_OK);
        CU_ASSERT_EQUAL(clf_set(c, "mem_limit", limit[i][1]), CLF_OK);
        clf_mat *x = clf_borrow(c, CLF_F64, ROWS, COLS, data, NULL, NULL), *row = clf_borrow(c, CLF_F64, 1, COLS, data, NULL, NULL);
        CU_ASSERT_EQUAL(read_f64(clf_sum(clf_add(clf_sqr(x), row))), sum);
        double small[COLS];
        CU_ASSERT_EQUAL(clf_read(clf_col_sums(clf_add(x, row)), small, sizeof small), CLF_OK);
        double fifth = ROWS * data[5];
        for (int k = 0; k < ROWS; k++) fifth += data[k * COLS + 5];
        CU_ASSERT_EQUAL(small[5], fifth);
        clf_mat *wide = clf_reshape(x, 2, ROWS * COLS / 2), *w = clf_reshape(clf_seq(c, 1, ROWS * COLS / 2, 1), 1, ROWS * COLS / 2);
        double all = 0;
        for (int k = 0; k < ROWS * COLS; k++) all += data[k] * (double)(k % (ROWS * COLS / 2) + 1);
        if (strcmp(limit[i][1], "300K") != 0) CU_ASSERT_DOUBLE_EQUAL(read_f64(clf_sum(clf_mul(wide, w))), all, 1e-9 * all);
    }
    free(data);
    clf_close(c);
}

static clf_mat *result_of(clf_ctx *c, const char *text, int n, const double *data) {
    clf_binding vars[] = {{"X", clf_borrow(c, CLF_F64, n, n, data, NULL, NULL)}, {"v", clf_borrow(c, CLF_F64, n, 1, data, NULL, NULL)}};
    clf_result r = {0};
    size_t one = 1;
    CU_ASSERT_EQUAL_FATAL(clf_parse(c, text, vars, 2, &r, &one), CLF_OK);
    return r.value;
}

/* Parts of a square matrix, beside a vector that is as long as it has rows but is read along its columns: every part needs all of it. */
static void test_square_parts(void) {
    enum { N = 300 };
    static const struct {
        const char *text;
        size_t cells;
    } cases[] = {{"X + t(v)", N * N},      {"X * t(v) + v", N * N},  {"t(X) + v", N * N},     {"X - t(X) * v", N * N},
                 {"colSums(X * t(v))", N}, {"rowSums(X * t(v))", N}, {"X %*% v", N},          {"t(X) %*% v", N},
                 {"rowSums(t(X) * X)", N}, {"colSums(t(X) * v)", N}, {"sum(X * t(v) * v)", 1}};
    clf_ctx *c = open_kernels(), *h = open_host();
    static double data[N * N], got[N * N], want[N * N];
    for (int i = 0; i < N * N; i++) data[i] = i % 89 + i / N;
    CU_ASSERT(!c || (clf_set(c, "host_pointers", "off") == CLF_OK && clf_set(c, "max_alloc", "64K") == CLF_OK));
    for (size_t t = 0; t < sizeof cases / sizeof *cases && c; t++) {
        clf_mat *m = result_of(c, cases[t].text, N, data), *same = result_of(h, cases[t].text, N, data);
        size_t bytes = cases[t].cells * sizeof *got;
        CU_ASSERT(clf_read(m, got, bytes) == CLF_OK && clf_read(same, want, bytes) == CLF_OK);
        if (memcmp(got, want, bytes)) printf("\n    %s differs\n", cases[t].text);
        CU_ASSERT(!memcmp(got, want, bytes));
    }
    if (c) CU_ASSERT(stats_of(c).launches_tier2 > sizeof cases / sizeof *cases);
    clf_close(c);
    clf_close(h);
}

/* What is worth a launch is decided by figures: those of a very fast device take large work there, and leave small work at home; those of
 * a very slow one leave everything. Small steps whose readers are on the device go with them. */
static void test_figures(void) {
    static const char *const speed[] = {"read_bytes_per_s 1e15 1e15 1e15 1e15\ncells_per_s.f64.ADD 1e15\ncells_per_s.f64.EXP 1e15\n"
                                        "cells_per_s.f64.POW 1e15\nlaunch_sync_ns 1\nlaunch_async_ns 1\n",
                                        "read_bytes_per_s 1 1 1 1\nlaunch_sync_ns 1e12\nlaunch_async_ns 1e12\n"};
    char path[64];
    snprintf(path, sizeof path, "settings_figures_%d", (int)getpid());
    for (int slow = 0; slow < 2; slow++) {
        clf_ctx *c = open_on(NULL);
        clf_device d = {.struct_size = sizeof d};
        write_file(path, speed[slow]);
        CU_ASSERT_EQUAL(clf_set(c, "profile_file", path), CLF_OK);
        CU_ASSERT_EQUAL(clf_set(c, "fuse", "none"), CLF_OK);
        bool device = clf_device_at(c, 1, &d);
        clf_mat *x = clf_rand(c, CLF_F64, 2000, 1000, 1, 2, 1, 3), *v = clf_reshape(clf_seq(c, 1, 1000, 1), 1, 1000);
        CU_ASSERT_EQUAL(clf_eval(2, (clf_mat *[]){x, v}), CLF_OK);
        clf_mat *row = clf_exp(clf_neg(v)), *big = clf_pow(clf_add(x, row), clf_num(c, 0.3)), *s = clf_sum(big);
        clf_mat *r[3] = {clf_add(clf_exp(clf_num(c, 0)), s), clf_order(clf_exp(clf_neg(v)), 1, false, true), s};
        CU_ASSERT_EQUAL(clf_eval(3, r), CLF_OK);
        CU_ASSERT_DOUBLE_EQUAL(read_f64(r[0]), read_f64(s) + 1, 1e-6);
        CU_ASSERT_EQUAL(stats_of(c).launches_tier2 > 0, device && !slow);
        if (device) {
            CU_ASSERT_EQUAL(unlink(path), 0);
            CU_ASSERT_EQUAL(clf_set(c, "profile_file", ""), CLF_OK);
            CU_ASSERT_EQUAL(clf_set(c, "profile_file", path), CLF_OK); /* which is gone */
            double w;
            expect_error(c, clf_read_f64(clf_sum(clf_pow(x, clf_num(c, 0.7))), &w), CLF_E_IO, "cannot open profile");
        }
        clf_close(c);
    }
    unlink(path);
}

/* The check of all results where one step has an operand too large for the device and another has not: both executors are at work, and
 * elementary functions may differ in their last bits without being wrong. */
static void test_mixed_check(void) {
    clf_ctx *c = open_kernels();
    if (!c) return;
    CU_ASSERT_EQUAL(clf_set(c, "check", "on"), CLF_OK);
    CU_ASSERT_EQUAL(clf_set(c, "host_pointers", "off"), CLF_OK);
    CU_ASSERT_EQUAL(clf_set(c, "max_alloc", "64K"), CLF_OK);
    clf_mat *x = clf_rand(c, CLF_F64, 2, 25000, 1, 2, 1, 3), *row = clf_rand(c, CLF_F64, 1, 25000, 1, 2, 1, 4);
    clf_mat *tall = clf_rand(c, CLF_F64, 5000, 4, 1, 2, 1, 5);
    CU_ASSERT_EQUAL(clf_eval(3, (clf_mat *[]){x, row, tall}), CLF_OK);
    clf_stats before = stats_of(c);
    clf_mat *r[3] = {clf_sum(clf_exp(clf_mul(x, row))), clf_sum(clf_exp(tall)), clf_add(clf_sqr(tall), clf_num(c, 1))};
    CU_ASSERT_EQUAL(clf_eval(3, r), CLF_OK);
    CU_ASSERT(stats_of(c).launches_tier0 > before.launches_tier0 && stats_of(c).launches_tier2 > before.launches_tier2);
    CU_ASSERT(read_f64(r[0]) > 50000 * 2.7 && read_f64(r[1]) > 20000 * 2.7);
    clf_close(c);
}

int main(void) {
    static const test_case tests[] = {{"allocation limits", test_allocations},
                                      {"parts of squares", test_square_parts},
                                      {"figures", test_figures},
                                      {"a mixed check", test_mixed_check}};
    return run_suite("placement", tests, sizeof tests / sizeof *tests);
}
