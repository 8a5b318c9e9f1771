/* SPDX-License-Identifier: Apache-2.0
 * The most memory that a plan's values take at once: results, intermediates, conversions and twins, step by step as they are made and let
 * go. Leaves are there before and count for nothing. Kernels' scratch is the executor's to add.
 * Invariant: the order is the runner's: a step's results are there before its operands go. */
#include "planner/plan.h"

static int32_t later(int32_t a, int32_t b) { return a > b ? a : b; }

/* The step after which each value's memory is free: that of its last reader, or when what keeps it goes. A twin stays with what it is the
 * twin of, a leaf's for good; a pattern stays while a value shares it. */
static void find_ends(const clf_plan *p, int32_t *end) {
    for (int32_t v = 0; v < p->nvalue; v++) end[v] = p->value[v].last;
    for (int32_t v = p->nvalue; v-- > 0;)
        if (p->value[v].pattern >= 0) end[p->value[v].pattern] = later(end[p->value[v].pattern], end[v]);
    for (int32_t s = 0; s < p->nstep; s++) {
        const clf_step *t = &p->step[s];
        if (t->kind != CLF_STEP_CONVERT || t->convert != CLF_CONVERT_TWIN) continue;
        end[t->out[0]] = p->value[t->in[0]].slot >= 0 ? p->nstep : later(end[t->out[0]], end[t->in[0]]);
    }
}

clf_status clf_plan_find_peak(clf_plan *p, clf_arena *scratch, clf_err *err) {
    int32_t *end = clf_arena_new(scratch, (size_t)p->nvalue, sizeof *end);
    size_t *freed = clf_arena_new(scratch, (size_t)p->nstep + 1, sizeof *freed), now = 0;
    if (!end || !freed) return clf_fail(err, CLF_E_NOMEM, "planning: out of memory");
    find_ends(p, end);
    for (int32_t v = 0; v < p->nvalue; v++)
        if (p->value[v].slot < 0) freed[end[v]] += p->value[v].bytes;
    for (int32_t s = 0; s < p->nstep; s++) {
        for (int i = 0; i < p->step[s].nout; i++) now += p->value[p->step[s].out[i]].bytes;
        if (now > p->peak_bytes) p->peak_bytes = now;
        now -= freed[s];
    }
    for (int32_t r = 0; r < p->nroot; r++) now += p->value[p->root[r]].slot >= 0 ? p->value[p->root[r]].bytes : 0; /* may be copied */
    if (now > p->peak_bytes) p->peak_bytes = now;
    return CLF_OK;
}
