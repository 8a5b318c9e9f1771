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

/* Has n the shape of a sparse leaf, or of a transposed one? */
static bool like_leaf(const clf_problem *p, int32_t n) {
    const clf_gnode *x = &p->g->node[n];
    bool like = false;
    for (int32_t i = 0; i < p->nsparse && !like; i++) {
        const clf_gnode *leaf = &p->g->node[p->sparse[i]];
        like = (clf_rows(x) == clf_rows(leaf) && clf_cols(x) == clf_cols(leaf)) ||
               (clf_rows(x) == clf_cols(leaf) && clf_cols(x) == clf_rows(leaf));
    }
    return like;
}

clf_status clf_searcher_apart(clf_searcher *s, clf_err *err) {
    const clf_graph *g = s->p->g;
    uint8_t *visits = clf_arena_new(s->arena, (size_t)g->n, 1);
    if (!visits) return clf_fail(err, CLF_E_NOMEM, "planning: out of memory while searching");
    const apart by_visits = {{.name = "apart", .fuse = fuse_alike, .join = true}, visits};
    for (int32_t n = 0; n < g->n; n++) {
        visits[n] = like_leaf(s->p, n);
        for (int k = 0; k < g->node[n].nin; k++) visits[n] = visits[n] || like_leaf(s->p, clf_node_operand(g, n, k));
    }
    return clf_select(s->p->m, &by_visits.base, s->p->lim, s->arena, &s->open[s->nopen++].cover, err);
}
