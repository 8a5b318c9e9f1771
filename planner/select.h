/* SPDX-License-Identifier: Apache-2.0
 * Selection: which operators share a loop, what is stored, and why every other edge goes through memory.
 *
 * Parts come from levels: level(n) counts the memory edges on the longest path to n. Nodes of equal loop and equal level that are
 * linked by a fused edge or read the same memory can always share one pass (JOIN), without cycles: whatever lies between them goes
 * up a level. Cells run as late as their first reader. Values needed later still are stored by the same pass (TAP). */
#ifndef CLF_PLANNER_SELECT_H
#define CLF_PLANNER_SELECT_H
#include "planner/cover.h"

/* A selector answers for every edge of the memo. One with state embeds this struct first: a candidate of a search, for one. */
struct clf_selector {
    const char *name;
    /* Shall input k of n, which the memo allows to fuse, be fused? The same answer whenever asked during one selection. */
    bool (*fuse)(const clf_selector *self, const clf_memo *m, int32_t n, int k);
    bool join;     /* loops that read the same memory share a pass */
    bool searches; /* the cover is clf_search's; fuse says what may be fused at all */
    /* Not NULL: makes the cover itself, all but drivers, and nothing else is asked. Executable order is its matter. */
    clf_status (*cover)(const clf_selector *self, const clf_memo *m, clf_arena *arena, clf_cover *out, clf_err *err);
};
extern const clf_selector *const clf_selectors[]; /* NULL-ended */
/** The selector of this name, NULL if there is none. */
const clf_selector *clf_selector_find(const char *name);

clf_status clf_select(const clf_memo *m, const clf_selector *sel, const clf_limits *lim, clf_arena *arena, clf_cover *out, clf_err *err);
#endif
