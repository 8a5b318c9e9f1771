/* SPDX-License-Identifier: Apache-2.0
 * The terms of the cost model: integers that are the same on every run, never falling as sizes grow, adding up from above, saturating,
 * 0 where nothing is done. Figures of a profile that are missing stay what they were; those that are there survive their text. */
#include <CUnit/Basic.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "planner/cost.h"
#include "planner/plan.h"
#include "tests/unit/api_testing.h"

static clf_mem mem;

static clf_profile simple(void) {
    clf_profile p;
    clf_profile_assume(&p, CLF_DEV_HOST, 2);
    for (int t = 0; t < CLF_PROFILE_TIERS; t++) {
        p.tier_bytes[t] = t < 3 ? 1e4 * (t + 1) : 1e18;
        p.read_bytes_per_s[t] = 1e12 / (t + 1); /* t + 1 picoseconds a byte */
        p.gather_ns[t] = t + 1;
    }
    for (int c = 0; c < CLF_NCLASSES; c++) {
        p.cells_per_s[0][c] = 1e12;
        p.cells_per_s[1][c] = 5e11;
    }
    p.write_cost = 3;
    p.fma_per_s[0] = 1e12;
    p.fma_per_s[1] = 2.5e11;
    p.library_flops_per_s[0] = 1e12;
    p.library_flops_per_s[1] = 5e11;
    p.library_half[0] = 4;
    p.library_half[1] = 8;
    p.library_row_ns[0] = 11;
    p.library_row_ns[1] = 12;
    p.gemm_half_cells = 1000;
    p.gemm_ns = 13;
    p.dot_ns = 6;
    p.side_ns = 7;
    p.pick_ns = 8;
    p.row_ns = 5;
    p.entry_ns = 2;
    p.locate_ns = 3;
    p.gap_ns = 4;
    p.overlap = 0.75;
    p.convert_cells_per_s = 1e12;
    p.convert_entries_per_s = 1e11;
    p.callout_bytes_per_s = 5e11;
    p.launch_async_ns = 7;
    p.library_ns = 8;
    p.callout_ns = 9;
    return p;
}

/* Each term with its sizes scaled by one number, so that all can be driven alike. */
typedef clf_ps (*term)(const clf_profile *p, double x);
static clf_ps t_read(const clf_profile *p, double x) { return clf_cost_read(p, x, 0); }
static clf_ps t_write(const clf_profile *p, double x) { return clf_cost_write(p, x, 0); }
static clf_ps t_gather_n(const clf_profile *p, double x) { return clf_cost_gather(p, x, 8, 1e5); }
static clf_ps t_gather_granule(const clf_profile *p, double x) { return clf_cost_gather(p, 10, x, 1e5); }
static clf_ps t_gather_set(const clf_profile *p, double x) { return clf_cost_gather(p, 10, 80, x); }
static clf_ps t_look_n(const clf_profile *p, double x) { return clf_cost_look(p, x, 1e5); }
static clf_ps t_look_set(const clf_profile *p, double x) { return clf_cost_look(p, 10, x); }
static clf_ps t_cells(const clf_profile *p, double x) { return clf_cost_cells(p, true, CLF_CLASS_EXP, x); }
static clf_ps t_fma(const clf_profile *p, double x) { return clf_cost_fma(p, false, x); }
static clf_ps t_rows(const clf_profile *p, double x) { return clf_cost_rows(p, x); }
static clf_ps t_dots(const clf_profile *p, double x) { return clf_cost_dots(p, x); }
static clf_ps t_entries(const clf_profile *p, double x) { return clf_cost_entries(p, x); }
static clf_ps t_entry_rows(const clf_profile *p, double x) { return clf_cost_entry_rows(p, x); }
static clf_ps t_locate(const clf_profile *p, double x) { return clf_cost_locate(p, x); }
static clf_ps t_gaps(const clf_profile *p, double x) { return clf_cost_gaps(p, x); }
static clf_ps t_library(const clf_profile *p, double x) { return clf_cost_library(p, true, x, 30, 20); }
static clf_ps t_library_rows(const clf_profile *p, double x) { return clf_cost_library_vector(p, true, x, 30, true); }
static clf_ps t_gemm(const clf_profile *p, double x) { return clf_cost_gemm(p, true, x, 30, 20); }
static clf_ps t_convert(const clf_profile *p, double x) { return clf_cost_convert(p, CLF_CONVERT_CSR, x, 10, x, 8); }
static clf_ps t_twin(const clf_profile *p, double x) { return clf_cost_convert(p, CLF_CONVERT_TWIN, 10, 10, x, 8); }
static clf_ps t_transfer(const clf_profile *p, double x) { return clf_cost_transfer(p, x); }
static const term terms[] = {t_read, t_write,    t_gather_n,   t_gather_granule, t_gather_set, t_cells,   t_fma,
                             t_rows, t_dots,     t_entries,    t_locate,         t_gaps,       t_library, t_convert,
                             t_twin, t_transfer, t_entry_rows, t_library_rows,   t_gemm,       t_look_n,  t_look_set};
enum { TERMS = sizeof terms / sizeof *terms };

static void all_profiles(void (*with)(const clf_profile *p)) {
    clf_profile p = simple();
    with(&p);
    for (int kind = CLF_DEV_HOST; kind <= CLF_DEV_GPU; kind++)
        for (int cores = 1; cores <= 64; cores *= 8) {
            clf_profile_assume(&p, (clf_device_kind)kind, cores);
            with(&p);
        }
    p = simple(); /* measured by accident: a larger set read faster, and was looked up faster */
    p.read_bytes_per_s[2] = 9e12;
    p.gather_ns[3] = 0.5;
    with(&p);
}

static void monotone(const clf_profile *p) {
    for (int i = 0; i < TERMS; i++) {
        clf_ps last = 0;
        for (double x = 0.25; x < 1e30; x *= 1.37) {
            clf_ps ps = terms[i](p, x);
            if (ps < last) printf("\n  term %d falls at %g", i, x);
            CU_ASSERT(ps >= last && ps <= CLF_PS_MOST);
            last = ps;
        }
        bool stays = terms[i] == t_gather_set || terms[i] == t_look_set || (terms[i] == t_look_n && p->kind == CLF_DEV_GPU);
        CU_ASSERT(last == CLF_PS_MOST || stays || (terms[i] == t_transfer && p->zero_copy));
    }
}
static void test_monotone(void) { all_profiles(monotone); }

/* Whole, and up: parts never cost less than the whole at the same tier. */
static void adds(const clf_profile *p) {
    for (int i = 0; i < TERMS; i++) {
        if (terms[i] == t_gather_set || terms[i] == t_gather_granule || terms[i] == t_look_set) continue;
        for (double x = 1; x < 1e12; x *= 3.1)
            for (double part = x / 7; part < x; part += x / 7) {
                bool same_tier = p->tier_bytes[2] < part && p->tier_bytes[2] < x - part;
                if ((terms[i] == t_read || terms[i] == t_write || terms[i] == t_library) && !same_tier) continue;
                clf_ps whole = terms[i](p, x); /* beyond 2^53 a double's last digit is more than a picosecond */
                CU_ASSERT(terms[i](p, part) + terms[i](p, x - part) + (whole >> 50) + 1 >= whole);
            }
    }
}
static void test_additive(void) {
    all_profiles(adds);
    clf_profile p = simple();
    CU_ASSERT_EQUAL(clf_cost_fma(&p, false, 0.1), 1); /* anything at all is a picosecond */
    CU_ASSERT_EQUAL(clf_cost_fma(&p, false, 10.5), 11);
    CU_ASSERT_EQUAL(clf_cost_read(&p, 1000.25, 0), 1001);
}

static void nothing(const clf_profile *p) {
    for (int i = 0; i < TERMS; i++)
        if (terms[i] != t_gather_granule && terms[i] != t_gather_set && terms[i] != t_look_set && terms[i] != t_twin)
            CU_ASSERT_EQUAL(terms[i](p, 0), 0);
    CU_ASSERT_EQUAL(clf_cost_library(p, true, 5, 0, 5), 0);
    CU_ASSERT_EQUAL(clf_cost_library(p, true, 5, 5, 0), 0);
    CU_ASSERT_EQUAL(clf_cost_library_vector(p, true, 5, 0, false), 0);
    CU_ASSERT_EQUAL(clf_cost_convert(p, CLF_CONVERT_DENSE, 0, 1e9, 0, 8), 0);
    CU_ASSERT_EQUAL(clf_cost_gather(p, 0, 1e9, 1e9), 0);
}
static void test_zero(void) { all_profiles(nothing); }

static void huge(const clf_profile *p) {
    const double sizes[] = {1e18, 1e30, 1e300, INFINITY, (double)NAN};
    for (int i = 0; i < TERMS; i++)
        for (int k = 0; k < 5; k++) {
            clf_ps ps = terms[i](p, sizes[k]);
            CU_ASSERT(ps >= 0 && ps <= CLF_PS_MOST);
        }
    CU_ASSERT_EQUAL(clf_cost_library(p, true, 1e18, 1e18, 1e18), CLF_PS_MOST);
    CU_ASSERT_EQUAL(clf_ps_add(CLF_PS_MOST, CLF_PS_MOST), CLF_PS_MOST);
    CU_ASSERT_EQUAL(clf_ps_add(CLF_PS_MOST, 0), CLF_PS_MOST);
    CU_ASSERT_EQUAL(clf_ps_add(CLF_PS_MOST - 1, 1), CLF_PS_MOST);
}
static void test_saturates(void) {
    all_profiles(huge);
    clf_profile none;
    memset(&none, 0, sizeof none); /* no rates at all: whatever is done is never chosen */
    CU_ASSERT_EQUAL(clf_cost_read(&none, 1, 0), CLF_PS_MOST);
    CU_ASSERT_EQUAL(clf_cost_fma(&none, true, 1), CLF_PS_MOST);
    CU_ASSERT_EQUAL(clf_cost_transfer(&none, 1), CLF_PS_MOST);
    CU_ASSERT_EQUAL(clf_cost_library(&none, false, 1, 1, 1), CLF_PS_MOST);
    CU_ASSERT_EQUAL(clf_cost_read(&none, 0, 0), 0);
}

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
    CU_ASSERT_EQUAL(clf_cost_gather(&p, 10, 8, 20000), 25000); /* a quarter each */
    CU_ASSERT_EQUAL(clf_cost_gather(&p, 10, 64, 20000), 25000);
    CU_ASSERT_EQUAL(clf_cost_gather(&p, 10, 164, 20000), 25000 + 10 * 100 * 2);
    CU_ASSERT_EQUAL(clf_cost_look(&p, 10, 20000), 25000);  /* what follows may wait */
    CU_ASSERT_EQUAL(clf_cost_read(&p, 1000, 30000), 3000); /* among what fills the third tier */
    CU_ASSERT_EQUAL(clf_cost_read(&p, 30001, 1000), 120004);
    CU_ASSERT_EQUAL(clf_cost_write(&p, 1000, 10001), 6000);
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
    CU_ASSERT_EQUAL(clf_cost_library_vector(&p, false, 8, 16, false), 2 * 8 * 16 + 8 * 11000);       /* every row is begun */
    CU_ASSERT_EQUAL(clf_cost_library_vector(&p, true, 8, 16, true), 4 * 8 * 16 + 8 * 12000);
    CU_ASSERT_EQUAL(clf_cost_library_vector(&p, true, 8, 1, false), 4 * 8 + 8 * 11000);
    CU_ASSERT_EQUAL(clf_cost_library_vector(&p, true, 8, 1, true), 4 * 8 + 12000); /* two vectors */
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
    CU_ASSERT_EQUAL(clf_cost_alone(&p, &g, 5), clf_cost_library_vector(&p, true, 100, 20, false));       /* X v */
    CU_ASSERT_EQUAL(clf_cost_alone(&p, &g, 6), clf_cost_library_vector(&p, true, 100, 20, true));        /* t(X) w */
    CU_ASSERT_EQUAL(clf_cost_alone(&p, &g, 7), clf_cost_library_vector(&p, true, 100, 20, true));        /* t(w) X */
    CU_ASSERT_EQUAL(clf_cost_alone(&p, &g, 8), clf_cost_library_vector(&p, true, 1, 100, false) + 1000); /* t(w) w, one row's 12 ns */
}

/* The numbers themselves, of an assumed profile: they may change with the model, never with the run or the build. */
static void test_exact(void) {
    clf_profile p;
    clf_profile_assume(&p, CLF_DEV_CPU, 3);
    p.read_bytes_per_s[3] = 1e10 / 3;
    p.cells_per_s[1][CLF_CLASS_POW] = 1e8 / 7;
    CU_ASSERT_EQUAL(clf_cost_read(&p, 12345679, 0), INT64_C(3703703700));
    CU_ASSERT_EQUAL(clf_cost_cells(&p, true, CLF_CLASS_POW, 1001), INT64_C(70070000));
    for (int i = 0; i < TERMS; i++)
        for (double x = 1; x < 1e15; x *= 9.7) CU_ASSERT_EQUAL(terms[i](&p, x), terms[i](&p, x));
}

/* A profile of an earlier version names none of the later figures. */
static void test_old_profile(void) {
    clf_profile p, before;
    clf_profile_assume(&p, CLF_DEV_CPU, 4);
    before = p;
    CU_ASSERT_EQUAL(clf_profile_parse(&p, "cores 4\nwrite_cost 2\n", 21, NULL), CLF_OK);
    CU_ASSERT_EQUAL(p.write_cost, 2);
    CU_ASSERT_EQUAL(p.fma_per_s[1], before.fma_per_s[1]);
    CU_ASSERT_EQUAL(p.gather_ns[3], before.gather_ns[3]);
    CU_ASSERT_EQUAL(clf_cost_library(&p, true, 9, 9, 9), clf_cost_library(&before, true, 9, 9, 9));
}

static void test_bad_figures(void) {
    static const char *const bad[] = {"fma_per_s 0 1\n",
                                      "fma_per_s 1 0\n",
                                      "fma_per_s 1\n",
                                      "fma_per_s 1 2 3\n",
                                      "library_flops_per_s 0 1\n",
                                      "convert_cells_per_s 0\n",
                                      "callout_bytes_per_s 0\n",
                                      "convert_entries_per_s 0\n",
                                      "gather_ns 1 2 3\n",
                                      "gather_ns 1 2 3 -4\n",
                                      "row_ns nan\n",
                                      "entry_ns inf\n",
                                      "library_half x 1\n",
                                      "library_half 1\n",
                                      "overlap 1.5\n"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        clf_profile p = simple();
        clf_err err = {CLF_OK, ""};
        CU_ASSERT_EQUAL(clf_profile_parse(&p, bad[i], strlen(bad[i]), &err), CLF_E_FORMAT);
        CU_ASSERT(err.text[0] != 0);
        CU_ASSERT_EQUAL(p.fma_per_s[1], simple().fma_per_s[1]);
    }
}

static void same_figures(const clf_profile *a, const clf_profile *b) {
    for (int i = 0; i < TERMS; i++)
        for (double x = 1; x < 1e12; x *= 13) CU_ASSERT_EQUAL(terms[i](a, x), terms[i](b, x));
    for (int k = 0; k < 6; k++) CU_ASSERT_EQUAL(clf_cost_launch(a, k), clf_cost_launch(b, k));
}

static void round_trip(const clf_profile *p) {
    clf_profile back;
    clf_str s;
    clf_str_init(&s, &mem);
    clf_profile_print(p, &s);
    memset(&back, 0, sizeof back);
    CU_ASSERT_EQUAL(clf_profile_parse(&back, clf_str_c(&s), s.len, NULL), CLF_OK);
    same_figures(p, &back);
    CU_ASSERT_EQUAL(memcmp(p->gather_ns, back.gather_ns, sizeof back.gather_ns), 0);
    clf_str_release(&s);
}
static void test_text(void) { all_profiles(round_trip); }

/* Those that planner tests are pinned to: whole, so that no assumed figure can change them. */
static void test_checked_in(void) {
    static const char *const names[] = {"host", "pocl", "fast-gpu-slow-link", "slow-gpu", "equal-a", "equal-b"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[512], text[8192];
        snprintf(path, sizeof path, "%s/golden/profiles/%s.txt", CLF_TESTS_DIR, names[i]);
        FILE *f = fopen(path, "rb");
        CU_ASSERT_PTR_NOT_NULL_FATAL(f);
        size_t n = fread(text, 1, sizeof text, f);
        fclose(f);
        clf_profile none, p;
        clf_err err = {CLF_OK, ""};
        memset(&none, 0, sizeof none);
        p = none;
        CU_ASSERT_EQUAL(clf_profile_parse(&p, text, n, &err), CLF_OK);
        if (err.text[0]) printf("\n  %s: %s", names[i], err.text);
        CU_ASSERT_EQUAL(p.assumed, 0);
        clf_str s;
        clf_str_init(&s, &mem);
        clf_profile_print(&p, &s);
        int lines = 0, keys = 0; /* every key the text form has is in the file */
        for (size_t k = 0; k < s.len; k++) lines += clf_str_c(&s)[k] == '\n';
        for (size_t k = 0; k < n; k++) keys += (text[k] == '\n') - (text[k] == '#');
        CU_ASSERT_EQUAL(keys, lines);
        clf_str_release(&s);
        monotone(&p);
        adds(&p);
        CU_ASSERT(p.library_flops_per_s[1] > p.fma_per_s[1]);
    }
}

int main(void) {
    clf_mem_init(&mem, NULL, NULL);
    const test_case tests[] = {{"terms never fall", test_monotone},
                               {"terms add up from above", test_additive},
                               {"nothing costs nothing", test_zero},
                               {"huge sizes saturate", test_saturates},
                               {"tiers go by an operand's own bytes", test_tiers},
                               {"operators by hand", test_operators},
                               {"moving and computing", test_both},
                               {"values kept", test_kept},
                               {"waking", test_waking},
                               {"occupancy", test_occupancy},
                               {"nodes by hand", test_nodes},
                               {"products with vectors by hand", test_vectors},
                               {"the same integers everywhere", test_exact},
                               {"a profile without later figures", test_old_profile},
                               {"figures that make no sense", test_bad_figures},
                               {"figures survive their text", test_text},
                               {"checked-in profiles", test_checked_in}};
    return run_suite("cost", tests, sizeof tests / sizeof *tests);
}
