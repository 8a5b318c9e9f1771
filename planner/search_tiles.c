/* SPDX-License-Identifier: Apache-2.0
 * Loops in tiles, of parts that are not complete. A bill asks of a whole part whether a loop in tiles may compute it (bill.c); that a part
 * has no such loop is known as soon as it computes, or stores, something that tiles have no place for, and stays so however it grows. So for
 * each wide product there is a set of nodes that may be beside it, and one of those that may be stored.
 *
 * Where the loop is no such one, the product costs what it does row by row, and its right side is read again for fewer rows, or for each one
 * where the loop puts together a long row for it first. */
#include "planner/searching.h"

static bool within(const clf_bits *s, const clf_bits *of) {
    uint64_t beyond = 0;
    for (int w = 0; w < CLF_BITS_WORDS; w++) beyond |= s->w[w] & ~of->w[w];
    return !beyond;
}

static bool meets(const clf_bits *has, const clf_bits *keeps, const clf_node_facts *f) {
    return within(has, &f->beside) && within(keeps, &f->kept);
}

bool clf_tiled(const clf_component *c, const clf_opened *o) {
    for (int32_t n = 0; n < c->n && c->tiles; n++)
        if (c->node[n].wide && clf_bits_has(&o->has, n)) return meets(&o->has, &o->keeps, &c->node[n]);
    return false;
}

/* May the left side of n, which is not decided, still make its rows wait? */
static bool may_wait(const clf_component *c, const clf_opened *o, int32_t n, int32_t q) {
    return c->node[n].left >= q && !clf_bits_has(&o->reads, c->node[n].left);
}

void clf_tiles_to_come(const clf_component *c, const clf_opened *o, int32_t q, clf_bits *out) {
    bool any = false, tiled = clf_tiled(c, o);
    for (int32_t n = 0; n < q && c->tiles; n++) {
        if (!clf_bits_has(&o->has, n)) continue;
        any = any || c->node[n].wide;
        if ((c->node[n].wide && tiled) || may_wait(c, o, n, q)) clf_bits_add(out, n);
    }
    for (int32_t n = q; n < c->n && c->tiles && !any; n++)
        if (c->node[n].wide && c->node[n].group == o->group && meets(&o->has, &o->keeps, &c->node[n])) clf_bits_add(out, n);
}

/* ---- facts ---- */

/* Nodes that tiles have a place for beside product n, and of them those that may be stored. */
static void find_places(clf_component *c, int32_t n) {
    clf_node_facts *f = &c->node[n];
    for (int32_t m = 0; m < c->n; m++) {
        int place = clf_bill_tile_place(c->p->g, f->id, c->node[m].id);
        if (place) clf_bits_add(&f->beside, m);
        if (place == CLF_TILE_STORED) clf_bits_add(&f->kept, m);
    }
}

/* Operand u of n, its right side. */
static void find_right(clf_component *c, clf_node_facts *f, clf_use *u) {
    const clf_graph *g = c->p->g;
    clf_term t = clf_term_operand(g, f->id, 1), tiled = t;
    if (t.kind != CLF_TERM_AGAIN) return;
    u->right = true;
    t.c = t.b;
    for (int d = 0; d < c->p->dev.n; d++) {
        const clf_profile *dev = c->p->dev.profile[d];
        clf_term waits = t;
        waits.c = clf_bill_waiting(g, f->id);
        u->ps[d] = clf_term_pay(&tiled, g, dev);
        u->rows[d] = clf_term_pay(&t, g, dev);
        u->waits[d] = clf_term_pay(&waits, g, dev);
    }
}

static void find_product(clf_component *c, int32_t n, const int32_t *local) {
    clf_node_facts *f = &c->node[n];
    const clf_graph *g = c->p->g;
    int32_t q = clf_node_operand(g, f->id, 0), left = local[q] - 1, right = local[clf_node_operand(g, f->id, 1)] - 1;
    bool made = left >= 0 && left < c->n && !clf_product_whole(g, f->id, 0);
    f->left = made && clf_bill_long_row(g, q) ? left : -1;
    for (int32_t u = 0; u < f->nuse && clf_product_whole(g, f->id, 1); u++)
        if (f->use[u].local == right && f->use[u].in_loop && !f->use[u].inside) find_right(c, f, &f->use[u]);
    f->wide = clf_product_loop(g, f->id) == CLF_PRODUCT_WIDE;
    if (!f->wide) return;
    find_places(c, n);
    for (int d = 0; d < c->p->dev.n; d++)
        f->untiled[d] = clf_cost_node(c->p->dev.profile[d], g, f->id, 1) - clf_cost_tiled(c->p->dev.profile[d], g, f->id, 1);
}

void clf_component_tiles(clf_component *c, const int32_t *local) {
    for (int d = 0; d < c->p->dev.n; d++)
        for (int f64 = 0; f64 < 2; f64++) c->tiles = c->tiles || clf_cost_tiles(c->p->dev.profile[d], f64);
    c->tiles = c->tiles && !c->p->nsparse;
    bool products = false;
    for (int32_t n = 0; n < c->n && c->tiles; n++) {
        c->node[n].left = -1;
        if (!(c->node[n].is & CLF_CAN_LOOP) || c->p->g->node[c->node[n].id].op != CLF_OP_MATMUL) continue;
        find_product(c, n, local);
        products = true;
    }
    c->tiles = c->tiles && products;
}
