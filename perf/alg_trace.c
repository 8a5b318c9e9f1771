/* SPDX-License-Identifier: Apache-2.0
 * What was seen at the iterations of a training of the suite algorithms: how long they took, and whether two ran the same plans. */
#include <math.h>
#include <stddef.h>
#include "perf/algorithms.h"

static uint64_t figure(const clf_stats *s, size_t offset) { return *(const uint64_t *)(const void *)((const char *)s + offset); }

double alg_trace_ms(const alg_trace *t, int n) {
    if (n > t->n) n = t->n;
    return n < 2 ? NAN : (t->at_ms[n - 1] - t->at_ms[0]) / (n - 1);
}

bool alg_trace_same(const alg_trace *a, const alg_trace *b) {
    static const size_t counted[] = {
        offsetof(clf_stats, launches_tier0),   offsetof(clf_stats, launches_tier1), offsetof(clf_stats, launches_tier2),
        offsetof(clf_stats, launches_library), offsetof(clf_stats, launches_rows),  offsetof(clf_stats, launches_convert),
        offsetof(clf_stats, launches_callout), offsetof(clf_stats, launches_split), offsetof(clf_stats, waits),
        offsetof(clf_stats, bytes_read),       offsetof(clf_stats, bytes_written),  offsetof(clf_stats, predicted_ns)};
    const int n = a->n < b->n ? a->n : b->n;
    if (!a->c || !b->c || n < 2) return false;
    for (int i = 1; i < n; i++)
        for (size_t k = 0; k < sizeof counted / sizeof *counted; k++)
            if (figure(&a->at[i], counted[k]) - figure(&a->at[0], counted[k]) !=
                figure(&b->at[i], counted[k]) - figure(&b->at[0], counted[k]))
                return false;
    return true;
}
