/* SPDX-License-Identifier: Apache-2.0
 * row.chunk: cplans in row form over dense operands, run on the first OpenCL device against the reference executor: same bits. Texts are
 * written with $n $m $k for extents, $s for m + k, $o for m + 1 and $t for the element type. */
#include <CUnit/Basic.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/net.h"
#include "tests/support/text_case.h"
#include "tests/unit/api_testing.h"

/* ---- texts ---- */

#define HEAD_J \
    "(cplan (axis i range free $n) (axis j range free $m) (in X $t dense $n $m) (access a0 X stream (i 1 0) (j 1 0)) (let x $t load a0) "
#define HEAD_ASCENDING \
    "(cplan (axis i range free $n) (axis j range ascending $m) (in X $t dense $n $m) (access a0 X stream (i 1 0) (j 1 0)) (let x $t load " \
    "a0) "
#define HEAD_JK \
    "(cplan (axis i range free $n) (axis j range free $m) (axis k range free $k) (in X $t dense $n $m) (in V $t dense $m $k) " \
    "(access a0 X stream (i 1 0) (j 1 0)) (access a1 V stream (j 1 0) (k 1 0)) (let x $t load a0) (let v $t load a1) "
#define HEAD_T \
    "(cplan (axis i range free $n) (axis j range free $m) (axis k range free $k) (in X $t dense $n $m) (in V $t dense $k $m) " \
    "(access a0 X stream (i 1 0) (j 1 0)) (access a1 V stream (k 1 0) (j 1 0)) (let x $t load a0) (let v $t load a1) "
#define VECTOR "(in v $t dense $m 1) (access av v stream (j 1 0) (- 0)) (let b $t load av) "
#define WEIGHT "(in w $t dense $n 1) (access aw w stream (i 1 0) (- 0)) (let c $t load aw) "
#define WEIGHTS "(in W $t dense $n $k) (access aw W stream (i 1 0) (k 1 0)) (let c $t load aw) "

static const char mvchain[] = HEAD_J VECTOR WEIGHT "(out Y $t $m) (let s $t dot j x b) (let q $t MUL c s) (dot Y x q keep j))";
static const char xtxv[] = HEAD_J VECTOR "(out Y $t $m) (let s $t dot j x b) (dot Y x s keep j))";
static const char xv[] = HEAD_J VECTOR "(out Y $t $n) (let s $t dot j x b) (store Y s keep i))";
static const char xtv[] = HEAD_J WEIGHT "(out Y $t $m) (dot Y x c keep j))";
static const char row_norms[] =
    HEAD_J "(out Y $t $n) (out Z $t $m) (let s $t dot j x x) (let r $t SQRT s) (let y $t DIV x r) (store Y r keep i)"
           " (dot Z y x keep j))";
static const char vector_dot[] = HEAD_J VECTOR "(out Y $t $n $m) (let s $t dot j b b) (let y $t MUL x s) (store Y y keep i j))";
static const char mmchain[] = HEAD_JK WEIGHTS "(out Y $t $m $k) (let s $t dot j x v) (let q $t MUL c s) (dot Y x q keep j k))";
static const char mlogreg[] = HEAD_JK WEIGHTS "(out Y $t $m $k) (let s $t dot j x v) (let q $t MUL c s) (let r $t fold SUM k q)"
                                              " (let a $t MUL c r) (let d $t SUB q a) (dot Y x d keep j k))";
static const char product[] = HEAD_JK "(out Y $t $n $k) (let s $t dot j x v) (store Y s keep i k))";
static const char product_folds[] = HEAD_JK "(out Y $t $n $k) (out Z $t $k) (out A i64 $n) (out B $t) (let s $t dot j x v) (let e $t ABS s)"
                                            " (store Y e keep i k) (fold Z SUM s keep k) (fold A ARGMAX s keep i) (fold B MAX s keep))";
static const char product_of_cells[] =
    HEAD_JK "(out Y $t $n $k) (let y $t ADD x x) (let z $t ABS y) (let s $t dot j z v) (store Y s keep i k))";
static const char product_t[] = HEAD_T "(out Y $t $n $k) (let s $t dot j x v) (store Y s keep i k))";
static const char mmchain_t[] = HEAD_T WEIGHTS "(out Y $t $m $k) (let s $t dot j x v) (let q $t MUL c s) (dot Y x q keep j k))";
#define BACK WEIGHTS "(out Y $t $m) (let s $t dot j x v) (let d $t SUB s c) (let e $t dot k d v) (let f $t MUL e x) (fold Y SUM f keep j))"
static const char there_and_back[] = HEAD_JK BACK, there_and_back_t[] = HEAD_T BACK; /* one access, folded along both of its axes */
static const char cross[] =
    "(cplan (axis i range free $n) (axis j range free $m) (axis k range free $k) (in X $t dense $n $m) (in Z $t dense $n $k)"
    " (out Y $t $m $k) (access a0 X stream (i 1 0) (j 1 0)) (access a1 Z stream (i 1 0) (k 1 0)) (let x $t load a0)"
    " (let z $t load a1) (dot Y z x keep j k))";
static const char softmax[] = HEAD_J "(out Y $t $n $m) (let a $t fold MAX j x) (let b $t SUB x a) (let e $t SQRT b) (let s $t fold SUM j e)"
                                     " (let y $t DIV e s) (store Y y keep i j))";
static const char scaled[] = HEAD_J "(out Y $t $n $m) (out Z $t $n) (let s $t fold SUM j x) (let y $t DIV x s) (store Y y keep i j)"
                                    " (store Z s keep i))";
static const char row_max[] = HEAD_J "(out Y i64 $n) (out Z $t $n) (out A $t $m) (let p i64 fold ARGMAX j x) (let a $t fold MAX j x)"
                                     " (let y $t SUB x a) (store Y p keep i) (fold Z VAR y keep i) (fold A SUM y keep j))";
static const char scan[] = HEAD_ASCENDING "(out Y $t $n $m) (out Z $t $n) (let s $t scan SUM j x) (let y $t ADD s x) (store Y y keep i j)"
                                          " (fold Z MAX s keep i))";
#define HEAD_ONE \
    "(cplan (axis i range free $n) (axis j range free $m) (axis g range ascending $o) (in X $t dense $n $m) (in V $t dense $o 1)" \
    " (access a0 X stream (i 1 0) (j 1 0)) (access a1 V stream (g 1 0) (- 0)) (let x $t load a0) (let v $t load a1) "
#define HEAD_CAT \
    "(cplan (axis i range free $n) (axis j range free $m) (axis k range free $k) (axis g range free $s) (in X $t dense $n $m)" \
    " (in Z $t dense $n $k) (access a0 X stream (i 1 0) (j 1 0)) (access a1 Z stream (i 1 0) (k 1 0)) (let x $t load a0)" \
    " (let z $t load a1) "
static const char cat_chain[] = HEAD_ONE WEIGHT "(out Y $t $o) (param p $t) (let one $t param p) (let q $t cat g x j one -)"
                                                " (let s $t dot g q v) (let r $t MUL c s) (dot Y q r keep g))";
static const char cat_scan[] =
    HEAD_ONE "(out Y $t $n $o) (out A $t $n) (let m $t fold MAX j x) (let q $t cat g m - x j) (let s $t scan SUM g q)"
             " (let y $t MUL s v) (store Y y keep i g) (fold A MIN y keep i over g))";
static const char cat_two[] = HEAD_CAT "(out Y $t $n $s) (out A $t $s) (out B i64 $n) (let y $t ADD x x) (let q $t cat g y j z k)"
                                       " (let e $t fold SUM g q) (let d $t SUB q e) (store Y d keep i g) (fold A SUM d keep g over i)"
                                       " (fold B ARGMAX q keep i over g))";
static const char cat_vectors[] =
    HEAD_CAT "(in B $t dense $k 1) (access ab B stream (k 1 0) (- 0)) (out Y $t $n $s) (out A $t $k $s) (let b $t load ab)"
             " (let f $t fold SUM k b) (let q $t cat g x j b k) (let u $t cat g f j z k) (let y $t SUB q u) (store Y y keep i g)"
             " (dot A q z keep k g))";
static const char totals[] =
    HEAD_J WEIGHT "(out Y $t) (out Z $t) (let s $t fold SUM j x) (let y $t MUL x s) (fold Y SUM y keep) (fold Z MAX x keep))";
static const char row_totals[] =
    HEAD_J WEIGHT "(out Y $t) (out Z i64) (out A $t) (let s $t fold SUM j x) (let y $t MUL c s) (fold Y SUM y keep)"
                  " (fold Z ARGMIN s keep) (dot A y s keep))";
static const char column_folds[] = HEAD_J "(out Y $t $m) (out Z i64 $m) (out A $t $m) (let s $t fold MAX j x) (let y $t SUB x s)"
                                          " (fold Y VAR y keep j) (fold Z ARGMIN y keep j) (dot A y x keep j))";
static const char two_widths[] =
    HEAD_JK "(out Y $t $m) (out Z $t $k) (out A $t $m $k) (out B $t $n) (let s $t dot j x v) (let r $t fold MAX k s)"
            " (fold Y SUM x keep j) (fold Z SUM s keep k) (dot A x s keep j k) (store B r keep i))";
static const char annihilating[] =
    HEAD_JK WEIGHT "(out Y $t $m $k) (out Z $t $m) (out A $t) (let s $t dot j x v skip 1) (let r $t dot j x x skip 2)"
                   " (dot Y s x skip 1 keep j k) (dot Z x c skip 3 keep j) (dot A r c skip 2 keep))";
static const char positions[] =
    HEAD_J "(out Y $t $n $m) (param p $t) (let q $t param p) (let a i64 index i) (let b i64 index j) (let d i64 ADD a b)"
           " (let e $t cast d) (let s $t fold SUM j x) (let f $t ADD s e) (let y $t MUL f q) (store Y y keep i j))";

/* ---- running ---- */

static int64_t sum_of(char letter, const text_shape *s) { return letter == 's' ? s->b + s->c : s->b + 1; }

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
    CHECK(product_t, {131, 33, 3, "f64", 1}, {61, 700, 9, "f64", 2}, {31, 40, 200, "f64", 1}, {31, 40, 7, "f32", 1});
    CHECK(mmchain_t, {131, 33, 3, "f64", 1}, {61, 600, 9, "f64", 2}, {31, 40, 200, "f64", 1});
    CHECK(there_and_back, {230, 9, 11, "f64", 1}, {61, 33, 3, "f64", 2}, {61, 40, 100, "f64", 1}, {31, 9, 20, "f32", 1});
    CHECK(there_and_back_t, {230, 9, 11, "f64", 1}, {61, 33, 3, "f64", 1}, {61, 4, 30, "f64", 2}, {31, 9, 20, "f32", 1});
    CHECK(cross, {131, 33, 3, "f64", 1}, {131, 33, 20, "f64", 2}, {131, 300, 200, "f64", 1}, {40, 7, 6000, "f64", 1},
          {40, 9, 200, "f32", 1});
}

/* ---- rows ---- */

static void test_rows(void) {
    CHECK(softmax, {131, 10, 0, "f64", 1}, {33, 530, 0, "f64", 2}, {12, 2000, 0, "f32", 1}, {0, 5, 0, "f64", 1});
    CHECK(scaled, {131, 10, 0, "f64", 1}, {33, 530, 0, "f64", 2}, {33, 530, 0, "f32", 1});
    CHECK(row_max, {131, 10, 0, "f64", 2}, {133, 530, 0, "f64", 1}, {45, 21, 0, "f32", 1});
    CHECK(scan, {131, 10, 0, "f64", 1}, {33, 530, 0, "f64", 2}, {33, 53, 0, "f32", 1}, {20, 20, 0, "i64", 1});
    CHECK(positions, {131, 10, 0, "f64", 1}, {33, 530, 0, "f32", 2});
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
    CHECK(row_totals, {5131, 10, 0, "f64", 2}, {133, 530, 0, "f64", 1}, {4500, 3, 0, "f32", 1}, {0, 4, 0, "f64", 1});
    CHECK(column_folds, {5131, 10, 0, "f64", 2}, {133, 530, 0, "f64", 2}, {450, 3, 0, "f32", 1}, {0, 4, 0, "f64", 1});
    CHECK(annihilating, {131, 10, 3, "f64", 2}, {133, 530, 9, "f64", 1}, {45, 21, 6, "f32", 1}, {45, 21, 2, "f32", 1});
    CHECK(two_widths, {2000, 1000, 8, "f64", 2}, {300, 10, 3, "f64", 1});
}

/* ---- without running ---- */

static void planned(kernel_job *j, const char *text, text_shape s, clf_sched *sched) { text_planned(&suite, j, text, s, sched); }

static void test_no_memory(void) { text_no_memory(&suite, mlogreg, (text_shape){100, 30, 8, "f64", 1}); }

/* Extents beyond those of narrow axes are arguments: one text for all of them. */
static void test_sizes_are_arguments(void) {
    kernel_job a, b;
    clf_sched sa, sb;
    clf_source ta, tb;
    planned(&a, mmchain, (text_shape){1000, 200, 8, "f64", 1}, &sa);
    planned(&b, mmchain, (text_shape){37777, 999, 8, "f64", 1}, &sb);
    CU_ASSERT_EQUAL_FATAL(sa.skel->emit(&a.c, &sa, "", &a.arena, &ta, NULL), CLF_OK);
    CU_ASSERT_EQUAL_FATAL(sb.skel->emit(&b.c, &sb, "", &b.arena, &tb, NULL), CLF_OK);
    CU_ASSERT_STRING_EQUAL(ta.text, tb.text);
    CU_ASSERT_PTR_NULL(strstr(ta.text, "#include"));
    CU_ASSERT_EQUAL(sa.extent, 1000);
    CU_ASSERT_TRUE(sb.global > 1 && (int64_t)sb.global * sb.grain >= 37777);
    job_end(&b);
    job_end(&a);
}

/* What has as many rows as the main input but is not read row by row may not be cut with it. */
static void test_square(void) {
    kernel_job j;
    clf_sched s;
    planned(&j, xv, (text_shape){300, 300, 0, "f64", 1}, &s);
    CU_ASSERT_EQUAL(s.extent, 0);
    job_end(&j);
    planned(&j, xv, (text_shape){300, 299, 0, "f64", 1}, &s);
    CU_ASSERT_EQUAL(s.extent, 300);
    job_end(&j);
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
        {"rows", test_rows},
        {"rows put together", test_cats},
        {"totals", test_totals},
        {"no memory", test_no_memory},
        {"sizes are arguments", test_sizes_are_arguments},
        {"square", test_square},
        {"cuts", test_cuts},
        {"facts", test_facts},
    };
    if (argc > 1) most_rows = 37, most_cells = 200000;
    if (!jobs_open(argc > 1)) {
        jobs_close();
        return 77;
    }
    int rc = run_suite("row_chunk", tests, sizeof tests / sizeof *tests);
    jobs_close();
    net_figure("kernels of row.chunk with the bits of the reference executor", "%ld", suite.kernels);
    return rc;
}
