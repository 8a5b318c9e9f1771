/* SPDX-License-Identifier: Apache-2.0
 * What the fresh processes of the suite latency do, as any user's program would. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "perf/latency.h"

enum { COLS = 100 };

typedef struct child {
    clf_ctx *c;
    clf_fn *f;
    clf_mat *x, *out[8];
    size_t nout;
    double *cells;
} child;

static bool open_child(child *k, const char *compile, int64_t rows, const char *program, size_t nout) {
    k->nout = nout;
    if (!k->cells) {
        k->cells = malloc((size_t)rows * COLS * sizeof *k->cells);
        for (int64_t i = 0; k->cells && i < rows * COLS; i++) k->cells[i] = bench_number((uint64_t)i, 0);
    }
    if (!k->cells || (!k->c && clf_open(&k->c, NULL) != CLF_OK)) return false;
    if (compile && clf_set(k->c, "CLF_COMPILE", compile) != CLF_OK) return false;
    clf_binding x = {"X", clf_param(k->c, CLF_F64, rows, COLS, false)};
    if (!k->x) k->x = clf_borrow(k->c, CLF_F64, rows, COLS, k->cells, NULL, NULL);
    return clf_fn_parse(k->c, program, 1, &x, 1, &k->f) == CLF_OK;
}

static void close_child(child *k) {
    clf_close(k->c);
    k->c = NULL;
    k->x = NULL;
    memset(k->out, 0, sizeof k->out);
}

/* NaN when it fails. */
static double call_ms(child *k) {
    double start = bench_now_ms();
    bool ok = clf_call(k->f, 1, &k->x, k->nout, k->out) == CLF_OK;
    return ok ? bench_now_ms() - start : NAN;
}

static bool say(double a, double b) {
    char text[64];
    int n = snprintf(text, sizeof text, "%.6f %.6f\n", a, b);
    return isfinite(a) && isfinite(b) && write(LATENCY_FD, text, (size_t)n) == n;
}

/* ---- the cases ---- */

static const char twenty[] = "Y = (X - 1) * 2 + X / 3; Z = abs(Y) + sqrt(X) - min(X, 0.5) * Y; W = (Z > 0) * Z + Y ^ 2 - X * 0.1; "
                             "sum(exp(0 - W * W) + max(W, Y) - W)";

static int first_result(void) {
    child k = {0};
    double start = bench_now_ms();
    bool ok = open_child(&k, NULL, 1000, twenty, 1) && isfinite(call_ms(&k)) && say(bench_now_ms() - start, 0);
    close_child(&k);
    return !ok;
}

static int cold(void) {
    child k = {0};
    double specialised[7];
    bool ok = open_child(&k, NULL, 100000, twenty, 1);
    double first = ok ? call_ms(&k) : NAN;
    close_child(&k);
    ok = ok && open_child(&k, "wait", 100000, twenty, 1) && clf_warm(k.f) == CLF_OK;
    for (int i = 0; ok && i < 7; i++) specialised[i] = call_ms(&k);
    ok = ok && say(first, bench_median(specialised, 7));
    close_child(&k);
    return !ok;
}

/* One function runs, specialised, while the kernels of others are compiled; then as often with nothing beside it. */
static int stall(void) {
    static const char *const others[] = {"sum(exp(X) * X)", "colSums(log(X + 1))", "rowSums(X * X * X)", "sum(sqrt(X) + X)"};
    child k = {0}, other = {0};
    double first[BENCH_ROUNDS_MAX], longest = 0, quiet = 0;
    int n = 0;
    bool ok = open_child(&k, NULL, 20000, "sum(X * X + 1)", 1) && clf_set(k.c, "CLF_DEVICE", "cpu") == CLF_OK;
    ok = ok && clf_warm(k.f) == CLF_OK && clf_compile_wait(k.c, 60000);
    for (int i = 0; ok && i < BENCH_ROUNDS_MAX; i++) first[i] = call_ms(&k);
    other = k;
    for (size_t i = 0; ok && i < sizeof others / sizeof *others; i++)
        ok = open_child(&other, NULL, 20000, others[i], 1) && clf_warm(other.f) == CLF_OK;
    clf_compiling p = {.struct_size = sizeof p, .waiting = 1};
    for (; ok && p.waiting; n++) {
        longest = fmax(longest, call_ms(&k));
        ok = clf_compile_progress(k.c, &p) == CLF_OK;
    }
    for (int i = 0; ok && i < n; i++) quiet = fmax(quiet, call_ms(&k));
    double usual = ok ? bench_median(first, BENCH_ROUNDS_MAX) : NAN;
    ok = ok && p.built > 1 && say(longest - usual, quiet - usual);
    close_child(&k);
    return !ok;
}

/* The generic kernel and the specialised one, in turns: 10^7 cells of one operand, nothing waited for but their own compiling. */
static int tiers(const char *program) {
    enum { TIERS = 2, ROUNDS = 15, ROWS = 100000 };
    static const char *const tier[TIERS] = {"1", "2"};
    child k[TIERS] = {{0}};
    double ms[TIERS][ROUNDS];
    bool ok = true;
    for (int t = 0; ok && t < TIERS; t++) {
        k[t].cells = k[0].cells;
        ok = open_child(&k[t], "wait", ROWS, program, 1) && clf_set(k[t].c, "CLF_TIER", tier[t]) == CLF_OK && isfinite(call_ms(&k[t]));
    }
    for (int i = 0; ok && i < ROUNDS; i++)
        for (int t = 0; t < TIERS; t++) ms[t][i] = call_ms(&k[t]);
    ok = ok && say(bench_median(ms[0], ROUNDS), bench_median(ms[1], ROUNDS));
    for (int t = 0; t < TIERS; t++) close_child(&k[t]);
    return !ok;
}

static int tiers_3(void) { return tiers("sum(X * X * X)"); }
static int tiers_8(void) { return tiers("sum((X + 1) * log(1 + exp(0 - X * X)) - X)"); }
static int tiers_22(void) {
    return tiers("Y = (X - 1) * 2 + X / 3; Z = abs(Y) + sqrt(X) - min(X, 0.5) * Y; W = (Z > 0) * Z + Y ^ 2 - X * 0.1; "
                 "sum(exp(0 - W * W) + max(W, Y) - W * X + Z)");
}
static int tiers_rows(void) { return tiers("rowSums((X - X[1,]) * X + 1)"); }

int bench_latency_child(const char *what) {
    static const struct {
        const char *name;
        int (*run)(void);
    } cases[] = {{"first_result", first_result}, {"cold_1e7", cold},     {"stall", stall},          {"tier1_3", tiers_3},
                 {"tier1_8", tiers_8},           {"tier1_22", tiers_22}, {"tier1_rows", tiers_rows}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (strcmp(what, cases[i].name) == 0) return cases[i].run();
    return 2;
}
