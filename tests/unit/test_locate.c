/* SPDX-License-Identifier: Apache-2.0
 * Several sparse operands in one loop, through the public interface: one drives, the others are looked up at its entries, and nothing is
 * written out as cells. Operands of different density: one full row among sparse ones, empty rows, stored zeros, none at all. Small
 * integers: one right answer, by plain loops over all cells; with NaN and infinities every executor has the same bits. */
#include <math.h>

#include "tests/unit/api_testing.h"

enum { ROWS = 45, COLS = 131, CELLS = ROWS * COLS };

typedef struct operand {
    double cell[CELLS], val[CELLS];
    int64_t ptr[ROWS + 1], nnz;
    int32_t idx[CELLS];
} operand;

/* About one of `often` cells, some of them zeros; row 20 whole; rows at both ends and every seventh empty. */
static void fill(operand *o, unsigned often, unsigned seed, bool special) {
    memset(o, 0, sizeof *o);
    for (int i = 0; i < ROWS; i++, o->ptr[i] = o->nnz)
        for (int j = 0; j < COLS && often > 0; j++) {
            unsigned h = (unsigned)(i * COLS + j) * 2654435761u + seed * 40503u;
            h = (h ^ h >> 15) * 2246822519u;
            if (i < 2 || i > ROWS - 4 || i % 7 == (int)seed % 7 || (i != 20 && (h >> 9) % often)) continue;
            double x = (double)(h >> 20 & 7) - 3;
            if (special && (h >> 8) % 50 == 0) x = (h >> 23) % 2 ? NAN : INFINITY;
            o->idx[o->nnz] = j;
            o->val[o->nnz++] = o->cell[i * COLS + j] = x;
        }
}

static clf_mat *matrix(clf_ctx *c, const operand *o) {
    return clf_sparse_csr(c, CLF_F64, ROWS, COLS, o->nnz, o->ptr, o->idx, o->val, NULL);
}

static double product3(double x, double y, double z) { return x * y * z; }
static double product(double x, double y, double z) { return (void)z, x * y; }
static double two_products(double x, double y, double z) { return x * y + x * z; }
static double shifted(double x, double y, double z) { return (void)z, x * (y + 1); }
enum { EXPRS = 8 };
static const struct {
    const char *text;
    double (*cell)(double x, double y, double z);
    int kept; /* 0: all summed; 1: rows; 2: columns; 3: cells */
} exprs[EXPRS] = {{"sum(X * Y * Z)", product3, 0},    {"X * Y", product, 3},
                  {"rowSums(X * Y)", product, 1},     {"colSums(X * Y)", product, 2},
                  {"X * Y + X * Z", two_products, 3}, {"sum(X * Y + X * Z)", two_products, 0},
                  {"sum(X * (Y + 1))", shifted, 0},   {"rowSums(X * Y * Z)", product3, 1}};
static const int64_t cells_kept[4] = {1, ROWS, COLS, CELLS};

static void by_loops(int e, const operand *o, double *out) {
    memset(out, 0, (size_t)cells_kept[exprs[e].kept] * sizeof *out);
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLS; j++) {
            int at = i * COLS + j, to[4] = {0, i, j, at};
            out[to[exprs[e].kept]] += exprs[e].cell(o[0].cell[at], o[1].cell[at], o[2].cell[at]);
        }
}

static void evaluate(clf_ctx *c, int e, const operand *o, double *out) {
    clf_binding b[3] = {{"X", matrix(c, &o[0])}, {"Y", matrix(c, &o[1])}, {"Z", matrix(c, &o[2])}};
    clf_mat *m = clf_expr(c, exprs[e].text, b, 3);
    clf_status st = clf_read(m, out, (size_t)cells_kept[exprs[e].kept] * sizeof *out);
    if (st != CLF_OK) printf("\n    %s: %s\n", exprs[e].text, clf_last_error(c));
    CU_ASSERT_EQUAL(st, CLF_OK);
    clf_free(m);
    for (int k = 0; k < 3; k++) clf_free(b[k].value);
}

static bool same(double a, double b, bool bits) { return isnan(a) ? isnan(b) : bits ? memcmp(&a, &b, sizeof a) == 0 : a == b; }

static void expect(int e, const double *got, const double *want, bool bits, const char *what) {
    for (int64_t k = 0; k < cells_kept[exprs[e].kept]; k++) {
        if (same(got[k], want[k], bits)) continue;
        printf("\n    %s, %s: cell %lld is %g, wanted %g\n", exprs[e].text, what, (long long)k, got[k], want[k]);
        CU_FAIL("a cell differs");
        return;
    }
    CU_PASS("all cells");
}

/* Whoever has the fewest entries drives; each gets its turn. */
static const unsigned densities[][3] = {{3, 3, 3}, {40, 2, 5}, {2, 40, 5}, {3, 1, 300}, {300, 300, 1}, {5, 0, 2}, {0, 1, 1}};
enum { DENSITIES = sizeof densities / sizeof *densities };

static void all(clf_ctx *c, const char *what) {
    static operand o[3];
    static double got[CELLS], want[CELLS];
    for (int d = 0; d < DENSITIES; d++) {
        for (unsigned k = 0; k < 3; k++) fill(&o[k], densities[d][k], k + 1, false);
        for (int e = 0; e < EXPRS; e++) {
            by_loops(e, o, want);
            evaluate(c, e, o, got);
            expect(e, got, want, false, what);
        }
    }
    clf_stats s = {.struct_size = sizeof s};
    CU_ASSERT_EQUAL(clf_get_stats(c, &s), CLF_OK);
    CU_ASSERT_EQUAL(s.launches_convert, 0);
}

static void test_host(void) {
    clf_ctx *c = open_host();
    all(c, "host");
    clf_close(c);
}

static void test_reference(void) {
    clf_ctx *c = open_host();
    CU_ASSERT_EQUAL(clf_set(c, "tier", "ref"), CLF_OK);
    all(c, "ref");
    clf_close(c);
}

static void test_kernels(void) {
    clf_ctx *c = open_kernels();
    if (!c) return;
    all(c, "kernels");
    clf_stats s = {.struct_size = sizeof s};
    CU_ASSERT_EQUAL(clf_get_stats(c, &s), CLF_OK);
    CU_ASSERT(s.launches_tier2 > 0);
    CU_ASSERT_EQUAL(s.launches_tier0 + s.launches_ref, 0);
    clf_close(c);
}

static void test_same_bits(void) {
    static operand o[3];
    static double want[CELLS], got[CELLS];
    clf_ctx *ref = open_host(), *host = open_host(), *kernels = open_kernels();
    CU_ASSERT_EQUAL(clf_set(ref, "tier", "ref"), CLF_OK);
    for (int d = 0; d < DENSITIES; d++) {
        for (unsigned k = 0; k < 3; k++) fill(&o[k], densities[d][k], k + 1, true);
        for (int e = 0; e < EXPRS; e++) {
            evaluate(ref, e, o, want);
            evaluate(host, e, o, got);
            expect(e, got, want, true, "host, special values");
            if (!kernels) continue;
            evaluate(kernels, e, o, got);
            expect(e, got, want, true, "kernels, special values");
        }
    }
    clf_close(ref);
    clf_close(host);
    if (kernels) clf_close(kernels);
}

/* A pattern's values at the entries of the matrix that gave the pattern: read where they stand. */
static void test_shared_pattern(void) {
    static operand o[2];
    static double want[CELLS], got[CELLS];
    clf_ctx *c = open_host();
    fill(&o[0], 3, 1, false);
    fill(&o[1], 9, 2, false);
    clf_mat *x = matrix(c, &o[0]), *y = matrix(c, &o[1]);
    clf_mat *w = clf_expr(c, "X * X", (clf_binding[]){{"X", x}}, 1);
    CU_ASSERT_EQUAL(clf_eval(1, &w), CLF_OK);
    clf_mat *m = clf_expr(c, "X * W + X * Y", (clf_binding[]){{"X", x}, {"W", w}, {"Y", y}}, 3);
    CU_ASSERT_EQUAL(clf_read(m, got, sizeof got), CLF_OK);
    for (int k = 0; k < CELLS; k++) want[k] = o[0].cell[k] * o[0].cell[k] * o[0].cell[k] + o[0].cell[k] * o[1].cell[k];
    expect(1, got, want, false, "shared pattern");
    clf_free(x), clf_free(y), clf_free(w), clf_free(m);
    clf_close(c);
}

int main(void) {
    static const test_case tests[] = {{"host", test_host},
                                      {"reference executor", test_reference},
                                      {"kernels", test_kernels},
                                      {"same bits with NaN and infinities", test_same_bits},
                                      {"a shared pattern", test_shared_pattern}};
    return run_suite("located operands", tests, sizeof tests / sizeof *tests);
}
