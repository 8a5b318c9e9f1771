/* SPDX-License-Identifier: Apache-2.0
 * Host steps that move cells, and cumulation: shapes around the borders of squares, bands, tiles and pieces, tall, flat and square, in
 * caches and past them, every type, any threads. */
#include <math.h>

#include "tests/unit/callout_testing.h"

static const clf_dtype types[] = {CLF_F32, CLF_F64, CLF_I32, CLF_I64, CLF_U8};
enum { TYPES = sizeof types / sizeof *types };

/* Sizes in cells of 8 bytes: of narrower types there are as many more columns or rows, for as many bytes. */
static const shape shapes[] = {{1, 1},      {1, 7},      {7, 1},       {2, 2},      {3, 5},       {8, 8},       {9, 7},
                               {15, 17},    {16, 64},    {17, 65},     {63, 65},    {64, 64},     {65, 63},     {100, 33},
                               {127, 257},  {129, 255},  {1, 40000},   {40000, 1},  {3, 12345},   {12345, 3},   {10, 5001},
                               {5001, 10},  {512, 256},  {1000, 1001}, {31, 10007}, {10007, 31},  {2048, 1100}, {1501, 1500},
                               {250001, 9}, {9, 250001}, {70, 31000},  {31000, 70}, {1, 2200000}, {2200000, 1}, {3, 800000}};
enum { SHAPES = sizeof shapes / sizeof *shapes, SMALL = 26 };

/* Large ones with one type each: bytes are moved, and integers of a width as floats of that width. */
static bool both(int shape_number, int t) { return shape_number < SMALL || (shape_number + t) % TYPES == 0; }

static char *bytes_new(size_t bytes, uint64_t seed) {
    char *x = watched_new(bytes, 0);
    for (size_t i = 0; i < bytes; i++) x[i] = (char)(next_random(&seed) >> 40);
    return x;
}

static void move_cell(char *to, int64_t k, const char *from, int64_t i, size_t each) {
    memcpy(to + (size_t)k * each, from + (size_t)i * each, each);
}

/* What row and column of the operands, which stand side by side or below each other, cell (i, j) of the result is. */
static void want_moved(const host_step *s, char *want) {
    const size_t each = clf_dtype_bytes(s->type);
    const int64_t n = s->in[0].rows, m = s->in[0].cols, rows = s->out.rows, cols = s->out.cols;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++) {
            const bool second = s->op == CLF_OP_CBIND ? j >= m : s->op == CLF_OP_RBIND && i >= n;
            int64_t from = s->op == CLF_OP_TRANSPOSE ? j * m + i : s->op == CLF_OP_REV ? (rows - 1 - i) * cols + j : i * cols + j;
            if (s->op == CLF_OP_CBIND) from = second ? i * s->in[1].cols + (j - m) : i * m + j;
            if (s->op == CLF_OP_RBIND && second) from = (i - n) * cols + j;
            move_cell(want, i * cols + j, s->x[second], from, each);
        }
}

static void check_moved(host_step *s) {
    char *x[2];
    char *want = watched_new(step_bytes(s->type, s->out), 0);
    for (int k = 0; k < 2; k++) s->x[k] = x[k] = bytes_new(step_bytes(s->type, s->in[k]), 7 + (uint64_t)k);
    s->result = s->type;
    want_moved(s, want);
    expect_step(s, want);
    watched_free(want, step_bytes(s->type, s->out), 0);
    for (int k = 0; k < 2; k++) watched_free(x[k], step_bytes(s->type, s->in[k]), 0);
}

static shape turned(shape s) { return (shape){s.cols, s.rows}; }

static void test_transpose(void) {
    for (int t = 0; t < TYPES; t++)
        for (int k = 0; k < SHAPES; k++)
            if (both(k, t))
                check_moved(
                    &(host_step){.op = CLF_OP_TRANSPOSE, .type = types[t], .operands = 1, .in = {shapes[k]}, .out = turned(shapes[k])});
    static const struct {
        clf_dtype type;
        shape in;
    } large[] = {{CLF_F64, {2048, 1100}}, {CLF_F64, {1501, 1500}}, {CLF_F64, {31000, 70}}, {CLF_F64, {70, 31000}},
                 {CLF_F32, {2048, 2100}}, {CLF_F32, {430001, 10}}, {CLF_U8, {4200, 4097}}, {CLF_U8, {10, 1700000}}};
    for (size_t k = 0; k < sizeof large / sizeof *large; k++)
        check_moved(
            &(host_step){.op = CLF_OP_TRANSPOSE, .type = large[k].type, .operands = 1, .in = {large[k].in}, .out = turned(large[k].in)});
}

static void test_reshape_and_rev(void) {
    for (int t = 0; t < TYPES; t++)
        for (int k = 0; k < SHAPES; k++) {
            if (!both(k, t)) continue;
            check_moved(&(host_step){.op = CLF_OP_REV, .type = types[t], .operands = 1, .in = {shapes[k]}, .out = shapes[k]});
            check_moved(&(host_step){.op = CLF_OP_RESHAPE, .type = types[t], .operands = 1, .in = {shapes[k]}, .out = turned(shapes[k])});
        }
}

/* Beside as many columns, beside one, beside none. */
static void test_bind(void) {
    for (int t = 0; t < TYPES; t++)
        for (int k = 0; k < SHAPES; k++) {
            const shape s = shapes[k];
            if (!both(k, t)) continue;
            const int64_t other[] = {s.cols, 1, 0, 5};
            for (int o = k < SMALL ? 0 : 1; o < (k < SMALL ? 4 : 2); o++)
                for (int first = 0; first < 2; first++) {
                    shape a = {s.rows, first ? other[o] : s.cols}, b = {s.rows, first ? s.cols : other[o]};
                    check_moved(
                        &(host_step){.op = CLF_OP_CBIND, .type = types[t], .operands = 2, .in = {a, b}, .out = {s.rows, a.cols + b.cols}});
                }
            for (int64_t below = k < SMALL ? 0 : 2; below < 3; below++)
                check_moved(&(host_step){
                    .op = CLF_OP_RBIND, .type = types[t], .operands = 2, .in = {s, {below, s.cols}}, .out = {s.rows + below, s.cols}});
        }
}

/* Nothing to move. */
static void test_nothing(void) {
    static const int ops[] = {CLF_OP_TRANSPOSE, CLF_OP_REV, CLF_OP_RESHAPE, CLF_OP_CUM, CLF_OP_ORDER};
    for (size_t k = 0; k < sizeof ops / sizeof *ops; k++) {
        check_moved(&(host_step){.op = ops[k], .type = CLF_F64, .operands = 1, .in = {{0, 3}}, .out = {0, 3}});
        if (ops[k] != CLF_OP_ORDER) check_moved(&(host_step){.op = ops[k], .type = CLF_F64, .operands = 1, .in = {{3, 0}}, .out = {3, 0}});
    }
}

/* ---- cumulation: one column, or row, after the other ---- */

/* min and max keep the first NaN they meet; the words of folds.def. */
#define NEXT(f, s, v) \
    ((f) == CLF_FOLD_SUM                                           ? (s) + (v) \
     : (f) == CLF_FOLD_PROD                                        ? (s) * (v) \
     : (s) != (s) || ((f) == CLF_FOLD_MIN ? (s) < (v) : (s) > (v)) ? (s) \
                                                                   : (v))
#define CUMULATE(T, W) \
    static void cumulate_##T(int f, const void *from, void *to, int64_t n, int64_t step) { \
        const T *x = from; \
        T *y = to; \
        W s = f == CLF_FOLD_SUM ? (W)((W)0 + (W)x[0]) : (W)x[0]; \
        y[0] = (T)s; \
        for (int64_t i = 1; i < n; i++) { \
            s = f == CLF_FOLD_MIN || f == CLF_FOLD_MAX ? (W)(T)NEXT(f, (T)s, x[i * step]) : (W)(T)NEXT(f, s, (W)x[i * step]); \
            y[i * step] = (T)s; \
        } \
    }
CUMULATE(float, float)
CUMULATE(double, double)
CUMULATE(int32_t, uint32_t)
CUMULATE(int64_t, uint64_t)
CUMULATE(uint8_t, uint32_t)

static void want_cumulated(const host_step *s, char *want) {
    static void (*const by_type[])(int, const void *, void *, int64_t, int64_t) = {[CLF_F32] = cumulate_float,
                                                                                   [CLF_F64] = cumulate_double,
                                                                                   [CLF_I32] = cumulate_int32_t,
                                                                                   [CLF_I64] = cumulate_int64_t,
                                                                                   [CLF_U8] = cumulate_uint8_t};
    const bool along = s->attr[1] == CLF_WAY_ROWS;
    const size_t each = clf_dtype_bytes(s->type);
    const int64_t lines = along ? s->out.rows : s->out.cols;
    for (int64_t k = 0; k < lines; k++) {
        size_t at = (size_t)(along ? k * s->out.cols : k) * each;
        by_type[s->type]((int)s->attr[0], (const char *)s->x[0] + at, want + at, along ? s->out.cols : s->out.rows,
                         along ? 1 : s->out.cols);
    }
}

/* Numbers near one, so that products stay some; zeros of both signs. */
static void small_numbers(clf_dtype t, char *x, size_t n) {
    uint64_t seed = 3;
    for (size_t i = 0; i < n; i++) {
        const double v = (double)(next_random(&seed) >> 44) / (1 << 19), some = v < 0.01 ? -0.0 : v;
        if (t == CLF_F32) ((float *)(void *)x)[i] = (float)some;
        if (t == CLF_F64) ((double *)(void *)x)[i] = some;
    }
}

static void test_cum(void) {
    static const int folds[] = {CLF_FOLD_SUM, CLF_FOLD_PROD, CLF_FOLD_MIN, CLF_FOLD_MAX};
    for (int k = 0; k < SHAPES; k++)
        for (int t = 0; t < TYPES; t++) {
            if (!both(k, t)) continue;
            const size_t bytes = step_bytes(types[t], shapes[k]);
            char *x = bytes_new(bytes, 11), *want = watched_new(bytes, 0);
            if (clf_dtype_float(types[t])) small_numbers(types[t], x, (size_t)(shapes[k].rows * shapes[k].cols));
            for (int f = 0; f < 4; f++)
                for (int way = 0; way < 2; way++) {
                    if (k >= SMALL && f != k % 4) continue;
                    host_step s = {.op = CLF_OP_CUM,
                                   .type = types[t],
                                   .result = types[t],
                                   .operands = 1,
                                   .in = {shapes[k]},
                                   .out = shapes[k],
                                   .x = {x}};
                    s.attr[0] = folds[f];
                    s.attr[1] = way ? CLF_WAY_ROWS : CLF_WAY_COLS;
                    want_cumulated(&s, want);
                    expect_step(&s, want);
                }
            watched_free(want, bytes, 0);
            watched_free(x, bytes, 0);
        }
}

int main(void) {
    static const test_case tests[] = {{"transposes", test_transpose},
                                      {"reshape and rev", test_reshape_and_rev},
                                      {"columns and rows put together", test_bind},
                                      {"no cells", test_nothing},
                                      {"cumulation", test_cum}};
    return run_suite("moves", tests, sizeof tests / sizeof *tests);
}
