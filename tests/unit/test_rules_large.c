/* SPDX-License-Identifier: Apache-2.0
 * Hostile graphs for the rewrite rules, all kinds of them in use: chains of 10^5 operators that rules take apart link by link, and products
 * with many readers. Rules are shown each node once, and what they build is a fixed number of nodes for each, so both the nodes and the
 * time stay linear; and rewriting again changes nothing. */
#include <time.h>

#include "tests/unit/graph_put.h"
#include "tests/unit/rewrite_testing.h"

enum { LONG = 100000, SIDE = 20 };
static const clf_gate fast = {.math = CLF_MATH_FAST};

typedef struct large {
    clf_graph g;
    int32_t X, v, a; /* SIDE x SIDE, SIDE x 1, a scalar */
} large;

static int32_t more(large *b, int op, int64_t rows, int64_t cols, int nin, int32_t p, int32_t q) {
    int32_t n = graph_put(&b->g, op, rows, cols, nin, p, q);
    b->g.node[n].nnz = rows * cols;
    return n;
}

static void begin(large *b, size_t room) {
    memset(b, 0, sizeof *b);
    b->g.node = calloc(room, sizeof *b->g.node);
    b->g.root = calloc(room, sizeof *b->g.root);
    CU_ASSERT_FATAL(b->g.node && b->g.root);
    b->X = more(b, CLF_OP_LEAF, SIDE, SIDE, 0, -1, -1);
    b->v = more(b, CLF_OP_LEAF, SIDE, 1, 0, -1, -1);
    b->a = more(b, CLF_OP_LEAF, 1, 1, 0, -1, -1);
    b->g.node[b->a].scalar = 1;
    b->g.node[b->a].rank = 0;
}

static int32_t row_sums(large *b, int32_t q) {
    int32_t n = more(b, CLF_OP_FOLD, SIDE, 1, 1, q, -1);
    b->g.node[n].attr[0] = CLF_FOLD_SUM;
    b->g.node[n].attr[1] = CLF_WAY_ROWS;
    return n;
}

/* Rewrites, and again; no more than `each` nodes come of one. */
static void finish(large *b, int32_t each, const char *rule) {
    rewriting r;
    clock_t start = clock();
    rewrite_in(&r, &b->g, &fast);
    double s = (double)(clock() - start) / CLOCKS_PER_SEC;
    if (s > 2 || r.g.n > each * b->g.n) printf("\n    %s: %d nodes of %d, %.2f s\n", rule, r.g.n, b->g.n, s);
    CU_ASSERT(s < 60 && r.g.n <= each * b->g.n && fired_by(&r, rule) > 0); /* generous: under sanitizers, on a busy machine */
    same_again_in(&r.g, &fast);
    drop(&r);
    free(b->g.node);
    free(b->g.root);
}

/* rowSums(a * (a * (... X))). */
static void test_scaled(void) {
    large b;
    begin(&b, LONG + 10);
    int32_t q = b.X;
    for (int i = 0; i < LONG; i++) q = more(&b, CLF_OP_MUL, SIDE, SIDE, 2, i % 2 ? q : b.a, i % 2 ? b.a : q);
    b.g.root[b.g.nroot++] = row_sums(&b, q);
    finish(&b, 1, "sum-scaled");
}

/* t(t(t(X)[2:n, 2:n])[2:m, 2:m])... */
static void test_moved(void) {
    large b;
    begin(&b, 2 * LONG + 10);
    int64_t side = LONG + SIDE;
    int32_t q = more(&b, CLF_OP_LEAF, side, side, 0, -1, -1);
    while (side > SIDE) {
        q = more(&b, CLF_OP_TRANSPOSE, side, side, 1, q, -1);
        side--;
        q = more(&b, CLF_OP_INDEX, side, side, 1, q, -1);
        b.g.node[q].attr[0] = b.g.node[q].attr[1] = 1;
    }
    b.g.root[b.g.nroot++] = row_sums(&b, q);
    finish(&b, 1, "index-t");
}

/* X %*% X %*% ... %*% v, from the left. */
static void test_products(void) {
    large b;
    begin(&b, LONG + 10);
    int32_t q = b.X;
    for (int i = 0; i < LONG; i++) q = more(&b, CLF_OP_MATMUL, SIDE, SIDE, 2, q, b.X);
    b.g.root[b.g.nroot++] = more(&b, CLF_OP_MATMUL, SIDE, 1, 2, q, b.v);
    b.g.root[b.g.nroot++] = more(&b, CLF_OP_MATMUL, SIDE, 1, 2, more(&b, CLF_OP_MATMUL, SIDE, SIDE, 2, b.X, b.X), b.v);
    finish(&b, 1, "chain");
}

/* Every product of such a chain has a reader of its own. */
static void test_readers(void) {
    enum { READERS = LONG / 10 };
    large b;
    begin(&b, 2 * READERS + 10);
    int32_t q = b.X;
    for (int i = 0; i < READERS; i++) {
        q = more(&b, CLF_OP_MATMUL, SIDE, SIDE, 2, q, b.X);
        b.g.root[b.g.nroot++] = more(&b, CLF_OP_MATMUL, SIDE, 1, 2, q, b.v);
    }
    finish(&b, 32, "chain");
}

/* -(-(...)), squares of squares. */
static void test_cells(void) {
    large b;
    begin(&b, 2 * LONG + 10);
    int32_t q = b.X;
    for (int i = 0; i < LONG; i++) q = i % 3 ? more(&b, CLF_OP_NEG, SIDE, SIDE, 1, q, -1) : more(&b, CLF_OP_MUL, SIDE, SIDE, 2, q, q);
    b.g.root[b.g.nroot++] = row_sums(&b, q);
    finish(&b, 1, "square");
}

int main(void) {
    CU_initialize_registry();
    CU_pSuite s = CU_add_suite("large graphs and rules", NULL, NULL);
    CU_add_test(s, "scaled again and again", test_scaled);
    CU_add_test(s, "moved again and again", test_moved);
    CU_add_test(s, "a long product", test_products);
    CU_add_test(s, "a long product with many readers", test_readers);
    CU_add_test(s, "cells", test_cells);
    CU_basic_run_tests();
    int bad = CU_get_number_of_failures() > 0;
    CU_cleanup_registry();
    return bad;
}
