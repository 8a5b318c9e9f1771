/* SPDX-License-Identifier: Apache-2.0
 * What every reader does before it fills a matrix: check the size, then allocate. */
#ifndef CLF_FORMATS_DENSE_H
#define CLF_FORMATS_DENSE_H
#include "formats/fmt.h"

/** New dense matrix, cells undefined (zero: cleared). errors: CLF_E_NOMEM, naming the bytes needed and available, when the size
 *  overflows, exceeds the machine's memory or the budget, or the allocator fails. */
clf_status clf_dense_new(clf_mem *mem, const char *name, clf_dtype t, int64_t rows, int64_t cols, bool zero, clf_dense *out, clf_err *err);
/** Store a number (already rounded to the type, f64 or f32). */
static inline void clf_dense_set(clf_dense *d, size_t cell, double v)
{
    if (d->dtype == CLF_F32) ((float *)d->data)[cell] = (float)v;
    else ((double *)d->data)[cell] = v;
}
static inline double clf_dense_get(const clf_dense *d, size_t cell)
{
    return d->dtype == CLF_F32 ? (double)((const float *)d->data)[cell] : ((const double *)d->data)[cell];
}
/** Options with defaults for NULL. errors: CLF_E_ARG for an element type that is not f32 or f64. */
clf_status clf_read_opts_check(const char *name, const clf_read_opts *o, clf_read_opts *out, clf_err *err);
#endif
