/* SPDX-License-Identifier: Apache-2.0
 * Plans for host and device together, really run: on OpenCL with figures that make the best plan use both (the pair host and pocl of the
 * checked-in profiles, and two devices that are good at different things). Results are the host's, bit by bit; what is predicted is what
 * the search said; settings still put everything where they want it, and small work loads no OpenCL. */
#include "host/run/run.h"
#include "tests/support/pinned_pair.h"
#include "tests/support/plan_devices.h"
#include "tests/unit/api_testing.h"

static plan_devices devices;
static pinned_pair measured, contrast;

static clf_ctx *open_pair(const pinned_pair *pair) {
    clf_ctx *c = open_on(NULL);
    CU_ASSERT_FATAL(pinned_pair_set(pair, c));
    return c;
}

/* The plan that was made last of those with most steps; a context of few plans. */
static const clf_exe *largest_plan(clf_ctx *c) {
    const clf_exe *most = NULL;
    for (int b = 0; b < CLF_PLAN_BUCKETS; b++)
        for (const clf_exe *x = c->run->plans[b]; x; x = x->next)
            if (!most || x->plan->nstep > most->plan->nstep) most = x;
    CU_ASSERT_PTR_NOT_NULL_FATAL(most);
    return most;
}

enum { ROWS = 2000, COLS = 100, RESULTS = 4 };

/* A small sum at home first, a large loop of dear arithmetic with it, sorted at home, and small work on what that left. */
static void record(clf_ctx *c, clf_mat *r[RESULTS]) {
    static double small[COLS];
    for (int i = 0; i < COLS; i++) small[i] = 1 + i % 7;
    clf_mat *x = clf_rand(c, CLF_F64, ROWS, COLS, 1, 2, 1, 3), *v = clf_matrix(c, CLF_F64, 1, COLS, small);
    CU_ASSERT_EQUAL(clf_eval(1, &x), CLF_OK);
    clf_mat *k = clf_sum(clf_mul(v, v)), *a = clf_div(clf_mul(x, k), clf_add(x, v));
    for (int i = 0; i < 6; i++) a = clf_sqrt(clf_add(clf_div(x, a), a));
    clf_mat *rows = clf_fold(CLF_FOLD_CODE_SUM, CLF_ROWS, a), *sorted = clf_order(rows, 1, false, false);
    r[0] = a;
    r[1] = sorted;
    r[2] = clf_sub(sorted, k);
    r[3] = k;
}

static void same_bits(clf_mat *const got[], clf_mat *const want[], int n) {
    for (int i = 0; i < n; i++) {
        const void *p, *q;
        CU_ASSERT_EQUAL_FATAL(clf_data(got[i], &p), CLF_OK);
        CU_ASSERT_EQUAL_FATAL(clf_data(want[i], &q), CLF_OK);
        const clf_gnode *x = &got[i]->node->g;
        CU_ASSERT(!memcmp(p, q, (size_t)clf_rows(x) * (size_t)clf_cols(x) * sizeof(double)));
    }
}

/* Steps run where the plan says; the whole costs what the search said, which is what explain says. */
static void check_plan(const clf_exe *x) {
    double steps = 0;
    CU_ASSERT_EQUAL(x->plan->ndevice, 2);
    for (int32_t s = 0; s < x->plan->nstep; s++) {
        CU_ASSERT_EQUAL(x->step[s].executor == CLF_ON_KERNEL, x->plan->step[s].device == 1);
        CU_ASSERT(x->plan->step[s].kind == CLF_STEP_FUSED || !x->plan->step[s].device);
        steps += x->step[s].predicted_ns;
    }
    CU_ASSERT_DOUBLE_EQUAL(x->predicted_ns, 1e-3 * (double)x->plan->cost_ps, 1e-9 * x->predicted_ns);
    CU_ASSERT(steps < x->predicted_ns); /* somebody waits for the device */
}

static void check_text(clf_ctx *c, clf_mat *const r[], int n) {
    static text_sink t;
    clf_device d = {.struct_size = sizeof d};
    char where[160], total[64];
    CU_ASSERT_FATAL(clf_device_at(c, 1, &d));
    CU_ASSERT_EQUAL(clf_explain((size_t)n, r, CLF_JSON, 0, collect, empty_sink(&t)), CLF_OK);
    snprintf(where, sizeof where, "\"device\": \"%s\"", d.name);
    snprintf(total, sizeof total, "\"predicted_ns\": %.15g, \"peak_bytes\"", largest_plan(c)->predicted_ns);
    CU_ASSERT(strstr(t.at, where) && strstr(t.at, "\"device\": \"host\"") && strstr(t.at, total));
    CU_ASSERT_EQUAL(clf_explain((size_t)n, r, CLF_TEXT, CLF_EXPLAIN_ANALYZE, collect, empty_sink(&t)), CLF_OK);
    CU_ASSERT(strstr(t.at, ".chunk on ") && strstr(t.at, "tile on host") && strstr(t.at, "CALLOUT order  callout on host"));
}

/* The checked-in host and OpenCL driver on equal cores: launches cost 8 us, waits 17. */
static void test_measured(void) {
    clf_ctx *c = open_pair(&measured), *h = open_host();
    clf_mat *got[RESULTS], *want[RESULTS], *twin[RESULTS];
    record(c, got);
    record(c, twin);
    record(h, want);
    clf_stats before = stats_of(c);
    check_text(c, twin, RESULTS);
    CU_ASSERT_EQUAL(clf_eval(RESULTS, got), CLF_OK);
    CU_ASSERT_EQUAL(clf_eval(RESULTS, want), CLF_OK);
    clf_stats after = stats_of(c);
    CU_ASSERT(after.launches_tier2 > before.launches_tier2 && after.launches_tier0 > before.launches_tier0);
    check_plan(largest_plan(c));
    same_bits(got, want, RESULTS);
    clf_close(h);
    clf_close(c);
}

/* Small matrices, whose operators go back and forth. */
static void test_back_and_forth(void) {
    clf_ctx *c = open_pair(&contrast), *h = open_host();
    clf_mat *m[2];
    for (int i = 0; i < 2; i++) {
        clf_mat *x = clf_reshape(clf_seq(i ? h : c, 1, 60, 1), 6, 10);
        CU_ASSERT_EQUAL(clf_eval(1, &x), CLF_OK);
        m[i] = x;
        for (int k = 0; k < 3; k++) m[i] = clf_sqrt(clf_add(m[i], x));
    }
    CU_ASSERT_EQUAL(clf_eval(1, &m[0]), CLF_OK);
    CU_ASSERT_EQUAL(clf_eval(1, &m[1]), CLF_OK);
    const clf_exe *x = largest_plan(c);
    CU_ASSERT_EQUAL_FATAL(x->plan->nstep, 6);
    for (int32_t s = 0; s < 6; s++) CU_ASSERT_EQUAL(x->plan->step[s].device, (s + 1) % 2);
    check_plan(x);
    same_bits(&m[0], &m[1], 1);
    clf_close(h);
    clf_close(c);
}

/* What settings force comes before all costs. */
static void test_forced(void) {
    static const char *const forced[][3] = {{"device", "host", "0"}, {"tier", "0", "0"},   {"tier", "ref", "0"},
                                            {"tier", "2", "1"},      {"device", "1", "1"}, {"strategy", "chunk", "1"}};
    for (size_t i = 0; i < sizeof forced / sizeof *forced; i++) {
        clf_ctx *c = open_pair(&contrast);
        bool kernels = *forced[i][2] == '1';
        CU_ASSERT_EQUAL(clf_set(c, forced[i][0], forced[i][1]), CLF_OK);
        clf_mat *x = clf_rand(c, CLF_F64, 100, 60, 1, 2, 1, 3);
        CU_ASSERT_EQUAL(clf_eval(1, &x), CLF_OK);
        clf_stats before = stats_of(c);
        clf_mat *r = clf_sqrt(clf_add(clf_sqrt(clf_add(x, x)), x));
        CU_ASSERT_EQUAL(clf_eval(1, &r), CLF_OK);
        clf_stats s = stats_of(c);
        CU_ASSERT_EQUAL(s.launches_tier2 > before.launches_tier2, kernels);
        CU_ASSERT_EQUAL(s.launches_tier0 + s.launches_ref > before.launches_tier0 + before.launches_ref, !kernels);
        clf_close(c);
    }
}

/* The first plan is for the host; nobody looks for a device where that costs less than a few launches. */
static void test_small(void) {
    clf_ctx *c = open_pair(&measured);
    clf_mat *x = clf_reshape(clf_seq(c, 1, 100, 1), 10, 10);
    CU_ASSERT_EQUAL(read_f64(clf_sum(clf_mul(x, x))), 338350);
    CU_ASSERT(!c->run->devs_tried);
    CU_ASSERT_EQUAL(largest_plan(c)->plan->ndevice, 1);
    clf_close(c);
}

static bool has_device(void) {
    clf_ctx *c = NULL;
    clf_device d = {.struct_size = sizeof d};
    bool there = clf_open(&c, NULL) == CLF_OK && clf_device_at(c, 1, &d);
    clf_close(c);
    return there;
}

int main(void) {
    static const test_case tests[] = {{"small work", test_small},
                                      {"the checked-in pair", test_measured},
                                      {"back and forth", test_back_and_forth},
                                      {"settings", test_forced}};
    clf_profile host, device;
    if (!plan_devices_read(&devices, CLF_TESTS_DIR "/golden/profiles")) return 1;
    pinned_pair_contrast(&host, &device);
    if (!pinned_pair_make(&measured, &devices.profile[0], &devices.profile[1]) || !pinned_pair_make(&contrast, &host, &device)) return 1;
    int rc = run_suite("plans for host and device", tests, has_device() ? sizeof tests / sizeof *tests : 1);
    pinned_pair_remove(&measured);
    pinned_pair_remove(&contrast);
    return rc;
}
