/* SPDX-License-Identifier: Apache-2.0
 * What a work-item of cell.group.cl does with the cells of a step: `width` of them side by side, whose operands and results pass as
 * vectors, or one after the other. Arithmetic is that of single cells whatever the width (vector libraries have other bits for other
 * widths, and GPUs take vectors apart anyway): only what memory is asked for differs, so results cannot.
 *
 * A step begins at p0 (and in column j0); its cells are p0, p0 + 1 ... Where rows are apart, all of them are in row i. What varies with
 * rows alone is computed once for all. Of a walk over columns what varies with columns alone is kept from before the loop: kN_E is value N
 * of the E-th column. mN is a vector of value N, rK_E what output K has of cell E until these are put together. */
#include "kernels-cl/skel/group_text.h"

/* A value is computed once; once a line; once a step; for every cell of one. Of walks over columns, a line is each of the columns. */
typedef enum level { ONCE, LINE, STEP, CELL } level;

static level level_of(const clf_gtext *g, int v, clf_walk_id k) {
    uint32_t axes = g->p->c->value[v].axes & (g->p->i | g->p->j);
    if (!axes) return ONCE;
    if ((k == CLF_WALK_ROWS && axes == g->p->i) || (k == CLF_WALK_COLS && axes == g->p->j)) return LINE;
    return axes & g->p->j || k == CLF_WALK_I ? CELL : STEP;
}

static const char *type_of(char *buf, int dtype, int width) { return clf_emit_type(buf, (clf_dtype)dtype, width); }
static int input_type(const clf_gtext *g, int a) { return g->p->c->in[g->p->c->access[a].input].dtype; }

/* ---- one value of one cell ---- */

/* Of the first cell of a step, in memory that runs as the cells do. */
static const char *const first_cell[CLF_NWALKS] = {"p0", "row + j0", "i * cols + j0", "p0", "p0", "p0"};

/* Where access a has the cell, or (first) the first one of the step. */
static void put_place(clf_gtext *g, int a, clf_walk_id k, bool first) {
    clf_group_at at;
    clf_group_access(g->p, &g->p->c->access[a], &at);
    if (at.linear) {
        CLF_PUT(&g->x, "%s", first ? first_cell[k] : "p");
        return;
    }
    if (at.axes & g->p->i) CLF_PUT(&g->x, "i * (CLF_INDEX)xi%d + ", a);
    if (at.axes & g->p->j) CLF_PUT(&g->x, first ? "j0" : "j");
    if (at.axes & g->p->j && at.sj != 1) CLF_PUT(&g->x, " * (CLF_INDEX)xj%d", a);
    if (!(at.axes & g->p->j)) CLF_PUT(&g->x, "0");
}

/* Is value v loaded as a vector of the cells of a step? */
static bool is_vector(const clf_gtext *g, int v, clf_walk_id k) {
    const clf_value *w = &g->p->c->value[v];
    clf_group_at at;
    if (!g->whole || g->p->walk[k].width == 1 || w->op != CLF_V_LOAD || level_of(g, v, k) != CELL) return false;
    return clf_group_access(g->p, &g->p->c->access[w->arg], &at) && (at.linear || (at.axes & g->p->j && at.sj == 1));
}

static void put_value(clf_gtext *g, int v, clf_walk_id k) {
    const clf_value *w = &g->p->c->value[v];
    char buf[CLF_EMIT_NAME];
    if (w->op != CLF_V_LOAD && w->op != CLF_V_INDEX) {
        clf_ctext_compute(&g->x, v, 1, 0);
        return;
    }
    CLF_PUT(&g->x, "const %s v%d = ", type_of(buf, w->dtype, 1), v);
    if (is_vector(g, v, k)) {
        CLF_PUT(&g->x, "m%d.s%d", v, g->cell_now);
    } else if (w->op == CLF_V_LOAD) {
        CLF_PUT(&g->x, "q%d[", w->arg);
        put_place(g, w->arg, k, false);
        CLF_PUT(&g->x, "]");
    } else {
        CLF_PUT(&g->x, 1u << w->arg == g->p->j ? "j" : "i");
    }
    CLF_PUT(&g->x, ";\n");
}

static void put_values(clf_gtext *g, clf_walk_id k, level want) {
    for (int v = 0; v < g->p->c->nvalue; v++)
        if (g->used[v] && level_of(g, v, k) == want) put_value(g, v, k);
}

/* ---- before the loop ---- */

/* Of each column that the work-item has: what varies with columns alone. */
static void put_columns(clf_gtext *g, int width) {
    const clf_cplan *c = g->p->c;
    char buf[CLF_EMIT_NAME];
    for (int v = 0; v < c->nvalue; v++)
        for (int e = 0; e < width && g->used[v] && level_of(g, v, CLF_WALK_COLS) == LINE; e++)
            CLF_PUT(&g->x, "%s k%d_%d; ", type_of(buf, c->value[v].dtype, 1), v, e);
    for (int e = 0; e < width; e++) {
        CLF_PUT(&g->x, "{\nconst CLF_INDEX j = j0 + %d;\n", e);
        put_values(g, CLF_WALK_COLS, LINE);
        for (int v = 0; v < c->nvalue; v++)
            if (g->used[v] && level_of(g, v, CLF_WALK_COLS) == LINE) CLF_PUT(&g->x, "k%d_%d = v%d; ", v, e, v);
        CLF_PUT(&g->x, "}\n");
    }
}

void clf_gtext_hoisted(clf_gtext *g, clf_walk_id k) {
    put_values(g, k, ONCE);
    if (k == CLF_WALK_COLS)
        put_columns(g, g->p->walk[k].width);
    else
        put_values(g, k, LINE);
}

static void take_columns(clf_gtext *g) {
    char buf[CLF_EMIT_NAME];
    for (int v = 0; v < g->p->c->nvalue; v++)
        if (g->used[v] && level_of(g, v, CLF_WALK_COLS) == LINE)
            CLF_PUT(&g->x, "const %s v%d = k%d_%d;\n", type_of(buf, g->p->c->value[v].dtype, 1), v, v, g->cell_now);
}

/* ---- vectors ---- */

/* whole_: may vectors of all operands and results be loaded and stored whole? Strides and offsets were asked about when the plan was made,
 * which leaves the addresses of their memory: one condition for all, as devices have memory aligned, and a compiler takes one out of a
 * loop. Where steps that are not whole have a loop of their own, they are those. */
bool clf_gtext_has_rest(const clf_gtext *g, clf_walk_id k) { return g->p->walk[k].width > 1 && k != CLF_WALK_COLS; }
static const char *whole_of(const clf_gtext *g, clf_walk_id k) { return clf_gtext_has_rest(g, k) ? "1" : "whole_"; }

static void put_loads(clf_gtext *g, clf_walk_id k) {
    clf_group_at at;
    char buf[CLF_EMIT_NAME], elem[CLF_EMIT_NAME];
    int width = g->p->walk[k].width;
    for (int v = 0; v < g->p->c->nvalue; v++) {
        int a = g->p->c->value[v].arg;
        if (!g->used[v] || !is_vector(g, v, k)) continue;
        clf_group_access(g->p, &g->p->c->access[a], &at);
        CLF_PUT(&g->x, "const %s m%d = ", type_of(buf, input_type(g, a), width), v);
        if (clf_group_aligned(g->p, &at))
            CLF_PUT(&g->x, "CLF_WIDE_LOAD(%s, %d, %s, q%d + ", type_of(elem, input_type(g, a), 1), width, whole_of(g, k), a);
        else
            CLF_PUT(&g->x, "vload%d(0, q%d + ", width, a);
        put_place(g, a, k, true);
        CLF_PUT(&g->x, ");\n");
    }
}

static bool keeps(const clf_gtext *g, int s, clf_walk_id k) {
    return clf_group_walk(g->p, &g->p->c->sink[s]) == k && !clf_gtext_folds(g, s, k);
}

static void declare_results(clf_gtext *g, clf_walk_id k) {
    char buf[CLF_EMIT_NAME];
    for (int s = 0; s < g->p->c->nsink; s++)
        for (int e = 0; e < g->p->walk[k].width && keeps(g, s, k); e++)
            CLF_PUT(&g->x, "%s r%d_%d; ", type_of(buf, g->p->c->out[g->p->c->sink[s].out[0]].dtype, 1), g->p->c->sink[s].out[0], e);
    CLF_PUT(&g->x, "\n");
}

static void put_stores(clf_gtext *g, clf_walk_id k) {
    char buf[CLF_EMIT_NAME];
    int width = g->p->walk[k].width;
    for (int s = 0; s < g->p->c->nsink; s++) {
        int o = g->p->c->sink[s].out[0];
        if (!keeps(g, s, k)) continue;
        CLF_PUT(&g->x, "CLF_WIDE_STORE(%s, %d, %s, ", type_of(buf, g->p->c->out[o].dtype, 1), width, whole_of(g, k));
        CLF_PUT(&g->x, "((%s)(", type_of(buf, g->p->c->out[o].dtype, width));
        for (int e = 0; e < width; e++) CLF_PUT(&g->x, "%sr%d_%d", e ? ", " : "", o, e);
        CLF_PUT(&g->x, ")), r%d + %s)\n", o, first_cell[k]);
    }
}

/* ---- the cells of a step ---- */

static const char *const at_cell[CLF_NWALKS] = {
    [CLF_WALK_FLAT] = "const CLF_INDEX p = p0 + %s, j = p;\n",
    [CLF_WALK_ROWS] = "const CLF_INDEX j = j0 + %s, p = row + j;\n",
    [CLF_WALK_COLS] = "const CLF_INDEX j = j0 + %s, p = i * cols + j;\n",
    [CLF_WALK_I] = "const CLF_INDEX p = p0 + %s, i = p;\n",
    [CLF_WALK_J] = "const CLF_INDEX p = p0 + %s, j = p;\n",
    [CLF_WALK_ONCE] = "const CLF_INDEX p = p0 + %s;\n",
};

static void put_sinks(clf_gtext *g, clf_walk_id k) {
    static const char *const pos[] = {"p", "j", "i", "", "", ""};
    const clf_cplan *c = g->p->c;
    bool apart = g->whole && g->p->walk[k].width > 1;
    for (int s = 0; s < c->nsink; s++) {
        if (clf_gtext_folds(g, s, k)) clf_gtext_fold_step(g, s, g->cell_now, pos[k]);
        if (!keeps(g, s, k)) continue;
        if (apart)
            CLF_PUT(&g->x, "r%d_%d = ", c->sink[s].out[0], g->cell_now);
        else
            CLF_PUT(&g->x, "r%d[p] = ", c->sink[s].out[0]);
        clf_ctext_store_cast(&g->x, s, 1, 0);
        CLF_PUT(&g->x, ";\n");
    }
}

/* Cell e of the step, in a block of its own; its place is `which`. */
static void put_cell(clf_gtext *g, clf_walk_id k, int e, const char *which) {
    g->cell_now = e;
    CLF_PUT(&g->x, "{\n");
    CLF_PUT(&g->x, k == CLF_WALK_FLAT && g->rows_apart ? "const CLF_INDEX p = p0 + %s, j = j0 + %s;\n" : at_cell[k], which, which);
    if (k == CLF_WALK_COLS) take_columns(g);
    put_values(g, k, CELL);
    put_sinks(g, k);
    CLF_PUT(&g->x, "}\n");
}

static void put_turns(clf_gtext *g, clf_walk_id k) {
    for (int s = 0; s < g->p->c->nsink; s++)
        if (clf_gtext_folds(g, s, k)) clf_gtext_fold_turn(g, s);
}

void clf_gtext_step(clf_gtext *g, clf_walk_id k) {
    static const char *const which[] = {"0", "1", "2", "3"};
    int width = g->p->walk[k].width;
    g->whole = true;
    put_values(g, k, STEP);
    put_loads(g, k);
    if (width > 1) declare_results(g, k);
    for (int e = 0; e < width; e++) put_cell(g, k, e, which[e]);
    if (width > 1) put_stores(g, k);
    put_turns(g, k);
}

/* Lanes change places from cell to cell, so that one text steps all of them; behind the last all are in their places again. */
void clf_gtext_rest(clf_gtext *g, clf_walk_id k) {
    g->whole = false;
    put_values(g, k, STEP);
    CLF_PUT(&g->x, "for (int e_ = 0; e_ < %d; e_++) {\nif (%s + e_ < to)\n", g->p->walk[k].width, k == CLF_WALK_ROWS ? "j0" : "p0");
    put_cell(g, k, 0, "e_");
    for (int s = 0; s < g->p->c->nsink; s++)
        if (clf_gtext_folds(g, s, k)) clf_gtext_fold_next(g, s);
    CLF_PUT(&g->x, "}\n");
    put_turns(g, k);
}

/* ---- pointers ---- */

static bool any_wide(const clf_group *p) {
    for (int k = 0; k < CLF_FOLD_WALKS; k++)
        if (p->walk[k].width > 1) return true;
    return false;
}

void clf_gtext_setup(clf_ctext *x) {
    clf_gtext *g = (clf_gtext *)x;
    clf_group_at at;
    char buf[CLF_EMIT_NAME], vec[CLF_EMIT_NAME];
    for (int a = 0; a < x->c->naccess; a++) {
        int t = input_type(g, a);
        CLF_PUT(x, "const __global %s *const q%d = x%d + xb%d;\n", type_of(buf, t, 1), a, a, a);
    }
    for (int o = 0; o < x->c->nout; o++) CLF_PUT(x, "__global %s *const r%d = o%d + ob%d;\n", type_of(buf, x->c->out[o].dtype, 1), o, o, o);
    if (!any_wide(g->p)) return;
    CLF_PUT(x, "const bool whole_ = true");
    for (int a = 0; a < x->c->naccess; a++)
        if (clf_group_access(g->p, &x->c->access[a], &at) && at.axes & g->p->j && clf_group_aligned(g->p, &at))
            CLF_PUT(x, " && CLF_ALIGNED(q%d, %s)", a, type_of(vec, input_type(g, a), g->p->width));
    for (int s = 0; s < x->c->nsink; s++)
        if (x->c->sink[s].kind == CLF_SINK_STORE)
            CLF_PUT(x, " && CLF_ALIGNED(r%d, %s)", x->c->sink[s].out[0], type_of(vec, x->c->out[x->c->sink[s].out[0]].dtype, g->p->width));
    CLF_PUT(x, ";\n");
}
