/* SPDX-License-Identifier: Apache-2.0
 * Graphs made by hand, node by node, for the suites of the planner. */
#ifndef CLF_TESTS_PLAN_MADE_H
#define CLF_TESTS_PLAN_MADE_H
#include "core/arena.h"
#include "planner/plan.h"
#include "planner/select.h"
#include "tests/unit/cplan_testing.h"
#include "tests/unit/graph_put.h"

enum { MOST_NODES = 4096 };
typedef struct made {
    clf_gnode node[MOST_NODES];
    int32_t root[8];
    clf_graph g;
} made;

static inline void make_begin(made *m) {
    memset(m, 0, sizeof *m);
    m->g = (clf_graph){.node = m->node, .root = m->root};
}

static inline int32_t put(made *m, int op, int64_t rows, int64_t cols, int nin, int32_t a, int32_t b) {
    return graph_put(&m->g, op, rows, cols, nin, a, b);
}

static inline int32_t put_fold(made *m, int32_t a, clf_fold_id f, clf_way way) {
    int64_t rows = way == CLF_WAY_ROWS ? clf_rows(&m->node[a]) : 1, cols = way == CLF_WAY_COLS ? clf_cols(&m->node[a]) : 1;
    int32_t n = put(m, CLF_OP_FOLD, rows, cols, 1, a, -1);
    m->node[n].scalar = way == CLF_WAY_ALL;
    m->node[n].attr[0] = f;
    m->node[n].attr[1] = way;
    return n;
}

static inline void want(made *m, int32_t n) { m->root[m->g.nroot++] = n; }

/* Every kind of step and cut: a loop with several folds, one split by what only one reader takes, a product with both operands
 * transposed, an operator without a template, sequences, ranges and rewrites. */
static inline void make_all(made *m) {
    make_begin(m);
    int32_t X = put(m, CLF_OP_PARAM, 40, 30, 0, -1, -1), Y = put(m, CLF_OP_LEAF, 40, 30, 0, -1, -1);
    int32_t s = put(m, CLF_OP_CONST, 1, 1, 0, -1, -1);
    m->node[s].scalar = 1;
    int32_t q = put(m, CLF_OP_SEQ, 40, 1, 0, -1, -1);
    m->node[q].attr[0] = clf_attr_of(1);
    m->node[q].attr[1] = clf_attr_of(0.5);
    int32_t f = put(m, CLF_OP_FILL, 40, 30, 1, s, -1), p = put(m, CLF_OP_MUL, 40, 30, 2, X, Y);
    int32_t a = put(m, CLF_OP_ADD, 40, 30, 2, p, q), b = put(m, CLF_OP_ADD, 40, 30, 2, a, f);
    want(m, put_fold(m, b, CLF_FOLD_SUM, CLF_WAY_ALL));
    want(m, put_fold(m, b, CLF_FOLD_MIN, CLF_WAY_ROWS));
    int32_t c = put_fold(m, b, CLF_FOLD_MEAN, CLF_WAY_COLS), d = put(m, CLF_OP_SUB, 40, 30, 2, b, c);
    int32_t t = put(m, CLF_OP_TRANSPOSE, 30, 40, 1, d, -1), u = put(m, CLF_OP_TRANSPOSE, 30, 40, 1, X, -1);
    int32_t v = put(m, CLF_OP_TRANSPOSE, 40, 30, 1, u, -1); /* X again */
    int32_t w = put(m, CLF_OP_MATMUL, 30, 30, 2, t, v), k = put(m, CLF_OP_CUM, 30, 30, 1, w, -1);
    m->node[k].attr[0] = CLF_FOLD_SUM;
    int32_t i = put(m, CLF_OP_INDEX, 2, 30, 1, k, -1);
    m->node[i].attr[0] = 3;
    int32_t z = put(m, CLF_OP_MATMUL, 40, 40, 2, X, u); /* its right operand transposed */
    want(m, put(m, CLF_OP_EXP, 2, 30, 1, i, -1));
    want(m, w);
    want(m, z);
    want(m, X);
}

static const clf_limits plenty = {.kernel_ops = 200, .kernel_inputs = 48};

static inline clf_status plan_it(const made *m, const char *selector, const clf_limits *lim, clf_mem *mem, clf_plan **p, clf_err *err) {
    *p = NULL;
    clf_err_clear(err);
    return clf_plan_new(p, &m->g, clf_selector_find(selector), lim, mem, err);
}
#endif
