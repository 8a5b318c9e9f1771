/* SPDX-License-Identifier: Apache-2.0
 * What all makers of sparse matrices share: new arrays, offsets by counting, moving an element. */
#ifndef CLF_FORMATS_SPARSE_MAKE_H
#define CLF_FORMATS_SPARSE_MAKE_H
#include <string.h>

#include "formats/sparse.h"

/** Sizes, type and presence of the arrays, not their contents. errors: CLF_E_ARG. */
clf_status clf_csr_check_shape(const clf_csr *m, clf_err *err);
/** Arrays for nnz entries, uninitialised. errors: CLF_E_LIMIT more than 2^31-1 columns; CLF_E_NOMEM, naming bytes needed and available. */
clf_status clf_sparse_new(int64_t rows, int64_t cols, int64_t nnz, clf_dtype t, clf_mem *mem, clf_sparse *out, clf_err *err);

/** Counting sort by rows. ptr[r] holds the entries of row r, ptr[rows] 0: afterwards ptr[r] is where row r begins. */
void clf_offsets_start(int64_t *ptr, int64_t rows);
/** The entry of row r is placed at ptr[r]++. After all: ptr[r] is again where row r begins, ptr[rows] the end. */
void clf_offsets_end(int64_t *ptr, int64_t rows);

/* to[i] = from[j], elements of `each` bytes: 1, 4 or 8. */
static inline void clf_element_move(void *to, int64_t i, const void *from, int64_t j, size_t each)
{
    if (each == 8) memcpy((char *)to + 8 * i, (const char *)from + 8 * j, 8);
    else if (each == 4) memcpy((char *)to + 4 * i, (const char *)from + 4 * j, 4);
    else ((char *)to)[i] = ((const char *)from)[j];
}
#endif
