/* SPDX-License-Identifier: Apache-2.0
 * From a loop of graph nodes to a cplan. Both axes always exist (a 1x1 loop has none), so equal structure gives equal cplans whatever
 * the extents. An operand that spans an axis is indexed by it; one that is broadcast is not. Scalars in slots become parameters in
 * the type that uses them; scalars made by other steps are rank-0 operands. Types follow core/op.h: operands are cast to the
 * operator's type, a truth value of another type is tested against 0 first. */
#include "planner/lower.h"

#include <string.h>

typedef struct lower {
    clf_plan *plan;
    const clf_cover *cover;
    const clf_graph *g;
    int32_t part;
    clf_builder b;
    int64_t space[2];
    bool single; /* no axes */
    clf_step *step;
    clf_lowered *done;
    int32_t cap_in, cap_out, cap_param;
} lower;

int32_t clf_plan_value_for(clf_plan *plan, int32_t n) {
    if (plan->value_of[n] >= 0) return plan->value_of[n];
    const clf_gnode *x = &plan->g.node[n];
    clf_plan_value *v = &plan->value[plan->nvalue];
    memset(v, 0, sizeof *v);
    v->node = n;
    v->slot = clf_node_is_slot(x) ? (int32_t)x->attr[0] : -1;
    v->dtype = x->dtype;
    v->scalar = x->scalar;
    v->rows = clf_rows(x);
    v->cols = clf_cols(x);
    v->bytes = (size_t)v->rows * (size_t)v->cols * clf_dtype_bytes((clf_dtype)x->dtype);
    v->made = v->last = -1;
    return plan->value_of[n] = plan->nvalue++;
}

/* Arrays of a step grow by doubling inside the arena. */
static bool push(clf_arena *a, int32_t **v, int32_t *n, int32_t *cap, int32_t x) {
    if (*n == *cap) {
        int32_t c = *cap ? *cap * 2 : 8;
        int32_t *w = clf_arena_new(a, (size_t)c, sizeof *w);
        if (!w) return false;
        if (*n) memcpy(w, *v, (size_t)*n * sizeof *w);
        *v = w;
        *cap = c;
    }
    (*v)[(*n)++] = x;
    return true;
}

static bool push_param(lower *L, clf_plan_param p) {
    clf_step *s = L->step;
    if (s->nparam == L->cap_param) {
        int32_t c = L->cap_param ? L->cap_param * 2 : 8;
        clf_plan_param *w = clf_arena_new(&L->plan->arena, (size_t)c, sizeof *w);
        if (!w) return false;
        if (s->nparam) memcpy(w, s->param, (size_t)s->nparam * sizeof *w);
        s->param = w;
        L->cap_param = c;
    }
    s->param[s->nparam++] = p;
    return true;
}

static bool same_param(const clf_plan_param *a, const clf_plan_param *b) {
    return a->slot == b->slot && (a->slot >= 0 || clf_scalar_same(a->imm, b->imm));
}

/* A scalar argument of type t; equal ones are shared. */
static int param(lower *L, clf_plan_param want, clf_dtype t) {
    if (L->b.failed) return 0; /* the step may know of one that the builder had no room for */
    for (int i = 0; i < L->step->nparam; i++)
        if (L->b.c.param[i] == t && same_param(&L->step->param[i], &want))
            return clf_build_value(&L->b, (clf_value){.op = CLF_V_PARAM, .dtype = (uint8_t)t, .axis = -1, .in = {-1, -1, -1}, .arg = i});
    if (!push_param(L, want)) L->b.failed = true;
    int i = clf_build_param(&L->b, t);
    return clf_build_value(&L->b, (clf_value){.op = CLF_V_PARAM, .dtype = (uint8_t)t, .axis = -1, .in = {-1, -1, -1}, .arg = i});
}

static int immediate(lower *L, double x, clf_dtype t) { return param(L, (clf_plan_param){-1, clf_scalar_f64(x)}, t); }

/* Operand q in memory, read at (row0 + i, col0 + j); its extents may be larger than the loop's when indexed. */
static int load(lower *L, int32_t q, bool indexed, int64_t row0, int64_t col0) {
    const clf_gnode *x = &L->g->node[q];
    int32_t v = clf_plan_value_for(L->plan, q);
    int64_t dim[2] = {clf_rows(x), clf_cols(x)};
    int rank = clf_gnode_single(x) && !(!L->single && indexed) ? 0 : 2, in = -1;
    for (int i = 0; i < L->step->nin && in < 0; i++)
        if (L->step->in[i] == v) in = i;
    if (in < 0) {
        if (!push(&L->plan->arena, &L->step->in, &L->step->nin, &L->cap_in, v)) L->b.failed = true;
        in = clf_build_in(&L->b, (clf_dtype)x->dtype, rank, dim);
    }
    if (L->b.failed) return 0;
    clf_access a;
    memset(&a, 0, sizeof a);
    a.input = in;
    a.protocol = CLF_STREAM;
    a.rank = L->b.c.in[in].rank;
    for (int d = 0; d < a.rank; d++) {
        bool spans = !L->single && (indexed || dim[d] == L->space[d]);
        a.at[d] = (clf_at){spans ? d : -1, -1, spans ? 1 : 0, d ? col0 : row0};
    }
    return clf_build_load(&L->b, clf_build_access_at(&L->b, &a));
}

static bool made(const lower *L, int32_t n) { return L->done->stamp[n] == L->part + 1; }

/* NOLINTBEGIN(misc-no-recursion): bounded, see make */
static int make(lower *L, int32_t n);

/* Node q as an operand of a value computed in this part, in type t. */
static int operand(lower *L, int32_t q, clf_dtype t) {
    const clf_gnode *x = &L->g->node[q];
    if (clf_node_is_slot(x) && x->scalar) return param(L, (clf_plan_param){(int32_t)x->attr[0], clf_scalar_f64(0)}, t);
    int v = made(L, q) ? L->done->value[q] : L->cover->part_of[q] == L->part || L->cover->copied[q] ? make(L, q) : load(L, q, false, 0, 0);
    return clf_build_cast(&L->b, v, t);
}

/* A truth value in type t: x != 0 keeps what conversion to an integer type would lose. */
static int truth(lower *L, int32_t q, clf_dtype t) {
    clf_dtype have = (clf_dtype)L->g->node[q].dtype;
    bool lossless = have == t || have == CLF_U8 || (clf_dtype_float(have) && t == CLF_F64) || (have == CLF_I32 && t != CLF_U8);
    if (lossless) return operand(L, q, t);
    int v = operand(L, q, have);
    return clf_build_cast(&L->b, clf_build_op(&L->b, CLF_OP_NE, CLF_U8, v, immediate(L, 0, have), -1), t);
}

static int make_cell(lower *L, const clf_gnode *x) {
    clf_dtype in[3], result;
    bool scalar[3];
    for (int k = 0; k < x->nin; k++) {
        in[k] = (clf_dtype)L->g->node[x->in[k]].dtype;
        scalar[k] = L->g->node[x->in[k]].scalar;
    }
    clf_dtype t = clf_op_type((clf_op)x->op, x->nin, in, scalar, &result);
    int a[3] = {-1, -1, -1};
    for (int k = 0; k < x->nin; k++)
        a[k] = clf_ops[x->op].type == CLF_TYPE_SELECT && k == 0 ? truth(L, x->in[k], t) : operand(L, x->in[k], t);
    return clf_build_op(&L->b, (clf_op)x->op, result, a[0], a[1], a[2]);
}

/* from + by*i, computed from the position so that every row has one rounding history. */
static int make_seq(lower *L, const clf_gnode *x) {
    const clf_value row = {.op = CLF_V_INDEX, .dtype = CLF_I64, .axis = -1, .in = {-1, -1, -1}, .arg = 0};
    bool one = clf_gnode_single(x); /* perhaps a copy in a larger loop, whose rows are not its own */
    int i = one ? immediate(L, 0, CLF_F64) : clf_build_cast(&L->b, clf_build_value(&L->b, row), CLF_F64);
    int step = clf_build_op(&L->b, CLF_OP_MUL, CLF_F64, i, immediate(L, clf_attr_f64(x->attr[1]), CLF_F64), -1);
    return clf_build_op(&L->b, CLF_OP_ADD, CLF_F64, immediate(L, clf_attr_f64(x->attr[0]), CLF_F64), step, -1);
}

/* Recursion is bounded: within a part inputs come first; copied expressions have at most COPY_OPS operators. */
static int make(lower *L, int32_t n) {
    if (made(L, n)) return L->done->value[n];
    const clf_gnode *x = &L->g->node[n];
    int v;
    switch (x->op) {
    case CLF_OP_CAST: v = operand(L, x->in[0], (clf_dtype)x->dtype); break;
    case CLF_OP_FILL: v = operand(L, x->in[0], (clf_dtype)x->dtype); break;
    case CLF_OP_SEQ: v = make_seq(L, x); break;
    case CLF_OP_INDEX: v = load(L, x->in[0], true, x->attr[0], x->attr[1]); break;
    default: v = make_cell(L, x);
    }
    L->done->value[n] = v;
    L->done->stamp[n] = L->part + 1;
    return v;
}
/* NOLINTEND(misc-no-recursion) */

static void sink(lower *L, int32_t n) {
    const clf_gnode *x = &L->g->node[n];
    int64_t dim[2] = {clf_rows(x), clf_cols(x)};
    bool fold = x->op == CLF_OP_FOLD;
    int64_t way = fold ? x->attr[1] : -1;
    uint32_t keep = L->single ? 0 : !fold ? 3 : way == CLF_WAY_ROWS ? 1 : way == CLF_WAY_COLS ? 2 : 0;
    int rank = keep == 3 ? 2 : keep ? 1 : 0;
    int64_t *d = keep == 2 ? dim + 1 : dim;
    int value;
    if (fold) {
        clf_fold_id f = (clf_fold_id)x->attr[0];
        value = operand(L, x->in[0], clf_fold_value_type(f, (clf_dtype)L->g->node[x->in[0]].dtype));
        clf_build_fold(&L->b, clf_build_out(&L->b, (clf_dtype)x->dtype, rank, d), f, value, keep);
    } else {
        value = make(L, n);
        clf_build_store(&L->b, clf_build_out(&L->b, (clf_dtype)x->dtype, rank, d), value, keep);
    }
    if (!push(&L->plan->arena, &L->step->out, &L->step->nout, &L->cap_out, clf_plan_value_for(L->plan, n))) L->b.failed = true;
}

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
    for (int i = 0; i < c->nsink; i++)
        put_numbers(&k, 5, (const int64_t[]){c->sink[i].kind, c->sink[i].fold, c->sink[i].keep, c->sink[i].value[0], c->sink[i].out[0]});
    clf_status st = CLF_OK;
    s->key = k.failed ? NULL : clf_arena_strn(&plan->arena, clf_str_c(&k), k.len);
    s->key_len = (uint32_t)k.len;
    if (!s->key) st = clf_fail(err, CLF_E_NOMEM, "planning: out of memory");
    clf_str_release(&k);
    return st;
}

static void count(const clf_plan *plan, clf_step *s) {
    for (int i = 0; i < s->nin; i++) s->read_bytes += (double)plan->value[s->in[i]].bytes;
    for (int i = 0; i < s->nout; i++) s->write_bytes += (double)plan->value[s->out[i]].bytes;
}

static clf_status lower_loop(clf_plan *plan, const clf_cover *cover, int32_t i, clf_lowered *done, clf_step *s, clf_err *err) {
    const clf_part *part = &cover->part[i];
    lower L = {.plan = plan, .cover = cover, .g = &plan->g, .part = i, .step = s, .done = done};
    clf_node_space(&plan->g, part->node[0], L.space);
    L.single = L.space[0] == 1 && L.space[1] == 1;
    clf_build_begin(&L.b, &plan->arena);
    for (int d = 0; d < 2 && !L.single; d++) clf_build_axis(&L.b, CLF_AXIS_RANGE, L.space[d]);
    double cells = (double)L.space[0] * (double)L.space[1];
    int folds = 0, stores = 0;
    for (int32_t j = 0; j < part->n; j++) {
        int32_t n = part->node[j];
        bool fold = plan->g.node[n].op == CLF_OP_FOLD;
        if (!fold) make(&L, n);
        s->flops += cells * (fold                                 ? clf_folds[plan->g.node[n].attr[0]].flops
                             : clf_op_is_cell(plan->g.node[n].op) ? clf_ops[plan->g.node[n].op].flops
                                                                  : 0);
        if (!cover->stored[n]) continue;
        sink(&L, n);
        folds += fold && plan->g.node[n].attr[1] == CLF_WAY_ALL;
        stores += !fold || plan->g.node[n].attr[1] != CLF_WAY_ALL;
    }
    s->template_ = folds > 1 && !stores ? CLF_TEMPLATE_MAGG : CLF_TEMPLATE_CELL;
    CLF_TRY(clf_build_end(&L.b, &s->c, err));
    count(plan, s);
    return step_key(plan, s, err);
}

static clf_status lower_single(clf_plan *plan, int32_t n, clf_step *s, clf_err *err) {
    const clf_gnode *x = &plan->g.node[n];
    bool product = x->op == CLF_OP_MATMUL, t[2] = {false, false};
    s->kind = product ? CLF_STEP_LIBRARY : CLF_STEP_CALLOUT;
    s->node = n;
    s->in = clf_arena_new(&plan->arena, (size_t)x->nin, sizeof *s->in);
    s->out = clf_arena_new(&plan->arena, 1, sizeof *s->out);
    if (!s->in || !s->out) return clf_fail(err, CLF_E_NOMEM, "planning: out of memory");
    for (int k = 0; k < x->nin; k++) s->in[k] = clf_plan_value_for(plan, product ? clf_product_operand(&plan->g, n, k, &t[k]) : x->in[k]);
    s->nin = x->nin;
    s->nout = 1;
    s->out[0] = clf_plan_value_for(plan, n);
    s->ta = t[0];
    s->tb = t[1];
    if (product) s->flops = 2.0 * (double)clf_rows(x) * (double)clf_cols(x) * (double)clf_cols(&plan->g.node[x->in[0]]);
    count(plan, s);
    return CLF_OK;
}

clf_status clf_lower(clf_plan *plan, const clf_cover *cover, int32_t i, clf_lowered *scratch, clf_step *s, clf_err *err) {
    const clf_part *part = &cover->part[i];
    memset(s, 0, sizeof *s);
    s->node = -1;
    s->cover = clf_arena_new(&plan->arena, (size_t)part->n, sizeof *s->cover);
    if (!s->cover) return clf_fail(err, CLF_E_NOMEM, "planning: out of memory");
    memcpy(s->cover, part->node, (size_t)part->n * sizeof *s->cover);
    s->ncover = part->n;
    return part->loop ? lower_loop(plan, cover, i, scratch, s, err) : lower_single(plan, part->node[0], s, err);
}
