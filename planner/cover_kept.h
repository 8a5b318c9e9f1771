/* SPDX-License-Identifier: Apache-2.0
 * Covers of earlier searches. A search follows from its question alone: the graph, the limits, the profiles, this planner. So somebody, the
 * keeper, may keep its answer as bytes under the question as a key, for this process or the next: reading it back is quicker than
 * searching. The key is whole, numbers of non-zeros by their class (clf_graph_key); a cover is priced anew when it is read.
 *
 * What a keeper gives is believed as little as any input: a cover is taken only if it is in the space of the problem (problem.h). */
#ifndef CLF_PLANNER_COVER_KEPT_H
#define CLF_PLANNER_COVER_KEPT_H
#include "planner/search.h"

/* Who keeps covers. Nothing here fails its caller. */
struct clf_keeper {
    void *of;
    /* Append what is kept under this key; false: nothing. */
    bool (*find)(void *of, clf_bytes key, clf_str *out);
    void (*keep)(void *of, clf_bytes key, clf_bytes cover, const clf_problem *p);
    /* What was found is no cover of this problem. */
    void (*drop)(void *of, clf_bytes key, const char *why);
};

/** Append the question. errors: out->failed. */
void clf_kept_key(const clf_problem *p, const clf_search_options *opt, clf_str *out);
/** Append the cover that a search gave, and what the search said but for its cost. errors: out->failed. */
void clf_kept_write(const clf_problem *p, const clf_cover *c, const clf_search_stats *stats, clf_str *out);
/** Read it back, as clf_search_sure gives it. errors: CLF_E_FORMAT: no cover of this problem; CLF_E_NOMEM. */
clf_status clf_kept_read(const clf_problem *p, clf_bytes kept, clf_arena *arena, clf_cover *out, clf_search_stats *stats, clf_err *err);
/** clf_search_sure, unless the keeper of the limits has its answer; what took long to find is given to the keeper. */
clf_status clf_kept_search(const clf_problem *p, const clf_search_options *opt, clf_arena *arena, clf_cover *out, clf_search_stats *stats,
                           clf_err *err);
#endif
