/* SPDX-License-Identifier: Apache-2.0
 * Random programs read over the integers modulo a prime: an interpreter that shares no code with the library, cell by cell in 64-bit
 * integers. It also bounds the degree of every cell as a polynomial in the leaves' cells: two different polynomials of degree d agree
 * at a random point with probability at most d / p (Schwartz and Zippel). */
#ifndef CLF_TESTS_PRIME_FIELD_H
#define CLF_TESTS_PRIME_FIELD_H
#include "tests/support/random_program.h"

/* Errors an optimiser could make, planted into the reading of a program: does the test see the difference? */
typedef enum field_plant {
    FIELD_SOUND,
    FIELD_MUL_OF_SUM,  /* a * b + c as a * (b + c) */
    FIELD_SUM_OF_MUL,  /* sum(a * b) as sum(a) * sum(b) */
    FIELD_SQUARE_LATE, /* sumsq(a) as sum(a)^2 */
    FIELD_SIGN_LOST,   /* -(a - b) as a - b */
    FIELD_PLANTS
} field_plant;

typedef struct field_run {
    const rp_program *p;
    uint64_t prime;
    field_plant plant;
    uint64_t *cell[RP_NODES];
    double degree[RP_NODES];
} field_run;

/** False when the program has a node that has no meaning here, or memory ran out; released all the same. */
bool field_eval(field_run *r, const rp_program *p, uint64_t prime, field_plant plant);
void field_release(field_run *r);
/** The first cell where an evaluated handle has other bits than node i, -1 if none; -2: another shape or type, or an error. */
int64_t field_compare(const field_run *r, int i, clf_mat *m);
/** The largest degree of a root. */
double field_degree(const field_run *r);
#endif
