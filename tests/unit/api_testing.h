/* SPDX-License-Identifier: Apache-2.0
 * What the suites of graph, planner and public interface share: an allocator that counts and fails, contexts on the host executor
 * and on devices, texts, and programs in our language. */
#ifndef CLF_TESTS_API_TESTING_H
#define CLF_TESTS_API_TESTING_H
#include <CUnit/Basic.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clfuse/clfuse.h"
#include "tests/unit/heap_testing.h"
#include "tests/unit/stop_testing.h"

static inline clf_ctx *open_on(const char *device) {
    clf_ctx *c = NULL;
    clf_options o = {.struct_size = sizeof o, .device = device};
    clf_status st = clf_open(&c, &o);
    if (st != CLF_OK) printf("\n    clf_open: %s\n", clf_open_error());
    CU_ASSERT_EQUAL_FATAL(st, CLF_OK);
    return c;
}

static inline clf_ctx *open_host(void) { return open_on("host"); }

/* Loops visit stored entries wherever they can, cheap or not. */
static inline clf_ctx *open_driven(void) {
    clf_ctx *c = open_host();
    CU_ASSERT_EQUAL(clf_set(c, "fuse", "all"), CLF_OK);
    return c;
}

/* A context whose loops run in kernels of the first OpenCL device; NULL where there is none. */
static inline clf_ctx *open_kernels(void) {
    clf_ctx *c = open_on(NULL);
    clf_device d = {.struct_size = sizeof d};
    if (clf_device_at(c, 1, &d)) {
        CU_ASSERT_EQUAL(clf_set(c, "tier", "2"), CLF_OK);
        return c;
    }
    clf_close(c);
    return NULL;
}

/* A way to run on the host. */
typedef struct run_config {
    const char *fuse, *isa, *threads;
} run_config;

static inline clf_ctx *open_config(const run_config *r) {
    clf_ctx *c = open_host();
    CU_ASSERT_EQUAL(clf_set(c, "fuse", r->fuse), CLF_OK);
    CU_ASSERT_EQUAL(clf_set(c, "isa", r->isa), CLF_OK);
    CU_ASSERT_EQUAL(clf_set(c, "threads", r->threads), CLF_OK);
    return c;
}

static inline clf_stats stats_of(clf_ctx *c) {
    clf_stats s = {.struct_size = sizeof s};
    CU_ASSERT_EQUAL(clf_get_stats(c, &s), CLF_OK);
    return s;
}

/* A text taken as it comes; what is too long is cut. */
typedef struct text_sink {
    size_t n;
    char at[1 << 18];
} text_sink;
static inline void collect(void *user, const char *text, size_t n) {
    text_sink *t = user;
    if (t->n + n >= sizeof t->at) n = sizeof t->at - 1 - t->n;
    memcpy(t->at + t->n, text, n);
    t->n += n;
    t->at[t->n] = 0;
}
static inline text_sink *empty_sink(text_sink *t) {
    t->n = 0;
    t->at[0] = 0;
    return t;
}

static inline void write_file(const char *path, const char *text) {
    FILE *f = fopen(path, "wb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    fputs(text, f);
    CU_ASSERT_EQUAL(fclose(f), 0);
}

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
    CU_pSuite suite = add_suite(name);
    for (size_t i = 0; suite && i < n; i++) CU_add_test(suite, tests[i].name, tests[i].run);
    CU_basic_run_tests();
    unsigned failures = CU_get_number_of_failures();
    CU_cleanup_registry();
    return failures > 0 || !suite;
}
#endif
