/* SPDX-License-Identifier: Apache-2.0
 * The builder: growing arrays in an arena, values found again by content. Invariant: after `failed` no array changes, and every
 * index handed out is below its count (or 0), so callers may go on and learn of it at clf_build_end. */
#include "planner/builder.h"

#include <string.h>

enum { AXES, INS, PARAMS, OUTS, ACCESSES, VALUES, SINKS };

void clf_build_begin(clf_builder *b, clf_arena *arena) {
    memset(b, 0, sizeof *b);
    b->arena = arena;
}

/* Room for element n of an array: the array, moved when it had to grow; NULL (and failed) when memory is out. */
static void *room(clf_builder *b, int which, void *array, int n, size_t each) {
    if (b->failed) return NULL;
    if (n < b->cap[which]) return array;
    int cap = b->cap[which] ? b->cap[which] : 4;
    if (n >= cap && __builtin_mul_overflow(cap, 2, &cap)) cap = 0;
    void *grown = cap ? clf_arena_new(b->arena, (size_t)cap, each) : NULL;
    b->failed = grown == NULL;
    if (!grown) return NULL;
    if (n) memcpy(grown, array, (size_t)n * each);
    b->cap[which] = cap;
    return grown;
}

int clf_build_axis(clf_builder *b, clf_axis_kind kind, int64_t n) {
    clf_axis *at = room(b, AXES, b->c.axis, b->c.naxes, sizeof *at);
    if (!at) return 0;
    b->c.axis = at;
    at[b->c.naxes] = (clf_axis){.kind = (uint8_t)kind, .parent = -1, .owner = -1, .n = {n, -1}};
    return b->c.naxes++;
}

void clf_build_owner(clf_builder *b, int axis, int access, int parent) {
    if (b->failed || axis < 0 || axis >= b->c.naxes) return;
    b->c.axis[axis].owner = (int16_t)access;
    b->c.axis[axis].parent = (int8_t)parent;
}

static clf_cinput operand(clf_dtype t, int rank, const int64_t *dim) {
    clf_cinput x = {.dtype = (uint8_t)t, .rank = (uint8_t)rank};
    for (int d = 0; d < rank && d < CLF_MAX_RANK; d++) x.dim[d] = (clf_dim){dim[d], -1};
    return x;
}

int clf_build_in(clf_builder *b, clf_dtype t, int rank, const int64_t *dim) {
    clf_cinput *at = room(b, INS, b->c.in, b->c.nin, sizeof *at);
    if (!at) return 0;
    b->c.in = at;
    at[b->c.nin] = operand(t, rank, dim);
    return b->c.nin++;
}

int clf_build_param(clf_builder *b, clf_dtype t) {
    uint8_t *at = room(b, PARAMS, b->c.param, b->c.nparam, sizeof *at);
    if (!at) return 0;
    b->c.param = at;
    at[b->c.nparam] = (uint8_t)t;
    return b->c.nparam++;
}

int clf_build_out(clf_builder *b, clf_dtype t, int rank, const int64_t *dim) {
    clf_coutput *at = room(b, OUTS, b->c.out, b->c.nout, sizeof *at);
    if (!at) return 0;
    b->c.out = at;
    at[b->c.nout] = operand(t, rank, dim);
    return b->c.nout++;
}

static bool same_access(const clf_access *x, const clf_access *y) {
    if (x->input != y->input || x->protocol != y->protocol || x->rank != y->rank) return false;
    for (int d = 0; d < x->rank && d < CLF_MAX_RANK; d++) {
        const clf_at *p = &x->at[d], *q = &y->at[d];
        if (p->axis != q->axis || p->value != q->value || p->mul != q->mul || p->add != q->add) return false;
    }
    return true;
}

int clf_build_access_at(clf_builder *b, const clf_access *a) {
    for (int i = 0; i < b->c.naccess; i++)
        if (same_access(&b->c.access[i], a)) return i;
    clf_access *at = room(b, ACCESSES, b->c.access, b->c.naccess, sizeof *at);
    if (!at) return 0;
    b->c.access = at;
    at[b->c.naccess] = *a;
    return b->c.naccess++;
}

int clf_build_access(clf_builder *b, int in, const int *axes) {
    clf_access a = {.input = in, .protocol = CLF_STREAM};
    if (b->failed || in < 0 || in >= b->c.nin) return 0;
    a.rank = b->c.in[in].rank;
    for (int d = 0; d < a.rank && d < CLF_MAX_RANK; d++) a.at[d] = (clf_at){.axis = axes[d], .value = -1, .mul = axes[d] >= 0};
    return clf_build_access_at(b, &a);
}

/* ---- values -------------------------------------------------------------------------------------------------------------- */

_Static_assert(sizeof(clf_value) == 24, "clf_value has no padding, so its bytes are its content");

static uint64_t slot_of(const clf_builder *b, const clf_value *v) { return clf_hash64(v, sizeof *v, 0) & (uint64_t)(b->ntable - 1); }

static void enter(clf_builder *b, int value) {
    uint64_t s = slot_of(b, &b->c.value[value]);
    while (b->table[s]) s = (s + 1) & (uint64_t)(b->ntable - 1);
    b->table[s] = value + 1;
}

/* The table stays at most half full. */
static bool table_room(clf_builder *b) {
    if (b->c.nvalue < b->ntable / 2) return true;
    int n = 16;
    while (n / 2 <= b->c.nvalue && !__builtin_mul_overflow(n, 2, &n)) continue;
    int32_t *table = clf_arena_new(b->arena, (size_t)n, sizeof *table);
    if (!table) return false;
    b->table = table;
    b->ntable = n;
    for (int i = 0; i < b->c.nvalue; i++) enter(b, i);
    return true;
}

static int find(const clf_builder *b, const clf_value *v) {
    for (uint64_t s = slot_of(b, v); b->table[s]; s = (s + 1) & (uint64_t)(b->ntable - 1))
        if (memcmp(&b->c.value[b->table[s] - 1], v, sizeof *v) == 0) return b->table[s] - 1;
    return -1;
}

int clf_build_value(clf_builder *b, clf_value v) {
    if (b->failed) return 0;
    v.axes = clf_value_axes(&b->c, &v);
    b->failed = !table_room(b);
    if (b->failed) return 0;
    int i = find(b, &v);
    if (i >= 0) return i;
    clf_value *at = room(b, VALUES, b->c.value, b->c.nvalue, sizeof *at);
    if (!at) return 0;
    b->c.value = at;
    at[b->c.nvalue] = v;
    enter(b, b->c.nvalue);
    return b->c.nvalue++;
}

int clf_build_load(clf_builder *b, int access) {
    if (b->failed || access < 0 || access >= b->c.naccess) return 0;
    int in = b->c.access[access].input;
    uint8_t t = in >= 0 && in < b->c.nin ? b->c.in[in].dtype : CLF_F64;
    return clf_build_value(b, (clf_value){.op = CLF_V_LOAD, .dtype = t, .axis = -1, .in = {-1, -1, -1}, .arg = access});
}

int clf_build_op(clf_builder *b, clf_op op, clf_dtype t, int a, int b2, int c) {
    return clf_build_value(b, (clf_value){.op = (uint16_t)op, .dtype = (uint8_t)t, .axis = -1, .in = {a, b2, c}, .arg = -1});
}

int clf_build_cast(clf_builder *b, int v, clf_dtype t) {
    if (b->failed || v < 0 || v >= b->c.nvalue || b->c.value[v].dtype == t) return v;
    clf_value w = b->c.value[v];
    if (clf_op_is_cell(w.op) && clf_ops[w.op].flags & F_BOOL) {
        w.dtype = (uint8_t)t;
        return clf_build_value(b, w);
    }
    return clf_build_value(b, (clf_value){.op = CLF_V_CAST, .dtype = (uint8_t)t, .axis = -1, .in = {v, -1, -1}, .arg = -1});
}

static clf_value over_axis(int op, clf_dtype t, int axis, int x, int y, int arg) {
    return (clf_value){.op = (uint16_t)op, .dtype = (uint8_t)t, .axis = (int8_t)axis, .in = {x, y, -1}, .arg = arg};
}

static clf_dtype type_of(const clf_builder *b, int v) { return v >= 0 && v < b->c.nvalue ? (clf_dtype)b->c.value[v].dtype : CLF_F64; }

static int build_folded(clf_builder *b, int op, clf_fold_id f, int axis, int v) {
    if (b->failed) return 0;
    v = clf_build_cast(b, v, clf_fold_value_type(f, type_of(b, v)));
    return clf_build_value(b, over_axis(op, clf_fold_result_type(f, type_of(b, v)), axis, v, -1, (int)f));
}

int clf_build_foldv(clf_builder *b, clf_fold_id f, int axis, int v) { return build_folded(b, CLF_V_FOLD, f, axis, v); }
int clf_build_fold_rest(clf_builder *b, clf_fold_id f, int axis, int v, int rest) {
    if (b->failed) return 0;
    clf_dtype t = clf_fold_value_type(f, type_of(b, v));
    v = clf_build_cast(b, v, t);
    rest = clf_build_cast(b, rest, t);
    return clf_build_value(b, over_axis(CLF_V_FOLD, clf_fold_result_type(f, t), axis, v, rest, (int)f));
}
int clf_build_scan(clf_builder *b, clf_fold_id f, int axis, int v) { return build_folded(b, CLF_V_SCAN, f, axis, v); }

int clf_build_dot(clf_builder *b, int axis, int x, int y, int skip) {
    return clf_build_value(b, over_axis(CLF_V_DOT, type_of(b, x), axis, x, y, skip));
}

int clf_build_cat(clf_builder *b, int axis, int x, int xa, int y, int ya) {
    return clf_build_value(b, over_axis(CLF_V_CAT, type_of(b, x), axis, x, y, clf_cat_arg(xa, ya)));
}

/* ---- sinks --------------------------------------------------------------------------------------------------------------- */

void clf_build_sink(clf_builder *b, const clf_sink *s) {
    clf_sink *at = room(b, SINKS, b->c.sink, b->c.nsink, sizeof *at);
    if (!at) return;
    b->c.sink = at;
    at[b->c.nsink++] = *s;
}

static clf_sink one_value(clf_sink_kind kind, int out, int v, uint32_t keep) {
    return (clf_sink){
        .kind = (uint8_t)kind, .keep = keep, .value = {v, -1, -1, -1}, .key = {-1, -1}, .guard = -1, .order = -1, .out = {out, -1, -1, -1}};
}

void clf_build_store(clf_builder *b, int out, int v, uint32_t keep) {
    clf_sink s = one_value(CLF_SINK_STORE, out, v, keep);
    clf_build_sink(b, &s);
}

void clf_build_pattern(clf_builder *b, int out, int v, uint32_t keep) {
    clf_sink s = one_value(CLF_SINK_PATTERN, out, v, keep);
    clf_build_sink(b, &s);
}

void clf_build_fold(clf_builder *b, int out, clf_fold_id f, int v, uint32_t keep) {
    clf_sink s = one_value(CLF_SINK_FOLD, out, v, keep);
    s.fold = (uint8_t)f;
    clf_build_sink(b, &s);
}

void clf_build_dot_sink(clf_builder *b, int out, int x, int y, int skip, uint32_t keep) {
    clf_sink s = one_value(CLF_SINK_DOT, out, x, keep);
    s.value[1] = y;
    s.fold = (uint8_t)skip;
    clf_build_sink(b, &s);
}

clf_status clf_build_end(clf_builder *b, clf_cplan *out, clf_err *err) {
    if (b->failed) return clf_fail(err, CLF_E_NOMEM, "building a fused operator: out of memory");
    CLF_TRY(clf_cplan_check(&b->c, err));
    *out = b->c;
    return CLF_OK;
}
