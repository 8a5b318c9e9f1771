/* SPDX-License-Identifier: Apache-2.0
 * Is a cplan legal? One function per kind of item, in the order of the structure; the first violation is named with its item.
 * Invariant: nothing is read through an index before the index was checked, whatever the content. */
#include "planner/cplan_check.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "formats/fmt.h"

static const char *const item_name[] = {"the cplan", "axis", "input", "parameter", "output", "access", "value", "sink"};

static bool is_axis(const clf_cplan *c, int a) { return a >= 0 && a < c->naxes; }

clf_status clf_check_bad(clf_check *k, const char *fmt, ...) {
    char text[CLF_ERR_TEXT];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (k->at.item == CLF_ITEM_PLAN) return clf_fail(k->err, CLF_E_INTERNAL, "cplan: %s", text);
    return clf_fail(k->err, CLF_E_INTERNAL, "cplan: %s %d: %s", item_name[k->at.item], k->at.index, text);
}

static clf_status check_plan(clf_check *k, int index) {
    const clf_cplan *c = k->c;
    (void)index;
    const struct {
        const char *name;
        int n, most;
        const void *at;
    } part[] = {{"axes", c->naxes, CLF_MAX_AXES, c->axis},          {"inputs", c->nin, INT16_MAX, c->in},
                {"parameters", c->nparam, INT32_MAX - 1, c->param}, {"outputs", c->nout, 4 * CLF_MAX_SINKS, c->out},
                {"accesses", c->naccess, INT16_MAX, c->access},     {"values", c->nvalue, INT32_MAX - 1, c->value},
                {"sinks", c->nsink, CLF_MAX_SINKS, c->sink}};
    for (size_t i = 0; i < sizeof part / sizeof *part; i++) {
        if (part[i].n < 0 || part[i].n > part[i].most) BAD(k, "%d %s; at most %d are allowed", part[i].n, part[i].name, part[i].most);
        if (part[i].n && !part[i].at) BAD(k, "%d %s but no array", part[i].n, part[i].name);
    }
    return CLF_OK;
}

static clf_status check_dim(clf_check *k, clf_dim d) {
    if (d.n < 0) BAD(k, "extent %" PRId64 " is negative", d.n);
    if (d.sym < -1) BAD(k, "size id %" PRId32 " is negative", d.sym);
    return CLF_OK;
}

/* ---- axes ---------------------------------------------------------------------------------------------------------------- */

/* The owner access of a segmented axis a: its operand's format, protocol and where it stands. */
static clf_status check_owner(clf_check *k, int a) {
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
        if (in->format != CLF_COMPRESSED || o->protocol != CLF_DICTIONARY || o->rank != 2)
            BAD(k, "its owner must read a compressed matrix by dictionary");
        if (o->at[0].axis != a) BAD(k, "its owner must stand at this axis");
    }
    return CLF_OK;
}

static clf_status check_axis(clf_check *k, int i) {
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

static clf_status check_operand(clf_check *k, const clf_cinput *x) {
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

static clf_status check_in(clf_check *k, int i) { return check_operand(k, &k->c->in[i]); }

static clf_status check_out(clf_check *k, int i) {
    if (k->c->out[i].format != CLF_DENSE) BAD(k, "outputs are dense");
    return check_operand(k, &k->c->out[i]);
}

static clf_status check_param(clf_check *k, int i) {
    if (!clf_dtype_ok(k->c->param[i])) BAD(k, "type %d does not exist", k->c->param[i]);
    return CLF_OK;
}

/* ---- accesses ------------------------------------------------------------------------------------------------------------ */

/* Does mul * position + add stay inside for every position of the declared extents? */
static clf_status check_reach(clf_check *k, const clf_at *at, clf_dim dim, int d) {
    const clf_axis *x = at->axis >= 0 ? &k->c->axis[at->axis] : NULL;
    if (dim.sym >= 0 || (x && (x->n.sym >= 0 || x->n.n == 0 || x->kind != CLF_AXIS_RANGE))) return CLF_OK;
    int64_t last = 0;
    if (x && (__builtin_mul_overflow(x->n.n - 1, at->mul, &last))) BAD(k, "dimension %d: the index overflows", d);
    if (__builtin_add_overflow(last, at->add, &last)) BAD(k, "dimension %d: the index overflows", d);
    if (at->add < 0 || at->add >= dim.n || last < 0 || last >= dim.n)
        BAD(k, "dimension %d: indices %" PRId64 " to %" PRId64 " leave the extent %" PRId64, d, at->add, last, dim.n);
    return CLF_OK;
}

static clf_status check_at(clf_check *k, const clf_at *at, clf_dim dim, int d) {
    const clf_cplan *c = k->c;
    if (at->axis < -1 || at->axis >= c->naxes) BAD(k, "dimension %d: axis %" PRId32 " does not exist", d, at->axis);
    if (at->value < -1 || at->value >= c->nvalue) BAD(k, "dimension %d: value %" PRId32 " does not exist", d, at->value);
    if (at->axis >= 0 && at->value >= 0) BAD(k, "dimension %d: both an axis and a value", d);
    if (at->value >= 0 && c->value[at->value].dtype != CLF_I64) BAD(k, "dimension %d: the index value is not i64", d);
    return at->value >= 0 ? CLF_OK : check_reach(k, at, dim, d);
}

static clf_status check_access(clf_check *k, int i) {
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

/* ---- the whole ------------------------------------------------------------------------------------------------------- */

static clf_status check_written(clf_check *k, int o) {
    for (int i = 0; i < k->c->nsink; i++)
        for (int q = 0; q < 4; q++)
            if (k->c->sink[i].out[q] == o) return CLF_OK;
    return clf_check_bad(k, "nothing writes it");
}

clf_status clf_cplan_check_at(const clf_cplan *c, clf_cwhere *where, clf_err *err) {
    const struct {
        clf_citem item;
        int n;
        clf_status (*check)(clf_check *, int);
    } pass[] = {{CLF_ITEM_PLAN, 1, check_plan},
                {CLF_ITEM_AXIS, c->naxes, check_axis},
                {CLF_ITEM_IN, c->nin, check_in},
                {CLF_ITEM_PARAM, c->nparam, check_param},
                {CLF_ITEM_OUT, c->nout, check_out},
                {CLF_ITEM_ACCESS, c->naccess, check_access},
                {CLF_ITEM_VALUE, c->nvalue, clf_check_value},
                {CLF_ITEM_SINK, c->nsink, clf_check_sink},
                {CLF_ITEM_OUT, c->nout, check_written}};
    clf_check k = {.c = c, .err = err};
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
