/* SPDX-License-Identifier: Apache-2.0
 * Every operator of the reference executor in every type, over cells that sit at the edges of the types: against the interpreter with
 * error bounds; functions of reals on integers against the double they go through; casts and truth values against core/dtype.h. */
#include <math.h>

#include "core/dtype.h"
#include "kernels-cl/ref_ops.h"
#include "tests/oracle/dd_cell.h"
#include "tests/unit/cplan_testing.h"

static const double reals[] = {0,     -0.0,   1,    -1,       2,         0.5,    -0.5,    3.7,       -3.7,      1e-300,
                               255,   256,    -128, 1e10,     -1e10,     0x1p31, -0x1p31, 0x1p62,    1e20,      -1e20,
                               1e300, -1e300, NAN,  INFINITY, -INFINITY, 0.1,    1.0 / 3, 0x1p-1074, 2147483647};
static const int64_t wholes[] = {0, 1, -1, 2, 3, -7, 100, 127, 128, 255, 256, -256, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN, 1000003};
enum { NREALS = sizeof reals / sizeof *reals, NWHOLES = sizeof wholes / sizeof *wholes };

static int count_of(clf_dtype t) { return clf_dtype_float(t) ? NREALS : NWHOLES; }

/* Cell k of type t, as the slot holds it. */
static clf_slot slot_of(clf_dtype t, int k) {
    clf_scalar s = clf_scalar_to(clf_dtype_float(t) ? clf_scalar_f64(reals[k]) : clf_scalar_i64(wholes[k]), t);
    return clf_dtype_float(t) ? (clf_slot){.f = s.u.f} : (clf_slot){.i = s.u.i};
}

static clf_scalar scalar_of(clf_dtype t, clf_slot x) {
    clf_scalar s = {.dtype = t};
    if (clf_dtype_float(t))
        s.u.f = x.f;
    else
        s.u.i = x.i;
    return s;
}

static clf_slot slot(clf_scalar s) { return clf_dtype_float(s.dtype) ? (clf_slot){.f = s.u.f} : (clf_slot){.i = s.u.i}; }

static dd_cell cell_of(clf_dtype t, clf_slot x) { return clf_dtype_float(t) ? dd_cell_of(x.f) : dd_cell_whole(x.i); }

static void differ(int op, clf_dtype t, const clf_slot *in, clf_slot got) {
    printf("\n    %s %s of", clf_dtype_name(t), clf_ops[op].id);
    for (int q = 0; q < clf_ops[op].arity; q++) printf(" %.17g", clf_scalar_as_f64(scalar_of(t, in[q])));
    printf(" gives %.17g\n", clf_scalar_as_f64(scalar_of(t, got)));
    CU_FAIL("an operator differs");
}

/* ---- operators that have a meaning in their type --------------------------------------------------------------------------- */

static void agrees(int op, clf_dtype t, const clf_slot *in) {
    dd_cell x[3] = {cell_of(t, in[0]), cell_of(t, in[1]), cell_of(t, in[2])};
    clf_slot got = clf_ref_cell(op, t, in);
    if (!dd_agrees(dd_op(op, t, x), cell_of(t, got))) differ(op, t, in, got);
}

/* ---- functions of reals on integers ---------------------------------------------------------------------------------------- */

static clf_slot through_double(int op, clf_dtype t, clf_slot a, clf_slot b) {
    const clf_slot in[3] = {{.f = (double)a.i}, {.f = (double)b.i}, {.f = 0}};
    return slot(clf_scalar_to(clf_scalar_f64(clf_ref_cell(op, CLF_F64, in).f), t));
}

/* What the texts of ops.def say: most are one function, a few are put together from several. */
static clf_slot composed(int op, clf_dtype t, clf_slot a, clf_slot b) {
    const clf_slot zero = {.i = 0}, one = {.i = 1};
    clf_slot x[3] = {a, b, zero};
    switch (op) {
    case CLF_OP_LOGB: return through_double(CLF_OP_DIV, t, through_double(CLF_OP_LOG, t, a, zero), through_double(CLF_OP_LOG, t, b, zero));
    case CLF_OP_SIGMOID:
        x[0] = one;
        x[1] = through_double(CLF_OP_EXP, t, clf_ref_cell(CLF_OP_NEG, t, (const clf_slot[3]){a, zero, zero}), zero);
        return through_double(CLF_OP_DIV, t, one, clf_ref_cell(CLF_OP_ADD, t, x));
    case CLF_OP_PNORM: return zero; /* half of something: 0.5 is 0 as a whole number */
    default: return through_double(op, t, a, b);
    }
}

static void composes(int op, clf_dtype t, const clf_slot *in) {
    clf_slot got = clf_ref_cell(op, t, in);
    if (got.i != composed(op, t, in[0], in[1]).i) differ(op, t, in, got);
}

static void test_operators(void) {
    for (int op = 0; op < CLF_NOPS; op++)
        for (int type = 0; type < CLF_NDTYPES; type++) {
            clf_dtype t = (clf_dtype)type;
            bool real = clf_ops[op].type == CLF_TYPE_FLOAT && !clf_dtype_float(t);
            int n = count_of(t), n1 = clf_ops[op].arity > 1 ? n : 1, n2 = clf_ops[op].arity > 2 ? n : 1;
            for (int i = 0; i < n * n1 * n2; i++) {
                const clf_slot in[3] = {slot_of(t, i % n), clf_ops[op].arity > 1 ? slot_of(t, i / n % n1) : (clf_slot){0},
                                        clf_ops[op].arity > 2 ? slot_of(t, i / n / n1) : (clf_slot){0}};
                (real ? composes : agrees)(op, t, in);
            }
        }
}

/* ---- casts, truth, memory -------------------------------------------------------------------------------------------------- */

static void test_casts(void) {
    for (int from = 0; from < CLF_NDTYPES; from++)
        for (int to = 0; to < CLF_NDTYPES; to++)
            for (int k = 0; k < count_of((clf_dtype)from); k++) {
                clf_slot x = slot_of((clf_dtype)from, k), got = clf_ref_cast(x, (clf_dtype)from, (clf_dtype)to);
                clf_scalar want = clf_scalar_to(scalar_of((clf_dtype)from, x), (clf_dtype)to);
                bool same = clf_scalar_same(scalar_of((clf_dtype)to, got), want);
                if (!same) printf("\n    %s cell %d as %s\n", clf_dtype_name((clf_dtype)from), k, clf_dtype_name((clf_dtype)to));
                CU_ASSERT(same);
            }
}

static void test_truth_and_memory(void) {
    _Alignas(8) char memory[16];
    for (int type = 0; type < CLF_NDTYPES; type++)
        for (int k = 0; k < count_of((clf_dtype)type); k++) {
            clf_dtype t = (clf_dtype)type;
            clf_slot x = slot_of(t, k);
            CU_ASSERT_EQUAL(clf_ref_true(x, t), clf_scalar_as_f64(scalar_of(t, x)) != 0);
            clf_ref_store(memory, 1, t, x);
            CU_ASSERT(clf_scalar_same(clf_scalar_load(memory, 1, t), scalar_of(t, x)));
            CU_ASSERT(clf_scalar_same(scalar_of(t, clf_ref_load(memory, 1, t)), scalar_of(t, x)));
        }
}

int main(void) {
    CU_initialize_registry();
    CU_pSuite s = CU_add_suite("operators of the reference executor", NULL, NULL);
    CU_add_test(s, "operators in every type", test_operators);
    CU_add_test(s, "casts", test_casts);
    CU_add_test(s, "truth values and memory", test_truth_and_memory);
    CU_basic_run_tests();
    int bad = CU_get_number_of_failures() > 0;
    CU_cleanup_registry();
    return bad;
}
