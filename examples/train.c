/* SPDX-License-Identifier: Apache-2.0
 * The program train: trains one of the algorithms on a file, or on data it generates.
 * exit: 0 trained, 1 stopped at the limit of iterations, 2 command line, 4 everything else (file, data, device). */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "examples/algorithm.h"

static const char usage_text[] =
    "usage: train ALGORITHM [FILE] [options]      without a file, data is generated\n"
    "  --label COLUMN   of a csv file: a name of the header, or a number from 1     --rows N, --cols M   of generated data\n"
    "  --device D       host, cpu, gpu, a number, part of a name                    --fuse cost|all|nored|none\n"
    "  --dtype f64|f32  --iterations N  --inner N  --lambda L  --tolerance T  --rank K  --batch N  --step S  --seed N\n"
    "  --out PREFIX     write the model: PREFIX followed by its name, as .npy      --quiet   no line for each iteration\n"
    "algorithms:\n";

typedef struct arguments {
    const algorithm *a;
    const char *file, *label, *device, *fuse, *out;
    clf_dtype type;
    int64_t rows, cols;
    bool quiet;
    alg_params p;
} arguments;

static int usage(FILE *to, int rc) {
    fputs(usage_text, to);
    for (int i = 0; algorithms[i]; i++) fprintf(to, "  %-12s %s\n", algorithms[i]->name, algorithms[i]->about);
    return rc;
}

static int complain(const char *what, const char *value) { return fprintf(stderr, "train: %s%s\n", what, value), 2; }

enum { TEXTS = 4, NUMBERS = 10 };
static const char *const text_name[TEXTS] = {"label", "device", "fuse", "out"};
static const char *const number_name[NUMBERS] = {"iterations", "inner", "lambda", "tolerance", "rank",
                                                 "batch",      "step",  "seed",   "rows",      "cols"};

/* 0, or the exit code; -1: help was asked for. */
static int parse(int argc, char **argv, arguments *a) {
    const char **const text[TEXTS] = {&a->label, &a->device, &a->fuse, &a->out};
    double number[NUMBERS] = {a->p.iterations,    a->p.inner, a->p.lambda,       a->p.tolerance,  (double)a->p.rank,
                              (double)a->p.batch, a->p.step,  (double)a->p.seed, (double)a->rows, (double)a->cols};
    struct option options[TEXTS + NUMBERS + 4] = {
        {"quiet", no_argument, NULL, 'q'}, {"help", no_argument, NULL, 'h'}, {"dtype", required_argument, NULL, 't'}};
    for (int i = 0; i < TEXTS; i++) options[3 + i] = (struct option){text_name[i], required_argument, NULL, 256 + i};
    for (int i = 0; i < NUMBERS; i++) options[3 + TEXTS + i] = (struct option){number_name[i], required_argument, NULL, 512 + i};
    for (int c; (c = getopt_long(argc, argv, "h", options, NULL)) != -1;) {
        char *end = "";
        if (c == 'h') return -1;
        if (c == '?') return 2;
        if (c == 'q') a->quiet = true;
        if (c == 't' && strcmp(optarg, "f64") && strcmp(optarg, "f32")) return complain("f64 or f32 is needed, not ", optarg);
        if (c == 't') a->type = strcmp(optarg, "f32") ? CLF_F64 : CLF_F32;
        if (c >= 256 && c < 512) *text[c - 256] = optarg;
        if (c >= 512) number[c - 512] = strtod(optarg, &end);
        if (c >= 512 && (!*optarg || *end || !(number[c - 512] >= 0 && number[c - 512] <= 2e9)))
            return complain("a number from 0 to 2e9 is needed, not ", optarg);
    }
    a->p = (alg_params){.iterations = (int)number[0],
                        .inner = (int)number[1],
                        .lambda = number[2],
                        .tolerance = number[3],
                        .rank = (int64_t)number[4],
                        .batch = (int64_t)number[5],
                        .step = number[6],
                        .seed = (uint64_t)number[7]};
    a->rows = (int64_t)number[8], a->cols = (int64_t)number[9];
    if (optind < argc) a->file = argv[optind++];
    if (optind < argc) return complain("unexpected argument ", argv[optind]);
    if (a->file && a->a->labels && !a->label) return complain("which column is the label? Say --label COLUMN for ", a->file);
    return 0;
}

static double now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static void show(void *user, int iteration, double objective) {
    double *last = user, now = now_ms();
    printf("%5d  objective %.10g  %.2f ms\n", iteration, objective, now - *last);
    *last = now;
}

static bool load(clf_ctx *c, const arguments *a, alg_run *r) {
    if (!a->file) return alg_generate(a->a, c, a->type, a->rows, a->cols, &a->p, &r->X, &r->y);
    const clf_load_options with = {.struct_size = sizeof with, .label = a->label};
    r->X = clf_cast(clf_load_with(c, a->file, &with, a->label ? &r->y : NULL), a->type);
    if (r->y) r->y = clf_cast(r->y, a->type);
    return clf_eval(1, &r->X) == CLF_OK;
}

static bool save(const alg_run *r, const char *prefix) {
    char path[4096];
    bool good = true;
    for (int i = 0; i < ALG_MODEL && r->model[i].name && good; i++) {
        snprintf(path, sizeof path, "%s%s.npy", prefix, r->model[i].name);
        good = clf_save(r->model[i].value, path, NULL) == CLF_OK;
    }
    return good;
}

static int fail(const char *why) { return fprintf(stderr, "train: %s\n", why), 4; }

static int train(clf_ctx *c, const arguments *a) {
    double begin = now_ms(), last;
    alg_run r = {.c = c, .p = a->p, .each = a->quiet ? NULL : show, .user = &last};
    if (!load(c, a, &r)) return fail(clf_last_error(c));
    clf_info(r.X, &r.n, &r.m, NULL, NULL);
    printf("data    %lld x %lld %s, %.2f s\n", (long long)r.n, (long long)r.m, a->type == CLF_F32 ? "f32" : "f64",
           (now_ms() - begin) * 1e-3);
    begin = last = now_ms();
    if (!a->a->train(&r)) return fail(r.why);
    clf_stats s = {.struct_size = sizeof s};
    clf_get_stats(c, &s);
    printf("trained %d iterations, %d calls, %llu waits, %.2f s%s\n", r.iterations, r.calls, (unsigned long long)s.waits,
           (now_ms() - begin) * 1e-3, r.converged ? "" : ": STOPPED before it converged");
    printf("result  objective %.10g\n", r.objective);
    if (a->out && !save(&r, a->out)) return fail(clf_last_error(c));
    return r.converged ? 0 : 1;
}

int main(int argc, char **argv) {
    if (argc < 2) return usage(stderr, 2);
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) return usage(stdout, 0);
    arguments a = {.a = algorithm_named(argv[1]), .type = CLF_F64};
    if (!a.a) return complain("no algorithm has the name ", argv[1]);
    a.p = a.a->defaults;
    a.rows = a.a->rows, a.cols = a.a->cols;
    int rc = parse(argc - 1, argv + 1, &a);
    if (rc) return rc < 0 ? usage(stdout, 0) : rc;
    const clf_options open = {.struct_size = sizeof open, .device = a.device, .fuse = a.fuse};
    clf_ctx *c;
    if (clf_open(&c, &open) != CLF_OK) return fail(clf_open_error());
    rc = train(c, &a);
    clf_close(c);
    return rc;
}
