/* SPDX-License-Identifier: Apache-2.0
 * Facts of recorded nodes; see facts.h. The number of cells that are not 0 is estimated as if operands were independent, except where
 * one pattern covers both (X * (X > 0)), and for products of two leaves from their row and column counts. */
#include "host/graph/facts.h"

#include <math.h>
#include <string.h>

#include "host/graph/sparse_buf.h"

static double cells_of(const clf_gnode *g) { return (double)clf_rows(g) * (double)clf_cols(g); }

/* A count within what the shape has room for; rounded up, so that only what is empty counts as empty, except for rounding errors. */
static int64_t count_of(const clf_gnode *g, double nnz) {
    double cells = cells_of(g);
    return nnz < cells ? (int64_t)ceil(nnz * (1 - 1e-9)) : (int64_t)cells;
}

static double density(const clf_gnode *g) {
    double cells = cells_of(g);
    return cells > 0 ? (double)g->nnz / cells : 0;
}

void clf_facts_leaf(clf_gnode *g, int64_t nnz, const clf_buf *buf) {
    bool sparse = clf_buf_is_csr(buf);
    g->format = sparse ? CLF_CSR : CLF_DENSE;
    g->nnz = sparse ? clf_buf_csr(buf)->nnz : count_of(g, (double)nnz);
}

static uint64_t pattern_of(const clf_node *n) { return n->pattern ? n->pattern : n->id; }

/* ---- cell operators ---- */

static bool is_number(const clf_node *n) { return n->known || n->g.op == CLF_OP_CONST; }

/* The number a node is in every cell: a constant, or cells filled with one. */
static bool number_of(const clf_node *n, clf_zeros_operand *out) {
    const clf_node *v = n->g.op == CLF_OP_FILL ? n->in[0] : n;
    *out = (clf_zeros_operand){.known = is_number(v), .value = v->num};
    if (out->known) out->value = clf_scalar_to(v->num, (clf_dtype)n->g.dtype);
    return out->known;
}

/* Is the result 0 where the operands of set `zero` are, whatever the others? */
static bool zero_where(const clf_node *w, clf_dtype t, unsigned zero) {
    clf_zeros_operand x[3];
    if (clf_op_annihilators(w->g.op) & zero) return true;
    for (int i = 0; i < w->g.nin; i++)
        if (zero >> i & 1)
            x[i] = (clf_zeros_operand){true, clf_scalar_i64(0)};
        else
            number_of(w->in[i], &x[i]);
    return clf_zeros_forced((clf_op)w->g.op, t, w->g.nin, x);
}

static uint8_t cell_zeros(const clf_node *w, clf_dtype t) {
    unsigned structural = 0;
    for (int i = 0; i < w->g.nin; i++) structural |= (unsigned)(w->in[i]->g.zeros == CLF_ZEROS_STRUCTURAL) << i;
    return structural && zero_where(w, t, structural) ? CLF_ZEROS_STRUCTURAL : CLF_ZEROS_VALUE;
}

/* Operands that are 0 in the same cells count once: for each operand the set of those of its pattern, and whether it is the first. */
typedef struct groups {
    int n;
    unsigned set[3];
    double dense[3]; /* share of the cells where the group is not 0 */
} groups;

static void group_operands(const clf_node *w, groups *out) {
    clf_zeros_operand ignored;
    unsigned done = 0;
    out->n = 0;
    for (int i = 0; i < w->g.nin; i++) {
        double d = density(&w->in[i]->g);
        if ((done >> i & 1) || d >= 1 || number_of(w->in[i], &ignored)) continue;
        unsigned set = 0;
        for (int k = i; k < w->g.nin; k++)
            if (pattern_of(w->in[k]) == pattern_of(w->in[i])) {
                set |= 1U << k;
                d = fmax(d, density(&w->in[k]->g));
            }
        done |= set;
        out->set[out->n] = set;
        out->dense[out->n++] = d;
    }
}

/* The share of cells that may differ from 0: over all choices of which groups are 0 there. */
static double share_left(const clf_node *w, clf_dtype t, const groups *g) {
    double share = 0;
    for (unsigned choice = 0; choice < 1U << g->n; choice++) {
        unsigned zero = 0;
        double p = 1;
        for (int k = 0; k < g->n; k++) {
            bool in = choice >> k & 1;
            if (in) zero |= g->set[k];
            p *= in ? 1 - g->dense[k] : g->dense[k];
        }
        if (p > 0 && !(zero && zero_where(w, t, zero))) share += p;
    }
    return share;
}

/* The sparsest operand of the result's shape that is 0 only where the result is. */
static uint64_t cell_pattern(const clf_node *w, clf_dtype t, const groups *g) {
    double best = 1;
    uint64_t pattern = 0;
    for (int k = 0; k < g->n; k++) {
        const clf_node *x = w->in[__builtin_ctz(g->set[k])];
        bool same = clf_rows(&x->g) == clf_rows(&w->g) && clf_cols(&x->g) == clf_cols(&w->g);
        if (!same || g->dense[k] >= best || !zero_where(w, t, g->set[k])) continue;
        best = g->dense[k];
        pattern = pattern_of(x);
    }
    return pattern;
}

static void cell_number(clf_node *w, clf_dtype t) {
    clf_zeros_operand x[3];
    for (int i = 0; i < w->g.nin; i++)
        if (!w->g.scalar || !number_of(w->in[i], &x[i])) return;
    w->num = clf_scalar_to(clf_zeros_value((clf_op)w->g.op, t, w->g.nin, x), (clf_dtype)w->g.dtype);
    w->known = true;
}

void clf_facts_cell(clf_node *w, clf_dtype t) {
    groups g;
    w->g.zeros = cell_zeros(w, t);
    group_operands(w, &g);
    w->g.nnz = count_of(&w->g, cells_of(&w->g) * share_left(w, t, &g));
    w->pattern = cell_pattern(w, t, &g);
    cell_number(w, t);
}

/* ---- structural operators ---- */

static double nnz_all(clf_ctx *c, const clf_node *w) {
    (void)c;
    return cells_of(&w->g);
}

static double nnz_same(clf_ctx *c, const clf_node *w) {
    (void)c;
    return (double)w->in[0]->g.nnz;
}

static double nnz_both(clf_ctx *c, const clf_node *w) {
    (void)c;
    return (double)w->in[0]->g.nnz + (double)w->in[1]->g.nnz;
}

static double nnz_share(clf_ctx *c, const clf_node *w) {
    (void)c;
    return density(&w->in[0]->g) * cells_of(&w->g);
}

static double nnz_order(clf_ctx *c, const clf_node *w) { return w->g.attr[2] ? nnz_all(c, w) : nnz_same(c, w); }

static double nnz_fill(clf_ctx *c, const clf_node *w) {
    clf_zeros_operand x;
    return number_of(w, &x) && clf_scalar_as_f64(x.value) == 0 ? 0 : nnz_all(c, w);
}

static double nnz_rand(clf_ctx *c, const clf_node *w) { return clf_attr_f64(w->g.attr[2]) * nnz_all(c, w); }

/* Stored entries in position k of the dimension that a product sums over: the columns of its left operand, the rows of its right one.
 * A transposed leaf has rows for columns. */
typedef struct counts {
    const int64_t *number, *offset; /* one of them */
} counts;

static bool count_entries(clf_ctx *c, const clf_node *n, bool cols, counts *out) {
    if (n->g.op == CLF_OP_TRANSPOSE) {
        n = n->in[0];
        cols = !cols;
    }
    memset(out, 0, sizeof *out);
    if (!n->value || !clf_buf_is_csr(n->value) || clf_buf_broken(n->value)) return false;
    if (cols)
        out->number = clf_csr_buf_col_counts(c, n->value);
    else
        out->offset = clf_buf_csr(n->value)->ptr;
    return out->number || out->offset;
}

static double count_at(const counts *x, int64_t k) { return (double)(x->number ? x->number[k] : x->offset[k + 1] - x->offset[k]); }

/* Of the products that meet in a cell on average, one is enough: 1 - exp(-average). */
static double nnz_product(clf_ctx *c, const clf_node *w) {
    const clf_node *a = w->in[0], *b = w->in[1];
    double inner = (double)clf_cols(&a->g), cells = cells_of(&w->g), meet = 0;
    counts x, y;
    if (count_entries(c, a, true, &x) && count_entries(c, b, false, &y)) {
        for (int64_t k = 0; k < clf_cols(&a->g); k++) meet += count_at(&x, k) * count_at(&y, k);
        return cells > 0 ? -expm1(-meet / cells) * cells : 0;
    }
    double both = density(&a->g) * density(&b->g);
    return both < 1 ? -expm1(inner * log1p(-both)) * cells : cells;
}

/* How an operator's facts follow from those of its inputs. */
static const struct {
    double (*nnz)(clf_ctx *c, const clf_node *w);
    bool keeps; /* cells are the inputs' own, or 0 besides them: zeros stay what they are if all inputs' are */
} forms[CLF_NALLOPS] = {
    [CLF_OP_CAST] = {nnz_same, true},       [CLF_OP_TRANSPOSE] = {nnz_same, true}, [CLF_OP_REV] = {nnz_same, true},
    [CLF_OP_INDEX] = {nnz_share, true},     [CLF_OP_CBIND] = {nnz_both, true},     [CLF_OP_RBIND] = {nnz_both, true},
    [CLF_OP_DIAG] = {nnz_same, true},       [CLF_OP_RESHAPE] = {nnz_same, false},  [CLF_OP_ORDER] = {nnz_order, false},
    [CLF_OP_MATMUL] = {nnz_product, false}, [CLF_OP_FILL] = {nnz_fill, false},     [CLF_OP_RAND] = {nnz_rand, false},
};

void clf_facts_form(clf_ctx *c, clf_node *w) {
    bool keeps = forms[w->g.op].keeps;
    for (int i = 0; i < w->g.nin; i++) keeps = keeps && w->in[i]->g.zeros == CLF_ZEROS_STRUCTURAL;
    w->g.zeros = keeps ? CLF_ZEROS_STRUCTURAL : CLF_ZEROS_VALUE;
    clf_zeros_operand x;
    w->known = w->g.op == CLF_OP_CAST && number_of(w->in[0], &x);
    if (w->known) w->num = clf_scalar_to(x.value, (clf_dtype)w->g.dtype);
    w->g.nnz = count_of(&w->g, (forms[w->g.op].nnz ? forms[w->g.op].nnz : nnz_all)(c, w));
}
