/* SPDX-License-Identifier: Apache-2.0
 * cell.generic: every operator, every fold and random cplans on the first OpenCL device against the reference executor, elementary functions
 * against cell.chunk: same bits, whatever the number of launches. And it is one program for all cplans of a type. */
#include <CUnit/Basic.h>
#include <stdio.h>
#include <string.h>

#include "kernels-cl/skel/generic_plan.h"
#include "tests/support/kernel_job.h"
#include "tests/support/net.h"
#include "tests/support/skel_case.h"
#include "tests/unit/api_testing.h"
#include "tests/unit/cell_testing.h"

static const clf_skel *generic, *chunk;
static long launches;

static bool fits(kernel_job *j) {
    CU_ASSERT_EQUAL_FATAL(job_built(j, NULL), CLF_OK);
    return generic->fits(&j->c, &jobs.profile);
}

/* Against the reference executor, or the kernel that it stands in for. */
static void run(kernel_job *j, const clf_skel *other, int parts) {
    clf_err err = {0};
    size_t bad = 0;
    job_memory(j, JOB_REAL, 1);
    clf_status st = other ? job_kernel(j, other, 1, &err) : job_reference(j, &err);
    for (int o = 0; o < j->c.nout && other; o++) {
        void *was = j->want[o];
        j->want[o] = j->got[o];
        j->got[o] = was;
    }
    if (st == CLF_OK) st = job_kernel(j, generic, parts, &err);
    for (int o = 0; st == CLF_OK && o < j->c.nout; o++) bad += job_wrong(j, o, 0);
    if (st != CLF_OK) fprintf(stderr, "%s\n", err.text);
    CU_ASSERT_EQUAL(st, CLF_OK);
    CU_ASSERT_EQUAL(bad, 0);
    launches++;
}

static void check(kernel_job *j, const clf_skel *other, int parts) {
    bool good = fits(j);
    CU_ASSERT_TRUE(good);
    if (good) run(j, other, parts);
    job_end(j);
}

/* ---- on the device ---- */

typedef struct shape {
    int64_t rows, cols;
} shape;
static const shape shapes[] = {{0, 5}, {1, 1}, {1, 512}, {1, 513}, {37, 129}, {300, 201}, {700, 1201}};

static void test_operators(void) {
    for (int t = CLF_F32; t <= CLF_F64; t++)
        for (int o = 0; o < CLF_NOPS; o++) {
            kernel_job j;
            job_begin(&j, (uint64_t)o);
            plane p = axes(&j, 37, 41);
            int a = input(&j, &p, (clf_dtype)t, 3), b = input(&j, &p, (clf_dtype)t, 3), c = param(&j, (clf_dtype)t);
            store(&j, &p, op(&j, (clf_op)o, (clf_dtype)t, a, b, c), 3);
            store(&j, &p, op(&j, (clf_op)o, (clf_dtype)t, c, a, b), 3);
            check(&j, clf_ops[o].flags & F_ELEM ? chunk : NULL, 1);
        }
}

static void test_folds(void) {
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++)
        for (int t = CLF_F32; t <= CLF_F64; t++)
            for (int f = 0; f < CLF_NFOLDS; f += 3) {
                kernel_job j;
                job_begin(&j, 42 + (uint64_t)k);
                plane p = axes(&j, shapes[k].rows, shapes[k].cols);
                int x = input(&j, &p, (clf_dtype)t, 3);
                for (int q = f; q < f + 3 && q < CLF_NFOLDS; q++) fold(&j, &p, (clf_fold_id)q, x, 0);
                check(&j, NULL, 1 + (int)k % 3);
            }
}

/* A value that is kept and folded, one kept twice, an operand kept, what varies with no cell everywhere. */
static void test_sinks(void) {
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        kernel_job j;
        job_begin(&j, 7);
        plane p = axes(&j, shapes[k].rows, shapes[k].cols);
        clf_dtype t = k % 2 ? CLF_F32 : CLF_F64;
        int x = input(&j, &p, t, 3), s = input(&j, &p, t, 0), q = op(&j, CLF_OP_SUB, t, param(&j, t), s, -1);
        int y = op(&j, CLF_OP_MUL, t, op(&j, CLF_OP_ADD, t, x, q, -1), x, -1);
        store(&j, &p, y, 3);
        store(&j, &p, y, 3);
        store(&j, &p, x, 3);
        fold(&j, &p, CLF_FOLD_SUM, y, 0);
        check(&j, NULL, 1 + (int)k % 3);
    }
}

/* One operand in another place: bases of accesses. */
static void test_bases(void) {
    kernel_job j;
    job_begin(&j, 3);
    int64_t n = 1500, more = 2000;
    int axis = clf_build_axis(&j.b, CLF_AXIS_RANGE, n), in = clf_build_in(&j.b, CLF_F64, 1, &more), v[3];
    for (int k = 0; k < 3; k++) {
        clf_access a = {.input = in, .rank = 1, .at = {{axis, -1, 1, 200 * k + (k > 1)}}};
        v[k] = clf_build_load(&j.b, clf_build_access_at(&j.b, &a));
    }
    int x = op(&j, CLF_OP_ADD, CLF_F64, op(&j, CLF_OP_SUB, CLF_F64, v[0], v[1], -1), v[2], -1);
    clf_build_store(&j.b, clf_build_out(&j.b, CLF_F64, 1, &n), x, 1);
    check(&j, NULL, 2);
}

/* Rows and columns that are repeated: alone, of each other, kept and folded, of scalars. */
static void test_repeated(void) {
    static const shape more[] = {{5, 0}, {600, 1}, {40, 511}, {40, 512}, {3, 517}, {9, 3000}};
    size_t n = sizeof shapes / sizeof *shapes, all = n + sizeof more / sizeof *more;
    for (size_t k = 0; k < 2 * all; k++) {
        const shape *at = k / 2 < n ? &shapes[k / 2] : &more[k / 2 - n];
        kernel_job j;
        job_begin(&j, 11);
        plane p = axes(&j, at->rows, at->cols);
        clf_dtype t = k % 2 ? CLF_F32 : CLF_F64;
        int x = input(&j, &p, t, 3), row = input(&j, &p, t, 2), col = input(&j, &p, t, 1), s = input(&j, &p, t, 0);
        int y = op(&j, CLF_OP_MUL, t, op(&j, CLF_OP_SUB, t, x, row, -1), col, -1), z = op(&j, CLF_OP_MAX, t, col, s, -1);
        store(&j, &p, op(&j, CLF_OP_ADD, t, y, z, -1), 3);
        store(&j, &p, row, 3);
        fold(&j, &p, CLF_FOLD_SUM, op(&j, CLF_OP_MUL, t, col, row, -1), 0);
        fold(&j, &p, CLF_FOLD_ARGMAX, y, 0);
        check(&j, NULL, 1 + (int)k % 3);
    }
}

/* Every fold of rows, of what is kept, repeated or the same everywhere, too. */
static void test_row_folds(void) {
    static const shape of[] = {{0, 5}, {37, 1}, {37, 129}, {300, 201}, {5, 512}, {40, 513}, {70, 1201}, {3, 9000}, {2, 40000}};
    for (size_t k = 0; k < sizeof of / sizeof *of; k++)
        for (int t = CLF_F32; t <= CLF_F64; t++)
            for (int f = 0; f < CLF_NFOLDS; f += 2) {
                kernel_job j;
                job_begin(&j, 43 + (uint64_t)k);
                plane p = axes(&j, of[k].rows, of[k].cols);
                int x = input(&j, &p, (clf_dtype)t, 3), row = input(&j, &p, (clf_dtype)t, 2), col = input(&j, &p, (clf_dtype)t, 1);
                int y = op(&j, CLF_OP_MUL, (clf_dtype)t, op(&j, CLF_OP_SUB, (clf_dtype)t, x, row, -1), col, -1);
                fold(&j, &p, (clf_fold_id)f, f % 4 ? y : x, 1);
                if (f + 1 < CLF_NFOLDS) fold(&j, &p, (clf_fold_id)(f + 1), y, 1);
                fold(&j, &p, CLF_FOLD_SUM, col, 1);
                store(&j, &p, y, 3);
                check(&j, NULL, 1 + (int)k % 3);
            }
}

/* Every fold of columns: one of them, a few with lanes of their own, as many as fill a strip, more; blocks of rows that end early. */
static void test_column_folds(void) {
    static const shape of[] = {{0, 5}, {1, 7}, {37, 1}, {5000, 1}, {300, 12}, {1037, 100}, {40, 128}, {700, 129}, {17, 512}, {90, 3001}};
    for (size_t k = 0; k < sizeof of / sizeof *of; k++)
        for (int t = CLF_F32; t <= CLF_F64; t++)
            for (int f = 0; f < CLF_NFOLDS; f += 2) {
                kernel_job j;
                job_begin(&j, 44 + (uint64_t)k);
                plane p = axes(&j, of[k].rows, of[k].cols);
                int x = input(&j, &p, (clf_dtype)t, 3), row = input(&j, &p, (clf_dtype)t, 2), col = input(&j, &p, (clf_dtype)t, 1);
                int y = op(&j, CLF_OP_MUL, (clf_dtype)t, op(&j, CLF_OP_SUB, (clf_dtype)t, x, row, -1), col, -1);
                fold(&j, &p, (clf_fold_id)f, f % 4 ? y : x, 2);
                if (f + 1 < CLF_NFOLDS) fold(&j, &p, (clf_fold_id)(f + 1), y, 2);
                fold(&j, &p, CLF_FOLD_SUM, row, 2);
                if (f % 4) store(&j, &p, y, 3);
                check(&j, NULL, 1 + (int)k % 3);
            }
}

static int pairs_in(const clf_cplan *c) {
    clf_generic g;
    int n = 0;
    CU_ASSERT_TRUE(clf_generic_plan(&g, c, 2));
    for (int k = 0; k < g.ncode; k++) n += (int)(g.code[k] & 0xffff) >= CLF_GEN_PAIR0;
    return n;
}

/* A product in the accumulator, then `inner` of two operands in memory, then both together; also where the product is an operand of `inner`, is
 * kept, or where `inner` is read twice, is stored or folded, so that it is computed by itself. */
static void pair_of(const clf_generic_outer *o, clf_op inner, clf_dtype t, int way, int *pairs) {
    kernel_job j;
    job_begin(&j, (uint64_t)(way + 7 * (int)inner));
    plane p = axes(&j, 37, 41);
    int x = input(&j, &p, t, 3), y = input(&j, &p, t, 3), w = op(&j, CLF_OP_MUL, t, x, y, -1);
    int u = op(&j, inner, t, y, way == 1 ? w : x, -1);
    int v = op(&j, o->op, t, o->acc ? u : w, o->acc ? w : u, -1);
    store(&j, &p, way == 3 ? op(&j, CLF_OP_MAX, t, v, u, -1) : v, 3);
    if (way == 2) store(&j, &p, w, 3);
    if (way == 4) store(&j, &p, u, 3);
    if (way == 5) fold(&j, &p, CLF_FOLD_SUM, u, 0);
    CU_ASSERT_EQUAL_FATAL(job_built(&j, NULL), CLF_OK);
    *pairs += pairs_in(&j.c);
    run(&j, NULL, 1);
    job_end(&j);
}

static void test_pairs(void) {
    for (int t = CLF_F32; t <= CLF_F64; t++)
        for (int k = 0; k < CLF_GEN_OUTER * CLF_GEN_INNER; k++) {
            int pairs = 0, alone = 0;
            for (int way = 0; way < 6; way++)
                pair_of(&clf_generic_outers[k / CLF_GEN_INNER], clf_generic_inners[k % CLF_GEN_INNER], (clf_dtype)t, way,
                        way < 3 ? &pairs : &alone);
            CU_ASSERT_EQUAL(pairs, 3);
            CU_ASSERT_EQUAL(alone, 0);
        }
}

/* Instructions that compute ahead: two of each value in front of the others, and two among them. */
static int ahead_in(const clf_cplan *c) {
    clf_generic g;
    int n = 0;
    CU_ASSERT_TRUE(clf_generic_plan(&g, c, 2));
    for (int k = 0; k < g.ncode; k++) n += (g.code[k] & 3) == 3 && clf_generic_divides((int)(g.code[k] & 0xffff) / 4);
    CU_ASSERT_EQUAL(2 * (g.later - g.nonce), n);
    return n;
}

/* Quotients and roots of operands: read at once, late, twice, by the first of two operators in one instruction; of what is repeated, is
 * kept, or is computed, they are computed where they stand. Work-items of one block, of less, of strips that are cut anywhere. */
static void ahead_of(int64_t n, clf_dtype t, int way, int parts) {
    kernel_job j;
    job_begin(&j, (uint64_t)n);
    plane p = axes(&j, way == 2 ? n : 1, way == 2 ? 3 : n);
    int x = input(&j, &p, t, 3), y = way == 2 ? input(&j, &p, t, 2) : input(&j, &p, t, 3), c = param(&j, t);
    int q = op(&j, CLF_OP_DIV, t, x, c, -1), r = op(&j, CLF_OP_SQRT, t, y, -1, -1), s = op(&j, CLF_OP_DIV, t, x, y, -1);
    int a = op(&j, CLF_OP_ADD, t, q, x, -1), b = op(&j, CLF_OP_MUL, t, a, q, -1);
    int d = op(&j, CLF_OP_MAX, t, b, r, -1), e = op(&j, CLF_OP_ADD, t, d, op(&j, CLF_OP_MUL, t, s, x, -1), -1);
    int f = op(&j, CLF_OP_DIV, t, e, a, -1), g = op(&j, CLF_OP_SUB, t, f, op(&j, CLF_OP_MIN, t, s, b, -1), -1);
    store(&j, &p, g, 3);
    fold(&j, &p, CLF_FOLD_SUM, e, 0);
    if (way == 1) store(&j, &p, s, 3);
    CU_ASSERT_EQUAL_FATAL(job_built(&j, NULL), CLF_OK);
    CU_ASSERT_EQUAL(ahead_in(&j.c), way == 0 ? 12 : way == 1 ? 8 : 4);
    run(&j, NULL, parts);
    job_end(&j);
}

static void test_ahead(void) {
    static const int64_t of[] = {2, 63, 64, 65, 127, 448, 511, 512, 513, 1023, 1024, 1025, 1536, 4095, 5000, 70001};
    for (size_t k = 0; k < sizeof of / sizeof *of; k++)
        for (int t = CLF_F32; t <= CLF_F64; t++)
            for (int way = 0; way < 3; way++) ahead_of(of[k], (clf_dtype)t, way, 1 + (int)k % 3);
}

static void random_plan(kernel_job *j, uint64_t seed) {
    static const clf_op ops[] = {CLF_OP_ADD,    CLF_OP_SUB, CLF_OP_MUL, CLF_OP_MAX, CLF_OP_LT,
                                 CLF_OP_IFELSE, CLF_OP_SQR, CLF_OP_ABS, CLF_OP_DIV, CLF_OP_SQRT};
    enum { OPS = sizeof ops / sizeof *ops };
    int v[32], n = 0;
    job_begin(j, seed);
    int64_t cols = 1 + (int64_t)(job_uniform(j) * job_uniform(j) * 900), rows = (int64_t)(job_uniform(j) * job_uniform(j) * 400);
    plane p = axes(j, rows, cols);
    clf_dtype e = job_uniform(j) < 0.5 ? CLF_F32 : CLF_F64;
    for (int k = 0; k < 3; k++) v[n++] = input(j, &p, e, 3);
    v[n++] = input(j, &p, e, (unsigned)(job_uniform(j) * 3));
    v[n++] = param(j, e);
    for (int most = 8 + (int)(seed % 20); n < most; n++) {
        int a = v[(int)(job_uniform(j) * n)], b = v[(int)(job_uniform(j) * n)], c = v[(int)(job_uniform(j) * n)];
        v[n] = op(j, ops[(int)(job_uniform(j) * OPS)], e, a, b, c);
    }
    double chance = job_uniform(j);
    unsigned keep = chance < 0.3 ? 1 : chance < 0.6 ? 2 : 0;
    for (int k = 0; k < 4; k++) {
        int x = v[n - 1 - (int)(job_uniform(j) * job_uniform(j) * n)];
        if (job_uniform(j) < 0.4)
            store(j, &p, x, 3);
        else
            fold(j, &p, (clf_fold_id)(job_uniform(j) * CLF_NFOLDS), x, keep);
    }
}

static void test_random(void) {
    long taken = 0, all = net_count(150, 20000);
    for (long s = 0; s < all; s++) {
        kernel_job j;
        random_plan(&j, 9100 + (uint64_t)s);
        bool good = fits(&j);
        if (good) run(&j, NULL, 1 + (int)(s % 3));
        taken += good;
        job_end(&j);
    }
    CU_ASSERT_TRUE(taken > all / 2);
}

/* ---- without a device ---- */

static void planned(kernel_job *j, clf_dtype t, int64_t n, int operators, clf_sched *s) {
    job_begin(j, 42);
    plane p = axes(j, n, 100);
    int x = input(j, &p, t, 3);
    for (int k = 0; k < operators; k++) x = op(j, k % 2 ? CLF_OP_ADD : CLF_OP_MUL, t, x, input(j, &p, t, 3), -1);
    fold(j, &p, CLF_FOLD_SUM, x, 0);
    skel_planned(j, generic, s);
}

static void test_one_program(void) {
    kernel_job a, b;
    clf_sched sa, sb;
    clf_source ta, tb;
    planned(&a, CLF_F64, 1000, 1, &sa);
    planned(&b, CLF_F64, 37, 6, &sb);
    skel_same_text(&a, &sa, &b, &sb);
    ta = skel_text(&a, &sa), tb = skel_text(&b, &sb);
    CU_ASSERT_EQUAL_FATAL(ta.nargs, tb.nargs);
    CU_ASSERT_EQUAL(memcmp(ta.args, tb.args, (size_t)ta.nargs * sizeof *ta.args), 0);
    CU_ASSERT_TRUE(ta.nargs * 8 <= 1024); /* the least a device takes */
    job_end(&b);
    planned(&b, CLF_F32, 37, 6, &sb);
    tb = skel_text(&b, &sb);
    CU_ASSERT_STRING_NOT_EQUAL(ta.entry, tb.entry);
    job_end(&a);
    job_end(&b);
}

static bool takes(clf_dtype t, unsigned keep, bool cast, int values) {
    kernel_job j;
    job_begin(&j, 42);
    plane p = axes(&j, 100, 70);
    int x = input(&j, &p, t, keep ? 3 : 2), y = input(&j, &p, t, 3);
    for (int k = 0; k < values; k++) y = op(&j, CLF_OP_ADD, t, y, x, -1);
    if (cast) y = clf_build_cast(&j.b, y, CLF_F32);
    fold(&j, &p, CLF_FOLD_SUM, y, keep == 3 ? 0 : keep);
    bool good = fits(&j);
    job_end(&j);
    return good;
}

static void test_what_it_takes(void) {
    clf_profile was = jobs.profile;
    CU_ASSERT_TRUE(takes(CLF_F64, 3, false, 5));
    CU_ASSERT_TRUE(takes(CLF_F64, 3, false, 39));
    CU_ASSERT_FALSE(takes(CLF_F64, 3, false, 40));
    CU_ASSERT_TRUE(takes(CLF_F64, 0, false, 5));
    CU_ASSERT_TRUE(takes(CLF_F64, 1, false, 5));
    CU_ASSERT_TRUE(takes(CLF_F64, 2, false, 5));
    CU_ASSERT_FALSE(takes(CLF_F64, 3, true, 5));
    CU_ASSERT_FALSE(takes(CLF_I32, 3, false, 5));
    jobs.profile.max_arg_bytes = 512;
    CU_ASSERT_FALSE(takes(CLF_F64, 3, false, 5));
    jobs.profile = was;
    jobs.profile.fp64 = 0;
    CU_ASSERT_FALSE(takes(CLF_F32, 3, false, 5));
    jobs.profile = was;
}

static void test_schedule(void) {
    kernel_job j;
    clf_sched s;
    clf_facts f;
    planned(&j, CLF_F64, 100000, 1, &s);
    CU_ASSERT_TRUE(s.flat && s.extent == 10000000 && s.grain % 512 == 0);
    CU_ASSERT_EQUAL((s.extent + s.grain - 1) / s.grain, (int64_t)(s.global / s.local));
    generic->facts(&j.c, &jobs.profile, &s, &f);
    CU_ASSERT_EQUAL(f.read_bytes, 2 * 8e7);
    CU_ASSERT_EQUAL(f.write_bytes, 8);
    CU_ASSERT_EQUAL(f.launches, 1);
    job_end(&j);
}

static void test_no_memory(void) {
    kernel_job j;
    clf_sched s;
    planned(&j, CLF_F64, 100, 2, &s);
    skel_no_memory(&j, &s);
    job_end(&j);
}

static void test_figures(void) {
    net_figure("cell.generic", "%ld cplans by two programs", launches);
    CU_ASSERT(launches > 150);
}

int main(void) {
    static const test_case plans[] = {{"one program", test_one_program},
                                      {"what it takes", test_what_it_takes},
                                      {"schedule", test_schedule},
                                      {"no memory", test_no_memory}};
    static const test_case device[] = {{"operators", test_operators},
                                       {"folds", test_folds},
                                       {"sinks", test_sinks},
                                       {"bases", test_bases},
                                       {"repeated", test_repeated},
                                       {"row folds", test_row_folds},
                                       {"column folds", test_column_folds},
                                       {"pairs", test_pairs},
                                       {"ahead", test_ahead},
                                       {"random", test_random},
                                       {"figures", test_figures}};
    bool there = jobs_open(false);
    generic = jobs_skel("cell.generic");
    chunk = jobs_skel("cell.chunk");
    int failed = run_suite("cell.generic, plans", plans, sizeof plans / sizeof *plans);
    if (there && !failed) failed = run_suite("cell.generic", device, sizeof device / sizeof *device);
    jobs_close();
    return failed;
}
