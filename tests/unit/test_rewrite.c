/* SPDX-License-Identifier: Apache-2.0
 * The rewrite pass and its builder: equal nodes are one, memory may end anywhere, rewriting again changes nothing, and hostile graphs
 * (long chains, nodes with many readers) cost time linear in their size. */
#include "tests/unit/rewrite_testing.h"

/* Blocks of memory are given until none is left. */
static void *some(void *user, void *p, size_t old_bytes, size_t new_bytes) {
    (void)old_bytes;
    if (!new_bytes) {
        free(p);
        return NULL;
    }
    return (*(int *)user)-- > 0 ? realloc(p, new_bytes) : NULL;
}

static void test_no_memory(void) {
    enum { MOST = 200 };
    made *m = malloc(sizeof *m);
    operands o = make_operands(m, N, M);
    int failed = 0;
    clf_status st = CLF_E_NOMEM;
    want(m, put_left(m, sparse(m, put(m, CLF_OP_MUL, N, M, 2, o.X, o.P)), o.A));
    for (int32_t i = 0, n = o.P; i < 2000; i++) n = put(m, CLF_OP_EXP, N, M, 1, n, -1); /* more than one block */
    for (int n = 0; n < MOST && st != CLF_OK; n++) {
        int left = n;
        clf_mem mem;
        clf_arena arena, scratch;
        clf_graph g;
        clf_err err = {0};
        clf_mem_init(&mem, some, &left);
        clf_arena_init(&arena, &mem);
        clf_arena_init(&scratch, &mem);
        st = clf_rewrite(&m->g, NULL, &arena, &scratch, &g, NULL, &err);
        CU_ASSERT(st == CLF_OK || (st == CLF_E_NOMEM && err.text[0]));
        failed += st != CLF_OK;
        clf_arena_release(&scratch);
        clf_arena_release(&arena);
        CU_ASSERT_EQUAL(mem.now_bytes, 0);
    }
    CU_ASSERT(st == CLF_OK && failed > 3);
    free(m);
}

/* ---- hostile graphs ---- */

enum { LONG = 100000 };

/* make_operands puts into a made; what follows goes on in a larger array. */
static int32_t more(clf_graph *g, int op, int64_t rows, int64_t cols, int32_t a, int32_t b, int zeros) {
    clf_gnode *n = &g->node[g->n];
    memset(n, 0, sizeof *n);
    n->op = (uint16_t)op;
    n->dtype = CLF_F64;
    n->rank = 2;
    n->nin = b < 0 ? 1 : 2;
    n->zeros = (uint8_t)zeros;
    n->in[0] = a;
    n->in[1] = b;
    n->in[2] = -1;
    clf_gnode_shape(n, rows, cols);
    return g->n++;
}

static clf_graph big_graph(made *m, operands *o, size_t room) {
    *o = make_operands(m, N, M);
    clf_graph g = m->g;
    g.node = calloc(room, sizeof *g.node);
    memcpy(g.node, m->node, (size_t)m->g.n * sizeof *g.node);
    g.root = malloc(room * sizeof *g.root);
    return g;
}

/* A chain of cell operators over X * P, every link of which is multiplied from the left: each is turned once. */
static void test_chain(void) {
    made *m = malloc(sizeof *m);
    operands o;
    rewriting r;
    clf_graph g = big_graph(m, &o, 3 * LONG + 100);
    int32_t W = more(&g, CLF_OP_MUL, N, M, o.X, o.P, CLF_ZEROS_STRUCTURAL), before = g.n;
    for (int i = 0; i < LONG; i++) {
        W = more(&g, i % 2 ? CLF_OP_ABS : CLF_OP_SQRT, N, M, W, -1, CLF_ZEROS_STRUCTURAL);
        int32_t t = more(&g, CLF_OP_TRANSPOSE, M, N, W, -1, CLF_ZEROS_STRUCTURAL);
        g.root[g.nroot++] = more(&g, CLF_OP_MATMUL, M, R, t, o.A, CLF_ZEROS_VALUE);
    }
    rewrite(&r, &g);
    CU_ASSERT_EQUAL(by_left(&r), LONG);
    CU_ASSERT(r.g.n == 2 * LONG + 7 && before == 6); /* X A B, their two transposes and the two first operators */
    same_again(&r.g);
    drop(&r);
    free(g.node);
    free(g.root);
    free(m);
}

/* One W with many readers is turned once; many transposes of transposes become one node. */
static void test_readers(void) {
    made *m = malloc(sizeof *m);
    operands o;
    rewriting r;
    clf_graph g = big_graph(m, &o, 3 * LONG + 100);
    int32_t W = more(&g, CLF_OP_MUL, N, M, o.X, o.P, CLF_ZEROS_STRUCTURAL),
            t = more(&g, CLF_OP_TRANSPOSE, M, N, W, -1, CLF_ZEROS_STRUCTURAL);
    int32_t u = o.A, v;
    for (int i = 0; i < LONG; i++) {
        u = more(&g, CLF_OP_EXP, N, R, u, -1, CLF_ZEROS_VALUE);
        g.root[g.nroot++] = more(&g, CLF_OP_MATMUL, M, R, t, u, CLF_ZEROS_VALUE);
    }
    v = o.A;
    for (int i = 0; i < LONG; i++) v = more(&g, CLF_OP_TRANSPOSE, i % 2 ? N : R, i % 2 ? R : N, v, -1, CLF_ZEROS_VALUE);
    g.root[g.nroot++] = v;
    rewrite(&r, &g);
    CU_ASSERT_EQUAL(by_left(&r), LONG);
    CU_ASSERT(r.fired[0] > 0 && r.fired[0] <= LONG);
    CU_ASSERT_EQUAL(r.g.n, 2 * LONG + 7);
    CU_ASSERT_EQUAL(r.g.root[g.nroot - 1], 1);
    same_again(&r.g);
    drop(&r);
    free(g.node);
    free(g.root);
    free(m);
}

/* ---- the builder ---- */

static void begin(clf_rewriter *w, clf_mem *mem, clf_arena *arena, const made *m) {
    clf_mem_init(mem, NULL, NULL);
    clf_arena_init(arena, mem);
    memset(w, 0, sizeof *w);
    w->arena = w->scratch = arena;
    CU_ASSERT_FATAL(clf_rewriter_begin(w, 4));
    for (int32_t n = 0; n < m->g.n; n++) CU_ASSERT_EQUAL(clf_rewriter_put(w, &m->node[n]), n);
}

/* Equal nodes are one; types, shapes and zeros are those of recording. */
static void test_builder(void) {
    made *m = malloc(sizeof *m);
    operands o = make_operands(m, N, M);
    clf_rewriter w;
    clf_mem mem;
    clf_arena arena;
    begin(&w, &mem, &arena, m);
    int32_t n = clf_rewriter_cell(&w, CLF_OP_MUL, 2, (int32_t[]){o.X, o.P}), c = clf_rewriter_cell(&w, CLF_OP_GT, 2, (int32_t[]){o.P, o.X});
    CU_ASSERT(n == m->g.n && c == n + 1 && clf_rewriter_cell(&w, CLF_OP_MUL, 2, (int32_t[]){o.X, o.P}) == n);
    CU_ASSERT(w.g.node[n].zeros == CLF_ZEROS_STRUCTURAL && w.g.node[c].zeros == CLF_ZEROS_VALUE && w.g.node[c].dtype == CLF_U8);
    CU_ASSERT(w.g.node[clf_rewriter_cell(&w, CLF_OP_DIV, 2, (int32_t[]){o.P, o.X})].zeros == CLF_ZEROS_VALUE);
    CU_ASSERT(w.g.node[clf_rewriter_cell(&w, CLF_OP_SQRT, 1, &o.X)].zeros == CLF_ZEROS_STRUCTURAL);
    CU_ASSERT(w.g.node[clf_rewriter_cell(&w, CLF_OP_COS, 1, &o.X)].zeros == CLF_ZEROS_VALUE);
    int32_t f = clf_rewriter_fold(&w, CLF_FOLD_SUM, CLF_WAY_COLS, c), p = clf_rewriter_product(&w, o.P, o.B);
    CU_ASSERT(clf_rows(&w.g.node[f]) == 1 && clf_cols(&w.g.node[f]) == M && !w.g.node[f].scalar && w.g.node[f].dtype != CLF_U8);
    CU_ASSERT(clf_rows(&w.g.node[p]) == N && clf_cols(&w.g.node[p]) == R);
    int32_t t = clf_rewriter_transpose(&w, n);
    CU_ASSERT(clf_rows(&w.g.node[t]) == M && w.g.node[t].zeros == CLF_ZEROS_STRUCTURAL && clf_rewriter_transpose(&w, t) == n);
    CU_ASSERT(w.g.node[clf_rewriter_fold(&w, CLF_FOLD_MAX, CLF_WAY_ALL, f)].scalar);
    int32_t one = clf_rewriter_fold(&w, CLF_FOLD_MAX, CLF_WAY_ALL, f);
    CU_ASSERT_EQUAL(clf_rewriter_transpose(&w, one), one);
    int32_t made_so_far = w.g.n;
    CU_ASSERT_EQUAL(clf_rewriter_cell(&w, CLF_OP_ADD, 2, (int32_t[]){o.X, o.A}), -1);
    CU_ASSERT_EQUAL(clf_rewriter_cell(&w, CLF_OP_ADD, 1, &o.X), -1);
    CU_ASSERT_EQUAL(clf_rewriter_cell(&w, CLF_OP_ADD, 2, (int32_t[]){o.X, -1}), -1);
    CU_ASSERT_EQUAL(clf_rewriter_product(&w, o.A, o.B), -1);
    CU_ASSERT(w.g.n == made_so_far && !w.failed);
    clf_arena_release(&arena);
    CU_ASSERT_EQUAL(mem.now_bytes, 0);
    free(m);
}

/* Nodes and notes move when there is no more room, and keep what is in them. */
static void test_room(void) {
    made *m = malloc(sizeof *m);
    operands o = make_operands(m, N, M);
    clf_rewriter w;
    clf_mem mem;
    clf_arena arena;
    begin(&w, &mem, &arena, m);
    int32_t *note = clf_rewriter_notes(&w, sizeof *note), q = o.P;
    note[o.P] = 7;
    for (int i = 0; i < 5000; i++) q = clf_rewriter_cell(&w, CLF_OP_EXP, 1, &q);
    note = clf_rewriter_notes(&w, sizeof *note);
    CU_ASSERT(w.g.n == m->g.n + 5000 && note[o.P] == 7 && note[q] == 0);
    for (int32_t n = 0, r = o.P; n < 5000; n++) CU_ASSERT_EQUAL(r = clf_rewriter_cell(&w, CLF_OP_EXP, 1, &r), m->g.n + n);
    CU_ASSERT_EQUAL(w.g.n, m->g.n + 5000);
    clf_arena_release(&arena);
    free(m);
}

int main(void) {
    CU_initialize_registry();
    CU_pSuite s = CU_add_suite("rewrites", NULL, NULL);
    CU_add_test(s, "a long chain", test_chain);
    CU_add_test(s, "many readers", test_readers);
    CU_add_test(s, "the builder", test_builder);
    CU_add_test(s, "room", test_room);
    CU_add_test(s, "no memory", test_no_memory);
    CU_basic_run_tests();
    int bad = CU_get_number_of_failures() > 0;
    CU_cleanup_registry();
    return bad;
}
