/* SPDX-License-Identifier: Apache-2.0
 * Scalars of the rows in row.chunk: what is computed once a row, such as log(w) between two products. A pass over several rows computes
 * them as vectors, a lane a row (vN_l): one after the other, functions and quotients cost as much for a row as for a whole vector. A
 * vector longer than the pass has its rows again in the lanes that are left, so that no other values meet there; what comes from the
 * library has the bits of its full vector either way (elem.clh).
 *
 * Sweeps take single ones: out of the vectors where the rows of a pass stand side by side in each sweep (vN_R), and from private memory
 * (mN) where each sweep takes them one after the other (row_batch.c). */
#include <string.h>

#include "kernels-cl/skel/row_text.h"

/* Half of the lanes at least hold a row each. */
static bool in_lanes(const clf_rtext *w) { return w->x.ru > 1 && 2 * w->x.ru >= w->p->width; }
static bool full_lanes(const clf_rtext *w) { return w->x.ru == w->p->width; }

static bool computed(const clf_value *q) { return clf_op_is_cell(q->op) || q->op == CLF_V_CAST; }

/* Of row r of the pass, as text. */
static void single(clf_rtext *w, int v, int r) {
    const clf_value *q = &w->c.value[v];
    if (!clf_rtext_batched(w) && !clf_rtext_turned(w))
        CLF_PUT(&w->x, "v%d_%d", v, r);
    else if (q->op == CLF_V_LOAD)
        CLF_PUT(&w->x, "x%d[xb%d + (i + %d) * xl%d]", q->arg, q->arg, r, q->arg);
    else
        CLF_PUT(&w->x, "i + %d", r);
}

/* Columns without steps between their rows are loaded as they lie. */
static void load_lanes(clf_rtext *w, int v) {
    int a = w->c.value[v].arg;
    char buf[CLF_EMIT_NAME];
    CLF_PUT(&w->x, "xl%d == 1 ? CLF_VLOAD(__global, %s, %d, x%d + xb%d + i) : ", a, clf_emit_type(buf, (clf_dtype)w->c.value[v].dtype, 1),
            w->p->width, a, a);
}

/* vN_l of what stands one by one. */
void clf_rtext_gather(clf_rtext *w, int v) {
    clf_ctext *x = &w->x;
    const clf_value *q = &w->c.value[v];
    char buf[CLF_EMIT_NAME];
    if (q->axes != 1u || w->laned[v]) return;
    w->laned[v] = 1;
    CLF_PUT(x, "const %s v%d_l = ", clf_emit_type(buf, (clf_dtype)q->dtype, w->p->width), v);
    if (clf_rtext_batched(w) && clf_rtext_is_made(q)) {
        CLF_PUT(x, "CLF_VLOAD(__private, %s, %d, m%d);\n", clf_emit_type(buf, (clf_dtype)q->dtype, 1), w->p->width, v);
        return;
    }
    if (q->op == CLF_V_LOAD && full_lanes(w)) load_lanes(w, v);
    CLF_PUT(x, "(%s)(", clf_emit_type(buf, (clf_dtype)q->dtype, w->p->width));
    for (int lane = 0; lane < w->p->width; lane++) {
        if (lane) CLF_PUT(x, ", ");
        single(w, v, lane % x->ru);
    }
    CLF_PUT(x, ");\n");
}

static void compute_lanes(clf_rtext *w, int v) {
    clf_ctext *x = &w->x;
    const clf_value *q = &w->c.value[v];
    char buf[CLF_EMIT_NAME];
    for (int k = 0; k < 3; k++)
        if (q->in[k] >= 0) clf_rtext_gather(w, q->in[k]);
    clf_ctext_compute(x, v, w->p->width, CLF_ROWS_IN_LANES);
    w->laned[v] = 1;
    const char *type = clf_emit_type(buf, (clf_dtype)q->dtype, 1);
    if (clf_rtext_batched(w)) {
        CLF_PUT(x, "CLF_VSTORE(__private, %s, %d, v%d_l, m%d);\n", type, w->p->width, v, v);
        return;
    }
    for (int r = 0; r < x->ru; r++) CLF_PUT(x, "const %s v%d_%d = v%d_l.s%x;\n", type, v, r, v, (unsigned)r);
}

void clf_rtext_scalars(clf_rtext *w, int t) {
    clf_rtext_along(w, -1);
    w->x.held = NULL;
    for (int v = 0; v < w->p->c->nvalue; v++) {
        const clf_value *q = &w->c.value[v];
        if (q->axes != 1u || clf_rtext_is_made(q) || w->p->value[v].ready != t) continue;
        if (in_lanes(w) && computed(q))
            compute_lanes(w, v);
        else
            for (int r = 0; r < w->x.ru && !clf_rtext_batched(w); r++) clf_ctext_compute(&w->x, v, 1, r);
    }
    w->x.held = w->held;
}

/* A store of them, or a fold of them alone, whose tile takes them. */
void clf_rtext_leave(clf_rtext *w, int s) {
    clf_ctext *x = &w->x;
    const clf_sink *k = &w->c.sink[s];
    int v = k->value[0], o = k->out[0];
    bool store = k->kind == CLF_SINK_STORE && k->keep == 1u;
    clf_dtype t = (clf_dtype)(store ? w->c.out[o].dtype : w->c.value[v].dtype);
    char buf[CLF_EMIT_NAME];
    if (!store && k->kind != CLF_SINK_FOLD) return;
    if (clf_rtext_batched(w)) clf_rtext_gather(w, v);
    bool lanes = full_lanes(w) && (w->laned[v] || clf_rtext_batched(w));
    if (lanes) CLF_PUT(x, "CLF_VSTORE(%s, %s, %d, ", store ? "__global" : "__private", clf_emit_type(buf, t, 1), w->p->width);
    for (int r = 0; r < (lanes ? 1 : x->ru); r++) {
        if (!lanes && store) CLF_PUT(x, "o%d[ob%d + i + %d] = ", o, o, r);
        if (!lanes && !store) CLF_PUT(x, "f%dtile[fill%s + %d] = (", s, clf_full_suffix(x), r);
        int width = lanes ? w->p->width : 1, which = lanes ? CLF_ROWS_IN_LANES : r;
        if (store)
            clf_ctext_store_cast(x, s, width, which);
        else
            clf_ctext_operand(x, v, width, which);
        if (!lanes) CLF_PUT(x, store ? ";\n" : ");\n");
    }
    if (lanes && store) CLF_PUT(x, ", o%d + ob%d + i);\n", o, o);
    if (lanes && !store) CLF_PUT(x, ", f%dtile + fill%s);\n", s, clf_full_suffix(x));
}
