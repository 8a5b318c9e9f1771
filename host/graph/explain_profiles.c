/* SPDX-License-Identifier: Apache-2.0
 * Plans for machines that are not here: profile files as devices, the first of them device 0. Steps get the executor that their device
 * would use, as far as that can be said without compiling anything, and their price there. */
#include <stdio.h>
#include <string.h>

#include "host/graph/explain.h"
#include "host/run/exe_kernels.h"
#include "planner/select.h"

enum { FILE_MOST = 16384 };

/* What a file leaves out is assumed, of a host or of a GPU. */
static clf_status read_profile(const char *name, bool host, clf_profile *p, clf_err *err) {
    char text[FILE_MOST + 1];
    clf_err why = {CLF_OK, ""};
    FILE *f = fopen(name, "rb");
    if (!f) return clf_fail(err, CLF_E_IO, "cannot open profile '%s'", name);
    size_t n = fread(text, 1, sizeof text, f);
    bool bad = ferror(f) != 0;
    fclose(f);
    if (bad) return clf_fail(err, CLF_E_IO, "cannot read profile '%s'", name);
    if (n > FILE_MOST) return clf_fail(err, CLF_E_FORMAT, "profile '%s' is too long", name);
    clf_profile_assume(p, host ? CLF_DEV_HOST : CLF_DEV_GPU, 1);
    clf_status st = clf_profile_parse(p, text, n, &why);
    if (st != CLF_OK) return clf_fail(err, st, "%s: %s", name, why.text);
    const char *slash = strrchr(name, '/'); /* what has no name of its own goes by its file's */
    if (!p->name[0]) snprintf(p->name, sizeof p->name, "%s", slash ? slash + 1 : name);
    return CLF_OK;
}

clf_status clf_report_profiles(size_t n, const char *const *file, clf_arena *arena, clf_devices *out, clf_err *err) {
    if (n > CLF_MOST_DEVICES) return clf_fail(err, CLF_E_ARG, "explain: %zu profiles, at most %d devices", n, CLF_MOST_DEVICES);
    clf_profile *p = clf_arena_new(arena, n, sizeof *p);
    if (!p) return clf_fail(err, CLF_E_NOMEM, "explain: out of memory for profiles");
    *out = (clf_devices){.n = (int)n};
    for (size_t i = 0; i < n; i++) {
        CLF_TRY(read_profile(file[i], i == 0, &p[i], err));
        out->profile[i] = &p[i];
        out->loops_only[i] = i > 0; /* as evaluation has it */
    }
    return CLF_OK;
}

/* Who would run a loop on this device: the host executor, or the first skeleton that covers it. */
static void place(const clf_ctx *c, const clf_plan *p, const clf_step *t, const clf_profile *dev, clf_exe_step *e) {
    e->why = "";
    e->executor = (uint8_t)clf_executor_alone(p, t);
    if (t->kind == CLF_STEP_LIBRARY && t->device) e->executor = CLF_ON_CLBLAST;
    if (t->kind != CLF_STEP_FUSED) return;
    const clf_skel *skel = clf_exe_skel(c, &t->c, dev);
    e->executor = clf_tile_fits(&t->c) ? CLF_ON_TILE : clf_rows_fits(&t->c) ? CLF_ON_ROWS : CLF_ON_REF;
    if (dev->kind == CLF_DEV_HOST || !skel) return;
    e->executor = CLF_ON_KERNEL;
    e->sched.skel = skel;
    e->facts.launches = 1;
}

static clf_status place_all(const clf_ctx *c, clf_exe *x, const clf_devices *dev, clf_arena *arena, clf_err *err) {
    const clf_plan *p = x->plan;
    x->step = clf_arena_new(arena, (size_t)p->nstep, sizeof *x->step);
    if (!x->step) return clf_fail(err, CLF_E_NOMEM, "explain: out of memory");
    for (int32_t s = 0; s < p->nstep; s++) {
        clf_exe_step *e = &x->step[s];
        const clf_profile *on = dev->profile[p->step[s].device];
        place(c, p, &p->step[s], on, e);
        e->read_bytes = p->step[s].read_bytes;
        e->write_bytes = p->step[s].write_bytes;
        e->predicted_ns = clf_step_cost_ns(p, &p->step[s], on);
        x->predicted_ns += e->predicted_ns;
    }
    if (p->cost_ps) x->predicted_ns = 1e-3 * (double)p->cost_ps; /* with transfers */
    return CLF_OK;
}

clf_status clf_report_plan_for(clf_ctx *c, const clf_graph *g, const clf_devices *dev, clf_arena *arena, clf_exe **out, clf_err *err) {
    const clf_selector *sel;
    clf_limits lim = clf_exe_limits(c, &(clf_places){0});
    clf_exe *x = clf_arena_new(arena, 1, sizeof *x);
    if (!x) return clf_fail(err, CLF_E_NOMEM, "explain: out of memory");
    lim.dev = *dev;
    CLF_TRY(clf_run_selector(c, &sel, err));
    CLF_TRY(clf_plan_new(&x->plan, g, sel, &lim, &c->mem, err));
    clf_status st = place_all(c, x, dev, arena, err);
    if (st != CLF_OK) clf_plan_free(x->plan);
    if (st == CLF_OK) *out = x;
    return st;
}
