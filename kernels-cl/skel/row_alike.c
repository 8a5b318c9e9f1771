/* SPDX-License-Identifier: Apache-2.0
 * Are two values the same but for the axis they run along: one of j what the other is of k? Then t(A) %*% B of them is symmetric, to the
 * bit: each of two cells that mirror each other takes the same products, its rows in the same order, and fma(a, b, c) is fma(b, a, c).
 * Values are compared one by one from the last to the first: those that must be alike are noted before they are looked at. Invariant: what
 * is called alike is computed by the same operators of the same memory; some that are alike are not found. */
#include "kernels-cl/skel/row_plan.h"

#include <string.h>

typedef struct pairing {
    const clf_cplan *c;
    int j, k;
    int16_t with[CLF_ROW_VALUES]; /* per value, the one it must be like; -1: none */
} pairing;

static bool is_axis(const pairing *p, int a, int b) { return a == p->j ? b == p->k : a == b && a != p->k; }

static bool accesses(const pairing *p, int a, int b) {
    const clf_access *x = &p->c->access[a], *y = &p->c->access[b];
    if (x->input != y->input || x->protocol != y->protocol || x->rank != y->rank) return false;
    for (int d = 0; d < x->rank; d++) {
        const clf_at *s = &x->at[d], *t = &y->at[d];
        if (!is_axis(p, s->axis, t->axis) || s->value >= 0 || t->value >= 0 || s->mul != t->mul || s->add != t->add) return false;
    }
    return true;
}

/* The value itself: what it is made of comes later. */
static bool alone(const pairing *p, const clf_value *x, const clf_value *y) {
    if (x->op != y->op || x->dtype != y->dtype || !is_axis(p, x->axis, y->axis)) return false;
    if (x->op == CLF_V_LOAD) return accesses(p, x->arg, y->arg);
    return x->op == CLF_V_INDEX ? is_axis(p, x->arg, y->arg) : x->arg == y->arg;
}

/* One value may not have to be like two. */
static bool note(pairing *p, int v, int u) {
    if (v < 0 || u < 0) return v == u;
    if (p->with[v] >= 0) return p->with[v] == u;
    p->with[v] = (int16_t)u;
    return true;
}

/* A value that both share is alike if it runs along neither axis. */
static bool compare(pairing *p, int v, int u) {
    const clf_value *x = &p->c->value[v], *y = &p->c->value[u];
    if (v == u) return !(x->axes & (1u << p->j | 1u << p->k));
    if (!alone(p, x, y)) return false;
    for (int q = 0; q < 3; q++)
        if (!note(p, x->in[q], y->in[q])) return false;
    return true;
}

bool clf_row_alike(const clf_row *p, int first, int second, int j, int k) {
    pairing q = {.c = p->c, .j = j, .k = k};
    if (clf_row_extent(p, j) != clf_row_extent(p, k)) return false;
    memset(q.with, -1, sizeof q.with);
    q.with[first] = (int16_t)second;
    for (int v = first; v >= 0; v--)
        if (q.with[v] >= 0 && !compare(&q, v, q.with[v])) return false;
    return true;
}
