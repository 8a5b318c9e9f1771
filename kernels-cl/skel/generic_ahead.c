/* SPDX-License-Identifier: Apache-2.0
 * What cell.generic computes a block ahead (see generic_plan.h): which values, and where their instructions stand among the others. */
#include <string.h>

#include "kernels-cl/skel/generic_translate.h"

enum { AMONG = 5 }; /* other operators, at least */

/* ---- which ---- */

/* Cells that stand in memory without gaps, or one cell. */
static bool is_operand(const clf_gen_translation *x, int v) {
    const clf_value *w = &x->c->value[v];
    clf_cell_at at;
    if (clf_gen_is_scalar(x, v)) return true;
    return w->op == CLF_V_LOAD && clf_cell_access(&x->g->cell, &x->c->access[w->arg], &at) &&
           clf_generic_way(&x->g->cell, &at) == CLF_GEN_ALONG;
}

/* Where there are other operators enough to run meanwhile. */
void clf_gen_ahead_note(clf_gen_translation *x) {
    int n = 0, others = 0;
    for (int v = 0; v < x->c->nvalue; v++) {
        const clf_value *w = &x->c->value[v];
        bool computed = x->used[v] && clf_op_is_cell(w->op) && !clf_gen_is_scalar(x, v);
        bool fits = computed && n < CLF_GEN_AHEAD_MOST && clf_generic_divides(w->op) && !clf_gen_is_sunk(x->c, v);
        for (int k = 0; fits && k < clf_generic_arity(w); k++) fits = is_operand(x, w->in[k]);
        x->ahead[v] = fits;
        n += fits;
        others += computed && !fits;
    }
    if (others < AMONG) memset(x->ahead, 0, sizeof x->ahead);
    x->since = x->pace = n ? others / (2 * n) : 0;
}

/* ---- where ---- */

/* Half of it by the operator's case that leaves the accumulator alone; of this block, or of the next. */
static void put_ahead(clf_gen_translation *x, int v, int half, bool next) {
    const clf_value *w = &x->c->value[v];
    int in[2] = {0};
    for (int k = 0; k < clf_generic_arity(w); k++) {
        int place = x->place[w->in[k]];
        in[k] = next && place >= CLF_GEN_ACCESS0 ? place - CLF_GEN_ACCESS0 + CLF_GEN_AHEAD0 : place;
    }
    clf_gen_put(x, 4 * w->op + 3, CLF_GEN_NOWHERE, in[0], in[1], x->place[v]);
    x->g->code[x->g->ncode - 1] |= (int64_t)half << 48;
}

void clf_gen_ahead_begin(clf_gen_translation *x) {
    for (int v = 0; v < x->c->nvalue; v++) {
        if (!x->ahead[v]) continue;
        for (int k = 0; k < clf_generic_arity(&x->c->value[v]); k++)
            if (!clf_gen_is_scalar(x, x->c->value[v].in[k])) clf_gen_translate_load(x, x->c->value[v].in[k]);
        x->place[v] = (uint8_t)clf_gen_take_register(x);
        for (int half = 0; half < 2; half++) put_ahead(x, v, half, false);
    }
}

static void put_due(clf_gen_translation *x) {
    put_ahead(x, x->due[0], x->halves++, true);
    x->since = 0;
    if (x->halves < 2) return;
    x->halves = 0;
    x->ndue--;
    memmove(x->due, x->due + 1, (size_t)x->ndue * sizeof *x->due);
}

/* What is computed ahead and v reads last. */
static void note_due(clf_gen_translation *x, int v) {
    const clf_value *w = &x->c->value[v];
    for (int k = 0; k < clf_generic_arity(w); k++)
        if (x->ahead[w->in[k]] && x->last[w->in[k]] == v && (!k || w->in[k] != w->in[0])) x->due[x->ndue++] = w->in[k];
}

void clf_gen_ahead_behind(clf_gen_translation *x, int v) {
    if (x->first[v] >= 0) note_due(x, x->first[v]);
    note_due(x, v);
    if (++x->since >= x->pace && x->ndue > 0) put_due(x);
}

void clf_gen_ahead_end(clf_gen_translation *x) {
    while (x->ndue > 0) put_due(x);
}
