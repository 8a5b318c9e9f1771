/* SPDX-License-Identifier: Apache-2.0
 * OpenBLAS sequences: what a C program without fusion makes of each case. Products and dots are the library's, on all cores; what BLAS has
 * no routine for is a plain loop on all cores, one per operator. Compiled by native.py. */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "native_peer.h"

enum { ROW_MAJOR = 101, NO_TRANS = 111, TRANS = 112, RESULTS = 3 }; /* the values of cblas.h */
typedef struct matrix {
    int64_t n, m;
    const double *at;
} matrix;
typedef struct result {
    int64_t n, m, cap;
    double *at;
} result;

static matrix in[26];
static result out[RESULTS], scratch[2];
static int outs;

static struct {
    double (*dot)(int n, const double *x, int incx, const double *y, int incy);
    void (*axpy)(int n, double a, const double *x, int incx, double *y, int incy);
    void (*gemv)(int order, int trans, int n, int m, double alpha, const double *a, int lda, const double *x, int incx, double beta,
                 double *y, int incy);
    void (*gemm)(int order, int ta, int tb, int n, int m, int k, double alpha, const double *a, int lda, const double *b, int ldb,
                 double beta, double *c, int ldc);
    void (*threads)(int n);
    char *(*config)(void);
} blas;

const char *peer_version(void) {
    static const char *const names[] = {"cblas_ddot",         "cblas_daxpy", "cblas_dgemv", "cblas_dgemm", "openblas_set_num_threads",
                                        "openblas_get_config"};
    void *library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL), *found[6];
    for (int i = 0; i < 6; i++)
        if (!library || !(found[i] = dlsym(library, names[i]))) return NULL;
    memcpy(&blas, found, sizeof blas);
    blas.threads((int)sysconf(_SC_NPROCESSORS_ONLN));
    return blas.config();
}

void peer_clear(void) {
    for (int i = 0; i < RESULTS; i++) free(out[i].at);
    for (int i = 0; i < 2; i++) free(scratch[i].at);
    memset(in, 0, sizeof in);
    memset(out, 0, sizeof out);
    memset(scratch, 0, sizeof scratch);
    outs = 0;
}

int peer_put(int name, int64_t rows, int64_t cols, int64_t nnz, const double *values, const int32_t *ptr, const int32_t *idx) {
    (void)nnz, (void)idx;
    if (ptr || name < 'A' || name > 'Z') return 0;
    in[name - 'A'] = (matrix){rows, cols, values};
    return 1;
}

/* Room for n x m numbers, kept from run to run; NULL when there is none. */
static double *room(result *r, int64_t n, int64_t m) {
    if (r->cap < n * m) {
        free(r->at);
        r->at = malloc((size_t)(n * m) * sizeof *r->at);
        r->cap = r->at ? n * m : 0;
    }
    r->n = n;
    r->m = m;
    return r->at;
}

static double *give(int64_t n, int64_t m) { return room(&out[outs++], n, m); }

static bool number(double v) {
    double *at = give(1, 1);
    if (at) *at = v;
    return at != NULL;
}

static void multiply(const double *x, const double *y, double *o, int64_t n) {
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < n; i++) o[i] = x[i] * y[i];
}

static double total(const double *x, int64_t n) {
    double s = 0;
#pragma omp parallel for simd reduction(+ : s) schedule(static)
    for (int64_t i = 0; i < n; i++) s += x[i];
    return s;
}

#define X in['X' - 'A']
#define Y in['Y' - 'A']
#define Z in['Z' - 'A']
#define U in['U' - 'A']
#define V in['V' - 'A']
#define W in['W' - 'A']

static bool sum_xyz(void) {
    const int64_t n = X.n * X.m;
    double *t = room(&scratch[0], X.n, X.m);
    if (!t) return false;
    multiply(X.at, Y.at, t, n);
    return number(blas.dot((int)n, t, 1, Z.at, 1));
}

static bool three_aggs(void) {
    const int n = (int)(X.n * X.m);
    return number(blas.dot(n, X.at, 1, Y.at, 1)) && number(blas.dot(n, X.at, 1, Z.at, 1)) && number(blas.dot(n, X.at, 1, X.at, 1));
}

static bool fill(double *a) {
    if (!a) return false;
    multiply(X.at, Y.at, a, X.n * X.m);
    blas.axpy((int)(X.n * X.m), 1, Z.at, 1, a, 1);
    return true;
}

static bool no_agg(void) { return fill(give(X.n, X.m)); }

static bool tap(void) {
    double *s = give(1, 1), *a = give(X.n, X.m);
    if (!s || !fill(a)) return false;
    *s = total(a, X.n * X.m);
    return true;
}

/* A dot per row: short ones, so the cores share the rows. */
static bool row_agg(void) {
    const int64_t m = X.m;
    double *r = give(X.n, 1);
    if (!r) return false;
    blas.threads(1);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < X.n; i++) r[i] = blas.dot((int)m, X.at + i * m, 1, Y.at + i * m, 1);
    blas.threads((int)sysconf(_SC_NPROCESSORS_ONLN));
    return true;
}

/* c = alpha * op(a) b + beta * c, the inner extent and those of c given */
static void product(int trans, int64_t n, int64_t k, int64_t inner, double alpha, const double *a, const double *b, double beta,
                    double *c) {
    const int lda = (int)(trans == TRANS ? n : inner);
    if (k == 1)
        blas.gemv(ROW_MAJOR, trans, (int)(trans == TRANS ? inner : n), lda, alpha, a, lda, b, 1, beta, c, 1);
    else
        blas.gemm(ROW_MAJOR, trans, NO_TRANS, (int)n, (int)k, (int)inner, alpha, a, lda, b, (int)k, beta, c, (int)k);
}

static bool chain(void) {
    const int64_t k = V.m;
    double *t = room(&scratch[0], X.n, k), *r = give(X.m, k);
    if (!t || !r) return false;
    product(NO_TRANS, X.n, k, X.m, 1, X.at, V.at, 0, t);
    multiply(t, W.at, t, X.n * k);
    product(TRANS, X.m, k, X.n, 1, X.at, t, 0, r);
    return true;
}

static bool mlogreg(void) {
    const int64_t k = V.m;
    double *p = room(&scratch[0], X.n, k), *r = give(X.m, k);
    if (!p || !r) return false;
    product(NO_TRANS, X.n, k, X.m, 1, X.at, V.at, 0, p);
    multiply(p, W.at, p, X.n * k);
    const double *w = W.at;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < X.n; i++) {
        double s = 0;
        for (int64_t j = 0; j < k; j++) s += p[i * k + j];
        for (int64_t j = 0; j < k; j++) p[i * k + j] -= w[i * k + j] * s;
    }
    product(TRANS, X.m, k, X.n, 1, X.at, p, 0, r);
    return true;
}

static double *scaled(const matrix *a, double by) {
    double *r = give(a->n, a->m);
    if (!r) return NULL;
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < a->n * a->m; i++) r[i] = by * a->at[i];
    return r;
}

/* The literal formula over all cells, and its gradients. */
static bool factor(void) {
    const int64_t k = U.m, cells = X.n * X.m;
    double *e = room(&scratch[0], X.n, X.m), *loss = give(1, 1), *gu = scaled(&U, 0.04), *gv = scaled(&V, 0.04), s = 0;
    if (!e || !loss || !gu || !gv) return false;
    blas.gemm(ROW_MAJOR, NO_TRANS, TRANS, (int)X.n, (int)X.m, (int)k, 1, U.at, (int)k, V.at, (int)k, 0, e, (int)X.m);
    const double *x = X.at;
#pragma omp parallel for simd reduction(+ : s) schedule(static)
    for (int64_t i = 0; i < cells; i++) {
        e[i] = x[i] != 0 ? e[i] - x[i] : 0;
        s += e[i] * e[i];
    }
    const int nu = (int)(U.n * k), nv = (int)(V.n * k);
    *loss = s + 0.02 * (blas.dot(nu, U.at, 1, U.at, 1) + blas.dot(nv, V.at, 1, V.at, 1));
    product(NO_TRANS, X.n, k, X.m, 2, e, V.at, 1, gu);
    product(TRANS, X.m, k, X.n, 2, e, U.at, 1, gv);
    return true;
}

int peer_run(const char *sequence) {
    static const struct {
        const char *name;
        bool (*run)(void);
    } all[] = {{"sum_xyz", sum_xyz}, {"three_aggs", three_aggs}, {"no_agg", no_agg},   {"tap", tap},
               {"row_agg", row_agg}, {"chain", chain},           {"mlogreg", mlogreg}, {"factor", factor}};
    outs = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i].name, sequence) == 0) return all[i].run();
    return 0;
}

int peer_result(int i, int64_t *rows, int64_t *cols, const double **data) {
    if (i < 0 || i >= outs) return 0;
    *rows = out[i].n;
    *cols = out[i].m;
    *data = out[i].at;
    return 1;
}
