/* SPDX-License-Identifier: Apache-2.0
 * Every allocation fails once, and every allocation from there on: each call gives CLF_OK or CLF_E_NOMEM, what it gives is right, a good
 * run in the same context is right, and when the context is closed every byte is back. */
#include "tests/fault/round.h"
#include "tests/support/net.h"

/* ---- further lives of a context, that are no scenarios for devices ---- */

static const double x_data[6] = {1, 2, 3, 4, 5, 6};

static clf_mat *leaf(clf_ctx *c) { return clf_matrix(c, CLF_F64, 2, 3, x_data); }

static clf_status first(clf_status before, clf_status now) { return before != CLF_OK ? before : now; }

static void swallow(void *user, const char *text, size_t n) {
    (void)text;
    *(size_t *)user += n;
}

static clf_status explain(clf_ctx *c, bool *right) {
    clf_mat *r = clf_sum(clf_exp(leaf(c)));
    clf_status st = CLF_OK;
    for (int f = 0; f < 4; f++) {
        size_t n = 0;
        unsigned flags = CLF_EXPLAIN_ANALYZE | CLF_EXPLAIN_MEMO | CLF_EXPLAIN_KERNEL;
        clf_status now = clf_explain(1, &r, (clf_explain_format)f, flags, swallow, &n);
        if ((now == CLF_OK) != (n > 0)) *right = false;
        st = first(st, now);
    }
    return st;
}

static clf_status structure(clf_ctx *c, bool *right) {
    static const double want[2] = {113, 86};
    clf_mat *x = leaf(c), *b = clf_rbind(clf_cbind(x, x), clf_cbind(clf_rev(x), clf_reshape(x, 2, 3)));
    clf_mat *o = clf_order(clf_t(b), 1, true, false), *g = clf_cum(CLF_FOLD_CODE_SUM, clf_index(o, 1, 0, 2, 3));
    clf_mat *all[12];
    for (int i = 0; i < 12; i++) all[i] = clf_add(clf_col_sums(g), clf_num(c, i));
    clf_status st = clf_eval(12, all);
    scenario_expect(all[0], want, 2, &st, right);
    return st;
}

static clf_status settings(clf_ctx *c, bool *right) {
    static const double want = 21;
    clf_mat *s = clf_sum(leaf(c));
    clf_status st = clf_eval(1, &s);
    st = first(st, clf_set(c, "threads", "3"));
    st = first(st, clf_set(c, "fuse", "none"));
    st = first(st, clf_label(clf_param(c, CLF_F64, 2, 3, false), "P"));
    clf_mat *y = clf_borrow(c, CLF_F64, 2, 3, x_data, NULL, NULL);
    if (clf_status_of(y, NULL) != CLF_OK) return first(st, clf_status_of(y, NULL));
    st = first(st, clf_label(y, "Y"));
    st = first(st, clf_changed(y));
    clf_trim(c);
    s = clf_sum(y);
    clf_status last = clf_eval(1, &s);
    scenario_expect(s, &want, 1, &last, right);
    return first(st, last);
}

static clf_status text(clf_ctx *c, bool *right) {
    static const double want[3] = {15, 21, 27};
    clf_binding v = {"X", leaf(c)};
    clf_mat *m = clf_expr(c, "colSums(X * 2 + abs(X))", &v, 1);
    clf_status st = first(clf_status_of(m, NULL), clf_eval(1, &m));
    scenario_expect(m, want, 3, &st, right);
    return st;
}

static const scenario lives[] = {{"explain", "host", NULL, explain},
                                 {"structure", "host", NULL, structure},
                                 {"settings", "host", NULL, settings},
                                 {"text", "host", NULL, text}};

/* ---- loops ---- */

static tally all;
static long stride = 1; /* sanitized: some of them */

static void every_allocation(const scenario *what, const char *device, bool for_ever) {
    long long n = 1, bad = 0;
    round_ r;
    do {
        memset(&r, 0, sizeof r);
        r.what = what;
        r.device = device;
        r.alloc_at = n;
        r.for_ever = for_ever;
        r.held = true;
        round_run(&r);
        bool fails = r.asked >= n, allowed = r.status == CLF_OK || r.status == CLF_E_NOMEM;
        bad += !round_judge(&r, fails ? &all : NULL);
        if (!allowed) round_print(&r, "NOT A MEMORY ERROR");
        bad += !allowed || (!fails && r.status != CLF_OK);
        n += stride;
    } while (r.asked >= n - stride && n < 20000 && bad < 4);
    CU_ASSERT_EQUAL(bad, 0);
    CU_ASSERT(n > 10);
    CU_ASSERT_EQUAL(r.status, CLF_OK); /* it ended because nothing failed any more */
}

static void both(const scenario *what, const char *device) {
    every_allocation(what, device, false);
    every_allocation(what, device, true);
}

static bool opencl(void) {
    clf_ctx *c = open_on(NULL);
    clf_device d = {.struct_size = sizeof d};
    bool there = clf_device_at(c, 1, &d);
    clf_close(c);
    return there;
}

static void test_scenarios(void) {
    for (int i = 0; scenarios[i]; i++)
        if (!strcmp(scenarios[i]->device, "host")) both(scenarios[i], NULL);
}

static void test_lives(void) {
    for (size_t i = 0; i < sizeof lives / sizeof *lives; i++) both(&lives[i], NULL);
    both(&scenario_kept, NULL);
}

static void test_devices(void) {
    if (!opencl()) return;
    for (int i = 0; scenarios[i]; i++)
        if (strcmp(scenarios[i]->device, "host")) both(scenarios[i], NULL);
}

/* No memory for an error node: the context's own, every time the same, and it can be used like any other. */
static void test_last_handle(void) {
    counting_heap h = {0};
    clf_ctx *c = NULL;
    clf_options o = {.struct_size = sizeof o, .device = "host", .alloc = counting_alloc, .alloc_user = &h};
    CU_ASSERT_EQUAL_FATAL(clf_open(&c, &o), CLF_OK);
    clf_mat *x = leaf(c);
    h.fail_at = h.count + 1;
    h.for_ever = true;
    clf_mat *m[200];
    for (int i = 0; i < 200; i++) m[i] = i % 2 ? clf_add(x, clf_num(c, i)) : clf_matmul(x, x); /* the second is a mistake as well */
    double sum;
    expect_sticky(m[199], CLF_E_NOMEM, "out of memory while recording");
    CU_ASSERT_PTR_EQUAL(m[199], m[198]);
    CU_ASSERT_PTR_EQUAL(m[199], m[0]);
    CU_ASSERT_EQUAL(clf_eval(2, m + 198), CLF_E_NOMEM);
    CU_ASSERT_EQUAL(clf_read_f64(clf_sum(m[199]), &sum), CLF_E_NOMEM);
    CU_ASSERT_PTR_NOT_NULL(strstr(clf_last_error(c), "out of memory"));
    clf_free(m[199]);
    clf_free(m[199]);
    h.fail_at = 0;
    expect_sticky(m[199], CLF_E_NOMEM, "out of memory while recording");
    CU_ASSERT_EQUAL(read_f64(clf_sum(clf_sqr(x))), 91);
    clf_close(c);
    CU_ASSERT_EQUAL(h.live, 0);
}

static void test_figures(void) {
    char seen[256];
    CU_ASSERT(all.injected > 200);
    net_figure("allocations failed", "%ld", all.injected);
    net_figure("allocations failed: statuses", "%s", tally_text(&all, seen, sizeof seen));
    net_figure("allocations failed: right result all the same", "%ld", all.survived);
}

int main(void) {
    static const test_case tests[] = {{"the last handle", test_last_handle},
                                      {"scenarios", test_scenarios},
                                      {"other lives", test_lives},
                                      {"devices", test_devices},
                                      {"figures", test_figures}};
    if (!round_layer()) return 1;
    stride = net_every(1, 2);
    return run_suite("failing allocations", tests, sizeof tests / sizeof *tests);
}
