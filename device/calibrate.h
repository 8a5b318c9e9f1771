/* SPDX-License-Identifier: Apache-2.0
 * What the files of calibration share: the program texts without their element type (calibrate_cl.c, for GPUs calibrate_group_cl.c), one
 * device being measured, and one launch of its kernels. Private to device/. */
#ifndef CLF_DEVICE_CALIBRATE_H
#define CLF_DEVICE_CALIBRATE_H
#include "core/least.h"
#include "core/turns.h"
#include "device/device_internal.h"

extern const char clf_calibrate_cl[], clf_calibrate_group_cl[];

typedef struct clf_gauge_bench {
    clf_devs *d;
    int dev;
    clf_dtype type;
    cl_program built; /* of the element type at hand */
    double cores;
    size_t local;   /* 1; on a GPU, whose kernels those of calibrate_group_cl.c are, work-items of a group */
    size_t items;   /* work-items of a full launch */
    char *in, *out; /* set_bytes; out_bytes */
    size_t set_bytes, out_bytes;
    clf_buf in_name, out_name; /* what copies of the two on the device are known by: of no memory, counted by nobody */
    const char *math;  /* of clf_dev_calibrate */
    uint64_t hurry_ns; /* from this time on two runs, or one turn, have to do */
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

/** clf_dev_calibrate, which has one run per figure do after patience_s. */
clf_status clf_gauge_device(clf_devs *d, int dev, const char *math, double patience_s, clf_profile *out, clf_err *err);
/** A kernel of the program built for the element type at hand. owns: the caller, to be given to clf_program_free. */
clf_status clf_gauge_kernel(clf_gauge_bench *b, const char *entry, clf_program **out);
/** Raise *repeat (a field of the job) until the best run is long enough; a run that a neighbour made long does not pass for one, and what
 *  an earlier pass measured counts, too. */
clf_status clf_gauge_best(clf_gauge_bench *b, clf_gauge_job *j, int64_t *repeat, double *ns);
/** n jobs by turns, up to CLF_TURNS_THINGS: the median of a figure of their times. They name the same memory in the same lengths, so that a
 *  device with memory of its own has nothing to fetch in between. */
clf_status clf_gauge_turns(clf_gauge_bench *b, const clf_gauge_job *job, int n, clf_turns_figure figure, double known, double *median);
/** Evaluations of a work-item per round: 8 registers of 64 bytes with two operations (ADD) or one (CMP), or 32 vectors; on a GPU 8 numbers. */
double clf_gauge_round(const clf_gauge_bench *b, int class_);
/** Work-items that go over so many bytes together: one a core; on a GPU no more than there is work for. */
size_t clf_gauge_workers(const clf_gauge_bench *b, size_t bytes);
#define CLF_CLEARLY 0.95 /* of the time: less says nothing */
static inline bool clf_gauge_groups(const clf_gauge_bench *b) { return b->local > 1; }

/* ---- calibrate_streams.c, calibrate_loops.c: figures into *p */
/** One sweep of all cores over the first `bytes` of what is read: whole steps of the kernel m_read, nothing is skipped. */
clf_gauge_job clf_gauge_sweep(const clf_gauge_bench *b, clf_program *read, double bytes);
clf_status clf_gauge_streams(clf_gauge_bench *b, clf_profile *p);
/** Of the element type at hand, for groups of work-items: the fewest elements at once with which nothing else is clearly faster. */
clf_status clf_gauge_item_cells(clf_gauge_bench *b, clf_profile *p);
clf_status clf_gauge_fma(clf_gauge_bench *b, clf_profile *p);
clf_status clf_gauge_tile(clf_gauge_bench *b, clf_profile *p);
clf_status clf_gauge_loops(clf_gauge_bench *b, clf_profile *p);

/* ---- calibrate_link.c: transfers, where the device has memory of its own */
clf_status clf_gauge_link(clf_gauge_bench *b, clf_profile *p);
#endif
