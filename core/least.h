/* SPDX-License-Identifier: Apache-2.0
 * Least times of a sequence of measurements that is gone through more than once: a neighbour who takes the machine for a moment makes all
 * tries of one measurement slow, but hardly the same one again some seconds later. */
#ifndef CLF_CORE_LEAST_H
#define CLF_CORE_LEAST_H

enum { CLF_LEAST_MOST = 128 };

/* Zeros: nothing measured yet. Measurements are told apart by their order, so every pass makes the same ones. */
typedef struct clf_least {
    double ns[CLF_LEAST_MOST];
    int at, known;
} clf_least;

/** Begin another pass. */
static inline void clf_least_again(clf_least *l) {
    if (l->at > l->known) l->known = l->at;
    l->at = 0;
}

/** The next measurement's least time, of this pass (ns) and those before; ns itself beyond CLF_LEAST_MOST measurements. */
static inline double clf_least_of(clf_least *l, double ns) {
    if (l->at >= CLF_LEAST_MOST) return ns;
    double *best = &l->ns[l->at];
    if (l->at++ >= l->known || ns < *best) *best = ns;
    return *best;
}

/** Sorted times or figures: take another one in. */
static inline void clf_sorted_insert(double *sorted, int n, double x) {
    int i = n;
    for (; i > 0 && sorted[i - 1] > x; i--) sorted[i] = sorted[i - 1];
    sorted[i] = x;
}

/** Of moving bytes and computing, what both together take, and what each takes alone: the part of the shorter that the longer hides. */
static inline double clf_part_hidden(double both, double move, double work) {
    double less = move < work ? move : work, more = move < work ? work : move, alone = (both - more) / less;
    return alone < 0 ? 1 : alone > 1 ? 0 : 1 - alone;
}
#endif
