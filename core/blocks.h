/* SPDX-License-Identifier: Apache-2.0
 * Size-class pool of data blocks: results and intermediates of one evaluation become those of the next without page faults.
 * Blocks go to the pool on free and come back for requests of the same class; classes are eighths of a power of two, so a block
 * wastes at most an eighth. A request that memory or budget refuses first empties the pool. Free blocks stay charged.
 * thread: under the owner's lock. */
#ifndef CLF_CORE_BLOCKS_H
#define CLF_CORE_BLOCKS_H
#include "mem.h"
enum { CLF_BLOCK_CLASSES = 8 * 56 };
typedef struct clf_blocks {
    clf_mem *mem;
    void *free[CLF_BLOCK_CLASSES]; /* lists threaded through the blocks */
    size_t pooled_bytes;
} clf_blocks;
void clf_blocks_init(clf_blocks *b, clf_mem *mem);
/** At least `bytes` bytes, 64-byte aligned, uninitialised; NULL when memory or budget is out. bytes may be 0. */
void *clf_block_take(clf_blocks *b, size_t bytes);
/** Give back what clf_block_take(bytes) gave. p may be NULL. */
void clf_block_give(clf_blocks *b, void *p, size_t bytes);
/** Free every pooled block. */
void clf_blocks_trim(clf_blocks *b);
#endif
