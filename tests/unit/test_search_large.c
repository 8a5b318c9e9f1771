/* SPDX-License-Identifier: Apache-2.0
 * Planning graphs of 10^5 operators by the exact search, in shapes that are each hard on another part of it: the work, counted in partial
 * covers, steps and bytes, grows with the graph and no faster. Time is the bench's (suite plan). */
#include <CUnit/Basic.h>
#include <stdlib.h>
#include <string.h>

#include "planner/search.h"
#include "tests/support/net.h"
#include "tests/unit/graph_put.h"

enum { MANY = 100000, CELLS = 1000, SIDE = 20 };

typedef struct large {
    clf_graph g;
    int32_t ops, room;
} large;

static int32_t put(large *b, int op, int64_t rows, int64_t cols, int nin, int32_t p, int32_t q) {
    if (b->g.n >= b->room) CU_FAIL_FATAL("no room for the graph");
    int32_t n = graph_put(&b->g, op, rows, cols, nin, p, q);
    b->g.node[n].nnz = rows * cols;
    b->ops += nin > 0;
    return n;
}

static int32_t leaf(large *b, int64_t rows, int64_t cols) { return put(b, CLF_OP_LEAF, rows, cols, 0, -1, -1); }

static int32_t cells(large *b, int op, int32_t p, int32_t q) {
    return put(b, op, clf_rows(&b->g.node[p]), clf_cols(&b->g.node[p]), q < 0 ? 1 : 2, p, q);
}

static int32_t sum(large *b, int32_t q) {
    int32_t n = put(b, CLF_OP_FOLD, 1, 1, 1, q, -1);
    b->g.node[n].attr[0] = CLF_FOLD_SUM;
    b->g.node[n].attr[1] = CLF_WAY_ALL;
    b->g.node[n].scalar = 1;
    b->g.node[n].rank = 0;
    return n;
}

static void result(large *b, int32_t n) { b->g.root[b->g.nroot++] = n; }

/* ---- shapes */

static void chain(large *b, int32_t many) {
    int32_t y = leaf(b, CELLS, 1), z = leaf(b, CELLS, 1), x = leaf(b, CELLS, 1);
    while (b->ops < many) x = cells(b, b->ops % 2 ? CLF_OP_ADD : CLF_OP_MUL, x, b->ops % 2 ? y : z);
    result(b, x);
}

/* Nothing in common; each stores what it sums twice, or computes it again. */
static void components(large *b, int32_t many) {
    while (b->ops < many) {
        int32_t e = cells(b, CLF_OP_EXP, cells(b, CLF_OP_SIN, leaf(b, CELLS, 1), -1), -1);
        result(b, sum(b, cells(b, CLF_OP_MUL, e, sum(b, e))));
    }
}

/* The same, all first halves before the second ones: each component's nodes lie far apart, and second halves wait for all first ones. */
static void far_apart(large *b, int32_t many) {
    int32_t n = many / 5, *e = calloc((size_t)n, sizeof *e), total = -1;
    CU_ASSERT_PTR_NOT_NULL_FATAL(e);
    for (int32_t i = 0; i < n; i++) {
        e[i] = cells(b, CLF_OP_EXP, leaf(b, CELLS, 1), -1);
        int32_t s = sum(b, e[i]);
        total = total < 0 ? s : cells(b, CLF_OP_ADD, total, s);
        b->g.node[total].scalar = 1;
        b->g.node[total].rank = 0;
    }
    for (int32_t i = 0; i < n; i++) result(b, sum(b, cells(b, CLF_OP_DIV, e[i], total)));
    free(e);
}

/* Every node has two readers in the next layer. */
static void layers(large *b, int32_t many) {
    enum { WIDTH = 300 };
    static const int op[] = {CLF_OP_MUL, CLF_OP_MIN, CLF_OP_ADD, CLF_OP_MAX};
    int32_t now[WIDTH], next[WIDTH];
    for (int i = 0; i < WIDTH; i++) now[i] = leaf(b, CELLS, 1);
    for (int d = 0; b->ops + WIDTH <= many; d++) {
        for (int i = 0; i < WIDTH; i++) next[i] = cells(b, op[(i + d) % 4], now[i], now[(i * 7 + d + 1) % WIDTH]);
        memcpy(now, next, sizeof now);
    }
    for (int i = 0; i < WIDTH; i++) result(b, now[i]);
}

/* w = w - step * (t(X) %*% (X %*% w - y)), again and again. */
static void training(large *b, int32_t many) {
    int32_t X = leaf(b, CELLS, SIDE), Xt = put(b, CLF_OP_TRANSPOSE, SIDE, CELLS, 1, X, -1), y = leaf(b, CELLS, 1), w = leaf(b, SIDE, 1),
            step = leaf(b, SIDE, 1);
    while (b->ops < many) {
        int32_t off = cells(b, CLF_OP_SUB, put(b, CLF_OP_MATMUL, CELLS, 1, 2, X, w), y);
        w = cells(b, CLF_OP_SUB, w, cells(b, CLF_OP_MUL, put(b, CLF_OP_MATMUL, SIDE, 1, 2, Xt, off), step));
    }
    result(b, w);
}

/* Sparse leaves, each of which might drive the loops of others if it were theirs. */
static void sparse(large *b, int32_t many) {
    while (b->ops < many) {
        int32_t S = leaf(b, CELLS, SIDE), x;
        b->g.node[S].format = CLF_CSR;
        b->g.node[S].zeros = CLF_ZEROS_STRUCTURAL;
        b->g.node[S].nnz = CELLS;
        x = cells(b, CLF_OP_MUL, S, leaf(b, CELLS, SIDE));
        b->g.node[x].zeros = CLF_ZEROS_STRUCTURAL;
        result(b, x);
        result(b, sum(b, x));
    }
}

/* ---- what planning them takes */

typedef struct work {
    double ops, covers, steps, bytes;
} work;

static work plan(void (*shape)(large *, int32_t), int32_t many) {
    large b = {.room = 3 * many + 1000};
    clf_mem mem;
    clf_err err = {CLF_OK, ""};
    clf_plan *p = NULL;
    const clf_limits lim = {.kernel_ops = 200, .kernel_inputs = 48};
    b.g.node = calloc((size_t)b.room, sizeof *b.g.node);
    b.g.root = calloc((size_t)b.room, sizeof *b.g.root);
    CU_ASSERT_FATAL(b.g.node && b.g.root);
    shape(&b, many);
    clf_mem_init(&mem, NULL, NULL);
    clf_status st = clf_plan_new(&p, &b.g, clf_selector_find("cost"), &lim, &mem, &err);
    if (st != CLF_OK) printf("\n    %s\n", err.text);
    CU_ASSERT_EQUAL_FATAL(st, CLF_OK);
    CU_ASSERT_EQUAL(clf_plan_check(p, &err), CLF_OK);
    CU_ASSERT(p->nroot == b.g.nroot);
    work w = {b.ops, (double)p->ncosted, p->nstep, (double)mem.peak_bytes};
    clf_plan_free(p);
    CU_ASSERT_EQUAL(mem.now_bytes, 0);
    free(b.g.node);
    free(b.g.root);
    return w;
}

/* As much for each operator of a large graph as of a small one, an eighth being left to rounding (blocks of memory double), and no more
 * than a few thousand bytes. */
static void linear(const char *name, void (*shape)(large *, int32_t)) {
    enum { MOST_BYTES = 8192 };
    const int32_t most = (int32_t)(MANY / net_every(1, 4)); /* a quarter under sanitizers */
    work few = plan(shape, most / 8), many = plan(shape, most);
    double by = many.ops / few.ops * 1.125;
    printf("\n    %s: %.0f operators, %.0f partial covers, %.0f steps, %.0f bytes each", name, many.ops, many.covers, many.steps,
           many.bytes / many.ops);
    CU_ASSERT(many.ops > 0.9 * most && many.steps > 0);
    CU_ASSERT(many.covers <= few.covers * by + 1000);
    CU_ASSERT(many.steps <= few.steps * by + 10);
    CU_ASSERT(many.bytes <= 2 * few.bytes * by && many.bytes <= MOST_BYTES * many.ops);
    net_figure(name, "%.0f operators planned, %.0f partial covers costed, %.0f bytes an operator", many.ops, many.covers,
               many.bytes / many.ops);
}

static void test_chain(void) { linear("chain", chain); }
static void test_components(void) { linear("components", components); }
static void test_far_apart(void) { linear("far apart", far_apart); }
static void test_layers(void) { linear("layers", layers); }
static void test_training(void) { linear("training", training); }
static void test_sparse(void) { linear("sparse", sparse); }

int main(void) {
    CU_initialize_registry();
    CU_pSuite s = CU_add_suite("large graphs and the search", NULL, NULL);
    CU_add_test(s, "one chain", test_chain);
    CU_add_test(s, "many components", test_components);
    CU_add_test(s, "components whose nodes lie far apart", test_far_apart);
    CU_add_test(s, "layers", test_layers);
    CU_add_test(s, "training steps", test_training);
    CU_add_test(s, "many sparse leaves", test_sparse);
    CU_basic_run_tests();
    int bad = CU_get_number_of_failures() > 0;
    CU_cleanup_registry();
    return bad;
}
