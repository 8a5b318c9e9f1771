/* SPDX-License-Identifier: Apache-2.0
 * What the files of the checker share. Private to planner/cplan_check*.c. */
#ifndef CLF_PLANNER_CPLAN_CHECK_H
#define CLF_PLANNER_CPLAN_CHECK_H
#include "planner/cplan.h"

typedef struct clf_check {
    const clf_cplan *c;
    clf_err *err;
    clf_cwhere at; /* the item looked at */
} clf_check;

/** Fail with a message that starts with the item. */
clf_status clf_check_bad(clf_check *k, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
#define BAD(k, ...) return clf_check_bad(k, __VA_ARGS__)

/* axis: one of the cplan, of which there are at most CLF_MAX_AXES. */
static inline bool clf_set_has(uint32_t set, int axis) { return set >> axis & 1u; }

/** fold over values of type t, giving type r. */
clf_status clf_check_fold_types(clf_check *k, int fold, int t, int r);
/** May a rest over entry axis `entry` vary with these axes, a RANGE not in `loop` with as many positions as the entries' rows columns? */
bool clf_check_by_columns(const clf_cplan *c, uint32_t axes, uint32_t loop, int entry);
/** Value i; the items before it hold, except the values behind it. */
clf_status clf_check_value(clf_check *k, int i);
/** Sink i; everything else holds. */
clf_status clf_check_sink(clf_check *k, int i);
#endif
