/* SPDX-License-Identifier: Apache-2.0
 * A process may end without closing its contexts, while a thread of ours is inside a driver. The driver's own objects are destroyed then,
 * under that thread's feet, and it takes the process down with a message and a signal. So the end waits until every thread is outside, and
 * none enters any more. Handlers of exit run in the reverse order: one is installed before a driver is loaded and one behind it, so that
 * one is always before the driver's; but for the milliseconds in which the loader runs a driver's constructors, nobody is before those. A
 * driver that hangs is not waited for any longer than closing would be worth. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "device/device_internal.h"

enum { MOST_MS = 30000 };

static atomic_int inside;   /* threads in a driver */
static atomic_bool leaving; /* the process ends */

static void wait_outside(void) {
    atomic_store(&leaving, true);
    for (int ms = 0; atomic_load(&inside) > 0 && ms < MOST_MS; ms++) nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

/* A forked child has none of the threads. */
static void forked(void) { atomic_store(&inside, 0); }

static void install(void) { (void)!atexit(wait_outside); }
static void install_first(void) {
    install();
    pthread_atfork(NULL, NULL, forked);
}

void clf_driver_loaded(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, install);
}

bool clf_driver_enter(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, install_first);
    atomic_fetch_add(&inside, 1);
    if (!atomic_load(&leaving)) return true;
    atomic_fetch_sub(&inside, 1);
    return false;
}

void clf_driver_leave(void) { atomic_fetch_sub(&inside, 1); }
