/* SPDX-License-Identifier: Apache-2.0
 * What the suites of the cplan share: a cplan read from text, deterministic numbers, and the reduction tree of core/fold.h for sums,
 * written recursively as the header states it. */
#ifndef CLF_TESTS_CPLAN_TESTING_H
#define CLF_TESTS_CPLAN_TESTING_H
#include <CUnit/Basic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/arena.h"
#include "kernels-cl/ref.h"
#include "planner/cplan.h"

typedef struct plan {
    clf_mem mem;
    clf_arena arena;
    clf_cplan c;
    clf_err err;
    clf_status st;
} plan;

static inline void plan_parse(plan *p, const char *text, size_t n) {
    memset(p, 0, sizeof *p);
    clf_mem_init(&p->mem, NULL, NULL);
    clf_arena_init(&p->arena, &p->mem);
    p->st = clf_cplan_parse(&p->c, &p->arena, text, n, &p->err);
}

static inline void plan_close(plan *p) {
    clf_arena_release(&p->arena);
    CU_ASSERT_EQUAL(p->mem.now_bytes, 0);
}

static inline clf_status plan_run(plan *p, const clf_bind *b) {
    size_t before = p->mem.now_bytes;
    clf_err_clear(&p->err);
    clf_status st = clf_ref_run(&p->c, b, &p->mem, &p->err);
    if (st != CLF_OK && p->err.code != st) CU_FAIL("a failure without its message");
    CU_ASSERT_EQUAL(p->mem.now_bytes, before);
    return st;
}

/* A field with another value makes the cplan illegal, for this reason; with its own it is legal again. */
static inline void hurt(plan *p, void *field, int value, size_t bytes, const char *say) {
    char saved[8];
    int64_t wide = value;
    memcpy(saved, field, bytes);
    memcpy(field, &wide, bytes);
    clf_err_clear(&p->err);
    CU_ASSERT_EQUAL(clf_cplan_check(&p->c, &p->err), CLF_E_INTERNAL);
    if (!strstr(p->err.text, say)) printf("\n'%s', expected %s\n", p->err.text, say);
    CU_ASSERT_PTR_NOT_NULL(strstr(p->err.text, say));
    memcpy(field, saved, bytes);
    clf_err_clear(&p->err);
    CU_ASSERT_EQUAL(clf_cplan_check(&p->c, &p->err), CLF_OK);
}
#define HURT(field, value, say) hurt(&p, &p.c.field, value, sizeof p.c.field, say)

/* Numbers in (-1, 1) with all 53 bits in use, so that another order of additions shows. */
static inline double noise(uint64_t *seed) {
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(int64_t)(*seed ^ *seed >> 29) * 0x1p-63;
}

static inline double *noise_f64(size_t n, uint64_t seed) {
    double *x = malloc((n ? n : 1) * sizeof *x);
    for (size_t i = 0; x && i < n; i++) x[i] = noise(&seed);
    return x;
}

static inline double tree_of_leaves(const double *leaf, int64_t n) {
    int64_t k = 1;
    if (n == 1) return leaf[0];
    while (k * 2 < n) k *= 2;
    return tree_of_leaves(leaf, k) + tree_of_leaves(leaf + k, n - k);
}

/* n values at a stride, in leaves of `block` with `lanes` lanes. */
static inline double tree_sum_of(const double *x, int64_t n, int64_t stride, int lanes, int64_t block) {
    double leaf[1024], lane[16];
    int64_t leaves = (n + block - 1) / block;
    if (n == 0 || leaves > 1024) return 0;
    for (int64_t b = 0; b < leaves; b++) {
        memset(lane, 0, sizeof lane);
        for (int64_t p = b * block; p < n && p < (b + 1) * block; p++) lane[p % lanes] += x[p * stride];
        for (int h = lanes / 2; h; h /= 2)
            for (int l = 0; l < h; l++) lane[l] += lane[l + h];
        leaf[b] = lane[0];
    }
    return tree_of_leaves(leaf, leaves);
}

static inline double tree_sum(const double *x, int64_t n) { return tree_sum_of(x, n, 1, 8, 512); }
#endif
