/* SPDX-License-Identifier: Apache-2.0
 * Pairs: DOTs over a short axis, one number for each stored entry, computed by the work-item that is at the entry. It steps all lanes of the
 * tree by turns, so that the numbers it reads follow each other; the axis is one leaf at most. */

#include "kernels-cl/skel/band_text.h"

#include "core/print.h"

static bool is_inner(const clf_btext *t, const clf_value *pair, int v) {
    return t->p->c->value[v].axes >> pair->axis & 1u && !clf_band_buffered(t->p, &t->p->c->value[v]);
}

/* What is computed at each position of the axis: marked in `used`, beside what the job needs. */
static void mark_inner(clf_btext *t, const clf_value *pair) {
    const clf_cplan *c = t->p->c;
    for (int v = 0; v < c->nvalue; v++) t->used[v] &= 1;
    for (int q = 0; q < 2; q++) t->used[pair->in[q]] |= 2;
    for (int v = c->nvalue - 1; v >= 0; v--)
        for (int q = 0; q < 3; q++)
            if (t->used[v] & 2 && c->value[v].in[q] >= 0 && is_inner(t, pair, v)) t->used[c->value[v].in[q]] |= 2;
}

/* One term into lane `lane`. */
static void put_term(clf_btext *t, int v, int lane) {
    static const char *const text[] = {"E_FMA(a, b, c)", "E_SEL(a, E_FMA(a, b, c), c)", "E_SEL(b, E_FMA(a, b, c), c)",
                                       "E_SEL(E_AND(a, b), E_FMA(a, b, c), c)"};
    const clf_value *w = &t->p->c->value[v];
    char a[16], b[16], c[24];
    clf_print(a, sizeof a, "v%d", w->in[0]);
    clf_print(b, sizeof b, "v%d", w->in[1]);
    clf_print(c, sizeof c, "d%d_%d", v, lane);
    const clf_emit_name names[] = {{"a", a}, {"b", b}, {"c", c}, {NULL, NULL}};
    for (int k = 0; k < v; k++)
        if (t->used[k] & 2 && t->p->c->value[k].axes >> w->axis & 1u) clf_btext_value(t, k);
    CLF_PUT(&t->x, "%s = ", c);
    clf_emit_text(&t->x.e, text[w->arg & 3], (clf_dtype)w->dtype, 1, names);
    CLF_PUT(&t->x, ";\n");
}

/* The lanes of positions w_ on; `short_`: as far as there are such. */
static void put_turn(clf_btext *t, int v, int lanes, bool short_) {
    int axis = (uint8_t)t->p->c->value[v].axis; /* it has one */
    for (int l = 0; l < lanes; l++) {
        CLF_PUT(&t->x, "{ const CLF_INDEX u%d = w_ + %d;\n", axis, l);
        if (short_) CLF_PUT(&t->x, "if (u%d < e%d) {\n", axis, axis);
        put_term(t, v, l);
        CLF_PUT(&t->x, short_ ? "} }\n" : "}\n");
    }
}

/* Lanes are widened and folded, halves onto halves. */
static void put_sum(clf_btext *t, int v, int lanes) {
    clf_dtype type = (clf_dtype)t->p->c->value[v].dtype, wide = clf_wide(type);
    char buf[CLF_EMIT_NAME], a[24], b[24];
    for (int l = 0; l < lanes; l++) {
        CLF_PUT(&t->x, "%s w%d_%d = ", clf_emit_type(buf, wide, 1), v, l);
        clf_emit_cast(&t->x.e, type, wide, 1);
        CLF_PUT(&t->x, "d%d_%d);\n", v, l);
    }
    for (int half = lanes / 2; half >= 1; half /= 2)
        for (int l = 0; l < half; l++) {
            clf_print(a, sizeof a, "w%d_%d", v, l);
            clf_print(b, sizeof b, "w%d_%d", v, l + half);
            const clf_emit_name names[] = {{"a", a}, {"b", b}, {NULL, NULL}};
            CLF_PUT(&t->x, "%s = ", a);
            clf_emit_text(&t->x.e, "E_ADD(a, b)", wide, 1, names);
            CLF_PUT(&t->x, ";\n");
        }
    CLF_PUT(&t->x, "v%d = ", v);
    clf_emit_cast(&t->x.e, wide, type, 1);
    CLF_PUT(&t->x, "w%d_0); }\n", v);
}

void clf_btext_pair(clf_btext *t, int v) {
    const clf_value *w = &t->p->c->value[v];
    int lanes = clf_dot_lanes(t->p->c, w, NULL);
    char buf[CLF_EMIT_NAME];
    const char *type = clf_emit_type(buf, (clf_dtype)w->dtype, 1);
    mark_inner(t, w);
    CLF_PUT(&t->x, "%s v%d; {\n", type, v);
    for (int l = 0; l < lanes; l++) CLF_PUT(&t->x, "%s d%d_%d = 0;\n", type, v, l);
    CLF_PUT(&t->x, "CLF_INDEX w_ = 0;\nfor (; w_ + %d <= e%d; w_ += %d) {\n", lanes, w->axis, lanes);
    put_turn(t, v, lanes, false);
    CLF_PUT(&t->x, "}\n");
    if (lanes > 1) {
        CLF_PUT(&t->x, "if (w_ < e%d) {\n", w->axis);
        put_turn(t, v, lanes - 1, true);
        CLF_PUT(&t->x, "}\n");
    }
    put_sum(t, v, lanes);
}
