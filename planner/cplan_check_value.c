/* SPDX-License-Identifier: Apache-2.0
 * The checker's part on values: inputs are earlier, types follow cplan.h, axes are what the inputs make them. */
#include <inttypes.h>

#include "planner/cplan_check.h"

static bool is_axis(const clf_cplan *c, int a) { return a >= 0 && a < c->naxes; }

static bool folds_rows(const clf_value *v) { return (v->op == CLF_V_FOLD || v->op == CLF_V_DOT) && v->axis == 0; }

static clf_status check_inputs(clf_check *k, int i, int arity) {
    const clf_value *v = &k->c->value[i];
    for (int q = 0; q < 3; q++) {
        if (q < arity && (v->in[q] < 0 || v->in[q] >= i))
            BAD(k, "input %d is value %" PRId32 ", which is not an earlier value", q, v->in[q]);
        if (q >= arity && v->in[q] != -1) BAD(k, "input %d is not used but is not -1", q);
    }
    for (int q = 0; q < arity; q++) {
        const clf_value *u = &k->c->value[v->in[q]];
        if (folds_rows(u)) BAD(k, "reads value %" PRId32 ", a fold over the outermost axis, which feeds only sinks", v->in[q]);
    }
    return CLF_OK;
}

static clf_status check_cell(clf_check *k, int i) {
    const clf_value *v = &k->c->value[i];
    const clf_op_row *row = &clf_ops[v->op];
    CLF_TRY(check_inputs(k, i, row->arity));
    uint8_t t = k->c->value[v->in[0]].dtype;
    for (int q = 1; q < row->arity; q++)
        if (k->c->value[v->in[q]].dtype != t)
            BAD(k, "%s over %s and %s: the inputs of an operator have one type", row->id, clf_dtype_name((clf_dtype)t),
                clf_dtype_name((clf_dtype)k->c->value[v->in[q]].dtype));
    if (v->dtype != t && !(row->flags & F_BOOL))
        BAD(k, "%s over %s declared as %s", row->id, clf_dtype_name((clf_dtype)t), clf_dtype_name((clf_dtype)v->dtype));
    return v->arg == -1 && v->axis == -1 ? CLF_OK : clf_check_bad(k, "an operator has no argument and no axis");
}

static clf_status check_load(clf_check *k, int i) {
    const clf_cplan *c = k->c;
    const clf_value *v = &c->value[i];
    CLF_TRY(check_inputs(k, i, 0));
    if (v->arg < 0 || v->arg >= c->naccess) BAD(k, "access %" PRId32 " does not exist", v->arg);
    const clf_access *a = &c->access[v->arg];
    for (int d = 0; d < a->rank; d++) {
        int32_t g = a->at[d].value;
        if (g >= i) BAD(k, "its access is indexed by value %" PRId32 ", which is not an earlier value", g);
        if (g >= 0 && folds_rows(&c->value[g])) BAD(k, "its access is indexed by a fold over the outermost axis");
    }
    if (v->dtype != c->in[a->input].dtype)
        BAD(k, "declared as %s, its input has %s", clf_dtype_name((clf_dtype)v->dtype), clf_dtype_name((clf_dtype)c->in[a->input].dtype));
    return v->axis == -1 ? CLF_OK : clf_check_bad(k, "a load has no axis");
}

static clf_status check_param_value(clf_check *k, int i) {
    const clf_value *v = &k->c->value[i];
    CLF_TRY(check_inputs(k, i, 0));
    if (v->arg < 0 || v->arg >= k->c->nparam) BAD(k, "parameter %" PRId32 " does not exist", v->arg);
    if (v->dtype != k->c->param[v->arg])
        BAD(k, "declared as %s, its parameter has %s", clf_dtype_name((clf_dtype)v->dtype), clf_dtype_name((clf_dtype)k->c->param[v->arg]));
    return v->axis == -1 ? CLF_OK : clf_check_bad(k, "a parameter has no axis");
}

static clf_status check_index(clf_check *k, int i) {
    const clf_value *v = &k->c->value[i];
    CLF_TRY(check_inputs(k, i, 0));
    if (!is_axis(k->c, v->arg)) BAD(k, "axis %" PRId32 " does not exist", v->arg);
    if (v->dtype != CLF_I64) BAD(k, "an index is i64, not %s", clf_dtype_name((clf_dtype)v->dtype));
    return v->axis == -1 ? CLF_OK : clf_check_bad(k, "an index has its axis in arg");
}

clf_status clf_check_fold_types(clf_check *k, int fold, int t, int r) {
    if (fold < 0 || fold >= CLF_NFOLDS) BAD(k, "fold %d does not exist", fold);
    clf_dtype want = clf_fold_value_type((clf_fold_id)fold, (clf_dtype)t), gives = clf_fold_result_type((clf_fold_id)fold, want);
    if ((int)want != t) BAD(k, "%s folds %s values, not %s", clf_folds[fold].id, clf_dtype_name(want), clf_dtype_name((clf_dtype)t));
    if ((int)gives != r) BAD(k, "%s gives %s, not %s", clf_folds[fold].id, clf_dtype_name(gives), clf_dtype_name((clf_dtype)r));
    return CLF_OK;
}

/* The axis that value v folds or scans. */
static clf_status check_folded(clf_check *k, const clf_value *v) {
    const clf_cplan *c = k->c;
    if (!is_axis(c, v->axis)) BAD(k, "axis %d does not exist", v->axis);
    const clf_axis *x = &c->axis[v->axis];
    if (x->kind == CLF_AXIS_DICT && x->parent >= 0) BAD(k, "axis %d follows axis %d and cannot be folded", v->axis, x->parent);
    if (v->op == CLF_V_SCAN && !x->ascending) BAD(k, "a scan needs an ascending axis");
    for (int a = 0; a < c->naxes; a++)
        if (v->op != CLF_V_SCAN && clf_set_has(v->axes, a) && c->axis[a].kind != CLF_AXIS_DICT && c->axis[a].parent == v->axis)
            BAD(k, "folds axis %d, on which axis %d of the value depends", v->axis, a);
    return CLF_OK;
}

/* The value of a row's cells without entry. */
static clf_status check_rest(clf_check *k, const clf_value *v) {
    const clf_cplan *c = k->c;
    const clf_axis *x = &c->axis[v->axis];
    const clf_value *rest = &c->value[v->in[1]];
    if (v->op != CLF_V_FOLD || x->kind != CLF_AXIS_ENTRY) BAD(k, "only a fold over stored entries has a rest");
    if (rest->dtype != c->value[v->in[0]].dtype) BAD(k, "its rest is %s", clf_dtype_name((clf_dtype)rest->dtype));
    uint32_t loop = c->value[v->in[0]].axes | 1u << x->parent | 1u << v->axis;
    if (!(rest->axes & ~(1u << x->parent)) || clf_check_by_columns(c, rest->axes, loop, v->axis)) return CLF_OK;
    return clf_check_bad(k, "its rest varies with axes %#" PRIx32, rest->axes);
}

static clf_status check_fold(clf_check *k, int i) {
    const clf_value *v = &k->c->value[i];
    CLF_TRY(check_inputs(k, i, v->in[1] == -1 ? 1 : 2));
    CLF_TRY(check_folded(k, v));
    if (v->in[1] != -1) CLF_TRY(check_rest(k, v));
    return clf_check_fold_types(k, v->arg, k->c->value[v->in[0]].dtype, v->dtype);
}

static clf_status check_dot(clf_check *k, int i) {
    const clf_cplan *c = k->c;
    const clf_value *v = &c->value[i];
    CLF_TRY(check_inputs(k, i, 2));
    CLF_TRY(check_folded(k, v));
    for (int q = 0; q < 2; q++)
        if (c->value[v->in[q]].dtype != v->dtype)
            BAD(k, "a dot in %s over %s: all have one type", clf_dtype_name((clf_dtype)v->dtype),
                clf_dtype_name((clf_dtype)c->value[v->in[q]].dtype));
    if (v->arg < 0 || v->arg > 3) BAD(k, "skip %" PRId32 " is not 0 to 3", v->arg);
    return CLF_OK;
}

/* One side of a CAT: the positions it fills, -1 known at run time only. */
static clf_status check_part(clf_check *k, const clf_value *v, int q, int64_t *n) {
    const clf_cplan *c = k->c;
    int along = clf_cat_axis(v, q);
    uint32_t axes = c->value[v->in[q]].axes;
    *n = 1;
    if (c->value[v->in[q]].dtype != v->dtype) BAD(k, "part %d is %s", q, clf_dtype_name((clf_dtype)c->value[v->in[q]].dtype));
    if (clf_set_has(axes, v->axis)) BAD(k, "part %d varies with axis %d, which the parts make up", q, v->axis);
    if (along < 0) return CLF_OK;
    if (!is_axis(c, along) || along == v->axis || c->axis[along].kind != CLF_AXIS_RANGE)
        BAD(k, "part %d runs along axis %d; it needs a range other than axis %d", q, along, v->axis);
    for (int a = 0; a < c->naxes; a++)
        if (clf_set_has(axes, a) && c->axis[a].kind != CLF_AXIS_DICT && c->axis[a].parent == along)
            BAD(k, "part %d runs along axis %d, on which axis %d of the value depends", q, along, a);
    *n = c->axis[along].n.sym >= 0 ? -1 : c->axis[along].n.n;
    return CLF_OK;
}

static clf_status check_cat(clf_check *k, int i) {
    const clf_cplan *c = k->c;
    const clf_value *v = &c->value[i];
    int64_t n[2], sum;
    CLF_TRY(check_inputs(k, i, 2));
    if (!is_axis(c, v->axis) || c->axis[v->axis].kind != CLF_AXIS_RANGE) BAD(k, "axis %d is no range", v->axis);
    if (v->arg < 0 || v->arg >> 16) BAD(k, "axes %#" PRIx32 " of its parts do not exist", (uint32_t)v->arg);
    for (int q = 0; q < 2; q++) CLF_TRY(check_part(k, v, q, &n[q]));
    if (n[0] < 0 || n[1] < 0 || c->axis[v->axis].n.sym >= 0) return CLF_OK;
    if (__builtin_add_overflow(n[0], n[1], &sum) || sum != c->axis[v->axis].n.n)
        BAD(k, "its parts have %" PRId64 " and %" PRId64 " positions, its axis %" PRId64, n[0], n[1], c->axis[v->axis].n.n);
    return CLF_OK;
}

static clf_status check_cast(clf_check *k, int i) {
    const clf_value *v = &k->c->value[i];
    CLF_TRY(check_inputs(k, i, 1));
    return v->arg == -1 && v->axis == -1 ? CLF_OK : clf_check_bad(k, "a cast has no argument and no axis");
}

clf_status clf_check_value(clf_check *k, int i) {
    static clf_status (*const by_op[])(clf_check *, int) = {check_load, check_param_value, check_index, check_fold,
                                                            check_fold, check_cast,        check_dot,   check_cat};
    const clf_value *v = &k->c->value[i];
    if (!clf_dtype_ok(v->dtype)) BAD(k, "type %d does not exist", v->dtype);
    if (clf_op_is_cell(v->op))
        CLF_TRY(check_cell(k, i));
    else if (v->op >= CLF_V_LOAD && v->op <= CLF_V_CAT)
        CLF_TRY(by_op[v->op - CLF_V_LOAD](k, i));
    else
        BAD(k, "operator %d does not exist", v->op);
    if (v->axes != clf_value_axes(k->c, v)) BAD(k, "axes %#" PRIx32 " declared, %#" PRIx32 " found", v->axes, clf_value_axes(k->c, v));
    return CLF_OK;
}
