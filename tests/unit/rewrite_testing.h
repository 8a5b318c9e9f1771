/* SPDX-License-Identifier: Apache-2.0
 * Rewriting graphs made by hand, and looking at what came out; the operands of left products. */
#ifndef CLF_TESTS_REWRITE_TESTING_H
#define CLF_TESTS_REWRITE_TESTING_H
#include "planner/rewriter.h"
#include "tests/unit/plan_made.h"

enum { N = 300, M = 200, R = 10 };

typedef struct rewriting {
    clf_mem mem;
    clf_arena arena, scratch;
    clf_graph g;
    int32_t fired[CLF_MOST_RULES];
} rewriting;

static inline void rewrite_in(rewriting *r, const clf_graph *g, const clf_gate *gate) {
    clf_err err = {0};
    memset(r, 0, sizeof *r);
    clf_mem_init(&r->mem, NULL, NULL);
    clf_arena_init(&r->arena, &r->mem);
    clf_arena_init(&r->scratch, &r->mem);
    CU_ASSERT_EQUAL_FATAL(clf_rewrite(g, gate, &r->arena, &r->scratch, &r->g, r->fired, &err), CLF_OK);
    CU_ASSERT_EQUAL(clf_graph_check(&r->g, &err), CLF_OK);
    clf_arena_release(&r->scratch);
}

static inline void rewrite(rewriting *r, const clf_graph *g) { rewrite_in(r, g, NULL); }

/* How often a rule was applied. */
static inline int32_t fired_by(const rewriting *r, const char *id) {
    int i = 0;
    while (clf_rules[i].id && strcmp(clf_rules[i].id, id)) i++;
    CU_ASSERT_PTR_NOT_NULL_FATAL(clf_rules[i].id);
    return r->fired[i];
}

static inline int32_t by_left(const rewriting *r) { return fired_by(r, "left-twin"); }

static inline void drop(rewriting *r) {
    clf_arena_release(&r->arena);
    CU_ASSERT_EQUAL(r->mem.now_bytes, 0);
}

/* Rewriting what was rewritten, whatever results are asked of it, gives the same nodes. */
static inline void same_again_in(const clf_graph *g, const clf_gate *gate) {
    rewriting r;
    clf_graph other = *g;
    int32_t root[] = {g->n / 2};
    rewrite_in(&r, g, gate);
    CU_ASSERT(r.g.n == g->n && !memcmp(r.g.node, g->node, (size_t)g->n * sizeof *g->node));
    CU_ASSERT(!memcmp(r.g.root, g->root, (size_t)g->nroot * sizeof *g->root));
    drop(&r);
    other.root = root;
    other.nroot = 1;
    rewrite_in(&r, &other, gate);
    CU_ASSERT(r.g.n == g->n && !memcmp(r.g.node, g->node, (size_t)g->n * sizeof *g->node));
    drop(&r);
}

static inline void same_again(const clf_graph *g) { same_again_in(g, NULL); }

static inline void expect(const made *m, int32_t left, const char *want) {
    rewriting r;
    clf_str got;
    rewrite(&r, &m->g);
    clf_str_init(&got, &r.mem);
    clf_graph_print(&r.g, &got);
    if (strcmp(clf_str_c(&got), want)) printf("\n%s  wanted\n%s", clf_str_c(&got), want);
    CU_ASSERT_STRING_EQUAL(clf_str_c(&got), want);
    CU_ASSERT_EQUAL(by_left(&r), left);
    same_again(&r.g);
    clf_str_release(&got);
    drop(&r);
}

static inline int32_t sparse(made *m, int32_t n) {
    m->node[n].zeros = CLF_ZEROS_STRUCTURAL;
    return n;
}

typedef struct operands {
    int32_t X, A, B, P; /* X n x m sparse, P = A %*% t(B) */
} operands;

static inline operands make_operands(made *m, int64_t rows, int64_t cols) {
    operands o;
    make_begin(m);
    o.X = sparse(m, put(m, CLF_OP_LEAF, rows, cols, 0, -1, -1));
    o.A = put(m, CLF_OP_LEAF, rows, R, 0, -1, -1);
    o.B = put(m, CLF_OP_LEAF, cols, R, 0, -1, -1);
    o.P = put(m, CLF_OP_MATMUL, rows, cols, 2, o.A, put(m, CLF_OP_TRANSPOSE, R, cols, 1, o.B, -1));
    return o;
}

/* t(W) %*% b */
static inline int32_t put_left(made *m, int32_t W, int32_t b) {
    int32_t t = put(m, CLF_OP_TRANSPOSE, clf_cols(&m->node[W]), clf_rows(&m->node[W]), 1, W, -1);
    m->node[t].zeros = m->node[W].zeros;
    return put(m, CLF_OP_MATMUL, clf_cols(&m->node[W]), clf_cols(&m->node[b]), 2, t, b);
}
#endif
