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
#endif
