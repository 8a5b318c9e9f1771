/* SPDX-License-Identifier: Apache-2.0
 * The plain matrix product of the library: what runs where no BLAS is. */
#ifndef CLF_DEVICE_GEMM_H
#define CLF_DEVICE_GEMM_H
#include "core/err.h"
#include "core/mem.h"

typedef struct clf_gemm_args {
    bool ta, tb;
    int64_t m, n, k, lda, ldb, ldc;
    const void *A, *B;
    void *C;
} clf_gemm_args;
/** C = op(A) op(B), row-major, all m, n, k > 0 and leading dimensions checked. Products of one cell are added in ascending k.
 *  errors: CLF_E_NOMEM for the packing space (C is then undefined). cost: 2 m n k flops, one thread. */
clf_status clf_gemm_f64(clf_mem *mem, const clf_gemm_args *g, clf_err *err);
clf_status clf_gemm_f32(clf_mem *mem, const clf_gemm_args *g, clf_err *err);
#endif
