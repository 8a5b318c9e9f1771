/* SPDX-License-Identifier: Apache-2.0
 * Random programs: every selector, instruction set and number of threads gives the interpreter's values, and the same bytes as each
 * other. CLF_TEST_SEED replays one program. */
#include "tests/support/random_program.h"
#include "tests/unit/api_testing.h"

static const struct {
    const char *fuse, *isa, *threads;
} configs[] = {
    {"all", "auto", "1"}, {"none", "auto", "1"},  {"all", "baseline", "2"},
    {"all", "avx2", "3"}, {"all", "avx512", "4"}, {"none", "baseline", "4"},
};
enum { CONFIGS = sizeof configs / sizeof *configs };

static clf_ctx *open_config(int i) {
    clf_ctx *c = open_host();
    CU_ASSERT_EQUAL(clf_set(c, "fuse", configs[i].fuse), CLF_OK);
    CU_ASSERT_EQUAL(clf_set(c, "isa", configs[i].isa), CLF_OK);
    CU_ASSERT_EQUAL(clf_set(c, "threads", configs[i].threads), CLF_OK);
    return c;
}

static size_t bytes_of(const rp_program *p, int i) {
    const rp_matrix *m = &p->node[i].m;
    return (size_t)m->rows * (size_t)m->cols * clf_dtype_bytes(m->t);
}

static bool complain(const rp_program *p, const char *where, const char *what, int node, int64_t cell) {
    printf("\n    %s: %s, node n%d, cell %lld\n", where, what, node, (long long)cell);
    rp_print(p);
    return false;
}

/* Evaluate the roots in c; agree with the interpreter, and bitwise with `first` (handles in another context) if there is one. */
static bool check_on(const rp_program *p, clf_ctx *c, const char *where, clf_mat **h, clf_mat *const *first) {
    clf_mat *root[RP_NODES];
    rp_record(p, c, h);
    for (int r = 0; r < p->nroot; r++) root[r] = h[p->root[r]];
    if (clf_eval((size_t)p->nroot, root) != CLF_OK) return complain(p, where, clf_last_error(c), p->root[0], 0);
    for (int r = 0; r < p->nroot; r++) {
        int i = p->root[r];
        const void *a, *b;
        int64_t cell = rp_compare(p, i, h[i]);
        if (cell != -1) return complain(p, where, "not the interpreter's value", i, cell);
        if (!first) continue;
        if (clf_data(h[i], &a) != CLF_OK || clf_data(first[i], &b) != CLF_OK || memcmp(a, b, bytes_of(p, i)))
            return complain(p, where, "other bits", i, 0);
    }
    return true;
}

/* False ends the run: one program is enough to look at. */
static bool check_program(clf_ctx *const *c, uint64_t seed, const rp_options *o) {
    static clf_mat *h[CONFIGS][RP_NODES];
    rp_program *p = malloc(sizeof *p);
    size_t mark[CONFIGS];
    bool good = true;
    rp_generate(p, seed, o);
    for (int i = 0; i < CONFIGS; i++) mark[i] = clf_epoch_begin(c[i]);
    for (int i = 0; i < CONFIGS && good; i++) {
        char where[64];
        snprintf(where, sizeof where, "fuse %s, isa %s, threads %s", configs[i].fuse, configs[i].isa, configs[i].threads);
        good = check_on(p, c[i], where, h[i], i ? h[0] : NULL);
    }
    for (int i = 0; i < CONFIGS; i++) clf_epoch_end(c[i], mark[i]);
    rp_release(p);
    free(p);
    return good;
}

/* Families of programs; program k of family f has the seed (f + 1) * 1000000 + k. */
enum { FAMILY = 1000000 };
static const struct {
    int programs, nodes;
    int64_t most_cells;
} families[] = {{2700, 4, 600}, {250, 8, 4200}, {50, 8, 34000}};

static void run_family(int f) {
    const char *text = getenv("CLF_TEST_SEED");
    uint64_t only = text ? strtoull(text, NULL, 10) : 0;
    clf_ctx *c[CONFIGS];
    bool good = true;
    for (int i = 0; i < CONFIGS; i++) c[i] = open_config(i);
    for (int k = 0; k < families[f].programs && good; k++) {
        uint64_t seed = (uint64_t)(f + 1) * FAMILY + (uint64_t)k;
        rp_options o = {.nodes = families[f].nodes + k % 17, .most_cells = families[f].most_cells};
        if (!only || seed == only) good = check_program(c, seed, &o);
    }
    CU_ASSERT(good);
    for (int i = 0; i < CONFIGS; i++) clf_close(c[i]);
}

static void test_small(void) { run_family(0); }
static void test_middle(void) { run_family(1); }
static void test_large(void) { run_family(2); }

/* Many expressions over leaves of one shape, joined into few large kernels, and programs of all kinds: OpenCL gives the bytes of the
 * host executor, by the caller's pointers and through buffers of the device. */
static void compare_devices(clf_ctx *host, clf_ctx *device, const char *name) {
    static const rp_options shapes[] = {
        {.nodes = 50, .most_cells = 34000, .rows = 65, .cols = 7, .cells_only = true},
        {.nodes = 50, .most_cells = 34000, .rows = 3, .cols = 513, .cells_only = true},
        {.nodes = 30, .most_cells = 34000, .rows = 64, .cols = 3},
        {.nodes = 30, .most_cells = 34000},
        {.nodes = 30, .most_cells = 4200},
    };
    static clf_mat *on_host[RP_NODES], *on_device[RP_NODES];
    rp_program *p = malloc(sizeof *p);
    bool good = true;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes && good; i++) {
        rp_generate(p, 4000000 + i, &shapes[i]);
        good = check_on(p, host, "host", on_host, NULL) && check_on(p, device, name, on_device, on_host);
        rp_release(p);
    }
    CU_ASSERT(good);
    free(p);
}

static void test_kernels(void) {
    clf_ctx *host = open_host(), *device = open_on(NULL);
    clf_device d = {.struct_size = sizeof d};
    if (clf_device_at(device, 1, &d)) {
        CU_ASSERT_EQUAL(clf_set(device, "tier", "2"), CLF_OK);
        compare_devices(host, device, "kernels");
        CU_ASSERT_EQUAL(clf_set(device, "host_pointers", "off"), CLF_OK);
        CU_ASSERT_EQUAL(clf_set(device, "max_alloc", "16K"), CLF_OK); /* and larger operands in parts */
        compare_devices(host, device, "kernels on buffers");
        clf_stats s = {.struct_size = sizeof s};
        CU_ASSERT_EQUAL(clf_get_stats(device, &s), CLF_OK);
        CU_ASSERT(s.launches_tier2 > 0);
    }
    clf_close(host);
    clf_close(device);
}

int main(void) {
    static const test_case tests[] = {{"small programs", test_small},
                                      {"middle-sized programs", test_middle},
                                      {"large programs", test_large},
                                      {"programs in OpenCL kernels", test_kernels}};
    return run_suite("random programs", tests, sizeof tests / sizeof *tests);
}
