/* SPDX-License-Identifier: Apache-2.0
 * Preparing a plan: where each step runs and with what. Placement is a cost decision per plan (host executor or the context's OpenCL
 * device), forced by the device and tier settings; what a skeleton cannot do falls back to the host executor (cells in tiles, or the row
 * form), then to ref.c. Conversions between formats, products and callouts run on the host whatever the rest does. */
#include "host/run/exe.h"

#include <string.h>

#include "host/run/exe_kernels.h"
#include "host/run/rows.h"
#include "host/run/run.h"
#include "planner/select.h"

enum { TINY_CELLS = 4096 }; /* a step this small only feeds the host from the host */

static clf_status no_memory(clf_err *err) { return clf_fail(err, CLF_E_NOMEM, "evaluation: out of memory while preparing the plan"); }

const char *clf_executor_name(clf_executor e) {
    static const char *const name[] = {
#define E(id, name) name,
        CLF_EXECUTORS(E)
#undef E
    };
    return (unsigned)e < CLF_NEXECUTORS ? name[e] : "";
}

/* ---- placement ---- */

static bool forced_ref(const clf_ctx *c) { return !strcmp(c->knobs.tier, "ref"); }
static bool forced_host(const clf_ctx *c) { return clf_run_wants_host(c) || !strcmp(c->knobs.tier, "0") || forced_ref(c); }
static bool forced_device(const clf_ctx *c) { return c->knobs.device[0] && !clf_run_wants_host(c); }

/* Tests and the curious ask for kernels even where they do not pay. */
static bool forced_kernels(const clf_ctx *c) {
    return !strcmp(c->knobs.tier, "1") || !strcmp(c->knobs.tier, "2") || strcmp(c->knobs.strategy, "auto");
}

/* What plans may not exceed, and the device they are for: the host, or the OpenCL device that has been opened. */
clf_limits clf_exe_limits(clf_ctx *c, int device) {
    const clf_profile *p = device >= 0 ? clf_run_device_profile(c) : clf_run_host_profile(c);
    return (clf_limits){.dev = {1, {p}}, .kernel_ops = (int)c->knobs.kernel_ops, .kernel_inputs = 48, .rules = clf_run_gate(c)};
}

static double plan_cost(const clf_plan *p, const clf_profile *dev) {
    double ns = dev->launch_sync_ns;
    for (int32_t s = 0; s < p->nstep; s++) ns += clf_step_cost_ns(p, &p->step[s], dev);
    return ns;
}

/* Would any step ever be worth a launch? Decided from the host's figures alone, so that small work never loads OpenCL. */
static clf_status choose_device(clf_ctx *c, const clf_plan *p, const clf_exe_ways *ways, int *device, clf_err *err) {
    *device = ways && ways->like ? ways->like->device : -1;
    if (ways && ways->like) return CLF_OK;
    if (forced_host(c) || clf_run_lost(c) || (ways && ways->host)) return CLF_OK;
    if (forced_device(c) || forced_kernels(c)) return clf_run_device(c, true, device, err);
    double host = plan_cost(p, clf_run_host_profile(c));
    clf_profile bar;
    clf_profile_assume(&bar, CLF_DEV_CPU, 1);
    if (host < 4 * bar.launch_sync_ns) return CLF_OK;
    int dev;
    CLF_TRY(clf_run_device(c, false, &dev, err));
    if (dev >= 0 && plan_cost(p, clf_run_device_profile(c)) < host) *device = dev;
    return CLF_OK;
}

/* Positions of the loops of an operator. An axis over stored entries counts those of all rows, so its parent counts no more. */
static double loop_cells(const clf_cplan *c) {
    uint32_t counted = 0;
    double n = 1;
    for (int a = 0; a < c->naxes; a++)
        if (c->axis[a].kind == CLF_AXIS_ENTRY) counted |= 1u << c->axis[a].parent;
    for (int a = 0; a < c->naxes; a++)
        if (!(counted >> a & 1u)) n *= (double)c->axis[a].n.n;
    return n;
}

/* Cells in memory. */
static double value_cells(const clf_plan_value *v) { return v->format == CLF_DENSE ? (double)v->rows * (double)v->cols : (double)v->nnz; }

/* A tiny step whose results only host steps or the caller read stays on the host: one wait less. Backwards, readers first. */
static clf_status keep_tiny_home(clf_exe *x, uint8_t *home, clf_err *err) {
    const clf_plan *p = x->plan;
    uint8_t *wanted = clf_arena_new(&x->arena, (size_t)p->nvalue, 1); /* read by a step on the device */
    if (!wanted) return no_memory(err);
    for (int32_t s = p->nstep; s-- > 0;) {
        const clf_step *t = &p->step[s];
        double cells = loop_cells(&t->c); /* of a step that makes its cells, too */
        bool needed = false;
        for (int i = 0; i < t->nin; i++) cells += value_cells(&p->value[t->in[i]]);
        for (int i = 0; i < t->nout; i++) {
            cells += value_cells(&p->value[t->out[i]]);
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
    bool tile = !forced_ref(c) && clf_tile_fits(&t->c), rows = !forced_ref(c) && !tile && clf_rows_fits(&t->c);
    if (!tile && !rows) {
        e->executor = CLF_ON_REF;
        e->why = forced_ref(c) ? "the tier setting asks for the reference executor" : "the host executor does not cover this operator";
        return CLF_OK;
    }
    e->executor = tile ? CLF_ON_TILE : CLF_ON_ROWS;
    return clf_run_tile(c, t, tile, &e->tile, err);
}

/* Steps that always run on the host, by kind. */
static uint8_t host_executor(uint8_t kind) {
    return kind == CLF_STEP_LIBRARY ? CLF_ON_PRODUCT : kind == CLF_STEP_CONVERT ? CLF_ON_CONVERT : CLF_ON_CALLOUT;
}

/* Kernels get only their mark here: clf_exe_kernels writes and builds them together. */
static clf_status place_step(clf_ctx *c, clf_exe *x, int32_t s, bool home, clf_err *err) {
    const clf_step *t = &x->plan->step[s];
    clf_exe_step *e = &x->step[s];
    e->why = "";
    if (t->kind != CLF_STEP_FUSED) {
        e->executor = host_executor(t->kind);
        return CLF_OK;
    }
    CLF_TRY(sizes(x, s, err));
    if (home || x->device < 0) {
        CLF_TRY(clf_exe_on_host(c, x, s, err));
        if (x->device < 0 && x->ways.why && !e->why[0]) e->why = x->ways.why;
        return CLF_OK;
    }
    e->executor = CLF_ON_KERNEL;
    return CLF_OK;
}

/* Of CSR operands that are looked up at another's entries: a kernel's facts know no number of theirs. */
static double located_bytes(const clf_plan *plan, const clf_step *t) {
    double bytes = 0;
    for (int a = 0; a < t->c.naccess; a++) {
        int in = t->c.access[a].input;
        if (t->c.access[a].protocol == CLF_LOCATE && t->c.in[in].format == CLF_CSR) bytes += (double)plan->value[t->in[in]].bytes;
    }
    return bytes;
}

static void predict_step(clf_ctx *c, clf_exe *x, int32_t s) {
    const clf_step *t = &x->plan->step[s];
    clf_exe_step *e = &x->step[s];
    bool kernel = e->executor == CLF_ON_KERNEL;
    e->read_bytes = kernel ? e->facts.read_bytes + located_bytes(x->plan, t) : t->read_bytes;
    e->write_bytes = kernel ? e->facts.write_bytes : t->write_bytes;
    e->predicted_ns = clf_step_cost_ns(x->plan, t, kernel ? clf_run_device_profile(c) : clf_run_host_profile(c));
    x->predicted_ns += e->predicted_ns;
}

/* An evaluation waits once for its kernels. */
static void predict_wait(clf_ctx *c, clf_exe *x) {
    const clf_profile *dev = x->device >= 0 ? clf_run_device_profile(c) : NULL;
    bool waits = false;
    for (int32_t s = 0; s < x->plan->nstep; s++) waits = waits || x->step[s].executor == CLF_ON_KERNEL;
    if (dev && waits && dev->launch_sync_ns > dev->launch_async_ns) x->predicted_ns += dev->launch_sync_ns - dev->launch_async_ns;
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
    if (x->scratch) x->scratch_held = x->scratch_bytes;
    return x->scratch ? CLF_OK : no_memory(err);
}

static void dump_stages(clf_ctx *c, const clf_plan *p) {
    if (!c->knobs.dump[0]) return;
    clf_str t;
    clf_str_init(&t, &c->mem);
    clf_graph_print(&p->g, &t);
    clf_run_dump(c, "graph", "txt", clf_str_c(&t), t.len);
    clf_str_release(&t);
    clf_plan_print(p, &t);
    clf_run_dump(c, "plan", "txt", clf_str_c(&t), t.len);
    for (int32_t s = 0; s < p->nstep; s++) {
        if (p->step[s].kind != CLF_STEP_FUSED) continue;
        clf_str_release(&t);
        clf_cplan_print(&p->step[s].c, &t);
        clf_run_dump(c, "cplan", "txt", clf_str_c(&t), t.len);
    }
    clf_str_release(&t);
}

/* One line a stage, for CLF_LOG. */
static void trace_plan(const clf_ctx *c, const clf_plan *p, const clf_selector *sel) {
    const clf_trace *t = &c->trace;
    CLF_TRACE(t, graph, "%d nodes, %d slots, %d results", p->g.n, p->g.nslot, p->g.nroot);
    CLF_TRACE(t, rules, "%d applied", p->nfired);
    CLF_TRACE(t, memo, "%d entries for %d nodes", p->nentry, p->g.n);
    if (sel->searches) CLF_TRACE(t, plan, "%lld partial covers costed, gap %lld ps", (long long)p->ncosted, (long long)p->gap_ps);
    CLF_TRACE(t, plan, "selector %s: %d steps, %d values, %d cuts", sel->name, p->nstep, p->nvalue, p->ncut);
}

static void trace_step(const clf_ctx *c, const clf_exe *x, int32_t s) {
    const clf_trace *t = &c->trace;
    const clf_step *step = &x->plan->step[s];
    const clf_exe_step *e = &x->step[s];
    CLF_TRACE(t, cost, "step %d: %.0f bytes read, %.0f written, %.0f flops, predicted %.0f ns", s, e->read_bytes, e->write_bytes,
              step->flops, e->predicted_ns);
    if (step->kind == CLF_STEP_FUSED)
        CLF_TRACE(t, cplan, "step %d: %d values, %d accesses, %d sinks, on %s", s, step->c.nvalue, step->c.naccess, step->c.nsink,
                  clf_executor_name((clf_executor)e->executor));
}

static clf_status place(clf_ctx *c, clf_exe *x, clf_err *err) {
    x->step = clf_arena_new(&x->arena, (size_t)x->plan->nstep, sizeof *x->step);
    uint8_t *home = clf_arena_new(&x->arena, (size_t)x->plan->nstep, 1);
    if (!x->step || !home) return no_memory(err);
    if (x->device >= 0 && !forced_kernels(c) && !c->knobs.check) CLF_TRY(keep_tiny_home(x, home, err));
    for (int32_t s = 0; s < x->plan->nstep; s++) CLF_TRY(place_step(c, x, s, home[s], err));
    CLF_TRY(clf_exe_kernels(c, x, err));
    for (int32_t s = 0; s < x->plan->nstep; s++) {
        predict_step(c, x, s);
        trace_step(c, x, s);
    }
    predict_wait(c, x);
    return make_room(c, x, err);
}

/* The executable takes the plan over, also where it fails. */
static clf_status make(clf_exe **out, clf_ctx *c, clf_plan *p, const clf_exe_ways *ways, int device, clf_err *err) {
    clf_exe *x = clf_mem_new(&c->mem, 1, sizeof *x);
    if (!x) {
        clf_plan_free(p);
        return no_memory(err);
    }
    clf_arena_init(&x->arena, &c->mem);
    x->plan = p;
    x->device = device;
    if (ways) x->ways = *ways;
    x->ways.like = NULL;
    if (clf_run_lost(c) && !x->ways.why) x->ways.why = "the device is lost";
    clf_status st = place(c, x, err);
    if (st == CLF_OK)
        *out = x;
    else
        clf_exe_free(c, x);
    return st;
}

clf_status clf_exe_of_plan(clf_exe **out, clf_ctx *c, clf_plan *p, const clf_exe_ways *ways, clf_err *err) {
    int device;
    clf_status st = choose_device(c, p, ways, &device, err);
    if (st == CLF_OK) return make(out, c, p, ways, device, err);
    clf_plan_free(p);
    return st;
}

static clf_status plan_for(clf_plan **p, clf_ctx *c, const clf_graph *g, const clf_selector *sel, int device, clf_err *err) {
    clf_limits lim = clf_exe_limits(c, device);
    lim.own_products = c->knobs.check;
    return clf_plan_new(p, g, sel, &lim, &c->mem, err);
}

/* Planned for the host. If that is better run by the device, a search looks for the best plan there. */
clf_status clf_exe_new(clf_exe **out, clf_ctx *c, const clf_graph *g, const clf_selector *sel, const clf_exe_ways *ways, clf_err *err) {
    clf_plan *p;
    int device;
    CLF_TRY(plan_for(&p, c, g, sel, -1, err));
    clf_status st = choose_device(c, p, ways, &device, err);
    if (st == CLF_OK && device >= 0 && sel->searches) {
        clf_plan_free(p);
        p = NULL;
        st = plan_for(&p, c, g, sel, device, err);
    }
    if (st != CLF_OK) {
        clf_plan_free(p);
        return st;
    }
    dump_stages(c, p);
    trace_plan(c, p, sel);
    return make(out, c, p, ways, device, err);
}

static void free_now(clf_ctx *c, clf_exe *x) {
    clf_plan_free(x->plan);
    clf_arena_release(&x->arena);
    clf_mem_free(&c->mem, x->scratch, 1, x->counter_bytes + x->scratch_held);
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
    if (s->executor == CLF_ON_KERNEL) return clf_devs_info(c->run->devs, x->device)->name;
    return s->executor == CLF_ON_PRODUCT ? clf_blas_name(c->run->blas) : "host";
}
