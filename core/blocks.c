/* SPDX-License-Identifier: Apache-2.0
 * The pool of data blocks; see blocks.h. A class's size is a pure function of the request, so no headers are needed. */
#include "core/blocks.h"

#include <string.h>

enum { SMALLEST = 64 };

/* Class c holds blocks of (8 + c % 8) * 2^(c / 8) * 8 bytes, the smallest 64. */
static size_t class_bytes(int c) { return (size_t)(8 + c % 8) * 8 << c / 8; }

static int class_of(size_t bytes) {
    if (bytes <= SMALLEST) return 0;
    int top = 63 - __builtin_clzll(bytes - 1); /* 2^top <= bytes - 1 < 2^(top+1) */
    int c = (top - 6) * 8 + (int)((bytes - 1) >> (top - 3) & 7) + 1;
    return c < CLF_BLOCK_CLASSES ? c : -1;
}

void clf_blocks_init(clf_blocks *b, clf_mem *mem) {
    memset(b, 0, sizeof *b);
    b->mem = mem;
}

void *clf_block_take(clf_blocks *b, size_t bytes) {
    int c = class_of(bytes);
    if (c < 0) return NULL;
    void *p = b->free[c];
    if (p) {
        memcpy(&b->free[c], p, sizeof p);
        b->pooled_bytes -= class_bytes(c);
        return p;
    }
    p = clf_mem_data(b->mem, class_bytes(c));
    if (p || !b->pooled_bytes) return p;
    clf_blocks_trim(b);
    return clf_mem_data(b->mem, class_bytes(c));
}

void clf_block_give(clf_blocks *b, void *p, size_t bytes) {
    if (!p) return;
    int c = class_of(bytes);
    memcpy(p, &b->free[c], sizeof p);
    b->free[c] = p;
    b->pooled_bytes += class_bytes(c);
}

void clf_blocks_trim(clf_blocks *b) {
    for (int c = 0; c < CLF_BLOCK_CLASSES; c++)
        while (b->free[c]) {
            void *p = b->free[c];
            memcpy(&b->free[c], p, sizeof p);
            clf_mem_data_free(b->mem, p, class_bytes(c));
        }
    b->pooled_bytes = 0;
}
