/* SPDX-License-Identifier: Apache-2.0
 * What a work-item of row.group.cl does at a step: one position, or `width` of them side by side, whose operands and kept cells pass as
 * vectors. Arithmetic is that of single cells whatever the width (vector libraries have other bits for other widths, and GPUs take vectors
 * apart anyway): only what memory is asked for differs, so results cannot.
 *
 * What does not move along `beside` is computed once for all of a step. What moves along it alone, the axis being that of columns, is kept
 * from before the loop. Rows are whole runs of steps (band_width.c), so no step is shorter. */
#include "kernels-cl/skel/band_text.h"

static uint32_t beside(const clf_btext *t) { return t->width > 1 ? 1u << t->beside : 0; }
static const char *type_of(char *buf, int dtype, int width) { return clf_emit_type(buf, (clf_dtype)dtype, width); }

/* Is value v computed here, of those that move along axes of `inside` (or none), and along `beside`? */
static bool is_of(const clf_btext *t, int v, uint32_t inside, bool moves, bool along) {
    uint32_t axes = t->p->c->value[v].axes;
    return t->used[v] && !(axes & ~t->scope) && ((axes & inside) != 0) == moves && ((axes & beside(t)) != 0) == along;
}

static void put_values(clf_btext *t, uint32_t inside, bool moves, bool along) {
    for (int v = 0; v < t->p->c->nvalue; v++)
        if (is_of(t, v, inside, moves, along)) clf_btext_value(t, v);
}

/* The beginning of what is done for position e. */
static void begin_cell(clf_btext *t, int e) {
    t->now = e;
    CLF_PUT(&t->x, "{\nconst CLF_INDEX e_ = %d, u%d = u%df + e_;\n", e, t->beside, t->beside);
}

static void end_cell(clf_btext *t) {
    t->now = -1;
    CLF_PUT(&t->x, "}\n");
}

/* ---- before the loop ---- */

static void keep_columns(clf_btext *t, uint32_t inside) {
    const clf_cplan *c = t->p->c;
    char buf[CLF_EMIT_NAME];
    int kept = 0;
    for (int v = 0; v < c->nvalue; v++)
        for (int e = 0; e < t->width && is_of(t, v, inside, false, true); e++, kept++)
            CLF_PUT(&t->x, "%s k%d_%d; ", type_of(buf, c->value[v].dtype, 1), v, e);
    for (int e = 0; e < t->width && kept; e++) {
        begin_cell(t, e);
        put_values(t, inside, false, true);
        for (int v = 0; v < c->nvalue; v++)
            if (is_of(t, v, inside, false, true)) CLF_PUT(&t->x, "k%d_%d = v%d; ", v, e, v);
        end_cell(t);
    }
}

void clf_btext_before(clf_btext *t, uint32_t inside) {
    put_values(t, inside, false, false);
    if (t->width > 1) keep_columns(t, inside);
}

/* ---- vectors ---- */

bool clf_btext_is_vector(const clf_btext *t, int v) {
    const clf_value *w = &t->p->c->value[v];
    clf_strides s;
    if (t->width == 1 || !(w->axes & beside(t))) return false;
    if (clf_band_buffered(t->p, w)) return w->axes >> t->beside == 1u; /* no axis lies behind it */
    return w->op == CLF_V_LOAD && clf_strides_of(t->p->c, &t->p->c->access[w->arg], &s) && s.step[t->beside] == 1;
}

static void load_vectors(clf_btext *t, int k, uint32_t inside) {
    char vec[CLF_EMIT_NAME], elem[CLF_EMIT_NAME];
    for (int v = 0; v < t->p->c->nvalue; v++) {
        const clf_value *w = &t->p->c->value[v];
        if (!is_of(t, v, inside, true, true) || !clf_btext_is_vector(t, v)) continue;
        bool made = clf_band_buffered(t->p, w);
        CLF_PUT(&t->x, "const %s h%d = ", type_of(vec, w->dtype, t->width), v);
        if (made || clf_band_aligned(t->p, w->arg, k))
            CLF_PUT(&t->x, "CLF_WIDE_LOAD(%s, %d, %s, ", type_of(elem, w->dtype, 1), t->width, made ? "1" : "whole_");
        else
            CLF_PUT(&t->x, "vload%d(0, ", t->width);
        CLF_PUT(&t->x, made ? "m%d + " : "q%d + ", made ? v : w->arg);
        if (made)
            clf_btext_index(t, w->axes);
        else
            clf_btext_place(t, w->arg);
        CLF_PUT(&t->x, ");\n");
    }
    t->loaded = true;
}

static bool keeps(const clf_btext *t, int s, int k) { return t->p->item[s].job == k && !clf_btext_folds(t, s, k); }

static void store_vectors(clf_btext *t, int k) {
    char buf[CLF_EMIT_NAME], to[64];
    for (int s = 0; s < t->p->c->nsink; s++) {
        int o = t->p->c->sink[s].out[0], dtype = t->p->c->out[o].dtype;
        if (!keeps(t, s, k)) continue;
        CLF_PUT(&t->x, "CLF_WIDE_STORE(%s, %d, whole_, ", type_of(buf, dtype, 1), t->width);
        CLF_PUT(&t->x, "((%s)(", type_of(buf, dtype, t->width));
        for (int e = 0; e < t->width; e++) CLF_PUT(&t->x, "%sr%d_%d", e ? ", " : "", o, e);
        CLF_PUT(&t->x, ")), &%s)\n", clf_btext_result(t, s, "line", to));
    }
}

static bool asks_whole(const clf_btext *t, int k, int a) {
    const clf_job *j = &t->p->job[k];
    clf_strides s;
    return j->width > 1 && clf_band_aligned(t->p, a, k) && clf_strides_of(t->p->c, &t->p->c->access[a], &s) && s.step[j->beside] == 1;
}

/* Strides and offsets were asked about when the plan was made, which leaves the addresses of operands and results: one condition for all,
 * as devices have memory aligned, and a compiler takes one out of a loop. */
void clf_btext_whole(clf_btext *t) {
    const clf_cplan *c = t->p->c;
    char buf[CLF_EMIT_NAME];
    if (t->p->width == 1) return;
    CLF_PUT(&t->x, "const bool whole_ = true");
    for (int a = 0; a < c->naccess; a++) {
        bool asks = false;
        for (int k = 0; k < t->p->njob; k++) asks = asks || asks_whole(t, k, a);
        if (asks) CLF_PUT(&t->x, " && CLF_ALIGNED(q%d, %s)", a, type_of(buf, c->in[c->access[a].input].dtype, t->p->width));
    }
    for (int s = 0; s < c->nsink; s++)
        if (t->p->job[t->p->item[s].job].width > 1 && keeps(t, s, t->p->item[s].job))
            CLF_PUT(&t->x, " && CLF_ALIGNED(r%d, %s)", c->sink[s].out[0], type_of(buf, c->out[c->sink[s].out[0]].dtype, t->p->width));
    CLF_PUT(&t->x, ";\n");
}

/* ---- the step ---- */

static void keep_cells(clf_btext *t, int k) {
    char to[64];
    for (int s = 0; s < t->p->c->nsink; s++) {
        if (!keeps(t, s, k)) continue;
        if (t->width > 1)
            CLF_PUT(&t->x, "r%d_%d = ", t->c.sink[s].out[0], t->now);
        else
            CLF_PUT(&t->x, "%s = ", clf_btext_result(t, s, "line", to));
        clf_ctext_store_cast(&t->x, s, 1, 0);
        CLF_PUT(&t->x, ";\n");
    }
}

static void take_columns(clf_btext *t, uint32_t inside) {
    char buf[CLF_EMIT_NAME];
    for (int v = 0; v < t->p->c->nvalue; v++)
        if (is_of(t, v, inside, false, true))
            CLF_PUT(&t->x, "const %s v%d = k%d_%d;\n", type_of(buf, t->p->c->value[v].dtype, 1), v, v, t->now);
}

static void declare_cells(clf_btext *t, int k) {
    char buf[CLF_EMIT_NAME];
    for (int s = 0; s < t->p->c->nsink; s++)
        for (int e = 0; e < t->width && keeps(t, s, k); e++)
            CLF_PUT(&t->x, "%s r%d_%d; ", type_of(buf, t->p->c->out[t->p->c->sink[s].out[0]].dtype, 1), t->p->c->sink[s].out[0], e);
}

void clf_btext_step(clf_btext *t, int k, uint32_t inside, const char *pos) {
    put_values(t, inside, true, false);
    if (t->width == 1) {
        clf_btext_steps(t, k, pos);
        keep_cells(t, k);
        return;
    }
    load_vectors(t, k, inside);
    declare_cells(t, k);
    for (int e = 0; e < t->width; e++) {
        begin_cell(t, e);
        take_columns(t, inside);
        put_values(t, inside, true, true);
        clf_btext_steps(t, k, pos);
        keep_cells(t, k);
        end_cell(t);
    }
    t->loaded = false;
    store_vectors(t, k);
}
