/* SPDX-License-Identifier: Apache-2.0
 * Where the host executor ends: cplans it leaves to the reference executor, extents whose cells or working memory cannot be counted, a
 * program that is running already, memory that runs out at any point. */
#include <math.h>

#include "host/run/tile_prog.h"
#include "tests/unit/tile_testing.h"
#include "tests/unit/heap_testing.h"

#define AXIS "(axis i range free 10)\n"
#define BOTH AXIS "(axis j range free 4)\n"
static const char *const refused[] = {
    /* three axes */
    "(cplan " BOTH "(axis k range free 3)\n(in X f64 dense 10 4 3)\n(out S f64)\n"
    "(access a X stream (i 1 0) (j 1 0) (k 1 0))\n(let x f64 load a)\n(fold S SUM x keep))",
    /* a gather */
    "(cplan " AXIS "(in X f64 dense 10)\n(in n i64 dense 10)\n(out A f64 10)\n(access b n stream (i 1 0))\n(let k i64 load b)\n"
    "(access a X stream (k 1 0))\n(let x f64 load a)\n(store A x keep i))",
    /* a fold as a value, a scan */
    "(cplan " BOTH "(in X f64 dense 10 4)\n(out A f64 10)\n(access a X stream (i 1 0) (j 1 0))\n(let x f64 load a)\n"
    "(let s f64 fold SUM j x)\n(store A s keep i))",
    "(cplan (axis i range ascending 10)\n(in X f64 dense 10)\n(out A f64 10)\n(access a X stream (i 1 0))\n(let x f64 load a)\n"
    "(let s f64 scan SUM i x)\n(store A s keep i))",
    /* a guarded result */
    "(cplan " AXIS "(in X f64 dense 10)\n(out S f64)\n(access a X stream (i 1 0))\n(let x f64 load a)\n(let g u8 LT x x)\n"
    "(fold S SUM x keep guard g))",
    /* a fold over no axis */
    "(cplan " AXIS "(in X f64 dense 10)\n(out A f64 10)\n(access a X stream (i 1 0))\n(let x f64 load a)\n(fold A SUM x keep i))",
    /* records */
    "(cplan (axis i range ascending 10)\n(in X f64 dense 10)\n(out A f64 10)\n(out N i64)\n(access a X stream (i 1 0))\n"
    "(let x f64 load a)\n(append A x count N keep))",
    /* segments */
    "(cplan " AXIS "(in o i64 dense 11)\n(in X f64 dense 30)\n(out S f64)\n(access b o stream (i 1 0))\n"
    "(axis k seg free 30 owner b parent i)\n(access a X stream (k 1 0))\n(let x f64 load a)\n(fold S SUM x keep))",
    /* stored entries */
    "(cplan " AXIS "(in X f64 csr 10 4)\n(out S f64)\n(axis k entry free 30 owner a parent i)\n"
    "(access a X entries (i 1 0) (k 1 0))\n(let x f64 load a)\n(fold S SUM x keep))",
};

static void test_refused(void) {
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        clf_arena arena;
        clf_cplan c;
        clf_tile *t = NULL;
        clf_err err = {CLF_OK, ""};
        clf_arena_init(&arena, &mem);
        clf_status st = clf_cplan_parse(&c, &arena, refused[i], strlen(refused[i]), &err);
        if (st != CLF_OK) printf("\n    %s\n    %s\n", refused[i], err.text);
        CU_ASSERT_EQUAL(st, CLF_OK);
        if (st == CLF_OK) {
            CU_ASSERT_FALSE(clf_tile_fits(&c));
            CU_ASSERT_EQUAL(clf_tile_new(&t, &c, CLF_ISA_AUTO, &mem, &err), CLF_E_UNSUPPORTED);
            CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "no loops"));
            CU_ASSERT_PTR_NULL(t);
        }
        clf_arena_release(&arena);
    }
}

static void test_isa(void) {
    CU_ASSERT_EQUAL(clf_isa_pick(CLF_ISA_BASELINE), CLF_ISA_BASELINE);
    CU_ASSERT(clf_isa_pick(CLF_ISA_AVX2) <= CLF_ISA_AVX2 && clf_isa_pick(CLF_ISA_AVX512) <= CLF_ISA_AVX512);
    CU_ASSERT_EQUAL(clf_isa_pick(CLF_ISA_AUTO), clf_isa_pick(CLF_ISA_AVX512));
    CU_ASSERT_STRING_EQUAL(clf_isa_name(CLF_ISA_AVX2), "avx2");
    CU_ASSERT_STRING_EQUAL(clf_isa_name((clf_isa)99), "?");
}

/* sum, and with `columns` column sums of x + v, v a row vector. */
static clf_tile *make(plan *p, bool columns) {
    clf_tile *t = NULL;
    int64_t cols = 4;
    plan_begin(p, 10, cols);
    int x = plan_load(p, CLF_F64, 10, cols);
    int v = clf_build_load(&p->b, clf_build_access(&p->b, clf_build_in(&p->b, CLF_F64, 1, &cols), (int[]){1}));
    int s = clf_build_op(&p->b, CLF_OP_ADD, CLF_F64, x, clf_build_op(&p->b, CLF_OP_SQR, CLF_F64, v, -1, -1), -1);
    uint32_t keep = columns ? 2 : 0;
    clf_build_fold(&p->b, plan_out(p, CLF_F64, 10, cols, keep), CLF_FOLD_SUM, s, keep);
    plan_end(p);
    CU_ASSERT_EQUAL_FATAL(clf_tile_new(&t, &p->c, CLF_ISA_AUTO, &mem, NULL), CLF_OK);
    return t;
}

static void test_extents(void) {
    static const int64_t huge[][2] = {{(int64_t)1 << 40, (int64_t)1 << 40}, {1, INT64_MAX}, {1, (int64_t)1 << 60}, {1, (int64_t)1 << 57}};
    for (int columns = 0; columns < 2; columns++) {
        plan p;
        clf_tile *t = make(&p, columns);
        for (size_t i = 0; i < sizeof huge / sizeof *huge; i++) {
            double in[1] = {0}, out[1] = {-7};
            void *ins[2] = {in, in}, *outs[1] = {out};
            int64_t n[2] = {huge[i][0], huge[i][1]}, dims[2 * CLF_MAX_RANK] = {0};
            dims[0] = n[0], dims[1] = dims[CLF_MAX_RANK] = n[1];
            clf_err err = {CLF_OK, ""};
            clf_bind bind = {.in = ins, .out = outs, .axis_n = n, .in_dim = dims, .out_dim = dims};
            clf_status st = clf_tile_run(t, &bind, NULL, &err);
            CU_ASSERT(st == CLF_E_LIMIT || st == CLF_E_NOMEM);
            CU_ASSERT(i > 1 || st == CLF_E_LIMIT);
            CU_ASSERT(*err.text && out[0] == -7);
        }
        clf_tile_free(t);
        clf_arena_release(&p.arena);
    }
}

/* While a program's own scratch is taken, a run brings its own and leaves the other alone. */
static void test_busy(void) {
    plan p;
    clf_tile *t = make(&p, true);
    double x[40], v[4] = {1, 2, 3, 4}, first[4] = {0}, second[4] = {0};
    void *in[2] = {x, v}, *out[1] = {first};
    for (int i = 0; i < 40; i++) x[i] = i;
    CU_ASSERT_EQUAL(clf_tile_run(t, &(clf_bind){.in = in, .out = out}, NULL, NULL), CLF_OK);
    void *own = t->scratch.at;
    size_t held = atomic_load(&mem.data_bytes);
    CU_ASSERT_PTR_NOT_NULL(own);
    atomic_store(&t->scratch.busy, 1);
    out[0] = second;
    CU_ASSERT_EQUAL(clf_tile_run(t, &(clf_bind){.in = in, .out = out}, NULL, NULL), CLF_OK);
    CU_ASSERT_EQUAL(memcmp(first, second, sizeof first), 0);
    CU_ASSERT_EQUAL(first[3], 10 * 16 + 3 * 10 + 4 * 45.0);
    CU_ASSERT_PTR_EQUAL(t->scratch.at, own);
    CU_ASSERT_EQUAL(atomic_load(&t->scratch.busy), 1);
    CU_ASSERT_EQUAL(atomic_load(&mem.data_bytes), held);
    atomic_store(&mem.limit_bytes, held + 1); /* no room for a second block */
    clf_err err = {CLF_OK, ""};
    CU_ASSERT_EQUAL(clf_tile_run(t, &(clf_bind){.in = in, .out = out}, NULL, &err), CLF_E_NOMEM);
    atomic_store(&mem.limit_bytes, 0);
    atomic_store(&t->scratch.busy, 0);
    clf_tile_free(t);
    clf_arena_release(&p.arena);
}

/* So many values that every array of a program has a block of its own. */
static void test_memory(void) {
    enum { VALUES = 6000, N = 5 };
    plan p;
    bool done = false;
    int64_t n = N;
    clf_arena_init(&p.arena, &mem);
    clf_build_begin(&p.b, &p.arena);
    clf_build_axis(&p.b, CLF_AXIS_RANGE, n);
    int x = clf_build_load(&p.b, clf_build_access(&p.b, clf_build_in(&p.b, CLF_F64, 1, &n), (int[]){0})), v = x;
    int par = clf_build_value(
        &p.b, (clf_value){.op = CLF_V_PARAM, .dtype = CLF_F64, .axis = -1, .in = {-1, -1, -1}, .arg = clf_build_param(&p.b, CLF_F64)});
    for (int i = 0; i < VALUES; i++) v = clf_build_op(&p.b, CLF_OP_ADD, CLF_F64, v, par, -1);
    clf_build_store(&p.b, clf_build_out(&p.b, CLF_F64, 1, &n), v, 1);
    plan_end(&p);
    double data[N] = {0, 1, 2, 3, 4}, out[N] = {0};
    void *in[1] = {data}, *outs[1] = {out};
    clf_scalar one = clf_scalar_f64(1);
    for (int k = 0; k < 200 && !done; k++) {
        counting_heap heap = heap_but(k);
        clf_mem m;
        clf_tile *t = NULL;
        clf_err err = {CLF_OK, ""};
        clf_mem_init(&m, counting_alloc, &heap);
        clf_status st = clf_tile_new(&t, &p.c, CLF_ISA_AUTO, &m, &err);
        CU_ASSERT_EQUAL(st == CLF_OK, t != NULL);
        if (st == CLF_OK) st = clf_tile_run(t, &(clf_bind){.in = in, .param = &one, .out = outs}, NULL, &err);
        CU_ASSERT(st == CLF_OK || (st == CLF_E_NOMEM && *err.text));
        done = st == CLF_OK && heap.count < heap.fail_at;
        clf_tile_free(t);
        CU_ASSERT_EQUAL(heap.live, 0);
    }
    CU_ASSERT_TRUE(done);
    CU_ASSERT_EQUAL(out[4], VALUES + 4);
    clf_arena_release(&p.arena);
}

int main(void) {
    static const tile_test tests[] = {
        {"left to the reference", test_refused}, {"instruction sets", test_isa}, {"extents", test_extents},
        {"a busy program", test_busy},           {"no memory", test_memory},
    };
    return run_tile_suite("limits of the tiles", tests, sizeof tests / sizeof *tests);
}
