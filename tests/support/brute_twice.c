/* SPDX-License-Identifier: Apache-2.0
 * What a loop computes along two axes, from what planner/axes.h says, as facts that grow until nothing follows from them any more. */
#include "planner/template.h"
#include "tests/support/brute.h"

enum { MOST = 2 * BRUTE_FACTS };

typedef struct axes {
    int n, npair;
    int64_t width[MOST], pair[BRUTE_FACTS][2];
} axes;

static int64_t cols_of(const brute *b, int32_t n, int k) { return clf_cols(&b->g->node[clf_node_operand(b->g, n, k)]); }

static bool is_known(const int64_t *width, int n, int64_t w) {
    for (int i = 0; i < n; i++)
        if (width[i] == w) return true;
    return false;
}

/* May w be the next axis: does nothing that has no axis yet want to be before it? */
static bool may_follow(const axes *a, int64_t w) {
    for (int i = 0; i < a->npair; i++)
        if (a->pair[i][1] == w && a->pair[i][0] != w && !is_known(a->width, a->n, a->pair[i][0])) return false;
    return true;
}

static void order(const brute *b, brute_ops set, axes *a) {
    a->n = a->npair = 0;
    for (int i = 0; i < b->nop; i++) {
        int32_t n = b->op[i].node;
        if (!(set >> i & 1) || clf_product_loop(b->g, n) != CLF_PRODUCT_COLS || cols_of(b, n, 0) == 1 || cols_of(b, n, 1) == 1) continue;
        for (int k = 0; k < 2; k++) a->pair[a->npair][k] = cols_of(b, n, k);
        a->npair++;
    }
    for (bool more = true; more;) {
        int64_t first = -1, narrow = -1;
        for (int i = 0; i < 2 * a->npair; i++) {
            int64_t w = a->pair[i / 2][i % 2];
            if (is_known(a->width, a->n, w)) continue;
            if (first < 0 && may_follow(a, w)) first = w;
            if (narrow < 0 || w < narrow) narrow = w;
        }
        more = narrow >= 0;
        if (more) a->width[a->n++] = first >= 0 ? first : narrow;
    }
}

/* Is the right side of product n along another axis than its own? */
static bool moved(const brute *b, const axes *a, int32_t n) {
    int64_t left = cols_of(b, n, 0), right = cols_of(b, n, 1);
    if (clf_product_loop(b->g, n) != CLF_PRODUCT_COLS || left == 1 || right == 1) return false;
    for (int i = 0; i < a->n; i++)
        if (a->width[i] == right || a->width[i] == left) return a->width[i] == right;
    return false;
}

/* along[0]: the axis of its number of columns, along[1]: a second one. Operand k of op, needed along so, is needed along */
static void operand_along(const brute *b, const axes *a, const brute_op *op, int k, const brute_ops along[2], int i, bool out[2]) {
    int32_t n = op->node;
    clf_product form = clf_product_loop(b->g, n);
    bool mine[2] = {along[0] >> i & 1, along[1] >> i & 1}, row = form == CLF_PRODUCT_ROWS || form == CLF_PRODUCT_WIDE;
    out[0] = out[1] = false;
    if (cols_of(b, n, k) == 1)
        out[0] = true;
    else if (form == CLF_PRODUCT_COLS && k == 1)
        out[moved(b, a, n)] = true;
    else if (b->g->node[n].op == CLF_OP_FOLD || form == CLF_PRODUCT_COLS || form == CLF_PRODUCT_INNER ||
             cols_of(b, n, k) != clf_cols(&b->g->node[n]))
        out[0] = true;
    else
        for (int side = 0; side < 2; side++) out[row ? !side : side] = mine[side];
}

brute_ops brute_twice(const brute *b, const brute_part *p) {
    brute_ops along[2] = {p->out, 0}, before[2];
    axes a;
    bool products = false;
    for (int i = 0; i < b->nop; i++) products = products || ((p->node >> i & 1) && b->g->node[b->op[i].node].op == CLF_OP_MATMUL);
    if (!products) return 0;
    order(b, p->node, &a);
    do {
        before[0] = along[0], before[1] = along[1];
        for (int i = 0; i < b->nop; i++)
            for (int k = 0; (p->node >> i & 1) && k < b->g->node[b->op[i].node].nin; k++)
                for (int q = 0; q < b->nop; q++) {
                    bool need[2];
                    if (!(p->node >> q & 1) || b->op[q].node != clf_node_operand(b->g, b->op[i].node, k)) continue;
                    operand_along(b, &a, &b->op[i], k, along, i, need);
                    for (int side = 0; side < 2; side++) along[side] |= (brute_ops)need[side] << q;
                }
    } while (before[0] != along[0] || before[1] != along[1]);
    return along[0] & along[1];
}
