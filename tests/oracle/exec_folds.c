/* SPDX-License-Identifier: Apache-2.0
 * Every fold, value type, direction and shape on all executors, against the definitions of the fold oracle; and the same bits on all of
 * them, which for inexact numbers only the fixed reduction tree gives. */
#include <math.h>
#include <stdlib.h>

#include "core/fold.h"
#include "tests/oracle/exec_check.h"
#include "tests/oracle/folds_oracle.h"

/* What the values are; integers have those before NOISE. All but NOISE and EXTREMES (its means) make every step of every executor exact. */
typedef enum flavour { SMALL, SIGNS, EXTREMES, NOISE, INFS, NANS, ZEROS, FLAVOURS } flavour;
enum { CHAIN = 64 }; /* CHAIN: no lane of these shapes takes more values */

static double small(uint64_t r) { return r % 6 == 0 ? 0 : (double)(int64_t)(r % 17) - 8; }
static double f_small(uint64_t *seed) { return small(exec_random(seed)); }
static double f_signs(uint64_t *seed) { /* products stay small: a few twos and threes */
    uint64_t r = exec_random(seed);
    return r % 1000 == 0 ? 2 : r % 1000 == 1 ? 3 : r & 1024 ? 1 : -1;
}
static double f_noise(uint64_t *seed) { return (double)(int64_t)exec_random(seed) * 0x1p-63; }
static double f_infs(uint64_t *seed) {
    uint64_t r = exec_random(seed);
    return r % 50 == 0 ? INFINITY : r % 50 == 1 ? -INFINITY : r % 50 < 7 ? -0.0 : small(r / 50);
}
static double f_nans(uint64_t *seed) {
    uint64_t r = exec_random(seed);
    return r % 40 == 0 ? NAN : small(r / 40);
}
static double f_zeros(uint64_t *seed) { return exec_random(seed) & 1 ? -0.0 : 0.0; }

static clf_scalar draw(flavour f, clf_dtype t, uint64_t *seed) {
    static double (*const real[FLAVOURS])(uint64_t *) = {f_small, f_signs, NULL, f_noise, f_infs, f_nans, f_zeros};
    static const int64_t extreme[] = {INT64_MAX, INT64_MIN, INT32_MAX, INT32_MIN, 0, 1, -1, 255};
    if (f == EXTREMES) return oracle_cast(clf_scalar_i64(extreme[exec_random(seed) % 8]), t);
    double x = real[f](seed);
    return oracle_cast(clf_scalar_f64(t == CLF_U8 ? fabs(x) : x), t);
}

static bool has_flavour(flavour f, clf_dtype t) { return clf_dtype_float(t) ? f != EXTREMES : f < NOISE; }

/* ---- one result ---------------------------------------------------------------------------------------------------------- */

/* Values that one result folds: a stride through the matrix. */
typedef struct run {
    int64_t first, n, stride;
} run;

static run run_of(const exec_job *j, unsigned keep, int64_t k) {
    if (keep == EXEC_ROWS) return (run){k * j->cols, j->cols, 1};
    if (keep == EXEC_COLS) return (run){k, j->rows, j->cols};
    return (run){0, j->rows * j->cols, 1};
}

/* Products are exact when a zero or no number takes part, or while they are small. */
static bool product_exact(const clf_scalar *v, int64_t n) {
    long double p = 1;
    for (int64_t i = 0; i < n; i++) p *= v[i].u.f;
    return p == 0 || !isfinite(p) || fabsl(p) <= 0x1p24L;
}

static bool is_exact(clf_fold_id f, flavour kind, clf_dtype t, const clf_scalar *v, int64_t n) {
    if (!clf_dtype_float(t)) return true;
    return kind != NOISE && kind != EXTREMES && (f != CLF_FOLD_PROD || product_exact(v, n));
}

static void check_result(const exec_job *j, clf_dtype t, flavour kind, unsigned keep, clf_fold_id f, int out) {
    exec_diff d = {.what = clf_folds[f].id, .j = j, .out = out};
    clf_dtype value = clf_fold_value_type(f, t);
    clf_scalar *v = malloc(((size_t)(j->rows * j->cols) + 1) * sizeof *v);
    for (int64_t k = 0; k < exec_count(j, keep); k++) {
        oracle_result want;
        run r = run_of(j, keep, k);
        for (int64_t i = 0; i < r.n; i++) v[i] = oracle_cast(clf_scalar_load(j->in[0], (size_t)(r.first + i * r.stride), t), value);
        oracle_fold(f, value, v, (size_t)r.n, CHAIN, is_exact(f, kind, value, v, r.n), &want);
        exec_compare(&d, k, &want, NULL, 0);
    }
    exec_clean(&d);
    exec_same_bits(j, out, clf_folds[f].id);
    free(v);
}

/* ---- one matrix ---------------------------------------------------------------------------------------------------------- */

typedef struct fold_case {
    clf_dtype t;
    int64_t rows, cols;
    unsigned keep;
    flavour kind;
    bool kernel;
} fold_case;

static bool has_position(int f) { return f == CLF_FOLD_ARGMIN || f == CLF_FOLD_ARGMAX; }

/* The folds with positions, those without, or both: of narrow column folds the kernels differ. */
static void check_folds(const fold_case *c, bool with, bool without) {
    exec_job j;
    uint64_t seed = (uint64_t)(c->rows * 1000 + c->cols) * FLAVOURS + c->kind;
    int out[CLF_NFOLDS];
    exec_begin(&j, c->rows, c->cols);
    j.no_kernel = !c->kernel;
    exec_in x = exec_input(&j, c->t, EXEC_CELLS);
    for (int64_t k = 0; k < c->rows * c->cols; k++) clf_scalar_store(x.mem, (size_t)k, draw(c->kind, c->t, &seed));
    for (int f = 0; f < CLF_NFOLDS; f++) out[f] = (has_position(f) ? with : without) ? exec_fold(&j, (clf_fold_id)f, x.value, c->keep) : -1;
    exec_all(&j);
    for (int f = 0; f < CLF_NFOLDS; f++)
        if (out[f] >= 0) check_result(&j, c->t, c->kind, c->keep, (clf_fold_id)f, out[f]);
    exec_end(&j);
}

static void check_shape(clf_dtype t, int64_t rows, int64_t cols, unsigned keep, bool kernel) {
    bool apart = keep == EXEC_COLS && cols <= 128 && rows > 1;
    for (int kind = 0; kind < FLAVOURS; kind++) {
        if (!has_flavour((flavour)kind, t)) continue;
        fold_case c = {t, rows, cols, keep, (flavour)kind, kernel};
        check_folds(&c, true, !apart);
        if (apart) check_folds(&c, false, true);
    }
}

/* Kernels of row and column folds differ from shape to shape and take long to build: f64 has most of them, other types a narrow or a wide
 * matrix. */
static bool has_kernel(clf_dtype t, int64_t rows, int64_t cols, unsigned keep) {
    if (keep == EXEC_SCALAR) return true;
    if (t == CLF_F64) return cols == 3 || cols == 7 || cols == 10 || cols == 1000;
    bool wide = (t == CLF_F32 || t == CLF_I64) == (keep == EXEC_ROWS);
    return wide ? cols == 1000 : rows == 65;
}

static void check_direction(unsigned keep) {
    static const int64_t shape[][2] = {{0, 3}, {1, 1}, {7, 1}, {1, 7}, {65, 3}, {513, 2}, {3, 1000}, {40, 129}, {1030, 10}};
    for (int t = 0; t < CLF_NDTYPES; t++)
        for (size_t k = 0; k < sizeof shape / sizeof *shape; k++) {
            int64_t rows = shape[k][0], cols = shape[k][1];
            check_shape((clf_dtype)t, rows, cols, keep, has_kernel((clf_dtype)t, rows, cols, keep));
        }
}

void exec_check_full_folds(void) { check_direction(EXEC_SCALAR); }
void exec_check_row_folds(void) { check_direction(EXEC_ROWS); }
void exec_check_col_folds(void) { check_direction(EXEC_COLS); }
