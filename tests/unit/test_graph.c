/* SPDX-License-Identifier: Apache-2.0
 * Recording: nodes are equal exactly when they mean the same, shapes and types follow the rules, errors stick, handles live as long
 * as they should. */
#include "host/graph/ctx.h"
#include "host/run/run.h"
#include "tests/unit/api_testing.h"

static const double x_data[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};

static void expect(clf_mat *m, clf_dtype t, int64_t rows, int64_t cols, bool scalar) {
    int64_t r = -1, c = -1;
    clf_dtype got = CLF_U8;
    bool s = false;
    clf_status st = clf_info(m, &r, &c, &got, &s);
    if (st != CLF_OK || got != t || r != rows || c != cols || s != scalar)
        printf("\n    %s %lldx%lld%s, wanted %s %lldx%lld%s (%s)\n", clf_dtype_name(got), (long long)r, (long long)c, s ? " scalar" : "",
               clf_dtype_name(t), (long long)rows, (long long)cols, scalar ? " scalar" : "",
               st == CLF_OK ? "" : clf_last_error(clf_ctx_of(m)));
    CU_ASSERT(st == CLF_OK && got == t && r == rows && c == cols && s == scalar);
}

static void test_hash_consing(void) {
    clf_ctx *c = open_host();
    clf_mat *X = clf_matrix(c, CLF_F64, 4, 3, x_data), *Y = clf_matrix(c, CLF_F64, 4, 3, x_data);
    CU_ASSERT_PTR_NOT_EQUAL(X->node, Y->node); /* equal contents are another matrix all the same */
    CU_ASSERT_PTR_EQUAL(clf_add(X, Y)->node, clf_add(X, Y)->node);
    CU_ASSERT_PTR_NOT_EQUAL(clf_add(X, Y)->node, clf_add(Y, X)->node);
    CU_ASSERT_PTR_NOT_EQUAL(clf_add(X, Y)->node, clf_sub(X, Y)->node);
    CU_ASSERT_PTR_EQUAL(clf_num(c, 0.5)->node, clf_num(c, 0.5)->node);
    CU_ASSERT_PTR_NOT_EQUAL(clf_num(c, 0.0)->node, clf_num(c, -0.0)->node);
    CU_ASSERT_PTR_NOT_EQUAL(clf_num(c, 1)->node, clf_int(c, 1)->node);
    CU_ASSERT_PTR_EQUAL(clf_index(X, 1, 0, 2, 3)->node, clf_index(X, 1, 4, 2, 0)->node);
    CU_ASSERT_PTR_NOT_EQUAL(clf_index(X, 1, 0, 2, 3)->node, clf_index(X, 1, 0, 1, 2)->node);
    CU_ASSERT_PTR_EQUAL(clf_rand(c, CLF_F64, 2, 2, 0, 1, 1, 7)->node, clf_rand(c, CLF_F64, 2, 2, 0, 1, 1, 7)->node);
    CU_ASSERT_PTR_NOT_EQUAL(clf_rand(c, CLF_F64, 2, 2, 0, 1, 1, 7)->node, clf_rand(c, CLF_F64, 2, 2, 0, 1, 1, 8)->node);
    CU_ASSERT_PTR_NOT_EQUAL(clf_fold(CLF_FOLD_CODE_SUM, CLF_ROWS, X)->node, clf_fold(CLF_FOLD_CODE_SUM, CLF_COLS, X)->node);
    CU_ASSERT_PTR_NOT_EQUAL(clf_param(c, CLF_F64, 2, 2, false)->node, clf_param(c, CLF_F64, 2, 2, false)->node);
    size_t before = c->nodes.count;
    size_t mark = clf_epoch_begin(c);
    for (int i = 0; i < 1000; i++) clf_exp(clf_mul(X, Y));
    CU_ASSERT_EQUAL(c->nodes.count, before + 2);
    clf_epoch_end(c, mark);
    CU_ASSERT_EQUAL(c->nodes.count, before);
    clf_close(c);
}

/* Evaluated, a cast to the own type would be a copy of the caller's memory. */
static void test_cast_to_own_type(void) {
    static const double one[1] = {3};
    static const int64_t at[3] = {0, 1, 2};
    static const int32_t column[2] = {2, 0};
    const void *cells;
    clf_ctx *c = open_host();
    clf_mat *X = clf_borrow(c, CLF_F64, 4, 3, x_data, NULL, NULL), *same = clf_cast(X, CLF_F64),
            *one_cell = clf_matrix(c, CLF_F64, 1, 1, one);
    clf_mat *S = clf_sparse_csr(c, CLF_F64, 2, 3, 2, at, column, x_data, NULL), *three = clf_num(c, 3);
    clf_mem_stats before = {.struct_size = sizeof before}, after = before;
    CU_ASSERT_PTR_NOT_EQUAL(same, X); /* a handle of its own */
    CU_ASSERT_PTR_EQUAL(same->node, X->node);
    CU_ASSERT_PTR_EQUAL(clf_cast(S, CLF_F64)->node, S->node);
    CU_ASSERT_PTR_NOT_EQUAL(clf_cast(X, CLF_F32)->node, X->node);
    CU_ASSERT_PTR_EQUAL(clf_as_matrix(one_cell)->node, one_cell->node);
    CU_ASSERT_PTR_NOT_EQUAL(clf_as_matrix(three)->node, three->node);
    CU_ASSERT_PTR_NOT_EQUAL(clf_as_scalar(one_cell)->node, one_cell->node);
    CU_ASSERT_EQUAL(read_f64(clf_as_scalar(one_cell)), 3);
    clf_get_mem_stats(c, &before);
    CU_ASSERT_EQUAL(clf_eval(1, &same), CLF_OK);
    CU_ASSERT_EQUAL(clf_data(same, &cells), CLF_OK);
    clf_get_mem_stats(c, &after);
    CU_ASSERT_PTR_EQUAL(cells, x_data);
    CU_ASSERT_EQUAL(after.now, before.now);
    CU_ASSERT_EQUAL(clf_changed(X), CLF_OK);
    CU_ASSERT_PTR_NOT_EQUAL(same->node, X->node); /* and stays with the version before */
    clf_free(X);
    CU_ASSERT_EQUAL(read_f64(clf_sum(same)), 78);
    clf_close(c);
}

static void test_shapes(void) {
    clf_ctx *c = open_host();
    clf_mat *X = clf_param(c, CLF_F64, 4, 3, false), *u = clf_param(c, CLF_F64, 4, 1, false), *v = clf_param(c, CLF_F64, 1, 3, false);
    clf_mat *one = clf_param(c, CLF_F64, 1, 1, false), *s = clf_num(c, 2);
    expect(clf_add(X, u), CLF_F64, 4, 3, false);
    expect(clf_add(v, X), CLF_F64, 4, 3, false);
    expect(clf_add(one, X), CLF_F64, 4, 3, false);
    expect(clf_add(s, X), CLF_F64, 4, 3, false);
    expect(clf_add(s, s), CLF_F64, 1, 1, true);
    expect(clf_add(s, one), CLF_F64, 1, 1, false);
    expect(clf_ifelse(u, v, X), CLF_F64, 4, 3, false);
    expect(clf_outer(CLF_MUL, u, v), CLF_F64, 4, 3, false);
    expect(clf_outer(CLF_MUL, u, u), CLF_F64, 4, 4, false);
    expect(clf_sum(X), CLF_F64, 1, 1, true);
    expect(clf_row_sums(X), CLF_F64, 4, 1, false);
    expect(clf_col_sums(X), CLF_F64, 1, 3, false);
    expect(clf_t(X), CLF_F64, 3, 4, false);
    expect(clf_matmul(clf_t(X), X), CLF_F64, 3, 3, false);
    expect(clf_index(X, 2, 3, 1, 0), CLF_F64, 2, 3, false);
    expect(clf_index(X, 5, 4, 1, 3), CLF_F64, 0, 3, false);
    expect(clf_cbind(X, u), CLF_F64, 4, 4, false);
    expect(clf_rbind(X, v), CLF_F64, 5, 3, false);
    expect(clf_diag(u), CLF_F64, 4, 4, false);
    expect(clf_diag(clf_matmul(X, clf_t(X))), CLF_F64, 4, 1, false);
    expect(clf_reshape(X, 2, 6), CLF_F64, 2, 6, false);
    expect(clf_order(X, 1, false, true), CLF_I64, 4, 1, false);
    expect(clf_order(X, 1, false, false), CLF_F64, 4, 3, false);
    expect(clf_seq(c, 1, 2, 0.25), CLF_F64, 5, 1, false);
    expect(clf_seq(c, 3, 1, 0), CLF_F64, 3, 1, false);
    expect(clf_seq(c, 0, 1, 0.1), CLF_F64, 11, 1, false);
    expect(clf_as_scalar(one), CLF_F64, 1, 1, true);
    expect(clf_as_matrix(s), CLF_F64, 1, 1, false);
    clf_close(c);
}

static void test_types(void) {
    static const struct {
        clf_dtype a, b, add, div, less, product;
    } pairs[] = {
        {CLF_F32, CLF_F32, CLF_F32, CLF_F32, CLF_U8, CLF_F32}, {CLF_F32, CLF_F64, CLF_F64, CLF_F64, CLF_U8, CLF_F64},
        {CLF_F32, CLF_I32, CLF_F32, CLF_F32, CLF_U8, CLF_F32}, {CLF_F32, CLF_I64, CLF_F64, CLF_F64, CLF_U8, CLF_F64},
        {CLF_I32, CLF_I32, CLF_I32, CLF_F64, CLF_U8, CLF_F64}, {CLF_I32, CLF_I64, CLF_I64, CLF_F64, CLF_U8, CLF_F64},
        {CLF_U8, CLF_U8, CLF_I32, CLF_F64, CLF_U8, CLF_F64},   {CLF_U8, CLF_F32, CLF_F32, CLF_F32, CLF_U8, CLF_F32},
    };
    clf_ctx *c = open_host();
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        clf_mat *a = clf_param(c, pairs[i].a, 3, 3, false), *b = clf_param(c, pairs[i].b, 3, 3, false);
        expect(clf_add(a, b), pairs[i].add, 3, 3, false);
        expect(clf_div(b, a), pairs[i].div, 3, 3, false);
        expect(clf_lt(a, b), pairs[i].less, 3, 3, false);
        expect(clf_matmul(a, b), pairs[i].product, 3, 3, false);
    }
    clf_mat *I = clf_param(c, CLF_I32, 3, 3, false), *F = clf_param(c, CLF_F32, 3, 3, false), *B = clf_param(c, CLF_U8, 3, 3, false);
    expect(clf_add(F, clf_num(c, 0.1)), CLF_F32, 3, 3, false); /* scalars do not widen */
    expect(clf_add(I, clf_int(c, 7)), CLF_I32, 3, 3, false);
    expect(clf_mul(I, clf_num(c, 0.5)), CLF_F64, 3, 3, false); /* but they change the kind */
    expect(clf_ifelse(F, B, B), CLF_U8, 3, 3, false);
    expect(clf_replace(I, clf_num(c, 1), clf_num(c, 2)), CLF_I32, 3, 3, false);
    expect(clf_sum(I), CLF_I64, 1, 1, true);
    expect(clf_mean(I), CLF_F64, 1, 1, true);
    expect(clf_fold(CLF_FOLD_CODE_MAX, CLF_COLS, B), CLF_U8, 1, 3, false);
    expect(clf_fold(CLF_FOLD_CODE_NNZ, CLF_ROWS, F), CLF_I64, 3, 1, false);
    expect(clf_fold(CLF_FOLD_CODE_ANY, CLF_ALL, F), CLF_U8, 1, 1, true);
    expect(clf_cum(CLF_FOLD_CODE_SUM, I), CLF_I64, 3, 3, false);
    expect(clf_cum(CLF_FOLD_CODE_MIN, I), CLF_I32, 3, 3, false);
    expect(clf_cbind(B, F), CLF_F32, 3, 6, false);
    expect(clf_cast(F, CLF_U8), CLF_U8, 3, 3, false);
    clf_close(c);
}

/* A cumulative sum of integers runs in the type of its result. */
static void test_integer_cum(void) {
    clf_ctx *c = open_host();
    uint8_t b[6] = {200, 1, 100, 2, 50, 3};
    int64_t got[6];
    clf_mat *m = clf_cum(CLF_FOLD_CODE_SUM, clf_matrix(c, CLF_U8, 3, 2, b));
    CU_ASSERT_EQUAL(clf_read(m, got, sizeof got), CLF_OK);
    CU_ASSERT(got[0] == 200 && got[1] == 1 && got[2] == 300 && got[3] == 3 && got[4] == 350 && got[5] == 6);
    int64_t big[3] = {INT64_C(9007199254740993), INT64_C(9007199254740992), INT64_C(9007199254740994)}, order[3];
    CU_ASSERT_EQUAL(clf_read(clf_order(clf_matrix(c, CLF_I64, 3, 1, big), 1, false, true), order, sizeof order), CLF_OK);
    CU_ASSERT(order[0] == 2 && order[1] == 1 && order[2] == 3); /* not the order of their doubles */
    clf_close(c);
}

static void test_sticky(void) {
    clf_ctx *c = open_host();
    clf_mat *bad = clf_add(clf_matrix(c, CLF_F64, 4, 3, x_data), clf_matrix(c, CLF_F64, 3, 3, x_data));
    clf_mat *uses[] = {clf_exp(bad),
                       clf_t(bad),
                       clf_matmul(bad, bad),
                       clf_cbind(clf_num(c, 1), bad),
                       clf_cast(bad, CLF_F32),
                       clf_as_scalar(bad),
                       clf_outer(CLF_ADD, bad, bad),
                       clf_sum(bad),
                       clf_cum(CLF_FOLD_CODE_SUM, bad),
                       clf_ifelse(clf_num(c, 1), clf_num(c, 1), bad)};
    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++) expect_sticky(uses[i], CLF_E_SHAPE, "4x3 and 3x3");
    expect_error(c, clf_eval(1, &bad), CLF_E_SHAPE, "4x3 and 3x3");
    expect_error(c, clf_label(bad, "bad"), CLF_E_SHAPE, "4x3 and 3x3");
    expect_error(c, clf_changed(bad), CLF_E_SHAPE, "4x3 and 3x3");
    CU_ASSERT_EQUAL(clf_info(bad, NULL, NULL, NULL, NULL), CLF_E_SHAPE);
    CU_ASSERT_EQUAL(clf_status_of(NULL, NULL), CLF_E_ARG);
    clf_free(bad);
    expect_sticky(uses[0], CLF_E_SHAPE, "4x3 and 3x3"); /* the message lives with its users */
    clf_close(c);
}

static void test_epochs(void) {
    clf_ctx *c = open_host();
    clf_mat *a = clf_num(c, 1);
    size_t outer = clf_epoch_begin(c);
    clf_mat *b = clf_num(c, 2), *kept = clf_add(a, b);
    size_t inner = clf_epoch_begin(c);
    for (int i = 0; i < 500; i++) clf_num(c, 100 + i);
    CU_ASSERT_PTR_EQUAL(clf_keep(kept), kept);
    clf_free(b); /* early */
    clf_epoch_end(c, inner);
    CU_ASSERT_EQUAL(c->nodes.count, 3); /* a, the kept sum, and its input 2 */
    clf_epoch_end(c, outer);
    CU_ASSERT_EQUAL(read_f64(kept), 3);
    CU_ASSERT_EQUAL(read_f64(a), 1);
    clf_epoch_end(c, 0);
    CU_ASSERT_PTR_EQUAL(clf_ctx_of(kept), c);
    CU_ASSERT_PTR_NULL(a->ctx);
    clf_keep(kept);
    clf_free(kept);
    clf_free(NULL);
    CU_ASSERT_PTR_NULL(clf_keep(NULL));
    CU_ASSERT_EQUAL(c->nodes.count, 0);
    clf_close(c);
}

static int released;
static void on_release(void *user, void *data) {
    released++;
    CU_ASSERT_PTR_EQUAL(user, data);
}

static void test_versions(void) {
    double mine[4] = {1, 2, 3, 4};
    released = 0;
    clf_ctx *c = open_host();
    clf_mat *x = clf_borrow(c, CLF_F64, 2, 2, mine, on_release, mine), *before = clf_sum(x), *twin = clf_t(clf_t(x));
    clf_mem_stats s = {.struct_size = sizeof s};
    CU_ASSERT_EQUAL(clf_get_mem_stats(c, &s), CLF_OK);
    CU_ASSERT_EQUAL(s.borrowed, sizeof mine);
    CU_ASSERT_EQUAL(clf_label(x, "mine"), CLF_OK);
    CU_ASSERT_EQUAL(read_f64(before), 10);
    CU_ASSERT_EQUAL(clf_eval(1, &twin), CLF_OK); /* rewritten to x itself */
    mine[0] = 100;
    CU_ASSERT_EQUAL(clf_changed(x), CLF_OK);
    CU_ASSERT_STRING_EQUAL(x->node->text, "mine");
    CU_ASSERT_PTR_NOT_EQUAL(clf_sum(x)->node, before->node);
    CU_ASSERT_EQUAL(read_f64(clf_sum(x)), 109);
    CU_ASSERT_EQUAL(read_f64(before), 10);
    double got[4];
    CU_ASSERT_EQUAL(clf_read(twin, got, sizeof got), CLF_OK);
    CU_ASSERT_EQUAL(got[0], 1); /* a result is a value, not a window on the caller's memory */
    expect_error(c, clf_changed(twin), CLF_E_ARG, "borrowed");
    expect_error(c, clf_changed(clf_num(c, 1)), CLF_E_ARG, "borrowed");
    clf_free(x);
    clf_epoch_end(c, 0);
    CU_ASSERT_EQUAL(released, 1);
    CU_ASSERT_EQUAL(clf_get_mem_stats(c, &s), CLF_OK);
    CU_ASSERT_EQUAL(s.borrowed, 0);
    clf_borrow(c, CLF_F64, 2, 2, mine, on_release, mine);
    clf_close(c);
    CU_ASSERT_EQUAL(released, 2);
}

static void test_labels(void) {
    clf_ctx *c = open_host();
    clf_mat *x = clf_matrix(c, CLF_F64, 4, 3, x_data), *e = clf_exp(x);
    CU_ASSERT_EQUAL(clf_label(x, "first"), CLF_OK);
    CU_ASSERT_EQUAL(clf_label(x, "a much longer name than before"), CLF_OK);
    CU_ASSERT_STRING_EQUAL(x->node->text, "a much longer name than before");
    expect_error(c, clf_label(e, "e"), CLF_E_ARG, "leaves and parameters");
    expect_error(c, clf_label(x, NULL), CLF_E_ARG, "NULL");
    CU_ASSERT_EQUAL(clf_label(NULL, "x"), CLF_E_ARG);
    CU_ASSERT_EQUAL(clf_eval(1, &e), CLF_OK);
    CU_ASSERT_EQUAL(clf_label(e, "now a leaf"), CLF_OK);
    clf_close(c);
}

/* An evaluated handle keeps its value and lets go of what it was made from; constants stay constants. */
static void test_settling(void) {
    clf_ctx *c = open_host();
    clf_mat *x = clf_matrix(c, CLF_F64, 4, 3, x_data), *e = clf_mul(x, clf_num(c, 2)), *s = clf_sum(e), *two = clf_num(c, 2),
            *three[3] = {s, e, s};
    CU_ASSERT_EQUAL(clf_eval(3, three), CLF_OK);
    CU_ASSERT(e->node->g.op == CLF_OP_LEAF && e->node->g.nin == 0 && e->node->value);
    clf_free(x);
    CU_ASSERT_EQUAL(read_f64(clf_sum(e)), 156);
    CU_ASSERT_EQUAL(read_f64(s), 156);
    clf_stats before = {.struct_size = sizeof before}, after = before;
    clf_get_stats(c, &before);
    CU_ASSERT_EQUAL(clf_eval(3, three), CLF_OK); /* nothing left to do */
    CU_ASSERT_EQUAL(read_f64(two), 2);
    clf_get_stats(c, &after);
    CU_ASSERT_EQUAL(before.evaluations, after.evaluations);
    CU_ASSERT_EQUAL(two->node->g.op, CLF_OP_CONST);
    CU_ASSERT_PTR_EQUAL(two->node, clf_num(c, 2)->node);
    clf_close(c);
}

/* Freezing: inputs first, slots once, evaluated nodes as leaves. */
static void test_freeze(void) {
    clf_ctx *c = open_host();
    clf_mat *x = clf_matrix(c, CLF_F64, 4, 3, x_data), *e = clf_mul(x, x), *r = clf_add(e, clf_sum(e));
    clf_node *roots[2] = {r->node, e->node};
    clf_frozen f;
    clf_err err = {CLF_OK, ""};
    CU_ASSERT_EQUAL_FATAL(clf_freeze(c, 2, roots, 0, NULL, &f, &err), CLF_OK);
    CU_ASSERT(f.g.n == 4 && f.g.nslot == 1 && f.g.nroot == 2 && f.g.root[1] == 1);
    CU_ASSERT_EQUAL(clf_graph_check(&f.g, &err), CLF_OK);
    clf_frozen_release(&f);
    CU_ASSERT_EQUAL(clf_eval(1, &e), CLF_OK);
    CU_ASSERT_EQUAL_FATAL(clf_freeze(c, 1, roots, 0, NULL, &f, &err), CLF_OK);
    CU_ASSERT(f.g.n == 3 && f.g.nslot == 1 && f.slot_node[0] == e->node);
    clf_frozen_release(&f);
    clf_close(c);
}

static void test_checksum(void) {
    double mine[4] = {1, 2, 3, 4};
    clf_ctx *c = open_host();
    CU_ASSERT_EQUAL(clf_set(c, "checksum", "on"), CLF_OK);
    clf_mat *x = clf_borrow(c, CLF_F64, 2, 2, mine, NULL, NULL), *s = clf_sum(x), *later = clf_mean(x);
    CU_ASSERT_EQUAL(read_f64(s), 10);
    mine[1] = 7;
    expect_error(c, clf_eval(1, &later), CLF_E_STATE, "2x2 f64");
    CU_ASSERT_EQUAL(clf_label(x, "weights"), CLF_OK);
    expect_error(c, clf_eval(1, &later), CLF_E_STATE, "weights");
    CU_ASSERT_EQUAL(clf_changed(x), CLF_OK);
    CU_ASSERT_EQUAL(read_f64(clf_mean(x)), 3.75);
    mine[1] = 8;
    clf_mat *in = clf_param(c, CLF_F64, 2, 2, false), *out = clf_sum(in), *got = NULL, *caught = clf_mul(in, clf_max(x, clf_num(c, 0)));
    clf_fn *f, *g;
    CU_ASSERT_EQUAL_FATAL(clf_fn_new(c, 1, &in, 1, &out, &f), CLF_OK);
    CU_ASSERT_EQUAL_FATAL(clf_fn_new(c, 1, &in, 1, &caught, &g), CLF_OK);
    expect_error(c, clf_call(f, 1, &x, 1, &got), CLF_E_STATE, "weights");
    clf_mat *fresh = clf_matrix(c, CLF_F64, 2, 2, x_data);
    expect_error(c, clf_call(g, 1, &fresh, 1, &got), CLF_E_STATE, "weights");
    CU_ASSERT_PTR_NULL(got);
    CU_ASSERT_EQUAL(clf_changed(x), CLF_OK);
    CU_ASSERT_EQUAL(clf_call(f, 1, &x, 1, &got), CLF_OK);
    CU_ASSERT_EQUAL(read_f64(got), 16);
    CU_ASSERT_EQUAL(clf_set(c, "checksum", "off"), CLF_OK);
    mine[1] = 9;
    CU_ASSERT_EQUAL(read_f64(clf_sum(clf_sqr(x))), 107);
    clf_close(c);
}

int main(void) {
    static const test_case tests[] = {
        {"equal nodes", test_hash_consing},
        {"cast to own type", test_cast_to_own_type},
        {"shapes", test_shapes},
        {"types", test_types},
        {"integers cumulate", test_integer_cum},
        {"sticky errors", test_sticky},
        {"epochs", test_epochs},
        {"versions", test_versions},
        {"labels", test_labels},
        {"settling", test_settling},
        {"freezing", test_freeze},
        {"checksums", test_checksum},
    };
    return run_suite("graph", tests, sizeof tests / sizeof *tests);
}
