/* SPDX-License-Identifier: Apache-2.0
 * From parts of the cover to steps of the plan: loops become cplans, single operators library and host steps, and an operand whose
 * format a step cannot take is converted by a step of its own. */
#include <string.h>

#include "planner/lowering.h"

/* ---- values and conversions ---- */

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

static void in_csr(clf_plan_value *v, int64_t nnz) {
    v->format = CLF_CSR;
    v->nnz = nnz;
    v->bytes = (size_t)clf_csr_bytes(v->rows, nnz, (clf_dtype)v->dtype);
}

int32_t clf_plan_value_for(clf_plan *plan, int32_t n) {
    if (plan->value_of[n] >= 0) return plan->value_of[n];
    const clf_gnode *x = &plan->g.node[n];
    clf_plan_value *v = new_value(plan, n);
    v->slot = clf_node_is_slot(x) ? (int32_t)x->attr[0] : -1;
    if (v->slot >= 0 && x->format == CLF_CSR) in_csr(v, x->nnz);
    return plan->value_of[n] = plan->nvalue - 1;
}

clf_step *clf_plan_step(clf_plan *plan) {
    clf_step *s = &plan->step[plan->nstep++];
    memset(s, 0, sizeof *s);
    s->node = s->driver = -1;
    s->sparse = "";
    return s;
}

static void count(const clf_plan *plan, clf_step *s) {
    for (int i = 0; i < s->nin; i++) s->read_bytes += (double)plan->value[s->in[i]].bytes;
    for (int i = 0; i < s->nout; i++) s->write_bytes += (double)plan->value[s->out[i]].bytes;
}

/* A step of one output and these inputs. */
static clf_status one_result(clf_plan *plan, clf_step *s, int nin, int32_t out, clf_err *err) {
    s->in = clf_arena_new(&plan->arena, (size_t)nin, sizeof *s->in);
    s->out = clf_arena_new(&plan->arena, 1, sizeof *s->out);
    if (!s->in || !s->out) return clf_fail(err, CLF_E_NOMEM, "planning: out of memory");
    s->nin = nin;
    s->nout = 1;
    s->out[0] = out;
    return CLF_OK;
}

static clf_status convert(clf_plan *plan, clf_convert how, int32_t node, int32_t from, int32_t to, clf_err *err) {
    clf_step *s = clf_plan_step(plan);
    s->kind = CLF_STEP_CONVERT;
    s->convert = (uint8_t)how;
    s->node = node;
    CLF_TRY(one_result(plan, s, 1, to, err));
    s->in[0] = from;
    count(plan, s);
    return CLF_OK;
}

clf_status clf_plan_dense_for(clf_plan *plan, int32_t n, int32_t *value, clf_err *err) {
    int32_t v = clf_plan_value_for(plan, n);
    *value = v;
    if (plan->value[v].format == CLF_DENSE) return CLF_OK;
    if (plan->dense_of[n] < 0) {
        new_value(plan, n);
        plan->dense_of[n] = plan->nvalue - 1;
        CLF_TRY(convert(plan, CLF_CONVERT_DENSE, n, v, plan->dense_of[n], err));
    }
    *value = plan->dense_of[n];
    return CLF_OK;
}

/* ---- keys ---- */

_Static_assert(sizeof(clf_value) == 24, "clf_value has no padding, so its bytes are its value");

static void put_numbers(clf_str *k, int n, const int64_t *x) { clf_str_putn(k, (const char *)x, (size_t)n * sizeof *x); }

/* Canonical bytes without extents: equal keys, equal code. Counts come first, so no other list can give the same bytes. */
static clf_status step_key(clf_plan *plan, clf_step *s, clf_err *err) {
    const clf_cplan *c = &s->c;
    clf_str k;
    clf_str_init(&k, plan->arena.mem);
    put_numbers(&k, 7, (const int64_t[]){c->naxes, c->nin, c->nparam, c->nout, c->naccess, c->nvalue, c->nsink});
    for (int i = 0; i < c->nin; i++) put_numbers(&k, 3, (const int64_t[]){c->in[i].dtype, c->in[i].format, c->in[i].rank});
    for (int i = 0; i < c->nout; i++) put_numbers(&k, 2, (const int64_t[]){c->out[i].dtype, c->out[i].rank});
    clf_str_putn(&k, (const char *)c->param, (size_t)c->nparam);
    for (int i = 0; i < c->naccess; i++) {
        put_numbers(&k, 3, (const int64_t[]){c->access[i].input, c->access[i].protocol, c->access[i].rank});
        for (int d = 0; d < c->access[i].rank; d++) {
            const clf_at *at = &c->access[i].at[d];
            put_numbers(&k, 4, (const int64_t[]){at->axis, at->value, at->mul, at->add});
        }
    }
    clf_str_putn(&k, (const char *)c->value, (size_t)c->nvalue * sizeof *c->value); /* no padding in clf_value */
    for (int i = 0; i < c->naxes; i++) put_numbers(&k, 3, (const int64_t[]){c->axis[i].kind, c->axis[i].parent, c->axis[i].owner});
    for (int i = 0; i < c->nsink; i++) {
        const clf_sink *x = &c->sink[i];
        put_numbers(&k, 7, (const int64_t[]){x->kind, x->fold, x->keep, x->over, x->value[0], x->value[1], x->out[0]});
    }
    clf_status st = CLF_OK;
    s->key = k.failed ? NULL : clf_arena_strn(&plan->arena, clf_str_c(&k), k.len);
    s->key_len = (uint32_t)k.len;
    if (!s->key) st = clf_fail(err, CLF_E_NOMEM, "planning: out of memory");
    clf_str_release(&k);
    return st;
}

/* ---- loops ---- */

/* Where rows are followed: products, row aggregates used in their row, several widths. */
static bool needs_rows(const clf_plan *plan, const clf_cover *cover, int32_t i) {
    const clf_part *part = &cover->part[i];
    int64_t first[2], space[2];
    clf_node_space(&plan->g, part->node[0], first);
    for (int32_t j = 0; j < part->n; j++) {
        const clf_gnode *x = &plan->g.node[part->node[j]];
        clf_node_space(&plan->g, part->node[j], space);
        clf_product form = clf_product_loop(&plan->g, part->node[j]);
        if (x->op == CLF_OP_MATMUL ? form != CLF_PRODUCT_INNER : space[0] != first[0] || space[1] != first[1]) return true;
        for (int k = 0; k < x->nin; k++)
            if (plan->g.node[x->in[k]].op == CLF_OP_FOLD && cover->part_of[x->in[k]] == i) return true;
    }
    return false;
}

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
    if (L->driver < 0) return;
    axes_before_entries(L);
    entry_axis(L);
}

static double flops_of(const clf_lowering *L, int32_t n) {
    const clf_gnode *x = &L->g->node[n];
    int64_t space[2];
    if (x->op == CLF_OP_MATMUL) {
        double cells = (double)clf_rows(x) * (double)clf_cols(x);
        int64_t along = clf_product_loop(L->g, n) == CLF_PRODUCT_ROWS || clf_product_loop(L->g, n) == CLF_PRODUCT_WIDE
                            ? clf_cols(&L->g->node[clf_node_operand(L->g, n, 0)])
                            : L->space[0];
        return 2 * cells * (double)along;
    }
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
        if (!L->cover->stored[n]) continue;
        bool full = (x->op == CLF_OP_FOLD && x->attr[1] == CLF_WAY_ALL) || clf_product_loop(L->g, n) == CLF_PRODUCT_INNER;
        folds += full;
        stores += !full;
    }
    if (wide) return CLF_TEMPLATE_OUTER;
    if (L->rowwise && needs_rows(L->plan, L->cover, L->number)) return CLF_TEMPLATE_ROW;
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
    L.driver = clf_driver_find(plan, cover, i, &plan->arena, &L.zero, &draft.sparse);
    L.rowwise = L.driver >= 0 || needs_rows(plan, cover, i);
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
        if (cover->stored[part->node[j]]) clf_lower_sink(&L, part->node[j]);
    }
    draft.template_ = (uint8_t)name_of(&L);
    if (L.failed != CLF_OK) return L.failed;
    CLF_TRY(clf_build_end(&L.b, &draft.c, err));
    clf_step *s = clf_plan_step(plan);
    *s = draft;
    count(plan, s);
    return step_key(plan, s, err);
}

/* ---- operators on their own ---- */

/* The transpose of a sparse matrix: its twin. */
static clf_status lower_twin(clf_plan *plan, int32_t n, clf_err *err) {
    int32_t from = clf_plan_value_for(plan, plan->g.node[n].in[0]), to = clf_plan_value_for(plan, n);
    in_csr(&plan->value[to], plan->value[from].nnz);
    return convert(plan, CLF_CONVERT_TWIN, n, from, to, err);
}

static clf_status lower_single(clf_plan *plan, int32_t n, clf_err *err) {
    const clf_gnode *x = &plan->g.node[n];
    bool product = x->op == CLF_OP_MATMUL, t[2] = {false, false};
    int32_t in[3];
    if (x->op == CLF_OP_TRANSPOSE && plan->value[clf_plan_value_for(plan, x->in[0])].format == CLF_CSR) return lower_twin(plan, n, err);
    for (int k = 0; k < x->nin; k++)
        CLF_TRY(clf_plan_dense_for(plan, product ? clf_product_operand(&plan->g, n, k, &t[k]) : x->in[k], &in[k], err));
    clf_step *s = clf_plan_step(plan);
    s->kind = product ? CLF_STEP_LIBRARY : CLF_STEP_CALLOUT;
    s->node = n;
    CLF_TRY(one_result(plan, s, x->nin, clf_plan_value_for(plan, n), err));
    for (int k = 0; k < x->nin; k++) s->in[k] = in[k];
    s->ta = t[0];
    s->tb = t[1];
    if (product) s->flops = 2.0 * (double)clf_rows(x) * (double)clf_cols(x) * (double)clf_cols(&plan->g.node[x->in[0]]);
    count(plan, s);
    return CLF_OK;
}

clf_status clf_lower(clf_plan *plan, const clf_cover *cover, int32_t i, clf_lowered *scratch, clf_err *err) {
    const clf_part *part = &cover->part[i];
    CLF_TRY(part->loop ? lower_loop(plan, cover, i, scratch, err) : lower_single(plan, part->node[0], err));
    clf_step *s = &plan->step[plan->nstep - 1];
    s->cover = clf_arena_new(&plan->arena, (size_t)part->n, sizeof *s->cover);
    if (!s->cover) return clf_fail(err, CLF_E_NOMEM, "planning: out of memory");
    memcpy(s->cover, part->node, (size_t)part->n * sizeof *s->cover);
    s->ncover = part->n;
    return CLF_OK;
}
