/* SPDX-License-Identifier: Apache-2.0
 * What a program without fusion does: two matrix-vector products of OpenBLAS on all cores and a loop between them. */
#include <dlfcn.h>
#include <unistd.h>
#include "perf/ml.h"

enum { ROW_MAJOR = 101, NO_TRANS = 111, TRANS = 112 }; /* the values of cblas.h */
typedef void (*gemv_fn)(int order, int trans, int rows, int cols, double alpha, const double *a, int lda, const double *x, int incx,
                        double beta, double *y, int incy);

static gemv_fn gemv_of_openblas(void) {
    void *library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!library) return NULL;
    union {
        void *object;
        gemv_fn gemv;
        void (*threads)(int n);
    } gemv = {dlsym(library, "cblas_dgemv")}, set = {dlsym(library, "openblas_set_num_threads")};
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (set.object && cores > 0) set.threads((int)cores);
    return gemv.object ? gemv.gemv : NULL;
}

bool ml_blas_chain(const hand_ml *a, double *scratch) {
    static gemv_fn gemv;
    if (!gemv && !(gemv = gemv_of_openblas())) return false;
    const int n = (int)a->n, m = (int)a->m;
    gemv(ROW_MAJOR, NO_TRANS, n, m, 1, a->x, m, a->v, 1, 0, scratch, 1);
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < a->n; i++) scratch[i] *= a->w[i];
    gemv(ROW_MAJOR, TRANS, n, m, 1, a->x, m, scratch, 1, 0, a->out, 1);
    return true;
}
