/* SPDX-License-Identifier: Apache-2.0
 * Sorting by radix, from the top: elements go where their keys lie between the least and the greatest of them, in one of up to 2^BITS
 * buckets of the other of two arrays. Of a segment too large for a core's cache that is done by all threads, which count, and then place,
 * shares of it; buckets that are still too large wait for the same. It takes BITS off the span of the keys, so no keys ask for more than
 * six levels. What fits one thread sorts: buckets once more, then what is in them by insertion; where many keys are close together, digit
 * by digit from the lowest, over those bits only in which they differ.
 * All steps are stable. Sorted segments end in the caller's array, whichever of the two they were in. */
#include "host/run/sort.h"

#include <string.h>

#include "host/run/callout.h"

enum {
    BITS = 11,
    BUCKETS = 1 << BITS,
    GROUP = 16, /* buckets handed out at once */
    DIGIT_BITS = 8,
    DIGITS = 1 << DIGIT_BITS,
    FEW = 24,             /* by insertion */
    FITS = 1 << 15,       /* both arrays' parts in a second-level cache */
    SHARE_LEAST = 1 << 12 /* of a segment that is split */
};

typedef struct segment {
    int64_t first, n;
    int in; /* which array */
} segment;

/* What the keys lie between. */
typedef struct span {
    uint64_t least, most;
} span;

typedef struct share {
    span keys;
    int64_t at[BUCKETS]; /* how many; then where the next goes */
} share;

typedef struct sorter {
    clf_keyed *array[2]; /* the caller's first */
    clf_pool *pool;
    segment split; /* under way */
    uint64_t least;
    int shift;
    int64_t shares, begin[BUCKETS + 1];
    share share[];
} sorter;

/* ---- one thread ---- */

static void insert(clf_keyed *a, int64_t n) {
    for (int64_t i = 1; i < n; i++) {
        const clf_keyed x = a[i];
        int64_t k = i;
        for (; k > 0 && a[k - 1].key > x.key; k--) a[k] = a[k - 1];
        a[k] = x;
    }
}

static void by_digit(const clf_keyed *a, clf_keyed *b, int64_t n, int shift) {
    int64_t at[DIGITS] = {0}, sum = 0;
    for (int64_t i = 0; i < n; i++) at[a[i].key >> shift & (DIGITS - 1)]++;
    for (int d = 0; d < DIGITS; d++) {
        const int64_t count = at[d];
        at[d] = sum;
        sum += count;
    }
    for (int64_t i = 0; i < n; i++) b[at[a[i].key >> shift & (DIGITS - 1)]++] = a[i];
}

/* Bits of `bits` above a digit that begins at shift. */
static uint64_t above(uint64_t bits, int shift) {
    return shift + DIGIT_BITS < 64 ? bits >> (shift + DIGIT_BITS) << (shift + DIGIT_BITS) : 0;
}

/* a[0..n), with b for room. */
static void by_digits(clf_keyed *a, clf_keyed *b, int64_t n) {
    clf_keyed *from = a, *to = b, *t;
    uint64_t differ = 0;
    for (int64_t i = 1; i < n; i++) differ |= a[i].key ^ a[0].key;
    while (differ) {
        const int shift = __builtin_ctzll(differ);
        by_digit(from, to, n, shift);
        differ = above(differ, shift);
        t = from, from = to, to = t;
    }
    if (from != a) memcpy(a, from, (size_t)n * sizeof *a);
}

static span span_of(const clf_keyed *a, int64_t n) {
    span k = {UINT64_MAX, 0};
    for (int64_t i = 0; i < n; i++) {
        k.least = a[i].key < k.least ? a[i].key : k.least;
        k.most = a[i].key > k.most ? a[i].key : k.most;
    }
    return k;
}

/* How far to shift what a key is above the least one, for a bucket's number of so many bits. */
static int shift_of(span k, int bits) {
    const int width = k.most > k.least ? 64 - __builtin_clzll(k.most - k.least) : 0;
    return width > bits ? width - bits : 0;
}

static void sort_bucket(clf_keyed *a, clf_keyed *b, int64_t n) {
    if (n <= FEW)
        insert(a, n);
    else
        by_digits(a, b, n);
}

static void sort_alone(clf_keyed *const array[2], const segment *s) {
    int64_t end[BUCKETS], sum = 0;
    clf_keyed *a = array[s->in] + s->first, *b = array[!s->in] + s->first, *out = array[0] + s->first;
    const int most = s->n <= FEW ? 0 : 63 - __builtin_clzll((uint64_t)s->n), bits = most < BITS ? most : BITS;
    if (s->n <= FEW) {
        insert(a, s->n);
        if (a != out) memcpy(out, a, (size_t)s->n * sizeof *a);
        return;
    }
    const span k = span_of(a, s->n);
    const int shift = shift_of(k, bits);
    memset(end, 0, sizeof *end << bits);
    for (int64_t i = 0; i < s->n; i++) end[(a[i].key - k.least) >> shift]++;
    for (int d = 0; d < 1 << bits; d++) {
        const int64_t count = end[d];
        end[d] = sum;
        sum += count;
    }
    for (int64_t i = 0; i < s->n; i++) b[end[(a[i].key - k.least) >> shift]++] = a[i];
    for (int64_t d = 0, first = 0; d < 1 << bits; first = end[d++]) sort_bucket(b + first, a + first, end[d] - first);
    if (b != out) memcpy(out, b, (size_t)s->n * sizeof *a);
}

/* ---- all threads ---- */

/* The elements of a share. */
static int64_t share_of(const sorter *s, int64_t part, const clf_keyed **a) {
    const int64_t each = (s->split.n - 1) / s->shares + 1, first = part * each, left = s->split.n - first;
    *a = s->array[s->split.in] + s->split.first + first;
    return left < each ? left : each;
}

static void bound_share(void *user, int64_t part, int worker) {
    (void)worker;
    sorter *s = user;
    const clf_keyed *a;
    const int64_t n = share_of(s, part, &a);
    s->share[part].keys = span_of(a, n);
}

static void count_share(void *user, int64_t part, int worker) {
    (void)worker;
    sorter *s = user;
    const clf_keyed *a;
    const int64_t n = share_of(s, part, &a);
    int64_t *at = s->share[part].at;
    memset(at, 0, sizeof s->share[part].at);
    for (int64_t i = 0; i < n; i++) at[(a[i].key - s->least) >> s->shift]++;
}

static void place_share(void *user, int64_t part, int worker) {
    (void)worker;
    sorter *s = user;
    const clf_keyed *a;
    const int64_t n = share_of(s, part, &a);
    int64_t *at = s->share[part].at;
    clf_keyed *b = s->array[!s->split.in] + s->split.first;
    for (int64_t i = 0; i < n; i++) b[at[(a[i].key - s->least) >> s->shift]++] = a[i];
}

static void settle_share(void *user, int64_t part, int worker) {
    (void)worker;
    const sorter *s = user;
    const clf_keyed *a;
    const int64_t n = share_of(s, part, &a);
    if (n > 0) memcpy(s->array[0] + (a - s->array[1]), a, (size_t)n * sizeof *a);
}

static void count_on(sorter *s) {
    int64_t sum = 0;
    for (int b = 0; b < BUCKETS; b++) {
        s->begin[b] = sum;
        for (int64_t p = 0; p < s->shares; p++) {
            const int64_t count = s->share[p].at[b];
            s->share[p].at[b] = sum;
            sum += count;
        }
    }
    s->begin[BUCKETS] = sum;
}

static segment bucket(const sorter *s, int64_t b) {
    return (segment){s->split.first + s->begin[b], s->begin[b + 1] - s->begin[b], !s->split.in};
}

static void sort_group(void *user, int64_t part, int worker) {
    (void)worker;
    const sorter *s = user;
    for (int64_t b = part * GROUP; b < (part + 1) * GROUP; b++) {
        const segment t = bucket(s, b);
        if (t.n <= FITS) sort_alone(s->array, &t);
    }
}

/* Split a segment, sort what fits then, and push the rest. */
static int64_t split(sorter *s, segment of, int64_t most_shares, segment *stack, int64_t top) {
    span k = {UINT64_MAX, 0};
    s->split = of;
    s->shares = of.n / SHARE_LEAST < most_shares ? of.n / SHARE_LEAST : most_shares;
    clf_parts_run(s->pool, s->shares, bound_share, s);
    for (int64_t p = 0; p < s->shares; p++) {
        const span q = s->share[p].keys;
        k = (span){q.least < k.least ? q.least : k.least, q.most > k.most ? q.most : k.most};
    }
    if (k.most == k.least) {
        if (of.in) clf_parts_run(s->pool, s->shares, settle_share, s);
        return top;
    }
    s->least = k.least;
    s->shift = shift_of(k, BITS);
    clf_parts_run(s->pool, s->shares, count_share, s);
    count_on(s);
    clf_parts_run(s->pool, s->shares, place_share, s);
    clf_parts_run(s->pool, BUCKETS / GROUP, sort_group, s);
    for (int b = 0; b < BUCKETS; b++) {
        const segment t = bucket(s, b);
        if (t.n > FITS) stack[top++] = t;
    }
    return top;
}

/* Segments that wait to be split are larger than FITS and do not overlap, so their number is bounded. */
static bool sort_large(clf_keyed *a, clf_keyed *b, int64_t n, clf_pool *pool, clf_mem *mem) {
    const int64_t shares = 4 * (int64_t)clf_pool_size(pool), room = n / FITS + 1;
    const size_t bytes = sizeof(sorter) + (size_t)shares * sizeof(share);
    sorter *s = clf_mem_room(mem, bytes);
    segment *stack = clf_mem_new(mem, (size_t)room, sizeof *stack);
    if (s && stack) {
        *s = (sorter){.array = {a, b}, .pool = pool};
        stack[0] = (segment){0, n, 0};
        for (int64_t top = 1; top > 0;) {
            top--;
            top = split(s, stack[top], shares, stack, top);
        }
    }
    const bool done = s && stack;
    clf_mem_free(mem, stack, (size_t)room, sizeof *stack);
    clf_mem_free(mem, s, bytes, 1);
    return done;
}

bool clf_sort(clf_keyed *a, int64_t n, clf_pool *pool, clf_mem *mem) {
    if (n <= FEW) {
        insert(a, n);
        return true;
    }
    const size_t bytes = (size_t)n * sizeof *a;
    clf_keyed *b = clf_mem_room(mem, bytes);
    bool done = b != NULL;
    if (done && n <= FITS)
        sort_alone((clf_keyed *[2]){a, b}, &(segment){0, n, 0});
    else if (done)
        done = sort_large(a, b, n, pool, mem);
    clf_mem_free(mem, b, bytes, 1);
    return done;
}
