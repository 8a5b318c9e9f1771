/* SPDX-License-Identifier: Apache-2.0
 * Threads and contexts: many threads on one context, contexts side by side, errors that stay with their context and thread. Run under
 * ThreadSanitizer too. What threads see is counted, and asserted by the main thread alone: CUnit is not made for threads. */
#include "tests/unit/api_testing.h"

enum { THREADS = 64, ROUNDS = 6, CONTEXTS = 8, ROWS = 40, COLS = 9 };

typedef struct job {
    clf_ctx *c;
    clf_mat *X;
    clf_fn *f;
    int id, wrong;
} job;

static double cells[ROWS * COLS];
static double total;

static void fill_cells(void) {
    total = 0;
    for (int i = 0; i < ROWS * COLS; i++) {
        cells[i] = i % 13 - 6;
        total += cells[i];
    }
}

static void run_jobs(job *j, size_t n, void *(*f)(void *)) {
    pthread_t t[THREADS];
    for (size_t i = 0; i < n; i++) CU_ASSERT_EQUAL_FATAL(pthread_create(&t[i], NULL, f, &j[i]), 0);
    for (size_t i = 0; i < n; i++) {
        pthread_join(t[i], NULL);
        CU_ASSERT_EQUAL(j[i].wrong, 0);
    }
}

/* Record, evaluate, read and free; and fail once, which is told to this thread or to whoever asked last, but never garbled. */
static void *work(void *user) {
    job *j = user;
    for (int k = 0; k < ROUNDS; k++) {
        double got = 0;
        clf_mat *a = clf_num(j->c, j->id + k), *shared = clf_mul(j->X, clf_num(j->c, 2)), *s = clf_sum(clf_add(shared, a));
        j->wrong += clf_read_f64(s, &got) != CLF_OK || got != 2 * total + (double)(j->id + k) * ROWS * COLS;
        clf_mat *bad = clf_matmul(j->X, j->X);
        j->wrong += clf_status_of(bad, NULL) != CLF_E_SHAPE || clf_read_f64(bad, &got) != CLF_E_SHAPE;
        j->wrong += !strstr(clf_last_error(j->c), "40x9");
        clf_free(bad), clf_free(s), clf_free(shared), clf_free(a);
    }
    return NULL;
}

static void test_one_context(void) {
    job j[THREADS];
    clf_ctx *c = open_host();
    clf_mat *X = clf_matrix(c, CLF_F64, ROWS, COLS, cells);
    for (int i = 0; i < THREADS; i++) j[i] = (job){.c = c, .X = X, .id = i};
    run_jobs(j, THREADS, work);
    CU_ASSERT_EQUAL(read_f64(clf_sum(X)), total);
    clf_close(c);
}

/* One value asked for by all at once is computed for all. */
static void *ask(void *user) {
    job *j = user;
    double got = 0;
    j->wrong = clf_read_f64(j->X, &got) != CLF_OK || got != 3 * total;
    return NULL;
}

static void test_one_value(void) {
    job j[THREADS];
    clf_ctx *c = open_host();
    clf_mat *s = clf_sum(clf_mul(clf_matrix(c, CLF_F64, ROWS, COLS, cells), clf_num(c, 3)));
    for (int i = 0; i < THREADS; i++) j[i] = (job){.c = c, .X = s, .id = i};
    run_jobs(j, THREADS, ask);
    clf_stats st = {.struct_size = sizeof st};
    CU_ASSERT_EQUAL(clf_get_stats(c, &st), CLF_OK);
    CU_ASSERT_EQUAL(st.launches_tier0, 1);
    clf_close(c);
}

/* One function called by all: its scratch is shared, its results are not. */
static void *call(void *user) {
    job *j = user;
    clf_mat *out = NULL;
    for (int k = 0; k < ROUNDS; k++) {
        double got = 0;
        clf_mat *arg[2] = {j->X, clf_num(j->c, j->id)};
        j->wrong += clf_call(j->f, 2, arg, 1, &out) != CLF_OK || clf_read_f64(out, &got) != CLF_OK || got != total * j->id;
        clf_free(arg[1]);
    }
    clf_free(out);
    return NULL;
}

static void test_one_function(void) {
    job j[THREADS];
    clf_ctx *c = open_host();
    clf_mat *p[2] = {clf_param(c, CLF_F64, ROWS, COLS, false), clf_param(c, CLF_F64, 0, 0, true)}, *r = clf_sum(clf_mul(p[0], p[1]));
    clf_fn *f = NULL;
    CU_ASSERT_EQUAL_FATAL(clf_fn_new(c, 2, p, 1, &r, &f), CLF_OK);
    clf_mat *X = clf_matrix(c, CLF_F64, ROWS, COLS, cells);
    for (int i = 0; i < THREADS; i++) j[i] = (job){.c = c, .X = X, .f = f, .id = i};
    run_jobs(j, THREADS, call);
    clf_close(c);
}

/* A context of its own for each thread: opened, used, closed, next to the others. */
static void *whole_life(void *user) {
    job *j = user;
    for (int k = 0; k < 3; k++) {
        clf_options o = {.struct_size = sizeof o, .device = "host", .fuse = (j->id + k) % 2 ? "all" : "none"};
        if (clf_open(&j->c, &o) != CLF_OK) {
            j->wrong++;
            continue;
        }
        j->wrong += clf_set(j->c, "threads", k % 2 ? "2" : "1") != CLF_OK;
        j->X = clf_matrix(j->c, CLF_F64, ROWS, COLS, cells);
        work(j);
        clf_close(j->c);
    }
    return NULL;
}

static void test_contexts_side_by_side(void) {
    job j[CONTEXTS];
    for (int i = 0; i < CONTEXTS; i++) j[i] = (job){.id = i};
    run_jobs(j, CONTEXTS, whole_life);
}

/* The text of a failure stays with the context it happened in, and that of clf_open with the thread. */
static void *fail_apart(void *user) {
    job *j = user;
    char name[32];
    clf_ctx *none = NULL;
    snprintf(name, sizeof name, "nosuch_%d", j->id);
    for (int k = 0; k < 100; k++) {
        j->wrong += clf_set(j->c, name, "1") != CLF_E_NAME || !strstr(clf_last_error(j->c), name);
        clf_options o = {.struct_size = sizeof o, .device = "host", .fuse = name};
        j->wrong += clf_open(&none, &o) != CLF_E_NAME || !strstr(clf_open_error(), name);
    }
    return NULL;
}

static void test_errors_apart(void) {
    job j[CONTEXTS];
    for (int i = 0; i < CONTEXTS; i++) j[i] = (job){.c = open_host(), .id = i};
    run_jobs(j, CONTEXTS, fail_apart);
    for (int i = 0; i < CONTEXTS; i++) clf_close(j[i].c);
}

int main(void) {
    static const test_case tests[] = {
        {"64 threads on one context", test_one_context},       {"64 threads ask for one value", test_one_value},
        {"64 threads call one function", test_one_function},   {"contexts side by side", test_contexts_side_by_side},
        {"errors stay with their context", test_errors_apart},
    };
    fill_cells();
    return run_suite("contexts", tests, sizeof tests / sizeof *tests);
}
