/* SPDX-License-Identifier: Apache-2.0
 * Rows of a CSR operand by the rows and entries before them. Invariant: what the host takes for the beginning of a chunk is where the
 * kernel begins it. */
#include "kernels-cl/skel/entry_ends.h"

int64_t clf_ends_row_at(const int64_t *ptr, int64_t rows, int64_t goal) {
    int64_t a = 0, b = rows;
    while (a < b) {
        int64_t m = a + (b - a) / 2;
        if (ptr[m] + m < goal)
            a = m + 1;
        else
            b = m;
    }
    return a;
}

int64_t clf_ends_row_of(const int64_t *ptr, int64_t rows, int64_t at) {
    int64_t a = 0, b = rows;
    while (b - a > 1) {
        int64_t m = a + (b - a) / 2;
        if (ptr[m] <= at)
            a = m;
        else
            b = m;
    }
    return a;
}

static int64_t within(int64_t k, int64_t n) { return k < 1 ? 1 : k > n - 1 ? n - 1 : k; }

int64_t clf_ends_chunk(double share, int64_t n) { return within((int64_t)(share * (double)n + 0.5), n); }

int64_t clf_ends_band(double share, int64_t n, int64_t band, const int64_t *ptr, int64_t rows) {
    int64_t goal = (int64_t)(share * (double)(ptr[rows] + rows)), k = within(clf_ends_row_at(ptr, rows, goal) / band, n),
            next = (k + 1) * band;
    if (k + 1 < n && ptr[next] + next - goal < goal - ptr[k * band] - k * band) k++;
    return k;
}
