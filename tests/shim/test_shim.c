/* SPDX-License-Identifier: Apache-2.0
 * Random programs as C under the sanitizers: the kernels of every program, by every selector, give the interpreter's values and nothing
 * to report, on buffers of exact size, in parts, and by host pointers.
 *
 * The kernels of single operators (`none`) repeat from program to program: the first batch and every fourth get them, with --long all.
 * Compilers cost more per program text than per kernel, so a batch of programs is evaluated at once first, which builds their kernels
 * together; then each program alone, with what is built already, and it counts when launches rose for it. A sanitizer's report ends
 * the process; what was running is then printed. CLF_TEST_SEED replays one program. */
#include "tests/shim/shim.h"
#include "tests/support/net.h"
#include "tests/support/random_program.h"
#include "tests/unit/api_testing.h"

/* A session ends to give back what its kernels take: text in the cache, code in memory. */
enum { BATCH = 200, SESSION = 20, RARE = 4 };

/* A way to run; `share`: of all programs, one in so many runs this way. */
typedef struct way {
    const char *device, *max_alloc;
    int share;
    uint64_t counted, batches;
} way;
static way ways[] = {
    {"1", "0", 1, 0, 0},
    {"1", "2K", 20, 0, 0},
    {"2", "0", 20, 0, 0},
};
enum { WAYS = sizeof ways / sizeof *ways };
static const char *const selectors[] = {"all", "none"};
enum { SELECTORS = sizeof selectors / sizeof *selectors };

/* ---- what is running, for reports ---- */

static struct {
    const rp_program *first, *last;
    const char *device, *fuse;
} now;

void __sanitizer_set_death_callback(void (*f)(void)) __attribute__((weak));
static void at_death(void) {
    if (!now.first) return;
    fprintf(stderr, "    running on device %s, fuse %s: programs of seeds %llu to %llu\n", now.device, now.fuse,
            (unsigned long long)now.first->seed, (unsigned long long)now.last->seed);
    if (now.first == now.last) rp_print(now.first);
    fflush(stdout);
}

/* ---- checks ---- */

static bool complain(const rp_program *p, const char *what, int node, int64_t cell) {
    printf("\n    device %s, fuse %s: %s, node n%d, cell %lld\n", now.device, now.fuse, what, node, (long long)cell);
    rp_print(p);
    return false;
}

static bool compare(const rp_program *p, clf_mat *const *h) {
    for (int r = 0; r < p->nroot; r++) {
        int64_t cell = rp_compare(p, p->root[r], h[p->root[r]]);
        if (cell != -1) return complain(p, "not the interpreter's value", p->root[r], cell);
    }
    return true;
}

static uint64_t launches(clf_ctx *c) {
    clf_stats s = {.struct_size = sizeof s};
    return clf_get_stats(c, &s) == CLF_OK ? s.launches_tier2 : 0;
}

/* All roots of n programs in one evaluation. */
static bool run_programs(clf_ctx *c, rp_program *const *p, int n) {
    static clf_mat *h[BATCH][RP_NODES], *root[BATCH * RP_NODES];
    size_t roots = 0, mark = clf_epoch_begin(c);
    bool good = true;
    now.first = p[0];
    now.last = p[n - 1];
    for (int i = 0; i < n; i++) {
        rp_record(p[i], c, h[i]);
        for (int r = 0; r < p[i]->nroot; r++) root[roots++] = h[i][p[i]->root[r]];
    }
    if (clf_eval(roots, root) != CLF_OK) good = complain(p[0], clf_last_error(c), 0, 0);
    for (int i = 0; i < n && good; i++) good = compare(p[i], h[i]);
    clf_epoch_end(c, mark);
    return good;
}

static bool run_batch(way *w, clf_ctx *c, rp_program *const *p, int n) {
    bool counts[BATCH] = {false}, good = n > 0;
    bool rare = net_count(0, 1) || w->batches++ % RARE == 0;
    for (int s = 0; s < (rare ? SELECTORS : 1) && good; s++) {
        CU_ASSERT_EQUAL(clf_set(c, "fuse", selectors[s]), CLF_OK);
        now.device = w->device;
        now.fuse = selectors[s];
        good = run_programs(c, p, n);
        for (int i = 0; i < n && good; i++) {
            uint64_t before = launches(c);
            good = run_programs(c, &p[i], 1);
            counts[i] = counts[i] || launches(c) > before;
        }
    }
    for (int i = 0; i < n; i++) w->counted += counts[i];
    now.first = NULL;
    return good;
}

static clf_ctx *open_way(const way *w) {
    clf_ctx *c = open_on(w->device);
    CU_ASSERT_EQUAL(clf_set(c, "tier", "2"), CLF_OK);
    CU_ASSERT_EQUAL(clf_set(c, "max_alloc", w->max_alloc), CLF_OK);
    return c;
}

/* Small programs: what a kernel costs is its compilation. Every fourth has structure between its cells; every sixteenth is large
 * enough for many work-items. */
static void make(rp_program *p, uint64_t seed) {
    rp_options o = {.nodes = 3 + (int)(seed % 5), .most_cells = 600, .cells_only = seed % 4 != 0, .ranges = true};
    if (seed % 16 == 7) o.most_cells = 80000, o.rows = seed % 32 == 7 ? 130 : 20000, o.cols = seed % 32 == 7 ? 513 : 3;
    rp_generate(p, seed, &o);
}

/* Programs of consecutive seeds until so many counted, in one context. */
static bool run_session(way *w, uint64_t programs, uint64_t *seed, bool replaying) {
    static rp_program *p[BATCH];
    clf_ctx *c = open_way(w);
    bool good = true;
    for (int i = 0; i < BATCH; i++) p[i] = malloc(sizeof *p[i]);
    for (int b = 0; b < (replaying ? 1 : SESSION) && good && w->counted < programs; b++) {
        uint64_t left = programs - w->counted, some = replaying ? 1 : left + left / 10 + 2; /* some programs need no kernel */
        int n = some < BATCH ? (int)some : BATCH;
        for (int i = 0; i < n; i++) make(p[i], (*seed)++);
        good = run_batch(w, c, p, n);
        for (int i = 0; i < n; i++) rp_release(p[i]);
    }
    for (int i = 0; i < BATCH; i++) free(p[i]);
    clf_close(c);
    return good;
}

static void run_way(way *w, uint64_t programs) {
    uint64_t seed = 1, first = 1;
    bool replay = net_replay(&seed), good = true;
    if (replay) programs = 1, first = seed;
    while (good && w->counted < programs && seed - first < 2 * programs + BATCH && !(replay && seed > first))
        good = run_session(w, programs, &seed, replay);
    CU_ASSERT(good);
    CU_ASSERT(replay || w->counted >= programs);
}

static void test_programs(void) {
    bool sanitized = CLF_SHIM_SANITIZED;
    uint64_t programs = (uint64_t)net_count(sanitized ? 15000 : 500, sanitized ? 500000 : 5000); /* a tenth under sanitizers: 1,500 */
    if (__sanitizer_set_death_callback) __sanitizer_set_death_callback(at_death);
    for (int w = 0; w < WAYS; w++) run_way(&ways[w], programs / (uint64_t)ways[w].share);
    CU_ASSERT_EQUAL(shim_count.live, 0);
    CU_ASSERT_EQUAL(shim_count.failed, 0); /* the library would go on without these kernels */
    net_figure("random programs as C", "%llu%s", (unsigned long long)ways[0].counted, sanitized ? ", under ASan and UBSan" : "");
    net_figure("the same in parts; by host pointers", "%llu; %llu", (unsigned long long)ways[1].counted,
               (unsigned long long)ways[2].counted);
    net_figure("kernels as C, objects, launches, work-items", "%llu, %llu, %llu, %llu", (unsigned long long)shim_count.kernels,
               (unsigned long long)shim_count.programs, (unsigned long long)shim_count.launches, (unsigned long long)shim_count.items);
    net_figure("reports of sanitizers in kernels as C", "%d", 0);
    printf("\n    %llu programs, %llu kernels in %llu objects, %.1f ms a kernel, %llu launches  ", (unsigned long long)ways[0].counted,
           (unsigned long long)shim_count.kernels, (unsigned long long)shim_count.programs,
           (double)shim_count.build_ns / 1e6 / (double)(shim_count.kernels ? shim_count.kernels : 1),
           (unsigned long long)shim_count.launches);
}

int main(void) {
    static const test_case tests[] = {{"random programs", test_programs}};
    if (CLF_SHIM_SANITIZED) setenv("CLF_TEST_SANITIZED", "1", 1);
    return run_suite("kernels as C: random programs", tests, sizeof tests / sizeof *tests);
}
