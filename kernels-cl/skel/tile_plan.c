/* SPDX-License-Identifier: Apache-2.0
 * Which cplans tile.chunk takes, and how it cuts them. Invariant: cuts change no result, every sum being made by one work-item. */
#include <string.h>

#include "kernels-cl/skel/tile_plan.h"

enum {
    LEAST_BAND = 96,  /* rows of a work-item where columns can be cut instead, or one more is not needed */
    LEAST_COLS = 128, /* columns of a work-item, the same */
    MOST_ROWS = 16 * CLF_TILE_BAND,
    MOST_COLS = 1024 /* of which a leaf is 4 MiB of doubles */
};

bool clf_tile_at(const clf_tile *p, const clf_access *a, int inner, int64_t *base, int64_t *si) {
    clf_strides s;
    if (!clf_row_strides(p->c, a, &s)) return false;
    *base = s.base;
    *si = s.step[0];
    return s.step[inner] == 0 || s.step[inner] == 1;
}

/* ---- does it fit ---- */

/* Is the left side, w, a matrix used transposed? */
static void find_turned(clf_tile *p, const clf_value *w) {
    clf_strides s;
    const clf_access *a = &p->c->access[w->arg];
    if (w->op != CLF_V_LOAD || w->dtype != p->type || !a->rank || a->at[a->rank - 1].axis != 0) return;
    if (!clf_row_strides(p->c, a, &s) || s.step[0] != 1) return;
    p->turned = w->arg;
    p->tl = s.step[p->l];
}

static bool find_product(clf_tile *p) {
    clf_strides s;
    const clf_cplan *c = p->c;
    p->dot = p->turned = -1;
    for (int v = 0; v < c->nvalue; v++) {
        if (c->value[v].op != CLF_V_DOT) continue;
        if (p->dot >= 0) return false;
        p->dot = v;
    }
    if (p->dot < 0) return false;
    const clf_value *w = &c->value[p->dot], *b = &c->value[w->in[1]];
    p->l = (uint8_t)w->axis;
    p->j = 3 - p->l;
    p->type = (clf_dtype)w->dtype;
    if (w->arg || p->l < 1 || p->l > 2 || !clf_dtype_float(p->type) || b->op != CLF_V_LOAD) return false;
    if (b->axes != (1u << p->l | 1u << p->j) || c->value[w->in[0]].axes != (1u << p->l | 1u)) return false;
    p->right = b->arg;
    if (!clf_row_strides(c, &c->access[p->right], &s)) return false;
    p->base = s.base;
    p->sl = s.step[p->l];
    p->sj = s.step[p->j];
    p->lanes = clf_lanes(p->type);
    p->runs = clf_dot_lanes(c, w, NULL);
    find_turned(p, &c->value[w->in[0]]);
    if (p->turned >= 0 && p->runs > 1) return false;
    return p->runs == 1 ? p->sj == 1 : p->runs == p->lanes && p->sl == 1;
}

static bool value_ok(const clf_tile *p, int v) {
    const clf_value *w = &p->c->value[v];
    int64_t base, si;
    bool left = p->want[v] & CLF_TILE_LEFT, result = p->want[v] & CLF_TILE_RESULT;
    uint32_t outside = left && result ? ~1u : ~(1u | clf_tile_inner(p, left));
    if (v == p->dot) return !left;
    if (left && p->turned >= 0) return !result; /* the load alone */
    if (w->axes & outside) return false;
    if (w->op == CLF_V_LOAD) return clf_tile_at(p, &p->c->access[w->arg], left ? p->l : p->j, &base, &si);
    return clf_op_is_cell(w->op) || w->op == CLF_V_PARAM || w->op == CLF_V_INDEX || w->op == CLF_V_CAST;
}

/* Marks what sinks and the left side want, from the last value to the first. */
static bool find_wanted(clf_tile *p) {
    const clf_cplan *c = p->c;
    for (int s = 0; s < c->nsink; s++) {
        const clf_sink *k = &c->sink[s];
        if (k->kind != CLF_SINK_STORE || k->guard >= 0 || k->keep != (1u | 1u << p->j)) return false;
        p->want[k->value[0]] |= CLF_TILE_RESULT;
    }
    for (int v = c->nvalue; v-- > 0;) {
        if (!p->want[v]) continue;
        if (!value_ok(p, v)) return false;
        if (v == p->dot) {
            p->want[c->value[v].in[0]] |= CLF_TILE_LEFT;
            continue;
        }
        for (int k = 0; k < 3; k++)
            if (c->value[v].in[k] >= 0) p->want[c->value[v].in[k]] |= p->want[v];
    }
    return p->want[p->dot] != 0;
}

static bool shape_ok(const clf_cplan *c) {
    if (c->naxes != 3 || c->nvalue > CLF_TILE_VALUES) return false;
    for (int a = 0; a < c->naxes; a++)
        if (c->axis[a].kind != CLF_AXIS_RANGE || c->axis[a].n.n < 0 || c->axis[a].n.n > INT64_MAX / 4096) return false;
    for (int k = 0; k < c->nin; k++)
        if (c->in[k].format != CLF_DENSE) return false;
    return true;
}

/* ---- cuts ---- */

static int64_t share(int64_t n, int64_t parts, int64_t whole) { return clf_row_round(clf_row_ceil(n > 0 ? n : 1, parts), whole); }

static int64_t between(int64_t n, int64_t least, int64_t most) { return n < least || most < least ? least : n > most ? most : n; }

/* What packing a cell of the left side takes against one that is only moved. */
static double left_weight(const clf_tile *p) {
    enum { MOVED = 4 /* operations in whose time a cell is moved */ };
    double flops = MOVED;
    for (int v = 0; v < p->c->nvalue; v++)
        if ((p->want[v] & CLF_TILE_LEFT) && clf_op_is_cell(p->c->value[v].op)) flops += clf_ops[p->c->value[v].op].flops;
    return flops / MOVED;
}

/* Bands of a work-item, for each of which the right side's panels are packed, or found: what that takes against packing them once. Chosen to
 * part what was timed on one processor: 2000 x 2000 by two work-items of eight bands took a twentieth less time than by eight of one band,
 * 512 x 784 by two of a few bands 5 to 8 % more than by four of one. */
static bool finds(int64_t bands) { return bands >= 4; }
static double right_weight(int64_t bands) { return finds(bands) ? 1.5 + 0.4 * (double)(bands - 1) : (double)bands; }

/* Every row of work-items packs the right side, every column of them the left one: as little as can be packed in all, with as many
 * work-items for every core. What a work-item packs of the right side is written to a far cache for other bands of its rows, which pays
 * for some of these; a few are work-items of their own, and what they pack stays where it is. */
static void cut(clf_tile *p, int64_t cores) {
    int64_t rows = p->rows > 0 ? p->rows : 1, cols = p->cols > 0 ? p->cols : 1, panel = (int64_t)2 * p->lanes, down = 0, across = 0;
    const int64_t least_down = clf_row_ceil(rows, MOST_ROWS), least_across = clf_row_ceil(cols, MOST_COLS);
    const double weight = left_weight(p);
    double least = 0;
    for (int64_t r = least_down; r < least_down + cores; r++) {
        int64_t c = clf_row_round(least_across, cores / clf_gcd(r, cores)), bands = clf_row_ceil(clf_row_ceil(rows, r), CLF_TILE_BAND);
        double packed = weight * (double)rows * (double)c + right_weight(bands) * (double)cols * (double)r;
        bool fits = (r == least_down || r * LEAST_BAND <= rows) && (c == least_across || c * LEAST_COLS <= cols);
        if (!fits || (down && packed >= least)) continue;
        down = finds(bands) ? r : r * bands;
        across = c;
        least = packed;
    }
    if (!down) { /* too small for all cores */
        across = between(cols / LEAST_COLS, least_across, cores);
        down = between(rows / LEAST_BAND, least_down, clf_row_ceil(cores, across));
    }
    p->mc = share(rows, down, CLF_TILE_ROWS);
    p->nc = share(cols, across, panel);
    p->band = share(p->mc, clf_row_ceil(p->mc, CLF_TILE_BAND), CLF_TILE_ROWS);
    p->across = clf_row_ceil(cols, p->nc);
    p->chunks = p->across * clf_row_ceil(rows, p->mc);
}

static int log2_up(int64_t n) {
    int l = 0;
    while (l < 62 && ((int64_t)1 << l) < n) l++;
    return l;
}

/* A packed band and packed panels, a tile, the lanes' stack and the leaves'. */
static bool lay_out(clf_tile *p) {
    int64_t panel = (int64_t)2 * p->lanes, kept = p->mc > p->band ? p->nc : panel, tile = CLF_TILE_ROWS * panel,
            leaves = clf_row_ceil(p->terms, CLF_LEAF), cells, waits;
    if (__builtin_mul_overflow(p->mc, p->nc, &cells)) return false;
    if (__builtin_mul_overflow(cells, leaves > 1 ? log2_up(leaves) + 1 : 0, &waits)) return false;
    p->cstride = (p->band + kept) * CLF_LEAF * (int64_t)clf_dtype_bytes(p->type) / 8 + tile + (p->runs > 1 ? log2_up(p->runs) : 0) * tile;
    return !__builtin_add_overflow(p->cstride, waits, &p->cstride) && p->cstride < INT64_MAX / 16;
}

bool clf_tile_plan(clf_tile *p, const clf_cplan *c, int cores) {
    int64_t cells;
    memset(p, 0, sizeof *p);
    p->c = c;
    if (!shape_ok(c) || !find_product(p) || !find_wanted(p)) return false;
    p->rows = c->axis[0].n.n;
    p->cols = c->axis[p->j].n.n;
    p->terms = c->axis[p->l].n.n;
    for (int a = 1; a < 3; a++)
        if (__builtin_mul_overflow(p->rows, c->axis[a].n.n, &cells) || cells > INT64_MAX / 16) return false;
    cut(p, cores > 0 ? cores : 1);
    return p->cols > CLF_NARROW_PRODUCT && lay_out(p);
}
