/* SPDX-License-Identifier: Apache-2.0
 * Nodes as values of a cplan. An operand that spans an axis is indexed by it; one that is broadcast is not. Scalars in slots become
 * parameters in the type that uses them; scalars made by other steps are rank-0 operands. Types follow core/op.h: operands are cast to
 * the operator's type, a truth value of another type is tested against 0 first. Where an operand's zeros are structural they annihilate:
 * the operator's result is used only where that operand is not zero. */
#include <string.h>

#include "planner/lowering.h"

/* Arrays of a step grow by doubling inside the arena. */
bool clf_lower_push(clf_arena *a, int32_t **v, int32_t *n, int32_t *cap, int32_t x) {
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

static bool push_param(clf_lowering *L, clf_plan_param p) {
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
static int param(clf_lowering *L, clf_plan_param want, clf_dtype t) {
    if (L->b.failed) return 0; /* the step may know of one that the builder had no room for */
    for (int i = 0; i < L->step->nparam; i++)
        if (L->b.c.param[i] == t && same_param(&L->step->param[i], &want))
            return clf_build_value(&L->b, (clf_value){.op = CLF_V_PARAM, .dtype = (uint8_t)t, .axis = -1, .in = {-1, -1, -1}, .arg = i});
    if (!push_param(L, want)) L->b.failed = true;
    int i = clf_build_param(&L->b, t);
    return clf_build_value(&L->b, (clf_value){.op = CLF_V_PARAM, .dtype = (uint8_t)t, .axis = -1, .in = {-1, -1, -1}, .arg = i});
}

static int immediate(clf_lowering *L, double x, clf_dtype t) { return param(L, (clf_plan_param){-1, clf_scalar_f64(x)}, t); }

/* ---- axes of a loop over rows ---- */

int clf_lower_axis_but(clf_lowering *L, int64_t cols, int avoid, int after) {
    for (int a = after + 1; a < L->b.c.naxes; a++)
        if (a != avoid && L->width[a] == cols) return a;
    if (L->b.c.naxes >= CLF_MAX_AXES) L->b.failed = true; /* selection counts them */
    if (L->b.failed) return 0;
    int a = clf_build_axis(&L->b, CLF_AXIS_RANGE, cols);
    L->width[a] = cols;
    return a;
}

int clf_lower_axis(clf_lowering *L, int64_t cols) {
    if (!L->rowwise) return L->single ? -1 : 1;
    if (cols == 1) return -1;
    return L->driver >= 0 && cols == L->width[L->entry] ? L->entry : clf_lower_axis_but(L, cols, -1, 0);
}

/* ---- operands in memory ---- */

/* The step's operand for a value. */
static int step_input(clf_lowering *L, int32_t v, int rank) {
    const clf_plan_value *x = &L->plan->value[v];
    for (int i = 0; i < L->step->nin; i++)
        if (L->step->in[i] == v) return i;
    if (!clf_lower_push(&L->plan->arena, &L->step->in, &L->step->nin, &L->cap_in, v)) L->b.failed = true;
    int in = clf_build_in(&L->b, (clf_dtype)x->dtype, rank, (int64_t[2]){x->rows, x->cols});
    if (!L->b.failed) L->b.c.in[in].format = x->format;
    return in;
}

/* Read at (row0 + row's axis, col0 + col's axis); axes -1: at the constant. */
static int load_at(clf_lowering *L, int32_t value, int rank, int protocol, const int axis[2], const int64_t add[2]) {
    clf_access a;
    int in = step_input(L, value, rank);
    if (L->b.failed) return 0;
    memset(&a, 0, sizeof a);
    a.input = in;
    a.protocol = (uint8_t)protocol;
    a.rank = L->b.c.in[in].rank;
    for (int d = 0; d < a.rank; d++) a.at[d] = (clf_at){axis[d], -1, axis[d] >= 0, add[d]};
    return clf_build_load(&L->b, clf_build_access_at(&L->b, &a));
}

static int32_t dense(clf_lowering *L, int32_t q) {
    int32_t v = 0;
    if (L->failed == CLF_OK) L->failed = clf_plan_dense_for(L->plan, q, &v, L->err);
    return v;
}

/* Is node q another sparse matrix whose rows are the loop's and whose columns the driver's? */
static bool located(clf_lowering *L, int32_t q) {
    const clf_gnode *x = &L->g->node[q];
    return clf_rows(x) == L->space[0] && clf_cols(x) == L->width[L->entry] &&
           L->plan->value[clf_plan_value_for(L->plan, q)].format == CLF_CSR;
}

/* Node q's cells at the loop's row and a column axis: the driver's entries, what another sparse matrix stores there, or dense cells. */
static int load(clf_lowering *L, int32_t q, int axis) {
    const clf_gnode *x = &L->g->node[q];
    if (L->driver >= 0 && axis == L->entry && (L->driver == q || located(L, q)))
        return load_at(L, clf_plan_value_for(L->plan, q), 2, L->driver == q ? CLF_ENTRIES : CLF_LOCATE, (int[2]){0, axis},
                       (int64_t[2]){0, 0});
    int64_t dim[2] = {clf_rows(x), clf_cols(x)};
    bool rest = axis == CLF_REST_AXIS;
    if (rest) axis = dim[1] == 1 ? -1 : clf_lower_axis_but(L, dim[1], L->entry, 0);
    int at[2] = {L->single || dim[0] != L->space[0] || (rest && dim[0] == 1) ? -1 : 0, axis};
    if (L->rowwise ? dim[1] == 1 && !(axis >= 0 && L->width[axis] == 1) : L->single || dim[1] != L->space[1]) at[1] = -1;
    return load_at(L, dense(L, q), clf_gnode_single(x) ? 0 : 2, CLF_STREAM, at, (int64_t[2]){0, 0});
}

/* A range of q: the loop's axes over the range, not over q. */
static int load_range(clf_lowering *L, const clf_gnode *n, int axis) {
    const clf_gnode *x = &L->g->node[n->in[0]];
    bool none = clf_gnode_single(x) && L->single;
    int at[2] = {L->single ? -1 : 0, axis};
    return load_at(L, dense(L, n->in[0]), none ? 0 : 2, CLF_STREAM, at, n->attr);
}

/* ---- values ---- */

static int *known(clf_lowering *L, int32_t n, int axis) {
    if (L->done->stamp[n] != L->number + 1) return NULL;
    if (!L->rowwise || L->done->axis[n] == axis) return &L->done->value[n];
    for (int32_t i = 0; i < L->nelsewhere; i++)
        if (L->elsewhere[i].node == n && L->elsewhere[i].axis == axis) return &L->elsewhere[i].value;
    return NULL;
}

static void remember(clf_lowering *L, int32_t n, int axis, int value) {
    if (L->done->stamp[n] != L->number + 1) {
        L->done->stamp[n] = L->number + 1;
        L->done->axis[n] = axis;
        L->done->value[n] = value;
        return;
    }
    if (L->nelsewhere == L->cap_elsewhere) {
        int32_t c = L->cap_elsewhere ? 2 * L->cap_elsewhere : 8;
        clf_elsewhere *w = clf_arena_new(&L->plan->arena, (size_t)c, sizeof *w);
        if (!w) {
            L->b.failed = true;
            return;
        }
        if (L->nelsewhere) memcpy(w, L->elsewhere, (size_t)L->nelsewhere * sizeof *w);
        L->elsewhere = w;
        L->cap_elsewhere = c;
    }
    L->elsewhere[L->nelsewhere++] = (clf_elsewhere){n, value, axis};
}

/* Where input q of n is computed when n is at `axis`. */
static int axis_of(const clf_lowering *L, int32_t n, int32_t q, int axis) {
    if (!L->rowwise) return axis;
    return clf_cols(&L->g->node[q]) == clf_cols(&L->g->node[n]) ? axis : -1;
}

/* NOLINTBEGIN(misc-no-recursion): bounded, see clf_lower_node */
int clf_lower_operand(clf_lowering *L, int32_t q, int axis, clf_dtype t) {
    const clf_gnode *x = &L->g->node[q];
    if (axis == CLF_REST_AXIS && L->zero[q]) return immediate(L, 0, t);
    if (clf_node_is_slot(x) && x->scalar) return param(L, (clf_plan_param){(int32_t)x->attr[0], clf_scalar_f64(0)}, t);
    bool here = clf_cover_has(L->cover, L->number, q) || L->cover->copied[q];
    return clf_build_cast(&L->b, here ? clf_lower_node(L, q, axis) : load(L, q, axis), t);
}

static int input(clf_lowering *L, int32_t n, int k, int axis, clf_dtype t) {
    int32_t q = L->g->node[n].in[k];
    return clf_lower_operand(L, q, axis_of(L, n, q, axis), t);
}

/* A truth value in type t: x != 0 keeps what conversion to an integer type would lose. */
static int truth(clf_lowering *L, int32_t n, int axis, clf_dtype t) {
    clf_dtype have = (clf_dtype)L->g->node[L->g->node[n].in[0]].dtype;
    bool lossless = have == t || have == CLF_U8 || (clf_dtype_float(have) && t == CLF_F64) || (have == CLF_I32 && t != CLF_U8);
    if (lossless) return input(L, n, 0, axis, t);
    int v = input(L, n, 0, axis, have);
    return clf_build_cast(&L->b, clf_build_op(&L->b, CLF_OP_NE, CLF_U8, v, immediate(L, 0, have), -1), t);
}

/* r where a is not zero, else that zero. */
static int annihilated(clf_lowering *L, int a, int r, clf_dtype t) { return clf_build_op(&L->b, CLF_OP_IFELSE, t, a, r, a); }

static int make_cell(clf_lowering *L, int32_t n, int axis) {
    const clf_gnode *x = &L->g->node[n];
    clf_dtype in[3], result;
    bool scalar[3];
    for (int k = 0; k < x->nin; k++) {
        in[k] = (clf_dtype)L->g->node[x->in[k]].dtype;
        scalar[k] = L->g->node[x->in[k]].scalar;
    }
    clf_dtype t = clf_op_type((clf_op)x->op, x->nin, in, scalar, &result);
    int a[3] = {-1, -1, -1};
    for (int k = 0; k < x->nin; k++)
        a[k] = clf_ops[x->op].type == CLF_TYPE_SELECT && k == 0 ? truth(L, n, axis, t) : input(L, n, k, axis, t);
    int r = clf_build_op(&L->b, (clf_op)x->op, result, a[0], a[1], a[2]);
    bool same = a[0] == a[1] && (clf_ops[x->op].flags & F_ANNIH); /* 0 with 0 is 0 anyway, as is what truth values give */
    unsigned one = same || (clf_ops[x->op].flags & F_BOOL) ? 0 : clf_op_annihilators(x->op);
    for (int k = 0; k < x->nin; k++)
        if ((one >> k & 1) && L->g->node[x->in[k]].zeros == CLF_ZEROS_STRUCTURAL) r = annihilated(L, a[k], r, t);
    return r;
}

/* from + by*i, computed from the position so that every row has one rounding history. */
static int make_seq(clf_lowering *L, const clf_gnode *x) {
    const clf_value row = {.op = CLF_V_INDEX, .dtype = CLF_I64, .axis = -1, .in = {-1, -1, -1}, .arg = 0};
    bool one = clf_gnode_single(x); /* perhaps a copy in a larger loop, whose rows are not its own */
    int i = one ? immediate(L, 0, CLF_F64) : clf_build_cast(&L->b, clf_build_value(&L->b, row), CLF_F64);
    int step = clf_build_op(&L->b, CLF_OP_MUL, CLF_F64, i, immediate(L, clf_attr_f64(x->attr[1]), CLF_F64), -1);
    return clf_build_op(&L->b, CLF_OP_ADD, CLF_F64, immediate(L, clf_attr_f64(x->attr[0]), CLF_F64), step, -1);
}

int clf_lower_rest(clf_lowering *L, int32_t n) {
    const clf_gnode *x = &L->g->node[n], *q = &L->g->node[x->in[0]];
    if (L->driver < 0 || clf_cols(q) != L->width[L->entry] || !clf_driver_counts(L->g, n, L->zero)) return -1;
    return clf_lower_operand(L, x->in[0], CLF_REST_AXIS, clf_fold_value_type((clf_fold_id)x->attr[0], (clf_dtype)q->dtype));
}

/* A row aggregate as one number a row. */
static int make_fold(clf_lowering *L, int32_t n) {
    const clf_gnode *x = &L->g->node[n], *q = &L->g->node[x->in[0]];
    int along = clf_cols(q) == 1 ? clf_lower_axis_but(L, 1, -1, 0) : clf_lower_axis(L, clf_cols(q));
    clf_fold_id f = (clf_fold_id)x->attr[0];
    int v = clf_lower_operand(L, x->in[0], along, clf_fold_value_type(f, (clf_dtype)q->dtype));
    int rest = clf_lower_rest(L, n);
    return rest < 0 ? clf_build_foldv(&L->b, f, along, v) : clf_build_fold_rest(&L->b, f, along, v, rest);
}

/* Cumulated along the row, in the order of its columns. */
static int make_cum(clf_lowering *L, int32_t n, int axis) {
    const clf_gnode *x = &L->g->node[n];
    clf_fold_id f = (clf_fold_id)x->attr[0];
    int v = clf_lower_operand(L, x->in[0], axis, clf_fold_value_type(f, (clf_dtype)x->dtype));
    if (!L->b.failed) L->b.c.axis[axis].ascending = 1;
    return clf_build_scan(&L->b, f, axis, v);
}

/* Columns side by side: each operand along an axis of its own columns, one column along none. */
static int make_cat(clf_lowering *L, int32_t n, int axis) {
    const clf_gnode *x = &L->g->node[n];
    int v[2], along[2];
    for (int q = 0; q < 2; q++) {
        int64_t cols = clf_cols(&L->g->node[x->in[q]]);
        along[q] = cols == 1 ? -1 : clf_lower_axis_but(L, cols, axis, 0);
        v[q] = clf_lower_operand(L, x->in[q], along[q], (clf_dtype)x->dtype);
    }
    return clf_build_cat(&L->b, axis, v[0], along[0], v[1], along[1]);
}

/* An axis that nothing else lies on: an inner product's result may then lie on another of as many columns. */
static int own_axis(clf_lowering *L, int64_t cols) {
    if (L->b.c.naxes >= CLF_MAX_AXES) L->b.failed = true;
    if (L->b.failed) return 0;
    int a = clf_build_axis(&L->b, CLF_AXIS_RANGE, cols);
    L->width[a] = -1;
    return a;
}

/* A side of a product as it lies in memory. */
static int load_side(clf_lowering *L, int32_t q, int rows, int cols, clf_dtype type) {
    return clf_build_cast(&L->b, load_at(L, dense(L, q), 2, CLF_STREAM, (int[2]){rows, cols}, (int64_t[2]){0, 0}), type);
}

/* The axis of the terms of an inner product with column `axis`, whose left side is a. */
static int terms_axis(clf_lowering *L, int32_t n, int32_t a, int axis) {
    int64_t m = clf_product_terms(L->g, n);
    bool own = clf_product_turned(L->g, n) || (axis >= 0 && a != L->driver && clf_read_once(L->g, L->cover, L->number, a));
    int along = own ? own_axis(L, m) : m == 1 ? -1 : clf_lower_axis(L, m);
    return along < 0 || along == axis ? clf_lower_axis_but(L, m, axis, 0) : along;
}

/* A %*% B: a row of A along an axis of its own with column `axis` of B. */
static int make_product(clf_lowering *L, int32_t n, int axis) {
    const clf_gnode *x = &L->g->node[n];
    bool ta, tb;
    clf_dtype type = (clf_dtype)x->dtype;
    int32_t a = clf_product_operand(L->g, n, 0, &ta), b = clf_product_operand(L->g, n, 1, &tb);
    int along = terms_axis(L, n, a, axis);
    int va = clf_product_turned(L->g, n) ? load_side(L, a, along, 0, type) : clf_lower_operand(L, a, along, type);
    int vb = load_side(L, b, tb ? axis : along, tb ? along : axis, type);
    int skip = (L->g->node[a].zeros == CLF_ZEROS_STRUCTURAL) | (L->g->node[b].zeros == CLF_ZEROS_STRUCTURAL) << 1;
    return clf_build_value(&L->b, (clf_value){.op = CLF_V_DOT, .dtype = x->dtype, .axis = (int8_t)along, .in = {va, vb, -1}, .arg = skip});
}

/* Recursion is bounded: within a part inputs come first; copied expressions have at most COPY_OPS operators. */
int clf_lower_node(clf_lowering *L, int32_t n, int axis) {
    const clf_gnode *x = &L->g->node[n];
    const int *have = known(L, n, axis);
    int v;
    if (have) return *have;
    switch (x->op) {
    case CLF_OP_CAST:
    case CLF_OP_FILL: v = input(L, n, 0, axis, (clf_dtype)x->dtype); break;
    case CLF_OP_SEQ: v = make_seq(L, x); break;
    case CLF_OP_INDEX: v = load_range(L, x, axis); break;
    case CLF_OP_FOLD: v = make_fold(L, n); break;
    case CLF_OP_MATMUL: v = make_product(L, n, axis); break;
    case CLF_OP_CUM: v = make_cum(L, n, axis); break;
    case CLF_OP_CBIND: v = make_cat(L, n, axis); break;
    default: v = make_cell(L, n, axis);
    }
    remember(L, n, axis, v);
    return v;
}
/* NOLINTEND(misc-no-recursion) */
