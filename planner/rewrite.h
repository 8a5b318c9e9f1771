/* SPDX-License-Identifier: Apache-2.0
 * Rewrites: the same graph type in and out, before every selector. A rule is one named function and one row. */
#ifndef CLF_PLANNER_REWRITE_H
#define CLF_PLANNER_REWRITE_H
#include "planner/graph.h"
typedef enum clf_rule_kind { CLF_RULE_EXACT, CLF_RULE_ROUNDING, CLF_RULE_NANLOSS } clf_rule_kind;
typedef struct clf_rule {
    const char *name;
    clf_rule_kind kind;
    /* The node that can stand for n, or -1. Must be earlier than n: the measure (sum of ids) strictly decreases. */
    int32_t (*apply)(const clf_graph *g, int32_t n);
} clf_rule;
extern const clf_rule clf_rules[]; /* ends with name == NULL */
/** Apply all EXACT rules in one pass over g (in place) and give the number of replacements; fired, if not NULL, counts by rule. */
int32_t clf_rewrite(clf_graph *g, int32_t *fired);
#endif
