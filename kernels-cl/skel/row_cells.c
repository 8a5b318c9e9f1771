/* SPDX-License-Identifier: Apache-2.0
 * Sweeps of row.chunk over cells: the loops of cell_text.c along one inner axis, what they compute and keep, and what takes values at
 * their end. */
#include <string.h>

#include "kernels-cl/skel/row_text.h"

#include "core/print.h"

static bool takes_cells(const clf_rtext *w, int s) { return clf_rtext_at(w, s) == w->t && w->p->sweep[w->t].kind == CLF_ROW_CELLS; }

/* Folds inside a row that this sweep makes: values, and sinks that keep i. */
static bool row_fold(const clf_rtext *w, int s) {
    const clf_sink *k = &w->c.sink[s];
    if (!takes_cells(w, s)) return false;
    return s >= w->nsink || (k->kind == CLF_SINK_FOLD && k->keep == 1u);
}
static bool full_fold(const clf_rtext *w, int s) {
    const clf_sink *k = &w->c.sink[s];
    return s < w->nsink && k->kind == CLF_SINK_FOLD && k->keep == 0 && takes_cells(w, s);
}

static int second_of(const clf_sink *k) { return k->kind == CLF_SINK_DOT ? k->value[1] : -1; }

/* The loop of the sweep in which a sink takes its values. */
static int stage_of(const clf_rtext *w, int s) {
    const clf_sink *k = &w->c.sink[s];
    int b = second_of(k), stage = w->x.stage[k->value[0]];
    return b >= 0 && w->x.stage[b] > stage ? w->x.stage[b] : stage;
}

static void use(clf_rtext *w, int v, int stage) {
    if (v >= 0) w->x.uses[v] |= (uint64_t)1 << stage;
}

/* What this sweep computes, in which of its loops, and which loops read it. */
static void schedule(clf_rtext *w) {
    enum { MAX_STAGES = 63 };
    uint64_t taken = 0;
    clf_ctext *x = &w->x;
    int n = w->c.nvalue;
    uint8_t need[CLF_ROW_VALUES];
    clf_row_needs(w->p, w->t, need);
    memset(x->stage, 0, (size_t)n);
    memset(x->uses, 0, (size_t)n * sizeof *x->uses);
    memset(w->held, 0, (size_t)n);
    x->stages = 1;
    for (int v = 0; v < n; v++) {
        const clf_value *q = &w->c.value[v];
        int s = 0;
        if (need[v] == 2) w->held[v] = CLF_HELD_READ;
        if (need[v] == 1 && w->p->value[v].kept && w->p->value[v].at == w->t) w->held[v] = CLF_HELD_WRITE;
        if (need[v] != 1 || clf_ctext_is_read(x, v)) continue;
        for (int k = 0; k < 3; k++)
            if (q->in[k] >= 0 && x->stage[q->in[k]] > s) s = x->stage[q->in[k]];
        if (clf_op_is_cell(q->op) && (clf_ops[q->op].flags & F_ELEM)) {
            while (s < MAX_STAGES && (taken >> s & 1)) s++;
            taken |= (uint64_t)1 << s;
        }
        x->stage[v] = (uint8_t)s;
        if (s + 1 > x->stages) x->stages = s + 1;
    }
    for (int s = 0; s < w->c.nsink; s++) {
        if (!takes_cells(w, s)) continue;
        int stage = stage_of(w, s);
        use(w, w->c.sink[s].value[0], stage);
        use(w, second_of(&w->c.sink[s]), stage);
    }
    for (int v = n - 1; v >= 0; v--) {
        if (w->held[v] == CLF_HELD_WRITE) use(w, v, x->stage[v]);
        if (need[v] != 1 || clf_ctext_is_read(x, v)) continue;
        for (int k = 0; k < 3; k++)
            if (x->uses[v]) use(w, w->c.value[v].in[k], x->stage[v]);
    }
}

/* Lanes of dot s in row r take vectors of both factors. */
static void dot_step(clf_rtext *w, int s, int r) {
    clf_ctext *x = &w->x;
    const clf_sink *k = &w->c.sink[s];
    clf_dtype t = clf_ctext_type(x, s);
    int width = w->p->width, lanes = clf_lanes(t);
    char buf[CLF_EMIT_NAME], rest[16], y[CLF_FOLD_NAME], z[CLF_FOLD_NAME];
    clf_fold_vars f;
    memset(&f, 0, sizeof f);
    CLF_NAME(f.s[0], "f%dl0_%d", s, r);
    clf_fold_bind(x, s, r);
    CLF_PUT(x, "const %s z = ", clf_emit_type(buf, t, width));
    clf_ctext_operand(x, k->value[1], width, r);
    CLF_PUT(x, ";\n");
    for (int at = 0; at < width; at += lanes) {
        const char *name = clf_emit_type(buf, t, 1);
        if (at) {
            CLF_NAME(y, "CLF_UPPER(%s, %d, y)", name, lanes);
            CLF_NAME(z, "CLF_UPPER(%s, %d, z)", name, lanes);
        } else {
            CLF_NAME(y, "y%s", lanes == width ? "" : ".lo");
            CLF_NAME(z, "z%s", lanes == width ? "" : ".lo");
        }
        clf_print(rest, sizeof rest, "r - %d", at);
        f.v = y;
        f.k = z;
        CLF_PUT(x, "{ ");
        clf_fold_masked_step(x, s, lanes, &f, x->tail ? rest : NULL);
        CLF_PUT(x, "}\n");
    }
    CLF_PUT(x, "}\n");
}

static void take(clf_rtext *w, int s) {
    clf_ctext *x = &w->x;
    const clf_sink *k = &w->c.sink[s];
    if (row_fold(w, s)) {
        for (int r = 0; r < x->ru; r++)
            if (k->kind == CLF_SINK_DOT)
                dot_step(w, s, r);
            else
                clf_fold_step(x, s, r);
    } else if (full_fold(w, s)) {
        clf_fold_tile_step(x, s);
    } else if (k->kind == CLF_SINK_STORE) {
        for (int r = 0; r < x->ru; r++) clf_ctext_store_vector(x, s, r);
    } else {
        clf_rcols_step(w, s);
    }
}

void clf_rtext_take(clf_ctext *x) {
    clf_rtext *w = (clf_rtext *)x;
    for (int s = 0; s < w->c.nsink; s++)
        if (takes_cells(w, s) && stage_of(w, s) == x->now) take(w, s);
    if (x->now == 0) clf_rtext_fetch(w, w->p->width, "u");
}

static bool any(const clf_rtext *w, bool (*kind)(const clf_rtext *, int)) {
    for (int s = 0; s < w->c.nsink; s++)
        if (kind(w, s)) return true;
    return false;
}

static void each_row_fold(clf_rtext *w, void (*f)(clf_ctext *, int, int)) {
    for (int s = 0; s < w->c.nsink; s++)
        for (int r = 0; row_fold(w, s) && r < w->x.ru; r++) f(&w->x, s, r);
}

/* The value that fold s makes, in row r. */
static void made_value(clf_rtext *w, int s, int r) {
    clf_ctext *x = &w->x;
    clf_fold_vars f;
    char buf[CLF_EMIT_NAME];
    int v = w->made[s - w->nsink];
    memset(&f, 0, sizeof f);
    CLF_PUT(x, "%s v%d_%d;\n", clf_emit_type(buf, (clf_dtype)w->c.value[v].dtype, 1), v, r);
    clf_fold_row_merge(x, s, r);
    clf_fold_wide_names(x, s, r, f.s);
    CLF_PUT(x, "{ ");
    clf_fold_result(x, s, 1, &f, "z_");
    CLF_PUT(x, "v%d_%d = z_; }\n", v, r);
}

static void close_row_folds(clf_rtext *w) {
    for (int s = 0; s < w->c.nsink; s++)
        for (int r = 0; row_fold(w, s) && r < w->x.ru; r++)
            if (s < w->nsink)
                clf_fold_row_close(&w->x, s, r);
            else
                made_value(w, s, r);
}

void clf_rtext_cells(clf_rtext *w) {
    clf_ctext *x = &w->x;
    bool folds = any(w, row_fold), full = any(w, full_fold);
    clf_rtext_along(w, w->p->sweep[w->t].axis);
    clf_rtext_stack(w, w->p->sweep[w->t].axis);
    schedule(w);
    each_row_fold(w, clf_fold_row_open);
    CLF_PUT(x, "{ const long cells = %s;\n", x->strip);
    if ((folds || full) && w->cell.kind == CLF_CELL_ROWS)
        CLF_PUT(x, "for (long j0 = 0; j0 < cells; j0 += 512) {\nconst long e1 = min(j0 + 512, cells);\n");
    else
        CLF_PUT(x, "{ const long j0 = 0, e1 = cells;\n");
    each_row_fold(w, clf_fold_lanes);
    clf_ctext_spans(x);
    for (int s = 0; s < w->c.nsink; s++)
        if (row_fold(w, s)) clf_fold_row_leaves(x, s, x->ru, 1);
    if (full) clf_fold_tile_flush(x);
    CLF_PUT(x, "} }\n");
    close_row_folds(w);
}
