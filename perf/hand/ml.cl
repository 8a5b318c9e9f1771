/* SPDX-License-Identifier: Apache-2.0
 * Hand-written references for GPUs: t(X) %*% (w * (X %*% v)), X %*% v of stored entries, sum(X * log(U %*% t(V) + eps)) at them. f64.
 *
 * A chain reads X once: TEAM neighbours take a row together, each PER of its columns, one in TEAM, whose sums stay in registers; teams go
 * through the rows in steps of the whole launch. What groups have summed is added by a second kernel, 8 columns a group. */
#define GROUP 256
#define KERNEL __kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
#ifndef TEAM
#define TEAM 32
#define PER 1
#endif

/* The sum over the neighbours of a team, in all of them; everybody comes by. */
double team_sum(__local double *tree, double s, int team)
{
    const int me = get_local_id(0), lane = me % team;
    tree[me] = s;
    for (int apart = team / 2; apart >= 1; apart /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < apart) tree[me] += tree[me + apart];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    s = tree[me - lane];
    barrier(CLK_LOCAL_MEM_FENCE);
    return s;
}

KERNEL mvchain(const __global double *x, const __global double *v, const __global double *w, __global double *part, long n, long m)
{
    __local double tree[GROUP];
    const int me = get_local_id(0), lane = me % TEAM;
    const long teams = get_num_groups(0) * (GROUP / TEAM), steps = (n + teams - 1) / teams;
    double mine[PER], sum[PER];
    for (int k = 0; k < PER; k++) {
        const long j = lane + k * TEAM;
        mine[k] = j < m ? v[j] : 0;
        sum[k] = 0;
    }
    for (long step = 0; step < steps; step++) {
        const long i = step * teams + get_group_id(0) * (GROUP / TEAM) + me / TEAM;
        double cell[PER], s = 0;
        for (int k = 0; k < PER; k++) {
            const long j = lane + k * TEAM;
            cell[k] = i < n && j < m ? x[i * m + j] : 0;
            s += cell[k] * mine[k];
        }
        s = team_sum(tree, s, TEAM) * (i < n ? w[i] : 0);
        for (int k = 0; k < PER; k++) sum[k] += s * cell[k];
    }
    for (int k = 0; k < PER; k++) { /* the teams of a group */
        const long j = lane + k * TEAM;
        tree[me] = sum[k];
        for (int apart = GROUP / 2; apart >= TEAM; apart /= 2) {
            barrier(CLK_LOCAL_MEM_FENCE);
            if (me < apart) tree[me] += tree[me + apart];
        }
        if (me < TEAM && j < m) part[get_group_id(0) * m + j] = tree[me];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

KERNEL columns(const __global double *part, __global double *out, long groups, long m)
{
    __local double tree[GROUP];
    const int me = get_local_id(0);
    const long j = get_group_id(0) * 8 + me % 8;
    double s = 0;
    for (long g = me / 8; g < groups; g += GROUP / 8)
        if (j < m) s += part[g * m + j];
    tree[me] = s;
    for (int apart = GROUP / 2; apart >= 8; apart /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (me < apart) tree[me] += tree[me + apart];
    }
    if (me < 8 && j < m) out[j] = tree[me];
}

/* `team` neighbours take a row. */
KERNEL spmv(const __global long *ptr, const __global int *idx, const __global double *val, const __global double *v, __global double *out,
            long n, long team_)
{
    __local double tree[GROUP];
    const int me = get_local_id(0), team = (int)team_, lane = me % team;
    const long teams = get_num_groups(0) * (GROUP / team), steps = (n + teams - 1) / teams;
    for (long step = 0; step < steps; step++) {
        const long i = step * teams + get_group_id(0) * (GROUP / team) + me / team, end = i < n ? ptr[i + 1] : 0;
        double s = 0;
        for (long p = i < n ? ptr[i] + lane : 0; p < end; p += team) s += val[p] * v[idx[p]];
        s = team_sum(tree, s, team);
        if (i < n && lane == 0) out[i] = s;
    }
}

/* A work-item an entry, runs of entries a group: its rows lie close together, and their cells of U in a near cache. */
KERNEL outer_loss(const __global long *ptr, const __global int *idx, const __global double *val, const __global double *u,
                  const __global double *v, __global double *part, long n, long rank, double eps)
{
    __local double tree[GROUP];
    const long nnz = ptr[n], run = (nnz + get_num_groups(0) - 1) / get_num_groups(0), from = get_group_id(0) * run, to = min(nnz, from + run);
    double s = 0;
    long row = 0;
    for (long b = n; b - row > 1;) { /* the row of the group's first entry */
        const long mid = (row + b) / 2;
        if (ptr[mid] <= from) row = mid;
        else b = mid;
    }
    for (long p = from + get_local_id(0); p < to; p += GROUP) {
        while (ptr[row + 1] <= p) row++;
        const __global double *const a = u + row * rank, *const c = v + (long)idx[p] * rank;
        double d0 = 0, d1 = 0;
        long l = 0;
        for (; l + 2 <= rank; l += 2) {
            d0 += a[l] * c[l];
            d1 += a[l + 1] * c[l + 1];
        }
        if (l < rank) d0 += a[l] * c[l];
        s += val[p] * log(d0 + d1 + eps);
    }
    s = team_sum(tree, s, GROUP);
    if (get_local_id(0) == 0) part[get_group_id(0)] = s;
}
