/* SPDX-License-Identifier: Apache-2.0
 * LIBRARY steps on devices: products by CLBlast. Plans have them where the device's profile has a rate for it, and it has one while the
 * library is ready there (device/clblast.c): until then, and after it failed, the same products are loops on the device or the host's. The
 * first plan with a product that takes the host longer than some launches starts its warming up. Like OpenBLAS's, its results are
 * within the bound of a sum in any order, and outside the promise about bits. */
#include "host/run/gemm.h"

#include <string.h>

#include "planner/cost.h"

void clf_gemm_unready(clf_used *used, int u) {
    clf_profile *p = &used->profile[u];
    clf_clblast_rates *r = &used->declared[u];
    *r = (clf_clblast_rates){{p->gemm_flops_per_s[0], p->gemm_flops_per_s[1]}, p->gemm_half_cells, p->gemm_ns};
    p->gemm_flops_per_s[0] = p->gemm_flops_per_s[1] = 0;
}

/* Figures of a file, else those measured. */
static void make_ready(clf_used *used, int u, const clf_clblast_rates *measured) {
    const clf_clblast_rates *r = used->declared[u].flops_per_s[0] > 0 ? &used->declared[u] : measured;
    clf_profile *p = &used->profile[u];
    memcpy(p->gemm_flops_per_s, r->flops_per_s, sizeof p->gemm_flops_per_s);
    if (!p->fp64) p->gemm_flops_per_s[1] = 0;
    p->gemm_half_cells = r->half_cells;
    p->gemm_ns = r->ns;
}

/* Bring the profile into line with the library. */
static void take_state(clf_ctx *c, int u, bool wait) {
    clf_run *r = c->run;
    clf_used *used = &r->used;
    bool ready = clf_clblast_look(r->devs, used->at[u], wait) == CLF_CLBLAST_READY;
    if (ready == (used->profile[u].gemm_flops_per_s[0] > 0)) return;
    if (ready)
        make_ready(used, u, clf_clblast_rates_of(r->devs, used->at[u]));
    else
        used->profile[u].gemm_flops_per_s[0] = used->profile[u].gemm_flops_per_s[1] = 0;
    r->replan = r->nplans > 0;
}

static bool allowed(const clf_ctx *c, int kind) {
    bool on = !strcmp(c->knobs.clblast, "on") || (!strcmp(c->knobs.clblast, "auto") && kind == CLF_DEV_GPU);
    return on && strcmp(c->knobs.compile, "off") != 0;
}

bool clf_gemm_found(const clf_ctx *c, int dev) {
    return allowed(c, clf_devs_info(c->run->devs, dev)->kind) && clf_clblast_found(c->run->devs);
}

static bool is_matrices(const clf_graph *g, int32_t n) {
    clf_profile any = {.gemm_flops_per_s = {1, 1}};
    return clf_cost_gemm_takes(&any, g, n);
}

enum { LAUNCHES = 4 };

/* Who says "on" gets it for any product. */
static bool worth_it(clf_ctx *c, const clf_graph *g, int u) {
    double least = !strcmp(c->knobs.clblast, "on") ? 0 : 1e3 * LAUNCHES * c->run->used.profile[u].launch_sync_ns;
    for (int32_t n = 0; n < g->n; n++)
        if (is_matrices(g, n) && (double)clf_cost_alone(clf_run_host_profile(c), g, n) >= least) return true;
    return false;
}

void clf_gemm_want(clf_ctx *c, const clf_graph *g) {
    clf_run *r = c->run;
    for (int u = 0; u < r->used.n; u++) {
        if (!allowed(c, r->used.profile[u].kind) || r->used.profile[u].gemm_flops_per_s[0] > 0 || !worth_it(c, g, u)) continue;
        clf_clblast_begin(r->devs, r->used.at[u]);
        take_state(c, u, !strcmp(c->knobs.compile, "wait"));
    }
}

void clf_gemm_news(clf_ctx *c) {
    clf_run *r = c->run;
    for (int u = 0; u < r->used.n && r->devs; u++) take_state(c, u, false);
    if (r->replan) clf_run_forget(c);
    r->replan = false;
}

bool clf_gemm_runs(clf_ctx *c, const clf_plan *p, const clf_step *t, int dev) {
    return t->kind == CLF_STEP_LIBRARY && clf_cost_gemm_takes(clf_run_profile_of(c, dev), &p->g, t->node);
}

const char *clf_gemm_why(clf_ctx *c, const clf_plan *p, const clf_step *t) {
    static const char *const why[] = {[CLF_CLBLAST_ABSENT] = "",
                                      [CLF_CLBLAST_WARMING] = "CLBlast is being compiled for the device",
                                      [CLF_CLBLAST_READY] = "",
                                      [CLF_CLBLAST_REFUSED] = "CLBlast failed on the device"};
    const clf_used *used = &c->run->used;
    if (t->kind != CLF_STEP_LIBRARY || clf_step_of_entries(p, t) || !is_matrices(&p->g, t->node)) return "";
    for (int u = 0; u < used->n && c->run->devs; u++) {
        clf_clblast_state s = clf_clblast_look(c->run->devs, used->at[u], false);
        if (why[s][0]) return why[s];
    }
    return "";
}

static clf_arg whole(const clf_runner *r, int32_t v) {
    return (clf_arg){.ptr = r->x->value[v], .bytes = r->x->plan->value[v].bytes, .buf = clf_runner_buffer(r, v), .part = CLF_PART_CELLS};
}

clf_status clf_gemm_run(clf_runner *r, const clf_step *t, clf_exe_step *e, bool *refused, clf_err *err) {
    const clf_graph *g = &r->x->plan->g;
    const clf_gnode *x = &g->node[t->node], *a = &g->node[x->in[0]], *b = &g->node[x->in[1]];
    clf_clblast_product p = {.t = (clf_dtype)x->dtype, .ta = t->ta, .tb = t->tb, .m = clf_rows(x), .n = clf_cols(x), .k = clf_cols(a)};
    clf_err failed = {CLF_OK, ""};
    p.lda = t->ta ? clf_rows(a) : clf_cols(a);
    p.ldb = t->tb ? clf_rows(b) : clf_cols(b);
    p.ldc = p.n;
    p.a = whole(r, t->in[0]);
    p.b = whole(r, t->in[1]);
    p.c = whole(r, t->out[0]);
    CLF_TRY(clf_flight_await(r, t, e->on, err));
    r->pending |= 1u << (e->on - 1);
    *refused = clf_clblast_launch(r->c->run->devs, clf_exe_device(r->x, e), &p, &failed) != CLF_OK;
    if (!*refused) {
        r->c->stats.launches_library++;
        r->c->stats.launches_clblast++;
        return clf_flight_started(r, t, e->on, err);
    }
    CLF_TRACE(&r->c->trace, launch, "the host computes a product: %s", failed.text);
    return clf_runner_settle(r, err); /* part of it may be under way */
}
