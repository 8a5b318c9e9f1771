/* SPDX-License-Identifier: Apache-2.0
 * The answer of a search for a host and others, when it is far from proved: the host's own plans are fewer, their search gets further, and
 * the best of them may be cheaper than what was found among all. */
#include "planner/search.h"

enum { SURE = 4 }; /* a cover is taken for the best if none is cheaper by more than one part in so many */

static bool is_doubtful(const clf_problem *p, const clf_search_stats *stats) {
    return p->dev.n > 1 && p->dev.profile[0]->kind == CLF_DEV_HOST && stats->gap > stats->cost / SURE;
}

/* What the same graph is for the host alone. */
static clf_status host_problem(const clf_problem *p, clf_limits *lim, clf_arena *arena, clf_problem *out, clf_err *err) {
    *lim = *p->lim;
    lim->dev = (clf_devices){.n = 1, .profile = {p->dev.profile[0]}};
    return clf_problem_new(p->m, lim, arena, out, err);
}

clf_status clf_search_sure(const clf_problem *p, const clf_search_options *opt, clf_arena *arena, clf_cover *out, clf_search_stats *stats,
                           clf_err *err) {
    clf_limits lim;
    clf_problem host;
    clf_cover cover;
    clf_search_stats on_host;
    clf_pricer pricer;
    CLF_TRY(clf_search(p, opt, arena, out, stats, err));
    if (!is_doubtful(p, stats)) return CLF_OK;
    CLF_TRY(host_problem(p, &lim, arena, &host, err));
    CLF_TRY(clf_search(&host, opt, arena, &cover, &on_host, err));
    CLF_TRY(clf_pricer_new(p, arena, &pricer, err));
    CLF_TRY(clf_cover_price(&pricer, &cover, &on_host.cost, err)); /* as part of the whole space */
    stats->plans += on_host.plans;
    if (on_host.cost >= stats->cost) return CLF_OK;
    *out = cover;
    stats->gap -= stats->cost - on_host.cost;
    stats->cost = on_host.cost;
    stats->whole = on_host.whole;
    return CLF_OK;
}
