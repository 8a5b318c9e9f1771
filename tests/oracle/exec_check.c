/* SPDX-License-Identifier: Apache-2.0
 * Comparing executors with oracles, and the meaning of casts, written from the language contract. */
#include "tests/oracle/exec_check.h"

#include <CUnit/Basic.h>
#include <math.h>
#include <stdio.h>

enum { SHOWN = 3 };

uint64_t exec_random(uint64_t *seed) { /* splitmix64: Steele, Lea, Flood 2014 */
    uint64_t z = *seed += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* ---- casts --------------------------------------------------------------------------------------------------------------- */

static int64_t to_whole(double x, int64_t least, int64_t most) {
    long double whole = truncl((long double)x);
    if (isnan(x)) return 0;
    if (whole < (long double)least) return least;
    return whole > (long double)most ? most : (int64_t)whole;
}

/* Of a whole number modulo 2^bits, the image in two's complement. */
static int64_t narrowed(int64_t x, int bits) {
    uint64_t low = (uint64_t)x & ((UINT64_C(1) << bits) - 1);
    return low >> (bits - 1) ? (int64_t)low - (INT64_C(1) << bits) : (int64_t)low;
}

clf_scalar oracle_cast(clf_scalar x, clf_dtype t) {
    bool real = x.dtype == CLF_F32 || x.dtype == CLF_F64;
    clf_scalar r = {.dtype = t};
    switch (t) {
    case CLF_F32: r.u.f = real ? (double)(float)x.u.f : (double)(float)(long double)x.u.i; break;
    case CLF_F64: r.u.f = real ? x.u.f : (double)(long double)x.u.i; break;
    case CLF_I32: r.u.i = real ? to_whole(x.u.f, INT32_MIN, INT32_MAX) : narrowed(x.u.i, 32); break;
    case CLF_I64: r.u.i = real ? to_whole(x.u.f, INT64_MIN, INT64_MAX) : x.u.i; break;
    case CLF_U8: r.u.i = real ? to_whole(x.u.f, 0, 255) : (x.u.i & 255); break;
    }
    return r;
}

/* ---- comparing ----------------------------------------------------------------------------------------------------------- */

static void show(clf_scalar x) {
    if (x.dtype == CLF_F32 || x.dtype == CLF_F64)
        printf(" %.17g", x.u.f);
    else
        printf(" %lld", (long long)x.u.i);
}

void exec_compare(exec_diff *d, int64_t k, const oracle_result *want, const clf_scalar *in, int n) {
    for (int e = 0; e < EXEC_N; e++) {
        if (!d->j->ran[e]) continue;
        clf_scalar got = exec_result(d->j, (exec_id)e, d->out, k);
        oracle_result here = *want;
        if (e != EXEC_REF && e != EXEC_OPENCL) here.tol += want->clib;
        if (oracle_agrees(&here, got) || d->wrong[e]++ >= SHOWN) continue;
        printf("  %s %s, %s, cell %lld:", d->what, clf_dtype_name(want->dtype), exec_name((exec_id)e), (long long)k);
        for (int i = 0; i < n; i++) show(in[i]);
        printf(" gives");
        show(got);
        if (want->dtype == CLF_F32 || want->dtype == CLF_F64)
            printf(", not %.20Lg +- %.3Lg\n", want->exact, here.tol);
        else
            printf(", not %lld\n", (long long)want->integer);
    }
}

void exec_clean(const exec_diff *d) {
    for (int e = 0; e < EXEC_N; e++) {
        if (!d->j->ran[e]) continue;
        if (d->wrong[e]) printf("  %s, %s: %ld wrong\n", d->what, exec_name((exec_id)e), d->wrong[e]);
        CU_ASSERT_EQUAL(d->wrong[e], 0);
    }
}

static int64_t cells_of(const exec_job *j, int out) {
    int64_t n = 1;
    for (int d = 0; d < j->c.out[out].rank; d++) n *= j->c.out[out].dim[d].n;
    return n;
}

void exec_same_bits(const exec_job *j, int out, const char *what) {
    for (int e = EXEC_REF + 1; e < EXEC_N; e++) {
        long wrong = 0;
        if (!j->ran[e] || !j->ran[EXEC_REF]) continue;
        for (int64_t k = 0; k < cells_of(j, out); k++) {
            clf_scalar want = exec_result(j, EXEC_REF, out, k), got = exec_result(j, (exec_id)e, out, k);
            if (clf_scalar_same(want, got) || wrong++ >= SHOWN) continue;
            printf("  %s, %s, cell %lld: %.17g, reference %.17g\n", what, exec_name((exec_id)e), (long long)k, clf_scalar_as_f64(got),
                   clf_scalar_as_f64(want));
        }
        CU_ASSERT_EQUAL(wrong, 0);
    }
}
