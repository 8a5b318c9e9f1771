/* SPDX-License-Identifier: Apache-2.0
 * Folds of the host executor against the reduction tree of core/fold.h. */
#include "tests/unit/tile_naive.h"

/* Cells in, r x c, folded by every build and number of threads; told: what a failure was about. */
static void compare(clf_fold_id f, clf_dtype t, uint32_t keep, int64_t r, int64_t c, void *cells, void *want, const char *told) {
    plan p;
    plan_begin(&p, r, c);
    int64_t dim[2] = {r, c}, n = results_of(keep, r, c);
    int x = clf_build_load(&p.b, clf_build_access(&p.b, clf_build_in(&p.b, t, 2, dim), (int[]){0, 1}));
    clf_dtype type = clf_fold_result_type(f, t);
    clf_build_fold(&p.b, plan_out(&p, type, r, c, keep), f, x, keep);
    plan_end(&p);
    unsigned before = CU_get_number_of_failures();
    run_all(&p, (void *[]){cells}, NULL, 1, &type, &n, (void *[]){want});
    if (CU_get_number_of_failures() != before)
        fprintf(stderr, "%s %s keep %u %lld x %lld%s\n", clf_folds[f].id, clf_dtype_name(t), keep, (long long)r, (long long)c, told);
    clf_arena_release(&p.arena);
}

static void check_fold(clf_fold_id f, clf_dtype t, uint32_t keep, int64_t r, int64_t c, bool specials) {
    void *cells = new_data(t, r * c, specials), *want = naive_fold(f, t, keep, r, c, cells);
    compare(f, t, keep, r, c, cells, want, "");
    free(cells);
    free(want);
}

static const int64_t shapes[][2] = {{0, 0},   {0, 5},   {5, 0},   {1, 1},   {2, 3},    {7, 7},    {33, 10},  {64, 8},  {65, 2},
                                    {100, 1}, {1, 513}, {3, 512}, {3, 513}, {2, 1100}, {19, 128}, {20, 129}, {513, 7}, {1030, 3}};

static void test_folds(void) {
    for (int f = 0; f < CLF_NFOLDS; f++)
        for (int t = 0; t < CLF_NDTYPES; t++) {
            if (clf_fold_value_type((clf_fold_id)f, (clf_dtype)t) != (clf_dtype)t) continue;
            for (uint32_t keep = 0; keep < 3; keep++)
                for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
                    check_fold((clf_fold_id)f, (clf_dtype)t, keep, shapes[s][0], shapes[s][1], (s & 1) != 0);
        }
}

/* Rows of every length up to where they no longer pass side by side, and a few beyond; some rows are left over. */
static void test_short_rows(void) {
    for (int f = 0; f < CLF_NFOLDS; f++)
        for (int t = 0; t < CLF_NDTYPES; t++) {
            if (clf_fold_value_type((clf_fold_id)f, (clf_dtype)t) != (clf_dtype)t) continue;
            for (int64_t n = 1; n < 36; n++) check_fold((clf_fold_id)f, (clf_dtype)t, 1, 19, n, n % 2 != 0);
        }
}

/* ---- positions, by their meaning ---- */

/* Few values, so that the extreme one comes several times, first, last, or as all there is; f64 cannot tell the greatest i64 apart. */
enum { MIXES = 6, MOST_OF_MIX = 4 };
static void mixed(void *x, clf_dtype t, int64_t n, int mix) {
    static const double of[MIXES][MOST_OF_MIX] = {{-INFINITY, -INFINITY, -INFINITY, -INFINITY},
                                                  {INFINITY, INFINITY, INFINITY, INFINITY},
                                                  {0.0, -0.0, 0.0, -0.0},
                                                  {3, 1, 2, 3},
                                                  {NAN, INFINITY, -INFINITY, 1},
                                                  {1, 1, 1, 1}};
    for (int64_t i = 0; i < n; i++) {
        double v = of[mix][next_random() % MOST_OF_MIX];
        if (mix == 5 && i == n - 1) v = next_random() % 2 ? 7 : 0;
        if (mix == 4 && next_random() % 3) v = 1;
        clf_scalar_store(x, (size_t)i, clf_scalar_to(clf_scalar_f64(v), t));
    }
}

/* The first position of n cells, `stride` apart, of what is most extreme; 1-based. */
static int64_t first_most(clf_fold_id f, clf_dtype t, const void *x, int64_t at, int64_t n, int64_t stride) {
    int64_t best = 0;
    double most = 0;
    for (int64_t i = 0; i < n; i++) {
        const double v = clf_scalar_as_f64(clf_scalar_load(x, (size_t)(at + i * stride), t));
        const bool more = f == CLF_FOLD_ARGMAX ? v > most : v < most;
        if (best && (isnan(most) || !(more || isnan(v)))) continue;
        best = i + 1;
        most = v;
    }
    return best;
}

static void check_positions(clf_fold_id f, clf_dtype t, uint32_t keep, int64_t r, int64_t c, int mix) {
    const int64_t n = results_of(keep, r, c);
    int64_t *at = malloc((size_t)(n + 1) * sizeof *at);
    void *cells = new_data(t, r * c, false);
    char told[16];
    snprintf(told, sizeof told, ", mix %d", mix);
    mixed(cells, t, r * c, mix);
    for (int64_t i = 0; i < n; i++)
        at[i] = keep == 0   ? first_most(f, t, cells, 0, r * c, 1)
                : keep == 1 ? first_most(f, t, cells, i * c, c, 1)
                            : first_most(f, t, cells, i, r, c);
    compare(f, t, keep, r, c, cells, at, told);
    free(cells);
    free(at);
}

static void test_positions(void) {
    static const clf_fold_id folds[] = {CLF_FOLD_ARGMIN, CLF_FOLD_ARGMAX};
    static const int64_t shape[][2] = {{1, 1},  {9, 1},   {8, 7},   {7, 8},   {17, 9},  {11, 15}, {10, 16},  {9, 17},
                                       {8, 31}, {16, 32}, {19, 33}, {5, 100}, {3, 511}, {3, 512}, {2, 1025}, {700, 3}};
    for (int f = 0; f < 2; f++)
        for (int t = 0; t < CLF_NDTYPES; t++)
            for (uint32_t keep = 0; keep < 3; keep++)
                for (size_t s = 0; s < sizeof shape / sizeof *shape; s++)
                    for (int mix = 0; mix < MIXES; mix++) check_positions(folds[f], (clf_dtype)t, keep, shape[s][0], shape[s][1], mix);
}

/* Large enough for several parts and threads. */
static void test_folds_parallel(void) {
    static const int64_t large[][2] = {{1, 400001}, {40000, 10}, {3000, 129}, {70, 5003}, {400, 1024}};
    static const clf_fold_id folds[] = {CLF_FOLD_SUM, CLF_FOLD_VAR, CLF_FOLD_ARGMAX};
    for (size_t s = 0; s < sizeof large / sizeof *large; s++)
        for (int f = 0; f < 3; f++)
            for (uint32_t keep = 0; keep < 3; keep++)
                check_fold(folds[f], s % 2 ? CLF_F32 : CLF_F64, keep, large[s][0], large[s][1], false);
}

static void test_fold_facts(void) {
    static const int bytes[CLF_NDTYPES] = {4, 8, 4, 8, 1};
    for (int f = 0; f < CLF_NFOLDS; f++)
        for (int t = 0; t < CLF_NDTYPES; t++) {
            const clf_fold_fns *fns = clf_isa_loops(CLF_ISA_BASELINE).fold->fold[t][f];
            const char *state = clf_folds[f].state;
            CU_ASSERT_EQUAL(fns != NULL, clf_fold_value_type((clf_fold_id)f, (clf_dtype)t) == (clf_dtype)t);
            for (int i = 0; i < 3 && fns; i++) {
                char letter = i < (int)strlen(state) ? state[i] : 'X';
                CU_ASSERT_EQUAL(fns->comp_bytes[i], letter == 'V' ? bytes[t] : letter == 'N' ? 8 : 0);
            }
            if (fns) CU_ASSERT_EQUAL(fns->uses_k, strchr(clf_folds[f].step, 'k') != NULL);
        }
}

int main(void) {
    static const tile_test tests[] = {
        {"fold facts", test_fold_facts}, {"folds", test_folds},         {"folds in parts", test_folds_parallel},
        {"short rows", test_short_rows}, {"positions", test_positions},
    };
    return run_tile_suite("tile folds", tests, sizeof tests / sizeof *tests);
}
