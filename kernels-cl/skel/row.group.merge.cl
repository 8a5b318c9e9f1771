/* SPDX-License-Identifier: Apache-2.0
 * row.group.merge: the states that the bands of row.group.cl left in scratch, merged in the order of the tree; results.
 *
 * Of fold k there are `parts` states for each of its `results`, neighbours in memory by result. A group takes `inner` results and deals
 * the parts of each to `units` work-items, `run` of them each, a power of two; a work-item merges its run in place. Whole subtrees among
 * `done` parts each are merged already. Groups begin up to end are fold k's. */
#include "contract.clh"
#include "math.clh"
#include "elem.clh"
#include "group.clh"

__kernel __attribute__((reqd_work_group_size(CLF_GROUP, 1, 1))) void CLF_ENTRY(CLF_ARGS __global long *scratch)
{
    __local long tree[CLF_TREE_WORDS];
    const int me = (int)get_local_id(0);
    const long group = (long)get_group_id(0);
    CLF_WALKS
}
