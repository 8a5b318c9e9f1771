/* SPDX-License-Identifier: Apache-2.0
 * The shrinker finds minimal programs: for made-up defects the smallest program that has them is known. */
#include "tests/support/random_make.h"
#include "tests/support/shrink.h"
#include "tests/unit/api_testing.h"

/* "The executor is wrong about abs of a row sum": what a program must contain to fail. */
static bool abs_of_row_sums(const rp_program *p, void *user) {
    int *calls = user;
    bool used[RP_NODES];
    ++*calls;
    shrink_used(p, used);
    for (int i = 0; i < p->n; i++) {
        const rp_node *n = &p->node[i], *x = &p->node[n->in[0]];
        if (used[i] && n->kind == RP_CELL && n->op == CLF_ABS && x->kind == RP_FOLD && x->op == CLF_FOLD_CODE_SUM && x->attr[0] == CLF_ROWS)
            return true;
    }
    return false;
}

/* "Wrong where a f32 matrix with more than two columns meets 7". */
static bool wide_f32_with_large_cell(const rp_program *p, void *user) {
    bool used[RP_NODES];
    (void)user;
    shrink_used(p, used);
    for (int i = 0; i < p->n; i++) {
        const rp_node *n = &p->node[i], *x = &p->node[n->in[0]];
        if (!used[i] || n->kind != RP_CELL || x->m.t != CLF_F32 || x->m.cols < 3) continue;
        if (n->op == CLF_IDIV || n->op == CLF_MOD) continue; /* x %/% x has no zeros */
        for (int64_t k = 0; k < rp_count(&x->m); k++)
            if (x->m.v[k] > 3) return true;
    }
    return false;
}

/* The first program from `seed` on that fails, shrunk; false when there is none. */
static bool shrunk(rp_program *p, uint64_t seed, shrink_fails fails, void *user) {
    rp_options o = {.nodes = 24, .most_cells = 4000};
    for (uint64_t end = seed + 20000; seed < end; seed++) {
        rp_generate(p, seed, &o);
        if (fails(p, user)) {
            CU_ASSERT(shrink(p, fails, user, 3000) <= 3000);
            CU_ASSERT(fails(p, user));
            return true;
        }
        rp_release(p);
    }
    return false;
}

static void test_shrink_to_two_operators(void) {
    static rp_program p;
    int calls = 0;
    for (uint64_t seed = 1; seed < 200001; seed += 20000) {
        CU_ASSERT_FATAL(shrunk(&p, seed, abs_of_row_sums, &calls));
        CU_ASSERT_EQUAL(shrink_operators(&p), 2); /* a leaf, the fold, abs */
        CU_ASSERT_EQUAL(p.n, 3);
        CU_ASSERT_EQUAL(p.nroot, 1);
        if (rp_count(&p.node[0].m) > 1 || p.node[0].m.t != CLF_F64) rp_print(&p);
        CU_ASSERT(rp_count(&p.node[0].m) <= 1 && p.node[0].m.t == CLF_F64);
        rp_release(&p);
    }
}

static void test_shrink_data(void) {
    static rp_program p;
    for (uint64_t seed = 1; seed < 200001; seed += 20000) {
        CU_ASSERT_FATAL(shrunk(&p, seed, wide_f32_with_large_cell, NULL));
        CU_ASSERT_EQUAL(shrink_operators(&p), 1);
        CU_ASSERT_EQUAL(p.nroot, 1);
        const rp_matrix *m = &p.node[p.node[p.n - 1].in[0]].m;
        int64_t large = 0;
        for (int64_t k = 0; k < rp_count(m); k++) large += m->v[k] != 0;
        CU_ASSERT(m->rows == 1 && m->cols == 3);
        if (large != 1 || m->rows != 1 || m->cols != 3) rp_print(&p);
        CU_ASSERT_EQUAL(large, 1);
        rp_release(&p);
    }
}

/* Shrinking is the same every time, and stops after its tries. */
static void test_shrink_bounded(void) {
    static rp_program p, q;
    rp_options o = {.nodes = 24, .most_cells = 4000};
    uint64_t seed = 5;
    int calls = 0;
    for (rp_generate(&p, seed, &o); !abs_of_row_sums(&p, &calls); rp_generate(&p, ++seed, &o)) rp_release(&p);
    rp_copy(&p, &q);
    calls = 0;
    CU_ASSERT_EQUAL(shrink(&p, abs_of_row_sums, &calls, 7), 7);
    CU_ASSERT_EQUAL(calls, 7);
    CU_ASSERT_EQUAL(shrink(&q, abs_of_row_sums, &calls, 7), 7);
    CU_ASSERT_EQUAL(p.n, q.n);
    CU_ASSERT_EQUAL(p.nroot, q.nroot);
    rp_release(&p);
    rp_release(&q);
}

int main(void) {
    static const test_case tests[] = {
        {"two operators", test_shrink_to_two_operators},
        {"shapes and cells", test_shrink_data},
        {"bounded and deterministic", test_shrink_bounded},
    };
    return run_suite("shrinking", tests, sizeof tests / sizeof *tests);
}
