/* SPDX-License-Identifier: Apache-2.0
 * What the exact planner answers to a case, searched to its end. */
#ifndef CLF_TESTS_EXACT_PLAN_H
#define CLF_TESTS_EXACT_PLAN_H
#include "planner/search.h"
#include "tests/support/exact_case.h"

/* mem and arena are the caller's to begin and to release. */
typedef struct exact_plan {
    clf_mem mem;
    clf_arena arena;
    clf_graph g; /* drawn, perhaps rewritten */
    clf_limits lim;
    clf_err err;
    clf_problem problem;
    clf_cover cover;
    clf_search_stats stats;
    clf_ps priced;    /* the cover, by the planner */
    int64_t layouts;  /* that an oracle priced beside it, for those who count */
    brute_cover mine; /* the cover as the brute force writes it, for those who want it so */
} exact_plan;

/** The case's graph: as it is drawn where the seed is even, else after rewriting. */
clf_status exact_plan_graph(exact_plan *p, const exact_case *c);
/** Search, check and price the cheapest cover of that graph. */
clf_status exact_plan_search(exact_plan *p, const exact_case *c);
#endif
