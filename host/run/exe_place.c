/* SPDX-License-Identifier: Apache-2.0
 * Which device a plan is for, and which of its steps stay on the host. Small work never loads OpenCL: everything is planned for the host
 * first, and only what costs more there than any launch could is worth a look at a device. A searched plan is then made for the host and all
 * devices in use together, and the cheaper of the two is taken; once devices are open, what is not small is searched for all of them at
 * once, and for the host alone only if kernels do not cover that plan. Of other selectors the same plan goes where it costs less as a whole.
 * Settings, and plans that are made to be like another, come before all costs: a setting that names one device has all loops there, one
 * that names several has them planned for, with the host, by cost. */
#include "host/run/exe_place.h"

#include <math.h>
#include <string.h>

#include "formats/fmt.h"
#include "host/run/exe_kernels.h"
#include "host/run/exe_split.h"
#include "host/run/exe_trial.h"
#include "host/run/gemm.h"
#include "host/run/run.h"
#include "planner/bill.h"
#include "planner/select.h"

enum { TINY_CELLS = 4096 }; /* a step this small only feeds the host from the host */

/* ---- settings ---- */

bool clf_place_wants_ref(const clf_ctx *c) { return !strcmp(c->knobs.tier, "ref"); }
static bool forced_host(const clf_ctx *c) { return clf_run_wants_host(c) || !strcmp(c->knobs.tier, "0") || clf_place_wants_ref(c); }
static bool several_named(const clf_ctx *c) { return clf_run_named(c) > 1; }
static bool forced_device(const clf_ctx *c) { return c->knobs.device[0] && !clf_run_wants_host(c) && !several_named(c); }

/* Tests and the curious ask for kernels even where they do not pay. */
static bool forced_kernels(const clf_ctx *c) {
    return !strcmp(c->knobs.tier, "1") || !strcmp(c->knobs.tier, "2") || strcmp(c->knobs.strategy, "auto");
}

bool clf_place_asked(const clf_ctx *c) { return forced_device(c); }

/* Whoever asks for kernels, or compares all bits, gets them at once. A caller's own queue is used by nobody but the caller's threads. */
static bool at_once(const clf_ctx *c) { return forced_kernels(c) || c->knobs.check || c->run->own.queue; }
bool clf_exe_later(const clf_ctx *c) { return !strcmp(c->knobs.compile, "background") && !at_once(c); }

bool clf_place_by_cost(const clf_ctx *c) { return strcmp(c->knobs.compile, "off") != 0 && !at_once(c) && !forced_device(c); }

/* Nothing runs where nothing may be compiled. */
static bool no_kernels(const clf_ctx *c) { return !strcmp(c->knobs.compile, "off") && !forced_kernels(c) && !c->knobs.check; }

/* Whoever asks for the device, or compares all bits, has all loops there. */
static bool one_device(const clf_ctx *c) { return !several_named(c) && (forced_device(c) || forced_kernels(c) || c->knobs.check); }

/* What plans may not exceed, and the devices they are for: the host, with OpenCL devices that have been opened, or one of those alone. */
clf_limits clf_exe_limits(clf_ctx *c, const clf_places *on) {
    clf_limits lim = {.kernel_ops = (int)c->knobs.kernel_ops, .kernel_inputs = 48, .rules = clf_run_gate(c), .ask = &c->ask};
    lim.search_share = (int)c->knobs.search;
    lim.spares = &c->run->spares;
    bool alone = on->n && one_device(c);
    lim.dev.profile[lim.dev.n++] = alone ? clf_run_profile_of(c, on->at[0]) : clf_run_host_profile(c);
    for (int i = 0; i < on->n && !alone; i++) {
        lim.dev.loops_only[lim.dev.n] = true;
        lim.dev.profile[lim.dev.n++] = clf_run_profile_of(c, on->at[i]);
    }
    for (int i = 0; i < lim.dev.n; i++) lim.rules.gpu = lim.rules.gpu || lim.dev.profile[i]->kind == CLF_DEV_GPU;
    return lim;
}

/* ---- by costs ---- */

/* All of a plan on one device. */
static double plan_cost(const clf_plan *p, const clf_profile *dev) {
    double ns = dev->launch_sync_ns;
    for (int32_t s = 0; s < p->nstep; s++) ns += clf_step_cost_ns(p, &p->step[s], dev);
    return ns;
}

static void take_used(const clf_ctx *c, const clf_exe_ways *ways, clf_places *on) {
    const clf_used *u = &c->run->used;
    on->n = 0;
    for (int i = 0; i < u->n; i++)
        if (!ways || !(ways->without >> u->place[i] & 1)) on->at[on->n++] = u->at[i];
}

static clf_status open_used(clf_ctx *c, bool required, const clf_exe_ways *ways, clf_places *on, clf_err *err) {
    int first;
    CLF_TRY(clf_run_device(c, required, &first, err));
    take_used(c, ways, on);
    return CLF_OK;
}

static void take_like(const clf_exe *like, clf_places *on) {
    on->n = like->ndevice;
    memcpy(on->at, like->device, sizeof on->at);
}

/* Do settings, or what the caller asks for, say which devices it is? */
static clf_status given_device(clf_ctx *c, const clf_exe_ways *ways, clf_places *on, bool *given, clf_err *err) {
    *given = true;
    on->n = 0;
    if (ways && ways->like) take_like(ways->like, on);
    if (ways && ways->like) return CLF_OK;
    if (forced_host(c) || no_kernels(c) || clf_run_lost(c) || (ways && ways->host)) return CLF_OK;
    if (several_named(c)) *given = c->knobs.check;
    if (several_named(c) || forced_device(c) || forced_kernels(c)) return open_used(c, true, ways, on, err);
    *given = false;
    return CLF_OK;
}

/* Of a plan that costs the host less no step could ever be worth a launch. */
static double least_device_ns(void) {
    clf_profile bar;
    clf_profile_assume(&bar, CLF_DEV_CPU, 1);
    return 4 * bar.launch_sync_ns;
}

/* The devices, if any step could ever be worth a launch. Decided from the host's figures alone, so that small work never loads OpenCL. */
static clf_status worth_device(clf_ctx *c, double host_ns, const clf_exe_ways *ways, clf_places *on, clf_err *err) {
    int first;
    if (on->n || host_ns < least_device_ns()) return CLF_OK;
    CLF_TRY(clf_exe_later(c) ? clf_run_device_later(c, &first, err) : clf_run_device(c, false, &first, err));
    take_used(c, ways, on);
    return CLF_OK;
}

/* The best of the devices for all of the plan; none: the host is better. */
static void choose_one(clf_ctx *c, const clf_plan *p, double least, clf_places *on) {
    clf_places best = {0};
    for (int i = 0; i < on->n; i++) {
        double ns = plan_cost(p, clf_run_profile_of(c, on->at[i]));
        if (ns >= least) continue;
        best = (clf_places){1, {on->at[i]}};
        least = ns;
    }
    *on = best;
}

clf_status clf_place_choose(clf_ctx *c, const clf_plan *p, const clf_exe_ways *ways, clf_places *on, clf_err *err) {
    bool given;
    CLF_TRY(given_device(c, ways, on, &given, err));
    double host = plan_cost(p, clf_run_host_profile(c));
    if (!given) CLF_TRY(worth_device(c, host, ways, on, err));
    if (on->n) clf_gemm_want(c, &p->g);
    if (!given || on->n > 1) choose_one(c, p, given || forced_kernels(c) ? HUGE_VAL : host, on);
    return CLF_OK;
}

/* What the host takes at least to read all leaves. */
static double reading_ns(clf_ctx *c, const clf_graph *g) {
    double bytes = 0;
    for (int32_t n = 0; n < g->n; n++) {
        const clf_gnode *x = &g->node[n];
        if (!clf_node_is_slot(x) || x->scalar) continue;
        bytes += x->format == CLF_CSR ? (double)clf_csr_bytes(clf_rows(x), x->nnz, (clf_dtype)x->dtype) : clf_gnode_bytes(x);
    }
    return 1e-3 * (double)clf_cost_read(clf_run_host_profile(c), bytes, 0);
}

/* A plan that reads for so long may be on the disk; looking there costs less than planning it at all. */
static const double worth_keeping_ns = 10000;

static clf_status plan_for(clf_plan **p, clf_ctx *c, const clf_graph *g, const clf_selector *sel, const clf_exe_ways *ways,
                           const clf_places *on, clf_err *err) {
    clf_limits lim = clf_exe_limits(c, on);
    for (int i = 1; i < lim.dev.n && ways && ways->credit; i++) lim.dev.resident[i] = ways->credit[clf_run_use_of(c, on->at[i - 1])];
    lim.own_products = c->knobs.check;
    if (reading_ns(c, g) >= worth_keeping_ns) lim.keeper = clf_covers_keeper(c);
    return clf_plan_new(p, g, sel, &lim, &c->mem, err);
}

static const clf_profile *profile_on(clf_ctx *c, const clf_places *on, uint8_t device) {
    return device ? clf_run_profile_of(c, on->at[device - 1]) : clf_run_host_profile(c);
}

/* What a plan for host and devices costs. The search does not know what skeletons cover: loops beyond them run on the host; nor that steps
 * may be split. */
static double cost_of_all(clf_ctx *c, const clf_plan *p, const clf_places *on, const int64_t *const *credit) {
    double ns = 1e-3 * (double)p->cost_ps;
    for (int32_t s = 0; s < p->nstep; s++) {
        const clf_step *t = &p->step[s];
        const clf_profile *dev = profile_on(c, on, t->device);
        bool covered = !t->device || t->kind != CLF_STEP_FUSED || clf_exe_skel(c, &t->c, dev);
        if (!covered) ns += clf_step_cost_ns(p, t, clf_run_host_profile(c)) - clf_step_cost_ns(p, t, dev);
        ns -= clf_split_best(c, p, s, on, credit).saved_ns;
    }
    return ns;
}

/* Does any step run, or share its work, on a device? */
static bool uses_device(clf_ctx *c, const clf_plan *p, const clf_places *on, const int64_t *const *credit) {
    bool used = false;
    for (int32_t s = 0; s < p->nstep; s++) used = used || p->step[s].device || clf_split_best(c, p, s, on, credit).on;
    return used;
}

/* May any step turn out to be faster elsewhere? */
static bool tries_any(clf_ctx *c, const clf_plan *p, const clf_places *on) {
    bool any = false;
    for (int32_t s = 0; s < p->nstep; s++) any = any || clf_trial_is_near(c, p, s, on);
    return any;
}

/* Is this plan for the device, or for host and devices, better than the host's? */
static bool better_than(clf_ctx *c, const clf_plan *p, const clf_places *on, const int64_t *const *credit, const clf_plan *host) {
    if (p->ndevice == 1) return plan_cost(p, clf_run_profile_of(c, on->at[0])) < plan_cost(host, clf_run_host_profile(c));
    const double all = cost_of_all(c, p, on, credit), alone = 1e-3 * (double)host->cost_ps;
    return (all < alone && uses_device(c, p, on, credit)) || (all <= alone && tries_any(c, p, on));
}

/* The plan for host and devices was searched among all plans for the host alone, too. Is it better than these as it will run? Where
 * skeletons do not cover it, the host's is looked for. */
static bool is_sure(clf_ctx *c, const clf_plan *with, const clf_places *on, const int64_t *const *credit, bool used) {
    return !used || cost_of_all(c, with, on, credit) <= 1e-3 * (double)with->cost_ps;
}

/* Devices are open, and it is no small work: one search for all of them may tell. *with: NULL, or its plan; *sure: it is the one, for what
 * *on says. */
static clf_status search_once(clf_plan **with, clf_ctx *c, const clf_graph *g, const clf_selector *sel, const clf_exe_ways *ways,
                              clf_places *on, bool *sure, clf_err *err) {
    clf_places all;
    take_used(c, ways, &all);
    if (!all.n || one_device(c) || reading_ns(c, g) < least_device_ns()) return CLF_OK;
    clf_gemm_want(c, g);
    CLF_TRY(plan_for(with, c, g, sel, ways, &all, err));
    const int64_t *const *credit = ways ? ways->credit : NULL;
    bool used = uses_device(c, *with, &all, credit) || tries_any(c, *with, &all);
    *sure = is_sure(c, *with, &all, credit, used);
    if (!*sure) return CLF_OK;
    if (used)
        *on = all;
    else
        (*with)->ndevice = 1;
    return CLF_OK;
}

/* The host's plan *p gives way to one for all devices, *with if it is there already, if that is better. */
static clf_status search_devices(clf_plan **p, clf_plan **with, clf_ctx *c, const clf_graph *g, const clf_selector *sel,
                                 const clf_exe_ways *ways, clf_places *on, clf_err *err) {
    CLF_TRY(worth_device(c, 1e-3 * (double)(*p)->cost_ps, ways, on, err));
    if (!on->n) return CLF_OK;
    clf_gemm_want(c, g);
    if (!*with) CLF_TRY(plan_for(with, c, g, sel, ways, on, err));
    if (better_than(c, *with, on, ways ? ways->credit : NULL, *p)) {
        clf_plan *host = *p;
        *p = *with;
        *with = host;
    } else
        on->n = 0;
    return CLF_OK;
}

/* Settings, or what is asked for, come first; then devices that are open, with the host; the host alone, and whatever is better. */
static clf_status search_places(clf_plan **out, clf_ctx *c, const clf_graph *g, const clf_selector *sel, const clf_exe_ways *ways,
                                clf_places *on, clf_err *err) {
    clf_plan *host = NULL, *with = NULL;
    bool given, sure = false;
    CLF_TRY(given_device(c, ways, on, &given, err));
    if (given && on->n) clf_gemm_want(c, g);
    if (given) return plan_for(out, c, g, sel, on->n ? ways : NULL, on, err);
    CLF_TRY(search_once(&with, c, g, sel, ways, on, &sure, err));
    if (sure) {
        *out = with;
        return CLF_OK;
    }
    clf_status st = plan_for(&host, c, g, sel, NULL, &(clf_places){0}, err);
    if (st == CLF_OK) st = search_devices(&host, &with, c, g, sel, ways, on, err);
    clf_plan_free(with);
    if (st == CLF_OK)
        *out = host;
    else
        clf_plan_free(host);
    return st;
}

clf_status clf_place_plan(clf_plan **out, clf_ctx *c, const clf_graph *g, const clf_selector *sel, const clf_exe_ways *ways, clf_places *on,
                          clf_err *err) {
    clf_plan *p;
    if (sel->searches) return search_places(out, c, g, sel, ways, on, err);
    CLF_TRY(plan_for(&p, c, g, sel, NULL, &(clf_places){0}, err));
    clf_status st = clf_place_choose(c, p, ways, on, err);
    if (st == CLF_OK)
        *out = p;
    else
        clf_plan_free(p);
    return st;
}

/* ---- steps ---- */

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
static clf_status keep_tiny_home(clf_ctx *c, clf_exe *x, uint8_t *home, clf_err *err) {
    const clf_plan *p = x->plan;
    uint8_t *wanted = clf_arena_new(&x->arena, (size_t)p->nvalue, 1); /* read by a step on the device */
    if (!wanted) return clf_fail(err, CLF_E_NOMEM, "evaluation: out of memory while preparing the plan");
    for (int32_t s = p->nstep; s-- > 0;) {
        const clf_step *t = &p->step[s];
        double cells = loop_cells(&t->c); /* of a step that makes its cells, too */
        bool needed = false;
        for (int i = 0; i < t->nin; i++) cells += value_cells(&p->value[t->in[i]]);
        for (int i = 0; i < t->nout; i++) {
            cells += value_cells(&p->value[t->out[i]]);
            needed = needed || wanted[t->out[i]];
        }
        bool gemm = clf_gemm_runs(c, p, t, x->device[0]);
        home[s] = (t->kind != CLF_STEP_FUSED && !gemm) || (cells <= TINY_CELLS && !needed);
        for (int i = 0; i < t->nin && !home[s]; i++) wanted[t->in[i]] = 1;
    }
    return CLF_OK;
}

clf_status clf_place_home(clf_ctx *c, clf_exe *x, uint8_t *home, clf_err *err) {
    bool planned = x->plan->ndevice > 1, all = forced_kernels(c) || c->knobs.check;
    for (int32_t s = 0; s < x->plan->nstep; s++) home[s] = planned && !x->plan->step[s].device;
    return planned || all || !x->ndevice ? CLF_OK : keep_tiny_home(c, x, home, err);
}
