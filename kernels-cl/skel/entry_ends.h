/* SPDX-License-Identifier: Apache-2.0
 * Where parts of loops over stored entries may end, as the kernels see it (clf_skel.ends, prelude/entry.clh). */
#ifndef CLF_KERNELS_SKEL_ENTRY_ENDS_H
#define CLF_KERNELS_SKEL_ENTRY_ENDS_H
#include <stdint.h>

/** The first row at which rows and entries before it make up `goal`: CLF_ROW_AT. */
int64_t clf_ends_row_at(const int64_t *ptr, int64_t rows, int64_t goal);
/** The row of entry `at`, which exists: CLF_ROW_OF. */
int64_t clf_ends_row_of(const int64_t *ptr, int64_t rows, int64_t at);
/** Of n > 1 chunks of equal work the first that is behind about a share, such that there is one on either side. */
int64_t clf_ends_chunk(double share, int64_t n);
/** The same of n bands of so many rows each. */
int64_t clf_ends_band(double share, int64_t n, int64_t band, const int64_t *ptr, int64_t rows);
#endif
