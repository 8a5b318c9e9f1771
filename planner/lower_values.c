/* SPDX-License-Identifier: Apache-2.0
 * Values of a plan and the steps between formats: a value stands for a node as some step stores it, made on first use; a node stored in
 * one format and wanted in the other gets a second value and one CONVERT step, shared by all who want it so.
 * Invariant: value_of and other_of name every value once, so a conversion is never made twice. */
#include <string.h>

#include "planner/bill.h"
#include "planner/lowering.h"

static clf_plan_value *new_value(clf_plan *plan, int32_t n) {
    const clf_gnode *x = &plan->g.node[n];
    clf_plan_value *v = &plan->value[plan->nvalue++];
    memset(v, 0, sizeof *v);
    v->node = n;
    v->slot = v->pattern = v->made = v->last = -1;
    v->dtype = x->dtype;
    v->scalar = x->scalar;
    v->rows = clf_rows(x);
    v->cols = clf_cols(x);
    v->nnz = v->rows * v->cols;
    v->bytes = (size_t)v->nnz * clf_dtype_bytes((clf_dtype)x->dtype);
    return v;
}

void clf_plan_in_csr(clf_plan_value *v, int64_t nnz) {
    v->format = CLF_CSR;
    v->nnz = nnz;
    v->bytes = (size_t)clf_csr_bytes(v->rows, nnz, (clf_dtype)v->dtype);
}

int32_t clf_plan_value_for(clf_plan *plan, int32_t n) {
    if (plan->value_of[n] >= 0) return plan->value_of[n];
    const clf_gnode *x = &plan->g.node[n];
    clf_plan_value *v = new_value(plan, n);
    v->slot = clf_node_is_slot(x) ? (int32_t)x->attr[0] : -1;
    if (v->slot >= 0 && x->format == CLF_CSR) clf_plan_in_csr(v, x->nnz);
    return plan->value_of[n] = plan->nvalue - 1;
}

clf_step *clf_plan_step(clf_plan *plan) {
    clf_step *s = &plan->step[plan->nstep++];
    memset(s, 0, sizeof *s);
    s->node = s->driver = -1;
    s->sparse = "";
    return s;
}

void clf_step_count(const clf_plan *plan, clf_step *s) {
    for (int i = 0; i < s->nin; i++) s->read_bytes += (double)plan->value[s->in[i]].bytes;
    for (int i = 0; i < s->nout; i++) s->write_bytes += (double)plan->value[s->out[i]].bytes;
}

clf_status clf_step_one_result(clf_plan *plan, clf_step *s, int nin, int32_t out, clf_err *err) {
    s->in = clf_arena_new(&plan->arena, (size_t)nin, sizeof *s->in);
    s->out = clf_arena_new(&plan->arena, 1, sizeof *s->out);
    if (!s->in || !s->out) return clf_fail(err, CLF_E_NOMEM, "planning: out of memory");
    s->nin = nin;
    s->nout = 1;
    s->out[0] = out;
    return CLF_OK;
}

clf_status clf_plan_convert(clf_plan *plan, clf_convert how, int32_t node, int32_t from, int32_t to, clf_err *err) {
    clf_step *s = clf_plan_step(plan);
    s->kind = CLF_STEP_CONVERT;
    s->convert = (uint8_t)how;
    s->node = node;
    CLF_TRY(clf_step_one_result(plan, s, 1, to, err));
    s->in[0] = from;
    clf_step_count(plan, s);
    s->bill = clf_arena_new(&plan->arena, 1, sizeof *s->bill);
    if (!s->bill) return clf_fail(err, CLF_E_NOMEM, "planning: out of memory");
    return clf_bill_convert(&plan->g, node, how, (double)plan->value[how == CLF_CONVERT_CSR ? to : from].nnz, &plan->arena, s->bill, err);
}

/* Node n in the format that it is not stored in. */
static clf_status other_for(clf_plan *plan, int32_t n, clf_convert how, int32_t *value, clf_err *err) {
    int32_t v = clf_plan_value_for(plan, n);
    if (plan->other_of[n] < 0) {
        clf_plan_value *to = new_value(plan, n);
        if (how == CLF_CONVERT_CSR) clf_plan_in_csr(to, clf_entries_of(&plan->g, n));
        plan->other_of[n] = plan->nvalue - 1;
        CLF_TRY(clf_plan_convert(plan, how, n, v, plan->other_of[n], err));
    }
    *value = plan->other_of[n];
    return CLF_OK;
}

clf_status clf_plan_dense_for(clf_plan *plan, int32_t n, int32_t *value, clf_err *err) {
    *value = clf_plan_value_for(plan, n);
    return plan->value[*value].format == CLF_DENSE ? CLF_OK : other_for(plan, n, CLF_CONVERT_DENSE, value, err);
}

clf_status clf_plan_entries_for(clf_plan *plan, int32_t n, int32_t *value, clf_err *err) {
    *value = clf_plan_value_for(plan, n);
    return plan->value[*value].format == CLF_CSR ? CLF_OK : other_for(plan, n, CLF_CONVERT_CSR, value, err);
}

clf_status clf_plan_twin_for(clf_plan *plan, int32_t n, int32_t turned, int32_t *value, clf_err *err) {
    int32_t v;
    CLF_TRY(clf_plan_entries_for(plan, n, &v, err));
    if (plan->twin_of[n] < 0) {
        clf_plan_in_csr(new_value(plan, turned), plan->value[v].nnz);
        plan->twin_of[n] = plan->nvalue - 1;
        CLF_TRY(clf_plan_convert(plan, CLF_CONVERT_TWIN, n, v, plan->twin_of[n], err));
    }
    *value = plan->twin_of[n];
    return CLF_OK;
}
