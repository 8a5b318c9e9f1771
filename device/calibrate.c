/* SPDX-License-Identifier: Apache-2.0
 * Calibration: every figure of a profile from kernels of our own (calibrate_cl.c), in a few seconds.
 *
 * GPUs have kernels of their own (calibrate_group_cl.c), thousands of work-items, and copies of the sets in their memory; the way there
 * is measured apart (calibrate_link.c). A figure is the best of several runs in two passes, each long enough (RUN_NS) that the launch does
 * not count: the best is what the device can do, the rest is the neighbours. Medians are launch costs, for a waiting caller meets
 * sleeping workers, and what is measured by turns. After PATIENCE_S two runs, or one turn, per figure have to do. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "core/str.h"
#include "device/calibrate.h"
#include "device/device_internal.h"

enum { GROUP = 256, GROUPS_PER_CORE = 8 }; /* of work-items on a GPU: as many as it holds at once */
enum { RUN_NS = 3000000, PATIENCE_S = 8, BEST_OF = 8, LAUNCHES = 21, BATCH = 100, SMALLEST_SET = 16 << 20, LARGEST_SET = 512 << 20 };

static const clf_arg_desc arg_kinds[] = {
    {CLF_ARG_MEM_IN, CLF_F64, 0}, {CLF_ARG_MEM_OUT, CLF_F64, 0}, {CLF_ARG_I64, CLF_I64, 0},
    {CLF_ARG_I64, CLF_I64, 1},    {CLF_ARG_PARAM, CLF_F64, 0},
};
enum { NARGS = sizeof arg_kinds / sizeof *arg_kinds, OUT_VECTORS = 4096 };

clf_status clf_gauge_kernel(clf_gauge_bench *b, const char *entry, clf_program **out) {
    clf_arg_desc kinds[NARGS];
    memcpy(kinds, arg_kinds, sizeof kinds);
    kinds[NARGS - 1].dtype = (uint8_t)b->type;
    const clf_source src = {.text = "", .entry = entry, .options = "", .args = kinds, .nargs = NARGS};
    CLF_TRY(clf_program_new(b->d, b->dev, &src, b->built, out, b->err));
    clf_err failed = (*out)->failed;
    if (failed.code == CLF_OK) return CLF_OK;
    clf_program_free(b->d, *out, true);
    return clf_fail(b->err, failed.code, "calibration: %s", failed.text);
}

static clf_status enqueue(clf_gauge_bench *b, const clf_gauge_job *j) {
    clf_arg args[NARGS] = {
        {.ptr = j->in, .bytes = j->in_bytes}, {.ptr = j->out, .bytes = j->out_bytes}, {.u.i64 = j->n}, {.u.i64 = j->sweeps}};
    if (clf_gauge_groups(b)) {
        args[0].buf = &b->in_name;
        args[1].buf = &b->out_name;
    }
    if (b->type == CLF_F64)
        args[4].u.f64 = 1e-6;
    else
        args[4].u.f32 = 1e-6f;
    return clf_launch(b->d, b->dev, j->p, args, NARGS, j->items, b->local, b->err);
}

static clf_status timed(clf_gauge_bench *b, const clf_gauge_job *j, double *ns) {
    uint64_t t0 = clf_now_ns();
    CLF_TRY(enqueue(b, j));
    CLF_TRY(clf_dev_wait(b->d, b->dev, b->err));
    *ns = (double)(clf_now_ns() - t0);
    return CLF_OK;
}

/* A second run there always is: one that a neighbour held up tells nothing, and would pass for one long enough. */
static clf_status best_of(clf_gauge_bench *b, const clf_gauge_job *j, int runs, double *ns) {
    double t;
    CLF_TRY(timed(b, j, ns));
    for (int i = 1; i < runs && (i < 2 || clf_now_ns() < b->hurry_ns); i++) {
        CLF_TRY(timed(b, j, &t));
        if (t < *ns) *ns = t;
    }
    return CLF_OK;
}

clf_status clf_gauge_best(clf_gauge_bench *b, clf_gauge_job *j, int64_t *repeat, double *ns) {
    CLF_TRY(timed(b, j, ns)); /* the first run compiles */
    for (;;) {
        CLF_TRY(best_of(b, j, 2, ns));
        if (*ns >= RUN_NS && clf_now_ns() < b->hurry_ns) CLF_TRY(best_of(b, j, BEST_OF, ns));
        if (*ns >= 0.5 * RUN_NS || *repeat >= INT64_C(1) << 40) break;
        double more = 1.2 * RUN_NS / *ns;
        *repeat = (int64_t)((double)*repeat * (more > 16 ? 16 : more)) + 1;
    }
    *ns = clf_least_of(&b->least, *ns / (double)*repeat) * (double)*repeat;
    return CLF_OK;
}

clf_status clf_gauge_turns(clf_gauge_bench *b, const clf_gauge_job *job, int n, clf_turns_figure figure, double known, double *median) {
    double sorted[CLF_TURNS_MOST], ns[CLF_TURNS_THINGS];
    int turns = 0;
    for (int k = 0; k < n; k++) CLF_TRY(timed(b, &job[k], &ns[k])); /* the first run compiles */
    do {
        for (int k = 0; k < n; k++) CLF_TRY(timed(b, &job[k], &ns[k]));
        clf_sorted_insert(sorted, turns++, figure(ns, known));
    } while (turns < CLF_TURNS_MOST && clf_now_ns() < b->hurry_ns);
    *median = sorted[turns / 2];
    return CLF_OK;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* part quarters up the sorted times: 0 the best, 2 the median. */
static clf_status quartile(clf_gauge_bench *b, const clf_gauge_job *j, int part, double *ns) {
    double t[LAUNCHES];
    for (int i = 0; i < LAUNCHES; i++) CLF_TRY(timed(b, j, &t[i]));
    qsort(t, LAUNCHES, sizeof *t, by_value);
    *ns = t[LAUNCHES * part / 4];
    return CLF_OK;
}

size_t clf_gauge_workers(const clf_gauge_bench *b, size_t bytes) {
    if (!clf_gauge_groups(b)) return (size_t)b->cores;
    size_t cells = bytes / clf_dtype_bytes(b->type) / b->local * b->local, least = (size_t)b->cores * b->local;
    return cells < least ? least : cells < b->items ? cells : b->items;
}

double clf_gauge_round(const clf_gauge_bench *b, int c) {
    double lanes = 64.0 / (double)clf_dtype_bytes(b->type);
    if (clf_gauge_groups(b)) return c == CLF_CLASS_ADD ? 16 : 8;
    return lanes * (c == CLF_CLASS_ADD ? 16 : c == CLF_CLASS_CMP ? 8 : 32);
}

static clf_status class_rate(clf_gauge_bench *b, int c, clf_profile *p) {
#define ENTRY(n) "m_" #n,
    static const char *const entries[] = {CLF_OP_CLASSES(ENTRY)};
#undef ENTRY
    clf_program *k;
    double ns;
    CLF_TRY(clf_gauge_kernel(b, entries[c], &k));
    clf_gauge_job j = {k, b->in, b->out, b->set_bytes, b->out_bytes, 16, 1, b->items};
    clf_status st = clf_gauge_best(b, &j, &j.n, &ns);
    if (st == CLF_OK) p->cells_per_s[b->type == CLF_F64][c] = clf_gauge_round(b, c) * (double)j.n * (double)j.items / ns * 1e9;
    clf_program_free(b->d, k, true);
    return st;
}

/* t = launch + s + (work - s) / cores, solved for s: how long one core works alone. */
static clf_status second_core(clf_gauge_bench *b, clf_program *k, clf_profile *p) {
    clf_gauge_job one = {k, b->in, b->out, b->set_bytes, b->out_bytes, 0, 1, 1}, all = one;
    double serial = 0, parallel, seen[5];
    all.items = b->items;
    p->second_core_ns = 0;
    if (b->cores < 2 || clf_gauge_groups(b)) return CLF_OK;
    for (one.n = 64 * (int64_t)b->items; serial < p->launch_sync_ns + 300e3 && one.n < INT64_C(1) << 30; one.n *= 2)
        CLF_TRY(quartile(b, &one, 0, &serial));
    all.n = one.n / 2 / (int64_t)b->items;
    one.n /= 2;
    for (int r = 0; r < 5; r++) {
        CLF_TRY(quartile(b, &one, 0, &serial));
        CLF_TRY(quartile(b, &all, 0, &parallel));
        double work = serial - p->launch_sync_ns, s = (parallel - p->launch_sync_ns - work / b->cores) / (1 - 1 / b->cores);
        seen[r] = s < 0 ? 0 : s > work ? work : s;
    }
    qsort(seen, 5, sizeof *seen, by_value);
    p->second_core_ns = seen[2];
    return CLF_OK;
}

static clf_status launch_costs(clf_gauge_bench *b, clf_program *k, clf_profile *p) {
    clf_gauge_job none = {k, b->in, b->out, b->set_bytes, b->out_bytes, 0, 1, b->local};
    double batch[5];
    CLF_TRY(quartile(b, &none, 2, &p->launch_sync_ns));
    for (int r = 0; r < 5; r++) {
        uint64_t t0 = clf_now_ns();
        for (int i = 0; i < BATCH; i++) CLF_TRY(enqueue(b, &none));
        CLF_TRY(clf_dev_wait(b->d, b->dev, b->err));
        batch[r] = (double)(clf_now_ns() - t0) / BATCH;
    }
    qsort(batch, 5, sizeof *batch, by_value);
    p->launch_async_ns = batch[2] < p->launch_sync_ns ? batch[2] : p->launch_sync_ns;
    return CLF_OK;
}

static clf_status launches(clf_gauge_bench *b, clf_profile *p) {
    clf_program *k;
    CLF_TRY(clf_gauge_kernel(b, "m_ADD", &k));
    clf_status st = launch_costs(b, k, p);
    if (st == CLF_OK) st = second_core(b, k, p);
    clf_program_free(b->d, k, true);
    return st;
}

static void put_math(const clf_gauge_bench *b, clf_str *text) {
    if (!b->math) return clf_str_put(text, "#define EXP exp\n#define LOG log\n");
    clf_str_put(text, b->math);
    if (clf_gauge_groups(b))
        clf_str_put(text, b->type == CLF_F64 ? "CLF_MATH_f64(own, T, long, as_double, as_long)\n"
                                             : "CLF_MATH_f32(own, T, int, as_float, as_int)\n");
    else
        clf_str_put(text, b->type == CLF_F64 ? "CLF_MATH_f64(own, V, long8, as_double8, as_long8)\n"
                                             : "CLF_MATH_f32(own, V, int16, as_float16, as_int16)\n");
    clf_str_put(text, "#define EXP own_EXP\n#define LOG own_LOG\n");
}

static clf_status build(clf_gauge_bench *b) {
    clf_str text;
    clf_str_init(&text, b->d->mem);
    bool wide = b->type == CLF_F64;
    if (wide) clf_str_put(&text, "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n");
    clf_str_put(&text, "#if defined(__clang__) && defined(__has_warning)\n#if __has_warning(\"-Wpsabi\")\n" /* as contract.clh */
                       "#pragma clang diagnostic ignored \"-Wpsabi\"\n#endif\n#endif\n");
    clf_str_put(&text, wide ? "#define T double\n#define V double8\n#define L 8\n" : "#define T float\n#define V float16\n#define L 16\n");
    put_math(b, &text);
    clf_str_put(&text, clf_gauge_groups(b) ? clf_calibrate_group_cl : clf_calibrate_cl);
    const clf_source src = {.text = clf_str_c(&text), .text_len = text.len, .entry = "calibration", .options = ""};
    clf_status st = text.failed ? clf_fail(b->err, CLF_E_NOMEM, "no memory for the calibration kernels")
                                : clf_program_compile(b->d, b->dev, &src, &b->built, b->err);
    clf_str_release(&text);
    return st;
}

static void fill(clf_gauge_bench *b) {
    atomic_fetch_add(&b->in_name.version, 1);
    if (b->type == CLF_F64)
        for (size_t i = 0; i < b->set_bytes / sizeof(double); i++) ((double *)(void *)b->in)[i] = 1;
    else
        for (size_t i = 0; i < b->set_bytes / sizeof(float); i++) ((float *)(void *)b->in)[i] = 1;
}

/* Figures that are made of others come last. */
static clf_status measure_once(clf_gauge_bench *b, bool rest, clf_profile *p) {
    clf_least_again(&b->least);
    for (int c = 0; c < CLF_NCLASSES; c++) CLF_TRY(class_rate(b, c, p));
    CLF_TRY(clf_gauge_fma(b, p));
    if (p->kind == CLF_DEV_CPU) CLF_TRY(clf_gauge_tile(b, p));
    if (clf_gauge_groups(b)) CLF_TRY(clf_gauge_item_cells(b, p));
    if (!rest) return CLF_OK;
    CLF_TRY(launches(b, p));
    CLF_TRY(clf_gauge_streams(b, p));
    if (!p->zero_copy) CLF_TRY(clf_gauge_link(b, p));
    return clf_gauge_loops(b, p);
}

static clf_status measure(clf_gauge_bench *b, clf_dtype type, bool rest, clf_profile *p) {
    b->type = type;
    b->least = (clf_least){0};
    CLF_TRY(build(b));
    fill(b);
    clf_status st = measure_once(b, rest, p);
    if (st == CLF_OK && clf_now_ns() < b->hurry_ns) st = measure_once(b, rest, p);
    if (clReleaseProgram(b->built) != CL_SUCCESS && st == CLF_OK)
        st = clf_fail(b->err, CLF_E_DEVICE, "clReleaseProgram failed after calibration");
    b->built = NULL;
    return st;
}

/* The largest set that memory, budget and device give, down to SMALLEST_SET. */
static clf_status reserve(clf_gauge_bench *b) {
    double memory = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    b->out_bytes = clf_gauge_groups(b) ? b->items * sizeof(double) : OUT_VECTORS * (size_t)64;
    b->out = clf_mem_data(b->d->mem, b->out_bytes);
    for (b->set_bytes = LARGEST_SET; b->out && b->set_bytes >= SMALLEST_SET; b->set_bytes /= 2) {
        if ((double)b->set_bytes > memory / 8 || b->set_bytes > b->d->dev[b->dev].info.max_alloc_bytes) continue;
        b->in = clf_mem_data(b->d->mem, b->set_bytes);
        if (b->in) return CLF_OK;
    }
    return clf_fail(b->err, CLF_E_NOMEM, "calibration needs %d MiB of memory", SMALLEST_SET >> 20);
}

clf_status clf_gauge_device(clf_devs *d, int dev, const char *math, double patience_s, clf_profile *out, clf_err *err) {
    clf_dev *v = NULL;
    clf_profile p;
    clf_status st;
    CLF_TRY(clf_dev_enter(d, dev, &v, err));
    clf_gauge_bench b = {.d = d, .dev = dev, .math = math, .cores = v->info.compute_units ? v->info.compute_units : 1, .err = err};
    b.hurry_ns = clf_now_ns() + (uint64_t)(patience_s * 1e9);
    b.local = v->info.kind == CLF_DEV_GPU ? GROUP : 1;
    if (b.cores > OUT_VECTORS / 8) b.cores = OUT_VECTORS / 8;
    b.items = GROUPS_PER_CORE * b.local * (size_t)b.cores;
    clf_dev_assume(d, dev, &p);
    p.assumed = 0;
    CLF_GO(reserve(&b));
    if (p.fp64) CLF_GO(measure(&b, CLF_F64, true, &p));
    CLF_GO(measure(&b, CLF_F32, !p.fp64, &p));
    *out = p;
out:
    if (st != CLF_OK) clf_dev_wait(d, dev, NULL); /* kernels before the failure */
    clf_buf_forget(&b.in_name);
    clf_buf_forget(&b.out_name);
    clf_mirrors_trim(d);
    clf_dev_give_back(d, v, b.out, b.out_bytes);
    if (b.in) clf_dev_give_back(d, v, b.in, b.set_bytes);
    return st;
}

clf_status clf_dev_calibrate(clf_devs *d, int dev, const char *math, clf_profile *out, clf_err *err) {
    return clf_gauge_device(d, dev, math, PATIENCE_S, out, err);
}
