/* SPDX-License-Identifier: Apache-2.0
 * row.generic: products of a matrix with vectors, cell operators on their rows and sums over rows, run on the first OpenCL device against the
 * reference executor, whose trees are those of row.chunk: same bits, whatever the number of launches. And it is one program for all of a
 * type. */
#include <CUnit/Basic.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/net.h"
#include "tests/support/tell_inputs.h"
#include "tests/support/text_case.h"
#include "tests/unit/api_testing.h"
#include "tests/unit/row_texts.h"

static int64_t most_cells = INT64_MAX; /* an interpreter of kernels gets smaller shapes */
static bool takes(text_shape *s) { return s->a * s->b <= most_cells; }

static text_suite suite = {.skel = "row.generic", .letters = "nmk", .other = sum_of, .takes = takes};
#define CHECK(text, ...) TEXT_CHECK(&suite, text, __VA_ARGS__)

/* All kinds of operands and results at once. */
static const char both[] = HEAD_J VECTOR WEIGHT
    "(in d $t dense $m 1) (access ad d stream (j 1 0) (- 0)) (let e $t load ad) (in u $t dense) (access au u stream) (let g $t load au) "
    "(param p0 $t) (let p $t param p0) (out Y $t $m) (out Z $t $m) (out A $t $n) (out B $t) (let s $t dot j x b) (let r $t dot j e x) "
    "(let q $t SUB s r) (let z $t MUL c q) (let l $t ADD z g) (let y $t MAX l p) (let h $t SQR y) (dot Y x y keep j) (dot Z s x keep j) "
    "(store A h keep i) (fold B SUM h keep))";
/* Nothing but sums over rows: of what varies with no row, of two matrices. */
static const char alone[] =
    HEAD_J WEIGHT "(in V $t dense $n $m) (access a1 V stream (i 1 0) (j 1 0)) (let v $t load a1) (param p0 $t) (let p $t param p0) "
                  "(out Y $t $m) (out Z $t $m) (dot Y x p keep j) (dot Z v c keep j))";
/* A part of a larger matrix, and of a vector. */
static const char part[] =
    "(cplan (axis i range free $n) (axis j range free $m) (in X $t dense 6000 $o) (access a0 X stream (i 1 3) (j 1 1)) (let x $t load a0) "
    "(in v $t dense $o 1) (access av v stream (j 1 1) (- 0)) (let b $t load av) (out Y $t $m) (out Z $t $n) (let s $t dot j x b) "
    "(let q $t ABS s) (dot Y x q keep j) (store Z q keep i))";

static void test_chains(void) {
    CHECK(mvchain, {1000, 10, 0, "f64", 1}, {5003, 10, 0, "f64", 2}, {777, 100, 0, "f64", 2}, {300, 1000, 0, "f64", 1},
          {90, 5000, 0, "f64", 3}, {501, 100, 0, "f32", 1}, {1200, 1003, 0, "f32", 2}, {0, 10, 0, "f64", 1}, {1, 1, 0, "f64", 1},
          {1, 7, 0, "f64", 1}, {37, 1, 0, "f64", 1}, {64, 8, 0, "f64", 1}, {33, 129, 0, "f64", 1}, {5, 513, 0, "f64", 1},
          {7, 0, 0, "f64", 1}, {512, 512, 0, "f32", 1}, {513, 600, 0, "f64", 2}, {530000, 2, 0, "f64", 3});
    CHECK(xtxv, {1029, 13, 0, "f64", 2}, {65, 600, 0, "f32", 1});
}

static void test_alone(void) {
    CHECK(xv, {1029, 13, 0, "f64", 1}, {66, 1600, 0, "f32", 2}, {3, 128, 0, "f64", 1}, {2, 0, 0, "f64", 1}, {0, 3, 0, "f32", 1});
    CHECK(xtv, {1029, 13, 0, "f64", 3}, {66, 1600, 0, "f64", 1}, {9000, 31, 0, "f32", 2});
    CHECK(alone, {1029, 13, 0, "f64", 3}, {66, 1600, 0, "f32", 1}, {0, 4, 0, "f64", 1});
}

static void test_both(void) {
    CHECK(both, {1000, 10, 0, "f64", 1}, {5003, 33, 0, "f64", 2}, {700, 1030, 0, "f64", 1}, {501, 100, 0, "f32", 1}, {1, 1, 0, "f64", 1},
          {0, 9, 0, "f64", 1}, {2600, 7, 0, "f32", 3}, {40000, 5, 0, "f64", 2});
    CHECK(part, {1000, 10, 0, "f64", 1}, {603, 700, 0, "f32", 2}, {64, 1, 0, "f64", 1});
}

static void test_what_it_takes(void) {
    static const text_shape s = {100, 70, 8, "f64", 1};
    CU_ASSERT_TRUE(text_fits(&suite, mvchain, s));
    CU_ASSERT_TRUE(text_fits(&suite, xv, s));
    CU_ASSERT_FALSE(text_fits(&suite, mvchain, (text_shape){100, 70, 8, "i64", 1}));
    const char *const other[] = {row_norms, vector_dot, mmchain, product, softmax, annihilating, totals};
    for (size_t i = 0; i < sizeof other / sizeof *other; i++) CU_ASSERT_FALSE(text_fits(&suite, other[i], s));
    clf_profile was = jobs.profile;
    jobs.profile.fp64 = 0;
    CU_ASSERT_FALSE(text_fits(&suite, mvchain, s));
    jobs.profile = was;
}

static void test_one_program(void) {
    static const text_shape two[2] = {{1000, 200, 8, "f64", 1}, {37777, 9, 8, "f64", 1}};
    clf_sched s[2];
    text_same(&suite, both, two, s);
    CU_ASSERT_EQUAL(s[0].extent, 0); /* never cut */
    CU_ASSERT_TRUE(s[1].global > 1 && (int64_t)s[1].global * s[1].grain >= 37777);
}

static void test_no_memory(void) { text_no_memory(&suite, mvchain, (text_shape){100, 30, 8, "f64", 1}); }

static void test_facts(void) {
    kernel_job j;
    clf_sched s;
    clf_facts f;
    text_planned(&suite, &j, mvchain, (text_shape){1000, 100, 0, "f64", 1}, &s);
    s.skel->facts(&j.c, &jobs.profile, &s, &f);
    CU_ASSERT_EQUAL(f.read_bytes, (1000 * 100 + 100 + 1000) * 8);
    CU_ASSERT_EQUAL(f.write_bytes, 100 * 8);
    CU_ASSERT_EQUAL(f.launches, 1);
    clf_source src;
    CU_ASSERT_EQUAL(s.skel->emit(&j.c, &s, "", &j.arena, &src, NULL), CLF_OK);
    CU_ASSERT_TRUE(src.nargs * 8 <= 1024); /* the least a device takes */
    job_end(&j);
}

/* With an argument: memory in cl_mem objects of exact size, which Oclgrind watches. */
int main(int argc, char **argv) {
    (void)argv;
    static const test_case tests[] = {{"chains", test_chains},       {"alone", test_alone},
                                      {"both", test_both},           {"what it takes", test_what_it_takes},
                                      {"no memory", test_no_memory}, {"one program", test_one_program},
                                      {"facts", test_facts}};
    tell_inputs = argc > 1;
    if (tell_inputs) most_cells = 3000;
    suite.every_shape = tell_inputs;
    if (!jobs_open(tell_inputs)) {
        jobs_close();
        return 77;
    }
    int rc = run_suite("row.generic", tests, sizeof tests / sizeof *tests);
    jobs_close();
    net_figure("runs of row.generic with the bits of the reference executor", "%ld", suite.kernels);
    return rc;
}
