/* SPDX-License-Identifier: Apache-2.0
 * From a row-form cplan to the linear program of rows_prog.h.
 *
 * Loads come into being when the first loop asks for them, so that what inner products read where it stands (right sides by column,
 * pairs) is never copied. A sink stands behind the last value it needs. rows_regs.c gives MAT values their registers. */
#include "host/run/rows_fits.h"

#include <string.h>

#include "formats/fmt.h"

typedef struct clf_rows_maker {
    struct clf_rows *r;
    const clf_cplan *c;
    int32_t *slot;   /* of a value; NONE: not made yet */
    int32_t *spread; /* value * 2 axes + axis: spread over that axis (0: over rows), once for all rows behind them */
    int32_t *uses;
} clf_rows_maker;

static int log2_bytes(int dtype) {
    static const uint8_t log2[CLF_NDTYPES] = {[CLF_F32] = 2, [CLF_F64] = 3, [CLF_I32] = 2, [CLF_I64] = 3, [CLF_U8] = 0};
    return log2[dtype];
}

static bool by_entry(const clf_rows_maker *m, int axis) { return axis >= 0 && axis == m->r->entry; }

/* ---- slots and instructions ---------------------------------------------------------------------------------------------- */

static int32_t new_slot(clf_rows_maker *m, clf_row_shape shape, int axis, int dtype) {
    struct clf_rows *r = m->r;
    int32_t number[] = {[CLF_RS_SCALAR] = r->nscalar, [CLF_RS_ROW] = r->nrow, [CLF_RS_VEC] = r->nvec, [CLF_RS_MAT] = CLF_ROWS_NONE};
    r->slot[r->nslot] =
        (clf_row_slot){.shape = (uint8_t)shape, .axis = (int8_t)axis, .log2 = (uint8_t)log2_bytes(dtype), .reg = number[shape]};
    r->nscalar += shape == CLF_RS_SCALAR;
    r->nrow += shape == CLF_RS_ROW;
    r->nvec += shape == CLF_RS_VEC;
    return r->nslot++;
}

static clf_row_instr *add(clf_rows_maker *m, clf_row_instr in) {
    struct clf_rows *r = m->r;
    bool first = in.shape == CLF_RS_SCALAR || in.shape == CLF_RS_VEC;
    clf_row_instr *at = first ? &r->first[r->nfirst++] : &r->batch[r->nbatch++];
    *at = in;
    return at;
}

static clf_row_instr instr(clf_row_kind kind, clf_row_shape shape, int axis, int dtype, int32_t dst) {
    return (clf_row_instr){.kind = (uint8_t)kind,
                           .shape = (uint8_t)shape,
                           .axis = (int8_t)axis,
                           .over = -1,
                           .dtype = (uint8_t)dtype,
                           .from = (uint8_t)dtype,
                           .dst = dst,
                           .in = {CLF_ROWS_NONE, CLF_ROWS_NONE, CLF_ROWS_NONE},
                           .arg = CLF_ROWS_NONE,
                           .pack = CLF_ROWS_NONE,
                           .gaps = CLF_ROWS_NONE};
}

/* ---- operands ------------------------------------------------------------------------------------------------------------ */

static clf_row_shape shape_of(const clf_rows_maker *m, int32_t v, int *axis) { return clf_rows_shape(m->c, m->c->value[v].axes, axis); }

static void add_source(clf_rows_maker *m, int32_t v) {
    const clf_value *x = &m->c->value[v];
    int axis;
    clf_row_shape shape = shape_of(m, v, &axis);
    clf_row_kind kind = x->op == CLF_V_LOAD ? CLF_RI_LOAD : x->op == CLF_V_PARAM ? CLF_RI_PARAM : CLF_RI_INDEX;
    m->slot[v] = new_slot(m, shape, axis, x->dtype);
    add(m, instr(kind, shape, axis, x->dtype, m->slot[v]))->arg = x->arg;
}

/* The slot of value v in its own shape. */
static int32_t slot_of(clf_rows_maker *m, int32_t v) {
    if (m->slot[v] == CLF_ROWS_NONE) add_source(m, v);
    return m->slot[v];
}

/* The slot of value v, spread to a shape over `axis` where it has fewer axes. */
static int32_t operand(clf_rows_maker *m, int32_t v, clf_row_shape shape, int axis) {
    int own;
    clf_row_shape has = shape_of(m, v, &own);
    int32_t s = slot_of(m, v);
    if (has == shape) return s;
    if (has == CLF_RS_VEC) {
        m->r->slot[s].repeat = true;
        return s;
    }
    int once = shape == CLF_RS_VEC ? m->c->naxes : 0;
    int32_t *at = &m->spread[v * 2 * m->c->naxes + once + (shape == CLF_RS_ROW ? 0 : axis)];
    if (*at == CLF_ROWS_NONE) {
        *at = new_slot(m, shape, axis, m->c->value[v].dtype);
        clf_row_instr in = instr(CLF_RI_SPREAD, shape, axis, m->c->value[v].dtype, *at);
        in.in[0] = s;
        add(m, in);
    }
    return *at;
}

/* The same for a loop over whole vectors of cells, which takes filled scalars as they are. */
static int32_t cells_of(clf_rows_maker *m, int32_t v, clf_row_shape shape, int axis, bool *keep) {
    int own;
    if (v < 0) return CLF_ROWS_NONE;
    *keep = shape_of(m, v, &own) == CLF_RS_SCALAR;
    int32_t s = *keep ? slot_of(m, v) : operand(m, v, shape, axis);
    m->r->slot[s].padded = true;
    return s;
}

/* ---- values -------------------------------------------------------------------------------------------------------------- */

static void add_cell(clf_rows_maker *m, clf_row_shape shape, int axis, clf_loop_fn fn, int dtype, int32_t dst, const clf_value *x) {
    clf_row_instr in = instr(CLF_RI_OP, shape, axis, dtype, dst);
    in.fn = fn;
    for (int q = 0; q < 3; q++) in.in[q] = cells_of(m, x->in[q], shape, axis, &in.keep[q]);
    m->r->slot[dst].padded = true;
    add(m, in);
}

/* A truth value declared with another type than the operator's is cast behind it. */
static void add_op(clf_rows_maker *m, int32_t v) {
    const clf_value *x = &m->c->value[v];
    int axis;
    clf_row_shape shape = shape_of(m, v, &axis);
    clf_dtype type = (clf_dtype)m->c->value[x->in[0]].dtype;
    const clf_cell_table *cell = m->r->isa.cell;
    bool cast = x->op == CLF_V_CAST;
    int made = cast ? x->dtype : type;
    int32_t dst = new_slot(m, shape, axis, made);
    add_cell(m, shape, axis, cast ? cell->cast[type][x->dtype] : cell->op[x->op][type], made, dst, x);
    m->slot[v] = dst;
    if (made == x->dtype) return;
    m->slot[v] = new_slot(m, shape, axis, x->dtype);
    m->r->slot[m->slot[v]].padded = true;
    clf_row_instr in = instr(CLF_RI_OP, shape, axis, x->dtype, m->slot[v]);
    in.fn = cell->cast[type][x->dtype];
    in.in[0] = dst;
    in.keep[0] = shape == CLF_RS_SCALAR;
    add(m, in);
}

/* Shape in which a reduction to `shape` reads what it reduces. */
static clf_row_shape reduced(clf_row_shape shape) { return shape == CLF_RS_SCALAR ? CLF_RS_VEC : CLF_RS_MAT; }

static int32_t new_gaps(clf_rows_maker *m, const clf_fold_fns *fold, int32_t slot, bool by_row) {
    m->r->gaps[m->r->ngaps] = (clf_row_gap){fold, slot, by_row};
    return m->r->ngaps++;
}

/* Fold of value x over an axis, cells without entry being `rest` (-1: none), into a ROW or SCALAR slot of type dtype. */
static int32_t add_fold(clf_rows_maker *m, clf_row_shape shape, int32_t x, int32_t rest, int over, int fold, int dtype) {
    int from = m->c->value[x].dtype;
    int32_t dst = new_slot(m, shape, -1, dtype);
    clf_row_instr in = instr(CLF_RI_FOLD, shape, -1, dtype, dst);
    in.over = (int8_t)over;
    in.from = (uint8_t)from;
    in.arg = fold;
    in.fold = m->r->isa.fold->fold[from][fold];
    in.fn = m->r->isa.cell->cast[in.fold->result_int ? CLF_I64 : CLF_F64][dtype];
    in.in[0] = operand(m, x, reduced(shape), over);
    if (rest >= 0 && (m->c->value[rest].axes & ~1u)) in.gaps = new_gaps(m, in.fold, in.in[1] = slot_of(m, rest), false);
    if (rest >= 0 && in.gaps < 0) in.in[1] = operand(m, rest, CLF_RS_ROW, -1);
    m->r->slot[in.in[0]].padded = true;
    add(m, in);
    return dst;
}

static void add_fold_value(clf_rows_maker *m, int32_t v) {
    const clf_value *x = &m->c->value[v];
    int axis;
    m->slot[v] = add_fold(m, shape_of(m, v, &axis), x->in[0], x->in[1], x->axis, x->arg, x->dtype);
}

static void add_scan(clf_rows_maker *m, int32_t v) {
    const clf_value *x = &m->c->value[v];
    int axis;
    clf_row_shape shape = shape_of(m, v, &axis);
    int32_t from = operand(m, x->in[0], shape, axis);
    m->slot[v] = new_slot(m, shape, axis, x->dtype);
    clf_row_instr in = instr(CLF_RI_SCAN, shape, axis, x->dtype, m->slot[v]);
    in.over = x->axis;
    in.arg = x->arg;
    in.in[0] = from;
    add(m, in);
}

static uint8_t swap_skip(int skip) { return (uint8_t)((skip & 1) << 1 | (skip >> 1 & 1)); }

/* x of a dot in the shape its terms have: as it is where it varies with the axis, else spread over it. */
static int32_t terms_of(clf_rows_maker *m, int32_t v, int over, bool rows) {
    int axis;
    clf_row_shape has = shape_of(m, v, &axis);
    if (axis == over) return slot_of(m, v);
    return operand(m, v, rows || has == CLF_RS_ROW || by_entry(m, over) ? CLF_RS_MAT : CLF_RS_VEC, over);
}

static void add_dot(clf_rows_maker *m, int32_t v) {
    const clf_value *x = &m->c->value[v];
    int axis;
    clf_row_shape shape = shape_of(m, v, &axis);
    clf_row_instr in = instr(CLF_RI_DOT, shape, axis, x->dtype, CLF_ROWS_NONE);
    int32_t left = x->in[0], right = x->in[1];
    bool pair = clf_rows_pair(m->c, right, x->axis) >= 0, entries = by_entry(m, x->axis);
    in.skip = x->arg > 0 ? (uint8_t)x->arg : 0;
    if (!pair && entries && clf_rows_by_column(m->c, left) && !clf_rows_by_column(m->c, right)) {
        left = x->in[1], right = x->in[0];
        in.skip = swap_skip(in.skip);
    }
    in.over = x->axis;
    in.value = v;
    bool rows = shape == CLF_RS_ROW || shape == CLF_RS_MAT;
    in.in[0] = terms_of(m, left, x->axis, rows && entries);
    bool where = pair || (entries && clf_rows_by_column(m->c, right) && m->slot[right] == CLF_ROWS_NONE);
    if (where)
        in.arg = m->c->value[right].arg;
    else
        in.in[1] = terms_of(m, right, x->axis, rows && entries);
    if (pair && !by_entry(m, axis)) in.pack = m->r->npack++;
    in.dst = m->slot[v] = new_slot(m, shape, axis, x->dtype);
    add(m, in);
}

/* Parts as whole rows of their own axis, or one cell a row; of vectors likewise. */
static void add_cat(clf_rows_maker *m, int32_t v) {
    const clf_value *x = &m->c->value[v];
    int axis;
    clf_row_shape shape = shape_of(m, v, &axis);
    clf_row_instr in = instr(CLF_RI_CAT, shape, axis, x->dtype, CLF_ROWS_NONE);
    in.value = v;
    for (int q = 0; q < 2; q++) {
        int along = clf_cat_axis(x, q);
        clf_row_shape one = shape == CLF_RS_MAT ? CLF_RS_ROW : CLF_RS_SCALAR;
        in.in[q] = operand(m, x->in[q], along < 0 ? one : shape, along);
    }
    in.dst = m->slot[v] = new_slot(m, shape, axis, x->dtype);
    add(m, in);
}

static void add_value(clf_rows_maker *m, int32_t v) {
    switch (m->c->value[v].op) {
    case CLF_V_LOAD:
    case CLF_V_PARAM:
    case CLF_V_INDEX: return; /* when asked for */
    case CLF_V_FOLD: add_fold_value(m, v); return;
    case CLF_V_SCAN: add_scan(m, v); return;
    case CLF_V_DOT: add_dot(m, v); return;
    case CLF_V_CAT: add_cat(m, v); return;
    default: add_op(m, v);
    }
}

/* ---- sinks --------------------------------------------------------------------------------------------------------------- */

static void store_slot(clf_rows_maker *m, clf_row_sink *k, clf_row_shape shape, int axis, int32_t slot) {
    k->kind = CLF_RK_STORE;
    k->shape = (uint8_t)shape;
    k->axis = (int8_t)axis;
    k->slot = slot;
    k->log2 = m->r->slot[slot].log2;
}

static void sink_store(clf_rows_maker *m, const clf_sink *s, clf_row_sink *k) {
    int axis;
    clf_row_shape shape = clf_rows_shape(m->c, s->keep, &axis);
    store_slot(m, k, shape, axis, operand(m, s->value[0], shape, axis));
}

static void sink_fold(clf_rows_maker *m, const clf_sink *s, clf_row_sink *k) {
    struct clf_rows *r = m->r;
    int axis, kept;
    clf_row_shape shape = clf_rows_shape(m->c, clf_sink_loop(m->c, s), &axis), keep = clf_rows_shape(m->c, s->keep, &kept);
    if (keep == CLF_RS_ROW) {
        store_slot(m, k, CLF_RS_ROW, -1, add_fold(m, CLF_RS_ROW, s->value[0], -1, axis, s->fold, k->out_dtype));
        return;
    }
    k->kind = keep == CLF_RS_SCALAR ? CLF_RK_FULL : by_entry(m, kept) ? CLF_RK_MEET : CLF_RK_COLS;
    k->shape = (uint8_t)shape;
    k->axis = (int8_t)axis;
    k->meet = s->fold;
    k->slot = operand(m, s->value[0], shape, axis);
    k->fold = r->isa.fold->fold[k->dtype][s->fold];
    k->cast = r->isa.cell->cast[k->fold->result_int ? CLF_I64 : CLF_F64][k->out_dtype];
    k->index = k->kind == CLF_RK_FULL ? r->nfull++ : r->nmeet++;
    if (s->value[1] >= 0) k->h = slot_of(m, s->value[1]);
    if (k->kind == CLF_RK_MEET && k->h >= 0 && r->slot[k->h].shape == CLF_RS_ROW) k->gaps = new_gaps(m, k->fold, k->h, true);
    r->slot[k->slot].padded = true;
}

/* Sides of a sum of products: x gives j, h gives k or one number a row. */
static void dot_sides(clf_rows_maker *m, const clf_sink *s, clf_row_sink *k, int32_t x, int32_t h) {
    int j, kk;
    clf_row_shape xs = shape_of(m, x, &j), hs = shape_of(m, h, &kk);
    bool each = j >= 0 && j == kk;
    k->axis = (int8_t)j;
    k->axis_k = (int8_t)(each ? -1 : kk);
    k->dot = (uint8_t)(by_entry(m, j) ? (each ? CLF_RD_SCATTER_EACH : CLF_RD_SCATTER) : each ? CLF_RD_EACH : CLF_RD_OUTER);
    k->slot = xs == CLF_RS_SCALAR ? operand(m, x, CLF_RS_ROW, -1) : slot_of(m, x);
    k->h = hs == CLF_RS_SCALAR ? operand(m, h, CLF_RS_ROW, -1) : slot_of(m, h);
    if (j < 0 && s->keep != 0) { /* neither side has the axis that is kept */
        int kept;
        (void)clf_rows_shape(m->c, s->keep, &kept);
        k->axis = (int8_t)kept;
        k->slot = operand(m, x, CLF_RS_MAT, kept);
    }
    m->r->slot[k->h].padded = true;
}

static void sink_dot(clf_rows_maker *m, const clf_sink *s, clf_row_sink *k) {
    struct clf_rows *r = m->r;
    int a, b;
    (void)shape_of(m, s->value[0], &a);
    (void)shape_of(m, s->value[1], &b);
    bool flip = (a < 0 && b >= 0) || (by_entry(m, b) && !by_entry(m, a));
    k->kind = CLF_RK_DOT;
    k->skip = flip ? swap_skip(s->fold) : s->fold;
    dot_sides(m, s, k, s->value[flip ? 1 : 0], s->value[flip ? 0 : 1]);
    k->swapped = k->axis_k >= 0 && k->axis_k < k->axis;
    clf_dtype wide = clf_wide((clf_dtype)k->dtype);
    k->fold = r->isa.fold->fold[wide][CLF_FOLD_SUM];
    k->widen = r->isa.cell->cast[k->dtype][wide];
    k->cast = r->isa.cell->cast[wide][k->out_dtype];
    k->index = r->nmeet++;
}

static void add_sink(clf_rows_maker *m, const clf_sink *s) {
    struct clf_rows *r = m->r;
    clf_row_sink *k = &r->sink[r->nsink];
    uint8_t dtype = m->c->value[s->value[0]].dtype;
    *k = (clf_row_sink){.out = s->out[0],
                        .axis = -1,
                        .axis_k = -1,
                        .h = CLF_ROWS_NONE,
                        .gaps = CLF_ROWS_NONE,
                        .dtype = dtype,
                        .log2 = (uint8_t)log2_bytes(dtype),
                        .lanes = (uint8_t)clf_lanes((clf_dtype)dtype),
                        .out_dtype = m->c->out[s->out[0]].dtype};
    if (s->kind == CLF_SINK_FOLD)
        sink_fold(m, s, k);
    else if (s->kind == CLF_SINK_DOT)
        sink_dot(m, s, k);
    else
        sink_store(m, s, k);
    bool first = k->kind == CLF_RK_STORE && (k->shape == CLF_RS_SCALAR || k->shape == CLF_RS_VEC);
    clf_row_instr in = instr(CLF_RI_SINK, first ? (clf_row_shape)k->shape : CLF_RS_MAT, k->axis, dtype, CLF_ROWS_NONE);
    in.in[0] = k->slot;
    in.in[1] = k->h;
    in.arg = r->nsink++;
    add(m, in);
}

static void count_uses(clf_rows_maker *m) {
    const clf_cplan *c = m->c;
    for (int i = 0; i < c->nsink; i++)
        for (int q = 0; q < 2; q++)
            if (c->sink[i].value[q] >= 0) m->uses[c->sink[i].value[q]]++;
    for (int v = c->nvalue - 1; v >= 0; v--)
        for (int q = 0; q < 3 && m->uses[v] > 0; q++)
            if (c->value[v].in[q] >= 0) m->uses[c->value[v].in[q]]++;
}

static int32_t last_value(const clf_sink *s) { return s->value[1] > s->value[0] ? s->value[1] : s->value[0]; }

static void translate(clf_rows_maker *m) {
    for (int32_t v = 0; v < m->c->nvalue; v++) {
        if (m->uses[v] == 0) continue;
        add_value(m, v);
        for (int i = 0; i < m->c->nsink; i++)
            if (last_value(&m->c->sink[i]) == v) add_sink(m, &m->c->sink[i]);
    }
}

/* ---- allocation ---------------------------------------------------------------------------------------------------------- */

#define ARRAY(a, p, n) (((p) = clf_arena_new((a), (n), sizeof *(p))) != NULL)
#define COPY(a, to, from, n) (ARRAY(a, to, n) && ((n) == 0 || memcpy((to), (from), (n) * sizeof *(to)) != NULL))

static bool copy_plan(clf_arena *a, clf_cplan *to, const clf_cplan *c) {
    *to = *c;
    to->sink = NULL, to->nsink = 0;
    return COPY(a, to->axis, c->axis, (size_t)c->naxes) && COPY(a, to->in, c->in, (size_t)c->nin) &&
           COPY(a, to->param, c->param, (size_t)c->nparam) && COPY(a, to->out, c->out, (size_t)c->nout) &&
           COPY(a, to->access, c->access, (size_t)c->naccess) && COPY(a, to->value, c->value, (size_t)c->nvalue);
}

/* A value makes at most two slots and instructions, a spread over each axis two others; a sink two. */
static bool make_arrays(clf_rows_maker *m, clf_arena *temp, clf_rows_regs *g) {
    struct clf_rows *r = m->r;
    size_t v = (size_t)m->c->nvalue, s = (size_t)m->c->nsink, axes = (size_t)m->c->naxes, most = v * (2 + 2 * axes) + 2 * s + 1;
    return ARRAY(&r->arena, r->slot, most) && ARRAY(&r->arena, r->first, most) && ARRAY(&r->arena, r->batch, most) &&
           ARRAY(&r->arena, r->sink, s) && ARRAY(&r->arena, r->gaps, v + s) && copy_plan(&r->arena, &r->c, m->c) &&
           ARRAY(temp, m->slot, v) && ARRAY(temp, m->uses, v) && ARRAY(temp, m->spread, v * 2 * axes) && ARRAY(temp, g->last, most) &&
           ARRAY(temp, g->free, most) && ARRAY(temp, g->free_axis, most);
}

static bool build(struct clf_rows *r, const clf_cplan *c, clf_arena *temp) {
    clf_rows_maker m = {.r = r, .c = c};
    clf_rows_regs g = {0};
    if (!make_arrays(&m, temp, &g)) return false;
    for (int v = 0; v < c->nvalue; v++) m.slot[v] = CLF_ROWS_NONE;
    for (int i = 0; i < c->nvalue * 2 * c->naxes; i++) m.spread[i] = CLF_ROWS_NONE;
    r->entry = clf_entry_axis(c);
    count_uses(&m);
    translate(&m);
    clf_rows_assign(r, &g);
    r->split = clf_rows_may_split(r);
    return true;
}

clf_status clf_rows_new(struct clf_rows **out, const clf_cplan *c, clf_isa isa, clf_mem *mem, clf_err *err) {
    if (!clf_rows_fits(c)) return clf_fail(err, CLF_E_UNSUPPORTED, "the row executor has no loops for this operator");
    struct clf_rows *r = clf_mem_new(mem, 1, sizeof *r);
    if (!r) return clf_fail(err, CLF_E_NOMEM, "no memory for a row program");
    r->mem = mem;
    r->isa = clf_isa_loops(clf_isa_pick(isa));
    clf_arena temp;
    clf_arena_init(&temp, mem);
    clf_arena_init(&r->arena, mem);
    bool ok = build(r, c, &temp);
    clf_arena_release(&temp);
    if (!ok) {
        clf_rows_free(r);
        return clf_fail(err, CLF_E_NOMEM, "no memory for a row program of %d values", c->nvalue);
    }
    *out = r;
    return CLF_OK;
}

void clf_rows_free(struct clf_rows *r) {
    if (!r) return;
    clf_mem_data_free(r->mem, r->scratch.at, r->scratch.bytes);
    clf_arena_release(&r->arena);
    clf_mem_free(r->mem, r, 1, sizeof *r);
}
