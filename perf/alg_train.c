/* SPDX-License-Identifier: Apache-2.0
 * One training of the suite algorithms, by the library under a selector or by hand, and what was seen at each of its iterations. */
#include <omp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "perf/algorithms.h"

const char *const alg_who_name[ALG_PLAYERS] = {"cost", "none", "all", "nored", "twin", "hand", "calls"};

bool alg_player_plays(const alg_player *p) { return p->c || p->hand; }

/* Half of the memory there is: a plan gone dense is to fail, not to swap. */
static bool limit_memory(clf_ctx *c) {
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    char bytes[32];
    snprintf(bytes, sizeof bytes, "%zu", (size_t)pages / 2 * (size_t)page);
    return pages <= 0 || page <= 0 || clf_set(c, "CLF_MEM_LIMIT", bytes) == CLF_OK;
}

bool alg_player_open(alg_player *p, const bench_run *r, const char *fuse, char *why, size_t why_n) {
    p->c = bench_ctx(r->opt, r->opt->device, fuse, why, why_n);
    if (!p->c) return false;
    if (!limit_memory(p->c)) return snprintf(why, why_n, "%.180s", clf_last_error(p->c)), false;
    alg_data_bind(p->d, p->c, &p->X, &p->y);
    return true;
}

void alg_player_close(alg_player *p) {
    if (p->c) clf_close(p->c);
    *p = (alg_player){0};
}

static void note(void *user, int iteration, double objective) {
    alg_trace *t = user;
    const double now = bench_now_ms();
    (void)iteration;
    if (t->n == ALG_STEPS) return;
    t->at_ms[t->n] = now;
    t->objective[t->n] = objective;
    if (t->c) t->at[t->n] = bench_stats(t->c);
    t->n++;
}

static bool train_by_hand(alg_player *p, int iterations, alg_trace *t, char *why, size_t why_n) {
    hand_alg a = p->d->a;
    a.iterations = iterations;
    a.each = note;
    a.user = t;
    const int threads = omp_get_max_threads();
    if (p->alone) omp_set_num_threads(1);
    t->begin_ms = bench_now_ms();
    bool good = p->hand(&a);
    t->end_ms = bench_now_ms();
    omp_set_num_threads(threads);
    if (!good) snprintf(why, why_n, "out of memory");
    return good;
}

/* The start that the example has drawn, for those who come after it. */
static void keep_start(alg_player *p, const alg_run *run) {
    int64_t rows, cols;
    for (int i = 0; i < ALG_MODEL && run->model[i].name && !p->d->a.start[0]; i++) {
        clf_mat *x = run->model[i].value;
        if (strcmp(run->model[i].name, "start") != 0 || clf_info(x, &rows, &cols, NULL, NULL) != CLF_OK) continue;
        double *to = alg_data_start(p->d, 0, (size_t)(rows * cols));
        if (to && clf_read(x, to, (size_t)(rows * cols) * sizeof *to) != CLF_OK) p->d->a.start[0] = NULL;
    }
}

static bool train(alg_player *p, int iterations, alg_trace *t, char *why, size_t why_n) {
    alg_run run = {.c = p->c, .X = p->X, .y = p->y, .p = p->p, .each = note, .user = t};
    run.p.iterations = iterations;
    const size_t mark = clf_epoch_begin(p->c);
    t->c = p->c;
    t->before = bench_stats(p->c);
    t->begin_ms = bench_now_ms();
    bool good = p->a->train(&run);
    t->end_ms = bench_now_ms();
    t->calls = run.calls;
    if (good) keep_start(p, &run);
    clf_epoch_end(p->c, mark);
    if (!good) snprintf(why, why_n, "%.180s", run.why);
    return good;
}

bool alg_player_train(alg_player *p, int iterations, alg_trace *t, char *why, size_t why_n) {
    *t = (alg_trace){0};
    if (!(p->c ? train : train_by_hand)(p, iterations, t, why, why_n)) return false;
    if (t->n == 0) snprintf(why, why_n, "not one iteration was reported");
    return t->n > 0;
}
