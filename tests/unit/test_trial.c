/* SPDX-License-Identifier: Apache-2.0
 * Trials (host/run/exe_trial.c): steps whose host and kernel are predicted to take about as long run on both by turns, with the same bits,
 * and stay where they were faster. With figures that make plans for one or the other; what is measured is also made up. */
#include <math.h>

#include "host/run/exe_kernels.h"
#include "host/run/exe_trial.h"
#include "host/run/run.h"
#include "tests/support/pinned_pair.h"
#include "tests/unit/api_testing.h"

enum { ROWS = 3000, COLS = 40, CALLS = 40, PATIENCE_MS = 60000 };

/* The plan that has run most. */
static clf_exe *plan_of(clf_ctx *c) {
    clf_exe *most = NULL;
    for (int b = 0; b < CLF_PLAN_BUCKETS; b++)
        for (clf_exe *x = c->run->plans[b]; x; x = x->next)
            if (!most || x->runs > most->runs) most = x;
    CU_ASSERT_PTR_NOT_NULL_FATAL(most);
    return most;
}

/* kernel: how many times as fast it is predicted to be. */
static clf_ctx *open_near(double kernel, pinned_pair *pair) {
    clf_profile host, device;
    clf_device d = {.struct_size = sizeof d};
    pinned_pair_alike(&host, CLF_DEV_HOST, 1);
    device = host;
    device.kind = CLF_DEV_CPU;
    for (int i = 0; i < CLF_PROFILE_TIERS; i++) device.read_bytes_per_s[i] *= kernel, device.gather_ns[i] /= kernel;
    clf_ctx *c = open_on(NULL);
    bool there = clf_device_at(c, 1, &d) && !strcmp(d.kind, "cpu");
    if (!there) printf("no OpenCL device for CPUs: nothing is tried\n");
    if (!there || !pinned_pair_make(pair, &host, &device)) {
        clf_close(c);
        return NULL;
    }
    CU_ASSERT_FATAL(pinned_pair_set(pair, c));
    CU_ASSERT_EQUAL(clf_set(c, "compile", "background"), CLF_OK);
    return c;
}
static void close_near(clf_ctx *c, pinned_pair *pair) {
    clf_close(c);
    pinned_pair_remove(pair);
}

typedef struct subject {
    clf_fn *f;
    clf_mat *arg, *out;
} subject;

static const char text[] = "sum(sqrt(X * X + 1) - X)";

static void begin(clf_ctx *c, subject *s) {
    *s = (subject){.arg = clf_rand(c, CLF_F64, ROWS, COLS, -1, 1, 1, 5)};
    CU_ASSERT_EQUAL_FATAL(clf_eval(1, &s->arg), CLF_OK);
    const clf_binding b = {"X", clf_param(c, CLF_F64, ROWS, COLS, false)};
    CU_ASSERT_EQUAL_FATAL(clf_fn_parse(c, text, 1, &b, 1, &s->f), CLF_OK);
    CU_ASSERT_EQUAL(clf_warm(s->f), CLF_OK);
    CU_ASSERT_TRUE(clf_compile_wait(c, PATIENCE_MS));
}

static double call(subject *s) {
    double v = NAN;
    CU_ASSERT_EQUAL(clf_call(s->f, 1, &s->arg, 1, &s->out), CLF_OK);
    CU_ASSERT_EQUAL(clf_read_f64(s->out, &v), CLF_OK);
    return v;
}

static double expected(void) {
    clf_ctx *c = open_host();
    clf_mat *x = clf_rand(c, CLF_F64, ROWS, COLS, -1, 1, 1, 5);
    double v = read_f64(clf_sum(clf_sub(clf_sqrt(clf_add(clf_mul(x, x), clf_num(c, 1))), x)));
    clf_close(c);
    return v;
}

static clf_exe_step *tried(clf_exe *x) {
    for (int32_t s = 0; s < x->plan->nstep; s++)
        if (x->step[s].trial) return &x->step[s];
    return NULL;
}

/* Planned for the host, or for its kernel, which is built before the first run or behind it: both have their turns, all results are the
 * same, and the faster one stays. */
static void test_turns(void) {
    const double want = expected();
    for (int way = 0; way < 4; way++) {
        const int kernel = way % 2;
        pinned_pair pair;
        subject s;
        clf_ctx *c = open_near(kernel ? 1.3 : 0.8, &pair);
        if (!c) return;
        if (way / 2) CU_ASSERT(clf_set(c, "compile", "wait") == CLF_OK && clf_set(c, "trial", "on") == CLF_OK);
        begin(c, &s);
        const clf_stats was = stats_of(c);
        for (int i = 0; i < CALLS; i++) CU_ASSERT_EQUAL(call(&s), want);
        const clf_stats is = stats_of(c);
        clf_exe *x = plan_of(c);
        CU_ASSERT_EQUAL_FATAL(x->plan->nstep, 1);
        clf_exe_step *e = tried(x);
        CU_ASSERT_PTR_NOT_NULL_FATAL(e);
        const clf_exe_trial *t = e->trial;
        CU_ASSERT_EQUAL(t->kernel, kernel == 1);
        CU_ASSERT_EQUAL_FATAL(t->turn, CLF_TRIAL_OVER);
        CU_ASSERT(isfinite(t->best_ns[0]) && isfinite(t->best_ns[1]));
        CU_ASSERT(is.launches_tier0 - was.launches_tier0 >= CLF_TRIAL_TURNS / 2);
        CU_ASSERT(is.launches_tier2 - was.launches_tier2 >= CLF_TRIAL_TURNS / 2);
        CU_ASSERT_EQUAL(is.launches_tier0 + is.launches_tier2 - was.launches_tier0 - was.launches_tier2, CALLS);
        const bool moves = t->best_ns[!t->kernel] < 0.9 * t->best_ns[t->kernel];
        CU_ASSERT_EQUAL(e->executor == CLF_ON_KERNEL, t->kernel != moves);
        close_near(c, &pair);
    }
}

/* What is measured decides, if it is not by a hair. */
static void test_verdicts(void) {
    static const struct {
        bool kernel;
        double host_ns, kernel_ns;
        bool stays_kernel;
        const char *why;
    } of[] = {{true, 95, 100, true, ""},  {true, 85, 100, false, "its kernel was measured to be slower"},
              {true, 100, 50, true, ""},  {false, 100, 95, false, "its kernel was measured to be no faster"},
              {false, 100, 85, true, ""}, {false, 50, 100, false, "its kernel was measured to be no faster"}};
    pinned_pair pair;
    subject s;
    clf_ctx *c = open_near(1, &pair);
    if (!c) return;
    begin(c, &s);
    for (int i = 0; i < CALLS; i++) call(&s);
    clf_exe *x = plan_of(c);
    clf_exe_step *e = tried(x);
    CU_ASSERT_PTR_NOT_NULL_FATAL(e);
    const int32_t at = (int32_t)(e - x->step);
    const uint8_t host = e->trial->host;
    CU_ASSERT(host == CLF_ON_TILE || host == CLF_ON_ROWS);
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        *e->trial = (clf_exe_trial){.kernel = of[k].kernel, .host = host, .best_ns = {HUGE_VAL, HUGE_VAL}};
        for (int turn = 0; turn < CLF_TRIAL_TURNS; turn++) {
            CU_ASSERT_TRUE(clf_trial_turn(c, x, at));
            const bool kernel = e->executor == CLF_ON_KERNEL;
            CU_ASSERT_EQUAL(kernel, of[k].kernel == (turn % 2 == 0)); /* the planned one comes first */
            clf_trial_note(c, x, at, (kernel ? of[k].kernel_ns : of[k].host_ns) * (turn / 2 == 1 ? 1 : 3)); /* the best counts */
        }
        CU_ASSERT_FALSE(clf_trial_turn(c, x, at));
        CU_ASSERT_EQUAL(e->executor, of[k].stays_kernel ? CLF_ON_KERNEL : host);
        CU_ASSERT_STRING_EQUAL(e->why, of[k].why);
    }
    call(&s);
    close_near(c, &pair);
}

/* Nobody tries what is predicted to be far apart, or small, or forced, or what waits for compilers. */
static void test_none(void) {
    static const struct {
        double kernel;
        const char *key, *value;
    } of[] = {{3, "search", "100"}, {0.3, "search", "100"}, {1, "device", "cpu"}, {1, "device", "host"}, {1, "trial", "off"},
              {1, "tier", "2"},     {1, "tier", "0"},       {1, "check", "1"},    {1, "compile", "wait"}};
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        pinned_pair pair;
        subject s;
        clf_ctx *c = open_near(of[k].kernel, &pair);
        if (!c) return;
        CU_ASSERT_EQUAL(clf_set(c, of[k].key, of[k].value), CLF_OK);
        begin(c, &s);
        for (int i = 0; i < 3; i++) call(&s);
        CU_ASSERT_PTR_NULL(tried(plan_of(c)));
        close_near(c, &pair);
    }
}

/* Stored entries whose number changes a little from call to call, so that one plan does, while turns go on. */
enum { SIDE = 800, RANK = 7, MATRICES = 4 };
typedef struct factors {
    clf_fn *f;
    clf_mat *arg[MATRICES][2], *out;
} factors;

static void begin_factors(clf_ctx *c, factors *s) {
    static const double density[MATRICES] = {0.2, 0.204, 0.208, 0.212};
    const clf_binding b[] = {{"S", clf_param_sparse(c, CLF_F64, SIDE, SIDE, SIDE * SIDE / 5)},
                             {"v", clf_param(c, CLF_F64, SIDE, RANK, false)}};
    s->out = NULL;
    CU_ASSERT_EQUAL_FATAL(clf_fn_parse(c, "((S != 0) * (v %*% t(v))) %*% v", 2, b, 2, &s->f), CLF_OK);
    for (int i = 0; i < MATRICES; i++) {
        s->arg[i][0] = clf_to_sparse(clf_rand(c, CLF_F64, SIDE, SIDE, 1, 2, density[i], (uint64_t)i + 1));
        s->arg[i][1] = clf_rand(c, CLF_F64, SIDE, RANK, -1, 1, 1, 9);
        CU_ASSERT_EQUAL_FATAL(clf_eval(2, s->arg[i]), CLF_OK);
    }
}
static const void *call_factors(factors *s, int i) {
    const void *at = NULL;
    CU_ASSERT_EQUAL_FATAL(clf_call(s->f, 2, s->arg[i], 1, &s->out), CLF_OK);
    CU_ASSERT_EQUAL_FATAL(clf_data(s->out, &at), CLF_OK);
    return at;
}

static void test_entries(void) {
    enum { BYTES = sizeof(double) * SIDE * RANK };
    static char want[MATRICES][BYTES];
    pinned_pair pair;
    factors s, alone;
    clf_ctx *c = open_near(1.2, &pair), *h;
    if (!c) return;
    h = open_host();
    begin_factors(h, &alone);
    for (int i = 0; i < MATRICES; i++) memcpy(want[i], call_factors(&alone, i), BYTES);
    begin_factors(c, &s);
    for (int i = 0; i < CALLS; i++) {
        CU_ASSERT(!memcmp(call_factors(&s, i % MATRICES), want[i % MATRICES], BYTES));
        CU_ASSERT_EQUAL(clf_warm(s.f), CLF_OK);
        CU_ASSERT_TRUE(clf_compile_wait(c, PATIENCE_MS));
    }
    const clf_exe_step *e = tried(plan_of(c));
    CU_ASSERT(e && e->trial->turn == CLF_TRIAL_OVER);
    clf_close(h);
    close_near(c, &pair);
}

int main(void) {
    static const test_case tests[] = {
        {"turns", test_turns}, {"verdicts", test_verdicts}, {"none", test_none}, {"stored entries", test_entries}};
    return run_suite("trials of host and kernel", tests, sizeof tests / sizeof *tests);
}
