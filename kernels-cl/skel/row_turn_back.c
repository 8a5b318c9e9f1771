/* SPDX-License-Identifier: Apache-2.0
 * What a pass of row.chunk whose rows are lanes (row_turn.c) leaves: values turned back into rows for the sinks that take rows, one after
 * the other as everywhere else, and for products of two rows, which read them from row buffers; what rows have one of, row by row. */
#include <string.h>

#include "kernels-cl/skel/row_text.h"

/* Rows of a pass, and cells of a block that is turned. */
static int width_of(const clf_rtext *w) { return w->p->width; }

/* vN_R of one that each row has, once. */
static void singles(clf_rtext *w, int v) {
    char buf[CLF_EMIT_NAME];
    const clf_value *q = &w->c.value[v];
    if (q->axes != 1u || w->single[v]) return;
    w->single[v] = 1;
    for (int r = 0; r < width_of(w); r++)
        CLF_PUT(&w->x, "const %s v%d_%d = v%d_l.s%x;\n", clf_emit_type(buf, (clf_dtype)q->dtype, 1), v, r, v, (unsigned)r);
}

/* vN_R: cells from `from` on of row R. */
static void turn_back(clf_rtext *w, int v, int from) {
    clf_ctext *x = &w->x;
    const clf_value *q = &w->c.value[v];
    char vec[CLF_EMIT_NAME];
    int n = (int)clf_row_extent(w->p, clf_row_inner(q->axes));
    if (q->op == CLF_V_LOAD) {
        for (int r = 0; r < width_of(w); r++) clf_ctext_compute(x, v, width_of(w), r);
        return;
    }
    clf_emit_type(vec, (clf_dtype)q->dtype, width_of(w));
    for (int c = 0; c < width_of(w); c++) CLF_PUT(x, "const %s u%d_%d = t%d_%d;\n", vec, v, c, v, from + c < n ? from + c : n - 1);
    CLF_PUT(x, "CLF_TURN_%d(%s, u%d_, v%d_)\n", width_of(w), vec, v, v);
}

/* Does a product of two rows read it from its row buffer? */
static bool is_buffered(const clf_rtext *w, int v) {
    bool outer = false;
    for (int s = 0; s < w->nsink; s++)
        if (w->p->sink[s].layout == CLF_ROW_BY_ROWS || w->p->sink[s].layout == CLF_ROW_BY_COLS)
            outer = outer || w->c.sink[s].value[0] == v || w->c.sink[s].value[1] == v;
    return outer && w->p->value[v].kept;
}

/* Sinks of the sweep's cells, and row buffers that are filled along its axis. */
static bool takes_rows(const clf_rtext *w, int s, int axis) {
    const clf_row_sink *q = &w->p->sink[s];
    const clf_sink *k = &w->c.sink[s];
    return k->kind == CLF_SINK_STORE ? clf_row_inner(k->keep) == axis : q->layout == CLF_ROW_LANES && q->j == axis;
}

static void rows_along(clf_rtext *w, int axis) {
    clf_ctext *x = &w->x;
    int n = (int)clf_row_extent(w->p, axis);
    uint8_t *want = w->held;
    bool any = false;
    memset(want, 0, (size_t)w->c.nvalue);
    for (int s = 0; s < w->nsink; s++)
        for (int q = 0; takes_rows(w, s, axis) && q < (w->c.sink[s].kind == CLF_SINK_DOT ? 2 : 1); q++) want[w->c.sink[s].value[q]] = 1;
    for (int v = 0; v < w->c.nvalue; v++)
        if (clf_row_inner(w->c.value[v].axes) == axis && is_buffered(w, v)) want[v] = 1;
    for (int v = 0; v < w->c.nvalue; v++) {
        any = any || want[v];
        if (want[v]) singles(w, v);
    }
    if (!any) return;
    clf_rtext_along(w, axis);
    for (int from = 0; from < n; from += width_of(w)) {
        CLF_PUT(x, "{ const long u = %d;\n", from);
        x->tail = n - from < width_of(w);
        if (x->tail) CLF_PUT(x, "const int r = %d;\n", n - from);
        for (int v = 0; v < w->c.nvalue; v++) {
            if (want[v] && clf_row_inner(w->c.value[v].axes) >= 0) turn_back(w, v, from);
            for (int r = 0; want[v] && is_buffered(w, v) && r < width_of(w); r++) clf_ctext_hold(x, v, r);
        }
        for (int s = 0; s < w->nsink; s++) {
            if (!takes_rows(w, s, axis)) continue;
            for (int r = 0; w->c.sink[s].kind == CLF_SINK_STORE && r < width_of(w); r++) clf_ctext_store_vector(x, s, r);
            if (w->c.sink[s].kind != CLF_SINK_STORE) clf_rcols_step(w, s);
        }
        CLF_PUT(x, "}\n");
    }
    x->tail = false;
}

static void outer_products(clf_rtext *w) {
    for (w->t = 0; w->t < w->p->nsweep; w->t++)
        if (w->p->sweep[w->t].kind == CLF_ROW_OUTER) clf_rtext_sweep(w);
}

/* Dots of what rows have one of take them one by one (clf_rcols_one). */
static void scalars_for_dots(clf_rtext *w) {
    for (int s = 0; s < w->nsink; s++)
        for (int q = 0; w->p->sink[s].layout == CLF_ROW_ONE && q < 2; q++) singles(w, w->c.sink[s].value[q]);
}

void clf_rtext_turn_back(clf_rtext *w) {
    memset(w->single, 0, (size_t)w->c.nvalue);
    for (int a = 1; a < w->p->c->naxes; a++) rows_along(w, a);
    outer_products(w);
    scalars_for_dots(w);
}
