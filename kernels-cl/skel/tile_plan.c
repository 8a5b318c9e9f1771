/* SPDX-License-Identifier: Apache-2.0
 * Which cplans tile.chunk takes, and how it cuts them. Invariant: cuts change no result, every sum being made by one work-item. */
#include <string.h>

#include "kernels-cl/skel/tile_plan.h"

enum {
    LEAST_BAND = 96, /* rows of a work-item where columns can be cut instead: every band packs the right side anew */
    LEAST_COLS = 128 /* columns of a work-item: each packs the left side anew */
};

bool clf_tile_at(const clf_tile *p, const clf_access *a, int inner, int64_t *base, int64_t *si) {
    clf_strides s;
    if (!clf_row_strides(p->c, a, &s)) return false;
    *base = s.base;
    *si = s.step[0];
    return s.step[inner] == 0 || s.step[inner] == 1;
}

/* ---- does it fit ---- */

static bool find_product(clf_tile *p) {
    clf_strides s;
    const clf_cplan *c = p->c;
    p->dot = -1;
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
    return p->runs == 1 ? p->sj == 1 : p->runs == p->lanes && p->sl == 1;
}

static bool value_ok(const clf_tile *p, int v) {
    const clf_value *w = &p->c->value[v];
    int64_t base, si;
    bool left = p->want[v] & CLF_TILE_LEFT, result = p->want[v] & CLF_TILE_RESULT;
    uint32_t outside = left && result ? ~1u : ~(1u | clf_tile_inner(p, left));
    if (v == p->dot) return !left;
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

/* As few bands as rows allow, in equal numbers for all cores; columns are cut where there are too few rows for that. */
static void cut(clf_tile *p, int64_t cores) {
    int64_t panel = (int64_t)2 * p->lanes, bands = clf_row_ceil(p->rows > 0 ? p->rows : 1, CLF_TILE_BAND),
            even = clf_row_round(bands, cores), across = 1;
    if (even * LEAST_BAND <= p->rows) bands = even;
    if (bands % cores) across = cores / clf_gcd(bands, cores);
    while (across > 1 && across * LEAST_COLS > p->cols) across--;
    p->mc = share(p->rows, bands, CLF_TILE_ROWS);
    p->nc = share(p->cols, across, panel);
    p->across = clf_row_ceil(p->cols > 0 ? p->cols : 1, p->nc);
    p->chunks = p->across * clf_row_ceil(p->rows > 0 ? p->rows : 1, p->mc);
}

static int log2_up(int64_t n) {
    int l = 0;
    while (l < 62 && ((int64_t)1 << l) < n) l++;
    return l;
}

/* Packed panels, a tile, the lanes' stack and the leaves'. */
static bool lay_out(clf_tile *p) {
    int64_t panel = (int64_t)2 * p->lanes, tile = CLF_TILE_ROWS * panel, leaves = clf_row_ceil(p->terms, CLF_LEAF), cells, waits;
    if (__builtin_mul_overflow(p->mc, p->nc, &cells)) return false;
    if (__builtin_mul_overflow(cells, leaves > 1 ? log2_up(leaves) + 1 : 0, &waits)) return false;
    p->cstride = (p->mc + panel) * CLF_LEAF + tile + (p->runs > 1 ? log2_up(p->runs) : 0) * tile;
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
