/* SPDX-License-Identifier: Apache-2.0
 * The thread pool: every part once, workers in range, nested and concurrent jobs, restarts after sleep, allocation failure. */
#include "host/run/pool.h"
#include "tests/unit/heap_testing.h"

#include <CUnit/Basic.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static clf_mem mem;

enum { PARTS = 1000 };
typedef struct tally {
    atomic_int runs[PARTS];
    atomic_int bad_worker;
    int threads;
    clf_pool *nested;
} tally;

static void count_part(void *user, int64_t part, int worker) {
    tally *t = user;
    atomic_fetch_add(&t->runs[part], 1);
    if (worker < 0 || worker >= t->threads) atomic_fetch_add(&t->bad_worker, 1);
}

static bool each_once(tally *t, int64_t parts) {
    for (int64_t i = 0; i < PARTS; i++)
        if (atomic_load(&t->runs[i]) != (i < parts)) return false;
    return atomic_load(&t->bad_worker) == 0;
}

static void test_every_part_once(void) {
    static const int64_t parts[] = {0, 1, 2, 3, 17, PARTS};
    for (int threads = 1; threads <= 4; threads++) {
        clf_pool *p = clf_pool_new(&mem, threads);
        CU_ASSERT_PTR_NOT_NULL_FATAL(p);
        CU_ASSERT_EQUAL(clf_pool_threads(p), threads);
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
            tally *t = calloc(1, sizeof *t);
            t->threads = threads;
            clf_pool_run(p, parts[i], count_part, t);
            CU_ASSERT(each_once(t, parts[i]));
            free(t);
        }
        clf_pool_free(p);
    }
}

/* Bursts of small jobs, some after the workers fell asleep. */
static void test_bursts(void) {
    clf_pool *p = clf_pool_new(&mem, 3);
    bool right = true;
    for (int i = 0; i < 300; i++) {
        tally *t = calloc(1, sizeof *t);
        t->threads = 3;
        clf_pool_run(p, 1 + i % 40, count_part, t);
        right &= each_once(t, 1 + i % 40);
        free(t);
        if (i % 50 == 0) nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    CU_ASSERT(right);
    clf_pool_free(p);
}

static void run_inner(void *user, int64_t part, int worker) {
    tally *outer = user, *inner = calloc(1, sizeof *inner);
    (void)worker;
    inner->threads = outer->threads;
    clf_pool_run(outer->nested, 20, count_part, inner);
    if (each_once(inner, 20)) atomic_fetch_add(&outer->runs[part], 1);
    free(inner);
}

static void test_nested(void) {
    tally *t = calloc(1, sizeof *t);
    t->threads = 3;
    t->nested = clf_pool_new(&mem, 3);
    clf_pool_run(t->nested, 8, run_inner, t);
    CU_ASSERT(each_once(t, 8));
    clf_pool_free(t->nested);
    free(t);
}

static void *call_often(void *pool) {
    bool right = true;
    for (int i = 0; i < 100; i++) {
        tally *t = calloc(1, sizeof *t);
        t->threads = clf_pool_threads(pool);
        clf_pool_run(pool, 30, count_part, t);
        right &= each_once(t, 30);
        free(t);
    }
    return right ? pool : NULL;
}

static void test_concurrent_callers(void) {
    clf_pool *p = clf_pool_new(&mem, 2);
    pthread_t other[3];
    for (int i = 0; i < 3; i++) pthread_create(&other[i], NULL, call_often, p);
    for (int i = 0; i < 3; i++) {
        void *right = NULL;
        pthread_join(other[i], &right);
        CU_ASSERT_PTR_NOT_NULL(right);
    }
    clf_pool_free(p);
}

static void test_no_memory(void) {
    for (int n = 0; n < 3; n++) {
        clf_mem m;
        counting_heap heap = heap_of(n);
        clf_mem_init(&m, counting_alloc, &heap);
        clf_pool *p = clf_pool_new(&m, 2);
        CU_ASSERT_EQUAL(p != NULL, n >= 2);
        clf_pool_free(p);
        CU_ASSERT_EQUAL(atomic_load(&m.now_bytes), 0);
    }
}

int main(void) {
    clf_mem_init(&mem, NULL, NULL);
    CU_initialize_registry();
    CU_pSuite s = CU_add_suite("pool", NULL, NULL);
    CU_add_test(s, "every part once", test_every_part_once);
    CU_add_test(s, "bursts", test_bursts);
    CU_add_test(s, "nested", test_nested);
    CU_add_test(s, "concurrent callers", test_concurrent_callers);
    CU_add_test(s, "no memory", test_no_memory);
    CU_basic_run_tests();
    unsigned failures = CU_get_number_of_failures();
    CU_cleanup_registry();
    return failures > 0 || atomic_load(&mem.now_bytes) != 0;
}
