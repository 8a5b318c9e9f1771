/* SPDX-License-Identifier: Apache-2.0
 * Preparing a plan: each step gets its executor and what that needs. Where plans and steps run is exe_place.c's; what a skeleton cannot do
 * falls back to the host executor (cells in tiles, or the row form), then to ref.c. Conversions between formats and callouts run on the
 * host whatever the rest does, and so do products where no library is ready on their device. */
#include "host/run/exe.h"

#include <string.h>

#include "host/run/exe_kernels.h"
#include "host/run/exe_place.h"
#include "host/run/exe_split.h"
#include "host/run/exe_trial.h"
#include "host/run/gemm.h"
#include "host/run/meter.h"
#include "host/run/rows.h"
#include "host/run/run.h"
#include "host/run/runner.h"
#include "planner/select.h"

static clf_status no_memory(clf_err *err) { return clf_fail(err, CLF_E_NOMEM, "evaluation: out of memory while preparing the plan"); }

const char *clf_executor_name(clf_executor e) {
    static const char *const name[] = {
#define E(id, name) name,
        CLF_EXECUTORS(E)
#undef E
    };
    return (unsigned)e < CLF_NEXECUTORS ? name[e] : "";
}

/* ---- executors of one step ---- */

static clf_status sizes(clf_exe *x, int32_t s, clf_err *err) {
    const clf_cplan *c = &x->plan->step[s].c;
    clf_exe_step *e = &x->step[s];
    e->axis_n = clf_arena_new(&x->arena, (size_t)c->naxes, sizeof *e->axis_n);
    e->in_dim = clf_arena_new(&x->arena, (size_t)c->nin * CLF_MAX_RANK, sizeof *e->in_dim);
    e->out_dim = clf_arena_new(&x->arena, (size_t)c->nout * CLF_MAX_RANK, sizeof *e->out_dim);
    if (!e->axis_n || !e->in_dim || !e->out_dim) return no_memory(err);
    for (int a = 0; a < c->naxes; a++) e->axis_n[a] = c->axis[a].n.n;
    for (int i = 0; i < c->nin; i++) e->sparse = e->sparse || c->in[i].format == CLF_CSR;
    for (int i = 0; i < c->nin; i++)
        for (int d = 0; d < c->in[i].rank; d++) e->in_dim[i * CLF_MAX_RANK + d] = c->in[i].dim[d].n;
    for (int i = 0; i < c->nout; i++)
        for (int d = 0; d < c->out[i].rank; d++) e->out_dim[i * CLF_MAX_RANK + d] = c->out[i].dim[d].n;
    return CLF_OK;
}

clf_status clf_exe_on_host(clf_ctx *c, clf_exe *x, int32_t s, clf_err *err) {
    const clf_step *t = &x->plan->step[s];
    clf_exe_step *e = &x->step[s];
    bool tile = !clf_place_wants_ref(c) && clf_tile_fits(&t->c), rows = !clf_place_wants_ref(c) && !tile && clf_rows_fits(&t->c);
    if (!tile && !rows) {
        e->executor = CLF_ON_REF;
        e->why =
            clf_place_wants_ref(c) ? "the tier setting asks for the reference executor" : "the host executor does not cover this operator";
        return CLF_OK;
    }
    e->executor = tile ? CLF_ON_TILE : CLF_ON_ROWS;
    return clf_run_tile(c, t, tile, &e->tile, err);
}

clf_executor clf_executor_alone(const clf_plan *p, const clf_step *t) {
    if (clf_step_of_entries(p, t)) return CLF_ON_ENTRIES;
    return t->kind == CLF_STEP_LIBRARY ? CLF_ON_PRODUCT : t->kind == CLF_STEP_CONVERT ? CLF_ON_CONVERT : CLF_ON_CALLOUT;
}

static void place_other(clf_ctx *c, clf_exe *x, int32_t s, bool home) {
    const clf_step *t = &x->plan->step[s];
    clf_exe_step *e = &x->step[s];
    int on = x->plan->ndevice > 1 ? t->device : 1;
    bool device = !home && x->ndevice && clf_gemm_runs(c, x->plan, t, x->device[on - 1]);
    e->executor = (uint8_t)(device ? CLF_ON_CLBLAST : clf_executor_alone(x->plan, t));
    if (device) e->on = (uint8_t)on;
    if (!device) e->why = clf_gemm_why(c, x->plan, t);
}

/* Kernels get only their mark here: clf_exe_kernels writes and builds them together. */
static clf_status place_step(clf_ctx *c, clf_exe *x, int32_t s, bool home, clf_err *err) {
    const clf_step *t = &x->plan->step[s];
    clf_exe_step *e = &x->step[s];
    e->why = "";
    if (t->kind != CLF_STEP_FUSED) {
        place_other(c, x, s, home);
        return CLF_OK;
    }
    CLF_TRY(sizes(x, s, err));
    if (home || !x->ndevice) {
        CLF_TRY(clf_exe_on_host(c, x, s, err));
        if (!x->ndevice && x->ways.why && !e->why[0]) e->why = x->ways.why;
        return clf_trial_place(c, x, s, err);
    }
    e->on = x->plan->ndevice > 1 ? t->device : 1;
    if (x->ways.without && x->ways.why) e->why = x->ways.why;
    e->executor = CLF_ON_KERNEL;
    return clf_trial_place(c, x, s, err);
}

/* ---- scratch of a run, allocated once ---- */

static clf_status make_work(clf_ctx *c, const clf_exe *x, clf_exe_work *w, clf_err *err) {
    if (w->at) return CLF_OK;
    w->at = clf_exe_work_new(c, x);
    if (w->at) w->held = x->scratch_bytes;
    return w->at ? CLF_OK : no_memory(err);
}

static clf_status make_room(clf_ctx *c, clf_exe *x, clf_err *err) {
    size_t in = 1, out = 1, param = 1, arg = 1, kernels = 0;
    for (int32_t s = 0; s < x->plan->nstep; s++) {
        const clf_step *t = &x->plan->step[s];
        if ((size_t)t->nin > in) in = (size_t)t->nin;
        if ((size_t)t->nout > out) out = (size_t)t->nout;
        if ((size_t)t->nparam > param) param = (size_t)t->nparam;
        if ((size_t)x->step[s].nargs > arg) arg = (size_t)x->step[s].nargs;
        if (x->step[s].merge && (size_t)x->step[s].merge->nargs > arg) arg = (size_t)x->step[s].merge->nargs;
        kernels += x->step[s].executor == CLF_ON_KERNEL;
    }
    x->value = clf_arena_new(&x->arena, (size_t)x->plan->nvalue, sizeof *x->value);
    x->made = clf_arena_new(&x->arena, (size_t)x->plan->nvalue, sizeof *x->made);
    x->in = clf_arena_new(&x->arena, in, sizeof *x->in);
    x->out = clf_arena_new(&x->arena, out, sizeof *x->out);
    x->param = clf_arena_new(&x->arena, param, sizeof *x->param);
    x->arg = clf_arena_new(&x->arena, arg, sizeof *x->arg);
    if (!x->value || !x->made || !x->in || !x->out || !x->param || !x->arg) return no_memory(err);
    if (kernels) x->counter_bytes = 64;
    CLF_TRY(clf_flight_new(x, err));
    for (int i = 0; i < x->ndevice && kernels; i++) CLF_TRY(make_work(c, x, &x->work[i], err));
    return CLF_OK;
}

/* One line a stage, for CLF_LOG. */
static void trace_plan(const clf_ctx *c, const clf_plan *p, const clf_selector *sel) {
    const clf_trace *t = &c->trace;
    CLF_TRACE(t, graph, "%d nodes, %d slots, %d results", p->g.n, p->g.nslot, p->g.nroot);
    CLF_TRACE(t, rules, "%d applied", p->nfired);
    CLF_TRACE(t, memo, "%d entries for %d nodes", p->nentry, p->g.n);
    if (sel->searches)
        CLF_TRACE(t, plan, "%lld partial covers costed for %d devices, gap %lld ps", (long long)p->ncosted, p->ndevice,
                  (long long)p->gap_ps);
    CLF_TRACE(t, plan, "selector %s: %d steps, %d values, %d cuts", sel->name, p->nstep, p->nvalue, p->ncut);
}

static int tier_of(const clf_exe_step *e) { return e->executor == CLF_ON_KERNEL && e->sched.skel ? e->sched.skel->tier : 0; }

static void trace_step(const clf_ctx *c, const clf_exe *x, int32_t s) {
    const clf_trace *t = &c->trace;
    const clf_step *step = &x->plan->step[s];
    const clf_exe_step *e = &x->step[s];
    CLF_TRACE(t, cost, "step %d: %.0f bytes read, %.0f written, %.0f flops, predicted %.0f ns", s, e->read_bytes, e->write_bytes,
              step->flops, e->predicted_ns);
    const char *why = strncmp(e->why, "tier ", 5) ? e->why : strchr(e->why, ':') + 2; /* who waits says it there */
    if (step->kind == CLF_STEP_FUSED)
        CLF_TRACE(t, cplan, "step %d: %d values, %d accesses, %d sinks, on %s, tier %d%s%s", s, step->c.nvalue, step->c.naccess,
                  step->c.nsink, clf_executor_name((clf_executor)e->executor), tier_of(e), *why ? ": " : "", why);
}

clf_status clf_exe_refit(clf_ctx *c, clf_exe *x, clf_err *err) {
    CLF_TRY(clf_split_kernels(c, x, err));
    clf_exe_predict(c, x);
    for (int32_t s = 0; s < x->plan->nstep; s++) trace_step(c, x, s);
    clf_exe_count_waiting(c, x);
    return make_room(c, x, err);
}

static clf_status place(clf_ctx *c, clf_exe *x, const clf_exe_ways *ways, clf_err *err) {
    x->step = clf_arena_new(&x->arena, (size_t)x->plan->nstep, sizeof *x->step);
    uint8_t *home = clf_arena_new(&x->arena, (size_t)x->plan->nstep, 1);
    if (!x->step || !home) return no_memory(err);
    CLF_TRY(clf_place_home(c, x, home, err));
    for (int32_t s = 0; s < x->plan->nstep; s++) CLF_TRY(place_step(c, x, s, home[s], err));
    CLF_TRY(clf_split_choose(c, x, ways ? ways->credit : NULL, err));
    CLF_TRY(clf_exe_kernels(c, x, err));
    return clf_exe_refit(c, x, err);
}

/* The executable takes the plan over, also where it fails. */
static clf_status make(clf_exe **out, clf_ctx *c, clf_plan *p, const clf_exe_ways *ways, const clf_places *on, clf_err *err) {
    clf_exe *x = clf_mem_new(&c->mem, 1, sizeof *x);
    if (!x) {
        clf_plan_free(p);
        return no_memory(err);
    }
    clf_arena_init(&x->arena, &c->mem);
    x->plan = p;
    x->ndevice = on->n;
    memcpy(x->device, on->at, sizeof x->device);
    if (ways) x->ways = *ways;
    x->ways.like = NULL;
    x->ways.credit = NULL;
    if (clf_run_lost(c) && !x->ways.why) x->ways.why = "the device is lost";
    clf_status st = place(c, x, ways, err);
    if (st == CLF_OK)
        *out = x;
    else
        clf_exe_free(c, x);
    return st;
}

clf_status clf_exe_of_plan(clf_exe **out, clf_ctx *c, clf_plan *p, const clf_exe_ways *ways, clf_err *err) {
    clf_places on = {0};
    clf_status st = clf_place_choose(c, p, ways, &on, err);
    if (st == CLF_OK) return make(out, c, p, ways, &on, err);
    clf_plan_free(p);
    return st;
}

static clf_status plan_and_make(clf_exe **out, clf_ctx *c, const clf_graph *g, const clf_selector *sel, const clf_exe_ways *ways,
                                clf_err *err) {
    clf_plan *p;
    clf_places on = {0};
    CLF_TRY(clf_ask_on(&c->ask, CLF_STAGE_PLAN, "", 0, 0, err));
    CLF_TRY(clf_place_plan(&p, c, g, sel, ways, &on, err));
    clf_run_dump_plan(c, g, p);
    trace_plan(c, p, sel);
    return make(out, c, p, ways, &on, err);
}

clf_status clf_exe_new(clf_exe **out, clf_ctx *c, const clf_graph *g, const clf_selector *sel, const clf_exe_ways *ways, clf_err *err) {
    clf_meter_enter(c->meter, CLF_PART_PLAN);
    clf_status st = plan_and_make(out, c, g, sel, ways, err);
    clf_meter_leave(c->meter);
    return st;
}

static void free_now(clf_ctx *c, clf_exe *x) {
    for (int i = 0; i < x->ndevice; i++) {
        clf_buf_forget(&x->work[i].counter);
        clf_buf_forget(&x->work[i].name);
        clf_mem_free(&c->mem, x->work[i].at, 1, x->counter_bytes + x->work[i].held);
    }
    clf_plan_free(x->plan);
    clf_arena_release(&x->arena);
    clf_mem_free(&c->mem, x->key, x->key_len, 1);
    clf_mem_free(&c->mem, x, 1, sizeof *x);
}

/* NOLINTNEXTLINE(misc-no-recursion): one level deep, see below */
void clf_exe_free(clf_ctx *c, clf_exe *x) {
    if (!x) return;
    clf_exe_free(c, x->instead); /* which has none itself */
    x->instead = NULL;
    if (!x->busy) {
        free_now(c, x);
        return;
    }
    x->next = c->run->quarantine;
    c->run->quarantine = x;
}

void clf_exe_free_quarantine(clf_ctx *c) {
    while (c->run->quarantine) {
        clf_exe *x = c->run->quarantine;
        c->run->quarantine = x->next;
        for (int32_t v = 0; v < x->plan->nvalue; v++) clf_buf_unref(x->made[v]);
        free_now(c, x);
    }
}

const char *clf_exe_where(clf_ctx *c, const clf_exe *x, const clf_exe_step *s) {
    if (clf_exe_on_device(s)) return c->run->used.name[clf_run_use_of(c, clf_exe_device(x, s))];
    return s->executor == CLF_ON_PRODUCT ? clf_blas_name(c->run->blas) : "host";
}

const char *clf_exe_where_also(clf_ctx *c, const clf_exe *x, const clf_exe_step *s) {
    bool also = clf_exe_splits(s) && s->split->also;
    return also ? c->run->used.name[clf_run_use_of(c, x->device[s->split->also->on - 1])] : NULL;
}
