/* SPDX-License-Identifier: Apache-2.0
 * The suite plan, part "fused": the plan that `cost` chooses against the one that fuses nothing, in pairs on the same device and memory.
 *
 * Fusing holds if the median of the ratios is at most 1.02 or their lower quartile at most 1.00, over 21 rounds at least. Pairs that take
 * long end as soon as this holds whatever the rounds to come bring. Equal plans are not sampled: their ratio is 1. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "perf/plans.h"

enum { LEAST_ROUNDS = 21 };
static const double most_median = 1.02, most_quartile = 1.00;
static const double most_cells = 2e7; /* dense cells that the unfused plan may make at once */
static const double long_ms = 20;     /* a pair's round */

typedef struct fused {
    bench_run *r;
    int n, lost, equal, large;
    double worst;
    char worst_name[64];
} fused;

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double lower_quartile(const double *v, int n) {
    double sorted[BENCH_ROUNDS_MAX] = {0};
    for (int i = 0; i < n; i++) sorted[i] = v[i];
    qsort(sorted, (size_t)n, sizeof *sorted, ascending);
    return sorted[(n - 1) / 4];
}

/* Would the lower quartile of all rounds be at most what is asked, if all rounds to come were the worst? */
static bool settled(const double *ratio, int n, int rounds) {
    int good = 0;
    for (int i = 0; i < n; i++) good += ratio[i] <= most_quartile;
    return good > (rounds - 1) / 4;
}

static void play(fused *f, bench_row *row, bench_plan *ours, bench_plan *unfused) {
    const bench_options *o = f->r->opt;
    const int rounds = o->quick || o->rounds > LEAST_ROUNDS ? o->rounds : LEAST_ROUNDS;
    const double min_ms = o->quick ? 0.1 : 2;
    double a[BENCH_ROUNDS_MAX] = {0}, b[BENCH_ROUNDS_MAX] = {0}, q[BENCH_ROUNDS_MAX] = {0};
    /* A plan with the BLAS comes after one without, and then the round is a long one: both wait until it has stopped to spin. */
    const bool mine = bench_plan_library(ours), its = bench_plan_library(unfused);
    int n = 0;
    while (n < rounds && !(n > 0 && (mine != its || a[n - 1] + b[n - 1] > long_ms) && settled(q, n, rounds))) {
        bool last = mine != its ? mine : n % 2;
        if (last) b[n] = bench_plan_sample(unfused, min_ms);
        a[n] = bench_plan_sample(ours, min_ms);
        if (!last) b[n] = bench_plan_sample(unfused, min_ms);
        q[n] = a[n] / b[n];
        if (isnan(q[n])) return bench_row_fail(row, "not measured: %.120s", ours->stage->err.text);
        n++;
    }
    row->ours_ms = bench_median(a, n);
    row->unfused_ms = bench_median(b, n);
    row->ratio_fused = bench_median(q, n);
    row->ratio_fused_low = lower_quartile(q, n);
    row->ratio_unfused = 1 / row->ratio_fused;
}

static void note(fused *f, bench_row *row, bench_plan *ours, bench_plan *unfused) {
    bool quick = f->r->opt->quick;
    f->n++;
    if (row->ratio_fused > f->worst) {
        f->worst = row->ratio_fused;
        snprintf(f->worst_name, sizeof f->worst_name, "%s", row->text);
    }
    row->below = !quick && !(row->ratio_fused <= most_median || row->ratio_fused_low <= most_quartile);
    f->lost += row->below;
    if (!row->below) return;
    bench_plan_show(ours, row->text);
    bench_plan_show(unfused, "unfused");
}

static void compare(fused *f, bench_row *row, bench_plan *ours, bench_plan *unfused, const bench_known *known) {
    bench_plan_check(row, ours, known, "fused");
    bench_plan_check(row, unfused, known, "unfused");
    if (row->ok && bench_plan_same(ours->x->plan, unfused->x->plan)) {
        f->equal++;
        row->ratio_fused = row->ratio_fused_low = 1;
        snprintf(row->why, sizeof row->why, "nothing is fused");
    } else if (row->ok) {
        play(f, row, ours, unfused);
    }
    if (row->ok) note(f, row, ours, unfused);
}

static void staged(void *user, bench_row *row, bench_stage *st, const bench_known *known) {
    fused *f = user;
    bench_plan ours = {.stage = st}, unfused = {.stage = st};
    clf_plan *p = bench_stage_plan(st, clf_selector_find("none"));
    if (p && bench_plan_cells(p) > most_cells) {
        f->large++;
        snprintf(row->why, sizeof row->why, "unfused would make %.3g dense cells", bench_plan_cells(p));
        clf_plan_free(p);
        return;
    }
    if (p && bench_plan_take(&unfused, st, p) && bench_plan_make(&ours, st, "cost"))
        compare(f, row, &ours, &unfused, known);
    else
        bench_row_fail(row, "%.150s", st->err.text);
    bench_plan_free(&ours);
    bench_plan_free(&unfused);
}

static void conclude(const fused *f, bench_row *row) {
    printf("\nfused against unfused, %d cases, %d where nothing is fused, %d left out as too large: worst median %.2fx, %s; %d above %.2f "
           "with "
           "a lower quartile above %.2f (asked: 0)\n",
           f->n, f->equal, f->large, f->worst, f->worst_name, f->lost, most_median, most_quartile);
    row->below = f->lost > 0;
}

void bench_run_fused(bench_run *r) {
    fused f = {.r = r};
    bench_row row;
    if (!bench_part_wanted(r->opt, "fused")) return;
    bench_row_init(&row, "fused", "plan", "f64", r->device_name);
    row.part = BENCH_FUSED;
    if (bench_calibrate(r, &row)) {
        const bench_part part = {"fused", BENCH_FUSED, staged, &f, 8, 2000};
        printf("\n%-20s %16s %10s %10s %7s %7s\n", "case", "size", "fused", "unfused", "quarter", "ratio");
        bench_each_case(r, &part);
        conclude(&f, &row);
    }
    r->emit(r->user, &row);
}
