/* SPDX-License-Identifier: Apache-2.0
 * Which cache directory is taken and why another is not; what is swept from the driver's, temporary ones, and the driver's workers. No
 * driver is called. */
#include <CUnit/Basic.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "device/device_internal.h"
#include "tests/unit/folder_testing.h"

static clf_mem mem;

static void put_old(const char *path, const char *text, long seconds_ago) {
    struct timeval now;
    put_text(path, text);
    gettimeofday(&now, NULL);
    now.tv_sec -= seconds_ago;
    CU_ASSERT_EQUAL(utimes(path, (const struct timeval[2]){now, now}), 0);
}

/* ---- cache directory --------------------------------------------------------------------------------------------------------- */

static void expect_dir(const char *asked, const char *want) {
    char out[512], why[512];
    bool ok = clf_cache_dir(asked, out, sizeof out, why, sizeof why);
    if (!ok) printf("\n    %s\n", why);
    CU_ASSERT(ok && why[0] == '\0');
    CU_ASSERT_STRING_EQUAL(out, want);
}

static void expect_none(const char *asked, const char *say) {
    char out[512] = "old", why[512];
    CU_ASSERT(!clf_cache_dir(asked, out, sizeof out, why, sizeof why));
    if (!strstr(why, say)) printf("\n    %s\n", why);
    CU_ASSERT(strstr(why, say) && out[0] == '\0');
}

static void test_cache_dir(void) {
    char home[PATH_MAX], xdg[PATH_MAX], want[PATH_MAX + 32];
    snprintf(home, sizeof home, "%s/home", folder);
    snprintf(xdg, sizeof xdg, "%s/xdg", folder);
    setenv("HOME", home, 1);
    setenv("XDG_CACHE_HOME", xdg, 1);
    snprintf(want, sizeof want, "%s/clfuse", xdg);
    expect_dir("", want);
    expect_dir(NULL, want);
    setenv("XDG_CACHE_HOME", "relative/is/ignored", 1);
    snprintf(want, sizeof want, "%s/.cache/clfuse", home);
    expect_dir("", want);
    setenv("XDG_CACHE_HOME", "", 1);
    expect_dir("", want);
    unsetenv("XDG_CACHE_HOME");
    expect_dir("", want);
    setenv("HOME", "relative", 1);
    expect_none("", "neither XDG_CACHE_HOME nor HOME is set");
    unsetenv("HOME");
    expect_none("", "neither XDG_CACHE_HOME nor HOME is set");
    char small[8], long_path[600];
    memset(long_path, 'x', sizeof long_path - 1);
    long_path[sizeof long_path - 1] = '\0';
    expect_none(long_path, "the path is too long");
    CU_ASSERT(!clf_cache_dir(folder, small, sizeof small, NULL, 0));
    CU_ASSERT(!clf_cache_dir(folder, small, 0, NULL, 0));
    expect_none("/proc/self/none/of/these", "cannot be created");
    expect_none("/dev/null/a/b", "cannot be created: Not a directory");
    CU_ASSERT_EQUAL(symlink(in_folder("nowhere"), in_folder("dangling")), 0);
    expect_none(in_folder("dangling"), "dangling: No such file");
    put_old(in_folder("file"), "x", 0);
    expect_none(in_folder("file"), "is not a directory");
    if (geteuid() == 0) {
        CU_ASSERT(mkdir(in_folder("other"), 0700) == 0 && chown(in_folder("other"), 12345, 12345) == 0);
        expect_none(in_folder("other"), "belongs to another user");
    } else {
        CU_ASSERT_EQUAL(mkdir(in_folder("other"), 0500), 0);
        expect_none(in_folder("other"), "is not writable");
    }
}

/* ---- the driver's own cache ------------------------------------------------------------------------------------------------- */

static void begin(clf_devs *d) {
    memset(d, 0, sizeof *d);
    d->mem = &mem;
    d->pid = getpid();
}

static bool exists(const char *path) {
    struct stat st;
    return lstat(path, &st) == 0;
}

static void test_sweep(void) {
    static clf_devs d;
    begin(&d);
    unsetenv("POCL_CACHE_DIR");
    CU_ASSERT(mkdir(in_folder("cache"), 0700) == 0 && mkdir(in_folder("cache/pocl"), 0700) == 0);
    put_old(in_folder("cache/pocl/tempfile_old"), "", 7200);
    put_old(in_folder("cache/pocl/tempfile_new"), "", 60);
    put_old(in_folder("cache/pocl/tempfile_full"), "x", 7200);
    put_old(in_folder("cache/pocl/other"), "", 7200);
    CU_ASSERT_EQUAL(mkdir(in_folder("cache/pocl/tempfile_dir"), 0700), 0);
    CU_ASSERT_EQUAL(symlink("other", in_folder("cache/pocl/tempfile_link")), 0);
    clf_environ_cache(&d, in_folder("cache"));
    CU_ASSERT(d.temp_fd == -1 && d.why[0] == '\0');
    CU_ASSERT_STRING_EQUAL(getenv("POCL_CACHE_DIR"), in_folder("cache/pocl"));
    CU_ASSERT(!exists(in_folder("cache/pocl/tempfile_old")) && exists(in_folder("cache/pocl/tempfile_new")));
    CU_ASSERT(exists(in_folder("cache/pocl/tempfile_full")) && exists(in_folder("cache/pocl/other")));
    CU_ASSERT(exists(in_folder("cache/pocl/tempfile_dir")) && exists(in_folder("cache/pocl/tempfile_link")));
    clf_environ_cache_close(&d); /* nothing of ours to remove */
    CU_ASSERT(exists(in_folder("cache/pocl")));
}

/* What a driver may write to is not cleared: as long as one is open, whether it found the directory or was given its name. */
static void test_held(void) {
    static clf_devs d, second;
    uint64_t files = 0, bytes = 0;
    begin(&d);
    begin(&second);
    unsetenv("POCL_CACHE_DIR");
    clf_environ_cache(&d, in_folder("cache"));
    clf_environ_cache(&second, in_folder("cache"));
    CU_ASSERT(d.cache_fd >= 0 && second.cache_fd >= 0 && d.temp_fd == -1 && second.temp_fd == -1);
    CU_ASSERT(mkdir(in_folder("cache/pocl/AA"), 0700) == 0);
    put_old(in_folder("cache/pocl/AA/program"), "text", 60);
    CU_ASSERT_FALSE(clf_driver_files_remove(in_folder("cache"), "pocl", &files, &bytes));
    clf_environ_cache_close(&d);
    CU_ASSERT_FALSE(clf_driver_files_remove(in_folder("cache"), "pocl", &files, &bytes));
    CU_ASSERT(files == 0 && bytes == 0 && exists(in_folder("cache/pocl/AA/program")));
    clf_environ_cache_close(&second);
    CU_ASSERT_TRUE(clf_driver_files_remove(in_folder("cache"), "pocl", &files, &bytes));
    CU_ASSERT(files >= 1 && bytes >= 4 && !exists(in_folder("cache/pocl/AA")) && exists(in_folder("cache/pocl")));
    CU_ASSERT_TRUE(clf_driver_files_remove(in_folder("cache"), "none", &files, &bytes));
}

static void test_chosen(void) {
    static clf_devs d;
    begin(&d);
    setenv("POCL_CACHE_DIR", "/chosen/by/the/user", 1);
    clf_environ_cache(&d, in_folder("cache"));
    CU_ASSERT(d.temp_fd == -1 && d.why[0] == '\0');
    CU_ASSERT_STRING_EQUAL(getenv("POCL_CACHE_DIR"), "/chosen/by/the/user");
    CU_ASSERT(mkdir(in_folder("clfuse-driver-mine"), 0700) == 0 && chmod(in_folder("clfuse-driver-mine"), 0777) == 0);
    setenv("POCL_CACHE_DIR", in_folder("clfuse-driver-mine"), 1); /* looks like ours, but anybody may write to it */
    clf_environ_cache(&d, in_folder("cache"));
    CU_ASSERT(d.temp_fd == -1 && strstr(d.why, "cannot be used again"));
    begin(&d);
    char far[PATH_MAX + 100];
    memset(far, 'x', sizeof far - 1);
    far[sizeof far - 1] = '\0';
    memcpy(far, "/clfuse-driver-", 15);
    setenv("POCL_CACHE_DIR", far, 1);
    clf_environ_cache(&d, in_folder("cache"));
    CU_ASSERT(d.temp_fd == -1 && d.why[0] == '\0');
}

/* No usable directory: a temporary one, which the last of its users removes; none either, said so. */
static void test_temporary(void) {
    static clf_devs d, twin;
    static const char *const tmp[] = {NULL, "relative", ""};
    char dir[PATH_MAX], far[PATH_MAX];
    for (int k = 0; k < 3; k++) {
        begin(&d);
        begin(&twin);
        setenv("POCL_CACHE_DIR", "", 1);
        setenv("TMPDIR", tmp[k] ? tmp[k] : folder, 1);
        clf_environ_cache(&d, in_folder("file"));
        CU_ASSERT(d.temp_fd >= 0 && strstr(d.why, "is not a directory") && strstr(d.why, "cache is temporary"));
        snprintf(dir, sizeof dir, "%s", getenv("POCL_CACHE_DIR"));
        CU_ASSERT(exists(dir) && strncmp(dir, tmp[k] ? "/tmp/" : folder, 5) == 0);
        clf_environ_cache(&twin, in_folder("file"));
        CU_ASSERT(twin.temp_fd >= 0 && twin.why[0] == '\0');
        twin.pid++; /* as a forked child: it never removes */
        clf_environ_cache_close(&d);
        CU_ASSERT(exists(dir));
        clf_environ_cache_close(&twin);
        CU_ASSERT(exists(dir) && twin.temp_fd == -1);
        begin(&d);
        clf_environ_cache(&d, in_folder("file"));
        clf_environ_cache_close(&d);
        CU_ASSERT(!exists(dir));
    }
    memset(far, 'y', sizeof far - 1);
    far[sizeof far - 1] = '\0';
    far[0] = '/';
    static const char *none[2];
    none[0] = "/no/such/folder", none[1] = far;
    for (int k = 0; k < 2; k++) {
        begin(&d);
        setenv("POCL_CACHE_DIR", "", 1);
        setenv("TMPDIR", none[k], 1);
        clf_environ_cache(&d, in_folder("file"));
        CU_ASSERT(d.temp_fd == -1 && strstr(d.why, "no temporary directory"));
    }
    unsetenv("TMPDIR");
}

static void test_workers(void) {
    cpu_set_t one, was;
    clf_affinity a;
    CU_ASSERT_EQUAL_FATAL(sched_getaffinity(0, sizeof was, &was), 0);
    setenv("POCL_AFFINITY", "0", 1);
    clf_environ_workers();
    CU_ASSERT_STRING_EQUAL(getenv("POCL_AFFINITY"), "0");
    unsetenv("POCL_AFFINITY");
    CPU_ZERO(&one);
    for (int c = 0; c < CPU_SETSIZE && !CPU_COUNT(&one); c++)
        if (CPU_ISSET(c, &was)) CPU_SET(c, &one);
    CU_ASSERT_EQUAL_FATAL(sched_setaffinity(0, sizeof one, &one), 0);
    clf_environ_workers();
    CU_ASSERT_EQUAL(getenv("POCL_AFFINITY") != NULL, sysconf(_SC_NPROCESSORS_ONLN) == 1);
    clf_affinity_widen(&a);
    CU_ASSERT(a.changed);
    clf_affinity_restore(&a);
    sched_setaffinity(0, sizeof was, &was);
    clf_affinity_widen(&a);
    CU_ASSERT_EQUAL(a.changed, CPU_COUNT(&was) == 1);
    clf_affinity_restore(&a);
}

/* A long line of reasons ends where its room does. */
static void test_notes(void) {
    static clf_devs d;
    begin(&d);
    for (int k = 0; k < 100; k++) clf_devs_note(&d, "reason %d", k);
    CU_ASSERT(strlen(d.why) == CLF_DEV_WHY - 1 && strncmp(d.why, "reason 0; reason 1; ", 20) == 0);
}

int main(void) {
    if (!make_folder("clfuse-test-edges")) return 1;
    clf_mem_init(&mem, NULL, NULL);
    CU_initialize_registry();
    CU_pSuite s = CU_add_suite("device: cache directories", NULL, NULL);
    CU_add_test(s, "cache directory", test_cache_dir);
    CU_add_test(s, "what is swept", test_sweep);
    CU_add_test(s, "what is held", test_held);
    CU_add_test(s, "a directory the user chose", test_chosen);
    CU_add_test(s, "temporary directories", test_temporary);
    CU_add_test(s, "workers", test_workers);
    CU_add_test(s, "notes", test_notes);
    CU_basic_run_tests();
    int bad = CU_get_number_of_failures() > 0;
    CU_cleanup_registry();
    return !remove_folder() || bad;
}
