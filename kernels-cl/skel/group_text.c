/* SPDX-License-Identifier: Apache-2.0
 * The walks of cell.group.cl: where a work-item starts and how it goes on, and the cells on its way. */
#include <stdio.h>
#include <string.h>

#include "kernels-cl/skel/group_text.h"

bool clf_gtext_begin(clf_gtext *g, const clf_group *p, clf_arena *arena) {
    memset(g, 0, sizeof *g);
    g->p = p;
    g->cell = (clf_cell){.c = p->c, .kind = CLF_CELL_FLAT, .width = 1, .ru = 1};
    g->x.p = &g->cell;
    g->x.c = p->c;
    g->x.groups = true;
    g->used = clf_arena_new(arena, (size_t)p->c->nvalue, 1);
    return g->used != NULL;
}

/* ---- values ---- */

/* 0: once; 1: once a line or column; 2: at every cell */
static int level(const clf_gtext *g, int v, clf_walk_id k) {
    uint32_t axes = g->p->c->value[v].axes & (g->p->i | g->p->j);
    if (!axes) return 0;
    return (k == CLF_WALK_ROWS && axes == g->p->i) || (k == CLF_WALK_COLS && axes == g->p->j) ? 1 : 2;
}

static void put_load(clf_gtext *g, int a) {
    clf_group_at at;
    clf_group_access(g->p, &g->p->c->access[a], &at);
    CLF_PUT(&g->x, "q%d[", a);
    if (at.linear) {
        CLF_PUT(&g->x, "p]");
        return;
    }
    if (at.axes & g->p->i) CLF_PUT(&g->x, "i * (CLF_INDEX)xi%d + ", a);
    if (at.axes & g->p->j) CLF_PUT(&g->x, at.sj == 1 ? "j + " : "j * (CLF_INDEX)xj%d + ", a);
    CLF_PUT(&g->x, "0]");
}

static void put_value(clf_gtext *g, int v) {
    const clf_value *w = &g->p->c->value[v];
    char buf[CLF_EMIT_NAME];
    if (w->op != CLF_V_LOAD && w->op != CLF_V_INDEX) {
        clf_ctext_compute(&g->x, v, 1, 0);
        return;
    }
    CLF_PUT(&g->x, "const %s v%d = ", clf_emit_type(buf, (clf_dtype)w->dtype, 1), v);
    if (w->op == CLF_V_LOAD)
        put_load(g, w->arg);
    else
        CLF_PUT(&g->x, 1u << w->arg == g->p->j ? "j" : "i");
    CLF_PUT(&g->x, ";\n");
}

static void put_values(clf_gtext *g, clf_walk_id k, int want) {
    for (int v = 0; v < g->p->c->nvalue; v++)
        if (g->used[v] && level(g, v, k) == want) put_value(g, v);
}

static void mark_used(clf_gtext *g, clf_walk_id k) {
    const clf_cplan *c = g->p->c;
    memset(g->used, 0, (size_t)c->nvalue);
    for (int s = 0; s < c->nsink; s++)
        if (clf_group_walk(g->p, &c->sink[s]) == k) g->used[c->sink[s].value[0]] = 1;
    for (int v = c->nvalue - 1; v >= 0; v--)
        for (int q = 0; q < 3; q++)
            if (g->used[v] && c->value[v].in[q] >= 0) g->used[c->value[v].in[q]] = 1;
}

/* Does a walk over all cells need to know rows and columns apart? */
static bool apart(const clf_gtext *g) {
    clf_group_at at;
    for (int v = 0; v < g->p->c->nvalue; v++) {
        const clf_value *w = &g->p->c->value[v];
        if (!g->used[v] || !w->axes) continue;
        if (w->op == CLF_V_INDEX) return true;
        if (w->op == CLF_V_LOAD && clf_group_access(g->p, &g->p->c->access[w->arg], &at) && !at.linear) return true;
    }
    return false;
}

/* ---- sinks ---- */

static void put_sinks(clf_gtext *g, clf_walk_id k) {
    static const char *const pos[] = {"p", "j", "i", "", "", ""};
    const clf_cplan *c = g->p->c;
    for (int s = 0; s < c->nsink; s++) {
        if (clf_group_walk(g->p, &c->sink[s]) != k) continue;
        if (clf_gtext_folds(g, s, k)) {
            clf_gtext_fold_step(g, s, pos[k]);
            continue;
        }
        CLF_PUT(&g->x, "r%d[p] = ", c->sink[s].out[0]);
        clf_ctext_store_cast(&g->x, s, 1, 0);
        CLF_PUT(&g->x, ";\n");
    }
}

/* ---- ways ---- */

static void from_line(clf_gtext *g, clf_walk_id k) {
    static const char *const len[] = {"n", "cols", "", "rows", "cols", "1"};
    const clf_walk *w = &g->p->walk[k];
    bool rows = k == CLF_WALK_ROWS;
    CLF_PUT(&g->x, "const CLF_INDEX len = %s, leaf_cells = %lld;\nconst int lanes = %d, inner = 1, ", len[k], (long long)w->leaf, w->lanes);
    if (rows)
        CLF_PUT(&g->x, "units = (int)units1, team = lanes * units;\nconst CLF_INDEX part = g %% (CLF_INDEX)parts1, line = g / "
                       "(CLF_INDEX)parts1 * (CLF_GROUP / team) + me / team, i = min(line, rows - 1);\nconst bool there = line < rows;\n");
    else
        CLF_PUT(&g->x, "units = CLF_GROUP / lanes, team = CLF_GROUP;\nconst CLF_INDEX part = g, line = 0;\nconst bool there = true;\n");
    CLF_PUT(&g->x, "const int lane = me %% lanes, unit = me %% team / lanes;\nconst CLF_INDEX leaf = part * units + unit, leaves = "
                   "max((len + leaf_cells - 1) / leaf_cells, (CLF_INDEX)1);\n"
                   "const int valid = (int)min((CLF_INDEX)units, leaves - part * units);\n"
                   "const CLF_INDEX from = leaf * leaf_cells + lane, to = min(len, (leaf + 1) * leaf_cells);\n");
}

/* Idle: columns behind the last, work-items behind the last whole unit. */
static void from_columns(clf_gtext *g) {
    CLF_PUT(&g->x,
            "const int lanes = (int)lanes2, inner = (int)inner2, units = (int)units2, unit = me / (inner * lanes);\n"
            "const int lane = unit < units ? me / inner %% lanes : lanes;\n"
            "const CLF_INDEX part = g / (CLF_INDEX)tiles2, line = g %% (CLF_INDEX)tiles2 * inner + me %% inner, j = min(line, cols - 1);\n"
            "const bool there = line < cols && lane < lanes;\n"
            "const CLF_INDEX rows_each = (CLF_INDEX)block2, block = part * units + unit, blocks = max((rows + rows_each - 1) / rows_each, "
            "(CLF_INDEX)1);\n"
            "const int valid = (int)min((CLF_INDEX)units, blocks - part * units);\n"
            "const CLF_INDEX from = block * rows_each + lane, to = min(rows, (block + 1) * rows_each);\n");
}

/* A work-item's positions: `steps` of them, `lanes` apart. */
static void loop(clf_gtext *g, clf_walk_id k) {
    bool two = (k == CLF_WALK_FLAT) && g->p->i && apart(g);
    const char *by_row = "", *next = "p += lanes;";
    CLF_PUT(&g->x, "const int steps = there && from < to ? (int)((to - from + lanes - 1) / lanes) : 0;\n");
    if (k == CLF_WALK_ROWS) {
        CLF_PUT(&g->x, "const CLF_INDEX row = i * cols;\nCLF_INDEX j = from;\n");
        by_row = "const CLF_INDEX p = row + j;";
        next = "j += lanes;";
    } else if (k == CLF_WALK_COLS) {
        CLF_PUT(&g->x, "CLF_INDEX i = from;\n");
        by_row = "const CLF_INDEX p = i * cols + j;";
        next = "i += lanes;";
    } else if (two) {
        CLF_PUT(&g->x,
                "const CLF_INDEX di = lanes / cols, dj = lanes %% cols;\nCLF_INDEX p = from, i = from / cols, j = from - i * cols;\n");
        next = "p += lanes; i += di; j += dj; if (j >= cols) { j -= cols; i++; }";
    } else {
        CLF_PUT(&g->x, "CLF_INDEX p = from;\n");
        by_row = k == CLF_WALK_I ? "const CLF_INDEX i = p;" : "const CLF_INDEX j = p;";
    }
    CLF_PUT(&g->x, "%sfor (int t_ = 0; t_ < steps; t_++) {\n%s\n", g->p->local > 64 ? "CLF_SOME " : "", by_row);
    put_values(g, k, 2);
    put_sinks(g, k);
    for (int s = 0; s < g->p->c->nsink; s++)
        if (clf_gtext_folds(g, s, k)) clf_gtext_fold_turn(g, s);
    CLF_PUT(&g->x, "%s }\n", next);
}

static void put_walk(clf_gtext *g, clf_walk_id k) {
    mark_used(g, k);
    CLF_PUT(&g->x, "if (group < end%d) {\nconst CLF_INDEX g = (CLF_INDEX)(group", (int)k);
    CLF_PUT(&g->x, k ? " - end%d);\n" : ");\n", (int)k - 1);
    if (k == CLF_WALK_COLS)
        from_columns(g);
    else
        from_line(g, k);
    put_values(g, k, 0);
    put_values(g, k, 1);
    for (int s = 0; s < g->p->c->nsink; s++)
        if (clf_gtext_folds(g, s, k)) clf_gtext_fold_begin(g, s);
    loop(g, k);
    clf_gtext_fold_ends(g, k);
    CLF_PUT(&g->x, "return;\n}\n");
}

/* ---- holes ---- */

void clf_gtext_setup(clf_ctext *x) {
    char buf[CLF_EMIT_NAME];
    for (int a = 0; a < x->c->naccess; a++)
        CLF_PUT(x, "const __global %s *const q%d = x%d + xb%d;\n", clf_emit_type(buf, (clf_dtype)x->c->in[x->c->access[a].input].dtype, 1),
                a, a, a);
    for (int o = 0; o < x->c->nout; o++)
        CLF_PUT(x, "__global %s *const r%d = o%d + ob%d;\n", clf_emit_type(buf, (clf_dtype)x->c->out[o].dtype, 1), o, o, o);
}

void clf_gtext_walks(clf_ctext *x) {
    clf_gtext *g = (clf_gtext *)x;
    for (int k = 0; k < CLF_NWALKS; k++)
        if (g->p->walk[k].nsink) put_walk(g, (clf_walk_id)k);
}
