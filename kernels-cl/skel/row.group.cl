/* SPDX-License-Identifier: Apache-2.0
 * row.group: rows of dense operands with folds inside them, for devices whose work-items run in groups of neighbours.
 *
 * A work-group owns a band of rows and takes it pass by pass. A pass is a list of jobs with barriers between them: folds along rows first,
 * whose results stand in buffers of the band's own scratch, then kept cells and folds over rows, which read these and, from a near cache,
 * the rows once more. Folds along a row deal the cells of a leaf to as many neighbours as it has lanes, several leaves or short rows side
 * by side; folds over rows give every work-item a column. States of blocks and leaves go to scratch, for row.group.merge.cl.
 *
 * CLF_INDEX: int where every position fits. first: band this launch starts at. band_, pass_: rows of each. base, stride: words of scratch
 * before the bands' own, and of a band; leaf_at: of a band before its states of leaves. */
#include "contract.clh"
#include "math.clh"
#include "elem.clh"
#include "group.clh"

__kernel __attribute__((reqd_work_group_size(CLF_GROUP, 1, 1))) void CLF_ENTRY(
    CLF_ARGS __global long *scratch, long rows_, long first, long band_, long pass_, long base, long stride, long leaf_at)
{
    __local long tree[CLF_TREE_WORDS];
    const CLF_INDEX rows = (CLF_INDEX)rows_;
    const int me = (int)get_local_id(0);
    const long group = first + (long)get_group_id(0);
    const CLF_INDEX band0 = (CLF_INDEX)(group * band_), band1 = (CLF_INDEX)min(rows_, group * band_ + band_);
    __global long *const own = scratch + base + group * stride;
    __global long *const leaf_states = own + leaf_at;
    CLF_SETUP
    for (CLF_INDEX pass0 = band0; pass0 < band1 || pass0 == 0; pass0 += (CLF_INDEX)pass_) {
        const CLF_INDEX pass1 = (CLF_INDEX)min((long)band1, (long)pass0 + pass_);
        CLF_PASS
    }
}
