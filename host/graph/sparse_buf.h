/* SPDX-License-Identifier: Apache-2.0
 * Buffers that hold a sparse matrix: `host` is the address of a clf_csr, which is what executors get as the address of a CSR operand.
 * Four kinds of ownership meet here: arrays of ours (charged), of the caller (listed as borrowed, release tells when we are done),
 * both in one matrix (widened offsets), and a pattern shared with another buffer, which it keeps alive.
 * A value's twin and its cells are made once per (buffer, version) and stay with it. thread: under the context's lock. */
#ifndef CLF_GRAPH_SPARSE_BUF_H
#define CLF_GRAPH_SPARSE_BUF_H
#include "core/buf.h"
#include "formats/sparse.h"
#include "host/graph/ctx.h"

/** Does b hold a clf_csr? */
bool clf_buf_is_csr(const clf_buf *b);
static inline const clf_csr *clf_buf_csr(const clf_buf *b) { return b->host; }
/** Bytes of the matrix's three arrays, or of dense cells. */
size_t clf_buf_value_bytes(const clf_buf *b);

/** Take over the arrays of *s, all of them owned by it. NULL when out of memory: they stay with the caller. */
clf_buf *clf_csr_buf_adopt(clf_ctx *c, clf_sparse *s);
/* Arrays of the caller's as given, to be looked at again when their contents change. */
typedef struct clf_csr_given {
    const void *offsets;
    int offset_bytes;
    bool trusted;
    clf_release_fn release; /* told the address of the values; may be NULL */
    void *user;
} clf_csr_given;
/** A matrix in arrays of the caller's, except what *s had to widen, which is taken over. NULL as above, and release is never called. */
clf_buf *clf_csr_buf_borrow(clf_ctx *c, clf_sparse *s, const clf_csr_given *given);
/** For a step that writes entries only: a matrix of `pattern`'s offsets and columns with values of its own, of type t, undefined, from
 *  the pool. Keeps `pattern` alive. NULL when memory or budget is out. */
clf_buf *clf_csr_buf_like(clf_ctx *c, clf_buf *pattern, clf_dtype t);
/** Whose offsets and columns b's matrix has: b itself, or the buffer that it keeps alive for them. */
clf_buf *clf_csr_buf_pattern(clf_buf *b);
/** A copy that shares nothing and never changes. NULL when memory or budget is out. */
clf_buf *clf_csr_buf_copy(clf_ctx *c, const clf_csr *m);
/** Does a value in b stay as it is whatever the caller does with its own memory? */
bool clf_buf_stays(const clf_buf *b);

/** The transpose of the CSR matrix in b, made at the first call for this version. owns: b. errors: CLF_E_NOMEM. */
clf_status clf_buf_twin(clf_ctx *c, clf_buf *b, const clf_csr **out, clf_err *err);
/** The matrix in b as dense cells (b itself when it is dense), or as CSR; made at the first call for this version. rows, cols, t: of
 *  the cells. *out: no new reference, lives as long as b and this version. errors: CLF_E_NOMEM, naming the bytes. */
clf_status clf_buf_cells(clf_ctx *c, clf_buf *b, clf_buf **out, clf_err *err);
clf_status clf_buf_entries(clf_ctx *c, clf_buf *b, int64_t rows, int64_t cols, clf_dtype t, clf_buf **out, clf_err *err);

/** The numbers a RAND node describes, as a CSR matrix, without its cells. errors: CLF_E_NOMEM, CLF_E_LIMIT. */
clf_status clf_rand_sparse(clf_ctx *c, const clf_gnode *g, clf_buf **out, clf_err *err);
/** Stored entries in each column of the CSR matrix in b, counted at the first call for this version; NULL when out of memory. owns: b. */
const int64_t *clf_csr_buf_col_counts(clf_ctx *c, clf_buf *b);

/** The caller's arrays behind b changed: look at them again. errors: as clf_csr_import; then b holds no matrix until a change that is
 *  accepted, and clf_buf_broken says so. */
clf_status clf_csr_buf_reload(clf_ctx *c, clf_buf *b, clf_err *err);
bool clf_buf_broken(const clf_buf *b);
#endif
