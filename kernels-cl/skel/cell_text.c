/* SPDX-License-Identifier: Apache-2.0
 * Stores and loops of cell.chunk. The body of a strip is one loop over vectors, or several over a private tile (see cell_values.c).
 * Invariant: padded lanes of a short vector are computed like all others and never stored or folded, so no scalar mathematics runs
 * in tails. */

#include "kernels-cl/skel/cell_text.h"

#include "core/print.h"

/* Elements of a private tile. Measured on a server core with 48 KiB of L1: 64 and 128 beat 256 by 5 to 10 % and 512 by 15 %, since the
 * tiles share the cache with the streams. */
enum { TILE = 64 };

/* ---- stores ---- */

void clf_ctext_store_cast(clf_ctext *x, int s, int width, int r) {
    int v = x->c->sink[s].value[0];
    clf_emit_cast(&x->e, (clf_dtype)clf_ctext_val(x, v)->dtype, (clf_dtype)x->c->out[x->c->sink[s].out[0]].dtype, width);
    clf_ctext_operand(x, v, width, r);
    CLF_PUT(x, ")");
}

bool clf_ctext_streams(const clf_ctext *x, clf_dtype t) {
    return x->nontemporal && !x->tail && !x->once && x->p->width * clf_dtype_bytes(t) % 64 == 0;
}

void clf_ctext_store_vector(clf_ctext *x, int s, int r) {
    char buf[CLF_EMIT_NAME];
    int o = x->c->sink[s].out[0], w = x->p->width;
    clf_dtype t = (clf_dtype)x->c->out[o].dtype;
    bool nt = clf_ctext_streams(x, t), halves = (size_t)w * clf_dtype_bytes(t) > 64;
    CLF_PUT(x, "{ const %s y = ", clf_emit_type(buf, t, w));
    clf_ctext_store_cast(x, s, w, r);
    CLF_PUT(x, "; ");
    if (nt) {
        const char *base = clf_emit_type(buf, t, 1);
        if (halves)
            CLF_PUT(x, "if (nt%d) { CLF_NT(%s, 8, y.lo, z%d_%d + u) CLF_NT(%s, 8, y.hi, z%d_%d + u + 8) } else ", o, base, s, r, base, s,
                    r);
        else
            CLF_PUT(x, "if (nt%d) { CLF_NT(%s, %d, y, z%d_%d + u) } else ", o, base, w, s, r);
    }
    if (x->tail)
        CLF_PUT(x, "%s_STORET(y, z%d_%d + u, r); }\n", clf_emit_run(&x->e, buf, t, w), s, r);
    else
        CLF_PUT(x, "CLF_VSTORE(__global, %s, %d, y, z%d_%d + u); }\n", clf_emit_type(buf, t, 1), w, s, r);
}

/* 0: not a store of the text being written; 1: scalar once; 2: scalar per row; 3: vectors */
static int store_class(const clf_ctext *x, const clf_sink *k) {
    const clf_cell *p = x->p;
    if (k->kind != CLF_SINK_STORE) return 0;
    if (p->kind == CLF_CELL_FLAT) return (k->keep & p->live) ? (x->once ? 0 : 3) : (x->once ? 1 : 0);
    if (k->keep == 0) return x->once ? 1 : 0;
    if (k->keep == p->j) return x->once ? 3 : 0;
    if (x->once) return 0;
    return k->keep == p->i ? 2 : 3;
}

static void scalar_stores(clf_ctext *x, int want) {
    for (int s = 0; s < x->c->nsink; s++) {
        int o = x->c->sink[s].out[0];
        if (store_class(x, &x->c->sink[s]) != want) continue;
        for (int r = 0; r < x->ru; r++) {
            if (want == 2)
                CLF_PUT(x, "o%d[ob%d + i + %d] = ", o, o, r);
            else
                CLF_PUT(x, "o%d[ob%d] = ", o, o);
            clf_ctext_store_cast(x, s, 1, r);
            CLF_PUT(x, ";\n");
        }
    }
}

/* ---- loops ---- */

static void sink_step(clf_ctext *x, int s) {
    const clf_sink *k = &x->c->sink[s];
    int v = k->value[0];
    if ((clf_ctext_level(x, v) == 2 ? x->stage[v] : 0) != x->now) return;
    if (store_class(x, k) == 3)
        for (int r = 0; r < x->ru; r++) clf_ctext_store_vector(x, s, r);
    if (x->once) return;
    switch (clf_cell_fold_of(x->p, k)) {
    case CLF_CELL_FULLFOLD:
        if (x->p->kind == CLF_CELL_FLAT)
            clf_fold_step(x, s, 0);
        else
            clf_fold_tile_step(x, s);
        break;
    case CLF_CELL_ROWFOLD:
        for (int r = 0; r < x->ru; r++) clf_fold_step(x, s, r);
        break;
    case CLF_CELL_COLFOLD: clf_fold_col_step(x, s); break;
    default: break;
    }
}

/* Value v in loop `now`: computed, loaded (again), or taken from its tile. */
static void body_value(clf_ctext *x, int v) {
    const clf_value *w = clf_ctext_val(x, v);
    char buf[CLF_EMIT_NAME];
    bool here = x->stage[v] == x->now && x->uses[v], memory = clf_ctext_is_read(x, v), read = x->uses[v] >> x->now & 1;
    if (clf_ctext_level(x, v) < 2 || (x->once && (w->axes & x->p->i))) return;
    int rows = clf_ctext_varies(x, w->axes) ? x->ru : 1;
    for (int r = 0; r < rows; r++) {
        if (memory ? read : here) {
            clf_ctext_compute(x, v, x->p->width, r);
        } else if (read && x->stage[v] < x->now) {
            CLF_PUT(x, "const %s ", clf_emit_type(buf, (clf_dtype)w->dtype, x->p->width));
            clf_ctext_value(x, v, r);
            CLF_PUT(x, " = CLF_VLOAD(__private, %s, %d, t%d + (u - h));\n", clf_emit_type(buf, (clf_dtype)w->dtype, 1), x->p->width, v);
        }
        if (x->held && x->held[v] == CLF_HELD_WRITE && x->stage[v] == x->now) clf_ctext_hold(x, v, r);
        if (here && !memory && x->uses[v] >> (x->now + 1)) {
            CLF_PUT(x, "CLF_VSTORE(__private, %s, %d, ", clf_emit_type(buf, (clf_dtype)w->dtype, 1), x->p->width);
            clf_ctext_value(x, v, r);
            CLF_PUT(x, ", t%d + (u - h));\n", v);
        }
    }
}

static void body(clf_ctext *x) {
    for (int v = 0; v < x->c->nvalue; v++) body_value(x, v);
    if (x->sinks) {
        x->sinks(x);
        return;
    }
    for (int s = 0; s < x->c->nsink; s++) sink_step(x, s);
}

/* Can a strip end in a short vector? */
static bool ragged(const clf_ctext *x) {
    if (x->p->kind == CLF_CELL_ROWS) return true;
    return x->p->kind == CLF_CELL_NARROW && x->p->cols % x->p->width != 0;
}

/* A short strip comes once in a launch: every vector of it is masked, which keeps the program small. */
static void short_loop(clf_ctext *x) {
    int w = x->p->width;
    x->tail = true;
    CLF_PUT(x, "for (; u < e; u += %d) {\nconst int r = (int)min(%dL, e - u);\n", w, w);
    body(x);
    CLF_PUT(x, "}\n");
    x->tail = false;
}

static void loop(clf_ctext *x) {
    int w = x->p->width;
    if (!x->whole && (x->p->kind == CLF_CELL_FLAT || x->p->kind == CLF_CELL_GROUP)) {
        short_loop(x);
        return;
    }
    int block = clf_ctext_block(x);
    if (block) {
        CLF_PUT(x, "for (; u + %d <= e;) {\n", w);
        clf_ctext_fetch_block(x, block);
        CLF_PUT(x, "const long b_ = min(u + %d, e);\nfor (; u + %d <= b_; u += %d) {\n", block, w, w);
    } else {
        CLF_PUT(x, "for (; u + %d <= e; u += %d) {\n", w, w);
        clf_ctext_fetch(x);
    }
    body(x);
    CLF_PUT(x, block ? "}\n}\n" : "}\n");
    if (!ragged(x)) return;
    x->tail = true;
    CLF_PUT(x, "if (u < e) {\nconst int r = (int)(e - u);\n");
    body(x);
    CLF_PUT(x, "}\n");
    x->tail = false;
}

void clf_ctext_spans(clf_ctext *x) {
    char buf[CLF_EMIT_NAME];
    if (x->stages == 1) {
        x->now = 0;
        CLF_PUT(x, "{ const long e = e1; long u = j0;\n");
        loop(x);
        CLF_PUT(x, "}\n");
        return;
    }
    CLF_PUT(x, "for (long h = j0; h < e1; h += %d) {\nconst long e = min(h + %d, e1);\n", TILE, TILE);
    for (int v = 0; v < x->c->nvalue; v++)
        if (clf_ctext_level(x, v) == 2 && !clf_ctext_is_read(x, v) && x->uses[v] >> (x->stage[v] + 1))
            CLF_PUT(x, "%s t%d[%d];\n", clf_emit_type(buf, (clf_dtype)clf_ctext_val(x, v)->dtype, 1), v, TILE + 16);
    for (x->now = 0; x->now < x->stages; x->now++) {
        CLF_PUT(x, "{ long u = h;\n");
        loop(x);
        CLF_PUT(x, "}\n");
    }
    CLF_PUT(x, "}\n");
}

/* ---- holes ---- */

static void pointer(clf_ctext *x, int a, uint32_t axes, int r, const char *offset) {
    char buf[CLF_EMIT_NAME];
    CLF_PUT(x, "const __global %s *q%d", clf_emit_type(buf, (clf_dtype)x->c->in[x->c->access[a].input].dtype, 1), a);
    clf_ctext_suffix(x, axes, r);
    CLF_PUT(x, " = x%d + xb%d%s;\n", a, a, offset);
}

static void repeat_row_vector(clf_ctext *x, int a) {
    char buf[CLF_EMIT_NAME];
    const char *t = clf_emit_type(buf, (clf_dtype)x->c->in[x->c->access[a].input].dtype, 1);
    CLF_PUT(x, "%s g%d[%s + 16];\nfor (int k = 0; k < %s + 16; k++) g%d[k] = x%d[xb%d + k %% %d];\n", t, a, x->strip, x->strip, a, a, a,
            (int)x->p->cols);
}

/* Values that need no loop, and what holds for all strips. */
void clf_ctext_setup(clf_ctext *x) {
    clf_cell_at at;
    x->ru = 1;
    for (int v = 0; v < x->c->nvalue; v++)
        if (clf_ctext_level(x, v) == 0 && x->uses[v]) clf_ctext_compute(x, v, 1, 0);
    for (int a = 0; a < x->c->naccess; a++) {
        clf_cell_access(x->p, &x->c->access[a], &at);
        if (x->p->kind == CLF_CELL_FLAT || at.axes != x->p->j) continue;
        if (x->p->kind == CLF_CELL_GROUP)
            repeat_row_vector(x, a);
        else
            pointer(x, a, at.axes, 0, "");
    }
    for (int s = 0; s < x->c->nsink; s++) {
        int o = x->c->sink[s].out[0];
        if (store_class(x, &x->c->sink[s]) == 3 && clf_ctext_streams(x, (clf_dtype)x->c->out[o].dtype))
            CLF_PUT(x, "const int nt%d = (((size_t)(o%d + ob%d)) & 63) == 0;\n", o, o, o);
    }
    clf_fold_setup(x);
}

static void strip_pointers(clf_ctext *x, int r) {
    clf_cell_at at;
    char off[64], buf[CLF_EMIT_NAME];
    for (int a = 0; a < x->c->naccess; a++) {
        clf_cell_access(x->p, &x->c->access[a], &at);
        if (clf_cell_level(x->p, at.axes) < 2 || (x->p->kind != CLF_CELL_FLAT && !(at.axes & x->p->i))) continue;
        if (x->p->kind == CLF_CELL_ROWS || x->p->kind == CLF_CELL_NARROW)
            clf_print(off, sizeof off, " + (i + %d) * xl%d", r, a);
        else
            clf_print(off, sizeof off, " + (i + %d) * %s", r, x->strip);
        pointer(x, a, at.axes, r, off);
    }
    for (int s = 0; s < x->c->nsink; s++) {
        int o = x->c->sink[s].out[0];
        if (store_class(x, &x->c->sink[s]) == 3)
            CLF_PUT(x, "__global %s *z%d_%d = o%d + ob%d + (i + %d) * %s;\n", clf_emit_type(buf, (clf_dtype)x->c->out[o].dtype, 1), s, r, o,
                    o, r, x->strip);
    }
}

static void each_row_fold(clf_ctext *x, void (*f)(clf_ctext *, int, int)) {
    for (int s = 0; s < x->c->nsink; s++)
        if (clf_cell_fold_of(x->p, &x->c->sink[s]) == CLF_CELL_ROWFOLD)
            for (int r = 0; r < x->ru; r++) f(x, s, r);
}

/* `ru` full strips from strip i, or (ru 0) one strip of m cells. */
void clf_ctext_strip(clf_ctext *x, int ru) {
    bool flat = x->p->kind == CLF_CELL_FLAT, leaves = x->p->kind == CLF_CELL_ROWS || (x->p->kind == CLF_CELL_GROUP && x->p->nfull);
    x->whole = ru > 0;
    x->ru = ru > 0 ? ru : 1;
    for (int r = 0; r < x->ru; r++) strip_pointers(x, r);
    for (int v = 0; v < x->c->nvalue; v++)
        for (int r = 0; r < x->ru; r++)
            if (clf_ctext_level(x, v) == 1 && x->uses[v]) clf_ctext_compute(x, v, 1, r);
    scalar_stores(x, 2);
    each_row_fold(x, clf_fold_row_open);
    bool whole = x->whole || x->p->kind == CLF_CELL_ROWS || x->p->kind == CLF_CELL_NARROW;
    CLF_PUT(x, "const long cells = %s;\n", whole ? x->strip : "m");
    if (leaves)
        CLF_PUT(x, "for (long j0 = 0; j0 < cells; j0 += 512) {\nconst long e1 = min(j0 + 512, cells);\n");
    else
        CLF_PUT(x, "{ const long j0 = 0, e1 = cells;\n");
    for (int s = 0; s < x->c->nsink; s++) {
        clf_cell_fold f = clf_cell_fold_of(x->p, &x->c->sink[s]);
        if (f == CLF_CELL_ROWFOLD || (flat && f == CLF_CELL_FULLFOLD))
            for (int r = 0; r < x->ru; r++) clf_fold_lanes(x, s, r);
    }
    clf_ctext_spans(x);
    each_row_fold(x, clf_fold_row_leaf);
    if (flat && x->p->nfull)
        clf_fold_full_leaf(x);
    else if (x->p->nfull)
        clf_fold_tile_flush(x);
    CLF_PUT(x, "}\n");
    each_row_fold(x, clf_fold_row_close);
}

void clf_ctext_once(clf_ctext *x) {
    char buf[CLF_EMIT_NAME];
    bool any = false;
    x->once = true;
    x->ru = 1;
    x->whole = false;
    scalar_stores(x, 1);
    for (int s = 0; s < x->c->nsink; s++) {
        int o = x->c->sink[s].out[0];
        if (store_class(x, &x->c->sink[s]) != 3) continue;
        any = true;
        CLF_PUT(x, "__global %s *z%d_0 = o%d + ob%d;\n", clf_emit_type(buf, (clf_dtype)x->c->out[o].dtype, 1), s, o, o);
    }
    if (any) {
        CLF_PUT(x, "{ const long j0 = 0, e1 = %s;\n", x->strip);
        clf_ctext_spans(x);
        CLF_PUT(x, "}\n");
    }
    x->once = false;
}
