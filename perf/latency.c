/* SPDX-License-Identifier: Apache-2.0
 * The suite latency: what waiting for a compiler costs who uses the library. Every sample is a fresh process of this program, started with
 * empty caches:
 *   first_result  from exec to the first result: 20 operators on 1000 x 100 cells
 *   cold_1e7      the first call of the same on 10^7 cells, start-up excluded, against a call once everything is specialised (column hand)
 *   stall         the longest of the calls of a specialised function while workers compile others, less the usual call; hand: the same
 *                 while nothing is compiled, which is the machine's doing
 *   tier1_*       3, 8 and 22 operators on 10^7 cells, and sums of rows, by the generic kernel, against the specialised one (column hand)
 * A child says its figures, in ms, on a pipe. */
#include <fcntl.h>
#include <ftw.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "perf/latency.h"

enum { SAMPLES_MOST = 15, FIGURES = 2 };

static int drop_one(const char *path, const struct stat *st, int flag, struct FTW *ftw) {
    (void)st, (void)flag, (void)ftw;
    return remove(path);
}

/* The child's environment: caches of its own, settings as for any user. */
static void set_environment(const char *folder) {
    static const char *const settings[] = {"CLF_COMPILE", "CLF_DEVICE", "CLF_TIER", "CLF_STRATEGY", "CLF_FUSE"};
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) unsetenv(settings[i]);
    setenv("POCL_CACHE_DIR", folder, 1);
    setenv("CLF_CACHE_DIR", folder, 1);
}

/* Numbers that the child writes; *said_ms: from its start to the first of them. */
static bool listen(int from, double start, double *figure, double *said_ms) {
    char text[256];
    size_t n = 0;
    ssize_t got;
    while (n < sizeof text - 1 && (got = read(from, text + n, sizeof text - 1 - n)) > 0) {
        if (!n) *said_ms = bench_now_ms() - start;
        n += (size_t)got;
    }
    text[n] = 0;
    return sscanf(text, "%lf %lf", &figure[0], &figure[1]) == FIGURES;
}

static bool run_child(const char *what, double *figure, double *said_ms) {
    char folder[] = P_tmpdir "/clfuse-latency-XXXXXX";
    char *argv[] = {(char *)"clfuse-bench", (char *)"--child", (char *)what, NULL};
    posix_spawn_file_actions_t files;
    int p[2], status = 1;
    pid_t pid;
    if (!mkdtemp(folder)) return false;
    bool ok = pipe2(p, O_CLOEXEC) == 0;
    if (ok) {
        set_environment(folder);
        posix_spawn_file_actions_init(&files);
        posix_spawn_file_actions_adddup2(&files, p[1], 3);
        double start = bench_now_ms();
        ok = posix_spawn(&pid, "/proc/self/exe", &files, NULL, argv, environ) == 0;
        close(p[1]);
        bool said = ok && listen(p[0], start, figure, said_ms);
        close(p[0]);
        ok = ok && waitpid(pid, &status, 0) == pid && WIFEXITED(status) && !WEXITSTATUS(status) && said;
        posix_spawn_file_actions_destroy(&files);
    }
    nftw(folder, drop_one, 8, FTW_DEPTH | FTW_PHYS);
    return ok;
}

static void measure(const bench_run *r, const char *what, bool from_exec, double limit_ms, double limit_ratio, int64_t rows) {
    double ours[SAMPLES_MOST], other[SAMPLES_MOST], figure[FIGURES] = {NAN, NAN}, said = NAN;
    int n = r->opt->rounds < SAMPLES_MOST ? r->opt->rounds : SAMPLES_MOST;
    bench_row row;
    if (!bench_wanted(r->opt, "latency", what)) return;
    bench_row_init(&row, what, "latency", "f64", r->device_name);
    row.rows = rows;
    row.cols = 100;
    for (int i = 0; i < n && row.ok; i++) {
        if (!run_child(what, figure, &said)) bench_row_fail(&row, "a fresh process failed");
        ours[i] = from_exec ? said : figure[0];
        other[i] = figure[1];
    }
    if (row.ok) {
        row.ours_ms = bench_median(ours, n);
        row.hand_ms = from_exec ? NAN : bench_median(other, n);
        row.ratio_hand = limit_ratio > 0 ? row.hand_ms / row.ours_ms : NAN;
        row.limit_ms = limit_ratio > 0 ? limit_ratio * row.hand_ms : limit_ms;
    }
    r->emit(r->user, &row);
}

void bench_run_latency(bench_run *r) {
    measure(r, "first_result", true, 60, 0, 1000);
    measure(r, "cold_1e7", false, 0, 2, 100000);
    measure(r, "stall", false, 10, 0, 20000);
    measure(r, "tier1_3", false, 0, 1 / 0.8, 100000);
    measure(r, "tier1_8", false, 0, 1 / 0.7, 100000);
    measure(r, "tier1_22", false, 0, 1 / 0.65, 100000);
    measure(r, "tier1_rows", false, 0, 1 / 0.7, 100000);
}
