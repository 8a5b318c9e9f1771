/* SPDX-License-Identifier: Apache-2.0
 * One allocation fails, or all from one on until that is told, at every place of a session in turn: recording, functions and their
 * calls, versions of borrowed memory, evaluation on the host and in kernels. What fails says so; the same again then works, and nothing
 * stays behind. */
#include "tests/unit/api_testing.h"

typedef struct session {
    clf_ctx *c;
    counting_heap heap;
    double borrowed[6];
    int refused;
} session;

/* Memory is there again. */
static void calm(session *s) {
    s->refused++;
    s->heap.fail_at = 0;
}

/* Once more after running out of memory: now it must work. */
#define AGAIN(s, call) \
    do { \
        clf_status st_ = (call); \
        if (st_ == CLF_OK) break; \
        calm(s); \
        CU_ASSERT_EQUAL(st_, CLF_E_NOMEM); \
        CU_ASSERT_EQUAL((call), CLF_OK); \
    } while (0)

static bool any_bad(int n, clf_mat *const *m) {
    bool bad = false;
    for (int i = 0; i < n; i++) bad = bad || clf_status_of(m[i], NULL) != CLF_OK;
    return bad;
}

static clf_mat *good(session *s, clf_mat *m, clf_mat *(*again)(session *)) {
    clf_status st = clf_status_of(m, NULL);
    if (st == CLF_OK) return m;
    CU_ASSERT_EQUAL(st, CLF_E_NOMEM);
    calm(s);
    clf_free(m);
    m = again(s);
    CU_ASSERT_EQUAL(clf_status_of(m, NULL), CLF_OK);
    return m;
}

static clf_mat *leaf(session *s) { return clf_borrow(s->c, CLF_F64, 2, 3, s->borrowed, NULL, NULL); }
static clf_mat *filled(session *s) { return clf_fill(s->c, CLF_F64, 2, 3, 2.5); }
static clf_mat *param(session *s) { return clf_param(s->c, CLF_F64, 2, 3, false); }
static clf_mat *bad(session *s) { return clf_add(clf_num(s->c, 1), NULL); }

static void call_functions(session *s, clf_mat *x) {
    clf_fn *f = NULL;
    clf_mat *p = good(s, param(s), param), *r[2] = {clf_exp(clf_mul(p, p)), clf_sum(p)}, *out[2] = {NULL, NULL};
    if (any_bad(2, r)) {
        calm(s);
        r[0] = clf_exp(clf_mul(p, p)), r[1] = clf_sum(p);
    }
    AGAIN(s, clf_fn_new(s->c, 1, &p, 2, r, &f));
    AGAIN(s, clf_call(f, 1, &x, 2, out));
    CU_ASSERT_EQUAL(read_f64(out[1]), 21);
    AGAIN(s, clf_call(f, 1, &x, 2, out)); /* into the same handles */
    clf_fn_free(f);
}

static void record(session *s) {
    clf_mat *x = good(s, leaf(s), leaf), *fill = good(s, filled(s), filled), *e = bad(s);
    clf_status st = clf_status_of(e, NULL);
    CU_ASSERT(st == CLF_E_ARG || st == CLF_E_NOMEM);
    CU_ASSERT_PTR_EQUAL(clf_keep(e), e);
    AGAIN(s, clf_label(x, "borrowed"));
    AGAIN(s, clf_changed(x));
    call_functions(s, x);
    clf_mat *many[10];
    for (int i = 0; i < 10; i++) many[i] = clf_num(s->c, i);
    if (any_bad(10, many)) calm(s);
    for (int i = 0; i < 10; i++)
        if (any_bad(1, &many[i])) many[i] = clf_num(s->c, i);
    AGAIN(s, clf_eval(10, many));
    clf_mat *wide[10];
    for (int i = 0; i < 10; i++) wide[i] = clf_add(fill, many[i]);
    if (any_bad(10, wide)) calm(s);
    for (int i = 0; i < 10; i++)
        if (any_bad(1, &wide[i])) wide[i] = clf_add(fill, many[i]);
    AGAIN(s, clf_eval(10, wide));
    double v[6];
    CU_ASSERT_EQUAL(clf_read(wide[9], v, sizeof v), CLF_OK);
    CU_ASSERT_EQUAL(v[5], 11.5);
    AGAIN(s, clf_eval(1, &x)); /* a leaf is its own result */
}

/* Everything of one kind in turn: tier, fuse and how long the chain of operators is. */
typedef struct way {
    const char *device, *tier, *fuse;
    int chain;
} way;
static const way ways[] = {{"host", "auto", "all", 0}, {"host", "auto", "none", 40}, {"host", "ref", "all", 2}, {"", "2", "none", 3}};

static void compute(session *s, const way *w) {
    clf_mat *m = good(s, leaf(s), leaf);
    for (int i = 0; i < w->chain; i++) {
        clf_mat *n = clf_add(m, m);
        if (any_bad(1, &n)) {
            calm(s);
            n = clf_add(m, m);
        }
        m = n;
    }
    if (w->chain) AGAIN(s, clf_eval(1, &m));
    if (!w->chain) record(s);
    double v[6];
    if (w->chain) AGAIN(s, clf_read(m, v, sizeof v));
    double want = 6;
    for (int i = 0; i < w->chain; i++) want += want;
    if (w->chain) CU_ASSERT_EQUAL(v[5], want);
}

/* The n-th allocation of the session fails, or all from there on until the first failure is told. False when it has fewer. */
static bool run_session(const way *w, long long n, bool for_ever, int *refused) {
    session s = {.borrowed = {1, 2, 3, 4, 5, 6}};
    clf_options o = {.struct_size = sizeof o, .device = w->device, .fuse = w->fuse, .alloc = counting_alloc, .alloc_user = &s.heap};
    s.heap.fail_at = n;
    s.heap.for_ever = for_ever;
    clf_status st = clf_open(&s.c, &o);
    if (st != CLF_OK) {
        CU_ASSERT_EQUAL(st, CLF_E_NOMEM);
        CU_ASSERT_PTR_NULL(s.c);
        CU_ASSERT_EQUAL(atomic_load(&s.heap.live), 0);
        *refused += 1;
        return true;
    }
    AGAIN(&s, clf_set(s.c, "tier", w->tier));
    clf_device d = {.struct_size = sizeof d};
    if (*w->device || clf_device_at(s.c, 1, &d)) compute(&s, w);
    bool reached = s.heap.count >= n;
    clf_close(s.c);
    CU_ASSERT_EQUAL(atomic_load(&s.heap.live), 0);
    *refused += s.refused;
    return reached;
}

static void sweep(const way *w, long long step) {
    for (int for_ever = 0; for_ever < 2; for_ever++) {
        int refused = 0;
        long long n = 1;
        while (n < 20000 && run_session(w, n, for_ever, &refused)) n += step;
        CU_ASSERT(n < 20000);
        if (step == 1) CU_ASSERT(refused > 10);
    }
}

static void test_recording(void) { sweep(&ways[0], 1); }
static void test_steps(void) { sweep(&ways[1], 1); }
static void test_reference(void) { sweep(&ways[2], 1); }
static void test_kernels(void) { sweep(&ways[3], 7); }

int main(void) {
    static const test_case tests[] = {
        {"recording and functions", test_recording},
        {"many steps", test_steps},
        {"the reference executor", test_reference},
        {"kernels", test_kernels},
    };
    return run_suite("memory fails once", tests, sizeof tests / sizeof *tests);
}
