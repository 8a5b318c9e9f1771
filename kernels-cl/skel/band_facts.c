/* SPDX-License-Identifier: Apache-2.0
 * What a whole run of row.group or entry.group reads, writes and computes, counted from its plan. Rows that a later job of a pass reads again come from a
 * near cache, so every operand is counted once; buffers and states are written and read. */
#include "formats/sparse.h"
#include "kernels-cl/skel/band_plan.h"

static double cells_at(const clf_band *p, uint32_t axes) {
    double n = 1;
    for (int a = 0; a < p->c->naxes; a++)
        if (axes >> a & 1u && (a || !clf_band_by_entry(p, axes))) n *= (double)clf_band_extent(p, a);
    return n;
}

static void count_reads(const clf_band *p, clf_facts *f) {
    const clf_cplan *c = p->c;
    for (int k = 0; k < c->nin; k++) {
        double read = 0, all = 1;
        if (k == p->csr) f->read_bytes += clf_csr_bytes(p->rows, clf_band_extent(p, p->e), (clf_dtype)c->in[k].dtype) * (p->apart ? 2 : 1);
        if (c->in[k].format != CLF_DENSE) continue;
        for (int v = 0; v < c->nvalue; v++)
            if (c->value[v].op == CLF_V_LOAD && c->access[c->value[v].arg].input == k) read += cells_at(p, c->value[v].axes);
        for (int d = 0; d < c->in[k].rank; d++) all *= (double)c->in[k].dim[d].n;
        f->read_bytes += (read < all ? read : all) * (double)clf_dtype_bytes((clf_dtype)c->in[k].dtype);
    }
}

/* A job in two sets of bands is done twice. */
static double times(const clf_band *p, int job) { return p->job[job].sets == 3 ? 2 : 1; }

/* Positions at which job k computes the values of its items. */
static uint32_t axes_of(const clf_band *p, int k) {
    const clf_job *j = &p->job[k];
    uint32_t axes = j->keep | (j->axis >= 0 ? 1u << j->axis : 0);
    return j->kind == CLF_JOB_COLS || j->kind == CLF_JOB_FULL || j->kind == CLF_JOB_ENTRIES ? axes | 1u : axes;
}

static void mark(const clf_band *p, int k, uint8_t *used) {
    const clf_cplan *c = p->c;
    for (int v = 0; v < c->nvalue; v++) used[v] = 0;
    for (int s = 0; s < p->nitem; s++) {
        clf_sink sink = clf_band_sink(p, s);
        if (p->item[s].job != k) continue;
        used[sink.value[0]] = 1;
        if (sink.kind == CLF_SINK_DOT) used[sink.value[1]] = 1;
        if (clf_band_rest(p, s) >= 0) used[clf_band_rest(p, s)] = 1;
    }
    for (int q = 0; q < 2 && p->job[k].kind == CLF_JOB_CAT; q++) used[c->value[p->job[k].value].in[q]] = 1;
    for (int v = c->nvalue - 1; v >= 0; v--)
        for (int q = 0; q < 3; q++)
            if (used[v] && !clf_band_buffered(p, &c->value[v]) && c->value[v].in[q] >= 0) used[c->value[v].in[q]] = 1;
}

/* Values that do not vary along a task are computed once by each of its lanes: counted at the positions of their own axes. */
static void count_values(const clf_band *p, clf_facts *f) {
    uint8_t used[CLF_BAND_VALUES];
    const clf_cplan *c = p->c;
    for (int k = 0; k < p->njob; k++) {
        mark(p, k, used);
        for (int v = 0; v < c->nvalue; v++) {
            const clf_value *w = &c->value[v];
            if (used[v] && clf_op_is_cell(w->op))
                f->cells[c->value[w->in[0]].dtype == CLF_F64][clf_ops[w->op].class_] += times(p, k) * cells_at(p, w->axes);
            if (used[v] && clf_band_is_pair(p, w))
                f->cells[w->dtype == CLF_F64][CLF_CLASS_ADD] += 2 * times(p, k) * cells_at(p, w->axes | 1u << w->axis);
        }
    }
}

static void count_items(const clf_band *p, clf_facts *f) {
    for (int s = 0; s < p->nitem; s++) {
        clf_sink k = clf_band_sink(p, s);
        if (p->item[s].job < 0) continue;
        double flops = k.kind == CLF_SINK_DOT ? 2 : k.kind == CLF_SINK_FOLD ? clf_folds[k.fold].flops : 0;
        f->cells[p->c->value[k.value[0]].dtype == CLF_F64][CLF_CLASS_ADD] +=
            flops * times(p, p->item[s].job) * cells_at(p, axes_of(p, p->item[s].job));
        double kept = p->job[p->item[s].job].kind == CLF_JOB_MEET ? (double)p->job[p->item[s].job].cells : cells_at(p, k.keep);
        if (s < p->c->nsink) f->write_bytes += kept * (double)clf_dtype_bytes((clf_dtype)p->c->out[k.out[0]].dtype);
    }
}

double clf_band_filled(const clf_band *p) {
    double least = 1;
    for (int k = 0; k < p->njob; k++) {
        double busy = cells_at(p, p->job[k].keep) / ((double)p->rows * p->local);
        if (p->job[k].kind == CLF_JOB_MEET && p->rows && busy < least) least = busy;
    }
    return least > 1.0 / p->local ? least : 1.0 / p->local;
}

void clf_band_count(const clf_band *p, clf_facts *out) {
    count_reads(p, out);
    count_values(p, out);
    count_items(p, out);
    int64_t words = p->e < 0 ? p->words : p->base + (p->flat + p->bands + p->meet.bands) * p->leaf_at; /* stacks are for long rows */
    out->read_bytes += 8 * (double)words;
    out->write_bytes += 8 * (double)words;
}
