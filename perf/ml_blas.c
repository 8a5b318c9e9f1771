/* SPDX-License-Identifier: Apache-2.0
 * What OpenBLAS does on all cores: two matrix-vector products and a loop between them, as a program without fusion; a product of matrices. */
#include <dlfcn.h>
#include <math.h>
#include <unistd.h>
#include "perf/ml.h"

enum { ROW_MAJOR = 101, NO_TRANS = 111, TRANS = 112 }; /* the values of cblas.h */
typedef void (*gemv_fn)(int order, int trans, int rows, int cols, double alpha, const double *a, int lda, const double *x, int incx,
                        double beta, double *y, int incy);

typedef void (*gemm_fn)(int order, int ta, int tb, int rows, int cols, int terms, double alpha, const double *a, int lda, const double *b,
                        int ldb, double beta, double *c, int ldc);
typedef union entry {
    void *object;
    gemv_fn gemv;
    gemm_fn gemm;
    void (*threads)(int n);
} entry;

/* On all cores. */
static entry of_openblas(const char *name) {
    void *library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!library) return (entry){NULL};
    entry set = {dlsym(library, "openblas_set_num_threads")};
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (set.object && cores > 0) set.threads((int)cores);
    return (entry){dlsym(library, name)};
}

bool ml_blas_chain(const hand_ml *a, double *scratch) {
    static gemv_fn gemv;
    if (!gemv && !(gemv = of_openblas("cblas_dgemv").gemv)) return false;
    const int n = (int)a->n, m = (int)a->m;
    gemv(ROW_MAJOR, NO_TRANS, n, m, 1, a->x, m, a->v, 1, 0, scratch, 1);
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < a->n; i++) scratch[i] *= a->w[i];
    gemv(ROW_MAJOR, TRANS, n, m, 1, a->x, m, scratch, 1, 0, a->out, 1);
    return true;
}

void ml_blas_product(const hand_ml *a) {
    static gemm_fn gemm;
    const int n = (int)a->n, m = (int)a->m, k = (int)a->k;
    if (!gemm) gemm = of_openblas("cblas_dgemm").gemm;
    if (gemm)
        gemm(ROW_MAJOR, NO_TRANS, NO_TRANS, n, k, m, 1, a->x, m, a->v, k, 0, a->out, k);
    else
        a->out[0] = (double)NAN;
}
