/* SPDX-License-Identifier: Apache-2.0
 * A folder of the suite's own: made once, files put into it and counted, removed with all that is in it or found empty. */
#ifndef CLF_TESTS_FOLDER_TESTING_H
#define CLF_TESTS_FOLDER_TESTING_H
#include <CUnit/Basic.h>
#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[64];

/** Of this name and six more letters. */
static inline bool make_folder(const char *name) {
    snprintf(folder, sizeof folder, "%s/%s-XXXXXX", P_tmpdir, name);
    return mkdtemp(folder) != NULL;
}

/** A path in it: one of the last eight asked for. */
static inline const char *in_folder(const char *name) {
    static char path[8][PATH_MAX + 256];
    static int turn;
    turn = (turn + 1) % 8;
    snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
    return path[turn];
}

static inline void put_file(const char *path, const void *p, size_t n) {
    FILE *f = fopen(path, "wb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    CU_ASSERT_EQUAL(fwrite(p, 1, n, f), n);
    fclose(f);
}
static inline void put_text(const char *path, const char *text) { put_file(path, text, strlen(text)); }

static inline int entries_in_folder(void) {
    int n = 0;
    DIR *d = opendir(folder);
    CU_ASSERT_PTR_NOT_NULL_FATAL(d);
    for (struct dirent *e; (e = readdir(d));) n += strcmp(e->d_name, ".") && strcmp(e->d_name, "..");
    closedir(d);
    return n;
}

static inline bool remove_folder(void) {
    char command[sizeof folder + 16];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) == 0;
}
#endif
