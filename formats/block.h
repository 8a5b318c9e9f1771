/* SPDX-License-Identifier: Apache-2.0
 * Blocks of matrix data whose size comes from a file or a caller: multiplied with overflow checks, compared with what there is. */
#ifndef CLF_FORMATS_BLOCK_H
#define CLF_FORMATS_BLOCK_H
#include "core/mem.h"

/** The most an allocation may take: the rest of the budget if there is one, else the machine's memory. */
size_t clf_block_available(clf_mem *mem);
/** n * each bytes of clf_mem_data, uninitialised; NULL when they overflow, are not available or are refused. bytes: what to give back. */
void *clf_block_new(clf_mem *mem, size_t n, size_t each, size_t *bytes);
#endif
