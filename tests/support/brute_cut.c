/* SPDX-License-Identifier: Apache-2.0
 * The devices of a cover as a minimum cut, where there are two of them: parts on the source's side run on device 0, the others on device
 * 1. A value that moves once for all its readers is a vertex of its own between maker and readers. The greatest flow is found by
 * shortest augmenting paths (Edmonds and Karp). See brute.h. */
#include <string.h>

#include "tests/support/brute.h"

enum { SOURCE, SINK, PARTS, VALUES = PARTS + BRUTE_OPS, VERTICES = VALUES + 3 * BRUTE_OPS + BRUTE_SLOTS };

typedef struct net {
    int64_t room[VERTICES][VERTICES];
    int from[VERTICES], n;
} net;

static void arc(net *f, int a, int c, int64_t room) { f->room[a][c] += room; }

/* A shortest way that has room left, as from[]. */
static bool find_way(net *f) {
    int queue[VERTICES], head = 0, tail = 1;
    for (int v = 0; v < f->n; v++) f->from[v] = -1;
    queue[0] = f->from[SOURCE] = SOURCE;
    while (head < tail && f->from[SINK] < 0) {
        int a = queue[head++];
        for (int c = 0; c < f->n; c++) {
            if (f->from[c] >= 0 || f->room[a][c] <= 0) continue;
            f->from[c] = a;
            queue[tail++] = c;
        }
    }
    return f->from[SINK] >= 0;
}

static int64_t greatest_flow(net *f) {
    int64_t sum = 0;
    while (find_way(f)) {
        int64_t least = INT64_MAX;
        for (int v = SINK; v != SOURCE; v = f->from[v])
            if (f->room[f->from[v]][v] < least) least = f->room[f->from[v]][v];
        for (int v = SINK; v != SOURCE; v = f->from[v]) {
            f->room[f->from[v]][v] -= least;
            f->room[v][f->from[v]] += least;
        }
        sum += least;
    }
    return sum;
}

/* One vertex before all readers, which is on device 1 if one of them is: the way there costs `move` unless the maker is there, too. */
static void value_to(net *f, const brute *b, const brute_cover *c, int maker, clf_ps move, brute_reads what) {
    int v = f->n++;
    arc(f, maker, v, move);
    for (int i = 0; i < c->n; i++) {
        brute_reads r = brute_part_reads(b, &c->part[i]);
        if ((r.ops & what.ops) || (r.slots & what.slots)) arc(f, v, PARTS + i, CLF_PS_MOST);
    }
}

/* One vertex behind all readers, which is on device 0 if one of them is, or the value is a result. */
static void value_back(net *f, const brute *b, const brute_cover *c, int maker, clf_ps move, brute_ops what) {
    int v = f->n++;
    arc(f, v, maker, move);
    if (b->roots & what) arc(f, SOURCE, v, CLF_PS_MOST);
    for (int i = 0; i < c->n; i++)
        if (brute_part_reads(b, &c->part[i]).ops & what) arc(f, PARTS + i, v, CLF_PS_MOST);
}

/* The same for whatever the part stores: it is waited for if it is on device 1 and one of its readers, or the caller, on device 0. */
static void wait_for(net *f, const brute *b, const brute_cover *c, int part) {
    int v = f->n++;
    arc(f, v, PARTS + part, b->wait[1]);
    if (b->roots & c->part[part].out) arc(f, SOURCE, v, CLF_PS_MOST);
    for (int i = 0; i < c->n; i++)
        if (brute_part_reads(b, &c->part[i]).ops & c->part[part].out) arc(f, PARTS + i, v, CLF_PS_MOST);
}

clf_ps brute_cut(const brute *b, const brute_cover *c) {
    net f;
    memset(&f, 0, sizeof f);
    f.n = VALUES;
    for (int i = 0; i < c->n; i++) {
        arc(&f, SOURCE, PARTS + i, brute_part_price(b, &c->part[i], 1));
        arc(&f, PARTS + i, SINK, brute_part_price(b, &c->part[i], 0));
        wait_for(&f, b, c, i);
        for (int k = 0; k < b->nop; k++) {
            brute_ops bit = (brute_ops)(c->part[i].out & 1u << k);
            if (!bit) continue;
            value_to(&f, b, c, PARTS + i, b->op[k].move[1], (brute_reads){bit, 0});
            value_back(&f, b, c, PARTS + i, b->op[k].move[1], bit);
        }
    }
    for (int k = 0; k < b->nslot; k++) value_to(&f, b, c, SOURCE, b->slot[k].move[1], (brute_reads){0, 1u << k});
    return greatest_flow(&f);
}
