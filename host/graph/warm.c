/* SPDX-License-Identifier: Apache-2.0
 * Seeing and steering what is compiled in the background. Kernels that have come are counted here as if an evaluation had taken them in. */
#include <time.h>

#include "core/clock.h"
#include "host/run/run.h"

enum { SLICE_MS = 20 };

static void progress(clf_ctx *c, clf_compiling *out) {
    clf_asked a;
    if (clf_ctx_usable(c, NULL) == CLF_OK) clf_run_news(c);
    a = clf_programs_asked(c->run->devs);
    clf_asked b = clf_clblast_asked(c->run->devs);
    out->asked = a.asked + b.asked;
    out->built = a.built + b.built;
    out->failed = a.failed + b.failed;
    out->cancelled = a.cancelled;
    out->waiting = out->asked - out->built - out->failed - out->cancelled;
}

clf_status clf_compile_progress(clf_ctx *c, clf_compiling *out) {
    if (!c || !out || out->struct_size < sizeof *out) return CLF_E_ARG;
    clf_ctx_lock(c);
    progress(c, out);
    clf_ctx_unlock(c);
    return CLF_OK;
}

bool clf_compile_wait(clf_ctx *c, int64_t ms) {
    if (!c) return false;
    uint64_t start = clf_now_ns();
    for (;;) {
        clf_compiling now;
        clf_ctx_lock(c);
        progress(c, &now);
        int64_t left = ms - (int64_t)((clf_now_ns() - start) / 1000000u);
        bool waiting = now.waiting || clf_programs_asked(c->run->devs).fetching;
        bool idle = waiting && left > 0 && clf_programs_await(c->run->devs, left < SLICE_MS ? (int)left : SLICE_MS);
        clf_ctx_unlock(c);
        if (!waiting || left <= 0) return !waiting;
        if (idle) nanosleep(&(struct timespec){0, 1000000}, NULL); /* no kernel, but CLBlast */
    }
}

void clf_compile_cancel(clf_ctx *c) {
    if (!c) return;
    clf_ctx_lock(c);
    if (clf_ctx_usable(c, NULL) == CLF_OK) clf_programs_cancel(c->run->devs);
    clf_ctx_unlock(c);
}
