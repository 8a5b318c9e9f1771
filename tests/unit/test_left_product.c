/* SPDX-License-Identifier: Apache-2.0
 * The rule for left products: what it builds, when it leaves a product as it is, and the plans that follow. */
#include "tests/unit/rewrite_testing.h"

static void test_left(void) {
    made *m = malloc(sizeof *m);
    operands o = make_operands(m, N, M);
    want(m, put_left(m, sparse(m, put(m, CLF_OP_MUL, N, M, 2, o.X, o.P)), o.A));
    expect(m, 1,
           "%0 = LEAF f64 300x200 slot 0\n%1 = LEAF f64 300x10 slot 1\n%2 = LEAF f64 200x10 slot 2\n"
           "%3 = TRANSPOSE f64 200x300 (%0)\n%4 = TRANSPOSE f64 10x300 (%1)\n%5 = MATMUL f64 200x300 (%2 %4)\n"
           "%6 = MUL f64 200x300 (%3 %5)\n%7 = MATMUL f64 200x10 (%6 %1)\nroots %7\n");
    free(m);
}

/* A column and a row that W is broadcast with are turned; a scalar stays. The product from the other side is the transpose. */
static void test_left_sides(void) {
    made *m = malloc(sizeof *m);
    operands o = make_operands(m, N, M);
    int32_t u = put(m, CLF_OP_LEAF, N, 1, 0, -1, -1), v = put(m, CLF_OP_LEAF, 1, M, 0, -1, -1), s = put(m, CLF_OP_LEAF, 1, 1, 0, -1, -1);
    m->node[s].scalar = 1;
    int32_t a = put(m, CLF_OP_ADD, N, M, 2, o.P, s), b = sparse(m, put(m, CLF_OP_DIV, N, M, 2, o.X, a));
    int32_t c = sparse(m, put(m, CLF_OP_MUL, N, M, 2, b, u)), d = sparse(m, put(m, CLF_OP_MUL, N, M, 2, v, c));
    want(m, put(m, CLF_OP_MATMUL, R, M, 2, put(m, CLF_OP_TRANSPOSE, R, N, 1, o.A, -1), d));
    expect(m, 1,
           "%0 = LEAF f64 300x200 slot 0\n%1 = LEAF f64 300x10 slot 1\n%2 = LEAF f64 200x10 slot 2\n"
           "%3 = LEAF f64 300x1 slot 3\n%4 = LEAF f64 1x200 slot 4\n%5 = LEAF f64 scalar slot 5\n%6 = TRANSPOSE f64 10x300 (%1)\n"
           "%7 = TRANSPOSE f64 200x300 (%0)\n%8 = MATMUL f64 200x300 (%2 %6)\n%9 = ADD f64 200x300 (%8 %5)\n"
           "%10 = DIV f64 200x300 (%7 %9)\n%11 = TRANSPOSE f64 1x300 (%3)\n%12 = MUL f64 200x300 (%10 %11)\n"
           "%13 = TRANSPOSE f64 200x1 (%4)\n%14 = MUL f64 200x300 (%13 %12)\n%15 = MATMUL f64 200x10 (%14 %1)\n"
           "%16 = TRANSPOSE f64 10x200 (%15)\nroots %16\n");
    free(m);
}

static int32_t times_left(const made *m) {
    rewriting r;
    rewrite(&r, &m->g);
    int32_t n = by_left(&r);
    same_again(&r.g);
    drop(&r);
    return n;
}

/* One row at hand serves all: a product of X itself, and operands made from W's product. Other reasons not to. */
static void test_left_not(void) {
    made *m = malloc(sizeof *m);
    operands o = make_operands(m, N, M);
    want(m, put_left(m, o.X, o.A));
    CU_ASSERT_EQUAL(times_left(m), 0);
    int32_t W = sparse(m, put(m, CLF_OP_MUL, N, M, 2, o.X, o.P));
    want(m, put_left(m, W, put(m, CLF_OP_MATMUL, N, R, 2, W, o.B)));
    want(m, put_left(m, W, put_fold(m, W, CLF_FOLD_SUM, CLF_WAY_ROWS)));
    CU_ASSERT_EQUAL(times_left(m), 0);
    want(m, put_left(m, sparse(m, put(m, CLF_OP_DIV, N, M, 2, W, put_fold(m, W, CLF_FOLD_SUM, CLF_WAY_ROWS))), o.A));
    CU_ASSERT_EQUAL(times_left(m), 0);
    int32_t D = put(m, CLF_OP_LEAF, N, M, 0, -1, -1); /* dense: its transpose would be made */
    want(m, put_left(m, sparse(m, put(m, CLF_OP_MUL, N, M, 2, W, D)), o.A));
    CU_ASSERT_EQUAL(times_left(m), 0);
    want(m, put_left(m, put(m, CLF_OP_ADD, N, M, 2, W, o.P), o.A)); /* not zero where X is */
    CU_ASSERT_EQUAL(times_left(m), 0);
    want(m, put_left(m, W, o.A)); /* but this one */
    CU_ASSERT_EQUAL(times_left(m), 1);
    static const int64_t shape[][2] = {{N, 64}, {64, M}, {100000, 128}};
    for (int i = 0; i < 3; i++) {
        o = make_operands(m, shape[i][0], shape[i][1]);
        want(m, put_left(m, sparse(m, put(m, CLF_OP_MUL, shape[i][0], shape[i][1], 2, o.X, o.P)), o.A));
        CU_ASSERT_EQUAL(times_left(m), 0);
    }
    m->node[o.X].zeros = CLF_ZEROS_VALUE;
    CU_ASSERT_EQUAL(times_left(m), 0);
    free(m);
}

/* ---- plans ---- */

static clf_plan *plan_of(const made *m, clf_mem *mem) {
    clf_plan *p;
    clf_err err = {0};
    clf_mem_init(mem, NULL, NULL);
    CU_ASSERT_EQUAL_FATAL(plan_it(m, "all", &plenty, mem, &p, &err), CLF_OK);
    return p;
}

static void drop_plan(clf_plan *p, clf_mem *mem) {
    clf_plan_free(p);
    CU_ASSERT_EQUAL(mem->now_bytes, 0);
}

/* The twin, made from a leaf so that it stays with it, and one loop over its entries, in which all operators are. */
static void test_plan(void) {
    made *m = malloc(sizeof *m);
    clf_mem mem;
    operands o = make_operands(m, N, M);
    m->node[o.X].format = CLF_CSR;
    m->node[o.X].nnz = 500;
    want(m, put_left(m, sparse(m, put(m, CLF_OP_MUL, N, M, 2, o.X, o.P)), o.A));
    clf_plan *p = plan_of(m, &mem);
    CU_ASSERT_EQUAL_FATAL(p->nstep, 2);
    CU_ASSERT(p->step[0].kind == CLF_STEP_CONVERT && p->step[0].convert == CLF_CONVERT_TWIN && p->value[p->step[0].in[0]].slot == 0);
    CU_ASSERT(p->step[1].kind == CLF_STEP_FUSED && p->step[1].template_ == CLF_TEMPLATE_OUTER && p->step[1].ncover == 3);
    CU_ASSERT(p->step[1].driver == p->step[0].out[0] && p->step[1].c.nsink == 1 && p->step[1].c.sink[0].kind == CLF_SINK_STORE);
    CU_ASSERT(p->nfired == 1);
    drop_plan(p, &mem);
    m->node[o.X].format = CLF_DENSE; /* the same rewriting: it does not depend on how cells are stored */
    p = plan_of(m, &mem);
    CU_ASSERT_EQUAL(p->nfired, 1);
    drop_plan(p, &mem);
    free(m);
}

/* t(X) %*% (w * (X %*% v)) over sparse X stays one pass. */
static void test_plan_chain(void) {
    made *m = malloc(sizeof *m);
    clf_mem mem;
    operands o = make_operands(m, N, M);
    m->node[o.X].format = CLF_CSR;
    m->node[o.X].nnz = 500;
    int32_t v = put(m, CLF_OP_LEAF, M, 1, 0, -1, -1), w = put(m, CLF_OP_LEAF, N, 1, 0, -1, -1);
    int32_t Xv = put(m, CLF_OP_MATMUL, N, 1, 2, o.X, v);
    want(m, put_left(m, o.X, put(m, CLF_OP_MUL, N, 1, 2, w, Xv)));
    clf_plan *p = plan_of(m, &mem);
    CU_ASSERT(p->nstep == 1 && p->nfired == 0 && p->step[0].driver == p->value_of[o.X]);
    drop_plan(p, &mem);
    free(m);
}

int main(void) {
    CU_initialize_registry();
    CU_pSuite s = CU_add_suite("left products", NULL, NULL);
    CU_add_test(s, "left products on the twin", test_left);
    CU_add_test(s, "their sides", test_left_sides);
    CU_add_test(s, "left products that stay", test_left_not);
    CU_add_test(s, "plan of a left product", test_plan);
    CU_add_test(s, "plan of a chain over one matrix", test_plan_chain);
    CU_basic_run_tests();
    int bad = CU_get_number_of_failures() > 0;
    CU_cleanup_registry();
    return bad;
}
