/* SPDX-License-Identifier: Apache-2.0
 * The tour, what ./run demo shows: what fusion brings on this machine, every result checked.
 *     tour                             the table
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

static const char usage_text[] = "usage: tour [--device D]                      five workloads and a training, checked and timed\n"
                                 "       tour FILE.csv --label COLUMN [options]  train an L2SVM on your data; l2svm --help lists the options\n";

/* ---- the table ---- */

static const char head_text[] =
    " workload                           size   unfused     fused  speed-up  by hand         bytes moved  of bandwidth  max error\n"
    " ----------------------------------------------------------------------------------------------------------------------------\n";

static void count(int64_t n, char text[16]) {
    if (n >= 10000000) snprintf(text, 16, "%lld M", (long long)n / 1000000);
    else if (n >= 10000) snprintf(text, 16, "%lldk", (long long)n / 1000);
    else snprintf(text, 16, "%lld", (long long)n);
}

static void time_text(double ms, char text[16]) {
    if (ms < 9.95) snprintf(text, 16, "%.2f ms", ms);
    else if (ms < 9995) snprintf(text, 16, "%.0f ms", ms);
    else snprintf(text, 16, "%.1f s", ms / 1e3);
}

/* True when the row's check holds. */
static bool show(const tour *t, const tour_row *row) {
    char rows[16], cols[16], size[40], unfused[16], fused[16], hand[16], bytes[48], share[16] = "-";
    count(row->rows, rows);
    count(row->cols, cols);
    snprintf(size, sizeof size, "%s x %s", rows, cols);
    if (row->why[0]) return printf(" %-24s %14s   FAILED: %s\n", row->name, size, row->why), false;
    bool good = row->error <= row->bound;
    time_text(row->unfused_ms, unfused);
    time_text(row->fused_ms, fused);
    time_text(row->hand_ms, hand);
    snprintf(bytes, sizeof bytes, "%.0f -> %.0f MB%s", row->unfused_bytes / 1e6, row->fused_bytes / 1e6, row->products ? "*" : " ");
    if (!row->products) snprintf(share, sizeof share, "%.0f %%", row->fused_bytes / row->fused_ms / 1e6 / t->device.read_gb_per_s * 100);
    printf(" %-24s %14s %9s %9s %8.1fx %8s %20s %12s   %8.1e%s\n", row->name, size, unfused, fused, row->unfused_ms / row->fused_ms, hand, bytes, share,
           row->error, good ? "" : "  WRONG");
    if (!good) printf("   the error may be %.1e at most\n", row->bound);
    fflush(stdout);
    return good;
}

/* ---- contexts and device ---- */

static clf_ctx *open_context(const char *device, const char *fuse) {
    const clf_options o = {.struct_size = sizeof o, .device = device, .fuse = fuse};
    clf_ctx *c = NULL;
    if (clf_open(&c, &o) != CLF_OK) fprintf(stderr, "tour: %s\n", clf_open_error());
    return c;
}

/* The device setting to use: what was asked for, else an OpenCL CPU, else the host executor. */
static const char *choose(const char *asked) {
    static char number[16];
    clf_device d = {.struct_size = sizeof d};
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
static bool describe(tour *t) {
    bool found = false;
    for (int pass = 0; pass < 2; pass++) {
        found = false;
        t->device.struct_size = sizeof t->device;
        for (int i = 0; !found && clf_device_at(t->fused, i, &t->device); i++) found = t->device.chosen;
        if (!found || t->device.measured || pass > 0) break;
        printf(" measuring this machine, once ...\n");
        fflush(stdout);
        if (clf_calibrate(t->fused) != CLF_OK) printf(" (%s)\n", clf_last_error(t->fused));
    }
    if (!found) return false;
    printf("\n device %d: %s, %u cores, %s %.1f GB/s read\n\n", t->device.index, t->device.name, t->device.compute_units,
           t->device.measured ? "measured" : "assumed", t->device.read_gb_per_s);
    return true;
}

/* Large enough to leave the caches of most machines, within an eighth of the memory for all arrays of all ways to run. */
static int64_t cells_of_machine(void) {
    const int64_t want = 8000000, arrays = 20;
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    int64_t most = pages > 0 && page > 0 ? (int64_t)pages * page / 8 / (arrays * 8) : want;
    return (most < want ? most : want) / 1000 * 1000;
}

static void closing(const tour *t) {
    clf_stats f = {.struct_size = sizeof f}, u = {.struct_size = sizeof u};
    clf_get_stats(t->fused, &f);
    clf_get_stats(t->unfused, &u);
    printf("\n by hand: C with OpenMP, fused by hand, gcc -O3 -march=native -ffast-math\n * without the matrix products, which are library calls\n");
    printf(" compiled %llu kernels in %.2f s (unfused: %llu in %.2f s); every result checked against a plain loop\n\n", (unsigned long long)f.kernels_built,
           (double)f.build_ns * 1e-9, (unsigned long long)u.kernels_built, (double)u.build_ns * 1e-9);
    printf(" wrote  out/plan.svg    one iteration of the training: what was fused, and why not more\n"
           "        out/l2svm.csv   its data\n"
           " next   ./run demo FILE.csv --label COLUMN       build/clfuse explain -e 'sum(X * Y * Z)' --dims X=1000000x10 --dims Y=1000000x10 --dims Z=1000000x10\n"
           "        build/clfuse run -e 'sum(X^2)' --in X=rand:1000x1000       build/clfuse bench --quick\n");
}

static int run_all(tour *t) {
    tour_row row;
    tour_data d;
    int failed = 0;
    t->cells = cells_of_machine();
    if (!tour_data_new(&d, t->cells)) {
        fprintf(stderr, "tour: out of memory\n");
        tour_data_free(&d);
        return 4;
    }
    fputs(head_text, stdout);
    for (const tour_case *k = tour_cases; k->name; k++) {
        tour_run_case(t, k, &d, &row);
        failed += !show(t, &row);
    }
    tour_data_free(&d);
    tour_run_svm(t, &row);
    failed += !show(t, &row);
    closing(t);
    if (failed) printf("\n %d of the checks FAILED\n", failed);
    return failed > 0;
}

static int run_tour(const char *device) {
    tour t = {.fused = NULL};
    int rc = 4;
    device = choose(device);
    if (device && (t.fused = open_context(device, "all")) && (t.unfused = open_context(device, "none"))) {
        if (describe(&t)) rc = run_all(&t);
        else fprintf(stderr, "tour: no device '%s'\n", device);
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
    if (argc == 1) return run_tour(NULL);
    if (argc == 3 && strcmp(argv[1], "--device") == 0) return run_tour(argv[2]);
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) return fputs(usage_text, stdout), 0;
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--label") == 0 || strncmp(argv[i], "--label=", 8) == 0) return hand_over(argv);
    fputs(usage_text, stderr);
    return 2;
}
