/* SPDX-License-Identifier: Apache-2.0
 * Rules that have a file of their own. Private to planner/rule_*.c and rules.c, which lists them. */
#ifndef CLF_PLANNER_RULES_H
#define CLF_PLANNER_RULES_H
#include "planner/rewrite.h"

/* rule_cum.c */
int32_t clf_rule_cum(clf_rewriter *w, int32_t n);
/* rule_left.c */
int32_t clf_rule_left(clf_rewriter *w, int32_t n);
#endif
