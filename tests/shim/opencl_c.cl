/* SPDX-License-Identifier: Apache-2.0
 * The built-in functions that kernels of the library call, for kernels that run as C in this process. Compiled once, by the same
 * compiler as the kernels (whose names for overloaded functions are then the same), and linked into the program that loads them.
 * A built-in that is not here, barrier among them, shows when the kernel's object is loaded: its build fails and names it. */
#include "opencl_c.h"

#define SHIM_LEAST(a, b) ((b) < (a) ? (b) : (a))
#define SHIM_MOST(a, b) ((a) < (b) ? (b) : (a))
#define SHIM_ORDER(S)                                                           \
    SHIM_EACH(2, min, S, SHIM_LEAST)                                            \
    SHIM_EACH(2, max, S, SHIM_MOST)

/* opencl_launch.c: where the loop over work-items stands. */
size_t shim_work_item(uint dimension);
size_t shim_work_items(uint dimension);
SHIM_FN size_t get_global_id(uint d) { return shim_work_item(d); }
SHIM_FN size_t get_global_size(uint d) { return shim_work_items(d); }

/* One thread runs all work-items. */
SHIM_FN void mem_fence(uint flags) { (void)flags; }
SHIM_FN int atomic_inc(volatile __global int *p) { return (*p)++; }
SHIM_FN int atomic_or(volatile __global int *p, int bits)
{
    int was = *p;
    *p |= bits;
    return was;
}
SHIM_FN int atomic_and(volatile __global int *p, int bits)
{
    int was = *p;
    *p &= bits;
    return was;
}
SHIM_FN int atomic_xchg(volatile __global int *p, int to)
{
    int was = *p;
    *p = to;
    return was;
}

SHIM_LIBM(1, fabs)
SHIM_LIBM(1, floor)
SHIM_LIBM(1, ceil)
SHIM_LIBM(1, sqrt)
SHIM_LIBM(1, sin)
SHIM_LIBM(1, cos)
SHIM_LIBM(1, tan)
SHIM_LIBM(1, asin)
SHIM_LIBM(1, acos)
SHIM_LIBM(1, atan)
SHIM_LIBM(1, sinh)
SHIM_LIBM(1, cosh)
SHIM_LIBM(1, tanh)
SHIM_LIBM(1, expm1)
SHIM_LIBM(1, log1p)
SHIM_LIBM(1, log2)
SHIM_LIBM(1, log10)
SHIM_LIBM(1, erf)
SHIM_LIBM(2, pow)
SHIM_LIBM(2, atan2)
SHIM_LIBM(3, fma)

SHIM_ORDER(char)
SHIM_ORDER(uchar)
SHIM_ORDER(int)
SHIM_ORDER(uint)
SHIM_ORDER(long)
SHIM_ORDER(ulong)

SHIM_MEMORY(uchar)
SHIM_MEMORY(int)
SHIM_MEMORY(long)
SHIM_MEMORY(float)
SHIM_MEMORY(double)

SHIM_CONVERT_TO(char)
SHIM_CONVERT_TO(uchar)
SHIM_CONVERT_TO(int)
SHIM_CONVERT_TO(uint)
SHIM_CONVERT_TO(long)
SHIM_CONVERT_TO(ulong)
SHIM_CONVERT_TO(float)
SHIM_CONVERT_TO(double)

SHIM_WIDE(SHIM_TRUTH, char)
SHIM_WIDE(SHIM_TRUTH, int)
SHIM_WIDE(SHIM_TRUTH, long)

SHIM_FN long popcount(long x) { return __builtin_popcountl((ulong)x); }
SHIM_FN int popcount(int x) { return __builtin_popcount((uint)x); }
