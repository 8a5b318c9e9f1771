/* SPDX-License-Identifier: Apache-2.0
 * Profiles that cannot be read or written: files of another device, too long, no files at all, no room; texts with one wrong number. */
#include <CUnit/Basic.h>
#include <dirent.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "device/device_internal.h"
#include "tests/unit/folder_testing.h"

static clf_mem mem;

/* ---- profiles --------------------------------------------------------------------------------------------------------------- */

static clf_profile sample(const char *name, const char *driver) {
    clf_profile p;
    clf_profile_assume(&p, CLF_DEV_CPU, 2);
    snprintf(p.name, sizeof p.name, "%s", name);
    snprintf(p.driver, sizeof p.driver, "%s", driver);
    return p;
}

/* The one profile in the folder. */
static const char *only_profile(const char *dir) {
    static char path[PATH_MAX];
    DIR *d = opendir(dir);
    path[0] = '\0';
    CU_ASSERT_PTR_NOT_NULL_FATAL(d);
    for (struct dirent *e; (e = readdir(d));)
        if (strncmp(e->d_name, "profile-", 8) == 0) snprintf(path, sizeof path, "%s/%s", dir, e->d_name);
    closedir(d);
    return path;
}

static void refuse_load(const char *dir, const clf_profile *p, clf_status st, const char *say) {
    clf_profile out = *p;
    clf_err err = {0};
    CU_ASSERT_EQUAL(clf_profile_load(dir, p->name, p->driver, &out, &err), st);
    if (!strstr(err.text, say)) printf("\n    %s\n", err.text);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, say));
}

static void test_profile_files(void) {
    const char *dir = in_folder("profiles");
    char path[PATH_MAX], dir_path[PATH_MAX], big[20000];
    snprintf(dir_path, sizeof dir_path, "%s", dir);
    clf_profile p = sample("//A device, (R) of a name that is longer than a file's name should be 0123456789", "1.0"), other;
    clf_err err = {0};
    CU_ASSERT_EQUAL(mkdir(dir_path, 0700), 0);
    CU_ASSERT_EQUAL_FATAL(clf_profile_store(dir_path, &p, &err), CLF_OK);
    snprintf(path, sizeof path, "%s", only_profile(dir_path));
    CU_ASSERT(strstr(path, "/profile-A-device-R-of") && strlen(path) < strlen(dir_path) + 90);
    refuse_load(NULL, &p, CLF_E_IO, "no cache directory");
    refuse_load("", &p, CLF_E_IO, "no cache directory");
    other = sample(p.name, "2.0"); /* the file of another driver under this one's name */
    CU_ASSERT_EQUAL(clf_profile_store(dir_path, &other, &err), CLF_OK);
    CU_ASSERT_EQUAL(unlink(path), 0);
    CU_ASSERT_EQUAL(rename(only_profile(dir_path), path), 0);
    refuse_load(dir_path, &p, CLF_E_FORMAT, "of another device or driver");
    memset(big, '#', sizeof big - 1);
    big[sizeof big - 1] = '\0';
    put_text(path, big);
    refuse_load(dir_path, &p, CLF_E_FORMAT, "is too long");
    unlink(path);
    CU_ASSERT_EQUAL(symlink("/dev/null", path), 0);
    refuse_load(dir_path, &p, CLF_E_IO, "cannot open profile");
    unlink(path);
    CU_ASSERT_EQUAL(mkdir(path, 0700), 0);
    refuse_load(dir_path, &p, CLF_E_IO, "cannot read profile");
    put_text(strcat(strcpy(big, path), "/x"), "");
    CU_ASSERT_EQUAL(clf_profile_store(dir_path, &p, &err), CLF_E_IO); /* a folder in its place is not replaced */
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "cannot write profile"));
    unlink(big);
    rmdir(path);
    memset(big, 'd', PATH_MAX - 20);
    big[PATH_MAX - 20] = '\0';
    clf_err_clear(&err);
    CU_ASSERT_EQUAL(clf_profile_store(big, &p, &err), CLF_E_IO);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "too long"));
    struct rlimit was, small;
    CU_ASSERT_EQUAL_FATAL(getrlimit(RLIMIT_FSIZE, &was), 0);
    small = (struct rlimit){100, was.rlim_max};
    void (*signalled)(int) = signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
    clf_err_clear(&err);
    CU_ASSERT_EQUAL(clf_profile_store(dir_path, &p, &err), CLF_E_IO);
    setrlimit(RLIMIT_FSIZE, &was);
    signal(SIGXFSZ, signalled);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "File too large"));
    CU_ASSERT_EQUAL(rmdir(dir_path), 0); /* no temporary is left */
}

static void test_profile_texts(void) {
    static const char *const bad[] = {"cores 0x2\n",  "cores 2X\n", "write_cost 0X1p3\n",      "cores +2\n",  "write_cost 1e-\n",
                                      "write_cost\n", "fp64 1 x\n", "cells_per_s.f64.ADD 0\n", "kind 1\tx\n", "name\nname\n"};
    clf_profile p = sample("d", "v"), before = p;
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        CU_ASSERT_EQUAL(clf_profile_parse(&p, bad[k], strlen(bad[k]), NULL), CLF_E_FORMAT);
        CU_ASSERT(p.cores == before.cores && p.write_cost == before.write_cost);
    }
    CU_ASSERT_EQUAL(clf_profile_parse(&p, "cores\t 3 \t\n#\n\n", 14, NULL), CLF_OK);
    CU_ASSERT_EQUAL(p.cores, 3);
    p.fp64 = 0; /* a device without doubles needs no speed of theirs */
    p.cells_per_s[1][CLF_CLASS_ADD] = 0;
    CU_ASSERT_EQUAL(clf_profile_parse(&p, "cores 4", 7, NULL), CLF_OK);
    CU_ASSERT(clf_profile_stream_s(&p, 1e6, INFINITY) > clf_profile_stream_s(&p, 1e6, 1));
}

int main(void) {
    if (!make_folder("clfuse-test-edges")) return 1;
    clf_mem_init(&mem, NULL, NULL);
    CU_initialize_registry();
    CU_pSuite s = CU_add_suite("profiles that cannot be had", NULL, NULL);
    CU_add_test(s, "files", test_profile_files);
    CU_add_test(s, "texts", test_profile_texts);
    CU_basic_run_tests();
    int bad = CU_get_number_of_failures() > 0;
    CU_cleanup_registry();
    return !remove_folder() || bad;
}
