/* SPDX-License-Identifier: Apache-2.0
 * From a cplan to instructions (see generic_plan.h). Values keep their order, a value's sinks follow it at once. A value that the next
 * operator alone reads stays in the accumulator; a register is free again behind the last operator that reads it. */
#include "kernels-cl/skel/generic_translate.h"

#include <string.h>

/* ---- places ---- */

static int take_scalar(clf_gen_translation *x) {
    if (x->nscalar < CLF_GEN_SCALARS) return CLF_GEN_SCALAR0 + x->nscalar++;
    x->failed = true;
    return 0;
}

int clf_gen_take_register(clf_gen_translation *x) {
    for (int r = 0; r < CLF_GEN_REGS; r++)
        if (!x->busy[r]) {
            x->busy[r] = true;
            if (r >= x->g->nreg) x->g->nreg = r + 1;
            return r;
        }
    x->failed = true;
    return 0;
}

static int take_access(clf_gen_translation *x, int a) {
    clf_generic *g = x->g;
    clf_cell_at at;
    clf_cell_access(&g->cell, &x->c->access[a], &at);
    if (g->naccess == CLF_GEN_ACCESSES) {
        x->failed = true;
        return 0;
    }
    int how = clf_generic_way(&g->cell, &at);
    if (how & (CLF_GEN_ROW | CLF_GEN_COLUMN)) g->repeats = true;
    g->base[g->naccess] = at.base;
    g->step[g->naccess] = at.si;
    g->reads |= (int64_t)(x->c->access[a].input | how) << 8 * g->naccess;
    return CLF_GEN_ACCESS0 + g->naccess++;
}

/* The output that takes a value cell by cell straight from its operator; -1: none. */
static int direct_output(const clf_gen_translation *x, int v) {
    for (int s = 0; s < x->c->nsink; s++)
        if (x->c->sink[s].kind == CLF_SINK_STORE && x->c->sink[s].value[0] == v) return x->c->sink[s].out[0];
    return -1;
}

/* ---- instructions ---- */

bool clf_generic_long(int op) {
    static const uint8_t is_short[CLF_NCLASSES] = {[CLF_CLASS_ADD] = 1, [CLF_CLASS_CMP] = 1, [CLF_CLASS_DIV] = 1, [CLF_CLASS_SQRT] = 1};
    return !is_short[clf_ops[op].class_];
}

bool clf_gen_is_sunk(const clf_cplan *c, int v) {
    for (int s = 0; s < c->nsink; s++)
        if (c->sink[s].value[0] == v) return true;
    return false;
}

/* What the accumulator holds while values are gone through: the last one computed, and the one before that. */
typedef struct held {
    int last, second;
} held;

/* Operators that find v, computed just before, in the accumulator take it there once, and the other times from memory. */
static void note_operands(clf_gen_translation *x, int v, const held *h) {
    const clf_value *w = &x->c->value[v];
    bool spent = clf_generic_long(w->op);
    for (int k = 0; k < clf_generic_arity(w); k++) {
        x->kept[w->in[k]] = x->kept[w->in[k]] || w->in[k] != h->last || spent;
        spent = spent || w->in[k] == h->last;
    }
}

/* One instruction for v and the value computed just before, where v combines that with what the accumulator held then. */
static bool note_pair(clf_gen_translation *x, int v, const held *h) {
    const clf_value *w = &x->c->value[v], *u = h->last < 0 ? NULL : &x->c->value[h->last];
    if (!u || h->second < 0 || clf_generic_arity(w) != 2 || x->reads[h->last] != 1) return false;
    int acc = w->in[0] == h->second && w->in[1] == h->last ? 0 : w->in[1] == h->second && w->in[0] == h->last ? 1 : -1;
    if (acc < 0 || clf_generic_pair(w->op, acc, u->op) < 0) return false;
    for (int k = 0; k < clf_generic_arity(u); k++) x->kept[u->in[k]] = true;
    x->fused[h->last] = true;
    x->first[v] = h->last;
    return true;
}

static void note_kept(clf_gen_translation *x) {
    held h = {-1, -1};
    for (int v = 0; v < x->c->nvalue; v++) {
        bool computed = clf_generic_arity(&x->c->value[v]) && !clf_gen_is_scalar(x, v);
        if (!x->used[v] || x->ahead[v]) continue;
        bool pair = computed && note_pair(x, v, &h);
        if (!pair && clf_generic_arity(&x->c->value[v])) note_operands(x, v, &h);
        if (computed || clf_gen_is_sunk(x->c, v)) h = (held){computed ? v : -1, computed && !pair ? h.last : -1};
    }
}

void clf_gen_put(clf_gen_translation *x, int op, int to, int a, int b, int c) {
    clf_generic *g = x->g;
    if (g->ncode == CLF_GEN_CODE)
        x->failed = true;
    else
        g->code[g->ncode++] = (int64_t)op | (int64_t)to << 16 | (int64_t)a << 24 | (int64_t)b << 32 | (int64_t)c << 40;
}

static void put_cell(clf_gen_translation *x, int v, int to) {
    const clf_value *w = &x->c->value[v];
    int in[3] = {0}, from = 0;
    for (int k = 0; k < clf_generic_arity(w); k++) {
        bool taken = !from && w->in[k] == x->acc && !clf_generic_long(w->op);
        if (taken)
            from = 1 + k;
        else
            in[k] = x->place[w->in[k]];
    }
    clf_gen_put(x, 4 * w->op + from, to, in[0], in[1], in[2]);
    x->acc = v;
}

/* With the accumulator, which holds the other operand of v. */
static void put_pair(clf_gen_translation *x, int v, int to) {
    const clf_value *w = &x->c->value[v], *u = &x->c->value[x->first[v]];
    int acc = w->in[0] == x->first[v], in[2] = {0};
    for (int k = 0; k < clf_generic_arity(u); k++) in[k] = x->place[u->in[k]];
    if (x->acc != w->in[acc]) x->failed = true;
    clf_gen_put(x, clf_generic_pair(w->op, acc, u->op), to, in[0], in[1], 0);
    x->acc = v;
}

static void translate_scalar(clf_gen_translation *x, int v) {
    const clf_value *w = &x->c->value[v];
    int from = w->op == CLF_V_LOAD ? take_access(x, w->arg) - CLF_GEN_ACCESS0 : w->arg;
    x->place[v] = (uint8_t)take_scalar(x);
    x->acc = -1;
    if (clf_op_is_cell(w->op))
        put_cell(x, v, x->place[v]);
    else
        clf_gen_put(x, w->op == CLF_V_LOAD ? CLF_GEN_LOAD : CLF_GEN_PARAM, x->place[v], from, 0, 0);
}

static void release(clf_gen_translation *x, int v) {
    const clf_value *w = &x->c->value[v];
    for (int k = 0; k < clf_generic_arity(w); k++)
        if (x->last[w->in[k]] == v && x->place[w->in[k]] < CLF_GEN_REGS && !x->ahead[w->in[k]]) x->busy[x->place[w->in[k]]] = false;
}

void clf_gen_translate_load(clf_gen_translation *x, int v) {
    if (x->place[v] == CLF_GEN_NO_PLACE) x->place[v] = (uint8_t)take_access(x, x->c->value[v].arg);
}

static void translate_vector(clf_gen_translation *x, int v) {
    if (x->c->value[v].op == CLF_V_LOAD) {
        clf_gen_translate_load(x, v);
        return;
    }
    if (x->fused[v] || x->ahead[v]) return;
    int out = direct_output(x, v);
    release(x, v);
    if (x->first[v] >= 0) release(x, x->first[v]);
    int to = out >= 0 ? CLF_GEN_OUTPUT0 + out : x->kept[v] ? clf_gen_take_register(x) : CLF_GEN_NOWHERE;
    if (x->first[v] >= 0)
        put_pair(x, v, to);
    else
        put_cell(x, v, to);
    x->place[v] = (uint8_t)to;
    clf_gen_ahead_behind(x, v);
}

static void translate_store(clf_gen_translation *x, int v, int out) {
    int to = CLF_GEN_OUTPUT0 + out;
    x->g->stores |= (int64_t)1 << out;
    if (x->place[v] == to) return;
    clf_gen_put(x, x->acc == v ? CLF_GEN_KEEP : CLF_GEN_COPY, to, x->place[v], 0, 0);
    x->acc = v;
}

/* What the last instruction leaves in the accumulator goes to `to`, too; false: it goes elsewhere already. */
static bool aim(clf_generic *g, int to) {
    if (g->ncode == g->nonce || (g->code[g->ncode - 1] >> 16 & 63) != CLF_GEN_NOWHERE) return false;
    g->code[g->ncode - 1] ^= (int64_t)(CLF_GEN_NOWHERE ^ to) << 16;
    return true;
}

static void translate_fold(clf_gen_translation *x, int v, const clf_sink *k) {
    clf_generic *g = x->g;
    if (g->nfold == CLF_GEN_FOLDS) {
        x->failed = true;
        return;
    }
    int to = g->rowwise ? CLF_GEN_FOLD_TILE0 + g->nfold : CLF_GEN_NOWHERE;
    bool there = x->acc == v && (!g->rowwise || aim(g, to));
    if (!there) clf_gen_put(x, x->acc == v ? CLF_GEN_KEEP : CLF_GEN_COPY, to, x->place[v], 0, 0);
    x->acc = v;
    if (!g->rowwise) clf_gen_put(x, CLF_GEN_FOLD0 + k->fold, CLF_GEN_NOWHERE, g->nfold, 0, 0);
    g->folds |= (int64_t)(k->fold | k->out[0] << 8) << 16 * g->nfold++;
}

static void translate_sinks(clf_gen_translation *x, int v) {
    for (int s = 0; s < x->c->nsink; s++) {
        const clf_sink *k = &x->c->sink[s];
        if (k->value[0] != v) continue;
        if (k->kind == CLF_SINK_STORE)
            translate_store(x, v, k->out[0]);
        else
            translate_fold(x, v, k);
    }
    if (x->last[v] < 0 && x->place[v] < CLF_GEN_REGS) x->busy[x->place[v]] = false;
}

static void note_uses(clf_gen_translation *x) {
    const clf_cplan *c = x->c;
    memset(x->place, CLF_GEN_NO_PLACE, sizeof x->place);
    for (int v = 0; v < c->nvalue; v++) {
        x->last[v] = x->first[v] = -1;
        x->reads[v] += clf_gen_is_sunk(c, v);
        for (int k = 0; x->used[v] && k < clf_generic_arity(&c->value[v]); k++) {
            x->last[c->value[v].in[k]] = v;
            x->reads[c->value[v].in[k]]++;
        }
    }
    note_kept(x);
}

static bool translate(clf_generic *g, const clf_cplan *c, bool ahead) {
    clf_gen_translation x = {.g = g, .c = c};
    clf_generic_used(c, x.used);
    if (ahead) clf_gen_ahead_note(&x);
    note_uses(&x);
    for (int v = 0; v < c->nvalue; v++)
        if (x.used[v] && clf_gen_is_scalar(&x, v)) translate_scalar(&x, v);
    g->nonce = g->ncode;
    x.acc = -1;
    clf_gen_ahead_begin(&x);
    g->later = g->ncode;
    for (int v = 0; v < c->nvalue && !x.failed; v++) {
        if (!x.used[v]) continue;
        if (!clf_gen_is_scalar(&x, v)) translate_vector(&x, v);
        translate_sinks(&x, v);
    }
    clf_gen_ahead_end(&x);
    return !x.failed;
}

/* ---- scratch ---- */

void clf_generic_lay_out(clf_generic *g) {
    const clf_cell *p = &g->cell;
    g->states = (p->chunks + 1) * (p->ent + 1);
    g->areas = (g->states + (p->chunks + 1) * p->ent * g->nfold * CLF_GEN_STATE + 7) / 8 * 8;
    g->lanes = g->rowwise == CLF_GEN_OF_COLUMNS ? clf_col_lanes(p->cols, g->t) : 1;
    int64_t columns = g->lanes * p->cols + CLF_GEN_COL_ROOM + g->levels * (p->cols + CLF_GEN_COL_ROOM);
    g->area = (int64_t)(CLF_GEN_REGS + CLF_GEN_SCALARS) * CLF_GEN_BLOCK_WORDS + (g->repeats ? CLF_GEN_ACCESSES * CLF_GEN_TILE : 0) +
              (g->rowwise ? CLF_GEN_FOLDS * CLF_GEN_FOLD_TILE : 0) +
              (g->rowwise == CLF_GEN_OF_COLUMNS ? columns * CLF_GEN_STATE * g->nfold : 0);
    g->tails = g->areas + p->chunks * g->area;
    g->words = g->tails + (g->rowwise ? p->chunks : 1) * (CLF_GEN_ACCESSES + CLF_GEN_OUTPUTS) * CLF_LEAF;
}

static bool plan(clf_generic *g, const clf_cplan *c, int cores, bool rowwise, bool ahead) {
    memset(g, 0, sizeof *g);
    if (!clf_cell_plan(&g->cell, c, cores) || !clf_generic_fits(g, c, cores)) return false;
    if (rowwise) g->rowwise = CLF_GEN_OF_ROWS;
    if (!translate(g, c, ahead)) return false;
    if (!g->cell.nfull) g->cell.ent = 1;
    clf_generic_lay_out(g);
    return true;
}

/* Ahead takes registers, and instructions twice. */
bool clf_generic_plan(clf_generic *g, const clf_cplan *c, int cores) {
    return plan(g, c, cores, false, true) || plan(g, c, cores, false, false);
}
bool clf_generic_plan_made(clf_generic *g, const clf_cplan *c, int cores, bool rowwise) { return plan(g, c, cores, rowwise, false); }
