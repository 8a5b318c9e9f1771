/* SPDX-License-Identifier: Apache-2.0
 * References written by hand in OpenCL C (perf/hand/cells.cl, ml.cl), run on the device that the bench is asked for. Operands stay on
 * the device from call to call, as those of the library do; a call ends when its kernels have. */
#ifndef CLF_PERF_GPU_H
#define CLF_PERF_GPU_H
#include "device/device.h"
#include "perf/bench.h"
#include "perf/ml.h"

enum { GPU_STEPS = 2, GPU_OPERANDS = 16 };

/* By letter: memory, or a number. */
typedef struct gpu_operand {
    char letter;
    uint8_t kind; /* clf_arg_kind */
    clf_arg arg;
} gpu_operand;

typedef struct gpu_step {
    clf_program *program;
    const char *letters; /* its arguments */
    size_t groups;
} gpu_step;

struct bench_gpu {
    clf_mem mem;
    clf_devs *devs;
    int dev;
    uint64_t ids; /* of buffers */
};

/* A reference of one case. Zeroed: none. */
typedef struct gpu_ref {
    struct bench_gpu *g;
    gpu_operand operand[GPU_OPERANDS];
    gpu_step step[GPU_STEPS];
    int noperand, nstep;
    char why[160]; /* what failed */
} gpu_ref;

/** The device that `text` names; NULL, and why, when it cannot be had. */
struct bench_gpu *gpu_open(const char *text, char *why, size_t why_n);
void gpu_close(struct bench_gpu *g);

/** The case's reference over a; false: there is none, or why says what failed. */
bool gpu_cells(gpu_ref *out, struct bench_gpu *g, const char *name, clf_dtype t, hand_args *a);
bool gpu_ml(gpu_ref *out, struct bench_gpu *g, const ml_case *k, const hand_ml *a, double *result);
/** A bench_call. */
bool gpu_call(void *ref);
/** Calls it, and brings the results to the host. */
bool gpu_results(gpu_ref *r);
void gpu_release(gpu_ref *r);
#endif
