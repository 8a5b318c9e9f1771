/* SPDX-License-Identifier: Apache-2.0
 * How much working memory the programs of a plan take, for predictions: kernels share one block, programs of the host executor keep one
 * each, unless it is so large that it is given back. Steps of one program share its block, the largest of what they need. */
#include <string.h>

#include "host/run/run.h"

/* What kernels have for scratch they write before they read it: most of it may never be touched. */
void *clf_exe_work_new(clf_ctx *c, const clf_exe *x) {
    void *at = clf_mem_room(&c->mem, x->counter_bytes + x->scratch_bytes);
    return at ? memset(at, 0, x->counter_bytes) : NULL;
}

static clf_status host_bytes(clf_ctx *c, const clf_exe_step *e, size_t *bytes, clf_err *err) {
    const clf_bind b = {.axis_n = e->axis_n, .in_dim = e->in_dim, .out_dim = e->out_dim};
    return e->tile->tile ? clf_tile_working(e->tile->tile, &b, c->run->pool, bytes, err)
                         : clf_rows_working(e->tile->rows, &b, c->run->pool, bytes, err);
}

clf_status clf_exe_scratch(clf_ctx *c, const clf_exe *x, size_t *bytes, clf_err *err) {
    uint64_t count = ++c->run->scratch_counts;
    size_t kept = 0, once = 0;
    for (int32_t s = 0; s < x->plan->nstep; s++) {
        const clf_exe_step *e = &x->step[s];
        bool host = e->executor == CLF_ON_TILE || e->executor == CLF_ON_ROWS || clf_exe_splits(e); /* a kernel may have taken over */
        clf_tile_entry *t = host ? e->tile : NULL;
        size_t one = 0;
        if (!t) continue;
        CLF_TRY(host_bytes(c, e, &one, err));
        if (one > CLF_SCRATCH_KEPT) {
            once = one > once ? one : once;
            continue;
        }
        if (t->counted != count) t->counted_bytes = 0;
        t->counted = count;
        if (one <= t->counted_bytes) continue;
        kept += one - t->counted_bytes;
        t->counted_bytes = one;
    }
    *bytes = kept + once + (x->scratch_bytes + x->counter_bytes) * (x->ndevice > 1 ? (size_t)x->ndevice : 1);
    return CLF_OK;
}
