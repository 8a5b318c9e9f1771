/* SPDX-License-Identifier: Apache-2.0
 * entry.group: operators over the stored entries of a CSR operand, for devices whose work-items run in groups of neighbours.
 *
 * The first `flat` groups take all entries, over row ends: folds over the whole and cells of a result with the operand's pattern. A group
 * has an aligned power-of-two run of leaves, as many at once as it has teams, of a work-item for each lane of a leaf. The others take bands
 * of rows as in row.group.cl: rows of one leaf are dealt to teams, longer ones to the whole group. What all entries come to is merged by
 * row.group.merge.cl. Where what meets at columns asks for other bands than the rest, it has groups behind theirs.
 *
 * CLF_INDEX: int where every position fits. xp, xc: offsets and columns; mc_: how many columns there are. first: group this launch starts
 * at. bands_: how many; band_, pass_: rows of each; meet_, meet_pass: those of bands behind them. base, stride: words of scratch before
 * the groups' own, and of a group; leaf_at: of a group before its stacks of states. */
#include "contract.clh"
#include "math.clh"
#include "elem.clh"
#include "entry.clh"
#include "group.clh"

__kernel __attribute__((reqd_work_group_size(CLF_GROUP, 1, 1))) void CLF_ENTRY(
    const __global long *restrict xp, const __global int *restrict xc, CLF_ARGS __global long *scratch, long flat_, long mc_, long rows_, long first,
    long band_, long pass_, long base, long stride, long leaf_at, long bands_, long meet_, long meet_pass)
{
    __local long tree[CLF_TREE_WORDS];
    const CLF_INDEX rows = (CLF_INDEX)rows_, nnz = (CLF_INDEX)xp[rows_], flat = (CLF_INDEX)flat_;
    const int me = (int)get_local_id(0);
    const long group = first + (long)get_group_id(0);
    const bool meets = group - flat >= bands_;
    const long all_ = meets ? meet_ : band_, from_ = (group - flat - (meets ? bands_ : 0)) * all_, step_ = meets ? meet_pass : pass_;
    const CLF_INDEX band0 = (CLF_INDEX)from_, band1 = (CLF_INDEX)min(rows_, from_ + all_);
    __global long *const own = scratch + base + group * stride;
    __global long *const leaf_states = own + leaf_at;
    CLF_SETUP
    if (group < flat) {
        CLF_FLAT
        return;
    }
    for (CLF_INDEX pass0 = band0; pass0 < band1 || pass0 == 0; pass0 += (CLF_INDEX)step_) {
        const CLF_INDEX pass1 = (CLF_INDEX)min((long)band1, (long)pass0 + step_);
        CLF_PASS
    }
}
