/* SPDX-License-Identifier: Apache-2.0
 * Covers as data. */
#include "planner/cover.h"

#include <string.h>

clf_status clf_cover_begin(clf_cover *c, const clf_graph *g, int32_t ncut, clf_arena *arena, clf_err *err) {
    size_t n = (size_t)g->n;
    memset(c, 0, sizeof *c);
    c->cut = clf_arena_new(arena, (size_t)ncut, sizeof *c->cut);
    c->maker = clf_arena_new(arena, n, sizeof *c->maker);
    c->copied = clf_arena_new(arena, n, 1);
    c->csr = clf_arena_new(arena, n, 1);
    c->member = clf_arena_new(arena, n, sizeof *c->member);
    if (!c->cut || !c->maker || !c->copied || !c->csr || !c->member) return clf_fail(err, CLF_E_NOMEM, "planning: out of memory");
    for (int32_t i = 0; i < g->n; i++) c->maker[i] = -1;
    return CLF_OK;
}

void clf_cover_enter(clf_cover *c, int32_t part) {
    for (int32_t j = 0; j < c->part[part].n; j++) c->member[c->part[part].node[j]] = part + 1;
}
