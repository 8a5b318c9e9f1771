/* SPDX-License-Identifier: Apache-2.0
 * From a cplan over rows to one over cells, for cell.generic to translate (see generic_rows.h): a dot becomes a load of an input that is not
 * there, a sum over rows a store. What their places are in the instructions that come of it is found again by the numbers of input and
 * output. */
#include "kernels-cl/skel/generic_rows.h"

#include <string.h>

#include "kernels-cl/skel/generic_made.h"
#include "kernels-cl/skel/strides.h"

enum { CHUNKS_PER_CORE = 32, MIN_CHUNK_CELLS = 4096 };

typedef struct cells {
    clf_generic_made m;
    clf_generic_rows *r;
    struct {
        int matrix;
        int64_t base, step, vector;
    } dot[CLF_GEN_DOTS];
} cells;

/* ---- operands ---- */

/* A load of the matrix, or of a vector along its rows, in memory without gaps. */
static bool load_of(const cells *x, int v, uint32_t axes, int *input, int64_t *base, int64_t *step) {
    const clf_value *w = &x->m.from->value[v];
    clf_strides s;
    if (w->op != CLF_V_LOAD || w->axes != axes || w->dtype != x->m.t) return false;
    const clf_access *a = &x->m.from->access[w->arg];
    if (a->protocol != CLF_STREAM || !clf_strides_of(x->m.from, a, &s) || (s.step[1] != 1 && x->r->inner > 1)) return false;
    *input = a->input;
    *base = s.base;
    *step = s.step[0];
    return true;
}

static const clf_value vector_load = {.op = CLF_V_LOAD, .axis = -1, .axes = 1, .in = {-1, -1, -1}};

/* An input of its own, of a cell a row. */
static bool add_dot(cells *x, int v) {
    const clf_value *w = &x->m.from->value[v];
    int d = x->r->ndot, in = x->m.c.nin, second;
    int64_t none;
    if (d == CLF_GEN_DOTS || in == CLF_GEN_INPUTS || w->axis != 1 || w->arg != 0 || w->dtype != x->m.t) return false;
    if (clf_dot_lanes(x->m.from, w, NULL) != clf_lanes(x->m.t)) return false;
    int q = x->m.from->value[w->in[0]].axes == 3u ? 0 : 1;
    if (!load_of(x, w->in[q], 3u, &x->dot[d].matrix, &x->dot[d].base, &x->dot[d].step)) return false;
    if (!load_of(x, w->in[!q], 2u, &second, &x->dot[d].vector, &none)) return false;
    const clf_access a = {.input = in, .rank = 1, .at = {{.axis = 0, .value = -1, .mul = 1}}};
    x->m.in[x->m.c.nin++] = (clf_cinput){.dtype = (uint8_t)x->m.t, .rank = 1, .dim = {x->m.axis.n}};
    clf_value *to = &x->m.value[x->m.c.nvalue];
    *to = vector_load;
    to->dtype = (uint8_t)x->m.t;
    to->arg = clf_generic_made_access(&x->m, &a);
    x->r->vector[d] = x->dot[d].vector;
    x->r->dots |= (int64_t)(CLF_GEN_LINK | second) << 8 * d;
    x->r->ndot++;
    return to->arg >= 0;
}

/* ---- values ---- */

static bool add_cell(cells *x, int v) {
    x->m.value[x->m.c.nvalue] = x->m.from->value[v];
    return clf_generic_made_operands(&x->m);
}

static bool add_load(cells *x, int v) {
    const clf_access *a = &x->m.from->access[x->m.from->value[v].arg];
    if (!add_cell(x, v) || a->protocol != CLF_STREAM) return false;
    x->m.value[x->m.c.nvalue].arg = clf_generic_made_access(&x->m, a);
    return x->m.value[x->m.c.nvalue].arg >= 0;
}

static bool add_value(cells *x, int v) {
    const clf_value *w = &x->m.from->value[v];
    if (w->axes & ~1u) return false;
    bool good = w->op == CLF_V_DOT ? add_dot(x, v) : w->op == CLF_V_LOAD ? add_load(x, v) : add_cell(x, v);
    x->m.as[v] = x->m.c.nvalue++;
    return good;
}

/* ---- sinks ---- */

/* The rows' factor of a sum over rows; -1: it is none. */
static int factor_of(const cells *x, const clf_sink *s) {
    if (s->kind != CLF_SINK_DOT || s->fold != 0 || s->keep != 2u || s->guard >= 0) return -1;
    for (int q = 0; q < 2; q++)
        if (x->m.from->value[s->value[q]].axes == 3u && !(x->m.from->value[s->value[!q]].axes & ~1u)) return s->value[!q];
    return -1;
}

static bool add_columns(cells *x, const clf_sink *s, clf_sink *to) {
    clf_generic_rows *r = x->r;
    int k = r->ncol, input, o = s->out[0], factor = factor_of(x, s);
    if (k == CLF_GEN_COLS || factor < 0) return false;
    if (!load_of(x, s->value[0] == factor ? s->value[1] : s->value[0], 3u, &input, &r->base[k], &r->step[k])) return false;
    *to = (clf_sink){.kind = CLF_SINK_STORE,
                     .keep = 1,
                     .value = {x->m.as[factor], -1, -1, -1},
                     .key = {-1, -1},
                     .guard = -1,
                     .order = -1,
                     .out = {o, -1, -1, -1}};
    if (x->m.from->out[o].dtype != x->m.t) return false;
    x->m.out[o] = (clf_coutput){.dtype = (uint8_t)x->m.t, .rank = 1, .dim = {x->m.axis.n}};
    r->cols |= (int64_t)(CLF_GEN_LINK | o << 3 | input) << 8 * r->ncol++;
    return to->value[0] >= 0;
}

static bool add_sink(cells *x, const clf_sink *s) {
    clf_sink *to = &x->m.sink[x->m.c.nsink++];
    if (s->kind == CLF_SINK_DOT) return add_columns(x, s, to);
    bool known = s->guard < 0 && (s->kind == CLF_SINK_STORE ? !(s->keep & ~1u) : s->kind == CLF_SINK_FOLD && !s->keep);
    *to = *s;
    to->over = 0;
    to->value[0] = x->m.as[s->value[0]];
    return known && to->value[0] >= 0 && (s->kind == CLF_SINK_STORE || clf_sink_loop(x->m.from, s) == 1u);
}

/* ---- the whole ---- */

static bool shape_fits(const clf_cplan *c) {
    if (c->naxes != 2 || c->nin > CLF_GEN_INPUTS || c->nout > CLF_GEN_OUTPUTS || c->nvalue > CLF_GEN_VALUES ||
        c->nsink > CLF_GEN_CELL_SINKS)
        return false;
    for (int a = 0; a < 2; a++)
        if (c->axis[a].kind != CLF_AXIS_RANGE || c->axis[a].n.n < 0 || c->axis[a].n.n > INT64_MAX / 4096) return false;
    for (int k = 0; k < c->nin; k++)
        if (c->in[k].format != 0) return false;
    return c->nsink > 0;
}

/* Values of rows that some sink needs; operands of dots and sums over rows are looked at there. */
static void note_used(cells *x) {
    const clf_cplan *c = x->m.from;
    for (int s = 0; s < c->nsink; s++) {
        int factor = factor_of(x, &c->sink[s]);
        x->m.used[factor >= 0 ? factor : c->sink[s].value[0]] = true;
    }
    clf_generic_made_use(&x->m);
}

static bool translate(cells *x) {
    const clf_cplan *c = x->m.from;
    clf_generic_made_begin(&x->m, &c->axis[0]);
    note_used(x);
    for (int v = 0; v < c->nvalue; v++)
        if (x->m.used[v] && !add_value(x, v)) return false;
    for (int s = 0; s < c->nsink; s++)
        if (!add_sink(x, &c->sink[s])) return false;
    return x->r->ndot + x->r->ncol > 0;
}

/* Accesses of dots read the matrix; outputs of sums over rows are nothing that is stored row by row. */
static void link(cells *x) {
    clf_generic *g = &x->r->g;
    for (int a = 0; a < g->naccess; a++) {
        int d = (int)(g->reads >> 8 * a & 7) - x->m.from->nin;
        if (d < 0) continue;
        g->reads &= ~(int64_t)((uint64_t)255 << 8 * a);
        g->reads |= (int64_t)x->dot[d].matrix << 8 * a;
        g->base[a] = x->dot[d].base;
        g->step[a] = x->dot[d].step;
        x->r->dots |= (int64_t)a << (8 * d + 3);
    }
    for (int k = 0; k < x->r->ncol; k++) g->stores &= ~((int64_t)1 << (x->r->cols >> (8 * k + 3) & 3));
}

/* ---- sizes ---- */

/* Work-items take whole leaves and whole blocks of columns. */
static void cut(clf_generic_rows *r, int cores) {
    clf_cell *p = &r->g.cell;
    int64_t most = CHUNKS_PER_CORE * (int64_t)(cores > 0 ? cores : 1), inner = r->inner > 0 ? r->inner : 1;
    r->block = r->ncol ? clf_col_block(p->n, r->inner) : CLF_LEAF;
    p->chunk = 1;
    while (p->chunk * CLF_LEAF < r->block || (p->chunk < p->strips && p->chunk * CLF_LEAF < MIN_CHUNK_CELLS / inner)) p->chunk *= 2;
    while ((p->strips + p->chunk - 1) / p->chunk > most) p->chunk *= 2;
    p->chunks = p->strips > p->chunk ? (p->strips + p->chunk - 1) / p->chunk : 1;
    r->g.run = p->chunk * CLF_LEAF;
    for (r->levels = 1; (r->block << (r->levels - 1)) < r->g.run; r->levels++) {
    }
}

static void lay_out(clf_generic_rows *r) {
    r->padded = (r->inner + 15) / 16 * 16 + 16;
    clf_generic_lay_out(&r->g);
    r->tiles = (r->g.words + 7) / 8 * 8;
    r->area = (int64_t)(CLF_GEN_DOTS + CLF_GEN_COLS) * CLF_GEN_BLOCK_WORDS + r->ncol * (1 + r->levels) * r->padded;
}

bool clf_generic_rows_plan(clf_generic_rows *r, const clf_cplan *c, int cores) {
    cells x = {.m.from = c, .r = r};
    memset(r, 0, sizeof *r);
    if (!shape_fits(c)) return false;
    x.m.t = (clf_dtype)c->value[c->sink[0].value[0]].dtype;
    r->inner = c->axis[1].n.n;
    if (!translate(&x) || !clf_generic_plan_made(&r->g, &x.m.c, cores, false) || r->g.cell.n != c->axis[0].n.n || r->g.rowwise)
        return false;
    link(&x);
    cut(r, cores);
    lay_out(r);
    r->g.cell.c = c;
    return true;
}
