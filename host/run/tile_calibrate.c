/* SPDX-License-Identifier: Apache-2.0
 * Measuring device 0 with its own programs: what sum(X*Y*Z) streams at four working sets, what an operator of each cost class
 * adds to sum(X), what a result costs more than an operand, and what a run costs before its first cell.
 *
 * Every figure is the lower quartile of several tries within a fixed slice, near what a caller meets, and the least of the passes that the
 * caller makes; differences are bounded below so that no rate is infinite. */
#include "core/clock.h"
#include "core/least.h"
#include "core/turns.h"
#include "host/run/tile_isa.h"
#include "planner/builder.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    SLICE_NS = 30000000,
    MIN_TRIES = 8,
    MOST_TRIES = 100,
    CLASS_CELLS = 1 << 16,
    /* a core's part */ BIG_CELLS = 6 << 20,
    SHARED_BYTES = 12 * BIG_CELLS, /* of a set that may be a cache's: half of what is taken for memory */
    MAX_CHAIN = 4,
    EXP_RUNS = 24,
    MEET_NS = 1000000,
    MEET_ROUNDS = 21
};

typedef struct clf_gauge {
    clf_pool *pool;
    clf_isa isa;
    clf_mem *mem;
    clf_err *err;
    char *x, *y, *z, *out; /* BIG_CELLS f64 each */
    clf_least *least;
} clf_gauge;

/* What to run: inputs of a type, an operator applied `chain` times to x (and y), then a sum, or a store. */
typedef struct clf_probe_plan {
    clf_dtype type;
    int op, chain, inputs;
    bool store;
    int64_t n;
} clf_probe_plan;

static clf_status probe_build(clf_cplan *c, clf_arena *a, const clf_probe_plan *p, clf_err *err) {
    clf_builder b;
    int load[3] = {-1, -1, -1}, axis[1] = {0};
    clf_build_begin(&b, a);
    clf_build_axis(&b, CLF_AXIS_RANGE, p->n);
    for (int i = 0; i < p->inputs; i++) load[i] = clf_build_load(&b, clf_build_access(&b, clf_build_in(&b, p->type, 1, &p->n), axis));
    int v = load[0];
    for (int i = 0; i < p->chain; i++)
        v = clf_build_op(&b, (clf_op)p->op, p->type, v, clf_ops[p->op].arity > 1 ? load[1 + (i < p->inputs - 1 ? i : 0)] : -1, -1);
    if (p->store)
        clf_build_store(&b, clf_build_out(&b, p->type, 1, &p->n), v, 1);
    else
        clf_build_fold(&b, clf_build_out(&b, p->type, 0, NULL), CLF_FOLD_SUM, v, 0);
    return clf_build_end(&b, c, err);
}

/* The lower quartile of some runs' times. */
static clf_status probe_time(const clf_gauge *g, clf_tile *t, const clf_bind *bind, clf_pool *pool, double *ns) {
    double start = (double)clf_now_ns(), one = 0, sorted[MOST_TRIES];
    CLF_TRY(clf_tile_run(t, bind, pool, g->err));
    one = (double)clf_now_ns() - start;
    int runs = one > 1e5 ? 1 : (int)(1e5 / (one + 10)) + 1, tries = 0;
    for (; tries < MIN_TRIES || (tries < MOST_TRIES && (double)clf_now_ns() - start < SLICE_NS); tries++) {
        double t0 = (double)clf_now_ns();
        for (int i = 0; i < runs; i++) CLF_TRY(clf_tile_run(t, bind, pool, g->err));
        clf_sorted_insert(sorted, tries, ((double)clf_now_ns() - t0) / runs);
    }
    *ns = clf_least_of(g->least, sorted[tries / 4]);
    return CLF_OK;
}

static clf_status probe(const clf_gauge *g, const clf_probe_plan *p, clf_pool *pool, double *ns) {
    clf_arena a;
    clf_cplan c;
    clf_tile *t = NULL;
    double sum[1];
    void *in[3] = {g->x, g->y, g->z}, *out[1] = {p->store ? (void *)g->out : (void *)sum};
    clf_arena_init(&a, g->mem);
    clf_status st = probe_build(&c, &a, p, g->err);
    if (st == CLF_OK) st = clf_tile_new(&t, &c, g->isa, g->mem, g->err);
    if (st == CLF_OK) st = probe_time(g, t, &(clf_bind){.in = in, .out = out}, pool, ns);
    clf_tile_free(t);
    clf_arena_release(&a);
    return st;
}

/* Values in (0.5, 1.5): no operator meets a special case. */
static void fill(const clf_gauge *g, clf_dtype type, int64_t n) {
    char *to[3] = {g->x, g->y, g->z};
    for (int k = 0; k < 3; k++)
        for (int64_t i = 0; i < n; i++)
            clf_scalar_store(to[k], (size_t)i,
                             (clf_scalar){.dtype = type, .u.f = 0.5 + (double)((i * 7 + k * INT64_C(3)) % 1000 + 1) / 1001.0});
}

static double cache_bytes(int name, double otherwise) {
    long n = sysconf(name);
    return n > 0 ? (double)n : otherwise;
}

/* What sum(X*Y*Z) streams of `set` bytes, all three together. */
static clf_status stream_rate(const clf_gauge *g, const clf_profile *p, double set, double *per_s) {
    clf_probe_plan plan = {.type = CLF_F64, .op = CLF_OP_MUL, .chain = 2, .inputs = 3, .n = (int64_t)(set / 24)};
    double ns;
    if (plan.n > BIG_CELLS) plan.n = BIG_CELLS;
    CLF_TRY(probe(g, &plan, g->pool, &ns));
    double work = ns - p->launch_sync_ns > ns / 4 ? ns - p->launch_sync_ns : ns / 4;
    *per_s = 24e9 * (double)plan.n / work;
    return CLF_OK;
}

/* The largest set that still streams markedly faster than memory: what the system calls the size of the last cache may be that of all
 * of a server's, or of a share that others use. */
static clf_status gauge_shared(const clf_gauge *g, clf_profile *p) {
    bool faster = true;
    double set = 2 * p->tier_bytes[1], rate, limit = cache_bytes(_SC_LEVEL3_CACHE_SIZE, 2 * set);
    CLF_TRY(stream_rate(g, p, set, &p->read_bytes_per_s[2]));
    p->tier_bytes[2] = set;
    for (set *= 2; set <= limit && set <= SHARED_BYTES; set *= 2) {
        CLF_TRY(stream_rate(g, p, set, &rate));
        faster &= rate >= 1.5 * p->read_bytes_per_s[3];
        if (!faster) continue;
        p->tier_bytes[2] = set;
        p->read_bytes_per_s[2] = rate;
    }
    p->llc_bytes = p->tier_bytes[2];
    return CLF_OK;
}

static clf_status gauge_tiers(const clf_gauge *g, clf_profile *p) {
    double cores = p->cores, l1 = cache_bytes(_SC_LEVEL1_DCACHE_SIZE, 32e3), l2 = cache_bytes(_SC_LEVEL2_CACHE_SIZE, 1e6);
    p->tier_bytes[0] = l1;
    p->tier_bytes[1] = l2 * cores;
    p->tier_bytes[3] = 1e18;
    CLF_TRY(stream_rate(g, p, l1 * 0.75, &p->read_bytes_per_s[0]));
    CLF_TRY(stream_rate(g, p, l2 * 0.75 * cores, &p->read_bytes_per_s[1]));
    CLF_TRY(stream_rate(g, p, 24.0 * BIG_CELLS, &p->read_bytes_per_s[3]));
    return gauge_shared(g, p);
}

/* What an operator of each class adds to sum(X), on all cores; for additions, the plainest, sum(X+Y) whole, so that what a tile costs is in
 * them. Where a busy machine hides what is added, it is an eighth of the time at least, and no elementary function is cheaper than an
 * addition. */
static clf_status gauge_classes(const clf_gauge *g, clf_profile *p, int wide) {
    static const struct {
        int op, chain;
    } by_class[CLF_NCLASSES] = {
        [CLF_CLASS_ADD] = {CLF_OP_ADD, 1},           [CLF_CLASS_CMP] = {CLF_OP_LT, MAX_CHAIN}, [CLF_CLASS_DIV] = {CLF_OP_DIV, MAX_CHAIN},
        [CLF_CLASS_SQRT] = {CLF_OP_SQRT, MAX_CHAIN}, [CLF_CLASS_EXP] = {CLF_OP_EXP, 1},        [CLF_CLASS_LOG] = {CLF_OP_LOG, 1},
        [CLF_CLASS_POW] = {CLF_OP_POW, 1},           [CLF_CLASS_TRIG] = {CLF_OP_SIN, 1}};
    clf_probe_plan plan = {.type = wide ? CLF_F64 : CLF_F32, .op = CLF_OP_ADD, .inputs = 2, .n = CLASS_CELLS};
    double base, ns, addition = 0, cells;
    plan.n *= p->cores;
    cells = (double)plan.n;
    fill(g, plan.type, plan.n);
    CLF_TRY(probe(g, &plan, g->pool, &base));
    for (int k = 0; k < CLF_NCLASSES; k++) {
        plan.op = by_class[k].op;
        plan.chain = by_class[k].chain;
        CLF_TRY(probe(g, &plan, g->pool, &ns));
        double added = k == CLF_CLASS_ADD ? ns / 2 : ns - base > ns / 8 ? ns - base : ns / 8, each = added / (plan.chain * cells);
        if (k == CLF_CLASS_ADD) addition = each;
        if (k >= CLF_CLASS_EXP && each < addition) each = addition;
        p->cells_per_s[wide][k] = 1e9 / each;
    }
    return CLF_OK;
}

enum { NARROW = 11, ROWS = 1 << 16 }; /* no whole vectors; so many that waking the other cores is little of it */

/* rowSums(X * X) of narrow rows of a type: what a row costs beside its cells. */
static clf_status row_time(const clf_gauge *g, clf_dtype type, const clf_profile *p, double *row_ns) {
    const int64_t n = ROWS, dim[2] = {ROWS, NARROW};
    const int axis[2] = {0, 1};
    clf_arena a;
    clf_builder b;
    clf_cplan c;
    clf_tile *t = NULL;
    void *in[1] = {g->x}, *out[1] = {g->out};
    double ns = 0;
    clf_arena_init(&a, g->mem);
    clf_build_begin(&b, &a);
    for (int d = 0; d < 2; d++) clf_build_axis(&b, CLF_AXIS_RANGE, dim[d]);
    int v = clf_build_load(&b, clf_build_access(&b, clf_build_in(&b, type, 2, dim), axis));
    v = clf_build_op(&b, CLF_OP_MUL, type, v, v, -1);
    clf_build_fold(&b, clf_build_out(&b, type, 1, &n), CLF_FOLD_SUM, v, 1);
    clf_status st = clf_build_end(&b, &c, g->err);
    if (st == CLF_OK) st = clf_tile_new(&t, &c, g->isa, g->mem, g->err);
    if (st == CLF_OK) st = probe_time(g, t, &(clf_bind){.in = in, .out = out}, g->pool, &ns);
    clf_tile_free(t);
    clf_arena_release(&a);
    if (st != CLF_OK) return st;
    double cells = 2e9 * NARROW * ROWS / p->cells_per_s[type == CLF_F64][CLF_CLASS_ADD];
    *row_ns = (ns - cells > ns / 8 ? ns - cells : ns / 8) / ROWS;
    return CLF_OK;
}

/* The dearer of both types counts. */
static clf_status gauge_rows(const clf_gauge *g, clf_profile *p) {
    static const clf_dtype types[] = {CLF_F32, CLF_F64}; /* the cells are f64 afterwards, as the others want them */
    double ns;
    p->row_ns = 0;
    for (int i = 0; i < 2; i++) {
        fill(g, types[i], i ? BIG_CELLS : ROWS * NARROW);
        CLF_TRY(row_time(g, types[i], p, &ns));
        if (ns > p->row_ns) p->row_ns = ns;
    }
    return CLF_OK;
}

/* Programs that take turns, and a figure of their times. */
typedef struct turning {
    int n;
    clf_probe_plan plan[CLF_TURNS_THINGS];
    int runs[CLF_TURNS_THINGS]; /* of a turn */
    clf_turns_figure figure;
    double known;
} turning;

static clf_status by_turns(const clf_gauge *g, const turning *w, clf_tile *const *t, double *median) {
    double sorted[CLF_TURNS_MOST], sum[1] = {0}, ns[CLF_TURNS_THINGS];
    for (int i = 0; i < CLF_TURNS_MOST; i++) {
        for (int k = 0; k < w->n; k++) {
            double start = (double)clf_now_ns();
            void *in[3] = {g->x, g->y, g->z}, *out[1] = {w->plan[k].store ? (void *)g->out : (void *)sum};
            for (int r = 0; r < w->runs[k]; r++) CLF_TRY(clf_tile_run(t[k], &(clf_bind){.in = in, .out = out}, g->pool, g->err));
            ns[k] = (double)clf_now_ns() - start;
        }
        clf_sorted_insert(sorted, i, w->figure(ns, w->known));
    }
    *median = sorted[CLF_TURNS_MOST / 2];
    return CLF_OK;
}

static clf_status take_turns(const clf_gauge *g, const turning *w, double *median) {
    clf_arena a;
    clf_cplan c;
    clf_tile *t[CLF_TURNS_THINGS] = {NULL};
    clf_status st = CLF_OK;
    clf_arena_init(&a, g->mem);
    for (int k = 0; k < w->n && st == CLF_OK; k++) {
        st = probe_build(&c, &a, &w->plan[k], g->err);
        if (st == CLF_OK) st = clf_tile_new(&t[k], &c, g->isa, g->mem, g->err);
    }
    if (st == CLF_OK) st = by_turns(g, w, t, median);
    for (int k = 0; k < w->n; k++) clf_tile_free(t[k]);
    clf_arena_release(&a);
    return st;
}

/* sum(X * Y), which streams two operands. */
static const clf_probe_plan stream_two = {.type = CLF_F64, .op = CLF_OP_MUL, .chain = 1, .inputs = 2, .n = BIG_CELLS};

static double hidden(const double *ns, double known) { return clf_part_hidden(ns[0], ns[1] / 2, ns[2] * known); }

/* sum(exp(X)) at the largest size, and of as many cells as classes are measured with, all cores' together. */
static clf_status gauge_overlap(const clf_gauge *g, clf_profile *p) {
    const clf_probe_plan exps = {.type = CLF_F64, .op = CLF_OP_EXP, .chain = 1, .inputs = 1, .n = BIG_CELLS};
    turning w = {3, {exps, stream_two, exps}, {1, 1, EXP_RUNS}, hidden, 0};
    w.plan[2].n = (int64_t)CLASS_CELLS * p->cores;
    w.known = BIG_CELLS / ((double)w.plan[2].n * EXP_RUNS);
    return take_turns(g, &w, &p->overlap);
}

/* X * Y stored against the same summed, at the largest size. */
static double written(const double *ns, double known) { return fmax((ns[0] - ns[1]) / (ns[1] / 2), known); }

static clf_status gauge_store(const clf_gauge *g, clf_profile *p) {
    turning w = {2, {stream_two, stream_two}, {1, 1}, written, 0.5};
    w.plan[0].store = true;
    return take_turns(g, &w, &p->write_cost);
}

/* Every part waits until all workers are in, or for a while: what it takes to have them all. */
static void meet(void *user, int64_t part, int worker) {
    atomic_int *waiting = user;
    double start = (double)clf_now_ns();
    (void)part, (void)worker;
    atomic_fetch_sub(waiting, 1);
    while (atomic_load(waiting) > 0 && (double)clf_now_ns() - start < MEET_NS) continue;
}

/* Least of some rounds between which workers fall asleep. */
static double gauge_second_core(clf_pool *pool) {
    double best = MEET_NS;
    if (!pool || clf_pool_threads(pool) < 2) return 0;
    for (int i = 0; i < MEET_ROUNDS; i++) {
        atomic_int waiting = clf_pool_threads(pool);
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
        double t0 = (double)clf_now_ns();
        clf_pool_run(pool, clf_pool_threads(pool), meet, &waiting);
        double ns = (double)clf_now_ns() - t0;
        best = ns < best ? ns : best;
    }
    return best;
}

static clf_status gauge_launch(const clf_gauge *g, clf_profile *p) {
    clf_probe_plan plan = {.type = CLF_F64, .op = CLF_OP_MUL, .chain = 2, .inputs = 3, .n = 8};
    CLF_TRY(probe(g, &plan, NULL, &p->launch_sync_ns));
    p->launch_async_ns = p->launch_sync_ns;
    p->second_core_ns = clf_least_of(g->least, gauge_second_core(g->pool));
    return CLF_OK;
}

static clf_status gauge_all(clf_gauge *g, clf_profile *p) {
    clf_least_again(g->least);
    fill(g, CLF_F64, BIG_CELLS);
    memset(g->out, 0, (size_t)BIG_CELLS * 8);
    CLF_TRY(gauge_launch(g, p));
    CLF_TRY(gauge_tiers(g, p));
    CLF_TRY(gauge_store(g, p));
    CLF_TRY(gauge_classes(g, p, 0));
    CLF_TRY(gauge_classes(g, p, 1));
    CLF_TRY(gauge_rows(g, p));
    return gauge_overlap(g, p);
}

clf_status clf_tile_calibrate(clf_pool *pool, clf_isa isa, clf_mem *mem, clf_least *known, clf_profile *out, clf_err *err) {
    size_t bytes = (size_t)BIG_CELLS * 8;
    clf_gauge g = {.pool = pool, .isa = clf_isa_pick(isa), .mem = mem, .err = err, .least = known};
    clf_profile p;
    clf_profile_assume(&p, CLF_DEV_HOST, pool ? clf_pool_threads(pool) : 1);
    snprintf(p.name, sizeof p.name, "host");
    snprintf(p.driver, sizeof p.driver, "%s", clf_isa_name(g.isa)); /* the name it is looked up by: clf_run_host_profile */
    char *block = clf_mem_data(mem, 4 * bytes);
    if (!block) return clf_fail(err, CLF_E_NOMEM, "%zu bytes to measure the host with", 4 * bytes);
    g.x = block, g.y = block + bytes, g.z = block + 2 * bytes, g.out = block + 3 * bytes;
    clf_status st = gauge_all(&g, &p);
    clf_mem_data_free(mem, block, 4 * bytes);
    if (st != CLF_OK) return st;
    p.assumed = 0;
    *out = p;
    return CLF_OK;
}
