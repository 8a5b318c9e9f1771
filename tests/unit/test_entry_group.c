/* SPDX-License-Identifier: Apache-2.0
 * entry.group: every shape of operator over stored entries that it takes, on the first OpenCL device against the reference executor: same
 * bits, whatever the size of a group and the number of launches. Rows of no entry, of a few, of one leaf and of many; matrices whose
 * entries are a few leaves and more than one turn of all groups. */
#include "tests/support/net.h"
#include "tests/support/tell_inputs.h"
#include "tests/support/text_case.h"
#include "tests/unit/api_testing.h"
#include "tests/unit/entry_texts.h"

enum { LEAST_KERNELS = 60, SMALL_CELLS = 1200, SMALL_ROWS = 100 };
static long kernels;
static bool small; /* an interpreter of kernels gets smaller shapes */
static bool large; /* groups of the size that GPUs get: of the plans every sixth, by turns, not every second */

static bool takes(const shape *s) { return !small || (s->x.n[0] * s->x.n[1] <= SMALL_CELLS && s->x.n[0] <= SMALL_ROWS); }

static void note(const struct plan *p, const shape *s, clf_dtype t, job_data data) {
    kernel_job j;
    make(&j, p, s, t, data);
    job_note(&j, jobs_skel("entry.group"));
    job_end(&j);
}

/* guess: entries are planned for as so many, -1 as they are. */
static void run_made(kernel_job *j, const char *name, int parts, double ulp, int64_t guess) {
    clf_err err = {0};
    for (int a = 0; a < j->c.naxes && guess >= 0; a++)
        if (j->c.axis[a].kind == CLF_AXIS_ENTRY) j->c.axis[a].n.n = guess;
    clf_status st = job_kernel(j, jobs_skel("entry.group"), parts, &err);
    if (st == CLF_OK) st = job_reference(j, &err);
    if (st != CLF_OK) fprintf(stderr, "%s: %s\n", name, err.text);
    CU_ASSERT_EQUAL(st, CLF_OK);
    for (int o = 0; st == CLF_OK && o < j->c.nout; o++) {
        size_t wrong = job_wrong(j, o, ulp);
        if (wrong) fprintf(stderr, "%s: %zu cells of output %d differ\n", name, wrong, o);
        CU_ASSERT_EQUAL(wrong, 0);
    }
    kernels++;
}

static void run_one(const struct plan *p, const shape *s, clf_dtype t, int parts, job_data data) {
    kernel_job j;
    char name[200];
    snprintf(name, sizeof name, "%s, %s, %s", p->name, s->name, clf_dtype_name(t));
    make(&j, p, s, t, data);
    run_made(&j, name, parts, p->ulp, -1);
    job_end(&j);
}

static void run_all(shape s, clf_dtype t, int parts, job_data data) {
    static int turn;
    const int every = small ? 1 : large ? net_turns(6, 6) : net_turns(2, 2);
    if (!takes(&s)) return;
    const int first = net_first(turn++, every, PLANS);
    for (int p = first; p < PLANS; p += every) note(&plans[p], &s, t, data);
    jobs_build();
    for (int p = first; p < PLANS; p += every) run_one(&plans[p], &s, t, parts, data);
}

/* Those that a driver is to compile with all its art: pairs in a tile, and bands of their own for what meets. */
static void test_few(void) {
    const shape s = {"203 x 301", {{203, 301, 21, 10}}, 0.1, NULL};
    for (int p = 0; p < PLANS; p++)
        if (!strcmp(plans[p].name, "outer right") || !strcmp(plans[p].name, "squared error"))
            run_one(&plans[p], &s, CLF_F64, 2, JOB_FINITE);
}

/* More cells an entry than a group has work-items, and fewer than lanes: rows of one leaf and of several. */
static void test_sides(void) {
    static const shape s[] = {{"5 x 1700, 70", {{5, 1700, 8, 70}}, 0.7, NULL}, {"half in one row, 3", {{90, 1700, 7, 3}}, 0, half_in_one}};
    for (size_t k = 0; k < sizeof s / sizeof *s; k++)
        for (int p = 0; p < PLANS && !small; p++)
            if (!strncmp(plans[p].name, "outer right", 11) || !strncmp(plans[p].name, "outer left", 10))
                run_one(&plans[p], &s[k], CLF_F64, 1 + (int)k, JOB_FINITE);
}

static void test_plain(void) { run_all((shape){"29 x 41", {{29, 41, 10, 3}}, 0.3, NULL}, CLF_F64, 1, JOB_FINITE); }
static void test_special(void) { run_all((shape){"61 x 53", {{61, 53, 10, 3}}, 0.3, NULL}, CLF_F64, 1, JOB_REAL); }
static void test_wide_side(void) { run_all((shape){"203 x 301", {{203, 301, 21, 10}}, 0.1, NULL}, CLF_F64, 3, JOB_FINITE); }
static void test_f32(void) { run_all((shape){"203 x 301", {{203, 301, 21, 10}}, 0.1, NULL}, CLF_F32, 2, JOB_FINITE); }
static void test_narrow(void) { run_all((shape){"37 x 41", {{37, 41, 4, 2}}, 0.3, NULL}, CLF_F32, 1, JOB_FINITE); }
static void test_long_rows(void) { run_all((shape){"5 x 5000", {{5, 5000, 8, 6}}, 0.7, NULL}, CLF_F64, 1, JOB_FINITE); }
static void test_longer_rows(void) { run_all((shape){"3 x 17000", {{3, 17000, 3, 5}}, 0.9, NULL}, CLF_F64, 2, JOB_FINITE); }
static void test_skew(void) { run_all((shape){"half in one row", {{300, 1700, 10, 9}}, 0, half_in_one}, CLF_F64, 2, JOB_FINITE); }
static void test_no_entries(void) { run_all((shape){"no entries", {{37, 41, 10, 9}}, 0, never}, CLF_F64, 1, JOB_FINITE); }
static void test_no_rows(void) { run_all((shape){"no rows", {{0, 41, 10, 9}}, 0, never}, CLF_F64, 1, JOB_FINITE); }
static void test_one_row(void) { run_all((shape){"one row", {{1, 1111, 10, 9}}, 0, always}, CLF_F64, 1, JOB_FINITE); }
static void test_one_column(void) { run_all((shape){"one column", {{1111, 1, 1, 1}}, 0, always}, CLF_F64, 1, JOB_FINITE); }
static void test_one_cell(void) { run_all((shape){"one cell", {{1, 1, 1, 1}}, 0, always}, CLF_F64, 1, JOB_FINITE); }
static void test_many_rows(void) { run_all((shape){"9000 x 7", {{9000, 7, 3, 5}}, 0.5, NULL}, CLF_F64, 4, JOB_FINITE); }

/* Folds of all, of rows and of columns and kept cells in one operator: every kind of group, and several jobs of each. */
static const struct plan mixed = {
    "mixed",
    HEAD X
    "(param p0 %t) (out Y0 %t) (out Y1 %t %1) (out Y2 %t %2) (out Y3 %t 1) (out Y4 i64 %1) (out Y5 i64) (out Y6 %t 1) (out Y7 %t %1) "
    "(let v1 %t param p0) (let v2 %t ADD v0 v1) (let v3 %t fold MAX j v2 rest v1) (let v4 %t SUB v3 v2) (let v5 i64 cast v0) "
    "(let v6 %t fold SUM j v4) (let v7 %t DIV v4 v6) (fold Y0 VAR v2 rest v1 keep over i j) (fold Y1 SUM v0 keep i) "
    "(fold Y2 MIN v4 keep j over i) (pattern Y3 v2 keep i j) (fold Y4 ARGMIN v4 keep i) (fold Y5 SUM v5 keep) (pattern Y6 v7 keep i j) "
    "(store Y7 v6 keep i))",
    0};

static void run_mixed(shape s, clf_dtype t, int parts, int64_t guess) {
    kernel_job j;
    if (!takes(&s)) return;
    make(&j, &mixed, &s, t, JOB_FINITE);
    run_made(&j, "mixed", parts, 0, guess);
    job_end(&j);
}

static void test_mixed(void) {
    run_mixed((shape){"29 x 41", {{29, 41, 1, 1}}, 0.3, NULL}, CLF_F64, 2, -1);
    run_mixed((shape){"600 x 301", {{600, 301, 1, 1}}, 0.1, NULL}, CLF_F32, 3, -1);
    run_mixed((shape){"half in one row", {{300, 1700, 1, 1}}, 0, half_in_one}, CLF_F64, 2, -1);
}

/* How many entries there are was a guess when groups were counted. */
static void test_guess(void) {
    static const int64_t guess[] = {0, 1, 700, 1 << 20};
    for (int k = 0; k < 4; k++) {
        run_mixed((shape){"30 x 41", {{30, 41, 1, 1}}, 0.8, NULL}, CLF_F64, 1, guess[k]);
        run_mixed((shape){"60 x 601", {{60, 601, 1, 1}}, 0.9, NULL}, CLF_F64, 2, guess[k]);
    }
}

/* The operators of the exam over stored entries. */
static void test_golden(void) {
    static const char *const name[] = {"outer_loss", "sparse_mvchain", "sparse_rest", "sparse_columns", "outer_cellwise"};
    int fit = 0;
    for (size_t k = 0; k < sizeof name / sizeof *name; k++) {
        static char text[1 << 14];
        char path[512];
        kernel_job j;
        snprintf(path, sizeof path, "%s/golden/cplan/%s.cplan", CLF_TESTS_DIR, name[k]);
        FILE *f = fopen(path, "rb");
        CU_ASSERT_PTR_NOT_NULL_FATAL(f);
        text[fread(text, 1, sizeof text - 1, f)] = 0;
        fclose(f);
        CU_ASSERT_EQUAL_FATAL(job_text(&j, 42, text, NULL), CLF_OK);
        bool fits = jobs_skel("entry.group")->fits(&j.c, &jobs.profile);
        fit += fits;
        if (fits && !small) {
            job_memory(&j, JOB_FINITE, 0.01);
            run_made(&j, name[k], 1, 64, -1);
        }
        job_end(&j);
    }
    CU_ASSERT(fit >= 2);
}

/* ---- without running ---- */

static const text_suite suite = {.skel = "entry.group", .letters = "nmk"};
static const char loss[] =
    "(cplan (axis i range free $n) (axis j entry free $k owner a0 parent i) (axis l range free 20) (in X0 $t csr $n $m) (in X1 $t dense $n "
    "20) (in X2 $t dense $m 20) (access a0 X0 entries (i 1 0) (j 1 0)) (access a1 X1 stream (i 1 0) (l 1 0)) (access a2 X2 stream (j 1 0) "
    "(l 1 0)) (let v0 $t load a0) (let v1 $t load a1) (let v2 $t load a2) (let v3 $t dot l v1 v2) (let v4 $t MUL v0 v3) (out Y0 $t) (out "
    "Y1 $t $n) (fold Y0 SUM v4 keep) (fold Y1 SUM v4 keep i))";

static void test_no_memory(void) { text_no_memory(&suite, loss, (text_shape){100, 300, 3000, "f64", 1}); }

static void test_sizes_are_arguments(void) {
    kernel_job a, b;
    clf_sched sa, sb;
    clf_source ta, tb;
    text_planned(&suite, &a, loss, (text_shape){1000, 2000, 30000, "f64", 1}, &sa);
    text_planned(&suite, &b, loss, (text_shape){37777, 499, 4000000, "f64", 1}, &sb);
    CU_ASSERT_EQUAL_FATAL(sa.skel->emit(&a.c, &sa, "", &a.arena, &ta, NULL), CLF_OK);
    CU_ASSERT_EQUAL_FATAL(sb.skel->emit(&b.c, &sb, "", &b.arena, &tb, NULL), CLF_OK);
    CU_ASSERT_STRING_EQUAL(ta.text, tb.text);
    CU_ASSERT_TRUE(sa.index_bits == 32 && sa.local >= 64 && sa.global % sa.local == 0 && sa.extent == 0);
    CU_ASSERT_EQUAL(sa.merge, CLF_MERGE_FOLLOWS);
    CU_ASSERT_TRUE(sa.global < sb.global);
    job_end(&b);
    job_end(&a);
    text_planned(&suite, &a, loss, (text_shape){1 << 20, 1 << 20, 1 << 30, "f64", 1}, &sa);
    CU_ASSERT_EQUAL(sa.index_bits, 64);
    job_end(&a);
}

static void test_facts(void) {
    kernel_job j;
    clf_sched s;
    clf_facts f;
    clf_profile many = jobs.profile;
    many.cores = 1000;
    text_planned(&suite, &j, loss, (text_shape){1000, 500, 4096, "f64", 1}, &s);
    s.skel->facts(&j.c, &jobs.profile, &s, &f);
    double scratch = f.write_bytes - 1001 * 8, read = 4096 * 12 + 1001 * 8 + (1000 + 500) * 20 * 8;
    CU_ASSERT_TRUE(scratch >= 0 && scratch <= (double)s.scratch_bytes);
    CU_ASSERT_EQUAL(f.read_bytes - scratch, read);
    CU_ASSERT_EQUAL(f.cells[1][CLF_CLASS_ADD], 2 * (2 * 4096 * 20 + 2 * 4096)); /* once for each of two jobs: pair, product, sum */
    CU_ASSERT_TRUE(f.occupancy > 0 && f.occupancy <= 1);
    s.skel->facts(&j.c, &many, &s, &f);
    CU_ASSERT_TRUE(f.occupancy > 0 && f.occupancy < 0.1);
    job_end(&j);
}

static void test_refusals(void) {
    kernel_job j;
    clf_sched s;
    clf_profile tight = jobs.profile;
    text_planned(&suite, &j, loss, (text_shape){100, 300, 3000, "f64", 1}, &s);
    tight.max_arg_bytes = 128;
    CU_ASSERT_FALSE(s.skel->fits(&j.c, &tight));
    tight = jobs.profile;
    tight.fp64 = 0;
    CU_ASSERT_FALSE(s.skel->fits(&j.c, &tight));
    CU_ASSERT_FALSE(jobs_skel("row.group")->fits(&j.c, &jobs.profile));
    tight = jobs.profile;
    tight.kind = CLF_DEV_GPU;
    tight.unit_local_bytes = 14336; /* 12 states of 64 work-items, and cells of a tile */
    CU_ASSERT_TRUE(s.skel->fits(&j.c, &tight));
    CU_ASSERT_EQUAL_FATAL(s.skel->sched(&j.c, &tight, (clf_grid){0, INT64_MAX}, &s, NULL), CLF_OK);
    CU_ASSERT_EQUAL(s.local, 64);
    tight.unit_local_bytes = 14335;
    CU_ASSERT_FALSE(s.skel->fits(&j.c, &tight));
    job_end(&j);
    for (int p = 0; p < PLANS; p++) {
        const shape at = {"5 x 5", {{5, 5, 6, 6}}, 0.5, NULL};
        make(&j, &plans[p], &at, CLF_F64, JOB_FINITE);
        CU_ASSERT_TRUE(jobs_skel("entry.group")->fits(&j.c, &jobs.profile));
        job_end(&j);
    }
}

/* With an argument: memory in cl_mem objects of exact size, which Oclgrind watches. */
int main(int argc, char **argv) {
    static const test_case all[] = {{"small", test_plain},
                                    {"NaN and Inf", test_special},
                                    {"wide side", test_wide_side},
                                    {"f32", test_f32},
                                    {"f32, narrow side", test_narrow},
                                    {"long rows", test_long_rows},
                                    {"longer rows", test_longer_rows},
                                    {"skew", test_skew},
                                    {"no entries", test_no_entries},
                                    {"no rows", test_no_rows},
                                    {"one row", test_one_row},
                                    {"one column", test_one_column},
                                    {"mixed", test_mixed},
                                    {"entries are a guess", test_guess},
                                    {"golden", test_golden},
                                    {"few", test_few},
                                    {"sides", test_sides},
                                    {"one cell", test_one_cell},
                                    {"many rows", test_many_rows}};
    static const test_case without[] = {{"no memory", test_no_memory},
                                        {"sizes are arguments", test_sizes_are_arguments},
                                        {"facts", test_facts},
                                        {"refusals", test_refusals}};
    small = argc > 1 && !strcmp(argv[1], "small");
    tell_inputs = small;
    bool device = jobs_open(small);
    int failed = run_suite("entry.group, plans", without, sizeof without / sizeof *without);
    if (device && !failed) failed = run_suite("entry.group", all, sizeof all / sizeof *all);
    if (device && !failed && !small) { /* then in groups of the size that GPUs get */
        jobs.profile.kind = CLF_DEV_GPU;
        large = true;
        failed = run_suite("entry.group, large groups", all, sizeof all / sizeof *all);
    }
    jobs_close();
    const char *one = getenv("CLF_TEST_CASE");
    if (device && !small) net_figure("entry.group", "%ld kernels with the bits of the reference executor", kernels);
    if (device && !(one && *one) && kernels < LEAST_KERNELS) failed = 1;
    return failed;
}
