/* SPDX-License-Identifier: Apache-2.0
 * Shared by the suites of formats/: an allocator that counts and fails on request, and short ways to read a text. */
#ifndef CLF_TESTS_FORMATS_TESTING_H
#define CLF_TESTS_FORMATS_TESTING_H
#include <CUnit/Basic.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/fmt.h"

/* Fails from the n-th request on (fail_at < 0: never). */
typedef struct failing {
    long live, calls, fail_at;
} failing;

static inline void *failing_alloc(void *user, void *ptr, size_t old_bytes, size_t new_bytes) {
    failing *f = user;
    void *q = NULL;
    if (new_bytes == 0) {
        free(ptr);
        f->live--;
        return NULL;
    }
    if (f->fail_at >= 0 && f->calls >= f->fail_at) return NULL;
    f->calls++;
    if (posix_memalign(&q, 64, new_bytes) != 0) return NULL;
    memset(q, 0xa5, new_bytes);
    if (ptr) memcpy(q, ptr, old_bytes < new_bytes ? old_bytes : new_bytes);
    else f->live++;
    free(ptr);
    return q;
}

/* One reading and everything that came of it. */
typedef struct reading {
    clf_mem mem;
    failing heap;
    clf_dense x, y;
    clf_err err;
    clf_status st;
    bool sparse; /* the file gave a CSR matrix, and x is its cells */
} reading;

static inline void reading_init(reading *r) {
    memset(r, 0, sizeof *r);
    r->heap.fail_at = -1;
    clf_mem_init(&r->mem, failing_alloc, &r->heap);
}

/* What was read as cells, checked first when it is sparse; when that fails nothing is left of it. */
static inline void reading_cells(reading *r, clf_status st, clf_loaded *l) {
    r->st = st;
    if (st != CLF_OK) return;
    r->sparse = l->sparse;
    if (l->sparse) CU_ASSERT_EQUAL(clf_csr_check(&l->csr.m, NULL), CLF_OK);
    r->st = clf_loaded_dense(l, "t", &r->mem, &r->x, &r->err);
    if (r->st == CLF_OK) return;
    clf_loaded_release(l, &r->mem);
    clf_dense_release(&r->y, &r->mem);
}

static inline clf_status reading_run(reading *r, const char *type, const void *p, size_t n, const clf_read_opts *o) {
    clf_loaded l = {.sparse = false};
    char *exact = malloc(n ? n : 1); /* of exactly n bytes, so that a sanitizer sees any look beyond */
    memcpy(exact, p, n);
    if (strcmp(type, "npy") == 0) r->st = clf_read_npy("t", exact, n, &r->mem, &r->x, &r->err);
    if (strcmp(type, "csv") == 0) r->st = clf_read_csv("t", exact, n, o, &r->mem, &r->x, o && o->label ? &r->y : NULL, &r->err);
    if (strcmp(type, "mtx") == 0) reading_cells(r, clf_read_mtx("t", exact, n, o, &r->mem, &l, &r->err), &l);
    if (strcmp(type, "svm") == 0) l.sparse = true, reading_cells(r, clf_read_svm("t", exact, n, o, &r->mem, &l.csr, &r->y, &r->err), &l);
    free(exact);
    return r->st;
}

/* Release, and check that nothing is left, and that a failure gave nothing and a message. */
static inline void reading_end(reading *r) {
    if (r->st != CLF_OK) {
        CU_ASSERT(r->x.data == NULL && r->y.data == NULL && r->x.rows == 0);
        CU_ASSERT(r->err.code == r->st && r->err.text[0] != '\0');
    }
    clf_dense_release(&r->x, &r->mem);
    clf_dense_release(&r->y, &r->mem);
    CU_ASSERT_EQUAL(r->heap.live, 0);
    CU_ASSERT_EQUAL(r->mem.now_bytes, 0);
    CU_ASSERT_EQUAL(r->mem.data_bytes, 0);
}

static inline double cell(const clf_dense *d, int64_t row, int64_t col) {
    return clf_scalar_as_f64(clf_scalar_load(d->data, (size_t)(row * d->cols + col), d->dtype));
}

/* Read text as f64 and expect rows x cols with these cells (NaN matches NaN). */
static inline void expect_cells(const char *type, const char *text, const clf_read_opts *o, int64_t rows, int64_t cols, const double *want) {
    reading r;
    reading_init(&r);
    if (reading_run(&r, type, text, strlen(text), o) != CLF_OK) fprintf(stderr, "\n    %s\n", r.err.text);
    CU_ASSERT_EQUAL_FATAL(r.st, CLF_OK);
    CU_ASSERT(r.x.rows == rows && r.x.cols == cols);
    for (int64_t i = 0; i < rows * cols && r.x.rows == rows && r.x.cols == cols; i++) {
        double got = cell(&r.x, i / cols, i % cols);
        if (!(got == want[i] || (isnan(got) && isnan(want[i])))) fprintf(stderr, "\n    %s cell %d: %g, not %g\n", text, (int)i, got, want[i]);
        CU_ASSERT(got == want[i] || (isnan(got) && isnan(want[i])));
    }
    reading_end(&r);
}
#define CELLS(...) ((const double[]){__VA_ARGS__})

/* Expect a failure whose message holds `part`. */
static inline void expect_failure(const char *type, const void *p, size_t n, const clf_read_opts *o, clf_status st, const char *part) {
    reading r;
    reading_init(&r);
    reading_run(&r, type, p, n, o);
    if (r.st != st || !strstr(r.err.text, part)) fprintf(stderr, "\n    got %d '%s', not %d '%s'\n", r.st, r.err.text, st, part);
    CU_ASSERT_EQUAL(r.st, st);
    CU_ASSERT(strstr(r.err.text, part) != NULL);
    reading_end(&r);
}
static inline void expect_error(const char *type, const char *text, const char *part) {
    expect_failure(type, text, strlen(text), NULL, CLF_E_FORMAT, part);
}

static inline clf_status read_named(reading *r, const char *path, const char *type, const clf_read_opts *o, char note[200]) {
    reading_init(r);
    return r->st = clf_read_file(path, type, o, &r->mem, &r->x, o && o->label ? &r->y : NULL, note, 200, &r->err);
}

static inline int run_suite(const char *name, const CU_TestInfo *tests) {
    CU_initialize_registry();
    CU_pSuite s = CU_add_suite(name, NULL, NULL);
    for (; tests->pName; tests++) CU_add_test(s, tests->pName, tests->pTestFunc);
    CU_basic_run_tests();
    int bad = CU_get_number_of_failures() > 0;
    CU_cleanup_registry();
    return bad;
}
#endif
