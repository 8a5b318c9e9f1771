/* SPDX-License-Identifier: Apache-2.0
 * entry.chunk: every shape of operator over stored entries, on the first OpenCL device, against the reference executor: the same bits
 * where no elementary function is in it. Shapes that no tile, block or vector divides, rows without entries at both ends, half of all
 * entries in one row, single rows and columns, no entries at all. */
#include <math.h>

#include "tests/support/net.h"
#include "tests/unit/entry_texts.h"

static void note(const struct plan *p, const shape *s, clf_dtype t, job_data data) {
    kernel_job j;
    make(&j, p, s, t, data);
    job_note(&j, jobs_skel("entry.chunk"));
    job_end(&j);
}

static void compare(kernel_job *j, const struct plan *p, const shape *s, clf_dtype t, int parts) {
    clf_err err = {0};
    clf_status st = job_kernel(j, jobs_skel("entry.chunk"), parts, &err);
    if (st != CLF_OK) fprintf(stderr, "%s, %s: %s\n", p->name, s->name, err.text);
    CU_ASSERT_EQUAL(st, CLF_OK);
    if (st != CLF_OK) return;
    CU_ASSERT_EQUAL(job_reference(j, &err), CLF_OK);
    for (int o = 0; o < j->c.nout; o++) {
        size_t wrong = job_wrong(j, o, p->ulp);
        if (wrong) fprintf(stderr, "%s, %s, %s: %zu cells of output %d differ\n", p->name, s->name, clf_dtype_name(t), wrong, o);
        CU_ASSERT_EQUAL(wrong, 0);
    }
}

static void run_one(const struct plan *p, const shape *s, clf_dtype t, int parts, job_data data) {
    kernel_job j;
    make(&j, p, s, t, data);
    compare(&j, p, s, t, parts);
    job_end(&j);
}

/* Plans whose names begin so: every second one, by turns; under sanitizers, where the reference executor takes long, every fourth. */
static void run_some(const char *names, const shape *s, clf_dtype t, int parts, job_data data) {
    static int turn;
    const int noted = net_turns(2, 2), every = net_turns(2, 4); /* noted as without sanitizers: the driver has that program */
    const struct plan *some[PLANS];
    int n = 0;
    if (!jobs.device) return;
    for (int p = 0; p < PLANS; p++)
        if (strncmp(plans[p].name, names, strlen(names)) == 0) some[n++] = &plans[p];
    CU_ASSERT_FATAL(n > 0);
    for (int k = net_first(turn, noted, n); k < n; k += noted) note(some[k], s, t, data);
    jobs_build();
    for (int k = net_first(turn, every, n); k < n; k += every) run_one(some[k], s, t, parts, data);
    turn++;
}
static void run_all(const shape *s, clf_dtype t, int parts, job_data data) { run_some("", s, t, parts, data); }

static void test_plain(void) { run_all(&(shape){"37 x 41", {{37, 41, 10, 3}}, 0.3, NULL}, CLF_F64, 1, JOB_FINITE); }
static void test_special(void) { run_all(&(shape){"61 x 53", {{61, 53, 10, 3}}, 0.3, NULL}, CLF_F64, 1, JOB_REAL); }
static void test_wide_side(void) { run_all(&(shape){"203 x 301", {{203, 301, 21, 10}}, 0.1, NULL}, CLF_F64, 3, JOB_FINITE); }
static void test_f32(void) { run_all(&(shape){"203 x 301", {{203, 301, 21, 10}}, 0.1, NULL}, CLF_F32, 2, JOB_FINITE); }
static void test_f32_narrow(void) { run_all(&(shape){"37 x 41", {{37, 41, 4, 2}}, 0.3, NULL}, CLF_F32, 1, JOB_FINITE); }
static void test_long_rows(void) { run_all(&(shape){"5 x 5000", {{5, 5000, 8, 6}}, 0.7, NULL}, CLF_F64, 1, JOB_FINITE); }
static void test_skew(void) { run_all(&(shape){"half in one row", {{300, 1700, 10, 9}}, 0, half_in_one}, CLF_F64, 2, JOB_FINITE); }
static void test_no_entries(void) { run_all(&(shape){"no entries", {{37, 41, 10, 9}}, 0, never}, CLF_F64, 1, JOB_FINITE); }
static void test_one_row(void) { run_all(&(shape){"one row", {{1, 1111, 10, 9}}, 0, always}, CLF_F64, 1, JOB_FINITE); }
static void test_one_column(void) { run_all(&(shape){"one column", {{1111, 1, 1, 1}}, 0, always}, CLF_F64, 1, JOB_FINITE); }
static void test_one_cell(void) { run_all(&(shape){"one cell", {{1, 1, 1, 1}}, 0, always}, CLF_F64, 1, JOB_FINITE); }
static void test_many_blocks(void) { run_all(&(shape){"9000 x 7", {{9000, 7, 3, 5}}, 0.5, NULL}, CLF_F64, 4, JOB_FINITE); }
static bool one_more(int64_t i, int64_t k, void *at) { return (void)at, k % 3 == 0 && k / 3 < i % 21; }
/* Eight at a time and what is left over: rows of every number of entries up to 20. */
static void test_left_over(void) { run_some("outer", &(shape){"63 x 70", {{63, 70, 20, 11}}, 0, one_more}, CLF_F64, 2, JOB_REAL); }
static void test_left_over_f32(void) { run_some("outer", &(shape){"63 x 70", {{63, 70, 37, 5}}, 0, one_more}, CLF_F32, 1, JOB_REAL); }
/* Texts for 32 wide registers and for fewer, whichever this device has. */
static void test_registers(void) {
    static const char *const registers[] = {"-DCLF_WIDE_REGISTERS=0", "-DCLF_WIDE_REGISTERS=1"};
    for (int i = 0; i < 2; i++) {
        jobs.options = registers[i];
        run_some("outer r", &(shape){"63 x 70", {{63, 70, 20, 11}}, 0, one_more}, CLF_F64, 2, JOB_REAL);
        run_some("outer r", &(shape){"63 x 70", {{63, 70, 37, 5}}, 0, one_more}, CLF_F32, 1, JOB_REAL);
        run_some("outer sum", &(shape){"63 x 70", {{63, 70, 20, 11}}, 0, one_more}, CLF_F64, 2, JOB_REAL);
        run_some("outer sum", &(shape){"63 x 70", {{63, 70, 12, 5}}, 0, one_more}, CLF_F32, 1, JOB_REAL);
        run_some("outer r", &(shape){"260 x 9000", {{260, 9000, 20, 37}}, 0.01, NULL}, CLF_F64, 1, JOB_REAL);
    }
    jobs.options = NULL;
}

static void set(void *cells, clf_dtype t, int64_t at, double v) {
    if (t == CLF_F64)
        ((double *)cells)[at] = v;
    else
        ((float *)cells)[at] = (float)v;
}

/* Stored zeros are passed over, whatever stands beside them: one row is infinite, and of its entries one in every few is 0, so that of
 * eight there is none, one or several. Their columns stay finite, those of the others do not. */
static void zeros_beside_infinity(const struct plan *p, clf_dtype t) {
    const shape s = {"9 x 100", {{9, 100, 1, 1}}, 0, always};
    kernel_job j;
    int finite = 0;
    make(&j, p, &s, t, JOB_FINITE);
    const clf_csr *m = j.in[0];
    for (int64_t i = 0; i < 9; i++) set(j.in[1], t, i, i == 4 ? INFINITY : (double)i + 0.5);
    for (int64_t e = 0; e < m->nnz; e++) set((void *)m->val, t, e, e / 100 == 4 && (e % 11 == 3 || e % 100 < 7) ? 0 : 1 + (double)(e % 5));
    compare(&j, p, &s, t, 1);
    for (int64_t k = 0; k < 100; k++) finite += isfinite(t == CLF_F64 ? ((double *)j.got[1])[k] : (double)((float *)j.got[1])[k]) != 0;
    CU_ASSERT(finite > 10 && finite < 30);
    job_end(&j);
}

/* The same of rows of a side: one in eleven is infinite, and meets a 0 in a single row, which stays finite. */
static void zeros_at_infinity(const struct plan *p, clf_dtype t) {
    enum { ROWS = 9, COLS = 100, CELLS = 5 };
    const shape s = {"9 x 100 by 5", {{ROWS, COLS, 1, CELLS}}, 0, always};
    kernel_job j;
    int finite[ROWS] = {0};
    make(&j, p, &s, t, JOB_FINITE);
    const clf_csr *m = j.in[0];
    for (int64_t k = 0; k < COLS * CELLS; k++) set(j.in[1], t, k, k / CELLS % 11 == 3 ? INFINITY : (double)(k % 7) + 0.5);
    for (int64_t e = 0; e < m->nnz; e++) set((void *)m->val, t, e, e / COLS == 4 && e % COLS % 11 == 3 ? 0 : 1 + (double)(e % 5));
    compare(&j, p, &s, t, 1);
    for (int64_t k = 0; k < ROWS * CELLS; k++)
        finite[k / CELLS] += isfinite(t == CLF_F64 ? ((double *)j.got[0])[k] : (double)((float *)j.got[0])[k]) != 0;
    for (int i = 0; i < ROWS; i++) CU_ASSERT_EQUAL(finite[i], i == 4 ? CELLS : 0);
    job_end(&j);
}

static void test_zeros(void) {
    static const char *const registers[] = {"-DCLF_WIDE_REGISTERS=0", "-DCLF_WIDE_REGISTERS=1"};
    static const clf_dtype types[] = {CLF_F64, CLF_F32};
    for (int k = 0; k < 4 && jobs.device; k++) {
        jobs.options = registers[k / 2];
        for (int p = 0; p < PLANS; p++) {
            if (strcmp(plans[p].name, "columns passed over") == 0) zeros_beside_infinity(&plans[p], types[k % 2]);
            if (strcmp(plans[p].name, "rows passed over") == 0) zeros_at_infinity(&plans[p], types[k % 2]);
        }
    }
    jobs.options = NULL;
}

/* Rows of a partial result of every width up to two vectors, and one more: as many lanes as they need. */
static void test_widths(void) {
    static const char *const names[] = {"2", "3", "4", "5", "8", "9", "16", "17"};
    for (int k = 0; k < 8; k++) {
        run_some("m", &(shape){names[k], {{40, 90, 3, atoi(names[k])}}, 0.4, NULL}, CLF_F64, 2, JOB_REAL);
        run_some("m", &(shape){names[k], {{40, 90, 3, atoi(names[k])}}, 0.4, NULL}, CLF_F32, 1, JOB_REAL);
    }
}

/* Where entries meet in lines, in a result that a core's own cache has room for (entry_meet.c). */
static void test_lines(void) {
    run_some("outer left", &(shape){"130 x 1000", {{130, 1000, 21, 6}}, 0.3, NULL}, CLF_F64, 3, JOB_REAL);
    run_some("m", &(shape){"130 x 1000", {{130, 1000, 6, 9}}, 0.3, NULL}, CLF_F64, 1, JOB_FINITE);
}

/* A side of more than 2 MiB, read cut by cut (entry_block.c). */
static void test_far_side(void) { run_some("outer", &(shape){"260 x 4300", {{260, 4300, 64, 3}}, 0.01, NULL}, CLF_F64, 3, JOB_FINITE); }
static void test_far_side_short(void) {
    run_some("outer l", &(shape){"260 x 6100", {{260, 6100, 45, 3}}, 0.01, NULL}, CLF_F64, 3, JOB_FINITE);
}
static void test_far_side_f32(void) {
    run_some("outer", &(shape){"260 x 4300", {{260, 4300, 125, 24}}, 0.01, NULL}, CLF_F32, 1, JOB_FINITE);
}
static void test_far_side_skew(void) {
    run_some("outer", &(shape){"half in one row of 300 x 4300", {{300, 4300, 61, 100}}, 0, half_in_one}, CLF_F64, 2, JOB_REAL);
}
/* The same where rows take products with it: blocks of rows, cut by cut (entry_cuts.c). Rows of one leaf, of several, of so many that
 * they are done in one go. */
static void test_cuts(void) { run_some("outer r", &(shape){"260 x 9000", {{260, 9000, 20, 40}}, 0.01, NULL}, CLF_F64, 3, JOB_FINITE); }
static void test_cuts_f32(void) {
    run_some("outer r", &(shape){"200 x 10000", {{200, 10000, 21, 68}}, 0.01, NULL}, CLF_F32, 1, JOB_FINITE);
}
static void test_cuts_leaves(void) { run_some("outer r", &(shape){"30 x 9000", {{30, 9000, 13, 45}}, 0.15, NULL}, CLF_F64, 2, JOB_FINITE); }
static void test_cuts_skew(void) {
    run_some("outer r", &(shape){"half in one row of 300 x 7000", {{300, 7000, 21, 50}}, 0, half_in_one}, CLF_F64, 2, JOB_REAL);
}
static void test_cuts_plain(void) { run_some("row epi", &(shape){"90 x 8000", {{90, 8000, 1, 50}}, 0.02, NULL}, CLF_F64, 1, JOB_FINITE); }

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        CU_TestFunc run;
    } tests[] = {{"small", test_plain},
                 {"NaN and Inf", test_special},
                 {"wide side", test_wide_side},
                 {"f32", test_f32},
                 {"f32, narrow side", test_f32_narrow},
                 {"long rows", test_long_rows},
                 {"half of all entries in one row", test_skew},
                 {"no entries", test_no_entries},
                 {"one row", test_one_row},
                 {"one column", test_one_column},
                 {"one cell", test_one_cell},
                 {"many blocks", test_many_blocks},
                 {"left over", test_left_over},
                 {"left over, f32", test_left_over_f32},
                 {"registers", test_registers},
                 {"zeros", test_zeros},
                 {"widths", test_widths},
                 {"lines", test_lines},
                 {"far side", test_far_side},
                 {"far side, short rows", test_far_side_short},
                 {"far side, f32", test_far_side_f32},
                 {"far side, half of all entries in one row", test_far_side_skew},
                 {"cuts", test_cuts},
                 {"cuts, f32", test_cuts_f32},
                 {"cuts, several leaves", test_cuts_leaves},
                 {"cuts, half of all entries in one row", test_cuts_skew},
                 {"cuts, sums of rows of a side", test_cuts_plain}};
    jobs_open(argc > 1 && strcmp(argv[1], "buffers") == 0);
    if (CU_initialize_registry() != CUE_SUCCESS) return 1;
    CU_pSuite s = CU_add_suite("entry.chunk", NULL, NULL);
    for (size_t k = 0; k < sizeof tests / sizeof *tests; k++) CU_add_test(s, tests[k].name, tests[k].run);
    CU_basic_set_mode(CU_BRM_NORMAL);
    CU_basic_run_tests();
    unsigned failed = CU_get_number_of_failures();
    CU_cleanup_registry();
    jobs_close();
    return failed != 0;
}
