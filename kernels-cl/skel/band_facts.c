/* SPDX-License-Identifier: Apache-2.0
 * What a whole run of row.group reads, writes and computes, counted from its plan. Rows that a later job of a pass reads again come from a
 * near cache, so every operand is counted once; buffers and states are written and read. */
#include "kernels-cl/skel/band_plan.h"
#include "kernels-cl/skel/facts.h"

/* Positions at which job k computes the values of its items. */
static uint32_t axes_of(const clf_band *p, int k) {
    const clf_job *j = &p->job[k];
    uint32_t axes = j->keep | (j->axis >= 0 ? 1u << j->axis : 0);
    return j->kind == CLF_JOB_COLS || j->kind == CLF_JOB_FULL ? axes | 1u : axes;
}

static void mark(const clf_band *p, int k, uint8_t *used) {
    const clf_cplan *c = p->c;
    for (int v = 0; v < c->nvalue; v++) used[v] = 0;
    for (int s = 0; s < p->nitem; s++) {
        clf_sink sink = clf_band_sink(p, s);
        if (p->item[s].job != k) continue;
        used[sink.value[0]] = 1;
        if (sink.kind == CLF_SINK_DOT) used[sink.value[1]] = 1;
    }
    for (int q = 0; q < 2 && p->job[k].kind == CLF_JOB_CAT; q++) used[c->value[p->job[k].value].in[q]] = 1;
    for (int v = c->nvalue - 1; v >= 0; v--)
        for (int q = 0; q < 3; q++)
            if (used[v] && !clf_band_buffered(&c->value[v]) && c->value[v].in[q] >= 0) used[c->value[v].in[q]] = 1;
}

/* Values that do not vary along a task are computed once by each of its lanes: counted at the positions of their own axes. */
static void count_values(const clf_band *p, clf_facts *f) {
    uint8_t used[CLF_BAND_VALUES];
    const clf_cplan *c = p->c;
    for (int k = 0; k < p->njob; k++) {
        mark(p, k, used);
        for (int v = 0; v < c->nvalue; v++)
            if (used[v] && clf_op_is_cell(c->value[v].op)) clf_facts_value(f, c, v, clf_facts_cells(c, c->value[v].axes));
    }
}

static void count_items(const clf_band *p, clf_facts *f) {
    for (int s = 0; s < p->nitem; s++) {
        clf_sink k = clf_band_sink(p, s);
        double flops = k.kind == CLF_SINK_DOT ? 2 : k.kind == CLF_SINK_FOLD ? clf_folds[k.fold].flops : 0;
        f->cells[p->c->value[k.value[0]].dtype == CLF_F64][CLF_CLASS_ADD] += flops * clf_facts_cells(p->c, axes_of(p, p->item[s].job));
        if (s < p->c->nsink) clf_facts_write(f, p->c, &k, clf_facts_cells(p->c, k.keep));
    }
}

void clf_band_facts(const clf_band *p, clf_facts *out) {
    clf_facts_loads(out, p->c, NULL);
    count_values(p, out);
    count_items(p, out);
    out->read_bytes += 8 * (double)p->words;
    out->write_bytes += 8 * (double)p->words;
}
