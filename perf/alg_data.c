/* SPDX-License-Identifier: Apache-2.0
 * Inputs of the suite algorithms, from hashes of positions: every run has the same, and all who train use the same memory. Labels follow
 * from a linear model of the features with noise of about a third of its spread, so that no algorithm is done after few iterations. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "perf/algorithms.h"

enum { CLOUDS = 8, CELL_STREAM = 20, MODEL_STREAM = 21, CLOUD_STREAM = 22, NOISE_STREAM = 40 };

static double even(uint64_t i, uint64_t stream) { return 2 * (bench_number(i, stream) - 1); } /* in [-1, 1) */

static double normal(uint64_t i, uint64_t stream) {
    double u = bench_number(2 * i, stream) - 0.5 + 0x1p-26, v = bench_number(2 * i + 1, stream) - 0.5;
    return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

/* ---- cells */

static double cell(const alg_case *k, int64_t i, int64_t j, int64_t m) {
    const uint64_t at = (uint64_t)(i * m + j);
    if (k->cells == ALG_POSITIVE) return bench_number(at, CELL_STREAM);
    if (k->cells == ALG_SIGNED) return even(at, CELL_STREAM);
    if (k->cells == ALG_UNIT) return bench_number(at, CELL_STREAM) - 0.5;
    const uint64_t cloud = (uint64_t)(bench_number((uint64_t)i, CLOUD_STREAM) * 2 * CLOUDS) % CLOUDS;
    return even(cloud * (uint64_t)m + (uint64_t)j, CLOUD_STREAM) + 0.5 * even(at, CELL_STREAM);
}

static bool dense(alg_data *d, const alg_case *k) {
    const int64_t n = d->a.n, m = d->a.m;
    double *x = d->x = aligned_alloc(4096, ((size_t)(n * m) * sizeof *x + 4095) / 4096 * 4096);
    if (!x) return false;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++) x[i * m + j] = cell(k, i, j, m);
    d->a.x = x;
    return true;
}

static bool sparse(alg_data *d, const alg_case *k) {
    if (!ml_sparse_draw(&d->s, k->matrix, k->density, d->a.n, d->a.m, CELL_STREAM)) return false;
    double *val = (double *)d->s.val;
    for (int64_t p = 0; k->cells == ALG_SIGNED && p < d->s.nnz; p++) val[p] = 2 * (val[p] - 1);
    if (!ml_sparse_flip(&d->twin, &d->s)) return false;
    d->a.s = d->s;
    d->a.twin = d->twin;
    return true;
}

/* ---- labels */

/* Row i of X times column c of the model, of deviation about 1. */
static double score(const alg_data *d, int64_t i, int64_t c) {
    const hand_alg *a = &d->a;
    const uint64_t from = (uint64_t)(c * a->m);
    double sum = 0, entries = (double)a->m;
    if (a->x)
        for (int64_t j = 0; j < a->m; j++) sum += a->x[i * a->m + j] * even(from + (uint64_t)j, MODEL_STREAM);
    else
        for (int64_t p = a->s.ptr[i]; p < a->s.ptr[i + 1]; p++) sum += a->s.val[p] * even(from + (uint64_t)a->s.idx[p], MODEL_STREAM);
    if (!a->x) entries = (double)a->s.nnz / (double)a->n;
    return 3 * sum / sqrt(entries);
}

static double label_class(const alg_data *d, int64_t i) {
    int64_t best = 0;
    double most = -INFINITY;
    for (int64_t c = 0; c < d->a.k; c++) {
        double s = score(d, i, c) + 0.3 * normal((uint64_t)(i * d->a.k + c), NOISE_STREAM);
        if (s > most) best = c, most = s;
    }
    return (double)(best + 1);
}

static double label_count(const alg_data *d, int64_t i) {
    double u = bench_number((uint64_t)i, NOISE_STREAM) - 0.5, mean = exp(fmin(0.5 * score(d, i, 0), 3)), p = exp(-mean), all = p;
    int count = 0;
    while (u > all && count < 1000) all += p *= mean / ++count;
    return count;
}

static double label(const alg_data *d, alg_labels kind, int64_t i) {
    switch (kind) {
    case ALG_SIGNS: return score(d, i, 0) + 0.3 * normal((uint64_t)i, NOISE_STREAM) > 0 ? 1 : -1;
    case ALG_CHANCES: return score(d, i, 0) + normal((uint64_t)i, NOISE_STREAM) > 0 ? 1 : -1;
    case ALG_CLASSES: return label_class(d, i);
    case ALG_COUNTS: return label_count(d, i);
    default: return 0;
    }
}

static bool labels(alg_data *d, alg_labels kind) {
    if (kind == ALG_NO_LABELS) return true;
    double *y = d->y = malloc((size_t)d->a.n * sizeof *y);
    if (!y) return false;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < d->a.n; i++) y[i] = label(d, kind, i);
    d->a.y = y;
    return true;
}

/* ---- starts */

void alg_data_bind(const alg_data *d, clf_ctx *c, clf_mat **X, clf_mat **y) {
    const hand_alg *a = &d->a;
    const clf_sparse_options in_place = {.struct_size = sizeof in_place, .borrow = true};
    if (a->x)
        *X = clf_borrow(c, CLF_F64, a->n, a->m, a->x, NULL, NULL);
    else
        *X = clf_sparse_csr(c, CLF_F64, a->n, a->m, a->s.nnz, a->s.ptr, a->s.idx, a->s.val, &in_place);
    *y = a->y ? clf_borrow(c, CLF_F64, a->n, 1, a->y, NULL, NULL) : NULL;
}

double *alg_data_start(alg_data *d, int i, size_t cells) {
    free(d->start[i]);
    d->start_cells[i] = cells;
    d->a.start[i] = d->start[i] = malloc((cells + 1) * sizeof(double));
    return d->start[i];
}

static bool start(alg_data *d, int i, clf_ctx *c, const clf_binding *vars, size_t nvars, const char *program) {
    int64_t rows, cols;
    clf_mat *x = clf_expr(c, program, vars, nvars);
    if (clf_info(x, &rows, &cols, NULL, NULL) != CLF_OK) return false;
    double *to = alg_data_start(d, i, (size_t)(rows * cols));
    return to && clf_read(x, to, (size_t)(rows * cols) * sizeof *to) == CLF_OK;
}

static bool starts(alg_data *d, const alg_case *k, uint64_t seed, char *why, size_t why_n) {
    const bench_options plain = {.quick = false};
    clf_ctx *c = bench_ctx(&plain, "host", NULL, why, why_n);
    if (!c) return false;
    clf_binding vars[] = {
        {"n", clf_int(c, d->a.n)}, {"m", clf_int(c, d->a.m)}, {"k", clf_int(c, d->a.k)}, {"seed", clf_int(c, (int64_t)seed)}, {"X", NULL}};
    clf_mat *y;
    bool good = true;
    alg_data_bind(d, c, &vars[4].value, &y);
    for (int i = 0; i < ALG_STARTS && k->start[i] && good; i++) good = start(d, i, c, vars, 5, k->start[i]);
    if (!good) snprintf(why, why_n, "start: %s", clf_last_error(c));
    clf_close(c);
    return good;
}

/* ---- all */

bool alg_data_make(alg_data *d, const alg_case *k, const alg_params *p, bool quick, char *why, size_t why_n) {
    *d = (alg_data){.a = {.n = quick ? k->quick_n : k->n,
                          .m = quick ? k->quick_m : k->m,
                          .k = p->rank,
                          .lambda = p->lambda,
                          .tolerance = p->tolerance,
                          .step = p->step,
                          .inner = p->inner,
                          .batch = p->batch}};
    if (k->matrix == ML_DENSE ? !dense(d, k) : !sparse(d, k)) return snprintf(why, why_n, "not enough memory for the inputs"), false;
    if (!labels(d, k->labels)) return snprintf(why, why_n, "not enough memory for the labels"), false;
    return starts(d, k, p->seed, why, why_n);
}

void alg_data_free(alg_data *d) {
    free(d->x);
    free(d->y);
    for (int i = 0; i < ALG_STARTS; i++) free(d->start[i]);
    ml_sparse_free(&d->s);
    ml_sparse_free(&d->twin);
    *d = (alg_data){0};
}
