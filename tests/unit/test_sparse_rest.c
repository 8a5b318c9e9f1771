/* SPDX-License-Identifier: Apache-2.0
 * Aggregates that take the cells without entry of a sparse matrix in by their number, or by ranges: each program over a sparse matrix
 * against the same over its cells, and what explain says of it. Small integers, so that only var may round. */
#include <math.h>

#include "core/dtype.h"
#include "tests/unit/api_testing.h"

/* What must happen for the usual shape: cells without entry are counted, are ranges, are nothing to see, or the matrix is written out. */
enum { COUNTED, RANGES, NOTHING, ALL_CELLS };
static const char *const said[] = {"folded in by count", "folded in by ranges", "zero wherever", "all cells"};

static const struct {
    const char *text;
    int visits;
} programs[] = {
    {"sum(X + 1)", COUNTED},
    {"sum((X + 7)^2)", COUNTED},
    {"min(X)", COUNTED},
    {"max(X * 2)", COUNTED},
    {"max(X - 50)", COUNTED},
    {"mean(X)", COUNTED},
    {"mean(X * 4 + 1)", COUNTED},
    {"prod(X)", COUNTED},
    {"prod((X != 0) + 1)", COUNTED},
    {"var(X)", COUNTED},
    {"sum(X == 0)", COUNTED},
    {"rowMaxs(X)", COUNTED},
    {"rowMins(X + w)", COUNTED},
    {"rowSums(X >= 0)", COUNTED},
    {"rowSums(X + w * 2)", COUNTED},
    {"rowMeans(X)", COUNTED},
    {"rowVars(X + w)", COUNTED},
    {"rowProds(X - 1)", COUNTED},
    {"rowIndexMax(X)", COUNTED},
    {"rowIndexMin(X)", COUNTED},
    {"rowIndexMax(X * w - 1)", COUNTED},
    {"sum(X + s)", COUNTED},
    {"sum(X + sum(w))", COUNTED},
    {"rowSums(abs(X + w) * (X + 3))", COUNTED},
    {"rowSums(X - rowSums(X))", COUNTED},
    {"sum(X)", NOTHING},
    {"rowSums(X * Y)", NOTHING},
    {"rowMaxs(X * Y)", COUNTED},
    {"sum(X + Y)", ALL_CELLS},
    {"sum(X + w)", COUNTED},
    {"min(X * 2 - w)", COUNTED},
    {"sum((X + w)^2)", COUNTED},
    {"sum(X >= w)", COUNTED},
    {"mean(X + w)", COUNTED},
    {"var(X * 2 + w)", COUNTED},
    {"prod(X - w)", COUNTED},
    {"max(X + u)", COUNTED},
    {"sum((X + u)^2)", COUNTED},
    {"sum(X >= u)", COUNTED},
    {"mean(X - u * 2)", COUNTED},
    {"var(X + u)", COUNTED},
    {"sum(X + u + w)", ALL_CELLS},
    {"rowMins(X + u)", RANGES},
    {"rowSums(X + u)", RANGES},
    {"rowSums(X + u * 2 - s)", RANGES},
    {"rowSums((X - u)^2)", RANGES},
    {"rowMaxs(abs(X - u))", RANGES},
    {"rowMeans(X * 2 + u)", RANGES},
    {"rowVars(X + u)", RANGES},
    {"rowProds(X * 2 - (u > 0))", RANGES},
    {"rowIndexMax(X + u)", RANGES},
    {"rowIndexMin(X * w - u)", RANGES},
    {"rowSums(X >= u)", RANGES},
    {"rowSums(X + u + w)", ALL_CELLS},
    {"sum(rowMaxs(X - u) * w)", RANGES},
    {"colMaxs(X)", COUNTED},
    {"colMins(X - 3)", COUNTED},
    {"colSums(X + 1)", COUNTED},
    {"colSums(X + u)", COUNTED},
    {"colSums((X + u * 2)^2)", COUNTED},
    {"colSums(X <= u)", COUNTED},
    {"colMeans(X)", COUNTED},
    {"colMeans(X * 4 - u)", COUNTED},
    {"colVars(X)", COUNTED},
    {"colVars(X + u)", COUNTED},
    {"colProds(X * 2 - (u > 0))", COUNTED},
    {"colMaxs(X + s)", COUNTED},
    {"colMaxs(X * Y)", COUNTED},
    {"colMaxs(X * w + u)", COUNTED},
    {"colMins(abs(X) + sum(w))", COUNTED},
    {"colSums(X + w)", RANGES},
    {"colSums((X * 2 - w)^2)", RANGES},
    {"colMins(X - w)", RANGES},
    {"colMaxs(X + w)", RANGES},
    {"colMeans(X + w * 3)", RANGES},
    {"colVars(X + w)", RANGES},
    {"colProds(X - (w > 0))", RANGES},
    {"colSums(X <= w)", RANGES},
    {"colSums(X - rowSums(X))", RANGES},
    {"colMaxs(X + w + u)", ALL_CELLS},
    {"colMaxs(X + Y)", ALL_CELLS},
    {"colSums(X * 2)", NOTHING},
    {"rowMins(Y - X * 0)", ALL_CELLS},
};
enum { PROGRAMS = sizeof programs / sizeof *programs };

/* ---- data ---- */

enum { MOST = 1 << 17 };
static char cells[MOST * 8], side[MOST * 8], across[MOST * 8];
static int32_t row[MOST], col[MOST];
static char stored[MOST * 8];

typedef struct shape {
    int64_t n, m;
    int every; /* one cell in so many is stored; row 1 is empty, row 2 full */
    bool special;
} shape;

static int64_t fill(const shape *s, clf_dtype t) {
    int64_t e = 0;
    memset(cells, 0, sizeof cells);
    for (int64_t k = 0; k < s->n * s->m; k++) {
        int64_t i = k / s->m;
        double x = (double)((k * 7919 + 13) % 9 - (t == CLF_U8 ? 0 : 4));
        clf_scalar_store(side, (size_t)k, clf_scalar_to(clf_scalar_f64((double)(k % 5 - 1)), t));
        double u = s->special && k % 16 == 3 ? INFINITY : s->special && k % 16 == 7 ? NAN : (double)(k % 5 - 1);
        clf_scalar_store(across, (size_t)k, clf_scalar_to(clf_scalar_f64(u), t));
        if (i == 1 || (i != 2 && (k * 2654435761u >> 5) % (unsigned)s->every)) continue;
        if (s->special && e % 17 == 5) x = e % 2 ? INFINITY : e % 4 ? -INFINITY : NAN;
        clf_scalar v = clf_scalar_to(clf_scalar_f64(x), t);
        row[e] = (int32_t)i, col[e] = (int32_t)(k % s->m);
        clf_scalar_store(cells, (size_t)k, v);
        clf_scalar_store(stored, (size_t)e++, v);
    }
    return e;
}

/* X sparse or not, Y dense like it, w a column, u a row, s a number. */
static size_t bind(clf_ctx *c, const shape *s, clf_dtype t, bool sparse, clf_binding *b) {
    int64_t e = fill(s, t);
    clf_mat *x = sparse ? clf_sparse_coo(c, t, s->n, s->m, e, row, col, stored, NULL) : clf_matrix(c, t, s->n, s->m, cells);
    b[0] = (clf_binding){"X", x};
    b[1] = (clf_binding){"Y", clf_matrix(c, t, s->n, s->m, side)};
    b[2] = (clf_binding){"w", clf_matrix(c, t, s->n, 1, side)};
    b[3] = (clf_binding){"u", clf_matrix(c, t, 1, s->m, across)};
    b[4] = (clf_binding){"s", clf_num(c, 3)};
    return 5;
}

/* ---- comparing ---- */

static bool same(double x, double y, bool rounds) {
    if (isnan(x) || isnan(y)) return isnan(x) && isnan(y);
    return x == y || (rounds && fabs(x - y) <= 1e-5 * (fabs(x) + fabs(y)));
}

static bool agree(clf_mat *got, clf_mat *want, bool rounds) {
    int64_t n = 0, m = 0, n2 = 0, m2 = 0;
    clf_dtype t = CLF_F64, t2 = CLF_F64;
    CU_ASSERT_FATAL(clf_info(got, &n, &m, &t, NULL) == CLF_OK && clf_info(want, &n2, &m2, &t2, NULL) == CLF_OK);
    if (n != n2 || m != m2 || t != t2) return false;
    size_t cell = (size_t)(n * m), bytes = cell * clf_dtype_bytes(t);
    char *x = calloc(bytes + 1, 1), *y = calloc(bytes + 1, 1);
    bool ok = clf_read(got, x, bytes) == CLF_OK && clf_read(want, y, bytes) == CLF_OK;
    if (!ok) printf("\n    %s", clf_last_error(clf_ctx_of(got)));
    for (size_t k = 0; k < cell && ok; k++) {
        double a = clf_scalar_as_f64(clf_scalar_load(x, k, t)), b = clf_scalar_as_f64(clf_scalar_load(y, k, t));
        ok = same(a, b, rounds);
        if (!ok) printf("\n    cell %zu: %.17g, over dense cells %.17g", k, a, b);
    }
    free(x), free(y);
    return ok;
}

/* What the sparse program visits, as explain tells it. */
static bool visits(clf_mat *m, int want) {
    static text_sink t;
    t.n = 0;
    t.at[0] = 0;
    CU_ASSERT_EQUAL(clf_explain(1, &m, CLF_TEXT, 0, collect, &t), CLF_OK);
    bool ok = strstr(t.at, said[want]) != NULL;
    if (!ok) printf("\n    no '%s' in\n%s", said[want], t.at);
    return ok;
}

static bool one(clf_ctx *c, const shape *s, clf_dtype t, size_t p, bool explained) {
    clf_binding b[5];
    size_t n = bind(c, s, t, true, b);
    clf_mat *got = parse_bare(c, programs[p].text, b, n).result[0];
    bool ok = !explained || visits(got, programs[p].visits);
    n = bind(c, s, t, false, b);
    ok = agree(got, parse_bare(c, programs[p].text, b, n).result[0], strstr(programs[p].text, "ar") != NULL) && ok;
    if (!ok) printf("\n    %s, %s, %lld x %lld\n", programs[p].text, clf_dtype_name(t), (long long)s->n, (long long)s->m);
    return ok;
}

static void all_programs(const shape *s, clf_dtype t, bool explained) {
    clf_ctx *c = open_driven();
    for (size_t p = 0; p < PROGRAMS; p++) CU_ASSERT(one(c, s, t, p, explained));
    clf_close(c);
}

static const shape usual = {37, 23, 5, false};

static void test_explained(void) { all_programs(&usual, CLF_F64, true); }

static void test_types(void) {
    for (int t = 0; t < CLF_NDTYPES; t++) all_programs(&usual, (clf_dtype)t, false);
}

static void test_special(void) {
    const shape s = {37, 23, 5, true};
    all_programs(&s, CLF_F64, false);
    all_programs(&s, CLF_F32, false);
}

static void test_shapes(void) {
    static const shape shapes[] = {{0, 5, 5, false},       {5, 1, 2, false},    {1, 700, 9, false},  {3, 9, 1, false},
                                   {4, 9, 1000000, false}, {90, 1030, 3, true}, {1100, 90, 7, false}};
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) all_programs(&shapes[k], CLF_F64, false);
}

/* Folds that the language has no name for. */
static void test_truths(void) {
    static const clf_fold_code fold[] = {CLF_FOLD_CODE_ANY, CLF_FOLD_CODE_ALL, CLF_FOLD_CODE_NNZ, CLF_FOLD_CODE_SUMSQ};
    clf_ctx *c = open_driven();
    clf_binding b[5], d[5];
    bind(c, &usual, CLF_F64, true, b);
    bind(c, &usual, CLF_F64, false, d);
    for (size_t f = 0; f < sizeof fold / sizeof *fold; f++)
        for (int dir = CLF_ALL; dir <= CLF_COLS; dir++)
            for (int k = -1; k <= 1; k++) {
                clf_mat *got = clf_fold(fold[f], (clf_dir)dir, clf_add(b[0].value, clf_num(c, k)));
                CU_ASSERT(visits(got, k == 0 && fold[f] != CLF_FOLD_CODE_ALL ? NOTHING : COUNTED));
                CU_ASSERT(agree(got, clf_fold(fold[f], (clf_dir)dir, clf_add(d[0].value, clf_num(c, k))), false));
            }
    for (int k = 0; k < 4; k++) { /* positions in columns: of rows without entry too */
        clf_fold_code code = k % 2 ? CLF_FOLD_CODE_ARGMAX : CLF_FOLD_CODE_ARGMIN;
        clf_mat *x = clf_sub(b[0].value, b[3].value), *y = clf_sub(d[0].value, d[3].value);
        if (k / 2) x = clf_mul(b[0].value, b[0].value), y = clf_mul(d[0].value, d[0].value);
        clf_mat *got = clf_fold(code, CLF_COLS, x);
        CU_ASSERT(visits(got, COUNTED));
        CU_ASSERT(agree(got, clf_fold(code, CLF_COLS, y), false));
    }
    clf_close(c);
}

/* Two aggregates of one pass, one that must be told of the cells without entry and one that need not. */
static void test_together(void) {
    clf_ctx *c = open_driven();
    clf_binding b[5], d[5];
    bind(c, &usual, CLF_F64, true, b);
    bind(c, &usual, CLF_F64, false, d);
    program got = parse_bare(c, "sum(X^2)\nmin(X)\nmax(X)\nsum(X + 2)\nsum(X)", b, 5);
    program want = parse_bare(c, "sum(X^2)\nmin(X)\nmax(X)\nsum(X + 2)\nsum(X)", d, 5);
    CU_ASSERT_EQUAL(clf_eval(got.n, got.result), CLF_OK);
    for (size_t k = 0; k < got.n; k++) CU_ASSERT(agree(got.result[k], want.result[k], false));
    clf_close(c);
}

static const test_case tests[] = {
    {"what explain says", test_explained},
    {"types", test_types},
    {"nan and infinity", test_special},
    {"shapes", test_shapes},
    {"truths", test_truths},
    {"several aggregates", test_together},
};
int main(void) { return run_suite("cells without entry", tests, sizeof tests / sizeof *tests); }
