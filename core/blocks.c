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

static clf_block *new_block(clf_blocks *b, int c) {
    clf_block *p = clf_mem_new(b->mem, 1, sizeof *p);
    if (!p) return NULL;
    p->class_ = c;
    p->data = clf_mem_data(b->mem, class_bytes(c));
    if (p->data) return p;
    clf_mem_free(b->mem, p, 1, sizeof *p);
    return NULL;
}

static clf_block *pooled_block(clf_blocks *b, int c) {
    clf_block *p = b->free[c];
    b->free[c] = p->next;
    b->pooled_bytes -= class_bytes(c);
    return p;
}

clf_block *clf_block_take(clf_blocks *b, size_t bytes) {
    int c = class_of(bytes);
    if (c < 0) return NULL;
    clf_block *p = b->free[c] ? pooled_block(b, c) : new_block(b, c);
    if (!p) return NULL;
    b->used_bytes += class_bytes(c);
    if (b->used_bytes > b->peak_bytes) b->peak_bytes = b->used_bytes;
    return p;
}

void clf_block_give(clf_blocks *b, clf_block *p) {
    if (!p) return;
    p->next = b->free[p->class_];
    b->free[p->class_] = p;
    b->pooled_bytes += class_bytes(p->class_);
    b->used_bytes -= class_bytes(p->class_);
}

static void free_all(clf_blocks *b, clf_block **list) {
    while (*list) {
        clf_block *p = *list;
        *list = p->next;
        clf_mem_data_free(b->mem, p->data, class_bytes(p->class_));
        clf_mem_free(b->mem, p, 1, sizeof *p);
    }
}

bool clf_blocks_trim(clf_blocks *b) {
    bool any = b->pooled_bytes != 0;
    for (int c = 0; c < CLF_BLOCK_CLASSES; c++) free_all(b, &b->free[c]);
    b->pooled_bytes = 0;
    return any;
}

void clf_blocks_withhold(clf_blocks *b) {
    for (int c = 0; c < CLF_BLOCK_CLASSES; c++)
        while (b->free[c]) {
            clf_block *p = b->free[c];
            b->free[c] = p->next;
            p->next = b->withheld;
            b->withheld = p;
        }
    b->pooled_bytes = 0;
}

void clf_blocks_release(clf_blocks *b) {
    clf_blocks_trim(b);
    free_all(b, &b->withheld);
}
