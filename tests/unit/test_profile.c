/* SPDX-License-Identifier: Apache-2.0
 * Profiles: text and files round-trip exactly, damaged ones are refused whole, assumed ones make sense. */
#include <CUnit/Basic.h>
#include <dirent.h>
#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "device/calibrate.h"
#include "device/device_internal.h"

static char root[] = P_tmpdir "/clfuse-test-profile-XXXXXX";
static clf_mem mem;

/* PoCL and LLVM keep memory and threads until the process ends, which the leak checker reports or trips over; what is ours is
 * counted by the ledger, which the last test reads. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "detect_leaks=0"; }

static clf_profile awkward(void) {
    clf_profile p;
    clf_profile_assume(&p, CLF_DEV_CPU, 3);
    snprintf(p.name, sizeof p.name, "Device (R) with / and # and spaces");
    snprintf(p.driver, sizeof p.driver, "3.1+x");
    p.assumed = 0;
    p.write_cost = 1.0 / 3;
    p.launch_async_ns = DBL_MIN;
    p.launch_sync_ns = DBL_MAX;
    p.cells_per_s[1][CLF_CLASS_POW] = nextafter(1e8, 2e8);
    p.second_core_ns = 0;
    return p;
}

static bool same(const clf_profile *a, const clf_profile *b) {
    clf_str x, y;
    clf_str_init(&x, &mem);
    clf_str_init(&y, &mem);
    clf_profile_print(a, &x);
    clf_profile_print(b, &y);
    bool eq = !x.failed && x.len == y.len && !strcmp(clf_str_c(&x), clf_str_c(&y));
    eq = eq && a->write_cost == b->write_cost && a->cores == b->cores && !memcmp(a->cells_per_s, b->cells_per_s, sizeof a->cells_per_s);
    eq = eq && !memcmp(a->tier_bytes, b->tier_bytes, sizeof a->tier_bytes) && !strcmp(a->name, b->name) && a->llc_bytes == b->llc_bytes;
    clf_str_release(&x);
    clf_str_release(&y);
    return eq;
}

static void round_trip(const clf_profile *p) {
    clf_profile back;
    clf_err err = {0};
    clf_str s;
    clf_str_init(&s, &mem);
    clf_profile_print(p, &s);
    memset(&back, 0, sizeof back);
    CU_ASSERT_EQUAL(clf_profile_parse(&back, clf_str_c(&s), s.len, &err), CLF_OK);
    CU_ASSERT_TRUE(same(p, &back));
    CU_ASSERT_EQUAL(back.launch_async_ns, p->launch_async_ns);
    clf_str_release(&s);
}

static void test_text(void) {
    clf_profile p = awkward();
    round_trip(&p);
    for (int kind = CLF_DEV_HOST; kind <= CLF_DEV_GPU; kind++) {
        clf_profile_assume(&p, (clf_device_kind)kind, 64);
        round_trip(&p);
    }
}

/* A locale with a decimal comma, where the machine has one. */
static void test_locale(void) {
    clf_profile p = awkward();
    const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE"};
    for (size_t i = 0; i < 3; i++)
        if (setlocale(LC_NUMERIC, names[i])) break;
    round_trip(&p);
    setlocale(LC_NUMERIC, "C");
    CU_ASSERT_STRING_EQUAL(localeconv()->decimal_point, ".");
}

static void test_damaged(void) {
    static const struct {
        const char *text, *says;
    } bad[] = {
        {"nonsense 1\n", "line 1: unknown key 'nonsense'"},
        {"cores 2\nzero 1\n", "line 2"},
        {"cores\n", "cores"},
        {"cores two\n", "cores"},
        {"cores 2.5\n", "cores"},
        {"cores -1\n", "cores"},
        {"cores 99999999999\n", "cores"},
        {"cores 2 3\n", "cores"},
        {"cores 0\n", "0 cores"},
        {"kind 7\n", "kind 7"},
        {"write_cost nan\n", "write_cost"},
        {"write_cost inf\n", "write_cost"},
        {"write_cost 1e999\n", "write_cost"},
        {"write_cost -1\n", "write_cost"},
        {"write_cost 1x\n", "write_cost"},
        {"tier_bytes 1 2 3\n", "tier_bytes"},
        {"tier_bytes 1 2 3 4 5\n", "tier_bytes"},
        {"tier_bytes 4 3 2 1\n", "tier 2"},
        {"read_bytes_per_s 1 0 1 1\n", "tier 2"},
        {"group_items 256 96 64\n", "96 work-items"},
        {"group_items 512 0 0\n", "512 work-items"},
        {"item_cells 3 2\n", "no 3 cells"},
        {"item_cells 4 8\n", "no 8 cells"},
        {"item_cells 2\n", "item_cells"},
        {"item_cells 2 2 2\n", "item_cells"},
        {"rows_at_once 3\n", "no 3 rows"},
        {"rows_at_once 8\n", "no 8 rows"},
        {"overlap 1.5\n", "overlap of 1.5"},
        {"row_alone 1.5\n", "1.5 that nothing hides"},
        {"cells_per_s.f32.ADD 0\n", "no speed"},
        {"cores 2\n\n# note\ncores 2\n", "line 4: 'cores' is there twice"},
        {"cells_per_s.f32.NOPE 1\n", "unknown key"},
        {"= 1", "unknown key"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        clf_profile p = awkward(), before = p;
        clf_err err = {0};
        CU_ASSERT_EQUAL(clf_profile_parse(&p, bad[i].text, strlen(bad[i].text), &err), CLF_E_FORMAT);
        if (!strstr(err.text, bad[i].says)) printf("\n  '%s' gave '%s'", bad[i].text, err.text);
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, bad[i].says));
        CU_ASSERT_TRUE(same(&p, &before));
    }
}

static void test_bytes(void) {
    clf_profile p = awkward(), before = p;
    char text[4096];
    CU_ASSERT_EQUAL(clf_profile_parse(&p, "cores 3\n\0", 9, NULL), CLF_E_FORMAT);
    memset(text, 'x', sizeof text);
    CU_ASSERT_EQUAL(clf_profile_parse(&p, text, sizeof text, NULL), CLF_E_FORMAT);
    memcpy(text, "name ", 5);
    CU_ASSERT_EQUAL(clf_profile_parse(&p, text, 5 + CLF_PROFILE_NAME, NULL), CLF_E_FORMAT);
    CU_ASSERT_TRUE(same(&p, &before));
    CU_ASSERT_EQUAL(clf_profile_parse(&p, text, 5 + CLF_PROFILE_NAME - 1, NULL), CLF_OK);
    CU_ASSERT_EQUAL(strlen(p.name), CLF_PROFILE_NAME - 1);
    CU_ASSERT_EQUAL(clf_profile_parse(&p, "", 0, NULL), CLF_OK);
    CU_ASSERT_EQUAL(clf_profile_parse(&p, "cores 5\r\n", 9, NULL), CLF_OK);
    CU_ASSERT_EQUAL(p.cores, 5);
    CU_ASSERT_EQUAL(p.write_cost, before.write_cost);
}

/* Every prefix of a profile parses or is refused, and never changes anything when refused. */
static void test_truncated(void) {
    clf_profile whole = awkward();
    clf_str s;
    clf_str_init(&s, &mem);
    clf_profile_print(&whole, &s);
    for (size_t n = 0; n <= s.len; n++) {
        clf_profile p = whole;
        if (clf_profile_parse(&p, clf_str_c(&s), n, NULL) != CLF_OK) CU_ASSERT_TRUE(same(&p, &whole));
    }
    clf_str_release(&s);
}

static int files_in(const char *dir) {
    int n = 0;
    DIR *d = opendir(dir);
    CU_ASSERT_PTR_NOT_NULL_FATAL(d);
    for (struct dirent *e; (e = readdir(d));) n += *e->d_name != '.';
    closedir(d);
    return n;
}

static void test_files(void) {
    clf_profile p = awkward(), back, other = awkward();
    clf_err err = {0};
    memset(&back, 0, sizeof back);
    CU_ASSERT_EQUAL(clf_profile_load(root, p.name, p.driver, &back, &err), CLF_E_IO);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, root));
    CU_ASSERT_EQUAL(clf_profile_store(root, &p, NULL), CLF_OK);
    CU_ASSERT_EQUAL(clf_profile_store(root, &p, NULL), CLF_OK);
    CU_ASSERT_EQUAL(files_in(root), 1);
    CU_ASSERT_EQUAL(clf_profile_load(root, p.name, p.driver, &back, NULL), CLF_OK);
    CU_ASSERT_TRUE(same(&p, &back));
    CU_ASSERT_EQUAL(clf_profile_load(root, p.name, "another driver", &back, NULL), CLF_E_IO);
    snprintf(other.driver, sizeof other.driver, "another driver");
    CU_ASSERT_EQUAL(clf_profile_store(root, &other, NULL), CLF_OK);
    CU_ASSERT_EQUAL(files_in(root), 2);
    CU_ASSERT_EQUAL(clf_profile_store("", &p, NULL), CLF_E_IO);
    CU_ASSERT_EQUAL(clf_profile_store("/dev/null", &p, NULL), CLF_E_IO);
}

static void test_damaged_file(void) {
    clf_profile p = awkward(), before = p;
    clf_err err = {0};
    char command[512];
    CU_ASSERT_EQUAL(clf_profile_store(root, &p, NULL), CLF_OK);
    snprintf(command, sizeof command, "for f in %s/profile-*; do echo junk 1 >> \"$f\"; done", root);
    CU_ASSERT_EQUAL(system(command), 0);
    CU_ASSERT_EQUAL(clf_profile_load(root, p.name, p.driver, &p, &err), CLF_E_FORMAT);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "junk"));
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "profile-Device"));
    CU_ASSERT_TRUE(same(&p, &before));
}

static void test_assumed(void) {
    clf_profile one, eight;
    for (int kind = CLF_DEV_HOST; kind <= CLF_DEV_GPU; kind++) {
        clf_profile_assume(&one, (clf_device_kind)kind, 0);
        clf_profile_assume(&eight, (clf_device_kind)kind, 8);
        CU_ASSERT_EQUAL(one.cores, 1);
        CU_ASSERT_EQUAL(one.assumed, 1);
        CU_ASSERT_EQUAL(one.zero_copy, kind != CLF_DEV_GPU);
        CU_ASSERT_TRUE(eight.read_bytes_per_s[3] >= one.read_bytes_per_s[3]);
        for (int c = 0; c < CLF_NCLASSES; c++) CU_ASSERT_TRUE(one.cells_per_s[1][c] > 0 && eight.cells_per_s[0][c] > one.cells_per_s[1][c]);
        CU_ASSERT_TRUE(clf_profile_stream_s(&eight, 1e6, 1e9) >= clf_profile_stream_s(&eight, 1e6, 1e4));
        CU_ASSERT_EQUAL(clf_profile_stream_s(&eight, 0, 1e9), 0);
    }
    clf_profile_assume(&one, CLF_DEV_CPU, 1);
    CU_ASSERT_DOUBLE_EQUAL(clf_profile_stream_s(&one, 1e9, one.tier_bytes[1]) * one.read_bytes_per_s[1], 1e9, 1);
    CU_ASSERT_DOUBLE_EQUAL(clf_profile_stream_s(&one, 1e9, 1e300) * one.read_bytes_per_s[3], 1e9, 1);
}

/* The rate of memory is the host's where a CPU is a device, both were measured, and its own is less. */
static void test_memory_shared(void) {
    static const struct {
        clf_device_kind kind;
        int assumed, host_assumed;
        double own, is;
    } of[] = {{CLF_DEV_CPU, 0, 0, 3e9, 5e9},
              {CLF_DEV_CPU, 0, 0, 6e9, 6e9},
              {CLF_DEV_CPU, 1, 0, 3e9, 3e9},
              {CLF_DEV_CPU, 0, 1, 3e9, 3e9},
              {CLF_DEV_GPU, 0, 0, 3e9, 3e9}};
    clf_profile host, p;
    clf_profile_assume(&host, CLF_DEV_HOST, 2);
    host.read_bytes_per_s[3] = 5e9;
    host.library_wait_ns[1] = 7;
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        clf_profile_assume(&p, of[i].kind, 2);
        p.assumed = of[i].assumed;
        host.assumed = of[i].host_assumed;
        p.read_bytes_per_s[3] = of[i].own;
        clf_profile_take_host(&p, &host);
        CU_ASSERT_EQUAL(p.read_bytes_per_s[3], of[i].is);
        CU_ASSERT_EQUAL(p.library_wait_ns[1], 7);
    }
}

/* Measuring gives figures that a profile may hold. How good they are hangs on what else the machine does; how long measuring takes, the
 * bench says (perf/plan_cases.c). */
static void test_calibrate(void) {
    clf_devs *d = NULL;
    clf_profile p;
    clf_err err = {0};
    CU_ASSERT_EQUAL_FATAL(clf_devs_open(&d, &(clf_dev_opts){.mem = &mem, .cache_dir = root}, &err), CLF_OK);
    CU_ASSERT_EQUAL(clf_dev_calibrate(d, clf_devs_count(d), NULL, &p, NULL), CLF_E_ARG);
    if (clf_devs_count(d)) {
        CU_ASSERT_EQUAL(clf_dev_calibrate(d, 0, NULL, &p, &err), CLF_OK);
        CU_ASSERT_EQUAL(p.assumed, 0);
        CU_ASSERT_STRING_EQUAL(p.name, clf_devs_info(d, 0)->name);
        CU_ASSERT_TRUE(p.launch_sync_ns >= p.launch_async_ns && p.launch_async_ns > 0);
        for (int c = 0; c < CLF_NCLASSES; c++) CU_ASSERT(isfinite(p.cells_per_s[0][c]) && p.cells_per_s[0][c] > 0);
        CU_ASSERT_TRUE(p.write_cost >= 0.5 && p.write_cost <= 4);
        CU_ASSERT(p.entry_ns > 0 && p.pick_ns >= 0 && p.side_ns == 0 && p.pair_ns > 0);
        CU_ASSERT(p.rows_at_once == 1 || p.rows_at_once == 4);
        round_trip(&p);
    }
    clf_devs_close(d);
    CU_ASSERT_EQUAL(atomic_load(&mem.now_bytes), 0);
}

/* What a GPU is measured by, on whatever device there is: kernels for groups of work-items, copies in its memory, the way there. */
static void test_calibrate_groups(void) {
    clf_devs *d = NULL;
    clf_profile p, q;
    clf_err err = {0};
    CU_ASSERT_EQUAL_FATAL(clf_devs_open(&d, &(clf_dev_opts){.mem = &mem, .cache_dir = root, .no_host_pointers = 1}, &err), CLF_OK);
    if (clf_devs_count(d)) {
        d->dev[0].info.kind = CLF_DEV_GPU;
        clf_dev_assume(d, 0, &q);
        clf_status st = clf_gauge_device(d, 0, NULL, 0, &p, &err);
        if (st != CLF_OK) printf("\n    %s\n", err.text);
        CU_ASSERT_EQUAL_FATAL(st, CLF_OK);
        CU_ASSERT(p.kind == CLF_DEV_GPU && !p.assumed && !p.zero_copy && p.second_core_ns == 0);
        CU_ASSERT(p.transfer_bytes_per_s > 0 && p.transfer_ns > 0 && p.transfer_bytes_per_s != q.transfer_bytes_per_s);
        CU_ASSERT_TRUE(p.pinned_bytes_per_s > 0);
        for (int t = 0; t < CLF_PROFILE_TIERS; t++) CU_ASSERT(p.read_bytes_per_s[t] > 0 && p.gather_ns[t] > 0);
        for (int w = 0; w <= p.fp64; w++)
            for (int c = 0; c < CLF_NCLASSES; c++) CU_ASSERT(p.cells_per_s[w][c] > 0 && p.cells_per_s[w][c] != q.cells_per_s[w][c]);
        CU_ASSERT(p.row_ns > 0 && p.entry_ns > 0 && p.locate_ns > 0 && p.fma_per_s[0] > 0);
        CU_ASSERT(p.side_ns == p.dot_ns && p.pair_ns == p.dot_ns && p.pick_ns == 0); /* a CPU's: how its lanes are filled */
        CU_ASSERT(p.launch_sync_ns >= p.launch_async_ns && p.launch_async_ns > 0);
        for (int k = 0; k < CLF_GROUP_KINDS; k++) CU_ASSERT(p.group_items[k] == 64 || p.group_items[k] == 128 || p.group_items[k] == 256);
        for (int w = 0; w <= p.fp64; w++) CU_ASSERT(p.item_cells[w] == 1 || p.item_cells[w] == 2 || p.item_cells[w] == 4);
        CU_ASSERT_EQUAL(p.group_cells, 8 * p.group_items[CLF_GROUP_CELLS]); /* as the assumed ones, of 256 */
        CU_ASSERT_EQUAL(p.group_sum_bytes, 8 * p.group_items[CLF_GROUP_CELLS]);
        CU_ASSERT_EQUAL(p.unit_groups * p.group_items[CLF_GROUP_CELLS], 1024);
        CU_ASSERT(p.unit_local_bytes > 0 && p.unit_local_bytes == (double)clf_devs_info(d, 0)->local_bytes);
        CU_ASSERT_EQUAL(clf_devs_stats(d).bytes_home, 0); /* nobody reads what the kernels leave */
        round_trip(&p);
    }
    clf_devs_close(d);
    CU_ASSERT_EQUAL(atomic_load(&mem.now_bytes), 0);
}

static void remove_root(void) {
    char command[256];
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    if (system(command)) fprintf(stderr, "cannot remove %s\n", root);
}

int main(void) {
    static CU_TestInfo tests[] = {
        {"text", test_text},
        {"locale", test_locale},
        {"damaged", test_damaged},
        {"bytes", test_bytes},
        {"truncated", test_truncated},
        {"files", test_files},
        {"damaged file", test_damaged_file},
        {"assumed", test_assumed},
        {"one memory", test_memory_shared},
        {"calibrate", test_calibrate},
        {"calibrate groups", test_calibrate_groups},
        CU_TEST_INFO_NULL,
    };
    CU_SuiteInfo suites[] = {{"profile", NULL, NULL, NULL, NULL, tests}, CU_SUITE_INFO_NULL};
    clf_mem_init(&mem, NULL, NULL);
    if (!mkdtemp(root) || CU_initialize_registry() != CUE_SUCCESS || CU_register_suites(suites) != CUE_SUCCESS) return 1;
    CU_basic_run_tests();
    int rc = CU_get_number_of_failures() > 0;
    CU_cleanup_registry();
    remove_root();
    return rc;
}
