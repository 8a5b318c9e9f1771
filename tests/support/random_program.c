/* SPDX-License-Identifier: Apache-2.0
 * Generating: which kinds of node, how often, which results. A node that cannot be made is dropped and another one tried. */
#include "tests/support/random_program.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/random_make.h"

static const struct {
    const char *name;
    int weight;
} kinds[RP_KINDS] = {
    [RP_LEAF] = {"leaf", 8},   [RP_NUMBER] = {"number", 3}, [RP_FILL] = {"fill", 1},      [RP_SEQ] = {"seq", 1},
    [RP_RAND] = {"rand", 1},   [RP_CELL] = {"cell", 40},    [RP_OUTER] = {"outer", 2},    [RP_CAST] = {"cast", 4},
    [RP_FORM] = {"form", 3},   [RP_FOLD] = {"fold", 14},    [RP_CUM] = {"cum", 2},        [RP_INDEX] = {"index", 4},
    [RP_TRANSPOSE] = {"t", 3}, [RP_CBIND] = {"cbind", 2},   [RP_RBIND] = {"rbind", 2},    [RP_PRODUCT] = {"%*%", 4},
    [RP_DIAG] = {"diag", 1},   [RP_REV] = {"rev", 1},       [RP_RESHAPE] = {"matrix", 2}, [RP_ORDER] = {"order", 1},
};

enum { PLANT = 10, OFTEN = 3, RULES = 12 }; /* nodes (PLANT, OFTEN: of sparse programs) to one production of several */

const char *rp_kind_name(int kind) { return kinds[kind].name; }

/* Ranges, where they are asked for, are what loops read in other places than cells. */
static int weight_of(const rp_options *o, int kind) {
    if (!rp_kind_allowed(o, kind)) return 0;
    return o->ranges && kind == RP_INDEX ? 4 * kinds[kind].weight : kinds[kind].weight;
}

/* Beside sparse leaves more products and transposes: loops over rows are made of them. */
static int weight_in(const rp_gen *g, int kind) {
    int weight = weight_of(g->o, kind);
    return g->sparse && (kind == RP_PRODUCT || kind == RP_TRANSPOSE) ? 4 * weight : weight;
}

static int random_kind(rp_gen *g) {
    int total = 0;
    if (g->p->n < 2) return RP_LEAF;
    for (int k = 0; k < RP_KINDS; k++) total += weight_in(g, k);
    int at = rp_pick(g, total);
    for (int k = 0; k < RP_KINDS; k++) {
        at -= weight_in(g, k);
        if (at < 0) return k;
    }
    return RP_LEAF;
}

/* Small edges and, now and then, long ones; a program has few of them, so that operands fit together. */
static void choose_extents(rp_gen *g) {
    static const int64_t edges[] = {0, 1, 2, 3, 7, 64, 65}, lengths[] = {16, 128, 129, 512, 513, 1023, 2000, 4097};
    for (int i = 0; i < 3; i++) g->extent[i] = rp_pick(g, 8) ? edges[rp_pick(g, 7)] : lengths[rp_pick(g, 8)];
    if (rp_pick(g, 2)) g->extent[1] = 1; /* vectors, and a leaf that fits the cells of any budget */
    if (g->extent[0] == 0 && g->extent[2] == 0) g->extent[2] = 3;
    if (g->extent[1] * g->extent[1] > g->o->most_cells) g->extent[1] = 1;
}

/* The last node; in a third of the programs a few at random (the rest is dead), else everything that nobody reads and some of what
 * is read: kept intermediates. */
static void choose_roots(rp_gen *g) {
    rp_program *p = g->p;
    bool few = rp_pick(g, 3) == 0;
    p->root[p->nroot++] = p->n - 1;
    while (few && rp_pick(g, 2) && p->nroot < 5) p->root[p->nroot++] = rp_pick(g, p->n);
    for (int i = p->n - 2; i >= 0; i--) {
        bool kept = g->read[i] ? rp_pick(g, 12) == 0 : !few && !rp_source(p->node[i].kind);
        if (kept || (g->o->cells_only && i % 3 == 0)) p->root[p->nroot++] = i;
    }
}

void rp_generate(rp_program *p, uint64_t seed, const rp_options *o) {
    memset(p, 0, sizeof *p);
    p->seed = seed;
    p->domain = o->domain;
    p->own_products = o->own_products;
    rp_gen g = {.p = p, .o = o, .state = seed * UINT64_C(0x9E3779B97F4A7C15) + 12345};
    choose_extents(&g);
    g.sparse = !o->dense && o->domain != RP_PRIME && (rp_pick(&g, 3) == 0 || o->sparse);
    for (int tries = 0; p->n < o->nodes && p->n < RP_NODES && tries < 400 * o->nodes; tries++) {
        if (g.sparse && rp_pick(&g, o->entries ? OFTEN : PLANT) == 0 && rp_plant_outer(&g)) continue;
        if (rp_pick(&g, RULES) == 0 && rp_plant_rule(&g)) continue;
        rp_node *n = &p->node[p->n];
        memset(n, 0, sizeof *n);
        n->kind = random_kind(&g);
        if (!rp_pick_node(&g, n) || !rp_make_node(p, n, o->most_cells)) continue;
        for (int k = 0; k < n->nin; k++) g.read[n->in[k]] = true;
        p->n++;
    }
    choose_roots(&g);
}

void rp_release(rp_program *p) {
    for (int i = 0; i < p->n; i++) free(p->node[i].m.v);
    p->n = 0;
}

void rp_copy(const rp_program *p, rp_program *out) {
    *out = *p;
    for (int i = 0; i < p->n; i++) {
        const rp_matrix *m = &p->node[i].m;
        size_t bytes = ((size_t)rp_count(m) + 1) * sizeof *m->v;
        out->node[i].m.v = m->v ? malloc(bytes) : NULL;
        if (m->v && out->node[i].m.v) memcpy(out->node[i].m.v, m->v, bytes);
    }
}
