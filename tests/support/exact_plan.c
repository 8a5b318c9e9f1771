/* SPDX-License-Identifier: Apache-2.0
 * The exact planner asked. See exact_plan.h. */
#include "tests/support/exact_plan.h"

#include "planner/rewrite.h"

clf_status exact_plan_graph(exact_plan *p, const exact_case *c) {
    p->g = c->drawn.g;
    if (c->seed % 2 == 0) return CLF_OK;
    int32_t *fired = clf_arena_new(&p->arena, CLF_MOST_RULES, sizeof *fired);
    return clf_rewrite(&c->drawn.g, NULL, &p->arena, &p->arena, &p->g, fired, &p->err);
}

clf_status exact_plan_search(exact_plan *p, const exact_case *c) {
    const clf_search_options options = {.budget = 100000000}; /* to its end */
    clf_memo *memo = clf_arena_new(&p->arena, 1, sizeof *memo);
    clf_pricer pricer;
    p->lim = c->lim;
    p->lim.dev.n = c->devices.n;
    for (int d = 0; d < c->devices.n; d++) p->lim.dev.profile[d] = c->devices.device[d];
    CLF_TRY(clf_explore(&p->g, &p->arena, memo, &p->err));
    CLF_TRY(clf_problem_new(memo, &p->lim, &p->arena, &p->problem, &p->err));
    CLF_TRY(clf_search(&p->problem, &options, &p->arena, &p->cover, &p->stats, &p->err));
    CLF_TRY(clf_cover_check(&p->problem, &p->cover, &p->arena, &p->err));
    CLF_TRY(clf_pricer_new(&p->problem, &p->arena, &pricer, &p->err));
    return clf_cover_price(&pricer, &p->cover, &p->priced, &p->err);
}
