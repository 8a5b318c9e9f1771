/* SPDX-License-Identifier: Apache-2.0
 * What operators and their operands cost, each by itself, from the terms of planner/cost.h and the rules of planner/bill.h for loops over
 * all cells. See brute.h. */
#include "core/fold.h"
#include "planner/template.h"
#include "tests/support/brute.h"

enum { ROWS_A_PASS = 4 }; /* rows of a loop that share one pass over what each of them reads whole */

static double bytes_of(const clf_gnode *x) {
    return (double)clf_rows(x) * (double)clf_cols(x) * (double)clf_dtype_bytes((clf_dtype)x->dtype);
}

static clf_ps times(clf_ps ps, double n) {
    double all = (double)ps * (n > 0 ? n : 0);
    return all < (double)CLF_PS_MOST ? (clf_ps)all : CLF_PS_MOST;
}

/* Does every row of the loop read the whole of operand k: a row vector, or the right side of a product? */
static bool whole_each_row(const clf_graph *g, int32_t n, int k) {
    clf_product form = clf_product_loop(g, n);
    const clf_gnode *q = &g->node[clf_node_operand(g, n, k)];
    if (k == 0 && clf_product_turned(g, n)) return false;
    if (k == 1 && (form == CLF_PRODUCT_ROWS || form == CLF_PRODUCT_WIDE)) return !clf_gnode_single(q);
    return g->node[n].op != CLF_OP_INDEX && clf_rows(q) != clf_node_loop_rows(g, n) && !clf_gnode_single(q);
}

/* Operand k of n from memory, in a loop: what n needs of it once, or again for each pass. */
static clf_ps way(const brute *b, int32_t n, int k, int d) {
    bool range = b->g->node[n].op == CLF_OP_INDEX;
    double rows = (double)clf_node_loop_rows(b->g, n);
    double bytes = bytes_of(&b->g->node[range ? n : clf_node_operand(b->g, n, k)]);
    clf_ps once = clf_cost_read(b->device[d], bytes, b->g->bytes), again = clf_cost_read(b->device[d], bytes, 0);
    return rows > ROWS_A_PASS && whole_each_row(b->g, n, k) ? clf_ps_add(once, times(again, rows / ROWS_A_PASS - 1)) : once;
}

/* Where operand q is found in brute_op.takes; -1: an argument of the kernel. */
static int place(const brute *b, int32_t q) {
    for (int i = 0; i < b->nop; i++)
        if (b->op[i].node == q) return i;
    for (int i = 0; i < b->nslot; i++)
        if (b->slot[i].node == q && !b->slot[i].free) return BRUTE_FACTS + i;
    return -1;
}

/* Who has an expression copied does not take it from memory. */
static void price_operands(const brute *b, brute_op *o, int d) {
    for (int k = 0; o->loops && k < b->g->node[o->node].nin; k++) {
        int q = place(b, clf_node_operand(b->g, o->node, k));
        if (q >= 0 && q < BRUTE_FACTS && (o->copies >> q & 1) && !clf_product_whole(b->g, o->node, k)) continue;
        clf_ps ps = q < 0 ? 0 : way(b, o->node, k, d);
        if (q >= 0 && ps > o->takes[q][d]) o->takes[q][d] = ps;
    }
}

/* Results that meet over rows exist once a block of them: all copies but one are written and read again. */
static clf_ps result(const brute *b, int32_t n, bool loops, int d) {
    const clf_gnode *x = &b->g->node[n];
    clf_ps once = clf_cost_write(b->device[d], bytes_of(x), b->g->bytes);
    bool fold = x->op == CLF_OP_FOLD && x->attr[1] == CLF_WAY_COLS && clf_cols(x) > 1;
    if (!loops || !(fold || clf_product_loop(b->g, n) == CLF_PRODUCT_COLS)) return once;
    int64_t rows = clf_node_loop_rows(b->g, n), block = clf_col_block(rows, clf_rows(x) * clf_cols(x));
    if (rows <= block) return once;
    clf_ps copy = clf_ps_add(clf_cost_write(b->device[d], bytes_of(x), 0), clf_cost_read(b->device[d], bytes_of(x), 0));
    return clf_ps_add(once, times(copy, (double)rows / (double)block - 1));
}

/* Is something of n begun and ended in every row: a fold, a scan, columns put together, one value a row for many cells? */
static bool begins_rows(const clf_graph *g, int32_t n) {
    const clf_gnode *x = &g->node[n];
    if (x->op == CLF_OP_FOLD) return x->attr[1] == CLF_WAY_ROWS || (x->attr[1] == CLF_WAY_COLS && clf_cols(x) > 1);
    bool column = false;
    for (int k = 0; k < x->nin; k++) {
        const clf_gnode *q = &g->node[x->in[k]];
        column = column || (clf_rows(q) > 1 && clf_cols(q) == 1 && clf_cols(x) > 1);
    }
    return x->op == CLF_OP_CUM || x->op == CLF_OP_CBIND || (clf_op_is_cell(x->op) && column);
}

/* So much computed in a row of cells, of which a part goes on while nothing else does. */
static void in_row(const brute *b, brute_op *o, clf_ps ps, int d) {
    clf_ps apart = times(ps, b->device[d]->row_alone);
    o->loop_ps[d] = clf_ps_add(o->loop_ps[d], ps - apart);
    o->apart_ps[d] = clf_ps_add(o->apart_ps[d], apart);
}

/* Its operator's cells, and what a row of them, or a product in each row, costs beside. */
static void work(const brute *b, brute_op *o, int d) {
    double rows = (double)clf_node_loop_rows(b->g, o->node);
    clf_product form = clf_product_loop(b->g, o->node);
    bool product = b->g->node[o->node].op == CLF_OP_MATMUL && form != CLF_PRODUCT_INNER, vector = product && form != CLF_PRODUCT_WIDE;
    clf_ps cells = clf_cost_node(b->device[d], b->g, o->node, 1), dots = clf_cost_dots(b->device[d], rows);
    o->loop_ps[d] = o->apart_ps[d] = 0;
    if (vector) {
        in_row(b, o, cells, d);
        in_row(b, o, dots, d);
    } else {
        o->loop_ps[d] = clf_ps_add(cells, product ? dots : 0);
    }
    if (begins_rows(b->g, o->node)) in_row(b, o, clf_cost_rows(b->device[d], rows), d);
}

static clf_ps price_alone(const brute *b, const brute_op *o, int d) {
    int kind = b->g->node[o->node].op == CLF_OP_MATMUL ? CLF_STEP_LIBRARY : CLF_STEP_CALLOUT;
    clf_ps moved = result(b, o->node, false, d), computed = clf_cost_alone(b->device[d], b->g, o->node);
    for (int k = 0; k < b->nop; k++)
        if (o->operands.ops >> k & 1) moved = clf_ps_add(moved, b->op[k].read[d]);
    for (int k = 0; k < b->nslot; k++)
        if (o->operands.slots >> k & 1) moved = clf_ps_add(moved, b->slot[k].read[d]);
    return clf_ps_add(clf_cost_launch(b->device[d], kind), clf_cost_both(b->device[d], moved, computed));
}

/* Anything on the first device, and on one that is not for loops only; else a product of matrices of cells that it has a library for. */
static bool runs_alone(const brute *b, int32_t n, int d) {
    const clf_gnode *x = &b->g->node[n];
    bool matrices =
        x->op == CLF_OP_MATMUL && clf_rows(x) > 1 && clf_cols(x) > 1 && clf_cols(&b->g->node[x->in[0]]) > 0 && !brute_of_entries(b, n);
    return !d || !b->lim.dev.loops_only[d] || (matrices && b->device[d]->gemm_flops_per_s[x->dtype == CLF_F64] > 0);
}

static void price_op(const brute *b, brute_op *o, int d) {
    double bytes = bytes_of(&b->g->node[o->node]);
    o->read[d] = clf_cost_read(b->device[d], bytes, b->g->bytes);
    o->move[d] = clf_cost_transfer(b->device[d], bytes);
    o->write[d] = result(b, o->node, o->loops, d);
    o->loop_ps[d] = o->apart_ps[d] = 0;
    if (o->loops) work(b, o, d);
    o->alone_ps[d] = o->alone && runs_alone(b, o->node, d) ? price_alone(b, o, d) : CLF_PS_MOST;
}

static void price_slot(const brute *b, brute_slot *s, int d) {
    const clf_gnode *x = &b->g->node[s->node];
    s->free = x->scalar;
    s->read[d] = s->free ? 0 : clf_cost_read(b->device[d], bytes_of(x), b->g->bytes);
    s->move[d] = s->free ? 0 : clf_cost_transfer(b->device[d], bytes_of(x));
    if (!b->lim.dev.resident[d]) return;
    s->move[d] -= b->lim.dev.resident[d][x->attr[0]];
    if (s->move[d] < 0) s->move[d] = 0;
}

void brute_terms(brute *b) {
    for (int d = 0; d < b->ndevice; d++) {
        b->launch[d] = clf_cost_launch(b->device[d], CLF_STEP_FUSED);
        b->wait[d] = d ? clf_cost_wait(b->device[d]) : 0;
        for (int i = 0; i < b->nslot; i++) price_slot(b, &b->slot[i], d);
        for (int i = 0; i < b->nop; i++) {
            price_op(b, &b->op[i], d);
            price_operands(b, &b->op[i], d);
        }
    }
}
