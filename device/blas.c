/* SPDX-License-Identifier: Apache-2.0
 * Matrix products: OpenBLAS when the machine has one, found at run time so that nothing links against it, else our own kernel.
 * Products with a vector go to gemv, which does not pack: 200,000 x 21 times a vector took 1.8 ms, by gemm 5 ms and more.
 * There is no size below which ours is the better one: OpenBLAS 0.3.21 took 0.04 us for 4^3 and 0.8 us for 32^3, ours 0.1 and 2.1.
 * The C interface of BLAS takes int sizes: larger ones are cut into blocks, along k with beta = 1; a leading dimension beyond int
 * cannot be expressed and goes to our own kernel. */
#include <dlfcn.h>
#include <limits.h>
#include <string.h>
#include "core/dtype.h"
#include "device/device_internal.h"
#include "device/gemm.h"

enum { ROW_MAJOR = 101, NO_TRANS = 111, TRANS = 112 }; /* the values of cblas.h */

typedef void (*dgemm_fn)(int, int, int, int, int, int, double, const double *, int, const double *, int, double, double *, int);
typedef void (*sgemm_fn)(int, int, int, int, int, int, float, const float *, int, const float *, int, float, float *, int);
typedef void (*dgemv_fn)(int, int, int, int, double, const double *, int, const double *, int, double, double *, int);
typedef void (*sgemv_fn)(int, int, int, int, float, const float *, int, const float *, int, float, float *, int);
typedef void (*threads_fn)(int);

struct clf_blas {
    clf_mem *mem;
    void *library;
    dgemm_fn dgemm;
    sgemm_fn sgemm;
    dgemv_fn dgemv; /* NULL with sgemv: not found */
    sgemv_fn sgemv;
    int64_t most; /* largest size handed over in one call; INT_MAX except in tests */
};

static bool symbols(clf_blas *b, int threads) {
    union {
        void *sym;
        dgemm_fn fn;
    } dgemm = {dlsym(b->library, "cblas_dgemm")};
    union {
        void *sym;
        sgemm_fn fn;
    } sgemm = {dlsym(b->library, "cblas_sgemm")};
    union {
        void *sym;
        dgemv_fn fn;
    } dgemv = {dlsym(b->library, "cblas_dgemv")};
    union {
        void *sym;
        sgemv_fn fn;
    } sgemv = {dlsym(b->library, "cblas_sgemv")};
    union {
        void *sym;
        threads_fn fn;
    } set = {dlsym(b->library, "openblas_set_num_threads")};
    if (!dgemm.sym || !sgemm.sym) return false;
    if (set.sym && threads > 0) set.fn(threads);
    b->dgemm = dgemm.fn;
    b->sgemm = sgemm.fn;
    if (dgemv.sym && sgemv.sym) {
        b->dgemv = dgemv.fn;
        b->sgemv = sgemv.fn;
    }
    return true;
}

clf_blas *clf_blas_open(clf_mem *mem, int threads) {
    clf_blas *b = clf_mem_new(mem, 1, sizeof *b);
    if (!b) return NULL;
    *b = (clf_blas){.mem = mem, .most = INT_MAX};
    b->library = clf_blas_load();
    if (b->library && !symbols(b, threads)) {
        dlclose(b->library);
        b->library = NULL;
    }
    return b;
}

void clf_blas_close(clf_blas *b) {
    if (!b) return;
    if (b->library) dlclose(b->library);
    clf_mem_free(b->mem, b, 1, sizeof *b);
}

const char *clf_blas_name(const clf_blas *b) { return b && b->dgemm ? "openblas" : "own"; }

void clf_blas_restrict(clf_blas *b, int64_t most, bool own) {
    b->most = most;
    if (own) {
        b->dgemm = NULL;
        b->sgemm = NULL;
    }
}

static void zero(clf_dtype t, const clf_gemm_args *g) {
    size_t each = clf_dtype_bytes(t);
    for (int64_t i = 0; i < g->m; i++) memset((char *)g->C + (size_t)(i * g->ldc) * each, 0, (size_t)g->n * each);
}

/* y += op(M) x, M stored as rows x cols. y is cleared by the caller, for beta = 0 would have to be trusted with what is in memory. */
typedef struct product_vector {
    bool trans;
    int64_t rows, cols, ld, incx, incy;
    const void *M, *x;
    void *y;
} product_vector;

static void call_vector(const clf_blas *b, clf_dtype t, const product_vector *v) {
    int trans = v->trans ? TRANS : NO_TRANS, rows = (int)v->rows, cols = (int)v->cols, ld = (int)v->ld, ix = (int)v->incx,
        iy = (int)v->incy;
    if (t == CLF_F64)
        b->dgemv(ROW_MAJOR, trans, rows, cols, 1, v->M, ld, v->x, ix, 1, v->y, iy);
    else
        b->sgemv(ROW_MAJOR, trans, rows, cols, 1, v->M, ld, v->x, ix, 1, v->y, iy);
}

/* One column on the right, or one row on the left (then the transposed product). */
static bool by_vector(const clf_blas *b, clf_dtype t, const clf_gemm_args *g, bool add) {
    product_vector v;
    if (!b->dgemv || (g->n != 1 && g->m != 1)) return false;
    if (g->n == 1)
        v = (product_vector){g->ta, g->ta ? g->k : g->m, g->ta ? g->m : g->k, g->lda, g->tb ? 1 : g->ldb, g->ldc, g->A, g->B, g->C};
    else
        v = (product_vector){!g->tb, g->tb ? g->n : g->k, g->tb ? g->k : g->n, g->ldb, g->ta ? g->lda : 1, 1, g->B, g->A, g->C};
    if (!add) zero(t, g);
    call_vector(b, t, &v);
    return true;
}

static void call(const clf_blas *b, clf_dtype t, const clf_gemm_args *g, bool add) {
    if (by_vector(b, t, g, add)) return;
    int ta = g->ta ? TRANS : NO_TRANS, tb = g->tb ? TRANS : NO_TRANS, m = (int)g->m, n = (int)g->n, k = (int)g->k;
    int lda = (int)g->lda, ldb = (int)g->ldb, ldc = (int)g->ldc;
    if (t == CLF_F64)
        b->dgemm(ROW_MAJOR, ta, tb, m, n, k, 1, g->A, lda, g->B, ldb, add, g->C, ldc);
    else
        b->sgemm(ROW_MAJOR, ta, tb, m, n, k, 1, g->A, lda, g->B, ldb, add, g->C, ldc);
}

static const void *cell(const void *base, clf_dtype t, bool trans, int64_t ld, int64_t row, int64_t col) {
    return (const char *)base + (size_t)(trans ? col * ld + row : row * ld + col) * clf_dtype_bytes(t);
}

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

static void library_gemm(const clf_blas *b, clf_dtype t, const clf_gemm_args *g) {
    for (int64_t i = 0; i < g->m; i += b->most)
        for (int64_t j = 0; j < g->n; j += b->most)
            for (int64_t p = 0; p < g->k; p += b->most) {
                clf_gemm_args part = *g;
                part.m = least(b->most, g->m - i);
                part.n = least(b->most, g->n - j);
                part.k = least(b->most, g->k - p);
                part.A = cell(g->A, t, g->ta, g->lda, i, p);
                part.B = cell(g->B, t, g->tb, g->ldb, p, j);
                part.C = (char *)g->C + (size_t)(i * g->ldc + j) * clf_dtype_bytes(t);
                call(b, t, &part, p > 0);
            }
}

/* rows x cols with leading dimension ld: all byte offsets representable? */
static bool fits(int64_t rows, int64_t cols, int64_t ld, clf_dtype t) {
    size_t n;
    if (ld < (cols > 1 ? cols : 1)) return false;
    return clf_mul_ok((size_t)rows, (size_t)ld, &n) && clf_mul_ok(n, clf_dtype_bytes(t), &n) && n <= PTRDIFF_MAX;
}

static clf_status check(clf_dtype t, const clf_gemm_args *g, clf_err *err) {
    if (t != CLF_F64 && t != CLF_F32) return clf_fail(err, CLF_E_TYPE, "matrix product: f32 or f64 expected");
    if (g->m < 0 || g->n < 0 || g->k < 0) return clf_fail(err, CLF_E_SHAPE, "matrix product: negative size");
    bool ok = fits(g->ta ? g->k : g->m, g->ta ? g->m : g->k, g->lda, t) && fits(g->tb ? g->n : g->k, g->tb ? g->k : g->n, g->ldb, t) &&
              fits(g->m, g->n, g->ldc, t);
    if (!ok) return clf_fail(err, CLF_E_ARG, "matrix product: a leading dimension is shorter than its rows, or a size overflows");
    return CLF_OK;
}

clf_status clf_blas_gemm(clf_blas *b, clf_dtype t, bool ta, bool tb, int64_t m, int64_t n, int64_t k, const void *A, int64_t lda,
                         const void *B, int64_t ldb, void *C, int64_t ldc, clf_err *err) {
    const clf_gemm_args g = {.ta = ta, .tb = tb, .m = m, .n = n, .k = k, .lda = lda, .ldb = ldb, .ldc = ldc, .A = A, .B = B, .C = C};
    CLF_TRY(check(t, &g, err));
    if (!m || !n) return CLF_OK;
    if (!k) {
        zero(t, &g);
        return CLF_OK;
    }
    if (!b) return clf_fail(err, CLF_E_ARG, "matrix product: no BLAS handle");
    bool library = b->dgemm && lda <= INT_MAX && ldb <= INT_MAX && ldc <= INT_MAX;
    if (!library) return t == CLF_F64 ? clf_gemm_f64(b->mem, &g, err) : clf_gemm_f32(b->mem, &g, err);
    library_gemm(b, t, &g);
    return CLF_OK;
}
