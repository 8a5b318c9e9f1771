/* SPDX-License-Identifier: Apache-2.0
 * The reference executor on small cplans against plain loops: random cell programs, every fold in every direction to the bit, zero
 * extents, guards, gathers, the other sinks, and what must be refused. */
#include <math.h>

#include "planner/builder.h"
#include "tests/unit/cplan_testing.h"
#include "tests/unit/heap_testing.h"

static void open_text(plan *p, const char *text) {
    plan_parse(p, text, strlen(text));
    if (p->st != CLF_OK) printf("\n%s\n%s\n", text, p->err.text);
    CU_ASSERT_EQUAL_FATAL(p->st, CLF_OK);
}

static clf_status run_text(const char *text, void *const *in, const clf_scalar *param, void *const *out) {
    plan p;
    open_text(&p, text);
    clf_status st = plan_run(&p, &(clf_bind){.in = in, .param = param, .out = out});
    plan_close(&p);
    return st;
}
#define RUN(text, in, out) CU_ASSERT_EQUAL(run_text(text, in, NULL, out), CLF_OK)
#define MEM(...) ((void *[]){__VA_ARGS__})

static bool same(const void *a, const void *b, size_t bytes) { return memcmp(a, b, bytes) == 0; }

/* ---- cell programs ------------------------------------------------------------------------------------------------------- */

static const struct {
    clf_op op;
    int arity;
} drawn[] = {{CLF_OP_ADD, 2}, {CLF_OP_SUB, 2}, {CLF_OP_MUL, 2}, {CLF_OP_DIV, 2},    {CLF_OP_MIN, 2},   {CLF_OP_MAX, 2},
             {CLF_OP_LT, 2},  {CLF_OP_GE, 2},  {CLF_OP_EQ, 2},  {CLF_OP_NEG, 1},    {CLF_OP_ABS, 1},   {CLF_OP_SQRT, 1},
             {CLF_OP_SQR, 1}, {CLF_OP_NOT, 1}, {CLF_OP_OR, 2},  {CLF_OP_IFELSE, 3}, {CLF_OP_FLOOR, 1}, {CLF_OP_ISNAN, 1}};

static double by_hand(clf_op op, double a, double b, double c) {
    switch (op) {
    case CLF_OP_ADD: return a + b;
    case CLF_OP_SUB: return a - b;
    case CLF_OP_MUL: return a * b;
    case CLF_OP_DIV: return a / b;
    case CLF_OP_MIN: return isnan(a) || a < b ? a : b;
    case CLF_OP_MAX: return isnan(a) || a > b ? a : b;
    case CLF_OP_LT: return a < b;
    case CLF_OP_GE: return a >= b;
    case CLF_OP_EQ: return a == b;
    case CLF_OP_NEG: return -a;
    case CLF_OP_ABS: return fabs(a);
    case CLF_OP_SQRT: return sqrt(a);
    case CLF_OP_SQR: return a * a;
    case CLF_OP_NOT: return a == 0;
    case CLF_OP_OR: return a != 0 || b != 0;
    case CLF_OP_IFELSE: return a != 0 ? b : c;
    case CLF_OP_FLOOR: return floor(a);
    default: return isnan(a);
    }
}

enum { ROWS = 7, COLS = 5, OPS = 25 };

/* Operands: a matrix, a column, a row, a parameter; then OPS random operators over earlier values. */
static void random_program(uint64_t seed) {
    plan p;
    clf_builder b;
    double val[4 + OPS], got[ROWS * COLS], *x = noise_f64(ROWS * COLS, seed), *u = noise_f64(ROWS, seed + 1),
                                           *w = noise_f64(COLS, seed + 2);
    int op[OPS], in[OPS][3], v[4 + OPS];
    plan_parse(&p, "(cplan)", 7);
    clf_build_begin(&b, &p.arena);
    int i = clf_build_axis(&b, CLF_AXIS_RANGE, ROWS), j = clf_build_axis(&b, CLF_AXIS_RANGE, COLS);
    v[0] = clf_build_load(&b, clf_build_access(&b, clf_build_in(&b, CLF_F64, 2, (const int64_t[]){ROWS, COLS}), (const int[]){i, j}));
    v[1] = clf_build_load(&b, clf_build_access(&b, clf_build_in(&b, CLF_F64, 2, (const int64_t[]){ROWS, 1}), (const int[]){i, -1}));
    v[2] = clf_build_load(&b, clf_build_access(&b, clf_build_in(&b, CLF_F64, 2, (const int64_t[]){1, COLS}), (const int[]){-1, j}));
    v[3] = clf_build_value(
        &b, (clf_value){.op = CLF_V_PARAM, .dtype = CLF_F64, .axis = -1, .in = {-1, -1, -1}, .arg = clf_build_param(&b, CLF_F64)});
    for (int k = 0; k < OPS; k++) {
        op[k] = (int)((noise(&seed) + 1) / 2 * (sizeof drawn / sizeof *drawn));
        for (int q = 0; q < 3; q++) in[k][q] = (int)((noise(&seed) + 1) / 2 * (4 + k));
        int a[3] = {v[in[k][0]], drawn[op[k]].arity > 1 ? v[in[k][1]] : -1, drawn[op[k]].arity > 2 ? v[in[k][2]] : -1};
        v[4 + k] = clf_build_op(&b, drawn[op[k]].op, CLF_F64, a[0], a[1], a[2]);
    }
    clf_value one = {.op = CLF_OP_ADD, .dtype = CLF_F64, .axis = -1, .in = {v[0], v[3 + OPS], -1}, .arg = -1};
    clf_build_store(&b, clf_build_out(&b, CLF_F64, 2, (const int64_t[]){ROWS, COLS}), clf_build_value(&b, one), 3);
    CU_ASSERT_EQUAL_FATAL(clf_build_end(&b, &p.c, &p.err), CLF_OK);
    clf_scalar half = clf_scalar_f64(0.5);
    CU_ASSERT_EQUAL(plan_run(&p, &(clf_bind){.in = MEM(x, u, w), .param = &half, .out = MEM(got)}), CLF_OK);
    int wrong = 0;
    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < COLS; c++) {
            val[0] = x[r * COLS + c], val[1] = u[r], val[2] = w[c], val[3] = 0.5;
            for (int k = 0; k < OPS; k++) val[4 + k] = by_hand(drawn[op[k]].op, val[in[k][0]], val[in[k][1]], val[in[k][2]]);
            double want = val[0] + val[3 + OPS];
            wrong += !(same(&got[r * COLS + c], &want, 8) || (isnan(want) && isnan(got[r * COLS + c])));
        }
    CU_ASSERT_EQUAL(wrong, 0);
    free(x), free(u), free(w);
    plan_close(&p);
}

static void test_programs(void) {
    for (uint64_t seed = 1; seed <= 60; seed++) random_program(seed * 1000);
}

static void test_types(void) {
    int32_t a[3] = {7, -7, INT32_MAX}, b[3] = {2, 2, 1}, mod[3], sum[3];
    uint8_t less[3], narrow[3];
    float truth[3], scaled[3];
    clf_scalar third = clf_scalar_f64(1.0 / 3);
    CU_ASSERT_EQUAL(
        run_text(
            "(cplan (axis i range free 3) (in A i32 dense 3) (in B i32 dense 3) (param p f32) (out M i32 3) (out S i32 3) (out L u8 3) "
            "(out T f32 3)\n"
            "(out N u8 3) (out F f32 3) (access a A stream (i 1 0)) (access b B stream (i 1 0)) (let x i32 load a) (let y i32 load b)\n"
            "(let m i32 MOD x y) (let s i32 ADD x y) (let l u8 LT x y) (let t f32 LT x y) (let n u8 cast x) (let xf f32 cast x) (let p1 "
            "f32 param p)\n"
            "(let f f32 MUL xf p1) (store M m keep i) (store S s keep i) (store L l keep i) (store T t keep i) (store N n keep i) (store F "
            "f keep i))",
            MEM(a, b), &third, MEM(mod, sum, less, truth, narrow, scaled)),
        CLF_OK);
    CU_ASSERT(mod[0] == 1 && mod[1] == 1 && sum[2] == INT32_MIN && less[0] == 0 && less[1] == 1 && truth[1] == 1.0f && narrow[1] == 249);
    float f = (float)(1.0 / 3);
    for (int i = 0; i < 3; i++) CU_ASSERT_EQUAL(scaled[i], (float)a[i] * f);
}

/* ---- folds --------------------------------------------------------------------------------------------------------------- */

static int lanes_for(int64_t cols, int lanes) {
    if (cols > 128) return 1;
    while (cols % 2 == 0 && lanes > 1) cols /= 2, lanes /= 2;
    return lanes;
}

static int64_t block_for(int64_t rows) {
    int64_t b = 16;
    while ((rows + b - 1) / b > 1024) b *= 2;
    return b;
}

static void sums_at(int64_t n, int64_t m) {
    double *x = noise_f64((size_t)(n * m), (uint64_t)(n * 7 + m)), *row = noise_f64((size_t)n, 1), *col = noise_f64((size_t)m, 2), full;
    float *y = malloc((size_t)(n * m + 1) * sizeof *y), *row32 = malloc((size_t)(n + 1) * sizeof *row32);
    const int64_t axis[2] = {n, m}, in[2 * CLF_MAX_RANK] = {n, m, [CLF_MAX_RANK] = n, m};
    const int64_t out[4 * CLF_MAX_RANK] = {[CLF_MAX_RANK] = n, [2 * CLF_MAX_RANK] = m, [3 * CLF_MAX_RANK] = n};
    plan p;
    for (int64_t i = 0; i < n * m; i++) y[i] = (float)x[i];
    open_text(&p, "(cplan (axis i range free 9) (axis j range free 9) (in X f64 dense 9 9) (in Y f32 dense 9 9) (out F f64) (out R f64 9) "
                  "(out C f64 9) (out G f32 9)\n"
                  "(access a X stream (i 1 0) (j 1 0)) (access b Y stream (i 1 0) (j 1 0)) (let x f64 load a) (let y f32 load b)\n"
                  "(fold F SUM x keep) (fold R SUM x keep i) (fold C SUM x keep j) (fold G SUM y keep i))");
    CU_ASSERT_EQUAL(
        plan_run(&p, &(clf_bind){.in = MEM(x, y), .out = MEM(&full, row, col, row32), .axis_n = axis, .in_dim = in, .out_dim = out}),
        CLF_OK);
    double want = tree_sum(x, n * m);
    CU_ASSERT(same(&full, &want, 8));
    for (int64_t i = 0; i < n; i++) {
        want = tree_sum(x + i * m, m);
        CU_ASSERT(same(&row[i], &want, 8));
    }
    for (int64_t j = 0; j < m; j++) {
        want = tree_sum_of(x + j, n, m, lanes_for(m, 8), block_for(n));
        CU_ASSERT(same(&col[j], &want, 8));
    }
    for (int64_t i = 0; i < n && m <= 512; i++) { /* f32: sixteen lanes step in f32 and meet in f64 */
        float lane[16] = {0};
        double wide[16];
        for (int64_t j = 0; j < m; j++) lane[j % 16] += y[i * m + j];
        for (int l = 0; l < 16; l++) wide[l] = lane[l];
        for (int h = 8; h; h /= 2)
            for (int l = 0; l < h; l++) wide[l] += wide[l + h];
        CU_ASSERT_EQUAL(row32[i], (float)wide[0]);
    }
    free(x), free(row), free(col), free(y), free(row32);
    plan_close(&p);
}

static void test_sums(void) {
    static const int64_t size[][2] = {{1, 1},     {1, 7},    {8, 1},    {3, 5},    {17, 16},  {600, 9},
                                      {20000, 3}, {40, 200}, {5, 1300}, {3, 2049}, {33, 128}, {33, 129}};
    for (size_t k = 0; k < sizeof size / sizeof *size; k++) sums_at(size[k][0], size[k][1]);
}

#define TWELVE \
    "(cplan (axis i range free 0) (axis j range free 0) (in X f64 dense 0 0) (out Y0 f64) (out Y1 f64) (out Y2 f64) (out Y3 f64) (out Y4 " \
    "f64) (out Y5 f64)\n" \
    "(out Y6 f64) (out Y7 i64) (out Y8 i64) (out Y9 u8) (out Y10 u8) (out Y11 i64) (access a X stream (i 1 0) (j 1 0)) (let x f64 load " \
    "a)\n" \
    "(fold Y0 SUM x keep) (fold Y1 SUMSQ x keep) (fold Y2 MIN x keep) (fold Y3 MAX x keep) (fold Y4 PROD x keep) (fold Y5 MEAN x keep) " \
    "(fold Y6 VAR x keep)\n" \
    "(fold Y7 ARGMIN x keep) (fold Y8 ARGMAX x keep) (fold Y9 ANY x keep) (fold Y10 ALL x keep) (fold Y11 NNZ x keep))"

static void twelve(int64_t n, int64_t m, double *x, double *real, int64_t *whole, uint8_t *truth) {
    const int64_t axis[2] = {n, m}, in[CLF_MAX_RANK] = {n, m}, out[12 * CLF_MAX_RANK] = {0};
    plan p;
    open_text(&p, TWELVE);
    CU_ASSERT_EQUAL(plan_run(&p, &(clf_bind){.in = MEM(x),
                                             .axis_n = axis,
                                             .in_dim = in,
                                             .out_dim = out,
                                             .out = MEM(real, real + 1, real + 2, real + 3, real + 4, real + 5, real + 6, whole, whole + 1,
                                                        truth, truth + 1, whole + 2)}),
                    CLF_OK);
    plan_close(&p);
}

static void test_every_fold(void) {
    enum { N = 31, M = 43 };
    double x[N * M], real[7], sum = 0, sumsq = 0, lo = 1e9, hi = -1e9, dev = 0;
    int64_t whole[3], at_lo = 0, at_hi = 0, nnz = 0;
    uint8_t truth[2];
    for (int i = 0; i < N * M; i++) {
        x[i] = (double)(i * 37 % 211 - 100) + (i * 37 % 211 > 0 ? 0 : 0.25);
        sum += x[i], sumsq += x[i] * x[i], nnz += x[i] != 0;
        if (x[i] < lo) lo = x[i], at_lo = i;
        if (x[i] > hi) hi = x[i], at_hi = i;
    }
    for (int i = 0; i < N * M; i++) dev += (x[i] - sum / (N * M)) * (x[i] - sum / (N * M));
    twelve(N, M, x, real, whole, truth);
    CU_ASSERT(real[0] == sum && real[1] == sumsq && real[2] == lo && real[3] == hi && real[5] == sum / (N * M)); /* quarters: exact */
    CU_ASSERT_DOUBLE_EQUAL(real[6], dev / (N * M - 1), 1e-10 * real[6]);
    CU_ASSERT(whole[0] == at_lo + 1 && whole[1] == at_hi + 1 && whole[2] == nnz && truth[0] == 1 && truth[1] == 0);
    x[77] = NAN;
    twelve(N, M, x, real, whole, truth);
    CU_ASSERT(isnan(real[0]) && isnan(real[2]) && isnan(real[3]) && isnan(real[6]) && whole[0] == 78 && whole[1] == 78);
}

static void test_zero_extents(void) {
    static const int64_t size[][2] = {{0, 0}, {0, 5}, {5, 0}};
    double real[7] = {9, 9, 9, 9, 9, 9, 9}, none[1] = {0};
    int64_t whole[3];
    uint8_t truth[2];
    for (size_t k = 0; k < 3; k++) {
        twelve(size[k][0], size[k][1], none, real, whole, truth);
        CU_ASSERT(real[0] == 0 && real[1] == 0 && real[2] == INFINITY && real[3] == -INFINITY && real[4] == 1 && isnan(real[5]) &&
                  isnan(real[6]));
        CU_ASSERT(whole[0] == 0 && whole[1] == 0 && whole[2] == 0 && truth[0] == 0 && truth[1] == 1);
        memset(real, 9, sizeof real);
    }
    const char *rows =
        "(cplan (axis i range free 3) (axis j range free 0) (in X f64 dense 3 0) (out R f64 3) (out C f64 0) (out A f64 3 0) (out M f64 "
        "3)\n"
        "(access a X stream (i 1 0) (j 1 0)) (let x f64 load a) (let m f64 fold PROD j x) (fold R SUM x keep i) (fold C SUM x keep j)\n"
        "(store A x keep i j) (store M m keep i))";
    double r[3] = {7, 7, 7}, m[3] = {7, 7, 7}, untouched = 5;
    RUN(rows, MEM(none), MEM(r, &untouched, &untouched, m));
    CU_ASSERT(r[0] == 0 && r[2] == 0 && m[0] == 1 && m[2] == 1 && untouched == 5);
}

/* Kept axes between and behind folded ones, and a value fold used again along its own axis. */
static void test_other_trees(void) {
    enum { A = 3, B = 40, C = 70 };
    double *x = noise_f64(A * B * C, 3), mid[B], back[A * C], t[B * C], want;
    RUN("(cplan (axis i range free 3) (axis j range free 40) (axis k range free 70) (in X f64 dense 3 40 70) (out M f64 40) (out B f64 3 "
        "70)\n"
        "(access a X stream (i 1 0) (j 1 0) (k 1 0)) (let x f64 load a) (fold M SUM x keep j) (fold B SUM x keep i k))",
        MEM(x), MEM(mid, back));
    for (int j = 0; j < B; j++) { /* folded on both sides: the tree of rows over i, k */
        for (int p = 0; p < A * C; p++) t[p] = x[(p / C * B + j) * C + p % C];
        want = tree_sum(t, A * C);
        CU_ASSERT(same(&mid[j], &want, 8));
    }
    for (int p = 0; p < A * C; p++) { /* i repeats the column fold over j */
        want = tree_sum_of(x + p / C * B * C + p % C, B, C, 4, 16);
        CU_ASSERT(same(&back[p], &want, 8));
    }
    double nested[B], inner[C];
    RUN("(cplan (axis i range free 40) (axis j range free 70) (axis k range free 70) (in X f64 dense 40 70) (out N f64 40)\n"
        "(access a X stream (i 1 0) (j 1 0)) (access b X stream (i 1 0) (k 1 0)) (let x f64 load a) (let y f64 load b) (let s f64 fold SUM "
        "j x) (let d f64 SUB x s)\n"
        "(let e f64 MUL d y) (let f f64 fold SUM k e) (let g f64 MUL f x) (let h f64 fold SUM j g) (store N h keep i))",
        MEM(x), MEM(nested));
    for (int i = 0; i < B; i++) {
        double *row = x + i * C, s = tree_sum(row, C);
        for (int j = 0; j < C; j++) {
            for (int k = 0; k < C; k++) inner[k] = (row[j] - s) * row[k];
            t[j] = tree_sum(inner, C) * row[j];
        }
        want = tree_sum(t, C);
        CU_ASSERT(same(&nested[i], &want, 8));
    }
    free(x);
}

/* ---- guards, gathers, scans, the other sinks ----------------------------------------------------------------------------- */

static void test_guards(void) {
    double x[6] = {1, -2, 4, -8, 16, -32}, y[6] = {0, 0, 0, 0, 0, 0}, s, prod;
    RUN("(cplan (axis i range free 6) (in X f64 dense 6) (in Z f64 dense) (out Y f64 6) (out S f64) (out P f64) (access a X stream (i 1 "
        "0)) (access b Z stream)\n"
        "(let x f64 load a) (let z f64 load b) (let g u8 GT x z) (store Y x keep i guard g) (fold S SUM x keep guard g) (fold P PROD x "
        "keep))",
        MEM(x, (double[]){0}), MEM(y, &s, &prod));
    CU_ASSERT(y[0] == 1 && y[1] == 0 && y[4] == 16 && y[5] == 0 && s == 21 && prod == -32768);
}

static void test_gather(void) {
    double x[5] = {10, 11, 12, 13, 14}, y[4];
    int64_t at[4] = {4, 0, 0, 2};
    const char *text = "(cplan (axis i range free 4) (in X f64 dense 5) (in P i64 dense 4) (out Y f64 4) (access p P stream (i 1 0)) "
                       "(access x X stream (k -1 4))\n"
                       "(let k i64 load p) (let v f64 load x) (store Y v keep i))";
    RUN(text, MEM(x, at), MEM(y));
    CU_ASSERT(y[0] == 10 && y[1] == 14 && y[2] == 14 && y[3] == 12);
    at[2] = INT64_MIN;
    CU_ASSERT_EQUAL(run_text(text, MEM(x, at), NULL, MEM(y)), CLF_E_SHAPE);
    at[2] = 5;
    CU_ASSERT_EQUAL(run_text(text, MEM(x, at), NULL, MEM(y)), CLF_E_SHAPE);
}

static void test_scan(void) {
    double x[4 * 2] = {1, 10, 2, 20, 3, 30, 4, 40}, y[8];
    int64_t top[8];
    RUN("(cplan (axis i range ascending 4) (axis j range free 2) (in X f64 dense 4 2) (out Y f64 4 2) (out T i64 4 2) (access a X stream "
        "(i 1 0) (j 1 0)) (let x f64 load a)\n"
        "(let s f64 scan SUM i x) (let n f64 NEG x) (let t i64 scan ARGMAX i n) (store Y s keep i j) (store T t keep i j))",
        MEM(x), MEM(y, top));
    const double want[8] = {1, 10, 3, 30, 6, 60, 10, 100};
    CU_ASSERT(same(y, want, sizeof y) && top[6] == 1 && top[7] == 1);
}

static void test_scatter(void) {
    int64_t key[8] = {2, 0, 2, 2, 1, 0, 2, 4}, count[2][5];
    double x[8] = {1, 2, 3, 4, 5, 6, 7, 8}, sum[5], low[5];
    const char *text = "(cplan (axis i range free 8) (in K i64 dense 8) (in X f64 dense 8) (out C i64 5) (out S f64 5) (out L f64 5) "
                       "(access a K stream (i 1 0))\n"
                       "(access b X stream (i 1 0)) (let k i64 load a) (let x f64 load b) (scatter C NNZ x key k keep) (scatter S SUM x "
                       "key k keep) (scatter L MIN x key k keep))";
    RUN(text, MEM(key, x), MEM(count[0], sum, low));
    CU_ASSERT(count[0][0] == 2 && count[0][2] == 4 && count[0][3] == 0 && sum[2] == 15 && sum[3] == 0 && low[2] == 1 &&
              low[3] == INFINITY && low[4] == 8);
    key[3] = 5;
    CU_ASSERT_EQUAL(run_text(text, MEM(key, x), NULL, MEM(count[0], sum, low)), CLF_E_SHAPE);
    key[3] = -1;
    CU_ASSERT_EQUAL(run_text(text, MEM(key, x), NULL, MEM(count[0], sum, low)), CLF_E_SHAPE);
    key[3] = 2; /* with a kept axis: one histogram per half */
    RUN("(cplan (axis h range free 2) (axis i range free 4) (in K i64 dense 2 4) (out C i64 2 5) (access a K stream (h 1 0) (i 1 0)) (let "
        "k i64 load a) (let o i64 EQ k k)\n"
        "(scatter C NNZ o key k keep h))",
        MEM(key), MEM(count));
    CU_ASSERT(count[0][0] == 1 && count[0][2] == 3 && count[1][0] == 1 && count[1][2] == 1 && count[1][4] == 1);
}

static void test_append_ordered(void) {
    double x[7] = {3, NAN, -1, 3, 2, -1, 8}, sorted[7];
    int64_t from[7], n;
    RUN("(cplan (axis i range free 7) (in X f64 dense 7) (out Y f64 7) (out P i64 7) (out N i64) (access a X stream (i 1 0)) (let x f64 "
        "load a) (let i0 i64 index i)\n"
        "(append Y x P i0 count N keep order x))",
        MEM(x), MEM(sorted, from, &n));
    const int64_t want[7] = {2, 5, 4, 0, 3, 6, 1};
    CU_ASSERT(n == 7 && same(from, want, sizeof want) && sorted[0] == -1 && sorted[5] == 8 && isnan(sorted[6]));
}

static void test_sparse(void) {
    const int64_t ptr[4] = {0, 2, 2, 5};
    const int32_t idx[5] = {1, 3, 0, 2, 3};
    double val[5] = {1, 2, 3, 4, 5}, twice[5], cols[4], all, dense[12];
    int64_t best[3];
    clf_csr m = {.ptr = ptr, .idx = idx, .val = val, .rows = 3, .cols = 4, .nnz = 5};
    RUN("(cplan (axis r range free 3) (axis c range free 4) (axis e entry free 5 owner a parent r) (in M f64 csr 3 4) (out P f64 5) (out C "
        "f64 4) (out A f64) (out B i64 3)\n"
        "(access a M entries (r 1 0) (e 1 0)) (let x f64 load a) (let t f64 ADD x x) (let k i64 index e) (let q f64 fold SUM e x) (let b "
        "i64 fold ARGMAX e x)\n"
        "(let c0 i64 index c) (let c1 i64 SUB c0 c0) (let z u8 EQ c0 c1) (pattern P t keep r e) (scatter C SUM x key k keep) (fold A SUM q "
        "keep guard z)\n"
        "(store B b keep r))",
        MEM(&m), MEM(twice, cols, &all, best));
    const double want_dense[12] = {0, 1, 0, 2, 0, 0, 0, 0, 3, 0, 4, 5};
    CU_ASSERT(twice[0] == 2 && twice[4] == 10 && all == 15);
    CU_ASSERT(cols[0] == 12 && cols[1] == 4 && cols[2] == 16 && cols[3] == 28); /* once per position of the free axis c */
    CU_ASSERT(best[0] == 4 && best[1] == 0 && best[2] == 4);
    RUN("(cplan (axis i range free 3) (axis j range free 4) (in M f64 csr 3 4) (out D f64 3 4) (access a M locate (i 1 0) (j 1 0)) (let x "
        "f64 load a) (store D x keep i j))",
        MEM(&m), MEM(dense));
    CU_ASSERT(same(dense, want_dense, sizeof dense));
    m.nnz = 4;
    CU_ASSERT_EQUAL(run_text("(cplan (axis r range free 3) (axis e entry free 5 owner a parent r) (in M f64 csr 3 4) (out A f64) (access a "
                             "M entries (r 1 0) (e 1 0))\n"
                             "(let x f64 load a) (fold A SUM x keep))",
                             MEM(&m), NULL, MEM(&all)),
                    CLF_E_SHAPE);
}

static void test_dictionary_alone(void) {
    double value[6] = {1, 2, 3, 4, 5, 6}, count[3] = {10, 20, 30}, total, cells[8];
    int32_t code[4] = {2, 0, 1, 2};
    clf_dictionary m = {.code = code, .code_dtype = CLF_I32, .value = value, .rows = 4, .entries = 3, .cols = 2};
    RUN("(cplan (axis d dict free 3 owner a) (axis j range free 2) (in M f64 compressed 4 2) (in N f64 dense 3) (out T f64) (access a M "
        "dictionary (d 1 0) (j 1 0))\n"
        "(access n N stream (d 1 0)) (let x f64 load a) (let c f64 load n) (let y f64 MUL x c) (fold T SUM y keep))",
        MEM(&m, count), MEM(&total));
    CU_ASSERT_EQUAL(total, 10 * 3 + 20 * 7 + 30 * 11);
    RUN("(cplan (axis i range free 4) (axis j range free 2) (in M f64 compressed 4 2) (out D f64 4 2) (access a M stream (i 1 0) (j 1 0)) "
        "(let x f64 load a) (store D x keep i j))",
        MEM(&m), MEM(cells));
    CU_ASSERT(cells[0] == 5 && cells[1] == 6 && cells[2] == 1 && cells[5] == 4 && cells[7] == 6);
}

/* ---- refusals ------------------------------------------------------------------------------------------------------------ */

static void test_refused(void) {
    const char *text =
        "(cplan (axis i range free 4) (in X f64 dense 4) (out Y f64 4) (access a X stream (i 1 0)) (let x f64 load a) (store Y x keep i))";
    double x[4] = {1, 2, 3, 4}, y[4] = {0, 0, 0, 0};
    int64_t five = 5, three[CLF_MAX_RANK] = {3}, huge[CLF_MAX_RANK] = {INT64_MAX}, minus[CLF_MAX_RANK] = {-1};
    plan p;
    open_text(&p, text);
    CU_ASSERT_EQUAL(plan_run(&p, &(clf_bind){.in = MEM(x), .out = MEM(y), .axis_n = &five}), CLF_E_SHAPE);
    CU_ASSERT_PTR_NOT_NULL(strstr(p.err.text, "output 0 has 4 cells, 5 are written"));
    CU_ASSERT_EQUAL(plan_run(&p, &(clf_bind){.in = MEM(x), .out = MEM(y), .in_dim = three}), CLF_E_SHAPE);
    CU_ASSERT_EQUAL(plan_run(&p, &(clf_bind){.in = MEM(x), .out = MEM(y), .out_dim = three}), CLF_E_SHAPE);
    CU_ASSERT_EQUAL(plan_run(&p, &(clf_bind){.in = MEM(x), .out = MEM(y), .in_dim = huge}), CLF_E_LIMIT);
    CU_ASSERT_EQUAL(plan_run(&p, &(clf_bind){.in = MEM(x), .out = MEM(y), .in_dim = minus}), CLF_E_SHAPE);
    CU_ASSERT_EQUAL(plan_run(&p, &(clf_bind){.in = MEM(x), .out = MEM(y), .axis_n = minus}), CLF_E_SHAPE);
    CU_ASSERT_EQUAL(plan_run(&p, &(clf_bind){.in = MEM(x), .out = MEM(y)}), CLF_OK);
    CU_ASSERT(same(x, y, sizeof x));
    plan_close(&p);
}

static void test_memory_out(void) {
    int64_t key[3] = {1, 0, 1}, keys[3], n;
    double x[3] = {1, 2, 3}, sum[3], sorted[3];
    clf_status st = CLF_E_NOMEM;
    plan p;
    open_text(&p, "(cplan (axis i range ascending 3) (in K i64 dense 3) (in X f64 dense 3) (out S f64 3) (out T i64 3) (out U f64 3) (out "
                  "V f64 3) (out N i64)\n"
                  "(access a K stream (i 1 0)) (access b X stream (i 1 0)) (let k i64 load a) (let x f64 load b) (let c f64 scan SUM i x)\n"
                  "(group S SUM x key k T keep) (scatter U SUM c key k keep) (append V x count N keep order x))");
    int allocations = 0;
    for (; st == CLF_E_NOMEM && allocations < 50; allocations++) {
        clf_mem mem;
        clf_err err = {0};
        counting_heap heap = heap_of(allocations);
        clf_mem_init(&mem, counting_alloc, &heap);
        st = clf_ref_run(&p.c, &(clf_bind){.in = MEM(key, x), .out = MEM(sum, keys, sorted, sorted, &n)}, &mem, &err);
        CU_ASSERT(mem.now_bytes == 0 && err.code == st && (st == CLF_OK || strstr(err.text, "memory")));
    }
    CU_ASSERT(st == CLF_OK && allocations > 3 && n == 3 && sum[0] == 2 && sum[1] == 4 && keys[1] == 1);
    plan_close(&p);
}

int main(void) {
    CU_initialize_registry();
    CU_pSuite s = CU_add_suite("reference executor", NULL, NULL);
    CU_add_test(s, "random cell programs", test_programs);
    CU_add_test(s, "types", test_types);
    CU_add_test(s, "sums to the bit, every direction", test_sums);
    CU_add_test(s, "every fold", test_every_fold);
    CU_add_test(s, "zero extents", test_zero_extents);
    CU_add_test(s, "other keep patterns, nested folds", test_other_trees);
    CU_add_test(s, "guards", test_guards);
    CU_add_test(s, "gather", test_gather);
    CU_add_test(s, "scan", test_scan);
    CU_add_test(s, "scatter", test_scatter);
    CU_add_test(s, "ordered append", test_append_ordered);
    CU_add_test(s, "entries", test_sparse);
    CU_add_test(s, "dictionaries", test_dictionary_alone);
    CU_add_test(s, "refused", test_refused);
    CU_add_test(s, "memory runs out", test_memory_out);
    CU_basic_run_tests();
    int bad = CU_get_number_of_failures() > 0;
    CU_cleanup_registry();
    return bad;
}
