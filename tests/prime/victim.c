/* SPDX-License-Identifier: Apache-2.0
 * A program put together by hand; see victim.h. */
#include "tests/prime/victim.h"

#include <stdlib.h>

static int put(rp_program *p, rp_node n, int64_t rows, int64_t cols, bool scalar) {
    n.m = (rp_matrix){.t = CLF_F64, .scalar = scalar, .rows = rows, .cols = cols};
    p->node[p->n] = n;
    return p->n++;
}

static int put_leaf(rp_program *p, int64_t rows, int64_t cols, uint64_t prime, uint64_t seed) {
    int i = put(p, (rp_node){.kind = RP_LEAF}, rows, cols, false);
    double *v = p->node[i].m.v = calloc((size_t)(rows * cols) + 1, sizeof *v);
    for (int64_t k = 0; k < rows * cols; k++) {
        seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        v[k] = (double)((seed >> 20) % prime);
    }
    return i;
}

static int put_cell(rp_program *p, int op, int a, int b) {
    const rp_matrix *m = &p->node[a].m;
    return put(p, (rp_node){.kind = RP_CELL, .op = op, .nin = b < 0 ? 1 : 2, .in = {a, b < 0 ? 0 : b}}, m->rows, m->cols, false);
}

static int put_fold(rp_program *p, int fold, clf_dir way, int a) {
    const rp_matrix *m = &p->node[a].m;
    return put(p, (rp_node){.kind = RP_FOLD, .op = fold, .nin = 1, .in = {a}, .attr = {way}}, way == CLF_ROWS ? m->rows : 1,
               way == CLF_COLS ? m->cols : 1, way == CLF_ALL);
}

static void put_root(rp_program *p, int i) { p->root[p->nroot++] = i; }

rp_program *victim_program(uint64_t seed, uint64_t prime) {
    rp_program *p = calloc(1, sizeof *p);
    int64_t rows = 2 + (int64_t)(seed % 9), cols = 2 + (int64_t)(seed % 70);
    p->seed = seed;
    p->domain = RP_PRIME;
    int a = put_leaf(p, rows, cols, prime, seed), b = put_leaf(p, rows, cols, prime, seed + 1000),
        c = put_leaf(p, rows, cols, prime, seed + 2000);
    int ab = put_cell(p, CLF_MUL, a, b), sum = put_cell(p, CLF_ADD, ab, c);
    put_root(p, sum);
    put_root(p, put_fold(p, CLF_FOLD_CODE_SUM, CLF_ROWS, sum));
    put_root(p, put_fold(p, CLF_FOLD_CODE_SUM, CLF_COLS, sum));
    put_root(p, put_fold(p, CLF_FOLD_CODE_PROD, CLF_ALL, sum));
    put_root(p, put_fold(p, CLF_FOLD_CODE_SUM, CLF_ALL, ab));
    put_root(p, put_fold(p, CLF_FOLD_CODE_SUMSQ, CLF_ALL, a));
    put_root(p, put_cell(p, CLF_NEG, put_cell(p, CLF_SUB, a, b), -1));
    return p;
}

const unsigned victim_shows[FIELD_PLANTS] = {
    [FIELD_MUL_OF_SUM] = 0x0f, [FIELD_SUM_OF_MUL] = 0x10, [FIELD_SQUARE_LATE] = 0x20, [FIELD_SIGN_LOST] = 0x40};
