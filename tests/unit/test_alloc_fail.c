/* SPDX-License-Identifier: Apache-2.0
 * Every allocation fails once, and every allocation from there on: each call gives CLF_OK or CLF_E_NOMEM, what it gives is right, and
 * when the context is closed every byte is back. */
#include <unistd.h>

#include "tests/unit/api_testing.h"

static const double x_data[6] = {1, 2, 3, 4, 5, 6};

/* One scenario: a whole life of a context. Returns how the first failing call failed. */
typedef clf_status scenario(clf_ctx *c);

static bool allowed(clf_status st) { return st == CLF_OK || st == CLF_E_NOMEM; }

static clf_status last(clf_status now, clf_status before) {
    if (!allowed(now)) printf("\n    %s\n", clf_status_name(now));
    CU_ASSERT(allowed(now));
    return before != CLF_OK ? before : now;
}

static clf_mat *leaf(clf_ctx *c) { return clf_matrix(c, CLF_F64, 2, 3, x_data); }

/* Ten operators, three roots. */
static clf_status evaluate(clf_ctx *c) {
    clf_mat *x = leaf(c), *y = clf_borrow(c, CLF_F64, 2, 3, x_data, NULL, NULL);
    clf_mat *p = clf_add(clf_mul(x, y), clf_num(c, 1)), *s = clf_sum(p), *t = clf_matmul(clf_t(x), y);
    clf_mat *r = clf_sub(clf_div(p, s), clf_abs(clf_neg(y))), *all[3] = {s, t, r};
    double sum = 0, got[9], cells[6];
    clf_status st = clf_eval(3, all);
    if (st == CLF_OK) {
        st = clf_read_f64(s, &sum);
        if (st == CLF_OK) CU_ASSERT_EQUAL(sum, 97);
        CU_ASSERT_EQUAL(clf_read(t, got, sizeof got), CLF_OK);
        CU_ASSERT(got[0] == 17 && got[4] == 29 && got[8] == 45);
        CU_ASSERT_EQUAL(clf_read(r, cells, sizeof cells), CLF_OK);
        CU_ASSERT_EQUAL(cells[5], 37.0 / 97 - 6);
    }
    clf_free(x);
    return last(st, CLF_OK);
}

static clf_status call(clf_ctx *c) {
    clf_mat *in[2] = {clf_param(c, CLF_F64, 2, 3, false), clf_param(c, CLF_F64, 1, 1, true)};
    clf_mat *res[2] = {clf_mul(in[0], in[1]), clf_sum(in[0])}, *out[2] = {NULL, NULL};
    clf_fn *f = NULL;
    clf_status st = last(clf_fn_new(c, 2, in, 2, res, &f), CLF_OK);
    CU_ASSERT((st == CLF_OK) == (f != NULL));
    for (int i = 0; i < 3 && f; i++) {
        clf_mat *arg[2] = {clf_add(leaf(c), clf_num(c, i)), clf_num(c, 10 + i)}, *was[2] = {out[0], out[1]};
        clf_status now = clf_call(f, 2, arg, 2, out);
        double got[6], sum = 0;
        if (now == CLF_OK) {
            CU_ASSERT_EQUAL(clf_read(out[0], got, sizeof got), CLF_OK);
            CU_ASSERT_EQUAL(clf_read_f64(out[1], &sum), CLF_OK);
            CU_ASSERT(got[5] == (6 + i) * (10 + i) && sum == 21 + 6 * i);
        } else
            CU_ASSERT(was[0] == out[0] && was[1] == out[1]);
        st = last(now, st);
    }
    clf_fn_free(f);
    return st;
}

static void swallow(void *user, const char *text, size_t n) {
    (void)text;
    *(size_t *)user += n;
}

static clf_status explain(clf_ctx *c) {
    clf_mat *r = clf_sum(clf_exp(leaf(c)));
    clf_status st = CLF_OK;
    for (int f = 0; f < 4; f++) {
        size_t n = 0;
        clf_status now =
            clf_explain(1, &r, (clf_explain_format)f, CLF_EXPLAIN_ANALYZE | CLF_EXPLAIN_MEMO | CLF_EXPLAIN_KERNEL, swallow, &n);
        CU_ASSERT((now == CLF_OK) == (n > 0));
        st = last(now, st);
    }
    return st;
}

static clf_status files(clf_ctx *c) {
    char path[64];
    snprintf(path, sizeof path, "alloc_fail_%d.npy", (int)getpid());
    clf_status st = last(clf_save(clf_mul(leaf(c), clf_num(c, 2)), path, NULL), CLF_OK);
    double got[6];
    if (st == CLF_OK) {
        clf_mat *m = clf_load(c, path);
        st = last(clf_status_of(m, NULL), st);
        if (st == CLF_OK) CU_ASSERT(clf_read(m, got, sizeof got) == CLF_OK && got[5] == 12);
    }
    unlink(path);
    return st;
}

static clf_status structure(clf_ctx *c) {
    clf_mat *x = leaf(c), *b = clf_rbind(clf_cbind(x, x), clf_cbind(clf_rev(x), clf_reshape(x, 2, 3)));
    clf_mat *o = clf_order(clf_t(b), 1, true, false), *g = clf_cum(CLF_FOLD_CODE_SUM, clf_index(o, 1, 0, 2, 3));
    clf_mat *all[12];
    for (int i = 0; i < 12; i++) all[i] = clf_add(clf_col_sums(g), clf_num(c, i));
    return last(clf_eval(12, all), CLF_OK);
}

static clf_status settings(clf_ctx *c) {
    clf_mat *s = clf_sum(leaf(c));
    clf_status st = last(clf_eval(1, &s), CLF_OK);
    st = last(clf_set(c, "threads", "3"), st);
    st = last(clf_set(c, "fuse", "none"), st);
    st = last(clf_label(clf_param(c, CLF_F64, 2, 3, false), "P"), st);
    clf_mat *y = clf_borrow(c, CLF_F64, 2, 3, x_data, NULL, NULL);
    if (clf_status_of(y, NULL) != CLF_OK) return last(CLF_E_NOMEM, st);
    st = last(clf_label(y, "Y"), st);
    st = last(clf_changed(y), st);
    clf_trim(c);
    s = clf_sum(y);
    return last(clf_eval(1, &s), st);
}

static clf_status text(clf_ctx *c) {
    clf_binding v = {"X", leaf(c)};
    clf_mat *m = clf_expr(c, "colSums(X * 2 + abs(X))", &v, 1);
    return last(clf_eval(1, &m), last(clf_status_of(m, NULL), CLF_OK));
}

/* A good program afterwards. */
static void still_works(clf_ctx *c) {
    clf_mat *s = clf_sum(clf_sqr(leaf(c)));
    CU_ASSERT_EQUAL(read_f64(s), 91);
}

/* The n-th allocation fails, for every n until nothing fails. */
static void every_allocation(scenario *run, bool for_ever) {
    clf_status st = CLF_E_NOMEM;
    long long n = 1;
    for (; st != CLF_OK && n < 4000; n++) {
        counting_heap h = {.fail_at = n, .for_ever = for_ever};
        clf_options o = {.struct_size = sizeof o, .device = "host", .alloc = counting_alloc, .alloc_user = &h};
        clf_ctx *c = NULL;
        st = clf_open(&c, &o);
        CU_ASSERT((st == CLF_OK) == (c != NULL));
        CU_ASSERT(allowed(st));
        if (c) st = run(c);
        if (c && st != CLF_OK) CU_ASSERT(strlen(clf_last_error(c)) > 0);
        h.fail_at = 0;
        if (c) still_works(c);
        clf_close(c);
        if (h.live) printf("\n    allocation %lld: %lld bytes left\n", n, (long long)h.live);
        CU_ASSERT_EQUAL(h.live, 0);
        if (st == CLF_OK && h.count >= n) st = CLF_E_NOMEM; /* the failure was survived; go on until none happens */
        if (h.count < n) st = CLF_OK;
    }
    CU_ASSERT(n > 10);
    CU_ASSERT(n < 4000);
}

static void both(scenario *run) {
    every_allocation(run, false);
    every_allocation(run, true);
}

static void test_evaluate(void) { both(evaluate); }
static void test_call(void) { both(call); }
static void test_explain(void) { both(explain); }
static void test_files(void) { both(files); }
static void test_structure(void) { both(structure); }
static void test_settings(void) { both(settings); }
static void test_text(void) { both(text); }

int main(void) {
    static const test_case tests[] = {{"evaluation", test_evaluate}, {"functions", test_call},      {"explain", test_explain},
                                      {"files", test_files},         {"structure", test_structure}, {"settings", test_settings},
                                      {"program text", test_text}};
    return run_suite("failing allocations", tests, sizeof tests / sizeof *tests);
}
