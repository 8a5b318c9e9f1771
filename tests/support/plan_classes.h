/* SPDX-License-Identifier: Apache-2.0
 * Which plans a context has made: programs with a Row or an Outer loop, programs with a loop over stored entries. Plans already there
 * when a program begins are not the program's. */
#ifndef CLF_TESTS_PLAN_CLASSES_H
#define CLF_TESTS_PLAN_CLASSES_H
#include "host/run/run.h"

typedef struct plan_classes {
    uint64_t programs, row, outer, driver; /* with a new plan; of these with such a step */
    uint64_t rule[CLF_MOST_RULES];         /* plans that a rewrite rule was applied to */
} plan_classes;

typedef struct plan_mark {
    const clf_exe *head[CLF_PLAN_BUCKETS];
} plan_mark;

plan_mark plan_classes_mark(const clf_ctx *c);
/** Count the plans made since. */
void plan_classes_add(plan_classes *k, const plan_mark *before, const clf_ctx *c);
/** Figure, under this name; true if every class occurred. */
bool plan_classes_figure(const plan_classes *k, const char *what);
/** Figure: how many plans each rule up to this kind was applied to; true if none was left out, but perhaps this one. */
bool plan_classes_rules(const plan_classes *k, clf_rule_kind most, const char *except, const char *what);
#endif
