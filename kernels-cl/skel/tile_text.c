/* SPDX-License-Identifier: Apache-2.0
 * Values of tile.chunk's left side and result. What varies with columns or terms is a vector, everything else one number. */
#include <string.h>

#include "kernels-cl/skel/tile_text.h"

#include "core/print.h"

static const clf_value *val(const clf_ttext *w, int v) { return &w->p->c->value[v]; }

static int width(const clf_ttext *w, int v) { return val(w, v)->axes & clf_tile_inner(w->p, w->left) ? w->p->lanes : 1; }

static void operand(clf_ttext *w, int v, int wide) {
    char buf[CLF_EMIT_NAME];
    bool splat = wide > width(w, v);
    if (splat) CLF_PUT(&w->x, "((%s)(", clf_emit_type(buf, (clf_dtype)val(w, v)->dtype, wide));
    CLF_PUT(&w->x, splat ? "v%d))" : "v%d", v);
}

/* ---- one value ---- */

static void load(clf_ttext *w, const clf_value *q, int wide) {
    char at[96], buf[CLF_EMIT_NAME];
    int64_t base, si;
    int a = q->arg;
    clf_dtype t = (clf_dtype)w->p->c->in[w->p->c->access[a].input].dtype;
    clf_tile_at(w->p, &w->p->c->access[a], w->left ? w->p->l : w->p->j, &base, &si);
    int n = clf_print(at, sizeof at, "x%d + xb%d", a, a);
    if (q->axes & 1u) n += clf_print(at + n, sizeof at - (size_t)n, " + row * xl%d", a);
    if (wide > 1) clf_print(at + n, sizeof at - (size_t)n, " + col");
    if (wide == 1)
        CLF_PUT(&w->x, "*(%s)", at);
    else if (w->tail)
        CLF_PUT(&w->x, "%s_LOADT(%s, r)", clf_emit_run(&w->x.e, buf, t, wide), at);
    else
        CLF_PUT(&w->x, "CLF_VLOAD(__global, %s, %d, %s)", clf_emit_type(buf, t, 1), wide, at);
}

static void cell(clf_ttext *w, const clf_value *q, int wide) {
    char name[3][CLF_EMIT_NAME * 2];
    clf_dtype t = (clf_dtype)val(w, q->in[0])->dtype;
    for (int k = 0; k < 3; k++) {
        clf_str *out = w->x.e.out, one;
        clf_str_init(&one, out->mem);
        w->x.e.out = &one;
        if (q->in[k] >= 0) operand(w, q->in[k], wide);
        clf_print(name[k], sizeof name[k], "%s", clf_str_c(&one));
        out->failed = out->failed || one.failed;
        clf_str_release(&one);
        w->x.e.out = out;
    }
    const clf_emit_name names[] = {{"a", name[0]}, {"b", name[1]}, {"c", name[2]}, {NULL, NULL}};
    clf_emit_cast(&w->x.e, t, (clf_dtype)q->dtype, wide);
    clf_emit_text(&w->x.e, clf_ops[q->op].text, t, wide, names);
    CLF_PUT(&w->x, ")");
}

static void index_of(clf_ttext *w, const clf_value *q, int wide) {
    if (wide > 1)
        CLF_PUT(&w->x, "(long%d)(col) + (long%d)(CLF_IOTA_%d)", wide, wide, wide);
    else
        CLF_PUT(&w->x, q->arg == 0 ? "row" : "0");
}

static void declare(clf_ttext *w, int v) {
    const clf_value *q = val(w, v);
    char buf[CLF_EMIT_NAME];
    int wide = width(w, v);
    CLF_PUT(&w->x, "const %s v%d = ", clf_emit_type(buf, (clf_dtype)q->dtype, wide), v);
    switch (q->op) {
    case CLF_V_DOT: CLF_PUT(&w->x, "CLF_TILE_LOAD(sum)"); break;
    case CLF_V_LOAD: load(w, q, wide); break;
    case CLF_V_PARAM: CLF_PUT(&w->x, "p%d", q->arg); break;
    case CLF_V_INDEX: index_of(w, q, wide); break;
    case CLF_V_CAST:
        clf_emit_cast(&w->x.e, (clf_dtype)val(w, q->in[0])->dtype, (clf_dtype)q->dtype, wide);
        operand(w, q->in[0], wide);
        CLF_PUT(&w->x, ")");
        break;
    default: cell(w, q, wide);
    }
    CLF_PUT(&w->x, ";\n");
}

/* ---- scopes ---- */

void clf_ttext_setup(clf_ctext *x) {
    clf_ttext *w = (clf_ttext *)x;
    w->left = w->tail = false;
    for (int v = 0; v < w->p->c->nvalue; v++)
        if (w->p->want[v] && !val(w, v)->axes) declare(w, v);
}

void clf_ttext_values(clf_ttext *w, bool left, bool tail) {
    w->left = left;
    w->tail = tail;
    for (int v = 0; v < w->p->c->nvalue; v++)
        if ((w->p->want[v] & (left ? CLF_TILE_LEFT : CLF_TILE_RESULT)) && val(w, v)->axes) declare(w, v);
}

void clf_ttext_stores(clf_ttext *w, bool tail) {
    char type[CLF_EMIT_NAME], one[CLF_EMIT_NAME], at[64];
    int wide = w->p->lanes;
    clf_ttext_values(w, false, tail);
    for (int s = 0; s < w->p->c->nsink; s++) {
        int o = w->p->c->sink[s].out[0], v = w->p->c->sink[s].value[0];
        clf_dtype t = (clf_dtype)w->p->c->out[o].dtype;
        clf_print(at, sizeof at, "o%d + ob%d + row * cols + col", o, o);
        CLF_PUT(&w->x, "{ const %s y = ", clf_emit_type(type, t, wide));
        clf_emit_cast(&w->x.e, (clf_dtype)val(w, v)->dtype, t, wide);
        operand(w, v, wide);
        CLF_PUT(&w->x, "); ");
        if (tail)
            CLF_PUT(&w->x, "%s_STORET(y, %s, r); }\n", clf_emit_run(&w->x.e, type, t, wide), at);
        else
            CLF_PUT(&w->x, "CLF_VSTORE(__global, %s, %d, y, %s); }\n", clf_emit_type(one, t, 1), wide, at);
    }
}
