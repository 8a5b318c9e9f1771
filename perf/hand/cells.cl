/* SPDX-License-Identifier: Apache-2.0
 * Hand-written references for GPUs: the cases beyond the caches. T is the element type, V a vector of 16 bytes of it, TOTAL(v) the sum of
 * its cells as a double.
 *
 * Work-items go through memory side by side, each with four vectors under way. A sum leaves a number a group in `part`, which `sums` of
 * one group adds up. n: vectors; rest: cells behind them, which are the first work-item's. */
#ifndef T
#define T double
#define V double2
#define TOTAL(v) ((v).x + (v).y)
#endif
#define GROUP 256
#define KERNEL __kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
#define FOUR(STEP)                                       \
    const long w_ = get_global_size(0);                  \
    long i_ = get_global_id(0);                          \
    for (; i_ + 3 * w_ < n; i_ += 4 * w_) {              \
        STEP(i_, 0) STEP(i_ + w_, 1) STEP(i_ + 2 * w_, 2) STEP(i_ + 3 * w_, 3) \
    }                                                    \
    for (; i_ < n; i_ += w_) { STEP(i_, 0) }
#define CELLS(STEP) if (get_global_id(0) == 0) for (long c_ = n * (long)(sizeof(V) / sizeof(T)); c_ < cells; c_++) { STEP(c_) }
#define CELL(p, c) ((const __global T *)(p))[c]

void group_sum(__local double *tree, double s, __global double *part, int which)
{
    const int me = get_local_id(0);
    tree[me] = s;
    for (int apart = GROUP / 2; apart >= 1; apart /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (me < apart) tree[me] += tree[me + apart];
    }
    if (me == 0) part[which * get_num_groups(0) + get_group_id(0)] = tree[0];
    barrier(CLK_LOCAL_MEM_FENCE);
}

KERNEL read(const __global V *x, __global double *part, long n, long cells)
{
    __local double tree[GROUP];
    V s[4] = {0, 0, 0, 0};
    double rest = 0;
#define STEP(i, k) s[k] += x[i];
    FOUR(STEP)
#undef STEP
#define STEP(c) rest += CELL(x, c);
    CELLS(STEP)
#undef STEP
    group_sum(tree, TOTAL((s[0] + s[1]) + (s[2] + s[3])) + rest, part, 0);
}

KERNEL sum_xyz(const __global V *x, const __global V *y, const __global V *z, __global double *part, long n, long cells)
{
    __local double tree[GROUP];
    V s[4] = {0, 0, 0, 0};
    double rest = 0;
#define STEP(i, k) s[k] += x[i] * y[i] * z[i];
    FOUR(STEP)
#undef STEP
#define STEP(c) rest += CELL(x, c) * CELL(y, c) * CELL(z, c);
    CELLS(STEP)
#undef STEP
    group_sum(tree, TOTAL((s[0] + s[1]) + (s[2] + s[3])) + rest, part, 0);
}

KERNEL three_aggs(const __global V *x, const __global V *y, const __global V *z, __global double *part, long n, long cells)
{
    __local double tree[GROUP];
    V p[4] = {0, 0, 0, 0}, q[4] = {0, 0, 0, 0}, r[4] = {0, 0, 0, 0};
    double a = 0, b = 0, c = 0;
#define STEP(i, k) { const V u = x[i]; p[k] += u * y[i]; q[k] += u * z[i]; r[k] += u * u; }
    FOUR(STEP)
#undef STEP
#define STEP(i) a += CELL(x, i) * CELL(y, i); b += CELL(x, i) * CELL(z, i); c += CELL(x, i) * CELL(x, i);
    CELLS(STEP)
#undef STEP
    group_sum(tree, TOTAL((p[0] + p[1]) + (p[2] + p[3])) + a, part, 0);
    group_sum(tree, TOTAL((q[0] + q[1]) + (q[2] + q[3])) + b, part, 1);
    group_sum(tree, TOTAL((r[0] + r[1]) + (r[2] + r[3])) + c, part, 2);
}

KERNEL tap(const __global V *x, const __global V *y, const __global V *z, __global V *o, __global double *part, long n, long cells)
{
    __local double tree[GROUP];
    V s[4] = {0, 0, 0, 0};
    double rest = 0;
#define STEP(i, k) { const V v = x[i] * y[i] + z[i]; o[i] = v; s[k] += v; }
    FOUR(STEP)
#undef STEP
#define STEP(c) { const T v = CELL(x, c) * CELL(y, c) + CELL(z, c); ((__global T *)o)[c] = v; rest += v; }
    CELLS(STEP)
#undef STEP
    group_sum(tree, TOTAL((s[0] + s[1]) + (s[2] + s[3])) + rest, part, 0);
}

KERNEL no_agg(const __global V *x, const __global V *y, const __global V *z, __global V *o, long n, long cells)
{
#define STEP(i, k) o[i] = x[i] * y[i] + z[i];
    FOUR(STEP)
#undef STEP
#define STEP(c) ((__global T *)o)[c] = CELL(x, c) * CELL(y, c) + CELL(z, c);
    CELLS(STEP)
#undef STEP
}

/* One group: `groups` numbers of each of `count` sums. */
KERNEL sums(const __global double *part, __global double *out, long groups, long count)
{
    __local double tree[GROUP];
    for (long k = 0; k < count; k++) {
        double s = 0;
        for (long i = get_local_id(0); i < groups; i += GROUP) s += part[k * groups + i];
        group_sum(tree, s, out, (int)k);
    }
}
