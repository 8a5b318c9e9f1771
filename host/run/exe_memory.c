/* SPDX-License-Identifier: Apache-2.0
 * Memory of a running plan; see runner.h. Dense values are cells from the pool; sparse ones that a step makes are entries from the pool
 * with the pattern of another value, which their buffer keeps alive whatever becomes of that value. */
#include "host/run/runner.h"

#include <inttypes.h>
#include <string.h>

#include "host/graph/sparse_buf.h"
#include "host/run/run.h"

clf_status clf_runner_settle(clf_runner *r, clf_err *err) {
    uint32_t pending = r->pending;
    clf_status st = CLF_OK;
    if (!pending) return CLF_OK;
    r->pending = 0;
    r->c->stats.waits++;
    for (int i = 0; i < r->x->ndevice; i++) {
        if (!(pending >> i & 1)) continue;
        clf_status one = clf_dev_wait(r->c->run->devs, r->x->device[i], st == CLF_OK ? err : NULL);
        if (st == CLF_OK) st = one;
    }
    return st;
}

static clf_status bring_home(clf_runner *r, int32_t v, bool beside, clf_err *err) {
    const clf_buf *b = clf_runner_buffer(r, v);
    if (!b || !clf_mirror_ahead(b)) return CLF_OK;
    r->pending |= clf_runner_all(r);
    return clf_mirror_home(r->c->run->devs, b, beside, err);
}

clf_status clf_runner_home(clf_runner *r, int32_t v, clf_err *err) { return bring_home(r, v, false, err); }

clf_status clf_runner_operands_home(clf_runner *r, const clf_step *t, clf_err *err) {
    for (int i = 0; i < t->nin; i++) CLF_TRY(clf_runner_home(r, t->in[i], err));
    return CLF_OK;
}

enum { LITTLE = 1 << 16 }; /* bytes that are little where the profile knows of no transfers */

/* Dense results stay where the next call may want them, unless they are so small that a second wait for the device would cost more. With
 * several devices others may want them. */
static bool stays(const clf_runner *r, int32_t v) {
    const clf_buf *b = clf_runner_buffer(r, v);
    if (r->x->ndevice != 1 || !b || b->kind || !clf_mirror_ahead(b) || !strcmp(r->c->knobs.results, "host")) return false;
    const clf_profile *p = clf_run_profile_of(r->c, r->x->device[0]);
    double little = p->transfer_bytes_per_s * 1e-9 * p->launch_sync_ns;
    return (double)b->bytes > (p->zero_copy ? LITTLE : little) || !strcmp(r->c->knobs.results, "all");
}

clf_status clf_runner_finish(clf_runner *r, clf_err *err) {
    const clf_plan *p = r->x->plan;
    for (int32_t i = 0; i < p->nroot; i++)
        if (!stays(r, p->root[i])) CLF_TRY(bring_home(r, p->root[i], true, err));
    CLF_TRY(clf_runner_settle(r, err));
    for (int32_t i = 0; i < p->nroot; i++)
        if (stays(r, p->root[i])) clf_mirror_keep(clf_runner_buffer(r, p->root[i]));
    return CLF_OK;
}

clf_status clf_runner_leaves(clf_runner *r, clf_err *err) {
    const clf_exe *x = r->x;
    for (int32_t v = 0; v < x->plan->nvalue; v++) {
        const clf_buf *b = x->plan->value[v].slot >= 0 ? clf_runner_buffer(r, v) : NULL;
        if (!b || (!b->lost && (!clf_mirror_ahead(b) || (x->ndevice == 1 && clf_mirror_holds(r->c->run->devs, x->device[0], b))))) continue;
        CLF_TRY(clf_run_fetch(r->c, b, err));
    }
    return CLF_OK;
}

/* ---- memory of the values a step makes ---- */

/* The buffer behind a value; NULL for numbers. */
clf_buf *clf_runner_buffer(const clf_runner *r, int32_t v) {
    const clf_plan_value *pv = &r->x->plan->value[v];
    return pv->slot >= 0 ? r->slots[pv->slot].buf : r->x->made[v];
}

/* The value is what b holds. */
void clf_runner_set(clf_runner *r, int32_t v, clf_buf *b) {
    CLF_TRACE(&r->c->trace, mem, "value %%%d: %zu bytes", r->x->plan->value[v].node, b->bytes);
    r->x->made[v] = b;
    r->x->value[v] = b->host;
}

/* Give back what the pool holds, for a second try: its blocks may be in use until the device is idle. */
clf_status clf_runner_make_room(clf_runner *r, bool *some, clf_err *err) {
    *some = r->c->run->blocks.pooled_bytes != 0 || (r->x->flight && r->pending);
    if (!*some) return CLF_OK;
    CLF_TRY(clf_runner_settle(r, err));
    CLF_TRY(clf_flight_drop(r, err));
    clf_blocks_trim(&r->c->run->blocks);
    return CLF_OK;
}

static clf_status no_room(const clf_runner *r, int32_t v, size_t bytes, clf_err *err) {
    const clf_plan_value *pv = &r->x->plan->value[v];
    size_t limit = atomic_load(&r->c->mem.limit_bytes), data = atomic_load(&r->c->mem.data_bytes);
    if (limit)
        return clf_fail(err, CLF_E_NOMEM,
                        "out of memory: %" PRId64 "x%" PRId64 " %s needs %zu bytes, %zu of the budget of %zu are available", pv->rows,
                        pv->cols, clf_dtype_name((clf_dtype)pv->dtype), bytes, limit > data ? limit - data : 0, limit);
    return clf_fail(err, CLF_E_NOMEM, "out of memory: %" PRId64 "x%" PRId64 " %s needs %zu bytes", pv->rows, pv->cols,
                    clf_dtype_name((clf_dtype)pv->dtype), bytes);
}

/* Cells, or for a sparse value the entries of another's pattern. */
static clf_buf *take(clf_runner *r, int32_t v) {
    const clf_plan_value *pv = &r->x->plan->value[v];
    if (pv->format == CLF_CSR) return clf_csr_buf_like(r->c, clf_runner_buffer(r, pv->pattern), (clf_dtype)pv->dtype);
    return clf_buf_pooled(&r->c->run->blocks, ++r->c->next_buf, pv->bytes);
}

static size_t bytes_of(const clf_runner *r, int32_t v) {
    const clf_plan_value *pv = &r->x->plan->value[v];
    if (pv->format != CLF_CSR) return pv->bytes;
    return (size_t)((const clf_csr *)r->x->value[pv->pattern])->nnz * clf_dtype_bytes((clf_dtype)pv->dtype);
}

clf_status clf_runner_allocate(clf_runner *r, int32_t v, clf_err *err) {
    const clf_plan_value *pv = &r->x->plan->value[v];
    bool again = false;
    if (pv->format == CLF_CSR && (pv->pattern < 0 || !clf_runner_buffer(r, pv->pattern)))
        return clf_fail(err, CLF_E_INTERNAL, "the plan's sparse value %d has no pattern", v);
    clf_buf *b = take(r, v);
    if (!b) CLF_TRY(clf_runner_make_room(r, &again, err));
    if (again) b = take(r, v);
    if (!b && pv->format == CLF_DENSE)
        b = clf_buf_new(&r->c->mem, ++r->c->next_buf, pv->bytes); /* a pooled block is up to an eighth larger */
    if (!b) return no_room(r, v, bytes_of(r, v), err);
    clf_runner_set(r, v, b);
    return CLF_OK;
}

/* ---- operands ---- */

/* Where a step writes: all cells, or the entries alone. */
static void *written(const clf_runner *r, int32_t v) {
    void *at = r->x->value[v];
    return r->x->plan->value[v].format == CLF_CSR ? (void *)(uintptr_t)((const clf_csr *)at)->val : at;
}

static const clf_csr *owner_of(const clf_exe *x, const clf_cplan *c, int axis) { return x->in[c->access[c->axis[axis].owner].input]; }

/* Extents over stored entries as the operands have them now. */
static void bind_entries(const clf_exe *x, const clf_cplan *c, clf_exe_step *e) {
    for (int i = 0; i < c->nin; i++) {
        if (c->in[i].format != CLF_CSR) continue;
        const clf_csr *m = x->in[i];
        int64_t *in_dim = e->in_dim + (size_t)i * CLF_MAX_RANK;
        in_dim[0] = m->rows;
        in_dim[1] = m->cols;
    }
    for (int a = 0; a < c->naxes; a++)
        if (c->axis[a].kind == CLF_AXIS_ENTRY) e->axis_n[a] = owner_of(x, c, a)->nnz;
    for (int k = 0; k < c->nsink; k++)
        for (int a = 0; c->sink[k].kind == CLF_SINK_PATTERN && a < c->naxes; a++)
            if (c->sink[k].keep >> a & 1u && c->axis[a].kind == CLF_AXIS_ENTRY)
                e->out_dim[(size_t)c->sink[k].out[0] * CLF_MAX_RANK] = e->axis_n[a];
}

clf_status clf_runner_gather(clf_runner *r, const clf_step *t, clf_exe_step *e, clf_err *err) {
    for (int i = 0; i < t->nin; i++) r->x->in[i] = r->x->value[t->in[i]];
    if (t->kind == CLF_STEP_CONVERT) return CLF_OK; /* it finds its own memory */
    for (int i = 0; i < t->nout; i++) CLF_TRY(clf_runner_allocate(r, t->out[i], err));
    for (int i = 0; i < t->nout; i++) r->x->out[i] = written(r, t->out[i]);
    if (e->sparse) bind_entries(r->x, &t->c, e);
    for (int i = 0; i < t->nparam; i++) {
        const clf_plan_param *p = &t->param[i];
        r->x->param[i] = clf_scalar_to(p->slot >= 0 ? r->slots[p->slot].num : p->imm, (clf_dtype)t->c.param[i]);
    }
    return CLF_OK;
}

/* ---- the end of a step ---- */

void clf_runner_drop(clf_runner *r, int32_t v) {
    if (!r->x->made[v]) return;
    clf_buf_unref(r->x->made[v]);
    r->x->made[v] = NULL;
}

/* Intermediates whose last reader this was. Memory that is not from the pool is free for anybody at once: the device must be done. */
static clf_status drop_dead(clf_runner *r, int32_t v, int32_t s, clf_err *err) {
    const clf_buf *b = r->x->made[v];
    if (r->x->plan->value[v].last != s || !b || clf_flight_keeps(r, v)) return CLF_OK;
    if (!b->blocks) CLF_TRY(clf_runner_settle(r, err));
    clf_runner_drop(r, v);
    return CLF_OK;
}

clf_status clf_runner_release(clf_runner *r, int32_t s, clf_err *err) {
    const clf_step *t = &r->x->plan->step[s];
    for (int i = 0; i < t->nin; i++) CLF_TRY(drop_dead(r, t->in[i], s, err));
    for (int i = 0; i < t->nout; i++) CLF_TRY(drop_dead(r, t->out[i], s, err));
    return clf_flight_drop(r, err);
}

/* ---- results ---- */

/* A number, or the caller's memory (of a pattern, too), which may change later: results never do. */
static clf_buf *copy_result(clf_runner *r, int32_t v) {
    const clf_plan_value *pv = &r->x->plan->value[v];
    if (pv->format == CLF_CSR) return clf_csr_buf_copy(r->c, r->x->value[v]);
    clf_buf *b = clf_buf_pooled(&r->c->run->blocks, ++r->c->next_buf, pv->bytes);
    if (b && pv->bytes) memcpy(b->host, r->x->value[v], pv->bytes);
    return b;
}

clf_status clf_runner_results(clf_runner *r, clf_buf **results, clf_err *err) {
    const clf_plan *p = r->x->plan;
    for (int32_t i = 0; i < p->nroot; i++) {
        clf_buf *b = clf_runner_buffer(r, p->root[i]);
        results[i] = b && clf_buf_stays(b) ? clf_buf_ref(b) : copy_result(r, p->root[i]);
        if (!results[i]) return clf_fail(err, CLF_E_NOMEM, "out of memory: a result of %zu bytes", p->value[p->root[i]].bytes);
    }
    return CLF_OK;
}
