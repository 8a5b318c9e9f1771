/* SPDX-License-Identifier: Apache-2.0
 * Loops over cells: one per operator and operator type, the text of ops.def as body, and the movers (casts, fills, gathers).
 * Compiled once per instruction set; see tile_isa.h for the contract and isa.cmake for the flags. Plain C throughout: the
 * compiler vectorises, and no flag allows it to change a bit. */
#include "host/run/tile_isa.h"
#include "host/run/tile_elem.h"
#if defined(__SSE2__)
#include <immintrin.h>
#endif
#include <string.h>

#define LOOP_NAME(ID) ELEM_PASTE4(loop_, ID, _, ELEM_T)
#define LOOP_READ1 E_T a = x[i];
#define LOOP_READ2 LOOP_READ1 E_T b = y[i];
#define LOOP_READ3 LOOP_READ2 E_T c = z[i];
#define LOOP_USE1 \
    (void)y; \
    (void)z;
#define LOOP_USE2 (void)z;
#define LOOP_USE3
#define LOOP(ID, arity, text) \
    static void LOOP_NAME(ID)(int64_t n, void *o, const void *pa, const void *pb, const void *pc) { \
        E_T *r = o; \
        const E_T *x = pa, *y = pb, *z = pc; \
        LOOP_USE##arity n = clf_tile_pad(n); \
        TILE_IVDEP for (int64_t i = 0; i < n; i++) { LOOP_READ##arity r[i] = text; } \
    }
/* Functions of reals exist for floats only. */
#define LOOP_FLOAT_FLOAT(ID, arity, text) LOOP(ID, arity, text)
#define LOOP_FLOAT_ARITH(ID, arity, text) LOOP(ID, arity, text)
#define LOOP_FLOAT_CMP(ID, arity, text) LOOP(ID, arity, text)
#define LOOP_FLOAT_SELECT(ID, arity, text) LOOP(ID, arity, text)
#define LOOP_FLOAT_FIRST(ID, arity, text) LOOP(ID, arity, text)
#define LOOP_INT_FLOAT(ID, arity, text)
#define LOOP_INT_ARITH(ID, arity, text) LOOP(ID, arity, text)
#define LOOP_INT_CMP(ID, arity, text) LOOP(ID, arity, text)
#define LOOP_INT_SELECT(ID, arity, text) LOOP(ID, arity, text)
#define LOOP_INT_FIRST(ID, arity, text) LOOP(ID, arity, text)

#define ELEM_T f32
#define CLF_OP(ID, name, arity, cl, flags, rule, shape, flops, grad, text) LOOP_FLOAT_##rule(ID, arity, (text))
#include "core/ops.def"
#undef ELEM_T
#define ELEM_T f64
#define CLF_OP(ID, name, arity, cl, flags, rule, shape, flops, grad, text) LOOP_FLOAT_##rule(ID, arity, (text))
#include "core/ops.def"
#undef ELEM_T
#define ELEM_T i32
#define CLF_OP(ID, name, arity, cl, flags, rule, shape, flops, grad, text) LOOP_INT_##rule(ID, arity, (text))
#include "core/ops.def"
#undef ELEM_T
#define ELEM_T i64
#define CLF_OP(ID, name, arity, cl, flags, rule, shape, flops, grad, text) LOOP_INT_##rule(ID, arity, (text))
#include "core/ops.def"
#undef ELEM_T
#define ELEM_T u8
#define CLF_OP(ID, name, arity, cl, flags, rule, shape, flops, grad, text) LOOP_INT_##rule(ID, arity, (text))
#include "core/ops.def"
#undef ELEM_T

#define CAST(from, to) \
    static void cast_##from##_##to(int64_t n, void *o, const void *a, const void *b, const void *c) { \
        ELEM_C_##to *r = o; \
        const ELEM_C_##from *x = a; \
        (void)b; \
        (void)c; \
        n = clf_tile_pad(n); \
        TILE_IVDEP for (int64_t i = 0; i < n; i++) r[i] = clf_cast_##from##_##to(x[i]); \
    }
#define CASTS(from) CAST(from, f32) CAST(from, f64) CAST(from, i32) CAST(from, i64) CAST(from, u8)
ELEM_TYPES(CASTS)

#define MOVERS(bits) \
    static void fill_##bits(int64_t n, void *o, const void *a) { \
        uint##bits##_t *r = o, v = *(const uint##bits##_t *)a; \
        n = clf_tile_pad(n); \
        for (int64_t i = 0; i < n; i++) r[i] = v; \
    } \
    static void gather_##bits(int64_t n, void *o, const void *a, int64_t stride) { \
        uint##bits##_t *r = o; \
        const uint##bits##_t *x = a; \
        TILE_IVDEP for (int64_t i = 0; i < n; i++) r[i] = x[i * stride]; \
    }
#define EXPAND(bits) \
    static void expand_##bits(int64_t rows, int64_t cols, void *o, const void *a) { \
        uint##bits##_t *r = o; \
        const uint##bits##_t *x = a; \
        for (int64_t i = 0; i < rows; i++, r += cols) { \
            uint##bits##_t v = x[i]; \
            for (int64_t j = 0; j < cols; j++) r[j] = v; \
        } \
    }
EXPAND(8)
EXPAND(32)
EXPAND(64)
MOVERS(8)
MOVERS(32)
MOVERS(64)

static void iota(int64_t n, int64_t *o, int64_t from) {
    n = clf_tile_pad(n);
    for (int64_t i = 0; i < n; i++) o[i] = from + i;
}

#if defined(__AVX512F__)
#define STREAM_T __m512i
#define STREAM_LOAD(p) _mm512_loadu_si512(p)
#define STREAM_STORE(p, v) _mm512_stream_si512((void *)(p), v)
#elif defined(__AVX2__)
#define STREAM_T __m256i
#define STREAM_LOAD(p) _mm256_loadu_si256((const __m256i *)(p))
#define STREAM_STORE(p, v) _mm256_stream_si256((__m256i *)(p), v)
#elif defined(__SSE2__)
#define STREAM_T __m128i
#define STREAM_LOAD(p) _mm_loadu_si128((const __m128i *)(p))
#define STREAM_STORE(p, v) _mm_stream_si128((__m128i *)(p), v)
#endif
static void stream(size_t bytes, void *o, const void *a) {
    size_t i = 0;
#if defined(STREAM_T)
    char *r = o;
    const char *x = a;
    size_t head = (size_t)(-(uintptr_t)r & 63);
    i = head < bytes ? head : bytes;
    memcpy(r, x, i);
    for (; i + sizeof(STREAM_T) <= bytes; i += sizeof(STREAM_T)) STREAM_STORE(r + i, STREAM_LOAD(x + i));
#endif
    memcpy((char *)o + i, (const char *)a + i, bytes - i);
}

static void fence(void) {
#if defined(STREAM_T)
    _mm_sfence();
#endif
}

#define HAS_FLOAT(ID, T) NULL
#define HAS_ARITH(ID, T) loop_##ID##_##T
#define HAS_CMP(ID, T) loop_##ID##_##T
#define HAS_SELECT(ID, T) loop_##ID##_##T
#define HAS_FIRST(ID, T) loop_##ID##_##T
#define CAST_ROW(from) {cast_##from##_f32, cast_##from##_f64, cast_##from##_i32, cast_##from##_i64, cast_##from##_u8},

extern const clf_cell_table TILE_SYMBOL(cell_table);
const clf_cell_table TILE_SYMBOL(cell_table) = {
    .op =
        {
#define CLF_OP(ID, name, arity, cl, flags, rule, shape, flops, grad, text) \
    {loop_##ID##_f32, loop_##ID##_f64, HAS_##rule(ID, i32), HAS_##rule(ID, i64), HAS_##rule(ID, u8)},
#include "core/ops.def"
        },
    .cast = {ELEM_TYPES(CAST_ROW)},
    .fill = {fill_8, NULL, fill_32, fill_64},
    .gather = {gather_8, NULL, gather_32, gather_64},
    .expand = {expand_8, NULL, expand_32, expand_64},
    .iota = iota,
    .stream = stream,
    .fence = fence,
};
