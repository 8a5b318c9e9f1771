/* SPDX-License-Identifier: Apache-2.0
 * Settings that lead nowhere: device names, profiles and folders that are not there, budgets too small, a selector that does not exist,
 * every topic of the log. What cannot be had is named, and the context works on. */
#include <sys/stat.h>
#include <unistd.h>

#include "host/run/run.h"
#include "tests/unit/api_testing.h"

/* A profile for the device: of a file that is not there, is damaged, is good. */
static void test_profile_file(void) {
    clf_ctx *c = open_kernels();
    char path[64];
    static text_sink t;
    double v;
    if (!c) return;
    snprintf(path, sizeof path, "settings_profile_%d", (int)getpid());
    clf_mat *x = clf_seq(c, 1, 1000, 1), *r = clf_sum(clf_sqrt(x));
    CU_ASSERT_EQUAL(clf_set(c, "profile_file", "/nonexistent/profile"), CLF_OK);
    expect_error(c, clf_read_f64(r, &v), CLF_E_IO, "cannot open profile '/nonexistent/profile'");
    write_file(path, "cores 0\n");
    CU_ASSERT_EQUAL(clf_set(c, "profile_file", path), CLF_OK);
    expect_error(c, clf_read_f64(r, &v), CLF_E_FORMAT, "0 cores");
    write_file(path, "launch_sync_ns 123456789\nlaunch_async_ns 5\nassumed 0\n");
    CU_ASSERT_EQUAL(clf_set(c, "profile_file", ""), CLF_OK);
    CU_ASSERT_EQUAL(clf_set(c, "profile_file", path), CLF_OK);
    CU_ASSERT_EQUAL(clf_explain(1, &r, CLF_TEXT, 0, collect, empty_sink(&t)), CLF_OK);
    CU_ASSERT_PTR_NULL(strstr(t.at, "profile assumed"));
    CU_ASSERT_EQUAL(c->run->used.profile[0].launch_sync_ns, 123456789);
    clf_device d = {.struct_size = sizeof d};
    CU_ASSERT(clf_device_at(c, 1, &d) && d.measured && d.launch_us == 123456.789);
    CU_ASSERT_DOUBLE_EQUAL(read_f64(r), 21097.455887480734, 1e-9);
    unlink(path);
    clf_close(c);
}

static void test_device_names(void) {
    clf_ctx *c = open_on(NULL);
    clf_device d = {.struct_size = sizeof d};
    double v;
    int n = 0;
    while (clf_device_at(c, n, &d)) n++;
    CU_ASSERT_EQUAL(clf_set(c, "device", "no such device"), CLF_OK);
    clf_mat *x = clf_seq(c, 1, 1000, 1);
    if (n > 1) {
        expect_error(c, clf_read_f64(clf_sum(clf_sqrt(x)), &v), CLF_E_NODEV, "no device matches 'no such device'");
        CU_ASSERT(clf_device_at(c, 1, &d) && !d.chosen);
        CU_ASSERT_STRING_EQUAL(clf_device_why(c), "");
        CU_ASSERT_EQUAL(clf_set(c, "device", "1"), CLF_OK);
        CU_ASSERT(clf_device_at(c, 1, &d) && d.chosen && (!strcmp(d.kind, "cpu") || !strcmp(d.kind, "gpu")));
        CU_ASSERT_DOUBLE_EQUAL(read_f64(clf_sum(clf_sqrt(x))), 21097.455887480734, 1e-9);
        CU_ASSERT_EQUAL(stats_of(c).launches_tier2, 0); /* so little stays on the host whatever the device */
        clf_mat *more = clf_seq(c, 1, 10000, 1);
        CU_ASSERT_EQUAL(clf_eval(1, &more), CLF_OK);
        CU_ASSERT_EQUAL(read_f64(clf_sum(clf_sqr(more))), 333383335000.0);
        CU_ASSERT(stats_of(c).launches_tier2 > 0);
    }
    CU_ASSERT_EQUAL(clf_set(c, "device", "0"), CLF_OK);
    CU_ASSERT(clf_device_at(c, 0, &d) && d.chosen);
    CU_ASSERT_FALSE(clf_device_at(c, n, &d));
    if (n > 1) CU_ASSERT(clf_device_at(c, 1, &d) && !d.chosen);
    clf_close(c);
}

static void test_dump(void) {
    char path[64], command[400];
    snprintf(path, sizeof path, "settings_dump_%d", (int)getpid());
    clf_ctx *c = open_host();
    CU_ASSERT_EQUAL(clf_set(c, "dump", "/proc/no-such-place"), CLF_OK);
    CU_ASSERT_EQUAL(read_f64(clf_sum(clf_seq(c, 1, 10, 1))), 55); /* a place that takes no files loses the files */
    CU_ASSERT_EQUAL(clf_set(c, "log", "io"), CLF_OK);
    CU_ASSERT_EQUAL(read_f64(clf_sum(clf_seq(c, 1, 11, 1))), 66);
    CU_ASSERT_EQUAL(clf_set(c, "log", ""), CLF_OK);
    CU_ASSERT_EQUAL(clf_set(c, "dump", path), CLF_OK);
    CU_ASSERT_EQUAL(clf_set(c, "fuse", "all"), CLF_OK); /* so small a product may be cheaper in a loop */
    clf_mat *r = clf_matmul(clf_rev(clf_exp(clf_seq(c, 1, 3, 1))), clf_t(clf_seq(c, 1, 3, 1)));
    CU_ASSERT_EQUAL(clf_eval(1, &r), CLF_OK);
    snprintf(command, sizeof command,
             "grep -q 'step . library' %s/*.plan.txt && grep -q MATMUL %s/*.graph.txt && grep -q EXP %s/*.cplan.txt", path, path, path);
    CU_ASSERT_EQUAL(system(command), 0);
    snprintf(command, sizeof command, "rm -rf %s", path);
    CU_ASSERT_EQUAL(system(command), 0);
    clf_close(c);
}

/* A knob that was changed behind the parser's back, as a plugged-in selector's name would be. */
static void test_selector(void) {
    clf_ctx *c = open_host();
    double v;
    strcpy(c->knobs.fuse, "quux");
    expect_error(c, clf_read_f64(clf_sum(clf_seq(c, 1, 10, 1)), &v), CLF_E_NAME, "no fusion selector named 'quux'");
    strcpy(c->knobs.fuse, "all");
    CU_ASSERT_EQUAL(read_f64(clf_sum(clf_seq(c, 1, 10, 1))), 55);
    clf_close(c);
}

/* A budget that the pool of blocks has to be emptied for, and one that nothing helps. */
static void test_budget(void) {
    clf_ctx *c = open_host();
    CU_ASSERT_EQUAL(clf_set(c, "mem_limit", "3M"), CLF_OK);
    for (int i = 1; i < 6; i++) {
        size_t mark = clf_epoch_begin(c);
        clf_mat *m = clf_exp(clf_seq(c, 1, 60000.0 * i, 1));
        CU_ASSERT_EQUAL(clf_eval(1, &m), CLF_OK);
        clf_epoch_end(c, mark);
    }
    clf_mat *big = clf_exp(clf_seq(c, 1, 600000, 1));
    expect_error(c, clf_eval(1, &big), CLF_E_NOMEM, "600000x1 f64 needs 4800000 bytes");
    CU_ASSERT_EQUAL(clf_set(c, "mem_limit", "1"), CLF_OK);
    clf_mat *two = clf_num(c, 2), *many[9];
    expect_error(c, clf_eval(1, &two), CLF_E_NOMEM, "out of memory for a number");
    for (int i = 0; i < 9; i++) many[i] = clf_exp(clf_num(c, i));
    CU_ASSERT_EQUAL(clf_eval(9, many), CLF_E_NOMEM);
    CU_ASSERT_EQUAL(clf_set(c, "mem_limit", "0"), CLF_OK);
    CU_ASSERT_EQUAL(clf_eval(9, many), CLF_OK);
    CU_ASSERT_EQUAL(read_f64(many[0]), 1);
    clf_close(c);
}

/* Plans that never repeat start over, before they fill the memory: by number, and by the bytes of their keys. */
static void test_many_plans(void) {
    clf_ctx *c = open_host();
    size_t mark = clf_epoch_begin(c);
    for (int i = 0; i < CLF_PLANS_KEPT + 3; i++) {
        clf_mat *m = clf_sum(clf_exp(clf_fill(c, CLF_F64, 1, i + 2, 0)));
        CU_ASSERT_EQUAL(read_f64(m), i + 2);
        clf_epoch_end(c, mark);
    }
    CU_ASSERT(c->run->nplans > 0 && c->run->nplans < CLF_PLANS_KEPT);
    c->run->key_bytes = CLF_PLAN_KEYS_BYTES + 1;
    uint64_t epoch = c->run->epoch;
    CU_ASSERT_EQUAL(read_f64(clf_sum(clf_exp(clf_fill(c, CLF_F64, 7, 7, 0)))), 49);
    CU_ASSERT_EQUAL(c->run->epoch, epoch + 1);
    CU_ASSERT_EQUAL(c->run->nplans, 1);
    clf_close(c);
}

/* Everything that can be traced is, while kernels are made, fail to build, and run. */
typedef struct heard {
    int emit, build, mem, launch, io;
} heard;
static void hear(void *user, const char *topic, const char *line) {
    heard *h = user;
    h->emit += !strcmp(topic, "emit") && strstr(line, "bytes of text");
    h->build += !strcmp(topic, "build") && strstr(line, "falls back to the host executor");
    h->mem += !strcmp(topic, "mem") && strstr(line, "bytes");
    h->launch += !strcmp(topic, "launch");
    h->io += !strcmp(topic, "io");
}

static void test_log(void) {
    heard h = {0};
    clf_ctx *c = NULL;
    char path[64], name[128], command[192];
    clf_options o = {.struct_size = sizeof o, .log = hear, .log_user = &h};
    CU_ASSERT_EQUAL_FATAL(clf_open(&c, &o), CLF_OK);
    snprintf(path, sizeof path, "settings_log_%d", (int)getpid());
    CU_ASSERT_EQUAL_FATAL(mkdir(path, 0700), 0);
    snprintf(name, sizeof name, "%s/skel", path);
    CU_ASSERT_EQUAL_FATAL(mkdir(name, 0700), 0);
    snprintf(name, sizeof name, "%s/skel/cell.chunk.cl", path);
    write_file(name, "this is no kernel\n");
    snprintf(name, sizeof name, "%s/gaps.csv", path);
    write_file(name, "1,2\n3,\n5,6\n");
    CU_ASSERT_EQUAL(clf_set(c, "log", "all"), CLF_OK);
    clf_load_options with = {.struct_size = sizeof with, .na = "drop"}, wrong = {.struct_size = sizeof wrong, .na = "maybe"};
    CU_ASSERT_EQUAL(read_f64(clf_sum(clf_load_with(c, name, &with, NULL))), 14);
    expect_sticky(clf_load_with(c, name, &wrong, NULL), CLF_E_ARG, "na 'maybe' is not error, drop or nan");
    CU_ASSERT(h.mem > 0 && h.emit == 0);
    clf_device d = {.struct_size = sizeof d};
    if (clf_device_at(c, 1, &d)) {
        clf_mat *x = clf_seq(c, 1, 20000, 1);
        CU_ASSERT_EQUAL(clf_set(c, "tier", "2"), CLF_OK);
        CU_ASSERT_EQUAL(read_f64(clf_sum(clf_sqr(x))), 2666866670000.0);
        CU_ASSERT(h.emit > 0 && h.build == 0);
        CU_ASSERT_EQUAL(clf_set(c, "kernel_dir", path), CLF_OK);
        CU_ASSERT_EQUAL(clf_set(c, "fuse", "none"), CLF_OK);
        CU_ASSERT_EQUAL(read_f64(clf_sum(clf_sqr(clf_add(x, clf_num(c, 1))))), 2667266710000.0);
        CU_ASSERT(h.build > 0);
    }
    clf_close(c);
    snprintf(command, sizeof command, "rm -rf %s", path);
    CU_ASSERT_EQUAL(system(command), 0);
}

int main(void) {
    static const test_case tests[] = {
        {"a profile of a file", test_profile_file},
        {"device names", test_device_names},

        {"dumps", test_dump},
        {"selectors", test_selector},
        {"budgets", test_budget},
        {"many plans", test_many_plans},

        {"the log", test_log},


    };
    return run_suite("settings", tests, sizeof tests / sizeof *tests);
}
