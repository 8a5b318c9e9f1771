/* SPDX-License-Identifier: Apache-2.0
 * The pass over X of MLogreg and GLM, see alg_pass.h. Dense: V and the sum are kept as k vectors along the columns of X, four rows at
 * once. Sparse: an entry meets a row of V. */
#include "perf/hand/alg_pass.h"

/* ---- dense: rows of the block at x, m columns; z and d are rows x k */

static void dense_scores(const double *restrict x, int64_t rows, int64_t m, int64_t k, const double *restrict v, double *restrict z) {
    int64_t i = 0;
    for (; i + 4 <= rows; i += 4, x += 4 * m, z += 4 * k) {
        double t0 = 0, t1 = 0, t2 = 0, t3 = 0;
#pragma omp simd reduction(+ : t0, t1, t2, t3)
        for (int64_t j = 0; j < m; j++) {
            t0 += x[j] * v[j];
            t1 += x[j + m] * v[j];
            t2 += x[j + 2 * m] * v[j];
            t3 += x[j + 3 * m] * v[j];
        }
        z[0] = t0, z[k] = t1, z[2 * k] = t2, z[3 * k] = t3;
    }
    for (; i < rows; i++, x += m, z += k) {
        double t = 0;
#pragma omp simd reduction(+ : t)
        for (int64_t j = 0; j < m; j++) t += x[j] * v[j];
        z[0] = t;
    }
}

static void dense_sum(const double *restrict x, int64_t rows, int64_t m, int64_t k, const double *restrict d, double *restrict q) {
    int64_t i = 0;
    for (; i + 4 <= rows; i += 4, x += 4 * m, d += 4 * k) {
        const double t0 = d[0], t1 = d[k], t2 = d[2 * k], t3 = d[3 * k];
#pragma omp simd
        for (int64_t j = 0; j < m; j++) q[j] += (t0 * x[j] + t1 * x[j + m]) + (t2 * x[j + 2 * m] + t3 * x[j + 3 * m]);
    }
    for (; i < rows; i++, x += m, d += k) {
        const double t = d[0];
#pragma omp simd
        for (int64_t j = 0; j < m; j++) q[j] += t * x[j];
    }
}

static double dense_block(const hand_alg *a, int64_t k, int64_t i, int64_t rows, const double *v, double *w, hand_cells f, double *z,
                          double *q) {
    const double *x = a->x + i * a->m;
    for (int64_t c = 0; c < k; c++) dense_scores(x, rows, a->m, k, v + c * a->m, z + c);
    double sum = f(a, i, rows, z, w + i * k);
    for (int64_t c = 0; c < k; c++) dense_sum(x, rows, a->m, k, z + c, q + c * a->m);
    return sum;
}

/* ---- sparse: V and the sum are m x k */

static double sparse_block(const hand_alg *a, int64_t k, int64_t i, int64_t rows, const double *restrict v, double *w, hand_cells f,
                           double *restrict z, double *restrict q) {
    const hand_csr *s = &a->s;
    const int32_t *restrict idx = s->idx;
    const double *restrict val = s->val;
    for (int64_t r = 0; r < rows; r++) {
        double t = 0, *restrict zr = z + r * k;
        for (int64_t c = 0; c < k; c++) zr[c] = 0;
        for (int64_t p = s->ptr[i + r]; k > 1 && p < s->ptr[i + r + 1]; p++)
            for (int64_t c = 0; c < k; c++) zr[c] += val[p] * v[idx[p] * k + c];
#pragma omp simd reduction(+ : t)
        for (int64_t p = s->ptr[i + r]; p < (k > 1 ? s->ptr[i + r] : s->ptr[i + r + 1]); p++) t += val[p] * v[idx[p]];
        zr[0] += t;
    }
    double sum = f(a, i, rows, z, w + i * k);
    for (int64_t r = 0; r < rows; r++) {
        const double d = z[r * k];
        if (k == 1)
            for (int64_t p = s->ptr[i + r]; p < s->ptr[i + r + 1]; p++) q[idx[p]] += d * val[p];
        for (int64_t p = s->ptr[i + r]; k > 1 && p < s->ptr[i + r + 1]; p++)
            for (int64_t c = 0; c < k; c++) q[idx[p] * k + c] += z[r * k + c] * val[p];
    }
    return sum;
}

/* ---- rows over threads */

static void turn(const double *restrict from, int64_t rows, int64_t cols, double *restrict to) {
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++) to[j * rows + i] = from[i * cols + j];
}

static double run(const hand_alg *a, int64_t k, const double *v, double *w, hand_cells f, double *out, double *scratch, int64_t most) {
    const int64_t size = a->m * k, each = size + most * k;
    const int parts = a->x ? (int)((a->n + most - 1) / most) : hand_parts();
    double sum = 0;
    memset(out, 0, (size_t)size * sizeof *out);
#pragma omp parallel reduction(+ : sum)
    {
        double *restrict q = scratch + omp_get_thread_num() * each, *z = q + size;
        memset(q, 0, (size_t)size * sizeof *q);
#pragma omp for schedule(static) nowait
        for (int b = 0; b < (a->x ? parts : 0); b++)
            sum += dense_block(a, k, b * most, b * most + most < a->n ? most : a->n - b * most, v, w, f, z, q);
#pragma omp for schedule(dynamic, 1) nowait
        for (int part = 0; part < (a->x ? 0 : parts); part++) {
            const int64_t hi = hand_part(&a->s, part + 1, parts);
            for (int64_t i = hand_part(&a->s, part, parts); i < hi; i += most)
                sum += sparse_block(a, k, i, i + most < hi ? most : hi - i, v, w, f, z, q);
        }
#pragma omp critical
        for (int64_t j = 0; j < size; j++) out[j] += q[j];
    }
    return sum;
}

double hand_pass(const hand_alg *a, int64_t k, const double *v, double *w, hand_cells f, double *out, bool *good) {
    const int64_t size = a->m * k, fits = HAND_BLOCK_CELLS / a->m / 4 * 4;
    const int64_t most = !a->x || fits > HAND_BLOCK_ROWS ? HAND_BLOCK_ROWS : fits < 4 ? 4 : fits;
    double *scratch = malloc((size_t)(omp_get_max_threads() * (size + most * k) + 2 * size) * sizeof *scratch);
    *good = scratch != NULL;
    if (!scratch) return 0;
    double *vt = scratch, *ot = scratch + size, *rest = scratch + 2 * size;
    const bool turned = a->x && k > 1;
    if (turned) turn(v, a->m, k, vt);
    double sum = run(a, k, turned ? vt : v, w, f, turned ? ot : out, rest, most);
    if (turned) turn(ot, k, a->m, out);
    free(scratch);
    return sum;
}
