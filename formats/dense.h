/* SPDX-License-Identifier: Apache-2.0
 * What every reader does before it fills a matrix: check the size, then allocate; and how it stores a number. */
#ifndef CLF_FORMATS_DENSE_H
#define CLF_FORMATS_DENSE_H
#include "formats/fmt.h"

/** New dense matrix, cells undefined (zero: cleared). errors: CLF_E_NOMEM, naming the bytes needed and available, when the size
 *  overflows, exceeds the machine's memory or the budget, or the allocator fails. */
clf_status clf_dense_new(clf_mem *mem, const char *name, clf_dtype t, int64_t rows, int64_t cols, bool zero, clf_dense *out, clf_err *err);
/** Store a number (already rounded to the type, f64 or f32). */
static inline void clf_value_store(void *data, clf_dtype t, size_t at, double v)
{
    if (t == CLF_F32) ((float *)data)[at] = (float)v;
    else ((double *)data)[at] = v;
}
static inline void clf_dense_set(clf_dense *d, size_t cell, double v) { clf_value_store(d->data, d->dtype, cell, v); }
/** Hand on the failure in `inner`, with the file's name before its message. */
clf_status clf_read_failed(clf_err *err, const char *name, const clf_err *inner);
/** Options with defaults for NULL. errors: CLF_E_ARG for an element type that is not f32 or f64. */
clf_status clf_read_opts_check(const char *name, const clf_read_opts *o, clf_read_opts *out, clf_err *err);
#endif
