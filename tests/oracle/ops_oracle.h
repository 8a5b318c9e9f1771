/* SPDX-License-Identifier: Apache-2.0
 * The operator oracle: what every cell operator means, written from the language contract and sharing no code or text with the
 * library (only the enum of operators and the scalar struct).
 *
 * Use, for any executor: ask for the cases of (operator, type), run them, and compare each result:
 *
 *     size_t n = oracle_op_cases(op, t, NULL, 0);                  // 0: the operator is never evaluated in that type
 *     clf_scalar (*in)[3] = malloc(n * sizeof *in);
 *     oracle_op_cases(op, t, in, n);
 *     for (i < n) { oracle_op(op, t, in[i], &want); ok = oracle_agrees(&want, got[i]); }
 *
 * Exact operators (those without an elementary function) must agree in every bit, any NaN being equal to any other.
 * Elementary functions must lie within `tol`, which comes from the bound that OpenCL 1.2 (table 7.4.1, full profile) gives each
 * function, so that the same oracle serves the C library and OpenCL devices. */
#ifndef CLF_TESTS_OPS_ORACLE_H
#define CLF_TESTS_OPS_ORACLE_H
#include "core/dtype.h"
#include "tests/support/op_steps.h"

typedef struct oracle_result {
    clf_dtype dtype;
    long double exact; /* floats: the value, rounded to dtype when tol is 0 */
    int64_t integer;   /* integers */
    long double tol;   /* largest |got - exact|; 0: bit for bit */
    long double clib;  /* what the C library's vector functions may add to tol */
    bool any_zero;     /* the sign of a zero does not matter */
} oracle_result;

/** The result of operator `op` evaluated in type t; inputs have type t. False when the operator has no meaning in t (functions of
 *  reals on integers: the type rules never ask for that). */
bool oracle_op(int op, clf_dtype t, const clf_scalar in[3], oracle_result *out);
/** The same of a text's steps, each of them exact: false where one is not, or has no meaning in t. */
bool oracle_steps(const op_steps *steps, clf_dtype t, const clf_scalar in[3], oracle_result *out);
bool oracle_agrees(const oracle_result *want, clf_scalar got);
/** Inputs worth trying: a grid of special values and seeded random ones, the same on every call. Writes up to cap, returns how many. */
size_t oracle_op_cases(int op, clf_dtype t, clf_scalar (*out)[3], size_t cap);
/** One unit in the last place of x in float type t (of the least normal number below that). */
long double oracle_ulp(clf_dtype t, long double x);
#endif
