/* SPDX-License-Identifier: Apache-2.0
 * What the suites of graph, planner and public interface share: an allocator that counts and fails, a context on the host executor,
 * and programs in our language. */
#ifndef CLF_TESTS_API_TESTING_H
#define CLF_TESTS_API_TESTING_H
#include <CUnit/Basic.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clfuse/clfuse.h"

/* Counts live bytes; the allocation number `fail_at` (from 1) fails, and with `for_ever` every one after it. */
typedef struct counting_heap {
    atomic_llong live, count;
    long long fail_at;
    bool for_ever;
} counting_heap;

static inline void *counting_alloc(void *user, void *ptr, size_t old_bytes, size_t new_bytes) {
    counting_heap *h = user;
    void *fresh = NULL;
    if (new_bytes) {
        long long k = atomic_fetch_add(&h->count, 1) + 1;
        if (h->fail_at && (h->for_ever ? k >= h->fail_at : k == h->fail_at)) return NULL;
        if (posix_memalign(&fresh, 64, new_bytes) != 0) return NULL;
        if (ptr) memcpy(fresh, ptr, old_bytes < new_bytes ? old_bytes : new_bytes);
    }
    free(ptr);
    atomic_fetch_add(&h->live, (long long)new_bytes - (long long)(ptr ? old_bytes : 0));
    return fresh;
}

static inline clf_ctx *open_on(const char *device) {
    clf_ctx *c = NULL;
    clf_options o = {.struct_size = sizeof o, .device = device};
    clf_status st = clf_open(&c, &o);
    if (st != CLF_OK) printf("\n    clf_open: %s\n", clf_open_error());
    CU_ASSERT_EQUAL_FATAL(st, CLF_OK);
    return c;
}

static inline clf_ctx *open_host(void) { return open_on("host"); }

/* The failure code, and that the context says something about it. */
static inline void expect_error(clf_ctx *c, clf_status got, clf_status want, const char *word) {
    const char *text = clf_last_error(c);
    if (got != want || !strstr(text, word)) printf("\n    got %s \"%s\", wanted %s with '%s'\n", clf_status_name(got), text, clf_status_name(want), word);
    CU_ASSERT_EQUAL(got, want);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, word));
}

/* A sticky error handle with this code, whose message has this word. */
static inline void expect_sticky(const clf_mat *m, clf_status want, const char *word) {
    const char *text = "";
    clf_status got = clf_status_of(m, &text);
    if (got != want || !strstr(text, word)) printf("\n    got %s \"%s\", wanted %s with '%s'\n", clf_status_name(got), text, clf_status_name(want), word);
    CU_ASSERT_EQUAL(got, want);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, word));
}

static inline double read_f64(clf_mat *m) {
    double x = -12345.678;
    clf_status st = clf_read_f64(m, &x);
    if (st != CLF_OK) printf("\n    %s: %s\n", clf_status_name(st), clf_last_error(clf_ctx_of(m)));
    CU_ASSERT_EQUAL(st, CLF_OK);
    return x;
}

/* Results of a program; every result is kept until the context closes. */
enum { MOST_RESULTS = 512 };
typedef struct program { size_t n; clf_mat *result[MOST_RESULTS]; } program;

/* The bare expressions of a text, in order. */
static inline program parse_bare(clf_ctx *c, const char *text, const clf_binding *vars, size_t nvars) {
    clf_result r[MOST_RESULTS];
    size_t n = MOST_RESULTS;
    program p = {0, {NULL}};
    clf_status st = clf_parse(c, text, vars, nvars, r, &n);
    if (st != CLF_OK) printf("\n    %s: %s\n", text, clf_last_error(c));
    CU_ASSERT_EQUAL_FATAL(st, CLF_OK);
    for (size_t i = 0; i < n; i++)
        if (r[i].bare) p.result[p.n++] = r[i].value;
    return p;
}

/* Run f in a thread with a small stack. */
static inline void with_stack(size_t bytes, void *(*f)(void *), void *arg) {
    pthread_attr_t a;
    pthread_t t;
    CU_ASSERT_EQUAL_FATAL(pthread_attr_init(&a), 0);
    CU_ASSERT_EQUAL_FATAL(pthread_attr_setstacksize(&a, bytes), 0);
    CU_ASSERT_EQUAL_FATAL(pthread_create(&t, &a, f, arg), 0);
    pthread_join(t, NULL);
    pthread_attr_destroy(&a);
}

typedef struct test_case { const char *name; CU_TestFunc run; } test_case;

static inline int run_suite(const char *name, const test_case *tests, size_t n) {
    if (CU_initialize_registry() != CUE_SUCCESS) return 1;
    CU_pSuite suite = CU_add_suite(name, NULL, NULL);
    for (size_t i = 0; suite && i < n; i++) CU_add_test(suite, tests[i].name, tests[i].run);
    CU_basic_run_tests();
    unsigned failures = CU_get_number_of_failures();
    CU_cleanup_registry();
    return failures > 0 || !suite;
}
#endif
