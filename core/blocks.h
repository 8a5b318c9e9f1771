/* SPDX-License-Identifier: Apache-2.0
 * Size-class pool of data blocks: results and intermediates of one evaluation become those of the next without page faults.
 * Blocks go to the pool on give and come back for requests of the same class; classes are eighths of a power of two, so a block
 * wastes at most an eighth. Free blocks stay charged. The pool never touches a block's memory: a device may still be using it,
 * and will be done before anything enqueued later. Hence trimming needs an idle device.
 * thread: under the owner's lock. */
#ifndef CLF_CORE_BLOCKS_H
#define CLF_CORE_BLOCKS_H
#include "core/mem.h"
enum { CLF_BLOCK_CLASSES = 8 * 56 };
typedef struct clf_block {
    struct clf_block *next;
    void *data;      /* 64-byte aligned */
    int class_;
} clf_block;
typedef struct clf_blocks {
    clf_mem *mem;
    clf_block *free[CLF_BLOCK_CLASSES];
    size_t pooled_bytes;
    size_t used_bytes, peak_bytes; /* of blocks that are out; the most so far */
    clf_block *withheld; /* never handed out again: a device may still write to them */
} clf_blocks;
void clf_blocks_init(clf_blocks *b, clf_mem *mem);
/** A block of at least `bytes` bytes, uninitialised; NULL when memory or budget is out. bytes may be 0. */
clf_block *clf_block_take(clf_blocks *b, size_t bytes);
/** Give a block back to the pool. p may be NULL. */
void clf_block_give(clf_blocks *b, clf_block *p);
/** Free every pooled block; no device may be using any. True when that freed something. */
bool clf_blocks_trim(clf_blocks *b);
/** Take every free block out of circulation: something that cannot be waited for may still write to them. They stay charged. */
void clf_blocks_withhold(clf_blocks *b);
/** Free every block given back, withheld ones too: at the end of all use. */
void clf_blocks_release(clf_blocks *b);
#endif
