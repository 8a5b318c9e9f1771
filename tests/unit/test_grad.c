/* SPDX-License-Identifier: Apache-2.0
 * clf_grad as a call: what is refused and how, shapes and types of what it gives, points without a derivative, long programs, functions,
 * the language, sparse losses, and that nothing is left behind. Whether derivatives are right is a matter of test_grad_ops.c and
 * test_grad_programs.c. */
#include "host/graph/ctx.h"
#include "tests/unit/api_testing.h"

static clf_mat *text(clf_ctx *c, const char *program, const char *name, clf_mat *x) {
    clf_binding b = {name, x};
    return clf_expr(c, program, &b, x ? 1 : 0);
}

static void expect_cells(clf_mat *m, const double *want, int n) {
    double got[64];
    clf_status st = clf_read(m, got, (size_t)n * sizeof *got);
    if (st != CLF_OK) printf("\n    %s", clf_last_error(clf_ctx_of(m)));
    CU_ASSERT_EQUAL_FATAL(st, CLF_OK);
    for (int i = 0; i < n; i++) {
        if (got[i] != want[i]) printf("\n    [%d] %.17g, wanted %.17g", i, got[i], want[i]);
        CU_ASSERT_EQUAL(got[i], want[i]);
    }
}

/* ---- where there is no derivative ---- */

typedef struct point {
    const char *loss;
    double x[4], derivative[4];
} point;
static const point points[] = {
    {"sum(abs(x))", {0, -2, 3, 0}, {0, -1, 1, 0}},
    {"sum(max(x, 0))", {0, -2, 3, 0}, {1, 0, 1, 1}},
    {"sum(max(0, x))", {0, -2, 3, 0}, {0, 0, 1, 0}},
    {"sum(min(x, 1))", {1, 0, 2, 1}, {1, 1, 0, 1}},
    {"sum(sign(x) + round(x) + floor(x) + x %/% 2)", {0, 0.5, 1, 2}, {0, 0, 0, 0}},
    {"sum(0 * x + (x > 0) + (x == 1) + is.nan(x))", {0, 1, 1, 2}, {0, 0, 0, 0}},
    {"sum(ifelse(x > 0, 2 * x, x^3))", {0, 1, 2, 2}, {0, 2, 2, 2}},
    {"max(x)", {3, 1, 3, 2}, {0.5, 0, 0.5, 0}},
    {"min(x)", {1, 1, 1, 1}, {0.25, 0.25, 0.25, 0.25}},
    {"sum(x^0.5)", {1, 4, 0.25, 1}, {0.5, 0.25, 1, 0.5}},
    {"sum(x^2) + sum(x^3)", {0, 1, -1, 2}, {0, 5, 1, 16}},
    {"sum(2^x)", {0, 0, 0, 0}, {0.69314718055994529, 0.69314718055994529, 0.69314718055994529, 0.69314718055994529}},
    {"sum(0^x)", {1, 2, 3, 4}, {0, 0, 0, 0}},
    {"prod(x)", {0, 2, 3, 4}, {24, 0, 0, 0}},
    {"prod(x)", {0, 2, 0, 4}, {0, 0, 0, 0}},
    {"sum(cumprod(x))", {2, 0, 3, 0}, {1, 2 + 6, 0, 0}},
    {"sum(replace(target=x, pattern=0, replacement=5))", {0, 1, 0, 2}, {0, 1, 0, 1}},
    {"sum(rowIndexMax(x) * x)", {1, 2, 3, 4}, {1, 1, 1, 1}},
    {"sum(order(target=x, by=1, index.return=TRUE) * x)", {4, 3, 2, 1}, {4, 3, 2, 1}},
    {"sum(sqrt(x))", {1, 4, 0, 16}, {0.5, 0.25, 1.0 / 0.0, 0.125}},
};

static void test_points(void) {
    clf_ctx *c = open_host();
    for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
        clf_mat *x = clf_matrix(c, CLF_F64, 4, 1, points[i].x), *loss = text(c, points[i].loss, "x", x), *g = NULL;
        CU_ASSERT_EQUAL(clf_grad(loss, 1, &x, &g), CLF_OK);
        expect_cells(g, points[i].derivative, 4);
    }
    clf_close(c);
}

/* A text in which an integer operand meets itself: its square is beyond i32, the derivative is not. Found by tests/prop/test_grad.c. */
static void test_integers(void) {
    static const double cells[2] = {1.5, 2};
    static const int32_t far[2] = {64516, -70000};
    double want[2], pow[2] = {3, 4};
    clf_ctx *c = open_host();
    clf_mat *x = clf_matrix(c, CLF_F64, 2, 1, cells), *n = clf_matrix(c, CLF_I32, 2, 1, far), *two = clf_fill(c, CLF_I32, 2, 1, 2),
            *g = NULL;
    for (int i = 0; i < 2; i++) want[i] = -(double)far[i] / ((double)far[i] * far[i] + cells[i] * cells[i]);
    CU_ASSERT_EQUAL(clf_grad(clf_sum(clf_atan2(n, x)), 1, &x, &g), CLF_OK);
    expect_cells(g, want, 2);
    CU_ASSERT_EQUAL(clf_grad(clf_sum(clf_pow(x, two)), 1, &x, &g), CLF_OK);
    expect_cells(g, pow, 2);
    clf_close(c);
}

/* ---- refusals ---- */

typedef struct refusal {
    const char *loss;
    clf_status status;
    const char *says;
} refusal;
static const refusal refusals[] = {
    {"x * 2", CLF_E_SHAPE, "grad: the loss is 4x1; derivatives are of a scalar"},
    {"t(x)", CLF_E_SHAPE, "1x4"},
    {"sum(x > 0)", CLF_E_TYPE, "grad: the loss is i64"},
    {"sum(cummin(x))", CLF_E_UNSUPPORTED, "grad: the cumulative min has no derivative"},
    {"sum(x) + sum(cummax(exp(x)))", CLF_E_UNSUPPORTED, "cumulative max"},
    {"sum(x %*% x)", CLF_E_SHAPE, "4x1 and 4x1"},
};

static void expect_refused(clf_mat *loss, clf_mat *x, clf_status want, const char *says) {
    clf_mat *g[2] = {NULL, NULL}, *wrt[2] = {x, x};
    CU_ASSERT_EQUAL(clf_grad(loss, 2, wrt, g), want);
    CU_ASSERT_PTR_NOT_NULL(strstr(clf_last_error(clf_ctx_of(loss)), says));
    for (int i = 0; i < 2; i++) expect_sticky(g[i], want, says);
    expect_sticky(clf_sum(g[0]), want, says);
}

static void test_refusals(void) {
    static const double cells[4] = {1, 2, 3, 4};
    clf_ctx *c = open_host(), *other = open_host();
    clf_mat *x = clf_matrix(c, CLF_F64, 4, 1, cells), *s = clf_sum(x);
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
        expect_refused(text(c, refusals[i].loss, "x", x), x, refusals[i].status, refusals[i].says);
    expect_refused(s, clf_cast(x, CLF_I32), CLF_E_TYPE, "grad: variable 1 is i32");
    expect_refused(s, clf_num(c, 2), CLF_E_ARG, "grad: variable 1 is a number");
    expect_refused(s, NULL, CLF_E_ARG, "grad: variable 1 is missing");
    expect_refused(s, clf_fill(other, CLF_F64, 4, 1, 1), CLF_E_ARG, "of another context");
    expect_refused(s, clf_matmul(x, x), CLF_E_SHAPE, "4x1 and 4x1");
    CU_ASSERT_EQUAL(read_f64(s), 10);
    expect_refused(s, x, CLF_E_STATE, "grad: the loss is a value already");
    clf_mat *g = x;
    CU_ASSERT_EQUAL(clf_grad(NULL, 1, &x, &g), CLF_E_ARG);
    CU_ASSERT_PTR_NULL(g);
    CU_ASSERT_EQUAL(clf_grad(clf_sum(x), 1, NULL, &g), CLF_E_ARG);
    CU_ASSERT_EQUAL(clf_grad(clf_sum(x), 1, &x, NULL), CLF_E_ARG);
    CU_ASSERT_EQUAL(clf_grad(clf_sum(x), 0, NULL, NULL), CLF_OK);
    clf_close(other);
    clf_close(c);
}

/* ---- what is given ---- */

static void expect_like(clf_mat *g, const clf_mat *x) {
    int64_t rows[2] = {-1, -2}, cols[2] = {-1, -2};
    clf_dtype t[2] = {CLF_U8, CLF_F64};
    bool scalar[2] = {true, false};
    CU_ASSERT_EQUAL(clf_info(g, &rows[0], &cols[0], &t[0], &scalar[0]), CLF_OK);
    CU_ASSERT_EQUAL(clf_info(x, &rows[1], &cols[1], &t[1], &scalar[1]), CLF_OK);
    CU_ASSERT(rows[0] == rows[1] && cols[0] == cols[1] && t[0] == t[1] && scalar[0] == scalar[1]);
}

/* Every kind of variable, reached or not. */
static void test_shapes(void) {
    clf_ctx *c = open_host();
    clf_dtype types[2] = {CLF_F32, CLF_F64};
    static const int64_t shapes[][3] = {{3, 4, 0}, {3, 1, 0}, {1, 4, 0}, {1, 1, 0}, {1, 1, 1}, {0, 4, 0}, {3, 0, 0}, {0, 0, 0}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (int t = 0; t < 2; t++) {
            clf_mat *x = clf_param(c, types[t], shapes[i][0], shapes[i][1], shapes[i][2] != 0), *far = clf_mul(x, clf_num(c, 2));
            clf_mat *loss[3] = {clf_mul(clf_sum(x), clf_num(c, 3)), clf_sum(clf_exp(x)), clf_fold(CLF_FOLD_CODE_VAR, CLF_ALL, x)};
            for (int k = 0; k < 3; k++) {
                clf_mat *wrt[2] = {x, far}, *g[2];
                CU_ASSERT_EQUAL(clf_grad(loss[k], 2, wrt, g), CLF_OK);
                expect_like(g[0], x);
                expect_like(g[1], far);
            }
        }
    clf_close(c);
}

/* By the loss, by something in the middle, twice by the same, and by what it does not depend on. */
static void test_places(void) {
    static const double cells[3] = {1, 2, 3}, ones[3] = {1, 1, 1}, none[3] = {0, 0, 0}, chain[3] = {8, 16, 24};
    clf_ctx *c = open_host();
    clf_mat *x = clf_matrix(c, CLF_F64, 3, 1, cells), *y = clf_mul(x, clf_num(c, 2)), *loss = clf_sum(clf_sqr(y));
    clf_mat *other = clf_matrix(c, CLF_F64, 3, 1, ones), *wrt[5] = {loss, y, x, other, y}, *g[5];
    static const double one = 1, by_y[3] = {4, 8, 12};
    CU_ASSERT_EQUAL(clf_grad(loss, 5, wrt, g), CLF_OK);
    CU_ASSERT_EQUAL(clf_eval(5, g), CLF_OK);
    expect_cells(g[0], &one, 1);
    expect_cells(g[1], by_y, 3);
    expect_cells(g[2], chain, 3);
    expect_cells(g[3], none, 3);
    expect_cells(g[4], by_y, 3);
    clf_mat *same = clf_mul(x, clf_num(c, 2)), *of_leaf = NULL;
    CU_ASSERT_EQUAL(clf_grad(loss, 1, &same, g), CLF_OK); /* an equal expression is the same */
    expect_cells(g[0], by_y, 3);
    CU_ASSERT_EQUAL(clf_eval(1, &y), CLF_OK);
    CU_ASSERT_EQUAL(clf_grad(loss, 2, (clf_mat *[]){x, y}, g), CLF_OK); /* y is a value now, and loss was recorded with it */
    expect_cells(g[0], none, 3);
    expect_cells(g[1], by_y, 3);
    clf_mat *number = clf_borrow(c, CLF_F64, 1, 1, &one, NULL, NULL);
    CU_ASSERT_EQUAL(clf_grad(number, 1, &number, &of_leaf), CLF_OK);
    expect_cells(of_leaf, &one, 1);
    clf_close(c);
}

/* A derivative is a program: it can be differentiated again. */
static void test_again(void) {
    static const double cells[3] = {1, 2, 3}, second[3] = {6, 12, 18}, third[3] = {6, 6, 6};
    clf_ctx *c = open_host();
    clf_mat *x = clf_matrix(c, CLF_F64, 3, 1, cells), *g1, *g2, *g3;
    CU_ASSERT_EQUAL(clf_grad(clf_sum(clf_mul(clf_mul(x, x), x)), 1, &x, &g1), CLF_OK);
    CU_ASSERT_EQUAL(clf_grad(clf_sum(g1), 1, &x, &g2), CLF_OK);
    CU_ASSERT_EQUAL(clf_grad(clf_sum(g2), 1, &x, &g3), CLF_OK);
    expect_cells(g2, second, 3);
    expect_cells(g3, third, 3);
    clf_close(c);
}

/* In a function, and in the language: one program with the loss. */
static void test_function(void) {
    static const double cells[2] = {3, 4}, twice[2] = {6, 8};
    clf_ctx *c = open_host();
    clf_mat *p = clf_param(c, CLF_F64, 2, 1, false), *out[2] = {NULL, NULL}, *x = clf_matrix(c, CLF_F64, 2, 1, cells);
    clf_mat *loss = text(c, "sum(w^2)", "w", p), *results[2] = {loss, text(c, "loss = sum(w^2); grad(loss, w)", "w", p)};
    clf_fn *f = NULL;
    CU_ASSERT_EQUAL_FATAL(clf_fn_new(c, 1, &p, 2, results, &f), CLF_OK);
    CU_ASSERT_EQUAL_FATAL(clf_call(f, 1, &x, 2, out), CLF_OK);
    CU_ASSERT_EQUAL(read_f64(out[0]), 25);
    expect_cells(out[1], twice, 2);
    uint64_t plans = stats_of(c).plans;
    CU_ASSERT_EQUAL(clf_call(f, 1, &x, 2, out), CLF_OK);
    CU_ASSERT_EQUAL(stats_of(c).plans, plans);
    expect_sticky(text(c, "grad(w, w)", "w", p), CLF_E_SHAPE, "line 1, column 1: grad: the loss is 2x1");
    expect_sticky(text(c, "grad(loss=sum(w), x=3)", "w", p), CLF_E_ARG, "a number");
    clf_close(c);
}

/* ---- long programs, and nothing left behind ---- */

enum { LONG = 100000 };
static void *long_chain(void *arg) {
    static const double cells[2] = {1, 2};
    clf_ctx *c = arg;
    clf_mat *x = clf_matrix(c, CLF_F64, 2, 1, cells), *k = clf_num(c, 1), *y = x, *g = NULL;
    for (int i = 0; i < LONG; i++) {
        clf_mat *next = clf_add(y, i % 2 ? k : x);
        if (y != x) clf_free(y);
        y = next;
    }
    CU_ASSERT_EQUAL(clf_grad(clf_sum(y), 1, &x, &g), CLF_OK);
    expect_like(g, x);
    return NULL;
}

static void test_long(void) {
    counting_heap h = {0};
    clf_ctx *c = NULL;
    clf_options o = {.struct_size = sizeof o, .device = "host", .alloc = counting_alloc, .alloc_user = &h};
    CU_ASSERT_EQUAL_FATAL(clf_open(&c, &o), CLF_OK);
    with_stack(1 << 17, long_chain, c);
    clf_close(c);
    CU_ASSERT_EQUAL(h.live, 0);
}

/* Freed by an epoch's end, a loss and its derivatives leave no node: a training loop runs in constant memory. */
static void test_epochs(void) {
    static const double cells[4] = {1, 2, 3, 4};
    clf_ctx *c = open_host();
    clf_mat *x = clf_matrix(c, CLF_F64, 2, 2, cells);
    size_t nodes = 0;
    for (int i = 0; i < 20; i++) {
        size_t mark = clf_epoch_begin(c);
        clf_mat *wrt[2] = {x, x}, *g[2];
        CU_ASSERT_EQUAL(clf_grad(text(c, "P = exp(x) %*% t(x); sum(P * x) + prod(rowSums(P)) + sum(cumprod(x)[1, ])", "x", x), 2, wrt, g),
                        CLF_OK);
        if (i % 2) expect_refused(text(c, "sum(cummin(x) * x)", "x", x), x, CLF_E_UNSUPPORTED, "cumulative min");
        clf_epoch_end(c, mark);
        if (i == 0) nodes = c->nodes.count;
        CU_ASSERT_EQUAL(c->nodes.count, nodes);
    }
    clf_close(c);
}

/* ---- sparse ---- */

enum { WIDE = 1500, TALL = 2500, RANK = 5 };
static const char *const als =
    "loss = sum((X != 0) * (X - U %*% t(V))^2) + 0.1 * (sum(U^2) + sum(V^2)); loss; grad(loss, U); grad(loss, V)";
static const char *const als_hand =
    "W = (X != 0) * (X - U %*% t(V)); sum(W^2) + 0.1 * (sum(U^2) + sum(V^2)); 0.2 * U - 2 * (W %*% V); 0.2 * V - 2 * (t(W) %*% U)";
static const char *const poisson = "P = U %*% t(V); loss = 0 - sum(X * log(P + 1)); loss; grad(loss, U); grad(loss, V)";
static const char *const poisson_hand = "P = U %*% t(V); 0 - sum(X * log(P + 1)); -(X / (P + 1)) %*% V; -(t(X / (P + 1))) %*% U";

static int count(const char *s, const char *word) {
    int n = 0;
    for (; (s = strstr(s, word)); s++) n++;
    return n;
}

static void expect_near(clf_mat *a, clf_mat *b) {
    clf_mat *far = clf_fold(CLF_FOLD_CODE_MAX, CLF_ALL, clf_abs(clf_sub(a, b))), *size = clf_fold(CLF_FOLD_CODE_MAX, CLF_ALL, clf_abs(a));
    double x = read_f64(far), most = read_f64(size);
    if (!(x <= 1e-12 * most)) printf("\n    %g of %g", x, most);
    CU_ASSERT(x <= 1e-12 * most); /* sums of at most some thousand terms of one size */
    CU_ASSERT(most > 0);
}

/* x's cells as a sparse leaf, whose zeros annihilate. */
static clf_mat *sparse_leaf(clf_ctx *c, clf_mat *x) {
    const int64_t *offsets;
    const int32_t *indices;
    const void *values;
    int64_t nnz, rows, cols;
    CU_ASSERT_EQUAL_FATAL(clf_info(x, &rows, &cols, NULL, NULL), CLF_OK);
    CU_ASSERT_EQUAL_FATAL(clf_data_csr(x, &nnz, &offsets, &indices, &values), CLF_OK);
    return clf_sparse_csr(c, CLF_F64, rows, cols, nnz, offsets, indices, values, NULL);
}

/* Loss and derivatives visit the entries of X in at most three steps, and nothing has the cells of X. */
static void sparse_loss(const char *selector, const char *program, const char *hand) {
    static text_sink seen;
    clf_ctx *c = open_host();
    CU_ASSERT_EQUAL(clf_set(c, "fuse", selector), CLF_OK);
    clf_binding b[] = {{"X", sparse_leaf(c, clf_to_sparse(clf_rand(c, CLF_F64, TALL, WIDE, 1, 5, 0.004, 1)))},
                       {"U", clf_rand(c, CLF_F64, TALL, RANK, 0.1, 1, 1, 2)},
                       {"V", clf_rand(c, CLF_F64, WIDE, RANK, 0.1, 1, 1, 3)}};
    CU_ASSERT_EQUAL(clf_eval(2, (clf_mat *[]){b[1].value, b[2].value}), CLF_OK);
    struct program g = parse_bare(c, program, b, 3), h = parse_bare(c, hand, b, 3);
    clf_mem_stats before = {.struct_size = sizeof before}, after = before;
    CU_ASSERT_EQUAL(clf_get_mem_stats(c, &before), CLF_OK);
    CU_ASSERT_EQUAL(clf_explain(3, g.result, CLF_TEXT, 0, collect, empty_sink(&seen)), CLF_OK);
    int visits = count(seen.at, "visits   the stored entries");
    bool few = visits >= 1 && visits <= 3 && !strstr(seen.at, "visits   all cells") && !strstr(seen.at, "to dense");
    if (!few) printf("\n%s", seen.at);
    CU_ASSERT(few);
    CU_ASSERT_EQUAL(clf_eval(3, g.result), CLF_OK);
    CU_ASSERT_EQUAL(clf_get_mem_stats(c, &after), CLF_OK);
    CU_ASSERT(after.peak < before.now + TALL * WIDE * sizeof(double) / 4);
    for (int i = 0; i < 3; i++) expect_near(g.result[i], h.result[i]);
    clf_close(c);
}

static void test_sparse(void) {
    static const char *const selectors[] = {"all", "cost"};
    for (int i = 0; i < 2; i++) {
        sparse_loss(selectors[i], als, als_hand);
        sparse_loss(selectors[i], poisson, poisson_hand);
    }
}

/* Of a sparse variable the derivative is by all cells. */
static void test_sparse_variable(void) {
    static const double cells[6] = {0, 2, 0, 0, 3, 0}, two[6] = {2, 2, 2, 2, 2, 2}, squares[6] = {0, 4, 0, 0, 6, 0};
    clf_ctx *c = open_host();
    clf_mat *x = sparse_leaf(c, clf_matrix(c, CLF_F64, 2, 3, cells)), *g = NULL;
    CU_ASSERT_EQUAL(clf_grad(text(c, "sum(x * 2)", "x", x), 1, &x, &g), CLF_OK);
    expect_cells(g, two, 6);
    CU_ASSERT_EQUAL(clf_grad(text(c, "sum(x^2)", "x", x), 1, &x, &g), CLF_OK);
    expect_cells(g, squares, 6);
    clf_close(c);
}

int main(void) {
    static const test_case tests[] = {{"points without a derivative", test_points},
                                      {"integers", test_integers},
                                      {"refusals", test_refusals},
                                      {"shapes", test_shapes},
                                      {"places", test_places},
                                      {"derivatives of derivatives", test_again},
                                      {"functions", test_function},
                                      {"a long chain in a small stack", test_long},
                                      {"epochs", test_epochs},
                                      {"sparse losses", test_sparse},
                                      {"sparse variables", test_sparse_variable}};
    return run_suite("derivatives", tests, sizeof tests / sizeof *tests);
}
