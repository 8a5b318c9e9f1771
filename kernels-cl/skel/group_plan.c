/* SPDX-License-Identifier: Apache-2.0
 * How cell.group walks a cplan (see group_plan.h). */
#include "kernels-cl/skel/group_plan.h"

#include <string.h>

#include "kernels-cl/skel/cell_plan.h"
#include "kernels-cl/skel/group_local.h"
#include "kernels-cl/skel/plane.h"
#include "kernels-cl/skel/strides.h"

enum {
    MAP_CELLS = 8,       /* cells of a map that a work-item takes */
    NARROW_MERGE = 8,    /* results that a group of the merge takes side by side, so that its loads are neighbours */
    INT_ROOM = 1 << 24,  /* positions beyond the last cell that a group may compute */
    MAX_GROUPS = 1 << 30 /* work-groups of a launch */
};

static int64_t ceil_div(int64_t a, int64_t b) { return a / b + (a % b != 0); }
static int64_t pow2_up(int64_t n) {
    int64_t p = 1;
    while (p < n) p *= 2;
    return p;
}
static int64_t pow2_down(int64_t n) {
    int64_t p = 1;
    while (2 * p <= n) p *= 2;
    return p;
}
static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

/* ---- what fits ---- */

bool clf_group_access(const clf_group *p, const clf_access *a, clf_group_at *out) {
    clf_strides s;
    if (!clf_strides_of(p->c, a, &s)) return false;
    *out = (clf_group_at){s.base, p->i ? s.step[0] : 0, s.step[p->i ? 1 : 0], s.axes, false};
    out->linear = s.axes && s.axes == (p->i | p->j) && (out->sj == 1 || p->cols == 1) && (!p->i || out->si == p->cols || p->rows == 1);
    return true;
}

static bool shape_ok(clf_group *p) {
    clf_plane q;
    if (!clf_plane_of(p->c, &q) || p->c->nvalue > CLF_GROUP_VALUES) return false;
    p->i = q.i;
    p->j = q.j;
    p->rows = q.rows;
    p->cols = q.cols;
    p->n = q.n;
    return true;
}

bool clf_group_aligned(const clf_group *p, const clf_group_at *at) {
    return at->base % p->width == 0 && (at->linear || p->rows <= 1 || at->si % p->width == 0);
}

/* ---- walks ---- */

clf_walk_id clf_group_walk(const clf_group *p, const clf_sink *s) {
    uint32_t all = p->i | p->j;
    bool fold = s->kind == CLF_SINK_FOLD;
    if (fold) return s->keep == 0 ? CLF_WALK_FLAT : s->keep == p->i ? CLF_WALK_ROWS : CLF_WALK_COLS;
    if (s->keep != all) return s->keep == 0 ? CLF_WALK_ONCE : s->keep == p->i ? CLF_WALK_I : CLF_WALK_J;
    for (int w = 0; w < CLF_FOLD_WALKS; w++)
        if (p->walk[w].states) return (clf_walk_id)w;
    return CLF_WALK_FLAT;
}

static clf_dtype fold_type(const clf_group *p, const clf_sink *s) { return (clf_dtype)p->c->value[s->value[0]].dtype; }
static int fold_lanes(const clf_group *p, const clf_sink *s) {
    return s->keep && s->keep == p->j ? clf_col_lanes(p->cols, fold_type(p, s)) : clf_lanes(fold_type(p, s));
}
int clf_group_held(const clf_group *p, const clf_sink *s) { return fold_lanes(p, s) / p->walk[clf_group_walk(p, s)].lanes; }

static void count(clf_group *p) {
    for (int s = 0; s < p->c->nsink; s++) {
        const clf_sink *k = &p->c->sink[s];
        clf_walk *w = &p->walk[clf_group_walk(p, k)];
        if (k->kind != CLF_SINK_FOLD) continue;
        w->lanes = w->states ? (int)least(w->lanes, fold_lanes(p, k)) : fold_lanes(p, k);
        w->states += clf_cell_states(k);
    }
    for (int s = 0; s < p->c->nsink; s++) p->walk[clf_group_walk(p, &p->c->sink[s])].nsink++;
}

/* ---- values ---- */

void clf_group_used(const clf_group *p, clf_walk_id k, uint8_t *used) {
    const clf_cplan *c = p->c;
    memset(used, 0, (size_t)c->nvalue);
    for (int s = 0; s < c->nsink; s++)
        if (clf_group_walk(p, &c->sink[s]) == k) used[c->sink[s].value[0]] = 1;
    for (int v = c->nvalue - 1; v >= 0; v--)
        for (int q = 0; q < 3; q++)
            if (used[v] && c->value[v].in[q] >= 0) used[c->value[v].in[q]] = 1;
}

bool clf_group_apart(const clf_group *p, const uint8_t *used) {
    clf_group_at at;
    for (int v = 0; v < p->c->nvalue; v++) {
        const clf_value *w = &p->c->value[v];
        if (!used[v] || !w->axes) continue;
        if (w->op == CLF_V_INDEX) return true;
        if (w->op == CLF_V_LOAD && clf_group_access(p, &p->c->access[w->arg], &at) && !at.linear) return true;
    }
    return false;
}

/* ---- cells side by side ---- */

/* Are the cells of every step neighbours in one row? A walk over columns has no shorter step at the end of a row. */
static bool side_by_side(const clf_group *p, clf_walk_id k, const uint8_t *used, int width) {
    if (p->cols % width == 0) return true;
    return k != CLF_WALK_COLS && (p->rows <= 1 || (k == CLF_WALK_FLAT && !clf_group_apart(p, used)));
}

static int walk_width(const clf_group *p, clf_walk_id k) {
    uint8_t used[CLF_GROUP_VALUES];
    int width = p->width, body = 0;
    if ((int)k >= CLF_FOLD_WALKS) return 1;
    clf_group_used(p, k, used);
    for (int v = 0; v < p->c->nvalue; v++) body += used[v] && (p->c->value[v].axes & p->j);
    while (width > 1 && (body * width > CLF_LONG_BODY || p->walk[k].states * width > CLF_MOST_STATES || !side_by_side(p, k, used, width)))
        width /= 2;
    return width;
}

static void widen(clf_group *p, int width) {
    p->width = width;
    for (int k = 0; k < CLF_NWALKS; k++) p->walk[k].width = p->walk[k].nsink ? walk_width(p, (clf_walk_id)k) : 1;
}

/* ---- cuts ---- */

static int64_t slots_of(const clf_group *p, const clf_walk *w) { return (int64_t)p->local * w->width; }

/* All cells as one line, or maps: every group one run of leaves. */
static void cut_line(const clf_group *p, clf_walk *w, int64_t len) {
    bool map = !w->states;
    if (map) w->lanes = (int)slots_of(p, w);
    w->lines = 1;
    w->len = len;
    w->leaf = map ? (int64_t)p->local * MAP_CELLS : CLF_LEAF;
    w->units = slots_of(p, w) / w->lanes;
    w->parts = most(ceil_div(ceil_div(len, w->leaf), w->units), map ? 0 : 1);
    w->groups = w->parts;
}

static void cut_rows(const clf_group *p, clf_walk *w) {
    int64_t leaves = most(ceil_div(p->cols, CLF_LEAF), 1);
    w->lines = p->rows;
    w->len = p->cols;
    w->leaf = CLF_LEAF;
    w->units = least(slots_of(p, w) / w->lanes, pow2_up(leaves));
    w->parts = ceil_div(leaves, w->units);
    w->groups = ceil_div(w->lines, slots_of(p, w) / (w->lanes * w->units)) * w->parts;
}

static void cut_cols(const clf_group *p, clf_walk *w) {
    w->lines = p->cols;
    w->len = p->rows;
    w->leaf = clf_col_block(p->rows, p->cols);
    int64_t blocks = most(ceil_div(p->rows, w->leaf), 1);
    w->inner = most(least(p->cols, slots_of(p, w) / w->lanes), w->width);
    w->tiles = ceil_div(p->cols, w->inner);
    w->units = least(pow2_down(slots_of(p, w) / (w->inner * w->lanes)), pow2_up(blocks));
    w->parts = ceil_div(blocks, w->units);
    w->groups = w->parts * w->tiles;
}

static void cut_merge(const clf_group *p, clf_walk *w) {
    int64_t many = pow2_up(w->parts), side = least(pow2_up(w->lines), NARROW_MERGE);
    w->merge.units = least(many, p->local / side);
    w->merge.inner = p->local / w->merge.units;
    w->merge.run = many / w->merge.units;
}

static bool cut(clf_group *p) {
    const int64_t len[CLF_NWALKS] = {p->n, 0, 0, p->rows, p->cols, 1};
    for (int k = 0; k < CLF_NWALKS; k++) {
        clf_walk *w = &p->walk[k];
        int64_t words = 0;
        w->inner = w->tiles = w->merge.inner = w->merge.units = w->merge.run = 1;
        w->at = p->words;
        if (!w->nsink)
            w->parts = w->units = w->lanes = 1;
        else if (k == CLF_WALK_ROWS)
            cut_rows(p, w);
        else if (k == CLF_WALK_COLS)
            cut_cols(p, w);
        else
            cut_line(p, w, len[k]);
        if (w->states && w->parts > 1) {
            cut_merge(p, w);
            p->merges += ceil_div(w->lines, w->merge.inner);
            if (__builtin_mul_overflow(w->parts, w->lines, &words) || __builtin_mul_overflow(words, (int64_t)w->states, &words))
                return false;
        }
        w->merge.end = p->merges;
        p->groups += w->groups;
        w->end = p->groups;
        if (__builtin_add_overflow(p->words, words, &p->words) || p->words > INT64_MAX / 64) return false;
    }
    return p->groups <= MAX_GROUPS && p->merges <= MAX_GROUPS;
}

/* ---- cutting in time ---- */

/* Operands that a part of flat cells would see its share of (as clf_sched_spans has it) are walked through in their order. */
static bool shares_ok(const clf_group *p) {
    clf_group_at at;
    for (int a = 0; a < p->c->naccess; a++) {
        const clf_access *k = &p->c->access[a];
        const clf_cinput *in = &p->c->in[k->input];
        int64_t rows = in->rank == 2 ? in->dim[0].n : 1, cols = in->rank ? in->dim[in->rank - 1].n : 1;
        if (in->rank > 2 || !clf_group_access(p, k, &at)) return false;
        if (rows * cols == p->n && !(at.linear && at.base == 0)) return false;
    }
    return true;
}

static int only_walk(const clf_group *p) {
    int only = -1;
    for (int k = 0; k < CLF_NWALKS; k++) {
        if (!p->walk[k].nsink) continue;
        if (only >= 0) return -1;
        only = k;
    }
    return only;
}

/* A part is a run of groups. Only one walk at a time can be cut, and only where its groups follow each other along the operands. */
static void grid(clf_group *p) {
    int k = only_walk(p);
    const clf_walk *w = k >= 0 ? &p->walk[k] : NULL;
    p->extent = most(p->rows, 1);
    p->grain = p->extent;
    if (k == CLF_WALK_FLAT && shares_ok(p)) {
        p->flat = true;
        p->extent = p->n;
        p->grain = w->units * w->leaf;
    } else if (k == CLF_WALK_ROWS && w->parts == 1) {
        p->grain = slots_of(p, w) / (w->lanes * w->units);
    } else if (k == CLF_WALK_COLS && w->tiles == 1) {
        p->grain = w->units * w->leaf;
    }
}

/* Do positions and offsets of every operand fit an int? */
static bool small(const clf_group *p) {
    bool fits = p->n < INT32_MAX - INT_ROOM && p->rows < INT32_MAX - INT_ROOM && p->cols < INT32_MAX - INT_ROOM;
    for (int k = 0; k < p->c->nin && fits; k++) {
        int64_t cells = 1;
        for (int d = 0; d < p->c->in[k].rank; d++) fits = fits && !__builtin_mul_overflow(cells, p->c->in[k].dim[d].n, &cells);
        fits = fits && cells < INT32_MAX - INT_ROOM;
    }
    return fits;
}

bool clf_group_plan(clf_group *p, const clf_cplan *c, int local, int width) {
    memset(p, 0, sizeof *p);
    p->c = c;
    p->local = local;
    if (!local || !shape_ok(p)) return false;
    count(p);
    widen(p, width);
    if (!cut(p)) return false;
    grid(p);
    p->index_bits = small(p) ? 32 : 64;
    return true;
}
