/* SPDX-License-Identifier: Apache-2.0
 * What the suites of the host executor share: data, small cplans, and a run on every instruction set and number of threads. */
#ifndef CLF_TESTS_TILE_TESTING_H
#define CLF_TESTS_TILE_TESTING_H
#include <CUnit/Basic.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "host/run/tile_isa.h"
#include "kernels-cl/elem_c.h"
#include "planner/builder.h"

static clf_mem mem;
static clf_pool *pools[4]; /* of 1 .. 4 threads */

/* ---- values ------------------------------------------------------------------------------------------------------------------ */

static uint64_t seed = 1;
static inline uint64_t next_random(void) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return seed >> 33;
}

/* n elements of type t: small, mixed signs, ties; specials: also NaN, infinities, zeros and large numbers. */
static inline void *new_data(clf_dtype t, int64_t n, bool specials) {
    static const double odd[] = {NAN, INFINITY, -INFINITY, 0.0, -0.0, 1e30, -3e9, 0.5, -2.5, 1.0};
    char *p = malloc((size_t)(n + 1) * 8);
    for (int64_t i = 0; i < n; i++) {
        double x = (double)(int64_t)(next_random() % 2001) / 100.0 - 10.0;
        if (specials && next_random() % 3 == 0) x = odd[next_random() % 10];
        clf_scalar_store(p, (size_t)i, clf_scalar_to(clf_scalar_f64(x), t));
    }
    return p;
}

static inline bool same_bits(clf_scalar a, clf_scalar b) {
    if (clf_dtype_float(a.dtype) && a.u.f != a.u.f && b.u.f != b.u.f) return true;
    return clf_scalar_same(a, b);
}

static inline bool same_array(clf_dtype t, int64_t n, const void *a, const void *b) {
    for (int64_t i = 0; i < n; i++)
        if (!same_bits(clf_scalar_load(a, (size_t)i, t), clf_scalar_load(b, (size_t)i, t))) return false;
    return true;
}

/* ---- plans --------------------------------------------------------------------------------------------------------------------- */

typedef struct plan {
    clf_arena arena;
    clf_builder b;
    clf_cplan c;
} plan;

static inline void plan_begin(plan *p, int64_t rows, int64_t cols) {
    clf_arena_init(&p->arena, &mem);
    clf_build_begin(&p->b, &p->arena);
    clf_build_axis(&p->b, CLF_AXIS_RANGE, rows);
    clf_build_axis(&p->b, CLF_AXIS_RANGE, cols);
}

static inline void plan_end(plan *p) {
    clf_err err;
    clf_err_clear(&err);
    CU_ASSERT_EQUAL(clf_build_end(&p->b, &p->c, &err), CLF_OK);
    if (err.code != CLF_OK) fprintf(stderr, "%s\n", err.text);
}

/* A load of a whole matrix. */
static inline int plan_load(plan *p, clf_dtype t, int64_t r, int64_t c) {
    int in = clf_build_in(&p->b, t, 2, (int64_t[]){r, c});
    return clf_build_load(&p->b, clf_build_access(&p->b, in, (int[]){0, 1}));
}

static inline int plan_out(plan *p, clf_dtype t, int64_t r, int64_t c, uint32_t keep) {
    int64_t dim[2] = {keep & 1 ? r : c, c};
    return clf_build_out(&p->b, t, keep == 3 ? 2 : keep == 0 ? 0 : 1, dim);
}

/* Run on every instruction set and thread count. Outputs of `bytes` each; the first run's go to want when it is NULL there. */
static inline void run_all(const plan *p, void *const *in, const clf_scalar *param, int nout, const clf_dtype *type, const int64_t *n,
                           void **want) {
    CU_ASSERT_FATAL(clf_tile_fits(&p->c));
    for (int isa = CLF_ISA_BASELINE; isa <= CLF_ISA_AVX512; isa++)
        for (int threads = 0; threads <= 4; threads++) {
            clf_tile *t = NULL;
            clf_err err;
            void *out[8];
            clf_err_clear(&err);
            CU_ASSERT_EQUAL_FATAL(clf_tile_new(&t, &p->c, (clf_isa)isa, &mem, &err), CLF_OK);
            for (int i = 0; i < nout; i++) out[i] = memset(malloc((size_t)n[i] * 8 + 8), 0xa5, (size_t)n[i] * 8 + 8);
            clf_bind bind = {.in = in, .param = param, .out = out};
            CU_ASSERT_EQUAL(clf_tile_run(t, &bind, threads ? pools[threads - 1] : NULL, &err), CLF_OK);
            for (int i = 0; i < nout; i++) {
                if (!want[i]) want[i] = out[i];
                bool same = same_array(type[i], n[i], out[i], want[i]);
                CU_ASSERT(same);
                if (!same) fprintf(stderr, "output %d differs: %s, %d threads\n", i, clf_isa_name((clf_isa)isa), threads);
                if (want[i] != out[i]) free(out[i]);
            }
            clf_tile_free(t);
        }
}

typedef struct tile_test {
    const char *name;
    void (*run)(void);
} tile_test;

/** The suite's exit code: 1 when a test failed or the ledger is not back to 0. */
static inline int run_tile_suite(const char *name, const tile_test *tests, size_t n) {
    clf_mem_init(&mem, NULL, NULL);
    for (int i = 0; i < 4; i++) pools[i] = clf_pool_new(&mem, i + 1);
    CU_initialize_registry();
    CU_pSuite s = CU_add_suite(name, NULL, NULL);
    for (size_t i = 0; i < n; i++) CU_add_test(s, tests[i].name, tests[i].run);
    CU_basic_run_tests();
    unsigned failures = CU_get_number_of_failures();
    CU_cleanup_registry();
    for (int i = 0; i < 4; i++) clf_pool_free(pools[i]);
    return failures > 0 || atomic_load(&mem.now_bytes) != 0;
}
#endif
