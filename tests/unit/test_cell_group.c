/* SPDX-License-Identifier: Apache-2.0
 * cell.group: every walk, with the folds of every kind of state, on the first OpenCL device against the reference executor: same bits,
 * whatever the size of a group and the number of launches. */
#include <CUnit/Basic.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/kernel_job.h"
#include "tests/support/net.h"
#include "tests/support/skel_case.h"
#include "tests/support/tell_inputs.h"
#include "tests/unit/api_testing.h"
#include "tests/unit/cell_testing.h"

static const clf_skel *group;

/* ---- running ---- */

static bool noting; /* every test runs twice: first it notes its kernels, which are then built together */
static long launches, merges, wide;
static int64_t most_cells = INT64_MAX; /* an interpreter of kernels gets smaller shapes */
static bool beside;                    /* operands and results begin an element behind where a vector may */

static void run(kernel_job *j, int parts) {
    clf_err err = {0};
    clf_sched s;
    size_t bad = 0;
    job_memory(j, JOB_REAL, 1);
    clf_status st = beside ? skel_beside(j, group, parts, &err) : job_kernel(j, group, parts, &err);
    if (st == CLF_OK) st = job_reference(j, &err);
    for (int o = 0; st == CLF_OK && o < j->c.nout; o++) bad += job_wrong(j, o, 0);
    if (st != CLF_OK) fprintf(stderr, "%s\n", err.text);
    CU_ASSERT_EQUAL(st, CLF_OK);
    CU_ASSERT_EQUAL(bad, 0);
    launches++;
    CU_ASSERT_EQUAL_FATAL(group->sched(&j->c, &jobs.profile, (clf_grid){0, INT64_MAX}, &s, NULL), CLF_OK);
    merges += s.merge == CLF_MERGE_FOLLOWS;
    wide += s.width > 1;
}

static void check(kernel_job *j, int parts) {
    CU_ASSERT_EQUAL_FATAL(job_built(j, NULL), CLF_OK);
    if (j->c.naxes < 2 || j->c.axis[0].n.n * j->c.axis[1].n.n <= most_cells) {
        if (noting)
            job_note(j, group);
        else
            run(j, parts);
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

/* In groups of the size that GPUs get, or of another that a profile may name. */
static bool large;
static void in_groups_of(int items, void (*test)(void)) {
    clf_profile was = jobs.profile;
    jobs.profile.kind = CLF_DEV_GPU;
    jobs.profile.group_items[CLF_GROUP_CELLS] = items;
    large = true;
    in_two_passes(test);
    large = false;
    jobs.profile = was;
}

static void in_both_sizes(void (*test)(void)) {
    in_two_passes(test);
    in_groups_of(0, test);
}

/* Work-items that take so many cells of 4 bytes or fewer side by side, or of 8; on a device that works in the memory of its caller also
 * where no vector is aligned. GPUs that nobody has measured get fours of the one and twos of the other. */
static void side_by_side(int narrow, int wider, void (*test)(void)) {
    clf_profile was = jobs.profile;
    jobs.profile.item_cells[0] = narrow;
    jobs.profile.item_cells[1] = wider;
    large = true;
    in_two_passes(test);
    beside = most_cells == INT64_MAX;
    if (beside) test();
    beside = large = false;
    jobs.profile = was;
}

/* ---- folds ---- */

/* One of each shape of state, or all. */
static bool in_brief(int f) { return f == CLF_FOLD_SUM || f == CLF_FOLD_VAR || f == CLF_FOLD_ARGMIN || f == CLF_FOLD_ALL; }
static void folds_of(clf_dtype t, int64_t rows, int64_t cols, unsigned keep, int parts, bool brief) {
    kernel_job j;
    job_begin(&j, 42);
    plane p = axes(&j, rows, cols);
    int x = input(&j, &p, t, 3);
    for (int f = 0; f < CLF_NFOLDS; f++)
        if (!(brief || large) || in_brief(f) || (large && f == CLF_FOLD_MAX)) fold(&j, &p, (clf_fold_id)f, x, keep);
    check(&j, parts);
}

typedef struct shape {
    int64_t rows, cols;
} shape;

/* No cells, one, less than a leaf, some leaves, those of several groups, more groups than the merge has work-items. */
static void full_folds(void) {
    static const shape s[] = {{0, 5}, {1, 1}, {5, 13}, {7, 73}, {1, 513}, {37, 129}, {300, 201}, {700, 1201}};
    for (size_t k = 0; k < sizeof s / sizeof *s; k++) {
        folds_of(CLF_F64, s[k].rows, s[k].cols, 0, 1 + (int)k % 3, false);
        folds_of(CLF_F32, s[k].rows, s[k].cols, 0, 1, true);
    }
    for (int t = CLF_I32; t <= CLF_U8 && !large; t += CLF_U8 - CLF_I32) folds_of((clf_dtype)t, 61, 301, 0, 2, true);
}

/* Several rows a group, one, several groups a row. */
static void row_folds(void) {
    static const shape s[] = {{0, 5}, {3, 0}, {1, 7}, {37, 10}, {70, 129}, {5, 700}, {33, 1100}, {3, 40000}};
    for (size_t k = 0; k < sizeof s / sizeof *s; k++) {
        folds_of(CLF_F64, s[k].rows, s[k].cols, 1, 1 + (int)k % 2, true);
        folds_of(CLF_F32, s[k].rows, s[k].cols, 1, 1, true);
    }
    for (int t = CLF_I32; t <= CLF_U8 && !large; t += CLF_U8 - CLF_I32) folds_of((clf_dtype)t, 41, 19, 1, 2, true);
}

/* Lanes 1 to 16, blocks that share a group, columns that need several; few blocks, many. */
static void col_folds(void) {
    static const shape s[] = {{0, 5}, {5, 0}, {1, 3}, {100, 1}, {1000, 10}, {333, 7}, {65, 129}, {2100, 100}, {90, 700}, {20000, 3}};
    for (size_t k = 0; k < sizeof s / sizeof *s; k++) {
        folds_of(CLF_F64, s[k].rows, s[k].cols, 2, 1 + (int)k % 2, k % 4);
        folds_of(CLF_F32, s[k].rows, s[k].cols, 2, 1, true);
    }
    for (int t = CLF_I32; t <= CLF_U8 && !large; t += CLF_U8 - CLF_I32) folds_of((clf_dtype)t, 410, 9, 2, 2, true);
}

/* Trees of 16 and of 8 lanes in one walk: a work-item steps two lanes of the first by turns. */
static void two_types(void) {
    static const shape s[] = {{19, 21}, {190, 37}, {7, 1411}};
    for (size_t k = 0; k < sizeof s / sizeof *s; k++)
        for (unsigned keep = 0; keep < 3; keep++) {
            kernel_job j;
            job_begin(&j, 42);
            plane p = axes(&j, s[k].rows, s[k].cols);
            int x = input(&j, &p, CLF_F32, 3), y = clf_build_cast(&j.b, x, CLF_F64);
            fold(&j, &p, CLF_FOLD_SUM, x, keep);
            fold(&j, &p, CLF_FOLD_VAR, x, keep);
            fold(&j, &p, CLF_FOLD_SUM, y, keep);
            check(&j, 1);
        }
}

/* ---- cells ---- */

/* All walks at once, in parts. */
static void many_sinks(void) {
    static const shape s[] = {{130, 37}, {300, 200}, {131, 38}};
    for (size_t k = 0; k < sizeof s / sizeof *s; k++) {
        kernel_job j;
        job_begin(&j, 42);
        put_many_sinks(&j, k == 1 ? CLF_F64 : CLF_F32, s[k].rows, s[k].cols);
        check(&j, 3);
    }
}

/* Cells without folds: as they lie, and with rows and columns apart. */
static void maps(void) {
    static const shape s[] = {{0, 3}, {1, 1}, {37, 129}, {1, 5000}, {5000, 1}, {301, 3}, {41, 128}};
    for (size_t k = 0; k < sizeof s / sizeof *s; k++)
        for (int apart = 0; apart < 2; apart++) {
            kernel_job j;
            job_begin(&j, 42);
            plane p = axes(&j, s[k].rows, s[k].cols);
            int x = input(&j, &p, CLF_F64, 3);
            store(&j, &p, op(&j, CLF_OP_MUL, CLF_F64, x, apart ? input(&j, &p, CLF_F64, 2) : x, -1), 3);
            if (apart) store(&j, &p, input(&j, &p, CLF_F32, 1), 1);
            check(&j, 1 + apart);
        }
}

/* Without axes: a number in memory, and a parameter. */
static void no_axes(void) {
    kernel_job j;
    job_begin(&j, 42);
    int x = clf_build_load(&j.b, clf_build_access(&j.b, clf_build_in(&j.b, CLF_F64, 0, NULL), NULL));
    int y = op(&j, CLF_OP_MUL, CLF_F64, x, param(&j, CLF_F64), -1);
    clf_build_store(&j.b, clf_build_out(&j.b, CLF_F64, 0, NULL), y, 0);
    check(&j, 1);
}

static int looked_at(kernel_job *j, const plane *p, int64_t rows, int64_t cols, clf_at row, clf_at col) {
    int64_t dim[2] = {rows, cols};
    clf_access a = {.input = clf_build_in(&j->b, CLF_F64, 2, dim), .rank = 2, .at = {row, col}};
    (void)p;
    return clf_build_load(&j->b, clf_build_access_at(&j->b, &a));
}

/* X + t(Y), a window of a larger matrix, every second column, backwards. */
static void strides(void) {
    for (unsigned keep = 0; keep < 4; keep++) {
        kernel_job j;
        job_begin(&j, 42);
        plane p = axes(&j, 90, large ? 32 : 33);
        const clf_at i = {p.ax[0], -1, 1, 0}, k = {p.ax[1], -1, 1, 0};
        int x = input(&j, &p, CLF_F64, 3), y = looked_at(&j, &p, 33, 90, k, i);
        int w = looked_at(&j, &p, 100, 40, (clf_at){p.ax[0], -1, 1, 3}, (clf_at){p.ax[1], -1, 1, 5});
        int z = looked_at(&j, &p, 90, 80, (clf_at){p.ax[0], -1, -1, 89}, (clf_at){p.ax[1], -1, 2, 1});
        int v = op(&j, CLF_OP_ADD, CLF_F64, op(&j, CLF_OP_MUL, CLF_F64, x, y, -1), op(&j, CLF_OP_SUB, CLF_F64, w, z, -1), -1);
        if (keep < 3)
            fold(&j, &p, CLF_FOLD_SUM, v, keep);
        else
            store(&j, &p, v, 3);
        check(&j, 1);
    }
}

static void exact_ops(void) {
    for (int t = 0; t < CLF_NDTYPES; t++) {
        kernel_job j;
        job_begin(&j, 42);
        plane p = axes(&j, 17, 29);
        int a = input(&j, &p, (clf_dtype)t, 3), b = input(&j, &p, (clf_dtype)t, 3), c = param(&j, (clf_dtype)t);
        for (int o = 0; o < CLF_NOPS; o++)
            if (!(clf_ops[o].flags & F_ELEM) && (clf_ops[o].type != CLF_TYPE_FLOAT || clf_dtype_float((clf_dtype)t)))
                store(&j, &p, op(&j, (clf_op)o, (clf_dtype)t, a, b, c), 3);
        check(&j, 1);
    }
}

/* Random planes: some values of each other and of rows and columns, some sinks of each kind. */
static void random_plan(kernel_job *j, uint64_t seed) {
    int v[24], n = 0;
    job_begin(j, seed);
    int64_t rows = (int64_t)(job_uniform(j) * job_uniform(j) * 400), cols = 1 + (int64_t)(job_uniform(j) * job_uniform(j) * 900);
    plane p = axes(j, rows, cols);
    clf_dtype e = job_uniform(j) < 0.5 ? CLF_F32 : CLF_F64;
    for (int k = 0; k < 4; k++) v[n++] = input(j, &p, e, k == 0 ? 3 : (unsigned)(job_uniform(j) * 4));
    v[n++] = clf_build_cast(&j->b, position(j, (int)(job_uniform(j) * 2)), e);
    static const clf_op ops[] = {CLF_OP_ADD, CLF_OP_SUB, CLF_OP_MUL, CLF_OP_MAX, CLF_OP_LT};
    while (n < 12) {
        int a = v[(int)(job_uniform(j) * n)], b = v[(int)(job_uniform(j) * n)];
        v[n++] = op(j, ops[(int)(job_uniform(j) * 5)], e, a, b, -1);
    }
    for (int k = 0; k < 3; k++) {
        unsigned keep = (unsigned)(job_uniform(j) * 4);
        int f = (int)(job_uniform(j) * CLF_NFOLDS), x = v[(int)(job_uniform(j) * n)];
        if (keep == 3)
            store(j, &p, x, 3);
        else
            fold(j, &p, (clf_fold_id)f, x, keep);
    }
}

static void random_plans(void) {
    for (uint64_t s = 0; s < (uint64_t)net_count(8, 3000); s++) {
        kernel_job j;
        random_plan(&j, 77000 + s);
        check(&j, 1 + (int)(s % 3));
    }
}

/* The operators of the exam that have cells and folds of cells only. */
static void golden(void) {
    static const char *const name[] = {"argmax", "dictionary", "filter", "group_by", "matmul", "mvchain", "segments", "softmax", "stencil"};
    int fit = 0;
    for (size_t k = 0; k < sizeof name / sizeof *name; k++) {
        static char text[1 << 14];
        char path[512];
        kernel_job j;
        clf_err err = {0};
        snprintf(path, sizeof path, "%s/golden/cplan/%s.cplan", CLF_TESTS_DIR, name[k]);
        FILE *f = fopen(path, "rb");
        CU_ASSERT_PTR_NOT_NULL_FATAL(f);
        text[fread(text, 1, sizeof text - 1, f)] = 0;
        fclose(f);
        CU_ASSERT_EQUAL_FATAL(job_text(&j, 42, text, &err), CLF_OK);
        bool fits = group->fits(&j.c, &jobs.profile);
        fit += fits;
        if (fits && !noting) run(&j, 1);
        if (fits && noting) job_note(&j, group);
        job_end(&j);
    }
    CU_ASSERT(fit > 0);
}

/* ---- on the device ---- */

static void device_full_folds(void) {
    in_both_sizes(full_folds);
    side_by_side(2, 4, full_folds);
}
static void device_row_folds(void) {
    in_both_sizes(row_folds);
    in_groups_of(128, row_folds);
    side_by_side(2, 4, row_folds);
}
static void device_col_folds(void) {
    in_both_sizes(col_folds);
    side_by_side(2, 4, col_folds);
}
static void device_two_types(void) {
    in_both_sizes(two_types);
    side_by_side(2, 4, two_types);
}
static void device_many_sinks(void) {
    in_two_passes(many_sinks);
    side_by_side(2, 4, many_sinks);
}
static void device_maps(void) {
    in_two_passes(maps);
    side_by_side(4, 2, maps);
    side_by_side(2, 4, maps);
    in_two_passes(no_axes);
}
static void device_strides(void) {
    in_two_passes(strides);
    side_by_side(2, 4, strides);
}
static void device_exact_ops(void) { in_two_passes(exact_ops); }
static void device_golden(void) { in_two_passes(golden); }
static void device_random(void) {
    in_two_passes(random_plans);
    side_by_side(2, 4, random_plans);
}

static void test_figures(void) {
    net_figure("cell.group", "%ld kernels, %ld of them with a merge, %ld with cells side by side", launches, merges, wide);
    CU_ASSERT(launches > 80 && merges > 15 && wide > 80);
}

int main(int argc, char **argv) {
    static const test_case all[] = {{"full folds", device_full_folds},  {"row folds", device_row_folds},
                                    {"column folds", device_col_folds}, {"two types", device_two_types},
                                    {"many sinks", device_many_sinks},  {"maps", device_maps},
                                    {"strides", device_strides},        {"exact operators", device_exact_ops},
                                    {"golden", device_golden},          {"random", device_random},
                                    {"figures", test_figures}};
    bool small = argc > 1 && !strcmp(argv[1], "small");
    tell_inputs = small;
    bool device = jobs_open(small);
    group = jobs_skel("cell.group");
    if (small) most_cells = 2400;
    int failed = device ? run_suite("cell.group", all, sizeof all / sizeof *all - small) : 0;
    jobs_close();
    return failed;
}
