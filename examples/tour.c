/* SPDX-License-Identifier: Apache-2.0
 * The tour, what ./run demo shows: what fusion brings on this machine, every result checked.
 *     tour                             the table (--quick: tiny sizes, whose times mean little)
 *     tour FILE.csv --label COLUMN     a training on your data: hands over to the program l2svm beside it
 * exit: 0 all checks hold, 1 one does not, 2 command line, 4 no context (l2svm has its own). */
#include <libgen.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "examples/tour.h"

static const char usage_text[] =
    "usage: tour [--device D] [--quick]            five workloads and a training, checked and timed\n"
    "       tour FILE.csv --label COLUMN [options]  train an L2SVM on your data; l2svm --help lists the options\n";

/* ---- the table ---- */

static const char head_text[] =
    " workload                           size   unfused     fused  speed-up  by hand         bytes moved  of bandwidth  max error\n"
    " ----------------------------------------------------------------------------------------------------------------------------\n";

static void count(int64_t n, char text[24]) {
    if (n >= 10000000)
        snprintf(text, 24, "%lld M", (long long)n / 1000000);
    else if (n >= 10000)
        snprintf(text, 24, "%lldk", (long long)n / 1000);
    else
        snprintf(text, 24, "%lld", (long long)n);
}

static void time_text(double ms, char text[24]) {
    if (ms < 9.95)
        snprintf(text, 24, "%.2f ms", ms);
    else if (ms < 9995)
        snprintf(text, 24, "%.0f ms", ms);
    else
        snprintf(text, 24, "%.1f s", ms / 1e3);
}

/* True when the row's check holds. */
static bool show(const tour_row *row) {
    char rows[24], cols[24], size[56], unfused[24], fused[24], hand[24], bytes[48], share[24] = "-";
    count(row->rows, rows);
    count(row->cols, cols);
    snprintf(size, sizeof size, "%s x %s", rows, cols);
    if (row->why[0]) return printf(" %-24s %14s   FAILED: %s\n", row->name, size, row->why), false;
    bool good = row->error <= row->bound;
    time_text(row->unfused_ms, unfused);
    time_text(row->fused_ms, fused);
    time_text(row->hand_ms, hand);
    snprintf(bytes, sizeof bytes, "%.0f -> %.0f MB%s", row->unfused_bytes / 1e6, row->fused_bytes / 1e6, row->products ? "*" : " ");
    if (row->read_gbs > 0) snprintf(share, sizeof share, "%.0f %%", row->fused_bytes / row->fused_ms / 1e6 / row->read_gbs * 100);
    printf(" %-24s %14s %9s %9s %8.1fx %8s %20s %12s   %8.1e%s\n", row->name, size, unfused, fused, row->unfused_ms / row->fused_ms, hand,
           bytes, share, row->error, good ? "" : "  WRONG");
    if (!good) printf("   the error may be %.1e at most\n", row->bound);
    fflush(stdout);
    return good;
}

/* ---- contexts and device ---- */

static clf_ctx *open_context(const char *device, const char *fuse) {
    const clf_options o = {.struct_size = sizeof o, .device = device, .fuse = fuse};
    clf_ctx *c = NULL;
    if (clf_open(&c, &o) != CLF_OK) fprintf(stderr, "tour: %s\n", clf_open_error());
    if (c) clf_set(c, "CLF_COMPILE", "wait"); /* what is compared below is kernels */
    return c;
}

/* The device setting to use: what was asked for, here or by the environment, else an OpenCL CPU, else the host executor. */
static const char *choose(const char *asked) {
    static char number[16];
    clf_device d = {.struct_size = sizeof d};
    if (!asked && getenv("CLF_DEVICE") && *getenv("CLF_DEVICE")) asked = getenv("CLF_DEVICE");
    clf_ctx *c = asked ? NULL : open_context(NULL, NULL);
    if (!c) return asked;
    int i = 1;
    while (clf_device_at(c, i, &d) && strcmp(d.kind, "cpu") != 0) i++;
    bool found = clf_device_at(c, i, &d);
    if (!found) printf(" no OpenCL CPU device (%s): the tour runs on device 0, the library's own executor\n", clf_device_why(c));
    snprintf(number, sizeof number, "%d", i);
    clf_close(c);
    return found ? number : "host";
}

/* Measured figures are stored; only the first tour on a machine takes the time to measure. */
static bool find_device(tour *t, bool quick) {
    bool found = false;
    for (int pass = 0; pass < 2; pass++) {
        found = false;
        t->device.struct_size = sizeof t->device;
        for (int i = 0; !found && clf_device_at(t->fused, i, &t->device); i++) found = t->device.chosen;
        if (!found || t->device.measured || pass > 0 || quick) break;
        printf(" measuring this machine, once ...\n");
        fflush(stdout);
        if (clf_calibrate(t->fused) != CLF_OK) printf(" (%s)\n", clf_last_error(t->fused));
    }
    return found;
}

/* Large enough to leave the caches of most machines, within an eighth of the memory for all arrays of all ways to run. */
static int64_t cells_of_machine(void) {
    const int64_t want = 4000000, arrays = 20;
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    int64_t most = pages > 0 && page > 0 ? (int64_t)pages * page / 8 / (arrays * 8) : want;
    return (most < want ? most : want) / 1000 * 1000;
}

static void closing(const tour *t) {
    clf_stats f = {.struct_size = sizeof f}, u = {.struct_size = sizeof u};
    clf_get_stats(t->fused, &f);
    clf_get_stats(t->unfused, &u);
    printf("\n by hand: C with OpenMP, fused by hand, gcc -O3 -march=native -ffast-math\n of bandwidth: against plain reading in the same "
           "minute\n * without the matrix products, which are library calls\n");
    printf(" compiled %llu kernels in %.2f s (unfused: %llu in %.2f s); every result checked against a plain loop\n\n",
           (unsigned long long)f.kernels_built, (double)f.build_ns * 1e-9, (unsigned long long)u.kernels_built, (double)u.build_ns * 1e-9);
    printf(" wrote  out/plan.svg    one iteration of the training: what was fused, and why not more\n"
           "        out/l2svm.csv   its data\n"
           " next   ./run demo FILE.csv --label COLUMN       build/clfuse explain -e 'sum(X * Y * Z)' --dims X=1000000x10 --dims "
           "Y=1000000x10 --dims Z=1000000x10\n"
           "        build/clfuse run -e 'sum(X^2)' --in X=rand:1000x1000       build/clfuse bench --quick\n");
}

static int run_all(tour *t) {
    tour_row row;
    tour_data d;
    int failed = 0;
    if (!tour_data_new(&d, t->cells)) {
        fprintf(stderr, "tour: out of memory\n");
        tour_data_free(&d);
        return 4;
    }
    printf("\n device %d: %s, %u cores; plain reading of the data gives %.1f GB/s\n\n%s", t->device.index, t->device.name,
           t->device.compute_units, tour_read_gbs(&d), head_text);
    for (const tour_case *k = tour_cases; k->name; k++) {
        tour_run_case(t, k, &d, &row);
        failed += !show(&row);
    }
    tour_data_free(&d);
    tour_run_svm(t, &row);
    failed += !show(&row);
    closing(t);
    if (failed) printf("\n %d of the checks FAILED\n", failed);
    return failed > 0;
}

static int run_tour(const char *device, bool quick) {
    tour t = {.cells = quick ? 100000 : cells_of_machine(), .svm_rows = quick ? 5000 : 200000};
    int rc = 4;
    device = choose(device);
    if (device && (t.fused = open_context(device, "all"))) {
        if (!find_device(&t, quick))
            fprintf(stderr, "tour: no device '%s'\n", device);
        else if ((t.unfused = open_context(device, "none"))) /* after the measuring, so that both plan with the same figures */
            rc = run_all(&t);
    }
    clf_close(t.unfused);
    clf_close(t.fused);
    return rc;
}

/* The program beside this one. */
static int hand_over(char **argv) {
    char self[PATH_MAX - 8], path[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n < 0 ? 0 : n] = 0;
    snprintf(path, sizeof path, "%s/l2svm", dirname(self));
    argv[0] = path;
    execv(path, argv);
    perror(path);
    return 4;
}

int main(int argc, char **argv) {
    const char *device = NULL;
    bool quick = false;
    if (argc > 1 && argv[1][0] != '-') return hand_over(argv);
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--label") == 0 || strncmp(argv[i], "--label=", 8) == 0) return hand_over(argv);
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) return fputs(usage_text, stdout), 0;
        if (strcmp(argv[i], "--quick") == 0)
            quick = true;
        else if (strcmp(argv[i], "--device") == 0 && i + 1 < argc)
            device = argv[++i];
        else
            return fputs(usage_text, stderr), 2;
    }
    return run_tour(device, quick);
}
