/* SPDX-License-Identifier: Apache-2.0
 * cell.group.merge: the states that the groups of cell.group.cl left in scratch, merged in the order of the tree; results.
 *
 * Of walk k there are `parts` states for each of its `results`, neighbours in memory by result. A group takes `inner` results and deals
 * the parts of each to `units` work-items, `run` of them each, a power of two; a work-item merges its run in place. */
#include "contract.clh"
#include "math.clh"
#include "elem.clh"
#include "group.clh"

__kernel __attribute__((reqd_work_group_size(CLF_GROUP, 1, 1))) void CLF_ENTRY(
    CLF_ARGS __global long *scratch, long end0, long inner0, long units0, long run0, long parts0, long results0, long at0, long end1,
    long inner1, long units1, long run1, long parts1, long results1, long at1, long end2, long inner2, long units2, long run2, long parts2,
    long results2, long at2)
{
    __local long tree[CLF_TREE_WORDS];
    const int me = (int)get_local_id(0), lane = 0, lanes = 1;
    long group = (long)get_group_id(0);
    CLF_WALKS
}
