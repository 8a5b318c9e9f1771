/* SPDX-License-Identifier: Apache-2.0
 * A pass of row.chunk whose sweeps each take its rows one after the other, for rows that are better read so (row_cut.c) but have much to
 * compute once a row: as many rows as a vector has lanes, so that row_lanes.c computes that for all of them. Rows that a second sweep
 * reads come from the first cache. Invariant: no value of a row but scalars lives from one sweep to the next. */
#include "kernels-cl/skel/row_text.h"

bool clf_rtext_batched(const clf_rtext *w) { return w->p->batch && w->x.ru > 1; }

/* Scalars that sweeps leave to others, and others to sweeps. */
static bool kept(const clf_value *q) { return q->axes == 1u && (clf_rtext_is_made(q) || clf_op_is_cell(q->op) || q->op == CLF_V_CAST); }

static void memory(clf_rtext *w) {
    char buf[CLF_EMIT_NAME];
    for (int v = 0; v < w->p->c->nvalue; v++)
        if (kept(&w->c.value[v]))
            CLF_PUT(&w->x, "%s m%d[%d] CLF_LINES;\n", clf_emit_type(buf, (clf_dtype)w->c.value[v].dtype, 1), v, w->p->width);
}

/* What stands before sweep t of one row. */
static void single_ones(clf_rtext *w, int t) {
    char buf[CLF_EMIT_NAME];
    w->x.held = NULL;
    for (int v = 0; v < w->p->c->nvalue; v++) {
        const clf_value *q = &w->c.value[v];
        bool stands = clf_rtext_is_made(q) ? w->p->value[v].at < t : w->p->value[v].ready <= t;
        if (q->axes != 1u || !stands) continue;
        if (kept(q))
            CLF_PUT(&w->x, "const %s v%d_0 = m%d[g];\n", clf_emit_type(buf, (clf_dtype)q->dtype, 1), v, v);
        else
            clf_ctext_compute(&w->x, v, 1, 0);
    }
    w->x.held = w->held;
}

static void row_by_row(clf_rtext *w) {
    clf_ctext *x = &w->x;
    CLF_PUT(x, "CLF_COLD for (int g = 0; g < %d; g++) {\nconst long i_ = i + g;\n{ const long i = i_;\n", x->ru);
    int rows = x->ru;
    x->ru = 1;
    clf_rtext_along(w, -1);
    clf_rtext_pointers(w, 0);
    single_ones(w, w->t);
    clf_rtext_sweep(w);
    for (int v = 0; v < w->p->c->nvalue; v++)
        if (kept(&w->c.value[v]) && clf_rtext_is_made(&w->c.value[v]) && w->p->value[v].at == w->t) CLF_PUT(x, "m%d[g] = v%d_0;\n", v, v);
    x->ru = rows;
    CLF_PUT(x, "} }\n");
}

void clf_rtext_batch(clf_rtext *w) {
    memory(w);
    for (w->t = 0; w->t < w->p->nsweep; w->t++) {
        clf_rtext_scalars(w, w->t);
        row_by_row(w);
    }
    clf_rtext_scalars(w, w->t);
}
