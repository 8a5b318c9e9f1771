/* SPDX-License-Identifier: Apache-2.0
 * clf_grad of every row of the operator table: sum(w * op(a, b, c)) against difference quotients, over all ways in which the operands
 * broadcast. The data keeps off kinks and jumps; conventions at those are test_grad.c's. */
#include <math.h>

#include "core/op.h"
#include "tests/support/grad_check.h"
#include "tests/support/net.h"
#include "tests/unit/api_testing.h"

enum { ROWS = 3, COLS = 4 };

/* Cells of an operand are from lo + (hi - lo) * [0, 1). */
typedef struct range {
    double lo, hi;
} range;
typedef struct domain {
    const char *op;
    range in[3];
} domain;
static const domain domains[] = {
    {"%%", {{7.1, 7.4}, {1.55, 1.75}, {0, 0}}}, /* 4 times, everywhere */
    {"%/%", {{7.1, 7.4}, {1.55, 1.75}, {0, 0}}}, {"min", {{0.2, 0.9}, {0.2, 0.9}, {0, 0}}},     {"max", {{0.2, 0.9}, {0.2, 0.9}, {0, 0}}},
    {"logb", {{0.3, 0.9}, {1.5, 3}, {0, 0}}},    {NULL, {{0.2, 0.9}, {-1.9, 1.9}, {2.2, 2.9}}}, /* all others, but for */
};
/* ...binary operators whose second operand is better positive. */
static const range beside = {1.2, 1.9};

static double uniform(uint64_t *state) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(*state >> 11) / 9007199254740992.0;
}

static range range_of(int op, int k) {
    const domain *d = domains;
    while (d->op && strcmp(d->op, clf_ops[op].name)) d++;
    return !d->op && clf_ops[op].arity == 2 && k == 1 ? beside : d->in[k];
}

/* Shapes: 'f' ROWS x COLS, 'c' a column, 'r' a row, 's' a scalar, 'm' a 1x1 matrix. */
static const char *const shapes1[] = {"f", "c", "r", "s", "m", NULL};
static const char *const shapes2[] = {"ff", "fc", "cf", "fr", "rf", "fs", "sf", "fm", "mf", "cs",
                                      "rs", "cc", "rr", "cm", "ss", "sm", "mm", "cr", NULL};
static const char *const shapes3[] = {"fff", "fcr", "frc", "cfr", "ffs", "fsf", "sff", "fss", "crf", "rcf", "sss", "ccs", "mfm", NULL};
static const char *const *const shapes[] = {NULL, shapes1, shapes2, shapes3};

static void fill(grad_var *v, char shape, range r, uint64_t *state) {
    v->rows = shape == 'f' || shape == 'c' ? ROWS : 1;
    v->cols = shape == 'f' || shape == 'r' ? COLS : 1;
    v->scalar = shape == 's';
    for (int i = 0; i < v->rows * v->cols; i++) v->v[i] = r.lo + (r.hi - r.lo) * uniform(state);
}

/* Cells of replace's first operand that equal a pattern; of ifelse's, tests that differ. */
static void meet(int op, grad_var *v) {
    if (op == CLF_OP_IFELSE)
        for (int i = 0; i < v[0].rows * v[0].cols; i += 2) v[0].v[i] = 0;
    if (op == CLF_OP_IFELSE) v[0].idle = true;
    if (op != CLF_OP_REPLACE) return;
    for (int i = 0; i < v[1].rows * v[1].cols; i += 2) v[1].v[i] = v[0].v[i % (v[0].rows * v[0].cols)];
    for (int i = 0; i < v[0].rows * v[0].cols; i++)
        for (int k = 0; k < v[1].rows * v[1].cols; k++) v[0].rough[i] |= v[0].v[i] == v[1].v[k];
    v[1].idle = true;
}

static bool passes(int op, int k) {
    const char *s = clf_ops[op].grad;
    for (; k > 0; k--) s = strchr(s, ';') + 1;
    while (*s == ' ') s++;
    return strncmp(s, "0", 1) != 0 || (s[1] && s[1] != ';');
}

static bool one(clf_ctx *c, int op, const char *shape, uint64_t *state, bool *moves) {
    static const char *const names[] = {"a", "b", "c", "w"};
    int arity = clf_ops[op].arity;
    bool crossed = !strcmp(shape, "cr");
    grad_var v[4];
    clf_mat *p[4];
    char what[64];
    static grad_seen seen;
    memset(v, 0, sizeof v);
    memset(&seen, 0, sizeof seen);
    for (int k = 0; k < 4; k++) v[k].name = names[k];
    for (int k = 0; k < arity; k++) fill(&v[k], shape[k], range_of(op, k), state);
    meet(op, v);
    for (int k = 0; k < arity; k++) v[k].idle |= !passes(op, k);
    int64_t rows = 1, cols = 1;
    for (int k = 0; k < arity; k++) rows = v[k].rows > rows ? v[k].rows : rows, cols = v[k].cols > cols ? v[k].cols : cols;
    grad_params(c, arity, v, p);
    clf_mat *r = crossed ? clf_outer((clf_op_code)op, p[0], p[1])
                         : clf_apply((clf_op_code)op, p[0], arity > 1 ? p[1] : NULL, arity > 2 ? p[2] : NULL);
    clf_mat *weight = clf_rand(c, CLF_F64, rows, cols, 0.5, 1.5, 1, *state), *loss = clf_sum(clf_mul(weight, r));
    snprintf(what, sizeof what, "%s %s", clf_ops[op].id, shape);
    bool good = grad_check(c, what, loss, arity, v, p, &seen);
    for (int k = 0; k < arity; k++)
        for (int i = 0; i < v[k].rows * v[k].cols; i++) moves[k] |= seen.derivative[k][i] != 0;
    return good;
}

static long cases, derivatives;

/* A crossing needs an outer product, which three operands have not: a column and a row beside a matrix do. */
static void test_operators(void) {
    clf_ctx *c = open_host();
    uint64_t state = 20260101;
    for (int op = 0; op < CLF_NOPS; op++) {
        bool moves[3] = {false, false, false};
        for (const char *const *s = shapes[clf_ops[op].arity]; *s; s++) {
            size_t mark = clf_epoch_begin(c);
            CU_ASSERT(one(c, op, *s, &state, moves));
            clf_epoch_end(c, mark);
            cases++;
        }
        for (int k = 0; k < clf_ops[op].arity; k++) {
            if (moves[k] != passes(op, k)) printf("\n    %s by input %d: never other than 0, or never 0", clf_ops[op].id, k);
            CU_ASSERT_EQUAL(moves[k], passes(op, k));
            derivatives += passes(op, k);
        }
    }
    CU_ASSERT(derivatives > 40);
    net_figure("clf_grad: derivatives of operators against differences", "%ld of %ld ways to broadcast", derivatives, cases);
    clf_close(c);
}

/* f32 operands give f32 derivatives: those of f64 to within what some ten roundings make of conditions below 100. */
static void test_narrow(void) {
    static const char *const names[] = {"a", "b", "c"};
    clf_ctx *c = open_host();
    for (int op = 0; op < CLF_NOPS; op++) {
        int arity = clf_ops[op].arity;
        grad_var v[3];
        uint64_t state = 5;
        double narrow[3][GRAD_CELLS], wide[3][GRAD_CELLS];
        memset(v, 0, sizeof v);
        for (int k = 0; k < arity; k++) v[k].name = names[k], fill(&v[k], 'f', range_of(op, k), &state);
        for (int k = 0; k < arity; k++)
            for (int i = 0; i < ROWS * COLS; i++) v[k].v[i] = (float)v[k].v[i];
        for (int w = 0; w < 2; w++) {
            clf_mat *x[3] = {NULL, NULL, NULL}, *g[3];
            for (int k = 0; k < arity; k++) x[k] = clf_matrix(c, CLF_F64, ROWS, COLS, v[k].v);
            for (int k = 0; k < arity && w; k++) x[k] = clf_to_dense(clf_cast(x[k], CLF_F32));
            clf_mat *r = clf_apply((clf_op_code)op, x[0], x[1], x[2]), *loss = clf_mul(clf_sum(r), clf_num(c, 0.25));
            if (clf_ops[op].flags & F_BOOL) continue;
            CU_ASSERT_EQUAL(clf_grad(loss, (size_t)arity, x, g), CLF_OK);
            for (int k = 0; k < arity; k++) {
                clf_dtype t = CLF_U8;
                CU_ASSERT_EQUAL(clf_info(g[k], NULL, NULL, &t, NULL), CLF_OK);
                CU_ASSERT_EQUAL(t, w ? CLF_F32 : CLF_F64);
                CU_ASSERT_EQUAL(clf_read(clf_cast(g[k], CLF_F64), w ? narrow[k] : wide[k], ROWS * COLS * sizeof(double)), CLF_OK);
            }
        }
        for (int k = 0; k < arity && !(clf_ops[op].flags & F_BOOL); k++)
            for (int i = 0; i < ROWS * COLS; i++) {
                double error = fabs(narrow[k][i] - wide[k][i]), most = 1e-4 * (1 + fabs(wide[k][i]));
                if (!(error <= most)) printf("\n    %s by %d: %g, %g", clf_ops[op].id, k, narrow[k][i], wide[k][i]);
                CU_ASSERT(error <= most);
            }
    }
    clf_close(c);
}

int main(void) {
    static const test_case tests[] = {{"every operator against differences", test_operators}, {"f32", test_narrow}};
    return run_suite("derivatives of operators", tests, sizeof tests / sizeof *tests);
}
