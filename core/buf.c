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

static uint64_t contents(const clf_buf *b) {
    if (b->kind) return b->kind->hash(b);
    return b->bytes ? clf_hash64(b->host, b->bytes, 0) : 0;
}

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

clf_buf *clf_buf_derived(clf_buf *b, clf_derived what) {
    return b->derived_version[what] == atomic_load(&b->version) ? b->derived[what] : NULL;
}

static void derive(clf_buf *b, clf_derived what, clf_buf *d) {
    clf_buf *was = b->derived[what];
    b->derived[what] = d;
    b->derived_version[what] = atomic_load(&b->version);
    clf_buf_unref(was);
}

void clf_buf_derive(clf_buf *b, clf_derived what, clf_buf *d) { derive(b, what, d); }

void clf_buf_change(clf_buf *b) {
    atomic_fetch_add(&b->version, 1);
    for (int k = 0; k < CLF_NDERIVED; k++) derive(b, (clf_derived)k, NULL);
    clf_buf_forget(b);
    b->credit_ps = 0;
}

clf_buf *clf_buf_ref(clf_buf *b) {
    atomic_fetch_add(&b->refs, 1);
    return b;
}

static void drop_memory(clf_buf *b) {
    if (b->kind) b->kind->drop(b);
    if (b->blocks)
        clf_block_give(b->blocks, b->block);
    else if (b->borrowed) {
        atomic_fetch_sub(&b->mem->borrowed_bytes, b->bytes);
        if (b->release) b->release(b->user, b->host);
    } else if (!b->kind)
        clf_mem_data_free(b->mem, b->host, b->bytes);
}

/* A derived buffer has none of its own that leads back, so the way down is short: cells, a twin, the twin's cells. */
/* NOLINTNEXTLINE(misc-no-recursion) */
void clf_buf_unref(clf_buf *b) {
    if (!b || atomic_fetch_sub(&b->refs, 1) != 1) return;
    for (int k = 0; k < CLF_NDERIVED; k++) clf_buf_unref(b->derived[k]);
    clf_buf_forget(b);
    drop_memory(b);
    clf_mem_free(b->mem, b, 1, sizeof *b);
}
