/* SPDX-License-Identifier: Apache-2.0
 * What is available for a block of data.
 *
 * The system promises more memory than it has, and takes the process down when it is touched; so a size that a hostile file claims is
 * compared with the machine's memory first.
 * Invariant: nothing is asked of the allocator that the machine or the budget cannot hold. */
#include "formats/block.h"

#include <unistd.h>

size_t clf_block_available(clf_mem *mem) {
    size_t limit = atomic_load(&mem->limit_bytes), used = atomic_load(&mem->data_bytes), all = SIZE_MAX;
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    if (pages > 0 && page > 0 && !clf_mul_ok((size_t)pages, (size_t)page, &all)) all = SIZE_MAX;
    size_t rest = limit > used ? limit - used : 0;
    return limit && rest < all ? rest : all;
}

void *clf_block_new(clf_mem *mem, size_t n, size_t each, size_t *bytes) {
    if (!clf_mul_ok(n, each, bytes) || *bytes > clf_block_available(mem)) return NULL;
    return clf_mem_data(mem, *bytes);
}
