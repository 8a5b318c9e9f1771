/* SPDX-License-Identifier: Apache-2.0
 * Random legal cplans in row form, what the Row and Outer templates lower to, with operands: axis 0 are the rows of a main input, dense or
 * CSR; other axes are its columns or stored entries, the columns of a small matrix, a rank. A seed gives the same program everywhere.
 * Every executor has the reduction tree of core/fold.h, so all agree to the bit, on real numbers too; the programs hold no elementary
 * functions. Programs over exact data hold small integers and can be told from plain loops (random_rows_oracle.c) where nothing rounds. */
#ifndef CLF_TESTS_RANDOM_ROWS_H
#define CLF_TESTS_RANDOM_ROWS_H
#include "tests/support/kernel_job.h"

typedef struct random_rows {
    kernel_job j; /* cplan, operands, outputs */
    uint64_t seed;
    job_data data;
    clf_dtype type; /* of the values */
    bool sparse;    /* the main input is CSR */
} random_rows;

/** Make program number `seed`, its data exact or real, its outputs unwritten. false: the generator's fault, told on stderr.
 *  jobs_open comes first. */
bool random_rows_make(random_rows *r, uint64_t seed, bool exact);
void random_rows_free(random_rows *r);
/** Seed, data and cplan, on stderr. */
void random_rows_tell(const random_rows *r);

/** Do outputs in `want` agree with plain loops over the whole matrices? How many outputs could be told (-1: one differs, told on stderr). A
 *  value that may have been rounded makes the outputs that depend on it untold. */
int random_rows_oracle(const random_rows *r);

/* random_rows_data.c: operands of program r, whose cplan stands. */
void random_rows_fill(random_rows *r);
#endif
