/* SPDX-License-Identifier: Apache-2.0
 * Programs over the prime field on a context: redrawn so that the theorem holds, run, compared, counted. */
#ifndef CLF_TESTS_PRIME_FIELD_CHECK_H
#define CLF_TESTS_PRIME_FIELD_CHECK_H
#include "tests/prime/field.h"

enum { FIELD_MOST_DEGREE = 1 << 20 }; /* programs of a larger one may run, but say too little to count: d / p would pass 1/2000 */

/* One way to run programs. */
typedef struct field_config {
    const char *device; /* NULL: an OpenCL one */
    const char *fuse, *isa, *threads, *tier;
} field_config;
void field_config_text(const field_config *k, char *out, size_t bytes);
/** A context whose library products go through our own gemm, which has field cells here. kernels: a folder whose prelude has them too,
 *  or "". NULL when there is no such device or setting. */
clf_ctx *field_open(const field_config *k, const char *kernels);

/** A program of the domain RP_PRIME whose leaves' cells are uniform in [0, prime), and numbers small. False: it has no meaning here. */
bool field_program(rp_program *p, uint64_t seed, const rp_options *o, uint64_t prime);

/* Some programs, read and recorded together, so that one evaluation runs them all. */
enum { FIELD_BATCH = 50 };
typedef struct field_batch {
    int n;
    rp_program *program[FIELD_BATCH];
    field_run run[FIELD_BATCH];
} field_batch;
void field_batch_clear(field_batch *b);
/** Evaluate in c and compare every root. Says what differs and prints a small program that does. */
bool field_batch_check(const field_batch *b, clf_ctx *c, const char *where);

typedef struct field_launches { uint64_t tile, ref, kernel, product, built; } field_launches;
field_launches field_count(clf_ctx *c);
#endif
