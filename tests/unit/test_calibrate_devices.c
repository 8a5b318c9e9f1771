/* SPDX-License-Identifier: Apache-2.0
 * clf_calibrate where there are OpenCL devices: all are measured, all profiles are stored, and the next context finds them. Without a
 * device there is nothing to look at. */
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/api_testing.h"

static char folder[64];

static clf_ctx *open_here(void) {
    clf_ctx *c = open_on(NULL);
    CU_ASSERT_EQUAL(clf_set(c, "cache_dir", folder), CLF_OK);
    return c;
}

static void test_stored(void) {
    clf_ctx *c = open_here();
    clf_device d = {.struct_size = sizeof d};
    double launch[8] = {0}, rate[8] = {0};
    if (clf_device_at(c, 1, &d)) {
        CU_ASSERT_FALSE(d.measured);
        CU_ASSERT_EQUAL(clf_set(c, "device", "1"), CLF_OK);
        CU_ASSERT_EQUAL(clf_read_f64(clf_sum(clf_exp(clf_num(c, 0))), &rate[0]), CLF_OK);
        CU_ASSERT_EQUAL(clf_calibrate(c), CLF_OK);
        for (int i = 0; i < 8 && clf_device_at(c, i, &d); i++) {
            CU_ASSERT(i > 1 || (d.measured && d.launch_us > 0 && d.read_gb_per_s > 0));
            launch[i] = d.launch_us;
            rate[i] = d.read_gb_per_s;
        }
        clf_close(c);
        c = open_here(); /* which device is the default decides whose profile is read */
        for (int i = 0; i < 2; i++) {
            CU_ASSERT_TRUE(clf_device_at(c, i, &d));
            if (i == 0 || d.chosen) CU_ASSERT(d.measured && d.launch_us == launch[i] && d.read_gb_per_s == rate[i]);
        }
        clf_mat *x = clf_rand(c, CLF_F64, 1000, 1000, 0, 1, 1, 1);
        CU_ASSERT(read_f64(clf_sum(clf_exp(clf_sin(x)))) > 1e6);
    }
    clf_close(c);
}

int main(void) {
    static const test_case tests[] = {{"stored and found again", test_stored}};
    snprintf(folder, sizeof folder, "calibrate_devices_%d", (int)getpid());
    if (mkdir(folder, 0700)) return 1;
    int rc = run_suite("calibrate devices", tests, sizeof tests / sizeof *tests);
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command) ? 1 : rc;
}
