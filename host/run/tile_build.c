/* SPDX-License-Identifier: Apache-2.0
 * From a cplan to the linear program of tile_prog.h: which loops run at which level, in which registers, and where sinks drink.
 *
 * Values nobody needs are dropped. A sink stands right behind the loop that makes its value, so that the register is free soon.
 * A product that only one sum reads is taken into the sum's loop (a row of the fused tables), with no register at all; so are cheap
 * operators into that of the sum or product that alone reads them (tile_pairing.c). */
#include "host/run/tile_prog.h"

#include <string.h>

/* State of one translation. Arrays by value. */
typedef struct clf_tile_maker {
    clf_tile *t;
    const clf_cplan *c;
    int32_t *slot, *spread; /* slots of a value: its own; spread over cells */
    int32_t *uses;          /* reads by needed values and sinks */
    uint8_t *folded;        /* absorbed by a fused producer, or a pair: no loop of its own */
    int8_t *side;           /* the operand that is computed with it, or -1 */
} clf_tile_maker;

static int log2_bytes(int dtype) {
    static const uint8_t log2[CLF_NDTYPES] = {[CLF_F32] = 2, [CLF_F64] = 3, [CLF_I32] = 2, [CLF_I64] = 3, [CLF_U8] = 0};
    return log2[dtype];
}

static clf_level level_of(const clf_cplan *c, uint32_t axes) {
    if (axes == 0) return CLF_LV_SCALAR;
    if (c->naxes < 2 || axes == 3) return CLF_LV_CELL;
    return axes == 1 ? CLF_LV_ROW : CLF_LV_COL;
}

/* ---- what the executor takes ------------------------------------------------------------------------------------------- */

static bool access_fits(const clf_cplan *c, int32_t i) {
    const clf_access *a = &c->access[i];
    if (c->in[a->input].format != 0) return false;
    for (int d = 0; d < a->rank; d++)
        if (a->at[d].value >= 0) return false;
    return true;
}

static bool value_fits(const clf_cplan *c, const clf_value *v) {
    if (v->op == CLF_V_LOAD) return access_fits(c, v->arg);
    if (v->op == CLF_V_PARAM || v->op == CLF_V_CAST) return true;
    if (v->op == CLF_V_INDEX) return v->dtype == CLF_I64;
    if (!clf_op_is_cell(v->op)) return false;
    return clf_isa_loops(CLF_ISA_BASELINE).cell->op[v->op][c->value[v->in[0]].dtype] != NULL;
}

static bool sink_fits(const clf_cplan *c, const clf_sink *s) {
    const clf_value *v = &c->value[s->value[0]];
    uint32_t all = c->naxes == 0 ? 0 : c->naxes == 1 ? 1 : 3;
    if (s->guard >= 0) return false;
    if (s->kind == CLF_SINK_STORE) return c->out[s->out[0]].dtype == v->dtype && (v->axes & ~s->keep) == 0;
    if (s->kind != CLF_SINK_FOLD || (all != 0 && s->keep == all) || clf_sink_loop(c, s) != all) return false;
    return clf_isa_loops(CLF_ISA_BASELINE).fold->fold[v->dtype][s->fold] != NULL;
}

bool clf_tile_fits(const clf_cplan *c) {
    if (c->naxes > 2) return false;
    for (int a = 0; a < c->naxes; a++)
        if (c->axis[a].kind != CLF_AXIS_RANGE) return false;
    for (int i = 0; i < c->nvalue; i++)
        if (!value_fits(c, &c->value[i])) return false;
    for (int i = 0; i < c->nsink; i++)
        if (!sink_fits(c, &c->sink[i])) return false;
    return true;
}

/* ---- who is needed ------------------------------------------------------------------------------------------------------- */

static void count_uses(clf_tile_maker *m) {
    const clf_cplan *c = m->c;
    for (int i = 0; i < c->nsink; i++) m->uses[c->sink[i].value[0]]++;
    for (int i = c->nvalue - 1; i >= 0; i--)
        for (int k = 0; k < 3 && m->uses[i] > 0; k++)
            if (c->value[i].in[k] >= 0) m->uses[c->value[i].in[k]]++;
}

static bool is_lone_product(const clf_tile_maker *m, int32_t v) {
    const clf_value *x = &m->c->value[v];
    return x->op == CLF_OP_MUL && m->uses[v] == 1 && level_of(m->c, x->axes) == CLF_LV_CELL;
}

/* Which fused producer a fold may use. */
static int fuse_of(const clf_tile_maker *m, const clf_sink *s) {
    const clf_value *v = &m->c->value[s->value[0]];
    if (s->kind != CLF_SINK_FOLD || !is_lone_product(m, s->value[0])) return CLF_FUSE_NONE;
    int fuse = is_lone_product(m, v->in[0]) || is_lone_product(m, v->in[1]) ? CLF_FUSE_MUL3 : CLF_FUSE_MUL;
    return m->t->isa.fold->fused[fuse][s->fold][v->dtype] ? fuse : CLF_FUSE_NONE;
}

/* ---- slots and loops ------------------------------------------------------------------------------------------------------- */

/* Give a slot a register of its own (numbered behind the shared ones once those are counted). */
static int32_t own_register(clf_tile *t, int32_t slot) {
    if (t->home[slot] == CLF_NOSLOT) t->home[slot] = -2 - t->nown++;
    return slot;
}

static int32_t new_slot(clf_tile *t, clf_level level, int dtype) {
    int32_t s = t->nslot++;
    t->slot_level[s] = (uint8_t)level;
    t->slot_log2[s] = (uint8_t)log2_bytes(dtype);
    t->home[s] = level == CLF_LV_SCALAR ? t->nscalar++ : level == CLF_LV_COL ? t->ncol++ : CLF_NOSLOT;
    return level == CLF_LV_ROW ? own_register(t, s) : s;
}

static int32_t spread_slot(clf_tile_maker *m, int32_t v) {
    clf_tile *t = m->t;
    if (m->spread[v] < 0) {
        m->spread[v] = own_register(t, new_slot(t, CLF_LV_CELL, m->c->value[v].dtype));
        t->spread[t->nspread++] = (clf_tile_spread){m->slot[v], m->spread[v], (uint8_t)log2_bytes(m->c->value[v].dtype)};
    }
    return m->spread[v];
}

/* The slot in which code of this level reads value v. */
static int32_t operand(clf_tile_maker *m, int32_t v, clf_level level) {
    if (v < 0) return CLF_NOSLOT;
    bool row = level_of(m->c, m->c->value[v].axes) == CLF_LV_ROW;
    return row && level == CLF_LV_CELL ? spread_slot(m, v) : m->slot[v];
}

static void add_instr(clf_tile *t, clf_level level, clf_tile_instr in) { t->instr[level][t->ninstr[level]++] = in; }

static void add_source(clf_tile_maker *m, int32_t v, clf_source_kind kind, clf_level level) {
    clf_tile *t = m->t;
    const clf_value *x = &m->c->value[v];
    m->slot[v] = new_slot(t, level, x->dtype);
    own_register(t, m->slot[v]);
    t->source[t->nsource++] = (clf_tile_source){.kind = (uint8_t)kind,
                                                .level = (uint8_t)level,
                                                .dtype = x->dtype,
                                                .log2 = (uint8_t)log2_bytes(x->dtype),
                                                .slot = m->slot[v],
                                                .arg = x->arg};
    if (kind == CLF_SRC_LOAD && level == CLF_LV_CELL) t->cell_bytes_in += (double)clf_dtype_bytes(x->dtype);
}

static double class_ns(clf_op op, clf_dtype type) {
    static const double ns[CLF_NCLASSES] = {[CLF_CLASS_ADD] = 0.06, [CLF_CLASS_CMP] = 0.06, [CLF_CLASS_DIV] = 0.6, [CLF_CLASS_SQRT] = 0.7,
                                            [CLF_CLASS_EXP] = 1.0,  [CLF_CLASS_LOG] = 1.2,  [CLF_CLASS_POW] = 4.0, [CLF_CLASS_TRIG] = 2.0};
    return ns[clf_ops[op].class_] * (type == CLF_F32 ? 0.5 : 1.0);
}

static void add_cast(clf_tile_maker *m, int32_t v, clf_level level) {
    const clf_value *x = &m->c->value[v];
    clf_dtype from = (clf_dtype)m->c->value[x->in[0]].dtype;
    m->slot[v] = new_slot(m->t, level, x->dtype);
    add_instr(m->t, level,
              (clf_tile_instr){.fn = m->t->isa.cell->cast[from][x->dtype],
                               .dst = m->slot[v],
                               .a = operand(m, x->in[0], level),
                               .b = CLF_NOSLOT,
                               .c = CLF_NOSLOT,
                               .sink = -1});
}

/* A cell operator; a truth value declared with another type than the operator's is cast behind it. */
static void add_op(clf_tile_maker *m, int32_t v, clf_level level) {
    const clf_value *x = &m->c->value[v];
    clf_dtype type = (clf_dtype)m->c->value[x->in[0]].dtype;
    int32_t made = new_slot(m->t, level, type);
    clf_loop_fn uniform = clf_tile_uniform_loop(m->t, m->c, v);
    add_instr(m->t, level,
              (clf_tile_instr){.fn = uniform ? uniform : m->t->isa.cell->op[x->op][type],
                               .dst = made,
                               .a = operand(m, x->in[0], level),
                               .b = operand(m, x->in[1], level),
                               .c = operand(m, uniform ? x->in[0] : x->in[2], level),
                               .sink = -1});
    m->slot[v] = made;
    if (level == CLF_LV_CELL) m->t->cell_ns += class_ns((clf_op)x->op, type);
    if (x->dtype == type) return;
    m->slot[v] = new_slot(m->t, level, x->dtype);
    add_instr(m->t, level,
              (clf_tile_instr){
                  .fn = m->t->isa.cell->cast[type][x->dtype], .dst = m->slot[v], .a = made, .b = CLF_NOSLOT, .c = CLF_NOSLOT, .sink = -1});
}

/* A cell operator and one of its operands, in one loop. */
static void add_pair(clf_tile_maker *m, int32_t v) {
    const clf_value *x = &m->c->value[v], *p = &m->c->value[x->in[m->side[v]]];
    m->slot[v] = new_slot(m->t, CLF_LV_CELL, x->dtype);
    add_instr(m->t, CLF_LV_CELL,
              (clf_tile_instr){.fn = clf_tile_pair_loop(m->t, m->c, v, m->side[v]),
                               .dst = m->slot[v],
                               .a = operand(m, p->in[0], CLF_LV_CELL),
                               .b = operand(m, p->in[1], CLF_LV_CELL),
                               .c = operand(m, x->in[!m->side[v]], CLF_LV_CELL),
                               .sink = -1});
    m->t->cell_ns += class_ns((clf_op)x->op, x->dtype) + class_ns((clf_op)p->op, x->dtype);
}

static void add_value(clf_tile_maker *m, int32_t v) {
    const clf_value *x = &m->c->value[v];
    clf_level level = level_of(m->c, x->axes);
    switch (x->op) {
    case CLF_V_LOAD: add_source(m, v, CLF_SRC_LOAD, level); break;
    case CLF_V_PARAM: add_source(m, v, CLF_SRC_PARAM, level); break;
    case CLF_V_INDEX: add_source(m, v, CLF_SRC_INDEX, level); break;
    case CLF_V_CAST: add_cast(m, v, level); break;
    default: m->side[v] < 0 ? add_op(m, v, level) : add_pair(m, v); break;
    }
    m->t->rowwise |= level == CLF_LV_ROW || level == CLF_LV_COL;
}

/* ---- sinks ----------------------------------------------------------------------------------------------------------------- */

static void add_store(clf_tile_maker *m, const clf_sink *s, clf_tile_sink *k) {
    clf_tile *t = m->t;
    int32_t v = s->value[0];
    k->kind = CLF_TS_STORE;
    k->level = (uint8_t)level_of(m->c, s->keep);
    k->slot = operand(m, v, (clf_level)k->level);
    k->direct = k->level == CLF_LV_CELL && t->slot_level[k->slot] == CLF_LV_CELL && t->home[k->slot] == CLF_NOSLOT;
    if (k->direct) own_register(t, k->slot);
    if (k->level == CLF_LV_CELL) t->cell_bytes_out += (double)clf_dtype_bytes((clf_dtype)m->c->value[v].dtype);
    t->rowwise |= k->level == CLF_LV_ROW || k->level == CLF_LV_COL;
}

/* Operands of a fused producer: x*y, or (x*y)*z with the lone product on either side. */
static void fuse_operands(clf_tile_maker *m, const clf_sink *s, clf_tile_sink *k) {
    const clf_value *v = &m->c->value[s->value[0]];
    int32_t left = v->in[0], right = v->in[1];
    if (k->fuse == CLF_FUSE_MUL3) {
        int32_t inner = is_lone_product(m, left) ? left : right;
        k->c = operand(m, inner == left ? right : left, CLF_LV_CELL);
        left = m->c->value[inner].in[0];
        right = m->c->value[inner].in[1];
    }
    k->slot = operand(m, left, CLF_LV_CELL);
    k->b = operand(m, right, CLF_LV_CELL);
    k->spare = own_register(m->t, new_slot(m->t, CLF_LV_CELL, k->dtype));
    k->mul = m->t->isa.cell->op[CLF_OP_MUL][k->dtype];
}

static void add_fold(clf_tile_maker *m, const clf_sink *s, clf_tile_sink *k) {
    clf_tile *t = m->t;
    int dtype = m->c->value[s->value[0]].dtype;
    k->kind = s->keep == 0 ? CLF_TS_FULL : s->keep == 1 ? CLF_TS_ROWS : CLF_TS_COLS;
    k->level = CLF_LV_CELL;
    k->fold = t->isa.fold->fold[dtype][s->fold];
    k->leaf = k->fold->leaf;
    k->rows = k->long_rows = k->fold->rows;
    k->col_step = k->fold->col_step;
    k->lanes = (uint8_t)clf_lanes((clf_dtype)dtype);
    k->cast = t->isa.cell->cast[k->fold->result_int ? CLF_I64 : CLF_F64][k->out_dtype];
    k->index = k->kind == CLF_TS_FULL ? t->nfull++ : k->kind == CLF_TS_ROWS ? t->nrows++ : t->ncols++;
    t->rowwise |= k->kind != CLF_TS_FULL;
    t->cell_ns += 0.1;
    k->fuse = (uint8_t)fuse_of(m, s);
    if (k->fuse == CLF_FUSE_NONE) {
        k->slot = operand(m, s->value[0], CLF_LV_CELL);
        return;
    }
    k->fused = t->isa.fold->fused[k->fuse][s->fold][dtype];
    k->leaf = k->fused->leaf;
    k->rows = k->long_rows = k->fused->rows;
    k->col_step = k->fused->col_step;
    fuse_operands(m, s, k);
}

static void add_sink(clf_tile_maker *m, const clf_sink *s) {
    clf_tile *t = m->t;
    clf_tile_sink *k = &t->sink[t->nsink];
    uint8_t dtype = m->c->value[s->value[0]].dtype;
    *k = (clf_tile_sink){.b = CLF_NOSLOT,
                         .c = CLF_NOSLOT,
                         .out = s->out[0],
                         .keep = s->keep,
                         .dtype = dtype,
                         .out_dtype = m->c->out[s->out[0]].dtype,
                         .log2 = (uint8_t)log2_bytes(dtype)};
    if (s->kind == CLF_SINK_STORE)
        add_store(m, s, k);
    else
        add_fold(m, s, k);
    add_instr(t, (clf_level)k->level, (clf_tile_instr){.dst = CLF_NOSLOT, .a = k->slot, .b = k->b, .c = k->c, .sink = t->nsink});
    t->nsink++;
}

/* Mark the products that fused folds absorb. */
static void mark_folded(clf_tile_maker *m) {
    for (int i = 0; i < m->c->nsink; i++) {
        const clf_sink *s = &m->c->sink[i];
        int fuse = fuse_of(m, s);
        if (fuse == CLF_FUSE_NONE) continue;
        const clf_value *v = &m->c->value[s->value[0]];
        m->folded[s->value[0]] = 1;
        if (fuse == CLF_FUSE_MUL3) m->folded[is_lone_product(m, v->in[0]) ? v->in[0] : v->in[1]] = 1;
    }
}

/* Values in order, each followed by its sinks. */
static void translate(clf_tile_maker *m) {
    for (int32_t v = 0; v < m->c->nvalue; v++) {
        if (m->uses[v] == 0) continue;
        if (!m->folded[v]) add_value(m, v);
        for (int i = 0; i < m->c->nsink; i++)
            if (m->c->sink[i].value[0] == v) add_sink(m, &m->c->sink[i]);
    }
}

/* ---- registers --------------------------------------------------------------------------------------------------------------- */

static void note_use(int32_t *last, int32_t slot, int i) {
    if (slot >= 0) last[slot] = i;
}

/* Give back the registers of operands that instruction i reads last. */
static int release_dead(clf_tile *t, const clf_tile_instr *in, const int32_t *last, int i, int32_t *free_regs, int nfree, int log2) {
    const int32_t slots[3] = {in->a, in->b, in->c};
    for (int k = 0; k < 3; k++) {
        int32_t s = slots[k];
        bool again = (k > 0 && s == slots[0]) || (k > 1 && s == slots[1]);
        if (s < 0 || again || t->slot_level[s] != CLF_LV_CELL || t->home[s] < 0 || last[s] != i) continue;
        if (log2 >= 0 && t->slot_log2[s] != log2) continue;
        if (log2 < 0 && in->dst >= 0 && t->slot_log2[s] == t->slot_log2[in->dst]) continue;
        free_regs[nfree++] = t->home[s];
    }
    return nfree;
}

/* Linear scan over the CELL loops: a result may take the register of an operand that dies there, if cells are of one size. */
static void assign_registers(clf_tile *t, int32_t *last, int32_t *free_regs) {
    clf_tile_instr *in = t->instr[CLF_LV_CELL];
    int n = t->ninstr[CLF_LV_CELL], nfree = 0;
    for (int i = 0; i < n; i++) {
        note_use(last, in[i].dst, i);
        note_use(last, in[i].a, i);
        note_use(last, in[i].b, i);
        note_use(last, in[i].c, i);
    }
    for (int i = 0; i < n; i++) {
        int32_t d = in[i].dst;
        if (d >= 0) nfree = release_dead(t, &in[i], last, i, free_regs, nfree, t->slot_log2[d]);
        if (d >= 0 && t->home[d] == CLF_NOSLOT) t->home[d] = nfree > 0 ? free_regs[--nfree] : t->nreg++;
        nfree = release_dead(t, &in[i], last, i, free_regs, nfree, -1);
    }
    for (int s = 0; s < t->nslot; s++)
        if (t->home[s] <= -2) t->home[s] = t->nreg + (-2 - t->home[s]);
}

/* ---- allocation ---------------------------------------------------------------------------------------------------------------- */

#define ARRAY(a, p, n) (((p) = clf_arena_new((a), (n), sizeof *(p))) != NULL)

static bool copy_plan(clf_arena *a, clf_cplan *to, const clf_cplan *c) {
    *to = *c;
    to->value = NULL, to->sink = NULL, to->nvalue = 0, to->nsink = 0;
    if (!(ARRAY(a, to->axis, (size_t)c->naxes) && ARRAY(a, to->in, (size_t)c->nin) && ARRAY(a, to->param, (size_t)c->nparam) &&
          ARRAY(a, to->out, (size_t)c->nout) && ARRAY(a, to->access, (size_t)c->naccess)))
        return false;
    if (c->naxes > 0) memcpy(to->axis, c->axis, (size_t)c->naxes * sizeof *c->axis);
    if (c->nin > 0) memcpy(to->in, c->in, (size_t)c->nin * sizeof *c->in);
    if (c->nparam > 0) memcpy(to->param, c->param, (size_t)c->nparam);
    if (c->nout > 0) memcpy(to->out, c->out, (size_t)c->nout * sizeof *c->out);
    if (c->naccess > 0) memcpy(to->access, c->access, (size_t)c->naccess * sizeof *c->access);
    return true;
}

/* A value has at most three slots (made, cast, spread) and two loops, a sink one slot. */
static bool make_arrays(clf_tile_maker *m, clf_arena *temp, int32_t **last, int32_t **free_regs) {
    clf_tile *t = m->t;
    size_t v = (size_t)m->c->nvalue, s = (size_t)m->c->nsink, slots = 3 * v + s;
    for (int l = 0; l < CLF_NLEVELS; l++)
        if (!ARRAY(&t->arena, t->instr[l], 2 * v + s)) return false;
    return ARRAY(&t->arena, t->source, v) && ARRAY(&t->arena, t->spread, v) && ARRAY(&t->arena, t->sink, s) &&
           ARRAY(&t->arena, t->home, slots) && ARRAY(&t->arena, t->slot_level, slots) && ARRAY(&t->arena, t->slot_log2, slots) &&
           copy_plan(&t->arena, &t->c, m->c) && ARRAY(temp, m->slot, v) && ARRAY(temp, m->spread, v) && ARRAY(temp, m->uses, v) &&
           ARRAY(temp, m->folded, v) && ARRAY(temp, m->side, v) && ARRAY(temp, *last, slots) && ARRAY(temp, *free_regs, slots);
}

static bool build(clf_tile *t, const clf_cplan *c, clf_arena *temp) {
    clf_tile_maker m = {.t = t, .c = c};
    int32_t *last = NULL, *free_regs = NULL;
    if (!make_arrays(&m, temp, &last, &free_regs)) return false;
    for (int v = 0; v < c->nvalue; v++) m.spread[v] = CLF_NOSLOT;
    count_uses(&m);
    mark_folded(&m);
    clf_tile_pair_up(t, c, m.uses, m.folded, m.side);
    translate(&m);
    assign_registers(t, last, free_regs);
    clf_tile_note_strips(t);
    t->cell_ns += 0.03 * (t->cell_bytes_in + t->cell_bytes_out);
    return true;
}

clf_status clf_tile_new(clf_tile **out, const clf_cplan *c, clf_isa isa, clf_mem *mem, clf_err *err) {
    if (!clf_tile_fits(c)) return clf_fail(err, CLF_E_UNSUPPORTED, "the host executor has no loops for this operator");
    clf_tile *t = clf_mem_new(mem, 1, sizeof *t);
    if (!t) return clf_fail(err, CLF_E_NOMEM, "no memory for a host program");
    t->mem = mem;
    t->isa = clf_isa_loops(clf_isa_pick(isa));
    clf_arena temp;
    clf_arena_init(&temp, mem);
    clf_arena_init(&t->arena, mem);
    bool ok = build(t, c, &temp);
    clf_arena_release(&temp);
    if (!ok) {
        clf_tile_free(t);
        return clf_fail(err, CLF_E_NOMEM, "no memory for a host program of %d values", c->nvalue);
    }
    *out = t;
    return CLF_OK;
}

void clf_tile_free(clf_tile *t) {
    if (!t) return;
    clf_mem_data_free(t->mem, t->scratch.at, t->scratch.bytes);
    clf_arena_release(&t->arena);
    clf_mem_free(t->mem, t, 1, sizeof *t);
}
