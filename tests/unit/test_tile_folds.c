/* SPDX-License-Identifier: Apache-2.0
 * Folds of the host executor against the reduction tree of core/fold.h. */
#include "tests/unit/tile_naive.h"

static void check_fold(clf_fold_id f, clf_dtype t, uint32_t keep, int64_t r, int64_t c, bool specials) {
    plan p;
    plan_begin(&p, r, c);
    int64_t dim[2] = {r, c}, n = results_of(keep, r, c);
    int x = clf_build_load(&p.b, clf_build_access(&p.b, clf_build_in(&p.b, t, 2, dim), (int[]){0, 1}));
    clf_dtype type = clf_fold_result_type(f, t);
    clf_build_fold(&p.b, plan_out(&p, type, r, c, keep), f, x, keep);
    plan_end(&p);
    void *in[1] = {new_data(t, r * c, specials)}, *want[1] = {naive_fold(f, t, keep, r, c, in[0])};
    unsigned before = CU_get_number_of_failures();
    run_all(&p, in, NULL, 1, &type, &n, want);
    if (CU_get_number_of_failures() != before)
        fprintf(stderr, "%s %s keep %u %lld x %lld\n", clf_folds[f].id, clf_dtype_name(t), keep, (long long)r, (long long)c);
    free(in[0]);
    free(want[0]);
    clf_arena_release(&p.arena);
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
        {"fold facts", test_fold_facts},
        {"folds", test_folds},
        {"folds in parts", test_folds_parallel},
        {"short rows", test_short_rows},
    };
    return run_tile_suite("tile folds", tests, sizeof tests / sizeof *tests);
}
