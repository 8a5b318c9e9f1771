/* SPDX-License-Identifier: Apache-2.0
 * The program l2svm: reads a CSV file (or writes one and reads that back), trains, reports.
 * exit: 0 trained, 1 the training stopped at its limit of iterations, 2 command line, 4 everything else (file, data, device). */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "examples/l2svm.h"

static const char usage_text[] =
    "usage: l2svm [FILE.csv --label COLUMN] [options]      COLUMN: a name of the header, or a number from 1\n"
    "  without a file, a labelled data set of 200,000 x 20 is written to out/l2svm.csv and read back\n"
    "  --lambda L          weight of |w|^2 (1e-3)         --standardise, --no-standardise   columns to mean 0, deviation 1 (on)\n"
    "  --max-iterations N  (1000)                         --intercept, --no-intercept       append a column of ones (on)\n"
    "  --tolerance T       (1e-12)                        --na drop|error|nan               missing cells (drop the row)\n"
    "  --device D          host, cpu, gpu, a number, part of a name        --fuse all|none\n";

enum { OPT_LABEL = 256, OPT_LAMBDA, OPT_ITERATIONS, OPT_TOLERANCE, OPT_DEVICE, OPT_FUSE, OPT_NA, OPT_HELP };

typedef struct arguments {
    const char *file, *label, *device, *fuse, *na;
    l2svm_options o;
} arguments;

static double now_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int complain(const char *what, const char *value) {
    fprintf(stderr, "l2svm: %s%s\n", what, value);
    return 2;
}

static bool positive(const char *text, double *out) {
    char *end;
    *out = strtod(text, &end);
    return *text && !*end && *out > 0 && *out < 1e300;
}

/* 0, or the exit code; -1: help was asked for. */
static int parse(int argc, char **argv, arguments *a) {
    int yes = 1, standardise = 1, intercept = 1, c;
    const struct option options[] = {
        {"label", required_argument, NULL, OPT_LABEL},
        {"lambda", required_argument, NULL, OPT_LAMBDA},
        {"tolerance", required_argument, NULL, OPT_TOLERANCE},
        {"max-iterations", required_argument, NULL, OPT_ITERATIONS},
        {"device", required_argument, NULL, OPT_DEVICE},
        {"fuse", required_argument, NULL, OPT_FUSE},
        {"na", required_argument, NULL, OPT_NA},
        {"help", no_argument, NULL, OPT_HELP},
        {"standardise", no_argument, &standardise, yes},
        {"no-standardise", no_argument, &standardise, 0},
        {"intercept", no_argument, &intercept, yes},
        {"no-intercept", no_argument, &intercept, 0},
        {NULL, 0, NULL, 0},
    };
    const char **const texts[] = {
        [OPT_LABEL - 256] = &a->label, [OPT_DEVICE - 256] = &a->device, [OPT_FUSE - 256] = &a->fuse, [OPT_NA - 256] = &a->na};
    while ((c = getopt_long(argc, argv, "h", options, NULL)) != -1) {
        double number = 0;
        if (c == 'h' || c == OPT_HELP) return -1;
        if (c == '?') return 2;
        if (c == 0) continue;
        bool numeric = c == OPT_LAMBDA || c == OPT_TOLERANCE || c == OPT_ITERATIONS;
        if (numeric && !positive(optarg, &number)) return complain("a positive number is needed, not ", optarg);
        if (c == OPT_LAMBDA)
            a->o.lambda = number;
        else if (c == OPT_TOLERANCE)
            a->o.tolerance = number;
        else if (c == OPT_ITERATIONS)
            a->o.max_iterations = number < 1e9 ? (int)number : 1000000000;
        else
            *texts[c - 256] = optarg;
    }
    a->o.standardise = standardise != 0;
    a->o.intercept = intercept != 0;
    if (optind < argc) a->file = argv[optind++];
    if (optind < argc) return complain("unexpected argument ", argv[optind]);
    if (a->file && !a->label) return complain("which column is the label? Say --label COLUMN for ", a->file);
    return 0;
}

static bool load(clf_ctx *c, arguments *a, clf_mat **X, clf_mat **labels) {
    double begin = now_s();
    if (!a->file) {
        a->file = "out/l2svm.csv";
        if (mkdir("out", 0777) != 0 && errno != EEXIST) perror("l2svm: out");
        if (!l2svm_write_data(c, a->file, 200000)) return false;
        printf("wrote   %s: 200,000 x 20 and a label, %.2f s\n", a->file, now_s() - begin);
    }
    begin = now_s();
    const clf_load_options with = {.struct_size = sizeof with, .type = "csv", .label = a->label ? a->label : "1", .na = a->na};
    *X = clf_load_with(c, a->file, &with, labels);
    int64_t n, m;
    if (clf_info(*X, &n, &m, NULL, NULL) != CLF_OK) return false;
    printf("read    %s: %lld rows, %lld features, %.2f s%s\n", a->file, (long long)n, (long long)m, now_s() - begin,
           strcmp(a->na, "drop") == 0 ? " (rows with a missing cell are left out)" : "");
    return true;
}

static void report(const l2svm *p, double seconds, double accuracy) {
    clf_stats s = {.struct_size = sizeof s};
    clf_device d = {.struct_size = sizeof d};
    clf_get_stats(p->c, &s);
    printf("trained %d iterations, %d passes, %.2f s (%.2f ms an iteration)%s\n", p->iterations, p->passes, seconds,
           p->iterations ? seconds * 1e3 / p->iterations : 0.0, p->converged ? "" : ": STOPPED before it converged");
    if (s.launches_tier1 + s.launches_tier2 > 0)
        for (int i = 0; clf_device_at(p->c, i, &d) && !d.chosen;) i++;
    printf(
        "        %llu launches on device 0 (host executor), %llu on OpenCL%s%s, %llu library products; %llu kernels compiled in %.2f s\n",
        (unsigned long long)s.launches_tier0, (unsigned long long)(s.launches_tier1 + s.launches_tier2), d.name ? " device " : "",
        d.name ? d.name : "", (unsigned long long)s.launches_library, (unsigned long long)s.kernels_built, (double)s.build_ns * 1e-9);
    printf("result  objective %.10g, training accuracy %.3f\n", p->objective, accuracy);
}

static int fail(const char *why) {
    fprintf(stderr, "l2svm: %s\n", why);
    return 4;
}

static int train(clf_ctx *c, arguments *a) {
    l2svm p;
    clf_mat *X, *labels = NULL;
    if (!load(c, a, &X, &labels)) return fail(clf_last_error(c));
    if (!l2svm_prepare(&p, c, X, labels, &a->o)) return fail(p.why);
    printf("model   lambda %g, columns %s, %s\n", a->o.lambda, a->o.standardise ? "standardised" : "as they are",
           a->o.intercept ? "with a constant" : "no constant");
    double begin = now_s(), accuracy;
    if (!l2svm_train(&p)) return fail(p.why);
    const double seconds = now_s() - begin;
    if (!l2svm_accuracy(&p, &accuracy)) return fail(p.why);
    report(&p, seconds, accuracy);
    return p.converged ? 0 : 1;
}

int main(int argc, char **argv) {
    arguments a = {.na = "drop", .o = L2SVM_DEFAULTS};
    int rc = parse(argc, argv, &a);
    if (rc == -1) return fputs(usage_text, stdout), 0;
    if (rc) return rc;
    const clf_options open = {.struct_size = sizeof open, .device = a.device, .fuse = a.fuse};
    clf_ctx *c;
    if (clf_open(&c, &open) != CLF_OK) return fail(clf_open_error());
    rc = train(c, &a);
    clf_close(c);
    return rc;
}
