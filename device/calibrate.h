/* SPDX-License-Identifier: Apache-2.0
 * What the files of calibration share: the program text without its element type (calibrate_cl.c), one device being measured, and one
 * launch of its kernels. Private to device/. */
#ifndef CLF_DEVICE_CALIBRATE_H
#define CLF_DEVICE_CALIBRATE_H
#include "core/least.h"
#include "device/device_internal.h"

extern const char clf_calibrate_cl[];

typedef struct clf_gauge_bench {
    clf_devs *d;
    int dev;
    clf_dtype type;
    cl_program built; /* of the element type at hand */
    double cores;
    size_t items;   /* work-items of a full launch */
    char *in, *out; /* set_bytes; out_bytes */
    size_t set_bytes, out_bytes;
    const char *math;  /* of clf_dev_calibrate */
    uint64_t hurry_ns; /* from this time on one run has to do */
    clf_least least;   /* of one repetition each, of the element type at hand */
    clf_err *err;
} clf_gauge_bench;

/* What a kernel is launched with: n vectors (or rounds), sweeps over them. */
typedef struct clf_gauge_job {
    clf_program *p;
    char *in, *out;
    size_t in_bytes, out_bytes;
    int64_t n, sweeps;
    size_t items;
} clf_gauge_job;

/** A kernel of the program built for the element type at hand. owns: the caller, to be given to clf_program_free. */
clf_status clf_gauge_kernel(clf_gauge_bench *b, const char *entry, clf_program **out);
/** Raise *repeat (a field of the job) until the best run is long enough; a run that a neighbour made long does not pass for one, and what
 *  an earlier pass measured counts, too. */
clf_status clf_gauge_best(clf_gauge_bench *b, clf_gauge_job *j, int64_t *repeat, double *ns);
/** Evaluations of a work-item per round: 8 registers of 64 bytes with two operations (ADD) or one (CMP), or 32 vectors. */
double clf_gauge_round(int class_, clf_dtype t);

/* ---- calibrate_loops.c: figures into *p */
clf_status clf_gauge_fma(clf_gauge_bench *b, clf_profile *p);
clf_status clf_gauge_tile(clf_gauge_bench *b, clf_profile *p);
clf_status clf_gauge_loops(clf_gauge_bench *b, clf_profile *p);
#endif
