/* SPDX-License-Identifier: Apache-2.0
 * The host executor: every operator and fold against a direct evaluation, every shape of tile, and equal bits for all
 * instruction sets and thread counts. The reduction tree is written again here, naively, from core/fold.h. */
#include "host/run/tile_isa.h"
#include "kernels-cl/elem_c.h"
#include "planner/builder.h"

#include <CUnit/Basic.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static clf_mem mem;
static clf_pool *pools[4]; /* of 1 .. 4 threads */

/* ---- values ------------------------------------------------------------------------------------------------------------------ */

static uint64_t seed = 1;
static uint64_t next_random(void) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return seed >> 33;
}

/* n elements of type t: small, mixed signs, ties; specials: also NaN, infinities, zeros and large numbers. */
static void *new_data(clf_dtype t, int64_t n, bool specials) {
    static const double odd[] = {NAN, INFINITY, -INFINITY, 0.0, -0.0, 1e30, -3e9, 0.5, -2.5, 1.0};
    char *p = malloc((size_t)(n + 1) * 8);
    for (int64_t i = 0; i < n; i++) {
        double x = (double)(int64_t)(next_random() % 2001) / 100.0 - 10.0;
        if (specials && next_random() % 3 == 0) x = odd[next_random() % 10];
        clf_scalar_store(p, (size_t)i, clf_scalar_to(clf_scalar_f64(x), t));
    }
    return p;
}

static bool same_bits(clf_scalar a, clf_scalar b) {
    if (clf_dtype_float(a.dtype) && a.u.f != a.u.f && b.u.f != b.u.f) return true;
    return clf_scalar_same(a, b);
}

static bool same_array(clf_dtype t, int64_t n, const void *a, const void *b) {
    for (int64_t i = 0; i < n; i++)
        if (!same_bits(clf_scalar_load(a, (size_t)i, t), clf_scalar_load(b, (size_t)i, t))) return false;
    return true;
}

/* ---- plans --------------------------------------------------------------------------------------------------------------------- */

typedef struct plan {
    clf_arena arena;
    clf_builder b;
    clf_cplan c;
} plan;

static void plan_begin(plan *p, int64_t rows, int64_t cols) {
    clf_arena_init(&p->arena, &mem);
    clf_build_begin(&p->b, &p->arena);
    clf_build_axis(&p->b, CLF_AXIS_RANGE, rows);
    clf_build_axis(&p->b, CLF_AXIS_RANGE, cols);
}

static void plan_end(plan *p) {
    clf_err err;
    clf_err_clear(&err);
    CU_ASSERT_EQUAL(clf_build_end(&p->b, &p->c, &err), CLF_OK);
    if (err.code != CLF_OK) fprintf(stderr, "%s\n", err.text);
}

/* A load of a whole matrix. */
static int plan_load(plan *p, clf_dtype t, int64_t r, int64_t c) {
    int in = clf_build_in(&p->b, t, 2, (int64_t[]){r, c});
    return clf_build_load(&p->b, clf_build_access(&p->b, in, (int[]){0, 1}));
}

static int plan_out(plan *p, clf_dtype t, int64_t r, int64_t c, uint32_t keep) {
    int64_t dim[2] = {keep & 1 ? r : c, c};
    return clf_build_out(&p->b, t, keep == 3 ? 2 : keep == 0 ? 0 : 1, dim);
}

/* Run on every instruction set and thread count. Outputs of `bytes` each; the first run's go to want when it is NULL there. */
static void run_all(const plan *p, void *const *in, const clf_scalar *param, int nout, const clf_dtype *type, const int64_t *n,
                    void **want) {
    CU_ASSERT_FATAL(clf_tile_fits(&p->c));
    for (int isa = CLF_ISA_BASELINE; isa <= CLF_ISA_AVX512; isa++)
        for (int threads = 0; threads <= 4; threads++) {
            clf_tile *t = NULL;
            clf_err err;
            void *out[8];
            clf_err_clear(&err);
            CU_ASSERT_EQUAL_FATAL(clf_tile_new(&t, &p->c, (clf_isa)isa, &mem, &err), CLF_OK);
            for (int i = 0; i < nout; i++) out[i] = memset(malloc((size_t)n[i] * 8 + 8), 0xa5, (size_t)n[i] * 8 + 8);
            clf_bind bind = {.in = in, .param = param, .out = out};
            CU_ASSERT_EQUAL(clf_tile_run(t, &bind, threads ? pools[threads - 1] : NULL, &err), CLF_OK);
            for (int i = 0; i < nout; i++) {
                if (!want[i]) want[i] = out[i];
                bool same = same_array(type[i], n[i], out[i], want[i]);
                CU_ASSERT(same);
                if (!same) fprintf(stderr, "output %d differs: %s, %d threads\n", i, clf_isa_name((clf_isa)isa), threads);
                if (want[i] != out[i]) free(out[i]);
            }
            clf_tile_free(t);
        }
}

/* ---- the tree, naively ------------------------------------------------------------------------------------------------------------ */

#define ST_SUM V, X, X
#define ST_SUMSQ V, X, X
#define ST_MIN V, X, X
#define ST_MAX V, X, X
#define ST_PROD V, X, X
#define ST_MEAN V, N, X
#define ST_VAR N, V, V
#define ST_ARGMIN V, N, X
#define ST_ARGMAX V, N, X
#define ST_ANY N, X, X
#define ST_ALL N, X, X
#define ST_NNZ N, X, X
#define LT_V E_T
#define LT_N int64_t
#define LT_X int
#define WT_V W_T
#define WT_N int64_t
#define WT_X int
#define RT_W W_T
#define RT_N int64_t
#define RR_SUM W
#define RR_SUMSQ W
#define RR_MIN W
#define RR_MAX W
#define RR_PROD W
#define RR_MEAN W
#define RR_VAR W
#define RR_ARGMIN N
#define RR_ARGMAX N
#define RR_ANY N
#define RR_ALL N
#define RR_NNZ N
#define CAT_(a, b) a##b
#define CAT(a, b) CAT_(a, b)
#define NM(what, ID) CAT_4(what, ID, _, ELEM_T)
#define CAT_4(a, b, c, d) CAT_4_(a, b, c, d)
#define CAT_4_(a, b, c, d) a##b##c##d
#define FIELDS(...) FIELDS_(__VA_ARGS__)
#define FIELDS_(a, b, c) \
    CAT(LT_, a) s0; \
    CAT(LT_, b) s1; \
    CAT(LT_, c) s2; \
    CAT(WT_, a) w0; \
    CAT(WT_, b) w1; \
    CAT(WT_, c) w2;
#define WFIELDS(...) WFIELDS_(__VA_ARGS__)
#define WFIELDS_(a, b, c) \
    CAT(WT_, a) s0 = x.w0, t0 = y.w0; \
    CAT(WT_, b) s1 = x.w1, t1 = y.w1; \
    CAT(WT_, c) s2 = x.w2, t2 = y.w2;
#define LFIELDS(...) LFIELDS_(__VA_ARGS__)
#define LFIELDS_(a, b, c) \
    CAT(LT_, a) s0 = x->s0; \
    CAT(LT_, b) s1 = x->s1; \
    CAT(LT_, c) s2 = x->s2;

/* kind 0: cells first .. first + n - 1 of x, leaves of 512. kind 1: a column: n rows `stride` apart, blocks of `block`. */
typedef struct extent {
    const void *x;
    int64_t first, n, stride, leaf;
    int lanes;
} extent;
typedef clf_scalar (*naive_fn)(const extent *e);

#define NAIVE(ID, INIT, STEP, MERGE, FINISH) \
    typedef struct NM(st_, ID) { \
        FIELDS(ST_##ID) \
    } NM(st_, ID); \
    static void NM(init_, ID)(NM(st_, ID) * x) { \
        memset(x, 0, sizeof *x); \
        LFIELDS(ST_##ID) \
        INIT; \
        x->s0 = s0, x->s1 = s1, x->s2 = s2; \
    } \
    static void NM(step_, ID)(NM(st_, ID) * x, E_T v, int64_t k) { \
        E_T c, d; \
        (void)c, (void)d, (void)k; \
        LFIELDS(ST_##ID) \
        STEP; \
        x->s0 = s0, x->s1 = s1, x->s2 = s2; \
    } \
    static NM(st_, ID) NM(merge_, ID)(NM(st_, ID) x, NM(st_, ID) y) { \
        W_T c, d, q; \
        int64_t n; \
        WFIELDS(ST_##ID) \
        (void)c, (void)d, (void)q, (void)n, (void)t0, (void)t1, (void)t2; \
        MERGE; \
        x.w0 = s0, x.w1 = s1, x.w2 = s2; \
        return x; \
    } \
    static NM(st_, ID) NM(leaf_, ID)(const extent *e, int64_t leaf) { \
        NM(st_, ID) l[16]; \
        for (int i = 0; i < e->lanes; i++) NM(init_, ID)(&l[i]); \
        for (int64_t p = leaf * e->leaf; p < e->n && p < (leaf + 1) * e->leaf; p++) \
            NM(step_, ID)(&l[p % e->lanes], ((const E_T *)e->x)[e->first + p * e->stride], p); \
        for (int i = 0; i < e->lanes; i++) l[i].w0 = l[i].s0, l[i].w1 = l[i].s1, l[i].w2 = l[i].s2; \
        for (int h = e->lanes / 2; h > 0; h /= 2) \
            for (int i = 0; i < h; i++) l[i] = NM(merge_, ID)(l[i], l[i + h]); \
        return l[0]; \
    } \
    static NM(st_, ID) NM(tree_, ID)(const extent *e, int64_t first, int64_t n) { \
        if (n <= 1) return NM(leaf_, ID)(e, first); \
        int64_t k = 1; \
        while (k * 2 < n) k *= 2; \
        return NM(merge_, ID)(NM(tree_, ID)(e, first, k), NM(tree_, ID)(e, first + k, n - k)); \
    } \
    static clf_scalar NM(naive_, ID)(const extent *e) { \
        NM(st_, ID) x = NM(tree_, ID)(e, 0, (e->n + e->leaf - 1) / e->leaf), y = x; \
        WFIELDS(ST_##ID) \
        CAT(RT_, RR_##ID) r; \
        (void)s1, (void)s2, (void)t0, (void)t1, (void)t2, (void)s0; \
        FINISH; \
        return _Generic(r, double : clf_scalar_f64((double)r), int64_t : clf_scalar_i64((int64_t)r)); \
    }
#define CLF_FOLD(ID, name, state, init, step, merge, finish, repeat, result, flops) NAIVE(ID, init, step, merge, finish)
#define ELEM_T f32
#include "core/folds.def"
#undef ELEM_T
#define ELEM_T f64
#define CLF_FOLD(ID, name, state, init, step, merge, finish, repeat, result, flops) NAIVE(ID, init, step, merge, finish)
#include "core/folds.def"
#undef ELEM_T
#define ELEM_T i32
#define CLF_FOLD(ID, name, state, init, step, merge, finish, repeat, result, flops) NAIVE(ID, init, step, merge, finish)
#include "core/folds.def"
#undef ELEM_T
#define ELEM_T i64
#define CLF_FOLD(ID, name, state, init, step, merge, finish, repeat, result, flops) NAIVE(ID, init, step, merge, finish)
#include "core/folds.def"
#undef ELEM_T
#define ELEM_T u8
#define CLF_FOLD(ID, name, state, init, step, merge, finish, repeat, result, flops) NAIVE(ID, init, step, merge, finish)
#include "core/folds.def"
#undef ELEM_T

static const naive_fn naive[CLF_NFOLDS][CLF_NDTYPES] = {
#define CLF_FOLD(ID, ...) {naive_##ID##_f32, naive_##ID##_f64, naive_##ID##_i32, naive_##ID##_i64, naive_##ID##_u8},
#include "core/folds.def"
};

static int64_t results_of(uint32_t keep, int64_t r, int64_t c) { return keep == 0 ? 1 : keep == 1 ? r : c; }

/* What a fold of the r x c matrix x should give, as memory. */
static void *naive_fold(clf_fold_id f, clf_dtype t, uint32_t keep, int64_t r, int64_t c, const void *x) {
    clf_dtype out = clf_fold_result_type(f, t);
    int64_t n = results_of(keep, r, c);
    char *want = calloc((size_t)n + 1, 8);
    for (int64_t i = 0; i < n; i++) {
        extent e = {x, 0, r * c, 1, 512, clf_lanes(t)};
        if (keep == 1) e = (extent){x, i * c, c, 1, 512, clf_lanes(t)};
        if (keep == 2) e = (extent){x, i, r, c, clf_col_block(r, c), clf_col_lanes(c, t)};
        clf_scalar_store(want, (size_t)i, clf_scalar_to(naive[f][t](&e), out));
    }
    return want;
}

/* ---- folds ------------------------------------------------------------------------------------------------------------------------- */

static void check_fold(clf_fold_id f, clf_dtype t, uint32_t keep, int64_t r, int64_t c, bool specials) {
    plan p;
    plan_begin(&p, r, c);
    int64_t dim[2] = {r, c}, n = results_of(keep, r, c);
    int x = clf_build_load(&p.b, clf_build_access(&p.b, clf_build_in(&p.b, t, 2, dim), (int[]){0, 1}));
    clf_dtype type = clf_fold_result_type(f, t);
    clf_build_fold(&p.b, plan_out(&p, type, r, c, keep), f, x, keep);
    plan_end(&p);
    void *in[1] = {new_data(t, r * c, specials)}, *want[1] = {naive_fold(f, t, keep, r, c, in[0])};
    unsigned before = CU_get_number_of_failures();
    run_all(&p, in, NULL, 1, &type, &n, want);
    if (CU_get_number_of_failures() != before)
        fprintf(stderr, "%s %s keep %u %lld x %lld\n", clf_folds[f].id, clf_dtype_name(t), keep, (long long)r, (long long)c);
    free(in[0]);
    free(want[0]);
    clf_arena_release(&p.arena);
}

static const int64_t shapes[][2] = {{0, 0},   {0, 5},   {5, 0},   {1, 1},   {2, 3},    {7, 7},    {33, 10},  {64, 8},  {65, 2},
                                    {100, 1}, {1, 513}, {3, 512}, {3, 513}, {2, 1100}, {19, 128}, {20, 129}, {513, 7}, {1030, 3}};

static void test_folds(void) {
    for (int f = 0; f < CLF_NFOLDS; f++)
        for (int t = 0; t < CLF_NDTYPES; t++) {
            if (clf_fold_value_type((clf_fold_id)f, (clf_dtype)t) != (clf_dtype)t) continue;
            for (uint32_t keep = 0; keep < 3; keep++)
                for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
                    check_fold((clf_fold_id)f, (clf_dtype)t, keep, shapes[s][0], shapes[s][1], (s & 1) != 0);
        }
}

/* Large enough for several parts and threads. */
static void test_folds_parallel(void) {
    static const int64_t large[][2] = {{1, 400001}, {40000, 10}, {3000, 129}, {70, 5003}, {400, 1024}};
    static const clf_fold_id folds[] = {CLF_FOLD_SUM, CLF_FOLD_VAR, CLF_FOLD_ARGMAX};
    for (size_t s = 0; s < sizeof large / sizeof *large; s++)
        for (int f = 0; f < 3; f++)
            for (uint32_t keep = 0; keep < 3; keep++)
                check_fold(folds[f], s % 2 ? CLF_F32 : CLF_F64, keep, large[s][0], large[s][1], false);
}

static void test_fold_facts(void) {
    static const int bytes[CLF_NDTYPES] = {4, 8, 4, 8, 1};
    for (int f = 0; f < CLF_NFOLDS; f++)
        for (int t = 0; t < CLF_NDTYPES; t++) {
            const clf_fold_fns *fns = clf_isa_loops(CLF_ISA_BASELINE).fold->fold[f][t];
            const char *state = clf_folds[f].state;
            CU_ASSERT_EQUAL(fns != NULL, clf_fold_value_type((clf_fold_id)f, (clf_dtype)t) == (clf_dtype)t);
            for (int i = 0; i < 3 && fns; i++) {
                char letter = i < (int)strlen(state) ? state[i] : 'X';
                CU_ASSERT_EQUAL(fns->comp_bytes[i], letter == 'V' ? bytes[t] : letter == 'N' ? 8 : 0);
            }
            if (fns) CU_ASSERT_EQUAL(fns->uses_k, strchr(clf_folds[f].step, 'k') != NULL);
        }
}

/* ---- operators ------------------------------------------------------------------------------------------------------------------------ */

typedef void (*scalar_fn)(const void *a, const void *b, const void *c, void *r);
#define SCALAR_FN(ID, text) \
    static void CAT_4(one_, ID, _, ELEM_T)(const void *pa, const void *pb, const void *pc, void *r) { \
        E_T a = *(const E_T *)pa, b = *(const E_T *)pb, c = *(const E_T *)pc; \
        (void)a, (void)b, (void)c; \
        *(E_T *)r = text; \
    }
#define CLF_OP(ID, name, arity, cl, flags, rule, shape, flops, grad, text) SCALAR_FN(ID, (text))
#define ELEM_T f32
#include "core/ops.def"
#undef ELEM_T
#define ELEM_T f64
#define CLF_OP(ID, name, arity, cl, flags, rule, shape, flops, grad, text) SCALAR_FN(ID, (text))
#include "core/ops.def"
#undef ELEM_T
#define ELEM_T i32
#define CLF_OP(ID, name, arity, cl, flags, rule, shape, flops, grad, text) SCALAR_FN(ID, (text))
#include "core/ops.def"
#undef ELEM_T
#define ELEM_T i64
#define CLF_OP(ID, name, arity, cl, flags, rule, shape, flops, grad, text) SCALAR_FN(ID, (text))
#include "core/ops.def"
#undef ELEM_T
#define ELEM_T u8
#define CLF_OP(ID, name, arity, cl, flags, rule, shape, flops, grad, text) SCALAR_FN(ID, (text))
#include "core/ops.def"
#undef ELEM_T
static const scalar_fn one[CLF_NOPS][CLF_NDTYPES] = {
#define CLF_OP(ID, ...) {one_##ID##_f32, one_##ID##_f64, one_##ID##_i32, one_##ID##_i64, one_##ID##_u8},
#include "core/ops.def"
};

static bool close_to(clf_scalar a, clf_scalar b) {
    double tol = a.dtype == CLF_F32 ? 2e-6 : 1e-14;
    if (same_bits(a, b) || a.u.f == b.u.f) return true;
    return fabs(a.u.f - b.u.f) <= tol * fabs(b.u.f) + (a.dtype == CLF_F32 ? 1e-37 : 1e-300);
}

/* Elementary functions may differ from the C library's in the last places, and by instruction set. */
static void check_op(clf_op op, clf_dtype t, clf_isa isa, clf_dtype result) {
    enum { N = 531 };
    plan p;
    clf_tile *tile = NULL;
    clf_err err;
    void *in[3];
    char *out = malloc(N * 8), want[8];
    int64_t dim[1] = {N};
    int arg[3] = {-1, -1, -1};
    bool right = true, exact = !(clf_ops[op].flags & F_ELEM);
    clf_arena_init(&p.arena, &mem);
    clf_build_begin(&p.b, &p.arena);
    clf_build_axis(&p.b, CLF_AXIS_RANGE, N);
    for (int i = 0; i < 3; i++) {
        in[i] = new_data(t, N, exact);
        if (i < clf_ops[op].arity) arg[i] = clf_build_load(&p.b, clf_build_access(&p.b, clf_build_in(&p.b, t, 1, dim), (int[]){0}));
    }
    int v = clf_build_op(&p.b, op, result, arg[0], arg[1], arg[2]);
    clf_build_store(&p.b, clf_build_out(&p.b, result, 1, dim), v, 1);
    plan_end(&p);
    clf_err_clear(&err);
    CU_ASSERT_EQUAL_FATAL(clf_tile_new(&tile, &p.c, isa, &mem, &err), CLF_OK);
    void *outs[1] = {out};
    CU_ASSERT_EQUAL(clf_tile_run(tile, &(clf_bind){.in = in, .out = outs}, NULL, &err), CLF_OK);
    size_t each = clf_dtype_bytes(t);
    for (size_t i = 0; i < N; i++) {
        one[op][t]((char *)in[0] + i * each, (char *)in[1] + i * each, (char *)in[2] + i * each, want);
        clf_scalar w = clf_scalar_to(clf_scalar_load(want, 0, t), result), g = clf_scalar_load(out, i, result);
        right &= exact ? same_bits(w, g) : close_to(g, w);
    }
    CU_ASSERT(right);
    if (!right) fprintf(stderr, "%s %s %s\n", clf_ops[op].id, clf_dtype_name(t), clf_isa_name(isa));
    clf_tile_free(tile);
    for (int i = 0; i < 3; i++) free(in[i]);
    free(out);
    clf_arena_release(&p.arena);
}

static void test_ops(void) {
    for (int op = 0; op < CLF_NOPS; op++)
        for (int t = 0; t < CLF_NDTYPES; t++)
            for (int isa = CLF_ISA_BASELINE; isa <= CLF_ISA_AVX512; isa++) {
                bool real = clf_dtype_float((clf_dtype)t);
                if (clf_ops[op].type == CLF_TYPE_FLOAT && !real) continue;
                if (clf_ops[op].type == CLF_TYPE_ARITH && t == CLF_U8) continue;
                check_op((clf_op)op, (clf_dtype)t, (clf_isa)isa, (clf_dtype)t);
                for (int r = 0; r < CLF_NDTYPES && (clf_ops[op].flags & F_BOOL); r++)
                    check_op((clf_op)op, (clf_dtype)t, (clf_isa)isa, (clf_dtype)r);
            }
}

static void test_casts(void) {
    enum { N = 300 };
    for (int from = 0; from < CLF_NDTYPES; from++)
        for (int to = 0; to < CLF_NDTYPES; to++) {
            plan p;
            plan_begin(&p, 3, 100);
            int x = plan_load(&p, (clf_dtype)from, 3, 100);
            int v = clf_build_value(&p.b, (clf_value){.op = CLF_V_CAST, .dtype = (uint8_t)to, .axis = -1, .in = {x, -1, -1}, .arg = -1});
            clf_build_store(&p.b, plan_out(&p, (clf_dtype)to, 3, 100, 3), v, 3);
            plan_end(&p);
            void *in[1] = {new_data((clf_dtype)from, N, true)}, *want[1] = {malloc(N * 8)};
            for (size_t i = 0; i < N; i++)
                clf_scalar_store(want[0], i, clf_scalar_to(clf_scalar_load(in[0], i, (clf_dtype)from), (clf_dtype)to));
            run_all(&p, in, NULL, 1, &(clf_dtype){(clf_dtype)to}, &(int64_t){N}, want);
            free(in[0]);
            free(want[0]);
            clf_arena_release(&p.arena);
        }
}

/* ---- whole plans --------------------------------------------------------------------------------------------------------------------------- */

/* A = (X - v) * u + s*2 with a row v and a column u: stored, folded in all directions in one pass, with hoisted results. */
static void check_mixed(int64_t r, int64_t c) {
    enum { NOUT = 8 };
    plan p;
    plan_begin(&p, r, c);
    int x = plan_load(&p, CLF_F64, r, c), u, v, s, axes0[1] = {0}, axes1[1] = {1};
    u = clf_build_load(&p.b, clf_build_access(&p.b, clf_build_in(&p.b, CLF_F64, 1, &r), axes0));
    v = clf_build_load(&p.b, clf_build_access(&p.b, clf_build_in(&p.b, CLF_F64, 1, &c), axes1));
    s = clf_build_value(
        &p.b, (clf_value){.op = CLF_V_PARAM, .dtype = CLF_F64, .axis = -1, .in = {-1, -1, -1}, .arg = clf_build_param(&p.b, CLF_F64)});
    int s2 = clf_build_op(&p.b, CLF_OP_ADD, CLF_F64, s, s, -1), v2 = clf_build_op(&p.b, CLF_OP_SQR, CLF_F64, v, -1, -1);
    int u2 = clf_build_op(&p.b, CLF_OP_ADD, CLF_F64, u, s, -1);
    int d = clf_build_op(&p.b, CLF_OP_SUB, CLF_F64, x, v2, -1), m = clf_build_op(&p.b, CLF_OP_MUL, CLF_F64, d, u2, -1);
    int a = clf_build_op(&p.b, CLF_OP_ADD, CLF_F64, m, s2, -1), w = clf_build_op(&p.b, CLF_OP_MUL, CLF_F64, a, x, -1);
    clf_build_store(&p.b, plan_out(&p, CLF_F64, r, c, 3), a, 3);
    clf_build_fold(&p.b, plan_out(&p, CLF_F64, r, c, 0), CLF_FOLD_SUM, a, 0);
    clf_build_fold(&p.b, plan_out(&p, CLF_F64, r, c, 1), CLF_FOLD_MAX, a, 1);
    clf_build_fold(&p.b, plan_out(&p, CLF_F64, r, c, 2), CLF_FOLD_SUM, a, 2);
    clf_build_fold(&p.b, plan_out(&p, CLF_F64, r, c, 0), CLF_FOLD_SUM, w, 0);
    clf_build_store(&p.b, plan_out(&p, CLF_F64, r, c, 1), u2, 1);
    clf_build_store(&p.b, plan_out(&p, CLF_F64, r, c, 2), v2, 2);
    clf_build_store(&p.b, plan_out(&p, CLF_F64, r, c, 0), s2, 0);
    plan_end(&p);
    void *in[3] = {new_data(CLF_F64, r * c, false), new_data(CLF_F64, r, false), new_data(CLF_F64, c, false)};
    const double *X = in[0], *U = in[1], *V = in[2], par = 1.25;
    double *A = malloc((size_t)(r * c + 1) * 8), *W = malloc((size_t)(r * c + 1) * 8), *U2 = malloc((size_t)(r + 1) * 8),
           *V2 = malloc((size_t)(c + 1) * 8), *S2 = malloc(8);
    *S2 = par + par;
    for (int64_t i = 0; i < r; i++) U2[i] = U[i] + par;
    for (int64_t j = 0; j < c; j++) V2[j] = V[j] * V[j];
    for (int64_t i = 0; i < r * c; i++) A[i] = (X[i] - V2[i % c]) * U2[i / c] + *S2, W[i] = A[i] * X[i];
    void *want[NOUT] = {A,
                        naive_fold(CLF_FOLD_SUM, CLF_F64, 0, r, c, A),
                        naive_fold(CLF_FOLD_MAX, CLF_F64, 1, r, c, A),
                        naive_fold(CLF_FOLD_SUM, CLF_F64, 2, r, c, A),
                        naive_fold(CLF_FOLD_SUM, CLF_F64, 0, r, c, W),
                        U2,
                        V2,
                        S2};
    clf_dtype types[NOUT];
    for (int i = 0; i < NOUT; i++) types[i] = CLF_F64;
    run_all(&p, in, (clf_scalar[]){clf_scalar_f64(par)}, NOUT, types, (int64_t[]){r * c, 1, r, c, 1, r, c, 1}, want);
    for (int i = 0; i < 3; i++) free(in[i]);
    for (int i = 0; i < NOUT; i++) free(want[i]);
    free(W);
    clf_arena_release(&p.arena);
}

static void test_mixed(void) {
    static const int64_t sizes[][2] = {{1, 1}, {3, 5}, {40, 10}, {5, 512}, {9, 700}, {0, 4}, {4, 0}, {513, 1}, {4000, 50}, {300, 1000}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) check_mixed(sizes[i][0], sizes[i][1]);
}

/* Sums of products, which the folds take in: x*y, and y*(x*y) with the inner product on either side. */
static void check_products(clf_dtype t, int64_t r, int64_t c, uint32_t keep, int form) {
    plan p;
    plan_begin(&p, r, c);
    int x = plan_load(&p, t, r, c), y = plan_load(&p, t, r, c), xy = clf_build_op(&p.b, CLF_OP_MUL, t, x, y, -1), v = xy;
    int64_t cells = r * c, n = results_of(keep, r, c);
    if (form == 1) v = clf_build_op(&p.b, CLF_OP_MUL, t, xy, y, -1);
    if (form == 2) v = clf_build_op(&p.b, CLF_OP_MUL, t, y, xy, -1);
    clf_build_fold(&p.b, plan_out(&p, t, r, c, keep), CLF_FOLD_SUM, v, keep);
    plan_end(&p);
    void *in[2] = {new_data(t, cells, false), new_data(t, cells, false)};
    char *w = malloc((size_t)(cells + 1) * 8);
    for (int64_t i = 0; i < cells; i++) {
        double a = clf_scalar_load(in[0], (size_t)i, t).u.f, b = clf_scalar_load(in[1], (size_t)i, t).u.f;
        double ab = t == CLF_F32 ? (double)((float)a * (float)b) : a * b;
        if (form > 0) ab = t == CLF_F32 ? (double)((float)ab * (float)b) : ab * b;
        clf_scalar_store(w, (size_t)i, (clf_scalar){.dtype = t, .u.f = ab});
    }
    void *want[1] = {naive_fold(CLF_FOLD_SUM, t, keep, r, c, w)};
    run_all(&p, in, NULL, 1, &t, &n, want);
    free(in[0]), free(in[1]), free(w), free(want[0]);
    clf_arena_release(&p.arena);
}

static void test_products(void) {
    static const int64_t sizes[][2] = {{1, 1}, {7, 5}, {40, 64}, {3, 700}, {0, 3}, {3, 0}, {3000, 70}, {150, 2000}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (uint32_t keep = 0; keep < 3; keep++)
            for (int form = 0; form < 3; form++) {
                check_products(CLF_F64, sizes[i][0], sizes[i][1], keep, form);
                check_products(CLF_F32, sizes[i][0], sizes[i][1], keep, form);
            }
}

/* B[i][j] = X[j][i] + 10*Y[2i + 1][c - 1 - j] + i - 3*j */
static void check_views(int64_t r, int64_t c) {
    plan p;
    plan_begin(&p, r, c);
    int64_t xd[2] = {c, r}, yd[2] = {2 * r + 1, c};
    clf_access xa = {.input = clf_build_in(&p.b, CLF_F32, 2, xd), .rank = 2, .at = {{1, -1, 1, 0}, {0, -1, 1, 0}}};
    clf_access ya = {.input = clf_build_in(&p.b, CLF_F32, 2, yd), .rank = 2, .at = {{0, -1, 2, 1}, {1, -1, -1, c - 1}}};
    int x = clf_build_load(&p.b, clf_build_access_at(&p.b, &xa)), y = clf_build_load(&p.b, clf_build_access_at(&p.b, &ya));
    clf_value iv = {.op = CLF_V_INDEX, .dtype = CLF_I64, .axis = -1, .in = {-1, -1, -1}, .arg = 0}, jv = iv;
    jv.arg = 1;
    int i = clf_build_cast(&p.b, clf_build_value(&p.b, iv), CLF_F32), j = clf_build_cast(&p.b, clf_build_value(&p.b, jv), CLF_F32);
    int a = clf_build_op(&p.b, CLF_OP_ADD, CLF_F32, x, y, -1);
    int b = clf_build_op(&p.b, CLF_OP_SUB, CLF_F32, clf_build_op(&p.b, CLF_OP_ADD, CLF_F32, a, i, -1), j, -1);
    clf_build_store(&p.b, plan_out(&p, CLF_F32, r, c, 3), b, 3);
    clf_build_fold(&p.b, plan_out(&p, CLF_F32, r, c, 0), CLF_FOLD_SUM, b, 0);
    plan_end(&p);
    void *in[2] = {new_data(CLF_F32, r * c, false), new_data(CLF_F32, (2 * r + 1) * c, false)};
    const float *X = in[0], *Y = in[1];
    float *B = malloc((size_t)(r * c + 1) * 4);
    for (int64_t k = 0; k < r * c; k++)
        B[k] = X[k % c * r + k / c] + Y[(2 * (k / c) + 1) * c + c - 1 - k % c] + (float)(k / c) - (float)(k % c);
    void *want[2] = {B, naive_fold(CLF_FOLD_SUM, CLF_F32, 0, r, c, B)};
    run_all(&p, in, NULL, 2, (clf_dtype[]){CLF_F32, CLF_F32}, (int64_t[]){r * c, 1}, want);
    free(in[0]), free(in[1]), free(want[0]), free(want[1]);
    clf_arena_release(&p.arena);
}

static void test_views(void) {
    check_views(1, 1);
    check_views(7, 5);
    check_views(60, 33);
    check_views(11, 600);
    check_views(900, 400);
}

/* One program for all sizes; the same program from several threads at once. */
typedef struct shared_run {
    clf_tile *t;
    int64_t n;
    const double *x;
    bool right;
} shared_run;
static void *run_shared(void *arg) {
    shared_run *s = arg;
    s->right = true;
    for (int i = 0; i < 50; i++) {
        double r = 0, want = 0;
        int64_t n = s->n + i, dims[2 * CLF_MAX_RANK] = {0};
        dims[0] = dims[CLF_MAX_RANK] = n;
        void *in[2] = {(void *)(uintptr_t)s->x, (void *)(uintptr_t)s->x}, *out[1] = {&r};
        clf_bind bind = {.in = in, .out = out, .axis_n = &n, .in_dim = dims, .out_dim = dims};
        for (int64_t k = 0; k < n; k++) want += s->x[k] * s->x[k];
        s->right &= clf_tile_run(s->t, &bind, NULL, NULL) == CLF_OK && fabs(r - want) < 1e-9 * want;
    }
    return NULL;
}

static void test_shared_program(void) {
    plan p;
    pthread_t thread[3];
    shared_run run[3];
    int64_t n = 10;
    clf_arena_init(&p.arena, &mem);
    clf_build_begin(&p.b, &p.arena);
    clf_build_axis(&p.b, CLF_AXIS_RANGE, n);
    int x = clf_build_load(&p.b, clf_build_access(&p.b, clf_build_in(&p.b, CLF_F64, 1, &n), (int[]){0}));
    int y = clf_build_load(&p.b, clf_build_access(&p.b, clf_build_in(&p.b, CLF_F64, 1, &n), (int[]){0}));
    clf_build_fold(&p.b, clf_build_out(&p.b, CLF_F64, 0, NULL), CLF_FOLD_SUM, clf_build_op(&p.b, CLF_OP_MUL, CLF_F64, x, y, -1), 0);
    plan_end(&p);
    clf_tile *t = NULL;
    CU_ASSERT_EQUAL_FATAL(clf_tile_new(&t, &p.c, CLF_ISA_AUTO, &mem, NULL), CLF_OK);
    void *data = new_data(CLF_F64, 20000, false);
    for (int i = 0; i < 3; i++) run[i] = (shared_run){t, 1 + i * 5000, data, false}, pthread_create(&thread[i], NULL, run_shared, &run[i]);
    for (int i = 0; i < 3; i++) {
        pthread_join(thread[i], NULL);
        CU_ASSERT(run[i].right);
    }
    clf_tile_free(t);
    free(data);
    clf_arena_release(&p.arena);
}

/* An allocator that fails from the n-th call on. */
typedef struct failing {
    int left;
    size_t held;
} failing;
static void *failing_alloc(void *user, void *ptr, size_t old_bytes, size_t new_bytes) {
    failing *f = user;
    if (new_bytes == 0) {
        f->held -= ptr ? old_bytes : 0;
        free(ptr);
        return NULL;
    }
    if (f->left-- <= 0) return NULL;
    void *p = aligned_alloc(64, (new_bytes + 63) / 64 * 64);
    if (ptr) memcpy(p, ptr, old_bytes < new_bytes ? old_bytes : new_bytes), free(ptr);
    f->held += new_bytes - (ptr ? old_bytes : 0);
    return p;
}

static void test_no_memory(void) {
    plan p;
    plan_begin(&p, 30, 20);
    int x = plan_load(&p, CLF_F64, 30, 20);
    clf_build_fold(&p.b, plan_out(&p, CLF_F64, 30, 20, 2), CLF_FOLD_SUM, clf_build_op(&p.b, CLF_OP_EXP, CLF_F64, x, -1, -1), 2);
    plan_end(&p);
    double data[600] = {0}, out[20];
    void *in[1] = {data}, *outs[1] = {out};
    bool done = false;
    for (int n = 0; n < 100 && !done; n++) {
        failing f = {n, 0};
        clf_mem m;
        clf_tile *t = NULL;
        clf_mem_init(&m, failing_alloc, &f);
        clf_status st = clf_tile_new(&t, &p.c, CLF_ISA_AUTO, &m, NULL);
        if (st == CLF_OK) st = clf_tile_run(t, &(clf_bind){.in = in, .out = outs}, NULL, NULL);
        CU_ASSERT(st == CLF_OK || st == CLF_E_NOMEM);
        done = st == CLF_OK;
        clf_tile_free(t);
        CU_ASSERT_EQUAL(f.held, 0);
        CU_ASSERT_EQUAL(atomic_load(&m.now_bytes), 0);
    }
    CU_ASSERT(done);
    CU_ASSERT_EQUAL(out[3], 30.0);
    clf_arena_release(&p.arena);
}

int main(void) {
    clf_mem_init(&mem, NULL, NULL);
    for (int i = 0; i < 4; i++) pools[i] = clf_pool_new(&mem, i + 1);
    CU_initialize_registry();
    CU_pSuite s = CU_add_suite("tile", NULL, NULL);
    CU_add_test(s, "fold facts", test_fold_facts);
    CU_add_test(s, "operators", test_ops);
    CU_add_test(s, "casts", test_casts);
    CU_add_test(s, "folds", test_folds);
    CU_add_test(s, "folds in parts", test_folds_parallel);
    CU_add_test(s, "mixed sinks", test_mixed);
    CU_add_test(s, "sums of products", test_products);
    CU_add_test(s, "views", test_views);
    CU_add_test(s, "shared program", test_shared_program);
    CU_add_test(s, "no memory", test_no_memory);
    CU_basic_run_tests();
    unsigned failures = CU_get_number_of_failures();
    CU_cleanup_registry();
    for (int i = 0; i < 4; i++) clf_pool_free(pools[i]);
    return failures > 0 || atomic_load(&mem.now_bytes) != 0;
}
