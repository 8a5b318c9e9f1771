/* SPDX-License-Identifier: Apache-2.0
 * One cplan with operands of its own: filled with seeded numbers, run by a skeleton's kernel on the first OpenCL device, by the reference
 * executor, and compared. CSR operands are made too.
 *
 *     jobs_open(false);                                      // once per process
 *     job_begin(&j, seed);  ... clf_build_*(&j.b, ...) ...   // or job_text(&j, seed, "(cplan ...)")
 *     job_built(&j, &err);                                   // with job_begin: ends the builder
 *     job_memory(&j, JOB_REAL, 0.1);
 *     job_kernel(&j, jobs_skel("row.chunk"), 2, &err);       // fills j.got
 *     job_reference(&j, &err);                               // fills j.want
 *     job_wrong(&j, o, 0)                                    // cells of output o that differ
 *     job_end(&j); */
#ifndef CLF_TESTS_KERNEL_JOB_H
#define CLF_TESTS_KERNEL_JOB_H
#include "device/device.h"
#include "formats/fmt.h"
#include "formats/sparse.h"
#include "planner/builder.h"
#include "planner/skel.h"

enum { JOB_OPERANDS = 40 };

/* The devices of this process; profile is device 0's, or an assumed one without a device. */
typedef struct job_place {
    clf_mem mem;
    clf_devs *devs;
    clf_profile profile;
    bool device;
    const char *options; /* kernels are built with; NULL: as their skeletons say */
} job_place;
extern job_place jobs;

/** buffers: memory goes through cl_mem objects of exact size (Oclgrind). Says so when there is no device. */
bool jobs_open(bool buffers);
void jobs_close(void);
/** The skeleton of this name; NULL if there is none. */
const clf_skel *jobs_skel(const char *name);

typedef struct kernel_job {
    clf_arena arena;
    clf_builder b;
    clf_cplan c;
    void *in[JOB_OPERANDS]; /* cells, or a clf_csr */
    void *got[JOB_OPERANDS], *want[JOB_OPERANDS];
    size_t in_bytes[JOB_OPERANDS], out_bytes[JOB_OPERANDS];
    clf_scalar param[JOB_OPERANDS];
    uint64_t seed;
} kernel_job;

/* What cells hold: REAL small numbers of both signs, a few zeros of both signs, very few NaN and infinities; POSITIVE (0.05, 3.05), where
 * every elementary function but asin and acos is finite; FINITE as REAL without NaN and infinities; EXACT small integers, a few zeros:
 * sums of products have no rounding. */
typedef enum job_data { JOB_REAL, JOB_POSITIVE, JOB_FINITE, JOB_EXACT } job_data;

void job_begin(kernel_job *j, uint64_t seed);
clf_status job_built(kernel_job *j, clf_err *err);
clf_status job_text(kernel_job *j, uint64_t seed, const char *text, clf_err *err);
void job_end(kernel_job *j);

/** In [0, 1). */
double job_uniform(kernel_job *j);
void job_fill(kernel_job *j, void *cells, clf_dtype t, size_t n, job_data data);
/** Memory for every operand, of its exact size and filled; outputs hold patterns that differ. CSR inputs get about density * cells entries
 *  (some of them stored zeros, some rows without any), and the extents of their ENTRY axes and of PATTERN outputs become their number.
 *  Parameters are 2, 3, ... */
void job_memory(kernel_job *j, job_data data, double density);
/** Replace CSR input `in`: rows, columns as declared; entry (i, j) exists where has(i, j, at) says so. After job_memory. */
void job_sparse(kernel_job *j, int in, bool (*has)(int64_t i, int64_t k, void *at), void *at, job_data data);

/** Build the skeleton's kernel and run it in `parts` launches, the last part first. errors: CLF_E_UNSUPPORTED does not fit; the rest as they
 *  come. */
clf_status job_kernel(kernel_job *j, const clf_skel *skel, int parts, clf_err *err);
/** Ahead of many job_kernel: note the skeleton's kernel of each, and build all that were noted together, as plans do; a kernel built alone
 *  costs several times as much. What cannot be noted or built here is left to job_kernel to complain about. */
void job_note(kernel_job *j, const clf_skel *skel);
void jobs_build(void);
clf_status job_reference(kernel_job *j, clf_err *err);
/** Cells of output o that differ by more than ulp units of its type; any NaN equals any NaN. Says where the first is. */
size_t job_wrong(const kernel_job *j, int o, double ulp);
size_t job_cells(const clf_cinput *o);
#endif
