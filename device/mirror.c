/* SPDX-License-Identifier: Apache-2.0
 * Copies of buffers on devices that take no host pointers. A mirror is a cl_mem with what one part of a clf_buf holds in one version (the
 * cells; of a sparse matrix the entries, the offsets and the columns apart). It is made when a launch first names the buffer, stays from
 * call to call, and goes when the buffer changes or dies, or when others need its place: the one used longest ago first, under a budget.
 *
 * What a kernel has written is ahead of the host until somebody there asks (clf_mirror_home, clf_mirror_fetch); what only kernels read in
 * between never comes home. Results may stay, too (clf_mirror_keep): such a mirror goes when its contents have come home, and was waited for.
 * Transfers are enqueued like kernels, and the queue is in order: so memory of a mirror that goes may be the next one's at once (spares, of
 * equal size), and the host's side of a transfer must stay as it is until the next wait.
 * Invariant: every mirror is in the lists of its device and of its buffer, and leaves both together. */
#include <unistd.h>

#include "device/device_internal.h"

static bool alive(const clf_devs *d) { return getpid() == d->pid; }

/* ---- the device's list: the last used first ---- */

static void device_unlink(clf_dev *v, clf_mirror *m) {
    *(m->prev ? &m->prev->next : &v->mirrors) = m->next;
    *(m->next ? &m->next->prev : &v->mirrors_last) = m->prev;
    m->prev = m->next = NULL;
}

static void device_link(clf_dev *v, clf_mirror *m) {
    m->next = v->mirrors;
    *(v->mirrors ? &v->mirrors->prev : &v->mirrors_last) = m;
    v->mirrors = m;
}

static void touch(clf_dev *v, clf_mirror *m) {
    m->used = v->mirror_clock;
    if (v->mirrors == m) return;
    device_unlink(v, m);
    device_link(v, m);
}

/* ---- the buffer's list ---- */

static void buf_unlink(clf_mirror *m) {
    clf_mirror **at = &m->buf->mirrors;
    while (*at != m) at = &(*at)->next_of_buf;
    *at = m->next_of_buf;
    m->next_of_buf = NULL;
    m->buf = NULL;
}

static clf_mirror *find(const clf_devs *d, int dev, const clf_buf *b, int part) {
    for (clf_mirror *m = b->mirrors; m; m = m->next_of_buf)
        if (m->d == d && m->dev == dev && m->part == part) return m;
    return NULL;
}

/* ---- going ---- */

static void release(clf_devs *d, clf_dev *v, clf_mirror *m) {
    if (m->buf) buf_unlink(m);
    device_unlink(v, m);
    if (alive(d)) clReleaseMemObject(m->mem);
    v->mirror_bytes -= m->bytes;
    atomic_fetch_sub(&d->mem->device_bytes, m->bytes);
    clf_mem_free(d->mem, m, 1, sizeof *m);
}

/* Without its buffer a mirror is a spare one, for the next of its size: last in line, so the first to go. */
static void set_aside(clf_mirror *m) {
    clf_dev *v = &m->d->dev[m->dev];
    buf_unlink(m);
    m->ahead = m->kept = false;
    m->used = 0;
    m->ticket = v->ordered;
    device_unlink(v, m);
    m->prev = v->mirrors_last;
    *(v->mirrors_last ? &v->mirrors_last->next : &v->mirrors) = m;
    v->mirrors_last = m;
}

/* clf_buf.forget */
static void forget(clf_buf *b) {
    while (b->mirrors) set_aside(b->mirrors);
}

void clf_mirrors_trim(clf_devs *d) {
    for (int i = 0; d && i < d->n; i++)
        for (clf_mirror *m = d->dev[i].mirrors_last, *prev; m && !m->buf; m = prev) {
            prev = m->prev;
            release(d, &d->dev[i], m);
        }
}

/* ---- transfers ---- */

static void count_home(clf_devs *d, const clf_dev *v, const clf_mirror *m) {
    d->stats.bytes_home += m->bytes;
    CLF_TRACE(d->log, mem, "%zu bytes home from %s", m->bytes, v->info.name);
}

/* beside: while commands behind the one that wrote it still run, if there are any. */
static clf_status bring_home(clf_devs *d, clf_dev *v, clf_mirror *m, bool beside, clf_err *err) {
    cl_event *slot = clf_dev_slot(v);
    if (beside && !m->writing && m->ticket < v->ordered && clf_copies_ready(v, m->ticket))
        CLF_TRY(clf_copies_bring(v, m->mem, m->host, m->bytes, m->ticket, slot, err));
    else {
        CLF_TRY(clf_dev_check(v, clEnqueueReadBuffer(v->queue, m->mem, CL_FALSE, 0, m->bytes, m->host, 0, NULL, slot),
                              "clEnqueueReadBuffer", err));
        clf_dev_started(v);
        v->ordered = v->started;
    }
    v->brought = v->started;
    v->on_host = true;
    v->coming |= m->kept;
    m->ahead = false;
    count_home(d, v, m);
    return CLF_OK;
}

static clf_status send(clf_devs *d, clf_dev *v, const clf_mirror *m, clf_err *err) {
    uint64_t after = m->ticket > v->brought ? m->ticket : v->brought;
    cl_event *slot = clf_dev_slot(v);
    v->on_host = true;
    if (clf_copies_ready(v, after))
        CLF_TRY(clf_copies_send(v, m->mem, m->host, m->bytes, after, slot, err));
    else {
        CLF_TRY(clf_dev_check(v, clEnqueueWriteBuffer(v->queue, m->mem, CL_FALSE, 0, m->bytes, m->host, 0, NULL, slot),
                              "clEnqueueWriteBuffer", err));
        clf_dev_started(v);
        v->ordered = v->started;
    }
    if (m->buf->credit_device == m->dev) m->buf->credit_ps = 0; /* spent */
    d->stats.bytes_sent += m->bytes;
    CLF_TRACE(d->log, mem, "%zu bytes to %s", m->bytes, v->info.name);
    return CLF_OK;
}

clf_status clf_mirror_home(clf_devs *d, const clf_buf *b, bool beside, clf_err *err) {
    for (clf_mirror *m = b->mirrors; m; m = m->next_of_buf)
        if (m->d == d && m->ahead) {
            clf_dev *v = NULL;
            CLF_TRY(clf_dev_enter(d, m->dev, &v, err));
            CLF_TRY(bring_home(d, v, m, beside, err));
        }
    return CLF_OK;
}

/* One mirror, waited for. When that fails it is ahead as it was, for another try. */
static clf_status fetch(clf_devs *d, clf_mirror *m, clf_err *err) {
    clf_dev *v = NULL;
    CLF_TRY(clf_dev_enter(d, m->dev, &v, err));
    CLF_TRY(bring_home(d, v, m, false, err));
    clf_status st = clf_dev_wait(d, m->dev, err);
    m->ahead = st != CLF_OK;
    return st;
}

clf_status clf_mirror_fetch(clf_devs *d, const clf_buf *b, clf_err *err) {
    if (b->lost)
        return clf_fail(err, CLF_E_DEVICE, "a result stayed on a device that failed before it was read: it has to be computed again");
    for (clf_mirror *m = b->mirrors; m; m = m->next_of_buf)
        if (m->d == d && m->ahead) CLF_TRY(fetch(d, m, err));
    return CLF_OK;
}

void clf_mirror_keep(const clf_buf *b) {
    for (clf_mirror *m = b->mirrors; m; m = m->next_of_buf) m->kept = m->ahead;
}

/* What a device has alone comes home if it still answers. */
void clf_mirrors_drop(clf_devs *d, int dev) {
    if (!d || dev < 0 || dev >= d->n) return;
    for (clf_mirror *m; (m = d->dev[dev].mirrors);) {
        if (m->kept && (!alive(d) || d->dev[dev].busy || fetch(d, m, NULL) != CLF_OK)) m->buf->lost = true;
        release(d, &d->dev[dev], m);
    }
}

void clf_mirrors_came(clf_dev *v) {
    for (clf_mirror *m = v->coming ? v->mirrors : NULL; m; m = m->next) m->kept = m->kept && m->ahead;
    v->coming = false;
}

bool clf_mirror_ahead(const clf_buf *b) {
    for (const clf_mirror *m = b->mirrors; m; m = m->next_of_buf)
        if (m->ahead) return true;
    return false;
}

bool clf_mirror_holds(const clf_devs *d, int dev, const clf_buf *b) {
    const clf_mirror *m = d ? find(d, dev, b, CLF_PART_CELLS) : NULL;
    return m && m->version == atomic_load(&b->version);
}

/* ---- finding room ---- */

/* The last in line that this launch does not use. */
static clf_mirror *victim(const clf_dev *v) {
    clf_mirror *m = v->mirrors_last;
    while (m && m->used == v->mirror_clock) m = m->prev;
    return m;
}

/* While a launch is prepared clf_dev_wait would take away what it has prepared, so the queue alone is waited for, and asked how the transfer
 * ended. */
static clf_status bring_kept(clf_devs *d, clf_dev *v, clf_mirror *m, clf_err *err) {
    cl_event done = NULL;
    cl_int status = CL_COMPLETE;
    CLF_TRY(clf_dev_check(v, clEnqueueReadBuffer(v->queue, m->mem, CL_FALSE, 0, m->bytes, m->host, 0, NULL, &done), "clEnqueueReadBuffer",
                          err));
    clf_status st = clf_dev_check(v, clFinish(v->queue), "clFinish", err);
    cl_int rc = clGetEventInfo(done, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL);
    clReleaseEvent(done);
    if (st == CLF_OK) st = clf_dev_check(v, rc != CL_SUCCESS ? rc : status < 0 ? status : CL_SUCCESS, "a transfer", err);
    if (st != CLF_OK) return st;
    m->ahead = m->kept = false;
    count_home(d, v, m);
    return CLF_OK;
}

static clf_status evict(clf_devs *d, int dev, clf_mirror *m, clf_err *err) {
    if (m->kept)
        CLF_TRY(bring_kept(d, &d->dev[dev], m, err));
    else if (m->ahead)
        CLF_TRY(bring_home(d, &d->dev[dev], m, false, err));
    if (m->buf) d->stats.evictions++;
    release(d, &d->dev[dev], m);
    return CLF_OK;
}

static clf_status make_room(clf_devs *d, int dev, size_t bytes, clf_err *err) {
    clf_dev *v = &d->dev[dev];
    clf_mirror *m;
    while (bytes > v->mirror_limit - v->mirror_bytes && (m = victim(v))) CLF_TRY(evict(d, dev, m, err));
    if (bytes <= v->mirror_limit - v->mirror_bytes) return CLF_OK;
    clf_dev_note(v, CLF_FAULT_DEVICE_MEMORY);
    return clf_fail(err, CLF_E_LIMIT, "%zu bytes more are over the budget of '%s', %zu bytes, of which %zu are in use", bytes, v->info.name,
                    v->mirror_limit, v->mirror_bytes);
}

/* idle: no command in flight uses it. */
static clf_mirror *spare(const clf_dev *v, size_t bytes, bool idle) {
    for (clf_mirror *m = v->mirrors_last; m && !m->buf; m = m->prev)
        if (m->bytes == bytes && (!idle || m->ticket <= v->ended)) return m;
    return NULL;
}

/* What is sent beside kernels has memory that none of them uses, while there is some. */
static clf_mirror *take_spare(const clf_dev *v, size_t bytes, bool sent) {
    clf_mirror *m = spare(v, bytes, sent && v->copies);
    bool room = bytes <= v->mirror_limit - v->mirror_bytes;
    return m || room ? m : spare(v, bytes, false);
}

/* The device may be short of memory below the budget: others go, and what they held is free once all that was enqueued has ended. */
static clf_status create(clf_devs *d, int dev, size_t bytes, cl_mem *out, clf_err *err) {
    clf_dev *v = &d->dev[dev];
    cl_int rc;
    *out = clCreateBuffer(v->ctx, CL_MEM_READ_WRITE, bytes, NULL, &rc);
    if (!*out && clf_cl_fault(rc) == CLF_FAULT_DEVICE_MEMORY && victim(v)) {
        for (clf_mirror *m; (m = victim(v));) CLF_TRY(evict(d, dev, m, err));
        CLF_TRY(clf_dev_check(v, clFinish(v->queue), "clFinish", err));
        *out = clCreateBuffer(v->ctx, CL_MEM_READ_WRITE, bytes, NULL, &rc);
    }
    return *out ? CLF_OK : clf_dev_check(v, rc == CL_SUCCESS ? CL_OUT_OF_RESOURCES : rc, "clCreateBuffer", err);
}

static clf_status new_mirror(clf_devs *d, int dev, size_t bytes, clf_mirror **out, clf_err *err) {
    clf_dev *v = &d->dev[dev];
    clf_mirror *m;
    cl_mem mem = NULL;
    CLF_TRY(make_room(d, dev, bytes, err));
    CLF_TRY(create(d, dev, bytes, &mem, err));
    m = clf_mem_new(d->mem, 1, sizeof *m);
    if (!m) {
        clReleaseMemObject(mem);
        return clf_fail(err, CLF_E_NOMEM, "no memory for the list of copies on '%s'", v->info.name);
    }
    *m = (clf_mirror){.mem = mem, .bytes = bytes, .d = d, .dev = dev};
    device_link(v, m);
    v->mirror_bytes += bytes;
    atomic_fetch_add(&d->mem->device_bytes, bytes);
    *out = m;
    return CLF_OK;
}

static clf_status check_size(clf_dev *v, size_t bytes, clf_err *err) {
    if (bytes <= v->info.max_alloc_bytes) return CLF_OK;
    clf_dev_note(v, CLF_FAULT_DEVICE_MEMORY);
    return clf_fail(err, CLF_E_LIMIT, "an argument of %zu bytes is over the largest allocation of '%s', %llu bytes", bytes, v->info.name,
                    (unsigned long long)v->info.max_alloc_bytes);
}

/* A mirror of this part with nothing in it; sent: it is filled by the host. */
static clf_status attach(clf_devs *d, int dev, const clf_arg *a, bool sent, clf_mirror **out, clf_err *err) {
    clf_dev *v = &d->dev[dev];
    CLF_TRY(check_size(v, a->bytes, err));
    clf_mirror *m = take_spare(v, a->bytes, sent);
    if (!m) CLF_TRY(new_mirror(d, dev, a->bytes, &m, err));
    union {
        const void *in;
        void *out;
    } p = {a->ptr}; /* written only where a kernel wrote its mirror */
    m->host = p.out;
    m->part = a->part;
    m->version = atomic_load(&a->buf->version);
    m->buf = a->buf;
    m->next_of_buf = a->buf->mirrors;
    a->buf->mirrors = m;
    a->buf->forget = forget;
    touch(v, m);
    *out = m;
    return CLF_OK;
}

/* What another device has newer than the host. */
static clf_status gather(clf_devs *d, int dev, const clf_buf *b, clf_err *err) {
    for (clf_mirror *m = b->mirrors; m; m = m->next_of_buf) {
        if (m->d != d || m->dev == dev || !m->ahead) continue;
        CLF_TRY(bring_home(d, &d->dev[m->dev], m, false, err));
        CLF_TRY(clf_dev_wait(d, m->dev, err));
    }
    return CLF_OK;
}

clf_status clf_mirror_get(clf_devs *d, int dev, const clf_arg *a, clf_arg_kind kind, cl_mem *out, clf_err *err) {
    clf_dev *v = &d->dev[dev];
    bool result = kind == CLF_ARG_MEM_OUT, filled = result || kind == CLF_ARG_SCRATCH; /* by kernels */
    clf_mirror *m = find(d, dev, a->buf, a->part);
    if (m && (m->host != a->ptr || m->bytes != a->bytes || m->version != atomic_load(&a->buf->version))) {
        set_aside(m);
        m = NULL;
    }
    if (!m) {
        if (!filled) CLF_TRY(gather(d, dev, a->buf, err));
        CLF_TRY(attach(d, dev, a, !filled, &m, err));
        clf_status st = filled ? CLF_OK : send(d, v, m, err);
        if (st != CLF_OK) {
            set_aside(m);
            return st;
        }
    }
    touch(v, m);
    m->ahead = m->ahead || result;
    m->writing = result;
    *out = m->mem;
    return CLF_OK;
}

/* What a launch uses is first in line. */
void clf_mirrors_written(clf_dev *v) {
    for (clf_mirror *m = v->mirrors; m && m->used == v->mirror_clock; m = m->next)
        if (m->writing) {
            m->ticket = v->started;
            m->writing = false;
        }
}
