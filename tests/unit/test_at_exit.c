/* SPDX-License-Identifier: Apache-2.0
 * Programs that end without closing their context, while a thread of the library compiles, or opens devices: they end as they said. */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/run/run.h"
#include "tests/unit/api_testing.h"

enum { SAID = 3, CELLS = 64 };

/* What the process never gives back. */
static clf_ctx *c;
static clf_fn *f;

/* A kernel that no cache knows is being compiled by a thread of this process. */
static void compile(int which) {
    char text[64];
    clf_binding x = {"X", NULL};
    snprintf(text, sizeof text, "sum(exp(X*%d)*X + %d)", which + 2, (int)getpid());
    setenv("CLF_WORKER", "/nowhere/clfuse-worker", 1);
    setenv("CLF_CACHE", "off", 1);
    if (clf_open(&c, NULL) != CLF_OK || clf_set(c, "CLF_COMPILE", "background") != CLF_OK || clf_set(c, "CLF_DEVICE", "cpu") != CLF_OK)
        return;
    x.value = clf_param(c, CLF_F64, CELLS, CELLS, false);
    if (clf_fn_parse(c, text, 1, &x, 1, &f) == CLF_OK) clf_warm(f);
}

static clf_devs_opening *opening;
static void open_devices(int which) {
    clf_err err = {CLF_OK, ""};
    (void)which;
    if (clf_open(&c, NULL) != CLF_OK) return;
    const clf_dev_opts o = {.mem = &c->mem, .log = &c->trace, .cache_dir = "", .worker = ""};
    clf_devs *first;
    if (clf_devs_open(&first, &o, &err) != CLF_OK) return; /* drivers are loaded, and their constructors have run */
    clf_devs_close(first);
    clf_devs_open_begin(&opening, &o, &err);
}

/* That long after it has begun, the process ends. */
static int status_after(void (*begin)(int which), int which, int ms) {
    int status = -1;
    fflush(NULL);
    pid_t pid = fork();
    CU_ASSERT_FATAL(pid >= 0);
    if (!pid) {
        begin(which);
        usleep((useconds_t)ms * 1000);
        exit(SAID);
    }
    CU_ASSERT_EQUAL(waitpid(pid, &status, 0), pid);
    return status;
}

static void ends(void (*begin)(int which)) {
    for (int i = 0; i < 8; i++) {
        int status = status_after(begin, i, i * i * 2);
        bool good = WIFEXITED(status) && WEXITSTATUS(status) == SAID;
        if (!good) printf("\n    after %d ms: status %x\n", i * i * 2, (unsigned)status);
        CU_ASSERT(good);
    }
}

static void test_compiling(void) { ends(compile); }
static void test_opening(void) { ends(open_devices); }

static const test_case tests[] = {{"compiling", test_compiling}, {"opening", test_opening}};

int main(void) { return run_suite("at_exit", tests, sizeof tests / sizeof *tests); }
