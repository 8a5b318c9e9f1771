/* SPDX-License-Identifier: Apache-2.0
 * Products of several matrices, A %*% B %*% v, in the order that needs the fewest multiplications: the classic dynamic programme over
 * where a chain is parted last, with the entries of sparse factors counted, by the classes that plans tell apart. A chain is what
 * products of products are made of, up to MOST factors; a longer one is put together from pieces. An order is changed only for one that is
 * cheaper by more than rounding, so ties stay as recorded.
 *
 * Kind: ROUNDING where no factor's zeros annihilate. With such a factor NANLOSS: B's zero row takes NaN of v away in A %*% (B %*% v), the
 * same zeros, computed, do not in (A %*% B) %*% v. Factors of different float types stay in the order in which they were rounded.
 * Measure: multiplications of the whole product. */
#include <math.h>
#include <string.h>

#include "planner/rules.h"

enum { MOST = 32 };

typedef struct chain {
    int n;
    bool sparse; /* a factor's zeros annihilate */
    bool alike;  /* all are rounded to the product's type */
    int32_t factor[MOST];
    double extent[MOST + 1];  /* rows of factor i; the last one's columns */
    double dense[MOST];       /* share of entries */
    double cost[MOST][MOST];  /* of the product of factors i .. j */
    uint8_t part[MOST][MOST]; /* the last factor of its left side */
} chain;

/* ---- what a chain is ---- */

/* Factors of product n, counted once; 1 for anything else. Operands with too many together are a factor each. */
static int32_t factors(const clf_graph *g, int32_t *count, int32_t n) {
    const clf_gnode *x = &g->node[n];
    if (x->op != CLF_OP_MATMUL) return 1;
    if (!count[n]) {
        int32_t both = (count[x->in[0]] ? count[x->in[0]] : 1) + (count[x->in[1]] ? count[x->in[1]] : 1);
        count[n] = both <= MOST ? both : 2;
    }
    return count[n];
}

/* Share of entries, as plans tell them apart. */
static double density(const clf_gnode *x) {
    double cells = (double)clf_rows(x) * (double)clf_cols(x);
    int64_t class_ = clf_nnz_class(x->nnz, cells);
    if (x->zeros != CLF_ZEROS_STRUCTURAL || class_ < 0 || cells <= 0) return 1;
    return class_ ? fmin(1, ldexp(1 + (double)((class_ - 1) % 4) / 4, (int)((class_ - 1) / 4) - 1) / cells) : 0;
}

static void add_factor(const clf_graph *g, chain *c, int32_t q, clf_dtype t) {
    const clf_gnode *x = &g->node[q];
    bool whole = !clf_dtype_float((clf_dtype)x->dtype);
    c->sparse = c->sparse || x->zeros == CLF_ZEROS_STRUCTURAL;
    c->alike = c->alike && !x->scalar && ((clf_dtype)x->dtype == t || (whole && t == CLF_F64));
    c->dense[c->n] = density(x);
    c->extent[c->n] = (double)clf_rows(x);
    c->extent[c->n + 1] = (double)clf_cols(x);
    c->factor[c->n++] = q;
}

/* To multiply factors i .. k with k + 1 .. j. */
static double multiplications(const chain *c, int i, int k, int j) {
    double share = (i == k ? c->dense[i] : 1) * (k + 1 == j ? c->dense[j] : 1);
    return c->extent[i] * c->extent[k + 1] * c->extent[j + 1] * share;
}

/* A product on the way through the chain as it is recorded. */
typedef struct visit {
    int32_t node;
    int first, split; /* its first factor; the last one of its left side, NEW before that */
    bool open;        /* its operands' factors belong to the chain */
} visit;
enum { NEW = -1 };

/* The factors of product n, left to right; returns what its own order costs. */
static double gather(const clf_graph *g, const int32_t *count, int32_t n, chain *c) {
    visit todo[MOST + 1];
    int depth = 0;
    double cost = 0;
    c->n = 0;
    c->sparse = false;
    c->alike = true;
    todo[depth++] = (visit){n, 0, NEW, count[n] > 2};
    for (int side = 0; depth;) {
        visit *v = &todo[depth - 1];
        const clf_gnode *x = &g->node[v->node];
        if (side == 2) {
            cost += multiplications(c, v->first, v->split, c->n - 1);
            depth--;
            side = depth && todo[depth - 1].split != NEW ? 2 : 1;
            if (depth && side == 1) todo[depth - 1].split = c->n - 1;
            continue;
        }
        int32_t q = x->in[side];
        if (v->open && g->node[q].op == CLF_OP_MATMUL) {
            todo[depth++] = (visit){q, c->n, NEW, count[q] > 2};
            side = 0;
            continue;
        }
        add_factor(g, c, q, (clf_dtype)g->node[n].dtype);
        if (side == 0) v->split = c->n - 1;
        side++;
    }
    return cost;
}

/* ---- the best order ---- */

static void cheapest(chain *c, int i, int j) {
    c->cost[i][j] = HUGE_VAL;
    for (int k = i; k < j; k++) {
        double cost = c->cost[i][k] + c->cost[k + 1][j] + multiplications(c, i, k, j);
        if (cost >= c->cost[i][j]) continue;
        c->cost[i][j] = cost;
        c->part[i][j] = (uint8_t)k;
    }
}

static double best_order(chain *c) {
    for (int i = 0; i < c->n; i++) c->cost[i][i] = 0;
    for (int len = 2; len <= c->n; len++)
        for (int i = 0; i + len <= c->n; i++) cheapest(c, i, i + len - 1);
    return c->cost[0][c->n - 1];
}

/* The product in that order: which ranges it takes, from long to short, then their nodes, from short to long. */
static int32_t build(clf_rewriter *w, const chain *c) {
    int32_t made[MOST][MOST];
    bool wanted[MOST][MOST] = {{false}};
    wanted[0][c->n - 1] = true;
    for (int len = c->n; len > 1; len--)
        for (int i = 0; i + len <= c->n; i++) {
            int j = i + len - 1, k = c->part[i][j];
            if (wanted[i][j]) wanted[i][k] = wanted[k + 1][j] = true;
        }
    for (int i = 0; i < c->n; i++) made[i][i] = c->factor[i];
    for (int len = 2; len <= c->n; len++)
        for (int i = 0; i + len <= c->n; i++) {
            int j = i + len - 1, k = c->part[i][j];
            if (wanted[i][j]) made[i][j] = clf_rewriter_product(w, made[i][k], made[k + 1][j]);
        }
    return made[0][c->n - 1];
}

static int32_t reorder(clf_rewriter *w, int32_t n, bool sparse) {
    static const double gain = 0.99; /* of the multiplications, at most, are left */
    if (w->g.node[n].op != CLF_OP_MATMUL) return -1;
    int32_t *count = clf_rewriter_notes(w, sizeof *count);
    chain c;
    if (!count || factors(&w->g, count, n) < 3) return -1;
    double own = gather(&w->g, count, n, &c);
    if (c.sparse != sparse || !c.alike || best_order(&c) > gain * own) return -1;
    return build(w, &c);
}

int32_t clf_rule_chain(clf_rewriter *w, int32_t n) { return reorder(w, n, false); }

int32_t clf_rule_chain_sparse(clf_rewriter *w, int32_t n) { return reorder(w, n, true); }
