/* SPDX-License-Identifier: Apache-2.0
 * Rounds of samples of everybody who computes one case, and what follows from them: medians of times, medians over the rounds of the
 * ratios inside each round, the noise, the share of the roof. */
#include <math.h>
#include <stdlib.h>
#include "perf/bench.h"

static const double sample_ms = 8, slow_ms = 250; /* whoever is slower than slow_ms a call plays only the first rounds */
enum { SLOW_ROUNDS = 2 };

typedef struct times {
    double roof; /* best time of the reader */
    double hand[BENCH_ROUNDS_MAX], again[BENCH_ROUNDS_MAX], of[BENCH_SUBJECTS][BENCH_ROUNDS_MAX];
} times;

static double play(const bench_player *p, const double *earlier, int round, double min_ms) {
    if (!p->call || (round >= SLOW_ROUNDS && !(earlier[0] < slow_ms))) return NAN;
    bench_rest();
    return bench_sample(p->call, p->subject, min_ms);
}

/* Every second round goes backwards, so that no one always follows the same neighbour. The roof is measured between the rounds. */
static void measure(const bench_field *f, times *t, int rounds, double min_ms) {
    t->roof = NAN;
    for (int i = 0; i < rounds; i++) {
        bench_rest();
        t->hand[i] = bench_sample(f->hand.call, f->hand.subject, min_ms);
        for (int j = 0; j < BENCH_SUBJECTS; j++) {
            int which = i % 2 ? BENCH_SUBJECTS - 1 - j : j;
            t->of[which][i] = play(&f->who[which], t->of[which], i, min_ms);
        }
        bench_rest();
        t->again[i] = bench_sample(f->hand.call, f->hand.subject, min_ms);
        t->roof = fmin(t->roof, bench_sample(f->reader.call, f->reader.subject, min_ms));
    }
}

static double median_ratio(const double *over, const double *under, int n) {
    double q[BENCH_ROUNDS_MAX];
    for (int i = 0; i < n; i++) q[i] = over[i] / under[i];
    return bench_median(q, n);
}

static void conclude(bench_row *row, const bench_field *f, const times *t, int n) {
    double apart[BENCH_ROUNDS_MAX] = {0}, both[BENCH_ROUNDS_MAX] = {0};
    for (int i = 0; i < n; i++) {
        apart[i] = fabs(t->again[i] / t->hand[i] - 1);
        both[i] = 0.5 * (t->again[i] + t->hand[i]);
    }
    row->hand_ms = bench_median(both, n);
    row->ours_ms = bench_median(t->of[BENCH_OURS], n);
    row->unfused_ms = bench_median(t->of[BENCH_UNFUSED], n);
    row->host_ms = bench_median(t->of[BENCH_HOST], n);
    row->ratio_hand = median_ratio(both, t->of[BENCH_OURS], n);
    row->ratio_unfused = median_ratio(t->of[BENCH_UNFUSED], t->of[BENCH_OURS], n);
    row->ratio_host = median_ratio(both, t->of[BENCH_HOST], n);
    row->noise = bench_median(apart, n);
    row->gbs = row->bytes / row->ours_ms * 1e-6;
    row->roof_gbs = f->read_bytes / t->roof * 1e-6;
}

bool bench_rounds(bench_row *row, const bench_field *f, const bench_options *opt) {
    times *t = calloc(1, sizeof *t);
    if (!t) return bench_row_fail(row, "out of memory"), false;
    measure(f, t, opt->rounds, opt->quick ? sample_ms / 4 : sample_ms);
    conclude(row, f, t, opt->rounds);
    free(t);
    return true;
}
