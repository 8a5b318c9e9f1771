/* SPDX-License-Identifier: Apache-2.0
 * cell.group: cell operators and folds over at most two range axes, for devices whose work-items run in groups of neighbours.
 *
 * A launch is made of walks, each a run of work-groups: one over all cells (full folds, kept cells), one over the rows (row folds), one
 * over the columns (column folds), and one for what is kept of rows, of columns and once. A walk over lines (rows, or all cells as one)
 * deals a leaf's cells to as many neighbouring slots as it has lanes, and a work-item stands in one, two or four of these; they go through
 * the leaf together, their loads are neighbours, and each slot steps one lane in ascending order. Walks over columns deal the rows of a
 * block likewise, to slots of neighbouring columns. Loads and stores of several slots are vectors, all else is done cell by cell. A group
 * owns an aligned power-of-two run of leaves or blocks (`units`) of one line or of several, merges their states in local memory in the
 * order of the tree, and leaves one state a line or column; lines cut into several runs (`parts`) leave theirs in scratch, for
 * cell.group.merge.cl.
 *
 * CLF_INDEX: int where every position fits. n: cells; first: group this launch starts at. Of walk k: endK its first group not; unitsK,
 * partsK, atK its states in scratch. inner, lanes2, block, tiles: of the walk over columns. */
#include "contract.clh"
#include "math.clh"
#include "elem.clh"
#include "group.clh"

__kernel __attribute__((reqd_work_group_size(CLF_GROUP, 1, 1))) void CLF_ENTRY(
    CLF_ARGS __global long *scratch, long n_, long rows_, long cols_, long first, long end0, long end1, long end2, long end3, long end4,
    long end5, long units0, long parts0, long at0, long units1, long parts1, long at1, long units2, long parts2, long at2, long inner2,
    long lanes2, long block2, long tiles2)
{
    __local long tree[CLF_TREE_WORDS];
    const CLF_INDEX n = (CLF_INDEX)n_, rows = (CLF_INDEX)rows_, cols = (CLF_INDEX)cols_;
    const int me = (int)get_local_id(0);
    long group = first + (long)get_group_id(0);
    CLF_SETUP
    CLF_WALKS
}
