/* SPDX-License-Identifier: Apache-2.0
 * Random row forms on every executor: the reference executor against plain loops over whole matrices where nothing rounds; the host's row
 * executor for each instruction set, serial and on two threads, and the kernels of row.chunk, entry.chunk and entry.group against the
 * reference executor, to the bit, on exact and on real data with NaN, infinities and zeros of both signs. CLF_TEST_SEED replays one program. */
#include <CUnit/Basic.h>
#include <stdio.h>
#include <string.h>

#include "host/run/rows.h"
#include "planner/skel.h"
#include "tests/support/net.h"
#include "tests/support/random_rows.h"

static clf_pool *pool;

/* ---- executors ------------------------------------------------------------------------------------------------------------- */

typedef struct executor {
    const char *name;
    bool kernel;
    bool (*fits)(const struct executor *, const kernel_job *);
    clf_status (*run)(const struct executor *, kernel_job *, clf_err *);
    clf_isa isa;
    bool threads;
    const char *skel;
    int parts;
} executor;

static bool rows_fit(const executor *e, const kernel_job *j) { return clf_isa_pick(e->isa) == e->isa && clf_rows_fits(&j->c); }

static clf_status rows_run(const executor *e, kernel_job *j, clf_err *err) {
    struct clf_rows *rows = NULL;
    clf_bind bind = {.in = j->in, .param = j->param, .out = j->got};
    clf_status st = clf_rows_new(&rows, &j->c, e->isa, &jobs.mem, err);
    if (st == CLF_OK) st = clf_rows_run(rows, &bind, e->threads ? pool : NULL, err);
    clf_rows_free(rows);
    return st;
}

static bool kernel_fits(const executor *e, const kernel_job *j) {
    const clf_skel *s = jobs.device ? jobs_skel(e->skel) : NULL;
    return s && s->fits(&j->c, &jobs.profile);
}

static clf_status kernel_run(const executor *e, kernel_job *j, clf_err *err) { return job_kernel(j, jobs_skel(e->skel), e->parts, err); }

static const executor executors[] = {
    {.name = "rows, baseline", .fits = rows_fit, .run = rows_run, .isa = CLF_ISA_BASELINE},
    {.name = "rows, avx2, threads", .fits = rows_fit, .run = rows_run, .isa = CLF_ISA_AVX2, .threads = true},
    {.name = "rows, avx512", .fits = rows_fit, .run = rows_run, .isa = CLF_ISA_AVX512},
    {.name = "row.chunk", .kernel = true, .fits = kernel_fits, .run = kernel_run, .skel = "row.chunk", .parts = 1},
    {.name = "row.chunk, parts", .kernel = true, .fits = kernel_fits, .run = kernel_run, .skel = "row.chunk", .parts = 3},
    {.name = "entry.chunk", .kernel = true, .fits = kernel_fits, .run = kernel_run, .skel = "entry.chunk", .parts = 1},
    {.name = "entry.chunk, parts", .kernel = true, .fits = kernel_fits, .run = kernel_run, .skel = "entry.chunk", .parts = 3},
    {.name = "entry.group", .kernel = true, .fits = kernel_fits, .run = kernel_run, .skel = "entry.group", .parts = 2},
};
enum { EXECUTORS = sizeof executors / sizeof *executors };

typedef struct tally {
    int64_t programs, bad, told, sinks, ran[EXECUTORS];
} tally;

/* ---- one program ----------------------------------------------------------------------------------------------------------- */

static void unwrite(kernel_job *j) {
    for (int o = 0; o < j->c.nout; o++) memset(j->got[o], 0x5a, j->out_bytes[o]);
}

/* Does executor e leave what the reference executor left in `want`? */
static bool agrees(const executor *e, kernel_job *j) {
    clf_err err = {.code = CLF_OK};
    size_t bad = 0, before = jobs.mem.now_bytes;
    unwrite(j);
    clf_status st = e->run(e, j, &err);
    if (st != CLF_OK) fprintf(stderr, "%s: %s\n", e->name, err.text);
    for (int o = 0; o < j->c.nout && st == CLF_OK; o++) bad += job_wrong(j, o, 0);
    if (bad) fprintf(stderr, "%s: %zu cells differ\n", e->name, bad);
    if (!e->kernel && jobs.mem.now_bytes != before) {
        fprintf(stderr, "%s: keeps %lld bytes\n", e->name, (long long)(jobs.mem.now_bytes - before));
        bad++;
    }
    return st == CLF_OK && bad == 0;
}

static bool reference(random_rows *r, tally *t) {
    clf_err err = {.code = CLF_OK};
    if (job_reference(&r->j, &err) != CLF_OK) {
        fprintf(stderr, "reference: %s\n", err.text);
        return false;
    }
    int told = r->data == JOB_EXACT ? random_rows_oracle(r) : 0;
    t->told += told > 0 ? told : 0;
    t->sinks += r->data == JOB_EXACT ? r->j.c.nsink : 0;
    return told >= 0;
}

static void program(uint64_t seed, bool exact, bool kernels, tally *t) {
    random_rows r;
    t->programs++;
    if (!random_rows_make(&r, seed, exact)) {
        t->bad++;
        return;
    }
    bool ok = reference(&r, t);
    for (int e = 0; e < EXECUTORS && ok; e++) {
        if (executors[e].kernel != kernels || !executors[e].fits(&executors[e], &r.j)) continue;
        t->ran[e]++;
        ok = agrees(&executors[e], &r.j);
    }
    if (!ok) random_rows_tell(&r);
    t->bad += !ok;
    random_rows_free(&r);
}

/* ---- the suite ------------------------------------------------------------------------------------------------------------- */

static tally batch(int64_t n, bool kernels) {
    tally t = {0};
    uint64_t only = 0;
    bool replay = net_replay(&only);
    for (int64_t k = 0; k < (replay ? 1 : n) && t.bad < 3; k++)
        for (int exact = 0; exact < 2; exact++) program(replay ? only : (uint64_t)k, exact, kernels, &t);
    CU_ASSERT_EQUAL(t.bad, 0);
    CU_ASSERT(t.programs > 0);
    if (!replay)
        for (int e = 0; e < EXECUTORS; e++)
            if (executors[e].kernel == kernels && t.ran[e])
                net_figure("row forms", "%s: %lld programs, differing %lld", executors[e].name, (long long)t.ran[e], (long long)t.bad);
    return t;
}

static void test_host(void) {
    tally t = batch(net_count(1500, 60000), false);
    printf("  %lld programs; %lld of %lld outputs told by plain loops;", (long long)t.programs, (long long)t.told, (long long)t.sinks);
    printf(" rows: %lld %lld %lld\n", (long long)t.ran[0], (long long)t.ran[1], (long long)t.ran[2]);
    net_figure("row forms told by plain loops", "%lld of %lld outputs, differing %lld", (long long)t.told, (long long)t.sinks,
               (long long)t.bad);
}

static void test_kernels(void) {
    tally t = batch(net_count(24, 1500), true);
    printf("  %lld programs; row.chunk %lld %lld, entry.chunk %lld %lld, entry.group %lld\n", (long long)t.programs, (long long)t.ran[3],
           (long long)t.ran[4], (long long)t.ran[5], (long long)t.ran[6], (long long)t.ran[7]);
}

/* The same seed gives the same program, and seeds differ. */
static void test_seeds(void) {
    random_rows a, b, c;
    CU_ASSERT_FATAL(random_rows_make(&a, 7, false) && random_rows_make(&b, 7, false) && random_rows_make(&c, 8, false));
    clf_hash x = clf_cplan_hash(&a.j.c), y = clf_cplan_hash(&b.j.c), z = clf_cplan_hash(&c.j.c);
    CU_ASSERT(x.lo == y.lo && x.hi == y.hi && (x.lo != z.lo || x.hi != z.hi));
    for (int k = 0; k < a.j.c.nin; k++)
        if (!a.sparse) CU_ASSERT(memcmp(a.j.in[k], b.j.in[k], a.j.in_bytes[k]) == 0);
    random_rows_free(&a), random_rows_free(&b), random_rows_free(&c);
}

/* ---- what there is for GPUs -------------------------------------------------------------------------------------------------- */

static bool served(const clf_cplan *c, const clf_profile *p, const char *strategy) {
    for (int k = 0; clf_skels[k]; k++)
        if (!strcmp(clf_skels[k]->strategy, strategy) && clf_skels[k]->fits(c, p)) return true;
    return false;
}

/* Whatever a CPU has a kernel for, a GPU has one of groups for. */
static void test_groups(void) {
    clf_profile cpu, gpu;
    int64_t programs = 0, chunk = 0, group = 0, host = 0, missing = 0;
    clf_profile_assume(&cpu, CLF_DEV_CPU, 8);
    clf_profile_assume(&gpu, CLF_DEV_GPU, 64);
    for (uint64_t seed = 0; seed < (uint64_t)net_count(400, 20000); seed++) {
        random_rows r;
        if (!random_rows_make(&r, seed, true)) continue;
        bool by_group = served(&r.j.c, &gpu, "group"), by_chunk = served(&r.j.c, &cpu, "chunk");
        programs++, chunk += by_chunk, group += by_group, host += !by_group && clf_rows_fits(&r.j.c);
        if (by_chunk && !by_group && missing++ < 3) random_rows_tell(&r);
        random_rows_free(&r);
    }
    net_figure("row forms for GPUs", "%lld programs: kernels of chunks for %lld, of groups for %lld; for %lld the host alone",
               (long long)programs, (long long)chunk, (long long)group, (long long)host);
    CU_ASSERT_EQUAL(missing, 0);
    CU_ASSERT(group > programs / 2);
}

int main(void) {
    bool device = jobs_open(false);
    pool = clf_pool_new(&jobs.mem, 2);
    CU_initialize_registry();
    CU_pSuite s = CU_add_suite("row forms", NULL, NULL);
    CU_add_test(s, "seeds", test_seeds);
    CU_add_test(s, "kernels for GPUs", test_groups);
    CU_add_test(s, "reference and host", test_host);
    if (device) CU_add_test(s, "kernels", test_kernels);
    CU_basic_set_mode(CU_BRM_VERBOSE);
    CU_basic_run_tests();
    int bad = CU_get_number_of_failures() > 0;
    CU_cleanup_registry();
    clf_pool_free(pool);
    jobs_close();
    return bad;
}
