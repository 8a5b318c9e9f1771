/* SPDX-License-Identifier: Apache-2.0
 * From a failing program to a small one that still fails: fewer roots, operators replaced by what they are made of, smaller leaves
 * with plainer cells. Deterministic; a bounded number of tries. */
#ifndef CLF_TESTS_SHRINK_H
#define CLF_TESTS_SHRINK_H
#include "tests/support/random_program.h"

/* What nobody needs is dropped first: whether a program fails may not depend on dead nodes. */
typedef bool (*shrink_fails)(const rp_program *p, void *user);
/** Shrink p in place; fails(p, user) must hold before and holds after. Calls fails at most `tries` times; returns how often it did. */
int shrink(rp_program *p, shrink_fails fails, void *user, int tries);
/** Which nodes the roots need. */
void shrink_used(const rp_program *p, bool used[RP_NODES]);
/** Nodes that are no sources. */
int shrink_operators(const rp_program *p);
#endif
