/* SPDX-License-Identifier: Apache-2.0
 * What a peer in C or C++ offers native.py. Matrices of f64 are put once; a sequence reads them and leaves its results in the peer's
 * memory, where they stay until the next run. */
#ifndef CLF_PERF_NATIVE_PEER_H
#define CLF_PERF_NATIVE_PEER_H
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif
/** Its version; NULL: it cannot run here. */
const char *peer_version(void);
/** Forget all matrices and results. */
void peer_clear(void);
/** Take the matrix called `name`, one capital letter: dense, row-major (ptr NULL), or in compressed rows. The memory stays as it is until
 *  peer_clear. 0: not of this kind. */
int peer_put(int name, int64_t rows, int64_t cols, int64_t nnz, const double *values, const int32_t *ptr, const int32_t *idx);
/** Run a sequence to its end. 0: there is none of that name, or it failed. */
int peer_run(const char *sequence);
/** Result i; 0: no more. */
int peer_result(int i, int64_t *rows, int64_t *cols, const double **data);
#ifdef __cplusplus
}
#endif
#endif
