/* SPDX-License-Identifier: Apache-2.0
 * The progress callback: what it is told of evaluations, plans, compiled kernels and files read and written, and that a call which it cancels ends soon, says
 * so, leaves nothing behind, and can be made again. */
#include "core/clock.h"
#include "tests/unit/api_testing.h"
#include "tests/unit/folder_testing.h"

typedef struct listener {
    int calls, stage[CLF_STAGE_SAVE + 1];
    int stop_at;      /* the call that is answered with stop; 0: none */
    clf_stage only;   /* counts and stops in this stage alone, if `picky` */
    bool picky, sane; /* done never beyond all, what never missing */
    uint64_t stopped_ns;
} listener;

static int listen_to(void *user, const clf_progress *p) {
    listener *l = user;
    l->sane = l->sane && p->struct_size == sizeof *p && p->what && (!p->all || p->done <= p->all);
    l->stage[p->stage]++;
    if (l->picky && p->stage != l->only) return 0;
    bool stop = ++l->calls == l->stop_at;
    if (stop) l->stopped_ns = clf_now_ns();
    return stop;
}

static listener heard_until(int stop_at) { return (listener){.stop_at = stop_at, .sane = true}; }

/* Several steps: an aggregate must be there before the next loop. */
static clf_mat *steps(clf_ctx *c) {
    clf_mat *x = clf_fill(c, CLF_F64, 60, 50, 0.5), *m = clf_mean(x);
    clf_mat *y = clf_exp(clf_sub(x, m)), *t = clf_order(clf_col_sums(y), 1, false, false);
    return clf_sum(clf_mul(clf_matmul(y, clf_t(y)), clf_sum(t)));
}

/* Told of a plan and of every step, in order; then no more. */
static void test_told(void) {
    clf_ctx *c = open_host();
    listener l = heard_until(0);
    double v, w;
    CU_ASSERT_EQUAL(clf_set_progress(NULL, listen_to, &l), CLF_E_ARG);
    CU_ASSERT_EQUAL(clf_set_progress(c, listen_to, &l), CLF_OK);
    CU_ASSERT_EQUAL(clf_read_f64(steps(c), &v), CLF_OK);
    CU_ASSERT(l.stage[CLF_STAGE_PLAN] >= 1 && l.stage[CLF_STAGE_RUN] >= 3 && !l.stage[CLF_STAGE_LOAD] && l.sane);
    int before = l.calls;
    CU_ASSERT_EQUAL(clf_set_progress(c, NULL, NULL), CLF_OK);
    CU_ASSERT_EQUAL(clf_read_f64(steps(c), &w), CLF_OK);
    CU_ASSERT(l.calls == before && v == w);
    clf_close(c);
}

/* Stop at the n-th question, for every n; the same handle is then evaluated to the end. */
static void test_cancelled(void) {
    double want;
    clf_ctx *c = open_host();
    listener l = heard_until(0);
    clf_set_progress(c, listen_to, &l);
    CU_ASSERT_EQUAL(clf_read_f64(steps(c), &want), CLF_OK);
    clf_close(c);
    int slow = 0;
    for (int n = 1; n <= l.calls; n++) {
        counting_heap h = {.fail_at = 0};
        clf_options o = {.struct_size = sizeof o, .device = "host", .alloc = counting_alloc, .alloc_user = &h};
        double v = 0;
        CU_ASSERT_EQUAL_FATAL(clf_open(&c, &o), CLF_OK);
        listener k = heard_until(n);
        clf_set_progress(c, listen_to, &k);
        clf_mat *r = steps(c);
        expect_error(c, clf_eval(1, &r), CLF_E_CANCELLED, "cancelled by the progress callback while");
        slow += clf_now_ns() - k.stopped_ns > 200000000;
        CU_ASSERT_EQUAL(k.calls, n);
        CU_ASSERT_EQUAL(clf_read_f64(r, &v), CLF_OK);
        CU_ASSERT(v == want && k.sane);
        clf_close(c);
        CU_ASSERT_EQUAL(atomic_load(&h.live), 0);
    }
    CU_ASSERT(slow <= l.calls / 2); /* a busy machine now and then */
}

static void test_function(void) {
    clf_ctx *c = open_host();
    clf_mat *p = clf_param(c, CLF_F64, 40, 30, false), *sum = clf_sum(clf_exp(p)), *out = NULL, *x = clf_fill(c, CLF_F64, 40, 30, 0);
    clf_fn *f = NULL;
    CU_ASSERT_EQUAL_FATAL(clf_fn_new(c, 1, &p, 1, &sum, &f), CLF_OK);
    CU_ASSERT_EQUAL(clf_call(f, 1, &x, 1, &out), CLF_OK);
    listener l = heard_until(1);
    clf_set_progress(c, listen_to, &l);
    clf_mat *none = NULL;
    expect_error(c, clf_call(f, 1, &x, 1, &none), CLF_E_CANCELLED, "running");
    CU_ASSERT(!none && l.stage[CLF_STAGE_PLAN] == 0);
    CU_ASSERT_EQUAL(clf_call(f, 1, &x, 1, &out), CLF_OK);
    CU_ASSERT_EQUAL(read_f64(out), 1200);
    clf_close(c);
}

/* ---- files ---- */

typedef struct text_file {
    const char *name, *head, *line;
    int lines;
} text_file;

static void make_file(const text_file *t) {
    FILE *f = fopen(in_folder(t->name), "wb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    fputs(t->head, f);
    for (int i = 0; i < t->lines; i++) fputs(t->line, f);
    fclose(f);
}

static void test_files(void) {
    static const text_file files[] = {
        {"a.csv", "a,b\n", "1.0000000000,2.0000000000\n", 100000},
        {"a.mtx", "%%MatrixMarket matrix array real general\n300000 1\n", "1.00000000\n", 300000},
        {"b.mtx", "%%MatrixMarket matrix coordinate real general\n9 9 200000\n", "3 4 1.00000000\n", 200000},
        {"a.svm", "", "1 1:2.0000000000 7:0.5\n", 120000},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        clf_ctx *c = open_host();
        listener l = heard_until(0);
        make_file(&files[i]);
        clf_set_progress(c, listen_to, &l);
        clf_mat *x = clf_load(c, in_folder(files[i].name));
        CU_ASSERT_EQUAL(clf_status_of(x, NULL), CLF_OK);
        CU_ASSERT(l.stage[CLF_STAGE_LOAD] >= 3 && l.calls == l.stage[CLF_STAGE_LOAD] && l.sane);
        for (int n = 1; n <= l.calls; n++) {
            listener k = heard_until(n);
            clf_set_progress(c, listen_to, &k);
            expect_sticky(clf_load(c, in_folder(files[i].name)), CLF_E_CANCELLED, "while reading");
            CU_ASSERT_EQUAL(k.calls, n);
        }
        clf_close(c);
    }
}

/* ---- the search of a plan ---- */

/* Loops that aggregates keep apart: what can be chosen for one has nothing to do with the others. */
static clf_mat *many_parts(clf_ctx *c) {
    clf_mat *x = clf_fill(c, CLF_F64, 30, 20, 0.5);
    for (int i = 0; i < 6; i++) x = clf_exp(clf_sub(x, clf_mean(clf_sqr(x))));
    return clf_sum(x);
}

static void test_search(void) {
    clf_ctx *c = open_host();
    listener l = {.picky = true, .only = CLF_STAGE_PLAN, .sane = true};
    clf_set_progress(c, listen_to, &l);
    CU_ASSERT_EQUAL(clf_set(c, "fuse", "cost"), CLF_OK);
    double want = read_f64(many_parts(c)), got = 0;
    CU_ASSERT(l.calls >= 4 && l.sane);
    for (int n = 1; n <= l.calls; n++) {
        listener k = {.stop_at = n, .picky = true, .only = CLF_STAGE_PLAN, .sane = true};
        clf_ctx *d = open_host();
        clf_set_progress(d, listen_to, &k);
        CU_ASSERT_EQUAL(clf_set(d, "fuse", "cost"), CLF_OK);
        clf_mat *r = many_parts(d);
        expect_error(d, clf_eval(1, &r), CLF_E_CANCELLED, "planning");
        CU_ASSERT(k.stage[CLF_STAGE_RUN] == 0 && k.calls == n);
        CU_ASSERT_EQUAL(clf_read_f64(r, &got), CLF_OK);
        CU_ASSERT(got == want);
        clf_close(d);
    }
    clf_close(c);
}

/* ---- writing ---- */

static long size_of(const char *name) {
    FILE *f = fopen(in_folder(name), "rb");
    long n = f && fseek(f, 0, SEEK_END) == 0 ? ftell(f) : -1;
    if (f) fclose(f);
    return n;
}

/* At first and every MiB; what is stopped leaves the old file, and none beside it. */
static void check_saving(clf_ctx *c, clf_mat *x, const char *name) {
    listener l = heard_until(0);
    clf_set_progress(c, listen_to, &l);
    CU_ASSERT_EQUAL(clf_save(x, in_folder(name), NULL), CLF_OK);
    long size = size_of(name);
    CU_ASSERT(size > 2 << 20 && l.calls >= 3 && l.calls <= 1 + (int)(size >> 20) && l.stage[CLF_STAGE_SAVE] == l.calls && l.sane);
    FILE *f = fopen(in_folder(name), "wb");
    if (f) fputs("old", f);
    if (f) fclose(f);
    for (int n = 1; n <= l.calls; n++) {
        listener k = heard_until(n);
        clf_set_progress(c, listen_to, &k);
        expect_error(c, clf_save(x, in_folder(name), NULL), CLF_E_CANCELLED, "while writing");
        CU_ASSERT(k.calls == n && size_of(name) == 3);
    }
    clf_set_progress(c, NULL, NULL);
    CU_ASSERT_EQUAL(clf_save(x, in_folder(name), NULL), CLF_OK);
    CU_ASSERT_EQUAL(size_of(name), size);
}

static void test_saving(void) {
    clf_ctx *c = open_host();
    clf_mat *x = clf_rand(c, CLF_F64, 600, 500, 0, 1, 1, 3), *s = clf_to_sparse(clf_rand(c, CLF_F64, 3000, 500, 0, 1, 0.1, 3));
    CU_ASSERT_EQUAL_FATAL(clf_eval(1, &x), CLF_OK);
    CU_ASSERT_EQUAL_FATAL(clf_eval(1, &s), CLF_OK);
    static const char *const dense[] = {"x.npy", "x.csv", "x.mtx"}, *const sparse[] = {"s.mtx", "s.svm", "s.npy"};
    for (size_t i = 0; i < 3; i++) check_saving(c, x, dense[i]);
    for (size_t i = 0; i < 3; i++) check_saving(c, s, sparse[i]);
    clf_close(c);
}

/* ---- kernels ---- */

/* Building is told of and stopped, and what is stopped does not go to the host instead. */
static void test_kernels(void) {
    clf_ctx *c = open_kernels();
    if (!c) return;
    listener l = {.stop_at = 1, .picky = true, .only = CLF_STAGE_BUILD, .sane = true};
    clf_set_progress(c, listen_to, &l);
    clf_mat *x = clf_rand(c, CLF_F64, 300, 40, 0, 1, 1, 1),
            *many[] = {clf_sum(clf_sqrt(x)), clf_row_sums(clf_exp(x)), clf_cum(CLF_FOLD_CODE_SUM, x)};
    CU_ASSERT_EQUAL(clf_set(c, "fuse", "none"), CLF_OK);
    expect_error(c, clf_eval(3, many), CLF_E_CANCELLED, "compiling");
    clf_stats s = stats_of(c);
    CU_ASSERT(l.calls == 1 && l.stage[CLF_STAGE_RUN] == 0 && s.launches_tier0 == 0 && s.launches_tier2 == 0);
    CU_ASSERT_EQUAL(clf_eval(3, many), CLF_OK);
    s = stats_of(c);
    CU_ASSERT(s.launches_tier2 > 0 && s.fallbacks == 0 && l.sane);
    clf_close(c);
}

int main(void) {
    static const test_case tests[] = {
        {"told of plans and steps", test_told},
        {"cancelled anywhere", test_cancelled},
        {"functions", test_function},
        {"files", test_files},
        {"searching", test_search},
        {"saving", test_saving},
        {"kernels", test_kernels},
    };
    if (!make_folder("clfuse-progress")) return 1;
    int failed = run_suite("progress", tests, sizeof tests / sizeof *tests);
    return !remove_folder() || failed;
}
