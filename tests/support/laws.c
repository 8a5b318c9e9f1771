/* SPDX-License-Identifier: Apache-2.0
 * Programs changed by a law: rows of leaves, transposes, order, copies. */
#include "tests/support/laws.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/random_make.h"

/* ---- rows ---- */

static bool same_for_any_order(int fold) { return fold == CLF_FOLD_CODE_ANY || fold == CLF_FOLD_CODE_ALL || fold == CLF_FOLD_CODE_NNZ; }

static int worst_of(const rp_node *n, const law_tags tag) {
    int t = LAW_FIXED;
    for (int k = 0; k < n->nin; k++) t = tag[n->in[k]] == LAW_BAD || t == LAW_BAD ? LAW_BAD : tag[n->in[k]] > t ? tag[n->in[k]] : t;
    return t;
}

void law_follow_rows(const rp_program *p, int64_t rows, law_tags tag) {
    for (int i = 0; i < p->n; i++) {
        const rp_node *n = &p->node[i];
        tag[i] = n->kind == RP_LEAF && n->m.rows == rows ? LAW_ROWS : worst_of(n, tag);
        if (n->kind == RP_FOLD && tag[i] == LAW_ROWS && n->attr[0] != CLF_ROWS) tag[i] = same_for_any_order(n->op) ? LAW_FIXED : LAW_BAD;
    }
}

static bool refit(rp_program *q) {
    for (int i = 0; i < q->n; i++)
        if (!rp_fit_node(q, &q->node[i])) return false;
    return true;
}

static bool take_leaf(rp_matrix *m, const int64_t *index, int64_t n) {
    double *v = calloc((size_t)(n * m->cols) + 1, sizeof *v);
    for (int64_t k = 0; v && k < n; k++)
        if (index[k] >= 0) memcpy(v + k * m->cols, m->v + index[k] * m->cols, (size_t)m->cols * sizeof *v);
    free(m->v);
    m->v = v;
    m->rows = n;
    return v != NULL;
}

bool law_take_rows(const rp_program *p, int64_t rows, const int64_t *index, int64_t n, rp_program *q) {
    bool good = true;
    rp_copy(p, q);
    for (int i = 0; i < q->n; i++)
        if (q->node[i].kind == RP_LEAF && q->node[i].m.rows == rows) good = take_leaf(&q->node[i].m, index, n) && good;
    return good && refit(q);
}

/* A fold from whose tree trailing zeros vanish. */
static bool zeros_vanish(int fold) {
    return fold == CLF_FOLD_CODE_SUM || fold == CLF_FOLD_CODE_SUMSQ || fold == CLF_FOLD_CODE_NNZ || fold == CLF_FOLD_CODE_ANY;
}

static bool is_zero(const void *data, int64_t k, clf_dtype t) {
    switch (t) {
    case CLF_F32: return ((const float *)data)[k] == 0;
    case CLF_F64: return ((const double *)data)[k] == 0;
    case CLF_I32: return ((const int32_t *)data)[k] == 0;
    case CLF_I64: return ((const int64_t *)data)[k] == 0;
    default: return ((const uint8_t *)data)[k] == 0;
    }
}

static bool zeros_from(const rp_matrix *m, const void *data, int64_t row) {
    for (int64_t k = row * m->cols; k < rp_count(m); k++)
        if (!is_zero(data, k, m->t)) return false;
    return true;
}

void law_follow_zeros(const rp_program *p, const rp_program *q, const void *const *data, int64_t rows, law_tags tag) {
    for (int i = 0; i < p->n; i++) {
        const rp_node *n = &p->node[i];
        tag[i] = n->kind == RP_LEAF && n->m.rows == rows ? LAW_ROWS : worst_of(n, tag);
        if (n->kind != RP_FOLD || tag[i] != LAW_ROWS || n->attr[0] == CLF_ROWS) continue;
        bool same = zeros_vanish(n->op) && zeros_from(&q->node[n->in[0]].m, data[n->in[0]], rows);
        tag[i] = same ? LAW_FIXED : LAW_BAD;
    }
}

/* ---- transposes ---- */

static bool turn_leaf(rp_matrix *m) {
    double *v = calloc((size_t)rp_count(m) + 1, sizeof *v);
    int64_t rows = m->rows;
    for (int64_t i = 0; v && i < rows; i++)
        for (int64_t j = 0; j < m->cols; j++) v[j * rows + i] = m->v[i * m->cols + j];
    free(m->v);
    m->v = v;
    m->rows = m->cols;
    m->cols = rows;
    return v != NULL;
}

bool law_transpose(const rp_program *p, rp_program *q, law_tags tag) {
    bool good = true;
    rp_copy(p, q);
    for (int i = 0; i < q->n; i++) {
        rp_node *n = &q->node[i];
        if (n->kind == RP_LEAF) good = turn_leaf(&n->m) && good;
        tag[i] = worst_of(n, tag);
        if (n->kind != RP_FOLD) continue;
        n->attr[0] = n->attr[0] == CLF_ROWS ? CLF_COLS : n->attr[0] == CLF_COLS ? CLF_ROWS : CLF_ALL;
        if (!same_for_any_order(n->op)) tag[i] = LAW_BAD;
    }
    return good && refit(q);
}

/* ---- the same nodes elsewhere ---- */

/* A copy of node n behind q's last, its operands moved. */
static int append(rp_program *q, const rp_node *n, const int *at) {
    rp_node *m = &q->node[q->n];
    size_t bytes = ((size_t)rp_count(&n->m) + 1) * sizeof *n->m.v;
    *m = *n;
    m->m.v = n->m.v ? malloc(bytes) : NULL;
    if (m->m.v) memcpy(m->m.v, n->m.v, bytes);
    for (int k = 0; k < n->nin; k++) m->in[k] = at[n->in[k]];
    return q->n++;
}

static void begin(const rp_program *p, rp_program *q) {
    memset(q, 0, sizeof *q);
    q->seed = p->seed;
    q->domain = p->domain;
}

static void move_roots(const rp_program *p, rp_program *q, const int *at) {
    q->nroot = p->nroot;
    for (int r = 0; r < p->nroot; r++) q->root[r] = at[p->root[r]];
}

static int pick_below(uint64_t *seed, int n) {
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int)((*seed >> 33) % (uint64_t)n);
}

static bool ready(const rp_node *n, const int *at) {
    for (int k = 0; k < n->nin; k++)
        if (at[n->in[k]] < 0) return false;
    return true;
}

void law_reorder(const rp_program *p, uint64_t seed, rp_program *q, int *at) {
    begin(p, q);
    for (int i = 0; i < p->n; i++) at[i] = -1;
    while (q->n < p->n) {
        int i = pick_below(&seed, p->n);
        if (at[i] < 0 && ready(&p->node[i], at)) at[i] = append(q, &p->node[i], at);
    }
    move_roots(p, q, at);
}

bool law_split_leaves(const rp_program *p, rp_program *q, int *at) {
    int twin[RP_NODES];
    begin(p, q);
    if (2 * p->n > RP_NODES) return false;
    for (int i = 0; i < p->n; i++) {
        const rp_node *n = &p->node[i];
        at[i] = append(q, n, at);
        twin[i] = n->kind == RP_LEAF ? append(q, n, at) : at[i];
        rp_node *m = &q->node[at[i]];
        for (int k = 0; k < n->nin; k++) m->in[k] = (i + k) % 2 ? twin[n->in[k]] : at[n->in[k]];
    }
    move_roots(p, q, at);
    return true;
}

bool law_turn_twice(const rp_program *p, uint64_t seed, rp_program *q, int *at) {
    begin(p, q);
    if (3 * p->n > RP_NODES) return false;
    for (int i = 0; i < p->n; i++) {
        at[i] = append(q, &p->node[i], at);
        if (p->node[i].m.scalar || pick_below(&seed, 3)) continue;
        for (int turn = 0; turn < 2; turn++) {
            rp_node t = {.kind = RP_TRANSPOSE, .nin = 1, .in = {at[i]}};
            const rp_matrix *x = &q->node[at[i]].m;
            t.m = (rp_matrix){.t = x->t, .rows = x->cols, .cols = x->rows};
            q->node[q->n] = t;
            at[i] = q->n++;
            if (turn == 0 && pick_below(&seed, 2)) q->root[q->nroot++] = at[i]; /* then the pair is no longer nothing */
        }
    }
    int extra = q->nroot;
    memmove(q->root + p->nroot, q->root, (size_t)extra * sizeof *q->root);
    for (int r = 0; r < p->nroot; r++) q->root[r] = at[p->root[r]];
    q->nroot = p->nroot + extra;
    return true;
}
