/* SPDX-License-Identifier: Apache-2.0
 * row.chunk: cplans in row form over dense operands, run on the first OpenCL device against the reference executor: same bits. */
#include <CUnit/Basic.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/net.h"
#include "tests/support/text_case.h"
#include "tests/unit/api_testing.h"
#include "tests/unit/row_texts.h"

/* ---- running ---- */

static int64_t most_rows = INT64_MAX, most_cells = INT64_MAX; /* an interpreter of kernels gets smaller shapes */
static bool takes(text_shape *s) {
    if (s->a > most_rows) s->a = most_rows;
    return s->a * s->b * (s->c ? s->c : 1) <= most_cells;
}

static text_suite suite = {.skel = "row.chunk", .letters = "nmk", .other = sum_of, .takes = takes};
#define CHECK(text, ...) TEXT_CHECK(&suite, text, __VA_ARGS__)

/* ---- matrix and vector ---- */

static void test_mvchain(void) {
    CHECK(mvchain, {1000, 10, 0, "f64", 1}, {5003, 10, 0, "f64", 2}, {777, 100, 0, "f64", 2}, {300, 1000, 0, "f64", 1},
          {90, 5000, 0, "f64", 3}, {501, 100, 0, "f32", 1}, {200, 1003, 0, "f32", 2}, {0, 10, 0, "f64", 1}, {1, 1, 0, "f64", 1},
          {1, 7, 0, "f64", 1}, {37, 1, 0, "f64", 1}, {64, 8, 0, "f64", 1}, {33, 129, 0, "f64", 1}, {5, 513, 0, "f64", 1},
          {40, 31, 0, "i64", 1}, {40, 31, 0, "i32", 1}, {7, 0, 0, "f64", 1});
}

static void test_vectors(void) {
    CHECK(xtxv, {1029, 13, 0, "f64", 2}, {65, 600, 0, "f32", 1});
    CHECK(xv, {1029, 13, 0, "f64", 1}, {66, 1600, 0, "f32", 2}, {3, 128, 0, "f64", 1}, {2, 0, 0, "f64", 1});
    CHECK(xtv, {1029, 13, 0, "f64", 3}, {66, 1600, 0, "f64", 1});
    CHECK(row_norms, {131, 13, 0, "f64", 1}, {66, 530, 0, "f32", 2});
    CHECK(vector_dot, {33, 20, 0, "f64", 1}, {9, 1200, 0, "f64", 1});
}

/* ---- matrix and matrix ---- */

static void test_few_columns(void) {
    CHECK(mmchain, {500, 100, 2, "f64", 2}, {100, 10, 4, "f64", 1}, {77, 1000, 3, "f64", 1}, {50, 37, 1, "f64", 1}, {50, 1037, 2, "f32", 1},
          {60, 40, 4, "f32", 1}, {0, 40, 2, "f64", 1}, {3, 5, 3, "i64", 1});
}

static void test_many_columns(void) {
    CHECK(mmchain, {500, 100, 8, "f64", 2}, {301, 10, 5, "f64", 1}, {120, 1000, 8, "f64", 1}, {77, 100, 32, "f64", 1},
          {77, 530, 32, "f64", 1}, {60, 1100, 13, "f64", 2}, {40, 9, 128, "f64", 1}, {61, 37, 10, "f32", 1}, {61, 700, 20, "f32", 1},
          {1, 3, 7, "f64", 1}, {20, 1, 6, "f64", 1}, {19, 2, 50, "f64", 1}, {30, 12, 9, "i32", 1});
}

static void test_products(void) {
    CHECK(mlogreg, {500, 100, 8, "f64", 2}, {91, 300, 5, "f64", 1}, {91, 30, 3, "f64", 1}, {70, 40, 24, "f32", 1});
    CHECK(product, {131, 10, 3, "f64", 1}, {67, 700, 9, "f64", 2}, {9, 1, 1, "f64", 1}, {5, 0, 6, "f64", 1});
    CHECK(product_folds, {131, 30, 11, "f64", 2}, {131, 30, 3, "f32", 1});
    CHECK(product_of_cells, {70, 33, 6, "f64", 1}, {30, 700, 2, "f64", 1}, {30, 700, 12, "f64", 1});
    CHECK(product_t, {131, 33, 3, "f64", 1}, {61, 700, 9, "f64", 2}, {31, 40, 200, "f64", 1}, {31, 40, 7, "f32", 1}, {61, 100, 5, "f64", 1},
          {23, 700, 6, "f64", 1}, {61, 33, 5, "f32", 1});
    CHECK(mmchain_t, {131, 33, 3, "f64", 1}, {61, 600, 9, "f64", 2}, {31, 40, 200, "f64", 1});
    CHECK(there_and_back, {230, 9, 11, "f64", 1}, {61, 33, 3, "f64", 2}, {61, 40, 100, "f64", 1}, {31, 9, 20, "f32", 1});
    CHECK(there_and_back_t, {230, 9, 11, "f64", 1}, {61, 33, 3, "f64", 1}, {61, 4, 30, "f64", 2}, {31, 9, 20, "f32", 1});
    CHECK(cross, {131, 33, 3, "f64", 1}, {131, 33, 20, "f64", 2}, {131, 300, 200, "f64", 1}, {40, 9, 200, "f32", 1});
}

/* Texts for 32 wide registers and for fewer, whichever this device has: shares of the columns that are even and that are not, passes of
 * four and of eight rows; sums in tiles, vectors by threes, twos and one. */
static void test_registers(void) {
    static const char *const registers[] = {"-DCLF_WIDE_REGISTERS=0", "-DCLF_WIDE_REGISTERS=1"};
    for (int i = 0; i < 2; i++) {
        jobs.options = registers[i];
        CHECK(mmchain, {77, 100, 32, "f64", 1}, {77, 530, 29, "f64", 2}, {500, 100, 4, "f64", 2}, {61, 700, 20, "f32", 1});
        CHECK(product, {67, 700, 9, "f64", 2}, {67, 5000, 20, "f32", 1}, {131, 90, 7, "f64", 1});
        CHECK(product_t, {61, 100, 5, "f64", 1}, {31, 700, 200, "f64", 1});
        CHECK(cross, {63, 70, 66, "f64", 1}, {65, 72, 80, "f64", 2}, {131, 90, 145, "f32", 1});
        CHECK(gram, {65, 100, 0, "f64", 2});
    }
    jobs.options = NULL;
}

/* Few cells of the first side by more of the second are taken the other way round, and written as they were asked for. */
static void test_turned(void) {
    CHECK(cross, {131, 5, 100, "f64", 2}, {133, 6, 40, "f32", 1}, {90, 3, 9, "f64", 1}, {40, 7, 6000, "f64", 1}, {131, 20, 300, "f64", 2},
          {61, 100, 129, "f32", 1}, {37, 7, 65, "i64", 1}, {1, 2, 3, "f64", 1}, {0, 2, 30, "f64", 1});
}

/* Sums of two wide sides go through registers in tiles, some rows of deep buffers at a time; blocks of few rows and of many. */
static void test_tiles(void) {
    CHECK(cross, {1, 65, 65, "f64", 1}, {63, 70, 66, "f64", 1}, {64, 72, 88, "f64", 1}, {65, 128, 129, "f64", 2}, {1300, 65, 97, "f64", 2},
          {4200, 66, 65, "f64", 1}, {64, 65, 80, "f32", 1}, {131, 90, 145, "f32", 2}, {700, 81, 200, "f32", 1}, {90, 65, 70, "i64", 1},
          {20, 1500, 600, "f64", 1}, {0, 70, 70, "f64", 1});
    CHECK(weighted, {131, 65, 66, "f64", 1}, {70, 130, 70, "f64", 2}, {200, 70, 150, "f64", 1}, {131, 80, 96, "f32", 1},
          {300, 140, 65, "f32", 2}, {131, 30, 20, "f64", 1});
}

/* Two matrices that hold the same are not known to. */
static void check_equal_sides(text_shape shape) {
    kernel_job j;
    clf_sched s;
    clf_err err = {0};
    text_planned(&suite, &j, cross, shape, &s);
    job_memory(&j, JOB_REAL, 0);
    memcpy(j.in[1], j.in[0], j.in_bytes[0]);
    CU_ASSERT_EQUAL_FATAL(job_kernel(&j, jobs_skel(suite.skel), shape.parts, &err), CLF_OK);
    CU_ASSERT_EQUAL_FATAL(job_reference(&j, &err), CLF_OK);
    CU_ASSERT_EQUAL(job_wrong(&j, 0, 0), 0);
    job_end(&j);
}

static double adds_of(const char *text, text_shape shape) {
    kernel_job j;
    clf_sched s;
    clf_facts f;
    text_planned(&suite, &j, text, shape, &s);
    s.skel->facts(&j.c, &jobs.profile, &s, &f);
    job_end(&j);
    return f.cells[1][CLF_CLASS_ADD];
}

/* Where both sides are the same half of the sums are made, and mirrored. */
static void test_symmetric(void) {
    static const text_shape one = {131, 70, 70, "f64", 1};
    const double half = 131 * 70 * 70;
    CU_ASSERT_EQUAL(adds_of(cross, one), 2 * half);
    CU_ASSERT_EQUAL(adds_of(gram, one), half);
    CU_ASSERT_TRUE(adds_of(gram_made, one) < 2 * half);
    CU_ASSERT_EQUAL(adds_of(gram_columns, one), 2 * half);
    CU_ASSERT_TRUE(adds_of(gram_terms, one) > 2 * half);
    CU_ASSERT_TRUE(adds_of(gram_weighted, one) >= 2 * half);
    CHECK(gram, {1, 65, 0, "f64", 1}, {63, 72, 0, "f64", 1}, {65, 100, 0, "f64", 2}, {1300, 65, 0, "f64", 2}, {4200, 66, 0, "f64", 1},
          {200, 129, 0, "f64", 1}, {700, 257, 0, "f64", 2}, {131, 65, 0, "f32", 2}, {64, 100, 0, "f32", 1}, {300, 129, 0, "f32", 1},
          {90, 257, 0, "f32", 1}, {90, 70, 0, "i64", 1}, {131, 100, 0, "i32", 1}, {131, 128, 0, "f64", 1}, {0, 70, 0, "f64", 1});
    CHECK(gram_made, {131, 65, 0, "f64", 2}, {70, 100, 0, "f64", 1}, {200, 130, 0, "f64", 2}, {131, 81, 0, "f32", 1},
          {300, 257, 0, "f32", 2}, {70, 70, 0, "i64", 1});
    CHECK(gram_columns, {131, 65, 0, "f64", 1}, {70, 129, 0, "f64", 2}, {131, 90, 0, "f32", 1});
    CHECK(gram_terms, {131, 65, 0, "f64", 1}, {70, 129, 0, "f64", 2}, {131, 90, 0, "f32", 1});
    CHECK(gram_weighted, {131, 65, 0, "f64", 1}, {70, 129, 0, "f64", 2}, {131, 90, 0, "f32", 1});
    check_equal_sides((text_shape){131, 100, 100, "f64", 2});
    check_equal_sides((text_shape){131, 129, 129, "f32", 1});
}

/* ---- rows ---- */

/* Short rows with folds inside them are taken a lane each; what is left of a block's rows, and rows too long or too few, is not. */
static void test_rows_in_lanes(void) {
    enum { TURNED = 1 << 10 };
    static const struct {
        const char *text, *type;
        int64_t n, m, k;
        bool turned;
    } some[] = {{nearest_t, "f64", 64, 10, 5, true}, {nearest_t, "f64", 7, 10, 5, false},  {nearest, "f64", 64, 16, 15, true},
                {nearest, "f64", 64, 16, 16, false}, {nearest_t, "f64", 64, 16, 16, true}, {nearest, "f64", 64, 17, 5, false},
                {nearest, "f32", 64, 10, 5, true},   {nearest, "f32", 15, 10, 5, false},   {row_leaves, "f64", 64, 3, 9, true},
                {product, "f64", 64, 3, 9, false},   {mvchain, "f64", 64, 10, 0, false},   {softmax, "f64", 64, 10, 0, true}};
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
        kernel_job j;
        clf_sched s;
        text_planned(&suite, &j, some[i].text, (text_shape){some[i].n, some[i].m, some[i].k, some[i].type, 1}, &s);
        CU_ASSERT_EQUAL((s.variant & TURNED) != 0, some[i].turned);
        job_end(&j);
    }
    CHECK(nearest, {131, 10, 5, "f64", 2}, {1000, 16, 16, "f64", 1}, {8, 1, 1, "f64", 1}, {133, 3, 2, "f64", 3}, {77, 9, 12, "f64", 1},
          {2000, 11, 4, "f64", 2}, {131, 10, 5, "f32", 2}, {333, 16, 15, "f32", 1}, {67, 3, 2, "f32", 1}, {45, 10, 5, "i64", 1},
          {64, 17, 5, "f64", 1}, {9, 10, 5, "f64", 1});
    CHECK(nearest_t, {131, 10, 5, "f64", 1}, {1000, 16, 16, "f64", 2}, {8, 1, 1, "f64", 1}, {1333, 4, 2, "f64", 1}, {77, 9, 12, "f64", 1},
          {64, 8, 8, "f64", 1}, {45, 12, 3, "i64", 1}, {131, 10, 5, "f32", 1}, {64, 16, 16, "f32", 2}, {37, 4, 9, "f32", 1});
    CHECK(nearest_first, {131, 10, 5, "f64", 2}, {300, 5, 12, "f64", 1}, {45, 16, 2, "i64", 1}, {131, 10, 5, "f32", 2},
          {70, 9, 16, "f32", 1}, {45, 7, 9, "i32", 1});
    CHECK(row_leaves, {131, 10, 5, "f64", 2}, {333, 3, 16, "f64", 1}, {60, 16, 11, "f64", 1}, {17, 1, 1, "f64", 1}, {70, 33, 20, "f64", 1},
          {145, 10, 7, "f32", 1}, {70, 2, 13, "f32", 2});
}

static void test_rows(void) {
    CHECK(softmax, {131, 10, 0, "f64", 1}, {33, 530, 0, "f64", 2}, {12, 2000, 0, "f32", 1}, {0, 5, 0, "f64", 1});
    CHECK(scaled, {131, 10, 0, "f64", 1}, {33, 530, 0, "f64", 2}, {33, 530, 0, "f32", 1});
    CHECK(row_max, {131, 10, 0, "f64", 2}, {133, 530, 0, "f64", 1}, {45, 21, 0, "f32", 1});
    CHECK(scan, {131, 10, 0, "f64", 1}, {33, 530, 0, "f64", 2}, {33, 53, 0, "f32", 1}, {20, 20, 0, "i64", 1});
    CHECK(positions, {131, 10, 0, "f64", 1}, {33, 530, 0, "f32", 2});
    CHECK(row_scalars, {131, 10, 0, "f64", 2}, {4096, 4, 0, "f64", 2}, {67, 120, 0, "f64", 1}, {4099, 19, 0, "f64", 3},
          {133, 12, 0, "f32", 1}, {45, 40, 0, "f32", 2}, {9, 700, 0, "f64", 1}, {7, 3, 0, "f64", 1}, {0, 3, 0, "f64", 1});
}

/* Rows that are best read one after the other, and have much to compute once a row: as many as a vector has lanes go through that together. */
static void test_batches(void) {
    enum { BATCH = 1 << 9 };
    const clf_profile before = jobs.profile;
    kernel_job j;
    clf_sched s;
    jobs.profile.rows_at_once = 1;
    text_planned(&suite, &j, row_scalars, (text_shape){67, 120, 0, "f64", 1}, &s);
    CU_ASSERT((s.variant & BATCH) != 0 && (s.variant & 255) > 1);
    job_end(&j);
    CHECK(row_scalars, {67, 120, 0, "f64", 1}, {4099, 19, 0, "f64", 3}, {45, 40, 0, "f32", 2}, {150, 40, 0, "f32", 1});
    jobs.profile = before;
}

static void test_cats(void) {
    CHECK(cat_chain, {131, 10, 0, "f64", 1}, {5003, 100, 0, "f64", 2}, {33, 530, 0, "f64", 2}, {70, 127, 0, "f64", 1},
          {70, 128, 0, "f64", 1}, {53, 31, 0, "f32", 1}, {19, 700, 0, "f32", 2}, {20, 20, 0, "i64", 1}, {20, 17, 0, "i32", 1},
          {0, 5, 0, "f64", 1}, {1, 1, 0, "f64", 1}, {5, 0, 0, "f64", 1});
    CHECK(cat_scan, {131, 10, 0, "f64", 1}, {33, 330, 0, "f64", 2}, {33, 53, 0, "f32", 1}, {20, 20, 0, "i64", 1}, {3, 1, 0, "f64", 1});
    CHECK(cat_two, {131, 10, 7, "f64", 2}, {33, 330, 200, "f64", 2}, {33, 53, 76, "f32", 1}, {20, 100, 20, "f64", 1},
          {9, 100, 600, "f64", 1}, {9, 0, 6, "f64", 1}, {9, 1, 1, "i64", 1}, {0, 3, 4, "f64", 1});
    CHECK(cat_vectors, {131, 10, 7, "f64", 2}, {33, 330, 20, "f64", 1}, {33, 53, 6, "f32", 1}, {9, 1, 150, "f64", 1});
}

static void test_totals(void) {
    CHECK(totals, {131, 10, 0, "f64", 2}, {133, 530, 0, "f64", 3}, {45, 21, 0, "f32", 1}, {0, 4, 0, "f64", 1});
    CHECK(annihilating, {131, 10, 3, "f64", 2}, {133, 530, 9, "f64", 1}, {45, 21, 6, "f32", 1}, {45, 21, 2, "f32", 1});
    check_folds_over_rows(&suite);
}

/* Full folds along different axes: a chunk has whole leaves of each. */
static void test_totals_apart(void) {
    CHECK(three_totals, {131, 10, 0, "f64", 2}, {9001, 10, 0, "f64", 3}, {700, 93, 0, "f64", 2}, {1300, 530, 0, "f64", 2},
          {45, 21, 0, "f32", 1}, {5000, 4, 0, "f32", 2}, {600, 512, 0, "f64", 1}, {0, 4, 0, "f64", 1}, {7, 0, 0, "f64", 1});
    CHECK(three_widths, {131, 10, 3, "f64", 1}, {7001, 10, 8, "f64", 2}, {1100, 530, 6, "f64", 3}, {520, 30, 120, "f64", 2},
          {45, 21, 7, "f32", 1}, {3000, 5, 5, "f32", 2}, {513, 1, 1, "f64", 1}, {0, 4, 2, "f64", 1});
}

static void planned(kernel_job *j, const char *text, text_shape s, clf_sched *sched) { text_planned(&suite, j, text, s, sched); }

/* Functions of one value a row have the same bits for rows taken together, a lane each, as for those left over, one after the other. */
static void test_row_functions(void) {
    enum { FEW = 7, MANY = 64 };
    static const char *const type[] = {"f64", "f32", "f64", "f32"};
    static const int64_t cols[] = {10, 10, 40, 100}; /* read side by side, and one after the other */
    for (int t = 0; t < 4; t++) {
        kernel_job j[2];
        clf_sched s;
        clf_err err = {0};
        for (int many = 0; many < 2; many++) {
            planned(&j[many], row_functions, (text_shape){many ? MANY : FEW, cols[t], 0, type[t], 1}, &s);
            CU_ASSERT_TRUE((s.variant & 255) > 1 || !many);
            job_memory(&j[many], JOB_REAL, 0);
        }
        for (int k = 0; k < j->c.nin; k++) memcpy(j[0].in[k], j[1].in[k], j[0].in_bytes[k]); /* the first rows */
        for (int many = 0; many < 2; many++) CU_ASSERT_EQUAL_FATAL(job_kernel(&j[many], jobs_skel(suite.skel), 1, &err), CLF_OK);
        CU_ASSERT_EQUAL(memcmp(j[0].got[1], j[1].got[1], j[0].out_bytes[1]), 0);
        for (int many = 0; many < 2; many++) job_end(&j[many]);
    }
}

/* ---- without running ---- */

static void test_no_memory(void) { text_no_memory(&suite, mlogreg, (text_shape){100, 30, 8, "f64", 1}); }

/* Extents beyond those of narrow axes are arguments: one text for all of them. */
static void test_sizes_are_arguments(void) {
    static const text_shape two[2] = {{1000, 200, 8, "f64", 1}, {37777, 999, 8, "f64", 1}};
    clf_sched s[2];
    text_same(&suite, mmchain, two, s);
    CU_ASSERT_EQUAL(s[0].extent, 1000);
    CU_ASSERT_TRUE(s[1].global > 1 && (int64_t)s[1].global * s[1].grain >= 37777);
}

/* Square or not, rows are cut: what is read along the columns each part is shown whole. */
static void test_square(void) {
    for (int64_t cols = 299; cols <= 300; cols++) {
        kernel_job j;
        clf_sched s;
        planned(&j, xv, (text_shape){300, cols, 0, "f64", 1}, &s);
        CU_ASSERT_TRUE(s.extent == 300 && s.grain < 300);
        job_end(&j);
    }
}

/* As many rows at once as the profile says where rows are less than a page and one or two sums are made of each; else as many as ever. */
static void test_short_rows(void) {
    static const struct {
        const char *text;
        text_shape shape;
        int rows[3]; /* where it says 1, 2 or 4 */
    } some[] = {{mvchain, {777, 100, 0, "f64", 1}, {1, 2, 4}},  {mvchain, {778, 300, 0, "f64", 2}, {1, 2, 4}},
                {mvchain, {501, 100, 0, "f32", 1}, {1, 2, 4}},  {mvchain, {500, 10, 0, "f64", 1}, {8, 8, 8}},
                {mvchain, {300, 1000, 0, "f64", 1}, {4, 4, 4}}, {mmchain, {500, 100, 2, "f64", 2}, {1, 2, 4}},
                {mmchain, {500, 100, 4, "f64", 1}, {2, 2, 2}}};
    const clf_profile before = jobs.profile;
    for (size_t i = 0; i < sizeof some / sizeof *some; i++)
        for (int k = 0; k < 3; k++) {
            kernel_job j;
            clf_sched s;
            jobs.profile.rows_at_once = 1 << k;
            planned(&j, some[i].text, some[i].shape, &s);
            CU_ASSERT_EQUAL(s.variant & 255, some[i].rows[k]);
            job_end(&j);
            text_check(&suite, some[i].text, &some[i].shape, 1);
        }
    jobs.profile = before;
}

/* A driver that hands out half of the work-items first leaves no core more than a few rows behind another; results of many cells get fewer
 * work-items, which each need scratch for them. */
static void test_cuts(void) {
    static const struct {
        int64_t n, m;
        size_t most;
    } some[] = {{20971, 100, 64}, {251652, 100, 64}, {3000, 100, 64}, {100000, 1000, 16}};
    clf_profile two = jobs.profile;
    two.cores = 2;
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
        kernel_job j;
        clf_sched s;
        planned(&j, mmchain, (text_shape){some[i].n, some[i].m, 32, "f64", 1}, &s);
        CU_ASSERT_EQUAL(s.skel->sched(&j.c, &two, (clf_grid){0, INT64_MAX}, &s, NULL), CLF_OK);
        CU_ASSERT_TRUE(s.global > 1 && s.global <= some[i].most);
        CU_ASSERT_TRUE(some[i].most < 64 || (double)((int64_t)(s.global + 1) / 2 * s.grain) < 0.53 * (double)some[i].n);
        job_end(&j);
    }
}

static void test_facts(void) {
    kernel_job j;
    clf_sched s;
    clf_facts f;
    planned(&j, mvchain, (text_shape){1000, 100, 0, "f64", 1}, &s);
    s.skel->facts(&j.c, &jobs.profile, &s, &f);
    CU_ASSERT_EQUAL(f.read_bytes, (1000 * 100 + 100 + 1000) * 8);
    CU_ASSERT_EQUAL(f.write_bytes, 100 * 8);
    CU_ASSERT_EQUAL(f.cells[1][CLF_CLASS_ADD], 4 * 1000 * 100 + 1000);
    CU_ASSERT_EQUAL(f.launches, 1);
    job_end(&j);
}

/* With an argument: memory in cl_mem objects of exact size, which Oclgrind watches. */
int main(int argc, char **argv) {
    (void)argv;
    static const test_case tests[] = {
        {"mvchain", test_mvchain},
        {"vectors", test_vectors},
        {"few columns", test_few_columns},
        {"many columns", test_many_columns},
        {"products", test_products},
        {"registers", test_registers},
        {"turned products", test_turned},
        {"sums in tiles", test_tiles},
        {"symmetric sums in tiles", test_symmetric},
        {"rows", test_rows},
        {"rows in batches", test_batches},
        {"rows in lanes", test_rows_in_lanes},
        {"row functions", test_row_functions},
        {"rows put together", test_cats},
        {"totals", test_totals},
        {"totals along several axes", test_totals_apart},
        {"no memory", test_no_memory},
        {"sizes are arguments", test_sizes_are_arguments},
        {"square", test_square},
        {"short rows", test_short_rows},
        {"cuts", test_cuts},
        {"facts", test_facts},
    };
    if (argc > 1) most_rows = 37, most_cells = 200000;
    suite.every_shape = argc > 1;
    if (!jobs_open(argc > 1)) {
        jobs_close();
        return 77;
    }
    int rc = run_suite("row_chunk", tests, sizeof tests / sizeof *tests);
    jobs_close();
    net_figure("kernels of row.chunk with the bits of the reference executor", "%ld", suite.kernels);
    return rc;
}
