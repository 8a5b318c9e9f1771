/* SPDX-License-Identifier: Apache-2.0
 * Reference-counted buffers. Own bytes are matrix data and held against the budget; the caller's are not charged.
 * Invariant: the last unref releases exactly once; a failed clf_buf_borrow leaves the memory with the caller and never calls release. */
#include "core/buf.h"

#include "core/hash.h"

static clf_buf *new_header(clf_mem *mem, uint64_t id, size_t bytes) {
    clf_buf *b = clf_mem_new(mem, 1, sizeof *b);
    if (!b) return NULL;
    atomic_init(&b->refs, 1);
    atomic_init(&b->version, 0);
    b->mem = mem;
    b->id = id;
    b->bytes = bytes;
    return b;
}

clf_buf *clf_buf_new(clf_mem *mem, uint64_t id, size_t bytes) {
    clf_buf *b = new_header(mem, id, bytes);
    if (!b) return NULL;
    b->host = clf_mem_data(mem, bytes);
    if (b->host) return b;
    clf_mem_free(mem, b, 1, sizeof *b);
    return NULL;
}

clf_buf *clf_buf_adopt(clf_mem *mem, uint64_t id, void *data, size_t bytes) {
    clf_buf *b = new_header(mem, id, bytes);
    if (b) b->host = data;
    return b;
}

clf_buf *clf_buf_pooled(clf_blocks *blocks, uint64_t id, size_t bytes) {
    clf_buf *b = new_header(blocks->mem, id, bytes);
    if (!b) return NULL;
    b->blocks = blocks;
    b->block = clf_block_take(blocks, bytes);
    b->host = b->block ? b->block->data : NULL;
    if (b->host) return b;
    clf_mem_free(blocks->mem, b, 1, sizeof *b);
    return NULL;
}

clf_buf *clf_buf_borrow(clf_mem *mem, uint64_t id, void *host, size_t bytes, clf_release_fn release, void *user) {
    clf_buf *b = new_header(mem, id, bytes);
    if (!b) return NULL;
    b->host = host;
    b->borrowed = true;
    b->release = release;
    b->user = user;
    atomic_fetch_add(&mem->borrowed_bytes, bytes);
    return b;
}

static uint64_t contents(const clf_buf *b) { return b->bytes ? clf_hash64(b->host, b->bytes, 0) : 0; }

void clf_buf_seal(clf_buf *b) {
    b->seal = contents(b);
    b->sealed_version = atomic_load(&b->version);
    b->sealed = true;
}

bool clf_buf_intact(clf_buf *b) {
    if (b->sealed && b->sealed_version == atomic_load(&b->version)) return b->seal == contents(b);
    clf_buf_seal(b);
    return true;
}

clf_buf *clf_buf_ref(clf_buf *b) {
    atomic_fetch_add(&b->refs, 1);
    return b;
}

void clf_buf_unref(clf_buf *b) {
    if (!b || atomic_fetch_sub(&b->refs, 1) != 1) return;
    if (b->blocks)
        clf_block_give(b->blocks, b->block);
    else if (!b->borrowed)
        clf_mem_data_free(b->mem, b->host, b->bytes);
    else {
        atomic_fetch_sub(&b->mem->borrowed_bytes, b->bytes);
        if (b->release) b->release(b->user, b->host);
    }
    clf_mem_free(b->mem, b, 1, sizeof *b);
}
