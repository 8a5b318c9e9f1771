/* SPDX-License-Identifier: Apache-2.0
 * Operands of random row forms: numbers by kernel_job.h, and where the entries of a CSR input stand: at random, nowhere, everywhere,
 * all in one row, in the middle rows only, in one column, more and more by row, one full row among sparse ones. */
#include "tests/support/random_rows.h"

typedef struct place {
    int kind;
    int64_t rows, cols;
    uint64_t seed;
    double density;
} place;

static double noise(const place *p, int64_t i, int64_t k) {
    uint64_t h = (p->seed + (uint64_t)i * 0x9e3779b97f4a7c15u + (uint64_t)k * 0xc2b2ae3d27d4eb4fu) * 0xff51afd7ed558ccdu;
    h = (h ^ h >> 33) * 0xc4ceb9fe1a85ec53u;
    return (double)(h >> 11) / 9007199254740992.0;
}

static bool has(int64_t i, int64_t k, void *at) {
    const place *p = at;
    bool some = noise(p, i, k) < p->density;
    switch (p->kind) {
    case 0: return i == p->rows / 2;
    case 1: return some && i >= p->rows / 4 && i < p->rows - p->rows / 4;
    case 2: return k == p->cols / 2;
    case 4: return i == p->rows / 2 || noise(p, i, k) < 1.0 / 64;
    case 3: return noise(p, i, k) < (double)(i + 1) / (double)(p->rows * 2);
    default: return some;
    }
}

void random_rows_fill(random_rows *r) {
    static const double density[] = {0, 0.01, 0.1, 0.5, 1};
    kernel_job *j = &r->j;
    job_memory(j, r->data, 0);
    for (int q = 0; q < j->c.nin; q++) {
        if (j->c.in[q].format != CLF_CSR) continue;
        place p = {
            .kind = (int)(job_uniform(j) * 12), .rows = j->c.in[q].dim[0].n, .cols = j->c.in[q].dim[1].n, .seed = j->seed + (uint64_t)q};
        p.density = density[(int)(job_uniform(j) * 5)];
        job_sparse(j, q, has, &p, r->data);
    }
}
