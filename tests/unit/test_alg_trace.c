/* SPDX-License-Identifier: Apache-2.0
 * What the suite algorithms of the bench sees of two trainings: the time of an iteration, and whether both ran the same plans (whoever did
 * counts as equal, whatever the clock says). */
#include <CUnit/Basic.h>
#include <math.h>
#include <stddef.h>
#include <string.h>
#include "perf/algorithms.h"
#include "tests/unit/api_testing.h"

enum { STEPS = 5 };

/* Counters that some training has before it begins, and how many more there are after each of its iterations. */
static const clf_stats one = {.launches_tier0 = 3,
                              .launches_tier2 = 2,
                              .launches_library = 1,
                              .launches_rows = 2,
                              .waits = 2,
                              .bytes_read = 1000,
                              .bytes_written = 80,
                              .predicted_ns = 4096};

static void add(clf_stats *s, const clf_stats *more, uint64_t times) {
    uint64_t *to = (uint64_t *)(void *)s;
    const uint64_t *from = (const uint64_t *)(const void *)more;
    for (size_t k = sizeof(size_t) / sizeof *to; k < sizeof *s / sizeof *to; k++) to[k] += times * from[k];
}

/* A context is only asked for whether there is one. */
static alg_trace trace_of(const clf_stats *begin, const clf_stats *each) {
    static char context;
    alg_trace t = {.n = STEPS, .c = (clf_ctx *)(void *)&context};
    for (int i = 0; i < STEPS; i++) {
        t.at[i] = *begin;
        add(&t.at[i], each, (uint64_t)i);
        t.at_ms[i] = 7 + 1.5 * i;
    }
    return t;
}

static void test_time(void) {
    alg_trace t = trace_of(&one, &one);
    CU_ASSERT_EQUAL(alg_trace_ms(&t, STEPS), 1.5);
    t.at_ms[1] = 7.5; /* of the first iteration that counts alone */
    CU_ASSERT_EQUAL(alg_trace_ms(&t, 2), 0.5);
    CU_ASSERT_EQUAL(alg_trace_ms(&t, ALG_STEPS), 1.5);
    CU_ASSERT_TRUE(isnan(alg_trace_ms(&t, 1)));
    t.n = 1;
    CU_ASSERT_TRUE(isnan(alg_trace_ms(&t, STEPS)));
}

/* Where they began does not matter, nor what the clock counts. */
static void test_same(void) {
    clf_stats later = one, slower = one;
    add(&later, &one, 40);
    slower.plan_ns = 12345, slower.run_ns = 999999, slower.build_ns = 77, slower.plan_hits = 9;
    const alg_trace a = trace_of(&one, &one), b = trace_of(&later, &slower);
    CU_ASSERT_TRUE(alg_trace_same(&a, &b));
    CU_ASSERT_TRUE(alg_trace_same(&a, &a));
}

/* Any one of them, in any one iteration but the first. */
static void test_different(void) {
    static const size_t counted[] = {
        offsetof(clf_stats, launches_tier0),   offsetof(clf_stats, launches_tier1), offsetof(clf_stats, launches_tier2),
        offsetof(clf_stats, launches_library), offsetof(clf_stats, launches_rows),  offsetof(clf_stats, launches_convert),
        offsetof(clf_stats, launches_callout), offsetof(clf_stats, launches_split), offsetof(clf_stats, waits),
        offsetof(clf_stats, bytes_read),       offsetof(clf_stats, bytes_written),  offsetof(clf_stats, predicted_ns)};
    const alg_trace a = trace_of(&one, &one);
    for (size_t k = 0; k < sizeof counted / sizeof *counted; k++)
        for (int i = 1; i < STEPS; i++) {
            alg_trace b = a;
            uint64_t *figure = (uint64_t *)(void *)((char *)&b.at[i] + counted[k]);
            ++*figure;
            CU_ASSERT_FALSE(alg_trace_same(&a, &b));
            CU_ASSERT_FALSE(alg_trace_same(&b, &a));
        }
}

/* As far as both went. */
static void test_shorter(void) {
    const alg_trace a = trace_of(&one, &one);
    alg_trace b = a;
    b.n = 3;
    memset(&b.at[3], 0, sizeof b.at[3]);
    CU_ASSERT_TRUE(alg_trace_same(&a, &b));
    b.n = 4;
    CU_ASSERT_FALSE(alg_trace_same(&a, &b));
    b.n = 1;
    CU_ASSERT_FALSE(alg_trace_same(&a, &b));
    b = a;
    b.c = NULL; /* by hand: nothing was counted */
    CU_ASSERT_FALSE(alg_trace_same(&a, &b));
    CU_ASSERT_FALSE(alg_trace_same(&b, &a));
}

int main(void) {
    static const test_case tests[] = {
        {"time of an iteration", test_time}, {"same", test_same}, {"different", test_different}, {"as far as both went", test_shorter}};
    return run_suite("alg_trace", tests, sizeof tests / sizeof *tests);
}
