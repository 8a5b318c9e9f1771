/* SPDX-License-Identifier: Apache-2.0
 * The list of scenarios, and what they share. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/fault/scenario.h"

const scenario *const scenarios[] = {
    &scenario_operators, &scenario_files,       &scenario_aggregates,    &scenario_tiled,      &scenario_calls,
    &scenario_sparse,    &scenario_derivatives, &scenario_measured,      &scenario_mirrors,    &scenario_groups,
    &scenario_generic,   &scenario_split,       &scenario_split_entries, &scenario_split_rows, NULL};

enum { MOST_CELLS = 4096 };

void scenario_expect(clf_mat *m, const double *want, size_t n, clf_status *st, bool *right) {
    static double got[MOST_CELLS];
    if (*st != CLF_OK) return;
    memset(got, 0xff, sizeof got);
    *st = clf_read(m, got, n * sizeof *got);
    if (*st == CLF_OK && memcmp(got, want, n * sizeof *got)) *right = false;
}

static char folder[] = P_tmpdir "/clfuse-fault-XXXXXX";

static void remove_folder(void) {
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    if (system(command)) fprintf(stderr, "cannot remove %s\n", folder);
}

const char *scenario_folder(void) {
    static bool made;
    if (!made && mkdtemp(folder)) atexit(remove_folder);
    made = true;
    return folder;
}
