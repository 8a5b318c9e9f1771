/* SPDX-License-Identifier: Apache-2.0
 * cell.group without a device: what its schedules, texts and facts take from the cplan and from the profile, and what it refuses. */
#include <CUnit/Basic.h>
#include <string.h>

#include "tests/support/kernel_job.h"
#include "tests/support/skel_case.h"
#include "tests/unit/api_testing.h"
#include "tests/unit/cell_testing.h"

static const clf_skel *group;

static void planned(kernel_job *j, int64_t rows, int64_t cols, unsigned keep, clf_sched *s) {
    job_begin(j, 42);
    plane p = axes(j, rows, cols);
    int x = op(j, CLF_OP_MUL, CLF_F64, input(j, &p, CLF_F64, 3), input(j, &p, CLF_F64, keep ? 3 : 2), -1);
    fold(j, &p, CLF_FOLD_SUM, x, keep);
    skel_planned(j, group, s);
}

static void test_sizes_are_arguments(void) {
    kernel_job a, b;
    clf_sched sa, sb;
    planned(&a, 1000, 30, 1, &sa);
    planned(&b, 37, 4130, 1, &sb); /* as even: rows that are runs of two cells or not are loaded otherwise */
    skel_same_text(&a, &sa, &b, &sb);
    CU_ASSERT_TRUE(sa.index_bits == 32 && sa.local >= 64 && sa.global % sa.local == 0);
    job_end(&a);
    job_end(&b);
    planned(&a, 100000, 100000, 0, &sa);
    CU_ASSERT_EQUAL(sa.index_bits, 64);
    CU_ASSERT_EQUAL(sa.merge, CLF_MERGE_FOLLOWS);
    job_end(&a);
}

/* The size of a group is the profile's; a smaller one where local memory (12 states for each work-item) is scarce; none at last. */
static void test_group_size(void) {
    static const struct {
        double items, local_bytes;
        size_t want;
    } of[] = {{0, 0, 256},    {128, 0, 128},   {64, 0, 64},     {0, 24576, 256}, {0, 24575, 128},
              {0, 12287, 64}, {64, 24576, 64}, {256, 6144, 64}, {0, 6143, 0},    {128, 6143, 0}};
    kernel_job j;
    clf_sched s;
    clf_err err = {0};
    planned(&j, 1000, 30, 1, &s);
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        clf_profile gpu = jobs.profile;
        gpu.kind = CLF_DEV_GPU;
        gpu.group_items[CLF_GROUP_CELLS] = of[k].items;
        gpu.unit_local_bytes = of[k].local_bytes;
        CU_ASSERT_EQUAL(group->fits(&j.c, &gpu), of[k].want > 0);
        if (!of[k].want) continue;
        CU_ASSERT_EQUAL_FATAL(group->sched(&j.c, &gpu, (clf_grid){0, INT64_MAX}, &s, &err), CLF_OK);
        CU_ASSERT_EQUAL(s.local, of[k].want);
    }
    job_end(&j);
}

/* A fold, or kept cells, of an operand times one that varies with rows. */
static void of_type(kernel_job *j, clf_dtype t, int64_t rows, int64_t cols, unsigned keep) {
    job_begin(j, 42);
    plane p = axes(j, rows, cols);
    int x = op(j, CLF_OP_MUL, t, input(j, &p, t, 3), keep ? input(j, &p, t, 1) : param(j, t), -1);
    if (keep < 3)
        fold(j, &p, CLF_FOLD_SUM, x, keep);
    else
        store(j, &p, x, 3);
    CU_ASSERT_EQUAL_FATAL(job_built(j, NULL), CLF_OK);
}

/* Vectors of as many cells as the profile says, or 16 bytes; fewer where rows are no whole runs of them, unless they need not be apart. */
static void test_item_cells(void) {
    static const struct {
        clf_dtype type;
        int64_t cols;
        unsigned keep;
        int kind;
        double cells[2];
        int width; /* of the schedule */
        const char *loads;
    } of[] = {
        {CLF_F32, 64, 3, CLF_DEV_GPU, {0, 0}, 4, "CLF_WIDE_LOAD(float, 4, "},
        {CLF_F64, 64, 3, CLF_DEV_GPU, {0, 0}, 2, "CLF_WIDE_LOAD(double, 2, "},
        {CLF_F64, 64, 2, CLF_DEV_GPU, {1, 4}, 4, "CLF_WIDE_LOAD(double, 4, "},
        {CLF_U8, 64, 1, CLF_DEV_GPU, {4, 1}, 4, "CLF_WIDE_LOAD(uchar, 4, "},
        {CLF_F32, 34, 1, CLF_DEV_GPU, {0, 0}, 4, "CLF_WIDE_LOAD(float, 2, "},
        {CLF_F32, 33, 1, CLF_DEV_GPU, {0, 0}, 4, NULL},
        {CLF_F32, 33, 2, CLF_DEV_GPU, {0, 0}, 4, NULL},
        {CLF_F32, 33, 3, CLF_DEV_GPU, {0, 0}, 4, NULL},
        {CLF_F32, 33, 0, CLF_DEV_GPU, {0, 0}, 4, "CLF_WIDE_LOAD(float, 4, "},
        {CLF_F32, 64, 3, CLF_DEV_GPU, {1, 4}, 1, NULL},
        {CLF_F32, 64, 3, CLF_DEV_CPU, {0, 0}, 1, NULL},
        {CLF_F32, 64, 3, CLF_DEV_CPU, {2, 1}, 2, "CLF_WIDE_LOAD(float, 2, "},
    };
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        kernel_job j;
        clf_sched s;
        clf_profile p = jobs.profile;
        p.kind = of[k].kind;
        memcpy(p.item_cells, of[k].cells, sizeof p.item_cells);
        of_type(&j, of[k].type, 100, of[k].cols, of[k].keep);
        CU_ASSERT_EQUAL_FATAL(group->sched(&j.c, &p, (clf_grid){0, INT64_MAX}, &s, NULL), CLF_OK);
        CU_ASSERT_EQUAL(s.width, of[k].width);
        const char *loads = strstr(skel_text(&j, &s).text, of[k].loads ? of[k].loads : "= CLF_WIDE_LOAD(");
        CU_ASSERT_EQUAL(loads != NULL, of[k].loads != NULL);
        job_end(&j);
    }
}

/* Fewer work-items share the same leaves; of kept cells each takes as many as before. */
static void test_item_cells_grid(void) {
    static const int64_t cells = 1000 * 1024;
    for (int width = 1; width <= 4; width *= 2) {
        kernel_job j;
        clf_sched s;
        clf_facts f;
        clf_profile p = jobs.profile;
        p.kind = CLF_DEV_GPU;
        p.cores = 1000;
        p.item_cells[0] = p.item_cells[1] = width;
        of_type(&j, CLF_F64, 1000, 1024, 0);
        CU_ASSERT_EQUAL_FATAL(group->sched(&j.c, &p, (clf_grid){0, INT64_MAX}, &s, NULL), CLF_OK);
        group->facts(&j.c, &p, &s, &f);
        int64_t groups = (cells / 512 + 32 * width - 1) / (32 * width);
        CU_ASSERT_EQUAL((int64_t)(s.global / s.local), groups);
        CU_ASSERT_EQUAL(f.occupancy, (double)groups / 4000);
        CU_ASSERT_EQUAL(f.cells[1][CLF_CLASS_ADD], 2.0 * (double)cells);
        job_end(&j);
        of_type(&j, CLF_F64, 1000, 1024, 3);
        CU_ASSERT_EQUAL_FATAL(group->sched(&j.c, &p, (clf_grid){0, INT64_MAX}, &s, NULL), CLF_OK);
        CU_ASSERT_EQUAL((int64_t)s.global, cells / 8);
        job_end(&j);
    }
}

static void test_grain(void) {
    static const struct {
        int64_t rows, cols;
        unsigned keep;
        bool flat, cut;
    } want[] = {{1000, 1000, 1, false, true}, {40000, 10, 2, false, true}, {40000, 1000, 2, false, false}, {1000, 1000, 0, true, false}};
    for (size_t k = 0; k < sizeof want / sizeof *want; k++) {
        kernel_job j;
        clf_sched s;
        planned(&j, want[k].rows, want[k].cols, want[k].keep, &s);
        bool cut = s.grain < s.extent;
        CU_ASSERT_EQUAL(cut, want[k].cut || want[k].flat);
        CU_ASSERT_EQUAL(s.flat, want[k].flat);
        if (cut) CU_ASSERT_EQUAL((s.extent + s.grain - 1) / s.grain, (int64_t)(s.global / s.local));
        job_end(&j);
    }
}

static void test_facts(void) {
    kernel_job j;
    clf_sched s;
    clf_facts f;
    planned(&j, 1000, 200, 1, &s);
    group->facts(&j.c, &jobs.profile, &s, &f);
    CU_ASSERT_EQUAL(f.read_bytes, 2 * 1000 * 200 * 8);
    CU_ASSERT_EQUAL(f.write_bytes, 1000 * 8);
    CU_ASSERT_EQUAL(f.cells[1][CLF_CLASS_ADD], 2 * 1000 * 200);
    CU_ASSERT_EQUAL(f.launches, 1);
    CU_ASSERT_EQUAL(f.occupancy, 1);
    job_end(&j);
    planned(&j, 1000, 200, 0, &s);
    group->facts(&j.c, &jobs.profile, &s, &f);
    int64_t states = (int64_t)(s.global / s.local);
    CU_ASSERT_EQUAL(f.read_bytes, 1000 * 200 * 8 + 200 * 8 + 8 * states);
    CU_ASSERT_EQUAL(f.write_bytes, 8 + 8 * states);
    CU_ASSERT_EQUAL(f.launches, 2);
    job_end(&j);
    clf_profile many = jobs.profile;
    many.cores = 1000;
    planned(&j, 10, 20, 1, &s);
    group->facts(&j.c, &many, &s, &f);
    CU_ASSERT_TRUE(f.occupancy > 0 && f.occupancy < 0.01);
    job_end(&j);
}

static void test_refusals(void) {
    kernel_job j;
    clf_sched s;
    planned(&j, 100, 100, 0, &s);
    skel_refuses(&j, group, 128);
    job_end(&j);
}

static void test_no_memory(void) {
    kernel_job j;
    clf_sched s, m;
    planned(&j, 100, 200, 0, &s);
    CU_ASSERT_EQUAL_FATAL(group->merge(&j.c, &jobs.profile, &m, NULL), CLF_OK);
    skel_no_memory(&j, &s);
    skel_no_memory(&j, &m);
    job_end(&j);
}

int main(void) {
    static const test_case tests[] = {{"sizes are arguments", test_sizes_are_arguments},
                                      {"group size", test_group_size},
                                      {"cells of a work-item", test_item_cells},
                                      {"their grids", test_item_cells_grid},
                                      {"grain", test_grain},
                                      {"facts", test_facts},
                                      {"refusals", test_refusals},
                                      {"no memory", test_no_memory}};
    jobs_open(false);
    group = jobs_skel("cell.group");
    int failed = run_suite("cell.group, plans", tests, sizeof tests / sizeof *tests);
    jobs_close();
    return failed;
}
