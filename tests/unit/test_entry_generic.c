/* SPDX-License-Identifier: Apache-2.0
 * entry.generic: cells at stored entries, folds of them and products with vectors, run on the first OpenCL device against the reference
 * executor and entry.chunk: same bits, whatever the number of launches and of entries planned for. Rows of no entry, of a few, of one leaf
 * and of many. And it is one program for all of a type. */
#include "kernels-cl/skel/generic_entries.h"
#include "tests/support/net.h"
#include "tests/support/skel_case.h"
#include "tests/support/tell_inputs.h"
#include "tests/unit/api_testing.h"
#include "tests/unit/entry_texts.h"

enum { SMALL_CELLS = 3000, TEXT = 4096, LEAST_TAKEN = 7 };
static long kernels;
static bool small; /* an interpreter of kernels gets smaller shapes */

#define BY_COLUMN(N) "(in X" #N " %t dense %2 1) (access a" #N " X" #N " stream (j 1 0) (- 0)) (let v" #N " %t load a" #N ") "
#define BY_ROW(N) "(in X" #N " %t dense %1 1) (access a" #N " X" #N " stream (i 1 0) (- 0)) (let v" #N " %t load a" #N ") "
#define BY_BOTH(N) "(in X" #N " %t dense %1 %2) (access a" #N " X" #N " stream (i 1 0) (j 1 0)) (let v" #N " %t load a" #N ") "

static const struct plan own[] = {
    {"two products, zeros annihilate",
     HEAD X BY_COLUMN(1)
         BY_ROW(2) "(out Y0 %t %1) (out Y1 %t %1) (let v3 %t MUL v0 v0) (let v4 %t ADD v3 v2) (let v5 %t dot j v4 v1 skip 2) "
                   "(let v6 %t dot j v0 v0 skip 3) (store Y0 v5 keep i) (store Y1 v6 keep i))",
     0},
    {"a product, and cells of both",
     HEAD X BY_COLUMN(1)
         BY_BOTH(2) "(param p0 %t) (out Y0 %t %1) (out Y1 %t 1) (let v3 %t param p0) (let v4 %t MUL v2 v1) (let v5 %t SUB v4 v3) "
                    "(let v6 %t MUL v5 v0) (let v7 %t dot j v6 v1) (store Y0 v7 keep i) (pattern Y1 v6 keep i j))",
     0},
    {"rows, all at once",
     HEAD X BY_ROW(
         1) "(out Y0 %t %1) (out Y1 %t %1) (out Y2 %t %1) (out Y3 %t %1) (let v2 %t MUL v0 v1) (let v3 %t fold VAR j v2) "
            "(let v4 %t fold MEAN j v0) (store Y0 v3 keep i) (store Y1 v4 keep i) (fold Y2 MAX v2 keep i) (fold Y3 PROD v0 keep i))",
     0},
    {"rows, counted",
     HEAD X "(out Y0 u8 %1) (out Y1 u8 %1) (out Y2 i64 %1) (out Y3 %t %1) (fold Y0 ANY v0 keep i) (fold Y1 ALL v0 keep i) "
            "(fold Y2 NNZ v0 keep i) (fold Y3 SUMSQ v0 keep i))",
     0},
    {"the whole, positions",
     HEAD X BY_COLUMN(
         1) "(out Y0 i64) (out Y1 %t) (out Y2 %t) (out Y3 i64) (let v2 %t ADD v0 v1) (fold Y0 ARGMAX v2 keep) (fold Y1 VAR v2 keep) "
            "(fold Y2 PROD v1 keep) (fold Y3 ARGMIN v0 keep))",
     0},
    {"dots, by row",
     HEAD "(axis l range free %3) " X PAIR "(out Y0 %t %1) (out Y1 %t %1) (let v4 %t SUB v0 v3) (let v5 %t dot j v4 v3) "
          "(store Y0 v5 keep i) (fold Y1 SUMSQ v4 keep i))",
     0},
    {"two dots",
     HEAD "(axis l range free %3) (axis k range free %4) " X PAIR
          "(in X3 %t dense %1 %4) (in X4 %t dense %2 %4) (access a3 X3 stream (i 1 0) (k 1 0)) (access a4 X4 stream (j 1 0) (k 1 0)) "
          "(let v5 %t load a3) (let v6 %t load a4) (let v7 %t dot k v6 v5) (out Y0 %t) (let v8 %t SUB v3 v7) (let v9 %t MUL v8 v0) "
          "(fold Y0 SUM v9 keep))",
     0},
};
enum { OWN = sizeof own / sizeof *own };

/* ---- running ---- */

static bool takes(const shape *s) { return !small || s->x.n[0] * s->x.n[1] <= SMALL_CELLS; }

static void swap(kernel_job *j) {
    for (int o = 0; o < j->c.nout; o++) {
        void *was = j->want[o];
        j->want[o] = j->got[o];
        j->got[o] = was;
    }
}

/* guess: entries are planned for as so many, -1 as they are. other: compared with; NULL: the reference executor. */
static void run_made(kernel_job *j, const char *name, int parts, const clf_skel *other, int64_t guess) {
    clf_err err = {0};
    clf_status st = other ? job_kernel(j, other, 1, &err) : job_reference(j, &err);
    if (other) swap(j);
    for (int a = 0; a < j->c.naxes && guess >= 0; a++)
        if (j->c.axis[a].kind == CLF_AXIS_ENTRY) j->c.axis[a].n.n = guess;
    if (st == CLF_OK) st = job_kernel(j, jobs_skel("entry.generic"), parts, &err);
    if (st != CLF_OK) fprintf(stderr, "%s: %s\n", name, err.text);
    CU_ASSERT_EQUAL(st, CLF_OK);
    for (int o = 0; st == CLF_OK && o < j->c.nout; o++) {
        size_t wrong = job_wrong(j, o, 0);
        if (wrong) fprintf(stderr, "%s: %zu cells of output %d differ\n", name, wrong, o);
        CU_ASSERT_EQUAL(wrong, 0);
    }
    kernels++;
}

/* Elementary functions have the bits of the kernel that is stood in for. */
static int run_plan(const struct plan *p, const shape *s, clf_dtype t, int parts, job_data data, int64_t guess) {
    kernel_job j;
    char name[200];
    snprintf(name, sizeof name, "%s, %s, %s", p->name, s->name, clf_dtype_name(t));
    make(&j, p, s, t, data);
    bool fits = jobs_skel("entry.generic")->fits(&j.c, &jobs.profile);
    if (fits) run_made(&j, name, parts, p->ulp > 0 ? jobs_skel("entry.chunk") : NULL, guess);
    job_end(&j);
    return fits;
}

static void run_all(shape s, clf_dtype t, int parts, job_data data, int64_t guess) {
    int taken = 0;
    if (!takes(&s)) return;
    for (int p = 0; p < PLANS; p++) taken += run_plan(&plans[p], &s, t, parts, data, guess);
    CU_ASSERT_TRUE(taken >= LEAST_TAKEN);
    for (int p = 0; p < OWN; p++) CU_ASSERT_TRUE(run_plan(&own[p], &s, t, parts, data, guess));
}

static void test_small(void) {
    run_all((shape){"37 x 41", {{37, 41, 10, 3}}, 0.3, NULL}, CLF_F64, 1, JOB_FINITE, -1);
    run_all((shape){"61 x 40", {{61, 40, 10, 3}}, 0.3, NULL}, CLF_F64, 2, JOB_REAL, -1);
    run_all((shape){"37 x 41", {{37, 41, 4, 2}}, 0.3, NULL}, CLF_F32, 1, JOB_FINITE, -1);
}
static void test_edges(void) {
    run_all((shape){"no entries", {{37, 41, 10, 9}}, 0, never}, CLF_F64, 1, JOB_FINITE, -1);
    run_all((shape){"one row", {{1, 1111, 10, 9}}, 0, always}, CLF_F64, 1, JOB_FINITE, -1);
    run_all((shape){"one column", {{1111, 1, 1, 1}}, 0, always}, CLF_F64, 1, JOB_FINITE, -1);
    run_all((shape){"one cell", {{1, 1, 1, 1}}, 0, always}, CLF_F32, 1, JOB_FINITE, -1);
    run_all((shape){"rows of a leaf", {{9, 512, 8, 8}}, 0, always}, CLF_F64, 1, JOB_FINITE, -1);
}
static void test_large(void) {
    run_all((shape){"203 x 301", {{203, 301, 21, 10}}, 0.1, NULL}, CLF_F64, 3, JOB_FINITE, -1);
    run_all((shape){"203 x 301", {{203, 301, 45, 10}}, 0.1, NULL}, CLF_F32, 2, JOB_REAL, -1);
    run_all((shape){"9000 x 7", {{9000, 7, 3, 5}}, 0.5, NULL}, CLF_F64, 4, JOB_FINITE, -1);
    run_all((shape){"5 x 5000", {{5, 5000, 8, 6}}, 0.7, NULL}, CLF_F64, 1, JOB_FINITE, -1);
    run_all((shape){"half in one row", {{300, 1700, 10, 9}}, 0, half_in_one}, CLF_F32, 2, JOB_FINITE, -1);
}
/* Nobody knows how many entries there will be. */
static void test_guess(void) {
    run_all((shape){"fewer planned for", {{203, 301, 7, 3}}, 0.3, NULL}, CLF_F64, 1, JOB_FINITE, 10);
    run_all((shape){"more planned for", {{203, 301, 7, 3}}, 0.01, NULL}, CLF_F64, 3, JOB_FINITE, 1000000);
}

/* ---- random forms ---- */

static uint64_t seed;
static int chance(int n) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (int)((seed >> 33) % (uint64_t)n);
}

/* Operators of every arity over what is there, all kinds of operands first; at most one sink a kind of fold. */
static void random_text(char *out, size_t room) {
    static const clf_op ops[] = {CLF_OP_ADD, CLF_OP_SUB, CLF_OP_MUL, CLF_OP_DIV, CLF_OP_MIN,   CLF_OP_MAX,
                                 CLF_OP_ABS, CLF_OP_SQR, CLF_OP_LT,  CLF_OP_GT,  CLF_OP_IFELSE};
    static const char *const row_folds[] = {"SUM", "MIN", "MAX", "MEAN", "SUMSQ"};
    int nv = 6, more = 1 + chance(12);
    bool rows = chance(2);
    size_t n = (size_t)snprintf(out, room, "%s%s",
                                HEAD X BY_COLUMN(1) BY_ROW(2) BY_BOTH(3) "(in X4 %t dense) (access a4 X4 stream) (let v4 %t load a4) "
                                                                         "(param p0 %t) (let v5 %t param p0) (out Y2 %t 1) ",
                                rows ? "(out Y0 %t %1) (out Y1 %t %1) " : "(out Y0 %t) (out Y1 %t) ");
    n += (size_t)snprintf(out + n, room - n, "(let v6 %%t MUL v0 v%d) ", chance(nv));
    for (nv = 7; nv < 7 + more; nv++) {
        clf_op op = ops[chance((int)(sizeof ops / sizeof *ops))];
        n += (size_t)snprintf(out + n, room - n, "(let v%d %%t %s", nv, clf_ops[op].id);
        for (int k = 0; k < clf_ops[op].arity; k++) n += (size_t)snprintf(out + n, room - n, " v%d", k == 0 ? nv - 1 : chance(nv));
        n += (size_t)snprintf(out + n, room - n, ") ");
    }
    if (rows)
        snprintf(out + n, room - n,
                 "(let v%d %%t dot j v%d v%d skip %d) (store Y0 v%d keep i) (fold Y1 %s v%d keep i) (pattern Y2 v6 keep i j))", nv, nv - 1,
                 chance(3) ? 1 : 6, chance(4), nv, row_folds[chance(5)], nv - 1);
    else
        snprintf(out + n, room - n, "(fold Y0 %s v%d keep over i j) (fold Y1 SUM v6 keep over i j) (pattern Y2 v%d keep i j))",
                 row_folds[chance(5)], nv - 1, nv - 1);
}

static void test_random(void) {
    int n = (int)net_count(60, 1000), with_chunk = 6;
    char text[TEXT];
    for (int k = 0; k < n && !small; k++) {
        seed = (uint64_t)k + 1;
        random_text(text, sizeof text);
        const struct plan p = {"random", text, k < with_chunk ? 1 : 0};
        const shape s = {"random", {{1 + chance(300), 1 + chance(700), 1, 1}}, 0.002 * (1 + chance(200)), NULL};
        bool taken = run_plan(&p, &s, chance(3) ? CLF_F64 : CLF_F32, 1 + chance(3), JOB_REAL, -1);
        if (!taken) fprintf(stderr, "%s\n", text);
        CU_ASSERT_TRUE(taken);
    }
}

/* ---- without running ---- */

static const struct plan *named(const char *name) {
    for (int p = 0; p < PLANS; p++)
        if (!strcmp(plans[p].name, name)) return &plans[p];
    return NULL;
}

static bool fits(const char *name, clf_dtype t) {
    kernel_job j;
    const shape s = {"", {{37, 41, 10, 3}}, 0.3, NULL};
    make(&j, named(name), &s, t, JOB_FINITE);
    bool yes = jobs_skel("entry.generic")->fits(&j.c, &jobs.profile);
    job_end(&j);
    return yes;
}

static void test_what_it_takes(void) {
    static const char *const is_taken[] = {"spmv",          "spmv, structural zeros",   "outer loss",     "outer sum",
                                           "outer pattern", "outer sum, rows weighted", "sum of squares", "side inputs",
                                           "several folds"};
    static const char *const others[] = {"outer right",
                                         "outer left",
                                         "mvchain",
                                         "mmchain",
                                         "row sums and greatest",
                                         "column sums and greatest",
                                         "rows scaled",
                                         "row epilogue",
                                         "squared error",
                                         "pattern of a product",
                                         "rows with a rest",
                                         "the whole with a rest"};
    for (size_t k = 0; k < sizeof is_taken / sizeof *is_taken; k++) CU_ASSERT_TRUE(fits(is_taken[k], CLF_F64));
    for (size_t k = 0; k < sizeof others / sizeof *others; k++) CU_ASSERT_FALSE(fits(others[k], CLF_F64));
    CU_ASSERT_FALSE(fits("spmv", CLF_I64));
    clf_profile was = jobs.profile;
    jobs.profile.fp64 = 0;
    CU_ASSERT_FALSE(fits("spmv", CLF_F32));
    jobs.profile = was;
}

static void planned(kernel_job *j, const char *name, const shape *s, clf_sched *out) {
    const clf_skel *skel = jobs_skel("entry.generic");
    make(j, named(name), s, CLF_F64, JOB_FINITE);
    CU_ASSERT_TRUE_FATAL(skel->fits(&j->c, &jobs.profile));
    CU_ASSERT_EQUAL_FATAL(skel->sched(&j->c, &jobs.profile, (clf_grid){0, INT64_MAX}, out, NULL), CLF_OK);
}

static void test_one_program(void) {
    const shape a = {"", {{37, 41, 10, 3}}, 0.3, NULL}, b = {"", {{2000, 100, 33, 3}}, 0.3, NULL};
    kernel_job j[2];
    clf_sched s[2];
    clf_facts f;
    planned(&j[0], "spmv", &a, &s[0]);
    planned(&j[1], "outer loss", &b, &s[1]);
    skel_same_text(&j[0], &s[0], &j[1], &s[1]);
    CU_ASSERT_EQUAL(s[0].extent, 0); /* never cut */
    CU_ASSERT_TRUE(s[1].global > 1);
    CU_ASSERT_TRUE(skel_text(&j[0], &s[0]).nargs * 8 <= 1024); /* the least a device takes */
    skel_no_memory(&j[0], &s[0]);
    s[0].skel->facts(&j[0].c, &jobs.profile, &s[0], &f);
    const clf_csr *x = j[0].in[0];
    CU_ASSERT_TRUE(f.read_bytes >= (double)x->nnz * 12 && f.write_bytes >= 37 * 8);
    for (int k = 0; k < 2; k++) job_end(&j[k]);
}

/* With an argument: memory in cl_mem objects of exact size, which Oclgrind watches. */
int main(int argc, char **argv) {
    (void)argv;
    static const test_case tests[] = {{"what it takes", test_what_it_takes},
                                      {"one program", test_one_program},
                                      {"small", test_small},
                                      {"edges", test_edges},
                                      {"large", test_large},
                                      {"guess", test_guess},
                                      {"random", test_random}};
    tell_inputs = small = argc > 1;
    if (!jobs_open(tell_inputs)) {
        jobs_close();
        return 77;
    }
    int rc = run_suite("entry.generic", tests, sizeof tests / sizeof *tests);
    jobs_close();
    net_figure("runs of entry.generic with the bits of the reference executor", "%ld", kernels);
    return rc;
}
