/* SPDX-License-Identifier: Apache-2.0
 * A step's kernels, launched: arguments as the kernel was written to have them, of all of its grid or of a part, and what counts them. */
#include <string.h>

#include "core/clock.h"
#include "host/graph/sparse_buf.h"
#include "host/run/exe_kernels.h"
#include "host/run/run.h"
#include "host/run/runner.h"

static void set_csr_arg(const clf_csr *m, int kind, clf_arg *a) {
    a->ptr = kind == CLF_ARG_CSR_PTR ? (const void *)m->ptr : kind == CLF_ARG_CSR_IDX ? (const void *)m->idx : m->val;
    a->bytes = kind == CLF_ARG_CSR_PTR   ? ((size_t)m->rows + 1) * sizeof *m->ptr
               : kind == CLF_ARG_CSR_IDX ? (size_t)m->nnz * sizeof *m->idx
                                         : (size_t)m->nnz * clf_dtype_bytes((clf_dtype)m->dtype);
}

/* Whose contents a sparse argument is: those of a pattern may be another buffer's. */
static void name_csr_arg(clf_buf *b, int kind, clf_arg *a) {
    bool entries = kind != CLF_ARG_CSR_PTR && kind != CLF_ARG_CSR_IDX;
    a->buf = b && !entries ? clf_csr_buf_pattern(b) : b;
    a->part = entries ? CLF_PART_CELLS : kind == CLF_ARG_CSR_PTR ? CLF_PART_PTR : CLF_PART_IDX;
}

static void set_memory(const clf_runner *r, int32_t v, int kind, clf_arg *a) {
    const clf_exe *x = r->x;
    if (x->plan->value[v].format == CLF_CSR) {
        set_csr_arg(x->value[v], kind, a);
        name_csr_arg(clf_runner_buffer(r, v), kind, a);
        return;
    }
    a->ptr = x->value[v];
    a->bytes = x->plan->value[v].bytes;
    a->buf = clf_runner_buffer(r, v);
}

/* A generic kernel has room for more operands than this step has. */
static bool has_operand(const clf_step *t, const clf_arg_desc *d) {
    switch (d->kind) {
    case CLF_ARG_MEM_IN: return d->index < t->nin;
    case CLF_ARG_MEM_OUT: return d->index < t->nout;
    case CLF_ARG_PARAM: return d->index < t->nparam;
    default: return true;
    }
}

static void set_arg(clf_runner *r, const clf_step *t, int on, const clf_arg_desc *d, const clf_sched *sched, int i) {
    clf_exe *x = r->x;
    clf_exe_work *w = &x->work[on - 1];
    clf_arg *a = &x->arg[i];
    memset(a, 0, sizeof *a);
    if (!has_operand(t, d)) return; /* memory of no bytes, or 0 */
    switch (d->kind) {
    case CLF_ARG_MEM_IN:
    case CLF_ARG_CSR_PTR:
    case CLF_ARG_CSR_IDX: set_memory(r, t->in[d->index], d->kind, a); break;
    case CLF_ARG_MEM_OUT: set_memory(r, t->out[d->index], d->kind, a); break;
    case CLF_ARG_SCRATCH:
        a->ptr = (char *)w->at + x->counter_bytes;
        a->bytes = x->scratch_bytes;
        a->buf = &w->name;
        break;
    case CLF_ARG_COUNTER:
        a->ptr = w->at;
        a->bytes = x->counter_bytes;
        a->buf = &w->counter;
        break;
    case CLF_ARG_PARAM:
        a->bytes = clf_dtype_bytes((clf_dtype)d->dtype);
        clf_scalar_store(&a->u, 0, clf_scalar_to(x->param[d->index], (clf_dtype)d->dtype));
        break;
    default: a->bytes = sizeof(int64_t); a->u.i64 = sched->arg[d->index];
    }
}

/* Narrow a memory argument to n elements from lo on: its address moves up, its base offset, the next argument, down. */
static void narrow(clf_exe *x, int i, int64_t lo, int64_t n, size_t each) {
    clf_arg *a = &x->arg[i];
    a->ptr = (const char *)a->ptr + (size_t)lo * each;
    a->bytes = (size_t)n * each;
    x->arg[i + 1].u.i64 -= lo;
}

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* To the rows (or cells) of a part, or to its stored entries. */
static void rebase(clf_runner *r, const clf_step *t, const clf_runner_job *k, int operand, int i) {
    const clf_plan_value *v = &r->x->plan->value[operand < t->nin ? t->in[operand] : t->out[operand - t->nin]];
    size_t each = clf_dtype_bytes((clf_dtype)v->dtype);
    int64_t row = k->sched->flat ? 1 : v->cols;
    if (operand >= t->nin && v->format == CLF_CSR)
        narrow(r->x, i, k->entry, least(k->entries, (int64_t)(r->x->arg[i].bytes / each) - k->entry), each);
    else if (clf_step_spans(r->x->plan, t, k->sched, operand))
        narrow(r->x, i, k->lo * row, least(k->n, k->sched->extent - k->lo) * row, each);
}

/* Beside others: what the device has, or needs all of: sparse operands, too. */
static bool stays(const clf_runner *r, const clf_step *t, const clf_runner_job *k, int i) {
    const clf_buf *b = r->x->arg[i].buf;
    bool pattern = k->args[i].kind == CLF_ARG_CSR_PTR || k->args[i].kind == CLF_ARG_CSR_IDX;
    if (k->what != CLF_LAUNCH_BESIDE || (k->args[i].kind != CLF_ARG_MEM_IN && !pattern) || !b) return false;
    return pattern || !clf_step_spans(r->x->plan, t, k->sched, k->args[i].index) ||
           clf_mirror_holds(r->c->run->devs, r->x->device[k->on - 1], b);
}

clf_status clf_runner_launch(clf_runner *r, const clf_step *t, const clf_runner_job *k, clf_err *err) {
    const clf_sched *p = k->sched;
    for (int i = 0; i < k->nargs; i++) set_arg(r, t, k->on, &k->args[i], p, i);
    for (int i = 0; i < k->nargs && k->what != CLF_LAUNCH_ALL; i++) {
        if (stays(r, t, k, i)) continue;
        r->x->arg[i].buf = NULL; /* parts of a buffer are not kept */
        if (k->what == CLF_LAUNCH_BESIDE && k->args[i].kind == CLF_ARG_SCRATCH) r->x->arg[i].bytes = p->scratch_bytes; /* no more is sent */
        if (!has_operand(t, &k->args[i])) continue;
        if (k->args[i].kind == CLF_ARG_MEM_IN) rebase(r, t, k, k->args[i].index, i);
        if (k->args[i].kind == CLF_ARG_MEM_OUT) rebase(r, t, k, t->nin + k->args[i].index, i);
    }
    r->pending |= 1u << (k->on - 1);
    return clf_launch(r->c->run->devs, r->x->device[k->on - 1], k->program, r->x->arg, k->nargs, p->global, p->local, err);
}

static clf_runner_job job_of(const clf_exe_step *e) {
    return (clf_runner_job){.on = e->on, .program = e->program, .args = e->args, .nargs = e->nargs, .sched = &e->sched};
}

/* A first launch on which the driver compiles: what it takes beyond the prediction counts as compiling. */
static clf_status launch_first(clf_runner *r, const clf_step *t, const clf_exe_step *e, const clf_runner_job *k, clf_err *err) {
    clf_devs *devs = r->c->run->devs;
    int dev = clf_exe_device(r->x, e);
    uint64_t start = clf_now_ns(), run = (uint64_t)e->predicted_ns;
    CLF_TRY(clf_runner_launch(r, t, k, err));
    CLF_TRY(clf_dev_await(devs, dev, clf_dev_ticket(devs, dev), err));
    uint64_t took = clf_now_ns() - start;
    if (took > run) r->c->stats.build_ns += took - run;
    return CLF_OK;
}

/* Operands as the host, or a kernel that takes parts of them, sees them. */
static clf_status bring_home(clf_runner *r, const clf_step *t, clf_err *err) {
    CLF_TRY(clf_runner_operands_home(r, t, err));
    return clf_runner_settle(r, err);
}

static clf_status launch_merge(clf_runner *r, const clf_step *t, const clf_exe_step *e, clf_err *err) {
    const clf_exe_merge *m = e->merge;
    for (int i = 0; i < m->nargs; i++) {
        set_arg(r, t, e->on, &m->args[i], &m->sched, i);
        if (e->nparts) r->x->arg[i].buf = NULL; /* what the parts left is on the host */
    }
    r->pending |= 1u << (e->on - 1);
    return clf_launch(r->c->run->devs, clf_exe_device(r->x, e), m->program, r->x->arg, m->nargs, m->sched.global, m->sched.local, err);
}

clf_status clf_runner_kernel(clf_runner *r, const clf_step *t, clf_exe_step *e, clf_err *err) {
    clf_stats *st = &r->c->stats;
    clf_runner_job k = job_of(e);
    CLF_TRY(clf_flight_await(r, t, e->on, err));
    if (!e->nparts && clf_program_compiles_on(r->c->run->devs, e->program))
        CLF_TRY(launch_first(r, t, e, &k, err));
    else if (!e->nparts)
        CLF_TRY(clf_runner_launch(r, t, &k, err));
    if (e->nparts) CLF_TRY(bring_home(r, t, err));
    k.what = CLF_LAUNCH_PART;
    for (int i = 0; i < e->nparts; i++) {
        k.sched = &e->part[i];
        k.n = clf_sched_positions(k.sched);
        CLF_TRY(clf_runner_launch(r, t, &k, err));
        CLF_TRY(clf_runner_settle(r, err)); /* one part's buffers at a time */
        k.lo += k.n;
    }
    if (e->merge) CLF_TRY(launch_merge(r, t, e, err));
    uint64_t launches = (e->nparts ? (uint64_t)e->nparts : 1) + (e->merge != NULL);
    if (e->sched.skel->tier == 1)
        st->launches_tier1 += launches;
    else
        st->launches_tier2 += launches;
    if (!strcmp(e->sched.skel->strategy, "chunk"))
        st->launches_chunk += launches;
    else if (!strcmp(e->sched.skel->strategy, "group"))
        st->launches_group += launches;
    return clf_flight_started(r, t, e->on, err);
}
