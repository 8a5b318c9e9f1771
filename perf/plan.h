/* SPDX-License-Identifier: Apache-2.0
 * The suite plan: programs whose planning is timed or counted, nothing of their results being looked at. */
#ifndef CLF_PERF_PLAN_H
#define CLF_PERF_PLAN_H
#include "perf/bench.h"

/* Results of a recorded program; the handles are the context's. */
typedef struct plan_results {
    clf_ctx *c;
    clf_mat **at;
    size_t n;
    int64_t operators; /* recorded */
    bool failed;
} plan_results;
void plan_results_free(plan_results *r);

/* Large enough programs by name. */
typedef struct plan_shape {
    const char *name;
    int64_t operators;   /* about so many */
    double plan_limit_ms, door_limit_ms, hit_limit_ms; /* NaN: none */
    void (*record)(plan_results *r, int64_t operators);
} plan_shape;
extern const plan_shape plan_shapes[]; /* ends with name == NULL */
/** Record a shape in r->c over operands of few cells. At most n operators, where the shape can have so few. */
bool plan_shape_record(const plan_shape *s, int64_t n, plan_results *r);

/* Parameters of a program in our language; sparse ones have so many stored entries. */
enum { PLAN_VARS = 16, PLAN_MOST_RESULTS = 32 };
typedef struct plan_var {
    const char *name; /* NULL ends */
    int64_t rows, cols;
    int64_t nnz;      /* 0: dense */
} plan_var;
/** One step of batch gradient descent of an autoencoder of four layers: 71 operators over X, W1 .. W4, b1 .. b4. */
extern const char plan_autoencoder[];
#endif
