/* SPDX-License-Identifier: Apache-2.0
 * Passes of row.chunk: scalars of the rows, then sweep after sweep, then what leaves per row. Invariant: before sweep t stands every
 * scalar that is ready by t, so a sweep finds what it reads whatever the order of values in the cplan. */
#include <stdio.h>
#include <string.h>

#include "kernels-cl/skel/row_text.h"

/* ---- scans ---- */

static void scan_row(clf_rtext *w, int v, int r) {
    clf_ctext *x = &w->x;
    int s = clf_rtext_fold_of(w, v), n = clf_fold_states(x, s);
    char buf[CLF_EMIT_NAME], name[CLF_EMIT_NAME];
    clf_fold_vars f;
    memset(&f, 0, sizeof f);
    for (int m = 0; m < n; m++) CLF_NAME(f.s[m], "s%d_", m);
    CLF_PUT(x, "{ ");
    clf_fold_declare(x, s, false, 1, &f, false);
    clf_fold_apply(x, s, clf_fold_row_of(x, s)->init, false, 1, &f);
    CLF_PUT(x, "for (long u = 0; u < %s; u++) { const %s y = ", x->strip, clf_emit_type(buf, clf_ctext_type(x, s), 1));
    clf_rtext_element(w, w->c.value[v].in[0], r, "u");
    CLF_PUT(x, ";\n");
    f.v = "y";
    f.k = "u";
    clf_fold_apply(x, s, clf_fold_row_of(x, s)->step, false, 1, &f);
    for (int m = 0; m < n; m++) {
        CLF_PUT(x, "%s w%d_ = ", clf_emit_type(buf, clf_fold_wide_type(x, s, m), 1), m);
        clf_fold_widen(x, s, m, 1, f.s[m]);
        CLF_PUT(x, "; ");
    }
    for (int m = 0; m < n; m++) CLF_NAME(f.s[m], "w%d_", m);
    clf_fold_result(x, s, 1, &f, "z_");
    CLF_PUT(x, "%s[u] = z_; } }\n", clf_rtext_buffer(w, v, r, name));
}

/* ---- a pass ---- */

bool clf_rtext_first_load(const clf_rtext *w, int v) {
    for (int u = 0; u < v; u++)
        if (w->c.value[u].op == CLF_V_LOAD && w->c.value[u].arg == w->c.value[v].arg) return false;
    return w->c.value[v].op == CLF_V_LOAD;
}

void clf_rtext_pointers(clf_rtext *w, int r) {
    clf_ctext *x = &w->x;
    char buf[CLF_EMIT_NAME], ext[sizeof x->strip];
    for (int v = 0; v < w->p->c->nvalue; v++) {
        const clf_value *q = &w->p->c->value[v];
        int a = q->arg;
        if (!clf_rtext_first_load(w, v) || !(q->axes & 1u) || clf_row_inner(q->axes) < 0) continue;
        const char *t = clf_emit_type(buf, (clf_dtype)q->dtype, 1);
        CLF_PUT(x, "const __global %s *const q%d_%d = x%d + xb%d + (i + %d) * xl%d;\n", t, a, r, a, a, r, a);
    }
    for (int s = 0; s < w->nsink; s++) {
        const clf_sink *k = &w->c.sink[s];
        int o = k->out[0], j = clf_row_inner(k->keep);
        if (k->kind != CLF_SINK_STORE || j < 0) continue;
        CLF_PUT(x, "__global %s *const z%d_%d = o%d + ob%d + (i + %d) * %s;\n", clf_emit_type(buf, (clf_dtype)w->c.out[o].dtype, 1), s, r,
                o, o, r, clf_rtext_extent(w, j, ext));
    }
}

/* Sweeps over cells write whole vectors; others leave the end of the last vector, which is read with it, as it is: zeros. */
static void clear_end(clf_rtext *w, int v, int r) {
    const clf_value *q = &w->c.value[v];
    int width = w->p->width;
    char name[CLF_EMIT_NAME], one[CLF_EMIT_NAME], vec[CLF_EMIT_NAME];
    int64_t n = clf_row_extent(w->p, clf_row_inner(q->axes)), from = n / width * width;
    if (from == n || (!clf_rtext_is_made(q) && q->op != CLF_V_CAT)) return;
    CLF_PUT(&w->x, "CLF_VSTORE(__private, %s, %d, (%s)(0), %s + %lld);\n", clf_emit_type(one, (clf_dtype)q->dtype, 1), width,
            clf_emit_type(vec, (clf_dtype)q->dtype, width), clf_rtext_buffer(w, v, r, name), (long long)from);
}

/* Row buffers of constant length live for a pass. */
static void private_buffers(clf_rtext *w) {
    char buf[CLF_EMIT_NAME], name[CLF_EMIT_NAME];
    for (int v = 0; v < w->p->c->nvalue; v++) {
        int j = clf_row_inner(w->c.value[v].axes);
        if (!w->p->value[v].kept || w->p->value[v].deep || !clf_row_narrow(w->p, j)) continue;
        for (int r = 0; r < (w->c.value[v].axes & 1u ? w->x.ru : 1); r++) {
            CLF_PUT(&w->x, "%s %s[%lld] CLF_LINES;\n", clf_emit_type(buf, (clf_dtype)w->c.value[v].dtype, 1),
                    clf_rtext_buffer(w, v, r, name), (long long)clf_row_padded(w->p, j));
            clear_end(w, v, r);
        }
    }
}

void clf_rtext_sweep(clf_rtext *w) {
    const clf_row_sweep *q = &w->p->sweep[w->t];
    clf_rtext_along(w, q->axis);
    switch (q->kind) {
    case CLF_ROW_PRODUCT: clf_rtext_product(w, q->what); break;
    case CLF_ROW_OUTER:
        if (!w->p->sink[q->what].tiled) clf_rtext_outer(w, q->what);
        break;
    case CLF_ROW_SCAN:
        for (int r = 0; r < w->x.ru; r++) scan_row(w, q->what, r);
        break;
    case CLF_ROW_CAT:
        for (int r = 0; r < w->x.ru; r++) clf_rtext_cat(w, q->what, r);
        break;
    default: clf_rtext_cells(w);
    }
}

/* Stores of row scalars, and folds and dots over rows alone. */
static void leave_rows(clf_rtext *w) {
    clf_ctext *x = &w->x;
    bool full = false;
    clf_rtext_along(w, -1);
    clf_rtext_stack(w, -1);
    for (int s = 0; s < w->nsink; s++) {
        const clf_sink *k = &w->c.sink[s];
        if (w->p->sink[s].at >= 0) continue;
        if (w->p->sink[s].layout == CLF_ROW_ONE) clf_rcols_one(w, s);
        if (k->kind == CLF_SINK_FOLD) full = true;
        clf_rtext_leave(w, s);
    }
    if (!full) return;
    CLF_PUT(x, "{ const long j0 = 0, e1 = %d;\n", x->ru);
    clf_fold_tile_flush(x);
    CLF_PUT(x, "}\n");
}

/* Each sweep has the rows of the pass side by side. */
static void together(clf_rtext *w) {
    for (int r = 0; r < w->x.ru; r++) clf_rtext_pointers(w, r);
    for (int r = 0; r < w->x.ru; r++) clf_rtext_deep_rows(w, r);
    private_buffers(w);
    if (clf_rtext_turned(w)) {
        clf_rtext_turn(w);
        return;
    }
    for (w->t = 0; w->t < w->p->nsweep; w->t++) {
        clf_rtext_scalars(w, w->t);
        clf_rtext_sweep(w);
    }
    clf_rtext_scalars(w, w->t);
}

/* `ru` rows from row i. */
void clf_rtext_pass(clf_ctext *x, int ru) {
    clf_rtext *w = (clf_rtext *)x;
    x->ru = ru;
    x->whole = true;
    memset(w->laned, 0, (size_t)w->c.nvalue);
    if (clf_rtext_batched(w))
        clf_rtext_batch(w);
    else
        together(w);
    leave_rows(w);
}

/* ---- once ---- */

static void scratch_buffers(clf_rtext *w) {
    char buf[CLF_EMIT_NAME], name[CLF_EMIT_NAME];
    for (int v = 0; v < w->p->c->nvalue; v++) {
        int j = clf_row_inner(w->c.value[v].axes);
        if (!w->p->value[v].kept || w->p->value[v].deep || clf_row_narrow(w->p, j)) continue;
        const char *t = clf_emit_type(buf, (clf_dtype)w->c.value[v].dtype, 1);
        int each = (int)clf_dtype_bytes((clf_dtype)w->c.value[v].dtype);
        for (int r = 0; r < (w->c.value[v].axes & 1u ? w->p->ru : 1); r++)
            CLF_PUT(&w->x, "__global %s *const %s = (__global %s *)at; at += np%d * %d / 8;\n", t, clf_rtext_buffer(w, v, r, name), t, j,
                    each);
    }
}

static void setup_once(clf_rtext *w) {
    clf_ctext *x = &w->x;
    char buf[CLF_EMIT_NAME];
    x->held = NULL;
    for (int v = 0; v < w->p->c->nvalue; v++) {
        const clf_value *q = &w->c.value[v];
        if (q->axes == 0 && !clf_rtext_is_made(q)) clf_ctext_compute(x, v, 1, 0);
        if (clf_rtext_first_load(w, v) && q->axes && !(q->axes & 1u))
            CLF_PUT(x, "const __global %s *const q%d = x%d + xb%d;\n", clf_emit_type(buf, (clf_dtype)q->dtype, 1), q->arg, q->arg, q->arg);
    }
    x->held = w->held;
}

void clf_rtext_setup(clf_ctext *x) {
    clf_rtext *w = (clf_rtext *)x;
    clf_row_factor f;
    x->ru = 1;
    for (int a = 1; a < w->p->c->naxes; a++)
        if (!clf_row_narrow(w->p, a)) CLF_PUT(x, "const long np%d = (n%d + 15) / 16 * 16 + 16;\n", a, a);
    CLF_PUT(x, "__global double *at = scratch + cbase + me * cstride;\n");
    clf_rtext_along(w, -1);
    setup_once(w);
    for (int s = 0; s < w->nsink; s++)
        if (w->p->sink[s].layout) clf_rcols_setup(w, s);
    scratch_buffers(w);
    clf_rtext_deep_setup(w);
    for (int v = 0; v < w->p->c->nvalue; v++)
        if (clf_row_factor_of(w->p, v, &f)) clf_rtext_product_setup(w, v);
    for (int s = 0; s < w->nsink; s++) {
        int o = w->c.sink[s].out[0];
        if (w->c.sink[s].kind == CLF_SINK_STORE && clf_row_inner(w->c.sink[s].keep) >= 0 &&
            clf_ctext_streams(x, (clf_dtype)w->c.out[o].dtype))
            CLF_PUT(x, "const int nt%d = (((size_t)(o%d + ob%d)) & 63) == 0;\n", o, o, o);
    }
    clf_rtext_each_stack(w, clf_full_setup);
}

void clf_rtext_begin(clf_rtext *w) {
    w->x.p = &w->cell;
    w->x.c = &w->c;
    w->x.held = w->held;
    w->x.sinks = clf_rtext_take;
    if (w->p->nstack > 1) w->x.stacks = w->stacks;
    clf_rtext_along(w, -1);
}

void clf_rtext_once(clf_ctext *x) {
    clf_rtext *w = (clf_rtext *)x;
    x->ru = 1;
    clf_rtext_along(w, -1);
    for (int s = 0; s < w->nsink; s++) {
        const clf_sink *k = &w->c.sink[s];
        if (k->kind != CLF_SINK_STORE || k->keep) continue;
        CLF_PUT(x, "o%d[ob%d] = ", k->out[0], k->out[0]);
        clf_ctext_store_cast(x, s, 1, 0);
        CLF_PUT(x, ";\n");
    }
}
