/* SPDX-License-Identifier: Apache-2.0
 * The peak memory that a plan predicts against what running it takes from the pool of blocks. Blocks are rounded up to eighths of a power
 * of two, so the most that is taken lies between the prediction and nine eighths of it; where sparse matrices are made their entries are
 * an estimate, and of those plans only that they stay below is asked. A prediction that holds must also be enough as a budget.
 * CLF_TEST_SEED replays one program. */
#include <inttypes.h>

#include "host/run/run.h"
#include "tests/support/net.h"
#include "tests/support/random_program.h"
#include "tests/unit/api_testing.h"

enum { FIRST = 61000000, SMALLEST = 64 };
static const char *const selectors[] = {"all", "none", "nored", "cost"};
enum { SELECTORS = sizeof selectors / sizeof *selectors };

typedef struct tally {
    int64_t plans, dense, exact; /* exact: the pool took what was predicted, each value rounded up */
    double most;                 /* predicted over taken, dense plans */
} tally;

static bool sources(int kind) { return kind == RP_LEAF || kind == RP_NUMBER; }

/* Roots that are still to be computed, each once. */
static size_t open_roots(const rp_program *p, clf_mat **handle, clf_mat **root, clf_node **node) {
    size_t n = 0;
    for (int i = 0; i < p->nroot; i++) {
        clf_mat *m = handle[p->root[i]];
        bool fresh = !m->node->value && !sources(p->node[p->root[i]].kind);
        for (size_t k = 0; k < n && fresh; k++) fresh = node[k] != m->node;
        if (!fresh) continue;
        node[n] = m->node;
        root[n++] = m;
    }
    return n;
}

/* Is what the plan takes known to the byte? Not with entries that are estimates, nor where a result is an operand, which is copied only if
 * it is the caller's. */
static bool all_known(const clf_plan *p) {
    for (int32_t v = 0; v < p->nvalue; v++)
        if (p->value[v].format != CLF_DENSE || (p->value[v].root && p->value[v].slot >= 0)) return false;
    return true;
}

static const clf_exe *exe_of(clf_ctx *c, size_t n, clf_node **node) {
    clf_frozen f;
    clf_exe *x = NULL;
    clf_err err = {CLF_OK, ""};
    CU_ASSERT_EQUAL_FATAL(clf_freeze(c, n, node, 0, NULL, &f, &err), CLF_OK);
    CU_ASSERT_EQUAL_FATAL(clf_run_plan(c, &f.g, f.slot, &x, &err), CLF_OK);
    clf_frozen_release(&f);
    return x;
}

/* Matrix data that somebody has. */
static size_t held_bytes(clf_ctx *c) { return atomic_load(&c->mem.data_bytes) - c->run->blocks.pooled_bytes; }

static bool check_plan(tally *t, const rp_program *p, clf_ctx *c, const char *selector) {
    clf_mat *handle[RP_NODES], *root[RP_NODES + 8];
    clf_node *node[RP_NODES + 8];
    rp_record(p, c, handle);
    size_t n = open_roots(p, handle, root, node);
    if (!n) return true;
    const clf_exe *x = exe_of(c, n, node);
    const clf_plan *plan = x->plan;
    size_t scratch = 0;
    clf_err err = {CLF_OK, ""};
    CU_ASSERT_EQUAL(clf_exe_scratch(c, x, &scratch, &err), CLF_OK);
    clf_blocks *b = &c->run->blocks;
    size_t predicted = plan->peak_bytes, values = (size_t)plan->nvalue, before = b->used_bytes, held = held_bytes(c);
    bool dense = all_known(plan);
    b->peak_bytes = before;
    clf_status st = clf_eval(n, root);
    size_t taken = b->peak_bytes - before, most = predicted + predicted / 8 + SMALLEST * values;
    size_t kept = held_bytes(c) - held; /* results, twins, and what programs keep */
    bool good = st == CLF_OK && taken <= most && (kept <= most + scratch || !dense) && (!dense || predicted <= taken);
    t->plans++;
    t->dense += dense;
    t->exact += dense && predicted <= taken && taken <= most;
    if (dense && taken && (double)predicted / (double)taken > t->most) t->most = (double)predicted / (double)taken;
    if (!good)
        printf("\n    selector %s: %zu bytes predicted, %zu taken, %zu kept (%s)\n", selector, predicted, taken, kept, clf_status_name(st));
    return good;
}

static bool check_program(tally *t, uint64_t k) {
    rp_options o = {.nodes = 4 + (int)(k % 30), .most_cells = k % 8 ? 4200 : 34000, .domain = RP_REAL, .dense = k % 4 != 0};
    rp_program *p = malloc(sizeof *p);
    bool good = true;
    rp_generate(p, FIRST + k, &o);
    for (int s = 0; s < SELECTORS && good; s++) {
        clf_ctx *c = open_host();
        CU_ASSERT_EQUAL(clf_set(c, "fuse", selectors[s]), CLF_OK);
        good = check_plan(t, p, c, selectors[s]);
        clf_close(c);
    }
    if (!good) rp_report(p, "another peak of memory than predicted");
    rp_release(p);
    free(p);
    return good;
}

static void test_peaks(void) {
    tally t = {0};
    uint64_t seed, want = (uint64_t)net_count(400, 100000);
    bool good = true;
    if (net_replay(&seed)) {
        CU_ASSERT(check_program(&t, seed - FIRST));
        return;
    }
    for (uint64_t k = 0; k < want && good; k++) good = check_program(&t, k);
    CU_ASSERT(good);
    CU_ASSERT(!good || t.dense * 2 > t.plans);
    net_figure("predicted peak of memory",
               "%" PRId64 " plans of random programs; of %" PRId64 " dense ones %" PRId64 " within the pool's rounding", t.plans, t.dense,
               t.exact);
}

/* Intermediates that do not live together: two at once, whatever the length of the chain; that, and what programs work in, is enough as a budget,
 * a byte less than that alone is not. */
static void test_chain(void) {
    clf_ctx *c = open_host();
    enum { CELLS = 1 << 16, LINKS = 6 };
    CU_ASSERT_EQUAL(clf_set(c, "fuse", "none"), CLF_OK);
    clf_mat *x = clf_rand(c, CLF_F64, 256, 256, 0, 1, 1, 7), *m = x;
    CU_ASSERT_EQUAL(clf_eval(1, &x), CLF_OK);
    for (int i = 0; i < LINKS; i++) m = clf_add(clf_mul(m, m), clf_num(c, i));
    const clf_exe *e = exe_of(c, 1, &m->node);
    size_t peak = e->plan->peak_bytes, working, held = held_bytes(c);
    clf_err err = {CLF_OK, ""};
    CU_ASSERT_EQUAL(peak, 2 * 8 * CELLS);
    CU_ASSERT_EQUAL(clf_exe_scratch(c, e, &working, &err), CLF_OK);
    char limit[32];
    for (int less = 1; less >= 0; less--) {
        snprintf(limit, sizeof limit, "%zu", less ? held + peak - 1 : held + peak + working);
        CU_ASSERT_EQUAL(clf_set(c, "mem_limit", limit), CLF_OK);
        CU_ASSERT_EQUAL(clf_eval(1, &m), less ? CLF_E_NOMEM : CLF_OK);
    }
    clf_close(c);
}

int main(void) {
    static const test_case tests[] = {{"a chain", test_chain}, {"random programs", test_peaks}};
    return run_suite("peak memory", tests, sizeof tests / sizeof *tests);
}
