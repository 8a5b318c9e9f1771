/* SPDX-License-Identifier: Apache-2.0
 * The walks of cell.group.cl: where a work-item starts and how it goes on. */
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

/* ---- ways ---- */

static void from_line(clf_gtext *g, clf_walk_id k) {
    static const char *const len[] = {"n", "cols", "", "rows", "cols", "1"};
    const clf_walk *w = &g->p->walk[k];
    bool rows = k == CLF_WALK_ROWS;
    CLF_PUT(&g->x, "const CLF_INDEX len = %s, leaf_cells = %lld;\nconst int lanes = %d, inner = 1, ", len[k], (long long)w->leaf, w->lanes);
    if (rows)
        CLF_PUT(&g->x,
                "units = (int)units1, team = lanes * units;\nconst CLF_INDEX part = g %% (CLF_INDEX)parts1, line = g / "
                "(CLF_INDEX)parts1 * (slots / team) + first_slot / team, i = min(line, rows - 1);\nconst bool there = line < rows;\n");
    else
        CLF_PUT(&g->x, "units = slots / lanes, team = slots;\nconst CLF_INDEX part = g, line = 0;\nconst bool there = true;\n");
    CLF_PUT(
        &g->x,
        "const int lane = first_slot %% lanes, unit = first_slot %% team / lanes;\nconst CLF_INDEX leaf = part * units + unit, leaves = "
        "max((len + leaf_cells - 1) / leaf_cells, (CLF_INDEX)1);\n"
        "const int valid = (int)min((CLF_INDEX)units, leaves - part * units);\n"
        "const CLF_INDEX from = leaf * leaf_cells + lane, to = min(len, (leaf + 1) * leaf_cells);\n");
}

/* Idle: columns behind the last, work-items behind the last whole unit. */
static void from_columns(clf_gtext *g) {
    CLF_PUT(&g->x,
            "const int lanes = (int)lanes2, inner = (int)inner2, units = (int)units2, unit = first_slot / (inner * lanes);\n"
            "const int lane = unit < units ? first_slot / inner %% lanes : lanes;\n"
            "const CLF_INDEX part = g / (CLF_INDEX)tiles2, line = g %% (CLF_INDEX)tiles2 * inner + first_slot %% inner;\n"
            "const CLF_INDEX j0 = min(line, cols - %d);\n"
            "const bool there = line < cols && lane < lanes;\n"
            "const CLF_INDEX rows_each = (CLF_INDEX)block2, block = part * units + unit, blocks = max((rows + rows_each - 1) / rows_each, "
            "(CLF_INDEX)1);\n"
            "const int valid = (int)min((CLF_INDEX)units, blocks - part * units);\n"
            "const CLF_INDEX from = block * rows_each + lane, to = min(rows, (block + 1) * rows_each);\n",
            g->p->walk[CLF_WALK_COLS].width);
}

/* How a work-item gets from step to step. */
typedef struct way {
    const char *from, *next;
} way;

static way way_of(const clf_gtext *g, clf_walk_id k) {
    static const way rows = {"const CLF_INDEX row = i * cols;\nCLF_INDEX j0 = from;\n", "j0 += lanes;"},
                     cols = {"CLF_INDEX i = from;\n", "i += lanes;"}, line = {"CLF_INDEX p0 = from;\n", "p0 += lanes;"},
                     plane = {"const CLF_INDEX di = lanes / cols, dj = lanes % cols;\n"
                              "CLF_INDEX p0 = from, i = from / cols, j0 = from - i * cols;\n",
                              "p0 += lanes; i += di; j0 += dj; if (j0 >= cols) { j0 -= cols; i++; }"};
    if (k == CLF_WALK_FLAT && g->rows_apart) return plane;
    return k == CLF_WALK_ROWS ? rows : k == CLF_WALK_COLS ? cols : line;
}

/* A work-item's steps, `lanes` apart. Those of several cells are whole but for the last one, at the end of a line, or all of them where
 * vectors may not be loaded whole: so no branch stands between the loads of the first loop, and many of them are under way. Several columns
 * have no step that is not whole. */
static void loop(clf_gtext *g, clf_walk_id k) {
    const int width = g->p->walk[k].width;
    const bool rest = clf_gtext_has_rest(g, k);
    const way w = way_of(g, k);
    CLF_PUT(&g->x, "const int steps = there && from < to ? (int)((to - from + lanes - 1) / lanes) : 0;\n");
    if (rest)
        CLF_PUT(&g->x, "const int whole = !whole_ ? 0 : steps && from + (steps - 1) * (CLF_INDEX)lanes + %d > to ? steps - 1 : steps;\n",
                width);
    CLF_PUT(&g->x, "%s%sfor (int t_ = 0; t_ < %s; t_++) {\n", w.from, g->p->local > 64 ? "CLF_SOME " : "", rest ? "whole" : "steps");
    clf_gtext_step(g, k);
    CLF_PUT(&g->x, "%s }\n", w.next);
    if (!rest) return;
    CLF_PUT(&g->x, "for (int t_ = whole; t_ < steps; t_++) {\n");
    clf_gtext_rest(g, k);
    CLF_PUT(&g->x, "%s }\n", w.next);
}

static void put_walk(clf_gtext *g, clf_walk_id k) {
    clf_group_used(g->p, k, g->used);
    g->rows_apart = g->p->i && clf_group_apart(g->p, g->used);
    CLF_PUT(&g->x, "if (group < end%d) {\nconst CLF_INDEX g = (CLF_INDEX)(group", (int)k);
    CLF_PUT(&g->x, k ? " - end%d);\n" : ");\n", (int)k - 1);
    CLF_PUT(&g->x, "const int slots = CLF_GROUP * %d, first_slot = me * %d;\n", g->p->walk[k].width, g->p->walk[k].width);
    if (k == CLF_WALK_COLS)
        from_columns(g);
    else
        from_line(g, k);
    clf_gtext_hoisted(g, k);
    for (int s = 0; s < g->p->c->nsink; s++)
        if (clf_gtext_folds(g, s, k)) clf_gtext_fold_begin(g, s);
    loop(g, k);
    clf_gtext_fold_ends(g, k);
    CLF_PUT(&g->x, "return;\n}\n");
}

void clf_gtext_walks(clf_ctext *x) {
    clf_gtext *g = (clf_gtext *)x;
    for (int k = 0; k < CLF_NWALKS; k++)
        if (g->p->walk[k].nsink) put_walk(g, (clf_walk_id)k);
}
