/* SPDX-License-Identifier: Apache-2.0
 * The reference executor on operands that lie: offsets, columns, codes, keys and extents that leave their place, in every kind of sink.
 * Each is a status with a message, and nothing outside the operands is touched. */
#include <math.h>

#include "tests/unit/cplan_testing.h"

#define MEM(...) ((void *const[]){__VA_ARGS__})

static void refuse(const char *text, const clf_bind *b, clf_status st, const char *say) {
    plan p;
    plan_parse(&p, text, strlen(text));
    if (p.st) printf("\n%s\n-> %s\n", text, p.err.text);
    CU_ASSERT_EQUAL_FATAL(p.st, CLF_OK);
    CU_ASSERT_EQUAL(plan_run(&p, b), st);
    if (!strstr(p.err.text, say)) printf("\n%s\n-> '%s', expected %s\n", text, p.err.text, say);
    CU_ASSERT_PTR_NOT_NULL(strstr(p.err.text, say));
    plan_close(&p);
}

/* ---- sparse rows ------------------------------------------------------------------------------------------------------------- */

#define CSR \
    "(cplan (axis r range ascending 3) (axis e entry ascending 9 owner a parent r) (in M f64 csr 3 4) (access a M entries (r 1 0) (e 1 " \
    "0)) (let x f64 load a) (let k i64 index e) "
/* Every kind of sink over the entries. */
static const char *const over_entries[] = {
    CSR "(out A f64) (fold A SUM x keep))",
    CSR "(out A f64 3) (fold A SUM x keep r))",
    CSR "(let s f64 fold SUM e x) (out A f64 3) (store A s keep r))",
    CSR "(let s f64 fold SUM e x) (let t f64 scan SUM r s) (out A f64 3) (store A t keep r))",
    CSR "(out A f64 9) (pattern A x keep r e))",
    CSR "(out A f64 9) (scatter A SUM x key k keep))",
    CSR "(out A f64 9) (out K i64 9) (group A SUM x key k K keep))",
    CSR "(out A f64 9) (out N i64) (append A x count N keep))",
};

static void over(const void *m, clf_status st, const char *say) {
    double a[9];
    int64_t k[9];
    for (size_t i = 0; i < sizeof over_entries / sizeof *over_entries; i++)
        refuse(over_entries[i], &(clf_bind){.in = MEM((void *)m), .out = MEM(a, k)}, st, say);
}

static void test_rows(void) {
    static const int32_t idx[4] = {0, 1, 2, 3};
    static const double val[4] = {1, 2, 3, 4};
    static const int64_t good[4] = {0, 2, 2, 4}, before[4] = {-1, 2, 2, 4}, falls[4] = {0, 3, 2, 4}, beyond[4] = {0, 2, 2, 5};
    clf_csr m = {.ptr = before, .idx = idx, .val = val, .rows = 3, .cols = 4, .nnz = 4};
    over(&m, CLF_E_SHAPE, "row 0 has entries -1 to 2 of 4");
    m.ptr = falls;
    over(&m, CLF_E_SHAPE, "row 1 has entries 3 to 2 of 4");
    m.ptr = beyond;
    over(&m, CLF_E_SHAPE, "row 2 has entries 2 to 5 of 4");
    m.ptr = good;
    m.rows = 2;
    over(&m, CLF_E_SHAPE, "row 2 of a CSR matrix with 2 rows");
    static const int32_t astray[4] = {0, -1, 2, 3};
    double a[9];
    int64_t k[9];
    m.rows = 3;
    m.idx = astray;
    refuse(over_entries[5], &(clf_bind){.in = MEM(&m), .out = MEM(a)}, CLF_E_SHAPE, "key -1 leaves 0 to 8");
    m.idx = idx;
    refuse(CSR "(out A f64 3) (scatter A SUM x key k keep))", &(clf_bind){.in = MEM(&m), .out = MEM(a)}, CLF_E_SHAPE,
           "key 3 leaves 0 to 2");
    refuse(CSR "(out A f64 3) (pattern A x keep r e))", &(clf_bind){.in = MEM(&m), .out = MEM(a)}, CLF_E_SHAPE,
           "has 3 cells, 4 are written");
    refuse(CSR "(out A f64 3) (out K i64 9) (group A SUM x key k K keep))", &(clf_bind){.in = MEM(&m), .out = MEM(a, k)}, CLF_E_SHAPE,
           "more than the 3 groups its output holds");
    refuse(CSR "(out A f64 9) (out K i64 2) (group A SUM x key k K keep))", &(clf_bind){.in = MEM(&m), .out = MEM(a, k)}, CLF_E_SHAPE,
           "more than the 2 groups its output holds");
    refuse(CSR "(out A f64 9) (out B i64 3) (out N i64) (append A x B k count N keep))", &(clf_bind){.in = MEM(&m), .out = MEM(a, k, k)},
           CLF_E_SHAPE, "more than the 3 records its outputs hold");
    refuse("(cplan (axis i range free 3) (axis j range free 5:1) (in M f64 csr 3 9) (out A f64 3 5) (access a M locate (i 1 0) (j 1 0)) "
           "(let x f64 "
           "load a) (store A x keep i j))",
           &(clf_bind){.in = MEM(&m), .out = MEM((double[15]){0})}, CLF_E_SHAPE, "index 4 in dimension 1 leaves 0 to 3");
    m.rows = 2;
    refuse("(cplan (axis i range free 3) (in M f64 csr 3 4) (out A f64 3) (access a M locate (i 1 0) (- 0)) (let x f64 load a) (store A x "
           "keep "
           "i))",
           &(clf_bind){.in = MEM(&m), .out = MEM(a)}, CLF_E_SHAPE, "index 2 in dimension 0 leaves 0 to 1");
}

/* ---- segments ---------------------------------------------------------------------------------------------------------------- */

#define SEG \
    "(cplan (axis r range ascending 3) (axis s seg ascending 9 owner a parent r) (in O i64 dense 4) (access a O stream (r 1 0)) (let x " \
    "i64 index s) "

static void test_segments(void) {
    static const char *const all[] = {SEG "(out A i64 9) (store A x keep r s))",
                                      SEG "(let t i64 fold SUM s x) (out A i64 3) (store A t keep r))",
                                      SEG "(out A i64) (fold A SUM x keep))"};
    int64_t falls[4] = {0, 3, 2, 4}, before[4] = {-2, 0, 1, 2}, good[4] = {0, 3, 3, 5}, a[9];
    const int64_t few[CLF_MAX_RANK] = {3};
    for (int k = 0; k < 3; k++) {
        refuse(all[k], &(clf_bind){.in = MEM(falls), .out = MEM(a)}, CLF_E_SHAPE, "segment 1 runs from 3 to 2");
        refuse(all[k], &(clf_bind){.in = MEM(before), .out = MEM(a)}, CLF_E_SHAPE, "segment 0 runs from -2 to 0");
        refuse(all[k], &(clf_bind){.in = MEM(good), .out = MEM(a), .in_dim = few}, CLF_E_SHAPE, "segment 2 of 3 offsets");
    }
    refuse(SEG "(out A i64 4) (store A x keep r s))", &(clf_bind){.in = MEM(good), .out = MEM(a)}, CLF_E_SHAPE,
           "has 4 cells, 5 are written");
}

/* ---- dictionaries ------------------------------------------------------------------------------------------------------------ */

#define DIC \
    "(cplan (axis r range ascending 3) (axis d dict free 2 owner a parent r) (in D f64 compressed 3 2) (access a D dictionary (d 1 0) (- " \
    "1)) (let x f64 load a) "

#define LOCATED "(cplan (axis r range free 3) (in D f64 compressed 3 2) (out A f64 3) (access a D locate (r 1 0) (- 1)) "

static void test_codes(void) {
    static const int32_t good[3] = {0, 1, 0}, below[3] = {0, -1, 0}, above[3] = {0, 1, 2};
    static const double value[4] = {1, 2, 3, 4};
    double a[3] = {0};
    clf_dictionary m = {.code = below, .code_dtype = CLF_I32, .value = value, .rows = 3, .entries = 2, .cols = 2};
    static const char *const all[] = {DIC "(out A f64 3) (store A x keep r))", DIC "(out A f64) (fold A SUM x keep))",
                                      LOCATED "(let x f64 load a) (store A x keep r))"};
    for (int k = 0; k < 3; k++) {
        m.rows = 3;
        m.code = below;
        refuse(all[k], &(clf_bind){.in = MEM(&m), .out = MEM(a)}, CLF_E_SHAPE, "row 1 has code -1, the dictionary has 2 entries");
        m.code = above;
        refuse(all[k], &(clf_bind){.in = MEM(&m), .out = MEM(a)}, CLF_E_SHAPE, "row 2 has code 2, the dictionary has 2 entries");
        m.code = good;
        m.rows = 2;
        refuse(all[k], &(clf_bind){.in = MEM(&m), .out = MEM(a)}, CLF_E_SHAPE,
               k < 2 ? "row 2 of a compressed matrix with 2 rows" : "index 2");
    }
    m.rows = 3;
    m.cols = 1;
    for (int k = 0; k < 3; k++)
        refuse(all[k], &(clf_bind){.in = MEM(&m), .out = MEM(a)}, CLF_E_SHAPE, "index 1 in dimension 1 leaves 0 to 0");
}

/* ---- dense ------------------------------------------------------------------------------------------------------------------- */

#define GATHER \
    "(cplan (axis i range ascending 3) (in X f64 dense 4) (in K i64 dense 3) (access k K stream (i 1 0)) (access a X cursor (v 3 1)) " \
    "(let v i64 load k) (let x f64 load a) "

static void test_gather(void) {
    static const char *const all[] = {GATHER "(out A f64 3) (store A x keep i))",
                                      GATHER "(out A f64) (fold A SUM x keep))",
                                      GATHER "(let s f64 fold SUM i x) (out A f64) (store A s keep))",
                                      GATHER "(out A f64 4) (scatter A SUM x key v keep))",
                                      GATHER "(out A f64 4) (out G i64 4) (group A SUM x key v G keep))",
                                      GATHER "(out A f64 4) (out N i64) (append A x count N keep order v))"};
    static const struct {
        int64_t key[3];
        const char *say;
    } keys[] = {{{0, 1, 2}, "index 4 in dimension 0 leaves 0 to 3"},
                {{0, -1, 1}, "index -2 in dimension 0"},
                {{0, INT64_MAX, 0}, "index -1 in dimension 0"},
                {{INT64_MIN, 0, 0}, "index -1 in dimension 0"},
                {{0, INT64_MAX / 3, 0}, "index 9223372036854775807 in dimension 0"}};
    double x[4] = {1, 2, 3, 4}, a[4];
    int64_t n[4];
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
        for (size_t i = 0; i < sizeof all / sizeof *all; i++)
            refuse(all[i], &(clf_bind){.in = MEM(x, (void *)keys[k].key), .out = MEM(a, n)}, CLF_E_SHAPE, keys[k].say);
    refuse("(cplan (axis i range free 3) (in X f64 dense 4) (in K i64 dense 3) (access k K stream (i 1 0)) (access a X cursor (v 1 "
           "9223372036854775807)) (let v i64 load k) (let x f64 load a) (out A f64 3) (store A x keep i))",
           &(clf_bind){.in = MEM(x, ((int64_t[3]){1, 0, 0})), .out = MEM(a)}, CLF_E_SHAPE, "index -1 in dimension 0");
}

static void test_extents(void) {
    static const char fold[] =
        "(cplan (axis i range free 4) (axis j range free 3) (in X f64 dense 4 3) (out A f64 4) (access a X stream (i 1 0) (j "
        "1 0)) (let x f64 load a) (fold A SUM x keep i))";
    double x[12] = {0}, a[4];
    int64_t more[2] = {5, 3}, minus[2 * CLF_MAX_RANK] = {4, -3}, huge[CLF_MAX_RANK] = {INT64_MAX / 2}, far[2] = {INT64_MAX, INT64_MAX};
    refuse(fold, &(clf_bind){.in = MEM(x), .out = MEM(a), .axis_n = more}, CLF_E_SHAPE, "output 0 has 4 cells, 5 are written");
    refuse(fold, &(clf_bind){.in = MEM(x), .out = MEM(a), .in_dim = minus}, CLF_E_SHAPE, "input 0: dimension 1 is bound to -3");
    refuse(fold, &(clf_bind){.in = MEM(x), .out = MEM(a), .out_dim = huge}, CLF_E_LIMIT, "output 0: its size overflows");
    refuse("(cplan (axis i range free 4) (axis j range free 3) (out A i64 4 3) (let x i64 index i) (store A x keep i j))",
           &(clf_bind){.out = MEM(a), .axis_n = far}, CLF_E_SHAPE,
           "9223372036854775807 are written"); /* their product is beyond any number */
}

/* ---- what is legal and seldom ------------------------------------------------------------------------------------------------ */

static void runs(const char *text, const clf_bind *b) { refuse(text, b, CLF_OK, ""); }

/* Records in the order of reals with NaN last, and of integers; guards in every sink that has a loop. */
static void test_orders_and_guards(void) {
    double x[6] = {3, NAN, -1, 2, NAN, -1}, v[6], a[3] = {0}, cells[6];
    int64_t k[6] = {5, -2, 5, 0, 9, -2}, w[6], n = -1, g[6], count = -1;
    runs("(cplan (axis i range free 6) (in X f64 dense 6) (in K i64 dense 6) (access a X stream (i 1 0)) (access b K stream (i 1 0)) (let "
         "x f64 "
         "load a) (let k i64 load b) (out V f64 6) (out W i64 6) (out N i64) (append V x W k count N keep order x))",
         &(clf_bind){.in = MEM(x, k), .out = MEM(v, w, &n)});
    CU_ASSERT(n == 6 && v[0] == -1 && v[1] == -1 && v[2] == 2 && v[3] == 3 && isnan(v[4]) && isnan(v[5]));
    CU_ASSERT(w[0] == 5 && w[1] == -2 && w[4] == -2 && w[5] == 9); /* equals keep their order */
    runs("(cplan (axis i range free 6) (in X f64 dense 6) (in K i64 dense 6) (access a X stream (i 1 0)) (access b K stream (i 1 0)) (let "
         "x f64 "
         "load a) (let k i64 load b) (out V f64 6) (out N i64) (append V x count N keep order k))",
         &(clf_bind){.in = MEM(x, k), .out = MEM(v, &n)});
    CU_ASSERT(n == 6 && isnan(v[0]) && v[1] == -1 && v[2] == 2 && v[3] == 3 && v[4] == -1 && isnan(v[5]));
    runs("(cplan (axis i range ascending 6) (in X f64 dense 6) (in K i64 dense 6) (access a X stream (i 1 0)) (access b K stream (i 1 0)) "
         "(let x "
         "f64 load a) (let k i64 load b) (let z i64 SUB k k) (let p u8 LE z k) (let h i64 index i)\n"
         "(out A f64) (out C f64 6) (out G f64 6) (out H i64 6) (out L i64) (out V f64 6) (out N i64)\n"
         "(fold A MIN x keep guard p) (scatter C SUM x key h keep guard p) (group G SUM x key k H count L keep guard p) (append V x count "
         "N keep guard "
         "p))",
         &(clf_bind){.in = MEM(x, k), .out = MEM(a, cells, v, g, &count, v, &n)});
    CU_ASSERT(n == 4 && count == 3 && g[0] == 0 && g[1] == 5 && g[2] == 9);
    CU_ASSERT(cells[0] == 3 && cells[1] == 0 && cells[2] == -1 && cells[3] == 2 && isnan(cells[4]) && cells[5] == 0);
    CU_ASSERT(isnan(a[0]));
}

/* A fold over nothing: every kept position is its own. */
static void test_nothing_folded(void) {
    double x[3] = {4, 5, 6}, a[3] = {0};
    runs("(cplan (axis i range free 3) (in X f64 dense 3) (out A f64 3) (access a X stream (i 1 0)) (let x f64 load a) (fold A SUMSQ x "
         "keep i))",
         &(clf_bind){.in = MEM(x), .out = MEM(a)});
    CU_ASSERT(a[0] == 16 && a[1] == 25 && a[2] == 36);
}

int main(void) {
    CU_initialize_registry();
    CU_pSuite s = CU_add_suite("what the reference executor refuses", NULL, NULL);
    CU_add_test(s, "rows", test_rows);
    CU_add_test(s, "segments", test_segments);
    CU_add_test(s, "codes", test_codes);
    CU_add_test(s, "gather", test_gather);
    CU_add_test(s, "extents", test_extents);
    CU_add_test(s, "orders and guards", test_orders_and_guards);
    CU_add_test(s, "nothing folded", test_nothing_folded);
    CU_basic_run_tests();
    int bad = CU_get_number_of_failures() > 0;
    CU_cleanup_registry();
    return bad;
}
