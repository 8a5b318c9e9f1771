/* SPDX-License-Identifier: Apache-2.0
 * Non-negative factors by multiplicative updates (Lee and Seung 2001, theorem 1), plain and sequential, in the paper's own order of
 * operations; the objective by all its cells. start: W (n x k), H (m x k); model: W, H. */
#include <stdlib.h>
#include <string.h>
#include "tests/oracle/algo.h"

static double product(const algo_plain *p, int64_t i, int64_t j) {
    double s = 0;
    for (int64_t l = 0; l < p->k; l++) s += p->model[0][i * p->k + l] * p->model[1][j * p->k + l];
    return s;
}

/* f (n x k) times what x (n x m, read by strides) g is, over what (f g') g is. */
static void update(const double *x, int64_t by_row, int64_t by_col, int64_t n, int64_t m, int64_t k, double *f, const double *g) {
    for (int64_t i = 0; i < n; i++) {
        double over[64] = {0}, under[64] = {0};
        for (int64_t j = 0; j < m; j++) {
            double fit = 0;
            for (int64_t l = 0; l < k; l++) fit += f[i * k + l] * g[j * k + l];
            for (int64_t l = 0; l < k; l++) {
                over[l] += x[i * by_row + j * by_col] * g[j * k + l];
                under[l] += fit * g[j * k + l];
            }
        }
        for (int64_t l = 0; l < k; l++) f[i * k + l] = f[i * k + l] == 0 ? 0 : f[i * k + l] * over[l] / under[l];
    }
}

bool algo_gnmf(algo_plain *p) {
    double *w = p->model[0], *h = p->model[1];
    if (p->k > 64) return false;
    memcpy(w, p->start[0], (size_t)(p->n * p->k) * sizeof *w);
    memcpy(h, p->start[1], (size_t)(p->m * p->k) * sizeof *h);
    for (int i = 0; i < p->iterations; i++) {
        update(p->x, 1, p->m, p->m, p->n, p->k, h, w);
        update(p->x, p->m, 1, p->n, p->m, p->k, w, h);
    }
    p->objective = 0;
    for (int64_t i = 0; i < p->n; i++)
        for (int64_t j = 0; j < p->m; j++) {
            const double miss = p->x[i * p->m + j] - product(p, i, j);
            p->objective += miss * miss;
        }
    return true;
}
