/* SPDX-License-Identifier: Apache-2.0
 * Kernels over stored entries, when their operands have other numbers of them than the kernels were scheduled for: scheduled again, and
 * built again only where that changes the text. */
#include <string.h>

#include "host/run/exe_split.h"
#include "host/run/exe_window.h"
#include "host/run/run.h"

/* Take over the numbers that are bound now; false if they were the same. */
static bool take_entries(const clf_cplan *cp, clf_exe_step *e) {
    bool changed = false;
    for (int a = 0; a < cp->naxes; a++) {
        if (cp->axis[a].kind != CLF_AXIS_ENTRY || e->axis[a].n.n == e->axis_n[a]) continue;
        e->axis[a].n.n = e->axis_n[a];
        changed = true;
    }
    return changed;
}

bool clf_exe_same_text(const clf_sched *a, const clf_sched *b) {
    return a->variant == b->variant && a->width == b->width && a->index_bits == b->index_bits && a->nontemporal == b->nontemporal &&
           a->flat == b->flat && a->local == b->local && a->narg == b->narg;
}

static clf_status other_text(clf_ctx *c, const clf_exe *x, const clf_cplan *cp, clf_exe_step *e, clf_err *err) {
    clf_arena arena;
    clf_source src;
    bool compiled = false;
    clf_arena_init_from(&arena, &c->mem, &c->run->spares);
    clf_status st = clf_exe_write(c, clf_exe_device(x, e), cp, &e->sched, &arena, &src, err);
    if (st == CLF_OK && src.nargs != e->nargs) st = clf_fail(err, CLF_E_INTERNAL, "a kernel scheduled anew has other arguments");
    if (st == CLF_OK) st = clf_window_await(c, clf_exe_device(x, e), &src, err);
    if (st == CLF_OK) st = clf_window_program(c, clf_exe_device(x, e), &src, 0, 1, &e->program, &compiled, err);
    if (st == CLF_OK && e->nargs) memcpy(e->args, src.args, (size_t)e->nargs * sizeof *e->args);
    c->stats.kernels_built += compiled;
    clf_arena_release(&arena);
    return st;
}

static clf_status schedule_anew(clf_ctx *c, clf_exe *x, int32_t s, clf_err *err) {
    clf_exe_step *e = &x->step[s];
    const clf_profile *dev = clf_run_profile_of(c, clf_exe_device(x, e));
    clf_cplan cp = x->plan->step[s].c;
    cp.axis = e->axis;
    clf_sched was = e->sched;
    CLF_TRY(was.skel->sched(&cp, dev, (clf_grid){0, INT64_MAX}, &e->sched, err));
    was.skel->facts(&cp, dev, &e->sched, &e->facts);
    if (!clf_exe_same_text(&was, &e->sched)) CLF_TRY(other_text(c, x, &cp, e, err));
    if (e->sched.scratch_bytes > x->scratch_bytes) x->scratch_bytes = e->sched.scratch_bytes;
    clf_entries_anew(c, x, s);
    return CLF_OK;
}

clf_status clf_exe_reschedule(clf_ctx *c, clf_exe *x, int32_t s, clf_err *err) {
    clf_err failed = {CLF_OK, ""};
    if (!take_entries(&x->plan->step[s].c, &x->step[s])) return CLF_OK;
    clf_status st = schedule_anew(c, x, s, &failed);
    if (st == CLF_OK) return CLF_OK;
    if (st == CLF_E_STATE) {
        CLF_TRY(clf_exe_on_host(c, x, s, err));
        x->step[s].why = "tier 0: its kernel for other numbers of entries is being compiled";
        x->step[s].waiting = x->step[s].asked = true;
        x->nwaiting++;
        return CLF_OK;
    }
    return clf_window_give_up(c, x, s, &failed, err);
}
