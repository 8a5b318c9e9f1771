/* SPDX-License-Identifier: Apache-2.0
 * row.group: every job, on the first OpenCL device against the reference executor: same bits, whatever the size of a group and the number
 * of launches. */
#include <CUnit/Basic.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/net.h"
#include "tests/support/skel_case.h"
#include "tests/support/text_case.h"
#include "tests/support/tell_inputs.h"
#include "tests/unit/api_testing.h"
#include "tests/unit/row_texts.h"

/* ---- running ---- */

enum { LEAST_KERNELS = 50 };                                  /* shapes are left out by size: not nearly all */
static int64_t most_rows = INT64_MAX, most_cells = INT64_MAX; /* an interpreter of kernels gets smaller shapes */
static bool large;                                            /* groups of the size that GPUs get: a part of the shapes */
static bool beside;                                           /* steps of several positions: shapes whose rows are runs of them */
static bool takes(text_shape *s) {
    if (large && s->parts != 2) return false;
    if (beside && s->b % 2 && s->c % 2) return false;
    if (s->a > most_rows) s->a = most_rows;
    return s->a * s->b * (s->c ? s->c : 1) <= most_cells;
}

static text_suite suite = {.skel = "row.group", .letters = "nmk", .other = sum_of, .takes = takes};
#define CHECK(text, ...) TEXT_CHECK(&suite, text, __VA_ARGS__)

/* ---- folds along rows ---- */

/* One leaf a row, some, and those of no whole pair; rows of several passes and bands. */
static void test_rows(void) {
    CHECK(softmax, {131, 10, 0, "f64", 1}, {33, 530, 0, "f64", 2}, {12, 2600, 0, "f32", 1}, {0, 5, 0, "f64", 1}, {3, 0, 0, "f64", 1},
          {5, 1030, 0, "f64", 2}); /* three leaves a row, small enough for an interpreter */
    CHECK(scaled, {131, 10, 0, "f64", 1}, {33, 1530, 0, "f32", 2});
    CHECK(row_max, {131, 10, 0, "f64", 2}, {133, 530, 0, "f64", 1}, {45, 21, 0, "f32", 1});
    CHECK(xv, {1029, 13, 0, "f64", 1}, {66, 1600, 0, "f32", 2}, {2, 0, 0, "f64", 1});
    CHECK(vector_dot, {33, 20, 0, "f64", 1}, {9, 1200, 0, "f64", 1});
    CHECK(positions, {131, 10, 0, "f64", 1}, {33, 530, 0, "f32", 2});
}

static void test_scans(void) { CHECK(scan, {131, 10, 0, "f64", 1}, {33, 530, 0, "f64", 2}, {33, 53, 0, "f32", 1}, {20, 20, 0, "i64", 1}); }

static void test_cats(void) {
    CHECK(cat_chain, {131, 10, 0, "f64", 1}, {33, 530, 0, "f64", 2}, {53, 31, 0, "f32", 1}, {20, 17, 0, "i32", 1}, {0, 5, 0, "f64", 1},
          {5, 0, 0, "f64", 1});
    CHECK(cat_scan, {131, 10, 0, "f64", 1}, {33, 53, 0, "f32", 1});
    CHECK(cat_two, {131, 10, 7, "f64", 2}, {33, 53, 76, "f32", 1}, {9, 0, 6, "f64", 1}, {0, 3, 4, "f64", 1});
    CHECK(cat_vectors, {131, 10, 7, "f64", 2}, {9, 1, 150, "f64", 1});
}

/* ---- folds over rows ---- */

static void test_mvchain(void) {
    CHECK(mvchain, {1000, 10, 0, "f64", 1}, {17003, 10, 0, "f64", 2}, {777, 100, 0, "f64", 2}, {300, 1000, 0, "f64", 1},
          {90, 5000, 0, "f64", 3}, {200, 1003, 0, "f32", 2}, {0, 10, 0, "f64", 1}, {1, 1, 0, "f64", 1}, {40, 31, 0, "i64", 1},
          {40, 31, 0, "i32", 1}, {7, 0, 0, "f64", 1});
    CHECK(centred, {131, 10, 0, "f64", 2}, {77, 600, 0, "f64", 2}, {33, 532, 0, "f32", 2}, {50, 31, 0, "i64", 1});
    CHECK(xtxv, {1029, 13, 0, "f64", 2}, {65, 600, 0, "f32", 1});
    CHECK(xtv, {1029, 13, 0, "f64", 3}, {66, 1600, 0, "f64", 1});
    CHECK(row_norms, {131, 13, 0, "f64", 1}, {66, 530, 0, "f32", 2});
}

static void test_outer(void) {
    CHECK(mmchain, {500, 100, 2, "f64", 2}, {77, 1000, 3, "f64", 1}, {50, 1037, 2, "f32", 1}, {500, 100, 8, "f64", 2},
          {60, 1100, 13, "f64", 2}, {61, 37, 10, "f32", 1}, {30, 12, 9, "i32", 1}, {0, 40, 2, "f64", 1});
    CHECK(mlogreg, {500, 100, 8, "f64", 2}, {91, 30, 3, "f64", 1}, {70, 40, 24, "f32", 1});
    CHECK(mmchain_t, {131, 33, 3, "f64", 1}, {61, 600, 9, "f64", 2});
    CHECK(there_and_back, {230, 9, 11, "f64", 1}, {31, 9, 20, "f32", 1});
    CHECK(there_and_back_t, {230, 9, 11, "f64", 1}, {61, 4, 30, "f64", 2});
    CHECK(cross, {131, 33, 20, "f64", 2}, {131, 300, 200, "f64", 1}, {40, 7, 6000, "f64", 1}, {40, 9, 200, "f32", 1});
    CHECK(annihilating, {131, 10, 3, "f64", 2}, {133, 530, 9, "f64", 1}, {45, 21, 6, "f32", 1}, {45, 21, 2, "f32", 1});
}

static void test_products(void) {
    CHECK(product, {131, 10, 3, "f64", 1}, {67, 700, 9, "f64", 2}, {9, 1, 1, "f64", 1}, {5, 0, 6, "f64", 1});
    CHECK(product_folds, {131, 30, 11, "f64", 2}, {131, 30, 3, "f32", 1});
    CHECK(product_of_cells, {70, 33, 6, "f64", 1}, {30, 700, 12, "f64", 1});
    CHECK(product_t, {131, 33, 3, "f64", 1}, {31, 40, 200, "f64", 1}, {31, 40, 7, "f32", 1});
}

/* ---- over all cells ---- */

static void test_totals(void) {
    CHECK(totals, {37, 224, 0, "f64", 2}, /* two passes of 14 leaves */ {131, 10, 0, "f64", 2}, {133, 530, 0, "f64", 3},
          {9003, 33, 0, "f32", 2}, {45, 21, 0, "f32", 1}, {0, 4, 0, "f64", 1}, {3, 0, 0, "f64", 1});
    check_folds_over_rows(&suite);
}

static void test_three_totals(void) { CHECK(three_totals, {700, 93, 0, "f64", 2}); }

/* ---- without running ---- */

static void planned(kernel_job *j, const char *text, text_shape s, clf_sched *sched) { text_planned(&suite, j, text, s, sched); }

static void test_no_memory(void) { text_no_memory(&suite, mlogreg, (text_shape){100, 30, 8, "f64", 1}); }

static void test_sizes_are_arguments(void) {
    static const text_shape two[2] = {{1000, 200, 8, "f64", 1}, {37777, 499, 8, "f64", 1}};
    kernel_job j;
    clf_sched s[2];
    text_same(&suite, mmchain, two, s);
    CU_ASSERT_TRUE(s[0].index_bits == 32 && s[0].local >= 64 && s[0].global % s[0].local == 0);
    CU_ASSERT_EQUAL(s[0].merge, CLF_MERGE_FOLLOWS);
    CU_ASSERT_EQUAL((int64_t)(s[1].global / s[1].local), (37777 + s[1].grain - 1) / s[1].grain);
    planned(&j, xv, (text_shape){1 << 20, 1 << 12, 0, "f64", 1}, s);
    CU_ASSERT_EQUAL(s[0].index_bits, 64);
    job_end(&j);
}

/* Square or not, rows are cut: what is read along the columns each part is shown whole. */
static void test_grain(void) {
    kernel_job j;
    clf_sched s;
    planned(&j, xv, (text_shape){300, 300, 0, "f64", 1}, &s);
    CU_ASSERT_TRUE(s.extent == 300 && s.grain < 300);
    job_end(&j);
    planned(&j, xv, (text_shape){300, 299, 0, "f64", 1}, &s);
    CU_ASSERT_TRUE(s.extent == 300 && s.grain < 300);
    job_end(&j);
    planned(&j, totals, (text_shape){3000, 3, 0, "f64", 1}, &s); /* whole leaves */
    CU_ASSERT_EQUAL(s.grain * 3 % 512, 0);
    job_end(&j);
}

/* As many positions as the device likes, if rows are runs of them and all work-items of a group have some. */
static void test_steps(void) {
    static const struct {
        const char *text;
        text_shape shape;
        int cells, width;
    } of[] = {
        {softmax, {500, 530, 0, "f64", 1}, 2, 2},  {softmax, {500, 530, 0, "f32", 1}, 4, 2},  {softmax, {500, 532, 0, "f32", 1}, 4, 4},
        {softmax, {500, 531, 0, "f64", 1}, 4, 1},  {mvchain, {500, 1000, 0, "f64", 1}, 4, 4}, {mvchain, {500, 10, 0, "f64", 1}, 2, 2},
        {mvchain, {500, 1000, 0, "f64", 1}, 1, 1}, {xv, {500, 101, 0, "f32", 1}, 2, 1},
    };
    clf_profile was = jobs.profile;
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        kernel_job j;
        clf_sched s;
        jobs.profile.item_cells[0] = jobs.profile.item_cells[1] = of[k].cells;
        planned(&j, of[k].text, of[k].shape, &s);
        CU_ASSERT_EQUAL(s.width, of[k].width);
        job_end(&j);
    }
    jobs.profile = was;
}

static void test_facts(void) {
    kernel_job j;
    clf_sched s;
    clf_facts f;
    clf_profile many = jobs.profile;
    planned(&j, mvchain, (text_shape){1000, 100, 0, "f64", 1}, &s);
    s.skel->facts(&j.c, &jobs.profile, &s, &f);
    double scratch = f.write_bytes - 100 * 8;
    CU_ASSERT_TRUE(scratch > 0 && scratch <= (double)s.scratch_bytes);
    CU_ASSERT_EQUAL(f.read_bytes - scratch, (1000 * 100 + 100 + 1000) * 8);
    CU_ASSERT_EQUAL(f.cells[1][CLF_CLASS_ADD], 4 * 1000 * 100 + 1000);
    CU_ASSERT_EQUAL(f.launches, 2);
    CU_ASSERT_TRUE(f.occupancy > 0 && f.occupancy <= 1);
    many.cores = 1000;
    s.skel->facts(&j.c, &many, &s, &f);
    CU_ASSERT_TRUE(f.occupancy > 0 && f.occupancy < 0.1);
    job_end(&j);
}

static void test_refusals(void) {
    kernel_job j;
    clf_sched s;
    planned(&j, mvchain, (text_shape){100, 100, 0, "f64", 1}, &s);
    skel_refuses(&j, s.skel, 128);
    job_end(&j);
    CU_ASSERT_FALSE(text_fits(&suite, cross, (text_shape){100, 20000, 20000, "f64", 1})); /* too much scratch */
}

/* With an argument: memory in cl_mem objects of exact size, which Oclgrind watches. */
int main(int argc, char **argv) {
    static const test_case plans[] = {{"no memory", test_no_memory}, {"sizes are arguments", test_sizes_are_arguments},
                                      {"grain", test_grain},         {"steps", test_steps},
                                      {"facts", test_facts},         {"refusals", test_refusals}};
    static const test_case all[] = {{"rows", test_rows},
                                    {"scans", test_scans},
                                    {"rows put together", test_cats},
                                    {"mvchain", test_mvchain},
                                    {"outer products", test_outer},
                                    {"products", test_products},
                                    {"totals", test_totals},
                                    {"three totals", test_three_totals}};
    static const char *const steps[] = {"row.group, steps of four", "row.group, steps of two", "row.group, steps beside vectors"};
    bool small = argc > 1 && !strcmp(argv[1], "small");
    tell_inputs = small;
    if (small) most_rows = 37, most_cells = 9000;
    suite.every_shape = small;
    bool device = jobs_open(small);
    int failed = run_suite("row.group, plans", plans, sizeof plans / sizeof *plans);
    if (device && !failed) failed = run_suite("row.group", all, sizeof all / sizeof *all);
    if (device && !failed && !small) { /* then in groups of the size that GPUs get */
        jobs.profile.kind = CLF_DEV_GPU;
        large = true;
        failed = run_suite("row.group, large groups", all, sizeof all / sizeof *all);
    }
    jobs.profile.kind = CLF_DEV_CPU;
    for (int k = 0; device && !failed && k < 3; k++) { /* and steps of several positions, at last where no vector is aligned */
        jobs.profile.item_cells[0] = jobs.profile.item_cells[1] = k ? 2 : 4;
        suite.run = k == 2 ? skel_beside : NULL;
        large = k > 0 || small, beside = true;
        if (!k || !small) failed = run_suite(steps[k], all, sizeof all / sizeof *all);
    }
    jobs_close();
    const char *one = getenv("CLF_TEST_CASE");
    if (device && !small) net_figure("row.group", "%ld kernels with the bits of the reference executor", suite.kernels);
    if (device && !(one && *one) && suite.kernels < LEAST_KERNELS) failed = 1;
    return failed;
}
