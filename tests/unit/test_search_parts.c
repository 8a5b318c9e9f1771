/* SPDX-License-Identifier: Apache-2.0
 * The search from inside, one component at a time: what decisions are charged is what the cover costs, or less where leaves are sparse; no
 * bound on the way exceeds the covers behind it; and nothing cheaper is lost by what is not searched again (search_memo.c) or taken out
 * (search_fix.c). Covers are walked at random, or all of them. */
#include "planner/searching.h"
#include "tests/support/plan_devices.h"
#include "tests/support/plan_random.h"
#include "tests/unit/plan_text.h"

static plan_devices devices;

enum { VARS = 13, HOST = 1, CPU = 2, TILES = 4, LINK = 8 };
static const plan_var vars[VARS] = {{"X", 512, 784, false, 0},       {"W", 784, 500, false, 0},  {"V", 500, 40, false, 0},
                                    {"b", 1, 500, false, 0},         {"Y", 512, 500, false, 0},  {"S", 5000, 4000, false, 90000},
                                    {"U", 5000, 10, false, 0},       {"T", 4000, 10, false, 0},  {"w", 5000, 1, false, 0},
                                    {"P", 100000, 20, false, 0},     {"p", 100000, 1, false, 0}, {"s", 1, 1, true, 0},
                                    {"Q", 5000, 4000, false, 120000}};

static const struct {
    const char *text;
    int on; /* devices */
} programs[] = {
    {"1 / (1 + exp(-(X %*% W + b)))", CPU | TILES},
    {"H = exp(X %*% W + b); Y * H; colSums(H)", CPU | TILES},
    {"H = exp(X %*% W); O = abs(H %*% V); sum(O * O); rowSums(H)", CPU | TILES},
    {"H = exp(abs(X) %*% W); H; sum(H^2)", HOST | CPU | TILES},
    {"H = X %*% W; G = Y %*% t(W); sum(H * Y); sum(G * X)", CPU | TILES},
    {"A = P * p; k = sum(A); sum(A * k); rowSums(A)", HOST | CPU},
    {"A = P * p; k = sum(A); sum(A * k); rowSums(A)", HOST | LINK},
    {"E = (S != 0) * (U %*% t(T)) - S; R = E %*% T; R * w; sum(E^2); sum(R^2)", HOST},
    {"E = (S != 0) * (U %*% t(T)) - S; R = E %*% T; R * w; sum(E^2)", HOST | CPU | TILES},
    {"E = S * w; sum(E^2); colSums(E); t(S) %*% (S %*% T)", HOST | LINK},
    {"k = sum(S != 0); E = S * (U %*% t(T)) * k; sum(E^2); E %*% T", HOST | CPU},
    {"k = sum(S * w); sum(Q * k); rowSums(S * Q * k)", HOST},
    {"k = sum(S * w); rowSums(S * Q * k)", HOST | LINK},
};
enum { PROGRAMS = sizeof programs / sizeof *programs };

/* ---- one component of all nodes ---- */

typedef struct probe {
    planned r;
    clf_limits lim;
    clf_profile profile[2];
    clf_arena arena;
    clf_memo memo;
    clf_problem problem;
    clf_pricer pricer;
    clf_search_options options;
    clf_component c;
    clf_err err;
} probe;

static void choose_devices(probe *x, int on) {
    x->lim = (clf_limits){.kernel_ops = 200, .kernel_inputs = 48};
    if (on & HOST) x->profile[x->lim.dev.n++] = devices.profile[0];
    if (on & CPU) x->profile[x->lim.dev.n++] = devices.profile[1];
    if (on & LINK) x->profile[x->lim.dev.n++] = devices.profile[2];
    for (int d = 0; d < x->lim.dev.n; d++) {
        for (int f64 = 0; f64 < 2 && (on & TILES); f64++) x->profile[d].tile_fma_per_s[f64] = 2 * x->profile[d].fma_per_s[f64];
        x->lim.dev.profile[d] = &x->profile[d];
    }
}

static void lend(probe *x, size_t n) {
    clf_component *c = &x->c;
    size_t all = (size_t)x->r.p->g.n;
    c->opt = &x->options;
    c->pricer = &x->pricer;
    c->mark = clf_arena_new(&x->arena, all, 1);
    c->owner = clf_arena_new(&x->arena, all, sizeof *c->owner);
    c->ids = clf_arena_new(&x->arena, n * n, sizeof *c->ids);
    c->up = clf_arena_new(&x->arena, n, sizeof *c->up);
    c->order = clf_arena_new(&x->arena, n, sizeof *c->order);
    CU_ASSERT_EQUAL_FATAL(clf_cover_begin(&c->leaf, &x->r.p->g, 0, &x->arena, &x->err), CLF_OK);
    c->leaf.part = clf_arena_new(&x->arena, all, sizeof *c->leaf.part);
    for (size_t i = 0; i < all; i++) c->leaf.copied[i] = !!(x->problem.is[i] & CLF_IS_COPIED);
    clf_cover_copies(&c->leaf, &x->r.p->g);
}

static void begin(probe *x, int program) {
    memset(x, 0, sizeof *x);
    choose_devices(x, programs[program].on);
    x->r = plan_with(vars, VARS, programs[program].text, "none", &x->lim);
    const clf_graph *g = &x->r.p->g;
    clf_arena_init(&x->arena, &x->r.c->mem);
    CU_ASSERT_EQUAL_FATAL(clf_explore(g, &x->arena, &x->memo, &x->err), CLF_OK);
    CU_ASSERT_EQUAL_FATAL(clf_problem_new(&x->memo, &x->lim, &x->arena, &x->problem, &x->err), CLF_OK);
    CU_ASSERT_EQUAL_FATAL(clf_pricer_new(&x->problem, &x->arena, &x->pricer, &x->err), CLF_OK);
    int32_t *node = clf_arena_new(&x->arena, (size_t)g->n, sizeof *node), *local = clf_arena_new(&x->arena, (size_t)g->n, sizeof *local),
            n = 0;
    uint8_t *demanded = clf_arena_new(&x->arena, (size_t)g->n, 1);
    int64_t looks = INT64_MAX;
    bool fits;
    for (int32_t i = 0; i < g->n; i++) {
        int is = x->problem.is[i];
        if ((is & CLF_IS_NEEDED) && !(is & CLF_IS_SLOT) && ((is & CLF_IS_ROOT) || !(is & CLF_IS_COPIED))) node[n++] = i;
    }
    clf_status st = clf_component_new(&x->c, &x->problem, node, n, local, demanded, &x->arena, &looks, &fits, &x->err);
    CU_ASSERT_EQUAL_FATAL(st, CLF_OK);
    CU_ASSERT_FATAL(fits);
    lend(x, (size_t)n);
    if (x->problem.nsparse) CU_ASSERT_EQUAL_FATAL(clf_component_entries(&x->c, &x->err), CLF_OK);
    CU_ASSERT_FATAL(clf_component_begin(&x->c));
    clf_seen_nothing(&x->c);
}

static void end(probe *x) {
    clf_arena_release(&x->arena);
    drop(&x->r);
}

/* What the complete cover costs; CLF_PS_MOST: it is none. */
static clf_ps price(probe *x) {
    x->c.best = CLF_PS_MOST;
    CU_ASSERT_EQUAL(clf_leaf(&x->c, &x->err), CLF_OK);
    return x->c.best;
}

/* ---- walks ---- */

enum { MOST_OPTIONS = 4096, WALKS = 400 };
typedef struct choice {
    uint32_t mask;
    int32_t maker;
} choice;

/* The legal ways to decide node q, which is the next. */
static int choices_of(probe *x, int32_t q, const clf_view *v, choice *out) {
    int n = 0;
    for (int64_t mask = (1 << v->n) - 1; mask >= 0; mask--)
        for (int32_t m = 0; m < clf_makers(&x->c, q, v, (uint32_t)mask) && n < MOST_OPTIONS; m++) {
            int32_t top = x->c.top;
            bool legal = clf_decide(&x->c, q, v, (uint32_t)mask, m);
            clf_undo(&x->c, top);
            if (legal) out[n++] = (choice){(uint32_t)mask, m};
        }
    return n;
}

typedef struct walked {
    int covers, over, differing; /* complete ones; of which a bound on the way was more; of which the last bound is another price */
    double closest;              /* the largest last bound, as a share of its price */
} walked;

static void walk(probe *x, uint64_t *random, walked *w) {
    static choice option[MOST_OPTIONS];
    clf_component *c = &x->c;
    clf_ps most = clf_bound(c), bound = most;
    for (int32_t q = 0; q < c->n; q++) {
        clf_view v;
        clf_look(c, q, &v);
        int n = choices_of(x, q, &v, option);
        if (!n) return clf_undo(c, 0);
        const choice *o = &option[plan_random_below(random, (uint64_t)n)];
        CU_ASSERT(clf_decide(c, q, &v, o->mask, o->maker));
        bound = clf_bound(c);
        if (bound > most) most = bound;
    }
    clf_ps cost = price(x);
    clf_undo(c, 0);
    if (cost == CLF_PS_MOST) return;
    w->covers++;
    w->over += most > cost;
    w->differing += bound != cost;
    if ((double)bound / (double)cost > w->closest) w->closest = (double)bound / (double)cost;
}

static void test_charges(void) {
    for (int i = 0; i < PROGRAMS; i++) {
        static probe x;
        walked w = {0};
        uint64_t random = 1000 + (uint64_t)i;
        begin(&x, i);
        for (int k = 0; k < WALKS; k++) walk(&x, &random, &w);
        if (w.over || w.covers < WALKS / 4) printf("\n    %s: %d covers, %d below a bound\n", programs[i].text, w.covers, w.over);
        CU_ASSERT(w.covers >= WALKS / 4);
        CU_ASSERT_EQUAL(w.over, 0);
        if (!x.problem.nsparse) CU_ASSERT_EQUAL(w.differing, 0);
        CU_ASSERT(w.closest > 0.5);
        end(&x);
    }
}

/* ---- all covers ---- */

typedef struct level {
    choice option[MOST_OPTIONS];
    int n, next;
    int32_t top;
} level;
enum { DEEP = 16 };

typedef struct found {
    clf_ps least, in_loop[DEEP], as_step[DEEP]; /* of all covers; of those with a node in loops, or as a step alone */
    int64_t covers, seen;
} found;

static void take(found *f, probe *x, clf_ps cost) {
    if (cost == CLF_PS_MOST) return;
    f->covers++;
    if (cost < f->least) f->least = cost;
    for (int32_t n = 0; n < x->c.n; n++) {
        const clf_opened *maker = x->c.maker[n] < 0 ? NULL : &x->c.part[x->c.maker[n]];
        clf_ps *of = !maker || maker->loop ? &f->in_loop[n] : &f->as_step[n];
        if (cost < *of) *of = cost;
    }
}

static void open_level(probe *x, level *l, int32_t q, bool noting, found *f) {
    clf_view v;
    l[q].top = x->c.top;
    l[q].n = l[q].next = 0;
    if (noting) x->c.plans = 1000; /* enough to note */
    bool seen = noting && clf_seen_before(&x->c, q);
    f->seen += seen;
    if (seen) return;
    clf_look(&x->c, q, &v);
    l[q].n = choices_of(x, q, &v, l[q].option);
}

/* Every cover, but those behind what was seen before. */
static found walk_all(probe *x, bool noting) {
    static level l[DEEP];
    found f = {.least = CLF_PS_MOST};
    for (int i = 0; i < DEEP; i++) f.in_loop[i] = f.as_step[i] = CLF_PS_MOST;
    CU_ASSERT_FATAL(x->c.n <= DEEP);
    open_level(x, l, 0, noting, &f);
    for (int32_t q = 0; q >= 0;) {
        clf_view v;
        clf_undo(&x->c, l[q].top);
        if (l[q].next == l[q].n) {
            q--;
            continue;
        }
        const choice *o = &l[q].option[l[q].next++];
        clf_look(&x->c, q, &v);
        (void)clf_decide(&x->c, q, &v, o->mask, o->maker);
        if (q + 1 == x->c.n)
            take(&f, x, price(x));
        else
            open_level(x, l, ++q, noting, &f);
    }
    clf_undo(&x->c, 0);
    return f;
}

enum { DENSE_AND_SMALL = 5 };
static const int small[DENSE_AND_SMALL] = {1, 2, 3, 5, 6};

/* What looks the same and costs no less is skipped, and the least cost is found all the same. */
static void test_seen(void) {
    int64_t seen = 0;
    for (int i = 0; i < DENSE_AND_SMALL; i++) {
        static probe x;
        begin(&x, small[i]);
        found all = walk_all(&x, false), noted = walk_all(&x, true);
        if (all.least != noted.least)
            printf("\n    %s: %lld of %lld covers\n", programs[small[i]].text, (long long)noted.covers, (long long)all.covers);
        CU_ASSERT_EQUAL(all.least, noted.least);
        CU_ASSERT(noted.covers <= all.covers);
        seen += noted.seen;
        end(&x);
    }
    CU_ASSERT(seen > 50);
}

/* A node's bound in a loop, and as a step alone, is no more than any cover that has it so costs; and it is taken out when a cover is known
 * that is as cheap as that, not before. */
static void test_fix(void) {
    for (int i = 0; i < DENSE_AND_SMALL; i++) {
        static probe x;
        begin(&x, small[i]);
        found all = walk_all(&x, false);
        for (int32_t n = 0; n < x.c.n; n++) {
            const clf_node_facts *f = &x.c.node[n];
            if ((f->is & (CLF_CAN_LOOP | CLF_CAN_ALONE)) != (CLF_CAN_LOOP | CLF_CAN_ALONE)) continue;
            CU_ASSERT(f->in_loop <= all.in_loop[n] && f->as_step <= all.as_step[n]);
        }
        end(&x);
    }
    static probe x;
    begin(&x, 2);
    int32_t n = 0;
    while (n < x.c.n && !(x.c.node[n].is & CLF_CAN_ALONE)) n++;
    CU_ASSERT_FATAL(n < x.c.n && (x.c.node[n].is & CLF_CAN_LOOP));
    clf_ps loop = x.c.node[n].in_loop, step = x.c.node[n].as_step, more = loop > step ? loop : step;
    x.c.best = CLF_PS_MOST;
    CU_ASSERT(!clf_component_fixable(&x.c));
    x.c.best = more;
    CU_ASSERT(clf_component_fixable(&x.c));
    CU_ASSERT(clf_component_fix(&x.c));
    CU_ASSERT_EQUAL(x.c.node[n].is & (CLF_CAN_LOOP | CLF_CAN_ALONE), loop == more ? CLF_CAN_ALONE : CLF_CAN_LOOP);
    CU_ASSERT_EQUAL(x.c.node[n].class_ < 0, loop == more);
    end(&x);
}

int main(void) {
    static const test_case tests[] = {
        {"what is charged is what it costs", test_charges}, {"not searched again", test_seen}, {"taken out", test_fix}};
    if (!plan_devices_read(&devices, CLF_TESTS_DIR "/golden/profiles")) return 1;
    return run_suite("search parts", tests, sizeof tests / sizeof *tests);
}
