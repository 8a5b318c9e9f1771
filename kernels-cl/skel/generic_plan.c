/* SPDX-License-Identifier: Apache-2.0
 * From a cplan to instructions (see generic_plan.h). Values keep their order, a value's sinks follow it at once, and a register is free
 * again behind the last operator that reads it, so a chain needs two. */
#include "kernels-cl/skel/generic_plan.h"

#include <string.h>

enum { VALUES = 64, NOWHERE = 255 };

/* A translation under way. */
typedef struct translation {
    clf_generic *g;
    const clf_cplan *c;
    uint8_t place[VALUES]; /* of each value */
    int last[VALUES];      /* the last operator that reads it; -1: none */
    bool used[VALUES];     /* some sink needs it */
    bool busy[CLF_GEN_REGS];
    int nscalar;
    bool failed;
} translation;

/* ---- does it fit? ---- */

static bool value_fits(const clf_value *v, clf_dtype t) {
    return v->dtype == t && (clf_op_is_cell(v->op) || v->op == CLF_V_LOAD || v->op == CLF_V_PARAM);
}

static bool sink_fits(const clf_cell *p, const clf_sink *s, clf_dtype t) {
    clf_dtype out = (clf_dtype)p->c->out[s->out[0]].dtype;
    if (s->kind == CLF_SINK_STORE) return out == t && (p->live == 0 || (s->keep & p->live) == p->live);
    clf_fold_id f = (clf_fold_id)s->fold;
    return clf_cell_fold_of(p, s) == CLF_CELL_FULLFOLD && s->value[1] < 0 && clf_fold_value_type(f, t) == t &&
           out == clf_fold_result_type(f, t) && clf_cell_states(s) <= CLF_GEN_STATE;
}

static int arity(const clf_value *v) { return clf_op_is_cell(v->op) ? clf_ops[v->op].arity : 0; }

static void mark_used(const clf_cplan *c, bool *used) {
    for (int s = 0; s < c->nsink; s++) used[c->sink[s].value[0]] = true;
    for (int v = c->nvalue - 1; v >= 0; v--)
        for (int k = 0; used[v] && k < arity(&c->value[v]); k++) used[c->value[v].in[k]] = true;
}

static bool fits(clf_generic *g, const clf_cplan *c) {
    bool used[VALUES] = {false};
    if (c->nvalue < 1 || c->nvalue > VALUES || c->nin > CLF_GEN_INPUTS || c->nout > CLF_GEN_OUTPUTS || c->nparam > CLF_GEN_PARAMS ||
        g->cell.kind != CLF_CELL_FLAT)
        return false;
    mark_used(c, used);
    g->t = c->nsink ? (clf_dtype)c->value[c->sink[0].value[0]].dtype : CLF_U8;
    if (g->t != CLF_F64 && g->t != CLF_F32) return false;
    for (int v = 0; v < c->nvalue; v++)
        if (used[v] && !value_fits(&c->value[v], g->t)) return false;
    for (int k = 0; k < c->nparam; k++)
        if (c->param[k] != g->t) return false;
    for (int k = 0; k < c->nin; k++)
        if (c->in[k].dtype != g->t) return false;
    for (int s = 0; s < c->nsink; s++)
        if (!sink_fits(&g->cell, &c->sink[s], g->t)) return false;
    return true;
}

/* ---- places ---- */

static bool is_scalar(const translation *x, int v) { return clf_cell_level(&x->g->cell, x->c->value[v].axes) == 0; }

static int take_scalar(translation *x) {
    if (x->nscalar < CLF_GEN_SCALARS) return CLF_GEN_SCALAR0 + x->nscalar++;
    x->failed = true;
    return 0;
}

static int take_register(translation *x) {
    for (int r = 0; r < CLF_GEN_REGS; r++)
        if (!x->busy[r]) {
            x->busy[r] = true;
            if (r >= x->g->nreg) x->g->nreg = r + 1;
            return r;
        }
    x->failed = true;
    return 0;
}

static int take_access(translation *x, int a) {
    clf_generic *g = x->g;
    clf_cell_at at;
    clf_cell_access(&g->cell, &x->c->access[a], &at);
    if (g->naccess == CLF_GEN_ACCESSES) {
        x->failed = true;
        return 0;
    }
    bool along = (at.axes & g->cell.live) != 0;
    g->base[g->naccess] = at.base;
    g->reads |= (int64_t)(x->c->access[a].input | (along ? 8 : 0)) << 4 * g->naccess;
    return CLF_GEN_ACCESS0 + g->naccess++;
}

/* The output that takes a value cell by cell straight from its operator; -1: none. */
static int direct_output(const translation *x, int v) {
    for (int s = 0; s < x->c->nsink; s++)
        if (x->c->sink[s].kind == CLF_SINK_STORE && x->c->sink[s].value[0] == v) return x->c->sink[s].out[0];
    return -1;
}

/* ---- instructions ---- */

static void put(translation *x, int op, int to, int a, int b, int c) {
    clf_generic *g = x->g;
    if (g->ncode == CLF_GEN_CODE)
        x->failed = true;
    else
        g->code[g->ncode++] = (int64_t)op | (int64_t)to << 8 | (int64_t)a << 16 | (int64_t)b << 24 | (int64_t)c << 32;
}

static void put_cell(translation *x, int v, int to) {
    const clf_value *w = &x->c->value[v];
    int in[3];
    for (int k = 0; k < 3; k++) in[k] = x->place[k < arity(w) ? w->in[k] : w->in[0]];
    put(x, w->op, to, in[0], in[1], in[2]);
}

static void translate_scalar(translation *x, int v) {
    const clf_value *w = &x->c->value[v];
    int from = w->op == CLF_V_LOAD ? take_access(x, w->arg) : w->arg;
    x->place[v] = (uint8_t)take_scalar(x);
    if (clf_op_is_cell(w->op))
        put_cell(x, v, x->place[v]);
    else
        put(x, w->op == CLF_V_LOAD ? CLF_GEN_LOAD : CLF_GEN_PARAM, x->place[v], from, 0, 0);
}

static void release(translation *x, int v) {
    const clf_value *w = &x->c->value[v];
    for (int k = 0; k < arity(w); k++)
        if (x->last[w->in[k]] == v && x->place[w->in[k]] < CLF_GEN_REGS) x->busy[x->place[w->in[k]]] = false;
}

static void translate_vector(translation *x, int v) {
    const clf_value *w = &x->c->value[v];
    if (w->op == CLF_V_LOAD) {
        x->place[v] = (uint8_t)take_access(x, w->arg);
        return;
    }
    int out = direct_output(x, v);
    release(x, v);
    int to = out >= 0 ? CLF_GEN_OUTPUT0 + out : take_register(x);
    put_cell(x, v, to);
    x->place[v] = (uint8_t)to;
}

static void translate_sinks(translation *x, int v) {
    clf_generic *g = x->g;
    for (int s = 0; s < x->c->nsink; s++) {
        const clf_sink *k = &x->c->sink[s];
        if (k->value[0] != v) continue;
        int to = CLF_GEN_OUTPUT0 + k->out[0];
        if (k->kind == CLF_SINK_STORE) {
            g->stores |= (int64_t)1 << k->out[0];
            if (x->place[v] != to) put(x, CLF_GEN_COPY, to, x->place[v], 0, 0);
        } else if (g->nfold == CLF_GEN_FOLDS) {
            x->failed = true;
        } else {
            put(x, CLF_GEN_FOLD0 + k->fold, g->nfold, x->place[v], 0, 0);
            g->folds |= (int64_t)(k->fold | k->out[0] << 8) << 16 * g->nfold++;
        }
    }
    if (x->last[v] < 0 && x->place[v] < CLF_GEN_REGS) x->busy[x->place[v]] = false;
}

static bool translate(clf_generic *g, const clf_cplan *c) {
    translation x = {.g = g, .c = c};
    memset(x.place, NOWHERE, sizeof x.place);
    mark_used(c, x.used);
    for (int v = 0; v < c->nvalue; v++) {
        x.last[v] = -1;
        for (int k = 0; x.used[v] && k < arity(&c->value[v]); k++) x.last[c->value[v].in[k]] = v;
    }
    for (int v = 0; v < c->nvalue; v++)
        if (x.used[v] && is_scalar(&x, v)) translate_scalar(&x, v);
    g->nonce = g->ncode;
    for (int v = 0; v < c->nvalue && !x.failed; v++) {
        if (!x.used[v]) continue;
        if (!is_scalar(&x, v)) translate_vector(&x, v);
        translate_sinks(&x, v);
    }
    return !x.failed;
}

/* ---- scratch ---- */

static void lay_out(clf_generic *g) {
    const clf_cell *p = &g->cell;
    g->states = (p->chunks + 1) * (p->ent + 1);
    g->areas = (g->states + (p->chunks + 1) * p->ent * g->nfold * CLF_GEN_STATE + 7) / 8 * 8;
    g->area = (int64_t)g->nreg * CLF_LEAF + (int64_t)CLF_GEN_SCALARS * CLF_GEN_SCALAR_CELLS;
    g->tails = g->areas + p->chunks * g->area;
    g->words = g->tails + (int64_t)(CLF_GEN_ACCESSES + CLF_GEN_OUTPUTS) * CLF_LEAF;
}

bool clf_generic_plan(clf_generic *g, const clf_cplan *c, int cores) {
    memset(g, 0, sizeof *g);
    if (!clf_cell_plan(&g->cell, c, cores) || !fits(g, c) || !translate(g, c)) return false;
    if (!g->cell.nfull) g->cell.ent = 1;
    lay_out(g);
    return true;
}
