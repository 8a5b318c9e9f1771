/* SPDX-License-Identifier: Apache-2.0
 * A cplan whose FOLD, DOT and SCAN values are sinks too, for texts written by cell_folds.c: one more sink and output per such value, behind
 * the real ones, in the order of values. key[0] of DOT sinks says which zeros annihilate, and their fold is SUM. */
#ifndef CLF_KERNELS_SKEL_MADE_H
#define CLF_KERNELS_SKEL_MADE_H
#include "planner/skel.h"

static inline bool clf_is_made(const clf_value *v) { return v->op == CLF_V_FOLD || v->op == CLF_V_DOT || v->op == CLF_V_SCAN; }
/** made: per sink behind the real ones the value it makes. out->value is a copy. False: no memory. */
bool clf_made_sinks(clf_cplan *out, int32_t **made, const clf_cplan *c, clf_arena *arena);
#endif
