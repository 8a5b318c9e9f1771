/* SPDX-License-Identifier: Apache-2.0
 * The suite plan, part "time": how long planning takes. Three rows for each shape: plan, clf_plan_new alone (rewriting, exploring,
 * searching, lowering); door, clf_eval of a graph that is new, from the recorded nodes to the results; hit, the same of an equal graph,
 * whose plan is in the cache. All by the exact selector on device 0; recording is not timed. Limits are what we promise. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "host/run/exe.h"
#include "host/run/run.h"
#include "perf/plan.h"
#include "planner/select.h"

enum { QUICK_OPERATORS = 2000, ENOUGH_ROUNDS = 3, LARGE = 1000 };

typedef struct timing {
    bench_run *r;
    const plan_shape *s;
    int64_t operators;
    int rounds;
    double plan[BENCH_ROUNDS_MAX], door[BENCH_ROUNDS_MAX], hit[BENCH_ROUNDS_MAX]; /* ms */
    double door_run[BENCH_ROUNDS_MAX], hit_run[BENCH_ROUNDS_MAX];                 /* of that, ms of running */
    int64_t nodes, plans, steps;
    char why[200];
} timing;

static bool failed(timing *t, const char *what, const char *why) {
    snprintf(t->why, sizeof t->why, "%.40s: %.140s", what, why);
    return false;
}

/* clf_plan_new alone. */
static bool time_plan(timing *t, const plan_results *p, double *ms) {
    clf_frozen f;
    clf_plan *plan = NULL;
    clf_err err = {CLF_OK, ""};
    const clf_selector *sel = NULL;
    clf_limits lim = clf_exe_limits(p->c, &(clf_places){0});
    clf_node **root = calloc(p->n + 1, sizeof *root);
    for (size_t i = 0; i < p->n && root; i++) root[i] = p->at[i]->node;
    bool ok = root && clf_freeze(p->c, p->n, root, 0, NULL, &f, &err) == CLF_OK;
    if (ok) {
        double begin = bench_now_ms();
        ok = clf_run_selector(p->c, &sel, &err) == CLF_OK && clf_plan_new(&plan, &f.g, sel, &lim, &p->c->mem, &err) == CLF_OK;
        *ms = bench_now_ms() - begin;
        t->nodes = f.g.n;
        t->plans = plan ? plan->ncosted : 0;
        t->steps = plan ? plan->nstep : 0;
        clf_plan_free(plan);
        clf_frozen_release(&f);
    }
    free(root);
    return ok || failed(t, "planning", err.text);
}

static bool time_eval(timing *t, const plan_results *p, double *ms, double *run_ms) {
    uint64_t run_ns = bench_stats(p->c).run_ns;
    double begin = bench_now_ms();
    clf_status st = clf_eval(p->n, p->at);
    *ms = bench_now_ms() - begin;
    *run_ms = (double)(bench_stats(p->c).run_ns - run_ns) * 1e-6;
    return st == CLF_OK || failed(t, "evaluation", clf_last_error(p->c));
}

/* A context of its own, so that the first evaluation is one. */
static bool one_round(timing *t, int i) {
    plan_results p = {.c = bench_ctx(t->r->opt, "host", "cost", t->why, sizeof t->why)};
    bool ok = p.c && (plan_shape_record(t->s, t->operators, &p) || failed(t, "recording", clf_last_error(p.c)));
    ok = ok && time_plan(t, &p, &t->plan[i]) && time_eval(t, &p, &t->door[i], &t->door_run[i]);
    plan_results_free(&p);
    ok = ok && (plan_shape_record(t->s, t->operators, &p) || failed(t, "recording", clf_last_error(p.c)));
    ok = ok && time_eval(t, &p, &t->hit[i], &t->hit_run[i]);
    if (ok && bench_stats(p.c).plan_hits != 1) ok = failed(t, "cache", "the plan of an equal graph was not found");
    plan_results_free(&p);
    clf_close(p.c);
    return ok;
}

static void put(const timing *t, const char *what, const double *ms, const double *run, double limit) {
    bench_row row;
    bench_row_init(&row, NULL, "plan", "f64", "host");
    snprintf(row.text, sizeof row.text, "time_%s_%s", t->s->name, what);
    if (t->why[0])
        bench_row_fail(&row, "%.150s", t->why);
    else
        row.ours_ms = bench_median(ms, t->rounds);
    row.planning = true;
    row.limit_ms = t->operators < t->s->operators ? (double)NAN : limit;
    if (row.ok && run)
        snprintf(row.why, sizeof row.why, "of that %.4g ms running", bench_median(run, t->rounds));
    else if (row.ok)
        snprintf(row.why, sizeof row.why, "%lld nodes, %lld steps, %lld partial covers costed", (long long)t->nodes, (long long)t->steps,
                 (long long)t->plans);
    t->r->emit(t->r->user, &row);
}

static void run(bench_run *r, const plan_shape *s, bool *headed) {
    timing *t = calloc(1, sizeof *t);
    char name[64];
    snprintf(name, sizeof name, "time_%s", s->name);
    if (!t || !bench_wanted(r->opt, "plan", name)) return free(t);
    if (!*headed) printf("\n%-26s %16s %10s %10s\n", "planning", "", "ms", "limit");
    *headed = true;
    t->r = r;
    t->s = s;
    t->operators = r->opt->quick && s->operators > QUICK_OPERATORS ? QUICK_OPERATORS : s->operators;
    t->rounds = t->operators < LARGE || r->opt->rounds < ENOUGH_ROUNDS ? r->opt->rounds : ENOUGH_ROUNDS;
    for (int i = 0; i < t->rounds && !t->why[0]; i++) one_round(t, i);
    put(t, "plan", t->plan, NULL, s->plan_limit_ms);
    put(t, "door", t->door, t->door_run, s->door_limit_ms);
    put(t, "hit", t->hit, t->hit_run, s->hit_limit_ms);
    free(t);
}

void bench_run_plan_time(bench_run *r) {
    bool headed = false;
    for (const plan_shape *s = plan_shapes; s->name; s++) run(r, s, &headed);
}
