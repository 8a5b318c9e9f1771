/* SPDX-License-Identifier: Apache-2.0
 * What the host steps of structural operators share, one file each. Private to them.
 *
 * A step is cut by the bytes of its result: a piece is large enough to be worth handing out, and small enough to be read and written
 * again from a second-level cache. So small results wake nobody. Results larger than CLF_STREAM_BYTES are written past the caches. */
#ifndef CLF_RUN_CALLOUT_H
#define CLF_RUN_CALLOUT_H
#include "host/run/run.h"
#include "host/run/sort.h"
#include "host/run/tile_isa.h"

typedef clf_status clf_callout(const clf_host_call *h, clf_err *err);
clf_callout clf_callout_reshape, clf_callout_rbind, clf_callout_cbind, clf_callout_rev; /* move.c */
clf_callout clf_callout_transpose;                                                      /* turn.c */
clf_callout clf_callout_order;                                                          /* order.c */
clf_callout clf_callout_cum;                                                            /* cum.c */

static inline const clf_gnode *clf_call_operand(const clf_host_call *h, int k) { return &h->g->node[h->node->in[k]]; }
static inline size_t clf_node_each(const clf_gnode *n) { return clf_dtype_bytes((clf_dtype)n->dtype); }
static inline size_t clf_node_bytes(const clf_gnode *n) { return (size_t)clf_rows(n) * (size_t)clf_cols(n) * clf_node_each(n); }

/** Run fn(user, part, worker) for part in [0, parts) on the pool's threads; NULL: on the caller's. */
static inline void clf_parts_run(clf_pool *pool, int64_t parts, void (*fn)(void *user, int64_t part, int worker), void *user) {
    if (pool)
        clf_pool_run(pool, parts, fn, user);
    else
        for (int64_t i = 0; i < parts; i++) fn(user, i, 0);
}

static inline int clf_pool_size(const clf_pool *pool) { return pool ? clf_pool_threads(pool) : 1; }

/** So many bytes in pieces: of what size, some for every thread. */
enum { CLF_PIECE_LEAST = 1 << 16, CLF_PIECE_MOST = 1 << 18, CLF_PIECES_EACH = 4 };
static inline size_t clf_piece_bytes(const clf_pool *pool, size_t bytes) {
    size_t even = bytes / ((size_t)clf_pool_size(pool) * CLF_PIECES_EACH);
    return even < CLF_PIECE_LEAST ? CLF_PIECE_LEAST : even > CLF_PIECE_MOST ? CLF_PIECE_MOST : even & ~(size_t)63;
}

/** How results of so many bytes are written past the caches; NULL: they are not. */
static inline const clf_cell_table *clf_past_caches(size_t bytes) {
    return bytes > CLF_STREAM_BYTES ? clf_isa_loops(clf_isa_pick(CLF_ISA_AUTO)).cell : NULL;
}

/* A run of bytes in every row of a result. */
typedef struct clf_stretch {
    const char *from;       /* where that of row 0 is, */
    ptrdiff_t step;         /* and how far the next row's is from it */
    size_t at, bytes;       /* of its row */
    const clf_keyed *order; /* row i is made of row order[i].row; NULL: of i */
} clf_stretch;
/** Make the result's rows of s[0], then s[1], which may be empty (move.c). */
void clf_move(const clf_host_call *h, size_t rows, const clf_stretch s[2]);
#endif
