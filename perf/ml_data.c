/* SPDX-License-Identifier: Apache-2.0
 * Inputs of the suite ml, from hashes of positions: every run has the same. A cell of a sparse matrix is present with its row's chance,
 * the chance being the same everywhere or falling by a power law over shuffled rows. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "perf/ml.h"

enum { QUICK_CELLS = 1 << 18, QUICK_SIDE = 1500 };

bool ml_has(const ml_case *k, char input) { return strchr(k->inputs, input) != NULL; }

int64_t ml_data_outs(const hand_ml *a, ml_result r) {
    const int64_t outs[] = {[ML_NUMBER] = 1, [ML_N_K] = a->n * a->k, [ML_M_K] = a->m * a->k, [ML_FACTOR] = (a->n + a->m) * a->k + 1};
    return outs[r];
}

static bool room(double **p, size_t *cap, int64_t cells) {
    if (*cap >= (size_t)cells) return true;
    free(*p);
    *cap = 0;
    *p = aligned_alloc(4096, ((size_t)cells * sizeof(double) + 4095) / 4096 * 4096);
    if (*p) *cap = (size_t)cells;
    return *p != NULL;
}

static bool filled(double **p, size_t *cap, int64_t cells, uint64_t stream) {
    if (*cap >= (size_t)cells) return true; /* every prefix holds the same numbers */
    if (!room(p, cap, cells)) return false;
    double *x = *p;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < cells; i++) x[i] = bench_number((uint64_t)i, stream);
    return true;
}

/* ---- sparse matrices */

void ml_sparse_free(hand_csr *s) {
    free((void *)s->ptr);
    free((void *)s->idx);
    free((void *)s->val);
    *s = (hand_csr){0};
}

static bool hold(hand_csr *s, int64_t nnz) {
    s->nnz = nnz;
    s->idx = malloc(((size_t)nnz + 1) * sizeof *s->idx);
    s->val = malloc(((size_t)nnz + 1) * sizeof *s->val);
    return s->idx && s->val;
}

/* The chance of a cell of row i. */
static double chance(ml_matrix law, double density, int64_t n, int64_t i, double harmonic) {
    if (law != ML_POWER) return density;
    return fmin(0.5, density * (double)n / harmonic / pow((double)(i * 7919 % n + 1), 0.7));
}

/* Columns of row i by the gaps between them; into at when not NULL. Returns how many. */
static int64_t row_columns(int64_t m, int64_t i, double p, uint64_t stream, int32_t *at) {
    const double scale = 1 / log1p(-p);
    int64_t count = 0;
    for (double j = -1; p > 0; count++) {
        j += 1 + floor(log(bench_number((uint64_t)(i * m + count), stream) - 0.5 + 0x1p-25) * scale);
        if (j >= (double)m) break;
        if (at) at[count] = (int32_t)j;
    }
    return count;
}

bool ml_sparse_draw(hand_csr *s, ml_matrix law, double density, int64_t n, int64_t m, uint64_t stream) {
    double harmonic = 0;
    int64_t *ptr = calloc((size_t)n + 1, sizeof *ptr);
    *s = (hand_csr){.rows = n, .cols = m, .ptr = ptr};
    if (!ptr) return false;
    for (int64_t i = 0; i < n; i++) harmonic += pow((double)(i + 1), -0.7);
#pragma omp parallel for schedule(dynamic, 64)
    for (int64_t i = 0; i < n; i++) ptr[i + 1] = row_columns(m, i, chance(law, density, n, i, harmonic), stream, NULL);
    for (int64_t i = 0; i < n; i++) ptr[i + 1] += ptr[i];
    if (!hold(s, ptr[n])) return false;
    int32_t *idx = (int32_t *)s->idx;
    double *val = (double *)s->val;
#pragma omp parallel for schedule(dynamic, 64)
    for (int64_t i = 0; i < n; i++) {
        row_columns(m, i, chance(law, density, n, i, harmonic), stream, idx + ptr[i]);
        for (int64_t p = ptr[i]; p < ptr[i + 1]; p++) val[p] = bench_number((uint64_t)p, stream + 1);
    }
    return true;
}

/* The transpose: rows counted, placed in order. */
bool ml_sparse_flip(hand_csr *t, const hand_csr *s) {
    int64_t *ptr = calloc((size_t)s->cols + 2, sizeof *ptr);
    *t = (hand_csr){.rows = s->cols, .cols = s->rows, .ptr = ptr};
    if (!ptr || !hold(t, s->nnz)) return false;
    int32_t *idx = (int32_t *)t->idx;
    double *val = (double *)t->val;
    for (int64_t p = 0; p < s->nnz; p++) ptr[s->idx[p] + 2]++;
    for (int64_t j = 0; j < s->cols; j++) ptr[j + 2] += ptr[j + 1];
    for (int64_t i = 0; i < s->rows; i++)
        for (int64_t p = s->ptr[i]; p < s->ptr[i + 1]; p++) {
            int64_t q = ptr[s->idx[p] + 1]++;
            idx[q] = (int32_t)i;
            val[q] = s->val[p];
        }
    return true;
}

static void drop_sparse(ml_data *d) {
    for (int i = 0; i < 3; i++) ml_sparse_free(&d->a.s[i]);
    ml_sparse_free(&d->a.twin);
}

static bool sparse(ml_data *d, const ml_case *k) {
    const hand_csr *x = &d->a.s[0];
    bool kept = x->val && x->rows == d->a.n && x->cols == d->a.m && d->law == k->matrix && d->density == k->density;
    if (!kept) {
        drop_sparse(d);
        d->law = k->matrix;
        d->density = k->density;
        if (!ml_sparse_draw(&d->a.s[0], k->matrix, k->density, d->a.n, d->a.m, 10) || !ml_sparse_flip(&d->a.twin, &d->a.s[0])) return false;
    }
    for (int i = 1; i < 3; i++)
        if (ml_has(k, "XYZ"[i]) && !d->a.s[i].val &&
            !ml_sparse_draw(&d->a.s[i], k->matrix, k->density, d->a.n, d->a.m, 10 + 2 * (uint64_t)i))
            return false;
    return true;
}

/* ---- a case's inputs */

/* Cells of a dense X; there is one in every case, for the roof is measured by reading it. */
static int64_t dense_cells(const ml_data *d, bool quick) {
    if (quick) return QUICK_CELLS;
    return d->most_cells ? d->most_cells : (int64_t)(bench_data_bytes(false) / sizeof(double));
}

static void sizes(ml_data *d, const ml_case *k, bool quick) {
    int64_t most = dense_cells(d, quick) / k->m;
    d->a.n = k->n ? k->n : most / (k->k > 2 ? 2 : 1);
    d->a.m = k->m;
    d->a.k = k->k;
    d->a.eps = 1e-15;
    if (k->matrix == ML_DENSE && d->a.n > most) d->a.n = most;
    if (!quick || k->matrix == ML_DENSE) return;
    if (d->a.n > QUICK_SIDE) d->a.n = QUICK_SIDE;
    if (d->a.m > QUICK_SIDE) d->a.m = QUICK_SIDE;
}

bool ml_data_make(ml_data *d, const ml_case *k, bool quick) {
    hand_ml *a = &d->a;
    sizes(d, k, quick);
    int64_t outs = ml_data_outs(a, k->result);
    if (k->matrix == ML_DENSE) drop_sparse(d);
    bool ok = filled(&d->x, &d->x_cap, dense_cells(d, quick), 0) && (k->matrix == ML_DENSE || sparse(d, k)) &&
              filled(&d->u, &d->u_cap, a->n * a->k, 1) && filled(&d->v, &d->v_cap, a->m * a->k, 2) &&
              filled(&d->w, &d->w_cap, a->n * a->k, 3) && room(&d->out, &d->out_cap, outs) && room(&d->want, &d->want_cap, outs) &&
              room(&d->scale, &d->scale_cap, outs);
    a->x = d->x;
    a->u = d->u;
    a->v = d->v;
    a->w = d->w;
    a->out = d->out;
    return ok;
}

void ml_data_free(ml_data *d) {
    drop_sparse(d);
    double *all[] = {d->x, d->u, d->v, d->w, d->out, d->want, d->scale};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
    *d = (ml_data){0};
}
