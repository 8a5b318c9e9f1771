/* SPDX-License-Identifier: Apache-2.0
 * The exact choice of a cover: what is fused, stored, joined, and on which device it runs, as one search for the least cost.
 *
 * The graph falls into components that no choice couples: nodes linked by an edge that may be inside a loop, or reading the same operand in
 * loops of one class; where formats or devices couple what is apart otherwise, by any edge. Each is searched depth first over its nodes,
 * consumers before producers, so that all who want a value are known when it is decided. Every part with a consumer of node q computes q,
 * too, or reads it; if somebody reads it, or it is a result, it is stored by a part that computes it, joins another part of its class,
 * opens a loop, or stands alone. Branches are cut by a bound that never exceeds what the completed cover costs (search_state.c), and
 * complete covers are priced by clf_cover_price, in every layout of their parts (layout.c). Of what is not proved the cheapest single parts
 * are tried on other devices (search_moves.c).
 *
 * Source: candidate exploration and cost-based selection after Boehm et al., PVLDB 11(12) 2018, sections 3 and 4; choices per part and node
 * rather than per edge, multi-output parts, devices and the bound are ours. */
#ifndef CLF_PLANNER_SEARCH_H
#define CLF_PLANNER_SEARCH_H
#include "planner/problem.h"
#include "planner/select.h"

typedef struct clf_search_options {
    int64_t budget;  /* partial covers costed in each component before the best so far is taken; 0: the default */
    int share;       /* of that, no more than take so many percent of what the cheapest so far costs, and at least a few; 0: that does not matter */
    bool unbounded;  /* no branch is cut by its bound: a measure of what the bound saves */
    const clf_ask *ask; /* before each component; may be NULL */
} clf_search_options;

typedef struct clf_search_stats {
    clf_ps cost, gap;      /* of the cover; how much less another could cost at most: 0 when proved */
    int64_t plans;         /* partial covers costed, all components */
    double covers;         /* complete covers priced, multiplied over components: if unbounded and nothing stopped, how many there are */
    int32_t components, largest, stopped; /* largest: nodes of the largest component; stopped: components that the budget ended */
    bool kept;             /* found where an earlier search kept it (cover_kept.h) */
    bool whole;            /* an opening cover was taken as it is: components could not be put together */
} clf_search_stats;

/** The cheapest cover in the space of problem.h. *out is in executable order and has its drivers. errors: CLF_E_NOMEM, CLF_E_CANCELLED. */
clf_status clf_search(const clf_problem *p, const clf_search_options *opt, clf_arena *arena, clf_cover *out, clf_search_stats *stats,
                      clf_err *err);

/** search_host.c: clf_search, and where its answer is far from proved and the first of several devices is a host, the cheapest of what is
 *  that host's alone instead, if that costs less. errors: as clf_search. */
clf_status clf_search_sure(const clf_problem *p, const clf_search_options *opt, clf_arena *arena, clf_cover *out, clf_search_stats *stats,
                           clf_err *err);
#endif
