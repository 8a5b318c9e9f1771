/* SPDX-License-Identifier: Apache-2.0
 * The reduction tree of core/fold.h over the texts of folds.def, naively: its definition, and the same tree cut into aligned runs of
 * leaves that a carry stack puts together, as executors do. */
#ifndef CLF_TESTS_FOLD_TREE_H
#define CLF_TESTS_FOLD_TREE_H
#include "tests/oracle/fold_texts.h"

enum { TREE_MAX_LANES = 16, TREE_MAX_LEAVES = 64 };

typedef struct tree {
    const fold_text *f;
    const clf_scalar *v;
    size_t n, leaf;
    int lanes;
} tree;

static inline size_t leaves_of(const tree *t) { return (t->n + t->leaf - 1) / t->leaf; }

static fold_state leaf_state(const tree *t, size_t leaf) {
    fold_state lane[TREE_MAX_LANES] = {0};
    size_t end = (leaf + 1) * t->leaf;
    for (int i = 0; i < t->lanes; i++) t->f->init(&lane[i]);
    for (size_t p = leaf * t->leaf; p < end && p < t->n; p++) t->f->step(&lane[p % (size_t)t->lanes], t->v[p], (int64_t)p);
    for (int half = t->lanes / 2; half > 0; half /= 2)
        for (int i = 0; i < half; i++) t->f->merge(&lane[i], &lane[i + half]);
    return lane[0];
}

/* The definition: split at the largest power of two below the number of leaves. */
static fold_state by_definition(const tree *t, size_t from, size_t n) {
    if (n == 1) return leaf_state(t, from);
    size_t k = 1;
    while (2 * k < n) k *= 2;
    fold_state left = by_definition(t, from, k), right = by_definition(t, from + k, n - k);
    t->f->merge(&left, &right);
    return left;
}

/* A carry stack over runs of 2^level leaves, closed from the top. */
typedef struct carry {
    fold_state state[TREE_MAX_LEAVES];
    int level[TREE_MAX_LEAVES], top;
} carry;

static void carry_push(const tree *t, carry *c, fold_state s, int level) {
    for (; c->top > 0 && c->level[c->top - 1] == level; level++) {
        t->f->merge(&c->state[--c->top], &s);
        s = c->state[c->top];
    }
    c->state[c->top] = s;
    c->level[c->top++] = level;
}

static fold_state carry_close(const tree *t, carry *c) {
    while (c->top > 1) {
        c->top--;
        t->f->merge(&c->state[c->top - 1], &c->state[c->top]);
    }
    return c->state[0];
}

/* Cut into aligned runs of at most 2^max_level leaves (of random size when max_level < 0), each run computed by the definition. */
static fold_state by_runs(const tree *t, int max_level, uint64_t *seed) {
    carry c = {.top = 0};
    size_t leaves = leaves_of(t);
    for (size_t at = 0; at < leaves;) {
        *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        int level = 0, most = max_level < 0 ? (int)((*seed >> 33) % 6) : max_level;
        while (level < most && at % ((size_t)2 << level) == 0 && at + ((size_t)2 << level) <= leaves) level++;
        carry_push(t, &c, by_definition(t, at, (size_t)1 << level), level);
        at += (size_t)1 << level;
    }
    return carry_close(t, &c);
}
#endif
