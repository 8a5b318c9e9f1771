/* SPDX-License-Identifier: Apache-2.0
 * One problem for the exact planner and its oracles: a random graph, devices and limits, and the brute force's tables for it. Everything
 * follows from the seed. */
#ifndef CLF_TESTS_EXACT_CASE_H
#define CLF_TESTS_EXACT_CASE_H
#include "tests/support/brute.h"
#include "tests/support/plan_devices.h"
#include "tests/support/plan_random.h"

typedef struct exact_case { /* large */
    uint64_t seed;
    plan_random drawn;
    plan_devices devices;
    clf_limits lim; /* dev: what devices can and hold; the profiles are those of `devices` */
    clf_ps credit[PLAN_DEVICES][PLAN_RANDOM_NODES];
    brute b;
} exact_case;

/** Profiles for all cases to come; false where they are missing. */
bool exact_case_begin(exact_case *c, const char *profiles);
/** Mostly five to seven operators, a few with tight limits, one to three devices, half of which run loops only and a third of which hold
 *  some of the leaves. To be released. */
void exact_case_draw(exact_case *c, uint64_t seed);
/** Two to sixteen operators, else the same. */
void exact_case_draw_larger(exact_case *c, uint64_t seed);
/** Fill c->b for a graph: the drawn one or what rewriting made of it. False where it is too large. Release with brute_release. */
bool exact_case_tables(exact_case *c, const clf_graph *g);
/** On stdout: why, the graph, the devices, the limits. */
void exact_case_print(const exact_case *c, const clf_graph *g, const char *why);
#endif
