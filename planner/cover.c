/* SPDX-License-Identifier: Apache-2.0
 * Covers as data. */
#include "planner/cover.h"

#include <string.h>

enum { COPY_OPS = 16 }; /* largest expression of single values that is computed again in every loop that wants it */

clf_status clf_cover_begin(clf_cover *c, const clf_graph *g, int32_t ncut, clf_arena *arena, clf_err *err) {
    size_t n = (size_t)g->n;
    memset(c, 0, sizeof *c);
    c->cut = clf_arena_new(arena, (size_t)ncut, sizeof *c->cut);
    c->maker = clf_arena_new(arena, n, sizeof *c->maker);
    c->copied = clf_arena_new(arena, n, 1);
    c->copies = clf_arena_new(arena, n, 1);
    c->csr = clf_arena_new(arena, n, 1);
    c->entries = clf_arena_new(arena, n, sizeof *c->entries);
    c->member = clf_arena_new(arena, n, sizeof *c->member);
    if (!c->cut || !c->maker || !c->copied || !c->copies || !c->csr || !c->entries || !c->member)
        return clf_fail(err, CLF_E_NOMEM, "planning: out of memory");
    bool sparse = false;
    for (int32_t i = 0; i < g->n; i++) {
        c->maker[i] = -1;
        c->csr[i] = clf_node_is_slot(&g->node[i]) && g->node[i].format == CLF_CSR;
        c->entries[i] = g->node[i].nnz;
        sparse = sparse || c->csr[i];
    }
    if (!sparse) return CLF_OK;
    c->zero = clf_arena_new(arena, n, 1);
    c->alike = clf_arena_new(arena, n, 1);
    return c->zero && c->alike ? CLF_OK : clf_fail(err, CLF_E_NOMEM, "planning: out of memory");
}

bool clf_node_copies(const clf_graph *g, int32_t n, int k) {
    const clf_gnode *x = &g->node[n];
    bool loops = x->op == CLF_OP_MATMUL
                     ? clf_product_loop(g, n) != CLF_PRODUCT_NONE
                     : clf_node_is_cellwise(x) || x->op == CLF_OP_FOLD || clf_node_is_row_cum(x) || clf_node_is_row_cat(g, n);
    return loops && x->op != CLF_OP_INDEX && !clf_product_whole(g, n, k);
}

int clf_node_immediates(const clf_gnode *x) {
    if (x->op == CLF_OP_SEQ) return 3;
    return clf_op_is_cell(x->op) && clf_ops[x->op].type == CLF_TYPE_SELECT;
}

void clf_find_copies(const clf_graph *g, uint8_t *copied, uint8_t *cone, uint8_t *need) {
    for (int32_t n = 0; n < g->n; n++) {
        const clf_gnode *x = &g->node[n];
        if (!clf_node_is_cellwise(x) || x->op == CLF_OP_INDEX) continue;
        int ops = 1, operands = clf_node_immediates(x);
        bool cheap = true;
        for (int k = 0; k < x->nin; k++) {
            int32_t q = x->in[k];
            bool copy = copied[q] && clf_node_copies(g, n, k);
            ops += copy ? cone[q] : 0;
            operands += copy ? need[q] : 1;
            cheap = cheap && (copy || (clf_gnode_single(&g->node[q]) && !clf_node_is_cellwise(&g->node[q])));
        }
        copied[n] = cheap && ops <= COPY_OPS;
        if (!copied[n]) continue;
        cone[n] = (uint8_t)ops;
        need[n] = (uint8_t)operands; /* at most 3 for each of COPY_OPS operators */
    }
}

void clf_cover_copies(clf_cover *c, const clf_graph *g) {
    for (int32_t n = 0; n < g->n; n++)
        for (int k = 0; k < g->node[n].nin; k++)
            if (c->copied[clf_node_operand(g, n, k)] && clf_node_copies(g, n, k)) c->copies[n] |= (uint8_t)(1u << k);
}

void clf_cover_enter(clf_cover *c, int32_t part) {
    for (int32_t j = 0; j < c->part[part].n; j++) c->member[c->part[part].node[j]] = part + 1;
}

/* Where rows are followed: products, row aggregates used in their row, rows put together or cumulated, several widths. */
bool clf_part_needs_rows(const clf_graph *g, const clf_cover *cover, int32_t i) {
    const clf_part *part = &cover->part[i];
    int64_t first[2], space[2];
    clf_node_space(g, part->node[0], first);
    for (int32_t j = 0; j < part->n; j++) {
        const clf_gnode *x = &g->node[part->node[j]];
        clf_node_space(g, part->node[j], space);
        clf_product form = clf_product_loop(g, part->node[j]);
        if (x->op == CLF_OP_CBIND || x->op == CLF_OP_CUM) return true;
        if (x->op == CLF_OP_MATMUL && form != CLF_PRODUCT_INNER) return true;
        if (space[0] != first[0] || space[1] != first[1]) return true;
        for (int k = 0; k < x->nin; k++)
            if (g->node[x->in[k]].op == CLF_OP_FOLD && clf_cover_has(cover, i, x->in[k])) return true;
    }
    return false;
}
