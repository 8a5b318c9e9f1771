/* SPDX-License-Identifier: Apache-2.0
 * The lanes of a DOT as one vector, for rows_loops.h: 8 of an element type, 16 of f32. Only what inner products need, since the
 * compiler does not keep a step with fma and a partial last group in registers by itself.
 *
 * v_step_T(a, b, s, skip): s = fma(a, b, s) lane by lane, save where a zero annihilates (skip: bit 0 for a, bit 1 for b).
 * v_stepn_T: the first n lanes only. v_sum_T: lanes widened and added pairwise, lane i and i + half; v_sum4_T: of four at once.
 * v_loadn_T reads n elements.
 * v_gather_T: elements at idx[0 ..] * stride.
 * Where a lane is a row: v_wide_T is a widened sum of each, v_meet_T adds two vectors to one, v_join_T two of them, v_narrow_T goes back.
 * v_turn4_T transposes four lines of four cells, of which n are read and the others become zeros; lines are ldf and ldt elements apart.
 *
 * Where a vector is a pair of registers a, b (AVX2), v_hvec_T is one of them: v_hload_T, v_hstore_T and, of the lanes in a v_hmask_T that
 * v_hfirst_T gives for the first n, 1 or more, v_hloadm_T (others are `rest`) and v_hstorem_T. v_half_T is a step of it, v_hgather_T and
 * v_hscatter_T read and write cells that lie at idx[0 ..]. */
#ifndef CLF_RUN_ROWS_VEC_H
#define CLF_RUN_ROWS_VEC_H
#include "host/run/tile_elem.h"
#if defined(__AVX2__) && !defined(CLF_ARITH_PRIME)
#include <immintrin.h>
#endif
#include <math.h>
#include <string.h>

#define V_LANES_f32 16
#define V_LANES_f64 8
#define V_LANES_i32 8
#define V_LANES_i64 8
#define V_LANES_u8 8
#define V_NAME(what, T) v_##what##_##T

/* One lane of a step. */
#define V_SCALAR(T) \
    ELEM_FN ELEM_C_##T V_NAME(one, T)(ELEM_C_##T a, ELEM_C_##T b, ELEM_C_##T s, int skip) { \
        ELEM_C_##T t = clf_e_fma_##T(a, b, s); \
        return ((skip & 1) != 0 && a == 0) || ((skip & 2) != 0 && b == 0) ? s : t; \
    }
ELEM_TYPES(V_SCALAR)

/* A step of floats. A processor without fma makes a call of each lane, which takes nearly all of its time; copies of that in every loop
 * would only take minutes to compile. */
#if defined(__FP_FAST_FMA) && !defined(CLF_ARITH_PRIME)
#define V_STEP_FN ELEM_FN
#else
#define V_STEP_FN static __attribute__((noinline, unused))
#endif
/* W: the wide type; STEP_FN: what a step is declared as. */
#define V_ARRAY(T, W, STEP_FN) \
    typedef struct V_NAME(vec, T) { ELEM_C_##T l[V_LANES_##T]; } V_NAME(vec, T); \
    ELEM_FN V_NAME(vec, T) V_NAME(set, T)(ELEM_C_##T x) { \
        V_NAME(vec, T) v; \
        for (int i = 0; i < V_LANES_##T; i++) v.l[i] = x; \
        return v; \
    } \
    ELEM_FN V_NAME(vec, T) V_NAME(load, T)(const ELEM_C_##T *p) { \
        V_NAME(vec, T) v; \
        memcpy(v.l, p, sizeof v.l); \
        return v; \
    } \
    ELEM_FN V_NAME(vec, T) V_NAME(loadn, T)(const ELEM_C_##T *p, int64_t n) { \
        V_NAME(vec, T) v = V_NAME(set, T)(0); \
        for (int64_t i = 0; i < n; i++) v.l[i] = p[i]; \
        return v; \
    } \
    ELEM_FN void V_NAME(storen, T)(ELEM_C_##T *p, V_NAME(vec, T) v, int64_t n) { \
        for (int64_t i = 0; i < n; i++) p[i] = v.l[i]; \
    } \
    STEP_FN V_NAME(vec, T) V_NAME(step, T)(V_NAME(vec, T) a, V_NAME(vec, T) b, V_NAME(vec, T) s, int skip) { \
        for (int i = 0; i < V_LANES_##T; i++) s.l[i] = V_NAME(one, T)(a.l[i], b.l[i], s.l[i], skip); \
        return s; \
    } \
    STEP_FN V_NAME(vec, T) V_NAME(stepn, T)(V_NAME(vec, T) a, V_NAME(vec, T) b, V_NAME(vec, T) s, int64_t n, int skip) { \
        for (int64_t i = 0; i < n; i++) s.l[i] = V_NAME(one, T)(a.l[i], b.l[i], s.l[i], skip); \
        return s; \
    } \
    ELEM_FN ELEM_C_##W V_NAME(sum, T)(V_NAME(vec, T) v) { \
        ELEM_C_##W w[V_LANES_##T]; \
        for (int i = 0; i < V_LANES_##T; i++) w[i] = (ELEM_C_##W)v.l[i]; \
        for (int h = V_LANES_##T / 2; h > 0; h /= 2) \
            for (int i = 0; i < h; i++) w[i] = clf_e_add_##W(w[i], w[i + h]); \
        return w[0]; \
    } \
    ELEM_FN void V_NAME(sum4, T)(const V_NAME(vec, T) v[4], ELEM_C_##W *w) { \
        for (int i = 0; i < 4; i++) w[i] = V_NAME(sum, T)(v[i]); \
    } \
    ELEM_FN V_NAME(vec, T) V_NAME(gather, T)(const ELEM_C_##T *p, const int32_t *idx, int64_t stride) { \
        V_NAME(vec, T) v; \
        for (int i = 0; i < V_LANES_##T; i++) v.l[i] = p[(int64_t)idx[i] * stride]; \
        return v; \
    } \
    typedef struct V_NAME(wide, T) { ELEM_C_##W l[V_LANES_##T]; } V_NAME(wide, T); \
    ELEM_FN V_NAME(wide, T) V_NAME(meet, T)(V_NAME(vec, T) a, V_NAME(vec, T) b) { \
        V_NAME(wide, T) w; \
        for (int i = 0; i < V_LANES_##T; i++) w.l[i] = clf_e_add_##W((ELEM_C_##W)a.l[i], (ELEM_C_##W)b.l[i]); \
        return w; \
    } \
    ELEM_FN V_NAME(wide, T) V_NAME(join, T)(V_NAME(wide, T) a, V_NAME(wide, T) b) { \
        for (int i = 0; i < V_LANES_##T; i++) a.l[i] = clf_e_add_##W(a.l[i], b.l[i]); \
        return a; \
    } \
    ELEM_FN V_NAME(vec, T) V_NAME(narrow, T)(V_NAME(wide, T) w) { \
        V_NAME(vec, T) v; \
        for (int i = 0; i < V_LANES_##T; i++) v.l[i] = (ELEM_C_##T)w.l[i]; \
        return v; \
    } \
    ELEM_FN void V_NAME(turn4, T)(const ELEM_C_##T *from, int64_t ldf, int64_t n, ELEM_C_##T *to, int64_t ldt) { \
        for (int i = 0; i < 4; i++) \
            for (int j = 0; j < 4; j++) to[j * ldt + i] = j < n ? from[i * ldf + j] : 0; \
    }
V_ARRAY(i32, i64, ELEM_FN)
V_ARRAY(i64, i64, ELEM_FN)
V_ARRAY(u8, i64, ELEM_FN)

#if defined(__AVX2__) && !defined(CLF_ARITH_PRIME)
/* The first n lanes of four or eight, from lane `from` on. */
ELEM_FN __m256i v_first_f64(int64_t n, int from) { return _mm256_cmpgt_epi64(_mm256_set1_epi64x(n - from), _mm256_set_epi64x(3, 2, 1, 0)); }
ELEM_FN __m256i v_first_f32(int64_t n, int from) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)n - from), _mm256_set_epi32(7, 6, 5, 4, 3, 2, 1, 0));
}
#endif
#if defined(__AVX512F__) && !defined(CLF_ARITH_PRIME)
typedef __m512d v_vec_f64;
typedef __m512 v_vec_f32;
#define V_FIRST(bits, n) ((__mmask##bits)(((uint32_t)1 << (n)) - 1))
ELEM_FN v_vec_f64 v_set_f64(double x) { return _mm512_set1_pd(x); }
ELEM_FN v_vec_f32 v_set_f32(float x) { return _mm512_set1_ps(x); }
ELEM_FN v_vec_f64 v_load_f64(const double *p) { return _mm512_loadu_pd(p); }
ELEM_FN v_vec_f32 v_load_f32(const float *p) { return _mm512_loadu_ps(p); }
ELEM_FN v_vec_f64 v_loadn_f64(const double *p, int64_t n) { return _mm512_maskz_loadu_pd(V_FIRST(8, n), p); }
ELEM_FN v_vec_f32 v_loadn_f32(const float *p, int64_t n) { return _mm512_maskz_loadu_ps(V_FIRST(16, n), p); }
ELEM_FN void v_storen_f64(double *p, v_vec_f64 v, int64_t n) {
    if (n == 8)
        _mm512_storeu_pd(p, v);
    else
        _mm512_mask_storeu_pd(p, V_FIRST(8, n), v);
}
ELEM_FN void v_storen_f32(float *p, v_vec_f32 v, int64_t n) {
    if (n == 16)
        _mm512_storeu_ps(p, v);
    else
        _mm512_mask_storeu_ps(p, V_FIRST(16, n), v);
}
ELEM_FN __mmask8 v_take_f64(v_vec_f64 a, v_vec_f64 b, __mmask8 m, int skip) {
    if ((skip & 1) != 0) m = _mm512_mask_cmp_pd_mask(m, a, _mm512_setzero_pd(), _CMP_NEQ_UQ);
    if ((skip & 2) != 0) m = _mm512_mask_cmp_pd_mask(m, b, _mm512_setzero_pd(), _CMP_NEQ_UQ);
    return m;
}
ELEM_FN __mmask16 v_take_f32(v_vec_f32 a, v_vec_f32 b, __mmask16 m, int skip) {
    if ((skip & 1) != 0) m = _mm512_mask_cmp_ps_mask(m, a, _mm512_setzero_ps(), _CMP_NEQ_UQ);
    if ((skip & 2) != 0) m = _mm512_mask_cmp_ps_mask(m, b, _mm512_setzero_ps(), _CMP_NEQ_UQ);
    return m;
}
ELEM_FN v_vec_f64 v_stepn_f64(v_vec_f64 a, v_vec_f64 b, v_vec_f64 s, int64_t n, int skip) {
    return _mm512_mask3_fmadd_pd(a, b, s, v_take_f64(a, b, V_FIRST(8, n), skip));
}
ELEM_FN v_vec_f32 v_stepn_f32(v_vec_f32 a, v_vec_f32 b, v_vec_f32 s, int64_t n, int skip) {
    return _mm512_mask3_fmadd_ps(a, b, s, v_take_f32(a, b, V_FIRST(16, n), skip));
}
ELEM_FN v_vec_f64 v_step_f64(v_vec_f64 a, v_vec_f64 b, v_vec_f64 s, int skip) {
    return skip == 0 ? _mm512_fmadd_pd(a, b, s) : _mm512_mask3_fmadd_pd(a, b, s, v_take_f64(a, b, 0xff, skip));
}
ELEM_FN v_vec_f32 v_step_f32(v_vec_f32 a, v_vec_f32 b, v_vec_f32 s, int skip) {
    return skip == 0 ? _mm512_fmadd_ps(a, b, s) : _mm512_mask3_fmadd_ps(a, b, s, v_take_f32(a, b, 0xffff, skip));
}
ELEM_FN double v_sum_f64(v_vec_f64 v) {
    __m256d q = _mm256_add_pd(_mm512_castpd512_pd256(v), _mm512_extractf64x4_pd(v, 1));
    __m128d d = _mm_add_pd(_mm256_castpd256_pd128(q), _mm256_extractf128_pd(q, 1));
    return _mm_cvtsd_f64(d) + _mm_cvtsd_f64(_mm_unpackhi_pd(d, d));
}
ELEM_FN void v_sum4_f64(const v_vec_f64 v[4], double *w) {
    __m512d a = _mm512_add_pd(_mm512_shuffle_f64x2(v[0], v[1], 0x44), _mm512_shuffle_f64x2(v[0], v[1], 0xEE)); /* 4 lanes of 0 and of 1 */
    __m512d b = _mm512_add_pd(_mm512_shuffle_f64x2(v[2], v[3], 0x44), _mm512_shuffle_f64x2(v[2], v[3], 0xEE));
    __m512d d = _mm512_add_pd(_mm512_shuffle_f64x2(a, b, 0x88), _mm512_shuffle_f64x2(a, b, 0xDD)); /* 2 lanes of each */
    d = _mm512_add_pd(d, _mm512_permute_pd(d, 0x55));
    _mm256_storeu_pd(w, _mm512_castpd512_pd256(_mm512_permutexvar_pd(_mm512_set_epi64(0, 0, 0, 0, 6, 4, 2, 0), d)));
}
ELEM_FN v_vec_f64 v_join_f64(v_vec_f64 a, v_vec_f64 b) { return _mm512_add_pd(a, b); }
ELEM_FN v_vec_f64 v_low_f32(v_vec_f32 v) { return _mm512_cvtps_pd(_mm512_castps512_ps256(v)); }
ELEM_FN v_vec_f64 v_high_f32(v_vec_f32 v) { return _mm512_cvtps_pd(_mm512_extractf32x8_ps(v, 1)); }
ELEM_FN v_vec_f32 v_pack_f32(v_vec_f64 low, v_vec_f64 high) {
    return _mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps(low)), _mm512_cvtpd_ps(high), 1);
}
ELEM_FN v_vec_f64 v_widen_f32(v_vec_f32 v) { return v_join_f64(v_low_f32(v), v_high_f32(v)); }
ELEM_FN double v_sum_f32(v_vec_f32 v) { return v_sum_f64(v_widen_f32(v)); }
ELEM_FN void v_sum4_f32(const v_vec_f32 v[4], double *w) {
    v_sum4_f64((const v_vec_f64[4]){v_widen_f32(v[0]), v_widen_f32(v[1]), v_widen_f32(v[2]), v_widen_f32(v[3])}, w);
}
ELEM_FN v_vec_f64 v_gather1_f64(const double *p, const int32_t *idx) {
    return _mm512_i32gather_pd(_mm256_loadu_si256((const __m256i *)(const void *)idx), p, 8);
}
ELEM_FN v_vec_f32 v_gather1_f32(const float *p, const int32_t *idx) { return _mm512_i32gather_ps(_mm512_loadu_si512(idx), p, 4); }
#elif defined(__AVX2__) && !defined(CLF_ARITH_PRIME)
#define V_HALVES 1
typedef struct v_vec_f64 {
    __m256d a, b;
} v_vec_f64;
typedef struct v_vec_f32 {
    __m256 a, b;
} v_vec_f32;
#define V_PAIR(T, x, y) \
    (v_vec_##T) { x, y }
ELEM_FN v_vec_f64 v_set_f64(double x) { return V_PAIR(f64, _mm256_set1_pd(x), _mm256_set1_pd(x)); }
ELEM_FN v_vec_f32 v_set_f32(float x) { return V_PAIR(f32, _mm256_set1_ps(x), _mm256_set1_ps(x)); }
ELEM_FN v_vec_f64 v_load_f64(const double *p) { return V_PAIR(f64, _mm256_loadu_pd(p), _mm256_loadu_pd(p + 4)); }
ELEM_FN v_vec_f32 v_load_f32(const float *p) { return V_PAIR(f32, _mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)); }
ELEM_FN v_vec_f64 v_loadn_f64(const double *p, int64_t n) {
    return V_PAIR(f64, _mm256_maskload_pd(p, v_first_f64(n, 0)), _mm256_maskload_pd(p + 4, v_first_f64(n, 4)));
}
ELEM_FN v_vec_f32 v_loadn_f32(const float *p, int64_t n) {
    return V_PAIR(f32, _mm256_maskload_ps(p, v_first_f32(n, 0)), _mm256_maskload_ps(p + 8, v_first_f32(n, 8)));
}
ELEM_FN void v_storen_f64(double *p, v_vec_f64 v, int64_t n) {
    if (n == 8) {
        _mm256_storeu_pd(p, v.a);
        _mm256_storeu_pd(p + 4, v.b);
        return;
    }
    _mm256_maskstore_pd(p, v_first_f64(n, 0), v.a);
    _mm256_maskstore_pd(p + 4, v_first_f64(n, 4), v.b);
}
ELEM_FN void v_storen_f32(float *p, v_vec_f32 v, int64_t n) {
    if (n == 16) {
        _mm256_storeu_ps(p, v.a);
        _mm256_storeu_ps(p + 8, v.b);
        return;
    }
    _mm256_maskstore_ps(p, v_first_f32(n, 0), v.a);
    _mm256_maskstore_ps(p + 8, v_first_f32(n, 8), v.b);
}
ELEM_FN __m256d v_half_f64(__m256d a, __m256d b, __m256d s, int skip) {
    __m256d t = _mm256_fmadd_pd(a, b, s), zero = _mm256_setzero_pd();
    if ((skip & 1) != 0) t = _mm256_blendv_pd(t, s, _mm256_cmp_pd(a, zero, _CMP_EQ_OQ));
    if ((skip & 2) != 0) t = _mm256_blendv_pd(t, s, _mm256_cmp_pd(b, zero, _CMP_EQ_OQ));
    return t;
}
ELEM_FN __m256 v_half_f32(__m256 a, __m256 b, __m256 s, int skip) {
    __m256 t = _mm256_fmadd_ps(a, b, s), zero = _mm256_setzero_ps();
    if ((skip & 1) != 0) t = _mm256_blendv_ps(t, s, _mm256_cmp_ps(a, zero, _CMP_EQ_OQ));
    if ((skip & 2) != 0) t = _mm256_blendv_ps(t, s, _mm256_cmp_ps(b, zero, _CMP_EQ_OQ));
    return t;
}
typedef __m256d v_hvec_f64;
typedef __m256 v_hvec_f32;
typedef __m256i v_hmask_f64, v_hmask_f32;
ELEM_FN v_hvec_f64 v_hload_f64(const double *p) { return _mm256_loadu_pd(p); }
ELEM_FN v_hvec_f32 v_hload_f32(const float *p) { return _mm256_loadu_ps(p); }
ELEM_FN v_hvec_f64 v_hset_f64(double x) { return _mm256_set1_pd(x); }
ELEM_FN v_hvec_f32 v_hset_f32(float x) { return _mm256_set1_ps(x); }
ELEM_FN void v_hstore_f64(double *p, v_hvec_f64 v) { _mm256_storeu_pd(p, v); }
ELEM_FN void v_hstore_f32(float *p, v_hvec_f32 v) { _mm256_storeu_ps(p, v); }
ELEM_FN v_hmask_f64 v_hfirst_f64(int64_t n) { return v_first_f64(n, 0); }
ELEM_FN v_hmask_f32 v_hfirst_f32(int64_t n) { return v_first_f32(n, 0); }
ELEM_FN v_hvec_f64 v_hloadm_f64(const double *p, v_hmask_f64 m, double rest) {
    v_hvec_f64 v = _mm256_maskload_pd(p, m);
    return rest == 0 && !signbit(rest) ? v : _mm256_blendv_pd(_mm256_set1_pd(rest), v, _mm256_castsi256_pd(m));
}
ELEM_FN v_hvec_f32 v_hloadm_f32(const float *p, v_hmask_f32 m, float rest) {
    v_hvec_f32 v = _mm256_maskload_ps(p, m);
    return rest == 0 && !signbit(rest) ? v : _mm256_blendv_ps(_mm256_set1_ps(rest), v, _mm256_castsi256_ps(m));
}
ELEM_FN void v_hstorem_f64(double *p, v_hvec_f64 v, v_hmask_f64 m) { _mm256_maskstore_pd(p, m, v); }
ELEM_FN void v_hstorem_f32(float *p, v_hvec_f32 v, v_hmask_f32 m) { _mm256_maskstore_ps(p, m, v); }
ELEM_FN v_vec_f64 v_step_f64(v_vec_f64 a, v_vec_f64 b, v_vec_f64 s, int skip) {
    return V_PAIR(f64, v_half_f64(a.a, b.a, s.a, skip), v_half_f64(a.b, b.b, s.b, skip));
}
ELEM_FN v_vec_f32 v_step_f32(v_vec_f32 a, v_vec_f32 b, v_vec_f32 s, int skip) {
    return V_PAIR(f32, v_half_f32(a.a, b.a, s.a, skip), v_half_f32(a.b, b.b, s.b, skip));
}
ELEM_FN v_vec_f64 v_stepn_f64(v_vec_f64 a, v_vec_f64 b, v_vec_f64 s, int64_t n, int skip) {
    v_vec_f64 t = v_step_f64(a, b, s, skip);
    return V_PAIR(f64, _mm256_blendv_pd(s.a, t.a, _mm256_castsi256_pd(v_first_f64(n, 0))),
                  _mm256_blendv_pd(s.b, t.b, _mm256_castsi256_pd(v_first_f64(n, 4))));
}
ELEM_FN v_vec_f32 v_stepn_f32(v_vec_f32 a, v_vec_f32 b, v_vec_f32 s, int64_t n, int skip) {
    v_vec_f32 t = v_step_f32(a, b, s, skip);
    return V_PAIR(f32, _mm256_blendv_ps(s.a, t.a, _mm256_castsi256_ps(v_first_f32(n, 0))),
                  _mm256_blendv_ps(s.b, t.b, _mm256_castsi256_ps(v_first_f32(n, 8))));
}
ELEM_FN double v_quarter(__m256d q) {
    __m128d d = _mm_add_pd(_mm256_castpd256_pd128(q), _mm256_extractf128_pd(q, 1));
    return _mm_cvtsd_f64(d) + _mm_cvtsd_f64(_mm_unpackhi_pd(d, d));
}
ELEM_FN v_vec_f64 v_join_f64(v_vec_f64 a, v_vec_f64 b) { return V_PAIR(f64, _mm256_add_pd(a.a, b.a), _mm256_add_pd(a.b, b.b)); }
ELEM_FN v_vec_f64 v_wide8(__m256 v) {
    return V_PAIR(f64, _mm256_cvtps_pd(_mm256_castps256_ps128(v)), _mm256_cvtps_pd(_mm256_extractf128_ps(v, 1)));
}
ELEM_FN v_vec_f64 v_low_f32(v_vec_f32 v) { return v_wide8(v.a); }
ELEM_FN v_vec_f64 v_high_f32(v_vec_f32 v) { return v_wide8(v.b); }
ELEM_FN __m256 v_narrow8(v_vec_f64 v) { return _mm256_set_m128(_mm256_cvtpd_ps(v.b), _mm256_cvtpd_ps(v.a)); }
ELEM_FN v_vec_f32 v_pack_f32(v_vec_f64 low, v_vec_f64 high) { return V_PAIR(f32, v_narrow8(low), v_narrow8(high)); }
ELEM_FN v_vec_f64 v_widen_f32(v_vec_f32 v) { return v_join_f64(v_low_f32(v), v_high_f32(v)); }
ELEM_FN double v_sum_f64(v_vec_f64 v) { return v_quarter(_mm256_add_pd(v.a, v.b)); }
ELEM_FN double v_sum_f32(v_vec_f32 v) { return v_sum_f64(v_widen_f32(v)); }
ELEM_FN void v_sum4_f64(const v_vec_f64 v[4], double *w) {
    __m256d q[4], a, b;
    for (int i = 0; i < 4; i++) q[i] = _mm256_add_pd(v[i].a, v[i].b);
    a = _mm256_add_pd(_mm256_permute2f128_pd(q[0], q[1], 0x20), _mm256_permute2f128_pd(q[0], q[1], 0x31)); /* 2 lanes of 0 and of 1 */
    b = _mm256_add_pd(_mm256_permute2f128_pd(q[2], q[3], 0x20), _mm256_permute2f128_pd(q[2], q[3], 0x31));
    a = _mm256_add_pd(_mm256_unpacklo_pd(a, b), _mm256_unpackhi_pd(a, b)); /* 0 2 1 3 */
    _mm256_storeu_pd(w, _mm256_permute4x64_pd(a, 0xD8));
}
ELEM_FN void v_sum4_f32(const v_vec_f32 v[4], double *w) {
    v_sum4_f64((const v_vec_f64[4]){v_widen_f32(v[0]), v_widen_f32(v[1]), v_widen_f32(v[2]), v_widen_f32(v[3])}, w);
}
/* By loads of single cells: on an AMD EPYC (Zen 3) the processor's own gathering is slower; Intel's without AVX-512 were not measured. */
ELEM_FN v_hvec_f64 v_hgather_f64(const double *p, const int32_t *idx) {
    __m128d lo = _mm_loadh_pd(_mm_load_sd(p + idx[0]), p + idx[1]), hi = _mm_loadh_pd(_mm_load_sd(p + idx[2]), p + idx[3]);
    return _mm256_insertf128_pd(_mm256_castpd128_pd256(lo), hi, 1);
}
ELEM_FN __m128 v_gather4_f32(const float *p, const int32_t *idx) {
    __m128 lo = _mm_unpacklo_ps(_mm_load_ss(p + idx[0]), _mm_load_ss(p + idx[1]));
    return _mm_movelh_ps(lo, _mm_unpacklo_ps(_mm_load_ss(p + idx[2]), _mm_load_ss(p + idx[3])));
}
ELEM_FN v_hvec_f32 v_hgather_f32(const float *p, const int32_t *idx) {
    return _mm256_insertf128_ps(_mm256_castps128_ps256(v_gather4_f32(p, idx)), v_gather4_f32(p, idx + 4), 1);
}
ELEM_FN void v_hscatter_f64(double *p, const int32_t *idx, v_hvec_f64 v) {
    const __m128d lo = _mm256_castpd256_pd128(v), hi = _mm256_extractf128_pd(v, 1);
    _mm_storel_pd(p + idx[0], lo), _mm_storeh_pd(p + idx[1], lo), _mm_storel_pd(p + idx[2], hi), _mm_storeh_pd(p + idx[3], hi);
}
ELEM_FN void v_hscatter_f32(float *p, const int32_t *idx, v_hvec_f32 v) {
    float x[8];
    _mm256_storeu_ps(x, v);
    for (int i = 0; i < 8; i++) p[idx[i]] = x[i];
}
ELEM_FN v_vec_f64 v_gather1_f64(const double *p, const int32_t *idx) { return V_PAIR(f64, v_hgather_f64(p, idx), v_hgather_f64(p, idx + 4)); }
ELEM_FN v_vec_f32 v_gather1_f32(const float *p, const int32_t *idx) { return V_PAIR(f32, v_hgather_f32(p, idx), v_hgather_f32(p, idx + 8)); }
#else
V_ARRAY(f64, f64, V_STEP_FN)
V_ARRAY(f32, f64, V_STEP_FN)
#endif

#if defined(__AVX2__) && !defined(CLF_ARITH_PRIME)
#define V_GATHER(T) \
    ELEM_FN v_vec_##T v_gather_##T(const ELEM_C_##T *p, const int32_t *idx, int64_t stride) { \
        if (stride == 1) return v_gather1_##T(p, idx); \
        ELEM_C_##T x[V_LANES_##T]; \
        for (int i = 0; i < V_LANES_##T; i++) x[i] = p[(int64_t)idx[i] * stride]; \
        return v_load_##T(x); \
    }
V_GATHER(f64)
V_GATHER(f32)
typedef v_vec_f64 v_wide_f64;
typedef struct v_wide_f32 {
    v_vec_f64 a, b;
} v_wide_f32;
ELEM_FN v_wide_f64 v_meet_f64(v_vec_f64 a, v_vec_f64 b) { return v_join_f64(a, b); }
ELEM_FN v_vec_f64 v_narrow_f64(v_wide_f64 w) { return w; }
ELEM_FN v_wide_f32 v_meet_f32(v_vec_f32 a, v_vec_f32 b) {
    return (v_wide_f32){v_join_f64(v_low_f32(a), v_low_f32(b)), v_join_f64(v_high_f32(a), v_high_f32(b))};
}
ELEM_FN v_wide_f32 v_join_f32(v_wide_f32 a, v_wide_f32 b) { return (v_wide_f32){v_join_f64(a.a, b.a), v_join_f64(a.b, b.b)}; }
ELEM_FN v_vec_f32 v_narrow_f32(v_wide_f32 w) { return v_pack_f32(w.a, w.b); }
ELEM_FN __m256d v_four_f64(const double *p, int64_t n) {
    return n >= 4 ? _mm256_loadu_pd(p) : _mm256_maskload_pd(p, v_first_f64(n, 0));
}
ELEM_FN __m128 v_four_f32(const float *p, int64_t n) {
    return n >= 4 ? _mm_loadu_ps(p) : _mm_maskload_ps(p, _mm256_castsi256_si128(v_first_f32(n, 0)));
}
ELEM_FN void v_turn4_f64(const double *from, int64_t ldf, int64_t n, double *to, int64_t ldt) {
    __m256d a = v_four_f64(from, n), b = v_four_f64(from + ldf, n), c = v_four_f64(from + 2 * ldf, n), d = v_four_f64(from + 3 * ldf, n);
    __m256d ab0 = _mm256_unpacklo_pd(a, b), ab1 = _mm256_unpackhi_pd(a, b), cd0 = _mm256_unpacklo_pd(c, d), cd1 = _mm256_unpackhi_pd(c, d);
    _mm256_storeu_pd(to, _mm256_permute2f128_pd(ab0, cd0, 0x20));
    _mm256_storeu_pd(to + ldt, _mm256_permute2f128_pd(ab1, cd1, 0x20));
    _mm256_storeu_pd(to + 2 * ldt, _mm256_permute2f128_pd(ab0, cd0, 0x31));
    _mm256_storeu_pd(to + 3 * ldt, _mm256_permute2f128_pd(ab1, cd1, 0x31));
}
ELEM_FN void v_turn4_f32(const float *from, int64_t ldf, int64_t n, float *to, int64_t ldt) {
    __m128 a = v_four_f32(from, n), b = v_four_f32(from + ldf, n), c = v_four_f32(from + 2 * ldf, n), d = v_four_f32(from + 3 * ldf, n);
    _MM_TRANSPOSE4_PS(a, b, c, d);
    _mm_storeu_ps(to, a), _mm_storeu_ps(to + ldt, b), _mm_storeu_ps(to + 2 * ldt, c), _mm_storeu_ps(to + 3 * ldt, d);
}
#endif
#endif
