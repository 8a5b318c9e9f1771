/* SPDX-License-Identifier: Apache-2.0
 * Sides of products with a sparse matrix that are turned in memory: when, that every bit stays, in all plans and types, with NaN and
 * infinities, too, and that what was rewritten stays so. And how kernels lay out what entries of such products meet in. */
#include <math.h>

#include "tests/support/pinned_pair.h"
#include "tests/unit/api_testing.h"
#include "tests/unit/rewrite_testing.h"

enum { TALL = 300, WIDE = 12, SIDE = 6, CELLS = TALL * WIDE };

/* ---- when ---- */

static int32_t fires_in(const clf_gate *gate, int64_t nnz, int64_t side, clf_format format, bool left, const char *id) {
    made *m = malloc(sizeof *m);
    rewriting r;
    make_begin(m);
    int32_t X = sparse(m, put(m, CLF_OP_LEAF, TALL, WIDE, 0, -1, -1));
    m->node[X].format = (uint8_t)format;
    m->node[X].nnz = nnz;
    int64_t rows = left ? TALL : side, cols = left ? side : WIDE;
    int32_t C = put(m, CLF_OP_LEAF, rows, cols, 0, -1, -1), t = put(m, CLF_OP_TRANSPOSE, cols, rows, 1, C, -1);
    want(m, left ? put(m, CLF_OP_MATMUL, side, WIDE, 2, t, X) : put(m, CLF_OP_MATMUL, TALL, side, 2, X, t));
    rewrite_in(&r, &m->g, gate);
    int32_t n = fired_by(&r, id);
    same_again_in(&r.g, gate);
    drop(&r);
    free(m);
    return n;
}

static int32_t fires(int64_t nnz, int64_t side, clf_format format, bool left, const char *id) {
    return fires_in(NULL, nnz, side, format, left, id);
}

static void test_when(void) {
    static const char *const id[] = {"turned-side", "turned-result"};
    for (int left = 0; left < 2; left++) {
        CU_ASSERT_EQUAL(fires(16 * WIDE, SIDE, CLF_CSR, left, id[left]), 1);
        CU_ASSERT_EQUAL(fires(16 * WIDE, SIDE, CLF_CSR, left, id[!left]), 0);
        CU_ASSERT_EQUAL(fires(16 * WIDE - 1, SIDE, CLF_CSR, left, id[left]), 0); /* a column is not used often */
        CU_ASSERT_EQUAL(fires(16 * WIDE, 4, CLF_CSR, left, id[left]), 0);        /* taken column by column */
        CU_ASSERT_EQUAL(fires(16 * WIDE, SIDE, CLF_DENSE, left, id[left]), 0);
        CU_ASSERT_EQUAL(fires_in(&(clf_gate){.gpu = true}, 16 * WIDE, SIDE, CLF_CSR, left, id[left]), 0);
    }
}

/* ---- results ---- */

static double value(int i, bool special) {
    static const double odd[] = {NAN, INFINITY, -INFINITY, -0.0};
    return special && i % 97 == 5 ? odd[i / 97 % 4] : (double)((i * 7919) % 1009 - 504) / 64.0;
}

static clf_mat *dense(clf_ctx *c, clf_dtype t, int64_t rows, int64_t cols, int seed, bool special) {
    static double v[CELLS];
    for (int64_t i = 0; i < rows * cols; i++)
        clf_scalar_store(v, (size_t)i, clf_scalar_to(clf_scalar_f64(value((int)i + seed, special)), t));
    return clf_matrix(c, t, rows, cols, v);
}

/* Of three cells one is empty. */
static clf_mat *sparse_matrix(clf_ctx *c, clf_dtype t) {
    static double v[CELLS];
    static int64_t ptr[TALL + 1];
    static int32_t idx[CELLS];
    int64_t n = 0;
    for (int i = 0; i < TALL; i++) {
        for (int j = 0; j < WIDE; j++) {
            if ((i + 2 * j) % 3 == 0) continue;
            clf_scalar_store(v, (size_t)n, clf_scalar_to(clf_scalar_f64(value(i * WIDE + j, false)), t));
            idx[n++] = j;
        }
        ptr[i + 1] = n;
    }
    return clf_sparse_csr(c, t, TALL, WIDE, n, ptr, idx, v, NULL);
}

static void evaluate(const char *text, const char *off, const char *fuse, clf_dtype t, bool special, int64_t cells, double *out) {
    clf_ctx *c = open_host();
    CU_ASSERT_EQUAL(clf_set(c, "rules_off", off), CLF_OK);
    CU_ASSERT_EQUAL(clf_set(c, "fuse", fuse), CLF_OK);
    const clf_binding var[] = {
        {"X", sparse_matrix(c, t)}, {"C", dense(c, t, SIDE, WIDE, 3, special)}, {"P", dense(c, t, TALL, SIDE, 11, special)}};
    clf_mat *m = clf_expr(c, text, var, 3);
    clf_status st = clf_read(m, out, (size_t)cells * clf_dtype_bytes(t));
    if (st != CLF_OK) printf("\n    %s: %s\n", text, clf_last_error(c));
    CU_ASSERT_EQUAL(st, CLF_OK);
    clf_close(c);
}

/* Whoever plans for a GPU, too, turns nothing. */
static void test_gpu(void) {
    static text_sink t;
    for (int gpu = 0; gpu < 2; gpu++) {
        clf_profile host, device;
        pinned_pair pair;
        pinned_pair_alike(&host, CLF_DEV_HOST, 1);
        pinned_pair_alike(&device, gpu ? CLF_DEV_GPU : CLF_DEV_CPU, 1);
        CU_ASSERT_FATAL(pinned_pair_make(&pair, &host, &device));
        clf_ctx *c = open_on(NULL);
        clf_device d = {.struct_size = sizeof d};
        if (clf_device_at(c, 1, &d)) {
            CU_ASSERT_FATAL(pinned_pair_set(&pair, c));
            CU_ASSERT_EQUAL(clf_set(c, "device", "1"), CLF_OK); /* it would be for the host alone, so small as it is */
            const clf_binding var[] = {{"X", sparse_matrix(c, CLF_F64)}, {"C", dense(c, CLF_F64, SIDE, WIDE, 3, false)}};
            clf_mat *m = clf_expr(c, "X %*% t(C)", var, 2);
            CU_ASSERT_EQUAL(clf_explain(1, &m, CLF_TEXT, 0, collect, empty_sink(&t)), CLF_OK);
            CU_ASSERT_EQUAL(strstr(t.at, "turned-side") == NULL, gpu);
        }
        clf_close(c);
        pinned_pair_remove(&pair);
    }
}

/* Bit for bit; any NaN is NaN. */
static int64_t unlike(const double *a, const double *b, int64_t n, clf_dtype t) {
    int64_t bad = 0;
    for (int64_t k = 0; k < n; k++) {
        clf_scalar x = clf_scalar_load(a, (size_t)k, t), y = clf_scalar_load(b, (size_t)k, t);
        bad += !clf_scalar_same(x, y) && !(isnan(clf_scalar_as_f64(x)) && isnan(clf_scalar_as_f64(y)));
    }
    return bad;
}

static void test_bits(void) {
    static const struct {
        const char *text;
        int64_t cells;
    } of[] = {{"X %*% t(C)", TALL * SIDE},
              {"t(P) %*% X", SIDE * WIDE},
              {"t(P) %*% X + C * 2", SIDE * WIDE},
              {"t(t(P) %*% X)", SIDE * WIDE},
              {"D = X %*% t(C); t(D == rowMins(D)) %*% X", SIDE * WIDE}};
    static const char *const fuse[] = {"none", "all", "cost"};
    static double on[CELLS], off[CELLS];
    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        for (int f = 0; f < 3; f++)
            for (int k = 0; k < 4; k++) {
                clf_dtype t = k & 1 ? CLF_F32 : CLF_F64;
                memset(on, 0, sizeof on);
                memset(off, 1, sizeof off);
                evaluate(of[i].text, "", fuse[f], t, k & 2, of[i].cells, on);
                evaluate(of[i].text, "turned-side,turned-result", fuse[f], t, k & 2, of[i].cells, off);
                int64_t bad = unlike(on, off, of[i].cells, t);
                if (bad) printf("\n    %s, %s, %d: %lld cells differ\n", of[i].text, fuse[f], k, (long long)bad);
                CU_ASSERT_EQUAL(bad, 0);
            }
}

/* ---- results of two sizes ---- */

enum { FEW = 130, MOST_WIDE = 5000 };

/* Every third cell; small integers that meet small multiples of 1/64, so every sum is exact. */
static clf_mat *third(clf_ctx *c, int64_t cols, double *want) {
    static double x[FEW * MOST_WIDE];
    static int64_t ptr[FEW + 1];
    static int32_t idx[FEW * MOST_WIDE];
    int64_t n = 0;
    for (int64_t i = 0; i < FEW; i++) {
        for (int64_t j = i % 3; j < cols; j += 3, n++) {
            idx[n] = (int32_t)j, x[n] = (double)((i + j) % 11 - 4);
            for (int64_t k = 0; k < SIDE; k++) want[j * SIDE + k] += x[n] * value((int)(i * SIDE + k), false);
        }
        ptr[i + 1] = n;
    }
    return clf_sparse_csr(c, CLF_F64, FEW, cols, n, ptr, idx, x, NULL);
}

/* Kernels of one structure lay out a small result in lines, a large one as it is: in one context each gets its own. */
static void test_sizes(void) {
    static double want[MOST_WIDE * SIDE], got[MOST_WIDE * SIDE];
    static const int64_t cols[] = {900, MOST_WIDE, 900};
    clf_ctx *c = open_on(NULL);
    clf_device d = {.struct_size = sizeof d};
    if (clf_device_at(c, 1, &d)) {
        clf_profile host, device;
        pinned_pair pair;
        clf_stats s = {.struct_size = sizeof s};
        pinned_pair_alike(&host, CLF_DEV_HOST, 1);
        pinned_pair_alike(&device, CLF_DEV_CPU, 100);
        CU_ASSERT_FATAL(pinned_pair_make(&pair, &host, &device));
        CU_ASSERT_FATAL(pinned_pair_set(&pair, c));
        CU_ASSERT_EQUAL(clf_set(c, "device", "1"), CLF_OK);
        for (int i = 0; i < 3; i++) {
            memset(want, 0, sizeof want);
            const clf_binding var[] = {{"X", third(c, cols[i], want)}, {"P", dense(c, CLF_F64, FEW, SIDE, 0, false)}};
            CU_ASSERT_EQUAL(clf_read(clf_expr(c, "t(X) %*% P", var, 2), got, (size_t)(cols[i] * SIDE) * sizeof *got), CLF_OK);
            CU_ASSERT_EQUAL(memcmp(got, want, (size_t)(cols[i] * SIDE) * sizeof *got), 0);
        }
        CU_ASSERT_EQUAL(clf_get_stats(c, &s), CLF_OK);
        CU_ASSERT_EQUAL(s.launches_chunk, 3);
        pinned_pair_remove(&pair);
    }
    clf_close(c);
}

int main(void) {
    static const test_case tests[] = {
        {"when sides are turned", test_when}, {"bits of products with turned sides", test_bits}, {"GPUs", test_gpu}, {"sizes", test_sizes}};
    return run_suite("turned sides", tests, 4);
}
