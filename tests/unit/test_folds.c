/* SPDX-License-Identifier: Apache-2.0
 * Every row of folds.def: its texts run over the reduction tree of core/fold.h in every element type, against the oracle; every way
 * to cut the tree gives the same bits; `repeat` equals folding n times; type rules and tree sizes. */
#include <CUnit/Basic.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/fold.h"
#include "tests/oracle/fold_tree.h"
#include "tests/oracle/folds_oracle.h"

enum { MAX_VALUES = CLF_LEAF * 40 };

static uint64_t next_random(uint64_t *s) {
    *s = *s * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *s >> 33;
}

static clf_scalar finish(clf_fold_id fold, clf_dtype value, const tree *t, const fold_state *s) {
    return clf_scalar_to(t->f->finish(s), clf_fold_result_type(fold, value));
}

/* The whole fold; `*cuts_agree` is cleared when another way to cut the tree gives other bits. */
static clf_scalar run_tree(clf_fold_id fold, clf_dtype value, const tree *t, bool *cuts_agree) {
    fold_state s = {0};
    uint64_t seed = t->n * 31 + (uint64_t)fold;
    if (t->n == 0) {
        t->f->init(&s);
        return finish(fold, value, t, &s);
    }
    s = by_definition(t, 0, leaves_of(t));
    clf_scalar r = finish(fold, value, t, &s);
    for (int level = -2; level < 4; level++) {
        fold_state other = by_runs(t, level, &seed);
        if (!clf_scalar_same(finish(fold, value, t, &other), r)) *cuts_agree = false;
    }
    return r;
}

/* ---- against the oracle -------------------------------------------------------------------------------------------------- */

static clf_scalar values[MAX_VALUES];

static void check(clf_fold_id fold, clf_dtype value, size_t n, int lanes, size_t leaf, bool exact) {
    tree t = {.f = &fold_texts[fold].of[value], .v = values, .n = n, .leaf = leaf, .lanes = lanes};
    bool cuts_agree = true;
    oracle_result want;
    clf_scalar got = run_tree(fold, value, &t, &cuts_agree);
    oracle_fold(fold, value, values, n, leaf / (size_t)lanes, exact, &want);
    bool ok = oracle_agrees(&want, got);
    if (!ok || !cuts_agree)
        printf("\n    %s %s n=%zu lanes=%d leaf=%zu: %.17g, oracle %.20Lg / %lld within %.3Lg%s", clf_folds[fold].name,
               clf_dtype_name(value), n, lanes, leaf, clf_scalar_as_f64(got), want.exact, (long long)want.integer, want.tol,
               cuts_agree ? "" : "; cuts differ");
    CU_ASSERT(ok && cuts_agree);
}

/* Full and row folds, and the column folds of two widths. */
static void check_shapes(clf_fold_id fold, clf_dtype value, size_t n, bool exact) {
    static const int64_t widths[] = {1, 12, 200};
    check(fold, value, n, clf_lanes(value), CLF_LEAF, exact);
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        size_t block = (size_t)clf_col_block((int64_t)n, widths[i]);
        if (n <= block * TREE_MAX_LEAVES) check(fold, value, n, clf_col_lanes(widths[i], value), block, exact);
    }
}

typedef clf_scalar make_fn(clf_dtype t, size_t i, uint64_t *seed);

static clf_scalar small_integer(clf_dtype t, size_t i, uint64_t *seed) {
    (void)i;
    return clf_scalar_to(clf_scalar_i64((int64_t)(next_random(seed) % 15) - (t == CLF_U8 ? 0 : 7)), t);
}
static clf_scalar positive_or_negative_one(clf_dtype t, size_t i, uint64_t *seed) {
    return clf_scalar_to(clf_scalar_i64(i < 10 ? 2 : next_random(seed) % 2 || t == CLF_U8 ? 1 : -1), t);
}
static clf_scalar any_integer(clf_dtype t, size_t i, uint64_t *seed) {
    (void)i;
    return clf_scalar_to(clf_scalar_i64((int64_t)(next_random(seed) << 33 ^ next_random(seed) << 7 ^ next_random(seed))), t);
}
static clf_scalar real(clf_dtype t, size_t i, uint64_t *seed) {
    (void)i;
    return clf_scalar_to(clf_scalar_f64((double)next_random(seed) * 0x1p-31 - 0.3), t);
}
static clf_scalar far_real(clf_dtype t, size_t i, uint64_t *seed) { /* a large mean: what a sum of squares would lose */
    (void)i;
    return clf_scalar_to(clf_scalar_f64(t == CLF_F32 ? 300 : 1e7 + (double)next_random(seed) * 0x1p-31), t);
}
static clf_scalar near_one(clf_dtype t, size_t i, uint64_t *seed) {
    (void)i;
    return clf_scalar_to(clf_scalar_f64(1 + ((double)next_random(seed) * 0x1p-31 - 0.5) * 1e-3), t);
}
static clf_scalar all_equal(clf_dtype t, size_t i, uint64_t *seed) {
    (void)i, (void)seed;
    return clf_scalar_to(clf_scalar_f64(3), t);
}
static clf_scalar all_zero(clf_dtype t, size_t i, uint64_t *seed) {
    (void)i, (void)seed;
    return clf_scalar_to(clf_scalar_f64(0), t);
}

static void fill(make_fn *make, clf_dtype in, clf_dtype value, size_t n) {
    uint64_t seed = n + 17 * (uint64_t)in;
    for (size_t i = 0; i < n; i++) values[i] = clf_scalar_to(make(in, i, &seed), value);
}

static const size_t sizes[] = {0, 1, 2, 3, 7, 8, 9, 16, 17, 511, 512, 513, 1024, 1537, 3000, CLF_LEAF * 16, CLF_LEAF * 21 + 5, MAX_VALUES};
enum { NSIZES = sizeof sizes / sizeof *sizes };

static void check_all(make_fn *make, clf_fold_id fold, bool floats_only, bool exact) {
    for (int in = 0; in < (floats_only ? 2 : CLF_NDTYPES); in++) {
        clf_dtype value = clf_fold_value_type(fold, (clf_dtype)in);
        for (size_t i = 0; i < NSIZES; i++) {
            fill(make, (clf_dtype)in, value, sizes[i]);
            check_shapes(fold, value, sizes[i], exact);
        }
    }
}

static void test_small_integers(void) {
    for (int fold = 0; fold < CLF_NFOLDS; fold++) {
        check_all(fold == CLF_FOLD_PROD ? positive_or_negative_one : small_integer, (clf_fold_id)fold, false, true);
        check_all(all_equal, (clf_fold_id)fold, fold == CLF_FOLD_PROD, fold != CLF_FOLD_PROD && fold != CLF_FOLD_VAR);
        check_all(all_zero, (clf_fold_id)fold, false, true);
    }
}

static void test_integers_wrap(void) {
    static const clf_fold_id folds[] = {CLF_FOLD_SUM, CLF_FOLD_SUMSQ,  CLF_FOLD_PROD,   CLF_FOLD_MIN,
                                        CLF_FOLD_MAX, CLF_FOLD_ARGMIN, CLF_FOLD_ARGMAX, CLF_FOLD_NNZ};
    for (size_t i = 0; i < sizeof folds / sizeof *folds; i++)
        for (int in = CLF_I32; in <= CLF_U8; in++)
            for (size_t j = 0; j < NSIZES; j++) {
                clf_dtype value = clf_fold_value_type(folds[i], (clf_dtype)in);
                fill(any_integer, (clf_dtype)in, value, sizes[j]);
                check_shapes(folds[i], value, sizes[j], true);
            }
}

static void test_reals_within_bound(void) {
    for (int fold = 0; fold < CLF_NFOLDS; fold++) check_all(fold == CLF_FOLD_PROD ? near_one : real, (clf_fold_id)fold, true, false);
    check_all(far_real, CLF_FOLD_VAR, true, false);
    check_all(far_real, CLF_FOLD_MEAN, true, false);
}

/* One special value among ordinary ones, at the ends, on lane and leaf borders; also two of them. */
static void test_special_values(void) {
    static const double special[] = {NAN, INFINITY, -INFINITY, -0.0};
    static const size_t where[] = {0, 1, 8, 15, 511, 512, 1299};
    for (int fold = 0; fold < CLF_NFOLDS; fold++)
        for (int in = CLF_F32; in <= CLF_F64; in++)
            for (int i = 0; i < 4 * 7 * 5; i++) {
                fill(fold == CLF_FOLD_PROD ? near_one : real, (clf_dtype)in, (clf_dtype)in, 1300);
                values[where[i / 4 % 7]].u.f = special[i % 4];
                if (i / 28 > 0) values[700].u.f = special[i / 28 - 1];
                check_shapes((clf_fold_id)fold, (clf_dtype)in, 1300, false);
            }
}

/* Found while writing the table: empty lanes must not turn a large mean into NaN. */
static void test_var_of_huge_values(void) {
    for (size_t n = 2; n < 40; n++) {
        for (size_t i = 0; i < n; i++) values[i] = clf_scalar_f64(1e200);
        tree t = {.f = &fold_texts[CLF_FOLD_VAR].of[CLF_F64], .v = values, .n = n, .leaf = CLF_LEAF, .lanes = 8};
        bool same = true;
        CU_ASSERT(clf_scalar_as_f64(run_tree(CLF_FOLD_VAR, CLF_F64, &t, &same)) == 0 && same);
    }
}

/* ---- repeat -------------------------------------------------------------------------------------------------------------- */

/* The values 2 and -1 (or none), then n copies of v: folded one by one, and by repeat and merge. All steps are exact. */
static bool repeat_agrees(clf_fold_id fold, clf_dtype value, clf_scalar v, int64_t n, bool prefix) {
    const fold_text *f = &fold_texts[fold].of[value];
    fold_state one = {0}, many, times = {0};
    int64_t k = 0;
    f->init(&one);
    for (; prefix && k < 2; k++) f->step(&one, clf_scalar_to(clf_scalar_i64(k == 0 ? 2 : -1), value), k);
    many = one;
    for (int64_t i = 0; i < n; i++) f->step(&one, v, k + i);
    f->repeat(&times, v, n, k);
    f->merge(&many, &times);
    clf_dtype result = clf_fold_result_type(fold, value);
    double x = clf_scalar_as_f64(clf_scalar_to(f->finish(&one), result)), y = clf_scalar_as_f64(clf_scalar_to(f->finish(&many), result));
    double tol = fold == CLF_FOLD_VAR && prefix ? 1e-5 * fabs(x) : 0; /* the mean of unequal values rounds */
    bool same = x == y || fabs(x - y) <= tol || (isnan(x) && isnan(y));
    if (!same)
        printf("\n    %s %s: %lld x %g%s: %.17g by steps, %.17g by repeat", clf_folds[fold].name, clf_dtype_name(value), (long long)n,
               clf_scalar_as_f64(v), prefix ? " after 2, -1" : "", x, y);
    return same;
}

static void test_repeat(void) {
    static const double copies_of[] = {0, -0.0, 1, -3, 1.5, -1.5, 2147483647, NAN, INFINITY, -INFINITY};
    static const int64_t times[] = {0, 1, 2, 7, 13};
    for (int fold = 0; fold < CLF_NFOLDS; fold++)
        for (int in = 0; in < CLF_NDTYPES; in++)
            for (int i = 0; i < 10 * 5; i++) {
                clf_dtype value = clf_fold_value_type((clf_fold_id)fold, (clf_dtype)in);
                if (in == CLF_F32 && i % 10 == 6) continue; /* 2^31 - 1 is no f32, so its multiples round */
                if (in == CLF_F64 && i % 10 == 6 && (fold == CLF_FOLD_PROD || fold == CLF_FOLD_SUMSQ || fold == CLF_FOLD_VAR)) continue;
                clf_scalar v = clf_scalar_to(clf_scalar_to(clf_scalar_f64(copies_of[i % 10]), (clf_dtype)in), value);
                CU_ASSERT(repeat_agrees((clf_fold_id)fold, value, v, times[i / 10], false));
                CU_ASSERT(repeat_agrees((clf_fold_id)fold, value, v, times[i / 10], true));
            }
}

/* ---- the table ----------------------------------------------------------------------------------------------------------- */

static void test_table(void) {
    for (int fold = 0; fold < CLF_NFOLDS; fold++) {
        CU_ASSERT_STRING_EQUAL(clf_folds[fold].state, fold_texts[fold].state);
        CU_ASSERT_EQUAL(clf_fold_find(clf_folds[fold].name), fold);
        CU_ASSERT(clf_folds[fold].flops > 0);
    }
    CU_ASSERT_EQUAL(clf_fold_find("median"), -1);
}

/* From the contract: integer sums are i64, mean and var f64 (f32 data: f32), extremes keep the type, positions and counts are i64. */
static void test_types(void) {
    static const struct {
        const char *name, *value, *result; /* for f32 f64 i32 i64 u8; letters f d i l u */
    } want[] = {
        {"sum", "fdlll", "fdlll"},  {"sumsq", "fdlll", "fdlll"}, {"min", "fdilu", "fdilu"},    {"max", "fdilu", "fdilu"},
        {"prod", "fdlll", "fdlll"}, {"mean", "fdddd", "fdddd"},  {"var", "fdddd", "fdddd"},    {"argmin", "fdilu", "lllll"},
        {"any", "fdilu", "uuuuu"},  {"all", "fdilu", "uuuuu"},   {"argmax", "fdilu", "lllll"}, {"nnz", "fdilu", "lllll"},
    };
    CU_ASSERT_EQUAL(sizeof want / sizeof *want, CLF_NFOLDS);
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        clf_fold_id fold = (clf_fold_id)clf_fold_find(want[i].name);
        for (int in = 0; in < CLF_NDTYPES; in++) {
            clf_dtype value = clf_fold_value_type(fold, (clf_dtype)in);
            CU_ASSERT_EQUAL("fdilu"[value], want[i].value[in]);
            CU_ASSERT_EQUAL("fdilu"[clf_fold_result_type(fold, value)], want[i].result[in]);
        }
    }
}

static void test_tree_sizes(void) {
    static const int64_t rows[] = {0, 1, 16, 17, 1000, 16384, 16385, 1000000, INT64_C(1) << 40},
                         cols[] = {1, 5, 128, 129, 4096, 4097, 100000};
    CU_ASSERT(clf_col_lanes(1, CLF_F64) == 8 && clf_col_lanes(1, CLF_F32) == 16 && clf_col_lanes(8, CLF_F64) == 1);
    CU_ASSERT(clf_col_lanes(12, CLF_F64) == 2 && clf_col_lanes(12, CLF_F32) == 4 && clf_col_lanes(127, CLF_I32) == 8);
    CU_ASSERT(clf_col_lanes(129, CLF_F64) == 1 && clf_col_lanes(131, CLF_F32) == 1);
    for (int i = 0; i < 9 * 7; i++) {
        int64_t r = rows[i % 9], c = cols[i / 9], b = clf_col_block(r, c), most = c <= 4096 ? 1024 : 64;
        CU_ASSERT(b >= 16 && (b & (b - 1)) == 0 && (r + b - 1) / b <= most);
        CU_ASSERT(b == 16 || (r + b / 2 - 1) / (b / 2) > most); /* no larger than needed */
    }
}

int main(void) {
    CU_initialize_registry();
    CU_pSuite s = CU_add_suite("folds", NULL, NULL);
    CU_add_test(s, "table", test_table);
    CU_add_test(s, "type rules", test_types);
    CU_add_test(s, "tree sizes", test_tree_sizes);
    CU_add_test(s, "small integers, bit for bit", test_small_integers);
    CU_add_test(s, "integers wrap", test_integers_wrap);
    CU_add_test(s, "reals within the bound", test_reals_within_bound);
    CU_add_test(s, "special values", test_special_values);
    CU_add_test(s, "variance of huge values", test_var_of_huge_values);
    CU_add_test(s, "repeat", test_repeat);
    CU_basic_run_tests();
    int bad = CU_get_number_of_failures() > 0;
    CU_cleanup_registry();
    return bad;
}
