/* SPDX-License-Identifier: Apache-2.0
 * What entry.generic runs (see generic_entries.h): the instructions are those of the cplan over entries alone, in which operands and folds
 * are put in their places; then the share of a work-item. */
#include "kernels-cl/skel/generic_entries.h"

#include <string.h>

#include "kernels-cl/skel/generic_cells.h"

enum {
    CHUNKS_PER_CORE = 32,
    MIN_CHUNK_ENTRIES = 4096,
    FULL_LEVELS = 2 * 44 + 2 /* of the carry stack, as in entry_plan.c */
};

/* ---- what instructions read and fold ---- */

static void link_access(clf_generic_cells *x, int a) {
    clf_generic_entries *r = x->r;
    int in = (int)(r->g.reads >> 8 * a & 7), k = 0;
    const clf_generic_gathered *g = &x->gather[in];
    if (in < x->m.from->nin) return;
    r->g.reads &= ~(int64_t)((uint64_t)255 << 8 * a);
    r->g.reads |= (int64_t)((uint64_t)g->input << 8 * a);
    r->g.base[a] = g->base;
    r->g.step[a] = g->down;
    r->across[a] = g->across;
    r->gathers |= (int64_t)g->how << 4 * a;
    if (g->how != CLF_GEN_BY_COLUMN) r->links |= CLF_GEN_ASKS_ROWS;
    if (g->how != CLF_GEN_PAIR) return;
    while (r->links >> 32 * k & CLF_GEN_THERE) k++;
    r->links |= (int64_t)(g->second | a << 3 | CLF_GEN_THERE | g->inner << 16) << 32 * k;
    r->second[k] = g->begins;
}

static int fold_to(const clf_generic *g, int out) {
    int f = 0;
    while (f < g->nfold && (g->folds >> (16 * f + 8) & 255) != out) f++;
    return f;
}

static void set_fold(clf_generic *g, int f, int64_t what) {
    g->folds &= ~(int64_t)((uint64_t)0xffff << 16 * f);
    g->folds |= (int64_t)((uint64_t)what << 16 * f);
}

static void link(clf_generic_cells *x) {
    clf_generic *g = &x->r->g;
    for (int a = 0; a < g->naccess; a++) link_access(x, a);
    for (int o = 0; o < x->m.from->nout; o++) {
        if (x->skip[o] < 0) continue;
        int f = fold_to(g, o), other = fold_to(g, x->factor[o]);
        set_fold(g, f, (CLF_GEN_DOT_FOLD + x->skip[o]) | o << 8 | other << 12);
        set_fold(g, other, CLF_GEN_NO_FOLD);
    }
}

/* ---- sizes ---- */

static void cut(clf_generic_entries *r, int64_t entries, int cores) {
    clf_cell *p = &r->g.cell;
    int64_t most = CHUNKS_PER_CORE * (int64_t)(cores > 0 ? cores : 1), leaves = entries / CLF_LEAF + 1, run = 1;
    int64_t work = entries / MIN_CHUNK_ENTRIES + r->rows / MIN_CHUNK_ENTRIES;
    p->chunks = work < 1 ? 1 : work < most ? work : most;
    while (run * p->chunks < leaves) run *= 2;
    if (!r->g.rowwise) p->chunks = (leaves + run - 1) / run; /* none without leaves, see entry_plan.c */
    p->chunk = run;
    r->g.run = run * CLF_LEAF;
    if (!r->g.rowwise) p->ent = FULL_LEVELS;
}

static void lay_out(clf_generic_entries *r) {
    clf_generic_lay_out(&r->g);
    r->tiles = (r->g.words + 7) / 8 * 8;
    r->area = r->gathers ? (int64_t)CLF_GEN_ACCESSES * CLF_GEN_BLOCK_WORDS : 0;
}

bool clf_generic_entries_plan(clf_generic_entries *r, const clf_cplan *c, int cores) {
    clf_generic_cells x;
    memset(r, 0, sizeof *r);
    if (!clf_generic_cells_of(&x, r, c)) return false;
    if (!clf_generic_plan_made(&r->g, &x.m.c, cores, x.by_row) || r->g.t != x.m.t) return false;
    r->rows = c->axis[0].n.n;
    link(&x);
    cut(r, c->axis[x.e].n.n, cores);
    lay_out(r);
    r->g.cell.c = c;
    return true;
}
