/* SPDX-License-Identifier: Apache-2.0
 * Whole cplans on the host executor: mixed sinks, sums of products, views, programs shared by threads, memory that runs out. */
#include "tests/unit/tile_naive.h"
#include "tests/unit/heap_testing.h"

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

/* Nothing but folds of loaded cells: tiles are strips of many leaves and rows. */
static void check_strips(int64_t r, int64_t c) {
    enum { NOUT = 5 };
    plan p;
    plan_begin(&p, r, c);
    int x = plan_load(&p, CLF_F64, r, c), y = plan_load(&p, CLF_F64, r, c), xy = clf_build_op(&p.b, CLF_OP_MUL, CLF_F64, x, y, -1);
    clf_build_fold(&p.b, plan_out(&p, CLF_F64, r, c, 1), CLF_FOLD_SUM, xy, 1);
    clf_build_fold(&p.b, plan_out(&p, CLF_F64, r, c, 0), CLF_FOLD_MAX, x, 0);
    clf_build_fold(&p.b, plan_out(&p, CLF_F64, r, c, 1), CLF_FOLD_VAR, y, 1);
    clf_build_fold(&p.b, plan_out(&p, CLF_F64, r, c, 2), CLF_FOLD_SUM, x, 2);
    clf_build_fold(&p.b, plan_out(&p, CLF_I64, r, c, 1), CLF_FOLD_ARGMIN, x, 1);
    plan_end(&p);
    void *in[2] = {new_data(CLF_F64, r * c, false), new_data(CLF_F64, r * c, false)};
    double *w = malloc((size_t)(r * c + 1) * 8);
    for (int64_t i = 0; i < r * c; i++) w[i] = ((double *)in[0])[i] * ((double *)in[1])[i];
    void *want[NOUT] = {naive_fold(CLF_FOLD_SUM, CLF_F64, 1, r, c, w), naive_fold(CLF_FOLD_MAX, CLF_F64, 0, r, c, in[0]),
                        naive_fold(CLF_FOLD_VAR, CLF_F64, 1, r, c, in[1]), naive_fold(CLF_FOLD_SUM, CLF_F64, 2, r, c, in[0]),
                        naive_fold(CLF_FOLD_ARGMIN, CLF_F64, 1, r, c, in[0])};
    static const clf_dtype types[NOUT] = {CLF_F64, CLF_F64, CLF_F64, CLF_F64, CLF_I64};
    run_all(&p, in, NULL, NOUT, types, (int64_t[]){r, 1, r, c, r}, want);
    for (int i = 0; i < 2; i++) free(in[i]);
    for (int i = 0; i < NOUT; i++) free(want[i]);
    free(w);
    clf_arena_release(&p.arena);
}

static void test_strips(void) {
    static const int64_t sizes[][2] = {{9000, 7}, {700, 512}, {333, 600}, {40, 1000}, {5, 40001}, {2, 511}, {1500, 33}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) check_strips(sizes[i][0], sizes[i][1]);
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
        counting_heap heap = heap_of(n);
        clf_mem m;
        clf_tile *t = NULL;
        clf_mem_init(&m, counting_alloc, &heap);
        clf_status st = clf_tile_new(&t, &p.c, CLF_ISA_AUTO, &m, NULL);
        if (st == CLF_OK) st = clf_tile_run(t, &(clf_bind){.in = in, .out = outs}, NULL, NULL);
        CU_ASSERT(st == CLF_OK || st == CLF_E_NOMEM);
        done = st == CLF_OK;
        clf_tile_free(t);
        CU_ASSERT_EQUAL(heap.live, 0);
        CU_ASSERT_EQUAL(atomic_load(&m.now_bytes), 0);
    }
    CU_ASSERT(done);
    CU_ASSERT_EQUAL(out[3], 30.0);
    clf_arena_release(&p.arena);
}

int main(void) {
    static const tile_test tests[] = {
        {"mixed sinks", test_mixed}, {"sums of products", test_products},     {"strips", test_strips},
        {"views", test_views},       {"shared program", test_shared_program}, {"no memory", test_no_memory},
    };
    return run_tile_suite("tile", tests, sizeof tests / sizeof *tests);
}
