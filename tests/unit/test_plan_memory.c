/* SPDX-License-Identifier: Apache-2.0
 * The planner with memory that ends at every place, and under limits of any size. */
#include "tests/unit/plan_made.h"
#include "tests/unit/heap_testing.h"

static const clf_limits tight = {.kernel_ops = 2, .kernel_inputs = 4};

/* ---- memory ----------------------------------------------------------------------------------------------------------------- */

/* n operators after each other: sizes of all arrays move with n, so that blocks end at other places. */
static void make_chain(made *m, int n) {
    make_begin(m);
    int32_t X = put(m, CLF_OP_PARAM, 40, 30, 0, -1, -1), y = X;
    for (int k = 0; k < n; k++) {
        int32_t s = put(m, CLF_OP_PARAM, 1, 1, 0, -1, -1);
        m->node[s].scalar = 1;
        y = put(m, CLF_OP_ADD, 40, 30, 2, y, k % 5 ? s : put(m, CLF_OP_PARAM, 40, 1 + 29 * (k & 1), 0, -1, -1));
    }
    int32_t f = put_fold(m, y, CLF_FOLD_SUM, CLF_WAY_COLS), t = put(m, CLF_OP_TRANSPOSE, 30, 1, 1, f, -1);
    want(m, put(m, CLF_OP_MATMUL, 40, 1, 2, X, t));
    want(m, y);
}

/* Plan, letting allocations end at each number in turn; how many were refused. */
static int in_so_many(const made *m, const clf_limits *lim, const char *selector) {
    clf_mem mem;
    clf_plan *p;
    clf_err err = {0};
    clf_status st = CLF_E_NOMEM;
    int refused = 0;
    for (int n = 0; n < 3000 && st == CLF_E_NOMEM; n++) {
        counting_heap heap = heap_of(n);
        clf_mem_init(&mem, counting_alloc, &heap);
        st = plan_it(m, selector, lim, &mem, &p, &err);
        CU_ASSERT(st == CLF_OK || (st == CLF_E_NOMEM && !p && strstr(err.text, "memory")));
        refused += st != CLF_OK;
        clf_plan_free(p);
        CU_ASSERT_EQUAL(mem.now_bytes, 0);
    }
    CU_ASSERT_EQUAL(st, CLF_OK);
    return refused;
}

static void test_memory(void) {
    made *m = malloc(sizeof *m);
    int refused = 0;
    for (int n = 1; n < 300; n += 1 + n / 100) {
        make_chain(m, n);
        refused += in_so_many(m, n % 3 || n > 90 ? &plenty : &tight, n % 4 ? "all" : "cost");
    }
    make_all(m);
    static const char *const selectors[] = {"all", "cost"};
    for (int i = 0; i < 2; i++) refused += in_so_many(m, &plenty, selectors[i]) + in_so_many(m, &tight, selectors[i]);
    CU_ASSERT(refused > 1000);
    free(m);
}

/* The passes of selection in an arena of exactly so many bytes. */
static void test_selection_memory(void) {
    enum { BLOCK = 16 * 1024 };
    made *m = malloc(sizeof *m);
    clf_mem mem, other;
    clf_arena scratch, a;
    clf_memo memo, memo2;
    clf_cover cover;
    clf_status st = CLF_E_NOMEM, explored = CLF_E_NOMEM;
    int refused = 0;
    clf_mem_init(&other, NULL, NULL);
    clf_arena_init(&scratch, &other);
    make_all(m);
    CU_ASSERT_EQUAL_FATAL(clf_explore(&m->g, &scratch, &memo, NULL), CLF_OK);
    for (size_t bytes = 0; bytes < BLOCK && (st || explored); bytes += 16) {
        counting_heap heap = heap_of(1);
        clf_err err = {0};
        clf_mem_init(&mem, counting_alloc, &heap);
        clf_arena_init(&a, &mem);
        CU_ASSERT_PTR_NOT_NULL_FATAL(clf_arena_new(&a, BLOCK - bytes, 1));
        st = clf_select(&memo, clf_selector_find("all"), &plenty, &a, &cover, &err);
        CU_ASSERT(st == CLF_OK || (st == CLF_E_NOMEM && strstr(err.text, "out of memory")));
        clf_arena_release(&a);
        heap = heap_of(1);
        CU_ASSERT_PTR_NOT_NULL_FATAL(clf_arena_new(&a, BLOCK - bytes, 1));
        clf_err_clear(&err);
        explored = clf_explore(&m->g, &a, &memo2, &err);
        CU_ASSERT(explored == CLF_OK || (explored == CLF_E_NOMEM && strstr(err.text, "memo table")));
        clf_arena_release(&a);
        refused += st != CLF_OK;
    }
    CU_ASSERT(st == CLF_OK && explored == CLF_OK && refused > 50);
    clf_arena_release(&scratch);
    free(m);
}

/* ---- limits ----------------------------------------------------------------------------------------------------------------- */

/* Under limits of any size every plan is legal and covers every operator once. */
static void test_limits(void) {
    made *m = malloc(sizeof *m);
    clf_mem mem;
    clf_plan *p;
    clf_err err = {0};
    clf_mem_init(&mem, NULL, NULL);
    for (int ops = 1; ops < 40; ops += 3)
        for (int inputs = 1; inputs < 20; inputs += 2) {
            const clf_limits lim = {.kernel_ops = ops, .kernel_inputs = inputs};
            make_chain(m, 30);
            CU_ASSERT_EQUAL_FATAL(plan_it(m, "all", &lim, &mem, &p, &err), CLF_OK);
            int covered[MOST_NODES] = {0}, cuts = 0;
            for (int32_t s = 0; s < p->nstep; s++)
                for (int c = 0; c < p->step[s].ncover; c++) covered[p->step[s].cover[c]]++;
            for (int32_t n = 0; n < m->g.n; n++)
                CU_ASSERT(covered[n] == (clf_op_is_cell(m->node[n].op) || m->node[n].op == CLF_OP_FOLD || m->node[n].op == CLF_OP_MATMUL));
            for (int32_t c = 0; c < p->ncut; c++) cuts += p->cut[c].reason == CLF_CUT_KERNEL_OPS || p->cut[c].reason == CLF_CUT_KERNEL_ARGS;
            CU_ASSERT(cuts > 0 || ops > 30 || inputs > 10);
            clf_plan_free(p);
        }
    CU_ASSERT_EQUAL(mem.now_bytes, 0);
    free(m);
}

int main(void) {
    CU_initialize_registry();
    CU_pSuite s = CU_add_suite("memory and limits of the planner", NULL, NULL);
    CU_add_test(s, "memory ends anywhere", test_memory);
    CU_add_test(s, "selection in so many bytes", test_selection_memory);
    CU_add_test(s, "limits of any size", test_limits);
    CU_basic_run_tests();
    int bad = CU_get_number_of_failures() > 0;
    CU_cleanup_registry();
    return bad;
}
