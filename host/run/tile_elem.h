/* SPDX-License-Identifier: Apache-2.0
 * The element prelude as the tile loops need it: elementary functions are declared with vector forms, which the C library has
 * for every instruction set, so that loops over them become calls of those. */
#ifndef CLF_RUN_TILE_ELEM_H
#define CLF_RUN_TILE_ELEM_H
#include <math.h>
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__has_attribute)
#if __has_attribute(simd) && __GLIBC_PREREQ(2, 35)
#define TILE_SIMD __attribute__((simd("notinbranch"))) extern
#define TILE_SIMD1(name) TILE_SIMD double name(double); TILE_SIMD float name##f(float);
#define TILE_SIMD2(name) TILE_SIMD double name(double, double); TILE_SIMD float name##f(float, float);
TILE_SIMD1(exp) TILE_SIMD1(expm1) TILE_SIMD1(log) TILE_SIMD1(log1p) TILE_SIMD1(log2) TILE_SIMD1(log10)
TILE_SIMD1(sin) TILE_SIMD1(cos) TILE_SIMD1(tan) TILE_SIMD1(asin) TILE_SIMD1(acos) TILE_SIMD1(atan)
TILE_SIMD1(sinh) TILE_SIMD1(cosh) TILE_SIMD1(tanh) TILE_SIMD1(erf) TILE_SIMD1(erfc)
TILE_SIMD2(pow) TILE_SIMD2(atan2)
#endif
#endif
#include "kernels-cl/elem_c.h"

#if !defined(CLF_TILE_ISA)
#define CLF_TILE_ISA baseline
#endif
/* Ask for a run of bytes, a line at a time. */
enum { TILE_LINE = 64 };
#define TILE_PREFETCH(p, bytes) \
    do { \
        for (int64_t at_ = 0; at_ < (bytes); at_ += TILE_LINE) __builtin_prefetch((const char *)(p) + at_); \
    } while (0)
/* Is ELEM_T a float? For #if as well as for code. */
#define TILE_FLOAT_f32 1
#define TILE_FLOAT_f64 1
#define TILE_FLOAT_i32 0
#define TILE_FLOAT_i64 0
#define TILE_FLOAT_u8 0
#define TILE_FLOAT ELEM_PASTE(TILE_FLOAT_, ELEM_T)
/* Symbols of one build: clf_<name>_<instruction set>. */
#define TILE_SYMBOL(name) ELEM_PASTE4(clf_, name, _, CLF_TILE_ISA)
/* The loops that follow carry nothing from one iteration to the next, though a result may be an operand's memory. */
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wpass-failed" /* calls of elementary functions stay scalar there */
#define TILE_IVDEP _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define TILE_IVDEP _Pragma("GCC ivdep")
#else
#define TILE_IVDEP
#endif
#endif
