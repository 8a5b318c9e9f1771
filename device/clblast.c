/* SPDX-License-Identifier: Apache-2.0
 * Products by CLBlast on a device, on its copies of buffers and in its queue. The library is found at run time, so that nothing links
 * against it. Its first product on a device compiles for seconds, and it has failed on drivers that it was not tuned for: so before it gets
 * work, a thread with a queue of its own lets it compile and compares its results with ours (clblast_try.c). Whatever goes wrong there or
 * later, it is not called on that device again.
 *
 * It keeps what it compiles in tables of the process, and a context with it: they are cleared when the devices close. That is all its
 * interface allows; another context of the process that uses it compiles once more. */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "device/device_internal.h"

enum { ROW_MAJOR = 101, NO_TRANS = 111, TRANS = 112 }; /* the values of clblast_c.h */

typedef struct on_device {
    clf_clblast_state state;
    bool joinable;
    pthread_t thread;
    atomic_bool done;
    clf_clblast_trial trial;
    clf_status st;
    clf_err err;
} on_device;

struct clf_clblast {
    void *library; /* NULL: not found */
    clf_clblast_calls calls;
    bool called;
    on_device *dev; /* of each device */
};

/* ---- the library ---- */

static bool symbols(struct clf_clblast *b) {
    union {
        void *sym;
        clf_clblast_sgemm fn;
    } sgemm = {dlsym(b->library, "CLBlastSgemm")};
    union {
        void *sym;
        clf_clblast_dgemm fn;
    } dgemm = {dlsym(b->library, "CLBlastDgemm")};
    union {
        void *sym;
        int (*fn)(void);
    } clear = {dlsym(b->library, "CLBlastClearCache")};
    if (!sgemm.sym || !dgemm.sym || !clear.sym) return false;
    b->calls = (clf_clblast_calls){sgemm.fn, dgemm.fn, clear.fn};
    return true;
}

static void load(struct clf_clblast *b, const char *path) {
    const char *const names[] = {"libclblast.so.1", "libclblast.so"};
    for (size_t i = 0; i < (*path ? 1 : sizeof names / sizeof *names) && !b->library; i++) {
        b->library = dlopen(*path ? path : names[i], RTLD_NOW | RTLD_LOCAL);
        if (b->library && !symbols(b)) {
            dlclose(b->library);
            b->library = NULL;
        }
    }
}

/* NULL: not found, or no memory. */
static struct clf_clblast *loaded(clf_devs *d) {
    if (!d->clblast) {
        struct clf_clblast *b = clf_mem_new(d->mem, 1, sizeof *b);
        if (b) b->dev = clf_mem_new(d->mem, (size_t)d->n, sizeof *b->dev);
        if (!b || !b->dev) {
            clf_mem_free(d->mem, b, 1, sizeof *b);
            return NULL;
        }
        load(b, d->clblast_path);
        d->clblast = b;
    }
    return d->clblast->library ? d->clblast : NULL;
}

bool clf_clblast_found(clf_devs *d) { return d && loaded(d); }

/* ---- warming up ---- */

static void *run(void *arg) {
    on_device *o = arg;
    if (clf_driver_enter()) {
        o->st = clf_clblast_try(&o->trial, &o->err);
        clf_driver_leave();
    } else
        o->st = CLF_E_STATE;
    atomic_store(&o->done, true);
    return NULL;
}

void clf_clblast_begin(clf_devs *d, int dev) {
    sigset_t all, was;
    if (!d || dev < 0 || dev >= d->n || d->own.queue || getpid() != d->pid || !loaded(d)) return;
    on_device *o = &d->clblast->dev[dev];
    if (o->state != CLF_CLBLAST_ABSENT) return;
    o->trial = (clf_clblast_trial){.mem = d->mem, .calls = &d->clblast->calls, .ctx = d->dev[dev].ctx, .id = d->dev[dev].id};
    o->trial.fp64 = d->dev[dev].info.fp64;
    CLF_TRACE(d->log, launch, "CLBlast compiles for %s on another thread", d->dev[dev].info.name);
    d->clblast->called = true;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &was);
    o->joinable = pthread_create(&o->thread, NULL, run, o) == 0;
    pthread_sigmask(SIG_SETMASK, &was, NULL);
    o->state = o->joinable ? CLF_CLBLAST_WARMING : CLF_CLBLAST_REFUSED;
    if (!o->joinable) clf_fail(&o->err, CLF_E_NOMEM, "no thread to try it out");
}

static void refuse(clf_devs *d, int dev) {
    d->clblast->dev[dev].state = CLF_CLBLAST_REFUSED;
    CLF_TRACE(d->log, launch, "CLBlast is not used on %s: %s", d->dev[dev].info.name, d->clblast->dev[dev].err.text);
}

static void end(clf_devs *d, int dev) {
    on_device *o = &d->clblast->dev[dev];
    const double *rate = o->trial.rates.flops_per_s;
    pthread_join(o->thread, NULL);
    o->joinable = false;
    o->state = CLF_CLBLAST_READY;
    if (o->st != CLF_OK)
        refuse(d, dev);
    else
        CLF_TRACE(d->log, launch, "CLBlast is ready on %s: %.0f and %.0f Gflop/s, half of that with %.0f cells, %.0f ns at least",
                  d->dev[dev].info.name, rate[0] * 1e-9, rate[1] * 1e-9, o->trial.rates.half_cells, o->trial.rates.ns);
}

static on_device *asked(const clf_devs *d, int dev) { return d && d->clblast && dev >= 0 && dev < d->n ? &d->clblast->dev[dev] : NULL; }

clf_clblast_state clf_clblast_look(clf_devs *d, int dev, bool wait) {
    on_device *o = asked(d, dev);
    if (!o) return CLF_CLBLAST_ABSENT;
    if (o->joinable && getpid() == d->pid && (wait || atomic_load(&o->done))) end(d, dev);
    return o->state;
}

clf_asked clf_clblast_asked(const clf_devs *d) {
    clf_asked a = {0};
    for (int i = 0; d && d->clblast && i < d->n; i++) {
        a.asked += d->clblast->dev[i].state != CLF_CLBLAST_ABSENT;
        a.built += d->clblast->dev[i].state == CLF_CLBLAST_READY;
        a.failed += d->clblast->dev[i].state == CLF_CLBLAST_REFUSED;
    }
    return a;
}

const clf_clblast_rates *clf_clblast_rates_of(const clf_devs *d, int dev) {
    const on_device *o = asked(d, dev);
    return o && o->state == CLF_CLBLAST_READY ? &o->trial.rates : NULL;
}

void clf_clblast_close(clf_devs *d, bool alive) {
    struct clf_clblast *b = d->clblast;
    if (!b) return;
    for (int i = 0; i < d->n && alive; i++) atomic_store(&b->dev[i].trial.stop, true);
    for (int i = 0; i < d->n && alive; i++)
        if (b->dev[i].joinable) pthread_join(b->dev[i].thread, NULL);
    if (b->called && alive) b->calls.clear();
    if (b->library) dlclose(b->library);
    clf_mem_free(d->mem, b->dev, (size_t)d->n, sizeof *b->dev);
    clf_mem_free(d->mem, b, 1, sizeof *b);
    d->clblast = NULL;
}

/* ---- products ---- */

int clf_clblast_call(const clf_clblast_calls *f, const clf_clblast_product *p, const cl_mem mem[3], cl_command_queue queue,
                     cl_event *event) {
    int ta = p->ta ? TRANS : NO_TRANS, tb = p->tb ? TRANS : NO_TRANS;
    size_t m = (size_t)p->m, n = (size_t)p->n, k = (size_t)p->k, lda = (size_t)p->lda, ldb = (size_t)p->ldb, ldc = (size_t)p->ldc;
    if (p->t == CLF_F64) return f->dgemm(ROW_MAJOR, ta, tb, m, n, k, 1, mem[0], 0, lda, mem[1], 0, ldb, 0, mem[2], 0, ldc, &queue, event);
    return f->sgemm(ROW_MAJOR, ta, tb, m, n, k, 1, mem[0], 0, lda, mem[1], 0, ldb, 0, mem[2], 0, ldc, &queue, event);
}

/* Memory of the host, on a device that takes it by address. A GPU's buffer over it may be a copy: what kernels still do there comes before. */
static clf_status over_host(clf_devs *d, int dev, const clf_arg *const arg[3], cl_mem mem[3], clf_err *err) {
    static const clf_arg_desc kinds[3] = {{.kind = CLF_ARG_MEM_IN}, {.kind = CLF_ARG_MEM_IN}, {.kind = CLF_ARG_MEM_OUT}};
    const clf_program as = {.dev = dev, .nargs = 3, .args = kinds};
    clf_dev *v = &d->dev[dev];
    clf_arg all[3] = {*arg[0], *arg[1], *arg[2]};
    if (v->set_pointer && v->info.kind == CLF_DEV_GPU && v->on_host) CLF_TRY(clf_dev_wait(d, dev, err));
    for (int i = 0; i < 3; i++) {
        if (v->set_pointer) all[i].buf = NULL;
        v->on_host = v->on_host || !all[i].buf;
    }
    CLF_TRY(clf_hostbufs_prepare(d, dev, &as, all, err));
    for (int i = 0; i < 3; i++)
        if (!all[i].buf) CLF_TRY(clf_hostbuf_get(d, v, &all[i], i == 2, &mem[i], err));
    return CLF_OK;
}

static clf_status enqueue(clf_devs *d, int dev, const clf_clblast_product *p, clf_err *err) {
    clf_dev *v = &d->dev[dev];
    const clf_arg *const arg[3] = {&p->a, &p->b, &p->c};
    cl_mem mem[3] = {NULL, NULL, NULL};
    CLF_TRY(over_host(d, dev, arg, mem, err));
    v->mirror_clock++;
    for (int i = 0; i < 3; i++)
        if (!mem[i]) CLF_TRY(clf_mirror_get(d, dev, arg[i], i == 2 ? CLF_ARG_MEM_OUT : CLF_ARG_MEM_IN, &mem[i], err));
    CLF_TRY(clf_copies_join(v, err));
    cl_event *slot = clf_dev_slot(v);
    int rc = clf_clblast_call(&d->clblast->calls, p, mem, v->queue, slot);
    if (rc == CL_SUCCESS) {
        clf_dev_started(v);
        v->ordered = v->started;
        clf_mirrors_written(v);
        d->stats.launches++;
        CLF_TRACE(d->log, launch, "CLBlast on %s: %lld x %lld x %lld", v->info.name, (long long)p->m, (long long)p->k, (long long)p->n);
        return v->set_pointer ? clf_hostbufs_publish(v, err) : CLF_OK;
    }
    clf_status st = clf_cl_fault(rc) == CLF_FAULT_LAUNCH ? CLF_E_DEVICE : clf_cl_check(rc, "CLBlast", v->info.name, NULL);
    clf_fail(err, st, "CLBlast gave %d (%s) for a product of %lld x %lld x %lld", rc, clf_cl_name(rc), (long long)p->m, (long long)p->k,
             (long long)p->n);
    if (clf_cl_fault(rc) == CLF_FAULT_DEVICE_MEMORY || clf_cl_fault(rc) == CLF_FAULT_HOST_MEMORY) return st;
    clf_fail(&d->clblast->dev[dev].err, st, "it gave %d (%s)", rc, clf_cl_name(rc));
    refuse(d, dev);
    return st;
}

clf_status clf_clblast_launch(clf_devs *d, int dev, const clf_clblast_product *p, clf_err *err) {
    clf_dev *v = NULL;
    CLF_TRY(clf_dev_enter(d, dev, &v, err));
    if (!clf_clblast_rates_of(d, dev)) return clf_fail(err, CLF_E_STATE, "CLBlast is not ready on '%s'", v->info.name);
    if (v->busy) return clf_fail(err, CLF_E_DEVICE, "'%s' does not answer: a wait failed before", v->info.name);
    clf_fault was = v->fault;
    clf_status st = enqueue(d, dev, p, err);
    if (st == CLF_OK) return CLF_OK;
    if (p->c.buf) clf_buf_forget(p->c.buf);
    v->fault = was;
    return st;
}
