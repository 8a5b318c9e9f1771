/* SPDX-License-Identifier: Apache-2.0
 * The ways in which suites of split steps run: in either strategy, in host memory or through buffers, way 0 to 3. At full length each text
 * takes each matrix in every way. Else it takes it in both strategies, in one of them in memory and in the other through buffers, by turns. */
#ifndef CLF_TESTS_SPLIT_WAYS_H
#define CLF_TESTS_SPLIT_WAYS_H
#include "tests/support/net.h"
#include "tests/unit/api_testing.h"

static const char *const strategies[] = {"chunk", "group"}, *const pointers[] = {"on", "off"};

static inline bool takes_all(void) { return net_every(2, 2) == 1; }

static inline bool takes(size_t way, size_t text, size_t matrix) { return takes_all() || ((way >> 1 ^ way ^ text ^ matrix >> 1) & 1) == 0; }

/* A text's type: at full length by the matrix; else one in each strategy, so that it meets both. */
static inline clf_dtype type_of(size_t way, size_t text, size_t matrix) {
    return (text + (takes_all() ? matrix : way >> 1)) % 2 ? CLF_F32 : CLF_F64;
}
#endif
