/* SPDX-License-Identifier: Apache-2.0
 * The exact planner asked. See exact_plan.h. */
#include "tests/support/exact_plan.h"

#include <string.h>

#include "planner/cover_kept.h"
#include "planner/rewrite.h"

clf_status exact_plan_graph(exact_plan *p, const exact_case *c) {
    p->g = c->drawn.g;
    if (c->seed % 2 == 0) return CLF_OK;
    int32_t *fired = clf_arena_new(&p->arena, CLF_MOST_RULES, sizeof *fired);
    return clf_rewrite(&c->drawn.g, NULL, &p->arena, &p->arena, &p->g, fired, &p->err);
}

static bool same_parts(const clf_cover *a, const clf_cover *b, int32_t nodes) {
    bool same = a->npart == b->npart && a->host_beside == b->host_beside;
    for (int32_t i = 0; same && i < a->npart; i++) {
        const clf_part *x = &a->part[i], *y = &b->part[i];
        same = x->n == y->n && x->loop == y->loop && x->why == y->why && x->device == y->device && x->layout == y->layout &&
               x->driver == y->driver && x->gaps == y->gaps && !strcmp(x->sparse, y->sparse) &&
               !memcmp(x->node, y->node, (size_t)x->n * sizeof *x->node);
    }
    for (int32_t q = 0; same && q < nodes; q++)
        same = a->maker[q] == b->maker[q] && a->copies[q] == b->copies[q] && a->csr[q] == b->csr[q] && a->entries[q] == b->entries[q];
    return same;
}

/* What is kept of the answer gives the same answer. */
static clf_status keep_and_read(exact_plan *p) {
    clf_search_stats stats;
    clf_cover again;
    clf_str kept;
    clf_str_init(&kept, &p->mem);
    clf_kept_write(&p->problem, &p->cover, &p->stats, &kept);
    clf_status st = clf_kept_read(&p->problem, (clf_bytes){kept.at, kept.len}, &p->arena, &again, &stats, &p->err);
    clf_str_release(&kept);
    CLF_TRY(st);
    bool same = same_parts(&p->cover, &again, p->g.n) && stats.cost == p->stats.cost && stats.gap == p->stats.gap;
    return same ? CLF_OK : clf_fail(&p->err, CLF_E_INTERNAL, "a cover that was kept is another when it is read");
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
    if (!p->stats.whole) CLF_TRY(keep_and_read(p));
    CLF_TRY(clf_pricer_new(&p->problem, &p->arena, &pricer, &p->err));
    return clf_cover_price(&pricer, &p->cover, &p->priced, &p->err);
}
