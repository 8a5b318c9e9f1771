/* SPDX-License-Identifier: Apache-2.0
 * From a cplan over rows and their stored entries to one over entries alone, for cell.generic to translate (see generic_cells.h). */
#include "kernels-cl/skel/generic_cells.h"

#include <string.h>

#include "kernels-cl/skel/strides.h"

static uint32_t entries_of(const clf_generic_cells *x) { return 1u | 1u << x->e; }

/* ---- operands ---- */

/* A value like v of the new plan, varying with its entries or with nothing. */
static clf_value *next_value(clf_generic_cells *x, int v) {
    clf_value *to = &x->m.value[x->m.c.nvalue];
    *to = x->m.from->value[v];
    to->axes = to->axes ? 1u : 0;
    return to;
}

static bool add_access(clf_generic_cells *x, const clf_access *a, clf_value *to) {
    to->op = CLF_V_LOAD;
    to->axis = -1;
    for (int k = 0; k < 3; k++) to->in[k] = -1;
    to->arg = clf_generic_made_access(&x->m, a);
    return to->arg >= 0;
}

/* A cell an entry, of input `in`. */
static bool add_cells_of(clf_generic_cells *x, int in, clf_value *to) {
    const clf_access a = {.input = in, .rank = 1, .at = {{.axis = 0, .value = -1, .mul = 1}}};
    x->m.in[in] = (clf_cinput){.dtype = (uint8_t)x->m.t, .rank = 1, .dim = {x->m.axis.n}};
    return add_access(x, &a, to);
}

static bool add_gathered(clf_generic_cells *x, const clf_generic_gathered *g, clf_value *to) {
    int in = x->m.c.nin;
    if (in == CLF_GEN_INPUTS) return false;
    x->gather[in] = *g;
    x->m.c.nin++;
    return add_cells_of(x, in, to);
}

static bool add_load(clf_generic_cells *x, int v) {
    const clf_access *a = &x->m.from->access[x->m.from->value[v].arg];
    clf_value *to = next_value(x, v);
    clf_strides s;
    if (a->protocol == CLF_ENTRIES) return a->input == x->r->csr && add_cells_of(x, a->input, to);
    if (a->protocol != CLF_STREAM || !clf_strides_of(x->m.from, a, &s) || s.axes & ~entries_of(x)) return false;
    if (!s.axes) return add_access(x, a, to);
    const clf_generic_gathered g = {.how = (s.axes & 1 ? CLF_GEN_BY_ROW : 0) | (s.axes & ~1u ? CLF_GEN_BY_COLUMN : 0),
                                    .input = a->input,
                                    .base = s.base,
                                    .down = s.step[0],
                                    .across = s.step[x->e]};
    return add_gathered(x, &g, to);
}

/* A load that varies with axis `along`, cell by cell in memory, and with nothing else but `with`. */
static bool factor_of(const clf_generic_cells *x, int v, int along, uint32_t with, int *input, clf_strides *s) {
    const clf_value *w = &x->m.from->value[v];
    if (w->op != CLF_V_LOAD || w->dtype != x->m.t) return false;
    const clf_access *a = &x->m.from->access[w->arg];
    *input = a->input;
    if (a->protocol != CLF_STREAM || !clf_strides_of(x->m.from, a, s) || !(s->axes >> along & 1)) return false;
    return !(s->axes & ~(with | 1u << along)) && (s->step[along] == 1 || x->m.from->axis[along].n.n == 1);
}

/* A dot of a row of one matrix with a row of another: the one of the entry's row, the other of its column. */
static bool add_pair(clf_generic_cells *x, int v) {
    const clf_value *w = &x->m.from->value[v];
    clf_generic_gathered g = {.how = CLF_GEN_PAIR};
    clf_strides a, b;
    if (w->axis == x->e || w->arg != 0 || w->dtype != x->m.t || x->r->npair == CLF_GEN_PAIRS) return false;
    if (x->m.from->axis[w->axis].kind != CLF_AXIS_RANGE || clf_dot_lanes(x->m.from, w, NULL) != clf_lanes(x->m.t)) return false;
    int q = x->m.from->value[w->in[0]].axes >> x->e & 1;
    if (!factor_of(x, w->in[q], w->axis, 1u, &g.input, &a) || !factor_of(x, w->in[!q], w->axis, 1u << x->e, &g.second, &b)) return false;
    int64_t inner = x->m.from->axis[w->axis].n.n;
    if (inner < 1 || inner > CLF_LEAF) return false;
    g.base = a.base;
    g.down = a.step[0];
    g.begins = b.base;
    g.across = b.step[x->e];
    g.inner = (int)inner;
    x->r->npair++;
    return add_gathered(x, &g, next_value(x, v));
}

/* ---- values ---- */

static bool add_cell(clf_generic_cells *x, int v) {
    next_value(x, v);
    return clf_generic_made_operands(&x->m);
}

static bool add_value(clf_generic_cells *x, int v) {
    const clf_value *w = &x->m.from->value[v];
    bool known = clf_op_is_cell(w->op) || w->op == CLF_V_PARAM || w->op == CLF_V_LOAD || w->op == CLF_V_DOT;
    if (!known || w->axes & ~entries_of(x)) return false;
    bool good = w->op == CLF_V_DOT ? add_pair(x, v) : w->op == CLF_V_LOAD ? add_load(x, v) : add_cell(x, v);
    x->m.as[v] = x->m.c.nvalue++;
    return good;
}

/* ---- sinks ---- */

/* Is v folded over a row's entries? */
static bool is_of_row(const clf_generic_cells *x, int v) {
    const clf_value *w = &x->m.from->value[v];
    return (w->op == CLF_V_FOLD || w->op == CLF_V_DOT) && w->axis == x->e;
}

static bool add_fold(clf_generic_cells *x, clf_fold_id f, int v, int out) {
    if (x->m.c.nsink == CLF_GEN_CELL_SINKS || v < 0) return false;
    x->m.sink[x->m.c.nsink++] = (clf_sink){.kind = CLF_SINK_FOLD,
                                           .fold = (uint8_t)f,
                                           .value = {v, -1, -1, -1},
                                           .key = {-1, -1},
                                           .guard = -1,
                                           .order = -1,
                                           .out = {out, -1, -1, -1}};
    x->m.out[out].rank = 0;
    return true;
}

/* Folds of rows give no positions: those would be columns. */
static bool add_row_fold(clf_generic_cells *x, int fold, int v, int out) {
    x->by_row = true;
    return !strchr(clf_folds[fold].step, 'k') && add_fold(x, (clf_fold_id)fold, x->m.as[v], out);
}

static bool add_row_dot(clf_generic_cells *x, const clf_value *w, int out) {
    int factor = x->m.c.nout;
    x->by_row = true;
    if (factor == CLF_GEN_OUTPUTS || clf_dot_lanes(x->m.from, w, NULL) != clf_lanes(x->m.t)) return false;
    x->m.out[factor] = (clf_coutput){.dtype = (uint8_t)x->m.t};
    x->m.c.nout++;
    x->skip[out] = w->arg;
    x->factor[out] = factor;
    return add_fold(x, CLF_FOLD_SUM, x->m.as[w->in[0]], out) && add_fold(x, CLF_FOLD_SUM, x->m.as[w->in[1]], factor);
}

static bool add_store(clf_generic_cells *x, const clf_sink *s) {
    const clf_value *w = &x->m.from->value[s->value[0]];
    if (s->keep != 1u || !is_of_row(x, s->value[0]) || w->dtype != x->m.from->out[s->out[0]].dtype) return false;
    if (w->op == CLF_V_DOT) return add_row_dot(x, w, s->out[0]);
    return w->in[1] < 0 && add_row_fold(x, w->arg, w->in[0], s->out[0]);
}

static bool add_pattern(clf_generic_cells *x, const clf_sink *s) {
    clf_sink *to = &x->m.sink[x->m.c.nsink];
    if (x->m.c.nsink++ == CLF_GEN_CELL_SINKS) return false;
    *to = *s;
    to->kind = CLF_SINK_STORE;
    to->keep = 1;
    to->value[0] = x->m.as[s->value[0]];
    x->m.out[s->out[0]].dim[0] = x->m.axis.n;
    return to->value[0] >= 0;
}

static bool add_sink(clf_generic_cells *x, const clf_sink *s) {
    if (s->guard >= 0) return false;
    if (s->kind == CLF_SINK_STORE) return add_store(x, s);
    if (s->kind == CLF_SINK_PATTERN) return add_pattern(x, s);
    if (s->kind != CLF_SINK_FOLD || s->value[1] >= 0 || clf_sink_loop(x->m.from, s) != entries_of(x)) return false;
    if (s->keep == 1u) return add_row_fold(x, s->fold, s->value[0], s->out[0]);
    x->whole = true;
    return s->keep == 0 && add_fold(x, (clf_fold_id)s->fold, x->m.as[s->value[0]], s->out[0]);
}

/* ---- the whole ---- */

static bool shape_fits(clf_generic_cells *x) {
    const clf_cplan *c = x->m.from;
    if (c->nin > CLF_GEN_INPUTS || c->nout > CLF_GEN_OUTPUTS || c->nvalue > CLF_GEN_VALUES || c->nsink < 1 || c->nsink > CLF_GEN_CELL_SINKS)
        return false;
    if (c->naxes < 2 || c->axis[0].kind != CLF_AXIS_RANGE || c->axis[0].n.n < 0) return false;
    for (int a = 1; a < c->naxes; a++) {
        if (c->axis[a].kind == CLF_AXIS_ENTRY && c->axis[a].parent == 0 && x->e == 0)
            x->e = a;
        else if (c->axis[a].kind != CLF_AXIS_RANGE)
            return false;
    }
    if (!x->e) return false;
    x->r->csr = c->access[c->axis[x->e].owner].input;
    for (int k = 0; k < c->nin; k++)
        if (c->in[k].format != (k == x->r->csr ? CLF_CSR : CLF_DENSE)) return false;
    x->m.t = (clf_dtype)c->in[x->r->csr].dtype;
    return true;
}

/* Values of entries that some sink needs; a fold of a row is none. */
static void note_used(clf_generic_cells *x) {
    const clf_cplan *c = x->m.from;
    for (int s = 0; s < c->nsink; s++) {
        int v = c->sink[s].value[0];
        bool row = is_of_row(x, v);
        x->m.used[row ? c->value[v].in[0] : v] = true;
        if (row && c->value[v].op == CLF_V_DOT) x->m.used[c->value[v].in[1]] = true;
    }
    clf_generic_made_use(&x->m);
}

/* How many entries there are matters nowhere: the kernel reads it. */
static void begin(clf_generic_cells *x) {
    clf_generic_made_begin(&x->m, &(clf_axis){.kind = CLF_AXIS_RANGE, .parent = -1, .owner = -1, .n = {(int64_t)2 * CLF_LEAF, -1}});
    x->m.in[x->r->csr] = (clf_cinput){.dtype = (uint8_t)x->m.t, .rank = 1, .dim = {x->m.axis.n}};
    for (int o = 0; o < CLF_GEN_OUTPUTS; o++) x->skip[o] = -1;
}

bool clf_generic_cells_of(clf_generic_cells *x, clf_generic_entries *r, const clf_cplan *c) {
    memset(x, 0, sizeof *x);
    x->r = r;
    x->m.from = c;
    if (!shape_fits(x)) return false;
    begin(x);
    note_used(x);
    for (int v = 0; v < c->nvalue; v++)
        if (x->m.used[v] && !add_value(x, v)) return false;
    for (int s = 0; s < c->nsink; s++)
        if (!add_sink(x, &c->sink[s])) return false;
    return !x->by_row || !x->whole;
}
