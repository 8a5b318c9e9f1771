/* SPDX-License-Identifier: Apache-2.0
 * Plans are looked at in the context's table: a new one stands before what headed its bucket. */
#include "tests/support/plan_classes.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "host/graph/ctx.h"
#include "planner/select.h"
#include "tests/support/net.h"

plan_mark plan_classes_mark(const clf_ctx *c) {
    plan_mark m;
    for (int b = 0; b < CLF_PLAN_BUCKETS; b++) m.head[b] = c->run->plans[b];
    return m;
}

typedef struct seen {
    bool any, row, outer, driver;
} seen;

static void look(const clf_plan *p, seen *s) {
    s->any = true;
    for (int32_t i = 0; i < p->nstep; i++) {
        const clf_step *step = &p->step[i];
        if (step->kind != CLF_STEP_FUSED) continue;
        const char *name = clf_templates[step->template_]->name;
        s->row = s->row || strcmp(name, "Row") == 0;
        s->outer = s->outer || strcmp(name, "Outer") == 0;
        s->driver = s->driver || step->driver >= 0;
    }
}

void plan_classes_add(plan_classes *k, const plan_mark *before, const clf_ctx *c) {
    seen s = {false, false, false, false};
    for (int b = 0; b < CLF_PLAN_BUCKETS; b++)
        for (const clf_exe *x = c->run->plans[b]; x && x != before->head[b]; x = x->next) {
            look(x->plan, &s);
            for (int r = 0; clf_rules[r].id; r++) k->rule[r] += x->plan->fired[r] > 0;
        }
    k->programs += s.any;
    k->row += s.row;
    k->outer += s.outer;
    k->driver += s.driver;
}

bool plan_classes_figure(const plan_classes *k, const char *what) {
    char name[192];
    snprintf(name, sizeof name, "%s: programs planned anew; with a loop of Row, of Outer, over stored entries", what);
    net_figure(name, "%" PRIu64 "; %" PRIu64 ", %" PRIu64 ", %" PRIu64, k->programs, k->row, k->outer, k->driver);
    return k->row && k->outer && k->driver;
}

bool plan_classes_rules(const plan_classes *k, clf_rule_kind most, const char *except, const char *what) {
    char name[192], list[2048];
    bool every = true;
    int at = 0;
    for (int r = 0; clf_rules[r].id; r++) {
        if (clf_rules[r].kind > most) continue;
        at += snprintf(list + at, sizeof list - (size_t)at, "%s%s %" PRIu64, at ? ", " : "", clf_rules[r].id, k->rule[r]);
        every = every && (k->rule[r] || !strcmp(clf_rules[r].id, except));
    }
    snprintf(name, sizeof name, "%s: plans by rewrite rule", what);
    net_figure(name, "%s", list);
    if (!every) printf("\n    a rule was never applied: %s\n", list);
    return every;
}
