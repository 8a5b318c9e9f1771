/* SPDX-License-Identifier: Apache-2.0
 * Aggregates of a sparse matrix whose cells without entry differ along what is aggregated: rows by columns, columns by rows. Against
 * plain loops over all cells; nothing is converted; what is stored over a number leaves no trace of it, for no sum is a difference; the
 * same bits however many threads; and matrices far too large for their cells, in memory of their rows, columns and entries. */
#include <math.h>

#include "tests/unit/api_testing.h"

/* ---- X n x m, r n x 1, c m x 1 ---- */

enum { MOST = 1 << 16, LONG = 1000000 };
static double cell[MOST], r[LONG], c[LONG], val[MOST];
static int32_t row[MOST], col[MOST];
static int64_t entries;

static void store(int64_t i, int64_t j, double x) { row[entries] = (int32_t)i, col[entries] = (int32_t)j, val[entries++] = x; }

/* Row 1 and column 2 are empty, row 3 and column 4 full; small integers with ties. */
static void fill(int64_t n, int64_t m) {
    entries = 0;
    memset(cell, 0, sizeof cell);
    for (int64_t i = 0; i < n; i++) r[i] = (double)(i * 5 % 7 - 3);
    for (int64_t j = 0; j < m; j++) c[j] = (double)(j * 3 % 5 - 2);
    for (int64_t k = 0; k < n * m; k++) {
        int64_t i = k / m, j = k % m;
        if (i == 1 || j == 2 || (i != 3 && j != 4 && (k * 2654435761u >> 7) % 4)) continue;
        store(i, j, cell[k] = (double)(k * 7919 % 9 - 4));
    }
}

static size_t bind(clf_ctx *ctx, int64_t n, int64_t m, clf_binding *b) {
    b[0] = (clf_binding){"X", clf_sparse_coo(ctx, CLF_F64, n, m, entries, row, col, val, NULL)};
    b[1] = (clf_binding){"r", clf_matrix(ctx, CLF_F64, n, 1, r)};
    b[2] = (clf_binding){"c", clf_matrix(ctx, CLF_F64, m, 1, c)};
    return 3;
}

/* The only bare expression of a text, in memory that lives until the context closes; nothing was converted to get there. A fold over one
 * row or column is no fold. */
static const double *run(clf_ctx *ctx, const char *text, int64_t n, int64_t m) {
    clf_binding b[3];
    const void *x = NULL;
    clf_mat *result = parse_bare(ctx, text, b, bind(ctx, n, m, b)).result[0];
    clf_status st = clf_data(clf_cast(result, CLF_F64), &x);
    if (st != CLF_OK) printf("\n    %s: %s\n", text, clf_last_error(ctx));
    CU_ASSERT_EQUAL_FATAL(st, CLF_OK);
    clf_stats s = stats_of(ctx);
    bool no_fold = (n == 1 && !strncmp(text, "col", 3)) || (m == 1 && !strncmp(text, "row", 3));
    CU_ASSERT(s.launches_ref == 0 && (no_fold || (s.launches_convert == 0 && s.launches_rows > 0)));
    return x;
}

/* ---- by plain loops ---- */

typedef enum what { SUM, MEAN, VAR, MAX, MIN, FIRST_MAX, FIRST_MIN, PROD } what;

static double fold(what f, const double *x, int64_t n) {
    double sum = 0, square = 0, prod = 1, best = f == MIN || f == FIRST_MIN ? INFINITY : -INFINITY;
    int64_t at = 0;
    for (int64_t k = 0; k < n; k++) {
        bool better = f == MIN || f == FIRST_MIN ? x[k] < best : x[k] > best;
        if (better) best = x[k], at = k + 1;
        sum += x[k];
        prod *= x[k];
    }
    for (int64_t k = 0; k < n; k++) square += (x[k] - sum / (double)n) * (x[k] - sum / (double)n);
    const double by[] = {sum, sum / (double)n, n > 1 ? square / (double)(n - 1) : NAN, best, best, (double)at, (double)at, prod};
    return by[f];
}

static double plus(double x, double s) { return x + s; }
static double minus(double x, double s) { return x - s; }
static double squared(double x, double s) { return (x * 2 - s) * (x * 2 - s); }
static double e_to(double x, double s) { return exp(x - s); }
static double less(double x, double s) { return x < s; }

static const struct {
    const char *text;
    bool columns;
    what fold;
    double (*body)(double, double);
} programs[] = {
    {"rowSums(X + t(c))", false, SUM, plus},
    {"rowMeans(X + t(c))", false, MEAN, plus},
    {"rowVars(X + t(c))", false, VAR, plus},
    {"rowMaxs(X - t(c))", false, MAX, minus},
    {"rowMins(X - t(c))", false, MIN, minus},
    {"rowIndexMax(X + t(c))", false, FIRST_MAX, plus},
    {"rowIndexMin(X + t(c))", false, FIRST_MIN, plus},
    {"rowMaxs(exp(X - t(c)))", false, MAX, e_to},
    {"rowSums((X * 2 - t(c))^2)", false, SUM, squared},
    {"rowSums(X < t(c))", false, SUM, less},
    {"rowProds(X + t(c))", false, PROD, plus},
    {"colSums(X + r)", true, SUM, plus},
    {"colMeans(X + r)", true, MEAN, plus},
    {"colVars(X - r)", true, VAR, minus},
    {"colMaxs(X + r)", true, MAX, plus},
    {"colMins(X + r)", true, MIN, plus},
    {"colMaxs(exp(X - r))", true, MAX, e_to},
    {"colSums((X * 2 - r)^2)", true, SUM, squared},
    {"colSums(X < r)", true, SUM, less},
    {"colProds(X - r)", true, PROD, minus},
};
enum { PROGRAMS = sizeof programs / sizeof *programs };

/* Variances and powers of e round. */
static bool same(double x, double y, const char *text) {
    bool rounds = strstr(text, "Vars") || strstr(text, "exp");
    return (isnan(x) && isnan(y)) || x == y || (rounds && fabs(x - y) <= 1e-13 * fabs(y));
}

static void one(size_t p, int64_t n, int64_t m) {
    static double line[MOST];
    clf_ctx *ctx = open_driven();
    fill(n, m);
    const double *got = run(ctx, programs[p].text, n, m);
    bool by_column = programs[p].columns, ok = true;
    int64_t results = by_column ? m : n, along = by_column ? n : m;
    for (int64_t k = 0; k < results && ok; k++) {
        for (int64_t q = 0; q < along; q++) {
            int64_t i = by_column ? q : k, j = by_column ? k : q;
            line[q] = programs[p].body(cell[i * m + j], by_column ? r[i] : c[j]);
        }
        double want = fold(programs[p].fold, line, along);
        ok = same(got[k], want, programs[p].text);
        if (!ok)
            printf("\n    %s, %lld x %lld: %.17g at %lld, not %.17g\n", programs[p].text, (long long)n, (long long)m, got[k], (long long)k,
                   want);
    }
    CU_ASSERT(ok);
    clf_close(ctx);
}

static void test_plain(void) {
    static const int64_t shape[][2] = {{37, 23}, {6, 900}, {900, 6}, {1, 40}, {130, 129}};
    for (size_t s = 0; s < sizeof shape / sizeof *shape; s++)
        for (size_t p = 0; p < PROGRAMS; p++) one(p, shape[s][0], shape[s][1]);
}

/* Positions in columns have no name in the language. */
static void test_first_row(void) {
    enum { N = 64, M = 30 };
    fill(N, M);
    for (int least = 0; least < 2; least++) {
        clf_ctx *ctx = open_driven();
        clf_binding b[3];
        bind(ctx, N, M, b);
        int64_t at[M];
        clf_mat *x = clf_fold(least ? CLF_FOLD_CODE_ARGMIN : CLF_FOLD_CODE_ARGMAX, CLF_COLS, clf_add(b[0].value, b[1].value));
        CU_ASSERT_EQUAL(clf_read(x, at, sizeof at), CLF_OK);
        CU_ASSERT_EQUAL(stats_of(ctx).launches_convert, 0);
        for (int j = 0; j < M; j++) {
            double line[N];
            for (int i = 0; i < N; i++) line[i] = cell[i * M + j] + r[i];
            CU_ASSERT_EQUAL((double)at[j], fold(least ? FIRST_MIN : FIRST_MAX, line, N));
        }
        clf_close(ctx);
    }
}

/* ---- what an entry stands on ---- */

/* Every number of c but small ones lies under an entry of row 0, of r of column 0: no trace of them there, and of them alone elsewhere. */
static void test_no_trace(void) {
    enum { N = 100, M = 300 };
    static const double large[] = {1e300, NAN, -INFINITY, 1e17, INFINITY, -1e300};
    clf_ctx *ctx = open_driven();
    entries = 0;
    for (int k = 0; k < M; k++) c[k] = k % 50 == 7 ? large[k / 50] : k % 3;
    for (int k = 0; k < N; k++) r[k] = k % 20 == 7 ? large[k / 20] : k % 4;
    for (int k = 7; k < M; k += 50) store(0, k, 1);
    for (int k = 7; k < N; k += 20) store(k, 0, 1);
    const double *rows = run(ctx, "rowSums(ifelse(X == 0, t(c), X))", N, M), *most = run(ctx, "rowMaxs(ifelse(X == 0, t(c), X))", N, M);
    double sum = 0;
    for (int k = 0; k < M; k++) sum += k % 50 == 7 ? 1 : k % 3;
    CU_ASSERT(rows[0] == sum && most[0] == 2);
    for (int i = 1; i < N; i++) CU_ASSERT(isnan(rows[i]) && isnan(most[i]));
    const double *cols = run(ctx, "colSums(ifelse(X == 0, r, X))", N, M), *least = run(ctx, "colMins(ifelse(X == 0, r, X))", N, M);
    sum = 0;
    for (int k = 0; k < N; k++) sum += k % 20 == 7 ? 1 : k % 4;
    CU_ASSERT(cols[0] == sum && least[0] == 0);
    for (int j = 1; j < M; j++) CU_ASSERT(isnan(cols[j]) && isnan(least[j]));
    clf_close(ctx);
}

/* ---- bits ---- */

/* Ways to run a program on numbers that round. */
static void test_bits(void) {
    enum { N = 4000, M = 3000 };
    static const run_config way[] = {{"all", "baseline", "1"}, {"all", "avx2", "2"}, {"all", "avx512", "3"}};
    static const char *const text[] = {"rowSums(X + t(c))", "rowVars(X * t(c) - t(c))", "colSums(X * 3 + r)", "colVars(X + r)"};
    uint64_t seed = 7;
    entries = 0;
    for (int k = 0; k < LONG; k++) {
        seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        r[k] = (double)(seed >> 11) * 0x1p-53, c[k] = 1 / (r[k] + 0.1);
    }
    for (int64_t k = 0; k < MOST && k * 179 < N * M; k++) store(k * 179 / M, k * 179 % M, c[k + 5000]);
    for (size_t p = 0; p < sizeof text / sizeof *text; p++) {
        clf_ctx *ctx[3];
        const double *x[3];
        for (int q = 0; q < 3; q++) x[q] = run(ctx[q] = open_config(&way[q]), text[p], N, M);
        for (int q = 1; q < 3; q++) CU_ASSERT_EQUAL(memcmp(x[0], x[q], (p < 2 ? N : M) * sizeof(double)), 0);
        for (int q = 0; q < 3; q++) clf_close(ctx[q]);
    }
}

/* ---- large ---- */

/* Entry k stands at row and column k * STEP, and is 5. r and c are 0 1 2 3 0 1 ... */
enum { STEP = 9973 };
static double stored_sum(int64_t k) { return (double)LONG * 1.5 + (k % STEP == 0 ? 5 : 0); }
static double largest(int64_t k) { return k % STEP == 0 ? 5 + (double)(k % 4) : 3; }
static double largest_at(int64_t k) { return k % STEP == 0 ? (double)(k + 1) : 4; }

/* 10^12 cells of which a few are stored: bytes a row or column for results, values and runs of the gaps, counts and states of columns. */
static void large(const char *text, double (*want)(int64_t k), uint64_t most_bytes) {
    clf_ctx *ctx = open_driven();
    clf_mem_stats m = {.struct_size = sizeof m};
    CU_ASSERT_EQUAL(clf_set(ctx, "threads", "2"), CLF_OK);
    const double *got = run(ctx, text, LONG, LONG);
    CU_ASSERT_EQUAL(clf_get_mem_stats(ctx, &m), CLF_OK);
    int64_t wrong = 0;
    for (int64_t k = 0; k < LONG; k++) wrong += got[k] != want(k);
    if (wrong || m.peak >= most_bytes * LONG)
        printf("\n    %s: %lld wrong, %llu bytes", text, (long long)wrong, (unsigned long long)m.peak);
    CU_ASSERT(wrong == 0 && m.peak < most_bytes * LONG);
    clf_close(ctx);
}

static void test_large(void) {
    entries = 0;
    for (int64_t k = 0; k < LONG; k++) r[k] = c[k] = (double)(k % 4);
    for (int64_t k = 0; k < LONG; k += STEP) store(k, k, 5);
    large("rowSums(X + t(c))", stored_sum, 64);
    large("rowMaxs(X + t(c))", largest, 64);
    large("rowIndexMax(X + t(c))", largest_at, 64);
    large("colSums(X + r)", stored_sum, 256);
    large("colMaxs(X + r)", largest, 256);
}

int main(void) {
    static const test_case tests[] = {{"plain loops", test_plain},
                                      {"first row", test_first_row},
                                      {"no trace", test_no_trace},
                                      {"bits", test_bits},
                                      {"large", test_large}};
    return run_suite("cells without entry by ranges", tests, sizeof tests / sizeof *tests);
}
