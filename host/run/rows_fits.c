/* SPDX-License-Identifier: Apache-2.0
 * Which cplans the row executor takes: every value has one of the shapes of rows_prog.h, every DOT and sink one of their combinations.
 * The builder (rows_build.c) relies on what is checked here. */
#include "host/run/rows_fits.h"

#include "formats/fmt.h"

clf_row_shape clf_rows_shape(const clf_cplan *c, uint32_t axes, int *axis) {
    uint32_t inner = axes & ~1u;
    *axis = -1;
    if (inner == 0) return axes ? CLF_RS_ROW : CLF_RS_SCALAR;
    if ((inner & (inner - 1)) != 0) return CLF_RS_PAIR;
    for (int a = 1; a < c->naxes; a++)
        if (inner >> a & 1u) *axis = a;
    return axes & 1u ? CLF_RS_MAT : CLF_RS_VEC;
}

static bool indexed_by(const clf_access *a, int axis) {
    for (int d = 0; d < a->rank; d++)
        if (a->at[d].axis == axis) return true;
    return false;
}

bool clf_rows_by_column(const clf_cplan *c, int32_t value) {
    const clf_value *v = &c->value[value];
    int entry = clf_entry_axis(c);
    if (v->op != CLF_V_LOAD || entry < 0) return false;
    const clf_access *a = &c->access[v->arg];
    return c->in[a->input].format == CLF_DENSE && indexed_by(a, entry) && !indexed_by(a, 0);
}

int clf_rows_pair(const clf_cplan *c, int32_t value, int over) {
    const clf_value *v = &c->value[value];
    int axis;
    if (v->op != CLF_V_LOAD || clf_rows_shape(c, v->axes, &axis) != CLF_RS_PAIR || !(v->axes >> over & 1u)) return -1;
    (void)clf_rows_shape(c, v->axes & ~(1u << over), &axis);
    return axis;
}

/* ---- axes ---------------------------------------------------------------------------------------------------------------- */

static bool owner_fits(const clf_cplan *c, int a) {
    int owner = c->axis[a].owner;
    if (c->axis[a].parent != 0 || owner < 0 || owner >= c->naccess) return false;
    return c->access[owner].protocol == CLF_ENTRIES && c->in[c->access[owner].input].format == CLF_CSR;
}

static bool axes_fit(const clf_cplan *c) {
    int entries = 0;
    if (c->naxes < 1 || c->axis[0].kind != CLF_AXIS_RANGE) return false;
    for (int a = 1; a < c->naxes; a++) {
        if (c->axis[a].kind == CLF_AXIS_RANGE) continue;
        if (c->axis[a].kind != CLF_AXIS_ENTRY || !owner_fits(c, a) || entries++ > 0) return false;
    }
    return true;
}

/* ---- values -------------------------------------------------------------------------------------------------------------- */

/* At a row and the column of an entry in it, as they are? */
static bool at_entry(const clf_access *a, int entry) {
    for (int d = 0; d < 2; d++)
        if (a->at[d].axis != (d ? entry : 0) || a->at[d].mul != 1 || a->at[d].add != 0) return false;
    return entry >= 0;
}

static bool load_fits(const clf_cplan *c, const clf_value *v) {
    const clf_access *a = &c->access[v->arg];
    int axis, entry = clf_entry_axis(c);
    for (int d = 0; d < a->rank; d++)
        if (a->at[d].value >= 0) return false;
    if (c->in[a->input].format == CLF_CSR && a->protocol == CLF_LOCATE) return at_entry(a, entry);
    if (c->in[a->input].format == CLF_CSR)
        return entry >= 0 && a->protocol == CLF_ENTRIES && a->at[1].axis == entry && a->input == c->access[c->axis[entry].owner].input;
    if (c->in[a->input].format != CLF_DENSE || a->protocol != CLF_STREAM) return false;
    if (clf_rows_shape(c, v->axes, &axis) != CLF_RS_PAIR) return true;
    uint32_t inner = v->axes & ~1u;
    for (int d = 0; d < a->rank; d++)
        if (a->at[d].axis == 0 || (a->at[d].axis > 0 && a->at[d].mul != 1)) return false;
    return (inner & (inner - 1) & ((inner & (inner - 1)) - 1)) == 0; /* two axes, not more */
}

/* Has v no axis but rows and `over`? */
static bool within(const clf_cplan *c, int32_t v, int over) { return (c->value[v].axes & ~(1u | 1u << over)) == 0; }

static bool fold_fits(const clf_cplan *c, const clf_value *v) {
    uint8_t from = c->value[v->in[0]].dtype;
    if (v->axis < 1 || !within(c, v->in[0], v->axis)) return false;
    if (v->op == CLF_V_FOLD) return clf_isa_loops(CLF_ISA_BASELINE).fold->fold[from][v->arg] != NULL;
    return c->axis[v->axis].kind == CLF_AXIS_RANGE && clf_isa_loops(CLF_ISA_BASELINE).row->type[from]->scan[v->arg] != NULL;
}

/* A load that runs along the rows in memory: its dot has one lane (clf_dot_lanes) without being a row of anything. */
static bool runs_along_rows(const clf_cplan *c, int32_t v) {
    if (c->value[v].op != CLF_V_LOAD) return false;
    const clf_access *a = &c->access[c->value[v].arg];
    return a->rank > 0 && a->at[a->rank - 1].axis == 0;
}

static bool dot_fits(const clf_cplan *c, const clf_value *v) {
    if (v->axis < 1 || !within(c, v->in[0], v->axis) || runs_along_rows(c, v->in[1])) return false;
    return within(c, v->in[1], v->axis) || clf_rows_pair(c, v->in[1], v->axis) >= 0;
}

/* Parts that vary with their own axis and the rows at most. */
static bool cat_fits(const clf_cplan *c, const clf_value *v) {
    int axis;
    for (int q = 0; q < 2; q++) {
        int along = clf_cat_axis(v, q);
        clf_row_shape shape = clf_rows_shape(c, c->value[v->in[q]].axes, &axis);
        if (along == 0 || shape == CLF_RS_PAIR || (axis >= 0 && axis != along)) return false;
    }
    return v->axis > 0;
}

static bool op_fits(const clf_cplan *c, const clf_value *v) {
    int axis;
    for (int q = 0; q < 3; q++)
        if (v->in[q] >= 0 && clf_rows_shape(c, c->value[v->in[q]].axes, &axis) == CLF_RS_PAIR) return false;
    if (v->op == CLF_V_CAST) return true;
    return clf_op_is_cell(v->op) && clf_isa_loops(CLF_ISA_BASELINE).cell->op[v->op][c->value[v->in[0]].dtype] != NULL;
}

static bool value_fits(const clf_cplan *c, const clf_value *v) {
    int axis;
    clf_row_shape shape = clf_rows_shape(c, v->axes, &axis);
    if (shape == CLF_RS_PAIR && v->op != CLF_V_LOAD) return false;
    switch (v->op) {
    case CLF_V_LOAD: return load_fits(c, v);
    case CLF_V_PARAM:
    case CLF_V_INDEX: return true;
    case CLF_V_FOLD:
    case CLF_V_SCAN: return fold_fits(c, v);
    case CLF_V_DOT: return dot_fits(c, v);
    case CLF_V_CAT: return cat_fits(c, v);
    default: return op_fits(c, v);
    }
}

/* ---- sinks --------------------------------------------------------------------------------------------------------------- */

static bool store_fits(const clf_cplan *c, const clf_sink *s) {
    int axis;
    clf_row_shape keep = clf_rows_shape(c, s->keep, &axis);
    const clf_value *v = &c->value[s->value[0]];
    if (keep == CLF_RS_PAIR || (v->axes & ~s->keep) != 0 || c->out[s->out[0]].dtype != v->dtype) return false;
    bool entries = axis >= 0 && c->axis[axis].kind == CLF_AXIS_ENTRY;
    return entries == (s->kind == CLF_SINK_PATTERN);
}

static bool fold_sink_fits(const clf_cplan *c, const clf_sink *s) {
    int axis, kept;
    uint32_t loop = clf_sink_loop(c, s);
    clf_row_shape shape = clf_rows_shape(c, loop, &axis), keep = clf_rows_shape(c, s->keep, &kept);
    if (!(loop & 1u) || shape == CLF_RS_PAIR || s->keep == loop) return false;
    if (keep != CLF_RS_SCALAR && keep != CLF_RS_ROW && keep != CLF_RS_VEC) return false;
    return clf_isa_loops(CLF_ISA_BASELINE).fold->fold[c->value[s->value[0]].dtype][s->fold] != NULL;
}

static bool dot_sink_fits(const clf_cplan *c, const clf_sink *s) {
    uint32_t entries = clf_entry_axis(c) < 0 ? 0 : 1u << clf_entry_axis(c), inner = s->keep;
    uint32_t a = c->value[s->value[0]].axes, b = c->value[s->value[1]].axes;
    int axis;
    if ((inner & 1u) || ((a | b) & ~(s->keep | 1u)) != 0) return false;
    if (clf_rows_shape(c, a, &axis) == CLF_RS_PAIR || clf_rows_shape(c, b, &axis) == CLF_RS_PAIR) return false;
    if ((inner & (inner - 1) & ((inner & (inner - 1)) - 1)) != 0) return false; /* more than two axes */
    if (inner & (inner - 1)) return ((a | b) & inner) == inner;                 /* each axis from one side */
    return (inner & entries) == 0 || ((a | b) & entries) != 0;
}

static bool sink_fits(const clf_cplan *c, const clf_sink *s) {
    int axis;
    if (s->guard >= 0 || clf_rows_shape(c, c->value[s->value[0]].axes, &axis) == CLF_RS_PAIR) return false;
    switch (s->kind) {
    case CLF_SINK_STORE:
    case CLF_SINK_PATTERN: return store_fits(c, s);
    case CLF_SINK_FOLD: return fold_sink_fits(c, s);
    case CLF_SINK_DOT: return dot_sink_fits(c, s);
    default: return false;
    }
}

bool clf_rows_fits(const clf_cplan *c) {
    if (!axes_fit(c)) return false;
    for (int i = 0; i < c->nvalue; i++)
        if (!value_fits(c, &c->value[i])) return false;
    for (int i = 0; i < c->nsink; i++)
        if (!sink_fits(c, &c->sink[i])) return false;
    return true;
}
