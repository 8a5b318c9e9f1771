/* SPDX-License-Identifier: Apache-2.0
 * Facts of a cplan that follow from its structure: which axes each value varies with, which axes a sink runs over, and the hash of
 * what changes generated code (design section 4). The checker is cplan_check.c, the text form cplan_text.c and cplan_parse.c. */
#include "planner/cplan.h"

#include <string.h>

static uint32_t bit(int axis) { return axis >= 0 && axis < CLF_MAX_AXES ? 1u << axis : 0; }

/* The axis and, for segments, the axes that place it. Bounded by CLF_MAX_AXES even when parents form a ring. */
static uint32_t axis_closure(const clf_cplan *c, int axis) {
    uint32_t set = 0;
    for (int n = 0; n < CLF_MAX_AXES && axis >= 0 && axis < c->naxes; n++) {
        set |= bit(axis);
        uint8_t kind = c->axis[axis].kind;
        axis = kind == CLF_AXIS_ENTRY || kind == CLF_AXIS_SEG ? c->axis[axis].parent : -1;
    }
    return set;
}

static uint32_t value_set(const clf_cplan *c, int32_t v) { return v >= 0 && v < c->nvalue ? c->value[v].axes : 0; }

static uint32_t load_axes(const clf_cplan *c, int32_t access) {
    uint32_t set = 0;
    if (access < 0 || access >= c->naccess) return 0;
    const clf_access *a = &c->access[access];
    for (int d = 0; d < a->rank && d < CLF_MAX_RANK; d++)
        set |= a->at[d].axis >= 0 ? axis_closure(c, a->at[d].axis) : value_set(c, a->at[d].value);
    return set;
}

static bool folds_axis(const clf_value *v) { return v->op == CLF_V_FOLD || v->op == CLF_V_DOT; }

/* What the parts vary with besides the axes they are taken along. */
static uint32_t cat_axes(const clf_cplan *c, const clf_value *v) {
    uint32_t set = axis_closure(c, v->axis);
    for (int q = 0; q < 2; q++) {
        int along = clf_cat_axis(v, q);
        set |= value_set(c, v->in[q]) & ~(along < 0 ? 0 : clf_axis_moves(c, along));
    }
    return set;
}

uint32_t clf_axis_moves(const clf_cplan *c, int axis) {
    uint32_t set = bit(axis);
    for (int a = 0; a < c->naxes; a++)
        if (c->axis[a].kind == CLF_AXIS_DICT && c->axis[a].parent == axis) set |= bit(a);
    return set;
}

uint32_t clf_value_axes(const clf_cplan *c, const clf_value *v) {
    uint32_t set = 0;
    if (v->op == CLF_V_LOAD) return load_axes(c, v->arg);
    if (v->op == CLF_V_INDEX) return axis_closure(c, v->arg);
    if (v->op == CLF_V_CAT) return cat_axes(c, v);
    for (int k = 0; k < (v->op == CLF_V_FOLD ? 1 : 3); k++) set |= value_set(c, v->in[k]); /* a rest varies with the parent at most */
    if (folds_axis(v) || v->op == CLF_V_SCAN) set |= axis_closure(c, v->axis);
    if (folds_axis(v)) set &= ~clf_axis_moves(c, v->axis);
    return set;
}

void clf_cplan_axes(clf_cplan *c) {
    for (int i = 0; i < c->nvalue; i++) c->value[i].axes = clf_value_axes(c, &c->value[i]);
}

int clf_rest_axis(const clf_cplan *c, const clf_value *fold) {
    uint32_t set = fold->op == CLF_V_FOLD ? value_set(c, fold->in[1]) & ~axis_closure(c, fold->axis) : 0;
    return set ? __builtin_ctz(set) : -1;
}

uint32_t clf_cplan_inner(const clf_cplan *c) {
    uint32_t set = 0;
    for (int i = 0; i < c->nvalue; i++) {
        const clf_value *v = &c->value[i];
        if (folds_axis(v)) set |= bit(v->axis) | bit(clf_rest_axis(c, v));
        if (v->op == CLF_V_CAT) set |= bit(clf_cat_axis(v, 0)) | bit(clf_cat_axis(v, 1));
    }
    return set;
}

/* Axes that are loops by themselves, and DICT axes that follow their parent. */
static void axis_sets(const clf_cplan *c, uint32_t *free_running, uint32_t *following) {
    *free_running = *following = 0;
    for (int a = 0; a < c->naxes; a++) {
        bool dict = c->axis[a].kind == CLF_AXIS_DICT;
        if (dict && c->axis[a].parent >= 0)
            *following |= bit(a);
        else if (dict || c->axis[a].kind == CLF_AXIS_RANGE)
            *free_running |= bit(a);
    }
}

uint32_t clf_sink_loop(const clf_cplan *c, const clf_sink *s) {
    if (s->kind == CLF_SINK_STORE || s->kind == CLF_SINK_PATTERN) return s->keep;
    uint32_t free_running, following, set = s->keep | value_set(c, s->guard) | value_set(c, s->order);
    axis_sets(c, &free_running, &following);
    for (int k = 0; k < (s->kind == CLF_SINK_FOLD ? 1 : 4); k++) set |= value_set(c, s->value[k]);
    for (int k = 0; k < 2; k++) set |= value_set(c, s->key[k]);
    set |= s->kind == CLF_SINK_DOT ? free_running & 1u : s->over ? s->over : free_running & ~clf_cplan_inner(c);
    for (int a = 0; a < c->naxes; a++) /* the row whose code a DICT axis follows */
        if (set & following & bit(a)) set |= bit(c->axis[a].parent);
    return set & ~following;
}

enum { DOT_WHOLE_ROWS = 5 }; /* columns of the right operand from which a product is computed in whole rows of it */

int clf_dot_lanes(const clf_cplan *c, const clf_value *dot, const int64_t *axis_n) {
    const clf_value *right = &c->value[dot->in[1]];
    const clf_access *a = right->op == CLF_V_LOAD ? &c->access[right->arg] : NULL;
    int last = a && a->rank ? a->at[a->rank - 1].axis : -1;
    if (last < 0 || last == dot->axis || c->axis[last].kind != CLF_AXIS_RANGE) return clf_lanes((clf_dtype)dot->dtype);
    int64_t n = axis_n ? axis_n[last] : c->axis[last].n.n;
    return n >= DOT_WHOLE_ROWS ? 1 : clf_lanes((clf_dtype)dot->dtype);
}

/* ---- hash ---------------------------------------------------------------------------------------------------------------- */

/* Numbers fed one by one into a chained 64-bit hash, twice with different seeds: no padding, no addresses. */
typedef struct feed {
    uint64_t lo, hi, n;
    int64_t word[64];
} feed;

static void flush(feed *f) {
    f->lo = clf_hash64(f->word, f->n * sizeof *f->word, f->lo);
    f->hi = clf_hash64(f->word, f->n * sizeof *f->word, f->hi);
    f->n = 0;
}

static void put(feed *f, int64_t x) {
    f->word[f->n++] = x;
    if (f->n == sizeof f->word / sizeof *f->word) flush(f);
}

static void put_operands(feed *f, const clf_cinput *x, int n) {
    for (int i = 0; i < n; i++) {
        put(f, x[i].dtype);
        put(f, x[i].format);
        put(f, x[i].rank);
    }
}

static void put_access(feed *f, const clf_access *a) {
    put(f, a->input);
    put(f, a->protocol);
    put(f, a->rank);
    for (int d = 0; d < a->rank; d++) {
        put(f, a->at[d].axis);
        put(f, a->at[d].value);
        put(f, a->at[d].mul);
        put(f, a->at[d].add);
    }
}

static void put_value(feed *f, const clf_value *v) {
    put(f, v->op);
    put(f, v->dtype);
    put(f, v->axis);
    put(f, v->arg);
    for (int k = 0; k < 3; k++) put(f, v->in[k]);
}

static void put_sink(feed *f, const clf_sink *s) {
    put(f, s->kind);
    put(f, s->fold);
    put(f, s->keep);
    put(f, s->over);
    put(f, s->guard);
    put(f, s->order);
    for (int k = 0; k < 2; k++) put(f, s->key[k]);
    for (int k = 0; k < 4; k++) put(f, s->value[k]);
    for (int k = 0; k < 4; k++) put(f, s->out[k]);
}

clf_hash clf_cplan_hash(const clf_cplan *c) {
    feed f = {.lo = 0x636c66757365u, .hi = 0x63706c616eu};
    int count[7] = {c->naxes, c->nin, c->nparam, c->nout, c->naccess, c->nvalue, c->nsink};
    for (int i = 0; i < 7; i++) put(&f, count[i]);
    for (int a = 0; a < c->naxes; a++) {
        put(&f, c->axis[a].kind);
        put(&f, c->axis[a].ascending);
        put(&f, c->axis[a].parent);
        put(&f, c->axis[a].owner);
    }
    put_operands(&f, c->in, c->nin);
    for (int i = 0; i < c->nparam; i++) put(&f, c->param[i]);
    put_operands(&f, c->out, c->nout);
    for (int i = 0; i < c->naccess; i++) put_access(&f, &c->access[i]);
    for (int i = 0; i < c->nvalue; i++) put_value(&f, &c->value[i]);
    for (int i = 0; i < c->nsink; i++) put_sink(&f, &c->sink[i]);
    flush(&f);
    return (clf_hash){.lo = f.lo, .hi = f.hi};
}
