/* SPDX-License-Identifier: Apache-2.0
 * Many kernels in one program text. A compiler's fixed costs (its own headers, our prelude, start and link) are paid once per
 * program, so a plan's kernels are built together.
 *
 * The text is made of the sources' pieces (device/source.h): prelude files once, instantiations once, and per kernel its holes, its own
 * text, and an #undef for every hole. A kernel sees the same definitions as alone, so it is the same kernel. Skeletons mix freely. */
#ifndef CLF_KERNELS_JOIN_H
#define CLF_KERNELS_JOIN_H
#include "core/str.h"
#include "device/source.h"

enum { CLF_JOIN_KERNELS = 64, CLF_JOIN_FILES = 32, CLF_JOIN_BYTES = 1 << 20 };
typedef enum clf_join_verdict {
    CLF_JOIN_TAKEN,
    CLF_JOIN_FULL, /* fits into an empty one */
    CLF_JOIN_UNFIT /* has no pieces, other options than the first, or the name of one taken before */
} clf_join_verdict;
typedef struct clf_join {
    clf_str text;                            /* text.failed: out of memory, what was taken is lost */
    const clf_source *src[CLF_JOIN_KERNELS]; /* as given; they must outlive this */
    int n;
    clf_str families; /* lines in the text */
    struct {
        const char *text;
        size_t len;
    } file[CLF_JOIN_FILES];
    int nfiles;
} clf_join;

void clf_join_init(clf_join *j, clf_mem *mem);
clf_join_verdict clf_join_add(clf_join *j, const clf_source *src);
/** Empty it, for use again. */
void clf_join_release(clf_join *j);
#endif
