/* SPDX-License-Identifier: Apache-2.0
 * Included by tile_folds.h: positions with gaps (gaps.h), folded. A row of E entries among n positions costs E blocks and E log(n) merges
 * at most; with the fold's texts in place and its state in registers, a merge is a few instructions. */

/* CLF_GAPS positions, of which bit i of `stored` has position k + i out: neighbours merge until one is left. */
#define GAPS_MEET(F, h) \
    for (int i = 0; i < CLF_GAPS; i += 2 * (h)) NAME(merge1_, F)(&t0[i], &t1[i], &t2[i], t0[i + (h)], t1[i + (h)], t2[i + (h)]);
#define GAPS_BLOCK(F) \
    ELEM_FN void NAME(block1_, F)(const E_T *x, unsigned stored, int64_t k, NAME(S0_, F) * p0, NAME(S1_, F) * p1, NAME(S2_, F) * p2) { \
        NAME(S0_, F) t0[CLF_GAPS]; \
        NAME(S1_, F) t1[CLF_GAPS]; \
        NAME(S2_, F) t2[CLF_GAPS]; \
        for (int i = 0; i < CLF_GAPS; i++) NAME(repeat1_, F)(&t0[i], &t1[i], &t2[i], x[i], !(stored >> i & 1), k + i); \
        GAPS_MEET(F, 1) \
        GAPS_MEET(F, 2) \
        GAPS_MEET(F, 4) \
        *p0 = t0[0], *p1 = t1[0], *p2 = t2[0]; \
    } \
    static void NAME(block_, F)(const void *x, int64_t k, clf_fold_state *out) { \
        STATE_VARS(F, a0, a1, a2) \
        NAME(block1_, F)(x, 0, k, &a0, &a1, &a2); \
        STATE_STORE(out, a0, a1, a2) \
    }

/* A walk has done the positions before pos: the runs that the bits of pos name, the longest first, wait on a stack. The next run joins
 * those that it makes a longer one with. */
#define GAPS_WALK(F) \
    typedef struct NAME(walk_, F) { \
        int64_t pos; \
        int top; \
        NAME(S0_, F) s0[64]; \
        NAME(S1_, F) s1[64]; \
        NAME(S2_, F) s2[64]; \
    } NAME(walk_, F); \
    ELEM_FN void NAME(join_, F)(NAME(walk_, F) * w, int level, NAME(S0_, F) a0, NAME(S1_, F) a1, NAME(S2_, F) a2) { \
        for (int64_t bits = w->pos >> level; bits & 1; bits >>= 1) { \
            STATE_VARS(F, b0, b1, b2) \
            w->top--; \
            b0 = w->s0[w->top], b1 = w->s1[w->top], b2 = w->s2[w->top]; \
            NAME(merge1_, F)(&b0, &b1, &b2, a0, a1, a2); \
            a0 = b0, a1 = b1, a2 = b2; \
        } \
        w->s0[w->top] = a0, w->s1[w->top] = a1, w->s2[w->top] = a2; \
        w->top++; \
        w->pos += (int64_t)1 << level; \
    } \
    /* Runs without entry up to position `end`, where a block begins. */ \
    ELEM_FN void NAME(pass_, F)(NAME(walk_, F) * w, const clf_gaps_row *r, int64_t end) { \
        while (w->pos < end) { \
            const int level = clf_gaps_level(w->pos, end); \
            STATE_LOAD(F, &r->node[clf_gaps_node(level, w->pos >> level)], a0, a1, a2) \
            NAME(join_, F)(w, level, a0, a1, a2); \
        } \
    } \
    /* The positions behind the last whole block, one by one; entry e is the first among them. */ \
    ELEM_FN void NAME(last_, F)(NAME(walk_, F) * w, const clf_gaps_row *r, int64_t e) { \
        const E_T *x = r->x; \
        while (w->pos < r->n) { \
            const bool stored = e < r->entries && clf_gaps_at(r, e) == w->pos; \
            STATE_VARS(F, a0, a1, a2) \
            NAME(repeat1_, F)(&a0, &a1, &a2, x[w->pos], !stored, w->pos); \
            NAME(join_, F)(w, 0, a0, a1, a2); \
            e += stored; \
        } \
    } \
    static void NAME(gaps_, F)(const clf_gaps_row *r, clf_fold_state *out) { \
        const E_T *x = r->x; \
        const int64_t whole = r->n & -(int64_t)CLF_GAPS; \
        NAME(walk_, F) w; \
        int64_t e = 0; \
        w.pos = w.top = 0; \
        while (e < r->entries && clf_gaps_at(r, e) < whole) { \
            const int64_t block = clf_gaps_at(r, e) & -(int64_t)CLF_GAPS; \
            unsigned stored = 0; \
            for (; e < r->entries && clf_gaps_at(r, e) < block + CLF_GAPS; e++) stored |= 1u << (clf_gaps_at(r, e) - block); \
            STATE_VARS(F, a0, a1, a2) \
            NAME(pass_, F)(&w, r, block); \
            NAME(block1_, F)(x + block, stored, block, &a0, &a1, &a2); \
            NAME(join_, F)(&w, CLF_GAPS_LEVEL, a0, a1, a2); \
        } \
        NAME(pass_, F)(&w, r, whole); \
        NAME(last_, F)(&w, r, e); \
        for (; w.top > 1; w.top--) { \
            const int l = w.top - 2, t = w.top - 1; \
            NAME(merge1_, F)(&w.s0[l], &w.s1[l], &w.s2[l], w.s0[t], w.s1[t], w.s2[t]); \
        } \
        STATE_STORE(out, w.s0[0], w.s1[0], w.s2[0]) \
    }

#define FOLD_GAPS(F) \
    GAPS_BLOCK(F) \
    GAPS_WALK(F)
