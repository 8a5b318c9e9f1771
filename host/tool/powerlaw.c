/* SPDX-License-Identifier: Apache-2.0
 * Sparse matrices as ratings come: a few rows and columns have most of the entries. Entries fall with a row's and a column's rank to the
 * power -0.7, ranks being shuffled; no row is more than half full. Every number follows from the seed. */
#include <math.h>
#include <stdlib.h>

#include "host/tool/tool.h"

enum { ROUNDS = 16 }; /* of draws for a row whose columns coincide; then it has fewer entries */
static const double power = 0.7;

typedef struct law {
    int64_t rows, cols, nnz, cap;
    uint64_t state, row_step, col_step; /* steps: coprime to the extents, for they shuffle ranks */
    double scale;                       /* entries of the row of rank 0 */
    int64_t *offset;
    int32_t *index;
    double *value;
} law;

static uint64_t next(law *p) {
    uint64_t h = p->state += 0x9E3779B97F4A7C15u;
    h = (h ^ h >> 30) * 0xBF58476D1CE4E5B9u;
    h = (h ^ h >> 27) * 0x94D049BB133111EBu;
    return h ^ h >> 31;
}

/* In (0, 1]. */
static double unit(law *p) { return (double)((next(p) >> 11) + 1) * 0x1p-53; }

static uint64_t gcd(uint64_t a, uint64_t b) {
    while (b) {
        uint64_t r = a % b;
        a = b;
        b = r;
    }
    return a;
}

static uint64_t coprime(law *p, int64_t n) {
    uint64_t step = next(p) % (uint64_t)n;
    while (gcd(step, (uint64_t)n) != 1) step++;
    return step;
}

static int64_t shuffled(uint64_t rank, uint64_t step, int64_t n) { return (int64_t)((__uint128_t)rank * step % (uint64_t)n); }

static int by_column(const void *a, const void *b) {
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* Sorted, each once: how many. */
static int64_t distinct(int32_t *at, int64_t n) {
    int64_t kept = 0;
    qsort(at, (size_t)n, sizeof *at, by_column);
    for (int64_t i = 0; i < n; i++)
        if (!kept || at[kept - 1] != at[i]) at[kept++] = at[i];
    return kept;
}

/* `want` columns from at on, or a few less: ranks by inversion of their distribution. */
static int64_t draw_columns(law *p, int32_t *at, int64_t want) {
    int64_t have = 0;
    for (int round = 0; round < ROUNDS && have < want; round++) {
        for (int64_t i = have; i < want; i++) {
            uint64_t rank = (uint64_t)((double)p->cols * pow(1 - unit(p), 1 / (1 - power)));
            at[i] = (int32_t)shuffled(rank, p->col_step, p->cols);
        }
        have = distinct(at, want);
    }
    return have;
}

/* Entries that row i shall have; what is less than one is drawn. */
static int64_t wanted(law *p, int64_t i) {
    double n = fmin(p->scale * pow((double)shuffled((uint64_t)i, p->row_step, p->rows) + 1, -power), ceil((double)p->cols / 2));
    return (int64_t)n + (n - floor(n) >= unit(p));
}

static bool grow(law *p, int64_t room) {
    if (room <= p->cap) return true;
    p->cap = room + room / 2;
    int32_t *index = realloc(p->index, (size_t)p->cap * sizeof *index);
    if (index) p->index = index;
    double *value = realloc(p->value, (size_t)p->cap * sizeof *value);
    if (value) p->value = value;
    return index && value;
}

static bool draw(law *p, double share) {
    double weights = 0;
    p->offset = calloc((size_t)p->rows + 1, sizeof *p->offset);
    if (!p->offset || !grow(p, 1)) return false;
    if (!p->rows || !p->cols) return true;
    p->row_step = coprime(p, p->rows);
    p->col_step = coprime(p, p->cols);
    for (int64_t i = 0; i < p->rows; i++) weights += pow((double)i + 1, -power);
    p->scale = share * (double)p->rows * (double)p->cols / weights;
    for (int64_t i = 0; i < p->rows; i++) {
        int64_t n = wanted(p, i);
        if (!grow(p, p->nnz + n)) return false;
        n = draw_columns(p, p->index + p->nnz, n);
        for (int64_t k = 0; k < n; k++) p->value[p->nnz + k] = unit(p);
        p->nnz += n;
        p->offset[i + 1] = p->nnz;
    }
    return true;
}

tool_exit tool_powerlaw(clf_ctx *c, int64_t rows, int64_t cols, double share, uint64_t seed, clf_mat **out) {
    law p = {.rows = rows, .cols = cols, .state = seed};
    tool_exit st = TOOL_OK;
    if (rows < INT32_MAX && cols < INT32_MAX && draw(&p, share))
        *out = clf_sparse_csr(c, CLF_F64, rows, cols, p.nnz, p.offset, p.index, p.value, NULL);
    else
        st = tool_fail(TOOL_FAILED, "powerlaw: %lldx%lld is too large", (long long)rows, (long long)cols);
    free(p.offset);
    free(p.index);
    free(p.value);
    return st;
}
