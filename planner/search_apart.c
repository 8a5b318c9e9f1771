/* SPDX-License-Identifier: Apache-2.0
 * An opening for graphs with sparse leaves: what visits their entries is fused with its like, and what goes on from there, row by row, with
 * its like. `all` puts both into one loop, which pays for every entry what it has to do per row, and which only the host may have
 * (host_only.c); `nored` cuts wherever a value is read twice. A search that ends at its budget has something better to fall back on. */
#include "planner/searching.h"

/* base is asked, and finds the rest behind itself. */
typedef struct apart {
    clf_selector base;
    const uint8_t *visits;
} apart;

static bool fuse_alike(const clf_selector *self, const clf_memo *m, int32_t n, int k) {
    const uint8_t *visits = ((const apart *)self)->visits;
    return visits[n] == visits[clf_node_operand(m->g, n, k)];
}

/* A shape, transposed or not. */
typedef struct sides {
    int64_t less, more;
} sides;

static sides sides_of(const clf_gnode *x) {
    int64_t rows = clf_rows(x), cols = clf_cols(x);
    return rows < cols ? (sides){rows, cols} : (sides){cols, rows};
}

/* Different ones; graphs have few, however many leaves they have. */
typedef struct shapes {
    sides *at;
    int32_t n;
} shapes;

static bool has(const shapes *s, sides x) {
    bool found = false;
    for (int32_t i = 0; i < s->n && !found; i++) found = s->at[i].less == x.less && s->at[i].more == x.more;
    return found;
}

clf_status clf_searcher_apart(clf_searcher *s, clf_err *err) {
    const clf_graph *g = s->p->g;
    shapes leaf = {clf_arena_new(s->arena, (size_t)s->p->nsparse + 1, sizeof *leaf.at), 0};
    uint8_t *like = clf_arena_new(s->arena, (size_t)g->n, 1), *visits = clf_arena_new(s->arena, (size_t)g->n, 1);
    if (!leaf.at || !like || !visits) return clf_fail(err, CLF_E_NOMEM, "planning: out of memory while searching");
    const apart by_visits = {{.name = "apart", .fuse = fuse_alike, .join = true}, visits};
    for (int32_t i = 0; i < s->p->nsparse; i++) {
        sides x = sides_of(&g->node[s->p->sparse[i]]);
        if (!has(&leaf, x)) leaf.at[leaf.n++] = x;
    }
    for (int32_t n = 0; n < g->n; n++) {
        visits[n] = like[n] = has(&leaf, sides_of(&g->node[n]));
        for (int k = 0; k < g->node[n].nin; k++) visits[n] |= like[clf_node_operand(g, n, k)]; /* operands stand before */
    }
    return clf_select(s->p->m, &by_visits.base, s->p->lim, s->arena, &s->open[s->nopen++].cover, err);
}
