/* SPDX-License-Identifier: Apache-2.0
 * The autoencoder by hand: the mini-batches of examples/autoencoder.c from start[0 .. 3], the weights of its four layers; k: units of the
 * first. Products of 500 columns are OpenBLAS's, which adds the momentum of two of the weights into them (U = 0.9 U - s t(H) D); the
 * layers of two units are a loop over rows between them, with all that is done to a row at once. */
#include <dlfcn.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include "perf/hand/algorithm.h"

enum { ROW_MAJOR = 101, NO_TRANS = 111, TRANS = 112, LAYERS = 4, CODE = 2 }; /* the first three are the values of cblas.h */
typedef void (*gemm_fn)(int order, int ta, int tb, int m, int n, int k, double alpha, const double *a, int lda, const double *b, int ldb,
                        double beta, double *c, int ldc);

typedef struct net {
    const hand_alg *a;
    gemm_fn gemm;
    int64_t width[LAYERS + 1];
    double *w[LAYERS], *u[LAYERS], *b[LAYERS], *v[LAYERS]; /* weights and biases with their momenta */
    double *h1, *code, *h3, *y, *d1, *d3;                  /* of a batch; y becomes the last layer's derivatives */
    double *part;                                          /* derivatives of every thread: b1, w2, b2, w3, b3, b4 */
    int64_t parts;                                         /* how many numbers */
    double *memory;                                        /* all of the above; NULL while it is counted */
    int64_t used;
} net;

typedef struct blas {
    gemm_fn gemm;
    void (*set)(int threads);
    int (*get)(void);
} blas;

static bool openblas(blas *b) {
    void *library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!library) return false;
    union {
        void *object;
        gemm_fn gemm;
        void (*set)(int);
        int (*get)(void);
    } gemm = {dlsym(library, "cblas_dgemm")}, set = {dlsym(library, "openblas_set_num_threads")},
      get = {dlsym(library, "openblas_get_num_threads")};
    *b = (blas){gemm.gemm, set.set, get.get};
    return gemm.object && set.object && get.object;
}

/* Rows of c in parts, one for each thread: OpenBLAS's own threads would meet ours, which wait for work in a loop. */
static void product(gemm_fn gemm, int ta, int tb, int m, int n, int k, double alpha, const double *a, int lda, const double *b, int ldb,
                    double beta, double *c, int ldc) {
#pragma omp parallel
    {
        const int parts = omp_get_num_threads(), part = omp_get_thread_num();
        const int lo = (int)((int64_t)m * part / parts), rows = (int)((int64_t)m * (part + 1) / parts) - lo;
        const double *from = a + (ta == TRANS ? lo : (int64_t)lo * lda);
        if (rows) gemm(ROW_MAJOR, ta, tb, rows, n, k, alpha, from, lda, b, ldb, beta, c + (int64_t)lo * ldc, ldc);
    }
}

static double *take(net *p, int64_t n) {
    double *x = p->memory ? p->memory + p->used : NULL;
    p->used += (n + 7) / 8 * 8;
    return x;
}

static void layout(net *p) {
    const hand_alg *a = p->a;
    p->used = 0;
    for (int i = 0; i < LAYERS; i++) {
        int64_t cells = p->width[i] * p->width[i + 1];
        p->w[i] = take(p, cells), p->u[i] = take(p, cells);
        p->b[i] = take(p, p->width[i + 1]), p->v[i] = take(p, p->width[i + 1]);
    }
    p->h1 = take(p, a->batch * a->k), p->h3 = take(p, a->batch * a->k);
    p->d1 = take(p, a->batch * a->k), p->d3 = take(p, a->batch * a->k);
    p->code = take(p, a->batch * CODE), p->y = take(p, a->batch * a->m);
    p->parts = (2 + 2 * CODE) * a->k + CODE + a->m;
    p->part = take(p, (p->parts + 8) * omp_get_max_threads());
}

static inline double sigmoid(double x) { return 1 / (1 + exp(-x)); }

/* Second and third layer of a row; h1 comes as the first product. */
static void middle_forward(net *p, int64_t rows) {
    const int64_t k = p->a->k;
    const double *restrict b1 = p->b[0], *restrict w2 = p->w[1], *restrict b2 = p->b[1], *restrict w3 = p->w[2], *restrict b3 = p->b[2];
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < rows; i++) {
        double *restrict h1 = p->h1 + i * k, *restrict h3 = p->h3 + i * k, s0 = 0, s1 = 0;
        for (int64_t j = 0; j < k; j++) h1[j] = sigmoid(h1[j] + b1[j]);
        for (int64_t j = 0; j < k; j++) s0 += h1[j] * w2[2 * j], s1 += h1[j] * w2[2 * j + 1];
        const double c0 = p->code[2 * i] = sigmoid(s0 + b2[0]), c1 = p->code[2 * i + 1] = sigmoid(s1 + b2[1]);
        for (int64_t j = 0; j < k; j++) h3[j] = sigmoid(c0 * w3[j] + c1 * w3[k + j] + b3[j]);
    }
}

/* y comes as the last product and leaves as the derivatives by its argument; gives the loss. */
static double last(net *p, const double *x, int64_t rows) {
    const int64_t m = p->a->m;
    const double *restrict b4 = p->b[3];
    double loss = 0;
#pragma omp parallel reduction(+ : loss)
    {
        double *restrict db4 = p->part + omp_get_thread_num() * (p->parts + 8) + (p->parts - m);
#pragma omp for schedule(static)
        for (int64_t i = 0; i < rows; i++) {
            double *restrict y = p->y + i * m;
            const double *restrict xi = x + i * m;
#pragma omp simd reduction(+ : loss)
            for (int64_t j = 0; j < m; j++) {
                const double v = sigmoid(y[j] + b4[j]), e = v - xi[j], d = e * v * (1 - v);
                loss += e * e;
                y[j] = d;
                db4[j] += d;
            }
        }
    }
    return 0.5 * loss;
}

/* d3 comes as a product; d1 leaves; the small layers' derivatives are summed up. */
static void middle_backward(net *p, int64_t rows) {
    const int64_t k = p->a->k;
    const double *restrict w2 = p->w[1], *restrict w3 = p->w[2];
#pragma omp parallel
    {
        double *restrict db1 = p->part + omp_get_thread_num() * (p->parts + 8), *restrict dw2 = db1 + k, *restrict dw3 = dw2 + 2 * k;
        double *restrict db3 = dw3 + 2 * k, *restrict db2 = db3 + k;
#pragma omp for schedule(static)
        for (int64_t i = 0; i < rows; i++) {
            const double *restrict h1 = p->h1 + i * k, *restrict h3 = p->h3 + i * k, c0 = p->code[2 * i], c1 = p->code[2 * i + 1];
            double *restrict d3 = p->d3 + i * k, *restrict d1 = p->d1 + i * k, s0 = 0, s1 = 0;
#pragma omp simd reduction(+ : s0, s1)
            for (int64_t j = 0; j < k; j++) {
                const double d = d3[j] * h3[j] * (1 - h3[j]);
                s0 += d * w3[j], s1 += d * w3[k + j];
                dw3[j] += c0 * d, dw3[k + j] += c1 * d;
                db3[j] += d;
            }
            const double e0 = s0 * c0 * (1 - c0), e1 = s1 * c1 * (1 - c1);
            db2[0] += e0, db2[1] += e1;
            for (int64_t j = 0; j < k; j++) {
                const double d = (e0 * w2[2 * j] + e1 * w2[2 * j + 1]) * h1[j] * (1 - h1[j]);
                dw2[2 * j] += h1[j] * e0, dw2[2 * j + 1] += h1[j] * e1;
                d1[j] = d;
                db1[j] += d;
            }
        }
    }
}

static void small_step(double *restrict w, double *restrict u, const double *restrict d, int64_t n, double s) {
    for (int64_t i = 0; i < n; i++) {
        u[i] = 0.9 * u[i] - s * d[i];
        w[i] += u[i];
    }
}

static void large_step(double *restrict w, const double *restrict u, int64_t n) {
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < n; i++) w[i] += u[i];
}

static void step(net *p, const double *x, int64_t rows, double s) {
    const int64_t k = p->a->k, m = p->a->m;
    const int kk = (int)k, mm = (int)m, n = (int)rows;
    double *restrict sum = p->part;
    for (int t = 1; t < omp_get_max_threads(); t++)
        for (int64_t i = 0; i < p->parts; i++) sum[i] += p->part[t * (p->parts + 8) + i];
    product(p->gemm, TRANS, NO_TRANS, kk, mm, n, -s, p->h3, kk, p->y, mm, 0.9, p->u[3], mm);
    product(p->gemm, TRANS, NO_TRANS, mm, kk, n, -s, x, mm, p->d1, kk, 0.9, p->u[0], kk);
    large_step(p->w[3], p->u[3], k * m);
    large_step(p->w[0], p->u[0], m * k);
    small_step(p->b[0], p->v[0], sum, k, s);
    small_step(p->w[1], p->u[1], sum + k, 2 * k, s);
    small_step(p->w[2], p->u[2], sum + 3 * k, 2 * k, s);
    small_step(p->b[2], p->v[2], sum + 5 * k, k, s);
    small_step(p->b[1], p->v[1], sum + 6 * k, CODE, s);
    small_step(p->b[3], p->v[3], sum + 6 * k + CODE, m, s);
}

static double batch(net *p, const double *x, int64_t rows, double s, bool learn) {
    const int k = (int)p->a->k, m = (int)p->a->m, n = (int)rows;
    memset(p->part, 0, (size_t)((p->parts + 8) * omp_get_max_threads()) * sizeof(double));
    product(p->gemm, NO_TRANS, NO_TRANS, n, k, m, 1, x, m, p->w[0], k, 0, p->h1, k);
    middle_forward(p, rows);
    product(p->gemm, NO_TRANS, NO_TRANS, n, m, k, 1, p->h3, k, p->w[3], m, 0, p->y, m);
    const double loss = last(p, x, rows);
    if (!learn) return loss;
    product(p->gemm, NO_TRANS, TRANS, n, k, m, 1, p->y, m, p->w[3], m, 0, p->d3, k);
    middle_backward(p, rows);
    step(p, x, rows, s);
    return loss;
}

static void train(net *p, hand_alg *a) {
    double s = a->step;
    int64_t at = 0;
    for (int it = 1; it <= a->iterations; it++) {
        const int64_t rows = at + a->batch < a->n ? a->batch : a->n - at;
        const double loss = batch(p, a->x + at * a->m, rows, s / (double)rows, true);
        if (a->each) a->each(a->user, it, loss);
        at += rows;
        if (at == a->n) at = 0, s *= 0.95;
    }
    a->objective = 0;
    for (at = 0; at < a->n; at += a->batch) {
        const int64_t rows = at + a->batch < a->n ? a->batch : a->n - at;
        a->objective += batch(p, a->x + at * a->m, rows, 0, false);
    }
}

bool hand_alg_autoencoder(hand_alg *a) {
    blas b;
    if (!openblas(&b)) return false;
    net p = {.a = a, .gemm = b.gemm, .width = {a->m, a->k, CODE, a->k, a->m}};
    layout(&p);
    p.memory = aligned_alloc(64, (size_t)p.used * sizeof(double));
    if (!p.memory) return false;
    memset(p.memory, 0, (size_t)p.used * sizeof(double));
    layout(&p);
    for (int i = 0; i < LAYERS; i++) memcpy(p.w[i], a->start[i], (size_t)(p.width[i] * p.width[i + 1]) * sizeof(double));
    const int threads = b.get();
    b.set(1);
    train(&p, a);
    b.set(threads);
    free(p.memory);
    return true;
}
