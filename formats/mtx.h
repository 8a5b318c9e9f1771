/* SPDX-License-Identifier: Apache-2.0
 * A Matrix Market file after its size line: what the readers of its two layouts start from. */
#ifndef CLF_FORMATS_MTX_H
#define CLF_FORMATS_MTX_H
#include "formats/fmt.h"
#include "formats/text.h"

typedef enum mtx_symmetry { MTX_GENERAL, MTX_SYMMETRIC, MTX_SKEW } mtx_symmetry;
typedef enum mtx_field { MTX_REAL, MTX_INTEGER, MTX_PATTERN } mtx_field;

typedef struct mtx {
    clf_cursor c;
    clf_text *t;   /* the cursor's */
    bool coordinate;
    mtx_field field;
    mtx_symmetry symmetry;
    int64_t rows, cols, entries; /* entries: to be read; those that are mirrored come on top */
    clf_dtype dtype;
} mtx;

/** The number at hand, which begins where the cursor is. */
clf_status clf_mtx_value(mtx *f, double *v);
/** All cells column by column, or the lower triangle, into a new dense matrix. */
clf_status clf_mtx_read_cells(mtx *f, clf_mem *mem, clf_dense *out);
/** "row column value" lines into a new CSR matrix. */
clf_status clf_mtx_read_entries(mtx *f, clf_mem *mem, clf_sparse *out);
#endif
