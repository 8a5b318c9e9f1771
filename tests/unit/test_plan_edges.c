/* SPDX-License-Identifier: Apache-2.0
 * The planner at its edges: graphs that are wrong, plans that are wrong, every printed form, rewrites and shapes. */
#include "planner/rewrite.h"
#include "tests/unit/plan_made.h"

/* ---- graphs and plans that are wrong --------------------------------------------------------------------------------------- */

static void refuse_graph(const made *m, const char *say) {
    clf_mem mem;
    clf_plan *p;
    clf_err err = {0};
    clf_mem_init(&mem, NULL, NULL);
    CU_ASSERT_EQUAL(plan_it(m, "all", &plenty, &mem, &p, &err), CLF_E_INTERNAL);
    if (!strstr(err.text, say)) printf("\n    '%s', expected %s\n", err.text, say);
    CU_ASSERT(p == NULL && strstr(err.text, say) && mem.now_bytes == 0);
}

static void test_wrong_graphs(void) {
    made *m = malloc(sizeof *m);
#define WRONG(change, say) \
    do { \
        make_all(m); \
        change; \
        refuse_graph(m, say); \
    } while (0)
    WRONG(m->node[5].op = CLF_NALLOPS, "node 5: operator or type out of range");
    WRONG(m->node[5].op = CLF_OP_ERROR, "node 5: operator or type out of range");
    WRONG(m->node[5].dtype = 9, "node 5: operator or type out of range");
    WRONG(m->node[5].nin = 1, "node 5: MUL with 1 inputs");
    WRONG(m->node[5].in[1] = -1, "node 5: input -1 is not earlier");
    WRONG(m->node[5].in[0] = 7, "node 5: input 7 is not earlier");
    WRONG(m->node[0].dim[0].n = -1, "node 0: negative extent");
    WRONG(m->node[0].dim[1].n = -1, "node 0: negative extent");
    WRONG(m->root[1] = -1, "root 1 out of range");
    WRONG(m->root[2] = m->g.n, "root 2 out of range");
#undef WRONG
    free(m);
}

static void refuse_plan(const clf_plan *p, const char *say) {
    clf_err err = {0};
    CU_ASSERT_EQUAL(clf_plan_check(p, &err), CLF_E_INTERNAL);
    if (!strstr(err.text, say)) printf("\n    '%s', expected %s\n", err.text, say);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, say));
}

static void test_wrong_plans(void) {
    made *m = malloc(sizeof *m);
    clf_mem mem;
    clf_plan *p;
    clf_err err = {0};
    clf_mem_init(&mem, NULL, NULL);
    make_all(m);
    CU_ASSERT_EQUAL_FATAL(plan_it(m, "all", &plenty, &mem, &p, &err), CLF_OK);
    int32_t made_by_0 = p->step[0].out[0];
    p->value[made_by_0].made = 3;
    refuse_plan(p, "is made twice");
    p->value[made_by_0].made = 0;
    int32_t step = p->nstep - 1, *in = p->step[step].in, was = *in;
    for (int32_t v = 0; v < p->nvalue; v++)
        if (p->value[v].slot < 0 && p->value[v].made >= step) *in = v;
    refuse_plan(p, "before it is made");
    p->value[*in].made = -1;
    refuse_plan(p, "before it is made");
    p->value[*in].made = step;
    *in = was;
    int32_t fused = 0;
    while (p->step[fused].kind != CLF_STEP_FUSED) fused++;
    p->step[fused].c.sink[0].guard = 99;
    refuse_plan(p, "guard 99 does not exist");
    p->step[fused].c.sink[0].guard = -1;
    CU_ASSERT_EQUAL(clf_plan_check(p, &err), CLF_OK);
    int32_t roots[] = {p->root[0]};
    p->nstep = 0;
    p->value[roots[0]].made = -1;
    refuse_plan(p, "root 0 is never made");
    clf_plan_free(p);
    clf_plan_free(NULL);
    CU_ASSERT_EQUAL(mem.now_bytes, 0);
    free(m);
}

/* ---- printed forms ---------------------------------------------------------------------------------------------------------- */

static void has(const clf_str *s, const char *part) {
    if (!strstr(clf_str_c(s), part)) printf("\n%s\n  lacks %s\n", clf_str_c(s), part);
    CU_ASSERT_PTR_NOT_NULL(strstr(clf_str_c(s), part));
}

static void test_printed(void) {
    made *m = malloc(sizeof *m);
    clf_mem mem;
    clf_str s;
    clf_plan *p;
    clf_err err = {0};
    clf_mem_init(&mem, NULL, NULL);
    clf_str_init(&s, &mem);
    make_all(m);
    clf_graph_print(&m->g, &s);
    has(&s, "%0 = PARAM f64 40x30 slot 0\n%1 = LEAF f64 40x30 slot 1\n%2 = CONST f64 scalar slot 2\n%3 = SEQ f64 40x1\n");
    has(&s, "f64 scalar sum all (%7)\n");
    has(&s, "f64 40x1 min rows (%7)\n%10 = FOLD f64 1x30 mean cols (%7)\n");
    has(&s, " = CUM f64 30x30 sum (%");
    has(&s, " = INDEX f64 2x30 [3, 0] (%");
    clf_str_release(&s);
    CU_ASSERT_EQUAL_FATAL(plan_it(m, "all", &plenty, &mem, &p, &err), CLF_OK);
    CU_ASSERT(p->nfired > 0);
    clf_plan_print(p, &s);
    has(&s, " fused Row (in");
    has(&s, " callout cum (in");
    has(&s, "(cut %10 %11 \"an aggregate must see all cells before its result is used\")");
    has(&s, "\"kept as a result\"");
    clf_str_release(&s);
    clf_plan_free(p);
    CU_ASSERT_EQUAL_FATAL(plan_it(m, "none", &plenty, &mem, &p, &err), CLF_OK);
    clf_plan_print(p, &s);
    has(&s, " library %*% ta (in");
    has(&s, " library %*% tb (in");
    clf_str_release(&s);
    clf_plan_free(p);
    CU_ASSERT_STRING_EQUAL(clf_reason_text(CLF_NREASONS), "");
    CU_ASSERT_EQUAL(mem.now_bytes, 0);
    free(m);
}

static clf_graph rewritten(const made *m, clf_arena *arena, int32_t *fired) {
    clf_graph g = {0};
    clf_err err = {0};
    CU_ASSERT_EQUAL_FATAL(clf_rewrite(&m->g, NULL, arena, arena, &g, fired, &err), CLF_OK);
    CU_ASSERT_EQUAL(clf_graph_check(&g, &err), CLF_OK);
    return g;
}

/* A rule tells how often it was applied; one that would change a scalar into a matrix is not. */
static void test_rewrites(void) {
    made *m = malloc(sizeof *m);
    int32_t fired[CLF_MOST_RULES] = {0};
    clf_mem mem;
    clf_arena arena;
    clf_mem_init(&mem, NULL, NULL);
    clf_arena_init(&arena, &mem);
    make_begin(m);
    int32_t s = put(m, CLF_OP_PARAM, 1, 1, 0, -1, -1), X = put(m, CLF_OP_PARAM, 3, 4, 0, -1, -1);
    m->node[s].scalar = 1;
    int32_t t = put(m, CLF_OP_TRANSPOSE, 1, 1, 1, s, -1), u = put(m, CLF_OP_TRANSPOSE, 1, 1, 1, t, -1); /* matrices of a scalar */
    int32_t r = put(m, CLF_OP_RESHAPE, 3, 4, 1, X, -1), c = put(m, CLF_OP_CAST, 3, 4, 1, r, -1), i = put(m, CLF_OP_INDEX, 3, 4, 1, c, -1);
    int32_t a = put(m, CLF_OP_TRANSPOSE, 4, 3, 1, i, -1), b = put(m, CLF_OP_TRANSPOSE, 3, 4, 1, a, -1);
    int32_t d = put(m, CLF_OP_CAST, 3, 4, 1, X, -1);
    m->node[d].dtype = CLF_F32;
    want(m, u);
    want(m, b);
    want(m, d);
    clf_graph g = rewritten(m, &arena, fired);
    CU_ASSERT(g.n == 4 && g.node[g.root[0]].op == CLF_OP_TRANSPOSE && !g.node[g.root[0]].scalar); /* t(t(s)) is the 1x1 matrix t(s) */
    CU_ASSERT(g.node[g.root[1]].op == CLF_OP_PARAM && g.node[g.root[1]].attr[0] == m->node[X].attr[0]);
    CU_ASSERT(g.node[g.root[2]].op == CLF_OP_CAST && g.node[g.root[2]].in[0] == g.root[1]);
    for (int r = 0; r < 5; r++) CU_ASSERT_EQUAL(fired[r], 1);
    clf_arena_release(&arena);
    CU_ASSERT_EQUAL(mem.now_bytes, 0);
    free(m);
}

static void test_shapes(void) {
    static const struct {
        int64_t rows[2], cols[2];
        const char *say;
    } bad[] = {{{3, 4}, {4, 3}, "did you mean t()"},
               {{3, 1}, {1, 4}, "needs outer(u, v, op)"},
               {{1, 3}, {4, 1}, "needs outer(u, v, op)"},
               {{3, 4}, {2, 2}, "shapes 3x2 and 4x2 do not fit"},
               {{1, 3}, {4, 2}, "shapes 1x4 and 3x2 do not fit"}};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        clf_gnode a = {0}, b = {0};
        clf_dim out[2];
        clf_err err = {0};
        clf_gnode_shape(&a, bad[k].rows[0], bad[k].cols[0]);
        clf_gnode_shape(&b, bad[k].rows[1], bad[k].cols[1]);
        CU_ASSERT_EQUAL(clf_shape_cell("+", 2, (const clf_gnode *const[]){&a, &b}, false, out, &err), CLF_E_SHAPE);
        if (!strstr(err.text, bad[k].say)) printf("\n    %s\n", err.text);
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, bad[k].say));
    }
    clf_gnode u = {0}, v = {0}, X = {0};
    clf_dim out[2];
    clf_gnode_shape(&u, 3, 1);
    clf_gnode_shape(&v, 1, 4);
    clf_gnode_shape(&X, 3, 4);
    CU_ASSERT_EQUAL(clf_shape_cell("outer", 2, (const clf_gnode *const[]){&u, &v}, true, out, NULL), CLF_OK);
    CU_ASSERT(out[0].n == 3 && out[1].n == 4);
    CU_ASSERT_EQUAL(clf_shape_cell("outer", 2, (const clf_gnode *const[]){&X, &v}, true, out, NULL), CLF_OK);
    CU_ASSERT(out[0].n == 3 && out[1].n == 4);
    CU_ASSERT_EQUAL(clf_shape_cell("outer", 2, (const clf_gnode *const[]){&u, &X}, true, out, NULL), CLF_OK);
    CU_ASSERT_EQUAL(clf_shape_cell("ifelse", 3, (const clf_gnode *const[]){&u, &v, &X}, false, out, NULL), CLF_OK);
    CU_ASSERT_EQUAL(clf_shape_cell("ifelse", 3, (const clf_gnode *const[]){&X, &u, &u}, true, out, NULL), CLF_OK);
}

int main(void) {
    CU_initialize_registry();
    CU_pSuite s = CU_add_suite("edges of the planner", NULL, NULL);
    CU_add_test(s, "wrong graphs", test_wrong_graphs);
    CU_add_test(s, "wrong plans", test_wrong_plans);
    CU_add_test(s, "printed forms", test_printed);
    CU_add_test(s, "rewrites", test_rewrites);
    CU_add_test(s, "shapes of cell operators", test_shapes);
    CU_basic_run_tests();
    int bad = CU_get_number_of_failures() > 0;
    CU_cleanup_registry();
    return bad;
}
