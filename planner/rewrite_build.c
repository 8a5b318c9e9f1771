/* SPDX-License-Identifier: Apache-2.0
 * The builder of the rewrite pass: nodes are put behind all others, equal ones once, found by chained hashing. Two nodes are equal if all
 * bytes are but nnz, which is an estimate. */
#include <string.h>

#include "core/hash.h"
#include "planner/rewriter.h"

enum { MOST_IDS = INT32_MAX / 4 };

bool clf_same_form(const clf_gnode *a, const clf_gnode *b) {
    return a->dtype == b->dtype && a->scalar == b->scalar && clf_rows(a) == clf_rows(b) && clf_cols(a) == clf_cols(b);
}

/* ---- equal nodes ---- */

static uint64_t hash_of(const clf_gnode *x) {
    clf_gnode k;
    memcpy(&k, x, sizeof k); /* padding is zero, see graph.h */
    k.nnz = 0;
    return clf_hash64(&k, sizeof k, 0);
}

static bool equal(const clf_gnode *a, const clf_gnode *b) {
    clf_gnode k;
    memcpy(&k, a, sizeof k);
    k.nnz = b->nnz;
    return !memcmp(&k, b, sizeof k);
}

static void enter(clf_rewriter *w, int32_t n) {
    int32_t *head = &w->bucket[hash_of(&w->g.node[n]) & (uint64_t)(w->nbucket - 1)];
    w->chain[n] = *head;
    *head = n + 1;
}

static int32_t find(const clf_rewriter *w, const clf_gnode *x) {
    int32_t e = w->bucket[hash_of(x) & (uint64_t)(w->nbucket - 1)];
    while (e && !equal(x, &w->g.node[e - 1])) e = w->chain[e - 1];
    return e - 1;
}

/* ---- room ---- */

static bool make_room(clf_rewriter *w, int32_t cap) {
    clf_gnode *node = clf_arena_new(w->arena, (size_t)cap, sizeof *node);
    int32_t nbucket = 64;
    while (nbucket < cap) nbucket *= 2;
    w->bucket = clf_arena_new(w->scratch, (size_t)nbucket, sizeof *w->bucket);
    w->chain = clf_arena_new(w->scratch, (size_t)cap, sizeof *w->chain);
    if (!node || !w->bucket || !w->chain) return false;
    if (w->g.n) memcpy(node, w->g.node, (size_t)w->g.n * sizeof *node);
    w->g.node = node;
    w->nbucket = nbucket;
    w->cap = cap;
    for (int32_t n = 0; n < w->g.n; n++) enter(w, n);
    return true;
}

bool clf_rewriter_begin(clf_rewriter *w, int32_t n) {
    w->note = clf_arena_new(w->scratch, CLF_MOST_RULES, sizeof *w->note);
    return n <= MOST_IDS && w->note && make_room(w, n + n / 8 + 16);
}

int32_t clf_rewriter_put(clf_rewriter *w, const clf_gnode *x) {
    clf_gnode k;
    if (w->failed) return -1;
    memcpy(&k, x, sizeof k);
    for (int i = k.nin; i < 3; i++) k.in[i] = -1;
    int32_t n = find(w, &k);
    if (n >= 0) return n;
    if (w->g.n == w->cap && (w->cap > MOST_IDS || !make_room(w, 2 * w->cap))) w->failed = true;
    if (w->failed) return -1;
    n = w->g.n++;
    memcpy(&w->g.node[n], &k, sizeof k);
    enter(w, n);
    return n;
}

void *clf_rewriter_notes(clf_rewriter *w, size_t each) {
    struct clf_note *t = &w->note[w->rule];
    if (w->g.n <= t->n) return t->at;
    void *at = clf_arena_new(w->scratch, (size_t)w->cap, each);
    if (!at) {
        w->failed = true;
        return NULL;
    }
    if (t->n) memcpy(at, t->at, (size_t)t->n * each);
    t->at = at;
    t->n = w->cap;
    return at;
}

/* ---- nodes by the rules of recording ---- */

static clf_gnode draft(clf_op op, int nin, const int32_t *in) {
    clf_gnode x;
    memset(&x, 0, sizeof x);
    x.op = (uint16_t)op;
    x.nin = (uint8_t)nin;
    x.rank = 2;
    for (int k = 0; k < nin; k++) x.in[k] = in[k];
    return x;
}

static bool all_made(const clf_rewriter *w, int nin, const int32_t *in) {
    for (int k = 0; k < nin; k++)
        if (in[k] < 0 || in[k] >= w->g.n) return false;
    return !w->failed;
}

static int64_t cells_of(const clf_gnode *x) { return clf_rows(x) * clf_cols(x); }

/* Zero where an operand that annihilates is, or the only operand of an operator that keeps zeros. */
static void cell_facts(const clf_rewriter *w, clf_gnode *x) {
    unsigned flags = clf_ops[x->op].flags;
    x->nnz = cells_of(x);
    for (int k = 0; k < x->nin; k++) {
        const clf_gnode *q = &w->g.node[x->in[k]];
        bool makes = (flags & F_ANNIH) || (k == 0 && (flags & (F_ANNIH_A | F_ZERO)));
        if (q->zeros != CLF_ZEROS_STRUCTURAL || !makes) continue;
        x->zeros = CLF_ZEROS_STRUCTURAL;
        if (clf_rows(q) == clf_rows(x) && clf_cols(q) == clf_cols(x) && q->nnz < x->nnz) x->nnz = q->nnz;
    }
}

int32_t clf_rewriter_cell(clf_rewriter *w, clf_op op, int nin, const int32_t *in) {
    const clf_gnode *operand[3];
    clf_dtype type[3], result;
    bool scalar[3], all = true;
    if (!all_made(w, nin, in) || nin != clf_ops[op].arity) return -1;
    clf_gnode x = draft(op, nin, in);
    for (int k = 0; k < nin; k++) {
        operand[k] = &w->g.node[in[k]];
        type[k] = (clf_dtype)operand[k]->dtype;
        scalar[k] = operand[k]->scalar;
        all = all && scalar[k];
    }
    clf_op_type(op, nin, type, scalar, &result);
    clf_dim dim[2];
    if (clf_shape_cell(clf_ops[op].name, nin, operand, false, dim, NULL) != CLF_OK) return -1;
    clf_gnode_shape(&x, dim[0].n, dim[1].n);
    x.dtype = (uint8_t)result;
    x.scalar = all;
    x.rank = all ? 0 : 2;
    cell_facts(w, &x);
    return clf_rewriter_put(w, &x);
}

int32_t clf_rewriter_fold(clf_rewriter *w, clf_fold_id f, clf_way way, int32_t a) {
    if (!all_made(w, 1, &a)) return -1;
    const clf_gnode *q = &w->g.node[a];
    clf_gnode x = draft(CLF_OP_FOLD, 1, &a);
    clf_gnode_shape(&x, way == CLF_WAY_ROWS ? clf_rows(q) : 1, way == CLF_WAY_COLS ? clf_cols(q) : 1);
    x.scalar = way == CLF_WAY_ALL;
    x.rank = x.scalar ? 0 : 2;
    x.dtype = (uint8_t)clf_fold_result_type(f, clf_fold_value_type(f, (clf_dtype)q->dtype));
    x.attr[0] = f;
    x.attr[1] = way;
    x.nnz = cells_of(&x);
    return clf_rewriter_put(w, &x);
}

int32_t clf_rewriter_product(clf_rewriter *w, int32_t a, int32_t b) {
    const int32_t in[2] = {a, b};
    if (!all_made(w, 2, in) || clf_cols(&w->g.node[a]) != clf_rows(&w->g.node[b])) return -1;
    clf_gnode x = draft(CLF_OP_MATMUL, 2, in);
    clf_dtype t = clf_dtype_promote((clf_dtype)w->g.node[a].dtype, (clf_dtype)w->g.node[b].dtype);
    clf_gnode_shape(&x, clf_rows(&w->g.node[a]), clf_cols(&w->g.node[b]));
    x.dtype = (uint8_t)(clf_dtype_float(t) ? t : CLF_F64);
    x.nnz = cells_of(&x);
    return clf_rewriter_put(w, &x);
}

int32_t clf_rewriter_cast(clf_rewriter *w, int32_t q, clf_dtype t, bool scalar) {
    if (!all_made(w, 1, &q)) return -1;
    const clf_gnode *from = &w->g.node[q];
    if ((clf_dtype)from->dtype == t && !from->scalar == !scalar) return q;
    if (scalar && !clf_gnode_single(from)) return -1;
    clf_gnode x = draft(CLF_OP_CAST, 1, &q);
    clf_gnode_shape(&x, clf_rows(from), clf_cols(from));
    x.dtype = (uint8_t)t;
    x.scalar = scalar;
    x.rank = scalar ? 0 : 2;
    x.zeros = from->zeros;
    x.nnz = from->nnz;
    return clf_rewriter_put(w, &x);
}

int32_t clf_rewriter_plain(clf_rewriter *w, int32_t m) {
    if (!all_made(w, 1, &m)) return -1;
    clf_gnode x;
    memcpy(&x, &w->g.node[m], sizeof x);
    x.zeros = CLF_ZEROS_VALUE;
    return clf_rewriter_put(w, &x);
}

int32_t clf_rewriter_transpose(clf_rewriter *w, int32_t q) {
    if (!all_made(w, 1, &q)) return -1;
    const clf_gnode *from = &w->g.node[q];
    if (clf_gnode_single(from)) return q;
    if (from->op == CLF_OP_TRANSPOSE) return from->in[0];
    clf_gnode x = draft(CLF_OP_TRANSPOSE, 1, &q);
    clf_gnode_shape(&x, clf_cols(from), clf_rows(from));
    x.dtype = from->dtype;
    x.zeros = from->zeros;
    x.nnz = from->nnz;
    return clf_rewriter_put(w, &x);
}

int32_t clf_rewriter_like(clf_rewriter *w, int32_t like, const int32_t *in, int64_t rows, int64_t cols) {
    if (!all_made(w, 1, &like) || !all_made(w, w->g.node[like].nin, in)) return -1;
    clf_gnode x;
    memcpy(&x, &w->g.node[like], sizeof x);
    for (int k = 0; k < x.nin; k++) x.in[k] = in[k];
    clf_gnode_shape(&x, rows, cols);
    return clf_rewriter_put(w, &x);
}
