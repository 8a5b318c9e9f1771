/* SPDX-License-Identifier: Apache-2.0
 * The suite latency: what waiting for a compiler costs who uses the library. Every sample is a fresh process of this program, started with
 * caches of its own, empty but for what a process before it left where the case says so:
 *   first_result  from exec to the first result: 20 operators on 1000 x 100 cells
 *   cold_1e7      the first call of the same on 10^7 cells, start-up excluded, against a call once everything is specialised (column hand)
 *   cold_1e7_tier1  the same where the generic kernel is on the disk, and start-up, which opens devices and loads it, is over
 *   warm_kernel   where an earlier process left the kernels on the disk: what a kernel's first call takes beyond the usual one (column hand),
 *                 mean of four; devices are open
 *   second_process  from exec to the results of a program of four kernels that ran before; fails where one is compiled
 *   stall         the longest of the calls of a specialised function while workers compile others, less the usual call; hand: the same
 *                 while nothing is compiled, which is the machine's doing
 *   tier1_*       3, 8 and 22 operators on 384 MB of cells, sums of rows and of columns, and t(X) %*% f(X %*% v); sums of rows, products with a vector
 *                 and everything folded of 2 * 10^6 stored entries in 10^5 rows; by the generic kernels, against the specialised
 *                 ones (column hand); nothing is compiled while it is measured, so these samples share their caches
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

enum { SAMPLES_MOST = 15, FIGURES = 2, FOLDER_BYTES = 64 };

static int drop_one(const char *path, const struct stat *st, int flag, struct FTW *ftw) {
    (void)st, (void)flag, (void)ftw;
    return remove(path);
}

/* The child's environment: caches of its own, settings as for any user. */
static void set_environment(const char *folder) {
    static const char *const settings[] = {"CLF_COMPILE", "CLF_CACHE", "CLF_DEVICE", "CLF_TIER", "CLF_STRATEGY", "CLF_FUSE"};
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

/* Run a child to its end in this environment. */
static bool run_child(const char *what, double *figure, double *said_ms) {
    char *argv[] = {(char *)"clfuse-bench", (char *)"--child", (char *)what, NULL};
    posix_spawn_file_actions_t files;
    int p[2], status = 1;
    pid_t pid;
    if (pipe2(p, O_CLOEXEC) != 0) return false;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, p[1], LATENCY_FD);
    double start = bench_now_ms();
    bool ok = posix_spawn(&pid, "/proc/self/exe", &files, NULL, argv, environ) == 0;
    close(p[1]);
    bool said = ok && listen(p[0], start, figure, said_ms);
    close(p[0]);
    ok = ok && waitpid(pid, &status, 0) == pid && WIFEXITED(status) && !WEXITSTATUS(status) && said;
    posix_spawn_file_actions_destroy(&files);
    return ok;
}

/* A folder for caches; free to write in its name. */
static bool begin_folder(char *folder) {
    strcpy(folder, P_tmpdir "/clfuse-latency-XXXXXX");
    return mkdtemp(folder) != NULL;
}

static void end_folder(const char *folder) { nftw(folder, drop_one, 8, FTW_DEPTH | FTW_PHYS); }

/* Promises are NAN where there is none. from_exec: the time to the child's first figure is ours. */
typedef struct latency_case {
    const char *name, *before;
    bool from_exec, warm; /* warm: samples share their caches */
    double limit_ms, limit_ratio;
    int64_t rows;
} latency_case;

/* One sample: what runs before (NULL: nothing), and what is measured. shared: the folder of warm cases, or NULL. */
static bool sample(const latency_case *k, const char *shared, double *figure, double *said_ms) {
    char own[FOLDER_BYTES];
    if (k->warm ? !shared : !begin_folder(own)) return false;
    set_environment(k->warm ? shared : own);
    bool ok = (!k->before || run_child(k->before, figure, said_ms)) && run_child(k->name, figure, said_ms);
    if (!k->warm) end_folder(own);
    return ok;
}

static void measure(const bench_run *r, const latency_case *k, const char *shared) {
    double ours[SAMPLES_MOST], other[SAMPLES_MOST], figure[FIGURES] = {NAN, NAN}, said = NAN;
    int n = r->opt->rounds < SAMPLES_MOST ? r->opt->rounds : SAMPLES_MOST;
    bench_row row;
    if (!bench_wanted(r->opt, "latency", k->name)) return;
    bench_row_init(&row, k->name, "latency", "f64", r->device_name);
    row.rows = k->rows;
    row.cols = 100;
    for (int i = 0; i < n && row.ok; i++) {
        if (!sample(k, shared, figure, &said)) bench_row_fail(&row, "a fresh process failed");
        ours[i] = k->from_exec ? said : figure[0];
        other[i] = figure[1];
    }
    if (row.ok) {
        row.ours_ms = bench_median(ours, n);
        row.hand_ms = k->from_exec ? NAN : bench_median(other, n);
        row.ratio_hand = k->limit_ratio > 0 ? row.hand_ms / row.ours_ms : NAN;
        row.limit_ms = k->limit_ratio > 0 ? k->limit_ratio * row.hand_ms : k->limit_ms;
    }
    r->emit(r->user, &row);
}

static const latency_case cases[] = {
    {"first_result", NULL, true, false, 60, 0, 1000},
    {"cold_1e7", NULL, false, false, NAN, 2, 100000},
    {"cold_1e7_tier1", "keep_generic", false, false, NAN, 1.5, 100000},
    {"warm_kernel", "first_process", false, false, 5, 0, 20000},
    {"second_process", "first_process", true, false, NAN, 0, 20000},
    {"stall", NULL, false, false, 10, 0, 20000},
    {"tier1_3", NULL, false, true, NAN, 1 / 0.8, LATENCY_DRAM_ROWS},
    {"tier1_8", NULL, false, true, NAN, 1 / 0.7, LATENCY_DRAM_ROWS},
    {"tier1_22", NULL, false, true, NAN, 1 / 0.65, LATENCY_DRAM_ROWS},
    {"tier1_rows", NULL, false, true, NAN, 1 / 0.7, LATENCY_DRAM_ROWS},
    {"tier1_columns", NULL, false, true, NAN, 1 / 0.7, LATENCY_DRAM_ROWS},
    {"tier1_products", NULL, false, true, NAN, 1 / 0.7, LATENCY_DRAM_ROWS},
    {"tier1_entry_rows", NULL, false, true, NAN, 1 / 0.45, 100000},
    {"tier1_entry_product", NULL, false, true, NAN, 1 / 0.45, 100000},
    {"tier1_entry_sum", NULL, false, true, NAN, 1 / 0.35, 100000},
};

void bench_run_latency(bench_run *r) {
    char shared[FOLDER_BYTES];
    bool begun = begin_folder(shared);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) measure(r, &cases[i], begun ? shared : NULL);
    if (begun) end_folder(shared);
}
