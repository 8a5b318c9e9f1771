/* SPDX-License-Identifier: Apache-2.0
 * How cell.chunk walks a cplan (see cell_plan.h). Invariant: nothing here changes a result; the tree of fold.h fixes the bits, and
 * chunks are aligned power-of-two runs of strips, so each is made of whole subtrees. */
#include "kernels-cl/skel/cell_plan.h"

#include <string.h>

#include "kernels-cl/skel/plane.h"
#include "kernels-cl/skel/strides.h"

enum {
    NARROW = 128, /* widest matrix whose columns are a constant of the text */
    MIN_CHUNK_CELLS = 4096,
    CHUNKS_PER_CORE = 32,     /* measured: 16 to 64 work-items on two cores are equal, 1024 cost 8 % */
    WIDE_CHUNKS_PER_CORE = 8, /* column folds of long rows: every chunk's partial row is merged by one work-item */
    WIDE_COLS = 2048,         /* shorter rows are merged in no time, and more chunks balance the cores: 13 chunks on 2 cores cost 7 % */
    ROWS_AT_ONCE = 4,
    ROWS_AT_ONCE_VALUES = 24,
    /* A page. Four rows of less are streams in the same few pages, which costs column folds more than loads and stores of one accumulator
     * for all four save: they then had 0.5 to 0.9 of the speed of one row after the other. Rows of more are 15 % faster four at once. */
    PAGE_ROW_BYTES = 4096
};

static int64_t ceil_div(int64_t a, int64_t b) { return a / b + (a % b != 0); }
static int64_t log2_up(int64_t n) {
    int64_t l = 0;
    while (l < 62 && ((int64_t)1 << l) < n) l++;
    return l;
}

bool clf_cell_access(const clf_cell *p, const clf_access *a, clf_cell_at *out) {
    clf_strides s;
    bool known = clf_strides_of(p->c, a, &s);
    *out = (clf_cell_at){s.base, p->i ? s.step[0] : 0, s.step[p->i ? 1 : 0], s.axes};
    return known;
}

int clf_cell_level(const clf_cell *p, uint32_t axes) {
    if (p->kind == CLF_CELL_FLAT) return axes & p->live ? 2 : 0;
    if (axes & p->j) return 2;
    return axes & p->i ? 1 : 0;
}

clf_cell_fold clf_cell_fold_of(const clf_cell *p, const clf_sink *s) {
    if (s->kind != CLF_SINK_FOLD) return CLF_CELL_NOFOLD;
    if (s->keep == 0 || p->kind == CLF_CELL_FLAT) return CLF_CELL_FULLFOLD;
    return s->keep == p->i ? CLF_CELL_ROWFOLD : CLF_CELL_COLFOLD;
}

static bool shape_ok(clf_cell *p) {
    clf_plane q;
    if (!clf_plane_of(p->c, &q)) return false;
    p->i = q.i;
    p->j = q.j;
    p->rows = q.rows;
    p->cols = q.cols;
    p->n = q.n;
    return true;
}

/* Does an access run through memory cell by cell in row-major order? */
static bool contiguous(const clf_cell *p, const clf_cell_at *at) {
    uint32_t live = at->axes & p->live;
    if (p->live == (p->i | p->j)) return p->i ? at->si == p->cols && at->sj == 1 : at->sj == 1;
    return live == p->j ? at->sj == 1 : at->si == 1;
}

static bool flat_ok(const clf_cell *p) {
    const clf_cplan *c = p->c;
    clf_cell_at at;
    for (int v = 0; v < c->nvalue; v++) {
        const clf_value *w = &c->value[v];
        if (!(w->axes & p->live)) continue;
        if (w->op == CLF_V_INDEX && (p->live & (p->live - 1))) return false;
        if (w->op == CLF_V_LOAD && clf_cell_access(p, &c->access[w->arg], &at) && !contiguous(p, &at)) return false;
    }
    for (int s = 0; s < c->nsink; s++) {
        uint32_t keep = c->sink[s].keep;
        bool fold = c->sink[s].kind == CLF_SINK_FOLD;
        if (fold && keep && !(keep == p->i && p->rows == 1)) return false;
        if (!fold && (keep & p->live) && (keep & p->live) != p->live) return false;
    }
    return true;
}

/* Every vector access steps one element along j; a single column has no steps. */
static bool rows_ok(const clf_cell *p) {
    clf_cell_at at;
    if (!p->i) return false;
    for (int a = 0; a < p->c->naccess; a++) {
        clf_cell_access(p, &p->c->access[a], &at);
        if ((at.axes & p->j) && at.sj != 1 && p->cols > 1) return false;
    }
    return true;
}

static bool group_ok(const clf_cell *p) {
    const clf_cplan *c = p->c;
    clf_cell_at at;
    if (!p->ncol || p->nrow || p->cols < 1 || p->cols > NARROW || (p->lanes * p->cols) % p->width) return false;
    for (int v = 0; v < c->nvalue; v++) {
        const clf_value *w = &c->value[v];
        if (w->op == CLF_V_INDEX || w->axes == p->i) return false;
        if (w->op == CLF_V_LOAD && clf_cell_access(p, &c->access[w->arg], &at) && at.axes == (p->i | p->j) && at.si != p->cols)
            return false;
    }
    for (int s = 0; s < c->nsink; s++) {
        const clf_sink *k = &c->sink[s];
        bool col = clf_cell_fold_of(p, k) == CLF_CELL_COLFOLD;
        clf_dtype t = (clf_dtype)c->value[k->value[0]].dtype;
        if (k->kind == CLF_SINK_STORE && k->keep && k->keep != (p->i | p->j)) return false;
        if (col && (strchr(clf_folds[k->fold].step, 'k') || clf_col_lanes(p->cols, t) != p->lanes)) return false;
    }
    return true;
}

static void count(clf_cell *p) {
    const clf_cplan *c = p->c;
    bool all_f32 = c->nvalue > 0;
    int narrow = 0;
    for (int v = 0; v < c->nvalue; v++) all_f32 = all_f32 && c->value[v].dtype == CLF_F32;
    p->width = all_f32 ? 16 : 8;
    p->nfull = p->nrow = p->ncol = 0;
    p->lanes = 1;
    for (int s = 0; s < c->nsink; s++) {
        clf_cell_fold f = clf_cell_fold_of(p, &c->sink[s]);
        clf_dtype t = (clf_dtype)c->value[c->sink[s].value[0]].dtype;
        if (f != CLF_CELL_NOFOLD && t == CLF_F32) p->width = 16;
        p->nfull += f == CLF_CELL_FULLFOLD;
        p->nrow += f == CLF_CELL_ROWFOLD;
        p->ncol += f == CLF_CELL_COLFOLD;
        narrow = f == CLF_CELL_COLFOLD ? clf_col_lanes(p->cols, t) : 0;
        if (narrow > p->lanes) p->lanes = narrow;
    }
}

static bool choose_kind(clf_cell *p) {
    p->kind = CLF_CELL_ROWS;
    count(p);
    p->live = (p->rows == 1 ? 0 : p->i) | (p->cols == 1 && p->i ? 0 : p->j);
    if (flat_ok(p)) {
        p->kind = CLF_CELL_FLAT;
        count(p);
    } else if (!rows_ok(p)) {
        return false;
    } else if (p->cols <= NARROW) {
        p->kind = group_ok(p) ? CLF_CELL_GROUP : CLF_CELL_NARROW;
    }
    return true;
}

static void cut(clf_cell *p, int cores) {
    p->strip = p->kind == CLF_CELL_FLAT ? CLF_LEAF : p->kind == CLF_CELL_GROUP ? p->lanes * p->cols : p->cols;
    p->strips = p->kind == CLF_CELL_FLAT || p->kind == CLF_CELL_GROUP ? ceil_div(p->n, p->strip) : p->rows;
    p->full = p->kind == CLF_CELL_FLAT || p->kind == CLF_CELL_GROUP ? p->n / p->strip : p->rows;
    p->block = p->ncol ? clf_col_block(p->rows, p->cols) / (p->kind == CLF_CELL_GROUP ? p->lanes : 1) : 0;
    int64_t least = p->block ? p->block : 1, per_core = p->ncol && p->cols > WIDE_COLS ? WIDE_CHUNKS_PER_CORE : CHUNKS_PER_CORE;
    if (p->nfull && p->kind != CLF_CELL_FLAT) { /* a chunk is made of whole leaves */
        int64_t leaves = CLF_LEAF / clf_gcd(p->strip, CLF_LEAF);
        if (leaves > least) least = leaves;
    }
    p->chunk = least;
    while (p->chunk * p->strip < MIN_CHUNK_CELLS && p->chunk < p->strips) p->chunk *= 2;
    while (ceil_div(p->strips, p->chunk) > per_core * (cores > 0 ? cores : 1)) p->chunk *= 2;
    if (!p->block) p->block = p->chunk;
    p->chunks = p->strips > p->chunk ? ceil_div(p->strips, p->chunk) : 1;
}

static void lay_out(clf_cell *p) {
    int64_t full = 0, col = 0;
    p->cp = (p->cols + 15) / 16 * 16 + 16;
    p->levels = log2_up(p->chunk / p->block) + 1;
    p->aw = p->kind == CLF_CELL_GROUP ? p->strip + 16 : p->kind == CLF_CELL_NARROW ? p->lanes * p->cp : p->cp;
    p->ent = 2 * log2_up(p->chunk * p->strip / CLF_LEAF + 2) + 2;
    if (p->ent < 2 * log2_up(p->n / CLF_LEAF + 2) + 2 && p->nfull) p->ent = 2 * log2_up(p->n / CLF_LEAF + 2) + 2;
    for (int s = 0; s < p->c->nsink; s++) {
        clf_cell_fold f = clf_cell_fold_of(p, &p->c->sink[s]);
        if (f == CLF_CELL_FULLFOLD) full += clf_cell_states(&p->c->sink[s]);
        if (f == CLF_CELL_COLFOLD) col += clf_cell_states(&p->c->sink[s]);
    }
    p->cbase = p->nfull ? ((p->chunks + 1) * (p->ent * (full + 1) + 1) + 7) / 8 * 8 : 0;
    p->cstride = col * ((p->kind == CLF_CELL_ROWS ? p->aw : 0) + p->levels * p->cp);
}

bool clf_cell_plan(clf_cell *p, const clf_cplan *c, int cores) {
    int elementary = 0, values = 0;
    memset(p, 0, sizeof *p);
    p->c = c;
    if (!shape_ok(p) || !choose_kind(p)) return false;
    cut(p, cores);
    lay_out(p);
    for (int v = 0; v < c->nvalue; v++) {
        if (clf_cell_level(p, c->value[v].axes) < 2) continue;
        values++;
        elementary += clf_op_is_cell(c->value[v].op) && (clf_ops[c->value[v].op].flags & F_ELEM);
    }
    bool folds = p->ncol && p->cols * (64 / p->width) >= PAGE_ROW_BYTES;
    p->ru = p->kind == CLF_CELL_ROWS && folds && !p->nfull && elementary < 2 && values + 4 * p->nrow <= ROWS_AT_ONCE_VALUES &&
                    p->block % ROWS_AT_ONCE == 0
                ? ROWS_AT_ONCE
                : 1;
    return true;
}

void clf_cell_flatten(clf_cell *p, int cores) {
    p->kind = CLF_CELL_FLAT;
    count(p);
    cut(p, cores);
    lay_out(p);
}

int clf_cell_variant(const clf_cell *p) {
    int v = (int)p->kind | (p->rows == 1) << 2 | (p->cols == 1) << 3 | (p->ru > 1) << 4;
    if (p->kind == CLF_CELL_NARROW || p->kind == CLF_CELL_GROUP) v |= (int)p->cols << 8;
    return v;
}
