/* SPDX-License-Identifier: Apache-2.0
 * t(A) %*% B in row.chunk as a sum of outer products (CLF_ROW_OUTER): accumulators are columns when there are few, else padded rows.
 * Every cell takes the rows of a pass in their order. Padding is never read. */
#include <string.h>

#include "kernels-cl/skel/row_text.h"

#include "core/print.h"

enum {
    GROUP = 8, /* vectors in registers at once, of a row, at most */
    ROOM = 24, /* of all rows; where registers are few and narrow: */
    FEW_GROUP = 3,
    FEW_ROOM = 4,
    OFFSET = 96 /* room for an offset as text */
};

static void order(const clf_rtext *w, int s, int *first, int *second) {
    const clf_sink *k = &w->c.sink[s];
    bool swap = clf_row_inner(w->c.value[k->value[1]].axes) == w->p->sink[s].j;
    *first = k->value[swap];
    *second = k->value[!swap];
}

/* Which zeros annihilate, of the first value 1, of the second 2. */
static int skip_of(const clf_rtext *w, int s) {
    int first, second, skip = w->c.sink[s].key[0];
    order(w, s, &first, &second);
    return first == w->c.sink[s].value[0] ? skip : skip >> 1 | (skip & 1) << 1;
}

/* Accumulators at at[0 .. n - 1] take y_R * hQ_R for all rows, in their order. */
static void add_rows(clf_rtext *w, int s, char at[][OFFSET], int first, int n) {
    clf_ctext *x = &w->x;
    clf_dtype t = clf_ctext_type(x, s);
    int lanes = clf_lanes(t);
    char buf[CLF_EMIT_NAME], y[CLF_EMIT_NAME], h[CLF_EMIT_NAME], q[CLF_EMIT_NAME];
    const char *one = clf_emit_type(NULL, t, 1);
    CLF_PUT(x, "{ ");
    for (int k = 0; k < n; k++)
        CLF_PUT(x, "%s s%d = CLF_VLOAD(%s, %s, %d, %s);\n", clf_emit_type(buf, t, lanes), k, clf_rcols_space(w, s), one, lanes, at[k]);
    for (int r = 0; r < x->ru; r++)
        for (int k = 0; k < n; k++) {
            clf_print(y, sizeof y, "y%d", r);
            clf_print(h, sizeof h, "h%d_%d", first + k, r);
            clf_print(q, sizeof q, "s%d", k);
            clf_rtext_fma(w, skip_of(w, s), t, lanes, y, h, q);
        }
    for (int k = 0; k < n; k++) CLF_PUT(x, "CLF_VSTORE(%s, %s, %d, s%d, %s);\n", clf_rcols_space(w, s), one, lanes, k, at[k]);
    CLF_PUT(x, "}\n");
}

static void first_vectors(clf_rtext *w, int s, int first) {
    clf_ctext *x = &w->x;
    char buf[CLF_EMIT_NAME];
    clf_dtype t = clf_ctext_type(x, s);
    for (int r = 0; r < x->ru; r++) {
        CLF_PUT(x, "const %s y%d = ", clf_emit_type(buf, t, clf_lanes(t)), r);
        clf_rtext_vector(w, first, r, clf_lanes(t), "u");
        CLF_PUT(x, ";\n");
    }
}

/* Accumulators are columns: vectors of the first factor, cells of the second. */
static void outer_by_columns(clf_rtext *w, int s, int first, int second) {
    clf_ctext *x = &w->x;
    clf_dtype t = clf_ctext_type(x, s);
    int lanes = clf_lanes(t), n = (int)clf_row_extent(w->p, w->p->sink[s].k);
    char buf[CLF_EMIT_NAME], cell[16], at[1][OFFSET];
    CLF_PUT(x, "{ const long jp = (%s + 15) / 16 * 16;\n", x->strip);
    for (int k = 0; k < n; k++)
        for (int r = 0; r < x->ru; r++) {
            clf_print(cell, sizeof cell, "%d", k);
            CLF_PUT(x, "const %s h%d_%d = (%s)(", clf_emit_type(buf, t, lanes), k, r, buf);
            clf_rtext_element(w, second, r, cell);
            CLF_PUT(x, ");\n");
        }
    CLF_PUT(x, "long u = 0;\n");
    for (int tail = 0; tail <= (w->cell.kind == CLF_CELL_ROWS || w->cell.cols % lanes != 0); tail++) {
        if (tail)
            CLF_PUT(x, "if (u < %s) { const int r = (int)(%s - u);\n", x->strip, x->strip);
        else
            CLF_PUT(x, "for (; u + %d <= %s; u += %d) {\n", lanes, x->strip, lanes);
        x->tail = tail;
        first_vectors(w, s, first);
        for (int k = 0; k < n; k++) {
            clf_print(at[0], OFFSET, "f%da0 + %d * jp + u", s, k);
            add_rows(w, s, at, k, 1);
        }
        clf_rtext_fetch(w, lanes, "u");
        CLF_PUT(x, "}\n");
    }
    x->tail = false;
    CLF_PUT(x, "}\n");
}

static void second_vectors(clf_rtext *w, int s, int second, const char *at, int q) {
    clf_ctext *x = &w->x;
    char buf[CLF_EMIT_NAME];
    clf_dtype t = clf_ctext_type(x, s);
    for (int r = 0; r < x->ru; r++) {
        CLF_PUT(x, "const %s h%d_%d = ", clf_emit_type(buf, t, clf_lanes(t)), q, r);
        clf_rtext_vector(w, second, r, clf_lanes(t), at);
        CLF_PUT(x, ";\n");
    }
}

static void first_cells(clf_rtext *w, int s, int first) {
    clf_ctext *x = &w->x;
    char buf[CLF_EMIT_NAME];
    clf_dtype t = clf_ctext_type(x, s);
    for (int r = 0; r < x->ru; r++) {
        CLF_PUT(x, "const %s y%d = (%s)(", clf_emit_type(buf, t, clf_lanes(t)), r, buf);
        clf_rtext_element(w, first, r, "j");
        CLF_PUT(x, ");\n");
    }
}

static int vectors_at_once(const clf_rtext *w) {
    const bool few = w->x.registers == CLF_FEW_REGISTERS;
    const int most = few ? FEW_GROUP : GROUP, room = (few ? FEW_ROOM : ROOM) / w->x.ru;
    return room > most ? most : room > 1 ? room : 1;
}

/* Accumulators are rows: cells of the first factor, vectors of the second, in registers while there is room. */
static void outer_by_narrow_rows(clf_ctext *x, const void *sink) {
    clf_rtext *w = (clf_rtext *)x;
    const int s = *(const int *)sink;
    int first, second, lanes = clf_lanes(clf_ctext_type(x, s));
    int64_t vectors = clf_row_ceil(clf_row_extent(w->p, w->p->sink[s].k), lanes);
    char at[GROUP][OFFSET], pos[16];
    order(w, s, &first, &second);
    for (int from = 0, n; from < vectors; from += n) {
        n = clf_row_share(vectors - from, vectors_at_once(w));
        CLF_PUT(x, "{\n");
        for (int q = 0; q < n; q++) {
            clf_print(pos, sizeof pos, "%d", (from + q) * lanes);
            second_vectors(w, s, second, pos, q);
            clf_print(at[q], OFFSET, "f%da0 + j * %d + %d", s, (int)vectors * lanes, (from + q) * lanes);
        }
        CLF_PUT(x, "for (long j = 0; j < %s; j++) {\n", x->strip);
        first_cells(w, s, first);
        add_rows(w, s, at, 0, n);
        if (from + n == vectors) clf_rtext_fetch(w, 1, "j");
        CLF_PUT(x, "} }\n");
    }
}

/* The same where they are so long that one vector at a time goes through registers. */
static void outer_by_rows(clf_rtext *w, int s, int first, int second) {
    clf_ctext *x = &w->x;
    int lanes = clf_lanes(clf_ctext_type(x, s));
    char at[1][OFFSET], ext[24];
    clf_rtext_extent(w, w->p->sink[s].k, ext);
    CLF_PUT(x, "{ const long kp = (%s + %d) / %d * %d;\nfor (long j = 0; j < %s; j++) {\n", ext, lanes - 1, lanes, lanes, x->strip);
    first_cells(w, s, first);
    CLF_PUT(x, "for (long c_ = 0; c_ < %s; c_ += %d) {\n", ext, lanes);
    second_vectors(w, s, second, "c_", 0);
    clf_print(at[0], OFFSET, "f%da0 + j * kp + c_", s);
    add_rows(w, s, at, 0, 1);
    CLF_PUT(x, "}\n");
    clf_rtext_fetch(w, 1, "j");
    CLF_PUT(x, "} }\n");
}

void clf_rtext_outer(clf_rtext *w, int s) {
    int first, second;
    const clf_row_sink *q = &w->p->sink[s];
    const int64_t vectors = clf_row_ceil(clf_row_extent(w->p, q->k), clf_lanes(clf_ctext_type(&w->x, s)));
    order(w, s, &first, &second);
    if (q->layout == CLF_ROW_BY_COLS)
        outer_by_columns(w, s, first, second);
    else if (!clf_row_narrow(w->p, q->k))
        outer_by_rows(w, s, first, second);
    else if (vectors > 1 && w->x.ru * vectors > FEW_GROUP)
        clf_ctext_by_registers(&w->x, outer_by_narrow_rows, &s);
    else
        outer_by_narrow_rows(&w->x, &s);
}
