/* SPDX-License-Identifier: Apache-2.0
 * Operands of cell.chunk asked for a page before they are read: hints that change no result. The hardware foresees a stream up to the end
 * of its page, and not at all while a loop over a tile computes; so each page begins with the memory's whole delay. Measured on data
 * beyond the second cache: one operand 1.1 to 1.2 times as fast, rows of ten 1.2, sum(Z * log(1 + exp(-X * Y))) 1.4; three streams
 * without functions, and data within the caches, as before. row.chunk has its own rules (row_fetch.c). */
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

void clf_ctext_fetch(clf_ctext *x) {
    if (x->sinks || x->once) return;
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
