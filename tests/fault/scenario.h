/* SPDX-License-Identifier: Apache-2.0
 * A scenario: something a program does with the library from an open context on, whose results are known bit by bit. The fault suites
 * run it over and over while something fails. A new one is a file and a row in scenarios.c.
 *
 * Rules for run(): every call's status counts, the first that is not CLF_OK is returned; every result that a call reported good is
 * compared, and *right becomes false when it differs; handles may stay behind (the context takes them); it can run several times in a
 * context. */
#ifndef CLF_TESTS_FAULT_SCENARIO_H
#define CLF_TESTS_FAULT_SCENARIO_H
#include <stdbool.h>

#include "clfuse/clfuse.h"

typedef struct scenario {
    const char *name;
    const char *device;          /* as in clf_options */
    const char *const *settings; /* knob, value, ..., NULL; or NULL */
    clf_status (*run)(clf_ctx *c, bool *right);
} scenario;

extern const scenario *const scenarios[]; /* NULL-ended */
extern const scenario scenario_operators, scenario_files, scenario_aggregates, scenario_tiled, scenario_calls, scenario_sparse, scenario_derivatives;
extern const scenario scenario_measured, scenario_mirrors, scenario_unread, scenario_groups, scenario_generic, scenario_split, scenario_split_entries,
    scenario_split_rows;
extern const scenario scenario_kept; /* not in the list */

/** Compare n cells of a good result. */
void scenario_expect(clf_mat *m, const double *want, size_t n, clf_status *st, bool *right);
/** Where scenario_files keeps its files; made once. */
const char *scenario_folder(void);
#endif
