/* SPDX-License-Identifier: Apache-2.0
 * clfuse-bench: the command line, the choice of device, the run. `clfuse bench` starts this program.
 * exit: 0 all checks hold, 1 a check failed, 2 command line, 3 no such device, 4 the report cannot be written. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "perf/gpu.h"
#include "perf/latency.h"

static const char usage_text[] =
    "usage: clfuse bench [--suite A,B] [--case PREFIX] [--rounds N] [--quick] [--json FILE]\n"
    "                    [--device D] [--fuse cost|all|nored|none] [--tier T] [--strategy S] [--dtype f64|f32]\n"
    "                    [--inputs FOLDER: suite algorithms, write a case's inputs]\n"
    "suites: micro, ml, algorithms, plan, latency; --fuse leaves of the suite algorithms that selector only\n";

enum {
    OPT_SUITE = 256,
    OPT_CASE,
    OPT_ROUNDS,
    OPT_QUICK,
    OPT_JSON,
    OPT_DEVICE,
    OPT_FUSE,
    OPT_TIER,
    OPT_STRATEGY,
    OPT_DTYPE,
    OPT_INPUTS,
    OPT_HELP
};
static const struct option long_options[] = {
    {"suite", required_argument, NULL, OPT_SUITE},
    {"case", required_argument, NULL, OPT_CASE},
    {"rounds", required_argument, NULL, OPT_ROUNDS},
    {"quick", no_argument, NULL, OPT_QUICK},
    {"json", required_argument, NULL, OPT_JSON},
    {"device", required_argument, NULL, OPT_DEVICE},
    {"fuse", required_argument, NULL, OPT_FUSE},
    {"tier", required_argument, NULL, OPT_TIER},
    {"strategy", required_argument, NULL, OPT_STRATEGY},
    {"dtype", required_argument, NULL, OPT_DTYPE},
    {"inputs", required_argument, NULL, OPT_INPUTS},
    {"help", no_argument, NULL, OPT_HELP},
    {NULL, 0, NULL, 0},
};

/* Variables of the environment that would make the comparison unfair: a pinned OpenMP (an OpenCL CPU driver inherits the mask), an older
 * BLAS kernel. Libraries read them when they are loaded, so the program starts again without them. */
static void clean_environment(char **argv) {
    static const char *const unfair[] = {"OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY", "OPENBLAS_CORETYPE"};
    bool found = false;
    for (size_t i = 0; i < sizeof unfair / sizeof *unfair; i++) {
        found |= getenv(unfair[i]) != NULL;
        unsetenv(unfair[i]);
    }
    if (found) execv("/proc/self/exe", argv);
}

static int complain(const char *text) {
    fprintf(stderr, "clfuse bench: %s\n", text);
    return 2;
}

/* 0, or the exit code; -1: help was asked for. */
static int parse(int argc, char **argv, bench_options *o) {
    int c;
    const char **const place[] = {
        [OPT_SUITE - 256] = &o->suites,      [OPT_CASE - 256] = &o->prefix, [OPT_JSON - 256] = &o->json,
        [OPT_DEVICE - 256] = &o->device,     [OPT_FUSE - 256] = &o->fuse,   [OPT_TIER - 256] = &o->tier,
        [OPT_STRATEGY - 256] = &o->strategy, [OPT_DTYPE - 256] = &o->dtype, [OPT_INPUTS - 256] = &o->inputs,
    };
    while ((c = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
        if (c == '?') return 2;
        if (c == OPT_HELP) return -1;
        if (c == OPT_QUICK)
            o->quick = true;
        else if (c == OPT_ROUNDS)
            o->rounds = atoi(optarg);
        else
            *place[c - 256] = optarg;
    }
    if (optind < argc) return complain("unexpected argument; see clfuse bench --help");
    if (o->rounds < 1 || o->rounds > BENCH_ROUNDS_MAX) return complain("--rounds must be between 1 and 101");
    if (o->dtype && strcmp(o->dtype, "f64") != 0 && strcmp(o->dtype, "f32") != 0) return complain("--dtype must be f64 or f32");
    return 0;
}

static const struct suite {
    const char *name;
    void (*run)(bench_run *r);
} suites[] = {{"micro", bench_run_cells},
              {"micro", bench_run_tiny},
              {"micro", bench_run_loop},
              {"ml", bench_run_ml},
              {"algorithms", bench_run_algorithms},
              {"plan", bench_run_plan_loops},
              {"plan", bench_run_plan_time},
              {"plan", bench_run_predict},
              {"plan", bench_run_best},
              {"plan", bench_run_fused},
              {"plan", bench_run_devices},
              {"latency", bench_run_latency}};
enum { SUITES = sizeof suites / sizeof *suites };

/* Every name in --suite must be one we have. */
static bool suites_known(const char *list) {
    for (const char *p = list; p && *p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
        bool known = false;
        for (int i = 0; i < SUITES; i++)
            known |= strcspn(p, ",") == strlen(suites[i].name) && strncmp(p, suites[i].name, strlen(suites[i].name)) == 0;
        if (!known) return false;
    }
    return true;
}

/* What was asked for is not there: what is. */
static void tell_devices(clf_ctx *c, const char *asked) {
    clf_device d = {.struct_size = sizeof d};
    const char *why = clf_device_why(c);
    fprintf(stderr, "clfuse bench: no device '%s'%s%s; there is:", asked, *why ? ": " : "", why);
    for (int i = 0; clf_device_at(c, i, &d); i++) fprintf(stderr, "%s %d %s (%s)", i ? "," : "", i, d.name, d.kind);
    fprintf(stderr, "\n");
}

/* The device: what was asked for, else the first OpenCL device, else device 0. */
static int choose(bench_run *r) {
    char why[256] = "";
    clf_device d = {.struct_size = sizeof d};
    clf_ctx *c = bench_ctx(r->opt, r->opt->device, r->opt->fuse, why, sizeof why);
    if (!c) {
        fprintf(stderr, "clfuse bench: %s\n", why);
        return 2;
    }
    bool found = false;
    if (r->opt->device) {
        for (int i = 0; !found && clf_device_at(c, i, &d); i++) found = d.chosen;
        snprintf(r->device, sizeof r->device, "%s", r->opt->device);
    } else {
        found = clf_device_at(c, 1, &d);
        if (!found) printf("no OpenCL device (%s): the run is on device 0\n", clf_device_why(c));
        snprintf(r->device, sizeof r->device, "%s", found ? "1" : "host");
        found = found || clf_device_at(c, 0, &d);
    }
    if (found)
        snprintf(r->device_name, sizeof r->device_name, "%s", d.name);
    else
        tell_devices(c, r->opt->device ? r->opt->device : "host");
    clf_close(c);
    return found ? 0 : 3;
}

/* References in OpenCL C are for who asks for one OpenCL device, by its number or name; on a CPU they are only checked, where that is quick. */
static void open_references(bench_run *r) {
    const char *asked = r->opt->device;
    char why[160] = "";
    bool host = !strcmp(r->device, "host"), several = strchr(r->device, ',') != NULL;
    r->gpu_hand = asked && !host && !several && strcmp(asked, "cpu");
    if (host || several || !(r->gpu_hand || r->opt->quick)) return;
    r->gpu = gpu_open(r->device, why, sizeof why);
    if (!r->gpu) printf("references are those in C: %s\n", why);
    r->gpu_hand = r->gpu_hand && r->gpu;
}

typedef struct sink {
    FILE *json;
    int rows, failed, below;
} sink;

static void emit(void *user, const bench_row *row) {
    sink *s = user;
    s->rows++;
    s->failed += !row->ok;
    s->below += row->ok && (row->ratio_hand < row->floor - row->noise || row->ratio_unfused < row->floor_unfused ||
                            row->ours_ms > row->limit_ms || row->saved < row->saved_least || row->below); /* NaN: no promise */
    bench_line(row);
    if (s->json) bench_json(s->json, row);
}

int main(int argc, char **argv) {
    bench_options o = {.rounds = 0};
    bench_run r = {.opt = &o, .emit = emit};
    sink s = {0};
    if (argc == 3 && !strcmp(argv[1], "--child")) return bench_latency_child(argv[2]);
    clean_environment(argv);
    o.rounds = 9;
    int rc = parse(argc, argv, &o);
    if (rc == -1) return fputs(usage_text, stdout), 0;
    if (rc) return rc;
    if (!suites_known(o.suites)) return complain("unknown suite; there are: micro, ml, algorithms, plan, latency");
    if ((rc = choose(&r)) != 0) return rc;
    if (o.json && !(s.json = fopen(o.json, "w"))) {
        perror(o.json);
        return 4;
    }
    r.user = &s;
    open_references(&r);
    bench_head(&r);
    for (int i = 0; i < SUITES; i++) suites[i].run(&r);
    gpu_close(r.gpu);
    if (s.json && fclose(s.json) != 0) {
        perror(o.json);
        return 4;
    }
    if (s.rows == 0) return complain("no case of that name");
    printf("\n%d cases, %d failed, %d below what is promised\n", s.rows, s.failed, s.below);
    return s.failed > 0;
}
