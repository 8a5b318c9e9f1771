/* SPDX-License-Identifier: Apache-2.0
 * Matrix factors in row.chunk: X %*% V as a row of dots (CLF_ROW_PRODUCT).
 *
 * A product with one lane takes whole rows of V, `vectors` of them, against broadcast cells of a few rows of X; with several lanes it is
 * that many dots along contiguous columns, which a work-item copies first when V is stored the other way. Measured: columns win for up
 * to 4 of them, rows beyond (the other way round 0.3 to 0.7 as fast).
 *
 * How many sums are made at once depends on the registers that there are for them: a vector of the text is 64 bytes, so one of 32 where
 * they are wide and two of 16 where they are not. */
#include <string.h>

#include "kernels-cl/skel/row_text.h"

#include "core/print.h"

enum {
    GROUP = 4,    /* columns of a row at once, at most */
    ROOM = 24,    /* vectors of sums in registers at once, of all rows; where registers are few and narrow: */
    FEW_ROOM = 6, /* at most, */
    FEW_ROWS = 4  /* and of so many rows */
};

/* What is made at once: `rows` rows of the pass from `row` on, of each n vectors or columns from `from` on. */
typedef struct part {
    int row, rows, from, n;
} part;

static bool few(const clf_rtext *w) { return w->x.registers == CLF_FEW_REGISTERS; }

/* Of the rows of a pass so many at once, and of each so many vectors or columns. */
static int rows_of_part(const clf_rtext *w) { return few(w) && w->x.ru > FEW_ROWS ? FEW_ROWS : w->x.ru; }

static int room_of_row(const clf_rtext *w) {
    const int room = (few(w) ? FEW_ROOM : ROOM) / rows_of_part(w);
    return room > 1 ? room : 1;
}

static clf_dtype type_of(const clf_rtext *w, int v) { return (clf_dtype)w->c.value[v].dtype; }
static int factor_access(const clf_rtext *w, int v) { return w->c.value[w->c.value[v].in[1]].arg; }

/* ---- set up once per work-item ---- */

/* A factor's strides are arguments: xsA along the lower of its axes, xkA along the higher, whichever of them a product folds. */
static const char *stride_l(const clf_row_factor *f) { return f->l < f->k ? "xs" : "xk"; }
static const char *stride_k(const clf_row_factor *f) { return f->l < f->k ? "xk" : "xs"; }

static void copy_setup(clf_rtext *w, int v, const clf_row_factor *f) {
    clf_ctext *x = &w->x;
    char buf[CLF_EMIT_NAME], ext[24], kext[24], pad[24];
    const char *t = clf_emit_type(buf, type_of(w, v), 1);
    int a = factor_access(w, v), each = (int)clf_dtype_bytes(type_of(w, v));
    clf_rtext_extent(w, f->l, ext);
    clf_rtext_extent(w, f->k, kext);
    clf_rtext_padded(w, f->l, pad);
    if (clf_row_narrow(w->p, f->l))
        CLF_PUT(x, "%s c%d[%d * %s] CLF_LINES;\n", t, v, (int)clf_row_extent(w->p, f->k) > 0 ? (int)clf_row_extent(w->p, f->k) : 1, pad);
    else
        CLF_PUT(x, "__global %s *const c%d = (__global %s *)at; at += %s * (%s * %d / 8);\n", t, v, t, kext, pad, each);
    CLF_PUT(x, "for (long k_ = 0; k_ < %s; k_++) {\nfor (long u = 0; u < %s; u++) c%d[k_ * %s + u] = x%d[xb%d + u * %s%d + k_ * %s%d];\n",
            kext, ext, v, pad, a, a, stride_l(f), a, stride_k(f), a);
    CLF_PUT(x, "for (long u = %s; u < %s; u++) c%d[k_ * %s + u] = 0; }\n", ext, pad, v, pad);
}

void clf_rtext_product_setup(clf_rtext *w, int v) {
    clf_row_factor f;
    char buf[CLF_EMIT_NAME];
    if (!clf_row_factor_of(w->p, v, &f)) return;
    if (w->p->turned) clf_rtext_turn_setup(w, v, &f);
    if (clf_row_copies(w->p, v)) copy_setup(w, v, &f);
    if (f.lanes != 1 || clf_row_narrow(w->p, f.l)) return;
    const char *t = clf_emit_type(buf, clf_wide(type_of(w, v)), 1);
    CLF_PUT(&w->x, "__global %s *const e%d = (__global %s *)at; at += %d * %d * (long)el%d;\n", t, v, t, w->p->ru,
            clf_row_vectors(w->p, v) * clf_lanes(type_of(w, v)), v);
}

/* ---- several lanes: dots along columns of the factor ---- */

/* Columns k0 .. k0 + n - 1; state number r * n + q is that of row r of the part and column q. */
static void column_pointers(clf_rtext *w, int v, int n) {
    clf_ctext *x = &w->x;
    char buf[CLF_EMIT_NAME], pad[24];
    clf_row_factor f;
    clf_row_factor_of(w->p, v, &f);
    const char *t = clf_emit_type(buf, type_of(w, v), 1);
    int a = factor_access(w, v);
    for (int q = 0; q < n; q++)
        if (clf_row_copies(w->p, v))
            CLF_PUT(x, "const %s %s *const g%d = c%d + (k0 + %d) * %s;\n", clf_rtext_space(w, f.l), t, q, v, q,
                    clf_rtext_padded(w, f.l, pad));
        else
            CLF_PUT(x, "const __global %s *const g%d = x%d + xb%d + (k0 + %d) * %s%d;\n", t, q, a, a, q, stride_k(&f), a);
}

static void column_steps(clf_rtext *w, int v, const part *p) {
    clf_ctext *x = &w->x;
    clf_dtype t = type_of(w, v);
    int lanes = clf_lanes(t), s = clf_rtext_fold_of(w, v);
    bool copied = clf_row_copies(w->p, v);
    char buf[CLF_EMIT_NAME], y[CLF_EMIT_NAME], z[CLF_EMIT_NAME];
    const char *one = clf_emit_type(NULL, t, 1);
    for (int r = 0; r < p->rows; r++) {
        CLF_PUT(x, "const %s y%d = ", clf_emit_type(buf, t, lanes), r);
        clf_rtext_vector(w, w->c.value[v].in[0], p->row + r, lanes, "u");
        CLF_PUT(x, ";\n");
    }
    for (int q = 0; q < p->n; q++) {
        if (x->tail && !copied)
            CLF_PUT(x, "const %s h%d = %s_LOADT(g%d + u, r);\n", clf_emit_type(buf, t, lanes), q, clf_emit_run(&x->e, y, t, lanes), q);
        else
            CLF_PUT(x, "const %s h%d = CLF_VLOAD(%s, %s, %d, g%d + u);\n", clf_emit_type(buf, t, lanes), q,
                    copied ? clf_rtext_space(w, w->c.value[v].axis) : "__global", one, lanes, q);
        for (int r = 0; r < p->rows; r++) {
            clf_fold_vars f;
            memset(&f, 0, sizeof f);
            CLF_NAME(f.s[0], "f%dl0_%d", s, r * p->n + q);
            clf_print(y, sizeof y, "y%d", r);
            clf_print(z, sizeof z, "h%d", q);
            f.v = y;
            f.k = z;
            CLF_PUT(x, "{ ");
            clf_fold_masked_step(x, s, lanes, &f, x->tail ? "r" : NULL);
            CLF_PUT(x, "}\n");
        }
    }
    clf_row_factor f;
    clf_row_factor_of(w->p, v, &f);
    if (!p->row) clf_rtext_fetch_part(w, lanes, "u", "k0", p->n, clf_row_narrow(w->p, f.k) ? clf_row_extent(w->p, f.k) : 0);
}

static void column_results(clf_rtext *w, int v, const part *p) {
    clf_ctext *x = &w->x;
    int s = clf_rtext_fold_of(w, v);
    char name[CLF_EMIT_NAME];
    for (int r = 0; r < p->rows; r++)
        for (int q = 0; q < p->n; q++) {
            clf_fold_vars f;
            memset(&f, 0, sizeof f);
            clf_fold_row_merge(x, s, r * p->n + q);
            clf_fold_wide_names(x, s, r * p->n + q, f.s);
            CLF_PUT(x, "{ ");
            clf_fold_result(x, s, 1, &f, "z_");
            CLF_PUT(x, "%s[k0 + %d] = z_; }\n", clf_rtext_buffer(w, v, p->row + r, name), q);
        }
}

static void columns_of_rows(clf_rtext *w, int v, const part *p) {
    clf_ctext *x = &w->x;
    int s = clf_rtext_fold_of(w, v), lanes = clf_lanes(type_of(w, v)), states = p->rows * p->n;
    bool leaves = w->cell.kind == CLF_CELL_ROWS;
    for (int q = 0; q < states; q++) clf_fold_row_open(x, s, q);
    CLF_PUT(x, leaves ? "for (long j0 = 0; j0 < %s; j0 += 512) { const long e = min(j0 + 512, %s);\n" : "{ const long j0 = 0, e = %s;\n",
            x->strip, x->strip);
    for (int q = 0; q < states; q++) clf_fold_lanes(x, s, q);
    CLF_PUT(x, "long u = j0;\nfor (; u + %d <= e; u += %d) {\n", lanes, lanes);
    column_steps(w, v, p);
    CLF_PUT(x, "}\n");
    if (leaves || w->cell.cols % lanes) {
        CLF_PUT(x, "if (u < e) { const int r = (int)(e - u);\n");
        x->tail = true;
        column_steps(w, v, p);
        x->tail = false;
        CLF_PUT(x, "}\n");
    }
    clf_fold_row_leaves(x, s, states, p->n);
    CLF_PUT(x, "}\n");
    column_results(w, v, p);
}

static void columns(clf_rtext *w, int v, int n) {
    const int rows = rows_of_part(w);
    column_pointers(w, v, n);
    for (int row = 0; row < w->x.ru; row += rows) {
        CLF_PUT(&w->x, "{\n");
        columns_of_rows(w, v, &(part){.row = row, .rows = rows, .n = n});
        CLF_PUT(&w->x, "}\n");
    }
}

static int columns_at_once(const clf_rtext *w, const clf_row_factor *f) {
    const int64_t n = clf_row_extent(w->p, f->k);
    const int group = w->x.ru > GROUP ? 2 : clf_row_at_once(n, clf_row_extent(w->p, f->l)) ? (int)n : GROUP;
    const int room = room_of_row(w);
    return group < room ? group : room;
}

static void product_by_columns(clf_ctext *x, const void *value) {
    clf_rtext *w = (clf_rtext *)x;
    const int v = *(const int *)value;
    char ext[24];
    clf_row_factor f;
    clf_row_factor_of(w->p, v, &f);
    const bool narrow = clf_row_narrow(w->p, f.k);
    const int64_t n = clf_row_extent(w->p, f.k);
    const int group = columns_at_once(w, &f);
    clf_rtext_extent(w, f.k, ext);
    CLF_PUT(x, "{ long k0 = 0;\n");
    if (!narrow || n >= group) {
        CLF_PUT(x, "for (; k0 + %d <= %s; k0 += %d) {\n", group, ext, group);
        columns(w, v, group);
        CLF_PUT(x, "}\n");
    }
    if (!narrow || n % group) {
        CLF_PUT(x, narrow ? "{\n" : "for (; k0 < %s; k0++) {\n", ext);
        columns(w, v, narrow ? (int)(n % group) : 1);
        CLF_PUT(x, "}\n");
    }
    CLF_PUT(x, "}\n");
}

/* ---- one lane: whole rows of the factor ---- */

/* aR_Q: row R of the part, vector Q of it. */
static void row_steps(clf_rtext *w, int v, const part *p, int rest) {
    clf_ctext *x = &w->x;
    clf_dtype t = type_of(w, v);
    int lanes = clf_lanes(t);
    char buf[CLF_EMIT_NAME], a[CLF_EMIT_NAME], y[CLF_EMIT_NAME], z[CLF_EMIT_NAME];
    const char *one = clf_emit_type(NULL, t, 1);
    for (int q = 0; q < p->n; q++)
        if (rest && q == p->n - 1)
            CLF_PUT(x, "const %s h%d = %s_LOADT(g + %d, %d);\n", clf_emit_type(buf, t, lanes), q, clf_emit_run(&x->e, y, t, lanes),
                    (p->from + q) * lanes, rest);
        else
            CLF_PUT(x, "const %s h%d = CLF_VLOAD(__global, %s, %d, g + %d);\n", clf_emit_type(buf, t, lanes), q, one, lanes,
                    (p->from + q) * lanes);
    for (int r = 0; r < p->rows; r++) {
        CLF_PUT(x, "const %s y%d = (%s)(", clf_emit_type(buf, t, lanes), r, clf_emit_type(z, t, lanes));
        clf_rtext_element(w, w->c.value[v].in[0], p->row + r, "u");
        CLF_PUT(x, ");\n");
        for (int q = 0; q < p->n; q++) {
            clf_print(a, sizeof a, "a%d_%d", r, q);
            clf_print(y, sizeof y, "y%d", r);
            clf_print(z, sizeof z, "h%d", q);
            clf_rtext_fma(w, w->c.value[v].arg, t, lanes, y, z, a);
        }
    }
    if (!p->from && !p->row) clf_rtext_fetch(w, 1, "u");
}

enum { SLOT = 96 };

/* Where vector q of row r lies on the stack eV at depth d_, and the two sides of a merge there. */
static clf_fold_vars on_stack(const clf_rtext *w, int v, int r, int q, char at[SLOT]) {
    int lanes = clf_lanes(type_of(w, v)), vectors = clf_row_vectors(w->p, v);
    clf_fold_vars f;
    memset(&f, 0, sizeof f);
    CLF_NAME(f.s[0], "s_");
    CLF_NAME(f.t[0], "t_");
    clf_print(at, SLOT, "e%d + d_ * %d + %d", v, w->p->ru * vectors * lanes, (r * vectors + q) * lanes);
    return f;
}

/* The leaf's accumulators are widened and pushed onto the stack eV. */
static void push_leaf(clf_rtext *w, int v, const part *p) {
    clf_ctext *x = &w->x;
    clf_dtype t = type_of(w, v), wide = clf_wide(t);
    int lanes = clf_lanes(t), s = clf_rtext_fold_of(w, v);
    char buf[CLF_EMIT_NAME], at[SLOT];
    clf_emit_type(buf, wide, lanes);
    for (int r = 0; r < p->rows; r++)
        for (int q = 0; q < p->n; q++) {
            const clf_fold_vars f = on_stack(w, v, p->row + r, p->from + q, at);
            CLF_PUT(x, "{ int d_ = depth; %s t_ = ", buf);
            clf_emit_cast(&x->e, t, wide, lanes);
            CLF_PUT(x, "a%d_%d);\nCLF_COLD for (long k_ = j0 / 512; k_ & 1; k_ >>= 1) { d_--; %s s_ = vload%d(0, %s); ", r, q, buf, lanes,
                    at);
            clf_fold_apply(x, s, clf_fold_row_of(x, s)->merge, true, lanes, &f);
            CLF_PUT(x, "t_ = s_; }\nvstore%d(t_, 0, %s); }\n", lanes, at);
        }
    CLF_PUT(x, "CLF_COLD for (long k_ = j0 / 512; k_ & 1; k_ >>= 1) depth--;\ndepth++;\n");
}

static void close_leaves(clf_rtext *w, int v, const part *p) {
    clf_ctext *x = &w->x;
    clf_dtype t = type_of(w, v), wide = clf_wide(t);
    int lanes = clf_lanes(t), s = clf_rtext_fold_of(w, v);
    char buf[CLF_EMIT_NAME], at[SLOT], name[CLF_EMIT_NAME];
    clf_emit_type(buf, wide, lanes);
    for (int r = 0; r < p->rows; r++)
        for (int q = 0; q < p->n; q++) {
            const clf_fold_vars f = on_stack(w, v, p->row + r, p->from + q, at);
            CLF_PUT(x, "{ int d_ = depth - 1; %s t_ = vload%d(0, %s);\nCLF_COLD while (--d_ >= 0) { %s s_ = vload%d(0, %s); ", buf, lanes,
                    at, buf, lanes, at);
            clf_fold_apply(x, s, clf_fold_row_of(x, s)->merge, true, lanes, &f);
            CLF_PUT(x, "t_ = s_; }\nvstore%d(", lanes);
            clf_emit_cast(&x->e, wide, t, lanes);
            CLF_PUT(x, "t_), 0, %s + %d); }\n", clf_rtext_buffer(w, v, p->row + r, name), (p->from + q) * lanes);
        }
}

static void store_rows(clf_rtext *w, int v, const part *p) {
    int lanes = clf_lanes(type_of(w, v));
    char name[CLF_EMIT_NAME];
    for (int r = 0; r < p->rows; r++)
        for (int q = 0; q < p->n; q++)
            CLF_PUT(&w->x, "vstore%d(a%d_%d, 0, %s + %d);\n", lanes, r, q, clf_rtext_buffer(w, v, p->row + r, name), (p->from + q) * lanes);
}

/* A factor's last row but few has so many cells behind it that whole vectors may be read everywhere else. */
static void rows_of_factor(clf_rtext *w, int v, const part *p) {
    clf_ctext *x = &w->x;
    clf_dtype t = type_of(w, v);
    clf_row_factor f;
    clf_row_factor_of(w->p, v, &f);
    int lanes = clf_lanes(t), a = factor_access(w, v);
    int rest = p->from + p->n == clf_row_vectors(w->p, v) ? (int)(clf_row_extent(w->p, f.k) % lanes) : 0;
    bool leaves = w->cell.kind == CLF_CELL_ROWS;
    char buf[CLF_EMIT_NAME];
    const char *one = clf_emit_type(NULL, t, 1);
    CLF_PUT(x, "{ int depth = 0; const long whole = %s - %d;\n", x->strip, rest ? (lanes + 3) / 5 : 0);
    CLF_PUT(x, leaves ? "for (long j0 = 0; j0 < %s; j0 += 512) { const long e = min(j0 + 512, %s);\n" : "{ const long j0 = 0, e = %s;\n",
            x->strip, x->strip);
    for (int r = 0; r < p->rows; r++)
        for (int q = 0; q < p->n; q++) CLF_PUT(x, "%s a%d_%d = (%s)(0);\n", clf_emit_type(buf, t, lanes), r, q, buf);
    CLF_PUT(x, "const __global %s *g = x%d + xb%d + j0 * %s%d;\nlong u = j0;\nfor (; u < min(e, whole); u++) {\n", one, a, a, stride_l(&f),
            a);
    row_steps(w, v, p, 0);
    CLF_PUT(x, "g += %s%d; }\n", stride_l(&f), a);
    if (rest) {
        CLF_PUT(x, "for (; u < e; u++) {\n");
        row_steps(w, v, p, rest);
        CLF_PUT(x, "g += %s%d; }\n", stride_l(&f), a);
    }
    if (leaves) push_leaf(w, v, p);
    if (!leaves) store_rows(w, v, p);
    CLF_PUT(x, "}\n");
    if (leaves) close_leaves(w, v, p);
    CLF_PUT(x, "}\n");
}

static void product_by_rows(clf_ctext *x, const void *value) {
    clf_rtext *w = (clf_rtext *)x;
    const int v = *(const int *)value, vectors = clf_row_vectors(w->p, v);
    part p = {.rows = rows_of_part(w)};
    for (p.row = 0; p.row < w->x.ru; p.row += p.rows)
        for (p.from = 0; p.from < vectors; p.from += p.n) {
            p.n = clf_row_share(vectors - p.from, room_of_row(w));
            rows_of_factor(w, v, &p);
        }
}

void clf_rtext_product(clf_rtext *w, int v) {
    clf_row_factor f;
    if (!clf_row_factor_of(w->p, v, &f)) return;
    const bool by_columns = f.lanes != 1;
    const int64_t sums = by_columns ? columns_at_once(w, &f) : clf_row_vectors(w->p, v);
    void (*const put)(clf_ctext *, const void *) = by_columns ? product_by_columns : product_by_rows;
    if (w->x.ru * sums > FEW_ROOM)
        clf_ctext_by_registers(&w->x, put, &v);
    else
        put(&w->x, &v);
}
