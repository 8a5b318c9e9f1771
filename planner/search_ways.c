/* SPDX-License-Identifier: Apache-2.0
 * The ways that a component's loops may go, before anything is decided: room for what they cost, and the one of components without sparse
 * leaves, over all cells. Those that entries drive: search_entries.c. */
#include <string.h>

#include "planner/searching.h"

bool clf_component_ways_room(clf_component *c, int32_t nway) {
    size_t cells = (size_t)nway * (size_t)c->p->dev.n;
    c->nway = nway;
    c->way_entries = clf_arena_new(c->arena, cells, sizeof *c->way_entries);
    c->way_visit = clf_arena_new(c->arena, cells, sizeof *c->way_visit);
    c->way_sums = clf_arena_new(c->arena, cells, sizeof *c->way_sums);
    bool room = c->way_entries && c->way_visit && c->way_sums;
    for (int32_t n = 0; n < c->n && room; n++) {
        clf_node_facts *f = &c->node[n];
        f->way_compute = clf_arena_new(c->arena, cells, sizeof *f->way_compute);
        f->way_write = clf_arena_new(c->arena, cells, sizeof *f->way_write);
        f->way_looks = clf_arena_new(c->arena, cells, sizeof *f->way_looks);
        room = f->way_compute && f->way_write && f->way_looks;
        for (int32_t u = 0; u < f->nuse && room; u++) {
            f->use[u].ps = clf_arena_new(c->arena, cells, sizeof *f->use[u].ps);
            f->use[u].looks = clf_arena_new(c->arena, cells, sizeof *f->use[u].looks);
            room = f->use[u].ps && f->use[u].looks;
        }
    }
    return room;
}

/* Who reads local l whole in a loop. Whether it is from memory, a part knows. */
static bool reads(const clf_use *u, int32_t l) { return u->local == l && u->in_loop && !u->part_of_it; }

static bool find_users(clf_component *c) {
    int32_t uses = 0, at = 0;
    for (int32_t n = 0; n < c->n; n++) uses += c->node[n].nuse;
    c->user = clf_arena_new(c->arena, (size_t)uses, sizeof *c->user);
    c->user_at = clf_arena_new(c->arena, (size_t)c->nlocal + 1, sizeof *c->user_at);
    if (!c->user || !c->user_at) return false;
    for (int32_t n = 0; n < c->n; n++) /* counted, */
        for (int32_t u = 0; u < c->node[n].nuse; u++)
            if (reads(&c->node[n].use[u], c->node[n].use[u].local)) c->user_at[c->node[n].use[u].local]++;
    for (int32_t l = 0; l <= c->nlocal; l++) { /* where they end, */
        at += c->user_at[l];
        c->user_at[l] = at;
    }
    for (int32_t n = c->n; n-- > 0;) /* and put there from behind */
        for (int32_t u = c->node[n].nuse; u-- > 0;)
            if (reads(&c->node[n].use[u], c->node[n].use[u].local)) c->user[--c->user_at[c->node[n].use[u].local]] = (clf_user){n, u};
    return true;
}

bool clf_component_ways(clf_component *c) {
    if (!clf_component_ways_room(c, 1) || !find_users(c)) return false;
    for (int32_t n = 0; n < c->n; n++) {
        clf_node_facts *f = &c->node[n];
        memcpy(f->way_compute, f->compute, (size_t)c->p->dev.n * sizeof *f->way_compute);
        memcpy(f->way_write, f->write[1], (size_t)c->p->dev.n * sizeof *f->way_write);
        for (int32_t u = 0; u < f->nuse; u++)
            for (int d = 0; d < c->p->dev.n; d++) f->use[u].ps[d] = clf_ps_add(c->operand[f->use[u].local].read[d], f->use[u].again[d]);
    }
    return true;
}
