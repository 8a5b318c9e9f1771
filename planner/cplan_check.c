/* SPDX-License-Identifier: Apache-2.0
 * Is a cplan legal? One function per kind of item, in the order of the structure; the first violation is named with its item.
 * Invariant: nothing is read through an index before the index was checked, whatever the content. */
#include "planner/cplan.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "formats/fmt.h"

typedef struct check {
    const clf_cplan *c;
    clf_err *err;
    clf_cwhere at;
} check;

static const char *const item_name[] = {"the cplan", "axis", "input", "parameter", "output", "access", "value", "sink"};

#define BAD(k, ...) return bad(k, __VA_ARGS__)
static clf_status bad(check *k, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static bool has_bit(uint32_t set, int axis) { return axis >= 0 && axis < CLF_MAX_AXES && (set >> axis & 1u); }
static bool is_axis(const clf_cplan *c, int a) { return a >= 0 && a < c->naxes; }
static bool is_value(const clf_cplan *c, int v) { return v >= 0 && v < c->nvalue; }
static bool is_out(const clf_cplan *c, int o) { return o >= 0 && o < c->nout; }

static clf_status bad(check *k, const char *fmt, ...) {
    char text[CLF_ERR_TEXT];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (k->at.item == CLF_ITEM_PLAN) return clf_fail(k->err, CLF_E_INTERNAL, "cplan: %s", text);
    return clf_fail(k->err, CLF_E_INTERNAL, "cplan: %s %d: %s", item_name[k->at.item], k->at.index, text);
}

static clf_status check_plan(check *k, int index) {
    const clf_cplan *c = k->c;
    (void)index;
    const struct { const char *name; int n, most; const void *at; } part[] = {
        {"axes", c->naxes, CLF_MAX_AXES, c->axis},      {"inputs", c->nin, INT16_MAX, c->in},        {"parameters", c->nparam, INT32_MAX - 1, c->param},
        {"outputs", c->nout, 4 * CLF_MAX_SINKS, c->out}, {"accesses", c->naccess, INT16_MAX, c->access}, {"values", c->nvalue, INT32_MAX - 1, c->value},
        {"sinks", c->nsink, CLF_MAX_SINKS, c->sink}};
    for (size_t i = 0; i < sizeof part / sizeof *part; i++) {
        if (part[i].n < 0 || part[i].n > part[i].most) BAD(k, "%d %s; at most %d are allowed", part[i].n, part[i].name, part[i].most);
        if (part[i].n && !part[i].at) BAD(k, "%d %s but no array", part[i].n, part[i].name);
    }
    return CLF_OK;
}

static clf_status check_dim(check *k, clf_dim d) {
    if (d.n < 0) BAD(k, "extent %" PRId64 " is negative", d.n);
    if (d.sym < -1) BAD(k, "size id %" PRId32 " is negative", d.sym);
    return CLF_OK;
}

/* ---- axes ---------------------------------------------------------------------------------------------------------------- */

/* The owner access of a segmented axis a: its operand's format, protocol and where it stands. */
static clf_status check_owner(check *k, int a) {
    const clf_cplan *c = k->c;
    const clf_axis *x = &c->axis[a];
    if (x->owner < 0 || x->owner >= c->naccess) BAD(k, "owner access %d does not exist", x->owner);
    const clf_access *o = &c->access[x->owner];
    if (o->input < 0 || o->input >= c->nin) BAD(k, "its owner reads input %" PRId32 ", which does not exist", o->input);
    const clf_cinput *in = &c->in[o->input];
    if (x->kind == CLF_AXIS_ENTRY) {
        if (in->format != CLF_CSR || o->protocol != CLF_ENTRIES || o->rank != 2) BAD(k, "its owner must read a CSR matrix by entries");
        if (o->at[1].axis != a || o->at[0].axis != x->parent) BAD(k, "its owner must stand at the parent's row and this axis");
    } else if (x->kind == CLF_AXIS_SEG) {
        if (in->format != CLF_DENSE || in->dtype != CLF_I64 || o->rank != 1) BAD(k, "its owner must read a dense i64 vector of offsets");
        if (o->at[0].axis != x->parent || o->at[0].mul != 1 || o->at[0].add != 0) BAD(k, "its owner must stand at the parent");
    } else {
        if (in->format != CLF_COMPRESSED || o->protocol != CLF_DICTIONARY || o->rank != 2) BAD(k, "its owner must read a compressed matrix by dictionary");
        if (o->at[0].axis != a) BAD(k, "its owner must stand at this axis");
    }
    return CLF_OK;
}

static clf_status check_axis(check *k, int i) {
    const clf_axis *x = &k->c->axis[i];
    if (x->kind > CLF_AXIS_DICT) BAD(k, "kind %d does not exist", x->kind);
    if (x->ascending > 1) BAD(k, "order %d does not exist", x->ascending);
    CLF_TRY(check_dim(k, x->n));
    if (x->parent < -1 || x->parent >= i) BAD(k, "parent %d is not an earlier axis", x->parent);
    if (x->kind == CLF_AXIS_RANGE) {
        if (x->parent != -1 || x->owner != -1) BAD(k, "a range has no parent and no owner");
        return CLF_OK;
    }
    if (x->kind != CLF_AXIS_DICT && x->parent < 0) BAD(k, "entries and segments need a parent");
    return check_owner(k, i);
}

/* ---- operands ------------------------------------------------------------------------------------------------------------ */

static clf_status check_operand(check *k, const clf_cinput *x) {
    int64_t cells = 1;
    if (!clf_dtype_ok(x->dtype)) BAD(k, "type %d does not exist", x->dtype);
    if (x->format != CLF_DENSE && x->format != CLF_CSR && x->format != CLF_COMPRESSED) BAD(k, "format %d is not supported", x->format);
    if (x->rank > CLF_MAX_RANK) BAD(k, "rank %d is above %d", x->rank, CLF_MAX_RANK);
    if (x->format != CLF_DENSE && x->rank != 2) BAD(k, "a sparse or compressed operand has rank 2, not %d", x->rank);
    for (int d = 0; d < x->rank; d++) {
        CLF_TRY(check_dim(k, x->dim[d]));
        if (__builtin_mul_overflow(cells, x->dim[d].n ? x->dim[d].n : 1, &cells)) BAD(k, "its number of cells overflows");
    }
    return CLF_OK;
}

static clf_status check_in(check *k, int i) { return check_operand(k, &k->c->in[i]); }

static clf_status check_out(check *k, int i) {
    if (k->c->out[i].format != CLF_DENSE) BAD(k, "outputs are dense");
    return check_operand(k, &k->c->out[i]);
}

static clf_status check_param(check *k, int i) {
    if (!clf_dtype_ok(k->c->param[i])) BAD(k, "type %d does not exist", k->c->param[i]);
    return CLF_OK;
}

/* ---- accesses ------------------------------------------------------------------------------------------------------------ */

/* Does mul * position + add stay inside for every position of the declared extents? */
static clf_status check_reach(check *k, const clf_at *at, clf_dim dim, int d) {
    const clf_axis *x = at->axis >= 0 ? &k->c->axis[at->axis] : NULL;
    if (dim.sym >= 0 || (x && (x->n.sym >= 0 || x->n.n == 0 || x->kind != CLF_AXIS_RANGE))) return CLF_OK;
    int64_t last = 0;
    if (x && (__builtin_mul_overflow(x->n.n - 1, at->mul, &last))) BAD(k, "dimension %d: the index overflows", d);
    if (__builtin_add_overflow(last, at->add, &last)) BAD(k, "dimension %d: the index overflows", d);
    if (at->add < 0 || at->add >= dim.n || last < 0 || last >= dim.n)
        BAD(k, "dimension %d: indices %" PRId64 " to %" PRId64 " leave the extent %" PRId64, d, at->add, last, dim.n);
    return CLF_OK;
}

static clf_status check_at(check *k, const clf_at *at, clf_dim dim, int d) {
    const clf_cplan *c = k->c;
    if (at->axis < -1 || at->axis >= c->naxes) BAD(k, "dimension %d: axis %" PRId32 " does not exist", d, at->axis);
    if (at->value < -1 || at->value >= c->nvalue) BAD(k, "dimension %d: value %" PRId32 " does not exist", d, at->value);
    if (at->axis >= 0 && at->value >= 0) BAD(k, "dimension %d: both an axis and a value", d);
    if (at->value >= 0 && c->value[at->value].dtype != CLF_I64) BAD(k, "dimension %d: the index value is not i64", d);
    return at->value >= 0 ? CLF_OK : check_reach(k, at, dim, d);
}

static clf_status check_access(check *k, int i) {
    const clf_cplan *c = k->c;
    const clf_access *a = &c->access[i];
    if (a->input < 0 || a->input >= c->nin) BAD(k, "input %" PRId32 " does not exist", a->input);
    const clf_cinput *in = &c->in[a->input];
    if (a->protocol > CLF_DICTIONARY) BAD(k, "protocol %d does not exist", a->protocol);
    if (a->rank != in->rank) BAD(k, "rank %d, its input has rank %d", a->rank, in->rank);
    bool entries = a->protocol == CLF_ENTRIES, dict = a->protocol == CLF_DICTIONARY;
    if (entries && in->format != CLF_CSR) BAD(k, "only CSR operands offer entries");
    if (dict && in->format != CLF_COMPRESSED) BAD(k, "only compressed operands offer a dictionary");
    for (int d = 0; d < a->rank; d++)
        if (!(dict && d == 0)) CLF_TRY(check_at(k, &a->at[d], in->dim[d], d));
    if (!entries && !dict) return CLF_OK;
    const clf_at *by = &a->at[entries ? 1 : 0];
    clf_axis_kind want = entries ? CLF_AXIS_ENTRY : CLF_AXIS_DICT;
    if (!is_axis(c, by->axis) || by->value != -1 || c->axis[by->axis].kind != want || by->mul != 1 || by->add != 0)
        BAD(k, "dimension %d must stand at %s axis, with factor 1 and offset 0", entries ? 1 : 0, entries ? "an entry" : "a dict");
    return CLF_OK;
}

/* ---- values -------------------------------------------------------------------------------------------------------------- */

static clf_status check_inputs(check *k, int i, int arity) {
    const clf_value *v = &k->c->value[i];
    for (int q = 0; q < 3; q++) {
        if (q < arity && (v->in[q] < 0 || v->in[q] >= i)) BAD(k, "input %d is value %" PRId32 ", which is not an earlier value", q, v->in[q]);
        if (q >= arity && v->in[q] != -1) BAD(k, "input %d is not used but is not -1", q);
    }
    for (int q = 0; q < arity; q++) {
        const clf_value *u = &k->c->value[v->in[q]];
        if (u->op == CLF_V_FOLD && u->axis == 0) BAD(k, "reads value %" PRId32 ", a fold over the outermost axis, which feeds only sinks", v->in[q]);
    }
    return CLF_OK;
}

static clf_status check_cell(check *k, int i) {
    const clf_value *v = &k->c->value[i];
    const clf_op_row *row = &clf_ops[v->op];
    CLF_TRY(check_inputs(k, i, row->arity));
    uint8_t t = k->c->value[v->in[0]].dtype;
    for (int q = 1; q < row->arity; q++)
        if (k->c->value[v->in[q]].dtype != t)
            BAD(k, "%s over %s and %s: the inputs of an operator have one type", row->id, clf_dtype_name((clf_dtype)t), clf_dtype_name((clf_dtype)k->c->value[v->in[q]].dtype));
    if (v->dtype != t && !(row->flags & F_BOOL)) BAD(k, "%s over %s declared as %s", row->id, clf_dtype_name((clf_dtype)t), clf_dtype_name((clf_dtype)v->dtype));
    return v->arg == -1 && v->axis == -1 ? CLF_OK : bad(k, "an operator has no argument and no axis");
}

static clf_status check_load(check *k, int i) {
    const clf_cplan *c = k->c;
    const clf_value *v = &c->value[i];
    CLF_TRY(check_inputs(k, i, 0));
    if (v->arg < 0 || v->arg >= c->naccess) BAD(k, "access %" PRId32 " does not exist", v->arg);
    const clf_access *a = &c->access[v->arg];
    for (int d = 0; d < a->rank; d++) {
        int32_t g = a->at[d].value;
        if (g >= i) BAD(k, "its access is indexed by value %" PRId32 ", which is not an earlier value", g);
        if (g >= 0 && c->value[g].op == CLF_V_FOLD && c->value[g].axis == 0) BAD(k, "its access is indexed by a fold over the outermost axis");
    }
    if (v->dtype != c->in[a->input].dtype) BAD(k, "declared as %s, its input has %s", clf_dtype_name((clf_dtype)v->dtype), clf_dtype_name((clf_dtype)c->in[a->input].dtype));
    return v->axis == -1 ? CLF_OK : bad(k, "a load has no axis");
}

static clf_status check_param_value(check *k, int i) {
    const clf_value *v = &k->c->value[i];
    CLF_TRY(check_inputs(k, i, 0));
    if (v->arg < 0 || v->arg >= k->c->nparam) BAD(k, "parameter %" PRId32 " does not exist", v->arg);
    if (v->dtype != k->c->param[v->arg]) BAD(k, "declared as %s, its parameter has %s", clf_dtype_name((clf_dtype)v->dtype), clf_dtype_name((clf_dtype)k->c->param[v->arg]));
    return v->axis == -1 ? CLF_OK : bad(k, "a parameter has no axis");
}

static clf_status check_index(check *k, int i) {
    const clf_value *v = &k->c->value[i];
    CLF_TRY(check_inputs(k, i, 0));
    if (!is_axis(k->c, v->arg)) BAD(k, "axis %" PRId32 " does not exist", v->arg);
    if (v->dtype != CLF_I64) BAD(k, "an index is i64, not %s", clf_dtype_name((clf_dtype)v->dtype));
    return v->axis == -1 ? CLF_OK : bad(k, "an index has its axis in arg");
}

/* fold over values of type t, giving type r. */
static clf_status check_fold_types(check *k, int fold, int t, int r) {
    if (fold < 0 || fold >= CLF_NFOLDS) BAD(k, "fold %d does not exist", fold);
    clf_dtype want = clf_fold_value_type((clf_fold_id)fold, (clf_dtype)t), gives = clf_fold_result_type((clf_fold_id)fold, want);
    if ((int)want != t) BAD(k, "%s folds %s values, not %s", clf_folds[fold].id, clf_dtype_name(want), clf_dtype_name((clf_dtype)t));
    if ((int)gives != r) BAD(k, "%s gives %s, not %s", clf_folds[fold].id, clf_dtype_name(gives), clf_dtype_name((clf_dtype)r));
    return CLF_OK;
}

static clf_status check_fold(check *k, int i) {
    const clf_cplan *c = k->c;
    const clf_value *v = &c->value[i];
    CLF_TRY(check_inputs(k, i, 1));
    if (!is_axis(c, v->axis)) BAD(k, "axis %d does not exist", v->axis);
    const clf_axis *x = &c->axis[v->axis];
    if (x->kind == CLF_AXIS_DICT && x->parent >= 0) BAD(k, "axis %d follows axis %d and cannot be folded", v->axis, x->parent);
    if (v->op == CLF_V_SCAN && !x->ascending) BAD(k, "a scan needs an ascending axis");
    for (int a = 0; a < c->naxes; a++)
        if (v->op == CLF_V_FOLD && has_bit(v->axes, a) && c->axis[a].kind != CLF_AXIS_DICT && c->axis[a].parent == v->axis)
            BAD(k, "folds axis %d, on which axis %d of the value depends", v->axis, a);
    return check_fold_types(k, v->arg, c->value[v->in[0]].dtype, v->dtype);
}

static clf_status check_cast(check *k, int i) {
    const clf_value *v = &k->c->value[i];
    CLF_TRY(check_inputs(k, i, 1));
    return v->arg == -1 && v->axis == -1 ? CLF_OK : bad(k, "a cast has no argument and no axis");
}

static clf_status check_value(check *k, int i) {
    static clf_status (*const by_op[])(check *, int) = {check_load, check_param_value, check_index, check_fold, check_fold, check_cast};
    const clf_value *v = &k->c->value[i];
    if (!clf_dtype_ok(v->dtype)) BAD(k, "type %d does not exist", v->dtype);
    if (clf_op_is_cell(v->op)) CLF_TRY(check_cell(k, i));
    else if (v->op >= CLF_V_LOAD && v->op <= CLF_V_CAST) CLF_TRY(by_op[v->op - CLF_V_LOAD](k, i));
    else BAD(k, "operator %d does not exist", v->op);
    if (v->axes != clf_value_axes(k->c, v)) BAD(k, "axes %#" PRIx32 " declared, %#" PRIx32 " found", v->axes, clf_value_axes(k->c, v));
    return CLF_OK;
}

/* ---- sinks --------------------------------------------------------------------------------------------------------------- */

static bool is_one(clf_dim d) { return d.sym < 0 && d.n == 1; }

/* The kept extents against the first n dimensions of the output; extents of 1 may be missing on either side. */
static clf_status check_shape(check *k, const clf_coutput *o, int n, uint32_t keep) {
    int d = 0, a = 0;
    for (;;) {
        while (d < n && is_one(o->dim[d])) d++;
        while (a < k->c->naxes && (!has_bit(keep, a) || is_one(k->c->axis[a].n))) a++;
        if (d >= n || a >= k->c->naxes) break;
        clf_dim x = k->c->axis[a].n, y = o->dim[d];
        if (x.sym < 0 && y.sym < 0 && x.n != y.n) BAD(k, "keeps axis %d of extent %" PRId64 ", the output has %" PRId64, a, x.n, y.n);
        d++;
        a++;
    }
    if (d < n) BAD(k, "dimension %d of the output is not written by any kept axis", d);
    if (a < k->c->naxes) BAD(k, "kept axis %d has no dimension in the output", a);
    return CLF_OK;
}

/* What may be kept, and whether the values fit inside: STORE and PATTERN. */
static clf_status check_keep_cells(check *k, const clf_sink *s) {
    const clf_cplan *c = k->c;
    uint32_t moves = s->keep;
    int segment = -1;
    for (int a = 0; a < c->naxes; a++) {
        if (!has_bit(s->keep, a)) continue;
        moves |= clf_axis_moves(c, a);
        if (c->axis[a].kind == CLF_AXIS_ENTRY || c->axis[a].kind == CLF_AXIS_SEG) segment = a;
    }
    const clf_coutput *o = &c->out[s->out[0]];
    clf_axis_kind want = s->kind == CLF_SINK_PATTERN ? CLF_AXIS_ENTRY : CLF_AXIS_SEG;
    if (s->kind == CLF_SINK_PATTERN && segment < 0) BAD(k, "a pattern keeps an entry axis");
    if (segment >= 0 && c->axis[segment].kind != want) BAD(k, "entries leave through pattern, segments through store");
    if (segment >= 0 && s->keep != (1u << segment | 1u << c->axis[segment].parent)) BAD(k, "axis %d is kept with its parent and nothing else", segment);
    if (segment >= 0 && o->rank != 1) BAD(k, "its output has rank 1, not %d", o->rank);
    uint32_t used = c->value[s->value[0]].axes | (s->guard >= 0 ? c->value[s->guard].axes : 0);
    if (used & ~moves) BAD(k, "its value or guard varies with axes %#" PRIx32 ", kept are %#" PRIx32, used, s->keep);
    return segment >= 0 ? CLF_OK : check_shape(k, o, o->rank, s->keep);
}

static clf_status check_keep_ranges(check *k, const clf_sink *s) {
    for (int a = 0; a < k->c->naxes; a++)
        if (has_bit(s->keep, a) && (k->c->axis[a].kind == CLF_AXIS_ENTRY || k->c->axis[a].kind == CLF_AXIS_SEG)) BAD(k, "axis %d has no place in the output; scatter by its index", a);
    return CLF_OK;
}

static clf_status check_store(check *k, const clf_sink *s) {
    const clf_cplan *c = k->c;
    if (c->out[s->out[0]].dtype != c->value[s->value[0]].dtype) BAD(k, "its value and its output differ in type");
    return check_keep_cells(k, s);
}

static clf_status check_fold_sink(check *k, const clf_sink *s) {
    const clf_coutput *o = &k->c->out[s->out[0]];
    CLF_TRY(check_fold_types(k, s->fold, k->c->value[s->value[0]].dtype, o->dtype));
    CLF_TRY(check_keep_ranges(k, s));
    return check_shape(k, o, o->rank, s->keep);
}

static clf_status check_key(check *k, const clf_sink *s, int q) {
    if (!is_value(k->c, s->key[q])) BAD(k, "key %d is value %" PRId32 ", which does not exist", q, s->key[q]);
    return k->c->value[s->key[q]].dtype == CLF_I64 ? CLF_OK : bad(k, "key %d is not i64", q);
}

static clf_status check_scatter(check *k, const clf_sink *s) {
    const clf_coutput *o = &k->c->out[s->out[0]];
    int nkey = s->key[1] >= 0 ? 2 : 1;
    for (int q = 0; q < nkey; q++) CLF_TRY(check_key(k, s, q));
    CLF_TRY(check_fold_types(k, s->fold, k->c->value[s->value[0]].dtype, o->dtype));
    CLF_TRY(check_keep_ranges(k, s));
    if (o->rank < nkey) BAD(k, "its output has rank %d, below its %d keys", o->rank, nkey);
    return check_shape(k, o, o->rank - nkey, s->keep);
}

static clf_status check_count(check *k, const clf_sink *s) {
    if (s->keep) BAD(k, "it keeps no axes");
    if (s->out[3] < 0) return CLF_OK;
    const clf_coutput *o = &k->c->out[s->out[3]];
    return o->dtype == CLF_I64 && o->rank == 0 ? CLF_OK : bad(k, "the count is an i64 scalar");
}

static clf_status check_group(check *k, const clf_sink *s) {
    const clf_coutput *sums = &k->c->out[s->out[0]];
    CLF_TRY(check_key(k, s, 0));
    if (s->key[1] != -1) BAD(k, "a group has one key");
    CLF_TRY(check_fold_types(k, s->fold, k->c->value[s->value[0]].dtype, sums->dtype));
    if (s->out[1] < 0) BAD(k, "a group needs an output for its keys");
    if (k->c->out[s->out[1]].dtype != CLF_I64) BAD(k, "the keys' output is not i64");
    if (sums->rank != 1 || k->c->out[s->out[1]].rank != 1) BAD(k, "the outputs of a group have rank 1");
    return check_count(k, s);
}

static clf_status check_append(check *k, const clf_sink *s) {
    const clf_cplan *c = k->c;
    uint32_t loop = clf_sink_loop(c, s);
    for (int q = 0; q < 3 && s->value[q] >= 0; q++) {
        const clf_coutput *o = &c->out[s->out[q]];
        if (o->dtype != c->value[s->value[q]].dtype) BAD(k, "column %d and its output differ in type", q);
        if (o->rank != 1) BAD(k, "the columns of an append have rank 1");
    }
    for (int a = 0; a < c->naxes; a++)
        if (s->order < 0 && has_bit(loop, a) && !c->axis[a].ascending) BAD(k, "appends along axis %d, which is not ascending", a);
    if (s->out[3] < 0) BAD(k, "an append needs an output for its count");
    return check_count(k, s);
}

/* Per kind: how many values, outputs and keys it may have (a bit each), and the rest. */
static const struct sink_rule {
    clf_status (*check)(check *, const clf_sink *);
    uint8_t values, outs, keys;
    bool ordered, folds;
} sink_rules[] = {
    [CLF_SINK_STORE] = {check_store, 1, 1, 0, false, false},    [CLF_SINK_FOLD] = {check_fold_sink, 1, 1, 0, false, true},
    [CLF_SINK_PATTERN] = {check_store, 1, 1, 0, false, false},  [CLF_SINK_APPEND] = {check_append, 7, 15, 0, true, false},
    [CLF_SINK_SCATTER] = {check_scatter, 1, 1, 3, false, true}, [CLF_SINK_GROUP] = {check_group, 1, 11, 3, false, true},
};

static clf_status check_refs(check *k, const clf_sink *s, const struct sink_rule *r) {
    const clf_cplan *c = k->c;
    for (int q = 0; q < 4; q++) {
        bool need = q == 0 || (r->check == check_append && q < 3 && (s->value[q] != -1 || s->out[q] != -1));
        if (s->value[q] != -1 && !(r->values >> q & 1)) BAD(k, "value %d is not used but is not -1", q);
        if (s->out[q] != -1 && !(r->outs >> q & 1)) BAD(k, "output %d is not used but is not -1", q);
        if ((need || s->value[q] != -1) && !is_value(c, s->value[q])) BAD(k, "value %" PRId32 " does not exist", s->value[q]);
        if ((need || s->out[q] != -1) && !is_out(c, s->out[q])) BAD(k, "output %" PRId32 " does not exist", s->out[q]);
    }
    if (s->value[2] >= 0 && s->value[1] < 0) BAD(k, "value 2 without value 1");
    for (int q = 0; q < 2; q++) {
        if (s->key[q] != -1 && !(r->keys >> q & 1)) BAD(k, "key %d is not used but is not -1", q);
        if (s->key[q] != -1 && !is_value(c, s->key[q])) BAD(k, "key %d is value %" PRId32 ", which does not exist", q, s->key[q]);
    }
    return CLF_OK;
}

/* No output has two writers. */
static clf_status check_writers(check *k, int i) {
    const clf_sink *s = &k->c->sink[i];
    for (int q = 0; q < 4; q++)
        for (int j = 0; j <= i && s->out[q] >= 0; j++)
            for (int p = 0; p < (j < i ? 4 : q); p++)
                if (k->c->sink[j].out[p] == s->out[q]) BAD(k, "output %" PRId32 " is written twice", s->out[q]);
    return CLF_OK;
}

static clf_status check_sink(check *k, int i) {
    const clf_cplan *c = k->c;
    const clf_sink *s = &c->sink[i];
    if (s->kind > CLF_SINK_GROUP) BAD(k, "kind %d does not exist", s->kind);
    const struct sink_rule *r = &sink_rules[s->kind];
    if (s->keep >> c->naxes) BAD(k, "keeps axes %#" PRIx32 ", but there are %d", s->keep, c->naxes);
    if (!r->folds && s->fold) BAD(k, "it has no fold");
    if (s->guard < -1 || s->guard >= c->nvalue) BAD(k, "guard %" PRId32 " does not exist", s->guard);
    if (s->order < -1 || s->order >= c->nvalue) BAD(k, "order %" PRId32 " does not exist", s->order);
    if (s->order >= 0 && !r->ordered) BAD(k, "only an append has an order");
    for (int a = 0; a < c->naxes; a++)
        if (has_bit(s->keep, a) && c->axis[a].kind == CLF_AXIS_DICT && c->axis[a].parent >= 0) BAD(k, "keeps axis %d, which follows axis %d; keep that", a, c->axis[a].parent);
    CLF_TRY(check_refs(k, s, r));
    CLF_TRY(r->check(k, s));
    return check_writers(k, i);
}

static clf_status check_written(check *k, int o) {
    for (int i = 0; i < k->c->nsink; i++)
        for (int q = 0; q < 4; q++)
            if (k->c->sink[i].out[q] == o) return CLF_OK;
    return bad(k, "nothing writes it");
}

clf_status clf_cplan_check_at(const clf_cplan *c, clf_cwhere *where, clf_err *err) {
    const struct { clf_citem item; int n; clf_status (*check)(check *, int); } pass[] = {
        {CLF_ITEM_PLAN, 1, check_plan},     {CLF_ITEM_AXIS, c->naxes, check_axis},       {CLF_ITEM_IN, c->nin, check_in},
        {CLF_ITEM_PARAM, c->nparam, check_param}, {CLF_ITEM_OUT, c->nout, check_out},    {CLF_ITEM_ACCESS, c->naccess, check_access},
        {CLF_ITEM_VALUE, c->nvalue, check_value}, {CLF_ITEM_SINK, c->nsink, check_sink}, {CLF_ITEM_OUT, c->nout, check_written}};
    check k = {.c = c, .err = err};
    clf_status st = CLF_OK;
    for (size_t p = 0; p < sizeof pass / sizeof *pass && st == CLF_OK; p++)
        for (int i = 0; i < pass[p].n && st == CLF_OK; i++) {
            k.at = (clf_cwhere){pass[p].item, i};
            st = pass[p].check(&k, i);
        }
    if (st != CLF_OK && where) *where = k.at;
    return st;
}

clf_status clf_cplan_check(const clf_cplan *c, clf_err *err) { return clf_cplan_check_at(c, NULL, err); }
