/* SPDX-License-Identifier: Apache-2.0
 * What writers share: a place that takes bytes and remembers a failure, and tables of the forms that are written. */
#ifndef CLF_FORMATS_WRITE_H
#define CLF_FORMATS_WRITE_H
#include "formats/fmt.h"

typedef struct clf_sink clf_sink;
void clf_sink_put(clf_sink *s, const void *p, size_t n);
/** A number as our files show it, and the byte that follows it. */
void clf_sink_number(clf_sink *s, clf_scalar v, char after);
void clf_sink_count(clf_sink *s, int64_t n, char after);
/** Has writing failed? Long loops ask, so as to end. */
bool clf_sink_failed(const clf_sink *s);

typedef struct clf_writer {
    const char *type;
    void (*write)(clf_sink *s, const clf_writing *w);
} clf_writer;
extern const clf_writer clf_dense_writers[], clf_csr_writers[]; /* NULL-ended */

void clf_write_npy_head(clf_sink *s, clf_dtype t, bool scalar, int64_t rows, int64_t cols);
void clf_write_mtx_head(clf_sink *s, const char *layout, clf_dtype t);
#endif
