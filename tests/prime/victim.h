/* SPDX-License-Identifier: Apache-2.0
 * The program that the planted errors of field.h are tried on: a * b + c in four shapes, sum(a * b), sumsq(a) and -(a - b) as its roots,
 * so that every error shows at roots of its own. Extents and cells follow from the seed. */
#ifndef CLF_TESTS_PRIME_VICTIM_H
#define CLF_TESTS_PRIME_VICTIM_H
#include "tests/prime/field.h"

/** owns: the caller's, with rp_release and free. */
rp_program *victim_program(uint64_t seed, uint64_t prime);
/** The roots, one bit each, that a planted error changes. */
extern const unsigned victim_shows[FIELD_PLANTS];
#endif
