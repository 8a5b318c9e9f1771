/* SPDX-License-Identifier: Apache-2.0
 * Folds and DOTs of entry.chunk over a row's entries or a short axis: lanes, leaves and their merging as for row folds in cell.chunk,
 * each task a sink of the shadow. */
#include <string.h>

#include "kernels-cl/skel/entry_text.h"

#include "core/print.h"

enum { NARROW = 120 };

/* Lanes at .. at + lanes - 1 of the vector `name` of w lanes. */
static void part(clf_etext *t, char *out, const char *name, clf_dtype type, int w, int lanes, int at) {
    char one[CLF_EMIT_NAME];
    (void)t;
    if (lanes == w)
        clf_print(out, NARROW, "%s", name);
    else if (at == 0)
        clf_print(out, NARROW, "%s.lo", name);
    else
        clf_print(out, NARROW, "CLF_UPPER(%s, %d, %s)", clf_emit_type(one, type, 1), lanes, name);
}

void clf_etext_fma(clf_etext *t, int skip, clf_dtype type, int width, const char *a, const char *b, const char *c) {
    static const char *const text[] = {"E_FMA(a, b, c)", "E_SEL(a, E_FMA(a, b, c), c)", "E_SEL(b, E_FMA(a, b, c), c)",
                                       "E_SEL(E_AND(a, b), E_FMA(a, b, c), c)"};
    const clf_emit_name names[] = {{"a", a}, {"b", b}, {"c", c}, {NULL, NULL}};
    clf_emit_text(&t->x.e, text[skip & 3], type, width, names);
}

void clf_etext_dot_step(clf_etext *t, int s, int r, const char *a, const char *b, bool tail) {
    char lane[CLF_FOLD_NAME], pa[NARROW], pb[NARROW], buf[CLF_EMIT_NAME];
    clf_dtype type = clf_ctext_type(&t->x, s);
    int w = t->x.p->width, lanes = clf_lanes(type);
    clf_print(lane, sizeof lane, "f%dl0_%d", s, r);
    for (int at = 0; at < w; at += lanes) {
        part(t, pa, a, type, w, lanes, at);
        part(t, pb, b, type, w, lanes, at);
        CLF_PUT(&t->x, "%s = ", lane);
        if (tail) CLF_PUT(&t->x, "%s_UPTO(r - %d, ", clf_emit_run(&t->x.e, buf, type, lanes), at);
        clf_etext_fma(t, t->p->task[s].skip, type, lanes, pa, pb, lane);
        if (tail) CLF_PUT(&t->x, ", %s)", lane);
        CLF_PUT(&t->x, ";\n");
    }
}

/* Lanes take the vector y; `position`: of its lanes, a vector of w longs. */
void clf_etext_fold_step(clf_etext *t, int s, const char *position, bool tail) {
    clf_fold_vars f;
    char y[NARROW], k[NARROW + 16], rest[24];
    clf_dtype type = clf_ctext_type(&t->x, s);
    int w = t->x.p->width, lanes = clf_lanes(type);
    memset(&f, 0, sizeof f);
    for (int m = 0; m < clf_fold_states(&t->x, s); m++) CLF_NAME(f.s[m], "f%dl%d_0", s, m);
    CLF_PUT(&t->x, "const long%d k%d_ = %s;\n", w, s, position);
    for (int at = 0; at < w; at += lanes) {
        char name[24];
        clf_print(name, sizeof name, "k%d_", s);
        part(t, y, "y", type, w, lanes, at);
        part(t, k, name, CLF_I64, w, lanes, at);
        clf_print(rest, sizeof rest, "r - %d", at);
        f.v = y;
        f.k = k;
        CLF_PUT(&t->x, "{ ");
        clf_fold_masked_step(&t->x, s, lanes, &f, tail ? rest : NULL);
        CLF_PUT(&t->x, "}\n");
    }
}

/* ---- a task's lanes, leaves and result ---- */

static int copies(const clf_etext *t, int s) {
    return t->p->task[s].kind == CLF_DO_ACROSS ? (int)clf_entry_extent(t->p, t->p->task[s].axis) : 1;
}
void clf_etext_fold_open(clf_etext *t, int s) {
    for (int r = 0; r < copies(t, s); r++) clf_fold_row_open(&t->x, s, r);
}
void clf_etext_fold_lanes(clf_etext *t, int s) {
    for (int r = 0; r < copies(t, s); r++) clf_fold_lanes(&t->x, s, r);
}
void clf_etext_fold_leaf(clf_etext *t, int s) {
    for (int r = 0; r < copies(t, s); r++) clf_fold_row_leaf(&t->x, s, r);
}

static void close_one(clf_etext *t, int s, int r, const char *to) {
    clf_fold_vars f;
    clf_ctext *x = &t->x;
    memset(&f, 0, sizeof f);
    clf_fold_wide_names(x, s, r, f.t);
    CLF_PUT(x, "CLF_COLD while (--f%dd_%d > 0) { ", s, r);
    for (int m = 0; m < clf_fold_states(x, s); m++) CLF_NAME(f.s[m], "f%dy%d_%d[f%dd_%d - 1]", s, m, r, s, r);
    clf_fold_apply(x, s, clf_fold_row_of(x, s)->merge, true, 1, &f);
    for (int m = 0; m < clf_fold_states(x, s); m++) CLF_PUT(x, "%s = %s; ", f.t[m], f.s[m]);
    CLF_PUT(x, "}\n");
    clf_etext_rest(t, s, "mc_ - (e1 - e0)");
    CLF_PUT(x, "{ ");
    memcpy(f.s, f.t, sizeof f.s);
    clf_fold_result(x, s, 1, &f, "z_");
    CLF_PUT(x, "%s = z_; }\n", to);
}

/* The result as the value it makes, or stored. */
void clf_etext_fold_close(clf_etext *t, int s) {
    const clf_entry_task *d = &t->p->task[s];
    char to[64], one[CLF_EMIT_NAME];
    if (d->kind == CLF_DO_ACROSS) clf_etext_along_decl(t, d->value);
    for (int r = 0; r < copies(t, s); r++) {
        if (d->kind == CLF_DO_ACROSS) {
            clf_print(to, sizeof to, "y%d[%d]", d->value, r);
        } else if (d->value < 0) {
            clf_print(to, sizeof to, "o%d[ob%d + %s]", t->x.c->sink[s].out[0], t->x.c->sink[s].out[0], t->row);
        } else {
            clf_print(to, sizeof to, "v%d%s", d->value, clf_ctext_varies(&t->x, clf_etext_val(t, d->value)->axes) ? "_0" : "");
            CLF_PUT(&t->x, "%s %s;\n", clf_emit_type(one, clf_etext_type(t, d->value), 1), to);
        }
        close_one(t, s, r, to);
    }
    if (d->kind != CLF_DO_ACROSS) return;
    int k = (int)clf_entry_extent(t->p, d->axis), padded = clf_etext_padded(t, d->axis);
    if (k < padded) CLF_PUT(&t->x, "for (int k = %d; k < %d; k++) y%d[k] = 0;\n", k, padded, d->value);
}

/* ---- folds and DOTs over a short axis ---- */

static void along_step(clf_etext *t, int s, bool tail) {
    const clf_entry_task *d = &t->p->task[s];
    char wide[CLF_EMIT_NAME], one[CLF_EMIT_NAME], position[96];
    int w = t->x.p->width;
    clf_dtype type = clf_etext_type(t, d->a);
    clf_emit_type(wide, type, w);
    CLF_PUT(&t->x, "const %s y = CLF_VLOAD(__private, %s, %d, y%d + u);\n", wide, clf_emit_type(one, type, 1), w, d->a);
    if (d->kind == CLF_DO_ALONG_DOT) {
        CLF_PUT(&t->x, "const %s z = CLF_VLOAD(__private, %s, %d, y%d + u);\n", wide, clf_emit_type(one, type, 1), w, d->b);
        clf_etext_dot_step(t, s, 0, "y", "z", tail);
        return;
    }
    clf_print(position, sizeof position, "(long%d)(u) + (long%d)(CLF_IOTA_%d)", w, w, w);
    clf_etext_fold_step(t, s, position, tail);
}

/* Declares what is left open for the value; the rest is in a block. */
void clf_etext_along_task(clf_etext *t, int s) {
    const clf_entry_task *d = &t->p->task[s];
    int w = t->x.p->width, k = (int)clf_entry_extent(t->p, d->axis), whole = k / w * w;
    clf_etext_fold_open(t, s);
    CLF_PUT(&t->x, "{ const long j0 = 0;\n");
    clf_etext_fold_lanes(t, s);
    if (whole) {
        CLF_PUT(&t->x, "%sfor (int u = 0; u < %d; u += %d) {\n", clf_etext_short_loop(whole / w), whole, w);
        along_step(t, s, false);
        CLF_PUT(&t->x, "}\n");
    }
    if (whole < k) {
        CLF_PUT(&t->x, "{ const int u = %d, r = %d;\n", whole, k - whole);
        along_step(t, s, true);
        CLF_PUT(&t->x, "}\n");
    }
    clf_etext_fold_leaf(t, s);
    CLF_PUT(&t->x, "}\n");
    clf_etext_fold_close(t, s);
}
