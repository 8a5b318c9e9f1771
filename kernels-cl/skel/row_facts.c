/* SPDX-License-Identifier: Apache-2.0
 * What a whole run of row.chunk reads, writes and computes, counted from its plan. */
#include "kernels-cl/skel/row_plan.h"

static double cells_at(const clf_row *p, uint32_t axes) {
    double n = 1;
    for (int a = 0; a < p->c->naxes; a++)
        if (axes >> a & 1u) n *= a ? (double)clf_row_extent(p, a) : (double)p->rows;
    return n;
}

static void count_reads(const clf_row *p, clf_facts *f) {
    const clf_cplan *c = p->c;
    for (int k = 0; k < c->nin; k++) {
        double read = 0, all = 1;
        for (int v = 0; v < c->nvalue; v++)
            if (c->value[v].op == CLF_V_LOAD && c->access[c->value[v].arg].input == k) read += cells_at(p, c->value[v].axes);
        for (int d = 0; d < c->in[k].rank; d++) all *= (double)c->in[k].dim[d].n;
        f->read_bytes += (read < all ? read : all) * (double)clf_dtype_bytes((clf_dtype)c->in[k].dtype);
    }
}

static void count_values(const clf_row *p, clf_facts *f) {
    uint8_t need[CLF_ROW_VALUES];
    const clf_cplan *c = p->c;
    for (int v = 0; v < c->nvalue; v++) {
        const clf_value *w = &c->value[v];
        double *cell = f->cells[w->dtype == CLF_F64];
        uint32_t over = p->value[v].axes | (w->axis > 0 ? 1u << w->axis : 0);
        if (clf_op_is_cell(w->op) && clf_row_inner(p->value[v].axes) < 0) cell[clf_ops[w->op].class_] += cells_at(p, p->value[v].axes);
        if (w->op == CLF_V_DOT) cell[CLF_CLASS_ADD] += 2 * cells_at(p, over);
        if (w->op == CLF_V_FOLD || w->op == CLF_V_SCAN) cell[CLF_CLASS_ADD] += cells_at(p, over) * clf_folds[w->arg].flops;
    }
    for (int t = 0; t < p->nsweep; t++) {
        clf_row_needs(p, t, need);
        for (int v = 0; v < c->nvalue; v++) /* vectors: again for every row */
            if (need[v] == 1 && clf_op_is_cell(c->value[v].op))
                f->cells[c->value[c->value[v].in[0]].dtype == CLF_F64][clf_ops[c->value[v].op].class_] +=
                    cells_at(p, p->value[v].axes | 1u);
    }
}

static void count_sinks(const clf_row *p, clf_facts *f) {
    const clf_cplan *c = p->c;
    for (int s = 0; s < c->nsink; s++) {
        const clf_sink *k = &c->sink[s];
        double cells = cells_at(p, clf_sink_loop(c, k)), *cell = f->cells[c->value[k->value[0]].dtype == CLF_F64];
        f->write_bytes += cells_at(p, k->keep) * (double)clf_dtype_bytes((clf_dtype)c->out[k->out[0]].dtype);
        if (k->kind == CLF_SINK_FOLD) cell[CLF_CLASS_ADD] += cells * clf_folds[k->fold].flops;
        if (k->kind == CLF_SINK_DOT) cell[CLF_CLASS_ADD] += 2 * cells;
    }
}

void clf_row_facts(const clf_row *p, clf_facts *out) {
    count_reads(p, out);
    count_values(p, out);
    count_sinks(p, out);
}
