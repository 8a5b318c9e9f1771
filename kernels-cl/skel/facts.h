/* SPDX-License-Identifier: Apache-2.0
 * What the C twins count alike when they tell what a run reads, writes and computes: cells of axes, inputs, cell operators, results. Counts
 * add to those already there. */
#ifndef CLF_KERNELS_SKEL_FACTS_H
#define CLF_KERNELS_SKEL_FACTS_H
#include "planner/skel.h"

/** Positions that the axes have together. */
double clf_facts_cells(const clf_cplan *c, uint32_t axes);
/** `elems` loads from input k, which come from a near cache once all of it has been read. */
void clf_facts_read(clf_facts *f, const clf_cplan *c, int k, double elems);
/** What the loads among the values read, each at the positions of its axes. used: marks of the values that count; NULL: all do. */
void clf_facts_loads(clf_facts *f, const clf_cplan *c, const uint8_t *used);
/** Cell operator v, so many times. */
void clf_facts_value(clf_facts *f, const clf_cplan *c, int v, double times);
/** `elems` stores into the result of sink s. */
void clf_facts_write(clf_facts *f, const clf_cplan *c, const clf_sink *s, double elems);
#endif
