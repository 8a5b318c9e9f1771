/* SPDX-License-Identifier: Apache-2.0
 * Random programs of exact integers whose kernels come later: the host executor's results while worker processes compile, and the kernels'
 * once they have come, are the interpreter's, and so are those of both by turns (host/run/exe_trial.c). All programs of a batch wait at the
 * same time, so that several workers have work. */
#include "host/run/exe_trial.h"
#include "host/run/run.h"
#include "tests/support/net.h"
#include "tests/support/pinned_pair.h"
#include "tests/support/random_program.h"
#include "tests/unit/api_testing.h"

enum { BATCH = 8, SOON_MS = 240000 };
static const uint64_t FIRST = 77000000000;

typedef struct subject {
    rp_program *p;
    clf_fn *f;
    int n;
    clf_mat *h[RP_NODES], *arg[RP_NODES], *root[RP_NODES + 8];
} subject;
static subject batch[BATCH];
static uint64_t meanwhile, kernels, programs;

static const rp_options cells = {.nodes = 7, .most_cells = 20000, .rows = 100, .cols = 97, .cells_only = true, .ranges = true};
static const rp_options any = {.nodes = 12, .most_cells = 20000, .rows = 100, .cols = 97};

static bool begin(clf_ctx *c, subject *s, uint64_t seed, const rp_options *o) {
    clf_mat *param[RP_NODES], *root[RP_NODES + 8];
    memset(s, 0, sizeof *s);
    s->p = malloc(sizeof *s->p);
    CU_ASSERT_PTR_NOT_NULL_FATAL(s->p);
    rp_generate(s->p, seed, o);
    s->n = rp_record_fn(s->p, c, s->h, param, s->arg);
    for (int i = 0; i < s->p->nroot; i++) root[i] = s->h[s->p->root[i]];
    return clf_fn_new(c, (size_t)s->n, param, (size_t)s->p->nroot, root, &s->f) == CLF_OK;
}

static bool call(clf_ctx *c, subject *s, const char *when) {
    if (clf_call(s->f, (size_t)s->n, s->arg, (size_t)s->p->nroot, s->root) != CLF_OK) {
        printf("seed %llu, %s: %s\n", (unsigned long long)s->p->seed, when, clf_last_error(c));
        return false;
    }
    for (int i = 0; i < s->p->nroot; i++) {
        int64_t at = rp_compare(s->p, s->p->root[i], s->root[i]);
        if (at == -1) continue;
        printf("seed %llu, %s: result %d differs at cell %lld\n", (unsigned long long)s->p->seed, when, i, (long long)at);
        return false;
    }
    return true;
}

static void end(subject *s) {
    clf_fn_free(s->f);
    rp_release(s->p);
    free(s->p);
}

static void one_batch(uint64_t from, int n) {
    clf_ctx *c = open_on("cpu");
    CU_ASSERT_EQUAL(clf_set(c, "compile", "background"), CLF_OK);
    CU_ASSERT_EQUAL(clf_set(c, "cache", "off"), CLF_OK); /* nothing is found on disk */
    for (int i = 0; i < n; i++) {
        CU_ASSERT_TRUE_FATAL(begin(c, &batch[i], FIRST + from + (uint64_t)i, &cells));
        CU_ASSERT_TRUE(call(c, &batch[i], "meanwhile"));
        CU_ASSERT_EQUAL(clf_warm(batch[i].f), CLF_OK);
    }
    CU_ASSERT_TRUE(clf_compile_wait(c, SOON_MS));
    clf_compiling p = {.struct_size = sizeof p};
    CU_ASSERT_EQUAL(clf_compile_progress(c, &p), CLF_OK);
    CU_ASSERT_EQUAL(p.built, p.asked);
    for (int i = 0; i < n; i++) {
        CU_ASSERT_TRUE(call(c, &batch[i], "compiled"));
        end(&batch[i]);
    }
    meanwhile += stats_of(c).launches_meanwhile;
    kernels += stats_of(c).launches_tier2;
    programs += (uint64_t)n;
    clf_close(c);
}

static bool kernels_come(void) {
    clf_ctx *c = open_host();
    clf_device d = {.struct_size = sizeof d};
    bool there = clf_device_at(c, 1, &d) && !strcmp(d.kind, "cpu");
    clf_close(c);
    if (!there) printf("no OpenCL device for CPUs: nothing is compiled\n");
    return there;
}

/* Batch by batch, as many programs as it says; 0: one was replayed, or nothing is compiled. */
static uint64_t in_batches(void (*run)(uint64_t from, int n), int of_long) {
    uint64_t seed;
    if (!kernels_come()) return 0;
    if (net_replay(&seed)) {
        run(seed - FIRST, 1);
        return 0;
    }
    const uint64_t want = (uint64_t)net_count(BATCH, of_long);
    for (uint64_t k = 0; k < want; k += BATCH) run(k, want - k < BATCH ? (int)(want - k) : BATCH);
    return want;
}

static void test_programs(void) {
    const uint64_t want = in_batches(one_batch, 5000);
    if (!want) return;
    CU_ASSERT(meanwhile > want / 2);
    CU_ASSERT(kernels > want / 2);
    net_figure("programs before and after their kernels came", "%llu, launches %llu and %llu", (unsigned long long)programs,
               (unsigned long long)meanwhile, (unsigned long long)kernels);
}

/* Figures by which every loop takes long, and as long on the host as on a device for CPUs. */
static clf_ctx *open_slow(pinned_pair *pair) {
    clf_profile host, device;
    pinned_pair_alike(&host, CLF_DEV_HOST, 1e-4);
    for (int w = 0; w < 2; w++)
        for (int k = 0; k < CLF_NCLASSES; k++) host.cells_per_s[w][k] = 1e6;
    device = host;
    device.kind = CLF_DEV_CPU;
    clf_ctx *c = open_on(NULL);
    CU_ASSERT_FATAL(pinned_pair_make(pair, &host, &device) && pinned_pair_set(pair, c));
    CU_ASSERT_EQUAL(clf_set(c, "compile", "background"), CLF_OK);
    CU_ASSERT_EQUAL(clf_set(c, "cache", "off"), CLF_OK);
    return c;
}

static uint64_t turns, moved;
static void count_turns(const clf_ctx *c) {
    for (int b = 0; b < CLF_PLAN_BUCKETS; b++)
        for (const clf_exe *x = c->run->plans[b]; x; x = x->next)
            for (int32_t s = 0; s < x->plan->nstep; s++) {
                const clf_exe_trial *t = x->step[s].trial;
                turns += t ? t->turn : 0;
                moved += t && t->turn == CLF_TRIAL_OVER && t->kernel != (x->step[s].executor == CLF_ON_KERNEL);
            }
}

static void batch_by_turns(uint64_t from, int n) {
    enum { CALLS = CLF_TRIAL_TURNS + 5 };
    pinned_pair pair;
    clf_ctx *c = open_slow(&pair);
    for (int i = 0; i < n; i++) {
        CU_ASSERT_TRUE_FATAL(begin(c, &batch[i], FIRST + from + (uint64_t)i, &any));
        CU_ASSERT_EQUAL(clf_warm(batch[i].f), CLF_OK);
    }
    CU_ASSERT_TRUE(clf_compile_wait(c, SOON_MS));
    for (int i = 0; i < n; i++)
        for (int k = 0; k < CALLS; k++) CU_ASSERT_TRUE(call(c, &batch[i], "by turns"));
    count_turns(c);
    for (int i = 0; i < n; i++) end(&batch[i]);
    clf_close(c);
    pinned_pair_remove(&pair);
}

static void test_turns(void) {
    const uint64_t want = in_batches(batch_by_turns, 2000);
    if (!want) return;
    CU_ASSERT(turns > want * CLF_TRIAL_TURNS / 2);
    net_figure("programs whose steps ran on host and kernels by turns", "%llu, turns %llu, steps that moved %llu", (unsigned long long)want,
               (unsigned long long)turns, (unsigned long long)moved);
}

int main(void) {
    static const test_case tests[] = {{"programs whose kernels come later", test_programs}, {"by turns", test_turns}};
    return run_suite("kernels that come later", tests, sizeof tests / sizeof *tests);
}
