/* SPDX-License-Identifier: Apache-2.0
 * The terms of the cost model by hand, from a profile of round figures: tiers, operators, moving beside computing, what loops keep, waking,
 * occupancy, nodes. */
#include <CUnit/Basic.h>
#include <math.h>
#include <string.h>

#include "planner/plan.h"
#include "tests/unit/api_testing.h"
#include "planner/bill.h"
#include "tests/unit/cost_testing.h"

/* By hand, from the simple profile: t + 1 picoseconds a byte in tier t, limits of 10, 20 and 30 kB. */
static void test_tiers(void) {
    clf_profile p = simple();
    CU_ASSERT_EQUAL(clf_cost_read(&p, 10000, 0), 10000);
    CU_ASSERT_EQUAL(clf_cost_read(&p, 10001, 0), 20002);
    CU_ASSERT_EQUAL(clf_cost_read(&p, 30000, 0), 90000);
    CU_ASSERT_EQUAL(clf_cost_read(&p, 30001, 0), 120004);
    CU_ASSERT_EQUAL(clf_cost_read(&p, 1e19, 0), clf_ps_add(CLF_PS_MOST, 0)); /* beyond the last limit as in the last tier */
    CU_ASSERT_EQUAL(clf_cost_write(&p, 10000, 0), 30000);
    CU_ASSERT_EQUAL(clf_cost_write(&p, 10001, 0), 60006);
    CU_ASSERT_EQUAL(clf_cost_gather(&p, 10, 8, 5000), 10000);
    CU_ASSERT_EQUAL(clf_cost_gather(&p, 10, 8, 10000), 15000); /* half of it is held by the first tier, half by the second */
    CU_ASSERT_EQUAL(clf_cost_gather(&p, 10, 64, 10000), 15000);
    CU_ASSERT_EQUAL(clf_cost_gather(&p, 10, 164, 10000), 15000 + 10 * 100 * 1);
    CU_ASSERT_EQUAL(clf_cost_look(&p, 10, 10000), 15000);  /* what follows may wait */
    CU_ASSERT_EQUAL(clf_cost_read(&p, 1000, 30000), 3000); /* among what fills the third tier */
    CU_ASSERT_EQUAL(clf_cost_read(&p, 30001, 1000), 120004);
    CU_ASSERT_EQUAL(clf_cost_write(&p, 1000, 10001), 6000);
    p.tier_bytes[1] = 4e4, p.tier_bytes[2] = 1.6e5;             /* accesses reach 5, 20 and 80 kB */
    CU_ASSERT_EQUAL(clf_cost_gather(&p, 10, 8, 20000), 17500);  /* a quarter in the first tier, the rest in the second */
    CU_ASSERT_EQUAL(clf_cost_gather(&p, 10, 8, 40000), 23750);  /* 5, 15 and 20 kB */
    CU_ASSERT_EQUAL(clf_cost_gather(&p, 10, 8, 160000), 33438); /* 5, 15, 60 and 80 kB */
    p = simple();
    p.read_bytes_per_s[2] = 1e15;
    CU_ASSERT_EQUAL(clf_cost_read(&p, 30000, 0), 60000); /* no faster than the tier before it */
}

static void test_operators(void) {
    clf_profile p = simple();
    CU_ASSERT_EQUAL(clf_cost_cells(&p, false, CLF_CLASS_LOG, 1000), 1000);
    CU_ASSERT_EQUAL(clf_cost_cells(&p, true, CLF_CLASS_LOG, 1000), 2000);
    CU_ASSERT_EQUAL(clf_cost_fma(&p, false, 1000), 1000);
    CU_ASSERT_EQUAL(clf_cost_fma(&p, true, 1000), 4000);
    CU_ASSERT_EQUAL(clf_cost_library(&p, false, 8, 4, 100), 2 * 8 * 100 * 4 * 2 + 3 * 8 * 4 * 4);    /* a side of 4 is half the speed */
    CU_ASSERT_EQUAL(clf_cost_library(&p, true, 8, 100, 16), 4 * 8 * 100 * 16 * 2 + 2 * 3 * 8 * 800); /* 8 where the result has it */
    CU_ASSERT_EQUAL(clf_cost_library_vector(&p, false, 8, 16, false, 0), 2 * 8 * 16 + 8 * 11000);    /* every row is begun */
    CU_ASSERT_EQUAL(clf_cost_library_vector(&p, true, 8, 16, true, 0), 4 * 8 * 16 + 8 * 12000);
    CU_ASSERT_EQUAL(clf_cost_library_vector(&p, true, 8, 1, false, 0), 4 * 8 + 8 * 11000);
    CU_ASSERT_EQUAL(clf_cost_library_vector(&p, true, 8, 1, true, 0), 4 * 8 + 12000); /* two vectors */
    p.library_wait_ns[0] = 90; /* as long as the row is, and no longer than one of 800 bytes */
    CU_ASSERT_EQUAL(clf_cost_library_vector(&p, true, 8, 50, false, 0), clf_cost_read(&p, 8 * 400, 0) + 8 * 45000);
    CU_ASSERT_EQUAL(clf_cost_library_vector(&p, true, 8, 200, false, 0), clf_cost_read(&p, 8 * 1600, 0) + 8 * 90000);
    CU_ASSERT_EQUAL(clf_cost_library_vector(&p, false, 8, 100, false, 1e9), clf_cost_read(&p, 8 * 400, 1e9) + 8 * 45000);
    CU_ASSERT_EQUAL(clf_cost_library_vector(&p, true, 8, 200, true, 0), 4 * 8 * 200 + 8 * 12000);
    p.library_wait_ns[0] = 1; /* less than what a row takes beside */
    CU_ASSERT_EQUAL(clf_cost_library_vector(&p, true, 8, 16, false, 0), 4 * 8 * 16 + 8 * 11000);
    p.library_wait_ns[0] = 0;
    p.gemm_flops_per_s[0] = 1e12;
    p.gemm_flops_per_s[1] = 5e11;
    CU_ASSERT_EQUAL(clf_cost_gemm(&p, false, 64, 128, 16), 13000 + 2 * 16 * (64 * 128 + 1000)); /* whole tiles and depths */
    CU_ASSERT_EQUAL(clf_cost_gemm(&p, true, 65, 1, 1), 13000 + 4 * 16 * (128 * 64 + 1000));
    CU_ASSERT_EQUAL(clf_cost_dots(&p, 100), 600000);
    CU_ASSERT_EQUAL(clf_cost_sides(&p, 100), 700000);
    CU_ASSERT_EQUAL(clf_cost_pick(&p, 100, 8), 800000);
    CU_ASSERT_EQUAL(clf_cost_pick(&p, 100, 16), 0);
    CU_ASSERT_EQUAL(clf_cost_rows(&p, 100), 500000);
    CU_ASSERT_EQUAL(clf_cost_entries(&p, 100), 200000);
    p.scatter_ns = 1.5;
    CU_ASSERT_EQUAL(clf_cost_scatter(&p, 100), 150000);
    /* a hundred rows of ten entries each, 120 bytes, and a thousand sums at places */
    CU_ASSERT_EQUAL(clf_cost_entry_product(&p, 100, 1000, 5000, 800), 700000 + 100 * 1000 + 100 * 56 + 1500000 + 1000 * 1000);
    CU_ASSERT_EQUAL(clf_cost_entry_product(&p, 100, 0, 5000, 800), 0);
    CU_ASSERT_EQUAL(clf_cost_entry_product(&p, 0, 0, 0, 800), 0);
    CU_ASSERT_EQUAL(clf_cost_locate(&p, 100), 300000);
    CU_ASSERT_EQUAL(clf_cost_gaps(&p, 100), 400000);
    CU_ASSERT_EQUAL(clf_cost_convert(&p, CLF_CONVERT_DENSE, 10, 20, 7, 8), 200 + 70);
    CU_ASSERT_EQUAL(clf_cost_convert(&p, CLF_CONVERT_DENSE, 10, 20, 7, 4), 100 + 70);
    CU_ASSERT_EQUAL(clf_cost_convert(&p, CLF_CONVERT_TWIN, 10, 20, 7, 8), 30 + 70);
    CU_ASSERT_EQUAL(clf_cost_launch(&p, CLF_STEP_FUSED), 7000);
    CU_ASSERT_EQUAL(clf_cost_launch(&p, CLF_STEP_LIBRARY), 8000);
    CU_ASSERT_EQUAL(clf_cost_launch(&p, CLF_STEP_CONVERT), 9000);
    CU_ASSERT_EQUAL(clf_cost_launch(&p, CLF_STEP_CALLOUT), 9000);
    CU_ASSERT_EQUAL(clf_cost_launch(&p, CLF_STEP_CHECK), 0);
    CU_ASSERT_EQUAL(clf_cost_launch(&p, -1), 0);
    CU_ASSERT_EQUAL(clf_cost_launch(&p, 99), 0);
    CU_ASSERT_EQUAL(clf_cost_transfer(&p, 1e9), 0); /* shared memory */
    p.zero_copy = 0;
    p.transfer_ns = 3;
    p.transfer_bytes_per_s = 1e12;
    CU_ASSERT_EQUAL(clf_cost_transfer(&p, 1000), 4000);
    CU_ASSERT_EQUAL(clf_cost_transfer(&p, 0), 0);
}

/* The larger, and of the smaller what is not hidden: here a quarter, rounded up. */
static void test_both(void) {
    clf_profile p = simple();
    CU_ASSERT_EQUAL(clf_cost_both(&p, 1000, 100), 1025);
    CU_ASSERT_EQUAL(clf_cost_both(&p, 100, 1000), 1025);
    CU_ASSERT_EQUAL(clf_cost_both(&p, 1000, 101), 1026);
    CU_ASSERT_EQUAL(clf_cost_both(&p, 0, 0), 0);
    CU_ASSERT_EQUAL(clf_cost_both(&p, CLF_PS_MOST, CLF_PS_MOST), CLF_PS_MOST);
    p.overlap = 1;
    CU_ASSERT_EQUAL(clf_cost_both(&p, 1000, 999), 1000);
    p.overlap = 0;
    CU_ASSERT_EQUAL(clf_cost_both(&p, 1000, 999), 1999);
    p.overlap = 0.3;
    for (clf_ps a = 0; a < 3000; a += 7) {
        CU_ASSERT(clf_cost_both(&p, a, 1000) >= (a > 1000 ? a : 1000) && clf_cost_both(&p, a, 1000) <= a + 1000);
        CU_ASSERT(clf_cost_both(&p, a, 1000) <= clf_cost_both(&p, a + 1, 1000));
    }
}

/* Three times as many values as there are registers: a third of the work-items at a time. */
static void test_kept(void) {
    clf_profile p = simple();
    CU_ASSERT_EQUAL(clf_cost_kept(&p, 1000, 48), 1000);
    p.registers = 16;
    CU_ASSERT_EQUAL(clf_cost_kept(&p, 1000, 16), 1000);
    CU_ASSERT_EQUAL(clf_cost_kept(&p, 1000, 17), 1063);
    CU_ASSERT_EQUAL(clf_cost_kept(&p, 1000, 48), 3000);
    CU_ASSERT_EQUAL(clf_cost_kept(&p, 0, 48), 0);
    CU_ASSERT_EQUAL(clf_cost_kept(&p, CLF_PS_MOST, 48), CLF_PS_MOST);
}

/* A kernel's launch on a device for CPUs holds what its other cores do not do until they are awake. */
static void test_waking(void) {
    clf_profile p = simple();
    clf_ps asleep = clf_cost_launch(&p, CLF_STEP_FUSED), library = clf_cost_launch(&p, CLF_STEP_LIBRARY);
    p.kind = CLF_DEV_CPU;
    p.cores = 4;
    p.second_core_ns = 1000;
    CU_ASSERT_EQUAL(clf_cost_launch(&p, CLF_STEP_FUSED), asleep + 750000);
    CU_ASSERT_EQUAL(clf_cost_launch(&p, CLF_STEP_LIBRARY), library);
    p.cores = 1;
    CU_ASSERT_EQUAL(clf_cost_launch(&p, CLF_STEP_FUSED), asleep);
    p.cores = 4;
    p.kind = CLF_DEV_HOST;
    CU_ASSERT_EQUAL(clf_cost_launch(&p, CLF_STEP_FUSED), asleep);
}

/* Four units of two groups of 100 cells each. */
static void test_occupancy(void) {
    clf_profile p = simple();
    p.cores = 4;
    p.kind = CLF_DEV_GPU;
    CU_ASSERT_EQUAL(clf_cost_occupancy(&p, 100, 1), 1);
    p.unit_groups = 2;
    p.group_cells = 100;
    CU_ASSERT_EQUAL(clf_cost_occupancy(&p, 800, 0), 1);
    CU_ASSERT_EQUAL(clf_cost_occupancy(&p, 1, 0), 0.125); /* a small grid: one group of eight */
    CU_ASSERT_EQUAL(clf_cost_occupancy(&p, 200, 0), 0.25);
    CU_ASSERT_EQUAL(clf_cost_occupancy(&p, 801, 0), 9.0 / 16); /* a second wave of one group */
    CU_ASSERT_EQUAL(clf_cost_occupancy(&p, 0, 0), 1);
    p.group_sum_bytes = 1000;
    CU_ASSERT_EQUAL(clf_cost_occupancy(&p, 800, 3), 1);
    p.unit_local_bytes = 4000;
    CU_ASSERT_EQUAL(clf_cost_occupancy(&p, 800, 2), 1);
    CU_ASSERT_EQUAL(clf_cost_occupancy(&p, 800, 3), 0.5); /* one group a unit, half of what it runs else */
    CU_ASSERT_EQUAL(clf_cost_occupancy(&p, 800, 9), 0.5); /* and never less than one */
    CU_ASSERT_EQUAL(clf_cost_at(1000, 1), 1000);
    CU_ASSERT_EQUAL(clf_cost_at(1001, 0.5), 2002);
    CU_ASSERT_EQUAL(clf_cost_at(CLF_PS_MOST, 0.5), CLF_PS_MOST);
    p.kind = CLF_DEV_CPU;
    CU_ASSERT_EQUAL(clf_cost_occupancy(&p, 1, 9), 1);
}

/* X and Y of 100 x 20, B of 20 x 3 and operators over them. */
static clf_gnode node(clf_op op, clf_dtype t, int64_t rows, int64_t cols, int nin, int32_t a, int32_t b) {
    clf_gnode x;
    memset(&x, 0, sizeof x);
    x.op = (uint16_t)op;
    x.dtype = (uint8_t)t;
    x.rank = 2;
    x.nin = (uint8_t)nin;
    x.in[0] = a;
    x.in[1] = b;
    clf_gnode_shape(&x, rows, cols);
    return x;
}

static void test_nodes(void) {
    clf_profile p = simple();
    clf_gnode all[12];
    clf_graph g = {.n = 12, .node = all};
    all[0] = node(CLF_OP_LEAF, CLF_F64, 100, 20, 0, 0, 0);
    all[1] = node(CLF_OP_LEAF, CLF_F64, 20, 3, 0, 0, 0);
    all[2] = node(CLF_OP_MUL, CLF_F64, 100, 20, 2, 0, 0);
    all[3] = node(CLF_OP_FOLD, CLF_F64, 1, 1, 1, 2, 0);
    all[3].attr[0] = CLF_FOLD_SUMSQ;
    all[4] = node(CLF_OP_MATMUL, CLF_F64, 100, 3, 2, 0, 1);
    all[5] = node(CLF_OP_TRANSPOSE, CLF_F64, 20, 100, 1, 0, 0);
    all[6] = node(CLF_OP_MATMUL, CLF_F64, 20, 3, 2, 5, 4);
    all[7] = node(CLF_OP_LT, CLF_U8, 100, 20, 2, 0, 2);
    all[8] = node(CLF_OP_PNORM, CLF_F64, 100, 20, 1, 0, 0);
    all[9] = node(CLF_OP_LEAF, CLF_F32, 100, 20, 0, 0, 0);
    all[9].zeros = CLF_ZEROS_STRUCTURAL;
    all[10] = node(CLF_OP_MUL, CLF_F32, 100, 20, 2, 9, 9);
    all[11] = node(CLF_OP_INDEX, CLF_F64, 10, 20, 1, 0, 0);
    CU_ASSERT_EQUAL(clf_cost_node(&p, &g, 2, 1), 2000 * 2);
    CU_ASSERT_EQUAL(clf_cost_node(&p, &g, 2, 0.01), 20 * 2);
    CU_ASSERT_EQUAL(clf_cost_node(&p, &g, 2, 0), 0);
    CU_ASSERT_EQUAL(clf_cost_node(&p, &g, 3, 1), 2000 * 2 * clf_folds[CLF_FOLD_SUMSQ].flops);
    CU_ASSERT_EQUAL(clf_cost_node(&p, &g, 4, 1), 100 * 24 * 3 * 4); /* whole vectors along the sums */
    CU_ASSERT_EQUAL(clf_cost_node(&p, &g, 6, 1), 100 * 24 * 3 * 4); /* along the left side's columns */
    CU_ASSERT_EQUAL(clf_cost_node(&p, &g, 6, 0.5), 100 * 24 * 3 * 2);
    CU_ASSERT_EQUAL(clf_cost_node(&p, &g, 7, 1), 2000 * 2); /* its operands are wide, its result is not */
    CU_ASSERT(clf_cost_node(&p, &g, 8, 1) > 2 * clf_cost_cells(&p, true, CLF_CLASS_EXP, 2000)); /* more work than an exp */
    CU_ASSERT_EQUAL(clf_cost_node(&p, &g, 10, 1), 2000 + 2 * 2000);                             /* each operand is asked for its zeros */
    CU_ASSERT_EQUAL(clf_cost_node(&p, &g, 11, 1), 0);
    CU_ASSERT_EQUAL(clf_cost_node(&p, &g, 0, 1), clf_cost_node(&p, &g, 0, 1));
    CU_ASSERT_EQUAL(clf_cost_alone(&p, &g, 4), clf_cost_library(&p, true, 100, 3, 20));
    CU_ASSERT_EQUAL(clf_cost_alone(&p, &g, 6), clf_cost_library(&p, true, 20, 3, 100));
    CU_ASSERT_EQUAL(clf_cost_alone(&p, &g, 5), 2 * 16000 * 2);
    CU_ASSERT(!clf_cost_gemm_takes(&p, &g, 4));
    p.gemm_flops_per_s[1] = 5e11; /* doubles, on the device */
    CU_ASSERT(clf_cost_gemm_takes(&p, &g, 4) && clf_cost_gemm_takes(&p, &g, 6) && !clf_cost_gemm_takes(&p, &g, 5));
    CU_ASSERT_EQUAL(clf_cost_alone(&p, &g, 4), clf_cost_gemm(&p, true, 100, 3, 20));
    CU_ASSERT_EQUAL(clf_cost_alone(&p, &g, 6), clf_cost_gemm(&p, true, 20, 3, 100));
    all[4].dtype = CLF_F32;
    CU_ASSERT(!clf_cost_gemm_takes(&p, &g, 4));
}

/* Sums over rows in tiles: of t(X) %*% X those that lie on the diagonal or above, in tiles of 24 columns. */
static void test_tiles(void) {
    clf_profile p = simple();
    clf_gnode all[5];
    clf_graph g = {.n = 5, .node = all};
    const clf_ps whole = 104ll * 10000 * 104;
    all[0] = node(CLF_OP_LEAF, CLF_F64, 10000, 100, 0, 0, 0);
    all[1] = node(CLF_OP_LEAF, CLF_F64, 10000, 100, 0, 0, 0);
    all[2] = node(CLF_OP_TRANSPOSE, CLF_F64, 100, 10000, 1, 0, 0);
    all[3] = node(CLF_OP_MATMUL, CLF_F64, 100, 100, 2, 2, 1);
    all[4] = node(CLF_OP_MATMUL, CLF_F64, 100, 100, 2, 2, 0);
    CU_ASSERT_EQUAL(clf_cost_node(&p, &g, 4, 1), clf_cost_node(&p, &g, 3, 1)); /* without such loops */
    p.tile_fma_per_s[1] = 1e12;
    CU_ASSERT_EQUAL(clf_cost_node(&p, &g, 3, 1), whole);
    CU_ASSERT_EQUAL(clf_cost_node(&p, &g, 4, 1), whole * 62 / 100);
    all[0].zeros = CLF_ZEROS_STRUCTURAL;
    CU_ASSERT_EQUAL(clf_cost_node(&p, &g, 4, 1), clf_cost_node(&p, &g, 3, 1));
}

/* The matrix is whichever side is no vector, as it lies: X of 100 x 20, v of 20, w of 100. */
static void test_vectors(void) {
    clf_profile p = simple();
    clf_gnode all[9];
    clf_graph g = {.n = 9, .node = all};
    p.gemm_flops_per_s[1] = 5e11; /* not for vectors */
    all[0] = node(CLF_OP_LEAF, CLF_F64, 100, 20, 0, 0, 0);
    all[1] = node(CLF_OP_LEAF, CLF_F64, 20, 1, 0, 0, 0);
    all[2] = node(CLF_OP_LEAF, CLF_F64, 100, 1, 0, 0, 0);
    all[3] = node(CLF_OP_TRANSPOSE, CLF_F64, 20, 100, 1, 0, 0);
    all[4] = node(CLF_OP_TRANSPOSE, CLF_F64, 1, 100, 1, 2, 0);
    all[5] = node(CLF_OP_MATMUL, CLF_F64, 100, 1, 2, 0, 1);
    all[6] = node(CLF_OP_MATMUL, CLF_F64, 20, 1, 2, 3, 2);
    all[7] = node(CLF_OP_MATMUL, CLF_F64, 1, 20, 2, 4, 0);
    all[8] = node(CLF_OP_MATMUL, CLF_F64, 1, 1, 2, 4, 2);
    CU_ASSERT_EQUAL(clf_cost_alone(&p, &g, 5), clf_cost_library_vector(&p, true, 100, 20, false, 0));       /* X v */
    CU_ASSERT_EQUAL(clf_cost_alone(&p, &g, 6), clf_cost_library_vector(&p, true, 100, 20, true, 0));        /* t(X) w */
    CU_ASSERT_EQUAL(clf_cost_alone(&p, &g, 7), clf_cost_library_vector(&p, true, 100, 20, true, 0));        /* t(w) X */
    CU_ASSERT_EQUAL(clf_cost_alone(&p, &g, 8), clf_cost_library_vector(&p, true, 1, 100, false, 0) + 1000); /* t(w) w, one row's 12 ns */
}

/* Dots of 100 rows beside 1000 ps of reading; of a row's pace, a quarter of them goes on while nothing is read. */
static void test_row_pace(void) {
    clf_profile p = simple();
    clf_gnode leaf = node(CLF_OP_LEAF, CLF_F64, 100, 20, 0, 0, 0);
    clf_graph g = {.n = 1, .node = &leaf};
    clf_term term[2] = {{CLF_TERM_READ, 0, 1000, 0, 0}, {CLF_TERM_DOTS, 0, 100, 0, CLF_PACE_ROWS}};
    clf_bill bill = {.n = 2, .term = term};
    p.row_alone = 0.25;
    clf_ps launch = clf_cost_launch(&p, bill.kind), read = clf_cost_read(&p, 1000, 0), dots = clf_cost_dots(&p, 100);
    CU_ASSERT_EQUAL(clf_term_look(&term[0], &g, &p), 0);
    CU_ASSERT_EQUAL(clf_term_look(&term[1], &g, &p), dots / 4);
    CU_ASSERT_EQUAL(clf_bill_pay(&bill, &g, &p), launch + dots / 4 + clf_cost_both(&p, read, dots - dots / 4));
    term[1].c = CLF_PACE_USUAL;
    CU_ASSERT_EQUAL(clf_bill_pay(&bill, &g, &p), launch + clf_cost_both(&p, read, dots));
    term[1].c = CLF_PACE_ROWS;
    p.row_alone = 0;
    CU_ASSERT_EQUAL(clf_bill_pay(&bill, &g, &p), launch + clf_cost_both(&p, read, dots));
}

int main(void) {
    static const test_case tests[] = {{"tiers go by an operand's own bytes", test_tiers},
                                      {"operators by hand", test_operators},
                                      {"moving and computing", test_both},
                                      {"rows of cells", test_row_pace},
                                      {"values kept", test_kept},
                                      {"waking", test_waking},
                                      {"occupancy", test_occupancy},
                                      {"nodes by hand", test_nodes},
                                      {"sums in tiles by hand", test_tiles},
                                      {"products with vectors by hand", test_vectors}};
    return run_suite("cost by hand", tests, sizeof tests / sizeof *tests);
}
