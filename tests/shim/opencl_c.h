/* SPDX-License-Identifier: Apache-2.0
 * How the built-in functions of OpenCL C are made from plain C: each is a loop over lanes around one scalar expression, for widths
 * 1 2 4 8 16. opencl_c.cl is the table of them. Nothing here is clever, so that it can be trusted where kernels are not. */
#ifndef CLF_SHIM_OPENCL_C_H
#define CLF_SHIM_OPENCL_C_H
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL FP_CONTRACT OFF

typedef unsigned char uchar;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef unsigned long size_t;
#define SHIM_VECTOR(S, N) typedef S S##N __attribute__((ext_vector_type(N)));
#define SHIM_VECTORS(S) SHIM_VECTOR(S, 2) SHIM_VECTOR(S, 4) SHIM_VECTOR(S, 8) SHIM_VECTOR(S, 16)
SHIM_VECTORS(char)
SHIM_VECTORS(uchar)
SHIM_VECTORS(int)
SHIM_VECTORS(uint)
SHIM_VECTORS(long)
SHIM_VECTORS(ulong)
SHIM_VECTORS(float)
SHIM_VECTORS(double)

#define SHIM_FN __attribute__((overloadable))
/* M(x..., width suffix, lanes) for every vector width */
#define SHIM_WIDE(M, ...) M(__VA_ARGS__, 2, 2) M(__VA_ARGS__, 4, 4) M(__VA_ARGS__, 8, 8) M(__VA_ARGS__, 16, 16)

/* ---- one lane of one to three operands through g ---- */
#define SHIM_MAP1(f, S, g, K, N)                                                \
    SHIM_FN S##K f(S##K a)                                                      \
    {                                                                           \
        S##K r;                                                                 \
        for (int k = 0; k < N; k++) r[k] = g(a[k]);                             \
        return r;                                                               \
    }
#define SHIM_MAP2(f, S, g, K, N)                                                \
    SHIM_FN S##K f(S##K a, S##K b)                                              \
    {                                                                           \
        S##K r;                                                                 \
        for (int k = 0; k < N; k++) r[k] = g(a[k], b[k]);                       \
        return r;                                                               \
    }
#define SHIM_MAP3(f, S, g, K, N)                                                \
    SHIM_FN S##K f(S##K a, S##K b, S##K c)                                      \
    {                                                                           \
        S##K r;                                                                 \
        for (int k = 0; k < N; k++) r[k] = g(a[k], b[k], c[k]);                 \
        return r;                                                               \
    }
#define SHIM_ARGS1(S) (S)
#define SHIM_ARGS2(S) (S, S)
#define SHIM_ARGS3(S) (S, S, S)
#define SHIM_SCALAR1(f, S, g) SHIM_FN S f(S a) { return g(a); }
#define SHIM_SCALAR2(f, S, g) SHIM_FN S f(S a, S b) { return g(a, b); }
#define SHIM_SCALAR3(f, S, g) SHIM_FN S f(S a, S b, S c) { return g(a, b, c); }
#define SHIM_EACH(ARITY, f, S, g) SHIM_SCALAR##ARITY(f, S, g) SHIM_WIDE(SHIM_MAP##ARITY, f, S, g)
/* A function of the C library, float and double, under a name of ours, since its own is what we define. */
#define SHIM_LIBM(ARITY, f)                                                     \
    double shim_##f SHIM_ARGS##ARITY(double) __asm__(#f);                       \
    float shim_##f##f SHIM_ARGS##ARITY(float) __asm__(#f "f");                  \
    SHIM_EACH(ARITY, f, double, shim_##f)                                       \
    SHIM_EACH(ARITY, f, float, shim_##f##f)

/* ---- memory: lane by lane, so that each is checked on its own ---- */
#define SHIM_LOAD(SPACE, S, K, N)                                               \
    SHIM_FN S##K vload##N(size_t i, const SPACE S *p)                           \
    {                                                                           \
        S##K r;                                                                 \
        for (int k = 0; k < N; k++) r[k] = p[i * N + k];                        \
        return r;                                                               \
    }
#define SHIM_STORE(SPACE, S, K, N)                                              \
    SHIM_FN void vstore##N(S##K v, size_t i, SPACE S *p)                        \
    {                                                                           \
        for (int k = 0; k < N; k++) p[i * N + k] = v[k];                        \
    }
#define SHIM_MEMORY(S)                                                          \
    SHIM_WIDE(SHIM_LOAD, __global, S)                                           \
    SHIM_WIDE(SHIM_LOAD, __private, S)                                          \
    SHIM_WIDE(SHIM_STORE, __global, S)                                          \
    SHIM_WIDE(SHIM_STORE, __private, S)

/* ---- conversions: C's own, lane by lane; a float that does not fit is reported ---- */
#define SHIM_CAST(D, S, K, N)                                                   \
    SHIM_FN D##K convert_##D##K(S##K a)                                         \
    {                                                                           \
        D##K r;                                                                 \
        for (int k = 0; k < N; k++) r[k] = (D)a[k];                             \
        return r;                                                               \
    }
#define SHIM_CONVERT(D, S)                                                      \
    SHIM_FN D convert_##D(S a) { return (D)a; }                                 \
    SHIM_WIDE(SHIM_CAST, D, S)
#define SHIM_CONVERT_TO(D)                                                      \
    SHIM_CONVERT(D, char)                                                       \
    SHIM_CONVERT(D, uchar)                                                      \
    SHIM_CONVERT(D, int)                                                        \
    SHIM_CONVERT(D, uint)                                                       \
    SHIM_CONVERT(D, long)                                                       \
    SHIM_CONVERT(D, ulong)                                                      \
    SHIM_CONVERT(D, float)                                                      \
    SHIM_CONVERT(D, double)

/* ---- the sign of every, of any lane ---- */
#define SHIM_TRUTH(S, K, N)                                                     \
    SHIM_FN int all(S##K a)                                                     \
    {                                                                           \
        int n = 0;                                                              \
        for (int k = 0; k < N; k++) n += a[k] < 0;                              \
        return n == N;                                                          \
    }                                                                           \
    SHIM_FN int any(S##K a)                                                     \
    {                                                                           \
        int n = 0;                                                              \
        for (int k = 0; k < N; k++) n += a[k] < 0;                              \
        return n > 0;                                                           \
    }
#endif
