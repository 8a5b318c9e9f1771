/* SPDX-License-Identifier: Apache-2.0
 * Plans over several OpenCL devices while they run. Each device has an in-order queue, and the host's thread walks the steps: it waits for
 * one command of a device (clf_dev_await) only where a step elsewhere reads what that command leaves, so what does not depend on each
 * other goes on side by side, kernels beside transfers of another device and beside steps on the host.
 *
 * For every value and device the number of the last command that uses the value's memory on the host is noted. Memory goes back to the
 * pool when all of these have ended: with several queues nothing else tells that a block may be written again. What waits for that is
 * bounded by the plan's own need. Invariant: a block of the pool is used by no command in flight. */
#include <string.h>

#include "host/run/run.h"
#include "host/run/runner.h"

typedef struct clf_flight {
    uint64_t *used;  /* value, device -> number of the last command that uses its memory; 0: none in this run */
    uint8_t *maker;  /* value -> who made it, as clf_exe_step.on; 0: the host, or nobody yet */
    uint8_t *wanted; /* value -> WANTED: read on another device than it is made on, or by the caller; LATE: one of those */
    int32_t *late;   /* values that are read by nobody any more, */
    int32_t nlate;   /* and how many */
    size_t late_bytes;
} clf_flight;

enum { WANTED = 1, LATE = 2 }; /* flags of `wanted` */

static bool several(const clf_exe *x) { return x->ndevice > 1; }

static uint64_t *used_by(const clf_exe *x, int32_t v, int on) { return &x->flight->used[(size_t)v * (size_t)x->ndevice + (size_t)on - 1]; }

static int place_of(const clf_exe_step *e) { return clf_exe_on_device(e) ? e->on : 0; }

/* ---- what is known before a run; kernels that come later change it ---- */

clf_status clf_flight_new(clf_exe *x, clf_err *err) {
    size_t n = (size_t)x->plan->nvalue;
    if (!several(x) || x->flight) return CLF_OK;
    clf_flight *f = clf_arena_new(&x->arena, 1, sizeof *f);
    if (f) f->used = clf_arena_new(&x->arena, n * (size_t)x->ndevice, sizeof *f->used);
    if (f) f->maker = clf_arena_new(&x->arena, n, sizeof *f->maker);
    if (f) f->wanted = clf_arena_new(&x->arena, n, sizeof *f->wanted);
    if (f) f->late = clf_arena_new(&x->arena, n, sizeof *f->late);
    if (!f || !f->used || !f->maker || !f->wanted || !f->late)
        return clf_fail(err, CLF_E_NOMEM, "evaluation: out of memory while preparing the plan");
    x->flight = f;
    return CLF_OK;
}

static void find_wanted(clf_exe *x) {
    const clf_plan *p = x->plan;
    memset(x->flight->wanted, 0, (size_t)p->nvalue);
    for (int32_t s = 0; s < p->nstep; s++)
        for (int i = 0; i < p->step[s].nin; i++) {
            int32_t v = p->step[s].in[i], made = p->value[v].made;
            if (made >= 0 && place_of(&x->step[made]) != place_of(&x->step[s])) x->flight->wanted[v] |= WANTED;
        }
    for (int32_t i = 0; i < p->nroot; i++) x->flight->wanted[p->root[i]] |= WANTED;
}

void clf_flight_begin(clf_exe *x) {
    size_t n = (size_t)x->plan->nvalue;
    if (!several(x)) return;
    memset(x->flight->used, 0, n * (size_t)x->ndevice * sizeof *x->flight->used);
    memset(x->flight->maker, 0, n);
    x->flight->nlate = 0;
    x->flight->late_bytes = 0;
    find_wanted(x);
}

/* ---- steps ---- */

/* The memory of a value on the host is used by what is enqueued so far. */
static void note(const clf_runner *r, int32_t v, int on) { *used_by(r->x, v, on) = clf_dev_ticket(r->c->run->devs, r->x->device[on - 1]); }

static clf_status bring(clf_runner *r, int32_t v, int on, clf_err *err) {
    const clf_buf *b = clf_runner_buffer(r, v);
    if (!b) return CLF_OK;
    if (clf_mirror_ahead(b))
        CLF_TRY(clf_runner_home(r, v, err));
    else if (r->x->flight->wanted[v] & WANTED)
        return CLF_OK; /* noted when it was sent; another may have been evicted, later than its last step */
    note(r, v, on);
    return CLF_OK;
}

clf_status clf_flight_await(clf_runner *r, const clf_step *t, int on, clf_err *err) {
    const clf_exe *x = r->x;
    for (int i = 0; i < t->nin && several(x); i++) {
        int32_t v = t->in[i];
        int maker = x->flight->maker[v];
        if (!maker || maker == on) continue;
        CLF_TRY(bring(r, v, maker, err));
        CLF_TRY(clf_dev_await(r->c->run->devs, x->device[maker - 1], *used_by(x, v, maker), err));
    }
    return CLF_OK;
}

clf_status clf_flight_started(clf_runner *r, const clf_step *t, int on, clf_err *err) {
    const clf_exe *x = r->x;
    if (!several(x)) return CLF_OK;
    for (int i = 0; i < t->nin; i++) note(r, t->in[i], on);
    for (int i = 0; i < t->nout; i++) {
        x->flight->maker[t->out[i]] = (uint8_t)on;
        note(r, t->out[i], on);
        if (x->flight->wanted[t->out[i]] & WANTED) CLF_TRY(bring(r, t->out[i], on, err));
    }
    return clf_dev_flush(r->c->run->devs, x->device[on - 1], err);
}

/* ---- memory ---- */

static bool in_flight(const clf_runner *r, int32_t v) {
    const clf_exe *x = r->x;
    for (int on = 1; on <= x->ndevice; on++)
        if (*used_by(x, v, on) > clf_dev_ended(r->c->run->devs, x->device[on - 1])) return true;
    return false;
}

bool clf_flight_keeps(clf_runner *r, int32_t v) {
    clf_flight *f = r->x->flight;
    if (!several(r->x) || !in_flight(r, v)) return false;
    if (f->wanted[v] & LATE) return true; /* an operand twice */
    f->wanted[v] |= LATE;
    if (clf_mirror_ahead(r->x->made[v])) clf_buf_forget(r->x->made[v]); /* nobody reads it: no copy of it comes home */
    f->late[f->nlate++] = v;
    f->late_bytes += r->x->plan->value[v].bytes;
    return true;
}

clf_status clf_flight_drop(clf_runner *r, clf_err *err) {
    clf_flight *f = r->x->flight;
    int32_t kept = 0;
    if (!several(r->x) || !f->nlate) return CLF_OK;
    if (f->late_bytes > r->x->plan->peak_bytes) CLF_TRY(clf_runner_settle(r, err));
    for (int32_t i = 0; i < f->nlate; i++) {
        int32_t v = f->late[i];
        if (in_flight(r, v)) {
            f->late[kept++] = v;
            continue;
        }
        f->late_bytes -= r->x->plan->value[v].bytes;
        clf_runner_drop(r, v);
    }
    f->nlate = kept;
    return CLF_OK;
}
