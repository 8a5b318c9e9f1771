/* SPDX-License-Identifier: Apache-2.0
 * What row.chunk fits: the row form over dense operands, read along one inner axis at a time without gaps; factors of products as
 * kernels want them. Sweeps are laid out in row_sweeps.c, sizes in row_cut.c. */
#include "kernels-cl/skel/row_plan.h"

#include <string.h>

int clf_row_inner(uint32_t axes) {
    axes &= ~1u;
    return axes ? __builtin_ctz(axes) : -1;
}

/* ---- accesses ---- */

bool clf_row_strides(const clf_cplan *c, const clf_access *a, clf_strides *out) {
    return a->protocol == CLF_STREAM && clf_strides_of(c, a, out);
}

bool clf_row_at(const clf_row *p, const clf_access *a, int64_t *base, int64_t *si) {
    clf_strides s;
    if (!clf_row_strides(p->c, a, &s)) return false;
    *base = s.base;
    *si = s.step[0];
    return true;
}

bool clf_row_factor_of(const clf_row *p, int v, clf_row_factor *out) {
    const clf_value *w = clf_row_val(p, v);
    clf_strides s;
    if (w->op != CLF_V_DOT) return false;
    uint32_t inner = clf_row_val(p, w->in[1])->axes & ~1u, rest = inner & ~(1u << w->axis);
    if (!rest || clf_row_val(p, w->in[1])->op != CLF_V_LOAD) return false;
    out->l = (int)w->axis;
    out->k = clf_row_inner(rest);
    out->lanes = clf_dot_lanes(p->c, w, NULL);
    if (!clf_row_strides(p->c, &p->c->access[clf_row_val(p, w->in[1])->arg], &s)) return false;
    out->base = s.base;
    out->sl = s.step[out->l];
    out->sk = s.step[out->k];
    return true;
}

int clf_row_vectors(const clf_row *p, int v) {
    clf_row_factor f;
    if (!clf_row_factor_of(p, v, &f) || f.lanes != 1) return 0;
    return (int)clf_row_ceil(clf_row_extent(p, f.k), clf_lanes(clf_row_type(p, v)));
}

bool clf_row_copies(const clf_row *p, int v) {
    clf_row_factor f;
    return clf_row_factor_of(p, v, &f) && f.lanes != 1 && f.sl != 1;
}

/* ---- does it fit: values ---- */

static bool load_ok(const clf_row *p, const clf_value *w) {
    clf_strides s;
    if (!clf_row_strides(p->c, &p->c->access[w->arg], &s)) return false;
    if (!clf_row_one_inner(w->axes)) return !(w->axes & 1u); /* a product's factor */
    int j = clf_row_inner(w->axes);
    return j < 0 || s.step[j] == 1 || clf_row_extent(p, j) <= 1;
}

/* A factor is read by products only. */
static bool inputs_ok(const clf_row *p, int v) {
    const clf_value *w = clf_row_val(p, v);
    for (int k = 0; k < 3; k++)
        if (w->in[k] >= 0 && !clf_row_one_inner(clf_row_val(p, w->in[k])->axes) && !(w->op == CLF_V_DOT && k == 1)) return false;
    return true;
}

static bool product_ok(const clf_row *p, int v) {
    clf_row_factor f;
    const clf_value *w = clf_row_val(p, v);
    int first = clf_row_inner(clf_row_val(p, w->in[0])->axes);
    if (!clf_row_factor_of(p, v, &f) || !clf_row_one_inner(w->axes) || (first >= 0 && first != f.l)) return false;
    if (f.lanes == 1) return f.sk == 1 && clf_row_narrow(p, f.k);
    return f.sl == 1 || clf_row_extent(p, f.k) <= CLF_ROW_TRANSPOSED;
}

static bool value_ok(const clf_row *p, int v) {
    const clf_value *w = clf_row_val(p, v);
    if (!inputs_ok(p, v)) return false;
    switch (w->op) {
    case CLF_V_LOAD: return load_ok(p, w);
    case CLF_V_DOT: {
        int a = clf_row_inner(clf_row_val(p, w->in[0])->axes), b = clf_row_inner(clf_row_val(p, w->in[1])->axes);
        if (w->axis == 0) return false;
        if (!clf_row_one_inner(clf_row_val(p, w->in[1])->axes)) return product_ok(p, v);
        return (a < 0 || a == w->axis) && (b < 0 || b == w->axis) && clf_dot_lanes(p->c, w, NULL) != 1;
    }
    case CLF_V_FOLD: {
        int a = clf_row_inner(clf_row_val(p, w->in[0])->axes);
        return w->axis > 0 && (a < 0 || a == w->axis);
    }
    case CLF_V_CAT:
        for (int q = 0; q < 2; q++) {
            int a = clf_row_inner(clf_row_val(p, w->in[q])->axes), along = clf_cat_axis(w, q);
            if (along == 0 || (a >= 0 && a != along)) return false;
        }
        return w->axis > 0;
    case CLF_V_SCAN: return w->axis > 0 && clf_row_inner(w->axes) == w->axis;
    default: return clf_row_one_inner(w->axes);
    }
}

static bool shape_ok(const clf_row *p) {
    const clf_cplan *c = p->c;
    if (c->naxes < 1 || c->nvalue > CLF_ROW_VALUES || c->nsink > CLF_ROW_SINKS || c->nvalue < 1) return false;
    for (int a = 0; a < c->naxes; a++)
        if (c->axis[a].kind != CLF_AXIS_RANGE || c->axis[a].n.n < 0 || c->axis[a].n.n > INT64_MAX / 4096) return false;
    for (int k = 0; k < c->nin; k++)
        if (c->in[k].format != 0) return false;
    for (int v = 0; v < c->nvalue; v++)
        if (!value_ok(p, v)) return false;
    return true;
}

static void choose_width(clf_row *p) {
    bool all_f32 = true;
    for (int v = 0; v < p->c->nvalue; v++) all_f32 = all_f32 && clf_row_type(p, v) == CLF_F32;
    p->width = all_f32 ? 16 : 8;
    for (int v = 0; v < p->c->nvalue; v++) {
        const clf_value *w = clf_row_val(p, v);
        if ((w->op == CLF_V_FOLD || w->op == CLF_V_DOT) && clf_row_type(p, w->in[0]) == CLF_F32) p->width = 16;
    }
    for (int s = 0; s < p->c->nsink; s++)
        if (p->c->sink[s].kind != CLF_SINK_STORE && clf_row_type(p, p->c->sink[s].value[0]) == CLF_F32) p->width = 16;
}

bool clf_row_plan(clf_row *p, const clf_cplan *c, int cores, int at_once) {
    int64_t cells;
    memset(p, 0, sizeof *p);
    p->c = c;
    p->at_once = at_once;
    if (!shape_ok(p)) return false;
    p->rows = c->axis[0].n.n;
    choose_width(p);
    if (!clf_row_place(p)) return false;
    for (int a = 1; a < c->naxes; a++)
        if (__builtin_mul_overflow(p->rows, c->axis[a].n.n, &cells) || cells > INT64_MAX / 16) return false;
    clf_row_cut(p, cores);
    return true;
}
