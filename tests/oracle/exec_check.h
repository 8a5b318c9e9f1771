/* SPDX-License-Identifier: Apache-2.0
 * What the executor checks share: the oracle of casts, comparing an executor's cell with an oracle's, and the checks themselves, by the
 * file that holds them. */
#ifndef CLF_TESTS_EXEC_CHECK_H
#define CLF_TESTS_EXEC_CHECK_H
#include "tests/oracle/exec_run.h"
#include "tests/oracle/ops_oracle.h"

/** x converted to t: to integers truncated and saturated, NaN to 0; integers narrowed wrap; to floats rounded once. */
clf_scalar oracle_cast(clf_scalar x, clf_dtype t);

/* Wrong cells of one result; the first few are shown. */
typedef struct exec_diff {
    const char *what; /* shown before a wrong cell */
    const exec_job *j;
    int out;
    long wrong[EXEC_N];
} exec_diff;
/** Compare cell k of the result on every executor with the oracle; `in` is shown when it differs, n operands. */
void exec_compare(exec_diff *d, int64_t k, const oracle_result *want, const clf_scalar *in, int n);
/** Assert that no cell was wrong. */
void exec_clean(const exec_diff *d);
/** Assert that all executors gave the bits of the reference executor (any NaN equals any other). */
void exec_same_bits(const exec_job *j, int out, const char *what);
/** A uniform number, the next of a sequence. */
uint64_t exec_random(uint64_t *seed);

/* exec_ops.c */
void exec_check_ops(void);      /* every operator, type and case */
void exec_check_bool(void);     /* results of F_BOOL operators declared with every type */
void exec_check_casts(void);    /* all pairs of types */
void exec_check_operands(void); /* operators on operands of every kind: matrices, vectors, scalars in memory, parameters, positions */
/* exec_folds.c: every fold, type and shape, against definitions, and the same bits everywhere */
void exec_check_full_folds(void);
void exec_check_row_folds(void);
void exec_check_col_folds(void);
#endif
