/* SPDX-License-Identifier: Apache-2.0
 * The suite plan: several plans of one case side by side. What its parts "best" and "fused" share.
 *
 * A stage is a context on one device with a case's leaves; plans of the case are prepared there once each, so that all run on the same
 * memory, the same threads and the same compiled kernels, and differ in nothing but their steps. Running goes past clf_call, which would
 * ask for the one plan that the settings choose. */
#ifndef CLF_PERF_PLANS_H
#define CLF_PERF_PLANS_H
#include "host/run/run.h"
#include "perf/ml.h"
#include "planner/select.h"

typedef struct bench_stage {
    bench_subject s; /* leaves and program; opened by whoever knows the case */
    clf_frozen f;
    int device;    /* OpenCL device, -1: the host */
    clf_err err;   /* of what failed last */
    bool restless; /* threads of the BLAS or of OpenMP may still spin */
} bench_stage;

typedef struct bench_plan {
    bench_stage *stage;
    clf_exe *x;
    clf_buf *out[BENCH_OUTS]; /* of bench_plan_keep */
} bench_plan;

/* Where results are held against: a case of the suite micro or of ml with its data and oracle. */
typedef struct bench_known {
    const bench_case *cells;
    const bench_data *data;
    int64_t rows;
    const ml_case *ml;
    const ml_data *ml_data;
} bench_known;

/* ---- plans.c */
/** Freeze the program of st->s over its leaves. False: st->err. */
bool bench_stage_begin(bench_stage *st);
/** Closes st->s, too. */
void bench_stage_end(bench_stage *st);
/** A plan for the stage's device. NULL: st->err. */
clf_plan *bench_stage_plan(bench_stage *st, const clf_selector *sel);
/** What the plan is predicted to take, in ms, as its executable will say. */
double bench_stage_predicted(bench_stage *st, const clf_plan *p);
/** Cells of the largest dense value that a step makes. */
double bench_plan_cells(const clf_plan *p);
/** Have a and b the same steps? */
bool bench_plan_same(const clf_plan *a, const clf_plan *b);
/** Prepare p, which is taken over, or what the selector plans. False: st->err. */
bool bench_plan_take(bench_plan *out, bench_stage *st, clf_plan *p);
bool bench_plan_make(bench_plan *out, bench_stage *st, const char *selector);
void bench_plan_free(bench_plan *p);
/** A bench_call: runs the plan, results dropped. */
bool bench_plan_call(void *plan);
/** Does a step call the BLAS? Its threads spin for more work for 100 ms, and a pool's threads do not get their core. */
bool bench_plan_library(const bench_plan *p);
/** bench_sample of a plan; of one without the BLAS, once nobody's threads spin any more. Such plans had better come in a row. */
double bench_plan_sample(bench_plan *p, double min_ms);
/** Run it and hold the results against the case's oracle. */
void bench_plan_check(bench_row *row, bench_plan *p, const bench_known *known, const char *who);
/** On stdout: steps, each with what was predicted and what one more run took. */
void bench_plan_show(bench_plan *p, const char *who);

/* ---- plan_cases.c: all cases of the suites micro and ml in f64, at sizes of their own, on the OpenCL device and on device 0 */
typedef void (*bench_staged)(void *user, bench_row *row, bench_stage *st, const bench_known *known);
typedef struct bench_part {
    const char *name; /* cases are named <name>_<case> */
    int part;         /* row.part */
    bench_staged staged;
    void *user;
    int each;     /* quick: of so many cases one */
    int64_t side; /* of sparse matrices at most, where dense ones of their shape may be made; 0: no limit */
} bench_part;
void bench_each_case(bench_run *r, const bench_part *p);
/** Is any case of the part wanted? */
bool bench_part_wanted(const bench_options *o, const char *part);
/** Measure the profiles of this process, once. False: the row has failed. */
bool bench_calibrate(bench_run *r, bench_row *row);
#endif
