/* SPDX-License-Identifier: Apache-2.0
 * Operands of cell.chunk asked for before they are read: hints that change no result. Measured on two cores, data beyond every cache.
 * A page ahead: the hardware foresees a stream up to the end of its page, and falls behind while a loop computes; so each page begins with
 * the memory's whole delay. sum(exp(X)) 2.8 times as fast (f32 2.2), sum(Z * log(1 + exp(-X * Y))) 1.2, X / 3 + 1 1.07; of cheap operators
 * one stream 1.02 to 1.1.
 * Block by block: several streams of cheap operators take turns at each line, and memory opens a page of its own for each; asked for eight
 * lines of one, then eight of the next, it serves sums of products 1.08 times as fast, rows 1.06, stores beside a sum 1.1. Folds by column
 * lose by either (0.85 to 0.99). row.chunk has its own rules (row_fetch.c). */
#include "kernels-cl/skel/cell_text.h"

enum { LINE_BYTES = 64, AHEAD_BYTES = 4096, BLOCK_BYTES = 8 * LINE_BYTES };

/* Does this loop, and none before it, read value v from memory, cell by cell? *axes: what it varies with. */
static bool begins_here(const clf_ctext *x, int v, uint32_t *axes) {
    const clf_value *w = clf_ctext_val(x, v);
    uint64_t before = ((uint64_t)1 << x->now) - 1;
    clf_cell_at at;
    if (w->op != CLF_V_LOAD || clf_ctext_level(x, v) < 2 || !(x->uses[v] >> x->now & 1) || x->uses[v] & before) return false;
    clf_cell_access(x->p, &x->c->access[w->arg], &at);
    *axes = at.axes;
    return x->p->kind == CLF_CELL_FLAT || (at.axes & x->p->i);
}

/* Does the loop compute longer than it takes to read a cell? */
static bool computes(const clf_ctext *x) {
    for (int v = 0; v < x->c->nvalue; v++) {
        const clf_value *w = clf_ctext_val(x, v);
        if (!clf_op_is_cell(w->op) || clf_ctext_level(x, v) < 2) continue;
        if (clf_ops[w->op].class_ != CLF_CLASS_ADD && clf_ops[w->op].class_ != CLF_CLASS_CMP) return true;
    }
    return false;
}

static int streams(const clf_ctext *x, int *narrowest) {
    int n = 0;
    uint32_t axes;
    for (int v = 0; v < x->c->nvalue; v++) {
        if (!begins_here(x, v, &axes)) continue;
        int bytes = (int)clf_dtype_bytes((clf_dtype)clf_ctext_val(x, v)->dtype);
        if (!n++ || bytes < *narrowest) *narrowest = bytes;
    }
    return n;
}

/* `cells` cells of each operand from that many bytes behind where the loop is; 0: from as many cells behind. */
static void fetch(clf_ctext *x, int ahead, int cells) {
    for (int v = 0; v < x->c->nvalue; v++) {
        uint32_t axes;
        if (!begins_here(x, v, &axes)) continue;
        const clf_value *w = clf_ctext_val(x, v);
        int bytes = (int)clf_dtype_bytes((clf_dtype)w->dtype);
        for (int r = 0; r < x->ru; r++)
            for (int b = 0; b < cells * bytes; b += LINE_BYTES) {
                CLF_PUT(x, "CLF_FETCH(q%d", w->arg);
                clf_ctext_suffix(x, axes, r);
                CLF_PUT(x, " + u + %d)\n", ((ahead ? ahead : cells * bytes) + b) / bytes);
            }
    }
}

int clf_ctext_block(const clf_ctext *x) {
    int narrowest = 1;
    if (x->sinks || x->once || x->stages > 1 || x->p->ncol || computes(x) || streams(x, &narrowest) < 2) return 0;
    int cells = BLOCK_BYTES / narrowest;
    return x->p->kind == CLF_CELL_NARROW && x->p->cols < cells ? 0 : cells;
}

void clf_ctext_fetch_block(clf_ctext *x, int cells) { fetch(x, 0, cells); }

void clf_ctext_fetch(clf_ctext *x) {
    int narrowest;
    if (x->sinks || x->once) return;
    if (computes(x) || (!x->p->ncol && streams(x, &narrowest) < 2)) fetch(x, AHEAD_BYTES, x->p->width);
}
