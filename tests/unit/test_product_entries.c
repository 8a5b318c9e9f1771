/* SPDX-License-Identifier: Apache-2.0
 * Products of two sparse matrices: cells by hand, every form and type against plain loops over cells, zeros and what is not finite, and
 * that neither threads nor panels change a bit. */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/plan_text.h"
#include "tests/unit/sparse_api_testing.h"

/* ---- by hand ---- */

static clf_ctx *on_host(void) {
    clf_ctx *c = open_host();
    CU_ASSERT_EQUAL(clf_set(c, "fuse", "all"), CLF_OK); /* a product alone is the library's, whatever it costs */
    return c;
}

static uint64_t products(clf_ctx *c) { return stats_of(c).launches_library; }

static void test_forms(void) {
    clf_ctx *c = on_host();
    static const double by_itself[ROWS * ROWS] = {5, 0, 8, 0, 0, 0, 8, 0, 25},
                                         gram[COLS * COLS] = {1, 0, 0, 2, 0, 9, 0, 12, 0, 0, 0, 0, 2, 12, 0, 20};
    clf_mat *S = by_rows(c);
    expect_cells(clf_matmul(S, clf_t(S)), by_itself, ROWS * ROWS);
    expect_cells(clf_matmul(clf_t(S), S), gram, COLS * COLS);
    CU_ASSERT_EQUAL(products(c), 2);
    clf_close(c);
}

/* ---- against plain loops ---- */

/* A matrix of whole numbers, as cells and as entries. */
typedef struct drawn {
    int64_t rows, cols, nnz, *ptr;
    int32_t *idx;
    double *val, *cell;
    float *val4;
} drawn;

static drawn draw(uint64_t seed, int64_t rows, int64_t cols, double share) {
    size_t n = (size_t)(rows * cols) + 1;
    drawn d = {rows, cols, 0, calloc((size_t)rows + 1, 8), malloc(n * 4), malloc(n * 8), calloc(n, 8), malloc(n * 4)};
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < cols; j++) {
            uint64_t r = seed = seed * 6364136223846793005ull + 1442695040888963407ull;
            if ((double)(r >> 40) / (double)(1 << 24) >= (i % 5 == 3 ? 0 : share)) continue; /* some rows are empty */
            d.idx[d.nnz] = (int32_t)j;
            d.val4[d.nnz] = (float)(d.val[d.nnz] = d.cell[i * cols + j] = (double)((int64_t)(r >> 20 & 15) - 7));
            d.nnz++;
        }
        d.ptr[i + 1] = d.nnz;
    }
    return d;
}

static void release(drawn *d) {
    free(d->ptr);
    free(d->idx);
    free(d->val);
    free(d->val4);
    free(d->cell);
}

static clf_mat *handle(clf_ctx *c, clf_dtype t, const drawn *d) {
    const void *val = t == CLF_F64 ? (const void *)d->val : d->val4;
    return clf_sparse_csr(c, t, d->rows, d->cols, d->nnz, d->ptr, d->idx, val, NULL);
}

static double at(const drawn *d, bool turned, int64_t i, int64_t j) { return turned ? d->cell[j * d->cols + i] : d->cell[i * d->cols + j]; }

/* Cells that differ from sums in whole numbers, which are exact in any order. */
static int64_t wrong(const drawn *a, const drawn *b, bool ta, bool tb, clf_dtype t, const void *got) {
    int64_t m = ta ? a->cols : a->rows, n = tb ? b->rows : b->cols, K = ta ? a->rows : a->cols, bad = 0;
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            double sum = 0;
            for (int64_t k = 0; k < K; k++) sum += at(a, ta, i, k) * at(b, tb, k, j);
            bad += clf_scalar_as_f64(clf_scalar_load(got, (size_t)(i * n + j), t)) != sum;
        }
    return bad;
}

static void check(int64_t m, int64_t k, int64_t n, double share, int form, clf_dtype t) {
    bool ta = form & 1, tb = form >> 1 & 1;
    drawn a = draw(11 + (uint64_t)form, ta ? k : m, ta ? m : k, share), b = draw(17, tb ? n : k, tb ? k : n, share);
    clf_ctx *c = on_host();
    clf_mat *A = handle(c, t, &a), *B = handle(c, t, &b), *P = clf_matmul(ta ? clf_t(A) : A, tb ? clf_t(B) : B);
    void *got = malloc((size_t)(m * n) * 8 + 8);
    if (good(P)) {
        CU_ASSERT_EQUAL(clf_read(P, got, (size_t)(m * n) * clf_dtype_bytes(t)), CLF_OK);
        CU_ASSERT_EQUAL(wrong(&a, &b, ta, tb, t, got), 0);
    }
    free(got);
    clf_close(c);
    release(&a);
    release(&b);
}

static void test_loops(void) {
    static const int64_t size[][3] = {{1, 1, 1}, {2, 3, 4}, {40, 7, 13}, {7, 60, 5}, {33, 64, 65},
                                      {5, 0, 4}, {0, 5, 4}, {4, 5, 0},   {9, 8, 1},  {1, 8, 9}};
    static const double share[] = {0, 0.1, 0.5, 1};
    for (size_t s = 0; s < sizeof size / sizeof *size; s++)
        for (int form = 0; form < 4; form++)
            for (int t = 0; t < 2; t++)
                for (size_t k = 0; k < 4; k++) check(size[s][0], size[s][1], size[s][2], share[k], form, t ? CLF_F64 : CLF_F32);
}

/* ---- computed sides ---- */

/* Sides made of a sparse matrix X and a column w, and their cells where X has x. */
typedef struct made {
    const char *text;
    double (*cell)(double x, double w);
} made;

static double plain(double x, double w) {
    (void)w;
    return x;
}

static double weighted(double x, double w) { return w * x; }
static double added(double x, double w) { return 2 * x + w * x; }
static double shifted(double x, double w) { return x != 0 ? w - fabs(x) : 0; }

static const made sides[] = {
    {"X", plain}, {"w * X", weighted}, {"X * 2 + w * X", added}, {"(X != 0) * (w - abs(X))", shifted}, {"t(t(X) * t(w))", weighted}};

enum { SIDES = sizeof sides / sizeof *sides };

static void compute(drawn *d, const made *m, double *w) {
    for (int64_t i = 0; i < d->rows; i++) w[i] = (double)(i % 7 - 2);
    for (int64_t i = 0; i < d->rows * d->cols; i++) d->cell[i] = m->cell(d->cell[i], w[i / (d->cols ? d->cols : 1)]);
}

/* The text of a side, of variables `name` and `weight` in place of X and w. */
static void name_side(const made *m, bool turned, char name, char weight, char *text) {
    *text++ = turned ? 't' : ' ';
    *text++ = '(';
    for (const char *s = m->text; *s; s++) *text++ = (char)(*s == 'X' ? name : *s == 'w' ? weight : *s);
    strcpy(text, ")");
}

static void check_made(int l, int r, int form, clf_dtype t, const char *fuse, bool pairs) {
    enum { M = 23, K = 41, N = 70 };
    bool ta = form & 1, tb = form >> 1 & 1;
    drawn a = draw(21, ta ? K : M, ta ? M : K, 0.2), b = draw(22, tb ? N : K, tb ? K : N, 0.3);
    double u[N], w[N];
    float got4[M * N], w4[2][N];
    double got8[M * N];
    void *got = t == CLF_F64 ? (void *)got8 : got4;
    char left[64], right[64], text[160];
    clf_ctx *c = open_host();
    CU_ASSERT_EQUAL(clf_set(c, "fuse", fuse), CLF_OK);
    clf_mat *A = handle(c, t, &a), *B = handle(c, t, &b);
    compute(&a, &sides[l], u);
    compute(&b, &sides[r], w);
    for (int i = 0; i < N; i++) {
        w4[0][i] = (float)(i < a.rows ? u[i] : 0);
        w4[1][i] = (float)(i < b.rows ? w[i] : 0);
    }
    clf_mat *U = clf_matrix(c, t, a.rows, 1, t == CLF_F64 ? (void *)u : w4[0]),
            *W = clf_matrix(c, t, b.rows, 1, t == CLF_F64 ? (void *)w : w4[1]);
    name_side(&sides[l], ta, 'A', 'u', left);
    name_side(&sides[r], tb, 'B', 'w', right);
    snprintf(text, sizeof text, "%s %%*%% %s", left, right);
    clf_binding vars[] = {{"A", A}, {"B", B}, {"u", U}, {"w", W}};
    clf_mat *P = clf_expr(c, text, vars, 4);
    if (good(P)) {
        CU_ASSERT_EQUAL(clf_read(P, got, (size_t)(M * N) * clf_dtype_bytes(t)), CLF_OK);
        int64_t bad = wrong(&a, &b, ta, tb, t, got);
        if (bad || (pairs && products(c) != 1)) printf("\n    %s, %s: %d wrong cells, %d products", text, fuse, (int)bad, (int)products(c));
        CU_ASSERT(!bad && (!pairs || products(c) == 1));
    }
    clf_close(c);
    release(&a);
    release(&b);
}

static void test_computed(void) {
    for (int l = 0; l < SIDES; l++)
        for (int r = 0; r < SIDES; r++)
            for (int form = 0; form < 4; form++) {
                check_made(l, r, form, (l + r) % 2 ? CLF_F32 : CLF_F64, "none", true);
                if (l != r) check_made(l, r, form, CLF_F64, form % 2 ? "all" : "cost", false);
            }
}

/* What meets a zero, stored or not, is annihilated before the product, too. */
static void test_computed_zeros(void) {
    static const int64_t ptr[] = {0, 2, 3};
    static const int32_t idx[] = {0, 1, 1};
    static const double val[] = {0, 1, 2}; /* [0 1; . 2], the first zero stored */
    const double w[] = {NAN, 1, INFINITY, 3}, want[4] = {0, 0, 0, 13};
    clf_ctx *c = open_host();
    CU_ASSERT_EQUAL(clf_set(c, "fuse", "none"), CLF_OK);
    clf_mat *S = clf_sparse_csr(c, CLF_F64, 2, 2, 3, ptr, idx, val, NULL), *W = clf_matrix(c, CLF_F64, 2, 2, w);
    expect_cells(clf_matmul(clf_t(S), clf_apply(CLF_MUL, S, W, NULL)), want, 4);
    CU_ASSERT_EQUAL(products(c), 1);
    clf_close(c);
}

/* Integers are f64 in products. */
static void test_integers(void) {
    static const int32_t val[NNZ] = {1, 2, 3, 4};
    static const double want[ROWS * ROWS] = {5, 0, 8, 0, 0, 0, 8, 0, 25};
    clf_ctx *c = on_host();
    clf_mat *S = clf_sparse_csr(c, CLF_I32, ROWS, COLS, NNZ, row_ptr, row_idx, val, NULL);
    CU_ASSERT_EQUAL(clf_set(c, "fuse", "none"), CLF_OK);
    expect_cells(clf_matmul(S, clf_t(S)), want, ROWS * ROWS);
    CU_ASSERT_EQUAL(products(c), 1);
    clf_close(c);
}

/* ---- zeros ---- */

/* Each row of the left side meets a stored zero, a gap, or a number with what is not finite. */
static void test_zeros(void) {
    static const int64_t ptr[] = {0, 2, 3, 3}, right_ptr[] = {0, 3, 4, 4};
    static const int32_t idx[] = {0, 1, 1}, right_idx[] = {0, 1, 2, 2};
    const double val[] = {0, INFINITY, 2}, right[] = {NAN, 1, INFINITY, 0}; /* [0 Inf .; . 2 .; . . .] %*% [NaN 1 Inf; . . 0; . . .] */
    static const double want[9] = {0, 0, 0, 0, 0, 0, 0, 0, 0};
    clf_ctx *c = on_host();
    clf_mat *A = clf_sparse_csr(c, CLF_F64, 3, 3, 3, ptr, idx, val, NULL),
            *B = clf_sparse_csr(c, CLF_F64, 3, 3, 4, right_ptr, right_idx, right, NULL);
    expect_cells(clf_matmul(A, B), want, 9);
    CU_ASSERT_EQUAL(products(c), 1);
    static const double one[] = {1, 0, 0};
    clf_mat *first = clf_sparse_csr(c, CLF_F64, 3, 3, 3, ptr, idx, one, NULL); /* 1 meets NaN and Inf */
    const double full[9] = {NAN, 1, INFINITY, 0, 0, 0, 0, 0, 0};
    expect_cells(clf_matmul(first, B), full, 9);
    clf_close(c);
}

/* Ordinary zeros: 0 * NaN counts, and the product is of cells. */
static void test_ieee(void) {
    static const int64_t ptr[] = {0, 1, 1};
    static const int32_t idx[] = {0};
    static const double one[] = {1};
    const double nan_[] = {NAN}, want[4] = {NAN, 0, NAN, 0}, annihilated[4] = {NAN, 0, 0, 0};
    for (int ieee = 0; ieee < 2; ieee++) {
        clf_ctx *c = on_host();
        if (ieee) CU_ASSERT_EQUAL(clf_set(c, "sparse", "ieee"), CLF_OK);
        clf_mat *A = clf_sparse_csr(c, CLF_F64, 2, 2, 1, ptr, idx, one, NULL),
                *B = clf_sparse_csr(c, CLF_F64, 2, 2, 1, ptr, idx, nan_, NULL);
        expect_cells(clf_matmul(A, B), ieee ? want : annihilated, 4);
        clf_close(c);
    }
}

/* ---- bits ---- */

static void fractions(drawn *d) {
    for (int64_t e = 0; e < d->nnz; e++) d->val[e] = (d->val[e] + 0.1) / 3;
}

static void *bits_of(const drawn *a, const drawn *b, const char *threads) {
    clf_ctx *c = on_host();
    CU_ASSERT_EQUAL(clf_set(c, "threads", threads), CLF_OK);
    size_t bytes = (size_t)(a->cols * b->cols) * 8;
    double *got = malloc(bytes);
    CU_ASSERT_EQUAL_FATAL(clf_read(clf_matmul(clf_t(handle(c, CLF_F64, a)), handle(c, CLF_F64, b)), got, bytes), CLF_OK);
    CU_ASSERT_EQUAL(products(c), 1);
    clf_close(c);
    return got;
}

/* The right side has several panels; sums are in the order of what is summed. */
static void test_bits(void) {
    enum { K = 3000, M = 90, N = 110 };
    drawn a = draw(3, K, M, 0.4), b = draw(4, K, N, 0.4);
    fractions(&a);
    fractions(&b);
    double *one = bits_of(&a, &b, "1"), *three = bits_of(&a, &b, "3"), *want = calloc((size_t)M * N, 8);
    for (int64_t k = 0; k < K; k++)
        for (int64_t e = a.ptr[k]; e < a.ptr[k + 1]; e++)
            for (int64_t f = b.ptr[k]; f < b.ptr[k + 1]; f++) want[(int64_t)a.idx[e] * N + b.idx[f]] += a.val[e] * b.val[f];
    CU_ASSERT(b.nnz * 12 > 2 << 19);
    CU_ASSERT_EQUAL(memcmp(one, three, (size_t)M * N * 8), 0);
    CU_ASSERT_EQUAL(memcmp(one, want, (size_t)M * N * 8), 0);
    free(one);
    free(three);
    free(want);
    release(&a);
    release(&b);
}

/* ---- symmetric results ---- */

/* t(S) %*% S, or S %*% t(S), by so many threads. */
static double *own_product(const drawn *s, bool left, const char *threads) {
    clf_ctx *c = on_host();
    CU_ASSERT_EQUAL(clf_set(c, "threads", threads), CLF_OK);
    int64_t n = left ? s->cols : s->rows;
    double *got = malloc((size_t)(n * n) * 8 + 8);
    clf_mat *S = handle(c, CLF_F64, s);
    CU_ASSERT_EQUAL_FATAL(clf_read(left ? clf_matmul(clf_t(S), S) : clf_matmul(S, clf_t(S)), got, (size_t)(n * n) * 8), CLF_OK);
    CU_ASSERT(s->rows == 1 || s->cols == 1 || !s->nnz || products(c) == 1);
    clf_close(c);
    return got;
}

static bool same_number(double x, double y) { return memcmp(&x, &y, 8) == 0 || (isnan(x) && isnan(y)); }

/* Every cell is the sum of its terms in the order of what is summed, on both sides of the diagonal. */
static void expect_own_products(const drawn *s, bool left, int64_t panels) {
    int64_t n = left ? s->cols : s->rows, K = left ? s->rows : s->cols, bad = 0;
    double *one = own_product(s, left, "1"), *three = own_product(s, left, "3");
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            double sum = 0;
            for (int64_t k = 0; k < K; k++) {
                double x = at(s, left, i, k), y = at(s, left, j, k);
                if (x != 0 && y != 0) sum += x * y;
            }
            bad += !same_number(one[i * n + j], sum) || !same_number(three[i * n + j], sum);
        }
    CU_ASSERT(panels == 1 || s->nnz * 12 > panels << 19);
    CU_ASSERT_EQUAL(bad, 0);
    free(one);
    free(three);
}

static void test_symmetric(void) {
    static const int64_t size[][2] = {{1, 1}, {1, 9}, {9, 1}, {33, 64}, {64, 33}, {200, 97}, {3000, 70}, {140000, 20}};
    static const double share[] = {0, 0.1, 0.5, 1};
    for (size_t i = 0; i < sizeof size / sizeof *size; i++)
        for (size_t k = 0; k < (size[i][0] > 3000 ? 2 : 4); k++) /* the last: few entries of each of many rows */
            for (int strange = 0; strange < 2; strange++) {
                drawn s = draw(31 + i, size[i][0], size[i][1], share[k]);
                fractions(&s);
                for (int64_t e = 0; e < s.nnz && strange; e += 1 + e % 50) s.val[e] = e % 3 == 0 ? 0 : e % 3 == 1 ? INFINITY : NAN;
                for (int64_t r = 0; r < s.rows; r++)
                    for (int64_t e = s.ptr[r]; e < s.ptr[r + 1]; e++) s.cell[r * s.cols + s.idx[e]] = s.val[e];
                expect_own_products(&s, true, size[i][0] == 3000 && share[k] == 1 ? 3 : 1);
                if (size[i][0] < 3000) expect_own_products(&s, false, 1);
                release(&s);
            }
}

/* Few pairs for each row of the result: no panels. */
static void test_far(void) {
    enum { K = 600, N = 700 };
    drawn a = draw(5, 30, K, 0.01), b = draw(6, K, N, 0.15);
    clf_ctx *c = on_host();
    double *got = malloc((size_t)30 * N * 8);
    CU_ASSERT_EQUAL(clf_read(clf_matmul(handle(c, CLF_F64, &a), handle(c, CLF_F64, &b)), got, (size_t)30 * N * 8), CLF_OK);
    CU_ASSERT(b.nnz * 12 > 1 << 19);
    CU_ASSERT_EQUAL(wrong(&a, &b, false, false, CLF_F64, got), 0);
    clf_close(c);
    free(got);
    release(&a);
    release(&b);
}

/* ---- plans ---- */

static const plan_var vars[] = {{"S", 20000, 300, false, 60000},
                                {"F", 20000, 300, false, 6000000},
                                {"D", 20000, 300, false, 0},
                                {"v", 20000, 1, false, 0},
                                {"W", 20000, 20000, false, 9000}};

/* Loops have so many operators at most. */
static planned plan_small(const char *text, const char *selector, int32_t operators, const clf_profile *host) {
    const clf_limits lim = {.dev = {.n = 1, .profile = {host}}, .kernel_ops = operators, .kernel_inputs = 48};
    return plan_with(vars, sizeof vars / sizeof *vars, text, selector, &lim);
}

static planned plan_on_host(const char *text, const char *selector) {
    clf_profile host;
    clf_profile_assume(&host, CLF_DEV_HOST, 1);
    return plan_small(text, selector, 200, &host);
}

static int conversions(const clf_plan *p, clf_convert how) {
    int n = 0;
    for (int32_t s = 0; s < p->nstep; s++) n += p->step[s].kind == CLF_STEP_CONVERT && p->step[s].convert == how;
    return n;
}

/* Does the plan have so many twins, and such a product of entries? */
static void expect_plan(const char *text, const char *selector, int twins, bool entries) {
    planned r = plan_on_host(text, selector);
    int n = conversions(r.p, CLF_CONVERT_TWIN);
    bool found = false;
    for (int32_t s = 0; s < r.p->nstep; s++) found = found || clf_step_of_entries(r.p, &r.p->step[s]);
    if (n != twins || found != entries) printf("\n    %s by %s: %d twins, %d", text, selector, n, found);
    CU_ASSERT(n == twins && found == entries);
    drop(&r);
}

/* Costs decide: not where nearly all cells have entries, nor where a loop wants the product at few places, or sums it up. */
static void test_choice(void) {
    expect_plan("t(S) %*% S", "cost", 1, true);
    expect_plan("t(S) %*% S", "all", 1, true);
    expect_plan("t(S) %*% S", "none", 1, true);
    expect_plan("a = t(S) %*% S; b = t(S) %*% F; a; b", "cost", 1, true);
    expect_plan("t(F) %*% F", "cost", 0, false);
    expect_plan("t(S) %*% D", "cost", 0, false);
    expect_plan("t(S) %*% (S * 2)", "cost", 1, true);
    expect_plan("t(S) %*% (v * S)", "cost", 1, true);
    expect_plan("t(v * S) %*% (v * S)", "cost", 1, true);
    expect_plan("t(S) %*% (S * 2)", "none", 1, true);
    expect_plan("t(S) %*% (v * F)", "cost", 1, true);
    expect_plan("t(F) %*% (v * F)", "cost", 0, false);
    expect_plan("t(S) %*% (S + F)", "none", 0, false);
    expect_plan("t(S) %*% (S + 1)", "none", 0, false);
    expect_plan("W * (S %*% t(S))", "cost", 0, false);
}

/* Sums of two stored sparse matrices are cells; those that products take are converted once. */
static void test_converted(void) {
    planned r = plan_on_host("A = S + v * S; t(S) %*% A; t(A) %*% S", "none");
    CU_ASSERT_EQUAL(conversions(r.p, CLF_CONVERT_CSR), 1);
    CU_ASSERT_EQUAL(conversions(r.p, CLF_CONVERT_TWIN), 2);
    drop(&r);
}

/* What a cover costs is what its steps do, sides that are converted or turned included. */
static void test_prices(void) {
    static const char *const text[] = {"t(S) %*% S", "t(S) %*% (v * S)", "t(S) %*% (S + v * S)", "A = S + v * S; t(A) %*% A; t(S) %*% A",
                                       "A = S + v * S; t(A) %*% F; t(A) %*% S; sum(A)"};
    clf_profile host;
    clf_profile_assume(&host, CLF_DEV_HOST, 1);
    int converted = 0;
    for (size_t i = 0; i < sizeof text / sizeof *text; i++)
        for (int32_t operators = 1; operators < 3; operators++) {
            planned r = plan_small(text[i], "cost", operators, &host);
            clf_ps sum = 0;
            for (int32_t s = 0; s < r.p->nstep; s++) sum += clf_bill_pay(r.p->step[s].bill, &r.p->g, &host);
            converted += conversions(r.p, CLF_CONVERT_CSR);
            CU_ASSERT_EQUAL(sum, r.p->cost_ps);
            drop(&r);
        }
    CU_ASSERT(converted > 0);
}

int main(void) {
    static const test_case cases[] = {{"forms", test_forms},
                                      {"plain loops", test_loops},
                                      {"integers", test_integers},
                                      {"computed sides", test_computed},
                                      {"zeros of computed sides", test_computed_zeros},
                                      {"zeros", test_zeros},
                                      {"ieee", test_ieee},
                                      {"threads and panels", test_bits},
                                      {"far rows", test_far},
                                      {"symmetric", test_symmetric},
                                      {"choice", test_choice},
                                      {"converted", test_converted},
                                      {"prices", test_prices}};
    return run_suite("product_entries", cases, sizeof cases / sizeof *cases);
}
