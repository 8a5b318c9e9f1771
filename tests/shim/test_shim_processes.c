/* SPDX-License-Identifier: Apache-2.0
 * Many processes that need the same kernels at the same time, on an empty cache, some of them killed: whoever lives has the right results,
 * no kernel is built more than twice for those who live, and the cache is valid after every round. Once each process compiles itself, and
 * once by compile workers, which are this program, too. */
#include <CUnit/Basic.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device/worker/serve.h"
#include "tests/shim/shim.h"
#include "tests/support/net.h"
#include "tests/unit/api_testing.h"
#include "tests/unit/folder_testing.h"

extern char **environ;

enum { PROCESSES = 16, KILLS = 4, ROWS = 5000, RESULTS = 3, LINES = 1024, SOON_MS = 240000 };
/* One kernel for each operator; several are built as one program. */
static const char formulas[] = "sum(X * 3 + 1); sum(X - X / 4); max(X * X)";

typedef struct way {
    const char *compile;
    int spread_us; /* kills are so far apart at most */
} way;
static const way ways[] = {{"wait", 60000}, {"background", 400000}};

/* ---- one process ------------------------------------------------------------------------------------------------------------ */

/* As clfuse-worker is. */
static int work(void) {
    int out = dup(1);
    if (out < 0 || dup2(2, 1) < 0) return 1;
    return clf_worker_serve(0, out, &(clf_serve_opts){CLF_SERVE_RIGHT, 0});
}

static bool configure(clf_ctx *c, const char *dir, const char *compile) {
    const char *const set[][2] = {{"device", "1"}, {"fuse", "none"}, {"cache", "on"}, {"cache_dir", dir}, {"compile", compile}};
    for (size_t i = 0; i < sizeof set / sizeof *set; i++)
        if (clf_set(c, set[i][0], set[i][1]) != CLF_OK) return false;
    return clf_set(c, "worker", "/proc/self/exe") == CLF_OK;
}

static int right(clf_mat *const *out) {
    static const double want[RESULTS] = {3.0 * ROWS * (ROWS - 1) / 2 + ROWS, 0.75 * ROWS * (ROWS - 1) / 2, (ROWS - 1.0) * (ROWS - 1.0)};
    double got;
    for (int i = 0; i < RESULTS; i++)
        if (clf_read_f64(out[i], &got) != CLF_OK || got != want[i]) return 8;
    return 0;
}

static int child(const char *dir, const char *compile) {
    static double cells[ROWS];
    char self[32];
    clf_ctx *c = NULL;
    clf_fn *f = NULL;
    clf_mat *out[RESULTS] = {NULL};
    clf_stats st = {.struct_size = sizeof st};
    for (int i = 0; i < ROWS; i++) cells[i] = i;
    snprintf(self, sizeof self, "%ld", (long)getpid());
    setenv("CLF_SHIM_OWNER", self, 1);
    if (clf_open(&c, NULL) != CLF_OK) return 2;
    if (!configure(c, dir, compile)) return 3;
    clf_binding x = {"X", clf_param(c, CLF_F64, ROWS, 1, false)};
    if (clf_fn_parse(c, formulas, 1, &x, 1, &f) != CLF_OK) return 4;
    if (!strcmp(compile, "background") && (clf_warm(f) != CLF_OK || !clf_compile_wait(c, SOON_MS))) return 5;
    clf_mat *m = clf_borrow(c, CLF_F64, ROWS, 1, cells, NULL, NULL);
    if (clf_call(f, 1, &m, RESULTS, out) != CLF_OK) return 6;
    if (clf_get_stats(c, &st) != CLF_OK || st.launches_tier2 < RESULTS) return 7; /* kernels were there */
    int bad = right(out);
    clf_close(c);
    return bad;
}

/* ---- rounds ----------------------------------------------------------------------------------------------------------------- */

static pid_t start(const char *dir, const way *w) {
    char *const argv[] = {(char *)"child", (char *)dir, (char *)w->compile, NULL};
    pid_t pid = -1;
    CU_ASSERT_EQUAL_FATAL(posix_spawn(&pid, "/proc/self/exe", NULL, NULL, argv, environ), 0);
    return pid;
}

/* Texts that were compiled for processes of the list; the most often one was. What the worker of a killed process finishes is nobody's, and
 * the probe that a worker opens its device with is no kernel of anybody. */
static int builds_of(const char *path, const pid_t *pid, const bool *lives, int n, int *most) {
    unsigned long long text[LINES];
    int all = 0;
    long owner;
    char kernel[SHIM_NAME];
    *most = 0;
    FILE *f = fopen(path, "r");
    while (f && all < LINES && fscanf(f, "%llx %ld %63s", &text[all], &owner, kernel) == 3)
        for (int i = 0; i < n && strcmp(kernel, "clf_probe") != 0; i++)
            if (pid[i] == owner && lives[i]) {
                all++;
                break;
            }
    if (f) fclose(f);
    for (int i = 0; i < all; i++) {
        int same = 0;
        for (int k = 0; k < all; k++) same += text[i] == text[k];
        if (same > *most) *most = same;
    }
    return all;
}

static void kill_some(const pid_t *pid, unsigned round, const way *w) {
    for (unsigned k = 0; k < KILLS; k++) {
        usleep((round * 7919 + k * 104729) % (unsigned)w->spread_us);
        kill(pid[(round + k * 5) % PROCESSES], SIGKILL);
    }
}

static void await_all(const pid_t *pid, bool *lives, unsigned round, const way *w) {
    for (int i = 0; i < PROCESSES; i++) {
        int status = -1;
        waitpid(pid[i], &status, 0);
        lives[i] = WIFEXITED(status);
        bool good = WIFEXITED(status) ? WEXITSTATUS(status) == 0 : round && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
        if (!good) printf("\n    %s, round %u, process %d: status %x\n", w->compile, round, i, (unsigned)status);
        CU_ASSERT(good);
    }
}

/* Nobody is killed in round 0. */
static void one_round(unsigned round, const way *w) {
    char dir[PATH_MAX], builds[PATH_MAX];
    pid_t pid[PROCESSES];
    bool lives[PROCESSES];
    int most, all;
    snprintf(dir, sizeof dir, "%s/%s-%u", folder, w->compile, round);
    snprintf(builds, sizeof builds, "%s/builds-%s-%u", folder, w->compile, round);
    setenv("CLF_SHIM_BUILDS", builds, 1);
    for (int i = 0; i < PROCESSES; i++) pid[i] = start(dir, w);
    if (round) kill_some(pid, round, w);
    await_all(pid, lives, round, w);
    all = builds_of(builds, pid, lives, PROCESSES, &most);
    if (most > 2) printf("\n    %s, round %u: one text was built %d times of %d\n", w->compile, round, most, all);
    CU_ASSERT(most <= 2); /* a second time: by who holds another lock and may not wait, or after a kill */
    CU_ASSERT(round || most >= 1);
    pid_t later = start(dir, w);
    int status = -1;
    waitpid(later, &status, 0);
    CU_ASSERT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CU_ASSERT_EQUAL(builds_of(builds, &later, &(bool){true}, 1, &most), 0); /* the cache is valid: nothing is left to build */
    unsetenv("CLF_SHIM_BUILDS");
}

static void rounds_of(const way *w, unsigned rounds) {
    for (unsigned r = 0; r <= rounds; r++) one_round(r, w);
    net_figure(w == ways ? "rounds of 16 processes on a cold kernel cache, 4 killed"
                         : "rounds of 16 processes with compile workers on a cold kernel cache, 4 killed",
               "%u", rounds);
}

static void test_themselves(void) { rounds_of(&ways[0], (unsigned)net_count(2, 1000)); }
static void test_workers(void) { rounds_of(&ways[1], (unsigned)net_count(2, 500)); }

int main(int argc, char **argv) {
    static const test_case tests[] = {{"compiling themselves", test_themselves}, {"compile workers", test_workers}};
    if (argc == 1 && !strcmp(argv[0], "clfuse-worker")) return work();
    if (argc == 3 && !strcmp(argv[0], "child")) return child(argv[1], argv[2]);
    if (CLF_SHIM_SANITIZED) setenv("CLF_TEST_SANITIZED", "1", 1);
    if (!make_folder("clfuse-shim-processes")) return 1;
    int bad = run_suite("many processes, one cache", tests, sizeof tests / sizeof *tests);
    return !remove_folder() || bad;
}
