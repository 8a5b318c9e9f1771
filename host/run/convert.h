/* SPDX-License-Identifier: Apache-2.0
 * CONVERT steps: the same matrix in another format, or its transpose as CSR, made on the host. */
#ifndef CLF_RUN_CONVERT_H
#define CLF_RUN_CONVERT_H
#include "host/graph/ctx.h"
#include "host/run/pool.h"
#include "planner/plan.h"

typedef struct clf_conversion {
    clf_ctx *c;
    clf_convert how;
    const clf_plan_value *from, *to;
    clf_buf *buf;   /* behind the operand */
    const void *in; /* the operand: cells or a clf_csr */
} clf_conversion;

/** A buffer that was made from this version of the operand's buffer before and serves again; a new reference, NULL if there is none. */
clf_buf *clf_convert_known(const clf_conversion *v);
/** Does the conversion write cells into memory it is given? Else it makes its buffer. */
static inline bool clf_convert_fills(clf_convert how) { return how == CLF_CONVERT_DENSE; }
/** All cells of a CSR matrix, row-major, on the pool's threads (NULL: the caller's). */
void clf_convert_cells(const clf_csr *m, clf_pool *pool, void *out);
/** A conversion that makes its buffer; a twin stays with the operand's buffer too. *out is a new reference.
 *  errors: CLF_E_NOMEM, CLF_E_LIMIT more columns than an index can number. */
clf_status clf_convert_make(const clf_conversion *v, clf_buf **out, clf_err *err);
#endif
