/* SPDX-License-Identifier: Apache-2.0
 * Kernels for the parts of second devices: a step's own kernel is its device's alone. */
#include "host/run/exe_split.h"

#include <string.h>

#include "host/run/exe_window.h"
#include "host/run/run.h"

static clf_status get_kernel(clf_ctx *c, clf_exe *x, const clf_step *t, clf_exe_also *a, clf_err *err) {
    clf_arena arena;
    clf_source src;
    int dev = x->device[a->on - 1];
    clf_arena_init(&arena, &c->mem);
    clf_status st = clf_exe_write(c, dev, &t->c, &a->sched, &arena, &src, err);
    if (st == CLF_OK) st = clf_window_await(c, dev, &src, err);
    if (st == CLF_OK) a->args = clf_arena_new(&x->arena, (size_t)src.nargs, sizeof *a->args);
    if (st == CLF_OK && !a->args) st = clf_fail(err, CLF_E_NOMEM, "evaluation: out of memory while preparing the plan");
    if (st == CLF_OK) st = clf_exe_build(c, dev, &src, &a->program, err);
    if (st == CLF_OK) {
        a->built = a->sched;
        a->nargs = src.nargs;
        memcpy(a->args, src.args, (size_t)src.nargs * sizeof *a->args);
    }
    clf_arena_release(&arena);
    return st;
}

clf_status clf_split_kernels(clf_ctx *c, clf_exe *x, clf_err *err) {
    for (int32_t s = 0; s < x->plan->nstep; s++) {
        clf_exe_step *e = &x->step[s];
        clf_err failed = {CLF_OK, ""};
        if (!clf_exe_shares(e) || clf_exe_splits(e)) continue;
        clf_status st = get_kernel(c, x, &x->plan->step[s], e->split->also, &failed);
        if (st == CLF_E_NOMEM || st == CLF_E_CANCELLED) return clf_fail(err, st, "%s", failed.text);
        if (st == CLF_OK && e->split->also->sched.scratch_bytes > x->scratch_bytes) x->scratch_bytes = e->split->also->sched.scratch_bytes;
        if (st != CLF_OK && st != CLF_E_STATE) e->split = NULL;
    }
    return CLF_OK;
}
