/* SPDX-License-Identifier: Apache-2.0
 * Running the suite algorithms: make the inputs, open a context for each selector, train everybody once or twice to see what an iteration
 * takes, then in rounds, in turns; compare all objectives; at last train in new contexts, to see what planning costs. Profiles are measured
 * right before, unless it is quick or a selector is asked for.
 *
 * Trainings are cut to about a second and a half: whoever is slow does fewer iterations, and ratios are over those that both did. Short
 * ones, in which an iteration that was interrupted is felt, play up to four times as many rounds. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "perf/algorithms.h"
#include "perf/plans.h"

const double alg_least_others = 0.98, alg_least_calls = 1 / 1.15, alg_most_planning = 0.005;

static const double training_ms = 1500, quick_ms = 20; /* of a training, about */
static const double short_ms = 100;                    /* whoever takes less plays more rounds */
static const double slow_ms = 4000;                    /* whoever takes longer plays the first rounds only */
static const double looking_ms = 3000;                 /* at planning, about */
static const double most_cells = 1.2e8;                /* that the plan without fusion may make at once */
static const double bound = 1e-6;                      /* of an objective, relative */
enum { RUN = 20, QUICK_RUN = 3, WARM = 2, SLOW_ROUNDS = 2, MORE = 4, LOOKS = 7 };

typedef struct game {
    const bench_run *r;
    const alg_case *k;
    const algorithm *a;
    bench_row row;
    alg_figures f;
    alg_data d;
    alg_params p;
    alg_player player[ALG_PLAYERS];
    int iterations[ALG_PLAYERS];
    alg_trace trace[ALG_PLAYERS]; /* of the round */
    double ms[ALG_PLAYERS][BENCH_ROUNDS_MAX], ratio[ALG_PLAYERS][BENCH_ROUNDS_MAX], first_ms[ALG_PLAYERS][BENCH_ROUNDS_MAX];
    double calls[BENCH_ROUNDS_MAX];
} game;

static bool train(game *g, alg_player *p, int iterations, alg_trace *t, int who) {
    char why[200] = "";
    bench_rest();
    if (alg_player_train(p, iterations, t, why, sizeof why)) return true;
    bench_row_fail(&g->row, "%s: %.130s", alg_who_name[who], why);
    return false;
}

/* ---- who plays */

static alg_params parameters(const game *g) {
    alg_params p = g->a->defaults;
    p.iterations = g->r->opt->quick ? QUICK_RUN : RUN;
    if (g->k->k) p.rank = g->k->k;
    if (g->k->inner) p.inner = g->k->inner;
    return p;
}

static bool left_out(game *g, int who) {
    const double cells = (double)g->d.a.n * (double)g->d.a.m;
    if (g->r->opt->fuse) return who != ALG_COST;
    if (who != ALG_NONE || !g->k->makes_cells || cells <= most_cells) return false;
    snprintf(g->row.why, sizeof g->row.why, "none would make %.3g dense cells", cells);
    return true;
}

static void open_players(game *g) {
    const hand_alg_fn by_hand[ALG_PLAYERS] = {[ALG_HAND] = g->k->hand, [ALG_CALLS] = g->k->calls};
    char why[200] = "";
    for (int i = 0; i < ALG_PLAYERS && g->row.ok; i++) {
        alg_player *p = &g->player[i];
        if (left_out(g, i)) continue;
        *p = (alg_player){.a = g->a, .d = &g->d, .p = g->p, .hand = by_hand[i]};
        p->alone = i == ALG_CALLS && g->r->opt->quick; /* hundreds of tiny loops: on a busy machine, threads would wait for each other */
        const char *fuse = i == ALG_TWIN ? alg_who_name[ALG_COST] : i == ALG_COST && g->r->opt->fuse ? g->r->opt->fuse : alg_who_name[i];
        if (i < ALG_HAND && !alg_player_open(p, g->r, fuse, why, sizeof why)) bench_row_fail(&g->row, "%s: %.130s", alg_who_name[i], why);
    }
}

/* ---- playing */

/* Two iterations: kernels are compiled, and it is seen how many iterations fit. */
static void warm(game *g) {
    const double most = g->r->opt->quick ? quick_ms : training_ms;
    for (int i = 0; i < ALG_PLAYERS && g->row.ok; i++) {
        alg_trace *t = &g->trace[i];
        g->iterations[i] = g->p.iterations;
        if (i >= ALG_HAND && g->r->opt->quick) continue; /* nothing to compile, and it is fast enough */
        if (!alg_player_plays(&g->player[i]) || !train(g, &g->player[i], WARM, t, i)) continue;
        const double fit = most / (t->n < 2 ? t->end_ms - t->begin_ms : alg_trace_ms(t, t->n));
        g->iterations[i] = fit < WARM ? WARM : fit > g->p.iterations ? g->p.iterations : (int)fit;
        if (i == ALG_COST && t->c) g->f.build_ms = (double)(t->at[t->n - 1].build_ns - t->before.build_ns) * 1e-6;
    }
}

/* The objective after every iteration that both did is the same, and so is the work. */
static void compare(game *g) {
    const alg_trace *ours = &g->trace[ALG_COST];
    for (int i = 0; i < ALG_PLAYERS; i++) {
        const alg_trace *t = &g->trace[i];
        for (int s = 0; s < t->n && s < ours->n; s++) {
            const double off = fabs(t->objective[s] - ours->objective[s]) / fmax(fabs(ours->objective[s]), 1e-300);
            if (off > g->row.max_rel_err) g->row.max_rel_err = off;
            if (!(off <= bound))
                return bench_row_fail(&g->row, "%s: objective %.10g after iteration %d, cost has %.10g", alg_who_name[i], t->objective[s],
                                      s + 1, ours->objective[s]);
        }
        if (t->c && t->n == ours->n && t->calls != ours->calls)
            snprintf(g->row.why, sizeof g->row.why, "%s makes %d calls, cost %d", alg_who_name[i], t->calls, ours->calls);
    }
}

/* Time of one over that of another, in the iterations that both did. */
static double over(const game *g, int who, int base) {
    const alg_trace *a = &g->trace[who], *b = &g->trace[base];
    const int n = a->n < b->n ? a->n : b->n;
    return alg_trace_ms(a, n) / alg_trace_ms(b, n);
}

static void play_round(game *g, int round) {
    for (int j = 0; j < ALG_PLAYERS && g->row.ok; j++) {
        const int i = round % 2 ? ALG_PLAYERS - 1 - j : j; /* every second round goes backwards */
        const bool slow = g->iterations[i] * g->ms[i][0] > slow_ms;
        g->trace[i].n = 0;
        g->ms[i][round] = g->first_ms[i][round] = NAN;
        if (!alg_player_plays(&g->player[i]) || (round >= SLOW_ROUNDS && slow)) continue;
        const alg_trace *t = &g->trace[i];
        if (!train(g, &g->player[i], g->iterations[i], &g->trace[i], i)) continue;
        g->ms[i][round] = alg_trace_ms(t, ALG_STEPS);
        g->first_ms[i][round] = t->at_ms[0] - t->begin_ms;
    }
    if (g->row.ok) compare(g);
    for (int i = 0; i < ALG_PLAYERS; i++) g->ratio[i][round] = over(g, i, ALG_COST);
    g->calls[round] = over(g, ALG_CALLS, ALG_NONE);
}

/* ---- planning, in a context that has planned nothing yet, while kernels are compiled already */

/* Devices are looked for when the first plan needs to know them. Milliseconds. */
static double find_devices(clf_ctx *c) {
    clf_device d = {.struct_size = sizeof d};
    const double begin = bench_now_ms();
    for (int i = 0; clf_device_at(c, i, &d);) i++;
    return bench_now_ms() - begin;
}

/* Of a training in a context that knows no plan yet. */
typedef struct look {
    double find, load, plan, share;
} look;

static bool look_once(game *g, look *out) {
    alg_player fresh = {.a = g->a, .d = &g->d, .p = g->p};
    alg_trace *t = &g->trace[ALG_COST];
    char why[200] = "";
    if (!alg_player_open(&fresh, g->r, g->r->opt->fuse, why, sizeof why)) bench_row_fail(&g->row, "%.130s", why);
    if (fresh.c) out->find = find_devices(fresh.c);
    bool good = fresh.c && train(g, &fresh, g->iterations[ALG_COST], t, ALG_COST);
    if (good) {
        const clf_stats after = bench_stats(fresh.c);
        out->load = (double)(after.build_ns - t->before.build_ns) * 1e-6;
        out->plan = (double)(after.plan_ns - t->before.plan_ns) * 1e-6;
        const double run = (t->end_ms - t->begin_ms - out->plan - out->load) * fmax(1, (double)RUN / t->n);
        out->share = out->plan / (out->plan + run);
    }
    alg_player_close(&fresh);
    return good;
}

/* The medians of several contexts, of fewer where trainings are long. */
static void see_planning(game *g) {
    double find[LOOKS], load[LOOKS], plan[LOOKS], share[LOOKS], begin = bench_now_ms();
    look l;
    int n = 0;
    for (; n < LOOKS && (n == 0 || bench_now_ms() - begin < looking_ms) && look_once(g, &l); n++) {
        find[n] = l.find;
        load[n] = l.load;
        plan[n] = l.plan;
        share[n] = l.share;
    }
    if (n == 0) return;
    g->f.find_ms = bench_median(find, n);
    g->f.load_ms = bench_median(load, n);
    g->f.plan_ms = bench_median(plan, n);
    g->f.plan_share = bench_median(share, n);
}

/* ---- figures */

static void count(game *g, int who) {
    const alg_trace *t = &g->trace[who];
    clf_mem_stats m = {.struct_size = sizeof m};
    if (!t->c || t->n < 2) return;
    const clf_stats *a = &t->at[0], *b = &t->at[t->n - 1];
    const double n = t->n - 1;
    g->f.bytes[who] = ((double)(b->bytes_read - a->bytes_read) + (double)(b->bytes_written - a->bytes_written)) / n;
    g->f.products[who] = (double)(b->launches_library - a->launches_library) / n;
    if (clf_get_mem_stats(t->c, &m) == CLF_OK) g->f.peak_bytes[who] = (double)m.peak;
    if (who != ALG_COST) return;
    g->f.launches = (double)(bench_launches(b) - bench_launches(a)) / n;
    g->f.waits = (double)(b->waits - a->waits) / n;
    g->f.iterations = t->n;
    g->f.calls = t->calls;
    if (b->launches_ref > a->launches_ref) bench_row_fail(&g->row, "the reference executor ran");
}

static void conclude(game *g, int rounds) {
    bench_row *row = &g->row;
    double apart[BENCH_ROUNDS_MAX];
    for (int i = 0; i < ALG_PLAYERS; i++) {
        g->f.ms[i] = bench_median(g->ms[i], rounds);
        g->f.first_ms[i] = bench_median(g->first_ms[i], rounds);
        g->f.ratio[i] = bench_median(g->ratio[i], rounds);
    }
    for (int i = 0; i < rounds; i++) apart[i] = fabs(g->ms[ALG_COST][i] / g->f.ms[ALG_COST] - 1);
    row->noise = bench_median(apart, rounds);
    /* The better one is so over all rounds: the least of each round would read as a loss. So would the one that the clock favours of two
     * equal plans: they count as equal. */
    g->f.ratio_others = fmin(g->f.same[ALG_ALL] ? 1 : g->f.ratio[ALG_ALL], g->f.same[ALG_NORED] ? 1 : g->f.ratio[ALG_NORED]);
    g->f.ratio_calls = bench_median(g->calls, rounds);
    row->ours_ms = g->f.ms[ALG_COST];
    row->unfused_ms = g->f.ms[ALG_NONE];
    row->hand_ms = g->f.ms[ALG_HAND];
    row->ratio_hand = g->f.ratio[ALG_HAND];
    row->ratio_unfused = g->f.ratio[ALG_NONE];
    row->counted_bytes = g->f.bytes[ALG_COST];
    row->below = !g->r->opt->quick && !g->r->opt->fuse && alg_below(row, NULL);
}

/* After the first one. */
static int rounds_to_play(const game *g) {
    const int asked = g->r->opt->rounds;
    const double training = g->iterations[ALG_COST] * g->ms[ALG_COST][0];
    const int times = training > 0 && training < short_ms ? (int)ceil(short_ms / training) : 1;
    const int all = asked * (times < MORE ? times : MORE);
    return g->r->opt->quick ? asked : all < BENCH_ROUNDS_MAX ? all : BENCH_ROUNDS_MAX;
}

static void play(game *g) {
    int rounds = 1;
    warm(g);
    for (int i = 0; i < rounds && g->row.ok; i++) {
        play_round(g, i);
        if (i == 0) rounds = rounds_to_play(g);
        for (int w = 0; w < ALG_HAND; w++) {
            if (i == 0) count(g, w);
            /* in the first round steps may still be on trial */
            if (g->trace[w].n) g->f.same[w] = (i <= 1 || g->f.same[w]) && alg_trace_same(&g->trace[w], &g->trace[ALG_COST]);
        }
    }
    if (g->row.ok && g->iterations[ALG_COST] > 0) see_planning(g);
    if (g->row.ok) conclude(g, rounds);
}

static void prepare(game *g) {
    bench_row *row = &g->row;
    char why[200] = "";
    double *const none[] = {&g->f.ratio_others, &g->f.ratio_calls, &g->f.launches, &g->f.waits,
                            &g->f.plan_ms,      &g->f.load_ms,     &g->f.build_ms, &g->f.plan_share};
    bench_row_init(row, g->k->name, "algorithms", "f64", g->r->opt->device ? g->r->device_name : "by cost");
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) *none[i] = NAN;
    for (int i = 0; i < ALG_PLAYERS; i++)
        g->f.ms[i] = g->f.first_ms[i] = g->f.ratio[i] = g->f.bytes[i] = g->f.products[i] = g->f.peak_bytes[i] = NAN;
    row->alg = &g->f;
    row->max_rel_err = 0;
    g->p = parameters(g);
    if (!alg_data_make(&g->d, g->k, &g->p, g->r->opt->quick, why, sizeof why)) bench_row_fail(row, "%.150s", why);
    row->rows = g->d.a.n;
    row->cols = g->d.a.m;
    if (g->k->matrix != ML_DENSE && row->ok) row->sparsity = (double)g->d.s.nnz / ((double)row->rows * (double)row->cols);
    if (g->k->floor_hand > 0 && !g->r->opt->quick) row->floor = g->k->floor_hand;
    if (g->k->floor_none > 0 && !g->r->opt->quick) row->floor_unfused = g->k->floor_none;
}

static void run_case(const bench_run *r, const alg_case *k, const algorithm *a) {
    game *g = calloc(1, sizeof *g);
    char why[200] = "";
    if (!g) return;
    g->r = r;
    g->k = k;
    g->a = a;
    prepare(g);
    if (g->row.ok) open_players(g);
    if (g->row.ok) play(g);
    const alg_trace *t = &g->trace[ALG_COST];
    g->d.a.iterations = t->n;
    g->d.a.objective = t->n ? t->objective[t->n - 1] : NAN;
    if (g->row.ok && r->opt->inputs && !alg_data_save(&g->d, k, r->opt->inputs, why, sizeof why)) bench_row_fail(&g->row, "%.150s", why);
    for (int i = 0; i < ALG_PLAYERS; i++) alg_player_close(&g->player[i]);
    r->emit(r->user, &g->row);
    alg_data_free(&g->d);
    free(g);
}

static void head(void) {
    printf("\nalgorithms: ms per iteration; ratios are the other's time over that of cost; bytes: of fused steps, per iteration; "
           "first: until the first iteration has ended\n");
    printf("%-22s %12s %9s %9s %9s %9s %9s %9s %9s %6s %7s %6s %6s %6s %8s %8s %8s %8s %8s %6s\n", "case", "size", "cost", "none", "all",
           "nored", "twin", "hand", "calls", "none", "atleast", "others", "hand", "calls", "MB cost", "MB none", "plan ms", "share",
           "first ms", "peak");
}

/* Plans are chosen by what was measured of this machine. */
static bool begin(bench_run *r) {
    bench_row row;
    bench_row_init(&row, "algorithms", "algorithms", "f64", r->device_name);
    if (!r->opt->quick && !r->opt->fuse && !bench_calibrate(r, &row)) return r->emit(r->user, &row), false;
    head();
    return true;
}

void bench_run_algorithms(bench_run *r) {
    bool begun = false;
    if (r->opt->dtype && strcmp(r->opt->dtype, "f64") != 0) return;
    for (const alg_case *k = alg_cases; k->name; k++) {
        const algorithm *a = algorithm_named(k->algorithm);
        if (!a || !bench_wanted(r->opt, "algorithms", k->name) || (r->opt->quick && k->quick_n == 0)) continue;
        if (!begun && !begin(r)) return;
        begun = true;
        run_case(r, k, a);
    }
}
