/* SPDX-License-Identifier: Apache-2.0
 * The emitter and cell.chunk: text substitution, kernel texts, and every operator and fold run on the first OpenCL device against the
 * reference executor: same bits, except for elementary functions, which get the error bounds of the OpenCL specification. */
#include <CUnit/Basic.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels-cl/emit.h"
#include "tests/support/kernel_job.h"
#include "tests/support/skel_case.h"
#include "tests/unit/cell_testing.h"
#include "tests/unit/stop_testing.h"

static const clf_skel *cell;

/* ---- running a cplan on the device and in the reference executor ---- */

/* Build, run in `parts`, run the reference. The job's outputs are filled. */
static void job_run(kernel_job *j, int parts, bool positive) {
    clf_err err = {0};
    job_memory(j, positive ? JOB_POSITIVE : JOB_REAL, 1);
    clf_status st = job_kernel(j, cell, parts, &err);
    if (st == CLF_OK) st = job_reference(j, &err);
    if (st != CLF_OK) fprintf(stderr, "%s\n", err.text);
    CU_ASSERT_EQUAL_FATAL(st, CLF_OK);
}

/* Every test runs twice: first it notes its kernels, which are then built together. */
static bool noting;

static void job_check(kernel_job *j, int parts) {
    CU_ASSERT_EQUAL_FATAL(job_built(j, NULL), CLF_OK);
    if (noting) {
        job_note(j, cell);
    } else {
        job_run(j, parts, false);
        for (int o = 0; o < j->c.nout; o++) CU_ASSERT_EQUAL(job_wrong(j, o, 0), 0);
    }
    job_end(j);
}

static void in_two_passes(void (*test)(void)) {
    noting = true;
    test();
    jobs_build();
    noting = false;
    test();
}

/* ---- without a device ---- */

static void test_substitution(void) {
    clf_str out;
    clf_emit e;
    const clf_emit_name names[] = {{"a", "v1"}, {"b", "v22"}, {"c", "v3"}, {"s0", "l0"}, {NULL, NULL}};
    clf_str_init(&out, &jobs.mem);
    clf_emit_init(&e, &out);
    clf_emit_text(&e, "E_SEL(E_LT(a, b), c, E_C(0.5))", CLF_F64, 8, names);
    CU_ASSERT_STRING_EQUAL(clf_str_c(&out), "f64x8_SEL(f64x8_LT(v1, v22), v3, f64x8_C(0.5))");
    clf_str_release(&out);
    clf_emit_text(&e, "s0 = E_HIGHEST; n = N_OFE(W_OFN(a))", CLF_F32, 4, names);
    CU_ASSERT_STRING_EQUAL(clf_str_c(&out), "l0 = f32x4_HIGHEST(); n = f32x4_TON(f64x4_OFN(v1))");
    clf_str_release(&out);
    clf_emit_prelude(&e, &out);
    CU_ASSERT_STRING_EQUAL(clf_str_c(&out), "CLF_ELEM_f32(4, 4)\nCLF_ELEM_f64(4, 4)\nCLF_ELEM_f64(8, 8)\n");
    clf_str_release(&out);
    clf_emit_define(&out, "X", "a\nb\n");
    CU_ASSERT_STRING_EQUAL(clf_str_c(&out), "#define X a \\\nb\n");
    clf_str_release(&out);
}

static void test_kernel_text(void) {
    clf_str out;
    clf_err err = {0};
    clf_str_init(&out, &jobs.mem);
    CU_ASSERT_EQUAL(clf_kernel_text("skel/cell.chunk.cl", "", &out, &err), CLF_OK);
    CU_ASSERT_PTR_NOT_NULL(strstr(clf_str_c(&out), "__kernel"));
    CU_ASSERT_EQUAL(clf_kernel_text("skel/none.cl", "/nonexistent", &out, &err), CLF_E_INTERNAL);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "skel/none.cl"));
    clf_str_release(&out);
}

/* sum(X * v) with a row vector, or over X alone. */
static void small_plan(kernel_job *j, int64_t rows, int64_t cols, bool vector) {
    job_begin(j, 42);
    plane p = axes(j, rows, cols);
    int x = input(j, &p, CLF_F64, 3);
    if (vector) x = op(j, CLF_OP_MUL, CLF_F64, x, input(j, &p, CLF_F64, 2), -1);
    fold(j, &p, CLF_FOLD_SUM, x, 0);
    CU_ASSERT_EQUAL_FATAL(clf_build_end(&j->b, &j->c, NULL), CLF_OK);
}

static void emit_whole(kernel_job *j, clf_sched *s, clf_source *src) {
    CU_ASSERT_EQUAL_FATAL(cell->sched(&j->c, &jobs.profile, (clf_grid){0, INT64_MAX}, s, NULL), CLF_OK);
    CU_ASSERT_EQUAL_FATAL(cell->emit(&j->c, s, "", &j->arena, src, NULL), CLF_OK);
}

static void test_sizes_are_arguments(void) {
    kernel_job a, b, v;
    clf_sched sa, sb, sv;
    clf_source ta, tb, tv;
    small_plan(&a, 1000, 10, false);
    small_plan(&b, 37, 4129, false);
    small_plan(&v, 1000, 200, true);
    emit_whole(&a, &sa, &ta);
    emit_whole(&b, &sb, &tb);
    emit_whole(&v, &sv, &tv);
    CU_ASSERT_STRING_EQUAL(ta.text, tb.text);
    CU_ASSERT_STRING_EQUAL(ta.entry, tb.entry);
    CU_ASSERT_EQUAL(sa.variant, sb.variant);
    CU_ASSERT_STRING_NOT_EQUAL(ta.entry, tv.entry);
    CU_ASSERT_TRUE(sa.flat && !sv.flat && sv.extent == 1000 && sa.extent == 10000);
    CU_ASSERT_PTR_NULL(strstr(ta.text, "#include"));
    job_end(&a);
    job_end(&b);
    job_end(&v);
}

static void test_facts(void) {
    kernel_job j;
    clf_sched s;
    clf_facts f;
    small_plan(&j, 1000, 200, true);
    CU_ASSERT_EQUAL_FATAL(cell->sched(&j.c, &jobs.profile, (clf_grid){0, INT64_MAX}, &s, NULL), CLF_OK);
    cell->facts(&j.c, &jobs.profile, &s, &f);
    CU_ASSERT_EQUAL(f.read_bytes, 1000 * 200 * 8 + 200 * 8);
    CU_ASSERT_EQUAL(f.write_bytes, 8);
    CU_ASSERT_EQUAL(f.cells[1][CLF_CLASS_ADD], 2 * 1000 * 200);
    CU_ASSERT_EQUAL(f.launches, 1);
    job_end(&j);
}

static void test_refusals(void) {
    kernel_job j;
    small_plan(&j, 100, 100, false);
    skel_refuses(&j, cell, 64);
    job_end(&j);
    job_begin(&j, 42); /* X' + Y */
    plane p = axes(&j, 100, 100);
    int64_t dim[2] = {100, 100};
    int x = clf_build_load(&j.b, clf_build_access(&j.b, clf_build_in(&j.b, CLF_F64, 2, dim), (int[]){p.ax[1], p.ax[0]}));
    store(&j, &p, op(&j, CLF_OP_ADD, CLF_F64, x, input(&j, &p, CLF_F64, 3), -1), 3);
    CU_ASSERT_EQUAL_FATAL(clf_build_end(&j.b, &j.c, NULL), CLF_OK);
    CU_ASSERT_FALSE(cell->fits(&j.c, &jobs.profile));
    job_end(&j);
}

static void test_no_memory(void) {
    kernel_job j;
    small_plan(&j, 100, 200, true);
    clf_sched s;
    CU_ASSERT_EQUAL_FATAL(cell->sched(&j.c, &jobs.profile, (clf_grid){0, INT64_MAX}, &s, NULL), CLF_OK);
    skel_no_memory(&j, &s);
    job_end(&j);
}

/* ---- on the device ---- */

static bool exact_for(int o, clf_dtype t) {
    return !(clf_ops[o].flags & F_ELEM) && (clf_ops[o].type != CLF_TYPE_FLOAT || clf_dtype_float(t));
}

static void test_exact_ops(void) {
    for (int t = 0; t < CLF_NDTYPES; t++) {
        kernel_job j;
        job_begin(&j, 42);
        plane p = axes(&j, 37, 129);
        int a = input(&j, &p, (clf_dtype)t, 3), b = input(&j, &p, (clf_dtype)t, 3), c = param(&j, (clf_dtype)t);
        for (int o = 0; o < CLF_NOPS; o++)
            if (exact_for(o, (clf_dtype)t)) store(&j, &p, op(&j, (clf_op)o, (clf_dtype)t, a, b, c), 3);
        job_check(&j, 1);
    }
}

static void test_casts(void) {
    kernel_job j;
    job_begin(&j, 42);
    plane p = axes(&j, 13, 17);
    for (int f = 0; f < CLF_NDTYPES; f++) {
        int x = input(&j, &p, (clf_dtype)f, 3);
        if (clf_dtype_float((clf_dtype)f)) { /* out of every integer's range here and there */
            int big = op(&j, CLF_OP_MUL, (clf_dtype)f, x, x, -1);
            for (int k = 0; k < 5; k++) big = op(&j, CLF_OP_MUL, (clf_dtype)f, big, big, -1);
            x = op(&j, CLF_OP_MUL, (clf_dtype)f, x, big, -1);
        }
        for (int t = 0; t < CLF_NDTYPES; t++)
            if (t != f) store(&j, &p, clf_build_cast(&j.b, x, (clf_dtype)t), 3);
    }
    job_check(&j, 1);
}

static double op_ulp(int o) {
    static const struct {
        int op;
        double ulp;
    } bound[] = {{CLF_OP_POW, 16}, {CLF_OP_ERF, 16}, {CLF_OP_PNORM, 20}, {CLF_OP_LOGB, 12}};
    for (size_t k = 0; k < sizeof bound / sizeof *bound; k++)
        if (bound[k].op == o) return bound[k].ulp;
    return 8;
}

/* One loop per function over whole vectors, a tile boundary and a short end; then with special values among the ordinary ones. */
static void elementary(clf_dtype t, bool positive) {
    kernel_job j;
    int ops[CLF_NOPS], n = 0;
    job_begin(&j, 42);
    plane p = axes(&j, 1, 733);
    int a = input(&j, &p, t, 3), b = input(&j, &p, t, 3);
    for (int o = 0; o < CLF_NOPS; o++)
        if (clf_ops[o].flags & F_ELEM) {
            ops[n++] = o;
            store(&j, &p, op(&j, (clf_op)o, t, a, b, -1), 3);
        }
    CU_ASSERT_EQUAL_FATAL(clf_build_end(&j.b, &j.c, NULL), CLF_OK);
    if (noting)
        job_note(&j, cell);
    else
        job_run(&j, 1, positive);
    for (int o = 0; o < n && !noting; o++) {
        size_t bad = job_wrong(&j, o, op_ulp(ops[o]));
        if (bad) fprintf(stderr, "  %s %s\n", clf_ops[ops[o]].id, clf_dtype_name(t));
        CU_ASSERT_EQUAL(bad, 0);
    }
    job_end(&j);
}

static void test_elementary(void) {
    for (int t = CLF_F32; t <= CLF_F64; t++)
        for (int positive = 0; positive <= 1; positive++) elementary((clf_dtype)t, positive);
}

/* Every fold, or (each kernel costs a compilation) one of each shape of state. */
static bool in_brief(int f) {
    return f == CLF_FOLD_SUM || f == CLF_FOLD_MAX || f == CLF_FOLD_VAR || f == CLF_FOLD_ARGMIN || f == CLF_FOLD_ALL;
}

static void folds_of(clf_dtype t, int64_t rows, int64_t cols, unsigned keep, int parts, bool brief) {
    kernel_job j;
    job_begin(&j, 42);
    plane p = axes(&j, rows, cols);
    int x = input(&j, &p, t, 3);
    for (int f = 0; f < CLF_NFOLDS; f++)
        if (!brief || in_brief(f)) fold(&j, &p, (clf_fold_id)f, x, keep);
    job_check(&j, parts);
}

static void test_full_folds(void) {
    static const int64_t shape[][2] = {{0, 5}, {1, 1}, {1, 7}, {5, 13}, {1, 513}, {1000, 10}, {37, 129}, {300, 201}};
    for (int t = 0; t < CLF_NDTYPES; t++)
        for (size_t s = 0; s < sizeof shape / sizeof *shape; s++)
            folds_of((clf_dtype)t, shape[s][0], shape[s][1], 0, 1 + (int)s % 3, t == CLF_I32 || t == CLF_I64);
}

static void test_row_folds(void) {
    static const clf_dtype type[] = {CLF_F32, CLF_F64, CLF_I32};
    for (size_t t = 0; t < sizeof type / sizeof *type; t++) folds_of(type[t], 37, 10, 1, 1, type[t] != CLF_F64);
    static const int64_t rows[] = {0, 1, 37};
    for (size_t s = 0; s < sizeof rows / sizeof *rows; s++) folds_of(CLF_F64, rows[s], 129 + 513 * (int64_t)s, 1, 1, true);
}

static void test_col_folds(void) {
    static const clf_dtype type[] = {CLF_F32, CLF_F64, CLF_U8};
    for (size_t t = 0; t < sizeof type / sizeof *type; t++) folds_of(type[t], 1000, 10, 2, 1 + (int)t % 2, type[t] != CLF_F64);
    static const int64_t rows[] = {0, 1, 65, 2100};
    for (size_t s = 0; s < sizeof rows / sizeof *rows; s++) folds_of(CLF_F64, rows[s], 129 + 71 * (int64_t)s, 2, 2, true);
    kernel_job j; /* rows of more than a page, of which a loop takes several at once */
    job_begin(&j, 42);
    plane p = axes(&j, 203, 603);
    int x = op(&j, CLF_OP_MUL, CLF_F64, input(&j, &p, CLF_F64, 3), input(&j, &p, CLF_F64, 3), -1);
    fold(&j, &p, CLF_FOLD_SUM, x, 2);
    fold(&j, &p, CLF_FOLD_MAX, x, 2);
    fold(&j, &p, CLF_FOLD_SUM, x, 1);
    job_check(&j, 1);
}

/* Folds with 16 and with 8 lanes in one loop of 16: the short end is masked for each by its own measure. */
static void test_lanes_of_two_types(void) {
    static const int64_t cols[] = {21, 37, 141};
    for (size_t s = 0; s < sizeof cols / sizeof *cols; s++) {
        kernel_job j;
        job_begin(&j, 42);
        plane p = axes(&j, 19, cols[s]);
        int x = op(&j, CLF_OP_ADD, CLF_F32, input(&j, &p, CLF_F32, 3), param(&j, CLF_F32), -1); /* so that padding is not 0 */
        int y = clf_build_cast(&j.b, x, CLF_F64);
        fold(&j, &p, CLF_FOLD_SUM, x, 1);
        fold(&j, &p, CLF_FOLD_SUM, y, 1);
        fold(&j, &p, CLF_FOLD_MAX, y, 1);
        job_check(&j, 1);
    }
}

/* Every kind of sink and operand at once, in parts. */
static void test_many_sinks(void) {
    static const int64_t shape[][2] = {{130, 37}, {700, 200}};
    for (size_t s = 0; s < sizeof shape / sizeof *shape; s++) {
        kernel_job j;
        job_begin(&j, 42);
        put_many_sinks(&j, s ? CLF_F64 : CLF_F32, shape[s][0], shape[s][1]);
        job_check(&j, 3);
    }
}

/* colSums of a normalised matrix, and a constant offset into a larger one. */
static void test_groups_and_windows(void) {
    for (int t = CLF_F32; t <= CLF_F64; t++) {
        kernel_job j;
        clf_dtype e = (clf_dtype)t;
        job_begin(&j, 42);
        plane p = axes(&j, 1111, 12);
        int y = op(&j, CLF_OP_SUB, e, input(&j, &p, e, 3), input(&j, &p, e, 2), -1);
        fold(&j, &p, CLF_FOLD_SUM, y, 2);
        fold(&j, &p, CLF_FOLD_MAX, y, 2);
        fold(&j, &p, CLF_FOLD_SUM, y, 0);
        store(&j, &p, y, 3);
        job_check(&j, 2);
    }
    kernel_job j;
    job_begin(&j, 42);
    plane p = axes(&j, 90, 33);
    int64_t dim[2] = {100, 40};
    clf_access a = {.input = clf_build_in(&j.b, CLF_F64, 2, dim), .rank = 2};
    a.at[0] = (clf_at){.axis = p.ax[0], .value = -1, .mul = 1, .add = 3};
    a.at[1] = (clf_at){.axis = p.ax[1], .value = -1, .mul = 1, .add = 5};
    int w = clf_build_load(&j.b, clf_build_access_at(&j.b, &a));
    store(&j, &p, op(&j, CLF_OP_ADD, CLF_F64, w, input(&j, &p, CLF_F64, 3), -1), 3);
    fold(&j, &p, CLF_FOLD_SUM, w, 1);
    job_check(&j, 1);
}

static void device_exact_ops(void) { in_two_passes(test_exact_ops); }
static void device_casts(void) { in_two_passes(test_casts); }
static void device_elementary(void) { in_two_passes(test_elementary); }
static void device_full_folds(void) { in_two_passes(test_full_folds); }
static void device_row_folds(void) { in_two_passes(test_row_folds); }
static void device_col_folds(void) { in_two_passes(test_col_folds); }
static void device_lanes_of_two_types(void) { in_two_passes(test_lanes_of_two_types); }
static void device_many_sinks(void) { in_two_passes(test_many_sinks); }
static void device_groups_and_windows(void) { in_two_passes(test_groups_and_windows); }

static void add_device_tests(CU_pSuite s) {
    CU_add_test(s, "exact operators, all types", device_exact_ops);
    CU_add_test(s, "casts", device_casts);
    CU_add_test(s, "elementary functions", device_elementary);
    CU_add_test(s, "full folds", device_full_folds);
    CU_add_test(s, "row folds", device_row_folds);
    CU_add_test(s, "column folds", device_col_folds);
    CU_add_test(s, "lanes of two types", device_lanes_of_two_types);
    CU_add_test(s, "many sinks", device_many_sinks);
    CU_add_test(s, "groups and windows", device_groups_and_windows);
}

int main(void) {
    bool device = jobs_open(false);
    cell = jobs_skel("cell.chunk");
    CU_initialize_registry();
    CU_pSuite s = add_suite("emit");
    CU_add_test(s, "substitution", test_substitution);
    CU_add_test(s, "kernel texts", test_kernel_text);
    CU_add_test(s, "sizes are arguments", test_sizes_are_arguments);
    CU_add_test(s, "facts", test_facts);
    CU_add_test(s, "refusals", test_refusals);
    CU_add_test(s, "no memory", test_no_memory);
    if (device) add_device_tests(s);
    CU_basic_set_mode(CU_BRM_VERBOSE);
    CU_basic_run_tests();
    unsigned failures = CU_get_number_of_failures();
    CU_cleanup_registry();
    jobs_close();
    return failures > 0;
}
