/* SPDX-License-Identifier: Apache-2.0
 * Transposes. A tile of the operand is turned in registers, square by square, into a buffer of the first cache levels, in which the cells
 * of one row of the result lie together; from there they go out in runs of whole lines, past the caches where the result is large. So
 * memory sees long reads and long writes, whatever the shape, and power-of-two strides meet in no cache set.
 *
 * A tile is as square as the shape lets it be: of a tall operand it takes all columns of more rows, of a flat one the reverse. */
#include "host/run/callout.h"

#include <string.h>

enum { LINE = 64, VECTOR = 16, TILE_BYTES = 1 << 16 };

#if defined(__clang__) || __GNUC__ >= 12
#define PICK(T, a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define PICK(T, a, b, ...) __builtin_shuffle(a, b, (T){__VA_ARGS__})
#endif

typedef uint64_t words8 __attribute__((vector_size(VECTOR)));
typedef uint32_t words4 __attribute__((vector_size(VECTOR)));
typedef uint8_t words1 __attribute__((vector_size(VECTOR)));
#define LOW8(a, b) PICK(words8, a, b, 0, 2)
#define HIGH8(a, b) PICK(words8, a, b, 1, 3)
#define LOW4(a, b) PICK(words4, a, b, 0, 4, 1, 5)
#define HIGH4(a, b) PICK(words4, a, b, 2, 6, 3, 7)
#define LOW1(a, b) PICK(words1, a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)
#define HIGH1(a, b) PICK(words1, a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)

/* What a square is made of stays in registers. */
#define UNROLLED _Pragma("GCC unroll 16")

/* A square as wide as a vector: interleaving row k with the one half the square below turns the bits of a cell's place by one, and after
 * as many rounds as an index has bits rows have become columns. */
#define TURN(W, T) \
    enum { SIDE##W = VECTOR / W, BAND##W = LINE / W }; \
    static inline void square##W(const T *x, int64_t ldx, T *y, int64_t ldy) { \
        words##W v[2][SIDE##W]; \
        int now = 0; \
        UNROLLED for (int k = 0; k < SIDE##W; k++) memcpy(&v[0][k], x + k * ldx, VECTOR); \
        UNROLLED for (int round = 1; round < SIDE##W; round *= 2, now = !now) UNROLLED for (int64_t k = 0; k < SIDE##W / 2; k++) { \
            v[!now][2 * k] = LOW##W(v[now][k], v[now][k + SIDE##W / 2]); \
            v[!now][2 * k + 1] = HIGH##W(v[now][k], v[now][k + SIDE##W / 2]); \
        } \
        UNROLLED for (int k = 0; k < SIDE##W; k++) memcpy(y + k * ldy, &v[now][k], VECTOR); \
    } \
    static void cells##W(const T *x, int64_t ldx, T *y, int64_t ldy, int64_t rows, int64_t cols) { \
        for (int64_t j = 0; j < cols; j++) \
            for (int64_t i = 0; i < rows; i++) y[j * ldy + i] = x[i * ldx + j]; \
    } \
    /* Bands of as many rows as a line of y has cells. */ \
    static void turn##W(const void *from, int64_t ldx, void *to, int64_t ldy, int64_t rows, int64_t cols) { \
        const T *x = from; \
        T *y = to; \
        const int64_t squares = cols - cols % SIDE##W; \
        int64_t i = 0, n; \
        for (; (n = rows - i < BAND##W ? (rows - i) / SIDE##W * SIDE##W : BAND##W) > 0; i += n) { \
            for (int64_t j = 0; j < squares; j += SIDE##W) \
                for (int64_t k = i; k < i + n; k += SIDE##W) square##W(x + k * ldx + j, ldx, y + j * ldy + k, ldy); \
            cells##W(x + i * ldx + squares, ldx, y + squares * ldy + i, ldy, n, cols - squares); \
        } \
        cells##W(x + i * ldx, ldx, y + i, ldy, rows - i, cols); \
    }
TURN(8, uint64_t)
TURN(4, uint32_t)
TURN(1, uint8_t)

typedef struct turner {
    void (*turn)(const void *x, int64_t ldx, void *y, int64_t ldy, int64_t rows, int64_t cols);
    const char *x;
    char *y;
    size_t each;
    int64_t rows, cols;           /* of x */
    int64_t tile_rows, tile_cols; /* of a tile */
    int64_t down;                 /* tiles below each other */
    const clf_cell_table *past;
} turner;

static void turn_tile(const turner *t, int64_t i, int64_t j) {
    _Alignas(LINE) char buffer[TILE_BYTES];
    const int64_t m = t->rows - i < t->tile_rows ? t->rows - i : t->tile_rows, n = t->cols - j < t->tile_cols ? t->cols - j : t->tile_cols;
    const char *x = t->x + (size_t)(i * t->cols + j) * t->each;
    char *y = t->y + (size_t)(j * t->rows + i) * t->each;
    const size_t run = (size_t)m * t->each, step = (size_t)t->rows * t->each;
    if (!t->past) {
        t->turn(x, t->cols, y, t->rows, m, n);
        return;
    }
    t->turn(x, t->cols, buffer, m, m, n);
    if (m == t->rows)
        t->past->stream(run * (size_t)n, y, buffer);
    else
        for (int64_t k = 0; k < n; k++) t->past->stream(run, y + (size_t)k * step, buffer + (size_t)k * run);
}

static void turn_part(void *user, int64_t part, int worker) {
    (void)worker;
    const turner *t = user;
    turn_tile(t, part % t->down * t->tile_rows, part / t->down * t->tile_cols);
    if (t->past) t->past->fence();
}

static int64_t at_most(int64_t a, int64_t b) { return a < b ? a : b; }

clf_status clf_callout_transpose(const clf_host_call *h, clf_err *err) {
    const clf_gnode *x = clf_call_operand(h, 0);
    turner t = {.x = h->in[0], .y = h->out, .each = clf_node_each(x), .rows = clf_rows(x), .cols = clf_cols(x)};
    if (t.rows < 2 || t.cols < 2) return clf_callout_reshape(h, err);
    const int64_t cells = TILE_BYTES / (int64_t)t.each, line = LINE / (int64_t)t.each, side = t.each == 1 ? 256 : 128;
    t.turn = t.each == 8 ? turn8 : t.each == 4 ? turn4 : turn1;
    t.tile_cols = at_most(t.cols, t.rows < side ? cells / t.rows : side);
    t.tile_rows = t.rows < side ? t.rows : at_most(t.rows, cells / t.tile_cols / line * line);
    t.down = (t.rows - 1) / t.tile_rows + 1;
    t.past = clf_past_caches(clf_node_bytes(x));
    clf_parts_run(h->pool, t.down * ((t.cols - 1) / t.tile_cols + 1), turn_part, &t);
    return CLF_OK;
}
