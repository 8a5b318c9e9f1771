/* SPDX-License-Identifier: Apache-2.0
 * Opening devices on a thread of its own: a driver may take a second to start, for the probe's kernel is compiled where nothing is cached.
 * What changes the environment is done before the thread starts. It takes no signals, and neither do the driver's threads that it makes. */
#include <pthread.h>
#include <signal.h>

#include "device/device_internal.h"

struct clf_devs_opening {
    clf_mem *mem;
    clf_devs *devs;
    pthread_t thread;
    clf_status st;
    clf_err err;
    atomic_bool done;
};

static void *run(void *arg) {
    clf_devs_opening *o = arg;
    if (clf_driver_enter()) {
        o->st = clf_devs_look(&o->devs, &o->err);
        clf_driver_leave();
        atomic_store(&o->done, true);
    }
    return NULL;
}

clf_status clf_devs_open_begin(clf_devs_opening **out, const clf_dev_opts *opts, clf_err *err) {
    sigset_t all, was;
    clf_devs_opening *o = clf_mem_new(opts->mem, 1, sizeof *o);
    if (!o) return clf_fail(err, CLF_E_NOMEM, "no memory for opening devices");
    o->mem = opts->mem;
    clf_status st = clf_devs_prepare(&o->devs, opts, err);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &was);
    if (st == CLF_OK && pthread_create(&o->thread, NULL, run, o) != 0) {
        clf_devs_close(o->devs);
        st = clf_fail(err, CLF_E_NOMEM, "no thread for opening devices");
    }
    pthread_sigmask(SIG_SETMASK, &was, NULL);
    if (st == CLF_OK)
        *out = o;
    else
        clf_mem_free(opts->mem, o, 1, sizeof *o);
    return st;
}

bool clf_devs_open_done(const clf_devs_opening *o) { return atomic_load(&o->done); }

clf_status clf_devs_open_end(clf_devs_opening *o, clf_devs **out, clf_err *err) {
    pthread_join(o->thread, NULL);
    clf_status st = o->st;
    if (st == CLF_OK)
        *out = o->devs;
    else
        clf_fail(err, st, "%s", o->err.text);
    clf_mem_free(o->mem, o, 1, sizeof *o);
    return st;
}
