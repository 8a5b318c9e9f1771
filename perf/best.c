/* SPDX-License-Identifier: Apache-2.0
 * The suite plan, part "best": the plan that `cost` chooses against the best measured one of all plans of the program.
 *
 * All covers of the rewritten program come from the tests' brute force (tests/support/brute.h), which shares nothing with the search; each
 * is lowered and prepared as the chosen one is. A case with more than 64 of them is left out. What is predicted so far off that the
 * predictions would have to be wrong by more than the factor which part "predict" allows, both ways, is not run, nor what would make a
 * dense matrix beyond all measure; both are counted in the row. The others run twice, those that are not slower than 1.5 times the fastest
 * in rounds: the chosen plan, all the others, the chosen plan again. The ratio is the worst median over the rounds of the chosen plan's
 * time over another's; the noise is the median distance of the chosen plan against itself. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "perf/plans.h"
#include "tests/support/brute.h"

enum { MOST_PLANS = 64, LEAST_ROUNDS = 7, QUICK_PLANS = 8, MOST_RESULTS = 512 };
static const double near = 0.05, far = 0.15, near_share = 0.9; /* what is asked */
static const double slower = 1.5;                              /* times the fastest: out after the first runs */
static const double mispredicted = 9;                          /* 3x too high here, 3x too low there */
static const double most_cells = 1.2e8;

typedef struct best {
    bench_run *r;
    int n, near, over, many; /* results; within `near` and noise; beyond `far` and noise; cases with too many plans */
    double worst;
    char worst_name[64];
} best;

/* ---- all covers ---- */

/* A selector that makes one cover. */
typedef struct told {
    clf_selector base;
    const brute *b;
    const brute_cover *cover;
} told;

static clf_status put_cover(const clf_selector *self, const clf_memo *m, clf_arena *arena, clf_cover *out, clf_err *err) {
    const told *t = (const told *)self;
    clf_part *part = clf_arena_new(arena, BRUTE_OPS, sizeof *part);
    int32_t *node = clf_arena_new(arena, (size_t)BRUTE_OPS * BRUTE_OPS, sizeof *node);
    if (!part || !node) return clf_fail(err, CLF_E_NOMEM, "out of memory for a cover");
    CLF_TRY(clf_cover_begin(out, m->g, 0, arena, err));
    brute_to(t->b, t->cover, part, node, out);
    return CLF_OK;
}

typedef struct covers {
    brute b;
    int n; /* up to one more than fit */
    brute_cover cover[MOST_PLANS];
} covers;

static bool collect(void *user, const brute_cover *c) {
    covers *all = user;
    if (all->n < MOST_PLANS) all->cover[all->n] = *c;
    return all->n++ < MOST_PLANS;
}

/* False: more than fit, or st->err. */
static bool find_covers(covers *all, bench_stage *st, clf_graph *own, clf_arena *arena) {
    const clf_limits lim = clf_exe_limits(st->s.ctx, &(clf_places){st->device >= 0, {st->device}});
    int32_t *fired = clf_arena_new(arena, CLF_MOST_RULES, sizeof *fired);
    if (!fired || clf_rewrite(&st->f.g, &lim.rules, arena, arena, own, fired, &st->err) != CLF_OK) return false;
    if (brute_make(&all->b, own, &lim, 1, lim.dev.profile)) brute_walk(&all->b, collect, all);
    return all->n > 0 && all->n <= MOST_PLANS;
}

/* ---- one case: the chosen plan and the others ---- */

typedef struct game {
    best *b;
    bench_row *row;
    bench_stage *st;
    const bench_known *known;
    bench_plan chosen, other[MOST_PLANS];
    int n, unlike, large; /* others to run; predicted far off; too large */
    double min_ms;
} game;

/* Prepares the plan of a cover unless it is the chosen one or not to be run. */
static bool enter(game *g, const brute *b, const brute_cover *cover) {
    const told t = {.base = {.name = "told", .cover = put_cover}, .b = b, .cover = cover};
    clf_plan *p = bench_stage_plan(g->st, &t.base);
    if (!p) return bench_row_fail(g->row, "a plan: %.130s", g->st->err.text), false;
    bool same = bench_plan_same(p, g->chosen.x->plan), large = bench_plan_cells(p) > most_cells;
    bool unlike = bench_stage_predicted(g->st, p) > mispredicted * bench_stage_predicted(g->st, g->chosen.x->plan);
    g->large += large;
    g->unlike += unlike && !large;
    if (same || large || unlike) {
        clf_plan_free(p);
        return true;
    }
    if (bench_plan_take(&g->other[g->n], g->st, p)) return g->n++, true;
    return bench_row_fail(g->row, "a plan cannot be prepared: %.110s", g->st->err.text), false;
}

static double sample(game *g, bench_plan *p) { return bench_plan_sample(p, g->min_ms); }

static void leave_out(game *g, int i) {
    bench_plan_free(&g->other[i]);
    g->n--;
    memmove(&g->other[i], &g->other[i + 1], (size_t)(g->n - i) * sizeof *g->other);
    g->other[g->n] = (bench_plan){0};
}

/* Those without the BLAS come first. */
static void line_up(game *g) {
    int quiet = 0;
    for (int i = 0; i < g->n; i++) {
        if (bench_plan_library(&g->other[i])) continue;
        bench_plan p = g->other[i];
        g->other[i] = g->other[quiet];
        g->other[quiet++] = p;
    }
}

/* Every plan computes the right thing, and those that are much slower than the fastest go. */
static void screen(game *g) {
    double ms[MOST_PLANS], fastest;
    bench_plan_check(g->row, &g->chosen, g->known, "the chosen plan");
    for (int i = 0; i < g->n; i++) bench_plan_check(g->row, &g->other[i], g->known, "another plan");
    fastest = sample(g, &g->chosen);
    for (int i = 0; i < g->n; i++) fastest = fmin(fastest, ms[i] = sample(g, &g->other[i]));
    for (int i = g->n; i-- > 0;) {
        if (ms[i] > slower * fastest) leave_out(g, i);
    }
}

typedef struct times {
    double first[BENCH_ROUNDS_MAX], again[BENCH_ROUNDS_MAX], other[MOST_PLANS][BENCH_ROUNDS_MAX];
} times;

/* Every second round goes backwards. */
static void turn(game *g, times *t, int r, int from, int to) {
    for (int j = from; j < to; j++) {
        int i = r % 2 ? from + to - 1 - j : j;
        t->other[i][r] = sample(g, &g->other[i]);
    }
}

/* Plans without the BLAS play first, so that it spins but once a round. */
static void play(game *g, times *t, int rounds) {
    bool late = bench_plan_library(&g->chosen);
    int quiet = 0;
    while (quiet < g->n && !bench_plan_library(&g->other[quiet])) quiet++;
    for (int r = 0; r < rounds; r++) {
        if (late) turn(g, t, r, 0, quiet);
        t->first[r] = sample(g, &g->chosen);
        turn(g, t, r, late ? quiet : 0, late ? g->n : quiet);
        t->again[r] = sample(g, &g->chosen);
        if (!late) turn(g, t, r, quiet, g->n);
    }
}

/* Which of the others is the best, -1: none beats the chosen plan. */
static int judge(game *g, const times *t, int rounds) {
    double both[BENCH_ROUNDS_MAX], q[BENCH_ROUNDS_MAX];
    bench_row *row = g->row;
    int which = -1;
    for (int r = 0; r < rounds; r++) {
        both[r] = 0.5 * (t->first[r] + t->again[r]);
        q[r] = fabs(t->again[r] / t->first[r] - 1);
    }
    row->noise = bench_median(q, rounds);
    row->best_ms = row->ours_ms = bench_median(both, rounds);
    row->ratio_best = 1;
    for (int i = 0; i < g->n; i++) {
        for (int r = 0; r < rounds; r++) q[r] = both[r] / t->other[i][r];
        double ratio = bench_median(q, rounds);
        if (isnan(ratio)) bench_row_fail(row, "a plan fails: %.120s", g->st->err.text);
        if (!(ratio > row->ratio_best)) continue;
        row->ratio_best = ratio;
        row->best_ms = bench_median(t->other[i], rounds);
        which = i;
    }
    return which;
}

static void note(game *g, int which) {
    best *b = g->b;
    bench_row *row = g->row;
    b->n++;
    b->near += row->ratio_best <= 1 + near + row->noise;
    row->below = row->ratio_best > 1 + far + row->noise && !b->r->opt->quick;
    b->over += row->below;
    if (row->ratio_best > b->worst) {
        b->worst = row->ratio_best;
        snprintf(b->worst_name, sizeof b->worst_name, "%s", row->text);
    }
    if (which < 0 || row->ratio_best <= 1 + near + row->noise || b->r->opt->quick) return;
    bench_plan_show(&g->chosen, row->text);
    bench_plan_show(&g->other[which], "the best");
}

static void run_game(game *g) {
    const bench_options *o = g->b->r->opt;
    int rounds = o->quick || o->rounds > LEAST_ROUNDS ? o->rounds : LEAST_ROUNDS;
    times *t = calloc(1, sizeof *t);
    if (!t) return bench_row_fail(g->row, "out of memory");
    g->min_ms = o->quick ? 0.1 : 3;
    line_up(g);
    screen(g);
    if (g->row->ok) play(g, t, rounds);
    if (g->row->ok) note(g, judge(g, t, rounds));
    free(t);
    snprintf(g->row->why + strlen(g->row->why), sizeof g->row->why - strlen(g->row->why),
             "%s%d in rounds, %d predicted far off, %d too large", g->row->ok ? "" : "; ", g->n, g->unlike, g->large);
}

static void begin_game(game *g, const covers *all) {
    bool good = bench_plan_make(&g->chosen, g->st, "cost");
    if (!good) bench_row_fail(g->row, "%.150s", g->st->err.text);
    g->row->predicted_ms = good ? bench_stage_predicted(g->st, g->chosen.x->plan) : NAN;
    for (int i = 0; good && i < all->n; i++) good = enter(g, &all->b, &all->cover[i]);
    if (good) run_game(g);
    for (int i = 0; i < g->n; i++) bench_plan_free(&g->other[i]);
    bench_plan_free(&g->chosen);
}

static void staged(void *user, bench_row *row, bench_stage *st, const bench_known *known) {
    best *b = user;
    covers *all = calloc(1, sizeof *all);
    game *g = calloc(1, sizeof *g);
    clf_arena arena;
    clf_graph own;
    clf_arena_init(&arena, &st->s.ctx->mem);
    if (!all || !g) {
        bench_row_fail(row, "out of memory");
    } else if (find_covers(all, st, &own, &arena)) {
        *g = (game){.b = b, .row = row, .st = st, .known = known};
        row->plans = all->n;
        if (!b->r->opt->quick || all->n <= QUICK_PLANS) begin_game(g, all);
    } else if (st->err.code != CLF_OK) {
        bench_row_fail(row, "%.150s", st->err.text);
    } else {
        b->many++;
        snprintf(row->why, sizeof row->why, "more than %d plans", MOST_PLANS);
    }
    if (all) brute_release(&all->b);
    clf_arena_release(&arena);
    free(g);
    free(all);
}

/* ---- the part ---- */

static void conclude(best *b, bench_row *row) {
    double share = b->n ? (double)b->near / b->n : NAN;
    printf("\nchosen against the best of all plans, %d cases, %d with more than %d plans left out: within %.0f %% and noise in %.0f %% "
           "(asked: "
           "%.0f %%), worst %.2fx, %s; %d beyond %.0f %% and noise (asked: 0)\n",
           b->n, b->many, MOST_PLANS, near * 100, share * 100, near_share * 100, b->worst, b->worst_name, b->over, far * 100);
    row->below = !b->r->opt->quick && (share < near_share || b->over > 0);
}

void bench_run_best(bench_run *r) {
    best b = {.r = r, .worst = 1};
    bench_row row;
    if (!bench_part_wanted(r->opt, "best")) return;
    bench_row_init(&row, "best", "plan", "f64", r->device_name);
    row.part = BENCH_BEST;
    if (bench_calibrate(r, &row)) {
        const bench_part part = {"best", BENCH_BEST, staged, &b, 8, 0};
        printf("\n%-20s %16s %6s %10s %10s %7s %6s\n", "case", "size", "plans", "chosen", "best", "ratio", "noise");
        bench_each_case(r, &part);
        conclude(&b, &row);
    }
    r->emit(r->user, &row);
}
