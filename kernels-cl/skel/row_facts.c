/* SPDX-License-Identifier: Apache-2.0
 * What a whole run of row.chunk reads, writes and computes, counted from its plan. */
#include "kernels-cl/skel/facts.h"
#include "kernels-cl/skel/row_plan.h"

static void count_values(const clf_row *p, clf_facts *f) {
    uint8_t need[CLF_ROW_VALUES];
    const clf_cplan *c = p->c;
    for (int v = 0; v < c->nvalue; v++) {
        const clf_value *w = &c->value[v];
        double *cell = f->cells[w->dtype == CLF_F64];
        uint32_t over = p->value[v].axes | (w->axis > 0 ? 1u << w->axis : 0);
        if (clf_op_is_cell(w->op) && clf_row_inner(p->value[v].axes) < 0)
            cell[clf_ops[w->op].class_] += clf_facts_cells(c, p->value[v].axes);
        if (w->op == CLF_V_DOT) cell[CLF_CLASS_ADD] += 2 * clf_facts_cells(c, over);
        if (w->op == CLF_V_FOLD || w->op == CLF_V_SCAN) cell[CLF_CLASS_ADD] += clf_facts_cells(c, over) * clf_folds[w->arg].flops;
    }
    for (int t = 0; t < p->nsweep; t++) {
        clf_row_needs(p, t, need);
        for (int v = 0; v < c->nvalue; v++) /* vectors: again for every row */
            if (need[v] == 1 && clf_op_is_cell(c->value[v].op)) clf_facts_value(f, c, v, clf_facts_cells(c, p->value[v].axes | 1u));
    }
}

static void count_sinks(const clf_row *p, clf_facts *f) {
    const clf_cplan *c = p->c;
    for (int s = 0; s < c->nsink; s++) {
        const clf_sink *k = &c->sink[s];
        double cells = clf_facts_cells(c, clf_sink_loop(c, k)), *cell = f->cells[c->value[k->value[0]].dtype == CLF_F64];
        clf_facts_write(f, c, k, clf_facts_cells(c, k->keep));
        if (k->kind == CLF_SINK_FOLD) cell[CLF_CLASS_ADD] += cells * clf_folds[k->fold].flops;
        if (k->kind == CLF_SINK_DOT) cell[CLF_CLASS_ADD] += p->sink[s].symmetric ? cells : 2 * cells;
    }
}

void clf_row_facts(const clf_row *p, clf_facts *out) {
    clf_facts_loads(out, p->c, NULL);
    count_values(p, out);
    count_sinks(p, out);
}
