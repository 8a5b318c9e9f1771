/* SPDX-License-Identifier: Apache-2.0
 * Running a prepared plan; see exe.h for the order of things. The rule that keeps memory right without reference counting in
 * flight: whatever runs on the host first waits for what the device still does to the host's memory, and a device's queue is in order.
 * So a block given back to the pool can only be written again by something that comes later; with several devices exe_flight.c sees to it. */
#include <string.h>

#include "core/clock.h"
#include "host/run/convert.h"
#include "host/run/exe_kernels.h"
#include "host/run/exe_trial.h"
#include "host/run/gemm.h"
#include "host/run/meter.h"
#include "host/run/run.h"
#include "host/run/runner.h"
#include "kernels-cl/ref.h"

static clf_bind bind_of(const clf_exe *x, const clf_exe_step *e) {
    return (clf_bind){.in = x->in, .param = x->param, .out = x->out, .axis_n = e->axis_n, .in_dim = e->in_dim, .out_dim = e->out_dim};
}

/* ---- steps on the host ---- */

/* A buffer that the conversion makes itself; a second time when memory is out and the pool has some. */
static clf_status make_converted(clf_runner *r, const clf_conversion *v, int32_t out, clf_err *err) {
    clf_err first = {CLF_OK, ""};
    clf_buf *b = NULL;
    bool again = false;
    clf_status st = clf_convert_make(v, &b, &first);
    if (st == CLF_E_NOMEM) CLF_TRY(clf_runner_make_room(r, &again, err));
    if (again) {
        clf_err_clear(&first);
        st = clf_convert_make(v, &b, &first);
    }
    if (st != CLF_OK) return clf_fail(err, st, "%s", first.text);
    clf_runner_set(r, out, b);
    return CLF_OK;
}

static clf_status run_convert(clf_runner *r, const clf_step *t, clf_err *err) {
    const clf_plan_value *value = r->x->plan->value;
    clf_conversion v = {r->c, (clf_convert)t->convert, &value[t->in[0]], &value[t->out[0]], clf_runner_buffer(r, t->in[0]), r->x->in[0]};
    clf_buf *known = clf_convert_known(&v);
    r->c->stats.launches_convert++;
    if (known)
        clf_runner_set(r, t->out[0], known);
    else if (clf_convert_fills(v.how)) {
        CLF_TRY(clf_runner_allocate(r, t->out[0], err));
        clf_convert_cells(v.in, r->c->run->pool, r->x->value[t->out[0]]);
    } else
        return make_converted(r, &v, t->out[0], err);
    return CLF_OK;
}

static clf_status run_rows(clf_runner *r, clf_exe_step *e, const clf_bind *b, clf_err *err) {
    r->c->stats.launches_tier0++;
    r->c->stats.launches_rows++;
    return clf_rows_run(e->tile->rows, b, r->c->run->pool, err);
}

/* What a step on the host reads is there, and nothing in flight touches memory that it writes. Kernels that neither read from the host's
 * memory nor write to it run on beside it. */
static clf_status await_operands(clf_runner *r, const clf_step *t, clf_err *err) {
    if (r->x->flight) return clf_flight_await(r, t, 0, err);
    CLF_TRY(clf_runner_operands_home(r, t, err));
    return r->x->ndevice && clf_dev_on_host(r->c->run->devs, r->x->device[0]) ? clf_runner_settle(r, err) : CLF_OK;
}

static clf_status run_host(clf_runner *r, const clf_step *t, clf_exe_step *e, clf_err *err) {
    CLF_TRY(await_operands(r, t, err));
    clf_bind b = bind_of(r->x, e);
    const clf_graph *g = &r->x->plan->g;
    clf_host_call call = {.c = r->c,
                          .pool = r->c->run->pool,
                          .mem = &r->c->mem,
                          .g = g,
                          .node = t->node >= 0 ? &g->node[t->node] : NULL,
                          .ta = t->ta,
                          .tb = t->tb,
                          .in = r->x->in,
                          .out = r->x->out[0]};
    clf_stats *st = &r->c->stats;
    st->launches_meanwhile += e->waiting && !clf_trial_hope_ns(e); /* the host is meant to run those */
    switch (e->executor) {
    case CLF_ON_TILE: st->launches_tier0++; return clf_tile_run(e->tile->tile, &b, r->c->run->pool, err);
    case CLF_ON_ROWS: return run_rows(r, e, &b, err);
    case CLF_ON_CONVERT: return run_convert(r, t, err);
    case CLF_ON_REF: st->launches_ref++; return clf_ref_run(&t->c, &b, &r->c->mem, err);
    case CLF_ON_PRODUCT: st->launches_library++; return clf_product_run(&call, err);
    case CLF_ON_ENTRIES: st->launches_library++; return clf_product_entries(&call, err);
    default: st->launches_callout++; return clf_callout_run(&call, err);
    }
}

/* Where the device's library cannot, the host's does, now and in later runs of the plan. */
static clf_status run_clblast(clf_runner *r, const clf_step *t, clf_exe_step *e, clf_err *err) {
    bool refused = false;
    CLF_TRY(clf_gemm_run(r, t, e, &refused, err));
    if (!refused) return CLF_OK;
    e->executor = CLF_ON_PRODUCT;
    e->why = "CLBlast failed on the device";
    return run_host(r, t, e, err);
}

/* Kernels that were scheduled anew may need more. */
static clf_status grow_scratch(clf_runner *r, int on, clf_err *err) {
    clf_exe *x = r->x;
    clf_exe_work *w = &x->work[on - 1];
    if (x->scratch_bytes <= w->held) return CLF_OK;
    CLF_TRY(clf_runner_settle(r, err));
    void *fresh = clf_exe_work_new(r->c, x);
    if (!fresh) return clf_fail(err, CLF_E_NOMEM, "out of memory: %zu bytes of scratch", x->scratch_bytes);
    clf_mem_free(&r->c->mem, w->at, 1, x->counter_bytes + w->held);
    w->at = fresh;
    w->held = x->scratch_bytes;
    return CLF_OK;
}

static clf_status run_step(clf_runner *r, int32_t s, bool timed, clf_err *err) {
    const clf_step *t = &r->x->plan->step[s];
    clf_exe_step *e = &r->x->step[s];
    CLF_TRY(clf_ask_on(&r->c->ask, CLF_STAGE_RUN, "", (uint64_t)s, (uint64_t)r->x->plan->nstep, err));
    const bool tried = clf_trial_turn(r->c, r->x, s);
    timed = timed || tried;
    if (timed) CLF_TRY(clf_runner_settle(r, err));
    CLF_TRY(clf_runner_gather(r, t, e, err));
    if (e->executor == CLF_ON_KERNEL && e->axis) CLF_TRY(clf_exe_reschedule(r->c, r->x, s, err));
    if (e->executor == CLF_ON_KERNEL) CLF_TRY(grow_scratch(r, e->on, err));
    if (clf_exe_splits(e) && e->split->also) CLF_TRY(grow_scratch(r, e->split->also->on, err));
    uint64_t start = timed ? clf_now_ns() - clf_run_built_ns(r->c) : 0; /* compiling is no part of it */
    clf_meter_step(r->c, r->x, s);
    clf_status st = clf_exe_splits(e)               ? clf_split_run(r, t, e, err)
                    : e->executor == CLF_ON_KERNEL  ? clf_runner_kernel(r, t, e, err)
                    : e->executor == CLF_ON_CLBLAST ? run_clblast(r, t, e, err)
                                                    : run_host(r, t, e, err);
    if (st == CLF_OK && timed) st = clf_runner_settle(r, err);
    clf_meter_step_done(r->c, r->x, s);
    CLF_TRY(st);
    if (timed) e->measured_ns = (double)(clf_now_ns() - clf_run_built_ns(r->c) - start);
    if (tried && e->trial) clf_trial_note(r->c, r->x, s, e->measured_ns);
    r->c->stats.bytes_read += (uint64_t)e->read_bytes;
    r->c->stats.bytes_written += (uint64_t)e->write_bytes;
    return clf_runner_release(r, s, err);
}

/* After a failure. Where a device may still be writing, what this run used stays where it is, and what it gave back goes nowhere. */
static void clear_devices(clf_ctx *c, clf_exe *x) {
    for (int i = 0; i < x->ndevice; i++) x->busy = x->busy || clf_dev_busy(c->run->devs, x->device[i]);
    if (x->busy) clf_blocks_withhold(&c->run->blocks);
    for (int i = 0; i < x->ndevice; i++) {
        clf_mirrors_drop(c->run->devs, x->device[i]);                              /* what got there is anybody's guess */
        if (x->work[i].at && !x->busy) memset(x->work[i].at, 0, x->counter_bytes); /* a half-run grid leaves its counter anywhere */
    }
}

clf_status clf_exe_run(clf_ctx *c, clf_exe *x, clf_slot *slots, bool timed, clf_buf **results, clf_err *err) {
    clf_runner r = {c, x, slots, 0};
    const clf_plan *p = x->plan;
    uint64_t start = clf_now_ns(), built = clf_run_built_ns(c);
    if (x->busy) return clf_fail(err, CLF_E_DEVICE, "the device of this plan does not answer");
    clf_meter_enter(c->meter, CLF_PART_EVALUATE);
    timed = timed || c->meter;
    for (int32_t v = 0; v < p->nvalue; v++) {
        x->made[v] = NULL;
        x->value[v] = p->value[v].slot >= 0 ? (void *)(uintptr_t)slots[p->value[v].slot].ptr : NULL;
    }
    for (int32_t i = 0; i < p->nroot; i++) results[i] = NULL;
    clf_flight_begin(x);
    clf_status st = clf_runner_leaves(&r, err);
    for (int32_t s = 0; s < p->nstep && st == CLF_OK; s++) st = run_step(&r, s, timed, err);
    if (st == CLF_OK) st = clf_runner_finish(&r, err);
    if (st != CLF_OK) {
        clf_err later = {CLF_OK, ""};
        clf_runner_settle(&r, &later); /* nothing may be in flight when memory goes back; the first error stands */
    }
    if (st != CLF_OK) clear_devices(c, x);
    if (st == CLF_OK) st = clf_runner_results(&r, results, err);
    for (int32_t v = 0; v < p->nvalue && !x->busy; v++) clf_runner_drop(&r, v);
    for (int32_t i = 0; i < p->nroot && st != CLF_OK; i++) {
        clf_buf_unref(results[i]);
        results[i] = NULL;
    }
    uint64_t took = clf_now_ns() - start - (clf_run_built_ns(c) - built);
    x->runs++;
    x->spent_ns += x->nwaiting ? (double)took : 0;
    c->stats.run_ns += took;
    c->stats.predicted_ns += (uint64_t)x->predicted_ns;
    clf_meter_leave(c->meter);
    return st;
}
