/* SPDX-License-Identifier: Apache-2.0
 * The plain product for both element types; see gemm_body.h. Sizes: a KC x NR panel of B (16 KiB) stays in the first-level cache
 * while MR rows of A pass over it, and NC columns of B (512 KiB) in the second. */
#include <string.h>
#include "device/gemm.h"

enum { LINE = 64, MR = 6, KC = 256, NC = 256 };

#ifdef __clang__
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("GCC unroll 6")
#endif

#define T double
#define NR 8
#define NAME(x) x##_f64
#include "device/gemm_body.h"
#undef T
#undef NR
#undef NAME

#define T float
#define NR 16
#define NAME(x) x##_f32
#include "device/gemm_body.h"
