/* SPDX-License-Identifier: Apache-2.0
 * Symbolic f(0): is a cell operator's result 0 where some operands are 0 and others may be anything?
 *
 * No list of operators: the operator itself is run, through the scalar evaluator that defines it, on every combination of probes for the
 * unknown operands. Operators are pieces of smooth functions that change over at 0, at +-1, at infinity or at NaN, so a result that is 0
 * for all probes is 0 for all numbers; tests/unit/test_zeros.c tries other numbers on every operator that claims it. */
#include <math.h>
#include <string.h>

#include "host/graph/facts.h"
#include "kernels-cl/ref_ops.h"

static const double reals[] = {1, 0, -1, -0.0, 0.5, -0.5, 2, -3, 1e30, -1e30, 1e300, -1e300, 1e-300, 5e-324, INFINITY, -INFINITY, NAN};
static const int64_t wholes[] = {1, 0, -1, 2, -3, 255, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN};

static int probes(clf_dtype t) { return clf_dtype_float(t) ? (int)(sizeof reals / sizeof *reals) : (int)(sizeof wholes / sizeof *wholes); }

static clf_slot slot_of(clf_scalar s) {
    if (clf_dtype_float(s.dtype)) return (clf_slot){.f = s.u.f};
    return (clf_slot){.i = s.u.i};
}

static clf_slot probe(clf_dtype t, int i) {
    return slot_of(clf_scalar_to(clf_dtype_float(t) ? clf_scalar_f64(reals[i]) : clf_scalar_i64(wholes[i]), t));
}

static bool is_zero(clf_dtype t, clf_slot x) { return clf_dtype_float(t) ? x.f == 0 : x.i == 0; }

/* A condition is its truth, not its value in the type of what it selects. */
static clf_slot operand(clf_op op, clf_dtype t, int i, clf_scalar s) {
    if (clf_ops[op].type == CLF_TYPE_SELECT && i == 0) s = clf_scalar_i64(clf_dtype_float(s.dtype) ? s.u.f != 0 : s.u.i != 0);
    return slot_of(clf_scalar_to(s, t));
}

clf_scalar clf_zeros_value(clf_op op, clf_dtype t, int n, const clf_zeros_operand *x) {
    clf_slot in[3];
    memset(in, 0, sizeof in);
    for (int i = 0; i < n; i++) in[i] = operand(op, t, i, x[i].value);
    clf_slot r = clf_ref_cell(op, t, in);
    clf_scalar s = {.dtype = t};
    if (clf_dtype_float(t))
        s.u.f = r.f;
    else
        s.u.i = r.i;
    return s;
}

bool clf_zeros_forced(clf_op op, clf_dtype t, int n, const clf_zeros_operand *x) {
    clf_slot in[3];
    int at[3] = {0, 0, 0}, all = probes(t), i;
    memset(in, 0, sizeof in);
    for (i = 0; i < n; i++) in[i] = x[i].known ? operand(op, t, i, x[i].value) : probe(t, 0);
    do {
        if (!is_zero(t, clf_ref_cell(op, t, in))) return false;
        for (i = 0; i < n; i++) { /* an odometer of the unknown ones */
            if (x[i].known) continue;
            at[i] = (at[i] + 1) % all;
            in[i] = probe(t, at[i]);
            if (at[i]) break;
        }
    } while (i < n);
    return true;
}
