/* SPDX-License-Identifier: Apache-2.0
 * From parts of the cover to steps of the plan: loops become cplans, single operators library and host steps. Operands in memory, and
 * their conversion, are lower_values.c's; nodes as values of a cplan lower_value.c's, what leaves a loop lower_sink.c's. */
#include <string.h>

#include "planner/axes.h"
#include "planner/bill.h"
#include "planner/lowering.h"

/* ---- loops ---- */

/* Axes that must stand in front of the driver's: left sides of products whose right side is the driver's. */
static void axes_before_entries(clf_lowering *L) {
    const clf_graph *g = L->g;
    int64_t m = clf_cols(&g->node[L->driver]);
    for (int32_t j = 0; j < L->part->n; j++) {
        int32_t n = L->part->node[j];
        if (clf_product_loop(g, n) != CLF_PRODUCT_COLS) continue;
        int64_t left = clf_cols(&g->node[clf_node_operand(g, n, 0)]), right = clf_cols(&g->node[clf_node_operand(g, n, 1)]);
        if (right == m && left != 1) clf_lower_axis_but(L, left, -1, 0);
    }
}

/* Those of columns that meet over rows, in an order in which little is computed along two. */
static void axes_that_meet(clf_lowering *L) {
    clf_axes first;
    clf_axes_order(L->g, L->part, &first);
    for (int i = 0; i < first.n; i++) clf_lower_axis(L, first.width[i]);
}

/* The driver's stored entries as an axis, owned by the access that reads them. */
static void entry_axis(clf_lowering *L) {
    const clf_plan_value *d = &L->plan->value[clf_plan_value_for(L->plan, L->driver)];
    L->entry = clf_build_axis(&L->b, CLF_AXIS_ENTRY, d->nnz);
    if (L->b.failed) return;
    L->width[L->entry] = d->cols;
    L->b.c.axis[L->entry].parent = 0;
    int v = clf_lower_operand(L, L->driver, L->entry, (clf_dtype)d->dtype);
    if (!L->b.failed) L->b.c.axis[L->entry].owner = (int16_t)L->b.c.value[v].arg;
}

static void make_axes(clf_lowering *L) {
    if (!L->rowwise) {
        for (int d = 0; d < 2 && !L->single; d++) L->width[clf_build_axis(&L->b, CLF_AXIS_RANGE, L->space[d])] = L->space[1];
        return;
    }
    L->width[clf_build_axis(&L->b, CLF_AXIS_RANGE, L->space[0])] = -1; /* rows: no columns are as many as that */
    if (L->driver < 0) {
        axes_that_meet(L);
        return;
    }
    axes_before_entries(L);
    entry_axis(L);
}

static double flops_of(const clf_lowering *L, int32_t n) {
    const clf_gnode *x = &L->g->node[n];
    int64_t space[2];
    if (x->op == CLF_OP_MATMUL) return 2 * (double)clf_rows(x) * (double)clf_cols(x) * (double)clf_product_terms(L->g, n);
    clf_node_space(L->g, n, space);
    double each = x->op == CLF_OP_FOLD ? clf_folds[x->attr[0]].flops : clf_op_is_cell(x->op) ? clf_ops[x->op].flops : 0;
    return each * (double)space[0] * (double)space[1];
}

/* What explain calls the loop. */
static int name_of(const clf_lowering *L) {
    int folds = 0, stores = 0;
    bool wide = false;
    for (int32_t j = 0; j < L->part->n; j++) {
        int32_t n = L->part->node[j];
        const clf_gnode *x = &L->g->node[n];
        wide = wide || clf_product_loop(L->g, n) == CLF_PRODUCT_WIDE;
        if (!clf_cover_stores(L->cover, L->number, n)) continue;
        bool full = clf_folds_all(x) || clf_product_loop(L->g, n) == CLF_PRODUCT_INNER;
        folds += full;
        stores += !full;
    }
    if (wide) return CLF_TEMPLATE_OUTER;
    if (L->rowwise && clf_part_needs_rows(L->g, L->cover, L->number)) return CLF_TEMPLATE_ROW;
    return folds > 1 && !stores ? CLF_TEMPLATE_MAGG : CLF_TEMPLATE_CELL;
}

/* Work on a driver's entries alone, as a share of all cells. */
static double share_visited(const clf_lowering *L) {
    if (L->driver < 0) return 1;
    const clf_plan_value *d = &L->plan->value[clf_plan_value_for(L->plan, L->driver)];
    double cells = (double)d->rows * (double)d->cols;
    return cells > 0 ? (double)d->nnz / cells : 1;
}

static clf_status lower_loop(clf_plan *plan, const clf_cover *cover, int32_t i, clf_lowered *done, clf_err *err) {
    const clf_part *part = &cover->part[i];
    clf_step draft; /* becomes a step once the conversions that it needs are steps */
    memset(&draft, 0, sizeof draft);
    draft.node = draft.driver = -1;
    clf_lowering L = {.plan = plan,
                      .cover = cover,
                      .g = &plan->g,
                      .part = part,
                      .number = i,
                      .step = &draft,
                      .done = done,
                      .driver = -1,
                      .entry = -1,
                      .err = err};
    L.driver = part->driver;
    draft.sparse = part->sparse;
    if (L.driver >= 0) L.zero = clf_driver_zeros(&plan->g, cover, i);
    L.rowwise = L.driver >= 0 || clf_part_needs_rows(&plan->g, cover, i);
    clf_node_space(&plan->g, part->node[0], L.space);
    L.space[0] = clf_node_loop_rows(&plan->g, part->node[0]);
    L.single = !L.rowwise && L.space[0] == 1 && L.space[1] == 1;
    if (L.driver >= 0) draft.driver = clf_plan_value_for(plan, L.driver);
    clf_build_begin(&L.b, &plan->arena);
    make_axes(&L);
    for (int32_t j = 0; j < part->n; j++) {
        draft.flops += flops_of(&L, part->node[j]) * share_visited(&L);
        if (!L.rowwise && clf_template_row.close(L.g, part->node[j]) == CLF_OPEN_VALID && L.g->node[part->node[j]].op != CLF_OP_FOLD)
            clf_lower_node(&L, part->node[j], clf_lower_axis(&L, clf_cols(&L.g->node[part->node[j]])));
        if (clf_cover_stores(cover, i, part->node[j])) clf_lower_sink(&L, part->node[j]);
    }
    draft.template_ = (uint8_t)name_of(&L);
    if (L.failed != CLF_OK) return L.failed;
    CLF_TRY(clf_build_end(&L.b, &draft.c, err));
    clf_step *s = clf_plan_step(plan);
    *s = draft;
    clf_step_count(plan, s);
    return clf_step_key(plan, s, err);
}

/* ---- operators on their own ---- */

/* The transpose of a sparse matrix: its twin. */
static clf_status lower_twin(clf_plan *plan, int32_t n, clf_err *err) {
    int32_t from = clf_plan_value_for(plan, plan->g.node[n].in[0]), to = clf_plan_value_for(plan, n);
    clf_plan_in_csr(&plan->value[to], plan->value[from].nnz);
    return clf_plan_convert(plan, CLF_CONVERT_TWIN, n, from, to, err);
}

/* Operand k of a step alone, which takes a product's side as it lies in memory: as cells, or, of a product of entries, as rows of these. */
static clf_status lower_side(clf_plan *plan, int32_t n, int k, int32_t *value, uint8_t *turned, clf_err *err) {
    const clf_graph *g = &plan->g;
    bool t = false, entries = clf_product_of_entries(g, n);
    int32_t q = g->node[n].op == CLF_OP_MATMUL ? clf_product_operand(g, n, k, &t) : g->node[n].in[k];
    *turned = t && !entries;
    if (!entries) return clf_plan_dense_for(plan, q, value, err);
    return t ? clf_plan_twin_for(plan, q, g->node[n].in[k], value, err) : clf_plan_entries_for(plan, q, value, err);
}

static double library_flops(const clf_graph *g, int32_t n) {
    const clf_gnode *x = &g->node[n];
    if (clf_product_of_entries(g, n)) return 2 * clf_product_pairs(g, n);
    return 2.0 * (double)clf_rows(x) * (double)clf_cols(x) * (double)clf_cols(&g->node[x->in[0]]);
}

static clf_status lower_single(clf_plan *plan, const clf_cover *cover, int32_t i, clf_err *err) {
    int32_t n = cover->part[i].node[0];
    const clf_gnode *x = &plan->g.node[n];
    bool product = x->op == CLF_OP_MATMUL;
    uint8_t t[3] = {0, 0, 0};
    int32_t in[3];
    if (clf_part_twins(&plan->g, cover, i)) return lower_twin(plan, n, err);
    for (int k = 0; k < x->nin; k++) CLF_TRY(lower_side(plan, n, k, &in[k], &t[k], err));
    clf_step *s = clf_plan_step(plan);
    s->kind = product ? CLF_STEP_LIBRARY : CLF_STEP_CALLOUT;
    s->node = n;
    CLF_TRY(clf_step_one_result(plan, s, x->nin, clf_plan_value_for(plan, n), err));
    for (int k = 0; k < x->nin; k++) s->in[k] = in[k];
    s->ta = product && t[0];
    s->tb = product && t[1];
    if (product) s->flops = library_flops(&plan->g, n);
    clf_step_count(plan, s);
    return CLF_OK;
}

clf_status clf_lower(clf_plan *plan, clf_cover *cover, int32_t i, clf_lowered *scratch, clf_err *err) {
    const clf_part *part = &cover->part[i];
    clf_cover_enter(cover, i);
    CLF_TRY(part->loop ? lower_loop(plan, cover, i, scratch, err) : lower_single(plan, cover, i, err));
    clf_step *s = &plan->step[plan->nstep - 1];
    s->cover = clf_arena_new(&plan->arena, (size_t)part->n, sizeof *s->cover);
    if (!s->cover) return clf_fail(err, CLF_E_NOMEM, "planning: out of memory");
    memcpy(s->cover, part->node, (size_t)part->n * sizeof *s->cover);
    s->ncover = part->n;
    s->device = part->device;
    if (s->kind == CLF_STEP_CONVERT) return CLF_OK;
    s->bill = clf_arena_new(&plan->arena, 1, sizeof *s->bill);
    if (!s->bill) return clf_fail(err, CLF_E_NOMEM, "planning: out of memory");
    CLF_TRY(clf_bill_part(&plan->g, cover, i, plan->mark, &plan->arena, s->bill, err));
    return CLF_OK;
}
