/* SPDX-License-Identifier: Apache-2.0
 * t(A) %*% B of two wide sides in row.chunk. The sums are so many that they are in a far cache: taken row by row each step would load and
 * store them for a multiply-add each, or for one of four rows. So rows of both sides are kept in deep buffers, CLF_ROW_DEEP at a time, and
 * the sums then go through registers tile by tile, of 8 rows by 3 vectors where there are 32 registers as wide as a vector, else of 4 by
 * one: each is loaded and stored once for all rows kept. Every cell takes its rows in order, as it does row by row.
 *
 * A deep buffer has a panel for each vector of its columns, row after row of it, so that a tile reads what lies together: cell (g, u) is
 * at CLF_ROW_DEEP * u + lanes * g for the u that begin a vector. Memory would rest meanwhile: each tile asks for its share of the rows that
 * come next.
 *
 * Where both sides are alike the sums are symmetric: one deep buffer serves both, tiles that lie below the diagonal are left out, and a
 * work-item mirrors the sums above it when it has made its own (row_cols.c). */
#include "kernels-cl/skel/row_text.h"
#include "planner/skel.h"

#include "core/print.h"

enum { LINE = 64, ROWS = 8, FEW_ROWS = 4, VECTORS = 3 };

/* ---- which ---- */

/* Does a sweep over cells write it, row by row? */
static bool holds(const clf_row *p, int v) {
    const clf_value *w = clf_row_val(p, v);
    return (p->value[v].axes & 1u) && (clf_op_is_cell(w->op) || w->op == CLF_V_CAST || w->op == CLF_V_LOAD || w->op == CLF_V_INDEX);
}

bool clf_row_tiles(const clf_row *p, int s, int j, int k) {
    const clf_sink *q = &p->c->sink[s];
    enum { MOST = 2048 /* columns of both sides: deep buffers stay in the second cache */ };
    int64_t J = clf_row_extent(p, j), K = clf_row_extent(p, k);
    if (J <= CLF_NARROW_PRODUCT || K <= CLF_NARROW_PRODUCT || J + K > MOST || q->fold) return false;
    clf_dtype t = clf_row_type(p, q->value[0]);
    return clf_dtype_float(t) && clf_lanes(t) == p->width && holds(p, q->value[0]) && holds(p, q->value[1]);
}

bool clf_row_any_tiled(const clf_row *p) {
    for (int s = 0; s < p->c->nsink; s++)
        if (p->sink[s].tiled) return true;
    return false;
}

/* ---- buffers ---- */

void clf_rtext_deep_setup(clf_rtext *w) {
    char buf[CLF_EMIT_NAME], ext[sizeof w->x.strip];
    for (int v = 0; v < w->p->c->nvalue; v++) {
        const clf_dtype t = (clf_dtype)w->c.value[v].dtype;
        if (!w->p->value[v].deep) continue;
        const char *one = clf_emit_type(buf, t, 1);
        CLF_PUT(&w->x, "__global %s *const bd%d = (__global %s *)at; at += %s * %d / 8;\n", one, v, one,
                clf_rtext_padded(w, clf_row_inner(w->c.value[v].axes), ext), CLF_ROW_DEEP * (int)clf_dtype_bytes(t));
    }
}

void clf_rtext_deep_rows(clf_rtext *w, int r) {
    char buf[CLF_EMIT_NAME], name[CLF_EMIT_NAME];
    for (int v = 0; v < w->p->c->nvalue; v++)
        if (w->p->value[v].deep)
            CLF_PUT(&w->x, "__global %s *const %s = bd%d + (i + %d - g0) * %d;\n", clf_emit_type(buf, (clf_dtype)w->c.value[v].dtype, 1),
                    clf_rtext_buffer(w, v, r, name), v, r, w->p->width);
}

void clf_rtext_together(clf_ctext *x) {
    if (clf_row_any_tiled(((clf_rtext *)x)->p)) CLF_PUT(x, "for (long g0 = b0; g0 < b1; g0 += %d)", CLF_ROW_DEEP);
}

void clf_rtext_together_end(clf_ctext *x) {
    if (clf_row_any_tiled(((clf_rtext *)x)->p))
        CLF_PUT(x, "min(g0 + %d, b1)", CLF_ROW_DEEP);
    else
        CLF_PUT(x, "b1");
}

/* ---- tiles ---- */

/* Do rows of access a have to be in the cache? */
static bool is_read(const clf_row *p, int a) {
    uint8_t need[CLF_ROW_VALUES];
    for (int t = 0; t < p->nsweep; t++) {
        clf_row_needs(p, t, need);
        for (int v = 0; v < p->c->nvalue; v++)
            if (need[v] == 1 && clf_row_val(p, v)->op == CLF_V_LOAD && clf_row_val(p, v)->arg == a) return true;
    }
    return false;
}

/* A tile's share of the next group's rows, asked for. */
static void ask(clf_rtext *w) {
    char ext[sizeof w->x.strip];
    CLF_PUT(&w->x, "for (long g = g1 + ask_ * per_; g < g1 + min((ask_ + 1) * per_, %dL) && g < b1; g++) {\n", CLF_ROW_DEEP);
    for (int v = 0; v < w->p->c->nvalue; v++) {
        const clf_value *q = &w->p->c->value[v];
        int axis = clf_row_inner(q->axes);
        if (!clf_rtext_first_load(w, v) || !(q->axes & 1u) || axis < 0 || !is_read(w->p, q->arg)) continue;
        CLF_PUT(&w->x, "for (long u = 0; u < %s; u += %d) { CLF_FETCH_FAR(x%d + xb%d + g * xl%d + u) }\n", clf_rtext_extent(w, axis, ext),
                LINE / (int)clf_dtype_bytes((clf_dtype)q->dtype), q->arg, q->arg, q->arg);
    }
    CLF_PUT(&w->x, "}\nask_++;\n");
}

/* Rows j .. j + rows - 1 of the sums, `vectors` of each from column c_ on, take the group's rows. */
static void tile(clf_rtext *w, int s, int first, int second, int rows, int vectors) {
    clf_ctext *x = &w->x;
    const clf_dtype t = clf_ctext_type(x, s);
    const int lanes = clf_lanes(t);
    char vec[CLF_EMIT_NAME], h[CLF_EMIT_NAME], c[CLF_EMIT_NAME];
    const char *one = clf_emit_type(NULL, t, 1);
    clf_emit_type(vec, t, lanes);
    CLF_PUT(x, "{ const __global %s *a_ = bd%d + j / %d * %d + j %% %d, *h_ = bd%d + c_ * %d;\n", one, first, lanes, lanes * CLF_ROW_DEEP,
            lanes, second, CLF_ROW_DEEP);
    CLF_PUT(x, "__global %s *const to_ = f%da0 + j * kp_ + c_;\n", one, s);
    for (int r = 0; r < rows; r++)
        for (int q = 0; q < vectors; q++)
            CLF_PUT(x, "%s c%d_%d = CLF_VLOAD(__global, %s, %d, to_ + %d * kp_ + %d);\n", vec, r, q, one, lanes, r, q * lanes);
    CLF_PUT(x, "for (long g = g0; g < g1; g++, a_ += %d, h_ += %d) {\n", lanes, lanes);
    for (int q = 0; q < vectors; q++)
        CLF_PUT(x, "const %s h%d = CLF_VLOAD(__global, %s, %d, h_ + %d);\n", vec, q, one, lanes, q * lanes * CLF_ROW_DEEP);
    for (int r = 0; r < rows; r++) {
        CLF_PUT(x, "{ const %s y = (%s)(a_[%d]);\n", vec, vec, r);
        for (int q = 0; q < vectors; q++) {
            clf_print(h, sizeof h, "h%d", q);
            clf_print(c, sizeof c, "c%d_%d", r, q);
            clf_rtext_fma(w, 0, t, lanes, "y", h, c);
        }
        CLF_PUT(x, "}\n");
    }
    CLF_PUT(x, "}\n");
    for (int r = 0; r < rows; r++)
        for (int q = 0; q < vectors; q++)
            CLF_PUT(x, "CLF_VSTORE(__global, %s, %d, c%d_%d, to_ + %d * kp_ + %d);\n", one, lanes, r, q, r, q * lanes);
    CLF_PUT(x, "}\n");
}

/* Columns from c_ on, `vectors` of them at a time while `loop` holds; of symmetric sums down to the diagonal. */
static void strip(clf_rtext *w, int s, int first, int second, int rows, int vectors, const char *loop) {
    char ext[sizeof w->x.strip], end[2 * sizeof w->x.strip];
    const int columns = vectors * clf_lanes(clf_ctext_type(&w->x, s));
    clf_rtext_extent(w, w->p->sink[s].j, ext);
    clf_print(end, sizeof end, w->p->sink[s].symmetric ? "min((long)%s, c_ + %d)" : "%s", ext, columns);
    CLF_PUT(&w->x, "for (; %s; c_ += %d)\nCLF_COLD for (long j = 0; j < %s; j += %d) {\n", loop, columns, end, rows);
    ask(w);
    tile(w, s, first, second, rows, vectors);
    CLF_PUT(&w->x, "}\n");
}

/* Vectors go by threes, and the last by twos where one would be left alone: there are five at least. Of symmetric sums at least half of the
 * tiles are made. */
static void by_tiles(clf_ctext *x, const void *sink) {
    clf_rtext *w = (clf_rtext *)x;
    const int s = *(const int *)sink;
    const clf_sink *k = &w->c.sink[s];
    const clf_row_sink *q = &w->p->sink[s];
    const int lanes = clf_lanes(clf_ctext_type(x, s));
    const bool swap = clf_row_inner(w->c.value[k->value[1]].axes) == q->j;
    const int first = k->value[swap], second = q->symmetric ? first : k->value[!swap], halves = q->symmetric ? 2 : 1;
    char J[sizeof x->strip];
    clf_rtext_extent(w, q->j, J);
    if (x->registers == CLF_FEW_REGISTERS) {
        CLF_PUT(x, "const long tiles_ = (%s + %d) / %d * v_ / %d, per_ = (%d + tiles_ - 1) / tiles_;\n", J, FEW_ROWS - 1, FEW_ROWS, halves,
                CLF_ROW_DEEP);
        strip(w, s, first, second, FEW_ROWS, 1, "c_ < kp_");
        return;
    }
    CLF_PUT(x, "const long threes_ = (v_ %% %d == 1 ? v_ / %d - 1 : v_ / %d) * %d;\n", VECTORS, VECTORS, VECTORS, VECTORS * lanes);
    CLF_PUT(x, "const long tiles_ = (%s + %d) / %d * ((v_ + %d) / %d) / %d, per_ = (%d + tiles_ - 1) / tiles_;\n", J, ROWS - 1, ROWS,
            VECTORS - 1, VECTORS, halves, CLF_ROW_DEEP);
    strip(w, s, first, second, ROWS, VECTORS, "c_ < threes_");
    strip(w, s, first, second, ROWS, VECTORS - 1, "c_ < kp_");
}

static void product(clf_rtext *w, int s) {
    clf_ctext *x = &w->x;
    const int lanes = clf_lanes(clf_ctext_type(x, s));
    char K[sizeof x->strip];
    clf_rtext_extent(w, w->p->sink[s].k, K);
    CLF_PUT(x, "{ const long v_ = (%s + %d) / %d, kp_ = v_ * %d;\nlong c_ = 0, ask_ = 0;\n", K, lanes - 1, lanes, lanes);
    clf_ctext_by_registers(x, by_tiles, &s);
    CLF_PUT(x, "}\n");
}

void clf_rtext_tiles(clf_ctext *x) {
    clf_rtext *w = (clf_rtext *)x;
    for (int s = 0; s < w->nsink; s++)
        if (w->p->sink[s].tiled) product(w, s);
}

/* The cells of a strip of columns, each from one that lies beside those of the next row. */
void clf_rtext_mirror(clf_rtext *w, int s) {
    char n[24];
    const int lanes = clf_lanes(clf_ctext_type(&w->x, s));
    clf_rtext_extent(w, w->p->sink[s].k, n);
    CLF_PUT(&w->x, "{ const long kp_ = (%s + %d) / %d * %d;\n", n, lanes - 1, lanes, lanes);
    CLF_PUT(&w->x, "CLF_COLD for (long m_ = 0; m_ < %s; m_ += %d) CLF_COLD for (long j = m_ + 1; j < %s; j++)\n", n, lanes, n);
    CLF_PUT(&w->x, "CLF_COLD for (long c_ = m_; c_ < min(m_ + %d, j); c_++) f%dk0[j * kp_ + c_] = f%dk0[c_ * kp_ + j]; }\n", lanes, s, s);
}
