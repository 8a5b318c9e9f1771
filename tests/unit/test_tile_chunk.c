/* SPDX-License-Identifier: Apache-2.0
 * tile.chunk: products of wide matrices with what is computed on their way in and out, run on the first OpenCL device against the reference
 * executor: same bits, whatever is cut. Texts are written with $n rows, $k terms, $m columns and $t for the element type. */
#include <CUnit/Basic.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/net.h"
#include "tests/support/text_case.h"
#include "tests/unit/api_testing.h"

#define HEAD \
    "(cplan (axis i range free $n) (axis l range free $k) (axis j range free $m) (in X $t dense $n $k) (in V $t dense $k $m)" \
    " (out Y $t $n $m) (access a0 X stream (i 1 0) (l 1 0)) (access a1 V stream (l 1 0) (j 1 0)) (let x $t load a0) (let v $t load a1) "
#define HEAD_T \
    "(cplan (axis i range free $n) (axis j range free $m) (axis l range free $k) (in X $t dense $n $k) (in V $t dense $m $k)" \
    " (out Y $t $n $m) (access a0 X stream (i 1 0) (l 1 0)) (access a1 V stream (j 1 0) (l 1 0)) (let x $t load a0) (let v $t load a1) "
#define HEAD_A \
    "(cplan (axis i range free $n) (axis l range free $k) (axis j range free $m) (in X $t dense $k $n) (in V $t dense $k $m)" \
    " (out Y $t $n $m) (access a0 X stream (l 1 0) (i 1 0)) (access a1 V stream (l 1 0) (j 1 0)) (let x $t load a0) (let v $t load a1) "
#define SIDES \
    "(in B $t dense 1 $m) (in C $t dense $n 1) (in D $t dense $n $m) (param p $t) (access ab B stream (- 0) (j 1 0))" \
    " (access ac C stream (i 1 0) (- 0)) (access ad D stream (i 1 0) (j 1 0)) (let b $t load ab) (let c $t load ac) (let d $t load ad)" \
    " (let q $t param p) "

static const char product[] = HEAD "(let s $t dot l x v) (store Y s keep i j))";
static const char product_t[] = HEAD_T "(let s $t dot l x v) (store Y s keep i j))";
static const char result_cells[] = HEAD SIDES "(let s $t dot l x v) (let f $t ADD s b) (let g $t MUL f c) (let h $t SUB g d)"
                                              " (let y $t MUL h q) (store Y y keep i j))";
static const char result_cells_t[] = HEAD_T SIDES "(let s $t dot l x v) (let f $t ADD s b) (let g $t MUL f c) (let h $t SUB g d)"
                                                  " (let y $t MUL h q) (store Y y keep i j))";
static const char product_a[] = HEAD_A "(let s $t dot l x v) (store Y s keep i j))";
static const char result_cells_a[] = HEAD_A SIDES "(let s $t dot l x v) (let f $t ADD s b) (let g $t MUL f c) (let h $t SUB g d)"
                                                  " (let y $t MUL h q) (store Y y keep i j))";
static const char gram[] = /* of X by itself, some rows of it from another place on */
    "(cplan (axis i range free $n) (axis l range free $k) (axis j range free $m) (in X $t dense $k $m) (out Y $t $n $m)"
    " (access a0 X stream (l 1 0) (i 1 2)) (access a1 X stream (l 1 0) (j 1 0)) (let x $t load a0) (let v $t load a1)"
    " (let s $t dot l x v) (store Y s keep i j))";
static const char left_cells[] =
    HEAD "(in W $t dense 1 $k) (in C $t dense $n 1) (access aw W stream (- 0) (l 1 0)) (access ac C stream (i 1 0) (- 0))"
         " (let w $t load aw) (let c $t load ac) (let e $t MUL x w) (let f $t SUB e c) (let g $t ABS f) (let s $t dot l g v)"
         " (let y $t MUL s c) (store Y y keep i j))";
static const char positions[] =
    HEAD_T "(out Z i64 $n $m) (let a i64 index i) (let b i64 index j) (let e i64 index l) (let d i64 ADD a b) (let f $t cast e)"
           " (let g $t ADD x f) (let s $t dot l g v) (let h $t cast d) (let y $t ADD s h) (store Y y keep i j) (store Z d keep i j))";
static const char two_results[] =
    HEAD "(in D f32 dense $n $m) (out Z u8 $n $m) (access ad D stream (i 1 0) (j 1 0)) (let d f32 load ad) (let e $t cast d)"
         " (let s $t dot l x v) (let y $t MAX s e) (let z u8 GT s e) (store Y y keep i j) (store Z z keep i j))";

static const char dear_left[] = HEAD "(let a $t EXP x) (let s $t dot l a v) (store Y s keep i j))";

/* ---- running ---- */

static int64_t most_cells = INT64_MAX; /* an interpreter of kernels gets smaller shapes */
static bool takes(text_shape *s) { return s->a * s->b <= most_cells && s->a * s->c <= most_cells && s->a * s->b * s->c / 8 <= most_cells; }

static text_suite suite = {.skel = "tile.chunk", .letters = "nkm", .takes = takes};
#define CHECK(text, ...) TEXT_CHECK(&suite, text, __VA_ARGS__)

/* One leaf, two, one that ends in a few terms, five; edges of tiles and of vectors; several work-items. */
static void test_products(void) {
    CHECK(product, {12, 16, 80, "f64", 1}, {25, 512, 65, "f64", 1}, {13, 513, 97, "f64", 1}, {7, 1024, 66, "f64", 1},
          {29, 2061, 73, "f64", 1}, {300, 40, 300, "f64", 1}, {520, 7, 70, "f64", 2}, {2, 1, 65, "f64", 1}, {31, 1537, 141, "f32", 1},
          {24, 64, 96, "f32", 1}, {0, 9, 70, "f64", 1}, {5, 0, 70, "f64", 1}, {13, 20, 999, "f64", 1});
}

/* Lanes of a leaf: all full, some with one term less, some empty. */
static void test_transposed(void) {
    CHECK(product_t, {12, 16, 80, "f64", 1}, {25, 512, 65, "f64", 1}, {13, 515, 97, "f64", 1}, {29, 2061, 73, "f64", 1},
          {300, 41, 300, "f64", 1}, {14, 3, 70, "f64", 1}, {31, 1537, 141, "f32", 1}, {13, 5, 67, "f32", 1}, {6, 0, 70, "f64", 1});
}

/* Rows of the left side are summed over: whole tiles of them and some more, terms in eights and some more, more leaves and work-items. */
static void test_turned(void) {
    CHECK(product_a, {12, 16, 80, "f64", 1}, {25, 512, 65, "f64", 1}, {13, 515, 97, "f64", 1}, {29, 2061, 73, "f64", 1},
          {300, 41, 300, "f64", 1}, {784, 20, 70, "f64", 2}, {2, 1, 65, "f64", 1}, {31, 1537, 141, "f32", 1}, {24, 64, 96, "f32", 1},
          {0, 9, 70, "f64", 1}, {5, 0, 70, "f64", 1}, {13, 20, 999, "f64", 1});
    CHECK(result_cells_a, {37, 43, 81, "f64", 1}, {270, 600, 133, "f64", 2}, {37, 41, 90, "f32", 1});
    CHECK(gram, {60, 43, 81, "f64", 1}, {88, 601, 130, "f64", 1}, {37, 41, 90, "f32", 1});
}

/* Bands of rows of one work-item find the panels of the right side that the first one packed. */
static void test_bands(void) {
    CHECK(product, {2100, 5, 70, "f64", 1}, {2017, 4, 66, "f32", 1});
    CHECK(product_t, {2100, 9, 66, "f64", 1});
    CHECK(result_cells_a, {2100, 5, 70, "f64", 2});
}

static void test_result_cells(void) {
    CHECK(result_cells, {37, 40, 81, "f64", 1}, {270, 600, 130, "f64", 2}, {37, 40, 90, "f32", 1});
    CHECK(result_cells_t, {37, 43, 81, "f64", 1}, {26, 600, 133, "f64", 1}, {37, 41, 90, "f32", 1});
    CHECK(two_results, {37, 40, 81, "f64", 1}, {26, 600, 133, "f64", 1}, {37, 41, 90, "f32", 1});
}

static void test_left_cells(void) {
    CHECK(left_cells, {37, 43, 81, "f64", 1}, {26, 601, 260, "f64", 1}, {37, 41, 90, "f32", 1});
    CHECK(positions, {37, 43, 81, "f64", 1}, {26, 601, 130, "f64", 1}, {37, 41, 90, "f32", 1});
}

/* Tiles for 32 wide registers and for fewer, whichever this device has. */
static void test_registers(void) {
    static const char *const registers[] = {"-DCLF_WIDE_REGISTERS=0", "-DCLF_WIDE_REGISTERS=1"};
    for (int i = 0; i < 2; i++) {
        jobs.options = registers[i];
        CHECK(product, {29, 1030, 73, "f64", 1}, {31, 70, 141, "f32", 2});
        CHECK(result_cells_t, {26, 600, 133, "f64", 1});
        CHECK(left_cells, {13, 41, 90, "f32", 1});
        CHECK(result_cells_a, {26, 600, 133, "f64", 1}, {31, 70, 141, "f32", 2});
    }
    jobs.options = NULL;
}

/* ---- without running ---- */

static bool fits(const char *text, text_shape s) { return text_fits(&suite, text, s); }

static const char row_sums[] = HEAD "(out Z $t $n) (let s $t dot l x v) (store Y s keep i j) (fold Z SUM s keep i))";
static const char two_products[] =
    HEAD "(let s $t dot l x v) (let a $t ABS x) (let r $t dot l a v) (let y $t ADD s r) (store Y y keep i j))";
static const char annihilating[] = HEAD "(let s $t dot l x v skip 1) (store Y s keep i j))";
static const char left_stored[] = HEAD "(out Z $t $n $k) (let a $t ABS x) (let s $t dot l a v) (store Y s keep i j) (store Z a keep i l))";

static const char left_turned_cells[] = HEAD_A "(let a $t ABS x) (let s $t dot l a v) (store Y s keep i j))";
static const char both_turned[] =
    "(cplan (axis i range free $n) (axis l range free $k) (axis j range free $m) (in X $t dense $k $n) (in V $t dense $m $k) (out Y $t $n "
    "$m)"
    " (access a0 X stream (l 1 0) (i 1 0)) (access a1 V stream (j 1 0) (l 1 0)) (let x $t load a0) (let v $t load a1)"
    " (let s $t dot l x v) (store Y s keep i j))";

static void test_what_fits(void) {
    const text_shape wide = {30, 40, 65, "f64", 1};
    CU_ASSERT_TRUE(fits(product, wide));
    CU_ASSERT_TRUE(fits(result_cells_t, wide));
    CU_ASSERT_TRUE(fits(result_cells_a, wide));
    CU_ASSERT_FALSE(fits(left_turned_cells, wide));
    CU_ASSERT_FALSE(fits(both_turned, wide));
    CU_ASSERT_FALSE(fits(product, (text_shape){30, 40, 64, "f64", 1}));
    CU_ASSERT_FALSE(fits(product, (text_shape){30, 40, 65, "i64", 1}));
    CU_ASSERT_FALSE(fits(row_sums, wide));
    CU_ASSERT_FALSE(fits(two_products, wide));
    CU_ASSERT_FALSE(fits(annihilating, wide));
    CU_ASSERT_FALSE(fits(left_stored, wide));
}

static void planned(kernel_job *j, const char *text, text_shape s, clf_sched *sched) { text_planned(&suite, j, text, s, sched); }

static void test_sizes_are_arguments(void) {
    static const text_shape two[2] = {{100, 200, 80, "f64", 1}, {37777, 999, 1234, "f64", 1}};
    clf_sched s[2];
    text_same(&suite, result_cells, two, s);
    CU_ASSERT_TRUE((int64_t)s[1].global * s[1].grain >= 37777);
}

/* Few rows: columns are cut for the cores. More: bands of rows, as many for every core; where these are many, columns, and a work-item goes
 * through several bands; where the left side is dear to compute, rows. */
static void test_cuts(void) {
    static const struct {
        int64_t n, m;
        size_t items;
        const char *text;
    } some[] = {{24, 1000, 2, product},   {24, 200, 1, product},   {500, 500, 2, product},         {512, 784, 6, product},
                {2000, 2000, 2, product}, {10000, 80, 4, product}, {80, 10000, 10, product},       {512, 784, 4, dear_left},
                {1200, 66, 6, product},   {2100, 70, 2, product},  {100000, 100000, 2450, product}};
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
        kernel_job j;
        clf_sched s;
        clf_profile two = jobs.profile;
        two.cores = 2;
        planned(&j, some[i].text, (text_shape){some[i].n, 40, some[i].m, "f64", 1}, &s);
        CU_ASSERT_EQUAL(s.skel->sched(&j.c, &two, (clf_grid){0, INT64_MAX}, &s, NULL), CLF_OK);
        CU_ASSERT_EQUAL(s.global, some[i].items);
        job_end(&j);
    }
}

static void test_facts(void) {
    kernel_job j;
    clf_sched s;
    clf_facts f;
    planned(&j, result_cells, (text_shape){100, 200, 80, "f64", 1}, &s);
    s.skel->facts(&j.c, &jobs.profile, &s, &f);
    CU_ASSERT_EQUAL(f.read_bytes, (100 * 200 + 200 * 80 + 80 + 100 + 100 * 80) * 8);
    CU_ASSERT_EQUAL(f.write_bytes, 100 * 80 * 8);
    CU_ASSERT_EQUAL(f.cells[1][CLF_CLASS_ADD], 2 * 100 * 200 * 80 + 4 * 100 * 80);
    CU_ASSERT_EQUAL(f.launches, 1);
    job_end(&j);
}

static void test_no_memory(void) { text_no_memory(&suite, left_cells, (text_shape){100, 30, 80, "f64", 1}); }

/* With an argument: memory in cl_mem objects of exact size, which Oclgrind watches. */
int main(int argc, char **argv) {
    (void)argv;
    static const test_case tests[] = {
        {"products", test_products},
        {"transposed right sides", test_transposed},
        {"left sides used transposed", test_turned},
        {"bands of a work-item", test_bands},
        {"result cells", test_result_cells},
        {"left cells", test_left_cells},
        {"registers", test_registers},
        {"what fits", test_what_fits},
        {"sizes are arguments", test_sizes_are_arguments},
        {"cuts", test_cuts},
        {"facts", test_facts},
        {"no memory", test_no_memory},
    };
    if (argc > 1) most_cells = 100000;
    suite.every_shape = argc > 1;
    if (!jobs_open(argc > 1)) {
        jobs_close();
        return 77;
    }
    int rc = run_suite("tile_chunk", tests, sizeof tests / sizeof *tests);
    jobs_close();
    net_figure("kernels of tile.chunk with the bits of the reference executor", "%ld", suite.kernels);
    return rc;
}
