/* SPDX-License-Identifier: Apache-2.0
 * Lowering: a part of the cover becomes a step with its cplan. */
#ifndef CLF_PLANNER_LOWER_H
#define CLF_PLANNER_LOWER_H
#include "planner/builder.h"
#include "planner/select.h"

/* Node -> cplan value of the part being lowered, and the column axis it is at; stamp tells whose part an entry belongs to, so nothing is
 * cleared between parts. */
typedef struct clf_lowered { int32_t *value, *stamp, *axis; } clf_lowered;

/** Lower part i into steps at the end of the plan: conversions of operands, then its own. Everything goes to the plan's arena. Values are
 *  numbered through plan->value_of and other_of, new ones appended (room for three per graph node exists, and for two more steps). */
clf_status clf_lower(clf_plan *plan, clf_cover *cover, int32_t i, clf_lowered *scratch, clf_err *err);
/** The value that holds node n, made on first use. */
int32_t clf_plan_value_for(clf_plan *plan, int32_t n);
#endif
