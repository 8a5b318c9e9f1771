/* SPDX-License-Identifier: Apache-2.0
 * Figures of what is measured by turns: of things measured apart, a difference would be that of their neighbours'. One figure a turn, and
 * the median of them. */
#ifndef CLF_CORE_TURNS_H
#define CLF_CORE_TURNS_H

enum { CLF_TURNS_MOST = 7, CLF_TURNS_THINGS = 3 };

/* Of the times of a turn, in nanoseconds; `known` is what the caller knows besides. */
typedef double (*clf_turns_figure)(const double *ns, double known);

/** Another one among n sorted numbers. */
static inline void clf_sorted_insert(double *sorted, int n, double x) {
    int i = n;
    for (; i > 0 && sorted[i - 1] > x; i--) sorted[i] = sorted[i - 1];
    sorted[i] = x;
}

/** Of computing and moving bytes, what both together take and each alone: the part of the shorter that the longer hides, 0 to 1. */
static inline double clf_part_hidden(double both, double move, double work) {
    double less = move < work ? move : work, more = move < work ? work : move, alone = (both - more) / less;
    return alone < 0 ? 1 : alone > 1 ? 0 : 1 - alone;
}
#endif
