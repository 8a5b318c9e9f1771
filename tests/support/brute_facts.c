/* SPDX-License-Identifier: Apache-2.0
 * What an operator may do: the part of THE SPACE that concerns one operator and its operands. See brute.h. */
#include <stdlib.h>
#include <string.h>

#include "planner/template.h"
#include "tests/support/brute.h"

enum { COPY_OPS = 16 }; /* operators of the largest copied expression */

static const clf_gnode *node_of(const brute *b, int32_t n) { return &b->g->node[n]; }

/* ---- which operators there are ---- */

static int find_op(const brute *b, int32_t n) {
    for (int i = 0; i < b->nop; i++)
        if (b->op[i].node == n) return i;
    return -1;
}

static int find_slot(const brute *b, int32_t n) {
    for (int i = 0; i < b->nslot; i++)
        if (b->slot[i].node == n) return i;
    return -1;
}

/* Needed operators in the order of the graph, and what is in memory from the start. */
static bool number_nodes(brute *b) {
    bool *need = calloc((size_t)b->g->n + 1, sizeof *need), fits = need != NULL;
    for (int32_t r = 0; fits && r < b->g->nroot; r++) need[b->g->root[r]] = true;
    for (int32_t n = b->g->n; fits && n-- > 0;)
        for (int k = 0; need[n] && k < node_of(b, n)->nin; k++) need[clf_node_operand(b->g, n, k)] = true;
    for (int32_t n = 0; fits && n < b->g->n; n++) {
        if (!need[n]) continue;
        bool slot = clf_node_is_slot(node_of(b, n));
        fits = slot ? b->nslot < BRUTE_SLOTS : b->nop < BRUTE_FACTS;
        if (!fits) break;
        if (slot)
            b->slot[b->nslot++].node = n;
        else
            b->op[b->nop++].node = n;
    }
    free(need);
    return fits;
}

static void add(const brute *b, brute_reads *to, int32_t n) {
    int i = find_op(b, n);
    if (i >= 0)
        to->ops |= (brute_ops)(1u << i);
    else
        to->slots |= 1u << find_slot(b, n);
}

/* ---- what may be a loop, what may stand alone ---- */

static bool loops(const brute *b, int32_t n) {
    const clf_gnode *x = node_of(b, n);
    if (x->op == CLF_OP_MATMUL) return clf_product_loop(b->g, n) != CLF_PRODUCT_NONE;
    return x->op == CLF_OP_FOLD || clf_node_is_cellwise(x) || clf_node_is_row_cum(x) || clf_node_is_row_cat(b->g, n);
}

enum { NO_LEAF = -1, SEVERAL = -2 };

static bool has_zeros(const brute *b, int32_t q) { return node_of(b, q)->zeros == CLF_ZEROS_STRUCTURAL; }

static bool like(const clf_gnode *a, const clf_gnode *b) { return a->dim[0].n == b->dim[0].n && a->dim[1].n == b->dim[1].n; }

/* Twice the sparse leaf that q has its zeros from, one more if turned. */
/* NOLINTNEXTLINE(misc-no-recursion): as deep as the few operators of a case */
static int32_t leaf_behind(const brute *b, int32_t q) {
    const clf_gnode *x = node_of(b, q);
    if (!has_zeros(b, q)) return SEVERAL;
    if (x->op == CLF_OP_LEAF || x->op == CLF_OP_CONST || x->op == CLF_OP_PARAM) return x->format == CLF_CSR ? 2 * q : SEVERAL;
    if (x->op == CLF_OP_TRANSPOSE) {
        int32_t from = leaf_behind(b, x->in[0]);
        return from < 0 ? SEVERAL : from ^ 1;
    }
    if (!clf_op_is_cell(x->op) && x->op != CLF_OP_CAST) return SEVERAL;
    int fewest = -1;
    for (int k = 0; k < x->nin && clf_op_is_cell(x->op); k++)
        if ((clf_op_annihilators(x->op) >> k & 1) && has_zeros(b, x->in[k]) && like(node_of(b, x->in[k]), x) &&
            (fewest < 0 || node_of(b, x->in[k])->nnz < node_of(b, x->in[fewest])->nnz))
            fewest = k;
    if (fewest >= 0) return leaf_behind(b, x->in[fewest]);
    int32_t leaf = NO_LEAF;
    for (int k = 0; k < x->nin; k++) {
        if (!has_zeros(b, x->in[k])) continue;
        int32_t mine = like(node_of(b, x->in[k]), x) ? leaf_behind(b, x->in[k]) : SEVERAL;
        leaf = leaf == NO_LEAF || leaf == mine ? mine : SEVERAL;
    }
    return leaf == NO_LEAF ? SEVERAL : leaf;
}

/* Both sides have their zeros from a sparse leaf each, and the product's type. */
bool brute_of_entries(const brute *b, int32_t n) {
    if (node_of(b, n)->op != CLF_OP_MATMUL) return false;
    for (int k = 0; k < 2; k++) {
        int32_t q = clf_node_operand(b->g, n, k);
        const clf_gnode *x = node_of(b, q);
        bool leaf = x->op == CLF_OP_LEAF || x->op == CLF_OP_CONST || x->op == CLF_OP_PARAM;
        if (!leaf && (x->dim[0].n < 2 || x->dim[1].n < 2)) return false; /* nothing drives single rows and columns */
        if (leaf_behind(b, q) < 0 || node_of(b, q)->dtype != node_of(b, n)->dtype) return false;
    }
    return true;
}

/* The library computes products, except those whose zeros it does not know, or whose bits shall be the loop's; the host puts together,
 * cumulates and does all that no loop can. */
static bool stands_alone(const brute *b, int32_t n) {
    const clf_gnode *x = node_of(b, n);
    if (!loops(b, n)) return true;
    if (x->op == CLF_OP_MATMUL) {
        bool kept = b->lim.own_products && clf_product_loop(b->g, n) != CLF_PRODUCT_WIDE;
        return !kept && (!clf_product_annihilates(b->g, n) || brute_of_entries(b, n));
    }
    return x->op == CLF_OP_CBIND || x->op == CLF_OP_CUM;
}

static void find_class(const brute *b, brute_op *o) {
    int64_t space[2];
    clf_node_space(b->g, o->node, space);
    o->class_[0] = clf_node_loop_rows(b->g, o->node);
    o->class_[1] = o->class_[0] > 1 ? -1 : space[1];
}

/* ---- edges ---- */

/* Some template continues the loop of input k with n. */
static bool fusable(const brute *b, int32_t n, int k) {
    for (int t = 0; clf_templates[t]; t++)
        if (clf_templates[t]->fuse(b->g, n, k)) return true;
    return false;
}

static bool same_space(const brute *b, int32_t n, int32_t q) {
    int64_t x[2], y[2];
    clf_node_space(b->g, n, x);
    clf_node_space(b->g, q, y);
    return x[0] == y[0] && x[1] == y[1];
}

/* The right operand of a product whose rows make rows is wanted whole, and the left one of a wide product that is used transposed. */
static bool wanted_whole(const brute *b, int32_t n, int k) {
    bool turned;
    clf_product form = clf_product_loop(b->g, n);
    if (form != CLF_PRODUCT_ROWS && form != CLF_PRODUCT_WIDE) return false;
    (void)clf_product_operand(b->g, n, 0, &turned);
    return k == 1 || turned;
}

static bool row_by_row(const brute *b, int32_t n, int k) {
    return !wanted_whole(b, n, k) && !clf_gnode_single(node_of(b, clf_node_operand(b->g, n, k)));
}

static int immediates(const clf_gnode *x) {
    bool select = clf_op_is_cell(x->op) && clf_ops[x->op].type == CLF_TYPE_SELECT;
    return x->op == CLF_OP_SEQ ? 3 : select;
}

/* Ranges and the sides of products that are wanted whole are taken from memory; for all other operands a loop computes copied expressions
 * itself. */
static bool takes_copies(const brute *b, int32_t n, int k) { return node_of(b, n)->op != CLF_OP_INDEX && !wanted_whole(b, n, k); }

/* Is o an expression of single values: of copied ones, of slots, of results of what is not cell by cell? Its operands come first. */
static void find_copy(const brute *b, brute_op *o) {
    const clf_gnode *x = node_of(b, o->node);
    bool cheap = clf_node_is_cellwise(x) && x->op != CLF_OP_INDEX;
    o->immediates = immediates(x);
    o->ncone = 1;
    o->need = o->immediates;
    for (int k = 0; k < x->nin && cheap; k++) {
        const clf_gnode *q = node_of(b, x->in[k]);
        int i = find_op(b, x->in[k]);
        bool copied = i >= 0 && b->op[i].copied && takes_copies(b, o->node, k);
        cheap = copied || (clf_gnode_single(q) && !clf_node_is_cellwise(q));
        o->ncone += copied ? b->op[i].ncone : 0;
        o->need += copied ? b->op[i].need : 1;
        if (!copied) add(b, &o->cone, x->in[k]);
        o->cone.ops |= copied ? b->op[i].cone.ops : 0;
        o->cone.slots |= copied ? b->op[i].cone.slots : 0;
    }
    o->copied = cheap && o->ncone <= COPY_OPS;
}

static void find_edges(const brute *b, brute_op *o) {
    for (int k = 0; k < node_of(b, o->node)->nin; k++) {
        int32_t q = clf_node_operand(b->g, o->node, k);
        int i = find_op(b, q);
        add(b, &o->operands, q);
        bool copy = i >= 0 && b->op[i].copied && takes_copies(b, o->node, k);
        if (o->loops && row_by_row(b, o->node, k) && !copy) add(b, &o->by_rows, q);
        if (i < 0) continue;
        brute_ops bit = (brute_ops)(1u << i);
        bool fuses = o->loops && b->op[i].loops && fusable(b, o->node, k);
        bool meets = fuses && (same_space(b, o->node, q) || clf_template_row.fuse(b->g, o->node, k));
        bool copies = o->loops && copy;
        if (meets) o->inside |= bit;
        if (copies) o->copies |= bit;
        if (!meets && !copies) o->outside |= bit;
    }
}

/* ---- all of it ---- */

/* Results. */
static void find_must(brute *b) {
    for (int32_t r = 0; r < b->g->nroot; r++) {
        int i = find_op(b, b->g->root[r]);
        b->roots |= (brute_ops)(i < 0 ? 0 : 1u << i);
    }
    b->must = b->roots;
}

bool brute_facts(brute *b) {
    if (!number_nodes(b)) return false;
    for (int i = 0; i < b->nop; i++) {
        brute_op *o = &b->op[i];
        o->loops = loops(b, o->node);
        o->alone = stands_alone(b, o->node);
        if (o->loops) find_class(b, o);
        find_copy(b, o);
        find_edges(b, o);
    }
    find_must(b);
    return true;
}

bool brute_begin(brute *b, const clf_graph *g, const clf_limits *lim, int ndevice, const clf_profile *const *device) {
    memset(b, 0, sizeof *b);
    b->g = g;
    b->lim = *lim;
    b->ndevice = ndevice;
    for (int d = 0; d < ndevice; d++) b->device[d] = device[d];
    if (!brute_facts(b)) return false;
    brute_terms(b);
    return true;
}

bool brute_make(brute *b, const clf_graph *g, const clf_limits *lim, int ndevice, const clf_profile *const *device) {
    return brute_begin(b, g, lim, ndevice, device) && b->nop <= BRUTE_OPS && brute_sets(b);
}

void brute_release(brute *b) {
    free(b->way);
    b->way = NULL;
}
