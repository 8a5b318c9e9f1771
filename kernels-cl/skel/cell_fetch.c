/* SPDX-License-Identifier: Apache-2.0
 * Operands of cell.chunk asked for a page before they are read: hints that change no result. The hardware foresees a stream up to the end
 * of its page, and falls behind while a loop computes; so each page begins with the memory's whole delay. Measured on two cores, data
 * beyond every cache: sum(exp(X)) 2.8 times as fast (f32 2.2), sum(Z * log(1 + exp(-X * Y))) 1.2, X / 3 + 1 1.07; of cheap operators one
 * stream 1.02 to 1.1, sums of several streams 1.01 to 1.04. Not for cheap operators on several streams whose rows are folded or whose
 * cells are stored (0.91 to 0.99), nor folded into columns (0.85 to 0.98). row.chunk has its own rules (row_fetch.c). */
#include "kernels-cl/skel/cell_text.h"

enum { LINE_BYTES = 64, AHEAD_BYTES = 4096 };

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

static bool stores(const clf_ctext *x) {
    for (int s = 0; s < x->c->nsink; s++)
        if (x->c->sink[s].kind == CLF_SINK_STORE && (x->c->sink[s].keep & x->p->live)) return true;
    return false;
}

static bool is_worth_it(const clf_ctext *x) {
    int streams = 0;
    uint32_t axes;
    if (computes(x)) return true;
    for (int v = 0; v < x->c->nvalue; v++) streams += begins_here(x, v, &axes);
    return !x->p->ncol && (streams < 2 || (x->p->kind == CLF_CELL_FLAT && !stores(x)));
}

void clf_ctext_fetch(clf_ctext *x) {
    if (x->sinks || x->once || !is_worth_it(x)) return;
    for (int v = 0; v < x->c->nvalue; v++) {
        uint32_t axes;
        if (!begins_here(x, v, &axes)) continue;
        const clf_value *w = clf_ctext_val(x, v);
        int bytes = (int)clf_dtype_bytes((clf_dtype)w->dtype), span = x->p->width * bytes;
        for (int r = 0; r < x->ru; r++)
            for (int b = 0; b < span; b += LINE_BYTES) {
                CLF_PUT(x, "CLF_FETCH(q%d", w->arg);
                clf_ctext_suffix(x, axes, r);
                CLF_PUT(x, " + u + %d)\n", (AHEAD_BYTES + b) / bytes);
            }
    }
}
