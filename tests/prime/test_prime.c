/* SPDX-License-Identifier: Apache-2.0
 * Random programs of + - * neg sqr, sums, products and matrix products over the integers modulo a prime: the same plans, loops, kernel
 * bodies and reduction trees, another meaning of a cell. Whatever bits the executors give must be the interpreter's. A wrong plan whose
 * result is another polynomial of degree d in the leaves is missed with probability at most d / p. CLF_TEST_SEED replays one program. */
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/mem.h"
#include "core/str.h"
#include "kernels-cl/emit.h"
#include "planner/select.h"
#include "tests/prime/field_check.h"
#include "tests/prime/victim.h"
#include "tests/support/net.h"
#include "tests/unit/api_testing.h"

static const uint64_t prime = CLF_ARITH_PRIME;
static const uint64_t DEVICE_SEEDS = 1000000000; /* and above: programs of test_device */

/* ---- the field by hand ---- */

static unsigned differing(const field_run *r, clf_mat *const *h) {
    unsigned roots = 0;
    for (int k = 0; k < r->p->nroot; k++) roots |= (field_compare(r, r->p->root[k], h[r->p->root[k]]) != -1 ? 1u : 0u) << k;
    return roots;
}

static const field_config plain = {"host", "all", "baseline", "1", "auto"};

static void test_planted(void) {
    clf_ctx *c = field_open(&plain, "");
    clf_mat *h[RP_NODES];
    int seen = 0;
    CU_ASSERT_PTR_NOT_NULL_FATAL(c);
    for (uint64_t seed = 1; seed <= 50; seed++) {
        rp_program *p = victim_program(seed, prime);
        size_t mark = clf_epoch_begin(c);
        rp_record(p, c, h);
        for (int plant = FIELD_SOUND; plant < FIELD_PLANTS; plant++) {
            field_run r;
            CU_ASSERT_FATAL(field_eval(&r, p, prime, (field_plant)plant));
            unsigned roots = differing(&r, h);
            CU_ASSERT_EQUAL(roots, victim_shows[plant]);
            seen += plant != FIELD_SOUND && roots == victim_shows[plant];
            field_release(&r);
        }
        clf_epoch_end(c, mark);
        rp_release(p);
        free(p);
    }
    net_figure("planted wrong rewrites detected", "%d of %d", seen, 50 * (FIELD_PLANTS - 1));
    clf_close(c);
}

/* Values everybody can check: the edges of the field. */
static void test_by_hand(void) {
    clf_ctx *c = field_open(&plain, "");
    CU_ASSERT_PTR_NOT_NULL_FATAL(c);
    const double p = (double)prime, cells[4] = {p - 1, 1, 0, p - 2};
    clf_mat *x = clf_matrix(c, CLF_F64, 2, 2, cells);
    CU_ASSERT_EQUAL(read_f64(clf_sum(x)), p - 2);                            /* -1 + 1 + 0 - 2 */
    CU_ASSERT_EQUAL(read_f64(clf_fold(CLF_FOLD_CODE_SUMSQ, CLF_ALL, x)), 6); /* 1 + 1 + 0 + 4 */
    CU_ASSERT_EQUAL(read_f64(clf_fold(CLF_FOLD_CODE_PROD, CLF_ALL, clf_row_sums(x))), 0);
    CU_ASSERT_EQUAL(read_f64(clf_fold(CLF_FOLD_CODE_PROD, CLF_ALL, clf_col_sums(x))), 1); /* -1 * -1 */
    CU_ASSERT_EQUAL(read_f64(clf_sum(clf_neg(x))), 2);
    CU_ASSERT_EQUAL(read_f64(clf_sum(clf_sub(x, clf_num(c, 1)))), p - 6);
    double square[4];
    CU_ASSERT_EQUAL(clf_read(clf_matmul(x, x), square, sizeof square), CLF_OK); /* [-1 1; 0 -2] squared: [1 -3; 0 4] */
    CU_ASSERT(square[0] == 1 && square[1] == p - 3 && square[2] == 0 && square[3] == 4);
    clf_close(c);
}

/* ---- figures ---- */

typedef struct tally {
    const char *what;
    int64_t programs, launches, products, kernels;
    double largest, sum; /* degrees */
} tally;

static void take(tally *t, const field_batch *b) {
    for (int i = 0; i < b->n; i++) {
        double d = field_degree(&b->run[i]);
        t->largest = fmax(t->largest, d);
        t->sum += d;
    }
    t->programs += b->n;
}

static void note(const tally *t) {
    char what[160];
    snprintf(what, sizeof what, "programs over the field of %llu, %s", (unsigned long long)prime, t->what);
    net_figure(what, "%lld, none differs (%lld launches, %lld kernels built, %lld library products)", (long long)t->programs,
               (long long)t->launches, (long long)t->kernels, (long long)t->products);
    snprintf(what, sizeof what, "a wrong polynomial stays unseen there, %s", t->what);
    net_figure(what, "probability at most %.1e in the mean, %.1e for any (degree at most %.0f)",
               t->sum / (double)(t->programs ? t->programs : 1) / (double)prime, t->largest / (double)prime, t->largest);
    printf("(%lld programs, %lld launches, %lld kernels, %lld products, degree <= %.0f) ", (long long)t->programs, (long long)t->launches,
           (long long)t->kernels, (long long)t->products, t->largest);
}

/* ---- programs on the host executors ---- */

/* Every selector, on one thread and on several; and the reference executor. OpenCL: every selector. */
enum { MOST_CONFIGS = 16 };
typedef struct fleet {
    int n;
    field_config config[MOST_CONFIGS];
    clf_ctx *c[MOST_CONFIGS];
} fleet;

static void join(fleet *f, field_config k, const char *kernels) {
    if (f->n == MOST_CONFIGS) return;
    f->config[f->n] = k;
    f->c[f->n] = field_open(&k, kernels);
    f->n++;
}

static bool complete(const fleet *f) {
    int missing = 0;
    for (int i = 0; i < f->n; i++) missing += !f->c[i];
    return f->n > 0 && f->n < MOST_CONFIGS && !missing;
}

static void disband(fleet *f) {
    for (int i = 0; i < f->n; i++) clf_close(f->c[i]);
}

/* Adds a program that has a meaning; the batch owns it. */
static bool add_program(field_batch *b, uint64_t seed, const rp_options *o) {
    rp_program *p = b->program[b->n] = calloc(1, sizeof *p);
    if (p && field_program(p, seed, o, prime) && field_eval(&b->run[b->n], p, prime, FIELD_SOUND)) {
        if (field_degree(&b->run[b->n++]) <= FIELD_MOST_DEGREE) return true;
        field_release(&b->run[--b->n]);
    }
    if (p) rp_release(p);
    free(p);
    return false;
}

/* Did the executor that was asked for run, and no other one? */
static bool right_one(const field_config *k, uint64_t tile, uint64_t ref, uint64_t kernel) {
    if (!k->device) return kernel && !tile && !ref;
    return !strcmp(k->tier, "ref") ? ref && !tile : tile && !ref;
}

/* On all of them; *ran: did each have a loop to run? */
static bool on_all(const field_batch *b, const fleet *f, tally *t, bool *ran) {
    bool good = true;
    *ran = true;
    for (int i = 0; i < f->n && good; i++) {
        char where[160];
        const field_config *k = &f->config[i];
        field_launches was = field_count(f->c[i]);
        field_config_text(k, where, sizeof where);
        good = field_batch_check(b, f->c[i], where);
        field_launches is = field_count(f->c[i]);
        uint64_t tile = is.tile - was.tile, ref = is.ref - was.ref, kernel = is.kernel - was.kernel;
        *ran = *ran && right_one(k, tile, ref, kernel);
        t->launches += (int64_t)(tile + ref + kernel);
        t->products += (int64_t)(is.product - was.product);
        t->kernels += (int64_t)(is.built - was.built);
    }
    return good;
}

static const struct {
    int nodes;
    int64_t most_cells;
} families[] = {{4, 600}, {6, 600}, {4, 1100}, {10, 600}, {4, 600}, {8, 4200}, {5, 600}, {8, 34000}};
enum { FAMILIES = sizeof families / sizeof *families };

static bool one_on_host(uint64_t seed, const fleet *f, tally *t) {
    rp_options o = {.nodes = families[seed % FAMILIES].nodes + (int)(seed % 17),
                    .most_cells = families[seed % FAMILIES].most_cells,
                    .domain = RP_PRIME};
    field_batch b = {.n = 0};
    bool ran = false, good = !add_program(&b, seed, &o) || on_all(&b, f, t, &ran);
    if (good && ran) take(t, &b);
    field_batch_clear(&b);
    return good;
}

static void test_host(void) {
    fleet f = {.n = 0};
    tally t = {.what = "host and reference executors"};
    uint64_t only = 0;
    int64_t want = net_count(1500, 1000000);
    bool good = true, replay = net_replay(&only);
    for (int i = 0; clf_selectors[i]; i++) {
        join(&f, (field_config){"host", clf_selectors[i]->name, "baseline", "1", "auto"}, "");
        join(&f, (field_config){"host", clf_selectors[i]->name, "baseline", i % 2 ? "3" : "4", "auto"}, "");
    }
    join(&f, (field_config){"host", "all", "baseline", "1", "ref"}, "");
    CU_ASSERT_FATAL(complete(&f));
    if (replay) good = only >= DEVICE_SEEDS || one_on_host(only, &f, &t);
    for (uint64_t k = 1; !replay && good && t.programs < want && (int64_t)k < 4 * want; k++) good = one_on_host(k, &f, &t);
    CU_ASSERT(good);
    CU_ASSERT(replay || t.programs == want);
    CU_ASSERT(replay || t.products > 0);
    if (good && !replay) note(&t);
    disband(&f);
}

/* ---- programs in OpenCL kernels ---- */

/* A folder with a prelude whose f64 is the field: the built-in one behind a definition. */
static bool make_prelude(char *folder, size_t bytes) {
    const char *base = getenv("CLF_CACHE_DIR");
    char path[512];
    clf_mem mem;
    clf_str text;
    clf_err err = {CLF_OK, ""};
    clf_mem_init(&mem, NULL, NULL);
    clf_str_init(&text, &mem);
    snprintf(folder, bytes, "%s/field.XXXXXX", base && *base ? base : P_tmpdir);
    bool good = mkdtemp(folder) != NULL && clf_kernel_text("prelude/elem.clh", "", &text, &err) == CLF_OK;
    snprintf(path, sizeof path, "%s/prelude", folder);
    good = good && mkdir(path, 0700) == 0;
    snprintf(path, sizeof path, "%s/prelude/elem.clh", folder);
    FILE *f = good ? fopen(path, "w") : NULL;
    good = f && fprintf(f, "#define CLF_ARITH_PRIME %llu\n%s", (unsigned long long)prime, clf_str_c(&text)) > 0;
    if (f) good = fclose(f) == 0 && good;
    clf_str_release(&text);
    return good;
}

static void remove_prelude(const char *folder) {
    char path[512];
    snprintf(path, sizeof path, "%s/prelude/elem.clh", folder);
    unlink(path);
    snprintf(path, sizeof path, "%s/prelude", folder);
    rmdir(path);
    rmdir(folder);
}

/* Leaves of few shapes, so that the programs of a batch share kernels; and every tenth program of any shape, with structure. */
static const rp_options shapes[] = {
    {.nodes = 12, .most_cells = 34000, .rows = 65, .cols = 7, .cells_only = true, .domain = RP_PRIME},
    {.nodes = 12, .most_cells = 34000, .rows = 3, .cols = 513, .cells_only = true, .domain = RP_PRIME},
    {.nodes = 12, .most_cells = 34000, .rows = 2000, .cols = 1, .cells_only = true, .domain = RP_PRIME},
    {.nodes = 12, .most_cells = 34000, .rows = 64, .cols = 65, .cells_only = true, .domain = RP_PRIME},
    {.nodes = 10, .most_cells = 4200, .domain = RP_PRIME},
};

static const rp_options *shape_of(uint64_t program) { return &shapes[program % 10 == 9 ? 4 : program % 4]; }

static uint64_t device_seed(uint64_t batch, uint64_t k) { return DEVICE_SEEDS + 1000 * batch + k; }

/* At most `want` programs. */
static bool one_batch(uint64_t batch, int64_t want, const fleet *f, tally *t) {
    field_batch b = {.n = 0};
    bool ran = false;
    for (uint64_t k = 0; b.n < FIELD_BATCH && b.n < want && k < 4 * FIELD_BATCH; k++) add_program(&b, device_seed(batch, k), shape_of(k));
    bool good = on_all(&b, f, t, &ran);
    if (good && ran) take(t, &b);
    field_batch_clear(&b);
    return good;
}

static bool replay_on_device(uint64_t seed, const fleet *f, tally *t) {
    field_batch b = {.n = 0};
    bool ran = false, good = seed < DEVICE_SEEDS || !add_program(&b, seed, shape_of(seed % 1000)) || on_all(&b, f, t, &ran);
    field_batch_clear(&b);
    return good;
}

static void run_on_device(const fleet *f) {
    tally t = {.what = "OpenCL"};
    uint64_t only = 0;
    int64_t want = net_count(100, 10000);
    bool good = true, replay = net_replay(&only);
    if (replay) good = replay_on_device(only, f, &t);
    for (uint64_t k = 0; !replay && good && t.programs < want && (int64_t)k < want; k++) good = one_batch(k, want - t.programs, f, &t);
    CU_ASSERT(good);
    CU_ASSERT(replay || t.programs >= want);
    if (good && !replay) note(&t);
}

static void test_device(void) {
    fleet f = {.n = 0};
    char folder[256];
    bool made = make_prelude(folder, sizeof folder);
    CU_ASSERT(made);
    for (int i = 0; made && clf_selectors[i]; i++) join(&f, (field_config){NULL, clf_selectors[i]->name, "baseline", "2", "2"}, folder);
    if (complete(&f))
        run_on_device(&f);
    else
        printf("no OpenCL device: kernels are not run ");
    disband(&f);
    remove_prelude(folder);
}

int main(void) {
    static const test_case tests[] = {{"the field by hand", test_by_hand},
                                      {"planted wrong rewrites are seen", test_planted},
                                      {"programs on the host", test_host},
                                      {"programs in OpenCL kernels", test_device}};
    return run_suite("programs over a prime field", tests, sizeof tests / sizeof *tests);
}
