/* SPDX-License-Identifier: Apache-2.0
 * The exact planner against brute force: what the search says is the least cost, is. Half of the graphs are searched as they are drawn,
 * half after rewriting, and those are planned by the selector, too. Of all that fails the smallest graph is shown. */
#include <inttypes.h>

#include "tests/support/exact_plan.h"
#include "tests/support/net.h"
#include "tests/unit/api_testing.h"

static exact_case drawn; /* large */

typedef exact_plan planning;

/* ---- the planner's answer ---- */

static clf_status plan(planning *p) {
    clf_plan *plan = NULL;
    CLF_TRY(clf_plan_new(&plan, &p->g, clf_selector_find("cost"), &p->lim, &p->mem, &p->err));
    clf_status st = clf_plan_check(plan, &p->err);
    clf_plan_free(plan);
    return st;
}

/* ---- against ours ---- */

/* Failures of one kind: how many, and the seed of the one with the fewest operators. */
typedef struct kind {
    char why[96];
    int64_t n;
    uint64_t smallest;
    int ops;
} kind;

enum { KINDS = 12 };
typedef struct tally {
    int64_t programs, covers, most, plans, none, failed, dearer, mixed; /* mixed: answers that use several devices */
    double gap;             /* the largest: how much dearer than the least the chosen cover is */
    int64_t cells, layouts; /* programs that choose to convert what they could visit; layouts of covers that were priced */
    kind kind[KINDS];
} tally;

/* Reasons are alike if they are but for their numbers. */
static void note(tally *t, const char *why, uint64_t seed, int ops) {
    char plain[96];
    size_t n = 0;
    for (; *why && n + 1 < sizeof plain; why++)
        if (*why < '0' || *why > '9') plain[n++] = *why;
    plain[n] = 0;
    kind *k = t->kind;
    while (k < &t->kind[KINDS - 1] && k->n && strcmp(k->why, plain) != 0) k++;
    t->failed++;
    if (!k->n++ || ops < k->ops) {
        memcpy(k->why, plain, n + 1);
        k->smallest = seed;
        k->ops = ops;
    }
}

/* What is wrong with the answer; NULL: nothing. */
static const char *judge(planning *p, const brute_best *best) {
    clf_status st = exact_plan_search(p, &drawn);
    if (st != CLF_OK) return p->err.text;
    if (!brute_from(&drawn.b, &p->cover, &p->mine)) return "the cover copies other expressions, or computes what nobody needs";
    const char *why = brute_illegal(&drawn.b, &p->mine);
    if (why) return why;
    if (p->priced != p->stats.cost) return "the search's cost is not its cover's price";
    if (brute_price(&drawn.b, &p->mine) != p->priced) return "our price of the cover is another";
    if (p->stats.gap != 0) return "not proved";
    if (p->priced != best->cost) return "not the least cost";
    return drawn.seed % 2 && plan(p) != CLF_OK ? p->err.text : NULL;
}

static void show(const planning *p, const brute_best *best, const char *why) {
    exact_case_print(&drawn, &p->g, why);
    printf("    chosen: %" PRId64 ", priced %" PRId64 ", by us %" PRId64 "\n", p->stats.cost, p->priced,
           p->mine.n ? brute_price(&drawn.b, &p->mine) : -1);
    brute_print(&drawn.b, &p->mine);
    printf("    least of %" PRId64 ": %" PRId64 "\n", best->covers, best->cost);
    brute_print(&drawn.b, &best->cover);
}

typedef bool judging(planning *p, brute_best *best, const char **why);

/* Dense graphs: the least cost by our own prices. False: no legal cover, or too large a graph. */
static bool judge_dense(planning *p, brute_best *best, const char **why) {
    if (!exact_case_tables(&drawn, &p->g)) return false;
    *best = brute_minimum(&drawn.b);
    if (best->covers) *why = judge(p, best);
    return best->covers > 0;
}

static bool is_mixed(const clf_cover *c) {
    for (int32_t i = 1; i < c->npart; i++)
        if (c->part[i].device != c->part[0].device) return true;
    return false;
}

static bool takes_cells(const clf_cover *c) {
    bool any = false;
    for (int32_t i = 0; i < c->npart; i++) any = any || c->part[i].layout == CLF_LAYOUT_CELLS;
    return any;
}

static void compare(uint64_t seed, bool sparse, judging *by, bool shown, tally *t) {
    planning p = {.err = {CLF_OK, ""}};
    brute_best best = {.cost = CLF_PS_MOST};
    const char *why = NULL;
    exact_case_draw(&drawn, seed);
    if (sparse) plan_random_sparse(&drawn.drawn);
    clf_mem_init(&p.mem, NULL, NULL);
    clf_arena_init(&p.arena, &p.mem);
    CU_ASSERT_EQUAL_FATAL(exact_plan_graph(&p, &drawn), CLF_OK);
    bool judged = by(&p, &best, &why);
    t->programs += judged;
    t->none += !judged;
    t->covers += best.covers;
    t->most = best.covers > t->most ? best.covers : t->most;
    t->plans += p.stats.plans;
    t->mixed += judged && is_mixed(&p.cover);
    if (judged && best.cost > 0 && p.priced > best.cost) {
        double gap = (double)p.priced / (double)best.cost - 1;
        t->dearer++;
        t->gap = gap > t->gap ? gap : t->gap;
    }
    t->cells += judged && takes_cells(&p.cover);
    t->layouts += judged ? p.layouts : 0;
    if (why) note(t, why, seed, drawn.b.nop);
    if (shown && judged) show(&p, &best, why ? why : "as it should be");
    brute_release(&drawn.b);
    clf_arena_release(&p.arena);
    CU_ASSERT_EQUAL(p.mem.now_bytes, 0);
}

static tally run(int64_t programs, uint64_t first, bool sparse, judging *by) {
    bool replay = net_replay(&first);
    tally t = {0}, again = {0};
    CU_ASSERT_FATAL(exact_case_begin(&drawn, CLF_TESTS_DIR "/golden/profiles"));
    for (int64_t i = 0; i < (replay ? 1 : programs); i++) compare(first + (uint64_t)i, sparse, by, replay, &t);
    for (kind *k = t.kind; k < &t.kind[KINDS] && k->n; k++) {
        printf("\n    %" PRId64 " times: %s\n", k->n, k->why);
        if (!replay) compare(k->smallest, sparse, by, true, &again);
    }
    CU_ASSERT(replay || t.programs > programs * 9 / 10);
    CU_ASSERT(replay || t.mixed > t.programs / 50);
    CU_ASSERT_EQUAL(t.failed, 0);
    return t;
}

static void test_least(void) {
    tally t = run(net_count(5000, 200000), 1000000, false, judge_dense);
    net_figure("the exact planner against all legal covers",
               "%" PRId64 " programs with %" PRId64 " covers (most %" PRId64 "), %" PRId64 " partial covers costed; %" PRId64
               " run best on several devices; differing %" PRId64,
               t.programs, t.covers, t.most, t.plans, t.mixed, t.failed);
    net_figure("the gap between our space and all covers, programs up to 7 operators",
               "%.1f %% at most, in %" PRId64 " of %" PRId64 " programs", 100 * t.gap, t.dearer, t.programs);
}

/* ---- sparse leaves: all covers, layouts and devices, priced by the planner ---- */

typedef struct pricing {
    planning *p;
    clf_pricer pricer;
    clf_cover c;
    clf_part part[BRUTE_OPS];
    int32_t node[BRUTE_OPS * BRUTE_OPS];
    brute_best *best;
    clf_status st;
} pricing;

/* Is every part on a device that can run it? */
static bool runs(const brute_cover *c) {
    for (int i = 0; i < c->n; i++)
        if (!c->part[i].loop && drawn.b.op[__builtin_ctz((unsigned)c->part[i].node)].alone_ps[c->part[i].device] == CLF_PS_MOST)
            return false;
    return true;
}

/* Every assignment of devices, counted in the base of how many there are. */
static void price_devices(pricing *x, const brute_cover *c, unsigned cells) {
    brute_cover placed = *c;
    int64_t ways = 1;
    for (int i = 0; i < c->n; i++) ways *= drawn.devices.n;
    for (int64_t w = 0; w < ways && x->st == CLF_OK; w++) {
        clf_ps cost = CLF_PS_MOST;
        int64_t rest = w;
        for (int i = 0; i < c->n; i++, rest /= drawn.devices.n) placed.part[i].device = (int)(rest % drawn.devices.n);
        if (!runs(&placed)) continue;
        brute_to(&drawn.b, &placed, x->part, x->node, &x->c);
        for (int32_t i = 0; i < x->c.npart; i++) x->c.part[i].layout = cells >> i & 1 ? CLF_LAYOUT_CELLS : CLF_LAYOUT_STORED;
        clf_cover_drivers(&x->p->g, &x->c);
        x->st = clf_cover_price(&x->pricer, &x->c, &cost, &x->p->err);
        if (cost >= x->best->cost) continue;
        x->best->cost = cost;
        x->best->cover = placed;
    }
}

/* Would part i, as the cover is laid out, visit entries or be a twin, and store no result so? */
static bool may_take_cells(const pricing *x, int32_t i) {
    const clf_part *part = &x->c.part[i];
    const clf_gnode *first = &x->p->g.node[part->node[0]];
    bool twin = !part->loop && first->op == CLF_OP_TRANSPOSE && x->c.csr[first->in[0]];
    for (int32_t r = 0; r < x->p->g.nroot; r++)
        if (x->c.maker[x->p->g.root[r]] == i && x->c.csr[x->p->g.root[r]]) return false;
    return part->driver >= 0 || twin;
}

/* Every layout. A part that takes cells where it could not is like one that does not: its number is left out. */
static bool price_all(void *user, const brute_cover *c) {
    pricing *x = user;
    for (unsigned cells = 0; cells < 1u << c->n && x->st == CLF_OK; cells++) {
        bool legal = true;
        brute_to(&drawn.b, c, x->part, x->node, &x->c);
        for (int32_t i = 0; i < c->n && legal; i++) { /* what a part may do follows from those before it */
            if (!(cells >> i & 1)) continue;
            clf_cover_drivers(&x->p->g, &x->c);
            legal = may_take_cells(x, i);
            x->c.part[i].layout = CLF_LAYOUT_CELLS;
        }
        if (!legal) continue;
        price_devices(x, c, cells);
        x->p->layouts++;
    }
    return x->st == CLF_OK && ++x->best->covers < 5000;
}

static const char *judge_priced(planning *p, const brute_best *best) {
    if (!brute_from(&drawn.b, &p->cover, &p->mine)) return "the cover copies other expressions, or computes what nobody needs";
    const char *why = brute_illegal(&drawn.b, &p->mine);
    if (why) return why;
    if (p->priced != p->stats.cost) return "the search's cost is not its cover's price";
    if (p->stats.gap != 0) return "not proved";
    if (p->priced != best->cost) return p->priced < best->cost ? "less than the least cost" : "not the least cost";
    return drawn.seed % 2 && plan(p) != CLF_OK ? p->err.text : NULL;
}

static bool judge_sparse(planning *p, brute_best *best, const char **why) {
    static pricing x;
    x = (pricing){.p = p, .best = best};
    if (!exact_case_tables(&drawn, &p->g)) return false;
    if (exact_plan_search(p, &drawn) != CLF_OK) {
        *why = p->err.text;
        return true;
    }
    x.st = clf_pricer_new(&p->problem, &p->arena, &x.pricer, &p->err);
    if (x.st == CLF_OK) x.st = clf_cover_begin(&x.c, &p->g, 0, &p->arena, &p->err);
    if (x.st == CLF_OK) (void)brute_walk(&drawn.b, price_all, &x);
    if (x.st != CLF_OK) *why = p->err.text;
    bool whole = best->covers > 0 && best->covers < 5000;
    if (whole && !*why) *why = judge_priced(p, best);
    return whole;
}

static void test_sparse(void) {
    uint64_t seed;
    tally t = run(net_count(500, 25000), 2000000, true, judge_sparse);
    net_figure("the exact planner with sparse leaves against all legal covers at its own prices",
               "%" PRId64 " programs with %" PRId64 " covers (most %" PRId64 ") in %" PRId64 " layouts, %" PRId64
               " of them convert what they could visit, %" PRId64 " run best on several devices; differing %" PRId64,
               t.programs, t.covers, t.most, t.layouts, t.cells, t.mixed, t.failed);
    CU_ASSERT(net_replay(&seed) || t.programs < 400 || t.cells > t.programs / 100);
}

/* A part whose entries would have to be brought to its device took them all the same, as cells cost it more by themselves. */
static void test_entries_to_bring(void) {
    tally t = {0};
    uint64_t seed;
    CU_ASSERT_FATAL(exact_case_begin(&drawn, CLF_TESTS_DIR "/golden/profiles"));
    if (!net_replay(&seed)) compare(2004348, true, judge_sparse, false, &t);
    CU_ASSERT_EQUAL(t.failed, 0);
}

/* Two products stream the same vector again; once one of them is in a loop, the other may have it for nothing. */
static void test_shared_streams(void) {
    tally t = {0};
    uint64_t seed;
    CU_ASSERT_FATAL(exact_case_begin(&drawn, CLF_TESTS_DIR "/golden/profiles"));
    if (!net_replay(&seed)) compare(1075494, false, judge_dense, false, &t);
    CU_ASSERT_EQUAL(t.failed, 0);
}

int main(void) {
    static const test_case tests[] = {{"the least cost", test_least},
                                      {"the least cost with sparse leaves", test_sparse},
                                      {"entries to be brought", test_entries_to_bring},
                                      {"streams that several share", test_shared_streams}};
    return run_suite("exact planner", tests, sizeof tests / sizeof *tests);
}
