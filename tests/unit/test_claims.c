/* SPDX-License-Identifier: Apache-2.0
 * Processes that need the same kernels at the same time: by their compile workers each kernel is built once, and all of them have it. */
#include <CUnit/Basic.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device/device.h"
#include "host/run/run.h"
#include "tests/unit/api_testing.h"

enum { N = 200, PROCESSES = 4, SOON_MS = 240000 };
static char folder[] = P_tmpdir "/clfuse-claims-XXXXXX";

/* A process: opens everything, says so, waits for the start, has the kernel made, says how often it built (+1, 0 is a failure). */
static int child(int from, int to) {
    clf_ctx *c = NULL;
    clf_fn *f = NULL, *g = NULL;
    char go = 1;
    static double cells[N * N];
    double sum = 0;
    bool ok = clf_open(&c, &(clf_options){.struct_size = sizeof(clf_options), .device = "cpu"}) == CLF_OK;
    ok = ok && clf_set(c, "compile", "background") == CLF_OK && clf_set(c, "cache", "on") == CLF_OK;
    clf_binding x = {"X", ok ? clf_param(c, CLF_F64, N, N, false) : NULL};
    ok = ok && clf_fn_parse(c, "sum(X + 1)", 1, &x, 1, &f) == CLF_OK && clf_warm(f) == CLF_OK && clf_compile_wait(c, SOON_MS);
    ok = ok && write(to, &go, 1) == 1 && read(from, &go, 1) == 1;
    uint64_t before = ok ? clf_devs_stats(c->run->devs).builds : 0;
    ok = ok && clf_fn_parse(c, "sum(X * X - 3)", 1, &x, 1, &g) == CLF_OK && clf_warm(g) == CLF_OK && clf_compile_wait(c, SOON_MS);
    uint64_t built = ok ? clf_devs_stats(c->run->devs).builds - before : 0;
    clf_mat *m = ok ? clf_borrow(c, CLF_F64, N, N, cells, NULL, NULL) : NULL, *out = NULL;
    clf_stats st = {.struct_size = sizeof st};
    ok = ok && clf_call(g, 1, &m, 1, &out) == CLF_OK && clf_read_f64(out, &sum) == CLF_OK && sum == -3 * N * N;
    ok = ok && clf_get_stats(c, &st) == CLF_OK && st.launches_tier2 == 1; /* it is there */
    go = ok ? (char)(built + 1) : 0;
    bool said = write(to, &go, 1) == 1;
    clf_close(c);
    return !said;
}

typedef struct peer {
    pid_t pid;
    int to, from;
} peer;

static bool start(peer *p) {
    int down[2], up[2];
    if (pipe(down) || pipe(up)) return false;
    p->pid = fork();
    if (p->pid == 0) _exit(child(down[0], up[1]));
    close(down[0]);
    close(up[1]);
    p->to = down[1];
    p->from = up[0];
    return p->pid > 0;
}

static void test_one_builds(void) {
    peer p[PROCESSES];
    char said = 0;
    int builds = 0, good = 0;
    for (int i = 0; i < PROCESSES; i++) CU_ASSERT_TRUE_FATAL(start(&p[i]));
    for (int i = 0; i < PROCESSES; i++) CU_ASSERT_EQUAL_FATAL(read(p[i].from, &said, 1), 1);
    for (int i = 0; i < PROCESSES; i++) CU_ASSERT_EQUAL(write(p[i].to, &said, 1), 1);
    for (int i = 0; i < PROCESSES; i++) {
        int status = 1;
        said = 0;
        CU_ASSERT_EQUAL(read(p[i].from, &said, 1), 1);
        good += said > 0;
        builds += said > 0 ? said - 1 : 0;
        close(p[i].to);
        close(p[i].from);
        CU_ASSERT_TRUE(waitpid(p[i].pid, &status, 0) == p[i].pid && status == 0);
    }
    CU_ASSERT_EQUAL(good, PROCESSES);
    CU_ASSERT_EQUAL(builds, 1);
}

int main(void) {
    static const test_case all[] = {{"one builds", test_one_builds}};
    char command[128];
    signal(SIGPIPE, SIG_IGN);
    if (!mkdtemp(folder) || setenv("CLF_CACHE_DIR", folder, 1) || setenv("POCL_CACHE_DIR", folder, 1)) return 1;
    int failed = run_suite("claims", all, 1);
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    if (system(command)) fprintf(stderr, "cannot remove %s\n", folder);
    return failed;
}
