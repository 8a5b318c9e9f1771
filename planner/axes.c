/* SPDX-License-Identifier: Apache-2.0
 * A result's axes stand in the order of its dimensions, so t(A) %*% B wants the axis of A's columns before that of B's; B is computed along
 * another axis behind it otherwise, with all that it is computed from as far as that has as many columns. Two products can want opposite
 * orders, as the gradients of two layers of a network do: t(H) %*% D of m x k and of k x m. Then the narrower side is the one that is
 * computed twice. Where an operand and a result of a product in the row have equally many columns they lie on two axes, too, and what is
 * needed along both is computed along both. */
#include "planner/axes.h"
#include "planner/template.h"

/* ---- order ---- */

/* before[i]: widths that want to stand before i, as bits. */
typedef struct wishes {
    clf_axes all; /* as they come */
    uint32_t before[CLF_MAX_AXES];
} wishes;

static int place_of(const clf_axes *a, int64_t width) {
    for (int i = 0; i < a->n; i++)
        if (a->width[i] == width) return i;
    return -1;
}

static int enter(wishes *w, int64_t width) {
    int i = place_of(&w->all, width);
    if (i >= 0 || w->all.n == CLF_MAX_AXES) return i;
    w->before[w->all.n] = 0;
    w->all.width[w->all.n] = width;
    return w->all.n++;
}

/* Columns of both sides of t(A) %*% B; false: n is none, or one of them has no axis. */
static bool sides(const clf_graph *g, int32_t n, int64_t *left, int64_t *right) {
    bool t;
    if (clf_product_loop(g, n) != CLF_PRODUCT_COLS) return false;
    *left = clf_cols(&g->node[clf_product_operand(g, n, 0, &t)]);
    *right = clf_cols(&g->node[clf_product_operand(g, n, 1, &t)]);
    return *left != 1 && *right != 1;
}

/* The next one nobody left wants to stand before; if there is none, the narrowest. */
static int next(const wishes *w, uint32_t left) {
    int narrow = -1;
    for (int i = 0; i < w->all.n; i++) {
        if (!(left >> i & 1)) continue;
        if (!(w->before[i] & left)) return i;
        if (narrow < 0 || w->all.width[i] < w->all.width[narrow]) narrow = i;
    }
    return narrow;
}

void clf_axes_order(const clf_graph *g, const clf_part *part, clf_axes *out) {
    wishes w = {.all = {.n = 0}};
    int64_t left, right;
    for (int32_t j = 0; j < part->n; j++) {
        if (!sides(g, part->node[j], &left, &right)) continue;
        int l = enter(&w, left), r = enter(&w, right);
        if (l >= 0 && r >= 0 && l != r) w.before[r] |= 1u << l;
    }
    out->n = 0;
    for (uint32_t todo = (1u << w.all.n) - 1; todo;) {
        int i = next(&w, todo);
        out->width[out->n++] = w.all.width[i];
        todo &= ~(1u << i);
    }
}

bool clf_axes_moves(const clf_axes *a, const clf_graph *g, int32_t product) {
    int64_t left, right;
    return sides(g, product, &left, &right) && place_of(a, right) <= place_of(a, left);
}

/* ---- what is computed twice ---- */

typedef struct marking {
    const clf_graph *g;
    const clf_cover *c;
    int32_t number;
    uint8_t *mark;
} marking;

static void need(const marking *m, int32_t q, unsigned along) {
    if (clf_cover_has(m->c, m->number, q)) m->mark[q] |= clf_cols(&m->g->node[q]) == 1 ? CLF_AXES_FIRST : (uint8_t)along;
}

static unsigned other(unsigned along) {
    return ((along & CLF_AXES_FIRST) ? CLF_AXES_OTHER : 0u) | ((along & CLF_AXES_OTHER) ? CLF_AXES_FIRST : 0u);
}

/* What n, which is needed along these axes, needs its operands along. */
static void pass_on(const marking *m, const clf_axes *a, int32_t n) {
    const clf_gnode *x = &m->g->node[n];
    unsigned along = m->mark[n] & CLF_AXES_TWICE;
    bool moved = clf_axes_moves(a, m->g, n), product = x->op == CLF_OP_MATMUL, fold = x->op == CLF_OP_FOLD;
    clf_product way = clf_product_loop(m->g, n);
    bool meets = product && way != CLF_PRODUCT_ROWS && way != CLF_PRODUCT_WIDE;
    for (int k = 0; k < x->nin; k++) {
        int32_t q = clf_node_operand(m->g, n, k);
        if (meets || fold)
            need(m, q, meets && k == 1 && moved ? CLF_AXES_OTHER : CLF_AXES_FIRST);
        else if (clf_cols(&m->g->node[q]) != clf_cols(x))
            need(m, q, CLF_AXES_FIRST);
        else
            need(m, q, product ? other(along) : along);
    }
}

bool clf_axes_twice(const clf_graph *g, const clf_cover *c, int32_t number, uint8_t *mark) {
    const clf_part *part = &c->part[number];
    const marking m = {g, c, number, mark};
    clf_axes order;
    bool products = false, any = false;
    for (int32_t j = 0; j < part->n; j++) products = products || g->node[part->node[j]].op == CLF_OP_MATMUL;
    if (!products) return false;
    clf_axes_order(g, part, &order);
    for (int32_t j = part->n; j-- > 0;) {
        int32_t n = part->node[j];
        if (clf_cover_stores(c, number, n)) mark[n] |= CLF_AXES_FIRST;
        pass_on(&m, &order, n);
    }
    for (int32_t j = 0; j < part->n; j++) {
        uint8_t *at = &mark[part->node[j]];
        if ((*at & CLF_AXES_TWICE) == CLF_AXES_TWICE)
            any = true;
        else
            *at &= (uint8_t)~CLF_AXES_TWICE;
    }
    return any;
}
