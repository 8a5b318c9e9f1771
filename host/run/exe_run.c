/* SPDX-License-Identifier: Apache-2.0
 * Running a prepared plan; see exe.h for the order of things. The rule that keeps memory right without reference counting in
 * flight: whatever runs on the host first waits for the device, and the device's queue is in order. So a block given back to the
 * pool can only be written again by something that comes later. */
#include <inttypes.h>
#include <string.h>

#include "core/clock.h"
#include "host/run/run.h"
#include "kernels-cl/ref.h"

typedef struct runner {
    clf_ctx *c;
    clf_exe *x;
    clf_slot *slots;
    bool pending; /* the device has work in flight */
} runner;

static clf_status settle(runner *r, clf_err *err) {
    if (!r->pending) return CLF_OK;
    r->pending = false;
    r->c->stats.waits++;
    return clf_dev_wait(r->c->run->devs, r->x->device, err);
}

static clf_status allocate(runner *r, int32_t v, clf_err *err) {
    const clf_plan_value *pv = &r->x->plan->value[v];
    clf_blocks *pool = &r->c->run->blocks;
    clf_buf *b = clf_buf_pooled(pool, ++r->c->next_buf, pv->bytes);
    if (!b && pool->pooled_bytes) { /* make room: pooled blocks may still be in use until the device is idle */
        CLF_TRY(settle(r, err));
        clf_blocks_trim(pool);
        b = clf_buf_pooled(pool, ++r->c->next_buf, pv->bytes);
    }
    if (!b) b = clf_buf_new(&r->c->mem, ++r->c->next_buf, pv->bytes); /* a pooled block is up to an eighth larger */
    if (!b) {
        size_t limit = atomic_load(&r->c->mem.limit_bytes), data = atomic_load(&r->c->mem.data_bytes);
        if (limit)
            return clf_fail(err, CLF_E_NOMEM,
                            "out of memory: %" PRId64 "x%" PRId64 " %s needs %zu bytes, %zu of the budget of %zu are available", pv->rows,
                            pv->cols, clf_dtype_name((clf_dtype)pv->dtype), pv->bytes, limit > data ? limit - data : 0, limit);
        return clf_fail(err, CLF_E_NOMEM, "out of memory: %" PRId64 "x%" PRId64 " %s needs %zu bytes", pv->rows, pv->cols,
                        clf_dtype_name((clf_dtype)pv->dtype), pv->bytes);
    }
    CLF_TRACE(&r->c->trace, mem, "value %%%d: %zu bytes", pv->node, pv->bytes);
    r->x->made[v] = b;
    r->x->value[v] = b->host;
    return CLF_OK;
}

static clf_status gather_operands(runner *r, const clf_step *t, clf_err *err) {
    for (int i = 0; i < t->nout; i++) CLF_TRY(allocate(r, t->out[i], err));
    for (int i = 0; i < t->nin; i++) r->x->in[i] = r->x->value[t->in[i]];
    for (int i = 0; i < t->nout; i++) r->x->out[i] = r->x->value[t->out[i]];
    for (int i = 0; i < t->nparam; i++) {
        const clf_plan_param *p = &t->param[i];
        r->x->param[i] = clf_scalar_to(p->slot >= 0 ? r->slots[p->slot].num : p->imm, (clf_dtype)t->c.param[i]);
    }
    return CLF_OK;
}

static clf_bind bind_of(const clf_exe *x, const clf_exe_step *e) {
    return (clf_bind){.in = x->in, .param = x->param, .out = x->out, .axis_n = e->axis_n, .in_dim = e->in_dim, .out_dim = e->out_dim};
}

static void set_arg(runner *r, const clf_step *t, const clf_exe_step *e, const clf_sched *sched, int i) {
    const clf_arg_desc *d = &e->args[i];
    clf_exe *x = r->x;
    clf_arg *a = &x->arg[i];
    memset(a, 0, sizeof *a);
    switch (d->kind) {
    case CLF_ARG_MEM_IN:
        a->ptr = x->in[d->index];
        a->bytes = x->plan->value[t->in[d->index]].bytes;
        break;
    case CLF_ARG_MEM_OUT:
        a->ptr = x->out[d->index];
        a->bytes = x->plan->value[t->out[d->index]].bytes;
        break;
    case CLF_ARG_SCRATCH:
        a->ptr = (char *)x->scratch + x->counter_bytes;
        a->bytes = x->scratch_bytes;
        break;
    case CLF_ARG_COUNTER:
        a->ptr = x->scratch;
        a->bytes = x->counter_bytes;
        break;
    case CLF_ARG_PARAM:
        a->bytes = clf_dtype_bytes((clf_dtype)d->dtype);
        clf_scalar_store(&a->u, 0, clf_scalar_to(x->param[d->index], (clf_dtype)d->dtype));
        break;
    default: a->bytes = sizeof(int64_t); a->u.i64 = sched->arg[d->index];
    }
}

/* Narrow a memory argument to the rows (or cells) of one part: its address moves up, its base offset, the next argument, down. */
static void rebase(runner *r, const clf_sched *p, const clf_plan_value *v, int64_t lo, int i) {
    bool flat = p->flat;
    size_t each = clf_dtype_bytes((clf_dtype)v->dtype), row = flat ? each : (size_t)v->cols * each;
    clf_arg *a = &r->x->arg[i];
    if (!clf_sched_spans(p, v)) return;
    int64_t n = (int64_t)p->global * p->grain;
    if (lo + n > p->extent) n = p->extent - lo;
    a->ptr = (const char *)a->ptr + (size_t)lo * row;
    a->bytes = (size_t)n * row;
    r->x->arg[i + 1].u.i64 -= lo * (int64_t)(row / each);
}

static clf_status launch_part(runner *r, const clf_step *t, clf_exe_step *e, const clf_sched *p, int64_t lo, clf_err *err) {
    for (int i = 0; i < e->nargs; i++) set_arg(r, t, e, p, i);
    for (int i = 0; i < e->nargs && e->nparts; i++) {
        if (e->args[i].kind == CLF_ARG_MEM_IN) rebase(r, p, &r->x->plan->value[t->in[e->args[i].index]], lo, i);
        if (e->args[i].kind == CLF_ARG_MEM_OUT) rebase(r, p, &r->x->plan->value[t->out[e->args[i].index]], lo, i);
    }
    r->pending = true;
    return clf_launch(r->c->run->devs, r->x->device, e->program, r->x->arg, e->nargs, p->global, p->local, err);
}

static clf_status run_kernel(runner *r, const clf_step *t, clf_exe_step *e, clf_err *err) {
    clf_stats *st = &r->c->stats;
    if (!e->nparts) CLF_TRY(launch_part(r, t, e, &e->sched, 0, err));
    int64_t lo = 0;
    for (int i = 0; i < e->nparts; i++) {
        CLF_TRY(launch_part(r, t, e, &e->part[i], lo, err));
        CLF_TRY(settle(r, err)); /* one part's buffers at a time */
        lo += (int64_t)e->part[i].global * e->part[i].grain;
    }
    uint64_t launches = e->nparts ? (uint64_t)e->nparts : 1;
    if (e->sched.skel->tier == 1)
        st->launches_tier1 += launches;
    else
        st->launches_tier2 += launches;
    if (!strcmp(e->sched.skel->strategy, "chunk"))
        st->launches_chunk += launches;
    else
        st->launches_group += launches;
    return CLF_OK;
}

static clf_status run_host(runner *r, const clf_step *t, clf_exe_step *e, clf_err *err) {
    CLF_TRY(settle(r, err));
    clf_bind b = bind_of(r->x, e);
    clf_host_call call = {r->c, &r->x->plan->g, t->node >= 0 ? &r->x->plan->g.node[t->node] : NULL, t->ta, t->tb, r->x->in, r->x->out[0]};
    clf_stats *st = &r->c->stats;
    switch (e->executor) {
    case CLF_ON_TILE: st->launches_tier0++; return clf_tile_run(e->tile->tile, &b, r->c->run->pool, err);
    case CLF_ON_REF: st->launches_ref++; return clf_ref_run(&t->c, &b, &r->c->mem, err);
    case CLF_ON_PRODUCT: st->launches_library++; return clf_product_run(&call, err);
    default: st->launches_callout++; return clf_callout_run(&call, err);
    }
}

static void drop(runner *r, int32_t v) {
    if (!r->x->made[v]) return;
    clf_buf_unref(r->x->made[v]);
    r->x->made[v] = NULL;
}

/* Intermediates whose last reader this was. Memory that is not from the pool is free for anybody at once: the device must be done. */
static clf_status drop_dead(runner *r, int32_t v, int32_t s, clf_err *err) {
    const clf_buf *b = r->x->made[v];
    if (r->x->plan->value[v].last != s || !b) return CLF_OK;
    if (!b->blocks) CLF_TRY(settle(r, err));
    drop(r, v);
    return CLF_OK;
}

static clf_status release_dead(runner *r, int32_t s, clf_err *err) {
    const clf_step *t = &r->x->plan->step[s];
    for (int i = 0; i < t->nin; i++) CLF_TRY(drop_dead(r, t->in[i], s, err));
    for (int i = 0; i < t->nout; i++) CLF_TRY(drop_dead(r, t->out[i], s, err));
    return CLF_OK;
}

static clf_status run_step(runner *r, int32_t s, bool timed, clf_err *err) {
    const clf_step *t = &r->x->plan->step[s];
    clf_exe_step *e = &r->x->step[s];
    if (timed) CLF_TRY(settle(r, err));
    CLF_TRY(gather_operands(r, t, err));
    uint64_t start = timed ? clf_now_ns() : 0;
    CLF_TRY(e->executor == CLF_ON_KERNEL ? run_kernel(r, t, e, err) : run_host(r, t, e, err));
    if (timed) {
        CLF_TRY(settle(r, err));
        e->measured_ns = (double)(clf_now_ns() - start);
    }
    r->c->stats.bytes_read += (uint64_t)e->read_bytes;
    r->c->stats.bytes_written += (uint64_t)e->write_bytes;
    return release_dead(r, s, err);
}

static clf_status take_results(runner *r, clf_buf **results, clf_err *err) {
    const clf_plan *p = r->x->plan;
    for (int32_t i = 0; i < p->nroot; i++) {
        const clf_plan_value *v = &p->value[p->root[i]];
        clf_buf *b = v->slot >= 0 ? r->slots[v->slot].buf : r->x->made[p->root[i]];
        if (b && !b->borrowed)
            results[i] = clf_buf_ref(b);
        else { /* a number, or the caller's memory, which may change later: results never do */
            results[i] = clf_buf_pooled(&r->c->run->blocks, ++r->c->next_buf, v->bytes);
            if (!results[i]) return clf_fail(err, CLF_E_NOMEM, "out of memory: a result of %zu bytes", v->bytes);
            if (v->bytes) memcpy(results[i]->host, r->slots[v->slot].ptr, v->bytes);
        }
    }
    return CLF_OK;
}

clf_status clf_exe_run(clf_ctx *c, clf_exe *x, clf_slot *slots, bool timed, clf_buf **results, clf_err *err) {
    runner r = {c, x, slots, false};
    const clf_plan *p = x->plan;
    uint64_t start = clf_now_ns();
    if (x->busy) return clf_fail(err, CLF_E_DEVICE, "the device of this plan does not answer");
    for (int32_t v = 0; v < p->nvalue; v++) {
        x->made[v] = NULL;
        x->value[v] = p->value[v].slot >= 0 ? (void *)(uintptr_t)slots[p->value[v].slot].ptr : NULL;
    }
    for (int32_t i = 0; i < p->nroot; i++) results[i] = NULL;
    clf_status st = CLF_OK;
    for (int32_t s = 0; s < p->nstep && st == CLF_OK; s++) st = run_step(&r, s, timed, err);
    if (st == CLF_OK)
        st = settle(&r, err);
    else {
        clf_err later = {CLF_OK, ""};
        settle(&r, &later); /* nothing may be in flight when memory goes back; the first error stands */
    }
    x->busy = st != CLF_OK && clf_dev_busy(c->run->devs, x->device);
    if (x->busy) clf_blocks_withhold(&c->run->blocks); /* what this run used stays where it is, and what it gave back goes nowhere */
    if (st != CLF_OK && x->scratch && !x->busy) memset(x->scratch, 0, x->counter_bytes); /* a half-run grid leaves its counter anywhere */
    if (st == CLF_OK) st = take_results(&r, results, err);
    for (int32_t v = 0; v < p->nvalue && !x->busy; v++) drop(&r, v);
    for (int32_t i = 0; i < p->nroot && st != CLF_OK; i++) {
        clf_buf_unref(results[i]);
        results[i] = NULL;
    }
    x->runs++;
    c->stats.run_ns += clf_now_ns() - start;
    return st;
}
