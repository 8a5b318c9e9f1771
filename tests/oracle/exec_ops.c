/* SPDX-License-Identifier: Apache-2.0
 * Cell operators, casts and operands of every kind on all executors. Many results share one cplan, because building a kernel costs
 * more than running it. */
#include <CUnit/Basic.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/op.h"
#include "tests/oracle/exec_check.h"

enum { BATCH = 14, BOOL_BATCH = 24 };
typedef clf_scalar operands[3];

static operands *cases_of(int op, clf_dtype t, size_t *n) {
    *n = oracle_op_cases(op, t, NULL, 0);
    operands *in = malloc((*n + 1) * sizeof *in);
    oracle_op_cases(op, t, in, *n);
    return in;
}

static void fill(void *at, const operands *in, size_t n, int operand) {
    for (size_t k = 0; k < n; k++) clf_scalar_store(at, k, in[k][operand]);
}

/* ---- every operator ------------------------------------------------------------------------------------------------------ */

static void check_case_list(const exec_job *j, int op, int out, const operands *in, size_t n) {
    exec_diff d = {.what = clf_ops[op].id, .j = j, .out = out};
    oracle_result want;
    for (size_t k = 0; k < n; k++) {
        CU_ASSERT_FATAL(oracle_op(op, exec_type(j, out), in[k], &want));
        exec_compare(&d, (int64_t)k, &want, in[k], clf_ops[op].arity);
    }
    exec_clean(&d);
}

/* n cases for each operator. */
static void check_batch(clf_dtype t, const int *ops, int nops, size_t n) {
    exec_job j;
    operands *in[BATCH];
    int out[BATCH];
    exec_begin(&j, 1, (int64_t)n);
    for (int o = 0; o < nops; o++) {
        int v[3] = {-1, -1, -1};
        in[o] = cases_of(ops[o], t, &n);
        for (int i = 0; i < clf_ops[ops[o]].arity; i++) {
            exec_in x = exec_input(&j, t, EXEC_CELLS);
            fill(x.mem, in[o], n, i);
            v[i] = x.value;
        }
        out[o] = exec_store(&j, exec_op(&j, ops[o], t, v), EXEC_CELLS);
    }
    exec_all(&j);
    for (int o = 0; o < nops; o++) {
        check_case_list(&j, ops[o], out[o], in[o], n);
        free(in[o]);
    }
    exec_end(&j);
}

/* The operators that have meaning in t, by number of operands. */
static void check_arity(clf_dtype t, int arity) {
    int ops[BATCH], nops = 0;
    size_t n = 0;
    for (int o = 0; o < CLF_NOPS; o++) {
        size_t cases = clf_ops[o].arity == arity ? oracle_op_cases(o, t, NULL, 0) : 0;
        if (!cases) continue;
        n = cases;
        ops[nops++] = o;
        if (nops < BATCH) continue;
        check_batch(t, ops, nops, n);
        nops = 0;
    }
    if (nops) check_batch(t, ops, nops, n);
}

void exec_check_ops(void) {
    for (int t = 0; t < CLF_NDTYPES; t++)
        for (int arity = 1; arity <= 3; arity++) check_arity((clf_dtype)t, arity);
}

/* ---- truth values of another type ---------------------------------------------------------------------------------------- */

typedef struct truth {
    int op, out;
    clf_dtype t;
} truth;

static void check_truth(const exec_job *j, const truth *b, const operands *in, size_t n) {
    exec_diff d = {.what = clf_ops[b->op].id, .j = j, .out = b->out};
    oracle_result want;
    for (size_t k = 0; k < n; k++) {
        CU_ASSERT_FATAL(oracle_op(b->op, b->t, in[k], &want));
        bool yes = clf_dtype_float(b->t) ? want.exact == 1 : want.integer == 1;
        oracle_result declared = {.dtype = exec_type(j, b->out), .exact = yes, .integer = yes};
        exec_compare(&d, (int64_t)k, &declared, in[k], clf_ops[b->op].arity);
    }
    exec_clean(&d);
}

/* From operator *o and result type *r on, as many as fit one cplan. */
static void check_truths(clf_dtype t, int *o, int *r) {
    exec_job j;
    truth b[BOOL_BATCH];
    int nb = 0, v[3] = {-1, -1, -1};
    size_t n;
    operands *in = cases_of(CLF_OP_LT, t, &n);
    exec_begin(&j, 1, (int64_t)n);
    for (int i = 0; i < 2; i++) {
        exec_in x = exec_input(&j, t, EXEC_CELLS);
        fill(x.mem, in, n, i);
        v[i] = x.value;
    }
    for (; *o < CLF_NOPS && nb < BOOL_BATCH; ++*r == CLF_NDTYPES ? (void)(*r = 0, ++*o) : (void)0) {
        if (!(clf_ops[*o].flags & F_BOOL) || *r == (int)t) continue;
        b[nb++] = (truth){*o, exec_store(&j, clf_build_cast(&j.b, exec_op(&j, *o, t, v), (clf_dtype)*r), EXEC_CELLS), t};
    }
    exec_all(&j);
    for (int k = 0; k < nb; k++) check_truth(&j, &b[k], in, n);
    exec_end(&j);
    free(in);
}

void exec_check_bool(void) {
    for (int t = 0; t < CLF_NDTYPES; t++)
        for (int o = 0, r = 0; o < CLF_NOPS;) check_truths((clf_dtype)t, &o, &r);
}

/* ---- casts --------------------------------------------------------------------------------------------------------------- */

/* Around the ends of the integer types, and numbers that two roundings would get wrong. */
static const double real_edges[] = {
    -0.5,           -0.99,
    -1.0,           -1.5,
    0.99,           254.99,
    255.0,          255.5,
    256.0,          2147483647.0,
    2147483520.,    2147483647.5,
    2147483648.0,   -2147483648.,
    -2147483648.5,  -2147483649.,
    0x1.fffffep62,  0x1.fffffffffffffp62,
    -0x1p63,        -0x1.000002p63,
    0x1.000001p0,   0x1.0000010000001p0,
    0x1.000003p0,   0x1.8p-150,
    0x1.ffffffp127, 0x1.fffffefffffffp127,
};
static const int64_t whole_edges[] = {
    INT64_C(1) << 24 | 1,
    INT64_C(3) << 23 | 1,
    (INT64_C(1) << 60) + (INT64_C(1) << 36) + 1,
    (INT64_C(1) << 60) + (INT64_C(1) << 36),
    (INT64_C(1) << 53) + 1,
    (INT64_C(1) << 53) + 3,
    INT64_C(0x7fffff4000000001),
    INT64_C(0x17fffffff),
    INT64_C(0x180000000),
    -INT64_C(0x80000001),
    -256,
    -129,
};
enum { NREAL = sizeof real_edges / sizeof *real_edges, NWHOLE = sizeof whole_edges / sizeof *whole_edges };

static operands *cast_cases(clf_dtype t, size_t *n) {
    size_t edges = clf_dtype_float(t) ? NREAL : NWHOLE;
    operands *in = cases_of(CLF_OP_NEG, t, n), *all = realloc(in, (*n + edges) * sizeof *in);
    for (size_t k = 0; k < edges; k++)
        all[(*n)++][0] = oracle_cast(clf_dtype_float(t) ? clf_scalar_f64(real_edges[k]) : clf_scalar_i64(whole_edges[k]), t);
    return all;
}

static void check_cast(const exec_job *j, int out, const operands *in, size_t n) {
    exec_diff d = {.what = "cast to", .j = j, .out = out};
    for (size_t k = 0; k < n; k++) {
        clf_scalar c = oracle_cast(in[k][0], exec_type(j, out));
        oracle_result want = {.dtype = c.dtype};
        if (clf_dtype_float(c.dtype))
            want.exact = c.u.f;
        else
            want.integer = c.u.i;
        exec_compare(&d, (int64_t)k, &want, in[k], 1);
    }
    exec_clean(&d);
}

void exec_check_casts(void) {
    for (int f = 0; f < CLF_NDTYPES; f++) {
        exec_job j;
        size_t n;
        operands *in = cast_cases((clf_dtype)f, &n);
        exec_begin(&j, 1, (int64_t)n);
        exec_in x = exec_input(&j, (clf_dtype)f, EXEC_CELLS);
        fill(x.mem, in, n, 0);
        for (int t = 0; t < CLF_NDTYPES; t++)
            if (t != f) exec_store(&j, clf_build_cast(&j.b, x.value, (clf_dtype)t), EXEC_CELLS);
        exec_all(&j);
        for (int out = 0; out < j.c.nout; out++) check_cast(&j, out, in, n);
        exec_end(&j);
        free(in);
    }
}

/* ---- operands of every kind ---------------------------------------------------------------------------------------------- */

typedef enum operand_kind { MATRIX, COLUMN, ROW, MEMORY, PARAMETER, POSITION_ROW, POSITION_COL, PARAMETER_NAN, KINDS } operand_kind;
typedef struct operand_set {
    exec_job j;
    clf_dtype t;
    int value[KINDS];
    const void *mem[KINDS];
    clf_scalar param[KINDS];
} operand_set;
static const unsigned varies[KINDS] = {[MATRIX] = EXEC_CELLS, [COLUMN] = EXEC_ROWS, [ROW] = EXEC_COLS};

static void make_operands(operand_set *s, clf_dtype t, int64_t rows, int64_t cols) {
    uint64_t seed = 7;
    exec_begin(&s->j, rows, cols);
    s->t = t;
    for (int kind = MATRIX; kind <= MEMORY; kind++) {
        exec_in x = exec_input(&s->j, t, varies[kind]);
        for (int64_t k = 0; k < exec_count(&s->j, varies[kind]); k++)
            clf_scalar_store(x.mem, (size_t)k, oracle_cast(clf_scalar_f64((double)(int64_t)(exec_random(&seed) % 41) / 2 - 10), t));
        s->value[kind] = x.value;
        s->mem[kind] = x.mem;
    }
    s->param[PARAMETER] = oracle_cast(clf_scalar_f64(3.5), t);
    s->param[PARAMETER_NAN] = oracle_cast(clf_scalar_f64(NAN), t);
    s->value[PARAMETER] = exec_param(&s->j, s->param[PARAMETER]);
    s->value[PARAMETER_NAN] = exec_param(&s->j, s->param[PARAMETER_NAN]);
    s->value[POSITION_ROW] = clf_build_cast(&s->j.b, exec_index(&s->j, 0), t);
    s->value[POSITION_COL] = clf_build_cast(&s->j.b, exec_index(&s->j, 1), t);
}

static int64_t place(const operand_set *s, unsigned keep, int64_t r, int64_t c) {
    int64_t k = keep & EXEC_ROWS ? r : 0;
    return keep & EXEC_COLS ? k * s->j.cols + c : k;
}

static clf_scalar operand_at(const operand_set *s, int kind, int64_t r, int64_t c) {
    if (kind == POSITION_ROW || kind == POSITION_COL) return oracle_cast(clf_scalar_i64(kind == POSITION_ROW ? r : c), s->t);
    if (!s->mem[kind]) return s->param[kind];
    return clf_scalar_load(s->mem[kind], (size_t)place(s, varies[kind], r, c), s->t);
}

typedef struct operand_use {
    int op, out, kind[3];
    unsigned keep;
} operand_use;

static operand_use use_operands(operand_set *s, int op, int a, int b, int c, bool whole) {
    int v[3] = {s->value[a], s->value[b], s->value[c]}, value = exec_op(&s->j, op, s->t, v);
    unsigned keep = whole ? EXEC_CELLS : s->j.b.c.value[value].axes;
    return (operand_use){op, exec_store(&s->j, value, keep), {a, b, c}, keep};
}

static void check_use(const operand_set *s, const operand_use *u) {
    exec_diff d = {.what = clf_ops[u->op].id, .j = &s->j, .out = u->out};
    for (int64_t r = 0; r < s->j.rows; r++)
        for (int64_t c = 0; c < s->j.cols; c++) {
            clf_scalar in[3];
            oracle_result want;
            for (int i = 0; i < 3; i++) in[i] = operand_at(s, u->kind[i], r, c);
            oracle_op(u->op, s->t, in, &want);
            exec_compare(&d, place(s, u->keep, r, c), &want, in, clf_ops[u->op].arity);
        }
    exec_clean(&d);
}

/* Exact operators of two and three operands, each on the next kinds; half the results keep only the axes they vary with. */
static void check_operands(clf_dtype t, int64_t rows, int64_t cols, bool kernel) {
    operand_set s = {.t = t};
    operand_use use[CLF_NOPS + 2];
    int n = 0;
    make_operands(&s, t, rows, cols);
    s.j.no_kernel = !kernel;
    for (int o = 0; o < CLF_NOPS; o++) {
        if (clf_ops[o].arity < 2 || clf_ops[o].flags & F_ELEM || !oracle_op_cases(o, t, NULL, 0)) continue;
        use[n] = use_operands(&s, o, n % KINDS, (n * 3 + 1) % KINDS, (n * 5 + 2) % KINDS, n % 2);
        n++;
    }
    use[n++] = use_operands(&s, CLF_OP_IFELSE, PARAMETER_NAN, MATRIX, COLUMN, true);
    use[n++] = use_operands(&s, CLF_OP_IFELSE, ROW, POSITION_COL, MEMORY, false);
    exec_all(&s.j);
    for (int k = 0; k < n; k++) check_use(&s, &use[k]);
    exec_end(&s.j);
}

void exec_check_operands(void) {
    static const int64_t shape[][2] = {{37, 13}, {5, 300}, {1, 1}};
    for (int t = 0; t < CLF_NDTYPES; t++)
        for (int k = 0; k < 3; k++) check_operands((clf_dtype)t, shape[k][0], shape[k][1], t == CLF_F64 || t % 2 == k);
}
