/* SPDX-License-Identifier: Apache-2.0
 * Credits of leaves: a matrix that is read over and over moves to a device behind a slow link, once, when what its absence has cost
 * outweighs the way. First by figures alone, 8 GB behind 25 GB/s; then as much smaller on PoCL, which is told to have memory of its own. */
#include <math.h>

#include "host/run/residency.h"
#include "tests/support/pinned_pair.h"
#include "tests/unit/plan_text.h"

/* One pass over `bytes` takes the host 200 ms, the device 2 ms, the link 320 ms. Nothing else costs anything to speak of. */
static void figures(double bytes, clf_profile *host, clf_profile *gpu) {
    clf_profile *both[] = {host, gpu};
    const double pass_s[] = {0.2, 0.002};
    clf_profile_assume(host, CLF_DEV_HOST, 2);
    clf_profile_assume(gpu, CLF_DEV_GPU, 2);
    for (int d = 0; d < 2; d++) {
        for (int w = 0; w < 2; w++)
            for (int k = 0; k < CLF_NCLASSES; k++) both[d]->cells_per_s[w][k] = 1e18;
        for (int t = 0; t < CLF_PROFILE_TIERS; t++) both[d]->read_bytes_per_s[t] = bytes / pass_s[d];
        both[d]->launch_async_ns = 1e3;
        both[d]->launch_sync_ns = 2e3;
    }
    gpu->zero_copy = 0;
    gpu->transfer_ns = 0;
    gpu->transfer_bytes_per_s = bytes / 0.32;
}

static void test_classes(void) {
    CU_ASSERT_EQUAL(clf_residency_class(0, 100), 0);
    CU_ASSERT_EQUAL(clf_residency_class(24, 100), 0);
    CU_ASSERT_EQUAL(clf_residency_class(25, 100), 1);
    CU_ASSERT_EQUAL(clf_residency_class(99, 100), 3);
    CU_ASSERT_EQUAL(clf_residency_class(100, 100), CLF_RESIDENT);
    CU_ASSERT_EQUAL(clf_residency_class(0, 0), CLF_RESIDENT);
    CU_ASSERT_EQUAL(clf_residency_free(0, 100), 0);
    CU_ASSERT_EQUAL(clf_residency_free(3, 100), 75);
    CU_ASSERT_EQUAL(clf_residency_free(CLF_RESIDENT, 100), CLF_PS_MOST);
    for (clf_ps credit = 0; credit < 400; credit += 7) /* never more than was credited, until all is */
        if (clf_residency_class(credit, 400) < CLF_RESIDENT) CU_ASSERT(clf_residency_free(clf_residency_class(credit, 400), 400) <= credit);
}

/* ---- by figures ---- */

typedef struct loop {
    planned r;
    clf_limits lim;
    int n;
    clf_ps credit[MOST_PLAN_VARS], transfer[MOST_PLAN_VARS];
    bool there[MOST_PLAN_VARS], fresh[MOST_PLAN_VARS]; /* fresh: another matrix in every call */
    int moved[MOST_PLAN_VARS];                         /* how often */
} loop;

static void begin(loop *l, const plan_var *vars, int n, const char *text, const clf_profile *host, const clf_profile *gpu) {
    memset(l, 0, sizeof *l);
    l->lim = (clf_limits){.dev = {.n = 2, .profile = {host, gpu}, .loops_only = {false, true}}, .kernel_ops = 200, .kernel_inputs = 48};
    l->r = plan_with(vars, n, text, "cost", &l->lim);
    l->n = n;
    for (int i = 0; i < n; i++) l->transfer[i] = clf_cost_transfer(gpu, 8 * (double)vars[i].rows * (double)vars[i].cols);
}

/* One call: plan with the credits, move what is then read on the device, add what was lost. True when all of it ran there. */
static bool call(loop *l) {
    int64_t paid[MOST_PLAN_VARS] = {0}, lost[MOST_PLAN_VARS] = {0};
    bool all = true;
    clf_plan *p = NULL;
    clf_err err = {CLF_OK, ""};
    for (int i = 0; i < l->n; i++) {
        if (l->fresh[i]) l->there[i] = false, l->credit[i] = 0;
        paid[i] = clf_residency_free(l->there[i] ? CLF_RESIDENT : clf_residency_class(l->credit[i], l->transfer[i]), l->transfer[i]);
    }
    l->lim.dev.resident[1] = paid;
    CU_ASSERT_EQUAL_FATAL(clf_plan_new(&p, &l->r.f.g, clf_selector_find("cost"), &l->lim, &l->r.c->mem, &err), CLF_OK);
    CU_ASSERT_EQUAL(clf_residency_lost(p, &l->r.f.g, clf_selector_find("cost"), &l->lim, 1, &l->r.c->mem, lost, &err), CLF_OK);
    for (int32_t s = 0; s < p->nstep; s++) {
        all = all && p->step[s].device;
        for (int i = 0; i < p->step[s].nin && p->step[s].device; i++) {
            int32_t slot = p->value[p->step[s].in[i]].slot;
            if (slot < 0 || l->there[slot]) continue;
            l->there[slot] = true;
            l->moved[slot]++;
        }
    }
    for (int i = 0; i < l->n; i++) {
        CU_ASSERT(lost[i] >= 0 && (!lost[i] || !l->there[i]));
        l->credit[i] = l->there[i] ? 0 : l->credit[i] + lost[i];
    }
    clf_plan_free(p);
    return all;
}

/* The example of the design: 200 ms at home, or 320 for the way and 2. After one call 198 are lost; the second one moves the matrix. */
static void test_figures(void) {
    static const plan_var vars[] = {{"X", 1000000, 1000, false, 0}};
    clf_profile host, gpu;
    loop l;
    figures(8e9, &host, &gpu);
    begin(&l, vars, 1, "sum(X)", &host, &gpu);
    CU_ASSERT_FALSE(call(&l));
    CU_ASSERT_DOUBLE_EQUAL(1e-12 * (double)l.credit[0], 0.198, 0.001);
    CU_ASSERT_EQUAL(l.moved[0], 0);
    for (int i = 0; i < 9; i++) CU_ASSERT_TRUE(call(&l));
    CU_ASSERT_EQUAL(l.moved[0], 1);
    drop(&l.r);
}

/* A matrix that is another one in every call never earns its way, and does not hold up the one that stays. */
static void test_fresh(void) {
    static const plan_var vars[] = {{"X", 1000000, 1000, false, 0}, {"Y", 1000000, 1000, false, 0}};
    clf_profile host, gpu;
    loop l;
    figures(8e9, &host, &gpu);
    begin(&l, vars, 2, "sum(X); sum(Y)", &host, &gpu);
    l.fresh[1] = true;
    for (int i = 0; i < 10; i++) call(&l);
    CU_ASSERT(l.moved[0] == 1 && l.moved[1] == 0);
    drop(&l.r);
}

/* Where the device is no faster nothing is lost, nothing credited, nothing moved. */
static void test_no_gain(void) {
    static const plan_var vars[] = {{"X", 1000000, 1000, false, 0}};
    clf_profile host, gpu;
    loop l;
    figures(8e9, &gpu, &host); /* the other way round */
    host.kind = CLF_DEV_HOST, gpu.kind = CLF_DEV_GPU;
    gpu.zero_copy = 0;
    gpu.transfer_bytes_per_s = 25e9;
    begin(&l, vars, 1, "sum(X)", &host, &gpu);
    for (int i = 0; i < 5; i++) CU_ASSERT_FALSE(call(&l));
    CU_ASSERT(l.credit[0] == 0 && l.moved[0] == 0);
    drop(&l.r);
}

/* ---- in a context ---- */

enum { ROWS = 500, COLS = 400, BYTES = ROWS * COLS * 8, LITTLE = 4096 };

static clf_ctx *open_pair(const pinned_pair *pair) {
    clf_ctx *c = open_on(NULL);
    clf_device d = {.struct_size = sizeof d};
    if (!clf_device_at(c, 1, &d)) {
        clf_close(c);
        return NULL;
    }
    CU_ASSERT_FATAL(pinned_pair_set(pair, c));
    CU_ASSERT_EQUAL(clf_set(c, "host_pointers", "off"), CLF_OK);
    CU_ASSERT_EQUAL(clf_set(c, "split", "off"), CLF_OK); /* before a matrix is there, the device would take a part of the work */
    return c;
}

static bool make_pair(pinned_pair *pair) {
    clf_profile host, gpu;
    figures(BYTES, &host, &gpu);
    return pinned_pair_make(pair, &host, &gpu);
}

static clf_mat *matrix(clf_ctx *c) {
    static double data[ROWS * COLS];
    for (int i = 0; i < ROWS * COLS; i++) data[i] = i % 5;
    return clf_matrix(c, CLF_F64, ROWS, COLS, data);
}

/* Call n of the loop: where it ran, and how many bytes had been sent by then. */
static void expect_call(clf_ctx *c, clf_mat *m, double want, bool device, uint64_t sent) {
    clf_stats was = stats_of(c);
    CU_ASSERT_EQUAL(read_f64(m), want);
    clf_stats is = stats_of(c);
    CU_ASSERT_EQUAL(is.launches_tier2 > was.launches_tier2, device);
    CU_ASSERT(is.bytes_to_device >= sent && is.bytes_to_device <= sent + LITTLE);
}

static void test_evaluations(void) {
    pinned_pair pair;
    CU_ASSERT_FATAL(make_pair(&pair));
    clf_ctx *c = open_pair(&pair);
    if (c) {
        clf_mat *x = matrix(c);
        double sum = ROWS * COLS * 2;
        expect_call(c, clf_sum(clf_mul(x, clf_num(c, 1))), sum, false, 0);
        for (int i = 2; i <= 10; i++) expect_call(c, clf_sum(clf_mul(x, clf_num(c, i))), i * sum, true, BYTES);
        CU_ASSERT(stats_of(c).plans <= 3);
        clf_mat *y = matrix(c); /* another one begins anew */
        expect_call(c, clf_sum(clf_mul(y, clf_num(c, 3))), 3 * sum, false, BYTES);
        expect_call(c, clf_sum(clf_mul(y, clf_num(c, 4))), 4 * sum, true, 2 * BYTES);
        clf_close(c);
    }
    pinned_pair_remove(&pair);
}

/* The same of a function, which remembers its plan. */
static void test_calls(void) {
    pinned_pair pair;
    CU_ASSERT_FATAL(make_pair(&pair));
    clf_ctx *c = open_pair(&pair);
    if (c) {
        clf_mat *x = matrix(c), *out = NULL, *in[2] = {clf_param(c, CLF_F64, ROWS, COLS, false), clf_param(c, CLF_F64, 1, 1, true)};
        clf_fn *f = NULL;
        CU_ASSERT_EQUAL_FATAL(clf_fn_parse(c, "sum(X * k)", 2, (const clf_binding[]){{"X", in[0]}, {"k", in[1]}}, 2, &f), CLF_OK);
        for (int i = 1; i <= 10; i++) {
            clf_stats was = stats_of(c);
            CU_ASSERT_EQUAL(clf_call(f, 2, (clf_mat *[]){x, clf_num(c, i)}, 1, &out), CLF_OK);
            CU_ASSERT_EQUAL(read_f64(out), i * 2.0 * ROWS * COLS);
            CU_ASSERT_EQUAL(stats_of(c).launches_tier2 > was.launches_tier2, i > 1);
            CU_ASSERT_EQUAL(stats_of(c).bytes_to_device / BYTES, i > 1);
        }
        clf_close(c);
    }
    pinned_pair_remove(&pair);
}

/* A matrix that went for another has to earn its way again. */
static void test_evicted(void) {
    pinned_pair pair;
    CU_ASSERT_FATAL(make_pair(&pair));
    clf_ctx *c = open_pair(&pair);
    if (c) {
        char text[32];
        double sum = ROWS * COLS * 2;
        snprintf(text, sizeof text, "%d", BYTES + BYTES / 2);
        CU_ASSERT_EQUAL(clf_set(c, "device_mem", text), CLF_OK);
        clf_mat *x[2] = {matrix(c), matrix(c)};
        for (int i = 0; i < 4; i++) { /* each in turn: at home, and there instead of the other */
            expect_call(c, clf_sum(clf_mul(x[i % 2], clf_num(c, 2 * i + 1))), (2 * i + 1) * sum, false, (uint64_t)i * BYTES);
            expect_call(c, clf_sum(clf_mul(x[i % 2], clf_num(c, 2 * i + 2))), (2 * i + 2) * sum, true, (uint64_t)(i + 1) * BYTES);
        }
        CU_ASSERT(stats_of(c).evictions >= 3);
        clf_close(c);
    }
    pinned_pair_remove(&pair);
}

/* What explain says of the other place: the way, less what has been lost, and nothing for a matrix that is there. */
static void expect_explained(clf_mat *m, const char *word) {
    static text_sink t;
    CU_ASSERT_EQUAL(clf_explain(1, &m, CLF_TEXT, 0, collect, empty_sink(&t)), CLF_OK);
    if (!strstr(t.at, word)) printf("\n    no '%s' in: %s\n", word, t.at);
    CU_ASSERT_PTR_NOT_NULL(strstr(t.at, word));
}

static void test_explain(void) {
    pinned_pair pair;
    CU_ASSERT_FATAL(make_pair(&pair));
    clf_ctx *c = open_pair(&pair);
    if (c) {
        static text_sink t;
        clf_mat *x = matrix(c), *m = clf_sum(clf_mul(x, clf_num(c, 1))), *k = clf_sum(clf_mul(x, clf_num(c, 2)));
        expect_explained(m, "predicted 322 ms = 2.12 ms + transfers 320 ms");
        CU_ASSERT_EQUAL(read_f64(m), 2.0 * ROWS * COLS);
        expect_explained(k, "moves %0 1.6 MB from a leaf"); /* half of the way is paid: 198 of 320 ms */
        expect_explained(k, "160 ms");
        CU_ASSERT_EQUAL(read_f64(k), 4.0 * ROWS * COLS);
        m = clf_sum(clf_mul(x, clf_num(c, 3)));
        CU_ASSERT_EQUAL(clf_explain(1, &m, CLF_TEXT, 0, collect, empty_sink(&t)), CLF_OK);
        CU_ASSERT_PTR_NULL(strstr(t.at, "160 ms"));
        CU_ASSERT_EQUAL(clf_explain(1, &m, CLF_JSON, 0, collect, empty_sink(&t)), CLF_OK);
        CU_ASSERT_PTR_NOT_NULL(strstr(t.at, "\"transfer_ns\": 0"));
        clf_close(c);
    }
    pinned_pair_remove(&pair);
}

int main(void) {
    static const test_case tests[] = {{"classes", test_classes}, {"by figures", test_figures},      {"another one each time", test_fresh},
                                      {"no gain", test_no_gain}, {"evaluations", test_evaluations}, {"calls", test_calls},
                                      {"evicted", test_evicted}, {"explain", test_explain}};
    return run_suite("residency", tests, sizeof tests / sizeof *tests);
}
