/* SPDX-License-Identifier: Apache-2.0
 * Plans, kernel texts and the bits of results depend on the program alone: not on addresses, the order of recording, the process or the
 * number of threads. This program runs itself many times, each time with another address layout (ASLR), another order and other threads,
 * and compares hashes: of plans by selector and by search, for one device and for two, and of what the searched plan computes. */
#include <sys/wait.h>
#include <unistd.h>

#include "host/run/run.h"
#include "planner/select.h"
#include "tests/support/net.h"
#include "tests/support/plan_devices.h"
#include "tests/support/small_program.h"
#include "tests/unit/api_testing.h"

enum { CHILDREN = 200, SMALL = 12, HASHED = SMALL + 1, HASH_TEXT = HASHED * 17 + 1 };

/* The ways to plan: selector, and which profiles are its devices. */
static const struct {
    const char *selector;
    int n, device[2];
} ways[] = {{"all", 1, {0}}, {"cost", 1, {0}}, {"cost", 2, {0, 2}}, {"cost", 2, {4, 5}}};
static plan_devices devices;

/* Outside of CUnit, for children: what cannot fail in a working library. */
static void require(bool good, const char *what) {
    if (good) return;
    fprintf(stderr, "%s failed\n", what);
    exit(3);
}

static void put_kernels(const clf_plan *p, clf_str *out) {
    clf_profile dev;
    clf_err err = {CLF_OK, ""};
    clf_arena arena;
    clf_profile_assume(&dev, CLF_DEV_CPU, 2);
    clf_arena_init(&arena, p->arena.mem);
    for (int32_t s = 0; s < p->nstep; s++) {
        const clf_cplan *c = &p->step[s].c;
        clf_sched sched;
        clf_source src;
        int k = 0;
        if (p->step[s].kind != CLF_STEP_FUSED) continue;
        clf_cplan_print(c, out);
        while (clf_skels[k] && !clf_skels[k]->fits(c, &dev)) k++;
        require(clf_skels[k] != NULL, "finding a skeleton");
        require(clf_skels[k]->sched(c, &dev, (clf_grid){0, INT64_MAX}, &sched, &err) == CLF_OK, "sched");
        require(clf_skels[k]->emit(c, &sched, "", &arena, &src, &err) == CLF_OK, "emit");
        clf_str_putn(out, src.text, src.text_len);
    }
    clf_arena_release(&arena);
}

static void put_plan(clf_ctx *c, const clf_graph *g, int way, clf_str *text) {
    clf_limits lim = {.dev.n = ways[way].n, .kernel_ops = 200, .kernel_inputs = 48};
    clf_err err = {CLF_OK, ""};
    clf_plan *p;
    for (int d = 0; d < lim.dev.n; d++) lim.dev.profile[d] = &devices.profile[ways[way].device[d]];
    require(clf_plan_new(&p, g, clf_selector_find(ways[way].selector), &lim, &c->mem, &err) == CLF_OK, "planning");
    clf_graph_print(&p->g, text);
    clf_plan_print(p, text);
    clf_str_fmt(text, "%lld ps\n", (long long)p->cost_ps);
    put_kernels(p, text);
    clf_plan_free(p);
}

static void put_bits(clf_mat *m, clf_str *text) {
    int64_t rows, cols;
    clf_dtype t;
    require(clf_info(m, &rows, &cols, &t, NULL) == CLF_OK, "asking for a result's shape");
    size_t bytes = (size_t)rows * (size_t)cols * clf_dtype_bytes(t);
    char *at = malloc(bytes + 1);
    require(at && clf_read(m, at, bytes) == CLF_OK, "reading a result");
    clf_str_putn(text, at, bytes);
    free(at);
}

/* Plans, cplans, kernel texts and results of one program as one number. */
static uint64_t program_hash(clf_ctx *c, size_t n, clf_mat *const *result) {
    clf_err err = {CLF_OK, ""};
    clf_node *root[SP_OPS];
    clf_frozen f;
    clf_str text;
    clf_str_init(&text, &c->mem);
    for (size_t i = 0; i < n; i++) root[i] = result[i]->node;
    require(clf_freeze(c, n, root, 0, NULL, &f, &err) == CLF_OK, "freezing");
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) put_plan(c, &f.g, (int)w, &text);
    clf_frozen_release(&f);
    require(clf_eval(n, result) == CLF_OK, "evaluating");
    for (size_t i = 0; i < n; i++) put_bits(result[i], &text);
    require(!text.failed, "writing it down");
    uint64_t h = clf_hash64(clf_str_c(&text), text.len, 3);
    clf_str_release(&text);
    return h;
}

static int draw(uint64_t *state, int n) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int)((*state >> 33) % (uint64_t)n);
}

/* Leaves and nodes in any order that their operands allow, unrelated things between them. */
static void record_shuffled(const sp_program *p, const sp_cells *cells, clf_ctx *c, uint64_t *state, clf_mat **handle) {
    bool done[SP_LEAVES + SP_OPS] = {false};
    for (int left = SP_LEAVES + p->n; left;) {
        int x = draw(state, SP_LEAVES + p->n), i = x - SP_LEAVES;
        bool ready = !done[x];
        for (int k = 0; i >= 0 && k < 3; k++) ready = ready && done[p->node[i].in[k]];
        if (!ready) continue;
        if (i < 0)
            sp_record_leaf(cells, x, c, handle);
        else
            sp_record_node(p, i, handle);
        if (draw(state, 3) == 0) clf_add(clf_num(c, draw(state, 100)), clf_num(c, 0.5));
        done[x] = true;
        left--;
    }
}

/* ---- a program of real numbers, whose bits hang on the order of sums ---- */

enum { LEAVES = 3, REALS = 12, RESULTS = 4 };
typedef struct real_op {
    clf_mat *(*one)(clf_mat *);
    clf_mat *(*two)(clf_mat *, clf_mat *);
    int a, b;
} real_op;
static clf_mat *loss(clf_mat *m) { return clf_sum(clf_mul(m, m)); }
static const real_op reals[REALS] = {{.a = -1},
                                     {.a = -1},
                                     {.a = -1}, /* X, Y, w */
                                     {.two = clf_mul, .a = 0, .b = 1},
                                     {.one = clf_exp, .a = 3},
                                     {.one = clf_row_sums, .a = 4},
                                     {.two = clf_div, .a = 4, .b = 5},
                                     {.two = clf_mul, .a = 6, .b = 2},
                                     {.one = clf_col_sums, .a = 7},
                                     {.one = loss, .a = 6},
                                     {.two = clf_add, .a = 1, .b = 8},
                                     {.one = clf_sum, .a = 10}};
static const int real_result[RESULTS] = {8, 9, 11, 5};

static uint64_t real_hash(clf_ctx *c, uint64_t *state) {
    clf_mat *m[REALS] = {NULL}, *result[RESULTS];
    for (int left = REALS; left;) {
        int i = draw(state, REALS);
        const real_op *o = &reals[i];
        if (m[i] || (o->a >= 0 && !m[o->a]) || (o->two && !m[o->b])) continue;
        m[i] = i < LEAVES ? clf_rand(c, CLF_F64, 1100, i == 2 ? 1 : 70, -1, 1, 1, 5 + (uint64_t)i)
               : o->two   ? o->two(m[o->a], m[o->b])
                          : o->one(m[o->a]);
        left--;
    }
    for (int i = 0; i < RESULTS; i++) result[i] = m[real_result[i]];
    return program_hash(c, RESULTS, result);
}

static void put_hashes(uint64_t seed, char *out) {
    clf_options host = {.struct_size = sizeof host, .device = "host", .fuse = "cost"};
    char threads[2] = {(char)('1' + seed % 3), 0};
    clf_ctx *c = NULL;
    sp_cells *cells = calloc(1, sizeof *cells);
    uint64_t state = seed;
    require(clf_open(&c, &host) == CLF_OK && clf_set(c, "threads", threads) == CLF_OK, "opening a context");
    sp_leaves(cells, 65, 7);
    for (int q = 0; q < SMALL; q++) {
        sp_program p;
        clf_mat *handle[SP_LEAVES + SP_OPS], *result[SP_OPS];
        size_t n = 0;
        sp_random(&p, 5, 70000 + (uint64_t)q, cells);
        record_shuffled(&p, cells, c, &state, handle);
        for (int i = 0; i < p.n; i++)
            if (sp_is_result(&p, i)) result[n++] = handle[SP_LEAVES + i];
        snprintf(out + 17 * q, 18, "%016llx\n", (unsigned long long)program_hash(c, n, result));
    }
    snprintf(out + 17 * SMALL, 18, "%016llx\n", (unsigned long long)real_hash(c, &state));
    free(cells);
    clf_close(c);
}

/* This program again, with its own addresses, printing its hashes. */
static bool child_hashes(int seed, char *out) {
    char command[64], self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    int end[2];
    snprintf(command, sizeof command, "%d", seed);
    if (n <= 0 || pipe(end)) return false;
    self[n] = 0;
    pid_t child = fork();
    if (child == 0) {
        dup2(end[1], 1);
        close(end[0]);
        close(end[1]);
        execl(self, self, "--hashes", command, (char *)NULL);
        _exit(127);
    }
    close(end[1]);
    size_t have = 0;
    for (ssize_t got; have < HASH_TEXT - 1 && (got = read(end[0], out + have, HASH_TEXT - 1 - have)) > 0;) have += (size_t)got;
    out[have] = 0;
    close(end[0]);
    int status = 1;
    return child > 0 && waitpid(child, &status, 0) == child && status == 0 && have == HASH_TEXT - 1;
}

static void test_same_plans(void) {
    static char here[HASH_TEXT], there[HASH_TEXT];
    int differing = 0, children = (int)net_count(CHILDREN, 1000);
    put_hashes(0, here);
    for (int k = 1; k <= children; k++) {
        CU_ASSERT_FATAL(child_hashes(k, there));
        for (int q = 0; q < HASHED; q++) {
            if (!memcmp(here + 17 * q, there + 17 * q, 17)) continue;
            if (!differing++) printf("\n    program %d, process %d: another plan, kernel text or result\n", q, k);
        }
    }
    CU_ASSERT_EQUAL(differing, 0);
    net_figure("plans, kernel texts and bits over processes",
               "%d programs, planned 4 ways, in %d processes, orders of recording and address layouts; differing %d", HASHED, children,
               differing);
}

int main(int argc, char **argv) {
    static const test_case tests[] = {{"the same plans in every process", test_same_plans}};
    if (!plan_devices_read(&devices, CLF_TESTS_DIR "/golden/profiles")) return 1;
    if (argc == 3 && !strcmp(argv[1], "--hashes")) {
        static char text[HASH_TEXT];
        put_hashes(strtoull(argv[2], NULL, 10), text);
        fputs(text, stdout);
        return 0;
    }
    return run_suite("same plans", tests, sizeof tests / sizeof *tests);
}
