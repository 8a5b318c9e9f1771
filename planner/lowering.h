/* SPDX-License-Identifier: Apache-2.0
 * One part being lowered. Private to planner/lower*.c and driver.c.
 *
 * A loop over cells (Cell, MAgg) has two axes, rows and columns, which always both exist, so equal structure gives equal cplans whatever
 * the extents; a 1x1 loop has none. A loop over rows (Row, Outer, and whatever visits stored entries) has axis 0 for its rows and an
 * axis for each number of columns, plus one for each inner product that may not run along the axis its result lies on. So a node may
 * be computed at several column axes: a value is asked for by (node, axis). */
#ifndef CLF_PLANNER_LOWERING_H
#define CLF_PLANNER_LOWERING_H
#include "planner/lower.h"

/* The column axis that stands for the driver's cells without entry, where the driver and what is zero with it are 0. What varies with
 * columns there lies on an axis of its own, for no entry has a place on it. */
enum { CLF_REST_AXIS = -2 };

/* A node's value at another axis than its usual one. */
typedef struct clf_elsewhere { int32_t node, value; int axis; } clf_elsewhere;

typedef struct clf_lowering {
    clf_plan *plan;
    const clf_cover *cover;
    const clf_graph *g;
    const clf_part *part;
    int32_t number;            /* of the part */
    clf_builder b;
    bool rowwise, single;      /* a loop over rows; no axes at all */
    int64_t space[2];          /* of a loop over cells; [0] rows of any */
    int64_t width[CLF_MAX_AXES]; /* columns that each axis stands for; ENTRY: of the driver */
    int32_t driver;            /* graph node whose stored entries are visited, -1: all cells */
    int entry;                 /* their axis */
    const uint8_t *zero;       /* per node: zero where the driver is; NULL without one */
    clf_step *step;
    clf_lowered *done;
    clf_elsewhere *elsewhere;
    int32_t nelsewhere, cap_elsewhere;
    int32_t cap_in, cap_out, cap_param;
    clf_status failed;         /* of a conversion; the builder remembers its own */
    clf_err *err;
} clf_lowering;

/* lower_value.c */
/** Where a node with this many columns is computed unless somebody needs it elsewhere: an axis, or -1. */
int clf_lower_axis(clf_lowering *L, int64_t cols);
/** An axis for this many columns other than `avoid` and behind `after`. */
int clf_lower_axis_but(clf_lowering *L, int64_t cols, int avoid, int after);
/** Node q as an operand at a column axis, in type t. */
int clf_lower_operand(clf_lowering *L, int32_t q, int axis, clf_dtype t);
/** Node n of this part, in its own type. */
int clf_lower_node(clf_lowering *L, int32_t n, int axis);
/** What aggregate n folds in cells without entry, in the fold's type; -1: they take no part. */
int clf_lower_rest(clf_lowering *L, int32_t n);
bool clf_lower_push(clf_arena *a, int32_t **v, int32_t *n, int32_t *cap, int32_t x);

/* lower_sink.c */
/** What leaves the loop for node n. */
void clf_lower_sink(clf_lowering *L, int32_t n);

/* lower_values.c */
/** The value of node n in dense cells, through a CONVERT step if it is stored otherwise. */
clf_status clf_plan_dense_for(clf_plan *plan, int32_t n, int32_t *value, clf_err *err);
/** The value of side n of a product of entries in CSR, the same way. */
clf_status clf_plan_entries_for(clf_plan *plan, int32_t n, int32_t *value, clf_err *err);
/** The value of such a side's twin, which `turned`, its transpose, names; through a CONVERT step, shared by all who want it so. */
clf_status clf_plan_twin_for(clf_plan *plan, int32_t n, int32_t turned, int32_t *value, clf_err *err);
/** A CONVERT step that makes value `to` of `from`, for node n. */
clf_status clf_plan_convert(clf_plan *plan, clf_convert how, int32_t n, int32_t from, int32_t to, clf_err *err);
/** From now on v is stored in CSR with so many entries. */
void clf_plan_in_csr(clf_plan_value *v, int64_t nnz);
/** A new step at the end of the plan. */
clf_step *clf_plan_step(clf_plan *plan);
/** Room for a step's inputs, and its only output. */
clf_status clf_step_one_result(clf_plan *plan, clf_step *s, int nin, int32_t out, clf_err *err);
/** The bytes that a step reads and writes, from its values. */
void clf_step_count(const clf_plan *plan, clf_step *s);

/* step_key.c */
/** The key of a fused step, from its cplan. */
clf_status clf_step_key(clf_plan *plan, clf_step *s, clf_err *err);

/* driver.c */
/** Does the part read q from memory, in one place? A product's left operand that is has an axis of its own to run along. */
bool clf_read_once(const clf_graph *g, const clf_cover *cover, int32_t part, int32_t q);
/** Which nodes are zero wherever the driver of part `number`, which is entered and has one, is: clf_lowering.zero, until it is asked again. */
const uint8_t *clf_driver_zeros(const clf_graph *g, const clf_cover *cover, int32_t number);
/** Does aggregate n of a driver's cells take the cells without entry in, unvisited? */
bool clf_driver_counts(const clf_graph *g, int32_t n, const uint8_t *zero);
#endif
