/* SPDX-License-Identifier: Apache-2.0
 * Wide products that the cost model gives to loops in tiles rather than to the library: which are, what shares their loop, and that their
 * bits are those of plain C that sums in the documented order: leaves of 512 terms, in one lane or, where the right side is used
 * transposed, in eight, and a binary tree over leaves. */
#include <math.h>
#include <unistd.h>

#include "planner/bill.h"
#include "tests/support/plan_devices.h"
#include "tests/unit/plan_text.h"

/* ---- plans ---- */

static plan_devices devices;
static const plan_var vars[] = {{"X", 2000, 1000, false, 0}, {"W", 1000, 500, false, 0},      {"V", 500, 1000, false, 0},
                                {"b", 1, 500, false, 0},     {"c", 2000, 1, false, 0},        {"H", 2000, 500, false, 0},
                                {"N", 1000, 10, false, 0},   {"S", 2000, 1000, false, 20000}, {"Q", 1000, 500, false, 0},
                                {"A", 10, 2000, false, 0},   {"C", 10, 1000, false, 0}};
enum { VARS = sizeof vars / sizeof *vars };

/* For the host and PoCL, whose tiles do so many multiply-adds a second. */
static planned plan_of(const char *text, double rate) {
    clf_limits lim = {.kernel_ops = 200, .kernel_inputs = 48};
    clf_profile pocl = devices.profile[1];
    pocl.tile_fma_per_s[0] = pocl.tile_fma_per_s[1] = rate;
    lim.dev = (clf_devices){.n = 2, .profile = {&devices.profile[0], &pocl}, .loops_only = {false, true}};
    return plan_with(vars, VARS, text, "cost", &lim);
}

/* Steps of this kind. */
static int count(const planned *r, int kind) {
    int n = 0;
    for (int32_t s = 0; s < r->p->nstep; s++) n += r->p->step[s].kind == kind;
    return n;
}

static void expect(const char *text, double rate, int fused, int library) {
    planned r = plan_of(text, rate);
    if (count(&r, CLF_STEP_FUSED) != fused || count(&r, CLF_STEP_LIBRARY) != library)
        printf("\n    %s at %g: %d loops, %d of the library", text, rate, count(&r, CLF_STEP_FUSED), count(&r, CLF_STEP_LIBRARY));
    CU_ASSERT_EQUAL(count(&r, CLF_STEP_FUSED), fused);
    CU_ASSERT_EQUAL(count(&r, CLF_STEP_LIBRARY), library);
    drop(&r);
}

static void test_choice(void) {
    const double fast = 1e12;
    expect("max(X %*% W + b, 0)", 0, 1, 1);
    expect("max(X %*% W + b, 0)", fast, 1, 0);
    expect("X %*% W", fast, 1, 0);
    expect("X %*% W", 0, 0, 1);
    expect("(X %*% t(V)) * H * (1 - H) + c", fast, 1, 0);
    expect("(X * 2 - c) %*% W", fast, 1, 0); /* what the left side needs is computed as it is packed */
    expect("P = X %*% W; P; P * H", fast, 1, 0);
    expect("t(X) %*% H", fast, 1, 0);
    expect("W - (0.1 * (t(X) %*% H) + Q)", fast, 1, 0);
    expect("W - (0.1 * (t(X) %*% H) + Q)", 0, 1, 1);
}

/* What tiles cannot do is priced as rows, and so the library's. */
static void test_not_tiled(void) {
    const double fast = 1e12;
    expect("P = rowSums(exp(X %*% W)); P", fast, 2, 0);
    expect("A = sqrt(X); A; A %*% W", fast, 2, 0);
    expect("t(sqrt(X)) %*% H", fast, 2, 0); /* what a product goes over the columns of is in memory before */
    expect("t(W) %*% t(V)", fast, 0, 1);
    expect("X %*% N", 0, 1, 0);
    planned r = plan_of("S * (H %*% t(Q))", fast / 20); /* wanted at entries alone */
    CU_ASSERT_EQUAL(count(&r, CLF_STEP_FUSED), 1);
    CU_ASSERT(r.p->step[0].driver >= 0);
    drop(&r);
}

/* Short sums that are wanted at entries alone: the selectors that fuse whatever they can leave a product that goes over columns of its left
 * side to the library, for no entries drive its loop; what masks it visits entries. */
static void test_masked(void) {
    static const char *const selectors[] = {"all", "nored"};
    for (int i = 0; i < 2; i++) {
        clf_limits lim = {.dev = {.n = 1, .profile = {&devices.profile[0]}}, .kernel_ops = 200, .kernel_inputs = 48};
        planned r = plan_with(vars, VARS, "S * (t(A) %*% C)", selectors[i], &lim);
        CU_ASSERT_EQUAL_FATAL(r.p->nstep, 2);
        CU_ASSERT_EQUAL(r.p->step[0].kind, CLF_STEP_LIBRARY);
        CU_ASSERT_EQUAL(r.p->step[1].kind, CLF_STEP_FUSED);
        CU_ASSERT(r.p->step[1].driver >= 0);
        drop(&r);
    }
}

/* Times of one product: no tile, by the multiply-adds of rows; slow tiles are not worse than that; quick ones by theirs. */
static void test_price(void) {
    planned r = plan_of("X %*% W", 1e12);
    clf_profile p = devices.profile[1];
    const clf_graph *g = &r.p->g;
    int32_t n = g->root[0];
    clf_ps rows = clf_cost_node(&p, g, n, 1);
    CU_ASSERT_EQUAL(clf_cost_tiled(&p, g, n, 1), rows);
    p.tile_fma_per_s[1] = p.fma_per_s[1] / 2;
    CU_ASSERT_EQUAL(clf_cost_tiled(&p, g, n, 1), rows);
    p.tile_fma_per_s[1] = 1e12;
    CU_ASSERT_EQUAL(clf_cost_tiled(&p, g, n, 1), 2004ll * 512 * 1000); /* whole tiles of 12 x 16 */
    clf_term again = clf_term_operand(g, n, 1);
    CU_ASSERT_EQUAL(again.kind, CLF_TERM_AGAIN);
    clf_ps tiled = clf_term_pay(&again, g, &p);
    again.c = again.b;
    CU_ASSERT(tiled < clf_term_pay(&again, g, &p) / 10); /* once for 252 rows rather than for 4 */
    drop(&r);
}

/* ---- results ---- */

enum { N = 800, K = 1100, M = 70 };
static double x[N * K], xt[K * N], w[K * M], b[M], h[N * M], y[N * M];

static void fill(double *a, size_t n, uint64_t seed) {
    for (size_t i = 0; i < n; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        a[i] = (double)(seed >> 11) / 9007199254740992.0 - 0.5;
    }
}

/* w of row-major columns (by 1, stride M), or used transposed (by K, stride 1). */
static double leaf(const double *left, const double *right, size_t by, int from, int to, int lanes) {
    double s[8] = {0};
    for (int l = from; l < to; l++) s[(l - from) % lanes] = fma(left[l], right[(size_t)l * by], s[(l - from) % lanes]);
    for (int half = lanes / 2; half; half /= 2)
        for (int q = 0; q < half; q++) s[q] += s[q + half];
    return s[0];
}

/* Three leaves: the first two, then the third. */
static double product(const double *left, const double *right, size_t by, int lanes) {
    double first = leaf(left, right, by, 0, 512, lanes) + leaf(left, right, by, 512, 1024, lanes);
    return first + leaf(left, right, by, 1024, K, lanes);
}

static void check(clf_ctx *c, clf_mat *r, bool transposed, bool cells) {
    int bad = 0;
    clf_stats before = stats_of(c);
    CU_ASSERT_EQUAL(clf_read(r, y, sizeof y), CLF_OK);
    clf_stats after = stats_of(c);
    CU_ASSERT_EQUAL(after.launches_chunk - before.launches_chunk, 1);
    CU_ASSERT_EQUAL(after.launches_library, before.launches_library);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++) {
            double s = transposed ? product(x + i * K, w + j * K, 1, 8) : product(x + i * K, w + j, M, 1);
            if (cells) s += b[j];
            if (cells) s *= h[i * M + j];
            bad += memcmp(&s, &y[i * M + j], sizeof s) != 0;
        }
    if (bad) printf("\n    %d cells of %d differ", bad, N * M);
    CU_ASSERT_EQUAL(bad, 0);
}

static void products(const char *figures) {
    char path[64];
    clf_ctx *c = open_kernels();
    if (!c) return;
    snprintf(path, sizeof path, "tile_figures_%d", (int)getpid());
    write_file(path, figures);
    CU_ASSERT_EQUAL(clf_set(c, "profile_file", path), CLF_OK);
    fill(x, N * K, 1);
    fill(w, K * M, 2);
    fill(b, M, 3);
    fill(h, N * M, 4);
    clf_mat *X = clf_matrix(c, CLF_F64, N, K, x), *W = clf_matrix(c, CLF_F64, K, M, w), *V = clf_matrix(c, CLF_F64, M, K, w);
    for (int i = 0; i < N; i++)
        for (int l = 0; l < K; l++) xt[l * N + i] = x[i * K + l];
    clf_mat *T = clf_matrix(c, CLF_F64, K, N, xt), *B = clf_matrix(c, CLF_F64, 1, M, b), *H = clf_matrix(c, CLF_F64, N, M, h);
    check(c, clf_matmul(X, W), false, false);
    check(c, clf_matmul(X, clf_t(V)), true, false);
    check(c, clf_matmul(clf_t(T), W), false, false);
    check(c, clf_mul(clf_add(clf_matmul(X, W), B), H), false, true);
    check(c, clf_mul(clf_add(clf_matmul(clf_t(T), W), B), H), false, true);
    check(c, clf_mul(clf_add(clf_matmul(X, clf_t(V)), B), H), true, true);
    clf_close(c);
    unlink(path);
}

/* Work-items of one band of rows each, as many as cores want, and for a single core one of four, which finds panels in three of them. */
static void test_bits(void) {
    products("tile_fma_per_s 1e15 1e15\n");
    products("tile_fma_per_s 1e15 1e15\ncores 1\n");
}

int main(void) {
    static const test_case tests[] = {
        {"choice", test_choice}, {"not tiled", test_not_tiled}, {"masked", test_masked}, {"price", test_price}, {"bits", test_bits}};
    if (!plan_devices_read(&devices, CLF_TESTS_DIR "/golden/profiles")) return 1;
    return run_suite("tile_product", tests, sizeof tests / sizeof *tests);
}
