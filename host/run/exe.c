/* SPDX-License-Identifier: Apache-2.0
 * Preparing a plan: where each step runs and with what. Placement is a cost decision per plan (host executor or the context's OpenCL
 * device), forced by the device and tier settings; what a skeleton cannot do falls back to the host executor, then to ref.c. */
#include "host/run/exe.h"

#include <string.h>

#include "host/run/run.h"

enum { TINY_CELLS = 4096 }; /* a step this small only feeds the host from the host */

static clf_status no_memory(clf_err *err) { return clf_fail(err, CLF_E_NOMEM, "evaluation: out of memory while preparing the plan"); }

/* ---- placement ---- */

static bool forced_host(const clf_ctx *c) { return clf_run_wants_host(c) || !strcmp(c->knobs.tier, "0"); }
static bool forced_device(const clf_ctx *c) { return c->knobs.device[0] && !clf_run_wants_host(c); }

/* Tests and the curious ask for kernels even where they do not pay. */
static bool forced_kernels(const clf_ctx *c) {
    return !strcmp(c->knobs.tier, "1") || !strcmp(c->knobs.tier, "2") || strcmp(c->knobs.strategy, "auto");
}

static double plan_cost(const clf_plan *p, const clf_profile *dev) {
    double ns = dev->launch_sync_ns;
    for (int32_t s = 0; s < p->nstep; s++) ns += clf_step_cost_ns(p, &p->step[s], dev);
    return ns;
}

/* Would any step ever be worth a launch? Decided from the host's figures alone, so that small work never loads OpenCL. */
static clf_status choose_device(clf_ctx *c, clf_exe *x, clf_err *err) {
    x->device = -1;
    if (forced_host(c)) return CLF_OK;
    double host = plan_cost(x->plan, clf_run_host_profile(c));
    if (forced_device(c) || forced_kernels(c)) return clf_run_device(c, true, &x->device, err);
    clf_profile bar;
    clf_profile_assume(&bar, CLF_DEV_CPU, 1);
    if (host < 4 * bar.launch_sync_ns) return CLF_OK;
    int dev;
    CLF_TRY(clf_run_device(c, false, &dev, err));
    if (dev >= 0 && plan_cost(x->plan, clf_run_device_profile(c)) < host) x->device = dev;
    return CLF_OK;
}

/* A tiny step whose results only host steps or the caller read stays on the host: one wait less. Backwards, readers first. */
static clf_status keep_tiny_home(clf_exe *x, uint8_t *home, clf_err *err) {
    const clf_plan *p = x->plan;
    uint8_t *wanted = clf_arena_new(&x->arena, (size_t)p->nvalue, 1); /* read by a step on the device */
    if (!wanted) return no_memory(err);
    for (int32_t s = p->nstep; s-- > 0;) {
        const clf_step *t = &p->step[s];
        double cells = 0;
        bool needed = false;
        for (int i = 0; i < t->nin; i++) cells += (double)p->value[t->in[i]].rows * (double)p->value[t->in[i]].cols;
        for (int i = 0; i < t->nout; i++) {
            cells += (double)p->value[t->out[i]].rows * (double)p->value[t->out[i]].cols;
            needed = needed || wanted[t->out[i]];
        }
        home[s] = t->kind != CLF_STEP_FUSED || (cells <= TINY_CELLS && !needed);
        for (int i = 0; i < t->nin && !home[s]; i++) wanted[t->in[i]] = 1;
    }
    return CLF_OK;
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
    for (int i = 0; i < c->nin; i++)
        for (int d = 0; d < c->in[i].rank; d++) e->in_dim[i * CLF_MAX_RANK + d] = c->in[i].dim[d].n;
    for (int i = 0; i < c->nout; i++)
        for (int d = 0; d < c->out[i].rank; d++) e->out_dim[i * CLF_MAX_RANK + d] = c->out[i].dim[d].n;
    return CLF_OK;
}

static clf_status on_host(clf_ctx *c, clf_exe *x, int32_t s, clf_err *err) {
    clf_exe_step *e = &x->step[s];
    if (!clf_tile_fits(&x->plan->step[s].c)) {
        e->executor = CLF_ON_REF;
        e->why = "the host executor does not cover this operator";
        return CLF_OK;
    }
    e->executor = CLF_ON_TILE;
    return clf_run_tile(c, &x->plan->step[s], &e->tile, err);
}

static const clf_skel *pick_skeleton(clf_ctx *c, const clf_cplan *cplan, const clf_profile *dev) {
    for (int i = 0; clf_skels[i]; i++) {
        bool wanted = !strcmp(c->knobs.strategy, "auto") || !strcmp(c->knobs.strategy, clf_skels[i]->strategy);
        if (wanted && clf_skels[i]->fits(cplan, dev)) return clf_skels[i];
    }
    return NULL;
}

static clf_status keep_args(clf_exe *x, clf_exe_step *e, const clf_source *src, clf_err *err) {
    e->nargs = src->nargs;
    e->args = clf_arena_new(&x->arena, (size_t)src->nargs, sizeof *e->args);
    if (!e->args) return no_memory(err);
    memcpy(e->args, src->args, (size_t)src->nargs * sizeof *e->args);
    return CLF_OK;
}

/* ---- grids in TIME: an operand larger than the device's largest allocation is visited in runs of whole chunks ---- */

/* Operands of a step that go through buffers: the largest that a part sees a part of, and the largest that every part sees whole. */
static void largest_operands(const clf_exe *x, const clf_step *t, const clf_exe_step *e, double *cut, double *whole) {
    *cut = 0;
    *whole = (double)e->sched.scratch_bytes;
    for (int i = 0; i < t->nin + t->nout; i++) {
        const clf_plan_value *v = &x->plan->value[i < t->nin ? t->in[i] : t->out[i - t->nin]];
        double *most = clf_sched_spans(&e->sched, v) ? cut : whole;
        if ((double)v->bytes > *most) *most = (double)v->bytes;
    }
}

static clf_status split_in_time(clf_ctx *c, clf_exe *x, int32_t s, const clf_skel *skel, clf_err *err) {
    const clf_step *t = &x->plan->step[s];
    clf_exe_step *e = &x->step[s];
    const clf_profile *dev = clf_run_device_profile(c);
    const clf_dev_info *info = clf_devs_info(c->run->devs, x->device);
    double limit = (double)info->max_alloc_bytes, cut, whole;
    if (info->host_pointers || limit <= 0) return CLF_OK; /* every operand is in place */
    if (c->knobs.mem_limit && (double)c->knobs.mem_limit < limit) limit = (double)c->knobs.mem_limit;
    largest_operands(x, t, e, &cut, &whole);
    int64_t chunks = (e->sched.extent + e->sched.grain - 1) / e->sched.grain;
    double chunk = cut * (double)e->sched.grain / (double)(e->sched.extent > 0 ? e->sched.extent : 1);
    if (whole > limit || (cut > limit && chunk > limit))
        return clf_fail(err, CLF_E_LIMIT, "an operand of %.0f bytes cannot be cut to the device's largest allocation of %.0f",
                        whole > limit ? whole : cut, limit);
    if (cut <= limit) return CLF_OK;
    int64_t each = (int64_t)(limit / chunk);
    e->nparts = (int)((chunks + each - 1) / each);
    e->part = clf_arena_new(&x->arena, (size_t)e->nparts, sizeof *e->part);
    if (!e->part) return no_memory(err);
    for (int i = 0; i < e->nparts; i++) {
        clf_grid g = {i * each, i * each + each < chunks ? i * each + each : chunks};
        CLF_TRY(skel->sched(&t->c, dev, g, &e->part[i], err));
    }
    return CLF_OK;
}

static clf_status build_kernel(clf_ctx *c, clf_exe *x, int32_t s, const clf_skel *skel, clf_arena *scratch, clf_err *err) {
    const clf_cplan *cp = &x->plan->step[s].c;
    clf_exe_step *e = &x->step[s];
    const clf_profile *dev = clf_run_device_profile(c);
    clf_source src;
    bool compiled = false;
    CLF_TRY(skel->sched(cp, dev, (clf_grid){0, INT64_MAX}, &e->sched, err));
    skel->facts(cp, dev, &e->sched, &e->facts);
    CLF_TRY(skel->emit(cp, &e->sched, c->knobs.kernel_dir, scratch, &src, err));
    clf_run_dump(c, "kernel", "cl", src.text, src.text_len);
    CLF_TRACE(&c->trace, emit, "step %d: %s by %s, %zu bytes of text, %d arguments", s, src.entry, skel->name, src.text_len, src.nargs);
    CLF_TRY(clf_program_get(c->run->devs, x->device, &src, &e->program, &compiled, err));
    c->stats.kernels_built += compiled;
    c->stats.kernel_hits += !compiled;
    CLF_TRY(split_in_time(c, x, s, skel, err));
    e->executor = CLF_ON_KERNEL;
    if (e->sched.scratch_bytes > x->scratch_bytes) x->scratch_bytes = e->sched.scratch_bytes;
    return keep_args(x, e, &src, err);
}

/* The kernel, or, whatever goes wrong short of running out of memory, the host. */
static clf_status on_device(clf_ctx *c, clf_exe *x, int32_t s, clf_err *err) {
    clf_exe_step *e = &x->step[s];
    const clf_skel *skel = pick_skeleton(c, &x->plan->step[s].c, clf_run_device_profile(c));
    if (!skel) {
        CLF_TRY(on_host(c, x, s, err));
        e->why = "no skeleton covers this operator";
        return CLF_OK;
    }
    clf_arena scratch;
    clf_err failed = {CLF_OK, ""};
    clf_arena_init(&scratch, &c->mem);
    clf_status st = build_kernel(c, x, s, skel, &scratch, &failed);
    clf_arena_release(&scratch);
    if (st == CLF_OK) return CLF_OK;
    CLF_TRACE(&c->trace, build, "step %d falls back to the host executor: %s", s, failed.text);
    if (st == CLF_E_NOMEM) return clf_fail(err, st, "%s", failed.text);
    CLF_TRY(on_host(c, x, s, err));
    e->why = "its kernel did not build, or does not fit the device";
    return CLF_OK;
}

static clf_status prepare_step(clf_ctx *c, clf_exe *x, int32_t s, bool home, clf_err *err) {
    const clf_step *t = &x->plan->step[s];
    clf_exe_step *e = &x->step[s];
    e->why = "";
    e->read_bytes = t->read_bytes;
    e->write_bytes = t->write_bytes;
    if (t->kind != CLF_STEP_FUSED)
        e->executor = t->kind == CLF_STEP_LIBRARY ? CLF_ON_PRODUCT : CLF_ON_CALLOUT;
    else {
        CLF_TRY(sizes(x, s, err));
        CLF_TRY(home || x->device < 0 ? on_host(c, x, s, err) : on_device(c, x, s, err));
    }
    bool kernel = e->executor == CLF_ON_KERNEL;
    if (kernel) {
        e->read_bytes = e->facts.read_bytes;
        e->write_bytes = e->facts.write_bytes;
    }
    e->predicted_ns = clf_step_cost_ns(x->plan, t, kernel ? clf_run_device_profile(c) : clf_run_host_profile(c));
    x->predicted_ns += e->predicted_ns;
    return CLF_OK;
}

/* ---- scratch of a run, allocated once ---- */

static clf_status make_room(clf_ctx *c, clf_exe *x, clf_err *err) {
    size_t in = 1, out = 1, param = 1, arg = 1, kernels = 0;
    for (int32_t s = 0; s < x->plan->nstep; s++) {
        const clf_step *t = &x->plan->step[s];
        if ((size_t)t->nin > in) in = (size_t)t->nin;
        if ((size_t)t->nout > out) out = (size_t)t->nout;
        if ((size_t)t->nparam > param) param = (size_t)t->nparam;
        if ((size_t)x->step[s].nargs > arg) arg = (size_t)x->step[s].nargs;
        kernels += x->step[s].executor == CLF_ON_KERNEL;
    }
    x->value = clf_arena_new(&x->arena, (size_t)x->plan->nvalue, sizeof *x->value);
    x->made = clf_arena_new(&x->arena, (size_t)x->plan->nvalue, sizeof *x->made);
    x->in = clf_arena_new(&x->arena, in, sizeof *x->in);
    x->out = clf_arena_new(&x->arena, out, sizeof *x->out);
    x->param = clf_arena_new(&x->arena, param, sizeof *x->param);
    x->arg = clf_arena_new(&x->arena, arg, sizeof *x->arg);
    if (!x->value || !x->made || !x->in || !x->out || !x->param || !x->arg) return no_memory(err);
    if (!kernels) return CLF_OK;
    x->counter_bytes = 64;
    x->scratch = clf_mem_new(&c->mem, 1, x->counter_bytes + x->scratch_bytes);
    return x->scratch ? CLF_OK : no_memory(err);
}

static void dump_stages(clf_ctx *c, const clf_exe *x) {
    if (!c->knobs.dump[0]) return;
    clf_str t;
    clf_str_init(&t, &c->mem);
    clf_graph_print(&x->plan->g, &t);
    clf_run_dump(c, "graph", "txt", clf_str_c(&t), t.len);
    clf_str_release(&t);
    clf_plan_print(x->plan, &t);
    clf_run_dump(c, "plan", "txt", clf_str_c(&t), t.len);
    for (int32_t s = 0; s < x->plan->nstep; s++) {
        if (x->plan->step[s].kind != CLF_STEP_FUSED) continue;
        clf_str_release(&t);
        clf_cplan_print(&x->plan->step[s].c, &t);
        clf_run_dump(c, "cplan", "txt", clf_str_c(&t), t.len);
    }
    clf_str_release(&t);
}

/* One line a stage, for CLF_LOG. */
static void trace_plan(const clf_ctx *c, const clf_plan *p, const char *selector) {
    const clf_trace *t = &c->trace;
    CLF_TRACE(t, graph, "%d nodes, %d slots, %d results", p->g.n, p->g.nslot, p->g.nroot);
    CLF_TRACE(t, rules, "%d edges rewritten", p->nfired);
    CLF_TRACE(t, memo, "%d entries for %d nodes", p->nentry, p->g.n);
    CLF_TRACE(t, plan, "selector %s: %d steps, %d values, %d cuts", selector, p->nstep, p->nvalue, p->ncut);
}

static void trace_step(const clf_ctx *c, const clf_exe *x, int32_t s) {
    static const char *const executor[] = {"tile", "ref", "kernel", "product", "callout"};
    const clf_trace *t = &c->trace;
    const clf_step *step = &x->plan->step[s];
    const clf_exe_step *e = &x->step[s];
    CLF_TRACE(t, cost, "step %d: %.0f bytes read, %.0f written, %.0f flops, predicted %.0f ns", s, e->read_bytes, e->write_bytes,
              step->flops, e->predicted_ns);
    if (step->kind == CLF_STEP_FUSED)
        CLF_TRACE(t, cplan, "step %d: %d values, %d accesses, %d sinks, on %s", s, step->c.nvalue, step->c.naccess, step->c.nsink,
                  executor[e->executor]);
}

static clf_status prepare(clf_ctx *c, clf_exe *x, const clf_graph *g, const char *selector, clf_err *err) {
    clf_limits lim = {(int)c->knobs.kernel_ops, 48};
    CLF_TRY(clf_plan_new(&x->plan, g, selector, &lim, &c->mem, err));
    dump_stages(c, x);
    trace_plan(c, x->plan, selector);
    CLF_TRY(choose_device(c, x, err));
    x->step = clf_arena_new(&x->arena, (size_t)x->plan->nstep, sizeof *x->step);
    uint8_t *home = clf_arena_new(&x->arena, (size_t)x->plan->nstep, 1);
    if (!x->step || !home) return no_memory(err);
    if (x->device >= 0 && !forced_kernels(c)) CLF_TRY(keep_tiny_home(x, home, err));
    for (int32_t s = 0; s < x->plan->nstep; s++) {
        CLF_TRY(prepare_step(c, x, s, home[s], err));
        trace_step(c, x, s);
    }
    return make_room(c, x, err);
}

clf_status clf_exe_new(clf_exe **out, clf_ctx *c, const clf_graph *g, const char *selector, clf_err *err) {
    clf_exe *x = clf_mem_new(&c->mem, 1, sizeof *x);
    if (!x) return no_memory(err);
    clf_arena_init(&x->arena, &c->mem);
    x->device = -1;
    clf_status st = prepare(c, x, g, selector, err);
    if (st == CLF_OK)
        *out = x;
    else
        clf_exe_free(c, x);
    return st;
}

void clf_exe_free(clf_ctx *c, clf_exe *x) {
    if (!x) return;
    clf_plan_free(x->plan);
    clf_arena_release(&x->arena);
    clf_mem_free(&c->mem, x->scratch, 1, x->counter_bytes + x->scratch_bytes);
    clf_mem_free(&c->mem, x->key, x->key_len, 1);
    clf_mem_free(&c->mem, x, 1, sizeof *x);
}

const char *clf_exe_where(clf_ctx *c, const clf_exe *x, const clf_exe_step *s) {
    if (s->executor == CLF_ON_KERNEL) return clf_devs_info(c->run->devs, x->device)->name;
    return s->executor == CLF_ON_PRODUCT ? clf_blas_name(c->run->blas) : "host";
}
