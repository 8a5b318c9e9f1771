/* SPDX-License-Identifier: Apache-2.0
 * What entry.chunk can serve: the spaces its values live in, and a task for every sink and every fold that runs over entries or a short
 * axis (see entry_plan.h). Invariant: a cplan that gets through has only accesses, values and tasks that the writers know. */
#include <string.h>

#include "formats/fmt.h"
#include "kernels-cl/skel/entry_plan.h"
#include "kernels-cl/skel/strides.h"

bool clf_entry_access(const clf_entry *p, const clf_access *a, clf_entry_at *out) {
    clf_strides s;
    if (!clf_strides_of(p->c, a, &s)) return false;
    uint32_t inner = s.axes & ~(1u | 1u << p->e);
    if (inner & (inner - 1)) return false; /* along two short axes */
    *out = (clf_entry_at){.base = s.base, .si = s.step[0], .se = s.step[p->e], .k = inner ? __builtin_ctz(inner) : -1, .axes = s.axes};
    if (inner) out->sk = s.step[out->k];
    return true;
}

int clf_entry_along(const clf_entry *p, uint32_t axes) {
    uint32_t inner = axes & ~(1u | 1u << p->e);
    return inner ? __builtin_ctz(inner) : -1;
}

/* ---- axes and spaces ---- */

/* The main operand's entries; cells of another CSR operand there; cells of a dense one. */
static bool access_ok(const clf_entry *p, const clf_access *x) {
    uint8_t format = p->c->in[x->input].format;
    clf_entry_at at;
    if (x->protocol == CLF_STREAM) return format == CLF_DENSE && clf_entry_access(p, x, &at);
    if (format != CLF_CSR || x->protocol != (x->input == p->csr ? CLF_ENTRIES : CLF_LOCATE)) return false;
    for (int d = 0; d < 2; d++)
        if (x->at[d].axis != (d ? p->e : 0) || x->at[d].mul != 1 || x->at[d].add != 0) return false;
    return true;
}

bool clf_entry_axes(clf_entry *p) {
    const clf_cplan *c = p->c;
    p->e = -1;
    if (c->naxes < 2 || c->axis[0].kind != CLF_AXIS_RANGE || c->axis[0].n.n < 0) return false;
    for (int a = 1; a < c->naxes; a++) {
        const clf_axis *x = &c->axis[a];
        if (x->kind == CLF_AXIS_ENTRY && p->e < 0 && x->parent == 0)
            p->e = a;
        else if (x->kind != CLF_AXIS_RANGE || x->n.n < 1 || x->n.n > CLF_ENTRY_EXTENT)
            return false;
    }
    if (p->e < 0) return false;
    p->csr = c->access[c->axis[p->e].owner].input;
    for (int a = 0; a < c->naccess; a++)
        if (!access_ok(p, &c->access[a])) return false;
    return c->nvalue <= CLF_ENTRY_VALUES;
}

static int space_of(const clf_entry *p, uint32_t axes) {
    int k = clf_entry_along(p, axes);
    bool entry = axes >> p->e & 1;
    if (k >= 0) return entry ? CLF_AT_SIDE : CLF_AT_ALONG;
    if (entry || (p->by_entry && (axes & 1))) return CLF_AT_ENTRY;
    return axes & 1 ? CLF_AT_ROW : CLF_AT_ONCE;
}

bool clf_entry_is_pair(const clf_entry *p, int v) {
    const clf_value *w = &p->c->value[v];
    return w->op == CLF_V_DOT && w->axis != p->e && (w->axes >> p->e & 1);
}

bool clf_entry_is_located(const clf_entry *p, int v) {
    const clf_value *w = &p->c->value[v];
    return w->op == CLF_V_LOAD && p->c->access[w->arg].protocol == CLF_LOCATE;
}

static bool is_side_load(const clf_entry *p, int v) { return p->space[v] == CLF_AT_SIDE && p->c->value[v].op == CLF_V_LOAD; }

/* Do operands of spaces a and b make a DOT over this axis? */
static bool dot_ok(const clf_entry *p, const clf_value *w) {
    int a = w->in[0], b = w->in[1], sa = p->space[a], sb = p->space[b];
    bool one_lane = clf_dot_lanes(p->c, w, NULL) == 1;
    if (w->axis == p->e) {
        if (sa == CLF_AT_ENTRY && is_side_load(p, b))
            return clf_entry_extent(p, clf_entry_along(p, p->c->value[b].axes)) <= CLF_ENTRY_ACROSS;
        return !one_lane && (sa == CLF_AT_ENTRY || sb == CLF_AT_ENTRY) && sa <= CLF_AT_ENTRY && sb <= CLF_AT_ENTRY;
    }
    if (one_lane) return false;
    return (sa == CLF_AT_ALONG && (sb == CLF_AT_ALONG || is_side_load(p, b))) || (is_side_load(p, a) && sb == CLF_AT_ALONG);
}

static bool value_ok(const clf_entry *p, int v) {
    const clf_value *w = &p->c->value[v];
    if (w->op == CLF_V_LOAD) return true;
    if (p->space[v] == CLF_AT_SIDE) return false;
    if (clf_op_is_cell(w->op) || w->op == CLF_V_CAST) {
        for (int k = 0; k < 3; k++)
            if (w->in[k] >= 0 && !(p->space[w->in[k]] < CLF_AT_ENTRY || p->space[w->in[k]] == p->space[v])) return false;
        return true;
    }
    switch (w->op) {
    case CLF_V_PARAM:
    case CLF_V_INDEX: return true;
    case CLF_V_FOLD:
        if (w->in[1] >= 0 && !clf_entry_rest_fits(p, w->arg, w->in[1])) return false;
        return p->space[w->in[0]] == (w->axis == p->e ? CLF_AT_ENTRY : CLF_AT_ALONG);
    case CLF_V_DOT: return dot_ok(p, w);
    default: return false;
    }
}

static bool spaces_ok(clf_entry *p) {
    for (int v = 0; v < p->c->nvalue; v++) {
        const clf_value *w = &p->c->value[v];
        bool over = (w->op == CLF_V_FOLD || w->op == CLF_V_DOT) && w->axis == p->e;
        if (over && p->by_entry) return false;
        p->space[v] = (uint8_t)space_of(p, w->axes);
        p->ready[v] = 0;
        for (int k = 0; k < 3; k++)
            if (w->in[k] >= 0 && p->ready[w->in[k]] > p->ready[v]) p->ready[v] = p->ready[w->in[k]];
        p->ready[v] = (uint8_t)(p->ready[v] + over);
        p->made[v] = -1;
        if (!value_ok(p, v)) return false;
    }
    return true;
}

/* ---- tasks ---- */

static uint8_t later(const clf_entry *p, int a, int b) { return b >= 0 && p->ready[b] > p->ready[a] ? p->ready[b] : p->ready[a]; }

static int add_task(clf_entry *p, clf_entry_task_kind kind, int value, int a, int b) {
    if (p->ntask == CLF_ENTRY_TASKS) return -1;
    clf_entry_task *t = &p->task[p->ntask];
    *t = (clf_entry_task){(uint8_t)kind, later(p, a, b), (int16_t)value, 0, (int16_t)a, (int16_t)b, -1, 0, -1, false};
    return p->ntask++;
}

/* The sink that the writers of folds see. */
static void stand_in(clf_entry *p, int task, int fold, uint32_t keep, int out) {
    p->sink[task] = (clf_sink){.kind = CLF_SINK_FOLD, .fold = (uint8_t)fold, .keep = keep, .value = {p->task[task].a, -1, -1, -1}};
    p->sink[task].out[0] = out;
}

/* Axes a sink's operands vary with. */
static uint32_t operand_axes(const clf_entry *p, const clf_entry_task *d) {
    return p->c->value[d->a].axes | (d->b >= 0 ? p->c->value[d->b].axes : 0);
}

static bool store_sink(clf_entry *p, int t, const clf_sink *k) {
    clf_entry_task *d = &p->task[t];
    int space = p->space[d->a];
    d->axis = (int8_t)clf_entry_along(p, k->keep);
    if (k->keep == 0) return space == CLF_AT_ONCE;
    if (p->by_entry || !(k->keep & 1) || space == CLF_AT_ENTRY) return false;
    return d->axis < 0 ? space <= CLF_AT_ROW : k->keep == (1u | 1u << d->axis);
}

static bool pattern_sink(clf_entry *p, int t, const clf_sink *k) {
    (void)k;
    p->task[t].kind = CLF_DO_PATTERN;
    return p->space[p->task[t].a] <= CLF_AT_ENTRY;
}

static bool total_sink(clf_entry *p, int t, uint32_t axes) {
    clf_entry_task *d = &p->task[t];
    p->sink[t].keep = 1;
    d->kind = CLF_DO_TOTAL;
    d->axis = (int8_t)clf_entry_along(p, axes);
    d->place = (int16_t)p->ntotal;
    p->ntotal += d->axis < 0 ? 1 : (int)clf_entry_extent(p, d->axis);
    return p->space[d->a] == CLF_AT_ROW || (p->space[d->a] == CLF_AT_ALONG && (axes & 1));
}

static bool fold_sink(clf_entry *p, int t, const clf_sink *k) {
    clf_entry_task *d = &p->task[t];
    int space = p->space[d->a];
    uint32_t e = 1u << p->e, axes = operand_axes(p, d);
    bool column = k->keep == e, along = space == CLF_AT_ALONG;
    stand_in(p, t, k->fold, column ? p->cell.j : k->keep, k->out[0]);
    if (clf_sink_loop(p->c, k) != (k->keep | axes)) return false;
    if (k->value[1] >= 0 && (k->keep || !p->by_entry || !clf_entry_rest_fits(p, k->fold, k->value[1]))) return false;
    d->rest = (int16_t)k->value[1];
    if (k->keep == 0 && !p->by_entry) return total_sink(p, t, axes);
    d->kind = k->keep == 0 ? CLF_DO_FULL : column ? CLF_DO_SCATTER : along ? CLF_DO_ALONG_FOLD : CLF_DO_FOLD;
    if (k->keep == 0) return space == CLF_AT_ENTRY && (axes & e);
    if (p->by_entry || column) return !p->by_entry && space == CLF_AT_ENTRY;
    if (along) d->axis = (int8_t)clf_entry_along(p, axes);
    return k->keep == 1 && (space == CLF_AT_ENTRY || (along && (axes & 1)));
}

static bool dot_sink(clf_entry *p, int t, const clf_sink *k) {
    clf_entry_task *d = &p->task[t];
    uint32_t e = 1u << p->e;
    int along = clf_entry_along(p, k->keep);
    if (p->by_entry || !(k->keep & e) || clf_sink_loop(p->c, k) != (k->keep | operand_axes(p, d))) return false;
    stand_in(p, t, CLF_FOLD_SUM, p->cell.j, k->out[0]);
    d->kind = along < 0 ? CLF_DO_SCATTER_DOT : CLF_DO_SCATTER_ROWS;
    d->axis = (int8_t)along;
    d->skip = k->fold;
    if (along < 0) return p->space[d->a] <= CLF_AT_ENTRY && p->space[d->b] <= CLF_AT_ENTRY;
    if (p->space[d->a] == CLF_AT_ALONG) {
        d->a = (int16_t)k->value[1];
        d->b = (int16_t)k->value[0];
        d->skip = (uint8_t)(k->fold >> 1 | (k->fold & 1) << 1);
    }
    d->turned = along < p->e;
    return k->keep == (e | 1u << along) && clf_entry_extent(p, along) <= CLF_ENTRY_ACROSS && p->space[d->b] == CLF_AT_ALONG &&
           p->space[d->a] == CLF_AT_ENTRY;
}

static bool sink_task(clf_entry *p, int s) {
    static bool (*const by_kind[])(clf_entry *, int, const clf_sink *) = {
        [CLF_SINK_STORE] = store_sink, [CLF_SINK_FOLD] = fold_sink, [CLF_SINK_PATTERN] = pattern_sink, [CLF_SINK_APPEND] = NULL,
        [CLF_SINK_SCATTER] = NULL,     [CLF_SINK_GROUP] = NULL,     [CLF_SINK_DOT] = dot_sink};
    const clf_sink *k = &p->c->sink[s];
    if (k->guard >= 0 || !by_kind[k->kind] || p->space[k->value[0]] == CLF_AT_SIDE) return false;
    int t = add_task(p, CLF_DO_STORE, -1, k->value[0], k->kind == CLF_SINK_DOT ? k->value[1] : -1);
    if (t < 0) return false;
    p->sink[t] = *k;
    p->out[k->out[0]] = p->c->out[k->out[0]];
    return by_kind[k->kind](p, t, k);
}

static bool value_task(clf_entry *p, int v) {
    const clf_value *w = &p->c->value[v];
    if ((w->op != CLF_V_FOLD && w->op != CLF_V_DOT) || clf_entry_is_pair(p, v)) return true;
    bool dot = w->op == CLF_V_DOT, over = w->axis == p->e, side = dot && over && p->space[w->in[1]] == CLF_AT_SIDE;
    int t = add_task(p,
                     over  ? (dot ? CLF_DO_DOT : CLF_DO_FOLD)
                     : dot ? CLF_DO_ALONG_DOT
                           : CLF_DO_ALONG_FOLD,
                     v, w->in[0], dot ? w->in[1] : -1);
    if (t < 0 || p->by_entry) return false; /* its rows have no place of their own */
    if (side) p->task[t].kind = clf_dot_lanes(p->c, w, NULL) == 1 ? CLF_DO_ROWS_OF : CLF_DO_ACROSS;
    p->task[t].axis = (int8_t)(side ? clf_entry_along(p, p->c->value[w->in[1]].axes) : over ? -1 : w->axis);
    if (dot) p->task[t].skip = (uint8_t)w->arg;
    if (!dot) p->task[t].rest = (int16_t)w->in[1];
    if (!dot) p->task[t].sweep = later(p, w->in[0], w->in[1]);
    stand_in(p, t, dot ? CLF_FOLD_SUM : w->arg, 1, p->c->nout + v);
    p->out[p->c->nout + v] = (clf_coutput){.dtype = w->dtype};
    p->made[v] = (int16_t)t;
    return true;
}

static bool tasks_ok(clf_entry *p) {
    p->ntask = p->ntotal = 0;
    if (p->c->nout + p->c->nvalue > CLF_ENTRY_TASKS) return false;
    for (int s = 0; s < p->c->nsink; s++)
        if (!sink_task(p, s)) return false;
    for (int v = 0; v < p->c->nvalue; v++)
        if (!value_task(p, v)) return false;
    p->sweeps = 0;
    p->rests = false;
    for (int t = 0; t < p->ntask; t++) {
        uint8_t k = p->task[t].kind;
        bool entries = k != CLF_DO_STORE && k != CLF_DO_TOTAL && k != CLF_DO_ALONG_FOLD && k != CLF_DO_ALONG_DOT;
        p->rests = p->rests || p->task[t].rest >= 0;
        if (entries && p->task[t].sweep + 1 > p->sweeps) p->sweeps = p->task[t].sweep + 1;
    }
    p->shadow = *p->c;
    p->shadow.sink = p->sink;
    p->shadow.nsink = p->ntask;
    p->shadow.out = p->out;
    return true;
}

bool clf_entry_walk(clf_entry *p, bool by_entry) {
    p->by_entry = by_entry;
    p->cell.c = &p->shadow;
    p->cell.i = 1;
    p->cell.j = 1u << p->e;
    p->cell.kind = by_entry ? CLF_CELL_FLAT : CLF_CELL_ROWS;
    p->cell.live = p->cell.i | p->cell.j;
    return spaces_ok(p) && tasks_ok(p);
}
