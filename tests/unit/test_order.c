/* SPDX-License-Identifier: Apache-2.0
 * Sorting against a plain stable sort of our own: every type, both directions, ties, NaN, zeros of both signs, infinities, keys that are
 * close together and far apart, sizes around the sort's borders, any threads, memory that runs out. */
#include <math.h>

#include "tests/unit/callout_testing.h"

typedef struct item {
    double f;
    int64_t i, row;
} item;
static bool real, down;

/* What comes first of two rows; the earlier one where neither does. */
static int compare(const void *p, const void *q) {
    const item *a = p, *b = q;
    int c;
    if (real && (isnan(a->f) || isnan(b->f)))
        c = !!isnan(a->f) - !!isnan(b->f);
    else if (real)
        c = ((a->f > b->f) - (a->f < b->f)) * (down ? -1 : 1);
    else
        c = ((a->i > b->i) - (a->i < b->i)) * (down ? -1 : 1);
    return c ? c : (a->row > b->row) - (a->row < b->row);
}

static item item_of(clf_dtype t, const void *x, int64_t at, int64_t row) {
    item v = {0, 0, row};
    switch (t) {
    case CLF_F32: v.f = ((const float *)x)[at]; break;
    case CLF_F64: v.f = ((const double *)x)[at]; break;
    case CLF_I32: v.i = ((const int32_t *)x)[at]; break;
    case CLF_I64: v.i = ((const int64_t *)x)[at]; break;
    default: v.i = ((const uint8_t *)x)[at];
    }
    return v;
}

static void want_order(const host_step *s, char *want) {
    const int64_t n = s->in[0].rows, cols = s->in[0].cols;
    const size_t row = (size_t)cols * clf_dtype_bytes(s->type);
    item *all = malloc((size_t)n * sizeof *all + 1);
    CU_ASSERT_PTR_NOT_NULL_FATAL(all);
    real = clf_dtype_float(s->type);
    down = s->attr[1] != 0;
    for (int64_t i = 0; i < n; i++) all[i] = item_of(s->type, s->x[0], i * cols + s->attr[0], i);
    qsort(all, (size_t)n, sizeof *all, compare);
    for (int64_t i = 0; i < n; i++)
        if (s->attr[2])
            ((int64_t *)(void *)want)[i] = all[i].row + 1;
        else
            memcpy(want + (size_t)i * row, (const char *)s->x[0] + (size_t)all[i].row * row, row);
    free(all);
}

/* Both directions; rows, and their numbers. */
static void check_order(clf_dtype t, const void *x, shape in, int64_t by) {
    for (int way = 0; way < 4; way++) {
        host_step s = {.op = CLF_OP_ORDER, .type = t, .operands = 1, .attr = {by, way & 1, way >> 1}, .in = {in}, .x = {x}};
        s.result = way >> 1 ? CLF_I64 : t;
        s.out = way >> 1 ? (shape){in.rows, 1} : in;
        char *want = watched_new(step_bytes(s.result, s.out), 0);
        want_order(&s, want);
        expect_step(&s, want);
        watched_free(want, step_bytes(s.result, s.out), 0);
    }
}

enum { SPREAD, TIES, SAME, UP, DOWNWARDS, SPECIAL, FAR_APART, CLOSE, OUTLIER, KINDS };

static double number(int kind, int64_t i, int64_t n, uint64_t *seed) {
    static const double special[] = {NAN, -NAN, INFINITY, -INFINITY, 0.0, -0.0, 5e-324, -5e-324, 1e-310, 1, -1, 1.7976931348623157e308};
    const uint64_t r = next_random(seed);
    const double u = (double)(r >> 12) * 0x1p-52;
    switch (kind) {
    case SPREAD: return 2000 * (u - 0.5);
    case TIES: return (double)(r >> 40 & 7) - 3;
    case SAME: return 4.25;
    case UP: return (double)i;
    case DOWNWARDS: return (double)(n - i);
    case SPECIAL: return r >> 33 & 1 ? special[(r >> 34) % 12] : u - 0.5;
    case FAR_APART: return ldexp(r >> 33 & 1 ? 1 : -1, (int)(r >> 34 & 2047) - 1023); /* every level of buckets finds some */
    case CLOSE: return 1 + (double)(r >> 56) * 0x1p-52;
    default: return i == n / 2 ? 1e300 : u;
    }
}

/* Of floats the number, NaN with bits of its own; of integers some that a number of that kind gives. */
static void put_number(clf_dtype t, void *x, int64_t i, double v) {
    const uint64_t nan = UINT64_C(0x7ff8000000000000) | (uint64_t)i | (signbit(v) ? UINT64_C(1) << 63 : 0);
    const double some = isnan(v) ? 7 : v > 1e9 ? 1e9 : v < -1e9 ? -1e9 : v;
    switch (t) {
    case CLF_F32: ((float *)x)[i] = (float)v; break;
    case CLF_F64: ((double *)x)[i] = v; break;
    case CLF_I32: ((int32_t *)x)[i] = (int32_t)(some * (fabs(some) < 1e4 ? 2e5 : 1)); break;
    case CLF_I64: ((int64_t *)x)[i] = (int64_t)(some * (fabs(some) < 1e4 ? 9e14 : 1)); break;
    default: ((uint8_t *)x)[i] = (uint8_t)(int64_t)some;
    }
    if (t == CLF_F64 && isnan(v)) memcpy((double *)x + i, &nan, sizeof nan);
}

static void check_kind(clf_dtype t, int kind, shape s, int64_t by) {
    const int64_t n = s.rows * s.cols;
    uint64_t seed = 5 + (uint64_t)kind;
    char *x = watched_new(step_bytes(t, s), 0);
    for (int64_t i = 0; i < n; i++) put_number(t, x, i, number(kind, i, n, &seed));
    check_order(t, x, s, by);
    watched_free(x, step_bytes(t, s), 0);
}

static void test_kinds(void) {
    static const int64_t sizes[] = {1, 2, 3, 23, 24, 25, 26, 100, 1000, 32767, 32768, 32769, 70000};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        for (int t = 0; t < CLF_NDTYPES; t++)
            for (int kind = 0; kind < KINDS; kind++)
                if (sizes[k] < 2000 || (kind + t) % 3 == (int)(k % 3)) check_kind((clf_dtype)t, kind, (shape){sizes[k], 1}, 0);
}

static void test_large(void) {
    for (int kind = 0; kind < KINDS; kind++) check_kind(CLF_F64, kind, (shape){100000, 1}, 0);
    check_kind(CLF_F32, SPECIAL, (shape){150001, 1}, 0);
    check_kind(CLF_I32, SPREAD, (shape){150001, 1}, 0);
    check_kind(CLF_U8, SPREAD, (shape){150001, 1}, 0);
}

/* Rows move as a whole: narrow ones, ones longer than a piece, results past the caches. */
static void test_rows(void) {
    for (int64_t by = 0; by < 3; by++) check_kind(CLF_F64, TIES, (shape){1000, 3}, by);
    check_kind(CLF_U8, SPREAD, (shape){5000, 7}, 6);
    check_kind(CLF_F32, SPREAD, (shape){3, 100000}, 77777);
    check_kind(CLF_F64, SPREAD, (shape){23000, 100}, 99);
    check_kind(CLF_I64, TIES, (shape){11, 200003}, 200002);
}

/* Every allocation may fail: the error says so, and nothing stays. */
static void test_memory(void) {
    static const int64_t rows[] = {10, 1000, 100000};
    static const int asked[] = {1, 2, 4};
    for (int k = 0; k < 3; k++) {
        char *x = watched_new((size_t)rows[k] * 8, 0), *out = watched_new((size_t)rows[k] * 8, 0);
        uint64_t seed = 1;
        for (int64_t i = 0; i < rows[k]; i++) put_number(CLF_F64, x, i, number(SPREAD, i, rows[k], &seed));
        const host_step s = {
            .op = CLF_OP_ORDER, .type = CLF_F64, .result = CLF_F64, .operands = 1, .in = {{rows[k], 1}}, .out = {rows[k], 1}, .x = {x}};
        clf_status st = CLF_E_NOMEM;
        int refused = 0;
        for (; st != CLF_OK && refused < 10; refused++) {
            counting_heap heap = heap_of(refused);
            clf_mem mem;
            clf_mem_init(&mem, counting_alloc, &heap);
            st = run_step(&s, NULL, &mem, out);
            CU_ASSERT(st == CLF_OK || st == CLF_E_NOMEM);
            CU_ASSERT(heap.live == 0 && heap.blocks == 0 && mem.now_bytes == 0);
        }
        CU_ASSERT(st == CLF_OK && refused == asked[k] + 1);
        watched_free(out, (size_t)rows[k] * 8, 0);
        watched_free(x, (size_t)rows[k] * 8, 0);
    }
}

int main(void) {
    static const test_case tests[] = {
        {"kinds of numbers", test_kinds}, {"many rows", test_large}, {"whole rows", test_rows}, {"memory runs out", test_memory}};
    return run_suite("order", tests, sizeof tests / sizeof *tests);
}
