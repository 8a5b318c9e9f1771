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
    clf_mat *x[2], *out[8];
    size_t nx, nout;
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
    k->nx = 1;
    if (!k->x[0]) k->x[0] = clf_borrow(k->c, CLF_F64, rows, COLS, k->cells, NULL, NULL);
    return clf_fn_parse(k->c, program, 1, &x, 1, &k->f) == CLF_OK;
}

static void close_child(child *k) {
    clf_close(k->c);
    k->c = NULL;
    memset(k->x, 0, sizeof k->x);
    memset(k->out, 0, sizeof k->out);
}

/* NaN when it fails. */
static double call_ms(child *k) {
    double start = bench_now_ms();
    bool ok = clf_call(k->f, k->nx, k->x, k->nout, k->out) == CLF_OK;
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

static clf_stats stats_of(const child *k) {
    clf_stats s = {.struct_size = sizeof s};
    if (!k->c || clf_get_stats(k->c, &s) != CLF_OK) s = (clf_stats){0};
    return s;
}

/* The first call on 10^7 cells by that tier; where it needs a device, that is open before, and what is loaded then has come. */
static int cold_by(int tier) {
    child k = {0};
    clf_device d = {.struct_size = sizeof d};
    double specialised[7];
    bool ok = open_child(&k, NULL, 100000, twenty, 1) && (!tier || (clf_device_at(k.c, 1, &d) && clf_compile_wait(k.c, 60000)));
    double first = ok ? call_ms(&k) : NAN;
    clf_stats s = stats_of(&k);
    ok = ok && (tier ? s.launches_tier1 : s.launches_tier0) == 1 && !s.launches_tier2;
    close_child(&k);
    ok = ok && open_child(&k, "wait", 100000, twenty, 1) && clf_warm(k.f) == CLF_OK;
    for (int i = 0; ok && i < 7; i++) specialised[i] = call_ms(&k);
    ok = ok && say(first, bench_median(specialised, 7));
    close_child(&k);
    return !ok;
}

static int cold(void) { return cold_by(0); }
static int cold_tier1(void) { return cold_by(1); }

/* What `clfuse doctor --calibrate` leaves, too: the generic kernel of cells. */
static int keep_generic(void) {
    child k = {0};
    bool ok = open_child(&k, "wait", 1000, twenty, 1) && clf_set(k.c, "CLF_TIER", "1") == CLF_OK && isfinite(call_ms(&k));
    ok = ok && stats_of(&k).launches_tier1 == 1 && say(0, 0);
    close_child(&k);
    return !ok;
}

static const char *const several[] = {"sum(exp(X) * X)", "colSums(log(X + 1))", "rowSums(X * X * X)", "sum(sqrt(X) + X)"};
enum { SEVERAL = sizeof several / sizeof *several, SEVERAL_ROWS = 20000, USUAL = 7 };

/* A function's first call, and its usual one, once nothing is waited for. */
static bool call_first(child *k, double *first, double *usual) {
    double later[USUAL];
    *first += call_ms(k);
    bool ok = clf_warm(k->f) == CLF_OK && clf_compile_wait(k->c, 60000);
    for (int i = 0; ok && i < USUAL; i++) later[i] = call_ms(k);
    *usual += ok ? bench_median(later, USUAL) : NAN;
    return ok;
}

/* A program of several functions, on the device, without the generic kernel, whose compiling takes long. All of their first calls, and
 * usual ones. */
static bool run_several(child *k, double *first, double *usual) {
    bool ok = true;
    *first = *usual = 0;
    for (int i = 0; ok && i < SEVERAL; i++)
        ok = open_child(k, NULL, SEVERAL_ROWS, several[i], 1) && clf_set(k->c, "CLF_DEVICE", "cpu") == CLF_OK &&
             clf_set(k->c, "CLF_TIER1", "off") == CLF_OK && call_first(k, first, usual);
    return ok && isfinite(*first) && isfinite(*usual);
}

static int first_process(void) {
    child k = {0};
    double first, usual;
    bool ok = run_several(&k, &first, &usual) && stats_of(&k).kernels_built >= SEVERAL && say(first, usual);
    close_child(&k);
    return !ok;
}

/* All of its kernels come from the disk: none is compiled, none asked for, and no call runs anything else. */
static bool found_all(child *k) {
    clf_compiling p = {.struct_size = sizeof p};
    clf_stats s = stats_of(k);
    if (clf_compile_progress(k->c, &p) != CLF_OK) return false;
    uint64_t other = s.launches_tier0 + s.launches_tier1;
    if (s.kernels_built || p.asked || other || s.kernels_loaded < SEVERAL)
        fprintf(stderr, "a second process compiled %llu kernels, asked for %llu, loaded %llu; %llu launches without them\n",
                (unsigned long long)s.kernels_built, (unsigned long long)p.asked, (unsigned long long)s.kernels_loaded,
                (unsigned long long)other);
    return !s.kernels_built && !p.asked && !other && s.kernels_loaded >= SEVERAL;
}

static int second_process(void) {
    child k = {0};
    double first, usual;
    bool ok = run_several(&k, &first, &usual) && found_all(&k) && say(first, usual);
    close_child(&k);
    return !ok;
}

/* Once devices are open: what a kernel's first call takes beyond the usual one. */
static int warm_kernel(void) {
    child k = {0};
    clf_device d = {.struct_size = sizeof d};
    double first, usual;
    bool ok = open_child(&k, NULL, SEVERAL_ROWS, several[0], 1) && clf_device_at(k.c, 1, &d);
    ok = ok && run_several(&k, &first, &usual) && found_all(&k) && say((first - usual) / SEVERAL, usual / SEVERAL);
    close_child(&k);
    return !ok;
}

/* One function runs, specialised, while the kernels of others are compiled; then as often with nothing beside it. */
static int stall(void) {
    child k = {0}, other = {0};
    double first[BENCH_ROUNDS_MAX], longest = 0, quiet = 0;
    int n = 0;
    bool ok = open_child(&k, NULL, 20000, "sum(X * X + 1)", 1) && clf_set(k.c, "CLF_DEVICE", "cpu") == CLF_OK;
    ok = ok && clf_warm(k.f) == CLF_OK && clf_compile_wait(k.c, 60000);
    for (int i = 0; ok && i < BENCH_ROUNDS_MAX; i++) first[i] = call_ms(&k);
    other = k;
    for (size_t i = 0; ok && i < SEVERAL; i++) ok = open_child(&other, NULL, 20000, several[i], 1) && clf_warm(other.f) == CLF_OK;
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

enum { ROWS = 100000, IN_ROW = COLS / 5 }; /* stored entries in every row of X; v is a column */

static bool open_sparse(child *k, const char *compile, int64_t rows, const char *program, size_t nout) {
    const int64_t nnz = rows * IN_ROW;
    int64_t *offset = calloc((size_t)rows + 1, sizeof *offset);
    int32_t *column = malloc((size_t)nnz * sizeof *column);
    bool ok = offset && column && open_child(k, compile, rows, "sum(X)", nout);
    for (int64_t e = 0; ok && e < nnz; e++) column[e] = (int32_t)(e % IN_ROW * 5 + (e / IN_ROW + e) % 5);
    for (int64_t i = 0; ok && i < rows; i++) offset[i + 1] = (i + 1) * IN_ROW;
    if (ok) {
        const clf_binding in[] = {{"X", clf_param_sparse(k->c, CLF_F64, rows, COLS, nnz)}, {"v", clf_param(k->c, CLF_F64, COLS, 1, false)}};
        k->x[0] = clf_sparse_csr(k->c, CLF_F64, rows, COLS, nnz, offset, column, k->cells, NULL);
        k->x[1] = clf_borrow(k->c, CLF_F64, COLS, 1, k->cells, NULL, NULL);
        k->nx = 2;
        ok = clf_fn_parse(k->c, program, 2, in, 2, &k->f) == CLF_OK;
    }
    free(offset);
    free(column);
    return ok;
}

typedef bool (*opener)(child *k, const char *compile, int64_t rows, const char *program, size_t nout);

/* The generic kernel and the specialised one, in turns, nothing waited for but their own compiling. */
static int tiers_of(opener open, int64_t rows, const char *program) {
    enum { TIERS = 2, ROUNDS = 15 };
    static const char *const tier[TIERS] = {"1", "2"};
    child k[TIERS] = {{0}};
    double ms[TIERS][ROUNDS];
    bool ok = true;
    for (int t = 0; ok && t < TIERS; t++) {
        k[t].cells = k[0].cells;
        ok = open(&k[t], "wait", rows, program, 1) && clf_set(k[t].c, "CLF_TIER", tier[t]) == CLF_OK && isfinite(call_ms(&k[t]));
    }
    for (int i = 0; ok && i < ROUNDS; i++)
        for (int t = 0; t < TIERS; t++) ms[t][i] = call_ms(&k[t]);
    ok = ok && say(bench_median(ms[0], ROUNDS), bench_median(ms[1], ROUNDS));
    for (int t = 0; t < TIERS; t++) close_child(&k[t]);
    return !ok;
}

/* One operand, beyond what caches hold. */
static int tiers(const char *program) { return tiers_of(open_child, LATENCY_DRAM_ROWS, program); }
static int tiers_3(void) { return tiers("sum(X * X * X)"); }
static int tiers_8(void) { return tiers("sum((X + 1) * log(1 + exp(0 - X * X)) - X)"); }
static int tiers_22(void) {
    return tiers("Y = (X - 1) * 2 + X / 3; Z = abs(Y) + sqrt(X) - min(X, 0.5) * Y; W = (Z > 0) * Z + Y ^ 2 - X * 0.1; "
                 "sum(exp(0 - W * W) + max(W, Y) - W * X + Z)");
}
static int tiers_rows(void) { return tiers("rowSums((X - X[1,]) * X + 1)"); }
static int tiers_columns(void) { return tiers("colSums((X - X[1,]) * X + 1)"); }
static int tiers_products(void) { return tiers("q = X %*% t(X[1,]); t(X) %*% (abs(q) * q - 0.5 * q + 1)"); }
static int tiers_entry_rows(void) { return tiers_of(open_sparse, ROWS, "rowSums((X - 0.5 * X) * X * t(v))"); }
static int tiers_entry_product(void) { return tiers_of(open_sparse, ROWS, "X %*% v"); }
static int tiers_entry_sum(void) { return tiers_of(open_sparse, ROWS, "sum(abs(X) * X * t(v) - 0.5 * X)"); }

int bench_latency_child(const char *what) {
    static const struct {
        const char *name;
        int (*run)(void);
    } cases[] = {{"first_result", first_result},
                 {"cold_1e7", cold},
                 {"cold_1e7_tier1", cold_tier1},
                 {"keep_generic", keep_generic},
                 {"first_process", first_process},
                 {"second_process", second_process},
                 {"warm_kernel", warm_kernel},
                 {"stall", stall},
                 {"tier1_3", tiers_3},
                 {"tier1_8", tiers_8},
                 {"tier1_22", tiers_22},
                 {"tier1_rows", tiers_rows},
                 {"tier1_columns", tiers_columns},
                 {"tier1_products", tiers_products},
                 {"tier1_entry_rows", tiers_entry_rows},
                 {"tier1_entry_product", tiers_entry_product},
                 {"tier1_entry_sum", tiers_entry_sum}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (strcmp(what, cases[i].name) == 0) return cases[i].run();
    return 2;
}
