/* SPDX-License-Identifier: Apache-2.0
 * Sorting rows by a column: numbers become keys that sort as unsigned integers, the keys are sorted with the numbers of their rows
 * (sort.h), then rows are put where they belong.
 *
 * Both zeros have one key. NaN has the greatest one in both directions, whatever its bits; so decreasing order complements the keys of
 * numbers only, and stays stable. */
#include "host/run/callout.h"

#include <string.h>

enum { PART_ROWS = 1 << 13 };

typedef struct keying {
    const void *x;
    clf_keyed *a;
    int64_t rows, cols, by;
    bool down;
    void (*keys)(const struct keying *k, int64_t from, int64_t to);
    int64_t *out; /* of row numbers */
} keying;

/* U: as wide as T, without sign. key: of the bits b of number v, ascending. */
#define KEYS(T, U, key) \
    static void keys_##T(const keying *k, int64_t from, int64_t to) { \
        const T *x = (const T *)k->x + k->by; \
        const U flip = k->down ? (U) ~(U)0 : 0; \
        for (int64_t i = from; i < to; i++) { \
            const T v = x[i * k->cols]; \
            U b; \
            memcpy(&b, &v, sizeof b); \
            k->a[i] = (clf_keyed){v == v ? (U)((key) ^ flip) : (U) ~(U)0, i}; \
        } \
    }
#define TOP(U) ((U)1 << (8 * sizeof(U) - 1))
#define FLOAT_KEY(U) v == 0 ? TOP(U) : b &TOP(U) ? ~b : b | TOP(U)
KEYS(float, uint32_t, FLOAT_KEY(uint32_t))
KEYS(double, uint64_t, FLOAT_KEY(uint64_t))
KEYS(int32_t, uint32_t, b ^ TOP(uint32_t))
KEYS(int64_t, uint64_t, b ^ TOP(uint64_t))
KEYS(uint8_t, uint8_t, b)

static void make_keys(void *user, int64_t part, int worker) {
    (void)worker;
    const keying *k = user;
    const int64_t from = part * PART_ROWS, left = k->rows - from;
    k->keys(k, from, from + (left < PART_ROWS ? left : PART_ROWS));
}

static void tell_rows(void *user, int64_t part, int worker) {
    (void)worker;
    const keying *k = user;
    const int64_t from = part * PART_ROWS, to = k->rows - from < PART_ROWS ? k->rows : from + PART_ROWS;
    for (int64_t i = from; i < to; i++) k->out[i] = k->a[i].row + 1;
}

static void put_rows(const clf_host_call *h, const keying *k) {
    const size_t row = (size_t)k->cols * clf_node_each(h->node);
    clf_move(h, (size_t)k->rows, (clf_stretch[2]){{.from = k->x, .step = (ptrdiff_t)row, .bytes = row, .order = k->a}});
}

clf_status clf_callout_order(const clf_host_call *h, clf_err *err) {
    static void (*const keys[CLF_NDTYPES])(const keying *k, int64_t from, int64_t to) = {
        [CLF_F32] = keys_float, [CLF_F64] = keys_double, [CLF_I32] = keys_int32_t, [CLF_I64] = keys_int64_t, [CLF_U8] = keys_uint8_t};
    const clf_gnode *x = clf_call_operand(h, 0);
    keying k = {
        .x = h->in[0], .rows = clf_rows(x), .cols = clf_cols(x), .by = h->node->attr[0], .down = h->node->attr[1] != 0, .out = h->out};
    const int64_t parts = (k.rows + PART_ROWS - 1) / PART_ROWS;
    size_t bytes;
    k.keys = keys[x->dtype];
    k.a = clf_mul_ok((size_t)k.rows, sizeof *k.a, &bytes) ? clf_mem_room(h->mem, bytes) : NULL;
    bool done = k.a != NULL;
    if (done) clf_parts_run(h->pool, parts, make_keys, &k);
    done = done && clf_sort(k.a, k.rows, h->pool, h->mem);
    if (done && h->node->attr[2])
        clf_parts_run(h->pool, parts, tell_rows, &k);
    else if (done)
        put_rows(h, &k);
    if (k.a) clf_mem_free(h->mem, k.a, bytes, 1);
    return done ? CLF_OK : clf_fail(err, CLF_E_NOMEM, "order: out of memory for %lld rows", (long long)k.rows);
}
