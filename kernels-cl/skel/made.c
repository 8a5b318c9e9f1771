/* SPDX-License-Identifier: Apache-2.0
 * Sinks for values that are folds (see made.h). */
#include "kernels-cl/skel/made.h"

#include <string.h>

static clf_sink sink_of(const clf_value *v, int out) {
    bool dot = v->op == CLF_V_DOT;
    return (clf_sink){.kind = dot ? CLF_SINK_DOT : CLF_SINK_FOLD,
                      .fold = (uint8_t)(dot ? CLF_FOLD_SUM : v->arg),
                      .keep = 1,
                      .value = {v->in[0], dot ? v->in[1] : -1, -1, -1},
                      .key = {dot ? v->arg : -1, -1},
                      .guard = -1,
                      .order = -1,
                      .out = {out, -1, -1, -1}};
}

bool clf_made_sinks(clf_cplan *out, int32_t **made, const clf_cplan *c, clf_arena *arena) {
    int extra = 0;
    for (int v = 0; v < c->nvalue; v++) extra += clf_is_made(&c->value[v]);
    *out = *c;
    out->value = clf_arena_new(arena, (size_t)c->nvalue, sizeof *out->value);
    out->sink = clf_arena_new(arena, (size_t)(c->nsink + extra), sizeof *out->sink);
    out->out = clf_arena_new(arena, (size_t)(c->nout + extra), sizeof *out->out);
    *made = clf_arena_new(arena, (size_t)extra, sizeof **made);
    if (!out->value || !out->sink || !out->out || !*made) return false;
    memcpy(out->value, c->value, (size_t)c->nvalue * sizeof *out->value);
    memcpy(out->sink, c->sink, (size_t)c->nsink * sizeof *out->sink);
    memcpy(out->out, c->out, (size_t)c->nout * sizeof *out->out);
    for (int s = 0; s < c->nsink; s++)
        if (out->sink[s].kind == CLF_SINK_DOT) out->sink[s].key[0] = out->sink[s].fold, out->sink[s].fold = CLF_FOLD_SUM;
    for (int v = 0; v < c->nvalue; v++) {
        if (!clf_is_made(&c->value[v])) continue;
        (*made)[out->nsink - c->nsink] = v;
        out->out[out->nout] = (clf_coutput){.dtype = c->value[v].dtype};
        out->sink[out->nsink++] = sink_of(&c->value[v], out->nout++);
    }
    return true;
}
