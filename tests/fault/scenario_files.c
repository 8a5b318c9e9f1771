/* SPDX-License-Identifier: Apache-2.0
 * Scenario: load a Matrix Market and a CSV file, evaluate, write a .npy file, and look at its bytes without the library. */
#include <stdio.h>
#include <string.h>

#include "tests/fault/scenario.h"

static const char mtx[] = "%%MatrixMarket matrix coordinate real general\n3 2 4\n1 1 2\n2 2 -3\n3 1 0.5\n3 2 4\n";
static const char csv[] = "a,b\n1,2\n3,4\n5,6\n";

static bool write_text(const char *name, const char *text, char *path, size_t n) {
    snprintf(path, n, "%s/%s", scenario_folder(), name);
    FILE *f = fopen(path, "wb");
    if (!f) return false;
    bool ok = fputs(text, f) >= 0;
    return fclose(f) == 0 && ok;
}

/* The data of a .npy file end it. */
static bool holds(const char *path, const double *want, size_t n) {
    char bytes[4096];
    FILE *f = fopen(path, "rb");
    if (!f) return false;
    size_t got = fread(bytes, 1, sizeof bytes, f);
    fclose(f);
    return got > n * sizeof *want && !memcmp(bytes, "\x93NUMPY", 6) && !memcmp(bytes + got - n * sizeof *want, want, n * sizeof *want);
}

static clf_status run(clf_ctx *c, bool *right) {
    static const double want[6] = {4, 0, 0, -9, 3, 28}, product[4] = {4.5, 7, 11, 12};
    static char path[3][128];
    static bool made;
    if (!made) made = write_text("a.mtx", mtx, path[0], sizeof *path) && write_text("b.csv", csv, path[1], sizeof *path);
    snprintf(path[2], sizeof *path, "%s/out.npy", scenario_folder());
    remove(path[2]);
    clf_mat *a = clf_load(c, path[0]), *b = clf_load(c, path[1]), *t = clf_matmul(clf_t(a), b);
    clf_status st = clf_save(clf_add(clf_mul(a, b), clf_abs(a)), path[2], NULL);
    if (st == CLF_OK && !holds(path[2], want, 6)) *right = false;
    scenario_expect(t, product, 4, &st, right);
    return st;
}

const scenario scenario_files = {"files", "host", NULL, run};
