/* SPDX-License-Identifier: Apache-2.0
 * Random programs as OpenCL kernels: bitwise the interpreter's cells and the host executor's bytes. Without an argument on a CPU device
 * (PoCL); `gpu`: on a GPU, or skipped; `oclgrind [PART]`: on Oclgrind, which watches races, uninitialised and out-of-bounds accesses; `planted`:
 * no programs but kernels that do just these, to see that Oclgrind tells (oclgrind.sh runs these two). CLF_TEST_SEED replays one program. */
#include <inttypes.h>

#include "tests/support/device_net.h"
#include "tests/support/net.h"
#include "tests/support/planted.h"
#include "tests/support/tell_inputs.h"
#include "tests/unit/api_testing.h"

enum { SKIPPED = 77, NO_SUCH_PART = 3 };

/* PoCL and LLVM keep memory until the process ends. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "detect_leaks=0"; }

static const struct variant {
    const char *name, *what, *driver;
    dn_options o;
    int64_t ci, full, part; /* programs; in one process */
    uint64_t enough, seed;  /* among so many programs every class of loop and every setting is expected */
} variants[] = {
    {"cpu", "programs on PoCL", "", {.device = "cpu", .most_cells = 600, .nodes = 3}, 100, 50000, INT32_MAX, 100, 10000000},
    {"gpu", "programs on a GPU", "", {.device = "gpu", .most_cells = 600, .nodes = 3}, 600, 50000, INT32_MAX, 300, 20000000},
    {"oclgrind",
     "programs under Oclgrind",
     "Oclgrind",
     {.device = "cpu", .buffers_only = true, .most_cells = 150, .nodes = 4},
     200,
     10000,
     500,
     300,
     30000000},
};
static const struct variant *chosen = &variants[0];
static int64_t part;

static bool has_device(const struct variant *v) {
    clf_ctx *c = NULL;
    clf_options o = {.struct_size = sizeof o, .device = v->o.device};
    clf_device d = {.struct_size = sizeof d};
    if (clf_open(&c, &o) != CLF_OK) return false;
    clf_mat *one = clf_sum(clf_fill(c, CLF_F64, 3, 1, 1));
    bool there = clf_eval(1, &one) == CLF_OK && clf_device_at(c, 1, &d) && strstr(d.name, v->driver);
    clf_close(c);
    return there;
}

/* Until every setting has counted as many programs as wanted; most programs count, so twice as many are enough. The first batch
 * is whole, so that under sanitizers, where one will do, the driver finds what it has compiled without. */
static bool run_programs(dn_net *net) {
    const int64_t all = net_count(chosen->ci, chosen->full) - part * chosen->part;
    const uint64_t want = (uint64_t)(all < chosen->part ? all : chosen->part), first = chosen->seed + (uint64_t)(2 * part * chosen->part);
    uint64_t only;
    if (net_replay(&only)) return dn_batch(net, only, 1);
    while (dn_counted(net) < want) {
        uint64_t left = net->programs ? want - dn_counted(net) : DN_BATCH;
        if (net->programs > 2 * want + DN_BATCH || !dn_batch(net, first + net->programs, left < DN_BATCH ? (int)left : DN_BATCH))
            return false;
    }
    return true;
}

static void test_programs(void) {
    static dn_net net;
    uint64_t only;
    CU_ASSERT_FATAL(dn_open(&net, &chosen->o));
    CU_ASSERT(run_programs(&net));
    CU_ASSERT(dn_groups_are_real(&net));
    bool every = dn_figures(&net, chosen->what);
    CU_ASSERT(every || net.programs < chosen->enough || net_replay(&only));
    dn_close(&net);
}

int main(int argc, char **argv) {
    static const test_case tests[] = {{"programs", test_programs}};
    const char *which = argc > 1 ? argv[1] : "cpu";
    tell_inputs = !strcmp(which, "oclgrind") || !strcmp(which, "planted");
    if (!strcmp(which, "planted")) return planted_run(argc > 2 ? argv[2] : "");
    size_t v = 0, n = sizeof variants / sizeof *variants;
    while (v < n && strcmp(variants[v].name, which)) v++;
    if (v == n) return 2;
    chosen = &variants[v];
    if (!strcmp(which, "cpu")) pinned_pair_two_devices();
    part = argc > 2 ? strtoll(argv[2], NULL, 10) : 0;
    if (part && part * chosen->part >= net_count(chosen->ci, chosen->full)) return NO_SUCH_PART;
    if (!has_device(chosen)) {
        printf("no device '%s' %s: nothing to run\n", chosen->o.device, chosen->driver);
        return SKIPPED;
    }
    return run_suite(chosen->what, tests, 1);
}
