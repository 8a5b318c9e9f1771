/* SPDX-License-Identifier: Apache-2.0
 * One cplan on every executor: the reference executor, the host executor for each instruction set of this CPU, and the kernels of
 * the skeleton table on the first OpenCL device. A test builds a job (operands it fills, values, sinks), runs it everywhere at
 * once, and reads each executor's results.
 *
 *     exec_begin(&j, rows, cols);
 *     exec_in x = exec_input(&j, CLF_F64, EXEC_CELLS);       // fill x.mem
 *     int out = exec_store(&j, x.value, EXEC_CELLS);
 *     exec_all(&j);                                          // asserts that every executor ran
 *     for (e < EXEC_N) if (exec_has(e)) ... exec_result(&j, e, out, k)
 *     exec_end(&j); */
#ifndef CLF_TESTS_EXEC_RUN_H
#define CLF_TESTS_EXEC_RUN_H
#include "planner/builder.h"

typedef enum exec_id { EXEC_REF, EXEC_BASELINE, EXEC_AVX2, EXEC_AVX512, EXEC_OPENCL, EXEC_N } exec_id;
/* What an operand or result varies with: bits of the axes, 1 rows and 2 columns. */
enum { EXEC_SCALAR = 0, EXEC_ROWS = 1, EXEC_COLS = 2, EXEC_CELLS = 3, EXEC_OPERANDS = 64 };

typedef struct exec_job {
    clf_arena arena;
    clf_builder b;
    clf_cplan c;
    int64_t rows, cols;
    void *in[EXEC_OPERANDS];
    void *out[EXEC_N][EXEC_OPERANDS];
    clf_scalar param[EXEC_OPERANDS];
    bool no_kernel; /* set to spare the time a kernel takes to build */
    bool ran[EXEC_N];
} exec_job;

typedef struct exec_in {
    int value;
    void *mem; /* exec_count elements, zeroed; freed by exec_end */
} exec_in;

/** Find devices. Says so when there is no OpenCL device; kernels are then skipped. */
void exec_open(void);
void exec_close(void);
bool exec_has(exec_id e);
const char *exec_name(exec_id e);

void exec_begin(exec_job *j, int64_t rows, int64_t cols);
void exec_end(exec_job *j);
/** Elements of something that varies with `keep`. */
int64_t exec_count(const exec_job *j, unsigned keep);
exec_in exec_input(exec_job *j, clf_dtype t, unsigned keep);
int exec_param(exec_job *j, clf_scalar value);
/** The 0-based position along axis 0 or 1, i64. */
int exec_index(exec_job *j, int axis);
/** Operator o in type t on as many operands as it has. */
int exec_op(exec_job *j, int o, clf_dtype t, const int v[3]);
/** A new output that receives v; its number. */
int exec_store(exec_job *j, int v, unsigned keep);
/** A new output that receives fold f of v, after the cast that lowering makes; its number. */
int exec_fold(exec_job *j, clf_fold_id f, int v, unsigned keep);
/** Check the cplan and run it on every executor. What fails is a failed assertion, and ran[] is false for it. */
void exec_all(exec_job *j);
clf_dtype exec_type(const exec_job *j, int out);
clf_scalar exec_result(const exec_job *j, exec_id e, int out, int64_t k);
#endif
