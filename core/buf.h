/* SPDX-License-Identifier: Apache-2.0
 * A buffer: reference-counted bytes on the host, ours or the caller's. The pair (id, version) names a content;
 * residency, twins and certificates are keyed by it. Caller memory is listed, not charged.
 *
 * A buffer may hold a structure instead of cells (CSR: host/graph/sparse_buf.h): then it has a kind. And it may carry buffers derived
 * from its contents, made once per version: they go when the version changes or the buffer dies. thread: derived ones under the
 * context's lock. The same goes for copies on devices. */
#ifndef CLF_CORE_BUF_H
#define CLF_CORE_BUF_H
#include "core/blocks.h"
/* A buffer whose host address is that of a structure. */
struct clf_buf;
typedef struct clf_buf_kind {
    void (*drop)(struct clf_buf *b);           /* free what is ours, and leave in host what `release` is told */
    uint64_t (*hash)(const struct clf_buf *b); /* of the contents */
} clf_buf_kind;

typedef enum clf_derived {
    CLF_DERIVED_TWIN,  /* of CSR: CSR of the transpose */
    CLF_DERIVED_OTHER, /* the same matrix in the other format: cells of CSR, CSR of cells */
    CLF_NDERIVED
} clf_derived;

typedef struct clf_buf {
    atomic_uint refs;
    clf_mem *mem;
    void *host;
    size_t bytes;
    uint64_t id;              /* unique in the context */
    atomic_uint_fast64_t version;
    clf_blocks *blocks;       /* where `host` came from; NULL: the ledger itself */
    clf_block *block;
    bool borrowed;            /* caller memory: `release` tells when we are done */
    clf_release_fn release;
    void *user;
    uint64_t seal;            /* hash of the contents in version sealed_version, if sealed (debugging) */
    uint64_t sealed_version;
    bool sealed;
    const clf_buf_kind *kind; /* NULL: host points at bytes */
    struct clf_buf *derived[CLF_NDERIVED];
    uint64_t derived_version[CLF_NDERIVED];
    bool lost;                /* a device had the contents alone, and failed: nobody knows them any more */
    struct clf_mirror *mirrors;          /* copies on devices (device/mirror.c), */
    void (*forget)(struct clf_buf *b);   /* and how to drop them: set where there are any */
    int64_t credit_ps;                   /* what evaluations lost because this version was not on a device, */
    int credit_device;                   /* and on which (host/run/residency.h) */
} clf_buf;
/** New buffer with one reference; uninitialised data. NULL when memory or budget is out. */
clf_buf *clf_buf_new(clf_mem *mem, uint64_t id, size_t bytes);
/** The same with memory from a pool. */
clf_buf *clf_buf_pooled(clf_blocks *blocks, uint64_t id, size_t bytes);
/** Take over a block from clf_mem_data(bytes). */
clf_buf *clf_buf_adopt(clf_mem *mem, uint64_t id, void *data, size_t bytes);
/** Wrap caller memory. release may be NULL. */
clf_buf *clf_buf_borrow(clf_mem *mem, uint64_t id, void *host, size_t bytes, clf_release_fn release, void *user);
/** Remember the contents of this version. */
void clf_buf_seal(clf_buf *b);
/** Are the contents those sealed for this version? A version not sealed yet is sealed now. cost: reads all bytes. */
bool clf_buf_intact(clf_buf *b);
/** What was derived from this version; NULL if nothing. */
clf_buf *clf_buf_derived(clf_buf *b, clf_derived what);
/** Keep d, whose reference it takes over, as derived from this version, instead of an earlier one. */
void clf_buf_derive(clf_buf *b, clf_derived what, clf_buf *d);
/** Nothing is copied to devices any more. */
static inline void clf_buf_forget(clf_buf *b) {
    if (b->mirrors) b->forget(b);
}
/** The contents changed: a new version, nothing derived from it, nor copied. */
void clf_buf_change(clf_buf *b);
clf_buf *clf_buf_ref(clf_buf *b);
void clf_buf_unref(clf_buf *b); /* NULL is fine */
#endif
