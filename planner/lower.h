/* SPDX-License-Identifier: Apache-2.0
 * Lowering: a part of the cover becomes a step with its cplan. */
#ifndef CLF_PLANNER_LOWER_H
#define CLF_PLANNER_LOWER_H
#include "planner/builder.h"
#include "planner/select.h"
/* Node -> cplan value of the part being lowered; stamp tells whose part an entry belongs to, so nothing is cleared between parts. */
typedef struct clf_lowered { int32_t *value, *stamp; } clf_lowered;

/** Lower part i into *step; the cplan and all arrays go to the plan's arena. Values are numbered through plan->value_of, new ones
 *  appended (room for one per graph node exists). */
clf_status clf_lower(clf_plan *plan, const clf_cover *cover, int32_t i, clf_lowered *scratch, clf_step *step, clf_err *err);
/** The value that holds node n, made on first use. */
int32_t clf_plan_value_for(clf_plan *plan, int32_t n);
#endif
