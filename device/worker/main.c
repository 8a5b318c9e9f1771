/* SPDX-License-Identifier: Apache-2.0
 * The program clfuse-worker, started by the library (device/worker.c): builds kernels for another process, so that a compiler that crashes,
 * hangs or stalls its device does so here. Messages come on standard input and go to standard output; a driver that prints must not come
 * between them, so its output goes with the errors. What it does has no hurry: the process that asks goes first. */
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "device/worker/serve.h"

enum { NICE = 5 };

int main(int argc, char **argv) {
    (void)argv;
    if (argc > 1 || isatty(0)) {
        fputs("clfuse-worker is started by the clfuse library; it takes no arguments\n", stderr);
        return 2;
    }
    int out = dup(1);
    if (out < 0 || dup2(2, 1) < 0) return 1;
    setpriority(PRIO_PROCESS, 0, NICE);
    return clf_worker_serve(0, out, &(clf_serve_opts){CLF_SERVE_RIGHT, 0});
}
